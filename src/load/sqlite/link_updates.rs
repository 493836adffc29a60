//! The numbers of links, collected while rows are added and written together.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::row_ids::MessageRow;
use crate::limits::{LOAD_PENDING_LINK_BYTES, LOAD_PENDING_LINKS};
use crate::record::UrlLine;

/// Changes of the links' numbers by the rows of a transaction, not written yet.
#[derive(Debug, Default)]
pub(super) struct LinkUpdates {
    /// The changes, by the key of the link.
    pending: HashMap<String, LinkUpdate>,
    /// Size of their keys.
    key_bytes: usize,
    /// The last message, if it is new, and the links that it cites so far.
    last_message: Option<i64>,
    cited: HashSet<i64>,
}

/// Changes of one link's numbers.
#[derive(Debug, Default)]
struct LinkUpdate {
    id: i64,
    citations: i64,
    messages: i64,
    first: Option<String>,
    last: Option<String>,
}

const INSERT_LINK: &str =
    "INSERT INTO links(key, scheme, host, domain, citations, messages) VALUES(?1,?2,?3,?4,0,0)";

const UPDATE_LINK: &str = "UPDATE links SET citations = citations + ?2, messages = messages + ?3,
  first = CASE WHEN first IS NULL OR ?4 < first THEN ?4 ELSE first END,
  last = CASE WHEN last IS NULL OR ?5 > last THEN ?5 ELSE last END WHERE id=?1";

/// Returns `true` if a message of this digest cites the link already. Copies of a message cite the same links, so the search
/// ends at the first copy; the order of a plain join could be that of the link's rows, which are many.
const IS_CITED: &str = "SELECT EXISTS(SELECT 1 FROM messages CROSS JOIN urls
  ON urls.link=?1 AND urls.message = messages.id WHERE messages.digest=?2)";

impl LinkUpdates {
    /// Counts a citation of the link `key` before its row is added. Returns the link's identifier.
    pub(super) fn cite(
        &mut self,
        db: &Connection,
        key: &str,
        record: &UrlLine,
        message: MessageRow,
        date: Option<&str>,
    ) -> rusqlite::Result<i64> {
        if LOAD_PENDING_LINKS <= self.pending.len() || LOAD_PENDING_LINK_BYTES <= self.key_bytes {
            self.write(db)?;
        }
        if !self.pending.contains_key(key) {
            let update = LinkUpdate {
                id: find_or_add(db, key, record)?,
                ..LinkUpdate::default()
            };
            self.pending.insert(key.to_owned(), update);
            self.key_bytes += key.len();
        }
        let id = self.pending.get(key).map_or(0, |update| update.id);
        let is_first = self.is_first_citation(db, id, record, message)?;
        if let Some(update) = self.pending.get_mut(key) {
            update.add(is_first, date);
        }
        Ok(id)
    }

    /// Returns `true` if no message of this digest cites the link so far.
    fn is_first_citation(
        &mut self,
        db: &Connection,
        link: i64,
        record: &UrlLine,
        message: MessageRow,
    ) -> rusqlite::Result<bool> {
        if !message.is_new {
            let mut is_cited = db.prepare_cached(IS_CITED)?;
            let params = params![link, &*record.message.digest];
            return is_cited.query_row(params, |row| row.get::<_, bool>(0).map(|cited| !cited));
        }
        if self.last_message != Some(message.id) {
            self.last_message = Some(message.id);
            self.cited.clear();
        }
        Ok(self.cited.insert(link))
    }

    /// Writes the numbers to the table.
    pub(super) fn write(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.key_bytes = 0;
        let mut statement = db.prepare_cached(UPDATE_LINK)?;
        for (_, update) in self.pending.drain() {
            let LinkUpdate {
                id,
                citations,
                messages,
                first,
                last,
            } = update;
            statement.execute(params![id, citations, messages, first, last])?;
        }
        Ok(())
    }
}

impl LinkUpdate {
    fn add(&mut self, is_first_of_message: bool, date: Option<&str>) {
        self.citations += 1;
        self.messages += i64::from(is_first_of_message);
        let Some(date) = date else { return };
        if self.first.as_deref().is_none_or(|first| date < first) {
            self.first = Some(date.to_owned());
        }
        if self.last.as_deref().is_none_or(|last| last < date) {
            self.last = Some(date.to_owned());
        }
    }
}

fn find_or_add(db: &Connection, key: &str, record: &UrlLine) -> rusqlite::Result<i64> {
    let mut find = db.prepare_cached("SELECT id FROM links WHERE key=?1")?;
    match find.query_row(params![key], |row| row.get(0)).optional()? {
        Some(id) => Ok(id),
        None => db.prepare_cached(INSERT_LINK)?.insert(params![
            key,
            &*record.scheme,
            record.host.as_deref(),
            record.domain.as_deref()
        ]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sqlite::schema::TABLES;
    use crate::record::{RecordLine, read_record_line};

    /// Some record.
    fn record() -> UrlLine {
        let line = br#"{"schema":1,"type":"url","id":"00","url":"http://a/","fragment":null,"scheme":"http","host":"a","domain":null,
            "port":80,"key":"http://a/","href":null,"conforms":[],"warnings":[],"hazards":[],"form":null,"wrapper":"none","repairs":[],
            "confidence":1.0,"truncated":false,"region":"body","quote_depth":0,"anchor":null,"mismatch":null,"unwrapped_from":null,
            "unwrapped_by":null,"source":{"path":"a","path_b64":null,"mailbox":"a","member":null,"member_b64":null,"kind":"mbox",
            "start":0,"end":9,"line":1,"exact":true},"message":{"start":0,"end":9,"id":null,"digest":"00","date":null,
            "date_raw":null,"from":null,"subject":null,"newsgroups":[],"list_id":null,"references":[]},"count":null}"#;
        match read_record_line(line).unwrap() {
            RecordLine::Url(record) => *record,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keys_that_wait_are_limited_in_size() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(TABLES).unwrap();
        let (record, mut updates) = (record(), LinkUpdates::default());
        let message = MessageRow {
            id: 1,
            is_new: true,
        };
        let long = "a".repeat(4 << 20);
        for n in 0..20 {
            let key = format!("http://{n}.example/{long}");
            updates.cite(&db, &key, &record, message, None).unwrap();
            let waiting: usize = updates.pending.keys().map(String::len).sum();
            assert!(waiting <= LOAD_PENDING_LINK_BYTES + key.len());
        }
        updates.write(&db).unwrap();
        let cited = "SELECT count(*) FROM links WHERE citations=1 AND messages=1";
        assert_eq!(db.query_row(cited, [], |row| row.get(0)), Ok(20));
    }
}
