//! Charsets and encoded words: converted text is UTF-8, maps are in order, and ASCII is unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_mail::decode::fuzzing;
use urlspool_fuzz::check_order;

const LABELS: [&str; 16] = [
    "utf-8",
    "us-ascii",
    "iso-8859-1",
    "windows-1251",
    "koi8-r",
    "iso-2022-jp",
    "iso-2022-kr",
    "iso-2022-cn",
    "hz-gb-2312",
    "gb18030",
    "big5",
    "euc-jp",
    "shift_jis",
    "utf-16",
    "utf-7",
    "no-such-charset",
];

fuzz_target!(|input: &[u8]| {
    let Some((&choice, raw)) = input.split_first() else {
        return;
    };
    let label = LABELS
        .get(usize::from(choice) % (LABELS.len() + 1))
        .copied();
    let converted = fuzzing::to_utf8(raw, label);
    if let Some(text) = &converted {
        check_order(&text.map, text.bytes.len(), raw.len());
    }
    let text = converted.as_ref().map_or(raw, |text| &text.bytes);
    let has_state = raw
        .iter()
        .any(|byte| matches!(byte, 0x0E | 0x0F | 0x1B | b'~' | b'+' | 0));
    if raw.is_ascii() && !has_state && label != Some("utf-16") {
        assert_eq!(text, raw, "{label:?}");
    }
    // UTF-7 has no bytes above 127; such bytes in the input are unchanged.
    assert!(
        label == Some("utf-7") || std::str::from_utf8(text).is_ok(),
        "{label:?}: {}",
        text.escape_ascii()
    );
    let utf7 = fuzzing::decode_utf7(raw);
    check_order(&utf7.map, utf7.bytes.len(), raw.len());
    let words = fuzzing::decode_words_with_map(raw);
    check_order(&words.map, words.bytes.len(), raw.len());
});
