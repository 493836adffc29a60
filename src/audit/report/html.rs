//! Values of the page as HTML: text that is escaped, numbers for readers, tables.

use std::fmt::Write;

use maud::{Escaper, Markup, Render, html};

use crate::audit::statistics::Share;
use crate::diagnostic::grouped;
use crate::diagnostic::{printable, shortened};
use crate::limits::REPORT_TEXT_CHARS;

/// Text of the database. Control characters and those that change the direction of writing are
/// shown as escapes.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Render for Text<'_> {
    fn render_to(&self, page: &mut String) {
        // Writing to a `String` does not fail.
        let _ = Escaper::new(page).write_str(&printable(self.0));
    }
}

/// Returns text of others, isolated from the direction of the text around it; of a long one only
/// the beginning.
pub(super) fn foreign(text: &str) -> Markup {
    html! { bdi { (Text(&shortened(text, REPORT_TEXT_CHARS))) } }
}

/// Returns the day of a time, which no line break divides.
pub(super) fn day(time: &str) -> Markup {
    html! { span.whole { (Text(date(time))) } }
}

/// Returns the part of a time before its `T`.
pub(super) fn date(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

/// Returns a number with two decimal places, for coordinates.
pub(super) fn coordinate(number: f64) -> String {
    format!("{number:.2}")
}

/// Returns a share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}\u{a0}%", share * 100.0)
}

/// Returns the interval of a share as percentages: `12.1–15.0 %`.
pub(super) fn interval(share: &Share) -> String {
    let (low, high) = (share.interval.low * 100.0, percent(share.interval.high));
    format!("{low:.1}\u{2013}{high}")
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    title: &'static str,
    /// `n` for numbers, which are aligned at their ends.
    class: Option<&'static str>,
}

/// Creates a column of texts.
pub(super) const fn text_column(title: &'static str) -> Column {
    Column { title, class: None }
}

/// Creates a column of numbers.
pub(super) const fn number_column(title: &'static str) -> Column {
    let class = Some("n");
    Column { title, class }
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

impl Cell<'_> {
    /// Returns the number by which the cell is sorted, if its text does not show it.
    fn sort_value(&self) -> Option<String> {
        match self {
            Cell::Foreign(_) | Cell::Own(_) => None,
            Cell::Count(count) => Some(count.to_string()),
            Cell::Share(share) | Cell::Interval(share) => {
                Some(coordinate(share.map_or(-1.0, |share| share.share * 100.0)))
            }
        }
    }
}

impl Render for Cell<'_> {
    fn render(&self) -> Markup {
        match self {
            Cell::Foreign("") => html! { span.none { "none" } },
            Cell::Foreign(text) => foreign(text),
            Cell::Own(text) => html! { (text) },
            Cell::Count(count) => html! { (grouped(*count)) },
            Cell::Share(None) | Cell::Interval(None) => html! { "\u{2013}" },
            Cell::Share(Some(share)) => html! { (percent(share.share)) },
            Cell::Interval(Some(share)) => html! { (interval(share)) },
        }
    }
}

/// Returns a table. The first cell of a row is its name; the row `last` is not sorted.
pub(super) fn table<'t>(
    caption: &str,
    columns: &[Column],
    rows: impl Iterator<Item = Vec<Cell<'t>>>,
    last: Option<Vec<Cell<'t>>>,
) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label=(caption) { "\n"
            table.sortable { "\n"
                caption { (caption) } "\n"
                thead { tr { @for column in columns {
                    th scope="col" class=[column.class] { (column.title) }
                } } } "\n"
                tbody { "\n" @for cells in rows { (row(columns, &cells)) } } "\n"
                @if let Some(cells) = last { tfoot { "\n" (row(columns, &cells)) } "\n" }
            } "\n"
        } "\n"
    }
}

fn row(columns: &[Column], cells: &[Cell<'_>]) -> Markup {
    let mut cells = cells.iter().zip(columns);
    html! {
        tr {
            @if let Some((name, column)) = cells.next() {
                th scope="row" class=[column.class] data-v=[name.sort_value()] { (name) }
            }
            @for (cell, column) in cells {
                td class=[column.class] data-v=[cell.sort_value()] { (cell) }
            }
        } "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_holds_no_markup_and_no_control() {
        let text = Text("<b a=\"'\">&\u{1b}[0m\u{202e}\u{e9}\n").render();
        assert_eq!(
            text.0,
            "&lt;b a=&quot;'&quot;&gt;&amp;\\u{1b}[0m\\u{202e}\u{e9}\\u{a}"
        );
        let cut = "\u{e9}".repeat(REPORT_TEXT_CHARS);
        let long = format!("{cut}\u{e9}");
        assert_eq!(foreign(&long).0, format!("<bdi>{cut}\u{2026}</bdi>"));
        assert_eq!(foreign(&cut).0, format!("<bdi>{cut}</bdi>"));
    }

    #[test]
    fn shares_and_coordinates_are_rounded() {
        assert_eq!(percent(0.4567), "45.7\u{a0}%");
        assert_eq!(coordinate(1.0 / 3.0), "0.33");
    }
}
