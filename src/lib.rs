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
//! **URLs in a message.** Header fields and every text part, decoded; ranges lead back to the raw
//! bytes:
//!
//! ```
//! use urlspool::Message;
//!
//! let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
//! for url in Message::parse(mail).urls() {
//!     println!("{url} at {:?}, {} joins", url.range(), url.joins().len());
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
//! | feature | holds |
//! |---|---|
//! | (none) | a URL in a text, in a message: pure Rust, no threads, no files |
//! | `archives` | compressed files and archives |
//! | `files` | files and folders on all cores |
//! | `daemon` | the daemon that watches live spools (`urlspool watch`) |
//! | `load` | loads records into SQLite and searches them (`urlspool load`, `urlspool search`) |
//! | `stats` | counts what is in mail, records and databases (`urlspool stats`) |
//! | `audit` | audits the links of a loaded database (`urlspool audit`) |
//! | `browse` | pages to look through a loaded database (`urlspool browse`) |
//! | `documents` | office documents, PDF, RTF and messages of Outlook |
//! | `cli` | the command line |
//!
//! All but `browse` and `documents` are on by default. Developed and tested on Linux (x86-64). Without features nothing depends
//! on the platform; `files` and what builds on it needs Linux or macOS.
//!
//! There is no `unsafe` code, no memory mapping, no recursion on input, no regular expression, no
//! unpacking to disk and no tree of an HTML document. What is found depends on the input and the
//! options alone: on no clock, no randomness and no environment.

// docs.rs marks what needs a feature.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The modules are declared from the ground up, and each uses only those above it (ARCHITECTURE has
// the drawing; `tests/house.rs` checks it). They are private: what is public is named at the end of
// this file.

// With the feature `internals`, which every test has, public items of the private modules below are
// in use. Without it many are not.
#![cfg_attr(
    not(feature = "internals"),
    allow(
        dead_code,
        unfulfilled_lint_expectations,
        unreachable_pub,
        unused_imports
    )
)]

#[macro_use]
mod named_enum;

pub mod grammar;

mod limits;

mod span;

#[cfg_attr(
    not(feature = "daemon"),
    expect(dead_code, reason = "only the daemon has faults to plant")
)]
mod planted_faults;

mod byte_scan;

mod word_search;

mod hash;

#[cfg(feature = "files")]
mod keyed_hash;

mod origin;

mod diagnostic;

#[cfg(feature = "files")]
mod walk;

mod read;

mod documents;

#[cfg_attr(
    not(feature = "files"),
    expect(dead_code, reason = "finds where streams can be cut")
)]
mod split;

mod decode;

mod scan;

mod repair;

mod parse;

mod record;

mod extract;

mod explain;

#[cfg(feature = "stats")]
mod stats;

#[cfg(feature = "files")]
mod sink;

#[cfg(any(
    feature = "audit",
    feature = "browse",
    all(feature = "cli", feature = "stats")
))]
mod page;

#[cfg(feature = "files")]
mod pipeline;

#[cfg(feature = "settings")]
mod config;

#[cfg(any(feature = "browse", feature = "daemon"))]
mod listener;

#[cfg(feature = "daemon")]
mod daemon;

#[cfg(feature = "load")]
mod load;

#[cfg(feature = "audit")]
mod audit;

#[cfg(feature = "browse")]
mod browse;

#[cfg(feature = "cli")]
mod cli;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;

#[cfg(feature = "cli")]
pub use cli::command_line;
pub use decode::{
    AttachmentPolicy, Date, FieldRoles, HeaderField, HeaderFields, HeaderPolicy, HtmlPolicy,
    InfoFields, KnownField, MessageInfo, MimePart, Zone,
};
pub use diagnostic::{Diagnostic, DiagnosticKind, Event as InputEvent, SkipReason, UrlFilter};
pub use explain::{
    CandidateOutcome, ExplainedAlternate, ExplainedCandidate, ExplainedField, ExplainedJoin,
    ExplainedMessage, ExplainedPart, ExplainedTarget, ExplainedUrl, Explanation, NamedReason, Note,
};
pub use extract::{ExtractedUrl, Extractor, Finding, Options, Unique, urls};
pub use limits::{Limit, LimitUnit, Limits};
pub use origin::{Source, SourceKind};
pub use parse::{
    Alternate, AlternateReason, FoundUrl, Grammar, RejectReason, RejectReasonKind, UrlComponents,
    UrlTruncation, Verdicts, WhatwgReading, Wrapper,
};
#[cfg(feature = "files")]
pub use pipeline::{Finished, Records, Scan, scan};
pub use record::{
    Demand, FieldId, FoundRecord, NamedCounts, Record, RecordItems, RecordOrigin, RecordValue,
    RedirectSource, SchemeCounts, Summary, UrlContext,
};
pub use repair::{Feature, Features, Join, PrefilterReject, Repair, RepairSet};
pub use scan::{Opening, Rules, SchemelessPolicy};
pub use span::Span;
pub use split::{Extent, HeaderForm, Message, MessageHead};
