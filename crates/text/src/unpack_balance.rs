//! The balance of unpacking work for one source and everything in it.

use std::cell::Cell;
use std::rc::Rc;

use crate::limits::{Limits, ORDINARY_UNPACK_RATIO};

/// Limit on the bytes unpacked per packed byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackRatio {
    /// Maximum number of bytes unpacked per packed byte.
    pub max: u64,
    /// Number of bytes unpacked before the ratio is checked. Short runs compress to almost
    /// nothing.
    pub from_bytes: u64,
}

impl UnpackRatio {
    /// Creates a limit of `max` bytes per packed byte that applies after `from_bytes` bytes.
    #[must_use]
    pub fn new(max: usize, from_bytes: usize) -> UnpackRatio {
        UnpackRatio {
            max: max as u64,
            from_bytes: from_bytes as u64,
        }
    }
}

/// The balance of the outermost source. The readers of all levels share it, because the ratios of
/// nested members multiply even if each is small.
///
/// Counts the bytes that each level unpacks to, and [`STREAM_BYTES`](crate::limits::STREAM_BYTES)
/// or [`BZIP2_STREAM_BYTES`](crate::limits::BZIP2_STREAM_BYTES) for each stream, frame and entry.
#[derive(Clone)]
pub struct UnpackBalance(Rc<BalanceState>);

struct BalanceState {
    /// Name of the source in the event's message.
    whole: &'static str,
    /// Number of bytes read from the source.
    packed: Rc<Cell<u64>>,
    ratio: UnpackRatio,
    spent: Cell<u64>,
    is_used_up: Cell<bool>,
}

impl UnpackBalance {
    /// Creates the balance of a source from which `packed` bytes were read.
    pub fn new(whole: &'static str, packed: &Rc<Cell<u64>>, ratio: UnpackRatio) -> UnpackBalance {
        UnpackBalance(Rc::new(BalanceState {
            whole,
            packed: Rc::clone(packed),
            ratio,
            spent: Cell::new(0),
            is_used_up: Cell::new(false),
        }))
    }

    /// Creates the balance of the attachments of a message of `bytes` bytes. The message comes
    /// from a file that unpacked to `unpacked_times` its size.
    #[must_use]
    pub fn of_message(bytes: usize, unpacked_times: u64, limits: &Limits) -> UnpackBalance {
        let ratio = UnpackRatio {
            max: limits.nested_ratio as u64,
            from_bytes: limits.attached_bytes as u64 / unpacked_times.max(1),
        };
        let times = unpacked_times.max(ORDINARY_UNPACK_RATIO);
        let packed = Rc::new(Cell::new(bytes as u64 * ORDINARY_UNPACK_RATIO / times));
        UnpackBalance::new("a message (attached_bytes)", &packed, ratio)
    }

    /// Adds unpacked bytes.
    pub fn add(&self, bytes: u64) {
        let spent = &self.0.spent;
        spent.set(spent.get().saturating_add(bytes));
    }

    /// Returns the number of bytes that may still be unpacked.
    #[must_use]
    pub fn left(&self) -> u64 {
        let UnpackRatio { max, from_bytes } = self.0.ratio;
        let packed = self.0.packed.get();
        let most = max.saturating_mul(packed).saturating_add(from_bytes);
        most.saturating_sub(self.0.spent.get())
    }

    /// Returns the number of unpacked bytes per byte of the source.
    #[must_use]
    pub fn unpacked_times(&self) -> u64 {
        self.0.spent.get() / self.0.packed.get().max(1)
    }

    /// Returns `true` if [`UnpackBalance::check`] failed before.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.0.is_used_up.get()
    }

    /// Checks that some of the balance is left. After a failure the rest of the source is not
    /// read.
    ///
    /// # Errors
    ///
    /// The message of the event. Each balance causes one event.
    pub fn check(&self) -> Result<(), String> {
        if 0 < self.left() && !self.is_used_up() {
            return Ok(());
        }
        self.0.is_used_up.set(true);
        let UnpackRatio { max, from_bytes } = self.0.ratio;
        let whole = self.0.whole;
        Err(format!(
            "{whole} unpacks, with all that is in it, to more than {max} times its size and \
             {from_bytes} bytes: the rest is not read"
        ))
    }
}
