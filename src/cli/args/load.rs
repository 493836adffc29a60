//! The arguments of the commands that use a loaded database.

use std::path::PathBuf;

use super::values::Facet;
use super::values::{CitedFormat, SearchFormat, count, hazard_name, named, target_name};
use super::{GENERAL, INPUT, OUTPUT};
use urlspool_files::config::NamedValue;
use urlspool_files::options::{DatePeriod, date_period, scheme_name};
use urlspool_store::load::{SearchOrder, TargetName};

/// The arguments of `load`.
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that is given or not"
)]
pub(crate) struct LoadArgs {
    /// Files of records, segments, and folders of these; `-`, or no path at all, is standard input
    ///
    /// Compressed files are unpacked. Of a folder the files `*.jsonl` are read, also compressed
    /// ones (`*.jsonl.zst`).
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// The database or index: `FILE` or `sqlite:FILE` for SQLite, or the URL of a server
    ///
    /// A file that does not exist is created. `postgresql://USER@HOST/DATABASE` is a database of
    /// PostgreSQL, and `elasticsearch+https://HOST:PORT/INDEX` (or `elasticsearch+http`) an index
    /// of Elasticsearch or OpenSearch; these need a program that was built with the features
    /// `postgres` and `elasticsearch`. A password is never part of the argument: it comes from
    /// `PGPASSWORD` or `~/.pgpass`, an API key from `URLSPOOL_ELASTICSEARCH_API_KEY`, and the
    /// password of a user (`elasticsearch+https://USER@HOST:PORT/INDEX`) from
    /// `URLSPOOL_ELASTICSEARCH_PASSWORD`. A server may be silent for 30 seconds; `?connect_timeout=SECONDS` after the URL changes that.
    #[expect(clippy::doc_markdown, reason = "a name in the help, which is no code")]
    #[arg(long, value_name = "TARGET", required = true, value_parser = target_name)]
    pub(crate) into: TargetName,

    /// Also remove rows of the files in the input that the input no longer holds, in one
    /// transaction
    #[arg(long, conflicts_with = "follow", help_heading = INPUT)]
    pub(crate) replace: bool,

    /// Load nothing: remove the rows of files beneath each PATH that no longer exist, in one
    /// transaction
    ///
    /// A PATH is a file or a folder, spelled as the scan that made the records had it. One that is
    /// missing, or a folder in which there is no file, is an error: perhaps its file system is not
    /// mounted.
    #[arg(long, requires = "paths", conflicts_with_all = ["replace", "follow", "delete_segments"], help_heading = INPUT)]
    pub(crate) prune: bool,

    /// Count the rows that --prune would remove, and change nothing
    #[arg(long, requires = "prune", help_heading = INPUT)]
    pub(crate) dry_run: bool,

    /// Load segments as they are sealed, until the program is ended
    #[arg(long, requires = "paths", help_heading = INPUT)]
    pub(crate) follow: bool,

    /// Remove each segment and its sidecar after its rows are committed
    #[arg(long, requires = "paths", conflicts_with = "replace", help_heading = INPUT)]
    pub(crate) delete_segments: bool,

    /// Report only errors on standard error
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,

    /// Report the numbers of the load on standard error, also if that is no terminal
    #[arg(short, long, conflicts_with = "quiet", help_heading = GENERAL)]
    pub(crate) verbose: bool,
}

/// The arguments of `search`.
#[derive(clap::Args, Debug)]
pub(crate) struct SearchArgs {
    /// The database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Words that occur in the URL, the text of the link, the subject, the sender or the text around
    /// the URL; all must occur
    ///
    /// Words are runs of letters and digits, and upper and lower case are the same. An argument of
    /// several words, such as `info.cern.ch`, is found where they follow each other, and so are
    /// words in quotes within one: `'lamp "red wick"'`. `goph*` finds words that begin so, and
    /// `-lamp` leaves out matches with that word; it stands after `--`, as the last arguments. All
    /// else is text.
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,

    /// Find URLs of this host, or of all hosts of a registrable domain
    ///
    /// A name in any script is found by its A-labels, `bücher.example` as `xn--bcher-kva.example`.
    #[arg(long, value_name = "HOST", help_heading = INPUT)]
    pub(crate) host: Option<String>,

    /// Find URLs of this registrable domain and of all its hosts
    #[arg(long, value_name = "DOMAIN", help_heading = INPUT)]
    pub(crate) domain: Option<String>,

    /// Find URLs of this scheme
    #[arg(long, value_name = "SCHEME", value_parser = scheme_name, help_heading = INPUT)]
    pub(crate) scheme: Option<String>,

    /// Find the messages that cite this URL, in whatever spelling of scheme, host and escapes
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    pub(crate) key: Option<String>,

    /// Find citations whose sender, a name or an address, holds TEXT
    #[arg(long, value_name = "TEXT", help_heading = INPUT)]
    pub(crate) sender: Option<String>,

    /// Find citations in messages of this mailing list (its List-Id) or newsgroup
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub(crate) list: Option<String>,

    /// Find URLs that have this hazard; `mismatch` is a link whose text names another host
    #[arg(long, value_name = "HAZARD", value_parser = hazard_name(), help_heading = INPUT)]
    pub(crate) hazard: Option<String>,

    /// Find citations of DATE and later
    ///
    /// DATE is a year (1996), a month (1996-07), a day (1996-07-02) or a time
    /// (1996-07-02T13:45:00Z), in UTC, or a time before now (24h, 7d, 12w). Citations without a
    /// plausible date are not found.
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) since: Option<DatePeriod>,

    /// Find citations up to the end of DATE
    ///
    /// `--since 1996 --until 1996` finds the citations of that year. If DATE is a time, citations
    /// before it are found.
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) until: Option<DatePeriod>,

    /// Order of the matches; those without a plausible date come last, those of one date by file
    /// and place
    #[arg(long, value_name = "ORDER", value_parser = named::<SearchOrder>(), default_value = SearchOrder::default().name(), help_heading = OUTPUT)]
    pub(crate) sort: SearchOrder,

    /// Print at most N matches, the first in that order
    ///
    /// With --facets at most N values of each facet, the most frequent ones.
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = OUTPUT)]
    pub(crate) limit: Option<u64>,

    /// Print the numbers of matches by these values instead of the matches
    ///
    /// The most frequent values come first, years in their order. As text at most 20 values of each
    /// facet but the year are printed; csv, tsv and jsonl have all.
    #[arg(long, value_name = "FACET,...", value_delimiter = ',', value_parser = named::<Facet>(), help_heading = OUTPUT)]
    pub(crate) facets: Vec<Facet>,

    /// Output format [default: text on a terminal, else grep; with --facets text]
    #[arg(long, value_parser = named::<SearchFormat>(), help_heading = OUTPUT)]
    pub(crate) format: Option<SearchFormat>,

    /// The use of colours, an option of all commands.
    #[arg(skip)]
    pub(crate) color: super::When,
}

/// The arguments of `cited`.
#[derive(clap::Args, Debug)]
pub(crate) struct CitedArgs {
    /// The database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// A URL, in whatever spelling of scheme, host and escapes; or a registrable domain with all
    /// its hosts, or one host
    #[arg(value_name = "URL|DOMAIN")]
    pub(crate) thing: String,

    /// Order of the citations; those without a plausible date come last, those of one date by file
    /// and place
    #[arg(long, value_name = "ORDER", value_parser = named::<SearchOrder>(), default_value = SearchOrder::Oldest.name(), help_heading = OUTPUT)]
    pub(crate) sort: SearchOrder,

    /// Print at most N citations, the first in that order
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = OUTPUT)]
    pub(crate) limit: Option<u64>,

    /// Output format
    #[arg(long, value_parser = named::<CitedFormat>(), default_value = CitedFormat::default().name(), help_heading = OUTPUT)]
    pub(crate) format: CitedFormat,

    /// The use of colours, an option of all commands.
    #[arg(skip)]
    pub(crate) color: super::When,
}

/// The arguments of `browse`.
#[derive(clap::Args, Debug)]
pub(crate) struct BrowseArgs {
    /// The database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Address and port of the pages; port 0 is any free one
    ///
    /// On another address than one of this machine alone, such as 127.0.0.1, all pages are beneath
    /// a random token, which is a part of the URL that is printed. They are not encrypted.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8797")]
    pub(crate) listen: std::net::SocketAddr,

    /// Show raw bytes only of files in FOLDER and below it
    ///
    /// A database may have records of other people, which name any file. With an address that other
    /// machines reach, the default is the folder of the database.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) files: Option<PathBuf>,
}
