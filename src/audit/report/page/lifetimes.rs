//! Survival from the first citation, and the half-life.

use super::PageContent;
use super::summary::half_life;
use crate::audit::report::chart::{AgePoint, survival as survival_chart};
use crate::audit::report::html::Html;
use crate::audit::report::html_table::{Cell, HtmlTable, TableColumn, number_column, text_column};
use crate::audit::report::survival::Survival;
use crate::audit::statistics::{HalfLife, SurvivalCurve};

const COLUMNS: [TableColumn; 8] = [
    text_column("Age in years"),
    number_column("Links"),
    number_column("With a result"),
    number_column("Alive"),
    number_column("Redirected"),
    number_column("Dead"),
    number_column("Not dead"),
    number_column("95\u{a0}% interval"),
];

pub(super) fn section(html: &mut Html, content: &PageContent) {
    html.raw("<section id=\"survival\">\n<h2>Survival</h2>\n");
    match &content.survival {
        None => {
            html.raw("<p>No link has a result and a known date of its first citation.</p>\n");
        }
        Some(survival) => curves(html, content, survival),
    }
    html.raw("</section>\n");
}

fn curves(html: &mut Html, content: &PageContent, survival: &Survival) {
    let ages = &content.figures.ages;
    html.raw("<p>Survival is counted from the first citation, of ");
    html.counted(ages.links, "link", "links").raw(". ");
    html.counted(ages.checked_again, "of them was", "of them were");
    html.raw(" checked more than once. Such links ended between the last check that found them living and the first after it \
              that found them dead. A link that was checked once ended before the check, or lives longer than its age then. \
              Links with a result that are not counted, because the date of their first citation is not known or is after the check: ");
    html.count(ages.without_age);
    html.raw(".</p>\n");
    html.raw("<dl class=\"facts\"><dt>Half-life</dt><dd>");
    half_life_sentence(html, &survival.dead);
    html.raw("</dd><dt>Half-life if redirected links count as dead</dt><dd>");
    half_life_sentence(html, &survival.strict);
    html.raw("</dd></dl>\n");
    let points: Vec<_> = ages
        .by_year
        .iter()
        .filter_map(|(years, tally)| {
            let share = tally.surviving_share()?;
            Some(AgePoint {
                years: *years,
                share,
            })
        })
        .collect();
    survival_chart(html, &survival.dead, &survival.strict, &points);
    table(html, content);
}

fn half_life_sentence(html: &mut Html, curve: &SurvivalCurve) {
    half_life(html, curve.half_life());
    if let HalfLife::NotReached { survival } = curve.half_life() {
        html.raw(": ").percent(survival);
        html.text(&format!(
            " survive {:.1} years, after which nothing is known",
            f64::from(curve.end) / 12.0
        ));
    }
    if !curve.is_converged {
        html.raw(" (the estimate was ended before it had converged)");
    }
}

fn table(html: &mut Html, content: &PageContent) {
    let mut table = HtmlTable::begin(html, "Links by age at their newest check", &COLUMNS);
    for (years, tally) in &content.figures.ages.by_year {
        use crate::audit::state::LinkState::{Alive, Redirected};
        let years = years.to_string();
        table.row(&[
            Cell::Foreign(&years),
            Cell::Count(tally.links()),
            Cell::Count(tally.known()),
            Cell::Count(tally.count(Alive)),
            Cell::Count(tally.count(Redirected)),
            Cell::Count(tally.dead()),
            Cell::Share(tally.surviving_share()),
            Cell::Interval(tally.surviving_share()),
        ]);
    }
    table.end();
}
