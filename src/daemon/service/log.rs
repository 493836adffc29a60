//! The log: a limited number of lines per second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::daemon::host::LogRecord;
use crate::diagnostic::{DiagnosticKind, Event, printable};

/// Maximum number of lines per second. Further ones are counted, and the number is reported in one line.
const LINES_PER_SECOND: u32 = 10;

/// The log, shared by the threads of the daemon.
#[derive(Clone, Debug)]
pub(super) struct RateLimitedLog(Arc<Mutex<LogRate>>);

#[derive(Debug)]
struct LogRate {
    /// Start of the current second.
    since: Instant,
    lines: u32,
    suppressed: u64,
}

impl RateLimitedLog {
    pub(super) fn new() -> RateLimitedLog {
        RateLimitedLog(Arc::new(Mutex::new(LogRate {
            since: Instant::now(),
            lines: 0,
            suppressed: 0,
        })))
    }

    /// Writes a line, unless the limit is reached.
    pub(super) fn write(&self, record: &LogRecord<'_>) {
        if !self.may_write() {
            return;
        }
        match record {
            LogRecord::Info(text) => tracing::info!("{}", printable(text)),
            LogRecord::Warn(text) => tracing::warn!("{}", printable(text)),
            LogRecord::Sealed(segment) => tracing::info!(
                segment = %segment.name,
                records = segment.records,
                messages = segment.messages,
                bytes = segment.bytes,
                "sealed a segment"
            ),
            LogRecord::Diagnostic(event) => write_diagnostic(event),
        }
    }

    /// Returns `true` if another line may be written, and counts it.
    fn may_write(&self) -> bool {
        let mut rate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rate.since.elapsed() >= Duration::from_secs(1) {
            rate.start_second();
        }
        rate.lines += 1;
        let may_write = rate.lines <= LINES_PER_SECOND;
        rate.suppressed += u64::from(!may_write);
        may_write
    }
}

/// Writes a diagnostic: as a warning, or as information if nothing is lost by it.
fn write_diagnostic(event: &Event) {
    macro_rules! write_as {
        ($level:ident) => {
            tracing::$level!(
                path = %printable(&event.source.path.to_string_lossy()),
                kind = event.diagnostic.kind.name(),
                offset = event.diagnostic.offset,
                "{}",
                printable(&event.diagnostic.message)
            )
        };
    }
    match event.diagnostic.kind {
        DiagnosticKind::Skip | DiagnosticKind::Ambiguous => write_as!(info),
        _ => write_as!(warn),
    }
}

impl LogRate {
    fn start_second(&mut self) {
        (self.since, self.lines) = (Instant::now(), 0);
        let suppressed = std::mem::take(&mut self.suppressed);
        if suppressed > 0 {
            tracing::warn!(
                "rate limit reached: {suppressed} messages suppressed in the last second"
            );
        }
    }
}
