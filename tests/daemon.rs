//! The daemon's guarantee: the records of every message appear exactly once.
//!
//! `failures` and `tombstones` hold single cases with a simulated clock; `tests/tools/histories.py`
//! generates random histories of spools. The other modules run the real program: `kills` kills it
//! at random moments, `damage` changes the daemon's own files, `spools` acts on mailboxes as mail
//! programs do, `repositories` watches git, `scopes` changes the boundaries of a mailbox, `cli`
//! checks commands and exit codes, `watched_paths` watches without a configuration, and `operator`
//! checks what an operator sees. Tests that need root or strace are in `tests/tools`.

mod cli;
mod collisions;
mod damage;
mod failures;
mod kills;
mod lives;
mod operator;
mod repositories;
mod scopes;
mod spools;
mod tombstones;
mod watched_paths;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Contents of sealed segments.
#[derive(Default)]
pub(crate) struct SegmentContents {
    /// Number of records per URL, without truncated messages.
    pub(crate) urls: BTreeMap<String, u32>,
    /// URLs of records with `truncated_tail`.
    pub(crate) torn: Vec<String>,
    /// Identifier of each record.
    pub(crate) ids: Vec<String>,
}

/// Reads all sealed segments of an output folder.
///
/// # Panics
///
/// Panics if a line is not a record.
pub(crate) fn read_segments(out: &Path) -> SegmentContents {
    read_segments_in(&[out])
}

/// Reads all sealed segments of several folders.
pub(crate) fn read_segments_in(folders: &[&Path]) -> SegmentContents {
    let mut contents = SegmentContents::default();
    for entry in folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
    {
        let path = entry.unwrap().path();
        if path.extension() == Some("jsonl".as_ref()) {
            contents.add(&path);
        }
    }
    contents
}

impl SegmentContents {
    fn add(&mut self, segment: &Path) {
        let bytes = fs::read(segment).unwrap();
        assert!(bytes.ends_with(b"\n"), "{}: truncated", segment.display());
        for line in bytes
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let record: serde_json::Value = serde_json::from_slice(line).unwrap();
            if record["type"] == "gone" {
                continue;
            }
            let url = record["url"].as_str().unwrap().to_owned();
            self.ids.push(record["id"].as_str().unwrap().to_owned());
            if record["truncated_tail"] == true {
                self.torn.push(url);
            } else {
                *self.urls.entry(url).or_default() += 1;
            }
        }
    }
}

/// Returns message `n`, with a URL near its start and its end, and `filler` lines in between.
pub(crate) fn message(n: u64, filler: u64) -> String {
    let words = "some words of no interest at all, to fill the line\n".repeat(filler as usize);
    format!(
        "From: a@b.example\nSubject: number {n}\nMessage-ID: <{n}@x.example>\n\n\
         see http://h.example/{n}-a.html now\n{words}and http://h.example/{n}-b.html too\n"
    )
}

/// Returns message `n` in its mbox form.
pub(crate) fn mbox_message(n: u64, filler: u64) -> String {
    format!(
        "From a@b Mon Jan  1 00:00:00 1996\n{}\n",
        message(n, filler)
    )
}
