//! URLs written without a scheme: the scheme that is put before them, and the notation of FTP
//! locations from before URLs.

/// Returns `text` after `scheme://`. An FTP location as `host:path` becomes a path after the host.
pub(super) fn with_guessed_scheme(scheme: &str, text: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(scheme.len() + 4 + text.len());
    full.extend(scheme.as_bytes());
    full.extend(b"://");
    match FtpLocation::of(text).filter(|_| scheme == "ftp") {
        Some(FtpLocation { host, path }) => {
            full.extend(host);
            if path.first() != Some(&b'/') {
                // Relative to the folder after the login, as a URL's path is (RFC 1738, section
                // 3.2.2).
                full.push(b'/');
            }
            full.extend(path);
        }
        None => full.extend(text),
    }
    full
}

/// An FTP location as people wrote it before URLs: a host, perhaps its address in parentheses, a
/// colon and a path, as in `ftp.a.example:/pub/x`, `ftp.a.example:~joe/x` and
/// `ftp.a.example(192.0.2.1):pub/x`.
struct FtpLocation<'t> {
    host: &'t [u8],
    path: &'t [u8],
}

impl FtpLocation<'_> {
    fn of(text: &[u8]) -> Option<FtpLocation<'_>> {
        let is_host_byte = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') || *byte >= 0x80
        };
        let (host, rest) = text.split_at(leading(text, is_host_byte));
        let path = without_address(rest).strip_prefix(b":")?;
        is_path(path).then_some(FtpLocation { host, path })
    }
}

/// Returns `text` after an IPv4 address in parentheses at its start, if there is one.
fn without_address(text: &[u8]) -> &[u8] {
    let Some(inner) = text.strip_prefix(b"(") else {
        return text;
    };
    let len = leading(inner, |byte| byte.is_ascii_digit() || *byte == b'.');
    match &inner[len..] {
        [b')', rest @ ..] if len > 0 => rest,
        _ => text,
    }
}

/// Returns `true` if a path can begin like this. Digits up to the end or to a slash are a port.
fn is_path(text: &[u8]) -> bool {
    let digits = leading(text, u8::is_ascii_digit);
    let is_port = digits > 0 && matches!(text.get(digits), None | Some(b'/' | b'?' | b'#'));
    let begins = text.first().is_some_and(|&byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'~' | b'.' | b'_' | b'%')
    });
    begins && !is_port
}

/// Returns the number of bytes at the start of `text` that `belongs` accepts.
fn leading(text: &[u8], belongs: impl Fn(&u8) -> bool) -> usize {
    text.iter().take_while(|&byte| belongs(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(scheme: &str, text: &str, full: &str) {
        let got = with_guessed_scheme(scheme, text.as_bytes());
        assert_eq!(String::from_utf8_lossy(&got), full);
    }

    #[test]
    fn ftp_locations_have_a_colon_before_their_path() {
        check("ftp", "ftp.a.example:/pub/x", "ftp://ftp.a.example/pub/x");
        check("ftp", "ftp.a.example:pub/x", "ftp://ftp.a.example/pub/x");
        check("ftp", "ftp.a.example:~joe/x", "ftp://ftp.a.example/~joe/x");
        check("ftp", "ftp.a.example:README", "ftp://ftp.a.example/README");
        check("ftp", "ftp.a.example:2.0/x", "ftp://ftp.a.example/2.0/x");
        check(
            "ftp",
            "ftp.a.example(192.0.2.1):src/",
            "ftp://ftp.a.example/src/",
        );
    }

    #[test]
    fn other_texts_stay_whole() {
        for text in [
            "ftp.a.example",
            "ftp.a.example/pub:x/y",
            "ftp.a.example:21",
            "ftp.a.example:21/pub",
            "ftp.a.example:-)",
            "ftp.a.example:",
            "ftp.a.example::pub",
            "ftp.a.example(x):pub",
            "ftp.a.example(192.0.2.1)",
        ] {
            check("ftp", text, &format!("ftp://{text}"));
        }
        check("http", "www.a.example:x", "http://www.a.example:x");
    }
}
