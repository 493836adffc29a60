//! Packed news batches: compressed data after a line that names the program to unpack it.

/// Parses the first line of a packed news batch, such as `#! cunbatch`.
///
/// Returns the name of the program that unpacks the batch (`cunbatch` for compress, `gunbatch` for
/// gzip, `bunbatch` for bzip2, ...), and the packed batch after the line.
#[must_use]
pub fn packed_news_batch(start: &[u8]) -> Option<(&str, &[u8])> {
    const MAX_NAME_BYTES: usize = 16;
    const MARK: &[u8] = b"#! ";
    let rest = start.strip_prefix(MARK)?;
    let end = rest
        .iter()
        .take(MAX_NAME_BYTES)
        .position(|&byte| byte == b'\n')?;
    let unpacker = str::from_utf8(rest[..end].trim_ascii_end()).ok()?;
    let is_unpacker =
        unpacker.ends_with("unbatch") && unpacker.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_unpacker.then_some((unpacker, &rest[end + 1..]))
}

/// Returns the length of the line before a packed news batch, or 0 for anything else.
#[must_use]
pub fn batch_line_bytes(start: &[u8]) -> usize {
    packed_news_batch(start).map_or(0, |(_, packed)| start.len() - packed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_packed_batches_are_parsed() {
        assert_eq!(
            packed_news_batch(b"#! cunbatch\n\x1F\x9D"),
            Some(("cunbatch", &b"\x1F\x9D"[..]))
        );
        assert_eq!(
            packed_news_batch(b"#! gunbatch \r\n"),
            Some(("gunbatch", &b""[..]))
        );
        assert_eq!(packed_news_batch(b"#! rnews 12\n"), None);
        assert_eq!(packed_news_batch(b"#! /bin/sh\n"), None);
    }
}
