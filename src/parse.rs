//! Reads a logical line: the URL, where it ends, its components and its verdicts.
//!
//! The lenient reading over the strict grammar. Where it differs from RFC 1738 by the wide rules:
//!
//! - A reading that RFC 3986 accepts is a URL too, if its scheme names a host and the host is plausible.
//! - So is one that only WHATWG accepts, if its scheme is one of WHATWG's special ones, written with `//`.
//! - A bare word must be plausible for its scheme (see [`crate::grammar::BareRequirement`]).
//! - What ends a bare URL depends on what stands before it (see `parse/trim.rs`).

mod acceptance;
mod accepted;
mod attribute;
mod candidate;
mod canonical;
mod choice;
mod components;
mod ending;
mod found;
mod hazard;
mod hyphen;
mod key;
mod redirector;
mod reject;
mod verdict;

pub use attribute::{AttributeValue, mismatch, parse_attribute, parse_nested, parse_replacement};
pub use candidate::{Candidate, ParseOutcome};
pub use choice::parse_candidate;
pub use components::{UrlComponents, components, scheme};
pub use found::{Alternate, AlternateReason, FoundUrl, UrlTruncation, Wrapper};
pub use hazard::{Hazard, hazards};
pub use key::{key, key_of_components};
pub use redirector::{RedirectTarget, redirect_target, redirect_target_of, without_recipient};
pub use reject::RejectReason;
pub use verdict::{Grammar, Verdicts};
