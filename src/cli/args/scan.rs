//! The arguments of `scan` and `splits`.

use std::path::PathBuf;

use super::sources::SourceArgs;
use super::values::{When, item_size, named};
use crate::config::NamedValue;
use crate::parse::Grammar;
use crate::pipeline::{Output, Unique};
use crate::scan::Rules;

/// The arguments of `scan`.
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that is given or not"
)]
pub(crate) struct ScanArgs {
    /// Files and folders to read; `-`, or no path at all, is standard input
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the work items that `urlspool splits` printed from FILE (`-`: standard input), and scan what they name
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub(crate) splits: Option<PathBuf>,

    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Number of threads [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Read options and limits from FILE; flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Output format of a URL
    #[arg(long, value_parser = named::<Output>(), default_value = Output::default().name())]
    pub(crate) format: Output,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// Rules by which URLs are found
    #[arg(long, value_name = "RULES", value_parser = named::<Rules>())]
    pub(crate) rules: Option<Rules>,

    /// Write only URLs that one of these grammars accepts
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = named::<Grammar>())]
    pub(crate) accept: Vec<Grammar>,

    /// Write only URLs of these schemes
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) schemes: Vec<String>,

    /// Scope in which a URL is written once
    #[arg(long, value_name = "WITHIN", value_parser = named::<Unique>())]
    pub(crate) unique: Option<Unique>,

    /// Write candidates that are not URLs to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    /// Write events to FILE as JSON lines, instead of reporting them on standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,

    /// Write the summary of the run to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,

    /// Add N bytes of the text before and after each URL
    #[arg(long, value_name = "N")]
    pub(crate) context: Option<usize>,

    /// Skip hosts without a scheme (www.example.org)
    #[arg(long)]
    pub(crate) no_schemeless: bool,

    /// Skip header fields
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// Take the recipient's address out of the URLs of redirectors
    #[arg(long)]
    pub(crate) strip_recipient: bool,

    /// Read only messages of DATE and later, and messages without a date
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,

    /// Read only messages before DATE, and messages without a date
    #[arg(long, value_name = "DATE")]
    pub(crate) until: Option<String>,

    /// Exit with status 1 if there is any event
    #[arg(long)]
    pub(crate) strict: bool,

    /// Show the progress on standard error
    #[arg(long, value_name = "WHEN", value_parser = named::<When>(), default_value = When::default().name())]
    pub(crate) progress: When,

    /// Report only errors on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Report the summary on standard error
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Use colours on standard error
    #[arg(long, value_name = "WHEN", value_parser = named::<When>(), default_value = When::default().name())]
    pub(crate) color: When,
}

/// The arguments of `splits`.
#[derive(clap::Args, Debug)]
pub(crate) struct SplitsArgs {
    /// Files and folders
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Approximate size of an item; uncompressed mboxes are divided, every other file is one item
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = item_size)]
    pub(crate) size: u64,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}
