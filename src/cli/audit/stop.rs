//! Signals that end a step: what is under way is dropped, what is stored stays.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::super::error::CommandError;
use super::super::exit::Exit;

/// Sets `stop` at the first signal; the second one ends the program.
pub(super) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<(), CommandError> {
    let code = i32::from(Exit::Interrupted.code());
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds `stop` unset.
        flag::register_conditional_shutdown(signal, code, Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .map_err(|error| {
                CommandError::new(Exit::Output, format!("cannot catch signals: {error}"))
            })?;
    }
    Ok(())
}
