//! The configuration: accepted text survives printing and parsing; an error is one message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_files::config::Config;

fuzz_target!(|text: &str| {
    match Config::parse(text) {
        Ok(config) => {
            let printed = config.resolved();
            let again =
                Config::parse(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
            assert_eq!(again, config, "{printed}");
            assert_eq!(again.resolved(), printed);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(
                !text.is_empty()
                    && text
                        .chars()
                        .all(|c| matches!(c, '\n' | '\t') || !c.is_control()),
                "{text:?}"
            );
        }
    }
});
