//! `urlspool load --replace` removes rows only if the input proves that they are obsolete.

use super::{MAIL, check_database, load, loaded, records, value};
use crate::scene::{Folder, assert_contains, done, ended, urlspool};

/// Returns the second message of [`MAIL`].
fn second_message() -> &'static str {
    MAIL.split_at(MAIL.find("From b").unwrap()).1
}

#[test]
fn replace_removes_rows_that_the_input_files_no_longer_hold() {
    let folder = Folder::new();
    let other = records(&folder, "other.mbox", MAIL);
    loaded(&folder, &[], &other);
    loaded(&folder, &[], &records(&folder, "a.mbox", MAIL));
    let after = records(&folder, "a.mbox", second_message());
    let summary = loaded(&folder, &["--replace"], &after);
    assert_contains(&summary, "0 of them new, 3 rows removed");
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 5);
    let database = folder.path("urls.db");
    check_database(&database);
    // The position of the remaining row is updated.
    let args = [
        "search",
        database.to_str().unwrap(),
        "other",
        "--format",
        "jsonl",
    ];
    let shown = ended(&mut urlspool(["show"]), &done(&args).stdout);
    assert_eq!(shown.stdout, b"http://m.example/lamp\n".repeat(2));
}

#[test]
fn removed_rows_are_counted_without_being_asked() {
    let folder = Folder::new();
    let database = folder.path("urls.db");
    let load = |args: &[&str], input: &[u8]| {
        let mut command = urlspool(["load", "--into"]);
        ended(command.arg(&database).args(args), input).stderr
    };
    assert_eq!(load(&[], &records(&folder, "a.mbox", MAIL)), "");
    let after = records(&folder, "a.mbox", second_message());
    assert_contains(&load(&["--replace"], &after), "3 rows removed");
    assert_eq!(load(&["--replace"], &after), "");
    folder.write("b.mbox", "");
    std::fs::remove_file(folder.path("a.mbox")).unwrap();
    let root = folder.path("").display().to_string();
    assert_contains(&load(&["--prune", &root], b""), "1 row removed");
    let b = folder.file("b.mbox", MAIL);
    let scan = |args: &[&str]| {
        let mut command = urlspool(["scan", &b, "--into"]);
        ended(command.arg(&database).args(args), b"").stderr
    };
    assert_eq!(scan(&[]), "");
    let host = ["--replace", "--host", "f.example"];
    assert_contains(&scan(&host), "3 rows removed");
    assert_eq!(scan(&[&host[..], &["-q"]].concat()), "");
}

/// Loads the rest of a file with `args`. No row may be removed.
#[track_caller]
fn keeps_all_rows(folder: &Folder, args: &[&str], input: &[u8]) {
    let args = [&["--replace"], args].concat();
    let ended = load(folder, &args, input);
    ended.check(1, "--replace removed no rows");
    assert_eq!(value::<i64>(folder, "SELECT count(*) FROM urls"), 4);
    check_database(&folder.path("urls.db"));
}

#[test]
fn replace_removes_no_rows_if_the_input_is_incomplete() {
    let folder = Folder::new();
    let whole = records(&folder, "a.mbox", MAIL);
    loaded(&folder, &[], &whole);
    let first_line = whole.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let garbled = [first_line, &b"{\"schema\":1,\n"[..]].concat();
    keeps_all_rows(&folder, &[], &garbled);
    let rest = folder.file("rest.jsonl", first_line);
    let missing = load(&folder, &["--replace", &rest, "missing.jsonl"], b"");
    assert_eq!(missing.status, Some(2), "{}", missing.stderr);
    let packed = zstd::encode_all(&*whole.repeat(40), 1).unwrap();
    let cut = folder.file("cut.jsonl.zst", &packed[..packed.len() / 2]);
    keeps_all_rows(&folder, &[&rest, &cut], b"");
    let summary = loaded(&folder, &["--replace"], first_line);
    assert!(summary.contains("3 rows removed"), "{summary}");
}
