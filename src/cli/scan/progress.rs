//! The progress bar of a scan.

use std::fs::File;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::stdio::stdout;
use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;

use super::super::args::{ScanArgs, When};
use crate::pipeline::Job;
use crate::record::Summary;
use crate::sink::OutputPlace;
use crate::walk::{self, WalkStep};

/// The progress bar of a scan, hidden if none is wanted.
pub(super) fn progress_bar(args: &ScanArgs, records: &OutputPlace, job: &Job) -> ProgressBar {
    let target = match records {
        OutputPlace::Stdout => standard_output(),
        OutputPlace::Device(_) | OutputPlace::File(_) => RecordTarget::Elsewhere,
    };
    let is_wanted = match args.progress {
        When::Auto => !args.quiet && target == RecordTarget::Elsewhere && args.progress.on_stderr(),
        When::Always | When::Never => args.progress.on_stderr(),
    };
    if is_wanted {
        visible_bar(total_bytes(job))
    } else {
        ProgressBar::hidden()
    }
}

/// The progress bar of a command that prints nothing before it has read everything; hidden where standard error is no terminal.
pub(in crate::cli) fn bar_on_stderr(job: &Job) -> ProgressBar {
    if When::Auto.on_stderr() {
        visible_bar(total_bytes(job))
    } else {
        ProgressBar::hidden()
    }
}

/// Shows what was read so far.
pub(in crate::cli) fn show_progress(bar: &ProgressBar, summary: &Summary) {
    bar.set_position(summary.bytes_read);
    bar.set_message(format!(
        "{} messages, {} URLs",
        summary.messages, summary.records
    ));
}

/// Destination of the records, as it matters for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordTarget {
    /// A terminal, or a pipe that may end in a pager: the bar would be drawn over the records.
    Screen,
    Elsewhere,
}

/// Returns `true` if the records go through a pipe, perhaps to a pager, which would be overwritten.
pub(super) fn may_be_paged(records: &OutputPlace) -> bool {
    *records == OutputPlace::Stdout && is_pipe()
}

fn is_pipe() -> bool {
    stdout()
        .try_clone_to_owned()
        .and_then(|fd| File::from(fd).metadata())
        .is_ok_and(|metadata| metadata.file_type().is_fifo())
}

fn standard_output() -> RecordTarget {
    if is_pipe() || std::io::stdout().is_terminal() {
        RecordTarget::Screen
    } else {
        RecordTarget::Elsewhere
    }
}

/// A progress bar on standard error.
fn visible_bar(total_bytes: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total_bytes, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template(total_bytes));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn template(total_bytes: Option<u64>) -> &'static str {
    match total_bytes {
        Some(_) => "{bytes}/{total_bytes} {bar:12} {bytes_per_sec} {eta} left, {wide_msg}",
        None => "{bytes} {bytes_per_sec}, {wide_msg}",
    }
}

/// The number of bytes to read; `None` if an input is a stream. Walks all roots.
fn total_bytes(job: &Job) -> Option<u64> {
    let size = |step| match step {
        WalkStep::File(file) => Some(file.size),
        WalkStep::Part { file, item } => Some(item.end.min(file.size).saturating_sub(item.start)),
        WalkStep::Stdin | WalkStep::Stream(_) => None,
        WalkStep::Skipped { .. } | WalkStep::Failed(_) => Some(0),
    };
    match &job.items {
        Some(items) => walk::walk_items(items, &job.filter).map(size).sum(),
        None => walk::walk(&job.roots, &job.filter, job.links)
            .map(size)
            .sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_no_total() {
        let job = |roots: &[&str]| Job {
            roots: roots.iter().map(Into::into).collect(),
            ..Job::default()
        };
        assert_eq!(total_bytes(&job(&["Cargo.toml", "-"])), None);
        assert_eq!(total_bytes(&job(&["/dev/null"])), None);
        assert!(total_bytes(&job(&["Cargo.toml"])).is_some_and(|total| 0 < total));
        assert!(!template(None).contains("total"));
    }

    /// The bar took two lines of a terminal of 80 columns, and each drawing left one.
    #[test]
    fn the_counts_are_cut_at_the_width_of_the_terminal() {
        for total in [None, Some(1)] {
            assert!(template(total).ends_with("{wide_msg}"));
        }
        let fixed = "1023.99 MiB/1023.99 MiB  1023.99 MiB/s 59m left, ";
        assert!(fixed.len() + 12 + "12,345 messages".len() <= 80);
    }
}
