//! Errors of configurations.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::diagnostic::printable;

/// The reason why a configuration cannot be used. Each is one line without control characters.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// The text is not TOML, or has an unknown key or value.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// The values of keys cannot be used. It names them, and the way out.
    #[error("{0}")]
    Unusable(String),
}

impl ConfigError {
    /// The error, as one of the configuration file at `path`.
    #[must_use]
    pub fn in_file(self, path: &Path) -> ConfigFileError {
        ConfigFileError {
            path: path.to_owned(),
            error: self,
        }
    }

    /// The message with the name of the file.
    fn named(&self, path: &Path) -> String {
        let path = shown(path);
        match self {
            ConfigError::Unreadable(error) => format!("cannot read {path}: {error}"),
            ConfigError::Syntax(error) => format!("{path}, {error}"),
            ConfigError::Unusable(message) => format!("{path}: {message}"),
        }
    }
}

/// A path, as messages show it.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// A configuration file that cannot be used.
#[derive(Debug, Error)]
#[error("{}", .error.named(.path))]
pub struct ConfigFileError {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub error: ConfigError,
}

impl ConfigFileError {
    /// The lines at fault, to print after the message; empty if the error is not about a line.
    #[must_use]
    pub fn excerpt(&self) -> Vec<String> {
        match &self.error {
            ConfigError::Syntax(error) => error.excerpt(),
            _ => Vec::new(),
        }
    }
}

/// Maximum number of characters in a line that is quoted.
const QUOTED_CHARS: usize = 160;

/// A place in the text of a configuration, and the error there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of the character in its line, from 1.
    pub column: usize,
    /// The reason, in one line without control characters.
    pub message: String,
    /// The text of the line.
    quoted: String,
    /// Number of characters at fault.
    width: usize,
}

impl SyntaxError {
    /// The error at the bytes `at` of `text`.
    pub(super) fn at(text: &str, at: &Range<usize>, message: &str) -> SyntaxError {
        let start = text.floor_char_boundary(at.start);
        let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let quoted = text[line_start..].lines().next().unwrap_or_default();
        let column = text[line_start..start].chars().count();
        let end = text.floor_char_boundary(at.end.max(start));
        let width = text[start..end].chars().count();
        SyntaxError {
            line: 1 + text[..line_start].matches('\n').count(),
            column: 1 + column,
            message: printable(message),
            quoted: quoted.to_owned(),
            width: width
                .min(quoted.chars().count().saturating_sub(column))
                .max(1),
        }
    }

    /// The error that the TOML reader found in `text`.
    pub(super) fn of_toml(text: &str, error: &toml::de::Error) -> SyntaxError {
        let message: Vec<&str> = error.message().lines().collect();
        let message = message.join("; ");
        // The words of serde for what TOML calls an array and a table.
        let message = message.replace(
            "expected a sequence",
            "expected a list, such as [\"a\", \"b\"]",
        );
        let message = message.replace("expected a map", "expected a table");
        let at = error.span().unwrap_or(0..0);
        SyntaxError::at(text, &at, &plain(&message))
    }

    /// The line with a mark below the characters at fault, as lines to print after the message.
    /// Empty if it is long.
    #[must_use]
    pub fn excerpt(&self) -> Vec<String> {
        if QUOTED_CHARS < self.quoted.chars().count() {
            return Vec::new();
        }
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let (indent, mark) = (" ".repeat(self.column - 1), "^".repeat(self.width));
        vec![
            format!("  {number} | {}", self.quoted.replace('\t', " ")),
            format!("  {margin} | {indent}{mark}"),
        ]
    }
}

/// A message of the TOML reader, in words of the documentation.
fn plain(message: &str) -> String {
    const DURATION: &str = "failed to parse input in the \"friendly\" duration format";
    if message.starts_with(DURATION) {
        return "this is no duration; write a number and its unit, such as \"250ms\", \"60s\" or \
                \"5m\""
            .to_owned();
    }
    let number = message
        .strip_prefix("invalid type: integer `")
        .and_then(|rest| rest.split_once('`'));
    if let Some((number, rest)) = number
        && rest.contains("duration")
    {
        return format!("a duration has a unit; write \"{number}s\" for {number} seconds");
    }
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    match expected {
        "usize" | "u64" | "u32" | "u16" | "u8" => {
            format!("{found}, expected a whole number, 0 or more")
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_characters_at_fault_are_marked() {
        let error = SyntaxError::at("a = 1\n\u{e9} = bad\n", &(11..14), "no");
        assert_eq!(error.to_string(), "line 2, column 5: no");
        assert_eq!(error.excerpt(), ["  2 | \u{e9} = bad", "    |     ^^^"]);
        let end = SyntaxError::at("a = ", &(4..4), "no value");
        assert_eq!(end.excerpt(), ["  1 | a = ", "    |     ^"]);
    }
}
