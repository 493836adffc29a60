//! The sections of the report page.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use maud::{Markup, PreEscaped, html};

use super::SenderPolicy;
use super::curves::{AgePoint, intervals, survival};
use super::figures::{
    BothSurvivals, DEAD_PROTOCOLS, Figures, Period, Shares, Tallies, Tally, by_links,
};
use super::links::{ArchiveAnswer, AuditedLink, Citation, CitedLink, Provenance};
use super::other_steps::{OldProtocolCounts, PageFigures, old_protocols, pages, saves};
use crate::confirmation::ConfirmationRule;
use crate::plan::Exclusion;
use crate::save::SaveOutcome;
use crate::state::LinkState;
use crate::statistics::{HalfLife, Interval, Share, Survival};
use urlspool_files::config::NamedValue;
use urlspool_store::page::charts::{BarRow, BarScale, BarSeries, bars};
use urlspool_store::page::document;
use urlspool_store::page::html::{
    Cell, Text, card, count_table, date, day, foreign, number_column, percent, ratio, table,
    text_column,
};
use urlspool_text::diagnostic::{counted, grouped, printable};
use urlspool_text::limits::REPORT_GROUPS;

/// Description of the method: definitions, statistics, limits.
const METHOD: &str = include_str!("page/method.html");

/// A section of the page: its identifier, its title in the navigation, its title, and its content.
type Section = (
    &'static str,
    &'static str,
    &'static str,
    fn(&PageContent) -> Markup,
);

#[rustfmt::skip]
const SECTIONS: [Section; 11] = [
    ("years", "By year", "By year of citation", years),
    ("confirmed", "Confirmed deaths", "Confirmed deaths", confirmed),
    ("survival", "Survival", "Survival", lifetimes),
    ("archive", "Archived or lost", "Archived or lost", archive),
    ("studies", "Other studies", "Other studies", studies),
    ("pages", "Living pages", "Living pages", |content| pages(&content.pages)),
    ("groups", "Hosts, domains, lists", "Hosts, domains, lists, schemes", groups),
    ("protocols", "Dead protocols", "Dead protocols", protocols),
    ("cited", "Most cited dead links", "Most cited dead links", cited),
    ("method", "Method", "Method", method),
    ("origin", "Data", "Data", origin),
];

/// All data shown on the page.
#[derive(Debug)]
pub(super) struct PageContent {
    pub(super) provenance: Provenance,
    pub(super) figures: Figures,
    /// Links that were loaded or removed after the plan was made, by words that follow "links".
    pub(super) changes: BTreeMap<String, u64>,
    /// `None` if no link has a result and an age.
    pub(super) survival: Option<BothSurvivals>,
    pub(super) most_cited: Vec<CitedLink>,
    pub(super) pages: PageFigures,
    pub(super) old_protocols: OldProtocolCounts,
    pub(super) saves: BTreeMap<SaveOutcome, u64>,
    pub(super) senders: SenderPolicy,
    /// Rule for confirming dead links.
    pub(super) rule: ConfirmationRule,
}

pub(super) fn page(content: &PageContent) -> String {
    let header = html! {
        (heading(content))
        nav aria-label="Sections" { ul {
            @for (id, short, ..) in SECTIONS { li { a href={ "#" (id) } { (short) } } }
        } } "\n"
    };
    let main = html! {
        (summary(content))
        @for (id, _, title, body) in SECTIONS {
            section id=(id) { "\n"
                h2 { (title) } "\n"
                (body(content))
            } "\n"
        }
    };
    document(&printable(title(content)), &header, &main)
}

/// Renders the most cited dead links. The links themselves are plain text.
fn cited(content: &PageContent) -> Markup {
    let shown = content.most_cited.len() as u64;
    let more = content.figures.total.dead().saturating_sub(shown);
    html! {
        p {
            "The links are not clickable, because their hosts may have new owners. Their snapshots \
             are."
        } "\n"
        @if content.most_cited.is_empty() {
            p { "No link is known to be dead." } "\n"
        } @else {
            ol.cited { "\n"
                @for cited in &content.most_cited { (cited_link(cited, content.senders)) }
            } "\n"
            @if 0 < more {
                p.soft { (counted(more, "more is", "more are")) " in dead-links.csv." } "\n"
            }
        }
    }
}

fn cited_link(cited: &CitedLink, senders: SenderPolicy) -> Markup {
    let link = &cited.link;
    html! {
        li {
            span.url { (foreign(&link.url)) } br;
            (link.state().meaning())
            " (" (Text(&link.result())) ", " (day(link.checked_at()))
            @if link.is_confirmed { ", confirmed" } @else { ", not confirmed" } "); "
            (counted(link.citations, "citation", "citations")) " in "
            (counted(link.messages, "message", "messages"))
            @if let Some(first) = &link.first_cited { ", first on " (day(first)) }
            "; " (snapshot(link)) "\n"
            ul { "\n" @for citation in &cited.citations { (citation_line(citation, senders)) } }
        } "\n"
    }
}

fn snapshot(link: &AuditedLink) -> Markup {
    let Some(address) = link.snapshot() else {
        return html! {
            @if link.archive() == ArchiveAnswer::None { "lost: the archive holds no capture" }
            @else { "archived" }
        };
    };
    html! {
        a rel="noreferrer noopener" href=(address) {
            @if link.archive() == ArchiveAnswer::Captured { "snapshot" }
            @else { "snapshot in the Wayback Machine, if it has one" }
        }
    }
}

fn citation_line(citation: &Citation, senders: SenderPolicy) -> Markup {
    let [sender, message_id] = match senders {
        SenderPolicy::Named => [&citation.sender, &citation.message_id].map(Option::as_deref),
        SenderPolicy::LeftOut => [None, None],
    };
    let parts = [
        (", from ", sender),
        (", subject ", citation.subject.as_deref()),
        (", link text ", citation.anchor.as_deref()),
        (", list ", citation.list.as_deref()),
        (", message ", message_id),
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
        (PreEscaped(METHOD))
        @if content.figures.sources.servers.is_empty() { p { "No archive was asked." } "\n" }
    }
}

/// Returns the title of the plan, or the kind of report.
fn title(content: &PageContent) -> &str {
    let title = content.provenance.value("title");
    title.unwrap_or("Link-rot audit")
}

/// Renders the lines below the title.
fn heading(content: &PageContent) -> Markup {
    let (origin, checked) = (&content.provenance, &content.figures.sources.checked);
    let [collection, author, program, planned_at] =
        ["collection", "author", "program", "planned_at"].map(|name| origin.value(name));
    // The report has the date of its data, so the same database produces the same file.
    let date = checked.as_ref().map(|checked| checked.last.as_str());
    let date = date.or(planned_at).unwrap_or_default();
    let year = date.split('-').next().unwrap_or_default();
    html! {
        @if let Some(author) = author { p { "By " (foreign(author)) "." } "\n" }
        p {
            "The links in " (foreign(collection.unwrap_or(&origin.database)))
            @if checked.is_none() { ", which were not checked yet." }
            @else { ", checked " (period(checked.as_ref())) "." }
        } "\n"
        p {
            "How to cite: "
            @if let Some(author) = author { (foreign(author)) " (" (Text(year)) "). " }
            (foreign(title(content))) ". "
            @if let Some(collection) = collection { (foreign(collection)) ". " }
            "urlspool " (Text(program.unwrap_or_default())) ", data of " (day(date)) "."
        } "\n"
    }
}

/// Renders the database, dates, versions, the sample and the excluded links.
fn origin(content: &PageContent) -> Markup {
    html! {
        (facts(content))
        (strata(content))
        p { "Links that were never checked, by the first reason that applies." } "\n"
        (exclusions(content))
    }
}

fn facts(content: &PageContent) -> Markup {
    let (origin, sources) = (&content.provenance, &content.figures.sources);
    let [planned_at, program, by, seed] = ["planned_at", "program", "by", "seed"]
        .map(|name| Text(origin.value(name).unwrap_or("not known")));
    html! {
        dl.facts { "\n"
            dt { "Database" } dd { (foreign(&origin.database)) } "\n"
            dt { "Planned" } dd { (planned_at) " by urlspool " (program) } "\n"
            dt { "Sample" } dd {
                @match origin.value("sample") {
                    None => "none: all links that may be checked are planned",
                    Some(size) => {
                        (Text(size)) @if size == "1" { " link" } @else { " links" }
                        ", by " (by) ", seed " (seed)
                    },
                }
            } "\n"
            dt { "Exclusions that were lifted" }
            dd { (Text(origin.value("force").unwrap_or("none"))) } "\n"
            dt { "Private hosts" } dd { (Text(origin.value("allow_private").unwrap_or("no"))) } "\n"
            dt { "Checks" }
            dd { (grouped(sources.checks)) ", " (period(sources.checked.as_ref())) } "\n"
            dt { "Checkers" } dd { (names(&sources.checkers)) } "\n"
            dt { "Archive" } dd { (names(&sources.servers)) } "\n"
            dt { "Archive was asked" } dd { (period(sources.asked.as_ref())) } "\n"
            @if 0 < sources.clean_captures {
                dt { "Captures without tracking parameters" }
                dd { (grouped(sources.clean_captures)) ", only under the URL without them" } "\n"
            }
        } "\n"
    }
}

/// Renders the days of a period.
fn period(period: Option<&Period>) -> Markup {
    match period {
        None => html! { "never" },
        Some(Period { first, last }) if date(first) == date(last) => html! { "on " (day(first)) },
        Some(Period { first, last }) => html! { "from " (day(first)) " to " (day(last)) },
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
    let rows = strata.map(|stratum| (&stratum.name, [stratum.population, stratum.sampled]));
    let columns = ["Links", "In the sample"];
    html! {
        p {
            "Shares are weighted by stratum: each link of the sample represents the links of its \
             stratum divided by its sampled links. Numbers of links are of the sample."
        } "\n"
        (count_table("Strata of the sample", "Stratum", columns, rows, None))
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
    let mut rows = Vec::new();
    for (reason, count) in &figures.excluded {
        let meaning = Exclusion::named(reason).map_or("", Exclusion::meaning);
        let count = Cell::Count(*count);
        rows.push(vec![Cell::Foreign(reason), Cell::Own(meaning), count]);
    }
    if 0 < outside {
        let meaning = Cell::Own("not in the sample");
        rows.push(vec![Cell::Own("sample"), meaning, Cell::Count(outside)]);
    }
    let all = Cell::Count(left_out + outside);
    let last = vec![Cell::Own("All"), Cell::Own(""), all];
    table(
        "Links that were left out",
        &columns,
        rows.into_iter(),
        Some(last),
    )
}

/// Number of months in a year of age.
const YEAR_MONTHS: f64 = 12.0;

/// Title of the columns with confidence intervals.
const INTERVAL: &str = "95\u{a0}% interval";

/// Title of the columns with shares of hosts.
const OF_HOSTS: &str = "Of hosts";

/// Renders the headline figures.
fn summary(content: &PageContent) -> Markup {
    let (total, sources) = (&content.figures.total, &content.figures.sources);
    html! {
        section aria-label="Summary" { "\n"
            dl.cards { "\n"
                (card(
                    "Links cited",
                    &html! { (grouped(content.figures.links)) },
                    &html! {
                        (grouped(total.links())) " planned, " (grouped(total.known()))
                        " with a result"
                    },
                ))
                (share_card("Dead, of the links with a result", total.dead_shares()))
                (share_card(
                    "Confirmed dead, of the links with a result",
                    total.confirmed_shares(),
                ))
                (half_life_card(content.survival.as_ref()))
                (share_card(
                    "Lost, of the dead links that an archive was asked for",
                    total.lost_shares(),
                ))
            } "\n"
            @for (words, count) in &content.changes {
                p {
                    (counted(*count, "link", "links")) " " (words)
                    ". This report counts the links of the plan."
                } "\n"
            }
            // A machine without a network would also produce such figures.
            @if 0 < sources.checks && sources.replies == 0 {
                p {
                    "No server replied in any check. The machine may have had no network; check \
                     the links again before you cite these numbers."
                } "\n"
            }
        } "\n"
    }
}

fn share_card(title: &str, shares: Shares) -> Markup {
    let Some(share) = shares.links else {
        return card(title, &html! { "not known" }, &html! {});
    };
    let note = html! {
        "95\u{a0}% interval " span.whole { (interval(&share)) }
        @if let Some(hosts) = shares.hosts {
            "; of hosts " span.whole { (share_and_interval(&hosts)) }
        }
    };
    card(title, &html! { (percent(share.share)) }, &note)
}

fn half_life_card(survival: Option<&BothSurvivals>) -> Markup {
    let title = "Half-life from the first citation";
    let Some(survival) = survival else {
        return card(
            title,
            &html! { "not known" },
            &html! { "no result has an age" },
        );
    };
    let (age, interval) = half_life(&survival.dead);
    let note = html! {
        @if let Some(interval) = interval {
            "95\u{a0}% interval " span.whole { (interval) } "; "
        }
        "if redirected links count as dead: " (half_life(&survival.strict).0)
    };
    card(title, &html! { (age) }, &note)
}

/// Returns a half-life. If the ages of checks determine it, returns an age with its interval.
/// Otherwise, returns the ends of the interval as bounds.
fn half_life(survival: &Survival) -> (String, Option<String>) {
    let HalfLife { low, high } = survival.interval;
    let is_known = survival.half_life.low >= survival.half_life.high;
    let bounds = match (0.0 < low, high.is_finite()) {
        (false, false) => "not determined by these ages".to_owned(),
        (false, true) => format!("at most {}", years_text(high)),
        (true, false) => format!("more than {}", years_text(low)),
        (true, true) if is_known => {
            let interval = format!("{:.1}\u{2013}{}", low / YEAR_MONTHS, years_text(high));
            return (years_text(survival.half_life.low), Some(interval));
        }
        (true, true) => format!("between {:.1} and {}", low / YEAR_MONTHS, years_text(high)),
    };
    (bounds, None)
}

fn years_text(months: f64) -> String {
    format!("{:.1} years", months / YEAR_MONTHS)
}

/// States in the order of the segments of a bar, with their CSS classes.
const STATES: [(LinkState, &str); 4] = [
    (LinkState::Alive, "alive"),
    (LinkState::Redirected, "redirected"),
    (LinkState::DeadPage, "dead-page"),
    (LinkState::DeadHost, "dead-host"),
];

const fn series(class: &'static str, name: &'static str) -> BarSeries {
    BarSeries { class, name }
}

/// Returns a share, its interval, and the share of hosts with its interval.
fn share_cells(shares: Shares) -> [Cell<'static>; 3] {
    [
        measure(shares.links, |share| percent(share.share)),
        measure(shares.links, interval),
        measure(shares.hosts, share_and_interval),
    ]
}

/// Returns a cell that is sorted by the share.
fn measure(share: Option<Share>, text: fn(&Share) -> String) -> Cell<'static> {
    Cell::Measure {
        text: share.as_ref().map_or_else(|| "\u{2013}".to_owned(), text),
        value: share.map_or(-1.0, |share| share.share * 100.0),
    }
}

/// Formats the interval of a share as percentages: `12.1–15.0 %`.
fn interval(share: &Share) -> String {
    let Some(Interval { low, high }) = share.interval else {
        return "\u{2013}".to_owned();
    };
    format!("{:.1}\u{2013}{}", low * 100.0, percent(high))
}

/// Formats a share and its interval: `13.4 % (12.1–15.0 %)`.
fn share_and_interval(share: &Share) -> String {
    format!("{} ({})", percent(share.share), interval(share))
}

/// A column with a count from a tally: its title and its value.
type TallyColumn = (&'static str, fn(&Tally) -> u64);

/// Counts of all links, by state.
const LINKS: [TallyColumn; 7] = [
    ("Links", Tally::links),
    ("Alive", |tally| tally.count(LinkState::Alive)),
    ("Redirected", |tally| tally.count(LinkState::Redirected)),
    ("Dead page", |tally| tally.count(LinkState::DeadPage)),
    ("Dead host", |tally| tally.count(LinkState::DeadHost)),
    ("Unknown", |tally| tally.count(LinkState::Unknown)),
    ("Archived", |tally| tally.archived),
];

/// A table with counts from tallies and a share with its intervals.
struct TallyTable<'t> {
    caption: &'t str,
    /// Title of the first column.
    of: &'static str,
    numbers: &'t [TallyColumn],
    /// Title of the share.
    share: &'static str,
    shares: fn(&Tally) -> Shares,
}

impl TallyTable<'_> {
    /// Renders the table with a row for each tally and a row for `total`.
    fn html<'r>(
        &self,
        rows: impl Iterator<Item = (&'r String, &'r Tally)>,
        total: Option<&Tally>,
    ) -> Markup {
        let mut columns = vec![text_column(self.of)];
        columns.extend(self.numbers.iter().map(|(title, _)| number_column(title)));
        columns.extend([self.share, INTERVAL, OF_HOSTS].map(number_column));
        let rows = rows.map(|(name, tally)| self.cells(Cell::Foreign(name), tally));
        let total = total.map(|tally| self.cells(Cell::Own("All"), tally));
        table(self.caption, &columns, rows, total)
    }

    fn cells<'r>(&self, name: Cell<'r>, tally: &Tally) -> Vec<Cell<'r>> {
        let mut cells = vec![name];
        let numbers = self.numbers.iter().map(|(_, value)| value(tally));
        cells.extend(numbers.map(Cell::Count));
        cells.extend(share_cells((self.shares)(tally)));
        cells
    }
}

/// Renders a table with a row for each year of citation.
fn table_of_years(content: &PageContent, table: &TallyTable<'_>) -> Markup {
    table.html(content.figures.years.iter(), Some(&content.figures.total))
}

/// Renders the links by year of first citation.
fn years(content: &PageContent) -> Markup {
    let years = &content.figures.years;
    let parts = STATES.map(|(state, class)| series(class, state.meaning()));
    let rows: Vec<_> = years
        .iter()
        .map(|(year, tally)| BarRow {
            name: year,
            parts: STATES
                .map(|(state, _)| tally.share(state).map_or(0.0, |share| share.share))
                .to_vec(),
            count: tally.known(),
        })
        .collect();
    let shares: Vec<_> = years
        .iter()
        .map(|(year, tally)| (year.as_str(), tally.dead_shares().links, tally.known()))
        .collect();
    html! {
        p {
            "Years are of the first citation, in UTC. Links without a known state count in no \
             share. The number after a bar counts the links with a result."
        } "\n"
        (bars(
            "States of links by year of citation",
            "the table below has the values",
            &parts,
            &rows,
            BarScale::Shares,
        ))
        (intervals(
            "Share of dead links, with 95\u{a0}% intervals",
            "dead page or dead host, among the links with a result; the table below has the \
             values",
            &shares,
        ))
        (table_of_years(content, &TallyTable {
            caption: "Links by year of citation",
            of: "Year",
            numbers: &LINKS,
            share: "Dead",
            shares: Tally::dead_shares,
        }))
    }
}

/// Renders bars and a table of the dead links by year. `parts` returns the segments of a bar.
fn dead_by_year(
    content: &PageContent,
    caption: &str,
    series: &[BarSeries],
    parts: fn(&Tally) -> Vec<f64>,
    table: &TallyTable<'_>,
) -> Markup {
    let years = content.figures.years.iter();
    let rows: Vec<_> = years
        .filter(|(_, tally)| 0 < tally.dead())
        .map(|(year, tally)| BarRow {
            name: year,
            parts: parts(tally),
            count: tally.dead(),
        })
        .collect();
    let description = "shares of the dead links; the table below has the values";
    html! {
        @if rows.is_empty() {
            p { "No link is known to be dead." } "\n"
        } @else {
            (bars(caption, description, series, &rows, BarScale::Shares))
            (table_of_years(content, table))
        }
    }
}

/// Renders the dead links by year: confirmed or not.
fn confirmed(content: &PageContent) -> Markup {
    html! {
        p {
            "The death of a link is confirmed after " (rule_words(content.rule))
            ", with no reply in between. Until then it is not confirmed: the host may have failed \
             only on the days of the checks."
        } "\n"
        (dead_by_year(
            content,
            "Dead links by year of citation: confirmed or not",
            &[series("lost", "confirmed"), series("unanswered", "not confirmed")],
            |tally| vec![tally.confirmed_part(), 1.0 - tally.confirmed_part()],
            &CONFIRMED,
        ))
    }
}

/// Describes the rule: `3 failures, each 3 days or more after the one before`.
fn rule_words(rule: ConfirmationRule) -> String {
    const HOUR_SECONDS: u64 = 3_600;
    const DAY_HOURS: u64 = 24;
    let hours = rule.apart.as_secs() / HOUR_SECONDS;
    let apart = if hours.is_multiple_of(DAY_HOURS) {
        counted(hours / DAY_HOURS, "day", "days")
    } else {
        counted(hours, "hour", "hours")
    };
    if rule.failures <= 1 {
        return "one failure".to_owned();
    }
    let failures = rule.failures;
    format!("{failures} failures, each at least {apart} after the previous one")
}

const CONFIRMED: TallyTable<'_> = TallyTable {
    caption: "Confirmed deaths by year of citation",
    of: "Year",
    numbers: &[
        ("With a result", Tally::known),
        ("Dead", Tally::dead),
        ("Confirmed", |tally| tally.confirmed),
        ("Not confirmed", |tally| tally.dead() - tally.confirmed),
    ],
    share: "Confirmed share",
    shares: Tally::confirmed_shares,
};

/// Renders the survival from the first citation.
fn lifetimes(content: &PageContent) -> Markup {
    html! {
        @match &content.survival {
            None => {
                p { "No link has a result and a first citation with a known date." } "\n"
            },
            Some(survival) => (curves(content, survival)),
        }
    }
}

fn curves(content: &PageContent, estimated: &BothSurvivals) -> Markup {
    let ages = &content.figures.ages;
    let points: Vec<_> = ages
        .by_year
        .values()
        .filter_map(|age| {
            Some(AgePoint {
                months: age.mean_months(),
                share: age.tally.surviving_shares().links?,
            })
        })
        .collect();
    html! {
        p {
            "Survival is counted from the first citation, of "
            (counted(ages.links, "link", "links")) ". "
            (counted(ages.checked_again, "of them was", "of them were"))
            " checked more than once. Such a link ended between the last check that found it alive \
             and the first later check that found it dead. A link that was checked once ended \
             before the check, or lives longer than its age then. Links not counted, because their \
             first citation has no known date or is after the check: "
            (grouped(ages.without_age)) "."
        } "\n"
        dl.facts {
            dt { "Half-life" } dd { (half_life_sentence(&estimated.dead)) }
            dt { "Half-life if redirected links count as dead" }
            dd { (half_life_sentence(&estimated.strict)) }
        } "\n"
        (survival(&estimated.dead.curve, &estimated.strict.curve, &points))
        (ages_table(content))
    }
}

fn half_life_sentence(survival: &Survival) -> String {
    let (mut text, interval) = half_life(survival);
    if let Some(interval) = interval {
        text += &format!(", 95\u{a0}% interval {interval}");
    }
    if !survival.curve.is_converged {
        text += " (the estimate stopped before it converged)";
    }
    text
}

fn ages_table(content: &PageContent) -> Markup {
    let ages = &content.figures.ages.by_year;
    let names: Vec<_> = ages.keys().map(u32::to_string).collect();
    let tallies = ages.values().map(|age| &age.tally);
    let table = TallyTable {
        caption: "Links by age at their first check",
        of: "Age in years",
        numbers: &[LINKS[0], LINKS[1], LINKS[2], ("Dead", Tally::dead)],
        share: "Not dead",
        shares: Tally::surviving_shares,
    };
    table.html(names.iter().zip(tallies), None)
}

/// Renders the dead links: archived or lost.
fn archive(content: &PageContent) -> Markup {
    html! {
        p {
            "A dead link is archived if the archive has a capture with a 2xx status, and lost if \
             the archive was asked and has none. Shares are of the dead links for which the \
             archive answered."
        } "\n"
        (dead_by_year(
            content,
            "Dead links by year of citation: archived or lost",
            &[
                series("archived", "archived"),
                series("unanswered", "not asked or no answer"),
                series("lost", "lost"),
            ],
            |tally| tally.archive_shares().to_vec(),
            &ARCHIVED,
        ))
        p {
            "The table below has all links with a known state, if the archive answered: safe are \
             living links that are archived, at risk the other living links; preserved are dead \
             links that are archived. The categories are those of the Hiberlink project (see \
             Method)."
        } "\n"
        (table_of_years(content, &PRESERVED))
        (saves(&content.saves))
    }
}

const PRESERVED: TallyTable<'_> = TallyTable {
    caption: "Links by year of citation: safe, at risk, preserved or lost",
    of: "Year",
    numbers: &[
        ("Safe", |tally| tally.safe),
        ("At risk", |tally| tally.at_risk),
        ("Preserved", |tally| tally.dead_archived),
        ("Lost", |tally| tally.lost),
    ],
    share: "Lost of all",
    shares: Tally::lost_of_all_shares,
};

/// Shares of dead links in other studies: the years of the links, the share, and the study.
const STUDIES: [(&str, RangeInclusive<u16>, &str, &str); 4] = [
    ("2013", 2013..=2013, "38\u{a0}%", "Pew 2024"),
    ("2013 to 2023", 2013..=2023, "25\u{a0}%", "Pew 2024"),
    (
        "1996 to 2000",
        1996..=2000,
        "a little more than half",
        "iPRES 2024",
    ),
    ("1996 to 2021", 1996..=2021, "64.7\u{a0}%", "iPRES 2024"),
];

/// Renders the shares of dead links of this audit next to those of other studies.
fn studies(content: &PageContent) -> Markup {
    let rows = STUDIES.iter().map(|(name, years, share, study)| {
        let dead = match dead_share_of(&content.figures.years, years) {
            Some(value) => Cell::Share(value),
            None => Cell::Own("no result"),
        };
        vec![Cell::Own(name), dead, Cell::Own(share), Cell::Own(study)]
    });
    let columns = ["Links of", "Dead here", "Dead there", "Study"].map(text_column);
    html! {
        p {
            "Years here are of the first citation in this archive; in Pew 2024 of the page in a \
             crawl of the Web, and in iPRES 2024 of the first capture by the Internet Archive. \
             Both were checked in 2023. People cite other pages than crawlers find, so differences \
             do not show an error of either. Method has the references."
        } "\n"
        (table("Shares of dead links here and in other studies", &columns, rows, None))
    }
}

/// Returns the share of dead links among the links of some years with a known state.
fn dead_share_of(tallies: &Tallies, years: &RangeInclusive<u16>) -> Option<f64> {
    let is_within = |year: &str| year.parse().is_ok_and(|year| years.contains(&year));
    let tallies = tallies.iter().filter(|(year, _)| is_within(year));
    let [dead, known] = tallies.fold([0.0, 0.0], |[dead, known], (_, tally)| {
        let [more_dead, more_known] = tally.dead_of_known();
        [dead + more_dead, known + more_known]
    });
    (0.0 < known).then(|| dead / known)
}

const ARCHIVED: TallyTable<'_> = TallyTable {
    caption: "Dead links by year of citation",
    of: "Year",
    numbers: &[
        ("Dead", Tally::dead),
        ("Archived", |tally| tally.dead_archived),
        ("Lost", |tally| tally.lost),
        ("Not asked", Tally::unanswered),
    ],
    share: "Lost share",
    shares: Tally::lost_shares,
};

/// Renders the links by scheme, top-level domain, domain, host and list.
fn groups(content: &PageContent) -> Markup {
    let figures = &content.figures;
    html! {
        p {
            "The list of a link comes from its first citation: the List-Id, otherwise the first \
             newsgroup, otherwise the file path."
        } "\n"
        (group("Links by scheme", "Scheme", &figures.schemes))
        (group("Links by top-level domain", "Domain", &figures.tlds))
        (group("Links by registrable domain", "Domain", &figures.domains))
        (group("Links by host", "Host", &figures.hosts))
        (group("Links by list", "List", &figures.lists))
    }
}

fn group(caption: &str, of: &'static str, tallies: &Tallies) -> Markup {
    let sorted = by_links(tallies);
    let table = TallyTable {
        caption,
        of,
        numbers: &LINKS,
        share: "Dead",
        shares: Tally::dead_shares,
    };
    let rows = sorted.iter().take(REPORT_GROUPS).copied();
    let more = sorted.len().saturating_sub(REPORT_GROUPS) as u64;
    html! {
        (table.html(rows, None))
        @if 0 < more {
            p.soft {
                "The table has those with most links; "
                (counted(more, "more is", "more are")) " in the CSV file."
            } "\n"
        }
    }
}

/// Renders the links of dead protocols by year of citation.
fn protocols(content: &PageContent) -> Markup {
    let years = &content.figures.protocols;
    let largest = years.values().map(|counts| counts.iter().sum()).max();
    let rows: Vec<_> = years
        .iter()
        .map(|(year, counts)| BarRow {
            name: year,
            parts: counts
                .map(|count| ratio(count, largest.unwrap_or(1)))
                .to_vec(),
            count: counts.iter().sum(),
        })
        .collect();
    let [gopher, wais, prospero, telnet] = DEAD_PROTOCOLS;
    let parts = [
        series("p1", gopher),
        series("p2", wais),
        series("p3", prospero),
        series("p4", telnet),
    ];
    let total = [0, 1, 2, 3].map(|index: usize| years.values().map(|counts| counts[index]).sum());
    html! {
        p {
            "Links to gopher, WAIS, Prospero and telnet have no state in the tables above. This \
             table counts them by the year of the first citation."
        } "\n"
        @if years.is_empty() {
            p { "There are none." } "\n"
        } @else {
            (bars(
                "Links to dead protocols by year of citation",
                "numbers of links; the table below has the values",
                &parts,
                &rows,
                BarScale::Numbers,
            ))
            (count_table("Links to dead protocols", "Year", DEAD_PROTOCOLS, years.iter(),
                Some(&total)))
        }
        (old_protocols(&content.old_protocols))
    }
}
