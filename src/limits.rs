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
    ///
    /// The longest real ones list thousands of addresses, a few hundred KiB.
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
    ///
    /// Browsers and servers take 2 to 8 KiB; longer ones hold data.
    url_bytes: Bytes, at least 1, default 16 << 10;

    /// Number of URLs of one message above which an event is reported. All of them are written.
    ///
    /// A digest of links has hundreds, a list of sites thousands.
    message_urls: Number, at least 0, default 100_000;

    /// Maximum number of steps for each byte of a message, besides those that any message may take. Beyond it only the
    /// beginnings of bare words are read; wrappers, relative links and redirectors are not undone.
    ///
    /// A step is one byte, after the first [`PREFILTER_BYTES`], of a word or wrapper that is read, or of a URL that is
    /// resolved, unwrapped or written. Ordinary mail takes less than one for each byte; a page of short links that a long
    /// `<base>` resolves takes thousands.
    steps_per_byte: Number, at least 1, default 64;

    /// Maximum number of redirectors, one inside the other, that are undone.
    ///
    /// Chains of two are common, of three rare.
    unwrap_depth: Number, at least 0, default 5;

    /// Maximum nesting of compressed files and archives. A deeper one is not read.
    ///
    /// Real ones are `.mbox.gz` in `.tar.gz` in `.zip`: four.
    container_depth: Number, at least 0, default 4;

    /// Maximum number of entries of one tar or zip. The rest is not read.
    ///
    /// A year of a busy news server has fewer.
    archive_entries: Number, at least 0, default 1_000_000;

    /// Maximum size of a member's name; a longer one is cut.
    ///
    /// As `PATH_MAX` of Linux.
    member_name_bytes: Bytes, at least 1, default 4 << 10;

    /// Maximum size of the window or dictionary that a zstd or xz file may ask for. A file that asks for more is not read.
    ///
    /// `zstd --ultra` alone takes 128 MiB.
    window_bytes: Bytes, at least 0, default 128 << 20;

    /// Maximum number of unpacked bytes for each compressed byte, for every compression. The rest is not read.
    ///
    /// A repetitive mbox gives 19; zeros give 1,030 in gzip and thousands in others.
    unpack_ratio: Number, at least 1, default 1_000;

    /// Number of unpacked bytes up to which `unpack_ratio` is not checked.
    ///
    /// They are read in a second; an honest archive may begin with a run of zeros.
    unpack_ratio_from_bytes: Bytes, at least 0, default 256 << 20;

    /// Maximum number of unpacked bytes for each compressed byte of what is inside another container. The rest is not read.
    ///
    /// Ratios multiply: two levels at this one are as much as one level at ten times `unpack_ratio`.
    nested_ratio: Number, at least 1, default 100;

    /// Number of unpacked bytes up to which `nested_ratio` is not checked.
    ///
    /// Small members of one repeated line compress to almost nothing.
    nested_ratio_from_bytes: Bytes, at least 0, default 16 << 20;
}

/// Maximum number of bytes between `<` and `>` by the strict rules.
///
/// The appendix of RFC 1738 gives no limit. Without a `>` within these bytes the `<` is an ordinary character.
pub const RFC1738_WRAPPER_BYTES: usize = 2_000;

/// Maximum number of hyphens before line ends for which every combination of kept and dropped hyphens is tried.
///
/// The number of combinations doubles with each hyphen. With more hyphens only two are tried: all kept and all dropped.
pub const AMBIGUOUS_HYPHENS: usize = 4;

/// Maximum number of characters in the name of a scheme. The longest registered one has 36.
pub const SCHEME_CHARS: usize = 40;

/// Maximum number of bytes before a URL that are searched for the start of its line.
///
/// A longer line has no quote marks worth finding.
pub const LINE_LOOKBACK_BYTES: usize = 1_024;

/// Maximum number of bytes before and after a URL that are searched for more residue of quoted-printable.
///
/// A dozen lines: a text that was encoded has a soft line break or an escape in one of them.
pub const RESIDUE_SEARCH_BYTES: usize = 1_024;

/// Maximum size, in bytes, of the run of characters in which residue of quoted-printable is decoded.
///
/// An encoded line has at most 76 characters (RFC 2045, section 6.7). Programs that removed the soft line breaks leave URLs of
/// a few KiB. Bounds the work on a word that holds thousands of URL starts, each of which reads the rest of it.
pub const RESIDUE_WORD_BYTES: usize = 4 << 10;

/// Maximum number of lines by which a bare URL is continued.
///
/// Mailers break lines at about 72 columns, and URLs above 800 bytes are rare.
pub const CONTINUATION_LINES: usize = 12;

/// Maximum size, in bytes, of a bare URL that is continued over lines, and of the first token of a line.
///
/// As large as the default of [`Limits::wrapper_bytes`]. URLs that programs break over lines are far shorter.
pub const CONTINUATION_BYTES: usize = 8 << 10;

/// Size, in bytes, of the blocks in which a large file is read. Large enough to keep a thread busy for milliseconds.
#[cfg(not(fuzzing))]
pub const BLOCK_BYTES: usize = 2 << 20;
/// Size, in bytes, of the blocks in the fuzz targets, whose inputs are small.
#[cfg(fuzzing)]
pub const BLOCK_BYTES: usize = 16 << 10;

/// Size, in bytes, below which a file is small: threads get small files in batches and read them whole.
pub const SMALL_FILE_BYTES: u64 = 512 << 10;

/// Maximum total size, in bytes, of the small files of one batch.
pub const BATCH_BYTES: u64 = 2 << 20;

/// Maximum number of small files that are opened before a thread reads them, all other open files included.
///
/// Enough for the batches of three threads. With more threads, some files are opened only by the thread that reads them.
pub const PREOPENED_FILES: i32 = 4_096;

/// Number of file descriptors kept free for everything else: folders, roots, outputs, and one file for each thread.
pub const RESERVED_DESCRIPTORS: u64 = 64;

/// Maximum number of distinct roots in one batch. Each root holds a directory descriptor open while one of its files
/// waits.
pub const BATCH_ROOTS: usize = 16;

/// Maximum number of small files in one batch.
pub const BATCH_FILES: usize = 256;

/// Number of bytes at the start of a source from which its format is recognized.
pub const SNIFF_BYTES: usize = 64 << 10;

/// Maximum size, in bytes, that a small compressed file or archive may unpack to while one thread reads it whole.
///
/// A larger one is read again in blocks, so that its output is never held whole. The limit is two blocks: records can be
/// twenty times as large as their text.
pub const SMALL_CONTAINER_BYTES: u64 = 4 << 20;

/// Number of bytes at the start of a source from which compressions and archives are recognized: the first header of a
/// tar archive.
pub const MAGIC_BYTES: usize = 512;

/// Maximum size, in bytes, of a tar header that describes the next one. Real ones hold names and numbers, a few KiB.
pub const TAR_EXTENSION_BYTES: u64 = 1 << 20;

/// Maximum size, in bytes, of the line before an object in a stream of git objects. The name in a line about a missing object
/// can be a path, at most `PATH_MAX` of Linux.
pub const GIT_LINE_BYTES: usize = 4 << 10;

/// Number of bytes at the start of a message read in pieces that are kept for the later pieces, which need its header and
/// digest.
///
/// Twice the number of body bytes that the digest covers, so that an ordinary header fits before them.
pub const MESSAGE_PREFIX_BYTES: usize = 128 << 10;

/// Maximum number of bytes of a `From ` line and the line after it that are examined. RFC 5322 allows 998 in a line.
pub const SEPARATOR_BYTES: usize = 4 << 10;

/// Maximum number of unfinished blocks per thread. Bounds memory; with two, a thread stays busy while one block waits for
/// its turn to be written.
pub const BLOCKS_PER_THREAD: usize = 2;

/// Maximum number of unfinished batches of small files per thread.
///
/// Batches finish sooner than blocks, and there must be enough of them while the thread that walks and writes waits for a
/// core. Bounds memory: if the output is slow, each waits with its records, at most 9/8 of [`RECORD_BUFFER_BYTES`].
pub const BATCHES_PER_THREAD: usize = 4;

/// Maximum size, in bytes, of all unfinished blocks per thread. Bounds memory if messages are large; an ordinary block
/// has a quarter of it.
pub const BLOCK_BYTES_PER_THREAD: u64 = 8 << 20;

/// Size, in bytes, of the records that a thread holds before it hands them to the writer, within a message if necessary.
///
/// A message of short URLs gives records a hundred times as large as itself.
pub const RECORD_BUFFER_BYTES: usize = 4 << 20;

/// Maximum number of batches of records from one unit of work that wait to be written. One can be filled while another
/// waits.
pub const QUEUED_BATCHES: usize = 1;

/// Maximum number of batches that wait between a scan and the reader of its records, in the library's `scan`. A batch holds
/// [`RECORD_BUFFER_BYTES`] or a little more, and twice as much at most.
pub const SCANNED_BATCHES: usize = 4;

/// Maximum number of events that the library's `scan` returns at its end; the others are counted. A damaged archive can
/// have one for each of its messages, and an event takes a few hundred bytes.
pub const SCANNED_EVENTS: usize = 10_000;

/// Number of records in an Arrow record batch, at which it is complete. As many as other programs put into theirs.
pub const ARROW_BATCH_ROWS: usize = 16 << 10;

/// Bytes of lines in an Arrow record batch, at which it is complete. Its offsets are 32 bits wide, and a line is far
/// shorter than the 2 GiB that they can count.
pub const ARROW_BATCH_BYTES: usize = 64 << 20;

/// Maximum number of records in a row group of a Parquet file.
pub const PARQUET_GROUP_ROWS: usize = 256 << 10;

/// Memory, in bytes, at which a row group of a Parquet file is written.
pub const PARQUET_GROUP_BYTES: usize = 128 << 20;

/// Maximum memory, in bytes, of all row groups of a dataset that are being filled.
pub const DATASET_GROUPS_BYTES: usize = 256 << 20;

/// Maximum number of files of a dataset that are open at a time. Mail of thirty years has about as many.
pub const DATASET_OPEN_FILES: usize = 40;

/// Maximum number of URLs whose encoded form each thread caches. A mailing list repeats about five URLs in every message.
pub const RECORD_CACHE_ENTRIES: usize = 256;

/// Maximum size, in bytes, of a cached URL, and of its encoded form.
pub const RECORD_CACHE_ENTRY_BYTES: usize = 4 << 10;

/// Maximum number of newsgroups, and of references, of one message that its records repeat.
///
/// Every record of a message repeats them.
pub const REPEATED_NAMES: usize = 100;

/// Maximum size, in bytes, of a media type, charset, encoding or name that records repeat. Real ones have less than 80.
pub const NAME_BYTES: usize = 256;

/// Number of bytes of a text without a charset label, from the first 8-bit byte on, from which its charset is detected.
///
/// Enough for the detector; more would only cost time.
pub const DETECTED_BYTES: usize = 16 << 10;

/// Maximum size, in bytes, of the name of an HTML element. The longest one of HTML has ten.
pub const ELEMENT_BYTES: usize = 32;

/// Number of bytes at the start of a word in which the prefilter looks for its scheme and host, or its mailbox.
///
/// A host has at most 255 bytes (RFC 1035, section 2.3.4), a scheme at most [`SCHEME_CHARS`]; the rest is room for a user
/// name.
pub const PREFILTER_BYTES: usize = 640;

/// Number of bytes before a host without a scheme that are searched for the name of a trace field.
///
/// Servers fold `Received` fields into lines of at most 78 bytes.
pub const TRACE_FIELD_BYTES: usize = 512;

/// Maximum number of lines of a trace field that are read before a host without a scheme. Servers write up to five.
pub const TRACE_FIELD_LINES: usize = 6;

/// Maximum number of times that the bytes of a message may be read for long words that are rejected, when one begins
/// inside the other.
///
/// Words without blanks that contain thousands of URL starts are made to be slow. Once the limit is reached, only
/// [`PREFILTER_BYTES`] of each word are read.
pub const REJECTED_WORDS_RATIO: usize = 4;

/// Number of bytes of long words that may be rejected in any message, whatever its size: dozens of starts in the lines of
/// programs and tables.
pub const REJECTED_WORDS_BYTES: usize = 256 << 10;

/// Number of steps that any message may take, besides [`Limits::steps_per_byte`] for each of its bytes.
///
/// As for [`REJECTED_WORDS_BYTES`], and as much again: a small message may hold a few long words.
pub const MESSAGE_STEPS: u64 = 512 << 10;

/// Milliseconds after which the daemon first retries a file that it could not read. Most errors are short-lived.
pub const RETRY_FIRST_MS: u64 = 1_000;

/// Maximum number of milliseconds between two retries. As often as every file is rescanned anyway.
pub const RETRY_MAX_MS: u64 = 300_000;

/// Milliseconds after which a file that could never be read is skipped until it changes: one day.
///
/// Within a day a server that is away comes back, and somebody has read the log.
pub const QUARANTINE_MS: u64 = 86_400_000;

/// Maximum number of unreadable files whose retries are scheduled. Bounds memory; further ones are tried at each rescan of
/// their spool.
pub const REMEMBERED_FAILURES: usize = 10_000;

/// Maximum number of unreadable files that are reported by name. The counts include all of them.
pub const REPORTED_FAILURES: usize = 20;

/// Days for which the daemon keeps the state of deleted files and of their messages: as long as backups are restored.
pub const TOMBSTONE_DAYS: u64 = 30;

/// Maximum number of seconds between two runs of the daemon that count towards [`TOMBSTONE_DAYS`]: one day.
///
/// Enough for runs from cron. A clock that is set forward by a year causes no state to be purged.
pub const MAX_DOWNTIME_S: u64 = 86_400;

/// Seconds of watching after which the daemon saves how long it has watched: one hour, of thirty days.
pub const AGE_SAVE_INTERVAL_S: u64 = 3_600;

/// Milliseconds for which a message must be missing before the daemon reports it as gone, if the configuration does not set
/// them.
///
/// Programs that move a message write the copy before they remove the original. But a client of NFS may cache the list of a
/// folder for a minute (`acdirmax`), and so see the removal before the copy.
pub const GONE_AFTER_MS: u64 = 60_000;

/// Maximum number of files of a spool that are missing and whose messages are not yet reported as gone. They take 64 MiB of
/// memory. Further ones wait until these are reported.
pub const MISSING_FILES: usize = 1 << 20;

/// Maximum number of copies of sidecars in the state folder before a snapshot of the state replaces them.
///
/// More than half a day of segments that are sealed every minute.
pub const SIDECAR_COPIES: usize = 1_000;

/// Maximum number of files of a spool that are surveyed for deleted ones. They take 64 MiB of memory. Of a larger spool no
/// state is purged.
pub const SURVEYED_FILES: usize = 4 << 20;

/// Maximum number of files whose state is purged by one survey. The rest follow on the next days. They take a few MiB of
/// memory.
pub const PURGED_PER_SURVEY: usize = 100_000;

/// Maximum number of daemon threads that parse messages: the daemon shares its machine with mail servers.
pub const DAEMON_PARSER_THREADS: usize = 4;

/// Maximum number of daemon threads that read spools. With more spools than that, some share a thread.
pub const DAEMON_READER_THREADS: usize = 8;

/// Maximum number of reader threads of earlier configurations that have not ended, each because its file system does not
/// answer. With so many, a new configuration waits until one has ended.
pub const RETIRED_READER_THREADS: usize = 4 * DAEMON_READER_THREADS;

/// Maximum total size, in bytes, of the messages that the daemon parses at the same time. Their records are a few times as
/// large and wait together.
pub const PARSE_BATCH_BYTES: usize = 1 << 20;

/// Maximum number of milliseconds that an interrupted scan waits for a batch to be written, so that files end with a whole line:
/// longer than a disk takes, and short enough for who pressed Ctrl-C while the reader of a pipe has stopped.
pub const INTERRUPT_WAIT_MS: u64 = 1_000;

/// Number of rows after which a load commits. A segment is one transaction, however long it is.
///
/// A commit costs a sync; a batch of this size takes about a second.
pub const LOAD_BATCH_ROWS: usize = 50_000;

/// Time, in seconds, after which a batch is committed although it is small, and for which a load waits for a line before it commits.
///
/// While a batch is open no other program can write to the database, and many wait for five seconds.
pub const LOAD_BATCH_SECONDS: u64 = 2;

/// Maximum size, in bytes, of a line that is loaded. A record repeats a URL of [`Limits::url_bytes`] less than twenty times.
pub const LOAD_LINE_BYTES: usize = 16 << 20;

/// Size, in bytes, of the lines that the thread which parses hands over at once; a longer line is handed over alone.
pub const LOAD_PARSED_BYTES: u64 = 256 << 10;

/// Number of batches of [`LOAD_PARSED_BYTES`] that are parsed before the rows of the one before are written.
pub const LOAD_PARSED_BATCHES: usize = 4;

/// Number of links whose numbers are held in memory before they are written to the database.
pub const LOAD_PENDING_LINKS: usize = 100_000;

/// Size, in bytes, of the rows that are sent to a server at once.
pub const LOAD_STAGED_BYTES: usize = 16 << 20;

/// Memory, in KiB, for pages of the database of a load. The index of the keys is read at random places.
pub const LOAD_CACHE_KIB: u32 = 128 << 10;

/// Time, in seconds, for which a load waits for another program that is writing to the database.
pub const LOAD_LOCK_SECONDS: u64 = 60;

/// Size, in bytes, of the lines in one request of `_bulk`, before compression; a longer line is sent alone. Servers accept
/// 100 MiB by default, and recommend 5 to 15.
pub const LOAD_BULK_BYTES: usize = 8 << 20;

/// Number of messages that are gone and whose removal from an index may wait for others. A server accepts 65,536 terms a query.
pub const LOAD_PENDING_GONE: usize = 10_000;

/// Number of mailboxes in one request that removes messages. A server accepts 1,024 clauses a query.
pub const LOAD_QUERY_MAILBOXES: usize = 500;

/// Size, in bytes, of an answer of a server: that to a request of [`LOAD_BULK_BYTES`] whose items are all refused is smaller.
pub const LOAD_REPLY_BYTES: u64 = 64 << 20;

/// Time, in seconds, for an answer of a server.
pub const LOAD_REPLY_SECONDS: u64 = 60;

/// Number of attempts to have a server accept a request or an item, without progress, before it counts as away.
pub const LOAD_ATTEMPTS: u32 = 6;

/// Time, in milliseconds, after which a request is repeated the first time. It doubles each time.
pub const LOAD_BACKOFF_MS: u64 = 100;

/// Longest time, in seconds, for which a server can ask to wait by `Retry-After`.
pub const LOAD_RETRY_AFTER_SECONDS: u64 = 30;

/// Time, in seconds, after which a loader that is silent has lost the lock of an index: longer than [`LOAD_REPLY_SECONDS`] and
/// [`LOAD_RENEW_SECONDS`] together, so that it does not lose the lock while it waits for an answer.
pub const LOAD_LEASE_SECONDS: u64 = 90;

/// Age, in seconds, at which a loader renews its lock of an index before the next request.
pub const LOAD_RENEW_SECONDS: u64 = 20;

/// Time, in seconds, for which a load waits for the lock of an index: longer than [`LOAD_LEASE_SECONDS`], so that a load that
/// was killed can be repeated.
pub const LOAD_INDEX_LOCK_SECONDS: u64 = 120;

/// Interval, in milliseconds, at which a load that waits looks at the lock of an index.
pub const LOAD_INDEX_POLL_MS: u64 = 500;

/// Interval, in milliseconds, at which `load --follow` lists the folder of segments.
pub const LOAD_FOLLOW_MS: u64 = 1_000;

/// Interval, in milliseconds, at which `load --follow` tries to reach a server again.
pub const LOAD_RETRY_MS: u64 = 5_000;

/// Memory, in KiB, for pages of the database of an audit. 600,000 links are planned in less than 256 MiB with it.
pub const AUDIT_CACHE_KIB: u32 = 64 << 10;

/// Number of links that are given to the link checker at once, and stored in one transaction.
///
/// After an interruption at most so many links are checked again.
pub const AUDIT_BATCH_LINKS: usize = 500;

/// Maximum size, in bytes, of the link checker's answers for one batch. An answer repeats its URLs about four times.
pub const AUDIT_ANSWER_BYTES: u64 = 256 << 20;

/// Bytes of the link checker's messages that are kept, to report the first.
pub const AUDIT_CHECKER_MESSAGE_BYTES: u64 = 64 << 10;

/// Interval, in milliseconds, at which the end of the link checker, and an interruption, are noticed.
pub const AUDIT_POLL_MS: u64 = 20;

/// Maximum size, in bytes, of the head of a request or answer that passes the proxy of the link checker.
pub const AUDIT_HEAD_BYTES: usize = 256 << 10;

/// Bytes of one connection that pass the proxy of the link checker, in each direction. A status comes before the page.
pub const AUDIT_CONNECTION_BYTES: u64 = 16 << 20;

/// Time, in seconds, in which the proxy of the link checker must reach a host. The checker's own limit is 20 seconds.
pub const AUDIT_CONNECT_SECONDS: u64 = 18;

/// Time, in seconds, after which the proxy of the link checker closes an idle connection.
pub const AUDIT_IDLE_SECONDS: u64 = 120;

/// Maximum size, in bytes, of a file of results that is imported. It is read as a whole, and a result takes about 200 bytes.
pub const AUDIT_IMPORT_BYTES: u64 = 1 << 30;

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

/// Maximum number of rounds in which survival is estimated. Lifetimes of thirty years and twelve checks need a third of
/// them, and a round takes less than a millisecond.
pub const SURVIVAL_ROUNDS: u32 = 4_000;

/// Number of dead links, the most cited ones, that a report shows with their citations. The CSV files have all.
pub const REPORT_DEAD_LINKS: usize = 100;

/// Maximum number of citations that a report shows of a link.
pub const REPORT_CITATIONS: usize = 5;

/// Maximum number of rows of a table of hosts, domains or lists in a report. The CSV files have all.
pub const REPORT_GROUPS: usize = 100;

/// Maximum number of characters of a text of others in a report. The CSV files have it whole.
pub const REPORT_TEXT_CHARS: usize = 300;
