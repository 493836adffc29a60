//! Options of a run of the daemon, and its end.

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

/// The end of a run without an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunEnd {
    /// With [`RunMode::Once`]: a sentence about each file that was not read, because it stayed locked or was still written.
    pub unread: Vec<String>,
}
