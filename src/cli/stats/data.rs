//! Statistics as CSV files, and as one line of JSON, which `docs/extract.md` describes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{LISTS, Overview};
use urlspool_files::pipeline::Summary;
use urlspool_files::sink::OutputError;
use urlspool_store::page::{TableFiles, TableText};
use urlspool_store::stats::{DEAD_PROTOCOLS, Estimate, TopList};

const TOTALS: &str = "stats-totals.csv";
const YEARS: &str = "urls-by-year.csv";
const PROTOCOLS: &str = "protocols-by-year.csv";

/// Stands for the year of undated URLs.
const UNDATED: &str = "undated";

/// Stands for the year of URLs with a date after the day of loading.
const LATER: &str = "later";

/// Returns the names of the files, and the columns that each begins with.
pub(super) fn headers() -> [(&'static str, String); 3 + LISTS.len()] {
    let mut headers = std::array::from_fn(|_| ("", String::new()));
    headers[0] = (TOTALS, "name,count,relative_error".to_owned());
    headers[1] = (YEARS, "year,urls".to_owned());
    headers[2] = (PROTOCOLS, format!("year,{}", DEAD_PROTOCOLS.join(",")));
    for (header, kind) in headers[3..].iter_mut().zip(&LISTS) {
        *header = (kind.file, format!("{},urls,urls_at_most", kind.noun));
    }
    headers
}

/// Writes all files: of the lists all names that were counted.
pub(super) fn write(overview: &Overview, files: &mut TableFiles) -> Result<(), OutputError> {
    let stats = &overview.stats;
    files.write(TOTALS, totals(overview))?;
    let years = stats
        .years
        .iter()
        .map(|(year, urls)| (year.to_string(), *urls));
    let others = [(LATER, stats.later), (UNDATED, stats.undated)].into_iter();
    let others = others.filter(|(_, urls)| 0 < *urls);
    files.write(
        YEARS,
        years.chain(others.map(|(name, urls)| (name.to_owned(), urls))),
    )?;
    let protocols = stats.dead_protocols.iter().map(|(year, counts)| {
        let year = year.map_or_else(|| UNDATED.to_owned(), |year| year.to_string());
        (year, *counts)
    });
    files.write(PROTOCOLS, protocols)?;
    for (kind, names) in overview.lists() {
        let error = names.error();
        let rows = names.top(usize::MAX).into_iter();
        let rows = rows.map(|top| (TableText(top.name), top.count, top.count + error));
        files.write(kind.file, rows)?;
    }
    Ok(())
}

fn estimated(
    name: &'static str,
    Estimate { count, error }: Estimate,
) -> (&'static str, u64, Option<String>) {
    (name, count, error.map(|error| format!("{error:.4}")))
}

fn totals(overview: &Overview) -> Vec<(&'static str, u64, Option<String>)> {
    let stats = &overview.stats;
    let mut rows = vec![
        ("urls", stats.urls, None),
        estimated("distinct_urls", stats.distinct_urls.estimate()),
        estimated("messages_with_urls", stats.messages.estimate()),
        estimated("sources_with_urls", stats.sources.estimate()),
        ("undated", stats.undated, None),
        ("later", stats.later, None),
        ("hidden", stats.hidden, None),
        ("joined", stats.joined, None),
        ("unwrapped", stats.unwrapped, None),
    ];
    if let Some(summary) = &overview.summary {
        rows.extend([
            ("files_read", summary.files_read, None),
            ("messages_scanned", summary.messages_scanned, None),
            ("bytes_read", summary.bytes_read, None),
            ("attachments_not_read", summary.parts_other, None),
        ]);
    }
    rows
}

#[derive(Serialize)]
struct StatsJson<'o> {
    #[serde(rename = "type")]
    line_type: &'static str,
    input: &'o str,
    kind: &'static str,
    urls: u64,
    distinct_urls: Value,
    messages_with_urls: Value,
    sources_with_urls: Value,
    first_date: Option<&'o str>,
    last_date: Option<&'o str>,
    undated: u64,
    later: u64,
    hidden: u64,
    joined: u64,
    unwrapped: u64,
    attachments_not_read: Option<u64>,
    years: BTreeMap<u16, u64>,
    dead_protocols: Vec<ProtocolsJson>,
    #[serde(flatten)]
    lists: BTreeMap<&'static str, ListJson>,
    summary: Option<&'o Summary>,
}

#[derive(Serialize)]
struct ProtocolsJson {
    /// Null for URLs without a usable date.
    year: Option<u16>,
    #[serde(flatten)]
    urls: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct ListJson {
    names: Value,
    /// The largest number that `urls` may be too small by.
    error: u64,
    top: Vec<Value>,
}

/// Returns a number; `error` is null if it is exact.
fn number_json(Estimate { count, error }: Estimate) -> Value {
    // As the page has it; the digits after these say nothing.
    let error = error.map(|error| (error * 1_000.0).round() / 1_000.0);
    json!({ "count": count, "error": error })
}

/// Returns the line.
pub(super) fn line(overview: &Overview) -> Vec<u8> {
    let stats = &overview.stats;
    let protocols = stats.dead_protocols.iter();
    let lists = overview.lists();
    let lists = lists.map(|(kind, names)| (kind.key, list_json(names, overview.top)));
    let json = StatsJson {
        line_type: "stats",
        input: &overview.name,
        kind: overview.kind,
        urls: stats.urls,
        distinct_urls: number_json(stats.distinct_urls.estimate()),
        messages_with_urls: number_json(stats.messages.estimate()),
        sources_with_urls: number_json(stats.sources.estimate()),
        first_date: stats.first.as_deref(),
        last_date: stats.last.as_deref(),
        undated: stats.undated,
        later: stats.later,
        hidden: stats.hidden,
        joined: stats.joined,
        unwrapped: stats.unwrapped,
        attachments_not_read: overview.summary.as_ref().map(|summary| summary.parts_other),
        years: stats.years.clone(),
        dead_protocols: protocols
            .map(|(year, counts)| ProtocolsJson {
                year: *year,
                urls: DEAD_PROTOCOLS.into_iter().zip(*counts).collect(),
            })
            .collect(),
        lists: lists.collect(),
        summary: overview.summary.as_ref(),
    };
    let mut line = serde_json::to_vec(&json).unwrap_or_default();
    line.push(b'\n');
    line
}

fn list_json(list: &TopList, max: usize) -> ListJson {
    let top = list.top(max).into_iter();
    ListJson {
        names: number_json(list.names()),
        error: list.error(),
        top: top
            .map(|top| json!({ "name": top.name, "urls": top.count }))
            .collect(),
    }
}
