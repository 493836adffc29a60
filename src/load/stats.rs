//! Statistics of records: of lines, and of the rows of a database that was loaded.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Row, params_from_iter};

use super::input::{LoadInput, inputs_of, is_records, segments_in, unreadable};
use super::lines::each_batch;
use super::search::SearchQuery;
use super::sqlite::{open_to_read, sqlite_error};
use super::target::{LineTexts, today};
use super::{LoadError, LoadReport};
use crate::decode::CitedDate;
use crate::record::{FieldId, LoadedRecord, LoadedValue, RecordLine, list_names, list_texts};
use crate::stats::{Stats, StatsMessage, StatsUrl};

/// Statistics of records that were read.
#[derive(Debug)]
pub struct ReadStats {
    /// The statistics of all records.
    pub stats: Stats,
    /// Lines that are no records, and inputs that could not be read, or not to their end.
    pub failures: u64,
}

/// Returns the statistics of the records in files, in the files of folders, and on standard input
/// (`-`). What is none, or cannot be read, is reported, and the others are counted.
///
/// Records of messages that are gone since are counted too.
pub fn stats_of_records(paths: &[PathBuf], report: &mut dyn LoadReport) -> ReadStats {
    let mut read = ReadStats {
        stats: Stats::default(),
        failures: 0,
    };
    for input in paths.iter().flat_map(|path| inputs_of(path)) {
        if let Err(error) = input.and_then(|input| add_input(&input, &mut read, report)) {
            read.failures += 1;
            report.failed_input(&error);
        }
    }
    read.stats.end_message();
    read
}

/// Returns `true` if a folder holds segments of a daemon.
#[must_use]
pub fn has_segments(folder: &Path) -> bool {
    segments_in(folder, |_| true).is_ok_and(|segments| !segments.is_empty())
}

/// Returns `true` if the name of a file is one of records in folders.
#[must_use]
pub fn is_named_as_records(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| is_records(name.as_bytes()))
}

/// Returns the files that are read of a path.
#[must_use]
pub fn files_of_records(path: &Path) -> Vec<PathBuf> {
    let inputs = inputs_of(path).into_iter().flatten();
    inputs
        .filter_map(|input| match input {
            LoadInput::Stdin => None,
            LoadInput::File(path) => Some(vec![path]),
            LoadInput::Segment(segment) => Some(vec![segment.path, segment.meta]),
        })
        .flatten()
        .collect()
}

fn add_input(
    input: &LoadInput,
    read: &mut ReadStats,
    report: &mut dyn LoadReport,
) -> Result<(), LoadError> {
    let name = input.name();
    let (mut message, today) = (None, today());
    let end = each_batch(input, LineTexts::Drop, |lines| {
        for line in lines.unwrap_or_default() {
            match &line.content {
                Ok(RecordLine::Url(record)) => {
                    add_record(record, &mut message, &today, &mut read.stats)
                }
                Ok(_) => {}
                Err(error) => {
                    read.failures += 1;
                    report.bad_line(&name, line.number, error);
                }
            }
        }
        Ok(())
    })?;
    end.map(|_| ()).map_err(|error| unreadable(&name, error))
}

/// Adds a record. `last` names the message of the record before.
fn add_record(
    record: &LoadedRecord,
    last: &mut Option<(u128, i64)>,
    today: &str,
    stats: &mut Stats,
) {
    let start = match record.value(FieldId::MessageStart) {
        LoadedValue::Integer(start) => *start,
        _ => 0,
    };
    let place = (record.source_key, start);
    if *last != Some(place) {
        *last = Some(place);
        let newsgroups = texts(record.text(FieldId::MessageNewsgroups));
        stats.begin_message(&StatsMessage {
            source: record.source_key as u64,
            place: start.cast_unsigned(),
            from: record.text(FieldId::MessageFrom),
            list_id: record.text(FieldId::MessageListId),
            newsgroups: newsgroups.iter().map(String::as_str).collect(),
        });
    }
    let text = |field| record.text(field);
    let scheme = text(FieldId::Scheme).unwrap_or_default();
    let url = StatsUrl {
        key: text(FieldId::Key)
            .or(text(FieldId::Url))
            .unwrap_or_default(),
        scheme,
        host: text(FieldId::Host),
        domain: text(FieldId::Domain),
        wrapper: text(FieldId::Wrapper).unwrap_or_default(),
        redirector: text(FieldId::UnwrappedBy),
        date: CitedDate::of(scheme, text(FieldId::MessageDate), today),
    };
    let repairs = texts(text(FieldId::Repairs));
    stats.add(&url, repairs.iter().map(String::as_str));
}

/// Returns the texts of a list, given its JSON.
fn texts(json: Option<&str>) -> Vec<String> {
    list_texts(json.unwrap_or_default())
}

/// Messages follow each other as they were loaded; one that was loaded in parts is begun again.
const ROWS: &str = "SELECT urls.source, urls.message, messages.date, messages.sender, messages.list_id, messages.newsgroups,
    ifnull(links.key, urls.url), urls.scheme, urls.host, urls.domain, urls.wrapper, urls.repairs, urls.unwrapped_by, urls.cited
  FROM urls CROSS JOIN messages ON messages.id = urls.message LEFT JOIN links ON links.id = urls.link ORDER BY urls.id";

/// Returns the statistics of the database at `path`. It holds each record once, also one that was
/// found in copies of a message.
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn stats_of_database(path: &Path) -> Result<Stats, LoadError> {
    let named = |error: rusqlite::Error| sqlite_error(path, error);
    let db = open_to_read(path)?;
    let mut statement = db.prepare(ROWS).map_err(named)?;
    let mut rows = statement.query([]).map_err(named)?;
    let mut stats = Stats::default();
    let mut message = None;
    while let Some(row) = rows.next().map_err(named)? {
        add_row(row, &mut message, &mut stats).map_err(named)?;
    }
    stats.end_message();
    Ok(stats)
}

/// The columns of a match that [`count_match`] reads.
const FACET_COLUMNS: &str =
    "messages.date, messages.list_id, messages.newsgroups, urls.scheme, urls.host, urls.domain";

/// Adds a match. Its message is not known: only what lists of names count is right. Mailing lists
/// are counted among newsgroups, since one name may be both.
fn count_match(row: &Row<'_>, today: &str, stats: &mut Stats) -> rusqlite::Result<()> {
    let lists = list_names(text(row, 1)?, &texts(text(row, 2)?));
    stats.begin_message(&StatsMessage {
        source: 0,
        place: 0,
        from: None,
        list_id: None,
        newsgroups: lists.iter().map(String::as_str).collect(),
    });
    let scheme = text(row, 3)?.unwrap_or_default();
    let url = StatsUrl {
        key: "",
        scheme,
        host: text(row, 4)?,
        domain: text(row, 5)?,
        wrapper: "",
        redirector: None,
        date: CitedDate::of(scheme, text(row, 0)?, today),
    };
    stats.add(&url, std::iter::empty());
    Ok(())
}

/// Returns the numbers of URLs by domain, host, scheme, newsgroup and year among the matches of a
/// search in the database at `path`. Mailing lists are counted among the newsgroups. The limit of
/// the search has no effect.
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn stats_of_matches(path: &Path, query: &SearchQuery) -> Result<Stats, LoadError> {
    let named = |error: rusqlite::Error| sqlite_error(path, error);
    let db = open_to_read(path)?;
    query.phrases().map_err(named)?.check()?;
    let (filter, values) = query.filter().map_err(named)?;
    let sql = format!(
        "SELECT {FACET_COLUMNS} FROM urls JOIN messages ON messages.id = urls.message{filter}"
    );
    let mut statement = db.prepare(&sql).map_err(named)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(named)?;
    let (mut stats, today) = (Stats::default(), today());
    while let Some(row) = rows.next().map_err(named)? {
        count_match(row, &today, &mut stats).map_err(named)?;
    }
    stats.end_message();
    Ok(stats)
}

/// A day after all days.
const NO_DAY: &str = "9999-99-99";

/// Adds a row. `last` names the message of the row before.
fn add_row(
    row: &Row<'_>,
    last: &mut Option<(i64, i64)>,
    stats: &mut Stats,
) -> rusqlite::Result<()> {
    let place = (row.get(0)?, row.get(1)?);
    if *last != Some(place) {
        *last = Some(place);
        let newsgroups = texts(text(row, 5)?);
        stats.begin_message(&StatsMessage {
            source: place.0.cast_unsigned(),
            place: place.1.cast_unsigned(),
            from: text(row, 3)?,
            list_id: text(row, 4)?,
            newsgroups: newsgroups.iter().map(String::as_str).collect(),
        });
    }
    let scheme = text(row, 7)?.unwrap_or_default();
    let date = match text(row, 13)? {
        Some(cited) => CitedDate::Usable(cited),
        // The load found it after its day: that day may have come since.
        None => match CitedDate::of(scheme, text(row, 2)?, NO_DAY) {
            CitedDate::Unknown => CitedDate::Unknown,
            CitedDate::Usable(_) | CitedDate::Later => CitedDate::Later,
        },
    };
    let url = StatsUrl {
        key: text(row, 6)?.unwrap_or_default(),
        scheme,
        host: text(row, 8)?,
        domain: text(row, 9)?,
        wrapper: text(row, 10)?.unwrap_or_default(),
        redirector: text(row, 12)?,
        date,
    };
    let repairs = texts(text(row, 11)?);
    stats.add(&url, repairs.iter().map(String::as_str));
    Ok(())
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Option<&'r str>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        value => Ok(Some(value.as_str()?)),
    }
}
