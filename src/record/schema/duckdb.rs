//! The table of the records for DuckDB.

use crate::record::fields::{Field, FieldType, FieldValues, Nullable, RECORD_FIELDS, fields_of};

/// Returns the statement that creates the table, and one that loads it as a comment.
pub(super) fn table() -> String {
    let columns: Vec<_> = fields_of(RECORD_FIELDS, None)
        .map(|field| {
            let not_null = match field.nullable {
                Nullable::Yes => "",
                Nullable::No => " NOT NULL",
            };
            format!("    \"{}\" {}{not_null}", field.key(), type_of(field))
        })
        .collect();
    format!(
        "CREATE TABLE urls (\n{}\n);\n-- COPY urls FROM 'urls.jsonl' (FORMAT json, ARRAY false);\n",
        columns.join(",\n")
    )
}

/// The type of a field. Recurses to the depth of the table.
fn type_of(field: &Field) -> String {
    match field.json_type {
        FieldType::Text if field.values == FieldValues::Instant => "TIMESTAMPTZ".to_owned(),
        FieldType::Text => "VARCHAR".to_owned(),
        FieldType::Integer => "BIGINT".to_owned(),
        FieldType::Number => "DOUBLE".to_owned(),
        FieldType::Boolean => "BOOLEAN".to_owned(),
        FieldType::Texts => "VARCHAR[]".to_owned(),
        FieldType::Object => structure(field),
        FieldType::List => structure(field) + "[]",
    }
}

fn structure(parent: &Field) -> String {
    let fields: Vec<_> = fields_of(RECORD_FIELDS, Some(parent.name))
        .map(|field| format!("\"{}\" {}", field.key(), type_of(field)))
        .collect();
    format!("STRUCT({})", fields.join(", "))
}
