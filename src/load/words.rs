//! Words of a text, for full-text indexes that do not divide texts themselves as `SQLite` does here: runs of letters and
//! digits, in lower case.

/// Calls `found` with each word of `text`, in order. Linear in its length.
pub(super) fn each_word(text: &str, mut found: impl FnMut(&str)) {
    for run in text.split(|c| !is_word_char(c)) {
        if run
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
        {
            if !run.is_empty() {
                found(run);
            }
        } else {
            found(&run.to_lowercase());
        }
    }
}

/// Letters, digits, and the marks that combine with them.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining(c)
}

/// The blocks of combining diacritical marks.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let mut words = Vec::new();
        each_word("http://Info.CERN.ch/a_b%20c-Äé", |word| {
            words.push(word.to_owned())
        });
        assert_eq!(words, ["http", "info", "cern", "ch", "a", "b", "20c", "äé"]);
    }
}
