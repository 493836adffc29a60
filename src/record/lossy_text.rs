//! Bytes as text for JSON.

use std::borrow::Cow;

/// Returns text for JSON: bytes that are not UTF-8 become U+FFFD.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
