//! Charts as inline SVG: lengths in percent of the width, texts and heights in pixels, so that they
//! fit a phone and a page.

use maud::{Markup, html};

use super::html::{Text, coordinate};
use crate::audit::statistics::{Share, SurvivalCurve};
use crate::diagnostic::grouped;

/// Left end of the plotted area, in percent of the width.
const LEFT: f64 = 19.0;

/// Width of the plotted area, in percent.
const WIDTH: f64 = 68.0;

/// The marks of an axis of shares.
const SHARE_MARKS: [(f64, &str); 5] = [
    (0.0, "0"),
    (0.25, "25"),
    (0.5, "50"),
    (0.75, "75"),
    (1.0, "100\u{a0}%"),
];

/// Returns the patterns that the charts use, once for each page. They are lines where another
/// colour would look the same in grey.
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

/// Returns a chart, with a description for readers that do not see it.
fn figure(
    height: f64,
    caption: &str,
    description: &str,
    chart: &Markup,
    legend: &Markup,
) -> Markup {
    html! {
        figure { "\n"
            figcaption { (caption) } "\n"
            svg role="img" height=(coordinate(height)) aria-label={ (caption) ": " (description) } {
                "\n" (chart)
            } "\n"
            (legend)
        } "\n"
    }
}

/// Returns the position of a share of the plotted width.
fn position(share: f64) -> String {
    coordinate(LEFT + WIDTH * share) + "%"
}

fn vertical(class: &str, share: f64, from: f64, to: f64) -> Markup {
    let x = position(share);
    html! { line class=(class) x1=(x) x2=(x) y1=(coordinate(from)) y2=(coordinate(to)) {} }
}

fn horizontal(class: &str, height: f64, from: f64, to: f64) -> Markup {
    let y = coordinate(height);
    html! { line class=(class) x1=(position(from)) x2=(position(to)) y1=(y) y2=(y) {} }
}

/// Returns the text of a mark below or above a place of the axis.
fn mark(share: f64, y: f64, text: &str) -> Markup {
    html! {
        text.tick text-anchor="middle" x=(position(share)) y=(coordinate(y)) { (text) }
    }
}

/// Height of a row of bars, in pixels.
const ROW: f64 = 19.0;

/// Height of the axis above the rows.
const AXIS: f64 = 22.0;

const BAR: f64 = 13.0;

/// Distance of the base line of a text from the top of its row.
const BASE: f64 = 13.5;

/// Gap between two parts of a bar, in percent of the width: they are apart in grey too.
const GAP: f64 = 0.25;

/// A part that all bars have.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarSeries {
    /// The class of the style sheet.
    pub(super) class: &'static str,
    pub(super) name: &'static str,
}

/// The length of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarScale {
    /// Shares of a whole, with an axis in percent.
    Shares,
    /// Numbers, relative to the largest one.
    Numbers,
}

#[derive(Clone, Debug)]
pub(super) struct BarRow<'t> {
    pub(super) name: &'t str,
    /// The lengths of its parts. A sum of 1 is the whole width.
    pub(super) parts: Vec<f64>,
    /// The number after the bar.
    pub(super) count: u64,
}

/// Returns bars of several parts.
pub(super) fn bars(
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
        ul.legend { @for series in series { li {
            svg aria-hidden="true" focusable="false" {
                rect width="100%" height="100%" class=(series.class) {}
            }
            (series.name)
        } } } "\n"
    };
    figure(height, caption, description, &chart, &legend)
}

/// Returns a dot with its confidence interval for each name.
pub(super) fn intervals(
    caption: &str,
    description: &str,
    rows: &[(&str, Option<Share>, u64)],
) -> Markup {
    let height = height_of_rows(AXIS, rows.len());
    let chart = html! {
        (axis(height))
        @for (y, (name, share, known)) in row_tops(AXIS).zip(rows) {
            (label(name, y))
            @if let Some(share) = share { (dot_in_row(share, y + ROW / 2.0)) }
            (count(*known, y))
        }
    };
    figure(height, caption, description, &chart, &html! {})
}

fn dot_in_row(share: &Share, y: f64) -> Markup {
    let (low, high) = (share.interval.low, share.interval.high);
    html! {
        (horizontal("whisker", y, low, high))
        (vertical("whisker", low, y - 3.5, y + 3.5))
        (vertical("whisker", high, y - 3.5, y + 3.5))
        circle.dot r="3.5" cx=(position(share.share)) cy=(coordinate(y)) {} "\n"
    }
}

fn height_of_rows(top: f64, rows: usize) -> f64 {
    top + ROW * f64::from(rows as u32) + 4.0
}

fn row_tops(top: f64) -> impl Iterator<Item = f64> {
    (0..).map(move |row: u32| top + ROW * f64::from(row))
}

/// Returns the parts of a bar that have a length, each after its start.
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

/// Returns an axis from 0 to 100 percent, with lines through all rows.
fn axis(height: f64) -> Markup {
    html! {
        @for (share, text) in SHARE_MARKS {
            (mark(share, 12.0, text))
            (vertical("grid", share, 17.0, height))
        }
        "\n"
    }
}

fn label(name: &str, y: f64) -> Markup {
    let x = coordinate(LEFT - 1.5) + "%";
    html! { text text-anchor="end" x=(x) y=(coordinate(y + BASE)) { (Text(name)) } }
}

fn count(count: u64, y: f64) -> Markup {
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

/// Height of the plotted area of curves, in pixels.
const PLOT: f64 = 260.0;

/// Distance of the plotted area from the top.
const TOP: f64 = 10.0;

/// Months between two numbers of the axis.
const TICK_MONTHS: u32 = 60;

/// Age in months to which the axis reaches at least.
const LEAST_MONTHS: u32 = 60;

/// Width of the box in which curves are drawn; it is stretched to the plotted area.
const BOX: f64 = 1000.0;

/// The observed share of surviving links among the links of an age.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgePoint {
    pub(super) years: u32,
    pub(super) share: Share,
}

/// Returns the estimated curves of survival by age, and the observed shares of the first.
pub(super) fn survival(
    dead: &SurvivalCurve,
    strict: &SurvivalCurve,
    points: &[AgePoint],
) -> Markup {
    let oldest = points.iter().map(|point| 12 * (point.years + 1));
    let months = oldest
        .chain([dead.end, strict.end, LEAST_MONTHS])
        .max()
        .map_or(LEAST_MONTHS, |months| months.next_multiple_of(12));
    let chart = html! {
        (survival_axes(months))
        svg x={ (coordinate(LEFT)) "%" } width={ (coordinate(WIDTH)) "%" } y=(coordinate(TOP))
            height=(coordinate(PLOT)) viewBox={ "0 0 " (BOX) " " (PLOT) }
            preserveAspectRatio="none" {
            (curve("strict", strict, months))
            (curve("curve", dead, months))
        } "\n"
        @for point in points { (observed(*point, months)) }
    };
    figure(
        TOP + PLOT + 42.0,
        "Survival from the first citation",
        "share of links that survive, by age in years; the tables below have the values",
        &chart,
        &survival_legend(),
    )
}

fn survival_axes(months: u32) -> Markup {
    let x = coordinate(LEFT - 1.5) + "%";
    html! {
        @for (share, text) in SHARE_MARKS {
            @let y = height_of(share);
            (horizontal(if text == "50" { "half" } else { "grid" }, y, 0.0, 1.0))
            text.tick text-anchor="end" x=(x) y=(coordinate(y + 4.0)) { (text) }
        }
        @for tick in (0..=months).step_by(TICK_MONTHS as usize) {
            @let share = f64::from(tick) / f64::from(months);
            (vertical("grid", share, TOP + PLOT, TOP + PLOT + 5.0))
            (mark(share, TOP + PLOT + 18.0, &(tick / 12).to_string()))
        }
        (mark(0.5, TOP + PLOT + 36.0, "age in years")) "\n"
    }
}

/// Returns a curve. Where lifetimes do not show how survival falls, it falls along a straight line.
fn curve(class: &str, curve: &SurvivalCurve, months: u32) -> Markup {
    let mut corners = vec![(0, 1.0)];
    let mut before = 1.0;
    for step in &curve.steps {
        corners.extend([(step.after, before), (step.until, step.survival)]);
        before = step.survival;
    }
    corners.push((curve.end, before));
    let point = |(age, share): (u32, f64)| {
        let x = coordinate(BOX * f64::from(age) / f64::from(months));
        let y = coordinate(PLOT * (1.0 - share));
        format!("{x},{y} ")
    };
    let points: String = corners.into_iter().map(point).collect();
    html! { polyline vector-effect="non-scaling-stroke" class=(class) points=(points) {} }
}

/// Returns the observed share of an age in the middle of its year.
fn observed(point: AgePoint, months: u32) -> Markup {
    let x = (f64::from(point.years) * 12.0 + 6.0) / f64::from(months);
    let Share { share, interval } = point.share;
    html! {
        (vertical("whisker", x, height_of(interval.high), height_of(interval.low)))
        circle.dot r="3" cx=(position(x)) cy=(coordinate(height_of(share))) {} "\n"
    }
}

fn height_of(share: f64) -> f64 {
    TOP + PLOT * (1.0 - share)
}

fn survival_legend() -> Markup {
    html! {
        ul.legend {
            li { svg aria-hidden="true" focusable="false" {
                line.curve x1="0" x2="100%" y1="50%" y2="50%" {}
            } "estimated: not dead" }
            li { svg aria-hidden="true" focusable="false" {
                line.strict x1="0" x2="100%" y1="50%" y2="50%" {}
            } "estimated: neither dead nor redirected" }
            li { svg aria-hidden="true" focusable="false" {
                line.whisker x1="50%" x2="50%" y1="0" y2="100%" {}
                circle.dot r="3" cx="50%" cy="50%" {}
            } "observed: not dead, with its interval" }
        } "\n"
    }
}
