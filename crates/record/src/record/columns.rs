//! Converts records to Arrow record batches. The values of each field become a column.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    StructBuilder, TimestampSecondBuilder,
};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

use super::fields::{self, FieldId, FieldType, FieldValues, RECORD_FIELDS, fields_of};
use super::owned::{Record, RecordValue};
use urlspool_text::limits::{ARROW_BATCH_BYTES, ARROW_BATCH_ROWS};

/// Columns of records under construction.
pub struct Columns {
    schema: SchemaRef,
    written: Vec<Column>,
    values: StructBuilder,
    /// Bytes of records since the last batch.
    bytes: usize,
}

impl Columns {
    /// Creates columns for records with the fields `chosen`, or for whole records if `None`.
    #[must_use]
    pub fn new(chosen: Option<&[FieldId]>) -> Columns {
        let columns = Column::all(None, chosen);
        let fields = arrow_fields(&columns);
        Columns {
            schema: Arc::new(Schema::new(fields.clone())),
            written: columns,
            values: StructBuilder::from_fields(fields, 0),
            bytes: 0,
        }
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// Appends records until the columns are full and returns the rest.
    ///
    /// Linear in the length of the values.
    pub fn append<'r>(&mut self, records: &'r [Record]) -> &'r [Record] {
        let mut rest = records;
        while !self.is_full()
            && let Some((record, others)) = rest.split_first()
        {
            push_fields(&mut self.values, &self.written, record);
            self.values.append(true);
            self.bytes += record.bytes();
            rest = others;
        }
        rest
    }

    /// Returns `true` if a batch should be taken before appending more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        ARROW_BATCH_ROWS <= self.values.len() || ARROW_BATCH_BYTES <= self.bytes
    }

    /// Returns the records since the last batch, or `None` if there are no new ones.
    ///
    /// # Errors
    ///
    /// Returns an error if Arrow rejects the columns, which is a bug in this crate.
    pub fn take_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.values.is_empty() {
            return Ok(None);
        }
        self.bytes = 0;
        let (_, arrays, _) = self.values.finish().into_parts();
        RecordBatch::try_new(self.schema(), arrays).map(Some)
    }
}

/// Returns the Arrow schema of records with the fields `chosen`, in record order. `None` means
/// whole records.
///
/// `urlspool generate schema --format arrow` prints this schema.
#[must_use]
pub fn arrow_schema(chosen: Option<&[FieldId]>) -> SchemaRef {
    Columns::new(chosen).schema
}

/// A column of a batch.
struct Column {
    row: &'static fields::Field,
    /// Field that shows whether an object is null.
    null_mark: Option<FieldId>,
    /// Field of the record; `None` for objects and for fields of list items.
    id: Option<FieldId>,
    /// Columns of an object, or of the objects in a list.
    members: Vec<Column>,
}

impl Column {
    /// Returns the columns of the chosen fields of the object or list `parent`. `None` means the
    /// record for `parent`, and all fields for `chosen`. Recurses to the depth of the table.
    fn all(parent: Option<&'static str>, chosen: Option<&[FieldId]>) -> Vec<Column> {
        let mut columns = Vec::new();
        for row in fields_of(RECORD_FIELDS, parent) {
            let members = match row.json_type {
                FieldType::Object => Column::all(Some(row.name), chosen),
                FieldType::List => Column::all(Some(row.name), None),
                _ => Vec::new(),
            };
            let mut others = chosen.unwrap_or_default().iter();
            let is_chosen = match row.json_type {
                FieldType::Object => !members.is_empty(),
                _ => chosen.is_none() || others.any(|other| other.name() == row.name),
            };
            columns.extend(is_chosen.then(|| Column {
                row,
                null_mark: row.null_mark(),
                id: row.id(),
                members,
            }));
        }
        columns
    }

    fn data_type(&self) -> DataType {
        match self.row.json_type {
            FieldType::Text if matches!(self.row.values, FieldValues::Instant) => {
                DataType::Timestamp(TimeUnit::Second, Some("UTC".into()))
            }
            FieldType::Text => DataType::Utf8,
            FieldType::Integer => DataType::Int64,
            FieldType::Number => DataType::Float64,
            FieldType::Boolean => DataType::Boolean,
            FieldType::Texts => DataType::new_list(DataType::Utf8, true),
            FieldType::Object => DataType::Struct(arrow_fields(&self.members)),
            FieldType::List => {
                DataType::new_list(DataType::Struct(arrow_fields(&self.members)), true)
            }
        }
    }

    /// Appends a value of the column's type, or null.
    fn push(&self, value: &RecordValue, builder: &mut Box<dyn ArrayBuilder>) {
        match self.row.json_type {
            FieldType::Text if matches!(self.row.values, FieldValues::Instant) => {
                typed::<TimestampSecondBuilder>(builder).append_option(value.text().map(seconds));
            }
            FieldType::Text => typed::<StringBuilder>(builder).append_option(value.text()),
            FieldType::Integer => {
                let number = value.integer().map(u64::cast_signed);
                typed::<Int64Builder>(builder).append_option(number);
            }
            FieldType::Number => typed::<Float64Builder>(builder).append_option(value.number()),
            FieldType::Boolean => {
                let is_true = *value == RecordValue::Boolean(true);
                let value = (*value != RecordValue::Null).then_some(is_true);
                typed::<BooleanBuilder>(builder).append_option(value);
            }
            FieldType::Texts | FieldType::List | FieldType::Object => {
                let lists: &mut ListBuilder<Box<dyn ArrayBuilder>> = typed(builder);
                if self.row.json_type == FieldType::Texts {
                    let texts: &mut StringBuilder = typed(lists.values());
                    value
                        .items()
                        .iter()
                        .for_each(|item| texts.append_option(item.text()));
                } else {
                    let objects: &mut StructBuilder = typed(lists.values());
                    for values in value.items().chunks(self.members.len()) {
                        let builders = objects.field_builders_mut().iter_mut();
                        for ((builder, column), value) in builders.zip(&self.members).zip(values) {
                            column.push(value, builder);
                        }
                        objects.append(true);
                    }
                }
                lists.append(*value != RecordValue::Null);
            }
        }
    }
}

fn arrow_fields(columns: &[Column]) -> Fields {
    let fields = columns
        .iter()
        .map(|column| Field::new(column.row.key(), column.data_type(), true));
    fields.collect()
}

/// Appends a record's values for the fields of an object. Recurses to the depth of the table.
fn push_fields(object: &mut StructBuilder, columns: &[Column], record: &Record) {
    for (builder, column) in object.field_builders_mut().iter_mut().zip(columns) {
        if let Some(id) = column.id {
            column.push(record.value(id), builder);
        } else {
            // The fields of a null object are null.
            let object = typed(builder);
            push_fields(object, &column.members, record);
            object.append(!record.is_null_object(column.null_mark));
        }
    }
}

fn typed<B: ArrayBuilder>(builder: &mut Box<dyn ArrayBuilder>) -> &mut B {
    let builder = builder.as_any_mut().downcast_mut();
    builder.expect("a column has the builder of its type")
}

/// Converts a time (RFC 3339) to seconds.
fn seconds(text: &str) -> i64 {
    let time: jiff::Timestamp = text.parse().expect("this crate wrote the time");
    time.as_second()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::SchemaLanguage;

    /// `urlspool generate schema --format arrow` prints the schema as Python source.
    #[test]
    fn the_schema_matches_the_printed_pyarrow_schema() {
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
