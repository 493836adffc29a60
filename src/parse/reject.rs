//! Reasons for which a start leads to no URL.

use crate::grammar::Reject;
use crate::repair::PrefilterReject;

/// AlternateReason a start led to no URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// RFC 1738 refuses it, and by the wide rules the others do as well.
    Grammar(Reject),
    /// Its scheme names a host, and what stands there cannot be one.
    Host,
    /// What follows the scheme is not what bare URLs of that scheme look like.
    Implausible,
    /// A wrapper with the beginnings of two URLs.
    TwoUrls,
    /// A wrapper that never closes.
    Unclosed,
    /// An attribute that is relative to a page nobody knows.
    Relative,
    /// An attribute with data or a program in it: no location.
    NoLocation,
    /// The same bytes gave the same URL in another reading of the message.
    Reread,
}

impl RejectReason {
    /// All reasons' names, for the schema.
    pub const NAMES: [&str; 8] = [
        "grammar",
        "host",
        "implausible",
        "two-urls",
        "unclosed",
        "relative",
        "no-location",
        "reread",
    ];

    /// The name that stands in a reject's `reason.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RejectReason::Grammar(_) => "grammar",
            RejectReason::Host => "host",
            RejectReason::Implausible => "implausible",
            RejectReason::TwoUrls => "two-urls",
            RejectReason::Unclosed => "unclosed",
            RejectReason::Relative => "relative",
            RejectReason::NoLocation => "no-location",
            RejectReason::Reread => "reread",
        }
    }
}

impl From<PrefilterReject> for RejectReason {
    fn from(reject: PrefilterReject) -> RejectReason {
        match reject {
            PrefilterReject::Host => RejectReason::Host,
            PrefilterReject::Implausible => RejectReason::Implausible,
        }
    }
}
