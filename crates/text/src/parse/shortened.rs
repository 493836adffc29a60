//! URLs that their authors shortened and marked as such: `https://www.exam..`,
//! `http://a.example/files/...`.
//!
//! Git cuts lines to a width and ends them with `..`. Web mailers and social networks cut a link's
//! text with `…` or `...`. People write `...` or `[...]` for text they omit.

use super::components::{Site, components, has_known_suffix, url_len};
use crate::byte_scan::prefix_len;

/// The component of a URL that its author shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShortenedComponent {
    /// The host, so the location is unknown.
    Host,
    /// The path, query or fragment.
    Path,
}

/// Top-level domains outside the public suffix list that complete a host: RFC 2606, RFC 6761, RFC
/// 6762, RFC 8375 and ICANN's resolution on `internal`.
const RESERVED_DOMAINS: [&str; 7] = [
    "example",
    "test",
    "invalid",
    "localhost",
    "local",
    "arpa",
    "internal",
];

/// Marks in brackets. RFC 3986 does not allow these brackets in a path.
const BRACKETED_MARKS: [&[u8]; 4] = [b"[...]", b"[..]", b"(...)", b"(..)"];

/// Returns the component of the URL `full` that was shortened. `tail` is the text trimmed from its
/// end, and `after` the text after `tail`.
pub(super) fn shortened_component(
    full: &[u8],
    tail: &[u8],
    after: &[u8],
) -> Option<ShortenedComponent> {
    let is_marked = has_mark(tail, after);
    if !is_marked && !has_ellipsis(full) {
        return None;
    }
    let url = &full[..url_len(full)];
    let components = components(url);
    if components.scheme.eq_ignore_ascii_case(b"mailto") {
        return (is_marked || has_ellipsis(url))
            .then(|| shortened_mailbox(components.path, is_marked))
            .flatten();
    }
    // Outlook Express ends its attribution with an article identifier and three dots.
    let is_news = components.scheme.eq_ignore_ascii_case(b"news");
    if is_news || !is_marked {
        return has_elided_segment(components.path).then_some(ShortenedComponent::Path);
    }
    let ends_with_host = components.host.is_some()
        && components.path.is_empty()
        && components.query.is_none()
        && components.port.is_none()
        && url.len() == full.len();
    match Site::of(&components).filter(|_| ends_with_host) {
        Some(site) if is_complete(&site.host) => None,
        Some(_) => Some(ShortenedComponent::Host),
        None => Some(ShortenedComponent::Path),
    }
}

/// Returns the length of the bracketed mark at the end of `word`, which is not part of the URL; 0
/// if there is none.
pub(super) fn bracketed_mark_len(word: &[u8]) -> usize {
    BRACKETED_MARKS
        .iter()
        .find(|mark| word.ends_with(mark))
        .map_or(0, |mark| mark.len())
}

/// Returns `true` for an ellipsis: two to four dots, even in brackets, or the character `…`. A
/// longer row of dots is a leader to a page number.
fn has_mark(tail: &[u8], after: &[u8]) -> bool {
    if tail.is_empty() {
        return after.starts_with("…".as_bytes());
    }
    let dots = prefix_len(tail, |&byte| byte == b'.');
    matches!(dots, 2..=4)
        || BRACKETED_MARKS.iter().any(|mark| tail.starts_with(mark))
        || matches!(tail, [b'[' | b'(']) && after.starts_with("…".as_bytes())
}

/// Returns `true` if `text` contains three dots in a row.
fn has_ellipsis(text: &[u8]) -> bool {
    memchr::memchr_iter(b'.', text).any(|at| text[at..].starts_with(b"..."))
}

/// Returns `true` if an ellipsis replaces a part of a path. Only the path of a wrapped URL can end
/// with dots.
fn has_elided_segment(path: &[u8]) -> bool {
    has_ellipsis(path) && (path.ends_with(b"...") || memchr::memmem::find(path, b"/.../").is_some())
}

/// Returns [`ShortenedComponent::Host`] if a mailbox was shortened: in its local part, which
/// archives hide that way, or in its host.
fn shortened_mailbox(mailbox: &[u8], is_cut: bool) -> Option<ShortenedComponent> {
    let at = memchr::memrchr(b'@', mailbox)?;
    let host = String::from_utf8_lossy(&mailbox[at + 1..]).to_ascii_lowercase();
    let is_local_cut = memchr::memmem::find(&mailbox[..at], b"...").is_some();
    (is_local_cut || is_cut && !is_complete(&host)).then_some(ShortenedComponent::Host)
}

/// Returns `true` if `host`, in lower case, is an IP address or ends with an existing domain.
fn is_complete(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    host.ends_with(']')
        || host.parse::<std::net::Ipv4Addr>().is_ok()
        || RESERVED_DOMAINS.contains(&last)
        || host.contains('.') && (has_known_suffix(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the shortened component of a URL that ends at `‖`.
    #[track_caller]
    fn check(marked: &str, component: Option<ShortenedComponent>) {
        let (full, rest) = marked.split_once('‖').unwrap();
        let tail = rest.find('…').map_or(rest, |at| &rest[..at]);
        let after = &rest[tail.len()..];
        let got = shortened_component(full.as_bytes(), tail.as_bytes(), after.as_bytes());
        assert_eq!(got, component, "{marked}");
    }

    #[test]
    fn a_host_without_an_existing_domain_is_shortened() {
        let cases = "git://git.ker‖.. https://g‖.. https://www.kern‖... http://www.pap‖… \
            mailto:joe@a.exam‖... mailto:jo...@a.example‖";
        for marked in cases.split(' ') {
            check(marked, Some(ShortenedComponent::Host));
        }
    }

    #[test]
    fn a_path_before_an_ellipsis_is_shortened() {
        let cases = "http://a.example/b‖.. http://a.example/‖... http://a.example/b‖...). \
            http://a.example/b‖[...] http://a.example/b‖… http://a.example/b‖[…] \
            http://a.example?b‖... http://a.example/#b‖... http://a.example/.../b‖";
        for marked in cases.split(' ') {
            check(marked, Some(ShortenedComponent::Path));
        }
    }

    #[test]
    fn a_pause_does_not_shorten_a_url() {
        let cases = "http://www.a.example‖... http://www.kernel.org‖… http://192.0.2.1‖... \
            http://localhost‖... http://a.example/b‖. http://a.example/b‖,... \
            http://a.example/b‖.......... news:1@a.b‖... mailto:joe@www.a.example‖... \
            http://a.example/b...c‖";
        for marked in cases.split(' ') {
            check(marked, None);
        }
    }
}
