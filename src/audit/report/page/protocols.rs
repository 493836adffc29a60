//! Links of protocols that no checker speaks any more, by year of citation.

use super::PageContent;
use crate::audit::report::chart::{BarRow, BarSeries, bars};
use crate::audit::report::figures::DEAD_PROTOCOLS;
use crate::audit::report::html::Html;
use crate::audit::report::html_table::{Cell, HtmlTable, TableColumn, number_column, text_column};
use crate::audit::statistics::ratio;

const SERIES: [BarSeries; DEAD_PROTOCOLS.len()] = [
    BarSeries {
        class: "p1",
        name: DEAD_PROTOCOLS[0],
    },
    BarSeries {
        class: "p2",
        name: DEAD_PROTOCOLS[1],
    },
    BarSeries {
        class: "p3",
        name: DEAD_PROTOCOLS[2],
    },
    BarSeries {
        class: "p4",
        name: DEAD_PROTOCOLS[3],
    },
];

const COLUMNS: [TableColumn; DEAD_PROTOCOLS.len() + 1] = [
    text_column("Year"),
    number_column(DEAD_PROTOCOLS[0]),
    number_column(DEAD_PROTOCOLS[1]),
    number_column(DEAD_PROTOCOLS[2]),
    number_column(DEAD_PROTOCOLS[3]),
];

pub(super) fn section(html: &mut Html, content: &PageContent) {
    let protocols = &content.figures.protocols;
    html.raw(
        "<section id=\"protocols\">\n<h2>Dead protocols</h2>\n\
         <p>Links to gopher, WAIS, Prospero and telnet are not checked and have no state. Counted are all of them that the archive \
         cites, by the year of their first citation.</p>\n",
    );
    if protocols.is_empty() {
        html.raw("<p>There are none.</p>\n</section>\n");
        return;
    }
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let largest = protocols
        .values()
        .map(|counts| sum(counts))
        .max()
        .unwrap_or(1);
    let rows: Vec<_> = protocols
        .iter()
        .map(|(year, counts)| BarRow {
            name: year,
            parts: counts.iter().map(|count| ratio(*count, largest)).collect(),
            count: sum(counts),
        })
        .collect();
    bars(
        html,
        "Links to dead protocols by year of citation",
        "numbers of links; the table below has the values",
        &SERIES,
        &rows,
        false,
    );
    let mut table = HtmlTable::begin(html, "Links to dead protocols", &COLUMNS);
    let mut total = [0; DEAD_PROTOCOLS.len()];
    for (year, counts) in protocols {
        table.row(&cells(Cell::Foreign(year), counts));
        total
            .iter_mut()
            .zip(counts)
            .for_each(|(sum, count)| *sum += count);
    }
    table.end_with(&cells(Cell::Own("All"), &total));
    html.raw("</section>\n");
}

fn cells<'t>(name: Cell<'t>, counts: &[u64]) -> Vec<Cell<'t>> {
    let mut cells = vec![name];
    cells.extend(counts.iter().map(|count| Cell::Count(*count)));
    cells
}
