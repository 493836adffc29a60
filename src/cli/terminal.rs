//! Text for terminals: nothing that a terminal would obey, and colours only where they are wanted.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::IsTerminal;

use super::args::When;
pub(crate) use crate::diagnostic::printable as escaped;
use crate::diagnostic::{EscapeForm, printable_lines};

/// The escapes in lines of data, which are needed on a terminal only: files and pipes get the lines as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalEscapes {
    /// Nothing is escaped.
    Off,
    /// Everything is escaped that a terminal would obey.
    On(EscapeForm),
}

impl TerminalEscapes {
    /// The escapes for lines that are written to a terminal, or not.
    pub(crate) fn of(is_terminal: bool, form: EscapeForm) -> TerminalEscapes {
        if is_terminal {
            TerminalEscapes::On(form)
        } else {
            TerminalEscapes::Off
        }
    }

    /// Returns whole lines as they are to be written.
    pub(crate) fn of_lines(self, lines: &[u8]) -> Cow<'_, [u8]> {
        match self {
            TerminalEscapes::Off => Cow::Borrowed(lines),
            TerminalEscapes::On(form) => printable_lines(lines, form),
        }
    }
}

impl When {
    /// Returns `true` if the thing is to be done on standard error.
    pub(crate) fn on_stderr(self) -> bool {
        match self {
            When::Auto => std::io::stderr().is_terminal(),
            When::Always => true,
            When::Never => false,
        }
    }

    /// Returns `true` if colours are to be used on `stream`.
    pub(crate) fn colors(self, stream: &impl IsTerminal) -> bool {
        match self {
            When::Auto => wants_colors(|name| std::env::var_os(name), stream.is_terminal()),
            When::Always => true,
            When::Never => false,
        }
    }

    /// The use of colours in help and in errors of the arguments.
    pub(crate) fn clap_choice(self) -> clap::ColorChoice {
        match self {
            // Clap takes any value of CLICOLOR_FORCE for a wish, also `0`.
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

/// Returns `true` if the environment asks for colours (no-color.org, bixense.com/clicolors), or leaves them to terminals.
///
/// As clap decides for the help.
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
