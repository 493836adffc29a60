//! Tests for reading lines back.

use serde_json::{Value, json};

use super::*;
use crate::record::FieldType;

fn error_of(line: &str) -> LineError {
    read_record_line(line.as_bytes()).unwrap_err()
}

#[test]
fn a_gone_line_names_mailbox_and_digests() {
    let line = br#"{"type":"gone","mailbox":"a\"b","digests":["00","11"]}"#;
    let RecordLine::Gone(gone) = read_record_line(line).unwrap() else {
        panic!("no gone line");
    };
    assert_eq!(&*gone.mailbox, "a\"b");
    assert_eq!(gone.digests.len(), 2);
}

#[test]
fn lines_of_other_types_are_recognized() {
    let line = br#"{"type":"event","kind":"skip"}"#;
    assert!(matches!(read_record_line(line), Ok(RecordLine::Other)));
}

#[test]
fn other_lines_are_distinguished_from_unsuitable_records() {
    assert!(matches!(error_of("x"), LineError::NoRecord(_)));
    assert!(matches!(error_of("{\"files\":1}"), LineError::NoRecord(_)));
    assert!(matches!(error_of("[]"), LineError::NoRecord(_)));
    let nul = r#"{"type":"gone","mailbox":"a\u0000","digests":[]}"#;
    assert!(matches!(error_of(nul), LineError::NoRecord(_)));
    for line in [
        "{\"id\":\"00\",\"url\":\"http://a/\"}",
        "{\"schema\":1,\"type\":\"url\",\"id\":\"00\"}",
        "{\"schema\":2,\"type\":\"url\",\"id\":\"00\"}",
    ] {
        assert!(matches!(error_of(line), LineError::Unsuitable(_)), "{line}");
    }
}

#[test]
fn keys_differ_by_path_and_member() {
    let key = |path: &str, member: &str| {
        let mut record = record();
        record["source"]["path"] = json!(path);
        record["source"]["member"] = serde_json::from_str(member).unwrap();
        match read_record_line(record.to_string().as_bytes()).unwrap() {
            RecordLine::Url(record) => record.source_key,
            other => panic!("{other:?}"),
        }
    };
    let keys = [
        key("a", "null"),
        key("b", "null"),
        key("a", "[\"b\"]"),
        key("a", "[\"b\",\"c\"]"),
        key("a", "[\"bc\"]"),
    ];
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());
    assert_eq!(key("a", "null"), key("a", "null"));
}

/// A record that can be loaded.
const RECORD: &str = r#"{
    "schema": 1, "type": "url", "id": "00", "url": "http://a/", "fragment": null, "scheme": "http",
    "host": "a", "domain": null, "port": 80, "path": "/", "query": null, "key": "http://a/",
    "href": null, "conforms": [], "error": null, "warnings": [], "hazards": [], "form": null,
    "parts": [], "wrapper": "bare", "raw": "http://a/", "raw_b64": null, "repairs": [],
    "alternates": [], "confidence": 1.0, "truncated": false, "full_length": null, "full_hash": null,
    "region": "body", "quote_depth": 0, "anchor": null, "mismatch": null, "unwrapped_from": null,
    "unwrapped_by": null,
    "source": {"path": "a", "path_b64": null, "mailbox": "a", "mailbox_b64": null, "member": null,
        "member_b64": null, "kind": "mbox", "start": 0, "end": 9, "line": 1, "exact": true},
    "message": {"start": 0, "end": 9, "id": null, "digest": "00", "date": null, "date_raw": null,
        "from": null, "subject": null, "newsgroups": [], "list_id": null, "references": []},
    "author": {"by": "outer"}, "part": null, "context": {"before": "a", "after": "b"},
    "truncated_tail": false, "count": null
}"#;

fn record() -> Value {
    serde_json::from_str(RECORD).unwrap()
}

/// Returns the record with a changed field. `None` removes the field.
fn changed(field: &str, value: Option<Value>) -> String {
    let mut record = record();
    let (parent, key) = match field.split_once('.') {
        Some((parent, key)) => (&mut record[parent], key),
        None => (&mut record, field),
    };
    match value {
        Some(value) => parent[key] = value,
        None => drop(parent.as_object_mut().unwrap().remove(key)),
    }
    record.to_string()
}

/// Returns the field that the error reports as invalid.
fn invalid_field(line: &str) -> String {
    let error = error_of(line).to_string();
    let rest = error.strip_prefix("not a record: the field `");
    match rest.and_then(|rest| rest.split_once("` must be ")) {
        Some((field, _)) => field.to_owned(),
        None => panic!("{error}: {line}"),
    }
}

#[test]
fn a_field_of_the_wrong_type_is_named() {
    let mut tried = 0;
    for field in RECORD_FIELDS {
        if field.name == "type" || !field.is_loaded {
            continue;
        }
        for wrong in [
            json!({"a": 1}),
            json!(5),
            json!("x"),
            json!(true),
            json!([]),
        ] {
            let is_right = match field.json_type {
                FieldType::Text => wrong.is_string(),
                FieldType::Integer | FieldType::Number => wrong.is_number(),
                FieldType::Boolean => wrong.is_boolean(),
                FieldType::Texts | FieldType::List => wrong.is_array(),
                FieldType::Object => wrong.is_object(),
            };
            if !is_right {
                assert_eq!(invalid_field(&changed(field.name, Some(wrong))), field.name);
                tried += 1;
            }
        }
    }
    assert!(150 < tried, "{tried}");
}

#[test]
fn a_missing_field_is_named_if_it_is_loaded() {
    for field in RECORD_FIELDS {
        let outermost = field.name.split('.').next().unwrap();
        let is_loaded = field.name != "type" && field.is_loaded;
        if !is_loaded && field.name != outermost {
            continue;
        }
        let line = changed(field.name, None);
        match read_record_line(line.as_bytes()) {
            Ok(_) => assert!(!is_loaded || field.is_nullable, "{}", field.name),
            Err(error) => {
                let expected = format!("the field `{}` is missing;", field.name);
                assert!(matches!(error, LineError::Unsuitable(_)), "{error}");
                assert!(error.to_string().contains(&expected), "{error}");
            }
        }
    }
}

#[test]
fn a_record_needs_no_context() {
    for context in [Some(Value::Null), None] {
        let RecordLine::Url(record) =
            read_record_line(changed("context", context).as_bytes()).unwrap()
        else {
            panic!("no record");
        };
        assert_eq!(record.text(FieldId::ContextBefore), None);
    }
}

#[test]
fn values_that_are_never_written_are_rejected() {
    for (field, wrong) in [
        ("id", json!("")),
        ("url", json!("")),
        ("message.digest", json!("")),
        ("message.digest", json!("0".repeat(129))),
        ("confidence", json!(1.5)),
        ("confidence", json!(-0.5)),
        ("port", json!(70_000)),
        ("quote_depth", json!(-1)),
        ("count", json!(-1)),
        ("source.start", json!(-1)),
        ("source.end", json!(-1)),
        ("source.line", json!(-1)),
        ("message.start", json!(-1)),
        ("message.end", json!(-1)),
        ("message.references", json!(["a\0"])),
        ("message.subject", json!("a\0")),
    ] {
        assert_eq!(invalid_field(&changed(field, Some(wrong))), field);
    }
    for (line, field) in [
        (r#"{"type":"gone","mailbox":"a","digests":[""]}"#, "digests"),
        (r#"{"type":"gone","mailbox":"a","digests":[]}"#, "digests"),
        (r#"{"type":"gone","mailbox":"a","digests":[5]}"#, "digests"),
        (r#"{"type":"gone","mailbox":5,"digests":["00"]}"#, "mailbox"),
        (r#"{"type":5}"#, "type"),
        (r#"{"schema":-1,"id":"00"}"#, "schema"),
    ] {
        assert_eq!(invalid_field(line), field, "{line}");
    }
}

#[test]
fn errors_use_plain_words() {
    let twice = record()
        .to_string()
        .replacen("\"port\":80", "\"port\":80,\"port\":80", 1);
    for (line, expected) in [
        (
            "x",
            "not a record: byte 1 is not JSON; records are lines as `urlspool scan` writes them",
        ),
        ("[]", "not a record: it is not a JSON object"),
        ("5", "not a record: it is not a JSON object"),
        ("{\"files\":1}", "not a record: the field `type` is missing"),
        (
            r#"{"type":"gone","digests":[]}"#,
            "not a record: the field `mailbox` is missing",
        ),
        (&twice, "not a record: the field `port` is repeated"),
        (
            &changed("port", Some(json!("x"))),
            "not a record: the field `port` must be a whole number from 0 to 65535",
        ),
        (
            &changed("schema", Some(json!(7))),
            "a record that cannot be loaded: its schema is 7, and this program knows schema 1; \
             load it with a newer urlspool, or scan again with this one",
        ),
    ] {
        assert_eq!(error_of(line).to_string(), expected);
    }
    let bytes = read_record_line(b"{\"a\xFF").unwrap_err();
    assert_eq!(bytes.to_string(), "not a record: byte 4 is not UTF-8");
}
