//! Statistics of records: totals, dates, and the most frequent domains, hosts, lists and senders.
//!
//! The records come from a scan, from lines or from a database: whoever reads them begins each
//! message and adds its URLs. All numbers are of URLs, each as often as it was found. Numbers of
//! distinct things are exact up to a limit, and estimates with a known error beyond it
//! (`limits/stats.rs`), so that the memory is bounded.

mod distinct;
mod top;

pub use distinct::Estimate;
pub use top::{TopList, TopName};

use std::collections::BTreeMap;

use twox_hash::XxHash3_64;

use crate::decode::CitedDate;
use crate::record::{FieldId, Record, list_name, sender_address};
use crate::repair::Repair;
use distinct::DistinctCount;

/// Schemes whose URLs neither browsers nor link checkers open any more, in the order of their
/// columns.
pub const DEAD_PROTOCOLS: [&str; 5] = ["gopher", "wais", "prospero", "telnet", "ftp"];

/// Numbers of URLs by [`DEAD_PROTOCOLS`].
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
    /// URLs, each as often as it was found.
    pub urls: u64,
    /// URLs that were read out of redirectors' URLs. They are part of `urls`.
    pub unwrapped: u64,
    /// URLs that had been broken over several lines.
    pub joined: u64,
    /// URLs in messages without a usable date: without any, or before there were such URLs.
    pub undated: u64,
    /// URLs in messages with a date after the day of loading. They have no year either.
    pub later: u64,
    /// The first usable date.
    pub first: Option<String>,
    /// The last usable date.
    pub last: Option<String>,
    /// URLs by the year of their message.
    pub years: BTreeMap<u16, u64>,
    /// URLs of dead protocols by year; `None` stands for those without one.
    pub dead_protocols: BTreeMap<Option<u16>, DeadProtocolCounts>,
    /// URLs by scheme.
    pub schemes: TopList,
    /// URLs by registrable domain. Those without one are not in it.
    pub domains: TopList,
    /// URLs by host.
    pub hosts: TopList,
    /// URLs by mailing list.
    pub lists: TopList,
    /// URLs by newsgroup. One in several groups counts in each.
    pub newsgroups: TopList,
    /// URLs by the address of the sender.
    pub senders: TopList,
    /// URLs by what stood around them.
    pub wrappers: TopList,
    /// URLs by repair. One with several counts in each.
    pub repairs: TopList,
    /// URLs that were read out of redirectors' URLs, by redirector.
    pub redirectors: TopList,
    keys: DistinctCount,
    messages: DistinctCount,
    sources: DistinctCount,
    message: PendingMessage,
}

/// A message that URLs are in. It is named by its source and its place in that.
#[derive(Clone, Debug)]
pub struct StatsMessage<'m> {
    /// Number or hash that names the file, or the member of an archive.
    pub source: u64,
    /// Number that names the message in its source.
    pub place: u64,
    /// The From field.
    pub from: Option<&'m str>,
    /// The List-Id field.
    pub list_id: Option<&'m str>,
    /// The newsgroups.
    pub newsgroups: Vec<&'m str>,
}

/// A URL of the message that was begun last. The fields are those of its record.
#[derive(Clone, Copy, Debug)]
pub struct StatsUrl<'u> {
    /// The form for comparing, or the URL if there is none.
    pub key: &'u str,
    /// The scheme.
    pub scheme: &'u str,
    /// The host.
    pub host: Option<&'u str>,
    /// The registrable domain.
    pub domain: Option<&'u str>,
    /// The delimiters around the URL.
    pub wrapper: &'u str,
    /// The redirector that held the URL.
    pub redirector: Option<&'u str>,
    /// The date of the citation.
    pub date: CitedDate<'u>,
}

/// Values that the URLs of a message share, and their number, which is added to its counts when the
/// message ends.
#[derive(Clone, Debug, Default)]
struct PendingMessage {
    urls: u64,
    sender: Option<String>,
    list: Option<String>,
    newsgroups: Vec<String>,
}

/// Numbers of distinct things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistinctCounts {
    /// URLs that differ in their form for comparing.
    pub urls: Estimate,
    /// Messages that hold URLs.
    pub messages: Estimate,
    /// Files, and members of archives, that hold URLs.
    pub sources: Estimate,
}

impl Stats {
    /// Begins a message. Beginning it again changes nothing.
    pub fn begin_message(&mut self, message: &StatsMessage<'_>) {
        self.end_message();
        self.sources.add_hash(spread(&[message.source]));
        self.messages
            .add_hash(spread(&[message.source, message.place]));
        self.message = PendingMessage {
            urls: 0,
            sender: message.from.map(sender_address),
            list: message.list_id.map(list_name),
            newsgroups: message
                .newsgroups
                .iter()
                .map(|group| group.to_ascii_lowercase())
                .collect(),
        };
    }

    /// Adds a URL of the message.
    pub fn add<'r>(&mut self, url: &StatsUrl<'_>, repairs: impl Iterator<Item = &'r str>) {
        self.urls += 1;
        self.message.urls += 1;
        self.keys.add(url.key.as_bytes());
        self.schemes.add(url.scheme, 1);
        self.wrappers.add(url.wrapper, 1);
        for (list, name) in [
            (&mut self.hosts, url.host),
            (&mut self.domains, url.domain),
            (&mut self.redirectors, url.redirector),
        ] {
            if let Some(name) = name {
                list.add(name, 1);
            }
        }
        self.unwrapped += u64::from(url.redirector.is_some());
        let mut is_joined = false;
        for repair in repairs {
            self.repairs.add(repair, 1);
            is_joined |= JOINS.iter().any(|join| join.name() == repair);
        }
        self.joined += u64::from(is_joined);
        let year = self.add_date(url.date);
        if let Some(index) = DEAD_PROTOCOLS.iter().position(|name| *name == url.scheme) {
            self.dead_protocols.entry(year).or_default()[index] += 1;
        }
    }

    /// Counts the date of a URL. Returns its year.
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

    /// Ends the last message. The numbers are complete only after this.
    pub fn end_message(&mut self) {
        let message = std::mem::take(&mut self.message);
        let urls = message.urls;
        if urls == 0 {
            return;
        }
        if let Some(sender) = &message.sender {
            self.senders.add(sender, urls);
        }
        if let Some(list) = &message.list {
            self.lists.add(list, urls);
        }
        for group in &message.newsgroups {
            self.newsgroups.add(group, urls);
        }
    }

    /// Returns the numbers of distinct things.
    #[must_use]
    pub fn distinct(&self) -> DistinctCounts {
        DistinctCounts {
            urls: self.keys.estimate(),
            messages: self.messages.estimate(),
            sources: self.sources.estimate(),
        }
    }
}

/// Returns the hash of a few numbers.
fn spread(numbers: &[u64]) -> u64 {
    let mut bytes = [0; 16];
    for (bytes, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    XxHash3_64::oneshot(&bytes[..8 * numbers.len()])
}

fn replace_if(kept: &mut Option<String>, date: &str, is_better: impl Fn(&str) -> bool) {
    if kept.as_deref().is_none_or(is_better) {
        *kept = Some(date.to_owned());
    }
}

/// Statistics of the records of a scan, which are added in the order of the input.
#[derive(Debug)]
pub struct RecordStats {
    stats: Stats,
    last: Option<Record>,
    today: String,
}

impl RecordStats {
    /// The fields that the records must have.
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
        FieldId::MessageFrom,
        FieldId::MessageNewsgroups,
        FieldId::MessageListId,
    ];

    /// Creates empty statistics. `today` is the last day of a usable date, as `1996-07-02`.
    #[must_use]
    pub fn new(today: String) -> RecordStats {
        RecordStats {
            stats: Stats::default(),
            last: None,
            today,
        }
    }

    /// Adds a record.
    pub fn add(&mut self, record: Record) {
        let is_same = |last: &Record| last.shares_message(&record);
        if !self.last.as_ref().is_some_and(is_same) {
            self.stats.begin_message(&message_of(&record));
        }
        let url = StatsUrl {
            key: record.key().unwrap_or(record.url()),
            scheme: record.scheme(),
            host: record.host(),
            domain: record.text(FieldId::Domain),
            wrapper: record.text(FieldId::Wrapper).unwrap_or_default(),
            redirector: record.text(FieldId::UnwrappedBy),
            date: CitedDate::of(record.scheme(), record.message_date(), &self.today),
        };
        self.stats.add(&url, record.texts(FieldId::Repairs));
        self.last = Some(record);
    }

    /// Returns the statistics of all records.
    #[must_use]
    pub fn finish(mut self) -> Stats {
        self.stats.end_message();
        self.stats
    }
}

fn message_of(record: &Record) -> StatsMessage<'_> {
    let names = std::iter::once(record.path()).chain(record.texts(FieldId::SourceMember));
    StatsMessage {
        source: source_hash(names),
        place: record.integer(FieldId::MessageStart).unwrap_or_default(),
        from: record.text(FieldId::MessageFrom),
        list_id: record.text(FieldId::MessageListId),
        newsgroups: record.texts(FieldId::MessageNewsgroups).collect(),
    }
}

/// Returns the hash of a path and the names of members.
fn source_hash<'n>(names: impl Iterator<Item = &'n str>) -> u64 {
    let mut joined = String::new();
    for name in names {
        joined.push_str(name);
        joined.push('\0');
    }
    XxHash3_64::oneshot(joined.as_bytes())
}
