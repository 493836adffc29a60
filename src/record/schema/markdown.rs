//! The reference of the record as Markdown: a table of its fields, and the closed sets.

use crate::record::closed_sets::ClosedSet;
use crate::record::fields::{Field, FieldType, FieldValues, Nullable, RECORD_FIELDS};

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
    for set in ClosedSet::ALL {
        let fields: Vec<_> = RECORD_FIELDS
            .iter()
            .filter(|field| field.values == FieldValues::Names(set))
            .map(|field| format!("`{}`", field.name))
            .collect();
        if !fields.is_empty() {
            let names: Vec<_> = set.names().iter().map(|name| format!("`{name}`")).collect();
            out += &format!("- {}: {}\n", fields.join(", "), names.join(", "));
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
    match field.nullable {
        Nullable::Yes => format!("{name} or null"),
        Nullable::No => name.to_owned(),
    }
}
