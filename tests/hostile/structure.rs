//! Hostile structure: nested and countless parts, floods of header fields, boundaries.

use std::collections::BTreeSet;

use urlspool::internals::limits::Limits;

use super::{MIXED, check, message};
use crate::scene::scan;

// Row 61: nesting.

#[test]
fn row_61_parts_nested_100_000_deep_are_read_flat_beyond_the_limit() {
    const LEVELS: usize = 100_000;
    let planted = "http://deep.example/";
    let multiparts = message("", &format!("{planted}\n"))
        + &"Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(LEVELS);
    check("not nested", multiparts, &[planted]);
    let nested = format!(
        "{}\n{planted}\n",
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(LEVELS)
    );
    let messages = format!(
        "{}Subject: x\n\n{planted}\n",
        "Content-Type: message/rfc822\n\n".repeat(LEVELS)
    );
    // Beyond the nesting limit all parts are siblings, so that many multiparts also reach the limit of parts.
    for (name, mail, events) in [("multipart", &nested, 2), ("message", &messages, 1)] {
        check(name, mail.as_str(), &[planted]);
        let scan = scan(mail, &["--kind", "message"]);
        assert_eq!(scan.urls(), BTreeSet::from([planted]), "{name}");
        assert_eq!(scan.events, vec!["limit"; events], "{name}");
        assert_eq!(scan.status, Some(0), "{name}");
    }
}

/// Quoted-printable leaves a message as it is, so that it can be nested at no cost.
#[test]
fn row_61_messages_in_attachments_are_read_flat_beyond_the_limits() {
    let planted = "http://deep.example/";
    let attached = |encoding: &str, levels: usize| {
        let header = format!(
            "Content-Type: application/octet-stream; name=\"x.eml\"\nContent-Transfer-Encoding: {encoding}\n\n"
        );
        format!("{}Subject: x\n\n{planted}\n", header.repeat(levels))
    };
    let depth = Limits::default().mime_depth;
    for (levels, events) in [(depth / 2, 0), (depth + 50, 1), (100_000, 1)] {
        for encoding in ["7bit", "quoted-printable"] {
            let mail = attached(encoding, levels);
            check(&format!("{levels} {encoding}"), mail.as_str(), &[planted]);
            let scan = scan(&mail, &["--kind", "message"]);
            assert_eq!(
                scan.urls(),
                BTreeSet::from([planted]),
                "{levels} {encoding}"
            );
            assert_eq!(scan.events, vec!["limit"; events], "{levels} {encoding}");
        }
    }
}

/// Layers hold their decoded bytes.
#[test]
fn row_61_attachments_inside_each_other_hold_a_bounded_number_of_bytes() {
    let header = "Content-Type: application/octet-stream; name=\"x.eml\"\nContent-Transfer-Encoding: quoted-printable\n\n";
    let planted = "http://deep.example/";
    let filler = "0123456789\n".repeat(20_000);
    let mail = format!("{}Subject: x\n\n{filler}{planted}\n", header.repeat(50));
    assert_eq!(scan(&mail, &["--kind", "message"]).events, [""; 0]);
    let small = ["--kind", "message", "--limit", "message_bytes=300KiB"];
    let scan = scan(&mail, &small);
    assert_eq!(scan.urls(), BTreeSet::from([planted]));
    assert_eq!(scan.events, ["limit"]);
}

#[test]
fn row_62_messages_of_an_attached_mailbox_are_read_flat_beyond_the_limit() {
    let max = Limits::default().mime_parts;
    let mailbox =
        "From a@b Mon Jan  1 00:00:00 1996\nFrom: a\n\nhttp://each.example/\n\n".repeat(2 * max);
    let mail = message(
        "Content-Type: application/octet-stream; name=\"x.mbox\"\n",
        &mailbox,
    );
    let scan = scan(&mail, &["--kind", "message"]);
    assert_eq!(scan.records.len(), 2 * max);
    assert_eq!(scan.events, ["limit"]);
}

// Row 62: many parts.

#[test]
fn row_62_countless_parts_are_read_flat_beyond_the_limit() {
    let parts = 3 * Limits::default().mime_parts;
    let mail = message(
        MIXED,
        &format!(
            "{}--b\n\nhttp://last.example/\n--b--\n",
            "--b\n\nx\n".repeat(parts)
        ),
    );
    check("parts", mail.as_str(), &["http://last.example/"]);
    assert_eq!(scan(mail, &["--kind", "message"]).events, ["limit"]);
}

// Row 63: many header fields.

#[test]
fn row_63_urls_are_found_after_a_flood_of_fields() {
    let fields = "X-A: b\n".repeat(200_000);
    check(
        "fields",
        message(
            &format!("{fields}X-Url: http://field.example/\n"),
            "http://body.example/\n",
        ),
        &["http://field.example/", "http://body.example/"],
    );
    let addresses = "<a@b.example>,\n ".repeat(100_000);
    check(
        "addresses",
        message(
            &format!("Cc: {addresses}<c@d.example>\n"),
            "http://body.example/\n",
        ),
        &["http://body.example/"],
    );
}

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
