//! Finds, repairs and parses the URLs in mail and USENET archives.
//!
//! **URLs in a text.** Wrapped URLs are unwrapped, and URLs that were broken over lines are joined:
//!
//! ```
//! for url in urlspool::urls("see <URL:http://a.example/x\n  y> now") {
//!     println!("{url} at {:?}", url.range());
//! }
//! ```
//!
//! **URLs in a message.** Header fields and every text part, decoded; ranges refer to the raw
//! bytes:
//!
//! ```
//! let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
//! for url in urlspool::message_urls(mail) {
//!     println!("{url} at {:?}, {} joins", url.range(), url.joins.len());
//!     println!("accepted by {:?}", url.verdicts().conforms().collect::<Vec<_>>());
//! }
//! ```
//!
//! **URLs in files and folders**, on all cores, in the order of the input (feature `files`):
//!
//! ```
//! # #[cfg(feature = "files")]
//! # fn main() -> std::io::Result<()> {
//! for record in urlspool::scan(["corpus/text"]).run()? {
//!     println!("{} in {}", record.url(), record.path());
//! }
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "files"))]
//! # fn main() {}
//! ```
//!
//! **One URL by RFC 1738.**
//!
//! ```
//! # fn main() -> Result<(), urlspool::grammar::Reject> {
//! let reading = urlspool::grammar::Url::parse("ftp://host/a;type=d")?;
//! assert_eq!(reading.form.name(), "ftpurl");
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! | feature | contents |
//! |---|---|
//! | (none) | URLs in a text or a message: pure Rust, no threads, no files |
//! | `files` | files and folders on all cores, compressed files, archives, documents |
//! | `program` | the program: the daemon, databases, statistics, pages, audits, the command line |
//! | `postgres`, `elasticsearch` | these servers as targets of `urlspool load` |
//! | `arrow`, `parquet` | records as Arrow record batches, and as Parquet files |
//!
//! `program` is on by default. Developed and tested on Linux (x86-64). Without features, the
//! library does not depend on the platform; `files` and the features based on it need Linux or
//! macOS.
//!
//! The crate has no `unsafe` code, and uses no memory mapping, no recursion on input, no regular
//! expressions, no unpacking to disk and no tree of an HTML document. The results depend only on
//! the input and the options, never on the clock, random numbers or the environment.

// docs.rs marks items that need a feature.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "program")]
mod cli;

#[cfg(feature = "program")]
pub use cli::command_line;
#[cfg(feature = "files")]
pub use urlspool_files::scan::{
    DatePeriod, Finished, NamedCounts, Records, Scan, ScanOptions, SchemeCounts, Summary, scan,
};
pub use urlspool_mail::decode::{
    AttachmentPolicy, Date, FieldRoles, HeaderField, HeaderFields, InfoFields, KnownField,
    MessageInfo, MimePart, Zone,
};
pub use urlspool_mail::split::{Extent, FragmentHead, HeaderForm, Message};
pub use urlspool_record::explain::{
    CandidateOutcome, ExplainedAlternate, ExplainedCandidate, ExplainedField, ExplainedJoin,
    ExplainedMessage, ExplainedPart, ExplainedTarget, ExplainedUrl, Explanation, NamedReason, Note,
};
pub use urlspool_record::extract::{
    ExtractedUrl, Extractor, Finding, Options, Unique, message_urls, urls,
};
pub use urlspool_record::record::{
    Demand, FieldId, FoundRecord, Record, RecordOrigin, RecordValue, RedirectSource, UrlContext,
};
pub use urlspool_text::diagnostic::{
    Diagnostic, DiagnosticKind, Event as InputEvent, SkipReason, UrlFilter,
};
pub use urlspool_text::grammar;
pub use urlspool_text::limits::{Limit, LimitUnit, Limits};
pub use urlspool_text::origin::{Source, SourceKind};
pub use urlspool_text::parse::{
    Alternate, AlternateReason, FoundUrl, Grammar, RejectReason, RejectReasonKind, UrlComponents,
    UrlTruncation, Verdicts, WhatwgReading, Wrapper,
};
pub use urlspool_text::repair::{Feature, Features, Join, PrefilterReject, Repair, RepairSet};
pub use urlspool_text::scan::{Opening, Rules, SchemelessPolicy};
pub use urlspool_text::span::Span;
