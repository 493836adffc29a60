//! The sections of figures: a summary, links by year, their survival, archived ones, groups, and
//! dead protocols.

use maud::{Markup, html};

use super::PageContent;
use crate::audit::report::charts::{
    AgePoint, BarRow, BarScale, BarSeries, bars, intervals, survival,
};
use crate::audit::report::figures::{DEAD_PROTOCOLS, Survival, Tally, TallyMap};
use crate::audit::report::html::{
    Cell, Column, grouped, grouped_noun, interval, number_column, percent, table, text_column,
};
use crate::audit::state::LinkState;
use crate::audit::statistics::{HalfLife, Share, SurvivalCurve, ratio};
use crate::limits::REPORT_GROUPS;

/// Number of months in a year of age.
const YEAR_MONTHS: f64 = 12.0;

/// Title of the columns of confidence intervals.
const INTERVAL: &str = "95\u{a0}% interval";

/// Returns the figures to cite.
pub(super) fn summary(content: &PageContent) -> Markup {
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
                (share_card("Dead, of the links with a result", total.dead_share()))
                (half_life_card(content.survival.as_ref()))
                (share_card(
                    "Lost, of the dead links that an archive was asked for",
                    total.lost_share(),
                ))
            } "\n"
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

fn card(title: &str, figure: &Markup, note: &Markup) -> Markup {
    html! {
        div {
            dt { (title) }
            dd {
                span.figure { (figure) }
                @if !note.0.is_empty() { br; (note) }
            }
        } "\n"
    }
}

fn share_card(title: &str, share: Option<Share>) -> Markup {
    let Some(share) = share else {
        return card(title, &html! { "not known" }, &html! {});
    };
    let note = html! { "95\u{a0}% interval " span.whole { (interval(&share)) } };
    card(title, &html! { (percent(share.share)) }, &note)
}

fn half_life_card(survival: Option<&Survival>) -> Markup {
    let title = "Half-life from the first citation";
    let Some(survival) = survival else {
        return card(
            title,
            &html! { "not known" },
            &html! { "no result has an age" },
        );
    };
    let note = html! {
        "if redirected links count as dead: " (half_life(survival.strict.half_life()))
    };
    card(
        title,
        &html! { (half_life(survival.dead.half_life())) },
        &note,
    )
}

/// Returns a half-life, as the interval in which half of the links end.
fn half_life(half_life: HalfLife) -> String {
    let years = |months: u32| format!("{:.1}", f64::from(months) / YEAR_MONTHS);
    match half_life {
        HalfLife::Between { after: 0, until } => format!("at most {} years", years(until)),
        HalfLife::Between { after, until } if years(after) == years(until) => {
            format!("{} years", years(until))
        }
        HalfLife::Between { after, until } => {
            format!("{}\u{2013}{} years", years(after), years(until))
        }
        HalfLife::NotReached { .. } => "not reached".to_owned(),
    }
}

/// The states in the order of the parts of a bar.
const STATES: [LinkState; 4] = [
    LinkState::Alive,
    LinkState::Redirected,
    LinkState::DeadPage,
    LinkState::DeadHost,
];

const STATE_SERIES: [BarSeries; STATES.len()] = [
    series("alive", "alive"),
    series("redirected", "redirected"),
    series("dead-page", "dead page"),
    series("dead-host", "dead host"),
];

const fn series(class: &'static str, name: &'static str) -> BarSeries {
    BarSeries { class, name }
}

/// Returns the columns of [`tally_cells`], with the title of the first one.
fn tally_columns(title: &'static str) -> [Column; 10] {
    [
        text_column(title),
        number_column("Links"),
        number_column("Alive"),
        number_column("Redirected"),
        number_column("Dead page"),
        number_column("Dead host"),
        number_column("Unknown"),
        number_column("Archived"),
        number_column("Dead"),
        number_column(INTERVAL),
    ]
}

fn tally_cells<'t>(name: Cell<'t>, tally: &Tally) -> Vec<Cell<'t>> {
    let mut cells = vec![name, Cell::Count(tally.links())];
    cells.extend(LinkState::ALL.map(|state| Cell::Count(tally.count(state))));
    cells.push(Cell::Count(tally.archived));
    cells.push(Cell::Share(tally.dead_share()));
    cells.push(Cell::Interval(tally.dead_share()));
    cells
}

/// Returns the links by the year of their first citation.
pub(super) fn years(content: &PageContent) -> Markup {
    let years = &content.figures.years;
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
        .map(|(year, tally)| (year.as_str(), tally.dead_share(), tally.known()))
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
                &STATE_SERIES,
                &rows,
                BarScale::Shares,
            ))
            (intervals(
                "Share of dead links, with 95\u{a0}% intervals",
                "dead page or dead host, among the links with a result; the table below has the \
                 values",
                &shares,
            ))
            (table(
                "Links by year of citation",
                &tally_columns("Year"),
                years.iter().map(|(year, tally)| tally_cells(Cell::Foreign(year), tally)),
                Some(tally_cells(Cell::Own("All"), &content.figures.total)),
            ))
        } "\n"
    }
}

/// Returns the survival from the first citation.
pub(super) fn lifetimes(content: &PageContent) -> Markup {
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

fn curves(content: &PageContent, estimated: &Survival) -> Markup {
    let ages = &content.figures.ages;
    let points: Vec<_> = ages
        .by_year
        .iter()
        .filter_map(|(&years, tally)| {
            let share = tally.surviving_share()?;
            Some(AgePoint { years, share })
        })
        .collect();
    html! {
        p {
            "Survival is counted from the first citation, of "
            (grouped_noun(ages.links, "link", "links")) ". "
            (grouped_noun(ages.checked_again, "of them was", "of them were"))
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
        (survival(&estimated.dead, &estimated.strict, &points))
        (ages_table(content))
    }
}

fn half_life_sentence(curve: &SurvivalCurve) -> String {
    let mut text = half_life(curve.half_life());
    if let HalfLife::NotReached { survival } = curve.half_life() {
        let (share, years) = (percent(survival), f64::from(curve.end) / YEAR_MONTHS);
        text += &format!(": {share} survive {years:.1} years, after which nothing is known");
    }
    if !curve.is_converged {
        text += " (the estimate was ended before it had converged)";
    }
    text
}

fn ages_table(content: &PageContent) -> Markup {
    let ages: Vec<_> = content.figures.ages.by_year.iter().collect();
    let names: Vec<_> = ages.iter().map(|(years, _)| years.to_string()).collect();
    let rows = names.iter().zip(&ages).map(|(years, (_, tally))| {
        vec![
            Cell::Foreign(years),
            Cell::Count(tally.links()),
            Cell::Count(tally.known()),
            Cell::Count(tally.count(LinkState::Alive)),
            Cell::Count(tally.count(LinkState::Redirected)),
            Cell::Count(tally.dead()),
            Cell::Share(tally.surviving_share()),
            Cell::Interval(tally.surviving_share()),
        ]
    });
    let columns = [
        text_column("Age in years"),
        number_column("Links"),
        number_column("With a result"),
        number_column("Alive"),
        number_column("Redirected"),
        number_column("Dead"),
        number_column("Not dead"),
        number_column(INTERVAL),
    ];
    table("Links by age at their newest check", &columns, rows, None)
}

/// Returns the dead links: archived or lost.
pub(super) fn archive(content: &PageContent) -> Markup {
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
                (archive_table(content))
            }
        } "\n"
    }
}

fn archive_table(content: &PageContent) -> Markup {
    let cells = |name, tally: &Tally| {
        vec![
            name,
            Cell::Count(tally.dead()),
            Cell::Count(tally.dead_archived),
            Cell::Count(tally.lost),
            Cell::Count(tally.unanswered()),
            Cell::Share(tally.lost_share()),
            Cell::Interval(tally.lost_share()),
        ]
    };
    let columns = [
        text_column("Year"),
        number_column("Dead"),
        number_column("Archived"),
        number_column("Lost"),
        number_column("Not asked"),
        number_column("Lost share"),
        number_column(INTERVAL),
    ];
    let years = content.figures.years.iter();
    table(
        "Dead links by year of citation",
        &columns,
        years.map(|(year, tally)| cells(Cell::Foreign(year), tally)),
        Some(cells(Cell::Own("All"), &content.figures.total)),
    )
}

/// Returns the links by scheme, top-level domain, domain, host and list.
pub(super) fn groups(content: &PageContent) -> Markup {
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

fn group(caption: &str, title: &'static str, map: &TallyMap) -> Markup {
    let sorted = map.sorted();
    let rows = sorted.iter().take(REPORT_GROUPS);
    let rows = rows.map(|(name, tally)| tally_cells(Cell::Foreign(name), tally));
    let more = sorted.len().saturating_sub(REPORT_GROUPS) as u64;
    html! {
        (table(caption, &tally_columns(title), rows, None))
        @if 0 < more {
            p.soft {
                "The table has those with most links; "
                (grouped_noun(more, "more is", "more are")) " in the CSV file."
            } "\n"
        }
    }
}

/// Returns the links of protocols that no checker speaks any more, by year of citation.
pub(super) fn protocols(content: &PageContent) -> Markup {
    let protocols = &content.figures.protocols;
    html! {
        section #protocols { "\n"
            h2 { "Dead protocols" } "\n"
            p {
                "Links to gopher, WAIS, Prospero and telnet are not checked and have no state. \
                 Counted are all of them that the archive cites, by the year of their first \
                 citation."
            } "\n"
            @if protocols.is_empty() {
                p { "There are none." } "\n"
            } @else {
                (protocol_bars(content))
                (protocol_table(content))
            }
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
