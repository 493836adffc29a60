//! The configuration as written, checked, and one small value for each stage.
//!
//! A file in TOML; flags override it. Every key has a default, and an unknown key is an error.

mod daemon;
mod interval;
mod size;

pub use daemon::{Compress, Confine, Dedupe, Metrics, Output, Spool, State, Watch};
pub use interval::Interval;
pub use size::{Size, parse_size};

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// A configuration file's tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the daemon writes.
    pub output: Output,
    /// What it keeps.
    pub state: State,
    /// How it watches.
    pub watch: Watch,
    /// How it tells what it does.
    pub metrics: Metrics,
    /// What it watches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spool: Vec<Spool>,
    /// What is found and what is written of it.
    pub extract: Extract,
    /// The limits, by name.
    pub limits: LimitsTable,
}

/// The `[extract]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Extract {
    /// `wide` or `rfc1738`.
    pub rules: RulesName,
    /// Write only URLs that one of these grammars accepts; empty for all.
    pub accept: Vec<Grammar>,
    /// Write only URLs of these schemes; empty for all.
    pub schemes: Vec<String>,
    /// Schemes to look for besides our own, which need no `//`.
    pub extra_schemes: Vec<String>,
    /// Which repetitions are folded.
    pub unique: UniqueName,
    /// Bytes of context before and after each URL; 0 for none.
    pub context: usize,
    /// Whether header fields are searched.
    pub headers: bool,
    /// Whether hosts without a scheme are found.
    pub schemeless: bool,
    /// Whether the recipient's address is taken out of redirectors' URLs.
    pub strip_recipient: bool,
}

impl Default for Extract {
    fn default() -> Extract {
        Extract {
            rules: RulesName::Wide,
            accept: Vec::new(),
            schemes: Vec::new(),
            extra_schemes: Vec::new(),
            unique: UniqueName::None,
            context: 0,
            headers: true,
            schemeless: true,
            strip_recipient: false,
        }
    }
}

/// Names of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RulesName {
    /// What people really wrote.
    #[default]
    Wide,
    /// The RFC to the letter.
    Rfc1738,
}

/// Names of the grammars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grammar {
    /// RFC 1738 section 5.
    Rfc1738,
    /// RFC 3986.
    Rfc3986,
    /// The WHATWG URL standard.
    Whatwg,
}

impl Grammar {
    /// Its name in a record's `conforms`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Grammar::Rfc1738 => "rfc1738",
            Grammar::Rfc3986 => "rfc3986",
            Grammar::Whatwg => "whatwg",
        }
    }
}

/// Which repetitions of a URL are folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UniqueName {
    /// None.
    #[default]
    None,
    /// Those within a message.
    Message,
    /// Those within the run.
    Run,
}

/// The `[limits]` table: numbers, or sizes such as `"16KiB"`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsTable {
    /// [`Limits::message_bytes`]
    pub message_bytes: Size,
    /// [`Limits::mime_depth`]
    pub mime_depth: usize,
    /// [`Limits::mime_parts`]
    pub mime_parts: usize,
    /// [`Limits::header_bytes`]
    pub header_bytes: Size,
    /// [`Limits::field_bytes`]
    pub field_bytes: Size,
    /// [`Limits::wrapper_bytes`]
    pub wrapper_bytes: Size,
    /// [`Limits::url_bytes`]
    pub url_bytes: Size,
    /// [`Limits::message_urls`]
    pub message_urls: usize,
    /// [`Limits::unwrap_depth`]
    pub unwrap_depth: usize,
    /// [`Limits::container_depth`]
    pub container_depth: usize,
    /// [`Limits::archive_entries`]
    pub archive_entries: usize,
    /// [`Limits::member_name_bytes`]
    pub member_name_bytes: Size,
    /// [`Limits::window_bytes`]
    pub window_bytes: Size,
    /// [`Limits::unpack_ratio`]
    pub unpack_ratio: usize,
    /// [`Limits::unpack_ratio_from_bytes`]
    pub unpack_ratio_from_bytes: Size,
    /// [`Limits::nested_ratio`]
    pub nested_ratio: usize,
    /// [`Limits::nested_ratio_from_bytes`]
    pub nested_ratio_from_bytes: Size,
}

impl Default for LimitsTable {
    fn default() -> LimitsTable {
        let limits = Limits::default();
        LimitsTable {
            message_bytes: Size(limits.message_bytes),
            mime_depth: limits.mime_depth,
            mime_parts: limits.mime_parts,
            header_bytes: Size(limits.header_bytes),
            field_bytes: Size(limits.field_bytes),
            wrapper_bytes: Size(limits.wrapper_bytes),
            url_bytes: Size(limits.url_bytes),
            message_urls: limits.message_urls,
            unwrap_depth: limits.unwrap_depth,
            container_depth: limits.container_depth,
            archive_entries: limits.archive_entries,
            member_name_bytes: Size(limits.member_name_bytes),
            window_bytes: Size(limits.window_bytes),
            unpack_ratio: limits.unpack_ratio,
            unpack_ratio_from_bytes: Size(limits.unpack_ratio_from_bytes),
            nested_ratio: limits.nested_ratio,
            nested_ratio_from_bytes: Size(limits.nested_ratio_from_bytes),
        }
    }
}

impl LimitsTable {
    /// The limits for the stages.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            message_bytes: self.message_bytes.0,
            mime_depth: self.mime_depth,
            mime_parts: self.mime_parts,
            header_bytes: self.header_bytes.0,
            field_bytes: self.field_bytes.0,
            wrapper_bytes: self.wrapper_bytes.0,
            url_bytes: self.url_bytes.0,
            message_urls: self.message_urls,
            unwrap_depth: self.unwrap_depth,
            container_depth: self.container_depth,
            archive_entries: self.archive_entries,
            member_name_bytes: self.member_name_bytes.0,
            window_bytes: self.window_bytes.0,
            unpack_ratio: self.unpack_ratio,
            unpack_ratio_from_bytes: self.unpack_ratio_from_bytes.0,
            nested_ratio: self.nested_ratio,
            nested_ratio_from_bytes: self.nested_ratio_from_bytes.0,
        }
    }
}

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadConfig {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, with line and column where there are any.
    pub message: String,
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for BadConfig {}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no TOML, or has a key or value that we do not know.
    pub fn read(path: &Path) -> Result<Config, BadConfig> {
        let bad = |message: String| BadConfig {
            path: path.to_owned(),
            message,
        };
        let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
        Config::parse(&text).map_err(bad)
    }

    /// Reads a configuration's text.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with line and column.
    pub fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let limits = self.limits.limits();
        let positive = [
            ("limits.message_bytes", limits.message_bytes),
            ("limits.mime_depth", limits.mime_depth),
            ("limits.mime_parts", limits.mime_parts),
            ("limits.header_bytes", limits.header_bytes),
            ("limits.field_bytes", limits.field_bytes),
            ("limits.wrapper_bytes", limits.wrapper_bytes),
            ("limits.url_bytes", limits.url_bytes),
            ("limits.member_name_bytes", limits.member_name_bytes),
            ("limits.unpack_ratio", limits.unpack_ratio),
            ("limits.nested_ratio", limits.nested_ratio),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{name} must be more than 0"));
        }
        self.check_daemon()?;
        let named =
            |name: &String| !name.is_empty() && name.bytes().all(crate::grammar::is_scheme_char);
        match self
            .extract
            .extra_schemes
            .iter()
            .chain(&self.extract.schemes)
            .find(|name| !named(name))
        {
            Some(name) => Err(format!(
                "{name:?} is no scheme's name: letters, digits, '+', '-' and '.' only, without the colon"
            )),
            None => Ok(()),
        }
    }

    /// The configuration with every key, as TOML.
    ///
    /// # Panics
    ///
    /// Never: tables of numbers, names and lists are TOML.
    #[must_use]
    pub fn resolved(&self) -> String {
        toml::to_string(self).expect("tables of numbers, names and lists")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_default() {
        assert_eq!(Config::parse(""), Ok(Config::default()));
        assert_eq!(
            Config::parse(&Config::default().resolved()),
            Ok(Config::default())
        );
        assert_eq!(LimitsTable::default().limits(), Limits::default());
    }

    #[test]
    fn the_commented_default_says_what_is_built_in() {
        let text = include_str!("../config/urlspool.toml");
        assert_eq!(Config::parse(text), Ok(Config::default()));
        let keys = |text: &str| {
            text.lines()
                .filter_map(|line| line.split_once(" = ").map(|(key, _)| key.to_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(text), keys(&Config::default().resolved()));
    }

    #[test]
    fn sizes_have_units() {
        let config = Config::parse("[limits]\nurl_bytes = \"4KiB\"\nwrapper_bytes = 100").unwrap();
        assert_eq!(
            (config.limits.url_bytes, config.limits.wrapper_bytes),
            (Size(4096), Size(100))
        );
    }

    #[test]
    fn what_is_unknown_is_refused_with_its_place() {
        let message = Config::parse("[extract]\nrule = 1").unwrap_err();
        assert!(
            message.contains("line 2") && message.contains("rule"),
            "{message}"
        );
        assert!(
            Config::parse("[limits]\nurl_bytes = 0")
                .unwrap_err()
                .contains("limits.url_bytes")
        );
        assert!(
            Config::parse("[extract]\nextra_schemes = [\"a:\"]")
                .unwrap_err()
                .contains("no scheme's name")
        );
    }
}
