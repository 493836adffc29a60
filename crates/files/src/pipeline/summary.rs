//! The summary of a run: the numbers of files, messages and URLs read and written, and a check that
//! they add up.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

use urlspool_mail::decode::SkippedPart;
use urlspool_record::record::{FoundRecord, json_line};
use urlspool_text::diagnostic::{DiagnosticKind, SkipReason, UrlFilter};
use urlspool_text::grammar::{SCHEMES, Scheme};
use urlspool_text::limits::COUNTED_TEXTS;
use urlspool_text::parse::{Grammar, RejectReason, RejectReasonKind, Wrapper, scheme};
use urlspool_text::repair::{Repair, RepairSet};

/// Declares the summary from its fields, and adds field by field.
macro_rules! summary {
    ($($(#[$attribute:meta])* $field:ident: $type:ty,)*) => {
        /// Counts of a run. The sums of [`Summary::imbalances`] must hold.
        ///
        /// [`Summary::write`] writes one JSON object whose members are named after the fields,
        /// except that `duplicates` is called `folded`.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Summary {
            $($(#[$attribute])* pub $field: $type,)*
        }

        impl Summary {
            /// Adds another summary and sets its numbers to zero. Keeps its names, which makes it
            /// cheap to reuse a summary for one message after another.
            pub fn absorb(&mut self, other: &mut Summary) {
                $(self.$field.absorb(&mut other.$field);)*
            }
        }
    };
}

summary! {
    /// Files that the walk found.
    files: u64,
    /// Files that were read completely.
    files_read: u64,
    /// Files that were skipped, by reason.
    files_skipped: NamedCounts,
    /// Unreadable files, by kind of diagnostic.
    files_failed: NamedCounts,
    /// Bytes read from files.
    bytes_read: u64,
    /// Members of archives. They are not included in `files`.
    members: u64,
    /// Members that were read completely.
    members_read: u64,
    /// Members that were skipped, by reason.
    members_skipped: NamedCounts,
    /// Unreadable members, by kind of diagnostic.
    members_failed: NamedCounts,
    /// Bytes decompressed from compressed files and archives.
    bytes_unpacked: u64,
    /// Messages, and texts without a header.
    messages: u64,
    /// Messages that were scanned.
    messages_scanned: u64,
    /// Messages that were skipped, by reason.
    messages_skipped: NamedCounts,
    /// Parts that were scanned.
    parts_text: u64,
    /// Parts that were not read.
    parts_other: u64,
    /// Parts that were not read, by media type; `other` for types beyond [`COUNTED_TEXTS`].
    parts_other_types: TextCounts,
    /// Starts that matched a scheme or the opening of a wrapper.
    candidates: u64,
    /// Records written: of candidates and of unwrapped URLs.
    records: u64,
    /// Candidates that are not URLs, by reason.
    rejects: NamedCounts,
    /// URLs that filters held back, by the first filter that did.
    filtered: NamedCounts,
    /// URLs that were already written; `folded` in JSON.
    #[serde(rename = "folded")]
    duplicates: u64,
    /// URLs extracted from redirectors' URLs, which are not candidates.
    unwrapped: u64,
    /// Written records whose author is not the message's.
    other_authors: u64,
    /// Events, by kind.
    events: NamedCounts,
    /// Written URLs, by scheme. Like the next three fields, it includes the targets of redirectors.
    schemes: SchemeCounts,
    /// Written URLs, by wrapper.
    wrappers: NamedCounts,
    /// Written URLs, by repair. A URL can have several.
    repairs: NamedCounts,
    /// Written URLs, by accepting grammar. A URL can have several. A URL longer than the limit has
    /// none.
    verdicts: NamedCounts,
}

/// A count, or several, that another one can be added to.
trait Absorb {
    /// Adds `other` and sets its numbers to zero.
    fn absorb(&mut self, other: &mut Self);
}

impl Absorb for u64 {
    fn absorb(&mut self, other: &mut u64) {
        *self += std::mem::take(other);
    }
}

impl Absorb for [u64] {
    fn absorb(&mut self, other: &mut [u64]) {
        for (sum, number) in self.iter_mut().zip(other) {
            sum.absorb(number);
        }
    }
}

impl Summary {
    /// Counts a file that was read completely.
    pub fn read_file(&mut self) {
        self.files += 1;
        self.files_read += 1;
    }

    /// Counts a file that was skipped.
    pub fn skip_file(&mut self, reason: SkipReason) {
        self.files += 1;
        self.files_skipped
            .count(&SkipReason::NAMES, reason as usize);
    }

    /// Counts an unreadable file.
    pub fn fail_file(&mut self, kind: DiagnosticKind) {
        self.files += 1;
        self.files_failed
            .count(&DiagnosticKind::NAMES, kind as usize);
    }

    /// Recounts a file as unreadable that was counted as read.
    pub fn read_file_failed(&mut self, kind: DiagnosticKind) {
        self.files_read -= 1;
        self.files_failed
            .count(&DiagnosticKind::NAMES, kind as usize);
    }

    /// Counts a member that was read completely.
    pub fn read_member(&mut self) {
        self.members += 1;
        self.members_read += 1;
    }

    /// Counts a member that was skipped.
    pub fn skip_member(&mut self, reason: SkipReason) {
        self.members += 1;
        self.members_skipped
            .count(&SkipReason::NAMES, reason as usize);
    }

    /// Counts an unreadable member.
    pub fn fail_member(&mut self, kind: DiagnosticKind) {
        self.members += 1;
        self.members_failed
            .count(&DiagnosticKind::NAMES, kind as usize);
    }

    /// Counts a message that was skipped.
    pub fn skip_message(&mut self, reason: SkipReason) {
        self.messages += 1;
        self.messages_skipped
            .count(&SkipReason::NAMES, reason as usize);
    }

    /// Counts a candidate that is not a URL, in `rejects` only.
    pub fn count_reject(&mut self, reason: RejectReason) {
        let kind = reason.kind() as usize;
        self.rejects.count(&RejectReasonKind::NAMES, kind);
    }

    /// Counts a URL that is not written as a candidate, or as one extracted from another URL.
    pub fn count_place(&mut self, is_unwrapped: bool) {
        if is_unwrapped {
            self.unwrapped += 1;
        } else {
            self.candidates += 1;
        }
    }

    /// Counts a URL that a filter holds back, in `filtered` only.
    pub fn count_filtered(&mut self, filter: UrlFilter) {
        self.filtered.count(&UrlFilter::NAMES, filter as usize);
    }

    /// Counts parts that were not read.
    pub fn skip_parts(&mut self, parts: &[SkippedPart]) {
        for SkippedPart { part, unlisted, .. } in parts {
            self.parts_other += 1 + unlisted;
            // A damaged header can leave parameters after the type.
            let media_type = part.media_type.split_ascii_whitespace().next();
            self.parts_other_types
                .add(media_type.unwrap_or_default(), 1 + unlisted);
        }
    }

    /// Counts an event.
    pub fn count_event(&mut self, kind: DiagnosticKind) {
        self.events.count(&DiagnosticKind::NAMES, kind as usize);
    }

    /// Counts a written URL by scheme, wrapper, repairs, verdicts and author.
    pub(super) fn count_url(&mut self, url: &CountedUrl) {
        match &url.scheme {
            Ok(row) => self.schemes.known[*row] += 1,
            Err(name) => self.schemes.others.add(name, 1),
        }
        self.wrappers.count(&Wrapper::NAMES, url.wrapper as usize);
        for repair in url.repairs.iter() {
            self.repairs.count(&Repair::NAMES, repair as usize);
        }
        for (grammar, _) in url.conforms.iter().enumerate().filter(|(_, it)| **it) {
            self.verdicts.count(&Grammar::NAMES, grammar);
        }
        self.other_authors += u64::from(url.is_by_other_author);
    }

    /// Returns the summary of an article that turned out to be a duplicate: its messages count as
    /// skipped.
    pub(super) fn as_duplicate(&self) -> Summary {
        let mut duplicate = Summary {
            files: self.files,
            files_read: self.files_read,
            files_skipped: self.files_skipped.clone(),
            files_failed: self.files_failed.clone(),
            bytes_read: self.bytes_read,
            members: self.members,
            members_read: self.members_read,
            members_skipped: self.members_skipped.clone(),
            members_failed: self.members_failed.clone(),
            bytes_unpacked: self.bytes_unpacked,
            events: self.events.clone(),
            ..Summary::default()
        };
        for _ in 0..self.messages {
            duplicate.skip_message(SkipReason::CrossPost);
        }
        duplicate
    }

    /// Returns one sentence for each sum that does not hold. Empty unless the program has a bug.
    #[must_use]
    pub fn imbalances(&self) -> Vec<String> {
        let files = self.files_read + self.files_skipped.sum() + self.files_failed.sum();
        let members = self.members_read + self.members_skipped.sum() + self.members_failed.sum();
        let messages = self.messages_scanned + self.messages_skipped.sum();
        let held_back = self.rejects.sum() + self.filtered.sum() + self.duplicates;
        let candidates = self.candidates + self.unwrapped;
        let balances = [
            ("files", self.files, files),
            ("members", self.members, members),
            ("messages", self.messages, messages),
            // Records are counted where they are written, so a lost record is noticed.
            ("candidates", candidates, self.records + held_back),
        ];
        balances
            .into_iter()
            .filter(|(_, whole, parts)| whole != parts)
            .map(|(name, whole, parts)| format!("{name}: {whole} in all, {parts} accounted for"))
            .collect()
    }

    /// Appends the summary as one JSON object and a line end.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&json_line(self));
    }
}

/// The attributes of a URL that a summary counts, kept until it is known if the URL is written.
#[derive(Debug)]
pub(super) struct CountedUrl {
    /// The scheme's row in [`SCHEMES`], or its name in lower case.
    scheme: Result<usize, String>,
    wrapper: Wrapper,
    repairs: RepairSet,
    conforms: [bool; Grammar::ALL.len()],
    is_by_other_author: bool,
}

impl CountedUrl {
    pub(super) fn of(record: &FoundRecord<'_>) -> CountedUrl {
        let (found, name) = (record.found, scheme(record.found.url()));
        CountedUrl {
            scheme: Scheme::index(name)
                .ok_or_else(|| String::from_utf8_lossy(name).to_ascii_lowercase()),
            wrapper: found.wrapper,
            repairs: found.repairs,
            conforms: Grammar::ALL.map(|it| found.verdicts.is_some_and(|of| of.conforms_to(it))),
            is_by_other_author: record.author.is_some(),
        }
    }
}

/// Numbers by the names of a closed set. Serialized without the numbers that are 0, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct NamedCounts {
    names: &'static [&'static str],
    /// One number for each name; empty before the first one is counted.
    numbers: Vec<u64>,
}

impl NamedCounts {
    /// Returns the sum of all numbers.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.numbers.iter().sum()
    }

    /// Returns the numbers that are not 0, sorted by name.
    #[must_use]
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        let counted = self.names.iter().zip(&self.numbers);
        let counted = counted.filter(|(_, number)| 0 < **number);
        counted.map(|(name, number)| (*name, *number)).collect()
    }

    /// Adds one to the number of `names[index]`.
    fn count(&mut self, names: &'static [&'static str], index: usize) {
        self.prepare(names);
        self.numbers[index] += 1;
    }

    fn prepare(&mut self, names: &'static [&'static str]) {
        if self.numbers.is_empty() {
            self.names = names;
            self.numbers.resize(names.len(), 0);
        }
    }
}

impl Absorb for NamedCounts {
    fn absorb(&mut self, other: &mut NamedCounts) {
        if other.numbers.iter().any(|number| 0 < *number) {
            self.prepare(other.names);
            self.numbers.absorb(&mut other.numbers);
        }
    }
}

impl PartialEq for NamedCounts {
    fn eq(&self, other: &NamedCounts) -> bool {
        self.by_name() == other.by_name()
    }
}

impl Eq for NamedCounts {}

impl Serialize for NamedCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.by_name().serialize(to)
    }
}

/// Numbers by texts of the input, such as media types. Keeps the first [`COUNTED_TEXTS`] texts in
/// alphabetical order, so the result does not depend on the order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCounts {
    by_text: BTreeMap<String, u64>,
    others: u64,
}

impl TextCounts {
    /// Returns the number of a text.
    #[must_use]
    pub fn of(&self, text: &str) -> u64 {
        self.by_text.get(text).copied().unwrap_or(0)
    }

    /// Returns the texts with their numbers, and `other` with the number of all others.
    fn entries(&self) -> impl Iterator<Item = (&str, u64)> {
        let others = Some(("other", self.others)).filter(|(_, number)| 0 < *number);
        let texts = self.by_text.iter();
        texts
            .map(|(text, number)| (text.as_str(), *number))
            .chain(others)
    }

    fn add(&mut self, text: &str, number: u64) {
        match self.by_text.get_mut(text) {
            Some(count) => *count += number,
            None => {
                self.by_text.insert(text.to_owned(), number);
            }
        }
        if COUNTED_TEXTS < self.by_text.len()
            && let Some((_, number)) = self.by_text.pop_last()
        {
            self.others += number;
        }
    }
}

impl Absorb for TextCounts {
    fn absorb(&mut self, other: &mut TextCounts) {
        while let Some((text, number)) = other.by_text.pop_first() {
            self.add(&text, number);
        }
        self.others.absorb(&mut other.others);
    }
}

impl Serialize for TextCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.entries())
    }
}

/// Numbers of URLs by scheme: by index for the schemes of the table, by name for all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeCounts {
    known: [u64; SCHEMES.len()],
    others: TextCounts,
}

// Not derived: arrays of more than 32 elements have no `Default`.
impl Default for SchemeCounts {
    fn default() -> SchemeCounts {
        SchemeCounts {
            known: [0; SCHEMES.len()],
            others: TextCounts::default(),
        }
    }
}

impl Absorb for SchemeCounts {
    fn absorb(&mut self, other: &mut SchemeCounts) {
        self.known.absorb(&mut other.known);
        self.others.absorb(&mut other.others);
    }
}

impl Serialize for SchemeCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let known = SCHEMES.iter().map(|scheme| scheme.name).zip(self.known);
        let known = known.filter(|(_, number)| 0 < *number);
        let counts: BTreeMap<&str, u64> = known.chain(self.others.entries()).collect();
        counts.serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_url_is_counted_under_its_names() {
        let mut wrappers = (0..).zip(Wrapper::ALL);
        assert!(wrappers.all(|(at, wrapper)| wrapper as usize == at));
        let mut repairs = (0..).zip(Repair::ALL);
        assert!(repairs.all(|(at, repair)| repair as usize == at));
        let mut summary = Summary::default();
        let mut url = CountedUrl {
            scheme: Ok(Scheme::index(b"HTTP").unwrap()),
            wrapper: Wrapper::Attr,
            repairs: [Repair::PageBreak, Repair::Hyphen].into_iter().collect(),
            conforms: [true; 3],
            is_by_other_author: true,
        };
        summary.count_url(&url);
        let mut sum = summary.clone();
        sum.absorb(&mut summary);
        assert_eq!(summary.wrappers.sum(), 0);
        let shown = serde_json::to_value(&sum).unwrap();
        assert_eq!(shown["schemes"], serde_json::json!({ "http": 2 }));
        assert_eq!(shown["wrappers"], serde_json::json!({ "attr": 2 }));
        assert_eq!(
            shown["repairs"],
            serde_json::json!({ "hyphen": 2, "page-break": 2 })
        );
        assert_eq!(
            shown["verdicts"],
            serde_json::json!({ "rfc1738": 2, "rfc3986": 2, "whatwg": 2 })
        );
        url.scheme = Err("x-any".to_owned());
        sum.count_url(&url);
        let shown = serde_json::to_value(&sum).unwrap();
        assert_eq!(
            shown["schemes"],
            serde_json::json!({ "http": 2, "x-any": 1 })
        );
        assert_eq!(shown["other_authors"], 3);
    }

    #[test]
    fn the_types_that_are_kept_do_not_depend_on_their_order() {
        let names: Vec<String> = (0..COUNTED_TEXTS + 50)
            .map(|at| format!("a/{at:05}"))
            .collect();
        let mut forwards = TextCounts::default();
        names.iter().for_each(|name| forwards.add(name, 2));
        let mut backwards = TextCounts::default();
        for half in names.rchunks(COUNTED_TEXTS / 2) {
            let mut counts = TextCounts::default();
            half.iter().rev().for_each(|name| counts.add(name, 2));
            backwards.absorb(&mut counts);
            assert_eq!(counts, TextCounts::default());
        }
        assert_eq!(forwards, backwards);
        assert_eq!(
            (forwards.by_text.len(), forwards.others),
            (COUNTED_TEXTS, 100)
        );
    }

    #[test]
    fn an_imbalance_is_reported() {
        let mut summary = Summary {
            candidates: 3,
            records: 2,
            unwrapped: 1,
            duplicates: 1,
            ..Summary::default()
        };
        assert_eq!(
            summary.imbalances(),
            ["candidates: 4 in all, 3 accounted for"]
        );
        summary.count_reject(RejectReason::Host);
        assert!(summary.imbalances().is_empty());
    }
}
