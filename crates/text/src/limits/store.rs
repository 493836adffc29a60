//! Limits of loads, of the servers that they write to, of `urlspool browse`, and of statistics, which
//! hold in at most 256 MiB whatever the archive holds.

/// Number of rows after which a load commits. A segment is one transaction, however long it is.
///
/// A commit costs a sync; a batch of this size takes about a second.
pub const LOAD_BATCH_ROWS: usize = 50_000;

/// Time, in seconds, after which a batch is committed although it is small, and for which a load
/// waits for a line before it commits.
///
/// While a batch is open no other program can write to the database, and many wait for five
/// seconds.
pub const LOAD_BATCH_SECONDS: u64 = 2;

/// Maximum size, in bytes, of a line that is loaded. A record repeats a URL of `Limits::url_bytes`
/// less than twenty times.
pub const LOAD_LINE_BYTES: usize = 16 << 20;

/// Size, in bytes, of the lines that the thread which parses hands over at once; a longer line is
/// handed over alone.
pub const LOAD_PARSED_BYTES: u64 = 256 << 10;

/// Number of batches of [`LOAD_PARSED_BYTES`] that are parsed before the rows of the one before are
/// written.
pub const LOAD_PARSED_BATCHES: usize = 4;

/// Number of links whose numbers are held in memory before they are written to the database.
pub const LOAD_PENDING_LINKS: usize = 100_000;

/// Size, in bytes, of the keys of these links. A key is as long as a URL, which may have
/// `Limits::url_bytes`.
pub const LOAD_PENDING_LINK_BYTES: usize = 32 << 20;

/// Size, in bytes, of the rows that are sent to a server at once.
pub const LOAD_STAGED_BYTES: usize = 16 << 20;

/// Memory, in KiB, for pages of the database of a load. The index of the keys is read at random
/// places.
pub const LOAD_CACHE_KIB: u32 = 128 << 10;

/// Time, in seconds, for which a load waits for another program that is writing to the database.
pub const LOAD_LOCK_SECONDS: u64 = 60;

/// Interval, in milliseconds, at which a load tries again to merge the log of a `SQLite` database,
/// while another program reads.
pub const LOAD_LOG_POLL_MS: u64 = 50;

/// Number of these attempts: for a minute, as long as a load waits for a program that writes.
pub const LOAD_LOG_ATTEMPTS: u32 = 1_200;

/// Number of attempts, at the same interval, to find the header of a database: another program may
/// be writing it.
pub const LOAD_HEADER_ATTEMPTS: u32 = 100;

/// Number of attempts, at the same interval, to find a database as long as its header says: another
/// program that merges its log writes the header first.
pub const LOAD_LENGTH_ATTEMPTS: u32 = 400;

/// Size, in bytes, of the lines in one request of `_bulk`, before compression; a longer line is
/// sent alone. Servers accept 100 MiB by default, and recommend 5 to 15.
pub const LOAD_BULK_BYTES: usize = 8 << 20;

/// Size, in bytes, of a file of a password, and of the password in it.
pub const LOAD_PASSWORD_BYTES: u64 = 4 << 10;

/// Number of messages that are gone and whose removal from an index may wait for others. A server
/// accepts 65,536 terms a query.
pub const LOAD_PENDING_GONE: usize = 10_000;

/// Number of mailboxes in one request that removes messages. A server accepts 1,024 clauses a
/// query.
pub const LOAD_QUERY_MAILBOXES: usize = 500;

/// Size, in bytes, of an answer of a server: that to a request of [`LOAD_BULK_BYTES`] whose items
/// are all refused is smaller.
pub const LOAD_REPLY_BYTES: u64 = 64 << 20;

/// Time, in seconds, for a connection to a server and for its silence, unless the target names
/// another.
pub const LOAD_CONNECT_SECONDS: u64 = 30;

/// Time, in seconds, after which the kernel asks whether a silent server is there. Its own default
/// is two hours.
pub const LOAD_KEEPALIVE_SECONDS: u64 = 30;

/// Size, in bytes, of the messages in which rows are copied to a server.
pub const LOAD_COPY_BYTES: usize = 64 << 10;

/// Time, in seconds, for an answer of a server to a request that may be much work.
pub const LOAD_REPLY_SECONDS: u64 = 60;

/// Number of attempts to reach a server that has not answered yet, before it counts as away: its
/// name may be wrong.
pub const LOAD_ATTEMPTS: u32 = 6;

/// Time, in seconds, without progress after which a server that has answered before counts as away:
/// one that is too busy, or restarts, is given minutes.
pub const LOAD_BUSY_SECONDS: u64 = 300;

/// Time, in milliseconds, after which a request is repeated the first time. It doubles each time.
pub const LOAD_BACKOFF_MS: u64 = 100;

/// Longest time, in seconds, between two attempts, unless the server asks for more.
pub const LOAD_BACKOFF_SECONDS: u64 = 10;

/// Interval, in milliseconds, at which a load that waits for a server looks if it is to end.
pub const LOAD_STOP_POLL_MS: u64 = 100;

/// Longest time, in seconds, for which a server can ask to wait by `Retry-After`.
pub const LOAD_RETRY_AFTER_SECONDS: u64 = 30;

/// Interval, in milliseconds, at which `load --follow` lists the folder of segments.
pub const LOAD_FOLLOW_MS: u64 = 1_000;

/// Interval, in milliseconds, at which `load --follow` tries to reach a server again.
pub const LOAD_RETRY_MS: u64 = 5_000;

/// Number of words and phrases of a search: an index takes minutes for thousands.
pub const SEARCH_PHRASES: usize = 256;

/// Number of words of a phrase.
pub const SEARCH_PHRASE_WORDS: usize = 256;

/// Size, in bytes, of a word of a search, and of one in `PostgreSQL`, which indexes no longer ones.
pub const SEARCH_WORD_BYTES: usize = 2_046;

/// Size, in bytes, of a word in an index of Elasticsearch or `OpenSearch`: a longer one is replaced
/// by its beginning and its hash, since the analyzer divides words of more than 255 characters.
pub const SEARCH_INDEXED_WORD_BYTES: usize = 190;

/// Size, in bytes, of the words of a record in such an index.
pub const SEARCH_INDEXED_BYTES: usize = 512 << 10;

/// Maximum number of distinct URLs, of messages and of sources that are counted exactly. Each takes
/// up to 22 bytes while the table grows; more are estimated.
pub const STATS_EXACT: usize = 1_800_000;

/// Bits of a hash that choose a register of an estimate: 65,536 registers of a byte, for a standard
/// error of 0.41 %.
pub const STATS_REGISTER_BITS: u32 = 16;

/// Maximum number of names of a list, such as that of hosts, that are counted exactly.
pub const STATS_NAMES: usize = 100_000;

/// Maximum number of bytes of the names of a list. Names of 80 bytes reach both limits.
pub const STATS_NAMES_BYTES: usize = 8 << 20;

/// Maximum length of a name in bytes. Longer ones are cut, and counted as one if they begin alike.
pub const STATS_NAME_BYTES: usize = 256;

/// Number of threads that make answers, each with a database handle of its own. A browser opens six
/// connections at most.
pub const BROWSE_THREADS: usize = 6;

/// Number of connections. Above it, the one that has waited longest for its client is closed.
pub const BROWSE_CONNECTIONS: usize = 64;

/// Size, in bytes, of the head of a request. It holds the key of a link, whose escapes take three
/// bytes each.
pub const BROWSE_REQUEST_BYTES: usize = 96 << 10;

/// Number of slashes in the path of a request that is answered with a page, beneath the token. The
/// links of a page lead back with `../` for each of them; the pages themselves have none.
pub const BROWSE_PATH_SLASHES: usize = 16;

/// Number of fields in the head of a request. Browsers send about twenty.
pub const BROWSE_HEADER_FIELDS: usize = 64;

/// Size, in bytes, of a condition of a filter. A key is as long as a URL.
pub const BROWSE_FILTER_BYTES: usize = 32 << 10;

/// Number of words and phrases of a search that are used; of more the page says so. Nobody types as
/// many.
pub const BROWSE_WORDS: usize = 32;

/// Time, in seconds, in which a client must send the head of its request.
pub const BROWSE_REQUEST_SECONDS: u64 = 10;

/// Time, in seconds, in which an answer must be made and read. A file of 100,000 citations has about
/// 60 MB, which 2 Mbit a second carry in it.
pub const BROWSE_ANSWER_SECONDS: u64 = 300;

/// Time, in seconds, after which the queries of a page are interrupted.
pub const BROWSE_QUERY_SECONDS: u64 = 20;

/// Number of rows up to which a filtered list is counted and sorted as a whole. Larger ones are
/// sampled.
pub const BROWSE_EXACT_ROWS: u64 = 100_000;

/// Number of rows of the database that are examined for a sample.
pub const BROWSE_SAMPLE_ROWS: i64 = 15_000;

/// Number of runs of neighbouring rows in a sample: neighbours were loaded together and are alike,
/// so that a sample needs many runs.
pub const BROWSE_SAMPLE_RUNS: i64 = 150;

/// Size, in bytes, of the raw bytes of a link that a page shows. A URL of 64 KiB may be encoded.
pub const BROWSE_RAW_BYTES: usize = 256 << 10;

/// Size, in bytes, of the raw text before them and after them: a paragraph.
pub const BROWSE_AROUND_BYTES: usize = 1_500;

/// Size, in bytes, of the part of a file that is searched for the message of a link: a second of
/// reading. Of an mbox it begins near the link, of other files at their start.
pub const BROWSE_SEARCHED_BYTES: u64 = 1 << 30;

/// Number of characters of the passage before a link, and of that after it, on a page. Records that
/// other programs wrote may have longer ones.
pub const BROWSE_PASSAGE_CHARS: usize = 1_000;

/// Number of characters of a link in the list of the most cited ones: a few lines of a narrow
/// column.
pub const BROWSE_TOP_LINK_CHARS: usize = 80;

/// Number of results on a page.
pub const BROWSE_PAGE_ROWS: usize = 50;

/// Number of links on a page of a list of links, a line each.
pub const BROWSE_PAGE_LINKS: usize = 200;

/// Number of names in a top list.
pub const BROWSE_TOP_NAMES: usize = 12;

/// Number of filtered lists that are kept, so that the next page of one costs nothing: at most
/// 2.4 MB each.
pub const BROWSE_KEPT_LISTS: usize = 16;
