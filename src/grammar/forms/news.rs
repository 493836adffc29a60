//! `newsurl` (RFC 1738 section 3.6).

use super::super::chars::CharSet;
use super::super::escape::run;
use super::super::host::{Host, host};
use super::super::reject::{Production, ProductionError, RejectKind, RejectPart, end, unexpected};

/// `newsurl = "news:" grouppart`; `grouppart = "*" | group | article`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewsUrl<'a> {
    /// `*`: all groups.
    All,
    /// `group`
    Group(&'a [u8]),
    /// `article`: a Message-ID without its brackets.
    Article {
        /// The text before the `@`.
        unique: &'a [u8],
        /// The text after the `@`: a host without a port.
        host: Host<'a>,
    },
}

impl NewsUrl<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            NewsUrl::All => out.push(b'*'),
            NewsUrl::Group(group) => out.extend(*group),
            NewsUrl::Article { unique, host } => {
                out.extend(*unique);
                out.push(b'@');
                out.extend(host.text);
            }
        }
    }
}

/// Parses `grouppart`, after the `news:`.
///
/// No group contains an `@` and every article does, so the first `@` decides.
pub(super) fn newsurl(input: &[u8]) -> Result<NewsUrl<'_>, ProductionError> {
    let (before, rest) = run(CharSet::ARTICLE, input);
    if let Some(rest) = rest.strip_prefix(b"@") {
        if before.is_empty() {
            return Err(ProductionError::new(
                RejectKind::Empty,
                RejectPart::Article,
                input,
            ));
        }
        let (host, rest) = host(rest)?;
        return end(
            NewsUrl::Article {
                unique: before,
                host,
            },
            RejectPart::Host,
            rest,
        );
    }
    if !rest.is_empty() {
        return Err(unexpected(RejectPart::Article, rest));
    }
    if input == b"*" {
        return Ok(NewsUrl::All);
    }
    match group(input) {
        Ok((group, [])) => Ok(NewsUrl::Group(group)),
        Err(empty) if input.is_empty() => Err(empty),
        // The text is a prefix of an article: its `@` is missing, at the end of the input.
        _ => Err(ProductionError::new(
            RejectKind::Missing,
            RejectPart::Article,
            b"",
        )),
    }
}

/// Parses `group = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]`
pub(super) fn group(input: &[u8]) -> Production<'_, &[u8]> {
    match input.first() {
        None => Err(ProductionError::new(
            RejectKind::Empty,
            RejectPart::Group,
            input,
        )),
        Some(&first) if !CharSet::ALPHA.has(first) => Err(ProductionError::new(
            RejectKind::Unexpected,
            RejectPart::Group,
            input,
        )),
        Some(_) => {
            let len = input
                .iter()
                .take_while(|&&byte| CharSet::GROUP.has(byte))
                .count();
            Ok(input.split_at(len))
        }
    }
}
