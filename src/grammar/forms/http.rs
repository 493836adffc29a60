//! `httpurl` (RFC 1738 section 3.3).

use super::super::chars::CharSet;
use super::super::escape::run;
use super::super::host::{HostPort, hostport};
use super::super::reject::{ProductionError, RejectPart, end};
use super::{after_host, segments, write_after};

/// `httpurl = "http://" hostport [ "/" hpath [ "?" search ]]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl<'a> {
    /// The host and port. A user name is not allowed (section 3.3).
    pub hostport: HostPort<'a>,
    /// `hpath`; `None` without the slash before it.
    pub path: Option<&'a [u8]>,
    /// `search`; present only with a path.
    pub search: Option<&'a [u8]>,
}

impl<'a> HttpUrl<'a> {
    /// The segments of the path; empty if there is no path.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        self.path.into_iter().flat_map(segments)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        write_after(out, b"/", self.path);
        write_after(out, b"?", self.search);
    }
}

/// Parses `httpurl`, after the `http://`.
pub(super) fn httpurl(input: &[u8]) -> Result<HttpUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    if rest.is_empty() {
        return Ok(HttpUrl {
            hostport,
            path: None,
            search: None,
        });
    }
    let rest = rest
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(RejectPart::Path, rest))?;
    let (path, rest) = hpath(rest);
    let Some(rest) = rest.strip_prefix(b"?") else {
        return end(
            HttpUrl {
                hostport,
                path: Some(path),
                search: None,
            },
            RejectPart::Path,
            rest,
        );
    };
    let (search, rest) = search(rest);
    end(
        HttpUrl {
            hostport,
            path: Some(path),
            search: Some(search),
        },
        RejectPart::Search,
        rest,
    )
}

/// Parses `hpath = hsegment *[ "/" hsegment ]`; `hsegment = *[ uchar | ";" | ":" | "@" | "&" | "=" ]`
fn hpath(input: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = run(CharSet::HSEGMENT, input).1;
    while let Some(next) = rest.strip_prefix(b"/") {
        rest = run(CharSet::HSEGMENT, next).1;
    }
    input.split_at(input.len() - rest.len())
}

/// Parses `search = *[ uchar | ";" | ":" | "@" | "&" | "=" ]`
pub(super) fn search(input: &[u8]) -> (&[u8], &[u8]) {
    run(CharSet::HSEGMENT, input)
}
