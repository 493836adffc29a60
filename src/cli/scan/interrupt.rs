//! Interruption of a scan: what was written is left in whole lines, and the program ends.

use std::io::{self, Write};
use std::time::{Duration, Instant};
use std::{process, thread};

use indicatif::ProgressBar;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::super::error::Exit;
use super::super::terminal::escaped;
use super::output::SharedOutputs;
use crate::limits::INTERRUPT_WAIT_MS;

/// Pause between two attempts to get hold of the outputs.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Starts the thread that waits for SIGINT, SIGTERM and SIGHUP (a closed terminal), unless the parent process has made this one ignore them, as a shell does
/// for commands in the background.
///
/// A thread, because the others may wait for input.
pub(super) fn leave_outputs_on_signals(outputs: SharedOutputs, bar: ProgressBar) -> io::Result<()> {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let signals = Signals::new(wanted)?;
    let watch = move || wait(signals, &outputs, &bar);
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watch)?;
    Ok(())
}

/// Waits for a signal and ends the program.
fn wait(mut signals: Signals, outputs: &SharedOutputs, bar: &ProgressBar) {
    if signals.forever().next().is_none() {
        return;
    }
    let begun = Instant::now();
    let mut clauses = vec!["interrupted".to_owned()];
    // Not released, so that nothing more is written.
    let _held = loop {
        if let Some(mut held) = outputs.try_lock() {
            clauses.extend(held.leave());
            break Some(held);
        }
        // The reader of a pipe may have stopped, or the user has no patience.
        let is_too_long = Duration::from_millis(INTERRUPT_WAIT_MS) < begun.elapsed();
        if is_too_long || signals.pending().next().is_some() {
            break None;
        }
        thread::sleep(RETRY_INTERVAL);
    };
    bar.finish_and_clear();
    // The terminal may be closed.
    let _ = writeln!(io::stderr(), "urlspool: {}", escaped(&clauses.join("; ")));
    process::exit(Exit::Interrupted.code().into());
}

/// The signals that this process ignores, one bit each, the lowest for signal 1. Known on Linux alone.
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
