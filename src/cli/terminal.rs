//! Text for terminals: nothing that a terminal would obey.

use std::io::IsTerminal;

use super::args::When;

/// Escapes control characters, line feeds among them, and characters that change the direction of writing.
///
/// One message is one line, and cannot look like two.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_dangerous(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn is_dangerous(c: char) -> bool {
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    let turns =
        matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || ends_line || turns
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            escaped("a\u{1b}[31m\n\u{9b}\u{202e}b\u{e9}"),
            "a\\u{1b}[31m\\u{a}\\u{9b}\\u{202e}b\u{e9}"
        );
    }
}
