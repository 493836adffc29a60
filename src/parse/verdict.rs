//! The three verdicts: RFC 1738 by our own grammar, RFC 3986 and WHATWG by crates.

use std::borrow::Cow;

use iri_string::spec::UriSpec;

use super::canonical;
use super::components::{UrlComponents, components};

use crate::grammar::{self, Reject, Url};

/// A grammar that a text is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grammar {
    /// RFC 1738 section 5.
    Rfc1738,
    /// RFC 3986.
    Rfc3986,
    /// The URL standard of the WHATWG.
    Whatwg,
}

impl Grammar {
    /// All grammars, in the order of a record's `conforms`.
    pub const ALL: [Grammar; 3] = [Grammar::Rfc1738, Grammar::Rfc3986, Grammar::Whatwg];

    /// The name in a record's `conforms`, in flags and in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Grammar::Rfc1738 => "rfc1738",
            Grammar::Rfc3986 => "rfc3986",
            Grammar::Whatwg => "whatwg",
        }
    }
}

/// What three grammars say of one text.
#[derive(Clone, Debug)]
pub struct Verdicts<'u> {
    /// The components of the text without its fragment, as they are divided before any grammar looks at them.
    pub components: UrlComponents<'u>,
    /// RFC 1738, of the text without its fragment.
    pub rfc1738: Result<Url<'u>, Reject>,
    /// Whether RFC 3986 accepts the whole text as a `URI`.
    pub rfc3986: bool,
    /// WHATWG's reading of the whole text, if it has one.
    pub whatwg: Option<Whatwg<'u>>,
}

/// A text as WHATWG reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whatwg<'u> {
    /// The serialisation.
    pub href: Cow<'u, str>,
    /// Whether its scheme is one of the special ones, which browsers fetch.
    pub is_special: bool,
    /// Whether its host is an address.
    pub is_address: bool,
}

impl From<url::Url> for Whatwg<'_> {
    fn from(url: url::Url) -> Self {
        Whatwg {
            is_special: url.is_special(),
            is_address: matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_))),
            href: Cow::Owned(url.into()),
        }
    }
}

impl<'u> Verdicts<'u> {
    /// The verdicts on `full`, the first `url_len` bytes of which are the URL without its fragment.
    ///
    /// Linear in the text's length. Bytes that are not UTF-8 are refused by RFC 3986 and read as U+FFFD by WHATWG.
    #[must_use]
    pub fn of(full: &'u [u8], url_len: usize) -> Verdicts<'u> {
        Verdicts::of_divided(full, url_len, components(&full[..url_len]))
    }

    /// The same, where the components are known.
    pub(super) fn of_divided(
        full: &'u [u8],
        url_len: usize,
        components: UrlComponents<'u>,
    ) -> Verdicts<'u> {
        let rfc1738 = grammar::url(&full[..url_len]);
        match canonical::read(full) {
            Some(whatwg) => Verdicts {
                components,
                rfc1738,
                rfc3986: true,
                whatwg: Some(whatwg),
            },
            None => Verdicts {
                components,
                rfc1738,
                rfc3986: rfc3986(full),
                whatwg: whatwg(full),
            },
        }
    }

    /// For each of [`Grammar::ALL`], `true` if it accepts.
    #[must_use]
    pub fn accepts(&self) -> [bool; Grammar::ALL.len()] {
        [self.rfc1738.is_ok(), self.rfc3986, self.whatwg.is_some()]
    }

    /// The grammars that accept, in the order of a record's `conforms`.
    pub fn conforms(&self) -> impl Iterator<Item = Grammar> {
        Grammar::ALL
            .into_iter()
            .zip(self.accepts())
            .filter_map(|(grammar, accepts)| accepts.then_some(grammar))
    }

    /// WHATWG's serialisation: what a browser would fetch.
    #[must_use]
    pub fn href(&self) -> Option<&str> {
        self.whatwg.as_ref().map(|whatwg| whatwg.href.as_ref())
    }
}

/// Whether RFC 3986 accepts a text as a `URI`.
pub(super) fn rfc3986(full: &[u8]) -> bool {
    std::str::from_utf8(full).is_ok_and(|text| iri_string::validate::iri::<UriSpec>(text).is_ok())
}

/// WHATWG's reading of a text.
pub(super) fn whatwg(full: &[u8]) -> Option<Whatwg<'static>> {
    url::Url::parse(&String::from_utf8_lossy(full))
        .ok()
        .map(Whatwg::from)
}
