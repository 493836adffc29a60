//! Signals that end a command: at a good point in its work or, for a scan, after whole lines in its
//! outputs.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{process, thread};

use indicatif::ProgressBar;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::error::{CommandError, Exit};
use super::scan::SharedOutputs;
use super::terminal::escaped;
use urlspool_sources::read::leave_private_folders;
use urlspool_text::limits::INTERRUPT_WAIT_MS;

/// The signal that asked for the end.
#[derive(Clone, Debug, Default)]
pub(super) struct EndSignal(Arc<AtomicUsize>);

impl EndSignal {
    /// Returns `true` if it was SIGTERM, the signal that service managers send.
    pub(super) fn is_term(&self) -> bool {
        i32::try_from(self.0.load(Ordering::Relaxed)) == Ok(SIGTERM)
    }

    /// Returns `true` if a signal arrived.
    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// Sets `stop` at the first SIGINT, SIGTERM or SIGHUP (a closed terminal). The second one ends the
/// program.
pub(super) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<EndSignal, CommandError> {
    let code = i32::from(Exit::Interrupted.code());
    let end = EndSignal::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let number = usize::try_from(signal).unwrap_or_default();
        // The order matters: the first signal must find `stop` unset.
        flag::register_conditional_shutdown(signal, code, Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .and_then(|_| flag::register_usize(signal, Arc::clone(&end.0), number))
            .map_err(|error| {
                CommandError::new(Exit::Output, format!("cannot catch signals: {error}"))
            })?;
    }
    Ok(end)
}

/// Pause between two attempts to lock the outputs.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Starts the thread that waits for SIGINT, SIGTERM and SIGHUP (a closed terminal). Signals that
/// the parent process made this one ignore stay ignored, as a shell does for background commands.
///
/// A separate thread is needed because the others may wait for input.
pub(super) fn leave_outputs_on_signals(outputs: SharedOutputs, bar: ProgressBar) -> io::Result<()> {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let signals = Signals::new(wanted)?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || wait(signals, &outputs, &bar))?;
    Ok(())
}

/// Waits for a signal and ends the program.
fn wait(mut signals: Signals, outputs: &SharedOutputs, bar: &ProgressBar) {
    if signals.forever().next().is_none() {
        return;
    }
    let started = Instant::now();
    let mut clauses = vec!["interrupted".to_owned()];
    // Never released, so no more output is written.
    let _held = loop {
        if let Some(mut held) = outputs.try_lock() {
            clauses.extend(held.leave());
            break Some(held);
        }
        // The reader of a pipe may have stopped, or the user may be impatient.
        let is_too_long = Duration::from_millis(INTERRUPT_WAIT_MS) < started.elapsed();
        if is_too_long || signals.pending().next().is_some() {
            break None;
        }
        thread::sleep(RETRY_INTERVAL);
    };
    leave_private_folders();
    bar.finish_and_clear();
    // The terminal may be closed.
    let _ = writeln!(io::stderr(), "urlspool: {}", escaped(&clauses.join("; ")));
    process::exit(Exit::Interrupted.code().into());
}

/// The signals that this process ignores: one bit per signal, the lowest for signal 1. Only known
/// on Linux.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_in(&status)
}

fn ignored_in(status: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001002\n";
        assert_eq!(ignored_in(status), 1 << (SIGINT - 1) | 1 << 12);
        assert_eq!(ignored_in(""), 0);
    }
}
