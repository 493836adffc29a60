//! Limits of the server of `urlspool browse`.

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
