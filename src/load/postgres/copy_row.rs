//! Rows in the text format of `COPY`: columns divided by tabs, `\N` for null.

use std::fmt::{self, Write};

use crate::load::columns::Column;
use crate::load::target::LoadRow;
use crate::load::words::each_word;
use crate::record::{FieldId, LoadedRecord, LoadedValue};

/// Maximum size of a word in a tsvector, in bytes. Longer ones are left out.
const WORD_BYTES: usize = 2_046;

/// Largest position in a tsvector.
const LAST_POSITION: usize = 16_383;

/// Maximum size of a tsvector, in bytes, with room for its own data.
const VECTOR_BYTES: usize = 512 << 10;

/// Appends a row of the table `staging`, of which these columns are made from fields. It does not fail: a `String` takes all texts.
pub(super) fn append_row(
    row: &LoadRow<'_>,
    columns: &[Column],
    number: u64,
    cited: Option<&str>,
    out: &mut String,
) -> fmt::Result {
    let record = row.record;
    write!(out, "{number}\t{:032x}\t", record.record_key)?;
    write!(out, "{:032x}\t", record.source_key)?;
    match record.key_hash() {
        Some(hash) => write!(out, "{hash:032x}\t")?,
        None => out.push_str("\\N\t"),
    }
    append_value(record.value(FieldId::Id), out)?;
    append_value(record.value(FieldId::Key), out)?;
    for column in columns {
        match column {
            Column::Field(field) => append_value(record.value(*field), out)?,
            Column::Cited if cited.is_none() => append_value(&LoadedValue::Null, out)?,
            Column::Cited => append_value(record.value(FieldId::MessageDate), out)?,
        }
    }
    append_words(record, out);
    out.write_char('\n')
}

/// Appends a value and the end of its column.
fn append_value(value: &LoadedValue, out: &mut String) -> fmt::Result {
    match value {
        LoadedValue::Null => out.push_str("\\N"),
        LoadedValue::Boolean(value) => write!(out, "{value}")?,
        LoadedValue::Integer(number) => write!(out, "{number}")?,
        LoadedValue::Number(number) => write!(out, "{number}")?,
        LoadedValue::Text(text) => append_text(text, out),
        LoadedValue::Texts(list) => append_text(list.get(), out),
    }
    out.write_char('\t')
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

/// Appends the tsvector of the texts that are searched. Between two texts is a gap, so that no phrase spans them.
fn append_words(record: &LoadedRecord, out: &mut String) {
    let fields = [
        FieldId::Url,
        FieldId::Anchor,
        FieldId::MessageSubject,
        FieldId::MessageFrom,
    ];
    let (mut position, limit) = (0, out.len() + VECTOR_BYTES);
    for field in fields {
        each_word(record.text(field).unwrap_or_default(), |word| {
            position += 1;
            if word.len() <= WORD_BYTES && out.len() < limit {
                let _ = write!(out, "'{word}':{} ", position.min(LAST_POSITION));
            }
        });
        position += 1;
    }
}
