//! Statistics of records: totals, dates, and the most frequent domains, hosts, lists and senders.
//!
//! The records come from a scan, from lines or from a database. All counts are of URLs, including
//! repetitions. Counts of distinct values are exact up to a limit and estimates with a known error
//! beyond it (`limits/store.rs`), which bounds memory.

mod counts;

pub use counts::{DistinctCount, Estimate, TopList, TopName};

use std::collections::{BTreeMap, HashSet};

use urlspool_mail::decode::CitedDate;
use urlspool_record::record::{FieldId, Record};
use urlspool_text::hash::hash_pieces;
use urlspool_text::repair::Repair;

/// Schemes that browsers and link checkers no longer open, in column order.
pub const DEAD_PROTOCOLS: [&str; 5] = ["gopher", "wais", "prospero", "telnet", "ftp"];

/// URL counts for each of [`DEAD_PROTOCOLS`].
pub type DeadProtocolCounts = [u64; DEAD_PROTOCOLS.len()];

/// Repairs that join lines.
const JOINS: [Repair; 6] = [
    Repair::LineBreak,
    Repair::Hyphen,
    Repair::HyphenDropped,
    Repair::QuotePrefix,
    Repair::PageBreak,
    Repair::BareContinuation,
];

/// Statistics of records.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// URLs, including repetitions.
    pub urls: u64,
    /// URLs extracted from redirector URLs. Included in `urls`.
    pub unwrapped: u64,
    /// URLs that were split across lines.
    pub joined: u64,
    /// URLs in messages without a usable date: the date is missing, or earlier than the first URLs
    /// of this kind.
    pub undated: u64,
    /// URLs in messages with a date after the day of loading. They have no year either.
    pub later: u64,
    /// URLs that are not counted because their link occurs only in header fields of mailing lists.
    pub hidden: u64,
    /// Earliest usable date.
    pub first: Option<String>,
    /// Latest usable date.
    pub last: Option<String>,
    /// URLs by year of their message.
    pub years: BTreeMap<u16, u64>,
    /// URLs of dead protocols by year; `None` for URLs without a year.
    pub dead_protocols: BTreeMap<Option<u16>, DeadProtocolCounts>,
    /// URLs by scheme.
    pub schemes: TopList,
    /// URLs by registrable domain. URLs without one are omitted.
    pub domains: TopList,
    /// URLs by host.
    pub hosts: TopList,
    /// URLs by mailing list.
    pub lists: TopList,
    /// URLs by newsgroup. A URL in several groups counts in each.
    pub newsgroups: TopList,
    /// URLs by sender address.
    pub senders: TopList,
    /// URLs by wrapper: the delimiters or the attribute around them.
    pub wrappers: TopList,
    /// URLs by repair. A URL with several repairs counts in each.
    pub repairs: TopList,
    /// URLs extracted from redirector URLs, by redirector.
    pub redirectors: TopList,
    /// URLs with different keys.
    pub distinct_urls: DistinctCount,
    /// Messages with URLs.
    pub messages: DistinctCount,
    /// Files and archive members with URLs.
    pub sources: DistinctCount,
    message: PendingMessage,
}

/// A record as input for statistics. Records of one message must be consecutive.
pub trait StatsRow {
    /// Returns numbers that identify the source, and the message in it.
    fn place(&self) -> [u64; 2];

    /// Returns the text of a field.
    fn text(&self, field: FieldId) -> Option<&str>;

    /// Returns the texts of a list field.
    fn texts(&self, field: FieldId) -> Vec<String>;

    /// Returns the citation date. `today` is the latest usable date.
    fn date(&self, today: &str) -> CitedDate<'_> {
        let scheme = self.text(FieldId::Scheme).unwrap_or_default();
        let date = self.text(FieldId::AuthorDate);
        let date = date.or_else(|| self.text(FieldId::MessageDate));
        CitedDate::of(scheme, date, today)
    }
}

/// Values shared by the URLs of a message, and their number, which is added to the counts when the
/// message ends.
#[derive(Clone, Debug, Default)]
struct PendingMessage {
    place: Option<[u64; 2]>,
    urls: u64,
    /// From field of the innermost message of the last record.
    from: Option<String>,
    /// Number of URLs of the last records with that field.
    sent: u64,
    list: Option<String>,
    newsgroups: Vec<String>,
}

impl Stats {
    /// Fields that are read from a record.
    pub const FIELDS: &[FieldId] = &[
        FieldId::Url,
        FieldId::Scheme,
        FieldId::Host,
        FieldId::Domain,
        FieldId::Key,
        FieldId::Wrapper,
        FieldId::Repairs,
        FieldId::UnwrappedBy,
        FieldId::SourcePath,
        FieldId::SourceMember,
        FieldId::MessageStart,
        FieldId::MessageDate,
        FieldId::MessageNewsgroups,
        FieldId::MessageListId,
        FieldId::AuthorFrom,
        FieldId::AuthorDate,
    ];

    /// Adds a record. `today` is the latest usable date, for example `1996-07-02`.
    pub fn add(&mut self, row: &impl StatsRow, today: &str) {
        let place = row.place();
        if self.message.place != Some(place) {
            self.begin_message(place, row);
        }
        self.urls += 1;
        self.message.urls += 1;
        let from = row.text(FieldId::AuthorFrom);
        if self.message.from.as_deref() != from {
            self.end_sender();
            self.message.from = from.map(str::to_owned);
        }
        self.message.sent += 1;
        let scheme = row.text(FieldId::Scheme).unwrap_or_default();
        let key = row.text(FieldId::Key).or_else(|| row.text(FieldId::Url));
        let key = key.unwrap_or_default();
        self.distinct_urls.add(key.as_bytes());
        self.schemes.add(scheme, 1);
        self.wrappers
            .add(row.text(FieldId::Wrapper).unwrap_or_default(), 1);
        let redirector = row.text(FieldId::UnwrappedBy);
        for (list, name) in [
            (&mut self.hosts, row.text(FieldId::Host)),
            (&mut self.domains, row.text(FieldId::Domain)),
            (&mut self.redirectors, redirector),
        ] {
            // The host of `file:///` is empty.
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                list.add(name, 1);
            }
        }
        self.unwrapped += u64::from(redirector.is_some());
        let mut is_joined = false;
        for repair in row.texts(FieldId::Repairs) {
            self.repairs.add(&repair, 1);
            is_joined |= JOINS.iter().any(|join| join.name() == repair);
        }
        self.joined += u64::from(is_joined);
        let year = self.add_date(row.date(today));
        if let Some(index) = DEAD_PROTOCOLS.iter().position(|name| *name == scheme) {
            self.dead_protocols.entry(year).or_default()[index] += 1;
        }
    }

    /// Starts the message of a record. Starting the same message again has no effect on the counts.
    fn begin_message(&mut self, place: [u64; 2], row: &impl StatsRow) {
        self.end_message();
        let numbers = place.map(u64::to_le_bytes);
        self.sources.add(&numbers[0]);
        self.messages.add(numbers.as_flattened());
        let newsgroups = row.texts(FieldId::MessageNewsgroups).into_iter();
        self.message = PendingMessage {
            place: Some(place),
            list: row.text(FieldId::MessageListId).map(list_name),
            newsgroups: newsgroups.map(|name| name.to_ascii_lowercase()).collect(),
            ..PendingMessage::default()
        };
    }

    /// Counts the date of a URL and returns its year.
    fn add_date(&mut self, date: CitedDate<'_>) -> Option<u16> {
        match date {
            CitedDate::Usable(date) => {
                replace_if(&mut self.first, date, |first| date < first);
                replace_if(&mut self.last, date, |last| last < date);
                let year = date.get(..4).and_then(|year| year.parse().ok())?;
                *self.years.entry(year).or_default() += 1;
                Some(year)
            }
            CitedDate::Later => {
                self.later += 1;
                None
            }
            CitedDate::Unknown => {
                self.undated += 1;
                None
            }
        }
    }

    /// Counts the URLs of the last sender.
    fn end_sender(&mut self) {
        let urls = std::mem::take(&mut self.message.sent);
        if let Some(from) = self.message.from.as_deref().filter(|_| 0 < urls) {
            self.senders.add(&sender_address(from), urls);
        }
    }

    /// Ends the last message. Counts are complete only after this call.
    pub fn end_message(&mut self) {
        self.end_sender();
        let message = std::mem::take(&mut self.message);
        if let Some(list) = &message.list {
            self.lists.add(list, message.urls);
        }
        for group in &message.newsgroups {
            self.newsgroups.add(group, message.urls);
        }
    }
}

/// Replaces a missing date, or one that is not as good.
pub(crate) fn replace_if(kept: &mut Option<String>, date: &str, is_better: impl Fn(&str) -> bool) {
    if kept.as_deref().is_none_or(is_better) {
        *kept = Some(date.to_owned());
    }
}

impl StatsRow for Record {
    fn place(&self) -> [u64; 2] {
        let names = std::iter::once(self.path()).chain(self.texts(FieldId::SourceMember));
        let names: Vec<&[u8]> = names.flat_map(|name| [name.as_bytes(), b"\0"]).collect();
        let start = self.integer(FieldId::MessageStart);
        [hash_pieces(&names) as u64, start.unwrap_or_default()]
    }

    fn text(&self, field: FieldId) -> Option<&str> {
        self.text(field)
    }

    fn texts(&self, field: FieldId) -> Vec<String> {
        self.texts(field).map(str::to_owned).collect()
    }
}

/// Returns the address in a From field in lower case: the text between angle brackets, or the first
/// word with an at sign, or the whole field.
pub(crate) fn sender_address(from: &str) -> String {
    let in_brackets = bracketed(from).filter(|text| text.contains('@'));
    let mut words = from.split_ascii_whitespace();
    let address = in_brackets.or_else(|| words.find(|word| word.contains('@')));
    let address = address.map(|address| {
        address.trim_matches(|c: char| c.is_whitespace() || "<>(),;:\"".contains(c))
    });
    address.unwrap_or(from.trim()).to_lowercase()
}

/// Returns the name of a mailing list in lower case: the text between angle brackets, or the whole
/// field.
pub fn list_name(list_id: &str) -> String {
    let name = bracketed(list_id).map(str::trim);
    let name = name.filter(|name| !name.is_empty());
    name.unwrap_or(list_id.trim()).to_lowercase()
}

/// Returns the names of a message's mailing list and newsgroups in lower case, without duplicates,
/// the list first. A gateway uses one name for both.
pub fn list_names(list_id: Option<&str>, newsgroups: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = list_id.map(list_name).into_iter();
    names
        // A search also compares newsgroups in ASCII lower case.
        .chain(newsgroups.iter().map(|name| name.to_ascii_lowercase()))
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

/// Returns the text in the last pair of angle brackets.
fn bracketed(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once('<')?;
    Some(rest.split_once('>')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_an_address() {
        for (from, address) in [
            ("Jane Doe <Jane@A.example>", "jane@a.example"),
            ("jane@a.example (Jane Doe)", "jane@a.example"),
            ("\"x @ y\" <jane@a.example>", "jane@a.example"),
            ("<jane@a.example>, <john@b.example>", "john@b.example"),
            ("Jane <>", "jane <>"),
            ("Jane <nobody> jane@a.example", "jane@a.example"),
            ("jane at a.example (Jane)", "jane at a.example (jane)"),
            ("The Editors", "the editors"),
            ("<@>", "@"),
            ("", ""),
        ] {
            assert_eq!(sender_address(from), address, "{from}");
        }
    }

    #[test]
    fn the_name_of_a_list_is_the_text_in_brackets() {
        for (list_id, name) in [
            ("Lamps <Lamps.a.example>", "lamps.a.example"),
            ("lamps.a.example", "lamps.a.example"),
            ("Lamps <>", "lamps <>"),
        ] {
            assert_eq!(list_name(list_id), name, "{list_id}");
        }
    }

    #[test]
    fn a_name_in_two_cases_is_one_list() {
        let groups = ["Alt.Lamps", "alt.lamps", "alt.oil"].map(str::to_owned);
        let names = list_names(Some("<alt.LAMPS>"), &groups);
        assert_eq!(names, ["alt.lamps", "alt.oil"]);
    }
}
