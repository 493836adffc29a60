//! `urlspool audit import`.

use super::{audit, audited, loaded, message, rows};
use crate::scene::{Folder, assert_contains};

/// Creates a planned database with two links.
fn planned() -> Folder {
    let folder = Folder::new();
    let header = "Date: Tue, 2 Jan 1996 10:00:00 +0000\n";
    loaded(
        &folder,
        &message(
            1,
            header,
            "http://l.cern.ch/a http://l.cern.ch/b#x http://wiki/c\n",
        ),
    );
    audited(&folder, "plan", &["-q"]);
    folder
}

fn results(folder: &Folder) -> Vec<String> {
    let sql = "SELECT key, checked_at, state, status, error, final_url, checker FROM audit_checks \
        ORDER BY 1, 2";
    rows(&folder.path("urls.db"), sql)
}

#[test]
fn csv_is_imported_once() {
    let folder = planned();
    let csv = "url,status,checked_at,final_url,error\r\n\
        http://L.cern.ch/a#frag,200,2026-11-22T10:00:00+02:00,http://www.w3.org/,\r\n\
        http://l.cern.ch/b,,2026-11-22,,dns\r\n\
        http://wiki/c,200,2026-11-22,,\r\n\
        http://other.cern.ch/,200,2026-11-22,,\r\n";
    let file = folder.file("results.csv", csv);
    let first = audited(&folder, "import", &[&file, "--checker", "mine 2"]);
    assert_contains(&first.stderr, "4 results, 2 new, 2 for unplanned URLs");
    let expected = [
        "http://l.cern.ch/a|2026-11-22T08:00:00Z|redirected|200|-|http://www.w3.org/|mine 2",
        "http://l.cern.ch/b|2026-11-22T00:00:00Z|dead_host|-|dns|-|mine 2",
    ];
    assert_eq!(results(&folder), expected);
    // URL, time and state identify a result. The checker does not.
    let second = audited(&folder, "import", &[&file, "--checker", "another"]);
    assert_contains(
        &second.stderr,
        "4 results, 0 new, 2 imported before, 2 for unplanned URLs",
    );
    assert_eq!(results(&folder), expected);
}

#[test]
fn bad_lines_are_named_and_the_others_imported() {
    let folder = planned();
    let file = folder.file(
        "r.csv",
        "url,status,checked_at\nhttp://l.cern.ch/a,x,2026-11-22\n\
        http://l.cern.ch/b,410,2026-11-22\n",
    );
    let end = audit(&folder, "import", &[&file]);
    end.check(1, "r.csv, line 2: the status \"x\" is not an HTTP code");
    assert_eq!(
        results(&folder),
        ["http://l.cern.ch/b|2026-11-22T00:00:00Z|dead_page|410|-|-|imported"]
    );
}

#[test]
fn times_and_codes_that_no_check_has_are_refused() {
    let folder = planned();
    let csv = "url,status,checked_at\nhttp://l.cern.ch/a,404,2203-01-01\n\
        http://l.cern.ch/a,404,1970-01-01\n\
        http://l.cern.ch/a,0,2026-01-01\nhttp://l.cern.ch/a,666,2026-01-01\n\
        http://l.cern.ch/b,999,2026-01-01\n";
    let file = folder.file("r.csv", csv);
    let end = audit(&folder, "import", &[&file]);
    assert_eq!(end.status, Some(1));
    for part in [
        "r.csv, line 2: the time 2203-01-01T00:00:00Z lies more than 24 hours ahead",
        "r.csv, line 3: the time 1970-01-01T00:00:00Z is before 1990",
        "r.csv, line 4: the status \"0\" is not an HTTP code",
        "r.csv, line 5: the status \"666\" is not an HTTP code",
        "1 result, 1 new; 4 refused",
    ] {
        assert!(end.stderr.contains(part), "{part}: {}", end.stderr);
    }
    assert_eq!(
        results(&folder),
        ["http://l.cern.ch/b|2026-01-01T00:00:00Z|unknown|999|-|-|imported"]
    );
}

#[test]
fn json_of_lychee_needs_the_time_of_the_check() {
    let folder = planned();
    let json = r#"{"success_map":{"l":[{
        "url":"http://l.cern.ch/a","status":{"text":"200 OK","code":200}}]},
        "error_map":{"l":[{
        "url":"http://l.cern.ch/b","status":{"text":"Network error: SSL certificate expired."}}]},
        "timeout_map":{},"excluded_map":{}}"#;
    let file = folder.file("lychee.json", json);
    let refused = audit(&folder, "import", &[&file]);
    refused.check(2, "--checked-at");
    audited(
        &folder,
        "import",
        &[&file, "--checked-at", "2026-11-22T10:00:00Z"],
    );
    assert_eq!(
        results(&folder),
        [
            "http://l.cern.ch/a|2026-11-22T10:00:00Z|alive|200|-|-|lychee",
            "http://l.cern.ch/b|2026-11-22T10:00:00Z|unknown|-|tls|-|lychee",
        ]
    );
}

/// Regression: both options were ignored.
#[test]
fn options_unused_by_a_file_are_refused() {
    let folder = planned();
    let csv = folder.file(
        "r.csv",
        "url,status,checked_at\nhttp://l.cern.ch/a,404,2026-01-01\n",
    );
    let json = folder.file(
        "l.json",
        "{\"success_map\":{},\"error_map\":{},\"excluded_map\":{}}",
    );
    let time = ["--checked-at", "2026-01-01"];
    for (args, reason) in [
        (
            &[&csv[..], time[0], time[1]][..],
            "r.csv is CSV with times in its column `checked_at`",
        ),
        (
            &[&json, time[0], time[1], "--checker", "mine"],
            "l.json is JSON of lychee, so the checker is known",
        ),
        (
            &[&csv, "--checker", ""],
            "invalid value '' for '--checker <NAME>': write name and version",
        ),
        (
            &[&csv, "--checker", " "],
            "invalid value ' ' for '--checker <NAME>'",
        ),
    ] {
        let end = audit(&folder, "import", args);
        end.check(2, reason);
    }
    assert!(results(&folder).is_empty());
}

#[test]
fn ends_of_redirects_are_pages() {
    let folder = planned();
    let csv = "url,status,checked_at,final_url\n\
        http://l.cern.ch/a,200,2026-01-01,javascript:alert(1)\n\
        http://l.cern.ch/a,200,2026-01-02,/b\n\
        http://l.cern.ch/b,200,2026-01-01,HTTPS://l.cern.ch/b\n";
    let end = audit(&folder, "import", &[&folder.file("r.csv", csv)]);
    assert_eq!(end.status, Some(1));
    for part in [
        "line 2: the final URL \"javascript:alert(1)\" is not a URL of http or https",
        "line 3: the final URL \"/b\" is not",
        "1 result, 1 new; 2 refused",
    ] {
        assert!(end.stderr.contains(part), "{part}: {}", end.stderr);
    }
    let json = r#"{"success_map":{"l":[{"url":"http://l.cern.ch/a","status":{"text":"x","code":200},
        "redirects":{"redirects":[{"url":"mailto:a@b.test"}]}}]},
        "error_map":{},"excluded_map":{}}"#;
    let file = folder.file("l.json", json);
    let end = audit(&folder, "import", &[&file, "--checked-at", "2026-01-01"]);
    let reason = "l.json, http://l.cern.ch/a: the final URL \"mailto:a@b.test\" is not";
    assert!(end.stderr.contains(reason), "{}", end.stderr);
    assert_eq!(results(&folder).len(), 1);
}
