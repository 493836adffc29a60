//! News articles in wire format: what a server keeps as it came over the network (RFC 3977 section 3.1.1).

/// Whether a whole article is in wire format: its header's lines end in CRLF, and the last line is a lone `.`.
pub(super) fn is_wire(bytes: &[u8]) -> bool {
    let first = memchr::memchr(b'\n', bytes);
    first.is_some_and(|end| bytes[..end].ends_with(b"\r")) && bytes.ends_with(b"\r\n.\r\n")
}

/// The article without its final `.` line.
pub(super) fn without_terminator(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b".\r\n").unwrap_or(bytes)
}
