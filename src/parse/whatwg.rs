//! WHATWG's reading of a text, by the crate `url`.

use std::borrow::Cow;

/// WHATWG's reading of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatwgReading<'u> {
    /// The serialization: the URL that a browser fetches.
    pub href: Cow<'u, str>,
    /// `true` if its scheme is one of the special ones, which browsers fetch.
    pub is_special: bool,
    /// `true` if its host is an IP address.
    pub is_address: bool,
}

impl From<url::Url> for WhatwgReading<'_> {
    fn from(url: url::Url) -> Self {
        WhatwgReading {
            is_special: url.is_special(),
            is_address: matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_))),
            href: Cow::Owned(url.into()),
        }
    }
}

/// Returns WHATWG's reading of a text; `None` if WHATWG rejects it.
pub(super) fn whatwg(full: &[u8]) -> Option<WhatwgReading<'static>> {
    url::Url::parse(&String::from_utf8_lossy(full))
        .ok()
        .map(WhatwgReading::from)
}
