//! The citations of a URL, or of the URLs of a host or a domain, in a database that was loaded.

use std::path::Path;

use rusqlite::Row;
#[cfg(feature = "browse")]
use rusqlite::{Connection, OptionalExtension};

use super::LoadError;
use super::search::{COLUMNS, SearchOrder, TABLES, found_row};
use super::sqlite::{open_to_read, sqlite_error};
use crate::parse::key;
use crate::record::{Citation, list_texts};

/// A thing whose citations are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CitedThing {
    /// A URL, in any spelling that has the same key ([`crate::parse::key`]).
    Url(String),
    /// A host, or a registrable domain with all its hosts, as records have them
    /// ([`crate::parse::host_name`]).
    Host(String),
}

/// Finds the citations of a thing in the database at `path`, and gives each to `found` until that
/// returns `false`.
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn citations<E: From<LoadError>>(
    path: &Path,
    thing: &CitedThing,
    order: SearchOrder,
    mut found: impl FnMut(&Citation) -> Result<bool, E>,
) -> Result<(), E> {
    let named = |error: rusqlite::Error| sqlite_error(path, error);
    let db = open_to_read(path)?;
    let sql = statement(thing, order);
    let mut statement = db.prepare(&sql).map_err(named)?;
    let mut rows = statement.query([value(thing)]).map_err(named)?;
    while let Some(row) = rows.next().map_err(named)? {
        if !found(&citation(row).map_err(named)?)? {
            break;
        }
    }
    Ok(())
}

/// Returns the citation that a row of `urls` is; `None` if there is no such row.
#[cfg(feature = "browse")]
pub(crate) fn citation_of_row(db: &Connection, id: i64) -> rusqlite::Result<Option<Citation>> {
    let sql = format!("{COLUMNS}, {CONVERSATION} FROM urls {TABLES} WHERE urls.id = ?1");
    let mut statement = db.prepare_cached(&sql)?;
    statement.query_row([id], citation).optional()
}

/// The columns that [`citation`] reads beside those of [`found_row`].
const CONVERSATION: &str =
    "urls.quote_depth, messages.list_id, messages.newsgroups, messages.reference_ids";

fn statement(thing: &CitedThing, order: SearchOrder) -> String {
    let links = match thing {
        CitedThing::Url(_) => "SELECT id FROM links WHERE key = ?1",
        CitedThing::Host(_) => {
            "SELECT id FROM links WHERE host = ?1 UNION SELECT id FROM links WHERE domain = ?1"
        }
    };
    let order = order.clause();
    format!("{COLUMNS}, {CONVERSATION} FROM urls {TABLES} WHERE urls.link IN ({links}) {order}")
}

fn value(thing: &CitedThing) -> String {
    match thing {
        CitedThing::Url(url) => String::from_utf8_lossy(&key(url.as_bytes())).into_owned(),
        CitedThing::Host(host) => host.to_ascii_lowercase(),
    }
}

fn citation(row: &Row<'_>) -> rusqlite::Result<Citation> {
    let found = found_row(row)?;
    let texts = |name| -> rusqlite::Result<Vec<String>> {
        let list: Option<String> = row.get(name)?;
        Ok(list_texts(list.as_deref().unwrap_or_default()))
    };
    let thread = thread_of(&texts("reference_ids")?, found.message.id.as_deref());
    Ok(Citation {
        quote_depth: row.get("quote_depth")?,
        list_id: row.get("list_id")?,
        newsgroups: texts("newsgroups")?,
        thread,
        found,
    })
}

/// Returns the name of the thread of a message: the first Message-ID of `References`, or that of
/// the message itself, which then began the thread.
pub(super) fn thread_of(references: &[String], message_id: Option<&str>) -> Option<String> {
    let first = references.first().map(String::as_str);
    first.or(message_id).map(str::to_owned)
}
