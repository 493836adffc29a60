//! The progress of a step, on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::audit::AuditProgress;

/// A bar on standard error; hidden where that is no terminal.
pub(super) struct StderrProgress(ProgressBar);

impl StderrProgress {
    pub(super) fn new(is_quiet: bool) -> StderrProgress {
        if is_quiet || !std::io::stderr().is_terminal() {
            return StderrProgress(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{wide_bar} {human_pos} of {human_len} URLs, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        StderrProgress(bar)
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl AuditProgress for StderrProgress {
    fn done(&mut self, done: u64, due: u64) {
        self.0.set_length(due);
        self.0.set_position(done);
    }
}
