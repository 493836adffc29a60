//! Every bound of the program, each with its unit, its default and the reason for it.
//!
//! Reaching one gives a [`crate::diagnostic::Diagnostic`]; what lies behind it is still scanned flat. Work is counted
//! in bytes and steps, never in seconds, so that output does not depend on the machine.

/// The limits that a run can set, by their names in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a message that are held and read as MIME; the rest of it is scanned flat, in pieces.
    ///
    /// Larger than any message that mail servers accept by default (10 to 64 MB).
    pub message_bytes: usize,
    /// Levels of multipart and message/rfc822. As Dovecot's parser and Postfix's `mime_nesting_limit`.
    pub mime_depth: usize,
    /// Parts of one message. As Dovecot's parser.
    pub mime_parts: usize,
    /// Bytes of one message's header block; what follows is body.
    pub header_bytes: usize,
    /// Bytes of one header field that are kept for a record; all of the field is scanned.
    ///
    /// Every record of a message repeats them, so that a message of `n` bytes could otherwise give `n * n` of output.
    pub field_bytes: usize,
    /// Bytes of a wrapper's content by the wide rules. Real ones are below 2,000; tracking links are longer.
    pub wrapper_bytes: usize,
    /// Bytes of a URL that are kept. The rest gives `truncated`, `full_length` and `full_hash`.
    pub url_bytes: usize,
    /// URLs in one message that are remarked upon. There is no cap.
    pub message_urls: usize,
    /// Levels of redirectors that are undone. Chains of two are common, of three rare.
    pub unwrap_depth: usize,
    /// Compressions and archives one inside the other. Honest ones are `.mbox.gz` in `.tar.gz` in `.zip`: four.
    pub container_depth: usize,
    /// Entries of one archive. A year of a busy news server has fewer.
    pub archive_entries: usize,
    /// Bytes of a member's name that are kept. As `PATH_MAX` of Linux.
    pub member_name_bytes: usize,
    /// Bytes of the window or dictionary that zstd or xz may ask for. `zstd --ultra` alone takes 128 MiB.
    pub window_bytes: usize,
    /// Bytes that may come out for each that goes in, of a source that is compressed itself.
    ///
    /// A repetitive mbox gives 19; zeros give 1,030 in gzip and thousands in others.
    pub unpack_ratio: usize,
    /// Bytes that come out before `unpack_ratio` is looked at.
    pub unpack_ratio_from_bytes: usize,
    /// Bytes that may come out for each that goes in, of what is compressed inside something else.
    pub nested_ratio: usize,
    /// Bytes that come out before `nested_ratio` is looked at.
    pub nested_ratio_from_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            message_bytes: 32 << 20,
            mime_depth: 100,
            mime_parts: 10_000,
            header_bytes: 4 << 20,
            field_bytes: 4 << 10,
            wrapper_bytes: 8 << 10,
            url_bytes: 16 << 10,
            message_urls: 100_000,
            unwrap_depth: 5,
            container_depth: 4,
            archive_entries: 1_000_000,
            member_name_bytes: 4 << 10,
            window_bytes: 128 << 20,
            unpack_ratio: 1_000,
            unpack_ratio_from_bytes: 256 << 20,
            nested_ratio: 100,
            nested_ratio_from_bytes: 16 << 20,
        }
    }
}

/// Bytes between `<` and `>` by the strict rules (`spec/appendix-rules.md` 9).
pub const RFC1738_WRAPPER_BYTES: usize = 2_000;

/// Hyphens before line ends that are left in doubt one by one; with more only all kept and all dropped are read.
pub const AMBIGUOUS_HYPHENS: usize = 4;

/// Characters of a scheme's name. The longest registered one has 36.
pub const SCHEME_CHARS: usize = 40;

/// Bytes looked at before a URL for its line's start. A longer line has no quote marks worth knowing.
pub const LINE_LOOKBACK_BYTES: usize = 1_024;

/// Lines over which a bare URL is followed. Mailers break at about 72 columns, and URLs above 800 are rare.
pub const CONTINUATION_LINES: usize = 12;

/// Bytes of a bare URL that is followed over lines, and of a line's token.
///
/// As long as a wrapper's content by the wide rules. Programs that break lines make them shorter by far.
pub const CONTINUATION_BYTES: usize = 8 << 10;

/// Bytes of a block that is read at once. Large enough to keep a thread busy for milliseconds.
pub const BLOCK_BYTES: usize = 2 << 20;

/// Files below this size are handed to threads in batches, and read there.
pub const SMALL_FILE_BYTES: u64 = 512 << 10;

/// Bytes of small files in one batch.
pub const BATCH_BYTES: u64 = 2 << 20;

/// Small files that are open before a thread reads them, and all else that is open with them. Enough for the batches of
/// three threads; with more of them some files wait to be opened by those who read them.
pub const PREOPENED_FILES: i32 = 4_096;

/// Open files that are left to all else: folders, roots, outputs, and a file for each thread.
pub const RESERVED_DESCRIPTORS: u64 = 64;

/// Roots of the files of one batch: each is open while one of its files waits.
pub const BATCH_ROOTS: usize = 16;

/// Small files in one batch.
pub const BATCH_FILES: usize = 256;

/// Bytes at the start of a source by which its format is recognised.
pub const SNIFF_BYTES: usize = 64 << 10;

/// Bytes that a small compressed file or archive may unpack to where it is read, by one thread among others.
///
/// One that gives more is read anew in blocks, so that what it yields is never held whole. Two blocks' worth: records
/// can be twenty times as large as their text.
pub const SMALL_CONTAINER_BYTES: u64 = 4 << 20;

/// Bytes at the start of a source by which compressions and archives are told: a tar's first header.
pub const MAGIC_BYTES: usize = 512;

/// Bytes of a tar header that tells of the next: names and numbers, a few KiB in real ones.
pub const TAR_EXTENSION_BYTES: u64 = 1 << 20;

/// Bytes at the start of a message that is read in pieces, by which its further pieces know its header and digest.
///
/// Twice what counts of a body, so that an ordinary header fits before it.
pub const MESSAGE_PREFIX_BYTES: usize = 128 << 10;

/// Bytes of a `From ` line and the line behind it that are looked at. RFC 5322 allows 998 in a line.
pub const SEPARATOR_BYTES: usize = 4 << 10;

/// Blocks under way for each thread. Bounds memory; two keep a thread busy while one waits for its turn.
pub const BLOCKS_PER_THREAD: usize = 2;

/// Batches of small files under way for each thread. They are done sooner than blocks: what is under way must last while
/// the thread that walks and writes waits for a core. Bounds memory: where the output is taken slowly, each waits with its
/// records, of [`RECORD_BUFFER_BYTES`] and an eighth at the most.
pub const BATCHES_PER_THREAD: usize = 4;

/// Bytes of blocks under way for each thread. Large messages bound memory by it; a block has a quarter.
pub const BLOCK_BYTES_PER_THREAD: u64 = 8 << 20;

/// Bytes of records that a thread holds before it hands them on, within a message if need be.
///
/// A message of short URLs gives records a hundred times as large as itself.
pub const RECORD_BUFFER_BYTES: usize = 4 << 20;

/// Batches of one unit that wait to be written. One can be filled while another waits.
pub const QUEUED_BATCHES: usize = 1;

/// URLs of which a thread remembers what it wrote. A list names some five in each of its messages.
pub const RECORD_CACHE_ENTRIES: usize = 256;

/// Bytes of a URL that is remembered so, and of what is written of it.
pub const RECORD_CACHE_ENTRY_BYTES: usize = 4 << 10;

/// Newsgroups and references of one message that its records repeat.
pub const REPEATED_NAMES: usize = 100;

/// Bytes of a media type, charset, encoding or name that records repeat. Real ones have less than 80.
pub const NAME_BYTES: usize = 256;

/// Bytes of an element's name. The longest of HTML has ten.
pub const ELEMENT_BYTES: usize = 32;

/// Bytes at the start of a word in which its scheme and host, or its mailbox, must be found.
pub const PREFILTER_BYTES: usize = 640;

/// Times that the bytes of a message may be read for long words that are refused, one beginning inside the other.
///
/// Words without blanks that hold thousands of starts are made to be slow. From then on a word has [`PREFILTER_BYTES`].
pub const REJECTED_WORDS_RATIO: usize = 16;

/// Bytes of long words that may be refused in any message: dozens of starts in the lines of programs and tables.
pub const REJECTED_WORDS_BYTES: usize = 256 << 10;

/// Milliseconds after which the daemon first tries a file again that it could not read. Most troubles are short.
pub const RETRY_FIRST_MS: u64 = 1_000;

/// Milliseconds between two such tries at the most. As often as everything is looked at anyway.
pub const RETRY_MAX_MS: u64 = 300_000;

/// Milliseconds after which a file that could never be read is left alone until it changes: a day.
///
/// A server that is away comes back within a day, and somebody has read the log.
pub const QUARANTINE_MS: u64 = 86_400_000;

/// Files that could not be read and are remembered as such. Bounds memory; more are tried at each look at their spool.
pub const REMEMBERED_FAILURES: usize = 10_000;

/// Files that could not be read and are told by their names. The numbers tell of all.
pub const REPORTED_FAILURES: usize = 20;

/// Days for which the daemon remembers files that are gone, and their messages: as long as backups are restored.
pub const TOMBSTONE_DAYS: u64 = 30;

/// Seconds between two runs of the daemon that count for [`TOMBSTONE_DAYS`], at the most: a day.
///
/// Enough for runs from cron. A clock that was set forward by a year makes nothing be forgotten.
pub const MAX_DOWNTIME_S: u64 = 86_400;

/// Seconds of watching after which their number is written down: an hour, of thirty days.
pub const AGE_SAVE_INTERVAL_S: u64 = 3_600;

/// Copies of sidecars that are kept in the state folder before a snapshot of the state takes their place.
///
/// More than half a day of segments that are sealed each minute.
pub const SIDECAR_COPIES: usize = 1_000;

/// Files of one spool that are surveyed for what is gone; of one with more nothing is forgotten. They take 64 MiB.
pub const SURVEYED_FILES: usize = 4 << 20;

/// Files that are forgotten in one survey; the others follow on the days after. They take a few MiB.
pub const PURGED_PER_SURVEY: usize = 100_000;

/// Threads of the daemon that search messages, at the most: it shares its machine with mail servers.
pub const DAEMON_PARSER_THREADS: usize = 4;

/// Threads of the daemon that read spools, at the most. With more spools than that some share one.
pub const DAEMON_READER_THREADS: usize = 8;

/// Bytes of messages that the daemon searches at once. Their records are a few times as large, and wait together.
pub const PARSE_BATCH_BYTES: usize = 1 << 20;
