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
//! **URLs in a message.** Header fields and every text part, decoded; ranges lead back to the raw bytes:
//!
//! ```
//! use urlspool::Message;
//!
//! let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
//! for url in Message::parse(mail).urls() {
//!     println!("{url} at {:?}, {} joins", url.raw_range(), url.joins().len());
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
//!     println!("{} in {}", record.url, record.source.path);
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
//! let reading = urlspool::grammar::url(b"ftp://host/a;type=d")?;
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
//! | `audit` | audits the links of a loaded database (`urlspool audit`) |
//! | `cli` | the command line |
//!
//! All are on by default. Developed and tested on Linux (x86-64); without features nothing depends on the platform, and
//! `files` needs a Unix.
//!
//! # The modules
//!
//! ```text
//! roof      cli  ------------->  daemon     load < audit    a shell's view  |  live spools  |  databases  |  audits
//!              \                    |
//! stairs       `----> pipeline <--'  <- config            joins the stages
//!             _____|_________________________________________________________
//! floor    walk > read > split > decode > scan > repair > parse > record > sink
//!          `- may touch the world -'  `------- pure: bytes to values -------'  world
//! ground   span    limits    origin    diagnostic        nouns that everybody may use
//! bedrock  grammar                                       RFC 1738; imports nothing
//! ```
//!
//! Values flow from left to right; knowledge goes one way. The modules are declared from the ground up, and each uses only
//! those above it in the list. `tests/house.rs` checks that. `extract` joins the stages from `decode` to `record` for one
//! message; `pipeline` does so for files.
//!
//! There is no `unsafe` code, no memory mapping, no recursion on input, no regular expression, no unpacking to disk and no
//! tree of an HTML document. The stages from `split` to `extract` use no clock, no randomness and no environment.

pub mod grammar;

pub mod span;

#[cfg_attr(
    not(feature = "daemon"),
    expect(dead_code, reason = "only the daemon has faults to plant")
)]
mod planted_faults;

mod byte_scan;

pub mod limits;

pub mod origin;

pub mod diagnostic;

#[cfg(feature = "files")]
pub mod walk;

pub mod read;

#[cfg_attr(
    not(feature = "files"),
    expect(dead_code, reason = "finds where streams can be cut")
)]
pub mod split;

pub mod decode;

pub mod scan;

pub mod repair;

pub mod parse;

pub mod record;

pub mod extract;

#[cfg(feature = "files")]
pub mod sink;

#[cfg(feature = "files")]
pub mod pipeline;

#[cfg(feature = "settings")]
pub mod config;

#[cfg(feature = "daemon")]
pub mod daemon;

#[cfg(feature = "load")]
pub mod load;

#[cfg(feature = "audit")]
pub mod audit;

#[cfg(feature = "cli")]
pub mod cli;

pub use diagnostic::{Diagnostic, Event};
pub use extract::{ExtractedUrl, Extractor, Finding, Options, Urls, extract, urls};
pub use origin::Source;
#[cfg(feature = "files")]
pub use pipeline::{Finished, Job, Records, Report, Scan, run, scan};
pub use record::{OwnedRecord, Record, Summary};
#[cfg(feature = "files")]
pub use sink::Sink;
pub use split::Message;
