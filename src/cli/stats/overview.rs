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

/// A list of names, as the outputs have it.
pub(super) struct NamedList<'o> {
    pub(super) title: &'static str,
    /// The name in JSON.
    pub(super) key: &'static str,
    /// The name of one of its names.
    pub(super) noun: &'static str,
    /// The CSV file.
    pub(super) file: &'static str,
    pub(super) names: &'o TopList,
}

impl Overview {
    /// The lists in the order in which they are shown.
    pub(super) fn lists(&self) -> Vec<NamedList<'_>> {
        let stats = &self.stats;
        let list = |(title, key, noun, file), names| NamedList {
            title,
            key,
            noun,
            file,
            names,
        };
        let names = [
            &stats.domains,
            &stats.hosts,
            &stats.schemes,
            &stats.lists,
            &stats.newsgroups,
            &stats.senders,
            &stats.wrappers,
            &stats.repairs,
            &stats.redirectors,
        ];
        let lists = LISTS.into_iter().zip(names);
        lists
            .map(|(texts, names)| list(texts, names))
            .filter(|list| self.names_senders || list.key != "senders")
            .collect()
    }
}

/// Title, key, noun and CSV file of each list.
pub(super) const LISTS: [(&str, &str, &str, &str); 9] = [
    ("Domains", "domains", "domain", "urls-by-domain.csv"),
    ("Hosts", "hosts", "host", "urls-by-host.csv"),
    ("Schemes", "schemes", "scheme", "urls-by-scheme.csv"),
    ("Mailing lists", "lists", "list", "urls-by-list.csv"),
    (
        "Newsgroups",
        "newsgroups",
        "newsgroup",
        "urls-by-newsgroup.csv",
    ),
    ("Senders", "senders", "sender", "urls-by-sender.csv"),
    ("Wrappers", "wrappers", "wrapper", "urls-by-wrapper.csv"),
    ("Repairs", "repairs", "repair", "urls-by-repair.csv"),
    (
        "Redirectors",
        "redirectors",
        "redirector",
        "urls-by-redirector.csv",
    ),
];
