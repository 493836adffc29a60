//! One pass over a message.

use std::collections::{HashMap, HashSet};

use super::{Extractor, Finding};
use crate::decode::{HeaderFields, MessageInfo, OffsetMap, RawRange, digest};
use crate::limits::Limits;
use crate::origin::Source;
use crate::record::{RecordOrigin, hash_pieces};
use crate::repair::LogicalLine;
use crate::span::Span;
use crate::split::{HeaderForm, Message};

/// What is known while a message is gone through. Its `info` is costly to read, and is read when the first URL asks for them.
pub(super) struct State<'s, 'm> {
    pub(super) message: &'s Message<'m>,
    pub(super) source: &'s Source,
    pub(super) extractor: &'s Extractor,
    pub(super) fields: &'s HeaderFields,
    pub(super) info: Option<MessageInfo>,
    pub(super) digest: Option<u128>,
    /// How many times a URL stood in a part so far, by a hash of both: small, because there may be millions.
    pub(super) seen: HashMap<u64, u32>,
    /// Keys that were given already, where each is given once.
    pub(super) once: HashSet<u128>,
    /// Raw ranges and URLs that were given already, of bytes that have several readings: one record each. By 128 bits,
    /// so that no URL can be made to look like another and hide behind it.
    pub(super) given: HashSet<u128>,
    pub(super) urls: u64,
    /// An offset in the raw bytes, and the number of its line.
    pub(super) lines: (usize, u64),
    pub(super) line: LogicalLine,
    /// In the text that is read: an byte that RFC 3986 refuses, in a word that was refused for it.
    pub(super) ill_at: usize,
    /// Bytes of long words that were read and refused.
    pub(super) refused_bytes: usize,
    pub(super) sink: &'s mut dyn FnMut(Finding<'_>),
}

impl<'s> State<'s, '_> {
    /// The message's digest. A further piece of a message has one of its own, made of the beginning's and its place.
    pub(super) fn digest(&mut self) -> u128 {
        if let Some(digest) = self.digest {
            return digest;
        }
        let digest = match self.message.fragment_of {
            None => digest(self.message, self.fields),
            Some(rest) => {
                let begun = rest.message(self.message.kind);
                let fields = HeaderFields::in_message(&begun, self.extractor.limits().header_bytes);
                let whole = digest(&begun, &fields);
                let offset = self.message.start - rest.start;
                hash_pieces(&[&whole.to_le_bytes()[..], &offset.to_le_bytes()])
            }
        };
        *self.digest.insert(digest)
    }

    /// What is known of the message from its header, if it has one.
    pub(super) fn info(&self) -> Option<MessageInfo> {
        let Limits {
            header_bytes,
            field_bytes,
            ..
        } = *self.extractor.limits();
        let of = |message: &Message<'_>, fields: &HeaderFields| match message.header {
            HeaderForm::Present | HeaderForm::Copied { .. } => {
                Some(MessageInfo::of(message.raw, fields, field_bytes))
            }
            HeaderForm::ANews => Some(MessageInfo::of_a_news(message.raw)),
            HeaderForm::Absent => None,
        };
        match self
            .message
            .fragment_of
            .map(|rest| rest.message(self.message.kind))
        {
            None => of(self.message, self.fields),
            Some(begun) => of(&begun, &HeaderFields::in_message(&begun, header_bytes)),
        }
    }

    /// Where `span` of a text came from.
    pub(super) fn origin(&mut self, offset_map: &OffsetMap, span: Span) -> RecordOrigin<'s> {
        let RawRange { span: raw, exact } = offset_map.raw(span);
        let base = self.message.raw_start();
        let before = self
            .message
            .fragment_of
            .map_or(u64::from(self.message.envelope > 0), |head| head.line_ends);
        let line = before + self.line_of(raw.start);
        RecordOrigin {
            source: self.source,
            kind: self.message.kind,
            start: base + raw.start as u64,
            end: base + raw.end as u64,
            exact,
            line,
            message_start: self
                .message
                .fragment_of
                .map_or(self.message.start, |rest| rest.start),
            message_end: self.message.end(),
        }
    }

    /// The number of the line of the message's raw bytes that holds `at`. Counts from where it counted last.
    pub(super) fn line_of(&mut self, at: usize) -> u64 {
        let (known, number) = self.lines;
        let between = |from: usize, to: usize| {
            memchr::memchr_iter(b'\n', &self.message.raw[from..to]).count() as u64
        };
        let number = if known <= at {
            number + between(known, at)
        } else {
            number - between(at, known)
        };
        self.lines = (at, number);
        number
    }
}
