//! A list of names and values, written entry by entry at the end of a buffer.

use super::json_text::{quoted, string};

/// A list of `{"name","value"}` that is being written.
///
/// `entry` of its methods is the beginning of an entry, up to its value.
pub(super) struct PartList<'o> {
    out: &'o mut Vec<u8>,
    /// `true` if no part of the URL needs escapes.
    is_plain: bool,
    is_empty: bool,
}

impl PartList<'_> {
    /// An empty list at the end of `out`. With `is_plain` no part of the URL needs escapes.
    pub(super) fn new(out: &mut Vec<u8>, is_plain: bool) -> PartList<'_> {
        PartList {
            out,
            is_plain,
            is_empty: true,
        }
    }

    /// Appends an entry whose value is a part of the URL.
    pub(super) fn entry(&mut self, entry: &'static str, part: &[u8]) {
        self.begin(entry);
        string(part, self.is_plain, self.out);
        self.out.push(b'}');
    }

    /// Appends an entry whose value is not taken from the URL.
    pub(super) fn entry_of_other_text(&mut self, entry: &'static str, value: &str) {
        self.begin(entry);
        string(value.as_bytes(), false, self.out);
        self.out.push(b'}');
    }

    /// Appends an entry whose value needs no escapes.
    pub(super) fn entry_of_name(&mut self, entry: &'static str, name: &str) {
        self.begin(entry);
        quoted(name.as_bytes(), self.out);
        self.out.push(b'}');
    }

    fn begin(&mut self, entry: &'static str) {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        self.out.extend_from_slice(entry.as_bytes());
    }
}
