//! Limits of audits and their reports.

/// Memory, in KiB, for database pages of an audit. It suffices to plan 600,000 links in less than
/// 256 MiB.
pub const AUDIT_CACHE_KIB: u32 = 64 << 10;

/// Number of links that are checked together and stored in one transaction.
///
/// An interruption causes at most this many links to be checked again.
pub const AUDIT_BATCH_LINKS: usize = 500;

/// Number of hosts that a check contacts at the same time.
pub const AUDIT_CHECK_HOSTS: usize = 128;

/// Pause, in milliseconds, between a response to a check and the next request to the same host.
pub const AUDIT_CHECK_PAUSE_MS: u64 = 500;

/// Default time limit, in seconds, for checking one link, including all redirects.
pub const AUDIT_CHECK_SECONDS: u64 = 20;

/// Maximum number of redirects that a check follows.
pub const AUDIT_CHECK_REDIRECTS: usize = 10;

/// Default number of times that a check retries a link after a temporary failure.
pub const AUDIT_CHECK_RETRIES: u32 = 3;

/// Pause, in seconds, before a check retries a link. It doubles with each retry.
pub const AUDIT_RETRY_SECONDS: u64 = 1;

/// Longest pause, in seconds, that a check makes if a server asks for one. If the server asks for
/// more, the link is not retried.
pub const AUDIT_RETRY_PAUSE_SECONDS: u64 = 30;

/// Minimum number of silent hosts to blame this machine's network, so that their silence is not
/// stored. Counts the hosts of a batch and those that replied in earlier checks. Half of all old
/// links have a dead host: ten in a row are dead once in a thousand audits.
pub const AUDIT_SILENT_HOSTS: usize = 10;

/// Number of hosts to contact again if a whole batch is silent. They replied in earlier checks.
pub const AUDIT_CONTROL_HOSTS: usize = 10;

/// Interval, in milliseconds, at which a check looks for an interruption.
pub const AUDIT_POLL_MS: u64 = 20;

/// Time limit, in seconds, for connecting to a host.
pub const AUDIT_CONNECT_SECONDS: u64 = 18;

/// Maximum size, in bytes, of a file of results to import. It is read as a whole, and a result
/// takes about 200 bytes.
pub const AUDIT_IMPORT_BYTES: u64 = 1 << 30;

/// Earliest time, in seconds since 1970, of an imported check: 1990-01-01, before the first server
/// of the Web.
pub const AUDIT_FIRST_CHECK_SECONDS: i64 = 631_152_000;

/// Hours that the time of an imported check may be in the future. A day starts in the first time
/// zone 14 hours before UTC, and clocks differ.
pub const AUDIT_CHECK_AHEAD_HOURS: i64 = 24;

/// Seconds that a check may be earlier than a previous one, because clocks are adjusted by a few
/// seconds. With a larger difference, the clock was wrong then or is wrong now.
pub const AUDIT_CLOCK_SECONDS: i64 = 300;

/// Number of captures to request from an archive. The nearest one may be a redirect or an error.
pub const AUDIT_CDX_CAPTURES: u32 = 50;

/// Maximum size, in bytes, of an archive's response. A capture takes about 300 bytes.
pub const AUDIT_CDX_BYTES: u64 = 4 << 20;

/// Time limit, in seconds, for an archive's response. The Wayback Machine can take half a minute.
pub const AUDIT_CDX_SECONDS: u64 = 90;

/// Number of consecutive refusals after which an archive is not queried again.
pub const AUDIT_REFUSALS: u32 = 5;

/// Pause, in seconds, after a refusal without `Retry-After`.
pub const AUDIT_REFUSAL_SECONDS: u64 = 60;

/// Longest pause, in seconds, that is made for an archive. If it asks for more, no more queries
/// are sent.
pub const AUDIT_RETRY_AFTER_SECONDS: u64 = 3_600;

/// Number of consecutive responses that are not a CDX server's, after which a server is not
/// queried again.
pub const AUDIT_FAILED_ANSWERS: u32 = 20;

/// Number of captures per minute to request from a save service. Save Page Now accepts 7 per
/// account.
pub const AUDIT_SAVE_RATE: u32 = 6;

/// Number of captures that a save service works on at the same time. Save Page Now allows 12 per
/// account.
pub const AUDIT_SAVE_ACTIVE: usize = 6;

/// Number of captures to request from a save service in 24 hours. Save Page Now accepts 30,000 per
/// account.
pub const AUDIT_SAVE_DAY: u64 = 30_000;

/// Pause, in seconds, between two status requests for the jobs of a save service.
pub const AUDIT_SAVE_POLL_SECONDS: u64 = 2;

/// Time, in seconds, after which a job of a save service is left to the next run. A capture takes
/// at most two minutes.
pub const AUDIT_SAVE_WAIT_SECONDS: u64 = 300;

/// Maximum number of rounds to estimate survival. Lifetimes of thirty years and twelve checks need
/// a third of them, and a round takes less than a millisecond.
pub const SURVIVAL_ROUNDS: u32 = 4_000;

/// Number of times that hosts are resampled for the confidence interval of the half-life. This
/// determines the ends of the interval to a tenth of its width.
pub const SURVIVAL_RESAMPLES: u32 = 1_000;

/// Number of dead links that a report shows with their citations, the most cited ones first.
/// `citations.csv` has the citations of these links, `dead-links.csv` has all dead links.
pub const REPORT_DEAD_LINKS: usize = 100;

/// Maximum number of citations that a report shows for a link.
pub const REPORT_CITATIONS: usize = 5;

/// Maximum number of rows of a table of hosts, domains or lists in a report. The CSV files contain
/// all.
pub const REPORT_GROUPS: usize = 100;

/// Maximum number of characters of a foreign text in a report. The CSV files contain the whole
/// text.
pub const REPORT_TEXT_CHARS: usize = 300;

/// Maximum size, in bytes, of a page to inspect; the rest is not read. It covers the text of
/// nearly all pages.
pub const INSPECT_PAGE_BYTES: u64 = 256 << 10;

/// Maximum size, in bytes, of a page's visible text to keep.
pub const INSPECT_TEXT_BYTES: usize = 64 << 10;

/// Maximum number of script and frame addresses to keep for a page.
pub const INSPECT_RESOURCES: usize = 200;

/// Maximum number of rules of a robots.txt to keep. The largest real files have thousands.
pub const INSPECT_ROBOTS_RULES: usize = 5_000;

/// Maximum size, in bytes, of a robots.txt to read. RFC 9309 requires at least 500 KiB.
pub const INSPECT_ROBOTS_BYTES: u64 = 512 << 10;

/// Maximum number of redirects to a page to follow, the same as in browsers.
pub const INSPECT_REDIRECTS: usize = 20;

/// Maximum number of redirects to a robots.txt to follow (RFC 9309, section 2.3.1.2).
pub const INSPECT_ROBOTS_REDIRECTS: usize = 5;

/// Time limit, in seconds, for a server's response to a request of `inspect`, including the page.
pub const INSPECT_SECONDS: u64 = 25;

/// Time limit, in seconds, for inspecting one link, including all redirects and the robots.txt of
/// their hosts.
pub const INSPECT_CHAIN_SECONDS: u64 = 60;

/// Pause, in milliseconds, between a response to `inspect` and the next request to the same host.
pub const INSPECT_PAUSE_MS: u64 = 1_000;

/// Number of links that are inspected and stored together. An interruption causes at most this
/// many to be read again.
pub const INSPECT_BATCH_LINKS: usize = 200;

/// Number of hosts that `inspect` contacts at the same time.
pub const INSPECT_HOSTS: usize = 32;

/// Maximum number of bytes to read from an ftp or gopher server for one link: replies and first
/// lines. Greetings have up to a few KiB.
pub const PROTOCOL_REPLY_BYTES: usize = 64 << 10;

/// Time limit, in seconds, for the responses of an ftp or gopher server for one link.
pub const PROTOCOL_SECONDS: u64 = 30;

/// Maximum size, in bytes, of a file of seeds for a crawler. Browsertrix takes files of up to 25
/// MB.
pub const SEED_FILE_BYTES: usize = 25_000_000;
