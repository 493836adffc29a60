//! Whether a reading is a URL by the rules in force.

use super::components::{UrlComponents, components};
use super::reject::RejectReason;
use super::verdict::Verdicts;
use crate::grammar::{self, BareRequirement, Reject};
use crate::scan::{Rules, Scanner, likely_host, plausible_host};

/// Where a text stands, which decides how much it has to look like a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextContext {
    /// In a wrapper, which says that it is a URL.
    Wrapped,
    /// In running text.
    Bare,
    /// In running text, and its scheme was guessed.
    Guessed,
    /// In an attribute, where browsers take more than others.
    Attribute,
}

/// The verdicts on `full`, a URL with its fragment, if it is one by the rules of `scanner`. Beyond `url_bytes` only its
/// scheme and host are looked at, and there are none.
///
/// # Errors
///
/// AlternateReason it is no URL.
pub(super) fn accept<'u>(
    full: &'u [u8],
    place: TextContext,
    scanner: &Scanner,
    url_bytes: usize,
) -> Result<Option<Verdicts<'u>>, RejectReason> {
    let url_len = memchr::memchr(b'#', full).unwrap_or(full.len());
    if scanner.rules() == Rules::Rfc1738 {
        grammar::url(&full[..url_len]).map_err(RejectReason::Grammar)?;
        let ill = full
            .get(url_len + 1..)
            .is_some_and(|fragment| !grammar::is_fragment(fragment));
        let at = Reject {
            kind: grammar::RejectKind::Unexpected,
            part: grammar::RejectPart::Path,
            offset: url_len,
        };
        let short = full.len() <= url_bytes;
        return if ill {
            Err(RejectReason::Grammar(at))
        } else {
            Ok(short.then(|| Verdicts::of(full, url_len)))
        };
    }
    let parts = components(&full[..url_len]);
    plausible(&full[..url_len], &parts, place, scanner)?;
    if full.len() > url_bytes {
        return Ok(None);
    }
    let verdicts = Verdicts::of_divided(full, url_len, parts);
    let special = || {
        verdicts
            .whatwg
            .as_ref()
            .is_some_and(|whatwg| whatwg.is_special)
            && parts.host.is_some_and(plausible_host)
            && (place == TextContext::Attribute || !full.iter().any(u8::is_ascii_whitespace))
    };
    // An attribute says that its value is a URL: `mailto:a@b.example?subject=two words` is one for every browser.
    let said = || {
        place == TextContext::Attribute && verdicts.whatwg.is_some() && scanner.knows(parts.scheme)
    };
    match verdicts.rfc1738 {
        Err(reject) if !(verdicts.rfc3986 || special() || said()) => {
            Err(RejectReason::Grammar(reject))
        }
        _ => Ok(Some(verdicts)),
    }
}

/// Whether a text can be a URL of its scheme by the wide rules. Looks at its scheme and host only.
fn plausible(
    url: &[u8],
    parts: &UrlComponents<'_>,
    place: TextContext,
    scanner: &Scanner,
) -> Result<(), RejectReason> {
    let bare = scanner.bare(parts.scheme);
    if let Some(host) = parts
        .host
        .filter(|_| !matches!(bare, BareRequirement::Slashes))
    {
        let holds = plausible_host(host) && (place != TextContext::Guessed || likely_host(host));
        return if holds {
            Ok(())
        } else {
            Err(RejectReason::Host)
        };
    }
    let rest = url.get(parts.scheme.len() + 1..).unwrap_or_default();
    let holds = match (bare, place) {
        (BareRequirement::Host, TextContext::Wrapped | TextContext::Attribute) => {
            !scanner.knows(parts.scheme)
        }
        (BareRequirement::Host, TextContext::Bare | TextContext::Guessed) => false,
        (_, TextContext::Wrapped | TextContext::Attribute) => true,
        (BareRequirement::Slashes, _) => rest.starts_with(b"//") && rest.len() > 3,
        (BareRequirement::Mailbox, _) => is_mailbox(rest),
        (BareRequirement::News, _) => is_news(rest),
        (BareRequirement::Urn, _) => rest
            .iter()
            .position(|&byte| byte == b':')
            .is_some_and(|colon| colon >= 2 && colon + 1 < rest.len()),
        (BareRequirement::Starts(start), _) => {
            rest.len() > start.len() && rest.starts_with(start.as_bytes())
        }
        (BareRequirement::Never, _) => false,
    };
    if holds {
        Ok(())
    } else {
        Err(RejectReason::Implausible)
    }
}

/// Something, `@`, a host with a dot; perhaps `?` and header fields behind it (RFC 6068).
fn is_mailbox(rest: &[u8]) -> bool {
    let address = rest.split(|&byte| byte == b'?').next().unwrap_or_default();
    let Some(at) = memchr::memrchr(b'@', address) else {
        return false;
    };
    let host = &address[at + 1..];
    at > 0 && host.contains(&b'.') && plausible_host(host)
}

/// `*`, a newsgroup of at least two names, or an article's identifier.
fn is_news(rest: &[u8]) -> bool {
    let group = || {
        let mut names = rest.split(|&byte| byte == b'.');
        let name = |name: &[u8]| {
            !name.is_empty()
                && name
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'_'))
        };
        rest.first().is_some_and(u8::is_ascii_alphabetic) && names.all(name) && rest.contains(&b'.')
    };
    rest == b"*"
        || group()
        || memchr::memchr(b'@', rest).is_some_and(|at| at > 0 && plausible_host(&rest[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_and_groups_have_dots() {
        assert!(is_mailbox(b"a@b.example?subject=x"));
        assert!(!is_mailbox(b"a@b") && !is_mailbox(b"@b.example"));
        assert!(is_news(b"comp.lang.c") && is_news(b"id@h") && is_news(b"*"));
        assert!(!is_news(b"the") && !is_news(b"x..y") && !is_news(b"1.2"));
    }
}
