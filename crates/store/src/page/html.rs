//! Values as HTML: escaped text, numbers and tables.

use std::fmt::Write;

use maud::{Escaper, Markup, Render, html};

use urlspool_text::diagnostic::{grouped, printable, shortened};
use urlspool_text::limits::REPORT_TEXT_CHARS;

/// Untrusted text. Control characters and characters that change the writing direction are shown as
/// escapes, and a tab, which folds header fields, as a blank.
pub struct Text<'t>(pub &'t str);

impl Render for Text<'_> {
    fn render_to(&self, page: &mut String) {
        // Writing to a `String` cannot fail.
        let _ = Escaper::new(page).write_str(&printable(&self.0.replace('\t', " ")));
    }
}

/// Renders untrusted text, isolated from the writing direction of the surrounding text and
/// shortened if it is long.
#[must_use]
pub fn foreign(text: &str) -> Markup {
    html! { bdi { (Text(&shortened(text, REPORT_TEXT_CHARS))) } }
}

/// Renders the day of a time, without a line break inside.
#[must_use]
pub fn day(time: &str) -> Markup {
    html! { span.whole { (Text(date(time))) } }
}

/// Returns the part of a time before its `T`.
#[must_use]
pub fn date(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

/// Formats a coordinate with two decimal places.
#[must_use]
pub fn coordinate(number: f64) -> String {
    format!("{number:.2}")
}

/// Formats a share as a percentage.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1}\u{a0}%", share * 100.0)
}

/// Renders a figure with its title and a note, for a list of the class `cards`.
#[must_use]
pub fn card(title: &str, figure: &Markup, note: &Markup) -> Markup {
    html! {
        div {
            dt { (title) }
            dd {
                span.figure { (figure) }
                @if !note.0.is_empty() { br; (note) }
            }
        } "\n"
    }
}

/// Returns the quotient of two numbers, or 0 if `whole` is 0.
#[expect(
    clippy::cast_precision_loss,
    reason = "no archive holds as many things as an `f64` has whole numbers"
)]
#[must_use]
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    title: &'static str,
    /// `n` for numbers, which are right-aligned.
    class: Option<&'static str>,
}

/// Creates a column of texts.
#[must_use]
pub const fn text_column(title: &'static str) -> Column {
    Column { title, class: None }
}

/// Creates a column of numbers.
#[must_use]
pub const fn number_column(title: &'static str) -> Column {
    let class = Some("n");
    Column { title, class }
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell<'t> {
    /// Untrusted text.
    Foreign(&'t str),
    /// Text from this program.
    Own(&'static str),
    /// A count.
    Count(u64),
    /// A share of a whole, shown in percent and as a bar.
    Share(f64),
    /// A measured or estimated value.
    Measure {
        /// The value as text.
        text: String,
        /// Number that the cell is sorted by.
        value: f64,
    },
}

impl Cell<'_> {
    /// Returns the number that the cell is sorted by, if its text does not show it.
    fn sort_value(&self) -> Option<String> {
        match self {
            Cell::Foreign(_) | Cell::Own(_) => None,
            Cell::Count(count) => Some(count.to_string()),
            Cell::Share(share) => Some(coordinate(share * 100.0)),
            Cell::Measure { value, .. } => Some(coordinate(*value)),
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
            Cell::Share(share) => html! {
                (percent(*share)) " " svg.share aria-hidden="true" focusable="false" {
                    rect height="100%" width={ (coordinate(share * 100.0)) "%" } class="urls" {}
                }
            },
            Cell::Measure { text, .. } => html! { (text) },
        }
    }
}

/// Renders a table. The first cell of a row is its name. The row `last` is not sorted.
pub fn table<'t>(
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

/// Renders a table of numbers with a row per name and a row for `total`. `columns` are the titles
/// of the numbers, `name` is the title of the names.
pub fn count_table<'t, C: AsRef<[u64]>>(
    caption: &str,
    name: &'static str,
    columns: impl IntoIterator<Item = &'static str>,
    rows: impl Iterator<Item = (&'t String, C)>,
    total: Option<&[u64]>,
) -> Markup {
    let numbers = columns.into_iter().map(number_column);
    let columns: Vec<_> = [text_column(name)].into_iter().chain(numbers).collect();
    let cells = |name, counts: &[u64]| {
        let counts = counts.iter().map(|count| Cell::Count(*count));
        [name].into_iter().chain(counts).collect()
    };
    let rows = rows.map(|(name, counts)| cells(Cell::Foreign(name), counts.as_ref()));
    let total = total.map(|counts| cells(Cell::Own("All"), counts));
    table(caption, &columns, rows, total)
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
    fn text_has_no_markup_and_no_control_characters() {
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
