//! The search for keys that no table of a configuration has.

use std::path::PathBuf;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::error::SyntaxError;
use super::named::{nearest, suggestion};
use super::{Config, DedupeScope, Spool};

/// Checks that every key of `text` is known.
///
/// # Errors
///
/// The first unknown key, with the nearest known one. Errors of the syntax.
pub(super) fn check_keys(text: &str) -> Result<(), SyntaxError> {
    let found = DeTable::parse(text).map_err(|error| SyntaxError::of_toml(text, &error))?;
    let mut search = KeySearch {
        text,
        errors: Vec::new(),
    };
    let known = known_keys();
    search.table(found.get_ref(), &known, "", &known);
    let first = search
        .errors
        .into_iter()
        .min_by_key(|error| (error.line, error.column));
    first.map_or(Ok(()), Err)
}

/// A configuration with every table and every key.
fn known_keys() -> Table {
    let spool = Spool {
        path: PathBuf::new(),
        kind: None,
        dedupe: DedupeScope::default(),
    };
    let config = Config {
        spool: vec![spool],
        ..Config::default()
    };
    Table::try_from(config).expect("tables of numbers, names and lists are TOML")
}

/// The unknown keys of a text.
struct KeySearch<'t> {
    text: &'t str,
    errors: Vec<SyntaxError>,
}

impl KeySearch<'_> {
    /// Searches a table of the text that is called `name`. As deep as the known tables are.
    fn table(&mut self, found: &DeTable<'_>, known: &Table, name: &str, root: &Table) {
        for (key, value) in found {
            let path = if name.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{name}.{}", key.get_ref())
            };
            match (known.get(key.get_ref().as_ref()), value.get_ref()) {
                (None, _) => {
                    let advice = advice(key.get_ref(), known, root);
                    let message = format!("unknown key `{path}`{advice}");
                    self.errors
                        .push(SyntaxError::at(self.text, &key.span(), &message));
                }
                (Some(Value::Table(known)), DeValue::Table(found)) => {
                    self.table(found, known, &path, root);
                }
                (Some(Value::Array(tables)), DeValue::Array(items)) => {
                    let Some(Value::Table(known)) = tables.first() else {
                        continue;
                    };
                    for item in items {
                        if let DeValue::Table(found) = item.get_ref() {
                            self.table(found, known, &path, root);
                        }
                    }
                }
                (Some(Value::Array(tables)), DeValue::Table(_))
                    if tables.iter().any(Value::is_table) =>
                {
                    let message = format!("there may be several tables `{path}`; write [[{path}]]");
                    self.errors
                        .push(SyntaxError::at(self.text, &key.span(), &message));
                }
                (Some(_), _) => {}
            }
        }
    }
}

/// The nearest key of the table, or the table that has this key.
fn advice(key: &str, known: &Table, root: &Table) -> String {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    if nearest(key, names.iter().copied()).is_some() {
        return suggestion(key, &names);
    }
    let has_key = |(_, value): &(&String, &Value)| match value {
        Value::Table(table) => table.contains_key(key),
        _ => false,
    };
    match root.iter().find(has_key) {
        Some((table, _)) => format!("; did you mean `{table}.{key}`?"),
        None => suggestion(key, &names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, message: &str) {
        let error = check_keys(text).unwrap_err().to_string();
        assert_eq!(error, message);
    }

    #[test]
    fn the_nearest_key_is_suggested() {
        check(
            "[extract]\nrule = 1",
            "line 2, column 1: unknown key `extract.rule`; did you mean `rules`?",
        );
        check(
            "[limits]\nurl_byte = 1",
            "line 2, column 1: unknown key `limits.url_byte`; did you mean `url_bytes`?",
        );
        check(
            "[outptu]",
            "line 1, column 2: unknown key `outptu`; did you mean `output`?",
        );
        check(
            "[[spool]]\npath = \"/a\"\n[[spool]]\npth = \"/b\"",
            "line 4, column 1: unknown key `spool.pth`; did you mean `path`?",
        );
        check(
            "[metrics]\nseal_bytes = 1",
            "line 2, column 1: unknown key `metrics.seal_bytes`; did you mean `output.seal_bytes`?",
        );
    }

    #[test]
    fn a_key_that_resembles_none_gets_the_list() {
        check(
            "[state]\nzzz = 1",
            "line 2, column 1: unknown key `state.zzz`; expected one of commit_interval, dir",
        );
    }

    #[test]
    fn a_table_that_is_a_list_has_two_brackets() {
        check(
            "[spool]\npath = \"/a\"",
            "line 1, column 2: there may be several tables `spool`; write [[spool]]",
        );
    }

    #[test]
    fn the_first_unknown_key_is_reported() {
        check(
            "[watch]\nzettle = 1\n[extract]\nrule = 1",
            "line 2, column 1: unknown key `watch.zettle`; did you mean `settle`?",
        );
    }

    #[test]
    fn known_keys_pass() {
        assert_eq!(check_keys(&Config::default().resolved()), Ok(()));
        assert_eq!(
            check_keys("[[spool]]\npath = \"/a\"\nkind = \"mbox\""),
            Ok(())
        );
    }
}
