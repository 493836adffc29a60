//! The daemon as a process: supervisor and reader threads, signals, status, log, sandbox.
//!
//! [`run`] (`process.rs`) drives the supervisor, which starts a [`reader_thread`] for each group of
//! spools. Each thread runs a loop that is the host of its reader. The status of all is published
//! by `status_server`.

mod process;
mod process_host;
mod reader_thread;
#[cfg(target_os = "linux")]
mod sandbox;
/// The sandbox of systems without Landlock: none, which the log says.
#[cfg(not(target_os = "linux"))]
mod sandbox {
    use std::fs;
    use std::path::Path;

    use crate::{AtPath, Result};
    use urlspool_files::config::{Config, Confinement};

    /// The folders that a confined process may use. No process is confined here.
    #[derive(Debug)]
    pub(super) enum Sandbox {}

    /// Creates the folders of output and state, and reports in the log that the process is not confined.
    ///
    /// # Errors
    ///
    /// The folders cannot be created.
    pub(super) fn enter(_: Option<&Path>, config: &Config) -> Result<Option<Sandbox>> {
        for dir in [&config.output.dir, &config.state.dir] {
            fs::create_dir_all(dir).at(dir)?;
        }
        let reason = match config.watch.confine {
            Confinement::None => "watch.confine is \"none\"",
            Confinement::Writes | Confinement::Reads => "this system has no Landlock",
        };
        tracing::warn!("the sandbox is off: {reason}");
        Ok(None)
    }

    /// Does nothing: without Landlock the thread keeps its rights.
    pub(super) fn confine_programs() {}

    impl Sandbox {
        /// Warns of nothing: there is no such value.
        pub(super) fn warn_of_denied(&self, _: &Config) {
            match *self {}
        }
    }
}
mod status_server;
mod supervisor;
pub use process::{ask, run};
pub use reader_thread::{RunEnd, RunMode, StateSource};
