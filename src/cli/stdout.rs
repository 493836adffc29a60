//! Standard output. A reader that closes its end early is a normal end.

use std::io::{self, BufWriter, IsTerminal, Stdout};

#[cfg(feature = "load")]
use std::path::Path;

use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::terminal::TerminalEscapes;
use crate::diagnostic::EscapeForm;
#[cfg(feature = "load")]
use crate::load::is_file_of_database;
#[cfg(feature = "load")]
use crate::sink::FileIdentity;
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

/// Checks that standard output is not a file of the database that a command reads.
#[cfg(feature = "load")]
pub(super) fn check_is_not_database(database: &Path) -> Result<(), CommandError> {
    let is_database = |stdout| is_file_of_database(database, &stdout);
    if !FileIdentity::of_stdout().is_some_and(is_database) {
        return Ok(());
    }
    let name = database.display();
    Err(CommandError::new(
        Exit::Usage,
        format!("{STDOUT} would overwrite the database {name}; write it to another file"),
    ))
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
