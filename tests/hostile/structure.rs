//! Hostile structure: nested and countless parts, floods of header fields, boundaries.

use std::collections::BTreeSet;

use urlspool_text::limits::Limits;

use super::{MIXED, check, message};
use crate::scene::scan;

// Row 61: nesting.

// Row 62: many parts.

// Row 63: many header fields.

// Row 64: long header fields.

#[test]
fn row_64_a_field_beyond_the_limit_is_searched_to_its_end() {
    let limit = Limits::default().header_bytes;
    for (name, filler) in [
        ("one line", "word ".repeat(limit / 4)),
        ("folded", "word\n ".repeat(limit / 4)),
    ] {
        let mail = message(
            &format!("X-Long: http://start.example/ {filler} http://end.example/\n"),
            "http://body.example/\n",
        );
        let scan = scan(mail, &["--kind", "message"]);
        assert_eq!(
            scan.urls(),
            BTreeSet::from([
                "http://start.example/",
                "http://end.example/",
                "http://body.example/"
            ]),
            "{name}"
        );
        assert_eq!(scan.events, ["limit"], "{name}");
        let shown = scan
            .records
            .iter()
            .map(|record| record.to_string().len())
            .max()
            .unwrap();
        assert!(shown < 64 << 10, "{name}: a record of {shown} bytes");
    }
}

// Row 65: where the header ends.

#[test]
fn row_65_a_header_without_an_end_or_a_start_is_read() {
    check(
        "no end",
        "From: a@b.example\nX-A: http://a.example/\nX-B: http://b.example/",
        &["http://a.example/", "http://b.example/"],
    );
    check(
        "blank lines",
        format!(
            "{}From: a@b.example\n\nhttp://a.example/\n",
            "\n".repeat(1_000_000)
        ),
        &["http://a.example/"],
    );
    check(
        "no header",
        "see http://a.example/\n\nhttp://b.example/\n",
        &["http://a.example/", "http://b.example/"],
    );
    check("only blank lines", "\n".repeat(1_000_000), &[]);
    check(
        "no field after the first",
        format!(
            "From: a@b.example\n{}http://a.example/\n",
            "x\n".repeat(500_000)
        ),
        &["http://a.example/"],
    );
}

// Row 66: boundaries.

#[test]
fn row_66_urls_of_every_reading_of_a_boundary_are_found() {
    let one = "http://one.example/";
    let two = "http://two.example/";
    let long = "b".repeat(2_000);
    let base64 = "Content-Transfer-Encoding: base64\n\naHR0cDovL3R3by5leGFtcGxlLw==\n";
    for (name, header, body) in [
        ("two parameters", "Content-Type: multipart/mixed; boundary=a; boundary=b\n".to_owned(), format!("--a\n\n{one}\n--b\n{base64}--b--\n--a--\n")),
        ("two fields", "Content-Type: multipart/mixed; boundary=a\nContent-Type: multipart/mixed; boundary=b\n".to_owned(), format!("--a\n\n{one}\n--b\n{base64}--b--\n")),
        ("a prefix of another", "Content-Type: multipart/mixed; boundary=bb\n".to_owned(), format!("--bb\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n{one}\n--b--\n--bb\n{base64}--bb--\n")),
        ("2,000 bytes", format!("Content-Type: multipart/mixed; boundary=\"{long}\"\n"), format!("--{long}\n\n{one}\n--{long}\n{base64}--{long}--\n")),
        ("not closed", MIXED.to_owned(), format!("--b\n\n{one}\n--b\n{base64}")),
        ("before and after the parts", MIXED.to_owned(), format!("{one}\n--b\n\nx\n--b--\n{two}\n")),
        ("quoted", "Content-Type: multipart/mixed; boundary=\"a\\\"b\"\n".to_owned(), format!("--a\"b\n\n{one}\n--a\"b\n{base64}--a\"b--\n")),
        ("blanks after it", MIXED.to_owned(), format!("--b \t\n\n{one}\n--b  \n{base64}--b-- \n")),
        ("never used", MIXED.to_owned(), format!("{one}\n\n{two}\n")),
        ("empty", "Content-Type: multipart/mixed; boundary=\"\"\n".to_owned(), format!("{one}\n{two}\n")),
    ] {
        check(name, message(&header, &body), &[one, two]);
    }
}
