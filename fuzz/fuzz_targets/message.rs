//! A whole message: the range of each record is in the message and decodes to its `raw`, ids are
//! unique, a second reading is equal, and the line of each record is JSON with the same URL.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use urlspool_mail::decode::EXTERNAL_BODY_REGION;
use urlspool_record::record::RecordWriter;
use urlspool::{Extractor, Finding, FoundRecord, Message, Options, Source};
use urlspool_fuzz::twins;

/// Returns the bytes of a URL, without those that transports insert.
fn marks(bytes: &[u8]) -> Vec<u8> {
    let is_mark = |byte: &u8| {
        byte.is_ascii_graphic() && !matches!(byte, b'>' | b'|' | b':' | b'=' | b'.' | b'-' | b'+')
    };
    bytes.iter().copied().filter(is_mark).collect()
}

/// Returns `true` if `decoded` contains `raw`; with markup, its first four marks suffice.
fn holds(decoded: &[u8], raw: &[u8]) -> bool {
    let is_coded = decoded.iter().any(|byte| matches!(byte, b'&' | b'<'));
    let (decoded, raw) = (marks(decoded), marks(raw));
    let expected = if is_coded { &raw[..raw.len().min(4)] } else { &raw[..] };
    expected.is_empty() || decoded.windows(expected.len()).any(|window| window == expected)
}

/// Checks that the raw bytes of a record, decoded by a twin, contain its text. Skips texts without
/// a twin (references, tags, encoded words, other charsets), URLs of external bodies, which are
/// built from parameters, and inexact ranges, as in compressed archives and documents.
fn check_range(message: &[u8], record: &FoundRecord<'_>) {
    let (start, end) = (record.origin.start as usize, record.origin.end as usize);
    assert!(
        start <= end && end <= message.len(),
        "{start}..{end} of {}",
        message.len()
    );
    let range = &message[start..end];
    let bytes = |decoded: twins::Decoded| {
        decoded
            .into_iter()
            .map(|(byte, _)| byte)
            .collect::<Vec<u8>>()
    };
    let is_coded = range.iter().any(|byte| matches!(byte, b'&' | b'<'))
        || range
            .windows(2)
            .any(|bytes| bytes == b"=?" || bytes == b"?=");
    let is_wide =
        !record.raw.is_ascii() || !range.is_ascii() || range.contains(&0) || range.contains(&0x1B);
    let has_shift = range
        .iter()
        .any(|byte| matches!(byte, b'+' | b'~' | b'\\' | 0x0E | 0x0F));
    if is_coded
        || is_wide
        || has_shift
        || record.redirected_from.is_some()
        || record.found.truncated.is_some()
        || record.region == EXTERNAL_BODY_REGION
        || !record.origin.exact
    {
        return;
    }
    // `-` and `_` are digits unless the whole part contains `+` or `/`.
    let standard: Vec<u8> = range
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, b'-' | b'_'))
        .collect();
    let unbased =
        |range: &[u8], pad: usize| bytes(twins::base64(&[&b"AAAA"[..pad], range].concat()));
    // An attachment may be encoded twice.
    let base64 = |range: &[u8]| {
        (0..4).any(|pad| {
            let once = unbased(range, pad);
            holds(&once, record.raw) || (0..4).any(|pad| holds(&unbased(&once, pad), record.raw))
        })
    };
    let found = holds(range, record.raw)
        || holds(&bytes(twins::quoted_printable(range)), record.raw)
        || base64(range)
        || base64(&standard);
    assert!(
        found,
        "{} is not {} in {}",
        range.escape_ascii(),
        record.raw.escape_ascii(),
        message.escape_ascii()
    );
}

fuzz_target!(|raw: &[u8]| {
    let source = Source::at("f".into());
    let extractor = Extractor::new(Options::default());
    let message = Message::parse(raw);
    let mut writer = RecordWriter::default();
    let mut read = |check: bool| {
        let mut lines = Vec::new();
        let mut ids = HashSet::new();
        extractor.extract(&message, &source, &mut |finding| match finding {
                Finding::Url(record) | Finding::Unwrapped(record) => {
                    if check {
                        check_range(raw, record);
                        assert!(ids.insert(record.id), "an id twice");
                    }
                    writer.write(record, &mut lines);
                }
                Finding::Diagnostic(diagnostic) => {
                    assert!(
                        diagnostic.offset.is_none_or(|at| at <= raw.len() as u64),
                        "{diagnostic:?}"
                    );
                }
                _ => {}
        });
        lines
    };
    let lines = read(true);
    assert_eq!(lines, read(false), "read again");
    for line in lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        assert!(std::str::from_utf8(line).is_ok(), "{}", line.escape_ascii());
        assert!(
            line.iter().all(|&byte| byte >= b' '),
            "{}",
            line.escape_ascii()
        );
    }
});
