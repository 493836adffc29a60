//! The status of a daemon as a page for people.

use serde_json::Value;

use crate::diagnostic::{grouped, printable};

/// Width of the names at the left.
const NAME_CHARS: usize = 12;

/// Returns the page of a status, as the daemon answers it: what needs the operator first.
pub(super) fn status_page(status: &Value) -> String {
    let mut page = String::new();
    push_state(&mut page, status);
    push_output(&mut page, status);
    push_files(&mut page, status);
    for spool in items(&status["spools"]) {
        push_row(&mut page, "spool", &spool_text(spool));
    }
    if let Some(error) = status["last_error"].as_str() {
        let time = text(&status["last_error_time"]);
        push_row(&mut page, "last error", &format!("{time}: {error}"));
    }
    page
}

/// Appends the state, the issues and the process.
fn push_state(page: &mut String, status: &Value) {
    let state = match status["why"].as_str() {
        Some(why) => format!("{} ({why})", text(&status["state"])),
        None => text(&status["state"]).to_owned(),
    };
    let health = if status["healthy"] == true {
        "healthy"
    } else {
        "needs the operator"
    };
    push_row(page, "state", &format!("{state}, {health}"));
    for issue in items(&status["issues"]) {
        push_row(page, "", &format!("- {}", text(issue)));
    }
    let process = format!(
        "urlspool {}, pid {}, since {}",
        text(&status["version"]),
        status["pid"],
        text(&status["started"])
    );
    push_row(page, "process", &process);
}

/// Appends the counts of what is written, and the segments.
fn push_output(page: &mut String, status: &Value) {
    let counts = &status["counts"];
    let written = format!(
        "{} records of {} messages, {} gone, in {} commits",
        number(&counts["records"]),
        number(&counts["messages"]),
        number(&counts["gone"]),
        number(&counts["commits"])
    );
    push_row(page, "written", &written);
    let segment = format!(
        "{} is open, with {} bytes",
        number(&status["segment"]),
        number(&status["committed_bytes"])
    );
    push_row(page, "segment", &segment);
    let sealed = &status["last_sealed"];
    if sealed.is_object() {
        let sealed = format!(
            "{} at {}, {} records",
            text(&sealed["name"]),
            text(&sealed["time"]),
            number(&sealed["records"])
        );
        push_row(page, "sealed", &sealed);
    }
}

/// Appends the numbers of files that wait, and the failures.
fn push_files(page: &mut String, status: &Value) {
    let files = format!(
        "{} wait, {} may still be written, {} locked, {} retried, {} given up",
        number(&status["queue"]),
        number(&status["resting"]),
        number(&status["locked"]),
        number(&status["failing"]),
        number(&status["quarantined"])
    );
    push_row(page, "files", &files);
    for failure in items(&status["failures"]) {
        let (path, why) = (text(&failure["path"]), text(&failure["why"]));
        push_row(page, "", &format!("- {path}: {why}"));
    }
}

fn spool_text(spool: &Value) -> String {
    let seconds = |value: &Value| grouped(value.as_u64().unwrap_or(0) / 1_000);
    let reports = match spool["notices"].as_str() {
        Some("arrived") => format!(
            "changes are reported, the last {} s ago",
            seconds(&spool["last_notice_ms"])
        ),
        Some("set") => "changes are to be reported, none was yet".to_owned(),
        _ => "polled".to_owned(),
    };
    format!(
        "{}: {}, {} files, {reports}, {} s behind",
        text(&spool["path"]),
        text(&spool["state"]),
        number(&spool["files"]),
        seconds(&spool["lag_ms"])
    )
}

/// Appends a line. What mail or file names hold cannot control a terminal.
fn push_row(page: &mut String, name: &str, text: &str) {
    *page += &format!("{name:<NAME_CHARS$}{}\n", printable(text));
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("none")
}

fn number(value: &Value) -> String {
    grouped(value.as_u64().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_names_what_needs_the_operator_first() {
        let status = json!({
            "state": "paused", "why": "no space", "healthy": false, "issues": ["paused: \u{1b}[2J"],
            "version": "0.1.0", "pid": 7, "started": "2026-11-24T10:00:00Z",
            "segment": 3, "committed_bytes": 12_345, "queue": 0, "resting": 1, "locked": 0, "failing": 1, "quarantined": 0,
            "last_sealed": {"name": "0000000002.jsonl", "time": "2026-11-24T10:05:00Z", "records": 1_000},
            "failures": [{"path": "/m/a", "why": "Permission denied"}],
            "spools": [{"path": "/m", "state": "ok", "notices": "arrived", "last_notice_ms": 61_000, "files": 4, "lag_ms": 2_500}],
            "counts": {"records": 1_234, "messages": 600, "gone": 1, "commits": 9},
            "last_error": null,
        });
        let page = status_page(&status);
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(
            lines[0],
            "state       paused (no space), needs the operator"
        );
        assert_eq!(lines[1], "            - paused: \\u{1b}[2J");
        for line in [
            "written     1,234 records of 600 messages, 1 gone, in 9 commits",
            "segment     3 is open, with 12,345 bytes",
            "sealed      0000000002.jsonl at 2026-11-24T10:05:00Z, 1,000 records",
            "            - /m/a: Permission denied",
            "spool       /m: ok, 4 files, changes are reported, the last 61 s ago, 2 s behind",
        ] {
            assert!(lines.contains(&line), "{line}\n{page}");
        }
        assert!(!page.contains("last error"));
        // A daemon of another version may lack fields.
        assert!(status_page(&json!({})).starts_with("state       none"));
    }
}
