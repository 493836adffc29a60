//! `urlspool` gets the URLs of mail and USENET archives out whole.
//!
//! ```text
//! roof      cli  ------------->  daemon                  what a shell sees  |  when, and from where
//!              \                    |
//! stairs       `----> pipeline <--'  <- config            the only room that knows every stage
//!             _____|_________________________________________________________
//! floor    walk > read > split > decode > scan > repair > parse > record > sink
//!          `- may touch the world -'  `------ pure: bytes to values -------'  world
//! ground   span    limits    origin    diagnostic           nouns that everybody may use
//! bedrock  grammar                                       RFC 1738; imports nothing
//! ```
//!
//! Values flow from left to right, knowledge goes one way: the modules below are listed from the ground up, and each uses
//! only those above it. A test checks that.
//!
//! **To read one message**, give it to [`extract`], which gives what it finds to a closure:
//!
//! ```
//! use urlspool::{Extractor, Finding, Message, Options, Source, extract};
//!
//! let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
//! let extractor = Extractor::new(Options::default());
//! let mut found = Vec::new();
//! extract(&Message::parse(mail), &Source::at("note.eml".into()), &extractor, &mut |finding| {
//!     if let Finding::Url(record) = finding {
//!         found.push((String::from_utf8_lossy(record.found.url()).into_owned(), record.origin.start, record.origin.end));
//!     }
//! });
//! assert_eq!(found, [("ftp://ds.internic.net/rfc".to_owned(), 34, 63)]);
//! ```
//!
//! **To read files and folders** on all cores, give a [`Job`] to [`run`]; any [`Sink`] takes the records as JSON lines.
//! **To read a URL** by RFC 1738, call [`grammar::url`].
//!
//! What is not here: `unsafe`, memory mapping, recursion on input, regular expressions, a clock or randomness below
//! the command line, unpacking to disk, a network, a tree of an HTML document.

pub mod grammar;

#[doc(hidden)]
pub mod span;

mod byte_scan;

#[doc(hidden)]
pub mod limits;

#[doc(hidden)]
pub mod origin;

#[doc(hidden)]
pub mod diagnostic;

#[doc(hidden)]
pub mod walk;

#[doc(hidden)]
pub mod read;

#[doc(hidden)]
pub mod split;

#[doc(hidden)]
pub mod decode;

#[doc(hidden)]
pub mod scan;

#[doc(hidden)]
pub mod repair;

#[doc(hidden)]
pub mod parse;

#[doc(hidden)]
pub mod record;

#[doc(hidden)]
pub mod extract;

#[doc(hidden)]
pub mod sink;

#[doc(hidden)]
pub mod pipeline;

#[doc(hidden)]
pub mod config;

#[doc(hidden)]
pub mod daemon;

#[doc(hidden)]
pub mod cli;

pub use diagnostic::{Diagnostic, Event};
pub use extract::{ExtractedUrl, Extractor, Finding, Options, Urls, extract, urls};
pub use origin::Source;
pub use pipeline::{Job, Report, run};
pub use record::{Record, Summary};
pub use sink::Sink;
pub use split::Message;
