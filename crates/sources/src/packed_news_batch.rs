//! Packed news batches: compressed data after a line that names the program to unpack it.

/// First line of a packed news batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedNewsBatch<'s> {
    /// Name of the program that unpacks the batch: `cunbatch` for compress, `gunbatch` for gzip,
    /// `bunbatch` for bzip2, ...
    pub unpacker: &'s str,
    /// Length of the line in bytes, including its terminator. The packed batch follows it.
    pub line_bytes: usize,
}

/// Parses the first line of a packed news batch, such as `#! cunbatch`.
#[must_use]
pub fn packed_news_batch(start: &[u8]) -> Option<PackedNewsBatch<'_>> {
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
    is_unpacker.then_some(PackedNewsBatch {
        unpacker,
        line_bytes: MARK.len() + end + 1,
    })
}

/// Returns the length of the line before a packed news batch, or 0 for anything else.
#[must_use]
pub fn batch_line_bytes(start: &[u8]) -> usize {
    packed_news_batch(start).map_or(0, |batch| batch.line_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_packed_batches_are_parsed() {
        assert_eq!(
            packed_news_batch(b"#! cunbatch\n\x1F\x9D"),
            Some(PackedNewsBatch {
                unpacker: "cunbatch",
                line_bytes: 12
            })
        );
        assert_eq!(
            packed_news_batch(b"#! gunbatch \r\n"),
            Some(PackedNewsBatch {
                unpacker: "gunbatch",
                line_bytes: 14
            })
        );
        assert_eq!(packed_news_batch(b"#! rnews 12\n"), None);
        assert_eq!(packed_news_batch(b"#! /bin/sh\n"), None);
    }
}
