//! The arguments, as clap parses them. `--help`, the manual page and the completions are made from these comments.

#[cfg(feature = "audit")]
mod audit;
mod date;
mod examples;
mod extract;
mod inspect;
mod limit;
#[cfg(feature = "load")]
mod load;
mod reference;
mod scan;
mod sources;
mod values;
#[cfg(feature = "daemon")]
mod watch;

#[cfg(feature = "audit")]
pub(crate) use audit::{
    AuditArchiveArgs, AuditArgs, AuditCheckArgs, AuditImportArgs, AuditPlanArgs, AuditReportArgs,
    AuditStep,
};
pub(crate) use inspect::{ExplainArgs, ParseArgs, ShowArgs};
#[cfg(feature = "load")]
pub(crate) use load::{LoadArgs, SearchArgs};
pub(crate) use reference::{CheckConfigArgs, CompletionsArgs, ManArgs, SchemaArgs};
pub(crate) use scan::{ScanArgs, SplitsArgs};
pub(crate) use sources::SourceArgs;
#[cfg(feature = "parquet")]
pub(crate) use values::PartitionArgument;
#[cfg(feature = "load")]
pub(crate) use values::SearchFormat;
pub(crate) use values::{FieldNameArgument, OutputFormat, When};
#[cfg(feature = "daemon")]
pub(crate) use watch::{LogFormat, StatusArgs, WatchArgs};

use clap::{Parser, Subcommand};

use self::values::named;
use crate::config::NamedValue;

/// Headings of groups of options in the help.
const INPUT: &str = "Input";
const OUTPUT: &str = "Output";
const EXTRACT: &str = "URLs";
const GENERAL: &str = "General";

/// Finds, repairs and parses the URLs in mail and USENET archives.
///
/// Reads mbox files, Maildirs, news spools, single messages and plain text; undoes line breaks, quote marks and
/// encodings; and writes one JSON line for each URL, with the bytes it came from.
#[derive(Parser, Debug)]
#[command(name = "urlspool", version, max_term_width = 100, after_help = examples::PROGRAM)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Use colours
    ///
    /// `auto` uses them on a terminal. There NO_COLOR, CLICOLOR=0 and TERM=dumb turn them off; CLICOLOR_FORCE turns them
    /// on anywhere.
    #[arg(long, global = true, value_name = "WHEN", value_parser = named::<When>(), default_value = When::default().name(), help_heading = GENERAL)]
    pub(crate) color: When,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Write the URLs of files and folders: records, lists or tables
    #[command(after_help = examples::SCAN)]
    Scan(Box<ScanArgs>),
    /// Watch live spools and write the URLs of new mail, each message once, into segment files
    #[command(after_help = examples::WATCH)]
    #[cfg(feature = "daemon")]
    Watch(WatchArgs),
    /// Print the state of the running daemon as one JSON line
    #[command(after_help = examples::STATUS)]
    #[cfg(feature = "daemon")]
    Status(StatusArgs),
    /// Parse URLs by RFC 1738 and print their parts, one JSON line each
    #[command(after_help = examples::PARSE)]
    Parse(ParseArgs),
    /// Print the raw bytes that records came from
    #[command(after_help = examples::SHOW)]
    Show(ShowArgs),
    /// Explain what each stage does with a message, and why each candidate is a URL or not
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Print work items of about equal size, one JSON line each, for `scan --splits`
    #[command(after_help = examples::SPLITS)]
    Splits(SplitsArgs),
    /// Load records into a database, each exactly once
    #[command(after_help = examples::LOAD)]
    #[cfg(feature = "load")]
    Load(LoadArgs),
    /// Search a database that `load` made
    #[command(after_help = examples::SEARCH)]
    #[cfg(feature = "load")]
    Search(SearchArgs),
    /// Audit the links of a database that `load` made: which are alive, which are dead, which are archived
    #[command(after_help = examples::AUDIT, disable_help_subcommand = true)]
    #[cfg(feature = "audit")]
    Audit(AuditArgs),
    /// Print the JSON Schema of the records, or the same for a loader
    #[command(after_help = examples::SCHEMA)]
    Schema(SchemaArgs),
    /// Check a configuration file and print it with every key
    #[command(after_help = examples::CHECK_CONFIG)]
    CheckConfig(CheckConfigArgs),
    /// Print a completion script
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Args::command().debug_assert();
    }
}
