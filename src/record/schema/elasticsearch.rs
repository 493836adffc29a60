//! The index template of the records for Elasticsearch.

use serde_json::{Map, Value, json};

use crate::record::fields::{Field, FieldType, FieldValues, RECORD_FIELDS, fields_of};

/// Fields of people's words, which are searched by word too.
const PROSE: &[&str] = &[
    "anchor",
    "context.after",
    "context.before",
    "message.from",
    "message.subject",
];

/// Returns the body of `PUT _index_template/urlspool`, with a line end.
pub(super) fn index_template() -> String {
    let template = json!({
        "index_patterns": ["urlspool*"],
        "template": {"mappings": {"properties": properties(None)}},
    });
    serde_json::to_string_pretty(&template).expect("a fixed value") + "\n"
}

/// The mappings of an object's fields. Recurses to the depth of the table.
fn properties(parent: Option<&str>) -> Map<String, Value> {
    fields_of(RECORD_FIELDS, parent)
        .map(|field| (field.key().to_owned(), mapping(field)))
        .collect()
}

fn mapping(field: &Field) -> Value {
    match field.json_type {
        FieldType::Text if field.values == FieldValues::Instant => json!({"type": "date"}),
        FieldType::Text if PROSE.contains(&field.name) => {
            json!({"type": "text", "fields": {"keyword": keyword()}})
        }
        FieldType::Text | FieldType::Texts => keyword(),
        FieldType::Integer => json!({"type": "long"}),
        FieldType::Number => json!({"type": "double"}),
        FieldType::Boolean => json!({"type": "boolean"}),
        FieldType::Object | FieldType::List => json!({"properties": properties(Some(field.name))}),
    }
}

/// A text that is compared as a whole. Lucene refuses terms of more than 32,766 bytes, and a character has up to four.
fn keyword() -> Value {
    json!({"type": "keyword", "ignore_above": 8191})
}
