//! Statistics as one line of JSON. `docs/stats.md` describes it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::overview::Overview;
use crate::record::Summary;
use crate::stats::{DEAD_PROTOCOLS, Estimate, TopList};

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
    let distinct = stats.distinct();
    let protocols = stats.dead_protocols.iter();
    let lists = overview.lists().into_iter();
    let lists = lists.map(|list| (list.kind.key, list_json(list.names, overview.top)));
    let json = StatsJson {
        line_type: "stats",
        input: &overview.name,
        kind: overview.kind,
        urls: stats.urls,
        distinct_urls: distinct.urls.into(),
        messages_with_urls: distinct.messages.into(),
        sources_with_urls: distinct.sources.into(),
        first_date: stats.first.as_deref(),
        last_date: stats.last.as_deref(),
        undated: stats.undated,
        later: stats.later,
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
