//! Every limit of the program, each with its unit, its default and the reason for it.
//!
//! Reaching one gives a [`crate::diagnostic::Diagnostic`]; what is beyond it is still scanned as text. Work is limited
//! in bytes and steps, never in seconds, so that the output does not depend on the machine.

/// A limit that a run can set.
#[derive(Debug)]
pub struct Limit {
    /// The name in the configuration's `[limits]` table.
    pub name: &'static str,
    /// The unit of its value.
    pub unit: LimitUnit,
    /// The smallest value that it can have.
    pub min: usize,
    /// The documentation: the first paragraph says what is limited, the second gives the reason.
    pub doc: &'static str,
    /// Returns the value of this limit.
    pub get: fn(&Limits) -> usize,
    /// Sets the value of this limit.
    pub set: fn(&mut Limits, usize),
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// Bytes, written as a size such as `16KiB`.
    Bytes,
    /// A number of things, levels, or bytes for each byte.
    Number,
}

/// Writes each limit that a run can set once; [`Limits`], its defaults and [`Limits::ALL`] are made from it.
macro_rules! limits {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident: $unit:ident, at least $min:literal, default $default:expr;
    )+) => {
        /// The limits that a run can set, by their names in the configuration.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits {
            $( $(#[doc = $doc])+ pub $name: usize, )+
        }

        impl Default for Limits {
            fn default() -> Limits {
                Limits { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// All limits, in the order of the configuration file.
            pub const ALL: &'static [Limit] = &[
                $( Limit {
                    name: stringify!($name),
                    unit: LimitUnit::$unit,
                    min: $min,
                    doc: concat!($($doc, "\n"),+),
                    get: |limits| limits.$name,
                    set: |limits, value| limits.$name = value,
                }, )+
            ];
        }
    };
}

limits! {
    /// Maximum size of a message that is held in memory and parsed as MIME; the rest of it is scanned as text.
    ///
    /// Larger than any message that mail servers accept by default (10 to 64 MB).
    message_bytes: Bytes, at least 1, default 32 << 20;

    /// Maximum nesting of multipart and message/rfc822 parts.
    ///
    /// As Dovecot's parser and Postfix's `mime_nesting_limit`.
    mime_depth: Number, at least 1, default 100;

    /// Maximum number of parts of one message.
    ///
    /// As Dovecot's parser.
    mime_parts: Number, at least 1, default 10_000;

    /// Maximum size of the header of one message; what follows is body.
    header_bytes: Bytes, at least 1, default 4 << 20;

    /// Maximum size of a header field in a record. The whole field is scanned for URLs.
    ///
    /// Every record of a message repeats the fields, so that a message of `n` bytes could otherwise give `n * n` bytes of
    /// output.
    field_bytes: Bytes, at least 1, default 4 << 10;

    /// Maximum size of the text between `<` and `>` by the wide rules.
    ///
    /// Real URLs are below 2,000 bytes; tracking links are longer.
    wrapper_bytes: Bytes, at least 1, default 8 << 10;

    /// Maximum size of a URL in a record. A longer one is cut, and the record has its full length and hash.
    url_bytes: Bytes, at least 1, default 16 << 10;

    /// Number of URLs of one message above which an event is reported. All of them are written.
    message_urls: Number, at least 0, default 100_000;

    /// Maximum number of redirectors, one inside the other, that are undone.
    ///
    /// Chains of two are common, of three rare.
    unwrap_depth: Number, at least 0, default 5;

    /// Maximum nesting of compressed files and archives.
    ///
    /// Real ones are `.mbox.gz` in `.tar.gz` in `.zip`: four.
    container_depth: Number, at least 0, default 4;

    /// Maximum number of entries of one archive.
    ///
    /// A year of a busy news server has fewer.
    archive_entries: Number, at least 0, default 1_000_000;

    /// Maximum size of a member's name; a longer one is cut.
    ///
    /// As `PATH_MAX` of Linux.
    member_name_bytes: Bytes, at least 1, default 4 << 10;

    /// Maximum size of the window or dictionary that a zstd or xz file may ask for.
    ///
    /// `zstd --ultra` alone takes 128 MiB.
    window_bytes: Bytes, at least 0, default 128 << 20;

    /// Maximum number of unpacked bytes for each compressed byte, for every compression. The rest is not read.
    ///
    /// A repetitive mbox gives 19; zeros give 1,030 in gzip and thousands in others.
    unpack_ratio: Number, at least 1, default 1_000;

    /// Number of unpacked bytes up to which `unpack_ratio` is not checked.
    unpack_ratio_from_bytes: Bytes, at least 0, default 256 << 20;

    /// Maximum number of unpacked bytes for each compressed byte of what is inside another container.
    nested_ratio: Number, at least 1, default 100;

    /// Number of unpacked bytes up to which `nested_ratio` is not checked.
    nested_ratio_from_bytes: Bytes, at least 0, default 16 << 20;
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
