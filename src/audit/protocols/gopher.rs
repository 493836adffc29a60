//! Gopher (RFC 1436): the selector is sent, and the first lines of the answer are read.

use std::net::TcpStream;

use super::Outcome;
use super::stream::BoundStream;
use crate::audit::state::{CheckFailure, LinkState};

/// Asks for the path of a URL: the type of the item, then its selector (RFC 4266).
pub(super) fn ask(stream: TcpStream, path: &[u8]) -> Result<Outcome, CheckFailure> {
    let mut server = BoundStream::new(stream);
    server.write_line(selector(path))?;
    let Some(line) = server.read_line()? else {
        return Ok(Outcome::replied(
            LinkState::Unknown,
            "closed without an answer",
        ));
    };
    let state = if is_error(&line) {
        LinkState::DeadPage
    } else {
        LinkState::Alive
    };
    Ok(Outcome::replied(state, &String::from_utf8_lossy(&line)))
}

fn selector(path: &[u8]) -> &[u8] {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    path.get(1..).unwrap_or_default()
}

/// Returns `true` for a line of a menu whose item is an error: type 3, name, selector, host, port.
fn is_error(line: &[u8]) -> bool {
    line.starts_with(b"3") && 2 < memchr::memchr_iter(b'\t', line).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_no_part_of_the_selector() {
        for (path, expected) in [
            ("/0/a/b", "/a/b"),
            ("/1", ""),
            ("", ""),
            ("/", ""),
            ("/7/s\tlamp", "/s\tlamp"),
        ] {
            assert_eq!(selector(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }

    #[test]
    fn an_error_is_an_item_of_type_3() {
        assert!(is_error(b"3'/a' does not exist\t\terror.host\t1"));
        assert!(!is_error(b"3 lamps, and a lantern"));
        assert!(!is_error(b"0About\t/about\tg.cern.ch\t70"));
    }
}
