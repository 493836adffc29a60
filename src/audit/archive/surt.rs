//! The canonical form of a URL by which web archives sort and find captures (SURT): `com,example)/a`
//! for `http://www.example.com:80/A/`.

use url::{Host, Url};

/// Parameters of sessions that archives leave out of a query, each with the length of its value.
const SESSIONS: [(&str, usize); 3] = [("jsessionid", 32), ("phpsessid", 32), ("sid", 32)];

/// Beginning of a parameter of sessions, after which its name has eight letters.
const ASP_SESSION: &str = "aspsessionid";

/// Returns the canonical form; `None` for text that is no URL with a host. Linear.
pub(super) fn surt(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let mut out = match url.host()? {
        Host::Ipv6(address) => address.to_string(),
        host => reversed(&host.to_string()),
    };
    if let Some(port) = url.port() {
        out += &format!(":{port}");
    }
    out.push(')');
    out += &path(url.path());
    let query = url.query().map(query).unwrap_or_default();
    if !query.is_empty() {
        out.push('?');
        out += &query;
    }
    Some(out)
}

/// Returns the labels of a host from the last to the first, without a first label such as `www` or
/// `www2`.
fn reversed(host: &str) -> String {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_www = |label: &str| {
        let rest = label.strip_prefix("www");
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let host = match host.split_once('.') {
        Some((first, rest)) if is_www(first) => rest,
        _ => &host,
    };
    let labels: Vec<_> = host.rsplit('.').collect();
    labels.join(",")
}

/// Returns a path in lower case, without empty and relative segments and a slash at its end.
fn path(path: &str) -> String {
    let bytes = unescaped(path.as_bytes());
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in bytes.split(|&byte| byte == b'/') {
        match segment {
            b"" | b"." => {}
            b".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let mut out = String::new();
    for segment in segments {
        out.push('/');
        out += &escaped(segment);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Returns a query in lower case, with its parameters in order and without those of sessions.
fn query(query: &str) -> String {
    let query = escaped(&unescaped(query.as_bytes()));
    let mut parts: Vec<(&str, &str)> = query
        .split('&')
        .map(|part| part.find('=').map_or((part, ""), |at| part.split_at(at)))
        .collect();
    let is_cold_fusion = |part: &(&str, &str)| matches!(part.0, "cfid" | "cftoken");
    if parts.iter().filter(|part| is_cold_fusion(part)).count() == 2 {
        parts.retain(|part| !is_cold_fusion(part));
    }
    parts.retain(|(name, value)| !is_session(name, value));
    parts.sort_unstable();
    let parts: Vec<_> = parts
        .iter()
        .map(|(name, value)| format!("{name}{value}"))
        .collect();
    parts.join("&")
}

/// Returns `true` for a parameter of a session. The value begins with `=`.
fn is_session(name: &str, value: &str) -> bool {
    const ASP_VALUE_CHARS: usize = 24;
    let value = value.strip_prefix('=').unwrap_or_default();
    let has = |chars: usize| {
        value.len() == chars && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_asp = name
        .strip_prefix(ASP_SESSION)
        .is_some_and(|rest| rest.len() == 8);
    is_asp && has(ASP_VALUE_CHARS)
        || SESSIONS
            .iter()
            .any(|&(session, chars)| name == session && has(chars))
}

/// Decodes percent-encoded bytes, also those that are encoded several times.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        out.push(byte);
        while let Some(decoded) = last_escape(&out) {
            out.truncate(out.len() - 3);
            out.push(decoded);
        }
    }
    out
}

/// Returns the byte that `%XX` at the end stands for.
fn last_escape(bytes: &[u8]) -> Option<u8> {
    let [.., b'%', high, low] = bytes else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Encodes blanks, control characters, bytes that are not ASCII, `#` and `%`; in lower case.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'#' | b'%' | 0..=b' ' | 0x7F.. => out += &format!("%{byte:02x}"),
            _ => out.push(char::from(byte.to_ascii_lowercase())),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected forms are those of the Python package surt 0.3.1, which pywb uses.
    #[test]
    fn forms_are_those_of_archives() {
        for (url, expected) in [
            ("http://www.Example.com/", "com,example)/"),
            (
                "http://www2.example.com:8080/A/b/../C/?b=2&a=1",
                "com,example:8080)/a/c?a=1&b=2",
            ),
            (
                "https://example.com/index.php?PHPSESSID=0123456789abcdef0123456789abcdef&x=1",
                "com,example)/index.php?x=1",
            ),
            (
                "http://example.com/a%20b%2Fc?Q=%7E&",
                "com,example)/a%20b/c?&q=~",
            ),
            ("http://example.com/a//b/", "com,example)/a/b"),
            ("http://1.2.3.4/x", "4,3,2,1)/x"),
            ("http://example.com/?", "com,example)/"),
            ("http://user:pw@example.com/", "com,example)/"),
            (
                "http://example.com/%7Efoo/%E4%B8",
                "com,example)/~foo/%e4%b8",
            ),
            (
                "http://b\u{fc}cher.de/\u{fc}?\u{fc}",
                "de,xn--bcher-kva)/%c3%bc?%c3%bc",
            ),
            ("http://example.com:443/", "com,example:443)/"),
            ("https://example.com:443/", "com,example)/"),
            ("http://example.com./a", "com,example)/a"),
            (
                "http://example.com/a?b=2&a=1&b=1",
                "com,example)/a?a=1&b=1&b=2",
            ),
            ("http://example.com/a?b&a=&&c", "com,example)/a?&a=&b&c"),
            ("http://example.com/a/?x", "com,example)/a?x"),
            ("http://example.com/%2561?%2561", "com,example)/a?a"),
            ("http://www.com/", "com)/"),
            ("http://www1.www.example.com/", "com,example,www)/"),
            (
                "http://example.com/?cfid=1234&cftoken=56789012&z=1",
                "com,example)/?z=1",
            ),
            ("http://example.com/%", "com,example)/%25"),
            ("http://example.com/a?x=%26y", "com,example)/a?x=&y"),
            ("http://[::1]/x", "::1)/x"),
        ] {
            assert_eq!(surt(url).as_deref(), Some(expected), "{url}");
        }
        for none in ["", "example.com", "mailto:a@b.test"] {
            assert_eq!(surt(none), None);
        }
    }

    #[test]
    fn bytes_that_are_encoded_very_often_take_linear_time() {
        let url = format!("http://h.test/%{}41", "25".repeat(300_000));
        assert_eq!(surt(&url).unwrap(), "test,h)/a");
    }
}
