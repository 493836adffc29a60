//! Rows in the text format of `COPY`: columns divided by tabs, `\N` for null.

use std::fmt::{Display, Write};

use super::schema::staged_columns;
use crate::limits::SEARCH_WORD_BYTES;
use crate::load::columns::{Column, SEARCHED_FIELDS};
use crate::load::target::LoadRow;
use crate::load::tracking::clean_key;
use crate::load::words::Words;
use crate::record::{FieldId, LoadedRecord, LoadedValue};

/// Largest position in a tsvector.
const LAST_POSITION: usize = 16_383;

/// Maximum size of a tsvector, in bytes, with room for its own data.
const VECTOR_BYTES: usize = 512 << 10;

/// The writer of rows of the table `staging`.
pub(super) struct CopyRows {
    /// The columns that are made from fields.
    columns: Vec<Column>,
    words: Words,
    /// Number of the next row.
    number: u64,
}

impl CopyRows {
    pub(super) fn new() -> rusqlite::Result<CopyRows> {
        Ok(CopyRows {
            columns: staged_columns(),
            words: Words::new()?,
            number: 0,
        })
    }

    /// Appends a row.
    pub(super) fn append(
        &mut self,
        row: &LoadRow<'_>,
        cited: Option<&str>,
        out: &mut String,
    ) -> rusqlite::Result<()> {
        let record = row.record;
        show(self.number, out);
        self.number += 1;
        let keys = [
            Some(record.record_key),
            Some(record.source_key),
            record.key_hash(),
            Some(record.mailbox_key()),
        ];
        for key in keys {
            match key {
                Some(key) => show(format_args!("\t{key:032x}"), out),
                None => out.push_str("\t\\N"),
            }
        }
        append_value(record.value(FieldId::Id), out);
        append_value(record.value(FieldId::Key), out);
        match record.text(FieldId::Key) {
            Some(key) => {
                out.push('\t');
                append_text(&clean_key(key), out);
            }
            None => out.push_str("\t\\N"),
        }
        for column in &self.columns {
            match column {
                Column::Field(field) => append_value(record.value(*field), out),
                Column::Cited if cited.is_none() => append_value(&LoadedValue::Null, out),
                Column::Cited => append_value(record.value(FieldId::MessageDate), out),
            }
        }
        out.push('\t');
        self.append_words(record, out)?;
        out.push('\n');
        Ok(())
    }

    /// Appends the tsvector of the texts that are searched. Between two texts is a gap, so that no
    /// phrase spans them.
    fn append_words(&mut self, record: &LoadedRecord, out: &mut String) -> rusqlite::Result<()> {
        let (mut position, limit) = (0, out.len() + VECTOR_BYTES);
        for field in SEARCHED_FIELDS {
            let text = record.text(field).unwrap_or_default();
            self.words.each(text, |word, _| {
                position += 1;
                if word.len() <= SEARCH_WORD_BYTES && out.len() < limit {
                    let position = position.min(LAST_POSITION);
                    show(format_args!("'{word}':{position} "), out);
                }
            })?;
            position += 1;
        }
        Ok(())
    }
}

/// Appends a value after the end of the column before.
fn append_value(value: &LoadedValue, out: &mut String) {
    out.push('\t');
    match value {
        LoadedValue::Null => out.push_str("\\N"),
        LoadedValue::Boolean(value) => show(value, out),
        LoadedValue::Integer(number) => show(number, out),
        LoadedValue::Number(number) => show(number, out),
        LoadedValue::Text(text) => append_text(text, out),
        LoadedValue::Texts(list) => append_text(list, out),
    }
}

fn show(value: impl Display, out: &mut String) {
    // A `String` takes all texts.
    let _ = write!(out, "{value}");
}

fn append_text(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
}
