//! Limits of loads, of the servers that they write to, of `urlspool browse`, and of statistics.
//! Statistics take at most 256 MiB for any archive.

/// Number of rows after which a load commits. A segment of any length is one transaction.
///
/// A commit requires a sync, and a batch of this size takes about a second.
pub const LOAD_BATCH_ROWS: usize = 50_000;

/// Time, in seconds, after which even a small batch is committed, and for which a load waits for a
/// line before it commits.
///
/// While a batch is open, no other program can write to the database, and many wait for only five
/// seconds.
pub const LOAD_BATCH_SECONDS: u64 = 2;

/// Maximum size, in bytes, of a line to load. A record repeats a URL of `Limits::url_bytes` less
/// than twenty times.
pub const LOAD_LINE_BYTES: usize = 16 << 20;

/// Size, in bytes, of the lines that the parsing thread passes on at once. A longer line is passed
/// on alone.
pub const LOAD_PARSED_BYTES: u64 = 256 << 10;

/// Number of batches of [`LOAD_PARSED_BYTES`] that are parsed before the previous rows are
/// written.
pub const LOAD_PARSED_BATCHES: usize = 4;

/// Number of links whose counts are held in memory before they are written to the database.
pub const LOAD_PENDING_LINKS: usize = 100_000;

/// Size, in bytes, of the keys of these links. A key is as long as a URL, at most
/// `Limits::url_bytes`.
pub const LOAD_PENDING_LINK_BYTES: usize = 32 << 20;

/// Size, in bytes, of the rows that are sent to a server at once.
pub const LOAD_STAGED_BYTES: usize = 16 << 20;

/// Memory, in KiB, for database pages of a load. The index of the keys is read at random
/// positions.
pub const LOAD_CACHE_KIB: u32 = 128 << 10;

/// Time, in seconds, for which a load waits for another program to finish writing to the database.
pub const LOAD_LOCK_SECONDS: u64 = 60;

/// Interval, in milliseconds, at which a load retries merging the log of a `SQLite` database while
/// another program reads.
pub const LOAD_LOG_POLL_MS: u64 = 50;

/// Number of these attempts. They take a minute, as long as a load waits for a writing program.
pub const LOAD_LOG_ATTEMPTS: u32 = 1_200;

/// Number of attempts, at the same interval, to find a database's header. Another program may be
/// writing it.
pub const LOAD_HEADER_ATTEMPTS: u32 = 100;

/// Number of attempts, at the same interval, to find a database as long as its header says. A
/// program that merges its log writes the header first.
pub const LOAD_LENGTH_ATTEMPTS: u32 = 400;

/// Size, in bytes, of the lines in one `_bulk` request, before compression. A longer line is sent
/// alone. Servers accept 100 MiB by default, and recommend 5 to 15.
pub const LOAD_BULK_BYTES: usize = 8 << 20;

/// Maximum size, in bytes, of a password file, and of the password in it.
pub const LOAD_PASSWORD_BYTES: u64 = 4 << 10;

/// Maximum number of deleted messages whose removal from an index may wait for others. A server
/// accepts 65,536 terms per query.
pub const LOAD_PENDING_GONE: usize = 10_000;

/// Number of mailboxes in one request to remove messages. A server accepts 1,024 clauses per
/// query.
pub const LOAD_QUERY_MAILBOXES: usize = 500;

/// Maximum size, in bytes, of a server's response. The response to a request of
/// [`LOAD_BULK_BYTES`] is smaller even if all its items are refused.
pub const LOAD_REPLY_BYTES: u64 = 64 << 20;

/// Default time limit, in seconds, for connecting to a server and for its silence. The target can
/// name another.
pub const LOAD_CONNECT_SECONDS: u64 = 30;

/// Time, in seconds, after which the kernel probes a silent server. Its default is two hours.
pub const LOAD_KEEPALIVE_SECONDS: u64 = 30;

/// Size, in bytes, of the messages used to copy rows to a server.
pub const LOAD_COPY_BYTES: usize = 64 << 10;

/// Time limit, in seconds, for a server's response to a request that may be expensive.
pub const LOAD_REPLY_SECONDS: u64 = 60;

/// Number of attempts to reach a server that has never responded before it counts as unreachable:
/// its name may be wrong.
pub const LOAD_ATTEMPTS: u32 = 6;

/// Time, in seconds, without progress after which a server that has responded before counts as
/// unreachable. A server that is busy or restarting gets minutes.
pub const LOAD_BUSY_SECONDS: u64 = 300;

/// Time, in milliseconds, before the first retry of a request. It doubles with each retry.
pub const LOAD_BACKOFF_MS: u64 = 100;

/// Longest time, in seconds, between two attempts, unless the server asks for more.
pub const LOAD_BACKOFF_SECONDS: u64 = 10;

/// Interval, in milliseconds, at which a load that waits for a server checks whether to stop.
pub const LOAD_STOP_POLL_MS: u64 = 100;

/// Longest wait, in seconds, that a server can request by `Retry-After`.
pub const LOAD_RETRY_AFTER_SECONDS: u64 = 30;

/// Interval, in milliseconds, at which `load --follow` lists the folder of segments.
pub const LOAD_FOLLOW_MS: u64 = 1_000;

/// Interval, in milliseconds, at which `load --follow` tries to reach a server again.
pub const LOAD_RETRY_MS: u64 = 5_000;

/// Maximum number of words and phrases in a search. With thousands, an index takes minutes.
pub const SEARCH_PHRASES: usize = 256;

/// Maximum number of words in a phrase.
pub const SEARCH_PHRASE_WORDS: usize = 256;

/// Maximum size, in bytes, of a word in a search, and of a word in `PostgreSQL`, which does not
/// index longer ones.
pub const SEARCH_WORD_BYTES: usize = 2_046;

/// Maximum size, in bytes, of a word in an index of Elasticsearch or `OpenSearch`. A longer word
/// is replaced by its start and its hash, because the analyzer splits words of more than 255
/// characters.
pub const SEARCH_INDEXED_WORD_BYTES: usize = 190;

/// Maximum size, in bytes, of the words of one record in such an index.
pub const SEARCH_INDEXED_BYTES: usize = 512 << 10;

/// Maximum number of distinct URLs, messages or sources to count exactly. Each takes up to 22
/// bytes while the table grows. More are estimated.
pub const STATS_EXACT: usize = 1_800_000;

/// Bits of a hash that select a register of an estimate: 65,536 one-byte registers, for a standard
/// error of 0.41 %.
pub const STATS_REGISTER_BITS: u32 = 16;

/// Maximum number of names in a list, such as hosts, to count exactly.
pub const STATS_NAMES: usize = 100_000;

/// Maximum number of bytes of the names in a list. Names of 80 bytes reach both limits.
pub const STATS_NAMES_BYTES: usize = 8 << 20;

/// Maximum length of a name in bytes. Longer names are truncated, and counted as one if they have
/// the same start.
pub const STATS_NAME_BYTES: usize = 256;

/// Number of threads that answer requests, each with its own database handle. A browser opens at
/// most six connections.
pub const BROWSE_THREADS: usize = 6;

/// Maximum number of connections. Above it, the one that has been waiting longest for its client
/// is closed.
pub const BROWSE_CONNECTIONS: usize = 64;

/// Maximum size, in bytes, of the head of a request. It contains the key of a link, whose escapes
/// take three bytes each.
pub const BROWSE_REQUEST_BYTES: usize = 96 << 10;

/// Maximum number of slashes after the token in the path of a request that is answered with a
/// page. The links of a page contain one `../` for each of them; the pages themselves have none.
pub const BROWSE_PATH_SLASHES: usize = 16;

/// Maximum number of fields in the head of a request. Browsers send about twenty.
pub const BROWSE_HEADER_FIELDS: usize = 64;

/// Maximum size, in bytes, of a filter condition. A key is as long as a URL.
pub const BROWSE_FILTER_BYTES: usize = 32 << 10;

/// Maximum number of words and phrases of a search that are used. If there are more, the page says
/// so. Nobody types as many.
pub const BROWSE_WORDS: usize = 32;

/// Time limit, in seconds, for a client to send the head of its request.
pub const BROWSE_REQUEST_SECONDS: u64 = 10;

/// Time limit, in seconds, to create a response and send it. A file of 100,000 citations has about
/// 60 MB, which 2 Mbit per second transfer in that time.
pub const BROWSE_ANSWER_SECONDS: u64 = 300;

/// Time, in seconds, after which the queries of a page are interrupted.
pub const BROWSE_QUERY_SECONDS: u64 = 20;

/// Maximum number of rows of a filtered list that is counted and sorted as a whole. Larger lists
/// are sampled.
pub const BROWSE_EXACT_ROWS: u64 = 100_000;

/// Number of database rows to examine for a sample.
pub const BROWSE_SAMPLE_ROWS: i64 = 15_000;

/// Number of runs of adjacent rows in a sample. Adjacent rows were loaded together and are
/// similar, so a sample needs many runs.
pub const BROWSE_SAMPLE_RUNS: i64 = 150;

/// Maximum size, in bytes, of the raw bytes of a link shown on a page. A URL of 64 KiB may be
/// encoded.
pub const BROWSE_RAW_BYTES: usize = 256 << 10;

/// Size, in bytes, of the raw text before and after them: a paragraph.
pub const BROWSE_AROUND_BYTES: usize = 1_500;

/// Size, in bytes, of the part of a file to search for a link's message: a second of reading. The
/// part starts near the link in an mbox, and at the start of other files.
pub const BROWSE_SEARCHED_BYTES: u64 = 1 << 30;

/// Number of characters of the passages before and after a link on a page. Records written by
/// other programs may have longer ones.
pub const BROWSE_PASSAGE_CHARS: usize = 1_000;

/// Number of characters of a link in the list of the most cited ones: a few lines of a narrow
/// column.
pub const BROWSE_TOP_LINK_CHARS: usize = 80;

/// Number of results on a page.
pub const BROWSE_PAGE_ROWS: usize = 50;

/// Number of links on a page of a list of links, one line each.
pub const BROWSE_PAGE_LINKS: usize = 200;

/// Number of names in a top list.
pub const BROWSE_TOP_NAMES: usize = 12;

/// Number of filtered lists to cache, so their next page requires no query. They take at most 2.4
/// MB each.
pub const BROWSE_KEPT_LISTS: usize = 16;

/// Maximum size, in bytes, of the URLs in a report to an abuse desk, except for the last one. XARF
/// allows 5 MiB of evidence.
pub const REPORTED_BYTES: usize = 1 << 20;
