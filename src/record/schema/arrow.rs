//! The schema of the records for pyarrow.

use crate::record::fields::{Field, FieldType, FieldValues, RECORD_FIELDS, fields_of};

/// Returns a Python expression that makes the schema, given `import pyarrow as pa`.
pub(super) fn schema() -> String {
    let mut out = "pa.schema([\n".to_owned();
    for field in fields_of(RECORD_FIELDS, None) {
        out += &format!("    (\"{}\", {}),\n", field.key(), type_of(field));
    }
    out + "])\n"
}

/// The type of a field. Recurses to the depth of the table.
fn type_of(field: &Field) -> String {
    match field.json_type {
        // Seconds reach over all years that a date can have.
        FieldType::Text if field.values == FieldValues::Instant => {
            "pa.timestamp(\"s\", tz=\"UTC\")".to_owned()
        }
        FieldType::Text => "pa.string()".to_owned(),
        FieldType::Integer => "pa.int64()".to_owned(),
        FieldType::Number => "pa.float64()".to_owned(),
        FieldType::Boolean => "pa.bool_()".to_owned(),
        FieldType::Texts => "pa.list_(pa.string())".to_owned(),
        FieldType::Object => structure(field),
        FieldType::List => format!("pa.list_({})", structure(field)),
    }
}

fn structure(parent: &Field) -> String {
    let fields: Vec<_> = fields_of(RECORD_FIELDS, Some(parent.name))
        .map(|field| format!("(\"{}\", {})", field.key(), type_of(field)))
        .collect();
    format!("pa.struct([{}])", fields.join(", "))
}
