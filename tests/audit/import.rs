//! `urlspool audit import`.

use super::{audit, audited, loaded, message, rows};
use crate::scene::Folder;

/// A planned database with two links.
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
    let sql = "SELECT key, checked_at, state, status, error, final_url, checker FROM audit_checks ORDER BY 1, 2";
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
    assert!(
        first
            .stderr
            .contains("4 results, 2 new, 2 of URLs that are not planned"),
        "{}",
        first.stderr
    );
    let expected = [
        "http://l.cern.ch/a|2026-11-22T08:00:00Z|redirected|200|-|http://www.w3.org/|mine 2",
        "http://l.cern.ch/b|2026-11-22T00:00:00Z|dead_host|-|dns|-|mine 2",
    ];
    assert_eq!(results(&folder), expected);
    // A result is URL, time and state, whoever made it.
    let second = audited(&folder, "import", &[&file, "--checker", "another"]);
    assert!(
        second
            .stderr
            .contains("4 results, 0 new, 2 imported before, 2 of URLs"),
        "{}",
        second.stderr
    );
    assert_eq!(results(&folder), expected);
}

#[test]
fn bad_lines_are_named_and_the_others_imported() {
    let folder = planned();
    let file = folder.file("r.csv", "url,status,checked_at\nhttp://l.cern.ch/a,x,2026-11-22\nhttp://l.cern.ch/b,410,2026-11-22\n");
    let end = audit(&folder, "import", &[&file]);
    assert_eq!(end.status, Some(1));
    assert!(
        end.stderr
            .contains("r.csv, line 2: the status \"x\" is not an HTTP code"),
        "{}",
        end.stderr
    );
    assert_eq!(
        results(&folder),
        ["http://l.cern.ch/b|2026-11-22T00:00:00Z|dead_page|410|-|-|imported"]
    );
}

#[test]
fn times_and_codes_that_no_check_has_are_refused() {
    let folder = planned();
    let csv = "url,status,checked_at\nhttp://l.cern.ch/a,404,2203-01-01\nhttp://l.cern.ch/a,404,1970-01-01\n\
        http://l.cern.ch/a,0,2026-01-01\nhttp://l.cern.ch/a,666,2026-01-01\nhttp://l.cern.ch/b,999,2026-01-01\n";
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
fn json_with_times_and_codes_that_no_check_has_is_refused() {
    let folder = planned();
    let json = r#"{"success_map":{},"error_map":{"l":[{"url":"http://l.cern.ch/a","status":{"text":"x","code":666}},
        {"url":"http://l.cern.ch/b","status":{"text":"x","code":404}}]},"excluded_map":{}}"#;
    let file = folder.file("l.json", json);
    let future = audit(&folder, "import", &[&file, "--checked-at", "2203-01-01"]);
    assert_eq!(future.status, Some(2));
    let reason = "l.json: the time 2203-01-01T00:00:00Z lies more than 24 hours ahead";
    assert!(future.stderr.contains(reason), "{}", future.stderr);
    let end = audit(&folder, "import", &[&file, "--checked-at", "2026-01-01"]);
    assert_eq!(end.status, Some(1));
    let reason = "l.json, http://l.cern.ch/a: the status \"666\" is not an HTTP code";
    assert!(end.stderr.contains(reason), "{}", end.stderr);
    assert_eq!(results(&folder).len(), 1);
}

#[test]
fn repeated_results_are_counted() {
    let folder = planned();
    let csv = "url,status,checked_at\nhttp://l.cern.ch/a,404,2026-01-01\nhttp://l.cern.ch/a,410,2026-01-01T00:00:00Z\n\
        http://l.cern.ch/a,200,2026-01-02\n";
    let file = folder.file("r.csv", csv);
    let end = audited(&folder, "import", &[&file]);
    let expected = "3 results, 2 new, 1 as an earlier one in the file\n";
    assert!(end.stderr.ends_with(expected), "{}", end.stderr);
    let states = rows(
        &folder.path("urls.db"),
        "SELECT state FROM audit_checks ORDER BY checked_at",
    );
    assert_eq!(states, ["dead_page", "alive"]);
    let again = audited(&folder, "import", &[&file]);
    let expected = "3 results, 0 new, 3 imported before\n";
    assert!(again.stderr.ends_with(expected), "{}", again.stderr);
}

#[test]
fn json_of_lychee_needs_the_time_of_the_check() {
    let folder = planned();
    let json = r#"{"success_map":{"l":[{"url":"http://l.cern.ch/a","status":{"text":"200 OK","code":200}}]},
        "error_map":{"l":[{"url":"http://l.cern.ch/b","status":{"text":"Network error: SSL certificate expired."}}]},
        "timeout_map":{},"excluded_map":{}}"#;
    let file = folder.file("lychee.json", json);
    let refused = audit(&folder, "import", &[&file]);
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.stderr.contains("--checked-at"),
        "{}",
        refused.stderr
    );
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

#[test]
fn what_is_neither_is_refused_with_its_name() {
    let folder = planned();
    for (name, text, reason) in [
        (
            "a.json",
            "{\"success_map\":{}}",
            "is not the JSON of lychee",
        ),
        ("a.csv", "url,status\n", "no column `checked_at`"),
    ] {
        let file = folder.file(name, text);
        let end = audit(&folder, "import", &[&file, "--checked-at", "2026-11-22"]);
        assert_eq!(end.status, Some(2), "{name}");
        assert!(
            end.stderr.contains(reason) && end.stderr.contains(name),
            "{}",
            end.stderr
        );
    }
    let missing = audit(&folder, "import", &["/nonexistent.csv"]);
    assert_eq!(missing.status, Some(2));
    assert!(results(&folder).is_empty());
}

/// JSON after a byte order mark was taken for CSV.
#[test]
fn a_byte_order_mark_changes_nothing() {
    let folder = planned();
    let json = "\u{FEFF}{\"success_map\":{\"l\":[{\"url\":\"http://l.cern.ch/a\",\"status\":{\"text\":\"x\",\"code\":200}}]},
        \"error_map\":{},\"excluded_map\":{}}";
    let file = folder.file("l.json", json);
    audited(&folder, "import", &[&file, "--checked-at", "2026-01-01"]);
    let csv =
        "\u{FEFF}url,status,checked_at\nhttp://l.cern.ch/b,404,2026-01-01\nhttp://l.cern.ch/b,x,\n";
    let end = audit(&folder, "import", &[&folder.file("r.csv", csv)]);
    assert!(end.stderr.contains("r.csv, line 3: "), "{}", end.stderr);
    assert_eq!(
        results(&folder),
        [
            "http://l.cern.ch/a|2026-01-01T00:00:00Z|alive|200|-|-|lychee",
            "http://l.cern.ch/b|2026-01-01T00:00:00Z|dead_page|404|-|-|imported",
        ]
    );
}

/// Both options were ignored.
#[test]
fn options_that_a_file_has_no_use_for_are_refused() {
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
            "r.csv is CSV, whose column `checked_at` holds the times",
        ),
        (
            &[&json, time[0], time[1], "--checker", "mine"],
            "l.json is the JSON of lychee, which is its checker",
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
        assert_eq!(end.status, Some(2), "{args:?}");
        assert!(end.stderr.contains(reason), "{}", end.stderr);
    }
    assert!(results(&folder).is_empty());
}

#[test]
fn ends_of_redirects_are_pages() {
    let folder = planned();
    let csv = "url,status,checked_at,final_url\nhttp://l.cern.ch/a,200,2026-01-01,javascript:alert(1)\n\
        http://l.cern.ch/a,200,2026-01-02,/b\nhttp://l.cern.ch/b,200,2026-01-01,HTTPS://l.cern.ch/b\n";
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
        "redirects":{"redirects":[{"url":"mailto:a@b.test"}]}}]},"error_map":{},"excluded_map":{}}"#;
    let file = folder.file("l.json", json);
    let end = audit(&folder, "import", &[&file, "--checked-at", "2026-01-01"]);
    let reason = "l.json, http://l.cern.ch/a: the final URL \"mailto:a@b.test\" is not";
    assert!(end.stderr.contains(reason), "{}", end.stderr);
    assert_eq!(results(&folder).len(), 1);
}

#[test]
fn a_status_counts_before_an_error() {
    let folder = planned();
    let csv = "url,status,checked_at,error\nhttp://l.cern.ch/a,404.0,2026-01-01T01:00:00+09:00[Asia/Tokyo],timeout\n\
        http://l.cern.ch/b,,2026-01-01T01:00:00[Asia/Tokyo],dns\n";
    let end = audit(&folder, "import", &[&folder.file("r.csv", csv)]);
    let reason = "line 3: the time \"2026-01-01T01:00:00[Asia/Tokyo]\" is not like";
    assert!(end.stderr.contains(reason), "{}", end.stderr);
    assert_eq!(
        results(&folder),
        ["http://l.cern.ch/a|2025-12-31T16:00:00Z|dead_page|404|-|-|imported"]
    );
}

#[test]
fn long_values_are_cut_in_messages() {
    let folder = planned();
    let long = "x".repeat(10_000);
    let csv = format!("url,status,checked_at\nhttp://l.cern.ch/a,{long},2026-01-01\n");
    let end = audit(&folder, "import", &[&folder.file("r.csv", &csv)]);
    let start = end.stderr.lines().next().unwrap_or_default();
    assert!(
        start.contains("xxx\u{2026}\" is not") && start.len() < 600,
        "{start}"
    );
    let json = folder.file("r.json", format!("{{\"success_map\":\"{long}\"}}"));
    let end = audit(&folder, "import", &[&json, "--checked-at", "2026-01-01"]);
    let stderr = &end.stderr;
    assert_eq!(end.status, Some(2), "{stderr}");
    assert!(
        stderr.contains("xxx\u{2026}") && stderr.contains("at line 1 column") && stderr.len() < 600,
        "{stderr}"
    );
}
