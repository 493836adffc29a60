//! Statistics of records: of lines, and of the rows of a database that was loaded.

use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::input::{LoadInput, inputs_of, unreadable};
use super::lines::each_batch;
use super::search::SearchQuery;
use super::sqlite::{open_to_read, sqlite_error};
use super::target::{LineTexts, today};
use super::{LoadError, LoadEvent};
use crate::stats::{Stats, StatsRow, list_names};
use urlspool_mail::decode::CitedDate;
use urlspool_record::record::{FieldId, LoadedRecord, LoadedValue, RecordLine, list_texts};

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
pub fn stats_of_records(paths: &[PathBuf], report: &mut dyn FnMut(LoadEvent<'_>)) -> ReadStats {
    let mut read = ReadStats {
        stats: Stats::default(),
        failures: 0,
    };
    for input in paths.iter().flat_map(|path| inputs_of(path)) {
        if let Err(error) = input.and_then(|input| add_input(&input, &mut read, report)) {
            read.failures += 1;
            report(LoadEvent::Omitted(&error.to_string()));
        }
    }
    read.stats.end_message();
    read
}

fn add_input(
    input: &LoadInput,
    read: &mut ReadStats,
    report: &mut dyn FnMut(LoadEvent<'_>),
) -> Result<(), LoadError> {
    let name = input.name();
    let today = today();
    let end = each_batch(
        || input.open(),
        LineTexts::Drop,
        |lines| {
            for line in lines.unwrap_or_default() {
                match &line.content {
                    Ok(RecordLine::Url(record)) => read.stats.add(&**record, &today),
                    Ok(_) => {}
                    Err(error) => {
                        read.failures += 1;
                        report(LoadEvent::BadLine {
                            input: &name,
                            line: line.number,
                            error,
                        });
                    }
                }
            }
            Ok(())
        },
    )?;
    end.map_err(|error| unreadable(&name, error))
}

impl StatsRow for LoadedRecord {
    fn place(&self) -> [u64; 2] {
        let start = match self.value(FieldId::MessageStart) {
            LoadedValue::Integer(start) => start.cast_unsigned(),
            _ => 0,
        };
        [self.source_key as u64, start]
    }

    fn text(&self, field: FieldId) -> Option<&str> {
        self.text(field)
    }

    fn texts(&self, field: FieldId) -> Vec<String> {
        list_texts(self.text(field).unwrap_or_default())
    }
}

/// A row of [`ROWS`].
struct DatabaseRow<'r> {
    row: &'r Row<'r>,
    /// `true` for the match of a search. Mailing lists are counted among newsgroups then, since one
    /// name may be both, and dates by the present day.
    is_match: bool,
}

/// The fields of [`ROWS`], in their order; before them the source and the message, after them
/// `cited`.
const FIELDS: [FieldId; 11] = [
    FieldId::MessageDate,
    FieldId::MessageFrom,
    FieldId::MessageListId,
    FieldId::MessageNewsgroups,
    FieldId::Key,
    FieldId::Scheme,
    FieldId::Host,
    FieldId::Domain,
    FieldId::Wrapper,
    FieldId::Repairs,
    FieldId::UnwrappedBy,
];

const ROWS: &str = "SELECT urls.source, urls.message, messages.date, messages.sender, messages.list_id, messages.newsgroups,
    ifnull(links.key, urls.url), urls.scheme, urls.host, urls.domain, urls.wrapper, urls.repairs, urls.unwrapped_by, urls.cited
  FROM urls CROSS JOIN messages ON messages.id = urls.message LEFT JOIN links ON links.id = urls.link";

/// A day after all days.
const NO_DAY: &str = "9999-99-99";

impl DatabaseRow<'_> {
    /// Returns the text of a column; `None` if somebody changed the database.
    fn column(&self, column: usize) -> Option<&str> {
        let value = self.row.get_ref(column).ok()?;
        value.as_str_or_null().ok()?
    }

    fn field(&self, field: FieldId) -> Option<&str> {
        let place = FIELDS.iter().position(|column| *column == field)?;
        self.column(place + 2)
    }
}

impl StatsRow for DatabaseRow<'_> {
    fn place(&self) -> [u64; 2] {
        [0, 1].map(|column| self.row.get(column).map_or(0, i64::cast_unsigned))
    }

    fn text(&self, field: FieldId) -> Option<&str> {
        let is_newsgroup = self.is_match && field == FieldId::MessageListId;
        self.field(field).filter(|_| !is_newsgroup)
    }

    fn texts(&self, field: FieldId) -> Vec<String> {
        let texts = list_texts(self.field(field).unwrap_or_default());
        if self.is_match && field == FieldId::MessageNewsgroups {
            return list_names(self.field(FieldId::MessageListId), &texts);
        }
        texts
    }

    fn date(&self, today: &str) -> CitedDate<'_> {
        let scheme = self.field(FieldId::Scheme).unwrap_or_default();
        let date = self.field(FieldId::MessageDate);
        if self.is_match {
            return CitedDate::of(scheme, date, today);
        }
        match (
            self.column(FIELDS.len() + 2),
            CitedDate::of(scheme, date, NO_DAY),
        ) {
            (Some(cited), _) => CitedDate::Usable(cited),
            (None, CitedDate::Unknown) => CitedDate::Unknown,
            // The load found it after its day: that day may have come since.
            (None, CitedDate::Usable(_) | CitedDate::Later) => CitedDate::Later,
        }
    }
}

/// Returns the statistics of the database at `path`. It holds each record once, also one that was
/// found in copies of a message.
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn stats_of_database(path: &Path) -> Result<Stats, LoadError> {
    // Messages follow each other as they were loaded; one that was loaded in parts is begun again.
    stats_of_rows(path, "ORDER BY urls.id", Vec::new(), false)
}

/// Returns the numbers of URLs by domain, host, scheme, newsgroup and year among the matches of a
/// search in the database at `path`. Mailing lists are counted among the newsgroups. The limit of
/// the search has no effect.
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn stats_of_matches(path: &Path, query: &SearchQuery) -> Result<Stats, LoadError> {
    let named = |error| sqlite_error(path, error);
    query.phrases().map_err(named)?.check()?;
    let (filter, values) = query.filter().map_err(named)?;
    stats_of_rows(path, &filter, values, true)
}

/// Returns the statistics of the rows of a query, whose end is `rest`.
fn stats_of_rows(
    path: &Path,
    rest: &str,
    values: Vec<Value>,
    is_match: bool,
) -> Result<Stats, LoadError> {
    let db = open_to_read(path)?;
    let (mut stats, today) = (Stats::default(), today());
    let counted = db
        .prepare(&format!("{ROWS} {rest}"))
        .and_then(|mut statement| {
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                stats.add(&DatabaseRow { row, is_match }, &today);
            }
            Ok(())
        });
    counted.map_err(|error| sqlite_error(path, error))?;
    stats.end_message();
    Ok(stats)
}
