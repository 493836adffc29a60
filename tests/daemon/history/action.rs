//! The actions of a random list.

use crate::scene::Rng;

/// One action of a writer, a mail program, the daemon or the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Deliver(u64),
    /// A writer locks the mbox and writes the start of a message.
    Begin(u64),
    Finish,
    RollBack,
    /// The writer dies and leaves the incomplete message.
    Die,
    /// It returns and writes the rest.
    Revive,
    Rotate,
    CopyTruncate,
    /// A copytruncate beneath a writer that keeps its offset, and so leaves NUL bytes or a hole.
    CopyTruncateLive(u64),
    Truncate,
    ExpungeInPlace(u64),
    ExpungeByRename(u64),
    Status(u64),
    Backup,
    Restore,
    MaildirNew,
    MaildirRename(u64),
    MaildirDelete(u64),
    MhNew,
    MhRenumber,
    MhDelete(u64),
    /// The daemon works until nothing is due.
    Settle,
    /// The daemon works once.
    Work,
    Crash,
    Restart,
    /// The daemon stops, and its state is rebuilt from the sidecars.
    Rebuild,
    /// More than a month passes, one day at a time.
    Months,
    /// The system clock jumps by a year, forward or back. The monotonic clock never goes back.
    ClockJump(u64),
    /// With tombstones only: the oldest rotated mbox is removed.
    RemoveRotated,
    /// With tombstones only: the file system of the spool is unmounted.
    Unmount,
    Mount,
}

pub(super) fn action(rng: &mut Rng, tombstones: Tombstones) -> Action {
    let k = rng.below(1 << 20);
    let kinds = match tombstones {
        Tombstones::Off => 43,
        Tombstones::On => 50,
    };
    match rng.below(kinds) {
        0..=7 => Action::Deliver(k),
        8..=9 => Action::Begin(k),
        10..=11 => Action::Finish,
        12 => Action::RollBack,
        13 => Action::Die,
        14 => Action::Revive,
        15 => Action::Rotate,
        16 if k.is_multiple_of(2) => Action::CopyTruncate,
        16 => Action::CopyTruncateLive(k / 2),
        17 => Action::Truncate,
        18 => Action::ExpungeInPlace(k),
        19 => Action::ExpungeByRename(k),
        20..=21 => Action::Status(k),
        22 => Action::Backup,
        23 => Action::Restore,
        24..=25 => Action::MaildirNew,
        26..=27 => Action::MaildirRename(k),
        28 => Action::MaildirDelete(k),
        29..=30 => Action::MhNew,
        31 => Action::MhRenumber,
        32 => Action::MhDelete(k),
        33..=35 => Action::Settle,
        36..=37 => Action::Work,
        38 => Action::Crash,
        39 => Action::Restart,
        40 => Action::Rebuild,
        41 => Action::ClockJump(k),
        42 => Action::Months,
        43..=44 => Action::RemoveRotated,
        45 => Action::Unmount,
        46..=47 => Action::Mount,
        48 => Action::MaildirDelete(k),
        _ => Action::MhDelete(k),
    }
}

/// The setting `output.tombstones`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tombstones {
    On,
    Off,
}
