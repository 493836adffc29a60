//! Statistics as an HTML page with charts.

use std::borrow::Cow;

use maud::{Markup, html};
use unicode_width::UnicodeWidthChar;

use super::text::{day, estimated};
use super::{ListKind, Overview};
use urlspool_store::page::charts::{BarRow, BarScale, BarSeries, bars};
use urlspool_store::page::document;
use urlspool_store::page::html::{Cell, card, foreign, number_column, ratio, table, text_column};
use urlspool_store::stats::{DEAD_PROTOCOLS, Estimate, TopList};
use urlspool_text::diagnostic::{counted, grouped, shortened};

/// Maximum number of names in a chart.
const CHARTED_NAMES: usize = 12;

/// Maximum width of a name beside its bar, in columns. The table has the full name.
const CHARTED_COLUMNS: usize = 24;

/// Label of a chart above a table.
const TABLE_BELOW: &str = "numbers of URLs; the table below has the values";

/// Returns the page. Texts from the archive are escaped and are not links.
pub(super) fn page(overview: &Overview) -> String {
    let lists: Vec<_> = overview
        .lists()
        .filter(|(_, names)| 0 < names.names().count)
        .collect();
    let header = html! {
        p { "In " (foreign(&overview.name)) "." } "\n"
        nav aria-label="Sections" { ul {
            li { a href="#years" { "By year" } }
            @for (kind, _) in &lists { li { a href={ "#" (kind.key) } { (kind.title) } } }
            li { a href="#protocols" { "Dead protocols" } }
            li { a href="#method" { "Counting rules" } }
        } } "\n"
    };
    let main = html! {
        (cards(overview))
        (years(overview))
        @for (kind, list) in &lists { (names(kind, list, overview)) }
        (protocols(overview))
        (method(overview))
    };
    document("URLs in an archive", &header, &main)
}

fn cards(overview: &Overview) -> Markup {
    let stats = &overview.stats;
    let messages = estimated(stats.messages.estimate(), "with URLs", "with URLs");
    let broken = "had been broken over lines";
    let broken = counted(stats.joined, broken, broken);
    let dates = match (&stats.first, &stats.last) {
        (Some(first), Some(last)) => format!("{} \u{2013} {}", year(first), year(last)),
        _ => "none".to_owned(),
    };
    let range = match (&stats.first, &stats.last) {
        (Some(first), Some(last)) => html! { (day(first)) " to " (day(last)) },
        _ => html! {},
    };
    html! {
        section aria-label="Summary" { "\n"
            dl.cards { "\n"
                (card("URLs", &text(&grouped(stats.urls)), &text(&broken)))
                (estimate_card("Distinct URLs", stats.distinct_urls.estimate()))
                @if let Some(summary) = &overview.summary {
                    (card("Messages", &text(&grouped(summary.messages_scanned)), &text(&messages)))
                } @else {
                    (estimate_card("Messages with URLs", stats.messages.estimate()))
                }
                (card("Years", &text(&dates), &range))
            } "\n"
            (facts(overview))
        } "\n"
    }
}

fn estimate_card(title: &str, estimate: Estimate) -> Markup {
    let count = text(&grouped(estimate.count));
    card(title, &count, &text(&error(estimate)))
}

fn text(text: &str) -> Markup {
    html! { (text) }
}

/// Formats the error of an estimate; empty for an exact number.
fn error(estimate: Estimate) -> String {
    estimate.error.map_or_else(String::new, |error| {
        format!("estimated, \u{b1}{:.1}\u{a0}%", error * 100.0)
    })
}

fn year(date: &str) -> &str {
    date.split('-').next().unwrap_or(date)
}

fn facts(overview: &Overview) -> Markup {
    let stats = &overview.stats;
    html! {
        dl.facts { "\n"
            @if let Some(summary) = &overview.summary {
                dt { "Files" } dd {
                    (grouped(summary.files_read)) " read, "
                    (grouped(summary.files_skipped.sum())) " skipped, "
                    (grouped(summary.files_failed.sum())) " damaged or not readable"
                } "\n"
                dt { "Bytes" } dd { (grouped(summary.bytes_read)) } "\n"
                dt { "Attachments" } dd {
                    (counted(summary.parts_other, "part without text", "parts without text"))
                    ", not read"
                } "\n"
            }
            dt { "Sources with URLs" } dd {
                (grouped(stats.sources.estimate().count)) " " (error(stats.sources.estimate()))
            } "\n"
            dt { "Undated" } dd {
                (counted(stats.undated, "URL", "URLs")) " in messages without a usable date"
            } "\n"
            dt { "Later" } dd {
                (counted(stats.later, "URL", "URLs")) " in messages with a date after the day of \
                 loading"
            } "\n"
            @if 0 < stats.hidden {
                dt { "Hidden" } dd {
                    (counted(stats.hidden, "citation", "citations")) " of links that occur only in \
                     header fields of mailing lists"
                } "\n"
            }
            dt { "Redirectors" } dd {
                (counted(stats.unwrapped, "URL", "URLs")) " extracted from redirector URLs"
            } "\n"
        } "\n"
    }
}

fn years(overview: &Overview) -> Markup {
    let stats = &overview.stats;
    let names: Vec<_> = stats.years.keys().map(u16::to_string).collect();
    let largest = stats.years.values().copied().max().unwrap_or(1);
    let rows = names.iter().zip(stats.years.values());
    let rows = rows.map(|(name, urls)| row(name, *urls, largest));
    let rows: Vec<_> = rows.collect();
    let title = "URLs by year of the message";
    html! {
        section #years { "\n"
            h2 { "By year" } "\n"
            @if rows.is_empty() {
                p { "No message with a URL has a usable date." } "\n"
            } @else {
                (bars(title, "numbers of URLs", &[URLS], &rows, BarScale::Numbers))
            }
        } "\n"
    }
}

const URLS: BarSeries = BarSeries {
    class: "urls",
    name: "URLs",
};

fn row(name: &str, urls: u64, largest: u64) -> BarRow<'_> {
    BarRow {
        name,
        parts: vec![ratio(urls, largest)],
        count: urls,
    }
}

/// Returns the most frequent names of a list: some as bars, more in a table.
fn names(kind: &ListKind, list: &TopList, overview: &Overview) -> Markup {
    let top = list.top(overview.top.max(CHARTED_NAMES));
    let names = list.names();
    let largest = top.first().map_or(1, |top| top.count);
    let charted = top.iter().take(CHARTED_NAMES);
    let charted = charted.map(|top| (name_beside_bar(top.name), top.count));
    let charted: Vec<_> = charted.collect();
    let rows = charted.iter();
    let rows = rows.map(|(name, urls)| row(name, *urls, largest));
    let rows: Vec<_> = rows.collect();
    let columns = [
        text_column(kind.noun),
        number_column("URLs"),
        number_column("Share"),
    ];
    let total = overview.stats.urls;
    let cells = top.iter().map(|top| {
        vec![
            Cell::Foreign(top.name),
            Cell::Count(top.count),
            Cell::Share(ratio(top.count, total)),
        ]
    });
    html! {
        section id=(kind.key) { "\n"
            h2 { (kind.title) } "\n"
            p {
                (counted(top.len() as u64, "name", "names")) " of " (grouped(names.count)) ". "
                @if let Some(error) = names.error {
                    "The number of names is estimated, within \u{b1}"
                    (format!("{:.1}", error * 100.0)) "\u{a0}%. "
                }
                @if 0 < list.error() {
                    "Numbers of URLs are too small by at most " (grouped(list.error())) "."
                }
            } "\n"
            (bars(kind.title, TABLE_BELOW, &[URLS], &rows, BarScale::Numbers))
            (table(kind.title, &columns, cells, None))
        } "\n"
    }
}

/// Returns as much of a name as fits beside its bar, with an ellipsis if it was cut.
fn name_beside_bar(name: &str) -> Cow<'_, str> {
    let mut width = 0;
    let fits = |c: &char| {
        width += half_columns(*c);
        width <= 2 * CHARTED_COLUMNS
    };
    shortened(name, name.chars().take_while(fits).count())
}

/// Returns the width of a character in half columns.
fn half_columns(c: char) -> usize {
    match c {
        'm' | 'w' | 'M' | 'W' | '@' => 3,
        c => 2 * c.width().unwrap_or(0),
    }
}

fn protocols(overview: &Overview) -> Markup {
    const CLASSES: [&str; DEAD_PROTOCOLS.len()] = ["p1", "p2", "p3", "p4", "p5"];
    // Undated ones come last.
    let (undated, dated): (Vec<_>, Vec<_>) = overview
        .stats
        .dead_protocols
        .iter()
        .partition(|(year, _)| year.is_none());
    let protocols: Vec<_> = dated.into_iter().chain(undated).collect();
    let years = protocols.iter().map(|(year, _)| year);
    let years =
        years.map(|year| year.map_or_else(|| "undated".to_owned(), |year| year.to_string()));
    let years: Vec<_> = years.collect();
    let counts = protocols.iter().map(|(_, counts)| counts);
    let largest = counts.map(|counts| counts.iter().sum::<u64>()).max();
    let largest = largest.unwrap_or(1);
    let rows: Vec<_> = years
        .iter()
        .zip(protocols.iter().map(|(_, counts)| counts))
        .map(|(name, counts)| BarRow {
            name,
            parts: counts.iter().map(|urls| ratio(*urls, largest)).collect(),
            count: counts.iter().sum(),
        })
        .collect();
    let series: [BarSeries; DEAD_PROTOCOLS.len()] = std::array::from_fn(|index| BarSeries {
        class: CLASSES[index],
        name: DEAD_PROTOCOLS[index],
    });
    let mut columns = vec![text_column("Year")];
    columns.extend(DEAD_PROTOCOLS.map(number_column));
    let cells = years
        .iter()
        .zip(protocols.iter().map(|(_, counts)| counts))
        .map(|(year, counts)| {
            let mut cells = vec![Cell::Foreign(year)];
            cells.extend(counts.iter().map(|urls| Cell::Count(*urls)));
            cells
        });
    html! {
        @let title = "URLs of dead protocols by year";
        section #protocols { "\n"
            h2 { "Dead protocols" } "\n"
            p { "URLs of schemes that browsers no longer open." } "\n"
            @if rows.is_empty() {
                p { "There are none." } "\n"
            } @else {
                (bars(title, TABLE_BELOW, &series, &rows, BarScale::Numbers))
                (table("URLs of dead protocols", &columns, cells, None))
            }
        } "\n"
    }
}

fn method(overview: &Overview) -> Markup {
    html! {
        section #method { "\n"
            h2 { "Counting rules" } "\n"
            p {
                "Each URL counts as often as it was found. "
                @match overview.kind {
                    "database" => "A database holds each record once, even if the message was \
                                   found in copies. ",
                    "records" => "Records of messages deleted since then are counted too. ",
                    _ => "",
                }
                "Two URLs are the same if their keys are: case of scheme and host, \
                 default ports and escapes of plain characters do not matter. The year is that of \
                 the message in UTC, from 1970 to 2099. The domain is the registrable domain by \
                 the public suffix list. A sender is an address, a list its List-Id."
            } "\n"
            p {
                "Numbers are exact unless an error is named. Beyond 1.8 million distinct URLs, \
                 messages or sources their number is estimated (HyperLogLog); 19 of 20 estimates \
                 stay within the error. Beyond 100,000 names of a list the numbers of rare names \
                 are dropped (Misra-Gries), and all others may be too small by the number that is \
                 named."
            } "\n"
        } "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beside_bars_are_cut_to_their_width() {
        for (name, shown) in [
            ("info.cern.ch".to_owned(), "info.cern.ch".to_owned()),
            ("i".repeat(24), "i".repeat(24)),
            ("i".repeat(25), "i".repeat(24) + "\u{2026}"),
            ("m".repeat(17), "m".repeat(16) + "\u{2026}"),
            ("\u{65e5}".repeat(13), "\u{65e5}".repeat(12) + "\u{2026}"),
        ] {
            assert_eq!(name_beside_bar(&name), shown);
        }
    }
}
