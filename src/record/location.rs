//! A place in a source, as rejects and events have it.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::Serialize;

use super::parts::text;
use crate::origin::Source;

#[derive(Serialize)]
pub(super) struct PlaceLine<'r> {
    path: Cow<'r, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<Vec<Cow<'r, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member_b64: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

impl PlaceLine<'_> {
    pub(super) fn new(source: &Source, start: Option<u64>, end: Option<u64>) -> PlaceLine<'_> {
        let (path, path_b64) = path(source);
        let (member, member_b64) = member(source);
        PlaceLine {
            path,
            path_b64,
            member,
            member_b64,
            start,
            end,
        }
    }
}

pub(super) fn path(source: &Source) -> (Cow<'_, str>, Option<String>) {
    let octets = source.path.as_os_str().as_encoded_bytes();
    (text(octets), b64_unless_utf8(octets))
}

pub(super) fn member(source: &Source) -> (Option<Vec<Cow<'_, str>>>, Option<Vec<String>>) {
    let names = source.member();
    let is_lossy = names.iter().any(|name| std::str::from_utf8(name).is_err());
    let texts = (!names.is_empty()).then(|| names.iter().map(|name| text(name)).collect());
    (
        texts,
        is_lossy.then(|| names.iter().map(|name| BASE64.encode(name)).collect()),
    )
}

pub(super) fn b64_unless_utf8(octets: &[u8]) -> Option<String> {
    std::str::from_utf8(octets)
        .is_err()
        .then(|| BASE64.encode(octets))
}
