//! Hostile encodings: damaged transfer encodings, encoded words, charsets, line ends.

use serde_json::Value;
use urlspool_text::limits::{COARSE_RUN_BYTES, MAP_BYTES, TEXT_BYTES};

use super::{check, message};
use crate::scene::{Folder, assert_contains, ended, scan, urlspool};

#[test]
fn row_67_damaged_transfer_encodings_are_read_as_mail_readers_do() {
    let digits = "c2VlIGh0dHA6Ly9hLmV4YW1wbGUvYiBub3c=";
    let a = "http://a.example/b";
    for row in [
        "junk between digits | base64 | c2VlIGh0dH!A6Ly9h\n*LmV4YW1w bGUvYiBub3c=\n",
        "no padding | base64 | c2VlIGh0dHA6Ly9hLmV4YW1wbGUvYiBub3c",
        "too much padding | base64 | DIGITS===\n",
        "padding over lines | base64 | c2VlIGh0dHA6Ly9hLmV4YW1wbGUvYiBub3cgIA=\n=\n",
        "text after the digits | base64 | DIGITS\n\n-- \nlist footer\n",
        "a comment after its name | base64 (why not) | DIGITS",
        "upper case | BASE64 | DIGITS",
        "a soft break inside | quoted-printable | see http://a.exam=\nple/b now",
        "a soft break with blanks | quoted-printable | see http://a.exam= \t\nple/b now",
        "escapes that are none | quoted-printable | =ZZ see http://a.example/b =4",
        "a soft break at the end | quoted-printable | http://a.example/b=",
        "an unknown encoding | x-unknown | http://a.example/b",
        "uuencode without an end | 7bit | http://a.example/b\n\nbegin 644 x\n#0V%T\n",
        "yEnc without an end | 7bit | \
         http://a.example/b\n\n=ybegin line=128 size=9 name=x\nabc\n",
    ] {
        let [name, encoding, body] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let header = format!("Content-Transfer-Encoding: {encoding}\n");
        check(
            name,
            message(&header, &body.replace("DIGITS", digits)),
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

#[test]
fn row_71_any_bytes_in_any_charset_yield_valid_records() {
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
    let charsets = "utf-8,us-ascii,utf-16,utf-16be,utf-32,utf-7,iso-2022-jp,iso-2022-kr,\
        iso-2022-cn,hz-gb-2312,gb18030,big5,euc-jp,euc-kr,shift_jis,x-user-defined,replacement,\
        no-such-charset,\u{fffd},,=?x?=";
    let folder = Folder::new();
    for (at, charset) in charsets.split(',').enumerate() {
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

#[test]
fn row_72_line_ends_of_all_kinds_divide_lines() {
    let mail = "From a@b.example Mon Jan  1 10:00:00 1996\nSubject: http://s.example/\n\
        To: c@d.example\n\nhttp://a.example/\n<URL:http://b.\n  example/>\n\n";
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

/// A URL at the end of a piece is whole, even in text without spaces and line ends.
#[test]
fn no_url_is_cut_at_the_end_of_a_piece() {
    let url = "http://evil.example/path";
    for before in [3, 6, 12] {
        let text = format!("{}{url} now", "~".repeat(TEXT_BYTES - before));
        let raw = message("Content-Type: text/plain; charset=iso-8859-1\n", &text);
        let latin = |byte| if byte == b'~' { 0xE9 } else { byte };
        let raw: Vec<u8> = raw.bytes().map(latin).collect();
        let found = scan(&raw, &["--kind", "message"]);
        assert_eq!(found.urls(), [url].into(), "{before}");
    }
}

#[test]
fn ranges_beyond_the_limit_of_a_map_enclose_their_urls() {
    let url = "http://a.example/=3Db";
    let escapes = "=3D".repeat(MAP_BYTES / 2 + 100);
    let text = format!("{url} {escapes}\n{url} {escapes}\n see {url} now\n");
    let raw = message("Content-Transfer-Encoding: quoted-printable\n", &text);
    let found = scan(&raw, &["--kind", "message"]);
    let exact: Vec<_> = found
        .records
        .iter()
        .map(|record| &record["source"]["exact"])
        .collect();
    assert_eq!(exact, [true, false, false]);
    for record in &found.records {
        assert_eq!(record["url"], "http://a.example/=b");
        let raw = raw_bytes(record, raw.as_bytes());
        assert!(raw.windows(url.len()).any(|part| part == url.as_bytes()));
        assert!(raw.len() < 4 * COARSE_RUN_BYTES);
    }
    assert_eq!(found.events, ["limit"]);
    assert_contains(&found.messages[0], "inexact");
}

/// Returns the bytes of the source that a record refers to.
fn raw_bytes<'s>(record: &Value, source: &'s [u8]) -> &'s [u8] {
    let offset = |name: &str| record["source"][name].as_u64().unwrap() as usize;
    &source[offset("start")..offset("end")]
}
