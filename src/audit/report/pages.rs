//! The states of the pages of living links in a report: a chart and tables beside those of the
//! fixed states, and CSV.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rusqlite::Row;
use serde::Serialize;

use super::links::Provenance;
use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::page_state::PageState;
use crate::diagnostic::counted;
use crate::limits::REPORT_GROUPS;
use crate::page::charts::{BarRow, BarScale, BarSeries, bars};
use crate::page::html::{Cell, number_column, table, text_column};
use crate::sink::TableText as Text;

/// The file with a row for each inspected link.
pub(super) const PAGES: &str = "pages.csv";

/// Its columns.
pub(super) const PAGES_COLUMNS: &str = "url,state,evidence,status,error,final_url,inspected_at";

/// The file with a row for each year.
pub(super) const PAGES_BY_YEAR: &str = "pages-by-year.csv";

/// Inspected links by state, in the order of [`PageState::ALL`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageTally {
    counts: [u64; PageState::ALL.len()],
    /// The links of the population that these stand for.
    weights: [f64; PageState::ALL.len()],
}

impl PageTally {
    fn add(&mut self, state: PageState, weight: f64) {
        self.counts[state as usize] += 1;
        self.weights[state as usize] += weight;
    }

    /// The number of links whose page was judged.
    fn judged(&self) -> u64 {
        BARS.iter()
            .map(|(state, _)| self.counts[*state as usize])
            .sum()
    }

    /// The share of a state among the links whose page was judged.
    fn share(&self, state: PageState) -> f64 {
        let judged: f64 = BARS
            .iter()
            .map(|(state, _)| self.weights[*state as usize])
            .sum();
        if judged <= 0.0 {
            return 0.0;
        }
        self.weights[state as usize] / judged
    }
}

/// An inspected link that the report names.
#[derive(Clone, Debug)]
struct NamedPage {
    url: String,
    state: PageState,
    evidence: String,
}

/// The inspected links of an audit.
#[derive(Clone, Debug, Default)]
pub(super) struct PageFigures {
    by_year: BTreeMap<String, PageTally>,
    total: PageTally,
    /// The first links that readers would not find as they were cited.
    named: Vec<NamedPage>,
    /// Number of such links.
    lost: u64,
}

/// A row of [`PAGES`].
#[derive(Serialize)]
pub(super) struct PageRow<'r> {
    url: Text<'r>,
    state: &'r str,
    evidence: Text<'r>,
    status: Option<i64>,
    error: Option<&'r str>,
    final_url: Option<Text<'r>>,
    inspected_at: &'r str,
}

const SQL: &str = "
SELECT links.url, pages.state, pages.evidence, pages.status, pages.error, pages.final_url,
  pages.inspected_at, links.year, links.stratum
FROM audit_pages AS pages JOIN audit_links AS links USING(key)
WHERE links.planned ORDER BY pages.key";

impl PageFigures {
    /// Reads the inspected links. `each` gets the row of each for [`PAGES`].
    pub(super) fn read(
        audit: &AuditDb,
        origin: &Provenance,
        mut each: impl FnMut(&PageRow<'_>) -> Result<(), AuditError>,
    ) -> Result<PageFigures, AuditError> {
        let mut figures = PageFigures::default();
        let exists = "SELECT 1 FROM sqlite_master WHERE name = 'audit_pages'";
        if audit.rows(exists, [], |_| Ok(()))?.is_empty() {
            return Ok(figures);
        }
        let mut statement = audit.named(audit.db.prepare(SQL))?;
        let mut rows = audit.named(statement.query([]))?;
        while let Some(row) = audit.named(rows.next())? {
            let page = audit.named(ReadPage::of(row))?;
            figures.add(&page, origin.weight(page.stratum));
            each(&page.row)?;
        }
        Ok(figures)
    }

    fn add(&mut self, page: &ReadPage<'_>, weight: f64) {
        let year = self.by_year.entry(page.year.to_owned()).or_default();
        year.add(page.state, weight);
        self.total.add(page.state, weight);
        if !LOST.contains(&page.state) {
            return;
        }
        self.lost += 1;
        if self.named.len() < REPORT_GROUPS {
            self.named.push(NamedPage {
                url: page.row.url.0.to_owned(),
                state: page.state,
                evidence: page.row.evidence.0.to_owned(),
            });
        }
    }

    /// The rows of [`PAGES_BY_YEAR`].
    pub(super) fn rows(&self) -> impl Iterator<Item = (Text<'_>, [u64; PageState::ALL.len()])> {
        let years = self.by_year.iter();
        years.map(|(year, tally)| (Text(year), tally.counts))
    }
}

/// A row of the query.
struct ReadPage<'r> {
    state: PageState,
    year: &'r str,
    stratum: &'r str,
    row: PageRow<'r>,
}

impl<'r> ReadPage<'r> {
    fn of(row: &'r Row<'_>) -> rusqlite::Result<ReadPage<'r>> {
        let text =
            |column: usize| -> rusqlite::Result<&'r str> { Ok(row.get_ref(column)?.as_str()?) };
        let maybe = |column: usize| -> rusqlite::Result<Option<&'r str>> {
            Ok(row.get_ref(column)?.as_str_or_null()?)
        };
        Ok(ReadPage {
            state: PageState::named(text(1)?).unwrap_or(PageState::NotRead),
            year: text(7)?,
            stratum: text(8)?,
            row: PageRow {
                url: Text(text(0)?),
                state: text(1)?,
                evidence: Text(text(2)?),
                status: row.get(3)?,
                error: maybe(4)?,
                final_url: maybe(5)?.map(Text),
                inspected_at: text(6)?,
            },
        })
    }
}

/// The states by which a reader does not find what was cited.
const LOST: [PageState; 3] = [PageState::FrontPage, PageState::Parked, PageState::Soft404];

/// The parts of a bar, with their classes in the style: the states of pages that were judged.
const BARS: [(PageState, &str); 5] = [
    (PageState::NoSign, "alive"),
    (PageState::OtherDomain, "redirected"),
    (PageState::FrontPage, "p5"),
    (PageState::Parked, "dead-page"),
    (PageState::Soft404, "dead-host"),
];

/// Returns the section of what living pages say.
pub(super) fn pages(figures: &PageFigures) -> Markup {
    html! {
        section #pages { "\n"
            h2 { "Living pages" } "\n"
            @if figures.by_year.is_empty() {
                p { "No page was inspected." } "\n"
            } @else {
                p {
                    "Of links that answered at a check. The states stand beside the fixed ones, in \
                     which all these links are alive or redirected. Shares are those of the pages that were judged; \
                     the number after a bar is theirs."
                } "\n"
                (page_bars(figures))
                (page_table(figures))
                (lost_pages(figures))
            }
        } "\n"
    }
}

fn page_bars(figures: &PageFigures) -> Markup {
    let series = BARS.map(|(state, class)| BarSeries {
        class,
        name: state.title(),
    });
    let years = figures
        .by_year
        .iter()
        .filter(|(_, tally)| 0 < tally.judged());
    let rows: Vec<_> = years
        .map(|(year, tally)| BarRow {
            name: year,
            parts: BARS.map(|(state, _)| tally.share(state)).to_vec(),
            count: tally.judged(),
        })
        .collect();
    bars(
        "Pages of living links by year of citation",
        "shares of the pages that were judged; the table below has the numbers",
        &series,
        &rows,
        BarScale::Shares,
    )
}

fn page_table(figures: &PageFigures) -> Markup {
    let mut columns = vec![text_column("Year")];
    columns.extend(PageState::ALL.map(|state| number_column(state.title())));
    let cells = |name, tally: &PageTally| {
        let mut cells = vec![name];
        cells.extend(tally.counts.iter().map(|count| Cell::Count(*count)));
        cells
    };
    let years = figures.by_year.iter();
    table(
        "Pages of living links",
        &columns,
        years.map(|(year, tally)| cells(Cell::Foreign(year), tally)),
        Some(cells(Cell::Own("All"), &figures.total)),
    )
}

/// Returns the links that readers would not find as they were cited, with the evidence.
fn lost_pages(figures: &PageFigures) -> Markup {
    let columns = [
        text_column("Link"),
        text_column("State"),
        text_column("Evidence"),
    ];
    let rows = figures.named.iter().map(|page| {
        vec![
            Cell::Foreign(&page.url),
            Cell::Own(page.state.title()),
            Cell::Foreign(&page.evidence),
        ]
    });
    let more = figures.lost - figures.named.len() as u64;
    html! {
        @if 0 < figures.lost {
            (table("Pages that readers do not find", &columns, rows, None))
        }
        @if 0 < more {
            p.soft { (counted(more, "more is", "more are")) " in the CSV file." } "\n"
        }
    }
}
