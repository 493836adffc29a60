//! `urlspool audit report`: counts, files, and text that must not become markup.

use std::collections::BTreeSet;
use std::fs;

use html5gum::{Token, Tokenizer};
use rusqlite::Connection;

use super::{audit, audited, loaded, message, rows, run};
use crate::scene::{Folder, Rng, assert_contains, urlspool};

mod bag;

const DATED: &str = "Date: Tue, 2 Jan 1996 10:00:00 +0000\nList-Id: <l.m.test>\nSubject: A\tlamp\n";

/// Creates a planned audit of three links: of 1996, of 1996 in two messages, and undated.
fn planned() -> Folder {
    let folder = Folder::new();
    let mail = [
        message(1, DATED, "http://l.cern.ch/a and http://l.cern.ch/b\n"),
        message(2, DATED, "http://l.cern.ch/b and gopher://l.cern.ch/\n"),
        message(3, "", "http://www.w3.org/c\n"),
    ];
    loaded(&folder, &mail.concat());
    audited(&folder, "plan", &["-q"]);
    folder
}

/// Stores a check of the link whose URL has this end.
fn checked(folder: &Folder, end: &str, time: &str, state: &str, status: &str) {
    run(
        folder,
        &format!(
            "INSERT INTO audit_checks(key, checked_at, state, status, checker)
             SELECT key, '{time}', '{state}', {status}, 'lychee 0.24.2' FROM audit_links WHERE url \
             LIKE '%{end}'"
        ),
    );
}

/// Writes the HTML report and the CSV files in `csv`. Returns the HTML.
fn reported(folder: &Folder, options: &[&str]) -> String {
    let (html, csv) = (folder.path("report.html"), folder.path("csv"));
    for place in [
        &["-o", html.to_str().unwrap()][..],
        &["--format", "csv", "-o", csv.to_str().unwrap()],
    ] {
        audited(folder, "report", &[place, options].concat());
    }
    fs::read_to_string(html).unwrap()
}

fn csv(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path("csv").join(name)).unwrap()
}

#[test]
fn the_newest_check_decides_the_state_and_unknown_links_are_counted() {
    let folder = planned();
    checked(&folder, "/a", "2026-11-20T10:00:00Z", "dead_page", "404");
    checked(&folder, "/a", "2026-11-22T10:00:00Z", "alive", "200");
    checked(&folder, "/b", "2026-11-22T10:00:00Z", "dead_page", "410");
    run(
        &folder,
        "INSERT INTO audit_captures SELECT key, 'https://web.archive.org/cdx/search/cdx', \
         '2026-11-22T10:00:00Z',
           '19961219120000', url, 200, 'captured' FROM audit_links WHERE url LIKE '%/b'",
    );
    let html = reported(&folder, &[]);
    assert_eq!(
        csv(&folder, "cohorts-by-year.csv"),
        "year,links,alive,redirected,dead_page,dead_host,unknown,archived,confirmed\n\
         1996,2,1,0,1,0,0,1,0\nundated,1,0,0,0,0,1,0,0\n"
    );
    assert_eq!(
        csv(&folder, "dead-protocols.csv"),
        "year,gopher,wais,prospero,telnet\n1996,1,0,0,0\n"
    );
    assert_eq!(csv(&folder, "exclusions.csv"), "reason,links\nscheme,1\n");
    // One link is alive after 371 months, one is dead by then.
    assert_eq!(
        csv(&folder, "lifetimes.csv"),
        "end,after_months,until_months,weight\ndead,0,371,1.000000\ndead,371,,1.000000\n\
         dead_or_redirected,0,371,1.000000\ndead_or_redirected,371,,1.000000\n"
    );
    // All links have one host.
    let shares = csv(&folder, "shares-by-year.csv");
    assert_contains(&shares, "\n1996,2,2,1,0.500000,,,0.500000,,,");
    assert_contains(&shares, ",0,0\n");
    assert!(html.contains("not determined by these ages"));
    let snapshot = "https://web.archive.org/web/19961219120000/http://l.cern.ch/b";
    assert!(csv(&folder, "dead-links.csv").contains(&format!(",captured,{snapshot},1,0,\n")));
    assert!(html.contains(&format!("href=\"{snapshot}\"")));
    assert!(!html.contains("href=\"http://"), "a dead link is clickable");
    assert_eq!(csv(&folder, "citations.csv").lines().count(), 3);
    run(
        &folder,
        "INSERT INTO audit_captures SELECT key, server, asked_at, NULL, NULL, NULL, 'none'
           FROM audit_links JOIN (SELECT server, asked_at FROM audit_captures)
           WHERE url LIKE '%/a'",
    );
    let html = reported(&folder, &[]);
    assert_contains(&csv(&folder, "shares-by-year.csv"), ",0,1\n");
    let text = html.replace("</td>", " ").replace('\n', "");
    assert_contains(&text, "safe, at risk, preserved or lost");
    assert_contains(&text, "1996 to 2000");
}

#[test]
fn a_death_of_several_days_is_confirmed() {
    let folder = planned();
    for (end, day, state, status) in [
        ("/a", 1, "dead_host", "NULL"),
        ("/a", 4, "dead_page", "404"),
        ("/a", 7, "dead_page", "404"),
        ("/b", 1, "dead_page", "404"),
        ("/b", 4, "unknown", "503"),
        ("/b", 7, "dead_page", "404"),
        ("/b", 17, "dead_page", "404"),
        ("/c", 1, "dead_page", "404"),
        ("/c", 4, "dead_page", "404"),
        ("/c", 7, "alive", "200"),
    ] {
        let time = format!("2026-11-{day:02}T10:00:00Z");
        checked(&folder, end, &time, state, status);
    }
    let states = rows(
        &folder.path("urls.db"),
        "SELECT words FROM audit_states ORDER BY key",
    );
    assert_eq!(
        states,
        [
            "not in the plan",
            "dead page, confirmed",
            "dead page, not confirmed",
            "alive"
        ]
    );
    let html = reported(&folder, &[]);
    let dead = csv(&folder, "dead-links.csv");
    for (url, end) in [("/a,", ",3,1,"), ("/b,", ",2,0,")] {
        let line = dead.lines().find(|line| line.contains(url)).unwrap();
        assert!(line.ends_with(end), "{line}");
    }
    let cohorts = csv(&folder, "cohorts-by-year.csv");
    assert_contains(
        &cohorts,
        "\n1996,2,0,0,2,0,0,0,1\nundated,1,1,0,0,0,0,0,0\n",
    );
    let shares = csv(&folder, "shares-by-year.csv");
    assert!(shares.contains(",1,0.500000,"), "{shares}");
    for part in [
        "after 3 failures, each at least 3 days after the previous one, with no reply",
        "(404, <span class=\"whole\">2026-11-07</span>, confirmed)",
        "(404, <span class=\"whole\">2026-11-17</span>, not confirmed)",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    run(
        &folder,
        "INSERT INTO audit_meta VALUES('confirm', '1'), ('confirm_after', '3600')",
    );
    let html = reported(&folder, &[]);
    assert!(html.contains("is confirmed after one failure,"));
    assert!(csv(&folder, "cohorts-by-year.csv").contains("\n1996,2,0,0,2,0,0,0,2\n"));
}

#[test]
fn senders_may_be_left_out() {
    let folder = planned();
    checked(&folder, "/b", "2026-11-22T10:00:00Z", "dead_page", "404");
    let html = reported(&folder, &[]);
    assert!(html.contains("a@m.test") && html.contains("&lt;1@m.test&gt;"));
    let html = reported(&folder, &["--no-senders"]);
    assert!(!html.contains("@m.test") && html.contains("A lamp"));
    let citations = csv(&folder, "citations.csv");
    assert!(!citations.contains("@m.test"), "{citations}");
    assert_contains(&citations, ",A\tlamp,,l.m.test,");
}

#[test]
fn a_report_names_what_it_is_about_and_how_to_cite_it() {
    let folder = planned();
    checked(&folder, "/a", "2026-11-22T10:00:00Z", "alive", "200");
    let html = reported(&folder, &[]);
    assert!(html.contains("<h1>Link-rot audit</h1>"), "{html}");
    let about = [
        "--title=Links of <www-talk>",
        "--author=J. Doe",
        "--collection=WWW",
    ];
    audited(&folder, "plan", &about);
    // A later plan keeps them.
    audited(&folder, "plan", &["-q"]);
    let html = reported(&folder, &[]);
    for part in [
        "<h1>Links of &lt;www-talk&gt;</h1>",
        "By <bdi>J. Doe</bdi>.",
        "How to cite: <bdi>J. Doe</bdi> (2026). <bdi>Links of &lt;www-talk&gt;</bdi>. \
         <bdi>WWW</bdi>. urlspool ",
        ", data of <span class=\"whole\">2026-11-22</span>.",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn the_database_is_never_overwritten() {
    let folder = planned();
    let database = folder.path("urls.db");
    let before = fs::read(&database).unwrap();
    let link = folder.path("link.html");
    std::os::unix::fs::symlink(&database, &link).unwrap();
    let hard = folder.path("hard.html");
    fs::hard_link(&database, &hard).unwrap();
    let csv = folder.path("csv");
    fs::create_dir(&csv).unwrap();
    fs::hard_link(&database, csv.join("by-host.csv")).unwrap();
    for args in [
        vec!["-o", database.to_str().unwrap()],
        vec!["-o", link.to_str().unwrap()],
        vec!["-o", hard.to_str().unwrap()],
        vec!["--format", "csv", "-o", csv.to_str().unwrap()],
    ] {
        let ended = audit(&folder, "report", &args);
        ended.check(2, "would overwrite the database");
        assert_eq!(fs::read(&database).unwrap(), before);
    }
    let wal = format!("{}-wal", database.display());
    let ended = audit(&folder, "report", &["-o", &wal]);
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    let mut by_link = urlspool(["audit", "report"]);
    let ended = crate::scene::ended(by_link.arg(&link).args(["-o", &wal]), b"");
    ended.check(2, "would overwrite the database");
}

#[test]
fn a_report_that_fails_leaves_an_earlier_one() {
    let folder = planned();
    let before = reported(&folder, &[]);
    run(&folder, "DROP TABLE audit_captures");
    let html = folder.path("report.html");
    let ended = audit(&folder, "report", &["-o", html.to_str().unwrap()]);
    assert_eq!(ended.status, Some(74), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(&html).unwrap(), before);
    assert!(!folder.path("report.html.urlspool-partial").exists());
}

/// Texts with a meaning in HTML, terminals or spreadsheets.
const HOSTILE: [&str; 24] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style></script></bdi></td><b>",
    "javascript:alert(1)",
    "=HYPERLINK(\"http://e.test\")",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n",
    "\u{202e}gnp.exe\u{202c}",
    "\u{2066}\u{200f}",
    "\u{1b}]8;;http://e.test\u{7}x\u{1b}]8;;\u{7}",
    "\u{1b}[2J\u{9b}31m",
    "\u{2028}\u{2029}",
    "&lt;b&gt;&amp;&#60;",
    "]]><!--",
    "-->",
    "\u{0}",
    "a,\"b\"",
    "\u{1f4a9}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

fn hostile(rng: &mut Rng) -> String {
    let count = 1 + rng.below(6);
    (0..count).map(|_| *rng.pick(&HOSTILE)).collect()
}

/// Returns the elements and attributes of a page.
fn markup(html: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in Tokenizer::new(html).map(|token| token.unwrap()) {
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8(tag.name.0).unwrap();
                found.extend(tag.attributes.into_keys().map(|attribute| {
                    format!("{name} {}", String::from_utf8(attribute.0).unwrap())
                }));
                found.insert(name);
            }
            Token::Comment(comment) => panic!("a comment: {comment:?}"),
            Token::Error(error) => panic!("{error:?}"),
            _ => {}
        }
    }
    found
}

#[test]
fn hostile_text_is_inert() {
    let folder = planned();
    for end in ["/a", "/b", "/c"] {
        checked(&folder, end, "2026-11-22T10:00:00Z", "dead_page", "404");
    }
    let plain = markup(&reported(&folder, &[]));
    let mut rng = Rng::seeded(100);
    for round in 0..40 {
        let db = Connection::open(folder.path("urls.db")).unwrap();
        for sql in [
            "UPDATE messages SET subject=?1, sender=?1, message_id=?1, list_id=?1, date=?1",
            "UPDATE urls SET anchor=?1",
            "UPDATE sources SET path=?1",
            "UPDATE audit_links SET url='http://' || ?1, host=?1, domain=?1, tld=?1, list=?1",
            "UPDATE audit_checks SET checker=?1, status=NULL, error=?1",
            "INSERT OR REPLACE INTO audit_meta VALUES('sample', ?1), ('by', ?1), ('seed', ?1), \
             ('force', ?1), ('planned_at', ?1), ('title', ?1), ('author', ?1), ('collection', ?1), \
             ('program', ?1)",
            "UPDATE audit_strata SET stratum=?1",
            "UPDATE audit_links SET year=?1, excluded=?1 WHERE planned=0",
        ] {
            db.execute(sql, [hostile(&mut rng)]).unwrap();
        }
        let html = reported(&folder, &[]);
        let mut found = markup(&html);
        // The table of strata comes with the sample, and the year of the excluded link may appear.
        found.retain(|part| !plain.contains(part));
        assert!(found.is_empty(), "round {round}: {found:?}");
        let controls: Vec<_> = html
            .chars()
            .filter(|c| c.is_control() && *c != '\n' || ('\u{2028}'..='\u{202e}').contains(c))
            .collect();
        assert!(controls.is_empty(), "round {round}: {controls:?}");
        for link in html.split("href=\"").skip(1) {
            let is_ours = link.starts_with('#') || link.starts_with("https://web.archive.org/web/");
            assert!(is_ours, "round {round}: {}", &link[..40]);
        }
        assert_eq!(html.matches("<script>").count(), 1);
        for file in fs::read_dir(folder.path("csv")).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            check_cells(&csv(&folder, &name), &name);
        }
    }
    assert!(!rows(&folder.path("urls.db"), "SELECT url FROM audit_links").is_empty());
}

/// Checks that no cell of a CSV file is a formula.
#[track_caller]
fn check_cells(text: &str, name: &str) {
    let (mut is_quoted, mut is_start) = (false, true);
    for c in text.chars() {
        if is_start && c != '"' {
            assert!(!"=+-@\t\r".contains(c), "a formula in {name}: {text}");
            is_start = false;
        }
        let is_obeyed = c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!is_obeyed, "{c:?} in {name}");
        match c {
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => is_start = true,
            _ => {}
        }
    }
    assert!(!is_quoted, "an open quotation mark in {name}");
}
