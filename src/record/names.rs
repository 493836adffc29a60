//! Names of senders and lists, for counts: one form for what header fields write in
//! several.

use std::collections::HashSet;

/// Returns the address of a From field in lower case: that between angle brackets, or the first
/// word with an at sign; the whole field if it has none.
pub(crate) fn sender_address(from: &str) -> String {
    let is_address = |text: &&str| text.contains('@');
    let in_brackets = bracketed(from).filter(is_address);
    let word = || from.split_ascii_whitespace().find(is_address);
    let is_around = |c: char| c.is_whitespace() || "<>(),;:\"".contains(c);
    let address = in_brackets.or_else(word);
    let address = address.map(|address| address.trim_matches(is_around));
    address.unwrap_or(from.trim()).to_lowercase()
}

/// Returns the name of a list in lower case: that between angle brackets, or the whole field.
pub(crate) fn list_name(list_id: &str) -> String {
    let name = bracketed(list_id).map(str::trim);
    let name = name.filter(|name| !name.is_empty());
    name.unwrap_or(list_id.trim()).to_lowercase()
}

/// Returns the names of a message's mailing list and of its newsgroups in lower case, the list
/// first, each once: a gateway gives one name to both.
pub(crate) fn list_names(list_id: Option<&str>, newsgroups: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = list_id.map(list_name).into_iter();
    names
        // As a search compares them.
        .chain(newsgroups.iter().map(|name| name.to_ascii_lowercase()))
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

/// Returns the text in the last pair of angle brackets.
fn bracketed(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once('<')?;
    Some(rest.split_once('>')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_an_address() {
        for (from, address) in [
            ("Jane Doe <Jane@A.example>", "jane@a.example"),
            ("jane@a.example (Jane Doe)", "jane@a.example"),
            ("\"x @ y\" <jane@a.example>", "jane@a.example"),
            ("<jane@a.example>, <john@b.example>", "john@b.example"),
            ("Jane <>", "jane <>"),
            ("Jane <nobody> jane@a.example", "jane@a.example"),
            ("jane at a.example (Jane)", "jane at a.example (jane)"),
            ("The Editors", "the editors"),
            ("<@>", "@"),
            ("", ""),
        ] {
            assert_eq!(sender_address(from), address, "{from}");
        }
    }

    #[test]
    fn a_list_is_what_stands_in_brackets() {
        for (list_id, name) in [
            ("Lamps <Lamps.a.example>", "lamps.a.example"),
            ("lamps.a.example", "lamps.a.example"),
            ("Lamps <>", "lamps <>"),
        ] {
            assert_eq!(list_name(list_id), name, "{list_id}");
        }
    }

    #[test]
    fn a_name_in_two_cases_is_one_list() {
        let groups = ["Alt.Lamps", "alt.lamps", "alt.oil"].map(str::to_owned);
        let names = list_names(Some("<alt.LAMPS>"), &groups);
        assert_eq!(names, ["alt.lamps", "alt.oil"]);
    }
}
