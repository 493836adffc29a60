//! One column that is being filled: its type, and the values so far.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, StringArray, StructArray,
    TimestampSecondArray,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, FieldRef, Fields};

use super::json_cursor::JsonCursor;
use super::schema::{self, ColumnType};
use super::{ColumnsError, Expected};

/// A column of a batch that is being filled.
pub(super) struct Column {
    /// The bytes before the value in a line: the bracket or comma, and the key with its quotation marks and colon.
    key: Vec<u8>,
    field: FieldRef,
    values: Values,
    nulls: NullBufferBuilder,
}

enum Values {
    Text(Texts),
    Instant(Vec<i64>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Boolean(BooleanBufferBuilder),
    TextList(ListOffsets, Texts),
    Object(ObjectColumns),
    ObjectList(ListOffsets, Vec<Column>),
}

/// The fields of objects.
struct ObjectColumns {
    columns: Vec<Column>,
    /// The last value as it stands in its line; empty if it is null, or if there is none. Records of one message repeat it.
    last: Vec<u8>,
}

/// Texts one after the other.
struct Texts {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
}

/// Number of items before each list, and after the last.
struct ListOffsets(Vec<i32>);

impl Column {
    /// Empty columns of the fields of an object.
    pub(super) fn all(fields: &Fields) -> Vec<Column> {
        let brackets = std::iter::once(b'{').chain(std::iter::repeat(b','));
        let columns = brackets
            .zip(fields)
            .map(|(before, field)| Column::new(before, field));
        columns.collect()
    }

    fn new(before: u8, field: &FieldRef) -> Column {
        let values = match schema::column_type(field) {
            ColumnType::Text => Values::Text(Texts::new()),
            ColumnType::Instant => Values::Instant(Vec::new()),
            ColumnType::Integer => Values::Integer(Vec::new()),
            ColumnType::Number => Values::Number(Vec::new()),
            ColumnType::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            ColumnType::TextList => Values::TextList(ListOffsets::new(), Texts::new()),
            ColumnType::Object(fields) => Values::Object(ObjectColumns {
                columns: Column::all(fields),
                last: Vec::new(),
            }),
            ColumnType::ObjectList(fields) => {
                Values::ObjectList(ListOffsets::new(), Column::all(fields))
            }
        };
        Column {
            key: format!("{}\"{}\":", char::from(before), field.name()).into_bytes(),
            field: Arc::clone(field),
            values,
            nulls: NullBufferBuilder::new(0),
        }
    }

    /// Appends the value that is next in a line, after its key.
    fn read(&mut self, line: &mut JsonCursor<'_>) -> Result<(), ColumnsError> {
        if line.null() {
            self.push_null();
            return Ok(());
        }
        match &mut self.values {
            Values::Text(texts) => texts.read(line)?,
            Values::Instant(values) => values.push(instant(line)?),
            Values::Integer(values) => values.push(parsed(line, Expected::Integer)?),
            Values::Number(values) => values.push(parsed(line, Expected::Number)?),
            Values::Boolean(values) => values.append(parsed(line, Expected::Boolean)?),
            Values::TextList(offsets, texts) => {
                let items = read_list(line, |line| texts.read(line))?;
                offsets.push(items);
            }
            Values::Object(object) => object.read(line)?,
            Values::ObjectList(offsets, columns) => {
                let items = read_list(line, |line| read_object(columns, line))?;
                offsets.push(items);
            }
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Appends a null; to an object, nulls for all its fields.
    fn push_null(&mut self) {
        match &mut self.values {
            Values::Text(texts) => texts.end_text(),
            Values::Instant(values) | Values::Integer(values) => values.push(0),
            Values::Number(values) => values.push(0.0),
            Values::Boolean(values) => values.append(false),
            Values::TextList(offsets, _) | Values::ObjectList(offsets, _) => offsets.push(0),
            Values::Object(object) => object.push_null(),
        }
        self.nulls.append_null();
    }

    /// Appends the last `count` values once more.
    fn repeat(&mut self, count: usize) {
        let first = self.nulls.len() - count;
        match &mut self.values {
            Values::Text(texts) => texts.repeat(count),
            Values::Instant(values) | Values::Integer(values) => values.extend_from_within(first..),
            Values::Number(values) => values.extend_from_within(first..),
            Values::Boolean(values) => {
                (first..first + count).for_each(|at| values.append(values.get_bit(at)));
            }
            Values::TextList(offsets, texts) => texts.repeat(offsets.repeat(count)),
            Values::Object(object) => object.repeat(count),
            Values::ObjectList(offsets, columns) => {
                let items = offsets.repeat(count);
                columns.iter_mut().for_each(|column| column.repeat(items));
            }
        }
        for at in first..first + count {
            self.nulls.append(self.nulls.is_valid(at));
        }
    }

    /// Returns the values as an array, and begins with none.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        Ok(match &mut self.values {
            Values::Text(texts) => Arc::new(texts.finish(nulls)?),
            Values::Instant(values) => {
                let array = TimestampSecondArray::try_new(take(values).into(), nulls)?;
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
            Values::Object(object) => {
                object.last.clear();
                let (fields, arrays) = finish_all(&mut object.columns)?;
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

/// Appends the fields of an object, which are those of `columns`, in their order. Recurses to the depth of the schema.
pub(super) fn read_object(
    columns: &mut [Column],
    line: &mut JsonCursor<'_>,
) -> Result<(), ColumnsError> {
    for column in columns {
        line.expect(&column.key, Expected::Field)?;
        column.read(line)?;
    }
    line.expect(b"}", Expected::End)
}

/// Reads the items of a list, and returns their number.
fn read_list(
    line: &mut JsonCursor<'_>,
    mut read_item: impl FnMut(&mut JsonCursor<'_>) -> Result<(), ColumnsError>,
) -> Result<i32, ColumnsError> {
    line.expect(b"[", Expected::List)?;
    if line.advance_past(b"]") {
        return Ok(0);
    }
    for items in 1.. {
        read_item(line)?;
        if line.advance_past(b"]") {
            return Ok(items);
        }
        line.expect(b",", Expected::End)?;
    }
    Err(line.error(Expected::End))
}

fn parsed<T: std::str::FromStr>(
    line: &mut JsonCursor<'_>,
    expected: Expected,
) -> Result<T, ColumnsError> {
    let error = line.error(expected);
    line.token().parse().map_err(|_| error)
}

/// Reads a time in UTC, as seconds since 1970.
fn instant(line: &mut JsonCursor<'_>) -> Result<i64, ColumnsError> {
    let error = line.error(Expected::Instant);
    let mut text = Vec::new();
    line.text(&mut text)?;
    let time = str::from_utf8(&text)
        .ok()
        .and_then(|text| text.parse().ok());
    let time: Option<jiff::Timestamp> = time;
    time.map(jiff::Timestamp::as_second).ok_or(error)
}

fn finish_all(columns: &mut [Column]) -> Result<(Fields, Vec<ArrayRef>), ArrowError> {
    let fields = columns.iter().map(|column| Arc::clone(&column.field));
    let fields = fields.collect();
    let arrays: Result<Vec<_>, _> = columns.iter_mut().map(Column::finish).collect();
    Ok((fields, arrays?))
}

/// An offset, or a difference of later and earlier ones, as an index.
#[expect(clippy::cast_sign_loss, reason = "offsets only grow")]
fn index(offset: i32) -> usize {
    offset as usize
}

/// Returns the values, and leaves room for as many.
fn take<T>(values: &mut Vec<T>) -> Vec<T> {
    let next = Vec::with_capacity(values.len());
    std::mem::replace(values, next)
}

impl ObjectColumns {
    /// Appends the object that is next in a line. One that is the last once more is compared as a whole, and not read.
    fn read(&mut self, line: &mut JsonCursor<'_>) -> Result<(), ColumnsError> {
        if !self.last.is_empty() && line.advance_past(&self.last) {
            self.columns.iter_mut().for_each(|column| column.repeat(1));
            return Ok(());
        }
        let object = line.rest();
        read_object(&mut self.columns, line)?;
        self.last.clear();
        let len = object.len() - line.rest().len();
        self.last.extend_from_slice(&object[..len]);
        Ok(())
    }

    /// Appends a null, which is null in all fields.
    fn push_null(&mut self) {
        self.last.clear();
        self.columns.iter_mut().for_each(Column::push_null);
    }

    /// Appends the last `count` values once more, so that the last remains the last.
    fn repeat(&mut self, count: usize) {
        self.columns
            .iter_mut()
            .for_each(|column| column.repeat(count));
    }
}

impl Texts {
    fn new() -> Texts {
        Texts {
            bytes: Vec::new(),
            offsets: vec![0],
        }
    }

    fn read(&mut self, line: &mut JsonCursor<'_>) -> Result<(), ColumnsError> {
        line.text(&mut self.bytes)?;
        self.end_text();
        Ok(())
    }

    /// Ends a text, which is empty if nothing was appended since the last. A batch has fewer bytes than an `i32` can count.
    #[expect(
        clippy::cast_possible_wrap,
        reason = "`ARROW_BATCH_BYTES` is far below the limit of an `i32`"
    )]
    fn end_text(&mut self) {
        self.offsets.push(self.bytes.len() as i32);
    }

    /// Appends the last `count` texts once more.
    fn repeat(&mut self, count: usize) {
        let first = self.offsets.len() - 1 - count;
        for text in first..first + count {
            let [start, end] = [index(self.offsets[text]), index(self.offsets[text + 1])];
            self.bytes.extend_from_within(start..end);
            self.end_text();
        }
    }

    fn finish(
        &mut self,
        nulls: Option<arrow_buffer::NullBuffer>,
    ) -> Result<StringArray, ArrowError> {
        let bytes = Buffer::from_vec(take(&mut self.bytes));
        let offsets = take(&mut self.offsets);
        self.offsets.push(0);
        StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(offsets)), bytes, nulls)
    }
}

impl ListOffsets {
    fn new() -> ListOffsets {
        ListOffsets(vec![0])
    }

    fn push(&mut self, items: i32) {
        let before = self.0.last().copied().unwrap_or_default();
        self.0.push(before + items);
    }

    /// Appends the last `count` lists once more. Returns the number of their items.
    fn repeat(&mut self, count: usize) -> usize {
        let first = self.0.len() - 1 - count;
        let before = self.0[first];
        for list in first..first + count {
            self.push(self.0[list + 1] - self.0[list]);
        }
        index(self.0[first + count] - before)
    }

    fn finish(&mut self) -> OffsetBuffer<i32> {
        let offsets = take(&mut self.0);
        self.0.push(0);
        OffsetBuffer::new(ScalarBuffer::from(offsets))
    }
}
