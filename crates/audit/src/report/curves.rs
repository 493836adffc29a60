//! Charts of estimates: shares with confidence intervals, and survival curves.

use maud::{Markup, html};

use crate::statistics::{AgeSurvival, Interval, Share, SurvivalCurve};
use urlspool_store::page::charts::{
    AXIS, LEFT, ROW, SHARE_MARKS, WIDTH, axis, count, figure, height_of_rows, horizontal, label,
    mark, position, row_tops, vertical,
};
use urlspool_store::page::html::coordinate;

/// Renders a dot with its confidence interval for each name.
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
    html! {
        @if let Some(Interval { low, high }) = share.interval {
            (horizontal("whisker", y, low, high))
            (vertical("whisker", low, y - 3.5, y + 3.5))
            (vertical("whisker", high, y - 3.5, y + 3.5))
        }
        circle.dot r="3.5" cx=(position(share.share)) cy=(coordinate(y)) {} "\n"
    }
}

/// Height of the plot area of curves, in pixels.
const PLOT: f64 = 260.0;

/// Distance of the plot area from the top.
const TOP: f64 = 10.0;

/// Months between two labels of the axis.
const TICK_MONTHS: u32 = 60;

/// Minimum upper end of the axis, in months.
const LEAST_MONTHS: u32 = 60;

/// Width of the coordinate system for curves, which is stretched to the plot area.
const BOX: f64 = 1000.0;

/// Observed share of surviving links among the links of an age.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgePoint {
    /// Mean age in months.
    pub(super) months: f64,
    pub(super) share: Share,
}

/// Renders the estimated survival curves by age, and the observed shares of the first curve.
pub(super) fn survival(dead: &SurvivalCurve, strict: &SurvivalCurve, dots: &[AgePoint]) -> Markup {
    let ages = dead.ages.iter().chain(&strict.ages).map(|one| one.age);
    let oldest = ages.chain(dots.iter().map(|dot| dot.months));
    let oldest = oldest.fold(f64::from(LEAST_MONTHS), f64::max);
    let years = (1..).map(|years| 12 * years);
    let mut years = years.skip_while(|months| f64::from(*months) < oldest);
    let months = years.next().unwrap_or(LEAST_MONTHS);
    let chart = html! {
        (survival_axes(months))
        svg x={ (coordinate(LEFT)) "%" } width={ (coordinate(WIDTH)) "%" } y=(coordinate(TOP))
            height=(coordinate(PLOT)) viewBox={ "0 0 " (BOX) " " (PLOT) }
            preserveAspectRatio="none" {
            @for piece in strict.pieces() { (line("strict", &piece, months)) }
            @for piece in dead.pieces() { (line("curve", &piece, months)) }
        } "\n"
        @for dot in dots { (observed(*dot, months)) }
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

/// Renders a piece of a curve.
fn line(class: &str, piece: &[AgeSurvival], months: u32) -> Markup {
    let points: String = piece
        .iter()
        .map(|corner| {
            let x = coordinate(BOX * corner.age / f64::from(months));
            let y = coordinate(PLOT * (1.0 - corner.survival));
            format!("{x},{y} ")
        })
        .collect();
    html! { polyline vector-effect="non-scaling-stroke" class=(class) points=(points) {} }
}

/// Renders the observed share at an age.
fn observed(point: AgePoint, months: u32) -> Markup {
    let x = point.months / f64::from(months);
    let Share { share, interval } = point.share;
    html! {
        @if let Some(Interval { low, high }) = interval {
            (vertical("whisker", x, height_of(high), height_of(low)))
        }
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
