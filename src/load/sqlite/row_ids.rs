//! Identifiers of sources and messages. Records of one message follow each other, so the last of each is kept.
//!
//! A new source or message has an identifier before it has a row: its row is added with the first record that is added, since records
//! before may turn out to be there.

use rusqlite::Connection;

use super::row_statements::{MessageTexts, RowStatements};
use crate::load::target::LoadRow;

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
