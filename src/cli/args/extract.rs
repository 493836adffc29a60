//! The arguments of `scan` that override the `[extract]` and `[limits]` tables of the configuration.

use super::limit::{LimitSetting, limit_setting, limits_help};
use super::values::{named, scheme_name};
use super::{EXTRACT, GENERAL};
use crate::config::{Config, ExtractTable};
use crate::extract::Unique;
use crate::parse::Grammar;
use crate::scan::Rules;

/// The arguments that say which URLs are found and written. Each has a reverse, since the configuration may hold it.
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that is given or not"
)]
pub(crate) struct ExtractArgs {
    /// Rules by which URLs are found
    #[arg(long, value_name = "RULES", value_parser = named::<Rules>(), help_heading = EXTRACT)]
    pub(crate) rules: Option<Rules>,

    /// Write only URLs that one of these grammars accepts (comma-separated list)
    #[arg(long, value_name = "GRAMMAR,...", value_delimiter = ',', value_parser = named::<Grammar>(), help_heading = EXTRACT)]
    pub(crate) accept: Vec<Grammar>,

    /// Write URLs whatever grammar accepts them
    #[arg(long, overrides_with = "accept", hide_short_help = true, help_heading = EXTRACT)]
    no_accept: bool,

    /// Write only URLs of these schemes (comma-separated list, such as `http,https,ftp`)
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',', value_parser = scheme_name, help_heading = EXTRACT)]
    pub(crate) schemes: Vec<String>,

    /// Write URLs of every scheme
    #[arg(long, overrides_with = "schemes", hide_short_help = true, help_heading = EXTRACT)]
    no_schemes: bool,

    /// Find these schemes without `//` too (comma-separated list)
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',', value_parser = scheme_name, help_heading = EXTRACT)]
    extra_schemes: Vec<String>,

    /// Find only the built-in schemes without `//`
    #[arg(long, overrides_with = "extra_schemes", hide_short_help = true, help_heading = EXTRACT)]
    no_extra_schemes: bool,

    /// Scope in which a URL is written once
    #[arg(long, value_name = "WITHIN", value_parser = named::<Unique>(), help_heading = EXTRACT)]
    pub(crate) unique: Option<Unique>,

    /// Add N bytes of the text before and after each URL (0: none)
    #[arg(long, value_name = "N", help_heading = EXTRACT)]
    pub(crate) context: Option<usize>,

    /// Skip header fields
    #[arg(long, overrides_with = "headers", help_heading = EXTRACT)]
    no_headers: bool,

    /// Search header fields
    #[arg(long, overrides_with = "no_headers", hide_short_help = true, help_heading = EXTRACT)]
    headers: bool,

    /// Skip HTML parts of messages
    #[arg(long, overrides_with = "html", help_heading = EXTRACT)]
    no_html: bool,

    /// Search HTML parts of messages
    #[arg(long, overrides_with = "no_html", hide_short_help = true, help_heading = EXTRACT)]
    html: bool,

    /// Skip hosts without a scheme (www.example.org)
    #[arg(long, overrides_with = "schemeless", help_heading = EXTRACT)]
    no_schemeless: bool,

    /// Find hosts without a scheme
    #[arg(long, overrides_with = "no_schemeless", hide_short_help = true, help_heading = EXTRACT)]
    schemeless: bool,

    /// Take the recipient's address out of the URLs of redirectors
    #[arg(long, overrides_with = "no_strip_recipient", help_heading = EXTRACT)]
    strip_recipient: bool,

    /// Keep the recipient's address in the URLs of redirectors
    #[arg(long, overrides_with = "strip_recipient", hide_short_help = true, help_heading = EXTRACT)]
    no_strip_recipient: bool,

    #[arg(long = "limit", value_name = "NAME=VALUE", value_parser = limit_setting, help = limits_help().lines().next().unwrap_or_default().to_owned(), long_help = limits_help(), help_heading = GENERAL)]
    limits: Vec<LimitSetting>,
}

impl ExtractArgs {
    /// Overrides the configuration by what is given.
    pub(crate) fn apply(&self, config: &mut Config) {
        for limit in &self.limits {
            limit.apply(&mut config.limits);
        }
        let ExtractTable {
            rules,
            accept,
            schemes,
            extra_schemes,
            unique,
            context,
            headers,
            html,
            schemeless,
            strip_recipient,
        } = &mut config.extract;
        *rules = self.rules.unwrap_or(*rules);
        *unique = self.unique.unwrap_or(*unique);
        *context = self.context.unwrap_or(*context);
        set_list(accept, &self.accept, self.no_accept);
        set_list(schemes, &self.schemes, self.no_schemes);
        set_list(extra_schemes, &self.extra_schemes, self.no_extra_schemes);
        set_flag(headers, self.headers, self.no_headers);
        set_flag(html, self.html, self.no_html);
        set_flag(schemeless, self.schemeless, self.no_schemeless);
        set_flag(
            strip_recipient,
            self.strip_recipient,
            self.no_strip_recipient,
        );
    }
}

fn set_list<T: Clone>(value: &mut Vec<T>, given: &[T], empty: bool) {
    if empty || !given.is_empty() {
        given.clone_into(value);
    }
}

/// Clap lets the last of the two flags win.
fn set_flag(value: &mut bool, on: bool, off: bool) {
    *value = on || *value && !off;
}
