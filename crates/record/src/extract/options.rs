//! Options of extraction, and the filters of URLs among them.

use std::collections::HashSet;
use std::iter;

use crate::record::{Demand, MISMATCH};
use urlspool_mail::decode::{AttachmentPolicy, InfoFields};
use urlspool_text::diagnostic::UrlFilter;
use urlspool_text::limits::Limits;
use urlspool_text::parse::{FoundUrl, Grammar, Hazard, Site, components, found_hazards};
use urlspool_text::scan::{Rules, SchemelessPolicy};

/// Extraction options: which URLs to find and which to report.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, named where it is set"
)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Rules for finding URLs.
    pub rules: Rules,
    /// Treatment of hosts without a scheme (`www.`, `ftp.`, and hosts with a path).
    pub schemeless: SchemelessPolicy,
    /// Additional schemes, which need no `//`.
    pub extra_schemes: Vec<String>,
    /// Skips header fields. Otherwise all are searched, except trace and threading fields.
    pub skip_headers: bool,
    /// Skips HTML parts.
    pub skip_html: bool,
    /// Treatment of attachments.
    pub attachments: AttachmentPolicy,
    /// Grammars, at least one of which must accept a URL; empty for no filter.
    pub accept: Vec<Grammar>,
    /// Schemes to report; empty for all.
    pub schemes: Vec<String>,
    /// Hosts to report, in the form of the record field `host`: lower case, with A-labels. Empty
    /// for all.
    pub hosts: Vec<String>,
    /// Domains to report along with their subdomains, in the same form; empty for all. A URL passes
    /// if either list matches it.
    pub domains: Vec<String>,
    /// Domains not to report, nor their subdomains. In the same form.
    pub excluded_domains: HashSet<String>,
    /// Regions to report, in the form of the record field `region`; empty for all. `header` and
    /// `html` match every region that starts with them.
    pub region_names: Vec<String>,
    /// `true` to report only links whose text names a different host.
    pub mismatch: bool,
    /// Hazards, at least one of which a reported URL must have, in the form of the record field
    /// `hazards`; empty for no filter.
    pub hazards: Vec<String>,
    /// Duplicates to drop.
    pub unique: Unique,
    /// Maximum number of bytes of context on each side of a URL, at most 4096; 0 for none.
    pub context_bytes: usize,
    /// `true` to remove the recipient's address from the URLs of redirectors.
    pub strip_recipient: bool,
    /// Header fields that records repeat in `message.fields`; empty for none. Case is ignored.
    pub header_fields: Vec<String>,
    /// Demand for record identifiers. If unneeded, they are 0 and a scan is faster.
    pub ids: Demand,
    /// Demand for line numbers. If unneeded, they are 0 and a scan is faster.
    pub line_numbers: Demand,
    /// Demand for regions. If unneeded and not filtered on, they are empty and a scan is faster.
    pub regions: Demand,
    /// Message header data that records need. The fewer fields, the faster a scan.
    pub info: InfoFields,
    /// Limits of extraction.
    pub limits: Limits,
}

/// Duplicates to drop. Two URLs are duplicates if their keys and fragments are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unique {
    /// Keep all duplicates.
    #[default]
    None,
    /// Drop duplicates within a message. The record holds their number.
    Message,
    /// Drop duplicates within a run of `pipeline`. [`Extractor::extract`] sees a single message and
    /// treats this as [`Unique::None`].
    ///
    /// [`Extractor::extract`]: super::Extractor::extract
    Run,
}

impl Options {
    /// Returns the first filter that excludes a URL. `mismatch` returns `true` for a link whose
    /// text names a different host.
    pub(super) fn filter_of(
        &self,
        found: &FoundUrl<'_>,
        region: &str,
        mismatch: impl Fn() -> bool,
    ) -> Option<UrlFilter> {
        let mut filters = UrlFilter::ALL.into_iter();
        filters.find(|filter| !self.passes(*filter, found, region, &mismatch))
    }

    /// Returns `true` if a URL passes a filter or the filter is not set.
    fn passes(
        &self,
        filter: UrlFilter,
        found: &FoundUrl<'_>,
        region: &str,
        mismatch: &impl Fn() -> bool,
    ) -> bool {
        match (filter, found.verdicts) {
            (UrlFilter::Accept, _) if self.accept.is_empty() => true,
            (UrlFilter::Accept, verdicts) => verdicts.is_some_and(|verdicts| {
                let mut grammars = verdicts.conforms();
                grammars.any(|grammar| self.accept.contains(&grammar))
            }),
            (UrlFilter::Schemes, _) if self.schemes.is_empty() => true,
            (UrlFilter::Schemes, _) => {
                let scheme = components(found.url()).scheme;
                let mut names = self.schemes.iter();
                names.any(|name| name.as_bytes().eq_ignore_ascii_case(scheme))
            }
            (UrlFilter::Host, _) if self.hosts.is_empty() => true,
            (UrlFilter::Domain, _) if self.domains.is_empty() || !self.hosts.is_empty() => true,
            (UrlFilter::Host | UrlFilter::Domain, _) => {
                let site = Site::of(&components(found.url()));
                site.is_some_and(|site| self.wants_host(&site.host))
            }
            (UrlFilter::Excluded, _) if self.excluded_domains.is_empty() => true,
            (UrlFilter::Excluded, _) => {
                let site = Site::of(&components(found.url()));
                site.is_none_or(|site| !self.excludes_host(&site.host))
            }
            (UrlFilter::Region, _) => self.region_names.is_empty() || self.wants_region(region),
            (UrlFilter::Mismatch, _) => !self.mismatch || mismatch(),
            (UrlFilter::Hazard, _) if self.hazards.is_empty() => true,
            (UrlFilter::Hazard, _) => {
                let mut of_url = found_hazards(found).into_iter().map(Hazard::name);
                of_url.any(|name| self.wants_hazard(name))
                    || self.wants_hazard(MISMATCH) && mismatch()
            }
        }
    }

    /// Returns `true` if a region is wanted.
    fn wants_region(&self, region: &str) -> bool {
        self.region_names.iter().any(|wanted| {
            let Some((start, rest)) = region.split_at_checked(wanted.len()) else {
                return false;
            };
            // `header` and `html` include the regions that start with them and a colon.
            start.eq_ignore_ascii_case(wanted) && (rest.is_empty() || rest.starts_with(':'))
        })
    }

    fn wants_hazard(&self, name: &str) -> bool {
        self.hazards.iter().any(|wanted| wanted == name)
    }

    /// Returns `true` if a host is an excluded domain or a subdomain of one.
    fn excludes_host(&self, host: &str) -> bool {
        let parents = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
        let mut domains = iter::once(host).chain(parents);
        domains.any(|domain| self.excluded_domains.contains(domain))
    }

    /// Returns `true` if a host is wanted.
    fn wants_host(&self, host: &str) -> bool {
        let mut domains = self.domains.iter();
        self.hosts.iter().any(|wanted| wanted == host)
            || domains.any(|domain| {
                let rest = host.strip_suffix(domain.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            })
    }
}
