//! The accept loop of all listeners, which pauses after errors.

use std::io;
use std::thread;
use std::time::Duration;

/// Time between two attempts to accept a client.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Accepts clients, and passes each to `serve`, until the process ends.
///
/// Without a free descriptor or memory, `accept` would fail over and over, so it is retried after a
/// pause. `failed` receives the first error of each series.
pub fn serve_clients<C>(
    accept: impl Fn() -> io::Result<C>,
    failed: impl Fn(&io::Error),
    mut serve: impl FnMut(C),
) -> ! {
    let mut has_failed = false;
    loop {
        match accept() {
            Ok(client) => {
                has_failed = false;
                serve(client);
            }
            Err(error) => {
                // The client disconnected, or a signal arrived.
                use io::ErrorKind::{ConnectionAborted, Interrupted};
                if matches!(error.kind(), ConnectionAborted | Interrupted) {
                    continue;
                }
                if !has_failed {
                    failed(&error);
                }
                has_failed = true;
                thread::sleep(ACCEPT_RETRY);
            }
        }
    }
}
