//! Half-open ranges, and the map from the offsets of a decoded text back to the raw bytes it came from.

/// A half-open range of bytes: `start` is in it, `end` is not. `start <= end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Span {
        debug_assert!(start <= end);
        Span { start, end }
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it holds no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of `text` that it names.
    ///
    /// # Panics
    ///
    /// When the range does not lie within `text`: a span is only used with the text it was made for.
    #[must_use]
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}

/// Where a run of decoded bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// Byte by byte, beginning at this raw offset.
    Same(usize),
    /// The run as a whole came from these raw bytes: `=3D`, a converted character, an entity.
    Whole(Span),
    /// Base64: the run's first byte begins with this digit, counted over all digits of the text.
    Base64(usize),
}

/// The way back from offsets in a decoded text to the raw bytes it was decoded from.
///
/// Runs are kept in the order of the text, and a look-up is a binary search. A map costs one entry (about 40
/// bytes) for every stretch that was not copied byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteMap {
    /// Start of each run in the decoded text, ascending, and its origin.
    runs: Vec<(usize, Run)>,
    /// Base64 only: the index of the first digit of each unbroken stretch of digits, and its raw offset.
    digits: Vec<(usize, usize)>,
}

impl ByteMap {
    /// The map of a text that is its raw bytes, the first of which lies at `raw`.
    #[must_use]
    pub fn same(raw: usize) -> ByteMap {
        ByteMap {
            runs: vec![(0, Run::Same(raw))],
            digits: Vec::new(),
        }
    }

    /// A map without runs, to be filled in the order of the text.
    #[must_use]
    pub fn new() -> ByteMap {
        ByteMap::default()
    }

    /// From `text` on, bytes are copies of the raw ones from `raw` on.
    pub fn push_same(&mut self, text: usize, raw: usize) {
        if let Some(&(last, Run::Same(base))) = self.runs.last()
            && base + (text - last) == raw
        {
            return;
        }
        self.runs.push((text, Run::Same(raw)));
    }

    /// The bytes from `text` on stand for the raw bytes `raw`, as a whole.
    pub fn push_whole(&mut self, text: usize, raw: Span) {
        self.runs.push((text, Run::Whole(raw)));
    }

    /// From `text` on, bytes come from base64 digits, the first of them the `digit`-th of the text.
    pub fn push_base64(&mut self, text: usize, digit: usize) {
        self.runs.push((text, Run::Base64(digit)));
    }

    /// The `digit`-th base64 digit stands at `raw`, and those after it follow until the next call.
    pub fn push_digits(&mut self, digit: usize, raw: usize) {
        self.digits.push((digit, raw));
    }

    /// The raw bytes that the decoded bytes `text` came from.
    ///
    /// An empty range gives the empty range before the raw byte that it stands at.
    #[must_use]
    pub fn raw(&self, text: Span) -> Span {
        let start = self.octet(text.start).start;
        if text.is_empty() {
            return Span::new(start, start);
        }
        let end = self.octet(text.end - 1).end;
        Span::new(start, end.max(start))
    }

    /// Whether `text` begins and ends where raw bytes do: no neighbour shares its first or last raw bytes.
    #[must_use]
    pub fn exact(&self, text: Span) -> bool {
        text.is_empty() || (self.begins(text.start) && self.begins(text.end))
    }

    fn begins(&self, at: usize) -> bool {
        match self.run(at) {
            Some((start, Run::Whole(_))) => start == at,
            _ => true,
        }
    }

    fn run(&self, at: usize) -> Option<(usize, Run)> {
        let index = self.runs.partition_point(|&(start, _)| start <= at);
        index.checked_sub(1).map(|index| self.runs[index])
    }

    /// The raw bytes behind one decoded byte.
    fn octet(&self, at: usize) -> Span {
        match self.run(at) {
            None => Span::default(),
            Some((start, Run::Same(raw))) => Span::new(raw + (at - start), raw + (at - start) + 1),
            Some((_, Run::Whole(raw))) => raw,
            Some((start, Run::Base64(digit))) => {
                // Byte k of a run holds the bits 8k to 8k+7, and each digit six of them.
                let bit = (at - start) * 8;
                Span::new(
                    self.digit(digit + bit / 6),
                    self.digit(digit + (bit + 7) / 6) + 1,
                )
            }
        }
    }

    /// The raw offset of the `index`-th base64 digit.
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
    fn a_soft_break_inside_a_run_is_part_of_the_raw_range() {
        // "ab=\ncd" decoded to "abcd".
        let mut map = ByteMap::new();
        map.push_same(0, 10);
        map.push_same(2, 14);
        assert_eq!(map.raw(Span::new(1, 3)), Span::new(11, 15));
        assert!(map.exact(Span::new(1, 3)));
    }

    #[test]
    fn a_whole_run_has_no_inside() {
        // "a=3Db" decoded to "a=b".
        let mut map = ByteMap::new();
        map.push_same(0, 0);
        map.push_whole(1, Span::new(1, 4));
        map.push_same(2, 4);
        assert_eq!(map.raw(Span::new(1, 2)), Span::new(1, 4));
        assert_eq!(map.raw(Span::new(0, 3)), Span::new(0, 5));
    }

    #[test]
    fn base64_digits_are_found_over_line_ends() {
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
