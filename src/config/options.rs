//! The options of the pipeline that a configuration asks for.

use super::Config;
use crate::decode::{HeaderPolicy, HtmlPolicy, InfoFields};
use crate::extract::Options;
use crate::record::Demand;
use crate::scan::SchemelessPolicy;

impl Config {
    /// The options of the `[extract]` and `[limits]` tables, for the pipeline.
    #[must_use]
    pub fn options(&self) -> Options {
        let extract = &self.extract;
        Options {
            rules: extract.rules,
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
            html: if extract.html {
                HtmlPolicy::Search
            } else {
                HtmlPolicy::Skip
            },
            accept: extract.accept.clone(),
            schemes: extract
                .schemes
                .iter()
                .map(|scheme| scheme.to_ascii_lowercase())
                .collect(),
            hosts: Vec::new(),
            domains: Vec::new(),
            unique: extract.unique,
            context_bytes: extract.context,
            strip_recipient: extract.strip_recipient,
            ids: Demand::default(),
            line_numbers: Demand::default(),
            regions: Demand::default(),
            info: InfoFields::default(),
            limits: self.limits,
        }
    }
}
