//! The balance sheet of a run: what went in, what came out, and what became of the rest.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::counts::{NamedCounts, SchemeCounts};

use crate::diagnostic::SkipReason;
use crate::parse::{FoundUrl, Grammar, RejectReason, Wrapper, scheme};
use crate::repair::Repair;

/// What a run read and wrote. The sums of [`Summary::imbalances`] must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Files that the walk came upon.
    pub files: u64,
    /// Those that were read to their end.
    pub files_read: u64,
    /// Those that were left, by reason.
    pub files_skipped: NamedCounts,
    /// Those that could not be read, by reason.
    pub files_failed: NamedCounts,
    /// Bytes of the files that were read.
    pub bytes_read: u64,
    /// Members that archives held: files as it were, counted apart from those of the walk.
    pub members: u64,
    /// Those that were read to their end.
    pub members_read: u64,
    /// Those that were left, by reason.
    pub members_skipped: NamedCounts,
    /// Those that could not be read, by reason.
    pub members_failed: NamedCounts,
    /// Bytes that came out of compressed files and archives.
    pub bytes_unpacked: u64,
    /// Messages, and texts without a header.
    pub messages: u64,
    /// Those that were searched.
    pub messages_scanned: u64,
    /// Those that were left, by reason.
    pub messages_skipped: NamedCounts,
    /// Parts that were searched.
    pub parts_text: u64,
    /// Parts without text.
    pub parts_other: u64,
    /// Triggers that matched a scheme or a wrapper's start.
    pub candidates: u64,
    /// Records written.
    pub records: u64,
    /// Candidates that are no URLs, by reason.
    pub rejects: NamedCounts,
    /// URLs that a filter held back.
    pub filtered: u64,
    /// URLs that were written before.
    #[serde(rename = "folded")]
    pub duplicates: u64,
    /// Lines that were written: the records, and the URLs inside redirectors' URLs.
    pub lines: u64,
    /// URLs that stood inside redirectors' URLs. They are no candidates, and are written besides.
    pub unwrapped: u64,
    /// Events, by kind.
    pub events: NamedCounts,
    /// URLs that passed the filters, by scheme. This and the next three count before folding over the whole run.
    pub schemes: SchemeCounts,
    /// The same by wrapper, in the order of [`Wrapper::ALL`].
    #[serde(serialize_with = "wrappers")]
    pub wrappers: [u64; Wrapper::ALL.len()],
    /// The same by repair, in the order of [`Repair::ALL`]; a URL can have several.
    #[serde(serialize_with = "repairs")]
    pub repairs: [u64; Repair::ALL.len()],
    /// The same by the grammars that accept, in the order of [`Grammar::ALL`]; a URL can have several, and one beyond the
    /// limit has none.
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

/// Serializes the numbers of what happened at all as [`NamedCounts`] are.
fn by_name<S: Serializer, const N: usize>(
    names: [&str; N],
    numbers: &[u64; N],
    to: S,
) -> Result<S::Ok, S::Error> {
    let happened: BTreeMap<&str, u64> = names
        .into_iter()
        .zip(*numbers)
        .filter(|(_, number)| *number > 0)
        .collect();
    happened.serialize(to)
}

impl Summary {
    /// NamedCounts a file that was skipped.
    pub fn skip_file(&mut self, reason: SkipReason) {
        self.files += 1;
        self.files_skipped.add(reason.name(), 1);
    }

    /// A file could not be read because of `why`.
    pub fn fail_file(&mut self, why: &str) {
        self.files += 1;
        self.files_failed.add(why, 1);
    }

    /// A file was read to its end.
    pub fn read_file(&mut self) {
        self.files += 1;
        self.files_read += 1;
    }

    /// A file that was counted as read was not, because of `why`.
    pub fn read_file_failed(&mut self, why: &str) {
        self.files_read -= 1;
        self.files_failed.add(why, 1);
    }

    /// A member was read to its end.
    pub fn read_member(&mut self) {
        self.members += 1;
        self.members_read += 1;
    }

    /// NamedCounts a member that was skipped.
    pub fn skip_member(&mut self, reason: SkipReason) {
        self.members += 1;
        self.members_skipped.add(reason.name(), 1);
    }

    /// A member could not be read because of `why`.
    pub fn fail_member(&mut self, why: &str) {
        self.members += 1;
        self.members_failed.add(why, 1);
    }

    /// NamedCounts a message that was skipped.
    pub fn skip_message(&mut self, reason: SkipReason) {
        self.messages += 1;
        self.messages_skipped.add(reason.name(), 1);
    }

    /// A candidate was no URL.
    pub fn count_reject(&mut self, reason: RejectReason) {
        self.rejects.add(reason.name(), 1);
    }

    /// An event of this kind came up.
    pub fn count_event(&mut self, kind: &str) {
        self.events.add(kind, 1);
    }

    /// A URL passed the filters.
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

    /// The balance of an article that turned out to be a copy: it was seen, and not searched.
    #[must_use]
    pub fn as_duplicate(&self) -> Summary {
        let mut copy = Summary {
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
            copy.skip_message(SkipReason::CrossPost);
        }
        copy
    }

    /// Adds another balance.
    pub fn add(&mut self, other: &Summary) {
        self.absorb(&mut other.clone());
    }

    /// Adds another balance, which counts from zero again. The names in it stay, so that a balance that is used for one
    /// message after the other costs little.
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
            counts.pour(sum);
        }
    }

    /// Everything that is one number.
    fn numbers(&mut self) -> [&mut u64; 16] {
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
            &mut self.filtered,
            &mut self.duplicates,
            &mut self.unwrapped,
            &mut self.lines,
        ]
    }

    /// Everything that is counted in the order of a list.
    fn lists(&mut self) -> [&mut [u64]; 4] {
        [
            &mut self.wrappers,
            &mut self.repairs,
            &mut self.verdicts,
            &mut self.schemes.known,
        ]
    }

    /// Everything that is counted by name.
    fn counts(&mut self) -> [&mut NamedCounts; 8] {
        [
            &mut self.files_skipped,
            &mut self.files_failed,
            &mut self.members_skipped,
            &mut self.members_failed,
            &mut self.messages_skipped,
            &mut self.rejects,
            &mut self.events,
            &mut self.schemes.others,
        ]
    }

    /// The sums that do not hold, each in a sentence. None is expected: one is a bug of ours.
    #[must_use]
    pub fn imbalances(&self) -> Vec<String> {
        let sums = [
            (
                "files",
                self.files,
                self.files_read + self.files_skipped.sum() + self.files_failed.sum(),
            ),
            (
                "members",
                self.members,
                self.members_read + self.members_skipped.sum() + self.members_failed.sum(),
            ),
            (
                "messages",
                self.messages,
                self.messages_scanned + self.messages_skipped.sum(),
            ),
            ("lines", self.lines, self.records + self.unwrapped),
            (
                "candidates",
                self.candidates,
                self.records + self.rejects.sum() + self.filtered + self.duplicates,
            ),
        ];
        let wrong = sums.into_iter().filter(|(_, whole, parts)| whole != parts);
        wrong
            .map(|(name, whole, parts)| format!("{name}: {whole} in all, {parts} accounted for"))
            .collect()
    }

    /// Appends the balance as one JSON object and a line end.
    ///
    /// # Panics
    ///
    /// Never: counts serialize, and a `Vec` takes all bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, self)
            .expect("counts serialize, and a Vec takes all bytes");
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Verdicts;
    use crate::span::Span;

    #[test]
    fn what_happened_is_counted_under_its_name() {
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
        let mut balance = Summary::default();
        balance.count_url(&found);
        let mut sum = balance.clone();
        sum.absorb(&mut balance);
        assert_eq!(balance.wrappers, [0; Wrapper::ALL.len()]);
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
    fn what_is_not_accounted_for_is_said() {
        let mut balance = Summary {
            candidates: 3,
            records: 1,
            lines: 1,
            duplicates: 1,
            ..Summary::default()
        };
        assert_eq!(
            balance.imbalances(),
            ["candidates: 3 in all, 2 accounted for"]
        );
        balance.count_reject(RejectReason::Host);
        assert!(balance.imbalances().is_empty());
    }
}
