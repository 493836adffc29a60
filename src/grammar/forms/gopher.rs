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
    /// Host and port.
    pub hostport: HostPort<'a>,
    /// What follows the slash after the host; absent without that slash.
    pub path: Option<GopherPath<'a>>,
}

/// What follows the slash.
///
/// By section 5 a selector may hold `%09`, which leaves several readings; section 3.4 says that it holds no
/// tab, so the first two `%09` after the type divide it (`spec/ambiguities.md` 23).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GopherPath<'a> {
    /// All of it, as written.
    pub text: &'a [u8],
    /// The first `xchar`; an escape counts as one.
    pub gtype: Option<&'a [u8]>,
    /// Present, if perhaps empty, where there is a type.
    pub selector: Option<&'a [u8]>,
    /// Between the first `%09` and the second.
    pub search: Option<&'a [u8]>,
    /// After the second `%09`.
    pub gopher_plus: Option<&'a [u8]>,
}

impl GopherUrl<'_> {
    /// The type that a client assumes: `1` where the URL has none (section 3.4.1), decoded.
    #[must_use]
    pub fn effective_gtype(&self) -> u8 {
        self.path
            .and_then(|path| path.gtype)
            .map_or(b'1', |gtype| escaped_byte(gtype).unwrap_or(gtype[0]))
    }

    /// The line that a client sends (sections 3.4.1 to 3.4.9), without its end: the decoded selector, then
    /// after tabs the search and gopher+ strings.
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

/// `gopherurl`. The `gopher://` has been read.
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
            path: Some(divided(text)),
        },
        RejectPart::Selector,
        rest,
    )
}

/// Type, selector, search and gopher+ string of a text that holds only `xchar`s.
fn divided(text: &[u8]) -> GopherPath<'_> {
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
    let (selector, rest) = cut_at_tab(rest);
    let (search, rest) = rest.map_or((None, None), |rest| {
        let (search, rest) = cut_at_tab(rest);
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

/// What stands before the first `%09`, and after it.
fn cut_at_tab(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.windows(3).position(|window| window == b"%09") {
        Some(at) => (&text[..at], Some(&text[at + 3..])),
        None => (text, None),
    }
}
