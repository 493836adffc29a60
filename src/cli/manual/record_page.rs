//! urlspool-record(5), from the schema.

use serde_json::Value;

use super::roff::RoffPage;
use crate::record::{self, SchemaLanguage};

/// The page of the records.
pub(super) fn record_page() -> String {
    let schema: Value = serde_json::from_str(&record::schema(SchemaLanguage::JsonSchema))
        .expect("the schema is JSON");
    let mut page = RoffPage::of_format("urlspool-record", "the lines that urlspool writes");
    page.section("description");
    page.paragraph(
        "`urlspool scan` and `urlspool watch` write one JSON object per line. The field `type` says what a line is. \
         `urlspool schema` prints the JSON Schema from which this page is made.",
    );
    for line in list(&schema["oneOf"]) {
        let name = line["properties"]["type"]["const"].as_str();
        page.section(&format!("type {}", name.unwrap_or_default()));
        if let Some(text) = line["description"].as_str() {
            page.paragraph(text);
        }
        for field in fields(line) {
            page.term(&field.name, &field.values, &field.description);
        }
    }
    page.section("see also");
    page.paragraph("urlspool(1), urlspool-scan(1), urlspool-schema(1)");
    page.finish()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One field of a record.
struct ManualField {
    /// Its name, after those of the fields that contain it.
    name: String,
    /// Its type.
    values: String,
    /// Its meaning, and its values if they are a closed set.
    description: String,
}

/// A field whose own fields are still to be described.
struct PendingField<'s> {
    name: String,
    schema: &'s Value,
}

/// The fields of an object, each before those in it.
fn fields(object: &Value) -> Vec<ManualField> {
    let mut found = Vec::new();
    let mut pending = children("", object);
    pending.reverse();
    while let Some(PendingField { name, schema }) = pending.pop() {
        found.push(ManualField {
            values: types(schema),
            description: description(schema),
            name: name.clone(),
        });
        let mut inner = children(&format!("{name}."), schema);
        inner.extend(children(&format!("{name}[]."), &schema["items"]));
        pending.extend(inner.into_iter().rev());
    }
    found
}

/// The fields of an object in the order of the line, which `required` has: an object of `serde_json` is sorted by name.
fn children<'s>(prefix: &str, schema: &'s Value) -> Vec<PendingField<'s>> {
    let names = list(&schema["required"]).iter().filter_map(Value::as_str);
    names
        .map(|name| PendingField {
            name: format!("{prefix}{name}"),
            schema: &schema["properties"][name],
        })
        .collect()
}

/// The names of the types of a value.
fn types(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        several => list(several).iter().filter_map(Value::as_str).collect(),
    };
    names.join(" or ")
}

/// The meaning of a value, and the names that it can have.
fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let names = [schema, &schema["items"]]
        .into_iter()
        .flat_map(|schema| list(&schema["enum"]))
        .filter_map(Value::as_str)
        .collect::<Vec<_>>();
    match (text, names.as_slice()) {
        (text, []) => text.to_owned(),
        ("", names) => format!("One of {}.", names.join(", ")),
        (text, names) => format!("{text} One of {}.", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_schema_is_on_the_page() {
        let schema: Value =
            serde_json::from_str(&record::schema(SchemaLanguage::JsonSchema)).unwrap();
        let page = record_page();
        for line in list(&schema["oneOf"]) {
            let fields = fields(line);
            assert!(2 < fields.len());
            for field in fields {
                assert!(
                    page.contains(&format!("\\fB{}\\fR", field.name)),
                    "{}",
                    field.name
                );
            }
        }
        assert!(page.contains("\\fBsource.path\\fR string"));
        let at = |name: &str| page.find(&format!("\\fB{name}\\fR ")).unwrap();
        assert!(at("url") < at("fragment") && at("fragment") < at("alternates"));
        assert!(at("source") < at("source.path") && at("source.end") < at("message"));
    }
}
