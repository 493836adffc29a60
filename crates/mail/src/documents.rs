//! Office documents, PDF, RTF and packed messages: from bytes to a page of text and links.
//!
//! A document becomes an HTML page with only its visible text and link targets. A message of
//! Outlook or in a signature becomes a MIME message. All rules about links in pages and parts of
//! messages therefore apply to documents too.
//!
//! All readers are linear in the bytes of the document and of its unpacked content. They follow no
//! reference twice, and keep the content before damage or a limit.
//!
//! | document | reader | what is read |
//! |---|---|---|
//! | docx, xlsx, pptx; odt, ods, odp | `readers/office.rs` | text, targets of links and objects |
//! | PDF | `readers/pdf.rs` | targets of links, notes |
//! | RTF | `readers/rtf.rs` | text, targets of `HYPERLINK` fields |
//! | .msg | `readers/outlook.rs` | header fields, bodies, attachments |
//! | winmail.dat (TNEF) | `readers/tnef.rs` | header fields, bodies, attachments |
//! | smime.p7m | `readers/signed.rs` | the signed message or file |

#[cfg(feature = "files")]
mod readers;
/// Without the feature `files`, no source is a document.
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
        /// A compound file (MS-CFB): an Outlook message (MS-OXMSG), or another file that is not
        /// read.
        Compound = "compound",
        /// TNEF (MS-OXTNEF): a message of Outlook in an attachment.
        Tnef = "tnef",
        /// Signed data of PKCS #7 and CMS (RFC 5652), in DER, BER or base64.
        Signed = "signed",
        /// A message in UTF-16, header included.
        Utf16 = "utf16",
    }
}

impl DocumentKind {
    /// Returns the kind of a source whose first bytes are `start`. Returns `None` for all other
    /// sources, and without the feature `files`.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<DocumentKind> {
        readers::kind_of(start)
    }

    /// Returns the most common media type of this kind, for a file that states none.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            DocumentKind::Office => "application/zip",
            DocumentKind::Pdf => "application/pdf",
            DocumentKind::Rtf => "application/rtf",
            DocumentKind::Compound => "application/vnd.ms-outlook",
            DocumentKind::Tnef => "application/ms-tnef",
            DocumentKind::Signed => "application/pkcs7-mime",
            DocumentKind::Utf16 => "message/rfc822",
        }
    }
}

/// Result of reading a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DocumentReading {
    /// Content of the document.
    pub content: DocumentContent,
    /// Media type, if it is more specific than the kind.
    pub media_type: Option<String>,
    /// Number of unpacked bytes.
    pub unpacked_bytes: usize,
    /// Damage and limits without offsets, at most
    /// [`DOCUMENT_PROBLEMS`](urlspool_text::limits::DOCUMENT_PROBLEMS).
    pub problems: Vec<Diagnostic>,
}

/// Content of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum DocumentContent {
    /// An HTML page in UTF-8 with the visible text and the links.
    Page(Vec<u8>),
    /// A message with a header and MIME parts.
    Message(Vec<u8>),
    /// No readable content: the document is encrypted or in an older format.
    #[default]
    Unread,
}

/// Reads a document of this kind. Unpacks at most `limits.message_bytes` bytes, and the resulting
/// page or message has at most that size.
///
/// Never fails and never panics: if a library panics, the document is not read and the panic is
/// reported as a problem. Calls `on_large` before it unpacks more than [`LARGE_MESSAGE_BYTES`].
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
