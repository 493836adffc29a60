//! The properties of documents, for the targets of all kinds and of one kind.

use std::sync::LazyLock;

use urlspool_mail::decode::{DecodedText, HeaderFields, TextPolicy, texts};
use urlspool_mail::documents::{DocumentContent, DocumentKind, DocumentReading, read_document};
use urlspool_mail::split::{HeaderForm, Message};
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;
use urlspool_text::span::Span;

static LIMITS: LazyLock<Limits> = LazyLock::new(|| Limits {
    message_bytes: 1 << 18,
    archive_entries: 50,
    window_bytes: 1 << 20,
    mime_depth: 5,
    mime_parts: 50,
    ..Limits::default()
});

/// The tags of a page made of text and links.
const TAGS: [&str; 5] = ["<a href=\"", "</a>", "<br>", "<img src=\"", "<link href=\""];

fn check(kind: DocumentKind, bytes: &[u8]) -> DocumentReading {
    let reading = read_document(kind, bytes, &LIMITS, &mut || {});
    assert!(reading.unpacked_bytes <= LIMITS.message_bytes);
    let mut problems = reading.problems.iter();
    assert!(problems.all(|problem| problem.kind != DiagnosticKind::Panic));
    match &reading.content {
        DocumentContent::Page(page) => {
            assert!(page.len() <= 2 * LIMITS.message_bytes + bytes.len());
            let page = std::str::from_utf8(page).expect("a page in UTF-8");
            // HTML in RTF is passed on unchanged.
            if kind != DocumentKind::Rtf || memchr(bytes, b"htmltag").is_none() {
                let tags = page.match_indices('<').map(|(at, _)| &page[at..]);
                for tag in tags {
                    assert!(TAGS.iter().any(|known| tag.starts_with(known)), "{tag}");
                }
            }
        }
        DocumentContent::Message(message) => {
            assert!(message.len() <= 8 * LIMITS.message_bytes + 64 * bytes.len() + 1_000);
        }
        DocumentContent::Unread => {}
    }
    reading
}

fn memchr(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}

/// Checks that these bytes are read the same way twice, as documents of each of these kinds, and
/// the range of each text if they are a document.
pub fn check_documents(kinds: &[DocumentKind], bytes: &[u8]) {
    for &kind in kinds {
        assert_eq!(check(kind, bytes), check(kind, bytes));
    }
    let Some(kind) = DocumentKind::of(bytes) else {
        return;
    };
    let source = Message {
        header: HeaderForm::Document(kind),
        ..Message::text(bytes)
    };
    let fields = HeaderFields::in_message(&source, LIMITS.header_bytes);
    let whole = Span::new(0, bytes.len());
    let mut check = |text: DecodedText<'_>| {
        for at in [0, text.bytes.len() / 2, text.bytes.len().saturating_sub(1)] {
            if at < text.bytes.len() {
                let raw = text.offset_map.raw(Span::new(at, at + 1));
                // The layout of a page adds line ends and blanks that do not occur in the document.
                let is_added = raw.span.is_empty() && text.bytes[at].is_ascii_whitespace();
                assert!(!raw.exact);
                assert!(is_added || raw.span == whole, "{raw:?}");
            }
        }
        for link in text.page.iter().flat_map(|page| &page.links) {
            let page = text.page.as_ref().unwrap();
            assert_eq!(page.offset_map.raw(link.span).span.end, whole.end);
        }
    };
    texts(
        &source,
        &fields,
        &LIMITS,
        TextPolicy::default(),
        &mut check,
        &mut || {},
    );
}
