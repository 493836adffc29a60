//! Values that fields have in most records. A run of such fields is written as one piece.

use super::value::{RecordValues, raw_date};
use urlspool_text::byte_scan::is_plain_json;
use urlspool_text::parse::Grammar;

/// The value that a field has in most records.
pub(super) struct UsualValue {
    /// Name of the field or object.
    pub(super) field: &'static str,
    /// The value as JSON.
    pub(super) json: &'static str,
    /// Returns `true` if the record has this value. `false` proves nothing.
    pub(super) holds: fn(&RecordValues<'_, '_>) -> bool,
}

const fn usual(
    field: &'static str,
    json: &'static str,
    holds: fn(&RecordValues<'_, '_>) -> bool,
) -> UsualValue {
    UsualValue { field, json, holds }
}

/// Table of the usual values. An object that can be null must have a row.
pub(super) const USUAL_VALUES: &[UsualValue] = &[
    usual("schema", "1", |_| true),
    usual("type", "\"url\"", |_| true),
    usual("fragment", "null", |of| {
        of.record.found.fragment().is_none()
    }),
    usual("query", "null", |of| {
        of.site().is_none() || of.components().query.is_none()
    }),
    usual("conforms", r#"["rfc1738","rfc3986","whatwg"]"#, |of| {
        let verdicts = of.record.found.verdicts;
        verdicts.is_some_and(|it| Grammar::ALL.iter().all(|grammar| it.conforms_to(*grammar)))
    }),
    usual("error", "null", |of| {
        of.record.found.verdicts.is_none_or(|it| it.rfc1738.is_ok())
    }),
    usual("warnings", "[]", |of| {
        of.rfc1738().is_none_or(|url| url.warnings().is_empty())
    }),
    usual("hazards", "[]", |of| of.record.hazards().next().is_none()),
    usual("raw_b64", "null", |of| is_plain_json(of.record.raw)),
    usual("repairs", "[]", |of| {
        of.record.found.repairs.iter().next().is_none()
    }),
    usual("alternates", "[]", |of| {
        of.record.found.alternates.is_empty()
    }),
    usual("confidence", "1.0", |of| of.record.found.confidence >= 1.0),
    usual("truncated", "false", |of| {
        of.record.found.truncated.is_none()
    }),
    usual("full_length", "null", |of| {
        of.record.found.truncated.is_none()
    }),
    usual("full_hash", "null", |of| {
        of.record.found.truncated.is_none()
    }),
    usual("quote_depth", "0", |of| of.record.quote_depth == 0),
    usual("anchor", "null", |of| of.record.anchor.is_none()),
    usual("mismatch", "null", |of| of.record.mismatch.is_none()),
    usual("unwrapped_from", "null", |of| {
        of.record.redirected_from.is_none()
    }),
    usual("unwrapped_by", "null", |of| {
        of.record.redirected_from.is_none()
    }),
    usual("source.exact", "true", |of| of.record.origin.exact),
    usual("message.date_raw", "null", |of| {
        of.record
            .message
            .is_none_or(|info| raw_date(info).is_none())
    }),
    usual("message.newsgroups", "[]", |of| {
        of.record
            .message
            .is_none_or(|info| info.newsgroups.is_empty())
    }),
    usual("message.fields", "null", |of| {
        of.record
            .message
            .is_none_or(|info| info.named_fields.is_none())
    }),
    usual("part", "null", |of| of.record.part.is_none()),
    usual("context", "null", |of| of.record.context.is_none()),
];
