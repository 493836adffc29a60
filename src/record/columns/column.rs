//! One column that is being filled: its type, and the values so far.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, StringArray, StructArray,
    TimestampSecondArray,
};
use arrow_buffer::{
    BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::{ArrowError, FieldRef, Fields};

use super::schema::{self, ColumnType};
use crate::record::fields::{self, FieldId, RECORD_FIELDS, fields_of};
use crate::record::{Items, Record, Value};

/// A column of a batch that is being filled.
pub(super) struct Column {
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
    pub(super) fn all(parent: Option<&'static str>, fields: &Fields) -> Vec<Column> {
        let row = |field: &FieldRef| {
            let mut rows = fields_of(RECORD_FIELDS, parent);
            rows.find(|row| row.key() == field.name())
                .expect("the schema is made from the table")
        };
        let columns = fields.iter().map(|field| Column::new(row(field), field));
        columns.collect()
    }

    fn new(row: &'static fields::Field, field: &FieldRef) -> Column {
        let values = match schema::column_type(field) {
            ColumnType::Text => Values::Text(Texts::new()),
            ColumnType::Instant => Values::Instant(Instants {
                seconds: Vec::new(),
                last: (String::new(), 0),
            }),
            ColumnType::Integer => Values::Integer(Vec::new()),
            ColumnType::Number => Values::Number(Vec::new()),
            ColumnType::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            ColumnType::TextList => Values::TextList(ListOffsets::new(), Texts::new()),
            ColumnType::Object(fields) => Values::Object(Column::all(Some(row.name), fields)),
            ColumnType::ObjectList(fields) => {
                Values::ObjectList(ListOffsets::new(), Column::all(Some(row.name), fields))
            }
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
    pub(super) fn append(&mut self, records: &[Record]) {
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
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        Ok(match &mut self.values {
            Values::Text(texts) => Arc::new(texts.finish(nulls)?),
            Values::Instant(times) => {
                let seconds = take(&mut times.seconds).into();
                let array = TimestampSecondArray::try_new(seconds, nulls)?;
                Arc::new(array.with_timezone(schema::TIME_ZONE))
            }
            Values::Integer(values) => Arc::new(Int64Array::try_new(take(values).into(), nulls)?),
            Values::Number(values) => Arc::new(Float64Array::try_new(take(values).into(), nulls)?),
            Values::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::TextList(offsets, texts) => {
                let items = Arc::new(texts.finish(None)?);
                let item = schema::item(&self.field);
                Arc::new(ListArray::try_new(item, offsets.finish(), items, nulls)?)
            }
            Values::Object(columns) => {
                let (fields, arrays) = finish_all(columns)?;
                Arc::new(StructArray::try_new(fields, arrays, nulls)?)
            }
            Values::ObjectList(offsets, columns) => {
                let (fields, arrays) = finish_all(columns)?;
                let items = Arc::new(StructArray::try_new(fields, arrays, None)?);
                let item = schema::item(&self.field);
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
