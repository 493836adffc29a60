//! Messages in `winmail.dat` and in signatures: fixtures, public samples, and hostile ones.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use urlspool_mail::documents::{DocumentContent, DocumentKind, DocumentReading, read_document};
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

use crate::scene::{Ended, Folder, assert_contains, corpus, done, ended, scan, url, urlspool};

/// Returns an attribute of TNEF.
fn attribute(level: u8, id: u32, value: &[u8]) -> Vec<u8> {
    let sum = value
        .iter()
        .fold(0_u16, |sum, &byte| sum.wrapping_add(byte.into()));
    let len = (value.len() as u32).to_le_bytes();
    [
        &[level],
        &id.to_le_bytes()[..],
        &len,
        value,
        &sum.to_le_bytes(),
    ]
    .concat()
}

/// Returns a TNEF with these attributes.
fn tnef(attributes: &[Vec<u8>]) -> Vec<u8> {
    [&b"\x78\x9F\x3E\x22\x01\x00"[..], &attributes.concat()].concat()
}

/// Returns a property of a type with a length.
fn property(kind: u16, id: u16, value: &[u8]) -> Vec<u8> {
    let mut property = [kind.to_le_bytes(), id.to_le_bytes()].concat();
    property.extend([1_u32.to_le_bytes(), (value.len() as u32).to_le_bytes()].concat());
    property.extend(value);
    property.resize(property.len().next_multiple_of(4), 0);
    property
}

fn properties(list: &[Vec<u8>]) -> Vec<u8> {
    [&(list.len() as u32).to_le_bytes()[..], &list.concat()].concat()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

const BODY: u32 = 0x0002_800C;
const CODE_PAGE: u32 = 0x0006_9007;
const MESSAGE_PROPERTIES: u32 = 0x0006_9003;
const ATTACHMENT: u32 = 0x0006_9005;
const ATTACH_DATA: u32 = 0x0006_800F;
const ATTACH_TITLE: u32 = 0x0001_8010;
const ATTACH_REND_DATA: u32 = 0x0006_9002;
const BINARY: u16 = 0x102;
const OBJECT: u16 = 0x0D;
const UNICODE: u16 = 0x1F;

/// Returns the properties of an attachment that is a message.
fn attached(message: &[u8]) -> Vec<u8> {
    let object = [&[7; 16][..], message].concat();
    let list = properties(&[property(OBJECT, 0x3701, &object)]);
    [
        attribute(2, ATTACH_REND_DATA, b"\x02\0"),
        attribute(2, ATTACHMENT, &list),
    ]
    .concat()
}

/// Returns the fixture: a message in a code page of its own, with a named property, lists, packed
/// RTF, an attached text and an attached message.
fn fixture() -> Vec<u8> {
    let rtf = b"{\\rtf1{\\field{\\*\\fldinst HYPERLINK \"http://tnef-rtf.example/\"}x}}";
    let len = (rtf.len() as u32).to_le_bytes();
    let packed = [
        &(rtf.len() as u32 + 12).to_le_bytes()[..],
        &len,
        b"MELA\0\0\0\0",
        rtf,
    ]
    .concat();
    let named = [
        &[0x1E, 0, 0, 0x80][..],
        &[9; 16],
        &[1, 0, 0, 0, 6, 0, 0, 0],
        &wide("ab\0"),
        &[0, 0, 1, 0, 0, 0, 3, 0, 0, 0],
        b"abc\0",
    ];
    let numbers = [&[0x03, 0x10, 1, 0x68, 2, 0, 0, 0][..], &[1; 8]].concat();
    let time = (125_904_564_u64 * 1_000_000_000).to_le_bytes();
    let list = properties(&[
        named.concat(),
        numbers,
        property(UNICODE, 0x0C1A, &wide("Ann \u{3c9}\0")),
        property(UNICODE, 0x5D01, &wide("ann@tnef.example\0")),
        property(
            UNICODE,
            0x0037,
            &wide("Lamps http://tnef-subject.example/\0"),
        ),
        property(UNICODE, 0x1035, &wide("<one@tnef.example>\0")),
        [&[0x40, 0, 0x39, 0][..], &time].concat(),
        property(BINARY, 0x1009, &packed),
    ]);
    let page = b"<a href=\"http://tnef-inner.example/\">x</a>";
    let inner = tnef(&[attribute(
        1,
        MESSAGE_PROPERTIES,
        &properties(&[
            property(UNICODE, 0x0C1A, &wide("bob@tnef.example\0")),
            property(BINARY, 0x1013, page),
        ]),
    )]);
    tnef(&[
        attribute(1, CODE_PAGE, &[0xE3, 4, 0, 0, 0, 0, 0, 0]),
        attribute(
            1,
            BODY,
            b"See http://tnef-body.example/ \xF4\xEE\xED\xE0\xF0\xE8.\0",
        ),
        attribute(1, MESSAGE_PROPERTIES, &list),
        attribute(2, ATTACH_REND_DATA, b"\x01\0"),
        attribute(2, ATTACH_TITLE, b"a.txt\0"),
        attribute(2, ATTACH_DATA, b"http://tnef-attached.example/a\n"),
        attached(&inner),
    ])
}

/// Returns an element of DER.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    [
        &[tag, 0x84][..],
        &(content.len() as u32).to_be_bytes(),
        content,
    ]
    .concat()
}

/// Returns the elements before signed content.
const SIGNED: &[u8] = b"\x30\x80\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07\x02\xA0\x80\x30\x80\
    \x02\x01\x01\x31\x80\x30\x80\x06\x01\x2A\0\0\0\0\x30\x80\x06\x01\x2A\xA0\x80";

/// Returns signed content of indefinite length, in two pieces, without signatures.
fn signed(content: &[u8]) -> Vec<u8> {
    let (first, second) = content.split_at(content.len() / 2);
    let pieces = [der(4, first), der(0x24, &der(4, second))].concat();
    [SIGNED, b"\x24\x80", &pieces, &[0; 6], b"\x31\0", &[0; 6]].concat()
}

fn read(bytes: &[u8]) -> DocumentReading {
    let kind = DocumentKind::of(bytes).expect("a document");
    let reading = read_document(kind, bytes, &Limits::default(), &mut || {});
    let mut problems = reading.problems.iter();
    assert!(problems.all(|problem| problem.kind != DiagnosticKind::Panic));
    reading
}

fn message(reading: &DocumentReading) -> &[u8] {
    match &reading.content {
        DocumentContent::Message(message) => message,
        _ => b"",
    }
}

/// `URLSPOOL_BLESS=1` writes the fixtures anew.
#[test]
fn the_fixtures_are_these_bytes() {
    let text = b"Content-Type: text/html\r\n\r\n<a href=\"http://p7m-link.example/\">x</a>\r\n";
    for (name, bytes) in [("document.tnef", fixture()), ("document.p7m", signed(text))] {
        let path = corpus().join("documents").join(name);
        if std::env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, &bytes).unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
    }
}

/// Returns the records as `URL by the sender`.
fn authors(records: &[Value]) -> Vec<String> {
    let author = |record: &Value| {
        record["author"]["from"]
            .as_str()
            .unwrap_or("nobody")
            .to_owned()
    };
    records
        .iter()
        .map(|record| format!("{} by {}", url(record), author(record)))
        .collect()
}

/// A `winmail.dat` holds the body of the message around it, but a message attached in it is another
/// one.
#[test]
fn attached_messages_have_their_own_authors() {
    let body = data_encoding::BASE64_MIME.encode(&fixture());
    let mail = format!(
        "From: c@d.example\nMessage-ID: <m@d.example>\nContent-Type: application/ms-tnef; \
         name=winmail.dat\nContent-Transfer-Encoding: base64\n\n{body}"
    );
    let found = scan(&mail, &[]);
    assert_eq!((found.status, &found.events), (Some(0), &vec![]));
    let by = |name: &str, author: &str| format!("http://tnef-{name}.example/ by {author}");
    let mut expected = vec![
        by("subject", "c@d.example"),
        by("body", "c@d.example"),
        by("rtf", "c@d.example"),
        by("attached", "c@d.example").replace("/ by", "/a by"),
        by("inner", "bob@tnef.example"),
    ];
    assert_eq!(authors(&found.records), expected);
    let part = |record: &Value| record["part"]["path"].as_str().unwrap().to_owned();
    let parts: Vec<_> = found.records.iter().map(part).collect();
    assert_eq!(parts, ["1", "1", "2", "3", "4.1"]);
    let whole = done(&["scan", "-q", "documents/document.tnef"]).records();
    for expected in &mut expected {
        *expected = expected.replace("c@d.example", "Ann \u{3c9} <ann@tnef.example>");
    }
    assert_eq!(authors(&whole), expected);
    assert_eq!(whole[0]["message"]["id"], "<one@tnef.example>");
    assert_eq!(whole[0]["message"]["date"], "1999-12-23T21:00:00Z");
}

/// Runs openssl with these arguments in a folder with a key, a certificate and a message. Returns
/// `false` if it is not installed.
fn openssl(folder: &Folder, args: &str) -> bool {
    let mut command = Command::new("openssl");
    command.args(args.split(' ')).current_dir(folder.root());
    let Ok(output) = command.output() else {
        eprintln!("SKIPPED: openssl is not installed");
        return false;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// Signed data of openssl, in each of its forms, is read as a file and as a part.
#[test]
fn messages_signed_by_openssl_are_read() {
    let folder = Folder::new();
    let text = "To: x@y.example\r\nContent-Type: text/plain\r\n\r\nhttp://signed.example/\r\n";
    folder.write("mail", text);
    folder.write("page", "<html><a href=http://signed.example/>x</a></html>");
    if !openssl(
        &folder,
        "req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=a",
    ) {
        return;
    }
    let records = |name: &str| {
        let path = folder.path(name);
        let ended = ended(&mut urlspool(["scan", "-q", path.to_str().unwrap()]), b"");
        (ended.records(), ended)
    };
    let forms = ["DER", "DER -stream", "PEM", "SMIME", "SMIME -stream"];
    for (number, form) in forms.iter().enumerate() {
        for input in ["mail", "page"] {
            let sign = "-sign -nodetach -signer cert -inkey key";
            let out = format!("{input}{number}");
            let args = format!("cms {sign} -binary -in {input} -out {out} -outform {form}");
            assert!(openssl(&folder, &args));
            let (_, ended) = records(&out);
            assert_eq!(ended.status, Some(0), "{form}: {}", ended.stderr);
            assert_eq!(ended.urls(), ["http://signed.example/"], "{form} {input}");
        }
    }
    // Base64 without the lines around it.
    let pem = fs::read_to_string(folder.path("mail2")).unwrap();
    folder.write(
        "lines",
        pem.lines()
            .filter(|line| !line.starts_with('-'))
            .collect::<String>(),
    );
    assert_eq!(records("lines").0.len(), 1);
    assert!(openssl(
        &folder,
        "cms -encrypt -in mail -out encrypted -outform SMIME cert"
    ));
    assert!(openssl(
        &folder,
        "cms -encrypt -in mail -out encrypted.p7m -outform DER cert"
    ));
    assert!(openssl(
        &folder,
        "cms -sign -signer cert -inkey key -in mail -out alone -outform DER"
    ));
    for name in ["encrypted.p7m", "alone"] {
        let (records, Ended { status, stderr, .. }) = records(name);
        assert_eq!((records.len(), status), (0, Some(1)));
        assert_contains(&stderr, "decrypt it: `openssl cms -decrypt");
    }
    let path = folder.path("encrypted");
    let counted = ended(&mut urlspool(["scan", path.to_str().unwrap()]), b"");
    let way_out = "parts that were not read: 1 of encrypted smime.p7m (`openssl cms -decrypt";
    assert_contains(&counted.stderr, way_out);
}

/// Samples of other programs, in the package `tnefparse` (LGPL).
#[test]
fn public_samples_of_tnef_are_read() {
    const SHA256: &str = "bd871432b9afecb478fda2bbd4ab3673de00db4ba5dcc723bbb6c86a76420f95";
    let folder = Folder::new();
    folder.write(
        "names",
        format!("tnefparse==1.4.0 --hash=sha256:{SHA256}\n"),
    );
    let mut command = Command::new("python3");
    let args = "-m pip download -q --no-deps --no-binary :all: --require-hashes -r names";
    let output = command
        .args(args.split(' '))
        .current_dir(folder.root())
        .output();
    if !output.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: pip cannot fetch the samples of tnefparse 1.4.0");
        return;
    }
    let path = folder.path("tnefparse-1.4.0.tar.gz");
    let events = folder.path("events");
    let args = [
        "scan",
        "-q",
        path.to_str().unwrap(),
        "--events",
        events.to_str().unwrap(),
    ];
    let ended = ended(&mut urlspool(args), b"");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(events).unwrap(), "");
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for record in ended.records() {
        let member = record["source"]["member"][0].as_str().unwrap_or_default();
        if let Some(name) = member.strip_prefix("tnefparse-1.4.0/tests/examples/") {
            *found.entry(name.replace(".tnef", "")).or_default() += 1;
        }
    }
    let expected = [
        ("MAPI_OBJECT", 2),
        ("long-filename", 1),
        ("multi-value-attribute", 1),
        ("unicode-mapi-attr-name", 6),
    ];
    assert_eq!(
        found,
        expected
            .map(|(name, count)| (name.to_owned(), count))
            .into()
    );
}

/// Returns `levels` packed messages inside each other.
fn nested(levels: usize, pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    (0..levels).fold(b"http://deepest.example/".to_vec(), |inner, _| pack(&inner))
}

/// Nested messages are read up to `mime_depth`, and cost no more than their bytes.
#[test]
fn packed_messages_inside_each_other_are_bounded() {
    let in_tnef = |inner: &[u8]| tnef(&[attached(inner)]);
    let started = Instant::now();
    let packed = nested(1_000, in_tnef);
    let reading = read(&packed);
    let messages = String::from_utf8_lossy(message(&reading))
        .matches("message/rfc822")
        .count();
    assert_eq!(messages, Limits::default().mime_depth);
    assert_contains(&reading.problems[0].message, "mime_depth");
    for packed in [packed, nested(1_000, signed)] {
        let found = scan(&packed, &[]);
        assert_eq!((found.status, found.records.len()), (Some(0), 0));
        assert_eq!(found.events, ["limit"]);
    }
    assert_eq!(scan(nested(90, signed), &[]).records.len(), 1);
    assert!(
        started.elapsed() < Duration::from_mins(1),
        "{:?}",
        started.elapsed()
    );
}

/// No text beyond the truncation is found, and no lie about a length costs memory or panics.
#[test]
fn truncated_packed_messages_and_wrong_lengths_are_damage() {
    for whole in [
        fixture(),
        signed(b"To: a\n\nhttp://a.example/b http://a.example/c"),
    ] {
        let text = message(&read(&whole)).to_vec();
        for len in 40..whole.len() {
            let reading = read(&whole[..len]);
            // A piece of a header is read as a file.
            assert!(message(&reading).len() <= text.len() + 100, "{len}");
        }
        for at in 6..whole.len() - 4 {
            for value in [
                [0xFF; 4],
                [0xFF, 0xFF, 0xFF, 0x7F],
                [0, 0, 0, 6],
                [6, 0, 0, 0],
            ] {
                let mut wrong = whole.clone();
                wrong[at..at + 4].copy_from_slice(&value);
                if DocumentKind::of(&wrong).is_some() {
                    let reading = read(&wrong);
                    assert!(message(&reading).len() < 4 * text.len() + 1_000, "{at}");
                }
            }
        }
    }
    // 100 MB that are not there: the content before the end is read.
    let claimed = [
        SIGNED,
        b"\x04\x84\x06\0\0\0To: a\n\nhttp://claimed.example/",
    ]
    .concat();
    let mut cut = attribute(1, BODY, b"http://claimed.example/ ");
    cut[5..9].copy_from_slice(&100_000_000_u32.to_le_bytes());
    for bytes in [claimed, tnef(&[cut])] {
        let found = scan(bytes, &[]);
        assert_eq!(
            found.urls().into_iter().collect::<Vec<_>>(),
            ["http://claimed.example/"]
        );
        assert_eq!(found.events, ["damage"]);
    }
}

/// Time and output grow with the length of the input, and many attachments are one event.
#[test]
fn many_tiny_elements_take_linear_time() {
    let pieces = |n: usize| [SIGNED, b"\x24\x80", &b"\x04\x01a".repeat(n)].concat();
    let algorithms = |n: usize| {
        let mut open = SIGNED.to_vec();
        open.truncate(24);
        open.extend(b"\x31\x80".repeat(n));
        open
    };
    let count = |n: usize| (n as u32).to_le_bytes();
    let list = |n: usize, unit: &[u8]| {
        let list = [&count(n)[..], &unit.repeat(n)].concat();
        tnef(&[attribute(1, MESSAGE_PROPERTIES, &list)])
    };
    let values = |n: usize| {
        let list = [
            &count(1)[..],
            b"\x02\x11\x00\x10",
            &count(n),
            &[0; 4].repeat(n),
        ]
        .concat();
        tnef(&[attribute(1, MESSAGE_PROPERTIES, &list)])
    };
    let many = |level, id, n: usize| tnef(&[attribute(level, id, b"").repeat(n)]);
    let check = |name: &str, family: &dyn Fn(usize) -> Vec<u8>| {
        let time = |n: usize| {
            let bytes = family(n);
            let started = Instant::now();
            let reading = read(&bytes);
            assert!(message(&reading).len() < 4_000_000, "{name}");
            started.elapsed()
        };
        let (small, large) = (time(20_000), time(200_000));
        let limit = small * 40 + Duration::from_secs(2);
        assert!(large < limit, "{name}: {small:?}, {large:?}");
    };
    check("pieces", &pieces);
    check("algorithms", &algorithms);
    check("attributes", &|n| many(1, BODY, n));
    check("attachments", &|n| many(2, ATTACH_REND_DATA, n));
    check("messages", &|n| tnef(&[attached(&tnef(&[])).repeat(n)]));
    check("properties", &|n| list(n, b"\x03\0\x01\0abcd"));
    let named = [&[3, 0, 1, 0x80][..], &[0; 28]].concat();
    check("names", &|n| list(n, &named));
    check("values", &values);
    let reading = read(&many(2, ATTACH_REND_DATA, 20_000));
    assert_eq!(reading.problems[0].kind, DiagnosticKind::Limit);
}
