//! Evidence from elsewhere: URLs that were found whole, and doubtful joins that recur.
//!
//! Mailing lists quote, and signatures repeat. A URL that was broken over lines often occurs whole
//! elsewhere, which proves the joined reading right. A possible join may also recur in one message
//! after another while its URL occurs whole in none. Such a join is wrong: in each message the same
//! line happens to follow the URL. The caller decides from where to collect the URLs.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use memchr::{memchr, memchr3, memmem};
use twox_hash::XxHash3_64;

/// Answers about URLs outside the current line.
pub trait Elsewhere {
    /// Returns `false` if no whole URL with the prefix `head` and `token` was found. Cheaper than
    /// [`Elsewhere::is_whole`].
    fn may_be_whole(&self, head: &[u8], token: &[u8]) -> bool;

    /// Returns `true` if the URL was found whole.
    fn is_whole(&self, reading: JoinedReading<'_>) -> bool;

    /// Returns `true` if `token` followed the URL `head` on the next line in several messages that
    /// do not quote each other, and the joined URL was found whole in none.
    fn recurs(&self, head: &[u8], token: &[u8]) -> bool;
}

/// A URL joined over a line break, up to the end of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedReading<'u> {
    /// The URL, with its scheme and the punctuation after it.
    pub url: &'u [u8],
    /// The offset of the first byte after the line break.
    pub joined_at: usize,
}

impl JoinedReading<'_> {
    /// The hashes of the URL with and without its fragment, if they extend over the line break.
    fn hashes(self) -> impl Iterator<Item = u64> {
        let fragment = memchr(b'#', self.url);
        let ends = [Some(self.url.len()), fragment].into_iter().flatten();
        ends.filter(move |&end| {
            let after = self.url.get(self.joined_at..end);
            after.is_some_and(|after| 0 < trimmed_len(after))
        })
        .map(move |end| hash(&self.url[..end]))
    }
}

/// Hashes of URLs that were found whole, and of doubtful joins that recur.
#[derive(Clone, Debug)]
pub struct UrlEvidence {
    sightings: HashMap<u64, Sighting>,
    /// Schemes and hosts of those that were found whole, by their hashes.
    sites: HashSet<u64>,
    max_urls: usize,
    is_full: bool,
    /// Number of the current message.
    message: u32,
}

/// Occurrences of a URL.
#[derive(Clone, Copy, Debug)]
enum Sighting {
    /// It was found whole.
    Whole,
    /// It was found only as a reading over a line break.
    Doubtful {
        messages: u32,
        /// Number of the latest of these messages.
        last: u32,
    },
}

/// Minimum number of messages for a doubtful join to count as recurring. A message may be copied
/// once or twice without quote marks.
const RECURRING_MESSAGES: u32 = 3;

impl UrlEvidence {
    /// Creates an empty collection with room for `max_urls` URLs.
    #[must_use]
    pub fn new(max_urls: usize) -> UrlEvidence {
        UrlEvidence {
            sightings: HashMap::new(),
            sites: HashSet::new(),
            max_urls,
            is_full: false,
            message: 0,
        }
    }

    /// Returns `true` if a URL was left out for lack of room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Starts the next message.
    pub fn begin_message(&mut self) {
        self.message = self.message.saturating_add(1);
    }

    /// Adds a URL that was found whole.
    pub fn add_whole(&mut self, url: &[u8]) {
        let fragment = memchr(b'#', url);
        for end in [Some(url.len()), fragment].into_iter().flatten() {
            if let Some(sighting) = self.sighting(&url[..end]) {
                *sighting = Sighting::Whole;
            }
        }
        let start = memmem::find(url, b"://").map_or(0, |at| at + b"://".len());
        let len = memchr3(b'/', b'?', b'#', &url[start..]).unwrap_or(url.len() - start);
        if self.sites.len() < self.max_urls {
            self.sites.insert(hash(&url[..start + len]));
        }
    }

    /// Returns the scheme with which a URL of this host was found whole.
    #[must_use]
    pub fn scheme_of(&self, host: &[u8]) -> Option<&'static str> {
        let site = |scheme: &str| hash(&[scheme.as_bytes(), b"://", host].concat());
        let mut schemes = ["https", "http"].into_iter();
        schemes.find(|scheme| self.sites.contains(&site(scheme)))
    }

    /// Adds a URL that may extend over a line break in an unquoted line.
    pub fn add_doubtful(&mut self, url: &[u8]) {
        let message = self.message;
        if let Some(Sighting::Doubtful { messages, last }) = self.sighting(url)
            && (*messages == 0 || *last != message)
        {
            *messages = messages.saturating_add(1);
            *last = message;
        }
    }

    /// Returns the sighting of a URL; `None` if the URL is new and there is no room.
    fn sighting(&mut self, url: &[u8]) -> Option<&mut Sighting> {
        let has_room = self.sightings.len() < self.max_urls;
        match self.sightings.entry(hash(url)) {
            Entry::Occupied(entry) => Some(entry.into_mut()),
            Entry::Vacant(entry) if has_room => Some(entry.insert(Sighting::Doubtful {
                messages: 0,
                last: 0,
            })),
            Entry::Vacant(_) => {
                self.is_full = true;
                None
            }
        }
    }
}

impl Elsewhere for UrlEvidence {
    fn may_be_whole(&self, _: &[u8], _: &[u8]) -> bool {
        !self.sightings.is_empty()
    }

    fn is_whole(&self, reading: JoinedReading<'_>) -> bool {
        let mut hashes = reading.hashes();
        hashes.any(|hash| matches!(self.sightings.get(&hash), Some(Sighting::Whole)))
    }

    fn recurs(&self, head: &[u8], token: &[u8]) -> bool {
        let seen = self.sightings.get(&hash(&[head, token].concat()));
        matches!(seen, Some(Sighting::Doubtful { messages: n, .. }) if RECURRING_MESSAGES <= *n)
    }
}

/// Returns the length of `url` without punctuation and slashes at its end.
fn trimmed_len(url: &[u8]) -> usize {
    let is_kept = |byte: &u8| !b".,;:!?'\")]}>*/".contains(byte);
    url.iter().rposition(is_kept).map_or(0, |last| last + 1)
}

/// Returns the hash of a URL. It ignores punctuation and slashes at the end, treats `&amp;` as `&`,
/// and ignores the case of the scheme and host.
fn hash(url: &[u8]) -> u64 {
    let url = &url[..trimmed_len(url)];
    let start = memmem::find(url, b"://").map_or(0, |at| at + b"://".len());
    let path = memchr3(b'/', b'?', b'#', &url[start..]).map_or(url.len(), |len| start + len);
    let mut canonical = url[..path].to_ascii_lowercase();
    let mut rest = &url[path..];
    while let Some(end) = memmem::find(rest, b"&amp;") {
        canonical.extend_from_slice(&rest[..=end]);
        rest = &rest[end + b"&amp;".len()..];
    }
    canonical.extend_from_slice(rest);
    XxHash3_64::oneshot(&canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(whole: &[&str]) -> UrlEvidence {
        let mut evidence = UrlEvidence::new(100);
        whole
            .iter()
            .for_each(|url| evidence.add_whole(url.as_bytes()));
        evidence
    }

    /// Checks whether `reading`, with a `|` at its line break, is whole among `urls`.
    #[track_caller]
    fn check(urls: &[&str], reading: &str, is_whole: bool) {
        let url = reading.replace('|', "");
        let reading = JoinedReading {
            url: url.as_bytes(),
            joined_at: reading.find('|').unwrap(),
        };
        assert_eq!(evidence(urls).is_whole(reading), is_whole, "{url}");
    }

    #[test]
    fn spellings_of_one_url_are_the_same() {
        check(
            &["http://a.example/b?c&d"],
            "HTTP://A.Example/b?|c&amp;d).",
            true,
        );
        check(&["http://a.example/bc/#d"], "http://a.example/b|c", true);
        check(&["http://a.example/bc"], "http://a.example/b|c/#d", true);
        check(&["http://a.example/bc"], "http://a.example/b|C", false);
        check(&["http://a.example/bcd"], "http://a.example/b|c", false);
    }

    #[test]
    fn a_url_that_ends_before_the_line_break_is_no_evidence() {
        check(&["http://a.example/b"], "http://a.example/b|.", false);
        check(&["http://a.example/b"], "http://a.example/b|#c", false);
        check(&["http://a.example/b"], "http://a.example/b#c|d", false);
    }

    #[test]
    fn a_join_recurs_in_the_third_message_unless_it_is_found_whole() {
        let mut evidence = UrlEvidence::new(100);
        let reading = JoinedReading {
            url: b"http://a.example/bc",
            joined_at: 18,
        };
        for expected in [false, false, true] {
            evidence.begin_message();
            evidence.add_doubtful(reading.url);
            evidence.add_doubtful(reading.url);
            assert_eq!(evidence.recurs(b"http://a.example/b", b"c"), expected);
        }
        evidence.add_whole(reading.url);
        evidence.add_doubtful(reading.url);
        assert!(evidence.is_whole(reading) && !evidence.recurs(b"http://a.example/b", b"c"));
    }

    #[test]
    fn a_url_without_room_is_left_out() {
        let mut evidence = UrlEvidence::new(1);
        evidence.add_whole(b"http://a.example/");
        evidence.add_whole(b"http://a.example");
        assert!(!evidence.is_full());
        evidence.add_doubtful(b"http://b.example");
        assert!(evidence.is_full());
    }
}
