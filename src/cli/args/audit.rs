//! The arguments of `audit` and its steps.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::values::{count, named};
use super::{GENERAL, INPUT, OUTPUT};
use urlspool_audit::{CheckTime, Exclusion, OldProtocol, StratumKind, host_in_url};
use urlspool_files::config::NamedValue;
use urlspool_files::options;
use urlspool_text::limits::{AUDIT_CHECK_RETRIES, AUDIT_CHECK_SECONDS};

/// Help heading of options about the servers to contact.
const SERVER: &str = "Server";

/// The arguments of `audit`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) step: AuditStep,
}

/// A step of an audit.
#[derive(Subcommand, Debug)]
pub(crate) enum AuditStep {
    /// Plan which links are checked, and print how many are not and why
    ///
    /// Each link is planned once, whatever the number of its citations. Left out are links cited
    /// only in header fields (most of them unsubscribe from a list), with a user name or password,
    /// that ask for an action, that were cut short or read with a confidence below 0.8 (`--force`
    /// plans these too), and those of private or reserved hosts (`--allow-private`). A plan can be
    /// repeated after more was loaded; results are kept.
    Plan(AuditPlanArgs),
    /// Check the planned links that are due, and store what their servers answer
    ///
    /// Links are checked in batches of 500, each stored when it is complete; after an interruption the
    /// check goes on from there. A host is asked for one link at a time, with pauses of half a second.
    /// Only public addresses are connected to, also at the end of redirects.
    Check(AuditCheckArgs),
    /// Print what is planned, checked and due, and how long it takes
    ///
    /// Links whose death is not confirmed are due again before their results are old. The time is that
    /// of the pace of the last check. Nothing is contacted, and the database is not changed.
    Status(AuditStatusArgs),
    /// Import results of checks: the JSON of lychee, or CSV of any checker
    ///
    /// CSV has a first line with the columns `url`, `status` and `checked_at`, and may have
    /// `final_url` and `error`. A status is an HTTP code, or empty with an error of dns, connect,
    /// timeout, tls or other. Times before 1990 or more than 24 hours ahead are refused. A result
    /// that was imported before is not added again.
    Import(AuditImportArgs),
    /// Ask archives for the captures of the planned links that are nearest to their first citations
    ///
    /// A CDX server is the index of a web archive: the Wayback Machine has one, and so has pywb. The
    /// servers are asked in the order of the options, until one has a capture. Dead links come first.
    /// Each answer is stored when it comes; after an interruption the questions go on from there. The
    /// questions end if the server refuses five times in a row.
    Archive(AuditArchiveArgs),
    /// Read the pages of links that answer, and store what can be shown: a soft 404, a parked domain, a
    /// move to the front page or to another domain
    ///
    /// Each host is asked once a second at most, and once for a path that cannot exist; pages that a
    /// robots.txt excludes are not read. The states of `check` stay as they are.
    Inspect(AuditInspectArgs),
    /// Hand links that live and that no archive holds to a save service, or list them for a crawler
    ///
    /// Sent are links that were alive at their newest check, and that no archive that was asked has;
    /// never those of private hosts, with a password, that ask for an action, or that are cited only
    /// in header fields. Nothing is sent without `--send`, since it publishes links of the archive.
    /// After an interruption it goes on from there.
    Save(AuditSaveArgs),
    /// Write a report: one HTML file without outside resources, and CSV files, alone or in a bag
    ///
    /// Links by year of their first citation, host, domain, list and scheme; survival and
    /// half-life; archived and lost links; the most cited dead links with where they were cited and
    /// their snapshots; the method in words. The same database gives the same files.
    Report(AuditReportArgs),
}

/// The arguments of `audit plan`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditPlanArgs {
    /// The database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Plan a sample of N links, equally divided among the strata
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) sample: Option<u64>,

    /// The strata of the sample
    #[arg(long, value_parser = named::<StratumKind>(), default_value = StratumKind::Year.name(), requires = "sample", help_heading = INPUT)]
    pub(crate) by: StratumKind,

    /// Seed of the sample: the same seed gives the same links
    #[arg(long, value_name = "S", default_value_t = 0, requires = "sample", help_heading = INPUT)]
    pub(crate) seed: u64,

    /// Plan links of this kind too, which are left out as a precaution
    #[arg(long, value_name = "REASON", value_parser = named::<Exclusion>(), help_heading = INPUT)]
    pub(crate) force: Vec<Exclusion>,

    /// Plan links of this host although it is private; `check` contacts it then
    #[arg(long, value_name = "HOST", value_parser = host, help_heading = INPUT)]
    pub(crate) allow_private: Vec<String>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// The arguments of `audit check`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditCheckArgs {
    /// The database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Wait at most N seconds for the answer of a link, with all its redirects
    #[arg(long, value_name = "N", default_value_t = AUDIT_CHECK_SECONDS, value_parser = clap::value_parser!(u64).range(1..), help_heading = SERVER)]
    pub(crate) timeout: u64,

    /// Ask N times again for a link that fails with 408, 429 or 5xx, or is not answered, with pauses
    /// that double from one second
    #[arg(long, value_name = "N", default_value_t = AUDIT_CHECK_RETRIES, value_parser = clap::value_parser!(u32).range(..10), help_heading = SERVER)]
    pub(crate) retries: u32,

    /// Contact this host, a name or an address, although it is private; those of the plan need no
    /// option
    #[arg(long, value_name = "HOST", value_parser = host, help_heading = SERVER)]
    pub(crate) allow_private: Vec<String>,

    /// Store results although no server replied, as if this machine had no network
    ///
    /// Without it nothing is stored of a batch in which none of ten or more hosts replied, those
    /// included that replied in earlier checks and are asked again. It is meant for an archive
    /// whose hosts are all gone, so it holds until the first reply of the run: a silence after that
    /// ends the check.
    #[arg(long, help_heading = SERVER)]
    pub(crate) accept_unreachable: bool,

    /// Delete results of the future, which a wrong clock made; without it they end the check
    #[arg(long, help_heading = SERVER)]
    pub(crate) forget_future: bool,

    /// Check links again whose last result is older: a number with h, d or w for hours, days or
    /// weeks
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "30d", help_heading = INPUT)]
    pub(crate) max_age: Duration,

    /// Check links of these schemes, separated by commas: http and https, which are checked together,
    /// ftp, gopher
    ///
    /// ftp servers are asked for the file or folder after an anonymous login, gopher servers for the
    /// selector; nothing is transferred but the first lines. The results are in a table of their own.
    #[arg(long, value_name = "SCHEMES", value_delimiter = ',', value_parser = scheme, default_value = "http,https", help_heading = INPUT)]
    pub(crate) schemes: Vec<CheckedScheme>,

    /// Mail address or page by which the owners of the servers can reach you: part of the User-Agent,
    /// and the password of anonymous ftp
    #[arg(long, value_name = "CONTACT", help_heading = SERVER)]
    pub(crate) contact: Option<String>,

    /// Failures that confirm the death of a link; without it those of the last check, and 3 at first
    ///
    /// A link that failed is due again until its death is confirmed, or it replies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = INPUT)]
    pub(crate) confirm: Option<u32>,

    /// Time between these failures: a number with h, d or w; without it that of the last check, and 3d
    /// at first
    #[arg(long, value_name = "AGE", value_parser = age, help_heading = INPUT)]
    pub(crate) confirm_after: Option<Duration>,

    /// Check at most N links: first those without a result, then those whose death is to be confirmed,
    /// then those whose last result is oldest
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// The arguments of `audit status`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditStatusArgs {
    /// The database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Age from which results are old: a number with h, d or w for hours, days or weeks
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "30d", help_heading = INPUT)]
    pub(crate) max_age: Duration,
}

/// The arguments of `audit import`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditImportArgs {
    /// The database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// The file of results
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,

    /// Time of the check, for the JSON of lychee, which does not hold it: 2026-11-22, or
    /// 2026-11-22T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = check_time, help_heading = INPUT)]
    pub(crate) checked_at: Option<CheckTime>,

    /// Name and version of the checker that wrote the CSV, for the report; without it the report
    /// names it `imported`
    #[arg(long, value_name = "NAME", value_parser = checker_name, help_heading = INPUT)]
    pub(crate) checker: Option<String>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// The arguments of `audit archive`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditArchiveArgs {
    /// The database with a plan
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// The CDX server: `https://web.archive.org/cdx/search/cdx`, or `http://HOST/COLLECTION/cdx` of
    /// pywb; several are asked in order
    #[arg(long, value_name = "URL", required = true, help_heading = SERVER)]
    pub(crate) cdx: Vec<String>,

    /// Mail address or page by which the owners of the server can reach you; part of the User-Agent
    #[arg(long, value_name = "CONTACT", required = true, help_heading = SERVER)]
    pub(crate) contact: String,

    /// Ask a server at most N times a minute
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..), help_heading = SERVER)]
    pub(crate) rate: u32,

    /// Ask for at most N links
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// The arguments of `audit inspect`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditInspectArgs {
    /// The database with a plan and results of checks
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Mail address or page by which the owners of the servers can reach you; part of the
    /// User-Agent
    #[arg(long, value_name = "CONTACT", required = true, help_heading = SERVER)]
    pub(crate) contact: String,

    /// Read pages that a robots.txt excludes too
    #[arg(long, help_heading = SERVER)]
    pub(crate) ignore_robots: bool,

    /// Contact this host, a name or an address, although it is private; those of the plan need no
    /// option
    #[arg(long, value_name = "HOST", value_parser = host, help_heading = SERVER)]
    pub(crate) allow_private: Vec<String>,

    /// Inspect pages again whose last inspection is older: a number with h, d or w for hours, days
    /// or weeks
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "30d", help_heading = INPUT)]
    pub(crate) max_age: Duration,

    /// Inspect at most N links
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// A scheme of `--schemes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedScheme {
    Http,
    Https,
    Old(OldProtocol),
}

fn scheme(text: &str) -> Result<CheckedScheme, &'static str> {
    match text {
        "http" => Ok(CheckedScheme::Http),
        "https" => Ok(CheckedScheme::Https),
        _ => OldProtocol::of_scheme(text)
            .map(CheckedScheme::Old)
            .ok_or("write some of http,https,ftp,gopher"),
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
        "write one name or address, without scheme, port and path; give the option again for \
         another host",
    )
}

fn age(text: &str) -> Result<Duration, &'static str> {
    options::age(text).ok_or("write a number with h, d or w, for example 30d")
}

/// The arguments of `audit report`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditReportArgs {
    /// The database with the audit
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Write the report to FILE, which is replaced when it is complete; `-` is standard output
    #[arg(short, long, value_name = "FILE", required = true, help_heading = OUTPUT)]
    pub(crate) output: PathBuf,

    /// Write CSV files into FOLDER, which is created if it is missing
    #[arg(long, value_name = "FOLDER", help_heading = OUTPUT)]
    pub(crate) csv: Option<PathBuf>,

    /// Write a BagIt bag into FOLDER, which must be new: the report, its CSV files, lists of seeds for
    /// crawlers, and their SHA-256
    #[arg(long, value_name = "FOLDER", conflicts_with = "csv", help_heading = OUTPUT)]
    pub(crate) bundle: Option<PathBuf>,

    /// Replace existing files, also those that do not show that urlspool wrote them
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,

    /// Name neither senders nor Message-IDs
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_senders: bool,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// The arguments of `audit save`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditSaveArgs {
    /// The database with an audit
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Send the links, with the keys in `IA_ACCESS_KEY_ID` and `IA_SECRET_ACCESS_KEY`; without it
    /// only their number is printed
    #[arg(long, requires = "contact", help_heading = SERVER)]
    pub(crate) send: bool,

    /// The address of the service: Save Page Now of the Internet Archive, or one with its API
    #[arg(long, value_name = "URL", default_value = "https://web.archive.org/save", help_heading = SERVER)]
    pub(crate) service: String,

    /// Mail address or page by which the owners of the service can reach you; part of the User-Agent
    #[arg(long, value_name = "CONTACT", help_heading = SERVER)]
    pub(crate) contact: Option<String>,

    /// Write the links as a list, one a line, and send nothing
    #[arg(long = "as", value_name = "FORM", value_parser = save_form(), conflicts_with = "send", help_heading = OUTPUT)]
    pub(crate) form: Option<String>,

    /// Write the list to FILE; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", requires = "form", help_heading = OUTPUT)]
    pub(crate) output: PathBuf,

    /// Send at most N links
    #[arg(long, value_name = "N", value_parser = count::<u64>, help_heading = INPUT)]
    pub(crate) limit: Option<u64>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// Parser for the form in which links are handed to a crawler.
fn save_form() -> PossibleValuesParser {
    let meaning = "a URL a line, for crawlers such as Heritrix, Browsertrix and wget -i";
    [PossibleValue::new("seeds").help(meaning)].into()
}
