//! What was written of the URLs of earlier records, for those that come again.

use twox_hash::XxHash3_64;

use crate::limits::{RECORD_CACHE_ENTRIES, RECORD_CACHE_ENTRY_BYTES};

/// The JSON that tells of some URLs that were written lately. Mailing lists name themselves in each message, and people
/// their pages.
///
/// Holds at most [`RECORD_CACHE_ENTRIES`] of up to [`RECORD_CACHE_ENTRY_BYTES`] bytes, each in the place that the hash of its URL names; a later
/// one takes the place of an earlier.
#[derive(Debug, Default)]
pub(super) struct RecordCache {
    places: Vec<CachedReading>,
}

/// What was written of a URL.
#[derive(Clone, Debug, Default)]
struct CachedReading {
    /// The URL with its fragment; nothing while the place is free.
    full: Vec<u8>,
    /// Whether its link showed another host.
    mismatch: bool,
    json: Vec<u8>,
}

impl RecordCache {
    /// Appends to `out` what `write` appends for this URL, which must depend on nothing else. It is called where that is
    /// not known.
    pub(super) fn append(
        &mut self,
        full: &[u8],
        mismatch: bool,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        if full.is_empty() || full.len() > RECORD_CACHE_ENTRY_BYTES {
            return write(out);
        }
        if self.places.is_empty() {
            self.places
                .resize(RECORD_CACHE_ENTRIES, CachedReading::default());
        }
        let place = &mut self.places[XxHash3_64::oneshot(full) as usize % RECORD_CACHE_ENTRIES];
        if place.full == full && place.mismatch == mismatch {
            return out.extend_from_slice(&place.json);
        }
        // If writing fails the place is free.
        place.full.clear();
        let start = out.len();
        write(out);
        let json = &out[start..];
        if json.len() <= RECORD_CACHE_ENTRY_BYTES {
            place.json.clear();
            place.json.extend_from_slice(json);
            place.full.extend_from_slice(full);
            place.mismatch = mismatch;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is appended for each of some URLs, and how many of them had to be written.
    fn appended(urls: &[(&[u8], bool)]) -> (Vec<u8>, usize) {
        let (mut readings, mut out, mut written) = (RecordCache::default(), Vec::new(), 0);
        for (url, mismatch) in urls {
            readings.append(url, *mismatch, &mut out, |out| {
                written += 1;
                out.extend_from_slice(url);
                out.push(if *mismatch { b'!' } else { b';' });
            });
        }
        (out, written)
    }

    #[test]
    fn what_is_known_is_written_once() {
        assert_eq!(
            appended(&[(b"a", false), (b"b", false), (b"a", false)]),
            (b"a;b;a;".to_vec(), 2)
        );
        assert_eq!(
            appended(&[(b"a", false), (b"a", true), (b"a", true)]),
            (b"a;a!a!".to_vec(), 2)
        );
        assert_eq!(appended(&[(b"", false), (b"", false)]), (b";;".to_vec(), 2));
    }

    #[test]
    fn long_ones_are_not_kept() {
        let long = vec![b'a'; RECORD_CACHE_ENTRY_BYTES + 1];
        assert_eq!(appended(&[(&long, false), (&long, false)]).1, 2);
        let longest = &long[2..];
        assert_eq!(appended(&[(longest, false), (longest, false)]).1, 1);
    }

    #[test]
    fn many_that_share_places_are_told_apart() {
        let urls: Vec<Vec<u8>> = (0..RECORD_CACHE_ENTRIES * 20)
            .map(|number| format!("u{}", number % 999).into_bytes())
            .collect();
        let asked: Vec<(&[u8], bool)> = urls.iter().map(|url| (url.as_slice(), false)).collect();
        let want: Vec<u8> = urls
            .iter()
            .flat_map(|url| [url.as_slice(), b";"].concat())
            .collect();
        assert_eq!(appended(&asked).0, want);
    }
}
