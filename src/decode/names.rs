//! Sets of field names, told by a letter before they are compared.

/// Names in lower case; one that ends in `*` stands for all that begin so.
#[derive(Debug)]
pub(super) struct Names {
    /// The names that begin with each letter, and behind them those that go on so behind `x-`.
    by_letter: [Vec<Name>; 2 * LETTERS],
}

#[derive(Debug)]
struct Name {
    start: &'static [u8],
    is_whole: bool,
}

/// What five bits of a letter can be, in either case.
const LETTERS: usize = 32;

impl Names {
    /// The set of these names.
    pub(super) fn new(names: &[&'static str]) -> Names {
        let mut by_letter = [const { Vec::new() }; 2 * LETTERS];
        for name in names {
            let start = name.trim_end_matches('*');
            let name = Name { start: start.as_bytes(), is_whole: start.len() == name.len() };
            by_letter[bucket(name.start)].push(name);
        }
        Names { by_letter }
    }

    /// Whether a name, in any case, is one of them.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.by_letter[bucket(name)].iter().any(|known| {
            let len = known.start.len();
            (name.len() == len || !known.is_whole && name.len() > len) && name[..len].eq_ignore_ascii_case(known.start)
        })
    }
}

/// Where a name is looked for: by its first letter, or by the one behind `x-`. Names that begin alike go together.
fn bucket(name: &[u8]) -> usize {
    let letter = |at: usize| name.get(at).map_or(0, |byte| usize::from(byte & 0x1F));
    match name {
        [b'x' | b'X', b'-', ..] => LETTERS + letter(2),
        _ => letter(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_in_any_case_whole_or_by_their_start() {
        let names = Names::new(&["path", "x-uid", "x-spam-*", "arc-*"]);
        for name in ["Path", "PATH", "X-UID", "x-spam-", "X-Spam-Level", "ARC-Seal"] {
            assert!(names.has(name.as_bytes()), "{name}");
        }
        for name in ["", "x", "x-", "Pat", "Paths", "X-UIDL", "X-Spam", "ARC", "0ath"] {
            assert!(!names.has(name.as_bytes()), "{name}");
        }
    }
}
