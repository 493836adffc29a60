//! What a terminal is shown: nothing that it would obey.

use std::io::IsTerminal;

use super::args::When;

/// Text without control characters, and without those that turn the direction of writing: each is written as its
/// code. Line feeds too, so that one message is one line.
pub(crate) fn harmless(text: &str) -> String {
    let dangerous = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if dangerous(c) {
            shown.extend(c.escape_unicode())
        } else {
            shown.push(c)
        }
    }
    shown
}

impl When {
    /// Whether to do it on standard error.
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
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(
            harmless("a\u{1b}[31m\n\u{9b}\u{202e}b\u{e9}"),
            "a\\u{1b}[31m\\u{a}\\u{9b}\\u{202e}b\u{e9}"
        );
    }
}
