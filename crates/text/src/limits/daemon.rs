//! Limits of the daemon.

/// Milliseconds after which the daemon first retries a file that it could not read. Most errors are
/// short-lived.
pub const RETRY_FIRST_MS: u64 = 1_000;

/// Maximum number of milliseconds between two retries. As often as every file is rescanned anyway.
pub const RETRY_MAX_MS: u64 = 300_000;

/// Milliseconds after which a file that could never be read is skipped until it changes: one day.
///
/// Within a day a server that is away comes back, and somebody has read the log.
pub const QUARANTINE_MS: u64 = 86_400_000;

/// Maximum number of unreadable files whose retries are scheduled. Bounds memory; further ones are
/// tried at each rescan of their spool.
pub const REMEMBERED_FAILURES: usize = 10_000;

/// Maximum number of unreadable files that are reported by name. The counts include all of them.
pub const REPORTED_FAILURES: usize = 20;

/// Days for which the daemon keeps the state of deleted files and of their messages: as long as
/// backups are restored.
pub const PURGE_DAYS: u64 = 30;

/// Maximum number of seconds between two runs of the daemon that count towards [`PURGE_DAYS`]: one
/// day.
///
/// Enough for runs from cron. A clock that is set forward by a year causes no state to be purged.
pub const MAX_DOWNTIME_S: u64 = 86_400;

/// Seconds of watching after which the daemon saves how long it has watched: one hour, of thirty
/// days.
pub const AGE_SAVE_INTERVAL_S: u64 = 3_600;

/// Milliseconds for which a message must be missing before the daemon reports it as gone, if the
/// configuration does not set them.
///
/// Programs that move a message write the copy before they remove the original. But a client of NFS
/// may cache the list of a folder for a minute (`acdirmax`), and so see the removal before the
/// copy.
pub const GONE_AFTER_MS: u64 = 60_000;

/// Milliseconds for which an mbox may be locked before the daemon reports it, if the configuration
/// does not set them.
///
/// Mail programs hold a lock while they write, and remove a lock file of others after five minutes
/// at most. A mailbox that is locked for a minute probably has a lock file that a program left when
/// it ended.
pub const LOCK_TIMEOUT_MS: u64 = 60_000;

/// Maximum number of files of a spool that are missing and whose messages are not yet reported as
/// gone. They take 64 MiB of memory. Further ones wait until these are reported.
pub const MISSING_FILES: usize = 1 << 20;

/// Maximum number of copies of sidecars in the state folder before a snapshot of the state replaces
/// them.
///
/// More than half a day of segments that are sealed every minute.
pub const SIDECAR_COPIES: usize = 1_000;

/// Maximum number of files of a spool that are surveyed for deleted ones. They take 96 MiB of
/// memory. Of a larger spool no state is purged.
pub const SURVEYED_FILES: usize = 4 << 20;

/// Maximum number of files whose state is purged by one survey. The rest follow on the next days.
/// They take a few MiB of memory.
pub const PURGED_PER_SURVEY: usize = 100_000;

/// Maximum number of daemon threads that parse messages: the daemon shares its machine with mail
/// servers.
pub const DAEMON_PARSER_THREADS: usize = 4;

/// Maximum number of daemon threads that read spools. With more spools than that, some share a
/// thread.
pub const DAEMON_READER_THREADS: usize = 8;

/// Maximum number of reader threads of earlier configurations that have not ended, each because its
/// file system does not answer. With so many, a new configuration waits until one has ended. As
/// many as four configurations have.
pub const RETIRED_READER_THREADS: usize = 32;

/// Maximum total size, in bytes, of the messages that a reader of the daemon parses at the same
/// time. A larger message is parsed alone, while no other reader parses one.
pub const PARSE_BATCH_BYTES: usize = 1 << 20;

/// Maximum number of messages that a reader of the daemon parses at the same time. Each may have a
/// file of records open, and the shipped unit allows 4,096 open files.
pub const PARSE_BATCH_MESSAGES: usize = 256;

/// Maximum bytes of a message's records in memory, as a multiple of its size; the rest goes to a
/// file. Mail has a few. So those of messages that are parsed at the same time take at most 16 MiB.
pub const HELD_RECORDS_RATIO: usize = 16;

/// Maximum bytes of a message's records in memory, whatever its size.
pub const HELD_RECORDS_BYTES: usize = 1 << 20;

/// Milliseconds after which a process that reads a suspect message counts as dead: it makes no
/// progress. The largest message takes half a minute on a slow machine.
pub const TRIAL_TIMEOUT_MS: u64 = 300_000;

/// Maximum number of URLs by which a message at the end of a file is recognised when it has grown.
/// Further ones are written again then. They take 25 MiB of memory.
pub const GROWING_URLS: usize = 1 << 18;

/// Maximum number of files that wait to settle; further files wait for the next scan of their
/// spool. Bounds memory.
pub const UNSETTLED_FILES: usize = 100_000;

/// Maximum number of files that are there when their spools are watched for the first time, if
/// their URLs are not written. They take 160 MiB of memory until they were read.
pub const EXISTING_FILES: usize = 2 << 20;

/// Milliseconds for which a file must not change before its last message is shown by
/// `urlspool watch PATH`. Less than the default of the daemon, since somebody waits, and nothing is
/// kept.
pub const SHOWN_SETTLE_MS: u64 = 1_000;

/// Maximum number of events of the kernel that wait for a reader. If more arrive, it scans
/// everything again.
pub const QUEUED_EVENTS: usize = 8_192;

/// Size, in bytes, of the lines after which the daemon commits.
pub const COMMIT_BATCH_BYTES: usize = 4 << 20;

/// The smallest such size, after batches did not fit on the disk several times.
pub const SMALL_COMMIT_BATCH_BYTES: usize = 64 << 10;

/// Number of messages after which the daemon commits.
pub const COMMIT_BATCH_MESSAGES: u64 = 5_000;
