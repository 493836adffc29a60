//! `mailtourl` (RFC 1738 section 3.5).

use super::super::chars::CharSet;
use super::super::escape::run;
use super::super::reject::{ProductionError, RejectKind, RejectPart, end};

/// `mailtourl = "mailto:" encoded822addr`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailtoUrl<'a> {
    /// `encoded822addr = 1*xchar`. The syntax of RFC 822 is not checked.
    pub addr: &'a [u8],
}

/// Parses `mailtourl`, after the `mailto:`.
pub(super) fn mailtourl(input: &[u8]) -> Result<MailtoUrl<'_>, ProductionError> {
    let (addr, rest) = run(CharSet::XCHAR, input);
    if addr.is_empty() && rest.is_empty() {
        return Err(ProductionError::new(
            RejectKind::Empty,
            RejectPart::Address,
            rest,
        ));
    }
    end(MailtoUrl { addr }, RejectPart::Address, rest)
}
