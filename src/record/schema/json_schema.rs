//! The JSON Schema of the lines that a scan and the daemon write.

use serde_json::{Map, Value, json};

use crate::record::closed_sets::{ClosedSet, region_pattern};
use crate::record::fields::{
    EVENT_FIELDS, Field, FieldType, FieldValues, GONE_FIELDS, Nullable, RECORD_FIELDS,
    REJECT_FIELDS, fields_of,
};

/// Returns the JSON Schema (draft 2020-12) as text with a line end.
pub(super) fn schema() -> String {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "urlspool record",
        "description": "One line of urlspool's output. Additions are free: readers ignore fields they do not know.",
        "oneOf": [
            line(RECORD_FIELDS, "A URL."),
            line(REJECT_FIELDS, "A candidate that is no URL (`--rejects`)."),
            line(EVENT_FIELDS, "An event (`--events`)."),
            line(GONE_FIELDS, "A message that is gone from its mailbox (`watch` with `output.tombstones`)."),
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

/// The schema of an object of the table. Recurses to the depth of the table.
fn object(table: &[Field], parent: Option<&str>) -> Value {
    let properties: Map<String, Value> = fields_of(table, parent)
        .map(|field| (field.key().to_owned(), described(table, field)))
        .collect();
    let required: Vec<_> = fields_of(table, parent).map(Field::key).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// The schema of a field, with its description.
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
    if field.nullable == Nullable::Yes {
        schema["type"] = json!([schema["type"], "null"]);
        if let Some(Value::Array(names)) = schema.get_mut("enum") {
            names.push(Value::Null);
        }
    }
    schema["description"] = format!("{}.", field.description).into();
    schema
}

/// The schema of a text or number.
fn scalar(json_type: &str, field: &Field) -> Value {
    let mut schema = match field.values {
        FieldValues::Any if field.json_type == FieldType::Integer => json!({"minimum": 0}),
        FieldValues::Any => json!({}),
        FieldValues::Constant(text) => json!({"const": text}),
        FieldValues::Version => json!({"const": crate::record::SCHEMA}),
        FieldValues::Names(set) => json!({"enum": set.names()}),
        FieldValues::Region => json!({"pattern": region_pattern()}),
        FieldValues::Digest => json!({"pattern": "^[0-9a-f]{32}$"}),
        FieldValues::Instant => json!({"format": "date-time"}),
        FieldValues::Base64 => json!({"contentEncoding": "base64"}),
        FieldValues::Unit => json!({"minimum": 0, "maximum": 1}),
    };
    schema["type"] = json_type.into();
    schema
}

/// The schema of the counts by name in a summary.
fn summary() -> Value {
    let counts = |set: ClosedSet| {
        json!({
            "type": "object",
            "propertyNames": {"enum": set.names()},
            "additionalProperties": {"type": "integer", "minimum": 0},
        })
    };
    let skipped = counts(ClosedSet::SkipReasons);
    let failed = counts(ClosedSet::EventKinds);
    json!({
        "description": "Counts by name in the object that `--summary` writes; all other members are numbers.",
        "type": "object",
        "properties": {
            "files_skipped": skipped,
            "files_failed": failed,
            "members_skipped": skipped,
            "members_failed": failed,
            "messages_skipped": skipped,
            "rejects": counts(ClosedSet::RejectReasons),
            "events": failed,
            "wrappers": counts(ClosedSet::Wrappers),
            "repairs": counts(ClosedSet::Repairs),
            "verdicts": counts(ClosedSet::Grammars),
        },
    })
}
