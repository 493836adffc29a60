//! `nntpurl` (RFC 1738 section 3.7).

use super::super::host::{HostPort, digits, hostport};
use super::super::reject::{ProductionError, RejectKind, RejectPart, end};
use super::news::group;
use super::{slash, write_after};

/// `nntpurl = "nntp://" hostport "/" group [ "/" digits ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NntpUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// The newsgroup.
    pub group: &'a [u8],
    /// The digits of the article's number on that server.
    pub article_number: Option<&'a [u8]>,
}

impl NntpUrl<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        out.push(b'/');
        out.extend(self.group);
        write_after(out, b"/", self.article_number);
    }
}

/// Parses `nntpurl`, after the `nntp://`.
pub(super) fn nntpurl(input: &[u8]) -> Result<NntpUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (group, rest) = group(slash(RejectPart::Group, rest)?)?;
    let Some(rest) = rest.strip_prefix(b"/") else {
        return end(
            NntpUrl {
                hostport,
                group,
                article_number: None,
            },
            RejectPart::Group,
            rest,
        );
    };
    let (number, rest) = digits(rest);
    if number.is_empty() {
        return Err(ProductionError::new(
            RejectKind::Empty,
            RejectPart::Article,
            rest,
        ));
    }
    end(
        NntpUrl {
            hostport,
            group,
            article_number: Some(number),
        },
        RejectPart::Article,
        rest,
    )
}
