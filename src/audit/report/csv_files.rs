//! The CSV files: all rows of the tables, and what the curves are made from.

use serde::{Serialize, Serializer};

use super::SenderPolicy;
use super::figures::{Shares, Tally, TallyMap};
use super::links::{ArchiveAnswer, CitedLink, DeadLink, Place, ReplacedLink};
use super::old_protocols::OLD_PROTOCOLS;
use super::page::PageContent;
use super::pages::{PAGES, PAGES_BY_YEAR};
use super::query_table::QueryTable;
use super::saves::SAVES;
use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::page_state::PageState;
use crate::audit::state::LinkState;
use crate::audit::statistics::Share;
use crate::sink::{TableFiles, TableFolder, TableText as Text};

const QUERIES: [QueryTable; 3] = [PAGES, OLD_PROTOCOLS, SAVES];

/// Columns of [`counts`].
const COUNTS: &str = "links,{states},archived";

/// Columns of the deaths that are confirmed: their number, their share and its interval.
const CONFIRMED: &str = "confirmed,confirmed_share,confirmed_low,confirmed_high,\
    confirmed_hosts_share,confirmed_hosts_low,confirmed_hosts_high";

/// Columns of the share of dead links and its interval.
const DEAD_SHARE: &str =
    "dead_share,dead_low,dead_high,dead_hosts_share,dead_hosts_low,dead_hosts_high";

const DEAD_LINKS: &str = "dead-links.csv";

const CITATIONS: &str = "citations.csv";

const REPLACEMENTS: &str = "replacements.csv";

/// The files, each with its columns.
const TABLES: [(&str, &[&str]); 19] = [
    (
        DEAD_LINKS,
        &[
            "url,state,result,checked_at,citations,messages,first_cited,last_cited,list",
            "archive,snapshot,failures,confirmed,form",
        ],
    ),
    ("cohorts-by-year.csv", &["year", COUNTS, "confirmed"]),
    (
        "shares-by-year.csv",
        &[
            "year,population,known,dead",
            DEAD_SHARE,
            "dead_archived,lost,not_asked,lost_share,lost_low,lost_high",
            "lost_hosts_share,lost_hosts_low,lost_hosts_high",
            CONFIRMED,
        ],
    ),
    ("by-scheme.csv", &["scheme", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-tld.csv", &["tld", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-domain.csv", &["domain", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-host.csv", &["host", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-list.csv", &["list", COUNTS, DEAD_SHARE, CONFIRMED]),
    (
        "by-age.csv",
        &[
            "age_years",
            COUNTS,
            "surviving_share,surviving_low,surviving_high",
            "surviving_hosts_share,surviving_hosts_low,surviving_hosts_high",
        ],
    ),
    ("survival.csv", &["end,age_months,survival"]),
    ("lifetimes.csv", &["end,after_months,until_months,weight"]),
    ("dead-protocols.csv", &["year,gopher,wais,prospero,telnet"]),
    ("exclusions.csv", &["reason,links"]),
    (
        REPLACEMENTS,
        &["url,state,confirmed,written,place,cited,snapshot_time,snapshot"],
    ),
    (PAGES.file, &[PAGES.columns]),
    (PAGES_BY_YEAR, &["year,{pages}"]),
    (OLD_PROTOCOLS.file, &[OLD_PROTOCOLS.columns]),
    (SAVES.file, &[SAVES.columns]),
    (CITATIONS, &["url,date,subject,anchor,list,place"]),
];

/// Columns of [`CITATIONS`] that are written if senders are named.
const SENDERS: &str = "sender,message_id";

/// The names of the two definitions of an end, in the first column of survival and lifetimes.
const ENDS: [&str; 2] = ["dead", "dead_or_redirected"];

/// Returns the names of the files.
pub(super) fn names() -> [&'static str; TABLES.len()] {
    TABLES.map(|(name, _)| name)
}

/// Returns the names of the files, and the columns that each begins with.
pub(super) fn headers() -> [(&'static str, String); TABLES.len()] {
    let states = LinkState::ALL.map(LinkState::name).join(",");
    let pages = PageState::ALL.map(PageState::name).join(",");
    TABLES.map(|(name, columns)| {
        let columns = columns.join(",").replace("{states}", &states);
        (name, columns.replace("{pages}", &pages))
    })
}

/// Returns the names of the files and all their columns.
fn columns(senders: SenderPolicy) -> impl Iterator<Item = (&'static str, String)> {
    headers().into_iter().map(move |(name, mut columns)| {
        if name == CITATIONS && senders == SenderPolicy::Named {
            columns = columns + "," + SENDERS;
        }
        (name, columns)
    })
}

/// The files of a folder, begun before the database is read.
pub(super) struct CsvFiles {
    files: TableFiles,
    senders: SenderPolicy,
}

impl CsvFiles {
    /// Begins all files with their columns.
    pub(super) fn create(
        folder: &TableFolder,
        senders: SenderPolicy,
    ) -> Result<CsvFiles, AuditError> {
        let files = TableFiles::create(folder, columns(senders))?;
        Ok(CsvFiles { files, senders })
    }

    pub(super) fn add_dead_link(&mut self, link: &DeadLink) -> Result<(), AuditError> {
        let archive = match link.archive {
            ArchiveAnswer::Captured => "captured",
            ArchiveAnswer::None => "none",
            ArchiveAnswer::Unknown => "unknown",
        };
        let row = (
            Text(&link.url),
            link.state.name(),
            Text(&link.result),
            Text(&link.checked_at),
            link.citations,
            link.messages,
            link.first_cited.as_deref().map(Text),
            link.last_cited.as_deref().map(Text),
            Text(&link.list),
            (archive, link.snapshot.as_deref().map(Text)),
            (link.failures, u8::from(link.is_confirmed)),
            link.form.as_deref(),
        );
        self.write(DEAD_LINKS, [row])
    }

    /// Adds a place where a link stands, and the snapshot that can replace it.
    pub(super) fn add_replacement(
        &mut self,
        link: &ReplacedLink<'_>,
        place: &Place,
    ) -> Result<(), AuditError> {
        let row = (
            Text(link.url),
            link.state.name(),
            u8::from(link.is_confirmed),
            Text(&place.written),
            Text(&place.location),
            place.cited.as_deref().map(Text),
            &link.snapshot_time,
            Text(&link.snapshot),
        );
        self.write(REPLACEMENTS, [row])
    }

    /// Writes the files of [`QUERIES`].
    pub(super) fn write_queries(&mut self, audit: &AuditDb) -> Result<(), AuditError> {
        for table in QUERIES {
            table.for_each(audit, |row| self.write(table.file, [row]))?;
        }
        Ok(())
    }

    /// Writes all files except those of single links.
    pub(super) fn write_all(&mut self, content: &PageContent) -> Result<(), AuditError> {
        let figures = &content.figures;
        let years = figures.years.iter();
        let cohorts = years.map(|(year, tally)| (Text(year), counts(tally), tally.confirmed));
        self.write("cohorts-by-year.csv", cohorts)?;
        let (populations, none) = (figures.populations.iter(), Tally::default());
        let by_year = populations.map(|(year, population)| {
            let tally = figures.years.get(year).unwrap_or(&none);
            (
                (Text(year), population, tally.known(), tally.dead()),
                shares(tally.dead_shares()),
                (tally.dead_archived, tally.lost, tally.unanswered()),
                shares(tally.lost_shares()),
                confirmed(tally),
            )
        });
        self.write("shares-by-year.csv", by_year)?;
        self.write_group("by-scheme.csv", &figures.groups.schemes)?;
        self.write_group("by-tld.csv", &figures.groups.tlds)?;
        self.write_group("by-domain.csv", &figures.groups.domains)?;
        self.write_group("by-host.csv", &figures.groups.hosts)?;
        self.write_group("by-list.csv", &figures.groups.lists)?;
        let ages = figures.ages.by_year.iter();
        let ages = ages.map(|(years, age)| {
            let surviving = shares(age.tally.surviving_shares());
            (years, counts(&age.tally), surviving)
        });
        self.write("by-age.csv", ages)?;
        let protocols = figures.protocols.iter();
        let protocols = protocols.map(|(year, counts)| (Text(year), counts));
        self.write("dead-protocols.csv", protocols)?;
        let excluded = figures.excluded.iter();
        let excluded = excluded.map(|(reason, links)| (Text(reason), links));
        self.write("exclusions.csv", excluded)?;
        self.write(PAGES_BY_YEAR, content.pages.rows())?;
        self.write_survival(content)?;
        self.write_citations(&content.most_cited)
    }

    /// Gives all files their names.
    pub(super) fn finish(self) -> Result<(), AuditError> {
        Ok(self.files.finish()?)
    }

    fn write<R: Serialize>(
        &mut self,
        name: &str,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), AuditError> {
        Ok(self.files.write(name, rows)?)
    }

    fn write_group(&mut self, name: &str, groups: &TallyMap) -> Result<(), AuditError> {
        let groups = groups.sorted().into_iter();
        let rows = groups.map(|(name, tally)| {
            let shares = (shares(tally.dead_shares()), confirmed(tally));
            (Text(name), counts(tally), shares)
        });
        self.write(name, rows)
    }

    fn write_survival(&mut self, content: &PageContent) -> Result<(), AuditError> {
        let curves = content
            .survival
            .iter()
            .flat_map(|both| [&both.dead.curve, &both.strict.curve]);
        let rows = ENDS.into_iter().zip(curves).flat_map(|(end, curve)| {
            let ages = curve.ages.iter();
            ages.map(move |one| (end, format!("{:.0}", one.age), Number(one.survival)))
        });
        self.write("survival.csv", rows)?;
        let ages = &content.figures.ages;
        let lifetimes = ENDS
            .into_iter()
            .zip([&ages.lifetimes, &ages.strict_lifetimes]);
        let lifetimes = lifetimes.flat_map(|(end, lifetimes)| {
            let lifetimes = lifetimes.distinct().into_iter();
            lifetimes.map(move |(life, weight)| (end, life.after, life.until, Number(weight)))
        });
        self.write("lifetimes.csv", lifetimes)
    }

    fn write_citations(&mut self, links: &[CitedLink]) -> Result<(), AuditError> {
        let are_named = self.senders == SenderPolicy::Named;
        let rows = links.iter().flat_map(|link| {
            link.citations.iter().map(move |citation| {
                let mut cells = vec![
                    Some(Text(&link.link.url)),
                    citation.date.as_deref().map(Text),
                    citation.subject.as_deref().map(Text),
                    citation.anchor.as_deref().map(Text),
                    citation.list.as_deref().map(Text),
                    Some(Text(&citation.place)),
                ];
                if are_named {
                    cells.extend([
                        citation.sender.as_deref().map(Text),
                        citation.message_id.as_deref().map(Text),
                    ]);
                }
                cells
            })
        });
        self.write(CITATIONS, rows)
    }
}

/// Returns the cells of [`COUNTS`].
fn counts(tally: &Tally) -> (u64, [u64; LinkState::ALL.len()], u64) {
    let states = LinkState::ALL.map(|state| tally.count(state));
    (tally.links(), states, tally.archived)
}

/// Returns the cells of [`CONFIRMED`].
fn confirmed(tally: &Tally) -> (u64, [Option<Number>; 6]) {
    (tally.confirmed, shares(tally.confirmed_shares()))
}

/// Returns the cells of a share and the ends of its interval, among links and among hosts.
fn shares(shares: Shares) -> [Option<Number>; 6] {
    let interval = |share: Option<Share>| share.and_then(|share| share.interval);
    let (links, hosts) = (interval(shares.links), interval(shares.hosts));
    [
        shares.links.map(|share| Number(share.share)),
        links.map(|ends| Number(ends.low)),
        links.map(|ends| Number(ends.high)),
        shares.hosts.map(|share| Number(share.share)),
        hosts.map(|ends| Number(ends.low)),
        hosts.map(|ends| Number(ends.high)),
    ]
}

/// A number with six decimal places.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, cell: S) -> Result<S::Ok, S::Error> {
        cell.collect_str(&format_args!("{:.6}", self.0))
    }
}
