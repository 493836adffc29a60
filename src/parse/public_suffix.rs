//! Registrable domains and known suffixes of hosts, by the public suffix list.
//!
//! Hosts are in lower case, with A-labels. Addresses are left to the callers.

use psl::{List, Psl};

/// Returns the public suffix of `host` and the label before it, without a final dot; `None` if there is no such label.
///
/// By the list's rules, a last label that it does not know is a public suffix.
pub(super) fn registrable_domain(host: &str) -> Option<&str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let rest = host.len().checked_sub(suffix(host)?.len + 1)?;
    let label = host.get(..rest)?.rsplit('.').next()?;
    (!label.is_empty()).then(|| &host[rest - label.len()..])
}

/// Returns `true` if the list has a rule for the public suffix of `host`.
pub(super) fn has_known_suffix(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    suffix(host).is_some_and(|suffix| suffix.typ.is_some())
}

/// Returns the length of the public suffix of `host`, and the section of the list that has its rule; `None` if the last
/// label is empty.
///
/// `psl` has a function for each label of the list, generic in the iterator over labels. The iterator is a trait object so that
/// its code is not repeated in all of them: a tenth of the time in which this crate is compiled is saved.
fn suffix(host: &str) -> Option<psl::Info> {
    let mut labels = host.as_bytes().rsplit(|byte| *byte == b'.');
    let labels: &mut dyn Iterator<Item = &[u8]> = &mut labels;
    Some(List.find(labels)).filter(|suffix| 0 < suffix.len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_is_the_suffix_and_one_label() {
        for (host, domain) in [
            ("www.a.co.uk", Some("a.co.uk")),
            ("a.co.uk", Some("a.co.uk")),
            ("co.uk", None),
            ("uk", None),
            ("www.a.example", Some("a.example")),
            // A rule `*.ck` and its exception `!www.ck`.
            ("b.a.x.ck", Some("a.x.ck")),
            ("x.ck", None),
            ("a.www.ck", Some("www.ck")),
            ("user.github.io", Some("user.github.io")),
            ("a.xn--p1ai", Some("a.xn--p1ai")),
            ("a.com.", Some("a.com")),
            (".com", None),
            ("a..com", None),
            ("a.com..", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(registrable_domain(host), domain, "{host}");
        }
    }

    #[test]
    fn a_suffix_is_known_if_the_list_has_a_rule() {
        assert!(has_known_suffix("a.com"));
        assert!(has_known_suffix("a.com."));
        assert!(has_known_suffix("a.x.ck"));
        assert!(!has_known_suffix("a.example"));
        assert!(!has_known_suffix(""));
    }
}
