//! Searches in bytes: the ends of runs, the first of several short words, and byte-parallel loops
//! that test 8 to 64 bytes in a few instructions.
//!
//! Each of these loops has a simple twin that defines its result; tests compare the two on random
//! input. A loop belongs here only if it saves at least 2 % of all instructions of a scan,
//! measured by `valgrind --tool=callgrind urlspool scan -j1` against a build with the twin.
//! Measured in November and December 2026, on archives of 3 MB:
//!
//! | loop | mail of 2025 | news of 2016 | mail of 1996 | `dense.mbox` of `benches/inputs.rs` |
//! |---|---|---|---|---|
//! | [`field_name_len`] | 2.1 % | 1.6 % | 0.7 % | 0.1 % |
//! | [`CaselessPrefix`] | 2.8 % | 4.6 % | 2.6 % | 0.8 % |
//! | [`is_plain_json`] | 4.5 % | 3.7 % | 3.3 % | 10.6 % |
//! | [`ByteOffsets`] | 3.0 % | 1.5 % | 0.6 % | 0.2 % |
//! | [`is_inert_value`] | 18.5 % | 5.0 % | 4.3 % | 1.4 % |
//!
//! `whole_message_after_message` in `benches/stages.rs` measures their time. A loop that saved less
//! was removed: host names in one pass (0.9 %).

use aho_corasick::{AhoCorasick, Input, packed};
use wide::u8x16;

/// Length of the longest prefix of `items` in which `belongs` accepts every item.
pub fn prefix_len<T>(items: &[T], belongs: impl Fn(&T) -> bool) -> usize {
    let end = items.iter().position(|item| !belongs(item));
    end.unwrap_or(items.len())
}

/// Length of the longest suffix of `items` in which `belongs` accepts every item.
pub fn suffix_len<T>(items: &[T], belongs: impl Fn(&T) -> bool) -> usize {
    let start = items.iter().rposition(|item| !belongs(item));
    items.len() - start.map_or(0, |at| at + 1)
}

/// Returns `true` if `text` starts with `prefix`, in any case.
#[must_use]
pub fn starts_with_caseless(text: &[u8], prefix: &[u8]) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Returns `true` if `text` ends with `suffix`, in any case.
#[must_use]
pub fn ends_with_caseless(text: &[u8], suffix: &[u8]) -> bool {
    text.len()
        .checked_sub(suffix.len())
        .is_some_and(|at| text[at..].eq_ignore_ascii_case(suffix))
}

/// Returns `true` if `word` is one of `words`, in any case.
#[must_use]
pub fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// A searcher for a set of words, built once.
pub enum WordSearcher {
    /// Vector instructions, if the machine supports them.
    Packed(packed::Searcher),
    /// An automaton, on any machine.
    Automaton(AhoCorasick),
}

impl WordSearcher {
    /// Builds the searcher.
    ///
    /// # Panics
    ///
    /// If a word is empty, or if the words are too many for an automaton.
    pub fn new(words: &[impl AsRef<[u8]>]) -> WordSearcher {
        match packed::Searcher::new(words) {
            Some(searcher) => WordSearcher::Packed(searcher),
            None => WordSearcher::Automaton(AhoCorasick::new(words).expect("some short words")),
        }
    }

    /// Returns the offset of the first word in `text` that starts at or after `from`.
    #[must_use]
    pub fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        match self {
            WordSearcher::Packed(searcher) => searcher.find_in(text, (from..text.len()).into()),
            WordSearcher::Automaton(automaton) => automaton.find(Input::new(text).range(from..)),
        }
        .map(|found| found.start())
    }
}

/// Number of bytes that [`ByteOffsets`] tests at once.
const BLOCK: usize = 64;

/// The offsets of a byte in a text, in order, found 64 bytes at a time.
///
/// Takes fewer instructions than a search for each occurrence if the byte is frequent, as line ends
/// are in a header.
#[derive(Debug)]
pub struct ByteOffsets<'t> {
    text: &'t [u8],
    byte: u8,
    /// End of the last block that was tested. It may be after the end of the text.
    tested: usize,
    /// A bit for each occurrence in this block that was not returned; the lowest bit is the first
    /// byte.
    found: u64,
}

impl<'t> ByteOffsets<'t> {
    /// Returns the offsets of `byte` in `text`.
    #[must_use]
    pub fn new(text: &'t [u8], byte: u8) -> ByteOffsets<'t> {
        ByteOffsets {
            text,
            byte,
            tested: 0,
            found: 0,
        }
    }

    /// Tests the next block. Returns `None` at the end of the text.
    #[inline]
    fn test_block(&mut self) -> Option<u64> {
        let rest = self.text.get(self.tested..)?;
        self.tested += BLOCK;
        Some(match rest.first_chunk() {
            Some(block) => Self::occurrences(block, self.byte),
            None => Self::occurrences(&padded(rest, !self.byte), self.byte),
        })
    }

    /// Returns a bit for each byte of the block that equals `byte`.
    #[inline]
    fn occurrences(block: &[u8; BLOCK], byte: u8) -> u64 {
        let wanted = u8x16::splat(byte);
        let parts = block.as_chunks().0.iter().enumerate();
        parts.fold(0, |found, (index, part)| {
            let equal = u8x16::new(*part).simd_eq(wanted).to_bitmask();
            found | u64::from(equal) << (16 * index)
        })
    }
}

impl Iterator for ByteOffsets<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.found = self.test_block()?;
        }
        let at = self.tested - BLOCK + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(at)
    }
}

/// Returns a short text, followed by `fill`.
#[inline]
fn padded<const LEN: usize>(text: &[u8], fill: u8) -> [u8; LEN] {
    let mut padded = [fill; LEN];
    padded[..text.len()].copy_from_slice(text);
    padded
}

/// Length of the field name at the start of `line`: printable ASCII except the colon (RFC 5322
/// section 2.2).
#[must_use]
#[inline]
pub fn field_name_len(line: &[u8]) -> usize {
    let (blocks, rest) = line.as_chunks::<16>();
    for (index, block) in blocks.iter().enumerate() {
        let block = u8x16::new(*block);
        let outside = block.simd_lt(u8x16::splat(b'!')) | block.simd_gt(u8x16::splat(b'~'));
        let ends = (outside | block.simd_eq(u8x16::splat(b':'))).to_bitmask();
        if ends != 0 {
            return index * 16 + ends.trailing_zeros() as usize;
        }
    }
    blocks.len() * 16 + prefix_len(rest, |&byte| !ends_field_name(byte))
}

/// Returns the first character of `text`, or `None` if `text` does not start with UTF-8.
#[must_use]
pub fn first_char(text: &[u8]) -> Option<char> {
    let head = &text[..text.len().min(4)];
    head.utf8_chunks().next()?.valid().chars().next()
}

/// Returns the last character of `text`, or `None` if `text` does not end in UTF-8.
#[must_use]
pub fn last_char(text: &[u8]) -> Option<char> {
    let tail = &text[text.len() - text.len().min(4)..];
    let chunk = tail.utf8_chunks().last()?;
    let last = chunk.valid().chars().next_back();
    last.filter(|_| chunk.invalid().is_empty())
}

/// Simple twin of [`field_name_len`].
#[cfg(test)]
fn field_name_len_simple(line: &[u8]) -> usize {
    let end = line.iter().position(|&byte| ends_field_name(byte));
    end.unwrap_or(line.len())
}

fn ends_field_name(byte: u8) -> bool {
    !matches!(byte, b'!'..=b'~') || byte == b':'
}

/// Returns `true` if the bytes need no escape in a JSON string (RFC 8259 section 7): ASCII from
/// the space upwards, except quotation marks and backslashes.
#[must_use]
pub fn is_plain_json(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<16>() else {
        return is_plain_block::<16>(&padded(bytes, b' '));
    };
    let (blocks, rest) = bytes.as_chunks::<64>();
    blocks.iter().all(is_plain_block)
        && rest.as_chunks::<16>().0.iter().all(is_plain_block)
        && is_plain_block(last)
}

/// Like [`is_plain_json`], for a block. Without an early exit the compiler tests all its bytes at
/// once.
#[inline]
fn is_plain_block<const LEN: usize>(block: &[u8; LEN]) -> bool {
    !block
        .iter()
        .fold(false, |any, &byte| any | is_escaped(byte))
}

/// Simple twin of [`is_plain_json`].
#[cfg(test)]
fn is_plain_json_simple(bytes: &[u8]) -> bool {
    !bytes.iter().any(|&byte| is_escaped(byte))
}

/// Returns `true` for control characters, quotation marks, backslashes, and bytes from 0x80
/// upwards.
#[inline]
fn is_escaped(byte: u8) -> bool {
    byte.wrapping_sub(b' ') >= 0x60 || byte == b'"' || byte == b'\\'
}

/// Returns `true` if no URL can start in the value of a header field and no part of it is encoded.
/// Decides for most values in one pass.
///
/// Prefilter without false negatives: a value that is not inert need not contain a URL.
#[must_use]
pub fn is_inert_value(value: &[u8]) -> bool {
    const PAIRS: usize = 16;
    let mut seen = SeenInValue::default();
    match (value.last_chunk(), value.split_last()) {
        (Some(last_chunk), Some((last, before))) if PAIRS <= before.len() => {
            let pairs = before.as_chunks().0.iter().zip(value[1..].as_chunks().0);
            for (bytes, next_bytes) in pairs {
                seen.add(bytes, next_bytes);
                if seen.may_begin_url() {
                    return false;
                }
            }
            if let Some(bytes) = before.last_chunk() {
                seen.add(bytes, last_chunk);
            }
            !matches!(last, b'?' | b':' | b'<' | 0x80..) && seen.is_inert()
        }
        _ => {
            let padded: [u8; PAIRS + 1] = padded(value, b' ');
            let ([bytes @ .., _], [_, next_bytes @ ..]) = (&padded, &padded);
            seen.add(bytes, next_bytes);
            seen.is_inert()
        }
    }
}

/// Bytes seen in the value of a field. In each member, the highest bit of a byte counts.
#[derive(Default)]
struct SeenInValue {
    /// First bytes of pairs that may begin a URL: see [`may_begin_url`].
    begin: u8x16,
    bracket: u8x16,
    colon: u8x16,
}

impl SeenInValue {
    /// Adds pairs of bytes.
    #[inline]
    fn add(&mut self, bytes: &[u8; 16], next_bytes: &[u8; 16]) {
        let [bytes, next] = [bytes, next_bytes].map(|bytes| u8x16::new(*bytes));
        let is = |byte| bytes.simd_eq(u8x16::splat(byte));
        let precedes = |byte| next.simd_eq(u8x16::splat(byte));
        let case = u8x16::splat(0x20);
        let (lower, next_lower) = (bytes | case, next | case);
        let pair = |byte, next: u8| {
            lower.simd_eq(u8x16::splat(byte)) & next_lower.simd_eq(u8x16::splat(next))
        };
        let colon = is(b':');
        let open_colon = colon & !(precedes(b' ') | precedes(b'\n'));
        self.begin |= bytes | is(b'?') | open_colon | pair(b'w', b'w') | pair(b't', b'p');
        self.bracket |= is(b'<');
        self.colon |= colon;
    }

    #[inline]
    fn may_begin_url(&self) -> bool {
        self.begin.to_bitmask() != 0
    }

    fn is_inert(&self) -> bool {
        let has_wrapper = self.bracket.to_bitmask() != 0 && self.colon.to_bitmask() != 0;
        !(self.may_begin_url() || has_wrapper)
    }
}

/// Simple twin of [`is_inert_value`]. Also accepts a few more values: those that end in `:` or
/// `<`.
#[cfg(test)]
fn is_inert_value_simple(value: &[u8]) -> bool {
    let next = |at: usize| value.get(at + 1).copied().unwrap_or(b' ');
    let any = (0..value.len()).any(|at| may_begin_url(value[at], next(at)));
    !(any || value.contains(&b'<') && value.contains(&b':'))
}

/// Returns `true` for a non-ASCII byte, a `?` as in an encoded word (RFC 2047), a colon without
/// white space after it, and the first of the last two letters of `www` or `ftp`. Few words of
/// names and addresses contain them.
#[cfg(test)]
fn may_begin_url(byte: u8, next: u8) -> bool {
    let (lower, next_lower) = (byte | 0x20, next | 0x20);
    byte >= 0x80
        || byte == b'?'
        || byte == b':' && next != b' ' && next != b'\n'
        || lower == b'w' && next_lower == b'w'
        || lower == b't' && next_lower == b'p'
}

/// A prefix of field names that is compared case-insensitively, 16 bytes at a time.
///
/// Consists of at most [`CaselessPrefix::MAX_LEN`] lowercase letters, digits and hyphens.
#[derive(Clone, Copy)]
pub struct CaselessPrefix {
    bytes: [u8x16; 2],
    /// All bits are set in the bytes after the prefix.
    ignored: [u8x16; 2],
}

impl CaselessPrefix {
    /// Maximum length in bytes.
    pub const MAX_LEN: usize = 32;

    /// # Panics
    ///
    /// If the prefix is longer than [`CaselessPrefix::MAX_LEN`].
    #[must_use]
    pub fn new(prefix: &[u8]) -> CaselessPrefix {
        assert!(
            prefix.len() <= CaselessPrefix::MAX_LEN,
            "prefixes are part of the program"
        );
        let mut ignored = [0; CaselessPrefix::MAX_LEN];
        ignored[prefix.len()..].fill(u8::MAX);
        CaselessPrefix {
            bytes: first_lowercase(prefix),
            ignored: halves(&ignored),
        }
    }

    /// Returns `true` if a text starts with the prefix, in upper or lower case.
    ///
    /// `first` is [`first_lowercase`] of the text. The text is at least as long as the prefix, and
    /// its first bytes, up to that length, must be part of a field name: bytes that differ only in
    /// the bit `0x20` compare as equal.
    #[must_use]
    #[inline]
    pub fn begins(&self, first: &[u8x16; 2]) -> bool {
        let is_equal = |half: usize| {
            let equal = first[half].simd_eq(self.bytes[half]) | self.ignored[half];
            equal.to_bitmask() == u32::from(u16::MAX)
        };
        is_equal(0) && is_equal(1)
    }

    /// Simple twin of [`CaselessPrefix::begins`].
    #[cfg(test)]
    fn begins_simple(prefix: &[u8], text: &[u8]) -> bool {
        text[..prefix.len()].eq_ignore_ascii_case(prefix)
    }
}

/// The first [`CaselessPrefix::MAX_LEN`] bytes of a text in lower case, or all of them if it is
/// shorter. The bit `0x20` is set in every byte, even in bytes after the end of the text.
#[must_use]
#[inline]
pub fn first_lowercase(text: &[u8]) -> [u8x16; 2] {
    let first = text
        .first_chunk()
        .map_or_else(|| halves(&padded(text, 0)), halves);
    first.map(|half| half | u8x16::splat(0x20))
}

/// Returns the bytes as two vectors.
#[inline]
fn halves(bytes: &[u8; CaselessPrefix::MAX_LEN]) -> [u8x16; 2] {
    let halves = bytes.as_chunks().0;
    [0, 1].map(|half| u8x16::new(halves[half]))
}

/// The first 8 bytes of a text in lower case, or all of them if it is shorter. The first byte is
/// the lowest.
///
/// The bit `0x20` is set in every byte, even in bytes after the end of the text.
#[must_use]
#[inline]
pub fn first_letters(text: &[u8]) -> u64 {
    let first = text.first_chunk().copied();
    let first = first.unwrap_or_else(|| padded(text, 0));
    u64::from_le_bytes(first) | u64::from_ne_bytes([0x20; 8])
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Tests every byte at every position of lines of up to 20 bytes.
    #[test]
    fn a_field_name_ends_at_the_first_byte_that_cannot_be_in_it() {
        for byte in 0..=255 {
            for len in 0..20 {
                for at in 0..=len {
                    let mut line = vec![b'~'; len];
                    line.insert(at, byte);
                    line.extend(b"\x01\xFF:");
                    for line in [&line[..], &line[..=len]] {
                        let want = field_name_len_simple(line);
                        assert_eq!(field_name_len(line), want, "{byte} {len} {at}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn field_names_and_their_simple_twin_agree(
            line in vec(any::<u8>(), 0..40),
        ) {
            prop_assert_eq!(field_name_len(&line), field_name_len_simple(&line));
        }

        #[test]
        fn printable_field_names_and_their_simple_twin_agree(line in "[!-~]{0,40}.{0,9}") {
            let line = line.as_bytes();
            prop_assert_eq!(field_name_len(line), field_name_len_simple(line));
        }

        #[test]
        fn plain_json_and_its_simple_twin_agree(
            mut text in "[ -~]{0,40}", byte: u8, at in 0..40usize,
        ) {
            prop_assert_eq!(is_plain_json(text.as_bytes()), is_plain_json_simple(text.as_bytes()));
            text.retain(|c| c != '"' && c != '\\');
            prop_assert!(is_plain_json(text.as_bytes()));
            let mut bytes = text.into_bytes();
            bytes.insert(at.min(bytes.len()), byte);
            prop_assert_eq!(is_plain_json(&bytes), is_plain_json_simple(&bytes));
        }

        #[test]
        fn offsets_and_the_search_for_each_agree(text in vec(0..4u8, 0..200), from in 0..9usize) {
            let text = &text[from.min(text.len())..];
            let found: Vec<usize> = ByteOffsets::new(text, 3).collect();
            prop_assert_eq!(found, memchr::memchr_iter(3, text).collect::<Vec<_>>());
        }

        #[test]
        fn inert_values_and_their_simple_twin_agree(value in "[a-zA-Z.:<? \\né]{0,60}") {
            let bytes = value.as_bytes();
            let (inert, simple) = (is_inert_value(bytes), is_inert_value_simple(bytes));
            prop_assert!(!inert || simple);
            let ends_open = value.ends_with([':', '<']);
            prop_assert!(inert || !simple || ends_open);
        }

        #[test]
        fn prefixes_and_their_simple_twin_agree(
            prefix in "[a-z0-9-]{0,32}",
            changed in "[!-9;-~]",
            at in 0..64usize,
            rest in "(: |-)?[ -~]{0,9}",
            is_upper: bool,
        ) {
            let mut text = if is_upper { prefix.to_ascii_uppercase() } else { prefix.clone() };
            if at < prefix.len() {
                text.replace_range(at..=at, &changed);
            }
            text.push_str(&rest);
            let (prefix, text) = (prefix.as_bytes(), text.as_bytes());
            let found = CaselessPrefix::new(prefix).begins(&first_lowercase(text));
            prop_assert_eq!(found, CaselessPrefix::begins_simple(prefix, text));
        }
    }
}
