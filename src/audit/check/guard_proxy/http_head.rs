//! Heads of HTTP/1 messages: read up to the empty line, and written again so that the connection
//! ends after one answer.

use std::io::{self, Read};

use url::Url;

use crate::limits::AUDIT_HEAD_BYTES;

/// Header fields that hold for one connection only (RFC 9110 section 7.6.1), or are for the proxy.
const CONNECTION_FIELDS: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "upgrade",
];

/// The head of a message, and the bytes after it that were read with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadHead {
    /// The head with its empty line; all bytes if there is no such line up to the end or the limit.
    pub(super) head: Vec<u8>,
    pub(super) rest: Vec<u8>,
}

/// The request line of a proxy's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProxyRequest {
    /// `CONNECT host:port`, with the host as a URL.
    Connect(Url),
    /// A request with an absolute URL.
    Forward(Url),
}

/// Reads a head. `already` are bytes that were read before.
pub(super) fn read_head(stream: &mut impl Read, already: Vec<u8>) -> io::Result<ReadHead> {
    let mut bytes = already;
    let mut buffer = [0; 8192];
    loop {
        if let Some(end) = end_of_head(&bytes) {
            let rest = bytes.split_off(end);
            return Ok(ReadHead { head: bytes, rest });
        }
        let len = match stream.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if len == 0 || AUDIT_HEAD_BYTES < bytes.len() {
            return Ok(ReadHead {
                head: bytes,
                rest: Vec::new(),
            });
        }
        bytes.extend_from_slice(&buffer[..len]);
    }
}

/// Returns the offset after the empty line.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let crlf = memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4);
    let lf = memchr::memmem::find(bytes, b"\n\n").map(|at| at + 2);
    [crlf, lf].into_iter().flatten().min()
}

/// Parses the first line of a request to a proxy; `None` for other text.
pub(super) fn proxy_request(head: &[u8]) -> Option<ProxyRequest> {
    let line = std::str::from_utf8(head.split(|&byte| byte == b'\n').next()?).ok()?;
    let mut words = line.split_ascii_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    if method == "CONNECT" {
        // The scheme's port is filled in where the URL has the default one.
        let url = Url::parse(&format!("https://{target}/")).ok()?;
        return Some(ProxyRequest::Connect(url));
    }
    let url = Url::parse(target).ok()?;
    (url.scheme() == "http").then_some(ProxyRequest::Forward(url))
}

/// Returns the head of a request for the server: the path instead of the URL, and one request for
/// the connection.
pub(super) fn request_for_server(head: &[u8]) -> Vec<u8> {
    let (line, fields) = head.split_at(line_len(head));
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let mut out = method.unwrap_or_default().to_vec();
    out.push(b' ');
    out.extend_from_slice(&origin_form(target.unwrap_or_default()));
    out.push(b' ');
    out.extend_from_slice(version.unwrap_or_default());
    append_fields(&mut out, fields);
    out
}

/// Path and query of an absolute URL, as they are written.
fn origin_form(target: &[u8]) -> Vec<u8> {
    let after_scheme = memchr::memmem::find(target, b"://").map_or(target, |at| &target[at + 3..]);
    match after_scheme.iter().position(|byte| b"/?".contains(byte)) {
        Some(at) if after_scheme[at] == b'/' => after_scheme[at..].to_vec(),
        Some(at) => [b"/", &after_scheme[at..]].concat(),
        None => b"/".to_vec(),
    }
}

/// Returns the head of an answer for the checker, which opens another connection for its next
/// request.
pub(super) fn answer_for_checker(head: &[u8]) -> Vec<u8> {
    let (line, fields) = head.split_at(line_len(head));
    let mut out = line.to_vec();
    append_fields(&mut out, fields);
    out
}

/// Returns `true` for the head of an interim answer, which another one follows (RFC 9110 section
/// 15.2).
pub(super) fn is_interim(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/1") && head.get(8..10) == Some(b" 1") && !head[9..].starts_with(b"101")
}

/// Length of the first line with its end.
fn line_len(head: &[u8]) -> usize {
    memchr::memchr(b'\n', head).map_or(head.len(), |at| at + 1)
}

/// Appends the header fields except [`CONNECTION_FIELDS`], a field that closes the connection, and
/// the empty line.
fn append_fields(out: &mut Vec<u8>, fields: &[u8]) {
    let mut is_dropped = false;
    for line in fields.split_inclusive(|&byte| byte == b'\n') {
        if matches!(line, b"\r\n" | b"\n") {
            break;
        }
        // A folded line belongs to the field before.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
            is_dropped = CONNECTION_FIELDS
                .iter()
                .any(|field| field.as_bytes().eq_ignore_ascii_case(name));
        }
        if !is_dropped {
            out.extend_from_slice(line);
        }
    }
    out.extend_from_slice(b"Connection: close\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_at_the_empty_line() {
        for text in ["GET / x\r\na: b\r\n\r\nrest", "GET / x\na: b\n\nrest"] {
            let read = read_head(&mut text.as_bytes(), Vec::new()).unwrap();
            assert_eq!(read.rest, b"rest");
            let later = read_head(&mut &text.as_bytes()[5..], text.as_bytes()[..5].to_vec());
            assert_eq!(later.unwrap(), read);
        }
        let cut = read_head(&mut &b"GET / x\r\na"[..], Vec::new()).unwrap();
        assert_eq!(
            (cut.head.as_slice(), cut.rest.len()),
            (&b"GET / x\r\na"[..], 0)
        );
    }

    #[test]
    fn requests_to_a_proxy_are_parsed() {
        let shown = |head: &str| match proxy_request(head.as_bytes()) {
            Some(ProxyRequest::Connect(url)) => format!("connect {url}"),
            Some(ProxyRequest::Forward(url)) => format!("forward {url}"),
            None => "none".to_owned(),
        };
        for (line, expected) in [
            ("CONNECT h.test:443 HTTP/1.1\r\n", "connect https://h.test/"),
            ("CONNECT [::1]:80 HTTP/1.1\r\n", "connect https://[::1]:80/"),
            (
                "GET http://H.test:8080/a?b HTTP/1.1\r\n",
                "forward http://h.test:8080/a?b",
            ),
            (
                "GET http://0x7f.1/ HTTP/1.1\r\n",
                "forward http://127.0.0.1/",
            ),
            ("GET /a HTTP/1.1\r\n", "none"),
            ("GET ftp://h.test/ HTTP/1.1\r\n", "none"),
            ("GET file:///etc/passwd HTTP/1.1\r\n", "none"),
            ("", "none"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn a_request_is_for_the_server_and_its_only_one() {
        let head = b"GET http://h.test?x=%7E HTTP/1.1\r\nHost: h.test\r\nProxy-Connection: keep-alive\r\nconnection: a,\r\n b\r\nAccept: *\r\n\r\n";
        let expected =
            b"GET /?x=%7E HTTP/1.1\r\nHost: h.test\r\nAccept: *\r\nConnection: close\r\n\r\n";
        assert_eq!(request_for_server(head), expected);
        assert_eq!(origin_form(b"http://h.test/a/../b?c"), b"/a/../b?c");
        assert_eq!(origin_form(b"http://h.test"), b"/");
    }

    #[test]
    fn an_answer_closes_the_connection() {
        let head = b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n";
        let expected = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        assert_eq!(answer_for_checker(head), expected);
        assert!(is_interim(b"HTTP/1.1 103 Early Hints\r\n\r\n"));
        assert!(!is_interim(b"HTTP/1.1 101 Switching\r\n\r\n"));
        assert!(!is_interim(b"HTTP/1.1 200 OK\r\n\r\n"));
    }
}
