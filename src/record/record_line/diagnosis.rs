//! Names the field for which a line of JSON was refused, by the table of the fields.
//!
//! It reads the line again as a tree of values, only for lines that were refused.

use serde_json::Value;

use crate::record::fields::{Field, FieldType, FieldValues, Nullable};
use crate::record::line_error::{ExpectedValue, LineError, LineFault};

/// The reason why `line` was refused with `error`, as a line that has these fields.
pub(super) fn diagnose<'t>(
    line: &str,
    fields: impl IntoIterator<Item = &'t Field, IntoIter: Clone>,
    error: &serde_json::Error,
) -> LineFault {
    let not_json = LineFault::NotJson {
        byte: error.column(),
    };
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return not_json;
    };
    if !value.is_object() {
        return LineFault::NotObject;
    }
    let loaded = fields.into_iter().filter(|field| field.is_loaded);
    if let Some(field) = loaded.clone().find(|field| is_invalid(&value, field)) {
        let (field, expected) = (field.name, expected(field));
        return LineFault::Invalid { field, expected };
    }
    let missing = loaded.clone().find(|field| is_missing(&value, field));
    if let Some(field) = missing {
        return LineFault::Missing(field.name);
    }
    duplicate(error).map_or(not_json, LineFault::Duplicate)
}

/// The error of a field whose value is not as expected.
pub(super) fn invalid(field: &'static str, expected: ExpectedValue) -> LineError {
    LineError::NoRecord(LineFault::Invalid { field, expected })
}

/// The value of a field; `None` if the field or the object that holds it is missing.
fn value_of<'v>(line: &'v Value, field: &Field) -> Option<&'v Value> {
    field
        .name
        .split('.')
        .try_fold(line, |value, key| value.get(key))
}

fn is_missing(line: &Value, field: &Field) -> bool {
    field.nullable == Nullable::No && value_of(line, field).is_none()
}

fn is_invalid(line: &Value, field: &Field) -> bool {
    match value_of(line, field) {
        None => false,
        Some(Value::Null) => field.nullable == Nullable::No,
        Some(value) => !is_expected(value, expected(field)),
    }
}

/// The values that a field can have, as far as its type goes.
fn expected(field: &Field) -> ExpectedValue {
    match field.json_type {
        FieldType::Text => ExpectedValue::Text,
        FieldType::Integer if field.name == "port" => ExpectedValue::Port,
        FieldType::Integer => ExpectedValue::Count,
        FieldType::Number => ExpectedValue::Probability,
        FieldType::Boolean => ExpectedValue::Boolean,
        FieldType::Texts if field.values == FieldValues::Digest => ExpectedValue::Digests,
        FieldType::Texts => ExpectedValue::Texts,
        FieldType::Object => ExpectedValue::Object,
        FieldType::List => ExpectedValue::List,
    }
}

fn is_expected(value: &Value, expected: ExpectedValue) -> bool {
    match expected {
        ExpectedValue::Count => value.as_i64().is_some_and(|number| 0 <= number),
        ExpectedValue::Port => value
            .as_u64()
            .is_some_and(|number| u16::try_from(number).is_ok()),
        ExpectedValue::Probability => value
            .as_f64()
            .is_some_and(|number| (0.0..=1.0).contains(&number)),
        ExpectedValue::Boolean => value.is_boolean(),
        ExpectedValue::Object => value.is_object(),
        ExpectedValue::List => value.is_array(),
        ExpectedValue::Texts | ExpectedValue::Digests => value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string)),
        _ => value.is_string(),
    }
}

/// The name of a field that stands twice in an object. The library has no kind of its own for it.
fn duplicate(error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    let name = text.strip_prefix("duplicate field `")?;
    name.split_once('`').map(|(name, _)| name.to_owned())
}
