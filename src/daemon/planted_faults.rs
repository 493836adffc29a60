//! Mistakes that tests put in to see that they are caught. Without the feature `planted-faults` there are none.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlantedFault {
    /// The state is committed before the data it speaks of.
    StateBeforeData,
    /// Folders are not synced after a rename.
    NoDirectorySync,
    /// A message counts as given when it is read, not when its records are committed.
    AdvanceOnRead,
    /// A notice that notices were lost is not heard.
    IgnoreOverflow,
    /// Mailboxes are read while others hold their locks.
    NoLock,
}

/// Whether this mistake is to be made: `URLSPOOL_PLANTED` names it.
#[cfg(feature = "planted-faults")]
pub(crate) fn is_planted(which: PlantedFault) -> bool {
    std::env::var("URLSPOOL_PLANTED").is_ok_and(|name| name == format!("{which:?}"))
}

/// Whether this mistake is to be made: never.
#[cfg(not(feature = "planted-faults"))]
pub(crate) fn is_planted(_: PlantedFault) -> bool {
    false
}
