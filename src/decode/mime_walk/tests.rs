//! Tests of the walk over the parts of small messages.

use super::*;

/// Each text as `path type: text`, and checks that its offset map leads back to its raw bytes.
fn shown(raw: &str) -> Vec<String> {
    let message = Message::parse(raw.as_bytes());
    let fields = HeaderFields::of(message.raw, usize::MAX);
    let mut seen = Vec::new();
    walk(
        &message,
        &fields,
        &Limits::default(),
        TextPolicy::default(),
        &mut |text| {
            let part = text.part.map_or(String::new(), |part| {
                format!("{} {}", part.path, part.media_type)
            });
            let place = match text.region {
                Region::Header(name) => format!("{part} {}", String::from_utf8_lossy(name)),
                Region::Body => part,
            };
            let back = text.offset_map.raw(Span::new(0, text.bytes.len())).span;
            assert!(
                !text.bytes.contains(&b'!') || back.of(message.raw).contains(&b'!'),
                "{place}"
            );
            seen.push(format!(
                "{place}: {}",
                String::from_utf8_lossy(&text.bytes).trim_end()
            ));
        },
    );
    seen
}

#[test]
fn a_message_without_parts_is_its_first_part() {
    assert_eq!(
        shown("Subject: a:b\n\nbody!"),
        [" Subject: a:b", "1 text/plain: body!"]
    );
}

#[test]
fn parts_are_numbered_and_decoded() {
    let raw = "Content-Type: multipart/mixed; boundary=\"x\"\n\npreamble.\n--x\n\none!\n--x\nContent-Type: text/html\n\
               Content-Transfer-Encoding: quoted-printable\n\nt=\nwo\n--x\nContent-Type: image/png\n\nno\n--x--\nepilogue.\n";
    assert_eq!(
        shown(raw),
        [
            " text/plain: preamble.",
            "1 text/plain: one!",
            "2 text/html: two",
            " text/plain: epilogue."
        ]
    );
}

#[test]
fn messages_in_parts_count_as_a_level() {
    let inner =
        "Subject: i:j\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\nin\n--y--\n";
    let raw = format!(
        "Content-Type: multipart/digest; boundary=x\n\n--x\n\n{inner}\n--x\n\nSubject: k:l\n\nplain\n--x--\n"
    );
    assert_eq!(
        shown(&raw),
        [
            "1.1 multipart/alternative Subject: i:j",
            "1.1 text/plain: in",
            "2.1 text/plain Subject: k:l",
            "2.1 text/plain: plain"
        ]
    );
}

#[test]
fn a_header_ends_at_a_boundary() {
    let raw = "Content-Type: multipart/mixed; boundary=\":x\"\n\n--:x\nContent-Type: text/html\n--:x\n\ntwo\n--:x--\n";
    assert_eq!(shown(raw), ["1 text/html: ", "2 text/plain: two"]);
}

#[test]
fn a_body_with_two_encodings_or_types_is_read_with_both() {
    let raw = "Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: base64 (x)\n\naHR0cDovL2EuYg==\n";
    assert_eq!(
        shown(raw),
        ["1 text/plain: aHR0cDovL2EuYg==", "1 text/plain: http://a.b"]
    );
    assert_eq!(
        shown("Content-Type: image/png\nContent-Type: text/plain\n\nx"),
        ["1 text/plain: x"]
    );
}

#[test]
fn a_url_at_the_start_of_a_line_is_no_field() {
    let raw = "Content-Type: multipart/mixed; boundary=b\n\n--b\nhttp://a.b/\n--b--\n";
    assert_eq!(shown(raw), ["1 text/plain: http://a.b/"]);
}

#[test]
fn a_multipart_with_two_boundaries_is_read_with_both() {
    let raw =
        "Content-Type: multipart/mixed; boundary=a; boundary=b\n\n--a\n\none\n--b\n\ntwo\n--a--\n";
    assert_eq!(shown(raw), ["1 text/plain: one", "2 text/plain: two"]);
    let continued =
        "Content-Type: multipart/mixed;\n boundary*0=a;\n boundary*1=b\n\n--ab\n\none\n--ab--\n";
    assert_eq!(
        shown(continued),
        ["1 text/plain: one"],
        "RFC 2231 section 3"
    );
}

#[test]
fn text_without_the_boundary_is_read() {
    assert_eq!(
        shown("Content-Type: multipart/mixed; boundary=x\n\nall.of it"),
        [" text/plain: all.of it"]
    );
    assert_eq!(
        shown("Content-Type: multipart/mixed\n\nall"),
        ["1 multipart/mixed: all"]
    );
}
