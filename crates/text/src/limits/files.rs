//! Limits on files, on the units of work they are split into, and on records waiting to be
//! written.

/// Size, in bytes, of the blocks in which a large file is read. Large enough to keep a thread busy
/// for milliseconds.
#[cfg(not(fuzzing))]
pub const BLOCK_BYTES: usize = 2 << 20;
/// Size, in bytes, of the blocks in the fuzz targets, whose inputs are small.
#[cfg(fuzzing)]
pub const BLOCK_BYTES: usize = 16 << 10;

/// Maximum length, in bytes, of a line in an evidence file. A longer line is not a record.
///
/// Most records are shorter than 4 KiB, but a message's fields can make them longer.
pub const EVIDENCE_LINE_BYTES: u64 = 1 << 20;

/// Maximum size, in bytes, of a file of `exclude_domains`. Lists of millions of domains are
/// smaller.
pub const DOMAIN_LIST_BYTES: u64 = 128 << 20;

/// Size, in bytes, below which a file is small. Threads get small files in batches and read them
/// whole.
pub const SMALL_FILE_BYTES: u64 = 512 << 10;

/// Maximum total size, in bytes, of the small files of one batch.
pub const FILE_BATCH_BYTES: u64 = 2 << 20;

/// Maximum number of small files that are opened before a thread reads them, including all other
/// open files.
///
/// Enough for the batches of three threads. With more threads, some files are only opened by the
/// thread that reads them.
pub const PREOPENED_FILES: i32 = 4_096;

/// Number of file descriptors kept free for other uses: folders, roots, outputs, and one file per
/// thread.
pub const RESERVED_DESCRIPTORS: u64 = 64;

/// Maximum number of distinct roots in one batch. Each root holds a directory descriptor open while
/// one of its files waits.
pub const BATCH_ROOTS: usize = 16;

/// Maximum nesting of braces in a path pattern. The same as in `fast_glob`, which matches no
/// deeper pattern.
pub const PATTERN_BRACES: usize = 10;

/// Maximum number of small files in one batch.
pub const BATCH_FILES: usize = 256;

/// Maximum number of NUL bytes that are skipped at the start of a stream. With more, the stream is
/// binary.
///
/// A stream may be infinite: `/dev/zero` is read for about a second. Files are finite and have no
/// such limit.
pub const STREAM_NUL_BYTES: u64 = 4 << 30;

/// Milliseconds without data from a pipe or device after which its completed messages are written,
/// without the rest of their block. Programs that write as fast as they can do not pause that
/// long.
pub const STREAM_PAUSE_MS: i64 = 100;

/// Number of bytes at the start of a source that are used to recognize its format.
pub const SNIFF_BYTES: usize = 64 << 10;

/// Maximum size, in bytes, that a small compressed file or archive may unpack to while other
/// threads read such files too.
///
/// The rest of a larger one is read after everything before it is written, so only one is read at a
/// time. The limit is two blocks, because records can be twenty times as large as their text.
pub const SMALL_CONTAINER_BYTES: u64 = 4 << 20;

/// Number of bytes at the start of a source that are used to recognize compressions and archives:
/// the first header of a tar archive.
pub const MAGIC_BYTES: usize = 512;

/// Maximum size, in bytes, of a tar header that describes the next one. Real headers contain names
/// and numbers, a few KiB.
pub const TAR_EXTENSION_BYTES: u64 = 1 << 20;

/// Unpacking ratio of a file up to which archives attached to its mail have the full balance.
///
/// A repetitive mbox has a ratio of 19, and containers around it add little to that. Ratios
/// multiply: without this limit, mail in a file that unpacks to a thousand times its size could
/// have attachments that unpack to a hundred times theirs.
pub const ORDINARY_UNPACK_RATIO: u64 = 32;

/// Maximum size, in bytes, of the header of a WARC record, and of the HTTP header in it. Servers
/// accept 8 to 64 KiB.
pub const WARC_HEAD_BYTES: usize = 256 << 10;

/// Number of bytes charged for starting a compressed stream or frame, or an archive entry, in
/// addition to its unpacked bytes.
///
/// Starting one takes 0.1 to 4 microseconds, enough to unpack a thousand bytes or more. Without
/// this charge, millions of empty ones would be free.
pub const STREAM_BYTES: u64 = 2 << 10;

/// Number of bytes charged for starting a bzip2 stream, in addition to its unpacked bytes.
///
/// The decoder clears 3.6 MB of memory, which takes 0.04 to 0.2 ms. An ordinary stream unpacks to
/// 900 kB.
pub const BZIP2_STREAM_BYTES: u64 = 100 << 10;

/// Maximum size, in bytes, of the line before an object in a stream of git objects. In a line
/// about a missing object, the name can be a path, at most `PATH_MAX` of Linux.
pub const GIT_LINE_BYTES: usize = 4 << 10;

/// Maximum memory, in bytes, that a `git` process may allocate. It holds one blob and its sources,
/// and about two hundred bytes per commit of a branch.
pub const GIT_MEMORY_BYTES: u64 = 2 << 30;

/// Maximum size, in bytes, of the listing of a repository's root that is used to recognize its
/// layout. A mailing list's root has at most 256 entries.
pub const GIT_ROOT_BYTES: usize = 64 << 10;

/// Maximum number of commits of one repository to read; for version 1 of public-inbox, the maximum
/// number of files that its commits add and delete.
///
/// The largest lists have a few million messages. A few KiB of nested trees can have more files
/// than can ever be read.
pub const GIT_CHANGES: u64 = 20_000_000;

/// Maximum number of bytes of names waiting between two `git` processes, in addition to those in
/// their pipes.
pub const GIT_PIPE_BYTES: usize = 64 << 10;

/// Maximum number of bytes to keep from a `git` process's standard error.
pub const GIT_MESSAGE_BYTES: usize = 4 << 10;

/// Maximum number of bytes to keep of the output of `readpst`: two lines for each folder.
pub const OUTLOOK_LOG_BYTES: usize = 1 << 20;

/// Maximum number of milliseconds that a round of waiting for `readpst` takes.
pub const UNPACK_ROUND_MS: u32 = 100;

/// Number of entries in the folder into which `readpst` writes for each of which one more round
/// passes until the folder is listed again. Listing that many takes some milliseconds.
pub const UNPACK_ENTRIES_PER_ROUND: usize = 2_000;

/// Minimum free space, in bytes, in the file system into which `readpst` writes. It does not report
/// a full disk.
pub const UNPACK_FREE_BYTES: u64 = 16 << 20;

/// Maximum number of random numbers in an item of an Outlook folder that become the same in every
/// run. Each attached message has one in its boundaries.
pub const OUTLOOK_NUMBERS: usize = 1_000;

/// Size, in bytes, of the pieces in which an item of an Outlook folder is searched for boundaries.
/// Lines with a boundary are shorter.
pub const OUTLOOK_LINE_BYTES: usize = 64 << 10;

/// Number of bytes at the start of a message read in pieces that are kept, because later pieces
/// need its header and digest.
///
/// Twice the number of body bytes that the digest of such a message covers, so an ordinary header
/// fits before them.
pub const MESSAGE_PREFIX_BYTES: usize = 128 << 10;

/// Maximum number of bytes of a `From ` line and the next line to examine. RFC 5322 allows 998 per
/// line.
pub const SEPARATOR_BYTES: usize = 4 << 10;

/// Maximum number of unfinished blocks per thread. Bounds memory. With two, a thread stays busy
/// while one block waits to be written.
pub const BLOCKS_PER_THREAD: usize = 2;

/// Maximum number of unfinished batches of small files per thread.
///
/// Batches finish sooner than blocks, so enough of them are needed while the thread that walks and
/// writes waits for a core. Bounds memory: if the output is slow, each waits with its records, at
/// most 9/8 of [`RECORD_BUFFER_BYTES`].
pub const BATCHES_PER_THREAD: usize = 4;

/// Maximum size, in bytes, of all unfinished blocks per thread. Bounds memory if messages are
/// large. An ordinary block is half as large.
pub const BLOCK_BYTES_PER_THREAD: u64 = 4 << 20;

/// Minimum number of bytes of a large message or unpacked attachment. A thread only reads a large
/// one after everything before it is written, so at most one is read at a time. It takes a few
/// times as much memory.
pub const LARGE_MESSAGE_BYTES: usize = 2 << 20;

/// Size, in bytes, of the records that a thread collects before it passes them to the writer, even
/// within a message.
///
/// A message of short URLs produces records a hundred times as large as itself.
pub const RECORD_BUFFER_BYTES: usize = 1 << 20;

/// Like [`RECORD_BUFFER_BYTES`], for one message whose occurrences are counted (`--unique`).
/// Records that were already passed on only tell how often their URLs had occurred until then.
pub const COUNTED_RECORDS_BYTES: usize = 4 << 20;

/// Maximum number of record batches from one unit of work waiting to be written. One can be filled
/// while another waits.
pub const QUEUED_BATCHES: usize = 1;

/// Maximum number of batches between a scan and the reader of its records, in the library's
/// `scan`. A batch contains [`RECORD_BUFFER_BYTES`] or slightly more, and at most twice as much.
pub const SCANNED_BATCHES: usize = 4;

/// Maximum number of events that the library's `scan` returns at its end; the others are counted.
/// A damaged archive can cause one per message, and an event takes a few hundred bytes.
pub const SCANNED_EVENTS: usize = 10_000;

/// Number of records that completes an Arrow record batch. Other programs use the same number.
pub const ARROW_BATCH_ROWS: usize = 16 << 10;

/// Bytes of records that complete an Arrow record batch. Its offsets have 32 bits, and a record is
/// much smaller than the 2 GiB that they can address.
pub const ARROW_BATCH_BYTES: usize = 64 << 20;

/// Maximum number of records in a row group of a Parquet file.
pub const PARQUET_GROUP_ROWS: usize = 256 << 10;

/// Memory, in bytes, after which a row group of a Parquet file is written.
pub const PARQUET_GROUP_BYTES: usize = 128 << 20;

/// Maximum memory, in bytes, of all unfinished row groups of a dataset.
pub const DATASET_GROUPS_BYTES: usize = 256 << 20;

/// Maximum number of open files of a dataset. Thirty years of mail have about as many.
pub const DATASET_OPEN_FILES: usize = 40;

/// Maximum number of URLs whose encoded form each thread caches. A mailing list repeats about five
/// URLs in every message.
pub const RECORD_CACHE_ENTRIES: usize = 256;

/// Maximum size, in bytes, of a cached URL. Its encoded form is up to thirty times as large: a
/// path of slashes has one field for each slash.
pub const RECORD_CACHE_ENTRY_BYTES: usize = 1 << 10;

/// Maximum number of milliseconds that an interrupted scan waits for a batch to be written, so
/// that files end with a whole line. Longer than a disk takes, and short enough for a user who
/// pressed Ctrl-C while the reader of a pipe has stopped.
pub const INTERRUPT_WAIT_MS: u64 = 1_000;

/// Maximum number of events about one document.
///
/// Each of its thousands of parts may be damaged, and the first events show the problem.
pub const DOCUMENT_PROBLEMS: usize = 8;

/// Maximum size, in bytes, of a field instruction in Word or RTF. A longer one is truncated. Real
/// instructions contain one link with its title.
pub const FIELD_INSTRUCTION_BYTES: usize = 64 << 10;

/// Maximum size, in bytes, of one string of a PDF. A longer string is skipped: it is not a link.
pub const PDF_STRING_BYTES: usize = 64 << 10;

/// Maximum number of streams of an Outlook message to read. Each requires a walk along its chain
/// of sectors.
///
/// An attachment has five of them.
pub const OUTLOOK_STREAMS: usize = 5_000;

/// Maximum nesting of RTF groups with separate state. Deeper groups share one state.
pub const RTF_GROUPS: usize = 1_000;
