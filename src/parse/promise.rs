//! A cheap look at a bare start before its word is read: words without blanks can be long, and full of starts.

use super::choose::Reason;
use crate::grammar::Bare;
use crate::scan::{Rules, Scanner};

/// Whether a word that begins so can be a URL at all, told from its scheme and host or mailbox: a cheap look before all
/// of it is read. `start` is the word's first octets, up to [`crate::limits::PROMISE_BYTES`].
///
/// # Errors
///
/// Why it cannot. What passes may be refused later, but nothing that is refused here would pass.
pub fn promising(start: &[u8], guessed: Option<&str>, scanner: &Scanner) -> Result<(), Reason> {
    if scanner.rules() == Rules::Rfc1738 {
        return Ok(());
    }
    let scheme_len = if guessed.is_some() { 0 } else { memchr::memchr(b':', start).map_or(0, |colon| colon + 1) };
    let scheme = guessed.map_or_else(|| &start[..scheme_len.saturating_sub(1)], str::as_bytes);
    let rest = &start[scheme_len..];
    let authority = if guessed.is_some() { Some(rest) } else { rest.strip_prefix(b"//") };
    let bare = scanner.bare(scheme);
    if let Some(authority) = authority.filter(|_| !matches!(bare, Bare::Slashes)) {
        let end = authority.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'));
        return if can_be_site(&authority[..end.unwrap_or(authority.len())]) { Ok(()) } else { Err(Reason::Host) };
    }
    let holds = match bare {
        Bare::Mailbox => rest.contains(&b'@'),
        Bare::News => rest.iter().any(|byte| matches!(byte, b'.' | b'@' | b'*')),
        Bare::Host | Bare::Never => false,
        Bare::Slashes | Bare::Urn | Bare::Starts(_) => true,
    };
    if holds { Ok(()) } else { Err(Reason::Implausible) }
}

/// Whether an authority, with whatever clings to its end, can hold a host. An empty one can: the next line may have it.
fn can_be_site(authority: &[u8]) -> bool {
    let site = memchr::memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    let gap = memchr::memmem::find(site, b"..").is_some_and(|at| site[at..].iter().any(u8::is_ascii_alphanumeric));
    match site.first() {
        None => authority.is_empty(),
        Some(b'[') => site.contains(&b']'),
        Some(&first) => (first.is_ascii_alphanumeric() || matches!(first, b'-' | b'_') || first >= 0x80) && !gap,
    }
}
