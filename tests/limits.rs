//! Reaches each limit of the configuration: one event states its value and the place, and the run
//! continues. Text beyond a limit on messages is still scanned. `docs/limits.md` lists the limits;
//! `URLSPOOL_BLESS=1 cargo test --test tests the_page_of_limits` rewrites its tables.

use std::fs;
use std::path::Path;

use urlspool_text::limits::{Limit, LimitUnit, Limits, MESSAGE_STEPS, PREFILTER_BYTES};

use crate::containers::{gzip, tar};
use crate::scene::scan;

/// A source that reaches one limit.
#[derive(Clone, Copy, Default)]
struct Case<'c> {
    limit: &'c str,
    value: usize,
    /// Another limit that must be set.
    with: Option<&'c str>,
    source: &'c [u8],
    /// A URL that is found: after a limit on messages, before a limit on containers.
    found: Option<&'c str>,
    /// Part of the event's text.
    event: &'c str,
    /// Exit status: 1 if a source was not fully read.
    status: i32,
}

#[track_caller]
fn check(case: Case<'_>) {
    let set = format!("{}={}", case.limit, case.value);
    let mut args = vec!["--set", &set];
    args.extend(case.with.iter().flat_map(|other| ["--set", other]));
    for threads in ["-j1", "-j2"] {
        let output = scan(case.source, &[&args[..], &[threads]].concat());
        assert_eq!(output.events, ["limit"], "{set}: {:?}", output.messages);
        let text = &output.messages[0];
        assert!(text.contains(case.event), "{set}: {text}");
        assert_eq!(output.status, Some(case.status), "{set}");
        if let Some(url) = case.found {
            assert!(output.urls().contains(url), "{set}: {:?}", output.urls());
        }
    }
    let output = scan(case.source, &[]);
    assert_eq!(output.events, [""; 0], "{set}: {:?}", output.messages);
}

const URL: &str = "http://beyond.example/";
const MIXED: &str = "Content-Type: multipart/mixed; boundary=b\n";

fn mail(header: &str, body: &str) -> String {
    format!("From: a@b.example\nSubject: s\n{header}\n{body}\n")
}

/// Returns a part that is a gzip archive of 100 bytes.
fn attached_archive() -> String {
    let bytes = gzip(&[b'\n'; 100]);
    let encoded = data_encoding::BASE64.encode(&bytes);
    format!("--b\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n{encoded}\n")
}

#[test]
fn limits_on_the_structure_of_messages_are_events() {
    let large = mail("", &("words and words\n".repeat(200_000) + URL));
    let nested = "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\n";
    let nested = mail(MIXED, &format!("{nested}{URL}\n--c--\n--b--"));
    let parts = "--b\n\nx\n".repeat(3);
    let parts = mail(MIXED, &format!("{parts}--b\n\n{URL}\n--b--"));
    let header = mail(&"X-A: words and words\n".repeat(9), URL);
    let archives = mail(
        MIXED,
        &format!("{URL}\n{}--b--", attached_archive().repeat(2)),
    );
    for (limit, value, source, event) in [
        (
            "message_bytes",
            1 << 20,
            &large,
            "larger than message_bytes",
        ),
        ("mime_depth", 1, &nested, "more than 1 levels"),
        ("mime_parts", 2, &parts, "more than 2 parts"),
        ("header_bytes", 100, &header, "more than 100 bytes"),
    ] {
        check(Case {
            limit,
            value,
            source: source.as_bytes(),
            found: Some(URL),
            event,
            ..Case::default()
        });
    }
    check(Case {
        limit: "nested_ratio",
        value: 1,
        with: Some("attached_bytes=100"),
        source: archives.as_bytes(),
        found: Some(URL),
        event: "(attached_bytes) unpacks",
        ..Case::default()
    });
}

#[test]
fn limits_on_urls_and_fields_are_events() {
    let references = mail("References: <1@a.example> <2@a.example>\n", URL);
    let anchor = mail(
        "Content-Type: text/html\n",
        &format!("<a href=\"{URL}\">words and words</a>"),
    );
    let groups = mail(
        &format!("Newsgroups: a{}\n", ",b".repeat(2_000)),
        "http://a.example/",
    );
    let wrapper = mail("", &format!("<URL:{URL}x>"));
    let long = mail("", &format!("http://a.example/long/path {URL}"));
    let base = mail(
        "Content-Type: text/html\n",
        &format!("<base href=\"http://a.example/long/path/\"><a href=x>x</a> {URL}"),
    );
    let two = mail("", &format!("http://a.example/ {URL}"));
    let google = "http://www.google.com/url?q=";
    let redirectors = mail(
        "",
        &format!(
            "{google}http%3A%2F%2Fwww.google.com%2Furl%3Fq%3Dhttp%253A%252F%252Fa.example%252F \
             {URL}"
        ),
    );
    let wrapped_url = "http://beyond.example/x";
    for (limit, value, source, found, event) in [
        ("field_bytes", 10, &references, URL, "field_bytes"),
        ("field_bytes", 10, &anchor, URL, "field_bytes"),
        ("wrapper_bytes", 20, &wrapper, wrapped_url, "wrapper_bytes"),
        ("url_bytes", 22, &long, URL, "more than 22 bytes"),
        ("message_urls", 1, &two, URL, "2 URLs"),
        (
            "unwrap_depth",
            1,
            &redirectors,
            URL,
            "more than 1 redirectors",
        ),
    ] {
        check(Case {
            limit,
            value,
            source: source.as_bytes(),
            found: Some(found),
            event,
            ..Case::default()
        });
    }
    let output = scan(base, &["--set", "url_bytes=22"]);
    assert!(output.urls().contains(URL));
    let [of_url, of_base] = &output.messages[..] else {
        panic!("{:?}", output.messages)
    };
    assert!(of_url.contains("a URL of more than 22 bytes"), "{of_url}");
    assert!(of_base.contains("a <base> of more than 22"), "{of_base}");
    let output = scan(groups, &[]);
    // More newsgroups than a record repeats.
    assert_eq!(output.events, ["limit"]);
}

#[test]
fn a_limit_that_is_reached_often_is_one_event_with_its_first_place() {
    let many = mail("", &"see http://a.example/long/path\n".repeat(30));
    let output = scan(&many, &["--set", "url_bytes=20"]);
    assert_eq!(output.events, ["limit"]);
    assert!(
        output.messages[0].ends_with("29 more in this message"),
        "{:?}",
        output.messages
    );
    assert_eq!(
        output.records[0]["source"]["start"],
        many.find("http").unwrap()
    );
}

/// Row 79. Links resolved against a long `<base>` have a thousand times the bytes of the page.
#[test]
fn row_79_the_work_on_a_message_is_limited_in_steps() {
    let base = "b/".repeat(4_000);
    let links = "<a href=x>x</a>\n".repeat(2_000);
    let page = format!("<base href=\"http://a.example/{base}\">{links}<a href=\"{URL}\">x</a>");
    let page = mail("Content-Type: text/html\n", &page);
    let records = |per_byte: usize| {
        let set = format!("steps_per_byte={per_byte}");
        let output = scan(&page, &["--set", &set, "--fields", "url"]);
        assert_eq!(output.events, ["limit"], "{:?}", output.messages);
        assert!(output.urls().contains(URL));
        output.records.len()
    };
    let bounds = |per_byte: usize| {
        (per_byte * page.len() + MESSAGE_STEPS as usize) / (base.len() - PREFILTER_BYTES)
    };
    for per_byte in [1, 8] {
        let (found, bound) = (records(per_byte), bounds(per_byte));
        assert!(bound / 4 < found && found <= bound + 2, "{found}, {bound}");
    }
    let words = mail(
        "",
        &format!("{} {URL}", "http://a.example/b-\n".repeat(30_000)),
    );
    let output = scan(&words, &["--set", "steps_per_byte=1"]);
    assert!(output.urls().contains(URL), "{:?}", output.messages);
}

#[test]
fn limits_on_containers_are_events() {
    let text = mail("", URL).into_bytes();
    let spaces = [text.as_slice(), &vec![b' '; 4 << 20]].concat();
    let bomb = gzip(&spaces);
    let nested_bomb = tar(&[("a.gz", &bomb)]);
    let name = "n".repeat(60);
    let window = {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(20).unwrap();
        std::io::Write::write_all(&mut encoder, &spaces).unwrap();
        encoder.finish().unwrap()
    };
    let twice = gzip(&gzip(&text));
    let two = tar(&[("a", &text), ("b", &text)]);
    let named = tar(&[(&name, &text)]);
    for (limit, value, with, source, found, event) in [
        ("container_depth", 1, None, &twice, None, "inside 1 others"),
        (
            "archive_entries",
            1,
            None,
            &two,
            Some(URL),
            "more than 1 entries",
        ),
        (
            "member_name_bytes",
            20,
            None,
            &named,
            Some(URL),
            "cut after 20",
        ),
        ("window_bytes", 1 << 10, None, &window, None, "window"),
        (
            "unpack_ratio",
            10,
            Some("unpack_ratio_from_bytes=1"),
            &bomb,
            Some(URL),
            "10 times",
        ),
        (
            "unpack_ratio_from_bytes",
            1,
            Some("unpack_ratio=10"),
            &bomb,
            Some(URL),
            "10 times",
        ),
        (
            "nested_ratio",
            10,
            Some("nested_ratio_from_bytes=1"),
            &nested_bomb,
            Some(URL),
            "10 times",
        ),
        (
            "nested_ratio_from_bytes",
            1,
            Some("nested_ratio=10"),
            &nested_bomb,
            Some(URL),
            "10 times",
        ),
    ] {
        check(Case {
            limit,
            value,
            with,
            source,
            found,
            event,
            status: i32::from(limit != "member_name_bytes"),
        });
    }
}

/// Returns the table of configurable limits.
fn settable() -> String {
    let row = |limit: &Limit| {
        let value = (limit.get)(&Limits::default());
        let value = match limit.unit {
            LimitUnit::Number => value.to_string(),
            LimitUnit::Bytes => size(value),
        };
        format!("| `{}` | {value} | {} |\n", limit.name, one_line(limit.doc))
    };
    let rows: String = Limits::ALL.iter().map(row).collect();
    format!("| limit | default | meaning and reason |\n|---|---|---|\n{rows}\n")
}

/// The sources of the constants, in the order of the page.
const CONSTANTS: [&str; 5] = [
    include_str!("../crates/text/src/limits/text.rs"),
    include_str!("../crates/text/src/limits/files.rs"),
    include_str!("../crates/text/src/limits/daemon.rs"),
    include_str!("../crates/text/src/limits/store.rs"),
    include_str!("../crates/text/src/limits/audit.rs"),
];

/// Returns the table of constants, whose names contain the unit.
fn fixed() -> String {
    let mut rows = String::new();
    let mut doc = String::new();
    let mut lines = CONSTANTS.iter().flat_map(|source| source.lines());
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("///") {
            doc += text;
        } else if line == "#[cfg(not(fuzzing))]" {
            // The constant itself follows.
        } else if line == "#[cfg(fuzzing)]" {
            lines.next();
            doc.clear();
        } else if let Some((name, rest)) = line
            .strip_prefix("pub const ")
            .and_then(|rest| rest.split_once(": "))
        {
            let (_, value) = rest.trim_end_matches(';').split_once(" = ").unwrap();
            let value = match value.split_once(" << ") {
                Some((number, bits)) if !name.ends_with("_KIB") && !name.ends_with("_FILES") => {
                    size(number.parse::<usize>().unwrap() << bits.parse::<u32>().unwrap())
                }
                Some((number, bits)) => {
                    (number.parse::<usize>().unwrap() << bits.parse::<u32>().unwrap()).to_string()
                }
                None => value.replace('_', ","),
            };
            rows += &format!("| `{name}` | {value} | {} |\n", one_line(&doc));
            doc.clear();
        } else {
            doc.clear();
        }
    }
    assert!(rows.lines().count() > 50);
    format!("| constant | value | meaning and reason |\n|---|---|---|\n{rows}\n")
}

/// Formats a size in bytes.
fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else if bytes.is_multiple_of(1 << 10) {
        format!("{} KiB", bytes >> 10)
    } else {
        bytes.to_string()
    }
}

/// Converts a doc comment to the text of a cell, without the brackets of links.
fn one_line(doc: &str) -> String {
    let text = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("[`", "`")
        .replace("`]", "`")
        .replace("`Limits::", "`")
}

#[test]
fn the_page_of_limits_has_the_tables_of_the_sources() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/limits.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut made = page.clone();
    for (begin, table) in [
        ("<!-- from Limits::ALL -->\n\n", settable()),
        (
            "<!-- from the constants in crates/text/src/limits/ -->\n\n",
            fixed(),
        ),
    ] {
        let at = made.find(begin).unwrap() + begin.len();
        let len = made[at..].find("<!-- end -->\n").unwrap();
        made.replace_range(at..at + len, &table);
    }
    if std::env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &made).unwrap();
        return;
    }
    assert!(page == made, "run this test with URLSPOOL_BLESS=1");
}

/// Every configurable limit is reached by a test in this file or in the one on git.
#[test]
fn every_limit_is_reached_by_a_test() {
    let tests = [
        include_str!("limits.rs"),
        include_str!("git_repository.rs"),
        include_str!("cli/options/evidence.rs"),
    ]
    .concat();
    for limit in Limits::ALL {
        let case = format!("(\"{}\"", limit.name);
        let set = format!("\"{}=", limit.name);
        assert!(
            tests.replace(char::is_whitespace, "").contains(&case) || tests.contains(&set),
            "{}",
            limit.name
        );
    }
}
