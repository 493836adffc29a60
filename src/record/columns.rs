//! Records as Arrow record batches: the values of each field become a column.

use std::fmt;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampSecondBuilder,
};
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBufferBuilder};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use super::fields::{self, FieldId, FieldType, FieldValues, RECORD_FIELDS, fields_of};
use super::owned::{Record, RecordItems, RecordValue};
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

/// The time zone of all times.
const TIME_ZONE: &str = "UTC";

/// Returns the Arrow schema of records with the fields `chosen`, in the order of the record; `None` stands for whole records.
///
/// It is the schema that `urlspool schema --as arrow` prints.
#[must_use]
pub fn arrow_schema(chosen: Option<&[FieldId]>) -> SchemaRef {
    Arc::new(Schema::new(arrow_fields(None, chosen)))
}

/// The chosen fields of an object or list; `None` stands for the record. Recurses to the depth of the table.
fn arrow_fields(parent: Option<&'static str>, chosen: Option<&[FieldId]>) -> Fields {
    fields_of(RECORD_FIELDS, parent)
        .filter_map(|field| arrow_field(field, chosen))
        .collect()
}

fn arrow_field(field: &fields::Field, chosen: Option<&[FieldId]>) -> Option<FieldRef> {
    let is_chosen =
        chosen.is_none_or(|chosen| chosen.iter().any(|other| other.name() == field.name));
    let data_type = match field.json_type {
        FieldType::Object => {
            let fields = arrow_fields(Some(field.name), chosen);
            if fields.is_empty() {
                return None;
            }
            DataType::Struct(fields)
        }
        _ if !is_chosen => return None,
        FieldType::Text if field.values == FieldValues::Instant => {
            DataType::Timestamp(TimeUnit::Second, Some(TIME_ZONE.into()))
        }
        FieldType::Text => DataType::Utf8,
        FieldType::Integer => DataType::Int64,
        FieldType::Number => DataType::Float64,
        FieldType::Boolean => DataType::Boolean,
        FieldType::Texts => list_of(DataType::Utf8),
        FieldType::List => list_of(DataType::Struct(arrow_fields(Some(field.name), None))),
    };
    Some(Arc::new(Field::new(field.key(), data_type, true)))
}

fn list_of(items: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(items, true)))
}

/// A column of a batch that is being filled.
struct Column {
    field: FieldRef,
    /// The field that tells whether an object is null.
    null_mark: Option<FieldId>,
    /// The field of the record; `None` for objects and for the fields of the items of lists.
    id: Option<FieldId>,
    values: Values,
}

enum Values {
    Text(StringBuilder),
    Instant(Instants),
    Integer(Int64Builder),
    Number(Float64Builder),
    Boolean(BooleanBuilder),
    TextList(ListBuilder<StringBuilder>),
    Object(NullBufferBuilder, Vec<Column>),
    ObjectList(OffsetBufferBuilder<i32>, NullBufferBuilder, Vec<Column>),
}

/// Times in UTC.
#[derive(Default)]
struct Instants {
    seconds: TimestampSecondBuilder,
    /// The last text, and its time. The records of a message have the same.
    last: (String, i64),
}

impl Column {
    /// Empty columns of the fields of the object or list `parent`; `None` stands for the record.
    fn all(parent: Option<&'static str>, fields: &Fields) -> Vec<Column> {
        let row = |field: &FieldRef| {
            let mut rows = fields_of(RECORD_FIELDS, parent);
            rows.find(|row| row.key() == field.name())
                .expect("the schema is made from the table")
        };
        let columns = fields.iter().map(|field| Column::new(row(field), field));
        columns.collect()
    }

    fn new(row: &'static fields::Field, field: &FieldRef) -> Column {
        let columns_of = |fields| Column::all(Some(row.name), fields);
        let nulls = NullBufferBuilder::new(0);
        let values = match field.data_type() {
            DataType::Timestamp(..) => Values::Instant(Instants::default()),
            DataType::Int64 => Values::Integer(Int64Builder::new()),
            DataType::Float64 => Values::Number(Float64Builder::new()),
            DataType::Boolean => Values::Boolean(BooleanBuilder::new()),
            DataType::Struct(fields) => Values::Object(nulls, columns_of(fields)),
            DataType::List(item) => match item.data_type() {
                DataType::Struct(fields) => {
                    Values::ObjectList(OffsetBufferBuilder::new(0), nulls, columns_of(fields))
                }
                _ => Values::TextList(ListBuilder::new(StringBuilder::new())),
            },
            _ => Values::Text(StringBuilder::new()),
        };
        Column {
            field: Arc::clone(field),
            null_mark: row.null_mark(),
            id: row.id(),
            values,
        }
    }

    /// Appends the values that records have in the column. Recurses to the depth of the schema.
    fn append(&mut self, records: &[Record]) {
        match (self.id, &mut self.values) {
            (Some(id), _) => records
                .iter()
                .for_each(|record| self.push(record.value(id))),
            (None, Values::Object(nulls, columns)) => {
                for record in records {
                    nulls.append(!record.is_null_object(self.null_mark));
                }
                // The fields of an object that is null are null.
                columns.iter_mut().for_each(|column| column.append(records));
            }
            (None, _) => unreachable!("the fields of items are filled with their list"),
        }
    }

    /// Appends a value of the column's type, or null.
    fn push(&mut self, value: RecordValue<'_>) {
        match (&mut self.values, value) {
            (Values::Text(texts), RecordValue::Text(text)) => texts.append_value(text),
            (Values::Text(texts), _) => texts.append_null(),
            (Values::Instant(times), RecordValue::Text(text)) => times.push(text),
            (Values::Instant(times), _) => times.seconds.append_null(),
            (Values::Integer(numbers), RecordValue::Integer(number)) => {
                numbers.append_value(number.cast_signed());
            }
            (Values::Integer(numbers), _) => numbers.append_null(),
            (Values::Number(numbers), RecordValue::Number(number)) => numbers.append_value(number),
            (Values::Number(numbers), _) => numbers.append_null(),
            (Values::Boolean(values), RecordValue::Boolean(value)) => values.append_value(value),
            (Values::Boolean(values), _) => values.append_null(),
            (Values::TextList(lists), RecordValue::List(items)) => {
                for item in items {
                    if let RecordValue::Text(text) = item {
                        lists.values().append_value(text);
                    }
                }
                lists.append(true);
            }
            (Values::TextList(lists), _) => lists.append(false),
            (Values::ObjectList(offsets, nulls, columns), value) => {
                let (is_list, items) = match value {
                    RecordValue::List(items) => (true, items),
                    _ => (false, RecordItems::default()),
                };
                nulls.append(is_list);
                offsets.push_length(push_objects(columns, items));
            }
            (Values::Object(..), _) => unreachable!("objects are filled with their fields"),
        }
    }

    /// Returns the values as an array, and begins with none.
    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match &mut self.values {
            Values::Text(texts) => Arc::new(texts.finish()),
            Values::Instant(times) => Arc::new(times.seconds.finish().with_timezone(TIME_ZONE)),
            Values::Integer(numbers) => Arc::new(numbers.finish()),
            Values::Number(numbers) => Arc::new(numbers.finish()),
            Values::Boolean(values) => Arc::new(values.finish()),
            Values::TextList(lists) => Arc::new(lists.finish()),
            Values::Object(nulls, columns) => Arc::new(finish_object(columns, nulls.finish())?),
            Values::ObjectList(offsets, nulls, columns) => {
                let offsets = std::mem::replace(offsets, OffsetBufferBuilder::new(0)).finish();
                let items = Arc::new(finish_object(columns, None)?);
                let item = Field::new_list_field(items.data_type().clone(), true);
                Arc::new(ListArray::try_new(
                    item.into(),
                    offsets,
                    items,
                    nulls.finish(),
                )?)
            }
        })
    }
}

/// Appends objects, of which `items` has the fields one after the other. Returns their number.
fn push_objects(columns: &mut [Column], mut items: RecordItems<'_>) -> usize {
    let mut objects = 0;
    while let Some(first) = items.next() {
        let values = std::iter::once(first).chain(items.by_ref());
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
        objects += 1;
    }
    objects
}

fn finish_object(
    columns: &mut [Column],
    nulls: Option<NullBuffer>,
) -> Result<StructArray, ArrowError> {
    let fields: Fields = columns
        .iter()
        .map(|column| Arc::clone(&column.field))
        .collect();
    let arrays: Result<Vec<_>, _> = columns.iter_mut().map(Column::finish).collect();
    StructArray::try_new(fields, arrays?, nulls)
}

impl Instants {
    /// Appends a time (RFC 3339).
    fn push(&mut self, text: &str) {
        if self.last.0 != text {
            let time: jiff::Timestamp = text.parse().expect("this crate wrote the time");
            self.last = (text.to_owned(), time.as_second());
        }
        self.seconds.append_value(self.last.1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::SchemaLanguage;

    /// `urlspool schema --as arrow` prints the schema as Python source.
    #[test]
    fn the_schema_is_the_one_that_is_printed_for_pyarrow() {
        fn python(data_type: &DataType) -> String {
            match data_type {
                DataType::Utf8 => "pa.string()".to_owned(),
                DataType::Int64 => "pa.int64()".to_owned(),
                DataType::Float64 => "pa.float64()".to_owned(),
                DataType::Boolean => "pa.bool_()".to_owned(),
                DataType::Timestamp(unit, zone) => {
                    assert_eq!(*unit, arrow_schema::TimeUnit::Second);
                    let zone = json!(zone.as_deref().unwrap());
                    format!("pa.timestamp(\"s\", tz={zone})")
                }
                DataType::List(item) => format!("pa.list_({})", python(item.data_type())),
                DataType::Struct(fields) => {
                    let fields = fields.iter().map(|field| pair(field));
                    format!("pa.struct([{}])", fields.collect::<Vec<_>>().join(", "))
                }
                other => panic!("{other}"),
            }
        }
        fn pair(field: &arrow_schema::Field) -> String {
            assert!(field.is_nullable());
            format!("(\"{}\", {})", field.name(), python(field.data_type()))
        }
        let schema = arrow_schema(None);
        let fields = schema.fields().iter();
        let fields: String = fields
            .map(|field| format!("    {},\n", pair(field)))
            .collect();
        let printed = crate::record::schema(SchemaLanguage::Arrow);
        assert_eq!(printed, format!("pa.schema([\n{fields}])\n"));
    }
}
