//! The arguments of `scan` and `splits`.

use std::path::PathBuf;

use super::date::{DatePeriod, date_period};
use super::extract::ExtractArgs;
use super::sources::SourceArgs;
#[cfg(feature = "parquet")]
use super::values::PartitionArgument;
use super::values::{FieldNameArgument, OutputFormat, When, field_name, item_size, named, threads};
use super::{GENERAL, INPUT, OUTPUT};
use crate::config::NamedValue;

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

    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// Read only messages of DATE and later, and messages without a date
    ///
    /// DATE is a year (1996), a month (1996-07), a day (1996-07-02) or a time (1996-07-02T13:45:00Z), in UTC.
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) since: Option<DatePeriod>,

    /// Read only messages up to the end of DATE, and messages without a date
    ///
    /// `--since 1996 --until 1996` reads the messages of that year. If DATE is a time, messages before it are read.
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) until: Option<DatePeriod>,

    /// Read the work items that `urlspool splits` printed from FILE (`-`: standard input), and scan what they name
    #[arg(long, value_name = "FILE", conflicts_with = "paths", help_heading = INPUT)]
    pub(crate) splits: Option<PathBuf>,

    /// Print the kind, size and path of each file that would be read, and scan nothing
    #[arg(long, conflicts_with_all = ["output", "format", "fields", "slim", "rejects", "events", "summary"], help_heading = INPUT)]
    pub(crate) dry_run: bool,

    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,

    /// Output format [default: jsonl; grep on a terminal, unless another option asks for data]
    #[arg(long, value_parser = named::<OutputFormat>(), help_heading = OUTPUT)]
    pub(crate) format: Option<OutputFormat>,

    /// Write only these fields of the records, separated by commas; for jsonl, csv and tsv
    ///
    /// Fields are named as in the record: `url,source.path,message.date`. The name of an object stands for all its fields.
    #[arg(long, value_name = "FIELD,...", value_delimiter = ',', value_parser = field_name(), hide_possible_values = true, help_heading = OUTPUT)]
    pub(crate) fields: Vec<FieldNameArgument>,

    /// Write only the fields that name the URL, its place and its message
    ///
    /// They are id, url, fragment, confidence, source.path, source.member, source.start, source.end, message.id,
    /// message.date, message.from and message.subject.
    #[arg(long, conflicts_with = "fields", help_heading = OUTPUT)]
    pub(crate) slim: bool,

    /// Write a folder of Parquet files to the FILE of -o, divided by this value
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "BY", value_parser = named::<PartitionArgument>(), requires = "format", help_heading = OUTPUT)]
    pub(crate) partition: Option<PartitionArgument>,

    /// Write texts to csv as they are, also those that a spreadsheet would take for formulas
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_formula_guard: bool,

    /// Write candidates that are not URLs to FILE
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) rejects: Option<PathBuf>,

    /// Write events to FILE as JSON lines, instead of reporting them on standard error
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) events: Option<PathBuf>,

    /// Write the summary of the run to FILE as JSON
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) summary: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) extract: ExtractArgs,

    /// Read options and limits from FILE, which flags override [default: the file that URLSPOOL_CONFIG names, if any]
    #[arg(long, value_name = "FILE", help_heading = GENERAL)]
    pub(crate) config: Option<PathBuf>,

    /// Number of threads [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, help_heading = GENERAL)]
    pub(crate) threads: Option<u16>,

    /// Exit with status 1 if there is any event
    #[arg(long, help_heading = GENERAL)]
    pub(crate) strict: bool,

    /// Show the progress on standard error
    #[arg(long, value_name = "WHEN", value_parser = named::<When>(), default_value = When::default().name(), help_heading = GENERAL)]
    pub(crate) progress: When,

    /// Report only errors on standard error
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,

    /// Report the summary on standard error
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) verbose: bool,

    /// The use of colours, which all commands have.
    #[arg(skip)]
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
