//! A search in any target: the same words, conditions and order, and the same matches.

#[cfg(feature = "elasticsearch")]
use std::cell::RefCell;
#[cfg(feature = "elasticsearch")]
use std::rc::Rc;

#[cfg(feature = "elasticsearch")]
use super::elasticsearch;
#[cfg(feature = "postgres")]
use super::postgres;
#[cfg(any(feature = "elasticsearch", feature = "postgres"))]
use super::search::{Match, MatchUse};
use super::search::{SearchQuery, search_database};
#[cfg(all(
    feature = "stats",
    any(feature = "elasticsearch", feature = "postgres")
))]
use super::stats::count_match;
#[cfg(feature = "stats")]
use super::stats::stats_of_matches;
#[cfg(all(
    feature = "stats",
    any(feature = "elasticsearch", feature = "postgres")
))]
use super::target::today;
use super::{Credentials, LoadError, LoadReport, TargetName};
#[cfg(feature = "elasticsearch")]
use super::{LoadJob, SharedReport};
use crate::record::FoundRow;
#[cfg(feature = "stats")]
use crate::stats::Stats;

/// Searches a target, and gives each match to `found` until that returns `false`, in the order of
/// [`SearchOrder`](super::SearchOrder).
///
/// # Errors
///
/// The target cannot be read, or is not one that `urlspool load` made.
#[cfg_attr(
    not(feature = "elasticsearch"),
    allow(unused_variables, reason = "a file needs no credentials")
)]
pub fn search<E: From<LoadError>>(
    target: &TargetName,
    credentials: &Credentials,
    query: &SearchQuery,
    report: &mut dyn LoadReport,
    found: impl FnMut(&FoundRow) -> Result<bool, E>,
) -> Result<(), E> {
    match target {
        TargetName::Sqlite(path) => search_database(path, query, found),
        #[cfg(feature = "postgres")]
        TargetName::Postgres(url) => {
            let mut found = found;
            postgres::search(url, credentials, query, MatchUse::Print, |matched| {
                found(&matched.row)
            })
        }
        #[cfg(feature = "elasticsearch")]
        TargetName::Elasticsearch { server, index } => {
            let job = job(target, credentials);
            let report: SharedReport<'_> = Rc::new(RefCell::new(report));
            let wanted = (query, MatchUse::Print);
            let mut found = found;
            elasticsearch::search(server, index, &job, report, wanted, |matched| {
                found(&matched.row)
            })
        }
    }
}

/// The job of a target that is only searched.
#[cfg(feature = "elasticsearch")]
fn job(target: &TargetName, credentials: &Credentials) -> LoadJob {
    let mut job = LoadJob::new(target.clone(), Vec::new());
    job.credentials = credentials.clone();
    job
}

/// Returns the numbers of URLs by domain, host, scheme, newsgroup and year among the matches of a
/// search. Mailing lists are counted among the newsgroups. The limit of the search has no effect.
///
/// # Errors
///
/// The target cannot be read, or is not one that `urlspool load` made.
#[cfg(feature = "stats")]
#[cfg_attr(
    not(feature = "elasticsearch"),
    allow(unused_variables, reason = "a file needs no credentials")
)]
pub fn stats_of_search(
    target: &TargetName,
    credentials: &Credentials,
    query: &SearchQuery,
    report: &mut dyn LoadReport,
) -> Result<Stats, LoadError> {
    match target {
        TargetName::Sqlite(path) => stats_of_matches(path, query),
        #[cfg(feature = "postgres")]
        TargetName::Postgres(url) => {
            counted(|count| postgres::search(url, credentials, query, MatchUse::Count, count))
        }
        #[cfg(feature = "elasticsearch")]
        TargetName::Elasticsearch { server, index } => {
            let job = job(target, credentials);
            let report: SharedReport<'_> = Rc::new(RefCell::new(report));
            let wanted = (query, MatchUse::Count);
            counted(|count| elasticsearch::search(server, index, &job, report, wanted, count))
        }
    }
}

/// Counts a match, and returns whether the search goes on.
#[cfg(all(
    feature = "stats",
    any(feature = "elasticsearch", feature = "postgres")
))]
type CountMatch<'c> = dyn FnMut(&Match) -> Result<bool, LoadError> + 'c;

/// Returns the numbers of the matches that `search` gives to its argument.
#[cfg(all(
    feature = "stats",
    any(feature = "elasticsearch", feature = "postgres")
))]
fn counted(
    search: impl FnOnce(&mut CountMatch<'_>) -> Result<(), LoadError>,
) -> Result<Stats, LoadError> {
    let (mut stats, today) = (Stats::default(), today());
    search(&mut |matched| {
        count_match(&matched.facets, &today, &mut stats);
        Ok(true)
    })?;
    stats.end_message();
    Ok(stats)
}
