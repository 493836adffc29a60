//! Results of further steps in a report: inspected pages, links of old protocols, and URLs
//! submitted to a save service.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rusqlite::Row;

use super::links::Provenance;
use crate::AuditError;
use crate::database::AuditDb;
use crate::save::SaveOutcome;
use crate::state::{LinkState, PageState};
use urlspool_files::config::NamedValue;
use urlspool_store::page::TableText as Text;
use urlspool_store::page::charts::{BarRow, BarScale, BarSeries, bars};
use urlspool_store::page::html::{Cell, count_table, number_column, ratio, table, text_column};
use urlspool_text::diagnostic::counted;
use urlspool_text::limits::REPORT_GROUPS;

/// Inspected links by state, in the order of [`PageState::ALL`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageTally {
    counts: [u64; PageState::ALL.len()],
    /// Number of links of the population that they represent.
    weights: [f64; PageState::ALL.len()],
}

impl PageTally {
    /// Adds links, each representing `weight` links.
    fn add(&mut self, state: PageState, count: u64, weight: f64) {
        self.counts[state as usize] += count;
        self.weights[state as usize] += ratio(count, 1) * weight;
    }

    /// Returns the number of links whose page has a decided state.
    fn judged(&self) -> u64 {
        let counts = BARS.map(|(state, _)| self.counts[state as usize]);
        counts.iter().sum()
    }

    /// Returns the share of a state among the links whose page has a decided state; NaN without
    /// such links.
    fn share(&self, state: PageState) -> f64 {
        let weights = BARS.map(|(state, _)| self.weights[state as usize]);
        self.weights[state as usize] / weights.iter().sum::<f64>()
    }
}

/// An inspected link listed in the report.
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
    /// First of the links that no longer lead readers to the cited page.
    named: Vec<NamedPage>,
    /// Number of such links.
    lost: u64,
    /// Number of inspected links that are dead or unknown since. No other number includes them.
    ended: u64,
}

const INSPECTED: &str = "FROM audit_pages AS pages JOIN audit_links USING(key) WHERE planned";

/// Selects those of the inspected links that are alive or redirected at their newest check.
const LIVING: &str = "AND (SELECT state FROM audit_checks AS checks WHERE checks.key = pages.key
  ORDER BY checked_at DESC, id DESC LIMIT 1) IN ('alive', 'redirected')";

impl PageFigures {
    /// Reads the counts of inspected links, and the links listed in the report.
    pub(super) fn read(audit: &AuditDb, origin: &Provenance) -> Result<PageFigures, AuditError> {
        let mut figures = PageFigures::default();
        let living = format!("{INSPECTED} {LIVING}");
        let sql = format!("SELECT year, stratum, state, count(*) {living} GROUP BY 1, 2, 3");
        audit.rows(&sql, [], |row| {
            let weight = origin.weight(row.get_ref(1)?.as_str()?);
            let (state, count) = (state(row, 2)?, row.get::<_, i64>(3)?.cast_unsigned());
            let year = figures.by_year.entry(row.get(0)?).or_default();
            year.add(state, count, weight);
            figures.total.add(state, count, weight);
            if LOST.contains(&state) {
                figures.lost += count;
            }
            Ok(())
        })?;
        let inspected = audit.count(&format!("SELECT count(*) {INSPECTED}"), [])?;
        figures.ended = inspected - figures.total.counts.iter().sum::<u64>();
        let lost = "state IN (?1, ?2, ?3) ORDER BY key";
        let sql =
            format!("SELECT pages.url, state, evidence {living} AND {lost} LIMIT {REPORT_GROUPS}");
        let named = audit.rows(&sql, LOST.map(PageState::name), |row| {
            Ok(NamedPage {
                url: row.get(0)?,
                state: state(row, 1)?,
                evidence: row.get(2)?,
            })
        })?;
        Ok(PageFigures { named, ..figures })
    }

    /// Returns the years with their number of links by state.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Text<'_>, [u64; PageState::ALL.len()])> {
        let years = self.by_year.iter();
        years.map(|(year, tally)| (Text(year), tally.counts))
    }
}

fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<PageState> {
    let name = row.get_ref(column)?.as_str()?;
    Ok(PageState::named(name).unwrap_or(PageState::NotRead))
}

/// States in which a reader does not find the cited page.
const LOST: [PageState; 3] = [PageState::FrontPage, PageState::Parked, PageState::Soft404];

/// Segments of a bar with their CSS classes: the decided states of pages.
const BARS: [(PageState, &str); 5] = [
    (PageState::NoSign, "alive"),
    (PageState::OtherDomain, "redirected"),
    (PageState::FrontPage, "p5"),
    (PageState::Parked, "dead-page"),
    (PageState::Soft404, "dead-host"),
];

/// Renders the section about pages of live links.
pub(super) fn pages(figures: &PageFigures) -> Markup {
    html! {
        @if figures.by_year.is_empty() {
            p { "No page of a living link was inspected." } "\n"
        } @else {
            p {
                "Inspected pages of links that are alive or redirected at their newest check. \
                 Shares, and the numbers after bars, are of the pages that were judged."
            } "\n"
            (page_bars(figures))
            (page_table(figures))
            (lost_pages(figures))
        }
        @if 0 < figures.ended {
            p.soft { "Dead or unknown since: " (counted(figures.ended, "link", "links")) "." } "\n"
        }
    }
}

fn page_bars(figures: &PageFigures) -> Markup {
    let series = BARS.map(|(state, class)| BarSeries {
        class,
        name: state.meaning(),
    });
    let years = figures.by_year.iter();
    let rows: Vec<_> = years
        .filter(|(_, tally)| 0 < tally.judged())
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
    let years = figures.by_year.iter();
    count_table(
        "Pages of living links",
        "Year",
        PageState::ALL.map(PageState::meaning),
        years.map(|(year, tally)| (year, tally.counts)),
        Some(&figures.total.counts),
    )
}

/// Renders the links that no longer lead readers to the cited page, with the evidence.
fn lost_pages(figures: &PageFigures) -> Markup {
    let columns = ["Link", "State", "Evidence"].map(text_column);
    let rows = figures.named.iter().map(|page| {
        vec![
            Cell::Foreign(&page.url),
            Cell::Own(page.state.meaning()),
            Cell::Foreign(&page.evidence),
        ]
    });
    let more = figures.lost - figures.named.len() as u64;
    html! {
        @if 0 < figures.lost {
            (table("Pages that readers cannot find", &columns, rows, None))
        }
        @if 0 < more {
            p.soft { (counted(more, "more is", "more are")) " in the CSV file." } "\n"
        }
    }
}

/// Numbers of links by scheme, and by state in the order of [`LinkState::ALL`].
pub(super) type OldProtocolCounts = BTreeMap<String, [u64; LinkState::ALL.len()]>;

const OLD_PROTOCOLS: &str = "SELECT scheme, state, count(*) FROM audit_protocols
  WHERE scheme IN ('ftp', 'gopher') AND key IN (SELECT key FROM audit_links)
  GROUP BY scheme, state";

/// Reads the counts of old protocol links.
pub(super) fn old_protocol_counts(audit: &AuditDb) -> Result<OldProtocolCounts, AuditError> {
    let mut found = OldProtocolCounts::new();
    audit.rows(OLD_PROTOCOLS, [], |row| {
        let state = LinkState::named(&row.get::<_, String>(1)?).unwrap_or(LinkState::Unknown);
        let counts = found.entry(row.get(0)?).or_default();
        counts[state as usize] += row.get::<_, i64>(2)?.cast_unsigned();
        Ok(())
    })?;
    Ok(found)
}

/// Renders the table of checked links; empty if there are none.
pub(super) fn old_protocols(counts: &OldProtocolCounts) -> Markup {
    let columns = LinkState::ALL.map(LinkState::title);
    let columns = ["Checked"].into_iter().chain(columns);
    let rows = counts.iter().map(|(scheme, counts)| {
        let all = counts.iter().sum();
        let counts: Vec<u64> = [all].into_iter().chain(*counts).collect();
        (scheme, counts)
    });
    html! {
        @if !counts.is_empty() {
            p {
                "Links that were checked on request: ftp by asking for the file or folder, gopher \
                 by the first line of the answer. They count in no share."
            } "\n"
            (count_table("Checked links of old protocols", "Scheme", columns, rows, None))
        }
    }
}

/// Renders the table of URLs submitted to a save service; empty if there are none.
pub(super) fn saves(outcomes: &BTreeMap<SaveOutcome, u64>) -> Markup {
    let columns = [
        text_column("Submitted to a save service"),
        number_column("URLs"),
    ];
    let rows = outcomes
        .iter()
        .map(|(outcome, count)| vec![Cell::Own(outcome.meaning()), Cell::Count(*count)]);
    html! {
        @if !outcomes.is_empty() {
            p {
                "Living links that no archive held were submitted to a save service. Links that it \
                 saved are archived from then on."
            } "\n"
            (table("Saved links", &columns, rows, None))
        }
    }
}
