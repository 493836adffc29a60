//! The arguments of the commands that use a loaded database.

use std::path::PathBuf;

use super::values::Facet;
use super::values::{CitedFormat, SearchFormat, count, hazard_name, host_of, named, target_name};
use super::{GENERAL, INPUT, OUTPUT};
use urlspool_files::config::region_name;
use urlspool_files::options::{DatePeriod, date_period, scheme_name};
use urlspool_store::load::{Party, SearchOrder, TargetName};

/// The arguments of `load`.
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that is given or not"
)]
pub(crate) struct LoadArgs {
    /// Files of records, segments, and folders; `-`, or no path, is standard input
    ///
    /// Compressed files are decompressed. In a folder, the files `*.jsonl` and `*.jsonl.zst` are
    /// read.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Database or index: `FILE`, `sqlite:FILE`, or the URL of a server
    ///
    /// A missing file is created. `postgresql://USER@HOST/DATABASE` is a PostgreSQL database, and
    /// `elasticsearch+https://HOST:PORT/INDEX` (or `elasticsearch+http`) an index of Elasticsearch
    /// or OpenSearch. These need a program with the features `postgres` and `elasticsearch`. Never
    /// put a password into the argument: it comes from `PGPASSWORD` or `~/.pgpass`, an API key from
    /// `URLSPOOL_ELASTICSEARCH_API_KEY`, and the password of a user
    /// (`elasticsearch+https://USER@HOST:PORT/INDEX`) from `URLSPOOL_ELASTICSEARCH_PASSWORD`. A
    /// server may be silent for 30 seconds; append `?connect_timeout=SECONDS` to change this.
    #[expect(clippy::doc_markdown, reason = "a name in the help, which is no code")]
    #[arg(long, value_name = "TARGET", required = true, value_parser = target_name)]
    pub(crate) into: TargetName,

    /// Also remove rows that the input files no longer hold, in one transaction
    #[arg(long, conflicts_with = "follow", help_heading = INPUT)]
    pub(crate) replace: bool,

    /// Load no records; remove the rows of deleted files under PATH
    ///
    /// This is one transaction. PATH is a file or a folder, spelled as in the scan that made the
    /// records. A missing PATH, or a folder without any file, is an error, because its file system
    /// may not be mounted.
    #[arg(long, requires = "paths", conflicts_with_all = ["replace", "follow", "delete_segments"],
        help_heading = INPUT)]
    pub(crate) prune: bool,

    /// Only count the rows that --prune would remove
    #[arg(long, requires = "prune", help_heading = INPUT)]
    pub(crate) dry_run: bool,

    /// Load segments as they are sealed, until stopped
    #[arg(long, requires = "paths", help_heading = INPUT)]
    pub(crate) follow: bool,

    /// Delete each segment and its sidecar after the commit
    #[arg(long, requires = "paths", conflicts_with = "replace", help_heading = INPUT)]
    pub(crate) delete_segments: bool,

    /// Print the numbers of the load, even if standard error is no terminal
    #[arg(short, long, conflicts_with = "quiet", help_heading = GENERAL)]
    pub(crate) verbose: bool,
}

/// The arguments of `search`.
#[derive(clap::Args, Debug)]
pub(crate) struct SearchArgs {
    /// Database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Words in the URL, link text, subject, sender or context; all must match
    ///
    /// A word is a run of letters and digits in any case. Several words in one argument, such as
    /// `info.cern.ch`, must be adjacent, and so must quoted words: `'lamp "red wick"'`. `goph*`
    /// matches words with this prefix, `"red la*"` phrases. `-lamp` excludes matches with that
    /// word; write it after all options and `--`: `search DB oil --limit 9 -- -lamp`. All other
    /// signs only separate words.
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,

    /// Find URLs of this host; `--domain` finds all hosts of a domain
    ///
    /// Names in any script are found by their A-labels: `bücher.example` as
    /// `xn--bcher-kva.example`.
    #[arg(long, value_name = "HOST", value_parser = host_of, help_heading = INPUT)]
    pub(crate) host: Option<String>,

    /// Find URLs of this domain and all its hosts, or of this host
    ///
    /// The domain is a registrable one, such as `cern.ch`, or a public suffix, such as
    /// `appspot.com`.
    #[arg(long, value_name = "DOMAIN", value_parser = host_of, help_heading = INPUT)]
    pub(crate) domain: Option<String>,

    /// Find URLs of these schemes, such as `http,https`
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',', value_parser = scheme_name,
        help_heading = INPUT)]
    pub(crate) schemes: Vec<String>,

    /// Find messages that cite this URL in any spelling and with any fragment (`#...`)
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    pub(crate) key: Option<String>,

    /// Find citations whose sender (name or address) contains TEXT
    #[arg(long, value_name = "TEXT", help_heading = INPUT)]
    pub(crate) sender: Option<String>,

    /// Find citations in this mailing list (its List-Id) or newsgroup
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub(crate) list: Option<String>,

    /// Find URLs with one of these hazards; `mismatch`: the text names another host
    #[arg(long, value_name = "HAZARD,...", value_delimiter = ',', value_parser = hazard_name(),
        help_heading = INPUT)]
    pub(crate) hazard: Vec<String>,

    /// Find URLs in these regions of messages, such as `body,header` or `header:Subject`
    #[arg(long, value_name = "REGION,...", value_delimiter = ',', value_parser = region_name,
        help_heading = INPUT)]
    pub(crate) region: Vec<String>,

    /// Also find links that occur only in header fields of mailing lists (List-*, Archived-At)
    #[arg(long, help_heading = INPUT)]
    pub(crate) list_fields: bool,

    /// Find citations from DATE on
    ///
    /// DATE is a year (1996), a month (1996-07), a day (1996-07-02) or a time
    /// (1996-07-02T13:45:00Z) in UTC, or an age (24h, 7d, 12w). Citations without a plausible date
    /// are not found.
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) since: Option<DatePeriod>,

    /// Find citations up to the end of DATE
    ///
    /// `--since 1996 --until 1996` finds the citations of that year. If DATE is a time, citations
    /// before it are found.
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) until: Option<DatePeriod>,

    /// Order of the matches
    ///
    /// Matches without a plausible date come last; matches of one date are ordered by file and
    /// place.
    #[arg(long, value_name = "ORDER", value_parser = named::<SearchOrder>(),
        default_value = SearchOrder::default().name(), help_heading = OUTPUT)]
    pub(crate) sort: SearchOrder,

    /// Print at most N matches
    ///
    /// With --facets, at most N values of each facet, most frequent first.
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = OUTPUT)]
    pub(crate) limit: Option<u64>,

    /// Print counts of matches by these values instead of the matches
    ///
    /// The most frequent values come first, years in order. Text output has at most 20 values per
    /// facet, but all years; csv, tsv and jsonl have all values.
    #[arg(long, value_name = "FACET,...", value_delimiter = ',', value_parser = named::<Facet>(),
        help_heading = OUTPUT)]
    pub(crate) facets: Vec<Facet>,

    /// Output format [default: text on a terminal, otherwise grep]
    ///
    /// With --facets the default is text.
    #[arg(long, value_parser = named::<SearchFormat>(), help_heading = OUTPUT)]
    pub(crate) format: Option<SearchFormat>,

    /// Name and address of the organization that reports, for --format xarf
    ///
    /// Each report is about the innermost message that holds the URLs, and names the domain of its
    /// From field, which anybody can forge: check it before you send the report. A match is not
    /// reported if its author is only named by header lines in a text, if the sender repeats URLs
    /// of an attached message, if the author has no address or the message no date, and after the
    /// first MiB of URLs of a message.
    #[arg(long, value_name = "NAME <ADDRESS>", value_parser = Party::of_reporter,
        required_if_eq("format", "xarf"), help_heading = OUTPUT)]
    pub(crate) reporter: Option<Party>,

    /// The options of all commands.
    #[arg(skip)]
    pub(crate) general: super::GeneralArgs,
}

/// The arguments of `cited`.
#[derive(clap::Args, Debug)]
pub(crate) struct CitedArgs {
    /// Database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// A URL in any spelling and with any fragment, a registrable domain with all its hosts, or one
    /// host
    #[arg(value_name = "URL|DOMAIN")]
    pub(crate) thing: String,

    /// Order of the citations
    ///
    /// Citations without a plausible date come last; citations of one date are ordered by file and
    /// place.
    #[arg(long, value_name = "ORDER", value_parser = named::<SearchOrder>(),
        default_value = SearchOrder::Oldest.name(), help_heading = OUTPUT)]
    pub(crate) sort: SearchOrder,

    /// Also find links that occur only in header fields of mailing lists (List-*, Archived-At)
    #[arg(long, help_heading = INPUT)]
    pub(crate) list_fields: bool,

    /// Print at most N citations
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = OUTPUT)]
    pub(crate) limit: Option<u64>,

    /// Output format
    #[arg(long, value_parser = named::<CitedFormat>(),
        default_value = CitedFormat::default().name(), help_heading = OUTPUT)]
    pub(crate) format: CitedFormat,

    /// The options of all commands.
    #[arg(skip)]
    pub(crate) general: super::GeneralArgs,
}

/// The arguments of `browse`.
#[derive(clap::Args, Debug)]
pub(crate) struct BrowseArgs {
    /// Database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Address and port of the pages; port 0 is any free one
    ///
    /// If other machines can reach the address, all pages are under a random token, which is part
    /// of the printed URL. They are not encrypted.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8797")]
    pub(crate) listen: std::net::SocketAddr,

    /// Show raw bytes only of files in FOLDER and below
    ///
    /// Records that other people made may name any file of this machine. If other machines can
    /// reach the address, the default is the folder of the database.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) files: Option<PathBuf>,
}
