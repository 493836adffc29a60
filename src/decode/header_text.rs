//! Texts of header fields, and the prefilter that skips fields in which no URL begins.

use super::header::{ESC, has_encoded_word};
use super::{ConvertedText, charset, encoded_words};
use crate::byte_scan::is_inert_value;

/// Decodes the value of a field; `None` if no URL begins in it.
///
/// Prefilter without false negatives: a value that is returned may hold no URL, but each value that holds one is returned.
pub(super) fn searchable_text(value: &[u8]) -> Option<ConvertedText<'_>> {
    if is_inert_value(value) {
        return None;
    }
    if has_encoded_word(value) {
        let text = encoded_words::decode(value);
        // The map to the raw bytes takes more time than the text.
        return may_hold_url(&text).then(|| encoded_words::decode_with_map(value).into());
    }
    if value.is_ascii() && memchr::memchr(ESC, value).is_none() {
        return may_hold_url(value).then(|| ConvertedText::unchanged(value));
    }
    Some(charset::decode(value, None))
}

/// Returns `true` if a URL may begin in a value in UTF-8: after a colon (after one that white space follows only if there is
/// a `<`), or with `www.` or `ftp.`, which may have a number.
fn may_hold_url(value: &[u8]) -> bool {
    let mut marks = memchr::memchr2_iter(b':', b'.', value).peekable();
    if marks.peek().is_none() {
        return false;
    }
    let has_bracket = memchr::memchr(b'<', value).is_some();
    marks.any(|at| match value[at] {
        b':' => {
            let next = value.get(at + 1);
            has_bracket || next.is_some_and(|next| !next.is_ascii_whitespace())
        }
        _ => {
            let digits = value[..at]
                .iter()
                .rev()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let end = at - digits;
            let before = &value[end.saturating_sub(3)..end];
            before.eq_ignore_ascii_case(b"www") || before.eq_ignore_ascii_case(b"ftp")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_which_no_url_can_begin_are_skipped() {
        for value in [
            "",
            "a b",
            "Re: a",
            "a@b.example",
            "Re: a.b",
            "a:",
            "v. 1.0",
            "ww w . x",
            "<a@b>",
            "comp.mail",
        ] {
            assert!(!may_hold_url(value.as_bytes()), "{value}");
        }
        for value in [
            "http://a",
            "a:b",
            "<URL: x>",
            "www.a",
            "see FTP.a",
            "www2.a",
            "Ftp15.a",
            "10:30",
        ] {
            assert!(may_hold_url(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn no_url_begins_in_an_inert_value() {
        let is_searched =
            |value: &[u8]| has_encoded_word(value) || !value.is_ascii() || may_hold_url(value);
        for len in 0..70 {
            for mark in [
                "://x", "www.", "P.", "w2.", ": <", "<:", ":", "<", "?", "=?x?=", "\u{e9}", ". .",
                ":\n x",
            ] {
                for at in 0..=len {
                    let value =
                        [&b"x".repeat(at), mark.as_bytes(), &b" ".repeat(len - at)].concat();
                    assert!(
                        !is_inert_value(&value) || !is_searched(&value),
                        "{}",
                        value.escape_ascii()
                    );
                }
            }
            assert!(is_inert_value(&b"a: b.de ".repeat(len)));
        }
    }
}
