//! Detects keys that the configuration does not define, and sets single keys.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::named::{nearest, suggestion};
use super::{Config, ConfigError, Spool};

/// Checks that every key of `text` is known.
///
/// # Errors
///
/// The first unknown key, with the nearest known one. Syntax errors.
pub(super) fn check_keys(text: &str) -> Result<(), ConfigError> {
    let found = DeTable::parse(text).map_err(|error| ConfigError::of_toml(text, &error))?;
    let known = known_keys();
    let mut errors = Vec::new();
    search_table(found.get_ref(), &known, "", &known, &mut |at, message| {
        errors.push(ConfigError::at(text, &at, &message));
    });
    let first = errors.into_iter().min_by_key(|error| error.place);
    first.map_or(Ok(()), Err)
}

/// Tables whose keys have distinct names.
const SETTABLE: [&str; 2] = ["extract", "limits"];

/// Sets a key of [`SETTABLE`] to a value. The values of a list are separated by commas.
///
/// # Errors
///
/// The key is unknown.
pub(super) fn set(tables: &mut Table, key: &str, text: &str) -> Result<(), ConfigError> {
    let Some(table) = SETTABLE
        .into_iter()
        .find(|table| tables[*table].get(key).is_some())
    else {
        let known = SETTABLE
            .iter()
            .filter_map(|table| tables[*table].as_table());
        let known: Vec<&str> = known.flat_map(Table::keys).map(String::as_str).collect();
        let advice = suggestion(key, &known);
        return Err(ConfigError::unusable(format!(
            "unknown key `{key}`{advice}"
        )));
    };
    let value = &mut tables[table][key];
    let items = text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    *value = match (text.parse(), text.parse()) {
        _ if value.is_array() => Value::Array(items.map(Value::from).collect()),
        (Ok(number), _) => Value::Integer(number),
        (_, Ok(flag)) => Value::Boolean(flag),
        _ => Value::from(text),
    };
    Ok(())
}

/// A configuration with every table and every key.
fn known_keys() -> Table {
    let config = Config {
        spool: vec![Spool::default()],
        ..Config::default()
    };
    Table::try_from(config).expect("tables of numbers, names and lists are TOML")
}

/// Searches the table `name` of the text, and reports unknown keys. The depth is limited to that of
/// the known tables.
fn search_table(
    found: &DeTable<'_>,
    known: &Table,
    name: &str,
    root: &Table,
    report: &mut dyn FnMut(Range<usize>, String),
) {
    for (key, value) in found {
        let path = if name.is_empty() {
            key.get_ref().to_string()
        } else {
            format!("{name}.{}", key.get_ref())
        };
        match (known.get(key.get_ref().as_ref()), value.get_ref()) {
            (None, _) => {
                let advice = advice(key.get_ref(), known, root);
                report(key.span(), format!("unknown key `{path}`{advice}"));
            }
            (Some(Value::Table(known)), DeValue::Table(found)) => {
                search_table(found, known, &path, root, report);
            }
            (Some(Value::Array(tables)), DeValue::Array(items)) => {
                let Some(Value::Table(known)) = tables.first() else {
                    continue;
                };
                for item in items {
                    if let DeValue::Table(found) = item.get_ref() {
                        search_table(found, known, &path, root, report);
                    }
                }
            }
            (Some(Value::Array(tables)), DeValue::Table(_))
                if tables.iter().any(Value::is_table) =>
            {
                let message = format!("there may be several tables `{path}`; write [[{path}]]");
                report(key.span(), message);
            }
            (Some(_), _) => {}
        }
    }
}

/// Returns the nearest key of the table, or the table that has this key.
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
        assert!(check_keys(&Config::default().resolved()).is_ok());
        assert!(check_keys("[[spool]]\npath = \"/a\"\nkind = \"mbox\"").is_ok());
    }
}
