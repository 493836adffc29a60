//! Lines for the operator, not more of them than can be read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::daemon::host::LogRecord;

/// Lines of the log in a second; more are counted and told in one.
const LINES: u32 = 10;

/// The log, for everybody who has something to say.
#[derive(Clone, Debug)]
pub(crate) struct Log(Arc<Mutex<Pace>>);

#[derive(Debug)]
struct Pace {
    since: Instant,
    lines: u32,
    kept_back: u64,
}

impl Log {
    pub(crate) fn new() -> Log {
        Log(Arc::new(Mutex::new(Pace {
            since: Instant::now(),
            lines: 0,
            kept_back: 0,
        })))
    }

    /// Writes a line, unless there are too many.
    pub(crate) fn write(&self, record: &LogRecord<'_>) {
        if !self.may_speak() {
            return;
        }
        match record {
            LogRecord::Info(text) => tracing::info!("{text}"),
            LogRecord::Warn(text) => tracing::warn!("{text}"),
            LogRecord::Diagnostic(event) => {
                let (path, diagnostic) = (&event.source.path, &event.diagnostic);
                let (kind, offset) = (diagnostic.kind.name(), diagnostic.offset);
                tracing::warn!(?path, kind, offset, "{}", diagnostic.message.escape_debug());
            }
        }
    }

    /// Whether another line may be written. Those that may not are counted.
    fn may_speak(&self) -> bool {
        let mut pace = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pace.since.elapsed() >= Duration::from_secs(1) {
            (pace.since, pace.lines) = (Instant::now(), 0);
            if pace.kept_back > 0 {
                tracing::warn!(
                    lines = pace.kept_back,
                    "more was remarked than is written here"
                );
                pace.kept_back = 0;
            }
        }
        pace.lines += 1;
        let may = pace.lines <= LINES;
        pace.kept_back += u64::from(!may);
        may
    }
}
