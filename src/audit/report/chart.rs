//! Charts as inline SVG: lengths in percent of the width, texts and heights in pixels, so that they fit a phone and a page.

mod bars;
mod curve;

pub(super) use bars::{BarRow, BarSeries, bars, intervals};
pub(super) use curve::{AgePoint, survival};

use super::html::Html;

/// Left end of the plotted area, in percent of the width.
const LEFT: f64 = 19.0;

/// Width of the plotted area, in percent.
const WIDTH: f64 = 68.0;

/// Appends the patterns that the charts use, once for each page. They are lines where another colour would look the same in grey.
pub(super) fn patterns(html: &mut Html) {
    html.raw(
        "<svg class=\"defs\" aria-hidden=\"true\" focusable=\"false\"><defs>\
         <pattern id=\"moved\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect width=\"6\" height=\"6\" class=\"moved-ground\"/><path d=\"M1 0V6\" class=\"moved-line\"/></pattern></defs></svg>\n",
    );
}

/// Appends the position of a share of the plotted width.
fn position(html: &mut Html, share: f64) -> &mut Html {
    html.coordinate(LEFT + WIDTH * share).raw("%")
}

/// Appends a vertical line.
fn vertical(html: &mut Html, class: &'static str, share: f64, from: f64, to: f64) {
    html.raw("<line class=\"").raw(class).raw("\" x1=\"");
    position(html, share).raw("\" x2=\"");
    position(html, share).raw("\" y1=\"").coordinate(from);
    html.raw("\" y2=\"").coordinate(to).raw("\"/>");
}

/// Appends a horizontal line.
fn horizontal(html: &mut Html, class: &'static str, height: f64, from: f64, to: f64) {
    html.raw("<line class=\"").raw(class).raw("\" x1=\"");
    position(html, from).raw("\" x2=\"");
    position(html, to).raw("\" y1=\"").coordinate(height);
    html.raw("\" y2=\"").coordinate(height).raw("\"/>");
}

/// Appends the beginning of a chart with its name for readers that do not see it.
fn begin(html: &mut Html, height: f64, caption: &'static str, description: &'static str) {
    html.raw("<figure>\n<figcaption>")
        .raw(caption)
        .raw("</figcaption>\n<svg role=\"img\" height=\"")
        .coordinate(height)
        .raw("\" aria-label=\"")
        .raw(caption)
        .raw(": ")
        .raw(description)
        .raw("\">\n");
}

fn end(html: &mut Html) {
    html.raw("</svg>\n</figure>\n");
}
