//! A search: its conditions, and its matches in a database of `SQLite`.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::LoadError;
use super::phrases::{Marker, Phrase, Phrases};
use super::sqlite::{open_to_read, sqlite_error};
use crate::parse::key;
use crate::record::{FoundContext, FoundMessage, FoundRow, FoundSource};

/// Searches the database at `path`, and gives each match to `found` until that returns `false`, in
/// the order of [`SearchOrder`].
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn search<E: From<LoadError>>(
    path: &Path,
    query: &SearchQuery,
    mut found: impl FnMut(&FoundRow) -> Result<bool, E>,
) -> Result<(), E> {
    let named = |error: rusqlite::Error| sqlite_error(path, error);
    let db = open_to_read(path)?;
    let phrases = query.phrases().map_err(named)?;
    phrases.check()?;
    let mut marker = Marker::new(phrases.wanted).map_err(named)?;
    let Statement { sql, values } = query.statement().map_err(named)?;
    let mut statement = db.prepare(&sql).map_err(named)?;
    let mut rows = statement
        .query(params_from_iter::<Vec<Value>>(values))
        .map_err(named)?;
    while let Some(row) = rows.next().map_err(named)? {
        let mut row = found_row(row).map_err(named)?;
        mark(&mut row, &mut marker).map_err(named)?;
        if !found(&row)? {
            break;
        }
    }
    Ok(())
}

/// Marks the words of a search in passages.
#[cfg(feature = "browse")]
pub(crate) struct PassageMarker(Marker);

#[cfg(feature = "browse")]
impl PassageMarker {
    /// Creates the marker of a search; `None` if it has no words.
    pub(crate) fn new(query: &SearchQuery) -> rusqlite::Result<Option<PassageMarker>> {
        if query.words.is_empty() {
            return Ok(None);
        }
        let marker = Marker::new(query.phrases()?.wanted)?;
        Ok(Some(PassageMarker(marker)))
    }

    pub(crate) fn mark(&mut self, row: &mut FoundRow) -> rusqlite::Result<()> {
        mark(row, &mut self.0)
    }
}

/// Marks the phrases of a search in the passage of a match.
fn mark(row: &mut FoundRow, marker: &mut Marker) -> rusqlite::Result<()> {
    if let Some(context) = &mut row.context {
        context.before_marks = marker.marks(&context.before)?;
        context.after_marks = marker.marks(&context.after)?;
    }
    Ok(())
}

pub(super) fn found_row(row: &Row<'_>) -> rusqlite::Result<FoundRow> {
    Ok(FoundRow {
        id: row.get(0)?,
        url: row.get(1)?,
        fragment: row.get(2)?,
        confidence: row.get(3)?,
        region: row.get(4)?,
        anchor: row.get(5)?,
        source: FoundSource {
            path: row.get(6)?,
            path_b64: row.get(7)?,
            member: row.get(8)?,
            member_b64: row.get(9)?,
            start: row.get(10)?,
            end: row.get(11)?,
        },
        message: FoundMessage {
            id: row.get(12)?,
            date: row.get(13)?,
            from: row.get(14)?,
            subject: row.get(15)?,
        },
        context: context(row.get(16)?, row.get(17)?),
    })
}

fn context(before: Option<String>, after: Option<String>) -> Option<FoundContext> {
    let (before, after) = before.zip(after)?;
    Some(FoundContext::new(before, after))
}

/// Conditions of a search, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchQuery {
    /// Words of which each must occur in the URL, the text of the link, the subject, the sender or
    /// the text around the URL, as users write them: `goph*` is the beginning of a word, `-lamp`
    /// must not occur, and an argument of several words, or the part of one in quotes, is a phrase.
    pub words: Vec<String>,
    /// The scheme of the URL.
    pub scheme: Option<String>,
    /// A registrable domain with all its hosts.
    pub domain: Option<String>,
    /// A URL in any spelling that has the same key ([`crate::parse::key`]).
    pub url: Option<String>,
    /// A text in the sender; ASCII letters match in both cases.
    pub sender: Option<String>,
    /// The `List-Id` of a list, or a newsgroup; ASCII letters match in both cases.
    pub list: Option<String>,
    /// A host, or a registrable domain with all its hosts, as records have them
    /// ([`crate::parse::host_name`]).
    pub host: Option<String>,
    /// A hazard, by its name in records.
    pub hazard: Option<String>,
    /// The earliest date: the first second, in seconds since 1970.
    pub since: Option<i64>,
    /// The first second after the latest date.
    pub until: Option<i64>,
    /// Maximum number of matches.
    pub limit: Option<u64>,
    /// The order of the matches.
    pub order: SearchOrder,
}

/// A condition of a search beside its words, with its value as rows have it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    /// A host, or a registrable domain.
    Host(String),
    Scheme(String),
    Domain(String),
    Key(String),
    /// A text in the sender; ASCII letters match in both cases.
    Sender(String),
    /// A `List-Id`, or what stands in its brackets, or a newsgroup; ASCII letters match in both
    /// cases.
    List(String),
    /// The name of a hazard.
    Hazard(String),
    /// The first date.
    Since(String),
    /// The date after the last one.
    Until(String),
}

/// Order of the matches. Those without a plausible date come last; those of one time in the order
/// of their files and places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchOrder {
    /// The last citations first.
    #[default]
    Newest,
    /// The first citations first.
    Oldest,
}

/// A statement of SQL with the values of its parameters.
#[derive(Debug)]
struct Statement {
    sql: String,
    values: Vec<Value>,
}

/// The columns that [`found_row`] reads.
pub(super) const COLUMNS: &str =
    "SELECT urls.record_id, urls.url, urls.fragment, urls.confidence, urls.region, urls.anchor,
  sources.path, sources.path_b64, sources.member, sources.member_b64, urls.start, urls.\"end\",
  messages.message_id, messages.date, messages.sender, messages.subject,
  urls.context_before, urls.context_after";

pub(super) const TABLES: &str =
    "JOIN messages ON messages.id = urls.message JOIN sources ON sources.id = urls.source";

/// The largest number that `LIMIT` takes.
pub(super) const MAX_LIMIT: u64 = i64::MAX.unsigned_abs();

impl SearchOrder {
    /// Returns the clause of SQL. Matches of one time come in the order of their files and places,
    /// and at last of their keys, so that it is the same in whatever order they were loaded.
    pub(super) fn clause(self) -> &'static str {
        match self {
            SearchOrder::Newest => {
                "ORDER BY urls.cited DESC NULLS LAST, sources.path, sources.member, urls.start, \
                 urls.record_key"
            }
            SearchOrder::Oldest => {
                "ORDER BY urls.cited NULLS LAST, sources.path, sources.member, urls.start, \
                 urls.record_key"
            }
        }
    }
}

impl SearchQuery {
    /// Returns the conditions as a clause `WHERE` for the table `urls`, with the values of its
    /// parameters; an empty clause without conditions.
    pub(crate) fn filter(&self) -> rusqlite::Result<(String, Vec<Value>)> {
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        let mut add = |condition: &str, value: Value| {
            values.push(value);
            conditions.push(condition.replace('?', &format!("?{}", values.len())));
        };
        match full_text(&self.phrases()?) {
            (Some(wanted), excluded) => {
                let matching = match excluded {
                    Some(excluded) => format!("({wanted}) NOT ({excluded})"),
                    None => wanted,
                };
                add(
                    "urls.id IN (SELECT rowid FROM search WHERE search MATCH ?)",
                    matching.into(),
                );
            }
            (None, Some(excluded)) => add(
                "urls.id NOT IN (SELECT rowid FROM search WHERE search MATCH ?)",
                excluded.into(),
            ),
            (None, None) => {}
        }
        for condition in self.conditions() {
            let (sql, value) = match condition {
                Condition::Host(host) => (
                    "urls.link IN (SELECT id FROM links WHERE host = ? UNION SELECT id FROM links \
                     WHERE domain = ?)",
                    host,
                ),
                Condition::Scheme(scheme) => ("urls.scheme = ?", scheme),
                Condition::Domain(domain) => (
                    "urls.link IN (SELECT id FROM links WHERE domain = ?)",
                    domain,
                ),
                Condition::Key(key) => ("urls.link IN (SELECT id FROM links WHERE key = ?)", key),
                Condition::Sender(sender) => (
                    "urls.message IN (SELECT id FROM messages WHERE instr(lower(sender), \
                     lower(?)) > 0)",
                    sender,
                ),
                Condition::List(list) => (
                    "urls.message IN (SELECT id FROM messages WHERE lower(list_id) = lower(?)
                       OR instr(lower(list_id), '<' || lower(?) || '>') > 0
                       OR EXISTS (SELECT 1 FROM json_each(newsgroups) WHERE lower(value) = lower(?)))",
                    list,
                ),
                // The names in the list have no quotation marks.
                Condition::Hazard(name) => ("instr(urls.hazards, '\"' || ? || '\"') > 0", name),
                Condition::Since(time) => ("urls.cited >= ?", time),
                Condition::Until(time) => ("urls.cited < ?", time),
            };
            add(sql, value.into());
        }
        let filter = match &*conditions {
            [] => String::new(),
            _ => format!(" WHERE {}", conditions.join(" AND ")),
        };
        Ok((filter, values))
    }

    /// Returns the conditions beside the words.
    fn conditions(&self) -> Vec<Condition> {
        let lower = |text: &String| text.to_ascii_lowercase();
        let key_of = |url: &String| String::from_utf8_lossy(&key(url.as_bytes())).into_owned();
        let conditions = [
            self.host.as_ref().map(lower).map(Condition::Host),
            self.scheme.as_ref().map(lower).map(Condition::Scheme),
            self.domain.as_ref().map(lower).map(Condition::Domain),
            self.url.as_ref().map(key_of).map(Condition::Key),
            self.sender.clone().map(Condition::Sender),
            self.list.clone().map(Condition::List),
            self.hazard.clone().map(Condition::Hazard),
            self.since.map(instant).map(Condition::Since),
            self.until.map(instant).map(Condition::Until),
        ];
        conditions.into_iter().flatten().collect()
    }

    /// Returns `true` if the words are not longer, and not more, than a search may have. An index
    /// takes minutes for a phrase of thousands, and cannot be interrupted.
    #[cfg(feature = "browse")]
    pub(crate) fn is_searchable(&self) -> bool {
        self.phrases().is_ok_and(|phrases| phrases.check().is_ok())
    }

    /// Returns the words as phrases.
    pub(super) fn phrases(&self) -> rusqlite::Result<Phrases> {
        Phrases::parse(&self.words)
    }

    /// Returns the statement that finds the rows.
    fn statement(&self) -> rusqlite::Result<Statement> {
        let (filter, values) = self.filter()?;
        let limit = match self.limit {
            Some(limit) => format!(" LIMIT {}", limit.min(MAX_LIMIT)),
            None => String::new(),
        };
        let order = self.order.clause();
        Ok(Statement {
            // Only what the order needs is sorted. A cross join keeps its order: the matches are
            // found first.
            sql: format!(
                "{COLUMNS} FROM (SELECT urls.id AS found FROM urls CROSS JOIN sources ON \
                 sources.id = urls.source{filter} {order}{limit}) JOIN urls ON urls.id = found \
                 {TABLES} {order}"
            ),
            values,
        })
    }

    /// Returns `true` if there is any condition.
    #[must_use]
    pub fn has_condition(&self) -> bool {
        let texts = [
            &self.host,
            &self.scheme,
            &self.domain,
            &self.url,
            &self.sender,
            &self.list,
            &self.hazard,
        ];
        // A sign that Unicode counts among the letters may be none in the index.
        let has_word = || self.phrases().map_or(true, |phrases| !phrases.is_empty());
        texts.iter().any(|text| text.is_some())
            || self.since.is_some()
            || self.until.is_some()
            || has_word()
    }
}

/// Returns the phrases that are wanted, and those that are excluded, as queries of FTS5.
fn full_text(phrases: &Phrases) -> (Option<String>, Option<String>) {
    let quoted = |phrase: &Phrase| {
        let star = if phrase.is_beginning { " *" } else { "" };
        format!("\"{}\"{star}", phrase.words.join(" "))
    };
    let joined = |phrases: &[Phrase], operator| {
        let phrases: Vec<_> = phrases.iter().map(quoted).collect();
        (!phrases.is_empty()).then(|| phrases.join(operator))
    };
    (
        joined(&phrases.wanted, " AND "),
        joined(&phrases.excluded, " OR "),
    )
}

/// The date of a second, as records have it.
fn instant(unix: i64) -> String {
    jiff::Timestamp::from_second(unix).map_or_else(|_| String::new(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_phrases() {
        let words = ["info.cern.ch", "a\"b", "--", "goph*", "-x", "-y"];
        let query = SearchQuery {
            words: words.map(str::to_owned).to_vec(),
            ..SearchQuery::default()
        };
        let (_, values) = query.filter().unwrap();
        let expected = "(\"info cern ch\" AND \"a b\" AND \"goph\" *) NOT (\"x\" OR \"y\")";
        assert_eq!(values, [Value::from(expected.to_owned())]);
        assert_eq!(SearchQuery::default().filter().unwrap().1, []);
    }

    #[test]
    fn words_without_letters_are_no_condition() {
        let has_condition = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let query = SearchQuery {
                words,
                ..SearchQuery::default()
            };
            query.has_condition()
        };
        assert!(has_condition(&["-lamp"]) && has_condition(&["*", "\u{5317}"]));
        // For Unicode a circled letter is alphabetic, for the index it is a sign.
        assert!(!has_condition(&["\u{24B6}", "-\u{24B6}", "*", "-\"\"", ""]));
    }

    #[test]
    fn each_condition_has_its_value() {
        let query = SearchQuery {
            host: Some("A.example".into()),
            since: Some(0),
            ..SearchQuery::default()
        };
        let statement = query.statement().unwrap();
        assert_eq!(
            statement.values,
            [
                Value::from("a.example".to_owned()),
                Value::from("1970-01-01T00:00:00Z".to_owned())
            ]
        );
        assert!(statement.sql.contains("urls.cited >= ?2"));
    }
}
