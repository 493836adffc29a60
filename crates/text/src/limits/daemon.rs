//! Limits of the daemon.

/// Milliseconds after which the daemon first retries a file that it could not read. Most errors
/// are short-lived.
pub const RETRY_FIRST_MS: u64 = 1_000;

/// Maximum number of milliseconds between two retries. Every file is rescanned as often anyway.
pub const RETRY_MAX_MS: u64 = 300_000;

/// Milliseconds after which a file that could never be read is skipped until it changes: one day.
///
/// Within a day, an unavailable server is back and somebody has read the log.
pub const QUARANTINE_MS: u64 = 86_400_000;

/// Maximum number of unreadable files whose retries are scheduled. Bounds memory. Further files
/// are retried at each rescan of their spool.
pub const REMEMBERED_FAILURES: usize = 10_000;

/// Maximum number of unreadable files to report by name. The counts include all of them.
pub const REPORTED_FAILURES: usize = 20;

/// Days for which the daemon keeps the state of deleted files and their messages. Backups may be
/// restored that long.
pub const PURGE_DAYS: u64 = 30;

/// Maximum number of seconds between two runs of the daemon that count towards [`PURGE_DAYS`]: one
/// day.
///
/// Enough for runs from cron. If a clock is set forward by a year, no state is purged.
pub const MAX_DOWNTIME_S: u64 = 86_400;

/// Seconds of watching after which the daemon saves how long it has been watching: one hour, out
/// of thirty days.
pub const AGE_SAVE_INTERVAL_S: u64 = 3_600;

/// Default number of milliseconds for which a message must be missing before the daemon reports it
/// as gone.
///
/// Programs that move a message write the copy before they remove the original. But an NFS client
/// may cache a folder's list for a minute (`acdirmax`), so it may see the removal before the copy.
pub const GONE_AFTER_MS: u64 = 60_000;

/// Default number of milliseconds for which an mbox may be locked before the daemon reports it.
///
/// Mail programs hold a lock while they write, and remove other programs' lock files after at most
/// five minutes. If a mailbox is locked for a minute, a program probably left its lock file
/// behind.
pub const LOCK_TIMEOUT_MS: u64 = 60_000;

/// Maximum number of missing files of a spool whose messages are not yet reported as gone. They
/// take 64 MiB of memory. Further files wait until these are reported.
pub const MISSING_FILES: usize = 1 << 20;

/// Maximum number of sidecar copies in the state folder before a snapshot of the state replaces
/// them.
///
/// Enough for more than half a day if a segment is sealed every minute.
pub const SIDECAR_COPIES: usize = 1_000;

/// Maximum number of files of a spool that are checked for deletion. They take 96 MiB of memory.
/// No state of a larger spool is purged.
pub const SURVEYED_FILES: usize = 4 << 20;

/// Maximum number of files whose state one survey purges. The rest follows on the next days. They
/// take a few MiB of memory.
pub const PURGED_PER_SURVEY: usize = 100_000;

/// Maximum number of daemon threads that parse messages. The daemon shares its machine with mail
/// servers.
pub const DAEMON_PARSER_THREADS: usize = 4;

/// Maximum number of daemon threads that read spools. If there are more spools, some share a
/// thread.
pub const DAEMON_READER_THREADS: usize = 8;

/// Maximum number of reader threads of earlier configurations that have not ended because their
/// file system does not respond. At this number, which is that of four configurations, a new
/// configuration waits until one of them ends.
pub const RETIRED_READER_THREADS: usize = 32;

/// Maximum total size, in bytes, of the messages that a reader of the daemon parses at the same
/// time. A larger message is parsed alone, while no other reader parses one.
pub const PARSE_BATCH_BYTES: usize = 1 << 20;

/// Maximum number of messages that a reader of the daemon parses at the same time. Each may have a
/// file of records open, and the shipped unit allows 4,096 open files.
pub const PARSE_BATCH_MESSAGES: usize = 256;

/// Maximum bytes of a message's records in memory, as a multiple of its size; the rest is written
/// to a file. Mail has a small multiple. The records of all messages parsed at the same time take
/// at most 16 MiB.
pub const HELD_RECORDS_RATIO: usize = 16;

/// Maximum bytes of a message's records in memory, for a message of any size.
pub const HELD_RECORDS_BYTES: usize = 1 << 20;

/// Milliseconds without progress after which a process that reads a suspect message counts as
/// dead. The largest message takes half a minute on a slow machine.
pub const TRIAL_TIMEOUT_MS: u64 = 300_000;

/// Maximum number of URLs used to recognize a message at the end of a file after it has grown.
/// Further URLs are then written again. They take 25 MiB of memory.
pub const GROWING_URLS: usize = 1 << 18;

/// Maximum number of files waiting to settle. Further files wait for the next scan of their spool.
/// Bounds memory.
pub const UNSETTLED_FILES: usize = 100_000;

/// Maximum number of existing files when spools are watched for the first time, if the URLs in
/// these files are not written. They take 160 MiB of memory until they are read.
pub const EXISTING_FILES: usize = 2 << 20;

/// Milliseconds for which a file must not change before `urlspool watch PATH` shows its last
/// message. Less than the daemon's default, because a person is waiting and no data is stored.
pub const SHOWN_SETTLE_MS: u64 = 1_000;

/// Size, in bytes, of the lines after which the daemon commits.
pub const COMMIT_BATCH_BYTES: usize = 4 << 20;

/// Reduced size, in bytes, of the lines after which the daemon commits, used after batches
/// repeatedly did not fit on the disk.
pub const SMALL_COMMIT_BATCH_BYTES: usize = 64 << 10;

/// Number of messages after which the daemon commits.
pub const COMMIT_BATCH_MESSAGES: u64 = 5_000;
