//! Half-open byte ranges, and the map from offsets in a decoded text back to the raw bytes.
//!
//! A [`ByteMap`] covers one decoding step. A text decoded in several steps has one map for each,
//! in `decode`'s `OffsetMap`.

use crate::limits::{COARSE_RUN_BYTES, MAP_BYTES};

/// A half-open range of byte offsets: `start` is included, `end` is not. `start <= end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the range from `start` up to, and excluding, `end`.
    #[must_use]
    #[inline]
    pub fn new(start: usize, end: usize) -> Span {
        debug_assert!(start <= end);
        Span { start, end }
    }

    /// The number of bytes.
    #[must_use]
    #[inline]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Returns `true` if the range is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the bytes of `text` in this range.
    ///
    /// # Panics
    ///
    /// Panics if the range is not within `text`. Use a span only with the text it was made for.
    #[must_use]
    #[inline]
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}

/// The map from offsets in a decoded text to the raw bytes, for one decoding step.
///
/// The runs are in the order of the text. A run takes one to three bytes unless it continues the
/// copy before it, and a lookup is a binary search. After [`MAP_BYTES`] the map becomes coarse:
/// each run is decoded as a whole from all the raw bytes of [`COARSE_RUN_BYTES`] of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteMap {
    runs: RunList,
    /// Only for base64: the raw offsets of the digits. `runs` then maps to digit indexes, which
    /// count the digits of the whole text, without line ends.
    digits: Option<Box<RunList>>,
}

impl ByteMap {
    /// Returns the map of a text that was copied unchanged, starting at raw offset `raw`.
    #[must_use]
    pub fn same(raw: usize) -> ByteMap {
        let mut map = ByteMap::default();
        map.push_same(0, raw);
        map
    }

    /// Returns a map without runs. Add runs in the order of the text, and one at the end of the
    /// text.
    #[must_use]
    pub fn new() -> ByteMap {
        ByteMap::default()
    }

    /// Adds a run: bytes at and after offset `text` are copies of the raw bytes that start at
    /// `raw`.
    pub fn push_same(&mut self, text: usize, raw: usize) {
        self.runs.push(Run::copy(text, raw));
    }

    /// Adds a run: the bytes at and after offset `text` were decoded from the raw bytes `raw` as a
    /// whole, such as `=3D`, a converted character or an entity.
    pub fn push_whole(&mut self, text: usize, raw: Span) {
        self.runs.push(Run {
            at: text,
            raw: raw.start,
            whole: Some(raw.len()),
        });
    }

    /// Adds a run: the bytes at and after offset `text` were decoded from base64 digits, starting
    /// with the digit at index `digit`. A map with such runs has no other runs.
    pub fn push_base64(&mut self, text: usize, digit: usize) {
        self.digits.get_or_insert_default();
        self.runs.push(Run::copy(text, digit));
    }

    /// Records that the base64 digit at index `digit` is at raw offset `raw`. The digits after it
    /// follow without a gap, up to the digit of the next call.
    pub fn push_digits(&mut self, digit: usize, raw: usize) {
        let digits = self.digits.get_or_insert_default();
        digits.push(Run::copy(digit, raw));
    }

    /// Returns the number of bytes of memory used by the map.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.lists().map(RunList::memory_bytes).sum()
    }

    /// Returns `true` if the map has more runs than fit into [`MAP_BYTES`].
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.lists().any(|list| list.first_coarse.is_some())
    }

    fn lists(&self) -> impl Iterator<Item = &RunList> {
        [&self.runs].into_iter().chain(self.digits.as_deref())
    }

    /// Returns the range of raw bytes that the decoded bytes `text` came from.
    ///
    /// For an empty range, returns the empty range before the raw byte of its offset.
    #[must_use]
    pub fn raw(&self, text: Span) -> Span {
        let Some((first, next)) = self.runs.at(text.start) else {
            return Span::default();
        };
        let start = self.raw_start(&first, text.start);
        if text.is_empty() {
            return Span::new(start, start);
        }
        let at = text.end - 1;
        let last = if at < next { None } else { self.runs.at(at) };
        let last = last.map_or(first, |(run, _)| run);
        Span::new(start, self.raw_end(&last, at).max(start))
    }

    /// Returns `true` if neither end of `text` is inside a run that was decoded as a whole.
    #[must_use]
    pub fn exact(&self, text: Span) -> bool {
        text.is_empty() || (self.is_boundary(text.start) && self.is_boundary(text.end))
    }

    /// Returns `true` if `at` is not inside a run that was decoded as a whole.
    fn is_boundary(&self, at: usize) -> bool {
        let Some((run, _)) = self.runs.at(at) else {
            return true;
        };
        match &self.digits {
            Some(digits) if run.whole.is_none() => {
                let digit = digits.at(run.raw + (at - run.at) * 8 / 6);
                digit.is_none_or(|(digit, _)| digit.whole.is_none())
            }
            _ => run.whole.is_none() || run.at == at && at < self.runs.coarse_from(),
        }
    }

    /// Returns the offset of the first raw byte of the byte at `at` of `run`.
    fn raw_start(&self, run: &Run, at: usize) -> usize {
        let Some(digits) = &self.digits else {
            return run.origin(at).start;
        };
        // Byte k of a run consists of the bits 8k to 8k+7, and each digit has six bits.
        let digit = match run.whole {
            None => run.raw + (at - run.at) * 8 / 6,
            Some(_) => run.raw,
        };
        digits.origin(digit).start
    }

    /// Returns the offset after the last raw byte of the byte at `at` of `run`.
    fn raw_end(&self, run: &Run, at: usize) -> usize {
        let Some(digits) = &self.digits else {
            return run.origin(at).end;
        };
        let digit = match run.whole {
            None => run.raw + ((at - run.at) * 8 + 7) / 6,
            Some(len) => run.raw + len.saturating_sub(1),
        };
        digits.origin(digit).end
    }
}

/// A run of decoded bytes, from offset `at` to the next run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    at: usize,
    /// Offset of the first raw byte.
    raw: usize,
    /// The number of raw bytes it was decoded from as a whole; `None` if its bytes are copies.
    whole: Option<usize>,
}

impl Run {
    /// Returns a run of copies.
    fn copy(at: usize, raw: usize) -> Run {
        let whole = None;
        Run { at, raw, whole }
    }

    /// Returns the range of the raw bytes of the byte at `at`.
    fn origin(&self, at: usize) -> Span {
        match self.whole {
            Some(len) => Span::new(self.raw, self.raw + len),
            None => {
                let raw = self.raw + (at - self.at);
                Span::new(raw, raw + 1)
            }
        }
    }

    /// Returns the raw offset after the run's bytes. `next` is the start of the next run.
    fn raw_end(&self, next: usize) -> usize {
        self.raw + self.whole.unwrap_or(next - self.at)
    }
}

/// Number of encoded runs between two index entries.
const INDEXED_RUNS: usize = 32;

/// Number of encoded runs between two index entries, for the first [`DENSE_RUNS`] runs. Most lists
/// have no more.
const DENSE_INDEXED_RUNS: usize = 4;

/// Number of runs with a dense index.
const DENSE_RUNS: usize = 4_096;

/// Runs in the order of their offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RunList {
    /// The last run. Most lists have only this one.
    last: Option<Run>,
    /// The run before it.
    before: Run,
    /// The runs before the last one. Each is encoded as its differences from the run before it.
    encoded: Vec<u8>,
    /// Number of encoded runs.
    count: usize,
    /// One in every [`DENSE_INDEXED_RUNS`] encoded runs, later one in every [`INDEXED_RUNS`], with
    /// the offset after it in `encoded`.
    index: Vec<(Run, usize)>,
    /// Offset of the first run that merges several runs.
    first_coarse: Option<usize>,
}

impl RunList {
    fn push(&mut self, run: Run) {
        let Some(last) = &mut self.last else {
            self.last = Some(run);
            return;
        };
        let end = last.raw_end(run.at);
        if last.at == run.at {
            *last = run;
        } else if last.whole.is_none() && run.whole.is_none() && end == run.raw {
            // The run continues the copy.
        } else if MAP_BYTES <= self.encoded.len() && run.at < last.at + COARSE_RUN_BYTES {
            self.first_coarse.get_or_insert(last.at);
            let end = end.max(run.raw + run.whole.unwrap_or(0));
            last.whole = Some(end.saturating_sub(last.raw));
        } else {
            if self.first_coarse.is_some() && last.whole.is_some() {
                // Include the bytes of a copy that the run absorbed.
                last.whole = Some(end.max(run.raw).saturating_sub(last.raw));
            }
            let full = std::mem::replace(last, run);
            self.encode(full);
        }
    }

    /// Appends a run to `encoded`.
    fn encode(&mut self, run: Run) {
        let follows = run.raw == self.before.raw_end(run.at);
        let flags = usize::from(follows) << 1 | usize::from(run.whole.is_some());
        push_number(&mut self.encoded, (run.at - self.before.at) << 2 | flags);
        if !follows {
            // Wraps where raw offsets descend.
            push_number(&mut self.encoded, run.raw.wrapping_sub(self.before.raw));
        }
        if let Some(len) = run.whole {
            push_number(&mut self.encoded, len);
        }
        let interval = if self.count < DENSE_RUNS {
            DENSE_INDEXED_RUNS
        } else {
            INDEXED_RUNS
        };
        if self.count.is_multiple_of(interval) {
            self.index.push((run, self.encoded.len()));
        }
        self.count += 1;
        self.before = run;
    }

    /// Decodes the run at offset `next` of `encoded`. `before` is the run before it.
    fn decode(&self, before: &Run, next: &mut usize) -> Run {
        let mut number = || take_number(&self.encoded, next);
        let first = number();
        let at = before.at + (first >> 2);
        let raw = match first & 2 {
            0 => before.raw.wrapping_add(number()),
            _ => before.raw_end(at),
        };
        let whole = (first & 1 == 1).then(number);
        Run { at, raw, whole }
    }

    /// Returns the run that contains offset `at`, and the offset of the next run.
    fn at(&self, at: usize) -> Option<(Run, usize)> {
        let last = self.last?;
        if last.at <= at {
            return Some((last, usize::MAX));
        }
        let entry = self.index.partition_point(|(run, _)| run.at <= at);
        let (mut run, mut next) = self.index[entry.checked_sub(1)?];
        while next < self.encoded.len() {
            let following = self.decode(&run, &mut next);
            if at < following.at {
                return Some((run, following.at));
            }
            run = following;
        }
        Some((run, last.at))
    }

    /// Returns the range of the raw bytes of the byte at `at`.
    fn origin(&self, at: usize) -> Span {
        let found = self.at(at);
        found.map_or(Span::default(), |(run, _)| run.origin(at))
    }

    /// Offset at which merged runs start.
    fn coarse_from(&self) -> usize {
        self.first_coarse.unwrap_or(usize::MAX)
    }

    fn memory_bytes(&self) -> usize {
        self.encoded.len() + size_of_val(self.index.as_slice())
    }
}

/// Appends a number with seven bits per byte, the lowest first. All bytes but the last have the
/// eighth bit set.
fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7F {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads the number at offset `next`, and advances `next` past it.
fn take_number(bytes: &[u8], next: &mut usize) -> usize {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*next];
        *next += 1;
        number |= usize::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return number;
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_raw_range_includes_a_soft_line_break() {
        // "ab=\ncd" decoded to "abcd".
        let mut map = ByteMap::new();
        map.push_same(0, 10);
        map.push_same(2, 14);
        assert_eq!(map.raw(Span::new(1, 3)), Span::new(11, 15));
        assert!(map.exact(Span::new(1, 3)));
    }

    #[test]
    fn a_run_decoded_as_a_whole_maps_to_all_its_raw_bytes() {
        // "a=3Db" decoded to "a=b".
        let mut map = ByteMap::new();
        map.push_same(0, 0);
        map.push_whole(1, Span::new(1, 4));
        map.push_same(2, 4);
        assert_eq!(map.raw(Span::new(1, 2)), Span::new(1, 4));
        assert_eq!(map.raw(Span::new(0, 3)), Span::new(0, 5));
    }

    #[test]
    fn base64_digits_are_counted_across_line_ends() {
        // "YWJj\nZGVm" is "abcdef". The raw text starts at 100.
        let mut map = ByteMap::new();
        map.push_base64(0, 0);
        map.push_digits(0, 100);
        map.push_digits(4, 105);
        assert_eq!(map.raw(Span::new(0, 3)), Span::new(100, 104));
        assert_eq!(map.raw(Span::new(3, 6)), Span::new(105, 109));
        assert_eq!(map.raw(Span::new(1, 2)), Span::new(101, 103));
    }

    proptest::proptest! {
        #[test]
        fn runs_match_a_plain_list(
            pieces in proptest::collection::vec(
                (0..6usize, 0..300usize, proptest::option::of(0..200usize)), 0..150,
            )
        ) {
            let (mut map, mut list, mut text, mut raw) = (ByteMap::new(), Vec::new(), 0, 0);
            for (len, gap, whole) in pieces {
                raw += gap;
                match whole {
                    Some(whole) => map.push_whole(text, Span::new(raw, raw + whole)),
                    None => map.push_same(text, raw),
                }
                list.push(Run { at: text, raw, whole });
                (text, raw) = (text + len, raw + whole.unwrap_or(len));
            }
            for at in 0..text {
                let run = list.iter().rfind(|run| run.at <= at).unwrap();
                proptest::prop_assert_eq!(map.raw(Span::new(at, at + 1)), run.origin(at));
                proptest::prop_assert_eq!(map.is_boundary(at), run.whole.is_none() || run.at == at);
            }
        }
    }

    #[test]
    fn a_map_beyond_its_limit_encloses_the_raw_bytes() {
        // Each character has two raw bytes, followed by one copied byte.
        let runs = MAP_BYTES / 2;
        let mut map = ByteMap::new();
        for run in 0..runs {
            map.push_whole(2 * run, Span::new(3 * run, 3 * run + 2));
            map.push_same(2 * run + 1, 3 * run + 2);
        }
        map.push_same(2 * runs, 3 * runs);
        assert!(map.is_coarse());
        assert!(map.memory_bytes() < 2 * MAP_BYTES);
        for run in [0, runs / 2, runs - 700, runs - 1] {
            let whole = map.raw(Span::new(2 * run, 2 * run + 2));
            let (start, end) = (3 * run, 3 * run + 3);
            assert!(whole.start <= start && end <= whole.end && whole.end <= 3 * runs);
            assert!(whole.len() <= 3 * COARSE_RUN_BYTES);
            let is_fine = run <= runs / 2;
            assert_eq!(whole == Span::new(start, end), is_fine);
            assert_eq!(
                map.exact(Span::new(2 * run + 1, 2 * run + 2)),
                is_fine,
                "{run}"
            );
        }
        let mut digits = ByteMap::new();
        digits.push_base64(0, 0);
        for digit in 0..MAP_BYTES {
            digits.push_digits(digit, 2 * digit);
        }
        digits.push_digits(MAP_BYTES, 2 * MAP_BYTES);
        let text = Span::new(MAP_BYTES / 4 * 3 - 6, MAP_BYTES / 4 * 3 - 3);
        let whole = digits.raw(text);
        assert!(whole.start <= 2 * (MAP_BYTES - 8) && 2 * (MAP_BYTES - 4) - 1 <= whole.end);
        assert!(digits.is_coarse() && !digits.exact(text));
    }
}
