//! The closed sets of the record, by name. The names come from their enums, so that they are written once.

use crate::decode::{BodyRegion, EXTERNAL_BODY_REGION, link_attributes};
use crate::diagnostic::{DiagnosticKind, SkipReason};
use crate::grammar::{RejectKind, RejectPart, UrlForm, Warning};
use crate::origin::SourceKind;
use crate::parse::{AlternateReason, Grammar, Hazard, RejectReasonKind, Wrapper, redirector_names};
use crate::repair::Repair;

/// The name in `hazards` of a link whose text names another host.
pub(super) const MISMATCH: &str = "mismatch";

/// A closed set of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClosedSet {
    /// Grammars that accept a URL.
    Grammars,
    /// Forms of RFC 1738.
    Forms,
    /// Warnings of RFC 1738's reading.
    Warnings,
    /// Hazards, that of a misleading link included.
    Hazards,
    /// Delimiters around a URL.
    Wrappers,
    /// Repairs.
    Repairs,
    /// Reasons for another reading.
    AlternateReasons,
    /// Kinds of errors of RFC 1738's parser.
    ErrorKinds,
    /// Parts of a URL in which RFC 1738's parser finds errors.
    ErrorParts,
    /// Redirectors.
    Redirectors,
    /// Kinds of sources.
    SourceKinds,
    /// Reasons for which a candidate is no URL.
    RejectReasons,
    /// Kinds of events.
    EventKinds,
    /// Reasons for which a file, a member or a message is skipped.
    SkipReasons,
}

impl ClosedSet {
    /// All closed sets, in the order of declaration.
    pub const ALL: [ClosedSet; 14] = [
        ClosedSet::Grammars,
        ClosedSet::Forms,
        ClosedSet::Warnings,
        ClosedSet::Hazards,
        ClosedSet::Wrappers,
        ClosedSet::Repairs,
        ClosedSet::AlternateReasons,
        ClosedSet::ErrorKinds,
        ClosedSet::ErrorParts,
        ClosedSet::Redirectors,
        ClosedSet::SourceKinds,
        ClosedSet::RejectReasons,
        ClosedSet::EventKinds,
        ClosedSet::SkipReasons,
    ];

    /// Returns the names of the set.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        match self {
            ClosedSet::Grammars => Grammar::ALL.map(Grammar::name).to_vec(),
            ClosedSet::Forms => UrlForm::NAMES.to_vec(),
            ClosedSet::Warnings => Warning::ALL.map(Warning::name).to_vec(),
            ClosedSet::Hazards => Hazard::ALL
                .into_iter()
                .map(Hazard::name)
                .chain([MISMATCH])
                .collect(),
            ClosedSet::Wrappers => Wrapper::ALL.map(Wrapper::name).to_vec(),
            ClosedSet::Repairs => Repair::ALL.map(Repair::name).to_vec(),
            ClosedSet::AlternateReasons => AlternateReason::ALL.map(AlternateReason::name).to_vec(),
            ClosedSet::ErrorKinds => RejectKind::ALL.map(RejectKind::name).to_vec(),
            ClosedSet::ErrorParts => RejectPart::ALL.map(RejectPart::name).to_vec(),
            ClosedSet::Redirectors => redirectors(),
            ClosedSet::SourceKinds => SourceKind::ALL.map(SourceKind::name).to_vec(),
            ClosedSet::RejectReasons => RejectReasonKind::ALL.map(RejectReasonKind::name).to_vec(),
            ClosedSet::EventKinds => DiagnosticKind::ALL.map(DiagnosticKind::name).to_vec(),
            ClosedSet::SkipReasons => SkipReason::ALL.map(SkipReason::name).to_vec(),
        }
    }
}

/// Returns the name of each redirector once, in the order of its first row.
fn redirectors() -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in redirector_names() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the regular expression, as validators in any language read it, of a record's `region`.
pub(super) fn region_pattern() -> String {
    let regions = BodyRegion::ALL.map(BodyRegion::name).join("|");
    let attributes: Vec<_> = link_attributes().collect();
    format!(
        "^({regions}|{EXTERNAL_BODY_REGION}|header:.+|html:text|html:.+\\.({}))$",
        attributes.join("|")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// `[^]` is any character in ECMAScript only; elsewhere the set begins with `]`.
    #[test]
    fn the_pattern_of_regions_has_no_empty_set() {
        let pattern = region_pattern();
        assert!(
            !pattern.contains("[^]") && !pattern.contains("[]"),
            "{pattern}"
        );
        assert!(pattern.contains("|header:.+|"), "{pattern}");
    }

    #[test]
    fn the_names_of_a_set_differ() {
        for set in ClosedSet::ALL {
            let names = set.names();
            let distinct: BTreeSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{set:?}: {names:?}");
            assert!(!names.is_empty());
        }
    }
}
