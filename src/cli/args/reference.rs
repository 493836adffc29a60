//! The arguments of `check-config`, `completions`, `schema` and `man`.

use std::path::PathBuf;

use clap::builder::{StringValueParser, TypedValueParser};

use super::values::{OfferedNames, named};
use crate::config::NamedValue;
use crate::record::SchemaLanguage;

/// The arguments of `check-config`.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckConfigArgs {
    /// The configuration file; `-` is standard input [default: the first that exists of the places of `watch --config`]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Print the default configuration, with comments
    #[arg(long, conflicts_with = "file")]
    pub(crate) default: bool,
}

/// The arguments of `completions`.
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// The arguments of `schema`.
#[derive(clap::Args, Debug)]
pub(crate) struct SchemaArgs {
    /// Language of the schema
    #[arg(long = "as", value_name = "LANGUAGE", value_parser = named::<SchemaLanguage>(), default_value = SchemaLanguage::default().name())]
    pub(crate) language: SchemaLanguage,
}

/// The arguments of `man`.
#[derive(clap::Args, Debug)]
pub(crate) struct ManArgs {
    /// A subcommand, `urlspool.toml` or `record` [default: the page of the program]
    #[arg(value_name = "PAGE", value_parser = page_name(), hide_possible_values = true)]
    pub(crate) page: Option<String>,

    /// Write all pages into the folders `man1` and `man5` of DIR
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub(crate) all: Option<PathBuf>,
}

/// The names of the pages, for completion; the page of a new command is found without its name here.
const PAGES: &[&str] = &[
    "urlspool",
    "scan",
    "watch",
    "status",
    "parse",
    "show",
    "explain",
    "splits",
    #[cfg(feature = "load")]
    "load",
    #[cfg(feature = "load")]
    "search",
    #[cfg(feature = "audit")]
    "audit",
    #[cfg(feature = "audit")]
    "audit-plan",
    #[cfg(feature = "audit")]
    "audit-check",
    #[cfg(feature = "audit")]
    "audit-import",
    #[cfg(feature = "audit")]
    "audit-archive",
    "schema",
    "check-config",
    "completions",
    "man",
    "urlspool.toml",
    "record",
];

/// Parser of the name of a page, which offers the names of all pages.
fn page_name() -> impl TypedValueParser<Value = String> {
    let parser = StringValueParser::new();
    let names = || PAGES.to_vec();
    OfferedNames { parser, names }
}
