//! The end of a bare URL before a character that its host or grammar refuses.
//!
//! A person who writes `https://www.kde.org[1]` or `http://foo.com's` means the URL before that character.

use super::acceptance::mailbox_host;
use super::components::scheme;
use crate::grammar::{BareRequirement, escaped_byte};
use crate::scan::{HostAndPort, Scanner, host_before_refused, plausible_host};
use crate::span::Span;

/// Returns the end of the URL at the start of `word` before the first character that cannot belong to it. `None` if there is
/// no such character after something that can be a URL.
///
/// `word` is a URL with its scheme, in running text. Linear in its length.
pub(super) fn end_before_refused(word: &[u8], scanner: &Scanner) -> Option<usize> {
    let scheme = scheme(word);
    let begin = scheme.len() + 1;
    let requirement = scanner.bare_requirement(scheme);
    let rest = word.get(begin..)?;
    let authority = rest
        .strip_prefix(b"//")
        .map(|after| authority(after, begin + 2));
    let path = authority.map_or(begin, |authority| authority.end);
    let end = if is_special(scheme) {
        word.len()
    } else {
        first_refused(word, path)
    };
    let host_end = match (authority, requirement) {
        (Some(_), BareRequirement::Slashes) => SiteEnd::Plausible,
        (Some(authority), _) => end_of_site(word, authority)?,
        (None, BareRequirement::Mailbox(_)) => {
            let host = mailbox_host(&rest[..end - begin])?;
            end_of_site(word, Span::new(begin + host.start, begin + host.end))?
        }
        (None, BareRequirement::News) => {
            end_of_group(word, begin).map_or(SiteEnd::Plausible, SiteEnd::Before)
        }
        // Nothing but its characters shows that such a word is a URL.
        (None, _) => return None,
    };
    let end = match host_end {
        SiteEnd::Plausible => end,
        SiteEnd::Before(at) => at,
    };
    (end < word.len()).then_some(end)
}

/// The range of the authority at the start of `after`, which is at `from` in the word.
fn authority(after: &[u8], from: usize) -> Span {
    let len = after
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'))
        .unwrap_or(after.len());
    Span::new(from, from + len)
}

/// Returns `true` for the schemes whose paths may hold any character, because browsers accept them (WHATWG URL,
/// section 3.1).
fn is_special(scheme: &[u8]) -> bool {
    [&b"http"[..], b"https", b"ftp", b"ws", b"wss"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(scheme))
}

/// The end of a host and port, or of a newsgroup.
enum SiteEnd {
    /// They are plausible as a whole.
    Plausible,
    /// The offset of a refused character after a plausible start.
    Before(usize),
}

/// Returns the end of the host and port at `span`. `None` if there is no plausible host.
fn end_of_site(word: &[u8], span: Span) -> Option<SiteEnd> {
    let authority = span.of(word);
    let start = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let site = &authority[start..];
    let HostAndPort { host, port } = HostAndPort::of(site);
    let is_port = port.is_none_or(|port| port.iter().all(u8::is_ascii_digit));
    if plausible_host(host) && is_port {
        return Some(SiteEnd::Plausible);
    }
    host_before_refused(site).map(|len| SiteEnd::Before(span.start + start + len))
}

/// Returns the end of the newsgroup at `begin`, if a character follows that no newsgroup has. A wildcard after a dot stands
/// for a part of the name.
fn end_of_group(word: &[u8], begin: usize) -> Option<usize> {
    let is_group_byte =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'.' | b'-' | b'+' | b'_');
    let end = begin + word[begin..].iter().take_while(is_group_byte).count();
    let is_name = word[..end].last().is_some_and(u8::is_ascii_alphanumeric);
    (is_name && !word[begin..].contains(&b'@')).then_some(end)
}

/// Returns the offset of the first character at `from` or later that RFC 3986 allows in no path, query or fragment.
fn first_refused(word: &[u8], from: usize) -> usize {
    let mut has_fragment = false;
    let refused = |&at: &usize| match word[at] {
        b'%' => escaped_byte(&word[at..]).is_none(),
        b'#' => std::mem::replace(&mut has_fragment, true),
        byte => !(byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte)),
    };
    (from..word.len()).find(refused).unwrap_or(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{Rules, SchemelessPolicy};

    #[track_caller]
    fn check(word: &str, want: Option<&str>) {
        let scanner = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &[]);
        let end = end_before_refused(word.as_bytes(), &scanner);
        assert_eq!(end.map(|end| &word[..end]), want, "{word}");
    }

    #[test]
    fn a_url_ends_before_what_its_host_refuses() {
        check("https://www.kde.org[1]", Some("https://www.kde.org"));
        check("http://foo.com's/x", Some("http://foo.com"));
        check("ftp://joe@foo.com=20", Some("ftp://joe@foo.com"));
        check("mailto:a@foo.com[1]", Some("mailto:a@foo.com"));
        check("http://foo.com/b|c", None);
        check("http://$HOST/x", None);
    }

    #[test]
    fn a_url_ends_before_what_its_grammar_refuses() {
        check(
            "mailto:a@foo.com?subject=[foo]",
            Some("mailto:a@foo.com?subject="),
        );
        check("git://foo.com/b{c,d}", Some("git://foo.com/b"));
        check("git://foo.com/100%", Some("git://foo.com/100"));
        check("news:comp.lang.c's", Some("news:comp.lang.c"));
        check("news:comp.lang.*", None);
    }
}
