//! Reasons why a line of JSON is not loaded: it is no line of this program, or a record that lacks what a loader needs.

use std::error::Error;
use std::fmt;

use super::SCHEMA;
use crate::diagnostic::shortened;
use crate::limits::MESSAGE_VALUE_CHARS;

/// The reason why a line cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// It is no line that urlspool wrote. The others can be loaded.
    NoRecord(LineFault),
    /// It is a record of a URL, but of another version, or without a field that is needed. Others will be like it.
    Unsuitable(UnsuitableRecord),
}

/// The fault of a line that urlspool did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFault {
    /// It is not UTF-8.
    NotUtf8 {
        /// The number of the first wrong byte, from 1.
        byte: usize,
    },
    /// It is not JSON.
    NotJson {
        /// The number of the byte at which it is not, from 1.
        byte: usize,
    },
    /// It is JSON, but no object.
    NotObject,
    /// It has no field `type`.
    NoType,
    /// It is longer than a line may be.
    TooLong {
        /// Maximum length in bytes.
        max_bytes: usize,
    },
    /// A message that is gone lacks this field.
    Missing(&'static str),
    /// It has a field of this name twice.
    Duplicate(String),
    /// A field has a value that it cannot have.
    Invalid {
        /// The name of the field, as `source.path`.
        field: &'static str,
        /// The values that it can have.
        expected: ExpectedValue,
    },
}

/// The values that a field can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedValue {
    /// A text.
    Text,
    /// A text without a NUL, which `PostgreSQL` refuses.
    TextWithoutNul,
    /// A text that is not empty.
    NonEmptyText,
    /// A text of 1 to [`ExpectedValue::DIGEST_BYTES`] bytes.
    Digest,
    /// The text of bytes in base64.
    Base64,
    /// A list of texts without a NUL.
    Texts,
    /// A list of digests, at least one.
    Digests,
    /// A number without a fraction that is not negative.
    Count,
    /// A number from 0 to 65535.
    Port,
    /// A number from 0 to 1.
    Probability,
    /// True or false.
    Boolean,
    /// An object.
    Object,
    /// A list.
    List,
}

impl ExpectedValue {
    /// Maximum length of a digest, in bytes: no index of a database takes long texts. Ours have 32.
    pub const DIGEST_BYTES: usize = 128;
}

/// The reason why a record of a URL cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsuitableRecord {
    /// It is of this other version.
    Schema(u64),
    /// It lacks this field.
    Missing(&'static str),
}

impl fmt::Display for LineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::NoRecord(fault) => write!(out, "no record: {fault}"),
            LineError::Unsuitable(reason) => {
                write!(out, "a record that cannot be loaded: {reason}")
            }
        }
    }
}

impl Error for LineError {}

impl fmt::Display for LineFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineFault::NotUtf8 { byte } => write!(out, "byte {byte} is not UTF-8"),
            LineFault::NotJson { byte } => write!(
                out,
                "byte {byte} is not JSON; records are lines as `urlspool scan` writes them"
            ),
            LineFault::NotObject => out.write_str("it is no JSON object"),
            LineFault::NoType => out.write_str("the field `type` is missing"),
            LineFault::TooLong { max_bytes } => write!(out, "it is longer than {max_bytes} bytes"),
            LineFault::Missing(field) => write!(out, "the field `{field}` is missing"),
            LineFault::Duplicate(field) => write!(
                out,
                "the field `{}` stands in it twice",
                shortened(field, MESSAGE_VALUE_CHARS)
            ),
            LineFault::Invalid { field, expected } => {
                write!(out, "the field `{field}` must be {expected}")
            }
        }
    }
}

impl fmt::Display for ExpectedValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ExpectedValue::Text => "a text",
            ExpectedValue::TextWithoutNul => "a text without a NUL",
            ExpectedValue::NonEmptyText => "a text that is not empty",
            ExpectedValue::Digest => {
                let max = ExpectedValue::DIGEST_BYTES;
                return write!(out, "a text of 1 to {max} bytes");
            }
            ExpectedValue::Base64 => "a text in base64",
            ExpectedValue::Texts => "a list of texts without a NUL",
            ExpectedValue::Digests => {
                let max = ExpectedValue::DIGEST_BYTES;
                return write!(
                    out,
                    "a list of at least one text, each of 1 to {max} bytes without a NUL"
                );
            }
            ExpectedValue::Count => "a whole number that is not negative",
            ExpectedValue::Port => "a whole number from 0 to 65535",
            ExpectedValue::Probability => "a number from 0 to 1",
            ExpectedValue::Boolean => "true or false",
            ExpectedValue::Object => "an object",
            ExpectedValue::List => "a list",
        })
    }
}

impl fmt::Display for UnsuitableRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnsuitableRecord::Schema(newer) if u64::from(SCHEMA) < *newer => write!(
                out,
                "its schema is {newer}, and this program knows schema {SCHEMA}; load it with a newer urlspool, or scan again with this one"
            ),
            UnsuitableRecord::Schema(older) => write!(
                out,
                "its schema is {older}, and this program knows schema {SCHEMA}; scan again with this urlspool"
            ),
            UnsuitableRecord::Missing(field) => write!(
                out,
                "the field `{field}` is missing; whole records are needed, as `urlspool scan` writes them without --fields and --slim"
            ),
        }
    }
}
