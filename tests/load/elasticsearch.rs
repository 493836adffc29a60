//! Loads into Elasticsearch and `OpenSearch`, tested with a checking server.

mod login;
mod tls;

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::checking_server::{API_KEY, CheckingServer, Faults};
use super::kept_segments::{check_replaced, end_of, follow, is_empty};
use super::segments::segment;
use super::{MAIL, records};
use crate::scene::{Ended, Folder, assert_contains, ended, lines, urlspool, wait_until};

/// Builds `urlspool load` into an index of the server.
fn load_command(server: &CheckingServer, args: &[&str]) -> Command {
    let mut command = urlspool(["load", "-v", "--into"]);
    command
        .arg(server.target("mail"))
        .args(args)
        .env("URLSPOOL_ELASTICSEARCH_API_KEY", API_KEY);
    command
}

fn load(server: &CheckingServer, args: &[&str], input: &[u8]) -> Ended {
    ended(&mut load_command(server, args), input)
}

#[track_caller]
fn loaded(server: &CheckingServer, args: &[&str], input: &[u8]) -> String {
    let ended = load(server, args, input);
    assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
    ended.stderr
}

/// Returns the number of documents in the index.
fn count(server: &CheckingServer) -> usize {
    server.state().documents.of("mail").len()
}

/// Returns the identifiers and paths of the documents, in order.
fn stored(server: &CheckingServer) -> Vec<(String, String)> {
    let state = server.state();
    let documents = state.documents.of("mail");
    let mut stored: Vec<_> = documents.values().map(|record| name(record)).collect();
    stored.sort();
    stored
}

/// Returns the identifier and the file of a record.
fn name(record: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&record["id"]), text(&record["source"]["path"]))
}

#[test]
fn a_scan_creates_the_documents_of_its_records() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let mail = folder.file("a.mbox", MAIL);
    let scan = |args: &[&str]| {
        let mut command = urlspool(["scan", "--into"]);
        command
            .arg(server.target("mail"))
            .args(args)
            .arg(&mail)
            .env("URLSPOOL_ELASTICSEARCH_API_KEY", API_KEY);
        ended(&mut command, b"")
    };
    let scanned = scan(&["--context", "10"]);
    assert_eq!(scanned.status, Some(0), "{}", scanned.stderr);
    let mut records = ended(&mut urlspool(["scan", "--context", "10", &mail]), b"").records();
    let mut documents: Vec<Value> = {
        let state = server.state();
        state
            .documents
            .of("mail")
            .values()
            .map(|document| Value::clone(document))
            .collect()
    };
    for found in [&mut records, &mut documents] {
        found.sort_by_key(name);
    }
    for document in &mut documents {
        let clean_key = document.as_object_mut().unwrap().remove("clean_key");
        assert_eq!(clean_key.as_ref(), document.get("key"));
        let cited = document.as_object_mut().unwrap().remove("cited");
        assert_eq!(cited.as_ref(), document["message"].get("date"));
        let sort_key = document
            .as_object_mut()
            .unwrap()
            .remove("sort_key")
            .unwrap();
        let start = document["source"]["start"].as_u64().unwrap();
        let beginning = format!("\0{start:016x}");
        assert!(
            sort_key.as_str().unwrap().starts_with(&beginning),
            "{sort_key}"
        );
        let words = document.as_object_mut().unwrap().remove("words").unwrap();
        let sender = document["message"]["from"].as_str().unwrap();
        let sender = if sender.contains("jane") {
            "jane jane m example"
        } else {
            "john john m example"
        };
        assert!(
            words.as_array().unwrap().contains(&json!(sender)),
            "{words}"
        );
    }
    assert_eq!(documents, records);
    for option in ["--replace", "--dry-run"] {
        let refused = scan(&[option]);
        refused.check(2, "transactions");
    }
    server.check();
}

#[test]
fn records_are_created_once_however_often() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let input = records(&folder, "a.mbox", MAIL);
    assert!(loaded(&server, &[], &input).contains("4 records, 4 of them new"));
    assert!(loaded(&server, &[], &input).contains("4 records, 0 of them new"));
    let mut expected: Vec<_> = lines(&input).iter().map(name).collect();
    expected.sort();
    assert_eq!(stored(&server), expected);
    server.check();
}

#[test]
fn busy_servers_and_cut_connections_are_asked_again() {
    for seed in 0..4 {
        let (folder, server) = (Folder::new(), CheckingServer::start(seed));
        server.state().faults = Faults {
            refused_requests: 15,
            refused_documents: 40,
            cut_connections: 15,
        };
        let mail: String = (0..20)
            .map(|number| MAIL.replace("lamp", &format!("lamp{number}")))
            .collect();
        let input = records(&folder, "a.mbox", &mail);
        segment(&folder, 1, &input);
        let out = folder.path("out").display().to_string();
        loaded(&server, &["--delete-segments", &out], b"");
        let mut expected: Vec<_> = lines(&input).iter().map(name).collect();
        expected.sort();
        expected.dedup();
        assert_eq!(stored(&server), expected, "seed {seed}");
        assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);
        server.check();
    }
}

#[test]
fn a_request_that_is_too_large_is_divided() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let mail = MAIL.replace(
        "http://m.example/lamp\n",
        &format!("http://m.example/{}\n", "x".repeat(9_000)),
    );
    let input = records(&folder, "a.mbox", &mail);
    server.state().documents.max_bytes = 8_000;
    let ended = load(&server, &[], &input);
    ended.check(
        1,
        "standard input, line 4: the server refused the record: it is longer than the \
        server accepts",
    );
    assert_eq!(count(&server), 3);
    server.check();
}

#[test]
fn a_document_that_is_refused_is_named_and_the_others_are_loaded() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let input = records(
        &folder,
        "a.mbox",
        &MAIL.replace("ftp://f.", "ftp://refused."),
    );
    let path = folder.file("a.jsonl", &input);
    let ended = load(&server, &[&path], b"");
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    for text in [
        "a.jsonl, line 3: the server refused the record: document_parsing_exception: a reason",
        "4 records, 3 of them new, 1 record refused by the server",
    ] {
        assert!(ended.stderr.contains(text), "{}", ended.stderr);
    }
    assert_eq!(count(&server), 3);
    server.check();
}

#[test]
fn a_segment_is_loaded_once_and_another_hash_is_an_error() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
    let out = folder.path("out").display().to_string();
    assert!(loaded(&server, &[&out], b"").contains("1 segment loaded"));
    let summary = loaded(&server, &[&out, &out], b"");
    assert_contains(&summary, "0 records, 0 of them new, 2 segments known");
    segment(&folder, 1, b"");
    let ended = load(&server, &[&out, "--delete-segments"], b"");
    assert_eq!(ended.status, Some(78), "{}", ended.stderr);
    assert!(folder.path("out/0000000001.jsonl").exists());
    server.check();
}

#[test]
fn a_missing_server_and_a_wrong_key_have_their_exit_codes() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let input = records(&folder, "a.mbox", MAIL);
    let ended_with = ended(
        load_command(&server, &[]).env("URLSPOOL_ELASTICSEARCH_API_KEY", "other"),
        &input,
    );
    ended_with.check(2, "URLSPOOL_ELASTICSEARCH_API_KEY");
    assert!(
        !ended_with.stderr.contains("other;"),
        "{}",
        ended_with.stderr
    );
    server.state().is_away = true;
    let away = load(&server, &[], &input);
    assert_eq!(away.status, Some(69), "{}", away.stderr);
}

#[test]
fn an_index_of_another_program_is_refused() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    server
        .state()
        .documents
        .store("mail", "1", json!({"text": "a note"}));
    let ended = load(&server, &[], &records(&folder, "a.mbox", MAIL));
    ended.check(2, "not created by `urlspool load`");
    assert_eq!(count(&server), 1);
}

#[test]
fn following_pauses_while_the_server_is_unreachable() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let input = records(&folder, "a.mbox", MAIL);
    segment(&folder, 1, &input);
    server.state().is_away = true;
    let out = folder.path("out").display().to_string();
    let mut following = load_command(&server, &["--follow", "--delete-segments", &out])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    server.state().is_away = false;
    let out = folder.path("out");
    wait_until("the segment is loaded", || is_empty(&out));
    following.kill().unwrap();
    following.wait().unwrap();
    assert_eq!(count(&server), 4);
    server.check();
}

#[test]
fn an_index_that_is_deleted_or_replaced_keeps_the_segments() {
    for (name, is_replaced) in [("mail", false), ("mail", true), ("mail-segments", false)] {
        let (folder, server) = (Folder::new(), CheckingServer::start(1));
        segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
        let mut command = urlspool(["load", "--into", &server.target("mail")]);
        command.env("URLSPOOL_ELASTICSEARCH_API_KEY", API_KEY);
        let child = follow(command, &folder);
        let out = folder.path("out");
        wait_until("segment 1 is removed", || is_empty(&out));
        let mut state = server.state();
        state.documents.indexes.remove(name);
        if is_replaced {
            state.documents.index(name);
        }
        drop(state);
        let path = segment(&folder, 2, &records(&folder, "b.mbox", MAIL));
        check_replaced(&end_of(child));
        assert!(fs::exists(path).unwrap());
        assert_eq!(count(&server), if name == "mail" { 0 } else { 4 });
        server.check();
    }
}

#[test]
fn a_segment_is_loaded_again_after_its_index_was_deleted() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
    let out = folder.path("out").display().to_string();
    loaded(&server, &[&out], b"");
    server.state().documents.indexes.remove("mail");
    let summary = loaded(&server, &[&out, "--delete-segments"], b"");
    assert!(summary.contains("4 records, 4 of them new"), "{summary}");
    assert_eq!(count(&server), 4);
    segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
    let summary = loaded(&server, &[&out], b"");
    assert!(summary.contains("1 segment known before"), "{summary}");
    server.check();
}

#[test]
fn a_server_that_never_answers_is_abandoned() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let target = format!("elasticsearch+http://{address}/mail?connect_timeout=1");
    let input = records(&folder, "a.mbox", MAIL);
    let begun = Instant::now();
    let ended = ended(&mut urlspool(["load", "--into", &target]), &input);
    assert_eq!(ended.status, Some(69), "{}", ended.stderr);
    assert!(begun.elapsed() < Duration::from_secs(40));
    for attempt in 1..=5 {
        let text = format!("attempt {attempt} failed, trying again in ");
        assert!(ended.stderr.contains(&text), "{}", ended.stderr);
    }
    assert!(ended.stderr.contains("at most 6 times"), "{}", ended.stderr);
    assert!(
        !ended.stderr.contains("attempt 6 failed"),
        "{}",
        ended.stderr
    );
}
