//! The arguments, as clap parses them. `--help`, the manual page and the completions are generated
//! from these comments.

mod audit;
mod examples;
mod load;
mod scan;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{StringValueParser, TypedValueParser};
use clap::{Parser, Subcommand};

pub(crate) use audit::{
    AuditArchiveArgs, AuditArgs, AuditCheckArgs, AuditImportArgs, AuditInspectArgs, AuditPlanArgs,
    AuditReportArgs, AuditSaveArgs, AuditStatusArgs, AuditStep, CheckedScheme,
};
pub(crate) use examples::command;
pub(crate) use load::{BrowseArgs, CitedArgs, LoadArgs, SearchArgs};
use scan::FilterArgs;
pub(crate) use scan::{ScanArgs, SplitsArgs, StatsArgs};
use urlspool_files::config::{NamedValue, named_values};
use urlspool_record::record::SchemaLanguage;
use urlspool_text::scan::Rules;
pub(crate) use values::Facet;
pub(crate) use values::{CitedFormat, SearchFormat};
use values::{KindOption, OfferedNames, named};
pub(crate) use values::{OutputFormat, When, check_period};

/// Headings of option groups in the help.
const INPUT: &str = "Input";
const OUTPUT: &str = "Output";
const EXTRACT: &str = "URLs";
const GENERAL: &str = "General";

/// Extracts URLs from mail and USENET archives.
///
/// Reads mbox files, Maildirs, news spools, single messages and plain text. Undoes line breaks,
/// quote marks and encodings. Writes one JSON line per URL, with the byte range it came from.
#[derive(Parser, Debug)]
#[command(name = "urlspool", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use color
    ///
    /// `auto` uses color on a terminal, unless NO_COLOR, CLICOLOR=0 or TERM=dumb is set.
    /// CLICOLOR_FORCE uses color everywhere.
    #[arg(long, global = true, value_name = "WHEN", value_parser = named::<When>(), default_value = When::default().name(), help_heading = GENERAL)]
    pub(crate) color: When,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Print the URLs of files and folders
    Scan(Box<ScanArgs>),
    /// Summarize an archive: totals, years, top domains, hosts, lists and senders
    Stats(StatsArgs),
    /// Watch live spools and write the URLs of new mail, each message once
    Watch(WatchArgs),
    /// Print the status of the running daemon
    Status(StatusArgs),
    /// Parse URLs by RFC 1738 and print their parts
    Parse(ParseArgs),
    /// Print the raw bytes of records
    Show(ShowArgs),
    /// Explain why each candidate in a message is a URL or not
    Explain(ExplainArgs),
    /// Print work items of similar size for `scan --splits`
    Splits(SplitsArgs),
    /// Load records into a database, each exactly once
    Load(LoadArgs),
    /// Search a database
    Search(SearchArgs),
    /// Print the citations of a URL or a domain
    Cited(CitedArgs),
    /// Browse a database in your web browser
    Browse(BrowseArgs),
    /// Find out which links of a database are alive, dead or archived
    #[command(disable_help_subcommand = true)]
    Audit(AuditArgs),
    /// Print the JSON Schema of the records, or the schema for a loader
    Schema(SchemaArgs),
    /// Check a configuration file and print it with every key
    CheckConfig(CheckConfigArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Show a manual page; print it as roff if there is no terminal
    Man(ManArgs),
}

/// The arguments about the sources.
#[derive(clap::Args, Debug)]
pub(crate) struct SourceArgs {
    /// Kind of the input, which decides how it is split into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto", help_heading = INPUT)]
    pub(crate) kind: KindOption,

    /// Read only files and folders that match GLOB; repeatable
    #[arg(long, value_name = "GLOB", help_heading = INPUT)]
    pub(crate) include: Vec<String>,

    /// Skip files and folders that match GLOB; repeatable
    ///
    /// A GLOB without a slash is compared with the names of files and folders. One with a slash is
    /// compared with the path relative to PATH, and with the whole path. A leading slash means
    /// PATH; a trailing slash is ignored. `*` matches any characters but a slash, `**` any folders,
    /// `?` one character, `[a-z]` one of these, `{a,b}` either. `--exclude` takes precedence over
    /// `--include`.
    #[arg(long, value_name = "GLOB", help_heading = INPUT)]
    pub(crate) exclude: Vec<String>,

    /// Follow symbolic links that stay inside PATH
    #[arg(long, help_heading = INPUT)]
    pub(crate) follow: bool,
}

/// The arguments of `parse`.
#[derive(clap::Args, Debug)]
pub(crate) struct ParseArgs {
    /// URLs; `-`, or no URL, reads them from standard input, one per line
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Read each line of standard input as a JSON string
    #[arg(long)]
    pub(crate) from_json: bool,

    /// Remove the fragment (`#...`) first; it is not part of a URL
    #[arg(long)]
    pub(crate) fragment: bool,

    /// Exit with status 1 if RFC 1738 rejects a URL
    #[arg(long)]
    pub(crate) check: bool,
}

/// The arguments of `show`.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// PATH[!MEMBER]:START[-END] in bytes; by default, records from standard input
    ///
    /// Without END, the rest of the line is printed. MEMBER is a member of an archive.
    #[arg(value_name = "PLACE")]
    pub(crate) place: Option<OsString>,
}

/// The arguments of `explain`.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// A file, with the byte offset of a message [default: the first message]
    ///
    /// MEMBER is a member of an archive.
    #[arg(value_name = "FILE[!MEMBER][:OFFSET]")]
    pub(crate) place: OsString,

    /// Decode FILE from base64, as in the field `source.path_b64`
    #[arg(long)]
    pub(crate) base64: bool,

    /// Kind of the file, which decides how it is split into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto")]
    pub(crate) kind: KindOption,

    /// Rules for finding URLs
    #[arg(long, value_name = "RULES", value_parser = named::<Rules>(), default_value = Rules::default().name())]
    pub(crate) rules: Rules,
}

/// The arguments of `watch`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, named where it is read"
)]
#[derive(clap::Args, Debug)]
pub(crate) struct WatchArgs {
    /// Mailboxes, Maildirs and folders of mail to watch without a configuration
    ///
    /// Each new URL is printed as a line, as with `scan --format grep`. The state is temporary, so
    /// the next run starts from scratch.
    #[arg(value_name = "PATH", conflicts_with = "config")]
    pub(crate) paths: Vec<PathBuf>,

    /// Write segments of JSON lines to FOLDER and keep the state in FOLDER/.state
    ///
    /// Each message is written exactly once, even across restarts.
    #[arg(
        short,
        long,
        value_name = "FOLDER",
        requires = "paths",
        conflicts_with_all = ["stdout", "config"]
    )]
    pub(crate) output: Option<PathBuf>,

    /// Print records as JSON lines, each at least once
    ///
    /// Lines are printed and flushed before the state is committed. A crash between the two repeats
    /// the last lines with the same `id`. The state is kept in a folder for these PATHs, in
    /// `urlspool` in XDG_STATE_HOME (default: ~/.local/state).
    #[arg(long)]
    pub(crate) stdout: bool,

    /// Also write the URLs of mail that is already there
    ///
    /// By default, mail that is there when a PATH is first watched is skipped.
    #[arg(long, requires = "paths", conflicts_with = "config")]
    pub(crate) from_start: bool,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// Configuration file, reloaded on SIGHUP [default: see --help]
    ///
    /// The default is the file in URLSPOOL_CONFIG, or the first existing one of
    /// urlspool/urlspool.toml in XDG_CONFIG_HOME (default: ~/.config) and
    /// /etc/urlspool/urlspool.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Read all new mail, seal the segment, and exit
    #[arg(long)]
    pub(crate) once: bool,

    /// First rebuild a lost or damaged state from the sidecars
    ///
    /// Messages that no sidecar lists are read again, and their records are written again; the log
    /// says so. The old database is kept as state.db.old.
    #[arg(long)]
    pub(crate) rebuild_state: bool,

    /// Log format
    #[arg(long, value_parser = named::<LogFormat>(), default_value = LogFormat::default().name())]
    pub(crate) log: LogFormat,
}

/// The format of the daemon's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// One line of text for each event (the default).
    #[default]
    Text,
    /// One JSON object for each event.
    Json,
}

named_values! {
    LogFormat {
        Text = "text": "One line of text for each event",
        Json = "json": "One JSON object for each event",
    }
}

/// The arguments of `status`.
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Ask the `watch` that writes to FOLDER
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "config")]
    pub(crate) output: Option<PathBuf>,

    /// Print one line of JSON, even on a terminal
    #[arg(long)]
    pub(crate) json: bool,

    /// Configuration file of the daemon [default: as for `watch`]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The arguments of `check-config`.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckConfigArgs {
    /// Configuration file; `-` is standard input [default: as for `watch`]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Print the default configuration, with comments
    #[arg(long, conflicts_with = "file")]
    pub(crate) default: bool,
}

/// The arguments of `completions`.
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// The arguments of `schema`.
#[derive(clap::Args, Debug)]
pub(crate) struct SchemaArgs {
    /// Schema language
    #[arg(long = "as", value_name = "LANGUAGE", value_parser = named::<SchemaLanguage>(), default_value = SchemaLanguage::default().name())]
    pub(crate) language: SchemaLanguage,
}

/// The arguments of `man`.
#[derive(clap::Args, Debug)]
pub(crate) struct ManArgs {
    /// A command, `urlspool.toml` or `record` [default: the program]
    #[arg(value_name = "PAGE", value_parser = page_name(), hide_possible_values = true)]
    pub(crate) page: Option<String>,

    /// Write all pages to the folders `man1` and `man5` of DIR
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub(crate) all: Option<PathBuf>,
}

/// Parser for the name of a page, which offers the names of all pages.
fn page_name() -> impl TypedValueParser<Value = String> {
    let parser = StringValueParser::new();
    // Clap's names live as long as the program, which ends after it has printed them.
    let names = || page_names().into_iter().map(|name| &*name.leak()).collect();
    OfferedNames { parser, names }
}

/// The names of all pages of the manual.
pub(crate) fn page_names() -> Vec<String> {
    let mut names = vec!["urlspool".to_owned()];
    for command in command().get_subcommands() {
        let name = command.get_name();
        names.push(name.to_owned());
        let steps = command.get_subcommands().map(clap::Command::get_name);
        names.extend(steps.map(|step| format!("{name}-{step}")));
    }
    names.extend(["urlspool.toml", "record"].map(str::to_owned));
    names
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_arguments_are_consistent() {
        super::command().debug_assert();
    }
}
