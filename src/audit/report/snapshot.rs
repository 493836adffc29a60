//! Addresses of snapshots: `web/<timestamp>/<url>` at the archive that holds them.

/// Base of the addresses of snapshots in the Wayback Machine.
const WAYBACK_MACHINE: &str = "https://web.archive.org/web/";

/// Last segments of the path of a CDX server that stands beside the snapshots of a collection.
const CDX_SEGMENTS: [&str; 2] = ["/cdx", "/cdx/"];

/// Timestamp of a snapshot of which nothing is known: the archive lists all.
const ANY_TIME: &str = "*";

/// Returns the address of the snapshot at `timestamp` in the archive that the CDX server `server` belongs to; `None` if the place of
/// its snapshots is not known.
pub(super) fn captured_snapshot(server: &str, timestamp: &str, url: &str) -> Option<String> {
    Some(address(&snapshot_base(server)?, timestamp, url))
}

/// Returns the address at which the Wayback Machine shows its snapshot that is nearest to a date; all of them without one.
pub(super) fn nearest_snapshot(date: Option<&str>, url: &str) -> String {
    let digits = |date: &str| date.chars().filter(char::is_ascii_digit).collect();
    let timestamp: String = date.map_or(ANY_TIME.to_owned(), digits);
    address(WAYBACK_MACHINE, &timestamp, url)
}

/// The address before the timestamp: `https://host/coll/` for the CDX server `https://host/coll/cdx` of pywb.
fn snapshot_base(server: &str) -> Option<String> {
    let address = server.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split('/').next().unwrap_or_default();
    if !matches!(scheme, "http" | "https") || host.is_empty() || host.contains('@') {
        return None;
    }
    if host == "web.archive.org" {
        return Some(WAYBACK_MACHINE.to_owned());
    }
    let base = CDX_SEGMENTS
        .iter()
        .find_map(|segment| address.strip_suffix(segment))?;
    Some(format!("{base}/"))
}

fn address(base: &str, timestamp: &str, url: &str) -> String {
    escaped(&format!("{base}{timestamp}/{url}"))
}

/// Escapes the bytes that no URL holds.
fn escaped(url: &str) -> String {
    let mut text = String::with_capacity(url.len());
    for byte in url.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}'".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_follows_from_the_server() {
        for (server, expected) in [
            (
                "https://web.archive.org/cdx/search/cdx",
                Some(WAYBACK_MACHINE),
            ),
            (
                "http://127.0.0.1:8080/coll/cdx",
                Some("http://127.0.0.1:8080/coll/"),
            ),
            (
                "https://a.test/wayback/cdx?x=y",
                Some("https://a.test/wayback/"),
            ),
            ("https://a.test/api", None),
            ("https://u:p@a.test/cdx", None),
            ("javascript://a.test/cdx", None),
            ("https:///cdx", None),
            ("", None),
        ] {
            assert_eq!(snapshot_base(server).as_deref(), expected, "{server}");
        }
    }

    #[test]
    fn addresses_hold_no_byte_that_ends_an_attribute() {
        let url = "http://h.test/a b\"<'\u{e9}\u{202e}?x=%20#y";
        assert_eq!(
            nearest_snapshot(Some("1996-07-02T13:45:00Z"), url),
            "https://web.archive.org/web/19960702134500/http://h.test/a%20b%22%3C%27%C3%A9%E2%80%AE?x=%20#y"
        );
        assert_eq!(
            nearest_snapshot(None, "http://h.test/"),
            "https://web.archive.org/web/*/http://h.test/"
        );
        assert_eq!(
            captured_snapshot("http://p.test/c/cdx", "19970101000000", "http://h.test/").unwrap(),
            "http://p.test/c/19970101000000/http://h.test/"
        );
    }
}
