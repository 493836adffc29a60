//! The arguments, as clap parses them. `--help`, the manual page and the completions are made from these comments.

mod inspect;
mod scan;
mod sources;
mod values;
#[cfg(feature = "daemon")]
mod watch;

pub(crate) use inspect::{ExplainArgs, ParseArgs, ShowArgs};
pub(crate) use scan::{ScanArgs, SplitsArgs};
pub(crate) use sources::SourceArgs;
pub(crate) use values::When;
#[cfg(feature = "daemon")]
pub(crate) use watch::{LogFormat, StatusArgs, WatchArgs};

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Finds, repairs and parses the URLs in mail and USENET archives.
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
  1  done, but some input could not be read (`parse --check`: some URL was rejected)
  2  the arguments or the configuration cannot be used
 69  `status`: no daemon answers
 74  the output or the state cannot be written
 75  `watch`: another instance is running with the same state
 78  `watch`: the state and the output contradict each other";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Write the URLs of files and folders as JSON lines
    #[command(after_help = SCAN_EXAMPLES)]
    Scan(Box<ScanArgs>),
    /// Watch live spools and write the URLs of new mail, each message once, into segment files
    #[command(after_help = WATCH_EXAMPLES)]
    #[cfg(feature = "daemon")]
    Watch(WatchArgs),
    /// Print the state of the running daemon as one JSON line
    #[cfg(feature = "daemon")]
    Status(StatusArgs),
    /// Parse URLs by RFC 1738 and print their parts, one JSON line each
    #[command(after_help = PARSE_EXAMPLES)]
    Parse(ParseArgs),
    /// Print the raw bytes that records came from
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Explain what each stage does with a message, and why each candidate is a URL or not
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Print work items of about equal size, one JSON line each, for `scan --splits`
    #[command(after_help = SPLITS_EXAMPLES)]
    Splits(SplitsArgs),
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

#[cfg(feature = "daemon")]
const WATCH_EXAMPLES: &str = "Examples:
  urlspool watch --config /etc/urlspool.toml
  urlspool watch --config urlspool.toml --once
  urlspool status --config urlspool.toml | jq .";

const PARSE_EXAMPLES: &str = "Examples:
  urlspool parse 'ftp://myname@host.dom/%2Fetc/motd'
  urlspool parse --check - < urls.txt";

const EXPLAIN_EXAMPLES: &str = "Examples:
  urlspool explain archive.mbox:10233
  urlspool explain list.mbox.gz:10233         offset in the unpacked file
  urlspool explain 'news.tar!comp/mail/1'     member of an archive";

const SPLITS_EXAMPLES: &str = "Examples:
  urlspool splits --size 1GiB archive/ | parallel --pipe -k -N1 urlspool scan --splits - > urls.jsonl";

const SHOW_EXAMPLES: &str = "Examples:
  urlspool scan inbox | head -1 | urlspool show
  urlspool show inbox:120-155
  urlspool show list.mbox.gz:120-155          offsets in the unpacked file
  urlspool show 'news.tar!comp/mail/1:0-80'   member of an archive
  urlspool show 'a.zip!b.tar!c.mbox:0-80'     member of an archive in an archive";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Args::command().debug_assert();
    }
}
