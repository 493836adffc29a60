//! The page of a report: its sections.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};

use super::SenderPolicy;
use super::curves::{AgePoint, intervals, survival};
use super::figures::{BothSurvivals, DEAD_PROTOCOLS, Figures, Period, Shares, Tally, TallyMap};
use super::links::{ArchiveAnswer, Citation, CitedLink, DeadLink, Provenance};
use super::old_protocols::{OldProtocolFigures, old_protocols};
use super::pages::{PageFigures, pages};
use super::saves::saves;
use crate::audit::confirmation::ConfirmationRule;
use crate::audit::plan::Exclusion;
use crate::audit::save::SaveOutcome;
use crate::audit::state::LinkState;
use crate::audit::statistics::{HalfLife, Interval, Share, Survival};
use crate::diagnostic::{counted, grouped};
use crate::limits::REPORT_GROUPS;
use crate::page::charts::{BarRow, BarScale, BarSeries, bars};
use crate::page::document;
use crate::page::html::{
    Cell, Text, card, date, day, foreign, number_column, percent, ratio, table, text_column,
};

/// The method in words: definitions, statistics, limits.
const METHOD: &str = include_str!("page/method.html");

/// The sections that the navigation names.
const SECTIONS: [(&str, &str); 10] = [
    ("#years", "By year"),
    ("#confirmed", "Confirmed deaths"),
    ("#survival", "Survival"),
    ("#archive", "Archived or lost"),
    ("#pages", "Living pages"),
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
    /// Links that were loaded after the plan.
    pub(super) later_links: u64,
    /// `None` if no link has a result and an age.
    pub(super) survival: Option<BothSurvivals>,
    pub(super) most_cited: Vec<CitedLink>,
    pub(super) pages: PageFigures,
    pub(super) old_protocols: OldProtocolFigures,
    pub(super) saves: BTreeMap<SaveOutcome, u64>,
    pub(super) senders: SenderPolicy,
    /// The rule by which deaths are confirmed.
    pub(super) rule: ConfirmationRule,
}

pub(super) fn page(content: &PageContent) -> String {
    let header = html! {
        (heading(content))
        nav aria-label="Sections" { ul {
            @for (id, title) in SECTIONS { li { a href=(id) { (title) } } }
        } } "\n"
    };
    let main = html! {
        (summary(content))
        (years(content))
        (confirmed(content))
        (lifetimes(content))
        (archive(content))
        (pages(&content.pages))
        (groups(content))
        (protocols(content))
        (cited(content))
        (method(content))
        (origin(content))
    };
    document("Link-rot audit", &header, &main)
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
            (link.state.words().link)
            " (" (Text(&link.result)) ", " (day(&link.checked_at))
            @if link.is_confirmed { ", confirmed" } @else { ", seen once" } "); "
            (counted(link.citations, "citation", "citations")) " in "
            (counted(link.messages, "message", "messages"))
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
            @if 0 < sources.clean_captures {
                dt { "Captures without tracking parameters" }
                dd { (grouped(sources.clean_captures)) ", under the URL without them alone" } "\n"
            }
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

/// Number of months in a year of age.
const YEAR_MONTHS: f64 = 12.0;

/// Title of the columns of confidence intervals.
const INTERVAL: &str = "95\u{a0}% interval";

/// Title of the columns of the shares among hosts.
const OF_HOSTS: &str = "Of hosts";

/// Returns the figures to cite.
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
            @if 0 < content.later_links {
                p {
                    (counted(content.later_links, "link", "links"))
                    " came after the plan, with later loads, and count in no figure of this report."
                } "\n"
            }
            // A machine without a network would give such figures too.
            @if 0 < sources.checks && sources.replies == 0 {
                p {
                    "No server replied in any check. Perhaps the machine that checked had no \
                     network; check the links again before you cite these figures."
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
    let note = html! {
        @if let Some(interval) = half_life_interval(&survival.dead) {
            "95\u{a0}% interval " span.whole { (interval) } "; "
        }
        "if redirected links count as dead: " (half_life(&survival.strict))
    };
    card(title, &html! { (half_life(&survival.dead)) }, &note)
}

/// Returns a half-life: an age if the ages of checks determine it, else what they say.
fn half_life(survival: &Survival) -> String {
    let HalfLife { low, high } = survival.interval;
    let is_known = survival.half_life.low >= survival.half_life.high;
    match (0.0 < low, high.is_finite()) {
        (false, false) => "not determined by these ages".to_owned(),
        (false, true) => format!("at most {}", years_text(high)),
        (true, false) => format!("more than {}", years_text(low)),
        (true, true) if is_known => years_text(survival.half_life.low),
        (true, true) => format!("between {:.1} and {}", low / YEAR_MONTHS, years_text(high)),
    }
}

/// Returns the interval of a half-life that is an age; `None` if it is said by bounds, which are the
/// ends of the interval.
fn half_life_interval(survival: &Survival) -> Option<String> {
    let HalfLife { low, high } = survival.interval;
    let is_known = survival.half_life.low >= survival.half_life.high;
    (is_known && 0.0 < low && high.is_finite())
        .then(|| format!("{:.1}\u{2013}{}", low / YEAR_MONTHS, years_text(high)))
}

fn years_text(months: f64) -> String {
    format!("{:.1} years", months / YEAR_MONTHS)
}

/// The states in the order of the parts of a bar.
const STATES: [LinkState; 4] = [
    LinkState::Alive,
    LinkState::Redirected,
    LinkState::DeadPage,
    LinkState::DeadHost,
];

const fn series(class: &'static str, name: &'static str) -> BarSeries {
    BarSeries { class, name }
}

/// Returns an estimated share, in percent.
fn share_cell(share: Option<Share>) -> Cell<'static> {
    measure(share, |share| percent(share.share))
}

/// Returns a share with its interval, and that of hosts.
fn share_cells(shares: Shares) -> [Cell<'static>; 3] {
    [
        share_cell(shares.links),
        interval_cell(shares.links),
        hosts_cell(shares),
    ]
}

/// Returns a share of hosts with its interval.
fn hosts_cell(shares: Shares) -> Cell<'static> {
    measure(shares.hosts, share_and_interval)
}

/// Returns the confidence interval of a share.
fn interval_cell(share: Option<Share>) -> Cell<'static> {
    measure(share, interval)
}

/// Returns a cell that is sorted by the share.
fn measure(share: Option<Share>, text: fn(&Share) -> String) -> Cell<'static> {
    Cell::Measure {
        text: share.as_ref().map_or_else(|| "\u{2013}".to_owned(), text),
        value: share.map_or(-1.0, |share| share.share * 100.0),
    }
}

/// Returns the interval of a share as percentages: `12.1–15.0 %`.
fn interval(share: &Share) -> String {
    let Some(Interval { low, high }) = share.interval else {
        return "\u{2013}".to_owned();
    };
    format!("{:.1}\u{2013}{}", low * 100.0, percent(high))
}

/// Returns a share and its interval: `13.4 % (12.1–15.0 %)`.
fn share_and_interval(share: &Share) -> String {
    format!("{} ({})", percent(share.share), interval(share))
}

/// A column with a number of a tally: its title and its value.
type TallyColumn = (&'static str, fn(&Tally) -> u64);

/// The numbers of all links, by state.
const LINKS: [TallyColumn; 7] = [
    ("Links", Tally::links),
    ("Alive", |tally| tally.count(LinkState::Alive)),
    ("Redirected", |tally| tally.count(LinkState::Redirected)),
    ("Dead page", |tally| tally.count(LinkState::DeadPage)),
    ("Dead host", |tally| tally.count(LinkState::DeadHost)),
    ("Unknown", |tally| tally.count(LinkState::Unknown)),
    ("Archived", |tally| tally.archived),
];

/// A table with numbers of tallies, and a share with its intervals.
struct TallyTable<'t> {
    caption: &'t str,
    /// The title of the first column.
    of: &'static str,
    numbers: &'t [TallyColumn],
    /// The title of the share.
    share: &'static str,
    shares: fn(&Tally) -> Shares,
}

impl TallyTable<'_> {
    /// Returns the table with a row for each tally, and one for `total`.
    fn html<'r>(
        &self,
        rows: impl Iterator<Item = (&'r str, &'r Tally)>,
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

/// Returns a table with a row for each year of citation.
fn table_of_years(content: &PageContent, table: &TallyTable<'_>) -> Markup {
    let years = content.figures.years.iter();
    let years = years.map(|(year, tally)| (year.as_str(), tally));
    table.html(years, Some(&content.figures.total))
}

/// Returns the links by the year of their first citation.
fn years(content: &PageContent) -> Markup {
    let years = &content.figures.years;
    let parts = STATES.map(|state| series(state.words().class, state.words().link));
    let rows: Vec<_> = years
        .iter()
        .map(|(year, tally)| BarRow {
            name: year,
            parts: STATES
                .map(|state| tally.share(state).map_or(0.0, |share| share.share))
                .to_vec(),
            count: tally.known(),
        })
        .collect();
    let shares: Vec<_> = years
        .iter()
        .map(|(year, tally)| (year.as_str(), tally.dead_shares().links, tally.known()))
        .collect();
    html! {
        section #years { "\n"
            h2 { "By year of citation" } "\n"
            p {
                "The year is that of a link's first citation, in UTC. Links without a known state \
                 count in no share. The number after a bar is that of the links with a result."
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
        } "\n"
    }
}

/// Returns the dead links by year: confirmed, or seen once.
fn confirmed(content: &PageContent) -> Markup {
    let years = &content.figures.years;
    let rows: Vec<_> = years
        .iter()
        .filter(|(_, tally)| 0 < tally.dead())
        .map(|(year, tally)| BarRow {
            name: year,
            parts: vec![tally.confirmed_part(), 1.0 - tally.confirmed_part()],
            count: tally.dead(),
        })
        .collect();
    html! {
        section #confirmed { "\n"
            h2 { "Confirmed deaths" } "\n"
            p {
                "The death of a link is confirmed after " (rule_words(content.rule))
                ", with no reply in between. Else it is seen once: the host may have failed on that \
                 day only."
            } "\n"
            @if rows.is_empty() {
                p { "No link is known to be dead." } "\n"
            } @else {
                (bars(
                    "Dead links by year of citation: confirmed or seen once",
                    "shares of the dead links; the table below has the values",
                    &[series("lost", "confirmed"), series("unanswered", "seen once")],
                    &rows,
                    BarScale::Shares,
                ))
                (table_of_years(content, &CONFIRMED))
            }
        } "\n"
    }
}

/// Returns the rule in words: `3 failures, each 3 days or more after the one before`.
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
    format!("{failures} failures, each {apart} or more after the one before")
}

const CONFIRMED: TallyTable<'_> = TallyTable {
    caption: "Confirmed deaths by year of citation",
    of: "Year",
    numbers: &[
        ("With a result", Tally::known),
        ("Dead", Tally::dead),
        ("Confirmed", |tally| tally.confirmed),
        ("Seen once", |tally| tally.dead() - tally.confirmed),
    ],
    share: "Confirmed share",
    shares: Tally::confirmed_shares,
};

/// Returns the survival from the first citation.
fn lifetimes(content: &PageContent) -> Markup {
    html! {
        section #survival { "\n"
            h2 { "Survival" } "\n"
            @match &content.survival {
                None => {
                    p { "No link has a result and a known date of its first citation." } "\n"
                },
                Some(survival) => (curves(content, survival)),
            }
        } "\n"
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
            " checked more than once. Such links ended between the last check that found them \
             living and the first after it that found them dead. A link that was checked once \
             ended before the check, or lives longer than its age then. Links with a result that \
             are not counted, because the date of their first citation is not known or is after \
             the check: "
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
    let mut text = half_life(survival);
    if let Some(interval) = half_life_interval(survival) {
        text += &format!(", 95\u{a0}% interval {interval}");
    }
    if !survival.curve.is_converged {
        text += " (the estimate was ended before it had converged)";
    }
    text
}

fn ages_table(content: &PageContent) -> Markup {
    let ages: Vec<_> = content.figures.ages.by_year.iter().collect();
    let names: Vec<_> = ages.iter().map(|(years, _)| years.to_string()).collect();
    let rows = names.iter().map(String::as_str);
    let table = TallyTable {
        caption: "Links by age at their first check",
        of: "Age in years",
        numbers: &[LINKS[0], LINKS[1], LINKS[2], ("Dead", Tally::dead)],
        share: "Not dead",
        shares: Tally::surviving_shares,
    };
    table.html(rows.zip(ages.iter().map(|(_, age)| &age.tally)), None)
}

/// Returns the dead links: archived or lost.
fn archive(content: &PageContent) -> Markup {
    let years = &content.figures.years;
    let rows: Vec<_> = years
        .iter()
        .filter(|(_, tally)| 0 < tally.dead())
        .map(|(year, tally)| {
            let shares = tally.archive_shares();
            BarRow {
                name: year,
                parts: vec![shares.archived, shares.unanswered, shares.lost],
                count: tally.dead(),
            }
        })
        .collect();
    html! {
        section #archive { "\n"
            h2 { "Archived or lost" } "\n"
            p {
                "A dead link is archived if the archive holds a capture with a 2xx status, and \
                 lost if the archive was asked and holds none. The share is that of the dead \
                 links for which the archive answered."
            } "\n"
            @if rows.is_empty() {
                p { "No link is known to be dead." } "\n"
            } @else {
                (bars(
                    "Dead links by year of citation: archived or lost",
                    "shares of the dead links; the table below has the values",
                    &[
                        series("archived", "archived"),
                        series("unanswered", "not asked or no answer"),
                        series("lost", "lost"),
                    ],
                    &rows,
                    BarScale::Shares,
                ))
                (table_of_years(content, &ARCHIVED))
            }
            (saves(&content.saves))
        } "\n"
    }
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

/// Returns the links by scheme, top-level domain, domain, host and list.
fn groups(content: &PageContent) -> Markup {
    let groups = &content.figures.groups;
    html! {
        section #groups { "\n"
            h2 { "Hosts, domains, lists, schemes" } "\n"
            p {
                "The list of a link is that of its first citation: its List-Id, else the first \
                 newsgroup, else the path of the file."
            } "\n"
            (group("Links by scheme", "Scheme", &groups.schemes))
            (group("Links by top-level domain", "Domain", &groups.tlds))
            (group("Links by registrable domain", "Domain", &groups.domains))
            (group("Links by host", "Host", &groups.hosts))
            (group("Links by list", "List", &groups.lists))
        } "\n"
    }
}

fn group(caption: &str, of: &'static str, map: &TallyMap) -> Markup {
    let sorted = map.sorted();
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

/// Returns the links of protocols that no checker speaks any more, by year of citation.
fn protocols(content: &PageContent) -> Markup {
    let protocols = &content.figures.protocols;
    html! {
        section #protocols { "\n"
            h2 { "Dead protocols" } "\n"
            p {
                "Links to gopher, WAIS, Prospero and telnet have no state in the tables above. \
                 Counted are all of them that the archive cites, by the year of their first \
                 citation."
            } "\n"
            @if protocols.is_empty() {
                p { "There are none." } "\n"
            } @else {
                (protocol_bars(content))
                (protocol_table(content))
            }
            (old_protocols(&content.old_protocols))
        } "\n"
    }
}

fn protocol_bars(content: &PageContent) -> Markup {
    let protocols = &content.figures.protocols;
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let largest = protocols.values().map(|counts| sum(counts)).max();
    let rows: Vec<_> = protocols
        .iter()
        .map(|(year, counts)| BarRow {
            name: year,
            parts: counts
                .iter()
                .map(|count| ratio(*count, largest.unwrap_or(1)))
                .collect(),
            count: sum(counts),
        })
        .collect();
    let [gopher, wais, prospero, telnet] = DEAD_PROTOCOLS;
    bars(
        "Links to dead protocols by year of citation",
        "numbers of links; the table below has the values",
        &[
            series("p1", gopher),
            series("p2", wais),
            series("p3", prospero),
            series("p4", telnet),
        ],
        &rows,
        BarScale::Numbers,
    )
}

fn protocol_table(content: &PageContent) -> Markup {
    let protocols = &content.figures.protocols;
    let mut columns = vec![text_column("Year")];
    columns.extend(DEAD_PROTOCOLS.map(number_column));
    let total = protocols
        .values()
        .fold([0; DEAD_PROTOCOLS.len()], |sum, counts| {
            std::array::from_fn(|index| sum[index] + counts[index])
        });
    let cells = |name, counts: &[u64]| {
        let mut cells = vec![name];
        cells.extend(counts.iter().map(|count| Cell::Count(*count)));
        cells
    };
    let rows = protocols.iter();
    table(
        "Links to dead protocols",
        &columns,
        rows.map(|(year, counts)| cells(Cell::Foreign(year), counts)),
        Some(cells(Cell::Own("All"), &total)),
    )
}
