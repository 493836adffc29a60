//! Half-open byte ranges, and the map from offsets in a decoded text back to the raw bytes.
//!
//! A [`ByteMap`] covers one decoding step. A text that was decoded in several steps has one map for
//! each of them, in `decode`'s `OffsetMap`.

/// A half-open range of byte offsets: it includes `start` and excludes `end`. `start <= end`.
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
    pub fn new(start: usize, end: usize) -> Span {
        debug_assert!(start <= end);
        Span { start, end }
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Returns `true` if the range is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the bytes of `text` in this range.
    ///
    /// # Panics
    ///
    /// Panics if the range is not within `text`: use a span only with the text it was made for.
    #[must_use]
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}

/// The origin of a run of decoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunOrigin {
    /// Copied byte by byte, starting at this raw offset.
    Same(usize),
    /// Decoded as a whole from these raw bytes: `=3D`, a converted character, an entity.
    Whole(Span),
    /// Decoded from base64: the first byte begins in the digit with this index. Indexes count the
    /// digits of the whole text, without line ends.
    Base64(usize),
}

/// The map from offsets in a decoded text to the raw bytes it was decoded from, for one decoding
/// step.
///
/// The runs are in the order of the text, and a lookup is a binary search. A map takes one entry
/// (about 40 bytes) for every run that does not continue the copy before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteMap {
    /// The start of each run in the decoded text, in ascending order, and its origin.
    runs: Vec<(usize, RunOrigin)>,
    /// Base64 only: the index of the first digit of each uninterrupted sequence of digits, and its
    /// raw offset.
    digits: Vec<(usize, usize)>,
}

impl ByteMap {
    /// Returns the map of a text that was copied from raw offset `raw` on without change.
    #[must_use]
    pub fn same(raw: usize) -> ByteMap {
        ByteMap {
            runs: vec![(0, RunOrigin::Same(raw))],
            digits: Vec::new(),
        }
    }

    /// Returns a map without runs. Add them in the order of the text.
    #[must_use]
    pub fn new() -> ByteMap {
        ByteMap::default()
    }

    /// Adds a run: from offset `text` on, bytes are copies of the raw bytes from `raw` on.
    pub fn push_same(&mut self, text: usize, raw: usize) {
        if let Some(&(last, RunOrigin::Same(base))) = self.runs.last()
            && base + (text - last) == raw
        {
            return;
        }
        self.runs.push((text, RunOrigin::Same(raw)));
    }

    /// Adds a run: the bytes from offset `text` on were decoded from the raw bytes `raw` as a
    /// whole.
    pub fn push_whole(&mut self, text: usize, raw: Span) {
        self.runs.push((text, RunOrigin::Whole(raw)));
    }

    /// Adds a run: from offset `text` on, bytes were decoded from base64 digits, the first of which
    /// has the index `digit`.
    pub fn push_base64(&mut self, text: usize, digit: usize) {
        self.runs.push((text, RunOrigin::Base64(digit)));
    }

    /// Records that the base64 digit with the index `digit` is at raw offset `raw`. Those after it
    /// follow without a gap, up to the digit of the next call.
    pub fn push_digits(&mut self, digit: usize, raw: usize) {
        self.digits.push((digit, raw));
    }

    /// Returns the number of bytes of memory that the map takes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of_val(self.runs.as_slice()) + size_of_val(self.digits.as_slice())
    }

    /// Returns the range of raw bytes that the decoded bytes `text` came from.
    ///
    /// An empty range gives an empty range, before the raw byte of its offset.
    #[must_use]
    pub fn raw(&self, text: Span) -> Span {
        let start = self.byte(text.start).start;
        if text.is_empty() {
            return Span::new(start, start);
        }
        let end = self.byte(text.end - 1).end;
        Span::new(start, end.max(start))
    }

    /// Returns `true` if neither end of `text` is inside a run that was decoded as a whole.
    #[must_use]
    pub fn exact(&self, text: Span) -> bool {
        text.is_empty() || (self.is_boundary(text.start) && self.is_boundary(text.end))
    }

    /// Returns `true` if a run that was decoded as a whole does not extend over `at`.
    fn is_boundary(&self, at: usize) -> bool {
        match self.run(at) {
            Some((start, RunOrigin::Whole(_))) => start == at,
            _ => true,
        }
    }

    /// The start and the origin of the run that contains offset `at`.
    fn run(&self, at: usize) -> Option<(usize, RunOrigin)> {
        let index = self.runs.partition_point(|&(start, _)| start <= at);
        index.checked_sub(1).map(|index| self.runs[index])
    }

    /// The raw bytes that the decoded byte at `at` came from.
    fn byte(&self, at: usize) -> Span {
        match self.run(at) {
            None => Span::default(),
            Some((start, RunOrigin::Same(raw))) => {
                Span::new(raw + (at - start), raw + (at - start) + 1)
            }
            Some((_, RunOrigin::Whole(raw))) => raw,
            Some((start, RunOrigin::Base64(digit))) => {
                // Byte k of a run consists of the bits 8k to 8k+7; each digit has six bits.
                let bit = (at - start) * 8;
                Span::new(
                    self.digit(digit + bit / 6),
                    self.digit(digit + (bit + 7) / 6) + 1,
                )
            }
        }
    }

    /// The raw offset of the base64 digit with this index.
    fn digit(&self, index: usize) -> usize {
        let run = self.digits.partition_point(|&(first, _)| first <= index);
        run.checked_sub(1)
            .map_or(0, |run| self.digits[run].1 + (index - self.digits[run].0))
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
    fn base64_digits_are_counted_over_line_ends() {
        // "YWJj\nZGVm" is "abcdef"; the raw text begins at 100.
        let mut map = ByteMap::new();
        map.push_base64(0, 0);
        map.push_digits(0, 100);
        map.push_digits(4, 105);
        assert_eq!(map.raw(Span::new(0, 3)), Span::new(100, 104));
        assert_eq!(map.raw(Span::new(3, 6)), Span::new(105, 109));
        assert_eq!(map.raw(Span::new(1, 2)), Span::new(101, 103));
    }
}
