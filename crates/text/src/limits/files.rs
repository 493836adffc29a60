//! Limits on files, on the units of work that they are divided into, and on records that wait to be
//! written.

/// Size, in bytes, of the blocks in which a large file is read. Large enough to keep a thread busy
/// for milliseconds.
#[cfg(not(fuzzing))]
pub const BLOCK_BYTES: usize = 2 << 20;
/// Size, in bytes, of the blocks in the fuzz targets, whose inputs are small.
#[cfg(fuzzing)]
pub const BLOCK_BYTES: usize = 16 << 10;

/// Maximum length, in bytes, of a line of a file of evidence. A longer one is no record.
///
/// Records are mostly below 4 KiB; fields of a message can make them longer.
pub const EVIDENCE_LINE_BYTES: u64 = 1 << 20;

/// Size, in bytes, below which a file is small: threads get small files in batches and read them
/// whole.
pub const SMALL_FILE_BYTES: u64 = 512 << 10;

/// Maximum total size, in bytes, of the small files of one batch.
pub const FILE_BATCH_BYTES: u64 = 2 << 20;

/// Maximum number of small files that are opened before a thread reads them, all other open files
/// included.
///
/// Enough for the batches of three threads. With more threads, some files are opened only by the
/// thread that reads them.
pub const PREOPENED_FILES: i32 = 4_096;

/// Number of file descriptors kept free for everything else: folders, roots, outputs, and one file
/// for each thread.
pub const RESERVED_DESCRIPTORS: u64 = 64;

/// Maximum number of distinct roots in one batch. Each root holds a directory descriptor open while
/// one of its files waits.
pub const BATCH_ROOTS: usize = 16;

/// Maximum depth of braces within braces in a pattern for paths. It is that of `fast_glob`, which
/// matches nothing beyond it.
pub const PATTERN_BRACES: usize = 10;

/// Maximum number of small files in one batch.
pub const BATCH_FILES: usize = 256;

/// Maximum number of NUL bytes that are skipped at the start of a stream. It is binary if there are
/// more.
///
/// A stream may have no end: `/dev/zero` is read for about a second. Files have an end, and no such
/// limit.
pub const STREAM_NUL_BYTES: u64 = 4 << 30;

/// Milliseconds for which a pipe or a device must give nothing before the messages in it that have
/// ended are written, without the rest of their block. Programs that write as fast as they can do
/// not pause for so long.
pub const STREAM_PAUSE_MS: i64 = 100;

/// Number of bytes at the start of a source from which its format is recognized.
pub const SNIFF_BYTES: usize = 64 << 10;

/// Maximum size, in bytes, that a small compressed file or archive may unpack to while one thread
/// reads it whole.
///
/// A larger one is read again in blocks, so that its output is never held whole. The limit is two
/// blocks: records can be twenty times as large as their text.
pub const SMALL_CONTAINER_BYTES: u64 = 4 << 20;

/// Number of bytes at the start of a source from which compressions and archives are recognized:
/// the first header of a tar archive.
pub const MAGIC_BYTES: usize = 512;

/// Maximum size, in bytes, of a tar header that describes the next one. Real ones hold names and
/// numbers, a few KiB.
pub const TAR_EXTENSION_BYTES: u64 = 1 << 20;

/// Number of bytes for each byte of a file to which its mail may unpack without a smaller balance for the archives attached to it.
///
/// A repetitive mbox gives 19, and containers around it unpack to little more than their size. Ratios multiply: mail of a file that
/// unpacks to a thousand times its size could otherwise have attachments that unpack to a hundred times theirs.
pub const ORDINARY_UNPACK_RATIO: u64 = 32;

/// Number of bytes that beginning a compressed stream or frame, or the entry of an archive, counts as, besides those that it unpacks
/// to.
///
/// It takes 0.1 to 4 microseconds, in which a thousand bytes and more are unpacked. Without it millions of empty ones would be free.
pub const STREAM_BYTES: u64 = 2 << 10;

/// Number of bytes that beginning a stream of bzip2 counts as, besides those that it unpacks to.
///
/// Its decoder clears 3.6 MB of memory, for 0.04 to 0.2 ms. An ordinary stream unpacks to 900 kB.
pub const BZIP2_STREAM_BYTES: u64 = 100 << 10;

/// Maximum size, in bytes, of the line before an object in a stream of git objects. The name in a
/// line about a missing object can be a path, at most `PATH_MAX` of Linux.
pub const GIT_LINE_BYTES: usize = 4 << 10;

/// Size, in bytes, of the memory that a `git` process may allocate. Besides one blob and what it is
/// made from it holds the commits of a branch, some two hundred bytes each.
pub const GIT_MEMORY_BYTES: u64 = 2 << 30;

/// Maximum size, in bytes, of the list of a repository's root by which its layout is recognized.
/// That of a mailing list has at most 256 entries.
pub const GIT_ROOT_BYTES: usize = 64 << 10;

/// Maximum number of commits, in version 1 of public-inbox of files that commits add and delete, of
/// one repository that are read.
///
/// The largest lists have a few million messages. Trees inside each other can have more files in a
/// few KiB than can ever be read.
pub const GIT_CHANGES: u64 = 20_000_000;

/// Number of bytes of names that wait between two `git` processes, besides those in their pipes.
pub const GIT_PIPE_BYTES: usize = 64 << 10;

/// Maximum number of bytes that are kept of what a `git` process says on standard error.
pub const GIT_MESSAGE_BYTES: usize = 4 << 10;

/// Number of bytes at the start of a message read in pieces that are kept for the later pieces,
/// which need its header and digest.
///
/// Twice the number of body bytes that the digest of such a message covers, so that an ordinary
/// header fits before them.
pub const MESSAGE_PREFIX_BYTES: usize = 128 << 10;

/// Maximum number of bytes of a `From ` line and the line after it that are examined. RFC 5322
/// allows 998 in a line.
pub const SEPARATOR_BYTES: usize = 4 << 10;

/// Maximum number of unfinished blocks per thread. Bounds memory; with two, a thread stays busy
/// while one block waits for its turn to be written.
pub const BLOCKS_PER_THREAD: usize = 2;

/// Maximum number of unfinished batches of small files per thread.
///
/// Batches finish sooner than blocks, and there must be enough of them while the thread that walks
/// and writes waits for a core. Bounds memory: if the output is slow, each waits with its records,
/// at most 9/8 of [`RECORD_BUFFER_BYTES`].
pub const BATCHES_PER_THREAD: usize = 4;

/// Maximum size, in bytes, of all unfinished blocks per thread. Bounds memory if messages are
/// large; an ordinary block has half of it.
pub const BLOCK_BYTES_PER_THREAD: u64 = 4 << 20;

/// Number of bytes of a message, or of what an attachment unpacks to, from which on it is large: a
/// thread does not read it before everything before it is written, so that at most one is read at a
/// time. It takes a few times as much memory.
pub const LARGE_MESSAGE_BYTES: usize = 2 << 20;

/// Size, in bytes, of the records that a thread holds before it hands them to the writer, within a
/// message if necessary.
///
/// A message of short URLs gives records a hundred times as large as itself.
pub const RECORD_BUFFER_BYTES: usize = 1 << 20;

/// The same for the records of one message whose occurrences are counted (`--unique`): those that
/// were handed in tell only how often their URLs occurred so far.
pub const COUNTED_RECORDS_BYTES: usize = 4 << 20;

/// Maximum number of batches of records from one unit of work that wait to be written. One can be
/// filled while another waits.
pub const QUEUED_BATCHES: usize = 1;

/// Maximum number of batches that wait between a scan and the reader of its records, in the
/// library's `scan`. A batch holds [`RECORD_BUFFER_BYTES`] or a little more, and twice as much at
/// most.
pub const SCANNED_BATCHES: usize = 4;

/// Maximum number of events that the library's `scan` returns at its end; the others are counted. A
/// damaged archive can have one for each of its messages, and an event takes a few hundred bytes.
pub const SCANNED_EVENTS: usize = 10_000;

/// Number of records in an Arrow record batch, at which it is complete. As many as other programs
/// put into theirs.
pub const ARROW_BATCH_ROWS: usize = 16 << 10;

/// Bytes of records in an Arrow record batch, at which it is complete. Its offsets are 32 bits
/// wide, and a record is far smaller than the 2 GiB that they can count.
pub const ARROW_BATCH_BYTES: usize = 64 << 20;

/// Maximum number of records in a row group of a Parquet file.
pub const PARQUET_GROUP_ROWS: usize = 256 << 10;

/// Memory, in bytes, at which a row group of a Parquet file is written.
pub const PARQUET_GROUP_BYTES: usize = 128 << 20;

/// Maximum memory, in bytes, of all row groups of a dataset that are being filled.
pub const DATASET_GROUPS_BYTES: usize = 256 << 20;

/// Maximum number of files of a dataset that are open at a time. Mail of thirty years has about as
/// many.
pub const DATASET_OPEN_FILES: usize = 40;

/// Maximum number of URLs whose encoded form each thread caches. A mailing list repeats about five
/// URLs in every message.
pub const RECORD_CACHE_ENTRIES: usize = 256;

/// Maximum size, in bytes, of a cached URL. Its encoded form has up to thirty times as many: a
/// path of slashes has a field for each.
pub const RECORD_CACHE_ENTRY_BYTES: usize = 1 << 10;

/// Maximum number of milliseconds that an interrupted scan waits for a batch to be written, so that
/// files end with a whole line: longer than a disk takes, and short enough for who pressed Ctrl-C
/// while the reader of a pipe has stopped.
pub const INTERRUPT_WAIT_MS: u64 = 1_000;

/// Maximum number of events about one document.
///
/// Each of its thousands of parts may be damaged, and the first events show what is wrong.
pub const DOCUMENT_PROBLEMS: usize = 8;

/// Maximum size, in bytes, of the instruction of a field in Word or RTF. A longer one is cut. Real ones hold one link with its title.
pub const FIELD_INSTRUCTION_BYTES: usize = 64 << 10;

/// Maximum size, in bytes, of one string of a PDF that is read. A longer one is skipped: it is no link.
pub const PDF_STRING_BYTES: usize = 64 << 10;

/// Maximum number of streams of a message of Outlook that are read. Each costs a walk along its chain of sectors.
///
/// An attachment has five of them.
pub const OUTLOOK_STREAMS: usize = 5_000;

/// Maximum nesting of the groups of an RTF whose state is kept. Deeper ones share one state.
pub const RTF_GROUPS: usize = 1_000;
