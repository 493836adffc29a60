//! Reports, each kept as the smallest case that showed it. A case's name is the law that was broken; its comment says
//! what was seen.

use urlspool::grammar::{RejectKind, RejectPart, url};

use crate::scene::{Folder, done, ended, urlspool};

/// The records of a text on standard input: URL and wrapper.
#[track_caller]
fn found(text: &str) -> Vec<(String, String)> {
    let records = ended(
        &mut urlspool(["scan", "--kind", "text", "-"]),
        text.as_bytes(),
    )
    .records();
    let told = |record: &serde_json::Value, key: &str| record[key].as_str().unwrap().to_owned();
    records
        .iter()
        .map(|record| (told(record, "url"), told(record, "wrapper")))
        .collect()
}

/// `%41` was said to be a bad escape, and it is a good one: it stands where none may.
#[test]
fn a_whole_escape_in_a_host_is_out_of_place_not_broken() {
    let refused = url(b"telnet://h%41").unwrap_err();
    assert_eq!(
        (refused.kind, refused.part, refused.offset),
        (RejectKind::Unexpected, RejectPart::Host, 10)
    );
}

/// The dot of a body's first line was not un-stuffed for the digest, as no line end stands before it.
#[test]
fn an_article_in_wire_format_has_the_ids_of_its_plain_copy() {
    let header = "Newsgroups: alt.lamps\nMessage-ID: <w1@w.example>\nFrom: jane@w.example\n\n";
    let plain =
        format!("{header}.profile is at http://w.example/.profile\nand http://w.example/end\n");
    let wire = plain
        .replace("\n.profile", "\n..profile")
        .replace('\n', "\r\n")
        + ".\r\n";
    let folder = Folder::new();
    let ids = |name: &str, text: &str| {
        let records = done(&["scan", &folder.file(name, text)]).records();
        records
            .iter()
            .map(|record| record["id"].clone())
            .collect::<Vec<_>>()
    };
    let ids_of_plain = ids("alt/lamps/1", &plain);
    assert_eq!(ids_of_plain.len(), 2);
    assert_eq!(ids("alt/lamps/2", &wire), ids_of_plain);
}

/// A mailer that breaks quoted lines leaves lines with nothing but deeper quote marks between the pieces.
#[test]
fn lines_of_deeper_quote_marks_inside_a_wrapper_are_passed_over() {
    let text = "> see <URL:http://q.example/lists/of/\n> > >\n> lamps.html> there\n";
    assert_eq!(
        found(text),
        [(
            "http://q.example/lists/of/lamps.html".to_owned(),
            "<URL:>".to_owned()
        )]
    );
}

/// Address books write a blank behind the colon. Inside a wrapper whitespace is nothing.
#[test]
fn a_blank_behind_the_scheme_inside_a_wrapper_is_nothing() {
    assert_eq!(
        found("write to <mailto: a@b.example>\n"),
        [("mailto:a@b.example".to_owned(), "<>".to_owned())]
    );
}
