//! A URL of the web, divided as redirectors are recognized.

use crate::parse::components::{UrlComponents, components};
use crate::scan::cut;

/// The components of an `http` or `https` URL by which a redirector is recognized.
pub(super) struct WebAddress<'a> {
    /// The host, without a final dot.
    pub(super) host: &'a [u8],
    /// The path, without a final slash.
    pub(super) path: &'a [u8],
    /// The query; empty if there is none.
    pub(super) query: &'a [u8],
    /// All bytes after host and port, the fragment included.
    pub(super) rest: &'a [u8],
}

impl<'a> WebAddress<'a> {
    /// Divides `url`. Returns `None` for other schemes and for URLs without a host.
    pub(super) fn of(url: &'a [u8]) -> Option<WebAddress<'a>> {
        let is_web = url
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"http"));
        if !is_web {
            return None;
        }
        WebAddress::of_components(url, &components(cut(url, b'#').before))
    }

    /// Divides `url`, which without its fragment has these components.
    pub(super) fn of_components(
        url: &'a [u8],
        components: &UrlComponents<'a>,
    ) -> Option<WebAddress<'a>> {
        let is_web = components.scheme.eq_ignore_ascii_case(b"http")
            || components.scheme.eq_ignore_ascii_case(b"https");
        let host = components.host.filter(|_| is_web)?;
        let after_slashes = &url[components.scheme.len() + 3..];
        let authority_len = after_slashes
            .iter()
            .position(|byte| b"/\\?#".contains(byte))
            .unwrap_or(after_slashes.len());
        Some(WebAddress {
            host: host.strip_suffix(b".").unwrap_or(host),
            path: components
                .path
                .strip_suffix(b"/")
                .unwrap_or(components.path),
            query: components.query.unwrap_or_default(),
            rest: &after_slashes[authority_len..],
        })
    }
}

/// A parameter of a query.
pub(super) struct QueryParameter<'a> {
    pub(super) name: &'a [u8],
    /// The bytes after the `=`; `None` without one.
    pub(super) value: Option<&'a [u8]>,
}

impl<'a> QueryParameter<'a> {
    /// Divides the text between two `&`. In text that was HTML each `&` is written `&amp;`.
    pub(super) fn of(text: &'a [u8]) -> QueryParameter<'a> {
        let parameter = cut(text.strip_prefix(b"amp;").unwrap_or(text), b'=');
        QueryParameter {
            name: parameter.before,
            value: parameter.after,
        }
    }
}
