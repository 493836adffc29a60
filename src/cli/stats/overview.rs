//! The overview that all outputs of `stats` show.

use crate::record::Summary;
use crate::stats::{Stats, TopList};

/// Statistics, and what is known of their input.
pub(super) struct Overview {
    /// The input as the user named it.
    pub(super) name: String,
    /// `mail`, `records` or `database`.
    pub(super) kind: &'static str,
    pub(super) stats: Stats,
    /// The counts of the scan, if the input is mail.
    pub(super) summary: Option<Summary>,
    /// Maximum number of names of a list.
    pub(super) top: usize,
    pub(super) names_senders: bool,
}

/// A kind of list, as the outputs have it.
pub(super) struct ListKind {
    pub(super) title: &'static str,
    /// The name in JSON.
    pub(super) key: &'static str,
    /// The name of one of its names.
    pub(super) noun: &'static str,
    /// The CSV file.
    pub(super) file: &'static str,
    /// Selects the list of this kind.
    of: fn(&Stats) -> &TopList,
}

/// A list of names and its kind.
pub(super) struct NamedList<'o> {
    pub(super) kind: &'static ListKind,
    pub(super) names: &'o TopList,
}

impl Overview {
    /// The lists in the order in which they are shown.
    pub(super) fn lists(&self) -> Vec<NamedList<'_>> {
        let kinds = LISTS
            .iter()
            .filter(|kind| self.names_senders || kind.key != "senders");
        kinds
            .map(|kind| NamedList {
                kind,
                names: (kind.of)(&self.stats),
            })
            .collect()
    }
}

/// The kinds of lists, in the order in which they are shown.
pub(super) static LISTS: [ListKind; 9] = [
    ListKind {
        title: "Domains",
        key: "domains",
        noun: "domain",
        file: "urls-by-domain.csv",
        of: |stats| &stats.domains,
    },
    ListKind {
        title: "Hosts",
        key: "hosts",
        noun: "host",
        file: "urls-by-host.csv",
        of: |stats| &stats.hosts,
    },
    ListKind {
        title: "Schemes",
        key: "schemes",
        noun: "scheme",
        file: "urls-by-scheme.csv",
        of: |stats| &stats.schemes,
    },
    ListKind {
        title: "Mailing lists",
        key: "lists",
        noun: "list",
        file: "urls-by-list.csv",
        of: |stats| &stats.lists,
    },
    ListKind {
        title: "Newsgroups",
        key: "newsgroups",
        noun: "newsgroup",
        file: "urls-by-newsgroup.csv",
        of: |stats| &stats.newsgroups,
    },
    ListKind {
        title: "Senders",
        key: "senders",
        noun: "sender",
        file: "urls-by-sender.csv",
        of: |stats| &stats.senders,
    },
    ListKind {
        title: "Wrappers",
        key: "wrappers",
        noun: "wrapper",
        file: "urls-by-wrapper.csv",
        of: |stats| &stats.wrappers,
    },
    ListKind {
        title: "Repairs",
        key: "repairs",
        noun: "repair",
        file: "urls-by-repair.csv",
        of: |stats| &stats.repairs,
    },
    ListKind {
        title: "Redirectors",
        key: "redirectors",
        noun: "redirector",
        file: "urls-by-redirector.csv",
        of: |stats| &stats.redirectors,
    },
];
