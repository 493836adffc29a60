//! The order in which links are checked, and which links are due.

use rusqlite::Connection;

use super::{Site, results};
use crate::audit::{audit, audited, rows};
use crate::scene::assert_contains;

#[test]
fn limited_checks_reach_all_links() {
    let Site { folder, .. } = Site::new(&["/0a", "/1a", "/2a", "/3a", "/4a", "/5a"]);
    let limited = ["--max-age", "0h", "--limit", "2"];
    for checked in [2, 4, 6] {
        audited(&folder, "check", &limited);
        // Links without a result come first.
        assert_eq!(results(&folder).len(), checked);
    }
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch(
        "UPDATE audit_checks
         SET checked_at='2026-01-0' || (substr(key, -2, 1) + 1) || 'T00:00:00Z'",
    )
    .unwrap();
    for _ in 0..2 {
        audited(&folder, "check", &limited);
    }
    let again = rows(
        &folder.path("urls.db"),
        "SELECT substr(key, -2, 1), count(*) FROM audit_checks GROUP BY key HAVING 1 < count(*)",
    );
    // Links with the oldest results follow.
    assert_eq!(again, ["0|2", "1|2", "2|2", "3|2"]);
}

/// Moves all results a number of days into the past.
fn age(folder: &crate::scene::Folder, days: u32) {
    let sql = format!(
        "UPDATE audit_checks SET checked_at = strftime('%Y-%m-%dT%H:%M:%SZ', checked_at, '-{days} \
         days')"
    );
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch(&sql).unwrap();
}

#[test]
fn a_link_that_failed_is_due_until_its_death_is_confirmed() {
    let Site { folder, .. } = Site::new(&["/a", "/d"]);
    let due = |expected: &str| {
        let end = audited(&folder, "check", &[]);
        assert!(end.stderr.contains(expected), "{expected}: {}", end.stderr);
    };
    due("2 of 2 URLs checked, 1 alive, 1 dead page");
    age(&folder, 2);
    due("0 of 0 URLs");
    for _ in 0..2 {
        age(&folder, 4);
        due("1 of 1 URL checked, 1 dead page");
    }
    let status = audited(&folder, "status", &[]).stdout;
    let status = String::from_utf8(status).unwrap();
    assert_contains(&status, "         1    confirmed deaths");
    age(&folder, 4);
    due("0 of 0 URLs");
    age(&folder, 27);
    due("2 of 2 URLs checked");
    audited(
        &folder,
        "check",
        &["--confirm", "6", "--confirm-after", "1h"],
    );
    age(&folder, 1);
    due("1 of 1 URL checked, 1 dead page");
}

#[test]
fn the_status_lists_the_due_links_with_dates() {
    let Site { folder, server } = Site::new(&["/a", "/d", "/e"]);
    let [a, d] = ["/a", "/d"].map(|path| server.url(path));
    let lines = format!("url,status,checked_at\n{a},200,2026-01-01\n{d},404,2026-01-01\n");
    let file = folder.file("r.csv", lines);
    audited(&folder, "import", &["-q", &file]);
    let shown = |args: &[&str]| {
        let status = audited(&folder, "status", args).stdout;
        String::from_utf8(status).unwrap()
    };
    assert_eq!(
        shown(&[]),
        "         3  URLs planned\n         2    checked\n         1      alive\n         1      \
         dead_page\n\u{20}        0    confirmed deaths   after 3 failures, 3 days apart, without \
         a reply between\nchecks that are due\n         3    now\n\u{20}        1      \
         first              without a result\n\u{20}        1      to confirm         to confirm a \
         death\n\u{20}        1      old                with an old result\narchive requests that \
         are due\n\u{20}        3    now                not asked for yet, or without an answer\n"
    );
    let later = shown(&["--max-age", "5000w"]);
    assert_contains(
        &later,
        "         1    2121-10-30         with an old result\n",
    );
    audited(&folder, "check", &["--limit", "1"]);
    let after = shown(&[]);
    assert_contains(
        &after,
        "         2    now                takes 0 seconds at the pace",
    );
    let none = audit(&folder, "status", &["--max-age", "1"]);
    assert_eq!(none.status, Some(2));
}
