//! Readings without doubtful hyphens.
//!
//! A hyphen at the end of a line in a wrapper may belong to the URL, or the program that broke the
//! line may have added it (RFC 1738, appendix).

use crate::limits::AMBIGUOUS_HYPHENS;

/// Returns the readings of `text` without some of the hyphens at the offsets `doubtful`: fewest
/// dropped first, then leftmost.
///
/// With more than [`AMBIGUOUS_HYPHENS`] in doubt there is only the reading without any of them. No
/// reading occurs twice or equals `text`.
pub(super) fn without_hyphens(text: &[u8], doubtful: &[usize]) -> Vec<Vec<u8>> {
    if doubtful.is_empty() {
        return Vec::new();
    }
    if AMBIGUOUS_HYPHENS < doubtful.len() {
        return vec![without(text, |at| doubtful.contains(&at))];
    }
    let mut readings: Vec<Vec<u8>> = Vec::new();
    for choice in choices(doubtful.len()) {
        let reading = without(text, |at| {
            doubtful
                .iter()
                .position(|&hyphen| hyphen == at)
                .is_some_and(|bit| choice >> bit & 1 == 1)
        });
        if reading != text && !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    readings
}

/// Returns all sets of hyphens but the empty one, the smallest first. Bit n stands for hyphen n.
fn choices(hyphens: usize) -> Vec<usize> {
    let mut choices: Vec<usize> = (1..1 << hyphens).collect();
    // Leftmost: of two sets of one size, the one with the first hyphen that is in only one of them
    // comes first.
    choices.sort_by_key(|&set: &usize| (set.count_ones(), set.reverse_bits() ^ usize::MAX));
    choices
}

/// Returns `text` without the bytes at the offsets that `is_dropped` accepts.
fn without(text: &[u8], is_dropped: impl Fn(usize) -> bool) -> Vec<u8> {
    text.iter()
        .enumerate()
        .filter(|(at, _)| !is_dropped(*at))
        .map(|(_, &byte)| byte)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphens_are_dropped_fewest_first_then_leftmost() {
        let text = |readings: Vec<Vec<u8>>| {
            readings
                .into_iter()
                .map(|reading| String::from_utf8(reading).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            text(without_hyphens(b"a-b-c", &[1, 3])),
            ["ab-c", "a-bc", "abc"]
        );
        assert_eq!(text(without_hyphens(b"a--b", &[2])), ["a-b"]);
        assert_eq!(
            text(without_hyphens(b"a-b-c-d-e-f", &[1, 3, 5, 7, 9])),
            ["abcdef"]
        );
    }
}
