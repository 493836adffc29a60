//! Reads a logical line: the URL, where it ends, its components and its verdicts.
//!
//! The lenient reading over the strict grammar. Where it differs from RFC 1738 by the wide rules:
//!
//! - A reading that RFC 3986 accepts is a URL too, if its scheme names a host and the host is plausible.
//! - So is one that only WHATWG accepts, if its scheme is one of WHATWG's special ones, written with `//`.
//! - A bare word must be plausible for its scheme (see [`crate::grammar::Bare`]).
//! - What ends a bare URL depends on what stands before it (see `parse/trim.rs`).

mod accept;
mod attribute;
mod choose;
mod hazard;
mod key;
mod plain;
mod promise;
mod split;
mod trim;
mod unwrap;
mod verdict;

pub use attribute::{AttributeValue, attribute, inner, mismatch, replace};
pub use choose::{
    Alternate, AlternateReason, Candidate, FoundUrl, ParseOutcome, RejectReason, Truncated,
    Wrapper, read,
};
pub use hazard::{Hazard, hazards};
pub use key::{key, key_of};
pub use promise::promising;
pub use split::{SplitUrl, scheme, split};
pub use unwrap::{Unwrapped, unwrap, unwrap_divided, without_recipient};
pub use verdict::{GRAMMARS, Verdicts};
