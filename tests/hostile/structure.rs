//! Hostile structure: nested and countless parts, floods of header fields, boundaries.

use std::collections::BTreeSet;

use urlspool_text::limits::Limits;

use super::{check, message};
use crate::scene::scan;

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

#[test]
fn row_66_urls_of_every_reading_of_a_boundary_are_found() {
    let one = "http://one.example/";
    let two = "http://two.example/";
    let long = "b".repeat(2_000);
    let base64 = "Content-Transfer-Encoding: base64\n\naHR0cDovL3R3by5leGFtcGxlLw==\n";
    for row in [
        "two parameters | a; boundary=b | --a\n\nONE\n--b\nBASE64--b--\n--a--\n",
        "two fields | a\nContent-Type: multipart/mixed; boundary=b | \
         --a\n\nONE\n--b\nBASE64--b--\n",
        "a prefix | bb | --bb\nContent-Type: multipart/mixed; boundary=b\n\n\
         --b\n\nONE\n--b--\n--bb\nBASE64--bb--\n",
        "2,000 bytes | \"LONG\" | --LONG\n\nONE\n--LONG\nBASE64--LONG--\n",
        "not closed | b | --b\n\nONE\n--b\nBASE64",
        "before and after the parts | b | ONE\n--b\n\nx\n--b--\nTWO\n",
        "quoted | \"a\\\"b\" | --a\"b\n\nONE\n--a\"b\nBASE64--a\"b--\n",
        "blanks after it | b | --b \t\n\nONE\n--b  \nBASE64--b-- \n",
        "never used | b | ONE\n\nTWO\n",
        "empty | \"\" | ONE\nTWO\n",
    ] {
        let [name, boundary, body] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let header = format!("Content-Type: multipart/mixed; boundary={boundary}\n");
        let filled = |text: &str| text.replace("LONG", &long).replace("BASE64", base64);
        let body = filled(body).replace("ONE", one).replace("TWO", two);
        check(name, message(&filled(&header), &body), &[one, two]);
    }
}
