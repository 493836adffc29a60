//! Parses a logical line: the URL, its end, its components and the verdicts of three grammars.
//!
//! A lenient reading on top of the strict grammar. By the wide rules, it differs from RFC 1738 as
//! follows:
//!
//! - A text that RFC 3986 accepts is also a URL, if its scheme names a host and the host is
//!   plausible.
//! - A text that only WHATWG accepts is also a URL, if its scheme is one of WHATWG's special
//!   schemes, written with `//`.
//! - A bare word must be plausible for its scheme (see [`crate::grammar::BareRequirement`]).
//! - The end of a bare URL depends on the text before it (see `parse/ending.rs`), and precedes a
//!   character that its host or grammar refuses.

mod attribute;
mod choice;
mod components;
mod ending;
mod found;
mod hazard;
mod redirector;
mod shortened;
mod verdict;

pub use attribute::{AttributeValue, parse_attribute, parse_nested, parse_replacement, resolve};
pub use choice::parse_candidate;
pub use components::{Site, UrlComponents, components, host_name, scheme};
pub use found::{
    Alternate, AlternateReason, Candidate, FoundUrl, ParseOutcome, UrlTruncation, Wrapper,
};
pub use hazard::{Hazard, found_hazards, hazards, mismatch};
pub use redirector::redirector_names;
pub use redirector::{
    QUERY_TARGET, RedirectTarget, redirect_targets, redirect_targets_of, without_recipient,
};
pub use verdict::{Grammar, RejectReason, RejectReasonKind, Verdicts, WhatwgReading, key};
