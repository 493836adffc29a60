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
//! | docx, xlsx, pptx; odt, ods, odp | `office.rs` | text, targets of links and of linked objects |
//! | PDF | `pdf.rs` | targets of links, notes |
//! | RTF | `rtf.rs` | text, targets of `HYPERLINK` fields |
//! | .msg | `outlook.rs` | header fields, bodies, attachments |

#[cfg(feature = "documents")]
mod field;
#[cfg(feature = "documents")]
mod office;
#[cfg(feature = "documents")]
mod outlook;
#[cfg(feature = "documents")]
mod page_builder;
#[cfg(feature = "documents")]
mod pdf;
#[cfg(feature = "documents")]
mod rtf;
#[cfg(feature = "documents")]
mod xml;

#[cfg(feature = "documents")]
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::diagnostic::DiagnosticKind;
use crate::limits::{LARGE_MESSAGE_BYTES, Limits};
#[cfg(feature = "documents")]
use crate::planted_faults::{PlantedFault, panic_at_mark};
#[cfg(feature = "documents")]
use crate::read::is_office_document;

named_enum! {
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
    }
}

impl DocumentKind {
    /// Returns the kind of a source that begins with `start`. `None` for all other sources, and without the feature `documents`.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<DocumentKind> {
        #[cfg(feature = "documents")]
        {
            let begins = |mark: &[u8]| start.starts_with(mark);
            match start {
                _ if begins(b"%PDF-") => Some(DocumentKind::Pdf),
                _ if begins(b"{\\rtf") => Some(DocumentKind::Rtf),
                _ if begins(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") => Some(DocumentKind::Compound),
                _ if is_office_document(start) => Some(DocumentKind::Office),
                _ => None,
            }
        }
        #[cfg(not(feature = "documents"))]
        {
            let _ = start;
            None
        }
    }

    /// The media type of most documents of this kind, for a file that states none.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            DocumentKind::Office => "application/zip",
            DocumentKind::Pdf => "application/pdf",
            DocumentKind::Rtf => "application/rtf",
            DocumentKind::Compound => "application/vnd.ms-outlook",
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
    /// Damage and limits, at most [`DOCUMENT_PROBLEMS`](crate::limits::DOCUMENT_PROBLEMS) of them.
    pub problems: Vec<DocumentProblem>,
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

/// A problem of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentProblem {
    /// Its kind.
    pub kind: DiagnosticKind,
    /// The text of an event about it.
    pub message: String,
}

/// Reads a document of this kind. Unpacks at most `limits.message_bytes` bytes, and makes a page or a message of at most as many.
///
/// Never fails and never panics: a panic of a library is a problem, and the document is not read. Calls `on_large` before it unpacks
/// more than [`LARGE_MESSAGE_BYTES`](crate::limits::LARGE_MESSAGE_BYTES).
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
    let reading = read_within(kind, bytes, &small);
    let mut problems = reading.problems.iter();
    if small == *limits || problems.all(|problem| problem.kind != DiagnosticKind::Limit) {
        return reading;
    }
    on_large();
    read_within(kind, bytes, limits)
}

fn read_within(kind: DocumentKind, bytes: &[u8], limits: &Limits) -> DocumentReading {
    #[cfg(feature = "documents")]
    {
        let read = || {
            panic_at_mark(PlantedFault::PanicInDocument, bytes);
            match kind {
                DocumentKind::Office => office::read(bytes, limits),
                DocumentKind::Pdf => pdf::read(bytes, limits),
                DocumentKind::Rtf => rtf::read(bytes, limits),
                DocumentKind::Compound => outlook::read(bytes, limits),
            }
        };
        catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| DocumentReading {
            problems: vec![DocumentProblem {
                kind: DiagnosticKind::Panic,
                message: "the program failed on this document, which is not read; please report it"
                    .to_owned(),
            }],
            ..DocumentReading::default()
        })
    }
    #[cfg(not(feature = "documents"))]
    {
        let _ = (kind, bytes, limits);
        DocumentReading::default()
    }
}

/// Problems of the document that is being read.
#[cfg(feature = "documents")]
#[derive(Debug, Default)]
struct Problems(Vec<DocumentProblem>);

#[cfg(feature = "documents")]
impl Problems {
    /// Adds a problem, unless there are many, or one with these words.
    fn add(&mut self, kind: DiagnosticKind, message: impl Into<String>) {
        let problem = DocumentProblem {
            kind,
            message: message.into(),
        };
        if self.0.len() < crate::limits::DOCUMENT_PROBLEMS && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// Adds the problem that `what` holds more than fits into the page.
    fn add_full_page(&mut self, limits: &Limits) {
        let max = limits.message_bytes;
        let message = format!(
            "a document of more than {max} bytes of text and links (message_bytes): the rest is not read"
        );
        self.add(DiagnosticKind::Limit, message);
    }
}
