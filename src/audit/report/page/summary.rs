//! The first section: the figures to cite.

use super::PageContent;
use crate::audit::report::html::Html;
use crate::audit::report::html_table::interval;
use crate::audit::statistics::{HalfLife, Share};

/// Number of months in a year of age.
const YEAR_MONTHS: f64 = 12.0;

/// A note to figures that a machine without a network would give too.
const NO_REPLY: &str = "<p>No server replied in any check. Perhaps the machine that checked had no network; \
                        check the links again before you cite these figures.</p>\n";

pub(super) fn section(html: &mut Html, content: &PageContent) {
    let total = &content.figures.total;
    html.raw("<section aria-label=\"Summary\">\n<dl class=\"cards\">\n<div><dt>Links cited</dt><dd><span class=\"figure\">")
        .count(content.figures.links)
        .raw("</span><br>");
    html.count(total.links())
        .raw(" planned, ")
        .count(total.known());
    html.raw(" with a result</dd></div>\n");
    card(html, "Dead, of the links with a result", total.dead_share());
    html.raw("<div><dt>Half-life from the first citation</dt><dd><span class=\"figure\">");
    match &content.survival {
        None => html.raw("not known</span><br>no result has an age"),
        Some(survival) => {
            half_life(html, survival.dead.half_life()).raw("</span><br>");
            html.raw("if redirected links count as dead: ");
            half_life(html, survival.strict.half_life())
        }
    };
    html.raw("</dd></div>\n");
    card(
        html,
        "Lost, of the dead links that an archive was asked for",
        total.lost_share(),
    );
    html.raw("</dl>\n");
    let sources = &content.figures.sources;
    if 0 < sources.checks && sources.replies == 0 {
        html.raw(NO_REPLY);
    }
    html.raw("</section>\n");
}

fn card(html: &mut Html, title: &'static str, share: Option<Share>) {
    html.raw("<div><dt>")
        .raw(title)
        .raw("</dt><dd><span class=\"figure\">");
    match share {
        None => html.raw("not known</span>"),
        Some(share) => {
            html.percent(share.share)
                .raw("</span><br>95\u{a0}% interval <span class=\"whole\">");
            interval(html, &share).raw("</span>")
        }
    };
    html.raw("</dd></div>\n");
}

/// Appends a half-life, as the interval in which half of the links end.
pub(super) fn half_life(html: &mut Html, half_life: HalfLife) -> &mut Html {
    let years = |months: u32| format!("{:.1}", f64::from(months) / YEAR_MONTHS);
    match half_life {
        HalfLife::Between { after: 0, until } => {
            html.text(&format!("at most {} years", years(until)))
        }
        HalfLife::Between { after, until } if years(after) == years(until) => {
            html.text(&format!("{} years", years(until)))
        }
        HalfLife::Between { after, until } => {
            html.text(&format!("{}\u{2013}{} years", years(after), years(until)))
        }
        HalfLife::NotReached { .. } => html.raw("not reached"),
    }
}
