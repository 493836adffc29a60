//! Diagnostics: problems in the input, as values that can be written as events. Also the reasons
//! for skipping an input or filtering a URL, and text that is safe to print to terminals and logs.

use std::borrow::Cow;

use crate::origin::Source;

named_enum! {
    /// The kind of a diagnostic. A new variant requires a new version of the event format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum DiagnosticKind {
        /// A limit was reached. The input beyond it was scanned as text, without its structure.
        Limit = "limit",
        /// The input is damaged or truncated. The readable part was read.
        Damage = "damage",
        /// An input was skipped on purpose.
        Skip = "skip",
        /// The input breaks the rules of its format, or can be interpreted in two ways. All of it
        /// was read.
        Ambiguous = "ambiguous",
        /// An input could not be read because of permissions or an I/O error.
        Unreadable = "unreadable",
        /// A file disappeared while it was read, or between two scans.
        Vanished = "vanished",
        /// The program or a library panicked. Only one message is affected.
        Panic = "panic",
    }
}

impl DiagnosticKind {
    /// Returns `true` if an input failed. The run then ends with exit status 1.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            DiagnosticKind::Damage | DiagnosticKind::Unreadable | DiagnosticKind::Panic
        )
    }
}

/// A problem in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind.
    pub kind: DiagnosticKind,
    /// The offset in raw bytes from the start of the source; `None` if the problem concerns the
    /// whole source.
    pub offset: Option<u64>,
    /// The message, without source and offset.
    pub message: String,
}

impl Diagnostic {
    /// Returns a diagnostic about a whole source.
    #[must_use]
    pub fn new(kind: DiagnosticKind, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind,
            offset: None,
            message: message.into(),
        }
    }

    /// Returns a diagnostic about a byte offset in a source.
    #[must_use]
    pub fn at(kind: DiagnosticKind, offset: u64, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind,
            offset: Some(offset),
            message: message.into(),
        }
    }

    /// Returns an event for this diagnostic in `source`.
    #[must_use]
    pub fn of(self, source: &Source) -> Event {
        Event {
            source: source.clone(),
            diagnostic: self,
        }
    }
}

/// A diagnostic and the source it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source.
    pub source: Source,
    /// The diagnostic.
    pub diagnostic: Diagnostic,
}

/// Escapes control characters, including line feeds, and characters that change the writing
/// direction.
///
/// The result is a single line and cannot look like two.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_dangerous(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns the first `max_chars` characters of a text, with an ellipsis if there are more.
#[must_use]
pub fn shortened(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}\u{2026}", &text[..end])),
    }
}

/// Returns the first and last characters of a text, with an ellipsis between them if the text has
/// more than `max_chars` characters. Parser errors start with the quoted value and end with its
/// line.
#[must_use]
pub fn shortened_inside(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.char_indices().nth(max_chars).is_none() {
        return Cow::Borrowed(text);
    }
    let tail = max_chars / 2;
    let start = text.char_indices().nth_back(tail);
    // The character dropped before the tail always exists, because there are more than
    // `max_chars`.
    let end = start.map_or("", |(at, c)| &text[at + c.len_utf8()..]);
    Cow::Owned(format!("{}{end}", shortened(text, max_chars - tail)))
}

/// Form of the escapes in lines for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeForm {
    /// `\u001b`, which has the same meaning in JSON and TOML.
    Json,
    /// `\u{1b}`, and `\x9b` for a byte that is not UTF-8.
    Text,
}

/// Escapes the characters of whole lines that [`printable`] escapes, except line feeds and tabs.
///
/// Linear in the length of the lines. Returns the input without a copy if it needs no escapes.
#[must_use]
pub fn printable_lines(lines: &[u8], form: EscapeForm) -> Cow<'_, [u8]> {
    if lines
        .iter()
        .all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'))
    {
        return Cow::Borrowed(lines);
    }
    let mut shown = String::with_capacity(lines.len());
    for chunk in lines.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\n' || c == '\t' || !is_dangerous(c) {
                shown.push(c);
            } else {
                push_escape(c, form, &mut shown);
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(shown.into_bytes())
}

/// Returns a number with its noun: `1 URL`, `2,000 URLs`.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", grouped(count))
}

/// Returns a number with a comma after each group of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Appends the escape of a character. No escaped character needs more than four digits.
fn push_escape(c: char, form: EscapeForm, shown: &mut String) {
    match form {
        EscapeForm::Json => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
        EscapeForm::Text => shown.extend(c.escape_unicode()),
    }
}

fn is_dangerous(c: char) -> bool {
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    let turns = matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}')
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || ends_line || turns
}

named_enum! {
    /// Reason why an input is skipped although reading it did not fail. The set is closed, except
    /// for formats added later.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SkipReason {
        /// An input without bytes.
        Empty = "empty",
        /// Bytes that are neither text nor a known format.
        Binary = "binary",
        /// An input excluded by the user's patterns.
        Filtered = "filtered",
        /// A file with a mail or news program's own data.
        ControlFile = "control-file",
        /// A file that this run writes; in a spool of the daemon, any output of urlspool.
        OwnOutput = "own-output",
        /// A file in a folder, written by an earlier run of urlspool: records, events, a table.
        EarlierOutput = "earlier-output",
        /// Another name of a file that is read under its first name.
        HardLink = "hard-link",
        /// A symbolic link that is not followed.
        Symlink = "symlink",
        /// Neither a regular file nor a folder, or no longer what it was when it was listed.
        NotRegular = "not-regular",
        /// A block or character device in an archive.
        Device = "device",
        /// A named pipe in an archive.
        Fifo = "fifo",
        /// A tar member that contains only pieces of a larger file.
        Sparse = "sparse",
        /// A message in `tmp` of a Maildir, or one elsewhere in it whose name starts with a dot.
        /// It may be incomplete (maildir(5)).
        MaildirTmp = "maildir-tmp",
        /// A name in a stream of git objects for which git has no object.
        MissingObject = "missing-object",
        /// A message deleted by a commit of a git repository.
        Deleted = "deleted",
        /// A git repository whose files are not messages of a mailing list.
        Repository = "git-repository",
        /// An encrypted zip member.
        Encrypted = "encrypted",
        /// A zip member compressed with an unsupported method.
        UnknownCompression = "unknown-compression",
        /// The file disappeared before it was read.
        Vanished = "vanished",
        /// A gzip stream where compressed data is not unpacked.
        Gzip = "gzip",
        /// A bzip2 stream where compressed data is not unpacked.
        Bzip2 = "bzip2",
        /// An xz stream where compressed data is not unpacked.
        Xz = "xz",
        /// A Zstandard frame where compressed data is not unpacked.
        Zstd = "zstd",
        /// An LZ4 frame where compressed data is not unpacked.
        Lz4 = "lz4",
        /// Output of compress(1) where compressed data is not unpacked.
        Compress = "compress",
        /// A zip archive where archives are not unpacked.
        Zip = "zip",
        /// A tar archive where archives are not unpacked.
        Tar = "tar",
        /// A RAR archive.
        Rar = "rar",
        /// A 7z archive.
        SevenZip = "7z",
        /// An ELF binary.
        Elf = "elf",
        /// A PNG image.
        Png = "png",
        /// A JPEG image.
        Jpeg = "jpeg",
        /// A GIF image.
        Gif = "gif",
        /// A PDF document.
        Pdf = "pdf",
        /// A SQLite database.
        Sqlite = "sqlite",
        /// A news batch packed by compress(1) that does not contain compressed data.
        Cunbatch = "cunbatch",
        /// A news batch packed by gzip that does not contain gzip data.
        Gunbatch = "gunbatch",
        /// A news batch packed by bzip2 that does not contain bzip2 data.
        Bunbatch = "bunbatch",
        /// A news batch packed by another program.
        PackedBatch = "packed-batch",
        /// A message whose search panicked.
        Panic = "panic",
        /// A message outside the requested date range.
        Date = "date",
        /// A message without a requested list or newsgroup.
        List = "list",
        /// A copy of an article that was already read in another group.
        CrossPost = "cross-post",
    }
}

named_enum! {
    /// Option that filtered out a URL.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum UrlFilter {
        /// No requested grammar accepts the URL.
        Accept = "accept",
        /// Its scheme is not one of the requested schemes.
        Schemes = "schemes",
        /// Its host is neither a requested host nor in a requested domain. Only if hosts are
        /// requested.
        Host = "host",
        /// Its host is not in a requested domain.
        Domain = "domain",
        /// Its host is an excluded domain or a subdomain of one.
        Excluded = "exclude-domains",
        /// It is not in a requested region.
        Region = "region",
        /// It is not a link whose text names another host.
        Mismatch = "mismatch",
        /// It has none of the requested hazards.
        Hazard = "hazard",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_counted_noun_has_grouped_digits() {
        for (count, text) in [
            (0, "0 URLs"),
            (1, "1 URL"),
            (999, "999 URLs"),
            (1_000, "1,000 URLs"),
            (1_234_567, "1,234,567 URLs"),
        ] {
            assert_eq!(counted(count, "URL", "URLs"), text);
        }
    }

    #[test]
    fn lines_for_a_terminal_keep_line_feeds_and_tabs() {
        let lines = |bytes, form| String::from_utf8(printable_lines(bytes, form).into()).unwrap();
        let hostile = b"a\tb\n\x1b[31m\xc2\x9b\x7f\r\xe2\x80\xae\xff\xc3\xa9\n";
        assert_eq!(
            lines(hostile, EscapeForm::Text),
            "a\tb\n\\u{1b}[31m\\u{9b}\\u{7f}\\u{d}\\u{202e}\\xff\u{e9}\n"
        );
        let json = "{\"a\":\"\u{9b}\u{e9}\"}\n";
        assert_eq!(
            lines(json.as_bytes(), EscapeForm::Json),
            "{\"a\":\"\\u009b\u{e9}\"}\n"
        );
        let plain = b"http://a.example/\n";
        assert!(
            matches!(printable_lines(plain, EscapeForm::Text), Cow::Borrowed(same) if same == plain)
        );
    }

    #[test]
    fn control_characters_are_escaped_and_quotation_marks_are_not() {
        assert_eq!(
            printable("a\u{1b}[31m\n\u{9b}\u{202e}b\u{e9} \"c\\"),
            "a\\u{1b}[31m\\u{a}\\u{9b}\\u{202e}b\u{e9} \"c\\"
        );
    }

    #[test]
    fn numbers_have_grouped_digits() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(count), expected);
        }
        assert_eq!(counted(1, "link", "links"), "1 link");
        assert_eq!(counted(1_000, "link", "links"), "1,000 links");
    }

    #[test]
    fn every_skip_reason_has_a_unique_name() {
        let names: BTreeSet<&str> = SkipReason::ALL.map(SkipReason::name).into();
        assert_eq!(names.len(), SkipReason::ALL.len());
        for (place, reason) in SkipReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place, "{}", reason.name());
        }
    }
}
