//! The keys in which two configurations differ, for the log after a reload.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Config;

/// A key with different values in two configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigChange {
    /// The line for the log.
    pub(super) line: String,
    /// `true` if the change takes effect when the daemon is restarted, `false` if at once.
    pub(super) waits_for_restart: bool,
}

/// The keys that take effect after a restart: the open state and output, the open socket, and rights that were given up.
const AFTER_RESTART: [&str; 5] = [
    "output.dir",
    "output.tombstones",
    "state.dir",
    "metrics.listen",
    "watch.confine",
];

/// Returns the differences between two configurations, in the order of their keys.
pub(super) fn config_changes(old: &Config, new: &Config) -> Vec<ConfigChange> {
    let (old, new) = (values(old), values(new));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let changed: Vec<&String> = keys
        .into_iter()
        .filter(|key| old.get(*key) != new.get(*key))
        .collect();
    // Of a spool that is added or removed, the line about the spool itself suffices.
    let whole: Vec<String> = changed
        .iter()
        .filter(|key| !old.contains_key(**key) || !new.contains_key(**key))
        .map(|key| format!("{key} "))
        .collect();
    let is_part = |key: &String| whole.iter().any(|spool| key.starts_with(spool));
    let changed = changed.into_iter().filter(|key| !is_part(key));
    changed
        .map(|key| {
            let mut line = match (old.get(key), new.get(key)) {
                (Some(old), Some(new)) => format!("changed {key}: {old} -> {new}"),
                (None, _) => format!("added {key}"),
                (_, None) => format!("removed {key}"),
            };
            let waits_for_restart = AFTER_RESTART.contains(&key.as_str());
            if waits_for_restart {
                line.push_str("; takes effect after a restart");
            }
            ConfigChange {
                line,
                waits_for_restart,
            }
        })
        .collect()
}

/// Applies the part of `new` that takes effect at once. The rest stays as in `old`, which is in force.
pub(super) fn merge(old: &Config, new: Config) -> Config {
    let mut merged = new;
    merged.output.dir.clone_from(&old.output.dir);
    merged.output.tombstones = old.output.tombstones;
    merged.state.dir.clone_from(&old.state.dir);
    merged.metrics.listen.clone_from(&old.metrics.listen);
    merged.watch.confine = old.watch.confine;
    merged
}

/// The values of a configuration by their keys.
fn values(config: &Config) -> BTreeMap<String, String> {
    let table: toml::Table = config.resolved().parse().unwrap_or_default();
    let mut values = BTreeMap::new();
    for (name, value) in &table {
        match value {
            toml::Value::Table(table) => {
                let keys = table
                    .iter()
                    .map(|(key, value)| (format!("{name}.{key}"), text(value)));
                values.extend(keys);
            }
            toml::Value::Array(spools) => spools
                .iter()
                .filter_map(toml::Value::as_table)
                .for_each(|spool| values.extend(spool_values(spool))),
            value => {
                values.insert(name.clone(), text(value));
            }
        }
    }
    values
}

/// The values of a spool. The path is part of the keys.
fn spool_values(spool: &toml::Table) -> Vec<(String, String)> {
    let name = format!("spool {}", spool.get("path").map_or_else(String::new, text));
    let others = spool.iter().filter(|(key, _)| *key != "path");
    let mut values: Vec<_> = others
        .map(|(key, value)| (format!("{name} {key}"), text(value)))
        .collect();
    values.push((name, String::new()));
    values
}

/// A value as the log shows it: without quotation marks, which a log in JSON would escape.
fn text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) if items.is_empty() => "(empty)".to_owned(),
        toml::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(text).collect();
            items.join(",")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(old: &str, new: &str) -> Vec<String> {
        let [old, new] = [old, new].map(|text| Config::parse(text).unwrap());
        config_changes(&old, &new)
            .into_iter()
            .map(|change| change.line)
            .collect()
    }

    #[test]
    fn each_change_has_its_key_and_both_values() {
        assert_eq!(changes("", ""), [""; 0]);
        assert_eq!(
            changes(
                "[watch]\nsweep = \"5m\"\n[extract]\nschemes = [\"http\", \"ftp\"]",
                "[watch]\nsweep = \"90s\"\n[metrics]\ntextfile = \"/t/a\"\n[limits]\nmime_depth = 7"
            ),
            [
                "changed extract.schemes: http,ftp -> (empty)",
                "changed limits.mime_depth: 100 -> 7",
                "changed metrics.textfile: (empty) -> /t/a",
                "changed watch.sweep: 5m -> 1m 30s",
            ]
        );
    }

    #[test]
    fn what_waits_for_a_restart_is_named_and_stays_in_force() {
        let new = "[output]\ndir = \"/o\"\n[state]\ndir = \"/s\"\n[metrics]\nlisten = \"\"\n[watch]\nconfine = \"none\"";
        let text = changes("", new);
        assert_eq!(text.len(), 4);
        assert!(
            text.iter()
                .all(|line| line.ends_with("; takes effect after a restart"))
        );
        let (old, new) = (Config::default(), Config::parse(new).unwrap());
        let merged = merge(&old, new);
        assert_eq!(config_changes(&old, &merged), []);
    }

    #[test]
    fn spools_are_told_apart_by_their_paths() {
        let spool =
            |path: &str, kind: &str| format!("[[spool]]\npath = \"{path}\"\nkind = \"{kind}\"\n");
        let old = [
            spool("/a", "mbox"),
            spool("/b", "auto"),
            spool("/c", "auto"),
        ]
        .concat();
        let new = [
            spool("/b", "auto"),
            spool("/a", "maildir"),
            spool("/d", "auto"),
        ]
        .concat();
        assert_eq!(
            changes(&old, &new),
            [
                "changed spool /a kind: mbox -> maildir",
                "removed spool /c",
                "added spool /d"
            ]
        );
    }
}
