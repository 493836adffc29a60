//! Decides whether a text is a URL by the rules in force, or why not. The rules use the verdicts of
//! three grammars: RFC 1738 by our own grammar, RFC 3986 and WHATWG by crates.
//!
//! Most URLs are canonical: a lowercase scheme, a host of letters, digits and hyphens, and after
//! it no byte that is escaped or removed. RFC 3986 accepts them, and WHATWG serializes them
//! unchanged, except that it adds the slash of an empty path. One fast pass recognizes them. All
//! others go to the crates `iri-string` and `url`; a test compares the answers.

use std::borrow::Cow;

use iri_string::spec::UriSpec;

use super::components::{
    UrlComponents, components, key_of_components, names_message, scheme, url_len,
};
use crate::grammar::{self, BareRequirement, Reject, Url, escaped_byte};
use crate::repair::PrefilterReject;
use crate::scan::{Rules, Scanner, likely_host, plausible_host};
use crate::span::Span;

/// The reason why a start does not yield a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectReason {
    /// RFC 1738 rejects it, and so do the other grammars if the wide rules are in force.
    Grammar(Reject),
    /// Its scheme requires a host, and the text in its position cannot be one.
    Host,
    /// The text after the scheme does not look like a bare URL of that scheme.
    Implausible,
    /// The author shortened its host, as in `http://www.exam..`.
    Shortened,
    /// A host without a scheme that names a machine: in a quoted `Received` line or a certificate.
    Machine,
    /// A wrapper that contains the starts of two URLs.
    TwoUrls,
    /// A wrapper that is never closed.
    Unclosed,
    /// A relative URL in an attribute of a page whose base is unknown.
    Relative,
    /// Data or a program in an attribute, not a location.
    NoLocation,
    /// A URL that another reading of the message found in the same bytes.
    Reread,
}

impl RejectReason {
    /// Returns the kind of the reason, without its details.
    #[must_use]
    pub fn kind(self) -> RejectReasonKind {
        match self {
            RejectReason::Grammar(_) => RejectReasonKind::Grammar,
            RejectReason::Host => RejectReasonKind::Host,
            RejectReason::Implausible => RejectReasonKind::Implausible,
            RejectReason::Shortened => RejectReasonKind::Shortened,
            RejectReason::Machine => RejectReasonKind::Machine,
            RejectReason::TwoUrls => RejectReasonKind::TwoUrls,
            RejectReason::Unclosed => RejectReasonKind::Unclosed,
            RejectReason::Relative => RejectReasonKind::Relative,
            RejectReason::NoLocation => RejectReasonKind::NoLocation,
            RejectReason::Reread => RejectReasonKind::Reread,
        }
    }

    /// Returns the name used in a reject's `reason.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.kind().name()
    }
}

impl From<PrefilterReject> for RejectReason {
    fn from(reject: PrefilterReject) -> RejectReason {
        match reject {
            PrefilterReject::Host => RejectReason::Host,
            PrefilterReject::Shortened => RejectReason::Shortened,
            PrefilterReject::Implausible => RejectReason::Implausible,
        }
    }
}

named_enum! {
    /// Kind of a [`RejectReason`]: the reason without its details.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RejectReasonKind {
        /// See [`RejectReason::Grammar`].
        Grammar = "grammar",
        /// See [`RejectReason::Host`].
        Host = "host",
        /// See [`RejectReason::Implausible`].
        Implausible = "implausible",
        /// See [`RejectReason::Shortened`].
        Shortened = "shortened",
        /// See [`RejectReason::Machine`].
        Machine = "machine",
        /// See [`RejectReason::TwoUrls`].
        TwoUrls = "two-urls",
        /// See [`RejectReason::Unclosed`].
        Unclosed = "unclosed",
        /// See [`RejectReason::Relative`].
        Relative = "relative",
        /// See [`RejectReason::NoLocation`].
        NoLocation = "no-location",
        /// See [`RejectReason::Reread`].
        Reread = "reread",
    }
}

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

named_enum! {
    /// A grammar that every URL is checked against.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Grammar {
        /// RFC 1738 section 5.
        Rfc1738 = "rfc1738",
        /// RFC 3986.
        Rfc3986 = "rfc3986",
        /// The WHATWG URL standard.
        Whatwg = "whatwg",
    }
}

/// The verdicts of the three grammars on one text.
#[derive(Clone, Debug)]
pub struct Verdicts<'u> {
    /// The components of the text without its fragment, split without a check by any grammar.
    pub components: UrlComponents<'u>,
    /// The verdict of RFC 1738 on the text without its fragment.
    pub rfc1738: Result<Url<'u>, Reject>,
    /// `true` if RFC 3986 accepts the whole text as a `URI`.
    pub rfc3986: bool,
    /// WHATWG's reading of the whole text; `None` if WHATWG rejects it.
    pub whatwg: Option<WhatwgReading<'u>>,
}

impl<'u> Verdicts<'u> {
    /// Returns the verdicts on `full`. Its first `url_len` bytes are the URL without its fragment.
    ///
    /// Linear in the length of the text. RFC 3986 rejects bytes that are not UTF-8; WHATWG reads
    /// them as U+FFFD.
    #[must_use]
    pub fn of(full: &'u [u8], url_len: usize) -> Verdicts<'u> {
        // A `#` within `url_len` is an error by RFC 1738. In no grammar is it part of a host, path
        // or query.
        let end = memchr::memchr(b'#', full).map_or(url_len, |hash| hash.min(url_len));
        Verdicts::of_components(full, url_len, components(&full[..end]))
    }

    /// Like [`Verdicts::of`], given the components of the URL.
    pub(super) fn of_components(
        full: &'u [u8],
        url_len: usize,
        components: UrlComponents<'u>,
    ) -> Verdicts<'u> {
        let rfc1738 = Url::parse(&full[..url_len]);
        let canonical = canonical(full);
        Verdicts {
            components,
            rfc1738,
            rfc3986: canonical.is_some() || rfc3986(full),
            whatwg: canonical.or_else(|| whatwg(full)),
        }
    }

    /// Returns `true` if `grammar` accepts the text.
    #[must_use]
    pub fn conforms_to(&self, grammar: Grammar) -> bool {
        match grammar {
            Grammar::Rfc1738 => self.rfc1738.is_ok(),
            Grammar::Rfc3986 => self.rfc3986,
            Grammar::Whatwg => self.whatwg.is_some(),
        }
    }

    /// Returns the grammars that accept the text, in the order of [`Grammar::ALL`].
    pub fn conforms(&self) -> impl Iterator<Item = Grammar> {
        Grammar::ALL
            .into_iter()
            .filter(|grammar| self.conforms_to(*grammar))
    }

    /// Like [`key`], for `url`, the URL without its fragment.
    #[must_use]
    pub fn key(&self, url: &[u8]) -> Vec<u8> {
        match &self.whatwg {
            Some(WhatwgReading {
                href: Cow::Borrowed(_),
                ..
            }) => key_of_components(&self.components),
            // Without a fragment, the serialization of `url` equals the whole text's.
            Some(reading) if !reading.href.contains('#') => {
                key_of_components(&components(reading.href.as_bytes()))
            }
            _ => key(url),
        }
    }

    /// Returns WHATWG's serialization: the URL that a browser fetches.
    #[must_use]
    pub fn href(&self) -> Option<&str> {
        self.whatwg.as_ref().map(|whatwg| whatwg.href.as_ref())
    }
}

/// Returns a URL without its fragment in the form for comparison: all spellings that browsers
/// fetch as one URL have the same key. Scheme and host are in lower case, the default port is
/// omitted, escapes of unreserved characters are decoded, and other escapes are in upper-case
/// hexadecimal.
#[must_use]
pub fn key(url: &[u8]) -> Vec<u8> {
    let reading = canonical(url).or_else(|| whatwg(url));
    match reading.filter(|_| !url.contains(&b'#')) {
        Some(reading) => key_of_components(&components(reading.href.as_bytes())),
        None => key_of_components(&components(url)),
    }
}

/// Returns `true` if RFC 3986 accepts a text as a `URI`.
pub(super) fn rfc3986(full: &[u8]) -> bool {
    std::str::from_utf8(full).is_ok_and(|text| iri_string::validate::iri::<UriSpec>(text).is_ok())
}

/// WHATWG's reading of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatwgReading<'u> {
    /// The serialization: the URL that a browser fetches.
    pub href: Cow<'u, str>,
    /// `true` if its scheme is special. Browsers fetch these schemes.
    pub is_special: bool,
    /// `true` if its host is an IP address.
    pub is_address: bool,
}

impl From<url::Url> for WhatwgReading<'_> {
    fn from(url: url::Url) -> Self {
        WhatwgReading {
            is_special: url.is_special(),
            is_address: matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_))),
            href: Cow::Owned(url.into()),
        }
    }
}

/// Returns WHATWG's reading of a text; `None` if WHATWG rejects it.
pub(super) fn whatwg(full: &[u8]) -> Option<WhatwgReading<'static>> {
    url::Url::parse(&String::from_utf8_lossy(full))
        .ok()
        .map(WhatwgReading::from)
}

/// Returns WHATWG's reading of `full`, if `full` is canonical. RFC 3986 accepts it as well.
/// Linear.
fn canonical(full: &[u8]) -> Option<WhatwgReading<'_>> {
    let colon = full
        .iter()
        .position(|&byte| !is_lower_scheme_char(byte))
        .filter(|&at| full[at] == b':')?;
    let (scheme, rest) = (&full[..colon], &full[colon + 1..]);
    let (is_special, is_canonical) = match scheme {
        b"http" | b"https" | b"ftp" => (true, is_site(rest)),
        // Special schemes with their own rules.
        b"file" | b"ws" | b"wss" => return None,
        _ => (false, is_opaque(rest)),
    };
    if !is_canonical {
        return None;
    }
    scheme.first().filter(|byte| byte.is_ascii_lowercase())?;
    let mut href = Cow::Borrowed(std::str::from_utf8(full).ok()?);
    if is_special && !rest[2..].contains(&b'/') {
        href.to_mut().push('/');
    }
    Some(WhatwgReading {
        href,
        is_special,
        is_address: false,
    })
}

fn is_lower_scheme_char(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.')
}

/// Returns `true` for `//`, a name, and a path that is empty or starts with a slash.
fn is_site(rest: &[u8]) -> bool {
    let Some(site) = rest.strip_prefix(b"//") else {
        return false;
    };
    let (host, path) = site.split_at(memchr::memchr(b'/', site).unwrap_or(site.len()));
    is_name(host) && is_inert_text(path, DotSegments::Reject)
}

/// Returns `true` for a text that needs neither a host nor a slash, such as the text after
/// `mailto:`, `news:` or `urn:`.
fn is_opaque(rest: &[u8]) -> bool {
    let begins_opaque = rest
        .first()
        .is_some_and(|first| !matches!(first, b'/' | b'?' | b'#'));
    begins_opaque && is_inert_text(rest, DotSegments::Accept)
}

/// Returns `true` for a name of at least two lowercase labels. Its last label has only letters, so
/// it is not an IP address.
fn is_name(host: &[u8]) -> bool {
    let mut labels = host.rsplit(|&byte| byte == b'.');
    let last = labels.next().unwrap_or_default();
    host.len() <= 253
        && last.len() < host.len()
        && is_label(last)
        && last.iter().all(u8::is_ascii_lowercase)
        && labels.all(is_label)
}

/// Returns `true` for a lowercase label without two hyphens in a row, so it is not Punycode.
fn is_label(label: &[u8]) -> bool {
    (1..=63).contains(&label.len())
        && label
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
        && !label.starts_with(b"-")
        && !label.ends_with(b"-")
        && !label.windows(2).any(|pair| pair == b"--")
}

/// Treatment of a dot at the start of a segment and of an escaped dot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DotSegments {
    /// A dot is an ordinary byte.
    Accept,
    /// The segment may be `.` or `..`, which WHATWG removes.
    Reject,
}

/// Returns `true` if `text` consists of escapes, at most one `#`, and bytes that are serialized
/// unchanged in path, query and fragment.
fn is_inert_text(text: &[u8], dots: DotSegments) -> bool {
    let mut at = 0;
    let mut hashes = 0;
    while let Some(run) = text[at..]
        .iter()
        .position(|&byte| !INERT[usize::from(byte)])
    {
        at += run;
        let is_inert = match text[at] {
            b'%' => escaped_byte(&text[at..])
                .is_some_and(|byte| byte != b'.' || dots == DotSegments::Accept),
            b'/' => text.get(at + 1) != Some(&b'.') || dots == DotSegments::Accept,
            b'#' => {
                hashes += 1;
                hashes == 1
            }
            _ => false,
        };
        if !is_inert {
            return false;
        }
        at += 1;
    }
    true
}

/// Bytes that are inert everywhere: unreserved ones and most delimiters.
const INERT: [bool; 256] = byte_table!(|byte| byte.is_ascii_alphanumeric()
    || matches!(
        byte,
        b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'('
            ..=b',' | b';' | b'=' | b':' | b'@' | b'?'
    ));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    /// Returns `true` if a text is canonical. If so, asserts that the crates return the same
    /// answers.
    fn check(text: &str) -> bool {
        let Some(found) = canonical(text.as_bytes()) else {
            return false;
        };
        assert!(rfc3986(text.as_bytes()), "{text}");
        assert_eq!(Some(found), whatwg(text.as_bytes()), "{text}");
        true
    }

    #[test]
    fn equivalent_urls_have_one_key() {
        let same = |a: &str, b: &str| assert_eq!(key(a.as_bytes()), key(b.as_bytes()), "{a} {b}");
        same("HTTP://EXAMPLE.org:80/%7euser", "http://example.org/~user");
        same("ftp://u%40@h:021/a%2fb", "ftp://u%40@h/a%2Fb");
        same("News:Comp.X", "news:Comp.X");
        // Spellings that browsers fetch as one URL.
        same(
            "http://B\u{FC}cher.example/\u{E9}",
            "http://xn--bcher-kva.example/%C3%A9",
        );
        same("http://h.example/a/../b/./c", "http://h.example/b/c");
        same("http://0x7f.1/", "http://127.0.0.1");
        same("http://[0:0::1]/", "http://[::1]/");
        same("http:\\\\h.example\\a", "http://h.example/a");
        same("http://h", "HTTP://H:80/");
        same("ftp://h?q", "ftp://h/?q");
        same(
            "mailto:a@h.example?subject=x y",
            "mailto:a@h.example?subject=x%20y",
        );
        assert_eq!(key(b"gopher://h"), b"gopher://h");
        assert_eq!(key(b"http://h/A?b#c"), b"http://h/A?b#c");
        assert_ne!(key(b"http://h:8080/"), key(b"http://h/"));
    }

    #[test]
    fn most_urls_are_canonical() {
        let cases = "http://www.example.org/a/b.html https://a-b.example.co.uk/~x/?q=1&r=%7e#top \
            ftp://ftp.example.org/pub/x;type=a mailto:joe@example.org \
            news:comp.infosystems.www.misc urn:isbn:0-395-36341-1 http://example.org \
            ftp://ftp.example.org";
        for text in cases.split(' ') {
            assert!(check(text), "{text}");
        }
    }

    #[test]
    fn urls_that_browsers_change_are_not_canonical() {
        let cases = "http://Example.org/ http://example.org?x http://example.org:80/ \
            http://u@example.org/ http://1.2.3.4/ http://a.0x1/ http://xn--a.example/ \
            http://example.org/a/../b http://example.org/%2E%2e/ http://example.org/it's?it's \
            http://example.org/#a#b http://example.org/%zz HTTP://example.org/ mailto:/a/../b \
            file:x 1a:b";
        for text in cases.split(' ') {
            assert!(canonical(text.as_bytes()).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_pass_agrees_with_the_crates(
            scheme in "(http|https|ftp|mailto|news|[a-z0-9+.-]{1,4})",
            middle in "(://|:|:/)[a-z0-9.-]{0,9}(\\.[a-z0-9.-]{1,5})?(:[0-9]{1,3})?",
            rest in "(/[A-Za-z0-9._~!$&'()*+,;=:@/?%#|^{}-]{0,12}){0,3}",
        ) {
            check(&format!("{scheme}{middle}{rest}"));
        }

        #[test]
        fn the_fast_pass_agrees_with_the_crates_on_escapes_and_dots(rest in "(/|\\.|%2e|%2E|%41|a|\
            \\?|#|;|:){0,9}") {
            check(&format!("http://a.example/{rest}"));
            check(&format!("mailto:{rest}"));
        }
    }
}
