//! Statistics of records, read from lines or from the rows of a database.

use std::path::{Path, PathBuf};

use rusqlite::{Row, params_from_iter};

use super::input::{LoadInput, each_batch, inputs_of, unreadable};
use super::search::SearchQuery;
use super::sqlite::{open_to_read, sqlite_error};
use super::target::{LineTexts, today};
use super::words::Phrases;
use super::{LoadError, LoadEvent};
use crate::stats::{Stats, StatsRow, list_names};
use urlspool_mail::decode::CitedDate;
use urlspool_record::record::{FieldId, LoadedRecord, LoadedValue, RecordLine, list_texts};

/// Statistics of records in files.
#[derive(Debug, Default)]
pub struct ReadStats {
    /// Statistics of all records.
    pub stats: Stats,
    /// Number of lines that are not records, and of inputs that could not be read to the end.
    pub failures: u64,
}

/// Returns the statistics of the records in files, in the files of folders, and on standard input
/// (`-`). Reports lines that are not records and inputs that cannot be read, and counts the rest.
///
/// Includes records of messages that have since gone.
pub fn stats_of_records(paths: &[PathBuf], report: &mut dyn FnMut(LoadEvent<'_>)) -> ReadStats {
    let mut read = ReadStats::default();
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
    /// `true` for a search match. Mailing lists are then counted as newsgroups, since a name may be
    /// both, and dates are compared with the current day.
    is_match: bool,
}

/// Fields of [`ROWS`], in order. The query returns the source and the message before them, and
/// after them `cited` and `true` for a link that occurs only in header fields of mailing lists. The
/// number of a link stands for its key: only different keys are counted.
const FIELDS: [FieldId; 11] = [
    FieldId::MessageDate,
    FieldId::AuthorFrom,
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

const ROWS: &str = "SELECT urls.source, urls.message, coalesce(urls.author_date, messages.date), \
    CASE urls.author_by WHEN 'outer' THEN messages.sender ELSE urls.author_from END, \
    messages.list_id, messages.newsgroups,
    ifnull(CAST(urls.link AS TEXT), urls.url), urls.scheme, urls.host, urls.domain, \
    urls.wrapper, urls.repairs, urls.unwrapped_by, urls.cited,
    urls.link IN (SELECT id FROM links WHERE citations = in_list_fields)
  FROM urls CROSS JOIN messages ON messages.id = urls.message";

/// A day after all real days.
const NO_DAY: &str = "9999-99-99";

impl DatabaseRow<'_> {
    /// Returns the text of a column, or `None` if it is not text because the database was edited.
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
            // The date was in the future when it was loaded, though it may have passed since.
            (None, CitedDate::Usable(_) | CitedDate::Later) => CitedDate::Later,
        }
    }
}

/// Returns the statistics of the database at `path`. It contains each record once, even if copies
/// of a message contain it. Links that occur only in header fields of mailing lists are hidden
/// unless `shows_list_fields`.
///
/// # Errors
///
/// The database cannot be read, or was not made by `urlspool load`.
pub fn stats_of_database(path: &Path, shows_list_fields: bool) -> Result<Stats, LoadError> {
    let query = SearchQuery {
        shows_list_fields,
        ..SearchQuery::default()
    };
    // Rows of a message are consecutive, unless the message was loaded in parts.
    stats_of_rows(path, &query, "ORDER BY urls.id", false)
}

/// Returns counts by domain, host, scheme, newsgroup and year of the URLs that a search in the
/// database at `path` matches. Mailing lists are counted as newsgroups. The limit of the search is
/// ignored.
///
/// # Errors
///
/// The database cannot be read, or was not made by `urlspool load`.
pub fn stats_of_matches(path: &Path, query: &SearchQuery) -> Result<Stats, LoadError> {
    let phrases = Phrases::parse(&query.words).map_err(|error| sqlite_error(path, error))?;
    phrases.check()?;
    stats_of_rows(path, query, "", true)
}

fn stats_of_rows(
    path: &Path,
    query: &SearchQuery,
    order: &str,
    is_match: bool,
) -> Result<Stats, LoadError> {
    let db = open_to_read(path)?;
    let (mut stats, today) = (Stats::default(), today());
    let counted = query.filter().and_then(|(filter, values)| {
        let mut statement = db.prepare(&format!("{ROWS} {filter} {order}"))?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let is_only_in_list_fields: Option<bool> = row.get(FIELDS.len() + 3)?;
            if is_only_in_list_fields == Some(true) && !query.shows_list_fields {
                stats.hidden += 1;
            } else {
                stats.add(&DatabaseRow { row, is_match }, &today);
            }
        }
        Ok(())
    });
    counted.map_err(|error| sqlite_error(path, error))?;
    stats.end_message();
    Ok(stats)
}
