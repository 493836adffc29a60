//! Records as Arrow record batches: from lines of JSON, as this crate writes them, to columns.
//!
//! Only lines of this version of the crate are read, whose fields stand in the order of the table: so a value is found
//! without comparing it with the names of all fields.

mod column;
mod json_cursor;
mod schema;
#[cfg(test)]
mod tests;

pub use schema::arrow_schema;

use std::fmt;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use self::column::{Column, read_object};
use self::json_cursor::JsonCursor;
use super::FieldId;
use crate::limits::{ARROW_BATCH_BYTES, ARROW_BATCH_ROWS};

/// Columns of records that are being filled.
pub struct Columns {
    schema: SchemaRef,
    fields: Vec<Column>,
    rows: usize,
    /// Bytes of the lines since the last batch.
    bytes: usize,
}

/// A line that is not a record, or not one with the fields of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnsError {
    /// The offset in the line.
    pub offset: usize,
    /// The value that was expected there.
    pub expected: Expected,
}

/// A value that was expected in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// The next field of the record.
    Field,
    /// A string.
    Text,
    /// A time in UTC.
    Instant,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// The next item, or the end of a list or an object.
    End,
}

impl fmt::Display for ColumnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = match self.expected {
            Expected::Field => "the next field of the record",
            Expected::Text => "a string",
            Expected::Instant => "a time in UTC",
            Expected::Integer => "a whole number",
            Expected::Number => "a number",
            Expected::Boolean => "true or false",
            Expected::List => "a list",
            Expected::End => "a comma or a bracket",
        };
        let offset = self.offset;
        write!(
            f,
            "not a record of this version of urlspool: expected {expected} at byte {offset} of the line"
        )
    }
}

impl std::error::Error for ColumnsError {}

impl Columns {
    /// Columns of records with the fields `chosen`; `None` stands for whole records.
    #[must_use]
    pub fn new(chosen: Option<&[FieldId]>) -> Columns {
        let schema = arrow_schema(chosen);
        Columns {
            fields: Column::all(schema.fields()),
            schema,
            rows: 0,
            bytes: 0,
        }
    }

    /// The schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// Appends the record in `line`.
    ///
    /// Linear in the length of the line.
    ///
    /// # Errors
    ///
    /// The line is not a record with the fields of the columns. The columns cannot be used any more.
    pub fn append(&mut self, line: &[u8]) -> Result<(), ColumnsError> {
        read_object(&mut self.fields, &mut JsonCursor::new(line))?;
        self.rows += 1;
        self.bytes += line.len();
        Ok(())
    }

    /// Returns `true` if a batch should be taken before more is appended.
    #[must_use]
    pub fn is_full(&self) -> bool {
        ARROW_BATCH_ROWS <= self.rows || ARROW_BATCH_BYTES <= self.bytes
    }

    /// Returns the records since the last batch; `None` if there are none.
    ///
    /// # Errors
    ///
    /// A text is not UTF-8, which no line of this crate holds.
    pub fn take_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.rows == 0 {
            return Ok(None);
        }
        (self.rows, self.bytes) = (0, 0);
        let arrays: Result<Vec<_>, _> = self.fields.iter_mut().map(Column::finish).collect();
        RecordBatch::try_new(self.schema(), arrays?).map(Some)
    }
}

impl fmt::Debug for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Columns")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
