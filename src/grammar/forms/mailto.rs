//! `mailtourl` (RFC 1738 section 3.5).

use super::super::chars::Set;
use super::super::escape::run;
use super::super::reject::{Kind, Part, Refusal, end};

/// `mailtourl = "mailto:" encoded822addr`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailtoUrl<'a> {
    /// `encoded822addr = 1*xchar`. Nothing of RFC 822 is checked.
    pub addr: &'a [u8],
}

/// `mailtourl`. The `mailto:` has been read.
pub(super) fn mailtourl(input: &[u8]) -> Result<MailtoUrl<'_>, Refusal> {
    let (addr, rest) = run(Set::XCHAR, input);
    if addr.is_empty() && rest.is_empty() {
        return Err(Refusal::new(Kind::Empty, Part::Address, rest));
    }
    end(MailtoUrl { addr }, Part::Address, rest)
}
