//! Statistics as CSV files, and as one line of JSON, which `docs/extract.md` describes.

use std::collections::BTreeMap;

use serde::Serialize;

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
    for list in overview.lists() {
        let error = list.names.error();
        let rows = list.names.top(usize::MAX).into_iter();
        let rows = rows.map(|top| (TableText(top.name), top.count, top.count + error));
        files.write(list.kind.file, rows)?;
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
    distinct_urls: NumberJson,
    messages_with_urls: NumberJson,
    sources_with_urls: NumberJson,
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
    lists: BTreeMap<&'static str, ListJson<'o>>,
    summary: Option<&'o Summary>,
}

/// A number; `error` is null if it is exact.
#[derive(Serialize)]
struct NumberJson {
    count: u64,
    error: Option<f64>,
}

#[derive(Serialize)]
struct ProtocolsJson {
    /// Null for URLs without a usable date.
    year: Option<u16>,
    #[serde(flatten)]
    urls: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct ListJson<'o> {
    names: NumberJson,
    /// The largest number that `urls` may be too small by.
    error: u64,
    top: Vec<NameJson<'o>>,
}

#[derive(Serialize)]
struct NameJson<'o> {
    name: &'o str,
    urls: u64,
}

impl From<Estimate> for NumberJson {
    fn from(Estimate { count, error }: Estimate) -> NumberJson {
        // As the page has it; the digits after these say nothing.
        let error = error.map(|error| (error * 1_000.0).round() / 1_000.0);
        NumberJson { count, error }
    }
}

/// Returns the line.
pub(super) fn line(overview: &Overview) -> Vec<u8> {
    let stats = &overview.stats;
    let protocols = stats.dead_protocols.iter();
    let lists = overview.lists().into_iter();
    let lists = lists.map(|list| (list.kind.key, list_json(list.names, overview.top)));
    let json = StatsJson {
        line_type: "stats",
        input: &overview.name,
        kind: overview.kind,
        urls: stats.urls,
        distinct_urls: stats.distinct_urls.estimate().into(),
        messages_with_urls: stats.messages.estimate().into(),
        sources_with_urls: stats.sources.estimate().into(),
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

fn list_json(list: &TopList, max: usize) -> ListJson<'_> {
    let top = list.top(max).into_iter();
    ListJson {
        names: list.names().into(),
        error: list.error(),
        top: top
            .map(|top| NameJson {
                name: top.name,
                urls: top.count,
            })
            .collect(),
    }
}
