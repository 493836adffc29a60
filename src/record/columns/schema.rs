//! The Arrow schema of records, made from the table of fields.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use crate::record::FieldId;
use crate::record::fields::{self, FieldType, FieldValues, RECORD_FIELDS, fields_of};

/// The time zone of all times.
pub(super) const TIME_ZONE: &str = "UTC";

/// Type of a column, as far as columns are filled in different ways.
pub(super) enum ColumnType<'f> {
    Text,
    /// A time in UTC, in seconds: they reach over all years that a date can have.
    Instant,
    Integer,
    Number,
    Boolean,
    TextList,
    Object(&'f Fields),
    ObjectList(&'f Fields),
}

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

/// Returns the type of a field of [`arrow_schema`].
pub(super) fn column_type(field: &Field) -> ColumnType<'_> {
    match field.data_type() {
        DataType::Timestamp(..) => ColumnType::Instant,
        DataType::Int64 => ColumnType::Integer,
        DataType::Float64 => ColumnType::Number,
        DataType::Boolean => ColumnType::Boolean,
        DataType::Struct(fields) => ColumnType::Object(fields),
        DataType::List(item) => match item.data_type() {
            DataType::Struct(fields) => ColumnType::ObjectList(fields),
            _ => ColumnType::TextList,
        },
        _ => ColumnType::Text,
    }
}

/// Returns the field of the items of a list; of any other field, the field itself.
pub(super) fn item(field: &FieldRef) -> FieldRef {
    match field.data_type() {
        DataType::List(item) => Arc::clone(item),
        _ => Arc::clone(field),
    }
}
