//! Hostile messages: each is read to its end, its planted URLs are found, and what exceeds a limit is one event.
//!
//! A section of this file is a row of the project's catalogue of failures. The generators give messages of a few megabytes at most, so
//! that each test takes seconds in an unoptimised build. That the work grows in proportion to the input is measured by
//! `tests/tools/linear.py`, which counts instructions.

mod decoding;
mod html;
mod structure;

use std::collections::BTreeSet;
use std::thread;

use serde_json::Value;
use urlspool::Message;
use urlspool::internals::limits::{BLOCK_BYTES, Limits};

use crate::scene::scan;

/// Stack of a thread that reads messages: the program's own threads have eight times as much.
const SMALL_STACK: usize = 256 << 10;

/// Returns the URLs of a message, read on a thread with a small stack.
#[track_caller]
fn urls(message: impl Into<Vec<u8>>) -> Vec<String> {
    let message = message.into();
    let reader = thread::Builder::new()
        .stack_size(SMALL_STACK)
        .spawn(move || {
            let found = Message::parse(&message).urls();
            found.into_iter().map(|url| url.to_string()).collect()
        });
    reader.unwrap().join().unwrap()
}

/// Checks that exactly these URLs are found in a message.
#[track_caller]
fn check(name: &str, message: impl Into<Vec<u8>>, want: &[&str]) {
    let found = urls(message);
    assert!(
        found == want,
        "{name}: {} found, not {want:?}: {:?}",
        found.len(),
        &found[..found.len().min(5)]
    );
}

/// Returns a message with more header lines and this body.
fn message(header: &str, body: &str) -> String {
    format!("From: a@b.example\nSubject: s\nMIME-Version: 1.0\n{header}\n{body}")
}

/// Returns a message with this HTML.
fn page(html: &str) -> String {
    message("Content-Type: text/html\n", html)
}

const MIXED: &str = "Content-Type: multipart/mixed; boundary=b\n";

// Row 73: long lines.

#[test]
fn row_73_urls_are_found_in_a_line_of_many_blocks_and_over_their_edges() {
    let mut text = String::new();
    let mut want = BTreeSet::new();
    let mut number = 0;
    // A URL at the start, in the middle and at the end, and one over each edge of a block, moved by a few bytes.
    for block in 0..4 {
        let edge = block * BLOCK_BYTES;
        for shift in [0, 7, 15] {
            let url = format!("http://e{number}.example/{block}");
            let at = (edge + 60 * shift).saturating_sub(10).max(text.len() + 1);
            text.push_str(&"x ".repeat((at - text.len()) / 2 + 1));
            text.push_str(&url);
            text.push(' ');
            want.insert(url);
            number += 1;
        }
    }
    text.push_str("http://end.example/");
    want.insert("http://end.example/".to_owned());
    for (name, args, source) in [
        ("text", ["--kind", "text"], text.clone()),
        ("message", ["--kind", "message"], message("", &text)),
    ] {
        let scan = scan(source, &args);
        assert_eq!(
            scan.urls(),
            want.iter().map(String::as_str).collect(),
            "{name}"
        );
    }
}

// Row 74: what makes scanners of URLs quadratic.

#[test]
fn row_74_a_url_after_a_flood_of_starts_is_found() {
    const BYTES: usize = 256 << 10;
    for unit in [
        "a@b.com\n",
        "mailto:",
        "http://",
        "www.",
        "((((",
        "http://!",
        "news:",
        "<URL:",
        "URL:",
        "://",
        "> > ",
        "a:",
        "xn--",
        "%41",
        "[[",
        "\\\\",
        "..",
    ] {
        let flood = unit.repeat(BYTES / unit.len());
        let found = urls(message(
            "",
            &format!("{flood}\n\nhttp://planted.example/x\n"),
        ));
        assert_eq!(
            found.last().map(String::as_str),
            Some("http://planted.example/x"),
            "{unit}"
        );
    }
    for head in [
        format!("http://{}a", "*".repeat(70_000)),
        format!("http://{}<", "!".repeat(40_000)),
        format!("http://a.example/{}", "(".repeat(70_000)),
    ] {
        let found = urls(message(
            "",
            &format!("{head}\n\nhttp://planted.example/x\n"),
        ));
        assert_eq!(
            found.last().map(String::as_str),
            Some("http://planted.example/x")
        );
    }
}

// Row 77: dates and addresses.

#[test]
fn row_77_dates_are_read_without_recursion() {
    let deep = "(".repeat(200_000);
    for date in [
        format!("Mon, 1 Jan 1996 10:00:00 +0000 {deep}"),
        format!("{deep} Mon, 1 Jan 1996 10:00:00"),
        "9".repeat(100_000),
        "Mon, ".repeat(50_000),
        "99999999999999999999 Jan 99999999999 99:99:99 +9999999".to_owned(),
        "\u{0}\u{fffd}".repeat(1_000),
    ] {
        check(
            "date",
            format!("Date: {date}\nFrom: a@b.example\n\nhttp://a.example/\n"),
            &["http://a.example/"],
        );
        assert_eq!(
            scan(
                format!("Date: {date}\nFrom: a@b.example\n\nhttp://a.example/\n"),
                &["--kind", "message"]
            )
            .urls(),
            BTreeSet::from(["http://a.example/"])
        );
    }
}

// Row 78: a message that made other programs panic costs no other message.

#[test]
fn row_78_headers_that_made_parsers_panic_are_read() {
    let good =
        "From a@b.example Mon Jan  1 10:00:00 1996\nFrom: a@b.example\n\nhttp://good.example/\n\n";
    for bad in [
        "Received:\n\t",
        "Content-Type:\n",
        "Content-Type: ;\n",
        "Content-Type: multipart/mixed; boundary*=''\n",
        "Date:\n \n",
        "Subject: =?\n",
        "Content-Disposition: a; filename*=%\n",
        ":\n",
        "To: \"\n",
        "Content-Type: text/plain; charset*=utf-8''%ZZ\n",
    ] {
        let mbox = format!(
            "{good}From c@d.example Mon Jan  1 10:00:00 1996\nFrom: c@d.example\n{bad}\n\nhttp://bad.example/\n\n{good}"
        );
        let scan = scan(mbox, &[]);
        assert_eq!(scan.records.len(), 3, "{bad:?}");
        assert!(!scan.events.iter().any(|kind| kind == "panic"), "{bad:?}");
    }
}

// Row 80: long URLs.

#[test]
fn row_80_a_url_of_many_megabytes_is_one_record() {
    let long = format!("http://long.example/{}", "a".repeat(10 << 20));
    let scan = scan(
        message("", &format!("{long}\nhttp://after.example/\n")),
        &["--kind", "message"],
    );
    let records = &scan.records;
    assert_eq!(records.len(), 2);
    assert_eq!(
        (&records[0]["truncated"], &records[0]["full_length"]),
        (&Value::from(true), &Value::from(long.len()))
    );
    assert_eq!(
        records[0]["url"].as_str().unwrap().len(),
        Limits::default().url_bytes
    );
    let data = format!(
        "<img src=\"data:image/png;base64,{}\"><a href=\"http://a.example/\">x</a>",
        "A".repeat(10 << 20)
    );
    check("data", page(&data), &["http://a.example/"]);
}

// Row 81: many URLs.

#[test]
fn row_81_the_urls_of_a_message_have_no_cap_and_one_event() {
    let count = 20_000;
    let body: String = (0..count)
        .map(|number| format!("news:a{number}.b@c.example\n"))
        .collect();
    let scan = scan(
        message("", &body),
        &["--kind", "message", "--limit", "message_urls=1000", "-j4"],
    );
    assert_eq!(scan.records.len(), count);
    assert_eq!(
        (scan.events.as_slice(), scan.status),
        (&["limit".to_owned()][..], Some(0))
    );
}

// Row 82: hosts, ports, logins.

#[test]
fn row_82_odd_authorities_are_kept_as_written() {
    let labels = "xn--a.".repeat(2_000);
    let unicode = "\u{fc}".repeat(5_000);
    for url in [
        "http://xn--/".to_owned(),
        "http://xn--999999999.example/".to_owned(),
        format!("http://{labels}example/"),
        format!("http://{unicode}.example/"),
        "http://a.example:99999/".to_owned(),
        "http://a.example:/".to_owned(),
        "http://[fe80::1%25eth0]/".to_owned(),
        "http://[::ffff:1.2.3.4]/".to_owned(),
        "http://a.example@b.example/".to_owned(),
        "http://a:b:c@d.example/".to_owned(),
        "http://0x7f.1/".to_owned(),
        "http://\u{200d}\u{200d}.example/".to_owned(),
    ] {
        let scan = scan(
            message(
                "Content-Type: text/plain; charset=utf-8\n",
                &format!("<URL:{url}>\nhttp://after.example/\n"),
            ),
            &["--kind", "message"],
        );
        assert!(
            scan.urls().contains("http://after.example/"),
            "{}",
            &url[..url.len().min(60)]
        );
        let is_long = Limits::default().wrapper_bytes < url.len();
        assert_eq!(scan.events, vec!["limit"; usize::from(is_long)]);
    }
}
