//! The division of spools among readers.

use crate::config::{Spool, resolved};
use crate::daemon::ingest::can_share;

/// Divides spools into at most `max` groups, one for each reader. Spools that contain each other, or that may hold the same
/// mailbox, are in one group.
pub(super) fn group_spools(spools: &[Spool], max: usize) -> Vec<Vec<Spool>> {
    let mut groups: Vec<Vec<Spool>> = Vec::new();
    for spool in spools {
        let is_related = |group: &Vec<Spool>| group.iter().any(|other| overlap(spool, other));
        let (related, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_related);
        groups = others;
        groups.push(
            related
                .into_iter()
                .flatten()
                .chain([spool.clone()])
                .collect(),
        );
    }
    let max = max.max(1);
    while max < groups.len() {
        let last = groups.pop().unwrap_or_default();
        let at = groups.len() % max;
        groups[at].extend(last);
    }
    groups
}

/// Returns `true` if one spool contains the other, however they are spelled, or both may hold the same mailbox.
fn overlap(one: &Spool, other: &Spool) -> bool {
    let (one, other) = (resolved(&one.path), resolved(&other.path));
    other.starts_with(&one) || one.starts_with(&other) || can_share(&one, &other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DedupeScope;

    #[test]
    fn nested_spools_and_spools_of_one_mailbox_share_a_reader() {
        let spool = |path: &&str| Spool {
            path: path.into(),
            kind: None,
            dedupe: DedupeScope::Mailbox,
        };
        let names = |spools: &[&str], max| -> Vec<Vec<String>> {
            let spools: Vec<Spool> = spools.iter().map(spool).collect();
            let name = |spool: Spool| spool.path.display().to_string();
            group_spools(&spools, max)
                .into_iter()
                .map(|reader| reader.into_iter().map(name).collect())
                .collect()
        };
        assert_eq!(names(&["/a", "/b", "/c"], 8), [["/a"], ["/b"], ["/c"]]);
        assert_eq!(
            names(&["/a/x", "/b", "/a/y", "/a"], 8),
            [vec!["/b"], vec!["/a/x", "/a/y", "/a"]]
        );
        assert_eq!(names(&["/a", "/ab"], 8), [["/a"], ["/ab"]]);
        assert_eq!(
            names(&["/a", "/b", "/a.1", "/a-20260101.gz"], 8),
            [vec!["/b"], vec!["/a", "/a.1", "/a-20260101.gz"]]
        );
        assert_eq!(
            names(&["/m/new", "/n/new", "/m/cur"], 8),
            [vec!["/n/new"], vec!["/m/new", "/m/cur"]]
        );
        assert_eq!(
            names(&["/a", "/b", "/c", "/d", "/e"], 2),
            [vec!["/a", "/e", "/c"], vec!["/b", "/d"]]
        );
        assert_eq!(names(&[], 8), [[""; 0]; 0]);
    }
}
