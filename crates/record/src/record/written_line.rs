//! Recognizes lines that urlspool wrote. A line with just a URL proves nothing: other programs
//! write such lines too.

use serde_json::{Map, Value};

use super::FieldId;

/// Prefixes of the lines that urlspool writes: records, rejects, events, removed messages and
/// summaries. Each is long enough to contain keys that other programs do not write in this order.
/// `#` matches digits, `@` the digits of an identifier, and `*` the inside of a string.
const STARTS: [&str; 5] = [
    r#"{"schema":#,"type":"url","id":"@""#,
    r#"{"type":"reject","text":"*","reason":{"kind":""#,
    r#"{"type":"event","kind":"*","source":{"path":""#,
    r#"{"type":"gone","mailbox":"*","mailbox_b64":"#,
    r#"{"files":#,"files_read":#,"files_skipped":{"#,
];

/// Prefix of a record without its first fields. The second key, if present, must also be a record
/// field.
const ID_START: &str = r#"{"id":"@""#;

/// Prefix of a segment's sidecar.
const SIDECAR_START: &str = r#"{"schema":#,"instance":"*","seq":#,"name":""#;

/// Number of hexadecimal digits of an identifier.
const ID_DIGITS: usize = 32;

/// Returns `true` if a file with these first bytes starts with a line that urlspool wrote.
#[must_use]
pub fn is_written_line(start: &[u8]) -> bool {
    let is_started =
        STARTS.iter().any(|known| strip(start, known).is_some()) || starts_with_id(start);
    is_started || first_line(start).is_some_and(|line| has_chosen_fields(line) || is_header(line))
}

/// Returns `true` if a file with these first bytes looks like a segment of the daemon, a sidecar,
/// or another output of urlspool. A byte order mark or blank lines, which an editor may add, are
/// skipped.
#[must_use]
pub fn is_written_file(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let start = start.trim_ascii_start();
    is_written_line(start) || strip(start, SIDECAR_START).is_some()
}

/// Position and URL in a line of the format `grep`: `PATH:START: URL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedGrepLine<'l> {
    /// File name, and names of archive members.
    pub names: &'l str,
    /// Offset of the URL's first byte.
    pub start: u64,
    /// The URL.
    pub url: &'l str,
}

/// Parses the first line of a file with these first bytes as a line of the format `grep`. Other
/// programs write such lines too.
#[must_use]
pub fn parse_grep_line(start: &[u8]) -> Option<ParsedGrepLine<'_>> {
    let (place, url) = first_line(start)?.rsplit_once(": ")?;
    let (names, offset) = place.rsplit_once(':')?;
    Some(ParsedGrepLine {
        names,
        start: offset.parse().ok()?,
        url,
    })
}

/// Returns the first line if it is complete and UTF-8.
fn first_line(start: &[u8]) -> Option<&str> {
    std::str::from_utf8(&start[..memchr::memchr(b'\n', start)?]).ok()
}

/// Returns `true` for a JSON line that has only record fields. At least one must be an object, and
/// all objects must contain only record fields.
fn has_chosen_fields(line: &str) -> bool {
    let Ok(record) = serde_json::from_str::<Map<String, Value>>(line) else {
        return false;
    };
    let mut objects = record
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_object()?)))
        .peekable();
    objects.peek().is_some()
        && objects.all(|(parent, object)| {
            let mut keys = object.keys();
            !object.is_empty() && keys.all(|key| is_known(&format!("{parent}.{key}")))
        })
        && record.keys().all(|name| is_known(name))
}

/// Returns `true` for the name of a record field or of an object in the record.
fn is_known(name: &str) -> bool {
    FieldId::named(name).next().is_some()
}

/// Returns `true` for a table header with at least one field inside an object.
fn is_header(line: &str) -> bool {
    // Names contain only these characters, so any other one is the delimiter.
    let mut characters = line.chars();
    let delimiter = characters.find(|it| !it.is_ascii_alphanumeric() && !"._".contains(*it));
    let mut names = line.split(delimiter.unwrap_or('\n'));
    line.contains('.') && names.all(|name| FieldId::ALL.iter().any(|field| field.name() == name))
}

fn starts_with_id(start: &[u8]) -> bool {
    let Some(rest) = strip(start, ID_START) else {
        return false;
    };
    let key = rest
        .strip_prefix(b",\"")
        .and_then(|rest| str::from_utf8(&rest[..text_len(rest)?]).ok());
    rest.starts_with(b"}") || key.is_some_and(is_known)
}

/// Strips a prefix, written as in [`STARTS`]. `None` if `text` does not match it.
fn strip<'t>(text: &'t [u8], start: &str) -> Option<&'t [u8]> {
    start.bytes().try_fold(text, |rest, piece| {
        let len = match piece {
            b'#' => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            b'@' => ID_DIGITS,
            b'*' => text_len(rest)?,
            _ => 1,
        };
        let (taken, rest) = rest.split_at_checked(len)?;
        let is_match = match piece {
            b'#' => !taken.is_empty(),
            b'@' => taken.iter().all(u8::is_ascii_hexdigit),
            b'*' => true,
            byte => taken == [byte],
        };
        is_match.then_some(rest)
    })
}

/// Returns the number of bytes before the quotation mark that ends a JSON string.
fn text_len(text: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    text.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::write_event;
    use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
    use urlspool_text::origin::Source;

    #[test]
    fn chosen_fields_are_recognized_by_their_names() {
        for line in [
            "url,host,message.date,message.from",
            "url\tsource.start",
            "url;host;message.date",
            "source.path",
            "{\"url\":\"x\",\"source\":{\"path\":\"a\",\"start\":1}}",
            "{\"message\":{\"date\":null},\"host\":null,\"part\":null}",
        ] {
            assert!(is_written_line(format!("{line}\n").as_bytes()), "{line}");
            assert!(!is_written_line(line.as_bytes()), "{line}: no line end");
        }
        for line in [
            "url,host",
            "url,message.size",
            "url;host,message.date",
            "url",
            "",
            "http://a.example/",
            "{\"url\":\"x\",\"host\":\"y\"}",
            "{\"url\":\"x\",\"message\":\"hello\"}",
            "{\"url\":\"x\",\"source\":{\"name\":\"a\"}}",
            "{\"url\":\"x\",\"size\":1,\"source\":{\"path\":\"a\"}}",
            "{\"source\":{}}",
        ] {
            assert!(!is_written_line(format!("{line}\n").as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_grep_line_has_a_position_and_a_url() {
        let line = |text| parse_grep_line(text);
        let parsed = ParsedGrepLine {
            names: "a: b.tar!c",
            start: 12,
            url: "http://a.example/",
        };
        assert_eq!(line(b"a: b.tar!c:12: http://a.example/\nx"), Some(parsed));
        for text in [
            &b"a:12: http://a.example/"[..],
            b"a: b\n",
            b"\n",
            b"a:b: c\n",
        ] {
            assert_eq!(line(text), None);
        }
    }

    #[test]
    fn written_lines_are_recognized_and_mail_is_not() {
        let summary = b"{\"files\":1,\"files_read\":1,\"files_skipped\":{},";
        let mut event = Vec::new();
        let diagnostic = Diagnostic::new(DiagnosticKind::Limit, "x");
        write_event(&diagnostic.of(&Source::at("a".into())), &mut event);
        assert!(is_written_line(summary) && is_written_line(&event));
        assert!(is_written_line(
            b"{\"schema\":1,\"type\":\"url\",\"id\":\"0123456789abcdef0123456789abcdef\"}\n"
        ));
        assert!(is_written_line(
            b"{\"id\":\"0123456789abcdef0123456789abcdef\",\"url\":\"x\"}\n"
        ));
        for written in [
            "{\"type\":\"reject\",\"text\":\"a\\\"\\\\\",\"reason\":{\"kind\":\"host\"",
            "{\"type\":\"gone\",\"mailbox\":\"a\",\"mailbox_b64\":null,\"digests\":[]}",
            "{\"id\":\"0123456789abcdef0123456789abcdef\"}",
        ] {
            assert!(is_written_line(written.as_bytes()), "{written}");
        }
        assert!(!is_written_line(b"{\"id\":\"0123\"}") && !is_written_line(b""));
        assert!(!is_written_line(b"From a\nSubject: b\n") && !is_written_line(b"{\"url\":\"x\"}"));
    }

    #[test]
    fn a_sidecar_is_recognized_by_its_first_fields() {
        let sidecar =
            br#"{"schema":1,"instance":"","seq":1,"name":"0000000001.jsonl","len":0,"xxh3_64":"",
            "records":0,"messages":0,"epoch":0,"age":0,"mailboxes":[]}"#;
        let line = crate::record::json_line(&crate::record::Sidecar::read(sidecar).unwrap());
        assert!(is_written_file(&line) && !is_written_line(&line));
        assert!(!is_written_file(
            b"{\"schema\":1,\"instance\":\"a\",\"name\":\"b\"}\n"
        ));
    }

    /// Settings and logs of other programs were once overwritten.
    #[test]
    fn foreign_json_is_not_recognized() {
        for foreign in [
            "{\"type\":\"event\",\"ts\":1}",
            "{\"files\":[\"a.ts\"]}",
            "{\"files\":3,\"names\":[]}",
            "{\"schema\":1,\"tables\":[]}",
            "{\"schema\":\"http://a.example/\"}",
            "{\"type\":\"reject\",\"id\":1}",
            "{\"type\":\"gone\",\"user\":1}",
            "{\"id\":\"0123456789abcdef0123456789abcdef\",\"user\":1}",
        ] {
            assert!(
                !is_written_line(format!("{foreign}\n").as_bytes()),
                "{foreign}"
            );
        }
    }
}
