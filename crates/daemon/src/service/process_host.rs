//! The clocks of the process, and its log, which is limited to a number of lines per second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::environment::{DaemonHost, LogRecord, MonotonicTime};
use urlspool_text::diagnostic::{DiagnosticKind, Event, printable};

/// Maximum number of lines per second. Further lines are counted, and one line reports their
/// number.
const LINES_PER_SECOND: u32 = 10;

/// Clocks and log, shared by the threads of the daemon.
#[derive(Clone, Debug)]
pub(super) struct ProcessHost {
    started_at: Instant,
    lines: Arc<Mutex<LoggedLines>>,
}

/// The lines of the current second.
#[derive(Debug)]
struct LoggedLines {
    since: Instant,
    lines: u32,
    suppressed: u64,
}

impl ProcessHost {
    /// A host whose clock starts at 0.
    pub(super) fn new() -> ProcessHost {
        ProcessHost {
            started_at: Instant::now(),
            lines: Arc::new(Mutex::new(LoggedLines {
                since: Instant::now(),
                lines: 0,
                suppressed: 0,
            })),
        }
    }

    /// Returns `true` if another line may be written, and counts it.
    fn may_log(&self) -> bool {
        let mut logged = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.since.elapsed() >= Duration::from_secs(1) {
            (logged.since, logged.lines) = (Instant::now(), 0);
            let suppressed = std::mem::take(&mut logged.suppressed);
            if suppressed > 0 {
                tracing::warn!(
                    "rate limit reached: {suppressed} messages suppressed in the last second"
                );
            }
        }
        logged.lines += 1;
        let may_log = logged.lines <= LINES_PER_SECOND;
        logged.suppressed += u64::from(!may_log);
        may_log
    }
}

impl DaemonHost for ProcessHost {
    fn now(&mut self) -> MonotonicTime {
        MonotonicTime::default().plus(self.started_at.elapsed())
    }

    fn unix_ms(&mut self) -> Option<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok()
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        if !self.may_log() {
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
}

/// Logs a diagnostic: as information if no data is lost, as a warning otherwise.
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
