//! Cache of what was made of URLs that were written lately.

use std::sync::Arc;

use twox_hash::XxHash3_64;

use crate::limits::{RECORD_CACHE_ENTRIES, RECORD_CACHE_ENTRY_BYTES};

/// Cache of the fields of a record that depend on the URL alone, encoded or as values. It pays
/// because mailing lists name themselves in each message, and people their pages.
///
/// Holds at most [`RECORD_CACHE_ENTRIES`] URLs of up to [`RECORD_CACHE_ENTRY_BYTES`] bytes. The
/// hash of a URL selects its entry, and a later URL replaces an earlier one.
#[derive(Debug)]
pub(super) struct UrlCache<T> {
    entries: Vec<CacheEntry<T>>,
}

/// Everything that the cached fields depend on.
#[derive(Clone, Copy)]
pub(super) struct CacheKey<'u> {
    /// The URL with its fragment.
    pub(super) full: &'u [u8],
    /// `true` if the link shows another host.
    pub(super) mismatch: bool,
}

#[derive(Clone, Debug, Default)]
struct CacheEntry<T> {
    /// The URL with its fragment; empty while the entry is free.
    full: Vec<u8>,
    mismatch: bool,
    fields: T,
}

impl<T> Default for UrlCache<T> {
    fn default() -> UrlCache<T> {
        let entries = Vec::new();
        UrlCache { entries }
    }
}

impl<T: Clone + Default> UrlCache<T> {
    /// Returns the entry for `key`; `None` if the URL is too long for the cache.
    fn entry(&mut self, key: CacheKey<'_>) -> Option<&mut CacheEntry<T>> {
        let full = key.full;
        if full.is_empty() || RECORD_CACHE_ENTRY_BYTES < full.len() {
            return None;
        }
        if self.entries.is_empty() {
            self.entries
                .resize(RECORD_CACHE_ENTRIES, CacheEntry::default());
        }
        Some(&mut self.entries[XxHash3_64::oneshot(full) as usize % RECORD_CACHE_ENTRIES])
    }
}

impl<T> CacheEntry<T> {
    fn holds(&self, key: CacheKey<'_>) -> bool {
        self.full == key.full && self.mismatch == key.mismatch
    }

    fn set_key(&mut self, key: CacheKey<'_>) {
        self.full.extend_from_slice(key.full);
        self.mismatch = key.mismatch;
    }
}

impl UrlCache<Vec<u8>> {
    /// Appends the JSON for `key` to `out`. Calls `write` for it if it is not cached; what `write`
    /// appends must depend on `key` alone.
    pub(super) fn append(
        &mut self,
        key: CacheKey<'_>,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let Some(entry) = self.entry(key) else {
            return write(out);
        };
        if entry.holds(key) {
            return out.extend_from_slice(&entry.fields);
        }
        // The entry stays free if `write` panics.
        entry.full.clear();
        let start = out.len();
        write(out);
        let json = &out[start..];
        if json.len() <= RECORD_CACHE_ENTRY_BYTES {
            entry.fields.clear();
            entry.fields.extend_from_slice(json);
            entry.set_key(key);
        }
    }
}

impl<T: Default> UrlCache<Arc<T>> {
    /// Returns the values for `key`. Calls `make` for them if they are not cached; they must depend
    /// on `key` alone.
    pub(super) fn get_or_make(
        &mut self,
        key: CacheKey<'_>,
        make: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        let Some(entry) = self.entry(key) else {
            return make();
        };
        if !entry.holds(key) {
            // The entry stays free if `make` panics.
            entry.full.clear();
            entry.fields = make();
            entry.set_key(key);
        }
        Arc::clone(&entry.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes that are appended for some URLs, and the number of those that had to be written.
    fn appended(urls: &[(&[u8], bool)]) -> (Vec<u8>, usize) {
        let (mut cache, mut out, mut written) = (UrlCache::default(), Vec::new(), 0);
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
