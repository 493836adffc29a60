//! Lines that are no records, and records that cannot be loaded.

use super::{MAIL, check_database, load, records};
use crate::scene::{Folder, done};

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
    assert_eq!(ended.status, Some(1));
    assert!(
        ended
            .stderr
            .contains("mixed.jsonl, line 2: no record: byte 2 is not JSON; records are lines as `urlspool scan` writes them"),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .contains("4 of them new, 1 line of other types skipped"),
        "{}",
        ended.stderr
    );
}

#[test]
fn records_without_needed_fields_and_of_other_versions_are_refused() {
    let folder = Folder::new();
    let mail = folder.file("a.mbox", MAIL);
    let whole = String::from_utf8(done(&["scan", &mail]).stdout).unwrap();
    for lines in [
        done(&["scan", "--slim", &mail]).stdout,
        done(&["scan", "--fields", "url", &mail]).stdout,
        whole
            .replace("{\"schema\":1,", "{\"schema\":2,")
            .into_bytes(),
    ] {
        let ended = load(&folder, &[], &lines);
        assert_eq!(ended.status, Some(2), "{}", ended.stderr);
        assert!(
            ended
                .stderr
                .contains("standard input, line 1: a record that cannot be loaded"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn lines_with_wrong_values_are_named_and_the_others_loaded() {
    let folder = Folder::new();
    let lines = String::from_utf8(records(&folder, "a.mbox", MAIL)).unwrap();
    let line = lines.lines().next().unwrap();
    let wrong = [
        ("\"port\":80", "\"port\":70000"),
        ("\"port\":80", "\"port\":80,\"port\":80"),
        ("\"path_b64\":null", "\"path_b64\":\"?\""),
        ("\"references\":[]", "\"references\":[\"a\\u0000\"]"),
        ("\"references\":[]", "\"references\":[\"\\ud800\"]"),
        ("A lamp", "A \\u0000lamp"),
        ("\"references\":[]", "\"references\":5"),
        ("\"quote_depth\":0", "\"quote_depth\":-1"),
        (
            "\"digest\":\"",
            &format!("\"digest\":\"{}", "0".repeat(9000)),
        ),
    ]
    .map(|(from, to)| {
        let changed = line.replacen(from, to, 1);
        assert_ne!(changed, line, "{from}");
        changed + "\n"
    });
    for wrong in &wrong {
        let ended = load(&folder, &[], wrong.as_bytes());
        assert_eq!(ended.status, Some(1), "{wrong}: {}", ended.stderr);
        let reason = "standard input, line 1: no record: the field `";
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
    let right = line.replace("\"references\":[]", r#""references":["\\u0000"]"#) + "\n";
    let mixed = [&*wrong.concat(), &right, &lines].concat();
    let ended = load(&folder, &[], mixed.as_bytes());
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("5 records, 4 of them new, 9 lines"),
        "{}",
        ended.stderr
    );
    check_database(&folder.path("urls.db"));
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
        "line 1: no record: the field `id` must be a text that is not empty",
        "line 2: no record: the field `message.digest` must be a text of 1 to 128 bytes",
        "line 3: no record: the field `digests` must be a list of at least one text",
        "4 records, 4 of them new, 3 lines that are no record",
    ] {
        assert!(ended.stderr.contains(reason), "{reason}: {}", ended.stderr);
    }
    check_database(&folder.path("urls.db"));
}
