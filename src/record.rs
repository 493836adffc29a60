//! One output line. The only place that knows the wire format.

mod balance;
mod item;
mod json;
mod object;
mod parts;
mod read;
mod readings;
mod schema;
pub mod sidecar;

pub use balance::{Counts, Summary};
pub use item::{item, write_item};
pub use json::{MessageTail, RecordWriter, close_line, context_border, event, parsed, reject};
pub use parts::{Decoded, Parts};
pub use read::{SourceRange, place};
pub use schema::schema;
pub use sidecar::{Sidecar, line};

use twox_hash::XxHash3_128;

use crate::decode::{MessageInfo, MimePart};
use crate::origin::{Source, SourceKind};
use crate::parse::FoundUrl;
use crate::repair::Join;

/// The version of the format. Additions are free; a change of a name or a meaning raises it.
pub const SCHEMA: u32 = 1;

/// A URL and all that is known of where it was found.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// The URL.
    pub found: &'r FoundUrl<'r>,
    /// Its id.
    pub id: u128,
    /// Its text as it stood there, from its first to its last character, before repair.
    pub raw: &'r [u8],
    /// `header:NAME`, `body`, `signature`, ...
    pub region: &'r str,
    /// How deep the line is quoted on which it begins.
    pub quote_depth: usize,
    /// Where it came from.
    pub place: RecordOrigin<'r>,
    /// What is known of the message; absent for a text without a header.
    pub info: Option<&'r MessageInfo>,
    /// The part it stood in; absent for the message's own header and for texts.
    pub part: Option<&'r MimePart>,
    /// Bytes of the text before and after it, if they were asked for.
    pub context: Option<(&'r [u8], &'r [u8])>,
    /// What a page shows for the link.
    pub anchor: Option<&'r [u8]>,
    /// Whether that names another host; absent where nothing is shown.
    pub mismatch: Option<bool>,
    /// For a URL that stood inside a redirector's: that one's id, and who redirects.
    pub unwrapped: Option<(u128, &'static str)>,
    /// The joins of the line that it was read from, the doubtful ones and those behind its end as well.
    pub joins: &'r [Join],
}

/// Where a record came from, in bytes of its source.
#[derive(Clone, Copy, Debug)]
pub struct RecordOrigin<'r> {
    /// The source.
    pub source: &'r Source,
    /// How it was divided.
    pub kind: SourceKind,
    /// The first byte of the URL.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Whether `start` and `end` are exact.
    pub exact: bool,
    /// The line within the message, from 1.
    pub line: u64,
    /// The first byte of the message, its `From ` line included.
    pub message_start: u64,
    /// One past its last byte.
    pub message_end: u64,
}

/// The id of a record: a hash of the message's digest, the part's path, the URL with its fragment, and how many
/// times this URL stood in this part before.
#[must_use]
pub fn id(digest: u128, part: &str, url: &[u8], before: u64) -> u128 {
    let [part_len, url_len] = [part.len() as u64, url.len() as u64].map(u64::to_le_bytes);
    hash_of(&[
        &digest.to_le_bytes(),
        &part_len,
        part.as_bytes(),
        &url_len,
        url,
        &before.to_le_bytes(),
    ])
}

/// The hash of some bytes behind each other.
pub(crate) fn hash_of(pieces: &[&[u8]]) -> u128 {
    // Most are short, and there is one for each record: they are put together where nobody has to be asked for room.
    const USUAL_BYTES: usize = 256;
    let mut room = [0; USUAL_BYTES];
    let len = pieces.iter().map(|piece| piece.len()).sum();
    let Some(joined) = room.get_mut(..len) else {
        return XxHash3_128::oneshot(&pieces.concat());
    };
    let mut rest = &mut *joined;
    for piece in pieces {
        let (here, behind) = rest.split_at_mut(piece.len());
        here.copy_from_slice(piece);
        rest = behind;
    }
    XxHash3_128::oneshot(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_hashed_as_one() {
        let text: Vec<u8> = (0..=255).cycle().take(600).collect();
        for len in [0, 1, 16, 255, 256, 257, 600] {
            for at in [0, len / 3, len] {
                let (before, behind) = text[..len].split_at(at);
                assert_eq!(
                    hash_of(&[before, b"", behind]),
                    XxHash3_128::oneshot(&text[..len]),
                    "{len} {at}"
                );
            }
        }
    }
}
