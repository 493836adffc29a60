//! Parses whole values: HTML attributes, and URLs that replace a found one.

use std::borrow::Cow;

use super::components::{is_special_scheme, scheme_of_absolute, url_len};
use super::found::{AcceptedUrl, FoundUrl, Wrapper};
use super::verdict::{RejectReason, TextContext, Verdicts, accept};
use crate::byte_scan::{is_one_of, prefix_len};
use crate::repair::{
    AT_SIGN_CONFIDENCE, DEFANGED_CONFIDENCE, Repair, restore_at_sign, restore_spelling,
};
use crate::scan::{HostAndPort, Scanner, guessed_scheme};
use crate::span::Span;

/// The value of an HTML attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttributeValue<'v> {
    /// The value, with character references decoded.
    pub text: &'v [u8],
    /// The bytes of the HTML text that hold the value.
    pub span: Span,
    /// The base URL of the page, for a relative value.
    pub base: Option<&'v [u8]>,
    /// Confidence that the author meant a value that is a URL to be one.
    pub confidence: f32,
}

/// Schemes whose values are not locations.
const NON_LOCATION_SCHEMES: [&str; 6] = [
    "data",
    "javascript",
    "vbscript",
    "about",
    "blob",
    // A part of the same message (RFC 2392).
    "cid",
];

/// Confidence in a URL that was resolved against the base of its page.
const RESOLVED_CONFIDENCE: f32 = 0.9;

/// Confidence in a URL whose slashes were corrected as in browsers.
const SLASHES_CONFIDENCE: f32 = 0.95;

/// Confidence in a URL with a guessed scheme. The right one depends on the page that displays the
/// mail.
const GUESSED_CONFIDENCE: f32 = 0.8;

/// Parses the URL in an attribute value and passes it to `sink`. Like browsers, ignores white
/// space around the value, and tabs and line ends inside it (WHATWG URL, section 4.4).
///
/// # Errors
///
/// The reason why the value is not a URL, such as a relative value without a base.
pub fn parse_attribute(
    value: &AttributeValue<'_>,
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) -> Result<(), RejectReason> {
    let trimmed = value.text.trim_ascii();
    let removed = match memchr::memchr2(b'\n', b'\r', trimmed) {
        Some(_) => Some(Repair::LineBreak),
        None => memchr::memchr(b'\t', trimmed).map(|_| Repair::Whitespace),
    };
    let text = match removed {
        Some(_) => {
            let is_kept = |byte: &u8| !matches!(byte, b'\t' | b'\n' | b'\r');
            Cow::Owned(trimmed.iter().copied().filter(is_kept).collect())
        }
        None => Cow::Borrowed(trimmed),
    };
    let AbsoluteValue {
        full,
        context,
        repair,
        confidence,
    } = absolute(&text, value.base)?;
    let url = AcceptedUrl {
        full: &full,
        wrapper: Wrapper::Attr,
        raw: value.span,
        url_bytes,
        verdicts: accept(&full, context, scanner, url_bytes)?,
        repairs: removed.into_iter().chain(repair).collect(),
        alternates: &[],
        confidence: confidence.min(value.confidence),
    };
    url.emit(sink);
    Ok(())
}

/// An attribute value as an absolute URL.
struct AbsoluteValue<'v> {
    full: Cow<'v, [u8]>,
    context: TextContext,
    repair: Option<Repair>,
    confidence: f32,
}

impl<'v> AbsoluteValue<'v> {
    fn new(full: impl Into<Cow<'v, [u8]>>, repair: Option<Repair>, confidence: f32) -> Self {
        AbsoluteValue {
            full: full.into(),
            context: TextContext::Attribute,
            repair,
            confidence,
        }
    }
}

/// Makes a value absolute. Resolves it against the base of its page; without a page, guesses what
/// its author meant.
///
/// # Errors
///
/// The value is not a location, or is relative to an unknown page.
fn absolute<'v>(text: &'v [u8], base: Option<&[u8]>) -> Result<AbsoluteValue<'v>, RejectReason> {
    let resolved =
        || resolve(text, base).map(|full| AbsoluteValue::new(full, None, RESOLVED_CONFIDENCE));
    // By its characters, the start of `www.host:80/x` is a scheme.
    match scheme_of_absolute(text).filter(|scheme| guessed_scheme(scheme).is_none()) {
        Some(scheme) if is_one_of(scheme, &NON_LOCATION_SCHEMES) => Err(RejectReason::NoLocation),
        Some(scheme) if lacks_slashes(scheme, &text[scheme.len() + 1..]) => {
            // A value with the base's scheme and without two slashes is relative to the base.
            let of_base = base.and_then(scheme_of_absolute);
            let is_relative = of_base.is_some_and(|own| own.eq_ignore_ascii_case(scheme));
            Ok(resolved().filter(|_| is_relative).unwrap_or_else(|| {
                let full = with_slashes(scheme, &text[scheme.len() + 1..]);
                AbsoluteValue::new(full, Some(Repair::Slashes), SLASHES_CONFIDENCE)
            }))
        }
        Some(_) => Ok(if let Some((full, repair)) = restore_spelling(text) {
            AbsoluteValue::new(full, Some(repair), DEFANGED_CONFIDENCE)
        } else if let Some(full) = restore_at_sign(text) {
            AbsoluteValue::new(full, Some(Repair::AtSign), AT_SIGN_CONFIDENCE)
        } else {
            AbsoluteValue::new(text, None, 1.0)
        }),
        None => resolved()
            .or_else(|| with_guessed_scheme(text))
            .ok_or(RejectReason::Relative),
    }
}

/// Returns `true` if `rest`, which follows the colon of `scheme`, does not start with two slashes
/// and a host, but browsers still read a host there. They accept any number of slashes and
/// backslashes (WHATWG URL, section 4.4, special authority slashes state).
fn lacks_slashes(scheme: &[u8], rest: &[u8]) -> bool {
    is_special_scheme(scheme)
        && !matches!(rest, [b'/', b'/', next, ..] if !matches!(next, b'/' | b'\\'))
}

/// Returns `scheme://` followed by `rest` without its leading slashes and backslashes.
fn with_slashes(scheme: &[u8], rest: &[u8]) -> Vec<u8> {
    let slashes = prefix_len(rest, |byte| matches!(byte, b'/' | b'\\'));
    [scheme, b"://", &rest[slashes..]].concat()
}

/// Guesses the scheme of a value on a page without a base. `//host/` gets the scheme of the pages
/// that display mail. `www.host` and `ftp5.host` were written by a person who meant
/// `http://www.host` and `ftp://ftp5.host`.
fn with_guessed_scheme(text: &[u8]) -> Option<AbsoluteValue<'static>> {
    let guess = |scheme: &str, rest: &[u8]| {
        let full = [scheme.as_bytes(), b"://", rest].concat();
        AbsoluteValue::new(full, Some(Repair::SchemeGuessed), GUESSED_CONFIDENCE)
    };
    match text.strip_prefix(b"//") {
        Some(rest) => names_domain(rest).then(|| guess("https", rest)),
        None => guessed_scheme(text).map(|scheme| AbsoluteValue {
            context: TextContext::Guessed,
            ..guess(scheme, text)
        }),
    }
}

/// Returns `true` if `rest` starts with a domain. An IP address has no certificate, so nobody
/// opens its pages without a scheme. A quote shows that a program composed the value wrongly.
fn names_domain(rest: &[u8]) -> bool {
    let authority = rest
        .split(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'))
        .next()
        .unwrap_or_default();
    let mut labels = HostAndPort::of(authority).host.rsplit(|&byte| byte == b'.');
    let top = labels.next().unwrap_or_default();
    labels.next().is_some()
        && !top.iter().all(u8::is_ascii_digit)
        && memchr::memchr2(b'\'', b'"', rest).is_none()
}

/// Passes `full`, which was read out of the URL `outer`, to `sink` with the position of `outer`, if
/// it is a URL. `confidence` is the probability that `full` is one if `outer` is right.
pub fn parse_nested(
    outer: &FoundUrl<'_>,
    full: &[u8],
    confidence: f32,
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    if let Ok(verdicts) = accept(full, TextContext::Attribute, scanner, url_bytes) {
        let outer = FoundUrl {
            confidence: outer.confidence * confidence,
            ..*outer
        };
        emit_replacement(&outer, full, url_bytes, verdicts, sink);
    }
}

/// Passes `full` to `sink` with the position of `replaced`.
pub fn parse_replacement(
    replaced: &FoundUrl<'_>,
    full: &[u8],
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    let url_len = url_len(full);
    let verdicts = (full.len() <= url_bytes).then(|| Verdicts::of(full, url_len));
    emit_replacement(replaced, full, url_bytes, verdicts, sink);
}

fn emit_replacement<'u>(
    found: &FoundUrl<'_>,
    full: &'u [u8],
    url_bytes: usize,
    verdicts: Option<Verdicts<'u>>,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    let url = AcceptedUrl {
        full,
        wrapper: found.wrapper,
        raw: found.raw,
        url_bytes,
        verdicts,
        repairs: found.repairs,
        alternates: &[],
        confidence: found.confidence,
    };
    url.emit(sink);
}

/// Resolves a relative URL. Returns `None` for a fragment alone: it is a position on the page
/// itself.
#[must_use]
pub fn resolve(text: &[u8], base: Option<&[u8]>) -> Option<Vec<u8>> {
    if text.is_empty() || text.starts_with(b"#") {
        return None;
    }
    let base = url::Url::parse(&String::from_utf8_lossy(base?)).ok()?;
    let joined = base.join(&String::from_utf8_lossy(text)).ok()?;
    Some(String::from(joined).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{Rules, SchemelessPolicy};

    fn parse(text: &str, base: Option<&str>) -> Result<String, RejectReason> {
        let scanner = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &[]);
        let value = AttributeValue {
            confidence: 1.0,
            text: text.as_bytes(),
            span: Span::default(),
            base: base.map(str::as_bytes),
        };
        let mut full = String::new();
        parse_attribute(&value, &scanner, 1 << 14, &mut |found| {
            full = String::from_utf8_lossy(found.full).into_owned()
        })?;
        Ok(full)
    }

    #[test]
    fn values_are_read_as_browsers_read_them() {
        assert_eq!(
            parse(" http://a.ex\n ample/ ", None),
            Ok("http://a.ex ample/".to_owned()).and(parse("http://a.ex ample/", None))
        );
        assert_eq!(
            parse("\thttp://a.exam\r\nple/b c ", None),
            Ok("http://a.example/b c".to_owned())
        );
        assert_eq!(
            parse("mailto:a@b.example", None),
            Ok("mailto:a@b.example".to_owned())
        );
    }

    #[test]
    fn hosts_are_read_as_browsers_read_them() {
        for (value, url) in [
            ("https:/a.example/b", "https://a.example/b"),
            ("http:a.example/b", "http://a.example/b"),
            ("https:\\\\a.example\\b", "https://a.example\\b"),
            ("http:////a.example", "http://a.example"),
            ("http:///a.example/", "http://a.example/"),
            ("//a.example/b", "https://a.example/b"),
            ("www.a.example/b", "http://www.a.example/b"),
            ("http://%77ww.a.example/", "http://%77ww.a.example/"),
            ("http://50%@a.example/", "http://50%@a.example/"),
            ("http://u%:p@%61.example/", "http://u%:p@%61.example/"),
            ("mailto:joe at a.example", "mailto:joe@a.example"),
            ("hxxps://a[.]example/b[.]c", "https://a.example/b.c"),
            ("http://a[.]b.example/", "http://a.b.example/"),
            ("htp://a.example/b", "http://a.example/b"),
            ("http://[::1]/a[.]b", "http://[::1]/a[.]b"),
        ] {
            assert_eq!(parse(value, None), Ok(url.to_owned()), "{value}");
        }
    }

    #[test]
    fn values_without_a_domain_stay_relative() {
        let cases = "//comment //192.0.2.1/x //a.example/'./x' /x//a.example www. index.html";
        for value in cases.split(' ') {
            assert!(parse(value, None).is_err(), "{value}");
        }
        assert_eq!(parse("http://%2F%2F/", None), Err(RejectReason::Host));
        let base = Some("http://a.example/b/");
        assert_eq!(parse("http:c", base), Ok("http://a.example/b/c".to_owned()));
        assert_eq!(
            parse("//c.example/", base),
            Ok("http://c.example/".to_owned())
        );
        assert_eq!(
            parse("https:c.example", base),
            Ok("https://c.example".to_owned())
        );
    }

    #[test]
    fn relative_values_need_a_base() {
        assert_eq!(parse("x/y", None), Err(RejectReason::Relative));
        assert_eq!(
            parse("../y?z", Some("http://a.example/b/c")),
            Ok("http://a.example/y?z".to_owned())
        );
        assert_eq!(
            parse("#top", Some("http://a.example/")),
            Err(RejectReason::Relative)
        );
        assert_eq!(
            parse("JavaScript:alert(1)", None),
            Err(RejectReason::NoLocation)
        );
    }
}
