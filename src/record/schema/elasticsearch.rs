//! The index template of the records for Elasticsearch.

use serde_json::{Map, Value, json};

use crate::record::fields::{Field, FieldType, FieldValues, RECORD_FIELDS, fields_of};

/// The version of the mapping, in its `_meta.urlspool`.
pub const ELASTICSEARCH_VERSION: u64 = 1;

/// The priority of the template: servers reserve those up to 200 for their own, and of two with one priority refuse the second.
const PRIORITY: u64 = 500;

/// Returns the body of `PUT _index_template/NAME` for the indexes of a pattern. Fields without a mapping are stored, but not
/// indexed.
#[must_use]
pub fn elasticsearch_template(pattern: &str) -> Value {
    json!({
        "index_patterns": [pattern],
        "priority": PRIORITY,
        "template": {"mappings": {
            "_meta": {"urlspool": ELASTICSEARCH_VERSION},
            "dynamic": false,
            "properties": properties(None),
        }},
    })
}

/// Returns the body of `PUT _index_template/urlspool`, with a line end.
pub(super) fn index_template() -> String {
    let template = elasticsearch_template("urlspool*");
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
        FieldType::Text if field.values == FieldValues::Instant => {
            // A date of a year that the server does not read is no reason to refuse the record.
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

/// A text that is compared as a whole. Lucene refuses terms of more than 32,766 bytes, and a character has up to four.
fn keyword() -> Value {
    json!({"type": "keyword", "ignore_above": 8191})
}
