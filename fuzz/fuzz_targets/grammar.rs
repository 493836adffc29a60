//! The grammar against its twin, an interpreter of RFC 1738's BNF, and printed URLs parsed again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool::grammar;

#[allow(dead_code)]
#[path = "../../tests/twin/bnf.rs"]
mod bnf;

fuzz_target!(|text: &[u8]| {
    // The twin follows every path, which takes long for long texts.
    if text.len() > 120 {
        return;
    }
    let twin = bnf::verdict(text);
    match grammar::Url::parse(text) {
        Ok(url) => {
            assert_eq!(twin.form, Some(url.form.name()), "{}", text.escape_ascii());
            let printed = url.to_string().into_bytes();
            assert_eq!(printed, text);
            assert_eq!(grammar::Url::parse(&printed), Ok(url));
        }
        Err(reject) => {
            assert_eq!(twin.form, None, "{}", text.escape_ascii());
            assert!(reject.offset <= text.len(), "{reject}");
        }
    }
});
