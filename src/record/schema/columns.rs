//! The columns of the records for pyarrow, DuckDB and PostgreSQL.

use crate::record::fields::{Field, FieldType, FieldValues, Nullable, RECORD_FIELDS, fields_of};

/// Returns a Python expression that makes the schema, given `import pyarrow as pa`.
pub(super) fn pyarrow_schema() -> String {
    let mut out = "pa.schema([\n".to_owned();
    for field in fields_of(RECORD_FIELDS, None) {
        out += &format!("    (\"{}\", {}),\n", field.key(), pyarrow_type(field));
    }
    out + "])\n"
}

/// The type of a field. Recurses to the depth of the table.
fn pyarrow_type(field: &Field) -> String {
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
        FieldType::Object => pyarrow_struct(field),
        FieldType::List => format!("pa.list_({})", pyarrow_struct(field)),
    }
}

fn pyarrow_struct(parent: &Field) -> String {
    let fields: Vec<_> = fields_of(RECORD_FIELDS, Some(parent.name))
        .map(|field| format!("(\"{}\", {})", field.key(), pyarrow_type(field)))
        .collect();
    format!("pa.struct([{}])", fields.join(", "))
}

/// Returns the statement that creates the table, and one that loads it as a comment.
pub(super) fn duckdb_table() -> String {
    let columns: Vec<_> = fields_of(RECORD_FIELDS, None)
        .map(|field| {
            let not_null = match field.nullable {
                Nullable::Yes => "",
                Nullable::No => " NOT NULL",
            };
            format!("    \"{}\" {}{not_null}", field.key(), duckdb_type(field))
        })
        .collect();
    format!(
        "CREATE TABLE urls (\n{}\n);\n-- COPY urls FROM 'urls.jsonl' (FORMAT json, ARRAY false);\n",
        columns.join(",\n")
    )
}

/// The type of a field. Recurses to the depth of the table.
fn duckdb_type(field: &Field) -> String {
    match field.json_type {
        FieldType::Text if field.values == FieldValues::Instant => "TIMESTAMPTZ".to_owned(),
        FieldType::Text => "VARCHAR".to_owned(),
        FieldType::Integer => "BIGINT".to_owned(),
        FieldType::Number => "DOUBLE".to_owned(),
        FieldType::Boolean => "BOOLEAN".to_owned(),
        FieldType::Texts => "VARCHAR[]".to_owned(),
        FieldType::Object => duckdb_struct(field),
        FieldType::List => duckdb_struct(field) + "[]",
    }
}

fn duckdb_struct(parent: &Field) -> String {
    let fields: Vec<_> = fields_of(RECORD_FIELDS, Some(parent.name))
        .map(|field| format!("\"{}\" {}", field.key(), duckdb_type(field)))
        .collect();
    format!("STRUCT({})", fields.join(", "))
}

/// Returns the statement that creates the table, and the command of psql that loads it as a comment.
///
/// A date is text: its cast to a time depends on settings, so that a generated column cannot have it.
pub(super) fn postgresql_table() -> String {
    let columns: String = RECORD_FIELDS
        .iter()
        .filter(|field| field.is_indexed)
        .map(postgresql_column)
        .collect();
    // A line of CSV whose delimiter and quote never occur in JSON is one field, taken as it is.
    format!(
        "CREATE TABLE urls (\n    record jsonb NOT NULL{columns}\n);\n\
         -- \\copy urls (record) FROM 'urls.jsonl' WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')\n"
    )
}

fn postgresql_column(field: &Field) -> String {
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
