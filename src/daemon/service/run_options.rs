//! Options of a run of the daemon.

/// Duration of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Until everything was read.
    Once,
    /// Until the operator stops it.
    Forever,
}

/// The state that a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSource {
    /// The state database; a new one if nothing was written yet.
    Database,
    /// A state rebuilt from the segments' sidecars.
    Sidecars,
}
