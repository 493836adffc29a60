//! Standard error. A message that cannot be written there is lost, and the work goes on: nothing else could tell of it.

use std::fmt;
use std::io::{self, Write};

/// Writes a line to standard error. `eprintln!` panics if the disk is full or the reader of a pipe has gone.
pub(super) fn print_message(line: fmt::Arguments<'_>) {
    // In one piece, so that lines of several threads do not mix.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}
