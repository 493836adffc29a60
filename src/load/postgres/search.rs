//! A search in the tables of a server.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::schema::check_version;
use super::session::{Session, SessionError};
use super::{named, no_words, server, unreachable};
use crate::hash::hash_pieces;
use crate::limits::{LOAD_LOCK_SECONDS, SEARCH_FETCHED_ROWS};
use crate::load::phrases::{Marker, Phrase, Phrases};
use crate::load::search::{Condition, FacetRow, Match, MatchUse, SearchQuery, context, mark};
use crate::load::{Credentials, LoadError};
use crate::record::{FoundMessage, FoundRow, FoundSource, json_list, list_texts};

/// Searches the tables of a server, and gives each match to `found` until that returns `false`.
pub(in crate::load) fn search<E: From<LoadError>>(
    url: &str,
    credentials: &Credentials,
    query: &SearchQuery,
    matches: MatchUse,
    mut found: impl FnMut(&Match) -> Result<bool, E>,
) -> Result<(), E> {
    let phrases = query.phrases().map_err(no_words)?;
    phrases.check()?;
    let mut marker = Marker::new(phrases.wanted.clone()).map_err(no_words)?;
    let server = server(url, credentials)?;
    let session = server.connect().map_err(|error| named(url, error))?;
    let mut reader = Reader { session, name: url };
    reader.check_version()?;
    let (sql, values) = statement(query, &phrases, matches);
    let parameters: Vec<&(dyn ToSql + Sync)> = values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect();
    reader.run(|session| session.batch_execute("BEGIN READ ONLY"))?;
    let cursor = format!("DECLARE found NO SCROLL CURSOR FOR {sql}");
    reader.run(|session| session.execute(&cursor, &parameters))?;
    let fetch = format!("FETCH FORWARD {SEARCH_FETCHED_ROWS} FROM found");
    loop {
        let rows = reader.run(|session| session.query(&fetch, &[]))?;
        for row in &rows {
            let mut matched = matched(row);
            mark(&mut matched.row, &mut marker).map_err(no_words)?;
            if !found(&matched)? {
                reader.session.close();
                return Ok(());
            }
        }
        if rows.is_empty() {
            reader.session.close();
            return Ok(());
        }
    }
}

/// A connection that only reads.
struct Reader<'n> {
    session: Session,
    /// The server, for messages.
    name: &'n str,
}

impl Reader<'_> {
    fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, SessionError>,
    ) -> Result<T, LoadError> {
        work(&mut self.session).map_err(|error| named(self.name, error))
    }

    /// Checks the version of the tables, and prepares the connection.
    fn check_version(&mut self) -> Result<(), LoadError> {
        let settings = format!(
            "SET lock_timeout='{LOAD_LOCK_SECONDS}s'; SET client_min_messages=warning; SET jit=off"
        );
        self.run(|session| session.batch_execute(&settings))?;
        let is_there = "SELECT count(to_regclass('urlspool_version'))";
        let row = self.run(|session| session.query_one(is_there, &[]))?;
        if row.get::<_, i64>(0) == 0 {
            return Err(LoadError::unusable(format!(
                "{0} has no tables of `urlspool load`; `urlspool load --into {0}` makes them",
                self.name
            )));
        }
        let version = "SELECT version FROM urlspool_version";
        let row = self.run(|session| session.query_opt(version, &[]))?;
        match row.map(|row| row.get::<_, i32>(0)) {
            Some(version) => check_version(self.name, version.into()),
            None => Err(unreachable(self.name, "its tables are being made")),
        }
    }
}

/// The columns that [`matched`] reads.
const COLUMNS: &str = "urls.record_id, urls.url, urls.fragment, urls.confidence, urls.region, urls.anchor,
  sources.path, sources.path_b64, sources.member::text, sources.member_b64::text, urls.start, urls.\"end\",
  messages.message_id, messages.date, messages.sender, messages.subject,
  messages.list_id, messages.newsgroups::text, urls.scheme, urls.host, urls.domain,
  urls.context_before, urls.context_after";

/// Returns the statement that finds the rows, with the values of its parameters.
fn statement(query: &SearchQuery, phrases: &Phrases, matches: MatchUse) -> (String, Vec<String>) {
    let (filter, values) = filter(query, phrases);
    let order = match matches {
        MatchUse::Print => {
            // Lists are compared as their texts, and those that are null come first.
            let member = "sources.member::text COLLATE \"C\" NULLS FIRST";
            query.order.clause().replace("sources.member", member)
        }
        MatchUse::Count => String::new(),
    };
    let limit = match (matches, query.limit) {
        (MatchUse::Print, Some(limit)) => {
            format!(" LIMIT {}", i64::try_from(limit).unwrap_or(i64::MAX))
        }
        _ => String::new(),
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM urls JOIN messages ON messages.id = urls.message
           JOIN sources ON sources.id = urls.source{filter} {order}{limit}"
    );
    (sql, values)
}

/// Returns the conditions as a clause `WHERE`, with the values of its parameters.
fn filter(query: &SearchQuery, phrases: &Phrases) -> (String, Vec<String>) {
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    let mut add = |condition: &str, value: String| {
        values.push(value);
        conditions.push(condition.replace('?', &format!("${}::text", values.len())));
    };
    if !phrases.wanted.is_empty() {
        let wanted: Vec<_> = phrases.wanted.iter().map(tsquery).collect();
        add("urls.search @@ ?::tsquery", wanted.join(" & "));
    }
    if !phrases.excluded.is_empty() {
        let excluded: Vec<_> = phrases.excluded.iter().map(tsquery).collect();
        add("NOT urls.search @@ ?::tsquery", excluded.join(" | "));
    }
    for condition in query.conditions() {
        let (sql, value) = match condition {
            Condition::Host(host) => (
                "urls.link IN (SELECT id FROM links WHERE host = ? OR domain = ?)",
                host,
            ),
            Condition::Scheme(scheme) => ("urls.scheme = ?", scheme),
            Condition::Domain(domain) => (
                "urls.link IN (SELECT id FROM links WHERE domain = ?)",
                domain,
            ),
            // A key may be too long for an index.
            Condition::Key(key) => (
                "urls.link IN (SELECT id FROM links WHERE key_hash = ?::uuid)",
                format!("{:032x}", hash_pieces(&[key.as_bytes()])),
            ),
            Condition::Sender(sender) => (
                "strpos(lower(messages.sender), lower(? COLLATE \"C\")) > 0",
                sender,
            ),
            Condition::List(list) => (
                "(lower(messages.list_id) = lower(? COLLATE \"C\")
                  OR strpos(lower(messages.list_id), '<' || lower(? COLLATE \"C\") || '>') > 0
                  OR EXISTS (SELECT 1 FROM jsonb_array_elements_text(messages.newsgroups) AS groups(name)
                    WHERE lower(name COLLATE \"C\") = lower(? COLLATE \"C\")))",
                list,
            ),
            Condition::Hazard(name) => ("jsonb_exists(urls.hazards, ?)", name),
            Condition::Since(time) => ("urls.cited >= ?", time),
            Condition::Until(time) => ("urls.cited < ?", time),
        };
        add(sql, value);
    }
    let filter = match &*conditions {
        [] => String::new(),
        _ => format!(" WHERE {}", conditions.join(" AND ")),
    };
    (filter, values)
}

/// Returns a phrase as a query of words. They hold letters and digits alone.
fn tsquery(phrase: &Phrase) -> String {
    let last = phrase.words.len() - 1;
    let word = |(place, word): (usize, &String)| {
        let beginning = if phrase.is_beginning && place == last {
            ":*"
        } else {
            ""
        };
        format!("'{word}'{beginning}")
    };
    let words: Vec<_> = phrase.words.iter().enumerate().map(word).collect();
    format!("({})", words.join(" <-> "))
}

fn matched(row: &Row) -> Match {
    let texts = |list: Option<String>| list_texts(&list.unwrap_or_default());
    let facets = FacetRow {
        date: row.get(13),
        list_id: row.get(16),
        newsgroups: texts(row.get(17)),
        scheme: row.get(18),
        host: row.get(19),
        domain: row.get(20),
    };
    let row = FoundRow {
        id: row.get(0),
        url: row.get(1),
        fragment: row.get(2),
        confidence: row.get(3),
        region: row.get(4),
        anchor: row.get(5),
        source: FoundSource {
            path: row.get(6),
            path_b64: row.get(7),
            member: compact(row.get(8)),
            member_b64: compact(row.get(9)),
            start: row.get(10),
            end: row.get(11),
        },
        message: FoundMessage {
            id: row.get(12),
            date: row.get(13),
            from: row.get(14),
            subject: row.get(15),
        },
        context: context(row.get(21), row.get(22)),
    };
    Match { row, facets }
}

/// Returns a list as records have it: the server puts blanks between its items.
fn compact(list: Option<String>) -> Option<String> {
    let texts = list_texts(&list?);
    Some(json_list(texts.iter().map(String::as_str)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_queries_of_words() {
        let words = ["info.cern.ch", "it's", "goph*", "-x"].map(str::to_owned);
        let query = SearchQuery {
            words: words.to_vec(),
            ..SearchQuery::default()
        };
        let (filter, values) = filter(&query, &query.phrases().unwrap());
        assert_eq!(
            values,
            [
                "('info' <-> 'cern' <-> 'ch') & ('it' <-> 's') & ('goph':*)",
                "('x')"
            ]
        );
        assert_eq!(
            filter,
            " WHERE urls.search @@ $1::text::tsquery AND NOT urls.search @@ $2::text::tsquery"
        );
    }
}
