//! Rows of sources, messages and records: their identifiers, and the statements by which they are added.
//!
//! Records of one message follow each other, so the last source and message are kept. A new one has an identifier before it has a row:
//! its row is added with the first record that is added, since records before may turn out to be there. The statements are held while
//! many rows are added, since finding each again costs as much as a lookup.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use crate::load::target::LoadRow;
use crate::record::{JsonList, MessageLine, UrlLine};

/// Rows that this transaction found or added last.
#[derive(Debug, Default)]
pub(super) struct RowIds {
    source: Option<SourceRow>,
    message: Option<LastMessage>,
    next_source: i64,
    next_message: i64,
}

#[derive(Clone, Copy, Debug)]
struct SourceRow {
    key: u128,
    id: i64,
    is_stored: bool,
}

#[derive(Debug)]
struct LastMessage {
    digest: String,
    mailbox: String,
    row: MessageRow,
    /// The texts of the row in the table; `None` as long as it is not added.
    texts: Option<MessageTexts>,
}

/// A row of `messages`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageRow {
    pub(super) id: i64,
    /// `true` if this transaction adds it, and the table had no row of its digest before.
    pub(super) is_new: bool,
}

impl RowIds {
    pub(super) fn new(db: &Connection) -> rusqlite::Result<RowIds> {
        Ok(RowIds {
            next_source: next_id(db, "sources")?,
            next_message: next_id(db, "messages")?,
            ..RowIds::default()
        })
    }

    /// Forgets the rows, which may be removed.
    pub(super) fn forget(&mut self) {
        self.source = None;
        self.message = None;
    }

    /// Returns the identifier of a record's source.
    pub(super) fn source(
        &mut self,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<i64> {
        if let Some(last) = self.source.filter(|last| last.key == row.source_key) {
            return Ok(last.id);
        }
        let found = statements.find_source(row.source_key)?;
        let id = found.unwrap_or(self.next_source);
        self.source = Some(SourceRow {
            key: row.source_key,
            id,
            is_stored: found.is_some(),
        });
        Ok(id)
    }

    /// Returns the row of a record's message.
    pub(super) fn message(
        &mut self,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<MessageRow> {
        let digest = &*row.record.message.digest;
        let mailbox = &*row.record.source.mailbox;
        let is_same = |last: &&LastMessage| last.digest == digest && last.mailbox == mailbox;
        if let Some(last) = self.message.as_ref().filter(is_same) {
            return Ok(last.row);
        }
        // Most messages are new, so that one search is enough.
        let has_digest = statements.has_digest(digest)?;
        let found = if has_digest {
            statements.find_message(digest, mailbox)?
        } else {
            None
        };
        let (id, texts) = match found {
            Some((id, texts)) => (id, Some(texts)),
            None => (self.next_message, None),
        };
        let is_new = !has_digest;
        let row = MessageRow { id, is_new };
        self.message = Some(LastMessage {
            digest: digest.to_owned(),
            mailbox: mailbox.to_owned(),
            row,
            texts,
        });
        Ok(row)
    }

    /// Adds the rows of the last source and message, if they are new. Returns the texts of the message.
    pub(super) fn store(
        &mut self,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<Option<&MessageTexts>> {
        if let Some(source) = self.source.as_mut().filter(|last| !last.is_stored) {
            statements.insert_source(source.id, row)?;
            source.is_stored = true;
            self.next_source += 1;
        }
        let Some(message) = self.message.as_mut() else {
            return Ok(None);
        };
        let texts = match message.texts.take() {
            Some(texts) => texts,
            None => {
                statements.insert_message(message.row.id, &message.mailbox, &row.record.message)?;
                self.next_message += 1;
                texts_of(row)
            }
        };
        Ok(Some(message.texts.insert(texts)))
    }
}

fn texts_of(row: &LoadRow<'_>) -> MessageTexts {
    let message = &row.record.message;
    MessageTexts {
        subject: message.subject.clone(),
        sender: message.from.clone(),
    }
}

/// Returns the identifier of the next row of a table.
pub(super) fn next_id(db: &Connection, table: &str) -> rusqlite::Result<i64> {
    let sql = format!("SELECT ifnull(max(id), 0) + 1 FROM {table}");
    db.prepare_cached(&sql)?.query_row([], |row| row.get(0))
}

/// Prepared statements of the rows of one chunk of the input.
pub(super) struct RowStatements<'db> {
    find_url: CachedStatement<'db>,
    insert_url: CachedStatement<'db>,
    insert_text: CachedStatement<'db>,
    find_source: CachedStatement<'db>,
    insert_source: CachedStatement<'db>,
    has_digest: CachedStatement<'db>,
    find_message: CachedStatement<'db>,
    insert_message: CachedStatement<'db>,
    find_link: CachedStatement<'db>,
    is_cited: CachedStatement<'db>,
}

/// The rows that a row of `urls` refers to, and its plausible date.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowParents<'d> {
    pub(super) link: Option<i64>,
    pub(super) source: i64,
    pub(super) message: i64,
    pub(super) cited: Option<&'d str>,
}

/// The row of a record that is loaded again.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownUrl {
    pub(super) id: i64,
    pub(super) message: i64,
    /// `true` if the mailbox of its message is that of the record.
    pub(super) has_same_mailbox: bool,
}

/// The texts of a row of `messages` that are searched. They are those of the record that was loaded first: a later one of its
/// digest may have others.
#[derive(Clone, Debug)]
pub(super) struct MessageTexts {
    pub(super) subject: Option<String>,
    pub(super) sender: Option<String>,
}

const FIND_URL: &str = "SELECT urls.id, messages.id, messages.mailbox=?2
  FROM urls JOIN messages ON messages.id = urls.message WHERE record_key=?1";

/// Finds out itself if the record is there: a lookup of its own would search the index twice.
const INSERT_URL: &str = "INSERT INTO urls VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,?28,?29,?30,?31,?32,?33)
  ON CONFLICT(record_key) DO NOTHING";

const INSERT_TEXT: &str =
    "INSERT INTO search(rowid, url, anchor, subject, sender) VALUES(?1,?2,?3,?4,?5)";

const FIND_SOURCE: &str = "SELECT id FROM sources WHERE key=?1";

const INSERT_SOURCE: &str = "INSERT INTO sources VALUES(?1,?2,?3,?4,?5,?6,?7,?8)";

const HAS_DIGEST: &str = "SELECT EXISTS(SELECT 1 FROM messages WHERE digest=?1)";

const FIND_MESSAGE: &str =
    "SELECT id, subject, sender FROM messages WHERE digest=?1 AND mailbox=?2";

const INSERT_MESSAGE: &str = "INSERT INTO messages VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)";

const FIND_LINK: &str = "SELECT id FROM links WHERE key=?1";

/// Copies of a message cite the same links, so the search ends at the first copy; the order of a plain join could be that of the
/// link's rows, which are many.
const IS_CITED: &str = "SELECT EXISTS(SELECT 1 FROM messages CROSS JOIN urls
  ON urls.link=?1 AND urls.message = messages.id WHERE messages.digest=?2)";

impl<'db> RowStatements<'db> {
    pub(super) fn prepare(db: &'db Connection) -> rusqlite::Result<RowStatements<'db>> {
        Ok(RowStatements {
            find_url: db.prepare_cached(FIND_URL)?,
            insert_url: db.prepare_cached(INSERT_URL)?,
            insert_text: db.prepare_cached(INSERT_TEXT)?,
            find_source: db.prepare_cached(FIND_SOURCE)?,
            insert_source: db.prepare_cached(INSERT_SOURCE)?,
            has_digest: db.prepare_cached(HAS_DIGEST)?,
            find_message: db.prepare_cached(FIND_MESSAGE)?,
            insert_message: db.prepare_cached(INSERT_MESSAGE)?,
            find_link: db.prepare_cached(FIND_LINK)?,
            is_cited: db.prepare_cached(IS_CITED)?,
        })
    }

    /// Returns the row of a record.
    pub(super) fn find_url(&mut self, row: &LoadRow<'_>) -> rusqlite::Result<Option<KnownUrl>> {
        let key = row.record_key.to_be_bytes();
        let mailbox = &*row.record.source.mailbox;
        let found = self.find_url.query_row(params![key, mailbox], |row| {
            Ok(KnownUrl {
                id: row.get(0)?,
                message: row.get(1)?,
                has_same_mailbox: row.get(2)?,
            })
        });
        found.optional()
    }

    /// Adds the row of a record as row `id`. Returns `false` if the record has a row.
    pub(super) fn insert_url(
        &mut self,
        id: i64,
        row: &LoadRow<'_>,
        parents: &RowParents<'_>,
    ) -> rusqlite::Result<bool> {
        let record = row.record;
        let added = self.insert_url.execute(params![
            id,
            row.record_key.to_be_bytes(),
            &*record.id,
            parents.link,
            parents.message,
            parents.source,
            &*record.url,
            record.fragment.as_deref(),
            &*record.scheme,
            record.host.as_deref(),
            record.domain.as_deref(),
            record.port,
            record.href.as_deref(),
            parents.cited,
            record.conforms.json(),
            record.warnings.json(),
            record.hazards.json(),
            record.form.as_deref(),
            &*record.wrapper,
            record.repairs.json(),
            record.confidence,
            record.truncated,
            &*record.region,
            record.quote_depth,
            record.anchor.as_deref(),
            record.mismatch,
            record.unwrapped_from.as_deref(),
            record.unwrapped_by.as_deref(),
            record.source.start,
            record.source.end,
            record.source.line,
            record.source.exact,
            record.count,
        ])?;
        Ok(0 < added)
    }

    /// Indexes the texts of a row, as the view `texts` has them: with others the index could not be kept up to date.
    pub(super) fn insert_text(
        &mut self,
        id: i64,
        record: &UrlLine,
        message: Option<&MessageTexts>,
    ) -> rusqlite::Result<()> {
        self.insert_text.execute(params![
            id,
            &*record.url,
            record.anchor.as_deref(),
            message.and_then(|message| message.subject.as_deref()),
            message.and_then(|message| message.sender.as_deref()),
        ])?;
        Ok(())
    }

    pub(super) fn find_source(&mut self, key: u128) -> rusqlite::Result<Option<i64>> {
        let key = key.to_be_bytes();
        let found = self.find_source.query_row(params![key], |row| row.get(0));
        found.optional()
    }

    pub(super) fn insert_source(&mut self, id: i64, row: &LoadRow<'_>) -> rusqlite::Result<()> {
        let source = &row.record.source;
        self.insert_source.execute(params![
            id,
            row.source_key.to_be_bytes(),
            &*source.path,
            source.path_b64.as_deref(),
            source.member.as_ref().map(JsonList::json),
            source.member_b64.as_ref().map(JsonList::json),
            &*source.mailbox,
            &*source.kind,
        ])?;
        Ok(())
    }

    /// Returns `true` if a message of this digest is in any mailbox.
    pub(super) fn has_digest(&mut self, digest: &str) -> rusqlite::Result<bool> {
        self.has_digest.query_row(params![digest], |row| row.get(0))
    }

    /// Returns the identifier and the texts of a message in a mailbox.
    pub(super) fn find_message(
        &mut self,
        digest: &str,
        mailbox: &str,
    ) -> rusqlite::Result<Option<(i64, MessageTexts)>> {
        let found = self
            .find_message
            .query_row(params![digest, mailbox], |row| {
                let texts = MessageTexts {
                    subject: row.get(1)?,
                    sender: row.get(2)?,
                };
                Ok((row.get(0)?, texts))
            });
        found.optional()
    }

    pub(super) fn insert_message(
        &mut self,
        id: i64,
        mailbox: &str,
        message: &MessageLine,
    ) -> rusqlite::Result<()> {
        self.insert_message.execute(params![
            id,
            &*message.digest,
            mailbox,
            message.id.as_deref(),
            message.date.as_deref(),
            message.date_raw.as_deref(),
            message.from.as_deref(),
            message.subject.as_deref(),
            message.newsgroups.json(),
            message.list_id.as_deref(),
            message.references.json(),
        ])?;
        Ok(())
    }

    pub(super) fn find_link(&mut self, key: &str) -> rusqlite::Result<Option<i64>> {
        let found = self.find_link.query_row(params![key], |row| row.get(0));
        found.optional()
    }

    /// Returns `true` if the row of a message of this digest cites the link.
    pub(super) fn is_cited(&mut self, link: i64, digest: &str) -> rusqlite::Result<bool> {
        let params = params![link, digest];
        self.is_cited.query_row(params, |row| row.get(0))
    }
}
