//! Generates the schemas of the output from the field table: JSON Schema, schemas for loaders, and
//! the tables in the documentation.

use serde_json::{Map, Value, json};

use super::fields::{
    EVENT_FIELDS, Field, FieldType, FieldValues, GONE_FIELDS, RECORD_FIELDS, REJECT_FIELDS,
    SOURCE_FIELDS, fields_of, region_pattern,
};
use urlspool_text::diagnostic::{DiagnosticKind, SkipReason};
use urlspool_text::parse::{Grammar, RejectReasonKind, Wrapper};
use urlspool_text::repair::Repair;

/// Schema languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaLanguage {
    /// JSON Schema, draft 2020-12, for records, rejects, events and removed messages.
    #[default]
    JsonSchema,
    /// A Python expression for a pyarrow schema.
    Arrow,
    /// A DuckDB table.
    Duckdb,
    /// A PostgreSQL table.
    Postgresql,
    /// An Elasticsearch index template.
    Elasticsearch,
}

/// Returns the schema of the output as text with a line end.
#[must_use]
pub fn schema(language: SchemaLanguage) -> String {
    match language {
        SchemaLanguage::JsonSchema => json_schema(),
        SchemaLanguage::Arrow => pyarrow_schema(),
        SchemaLanguage::Duckdb => duckdb_table(),
        SchemaLanguage::Postgresql => postgresql_table(),
        SchemaLanguage::Elasticsearch => index_template(),
    }
}

/// Returns a Python expression for the schema, given `import pyarrow as pa`.
fn pyarrow_schema() -> String {
    let mut out = "pa.schema([\n".to_owned();
    for field in fields_of(RECORD_FIELDS, None) {
        out += &format!("    (\"{}\", {}),\n", field.key(), pyarrow_type(field));
    }
    out + "])\n"
}

/// Returns the type of a field. Recurses to the depth of the table.
fn pyarrow_type(field: &Field) -> String {
    match field.json_type {
        // Seconds cover all years that a date can have.
        FieldType::Text if matches!(field.values, FieldValues::Instant) => {
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

/// Returns the statement that creates the table. A comment has the statement that loads it.
fn duckdb_table() -> String {
    let columns: Vec<_> = fields_of(RECORD_FIELDS, None)
        .map(|field| {
            let not_null = if field.is_nullable { "" } else { " NOT NULL" };
            format!("    \"{}\" {}{not_null}", field.key(), duckdb_type(field))
        })
        .collect();
    format!(
        "CREATE TABLE urls (\n{}\n);\n-- COPY urls FROM 'urls.jsonl' (FORMAT json, ARRAY false);\n",
        columns.join(",\n")
    )
}

/// Returns the type of a field. Recurses to the depth of the table.
fn duckdb_type(field: &Field) -> String {
    match field.json_type {
        FieldType::Text if matches!(field.values, FieldValues::Instant) => "TIMESTAMPTZ".to_owned(),
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

/// Returns the statement that creates the table. A comment has the psql command that loads it.
///
/// Dates are stored as text. Casting them to a time depends on settings, which generated columns do
/// not allow.
fn postgresql_table() -> String {
    let columns: String = RECORD_FIELDS
        .iter()
        .filter(|field| field.is_indexed)
        .map(postgresql_column)
        .collect();
    // The delimiter and quote never occur in JSON, so CSV reads a line as one unchanged field.
    format!(
        "CREATE TABLE urls (\n    record jsonb NOT NULL{columns}\n);\n\
         -- \\copy urls (record) FROM 'urls.jsonl' WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE \
         E'\\x02')\n"
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

/// Version of the mapping, stored in `_meta.urlspool`.
pub const ELASTICSEARCH_VERSION: u64 = 1;

/// Priority of the template. Servers reserve priorities up to 200 for their own templates, and
/// reject a second template with the same priority.
const PRIORITY: u64 = 500;

/// Returns the mapping of an index. Fields without a mapping are stored but not indexed.
#[must_use]
pub fn elasticsearch_mapping() -> Value {
    let mut mapping = json!({
        "_meta": {"urlspool": ELASTICSEARCH_VERSION},
        "dynamic": false,
        "properties": properties(None),
    });
    // A loader computes these: the key without tracking parameters, the message's date if
    // plausible, the text by which matches are sorted, and the words.
    let properties = &mut mapping["properties"];
    properties["clean_key"] = keyword();
    properties["cited"] = keyword();
    properties["sort_key"] = json!({"type": "keyword"});
    properties["words"] = json!({"type": "text", "analyzer": "whitespace", "norms": false});
    mapping
}

/// Returns the body of `PUT _index_template/urlspool`, with a line end.
fn index_template() -> String {
    let template = json!({
        "index_patterns": ["urlspool*"],
        "priority": PRIORITY,
        "template": {"mappings": elasticsearch_mapping()},
    });
    serde_json::to_string_pretty(&template).expect("a fixed value") + "\n"
}

/// Returns the mappings of an object's fields. Recurses to the depth of the table.
fn properties(parent: Option<&str>) -> Map<String, Value> {
    fields_of(RECORD_FIELDS, parent)
        .map(|field| (field.key().to_owned(), mapping(field)))
        .collect()
}

fn mapping(field: &Field) -> Value {
    match field.json_type {
        FieldType::Text if matches!(field.values, FieldValues::Instant) => {
            // A year that the server cannot parse must not reject the whole record.
            json!({"type": "date", "ignore_malformed": true})
        }
        FieldType::Text if field.is_prose => {
            json!({"type": "text", "fields": {"keyword": keyword()}})
        }
        FieldType::Text | FieldType::Texts => keyword(),
        FieldType::Integer => json!({"type": "long"}),
        FieldType::Number => json!({"type": "double"}),
        FieldType::Boolean => json!({"type": "boolean"}),
        FieldType::Object | FieldType::List => json!({"properties": properties(Some(field.name))}),
    }
}

/// Returns the mapping of a text that is compared as a whole. Lucene rejects terms of more than
/// 32,766 bytes, and a character has up to four.
fn keyword() -> Value {
    json!({"type": "keyword", "ignore_above": 8191})
}

/// Returns the JSON Schema (draft 2020-12) as text with a line end.
fn json_schema() -> String {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "urlspool record",
        "description": "One line of output. Additions are free: readers ignore unknown fields.",
        "oneOf": [
            line(RECORD_FIELDS, "A URL."),
            line(&[REJECT_FIELDS, SOURCE_FIELDS].concat(), "A rejected candidate (`--rejects`)."),
            line(&[EVENT_FIELDS, SOURCE_FIELDS].concat(), "An event (`--events`)."),
            line(GONE_FIELDS, "A message that is gone from its mailbox (`output.tombstones`)."),
        ],
        "$defs": {"summary": summary()},
    });
    serde_json::to_string_pretty(&schema).expect("a fixed value") + "\n"
}

fn line(table: &[Field], description: &str) -> Value {
    let mut schema = object(table, None);
    schema["description"] = description.into();
    schema
}

/// Returns the schema of an object of the table. Recurses to the depth of the table.
fn object(table: &[Field], parent: Option<&str>) -> Value {
    let properties: Map<String, Value> = fields_of(table, parent)
        .map(|field| (field.key().to_owned(), described(table, field)))
        .collect();
    let required: Vec<_> = fields_of(table, parent).map(Field::key).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// Returns the schema of a field, with its description.
fn described(table: &[Field], field: &Field) -> Value {
    let mut schema = match field.json_type {
        FieldType::Object => object(table, Some(field.name)),
        FieldType::List => json!({"type": "array", "items": object(table, Some(field.name))}),
        FieldType::Texts => json!({"type": "array", "items": scalar("string", field)}),
        FieldType::Text => scalar("string", field),
        FieldType::Integer => scalar("integer", field),
        FieldType::Number => scalar("number", field),
        FieldType::Boolean => scalar("boolean", field),
    };
    if field.is_nullable {
        schema["type"] = json!([schema["type"], "null"]);
        if let Some(Value::Array(names)) = schema.get_mut("enum") {
            names.push(Value::Null);
        }
    }
    schema["description"] = format!("{}.", field.description).into();
    schema
}

/// Returns the schema of a text or number.
fn scalar(json_type: &str, field: &Field) -> Value {
    let mut schema = match field.values {
        FieldValues::Any if field.json_type == FieldType::Integer => json!({"minimum": 0}),
        FieldValues::Any => json!({}),
        FieldValues::Constant(text) => json!({"const": text}),
        FieldValues::Version => json!({"const": crate::record::SCHEMA}),
        FieldValues::Names(names) => json!({"enum": names()}),
        FieldValues::Region => json!({"pattern": region_pattern()}),
        FieldValues::Digest => json!({"pattern": "^[0-9a-f]{32}$"}),
        FieldValues::Instant => json!({"format": "date-time"}),
        FieldValues::Base64 => json!({"contentEncoding": "base64"}),
        FieldValues::Unit => json!({"minimum": 0, "maximum": 1}),
    };
    schema["type"] = json_type.into();
    schema
}

/// Returns the schema of counts keyed by the names of a set.
fn counts(names: &[&str]) -> Value {
    json!({
        "type": "object",
        "propertyNames": {"enum": names},
        "additionalProperties": {"type": "integer", "minimum": 0},
    })
}

/// Returns the schema of the counts in a summary.
fn summary() -> Value {
    let (skipped, failed) = (counts(&SkipReason::NAMES), counts(&DiagnosticKind::NAMES));
    json!({
        "description": "Counts by name in `--summary`; all other members are numbers.",
        "type": "object",
        "properties": {
            "files_skipped": skipped,
            "files_failed": failed,
            "members_skipped": skipped,
            "members_failed": failed,
            "messages_skipped": skipped,
            "rejects": counts(&RejectReasonKind::NAMES),
            "events": failed,
            "wrappers": counts(&Wrapper::NAMES),
            "repairs": counts(&Repair::NAMES),
            "verdicts": counts(&Grammar::NAMES),
        },
    })
}

/// Returns the table of the record's fields and the names of their closed sets, as Markdown.
#[must_use]
pub fn record_reference() -> String {
    let mut out = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for field in RECORD_FIELDS {
        out += &format!(
            "| `{}` | {} | {} |\n",
            field.name,
            type_name(field),
            field.description
        );
    }
    out += "\nNames that occur:\n\n";
    for field in RECORD_FIELDS {
        if let FieldValues::Names(names) = field.values {
            out += &format!("- `{}`: `{}`\n", field.name, names().join("`, `"));
        }
    }
    out
}

fn type_name(field: &Field) -> String {
    let name = match field.json_type {
        FieldType::Text => "text",
        FieldType::Integer => "integer",
        FieldType::Number => "number",
        FieldType::Boolean => "boolean",
        FieldType::Texts => "list of texts",
        FieldType::Object => "object",
        FieldType::List => "list of objects",
    };
    let or_null = if field.is_nullable { " or null" } else { "" };
    format!("{name}{or_null}")
}
