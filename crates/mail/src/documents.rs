//! Documents of office programs, PDF, RTF and messages of Outlook: from bytes to a page of text and links.
//!
//! A document becomes an HTML page that holds its visible text and its link targets and nothing else, or, if it is a message, a
//! MIME message. So everything that is decided about links of pages and about parts of messages holds for documents, too.
//!
//! All readers are linear in the bytes of the document and of what they unpack, follow no reference twice, and keep what they
//! read before damage or a limit.
//!
//! | document | reader | what is read |
//! |---|---|---|
//! | docx, xlsx, pptx; odt, ods, odp | `readers/office.rs` | text, targets of links and of linked objects |
//! | PDF | `readers/pdf.rs` | targets of links, notes |
//! | RTF | `readers/rtf.rs` | text, targets of `HYPERLINK` fields |
//! | .msg | `readers/outlook.rs` | header fields, bodies, attachments |

#[cfg(feature = "files")]
mod readers;
/// Without the feature `files` no source is a document.
#[cfg(not(feature = "files"))]
mod readers {
    use super::{DocumentKind, DocumentReading, Limits};

    pub(super) fn kind_of(_: &[u8]) -> Option<DocumentKind> {
        None
    }

    pub(super) fn read(_: DocumentKind, _: &[u8], _: &Limits) -> DocumentReading {
        DocumentReading::default()
    }
}

use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::{LARGE_MESSAGE_BYTES, Limits};

urlspool_text::named_enum! {
    /// Kind of a document.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DocumentKind {
        /// A zip of XML: Office Open XML (ECMA-376) or ODF (ISO/IEC 26300).
        Office = "office",
        /// PDF (ISO 32000).
        Pdf = "pdf",
        /// Rich Text Format.
        Rtf = "rtf",
        /// A compound file (MS-CFB): a message of Outlook (MS-OXMSG), or something that is not read.
        Compound = "compound",
        /// A message whose header is in UTF-16 too.
        Utf16 = "utf16",
    }
}

impl DocumentKind {
    /// Returns the kind of a source that begins with `start`. `None` for all other sources, and without the feature `files`.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<DocumentKind> {
        readers::kind_of(start)
    }

    /// The media type of most documents of this kind, for a file that states none.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            DocumentKind::Office => "application/zip",
            DocumentKind::Pdf => "application/pdf",
            DocumentKind::Rtf => "application/rtf",
            DocumentKind::Compound => "application/vnd.ms-outlook",
            DocumentKind::Utf16 => "message/rfc822",
        }
    }
}

/// The result of reading a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DocumentReading {
    /// Content of the document.
    pub content: DocumentContent,
    /// Its media type, if that is known more precisely than by its kind.
    pub media_type: Option<String>,
    /// Number of bytes that were unpacked.
    pub unpacked_bytes: usize,
    /// Damage and limits, at most [`DOCUMENT_PROBLEMS`](urlspool_text::limits::DOCUMENT_PROBLEMS) of them, without offsets.
    pub problems: Vec<Diagnostic>,
}

/// The content of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum DocumentContent {
    /// An HTML page in UTF-8: the visible text and the links.
    Page(Vec<u8>),
    /// A message with a header and MIME parts.
    Message(Vec<u8>),
    /// Nothing that can be read: it is encrypted, or of an older format.
    #[default]
    Unread,
}

/// Reads a document of this kind. Unpacks at most `limits.message_bytes` bytes, and makes a page or a message of at most as many.
///
/// Never fails and never panics: a panic of a library is a problem, and the document is not read. Calls `on_large` before it unpacks
/// more than [`LARGE_MESSAGE_BYTES`].
#[must_use]
pub fn read_document(
    kind: DocumentKind,
    bytes: &[u8],
    limits: &Limits,
    on_large: &mut dyn FnMut(),
) -> DocumentReading {
    let small = Limits {
        message_bytes: limits.message_bytes.min(LARGE_MESSAGE_BYTES),
        ..*limits
    };
    let reading = readers::read(kind, bytes, &small);
    let mut problems = reading.problems.iter();
    if small == *limits || problems.all(|problem| problem.kind != DiagnosticKind::Limit) {
        return reading;
    }
    on_large();
    readers::read(kind, bytes, limits)
}
