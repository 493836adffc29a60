//! The summary of a run, for standard error.

use std::collections::BTreeMap;

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
