//! `urlspool audit plan`.

use super::{audit, audited, loaded, message, rows, run};
use crate::scene::{Folder, assert_contains, done};

const DATED: &str = "Date: Tue, 2 Jan 1996 10:00:00 +0000\nList-Id: <l.m.test>\n";

/// Returns the URL and the exclusion of each link, with `+` before planned ones.
fn plan_of(folder: &Folder) -> Vec<String> {
    let sql =
        "SELECT iif(planned, '+', ' ') || url, ifnull(excluded, '') FROM audit_links ORDER BY url";
    rows(&folder.path("urls.db"), sql)
}

#[test]
fn each_reason_leaves_a_link_out() {
    let folder = Folder::new();
    let mail = [
        message(
            1,
            &format!(
                "{DATED}List-Unsubscribe: <http://l.cern.ch/u?x=1>\nX-Also: http://l.cern.ch/also\n"
            ),
            "http://l.cern.ch/page#part and http://l.cern.ch/also and gopher://l.cern.ch/\n\
             http://u:p@l.cern.ch/ http://l.cern.ch/confirm/1 http://l.cern.ch/cut/...\n\
             http://0x7f.1/ http://wiki/ http://www.example.com/ http://169.254.169.254/latest\n\
             http://[::ffff:10.0.0.1]/ ftp://l.cern.ch/x mailto:x@l.cern.ch\n",
        ),
        message(2, DATED, "http://l.cern.ch/page\n"),
    ];
    loaded(&folder, &mail.concat());
    let summary = audited(&folder, "plan", &[]);
    let found = plan_of(&folder);
    let planned: Vec<_> = found.iter().filter(|row| row.starts_with('+')).collect();
    assert_eq!(
        planned,
        ["+http://l.cern.ch/also|", "+http://l.cern.ch/page|"],
        "{found:#?}"
    );
    for (part, reason) in [
        ("ftp:", "scheme"),
        ("gopher:", "scheme"),
        ("//127.0.0.1/", "private-host"),
        ("/u?x=1", "header-only"),
        ("u:p@", "credentials"),
        ("/confirm/1", "action"),
        ("mailto:", "scheme"),
        ("//wiki/", "private-host"),
        ("www.example.com", "private-host"),
        ("169.254.169.254", "private-host"),
        ("[::ffff:", "private-host"),
    ] {
        let row = found.iter().find(|row| row.contains(part)).expect(part);
        assert!(row.ends_with(&format!("|{reason}")), "{row}");
    }
    assert_contains(summary.text(), "2    to check");
    assert_contains(summary.text(), "header-only");
    let sql = "SELECT citations, messages, year, list, tld, domain FROM audit_links
      WHERE url LIKE '%/page'";
    assert_eq!(
        rows(&folder.path("urls.db"), sql),
        ["2|2|1996|l.m.test|ch|cern.ch"]
    );
}

/// Regression: a link in plain text was left out by its confidence, whose dots are not part of it.
#[test]
fn links_cut_short_in_plain_text_and_in_wrappers_have_the_same_reason() {
    let folder = Folder::new();
    let text = "see http://a.cern.ch/files/... for more\n\n<http://b.cern.ch/b/...>\n";
    loaded(&folder, &message(1, DATED, text));
    audited(&folder, "plan", &[]);
    let urls = ["http://a.cern.ch/files/|", "http://b.cern.ch/b/...|"];
    assert_eq!(plan_of(&folder), urls.map(|url| format!(" {url}shortened")));
    audited(&folder, "plan", &["--force", "shortened"]);
    assert_eq!(plan_of(&folder), urls.map(|url| format!("+{url}")));
}

/// Regression: a list was divided by its descriptions and their case.
#[test]
fn a_list_has_one_name() {
    let folder = Folder::new();
    let mut mail = String::new();
    for (n, list) in [(1, "A <l.m.test>"), (2, "<L.m.test>")] {
        let header = format!("List-Id: {list}\n");
        mail += &message(n, &header, &format!("http://l.cern.ch/{n}\n"));
    }
    mail += &message(3, "Newsgroups: Alt.Lamps\n", "http://l.cern.ch/3\n");
    loaded(&folder, &mail);
    audit(&folder, "plan", &["--sample", "1", "--by", "list"]).check(2, "2 strata");
    audit(&folder, "check", &[]).check(2, "no audit plan");
    audited(&folder, "plan", &["--sample", "2", "--by", "list"]);
    let sql = "SELECT * FROM audit_strata ORDER BY 1";
    assert_eq!(
        rows(&folder.path("urls.db"), sql),
        ["alt.lamps|1|1", "l.m.test|2|1"]
    );
}

/// Returns a mailbox with links from three years: one, a few and many.
fn three_years() -> String {
    let mut mail = String::new();
    for (year, links) in [(1994, 1), (1995, 8), (1996, 60)] {
        for link in 0..links {
            let header = format!("Date: Mon, 2 Jan {year} 10:00:{:02} +0000\n", link % 60);
            let body = format!("http://h{link}.cern.ch/{year}\n");
            mail += &message(year * 100 + link, &header, &body);
        }
    }
    mail
}

#[test]
fn a_sample_is_stratified_and_repeatable() {
    let folder = Folder::new();
    loaded(&folder, &three_years());
    let sample = ["--sample", "21", "--by", "year", "--seed", "7"];
    audited(&folder, "plan", &sample);
    let database = folder.path("urls.db");
    let strata = rows(&database, "SELECT * FROM audit_strata ORDER BY 1");
    assert_eq!(strata, ["1994|1|1", "1995|8|8", "1996|60|12"]);
    let planned = "SELECT url FROM audit_links WHERE planned ORDER BY url";
    let first = rows(&database, planned);
    assert_eq!(first.len(), 21);
    audited(&folder, "plan", &sample);
    assert_eq!(rows(&database, planned), first);
    audited(&folder, "plan", &["--sample", "21", "--seed", "8"]);
    assert_ne!(rows(&database, planned), first);
    audited(&folder, "plan", &["--sample", "41", "--seed", "7"]);
    let larger = rows(&database, planned);
    assert!(first.iter().all(|url| larger.contains(url)));
    let small = audit(&folder, "plan", &["--sample", "2"]);
    small.check(2, "3 strata");
    assert_eq!(rows(&database, planned), larger, "the plan before stays");
    let plan = audited(&folder, "plan", &[]);
    let dropped = "no longer planned with --sample 41 --by year --seed 7;";
    assert_contains(&plan.stderr, dropped);
    assert_eq!(rows(&database, planned).len(), 69);
    assert_eq!(rows(&database, "SELECT * FROM audit_strata"), ["|69|69"]);
    let sample = "SELECT value FROM audit_meta WHERE name='sample'";
    assert_eq!(rows(&database, sample), [""]);
}

#[test]
fn loading_goes_on_after_a_plan_and_a_plan_keeps_results() {
    let folder = Folder::new();
    loaded(&folder, &message(1, DATED, "http://l.cern.ch/a\n"));
    audited(&folder, "plan", &[]);
    let database = folder.path("urls.db");
    let check = "INSERT INTO audit_checks(key, checked_at, state, status, checker)
      SELECT key, '2026-01-01T00:00:00Z', 'alive', 200, 'x' FROM audit_links";
    run(&folder, check);
    let second = message(2, DATED, "http://l.cern.ch/b ftp://l.cern.ch/a\n");
    loaded(&folder, &second);
    let status = audited(&folder, "status", &[]);
    let line = "\n         2  links loaded after the plan  `audit plan`";
    assert_contains(status.text(), line);
    let report = audited(&folder, "report", &["-o", "-"]);
    let later = "2 links loaded after the plan";
    assert!(report.text().contains(later) && report.stderr.contains(later));
    audited(&folder, "plan", &[]);
    let planned = audited(&folder, "status", &[]);
    assert!(!planned.text().contains("the plan"));
    assert_eq!(plan_of(&folder).len(), 3);
    assert_eq!(
        rows(&database, "SELECT key, state FROM audit_checks"),
        ["http://l.cern.ch/a|alive"]
    );
    let found = done(&["search", database.to_str().unwrap(), "cern"]);
    assert_eq!(found.text().lines().count(), 3);
    let removal = "PRAGMA foreign_keys=OFF; DELETE FROM links WHERE key LIKE '%/a'";
    run(&folder, removal);
    let gone = "no longer in the database (1 planned)";
    let status = audited(&folder, "status", &[]);
    assert_contains(status.text(), &format!("2  links {gone}  `audit plan`"));
    let report = audited(&folder, "report", &["-o", "-"]);
    assert!(report.text().contains(gone) && report.stderr.contains(gone));
}
