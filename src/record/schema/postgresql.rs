//! The table of the records for PostgreSQL: the whole record as jsonb, and columns for what is searched and grouped by.

use crate::record::fields::{Field, FieldType, RECORD_FIELDS};

/// Returns the statement that creates the table, and the command of psql that loads it as a comment.
///
/// A date is text: its cast to a time depends on settings, so that a generated column cannot have it.
pub(super) fn table() -> String {
    let columns: String = RECORD_FIELDS
        .iter()
        .filter(|field| field.is_indexed)
        .map(column)
        .collect();
    // A line of CSV whose delimiter and quote never occur in JSON is one field, taken as it is.
    format!(
        "CREATE TABLE urls (\n    record jsonb NOT NULL{columns}\n);\n\
         -- \\copy urls (record) FROM 'urls.jsonl' WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')\n"
    )
}

fn column(field: &Field) -> String {
    let pg_type = match field.json_type {
        FieldType::Integer => "bigint",
        FieldType::Number => "double precision",
        FieldType::Boolean => "boolean",
        _ => "text",
    };
    let value = match field.parent() {
        None => format!("record->>'{}'", field.key()),
        Some(parent) => format!("record->'{parent}'->>'{}'", field.key()),
    };
    format!(
        ",\n    \"{}\" {pg_type} GENERATED ALWAYS AS (({value})::{pg_type}) STORED",
        field.name.replace('.', "_")
    )
}
