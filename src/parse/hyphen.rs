//! Readings without doubtful hyphens.

use crate::limits::AMBIGUOUS_HYPHENS;

/// The readings without some of the hyphens at `doubtful`: fewest dropped first, then leftmost
/// (`spec/appendix-rules.md` 5). With more than four in doubt, only the one without any of them.
pub(super) fn dropped(text: &[u8], doubtful: &[usize]) -> Vec<Vec<u8>> {
    let without = |choice: usize| {
        let gone = |at: usize| {
            doubtful
                .iter()
                .position(|&hyphen| hyphen == at)
                .is_some_and(|bit| choice >> bit & 1 == 1)
        };
        text.iter()
            .enumerate()
            .filter(|(at, _)| !gone(*at))
            .map(|(_, &byte)| byte)
            .collect::<Vec<u8>>()
    };
    if doubtful.is_empty() {
        return Vec::new();
    }
    if doubtful.len() > AMBIGUOUS_HYPHENS {
        return vec![
            text.iter()
                .enumerate()
                .filter(|(at, _)| !doubtful.contains(at))
                .map(|(_, &byte)| byte)
                .collect(),
        ];
    }
    let mut choices: Vec<usize> = (1..1 << doubtful.len()).collect();
    // Leftmost: of two choices of the same size, the one whose first difference is a hyphen dropped comes first.
    choices
        .sort_by_key(|&choice: &usize| (choice.count_ones(), choice.reverse_bits() ^ usize::MAX));
    let mut readings: Vec<Vec<u8>> = Vec::new();
    for reading in choices.into_iter().map(without) {
        if reading != text && !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphens_are_dropped_fewest_first_then_leftmost() {
        let text = |readings: Vec<Vec<u8>>| {
            readings
                .into_iter()
                .map(|r| String::from_utf8(r).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(text(dropped(b"a-b-c", &[1, 3])), ["ab-c", "a-bc", "abc"]);
        assert_eq!(text(dropped(b"a--b", &[2])), ["a-b"]);
        assert_eq!(text(dropped(b"a-b-c-d-e-f", &[1, 3, 5, 7, 9])), ["abcdef"]);
    }
}
