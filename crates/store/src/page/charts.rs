//! Charts as inline SVG. Horizontal positions are percentages of the width; text sizes and heights
//! are pixels, so that a chart fits both a phone and a page.

use maud::{Markup, html};

use super::html::{Text, coordinate};
use urlspool_text::diagnostic::grouped;

/// Left edge of the plot area, in percent of the width.
pub const LEFT: f64 = 19.0;

/// Width of the plot area, in percent.
pub const WIDTH: f64 = 68.0;

/// Labels of a percentage axis.
pub const SHARE_MARKS: [(f64, &str); 5] = [
    (0.0, "0"),
    (0.25, "25"),
    (0.5, "50"),
    (0.75, "75"),
    (1.0, "100\u{a0}%"),
];

/// Returns the patterns that the charts use, once per page. Hatching is used where another color
/// would look the same in grayscale.
pub(super) fn patterns() -> Markup {
    html! {
        svg.defs aria-hidden="true" focusable="false" { defs {
            pattern #moved width="6" height="6" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" {
                rect width="6" height="6" class="moved-ground" {}
                path d="M1 0V6" class="moved-line" {}
            }
        } } "\n"
    }
}

/// Renders a chart. Screen readers read the caption and `text`, a description.
#[must_use]
pub fn figure(height: f64, caption: &str, text: &str, chart: &Markup, legend: &Markup) -> Markup {
    html! {
        figure { "\n"
            figcaption { (caption) } "\n"
            svg role="img" height=(coordinate(height)) aria-label={ (caption) ": " (text) } {
                "\n" (chart)
            } "\n"
            (legend)
        } "\n"
    }
}

/// Returns the horizontal position of a share of the plot width.
#[must_use]
pub fn position(share: f64) -> String {
    coordinate(LEFT + WIDTH * share) + "%"
}

/// Draws a vertical line at a share of the width, from one height to another.
#[must_use]
pub fn vertical(class: &str, share: f64, from: f64, to: f64) -> Markup {
    let x = position(share);
    html! { line class=(class) x1=(x) x2=(x) y1=(coordinate(from)) y2=(coordinate(to)) {} }
}

/// Draws a horizontal line at a height, from one share of the width to another.
#[must_use]
pub fn horizontal(class: &str, height: f64, from: f64, to: f64) -> Markup {
    let y = coordinate(height);
    html! { line class=(class) x1=(position(from)) x2=(position(to)) y1=(y) y2=(y) {} }
}

/// Renders the label of a position on the axis.
#[must_use]
pub fn mark(share: f64, y: f64, text: &str) -> Markup {
    html! {
        text.tick text-anchor="middle" x=(position(share)) y=(coordinate(y)) { (text) }
    }
}

/// Height of a row of bars, in pixels.
pub const ROW: f64 = 19.0;

/// Height of the axis above the rows.
pub const AXIS: f64 = 22.0;

const BAR: f64 = 13.0;

/// Distance of a text's baseline from the top of its row.
const BASE: f64 = 13.5;

/// Gap between two segments of a bar, in percent of the width; keeps them apart in grayscale.
const GAP: f64 = 0.25;

/// A segment that all bars have.
#[derive(Clone, Copy, Debug)]
pub struct BarSeries {
    /// CSS class.
    pub class: &'static str,
    /// Name in the legend.
    pub name: &'static str,
}

/// Scale of the bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarScale {
    /// Shares of a whole, with a percentage axis.
    Shares,
    /// Numbers, relative to the largest.
    Numbers,
}

/// A bar with a label and a number.
#[derive(Clone, Debug)]
pub struct BarRow<'t> {
    /// Label before the bar.
    pub name: &'t str,
    /// Lengths of its segments. A sum of 1 is the full width.
    pub parts: Vec<f64>,
    /// Number after the bar.
    pub count: u64,
}

/// Renders bars of several segments.
#[must_use]
pub fn bars(
    caption: &str,
    description: &str,
    series: &[BarSeries],
    rows: &[BarRow<'_>],
    scale: BarScale,
) -> Markup {
    let top = if scale == BarScale::Shares { AXIS } else { 0.0 };
    let height = height_of_rows(top, rows.len());
    let chart = html! {
        @if scale == BarScale::Shares { (axis(height)) }
        @for (y, row) in row_tops(top).zip(rows) {
            (label(row.name, y))
            @for (from, part, series) in parts(row, series) {
                (bar(series.class, y, from, part))
            }
            (count(row.count, y))
        }
    };
    let legend = html! {
        @if 1 < series.len() {
            ul.legend { @for series in series { li {
                svg aria-hidden="true" focusable="false" {
                    rect width="100%" height="100%" class=(series.class) {}
                }
                (series.name)
            } } } "\n"
        }
    };
    figure(height, caption, description, &chart, &legend)
}

/// Returns the height of a chart with this many rows below `top`.
#[must_use]
pub fn height_of_rows(top: f64, rows: usize) -> f64 {
    top + ROW * f64::from(rows as u32) + 4.0
}

/// Returns the top edges of the rows below `top`.
pub fn row_tops(top: f64) -> impl Iterator<Item = f64> {
    (0..).map(move |row: u32| top + ROW * f64::from(row))
}

/// Returns the start and length of each segment that is not empty.
fn parts<'r>(
    row: &'r BarRow<'_>,
    series: &'r [BarSeries],
) -> impl Iterator<Item = (f64, f64, &'r BarSeries)> {
    let mut end = 0.0;
    row.parts
        .iter()
        .zip(series)
        .filter_map(move |(part, series)| {
            let from = end;
            end += part;
            (0.0 < *part).then_some((from, *part, series))
        })
}

/// Renders an axis from 0 to 100 percent with grid lines through all rows.
#[must_use]
pub fn axis(height: f64) -> Markup {
    html! {
        @for (share, text) in SHARE_MARKS {
            (mark(share, 12.0, text))
            (vertical("grid", share, 17.0, height))
        }
        "\n"
    }
}

/// Renders the label before a row.
#[must_use]
pub fn label(name: &str, y: f64) -> Markup {
    let x = coordinate(LEFT - 1.5) + "%";
    html! { text text-anchor="end" x=(x) y=(coordinate(y + BASE)) { (Text(name)) } }
}

/// Renders the number after a row.
#[must_use]
pub fn count(count: u64, y: f64) -> Markup {
    let x = coordinate(LEFT + WIDTH + 2.5) + "%";
    html! { text.tick x=(x) y=(coordinate(y + BASE)) { (grouped(count)) } "\n" }
}

fn bar(class: &str, y: f64, from: f64, length: f64) -> Markup {
    let width = coordinate((WIDTH * length - GAP).max(GAP / 2.0)) + "%";
    html! {
        rect class=(class) x=(position(from)) y=(coordinate(y + (ROW - BAR) / 2.0)) width=(width)
            height=(coordinate(BAR)) {}
    }
}
