//! Input beyond a limit is still searched, and reaching a limit is an event.

use std::collections::BTreeSet;
use std::path::PathBuf;

use urlspool::{Extractor, Options};
use urlspool_files::pipeline::{Job, run};
use urlspool_record::extract::Unique;
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::{Limits, RECORD_BUFFER_BYTES};

use super::run_over;
use crate::scene::{Folder, RunOutput, lines};

/// Returns a text of `count` URLs with `between` after each, and the URLs.
fn hosts(count: usize, between: &str) -> (String, Vec<String>) {
    let urls: Vec<_> = (0..count)
        .map(|n| format!("http://h{n}.example/"))
        .collect();
    (urls.join(between) + between, urls)
}

#[test]
fn a_message_beyond_the_limit_is_read_to_its_end() {
    let (head, mut want) = hosts(3, "\n");
    let filler = "words and words and words\n".repeat(60_000);
    let mut body = head;
    for n in 3..6 {
        want.push(format!("http://h{n}.example/"));
        body.extend([&filler, &format!("<URL:http://h{n}.\n  example/>\n")].map(String::as_str));
    }
    want.push("http://next.example/".to_owned());
    let message = format!(
        "From a\nSubject: x\n\n{body}\nFrom b Mon Jan  1 10:00:00 1996\nSubject: y\n\n\
         http://next.example/\n"
    );
    assert!(message.len() > 4 << 20);
    let folder = Folder::new();
    let limits = Limits {
        message_bytes: 1 << 20,
        ..Limits::default()
    };
    for threads in [1, 4] {
        let output = run_over(vec![folder.write("box", &message)], None, threads, limits);
        assert_eq!(output.urls(), want);
        assert_eq!(output.kinds(), [DiagnosticKind::Limit]);
    }
}

#[test]
fn a_word_that_is_full_of_starts_is_read_to_its_end() {
    for unit in ["news:a.b/", "www.a.b!", "xx://a.b/%", "mailto:a@b,"] {
        let word = unit.repeat(12_000 / unit.len());
        let body = format!("{word},http://h0.example/ http://h1.example/");
        let folder = Folder::new();
        let output = run_over(
            vec![folder.write("text", &body)],
            None,
            1,
            Limits::default(),
        );
        assert_eq!(output.kinds(), [DiagnosticKind::Limit], "{unit}");
        let urls = output.urls();
        assert!(
            urls.ends_with(&["http://h0.example/".into(), "http://h1.example/".into()]),
            "{unit}"
        );
    }
}

/// Checks that the records of a message read in fragments describe the whole message: its start,
/// its header, and line numbers in it.
#[track_caller]
fn check_fragments(name: &str, text: &str, subject: Option<&str>) {
    let folder = Folder::new();
    let limits = Limits {
        message_bytes: 1 << 20,
        ..Limits::default()
    };
    let output = run_over(vec![folder.write(name, text)], None, 2, limits);
    let records = lines(&output.records);
    let mut ids = BTreeSet::new();
    let mut starts = Vec::new();
    for record in &records {
        let start = record["source"]["start"].as_u64().unwrap() as usize;
        let begin = record["message"]["start"].as_u64().unwrap() as usize;
        let line = text[begin..start].matches('\n').count() + 1;
        assert_eq!(record["source"]["line"], line, "{record}");
        assert_eq!(record["message"]["subject"].as_str(), subject, "{record}");
        assert!(
            ids.insert(record["id"].to_string()),
            "an id twice: {record}"
        );
        starts.push(begin);
    }
    assert!(
        records.len() == 40 && starts == [0; 40],
        "{name}: {} records",
        records.len()
    );
    assert_eq!(output.summary.messages, 1);
}

#[test]
fn records_of_fragments_describe_the_whole_message() {
    let piece = format!(
        "{}http://again.example/\n",
        "words and words and words\n".repeat(4_000)
    );
    let body = piece.repeat(40);
    check_fragments("text", &body, None);
    check_fragments(
        "box",
        &format!("From a\nFrom: a\nSubject: x\n\n{body}"),
        Some("x"),
    );
    check_fragments(
        "one.eml",
        &format!("From: a\nTo: b\nSubject: x\n\n{body}"),
        Some("x"),
    );
}

/// Runs over `path` with each URL written once per message.
fn unique_in_messages(path: PathBuf, threads: usize) -> RunOutput {
    let job = Job {
        roots: vec![path],
        threads,
        ..Job::default()
    };
    let mut output = RunOutput::default();
    let mut options = Options::default();
    options.unique = Unique::Message;
    let summary = run(&job, &Extractor::new(options), &mut output).expect("a Vec takes all");
    assert_eq!(summary.imbalances(), [""; 0]);
    output
}

/// More records than a batch holds. No record is lost, whether many messages or one contain them.
#[test]
fn unique_within_messages_loses_no_record_of_many() {
    let folder = Folder::new();
    let footer = "http://list.example/unsubscribe\n";
    let message = |number: usize| {
        let (urls, _) = hosts(12, &format!("{number}\n"));
        format!("From a\nMessage-ID: <{number}@x>\nSubject: x\n\n{footer}{urls}{footer}\n")
    };
    let many: String = (0..700).map(message).collect();
    let (urls, all) = hosts(6_000, "\n");
    let large = format!(
        "From a\nSubject: x\n\n{urls}{urls}\nFrom b\nSubject: y\n\nhttp://lonely.example/\n"
    );
    let [many, large] = [("many", many), ("large", large)].map(|(name, text)| {
        let path = folder.write(name, text);
        let output = unique_in_messages(path.clone(), 4);
        let in_one_thread = unique_in_messages(path, 1);
        assert!(output.records == in_one_thread.records, "{name}");
        output
    });
    let records = lines(&many.records);
    assert_eq!(records.len(), 700 * 13);
    assert_eq!(
        records.iter().filter(|record| record["count"] == 2).count(),
        700
    );
    assert!(many.records.len() > 2 * RECORD_BUFFER_BYTES);
    let (urls, mut want) = (large.urls(), all);
    want.push("http://lonely.example/".to_owned());
    assert!(urls == want, "{} records", urls.len());
    assert!(large.records.len() > RECORD_BUFFER_BYTES);
}
