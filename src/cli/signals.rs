//! Signals that end a command when its work is at a good end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::error::{CommandError, Exit};

/// The signal that asked for the end.
#[derive(Clone, Debug, Default)]
pub(super) struct EndSignal(Arc<AtomicUsize>);

impl EndSignal {
    /// Returns `true` if it was SIGTERM, by which a service manager ends a service.
    #[cfg(feature = "load")]
    pub(super) fn is_term(&self) -> bool {
        i32::try_from(self.0.load(Ordering::Relaxed)) == Ok(SIGTERM)
    }

    /// Returns `true` if there was one.
    #[cfg(feature = "load")]
    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// Sets `stop` at the first SIGINT, SIGTERM or SIGHUP (a closed terminal); the second one ends the
/// program.
pub(super) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<EndSignal, CommandError> {
    let code = i32::from(Exit::Interrupted.code());
    let end = EndSignal::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let number = usize::try_from(signal).unwrap_or_default();
        // In this order: the first signal finds `stop` unset.
        flag::register_conditional_shutdown(signal, code, Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .and_then(|_| flag::register_usize(signal, Arc::clone(&end.0), number))
            .map_err(|error| {
                CommandError::new(Exit::Output, format!("cannot catch signals: {error}"))
            })?;
    }
    Ok(end)
}
