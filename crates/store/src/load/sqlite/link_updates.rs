//! Counts of links, collected while rows are added and written together.
//!
//! Links stay in memory after a commit until another program changes the database, because the next
//! batch cites many of them again.

use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::rc::Rc;

use rusqlite::{Connection, params};

use super::rows::{MessageRow, RowStatements, next_id};
use crate::load::target::is_in_list_field;
use crate::load::tracking::clean_key;
use crate::stats::replace_if;
use urlspool_record::record::{FieldId, LoadedRecord};
use urlspool_text::limits::{LOAD_PENDING_LINK_BYTES, LOAD_PENDING_LINKS};

/// Cited links with the changes to their counts that are not written yet.
#[derive(Debug, Default)]
pub(super) struct LinkUpdates {
    /// Indexes into `links`, by link key.
    places: HashMap<Rc<str>, usize>,
    links: Vec<LinkUpdate>,
    /// Total length of the keys.
    key_bytes: usize,
    /// Identifier of the next new link.
    next_id: i64,
    /// The last message if it is new, and the links it has cited so far.
    last_message: Option<i64>,
    cited: HashSet<i64>,
}

/// A link and the changes to its counts.
#[derive(Debug, Default)]
struct LinkUpdate {
    id: i64,
    key: Rc<str>,
    is_stored: bool,
    /// Scheme, host and domain of a cited link without a row, from the first record that cites it.
    new: Option<[Option<String>; 3]>,
    citations: i64,
    messages: i64,
    in_list_fields: i64,
    first: Option<String>,
    last: Option<String>,
}

/// A citation that is not counted yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewCitation {
    /// Identifier of the link's row.
    pub(super) link: i64,
    /// Index of the link in memory, valid until another link is looked up.
    place: usize,
    /// `true` if no message with this digest has cited the link so far.
    is_first: bool,
}

const INSERT_LINK: &str = "INSERT INTO links VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)";

const UPDATE_LINK: &str = "UPDATE links SET citations = citations + ?2, messages = messages + ?3,
  first = CASE WHEN first IS NULL OR ?4 < first THEN ?4 ELSE first END,
  last = CASE WHEN last IS NULL OR ?5 > last THEN ?5 ELSE last END,
  in_list_fields = in_list_fields + ?6 WHERE id=?1";

impl LinkUpdates {
    /// Starts a transaction.
    pub(super) fn begin(&mut self, db: &Connection) -> rusqlite::Result<()> {
        // A link that was looked up but never cited has no row, although it has an identifier.
        if self.links.iter().any(|link| !link.is_stored) {
            self.forget();
        }
        self.last_message = None;
        self.next_id = next_id(db, "links")?;
        Ok(())
    }

    /// Forgets all links.
    pub(super) fn forget(&mut self) {
        self.places.clear();
        self.links.clear();
        self.key_bytes = 0;
    }

    /// Returns the citation of the link `key` by a record whose row is not added yet.
    pub(super) fn cite(
        &mut self,
        statements: &mut RowStatements<'_>,
        key: &str,
        record: &LoadedRecord,
        message: MessageRow,
    ) -> rusqlite::Result<NewCitation> {
        let place = self.find(statements, key)?;
        let link = self.links[place].id;
        let is_first = self.is_first_citation(statements, link, message, record.digest())?;
        Ok(NewCitation {
            link,
            place,
            is_first,
        })
    }

    /// Returns the index of the link `key`. A new link is stored only if it is cited.
    fn find(&mut self, statements: &mut RowStatements<'_>, key: &str) -> rusqlite::Result<usize> {
        if let Some(place) = self.places.get(key) {
            return Ok(*place);
        }
        if LOAD_PENDING_LINKS <= self.links.len() || LOAD_PENDING_LINK_BYTES <= self.key_bytes {
            self.write(statements.db)?;
            self.forget();
        }
        let found = statements.find_link(key)?;
        let id = found.unwrap_or(self.next_id);
        if found.is_none() {
            self.next_id += 1;
        }
        let key: Rc<str> = key.into();
        self.key_bytes += key.len();
        let place = self.links.len();
        self.links.push(LinkUpdate {
            id,
            key: Rc::clone(&key),
            is_stored: found.is_some(),
            ..LinkUpdate::default()
        });
        self.places.insert(key, place);
        Ok(place)
    }

    /// Returns `true` if no message with this digest has cited the link so far.
    fn is_first_citation(
        &mut self,
        statements: &mut RowStatements<'_>,
        link: i64,
        message: MessageRow,
        digest: &str,
    ) -> rusqlite::Result<bool> {
        if !message.is_new {
            return statements.is_cited(link, digest).map(|cited| !cited);
        }
        if self.last_message != Some(message.id) {
            self.last_message = Some(message.id);
            self.cited.clear();
        }
        Ok(!self.cited.contains(&link))
    }

    /// Counts a citation by a record whose row was added.
    pub(super) fn count(
        &mut self,
        citation: &NewCitation,
        record: &LoadedRecord,
        message: MessageRow,
        date: Option<&str>,
    ) {
        if message.is_new {
            self.cited.insert(citation.link);
        }
        if let Some(update) = self.links.get_mut(citation.place) {
            if !update.is_stored && update.new.is_none() {
                let fields = [FieldId::Scheme, FieldId::Host, FieldId::Domain];
                update.new = Some(fields.map(|field| record.text(field).map(str::to_owned)));
            }
            update.in_list_fields += i64::from(is_in_list_field(record));
            update.add(citation.is_first, date);
        }
    }

    /// Writes the counts to the table, in row order.
    pub(super) fn write(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let cited = self.links.iter_mut().filter(|link| 0 < link.citations);
        let mut cited: Vec<_> = cited.collect();
        cited.sort_unstable_by_key(|link| link.id);
        let mut insert = db.prepare_cached(INSERT_LINK)?;
        let mut update = db.prepare_cached(UPDATE_LINK)?;
        for link in cited {
            let (citations, messages) = (take(&mut link.citations), take(&mut link.messages));
            let (first, last) = (link.first.take(), link.last.take());
            let listed = take(&mut link.in_list_fields);
            link.is_stored = true;
            match link.new.take() {
                None => {
                    update.execute(params![link.id, citations, messages, first, last, listed])?
                }
                Some([scheme, host, domain]) => insert.execute(params![
                    link.id,
                    &*link.key,
                    scheme,
                    host,
                    domain,
                    citations,
                    messages,
                    listed,
                    first,
                    last,
                    clean_key(&link.key)
                ])?,
            };
        }
        Ok(())
    }
}

impl LinkUpdate {
    fn add(&mut self, is_first_of_message: bool, date: Option<&str>) {
        self.citations += 1;
        self.messages += i64::from(is_first_of_message);
        let Some(date) = date else { return };
        replace_if(&mut self.first, date, |first| date < first);
        replace_if(&mut self.last, date, |last| last < date);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sqlite::connection::tables;
    use crate::load::sqlite::tests::record;

    #[test]
    fn the_size_of_pending_keys_is_limited() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(&tables()).unwrap();
        let (record, mut updates) = (record("00", "00", "http://a/"), LinkUpdates::default());
        let message = MessageRow {
            id: 1,
            is_new: true,
        };
        let long = "a".repeat(4 << 20);
        updates.begin(&db).unwrap();
        let mut statements = RowStatements::prepare(&db).unwrap();
        for n in 0..20 {
            let key = format!("http://{n}.example/{long}");
            let cited = updates.cite(&mut statements, &key, &record, message);
            updates.count(&cited.unwrap(), &record, message, None);
            let waiting: usize = updates.places.keys().map(|key| key.len()).sum();
            assert!(waiting <= LOAD_PENDING_LINK_BYTES + key.len());
        }
        updates.write(&db).unwrap();
        let cited = "SELECT count(*) FROM links WHERE citations=1 AND messages=1";
        assert_eq!(db.query_row(cited, [], |row| row.get(0)), Ok(20));
    }
}
