//! Limits of audits and their reports.

/// Memory, in KiB, for pages of the database of an audit. 600,000 links are planned in less than
/// 256 MiB with it.
pub const AUDIT_CACHE_KIB: u32 = 64 << 10;

/// Number of links that are checked together, and stored in one transaction.
///
/// After an interruption at most so many links are checked again.
pub const AUDIT_BATCH_LINKS: usize = 500;

/// Number of hosts that a check asks at the same time.
pub const AUDIT_CHECK_HOSTS: usize = 128;

/// Pause, in milliseconds, between an answer to a check and its next request to the same host.
pub const AUDIT_CHECK_PAUSE_MS: u64 = 500;

/// Time, in seconds, in which a link must be answered to a check, with all its redirects, if the
/// user gives no other.
pub const AUDIT_CHECK_SECONDS: u64 = 20;

/// Redirects that a check follows.
pub const AUDIT_CHECK_REDIRECTS: usize = 10;

/// Number of times that a check asks again for a link whose failure may pass, if the user gives no
/// other.
pub const AUDIT_CHECK_RETRIES: u32 = 3;

/// Pause, in seconds, before a check asks for a link again. It is doubled each time.
pub const AUDIT_RETRY_SECONDS: u64 = 1;

/// Longest pause, in seconds, that a check makes for a server that asks for one. If it asks for more,
/// the link is not asked for again.
pub const AUDIT_RETRY_PAUSE_SECONDS: u64 = 30;

/// Number of hosts from which on their silence is that of this machine's network, so that it is not
/// stored: those of a batch, and those that replied in earlier checks. Of old links half have a
/// dead host: ten in a row are dead once in a thousand audits.
pub const AUDIT_SILENT_HOSTS: usize = 10;

/// Number of hosts that replied in earlier checks, and are asked again if a whole batch is silent.
pub const AUDIT_CONTROL_HOSTS: usize = 10;

/// Interval, in milliseconds, at which an interruption is noticed.
pub const AUDIT_POLL_MS: u64 = 20;

/// Time, in seconds, in which a host must be reached.
pub const AUDIT_CONNECT_SECONDS: u64 = 18;

/// Maximum size, in bytes, of a file of results that is imported. It is read as a whole, and a
/// result takes about 200 bytes.
pub const AUDIT_IMPORT_BYTES: u64 = 1 << 30;

/// Earliest time, in seconds since 1970, of a check that is imported: 1990-01-01, before the first
/// server of the Web.
pub const AUDIT_FIRST_CHECK_SECONDS: i64 = 631_152_000;

/// Hours that the time of a check that is imported may lie ahead: a day has begun in the first time
/// zone 14 hours before UTC, and clocks differ.
pub const AUDIT_CHECK_AHEAD_HOURS: i64 = 24;

/// Seconds that the time of a check may lie before that of an earlier one: clocks are set by some
/// seconds. After more the clock was wrong then, or is now.
pub const AUDIT_CLOCK_SECONDS: i64 = 300;

/// Captures that an archive is asked for: the nearest one may be of a redirect or an error.
pub const AUDIT_CDX_CAPTURES: u32 = 50;

/// Maximum size, in bytes, of an archive's answer. A capture takes about 300 bytes.
pub const AUDIT_CDX_BYTES: u64 = 4 << 20;

/// Time, in seconds, in which an archive must answer. The Wayback Machine can take half a minute.
pub const AUDIT_CDX_SECONDS: u64 = 90;

/// Refusals in a row after which an archive is asked no more.
pub const AUDIT_REFUSALS: u32 = 5;

/// Pause, in seconds, after a refusal without `Retry-After`.
pub const AUDIT_REFUSAL_SECONDS: u64 = 60;

/// Longest pause, in seconds, that is made for an archive; if it asks for more, the questions end.
pub const AUDIT_RETRY_AFTER_SECONDS: u64 = 3_600;

/// Answers in a row that are none of a CDX server, after which it is asked no more.
pub const AUDIT_FAILED_ANSWERS: u32 = 20;

/// Captures a minute that a save service is asked for. Save Page Now takes 7 of an account.
pub const AUDIT_SAVE_RATE: u32 = 6;

/// Captures that a save service works on at once. Save Page Now has 12 places for an account.
pub const AUDIT_SAVE_ACTIVE: usize = 6;

/// Captures that a save service is asked for in 24 hours. Save Page Now takes 30,000 of an account.
pub const AUDIT_SAVE_DAY: u64 = 30_000;

/// Pause, in seconds, between two questions for jobs of a save service.
pub const AUDIT_SAVE_POLL_SECONDS: u64 = 2;

/// Time, in seconds, after which a job of a save service is left to the next run. A capture takes two
/// minutes at most.
pub const AUDIT_SAVE_WAIT_SECONDS: u64 = 300;

/// Maximum number of rounds in which survival is estimated. Lifetimes of thirty years and twelve
/// checks need a third of them, and a round takes less than a millisecond.
pub const SURVIVAL_ROUNDS: u32 = 4_000;

/// Number of times that hosts are drawn for the interval of the half-life. Its ends are known to a
/// tenth of its width then.
pub const SURVIVAL_RESAMPLES: u32 = 1_000;

/// Number of dead links, the most cited ones, that a report shows with their citations. The CSV
/// files have all.
pub const REPORT_DEAD_LINKS: usize = 100;

/// Maximum number of citations that a report shows of a link.
pub const REPORT_CITATIONS: usize = 5;

/// Maximum number of rows of a table of hosts, domains or lists in a report. The CSV files have
/// all.
pub const REPORT_GROUPS: usize = 100;

/// Maximum number of characters of a text of others in a report. The CSV files have it whole.
pub const REPORT_TEXT_CHARS: usize = 300;

/// Maximum size, in bytes, of a page that is inspected; the rest is not read. The text of nearly all
/// pages is within it.
pub const INSPECT_PAGE_BYTES: u64 = 256 << 10;

/// Maximum size, in bytes, of the visible text of a page that is kept.
pub const INSPECT_TEXT_BYTES: usize = 64 << 10;

/// Maximum number of addresses of scripts and frames of a page that are kept.
pub const INSPECT_RESOURCES: usize = 200;

/// Maximum number of rules of a robots.txt that are kept. The largest real ones have thousands.
pub const INSPECT_ROBOTS_RULES: usize = 5_000;

/// Maximum size, in bytes, of a robots.txt that is read. RFC 9309 asks for 500 KiB at least.
pub const INSPECT_ROBOTS_BYTES: u64 = 512 << 10;

/// Redirects that are followed to a page, as browsers do.
pub const INSPECT_REDIRECTS: usize = 20;

/// Redirects that are followed to a robots.txt (RFC 9309, section 2.3.1.2).
pub const INSPECT_ROBOTS_REDIRECTS: usize = 5;

/// Time, in seconds, in which a server must answer a request of `inspect`, with its page.
pub const INSPECT_SECONDS: u64 = 25;

/// Time, in seconds, in which a link must be answered to `inspect`, with all its redirects and the
/// robots.txt of their hosts.
pub const INSPECT_CHAIN_SECONDS: u64 = 60;

/// Pause, in milliseconds, between an answer to `inspect` and its next request to the same host.
pub const INSPECT_PAUSE_MS: u64 = 1_000;

/// Number of links that are inspected and stored together. After an interruption at most so many
/// are read again.
pub const INSPECT_BATCH_LINKS: usize = 200;

/// Number of hosts that are asked at the same time.
pub const INSPECT_HOSTS: usize = 32;

/// Maximum number of bytes that are read of a server of ftp or gopher for one link: replies and
/// first lines. Greetings have up to some KiB.
pub const PROTOCOL_REPLY_BYTES: usize = 64 << 10;

/// Time, in seconds, in which a server of ftp or gopher must answer for one link.
pub const PROTOCOL_SECONDS: u64 = 30;
