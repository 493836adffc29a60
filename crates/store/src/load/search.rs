//! Searches of a `SQLite` database, and the citations of a URL, a host or a domain.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::LoadError;
use super::found_row::{Citation, FoundAuthor, FoundContext, FoundMessage, FoundRow, FoundSource};
use super::sqlite::{open_to_read, sqlite_error};
use super::words::{Marker, Phrase, Phrases};
use urlspool_files::config::named_values;
use urlspool_files::evidence::WHOLE_CONFIDENCE;
use urlspool_record::record::list_texts;
use urlspool_text::parse::key;
use urlspool_text::repair::{Repair, UrlEvidence};

/// Searches the database at `path` and passes each match to `found`, in the order of the query's
/// [`SearchOrder`]. Stops when `found` returns `false`. Returns the number of hidden matches.
///
/// # Errors
///
/// The database cannot be read, or was not made by `urlspool load`.
pub fn search<E: From<LoadError>>(
    path: &Path,
    query: &SearchQuery,
    mut found: impl FnMut(&Citation) -> Result<bool, E>,
) -> Result<u64, E> {
    let db = open_to_read(path)?;
    let named = |error| sqlite_error(path, error);
    let phrases = Phrases::parse(&query.words).map_err(named)?;
    phrases.check()?;
    let mut marker = Marker::new(phrases.wanted).map_err(named)?;
    let (sql, values) = query.statement().map_err(named)?;
    let mut statement = db.prepare(&sql).map_err(named)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(named)?;
    while let Some(row) = rows.next().map_err(named)? {
        let mut row = citation(row).map_err(named)?;
        marker.mark(&mut row.found).map_err(named)?;
        if !found(&row)? {
            return Ok(0);
        }
    }
    if query.shows_list_fields {
        return Ok(0);
    }
    Ok(query.count(&db, ONLY_IN_LIST_FIELDS).map_err(named)?)
}

/// Returns the number of shown matches that a period leaves out because they have no plausible
/// date.
///
/// # Errors
///
/// The database cannot be read, or was not made by `urlspool load`.
pub fn count_undated(path: &Path, query: &SearchQuery) -> Result<u64, LoadError> {
    if query.since.is_none() && query.until.is_none() {
        return Ok(0);
    }
    let always = SearchQuery {
        since: None,
        until: None,
        ..query.clone()
    };
    let hides = !query.shows_list_fields;
    let undated = format!("urls.cited IS NULL AND NOT ({hides} AND {ONLY_IN_LIST_FIELDS})");
    let counted = always.count(&open_to_read(path)?, &undated);
    counted.map_err(|error| sqlite_error(path, error))
}

/// Returns the complete URLs in the database at `path`, which serve as evidence for joins.
///
/// # Errors
///
/// The database cannot be read, or was not made by `urlspool load`.
pub fn evidence_of_database(path: &Path, max_urls: usize) -> Result<UrlEvidence, LoadError> {
    let db = open_to_read(path)?;
    let mut evidence = UrlEvidence::new(max_urls);
    let sql = "SELECT url || ifnull('#' || fragment, ''), repairs FROM urls \
         WHERE ?1 <= confidence ORDER BY id";
    let mut read = || {
        let mut statement = db.prepare(sql)?;
        let mut rows = statement.query([WHOLE_CONFIDENCE])?;
        while let Some(row) = rows.next()? {
            let repairs: String = row.get(1)?;
            let repairs = list_texts(&repairs);
            let mut joins = Repair::ALL.iter().filter(|repair| repair.joins());
            if !joins.any(|join| repairs.iter().any(|name| name == join.name())) {
                evidence.add_whole(row.get_ref(0)?.as_bytes()?);
            }
        }
        Ok(())
    };
    read().map_err(|error| sqlite_error(path, error))?;
    Ok(evidence)
}

/// Returns the citation in a row of `urls`, or `None` if the row does not exist.
pub fn citation_of_row(db: &Connection, id: i64) -> rusqlite::Result<Option<Citation>> {
    let sql = format!("{COLUMNS} FROM urls {TABLES} WHERE urls.id = ?1");
    let mut statement = db.prepare_cached(&sql)?;
    statement.query_row([id], citation).optional()
}

/// Returns the citation in a row of [`COLUMNS`].
fn citation(row: &Row<'_>) -> rusqlite::Result<Citation> {
    let message = FoundMessage {
        id: row.get(12)?,
        date: row.get(13)?,
        from: row.get(14)?,
        subject: row.get(15)?,
    };
    let first = texts(row, 26)?.into_iter().next();
    Ok(Citation {
        quote_depth: row.get(23)?,
        list_id: row.get(24)?,
        newsgroups: texts(row, 25)?,
        thread: first.or_else(|| message.id.clone()),
        row: row.get(27)?,
        key: row.get(28)?,
        citations: row.get::<_, Option<i64>>(29)?.map_or(0, i64::cast_unsigned),
        is_truncated: row.get::<_, Option<bool>>(31)?.unwrap_or(false),
        domain: row.get(32)?,
        digest: row.get(33)?,
        found: FoundRow {
            id: row.get(0)?,
            url: row.get(1)?,
            fragment: row.get(2)?,
            confidence: row.get(3)?,
            region: row.get(4)?,
            anchor: row.get(5)?,
            hazards: texts(row, 30)?,
            source: FoundSource {
                path: row.get(6)?,
                path_b64: row.get(7)?,
                member: row.get(8)?,
                member_b64: row.get(9)?,
                start: row.get(10)?,
                end: row.get(11)?,
            },
            message,
            author: FoundAuthor {
                from: row.get(18)?,
                subject: row.get(19)?,
                date: row.get(20)?,
                message_id: row.get(21)?,
                by: row.get(22)?,
            },
            context: Option::zip(row.get(16)?, row.get(17)?).map(|(before, after)| FoundContext {
                before,
                after,
                ..FoundContext::default()
            }),
        },
    })
}

/// Returns the texts in a list column.
fn texts(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let list: Option<String> = row.get(column)?;
    Ok(list_texts(list.as_deref().unwrap_or_default()))
}

/// Conditions of a search. All of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// Words to find in the URL, the link text, the subject, the sender or the text around the URL.
    /// All must occur. `goph*` matches a prefix, and `-lamp` must not occur. An argument of several
    /// words is a phrase, as is a quoted part of an argument.
    pub words: Vec<String>,
    /// Schemes of the URL; empty for all.
    pub schemes: Vec<String>,
    /// A domain with all its hosts.
    pub domain: Option<String>,
    /// A URL in any spelling with the same key.
    pub url: Option<String>,
    /// A substring of the innermost message's sender in any case, or an address in angle brackets,
    /// as `sender_address` of `stats` returns it.
    pub sender: Option<String>,
    /// `List-Id` of a mailing list, or a newsgroup. ASCII letters match in both cases.
    pub list: Option<String>,
    /// A host, as written in records ([`urlspool_text::parse::host_name`]).
    pub host: Option<String>,
    /// A host, or a domain with all its hosts.
    pub site: Option<String>,
    /// Hazards, by their names in records, separated by spaces. One of them must match.
    pub hazard: Option<String>,
    /// Regions, by their names in records, separated by spaces. One of them must match. `header`
    /// and `html` match every region that starts with them.
    pub region: Option<String>,
    /// State of the link in an audit, in the words of its view `audit_states`, which must exist.
    pub state: Option<String>,
    /// A thread, by its name ([`Citation::thread`]).
    pub thread: Option<String>,
    /// A URL without tracking parameters ([`clean_key`](super::clean_key)).
    pub clean_key: Option<String>,
    /// Shows links that occur only in header fields of mailing lists, which are hidden otherwise.
    pub shows_list_fields: bool,
    /// Start of the period, in seconds since 1970, inclusive.
    pub since: Option<i64>,
    /// End of the period, in seconds since 1970, exclusive.
    pub until: Option<i64>,
    /// Maximum number of matches.
    pub limit: Option<u64>,
    /// Order of the matches.
    pub order: SearchOrder,
}

named_values! {
    /// Order of the matches. Matches without a plausible date come last. Matches with equal dates
    /// are ordered by file and position.
    #[derive(Default)]
    pub enum SearchOrder {
        /// Latest citations first.
        #[default]
        Newest = "newest": "Newest citations first",
        /// Earliest citations first.
        Oldest = "oldest": "Oldest citations first",
    }
}

/// Columns that [`citation`] reads. The outermost message has the fields of its author.
const COLUMNS: &str =
    "SELECT urls.record_id, urls.url, urls.fragment, urls.confidence, urls.region, urls.anchor,
  sources.path, sources.path_b64, sources.member, sources.member_b64, urls.start, urls.\"end\",
  messages.message_id, messages.date, messages.sender, messages.subject,
  urls.context_before, urls.context_after,
  iif(author_by = 'outer', messages.sender, author_from),
  iif(author_by = 'outer', messages.subject, author_subject),
  iif(author_by = 'outer', messages.date, author_date),
  iif(author_by = 'outer', messages.message_id, author_message_id), urls.author_by,
  urls.quote_depth, messages.list_id, messages.newsgroups, messages.reference_ids,
  urls.id, links.key, links.citations, urls.hazards, urls.truncated, urls.domain,
  messages.digest";

const TABLES: &str = "JOIN messages ON messages.id = urls.message \
    JOIN sources ON sources.id = urls.source LEFT JOIN links ON links.id = urls.link";

/// Condition for links with a key.
const WITH_KEY: &str = "urls.link IN (SELECT id FROM links WHERE key = ?)";

/// Condition for links of a host or a domain.
const OF_SITE: &str = "urls.link IN (SELECT id FROM links WHERE host = ?
    UNION SELECT id FROM links WHERE domain = ? OR substr(domain, -1 - length(?)) = '.' || ?)";

/// Condition for links of a domain. The links of a public suffix, such as `appspot.com`, have the
/// domains of its customers.
const OF_DOMAIN: &str = "urls.link IN (SELECT id FROM links
    WHERE domain = ? OR substr(domain, -1 - length(?)) = '.' || ?)";

/// Condition for messages of a thread. It is named after the first reference, or after the message
/// if it has no references.
const OF_THREAD: &str = "urls.message IN (SELECT id FROM messages
    WHERE coalesce(json_extract(reference_ids, '$[0]'), message_id) = ?)";

/// Statement that creates the index for [`OF_THREAD`], which has the same expression.
pub(super) const INDEX_OF_THREADS: &str = "CREATE INDEX messages_by_thread ON messages(
    coalesce(json_extract(reference_ids, '$[0]'), message_id));";

/// Condition for rows of `urls` whose link occurs only in header fields of mailing lists.
pub(crate) const ONLY_IN_LIST_FIELDS: &str = "EXISTS (SELECT 1 FROM links
    WHERE links.id = urls.link AND links.citations = links.in_list_fields)";

/// Returns the key of a URL. The fragment is no part of it.
pub(crate) fn key_of(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    String::from_utf8_lossy(&key(url.as_bytes())).into_owned()
}

impl SearchOrder {
    /// Returns the `ORDER BY` clause. Matches with equal dates are ordered by file and position,
    /// and finally by key, which makes the order independent of the order of loading.
    fn clause(self) -> String {
        let is_newest = self == SearchOrder::Newest;
        let direction = if is_newest { "DESC" } else { "ASC" };
        format!(
            "ORDER BY urls.cited {direction} NULLS LAST, sources.path, sources.member, urls.start, \
             urls.record_key"
        )
    }
}

impl SearchQuery {
    /// Returns the conditions as a `WHERE` clause for the table `urls`, with the values of its
    /// parameters. Without conditions the clause is empty. It does not hide rows.
    pub fn filter(&self) -> rusqlite::Result<(String, Vec<Value>)> {
        let Phrases { wanted, excluded } = Phrases::parse(&self.words)?;
        let wanted = full_text(&wanted, " AND ");
        let words = match (wanted, full_text(&excluded, " OR ")) {
            (Some(wanted), Some(excluded)) => Some(("IN", format!("({wanted}) NOT ({excluded})"))),
            (Some(wanted), None) => Some(("IN", wanted)),
            (None, excluded) => excluded.map(|excluded| ("NOT IN", excluded)),
        };
        let words = words.map(|(within, text)| {
            let search = "(SELECT rowid FROM search WHERE search MATCH ?)";
            (format!("urls.id {within} {search}"), text)
        });
        let others = self.conditions();
        let others = others.map(|(sql, value)| (sql.to_owned(), value));
        let (mut filter, mut values) = (String::new(), Vec::new());
        for (condition, value) in words.into_iter().chain(others) {
            values.push(value.into());
            filter.push_str(conjunction(&filter));
            filter.push_str(&condition.replace('?', &format!("?{}", values.len())));
        }
        Ok((filter, values))
    }

    /// Returns all conditions except the words, as SQL and the value to compare with.
    fn conditions(&self) -> impl Iterator<Item = (&'static str, String)> {
        let spaced = |names: &String| format!(" {} ", names.to_ascii_lowercase());
        let conditions = [
            (
                "urls.link IN (SELECT id FROM links WHERE host = ?)",
                self.host.as_deref().map(str::to_ascii_lowercase),
            ),
            (OF_SITE, self.site.as_deref().map(str::to_ascii_lowercase)),
            (
                "instr(?, ' ' || urls.scheme || ' ') > 0",
                (!self.schemes.is_empty()).then(|| spaced(&self.schemes.join(" "))),
            ),
            (
                OF_DOMAIN,
                self.domain.as_deref().map(str::to_ascii_lowercase),
            ),
            (WITH_KEY, self.url.as_deref().map(key_of)),
            (
                "urls.id IN (SELECT urls.id FROM messages JOIN urls ON urls.message = messages.id
                   WHERE author_by = 'outer' AND is_sender(sender, ?)
                   UNION ALL SELECT id FROM urls INDEXED BY urls_by_author
                   WHERE author_by <> 'outer' AND is_sender(author_from, ?))",
                self.sender.clone(),
            ),
            (
                "urls.message IN (SELECT id FROM messages WHERE lower(list_id) = lower(?)
                   OR instr(lower(list_id), '<' || lower(?) || '>') > 0
                   OR EXISTS (SELECT 1 FROM json_each(newsgroups) WHERE lower(value) = lower(?)))",
                self.list.clone(),
            ),
            (
                "urls.hazards <> '[]' AND EXISTS (SELECT 1 FROM json_each(urls.hazards)
                   WHERE instr(' ' || ? || ' ', ' ' || value || ' '))",
                self.hazard.clone(),
            ),
            (
                "instr(?, ' ' || lower(urls.region) || ' ') + instr(?, ' ' ||
                   lower(substr(urls.region, 1, instr(urls.region, ':') - 1)) || ' ') > 0",
                self.region.as_ref().map(spaced),
            ),
            (
                "urls.link IN (SELECT id FROM links JOIN audit_states USING(key) WHERE words = ?)",
                self.state.clone(),
            ),
            (OF_THREAD, self.thread.clone()),
            // A key and its clean key are equal up to the question mark, and keys are indexed.
            (
                "urls.link IN (SELECT id FROM links WHERE clean_key = ?
                   AND key BETWEEN substr(?, 1, instr(? || char(63), char(63)) - 1)
                   AND substr(?, 1, instr(? || char(63), char(63)) - 1) || char(1114111))",
                self.clean_key.clone(),
            ),
            ("urls.cited >= ?", self.since.map(instant)),
            ("urls.cited < ?", self.until.map(instant)),
        ];
        let given = conditions.into_iter();
        given.filter_map(|(sql, value)| value.map(|value| (sql, value)))
    }

    /// Returns `true` if the words are within the limits on length and number. Searching for a
    /// phrase of thousands of words takes minutes and cannot be interrupted.
    pub(crate) fn is_searchable(&self) -> bool {
        Phrases::parse(&self.words).is_ok_and(|phrases| phrases.check().is_ok())
    }

    /// Returns the marker for the words in passages.
    pub fn marker(&self) -> rusqlite::Result<Marker> {
        Marker::new(Phrases::parse(&self.words)?.wanted)
    }

    /// Returns the SQL statement that finds the rows, with the values of its parameters.
    fn statement(&self) -> rusqlite::Result<(String, Vec<Value>)> {
        let (mut filter, values) = self.filter()?;
        if !self.shows_list_fields {
            filter += &format!("{}NOT {ONLY_IN_LIST_FIELDS}", conjunction(&filter));
        }
        // Larger numbers are not valid in `LIMIT`.
        let limit = self.limit.map(|limit| limit.min(i64::MAX.unsigned_abs()));
        let limit = limit.map_or_else(String::new, |limit| format!(" LIMIT {limit}"));
        let order = self.order.clause();
        // The inner query sorts only the columns that the order needs. A cross join is not
        // reordered, which makes SQLite find the matches first.
        let sql = format!(
            "{COLUMNS} FROM (SELECT urls.id AS found FROM urls CROSS JOIN sources ON sources.id = \
             urls.source{filter} {order}{limit}) JOIN urls ON urls.id = found {TABLES} {order}"
        );
        Ok((sql, values))
    }

    /// Returns the number of matches for which a further condition holds.
    fn count(&self, db: &Connection, condition: &str) -> rusqlite::Result<u64> {
        let (filter, values) = self.filter()?;
        let and = conjunction(&filter);
        let sql = format!("SELECT count(*) FROM urls{filter}{and}{condition}");
        let count: i64 = db.query_row(&sql, params_from_iter(values), |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// Returns `true` if there is at least one condition.
    #[must_use]
    pub fn has_condition(&self) -> bool {
        // A symbol that Unicode counts as a letter may be a separator in the index.
        self.conditions().next().is_some()
            || Phrases::parse(&self.words).ok() != Some(Phrases::default())
    }
}

/// Returns the word before the next condition of a `WHERE` clause.
fn conjunction(filter: &str) -> &'static str {
    if filter.is_empty() {
        " WHERE "
    } else {
        " AND "
    }
}

/// Returns phrases as an FTS5 query, or `None` if there are none.
fn full_text(phrases: &[Phrase], operator: &str) -> Option<String> {
    let quoted = phrases.iter().map(|phrase| {
        let star = if phrase.is_prefix { " *" } else { "" };
        format!("\"{}\"{star}", phrase.words.join(" "))
    });
    let quoted: Vec<_> = quoted.collect();
    (!quoted.is_empty()).then(|| quoted.join(operator))
}

/// Formats a time as a date in records.
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
    fn words_without_letters_or_digits_set_no_condition() {
        let has_condition = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let query = SearchQuery {
                words,
                ..SearchQuery::default()
            };
            query.has_condition()
        };
        assert!(has_condition(&["-lamp"]) && has_condition(&["*", "\u{5317}"]));
        // Unicode counts a circled letter as alphabetic; the index treats it as a separator.
        assert!(!has_condition(&["\u{24B6}", "-\u{24B6}", "*", "-\"\"", ""]));
    }

    #[test]
    fn each_condition_has_its_value() {
        let query = SearchQuery {
            host: Some("A.example".into()),
            since: Some(0),
            ..SearchQuery::default()
        };
        let (sql, values) = query.statement().unwrap();
        assert_eq!(
            values,
            [
                Value::from("a.example".to_owned()),
                Value::from("1970-01-01T00:00:00Z".to_owned())
            ]
        );
        assert!(sql.contains("urls.cited >= ?2"));
    }
}
