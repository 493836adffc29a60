//! Statistics as CSV files.

use super::overview::{LISTS, Overview};
use crate::sink::{OutputError, TableFiles, TableText};
use crate::stats::{DEAD_PROTOCOLS, Estimate};

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

fn totals(overview: &Overview) -> Vec<(&'static str, u64, Option<String>)> {
    let stats = &overview.stats;
    let distinct = stats.distinct();
    let estimated = |name, Estimate { count, error }| {
        let error = error.map(|error| format!("{error:.4}"));
        (name, count, error)
    };
    let mut rows = vec![
        ("urls", stats.urls, None),
        estimated("distinct_urls", distinct.urls),
        estimated("messages_with_urls", distinct.messages),
        estimated("sources_with_urls", distinct.sources),
        ("undated", stats.undated, None),
        ("later", stats.later, None),
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
