//! Line ends of a source, and the NUL bytes before its first line.

use crate::documents::DocumentKind;
use crate::limits::SNIFF_BYTES;

/// Removes the NUL bytes at the start, and returns their number.
pub(crate) fn remove_leading_nuls(bytes: &mut Vec<u8>) -> u64 {
    let nuls = bytes
        .iter()
        .position(|&byte| byte != 0)
        .unwrap_or(bytes.len());
    bytes.drain(..nuls);
    nuls as u64
}

/// Detects the line ends of a source that begins with `bytes`, and turns those that are CR into LF, in place.
pub(crate) fn normalize_line_ends(bytes: &mut [u8]) -> LineEnds {
    // A stream shows no more than these.
    let line_ends = match DocumentKind::of(bytes) {
        Some(_) => LineEnds::Lf,
        None => LineEnds::of(&bytes[..bytes.len().min(SNIFF_BYTES)]),
    };
    if line_ends == LineEnds::Cr {
        cr_to_lf(bytes);
    }
    line_ends
}

/// Line ends of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// LF, CRLF, or CR CR LF.
    Lf,
    /// CR, which becomes LF where the source is read.
    Cr,
}

impl LineEnds {
    /// Returns `Cr` if the first line of a source ends in a CR that no LF follows.
    pub(super) fn of(start: &[u8]) -> LineEnds {
        let first = memchr::memchr2(b'\r', b'\n', start).map_or(&[][..], |at| &start[at..]);
        match first {
            // A file that was written in text mode twice.
            [b'\r', b'\r', b'\n', ..] => LineEnds::Lf,
            [b'\r', next, ..] if *next != b'\n' => LineEnds::Cr,
            _ => LineEnds::Lf,
        }
    }
}

/// Replaces every CR that is not followed by LF with LF, in place: offsets do not change.
///
/// A CR at the very end stays, because the byte after it is not known.
pub(super) fn cr_to_lf(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\r', &bytes[at..]).map(|found| at + found) {
        if bytes.get(found + 1).is_some_and(|&next| next != b'\n') {
            bytes[found] = b'\n';
        }
        at = found + 1;
    }
}
