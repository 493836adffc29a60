//! Messages of Outlook, described by MAPI properties (MS-OXPROPS), converted to MIME.
//!
//! The message has the header fields of its transport, or fields made from its properties. Its
//! bodies, its attachments and all messages attached to it follow, nested ones too, as parts on one
//! level. All parts are in base64, so a boundary cannot occur in them.
//!
//! `outlook` and `tnef` read the file formats that hold the properties.

use std::borrow::Cow;

use data_encoding::BASE64_MIME;
use encoding_rs::Encoding;

use super::rtf::{self, encoding_of_code_page};
use super::{DocumentContent, Unpacking};
use crate::lines::begins_with;
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::grammar::encode;

/// Property identifiers (MS-OXPROPS).
pub(super) mod property {
    pub(crate) const SUBJECT: u16 = 0x0037;
    pub(crate) const CLIENT_SUBMIT_TIME: u16 = 0x0039;
    pub(crate) const TRANSPORT_MESSAGE_HEADERS: u16 = 0x007D;
    pub(crate) const SENDER_NAME: u16 = 0x0C1A;
    pub(crate) const SENDER_EMAIL_ADDRESS: u16 = 0x0C1F;
    pub(crate) const DISPLAY_CC: u16 = 0x0E03;
    pub(crate) const DISPLAY_TO: u16 = 0x0E04;
    pub(crate) const MESSAGE_DELIVERY_TIME: u16 = 0x0E06;
    pub(crate) const BODY: u16 = 0x1000;
    pub(crate) const RTF_COMPRESSED: u16 = 0x1009;
    pub(crate) const HTML: u16 = 0x1013;
    pub(crate) const INTERNET_MESSAGE_ID: u16 = 0x1035;
    pub(crate) const ATTACH_DATA: u16 = 0x3701;
    pub(crate) const ATTACH_FILENAME: u16 = 0x3704;
    pub(crate) const ATTACH_LONG_FILENAME: u16 = 0x3707;
    pub(crate) const ATTACH_LONG_PATHNAME: u16 = 0x370D;
    pub(crate) const ATTACH_MIME_TAG: u16 = 0x370E;
    pub(crate) const INTERNET_CODEPAGE: u16 = 0x3FDE;
    pub(crate) const MESSAGE_CODEPAGE: u16 = 0x3FFD;
    pub(crate) const SENDER_SMTP_ADDRESS: u16 = 0x5D01;
}

/// Property types (MS-OXCDATA section 2.11.1).
pub(super) const STRING8: u16 = 0x001E;
pub(super) const UNICODE: u16 = 0x001F;
pub(super) const BINARY: u16 = 0x0102;
pub(super) const OBJECT: u16 = 0x000D;

/// Properties of a message or of an attachment, in a file of any format.
pub(super) trait Properties<'l> {
    /// Returns the value of a property with this type, as far as limits and damage allow.
    fn value(&mut self, id: u16, kind: u16) -> Option<Cow<'l, [u8]>>;

    /// Returns the value of a property of at most eight bytes.
    fn fixed(&self, id: u16) -> Option<u64>;

    /// Returns the encoding of byte strings.
    fn encoding(&self) -> &'static Encoding;

    /// Returns the limits and problems of the file.
    fn unpacking(&mut self) -> &mut Unpacking<'l>;

    /// Returns the value of a text property.
    fn text(&mut self, id: u16) -> Option<String> {
        let text = match self.value(id, UNICODE) {
            Some(bytes) => decoded(&bytes, encoding_rs::UTF_16LE),
            None => decoded(&self.value(id, STRING8)?, self.encoding()),
        };
        let text = text.trim_end_matches('\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the text of a body, and its charset.
    fn body(&mut self, id: u16) -> Option<(Cow<'l, [u8]>, &'static str)> {
        Some((self.text(id)?.into_bytes().into(), "utf-8"))
    }

    /// Returns the encoding of a property that holds a code page number.
    fn code_page(&self, id: u16) -> Option<&'static Encoding> {
        encoding_of_code_page(self.fixed(id)? as i32)
    }
}

/// Boundaries between the outermost parts, and between the parts of one attached message.
const OUTER_BOUNDARY: &str = "=_outlook";
const INNER_BOUNDARY: &str = "=_parts";

/// MIME message made from properties.
#[derive(Default)]
pub(super) struct MimeWriter {
    mime: Vec<u8>,
    /// Boundary of the current message; `None` before the first.
    boundary: Option<&'static str>,
}

impl MimeWriter {
    /// Begins a message with its header fields and bodies. The first message holds all others.
    pub(super) fn message(&mut self, properties: &mut dyn Properties<'_>) {
        let boundary = match self.boundary {
            None => OUTER_BOUNDARY,
            Some(_) => {
                self.end_inner();
                let part = format!("--{OUTER_BOUNDARY}\nContent-Type: message/rfc822\n");
                self.push_line(&part);
                INNER_BOUNDARY
            }
        };
        self.boundary = Some(boundary);
        self.header(properties);
        self.push_line(&format!(
            "Content-Type: multipart/mixed; boundary=\"{boundary}\"\n"
        ));
        self.bodies(properties);
    }

    /// Returns the message.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end_inner();
        self.push_line(&format!("--{OUTER_BOUNDARY}--"));
        self.mime
    }

    fn end_inner(&mut self) {
        if self.boundary == Some(INNER_BOUNDARY) {
            self.push_line(&format!("--{INNER_BOUNDARY}--"));
        }
    }

    /// Appends a line, after a line end if one is needed.
    fn push_line(&mut self, line: &str) {
        if self.mime.last().is_some_and(|&last| last != b'\n') {
            self.mime.push(b'\n');
        }
        self.mime.extend_from_slice(line.as_bytes());
        self.mime.push(b'\n');
    }

    /// Appends a part after a boundary.
    fn part(&mut self, content_type: &str, bytes: &[u8]) {
        let boundary = self.boundary.unwrap_or(OUTER_BOUNDARY);
        self.push_line(&format!(
            "--{boundary}\nContent-Type: {content_type}\nContent-Transfer-Encoding: base64\n"
        ));
        let start = self.mime.len();
        let len = BASE64_MIME.encode_len(bytes.len());
        // Without it, a large part would double the memory. Fields of parts follow.
        if start < len {
            self.mime.reserve_exact(len + len / 8);
        }
        self.mime.resize(start + len, 0);
        BASE64_MIME.encode_mut(bytes, &mut self.mime[start..]);
    }

    /// Appends the header fields of a message, except the MIME fields.
    fn header(&mut self, properties: &mut dyn Properties<'_>) {
        let transported = properties.text(property::TRANSPORT_MESSAGE_HEADERS);
        let lines = transported_lines(transported.as_deref().unwrap_or_default());
        if !lines.is_empty() {
            lines.iter().for_each(|line| self.push_line(line));
            return;
        }
        let mut text = |id| properties.text(id);
        let name = text(property::SENDER_NAME);
        let address =
            text(property::SENDER_SMTP_ADDRESS).or_else(|| text(property::SENDER_EMAIL_ADDRESS));
        let sender = match (name, address) {
            (Some(name), Some(address)) if name != address && address.contains('@') => {
                Some(format!("{name} <{address}>"))
            }
            (name, address) => name.or(address),
        };
        let fields = [
            ("From", sender),
            ("To", text(property::DISPLAY_TO)),
            ("Cc", text(property::DISPLAY_CC)),
            ("Subject", text(property::SUBJECT)),
            ("Message-ID", text(property::INTERNET_MESSAGE_ID)),
        ];
        let date = |id| rfc_5322_date(properties.fixed(id)?);
        let date =
            date(property::CLIENT_SUBMIT_TIME).or_else(|| date(property::MESSAGE_DELIVERY_TIME));
        for (name, value) in fields.into_iter().chain([("Date", date)]) {
            if let Some(value) = value {
                self.push_line(&format!("{name}: {}", one_line(&value)));
            }
        }
    }

    /// Appends the bodies of a message.
    fn bodies(&mut self, properties: &mut dyn Properties<'_>) {
        if let Some((body, charset)) = properties.body(property::BODY) {
            self.part(&format!("text/plain; charset={charset}"), &body);
        }
        if let Some(html) = properties.value(property::HTML, BINARY) {
            let charset = properties.code_page(property::INTERNET_CODEPAGE);
            let charset = charset.map_or(String::new(), |encoding| {
                format!("; charset={}", encoding.name())
            });
            self.part(&format!("text/html{charset}"), &html);
        } else if let Some((html, charset)) = properties.body(property::HTML) {
            self.part(&format!("text/html; charset={charset}"), &html);
        } else if let Some(packed) = properties.value(property::RTF_COMPRESSED, BINARY)
            && let Some(page) = page_of_rtf(&packed, properties.unpacking())
        {
            self.part("text/html; charset=utf-8", &page);
        }
    }

    /// Appends the content of an attachment with these properties.
    pub(super) fn attachment(&mut self, properties: &mut dyn Properties<'_>) {
        let name = properties.text(property::ATTACH_LONG_FILENAME);
        let name = name.or_else(|| properties.text(property::ATTACH_FILENAME));
        let media_type = properties.text(property::ATTACH_MIME_TAG);
        let media_type = media_type.and_then(|tag| media_type_of_tag(&tag));
        // An attachment that is stored elsewhere.
        if let Some(elsewhere) = properties.text(property::ATTACH_LONG_PATHNAME) {
            self.part("text/plain; charset=utf-8", elsewhere.as_bytes());
        }
        if let Some(bytes) = properties.value(property::ATTACH_DATA, BINARY) {
            let media_type = media_type.as_deref().unwrap_or("application/octet-stream");
            let name = name.map_or(String::new(), |name| {
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
                format!("; name*=utf-8''{}", encode(name.as_bytes(), is_plain))
            });
            self.part(&format!("{media_type}{name}"), &bytes);
        }
    }
}

/// Reports messages that are not read because they are inside too many others.
pub(super) fn report_depth(unpacking: &mut Unpacking<'_>) {
    let max = unpacking.limits.mime_depth;
    let message =
        format!("Outlook messages inside more than {max} others (mime_depth) are not read");
    unpacking.problem(DiagnosticKind::Limit, message);
}

/// Returns the page of a body in compressed RTF.
fn page_of_rtf(packed: &[u8], unpacking: &mut Unpacking<'_>) -> Option<Vec<u8>> {
    let Some(rtf) = unpacked_rtf(packed, unpacking.left) else {
        let message = "the packed body of an Outlook message is damaged";
        unpacking.problem(DiagnosticKind::Damage, message);
        return None;
    };
    unpacking.left -= rtf.len().min(unpacking.left);
    let reading = rtf::read(&rtf, unpacking.limits);
    for problem in reading.problems {
        unpacking.add(problem);
    }
    match reading.content {
        DocumentContent::Page(page) => Some(page),
        DocumentContent::Message(_) | DocumentContent::Unread => None,
    }
}

fn decoded(bytes: &[u8], encoding: &'static Encoding) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// Returns the header lines of all fields except MIME fields, which describe bodies that the file
/// does not have.
fn transported_lines(header: &str) -> Vec<&str> {
    let mut is_kept = false;
    let lines = header.trim_start().lines().map(str::trim_end);
    let lines = lines.take_while(|line| !line.is_empty());
    let of_kept_fields = lines.filter(|line| {
        if !line.starts_with([' ', '\t']) {
            let name = line.split_once(':').map_or("", |(name, _)| name);
            let is_field = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_graphic())
                && !name.starts_with('-');
            let is_mime = name.eq_ignore_ascii_case("mime-version")
                || begins_with(name.as_bytes(), b"content-");
            is_kept = is_field && !is_mime;
        }
        is_kept
    });
    of_kept_fields.collect()
}

/// Returns a field's value on one line.
fn one_line(value: &str) -> String {
    value.split(char::is_control).collect::<Vec<_>>().join(" ")
}

/// Returns `tag` if it is a media type.
fn media_type_of_tag(tag: &str) -> Option<String> {
    let is_token = tag
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+/".contains(&byte));
    let is_composite = tag.to_ascii_lowercase().starts_with("multipart/");
    (tag.contains('/') && is_token && !is_composite).then(|| tag.to_owned())
}

/// Converts a time in units of 100 nanoseconds since 1601 to an RFC 5322 date.
fn rfc_5322_date(time: u64) -> Option<String> {
    const UNITS_PER_SECOND: u64 = 10_000_000;
    /// Seconds from 1601 to 1970.
    const EPOCH: i64 = 11_644_473_600;
    let seconds = i64::try_from(time / UNITS_PER_SECOND).ok()? - EPOCH;
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(time.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string())
}

/// Unpacks compressed RTF (MS-OXRTFCP) to at most `max` bytes. Returns `None` for other input.
fn unpacked_rtf(packed: &[u8], max: usize) -> Option<Vec<u8>> {
    /// Initial dictionary (MS-OXRTFCP section 2.1.2.1).
    const START: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \
        \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New \
        RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \
        \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
    const HEADER_BYTES: usize = 16;
    const DICTIONARY_BYTES: usize = 4_096;
    let size = u32::from_le_bytes(packed.get(4..8)?.try_into().ok()?) as usize;
    let data = packed.get(HEADER_BYTES..)?;
    match packed.get(8..12)? {
        b"MELA" => return Some(data[..data.len().min(size).min(max)].to_vec()),
        b"LZFu" => {}
        _ => return None,
    }
    let max = max.min(size);
    // The dictionary is a ring of the last bytes: a reference to it is a distance.
    let mut rtf = START.to_vec();
    let mut bytes = data.iter().copied();
    'runs: while let Some(control) = bytes.next() {
        for bit in 0..8 {
            let is_full = max <= rtf.len() - START.len();
            let Some(first) = bytes.next().filter(|_| !is_full) else {
                break 'runs;
            };
            if control & 1 << bit == 0 {
                rtf.push(first);
                continue;
            }
            let Some(second) = bytes.next() else {
                break 'runs;
            };
            let reference = usize::from(u16::from_be_bytes([first, second]));
            let place = reference >> 4;
            let distance = (rtf.len() + DICTIONARY_BYTES - place) % DICTIONARY_BYTES;
            if distance == 0 {
                break 'runs;
            }
            for _ in 0..(reference & 15) + 2 {
                // The rest of a dictionary that is not full yet is zero.
                rtf.push(rtf.len().checked_sub(distance).map_or(0, |at| rtf[at]));
            }
        }
    }
    Some(rtf.split_off(START.len()))
}
