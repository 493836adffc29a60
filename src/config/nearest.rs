//! Suggestions for misspelled names. The crate `strsim` compares them.

/// Similarity, from 0 to 1, above which a name is suggested. As clap's for arguments.
const MIN_SIMILARITY: f64 = 0.7;

/// Number of characters from which on a word is compared: fewer resemble too many names.
const MIN_CHARS: usize = 3;

/// Returns the name that is most similar to `word`, if any is similar enough to be meant.
#[must_use]
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if word.chars().count() < MIN_CHARS {
        return None;
    }
    let word = word.to_ascii_lowercase().replace('-', "_");
    let similarity = |name: &str| strsim::jaro_winkler(&word, &name.replace('-', "_"));
    let rated = names.into_iter().map(|name| (similarity(name), name));
    rated
        .filter(|(similarity, _)| MIN_SIMILARITY < *similarity)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

/// The clause `; did you mean NAME?` for the nearest name, or, without one, `; expected one of NAMES`.
pub(super) fn suggestion(word: &str, names: &[&str]) -> String {
    match nearest(word, names.iter().copied()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; expected one of {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_suggested() {
        let names = ["rules", "accept", "extra_schemes", "schemes"];
        assert_eq!(nearest("rule", names), Some("rules"));
        assert_eq!(nearest("Extra-Schemes", names), Some("extra_schemes"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("x", ["extract"]), None);
        assert_eq!(
            suggestion("zzz", &["wide", "rfc1738"]),
            "; expected one of wide, rfc1738"
        );
    }
}
