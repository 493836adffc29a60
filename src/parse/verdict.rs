//! The verdicts of three grammars: RFC 1738 by our own grammar, RFC 3986 and WHATWG by crates.

use iri_string::spec::UriSpec;

use super::canonical::canonical;
use super::components::{UrlComponents, components};
use super::whatwg::{WhatwgReading, whatwg};
use crate::grammar::{self, Reject, Url};

/// A grammar that gives a verdict on each URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grammar {
    /// RFC 1738 section 5.
    Rfc1738,
    /// RFC 3986.
    Rfc3986,
    /// The WHATWG URL standard.
    Whatwg,
}

impl Grammar {
    /// All grammars, in the order of a record's `conforms`.
    pub const ALL: [Grammar; 3] = [Grammar::Rfc1738, Grammar::Rfc3986, Grammar::Whatwg];

    /// Returns the name that occurs in a record's `conforms`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Grammar::Rfc1738 => "rfc1738",
            Grammar::Rfc3986 => "rfc3986",
            Grammar::Whatwg => "whatwg",
        }
    }
}

/// The verdicts of the three grammars on one text.
#[derive(Clone, Debug)]
pub struct Verdicts<'u> {
    /// The components of the text without its fragment, divided without a check by any grammar.
    pub components: UrlComponents<'u>,
    /// The verdict of RFC 1738 on the text without its fragment.
    pub rfc1738: Result<Url<'u>, Reject>,
    /// `true` if RFC 3986 accepts the whole text as a `URI`.
    pub rfc3986: bool,
    /// WHATWG's reading of the whole text; `None` if WHATWG rejects it.
    pub whatwg: Option<WhatwgReading<'u>>,
}

impl<'u> Verdicts<'u> {
    /// Returns the verdicts on `full`, of which the first `url_len` bytes are the URL without its fragment.
    ///
    /// Linear in the length of the text. RFC 3986 rejects bytes that are not UTF-8; WHATWG reads them as U+FFFD.
    #[must_use]
    pub fn of(full: &'u [u8], url_len: usize) -> Verdicts<'u> {
        // A `#` within `url_len` is an error by RFC 1738; in no grammar is it part of a host, path or query.
        let end = memchr::memchr(b'#', full).map_or(url_len, |hash| hash.min(url_len));
        Verdicts::of_components(full, url_len, components(&full[..end]))
    }

    /// Does the same as [`Verdicts::of`], given the components of the URL.
    pub(super) fn of_components(
        full: &'u [u8],
        url_len: usize,
        components: UrlComponents<'u>,
    ) -> Verdicts<'u> {
        let rfc1738 = grammar::url(&full[..url_len]);
        let canonical = canonical(full);
        Verdicts {
            components,
            rfc1738,
            rfc3986: canonical.is_some() || rfc3986(full),
            whatwg: canonical.or_else(|| whatwg(full)),
        }
    }

    /// Returns `true` if `grammar` accepts the text.
    #[must_use]
    pub fn conforms_to(&self, grammar: Grammar) -> bool {
        match grammar {
            Grammar::Rfc1738 => self.rfc1738.is_ok(),
            Grammar::Rfc3986 => self.rfc3986,
            Grammar::Whatwg => self.whatwg.is_some(),
        }
    }

    /// Returns the grammars that accept the text, in the order of [`Grammar::ALL`].
    pub fn conforms(&self) -> impl Iterator<Item = Grammar> {
        Grammar::ALL
            .into_iter()
            .filter(|grammar| self.conforms_to(*grammar))
    }

    /// Returns WHATWG's serialization: the URL that a browser fetches.
    #[must_use]
    pub fn href(&self) -> Option<&str> {
        self.whatwg.as_ref().map(|whatwg| whatwg.href.as_ref())
    }
}

/// Returns `true` if RFC 3986 accepts a text as a `URI`.
pub(super) fn rfc3986(full: &[u8]) -> bool {
    std::str::from_utf8(full).is_ok_and(|text| iri_string::validate::iri::<UriSpec>(text).is_ok())
}
