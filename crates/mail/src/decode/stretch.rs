//! Stretches of a text that are encoded: uuencoded files and base64 between lines of its own.
//!
//! Text in a stretch is decoded separately. The stretch is removed from the surrounding text.

use std::sync::LazyLock;

use super::binary::{BinaryBlock, blocks};
use super::form::TextForm;
use super::part_kind::{PartReader, by_content, decoded_start, form_of_name};
use super::transfer::TransferEncoding;
use crate::lines::line_end;
use urlspool_text::byte_scan::WordSearcher;
use urlspool_text::span::Span;

/// A stretch of a text that is encoded.
#[derive(Debug)]
pub(super) struct Stretch {
    /// Its encoded bytes. They are no text.
    pub(super) span: Span,
    pub(super) encoding: TransferEncoding,
    /// The form of its text; [`TextForm::Other`] if it holds none.
    pub(super) form: TextForm,
}

/// Finds what begins a stretch or a mark of a terminal, in one pass for all of them. The first two
/// bytes of each word are rare together.
static MARKS: LazyLock<WordSearcher> = LazyLock::new(|| {
    WordSearcher::new(&[
        &b"\nbegin"[..],
        b"\n=ybegin",
        b"\x1B[",
        b"_\x08",
        b"p\x08p",
        b"w\x08w",
    ])
});

/// Returns `true` if a text may hold an encoded stretch or a mark of a terminal. Most have none.
pub(super) fn is_marked(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'b' | b'=')) || MARKS.find(text, 0).is_some()
}

/// Returns the encoded stretches of a text, in order. Linear.
pub(super) fn stretches(text: &[u8]) -> impl Iterator<Item = Stretch> {
    blocks(text).into_iter().map(|block| file(text, &block))
}

/// The stretch of a file within a text. Most are pictures and programs.
fn file(text: &[u8], block: &BinaryBlock) -> Stretch {
    let first_line = Span::new(block.span.start, line_end(text, block.span.start));
    // The lines around base64 are no digits.
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_text_by_its_content() {
        // The length of the first line does not matter, whose characters are digits of base64.
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
