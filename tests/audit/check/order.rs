//! The order in which links are checked, and what is due.

use rusqlite::Connection;

use super::{fake_checker, planned, results};
use crate::audit::{audit, audited, rows};

#[test]
fn limited_checks_reach_all_links() {
    let urls: Vec<_> = (0..6)
        .map(|number| format!("http://l.cern.ch/{number}a"))
        .collect();
    let folder = planned(&urls.join("\n"));
    let checker = fake_checker(&folder);
    let limited = ["--max-age", "0h", "--limit", "2", "--checker", &checker];
    for checked in [2, 4, 6] {
        audited(&folder, "check", &limited);
        assert_eq!(
            results(&folder).len(),
            checked,
            "links without a result come first"
        );
    }
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch(
        "UPDATE audit_checks SET checked_at='2026-01-0' || (substr(key, 18, 1) + 1) || 'T00:00:00Z'",
    )
    .unwrap();
    for _ in 0..2 {
        audited(&folder, "check", &limited);
    }
    let again = rows(
        &folder.path("urls.db"),
        "SELECT substr(key, 18, 1), count(*) FROM audit_checks GROUP BY key HAVING 1 < count(*)",
    );
    assert_eq!(
        again,
        ["0|2", "1|2", "2|2", "3|2"],
        "then the oldest results"
    );
}

#[test]
fn a_check_without_due_links_gives_the_reason() {
    let folder = planned("http://wiki/a");
    let checker = fake_checker(&folder);
    let end = audited(&folder, "check", &["--checker", &checker]);
    let reason = "0 of 0 URLs checked; the plan holds no links to check";
    assert!(end.stderr.contains(reason), "{}", end.stderr);
    let end = audit(&folder, "check", &["--limit", "0"]);
    assert_eq!(end.status, Some(2), "{}", end.stderr);
}
