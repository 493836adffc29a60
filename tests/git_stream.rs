//! Streams of `git cat-file --batch`, as read from mirrors of public-inbox.

use serde_json::Value;

use crate::git_repository::mail;
use crate::scene::{Ended, Folder, done, ended, lines, urlspool};

/// Formats a number as an object id with `digits` hex digits.
fn oid(number: usize, digits: usize) -> String {
    format!("{:0digits$x}", number + 0xbeef)
}

fn object(oid: &str, kind: &str, content: &str) -> String {
    format!("{oid} {kind} {}\n{content}\n", content.len())
}

/// Scans a stream on standard input with more arguments.
fn scan(stream: &str, args: &[&str]) -> Ended {
    let args = [&["scan", "-q", "-"], args].concat();
    ended(&mut urlspool(args), stream.as_bytes())
}

/// Returns the members and URLs of records.
fn members(records: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    records
        .iter()
        .map(|record| (text(&record["source"]["member"][0]), text(&record["url"])))
        .collect()
}

#[test]
fn each_blob_is_a_message_and_its_object_id_the_member() {
    for digits in [40, 64] {
        let id = |number| oid(number, digits);
        let stream = [
            object(&id(0), "commit", "tree 1\n\nhttp://never.example/\n"),
            object(&id(1), "blob", &mail("one")),
            format!("{}:m missing\n", id(2)),
            object(&id(3), "tree", "100644 m\0http://never.example/"),
            object(&id(4), "blob", &mail("two")),
            object(&id(5), "tag", "object 1\n"),
        ]
        .concat();
        let folder = Folder::new();
        let summary = folder.path("summary.json");
        let ended = scan(&stream, &["--summary", summary.to_str().unwrap()]);
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
        let records = ended.records();
        assert_eq!(
            members(&records),
            [
                (id(1), "http://one.example/x".to_owned()),
                (id(4), "http://two.example/x".to_owned())
            ]
        );
        for record in &records {
            assert_eq!(record["source"]["kind"], "message");
            assert_eq!(record["source"]["path"], "-");
            assert_eq!(
                record["message"]["start"], 0,
                "offsets are those in the blob"
            );
        }
        let summary = lines(&std::fs::read(summary).unwrap()).remove(0);
        assert_eq!(summary["messages"], 2);
        assert_eq!(summary["members_skipped"]["missing-object"], 1);
    }
}

#[test]
fn show_prints_the_bytes_in_a_saved_stream() {
    let stream = [
        object(&oid(1, 40), "blob", &mail("one")),
        object(&oid(2, 40), "blob", &mail("two")),
    ]
    .concat();
    let folder = Folder::new();
    let path = folder.file("stream", &stream);
    let record = done(&["scan", &path]).records().remove(1);
    let place = format!("{path}!{}:{}", oid(2, 40), record["source"]["start"]);
    assert_eq!(
        done(&["show", &place]).text().trim_end(),
        "http://two.example/x"
    );
    let ids = |ended: &Ended| -> Vec<String> {
        let records = ended.records();
        records
            .iter()
            .map(|record| record["id"].to_string())
            .collect()
    };
    assert_eq!(ids(&scan(&stream, &[])), ids(&done(&["scan", &path])));
}
