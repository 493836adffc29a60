//! `urlspool browse` over HTTP. `tests/tools/browse_browser.py` drives a real browser.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::search::folder_of_list;
use super::{MAIL, loaded, records};
use crate::scene::{Folder, assert_contains, ended, lines, urlspool};

const HOSTILE: &str = "From x Thu Jan  4 00:00:00 1996\n\
From: =?utf-8?q?=22=3E=3Cscript=3Ealert=281=29=3C/script=3E?= <eve@m.example>\n\
Date: Thu, 4 Jan 1996 10:00:00 +0000\nMessage-ID: <3@m.example>\n\
Subject: =?utf-8?q?=3Cimg_src=3Dx_onerror=3Dalert=281=29=3E=E2=80=AE=1B[2J?=\n\
Content-Type: text/html\n\n<a href=\"javascript:alert(1)\">x</a>\n\
<a href='http://evil.example/?\"onmouseover=\"alert(1)'><b>http://bank.example/</b></a>\n\n";

struct Served {
    child: Child,
    address: String,
    /// Path before all pages, for an address that other machines can reach.
    base: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn at(folder: &Folder, listen: &str) -> Served {
        Served::by(urlspool(["browse", "--listen", listen]).arg(folder.path("urls.db")))
    }

    fn by(command: &mut Command) -> Served {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http"))
            .unwrap();
        let rest = url.strip_prefix("http://").unwrap();
        let (address, base) = rest.split_once('/').unwrap();
        Served {
            child,
            address: address.to_owned(),
            base: format!("/{base}"),
        }
    }

    fn of(mail: &str) -> (Folder, Served) {
        let folder = Folder::new();
        loaded(&folder, &[], &records(&folder, "a.mbox", mail));
        let served = Served::at(&folder, "127.0.0.1:0");
        (folder, served)
    }

    fn send(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        match answer.split_once("\r\n\r\n") {
            Some((head, mut rest)) if head.contains("Transfer-Encoding: chunked") => {
                let mut whole = format!("{head}\r\n\r\n");
                while let Some((size, chunk)) = rest.split_once("\r\n") {
                    let size = usize::from_str_radix(size, 16).unwrap();
                    whole.push_str(&chunk[..size]);
                    rest = &chunk[size + 2..];
                }
                whole
            }
            _ => answer,
        }
    }

    fn get(&self, path: &str) -> String {
        let request = format!(
            "GET {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.base, self.address
        );
        self.send(request.as_bytes())
    }

    /// Returns the page at a path. The page must exist.
    #[track_caller]
    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n"),
            "{path}: {answer}"
        );
        answer
    }
}

/// Returns the number of citations on a page.
fn citations(page: &str) -> usize {
    page.matches("<p class=\"url\">").count()
}

#[test]
fn a_page_searches_filters_and_counts() {
    let (_folder, served) = Served::of(MAIL);
    for (path, count) in [
        ("", 4),
        ("?q=other", 1),
        ("?q=%22the+other%22", 1),
        ("?scheme=ftp", 1),
        ("?sender=jane&domain=m.example", 2),
        ("?since=1996-01-02&until=1996-01-02", 1),
        ("?since=1997", 0),
        ("link?key=HTTP://m.example:80/lamp", 3),
        ("domain?domain=f.example", 1),
        ("sender?sender=john@m.example", 1),
        ("sender?sender=%3Cjohn@m.example%3E", 1),
        ("sender?sender=%3Cohn@m.example%3E", 0),
        ("?page=7", 4),
        ("?hazard=mismatch", 0),
        ("?state=alive", 0),
        (
            "?domain=m.example&key=http://m.example/lamp&since=1996-01-02",
            1,
        ),
    ] {
        assert_eq!(citations(&served.page(path)), count, "{path}");
    }
    for (path, hint) in [
        ("?domain=www.m.example", "info.cern.ch, into <em>Host</em>"),
        ("?list=m", "by its complete name"),
    ] {
        let page = served.page(path);
        assert!(citations(&page) == 0 && page.contains(hint), "{page}");
    }
    let first = served.page("");
    assert!(first.contains("href=\"./?domain=m.example\""), "{first}");
    assert!(first.contains("<h2>4 citations</h2>"), "{first}");
    let none = served.get("link?key=http://none.example/");
    assert!(none.starts_with("HTTP/1.1 404 "), "{none}");
    assert_contains(&none, "./?q=http");
    assert_contains(&none, "No citation of this link");
    for (path, reason) in [
        ("?until=soon", "is not a date"),
        ("?since=1997&until=1996", "The dates are reversed"),
        ("?q=%22", "neither a letter nor a digit"),
    ] {
        let refused = served.get(path);
        assert!(refused.starts_with("HTTP/1.1 400 "), "{refused}");
        assert_contains(&refused, reason);
    }
    assert!(served.get("link").starts_with("HTTP/1.1 400 "));
    assert!(served.get("none").starts_with("HTTP/1.1 404 "));
}

#[test]
fn links_are_filtered_by_their_state_in_an_audit() {
    let (folder, served) = Served::of(MAIL);
    let database = folder.path("urls.db");
    let option = "<option value=\"unknown\"";
    assert!(!served.page("").contains(option));
    ended(urlspool(["audit", "plan", "-q"]).arg(&database), b"").check(0, "");
    let db = rusqlite::Connection::open(database).unwrap();
    // The plan excludes names under `example`.
    assert_eq!(citations(&served.page("?state=not+in+the+plan")), 4);
    let plan = "UPDATE audit_links SET planned = 1 WHERE key = 'http://m.example/lamp'";
    db.execute_batch(plan).unwrap();
    assert_eq!(citations(&served.page("?state=not+checked+yet")), 3);
    db.execute_batch(
        "INSERT INTO audit_meta VALUES('confirm', 1);
         INSERT INTO audit_checks(key, checked_at, state, status, checker)
           VALUES('http://m.example/lamp', '2026-11-22T10:00:00Z', 'dead_page', 404, 'x')",
    )
    .unwrap();
    assert_contains(&served.page(""), option);
    let words = "dead page, confirmed";
    assert_eq!(
        citations(&served.page(&format!("?state={}", words.replace(' ', "+")))),
        3
    );
    assert_eq!(citations(&served.page("?state=alive")), 0);
    assert_eq!(citations(&served.page("?state=not+checked+yet")), 0);
    assert_eq!(citations(&served.page("?state=not+in+the+plan")), 1);
    let link = served.page("link?key=http://m.example/lamp");
    assert_contains(&link, "dead page, confirmed, checked <span");
}

#[test]
fn each_page_has_fifty_citations_of_one_order() {
    let mail: String = (0..120)
        .map(|n| {
            format!(
                "From a Mon Jan  1 00:00:00 1996\nFrom: a@m.example\nDate: Mon, 1 Jan 1996 \
                 10:{:02}:{:02} +0000\nMessage-ID: <{n}@m.example>\n\nhttp://m.example/{n}\n\n",
                n / 60,
                n % 60
            )
        })
        .collect();
    let (_folder, served) = Served::of(&mail);
    let mut seen = Vec::new();
    for page in 1..=3 {
        let text = served.page(&format!("?sort=oldest&page={page}"));
        for part in text.split("<bdi>http://m.example/").skip(1) {
            let number = part.split('<').next().unwrap();
            seen.extend(number.parse::<usize>());
        }
    }
    assert_eq!(seen, (0..120).collect::<Vec<_>>());
}

#[test]
fn texts_of_the_archive_are_escaped_and_not_linked() {
    let (_folder, served) = Served::of(HOSTILE);
    for path in [
        "",
        "?q=evil",
        "domain?domain=evil.example",
        "sender?sender=eve@m.example",
    ] {
        let answer = served.page(path);
        assert_contains(&answer, "Content-Security-Policy: default-src 'none';");
        let (_, page) = answer.split_once("\r\n\r\n").unwrap();
        assert!(1 <= citations(page), "{page}");
        for markup in [
            "<script",
            "<img",
            "\u{202e}",
            "\u{1b}",
            " onmouseover=",
            "<b>",
        ] {
            assert!(!page.contains(markup), "{path}: {markup}");
        }
        for attribute in ["href=\"", "src=\"", "action=\""] {
            for part in page.split(attribute).skip(1) {
                let target = part.split('"').next().unwrap();
                let own = "./ link? links? domain? list? sender? bytes?row= citations. style.css #";
                let is_own = own.split(' ').any(|start| target.starts_with(start));
                assert!(is_own, "{target}");
            }
        }
    }
    // Text typed by a reader is only text too.
    let typed = served.page("?q=%22%3E%3Cscript%3E&sender=%22%3E%3Cscript%3E");
    assert!(!typed.contains("<script"), "{typed}");
}

#[test]
fn only_well_formed_requests_to_its_address_are_answered() {
    let (_folder, served) = Served::of(MAIL);
    let address = &served.address;
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n", 403),
        ("GET / HTTP/1.1\r\nHost: evil.example:PORT\r\n", 403),
        ("GET / HTTP/1.1\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: ADDRESS\r\n", 405),
        ("GET http://ADDRESS/ HTTP/1.1\r\nHost: ADDRESS\r\n", 400),
        ("GET /../a.mbox HTTP/1.1\r\nHost: ADDRESS\r\n", 404),
        ("GET /?q=40_KIB HTTP/1.1\r\nHost: ADDRESS\r\n", 431),
        ("GET /70_KIB HTTP/1.1\r\nHost: ADDRESS\r\n", 414),
        ("GET / HTTP/1.1\r\nHost: ADDRESS\r\n80_FIELDS", 431),
        ("\u{16}\u{3}\u{1}\r\n", 400),
        ("HEAD / HTTP/1.1\r\nHost: ADDRESS\r\n", 200),
    ] {
        let filled = request
            .replace("ADDRESS", address)
            .replace("PORT", &address[10..])
            .replace("40_KIB", &"a".repeat(40 << 10))
            .replace("70_KIB", &"a".repeat(70 << 10))
            .replace("80_FIELDS", &"a: b\r\n".repeat(80));
        let answer = served.send((filled + "\r\n").as_bytes());
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{request}: {answer}"
        );
    }
}

/// Returns a mail with links to `count` pages, each with a long address.
fn long_links(count: usize) -> String {
    let path = "a".repeat(2_000);
    let links: String = (0..count)
        .map(|n| format!("http://m.example/{n}/{path}\n\n"))
        .collect();
    format!("From a Mon Jan  1 00:00:00 1996\nFrom: a@m.example\n\n{links}")
}

#[test]
fn slow_clients_do_not_delay_others() {
    let (_folder, served) = Served::of(&long_links(3_000));
    let host = &served.address;
    let export = format!("GET /citations.jsonl HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut clients = Vec::new();
    // The list is built once.
    served.page("citations.jsonl");
    let kinds = [
        ("G", 70),
        ("", 70),
        (&*export, 12),
        ("G", 70),
        (&*export, 12),
    ];
    for (request, count) in kinds {
        for _ in 0..count {
            let mut client = TcpStream::connect(host).unwrap();
            client.write_all(request.as_bytes()).unwrap();
            clients.push(client);
        }
        let begun = Instant::now();
        served.page("style.css");
        served.page("?q=nothing");
        let seconds = begun.elapsed().as_secs_f64();
        // About a second, more on a busy machine. A slow client is allowed ten.
        assert!(seconds < 4.0, "{request}: {seconds}");
    }
    // The last clients are served as soon as they read.
    let mut answer = Vec::new();
    clients.pop().unwrap().read_to_end(&mut answer).unwrap();
    assert!(6_000_000 < answer.len(), "{}", answer.len());
}

#[test]
fn a_long_file_is_sent_completely_in_pieces() {
    let (_folder, served) = Served::of(&long_links(300));
    for (path, lines) in [("citations.csv", 301), ("links.jsonl", 300)] {
        let answer = served.page(path);
        assert!(answer.contains("Transfer-Encoding: chunked"), "{path}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(body.lines().count(), lines, "{path}");
    }
}

#[cfg(feature = "planted-faults")]
#[test]
fn a_page_that_panics_is_an_error_and_the_next_one_is_answered() {
    let folder = Folder::new();
    loaded(&folder, &[], &records(&folder, "a.mbox", MAIL));
    let mut command = urlspool(["browse", "--listen", "127.0.0.1:0"]);
    let command = command.env("URLSPOOL_PLANTED", "PanicInPage");
    let served = Served::by(command.arg(folder.path("urls.db")));
    // More requests than threads.
    for _ in 0..20 {
        let answer = served.get("?q=planted+panic");
        assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
        assert!(answer.contains("The page cannot be made"), "{answer}");
    }
    assert_eq!(citations(&served.page("")), 4);
}

#[test]
fn another_address_needs_the_token() {
    let folder = Folder::new();
    loaded(&folder, &[], &records(&folder, "a.mbox", MAIL));
    let mut served = Served::at(&folder, "0.0.0.0:0");
    assert_eq!(served.base.len(), 34, "{}", served.base);
    // 0.0.0.0 is not an address that a browser can open.
    assert!(
        served.address.starts_with("127.0.0.1:"),
        "{}",
        served.address
    );
    assert_eq!(citations(&served.page("")), 4);
    let base = std::mem::replace(&mut served.base, "/".to_owned());
    for path in ["", "style.css", &format!("{}0/", &base[1..33]), "?q=lamp"] {
        let answer = served.get(path);
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
        // Without the token, the answer shows neither the token nor a page.
        assert!(
            !answer.contains(&base[1..33]) && !answer.contains("<html"),
            "{answer}"
        );
        assert!(answer.contains("open the complete address"), "{answer}");
    }
    served.base = base;
    let page = served.get("none/at/all");
    assert!(page.contains("action=\"../.././\""), "{page}");
    // The slash after the token is not counted.
    let page = served.get(&"/".repeat(16));
    let back = format!("href=\"{}./\">All links</a>", "../".repeat(16));
    assert!(page.contains(&back), "{page}");
}

#[test]
fn an_answer_does_not_grow_with_the_slashes_of_a_path() {
    let (_folder, served) = Served::of(MAIL);
    for count in [17, 60_000] {
        let answer = served.get(&"/".repeat(count));
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
        assert!(answer.contains("Go back to the previous page"), "{answer}");
        assert!(answer.len() < 2_000 && !answer.contains("../"), "{answer}");
    }
}

#[test]
fn a_refusal_is_a_page_with_the_reason_and_a_way_back() {
    let (_folder, served) = Served::of(MAIL);
    let long = format!("?q={}", "a".repeat(40 << 10));
    for (path, status, reason) in [
        ("none", 404, "There is no page with this address"),
        ("bytes?row=99", 404, "This citation is not in the database"),
        ("bytes?row=x", 400, "The address of this page is incomplete"),
        (
            "?page=0&q=lamp",
            400,
            "The address of this page is incomplete",
        ),
        (
            "list?q=lamp",
            400,
            "./?q=lamp\">Citations with these conditions",
        ),
        (&long, 431, "Search for less"),
    ] {
        let answer = served.get(path);
        let start = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&start), "{answer}");
        for part in [
            "Content-Security-Policy: default-src 'none';",
            "<form class=\"search\"",
            "href=\"./\">All links</a>",
            reason,
        ] {
            assert!(answer.contains(part), "{part}: {answer}");
        }
    }
    let other = served.send(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    let address = format!("Open http://{}/\n", served.address);
    assert!(other.ends_with(&address), "{other}");
}

#[test]
fn the_database_stays_as_it_is_and_new_rows_are_seen() {
    let (folder, served) = Served::of(MAIL);
    let before = std::fs::read(folder.path("urls.db")).unwrap();
    served.page("");
    served.page("?q=lamp");
    assert_eq!(std::fs::read(folder.path("urls.db")).unwrap(), before);
    loaded(&folder, &[], &records(&folder, "b.mbox", HOSTILE));
    assert!(served.page("").contains("<h2>6 citations</h2>"));
}

#[test]
fn raw_bytes_are_shown_with_the_text_around_them() {
    let (folder, served) = Served::of(MAIL);
    let first = served.page("?scheme=ftp");
    let link = first.split("href=\"bytes?row=").nth(1).unwrap();
    let row = link.split('"').next().unwrap();
    let page = served.page(&format!("bytes?row={row}"));
    let (_, raw) = page.split_once("<pre class=\"raw\">").unwrap();
    let (raw, _) = raw.split_once("</pre>").unwrap();
    let (before, rest) = raw.split_once("<mark>").unwrap();
    let (url, after) = rest.split_once("</mark>").unwrap();
    assert!(url.starts_with("ftp://f.example/"), "{url}");
    let text = raw.replace("<mark>", "").replace("</mark>", "");
    assert!(
        MAIL.replace('<', "&lt;")
            .replace('>', "&gt;")
            .contains(text.trim_end()),
        "{text}"
    );
    assert!(before.lines().count() + after.lines().count() > 2, "{raw}");
    // No bytes of other messages.
    assert!(!text.contains("From ") && !text.contains("John"), "{text}");
    assert!(page.contains("of the file before") && page.contains("of the file after"));
    for path in ["bytes", "bytes?row=x", "bytes?row=1&row=2"] {
        assert!(served.get(path).starts_with("HTTP/1.1 400 "), "{path}");
    }
    assert!(served.get("bytes?row=99").starts_with("HTTP/1.1 404 "));
    std::fs::write(folder.path("a.mbox"), "short").unwrap();
    let page = served.page(&format!("bytes?row={row}"));
    assert_contains(&page, "it is not the file that was scanned");
    std::fs::remove_file(folder.path("a.mbox")).unwrap();
    let page = served.page(&format!("bytes?row={row}"));
    assert!(page.contains("The file cannot be read: "), "{page}");
}

/// A record may name any file. Only a reader of the message can know the id of its record.
#[test]
fn only_the_files_of_genuine_records_are_shown() {
    let folder = Folder::new();
    let url = "http://m.example/lamp";
    let mail = format!("From: a@m.example\nSubject: s\n\nsee {url} here\n");
    let secret = format!("From: a@m.example\nSubject: s\n\nkey {url} 0123456789\n");
    let copy = folder.file("copy", &mail);
    let [secret, other] = ["secret", "other"].map(|name| folder.file(name, &secret));
    let record = lines(&records(&folder, "a", &mail)).remove(0);
    let start = record["source"]["start"].as_u64().unwrap();
    let rows = [
        (&*copy, start, "message"),
        (&*secret, start, "message"),
        (&*other, start, "text"),
        ("/etc/passwd", 0, "text"),
        ("/dev/zero", start, "text"),
    ];
    let mut input = String::new();
    for (path, start, kind) in rows {
        let mut record = record.clone();
        let end = start + url.len() as u64;
        for (field, value) in [("path", path.into()), ("mailbox", path.into())] {
            record["source"][field] = value;
        }
        record["source"]["kind"] = kind.into();
        record["source"]["start"] = start.into();
        record["source"]["end"] = end.into();
        writeln!(input, "{record}").unwrap();
        // The id does not match.
        record["id"] = format!("{start:032x}").into();
        writeln!(input, "{record}").unwrap();
    }
    loaded(&folder, &[], input.as_bytes());
    let served = Served::at(&folder, "127.0.0.1:0");
    for row in 1..=2 * rows.len() {
        let page = served.page(&format!("bytes?row={row}"));
        let is_shown = page.contains("<pre");
        assert_eq!(is_shown, page.contains("see <mark>"), "{page}");
        assert_eq!(
            is_shown,
            page.contains(&format!(">{copy}:{start}-")) && row == 1,
            "{page}"
        );
        assert!(
            !page.contains("0123456789") && !page.contains("root:"),
            "{page}"
        );
    }
}

#[test]
fn the_bytes_of_a_url_joined_with_evidence_are_shown() {
    let folder = Folder::new();
    let mail = "From a\n\nhttp://a.example/lamp\nwick x\n\nFrom b\n\nhttp://a.example/lampwick\n";
    let path = folder.file("a", mail);
    let database = folder.path("urls.db");
    let mut scan = urlspool(["scan", "--evidence", "self", &path, "--into"]);
    ended(scan.arg(&database), b"").check(0, "");
    let page = Served::at(&folder, "127.0.0.1:0").page("bytes?row=1");
    assert_contains(&page, "<mark>http://a.example/lamp\nwick</mark>");
}

#[test]
fn files_are_shown_to_others_only_below_a_folder() {
    let folder = Folder::new();
    let mail = "From: a@m.example\n\nsee http://m.example/lamp\n";
    folder.file("inside/a", mail);
    std::os::unix::fs::symlink(folder.path("b"), folder.path("inside/link")).unwrap();
    std::os::unix::fs::symlink(folder.path("inside"), folder.path("folder")).unwrap();
    let database = folder.path("inside/urls.db");
    let mut command = urlspool(["load", "--into"]);
    let record = lines(&records(&folder, "b", mail)).remove(0);
    let input: Vec<_> = ["b", "inside/link", "inside/../b", "folder/a", "inside/a"]
        .into_iter()
        .map(|name| {
            let mut record = record.clone();
            for field in ["path", "mailbox"] {
                record["source"][field] = folder.path(name).to_str().unwrap().into();
            }
            format!("{record}\n")
        })
        .collect();
    assert_eq!(
        ended(command.arg(&database), input.concat().as_bytes()).status,
        Some(0)
    );
    let shown = |command: &mut Command| -> Vec<bool> {
        let served = Served::by(command.arg(&database));
        let pages = (1..=5).map(|row| served.page(&format!("bytes?row={row}")));
        pages.map(|page| page.contains("<pre")).collect()
    };
    let all = ["browse", "--listen", "0.0.0.0:0"];
    assert_eq!(shown(&mut urlspool(all)), [false, false, false, true, true]);
    assert_eq!(
        shown(urlspool(all).arg("--files").arg(folder.root())),
        [true; 5]
    );
    let own = ["browse", "--listen", "127.0.0.1:0"];
    assert_eq!(shown(&mut urlspool(own)), [true; 5]);
    assert_eq!(shown(urlspool(own).args(["--files", "/none"])), [false; 5]);
}

#[test]
fn the_text_around_a_hostile_link_is_text() {
    let (_folder, served) = Served::of(HOSTILE);
    for row in 1..=2 {
        let page = served.page(&format!("bytes?row={row}"));
        let (_, raw) = page.split_once("<pre class=\"raw\">").unwrap();
        let (raw, _) = raw.split_once("</pre>").unwrap();
        for markup in ["<a", "<b>", "<script", "<img"] {
            assert!(!raw.contains(markup), "{raw}");
        }
        assert!(raw.contains("&lt;a href="), "{raw}");
    }
}

#[test]
fn links_only_in_list_fields_are_hidden_until_they_are_shown() {
    let folder = folder_of_list();
    let served = Served::at(&folder, "127.0.0.1:0");
    assert_contains(&served.page("links"), "4 citations are hidden");
    for (path, shown, hidden) in [
        ("?", 4, "4 citations are hidden"),
        ("?scheme=mailto", 0, "1 citation is hidden"),
        ("?region=body", 2, ""),
        ("?region=header", 2, "4 citations are hidden"),
        ("link?key=http://l.example/off", 0, "2 citations are hidden"),
        ("domain?domain=l.example", 2, "3 citations are hidden"),
    ] {
        let page = served.page(path);
        assert_eq!(citations(&page), shown, "{path}");
        assert!(page.contains(hidden), "{path}: {page}");
        assert_eq!(
            page.contains("hidden, because"),
            !hidden.is_empty(),
            "{path}"
        );
        let all = served.page(&format!("{path}&list-fields=1"));
        let hidden = hidden
            .split(' ')
            .next()
            .and_then(|count| count.parse().ok());
        assert_eq!(citations(&all), shown + hidden.unwrap_or(0), "{path}");
        assert!(!all.contains("hidden, because"), "{path}");
    }
    let page = served.get("?region=head");
    assert_contains(&page, "Region: <bdi>head</bdi> is unknown.");
    let links = served.page("links?list-fields=1");
    assert_contains(&links, "<h2>6 links</h2>");
    assert_contains(&served.page("links"), "<h2>3 links</h2>");
}
