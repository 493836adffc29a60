//! Records as Arrow record batches: the values of each field become a column.

use std::fmt;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, TimestampSecondArray,
};
use arrow_buffer::{
    BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use super::fields::{self, FieldId, FieldType, FieldValues, RECORD_FIELDS, fields_of};
use super::owned::{Items, Record, Value};
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

/// Returns the field of the items of a list; of any other field, the field itself.
fn item_of(field: &FieldRef) -> FieldRef {
    match field.data_type() {
        DataType::List(item) => Arc::clone(item),
        _ => Arc::clone(field),
    }
}

/// A column of a batch that is being filled.
struct Column {
    field: FieldRef,
    /// The row of the table of fields.
    row: &'static fields::Field,
    /// The field of the record; `None` for objects and for the fields of the items of lists.
    id: Option<FieldId>,
    values: Values,
    nulls: NullBufferBuilder,
}

enum Values {
    Text(Texts),
    Instant(Instants),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Boolean(BooleanBufferBuilder),
    TextList(ListOffsets, Texts),
    Object(Vec<Column>),
    ObjectList(ListOffsets, Vec<Column>),
}

/// Texts one after the other.
struct Texts {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
}

/// Times, as seconds since 1970.
struct Instants {
    seconds: Vec<i64>,
    /// The last text, and its time. The records of a message have the same.
    last: (String, i64),
}

/// Number of items before each list, and after the last.
struct ListOffsets(Vec<i32>);

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
        let values = match field.data_type() {
            DataType::Timestamp(..) => Values::Instant(Instants {
                seconds: Vec::new(),
                last: (String::new(), 0),
            }),
            DataType::Int64 => Values::Integer(Vec::new()),
            DataType::Float64 => Values::Number(Vec::new()),
            DataType::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            DataType::Struct(fields) => Values::Object(columns_of(fields)),
            DataType::List(item) => match item.data_type() {
                DataType::Struct(fields) => {
                    Values::ObjectList(ListOffsets::new(), columns_of(fields))
                }
                _ => Values::TextList(ListOffsets::new(), Texts::new()),
            },
            _ => Values::Text(Texts::new()),
        };
        Column {
            field: Arc::clone(field),
            row,
            id: row.id(),
            values,
            nulls: NullBufferBuilder::new(0),
        }
    }

    /// Appends the values that records have in the column. Recurses to the depth of the schema.
    fn append(&mut self, records: &[Record]) {
        match (self.id, &mut self.values) {
            (Some(id), _) => records
                .iter()
                .for_each(|record| self.push(record.value(id))),
            (None, Values::Object(columns)) => {
                for record in records {
                    self.nulls.append(!record.is_null_object(self.row));
                }
                // The fields of an object that is null are null.
                columns.iter_mut().for_each(|column| column.append(records));
            }
            (None, _) => unreachable!("the fields of items are filled with their list"),
        }
    }

    /// Appends a value of the column's type, or null.
    fn push(&mut self, value: Value<'_>) {
        let is_null = value == Value::Null;
        match (&mut self.values, value) {
            (Values::Text(texts), Value::Text(text)) => texts.push(text),
            (Values::Instant(times), Value::Text(text)) => times.push(text),
            (Values::Integer(numbers), Value::Integer(number)) => {
                numbers.push(number.cast_signed());
            }
            (Values::Number(numbers), Value::Number(number)) => numbers.push(number),
            (Values::Boolean(values), Value::Boolean(value)) => values.append(value),
            (Values::TextList(offsets, texts), Value::List(items)) => {
                offsets.push(texts.push_all(items));
            }
            (Values::ObjectList(offsets, columns), Value::List(items)) => {
                offsets.push(push_objects(columns, items));
            }
            (Values::Text(texts), _) => texts.push(""),
            (Values::Instant(times), _) => times.seconds.push(0),
            (Values::Integer(numbers), _) => numbers.push(0),
            (Values::Number(numbers), _) => numbers.push(0.0),
            (Values::Boolean(values), _) => values.append(false),
            (Values::TextList(offsets, _) | Values::ObjectList(offsets, _), _) => offsets.push(0),
            (Values::Object(_), _) => unreachable!("objects are filled with their fields"),
        }
        self.nulls.append(!is_null);
    }

    /// Returns the values as an array, and begins with none.
    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        Ok(match &mut self.values {
            Values::Text(texts) => Arc::new(texts.finish(nulls)?),
            Values::Instant(times) => {
                let seconds = take(&mut times.seconds).into();
                let array = TimestampSecondArray::try_new(seconds, nulls)?;
                Arc::new(array.with_timezone(TIME_ZONE))
            }
            Values::Integer(values) => Arc::new(Int64Array::try_new(take(values).into(), nulls)?),
            Values::Number(values) => Arc::new(Float64Array::try_new(take(values).into(), nulls)?),
            Values::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::TextList(offsets, texts) => {
                let items = Arc::new(texts.finish(None)?);
                let item = item_of(&self.field);
                Arc::new(ListArray::try_new(item, offsets.finish(), items, nulls)?)
            }
            Values::Object(columns) => {
                let (fields, arrays) = finish_all(columns)?;
                Arc::new(StructArray::try_new(fields, arrays, nulls)?)
            }
            Values::ObjectList(offsets, columns) => {
                let (fields, arrays) = finish_all(columns)?;
                let items = Arc::new(StructArray::try_new(fields, arrays, None)?);
                let item = item_of(&self.field);
                Arc::new(ListArray::try_new(item, offsets.finish(), items, nulls)?)
            }
        })
    }
}

/// Appends objects, of which `items` has the fields one after the other. Returns their number.
fn push_objects(columns: &mut [Column], mut items: Items<'_>) -> usize {
    let mut objects = 0;
    while let Some(first) = items.next() {
        let values = std::iter::once(first).chain(items.by_ref().take(columns.len() - 1));
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
        objects += 1;
    }
    objects
}

fn finish_all(columns: &mut [Column]) -> Result<(Fields, Vec<ArrayRef>), ArrowError> {
    let fields = columns.iter().map(|column| Arc::clone(&column.field));
    let fields = fields.collect();
    let arrays: Result<Vec<_>, _> = columns.iter_mut().map(Column::finish).collect();
    Ok((fields, arrays?))
}

/// Returns the values, and leaves room for as many.
fn take<T>(values: &mut Vec<T>) -> Vec<T> {
    let next = Vec::with_capacity(values.len());
    std::mem::replace(values, next)
}

/// An offset in an array. A batch has fewer bytes than an `i32` can count.
#[expect(
    clippy::cast_possible_wrap,
    reason = "`ARROW_BATCH_BYTES` is far below the limit of an `i32`"
)]
fn offset(bytes: usize) -> i32 {
    bytes as i32
}

impl Texts {
    fn new() -> Texts {
        Texts {
            bytes: Vec::new(),
            offsets: vec![0],
        }
    }

    fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.offsets.push(offset(self.bytes.len()));
    }

    /// Appends the texts of a list, and returns their number.
    fn push_all(&mut self, items: Items<'_>) -> usize {
        let before = self.offsets.len();
        for item in items {
            if let Value::Text(text) = item {
                self.push(text);
            }
        }
        self.offsets.len() - before
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        let bytes = Buffer::from_vec(take(&mut self.bytes));
        let offsets = take(&mut self.offsets);
        self.offsets.push(0);
        StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(offsets)), bytes, nulls)
    }
}

impl Instants {
    /// Appends a time in UTC (RFC 3339).
    fn push(&mut self, text: &str) {
        if self.last.0 != text {
            let time: jiff::Timestamp = text.parse().expect("this crate wrote the time");
            self.last = (text.to_owned(), time.as_second());
        }
        self.seconds.push(self.last.1);
    }
}

impl ListOffsets {
    fn new() -> ListOffsets {
        ListOffsets(vec![0])
    }

    fn push(&mut self, items: usize) {
        let before = self.0.last().copied().unwrap_or_default();
        self.0.push(before + offset(items));
    }

    fn finish(&mut self) -> OffsetBuffer<i32> {
        let offsets = take(&mut self.0);
        self.0.push(0);
        OffsetBuffer::new(ScalarBuffer::from(offsets))
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
