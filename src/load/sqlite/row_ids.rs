//! Identifiers of sources and messages. Records of one message follow each other, so the last of each is kept.

use rusqlite::{Connection, OptionalExtension, params};

use crate::load::target::LoadRow;
use crate::record::JsonList;

/// Rows that this transaction found or added last.
#[derive(Debug, Default)]
pub(super) struct RowIds {
    source: Option<SourceRow>,
    message: Option<LastMessage>,
}

#[derive(Clone, Copy, Debug)]
struct SourceRow {
    key: u128,
    id: i64,
}

#[derive(Debug)]
struct LastMessage {
    digest: String,
    mailbox: String,
    row: MessageRow,
    texts: MessageTexts,
}

/// The texts of a row of `messages` that are searched. They are those of the record that was loaded first: a later one of its
/// digest may have others.
#[derive(Debug)]
pub(super) struct MessageTexts {
    pub(super) subject: Option<String>,
    pub(super) sender: Option<String>,
}

/// A row of `messages`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageRow {
    pub(super) id: i64,
    /// `true` if it was added, and the table had no row of its digest before.
    pub(super) is_new: bool,
}

const INSERT_SOURCE: &str = "INSERT INTO sources(key, path, path_b64, member, member_b64, mailbox, kind) VALUES(?1,?2,?3,?4,?5,?6,?7)";

const INSERT_MESSAGE: &str =
    "INSERT INTO messages(digest, mailbox, message_id, date, date_raw, sender, subject, newsgroups, list_id, reference_ids)
     VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)";

impl RowIds {
    /// Finds the row of a record's source, or adds it.
    pub(super) fn source(&mut self, db: &Connection, row: &LoadRow<'_>) -> rusqlite::Result<i64> {
        if let Some(last) = self.source.filter(|last| last.key == row.source_key) {
            return Ok(last.id);
        }
        let mut find = db.prepare_cached("SELECT id FROM sources WHERE key=?1")?;
        let key = row.source_key.to_be_bytes();
        let found = find.query_row(params![key], |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => add_source(db, row)?,
        };
        self.source = Some(SourceRow {
            key: row.source_key,
            id,
        });
        Ok(id)
    }

    /// Finds the row of a record's message, or adds it.
    pub(super) fn message(
        &mut self,
        db: &Connection,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<MessageRow> {
        let digest = &*row.record.message.digest;
        let mailbox = &*row.record.source.mailbox;
        let is_same = |last: &&LastMessage| last.digest == digest && last.mailbox == mailbox;
        if let Some(last) = self.message.as_ref().filter(is_same) {
            return Ok(last.row);
        }
        let (row, texts) = find_or_add_message(db, row)?;
        self.message = Some(LastMessage {
            digest: digest.to_owned(),
            mailbox: mailbox.to_owned(),
            row,
            texts,
        });
        Ok(row)
    }

    /// The texts of the row that [`RowIds::message`] returned last.
    pub(super) fn message_texts(&self) -> Option<&MessageTexts> {
        self.message.as_ref().map(|last| &last.texts)
    }
}

fn add_source(db: &Connection, row: &LoadRow<'_>) -> rusqlite::Result<i64> {
    let source = &row.record.source;
    db.prepare_cached(INSERT_SOURCE)?.insert(params![
        row.source_key.to_be_bytes(),
        &*source.path,
        source.path_b64.as_deref(),
        source.member.as_ref().map(JsonList::json),
        source.member_b64.as_ref().map(JsonList::json),
        &*source.mailbox,
        &*source.kind,
    ])
}

fn find_or_add_message(
    db: &Connection,
    row: &LoadRow<'_>,
) -> rusqlite::Result<(MessageRow, MessageTexts)> {
    let message = &row.record.message;
    let digest = &*message.digest;
    let mut find = db.prepare_cached(
        "SELECT id, subject, sender FROM messages WHERE digest=?1 AND mailbox=?2",
    )?;
    let key = params![digest, &*row.record.source.mailbox];
    let found = find.query_row(key, |found| {
        let row = MessageRow {
            id: found.get(0)?,
            is_new: false,
        };
        let texts = MessageTexts {
            subject: found.get(1)?,
            sender: found.get(2)?,
        };
        Ok((row, texts))
    });
    if let Some(found) = found.optional()? {
        return Ok(found);
    }
    let mut has_copy =
        db.prepare_cached("SELECT EXISTS(SELECT 1 FROM messages WHERE digest=?1)")?;
    let is_new = !has_copy.query_row(params![digest], |found| found.get::<_, bool>(0))?;
    let id = add_message(db, row)?;
    let texts = MessageTexts {
        subject: message.subject.clone(),
        sender: message.from.clone(),
    };
    Ok((MessageRow { id, is_new }, texts))
}

fn add_message(db: &Connection, row: &LoadRow<'_>) -> rusqlite::Result<i64> {
    let message = &row.record.message;
    db.prepare_cached(INSERT_MESSAGE)?.insert(params![
        &*message.digest,
        &*row.record.source.mailbox,
        message.id.as_deref(),
        message.date.as_deref(),
        message.date_raw.as_deref(),
        message.from.as_deref(),
        message.subject.as_deref(),
        message.newsgroups.json(),
        message.list_id.as_deref(),
        message.references.json(),
    ])
}
