//! URLs that RFC 3986 and WHATWG accept at sight, and that WHATWG writes as they are.
//!
//! Most URLs are so: a scheme in lower case, a name of letters, digits and hyphens, and nothing behind it that anyone
//! would escape or leave out. Everything else is left to the libraries; a test holds both to the same answers.

use std::borrow::Cow;

use super::verdict::Whatwg;
use crate::grammar::escaped_byte;

/// WHATWG's reading of `full`, if it is plain. RFC 3986 accepts it then, too. Linear, allocates nothing.
pub(super) fn read(full: &[u8]) -> Option<Whatwg<'_>> {
    let colon = full
        .iter()
        .position(|&byte| !is_scheme(byte))
        .filter(|&at| full[at] == b':')?;
    let (scheme, rest) = (&full[..colon], &full[colon + 1..]);
    let is_special = match scheme {
        b"http" | b"https" | b"ftp" => is_site(rest)?,
        b"file" | b"ws" | b"wss" => return None,
        _ => is_opaque(rest)?,
    };
    scheme.first().filter(|byte| byte.is_ascii_lowercase())?;
    let href = Cow::Borrowed(std::str::from_utf8(full).ok()?);
    Some(Whatwg {
        href,
        is_special,
        is_address: false,
    })
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.')
}

/// `//`, a name, and a path that begins with a slash. True, because the scheme is special.
fn is_site(rest: &[u8]) -> Option<bool> {
    let site = rest.strip_prefix(b"//")?;
    let slash = memchr::memchr(b'/', site)?;
    let (host, behind) = site.split_at(slash);
    (is_name(host) && is_plain(behind, Dots::Refused)).then_some(true)
}

/// What needs neither host nor slash: `mailto:`, `news:`, `urn:`. False, because the scheme is not special.
fn is_opaque(rest: &[u8]) -> Option<bool> {
    let first = *rest.first()?;
    (first != b'/' && first != b'?' && first != b'#' && is_plain(rest, Dots::Taken))
        .then_some(false)
}

/// A name of two labels or more in lower case. The last one is of letters, so that it is no address, and none holds two
/// hyphens in a row, so that none is Punycode.
fn is_name(host: &[u8]) -> bool {
    // Where the last label begins, and what stands behind the last byte that is no letter.
    let (mut label, mut behind_other) = (0, 0);
    let mut before = b'.';
    let is_label = |from: usize, to: usize, last: u8| from < to && to - from <= 63 && last != b'-';
    for (at, &byte) in host.iter().enumerate() {
        match byte {
            b'a'..=b'z' => {}
            b'0'..=b'9' => behind_other = at + 1,
            b'-' if before != b'-' && before != b'.' => behind_other = at + 1,
            b'.' if is_label(label, at, before) => label = at + 1,
            _ => return false,
        }
        before = byte;
    }
    host.len() <= 253 && label > 0 && is_label(label, host.len(), before) && behind_other <= label
}

/// What becomes of dots that begin a segment, and of dots that are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dots {
    /// They are bytes like others.
    Taken,
    /// The segment may be `.` or `..`, which WHATWG leaves out.
    Refused,
}

/// Bytes that stand for themselves in path, query and fragment; escapes; one `#` at the most.
fn is_plain(text: &[u8], dots: Dots) -> bool {
    let mut at = 0;
    let mut hashes = 0;
    while let Some(run) = text[at..].iter().position(|&byte| !CALM[usize::from(byte)]) {
        at += run;
        let goes_on = match text[at] {
            b'%' => {
                escaped_byte(&text[at..]).is_some_and(|octet| octet != b'.' || dots == Dots::Taken)
            }
            b'/' => text.get(at + 1) != Some(&b'.') || dots == Dots::Taken,
            b'#' => {
                hashes += 1;
                hashes == 1
            }
            _ => false,
        };
        if !goes_on {
            return false;
        }
        at += 1;
    }
    true
}

/// Those of these bytes that need no second look: unreserved ones, and most delimiters.
const CALM: [bool; 256] = {
    let mut calm = [false; 256];
    let marks = b"-._~!$&()*+,;=:@?";
    let mut at = 0;
    while at < marks.len() {
        calm[marks[at] as usize] = true;
        at += 1;
    }
    let mut octet = b'0';
    while octet <= b'z' {
        calm[octet as usize] |= octet.is_ascii_alphanumeric();
        octet += 1;
    }
    calm
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::verdict::{rfc3986, whatwg};
    use super::*;

    /// The same label by label.
    fn is_name_by_labels(host: &str) -> bool {
        let labels: Vec<&str> = host.split('.').collect();
        let label = |label: &&str| {
            (1..=63).contains(&label.len())
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        host.len() <= 253
            && labels.len() > 1
            && labels.iter().all(label)
            && labels[labels.len() - 1]
                .bytes()
                .all(|byte| byte.is_ascii_lowercase())
            && !host.contains("--")
    }

    proptest! {
        #[test]
        fn names_are_told_in_one_pass(pieces in prop::collection::vec(
            prop::sample::select(vec![".", "-", "a", "z", "0", "9", "B", "_", "sixty-two-octets-of-a-label-that-is-as-long-as-one-may-be-ever"]),
            0..10,
        )) {
            let host = pieces.concat();
            prop_assert_eq!(is_name(host.as_bytes()), is_name_by_labels(&host));
        }
    }

    /// What is plain must be what the libraries say. Whether it is.
    fn check(text: &str) -> bool {
        let Some(found) = read(text.as_bytes()) else {
            return false;
        };
        assert!(rfc3986(text.as_bytes()), "{text}");
        assert_eq!(Some(found), whatwg(text.as_bytes()), "{text}");
        true
    }

    #[test]
    fn what_people_write_is_plain() {
        for text in [
            "http://www.example.org/a/b.html",
            "https://a-b.example.co.uk/~x/?q=1&r=%7e#top",
            "ftp://ftp.example.org/pub/x;type=a",
            "mailto:joe@example.org",
            "news:comp.infosystems.www.misc",
            "urn:isbn:0-395-36341-1",
        ] {
            assert!(check(text), "{text}");
        }
    }

    #[test]
    fn what_browsers_change_is_not() {
        for text in [
            "http://Example.org/",
            "http://example.org",
            "http://example.org:80/",
            "http://u@example.org/",
            "http://1.2.3.4/",
            "http://a.0x1/",
            "http://xn--a.example/",
            "http://example.org/a/../b",
            "http://example.org/%2E%2e/",
            "http://example.org/it's?it's",
            "http://example.org/#a#b",
            "http://example.org/%zz",
            "HTTP://example.org/",
            "mailto:/a/../b",
            "file:x",
            "1a:b",
        ] {
            assert!(read(text.as_bytes()).is_none(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn the_libraries_say_the_same(
            scheme in "(http|https|ftp|mailto|news|[a-z0-9+.-]{1,4})",
            middle in "(://|:|:/)[a-z0-9.-]{0,9}(\\.[a-z0-9.-]{1,5})?(:[0-9]{1,3})?",
            rest in "(/[A-Za-z0-9._~!$&'()*+,;=:@/?%#|^{}-]{0,12}){0,3}",
        ) {
            check(&format!("{scheme}{middle}{rest}"));
        }

        #[test]
        fn escapes_and_dots_are_no_exception(rest in "(/|\\.|%2e|%2E|%41|a|\\?|#|;|:){0,9}") {
            check(&format!("http://a.example/{rest}"));
            check(&format!("mailto:{rest}"));
        }
    }
}
