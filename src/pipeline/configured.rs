//! The options that a configuration asks for.

use super::extract::Options;
use crate::config::{Config, RulesName, UniqueName};
use crate::decode::HeaderPolicy;
use crate::scan::{Rules, SchemelessPolicy};

impl Options {
    /// The options of a configuration's `[extract]` and `[limits]`.
    #[must_use]
    pub fn of(config: &Config) -> Options {
        let extract = &config.extract;
        Options {
            rules: if extract.rules == RulesName::Rfc1738 {
                Rules::Rfc1738
            } else {
                Rules::Wide
            },
            schemeless: if extract.schemeless {
                SchemelessPolicy::Find
            } else {
                SchemelessPolicy::Skip
            },
            extra_schemes: extract.extra_schemes.clone(),
            headers: if extract.headers {
                HeaderPolicy::Search
            } else {
                HeaderPolicy::Skip
            },
            accept: extract
                .accept
                .iter()
                .map(|grammar| grammar.name())
                .collect(),
            schemes: extract
                .schemes
                .iter()
                .map(|scheme| scheme.to_ascii_lowercase())
                .collect(),
            once_a_message: extract.unique == UniqueName::Message,
            context_bytes: extract.context,
            strip_recipient: extract.strip_recipient,
            limits: config.limits.limits(),
        }
    }
}
