//! The configuration: a TOML file, checked, with a default for every key.
//!
//! Flags override it; an unknown key is an error. Each limit, rule and option is defined once, with
//! its name: limits in [`urlspool_text::limits`], option values in [`NamedValue`]. This module
//! knows the domain types; they do not know their written form.

mod check;
mod daemon;
mod delimiter;
mod error;
mod limits;
mod named;
mod size;
mod unknown_key;

use std::collections::HashSet;
use std::mem::take;
use std::path::{Path, PathBuf};

pub use check::resolved;
pub use check::{check_header_field, check_scheme_name, hazard_name, host_of, region_name};
pub use daemon::{
    Confinement, DedupeScope, ExistingMail, MetricsTable, OutputTable, SegmentCompression, Spool,
    StateTable, WatchTable,
};
pub use error::ConfigError;
pub use named::named_values;
pub use named::{NamedValue, nearest};
use serde::{Deserialize, Serialize};
pub use size::parse_size;
use toml::Table;

use urlspool_mail::decode::AttachmentPolicy;
use urlspool_record::extract::{Options, Unique};
use urlspool_text::limits::Limits;
use urlspool_text::parse::Grammar;
use urlspool_text::scan::{Rules, SchemelessPolicy};

/// The tables of a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The daemon's output.
    pub output: OutputTable,
    /// The daemon's state.
    pub state: StateTable,
    /// Intervals and waits of the daemon.
    pub watch: WatchTable,
    /// The daemon's metrics.
    pub metrics: MetricsTable,
    /// The files and folders that the daemon watches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spool: Vec<Spool>,
    /// Which URLs are found, and how they are written.
    pub extract: ExtractTable,
    /// The limits, by name.
    #[serde(with = "limits")]
    pub limits: Limits,
}

/// The `[extract]` table.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the file, named where it is set"
)]
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractTable {
    /// The rules that URLs are found by.
    #[serde(with = "named")]
    pub rules: Rules,
    /// Grammars, one of which must accept a URL; empty to write all URLs.
    #[serde(with = "named::list")]
    pub accept: Vec<Grammar>,
    /// Schemes of the URLs to write; empty for all.
    pub schemes: Vec<String>,
    /// Additional schemes to find without `//`.
    pub extra_schemes: Vec<String>,
    /// Header fields to copy into records.
    pub header_fields: Vec<String>,
    /// The scope in which a URL is written once.
    #[serde(with = "named")]
    pub unique: Unique,
    /// Bytes of context before and after each URL, at most
    /// [`CONTEXT_BYTES`](urlspool_text::limits::CONTEXT_BYTES); 0 for none.
    pub context: usize,
    /// `true` to search header fields.
    pub headers: bool,
    /// `true` to search HTML: parts of messages, and pages.
    pub html: bool,
    /// The attachments to search.
    #[serde(with = "named")]
    pub attachments: AttachmentPolicy,
    /// Hosts without a scheme to find.
    #[serde(with = "named")]
    pub schemeless: SchemelessPolicy,
    /// `true` to remove the recipient's address from redirectors' URLs.
    pub strip_recipient: bool,
    /// Hosts of the URLs to write. All URLs are written if this and `domain` are empty.
    pub host: Vec<String>,
    /// Domains of the URLs to write, including the hosts below them.
    pub domain: Vec<String>,
    /// Domains whose URLs are not written, including the hosts below them. A name with a `/` is a
    /// file that lists domains.
    pub exclude_domains: Vec<String>,
    /// The domains of `exclude_domains`, after [`Config::check_filters`] has read its files.
    #[serde(skip)]
    pub excluded: HashSet<String>,
    /// The value of `exclude_domains` that `excluded` was read from.
    #[serde(skip)]
    pub(crate) excluded_by: Vec<String>,
    /// Regions of the URLs to write; empty for all.
    pub region: Vec<String>,
    /// `true` to write only links whose text names a different host.
    pub mismatch: bool,
    /// Hazards, one of which a URL must have to be written; empty for all URLs.
    pub hazard: Vec<String>,
    /// `true` to defang URLs in formats for people.
    pub defang: bool,
    /// `true` for a header row in csv and tsv.
    pub header_row: bool,
    /// `true` to escape spreadsheet formulas and control characters in csv.
    pub formula_guard: bool,
    /// The delimiter between the cells of csv, an ASCII character.
    #[serde(with = "delimiter")]
    pub delimiter: u8,
    /// `true` to make the paths of a scan's records absolute.
    pub absolute: bool,
}

impl Default for ExtractTable {
    fn default() -> ExtractTable {
        ExtractTable {
            rules: Rules::default(),
            accept: Vec::new(),
            schemes: Vec::new(),
            extra_schemes: Vec::new(),
            header_fields: Vec::new(),
            unique: Unique::default(),
            context: 0,
            headers: true,
            html: true,
            attachments: AttachmentPolicy::default(),
            schemeless: SchemelessPolicy::Find,
            strip_recipient: false,
            host: Vec::new(),
            domain: Vec::new(),
            exclude_domains: Vec::new(),
            excluded: HashSet::new(),
            excluded_by: Vec::new(),
            region: Vec::new(),
            mismatch: false,
            hazard: Vec::new(),
            defang: false,
            header_row: true,
            formula_guard: true,
            delimiter: b',',
            absolute: false,
        }
    }
}

/// The environment variable that names the configuration file.
pub const CONFIG_VARIABLE: &str = "URLSPOOL_CONFIG";

/// Returns the configuration file of a scan: the given one, or the one that [`CONFIG_VARIABLE`]
/// names.
///
/// The default places are for the daemon only: a scan prints the same on every machine.
#[must_use]
pub fn scan_config(given: Option<&Path>) -> Option<PathBuf> {
    let named = std::env::var_os(CONFIG_VARIABLE).filter(|value| !value.is_empty());
    given
        .map(Path::to_owned)
        .or_else(|| named.map(PathBuf::from))
}

impl Config {
    /// Reads the configuration file of a scan, [`scan_config`]. Without one, every key has its
    /// default.
    ///
    /// # Errors
    ///
    /// As [`Config::read`].
    pub fn of_scan(given: Option<&Path>) -> Result<Config, ConfigError> {
        scan_config(given).map_or_else(|| Ok(Config::default()), |path| Config::read(&path))
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not TOML, or has an unknown key or value.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        let file = std::fs::File::open(path).map_err(ConfigError::unreadable);
        file.and_then(Config::read_from)
            .map_err(|error| error.in_file(path))
    }

    /// Reads a configuration from a stream. In its paths, `~/` is replaced by the user's home
    /// folder, and relative paths are resolved against the current folder.
    ///
    /// # Errors
    ///
    /// The stream cannot be read, is not TOML, or has an unknown key or value.
    pub fn read_from(mut stream: impl std::io::Read) -> Result<Config, ConfigError> {
        let mut bytes = Vec::new();
        stream
            .read_to_end(&mut bytes)
            .map_err(ConfigError::unreadable)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            ConfigError::unusable(format!(
                "the text is not UTF-8 at byte {offset}; save it as UTF-8"
            ))
        })?;
        let mut config = Config::parse(&text)?;
        config.expand_paths(std::env::home_dir().as_deref())?;
        config.check_filters()?;
        Ok(config)
    }

    /// Parses the text of a configuration file.
    ///
    /// # Errors
    ///
    /// The text is not TOML, or has an unknown key or value; the message contains the line and the
    /// column.
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        unknown_key::check_keys(text)?;
        let config: Config =
            toml::from_str(text).map_err(|error| ConfigError::of_toml(text, &error))?;
        config.check()?;
        Ok(config)
    }

    /// Sets a key of `[extract]` or a limit, written as `KEY=VALUE`. The values of a list are
    /// separated by commas.
    ///
    /// # Errors
    ///
    /// The key is unknown, or the value is invalid.
    ///
    /// # Panics
    ///
    /// Never, as [`Config::resolved`].
    pub fn set(&mut self, setting: &str) -> Result<(), ConfigError> {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| ConfigError::unusable("write it as KEY=VALUE"))?;
        let mut tables = Table::try_from(&*self).expect("tables of numbers, names and lists");
        unknown_key::set(&mut tables, key.trim(), value.trim())?;
        let config = tables
            .try_into()
            .map_err(|error| ConfigError::of_value(&error));
        let mut config: Config = config?;
        config.check()?;
        // A file that lists domains may be a pipe, which can be read only once.
        config.extract.excluded = take(&mut self.extract.excluded);
        config.extract.excluded_by = take(&mut self.extract.excluded_by);
        *self = config;
        Ok(())
    }

    /// The commented default configuration, as TOML.
    #[must_use]
    pub fn commented_default() -> &'static str {
        include_str!("../urlspool.toml")
    }

    /// The configuration with every key, as TOML.
    ///
    /// # Panics
    ///
    /// Never: tables of numbers, names and lists are TOML.
    #[must_use]
    pub fn resolved(&self) -> String {
        toml::to_string(self).expect("tables of numbers, names and lists are TOML")
    }

    /// The options of the `[extract]` and `[limits]` tables, for the pipeline.
    #[must_use]
    pub fn options(&self) -> Options {
        let extract = &self.extract;
        Options {
            rules: extract.rules,
            schemeless: extract.schemeless,
            extra_schemes: extract.extra_schemes.clone(),
            skip_headers: !extract.headers,
            skip_html: !extract.html,
            attachments: extract.attachments,
            accept: extract.accept.clone(),
            schemes: extract.schemes.clone(),
            hosts: extract.host.clone(),
            domains: extract.domain.clone(),
            excluded_domains: extract.excluded.clone(),
            region_names: extract.region.clone(),
            mismatch: extract.mismatch,
            hazards: extract.hazard.clone(),
            header_fields: extract.header_fields.clone(),
            unique: extract.unique,
            context_bytes: extract.context,
            strip_recipient: extract.strip_recipient,
            limits: self.limits,
            ..Options::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_default() {
        assert_eq!(Config::parse("").unwrap(), Config::default());
        let resolved = Config::default().resolved();
        assert_eq!(Config::parse(&resolved).unwrap(), Config::default());
    }

    #[test]
    fn the_commented_default_has_every_key_at_its_default() {
        let keys = |text: &str| {
            text.lines()
                .filter_map(|line| line.split_once(" = ").map(|(key, _)| key.to_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            Config::parse(Config::commented_default()).unwrap(),
            Config::default()
        );
        assert_eq!(
            keys(Config::commented_default()),
            keys(&Config::default().resolved())
        );
    }

    /// `config check` prints the limits in this table, with the documentation from the code.
    #[test]
    fn the_commented_limits_are_documented_as_in_the_code() {
        let resolved = Config::default().resolved();
        let (_, mut limits) = Config::commented_default()
            .split_once("[limits]\n")
            .unwrap();
        for limit in Limits::ALL {
            let (first_paragraph, _) = limit.doc.split_once("\n\n").unwrap_or((limit.doc, ""));
            let value = resolved
                .lines()
                .find(|line| line.starts_with(&format!("{} = ", limit.name)));
            let lines = first_paragraph.lines().map(|line| format!("#{line}"));
            let lines = lines.chain(value.map(str::to_owned));
            for line in lines {
                limits = limits
                    .strip_prefix(&format!("{line}\n"))
                    .unwrap_or_else(|| panic!("expected {line:?} before {limits:?}"));
            }
        }
        assert_eq!(limits, "");
    }

    #[test]
    fn a_key_is_set_by_its_name() {
        let mut config = Config::default();
        for setting in [
            "url_bytes=64KiB",
            "mime_depth = 7",
            "accept=rfc1738, whatwg",
            "html=false",
            "rules=rfc1738",
            "delimiter=tab",
        ] {
            config.set(setting).unwrap();
        }
        assert_eq!(
            (config.limits.url_bytes, config.limits.mime_depth),
            (64 << 10, 7)
        );
        assert_eq!(config.extract.accept, [Grammar::Rfc1738, Grammar::Whatwg]);
        assert_eq!(
            (config.extract.html, config.extract.rules),
            (false, Rules::Rfc1738)
        );
        assert_eq!(config.extract.delimiter, b'\t');
        for delimiter in [";", ",", "|"] {
            config.set(&format!("delimiter={delimiter}")).unwrap();
            assert_eq!(config.extract.delimiter, delimiter.as_bytes()[0]);
        }
        config.set("accept=").unwrap();
        assert!(config.extract.accept.is_empty());
    }

    #[test]
    fn errors_in_settings_are_explained() {
        for (setting, message) in [
            ("url_bytes", "KEY=VALUE"),
            (
                "url_byte=1",
                "unknown key `url_byte`; did you mean `url_bytes`?",
            ),
            ("zzz=1", "unknown key `zzz`; expected one of"),
            ("dir=/tmp", "unknown key"),
            ("url_bytes=much", "16KiB"),
            ("mime_depth=1KiB", "limits.mime_depth must be a number"),
            ("mime_depth=0", "at least 1"),
            ("accept=rfc1", "did you mean `rfc1738`?"),
            ("context=4097", "at most 4096 bytes"),
            (
                "delimiter=ab",
                "\"ab\" is not a delimiter; write one character",
            ),
            ("delimiter=.", "write one character"),
        ] {
            let error = Config::default().set(setting).unwrap_err().to_string();
            assert!(error.contains(message), "{setting}: {error}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let error = Config::parse("[extract]\nrule = 1")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2") && error.contains("did you mean `rules`?"),
            "{error}"
        );
        let error = Config::parse("[extract]\naccept = [\"rfc1\"]")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("`rfc1` is not a value; did you mean `rfc1738`?"),
            "{error}"
        );
    }
}
