//! The list of readings beside the chosen one.

use super::found::{Alternate, AlternateReason};

/// The readings beside the chosen one, without duplicates.
pub(super) struct Alternates<'l> {
    chosen: &'l [u8],
    pub(super) list: Vec<Alternate>,
}

impl<'l> Alternates<'l> {
    /// No alternates to `chosen`.
    pub(super) fn of(chosen: &'l [u8]) -> Alternates<'l> {
        Alternates {
            chosen,
            list: Vec::new(),
        }
    }

    /// Adds a reading, unless it is equal to the chosen one or an earlier one.
    pub(super) fn add(&mut self, full: &[u8], why: AlternateReason, confidence: f32) {
        if full == self.chosen || self.list.iter().any(|known| known.full == full) {
            return;
        }
        let url_len = memchr::memchr(b'#', full).unwrap_or(full.len());
        self.list.push(Alternate {
            full: full.to_vec(),
            url_len,
            why,
            confidence,
        });
    }
}
