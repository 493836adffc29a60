//! Text for terminals and logs: one line, and nothing that a terminal would obey.

/// Escapes control characters, line feeds among them, and characters that change the direction of writing.
///
/// One message is one line, and cannot look like two.
#[must_use]
pub fn printable(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_quotation_marks_are_not() {
        assert_eq!(
            printable("a\u{1b}[31m\n\u{9b}\u{202e}b\u{e9} \"c\\"),
            "a\\u{1b}[31m\\u{a}\\u{9b}\\u{202e}b\u{e9} \"c\\"
        );
    }
}
