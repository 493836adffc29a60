//! `nntpurl` (RFC 1738 section 3.7).

use super::super::host::{HostPort, digits, hostport};
use super::super::reject::{Kind, Part, Refusal, end};
use super::news::group;
use super::{slash, write_after};

/// `nntpurl = "nntp://" hostport "/" group [ "/" digits ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NntpUrl<'a> {
    /// Host and port.
    pub site: HostPort<'a>,
    /// The newsgroup.
    pub group: &'a [u8],
    /// The article's number on that server, as text.
    pub article_number: Option<&'a [u8]>,
}

impl NntpUrl<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.site.write(out);
        out.push(b'/');
        out.extend(self.group);
        write_after(out, b"/", self.article_number);
    }
}

/// `nntpurl`. The `nntp://` has been read.
pub(super) fn nntpurl(input: &[u8]) -> Result<NntpUrl<'_>, Refusal> {
    let (site, rest) = hostport(input)?;
    let (group, rest) = group(slash(Part::Group, rest)?)?;
    let Some(rest) = rest.strip_prefix(b"/") else {
        return end(
            NntpUrl {
                site,
                group,
                article_number: None,
            },
            Part::Group,
            rest,
        );
    };
    let (number, rest) = digits(rest);
    if number.is_empty() {
        return Err(Refusal::new(Kind::Empty, Part::Article, rest));
    }
    end(
        NntpUrl {
            site,
            group,
            article_number: Some(number),
        },
        Part::Article,
        rest,
    )
}
