//! Limits on the text of a message: its URLs, its broken lines, and the values repeated in its
//! records.

/// Maximum number of bytes between `<` and `>` by the strict rules.
///
/// The appendix of RFC 1738 sets no limit. Without a `>` within these bytes, the `<` is an
/// ordinary character.
pub const RFC1738_WRAPPER_BYTES: usize = 2_000;

/// Number of bytes after a `<` in which a text is not split into blocks before a `>`. Twice the
/// default of `wrapper_bytes`, to allow for line breaks and quote marks.
pub const OPEN_WRAPPER_BYTES: usize = 16 << 10;

/// Maximum number of distinct hosts without a scheme per message that are looked up in it. Each
/// lookup searches the whole message.
pub const HOST_LOOKUPS: usize = 32;

/// Maximum number of URLs read from the query of one URL. Programs that check or share pages write
/// one or two.
pub const QUERY_TARGETS: usize = 8;

/// Maximum number of URLs read from one URL, nested or side by side.
pub const NESTED_TARGETS: usize = 32;

/// Maximum number of hyphens before line ends for which every combination of kept and dropped
/// hyphens is tried.
///
/// The number of combinations doubles with each hyphen. With more hyphens, only two are tried: all
/// kept and all dropped.
pub const AMBIGUOUS_HYPHENS: usize = 4;

/// Maximum number of characters of a foreign value quoted in a message. Messages are read on a
/// terminal, and most URLs are shorter.
pub const MESSAGE_VALUE_CHARS: usize = 200;

/// Maximum number of characters in a scheme's name. The longest registered one has 36.
pub const SCHEME_CHARS: usize = 40;

/// Maximum number of bytes before a URL to search for the start of its line.
///
/// A longer line has no quote marks worth finding.
pub const LINE_LOOKBACK_BYTES: usize = 1_024;

/// Maximum number of bytes before and after a URL to search for more residue of quoted-printable.
///
/// A dozen lines. Encoded text has a soft line break or an escape in one of them.
pub const RESIDUE_SEARCH_BYTES: usize = 1_024;

/// Maximum size, in bytes, of the run of characters in which residue of quoted-printable is
/// decoded.
///
/// An encoded line has at most 76 characters (RFC 2045, section 6.7). Programs that removed the
/// soft line breaks leave URLs of a few KiB. Bounds the work on a word with thousands of URL
/// starts, each of which reads the rest of the word.
pub const RESIDUE_WORD_BYTES: usize = 4 << 10;

/// Maximum number of bytes before and after a URL to search for a link with marks at its soft
/// breaks and its clean copy in angle brackets.
///
/// Mail with such links has them in every paragraph.
pub const COPY_SEARCH_BYTES: usize = 2 << 10;

/// Maximum number of links in angle brackets near a URL to compare with the link before them.
pub const SEARCHED_COPIES: usize = 16;

/// Maximum number of lines that continue a bare URL.
///
/// Mailers break lines at about 72 columns, and URLs longer than 800 bytes are rare.
pub const CONTINUATION_LINES: usize = 12;

/// Maximum number of lines, including blank ones, from which the pieces of a mail gateway's link
/// are put together.
///
/// Links of 400 bytes that two replies broke have twenty pieces.
pub const REWRITTEN_LINK_LINES: usize = 48;

/// Maximum size, in bytes, of a mail gateway's link that is put together from lines.
///
/// Real links have less than 1,000.
pub const REWRITTEN_LINK_BYTES: usize = 4 << 10;

/// Maximum size, in bytes, of a bare URL continued over lines, and of the first token of a line.
///
/// Equal to the default of `Limits::wrapper_bytes`. URLs that programs break over lines are much
/// shorter.
pub const CONTINUATION_BYTES: usize = 8 << 10;

/// Maximum number of newsgroups, of references, and of header fields requested by name that the
/// records of one message repeat.
///
/// Every record of a message repeats them.
pub const REPEATED_NAMES: usize = 100;

/// Maximum number of header field names to repeat in records on request.
///
/// Each field of a header is compared with all of them.
pub const NAMED_FIELDS: usize = 64;

/// Maximum size, in bytes, of a media type, charset, encoding or name repeated in records. Real
/// ones have less than 80.
pub const NAME_BYTES: usize = 256;

/// Number of bytes used to detect the charset of a text without a charset label, starting at its
/// first 8-bit byte.
///
/// Enough for the detector. More would only cost time.
pub const DETECTED_BYTES: usize = 16 << 10;

/// Maximum size, in bytes, of the name of an HTML element. The longest one in HTML has ten.
pub const ELEMENT_BYTES: usize = 32;

/// Number of bytes at the start of a word in which the prefilter looks for its scheme and host, or
/// its mailbox.
///
/// A host has at most 255 bytes (RFC 1035, section 2.3.4), and a scheme at most [`SCHEME_CHARS`].
/// The rest allows for a user name.
pub const PREFILTER_BYTES: usize = 640;

/// Maximum size, in bytes, of the text before a URL, and of the text after it, in its record.
///
/// Pages and searches show a few lines. Neighboring URLs repeat the text between them, so a
/// message of a thousand URLs takes a thousand times this size.
pub const CONTEXT_BYTES: usize = 4 << 10;

/// Number of bytes before a host without a scheme to search for the name of a trace field.
///
/// Servers fold `Received` fields into lines of at most 78 bytes.
pub const TRACE_FIELD_BYTES: usize = 512;

/// Maximum number of lines of a trace field to read before a host without a scheme. Servers write
/// up to five.
pub const TRACE_FIELD_LINES: usize = 6;

/// Maximum number of times that the bytes of a message may be read for long words that are
/// rejected, if one starts inside another.
///
/// Words without spaces that contain thousands of URL starts are crafted to be slow. Once the limit
/// is reached, only [`PREFILTER_BYTES`] of each word are read.
pub const REJECTED_WORDS_RATIO: usize = 4;

/// Number of bytes of long words that may be rejected in a message of any size: dozens of starts
/// in the lines of programs and tables.
pub const REJECTED_WORDS_BYTES: usize = 256 << 10;

/// Number of steps that every message may take, in addition to `Limits::steps_per_byte` for each
/// of its bytes.
///
/// Twice [`REJECTED_WORDS_BYTES`], for the same reason, because a small message may contain a few
/// long words.
pub const MESSAGE_STEPS: u64 = 512 << 10;

/// Maximum number of boundaries to search for in a multipart. Each of several fields may name one.
pub const MULTIPART_BOUNDARIES: usize = 8;

/// Maximum number of media types, and of unknown schemes, that a summary counts by name. Real
/// archives have about a hundred.
pub const COUNTED_TEXTS: usize = 1_000;

/// Maximum size of nested attachments whose decoded bytes are held at the same time, including
/// their offset maps, as a multiple of `Limits::message_bytes`. A deeper attachment is read as one
/// text.
///
/// Two levels of base64 take 1.3 times the size of their message.
pub const ATTACHED_RATIO: usize = 2;

/// Number of bytes at the start of an HTML page to search for the start of a message's body, which
/// identifies pages of mail archives. Headings and links precede it, a few KiB.
pub const ARCHIVED_PAGE_BYTES: usize = 64 << 10;

/// Maximum number of Content-Type fields of one header that are parsed.
pub const CONTENT_TYPE_FIELDS: usize = 8;

/// Maximum number of encoded words to decode in one field. Later ones are kept as they are. Bounds
/// the time for a field of a million words, which nobody reads.
pub const ENCODED_WORDS: usize = 1_000;

/// Maximum size, in bytes, of the offset map of one decoding step. Beyond it, the ranges of URLs
/// still enclose their bytes, but are marked as not exact.
///
/// Enough for four million converted characters.
pub const MAP_BYTES: usize = 8 << 20;

/// Number of bytes of text that share one run of a coarse map.
pub const COARSE_RUN_BYTES: usize = 1 << 10;

/// Maximum size, in bytes, of a page or of a text in a charset other than UTF-8 that is decoded as
/// a whole. A longer one is read in pieces that do not end inside a URL.
///
/// Converted to UTF-8 and without its markup, it takes six times as much memory. Logs and list
/// digests are smaller.
pub const TEXT_BYTES: usize = 4 << 20;

/// Size, in bytes, of the links of a page to hold in memory. If a page has more, they are written
/// before the URLs of its text.
///
/// Enough for thirty thousand links. A few bytes of HTML may contain one.
pub const LINKS_BYTES: usize = 8 << 20;

/// Maximum number of fields of one header; the rest is read as body. Real headers have less than
/// 1,000.
pub const HEADER_FIELDS: usize = 64 << 10;

/// Maximum number of URLs of one message used as evidence for its joins.
///
/// They take 24 bytes each.
pub const MESSAGE_EVIDENCE_URLS: usize = 65_536;

/// Maximum number of distinct URLs of one message whose occurrences are counted. The count is part
/// of record ids. All other URLs share one count of their occurrences so far.
pub const COUNTED_URLS: usize = 256 << 10;
