//! The data of the report: the database, dates, versions, the sample, and the links that were left out.

use super::PageContent;
use crate::audit::plan::Exclusion;
use crate::audit::report::figures::Period;
use crate::audit::report::html::Html;
use crate::audit::report::html_table::{Cell, HtmlTable, TableColumn, number_column, text_column};

const EXCLUSION_COLUMNS: [TableColumn; 3] = [
    text_column("Reason"),
    text_column("Meaning"),
    number_column("Links"),
];

const STRATUM_COLUMNS: [TableColumn; 3] = [
    text_column("Stratum"),
    number_column("Links"),
    number_column("In the sample"),
];

/// Appends the lines below the title.
pub(super) fn heading(html: &mut Html, content: &PageContent) {
    html.raw("<p>Of the links in ")
        .foreign(&content.provenance.database);
    match content.figures.sources.checked.ends() {
        None => html.raw(", which were not checked yet.</p>\n"),
        Some(_) => {
            html.raw(", checked ");
            period(html, &content.figures.sources.checked).raw(".</p>\n")
        }
    };
}

pub(super) fn section(html: &mut Html, content: &PageContent) {
    html.raw("<section id=\"origin\">\n<h2>Data</h2>\n");
    facts(html, content);
    strata(html, content);
    exclusions(html, content);
    html.raw("</section>\n");
}

fn facts(html: &mut Html, content: &PageContent) {
    let (origin, sources) = (&content.provenance, &content.figures.sources);
    let value = |name| origin.value(name).unwrap_or("not known");
    html.raw("<dl class=\"facts\">\n<dt>Database</dt><dd>")
        .foreign(&origin.database);
    html.raw("</dd>\n<dt>Planned</dt><dd>")
        .text(value("planned_at"));
    html.raw(" by urlspool ").text(value("program"));
    html.raw("</dd>\n<dt>Sample</dt><dd>");
    match origin.value("sample") {
        None => html.raw("none: all links that may be checked are planned"),
        Some(size) => html
            .text(size)
            .raw(if size == "1" {
                " link, by "
            } else {
                " links, by "
            })
            .text(value("by"))
            .raw(", seed ")
            .text(value("seed")),
    };
    html.raw("</dd>\n<dt>Exclusions that were lifted</dt><dd>")
        .text(origin.value("force").unwrap_or("none"));
    html.raw("</dd>\n<dt>Checks</dt><dd>")
        .count(sources.checks)
        .raw(", ");
    period(html, &sources.checked);
    html.raw("</dd>\n<dt>Checkers</dt><dd>");
    names(html, &sources.checkers);
    html.raw("</dd>\n<dt>Archive</dt><dd>");
    names(html, &sources.servers);
    html.raw("</dd>\n<dt>Archive was asked</dt><dd>");
    period(html, &sources.asked);
    html.raw("</dd>\n</dl>\n");
}

/// Appends the days of a period.
fn period<'h>(html: &'h mut Html, period: &Period) -> &'h mut Html {
    let day = |time: &str| time.split('T').next().unwrap_or_default().to_owned();
    match period.ends().map(|(first, last)| (day(first), day(last))) {
        None => html.raw("never"),
        Some((first, last)) if first == last => html.raw("on ").day(&first),
        Some((first, last)) => html.raw("from ").day(&first).raw(" to ").day(&last),
    }
}

fn names<'n>(html: &mut Html, names: impl IntoIterator<Item = &'n String>) {
    let mut separator = "";
    for name in names {
        html.raw(separator).foreign(name);
        separator = ", ";
    }
    if separator.is_empty() {
        html.raw("none");
    }
}

fn strata(html: &mut Html, content: &PageContent) {
    let mut strata = content.provenance.strata().peekable();
    if strata.peek().is_none() {
        return;
    }
    html.raw(
        "<p>Shares are weighted: each link of the sample stands for as many links as its stratum has for each link in the sample. \
         Numbers of links are those of the sample.</p>\n",
    );
    let mut table = HtmlTable::begin(html, "Strata of the sample", &STRATUM_COLUMNS);
    for (name, size) in strata {
        table.row(&[
            Cell::Foreign(name),
            Cell::Count(size.population),
            Cell::Count(size.sampled),
        ]);
    }
    table.end();
}

fn exclusions(html: &mut Html, content: &PageContent) {
    let figures = &content.figures;
    let allowed: u64 = figures.populations.values().sum();
    let outside = allowed - figures.total.links();
    html.raw("<p>Links that were never checked, and the first reason that holds for each.</p>\n");
    let mut table = HtmlTable::begin(html, "Links that were left out", &EXCLUSION_COLUMNS);
    let mut left_out = 0;
    for (reason, count) in &figures.excluded {
        left_out += count;
        table.row(&[
            Cell::Foreign(reason),
            Cell::Own(meaning(reason)),
            Cell::Count(*count),
        ]);
    }
    if 0 < outside {
        table.row(&[
            Cell::Own("sample"),
            Cell::Own("not in the sample"),
            Cell::Count(outside),
        ]);
    }
    table.end_with(&[
        Cell::Own("All"),
        Cell::Own(""),
        Cell::Count(left_out + outside),
    ]);
}

fn meaning(reason: &str) -> &'static str {
    let known = Exclusion::ALL
        .into_iter()
        .find(|known| known.name() == reason);
    known.map_or("", Exclusion::meaning)
}
