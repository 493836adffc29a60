//! HTML: the visible text and the links map to the page, in order. An exact link without a
//! character reference equals the bytes at its range.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_mail::decode::{HeaderFields, TextPolicy, texts};
use urlspool_text::limits::Limits;
use urlspool_text::span::Span;
use urlspool_mail::split::Message;
use urlspool_fuzz::message;

fuzz_target!(|html: &[u8]| {
    let (raw, at) = message("Content-Type: text/html; charset=utf-8\n", html);
    let message = Message::parse(&raw);
    let limits = Limits::default();
    let fields = HeaderFields::in_message(&message, limits.header_bytes);
    texts(
        &message,
        &fields,
        &limits,
        TextPolicy::default(),
        &mut |text| {
            let Some(page) = &text.page else { return };
            assert!(std::str::from_utf8(&text.bytes).is_ok());
            let mut last = at;
            for byte in 0..text.bytes.len() {
                let span = text.offset_map.raw(Span::new(byte, byte + 1)).span;
                assert!(
                    last <= span.start && span.end <= raw.len(),
                    "{byte}: {span:?} after {last}"
                );
                last = span.start;
            }
            let mut last = 0;
            for link in &page.links {
                assert!(last <= link.at && link.at <= text.bytes.len(), "{link:?}");
                last = link.at;
                assert!(link.span.end <= page.source.len(), "{link:?}");
                if let Some(anchor) = link.anchor {
                    assert!(anchor.end <= text.bytes.len(), "{link:?}");
                }
                let written = link.span.of(&page.source);
                let is_plain = !written
                    .iter()
                    .any(|byte| matches!(byte, b'&' | b'\r' | b'\n' | b'\t' | 0 | b'\\'));
                if link.exact && is_plain {
                    assert_eq!(&*link.value, written, "{link:?}");
                }
            }
        },
        &mut || {},
    );
});
