//! Faults that tests plant in the program, to prove that the tests catch them. Without the feature `planted-faults` there
//! are none.

/// A fault. `URLSPOOL_PLANTED` names it by its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlantedFault {
    /// The state is committed before the data that it describes.
    StateBeforeData,
    /// Folders are not synced after a rename.
    NoDirectorySync,
    /// A message counts as read before its records are committed.
    AdvanceOnRead,
    /// A report of lost notifications is ignored.
    IgnoreOverflow,
    /// Mailboxes are read while others hold their locks.
    NoLock,
}

/// Returns `true` if `URLSPOOL_PLANTED` names this fault.
#[cfg(feature = "planted-faults")]
pub(crate) fn is_planted(fault: PlantedFault) -> bool {
    std::env::var("URLSPOOL_PLANTED").is_ok_and(|name| name == format!("{fault:?}"))
}

/// Returns `false`: faults are planted only with the feature `planted-faults`.
#[cfg(not(feature = "planted-faults"))]
pub(crate) fn is_planted(_: PlantedFault) -> bool {
    false
}
