//! The arguments, as clap reads them. `--help` is made from these comments.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::config::{Grammar, RulesName, UniqueName};
use crate::origin;

/// Gets the URLs of mail and USENET archives out whole.
///
/// Reads mbox files, Maildirs, news spools, single messages and plain text; undoes line breaks, quote marks and
/// encodings; and writes one JSON line for each URL, with the bytes it came from.
#[derive(Parser, Debug)]
#[command(name = "urlspool", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes:
  0  done
  1  done, but some input could not be read (`parse --check`: some URL was refused)
  2  the arguments or the configuration cannot be used
 69  `status`: no daemon answers
 74  our own output or state cannot be written
 75  `watch`: another instance holds the state
 78  `watch`: state and output contradict each other";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Write the URLs of files and folders as JSON lines
    #[command(after_help = SCAN_EXAMPLES)]
    Scan(Box<Scan>),
    /// Follow live spools and write the URLs of new mail, each message once, into segment files
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(Watch),
    /// Ask the running daemon how it stands, as one JSON line
    Status {
        /// The daemon's configuration file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Read URLs by RFC 1738 and print their parts, one JSON line each
    #[command(after_help = PARSE_EXAMPLES)]
    Parse(Parse),
    /// Print the raw bytes that records came from
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Show),
    /// Tell in words what each stage made of a message, and why each candidate is a URL or none
    #[command(after_help = EXPLAIN_EXAMPLE)]
    Explain(Explain),
    /// Print items of work of about equal size, one JSON line each, for `scan --splits`
    #[command(after_help = SPLITS_EXAMPLE)]
    Splits(Splits),
    /// Print the JSON Schema of the records
    Schema,
    /// Check a configuration file and print it with every key
    CheckConfig {
        /// The configuration file
        file: PathBuf,
    },
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

const SCAN_EXAMPLES: &str = "Examples:
  urlspool scan ~/Mail > urls.jsonl
  urlspool scan --format urls --unique run archive.mbox | lychee -
  urlspool scan list.mbox.gz news.tar.bz2 takeout.zip
  urlspool scan --schemes gopher,wais,prospero --summary sums.json news/";

const WATCH_EXAMPLES: &str = "Examples:
  urlspool watch --config /etc/urlspool.toml
  urlspool watch --config urlspool.toml --once
  urlspool status --config urlspool.toml | jq .";

const PARSE_EXAMPLES: &str = "Examples:
  urlspool parse 'ftp://myname@host.dom/%2Fetc/motd'
  urlspool parse --check - < urls.txt";

const EXPLAIN_EXAMPLE: &str = "Examples:
  urlspool explain archive.mbox:10233
  urlspool explain list.mbox.gz:10233         bytes are those of the unpacked file
  urlspool explain 'news.tar!comp/mail/1'     a member of an archive";

const SPLITS_EXAMPLE: &str = "Example:
  urlspool splits --size 1GiB archive/ | parallel --pipe -k -N1 urlspool scan --splits - > urls.jsonl";

const SHOW_EXAMPLES: &str = "Examples:
  urlspool scan inbox | head -1 | urlspool show
  urlspool show inbox:120-155
  urlspool show list.mbox.gz:120-155          offsets are those of the unpacked bytes
  urlspool show 'news.tar!comp/mail/1:0-80'   a member of an archive
  urlspool show 'a.zip!b.tar!c.mbox:0-80'     and one in an archive in an archive";

/// What `scan` takes.
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that is given or not"
)]
pub(crate) struct Scan {
    /// Files and folders to read; `-` is standard input, as is none at all
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read items that `urlspool splits` printed from FILE (`-`: standard input), and what they name
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub(crate) splits: Option<PathBuf>,

    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Threads [default: one for each core]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Read options and limits from FILE; flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// What to write of each URL
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,

    /// How the sources are divided into messages
    #[arg(long, value_enum, default_value_t = Kind::Auto)]
    pub(crate) kind: Kind,

    /// By which rules URLs are found: what people really wrote, or RFC 1738 to the letter
    #[arg(long, value_name = "RULES", value_parser = ["wide", "rfc1738"])]
    pub(crate) rules: Option<String>,

    /// Write only URLs that one of these grammars accepts: rfc1738, rfc3986, whatwg
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["rfc1738", "rfc3986", "whatwg"])]
    pub(crate) accept: Vec<String>,

    /// Write only URLs of these schemes
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) schemes: Vec<String>,

    /// Fold repetitions of a URL within a message or the whole run
    #[arg(long, value_name = "WITHIN", value_parser = ["none", "message", "run"])]
    pub(crate) unique: Option<String>,

    /// Write what looked like a URL and is none to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    /// Write what went wrong to FILE as JSON lines, instead of telling it on standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,

    /// Write the balance sheet of the run to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,

    /// Add N bytes of the text before and after each URL
    #[arg(long, value_name = "N")]
    pub(crate) context: Option<usize>,

    /// Leave hosts without a scheme (www.example.org)
    #[arg(long)]
    pub(crate) no_schemeless: bool,

    /// Leave header fields
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// Take the recipient's address out of redirectors' URLs
    #[arg(long)]
    pub(crate) strip_recipient: bool,

    /// Read only files that match GLOB; can be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,

    /// Leave files that match GLOB; can be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Messages of DATE and later; undated mail passes
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,

    /// Messages before DATE; undated mail passes
    #[arg(long, value_name = "DATE")]
    pub(crate) until: Option<String>,

    /// Follow symbolic links that stay beneath their root
    #[arg(long)]
    pub(crate) follow: bool,

    /// End with status 1 if anything at all was remarked upon
    #[arg(long)]
    pub(crate) strict: bool,

    /// Whether to show how far it is
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) progress: When,

    /// Say nothing but errors on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Tell the balance sheet on standard error
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Whether to use colours on standard error
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

/// What is written of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The whole record as JSON
    Jsonl,
    /// The URL and its fragment
    Urls,
}

/// How sources are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Each by its content
    Auto,
    /// Messages behind `From ` lines
    Mbox,
    /// One message a file, from a Maildir
    Maildir,
    /// One message a file, from an MH folder
    Mh,
    /// One article a file
    News,
    /// News articles behind `#! rnews` lines
    Rnews,
    /// Messages between lines of four control-A
    Mmdf,
    /// Messages of Emacs' Rmail
    Babyl,
    /// One message a file
    Message,
    /// Text without a header
    Text,
}

impl Kind {
    /// The kind of a source that it names, if it names one.
    pub(crate) fn given(self) -> Option<origin::SourceKind> {
        match self {
            Kind::Auto => None,
            Kind::Mbox => Some(origin::SourceKind::Mbox),
            Kind::Maildir => Some(origin::SourceKind::Maildir),
            Kind::Mh => Some(origin::SourceKind::Mh),
            Kind::News => Some(origin::SourceKind::News),
            Kind::Rnews => Some(origin::SourceKind::Rnews),
            Kind::Mmdf => Some(origin::SourceKind::Mmdf),
            Kind::Babyl => Some(origin::SourceKind::Babyl),
            Kind::Message => Some(origin::SourceKind::Message),
            Kind::Text => Some(origin::SourceKind::Text),
        }
    }
}

/// Whether to do something that suits a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What `watch` takes.
#[derive(clap::Args, Debug)]
pub(crate) struct Watch {
    /// The configuration file; SIGHUP reads it again
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Read everything that is new, seal, and end
    #[arg(long)]
    pub(crate) once: bool,

    /// Build a lost or damaged state anew from the sidecars first
    #[arg(long)]
    pub(crate) rebuild_state: bool,

    /// How the log is written
    #[arg(long, value_enum, default_value_t = Log::Text)]
    pub(crate) log: Log,
}

/// How the daemon's log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    /// One line of text for an event
    Text,
    /// One JSON object for an event
    Json,
}

/// What `parse` takes.
#[derive(clap::Args, Debug)]
pub(crate) struct Parse {
    /// URLs; `-`, or none at all, reads them from standard input, one a line
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Each line of standard input is a JSON string
    #[arg(long)]
    pub(crate) from_json: bool,

    /// Split a fragment (`#...`) off first; it is no part of a URL
    #[arg(long)]
    pub(crate) fragment: bool,

    /// End with status 1 if RFC 1738 refuses a URL
    #[arg(long)]
    pub(crate) check: bool,
}

/// What `explain` takes.
#[derive(clap::Args, Debug)]
pub(crate) struct Explain {
    /// A file, a member of it if it is an archive, and an byte of the message; without that, the first message
    #[arg(value_name = "FILE[!MEMBER][:OFFSET]")]
    pub(crate) place: String,

    /// How the file is divided into messages
    #[arg(long, value_enum, default_value_t = Kind::Auto)]
    pub(crate) kind: Kind,

    /// By which rules URLs are found
    #[arg(long, value_name = "RULES", value_parser = ["wide", "rfc1738"], default_value = "wide")]
    pub(crate) rules: String,
}

/// What `splits` takes.
#[derive(clap::Args, Debug)]
pub(crate) struct Splits {
    /// Files and folders
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Bytes of an item, about; mboxes that are not compressed are divided, other files are one item each
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    pub(crate) size: u64,

    /// How the sources are divided into messages
    #[arg(long, value_enum, default_value_t = Kind::Auto)]
    pub(crate) kind: Kind,

    /// Only files that match GLOB; can be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,

    /// Leave files that match GLOB; can be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Follow symbolic links that stay beneath their root
    #[arg(long)]
    pub(crate) follow: bool,
}

/// A size in bytes, above nothing.
fn size(text: &str) -> Result<u64, String> {
    match crate::config::parse_size(text) {
        Some(bytes) if bytes > 0 => Ok(bytes as u64),
        _ => Err("write it as 64MiB, 1GB or a number of bytes".to_owned()),
    }
}

/// What `show` takes.
#[derive(clap::Args, Debug)]
pub(crate) struct Show {
    /// PATH:START-END, or PATH!MEMBER:START-END, in bytes; none reads records from standard input
    #[arg(value_name = "PLACE")]
    pub(crate) place: Option<String>,
}

/// The configuration's value of a flag's word. clap has let only known words through.
pub(crate) fn rules(word: &str) -> RulesName {
    if word == "rfc1738" {
        RulesName::Rfc1738
    } else {
        RulesName::Wide
    }
}

/// The same for `--unique`.
pub(crate) fn unique(word: &str) -> UniqueName {
    match word {
        "message" => UniqueName::Message,
        "run" => UniqueName::Run,
        _ => UniqueName::None,
    }
}

/// The same for `--accept`.
pub(crate) fn grammar(word: &str) -> Grammar {
    match word {
        "rfc1738" => Grammar::Rfc1738,
        "rfc3986" => Grammar::Rfc3986,
        _ => Grammar::Whatwg,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Args::command().debug_assert();
    }
}
