//! The progress of a step on a terminal, and the signals that end it.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::super::error::CommandError;
use super::super::exit::Exit;
use super::super::stderr::print_message;
use crate::audit::AuditProgress;
use crate::diagnostic::counted;

/// A bar on standard error; hidden where that is no terminal.
pub(super) struct StderrProgress {
    bar: ProgressBar,
    is_quiet: bool,
}

impl StderrProgress {
    pub(super) fn new(is_quiet: bool) -> StderrProgress {
        if is_quiet || !std::io::stderr().is_terminal() {
            let bar = ProgressBar::hidden();
            return StderrProgress { bar, is_quiet };
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{wide_bar} {human_pos} of {human_len} URLs, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        StderrProgress { bar, is_quiet }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl AuditProgress for StderrProgress {
    fn expected(&mut self, due: u64, time: Duration) {
        if !self.is_quiet && 0 < due {
            print_message(format_args!(
                "urlspool: {} to ask for, which takes {} or more",
                counted(due, "URL", "URLs"),
                shown(time)
            ));
        }
    }

    fn done(&mut self, done: u64, due: u64) {
        self.bar.set_length(due);
        self.bar.set_position(done);
    }
}

/// A time in its largest unit.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    let (number, unit) = match seconds {
        1 => (1, "second"),
        0..=119 => (seconds, "seconds"),
        120..=7_199 => (seconds / 60, "minutes"),
        7_200..=172_799 => (seconds / 3_600, "hours"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{number} {unit}")
}

/// Sets `stop` at the first signal; the second one ends the program.
pub(super) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<(), CommandError> {
    let code = i32::from(Exit::Interrupted.code());
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds `stop` unset.
        flag::register_conditional_shutdown(signal, code, Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .map_err(|error| {
                CommandError::new(Exit::Output, format!("cannot catch signals: {error}"))
            })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_their_largest_unit() {
        for (seconds, expected) in [
            (1, "1 second"),
            (90, "90 seconds"),
            (600, "10 minutes"),
            (36_000, "10 hours"),
            (1_800_000, "20 days"),
        ] {
            assert_eq!(shown(Duration::from_secs(seconds)), expected);
        }
    }
}
