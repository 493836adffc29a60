//! Decides whether a text is a URL by the rules in force.

use std::borrow::Cow;

use super::components::{UrlComponents, components, names_message, scheme, url_len};
use super::found::RejectReason;
use super::verdict::Verdicts;
use crate::grammar::{self, BareRequirement, Reject, Url};
use crate::scan::{Rules, Scanner, likely_host, plausible_host};
use crate::span::Span;

/// Context of a text, which decides how much it must look like a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextContext {
    /// Inside a wrapper, which declares it to be a URL.
    Wrapped,
    /// In running text.
    Bare,
    /// In running text, with a guessed scheme.
    Guessed,
    /// In an attribute, where browsers accept more than other programs do.
    Attribute,
}

/// Returns the verdicts on `full`, a URL with its fragment, if it is a URL by the rules of
/// `scanner`.
///
/// For a text longer than `url_bytes`, only scheme and host are checked, and there are no verdicts
/// (`None`).
///
/// # Errors
///
/// The reason why the text is not a URL.
pub(super) fn accept<'u>(
    full: &'u [u8],
    context: TextContext,
    scanner: &Scanner,
    url_bytes: usize,
) -> Result<Option<Verdicts<'u>>, RejectReason> {
    match scanner.rules() {
        Rules::Rfc1738 => {
            let hash = memchr::memchr(b'#', full).unwrap_or(full.len());
            accept_strictly(full, hash, url_bytes)
        }
        Rules::Wide => accept_widely(full, url_len(full), context, scanner, url_bytes),
    }
}

/// Accepts URLs of RFC 1738, with a fragment of the same characters.
fn accept_strictly(
    full: &[u8],
    url_len: usize,
    url_bytes: usize,
) -> Result<Option<Verdicts<'_>>, RejectReason> {
    Url::parse(&full[..url_len]).map_err(RejectReason::Grammar)?;
    let is_well_formed = full.get(url_len + 1..).is_none_or(grammar::is_fragment);
    if !is_well_formed {
        return Err(RejectReason::Grammar(Reject {
            kind: grammar::RejectKind::Unexpected,
            part: grammar::RejectPart::Path,
            offset: url_len,
        }));
    }
    Ok((full.len() <= url_bytes).then(|| Verdicts::of(full, url_len)))
}

/// Accepts plausible URLs that at least one grammar accepts (see the documentation of
/// [`crate::parse`]).
fn accept_widely<'u>(
    full: &'u [u8],
    url_len: usize,
    context: TextContext,
    scanner: &Scanner,
    url_bytes: usize,
) -> Result<Option<Verdicts<'u>>, RejectReason> {
    let components = components(&full[..url_len]);
    check_plausible(&full[..url_len], &components, context, scanner)?;
    if url_bytes < full.len() {
        return Ok(None);
    }
    let verdicts = Verdicts::of_components(full, url_len, components);
    match verdicts.rfc1738 {
        Err(reject)
            if !verdicts.rfc3986
                && !is_special(full, &verdicts, context)
                && !is_browser_url(&verdicts, context, scanner)
                && !is_message(&full[..url_len]) =>
        {
            Err(RejectReason::Grammar(reject))
        }
        _ => Ok(Some(verdicts)),
    }
}

/// Returns `true` if WHATWG accepts the text, its scheme is special and its host plausible, or its
/// path has a drive (`file:///C|/b`). In running text it must not contain white space.
fn is_special(full: &[u8], verdicts: &Verdicts<'_>, context: TextContext) -> bool {
    verdicts
        .whatwg
        .as_ref()
        .is_some_and(|whatwg| whatwg.is_special)
        && (verdicts.components.host.is_some_and(plausible_host)
            || matches!(verdicts.components.path, [b'/', _, b'|', b'/', ..]))
        && (context == TextContext::Attribute || !full.iter().any(u8::is_ascii_whitespace))
}

/// Returns `true` for an attribute value that WHATWG accepts and whose scheme is known. An
/// attribute declares its value to be a URL: every browser accepts `mailto:a@b.example?subject=two
/// words`.
fn is_browser_url(verdicts: &Verdicts<'_>, context: TextContext, scanner: &Scanner) -> bool {
    context == TextContext::Attribute
        && verdicts.whatwg.is_some()
        && scanner.knows(verdicts.components.scheme)
}

/// Returns `true` for a message identifier after `news:` or `mid:`, with any characters.
///
/// News readers copy a Message-ID into their attribution unchanged, although a URL must escape
/// `%`, `#`, `^` and others (RFC 5538, section 2.2).
fn is_message(url: &[u8]) -> bool {
    let scheme = scheme(url);
    let rest = url.get(scheme.len() + 1..).unwrap_or_default();
    let host = |at: usize| {
        let host = &rest[at + 1..];
        host.split(|&byte| byte == b'/').next().unwrap_or_default()
    };
    names_message(scheme)
        && rest
            .iter()
            .all(|&byte| byte.is_ascii_graphic() && !b"<>\"".contains(&byte))
        && memchr::memchr(b'@', rest).is_some_and(|at| 0 < at && plausible_host(host(at)))
}

/// Checks that a text can be a URL by the wide rules. Looks only at scheme and host.
fn check_plausible(
    url: &[u8],
    components: &UrlComponents<'_>,
    context: TextContext,
    scanner: &Scanner,
) -> Result<(), RejectReason> {
    let requirement = scanner.bare_requirement(components.scheme);
    if is_public_identifier(components) && !scanner.knows(components.scheme) {
        return Err(RejectReason::Implausible);
    }
    let needs_host = !matches!(requirement, BareRequirement::Slashes);
    if let Some(host) = components.host.filter(|_| needs_host) {
        // Browsers decode the escapes of a host (WHATWG URL, section 3.5).
        let host = if host.contains(&b'%') && !host.starts_with(b"[") {
            Cow::Owned(grammar::decode(host))
        } else {
            Cow::Borrowed(host)
        };
        let is_likely = plausible_host(&host)
            && (context != TextContext::Guessed || likely_host(&host))
            && (context != TextContext::Bare || has_mailbox(requirement, components));
        return if is_likely {
            Ok(())
        } else {
            Err(RejectReason::Host)
        };
    }
    let rest = url.get(components.scheme.len() + 1..).unwrap_or_default();
    let is_met = match (requirement, context) {
        (BareRequirement::Host, TextContext::Wrapped | TextContext::Attribute) => {
            !scanner.knows(components.scheme)
        }
        (_, TextContext::Wrapped | TextContext::Attribute) => true,
        (requirement, TextContext::Bare | TextContext::Guessed) => meets(requirement, rest),
    };
    if is_met {
        Ok(())
    } else {
        Err(RejectReason::Implausible)
    }
}

/// Returns `true` for a label and a formal public identifier (ISO 8879): an owner without a dot, a
/// description and a language, each after two slashes (`PRODID://Yahoo//Calendar//EN`).
fn is_public_identifier(components: &UrlComponents<'_>) -> bool {
    components.path.starts_with(b"//") && components.host.is_some_and(|host| !host.contains(&b'.'))
}

/// Returns `false` if the scheme requires a mailbox and the text after `//` is not one, as in
/// `mailto://joe`.
fn has_mailbox(requirement: BareRequirement, components: &UrlComponents<'_>) -> bool {
    !matches!(requirement, BareRequirement::Mailbox(_))
        || components.userinfo.is_some_and(|name| !name.is_empty())
            && components.host.is_some_and(|host| host.contains(&b'.'))
}

/// Returns `true` if `rest` meets the scheme's requirement. It follows the colon of a scheme in
/// running text and does not name a host.
fn meets(requirement: BareRequirement, rest: &[u8]) -> bool {
    match requirement {
        BareRequirement::Host | BareRequirement::Never => false,
        BareRequirement::Slashes => rest
            .strip_prefix(b"//")
            .is_some_and(|site| 1 < site.len() && !is_jcl_statement(site)),
        BareRequirement::Mailbox(tail) => is_mailbox(rest, tail),
        BareRequirement::News => is_news(rest),
        BareRequirement::Urn => rest
            .iter()
            .position(|&byte| byte == b':')
            .is_some_and(|colon| 2 <= colon && colon + 1 < rest.len()),
        BareRequirement::Starts(start) => {
            start.len() < rest.len() && rest.starts_with(start.as_bytes())
        }
    }
}

/// Returns `true` if `site`, which follows `//`, is a JCL step name or comment: `//SYSIN`,
/// `//*---`. A program turned such lines of listings into links. A file URL has a path after its
/// host (RFC 1738, section 3.10), and a host alone is not written in capitals.
fn is_jcl_statement(site: &[u8]) -> bool {
    !site.iter().any(|&byte| byte == b'/' || byte == b'\\')
        && !site.iter().any(u8::is_ascii_lowercase)
}

/// Returns `true` for a local part, `@` and a host with a dot. The host may be followed by `?` and
/// header fields (RFC 6068), or by one of the characters in `tail` and any text.
fn is_mailbox(rest: &[u8], tail: &str) -> bool {
    mailbox_host(rest).is_some_and(|host| {
        let host = &rest[host.start..host.end];
        let host = host
            .split(|byte| tail.as_bytes().contains(byte))
            .next()
            .unwrap_or_default();
        host.contains(&b'.') && plausible_host(host)
    })
}

/// Returns the range of the text after the last `@` of a mailbox, up to the `?` of header fields.
/// `None` if the `@` is missing or at the start.
pub(super) fn mailbox_host(rest: &[u8]) -> Option<Span> {
    let end = memchr::memchr(b'?', rest).unwrap_or(rest.len());
    let at = memchr::memrchr(b'@', &rest[..end]).filter(|&at| 0 < at)?;
    Some(Span::new(at + 1, end))
}

/// Returns `true` for `*`, a newsgroup of at least two names, or an article identifier.
fn is_news(rest: &[u8]) -> bool {
    rest == b"*"
        || is_newsgroup(rest)
        || (memchr::memchr(b'@', rest).is_some_and(|at| 0 < at && plausible_host(&rest[at + 1..])))
}

/// Returns `true` for at least two names separated by dots, if the first one starts with a letter.
fn is_newsgroup(rest: &[u8]) -> bool {
    let mut names = rest.split(|&byte| byte == b'.');
    rest.first().is_some_and(u8::is_ascii_alphabetic)
        && names.all(|name| {
            !name.is_empty()
                && name
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'_'))
        })
        && rest.contains(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_and_newsgroups_have_dots() {
        assert!(is_mailbox(b"a@b.example?subject=x", ""));
        assert!(!is_mailbox(b"a@b", "") && !is_mailbox(b"@b.example", ""));
        let accepted = |url: &[u8]| {
            let scanner = Scanner::new(Rules::Wide, crate::scan::SchemelessPolicy::Find, &[]);
            accept(url, TextContext::Bare, &scanner, 100).is_ok()
        };
        assert!(accepted(b"mailto://a@b.example") && accepted(b"ftp://b"));
        assert!(!accepted(b"mailto://a") && !accepted(b"mailto://a@b"));
        assert!(accepted(b"lamp://a/b//c") && accepted(b"lamp://a.b//c"));
        assert!(!accepted(b"PRODID://a//b//EN"));
        assert!(is_mailbox(b"a@b.example;transport=tcp", ";:"));
        assert!(!is_mailbox(b"a@b.example;x", "") && !is_mailbox(b"a@b;c.example", ";"));
        assert!(is_news(b"comp.lang.c") && is_news(b"id@h") && is_news(b"*"));
        assert!(!is_news(b"the") && !is_news(b"x..y") && !is_news(b"1.2"));
    }

    #[test]
    fn message_identifiers_may_contain_any_characters() {
        for url in [
            "news:M0%Xa.1$q@a.example",
            "news:a#b@c",
            "MID:^{a}@b.example/c%@b.example",
        ] {
            assert!(is_message(url.as_bytes()), "{url}");
        }
        for url in [
            "news:a b@c",
            "news:@c",
            "mailto:a%@b.example",
            "news:a%",
            "news:a@b%c",
        ] {
            assert!(!is_message(url.as_bytes()), "{url}");
        }
    }

    #[test]
    fn jcl_statements_are_not_file_urls() {
        let met = |rest: &[u8]| meets(BareRequirement::Slashes, rest);
        assert!(met(b"///etc/motd") && met(b"//C:\\X") && met(b"//LAMP/X") && met(b"//lamp"));
        assert!(!met(b"//SYSIN") && !met(b"//*---") && !met(b"//") && !met(b"/x"));
    }
}
