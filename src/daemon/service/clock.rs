//! The clocks of the process.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::daemon::host::MonotonicTime;

/// The clocks of the process. Its copies show the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts at 0.
    pub(super) fn start() -> Clock {
        Clock {
            start: Instant::now(),
        }
    }

    /// The time since the start.
    pub(super) fn now(&self) -> MonotonicTime {
        MonotonicTime::default().plus(self.start.elapsed())
    }
}

/// Seconds since 1970 by the system clock; `None` if it is set to an earlier time.
pub(super) fn unix_time() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}
