//! `urlspool stats`: numbers that were counted by hand, the same ones from mail, records and databases, and outputs that harm nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use html5gum::{Token, Tokenizer};
use serde_json::{Value, json};

use super::terminal::on_terminal_of;
use crate::containers::gzip;
use crate::scene::{Ended, Folder, Rng, done, ended, urlspool};

/// Four messages, three of them with URLs: a list, a news article in two groups, a message without a date.
const MBOX: &str = "From jane@m.example Tue Jan  2 10:00:00 1996
From: Jane Doe <Jane@M.example>
Date: Tue, 2 Jan 1996 10:00:00 +0000
List-Id: Lamps <lamps.m.example>
Subject: lamps

see http://www.m.example/lamp and HTTP://www.m.example:80/lamp
and gopher://gopher.m.example/11/oil or ftp://ftp.oil.example/pub

From jack@m.example Thu Jul  3 10:00:00 1997
From: jack@m.example (Jack)
Date: Thu, 3 Jul 1997 23:30:00 -0200
Newsgroups: alt.lamps,comp.lamps
Subject: broken

<URL:http://www.m.example/a/long/
   path> and wais://wais.m.example/db

From nobody Thu Jul  3 10:00:00 1997
From: Jane Doe <jane@m.example>
Subject: undated

mailto:jane@m.example

From jack@m.example Fri Jul  4 10:00:00 1997
From: jack@m.example
Date: Fri, 4 Jul 1997 10:00:00 +0000
Subject: nothing
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain

no address
--x
Content-Type: image/png
Content-Transfer-Encoding: base64

AAAA
--x--
";

/// Runs `urlspool stats` in a folder; it must end with status 0.
#[track_caller]
fn stats(folder: &Folder, args: &[&str], input: &[u8]) -> Ended {
    let ended = ended(&mut command(folder, args), input);
    assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
    ended
}

fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = urlspool(["stats"]);
    command.args(args).current_dir(folder.root());
    command
}

#[track_caller]
fn numbers(folder: &Folder, args: &[&str], input: &[u8]) -> Value {
    let args = [&["--json"], args].concat();
    let found = stats(folder, &args, input).records();
    assert_eq!(found.len(), 1);
    found.into_iter().next().unwrap()
}

/// The names of a list with their numbers, as JSON.
fn top(numbers: &Value, list: &str) -> Value {
    let names = numbers[list]["top"].as_array().unwrap().iter();
    names
        .map(|name| json!([name["name"], name["urls"]]))
        .collect()
}

#[track_caller]
fn check_by_hand(found: &Value) {
    let exact = |count: u64| json!({"count": count, "error": null});
    for (key, expected) in [
        ("urls", json!(7)),
        ("distinct_urls", exact(6)),
        ("messages_with_urls", exact(3)),
        ("sources_with_urls", exact(1)),
        ("first_date", json!("1996-01-02T10:00:00Z")),
        ("last_date", json!("1997-07-04T01:30:00Z")),
        ("undated", json!(1)),
        ("joined", json!(1)),
        ("unwrapped", json!(0)),
        ("years", json!({"1996": 4, "1997": 2})),
        (
            "dead_protocols",
            json!([
                {"year": 1996, "gopher": 1, "wais": 0, "prospero": 0, "telnet": 0, "ftp": 1},
                {"year": 1997, "gopher": 0, "wais": 1, "prospero": 0, "telnet": 0, "ftp": 0},
            ]),
        ),
    ] {
        assert_eq!(found[key], expected, "{key}");
    }
    for (list, expected) in [
        ("domains", json!([["m.example", 5], ["oil.example", 1]])),
        (
            "hosts",
            json!([
                ["www.m.example", 3],
                ["ftp.oil.example", 1],
                ["gopher.m.example", 1],
                ["wais.m.example", 1]
            ]),
        ),
        (
            "schemes",
            json!([
                ["http", 3],
                ["ftp", 1],
                ["gopher", 1],
                ["mailto", 1],
                ["wais", 1]
            ]),
        ),
        ("lists", json!([["lamps.m.example", 4]])),
        ("newsgroups", json!([["alt.lamps", 2], ["comp.lamps", 2]])),
        (
            "senders",
            json!([["jane@m.example", 5], ["jack@m.example", 2]]),
        ),
        ("wrappers", json!([["bare", 6], ["<URL:>", 1]])),
        ("repairs", json!([["line-break", 1]])),
        ("redirectors", json!([])),
    ] {
        assert_eq!(top(found, list), expected, "{list}");
        assert_eq!(found[list]["error"], 0);
    }
}

#[test]
fn mail_records_and_a_database_give_the_numbers_that_were_counted_by_hand() {
    let folder = Folder::with("mbox", MBOX);
    let mail = numbers(&folder, &["mbox"], b"");
    check_by_hand(&mail);
    assert_eq!(mail["kind"], "mail");
    assert_eq!(mail["attachments_not_read"], 1);
    assert_eq!(mail["summary"]["messages_scanned"], 4);
    let records = ended(urlspool(["scan", "mbox"]).current_dir(folder.root()), b"").stdout;
    folder.write("urls.jsonl", &records);
    folder.write("urls.jsonl.gz", gzip(&records));
    folder.write("unnamed", &records);
    for args in [
        &["urls.jsonl"][..],
        &["urls.jsonl.gz"],
        &["unnamed"],
        &["-"],
        &[],
    ] {
        let found = numbers(&folder, args, &records);
        check_by_hand(&found);
        assert_eq!(
            (&found["kind"], &found["summary"]),
            (&json!("records"), &Value::Null)
        );
    }
    check_by_hand(&numbers(&folder, &["-"], MBOX.as_bytes()));
    let load = ["load", "--into", "urls.db", "urls.jsonl"];
    let loaded = ended(urlspool(load).current_dir(folder.root()), b"");
    assert_eq!(loaded.status, Some(0), "{}", loaded.stderr);
    let database = numbers(&folder, &["urls.db"], b"");
    check_by_hand(&database);
    assert_eq!(database["kind"], "database");
}

/// Everything that the corpus holds, and with any number of threads.
#[test]
fn the_three_kinds_of_input_agree_on_the_corpus() {
    let folder = Folder::new();
    let without_input = |mut found: Value| {
        for key in ["input", "kind", "summary", "attachments_not_read"] {
            found.as_object_mut().unwrap().remove(key);
        }
        found
    };
    let corpus = crate::scene::corpus();
    let mail = ["mail", "news", "url", "text", "containers"].map(|name| corpus.join(name));
    let mail: Vec<_> = mail.iter().map(|path| path.to_str().unwrap()).collect();
    let of_mail = numbers(
        &folder,
        &[&mail[..], &["--top", "1000", "-j1"]].concat(),
        b"",
    );
    let again = numbers(
        &folder,
        &[&mail[..], &["--top", "1000", "-j3"]].concat(),
        b"",
    );
    assert_eq!(of_mail, again);
    let of_mail = without_input(of_mail);
    assert!(
        500 < of_mail["urls"].as_u64().unwrap(),
        "{}",
        of_mail["urls"]
    );
    let records = ended(&mut urlspool([&["scan", "-q"], &mail[..]].concat()), b"").stdout;
    folder.write("urls.jsonl", &records);
    let found = numbers(&folder, &["--top", "1000", "urls.jsonl"], b"");
    assert_eq!(without_input(found), of_mail);
    let load = ["load", "--into", "urls.db", "urls.jsonl"];
    ended(urlspool(load).current_dir(folder.root()), b"");
    let found = numbers(&folder, &["--top", "1000", "urls.db"], b"");
    assert_eq!(without_input(found), of_mail);
}

/// A daemon's folder, of which one segment is damaged.
#[test]
fn segments_are_records_and_lines_that_are_none_are_reported() {
    let folder = Folder::with("mbox", MBOX);
    let config = format!(
        "[output]\ndir = \"{0}/out\"\n[state]\ndir = \"{0}/state\"\n[[spool]]\npath = \"{0}/spool\"\n",
        folder.root().display()
    );
    folder.write("spool/mbox", MBOX);
    let config = folder.file("urlspool.toml", config);
    done(&["watch", "--once", "--config", &config]);
    check_by_hand(&numbers(&folder, &["out"], b""));
    let segment = folder.path("out/0000000001.jsonl");
    let page = segment.to_str().unwrap();
    let refused = ended(&mut command(&folder, &["out", "--html", page]), b"");
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.stderr.contains("would overwrite records in out"),
        "{}",
        refused.stderr
    );
    let mut lines = fs::read(&segment).unwrap();
    lines.extend(b"{\"schema\":1}\nno record\n");
    fs::write(&segment, lines).unwrap();
    let ended = ended(&mut command(&folder, &["--json", "out"]), b"");
    assert_eq!(ended.status, Some(1));
    assert!(ended.stderr.contains("line 9: "), "{}", ended.stderr);
    check_by_hand(&ended.records()[0]);
}

#[test]
fn the_page_is_text_in_the_width_of_the_terminal() {
    let folder = Folder::with("mbox", MBOX);
    let page = stats(&folder, &["mbox"], b"");
    let text = page.text();
    for expected in [
        "URLs in mbox\n",
        "  Messages     4, 3 of them with URLs\n",
        "  URLs         7, 6 distinct\n",
        "  Dates        1996-01-02 to 1997-07-04\n",
        "  Joined       1 URL had been broken over several lines\n",
        "  Attachments  1 part without text, not read\n",
        "\nURLs by year\n  1996 ",
        "  gopher 1996 ",
        "   57.1 %  \u{2588}\u{2588}",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours in a pipe");
    for columns in [20, 30, 40, 60, 80, 200] {
        let shown = on_terminal_of(columns, &mut command(&folder, &["-q", "mbox"]));
        assert!(shown.contains("\u{1b}[1mURLs by year\u{1b}[0m"), "{shown}");
        let plain = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        let width = |line: &str| line.trim_end().chars().count();
        let widest = plain.lines().map(width).max().unwrap();
        assert!(widest <= usize::from(columns.max(26)), "{columns}: {plain}");
        let has_bars = plain.contains('\u{2588}');
        assert_eq!(has_bars, 50 <= columns, "{columns}: {plain}");
        assert!(
            plain.contains("1996") && plain.contains("m.example"),
            "{plain}"
        );
    }
}

/// Mail whose every text tries to be markup, or to be obeyed by a terminal.
fn hostile_mail() -> String {
    let evil = "<img src=x onerror=alert(1)>\u{1b}]0;x\u{7}\u{202e}\u{9b}31m";
    format!(
        "From: {evil}@e.example\nDate: Tue, 2 Jan 1996 10:00:00 +0000\nList-Id: <</script>{evil}>\nNewsgroups: a.{evil}\n\
         Subject: {evil}\n\n<URL:http://e.example/{evil}> <URL:x-{evil}://a.example/>\n<a href=\"javascript:1\">\n"
    )
}

#[test]
fn hostile_text_is_only_text() {
    let folder = Folder::with("a\u{1b}[2J<b>.eml", hostile_mail());
    let shown = on_terminal_of(100, &mut command(&folder, &["-q", "."]));
    let named = on_terminal_of(100, &mut command(&folder, &["-q", "a\u{1b}[2J<b>.eml"]));
    for shown in [shown, named] {
        let plain = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        let is_obeyed = |c: char| c.is_control() && !"\r\n".contains(c) || c == '\u{202e}';
        assert!(!plain.contains(is_obeyed), "{plain:?}");
        assert!(plain.contains("\\u{1b}"), "{plain}");
    }
    stats(
        &folder,
        &["--html", "page.html", "--csv", "tables", "."],
        b"",
    );
    let html = fs::read_to_string(folder.path("page.html")).unwrap();
    check_page(&html);
    assert!(
        html.contains("&lt;img src=x onerror=alert(1)&gt;"),
        "{html}"
    );
    assert!(!html.contains(['\u{1b}', '\u{202e}']));
    let senders = fs::read_to_string(folder.path("tables/urls-by-sender.csv")).unwrap();
    assert!(
        senders.starts_with("sender,urls,urls_at_most\n"),
        "{senders}"
    );
}

/// Checks that a page holds no element of the archive, no address that leads elsewhere, and no script but its own.
#[track_caller]
fn check_page(html: &str) {
    const ELEMENTS: &str = "html head meta title style body header h1 h2 p bdi nav ul li a main svg defs pattern rect path section dl \
        div dt dd span br figure figcaption text line table caption thead tr th tbody td footer script";
    let mut scripts = 0;
    for token in Tokenizer::new(html).flatten() {
        let Token::StartTag(tag) = token else {
            continue;
        };
        let name = String::from_utf8(tag.name.0.clone()).unwrap();
        assert!(ELEMENTS.split(' ').any(|known| known == name), "<{name}>");
        scripts += usize::from(name == "script");
        for (key, value) in &tag.attributes {
            let (key, value) = (String::from_utf8_lossy(key), String::from_utf8_lossy(value));
            assert!(
                !key.starts_with("on") && key != "style" && key != "src",
                "{key}"
            );
            assert!(key != "href" || value.starts_with('#'), "{value}");
            let leads_elsewhere = value.contains("://") || value.contains("url(");
            assert!(!leads_elsewhere, "{key}={value}");
        }
    }
    assert_eq!(scripts, 1);
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
}

#[test]
fn names_beside_bars_are_cut_and_tables_have_them_whole() {
    let host = format!("{}er.example", "long-".repeat(9));
    let mail = format!("Subject: x\n\nhttp://{host}/ gopher://g.example/\n");
    let folder = Folder::with("a.eml", mail + "\n");
    let html = stats(&folder, &["--html", "-", "a.eml"], b"");
    let html = html.text();
    assert!(html.contains(&format!("<bdi>{host}</bdi>")), "{html}");
    assert!(
        html.contains("long-long-long-long-long\u{2026}</text>"),
        "{html}"
    );
    assert_eq!(html.matches("undated</text>").count(), 1);
}

#[test]
fn a_page_has_charts_and_tables_have_all_names() {
    let folder = Folder::with("mbox", MBOX);
    let written = stats(
        &folder,
        &["--html", "page.html", "--csv", "tables", "mbox"],
        b"",
    );
    assert_eq!(written.text(), "");
    assert_eq!(
        written.stderr,
        "urlspool: wrote page.html\nurlspool: wrote tables\n"
    );
    let html = fs::read_to_string(folder.path("page.html")).unwrap();
    check_page(&html);
    for expected in [
        "URLs by year of the message",
        "www.m.example",
        "lamps.m.example",
        "jane@m.example",
        "<rect class=\"p1\"",
    ] {
        assert!(html.contains(expected), "{expected}");
    }
    let table = |name: &str| fs::read_to_string(folder.path("tables").join(name)).unwrap();
    assert_eq!(
        table("urls-by-year.csv"),
        "year,urls\n1996,4\n1997,2\nundated,1\n"
    );
    assert_eq!(
        table("protocols-by-year.csv"),
        "year,gopher,wais,prospero,telnet,ftp\n1996,1,0,0,0,1\n1997,0,1,0,0,0\n"
    );
    assert_eq!(
        table("urls-by-domain.csv"),
        "domain,urls,urls_at_most\nm.example,5,5\noil.example,1,1\n"
    );
    assert!(table("stats-totals.csv").contains("\ndistinct_urls,6,\n"));
    // Again, over its own files, and to standard output.
    let again = stats(&folder, &["--html", "-", "--csv", "tables", "."], b"");
    assert_eq!(again.text().matches("<html").count(), 1);
    stats(
        &folder,
        &["--html", "page.html", "--no-senders", "mbox"],
        b"",
    );
    let html = fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(!html.contains("jane@m.example") && html.contains("www.m.example"));
    let json = numbers(&folder, &["--no-senders", "mbox"], b"");
    assert!(json.get("senders").is_none() && json.get("hosts").is_some());
}

#[test]
fn no_input_and_no_foreign_file_is_overwritten() {
    let folder = Folder::with("mbox", MBOX);
    folder.write("notes.html", "my notes");
    folder.write("tables/urls-by-year.csv", "mine");
    let records = ended(urlspool(["scan", "mbox"]).current_dir(folder.root()), b"").stdout;
    folder.write("urls.jsonl", &records);
    ended(
        urlspool(["load", "--into", "urls.db", "urls.jsonl"]).current_dir(folder.root()),
        b"",
    );
    let before = |name: &str| fs::read(folder.path(name)).unwrap();
    let names = [
        "mbox",
        "notes.html",
        "tables/urls-by-year.csv",
        "urls.jsonl",
        "urls.db",
    ];
    let contents = names.map(before);
    for (args, expected) in [
        (
            &["mbox", "--html", "notes.html"][..],
            "notes.html would be replaced",
        ),
        (
            &["mbox", "--csv", "tables"],
            "urls-by-year.csv would be replaced",
        ),
        (
            &["mbox", "--html", "mbox", "--force"],
            "would overwrite the input mbox",
        ),
        (
            &["urls.jsonl", "--html", "urls.jsonl"],
            "would overwrite the input urls.jsonl",
        ),
        (
            &["urls.db", "--html", "urls.db", "--force"],
            "would overwrite the database",
        ),
        (
            &["urls.db", "--html", "urls.db-wal", "--force"],
            "would overwrite the database",
        ),
        (&["mbox", "--csv", "mbox"], "mbox is a file"),
        (
            &["mbox", "--json", "--html", "-"],
            "--json and --html would both go to",
        ),
        (
            &["mbox", "--csv", "t2", "--html", "t2/urls-by-year.csv"],
            "would be the same file",
        ),
    ] {
        let ended = ended(&mut command(&folder, args), b"");
        assert_eq!(ended.status, Some(2), "{args:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(expected),
            "{args:?}: {}",
            ended.stderr
        );
        assert_eq!(names.map(before), contents, "{args:?}");
    }
    assert!(!folder.path("t2").exists());
    let failed = ended(
        &mut command(&folder, &["mbox", "--html", "missing/page.html"]),
        b"",
    );
    assert_eq!(failed.status, Some(74), "{}", failed.stderr);
}

#[test]
fn mistakes_lead_to_the_way_out() {
    let folder = Folder::with("mbox", MBOX);
    let records = ended(urlspool(["scan", "mbox"]).current_dir(folder.root()), b"").stdout;
    folder.write("urls.jsonl", &records);
    folder.write("urls.csv", "url,source.path\n");
    folder.write("foreign.db", b"SQLite format 3\0 something else");
    folder.write("a.7z", b"7z\xbc\xaf\x27\x1c....");
    for (args, status, expected) in [
        (&["missing"][..], 1, "cannot read missing: No such file"),
        (&["missing", "mbox"], 1, "cannot read missing: No such file"),
        (
            &["mbox", "urls.jsonl"],
            2,
            "mbox holds mail, and urls.jsonl records; count them in two runs",
        ),
        (
            &["urls.csv"],
            2,
            "urls.csv is a table that urlspool wrote; stats counts records",
        ),
        (
            &["--include", "x", "urls.jsonl"],
            2,
            "choose files of mail; urls.jsonl holds records",
        ),
        (&["postgresql://h/d"], 2, "stats reads databases of SQLite"),
        (&["foreign.db"], 2, "foreign.db"),
        (&["a.7z"], 1, "7z x"),
        (&["--top", "0", "mbox"], 2, "--top"),
    ] {
        let ended = ended(&mut command(&folder, args), b"");
        assert_eq!(ended.status, Some(status), "{args:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(expected),
            "{args:?}: {}",
            ended.stderr
        );
    }
    let empty = Folder::with("empty", "");
    let page = stats(&empty, &["empty"], b"");
    assert!(
        page.text().contains("  URLs         0, 0 distinct"),
        "{}",
        page.text()
    );
    let html = stats(&empty, &["--html", "-", "empty"], b"");
    check_page(html.text());
}

#[test]
fn random_mail_is_counted_as_its_records_are() {
    let folder = Folder::new();
    let mut random = Rng::seeded(30);
    let mut mbox = String::new();
    for number in 0..300 {
        let year = 1991 + random.below(15);
        mbox += &format!(
            "From a@b.example Mon Jan  1 10:00:00 1996\nFrom: u{}@b.example\nDate: 2 Jan {year} 10:00:00 +0000\nMessage-ID: <{number}@b>\n\n",
            random.below(9)
        );
        for _ in 0..random.below(4) {
            mbox += &format!("http://h{}.example/{}\n", random.below(40), random.below(3));
        }
        mbox.push('\n');
    }
    folder.write("mbox", &mbox);
    let found = numbers(&folder, &["--top", "99", "mbox"], b"");
    let records = ended(urlspool(["scan", "mbox"]).current_dir(folder.root()), b"").records();
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    let mut keys = BTreeSet::new();
    for record in &records {
        *expected
            .entry(record["host"].as_str().unwrap().to_owned())
            .or_default() += 1;
        keys.insert(record["key"].as_str().unwrap());
    }
    assert_eq!(found["urls"], records.len());
    assert_eq!(found["distinct_urls"]["count"], keys.len());
    let hosts: BTreeMap<String, u64> = found["hosts"]["top"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| {
            (
                name["name"].as_str().unwrap().to_owned(),
                name["urls"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(hosts, expected);
    let years = found["years"].as_object().unwrap().values();
    assert_eq!(
        years.map(|urls| urls.as_u64().unwrap()).sum::<u64>(),
        records.len() as u64
    );
}

/// The definition of `cited`, `browse` and `audit`: dates before there were such URLs are none, and
/// those after the day of loading are counted apart.
#[test]
fn a_usable_date_is_the_same_for_mail_records_and_databases() {
    let mail = |date: &str, url: &str| {
        format!("From a\nFrom: a@m.test\nSubject: {date}\nDate: {date}\n\n{url}\n\n")
    };
    let folder = Folder::with(
        "a.mbox",
        [
            mail("1 Feb 1985 10:00:00 +0000", "ftp://a.example/x"),
            mail("1 Feb 1985 10:00:01 +0000", "http://a.example/"),
            mail("1 Feb 1996 10:00:00 +0000", "http://b.example/"),
            mail("1 Feb 2093 10:00:00 +0000", "gopher://c.example/"),
        ]
        .concat(),
    );
    let mbox = folder.path("a.mbox").display().to_string();
    let records = done(&["scan", "-q", &mbox]).stdout;
    let database = folder.path("urls.db").display().to_string();
    ended(&mut urlspool(["load", "-q", "--into", &database]), &records);
    fs::write(folder.path("a.jsonl"), records).unwrap();
    for input in ["a.mbox", "a.jsonl", "urls.db"] {
        let found = numbers(&folder, &[input], b"");
        let counts = ["first_date", "last_date", "years", "undated", "later"];
        assert_eq!(
            counts.map(|count| found[count].clone()),
            [
                json!("1985-02-01T10:00:00Z"),
                json!("1996-02-01T10:00:00Z"),
                json!({"1985": 1, "1996": 1}),
                json!(1),
                json!(1)
            ],
            "{input}"
        );
    }
}
