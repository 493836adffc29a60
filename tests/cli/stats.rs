//! `urlspool stats`: hand-counted numbers, equal for all inputs, and harmless outputs.

use std::fs;
use std::process::Command;

use html5gum::{Token, Tokenizer};
use serde_json::{Value, json};

use super::terminal::on_terminal_of;
use crate::containers::gzip;
use crate::scene::{Ended, Folder, assert_contains, ended, urlspool};

/// Four messages, three of them with URLs: a list, news in two groups, and one undated.
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

/// Runs `urlspool stats` in a folder. It must end with status 0.
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
    let args = [&["--format", "json"], args].concat();
    let found = stats(folder, &args, input).records();
    assert_eq!(found.len(), 1);
    found.into_iter().next().unwrap()
}

/// Returns the names in a list with their counts, as JSON.
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
fn mail_records_and_a_database_match_the_numbers_counted_by_hand() {
    let folder = Folder::with("mbox", MBOX);
    let mail = numbers(&folder, &["mbox"], b"");
    check_by_hand(&mail);
    assert_eq!(mail["kind"], "mail");
    assert_eq!(mail["attachments_not_read"], 1);
    assert_eq!(mail["summary"]["messages_scanned"], 4);
    let records = ended(urlspool(["scan", "mbox"]).current_dir(folder.root()), b"").stdout;
    folder.write("urls.jsonl", &records);
    folder.write("folder/urls.jsonl.gz", gzip(&records));
    folder.write("unnamed", &records);
    for args in [
        &["urls.jsonl"][..],
        &["folder/urls.jsonl.gz"],
        &["folder"],
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
    folder.write("cut.gz", &gzip(MBOX.as_bytes())[..300]);
    let cut = ended(
        urlspool(["stats", "cut.gz"]).current_dir(folder.root()),
        b"",
    );
    assert!(cut.text().contains("1 damaged or not readable"));
    let load = ["load", "--into", "urls.db", "urls.jsonl"];
    let loaded = ended(urlspool(load).current_dir(folder.root()), b"");
    assert_eq!(loaded.status, Some(0), "{}", loaded.stderr);
    let database = numbers(&folder, &["urls.db"], b"");
    check_by_hand(&database);
    assert_eq!(database["kind"], "database");
}

/// All inputs agree on the whole corpus, with any number of threads.
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
    let mail =
        ["mail", "news", "url", "text", "containers/lines.txt.Z"].map(|name| corpus.join(name));
    let mail: Vec<_> = mail.iter().map(|path| path.to_str().unwrap()).collect();
    let args = [&mail[..], &["--limit", "1000", "-j1"]].concat();
    let of_mail = numbers(&folder, &args, b"");
    let args = [&mail[..], &["--limit", "1000", "-j3"]].concat();
    let again = numbers(&folder, &args, b"");
    assert_eq!(of_mail, again);
    let of_mail = without_input(of_mail);
    assert!(500 < of_mail["urls"].as_u64().unwrap());
    let records = ended(&mut urlspool([&["scan", "-q"], &mail[..]].concat()), b"").stdout;
    folder.write("urls.jsonl", &records);
    let found = numbers(&folder, &["--limit", "1000", "urls.jsonl"], b"");
    assert_eq!(without_input(found), of_mail);
    let load = ["load", "--into", "urls.db", "urls.jsonl"];
    ended(urlspool(load).current_dir(folder.root()), b"");
    let found = numbers(
        &folder,
        &["--list-fields", "--limit", "1000", "urls.db"],
        b"",
    );
    assert_eq!(without_input(found), of_mail);
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
        assert_contains(&plain, "1996");
        assert_contains(&plain, "m.example");
    }
}

/// Mail in which every text is markup or contains terminal control sequences.
fn hostile_mail() -> String {
    let evil = "<img src=x onerror=alert(1)>\u{1b}]0;x\u{7}\u{202e}\u{9b}31m";
    format!(
        "From: {evil}@e.example\nDate: Tue, 2 Jan 1996 10:00:00 +0000\nList-Id: <</script>{evil}>\n\
         Newsgroups: a.{evil}\n\
         Subject: {evil}\n\n<URL:http://e.example/{evil}> <URL:x-{evil}://a.example/>\n\
         <a href=\"javascript:1\">\n"
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
    stats(&folder, &["-o", "page.html", "."], b"");
    stats(&folder, &["--format", "csv", "-o", "tables", "."], b"");
    let html = fs::read_to_string(folder.path("page.html")).unwrap();
    check_page(&html);
    assert_contains(&html, "&lt;img src=x onerror=alert(1)&gt;");
    assert!(!html.contains(['\u{1b}', '\u{202e}']));
    let senders = fs::read_to_string(folder.path("tables/urls-by-sender.csv")).unwrap();
    assert!(
        senders.starts_with("sender,urls,urls_at_most\n"),
        "{senders}"
    );
}

/// Checks that a page has only its own elements and script, and no external address.
#[track_caller]
fn check_page(html: &str) {
    const ELEMENTS: &str = "html head meta title style body header h1 h2 p bdi nav ul li a main \
        svg defs pattern rect path section dl \
        div dt dd span br figure figcaption text line table caption thead tr th tbody td footer \
        script";
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
fn a_page_has_charts_and_tables_have_all_names() {
    let folder = Folder::with("mbox", MBOX);
    let written = stats(&folder, &["-o", "page.html", "mbox"], b"");
    assert_eq!(written.text(), "");
    assert_eq!(written.stderr, "urlspool: wrote page.html\n");
    let written = stats(&folder, &["--format", "csv", "-o", "tables", "mbox"], b"");
    assert_eq!(written.text(), "");
    assert_eq!(written.stderr, "urlspool: wrote tables\n");
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
    // Runs again, over its own files and to standard output.
    stats(&folder, &["--format", "csv", "-o", "tables", "."], b"");
    let again = stats(&folder, &["--format", "html", "-o", "-", "."], b"");
    assert_eq!(again.text().matches("<html").count(), 1);
    let args = &["-o", "page.html", "--no-senders", "mbox"];
    stats(&folder, args, b"");
    let html = fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(!html.contains("jane@m.example") && html.contains("www.m.example"));
    let json = numbers(&folder, &["--no-senders", "-"], b"file:///a");
    assert!(json.get("senders").is_none() && json["hosts"]["top"] == json!([]));
}
