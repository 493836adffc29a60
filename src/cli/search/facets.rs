//! The numbers of matches by domain, host, year, list and scheme.

use std::cmp::Reverse;
use std::path::Path;

use serde_json::json;

use super::super::args::{Facet, SearchArgs, SearchFormat};
use super::super::error::{CommandError, CommandResult, Exit};
use super::super::terminal::{StdoutLines, escaped};
use crate::config::NamedValue;
use crate::diagnostic::{EscapeForm, counted, grouped};
use crate::load::{self, SearchQuery};
use crate::record::{FormulaGuard, TableSyntax};
use crate::stats::{Stats, TopList};

/// Number of values of a facet that are printed as text.
const TEXT_VALUES: usize = 20;

/// Stands for the year of matches without a usable date.
const UNDATED: &str = "undated";

/// Stands for the year of matches with a date after the day of the search.
const LATER: &str = "later";

/// The names of the columns.
const COLUMNS: [&str; 3] = ["facet", "value", "count"];

/// Prints the numbers of the matches of a search.
pub(super) fn print(args: &SearchArgs, database: &Path, query: &SearchQuery) -> CommandResult {
    let format = args.format.unwrap_or(SearchFormat::Text);
    if matches!(format, SearchFormat::Grep | SearchFormat::Urls) {
        return Err(CommandError::new(
            Exit::Usage,
            "--facets prints numbers: give --format text, csv, tsv or jsonl",
        ));
    }
    let stats = load::stats_of_matches(database, query)?;
    let limit = args
        .limit
        .map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let all = limit.unwrap_or(usize::MAX);
    let csv = TableSyntax::Csv {
        guard: FormulaGuard::On,
        delimiter: b',',
    };
    match format {
        SearchFormat::Text => print_text(args, &stats, limit),
        SearchFormat::Csv => print_table(args, &stats, all, csv),
        SearchFormat::Tsv => print_table(args, &stats, all, TableSyntax::Tsv),
        _ => print_json(args, &stats, all),
    }
}

/// Returns the values of a facet with their numbers.
fn values(facet: Facet, stats: &Stats, limit: usize) -> Vec<(String, u64)> {
    let top = |list: &TopList| {
        let names = list.top(limit).into_iter();
        names.map(|top| (top.name.to_owned(), top.count)).collect()
    };
    match facet {
        Facet::Domain => top(&stats.domains),
        Facet::Host => top(&stats.hosts),
        Facet::Scheme => top(&stats.schemes),
        Facet::Year => years(stats, limit),
        Facet::List => top(&stats.newsgroups),
    }
}

/// Returns the years with most matches, in their order.
fn years(stats: &Stats, limit: usize) -> Vec<(String, u64)> {
    let years = stats.years.iter();
    let years = years.map(|(year, count)| (year.to_string(), *count));
    let others = [(LATER, stats.later), (UNDATED, stats.undated)].into_iter();
    let others = others.filter(|(_, matches)| 0 < *matches);
    let others = others.map(|(name, matches)| (name.to_owned(), matches));
    let mut years: Vec<_> = years.chain(others).collect();
    if limit < years.len() {
        // Stable: of years with one number the first ones are kept.
        years.sort_by_key(|(_, count)| Reverse(*count));
        years.truncate(limit);
        years.sort();
    }
    years
}

/// Prints the values as text. Without a limit all years are printed, and of other facets the first
/// [`TEXT_VALUES`], with the number of those that are not printed.
fn print_text(args: &SearchArgs, stats: &Stats, limit: Option<usize>) -> CommandResult {
    let mut out = StdoutLines::of_escaped_lines();
    for (index, facet) in args.facets.iter().enumerate() {
        let blank = if 0 < index { "\n" } else { "" };
        let mut text = format!("{blank}{}\n", facet.name());
        let mut values = values(*facet, stats, limit.unwrap_or(usize::MAX));
        let all = values.len();
        if limit.is_none() && *facet != Facet::Year {
            values.truncate(TEXT_VALUES);
        }
        let omitted = (all - values.len()) as u64;
        for (value, count) in values {
            text += &format!("{:>13}  {}\n", grouped(count), escaped(&value));
        }
        if 0 < omitted {
            let more = counted(omitted, "more value", "more values");
            text += &format!("{:>13}  {more}; --format csv has all\n", "");
        }
        if !out.put(text.as_bytes())? {
            break;
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn print_table(
    args: &SearchArgs,
    stats: &Stats,
    limit: usize,
    syntax: TableSyntax,
) -> CommandResult {
    let mut out = StdoutLines::new(EscapeForm::Text);
    let mut lines = Vec::new();
    syntax.write_cells(COLUMNS.map(Some), &mut lines);
    for facet in &args.facets {
        for (value, count) in values(*facet, stats, limit) {
            let count = count.to_string();
            syntax.write_cells(
                [Some(facet.name()), Some(&*value), Some(&*count)],
                &mut lines,
            );
        }
    }
    out.put(&lines)?;
    out.finish()?;
    Ok(Exit::Done)
}

fn print_json(args: &SearchArgs, stats: &Stats, limit: usize) -> CommandResult {
    let mut out = StdoutLines::new(EscapeForm::Json);
    let mut lines = String::new();
    for facet in &args.facets {
        for (value, count) in values(*facet, stats, limit) {
            let line = json!({"facet": facet.name(), "value": value, "count": count});
            lines += &format!("{line}\n");
        }
    }
    out.put(lines.as_bytes())?;
    out.finish()?;
    Ok(Exit::Done)
}
