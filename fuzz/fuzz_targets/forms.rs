//! Texts in another language (calendars, XML, JSON, cells): they are within the message, and each
//! byte has its place, in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_fuzz::{each_text, message};
use urlspool_text::span::Span;

const TYPES: [&str; 5] = ["calendar", "vcard", "xml", "json", "csv"];

fuzz_target!(|input: &[u8]| {
    let Some((&kind, body)) = input.split_first() else {
        return;
    };
    let name = TYPES[usize::from(kind) % TYPES.len()];
    let (raw, at) = message(&format!("Content-Type: text/{name}; name=a.{name}\n"), body);
    each_text(&raw, |text| {
        let mut last = at;
        for byte in 0..text.bytes.len() {
            let span = text.offset_map.raw(Span::new(byte, byte + 1)).span;
            assert!(last <= span.start && span.end <= raw.len(), "{byte}: {span:?} after {last}");
            last = span.start;
        }
    });
});
