//! Extraction of the target from a redirector's URL, one function for each form.

use data_encoding::BASE64URL_NOPAD;
use memchr::memmem;

use super::address::{QueryParameter, WebAddress};
use super::table::TargetForm;
use crate::grammar::{decode, is_scheme_char};
use crate::scan::{CutText, cut};

/// Maximum length in bytes of a target: by default no more of any URL is kept.
pub(super) const TARGET_BYTES: usize = 16 << 10;

/// Returns the target of the redirector's URL `address`, if it holds a valid one.
pub(super) fn target(form: TargetForm, address: &WebAddress<'_>) -> Option<Vec<u8>> {
    let text = encoded_target(form, address)?;
    valid_target(&text).map(<[u8]>::to_vec)
}

/// Returns the text at the place where `form` has its target, decoded.
fn encoded_target(form: TargetForm, address: &WebAddress<'_>) -> Option<Vec<u8>> {
    match form {
        TargetForm::Escaped(names) => names
            .iter()
            .filter_map(|name| value(address, name))
            .map(decode)
            .find(|target| valid_target(target).is_some()),
        TargetForm::Dashed(name) => Some(decode(&translate(value(address, name)?, *b"-_", *b"%/"))),
        TargetForm::Base64 { parameter, prefix } => {
            base64(decode(value(address, parameter)?).strip_prefix(prefix.as_bytes())?)
        }
        TargetForm::Saved => saved(address.rest.strip_prefix(b"/v3/__")?),
        TargetForm::Between { start, end } => between(address.rest, start, end),
        TargetForm::SecondSegment => {
            Some(in_path(cut(address.rest.strip_prefix(b"/")?, b'/').after?))
        }
        TargetForm::Snapshot => snapshot(address.rest),
    }
}

/// Returns the value of the first parameter of this name.
fn value<'a>(address: &WebAddress<'a>, name: &str) -> Option<&'a [u8]> {
    address
        .query
        .split(|&byte| byte == b'&')
        .map(QueryParameter::of)
        .find(|parameter| parameter.name == name.as_bytes())?
        .value
}

/// Replaces each byte of `from` by the one of `to` at the same place.
fn translate(text: &[u8], from: [u8; 2], to: [u8; 2]) -> Vec<u8> {
    let translated = |byte: &u8| {
        from.iter()
            .position(|from| from == byte)
            .map_or(*byte, |at| to[at])
    };
    text.iter().map(translated).collect()
}

/// Decodes base64 in either alphabet, with or without padding.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let len = text
        .iter()
        .rposition(|&byte| byte != b'=')
        .map_or(0, |last| last + 1);
    BASE64URL_NOPAD
        .decode(&translate(&text[..len], *b"+/", *b"-_"))
        .ok()
}

/// Returns the target between the first `start` and the last `end` after it, without asterisks and hyphens before it.
fn between(rest: &[u8], start: &str, end: &str) -> Option<Vec<u8>> {
    let text = &rest[memmem::find(rest, start.as_bytes())? + start.len()..];
    let text = &text[..memmem::rfind(text, end.as_bytes())?];
    let marks = text.iter().take_while(|byte| b"*-".contains(byte)).count();
    Some(in_path(&text[marks..]))
}

/// Returns the target of `/web/TIME/TARGET`, where the time has 1 to 14 digits and perhaps `id_` or the like after them.
fn snapshot(rest: &[u8]) -> Option<Vec<u8>> {
    let CutText {
        before: time,
        after: target,
    } = cut(rest.strip_prefix(b"/web/")?, b'/');
    let (digits, kind) =
        time.split_at(time.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let is_time =
        (1..=14).contains(&digits.len()) && matches!(kind, [] | [b'a'..=b'z', b'a'..=b'z', b'_']);
    target.filter(|_| is_time).map(in_path)
}

/// Returns a target that is part of a path, where it may be escaped or not. If it is not, its escapes are its own, and a
/// server or a mailer that tidies paths may have made `:/` of its `://`.
fn in_path(text: &[u8]) -> Vec<u8> {
    let mut text = if text[scheme_len(text)..].starts_with(b":/") {
        text.to_vec()
    } else {
        decode(text)
    };
    let colon = scheme_len(&text);
    if text[colon..].starts_with(b":/") && text.get(colon + 2) != Some(&b'/') {
        text.insert(colon + 1, b'/');
    }
    text
}

fn scheme_len(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| is_scheme_char(**byte))
        .count()
}

/// Puts the saved bytes back: `*` is the next one; `**` and a character of base64 are a run of 2 to 65 of them.
fn saved(rest: &[u8]) -> Option<Vec<u8>> {
    const RUN_LENGTHS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let end = memmem::find(rest, b"__;")?;
    let table = base64(cut(&rest[end + 3..], b'!').before)?;
    let (text, mut saved, mut out) = (decode(&rest[..end]), &table[..], Vec::new());
    let mut text = &text[..];
    while let Some(star) = memchr::memchr(b'*', text) {
        let (run, after) = match &text[star + 1..] {
            [b'*', code, after @ ..] => (
                RUN_LENGTHS.iter().position(|known| known == code)? + 2,
                after,
            ),
            after => (1, after),
        };
        let (bytes, others) = saved.split_at_checked(run)?;
        out.extend([&text[..star], bytes].concat());
        (text, saved) = (after, others);
    }
    out.extend(text);
    Some(in_path(&out))
}

/// Returns the target without white space around it (as browsers read it), if it is valid: a scheme that is no script,
/// `://`, a host, no white space or control characters, at most [`TARGET_BYTES`] bytes.
fn valid_target(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let (scheme, rest) = text.split_at(scheme_len(text));
    let is_script = ["javascript", "vbscript", "data"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name.as_bytes()));
    let first = rest.strip_prefix(b"://")?.first()?;
    let is_valid = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && !is_script
        && !b"/?#".contains(first);
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    (is_valid && text.len() <= TARGET_BYTES && !String::from_utf8_lossy(text).chars().any(is_blank))
        .then_some(text)
}
