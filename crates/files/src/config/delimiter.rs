//! The delimiter between the cells of csv: one character, or `tab`.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// Parses a delimiter: punctuation that occurs in no column name, or a tab.
fn parse(text: &str) -> Option<u8> {
    match text.as_bytes() {
        b"tab" | b"\\t" | b"\t" => Some(b'\t'),
        [sign] if sign.is_ascii_punctuation() && !b"\"'`.-_\\".contains(sign) => Some(*sign),
        _ => None,
    }
}

/// Writes a delimiter in the form that [`deserialize`] reads.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a field by reference"
)]
pub(super) fn serialize<S: Serializer>(sign: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    match sign {
        b'\t' => serializer.serialize_str("tab"),
        sign => serializer.serialize_char(char::from(*sign)),
    }
}

/// Reads a delimiter.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| {
        D::Error::custom(format!(
            "{text:?} is not a delimiter; write one character, such as `;`, `|` or `:`, or `tab`; \
             quotes, `.`, `-`, `_` and `\\` have other uses"
        ))
    })
}
