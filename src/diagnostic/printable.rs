//! Text for terminals and logs: nothing that a terminal would obey.

use std::borrow::Cow;

/// Escapes control characters, line feeds among them, and characters that change the direction of
/// writing.
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

/// Returns the first `max_chars` characters of a text, with an ellipsis if there are more.
#[must_use]
pub fn shortened(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}\u{2026}", &text[..end])),
    }
}

/// Returns the first and the last characters of a text, with an ellipsis between them if it has
/// more than `max_chars`: errors of parsers quote a value first, and name its line last.
#[must_use]
pub fn shortened_inside(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.char_indices().nth(max_chars).is_none() {
        return Cow::Borrowed(text);
    }
    let tail = max_chars / 2;
    let start = text.char_indices().nth_back(tail);
    // The character before the tail, which is cut, always exists: there are more than `max_chars`.
    let end = start.map_or("", |(at, c)| &text[at + c.len_utf8()..]);
    Cow::Owned(format!("{}{end}", shortened(text, max_chars - tail)))
}

/// Form of the escapes in lines for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeForm {
    /// `\u001b`, which means the same in a text of JSON or TOML.
    Json,
    /// `\u{1b}`, and `\x9b` for a byte that is not UTF-8.
    Text,
}

/// Escapes in whole lines what [`printable`] escapes in a text, but for line feeds and tabs.
///
/// Linear in the length of the lines. Nothing is copied if nothing is escaped.
#[must_use]
pub fn printable_lines(lines: &[u8], form: EscapeForm) -> Cow<'_, [u8]> {
    let is_safe = |byte: &u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    if lines.iter().all(is_safe) {
        return Cow::Borrowed(lines);
    }
    let mut shown = String::with_capacity(lines.len());
    for chunk in lines.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\n' || c == '\t' || !is_dangerous(c) {
                shown.push(c);
            } else {
                push_escape(c, form, &mut shown);
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(shown.into_bytes())
}

/// Returns a number with the noun for it: `1 URL`, `2,000 URLs`.
#[cfg(any(
    feature = "audit",
    feature = "browse",
    feature = "cli",
    feature = "daemon"
))]
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", grouped(count))
}

/// Returns a number with a comma after each group of three digits.
#[cfg(any(
    feature = "audit",
    feature = "browse",
    feature = "cli",
    feature = "daemon"
))]
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Appends the escape of a character. None that is escaped needs more than four digits.
fn push_escape(c: char, form: EscapeForm, shown: &mut String) {
    match form {
        EscapeForm::Json => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
        EscapeForm::Text => shown.extend(c.escape_unicode()),
    }
}

fn is_dangerous(c: char) -> bool {
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    let turns = matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || ends_line || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(
        feature = "audit",
        feature = "browse",
        feature = "cli",
        feature = "daemon"
    ))]
    fn a_counted_noun_has_grouped_digits() {
        for (count, text) in [
            (0, "0 URLs"),
            (1, "1 URL"),
            (999, "999 URLs"),
            (1_000, "1,000 URLs"),
            (1_234_567, "1,234,567 URLs"),
        ] {
            assert_eq!(counted(count, "URL", "URLs"), text);
        }
    }

    #[test]
    fn lines_for_a_terminal_keep_line_feeds_and_tabs() {
        let lines = |bytes, form| String::from_utf8(printable_lines(bytes, form).into()).unwrap();
        let hostile = b"a\tb\n\x1b[31m\xc2\x9b\x7f\r\xe2\x80\xae\xff\xc3\xa9\n";
        assert_eq!(
            lines(hostile, EscapeForm::Text),
            "a\tb\n\\u{1b}[31m\\u{9b}\\u{7f}\\u{d}\\u{202e}\\xff\u{e9}\n"
        );
        let json = "{\"a\":\"\u{9b}\u{e9}\"}\n";
        assert_eq!(
            lines(json.as_bytes(), EscapeForm::Json),
            "{\"a\":\"\\u009b\u{e9}\"}\n"
        );
        let plain = b"http://a.example/\n";
        assert!(
            matches!(printable_lines(plain, EscapeForm::Text), Cow::Borrowed(same) if same == plain)
        );
    }

    #[test]
    fn control_characters_are_escaped_and_quotation_marks_are_not() {
        assert_eq!(
            printable("a\u{1b}[31m\n\u{9b}\u{202e}b\u{e9} \"c\\"),
            "a\\u{1b}[31m\\u{a}\\u{9b}\\u{202e}b\u{e9} \"c\\"
        );
    }

    #[cfg(any(
        feature = "audit",
        feature = "browse",
        feature = "cli",
        feature = "daemon"
    ))]
    #[test]
    fn numbers_are_written_for_readers() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(count), expected);
        }
        assert_eq!(counted(1, "link", "links"), "1 link");
        assert_eq!(counted(1_000, "link", "links"), "1,000 links");
    }
}
