//! Encoded stretches of a text: uuencoded files, base64 between marker lines, and the bodies of
//! messages and parts quoted with their headers.
//!
//! The text in a stretch is decoded separately, and the stretch is removed from the surrounding
//! text.

use std::sync::LazyLock;

use super::MappedBytes;
use super::binary::{BinaryBlock, blocks, is_base64};
use super::form::TextForm;
use super::header::HeaderFields;
use super::part::{MimePart, PartPlace};
use super::part_kind::{PartReader, by_content, decoded_start, form_of_name};
use super::transfer::TransferEncoding;
use crate::lines::{is_blank, line_end};
use crate::split::is_field;
use urlspool_text::byte_scan::WordSearcher;
use urlspool_text::span::Span;

/// Encoded stretch of a text.
#[derive(Debug)]
pub(super) struct Stretch {
    /// Range of the encoded bytes, which are not text.
    pub(super) span: Span,
    pub(super) encoding: TransferEncoding,
    /// Form of the encoded text; [`TextForm::Other`] if there is no text.
    pub(super) form: TextForm,
    /// Charset named in the stretch's header.
    pub(super) charset: Option<String>,
    /// Quote marks before each line.
    marks: Vec<u8>,
}

/// Finds starts of stretches, terminal marks and escape sequences of 7-bit charsets in one pass.
/// The first two bytes of each word are rare in combination.
static MARKS: LazyLock<WordSearcher> = LazyLock::new(|| {
    WordSearcher::new(&[
        &b"\nbegin"[..],
        b"\n=ybegin",
        b"\x1B[",
        b"_\x08",
        b"p\x08p",
        b"w\x08w",
        ENCODING[0],
        ENCODING[1],
        b"\x1B$",
        b"~{",
    ])
});

/// Ends of the field name Content-Transfer-Encoding.
const ENCODING: [&[u8]; 2] = [b"-Encoding: ", b"-encoding: "];

/// Finds `ENCODING`.
static ENCODINGS: LazyLock<WordSearcher> = LazyLock::new(|| WordSearcher::new(&ENCODING));

/// Returns `true` if a text may hold an encoded stretch, terminal marks or escape sequences of a
/// 7-bit charset. Most texts hold none of them.
pub(super) fn has_mark(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'b' | b'=')) || MARKS.find(text, 0).is_some()
}

/// Returns the encoded stretches of a text, in order. Linear.
pub(super) fn stretches(text: &[u8]) -> impl Iterator<Item = Stretch> {
    let mut all = bodies(text);
    all.extend(blocks(text).iter().map(|block| file(text, block)));
    all.sort_by_key(|stretch| stretch.span.start);
    all.dedup_by(|next, kept| next.span.start < kept.span.end);
    all.into_iter()
}

impl Stretch {
    /// Removes the quote marks from the stretch's bytes. Returns `None` if there are no marks.
    pub(super) fn without_marks(&self, text: &[u8]) -> Option<MappedBytes> {
        if self.marks.is_empty() {
            return None;
        }
        let mut end = 0;
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        let removed = lines.map(|line| {
            let start = end;
            end += line.len();
            start..end - unmarked(line, &self.marks).map_or(0, <[u8]>::len)
        });
        Some(MappedBytes::without(text, removed))
    }
}

/// Returns the line without the leading marks. A blank line may lack the final blank of the marks.
fn unmarked<'l>(line: &'l [u8], marks: &[u8]) -> Option<&'l [u8]> {
    line.strip_prefix(marks).or_else(|| {
        line.strip_prefix(marks.trim_ascii_end())
            .filter(|rest| rest.trim_ascii().is_empty())
    })
}

/// Returns the base64 bodies whose headers are in a text: the body of the message in a bounce or
/// report, and the bodies of its parts. Reads each line at most twice.
fn bodies(text: &[u8]) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut passed = 0;
    while let Some(field) = ENCODINGS.find(text, passed) {
        let floor = std::mem::replace(&mut passed, line_end(text, field));
        let Some((start, marks)) = header_start(text, floor, field) else {
            continue;
        };
        let mut header = Vec::new();
        passed = start;
        let ends = loop {
            let end = line_end(text, passed);
            let line = unmarked(&text[passed..end], marks);
            let Some(line) = line.filter(|line| passed < end && is_of_header(line)) else {
                break line.is_some_and(|line| passed < end && line.trim_ascii().is_empty());
            };
            header.extend_from_slice(line);
            passed = end;
        };
        // A line that is not a field may start the next header.
        passed = passed.max(line_end(text, field));
        if ends {
            let body = line_end(text, passed);
            let stretch = body_of(text, body, marks, &header);
            passed = stretch.as_ref().map_or(body, |stretch| stretch.span.end);
            found.extend(stretch);
        }
    }
    found
}

/// Returns the start of the header that contains an encoding field, at or after `floor`, and the
/// quote marks before each line. The name of the field ends at `field`.
fn header_start(text: &[u8], floor: usize, field: usize) -> Option<(usize, &[u8])> {
    let (mut start, marks) = field_start(text, floor, field)?;
    while floor < start {
        let above = line_start(text, floor, start - 1);
        let line = unmarked(&text[above..start], marks);
        if !line.is_some_and(is_of_header) {
            break;
        }
        start = above;
    }
    Some((start, marks))
}

/// Returns the start of the line of an encoding field, whose name ends at `field`, and the quote
/// marks before it; `None` for another field.
fn field_start(text: &[u8], floor: usize, field: usize) -> Option<(usize, &[u8])> {
    const NAME: &[u8] = b"content-transfer";
    let start = line_start(text, floor, field);
    let before = &text[start..field];
    let (marks, name) = before.split_at(before.len().checked_sub(NAME.len())?);
    let is_mark = |&byte: &u8| is_blank(byte) || matches!(byte, b'>' | b'|');
    (name.eq_ignore_ascii_case(NAME) && marks.iter().all(is_mark)).then_some((start, marks))
}

/// Returns the start of the next encoding field at or after `from`, or the end of the text.
fn next_field(text: &[u8], from: usize) -> usize {
    let mut passed = from;
    while let Some(field) = ENCODINGS.find(text, passed) {
        if let Some((start, _)) = field_start(text, passed, field) {
            return start;
        }
        passed = line_end(text, field);
    }
    text.len()
}

/// Returns the start of the line that ends at `end`, or `floor`.
fn line_start(text: &[u8], floor: usize, end: usize) -> usize {
    memchr::memrchr(b'\n', &text[floor..end]).map_or(floor, |before| floor + before + 1)
}

/// Returns `true` for a field line and for a continuation line.
fn is_of_header(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.first().is_some_and(|&first| is_blank(first)) || is_field(line)
}

/// Returns the stretch of the base64 body at `start` with the fields `header`, if the body is text.
/// Quoted-printable is left to the readings of the scan, which keep what a reader of the text sees.
fn body_of(text: &[u8], start: usize, marks: &[u8], header: &[u8]) -> Option<Stretch> {
    let fields = HeaderFields::of(header, usize::MAX);
    let part = MimePart::new(header, &fields, &PartPlace::default());
    if part.transfer_encoding() != TransferEncoding::Base64 || part.form == TextForm::Other {
        return None;
    }
    // A body that is refused is searched again for headers. No line of it is read by two of them.
    let limit = next_field(text, start);
    let (end, whole_lines) = base64_lines(&text[..limit], start, marks);
    let stretch = Stretch {
        span: Span::new(start, end),
        encoding: TransferEncoding::Base64,
        form: part.form,
        charset: part.charset,
        marks: marks.to_vec(),
    };
    let bytes = stretch.span.of(text);
    let is_text = || {
        let unmarked = stretch.without_marks(bytes).map(|unmarked| unmarked.bytes);
        let bytes = unmarked.as_deref().unwrap_or(bytes);
        let start = decoded_start(bytes, TransferEncoding::Base64);
        matches!(
            by_content(None, &start),
            PartReader::Text(_) | PartReader::Message
        )
    };
    (0 < whole_lines && is_text()).then(|| Stretch {
        span: Span::new(start, base64_lines(text, end, marks).0),
        ..stretch
    })
}

/// Returns the end of the lines of base64 digits at `start`, and the number of lines of whole
/// groups in them.
fn base64_lines(text: &[u8], start: usize, marks: &[u8]) -> (usize, usize) {
    let mut whole_lines = 0;
    let mut end = start;
    while end < text.len() {
        let next = line_end(text, end);
        let line = unmarked(&text[end..next], marks).map(<[u8]>::trim_ascii_end);
        let Some(line) = line.filter(|line| !line.is_empty() && is_base64(line)) else {
            break;
        };
        whole_lines += usize::from(line.len().is_multiple_of(4));
        end = next;
    }
    (end, whole_lines)
}

/// Returns the stretch of a file within a text. Most files are pictures and programs.
fn file(text: &[u8], block: &BinaryBlock) -> Stretch {
    let first_line = Span::new(block.span.start, line_end(text, block.span.start));
    // The lines around base64 are not digits.
    let span = match block.encoding {
        Some(TransferEncoding::Base64) => Span::new(first_line.end, block.span.end),
        _ => block.span,
    };
    let form = block.encoding.map_or(TextForm::Other, |encoding| {
        let name = first_line.of(text).trim_ascii_end();
        match by_content(None, &decoded_start(span.of(text), encoding)) {
            PartReader::Text(TextForm::Plain) => form_of_name(&String::from_utf8_lossy(name)),
            PartReader::Text(form) => form,
            PartReader::Message | PartReader::Mailbox(_) => TextForm::Plain,
            _ => TextForm::Other,
        }
    });
    Stretch {
        span,
        encoding: block.encoding.unwrap_or(TransferEncoding::Identity),
        form,
        charset: None,
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the decoded stretches of a text, and the remaining text.
    fn decoded(text: &str) -> (Vec<String>, String) {
        let (mut texts, mut rest, mut at) = (Vec::new(), String::new(), 0);
        for stretch in stretches(text.as_bytes()) {
            let bytes = stretch.span.of(text.as_bytes());
            let unmarked = stretch.without_marks(bytes).map(|it| it.bytes);
            let decoded = decoded_start(unmarked.as_deref().unwrap_or(bytes), stretch.encoding);
            texts.push(String::from_utf8(decoded).unwrap());
            rest += &text[at..stretch.span.start];
            at = stretch.span.end;
        }
        (texts, rest + &text[at..])
    }

    #[test]
    fn a_body_after_its_header_is_decoded() {
        let qp = "Content-Transfer-Encoding: quoted-printable\nX: y\n z\n\n";
        let base64 = "content-type: text/html\nContent-transfer-encoding: BASE64\n\n";
        for (header, body, rest, meant) in [
            (
                base64,
                "aHR0cDovL2EuYi8gaXMgdGV4dAo=\n",
                "\nx\n",
                "http://a.b/ is text\n",
            ),
            (base64, "aHR0cDovL2EuYi8K\n", "--x\ny\n", "http://a.b/\n"),
        ] {
            let whole = format!("x\n{header}{body}{rest}");
            assert_eq!(
                decoded(&whole),
                (vec![meant.to_owned()], format!("x\n{header}{rest}"))
            );
            let quoted = |text: &str| {
                let lines = text
                    .lines()
                    .map(|line| format!("> {line}").trim_end().to_owned() + "\n");
                lines.collect::<String>()
            };
            let found = decoded(&format!("x\n{}{rest}", quoted(&format!("{header}{body}"))));
            assert_eq!(
                found,
                (
                    vec![meant.to_owned()],
                    format!("x\n{}{rest}", quoted(header))
                )
            );
        }
        // Not encoded, despite the header.
        for (header, body) in [
            (qp, "a=\nb=3D1\n"),
            (base64, "words\n"),
            (base64, "iVBORw0KGgoAAAANSUhEUgAA\n"),
            (
                "Content-Type: image/png\n",
                "Content-Transfer-Encoding: base64\n\naHR0cDov\n",
            ),
            (
                "Content-Transfer-Encoding: base64\nand more\n",
                "\naHR0cDovL2EuYi8K\n",
            ),
            ("My-Encoding: base64\n\n", "aHR0cDovL2EuYi8K\n"),
        ] {
            let text = [header, body].concat();
            assert_eq!(decoded(&text), (vec![], text.clone()));
        }
    }

    #[test]
    fn base64_is_text_by_its_content() {
        // The length of the first line does not matter here, although its characters are base64
        // digits.
        for name in ["abc", "abc.txt", "abcd.html", "x.txt", "x"] {
            let text = format!("begin-base64 644 {name}\naHR0cDovL2EuYi8gaXMgdGV4dAo=\n====\nx\n");
            let found: Vec<Stretch> = stretches(text.as_bytes()).collect();
            assert!(
                matches!(found.as_slice(), [stretch] if stretch.form != TextForm::Other
                    && stretch.span.of(text.as_bytes()).starts_with(b"aHR0")),
                "{name}: {found:?}"
            );
        }
        let picture = b"begin-base64 644 x\niVBORw0KGgoAAAANSUhEUgAA\n====\n";
        assert!(stretches(picture).all(|stretch| stretch.form == TextForm::Other));
    }
}
