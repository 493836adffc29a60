//! Simple twins of decoders, and checks of offset maps, for all fuzz targets.

pub mod documents;
pub mod twins;

use urlspool_mail::decode::{DecodedText, HeaderFields, Region, TextPolicy, texts};
use urlspool_mail::split::Message;
use urlspool_text::limits::Limits;
use urlspool_text::span::{ByteMap, Span};

/// Checks that a map assigns each byte of a text a range in the raw bytes, in order.
pub fn check_order(map: &ByteMap, len: usize, raw_len: usize) {
    let mut last = 0;
    for at in 0..len {
        let raw = map.raw(Span::new(at, at + 1));
        assert!(
            raw.start <= raw.end && raw.end <= raw_len,
            "{at}: {raw:?} of {raw_len}"
        );
        assert!(last <= raw.start, "{at}: {raw:?} comes before {last}");
        last = raw.start;
    }
    let all = map.raw(Span::new(0, len));
    assert!(all.end <= raw_len, "{all:?} of {raw_len}");
}

/// Returns a message with this header and body, and the offset of the body.
pub fn message(header: &str, body: &[u8]) -> (Vec<u8>, usize) {
    let mut message = format!("Subject: x\n{header}\n").into_bytes();
    let at = message.len();
    message.extend_from_slice(body);
    (message, at)
}

/// Passes each text of a message's body to `check`.
pub fn each_text(raw: &[u8], mut check: impl FnMut(&DecodedText<'_>)) {
    let message = Message::parse(raw);
    let limits = Limits::default();
    let fields = HeaderFields::in_message(&message, limits.header_bytes);
    let mut sink = |text: DecodedText<'_>| {
        if text.region == Region::Body {
            check(&text);
        }
    };
    texts(&message, &fields, &limits, TextPolicy::default(), &mut sink, &mut || {});
}
