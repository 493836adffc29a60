//! Statistics as a page for people: aligned tables and bars that fit the width of the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Overview;
use urlspool_files::pipeline::Summary;
use urlspool_store::stats::{DEAD_PROTOCOLS, Estimate, Stats, TopList};
use urlspool_text::diagnostic::{counted, grouped, printable};

/// Width below which lines are no longer shortened.
const LEAST_COLUMNS: usize = 26;

/// Maximum width that bars use.
const MOST_COLUMNS: usize = 110;

/// Width of the column with the names of totals.
const TOTAL_COLUMNS: usize = 13;

/// Minimum width reserved for bars next to the names of lists.
const BAR_COLUMNS: usize = 16;

/// Minimum widths for bars and for shares.
const BARS_FROM: usize = 50;
const SHARES_FROM: usize = 36;

/// Returns the page for a terminal of this width. The only escape sequences in it are those of bold
/// titles.
pub(super) fn page(overview: &Overview, columns: usize, has_colors: bool) -> String {
    let mut page = TextPage {
        text: String::new(),
        columns: columns.clamp(LEAST_COLUMNS, MOST_COLUMNS),
        has_colors,
    };
    page.title(&format!("URLs in {}", overview.name));
    totals(overview, &mut page);
    let stats = &overview.stats;
    if stats.urls == 0 {
        return page.text;
    }
    let years = stats.years.iter();
    let years = years.map(|(year, urls)| (year.to_string(), *urls));
    let years = Rows {
        rows: years.collect(),
        total: stats.urls,
    };
    let mut tables = vec![("URLs by year".to_owned(), years)];
    for (kind, names) in overview.lists() {
        tables.push(listed(kind.title, names, overview));
        if kind.key == "schemes" {
            tables.push(dead_protocols(stats));
        }
    }
    let names = tables.iter().flat_map(|(_, table)| &table.rows);
    let name_columns = names.map(|(name, _)| shown(name).width()).max();
    let numbers = tables.iter().flat_map(|(_, table)| &table.rows);
    let number_columns = numbers.map(|(_, urls)| grouped(*urls).len()).max();
    let (names, numbers) = (name_columns.unwrap_or(0), number_columns.unwrap_or(0));
    let layout = Layout::of(page.columns, names, numbers);
    for (title, table) in &tables {
        if !table.rows.is_empty() {
            page.table(title, table, layout);
        }
    }
    page.text
}

fn totals(overview: &Overview, page: &mut TextPage) {
    let stats = &overview.stats;
    let sources = estimated(stats.sources.estimate(), "source", "sources");
    if let Some(summary) = &overview.summary {
        page.total("Files", &files(summary));
        if 0 < summary.members {
            page.total("In archives", &members(summary));
        }
        let with_urls = estimated(
            stats.messages.estimate(),
            "of them with URLs",
            "of them with URLs",
        );
        page.total(
            "Messages",
            &format!("{}, {with_urls}", grouped(summary.messages_scanned)),
        );
    } else {
        let messages = estimated(stats.messages.estimate(), "message", "messages");
        page.total("Messages", &format!("{messages} with URLs, in {sources}"));
    }
    let urls = grouped(stats.urls);
    page.total(
        "URLs",
        &format!(
            "{urls}, {}",
            estimated(stats.distinct_urls.estimate(), "distinct", "distinct")
        ),
    );
    if let (Some(first), Some(last)) = (&stats.first, &stats.last) {
        page.total("Dates", &format!("{} to {}", day(first), day(last)));
    }
    let messages = ("URL in a message", "URLs in messages");
    let broken = ("URL had been broken", "URLs had been broken");
    let read = ("URL was extracted", "URLs were extracted");
    for (name, count, (one, many), more) in [
        ("Undated", stats.undated, messages, "without a usable date"),
        (
            "Later",
            stats.later,
            messages,
            "with a date after the day of loading",
        ),
        (
            "Hidden",
            stats.hidden,
            ("citation", "citations"),
            "of links that occur only in header fields of mailing lists",
        ),
        ("Joined", stats.joined, broken, "over several lines"),
        ("Redirectors", stats.unwrapped, read, "from redirector URLs"),
    ] {
        if 0 < count {
            page.total(name, &format!("{} {more}", counted(count, one, many)));
        }
    }
    if let Some(summary) = &overview.summary {
        let parts = counted(
            summary.parts_other,
            "part without text",
            "parts without text",
        );
        page.total("Attachments", &format!("{parts}, not read"));
    }
}

fn files(summary: &Summary) -> String {
    let mut text = format!(
        "{} read ({})",
        grouped(summary.files_read),
        indicatif::HumanBytes(summary.bytes_read)
    );
    add_unread(
        &mut text,
        summary.files_skipped.sum(),
        summary.files_failed.sum(),
    );
    text
}

fn members(summary: &Summary) -> String {
    let mut text = format!("{} read", grouped(summary.members_read));
    let (skipped, failed) = (summary.members_skipped.sum(), summary.members_failed.sum());
    add_unread(&mut text, skipped, failed);
    text
}

fn add_unread(text: &mut String, skipped: u64, failed: u64) {
    for (count, words) in [(skipped, "skipped"), (failed, "damaged or not readable")] {
        if 0 < count {
            *text += &format!(", {} {words}", grouped(count));
        }
    }
}

/// Formats a number with its noun; an estimate as `about 2,345,678 (±0.8 %) messages`.
pub(super) fn estimated(estimate: Estimate, one: &str, many: &str) -> String {
    let Estimate { count, error } = estimate;
    match error {
        None => counted(count, one, many),
        Some(error) => format!(
            "about {} (\u{b1}{:.1} %) {many}",
            grouped(count),
            error * 100.0
        ),
    }
}

/// Returns the day of a date.
pub(super) fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or(date)
}

/// Names with numbers of URLs.
struct Rows {
    rows: Vec<(String, u64)>,
    /// The total that shares refer to.
    total: u64,
}

fn listed(title: &str, list: &TopList, overview: &Overview) -> (String, Rows) {
    let top = list.top(overview.top);
    let names = list.names();
    let mut title = title.to_owned();
    if top.len() as u64 != names.count || names.error.is_some() {
        let of = estimated(names, "", "");
        title += &format!(" ({} of {})", top.len(), of.trim_end());
    }
    if 0 < list.error() {
        title += &format!(
            ", numbers are too small by at most {}",
            grouped(list.error())
        );
    }
    let rows = top.into_iter().map(|top| (top.name.to_owned(), top.count));
    let table = Rows {
        rows: rows.collect(),
        total: overview.stats.urls,
    };
    (title, table)
}

fn dead_protocols(stats: &Stats) -> (String, Rows) {
    let years = &stats.dead_protocols;
    let row = |(index, name): (usize, &&str)| {
        let counts = years.iter().map(|(year, counts)| (*year, counts[index]));
        let found: Vec<_> = counts.filter(|(_, urls)| 0 < *urls).collect();
        let dated = found.iter().filter_map(|(year, _)| *year);
        let name = match (dated.clone().min(), dated.max()) {
            (Some(first), Some(last)) if first == last => format!("{name} {first}"),
            (Some(first), Some(last)) => format!("{name} {first}\u{2013}{last}"),
            _ => (*name).to_owned(),
        };
        let urls = found.iter().map(|(_, urls)| urls).sum();
        (0 < urls).then_some((name, urls))
    };
    let rows = DEAD_PROTOCOLS.iter().enumerate().filter_map(row);
    let table = Rows {
        rows: rows.collect(),
        total: stats.urls,
    };
    (
        "Protocols that browsers no longer support".to_owned(),
        table,
    )
}

/// Column widths shared by all tables, which aligns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    name: usize,
    number: usize,
    /// `false` if the terminal is too narrow.
    has_shares: bool,
    bar: usize,
}

/// Width of a share, including the blanks before it.
const SHARE_COLUMNS: usize = 9;

/// Width of the margin of tables, and of the gap between columns.
const GAP: usize = 2;

impl Layout {
    fn of(columns: usize, longest_name: usize, number: usize) -> Layout {
        let has_shares = SHARES_FROM <= columns;
        let mut rest = columns.saturating_sub(GAP + GAP + number);
        if has_shares {
            rest = rest.saturating_sub(SHARE_COLUMNS);
        }
        let least_bar = if BARS_FROM <= columns {
            BAR_COLUMNS + GAP
        } else {
            0
        };
        let name = longest_name.min(rest.saturating_sub(least_bar)).max(4);
        let bar = if least_bar == 0 {
            0
        } else {
            rest.saturating_sub(name + GAP)
        };
        Layout {
            name,
            number,
            has_shares,
            bar,
        }
    }
}

struct TextPage {
    text: String,
    columns: usize,
    has_colors: bool,
}

impl TextPage {
    fn title(&mut self, title: &str) {
        let title = cut(&shown(title), self.columns);
        if self.has_colors {
            self.text += &format!("\u{1b}[1m{title}\u{1b}[0m\n");
        } else {
            self.text += &format!("{title}\n");
        }
    }

    /// Appends a name and a text. Continuation lines are indented to the start of the text.
    fn total(&mut self, name: &str, text: &str) {
        let columns = self.columns.saturating_sub(GAP + TOTAL_COLUMNS).max(8);
        let mut line = format!("{:GAP$}{name:<TOTAL_COLUMNS$}", "");
        let mut used = 0;
        for word in text.split(' ') {
            if 0 < used && columns < used + 1 + word.width() {
                self.text += line.trim_end();
                self.text.push('\n');
                line = " ".repeat(GAP + TOTAL_COLUMNS);
                used = 0;
            }
            if 0 < used {
                line.push(' ');
                used += 1;
            }
            line += word;
            used += word.width();
        }
        self.text += line.trim_end();
        self.text.push('\n');
    }

    fn table(&mut self, title: &str, table: &Rows, layout: Layout) {
        self.text.push('\n');
        self.title(title);
        let largest = table.rows.iter().map(|(_, urls)| *urls).max().unwrap_or(1);
        for (name, urls) in &table.rows {
            let name = cut(&shown(name), layout.name);
            let blanks = layout.name.saturating_sub(name.width());
            let number = grouped(*urls);
            let mut line = format!(
                "{:GAP$}{name}{:blanks$}{:GAP$}{number:>width$}",
                "",
                "",
                "",
                width = layout.number
            );
            if layout.has_shares {
                line += &format!("{:>SHARE_COLUMNS$}", share(*urls, table.total));
            }
            if 0 < layout.bar {
                line += &format!("{:GAP$}{}", "", bar(*urls, largest, layout.bar));
            }
            self.text += line.trim_end();
            self.text.push('\n');
        }
    }
}

/// Escapes control characters in text from input.
fn shown(text: &str) -> String {
    printable(text)
}

/// Cuts a text to at most `columns`, with an ellipsis if it is longer.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut width = 1;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width <= columns
    };
    text.chars().take_while(fits).collect::<String>() + "\u{2026}"
}

/// Formats a share in percent.
pub(super) fn share(part: u64, whole: u64) -> String {
    // Computed in rounded tenths of a percent, since an `f64` would lose digits.
    let tenths = (u128::from(part) * 2_000 + u128::from(whole)) / (u128::from(whole) * 2).max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Block characters, from an eighth to a full block.
const BLOCKS: [char; 8] = [
    '\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}', '\u{2588}',
];

/// Returns a bar proportional to the largest number, at least an eighth of a column long.
fn bar(urls: u64, largest: u64, columns: usize) -> String {
    let eighths = u128::from(urls) * 8 * columns as u128 / u128::from(largest.max(1));
    let eighths = usize::try_from(eighths)
        .unwrap_or(usize::MAX)
        .clamp(1, 8 * columns);
    let mut bar = BLOCKS[7].to_string().repeat(eighths / 8);
    if let Some(last) = (eighths % 8).checked_sub(1) {
        bar.push(BLOCKS[last]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_shares_are_relative() {
        assert_eq!(bar(8, 8, 2), "\u{2588}\u{2588}");
        assert_eq!(bar(3, 8, 2), "\u{258a}");
        assert_eq!(bar(1, 1_000_000, 10), "\u{258f}");
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(share(2, 3), "66.7 %");
        assert_eq!(share(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn a_text_is_cut_at_the_width_of_its_characters() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde\u{2026}");
        let wide = "\u{30e1}\u{30fc}\u{30eb}";
        assert_eq!(cut(wide, 5), "\u{30e1}\u{30fc}\u{2026}");
    }

    #[test]
    fn names_leave_room_for_bars_only_on_wide_terminals() {
        let wide = Layout::of(80, 200, 6);
        assert_eq!((wide.bar, wide.has_shares), (BAR_COLUMNS, true));
        assert_eq!(2 + wide.name + 2 + 6 + 9 + 2 + wide.bar, 80);
        let narrow = Layout::of(40, 200, 6);
        assert_eq!((narrow.bar, narrow.has_shares), (0, true));
        assert!(!Layout::of(30, 200, 6).has_shares);
    }
}
