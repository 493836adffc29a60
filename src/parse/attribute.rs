//! Parsing of whole values: HTML attributes, and URLs that take the place of a found one.

use super::acceptance::{TextContext, accept};
use super::accepted::{AcceptedUrl, ReadingChoice};
use super::components::scheme_of_absolute;
use super::found::{FoundUrl, Wrapper};
use super::reject::RejectReason;
use super::verdict::Verdicts;
use crate::repair::Repair;
use crate::scan::Scanner;
use crate::span::Span;

/// The value of an HTML attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttributeValue<'v> {
    /// The value, with its character references decoded.
    pub text: &'v [u8],
    /// The bytes of the HTML text that the value was written with.
    pub span: Span,
    /// The base URL of the page, for a relative value.
    pub base: Option<&'v [u8]>,
}

/// Schemes of values that name no location.
const NO_LOCATION: [&[u8]; 5] = [b"data", b"javascript", b"vbscript", b"about", b"blob"];

/// Confidence in a URL that was resolved against the base of its page.
const RESOLVED_CONFIDENCE: f32 = 0.9;

/// Parses the URL of an attribute's value and passes it to `sink`. White space around it, and tabs and line ends in it, are
/// ignored, as in browsers (WHATWG URL, section 4.4).
///
/// # Errors
///
/// The reason why there is no URL, among them a relative value without a base.
pub fn parse_attribute(
    value: &AttributeValue<'_>,
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) -> Result<(), RejectReason> {
    let trimmed = value.text.trim_ascii();
    let text: Vec<u8> = trimmed
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'))
        .collect();
    let is_broken = text.len() < trimmed.len();
    let resolved = match scheme_of_absolute(&text) {
        Some(scheme) if is_no_location(scheme) => return Err(RejectReason::NoLocation),
        Some(_) => None,
        None => Some(resolve(&text, value.base).ok_or(RejectReason::Relative)?),
    };
    let full = resolved.as_deref().unwrap_or(&text);
    let url = AcceptedUrl {
        full,
        wrapper: Wrapper::Attr,
        raw: value.span,
        url_bytes,
        verdicts: accept(full, TextContext::Attribute, scanner, url_bytes)?,
    };
    let choice = ReadingChoice {
        repairs: is_broken.then_some(Repair::LineBreak).into_iter().collect(),
        alternates: &[],
        confidence: resolved.as_ref().map_or(1.0, |_| RESOLVED_CONFIDENCE),
    };
    url.emit(&choice, sink);
    Ok(())
}

/// Passes `full`, which was read out of the URL `outer`, to `sink` with the position of `outer`, if it is a URL.
pub fn parse_nested(
    outer: &FoundUrl<'_>,
    full: &[u8],
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    if let Ok(verdicts) = accept(full, TextContext::Attribute, scanner, url_bytes) {
        emit_in_place_of(outer, full, url_bytes, verdicts, sink);
    }
}

/// Passes `full` to `sink` with the position of `replaced`.
pub fn parse_replacement(
    replaced: &FoundUrl<'_>,
    full: &[u8],
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) {
    let url_len = memchr::memchr(b'#', full).unwrap_or(full.len());
    let verdicts = (full.len() <= url_bytes).then(|| Verdicts::of(full, url_len));
    emit_in_place_of(replaced, full, url_bytes, verdicts, sink);
}

fn emit_in_place_of<'u>(
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
    };
    let choice = ReadingChoice {
        repairs: found.repairs,
        alternates: &[],
        confidence: found.confidence,
    };
    url.emit(&choice, sink);
}

fn is_no_location(scheme: &[u8]) -> bool {
    NO_LOCATION
        .iter()
        .any(|name| name.eq_ignore_ascii_case(scheme))
}

/// Resolves a relative URL. A fragment alone is a position on the page itself, and gives `None`.
fn resolve(text: &[u8], base: Option<&[u8]>) -> Option<Vec<u8>> {
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
