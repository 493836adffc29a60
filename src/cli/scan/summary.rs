//! The summary of a run, for standard error: the totals in one line, or everything that was counted.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::HumanBytes;

use super::report::EventCounts;
use crate::diagnostic::counted;
use crate::record::Summary;

/// The summary in four lines.
pub(super) fn text(summary: &Summary) -> String {
    format!(
        "urlspool: {} files: {} read, {} skipped{}, {} failed{}\n\
         urlspool: {} members: {} read, {} skipped{}, {} failed{}; {} bytes unpacked\n\
         urlspool: {} messages: {} scanned, {} skipped{}; {} bytes\n\
         urlspool: {} candidates: {} records, {} rejects{}, {} filtered, {} duplicates",
        summary.files,
        summary.files_read,
        summary.files_skipped.sum(),
        by_name(&summary.files_skipped),
        summary.files_failed.sum(),
        by_name(&summary.files_failed),
        summary.members,
        summary.members_read,
        summary.members_skipped.sum(),
        by_name(&summary.members_skipped),
        summary.members_failed.sum(),
        by_name(&summary.members_failed),
        summary.bytes_unpacked,
        summary.messages,
        summary.messages_scanned,
        summary.messages_skipped.sum(),
        by_name(&summary.messages_skipped),
        summary.bytes_read,
        summary.candidates,
        summary.records,
        summary.rejects.sum(),
        by_name(&summary.rejects),
        summary.filtered,
        summary.duplicates,
    )
}

/// The last line on a terminal.
pub(super) fn last_line(summary: &Summary, counts: EventCounts, elapsed: Duration) -> String {
    let files = summary.files_read + summary.files_failed.sum();
    let mut line = format!(
        "urlspool: {} in {} of {} ({}), {:.1} s",
        counted(summary.records + summary.unwrapped, "URL", "URLs"),
        counted(summary.messages, "message", "messages"),
        counted(files, "file", "files"),
        HumanBytes(summary.bytes_read),
        elapsed.as_secs_f64(),
    );
    for (number, one, many) in [
        (counts.failures, "failure", "failures"),
        (counts.notes, "note", "notes"),
    ] {
        if number > 0 {
            line += ", ";
            line += &counted(number, one, many);
        }
    }
    line
}

/// The counts in parentheses, or an empty text.
fn by_name(counts: &BTreeMap<String, u64>) -> String {
    let counts: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    if counts.is_empty() {
        String::new()
    } else {
        format!(" ({})", counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_totals() {
        let mut summary = Summary::default();
        summary.read_file();
        summary.records = 1_201;
        summary.messages = 34_342;
        summary.bytes_read = 1 << 20;
        let counts = EventCounts {
            failures: 0,
            notes: 9,
        };
        assert_eq!(
            last_line(&summary, counts, Duration::from_millis(1_940)),
            "urlspool: 1,201 URLs in 34,342 messages of 1 file (1.00 MiB), 1.9 s, 9 notes"
        );
    }
}
