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

/// Finds, repairs and parses the URLs in mail and USENET archives.
///
/// Reads mbox files, Maildirs, news spools, single messages and plain text; undoes line breaks,
/// quote marks and encodings; and writes one JSON line for each URL, with the bytes it came from.
#[derive(Parser, Debug)]
#[command(name = "urlspool", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Use colours
    ///
    /// `auto` uses them on a terminal. There NO_COLOR, CLICOLOR=0 and TERM=dumb turn them off;
    /// CLICOLOR_FORCE turns them on anywhere.
    #[arg(long, global = true, value_name = "WHEN", value_parser = named::<When>(), default_value = When::default().name(), help_heading = GENERAL)]
    pub(crate) color: When,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Write the URLs of files and folders: records, lists or tables
    Scan(Box<ScanArgs>),
    /// Print what is in an archive: totals, years, and the most frequent domains, hosts, lists and
    /// senders
    Stats(StatsArgs),
    /// Watch live spools and write the URLs of new mail, each message once, into segment files
    Watch(WatchArgs),
    /// Print the state of the running daemon as one JSON line
    Status(StatusArgs),
    /// Parse URLs by RFC 1738 and print their parts, one JSON line each
    Parse(ParseArgs),
    /// Print the raw bytes that records came from
    Show(ShowArgs),
    /// Explain what each stage does with a message, and why each candidate is a URL or not
    Explain(ExplainArgs),
    /// Print work items of about equal size, one JSON line each, for `scan --splits`
    Splits(SplitsArgs),
    /// Load records into a database, each exactly once
    Load(LoadArgs),
    /// Search a database that `load` made
    Search(SearchArgs),
    /// Print who cited a URL or a domain: date, sender, list, thread and text
    Cited(CitedArgs),
    /// Serve pages on which people look through a database that `load` made
    Browse(BrowseArgs),
    /// Audit the links of a database that `load` made: which are alive, which are dead, which are
    /// archived
    #[command(disable_help_subcommand = true)]
    Audit(AuditArgs),
    /// Print the JSON Schema of the records, or the same for a loader
    Schema(SchemaArgs),
    /// Check a configuration file and print it with every key
    CheckConfig(CheckConfigArgs),
    /// Print a completion script
    Completions(CompletionsArgs),
    /// Show a manual page, or print it as roff where there is no terminal
    Man(ManArgs),
}

/// The arguments about the sources.
#[derive(clap::Args, Debug)]
pub(crate) struct SourceArgs {
    /// Kind of the sources, which decides how they are divided into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto", help_heading = INPUT)]
    pub(crate) kind: KindOption,

    /// Read only files that match GLOB, or are in a folder that matches; can be given again
    #[arg(long, value_name = "GLOB", help_heading = INPUT)]
    pub(crate) include: Vec<String>,

    /// Skip files and folders that match GLOB; can be given again
    ///
    /// A GLOB without a slash is compared with the names of files and folders. One with a slash is
    /// compared with the path beneath the PATH that was given, and with the whole path; a slash at
    /// its start stands for that PATH, one at its end is ignored. `*` stands for any characters but
    /// a slash, `**` for any folders, `?` for one character, `[a-z]` for one of these, `{a,b}` for
    /// either. `--exclude` takes precedence over `--include`.
    #[arg(long, value_name = "GLOB", help_heading = INPUT)]
    pub(crate) exclude: Vec<String>,

    /// Follow symbolic links that stay beneath their root
    #[arg(long, help_heading = INPUT)]
    pub(crate) follow: bool,
}

/// The arguments of `parse`.
#[derive(clap::Args, Debug)]
pub(crate) struct ParseArgs {
    /// URLs; `-`, or no URL at all, reads them from standard input, one per line
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Read each line of standard input as a JSON string
    #[arg(long)]
    pub(crate) from_json: bool,

    /// Split a fragment (`#...`) off first; it is not part of a URL
    #[arg(long)]
    pub(crate) fragment: bool,

    /// Exit with status 1 if RFC 1738 rejects a URL
    #[arg(long)]
    pub(crate) check: bool,
}

/// The arguments of `show`.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// PATH:START-END, in bytes, or PATH:START for the rest of the line, with PATH!MEMBER for a
    /// member of an archive; without it, records are read from standard input
    #[arg(value_name = "PLACE")]
    pub(crate) place: Option<OsString>,
}

/// The arguments of `explain`.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// A file, a member of it if it is an archive, and the offset of a byte of the message; without
    /// an offset, the first message
    #[arg(value_name = "FILE[!MEMBER][:OFFSET]")]
    pub(crate) place: OsString,

    /// FILE is written in base64, as the field `source.path_b64` of records has names that are not
    /// UTF-8
    #[arg(long)]
    pub(crate) base64: bool,

    /// Kind of the file, which decides how it is divided into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto")]
    pub(crate) kind: KindOption,

    /// Rules by which URLs are found
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
    /// Files and folders to watch without a configuration: new URLs are printed as mail arrives,
    /// and nothing is kept
    ///
    /// Mailboxes, Maildirs and folders of mail. Each URL is a line as `scan --format grep` prints
    /// it. The state is in a temporary folder, so that the next run begins anew.
    #[arg(value_name = "PATH", conflicts_with = "config")]
    pub(crate) paths: Vec<PathBuf>,

    /// Write segments of JSON lines into FOLDER, and keep the state in FOLDER/.state
    ///
    /// Each message is written exactly once, also over restarts.
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
    /// Lines are printed and flushed, then the state is committed: after a crash between the two,
    /// the last lines are printed again. Their `id` is the same. The state is kept in state.dir
    /// of the configuration, or in a folder for these PATHs in urlspool in the folder
    /// XDG_STATE_HOME (~/.local/state if it is not set).
    #[arg(long)]
    pub(crate) stdout: bool,

    /// Take the mail that is there already for new
    ///
    /// Without it, the URLs of mail that is there when a PATH is watched for the first time are not
    /// shown and not written.
    #[arg(long, requires = "paths", conflicts_with = "config")]
    pub(crate) from_start: bool,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// The configuration file; SIGHUP reads it again [default: the first of several places]
    ///
    /// Without it, the file that URLSPOOL_CONFIG names is read, or the first that exists of
    /// urlspool/urlspool.toml in the folder XDG_CONFIG_HOME (~/.config if it is not set) and
    /// /etc/urlspool/urlspool.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Read everything that is new, seal the segment, and exit
    #[arg(long)]
    pub(crate) once: bool,

    /// Rebuild a lost or damaged state from the sidecars first
    ///
    /// Messages that no sidecar lists are read again, and their records written again; the log says
    /// so. The old database is kept as state.db.old.
    #[arg(long)]
    pub(crate) rebuild_state: bool,

    /// Format of the log
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
    /// Ask the `watch` that writes into this FOLDER
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "config")]
    pub(crate) output: Option<PathBuf>,

    /// Print a line of JSON also on a terminal, where a page is printed otherwise
    #[arg(long)]
    pub(crate) json: bool,

    /// The daemon's configuration file [default: as for `watch`]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The arguments of `check-config`.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckConfigArgs {
    /// The configuration file; `-` is standard input [default: the first that exists of the places
    /// of `watch --config`]
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
