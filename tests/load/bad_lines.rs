//! Lines that are not records, and records that cannot be loaded.

use super::{MAIL, check_database, load, records};
use crate::scene::{Folder, assert_contains, done};

#[test]
fn lines_of_other_types_are_skipped_and_bad_lines_named() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let mixed = [
        &b"{\"type\":\"event\",\"kind\":\"skip\"}\nno record\n\n"[..],
        &lines,
    ]
    .concat();
    let path = folder.file("mixed.jsonl", &mixed);
    let ended = load(&folder, &[&path], b"");
    ended.check(
        1,
        "mixed.jsonl, line 2: not a record: byte 2 is not JSON; records are lines as \
        `urlspool scan` writes them",
    );
    assert_contains(
        &ended.stderr,
        "4 of them new, 1 line of other types skipped",
    );
}

#[test]
fn records_without_needed_fields_and_of_other_versions_are_refused() {
    let folder = Folder::new();
    let mail = folder.file("a.mbox", MAIL);
    let whole = String::from_utf8(done(&["scan", &mail]).stdout).unwrap();
    for lines in [
        done(&["scan", "--fields", "slim", &mail]).stdout,
        done(&["scan", "--fields", "url", &mail]).stdout,
        whole
            .replace("{\"schema\":1,", "{\"schema\":2,")
            .into_bytes(),
    ] {
        let ended = load(&folder, &[], &lines);
        ended.check(2, "standard input, line 1: a record that cannot be loaded");
    }
}

#[test]
fn empty_names_are_refused_and_the_others_loaded() {
    let folder = Folder::new();
    let lines = String::from_utf8(records(&folder, "a.mbox", MAIL)).unwrap();
    let record: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let (id, digest) = (&record["id"], &record["message"]["digest"]);
    let first = lines.lines().next().unwrap();
    let no_id = first.replacen(&format!("\"id\":{id}"), "\"id\":\"\"", 1);
    let no_digest = first.replacen(&format!("\"digest\":{digest}"), "\"digest\":\"\"", 1);
    let gone = r#"{"type":"gone","mailbox":"a","digests":[""]}"#;
    let mixed = format!("{no_id}\n{no_digest}\n{gone}\n{lines}");
    let ended = load(&folder, &[], mixed.as_bytes());
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    for reason in [
        "line 1: not a record: the field `id` must be a non-empty text",
        "line 2: not a record: the field `message.digest` must be a text of 1 to 128 bytes",
        "line 3: not a record: the field `digests` must be a list of at least one text",
        "4 records, 4 of them new, 3 lines that are not a record",
    ] {
        assert!(ended.stderr.contains(reason), "{reason}: {}", ended.stderr);
    }
    check_database(&folder.path("urls.db"));
}
