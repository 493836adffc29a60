//! Addresses in which an archive wrote ` at ` for the `@`.
//!
//! Pipermail does so in the pages and mailboxes that it publishes, for every `@` with a word on
//! both sides, to hide addresses from spammers.

use super::{LogicalLine, Repair};
use crate::grammar::{BareRequirement, Scheme};
use crate::span::Span;

/// Confidence in an address whose `@` was written as ` at `.
pub const AT_SIGN_CONFIDENCE: f32 = 0.95;

/// The text that stands for the `@`.
const HIDDEN: &[u8] = b" at ";

/// Returns the range of the host name at `start`, if there is one.
pub(super) fn host_at(text: &[u8], start: usize) -> Option<Span> {
    let is_host_byte = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'-' | b'.');
    let rest = text.get(start..)?;
    let len = rest.iter().take_while(is_host_byte).count();
    let begins = rest.first().is_some_and(u8::is_ascii_alphanumeric);
    begins.then_some(Span::new(start, start + len))
}

/// Returns `true` if `url` is the beginning of an address whose `@` is missing: a scheme of
/// addresses and a local part.
pub(super) fn is_local_part(url: &[u8]) -> bool {
    let colon = memchr::memchr(b':', url);
    colon.is_some_and(|colon| {
        let local = &url[colon + 1..];
        Scheme::named(&url[..colon]).is_some_and(|row| {
            matches!(
                row.bare,
                BareRequirement::Mailbox(_) | BareRequirement::News
            )
        }) && !local.is_empty()
            && memchr::memchr3(b'@', b'?', b'/', local).is_none()
            && local
                .last()
                .is_some_and(|&last| last.is_ascii_alphanumeric() || last == b'_')
    })
}

/// Appends the `@` and the host after the local part `line`, which ends at `end` in the text, if
/// ` at ` and a host with a dot follow it there.
pub(super) fn append_hidden_host(text: &[u8], end: usize, line: &mut LogicalLine) -> bool {
    if !text[end..].starts_with(HIDDEN) || !is_local_part(line.text()) {
        return false;
    }
    let Some(host) = host_at(text, end + HIDDEN.len()) else {
        return false;
    };
    if !host.of(text).contains(&b'.') {
        return false;
    }
    line.push_decoded(b'@', end + 2);
    line.push(text, host.start, host.end);
    line.repairs.add(Repair::AtSign);
    true
}

/// Returns `url`, the value of an attribute, with an `@` for ` at `, if it is an address that an
/// archive hid.
#[must_use]
pub fn restore_at_sign(url: &[u8]) -> Option<Vec<u8>> {
    let at = memchr::memmem::find(url, HIDDEN).filter(|&at| is_local_part(&url[..at]))?;
    let host = host_at(url, at + HIDDEN.len())?;
    Some([&url[..at], b"@", &url[host.start..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_an_attribute_gets_its_at_sign() {
        assert_eq!(
            restore_at_sign(b"mailto:joe at foo.example?subject=x").as_deref(),
            Some(&b"mailto:joe@foo.example?subject=x"[..])
        );
        for url in [
            "mailto:a@b.example at c.example",
            "http://a at b.example",
            "mailto:joe at ",
            "mailto: at b.example",
        ] {
            assert_eq!(restore_at_sign(url.as_bytes()), None, "{url}");
        }
    }
}
