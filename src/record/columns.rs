//! Records as Arrow record batches: the values of each field become a column.

mod column;
mod schema;
#[cfg(test)]
mod tests;

pub use schema::arrow_schema;

use std::fmt;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use self::column::Column;
use super::{FieldId, Record};
use crate::limits::{ARROW_BATCH_BYTES, ARROW_BATCH_ROWS};

/// Columns of records that are being filled.
pub struct Columns {
    schema: SchemaRef,
    fields: Vec<Column>,
    rows: usize,
    /// Bytes of the records since the last batch.
    bytes: usize,
}

impl Columns {
    /// Columns of records with the fields `chosen`; `None` stands for whole records.
    #[must_use]
    pub fn new(chosen: Option<&[FieldId]>) -> Columns {
        let schema = arrow_schema(chosen);
        Columns {
            fields: Column::all(None, schema.fields()),
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

    /// Appends records until the columns are full, and returns the rest.
    ///
    /// Linear in the length of the values.
    pub fn append<'r>(&mut self, records: &'r [Record]) -> &'r [Record] {
        let mut taken = 0;
        while !self.is_full()
            && let Some(record) = records.get(taken)
        {
            taken += 1;
            self.rows += 1;
            self.bytes += record.bytes();
        }
        let (taken, rest) = records.split_at(taken);
        for column in &mut self.fields {
            column.append(taken);
        }
        rest
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
    /// Arrow refuses the columns, which is a fault of this crate.
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
