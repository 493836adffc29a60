//! Hostile messages: each is read to its end, its planted URLs are found, and what it exceeds is one event.
//!
//! The generators here give messages of bounded size, so that each test takes a second at most in an unoptimised build. That the
//! work grows in proportion to the input is measured by `tests/tools/linear.py`, which counts instructions.

use std::thread;

use urlspool::Message;

/// Stack of a thread that reads messages: that of the program's own threads is eight times as large.
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

/// Returns a message with this media type and body.
fn message(content_type: &str, body: &str) -> String {
    format!(
        "From: a@b.example\nSubject: s\nMIME-Version: 1.0\nContent-Type: {content_type}\n\n{body}"
    )
}

/// The tokeniser of HTML calls itself from attribute to attribute of a tag.
#[test]
fn a_tag_of_many_attributes_takes_little_stack() {
    for attribute in [
        "a=\"b\" ",
        "a='b' ",
        "a=b ",
        "a=\"b\"",
        "a ",
        "a=\"&amp;\" ",
    ] {
        let body = format!(
            "<p {}><a href=\"http://a.example/\">x</a>",
            attribute.repeat(50_000)
        );
        assert_eq!(
            urls(message("text/html", &body)),
            ["http://a.example/"],
            "{attribute}"
        );
    }
}
