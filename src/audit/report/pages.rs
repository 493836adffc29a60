//! The states of the pages of living links in a report: a chart and tables beside those of the
//! fixed states, and CSV.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rusqlite::Row;

use super::links::Provenance;
use super::query_table::QueryTable;
use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::page_state::PageState;
use crate::diagnostic::counted;
use crate::limits::REPORT_GROUPS;
use crate::page::charts::{BarRow, BarScale, BarSeries, bars};
use crate::page::html::{Cell, number_column, ratio, table, text_column};
use crate::sink::TableText as Text;

/// The file with a row for each inspected link.
pub(super) const PAGES: QueryTable = QueryTable {
    file: "pages.csv",
    columns: "url,state,evidence,status,error,final_url,inspected_at",
    from: "audit_pages WHERE key IN (SELECT key FROM audit_links WHERE planned) ORDER BY key",
};

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
    /// Adds links, of which each stands for `weight` links.
    fn add(&mut self, state: PageState, count: u64, weight: f64) {
        self.counts[state as usize] += count;
        self.weights[state as usize] += ratio(count, 1) * weight;
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

const COUNTS: &str = "
SELECT year, stratum, state, count(*) FROM audit_pages JOIN audit_links USING(key)
WHERE planned GROUP BY year, stratum, state";

const NAMED: &str = "
SELECT url, state, evidence FROM audit_pages
WHERE key IN (SELECT key FROM audit_links WHERE planned) AND state IN (?1, ?2, ?3)
ORDER BY key";

impl PageFigures {
    /// Reads the numbers of inspected links, and those that the report names.
    pub(super) fn read(audit: &AuditDb, origin: &Provenance) -> Result<PageFigures, AuditError> {
        let mut figures = PageFigures::default();
        let text = |row: &Row<'_>, column: usize| row.get::<_, String>(column);
        let read = |row: &Row<'_>| {
            let [year, stratum, state] = [text(row, 0)?, text(row, 1)?, text(row, 2)?];
            Ok((
                year,
                stratum,
                state_named(&state),
                row.get::<_, i64>(3)?.cast_unsigned(),
            ))
        };
        for (year, stratum, state, count) in audit.rows(COUNTS, [], read)? {
            let weight = origin.weight(&stratum);
            let year = figures.by_year.entry(year).or_default();
            year.add(state, count, weight);
            figures.total.add(state, count, weight);
            if LOST.contains(&state) {
                figures.lost += count;
            }
        }
        let sql = format!("{NAMED} LIMIT {REPORT_GROUPS}");
        let named = audit.rows(&sql, LOST.map(PageState::name), |row| {
            Ok(NamedPage {
                url: text(row, 0)?,
                state: state_named(&text(row, 1)?),
                evidence: text(row, 2)?,
            })
        })?;
        Ok(PageFigures { named, ..figures })
    }

    /// The rows of [`PAGES_BY_YEAR`].
    pub(super) fn rows(&self) -> impl Iterator<Item = (Text<'_>, [u64; PageState::ALL.len()])> {
        let years = self.by_year.iter();
        years.map(|(year, tally)| (Text(year), tally.counts))
    }
}

fn state_named(name: &str) -> PageState {
    PageState::named(name).unwrap_or(PageState::NotRead)
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
