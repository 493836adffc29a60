//! Survival by age: estimated curves, and the observed share of each year of age with its interval.

use super::{LEFT, WIDTH, begin, horizontal, position, vertical};
use crate::audit::report::html::Html;
use crate::audit::statistics::{Share, SurvivalCurve};

/// Height of the plotted area, in pixels.
const PLOT: f64 = 260.0;

/// Distance of the plotted area from the top.
const TOP: f64 = 10.0;

/// Months between two numbers of the axis.
const TICK_MONTHS: u32 = 60;

/// Age in months to which the axis reaches at least.
const LEAST_MONTHS: u32 = 60;

/// Width of the box in which curves are drawn; it is stretched to the plotted area.
const BOX: f64 = 1000.0;

/// The observed share of links that survive among those of an age.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit::report) struct AgePoint {
    pub(in crate::audit::report) years: u32,
    pub(in crate::audit::report) share: Share,
}

/// Appends the curves of survival, and the points of the first.
pub(in crate::audit::report) fn survival(
    html: &mut Html,
    dead: &SurvivalCurve,
    strict: &SurvivalCurve,
    points: &[AgePoint],
) {
    let oldest = points.iter().map(|point| 12 * (point.years + 1));
    let months = oldest
        .chain([dead.end, strict.end, LEAST_MONTHS])
        .max()
        .map_or(LEAST_MONTHS, |months| months.next_multiple_of(12));
    begin(
        html,
        TOP + PLOT + 42.0,
        "Survival from the first citation",
        "share of links that survive, by age in years; the tables below have the values",
    );
    axes(html, months);
    html.raw("<svg x=\"")
        .coordinate(LEFT)
        .raw("%\" width=\"")
        .coordinate(WIDTH)
        .raw("%\" y=\"")
        .coordinate(TOP)
        .raw("\" height=\"")
        .coordinate(PLOT)
        .raw("\" viewBox=\"0 0 1000 260\" preserveAspectRatio=\"none\">");
    curve(html, "strict", strict, months);
    curve(html, "curve", dead, months);
    html.raw("</svg>\n");
    for point in points {
        observed(html, *point, months);
    }
    html.raw("</svg>\n");
    legend(html);
    html.raw("</figure>\n");
}

fn axes(html: &mut Html, months: u32) {
    for (share, text) in [
        (0.0, "0"),
        (0.25, "25"),
        (0.5, "50"),
        (0.75, "75"),
        (1.0, "100\u{a0}%"),
    ] {
        let y = height_of(share);
        let class = if text == "50" { "half" } else { "grid" };
        horizontal(html, class, y, 0.0, 1.0);
        html.raw("<text class=\"tick\" text-anchor=\"end\" x=\"")
            .coordinate(LEFT - 1.5)
            .raw("%\" y=\"")
            .coordinate(y + 4.0)
            .raw("\">")
            .raw(text)
            .raw("</text>");
    }
    for tick in (0..=months).step_by(TICK_MONTHS as usize) {
        let share = f64::from(tick) / f64::from(months);
        vertical(html, "grid", share, TOP + PLOT, TOP + PLOT + 5.0);
        html.raw("<text class=\"tick\" text-anchor=\"middle\" x=\"");
        position(html, share).raw("\" y=\"");
        html.coordinate(TOP + PLOT + 18.0)
            .raw("\">")
            .digits(u64::from(tick / 12))
            .raw("</text>");
    }
    html.raw("<text class=\"tick\" text-anchor=\"middle\" x=\"");
    position(html, 0.5).raw("\" y=\"");
    html.coordinate(TOP + PLOT + 36.0)
        .raw("\">age in years</text>\n");
}

/// Appends a curve. Where lifetimes do not show how survival falls, it falls along a straight line.
fn curve(html: &mut Html, class: &'static str, curve: &SurvivalCurve, months: u32) {
    let mut corners = vec![(0, 1.0)];
    let mut before = 1.0;
    for step in &curve.steps {
        corners.extend([(step.after, before), (step.until, step.survival)]);
        before = step.survival;
    }
    corners.push((curve.end, before));
    html.raw("<polyline vector-effect=\"non-scaling-stroke\" class=\"")
        .raw(class)
        .raw("\" points=\"");
    for (age, share) in corners {
        html.coordinate(BOX * f64::from(age) / f64::from(months))
            .raw(",")
            .coordinate(PLOT * (1.0 - share))
            .raw(" ");
    }
    html.raw("\"/>");
}

/// Appends the observed share of an age in the middle of its year.
fn observed(html: &mut Html, point: AgePoint, months: u32) {
    let x = (f64::from(point.years) * 12.0 + 6.0) / f64::from(months);
    let Share { share, interval } = point.share;
    let (high, low) = (height_of(interval.high), height_of(interval.low));
    vertical(html, "whisker", x, high, low);
    html.raw("<circle class=\"dot\" r=\"3\" cx=\"");
    position(html, x).raw("\" cy=\"");
    html.coordinate(height_of(share)).raw("\"/>\n");
}

fn height_of(share: f64) -> f64 {
    TOP + PLOT * (1.0 - share)
}

fn legend(html: &mut Html) {
    html.raw(
        "<ul class=\"legend\">\
         <li><svg aria-hidden=\"true\" focusable=\"false\"><line class=\"curve\" x1=\"0\" x2=\"100%\" y1=\"50%\" y2=\"50%\"/></svg>\
         estimated: not dead</li>\
         <li><svg aria-hidden=\"true\" focusable=\"false\"><line class=\"strict\" x1=\"0\" x2=\"100%\" y1=\"50%\" y2=\"50%\"/></svg>\
         estimated: neither dead nor redirected</li>\
         <li><svg aria-hidden=\"true\" focusable=\"false\"><line class=\"whisker\" x1=\"50%\" x2=\"50%\" y1=\"0\" y2=\"100%\"/>\
         <circle class=\"dot\" r=\"3\" cx=\"50%\" cy=\"50%\"/></svg>observed: not dead, with its interval</li></ul>\n",
    );
}
