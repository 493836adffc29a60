//! The arguments of `audit` and its steps.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::values::{count, named, named_among};
use super::{INPUT, OUTPUT};
use urlspool_audit::{CheckTime, Exclusion, ReportFormat, StratumKind, host_in_url};
use urlspool_files::options;
use urlspool_text::limits::{AUDIT_CHECK_RETRIES, AUDIT_CHECK_SECONDS};

/// Help heading of options about the servers to contact.
const SERVER: &str = "Server";

/// A step of an audit.
#[derive(Subcommand, Debug)]
pub(crate) enum AuditStep {
    /// Plan which links to check, and count the rest by reason
    ///
    /// Each link is planned once, regardless of its citations. A link is left out if it is cited
    /// only in header fields (most of these unsubscribe from a list), has a user name or password,
    /// asks for an action, was cut short, or was read with a confidence below 0.8; `--force` plans
    /// it anyway. Links of private or reserved hosts need `--allow-private`. Repeat the plan after
    /// you load more; results are kept.
    Plan(AuditPlanArgs),
    /// Check the planned links that are due
    ///
    /// Links are checked in batches of 500, each stored when complete; an interrupted check resumes
    /// there. A host gets one request at a time, with pauses of half a second. Only public
    /// addresses are contacted, even after redirects.
    Check(AuditCheckArgs),
    /// Print the links planned, checked and due, and the time needed
    ///
    /// Links with an unconfirmed death are due again before their results expire. The time is based
    /// on the pace of the last check. No server is contacted, and the database does not change.
    Status(AuditStatusArgs),
    /// Import results of other checkers: JSON of lychee, or CSV
    ///
    /// CSV has a header row with the columns `url`, `status` and `checked_at`, and optionally
    /// `final_url` and `error`. A status is an HTTP code, or empty with an error of dns, connect,
    /// timeout, tls or other. Times before 1990 or more than 24 hours ahead are refused. A known
    /// result is not added again.
    Import(AuditImportArgs),
    /// Ask web archives for captures of the planned links
    ///
    /// A CDX server is the index of a web archive, such as the Wayback Machine or pywb. Servers are
    /// asked in the order of the options, until one has a capture; the capture nearest to the first
    /// citation counts. Dead links come first. Each answer is stored at once, and an interrupted
    /// run resumes there. The run ends if a server refuses or does not answer five times
    /// in a row.
    Archive(AuditArchiveArgs),
    /// Inspect the pages of living links for soft 404s, parking and moves
    ///
    /// A page has moved if its redirects end at the front page or at another domain. A host is
    /// asked at most once a second, and once for a path that cannot exist. Pages that a robots.txt
    /// excludes are not read. The states of `check` do not change.
    Inspect(AuditInspectArgs),
    /// Submit living links that no archive holds to a save service
    ///
    /// It submits links that were alive at their newest check and are in none of the archives
    /// asked. It never submits links that have a private host or a password, ask for an action, or
    /// are cited only in header fields or with a confidence below 0.8. No link is sent without
    /// `--send`, because this publishes links of the archive. `--format seeds` lists the links for
    /// a crawler instead. An interrupted run resumes.
    Save(AuditSaveArgs),
    /// Write a report: one HTML file, CSV files, or a BagIt bag
    ///
    /// The report counts links by year of their first citation, host, domain, list and scheme. It
    /// has survival and half-life, archived and lost links, the most cited dead links with their
    /// citations and snapshots, and a description of the method. The HTML file needs no other
    /// resources. The same database produces the same files.
    Report(AuditReportArgs),
}

/// The arguments of `audit plan`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditPlanArgs {
    /// Database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Plan a sample of N links, equally divided among the strata
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) sample: Option<u64>,

    /// Strata of the sample
    #[arg(long, value_parser = named::<StratumKind>(), default_value = StratumKind::Year.name(),
        requires = "sample", help_heading = INPUT)]
    pub(crate) by: StratumKind,

    /// Seed of the sample; the same seed takes the same links
    #[arg(long, value_name = "S", default_value_t = 0, requires = "sample", help_heading = INPUT)]
    pub(crate) seed: u64,

    /// Also plan links of this kind, which are left out as a precaution
    #[arg(long, value_name = "REASON", value_parser = named_among(Exclusion::LIFTABLE.into_iter()),
        help_heading = INPUT)]
    pub(crate) force: Vec<Exclusion>,

    /// Plan links of this private host, and contact it; repeatable
    ///
    /// HOST is a name or an address, without scheme and port. It may also be the target of a
    /// redirect.
    #[arg(long, value_name = "HOST", value_parser = host, help_heading = INPUT)]
    pub(crate) allow_private: Vec<String>,

    /// Your mail address or page for server owners
    ///
    /// It is part of the User-Agent, and the password of anonymous ftp. `archive`, `inspect` and
    /// `save --send` need it.
    #[arg(long, value_name = "CONTACT", help_heading = SERVER)]
    pub(crate) contact: Option<String>,

    /// Title of the report
    ///
    /// If --title, --collection, --author or --contact is omitted, its earlier value is kept.
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(crate) title: Option<String>,

    /// Name of the collection, for the report
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(crate) collection: Option<String>,

    /// Author of the report
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(crate) author: Option<String>,
}

/// The arguments of `audit check`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditCheckArgs {
    /// Database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Maximum seconds for the answer of a link, including redirects
    #[arg(long, value_name = "N", default_value_t = AUDIT_CHECK_SECONDS,
        value_parser = clap::value_parser!(u64).range(1..), help_heading = SERVER)]
    pub(crate) timeout: u64,

    /// Retries after 408, 429, 5xx or no answer
    ///
    /// The pauses double from one second.
    #[arg(long, value_name = "N", default_value_t = AUDIT_CHECK_RETRIES,
        value_parser = clap::value_parser!(u32).range(..10), help_heading = SERVER)]
    pub(crate) retries: u32,

    /// Store results even if no server replied
    ///
    /// Without it, a batch in which none of ten or more hosts replied is not stored, because this
    /// machine may have no network. Ten hosts that replied in earlier checks are asked too. Use it
    /// for an archive whose hosts are all gone. After the first reply of the run it has no effect.
    #[arg(long, help_heading = SERVER)]
    pub(crate) accept_unreachable: bool,

    /// Delete results from the future, which a wrong clock made
    ///
    /// Without it they end the check.
    #[arg(long, help_heading = SERVER)]
    pub(crate) forget_future: bool,

    /// Check links again if their result is older (h, d, w)
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "30d",
        help_heading = INPUT)]
    pub(crate) max_age: Duration,

    /// Schemes to check: http and https (together), ftp, gopher
    ///
    /// ftp servers are asked for the file or folder after an anonymous login, gopher servers for
    /// the selector; only the first lines are transferred. The results are in a separate table.
    /// Separate schemes by commas.
    #[arg(long, value_name = "SCHEMES", value_delimiter = ',', value_parser = scheme,
        default_value = "http,https", help_heading = INPUT)]
    pub(crate) schemes: Vec<String>,

    /// Failures that confirm a death [default: the last value used, at first 3]
    ///
    /// A failed link is due again until its death is confirmed, or it replies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        help_heading = INPUT)]
    pub(crate) confirm: Option<u32>,

    /// Time between these failures (h, d, w) [default: the last value used, at first 3d]
    #[arg(long, value_name = "AGE", value_parser = age, help_heading = INPUT)]
    pub(crate) confirm_after: Option<Duration>,

    /// Check at most N links
    ///
    /// Links without a result come first, then unconfirmed deaths, then the oldest results.
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,
}

/// The arguments of `audit status`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditStatusArgs {
    /// Database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Age at which results expire (h, d, w)
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "30d",
        help_heading = INPUT)]
    pub(crate) max_age: Duration,
}

/// The arguments of `audit import`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditImportArgs {
    /// Database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// File of results
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,

    /// Time of the check, such as 2026-11-22; JSON of lychee has none
    ///
    /// With a time of day: 2026-11-22T10:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = check_time, help_heading = INPUT)]
    pub(crate) checked_at: Option<CheckTime>,

    /// Name and version of the CSV's checker [default: imported]
    #[arg(long, value_name = "NAME", value_parser = checker_name, help_heading = INPUT)]
    pub(crate) checker: Option<String>,
}

/// The arguments of `audit archive`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditArchiveArgs {
    /// Database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// CDX server; repeatable, asked in order
    ///
    /// `https://web.archive.org/cdx/search/cdx` is the Wayback Machine,
    /// `http://HOST/COLLECTION/cdx` a pywb.
    #[arg(long, value_name = "URL", required = true, help_heading = SERVER)]
    pub(crate) cdx: Vec<String>,

    /// Maximum requests per minute to a server
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..), help_heading = SERVER)]
    pub(crate) rate: u32,

    /// Ask for at most N links
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,
}

/// The arguments of `audit inspect`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditInspectArgs {
    /// Database with a plan and results of checks
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Also read pages that a robots.txt excludes
    #[arg(long, help_heading = SERVER)]
    pub(crate) ignore_robots: bool,

    /// Inspect pages again if their inspection is older (h, d, w)
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "30d",
        help_heading = INPUT)]
    pub(crate) max_age: Duration,

    /// Inspect at most N links
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,
}

fn scheme(text: &str) -> Result<String, &'static str> {
    match text {
        "http" | "https" | "ftp" | "gopher" => Ok(text.to_owned()),
        _ => Err("write some of http,https,ftp,gopher"),
    }
}

fn check_time(text: &str) -> Result<CheckTime, &'static str> {
    CheckTime::parse(text).ok_or("write it as 2026-11-22 or 2026-11-22T10:00:00Z")
}

fn checker_name(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("write name and version, for example 'linkchecker 10.6'");
    }
    Ok(text.to_owned())
}

fn host(text: &str) -> Result<String, &'static str> {
    host_in_url(text).ok_or(
        "write one name or address, without scheme, port and path; repeat the option for another \
         host",
    )
}

fn age(text: &str) -> Result<Duration, &'static str> {
    options::age(text).ok_or("write a number with h, d or w, for example 30d")
}

/// The arguments of `audit report`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditReportArgs {
    /// Database with an audit
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// File or folder to write; `-` is standard output (only for a page)
    #[arg(short, long, value_name = "PATH", required = true, help_heading = OUTPUT)]
    pub(crate) output: PathBuf,

    /// Output format
    ///
    /// A bag has the page, its tables, seed lists for crawlers, and their SHA-256 sums.
    #[arg(
        long,
        value_parser = named::<ReportFormat>(),
        default_value = ReportFormat::Html.name(),
        help_heading = OUTPUT
    )]
    pub(crate) format: ReportFormat,

    /// Replace existing files that urlspool may not have written
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,

    /// Omit senders and Message-IDs
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_senders: bool,
}

/// The arguments of `audit save`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditSaveArgs {
    /// Database with an audit
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Send the links; without it only their number is printed
    ///
    /// The keys are in `IA_ACCESS_KEY_ID` and `IA_SECRET_ACCESS_KEY`.
    #[arg(long, help_heading = SERVER)]
    pub(crate) send: bool,

    /// Address of Save Page Now or of a service with its API
    #[arg(long, value_name = "URL", default_value = "https://web.archive.org/save",
        help_heading = SERVER)]
    pub(crate) service: String,

    /// Write the links as a list, one per line, without sending them
    #[arg(long, value_parser = save_format(), conflicts_with = "send", help_heading = OUTPUT)]
    pub(crate) format: Option<String>,

    /// Write the list to FILE; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", requires = "format",
        help_heading = OUTPUT)]
    pub(crate) output: PathBuf,

    /// Send or list at most N links
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,
}

/// Parser for the format in which links are handed to a crawler.
fn save_format() -> PossibleValuesParser {
    let meaning = "one URL per line, for crawlers such as Heritrix, Browsertrix and wget -i";
    [PossibleValue::new("seeds").help(meaning)].into()
}
