//! Horizontal bars, one for each year: shares of a whole, numbers, or an estimate with its interval.

use super::{LEFT, WIDTH, begin, end, horizontal, position, vertical};
use crate::audit::report::html::Html;
use crate::audit::statistics::Share;

/// Height of a row, in pixels.
const ROW: f64 = 19.0;

/// Height of the axis above the rows.
const AXIS: f64 = 22.0;

/// Height of a bar.
const BAR: f64 = 13.0;

/// Distance of the base line of a text from the top of its row.
const BASE: f64 = 13.5;

/// Gap between two parts of a bar, in percent of the width: they are apart in grey too.
const GAP: f64 = 0.25;

/// A part that all bars have.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit::report) struct BarSeries {
    /// The class of the style sheet.
    pub(in crate::audit::report) class: &'static str,
    pub(in crate::audit::report) name: &'static str,
}

/// A bar.
#[derive(Clone, Debug)]
pub(in crate::audit::report) struct BarRow<'t> {
    pub(in crate::audit::report) name: &'t str,
    /// The lengths of its parts, of which the whole width is the sum 1.
    pub(in crate::audit::report) parts: Vec<f64>,
    /// The number after the bar.
    pub(in crate::audit::report) count: u64,
}

/// Appends bars of several parts. `is_share` gives them an axis in percent.
pub(in crate::audit::report) fn bars(
    html: &mut Html,
    caption: &'static str,
    description: &'static str,
    series: &[BarSeries],
    rows: &[BarRow<'_>],
    is_share: bool,
) {
    let top = if is_share { AXIS } else { 0.0 };
    let height = top + ROW * f64::from(rows.len() as u32) + 4.0;
    begin(html, height, caption, description);
    if is_share {
        axis(html, height);
    }
    for (index, row) in rows.iter().enumerate() {
        let y = top + ROW * f64::from(index as u32);
        label(html, row.name, y);
        let mut from = 0.0;
        for (part, series) in row.parts.iter().zip(series) {
            if 0.0 < *part {
                bar(html, series.class, y, from, *part);
            }
            from += part;
        }
        count(html, row.count, y);
    }
    html.raw("</svg>\n");
    legend(html, series);
    html.raw("</figure>\n");
}

/// Appends a dot with its confidence interval for each name.
pub(in crate::audit::report) fn intervals(
    html: &mut Html,
    caption: &'static str,
    description: &'static str,
    rows: &[(&str, Option<Share>, u64)],
) {
    let height = AXIS + ROW * f64::from(rows.len() as u32) + 4.0;
    begin(html, height, caption, description);
    axis(html, height);
    for (index, (name, share, known)) in rows.iter().enumerate() {
        let y = AXIS + ROW * f64::from(index as u32);
        label(html, name, y);
        if let Some(Share { share, interval }) = share {
            let middle = y + ROW / 2.0;
            horizontal(html, "whisker", middle, interval.low, interval.high);
            for end in [interval.low, interval.high] {
                vertical(html, "whisker", end, middle - 3.5, middle + 3.5);
            }
            html.raw("<circle class=\"dot\" r=\"3.5\" cx=\"");
            position(html, *share).raw("\" cy=\"");
            html.coordinate(middle).raw("\"/>\n");
        }
        count(html, *known, y);
    }
    end(html);
}

/// Appends an axis from 0 to 100 percent, with lines through all rows.
fn axis(html: &mut Html, height: f64) {
    for (share, text) in [
        (0.0, "0"),
        (0.25, "25"),
        (0.5, "50"),
        (0.75, "75"),
        (1.0, "100\u{a0}%"),
    ] {
        html.raw("<text class=\"tick\" text-anchor=\"middle\" y=\"12\" x=\"");
        position(html, share).raw("\">").raw(text).raw("</text>");
        vertical(html, "grid", share, 17.0, height);
    }
    html.raw("\n");
}

fn label(html: &mut Html, name: &str, y: f64) {
    html.raw("<text text-anchor=\"end\" x=\"")
        .coordinate(LEFT - 1.5)
        .raw("%\" y=\"")
        .coordinate(y + BASE)
        .raw("\">")
        .text(name)
        .raw("</text>");
}

fn count(html: &mut Html, count: u64, y: f64) {
    html.raw("<text class=\"tick\" x=\"")
        .coordinate(LEFT + WIDTH + 2.5)
        .raw("%\" y=\"")
        .coordinate(y + BASE)
        .raw("\">")
        .count(count)
        .raw("</text>\n");
}

fn bar(html: &mut Html, class: &'static str, y: f64, from: f64, length: f64) {
    html.raw("<rect class=\"").raw(class).raw("\" x=\"");
    position(html, from).raw("\" y=\"");
    html.coordinate(y + (ROW - BAR) / 2.0)
        .raw("\" width=\"")
        .coordinate((WIDTH * length - GAP).max(GAP / 2.0))
        .raw("%\" height=\"")
        .coordinate(BAR)
        .raw("\"/>");
}

fn legend(html: &mut Html, series: &[BarSeries]) {
    html.raw("<ul class=\"legend\">");
    for one in series {
        html.raw("<li><svg aria-hidden=\"true\" focusable=\"false\"><rect width=\"100%\" height=\"100%\" class=\"")
            .raw(one.class)
            .raw("\"/></svg>")
            .raw(one.name)
            .raw("</li>");
    }
    html.raw("</ul>\n");
}
