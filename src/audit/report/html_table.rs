//! Tables of the page: a caption, heads, rows, and a last row for all.

use super::html::Html;
use crate::audit::statistics::Share;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableColumn {
    title: &'static str,
    kind: ColumnKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    Text,
    Number,
}

/// A column of texts.
pub(super) const fn text_column(title: &'static str) -> TableColumn {
    TableColumn {
        title,
        kind: ColumnKind::Text,
    }
}

/// A column of numbers, which are aligned at their ends.
pub(super) const fn number_column(title: &'static str) -> TableColumn {
    TableColumn {
        title,
        kind: ColumnKind::Number,
    }
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(super) enum Cell<'t> {
    /// A text of others.
    Foreign(&'t str),
    /// A text of this program.
    Own(&'static str),
    /// A number of links.
    Count(u64),
    /// An estimated share, in percent.
    Share(Option<Share>),
    /// The confidence interval of a share.
    Interval(Option<Share>),
}

/// A table whose rows are being written.
pub(super) struct HtmlTable<'h> {
    html: &'h mut Html,
    columns: &'static [TableColumn],
}

impl<'h> HtmlTable<'h> {
    /// Begins a table. The first column names the rows.
    pub(super) fn begin(
        html: &'h mut Html,
        caption: &'static str,
        columns: &'static [TableColumn],
    ) -> HtmlTable<'h> {
        html.raw("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"")
            .raw(caption)
            .raw("\">\n<table class=\"sortable\">\n<caption>")
            .raw(caption)
            .raw("</caption>\n<thead><tr>");
        for column in columns {
            html.raw("<th scope=\"col\"")
                .raw(class_of(column.kind))
                .raw(">")
                .raw(column.title)
                .raw("</th>");
        }
        html.raw("</tr></thead>\n<tbody>\n");
        HtmlTable { html, columns }
    }

    /// Appends a row.
    pub(super) fn row(&mut self, cells: &[Cell<'_>]) {
        self.html.raw("<tr>");
        for (index, (cell, column)) in cells.iter().zip(self.columns).enumerate() {
            let element = if index == 0 { "th" } else { "td" };
            self.cell(element, cell, *column);
        }
        self.html.raw("</tr>\n");
    }

    /// Ends the table with a row for all, which is not sorted.
    pub(super) fn end_with(mut self, cells: &[Cell<'_>]) {
        self.html.raw("</tbody>\n<tfoot>\n");
        self.row(cells);
        self.html.raw("</tfoot>\n</table>\n</div>\n");
    }

    /// Ends the table.
    pub(super) fn end(self) {
        self.html.raw("</tbody>\n</table>\n</div>\n");
    }

    fn cell(&mut self, element: &'static str, cell: &Cell<'_>, column: TableColumn) {
        let html = &mut *self.html;
        html.raw("<").raw(element);
        if element == "th" {
            html.raw(" scope=\"row\"");
        }
        html.raw(class_of(column.kind));
        sort_value(html, cell);
        html.raw(">");
        content(html, cell);
        html.raw("</").raw(element).raw(">");
    }
}

fn class_of(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "",
        ColumnKind::Number => " class=\"n\"",
    }
}

/// Appends the number by which a cell is sorted, if its text does not show it.
fn sort_value(html: &mut Html, cell: &Cell<'_>) {
    match cell {
        Cell::Foreign(_) | Cell::Own(_) => {}
        Cell::Count(count) => {
            html.raw(" data-v=\"").digits(*count).raw("\"");
        }
        Cell::Share(share) | Cell::Interval(share) => {
            let value = share.map_or(-1.0, |share| share.share * 100.0);
            html.raw(" data-v=\"").coordinate(value).raw("\"");
        }
    }
}

fn content(html: &mut Html, cell: &Cell<'_>) {
    match cell {
        Cell::Foreign("") => html.raw("<span class=\"none\">none</span>"),
        Cell::Foreign(text) => html.foreign(text),
        Cell::Own(text) => html.raw(text),
        Cell::Count(count) => html.count(*count),
        Cell::Share(None) | Cell::Interval(None) => html.raw("\u{2013}"),
        Cell::Share(Some(share)) => html.percent(share.share),
        Cell::Interval(Some(share)) => interval(html, share),
    };
}

/// Appends an interval as percentages: `12.1–15.0 %`.
pub(super) fn interval<'h>(html: &'h mut Html, share: &Share) -> &'h mut Html {
    let low = format!("{:.1}\u{2013}", share.interval.low * 100.0);
    html.text(&low).percent(share.interval.high)
}
