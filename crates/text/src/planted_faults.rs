//! Faults that tests plant in the program to prove that the tests catch them. They exist only with
//! the feature `planted-faults`.

/// A fault. `URLSPOOL_PLANTED` names it by its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedFault {
    /// The state is committed before the data it describes.
    StateBeforeData,
    /// Folders are not synced after a rename.
    NoDirectorySync,
    /// A report of lost notifications is ignored.
    IgnoreOverflow,
    /// Mailboxes are read while other programs hold their locks.
    NoLock,
    /// The map of quoted-printable is off by one byte.
    MapOffByOne,
    /// Some separators of an mbox are read as text.
    LostSeparator,
    /// The last byte of base64 is dropped.
    DroppedLastByte,
    /// The walk over the parts of a message panics if it sees `MARK`, and so do the next five
    /// walks.
    PanicInMessage,
    /// The walk over the parts of a message aborts the process if it sees `MARK`.
    #[cfg(feature = "planted-faults")]
    AbortInMessage,
    /// The header of a message.
    PanicInHeader,
    /// The division of a block into messages.
    PanicInSplit,
    /// The decoder of a compressed file.
    PanicInDecompressor,
    /// The reader of an archive, on the name of a member.
    PanicInArchive,
    /// The reader of a document.
    PanicInDocument,
    /// The code that renders a page whose search contains the mark.
    PanicInPage,
}

/// The bytes that trigger a planted panic.
#[cfg(feature = "planted-faults")]
const MARK: &[u8] = b"planted panic";

/// Returns `true` if `URLSPOOL_PLANTED` names this fault. The variable is read once.
#[cfg(feature = "planted-faults")]
pub fn is_planted(fault: PlantedFault) -> bool {
    use std::sync::OnceLock;
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let name = NAME.get_or_init(|| std::env::var("URLSPOOL_PLANTED").ok());
    name.as_deref()
        .is_some_and(|name| name == format!("{fault:?}"))
}

/// Panics if the fault is planted and the bytes contain the mark.
///
/// # Panics
///
/// On purpose.
#[cfg(feature = "planted-faults")]
pub fn panic_at_mark(fault: PlantedFault, bytes: &[u8]) {
    let has_mark = || memchr::memmem::find(bytes, MARK).is_some();
    if fault == PlantedFault::PanicInMessage
        && is_planted(PlantedFault::AbortInMessage)
        && has_mark()
    {
        std::process::abort();
    }
    assert!(!is_planted(fault) || !has_mark(), "a planted panic");
}

/// Returns `false`: faults are planted only with the feature `planted-faults`.
#[must_use]
#[cfg(not(feature = "planted-faults"))]
pub fn is_planted(_: PlantedFault) -> bool {
    false
}

/// Does nothing: faults are planted only with the feature `planted-faults`.
#[cfg(not(feature = "planted-faults"))]
pub fn panic_at_mark(_: PlantedFault, _: &[u8]) {}
