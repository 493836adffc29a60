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

use super::error::CommandError;
pub(crate) use audit::{
    AuditArchiveArgs, AuditCheckArgs, AuditImportArgs, AuditInspectArgs, AuditPlanArgs,
    AuditReportArgs, AuditSaveArgs, AuditStatusArgs, AuditStep,
};
pub(crate) use examples::{command, program_text};
pub(crate) use load::{BrowseArgs, CitedArgs, LoadArgs, SearchArgs};
use scan::FilterArgs;
pub(crate) use scan::{ScanArgs, SplitsArgs, StatsArgs};
use urlspool_files::config::{Config, NamedValue};
use urlspool_record::record::SchemaLanguage;
pub(crate) use values::{CitedFormat, Facet, SearchFormat, StatsFormat, TextOrJson};
use values::{KindOption, OfferedNames, named};
pub(crate) use values::{OutputFormat, When, check_period};

/// Headings of option groups in the help.
const INPUT: &str = "Input";
const OUTPUT: &str = "Output";
const EXTRACT: &str = "URLs";
const GENERAL: &str = "General";

/// Extracts URLs from mail and USENET archives.
#[derive(Parser, Debug)]
#[command(name = "urlspool", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) general: GeneralArgs,
}

/// The options of all commands.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct GeneralArgs {
    /// When to use color: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", value_parser = named::<When>(),
        hide_possible_values = true, default_value = When::default().name(),
        help_heading = GENERAL)]
    pub(crate) color: When,

    /// Print only results and errors
    #[arg(short, long, global = true, help_heading = GENERAL)]
    pub(crate) quiet: bool,
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
    Show {
        /// PATH[!MEMBER]:START[-END] in bytes; by default, records from standard input
        ///
        /// Without END, the rest of the line is printed. MEMBER is a member of an archive.
        #[arg(value_name = "PLACE")]
        place: Option<OsString>,
    },
    /// Explain why each candidate in a message is a URL or not
    Explain(ExplainArgs),
    /// Print work items for `scan --splits`: files, and parts of large mboxes
    #[command(hide = true)]
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
    #[command(subcommand, disable_help_subcommand = true)]
    Audit(AuditStep),
    /// Check a configuration file, or print the default one
    #[command(subcommand, disable_help_subcommand = true)]
    Config(ConfigCommand),
    /// Print manual pages, shell completions and schemas
    #[command(subcommand, disable_help_subcommand = true)]
    Generate(GenerateCommand),
}

/// A command about the configuration.
#[derive(Subcommand, Debug)]
pub(crate) enum ConfigCommand {
    /// Check a configuration file and print it with every key
    Check {
        /// Configuration file; `-` is standard input [default: as for `watch`]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Print the default configuration, with comments
    Default,
}

/// A command that prints what the program knows about itself.
#[derive(Subcommand, Debug)]
pub(crate) enum GenerateCommand {
    /// Show a manual page; print it as roff if there is no terminal
    Man {
        /// A command, `urlspool.toml` or `record` [default: the program]
        #[arg(value_name = "PAGE", value_parser = page_name(), hide_possible_values = true)]
        page: Option<String>,

        /// Write all pages to the folders `man1` and `man5` of DIR
        #[arg(long, value_name = "DIR", conflicts_with = "page")]
        all: Option<PathBuf>,
    },
    /// Print a shell completion script
    Completions {
        /// Shell
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the JSON Schema of the records, or the schema for a loader
    Schema {
        /// Schema language
        #[arg(long, value_parser = named::<SchemaLanguage>(),
            default_value = SchemaLanguage::default().name())]
        format: SchemaLanguage,
    },
}

/// The arguments about the sources.
#[derive(clap::Args, Debug)]
pub(crate) struct SourceArgs {
    /// Format of the input
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
    pub(crate) follow_links: bool,
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

/// The arguments of `explain`.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// A file, with the byte offset of a message [default: the first message]
    ///
    /// MEMBER is a member of an archive.
    #[arg(value_name = "FILE[!MEMBER][:OFFSET]")]
    pub(crate) place: OsString,

    /// Use the URLs of SOURCE, as `scan --evidence` does: records, a list of URLs or a database
    ///
    /// Explains a record of `scan --evidence self`, which may have joined a URL because it occurs
    /// whole in another message, or not because the break recurs: pass the records of the same
    /// files, scanned without --evidence.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) evidence: Option<PathBuf>,

    /// Kind of the file, which decides how it is split into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto")]
    pub(crate) kind: KindOption,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// The option for keys of the configuration that have no option.
#[derive(clap::Args, Debug)]
pub(crate) struct SettingArgs {
    /// Set a key of the configuration, such as `url_bytes=64KiB`; repeatable
    ///
    /// KEY is a key of the table [extract] or a limit. Separate the values of a list by commas:
    /// `accept=rfc1738,rfc3986`. `urlspool generate man urlspool.toml` lists the keys. An option
    /// with the name of a key overrides it.
    #[arg(long, value_name = "KEY=VALUE", help_heading = GENERAL)]
    set: Vec<String>,
}

impl SettingArgs {
    /// Sets the keys.
    pub(crate) fn apply(&self, config: &mut Config) -> Result<(), CommandError> {
        self.set.iter().try_for_each(|setting| {
            let wrong = |error| CommandError::usage(format!("--set {setting}: {error}"));
            config.set(setting).map_err(wrong)
        })
    }
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
    /// By default, mail that is there when a PATH is first watched is skipped. With --config, it is
    /// always written.
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
    #[arg(long, value_parser = named::<TextOrJson>(), default_value = TextOrJson::Text.name())]
    pub(crate) log: TextOrJson,
}

/// The arguments of `status`.
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// Ask the `watch` that writes to FOLDER
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "config")]
    pub(crate) output: Option<PathBuf>,

    /// Output format [default: text on a terminal, otherwise json]
    #[arg(long, value_parser = named::<TextOrJson>())]
    pub(crate) format: Option<TextOrJson>,

    /// Configuration file of the daemon [default: as for `watch`]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
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

    /// A new option has to replace another one. An option of all commands counts once.
    #[test]
    fn the_program_has_at_most_140_options_and_14_commands() {
        let program = super::command();
        let shown = program
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        assert!(shown.count() <= 14);
        let (mut options, mut commands) = (0, vec![program]);
        while let Some(command) = commands.pop() {
            let arguments = command.get_arguments();
            options += arguments
                .filter(|argument| !argument.is_positional())
                .count();
            commands.extend(command.get_subcommands().cloned());
        }
        assert!(options <= 140, "{options} options");
    }
}
