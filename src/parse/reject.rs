//! Reasons for which a start leads to no URL.

use crate::grammar::Reject;
use crate::repair::PrefilterReject;

/// Reason for which a start leads to no URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// RFC 1738 rejects it, and by the wide rules the other grammars do as well.
    Grammar(Reject),
    /// Its scheme names a host, and the text at its place cannot be one.
    Host,
    /// The text after the scheme is not what bare URLs of that scheme look like.
    Implausible,
    /// The author cut its host short, as in `http://www.exam..`.
    Shortened,
    /// A host without a scheme that is named as a machine: in a quoted `Received` line or a certificate.
    Machine,
    /// A wrapper with the starts of two URLs.
    TwoUrls,
    /// A wrapper that never closes.
    Unclosed,
    /// An attribute that is relative to an unknown page.
    Relative,
    /// An attribute that holds data or a program: no location.
    NoLocation,
    /// Another reading of the message gave the same URL from the same bytes.
    Reread,
}

impl RejectReason {
    /// Returns the kind of the reason, without its details.
    #[must_use]
    pub fn kind(self) -> RejectReasonKind {
        match self {
            RejectReason::Grammar(_) => RejectReasonKind::Grammar,
            RejectReason::Host => RejectReasonKind::Host,
            RejectReason::Implausible => RejectReasonKind::Implausible,
            RejectReason::Shortened => RejectReasonKind::Shortened,
            RejectReason::Machine => RejectReasonKind::Machine,
            RejectReason::TwoUrls => RejectReasonKind::TwoUrls,
            RejectReason::Unclosed => RejectReasonKind::Unclosed,
            RejectReason::Relative => RejectReasonKind::Relative,
            RejectReason::NoLocation => RejectReasonKind::NoLocation,
            RejectReason::Reread => RejectReasonKind::Reread,
        }
    }

    /// Returns the name that a reject's `reason.kind` has.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.kind().name()
    }
}

impl From<PrefilterReject> for RejectReason {
    fn from(reject: PrefilterReject) -> RejectReason {
        match reject {
            PrefilterReject::Host => RejectReason::Host,
            PrefilterReject::Shortened => RejectReason::Shortened,
            PrefilterReject::Implausible => RejectReason::Implausible,
        }
    }
}

/// Kind of a [`RejectReason`]: the reason without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectReasonKind {
    /// See [`RejectReason::Grammar`].
    Grammar,
    /// See [`RejectReason::Host`].
    Host,
    /// See [`RejectReason::Implausible`].
    Implausible,
    /// See [`RejectReason::Shortened`].
    Shortened,
    /// See [`RejectReason::Machine`].
    Machine,
    /// See [`RejectReason::TwoUrls`].
    TwoUrls,
    /// See [`RejectReason::Unclosed`].
    Unclosed,
    /// See [`RejectReason::Relative`].
    Relative,
    /// See [`RejectReason::NoLocation`].
    NoLocation,
    /// See [`RejectReason::Reread`].
    Reread,
}

impl RejectReasonKind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [RejectReasonKind; 10] = [
        RejectReasonKind::Grammar,
        RejectReasonKind::Host,
        RejectReasonKind::Implausible,
        RejectReasonKind::Shortened,
        RejectReasonKind::Machine,
        RejectReasonKind::TwoUrls,
        RejectReasonKind::Unclosed,
        RejectReasonKind::Relative,
        RejectReasonKind::NoLocation,
        RejectReasonKind::Reread,
    ];

    /// Returns the name that a reject's `reason.kind` has.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RejectReasonKind::Grammar => "grammar",
            RejectReasonKind::Host => "host",
            RejectReasonKind::Implausible => "implausible",
            RejectReasonKind::Shortened => "shortened",
            RejectReasonKind::Machine => "machine",
            RejectReasonKind::TwoUrls => "two-urls",
            RejectReasonKind::Unclosed => "unclosed",
            RejectReasonKind::Relative => "relative",
            RejectReasonKind::NoLocation => "no-location",
            RejectReasonKind::Reread => "reread",
        }
    }
}
