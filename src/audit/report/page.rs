//! The page: one HTML file without outside resources, readable without its script.

mod figures;

use maud::{Markup, PreEscaped, html};

use super::SenderPolicy;
use super::charts::patterns;
use super::dead_links::{Citation, CitedLink, DeadLink};
use super::figures::{Figures, Period, Survival};
use super::html::{
    Cell, Text, date, day, foreign, grouped, grouped_noun, number_column, table, text_column,
};
use super::links::{ArchiveAnswer, Provenance};
use crate::audit::plan::Exclusion;
use crate::audit::state::LinkState;

const STYLE: &str = include_str!("page/style.css");

/// The script: a button in each head of a table sorts its rows.
const SCRIPT: &str = include_str!("page/script.js");

/// SHA-256 of [`STYLE`], as the content security policy has it.
const STYLE_HASH: &str = "sha256-CHkO1TzHr3C7mTdGyQC2DR0Zd6KcX1Ly0Af4CX8Am/0=";

/// SHA-256 of [`SCRIPT`].
const SCRIPT_HASH: &str = "sha256-PHxd3ZO8sU+eZQnYrcKfc1Hd+1+RytWMuzJBrh7Y6bo=";

/// The method in words: definitions, statistics, limits.
const METHOD: &str = include_str!("page/method.html");

/// The sections that the navigation names.
const SECTIONS: [(&str, &str); 8] = [
    ("#years", "By year"),
    ("#survival", "Survival"),
    ("#archive", "Archived or lost"),
    ("#groups", "Hosts, domains, lists"),
    ("#protocols", "Dead protocols"),
    ("#cited", "Most cited dead links"),
    ("#method", "Method"),
    ("#origin", "Data"),
];

/// Everything that the page shows.
#[derive(Debug)]
pub(super) struct PageContent {
    pub(super) provenance: Provenance,
    pub(super) figures: Figures,
    /// `None` if no link has a result and an age.
    pub(super) survival: Option<Survival>,
    pub(super) most_cited: Vec<CitedLink>,
    pub(super) senders: SenderPolicy,
}

pub(super) fn page(content: &PageContent) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" { "\n"
            (head())
            body { "\n"
                header { "\n"
                    h1 { "Link-rot audit" } "\n"
                    (heading(content))
                    nav aria-label="Sections" { ul {
                        @for (id, title) in SECTIONS { li { a href=(id) { (title) } } }
                    } } "\n"
                } "\n"
                main { "\n"
                    (patterns())
                    (figures::summary(content))
                    (figures::years(content))
                    (figures::lifetimes(content))
                    (figures::archive(content))
                    (figures::groups(content))
                    (figures::protocols(content))
                    (cited(content))
                    (method(content))
                    (origin(content))
                } "\n"
                footer { p {
                    "Made by urlspool " (env!("CARGO_PKG_VERSION")) ". This file needs no network."
                } } "\n"
                script { (PreEscaped(SCRIPT)) } "\n"
            } "\n"
        } "\n"
    };
    page.into_string()
}

fn head() -> Markup {
    let policy = format!(
        "default-src 'none'; style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; base-uri \
         'none'; form-action 'none'"
    );
    html! {
        head { "\n"
            meta charset="utf-8"; "\n"
            meta http-equiv="Content-Security-Policy" content=(policy); "\n"
            meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
            meta name="color-scheme" content="light dark"; "\n"
            meta name="referrer" content="no-referrer"; "\n"
            title { "Link-rot audit" } "\n"
            style { (PreEscaped(STYLE)) } "\n"
        } "\n"
    }
}

/// The most cited dead links. The links themselves are text.
fn cited(content: &PageContent) -> Markup {
    html! {
        section #cited { "\n"
            h2 { "Most cited dead links" } "\n"
            p {
                "The links are not clickable: their hosts may belong to somebody else by now. \
                 Their snapshots are."
            } "\n"
            @if content.most_cited.is_empty() {
                p { "No link is known to be dead." } "\n"
            } @else {
                ol.cited { "\n"
                    @for cited in &content.most_cited { (cited_link(cited, content.senders)) }
                } "\n"
            }
        } "\n"
    }
}

fn cited_link(cited: &CitedLink, senders: SenderPolicy) -> Markup {
    let link = &cited.link;
    html! {
        li {
            span.url { (foreign(&link.url)) } br;
            @if link.state == LinkState::DeadHost { "dead host" } @else { "dead page" }
            " (" (Text(&link.result)) ", " (day(&link.checked_at)) "); "
            (grouped_noun(link.citations, "citation", "citations")) " in "
            (grouped_noun(link.messages, "message", "messages"))
            @if let Some(first) = &link.first_cited { ", first on " (day(first)) }
            "; " (snapshot(link)) "\n"
            ul { "\n" @for citation in &cited.citations { (citation_line(citation, senders)) } }
        } "\n"
    }
}

fn snapshot(link: &DeadLink) -> Markup {
    let Some(address) = &link.snapshot else {
        return html! {
            @if link.archive == ArchiveAnswer::None { "lost: the archive holds no capture" }
            @else { "archived" }
        };
    };
    html! {
        a rel="noreferrer noopener" href=(address) {
            @if link.archive == ArchiveAnswer::Captured { "snapshot" }
            @else { "snapshot in the Wayback Machine, if it has one" }
        }
    }
}

fn citation_line(citation: &Citation, senders: SenderPolicy) -> Markup {
    let named = |value| Option::filter(value, |_: &&str| senders == SenderPolicy::Named);
    let parts = [
        (", from ", named(citation.sender.as_deref())),
        (", subject ", citation.subject.as_deref()),
        (", link text ", citation.anchor.as_deref()),
        (", list ", citation.list.as_deref()),
        (", message ", named(citation.message_id.as_deref())),
        (", at ", Some(citation.place.as_str())),
    ];
    html! {
        li {
            (Text(citation.date.as_deref().map_or("undated", date)))
            @for (label, value) in parts {
                @if let Some(value) = value { span.soft { (label) } (foreign(value)) }
            }
        } "\n"
    }
}

fn method(content: &PageContent) -> Markup {
    html! {
        section #method { "\n"
            (PreEscaped(METHOD))
            @if content.figures.sources.servers.is_empty() {
                p { "No archive was asked." } "\n"
            }
        } "\n"
    }
}

/// Returns the lines below the title.
fn heading(content: &PageContent) -> Markup {
    let checked = &content.figures.sources.checked;
    html! {
        p {
            "Of the links in " (foreign(&content.provenance.database))
            @if checked.ends().is_none() { ", which were not checked yet." }
            @else { ", checked " (period(checked)) "." }
        } "\n"
    }
}

/// Returns the database, dates, versions, the sample, and the links that were left out.
fn origin(content: &PageContent) -> Markup {
    html! {
        section #origin { "\n"
            h2 { "Data" } "\n"
            (facts(content))
            (strata(content))
            p { "Links that were never checked, and the first reason that holds for each." } "\n"
            (exclusions(content))
        } "\n"
    }
}

fn facts(content: &PageContent) -> Markup {
    let (origin, sources) = (&content.provenance, &content.figures.sources);
    let value = |name| Text(origin.value(name).unwrap_or("not known"));
    html! {
        dl.facts { "\n"
            dt { "Database" } dd { (foreign(&origin.database)) } "\n"
            dt { "Planned" } dd { (value("planned_at")) " by urlspool " (value("program")) } "\n"
            dt { "Sample" } dd {
                @match origin.value("sample") {
                    None => "none: all links that may be checked are planned",
                    Some(size) => {
                        (Text(size)) @if size == "1" { " link" } @else { " links" }
                        ", by " (value("by")) ", seed " (value("seed"))
                    },
                }
            } "\n"
            dt { "Exclusions that were lifted" }
            dd { (Text(origin.value("force").unwrap_or("none"))) } "\n"
            dt { "Checks" }
            dd { (grouped(sources.checks)) ", " (period(&sources.checked)) } "\n"
            dt { "Checkers" } dd { (names(&sources.checkers)) } "\n"
            dt { "Archive" } dd { (names(&sources.servers)) } "\n"
            dt { "Archive was asked" } dd { (period(&sources.asked)) } "\n"
        } "\n"
    }
}

/// Returns the days of a period.
fn period(period: &Period) -> Markup {
    match period.ends() {
        None => html! { "never" },
        Some((first, last)) if date(first) == date(last) => html! { "on " (day(first)) },
        Some((first, last)) => html! { "from " (day(first)) " to " (day(last)) },
    }
}

fn names<'n>(names: impl IntoIterator<Item = &'n String>) -> Markup {
    let mut names = names.into_iter();
    html! {
        @if let Some(first) = names.next() {
            (foreign(first))
            @for name in names { ", " (foreign(name)) }
        } @else {
            "none"
        }
    }
}

fn strata(content: &PageContent) -> Markup {
    let mut strata = content.provenance.strata().peekable();
    if strata.peek().is_none() {
        return html! {};
    }
    let columns = [
        text_column("Stratum"),
        number_column("Links"),
        number_column("In the sample"),
    ];
    let rows = strata.map(|(name, size)| {
        vec![
            Cell::Foreign(name),
            Cell::Count(size.population),
            Cell::Count(size.sampled),
        ]
    });
    html! {
        p {
            "Shares are weighted: each link of the sample stands for as many links as its stratum \
             has for each link in the sample. Numbers of links are those of the sample."
        } "\n"
        (table("Strata of the sample", &columns, rows, None))
    }
}

fn exclusions(content: &PageContent) -> Markup {
    let figures = &content.figures;
    let allowed: u64 = figures.populations.values().sum();
    let outside = allowed - figures.total.links();
    let left_out: u64 = figures.excluded.values().sum();
    let columns = [
        text_column("Reason"),
        text_column("Meaning"),
        number_column("Links"),
    ];
    let row = |name, meaning, count| vec![name, Cell::Own(meaning), Cell::Count(count)];
    let excluded = figures.excluded.iter();
    let excluded =
        excluded.map(|(reason, count)| row(Cell::Foreign(reason), meaning(reason), *count));
    let sample = row(Cell::Own("sample"), "not in the sample", outside);
    let rows = excluded.chain((0 < outside).then_some(sample));
    let last = row(Cell::Own("All"), "", left_out + outside);
    table("Links that were left out", &columns, rows, Some(last))
}

fn meaning(reason: &str) -> &'static str {
    let known = Exclusion::ALL
        .into_iter()
        .find(|known| known.name() == reason);
    known.map_or("", Exclusion::meaning)
}

#[cfg(test)]
mod tests {
    use ring::digest::{SHA256, digest};

    use super::*;

    #[test]
    fn the_hashes_are_those_of_style_and_script() {
        for (text, expected) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            let hash = data_encoding::BASE64.encode(digest(&SHA256, text.as_bytes()).as_ref());
            assert_eq!(format!("sha256-{hash}"), expected);
        }
    }
}
