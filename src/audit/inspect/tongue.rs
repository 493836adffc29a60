//! The language of a text, by its alphabet and its commonest words. Only computes.

use std::collections::HashSet;

use super::page::words;

/// Common words of languages with the Latin alphabet, which few others of them have.
const COMMONEST: [(&str, &[&str]); 12] = [
    (
        "cs",
        &["jsou", "jako", "nebo", "který", "pro", "při", "že", "byl"],
    ),
    (
        "da",
        &["og", "det", "ikke", "jeg", "til", "hvad", "blev", "fra"],
    ),
    (
        "de",
        &[
            "und", "der", "die", "das", "nicht", "ist", "mit", "für", "auf", "zu", "wird", "von",
        ],
    ),
    (
        "en",
        &[
            "the", "and", "of", "to", "is", "for", "that", "with", "your", "this", "you", "it",
        ],
    ),
    (
        "es",
        &[
            "el", "los", "las", "por", "una", "con", "para", "del", "su", "más", "hay", "y",
        ],
    ),
    (
        "fi",
        &["ja", "on", "että", "oli", "ovat", "mutta", "joka", "kun"],
    ),
    (
        "fr",
        &[
            "le", "les", "des", "et", "est", "une", "pour", "dans", "qui", "du", "avec", "plus",
        ],
    ),
    (
        "it",
        &[
            "il", "di", "che", "della", "per", "una", "sono", "gli", "con", "del", "più", "nel",
        ],
    ),
    (
        "nl",
        &[
            "het", "een", "van", "en", "niet", "zijn", "voor", "met", "wordt", "naar", "ook",
        ],
    ),
    (
        "pl",
        &["się", "nie", "jest", "na", "oraz", "przez", "dla", "był"],
    ),
    (
        "pt",
        &[
            "não", "uma", "os", "dos", "para", "com", "em", "mais", "são", "da", "ao", "foi",
        ],
    ),
    (
        "sv",
        &[
            "och", "att", "det", "som", "inte", "är", "för", "till", "med",
        ],
    ),
];

/// Minimum number of such words in a text whose language is told.
const MIN_COMMON_WORDS: usize = 5;

/// Returns the language of a text, or the alphabet where that has few languages; `None` if it is
/// not clear.
pub(super) fn tongue(text: &str) -> Option<&'static str> {
    alphabet(text).or_else(|| {
        let words = words(text);
        let count = |known: &[&str]| {
            words
                .iter()
                .filter(|word| known.contains(&word.as_str()))
                .count()
        };
        let mut counts: Vec<_> = COMMONEST
            .iter()
            .map(|(name, known)| (count(known), *name))
            .collect();
        counts.sort_unstable_by(|one, next| next.cmp(one));
        match counts[..] {
            [(first, name), (second, _), ..]
                if MIN_COMMON_WORDS <= first && 2 * second <= first =>
            {
                Some(name)
            }
            _ => None,
        }
    })
}

/// Minimum number of characters of a name.
const NAME_CHARS: usize = 4;

/// Returns the words of a text that are names: with a capital letter, inside a sentence.
pub(super) fn names(text: &str) -> HashSet<&str> {
    let mut names = HashSet::new();
    for line in text.lines() {
        let mut is_inside = false;
        for token in line.split_whitespace() {
            let name = token.trim_matches(|character: char| !character.is_alphanumeric());
            let is_name =
                name.starts_with(char::is_uppercase) && NAME_CHARS <= name.chars().count();
            if is_inside && is_name {
                names.insert(name);
            }
            is_inside = !token.ends_with(['.', '!', '?', ':']);
        }
    }
    names
}

/// Returns the name of the alphabet that most letters of a text belong to, unless it is Latin.
fn alphabet(text: &str) -> Option<&'static str> {
    let mut counts = [0_usize; ALPHABETS.len()];
    let mut letters = 0;
    for character in text.chars().filter(|character| character.is_alphabetic()) {
        letters += 1;
        let of = |(_, from, to): &(&str, char, char)| (*from..=*to).contains(&character);
        if let Some(at) = ALPHABETS.iter().position(of) {
            counts[at] += 1;
        }
    }
    let most = counts
        .iter()
        .zip(ALPHABETS)
        .max_by_key(|(count, _)| **count);
    let (count, (name, ..)) = most?;
    (letters < 2 * count).then_some(name)
}

/// Alphabets, each with a range of its letters. Japanese and Chinese share one.
const ALPHABETS: [(&str, char, char); 8] = [
    ("Greek", '\u{370}', '\u{3ff}'),
    ("Cyrillic", '\u{400}', '\u{52f}'),
    ("Hebrew", '\u{590}', '\u{5ff}'),
    ("Arabic", '\u{600}', '\u{6ff}'),
    ("Devanagari", '\u{900}', '\u{97f}'),
    ("Thai", '\u{e00}', '\u{e7f}'),
    ("East Asian", '\u{3040}', '\u{9fff}'),
    ("Hangul", '\u{ac00}', '\u{d7af}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_language_of_its_commonest_words() {
        for (text, expected) in [
            (
                "The lamp of the harbour is for you, and that is the end of it.",
                Some("en"),
            ),
            (
                "Die Lampe und der Hafen: das ist nicht für die Leute von dort.",
                Some("de"),
            ),
            (
                "Le phare est dans le port, et les bateaux sont pour une fois des nôtres.",
                Some("fr"),
            ),
            ("Маяк стоит у моря, and more", Some("Cyrillic")),
            ("灯台は港にあります。", Some("East Asian")),
            ("Lamp 4, wick 7", None),
            ("", None),
        ] {
            assert_eq!(tongue(text), expected, "{text}");
        }
    }

    #[test]
    fn names_have_a_capital_letter_inside_a_sentence() {
        let text = "The lamp of Brandholm. Each evening, (Ellington) lit it: Then he left Ulm.";
        assert_eq!(names(text), HashSet::from(["Brandholm", "Ellington"]));
    }
}
