//! Links by the year of their first citation.

use super::PageContent;
use crate::audit::report::chart::{BarRow, BarSeries, bars, intervals};
use crate::audit::report::html::Html;
use crate::audit::report::html_table::{Cell, HtmlTable, TableColumn, number_column, text_column};
use crate::audit::report::tally::Tally;
use crate::audit::state::LinkState;

/// The states of which a bar consists.
const SERIES: [(LinkState, BarSeries); 4] = [
    (
        LinkState::Alive,
        BarSeries {
            class: "alive",
            name: "alive",
        },
    ),
    (
        LinkState::Redirected,
        BarSeries {
            class: "redirected",
            name: "redirected",
        },
    ),
    (
        LinkState::DeadPage,
        BarSeries {
            class: "dead-page",
            name: "dead page",
        },
    ),
    (
        LinkState::DeadHost,
        BarSeries {
            class: "dead-host",
            name: "dead host",
        },
    ),
];

/// Columns of the table of years; those of the tables of groups are the same but the first.
pub(super) const COLUMNS: [TableColumn; 10] = [
    text_column("Year"),
    number_column("Links"),
    number_column("Alive"),
    number_column("Redirected"),
    number_column("Dead page"),
    number_column("Dead host"),
    number_column("Unknown"),
    number_column("Archived"),
    number_column("Dead"),
    number_column("95\u{a0}% interval"),
];

pub(super) fn section(html: &mut Html, content: &PageContent) {
    let figures = &content.figures;
    html.raw(
        "<section id=\"years\">\n<h2>By year of citation</h2>\n\
         <p>The year is that of a link's first citation, in UTC. Links without a known state count in no share. The number after a \
         bar is that of the links with a result.</p>\n",
    );
    let series = SERIES.map(|(_, series)| series);
    let rows: Vec<_> = figures
        .years
        .iter()
        .map(|(year, tally)| bar_row(year, tally))
        .collect();
    bars(
        html,
        "States of links by year of citation",
        "the table below has the values",
        &series,
        &rows,
        true,
    );
    let shares: Vec<_> = figures
        .years
        .iter()
        .map(|(year, tally)| (year.as_str(), tally.dead_share(), tally.known()))
        .collect();
    intervals(
        html,
        "Share of dead links, with 95\u{a0}% intervals",
        "dead page or dead host, among the links with a result; the table below has the values",
        &shares,
    );
    let mut table = HtmlTable::begin(html, "Links by year of citation", &COLUMNS);
    for (year, tally) in &figures.years {
        table.row(&cells(Cell::Foreign(year), tally));
    }
    table.end_with(&cells(Cell::Own("All"), &figures.total));
    html.raw("</section>\n");
}

fn bar_row<'t>(year: &'t str, tally: &Tally) -> BarRow<'t> {
    let share =
        |(state, _): (LinkState, BarSeries)| tally.share(state).map_or(0.0, |share| share.share);
    BarRow {
        name: year,
        parts: SERIES.map(share).to_vec(),
        count: tally.known(),
    }
}

/// The cells of [`COLUMNS`] for a tally.
pub(super) fn cells<'t>(name: Cell<'t>, tally: &Tally) -> Vec<Cell<'t>> {
    let mut cells = vec![name, Cell::Count(tally.links())];
    cells.extend(LinkState::ALL.map(|state| Cell::Count(tally.count(state))));
    cells.push(Cell::Count(tally.archived));
    cells.push(Cell::Share(tally.dead_share()));
    cells.push(Cell::Interval(tally.dead_share()));
    cells
}
