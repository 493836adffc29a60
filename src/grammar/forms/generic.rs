//! `otherurl` and `genericurl` (RFC 1738 sections 2.1, 3.1, 4 and 5).

use super::super::chars::CharSet;
use super::super::escape::run;
use super::super::host::{Login, login};
use super::super::reject::{ProductionError, RejectPart, end};

/// `otherurl = genericurl`; `schemepart = *xchar | ip-schemepart`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherUrl<'a> {
    /// The text after the colon.
    pub schemepart: &'a [u8],
    /// The parts of the text as an `ip-schemepart`, if it matches that production. Every such text is also `*xchar`.
    pub ip: Option<IpSchemepart<'a>>,
}

/// `ip-schemepart = "//" login [ "/" urlpath ]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpSchemepart<'a> {
    /// The user name, password, host and port.
    pub login: Login<'a>,
    /// `urlpath = *xchar`, without the slash before it; `None` if there is no slash.
    pub urlpath: Option<&'a [u8]>,
}

/// Parses `schemepart`, the text after the colon.
pub(super) fn otherurl(input: &[u8]) -> Result<OtherUrl<'_>, ProductionError> {
    let (schemepart, rest) = run(CharSet::XCHAR, input);
    end(
        OtherUrl {
            schemepart,
            ip: ip_schemepart(schemepart),
        },
        RejectPart::Schemepart,
        rest,
    )
}

/// Parses `ip-schemepart`. All of `input` is `*xchar`.
fn ip_schemepart(input: &[u8]) -> Option<IpSchemepart<'_>> {
    let (login, rest) = login(input.strip_prefix(b"//")?).ok()?;
    let urlpath = match rest.split_first() {
        None => None,
        Some((b'/', urlpath)) => Some(urlpath),
        Some(_) => return None,
    };
    Some(IpSchemepart { login, urlpath })
}
