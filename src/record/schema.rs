//! The JSON Schema of the records.

use serde_json::{Value, json};

use crate::diagnostic;
use crate::grammar;
use crate::origin;
use crate::parse::{AlternateReason, Grammar, RejectReasonKind, Wrapper};
use crate::repair::Repair;

/// Returns the JSON Schema (draft 2020-12) of the lines that a scan writes, as text with a line end.
#[must_use]
pub fn schema() -> String {
    // The names of closed sets come from their enums, so that they are written once.
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "urlspool record",
        "description": "One line of urlspool's output. Additions are free: readers ignore fields they do not know.",
        "oneOf": [url(), reject(), event()],
    });
    serde_json::to_string_pretty(&schema).expect("a fixed value") + "\n"
}

/// The fields that every record of a URL has.
const REQUIRED: [&str; 24] = [
    "schema",
    "type",
    "id",
    "url",
    "fragment",
    "scheme",
    "form",
    "conforms",
    "warnings",
    "error",
    "hazards",
    "key",
    "parts",
    "href",
    "wrapper",
    "raw",
    "repairs",
    "alternates",
    "confidence",
    "region",
    "quote_depth",
    "source",
    "message",
    "part",
];

fn url() -> Value {
    let mut properties = reading();
    if let (Some(all), Value::Object(more)) = (properties.as_object_mut(), provenance()) {
        all.extend(more);
    }
    json!({"type": "object", "required": REQUIRED, "properties": properties})
}

/// The fields on the URL itself.
fn reading() -> Value {
    json!({
        "schema": {"const": super::SCHEMA},
        "type": {"const": "url"},
        "id": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "url": {"type": "string"},
        "fragment": {"type": ["string", "null"]},
        "scheme": {"type": "string"},
        "form": {"type": ["string", "null"]},
        "conforms": {"type": "array", "items": {"enum": Grammar::ALL.map(Grammar::name)}},
        "warnings": {"type": "array", "items": {"type": "string"}},
        "error": error(),
        "hazards": {"type": "array", "items": {"type": "string"}},
        "key": {"type": "string"},
        "parts": {"type": ["object", "null"]},
        "href": {"type": ["string", "null"]},
    })
}

/// The fields on its position and its surroundings.
fn provenance() -> Value {
    json!({
        "wrapper": {"enum": Wrapper::ALL.map(Wrapper::name)},
        "raw": {"type": "string"},
        "raw_b64": {"type": "string", "contentEncoding": "base64"},
        "repairs": {"type": "array", "items": {"enum": Repair::ALL.map(Repair::name)}},
        "alternates": {"type": "array", "items": alternate()},
        "confidence": confidence(),
        "truncated_tail": {"const": true, "description": "the message ended within a line when it was taken"},
        "truncated": {"const": true},
        "full_length": count(),
        "full_hash": {"type": "string"},
        "region": {"type": "string"},
        "quote_depth": count(),
        "anchor": {"type": "string"},
        "mismatch": {"type": "boolean"},
        "unwrapped_from": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "unwrapped_by": {"type": "string"},
        "count": {"type": "integer", "minimum": 2},
        "source": source(),
        "message": message(),
        "part": part(),
        "context": {
            "type": "object",
            "properties": {"before": {"type": "string"}, "after": {"type": "string"}},
        },
    })
}

fn source() -> Value {
    json!({
        "type": "object",
        "required": ["path", "member", "kind", "start", "end", "line", "exact"],
        "properties": {
            "path": {"type": "string"},
            "path_b64": {"type": "string", "contentEncoding": "base64"},
            "member": {"type": ["array", "null"], "items": {"type": "string"}},
            "member_b64": {"type": "array", "items": {"type": "string", "contentEncoding": "base64"}},
            "kind": {"enum": origin::SourceKind::ALL.map(origin::SourceKind::name)},
            "start": count(),
            "end": count(),
            "line": count(),
            "exact": {"type": "boolean"},
        },
    })
}

fn message() -> Value {
    json!({
        "type": "object",
        "required": ["start", "end", "id", "date", "from", "subject", "newsgroups", "list_id", "references"],
        "properties": {
            "start": count(),
            "end": count(),
            "id": {"type": ["string", "null"]},
            "date": {"type": ["string", "null"], "format": "date-time"},
            "date_raw": {"type": "string"},
            "from": {"type": ["string", "null"]},
            "subject": {"type": ["string", "null"]},
            "newsgroups": {"type": "array", "items": {"type": "string"}},
            "list_id": {"type": ["string", "null"]},
            "references": {"type": "array", "items": {"type": "string"}},
        },
    })
}

fn part() -> Value {
    json!({
        "type": ["object", "null"],
        "required": ["path", "type", "charset", "encoding"],
        "properties": {
            "path": {"type": "string"},
            "type": {"type": "string"},
            "charset": {"type": ["string", "null"]},
            "encoding": {"type": "string"},
            "message_id": {"type": "string"},
        },
    })
}

fn alternate() -> Value {
    json!({
        "type": "object",
        "required": ["url", "fragment", "why", "confidence"],
        "properties": {
            "url": {"type": "string"},
            "fragment": {"type": ["string", "null"]},
            "why": {"enum": AlternateReason::ALL.map(AlternateReason::name)},
            "confidence": confidence(),
        },
    })
}

fn reject() -> Value {
    json!({
        "type": "object",
        "required": ["type", "text", "reason", "source"],
        "properties": {
            "type": {"const": "reject"},
            "text": {"type": "string"},
            "reason": {
                "type": "object",
                "required": ["kind"],
                "properties": {
                    "kind": {"enum": RejectReasonKind::ALL.map(RejectReasonKind::name)},
                    "error": error(),
                },
            },
            "source": place(),
        },
    })
}

fn event() -> Value {
    json!({
        "type": "object",
        "required": ["type", "kind", "source", "message"],
        "properties": {
            "type": {"const": "event"},
            "kind": {"enum": diagnostic::DiagnosticKind::ALL.map(diagnostic::DiagnosticKind::name)},
            "source": place(),
            "message": {"type": "string"},
        },
    })
}

fn error() -> Value {
    json!({
        "type": ["object", "null"],
        "required": ["offset", "part", "kind", "message"],
        "properties": {
            "offset": count(),
            "part": {"enum": grammar::RejectPart::ALL.map(grammar::RejectPart::name)},
            "kind": {"enum": grammar::RejectKind::ALL.map(grammar::RejectKind::name)},
            "message": {"type": "string"},
        },
    })
}

fn place() -> Value {
    json!({
        "type": "object",
        "required": ["path"],
        "properties": {
            "path": {"type": "string"},
            "path_b64": {"type": "string", "contentEncoding": "base64"},
            "member": {"type": "array", "items": {"type": "string"}},
            "member_b64": {"type": "array", "items": {"type": "string", "contentEncoding": "base64"}},
            "start": count(),
            "end": count(),
        },
    })
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn confidence() -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1})
}
