//! The ways in which a redirector's URL holds its target, undone.

use data_encoding::BASE64URL_NOPAD;
use memchr::memmem;

use super::address::{WebAddress, parameter};
use super::table::Form::{self, Base64, Between, Dashed, Escaped, Saved, Second, Snapshot};
use crate::grammar::{decode, is_scheme_char};
use crate::scan::cut;

/// As many as are kept of any URL.
pub(super) const TARGET_BYTES: usize = 16 << 10;

impl Form {
    pub(super) fn target(self, place: &WebAddress<'_>) -> Option<Vec<u8>> {
        let parameters = place.query.split(|&byte| byte == b'&').map(parameter);
        let value = |name: &str| {
            parameters
                .clone()
                .find(|(found, _)| *found == name.as_bytes())?
                .1
        };
        match self {
            Escaped(names) => names
                .iter()
                .filter_map(|name| value(name))
                .map(decode)
                .find(|to| accepted(to).is_some()),
            Dashed(name) => Some(decode(&replaced(value(name)?, *b"-_", *b"%/"))),
            Base64(name, prefix) => base64(decode(value(name)?).strip_prefix(prefix.as_bytes())?),
            Saved => saved(place.rest.strip_prefix(b"/v3/__")?),
            Between(start, end) => {
                let text = &place.rest[memmem::find(place.rest, start.as_bytes())? + start.len()..];
                let text = &text[..memmem::rfind(text, end.as_bytes())?];
                Some(bare(
                    &text[text.iter().take_while(|byte| b"*-".contains(byte)).count()..],
                ))
            }
            Second => Some(bare(cut(place.rest.strip_prefix(b"/")?, b'/').1?)),
            Snapshot => {
                let (time, target) = cut(place.rest.strip_prefix(b"/web/")?, b'/');
                let (digits, kind) =
                    time.split_at(time.iter().take_while(|byte| byte.is_ascii_digit()).count());
                let known = (1..=14).contains(&digits.len())
                    && matches!(kind, [] | [b'a'..=b'z', b'a'..=b'z', b'_']);
                target.filter(|_| known).map(bare)
            }
        }
    }
}

fn replaced(text: &[u8], from: [u8; 2], to: [u8; 2]) -> Vec<u8> {
    text.iter()
        .map(|byte| {
            from.iter()
                .position(|from| from == byte)
                .map_or(*byte, |at| to[at])
        })
        .collect()
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let end = text
        .iter()
        .rposition(|&byte| byte != b'=')
        .map_or(0, |last| last + 1);
    BASE64URL_NOPAD
        .decode(&replaced(&text[..end], *b"+/", *b"-_"))
        .ok()
}

/// A target in a path, where it may stand as it is. Then its escapes are its own, and a server or a mailer that tidies
/// paths may have left `:/` of its `://`.
fn bare(text: &[u8]) -> Vec<u8> {
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

/// `*` is the next saved byte; `**` and a character of base64 are so many of them, from 2 to 65.
fn saved(rest: &[u8]) -> Option<Vec<u8>> {
    const CODES: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let end = memmem::find(rest, b"__;")?;
    let table = base64(cut(&rest[end + 3..], b'!').0)?;
    let (text, mut octets, mut out) = (decode(&rest[..end]), &table[..], Vec::new());
    let mut text = &text[..];
    while let Some(star) = memchr::memchr(b'*', text) {
        let (run, behind) = match &text[star + 1..] {
            [b'*', code, behind @ ..] => {
                (CODES.iter().position(|known| known == code)? + 2, behind)
            }
            behind => (1, behind),
        };
        let (these, others) = octets.split_at_checked(run)?;
        out.extend([&text[..star], these].concat());
        (text, octets) = (behind, others);
    }
    out.extend(text);
    Some(bare(&out))
}

/// The target without whitespace around it (as browsers read it), if it is one.
pub(super) fn accepted(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let (scheme, rest) = text.split_at(scheme_len(text));
    let script = ["javascript", "vbscript", "data"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name.as_bytes()));
    let first = rest.strip_prefix(b"://")?.first()?;
    let holds =
        scheme.first().is_some_and(u8::is_ascii_alphabetic) && !script && !b"/?#".contains(first);
    let blank = |c: char| c.is_whitespace() || c.is_control();
    (holds && text.len() <= TARGET_BYTES && !String::from_utf8_lossy(text).chars().any(blank))
        .then_some(text)
}
