//! MAPI properties (MS-OXPROPS), which describe messages of Outlook, and their values as MIME.
//!
//! The file formats that hold properties are read by `outlook`.

use encoding_rs::Encoding;

use crate::lines::begins_with;

/// Boundaries between the outermost parts, and between the bodies and attachments of one message.
pub(super) const OUTER_BOUNDARY: &str = "=_outlook";
pub(super) const INNER_BOUNDARY: &str = "=_parts";

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

pub(super) fn multipart(boundary: &str) -> String {
    format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"\n")
}

pub(super) fn decoded(bytes: &[u8], encoding: &'static Encoding) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// Appends a line, after a line end if one is needed.
pub(super) fn push_line(message: &mut Vec<u8>, line: &str) {
    if message.last().is_some_and(|&last| last != b'\n') {
        message.push(b'\n');
    }
    message.extend_from_slice(line.as_bytes());
    message.push(b'\n');
}

/// Returns the header lines of all fields except MIME fields, which describe bodies that the file
/// does not have.
pub(super) fn transported_lines(header: &str) -> Vec<&str> {
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
pub(super) fn one_line(value: &str) -> String {
    value.split(char::is_control).collect::<Vec<_>>().join(" ")
}

/// Returns `tag` if it is a media type.
pub(super) fn media_type(tag: &str) -> Option<String> {
    let is_token = tag
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+/".contains(&byte));
    let is_composite = tag.to_ascii_lowercase().starts_with("multipart/");
    (tag.contains('/') && is_token && !is_composite).then(|| tag.to_owned())
}

/// Converts a time in units of 100 nanoseconds since 1601 to an RFC 5322 date.
pub(super) fn rfc_5322_date(time: u64) -> Option<String> {
    const UNITS_PER_SECOND: u64 = 10_000_000;
    /// Seconds from 1601 to 1970.
    const EPOCH: i64 = 11_644_473_600;
    let seconds = i64::try_from(time / UNITS_PER_SECOND).ok()? - EPOCH;
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(time.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string())
}

/// Unpacks compressed RTF (MS-OXRTFCP) to at most `max` bytes. Returns `None` for other input.
pub(super) fn unpacked_rtf(packed: &[u8], max: usize) -> Option<Vec<u8>> {
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
