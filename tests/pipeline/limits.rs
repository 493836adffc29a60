//! Input beyond a limit is still searched, and reaching a limit is an event.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use urlspool::internals::diagnostic::DiagnosticKind;
use urlspool::internals::extract::Unique;
use urlspool::internals::limits::{BLOCK_BYTES, Limits, RECORD_BUFFER_BYTES};
use urlspool::internals::origin;
use urlspool::internals::pipeline::{Job, run};
use urlspool::internals::split::Format;
use urlspool::{Extractor, Options};

use super::{check_unless_gap, run_over};
use crate::scene::{Folder, RunOutput, lines, url};

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
        "From a\nSubject: x\n\n{body}\nFrom b Mon Jan  1 10:00:00 1996\nSubject: y\n\nhttp://next.example/\n"
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
    for unit in ["news:a.b/", "www.a.b!", "x://a.b/%", "mailto:a@b,"] {
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

/// Checks that records of a message that is read in fragments describe the whole message: its start, their line in it, its
/// header.
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

/// More records than a batch holds: none is lost, whether they come from many messages or from one.
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

/// An article in two groups that is read in fragments is written once.
#[test]
fn a_large_cross_posted_article_is_written_once() {
    let words = "\n".to_owned() + &"words and words\n".repeat(60);
    let (urls, all) = hosts(4_000, &words);
    assert!(urls.len() > BLOCK_BYTES);
    let article =
        format!("Path: a!b\nNewsgroups: a.b,c.d\nFrom: a\nSubject: x\nMessage-ID: <1@x>\n\n{urls}");
    let folder = Folder::new();
    folder.write("spool/a/b/1", &article);
    folder.write("spool/c/d/5", &article);
    let limits = Limits {
        message_bytes: 1 << 20,
        ..Limits::default()
    };
    let output = run_over(
        vec![folder.path("spool")],
        Some(Format::Single(origin::SourceKind::News)),
        2,
        limits,
    );
    assert!(output.urls() == all, "{} records", output.urls().len());
}

/// No limit hides a URL, and reaching one is an event.
#[test]
fn reaching_a_limit_is_an_event_and_hides_nothing() {
    let folder = Folder::new();
    let all = Limits::default();
    let forwarded =
        "Content-Type: message/rfc822\n\n".repeat(5) + "Subject: x\n\nhttp://deep.example/\n";
    let part = |n: usize| format!("--b\n\nhttp://p{n}.example/\n");
    let encoded = "--b\nContent-Transfer-Encoding: base64\n\naHR0cDovL2VuY29kZWQuZXhhbXBsZS8=\n";
    let parts = |inside: &str| {
        let (before, after) = (
            (0..3).map(part).collect::<String>(),
            (3..9).map(part).collect::<String>(),
        );
        format!("Content-Type: multipart/mixed; boundary=b\n\n{before}{inside}{after}--b--\n")
    };
    let header = format!(
        "Subject: x\n{}\nhttp://body.example/\n",
        "X-Long: http://x.example/ and words\n".repeat(99)
    );
    let (urls, _) = hosts(9, "\n");
    for (name, text, limits, found) in [
        (
            "mime_depth of parts",
            nested(5),
            Limits {
                mime_depth: 2,
                ..all
            },
            1,
        ),
        (
            "mime_depth of messages",
            forwarded,
            Limits {
                mime_depth: 2,
                ..all
            },
            1,
        ),
        (
            "mime_parts",
            parts(""),
            Limits {
                mime_parts: 3,
                ..all
            },
            9,
        ),
        (
            "mime_parts before an encoded one",
            parts(encoded),
            Limits {
                mime_parts: 4,
                ..all
            },
            10,
        ),
        (
            "header_bytes",
            header,
            Limits {
                header_bytes: 400,
                ..all
            },
            100,
        ),
        (
            "message_urls",
            format!("Subject: x\n\n{urls}"),
            Limits {
                message_urls: 5,
                ..all
            },
            9,
        ),
    ] {
        let path = || vec![folder.write(name, &text)];
        let (unlimited, limited) = (
            run_over(path(), None, 1, all),
            run_over(path(), None, 1, limits),
        );
        assert_eq!(
            (unlimited.urls().len(), unlimited.kinds()),
            (found, vec![]),
            "{name}"
        );
        let is_reported = limited.kinds() == [DiagnosticKind::Limit];
        // Text that is not decoded stays encoded.
        let readable = |output: &RunOutput| {
            output
                .urls()
                .into_iter()
                .filter(|url| !url.contains("encoded"))
                .collect::<BTreeSet<_>>()
        };
        let hides = readable(&unlimited).difference(&readable(&limited)).count();
        check_unless_gap(
            name,
            is_reported && hides == 0,
            &format!("{hides} hidden, {:?}", limited.events),
        );
    }
}

/// Returns nested multiparts with a URL in the innermost.
fn nested(levels: usize) -> String {
    (0..levels).fold("\n\nhttp://deep.example/\n".to_owned(), |inner, n| {
        format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n{inner}\n--b{n}--\n")
    })
}

#[test]
fn as_many_levels_are_read_as_the_limit_says() {
    let folder = Folder::new();
    let limits = Limits {
        mime_depth: 6,
        ..Limits::default()
    };
    let kinds =
        |levels| run_over(vec![folder.write("mail", nested(levels))], None, 1, limits).kinds();
    assert_eq!((kinds(3), kinds(7)), (vec![], vec![DiagnosticKind::Limit]));
    check_unless_gap(
        "levels of parts",
        kinds(6).is_empty(),
        "the limit is 6, and 6 levels reach it",
    );
}

#[test]
fn a_url_beyond_the_limit_keeps_its_beginning_and_its_length() {
    let folder = Folder::new();
    let path = folder.write(
        "text",
        format!(
            "see http://l.example/{} and http://n.example/",
            "x".repeat(500)
        ),
    );
    let limits = Limits {
        url_bytes: 100,
        ..Limits::default()
    };
    let found = lines(&run_over(vec![path], None, 1, limits).records);
    assert_eq!(
        (
            found[0]["url"].as_str().unwrap().len(),
            &found[0]["truncated"]
        ),
        (100, &Value::Bool(true))
    );
    assert_eq!(
        (&found[0]["full_length"], url(&found[1])),
        (&Value::from(517), "http://n.example/".to_owned())
    );
}

/// More articles than a batch holds, each in a file, and every third one twice: each is written once, in its order.
#[test]
fn articles_with_many_records_are_each_written_once() {
    let folder = Folder::new();
    let mut want = Vec::new();
    for number in 0..20 {
        let (urls, hosts) = hosts(400, &format!("{number}/x\n"));
        let article =
            format!("Path: a!b\nNewsgroups: x.y\nMessage-ID: <{number}@x>\nSubject: s\n\n{urls}");
        for copy in 0..=usize::from(number % 3 == 0) {
            folder.write(format!("spool/{}", 100 + 2 * number + copy), &article);
        }
        want.extend(hosts.iter().map(|url| format!("{url}{number}/x")));
    }
    for unique in [Unique::None, Unique::Run] {
        let outputs = [1, 4].map(|threads| {
            let job = Job {
                roots: vec![folder.path("spool")],
                threads,
                ..Job::default()
            };
            let mut options = Options::default();
            options.unique = unique;
            let mut output = RunOutput::default();
            let summary =
                run(&job, &Extractor::new(options), &mut output).expect("a Vec takes all");
            assert_eq!(summary.imbalances(), [""; 0]);
            assert_eq!(summary.messages_skipped["cross-post"], 7);
            assert!(output.records.len() > 8 << 20, "{}", output.records.len());
            output
        });
        let urls = outputs[0].urls();
        assert!(urls == want, "{} of {}", urls.len(), want.len());
        assert!(outputs[0].records == outputs[1].records);
    }
}
