//! Defangs URLs for reports about harmful mail: no program turns them into links.
//!
//! In such reports, `hxxp://a[.]example/b` is the usual form of `http://a.example/b`, and `scan`
//! reads it back. This module only rewrites characters; `scan` already decided what is a URL.

use memchr::memchr_iter;

use urlspool_text::grammar::is_scheme_char;

/// Form in which URLs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Unchanged (the default).
    #[default]
    Live,
    /// Defanged: `hxxp://a[.]example/b`.
    Defanged,
}

/// Appends `text` with every URL in it defanged. This changes the scheme, the colon of schemes
/// other than http and https, and the dots of hosts. URLs inside a URL and hosts that start with
/// `www.` are included.
pub(super) fn write_defanged(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    for colon in memchr_iter(b':', bytes) {
        let name = bytes[at.min(colon)..colon]
            .iter()
            .rev()
            .take_while(|&&byte| is_scheme_char(byte))
            .count();
        let begin = colon - name;
        if colon < at || name == 0 {
            continue;
        }
        let scheme = &bytes[begin..colon];
        let has_slashes = bytes[colon + 1..].starts_with(b"//");
        if !has_slashes && !names_address(scheme) {
            continue;
        }
        write_hosts(&bytes[at..begin], out);
        if has_slashes {
            write_scheme(scheme, out);
            out.extend_from_slice(b"//");
        } else {
            out.extend_from_slice(scheme);
            out.extend_from_slice(b"[:]");
        }
        at = colon + if has_slashes { 3 } else { 1 };
        at += write_authority(&bytes[at..], out);
    }
    write_hosts(&bytes[at..], out);
}

/// Appends `text`, a host or the components of a URL. Each dot and at sign, and each colon before
/// two slashes, is put in brackets.
pub(super) fn write_defanged_host(text: &str, out: &mut Vec<u8>) {
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        if text.as_bytes()[at..].starts_with(b"://") {
            out.extend_from_slice(b"[:]");
        } else {
            write_byte(byte, out);
        }
    }
}

/// Appends a defanged scheme and its colon.
fn write_scheme(name: &[u8], out: &mut Vec<u8>) {
    let lowercase = name.to_ascii_lowercase();
    let tail = ["https", "http"]
        .iter()
        .find(|tail| lowercase.ends_with(tail.as_bytes()));
    let Some(tail) = tail else {
        out.extend_from_slice(name);
        out.extend_from_slice(b"[:]");
        return;
    };
    let at = name.len() - tail.len();
    out.extend_from_slice(&name[..=at]);
    // `xx` in the case of the letters, then `p` and possibly `s`.
    for byte in &name[at + 1..at + 3] {
        out.push(if byte.is_ascii_uppercase() {
            b'X'
        } else {
            b'x'
        });
    }
    out.extend_from_slice(&name[at + 3..]);
    out.push(b':');
}

/// Returns `true` for schemes followed by an address without slashes.
fn names_address(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let plain = [
        "mailto", "news", "snews", "mid", "cid", "sip", "sips", "xmpp", "im", "tel",
    ];
    plain.iter().any(|scheme| name == scheme.as_bytes())
}

/// Appends the authority or address at the start of `text`, with dots and at signs in brackets.
/// Returns its length.
fn write_authority(text: &[u8], out: &mut Vec<u8>) -> usize {
    let len = text
        .iter()
        .position(|&byte| byte <= b' ' || b"/?#\\\"<>".contains(&byte))
        .unwrap_or(text.len());
    for &byte in &text[..len] {
        write_byte(byte, out);
    }
    len
}

fn write_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'.' => out.extend_from_slice(b"[.]"),
        b'@' => out.extend_from_slice(b"[at]"),
        _ => out.push(byte),
    }
}

/// Appends `text`, which contains no scheme. Hosts that start with `www.` or `ftp.` get brackets
/// around their dots, because programs turn them into links even without a scheme. Linear.
fn write_hosts(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    for dot in memchr_iter(b'.', text) {
        let Some(host) = dot.checked_sub(3).filter(|host| at <= *host) else {
            continue;
        };
        let name = &text[host..dot];
        if name.eq_ignore_ascii_case(b"www") || name.eq_ignore_ascii_case(b"ftp") {
            out.extend_from_slice(&text[at..host]);
            at = host + write_authority(&text[host..], out);
        }
    }
    out.extend_from_slice(&text[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, defanged: &str) {
        let mut out = Vec::new();
        write_defanged(text, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), defanged);
    }

    #[test]
    fn schemes_and_hosts_are_defanged() {
        check("http://a.example/b.html#c", "hxxp://a[.]example/b.html#c");
        check(
            "HTTPS://joe@a.b.example:80?c",
            "HXXPS://joe[at]a[.]b[.]example:80?c",
        );
        check("git+https://a.example/", "git+hxxps://a[.]example/");
        check("ftp://ftp.a.example/", "ftp[:]//ftp[.]a[.]example/");
        check(
            "mailto:joe@a.example?cc=b",
            "mailto[:]joe[at]a[.]example?cc=b",
        );
        check("news:1.2$3@a.example", "news[:]1[.]2$3[at]a[.]example");
        check("http://[::1]/a", "hxxp://[::1]/a");
    }

    #[test]
    fn urls_inside_a_url_or_text_are_defanged() {
        check(
            "http://a.example/?u=https://b.example/c&v=www.d.example",
            "hxxp://a[.]example/?u=hxxps://b[.]example/c&v=www[.]d[.]example",
        );
        check("Re: see www.a.example/b.c", "Re: see www[.]a[.]example/b.c");
        check(
            "ftp.a.example/.www. WWW.b.example, a.ww.b",
            "ftp[.]a[.]example/.www[.] WWW[.]b[.]example, a.ww.b",
        );
        check("10:30, a.b: c", "10:30, a.b: c");
        check("http://", "hxxp://");
        let mut out = Vec::new();
        write_defanged_host("u=http://a.example", &mut out);
        assert_eq!(out, b"u=http[:]//a[.]example");
    }
    /// Each host once started a search for the other prefix up to the end of the text.
    #[test]
    fn many_hosts_take_linear_time() {
        const HOSTS: usize = 200_000;
        let mut out = Vec::new();
        write_defanged(&"www./".repeat(HOSTS), &mut out);
        assert_eq!(out, "www[.]/".repeat(HOSTS).into_bytes());
    }
}
