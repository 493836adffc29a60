//! A message in, plain texts out: header fields and text parts, decoded, each with its way back to the raw bytes.
//!
//! Broken mail is input: what cannot be understood is read flat, and a [`Diagnostic`] says so. Parts are walked with a
//! list, never by recursion. Nothing is decoded that is not text.

mod binary;
mod boundary;
mod charset;
mod content_type;
mod date;
mod decoding_steps;
mod digest;
mod encoded_words;
mod field_names;
mod flowed;
mod header;
mod header_prefilter;
mod html;
mod message_info;
mod mime_walk;
mod part;
mod region;
mod transfer;
mod utf7;

pub use date::{Date, Zone, parse_date};
pub use digest::{canonical, digest};
pub use field_names::{FieldRoles, KnownField};
pub use header::{HeaderField, HeaderFields, value};
pub use html::HtmlLink;
pub use message_info::MessageInfo;
pub use part::MimePart;
pub use region::{BodyRegion, Regions};

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::span::{ByteMap, Span};
use crate::split::{HeaderForm, Message};

/// Which part of a message a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region<'m> {
    /// The value of a header field of this name.
    Header(&'m [u8]),
    /// The text of a part.
    Body,
}

/// The way from a text's offsets to those of the message's raw bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMap {
    /// Where in the message the bytes begin that the first map leads to.
    base: usize,
    /// One map for each step of decoding, the first step first.
    maps: Vec<ByteMap>,
}

impl OffsetMap {
    /// The offset_map of bytes that were not decoded and begin at `base`.
    #[must_use]
    pub fn verbatim(base: usize) -> OffsetMap {
        OffsetMap {
            base,
            maps: Vec::new(),
        }
    }

    /// The raw bytes of the message that `text` came from, and whether that is to the byte.
    #[must_use]
    pub fn raw(&self, text: Span) -> RawRange {
        let mut span = text;
        let mut exact = true;
        for map in self.maps.iter().rev() {
            exact &= map.exact(span);
            span = map.raw(span);
        }
        RawRange {
            span: Span::new(self.base + span.start, self.base + span.end),
            exact,
        }
    }
}

/// A range of a message's raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRange {
    /// The range.
    pub span: Span,
    /// Whether the range is exact: no neighbouring text came from its first or last bytes.
    pub exact: bool,
}

/// A plain text.
#[derive(Debug)]
pub struct DecodedText<'m> {
    /// Its bytes: UTF-8, or something that could not be made so.
    pub bytes: Cow<'m, [u8]>,
    /// The way back.
    pub offset_map: OffsetMap,
    /// Which part of the message it is.
    pub region: Region<'m>,
    /// The part whose body or header it is; absent for the message's own header and for texts without one.
    pub part: Option<&'m MimePart>,
    /// What its line ends mean.
    pub lines: LineLayout,
    /// For the visible text of a page, the page.
    pub page: Option<HtmlPage<'m>>,
    /// Whether its raw bytes are given in other readings as well.
    pub has_other_readings: bool,
}

impl<'m> DecodedText<'m> {
    /// A text as it lies there.
    fn plain(
        bytes: Cow<'m, [u8]>,
        offset_map: OffsetMap,
        region: Region<'m>,
        part: Option<&'m MimePart>,
    ) -> DecodedText<'m> {
        DecodedText {
            bytes,
            offset_map,
            region,
            part,
            lines: LineLayout::Written,
            page: None,
            has_other_readings: false,
        }
    }

    /// Regions that hold encoded binary files, in order. Linear in the text's length.
    #[must_use]
    pub fn binary(&self) -> Vec<Span> {
        match (self.region, &self.page) {
            (Region::Body, None) => binary::blocks(&self.bytes),
            _ => Vec::new(),
        }
    }
}

/// What the line ends of a text mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLayout {
    /// They were written: by a person, or by a program that broke long lines.
    Written,
    /// They come from a page's layout: what stands on two lines was never one word.
    LaidOut,
}

/// The page whose visible text a text is.
#[derive(Debug)]
pub struct HtmlPage<'m> {
    /// The HTML text.
    pub source: Cow<'m, [u8]>,
    /// From its offsets to the message's.
    pub offset_map: OffsetMap,
    /// The URLs in its attributes, in the order of [`HtmlLink::at`].
    pub links: Vec<HtmlLink>,
    /// What relative ones are relative to.
    pub base: Option<Vec<u8>>,
}

/// What was met while a message was decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeReport {
    /// Parts with text, read.
    pub text_parts: usize,
    /// Parts without text, left: what they say of themselves, and their raw bytes.
    pub skipped_parts: Vec<SkippedPart>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// A part without text, whose body was not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPart {
    /// What its header says.
    pub part: MimePart,
    /// Its body's raw bytes.
    pub raw: Span,
}

/// Gives every text of `message` to `sink`, in the order in which they lie in it.
///
/// `fields` are those of its own header, if [`HeaderFields::of`] has read them. Linear in the message's length times the
/// depth of its parts, which is limited.
pub fn texts<'m>(
    message: &Message<'m>,
    fields: &'m HeaderFields,
    limits: &Limits,
    headers: HeaderPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> DecodeReport {
    match message.header {
        HeaderForm::Absent | HeaderForm::ANews => plain(message, sink),
        HeaderForm::Present | HeaderForm::Copied { .. } => {
            mime_walk::walk(message, fields, limits, headers, sink)
        }
    }
}

/// Whether header fields are given as texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderPolicy {
    /// Those that are neither traces nor threading (the default).
    #[default]
    Search,
    /// None.
    Skip,
}

/// The one text of something that has no header.
fn plain(message: &Message<'_>, sink: &mut dyn FnMut(DecodedText<'_>)) -> DecodeReport {
    let (bytes, map) = charset::decode(message.raw, None);
    let offset_map = OffsetMap {
        base: 0,
        maps: map.into_iter().collect(),
    };
    sink(DecodedText::plain(bytes, offset_map, Region::Body, None));
    DecodeReport {
        text_parts: 1,
        ..DecodeReport::default()
    }
}
