//! Cache of the JSON of URLs that were written lately.

use twox_hash::XxHash3_64;

use crate::limits::{RECORD_CACHE_ENTRIES, RECORD_CACHE_ENTRY_BYTES};

/// Cache of the fields of a record that depend on the URL alone. It pays because mailing lists name themselves in each
/// message, and people their pages.
///
/// Holds at most [`RECORD_CACHE_ENTRIES`] URLs of up to [`RECORD_CACHE_ENTRY_BYTES`] bytes. The hash of a URL selects its
/// entry, and a later URL replaces an earlier one.
#[derive(Debug, Default)]
pub(super) struct RecordCache {
    entries: Vec<CacheEntry>,
}

/// Everything that the cached JSON depends on.
#[derive(Clone, Copy)]
pub(super) struct CacheKey<'u> {
    /// The URL with its fragment.
    pub(super) full: &'u [u8],
    /// `true` if the link shows another host.
    pub(super) mismatch: bool,
}

#[derive(Clone, Debug, Default)]
struct CacheEntry {
    /// The URL with its fragment; empty while the entry is free.
    full: Vec<u8>,
    mismatch: bool,
    json: Vec<u8>,
}

impl RecordCache {
    /// Appends the JSON for `key` to `out`. Calls `write` for it if it is not cached; what `write` appends must depend on
    /// `key` alone.
    pub(super) fn append(
        &mut self,
        key: CacheKey<'_>,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let CacheKey { full, mismatch } = key;
        if full.is_empty() || RECORD_CACHE_ENTRY_BYTES < full.len() {
            return write(out);
        }
        if self.entries.is_empty() {
            self.entries
                .resize(RECORD_CACHE_ENTRIES, CacheEntry::default());
        }
        let entry = &mut self.entries[XxHash3_64::oneshot(full) as usize % RECORD_CACHE_ENTRIES];
        if entry.full == full && entry.mismatch == mismatch {
            return out.extend_from_slice(&entry.json);
        }
        // The entry stays free if `write` panics.
        entry.full.clear();
        let start = out.len();
        write(out);
        let json = &out[start..];
        if json.len() <= RECORD_CACHE_ENTRY_BYTES {
            entry.json.clear();
            entry.json.extend_from_slice(json);
            entry.full.extend_from_slice(full);
            entry.mismatch = mismatch;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes that are appended for some URLs, and the number of those that had to be written.
    fn appended(urls: &[(&[u8], bool)]) -> (Vec<u8>, usize) {
        let (mut cache, mut out, mut written) = (RecordCache::default(), Vec::new(), 0);
        for (url, mismatch) in urls {
            let key = CacheKey {
                full: url,
                mismatch: *mismatch,
            };
            cache.append(key, &mut out, |out| {
                written += 1;
                out.extend_from_slice(url);
                out.push(if *mismatch { b'!' } else { b';' });
            });
        }
        (out, written)
    }

    #[test]
    fn a_cached_url_is_written_once() {
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
    fn long_urls_are_not_cached() {
        let long = vec![b'a'; RECORD_CACHE_ENTRY_BYTES + 1];
        assert_eq!(appended(&[(&long, false), (&long, false)]).1, 2);
        let longest = &long[2..];
        assert_eq!(appended(&[(longest, false), (longest, false)]).1, 1);
    }

    #[test]
    fn urls_that_share_an_entry_are_distinguished() {
        let urls: Vec<Vec<u8>> = (0..RECORD_CACHE_ENTRIES * 20)
            .map(|number| format!("u{}", number % 999).into_bytes())
            .collect();
        let keys: Vec<(&[u8], bool)> = urls.iter().map(|url| (url.as_slice(), false)).collect();
        let want: Vec<u8> = urls
            .iter()
            .flat_map(|url| [url.as_slice(), b";"].concat())
            .collect();
        assert_eq!(appended(&keys).0, want);
    }
}
