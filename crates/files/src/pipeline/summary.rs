//! The summary of a run: the numbers of files, messages and URLs read and written, and a check that
//! they add up.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use urlspool_mail::decode::SkippedPart;
use urlspool_record::record::json_line;
use urlspool_text::diagnostic::{DiagnosticKind, SkipReason, UrlFilter};
use urlspool_text::grammar::{SCHEMES, Scheme};
use urlspool_text::limits::PART_TYPES;
use urlspool_text::parse::{FoundUrl, Grammar, RejectReason, Wrapper, scheme};
use urlspool_text::repair::Repair;

/// Counts of a run. The sums of [`Summary::imbalances`] must hold.
///
/// [`Summary::write`] writes one JSON object whose members are named after the fields, except that
/// `duplicates` is called `folded`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Files that the walk found.
    pub files: u64,
    /// Files that were read completely.
    pub files_read: u64,
    /// Files that were skipped, by reason.
    pub files_skipped: NamedCounts,
    /// Unreadable files, by kind of diagnostic.
    pub files_failed: NamedCounts,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Members of archives. They are not included in `files`.
    pub members: u64,
    /// Members that were read completely.
    pub members_read: u64,
    /// Members that were skipped, by reason.
    pub members_skipped: NamedCounts,
    /// Unreadable members, by kind of diagnostic.
    pub members_failed: NamedCounts,
    /// Bytes decompressed from compressed files and archives.
    pub bytes_unpacked: u64,
    /// Messages, and texts without a header.
    pub messages: u64,
    /// Messages that were scanned.
    pub messages_scanned: u64,
    /// Messages that were skipped, by reason.
    pub messages_skipped: NamedCounts,
    /// Parts that were scanned.
    pub parts_text: u64,
    /// Parts that were not read.
    pub parts_other: u64,
    /// Parts that were not read, by media type; `other` for types beyond `PART_TYPES` of the
    /// limits.
    pub parts_other_types: PartTypeCounts,
    /// Starts that matched a scheme or the opening of a wrapper.
    pub candidates: u64,
    /// Records written: those of candidates, and `unwrapped`.
    pub records: u64,
    /// Candidates that are not URLs, by reason.
    pub rejects: NamedCounts,
    /// URLs that filters held back, by the first filter that did.
    pub filtered: NamedCounts,
    /// URLs that were already written; `folded` in JSON.
    #[serde(rename = "folded")]
    pub duplicates: u64,
    /// Records of targets extracted from redirectors' URLs, which are not candidates.
    pub unwrapped: u64,
    /// Records whose author is not the message's, including repetitions.
    pub other_authors: u64,
    /// Events, by kind.
    pub events: NamedCounts,
    /// URLs that passed the filters, by scheme. Like the next three fields, it includes duplicates
    /// within the run.
    pub schemes: SchemeCounts,
    /// URLs that passed the filters, by wrapper, in the order of [`Wrapper::ALL`].
    #[serde(serialize_with = "wrappers")]
    pub wrappers: [u64; Wrapper::ALL.len()],
    /// URLs that passed the filters, by repair, in the order of [`Repair::ALL`]. A URL can have
    /// several.
    #[serde(serialize_with = "repairs")]
    pub repairs: [u64; Repair::ALL.len()],
    /// URLs that passed the filters, by accepting grammar, in the order of [`Grammar::ALL`]. A URL
    /// can have several. A URL longer than the limit has none.
    #[serde(serialize_with = "verdicts")]
    pub verdicts: [u64; Grammar::ALL.len()],
}

fn wrappers<S: Serializer>(numbers: &[u64; Wrapper::ALL.len()], to: S) -> Result<S::Ok, S::Error> {
    by_name(Wrapper::ALL.map(Wrapper::name), numbers, to)
}

fn repairs<S: Serializer>(numbers: &[u64; Repair::ALL.len()], to: S) -> Result<S::Ok, S::Error> {
    by_name(Repair::ALL.map(Repair::name), numbers, to)
}

fn verdicts<S: Serializer>(numbers: &[u64; Grammar::ALL.len()], to: S) -> Result<S::Ok, S::Error> {
    by_name(Grammar::ALL.map(Grammar::name), numbers, to)
}

/// Serializes the numbers above zero in the same way as [`NamedCounts`].
fn by_name<S: Serializer, const N: usize>(
    names: [&str; N],
    numbers: &[u64; N],
    to: S,
) -> Result<S::Ok, S::Error> {
    let counted = names.into_iter().zip(*numbers);
    let counted = counted.filter(|(_, number)| 0 < *number);
    let counted: BTreeMap<&str, u64> = counted.collect();
    counted.serialize(to)
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
        self.files_skipped.add(reason.name(), 1);
    }

    /// Counts an unreadable file.
    pub fn fail_file(&mut self, kind: DiagnosticKind) {
        self.files += 1;
        self.files_failed.add(kind.name(), 1);
    }

    /// Recounts a file as unreadable that was counted as read.
    pub fn read_file_failed(&mut self, kind: DiagnosticKind) {
        self.files_read -= 1;
        self.files_failed.add(kind.name(), 1);
    }

    /// Counts a member that was read completely.
    pub fn read_member(&mut self) {
        self.members += 1;
        self.members_read += 1;
    }

    /// Counts a member that was skipped.
    pub fn skip_member(&mut self, reason: SkipReason) {
        self.members += 1;
        self.members_skipped.add(reason.name(), 1);
    }

    /// Counts an unreadable member.
    pub fn fail_member(&mut self, kind: DiagnosticKind) {
        self.members += 1;
        self.members_failed.add(kind.name(), 1);
    }

    /// Counts a message that was skipped.
    pub fn skip_message(&mut self, reason: SkipReason) {
        self.messages += 1;
        self.messages_skipped.add(reason.name(), 1);
    }

    /// Counts a candidate that is not a URL, in `rejects` only.
    pub fn count_reject(&mut self, reason: RejectReason) {
        self.rejects.add(reason.name(), 1);
    }

    /// Counts a URL that a filter holds back, in `filtered` only.
    pub fn count_filtered(&mut self, filter: UrlFilter) {
        self.filtered.add(filter.name(), 1);
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
        self.events.add(kind.name(), 1);
    }

    /// Counts a URL that passed the filters by scheme, wrapper, repairs and verdicts.
    pub fn count_url(&mut self, found: &FoundUrl<'_>) {
        self.schemes.add(scheme(found.url()));
        self.wrappers[found.wrapper as usize] += 1;
        found
            .repairs
            .iter()
            .for_each(|repair| self.repairs[repair as usize] += 1);
        if let Some(verdicts) = found.verdicts {
            verdicts
                .conforms()
                .for_each(|grammar| self.verdicts[grammar as usize] += 1);
        }
    }

    /// Returns the summary of an article that turned out to be a duplicate: its messages count as
    /// skipped.
    #[must_use]
    pub fn as_duplicate(&self) -> Summary {
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

    /// Adds another summary.
    pub fn add(&mut self, other: &Summary) {
        self.absorb(&mut other.clone());
    }

    /// Adds another summary and sets its numbers to zero. Keeps its names, which makes it cheap to
    /// reuse a summary for one message after another.
    pub fn absorb(&mut self, other: &mut Summary) {
        for (sum, number) in self.numbers().into_iter().zip(other.numbers()) {
            *sum += std::mem::take(number);
        }
        for (sum, numbers) in self.lists().into_iter().zip(other.lists()) {
            sum.iter_mut()
                .zip(numbers)
                .for_each(|(sum, number)| *sum += std::mem::take(number));
        }
        for (sum, counts) in self.counts().into_iter().zip(other.counts()) {
            counts.drain_into(sum);
        }
        self.parts_other_types.absorb(&mut other.parts_other_types);
    }

    /// Returns all fields that are single numbers.
    fn numbers(&mut self) -> [&mut u64; 15] {
        [
            &mut self.files,
            &mut self.files_read,
            &mut self.bytes_read,
            &mut self.members,
            &mut self.members_read,
            &mut self.bytes_unpacked,
            &mut self.messages,
            &mut self.messages_scanned,
            &mut self.parts_text,
            &mut self.parts_other,
            &mut self.candidates,
            &mut self.records,
            &mut self.duplicates,
            &mut self.unwrapped,
            &mut self.other_authors,
        ]
    }

    /// Returns all fields that are counted in the order of a list.
    fn lists(&mut self) -> [&mut [u64]; 4] {
        [
            &mut self.wrappers,
            &mut self.repairs,
            &mut self.verdicts,
            &mut self.schemes.known,
        ]
    }

    /// Returns all fields that are counted by name.
    fn counts(&mut self) -> [&mut NamedCounts; 9] {
        [
            &mut self.files_skipped,
            &mut self.files_failed,
            &mut self.members_skipped,
            &mut self.members_failed,
            &mut self.messages_skipped,
            &mut self.rejects,
            &mut self.filtered,
            &mut self.events,
            &mut self.schemes.others,
        ]
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

/// Numbers by name, sorted by name.
#[derive(Clone, Debug, Default, Eq, Serialize)]
#[serde(transparent)]
pub struct NamedCounts {
    by_name: BTreeMap<String, u64>,
    /// `true` if a number was added since the last [`NamedCounts::drain_into`].
    #[serde(skip)]
    is_fresh: bool,
}

impl NamedCounts {
    /// Returns the sum of all numbers.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.by_name.values().sum()
    }

    /// Adds `number` to the count of `name`.
    fn add(&mut self, name: &str, number: u64) {
        self.is_fresh = true;
        match self.by_name.get_mut(name) {
            Some(count) => *count += number,
            None => {
                self.by_name.insert(name.to_owned(), number);
            }
        }
    }

    /// Adds these counts to `sum` and sets them to zero. Keeps the names, since the next message
    /// usually has the same ones. Drops them if they are many, as in a hostile message.
    fn drain_into(&mut self, sum: &mut NamedCounts) {
        const KEPT_NAMES: usize = 32;
        if !std::mem::take(&mut self.is_fresh) {
            return;
        }
        for (name, count) in &mut self.by_name {
            match std::mem::take(count) {
                0 => {}
                number => sum.add(name, number),
            }
        }
        if KEPT_NAMES < self.by_name.len() {
            self.by_name.clear();
        }
    }
}

impl PartialEq for NamedCounts {
    fn eq(&self, other: &NamedCounts) -> bool {
        self.by_name == other.by_name
    }
}

impl Deref for NamedCounts {
    type Target = BTreeMap<String, u64>;

    fn deref(&self) -> &BTreeMap<String, u64> {
        &self.by_name
    }
}

/// Numbers of parts by media type. Keeps the first [`PART_TYPES`] types in alphabetical order, so
/// the result does not depend on the order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartTypeCounts {
    by_type: BTreeMap<String, u64>,
    others: u64,
}

impl PartTypeCounts {
    /// The number of parts with a media type, given in lower case.
    #[must_use]
    pub fn of(&self, media_type: &str) -> u64 {
        self.by_type.get(media_type).copied().unwrap_or(0)
    }

    fn add(&mut self, media_type: &str, number: u64) {
        match self.by_type.get_mut(media_type) {
            Some(count) => *count += number,
            None => {
                self.by_type.insert(media_type.to_owned(), number);
            }
        }
        if PART_TYPES < self.by_type.len()
            && let Some((_, number)) = self.by_type.pop_last()
        {
            self.others += number;
        }
    }

    /// Adds `other` and empties it.
    fn absorb(&mut self, other: &mut PartTypeCounts) {
        for (media_type, number) in std::mem::take(&mut other.by_type) {
            self.add(&media_type, number);
        }
        self.others += std::mem::take(&mut other.others);
    }
}

impl Serialize for PartTypeCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let others = Some(("other", self.others)).filter(|(_, number)| 0 < *number);
        let named = self
            .by_type
            .iter()
            .map(|(media_type, number)| (media_type.as_str(), *number));
        to.collect_map(named.chain(others))
    }
}

/// Numbers of URLs by scheme: by index for the schemes of the table, by name for all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeCounts {
    known: [u64; SCHEMES.len()],
    others: NamedCounts,
}

// Not derived: arrays of more than 32 elements have no `Default`.
impl Default for SchemeCounts {
    fn default() -> SchemeCounts {
        SchemeCounts {
            known: [0; SCHEMES.len()],
            others: NamedCounts::default(),
        }
    }
}

impl SchemeCounts {
    /// Adds one to the count of this scheme, which may be in any case.
    fn add(&mut self, name: &[u8]) {
        match Scheme::index(name) {
            Some(index) => self.known[index] += 1,
            None => self
                .others
                .add(&String::from_utf8_lossy(name).to_ascii_lowercase(), 1),
        }
    }
}

impl Serialize for SchemeCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let known = SCHEMES
            .iter()
            .map(|scheme| scheme.name)
            .zip(self.known)
            .filter(|(_, number)| 0 < *number);
        let others = self
            .others
            .iter()
            .map(|(name, number)| (name.as_str(), *number));
        known
            .chain(others)
            .collect::<BTreeMap<&str, u64>>()
            .serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_text::parse::Verdicts;
    use urlspool_text::span::Span;

    #[test]
    fn each_url_is_counted_under_its_names() {
        assert!(
            Wrapper::ALL
                .iter()
                .enumerate()
                .all(|(at, wrapper)| *wrapper as usize == at)
        );
        assert!(
            Repair::ALL
                .iter()
                .enumerate()
                .all(|(at, repair)| *repair as usize == at)
        );
        let verdicts = Verdicts::of(b"HTTP://a.b/", 11);
        let found = FoundUrl {
            full: b"HTTP://a.b/",
            url_len: 11,
            raw: Span::new(0, 11),
            wrapper: Wrapper::Attr,
            repairs: [Repair::PageBreak, Repair::Hyphen].into_iter().collect(),
            alternates: &[],
            confidence: 1.0,
            verdicts: Some(&verdicts),
            truncated: None,
        };
        let mut summary = Summary::default();
        summary.count_url(&found);
        let mut sum = summary.clone();
        sum.absorb(&mut summary);
        assert_eq!(summary.wrappers, [0; Wrapper::ALL.len()]);
        let shown = serde_json::to_value(&sum).unwrap();
        assert_eq!(shown["schemes"], serde_json::json!({ "http": 2 }));
        sum.schemes.add(b"x-Any");
        sum.schemes.add(b"https");
        let shown = serde_json::to_value(&sum).unwrap();
        assert_eq!(
            shown["schemes"],
            serde_json::json!({ "http": 2, "https": 1, "x-any": 1 })
        );
        assert_eq!(shown["wrappers"], serde_json::json!({ "attr": 2 }));
        assert_eq!(
            shown["repairs"],
            serde_json::json!({ "hyphen": 2, "page-break": 2 })
        );
        assert_eq!(
            shown["verdicts"],
            serde_json::json!({ "rfc1738": 2, "rfc3986": 2, "whatwg": 2 })
        );
    }

    #[test]
    fn the_types_that_are_kept_do_not_depend_on_their_order() {
        let names: Vec<String> = (0..PART_TYPES + 50)
            .map(|at| format!("a/{at:05}"))
            .collect();
        let mut forwards = PartTypeCounts::default();
        names.iter().for_each(|name| forwards.add(name, 2));
        let mut backwards = PartTypeCounts::default();
        for half in names.rchunks(PART_TYPES / 2) {
            let mut counts = PartTypeCounts::default();
            half.iter().rev().for_each(|name| counts.add(name, 2));
            backwards.absorb(&mut counts);
            assert_eq!(counts, PartTypeCounts::default());
        }
        assert_eq!(forwards, backwards);
        assert_eq!((forwards.by_type.len(), forwards.others), (PART_TYPES, 100));
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
