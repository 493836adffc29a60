//! A scan of one file by the program: its records and its events.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Folder, ended, lines, urlspool};

/// Output of a scan.
pub(crate) struct Scan {
    pub(crate) records: Vec<Value>,
    /// Kind of each event.
    pub(crate) events: Vec<String>,
    /// Text of each event.
    pub(crate) messages: Vec<String>,
    pub(crate) status: Option<i32>,
}

/// Scans a file with more arguments.
#[track_caller]
pub(crate) fn scan(bytes: impl AsRef<[u8]>, args: &[&str]) -> Scan {
    let folder = Folder::new();
    let events = folder.path("events.jsonl");
    let source = folder.file("source", bytes);
    let args = [
        &["scan", "-q", "--events", events.to_str().unwrap(), &source],
        args,
    ]
    .concat();
    let ended = ended(&mut urlspool(args), b"");
    assert_eq!(ended.stderr, "", "{:?}", ended.status);
    let events = lines(&std::fs::read(events).unwrap());
    Scan {
        records: ended.records(),
        events: texts(&events, "kind"),
        messages: texts(&events, "message"),
        status: ended.status,
    }
}

impl Scan {
    pub(crate) fn urls(&self) -> BTreeSet<&str> {
        self.records
            .iter()
            .map(|record| record["url"].as_str().unwrap())
            .collect()
    }
}

fn texts(events: &[Value], name: &str) -> Vec<String> {
    events
        .iter()
        .map(|event| event[name].as_str().unwrap().to_owned())
        .collect()
}
