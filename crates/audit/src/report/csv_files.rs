//! The CSV files: complete tables, and the data of the curves.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::{Serialize, Serializer};

use super::SenderPolicy;
use super::figures::{Shares, Tallies, Tally, by_links};
use super::links::{AuditedLink, CitedLink};
use super::page::PageContent;
use crate::AuditError;
use crate::database::AuditDb;
use crate::state::{LinkState, PageState};
use urlspool_files::sink::{OutputError, TableFolder};
use urlspool_store::page::{TableFiles, TableText as Text};

/// A file with the rows of a query.
struct QueryTable {
    file: &'static str,
    /// Columns of the file and of the query.
    columns: &'static str,
    /// Tables, conditions and order of the query.
    from: &'static str,
}

/// File with a row for each inspected link.
const PAGES: QueryTable = QueryTable {
    file: "pages.csv",
    columns: "url,state,evidence,status,error,final_url,inspected_at",
    from: "audit_pages WHERE key IN (SELECT key FROM audit_links WHERE planned) ORDER BY key",
};

/// File with a row for each link of an old protocol.
const OLD_PROTOCOLS: QueryTable = QueryTable {
    file: "old-protocols.csv",
    columns: "url,scheme,state,reply,error,checked_at",
    from: "audit_protocols WHERE scheme IN ('ftp', 'gopher')
      AND key IN (SELECT key FROM audit_links) ORDER BY key",
};

/// File with a row for each URL submitted to a save service. Snapshots are at `/web/` next to
/// `/save`, as at the Internet Archive.
const SAVES: QueryTable = QueryTable {
    file: "saves.csv",
    columns: "url,service,sent_at,outcome,timestamp,snapshot,message",
    from: "(SELECT *, iif(address LIKE '%/save',
        substr(address, 1, length(address) - 4) || 'web/' || timestamp || '/' || url, NULL) \
        AS snapshot
      FROM (SELECT *, rtrim(service, '/') AS address FROM audit_saves))
      ORDER BY url",
};

/// Columns of [`counts`].
const COUNTS: &str = "links,{states},archived";

/// Columns of confirmed dead links: their number, their share and its interval.
const CONFIRMED: &str = "confirmed,confirmed_share,confirmed_low,confirmed_high,\
    confirmed_hosts_share,confirmed_hosts_low,confirmed_hosts_high";

/// Columns of the share of dead links and its interval.
const DEAD_SHARE: &str =
    "dead_share,dead_low,dead_high,dead_hosts_share,dead_hosts_low,dead_hosts_high";

const DEAD_LINKS: &str = "dead-links.csv";

const CITATIONS: &str = "citations.csv";

/// The files and their columns.
#[rustfmt::skip]
const TABLES: [(&str, &[&str]); 18] = [
    (DEAD_LINKS, &[
        "url,state,result,checked_at,citations,messages,first_cited,last_cited,list",
        "archive,snapshot,failures,confirmed,form",
    ]),
    ("cohorts-by-year.csv", &["year", COUNTS, "confirmed"]),
    ("shares-by-year.csv", &[
        "year,population,known,dead",
        DEAD_SHARE,
        "dead_archived,lost,not_asked,lost_share,lost_low,lost_high",
        "lost_hosts_share,lost_hosts_low,lost_hosts_high",
        CONFIRMED,
        "safe,at_risk",
    ]),
    ("by-scheme.csv", &["scheme", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-tld.csv", &["tld", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-domain.csv", &["domain", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-host.csv", &["host", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-list.csv", &["list", COUNTS, DEAD_SHARE, CONFIRMED]),
    ("by-age.csv", &[
        "age_years",
        COUNTS,
        "surviving_share,surviving_low,surviving_high",
        "surviving_hosts_share,surviving_hosts_low,surviving_hosts_high",
    ]),
    ("survival.csv", &["end,age_months,survival"]),
    ("lifetimes.csv", &["end,after_months,until_months,weight"]),
    ("dead-protocols.csv", &["year,gopher,wais,prospero,telnet"]),
    ("exclusions.csv", &["reason,links"]),
    (PAGES.file, &[PAGES.columns]),
    ("pages-by-year.csv", &["year,{pages}"]),
    (OLD_PROTOCOLS.file, &[OLD_PROTOCOLS.columns]),
    (SAVES.file, &[SAVES.columns]),
    (CITATIONS, &["url,date,subject,anchor,list,place"]),
];

/// Columns of [`CITATIONS`] that are written if senders are named.
const SENDERS: &str = "sender,message_id";

/// Names of the two definitions of an end, used in the first column of survival and lifetimes.
const ENDS: [&str; 2] = ["dead", "dead_or_redirected"];

/// Returns the names of the files.
pub(super) fn names() -> [&'static str; TABLES.len()] {
    TABLES.map(|(name, _)| name)
}

/// Returns the names of the files and the columns that each file starts with.
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

/// The files of a folder, created before the database is read.
pub(super) struct CsvFiles {
    files: TableFiles,
    senders: SenderPolicy,
}

impl CsvFiles {
    /// Creates all files with their header rows.
    pub(super) fn create(
        folder: &TableFolder,
        senders: SenderPolicy,
    ) -> Result<CsvFiles, OutputError> {
        let files = TableFiles::create(folder, columns(senders))?;
        Ok(CsvFiles { files, senders })
    }

    pub(super) fn add_dead_link(&mut self, link: &AuditedLink) -> Result<(), OutputError> {
        let (result, snapshot) = (link.result(), link.snapshot());
        let form = link.capture.as_ref().map(|capture| &capture.form);
        let row = (
            Text(&link.url),
            link.state().name(),
            Text(&result),
            Text(link.checked_at()),
            link.citations,
            link.messages,
            link.first_cited.as_deref().map(Text),
            link.last_cited.as_deref().map(Text),
            Text(&link.list),
            (link.archive().name(), snapshot.as_deref().map(Text)),
            (link.failures, u8::from(link.is_confirmed)),
            form,
        );
        self.files.write(DEAD_LINKS, [row])
    }

    /// Writes the files that contain the rows of a query.
    pub(super) fn write_queries(&mut self, audit: &AuditDb) -> Result<(), AuditError> {
        for table in [PAGES, OLD_PROTOCOLS, SAVES] {
            let sql = format!("SELECT {} FROM {}", table.columns, table.from);
            audit.for_each_row(&sql, [], |row| {
                let cells = (0..row.as_ref().column_count()).map(|column| cell(row, column));
                let cells: Vec<_> = audit.named(cells.collect())?;
                Ok(self.files.write(table.file, [cells])?)
            })?;
        }
        Ok(())
    }

    /// Writes all files that do not list single links.
    pub(super) fn write_all(&mut self, content: &PageContent) -> Result<(), OutputError> {
        let figures = &content.figures;
        let years = figures.years.iter();
        let cohorts = years.map(|(year, tally)| (Text(year), counts(tally), tally.confirmed));
        self.files.write("cohorts-by-year.csv", cohorts)?;
        let (populations, none) = (figures.populations.iter(), Tally::default());
        let by_year = populations.map(|(year, population)| {
            let tally = figures.years.get(year).unwrap_or(&none);
            (
                (Text(year), population, tally.known(), tally.dead()),
                shares(tally.dead_shares()),
                (tally.dead_archived, tally.lost, tally.unanswered()),
                shares(tally.lost_shares()),
                confirmed(tally),
                (tally.safe, tally.at_risk),
            )
        });
        self.files.write("shares-by-year.csv", by_year)?;
        self.write_group("by-scheme.csv", &figures.schemes)?;
        self.write_group("by-tld.csv", &figures.tlds)?;
        self.write_group("by-domain.csv", &figures.domains)?;
        self.write_group("by-host.csv", &figures.hosts)?;
        self.write_group("by-list.csv", &figures.lists)?;
        let ages = figures.ages.by_year.iter();
        let ages = ages.map(|(years, age)| {
            let surviving = shares(age.tally.surviving_shares());
            (years, counts(&age.tally), surviving)
        });
        self.files.write("by-age.csv", ages)?;
        let protocols = figures.protocols.iter();
        let protocols = protocols.map(|(year, counts)| (Text(year), counts));
        self.files.write("dead-protocols.csv", protocols)?;
        let excluded = figures.excluded.iter();
        let excluded = excluded.map(|(reason, links)| (Text(reason), links));
        self.files.write("exclusions.csv", excluded)?;
        self.files
            .write("pages-by-year.csv", content.pages.rows())?;
        self.write_survival(content)?;
        self.write_citations(&content.most_cited)
    }

    /// Completes all files and gives them their final names.
    pub(super) fn finish(self) -> Result<(), OutputError> {
        self.files.finish()
    }

    fn write_group(&mut self, name: &str, tallies: &Tallies) -> Result<(), OutputError> {
        let rows = by_links(tallies).into_iter().map(|(name, tally)| {
            let shares = (shares(tally.dead_shares()), confirmed(tally));
            (Text(name), counts(tally), shares)
        });
        self.files.write(name, rows)
    }

    fn write_survival(&mut self, content: &PageContent) -> Result<(), OutputError> {
        let survival = content.survival.iter();
        let curves = survival.flat_map(|both| [&both.dead.curve, &both.strict.curve]);
        let rows = ENDS.into_iter().zip(curves).flat_map(|(end, curve)| {
            let ages = curve.ages.iter();
            ages.map(move |one| (end, format!("{:.0}", one.age), Number(one.survival)))
        });
        self.files.write("survival.csv", rows)?;
        let ages = &content.figures.ages;
        let lifetimes = ENDS
            .into_iter()
            .zip([&ages.lifetimes, &ages.strict_lifetimes]);
        let lifetimes = lifetimes.flat_map(|(end, lifetimes)| {
            let lifetimes = lifetimes.distinct().into_iter();
            lifetimes.map(move |(life, weight)| (end, life.after, life.until, Number(weight)))
        });
        self.files.write("lifetimes.csv", lifetimes)
    }

    fn write_citations(&mut self, links: &[CitedLink]) -> Result<(), OutputError> {
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
        self.files.write(CITATIONS, rows)
    }
}

/// Returns the cells of [`COUNTS`].
fn counts(tally: &Tally) -> (u64, [u64; LinkState::ALL.len()], u64) {
    let states = LinkState::ALL.map(|state| tally.count(state));
    (tally.links(), states, tally.archived)
}

/// Returns the cells of [`CONFIRMED`].
fn confirmed(tally: &Tally) -> (u64, [[Option<Number>; 3]; 2]) {
    (tally.confirmed, shares(tally.confirmed_shares()))
}

/// Returns the cells of a share and the ends of its interval, for links and for hosts.
fn shares(shares: Shares) -> [[Option<Number>; 3]; 2] {
    [shares.links, shares.hosts].map(|share| {
        let interval = share.and_then(|share| share.interval);
        [
            share.map(|share| Number(share.share)),
            interval.map(|ends| Number(ends.low)),
            interval.map(|ends| Number(ends.high)),
        ]
    })
}

/// A cell in a row of a query.
#[derive(Serialize)]
#[serde(untagged)]
enum QueryCell<'r> {
    Empty(Option<()>),
    Number(i64),
    Text(Text<'r>),
}

fn cell<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<QueryCell<'r>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => QueryCell::Empty(None),
        ValueRef::Integer(number) => QueryCell::Number(number),
        value => QueryCell::Text(Text(value.as_str()?)),
    })
}

/// A number with six decimal places.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, cell: S) -> Result<S::Ok, S::Error> {
        cell.collect_str(&format_args!("{:.6}", self.0))
    }
}
