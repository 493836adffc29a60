//! Standard output and standard error. Terminals receive no control characters from input, and
//! colours only where they are wanted.
//!
//! A reader that closes standard output early is a normal end. A message that cannot be written to
//! standard error is lost, since no other channel could report it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use super::args::When;
use super::error::{CommandError, CommandResult, Exit};
use urlspool_files::sink::FileIdentity;
use urlspool_files::sink::{PipeSink, Sink};
use urlspool_record::record::{FormulaGuard, GrepStyle, TableSyntax};
use urlspool_store::load::is_file_of_database;
pub(crate) use urlspool_text::diagnostic::printable as escaped;
use urlspool_text::diagnostic::{EscapeForm, printable_lines};

/// Returns whole lines in their written form: with a form, control characters are replaced by such
/// escapes; without one, the lines are unchanged.
pub(crate) fn escaped_lines(lines: &[u8], form: Option<EscapeForm>) -> Cow<'_, [u8]> {
    match form {
        None => Cow::Borrowed(lines),
        Some(form) => printable_lines(lines, form),
    }
}

impl When {
    /// Returns `true` if colours are to be used on `stream`.
    pub(crate) fn colors(self, stream: &impl IsTerminal) -> bool {
        match self {
            When::Auto => wants_colors(|name| std::env::var_os(name), stream.is_terminal()),
            When::Always => true,
            When::Never => false,
        }
    }

    /// Returns the style of lines for people on standard output.
    pub(crate) fn grep_style(self) -> GrepStyle {
        let stdout = io::stdout();
        if self.colors(&stdout) {
            GrepStyle::Colored
        } else if stdout.is_terminal() {
            GrepStyle::Escaped
        } else {
            GrepStyle::Plain
        }
    }

    /// Returns the use of colours in the help and in errors of the arguments.
    pub(crate) fn clap_choice(self) -> clap::ColorChoice {
        match self {
            // Clap takes any value of CLICOLOR_FORCE as a request, even `0`.
            When::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value == "0") => {
                if self.colors(&std::io::stdout()) && self.colors(&std::io::stderr()) {
                    clap::ColorChoice::Always
                } else {
                    clap::ColorChoice::Never
                }
            }
            When::Auto => clap::ColorChoice::Auto,
            When::Always => clap::ColorChoice::Always,
            When::Never => clap::ColorChoice::Never,
        }
    }
}

/// Returns `true` if the environment asks for colours (no-color.org, bixense.com/clicolors), or
/// leaves the choice to terminals.
///
/// Follows the rules that clap uses for the help.
fn wants_colors(variable: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> bool {
    let is_on = |name| variable(name).is_some_and(|value| !value.is_empty() && value != "0");
    let is_off = |name| variable(name).is_some_and(|value| value == "0");
    let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
    if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        false
    } else if is_on("CLICOLOR_FORCE") {
        true
    } else {
        is_terminal && !is_dumb && !is_off("CLICOLOR")
    }
}

/// The syntax of printed tables.
pub(super) const CSV: TableSyntax = TableSyntax::Csv {
    guard: FormulaGuard::On,
    delimiter: b',',
};

/// The name of standard output in messages.
pub(super) const STDOUT: &str = "standard output";

/// Writes text, JSON or TOML to standard output.
pub(super) fn print(bytes: &[u8]) -> CommandResult {
    let mut out = StdoutLines::new(EscapeForm::Json);
    out.put(bytes)?;
    out.finish()?;
    Ok(Exit::Done)
}

/// Width of a page whose actual width is unknown, in columns.
const USUAL_COLUMNS: usize = 80;

/// Returns the width of the terminal on standard output, or a usual one.
pub(super) fn stdout_columns() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    match size.map(|size| size.ws_col) {
        Ok(columns @ 1..) => columns.into(),
        _ => USUAL_COLUMNS,
    }
}

/// Checks that standard output is not a file of the database that a command reads.
pub(super) fn check_is_not_database(database: &Path) -> Result<(), CommandError> {
    let stdout = FileIdentity::of_stdout();
    if !stdout.is_some_and(|stdout| is_file_of_database(database, &stdout)) {
        return Ok(());
    }
    let name = database.display();
    Err(CommandError::usage(format!(
        "{STDOUT} would overwrite the database {name}; write it to another file"
    )))
}

/// Buffered standard output. Control characters are escaped on a terminal.
pub(super) struct StdoutLines {
    sink: PipeSink<BufWriter<Stdout>>,
    /// The form of escapes, if any.
    escapes: Option<EscapeForm>,
}

impl StdoutLines {
    /// Creates the output for lines that use this form of escapes on a terminal.
    pub(super) fn new(form: EscapeForm) -> StdoutLines {
        let stdout = io::stdout();
        StdoutLines {
            escapes: stdout.is_terminal().then_some(form),
            sink: PipeSink(BufWriter::new(stdout)),
        }
    }

    /// Creates the output for lines whose control characters are already escaped, and which may
    /// contain colours.
    pub(super) fn of_escaped_lines() -> StdoutLines {
        StdoutLines {
            escapes: None,
            ..StdoutLines::new(EscapeForm::Text)
        }
    }

    /// Appends whole lines. Returns `false` if the reader closed its end.
    pub(super) fn put(&mut self, lines: &[u8]) -> Result<bool, CommandError> {
        let put = self.sink.put(&escaped_lines(lines, self.escapes));
        put.map_err(|error| CommandError::output(STDOUT, &error))
    }

    /// Flushes the buffer.
    pub(super) fn finish(&mut self) -> Result<(), CommandError> {
        let finished = self.sink.finish();
        finished.map_err(|error| CommandError::output(STDOUT, &error))
    }
}

/// Writes a line to standard error. `eprintln!` would panic if the disk is full or the reader of a
/// pipe is gone.
pub(super) fn print_message(line: fmt::Arguments<'_>) {
    // Written in one call, so lines of several threads do not mix.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], on_terminal: bool, on_pipe: bool) {
        let variable = |name: &str| {
            let all = [variables, &[("TERM", "xterm")]].concat();
            let found = all.into_iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let wanted = [true, false].map(|is_terminal| wants_colors(variable, is_terminal));
        assert_eq!(wanted, [on_terminal, on_pipe], "{variables:?}");
    }

    #[test]
    fn the_environment_turns_colours_on_and_off() {
        check(&[], true, false);
        check(&[("NO_COLOR", "1")], false, false);
        check(&[("NO_COLOR", "")], true, false);
        check(&[("CLICOLOR", "0")], false, false);
        check(&[("CLICOLOR", "1")], true, false);
        check(&[("CLICOLOR_FORCE", "1")], true, true);
        check(&[("CLICOLOR_FORCE", "0")], true, false);
        check(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false, false);
        check(&[("TERM", "dumb")], false, false);
    }
}
