//! Encoded bodies in a text: no URL is lost that is in a line without an equals sign.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_fuzz::{each_text, message};

const URL: &[u8] = b"http://p.example/q";

fuzz_target!(|body: &[u8]| {
    // Other charsets, marks of terminals and yEnc encode other text.
    let is_other = |byte: &u8| matches!(byte, 0 | 8 | 0x1B | b'~' | 0x80..);
    if body.iter().any(is_other) || body.windows(3).any(|text| text == b"=yb") {
        return;
    }
    let (raw, _) = message("Content-Type: text/plain; charset=utf-8\n", &[b"x\n", body].concat());
    let lines = body.split(|&byte| byte == b'\n').filter(|line| !line.contains(&b'='));
    let wanted: usize = lines.map(|line| places(line).count()).sum();
    let mut found = 0;
    each_text(&raw, |text| {
        let is_read = |at: &usize| {
            let mut spans = text.encoded.iter();
            !spans.any(|span| span.start <= *at && *at < span.end)
        };
        found += places(&text.bytes).filter(is_read).count();
    });
    assert!(wanted <= found, "{found} of {wanted}");
});

/// The offsets of the URL in a text.
fn places(text: &[u8]) -> impl Iterator<Item = usize> {
    let windows = text.windows(URL.len()).enumerate();
    windows.filter(|(_, window)| *window == URL).map(|(at, _)| at)
}
