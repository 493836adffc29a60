//! Errors of configurations.

use std::io;
use std::ops::Range;
use std::path::Path;

use thiserror::Error;
use urlspool_text::diagnostic::printable;

/// The reason why a configuration is unusable, on one line without control characters.
#[derive(Debug, Default, Error)]
#[error("{message}")]
pub struct ConfigError {
    /// Line and column of an error in the text, counted from 1.
    pub(super) place: Option<(usize, usize)>,
    message: String,
    /// The error that prevented the file from being read.
    source: Option<io::Error>,
    /// The faulty line, with a mark below the faulty characters, to print after the message. Empty
    /// if the error is not about a line, or the line is long.
    pub excerpt: Vec<String>,
}

/// A path, as messages show it.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// Maximum length in characters of a quoted line.
const QUOTED_CHARS: usize = 160;

impl ConfigError {
    /// The error for invalid values of keys. The message names them, and says what to do.
    pub(super) fn unusable(message: impl Into<String>) -> ConfigError {
        ConfigError {
            message: message.into(),
            ..ConfigError::default()
        }
    }

    /// The error for an unreadable file.
    pub(super) fn unreadable(error: io::Error) -> ConfigError {
        ConfigError {
            message: error.to_string(),
            source: Some(error),
            ..ConfigError::default()
        }
    }

    /// The error at the byte range `at` of `text`.
    pub(super) fn at(text: &str, at: &Range<usize>, message: &str) -> ConfigError {
        let start = text.floor_char_boundary(at.start);
        let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let quoted = text[line_start..].lines().next().unwrap_or_default();
        let quoted_chars = quoted.chars().count();
        let column = text[line_start..start].chars().count();
        let end = text.floor_char_boundary(at.end.max(start));
        let width = text[start..end].chars().count();
        let width = width.min(quoted_chars.saturating_sub(column)).max(1);
        let number = (1 + text[..line_start].matches('\n').count()).to_string();
        let margin = " ".repeat(number.len());
        let (indent, mark) = (" ".repeat(column), "^".repeat(width));
        let mut excerpt = Vec::new();
        if quoted_chars <= QUOTED_CHARS {
            excerpt.push(format!("  {number} | {}", quoted.replace('\t', " ")));
            excerpt.push(format!("  {margin} | {indent}{mark}"));
        }
        let message = format!(
            "line {number}, column {}: {}",
            1 + column,
            printable(message)
        );
        ConfigError {
            place: Some((number.parse().unwrap_or_default(), 1 + column)),
            excerpt,
            ..ConfigError::unusable(message)
        }
    }

    /// The error that the TOML reader found in `text`.
    pub(super) fn of_toml(text: &str, error: &toml::de::Error) -> ConfigError {
        let at = error.span().unwrap_or(0..0);
        ConfigError::at(text, &at, &plain(error))
    }

    /// The error that the TOML reader found in a single value.
    pub(super) fn of_value(error: &toml::de::Error) -> ConfigError {
        ConfigError::unusable(printable(&plain(error)))
    }

    /// Attaches the path of the configuration file.
    #[must_use]
    pub fn in_file(self, path: &Path) -> ConfigError {
        let (file, message) = (shown(path), &self.message);
        let message = match (&self.source, self.place) {
            (Some(_), _) => format!("cannot read {file}: {message}"),
            (None, Some(_)) => format!("{file}, {message}"),
            (None, None) => format!("{file}: {message}"),
        };
        ConfigError { message, ..self }
    }
}

/// Rewords a message of the TOML reader in the terms of the documentation.
fn plain(error: &toml::de::Error) -> String {
    const DURATION: &str = "failed to parse input in the \"friendly\" duration format";
    let message: Vec<&str> = error.message().lines().collect();
    let message = message.join("; ");
    // Replaces serde's words for a TOML array and a table.
    let message = message.replace(
        "expected a sequence",
        "expected a list, such as [\"a\", \"b\"]",
    );
    let message = &message.replace("expected a map", "expected a table");
    if message.starts_with(DURATION) {
        return "this is not a duration; write a number and its unit, such as \"250ms\", \"60s\" or \
                \"5m\""
            .to_owned();
    }
    let number = message
        .strip_prefix("invalid type: integer `")
        .and_then(|rest| rest.split_once('`'));
    if let Some((number, rest)) = number
        && rest.contains("duration")
    {
        return format!("a duration needs a unit; write \"{number}s\" for {number} seconds");
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
    fn the_wrong_characters_are_marked() {
        let error = ConfigError::at("a = 1\n\u{e9} = bad\n", &(11..14), "no");
        assert_eq!(error.to_string(), "line 2, column 5: no");
        assert_eq!(error.excerpt, ["  2 | \u{e9} = bad", "    |     ^^^"]);
        let end = ConfigError::at("a = ", &(4..4), "no value");
        assert_eq!(end.excerpt, ["  1 | a = ", "    |     ^"]);
    }
}
