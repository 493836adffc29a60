//! Tests of reading lines back.

use super::*;

fn refusal(line: &str) -> LineError {
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
fn what_is_no_record_is_distinguished_from_what_cannot_be_loaded() {
    assert!(matches!(refusal("x"), LineError::NoRecord(_)));
    assert!(matches!(refusal("{\"files\":1}"), LineError::NoRecord(_)));
    assert!(matches!(refusal("[]"), LineError::NoRecord(_)));
    let nul = r#"{"type":"gone","mailbox":"a\u0000","digests":[]}"#;
    assert!(matches!(refusal(nul), LineError::NoRecord(_)));
    for line in [
        "{\"id\":\"00\",\"url\":\"http://a/\"}",
        "{\"schema\":1,\"type\":\"url\",\"id\":\"00\"}",
        "{\"schema\":2,\"type\":\"url\",\"id\":\"00\"}",
    ] {
        assert!(matches!(refusal(line), LineError::Unsuitable(_)), "{line}");
    }
}

#[test]
fn keys_differ_by_path_and_member() {
    let key = |path: &str, member: &str| {
        let line = format!(
            r#"{{"path":"{path}","mailbox":"","member":{member},"kind":"","start":0,"end":0,"line":1,"exact":true}}"#
        );
        let source: SourceLine = serde_json::from_str(&line).unwrap();
        source.source_key().unwrap()
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
