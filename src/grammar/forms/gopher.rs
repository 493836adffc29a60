//! `gopherurl` (RFC 1738 section 3.4).

use super::super::chars::CharSet;
use super::super::escape::{decode, escaped_byte, run};
use super::super::host::{HostPort, hostport};
use super::super::reject::{ProductionError, RejectPart, end};
use super::after_host;

/// `gopherurl = "gopher://" hostport [ / [ gtype [ selector [ "%09" search [ "%09" gopher+_string ] ] ] ] ]`
///
/// The bare `/` is a misprint for `"/"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GopherUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// The text after the slash that follows the host; `None` without that slash.
    pub path: Option<GopherPath<'a>>,
}

/// The text after the slash, and its division into fields.
///
/// By section 5 a selector may contain `%09`, which makes the division ambiguous. Section 3.4 says that a selector
/// contains no tab, so the first two `%09` after the type separate the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GopherPath<'a> {
    /// The whole text, as written.
    pub text: &'a [u8],
    /// The type: the first `xchar`, which may be an escape.
    pub gtype: Option<&'a [u8]>,
    /// The selector; present, although perhaps empty, if there is a type.
    pub selector: Option<&'a [u8]>,
    /// The search string: the text between the first and the second `%09`.
    pub search: Option<&'a [u8]>,
    /// The gopher+ string: the text after the second `%09`.
    pub gopher_plus: Option<&'a [u8]>,
}

impl GopherUrl<'_> {
    /// The decoded type; `1`, as section 3.4.1 says, if the URL has none.
    #[must_use]
    pub fn effective_gtype(&self) -> u8 {
        self.path
            .and_then(|path| path.gtype)
            .map_or(b'1', |gtype| escaped_byte(gtype).unwrap_or(gtype[0]))
    }

    /// The line that a client sends (sections 3.4.1 to 3.4.9), without its line end: the decoded selector, then the
    /// search and gopher+ strings, each after a tab.
    #[must_use]
    pub fn request(&self) -> Vec<u8> {
        let Some(path) = self.path else {
            return Vec::new();
        };
        let mut line = decode(path.selector.unwrap_or_default());
        for field in [path.search, path.gopher_plus].into_iter().flatten() {
            line.push(b'\t');
            line.extend(decode(field));
        }
        line
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        super::write_after(out, b"/", self.path.map(|path| path.text));
    }
}

/// Parses `gopherurl`, after the `gopher://`.
pub(super) fn gopherurl(input: &[u8]) -> Result<GopherUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    if rest.is_empty() {
        return Ok(GopherUrl {
            hostport,
            path: None,
        });
    }
    let rest = rest
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(RejectPart::Selector, rest))?;
    let (text, rest) = run(CharSet::XCHAR, rest);
    end(
        GopherUrl {
            hostport,
            path: Some(fields(text)),
        },
        RejectPart::Selector,
        rest,
    )
}

/// Divides a text that is `*xchar` into type, selector, search and gopher+ string.
fn fields(text: &[u8]) -> GopherPath<'_> {
    let (gtype, rest) = match text.first() {
        None => {
            return GopherPath {
                text,
                gtype: None,
                selector: None,
                search: None,
                gopher_plus: None,
            };
        }
        Some(b'%') => text.split_at(3),
        Some(_) => text.split_at(1),
    };
    let (selector, rest) = split_at_tab(rest);
    let (search, rest) = rest.map_or((None, None), |rest| {
        let (search, rest) = split_at_tab(rest);
        (Some(search), rest)
    });
    GopherPath {
        text,
        gtype: Some(gtype),
        selector: Some(selector),
        search,
        gopher_plus: rest,
    }
}

/// Splits `text` at the first `%09`: the text before it, and the text after it if there is one.
fn split_at_tab(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.windows(3).position(|window| window == b"%09") {
        Some(at) => (&text[..at], Some(&text[at + 3..])),
        None => (text, None),
    }
}
