//! Life of each message in the output: written, gone, perhaps written again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A message and the mailbox named in its records.
pub(crate) type Placed = (String, u64);

/// A line about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifeEvent {
    /// The record of the message's first URL.
    Written,
    /// The message's line of type `gone`.
    Gone,
}

/// The lines about each message of [`super::message`], in order.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    pub(crate) events: BTreeMap<Placed, Vec<LifeEvent>>,
    /// Message of each digest in a mailbox.
    digests: BTreeMap<(String, String), u64>,
    /// Number of digests of each `gone` line.
    pub(crate) gone_digests: Vec<usize>,
}

impl Lives {
    /// Reads all sealed segments of several folders, in the order of their numbers.
    pub(crate) fn read(folders: &[&Path]) -> Lives {
        let entries = folders
            .iter()
            .flat_map(|folder| fs::read_dir(folder).unwrap());
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut segments: Vec<PathBuf> = paths
            .filter(|path| path.extension() == Some("jsonl".as_ref()))
            .collect();
        segments.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
        let mut lives = Lives::default();
        for segment in segments {
            for line in fs::read_to_string(segment).unwrap().lines() {
                lives.add(&serde_json::from_str(line).unwrap());
            }
        }
        lives
    }

    fn add(&mut self, line: &Value) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        if line["type"] == "gone" {
            let mailbox = text(&line["mailbox"]);
            let digests = line["digests"].as_array().unwrap();
            self.gone_digests.push(digests.len());
            let messages: BTreeSet<u64> = digests
                .iter()
                .map(|digest| self.digests[&(mailbox.clone(), text(digest))])
                .collect();
            for n in messages {
                let events = self.events.entry((mailbox.clone(), n)).or_default();
                events.push(LifeEvent::Gone);
            }
            return;
        }
        let url = text(&line["url"]);
        let Some((n, part)) = url
            .strip_prefix("http://h.example/")
            .and_then(|rest| rest.split_once('-'))
        else {
            return;
        };
        let Ok(n) = n.parse() else { return };
        let mailbox = text(&line["source"]["mailbox"]);
        let digest = text(&line["message"]["digest"]);
        self.digests.insert((mailbox.clone(), digest), n);
        if part == "a.html" {
            let events = self.events.entry((mailbox, n)).or_default();
            events.push(LifeEvent::Written);
        }
    }

    /// Checks that each message is written before it is gone, and gone before it is written again.
    pub(crate) fn check_order(&self) -> Result<(), String> {
        for (message, events) in &self.events {
            let expected = [LifeEvent::Written, LifeEvent::Gone].into_iter().cycle();
            if !expected
                .zip(events)
                .all(|(expected, event)| expected == *event)
            {
                return Err(format!("{message:?}: {events:?}"));
            }
        }
        Ok(())
    }

    /// Returns the messages that were written and are not gone.
    pub(crate) fn present(&self) -> BTreeSet<Placed> {
        let is_present = |events: &[LifeEvent]| events.last() == Some(&LifeEvent::Written);
        let all = self.events.iter();
        all.filter(|(_, events)| is_present(events))
            .map(|(message, _)| message.clone())
            .collect()
    }

    /// Returns how often message `n` was written, summed over all mailboxes.
    pub(crate) fn times_written(&self, n: u64) -> usize {
        let of_message = self.events.iter().filter(|((_, number), _)| *number == n);
        of_message
            .flat_map(|(_, events)| events)
            .filter(|event| **event == LifeEvent::Written)
            .count()
    }

    /// Returns the number of `gone` lines of message `n`.
    pub(crate) fn times_gone(&self, n: u64) -> usize {
        let of_message = self.events.iter().filter(|((_, number), _)| *number == n);
        of_message
            .flat_map(|(_, events)| events)
            .filter(|event| **event == LifeEvent::Gone)
            .count()
    }
}
