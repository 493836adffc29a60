//! A URL of the web, divided as redirectors are told from one another.

use crate::parse::components::{UrlComponents, components};
use crate::scan::cut;

/// A URL of the web, divided as redirectors are told from one another.
pub(super) struct WebAddress<'a> {
    pub(super) host: &'a [u8],
    pub(super) path: &'a [u8],
    pub(super) query: &'a [u8],
    pub(super) rest: &'a [u8], // Everything behind host and port, with the fragment.
}

impl<'a> WebAddress<'a> {
    pub(super) fn of(url: &'a [u8]) -> Option<WebAddress<'a>> {
        if !url
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"http"))
        {
            return None;
        }
        WebAddress::divided(url, &components(cut(url, b'#').0))
    }

    /// The place of `url`, which without its fragment has these components.
    pub(super) fn divided(url: &'a [u8], parts: &UrlComponents<'a>) -> Option<WebAddress<'a>> {
        let web = parts.scheme.eq_ignore_ascii_case(b"http")
            || parts.scheme.eq_ignore_ascii_case(b"https");
        let host = parts.host.filter(|_| web)?;
        let behind = &url[parts.scheme.len() + 3..];
        let authority = behind
            .iter()
            .position(|byte| b"/\\?#".contains(byte))
            .unwrap_or(behind.len());
        let host = host.strip_suffix(b".").unwrap_or(host);
        let path = parts.path.strip_suffix(b"/").unwrap_or(parts.path);
        Some(WebAddress {
            host,
            path,
            query: parts.query.unwrap_or_default(),
            rest: &behind[authority..],
        })
    }
}

/// Name and value of what stands between two `&`. In text that was HTML each is an `&amp;`.
pub(super) fn parameter(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    cut(text.strip_prefix(b"amp;").unwrap_or(text), b'=')
}
