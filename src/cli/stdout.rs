//! Standard output. A reader that closes its end early is a normal end.

use std::io::{self, BufWriter, Stdout};

use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use crate::sink::{PipeSink, Sink};

/// The name of standard output in messages.
pub(super) const STDOUT: &str = "standard output";

/// Writes `bytes` to standard output.
pub(super) fn print(bytes: &[u8]) -> CommandResult {
    let mut out = StdoutLines::new();
    out.put(bytes)?;
    out.finish()?;
    Ok(Exit::Done)
}

/// Buffered standard output.
pub(super) struct StdoutLines(PipeSink<BufWriter<Stdout>>);

impl StdoutLines {
    pub(super) fn new() -> StdoutLines {
        StdoutLines(PipeSink(BufWriter::new(io::stdout())))
    }

    /// Appends whole lines. Returns `false` if the reader has closed its end.
    pub(super) fn put(&mut self, lines: &[u8]) -> Result<bool, CommandError> {
        let put = self.0.put(lines);
        put.map_err(|error| CommandError::output(STDOUT, &error))
    }

    /// Writes what is buffered.
    pub(super) fn finish(&mut self) -> Result<(), CommandError> {
        let finished = self.0.finish();
        finished.map_err(|error| CommandError::output(STDOUT, &error))
    }
}
