//! The sandbox of systems without Landlock: none, which the log says.

use std::fs;
use std::path::Path;

use crate::config::{Config, Confinement};
use crate::daemon::{AtPath, DaemonError};

/// The folders that a confined process may use. No process is confined here.
#[derive(Debug)]
pub(super) enum Sandbox {}

/// Creates the folders of output and state, and reports in the log that the process is not confined.
///
/// # Errors
///
/// The folders cannot be created.
pub(super) fn enter(_: Option<&Path>, config: &Config) -> Result<Option<Sandbox>, DaemonError> {
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
