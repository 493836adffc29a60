//! Hostile messages: each is read to its end, its planted URLs are found, and what exceeds a limit is one event.
//!
//! A section of this file is a row of the project's catalogue of failures. The generators give messages of a few megabytes at most, so
//! that each test takes seconds in an unoptimised build. That the work grows in proportion to the input is measured by
//! `tests/tools/linear.py`, which counts instructions.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::thread;

use serde_json::Value;
use urlspool::Message;
use urlspool::limits::{BLOCK_BYTES, Limits};

use crate::scene::{Folder, ended, scan, urlspool};

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

// Row 67: transfer encodings.

#[test]
fn row_67_damaged_transfer_encodings_are_read_as_mail_readers_do() {
    let digits = "c2VlIGh0dHA6Ly9hLmV4YW1wbGUvYiBub3c=";
    let a = "http://a.example/b";
    for (name, encoding, body) in [
        (
            "junk between digits",
            "base64",
            "c2VlIGh0dH!A6Ly9h\n*LmV4YW1w bGUvYiBub3c=\n".to_owned(),
        ),
        (
            "no padding",
            "base64",
            digits.trim_end_matches('=').to_owned(),
        ),
        ("too much padding", "base64", format!("{digits}===\n")),
        (
            "padding over lines",
            "base64",
            "c2VlIGh0dHA6Ly9hLmV4YW1wbGUvYiBub3cgIA=\n=\n".to_owned(),
        ),
        (
            "text after the digits",
            "base64",
            format!("{digits}\n\n-- \nlist footer\n"),
        ),
        (
            "a comment after its name",
            "base64 (why not)",
            digits.to_owned(),
        ),
        ("upper case", "BASE64", digits.to_owned()),
        (
            "a soft break inside",
            "quoted-printable",
            "see http://a.exam=\nple/b now".to_owned(),
        ),
        (
            "a soft break with blanks",
            "quoted-printable",
            "see http://a.exam= \t\nple/b now".to_owned(),
        ),
        (
            "escapes that are none",
            "quoted-printable",
            "=ZZ see http://a.example/b =4".to_owned(),
        ),
        (
            "a soft break at the end",
            "quoted-printable",
            "http://a.example/b=".to_owned(),
        ),
        (
            "an unknown encoding",
            "x-unknown",
            "http://a.example/b".to_owned(),
        ),
        (
            "uuencode without an end",
            "7bit",
            "http://a.example/b\n\nbegin 644 x\n#0V%T\n".to_owned(),
        ),
        (
            "yEnc without an end",
            "7bit",
            "http://a.example/b\n\n=ybegin line=128 size=9 name=x\nabc\n".to_owned(),
        ),
    ] {
        check(
            name,
            message(&format!("Content-Transfer-Encoding: {encoding}\n"), &body),
            &[a],
        );
    }
    let two = "Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: base64\n";
    check("two encodings", message(two, digits), &[a]);
    check(
        "plain text labelled as base64",
        message("Content-Transfer-Encoding: base64\n", &format!("{a} now")),
        &[a],
    );
}

// Row 68: encoded words and continued parameters.

#[test]
fn row_68_floods_of_encoded_words_and_continuations_are_bounded() {
    let words = "=?utf-8?q?a?= =?utf-8?q?b?=\n ".repeat(50_000);
    check(
        "words",
        message(&format!("Subject: {words}\n"), "http://a.example/\n"),
        &["http://a.example/"],
    );
    let mut continued = "Content-Type: multipart/mixed".to_owned();
    for number in 0..20_000 {
        write!(continued, ";\n boundary*{number}=b").unwrap();
    }
    check(
        "continuations",
        message(&format!("{continued}\n"), "http://a.example/\n"),
        &["http://a.example/"],
    );
    for gap in ["999999999", "99999999999999999999999", "00", "-1", ""] {
        let header = format!("Content-Type: multipart/mixed; boundary*0=b; boundary*{gap}=c\n");
        check(
            gap,
            message(&header, "--b\n\nhttp://a.example/\n--b--\n"),
            &["http://a.example/"],
        );
    }
    check(
        "open words",
        message(
            &format!("Subject: {}\n", "=?utf-8?q?".repeat(100_000)),
            "http://a.example/\n",
        ),
        &["http://a.example/"],
    );
}

// Row 69: parameters, comments, quotes.

#[test]
fn row_69_floods_of_punctuation_in_structured_fields_are_text() {
    for (name, value) in [
        ("semicolons", ";".repeat(500_000)),
        ("comments", "(".repeat(500_000)),
        (
            "closed comments",
            "(".repeat(200_000) + &")".repeat(200_000),
        ),
        ("quotes", "\"".repeat(500_001)),
        ("an open quote", format!("; a=\"{}", "b".repeat(500_000))),
        ("backslashes", format!("; a=\"{}", "\\".repeat(500_000))),
        ("parameters", "; a=b".repeat(100_000)),
    ] {
        for field in [
            "Content-Type: text/plain",
            "Date: Mon",
            "Content-Transfer-Encoding: 7bit",
            "To: a",
        ] {
            check(
                name,
                message(&format!("{field}{value}\n"), "http://a.example/\n"),
                &["http://a.example/"],
            );
        }
    }
}

// Row 70: NUL bytes.

#[test]
fn row_70_nul_bytes_end_nothing_but_words() {
    let mail = "Subject: a\0b http://s.example/\n\0X-A: \0http://a.example/\n\n\0http://b.example/\0 \0\nhttp://c.example/x\0y\n\0";
    let found = urls(mail);
    for url in [
        "http://s.example/",
        "http://a.example/",
        "http://b.example/",
        "http://c.example/x",
    ] {
        assert!(found.iter().any(|found| found == url), "{url}: {found:?}");
    }
    let plain = "From: a@b.example\n\nsee http://a.example/x and http://b.example/y\n";
    let sprinkled = plain
        .replace(" and ", "\0 \0and\0 \0")
        .replace("see", "s\0ee");
    assert_eq!(urls(sprinkled), urls(plain));
}

// Row 71: charsets.

#[test]
fn row_71_any_bytes_under_any_charset_give_valid_records() {
    let bodies: [&[u8]; 10] = [
        b"\xFF\xFEh\0t\0t\0p\0:\0/\0/\0a\0.\0b\0/\0\x00\xD8 \0",
        b"\xC0\xAF\xE0\x80\xAF http://a.example/ \xED\xA0\x80\xED\xB0\x80",
        b"\x1B$B$\" http://a.example/ \x1B$B",
        b"\x1B$)C\x0E0! http://a.example/ \x0E",
        b"~{VPND http://a.example/ ~",
        b"x\xEF\xBB\xBFhttp://a.example/ \xEF\xBB\xBF",
        b"+AGg-ttp://a.example/ +2D0- +////",
        b"\x81\x30\x81\x30 http://a.example/ \x81\x30",
        b"\xA4\xA2 http://a.example/ \x8F\xA2",
        b"\0\0\0h\0\0\0t http://a.example/ \x83",
    ];
    let charsets = [
        "utf-8",
        "us-ascii",
        "utf-16",
        "utf-16be",
        "utf-32",
        "utf-7",
        "iso-2022-jp",
        "iso-2022-kr",
        "iso-2022-cn",
        "hz-gb-2312",
        "gb18030",
        "big5",
        "euc-jp",
        "euc-kr",
        "shift_jis",
        "x-user-defined",
        "replacement",
        "no-such-charset",
        "\u{fffd}",
        "",
        "=?x?=",
    ];
    let folder = Folder::new();
    for (at, charset) in charsets.iter().enumerate() {
        let mut mbox = Vec::new();
        for body in bodies {
            mbox.extend_from_slice(b"From a@b.example Mon Jan  1 10:00:00 1996\n");
            mbox.extend_from_slice(
                message(
                    &format!("Content-Type: text/plain; charset=\"{charset}\"\n"),
                    "",
                )
                .as_bytes(),
            );
            mbox.extend_from_slice(body);
            mbox.extend_from_slice(b"\n\n");
        }
        let ended = ended(
            &mut urlspool(["scan", "-q", &folder.file("box", &mbox)]),
            b"",
        );
        assert_eq!(ended.status, Some(0), "{charset}: {}", ended.stderr);
        // Reading the records checks that they are UTF-8 and JSON.
        let found = ended.records().len();
        assert!(
            found >= 5 || charset.starts_with("utf-16"),
            "{at} {charset}: {found}"
        );
    }
}

// Row 72: line ends.

#[test]
fn row_72_line_ends_of_all_kinds_divide_lines() {
    let mail = "From a@b.example Mon Jan  1 10:00:00 1996\nSubject: http://s.example/\nTo: c@d.example\n\nhttp://a.example/\n<URL:http://b.\n  example/>\n\n";
    let lf = mail.repeat(3);
    let want: Vec<_> = scan(&lf, &[])
        .records
        .iter()
        .map(|record| record["url"].clone())
        .collect();
    assert_eq!(want.len(), 9);
    let crlf = lf.replace('\n', "\r\n");
    let mixed: String = crlf
        .split_inclusive('\n')
        .enumerate()
        .map(|(at, line)| {
            if at % 2 == 0 {
                line.replace('\r', "")
            } else {
                line.to_owned()
            }
        })
        .collect();
    let separators = crlf.replace("1996\r\n", "1996\n");
    let cr = lf.replace('\n', "\r");
    for (name, text) in [
        ("CRLF", &crlf),
        ("mixed", &mixed),
        ("LF after separators", &separators),
        ("CR", &cr),
    ] {
        let found: Vec<_> = scan(text, &[])
            .records
            .iter()
            .map(|record| record["url"].clone())
            .collect();
        assert_eq!(found, want, "{name}");
    }
    check(
        "next line",
        message(
            "",
            "http://a.example/\u{85}http://b.example/\u{2028}http://c.example/",
        ),
        &[
            "http://a.example/",
            "http://b.example/",
            "http://c.example/",
        ],
    );
}

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

// Row 75: HTML.

#[test]
fn row_75_hostile_html_is_tokenised_with_little_stack() {
    let link = "<a href=\"http://a.example/\">x</a>";
    for (name, flood) in [
        ("nested tags", "<div>".repeat(200_000)),
        ("tables", "<table><tr><td><b><i></table>".repeat(20_000)),
        (
            "misnested formatting",
            "<b><p><i></b></p></i>".repeat(20_000),
        ),
        ("end tags", "</a>".repeat(100_000)),
        (
            "a long attribute",
            format!("<p title=\"{}\">", "x".repeat(4 << 20)),
        ),
        ("a long name", format!("<{}>", "x".repeat(1 << 20))),
        ("processing instructions", "<?".repeat(100_000) + ">"),
        (
            "attributes without values",
            format!("<p {}>", "a ".repeat(200_000)),
        ),
        ("slashes", format!("<p {}>", "/".repeat(200_000))),
        ("equals signs", format!("<p {}>", "=".repeat(200_000))),
        ("less-than signs", "<".repeat(200_000)),
        ("CDATA", "<![CDATA[x]]>".repeat(50_000)),
        ("comments", "<!-- x -->".repeat(50_000)),
        (
            "conditional comments",
            "<!--[if mso]>x<![endif]-->".repeat(20_000),
        ),
    ] {
        check(
            name,
            page(&format!("{flood}{link}")),
            &["http://a.example/"],
        );
    }
}

/// The tokeniser calls itself from attribute to attribute of a tag.
#[test]
fn row_75_a_tag_of_many_attributes_takes_little_stack() {
    for attribute in [
        "a=\"b\" ",
        "a='b' ",
        "a=b ",
        "a=\"b\"",
        "a ",
        "a=\"&amp;\" ",
    ] {
        let html = format!(
            "<p {}><a href=\"http://a.example/\">x</a>",
            attribute.repeat(50_000)
        );
        check(attribute, page(&html), &["http://a.example/"]);
    }
}

#[test]
fn row_75_what_is_not_closed_hides_nothing_and_is_one_event() {
    let link = "<a href=\"http://a.example/\">x</a>";
    for (name, html) in [
        ("comment", format!("<!-- {link}")),
        ("comments", format!("{}{link}", "<!-- ".repeat(50_000))),
        ("script", format!("<script>{link}")),
        ("scripts", format!("{}{link}", "<script>".repeat(20_000))),
        ("style", format!("<style>{link}")),
        ("quote", format!("<p title='x>{link}")),
        ("quotes", format!("{}{link}", "<p title='x>".repeat(1_001))),
        ("declaration", format!("<!x {}", link.replace('>', ""))),
    ] {
        let scan = scan(page(&html), &["--kind", "message"]);
        assert_eq!(scan.urls(), BTreeSet::from(["http://a.example/"]), "{name}");
        assert_eq!(scan.events, ["ambiguous"], "{name}");
        assert_eq!(urls(page(&html)).len(), scan.records.len(), "{name}");
    }
}

// Row 76: character references.

#[test]
fn row_76_character_references_are_decoded_once() {
    for (name, value, want) in [
        (
            "decoded once",
            "http://a.example/?b&amp;amp;c".to_owned(),
            "http://a.example/?b&amp;c".to_owned(),
        ),
        (
            "hexadecimal",
            "&#x68;&#X74;tp://a.example/".to_owned(),
            "http://a.example/".to_owned(),
        ),
        (
            "without semicolon",
            "http://a.example/?b&ampc".to_owned(),
            "http://a.example/?b&ampc".to_owned(),
        ),
        (
            "unknown",
            "http://a.example/?b&bogus;c".to_owned(),
            "http://a.example/?b&bogus;c".to_owned(),
        ),
    ] {
        check(name, page(&format!("<a href=\"{value}\">x</a>")), &[&want]);
    }
    let huge = format!(
        "&#x{};&#{};&#xD800;&#xDFFF;&#0;&#x110000;&#;&#x;&",
        "F".repeat(100_000),
        "9".repeat(100_000)
    );
    check(
        "huge and surrogates",
        page(&format!("{huge}<a href=\"http://a.example/\">{huge}</a>")),
        &["http://a.example/"],
    );
    let nested = format!("http://a.example/?{}", "&amp;".repeat(200));
    check(
        "many",
        page(&format!("<a href=\"{nested}\">x</a>")),
        &[&nested.replace("&amp;", "&")],
    );
    check(
        "flood",
        page(&format!(
            "{}<a href=\"http://a.example/\">x</a>",
            "&amp;&#x41;&bogus;".repeat(50_000)
        )),
        &["http://a.example/"],
    );
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
