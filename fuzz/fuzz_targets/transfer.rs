//! Each transfer decoder against a simple twin: equal bytes, and equal raw ranges for each byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_mail::decode::{MappedBytes, fuzzing};
use urlspool_text::span::Span;
use urlspool_fuzz::check_order;
use urlspool_fuzz::twins::{self, Decoded};

fn compare(name: &str, raw: &[u8], step: &MappedBytes, twin: &Decoded) {
    let bytes: Vec<u8> = twin.iter().map(|(byte, _)| *byte).collect();
    assert_eq!(step.bytes, bytes, "{name} of {}", raw.escape_ascii());
    for (at, (_, range)) in twin.iter().enumerate() {
        let found = step.map.raw(Span::new(at, at + 1));
        assert_eq!(
            found.start..found.end,
            *range,
            "{name} at {at} of {}",
            raw.escape_ascii()
        );
    }
    check_order(&step.map, step.bytes.len(), raw.len());
}

fuzz_target!(|raw: &[u8]| {
    compare(
        "quoted-printable",
        raw,
        &fuzzing::quoted_printable(raw),
        &twins::quoted_printable(raw),
    );
    compare("base64", raw, &fuzzing::base64(raw), &twins::base64(raw));
    compare("unfold", raw, &fuzzing::unfold(raw), &twins::unfold(raw));
    match fuzzing::unstuff(raw) {
        Some(step) => compare("unstuff", raw, &step, &twins::unstuff(raw)),
        None => assert_eq!(twins::unstuff(raw).len(), raw.len()),
    }
    if let Some(flowed) = fuzzing::unflow(raw, fuzzing::DelSp::No) {
        check_order(&flowed.map, flowed.bytes.len(), raw.len());
    }
});
