//! The daemon as a process: supervisor and reader threads, signals, status, log, sandbox.
//!
//! [`run`] drives the supervisor (`process.rs`), which starts a [`reader_thread`] for each group of
//! spools. Each thread runs a loop that hosts its reader. `status_server` publishes the status of
//! all of them.

mod process;
mod reader_thread;
#[cfg(target_os = "linux")]
mod sandbox;
/// The sandbox on systems without Landlock. It confines no process; the log says so.
#[cfg(not(target_os = "linux"))]
mod sandbox {
    /// Logs that the process is not confined.
    pub(super) fn enter(_: Option<&std::path::Path>, _: &urlspool_files::config::Config) {
        tracing::warn!("the sandbox is off: this system has no Landlock");
    }

    /// Does nothing: without Landlock the thread keeps its rights.
    pub(super) fn confine_programs() {}
}
mod status_server;

pub use process::run;
pub use reader_thread::{RunEnd, RunMode, StateSource};
pub use status_server::ask;

/// Starts a thread with this name.
fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(|_| ())
}
