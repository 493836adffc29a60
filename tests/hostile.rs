//! Hostile messages: each is read to its end, and exceeding a limit is one event.
//!
//! The number in a test's name is a row of the project's failure catalogue. The generators make
//! messages of at most a few megabytes, so each test takes seconds in an unoptimised build.
//! `tests/tools/linear.py` counts instructions to check that the work is linear.

mod decoding;
mod html;
mod structure;

use std::collections::BTreeSet;
use std::thread;

use urlspool_text::limits::{BLOCK_BYTES, Limits};

use crate::scene::scan;

/// Stack of a thread that reads messages. The program's own threads have eight times as much.
const SMALL_STACK: usize = 256 << 10;

/// Returns the URLs of a message, read on a thread with a small stack.
#[track_caller]
fn urls(message: impl Into<Vec<u8>>) -> Vec<String> {
    let message = message.into();
    let reader = thread::Builder::new()
        .stack_size(SMALL_STACK)
        .spawn(move || {
            let found = urlspool::message_urls(&message);
            found.into_iter().map(|url| url.to_string()).collect()
        });
    reader.unwrap().join().unwrap()
}

/// Checks that a message yields exactly these URLs.
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

/// Returns a message with these additional header lines and this body.
fn message(header: &str, body: &str) -> String {
    format!("From: a@b.example\nSubject: s\nMIME-Version: 1.0\n{header}\n{body}")
}

/// Returns a message with this HTML.
fn page(html: &str) -> String {
    message("Content-Type: text/html\n", html)
}

#[test]
fn row_73_urls_are_found_in_a_line_of_many_blocks_and_over_their_edges() {
    let mut text = String::new();
    let mut want = BTreeSet::new();
    let mut number = 0;
    // A URL at the start, in the middle and at the end, and one across each edge of a block,
    // shifted by a few bytes.
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
        assert!(scan.urls().contains("http://after.example/"), "{url}");
        let is_long = Limits::default().wrapper_bytes < url.len();
        assert_eq!(scan.events, vec!["limit"; usize::from(is_long)]);
    }
}
