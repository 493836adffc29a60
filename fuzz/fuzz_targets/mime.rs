//! The walk over MIME parts: texts and skipped parts are within the message, and the maps of texts
//! are in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_mail::decode::{HeaderFields, Region, TextPolicy, texts};
use urlspool_text::limits::Limits;
use urlspool_text::span::Span;
use urlspool_mail::split::Message;

fuzz_target!(|raw: &[u8]| {
    let limits = Limits {
        mime_depth: 5,
        mime_parts: 20,
        header_bytes: 2_000,
        ..Limits::default()
    };
    let message = Message::parse(raw);
    let fields = HeaderFields::in_message(&message, limits.header_bytes);
    for field in &fields.all {
        assert!(field.name.end <= field.value.start && field.value.end <= raw.len());
    }
    let mut body_start = 0;
    let report = texts(
        &message,
        &fields,
        &limits,
        TextPolicy::default(),
        &mut |text| {
            let mut last = 0;
            for at in 0..text.bytes.len() {
                let raw_range = text.offset_map.raw(Span::new(at, at + 1));
                assert!(raw_range.span.end <= raw.len());
                assert!(text.page.is_some() || last <= raw_range.span.start, "{at}");
                last = raw_range.span.start;
            }
            if text.region == Region::Body && !text.bytes.is_empty() {
                let start = text.offset_map.raw(Span::new(0, 0)).span.start;
                assert!(text.has_other_readings || body_start <= start, "{start}");
                body_start = start;
            }
        },
        &mut || {},
    );
    assert!(
        report.text_parts <= limits.mime_parts + 1,
        "{}",
        report.text_parts
    );
    let mut last = Span::default();
    for part in &report.skipped_parts {
        // All members of a damaged archive have the range of its attachment.
        assert!(last.end <= part.raw.start || part.raw == last);
        assert!(part.raw.end <= raw.len());
        last = part.raw;
    }
});
