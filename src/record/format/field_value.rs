//! The value of one field of a record, and its form in JSON and in tables.

use data_encoding::HEXLOWER;

use crate::record::json_text::{quoted, string, text};

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldValue<'r> {
    /// There is none.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number without a fraction.
    Integer(u64),
    /// A number with a fraction.
    Number(f64),
    /// A name that needs no escapes.
    Name(&'static str),
    /// A text, which may hold bytes that are not UTF-8.
    Text(&'r [u8]),
    /// A text that was made for the value.
    OwnedText(Vec<u8>),
    /// A hash, written with 32 hexadecimal digits.
    Digest(u128),
    /// A list of texts.
    Texts(Vec<&'r [u8]>),
    /// A list, as JSON.
    Json(Vec<u8>),
    /// The number of occurrences, which is known when the message ends.
    Count,
}

impl FieldValue<'_> {
    /// Appends the value as JSON.
    pub(super) fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            FieldValue::Null | FieldValue::Count => out.extend_from_slice(b"null"),
            FieldValue::Name(name) => quoted(name.as_bytes(), out),
            FieldValue::Text(bytes) => string(bytes, false, out),
            FieldValue::OwnedText(bytes) => string(bytes, false, out),
            FieldValue::Digest(hash) => quoted(&digits(*hash), out),
            FieldValue::Texts(texts) => {
                out.push(b'[');
                for (index, text) in texts.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    string(text, false, out);
                }
                out.push(b']');
            }
            FieldValue::Boolean(_)
            | FieldValue::Integer(_)
            | FieldValue::Number(_)
            | FieldValue::Json(_) => self.write_plain(out),
        }
    }

    /// Appends the value as text: nothing for null, lists with a blank between their texts.
    pub(super) fn write_plain(&self, out: &mut Vec<u8>) {
        match self {
            FieldValue::Null | FieldValue::Count => {}
            FieldValue::Boolean(value) => append_json(value, out),
            FieldValue::Integer(value) => append_json(value, out),
            FieldValue::Number(value) => append_json(value, out),
            FieldValue::Name(name) => out.extend_from_slice(name.as_bytes()),
            FieldValue::Text(bytes) => out.extend_from_slice(text(bytes).as_bytes()),
            FieldValue::OwnedText(bytes) => out.extend_from_slice(text(bytes).as_bytes()),
            FieldValue::Digest(hash) => out.extend_from_slice(&digits(*hash)),
            FieldValue::Texts(texts) => {
                for (index, item) in texts.iter().enumerate() {
                    if index > 0 {
                        out.push(b' ');
                    }
                    out.extend_from_slice(text(item).as_bytes());
                }
            }
            FieldValue::Json(json) => out.extend_from_slice(json),
        }
    }

    /// Returns `true` if somebody else wrote the value, or a part of it.
    pub(super) fn is_text(&self) -> bool {
        matches!(
            self,
            FieldValue::Text(_) | FieldValue::OwnedText(_) | FieldValue::Texts(_)
        )
    }
}

fn digits(hash: u128) -> [u8; 32] {
    let mut digits = [0; 32];
    HEXLOWER.encode_mut(&hash.to_be_bytes(), &mut digits);
    digits
}

fn append_json(value: &impl serde::Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("numbers serialize, and a Vec takes all bytes");
}
