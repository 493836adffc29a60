//! A text on its way through the steps of decoding.

use std::borrow::Cow;

use super::{OffsetMap, charset};
use crate::span::ByteMap;

/// A text on its way through the steps of decoding.
pub(super) struct Steps<'r> {
    pub(super) bytes: Cow<'r, [u8]>,
    pub(super) offset_map: OffsetMap,
}

impl Steps<'_> {
    pub(super) fn step(&mut self, decode: impl FnOnce(&[u8]) -> (Vec<u8>, ByteMap)) {
        let (bytes, map) = decode(&self.bytes);
        self.bytes = bytes.into();
        self.offset_map.maps.push(map);
    }

    pub(super) fn optional(&mut self, decode: impl FnOnce(&[u8]) -> Option<(Vec<u8>, ByteMap)>) {
        if let Some(decoded) = decode(&self.bytes) {
            self.step(|_| decoded);
        }
    }

    pub(super) fn charset(&mut self, label: Option<&str>) {
        let (bytes, map) = charset::decode(&self.bytes, label);
        if let Some(map) = map {
            self.bytes = bytes.into_owned().into();
            self.offset_map.maps.push(map);
        }
    }
}
