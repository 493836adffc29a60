//! Standard output. A reader that closes its end early is a normal end.

use std::io::{self, BufWriter, IsTerminal, Stdout};

use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::terminal::TerminalEscapes;
use crate::diagnostic::EscapeForm;
use crate::sink::{PipeSink, Sink};

/// The name of standard output in messages.
pub(super) const STDOUT: &str = "standard output";

/// Writes text, JSON or TOML to standard output.
pub(super) fn print(bytes: &[u8]) -> CommandResult {
    let mut out = StdoutLines::new(EscapeForm::Json);
    out.put(bytes)?;
    out.finish()?;
    Ok(Exit::Done)
}

/// Buffered standard output. On a terminal nothing is written that the terminal would obey.
pub(super) struct StdoutLines {
    sink: PipeSink<BufWriter<Stdout>>,
    escapes: TerminalEscapes,
}

impl StdoutLines {
    /// Standard output for lines in which a terminal's escapes have this form.
    pub(super) fn new(form: EscapeForm) -> StdoutLines {
        let stdout = io::stdout();
        StdoutLines {
            escapes: TerminalEscapes::of(stdout.is_terminal(), form),
            sink: PipeSink(BufWriter::new(stdout)),
        }
    }

    /// Standard output for lines whose writer has escaped what a terminal would obey, and perhaps added colours.
    pub(super) fn of_escaped_lines() -> StdoutLines {
        StdoutLines {
            escapes: TerminalEscapes::Off,
            ..StdoutLines::new(EscapeForm::Text)
        }
    }

    /// Appends whole lines. Returns `false` if the reader has closed its end.
    pub(super) fn put(&mut self, lines: &[u8]) -> Result<bool, CommandError> {
        let put = self.sink.put(&self.escapes.of_lines(lines));
        put.map_err(|error| CommandError::output(STDOUT, &error))
    }

    /// Writes what is buffered.
    pub(super) fn finish(&mut self) -> Result<(), CommandError> {
        let finished = self.sink.finish();
        finished.map_err(|error| CommandError::output(STDOUT, &error))
    }
}
