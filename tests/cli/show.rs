//! `show` and `parse`: from a record back to its bytes, and from a URL to its parts.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::scene::{Folder, assert_contains, corpus, done, ended, urlspool};

/// Returns the output of `show` for one record.
#[track_caller]
fn shown(record: &Value) -> Vec<u8> {
    let ended = ended(&mut urlspool(["show"]), format!("{record}\n").as_bytes());
    assert_eq!(ended.status, Some(0), "{record}: {}", ended.stderr);
    ended.stdout
}

/// Returns `true` if the file holds the text as it is: not encoded, and extending ASCII.
fn is_plain(record: &Value) -> bool {
    let encoding = record["part"]["encoding"].as_str().unwrap_or("7bit");
    let in_header = record["region"].as_str().unwrap().starts_with("header:");
    // The charset's escape sequences are between characters and belong to none.
    let shifts = record["part"]["charset"]
        .as_str()
        .is_some_and(|name| name.eq_ignore_ascii_case("iso-2022-jp"));
    let is_html = record["part"]["type"]
        .as_str()
        .is_some_and(|name| name == "text/html");
    record["source"]["exact"] == true
        && ["7bit", "8bit", "binary"].contains(&encoding)
        && !in_header
        && !is_html
        && !shifts
        && record["raw"].as_str().unwrap().is_ascii()
}

fn contains_in_order(bytes: &[u8], wanted: &[u8]) -> bool {
    let mut bytes = bytes.iter();
    wanted.iter().all(|want| bytes.any(|byte| byte == want))
}

#[test]
fn the_bytes_of_every_record_of_the_corpus_are_found_again() {
    let records = done(&["scan", "text", "mail", "news"]).records();
    let mut plain = 0;
    for record in &records {
        let source = &record["source"];
        let number = |name: &str| usize::try_from(source[name].as_u64().unwrap()).unwrap();
        let file = fs::read(corpus().join(source["path"].as_str().unwrap())).unwrap();
        let (start, end) = (number("start"), number("end"));
        assert!(start < end && end <= file.len(), "{record}");
        let message =
            |name: &str| usize::try_from(record["message"][name].as_u64().unwrap()).unwrap();
        assert!(
            message("start") <= start && end <= message("end") && message("end") <= file.len(),
            "{record}"
        );
        if is_plain(record) {
            let bytes = &file[start..end];
            // Mail may be flowed, dots of news doubled and strings of JSON escaped, but any other
            // text is unchanged.
            let may_differ = source["kind"] != "text" || bytes.contains(&b'\\');
            assert!(
                may_differ || bytes == record["raw"].as_str().unwrap().as_bytes(),
                "{record}"
            );
            let repairs = record["repairs"].to_string();
            let rewritten = "hyphen-dropped at-sign quoted-printable slashes scheme-guessed \
                scheme-corrected defang roff escape";
            // In `<URL:...>` the scheme may be missing too.
            let guessed = record["wrapper"] == "schemeless"
                || !record["raw"].as_str().unwrap().contains(':')
                || rewritten.split(' ').any(|repair| repairs.contains(repair));
            assert!(
                guessed || contains_in_order(bytes, record["url"].as_str().unwrap().as_bytes()),
                "{record}"
            );
            plain += 1;
        }
    }
    assert!(
        plain * 2 > records.len(),
        "only {plain} of {} were compared",
        records.len()
    );
}

#[test]
fn show_prints_the_bytes_of_the_record() {
    let scan = done(&["scan", "mail/quoted.eml"]);
    let (records, all) = (scan.records(), scan.stdout);
    let file = fs::read(corpus().join("mail/quoted.eml")).unwrap();
    for record in &records {
        let number =
            |name: &str| usize::try_from(record["source"][name].as_u64().unwrap()).unwrap();
        let want = [&file[number("start")..number("end")], b"\n"].concat();
        assert_eq!(shown(record), want);
    }
    let one_by_one: Vec<u8> = records.iter().flat_map(shown).collect();
    assert_eq!(ended(&mut urlspool(["show"]), &all).stdout, one_by_one);
    assert!(!one_by_one.is_empty());
}

#[test]
fn show_takes_a_place_as_an_argument() {
    let folder = Folder::new();
    let file = folder.file("with:colon", "see http://s.example/x there");
    assert_eq!(
        done(&["show", &format!("{file}:4-22")]).text(),
        "http://s.example/x\n"
    );
    let name = OsStr::from_bytes(b"\xE9");
    fs::write(folder.root().join(name), "see http://s.example/y").unwrap();
    let mut place = folder.root().join(name).into_os_string();
    place.push(":4");
    assert_eq!(
        ended(urlspool(["show"]).arg(place), b"").stdout,
        b"http://s.example/y\n"
    );
}

#[test]
fn show_fails_if_the_file_has_changed() {
    let folder = Folder::new();
    let file = folder.file("short", "see");
    for place in [format!("{file}:0-99"), format!("{file}.gone:0-1")] {
        let ended = ended(&mut urlspool(["show", &place]), b"");
        assert_eq!(
            (ended.status, ended.stdout.len()),
            (Some(1), 0),
            "{place}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains("short"), "{}", ended.stderr);
    }
    folder.file("moved", "see http://s.example/moved there");
    let record = ended(urlspool(["scan", "moved"]).current_dir(folder.root()), b"").stdout;
    folder.file("moved", "see mailto:other@s.example instead of it");
    let moved = ended(urlspool(["show"]).current_dir(folder.root()), &record);
    moved.check(0, "moved:4 does not have the text of the record");
    assert_eq!(
        ended(&mut urlspool(["show"]), b"no record\n").status,
        Some(1)
    );
}

#[test]
fn parse_treats_arguments_and_lines_equally() {
    let urls = [
        "ftp://myname@host.dom/%2Fetc/motd;type=a",
        "http://h.example/~jane",
        "no url",
        "gopher://h/7sel%09find",
    ];
    let arguments = done(&[&["parse"], &urls[..]].concat());
    assert_eq!(arguments.records().len(), urls.len());
    let oks: Vec<_> = arguments
        .records()
        .iter()
        .map(|line| line["ok"].clone())
        .collect();
    assert_eq!(oks, [true, false, false, true]);
    assert_eq!(arguments.records()[0]["form"], "ftpurl");
    assert!(arguments.records()[1]["error"]["offset"].is_u64());
    for (args, text) in [
        (&["parse", "-"][..], urls.join("\n")),
        (&["parse"], urls.join("\r\n") + "\r\n"),
        (
            &["parse", "--from-json", "-"],
            urls.map(|url| Value::from(url).to_string()).join("\n"),
        ),
    ] {
        let ended = ended(&mut urlspool(args), text.as_bytes());
        assert_eq!(
            (ended.status, ended.stdout),
            (Some(0), arguments.stdout.clone()),
            "{args:?}"
        );
    }
}

#[test]
fn check_exits_with_status_1_on_a_reject() {
    assert_eq!(
        ended(&mut urlspool(["parse", "--check", "http://h/"]), b"").status,
        Some(0)
    );
    assert_eq!(
        ended(
            &mut urlspool(["parse", "--check", "http://h/", "http://h/~"]),
            b""
        )
        .status,
        Some(1)
    );
    assert_eq!(
        ended(&mut urlspool(["parse", "--check"]), b"http://h/\nbad\n").status,
        Some(1)
    );
    assert_eq!(
        ended(&mut urlspool(["parse", "http://h/~"]), b"").status,
        Some(0)
    );
}

#[test]
fn a_file_whose_name_is_not_utf_8_is_explained() {
    let folder = Folder::new();
    let mail = b"Subject: a\n\nsee http://a.example/\n";
    let path = folder.write(b"a\xff!b.eml", mail);
    let mut place = path.into_os_string();
    place.push(":12");
    let ended = ended(urlspool(["explain"]).arg(&place), b"");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_contains(ended.text(), "http://a.example/");
}

/// `explain` shows the header that the records repeat, in each of the message's possible forms.
#[test]
fn the_header_of_any_message_is_explained() {
    let folder = Folder::new();
    let page = "<html>\n<!--X-Subject: pages -->\n<!--X-Body-of-Message-->\n<p>x</html>\n";
    for (text, lines) in [
        (
            "\u{feff}\nSubject: mark\nFrom: a\nReceived: from http://a.example/\n\nx\n",
            "Its header has 3 fields, 1 of them trace fields, which are not searched (such as \
             Received).\n  From: a\n  Subject: mark\n",
        ),
        (
            page,
            "It has no header: all of it is an HTML page.\n  Subject: pages\n",
        ),
        (
            "<html>\n<p>x</html>\n",
            "It has no header: all of it is an HTML page.\nIts parts:\n",
        ),
    ] {
        let file = folder.file("file", text);
        let explained = done(&["explain", &file]);
        assert!(explained.text().contains(lines), "{}", explained.text());
    }
}

/// Regression: an empty line was printed.
#[test]
fn a_place_after_the_end_of_a_file_is_an_error() {
    let folder = Folder::new();
    let path = folder.file("a.mbox", "From a\nSubject: x\n\nhttp://a.example/\n");
    let ended = ended(&mut urlspool(["show", &format!("{path}:999999999")]), b"");
    assert_eq!(
        (ended.status, ended.stdout.len()),
        (Some(1), 0),
        "{}",
        ended.stderr
    );
    assert_contains(&ended.stderr, "the file ends before byte 999999999");
}
