//! The decoding steps one by one, for the targets in `fuzz/`. Only with the feature `internals`; no
//! part of the library.

use super::{ConvertedText, MappedBytes, charset, header, seven_bit, transfer};
use crate::span::ByteMap;

/// Decoded bytes, and the map back to the encoded ones.
#[derive(Debug)]
pub struct DecodedStep {
    /// The decoded bytes.
    pub bytes: Vec<u8>,
    /// From offsets in them to offsets in the encoded bytes.
    pub map: ByteMap,
}

impl From<MappedBytes> for DecodedStep {
    fn from(MappedBytes { bytes, map }: MappedBytes) -> DecodedStep {
        DecodedStep { bytes, map }
    }
}

/// Decodes quoted-printable.
#[must_use]
pub fn quoted_printable(raw: &[u8]) -> DecodedStep {
    transfer::quoted_printable(raw).into()
}

/// Decodes base64.
#[must_use]
pub fn base64(raw: &[u8]) -> DecodedStep {
    transfer::base64(raw).into()
}

/// Unfolds the lines of calendars and vCards.
#[must_use]
pub fn unfold(raw: &[u8]) -> DecodedStep {
    transfer::unfold(raw).into()
}

/// Removes dot-stuffing; `None` if there is none.
#[must_use]
pub fn unstuff(raw: &[u8]) -> Option<DecodedStep> {
    transfer::unstuff(raw).map(DecodedStep::from)
}

/// Undoes `format=flowed` without `DelSp`; `None` if there is nothing to undo.
#[must_use]
pub fn unflow(text: &[u8]) -> Option<DecodedStep> {
    transfer::unflow(text, transfer::DelSp::No).map(DecodedStep::from)
}

/// Decodes UTF-7.
#[must_use]
pub fn utf7(raw: &[u8]) -> DecodedStep {
    seven_bit::decode_utf7(raw).into()
}

/// Decodes the encoded words of a header field.
#[must_use]
pub fn encoded_words(raw: &[u8]) -> DecodedStep {
    header::decode_words_with_map(raw).into()
}

/// Converts a text to UTF-8.
#[must_use]
pub fn to_utf8(raw: &[u8], label: Option<&str>) -> DecodedStep {
    let ConvertedText { bytes, map } = charset::decode(raw, label);
    DecodedStep {
        bytes: bytes.into_owned(),
        map: map.unwrap_or_else(|| ByteMap::same(0)),
    }
}
