//! Dead links: archived or lost.

use super::PageContent;
use crate::audit::report::chart::{BarRow, BarSeries, bars};
use crate::audit::report::html::Html;
use crate::audit::report::html_table::{Cell, HtmlTable, TableColumn, number_column, text_column};
use crate::audit::report::tally::Tally;

const SERIES: [BarSeries; 3] = [
    BarSeries {
        class: "archived",
        name: "archived",
    },
    BarSeries {
        class: "unanswered",
        name: "not asked or no answer",
    },
    BarSeries {
        class: "lost",
        name: "lost",
    },
];

const COLUMNS: [TableColumn; 7] = [
    text_column("Year"),
    number_column("Dead"),
    number_column("Archived"),
    number_column("Lost"),
    number_column("Not asked"),
    number_column("Lost share"),
    number_column("95\u{a0}% interval"),
];

pub(super) fn section(html: &mut Html, content: &PageContent) {
    html.raw(
        "<section id=\"archive\">\n<h2>Archived or lost</h2>\n\
         <p>A dead link is archived if the archive holds a capture with a 2xx status, and lost if the archive was asked and holds \
         none. The share is that of the dead links for which the archive answered.</p>\n",
    );
    let years = &content.figures.years;
    let rows: Vec<_> = years
        .iter()
        .filter(|(_, tally)| 0 < tally.dead())
        .map(|(year, tally)| bar_row(year, tally))
        .collect();
    if rows.is_empty() {
        html.raw("<p>No link is known to be dead.</p>\n</section>\n");
        return;
    }
    bars(
        html,
        "Dead links by year of citation: archived or lost",
        "shares of the dead links; the table below has the values",
        &SERIES,
        &rows,
        true,
    );
    let mut table = HtmlTable::begin(html, "Dead links by year of citation", &COLUMNS);
    for (year, tally) in years {
        table.row(&cells(Cell::Foreign(year), tally));
    }
    table.end_with(&cells(Cell::Own("All"), &content.figures.total));
    html.raw("</section>\n");
}

fn bar_row<'t>(year: &'t str, tally: &Tally) -> BarRow<'t> {
    let shares = tally.archive_shares();
    BarRow {
        name: year,
        parts: vec![shares.archived, shares.unanswered, shares.lost],
        count: tally.dead(),
    }
}

fn cells<'t>(name: Cell<'t>, tally: &Tally) -> Vec<Cell<'t>> {
    vec![
        name,
        Cell::Count(tally.dead()),
        Cell::Count(tally.dead_archived),
        Cell::Count(tally.lost),
        Cell::Count(tally.unanswered()),
        Cell::Share(tally.lost_share()),
        Cell::Interval(tally.lost_share()),
    ]
}
