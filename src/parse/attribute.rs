//! The URL in an HTML attribute: a whole value, read as browsers read it.

use super::acceptance::{TextContext, accept};
use super::accepted::AcceptedUrl;
use super::components::components;
use super::found::{FoundUrl, Wrapper};
use super::reject::RejectReason;
use super::verdict::Verdicts;
use crate::grammar::is_scheme_char;
use crate::repair::{Repair, RepairSet};
use crate::scan::{Scanner, likely_host, plausible_host};
use crate::span::Span;

/// An attribute's value.
#[derive(Clone, Copy, Debug)]
pub struct AttributeValue<'v> {
    /// The value, entities undone.
    pub text: &'v [u8],
    /// The bytes of the HTML text that it was written with.
    pub span: Span,
    /// What a relative one is relative to.
    pub base: Option<&'v [u8]>,
}

/// Schemes of values that name no place.
const NO_LOCATION: [&[u8]; 5] = [b"data", b"javascript", b"vbscript", b"about", b"blob"];

/// Reads the URL of a value and gives it to `sink`. Blanks around it and line ends in it are ignored, as in browsers
/// (WHATWG URL, section 4.4).
///
/// # Errors
///
/// AlternateReason there is none. A relative value without a base is one of the reasons.
pub fn parse_attribute(
    value: &AttributeValue<'_>,
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) -> Result<(), RejectReason> {
    let trimmed = value.text.trim_ascii();
    let broken = trimmed
        .iter()
        .any(|byte| matches!(byte, b'\t' | b'\n' | b'\r'));
    let text: Vec<u8> = trimmed
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'))
        .collect();
    let repairs: RepairSet = broken.then_some(Repair::LineBreak).into_iter().collect();
    let resolved = match scheme(&text) {
        Some(scheme)
            if NO_LOCATION
                .iter()
                .any(|none| none.eq_ignore_ascii_case(scheme)) =>
        {
            return Err(RejectReason::NoLocation);
        }
        Some(_) => None,
        None => Some(resolved(&text, value.base).ok_or(RejectReason::Relative)?),
    };
    let confidence = if resolved.is_some() { 0.9 } else { 1.0 };
    let full = resolved.as_deref().unwrap_or(&text);
    let verdicts = accept(full, TextContext::Attribute, scanner, url_bytes)?;
    AcceptedUrl {
        full,
        wrapper: Wrapper::Attr,
        raw: value.span,
        url_bytes,
        verdicts,
    }
    .give(repairs, &[], confidence, sink);
    Ok(())
}

/// Gives the URL that was taken out of `around`, with that one's place, if it is one.
pub fn parse_nested(
    around: &FoundUrl<'_>,
    full: &[u8],
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    if let Ok(verdicts) = accept(full, TextContext::Attribute, scanner, url_bytes) {
        in_place_of(around, full, url_bytes, verdicts, sink);
    }
}

/// Gives `full` in the place of `around`.
pub fn parse_replacement(
    around: &FoundUrl<'_>,
    full: &[u8],
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    let url_len = memchr::memchr(b'#', full).unwrap_or(full.len());
    let verdicts = (full.len() <= url_bytes).then(|| Verdicts::of(full, url_len));
    in_place_of(around, full, url_bytes, verdicts, sink);
}

fn in_place_of<'u>(
    around: &FoundUrl<'_>,
    full: &'u [u8],
    url_bytes: usize,
    verdicts: Option<Verdicts<'u>>,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    let plain = AcceptedUrl {
        full,
        wrapper: around.wrapper,
        raw: around.raw,
        url_bytes,
        verdicts,
    };
    plain.give(around.repairs, &[], around.confidence, sink);
}

/// The scheme of an absolute URL.
fn scheme(text: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', text)?;
    let name = &text[..colon];
    (name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|&byte| is_scheme_char(byte)))
    .then_some(name)
}

/// A relative URL made absolute. A mere fragment is a place on the page itself.
fn resolved(text: &[u8], base: Option<&[u8]>) -> Option<Vec<u8>> {
    if text.is_empty() || text.starts_with(b"#") {
        return None;
    }
    let base = url::Url::parse(&String::from_utf8_lossy(base?)).ok()?;
    let joined = base.join(&String::from_utf8_lossy(text)).ok()?;
    Some(String::from(joined).into_bytes())
}

/// Whether what a link shows names another host than the one that it leads to.
///
/// `shown` is a URL, or one word that looks like a host; other words promise nothing. A leading `www.` and
/// hosts below one another count as the same.
#[must_use]
pub fn mismatch(shown: &[u8], url: &[u8]) -> bool {
    let (Some(promised), Some(target)) = (shown_host(shown.trim_ascii()), components(url).host)
    else {
        return false;
    };
    let plain = |host: &[u8]| {
        let host = host.to_ascii_lowercase();
        host.strip_prefix(b"www.")
            .map_or(host.clone(), <[u8]>::to_vec)
    };
    let (promised, target) = (plain(promised), plain(target));
    let below = |host: &[u8], other: &[u8]| {
        host.strip_suffix(other)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(b"."))
    };
    !below(&promised, &target) && !below(&target, &promised)
}

/// The host that a text promises.
fn shown_host(shown: &[u8]) -> Option<&[u8]> {
    let word = shown
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    if scheme(word).is_some() {
        return components(word).host.filter(|host| host.contains(&b'.'));
    }
    let one_word = word.len() == shown.len();
    let host = word
        .split(|&byte| matches!(byte, b'/' | b'?' | b'#' | b':'))
        .next()
        .unwrap_or_default();
    let likely = likely_host(&[b"x.", host].concat()) && plausible_host(host);
    (one_word && !word.contains(&b'@') && likely).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{Rules, SchemelessPolicy};

    fn read(text: &str, base: Option<&str>) -> Result<String, RejectReason> {
        let scanner = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &[]);
        let value = AttributeValue {
            text: text.as_bytes(),
            span: Span::default(),
            base: base.map(str::as_bytes),
        };
        let mut seen = String::new();
        parse_attribute(&value, &scanner, 1 << 14, &mut |found| {
            seen = String::from_utf8_lossy(found.full).into_owned()
        })?;
        Ok(seen)
    }

    #[test]
    fn values_are_read_as_browsers_read_them() {
        assert_eq!(
            read(" http://a.ex\n ample/ ", None),
            Ok("http://a.ex ample/".to_owned()).and(read("http://a.ex ample/", None))
        );
        assert_eq!(
            read("\thttp://a.exam\r\nple/b c ", None),
            Ok("http://a.example/b c".to_owned())
        );
        assert_eq!(
            read("mailto:a@b.example", None),
            Ok("mailto:a@b.example".to_owned())
        );
    }

    #[test]
    fn relative_values_need_a_base() {
        assert_eq!(read("x/y", None), Err(RejectReason::Relative));
        assert_eq!(
            read("../y?z", Some("http://a.example/b/c")),
            Ok("http://a.example/y?z".to_owned())
        );
        assert_eq!(
            read("#top", Some("http://a.example/")),
            Err(RejectReason::Relative)
        );
        assert_eq!(
            read("JavaScript:alert(1)", None),
            Err(RejectReason::NoLocation)
        );
    }

    #[test]
    fn what_is_shown_and_what_is_meant_may_differ() {
        let differs = |shown: &str, url: &str| mismatch(shown.as_bytes(), url.as_bytes());
        assert!(differs("http://bank.example/", "http://thief.example/"));
        assert!(differs("www.bank.com", "https://thief.example/"));
        assert!(
            !differs("bank.com", "https://www.bank.com/x")
                && !differs("https://bank.com", "https://login.bank.com/")
        );
        assert!(
            !differs("click here", "http://thief.example/")
                && !differs("version 2.0", "http://thief.example/")
        );
    }
}
