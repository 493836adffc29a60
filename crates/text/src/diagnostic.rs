//! Diagnostics: problems met in the input, as values that can be written as events; reasons for which
//! an input is skipped or a URL held back; and text for terminals and logs, with nothing that a terminal
//! would obey.

use std::borrow::Cow;

use crate::origin::Source;

named_enum! {
    /// The kind of a diagnostic. A new variant is a new version of the event format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum DiagnosticKind {
        /// A limit was reached; the input beyond it was scanned as text, without its structure.
        Limit = "limit",
        /// The input is damaged or cut short; the readable part was read.
        Damage = "damage",
        /// An input was skipped on purpose.
        Skip = "skip",
        /// The input breaks the rules of its format, or can be interpreted in two ways; all of it
        /// was read.
        Ambiguous = "ambiguous",
        /// An input could not be read: permissions, an I/O error.
        Unreadable = "unreadable",
        /// A file disappeared while it was read, or between two scans.
        Vanished = "vanished",
        /// The program or a library panicked; only one message is affected.
        Panic = "panic",
    }
}

impl DiagnosticKind {
    /// Returns `true` if an input failed, so that the run ends with exit status 1.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            DiagnosticKind::Damage | DiagnosticKind::Unreadable | DiagnosticKind::Panic
        )
    }
}

/// A problem met in the input.
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

    /// Returns an event: the diagnostic and its source.
    #[must_use]
    pub fn of(self, source: &Source) -> Event {
        Event {
            source: source.clone(),
            diagnostic: self,
        }
    }
}

/// A diagnostic and the source that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source.
    pub source: Source,
    /// The diagnostic.
    pub diagnostic: Diagnostic,
}

/// Escapes control characters, line feeds among them, and characters that change the direction of
/// writing.
///
/// One message is one line, and cannot look like two.
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

/// Returns the first and the last characters of a text, with an ellipsis between them if it has
/// more than `max_chars`: errors of parsers quote a value first, and name its line last.
#[must_use]
pub fn shortened_inside(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.char_indices().nth(max_chars).is_none() {
        return Cow::Borrowed(text);
    }
    let tail = max_chars / 2;
    let start = text.char_indices().nth_back(tail);
    // The character before the tail, which is cut, always exists: there are more than `max_chars`.
    let end = start.map_or("", |(at, c)| &text[at + c.len_utf8()..]);
    Cow::Owned(format!("{}{end}", shortened(text, max_chars - tail)))
}

/// Form of the escapes in lines for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeForm {
    /// `\u001b`, which means the same in a text of JSON or TOML.
    Json,
    /// `\u{1b}`, and `\x9b` for a byte that is not UTF-8.
    Text,
}

/// Escapes in whole lines what [`printable`] escapes in a text, but for line feeds and tabs.
///
/// Linear in the length of the lines. Nothing is copied if nothing is escaped.
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

/// Returns a number with the noun for it: `1 URL`, `2,000 URLs`.
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

/// Appends the escape of a character. None that is escaped needs more than four digits.
fn push_escape(c: char, form: EscapeForm, shown: &mut String) {
    match form {
        EscapeForm::Json => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
        EscapeForm::Text => shown.extend(c.escape_unicode()),
    }
}

fn is_dangerous(c: char) -> bool {
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    let turns = matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || ends_line || turns
}

named_enum! {
    /// Reason for which something is not read although nothing about it failed. A closed set,
    /// except for what later formats add.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SkipReason {
        /// It has no bytes.
        Empty = "empty",
        /// Bytes that are no text and no known format.
        Binary = "binary",
        /// The user's patterns exclude it.
        Filtered = "filtered",
        /// A file in which a mail or news program keeps its own data.
        ControlFile = "control-file",
        /// A file that the run itself writes; in a spool of the daemon, any output of urlspool.
        OwnOutput = "own-output",
        /// A file of a folder that urlspool wrote in an earlier run: records, events, a table.
        EarlierOutput = "earlier-output",
        /// A further name of a file that is read under its first name.
        HardLink = "hard-link",
        /// A symbolic link that is not followed.
        Symlink = "symlink",
        /// Neither a regular file nor a folder, or not what it was when it was listed.
        NotRegular = "not-regular",
        /// A block or character device, as an archive names it.
        Device = "device",
        /// A named pipe, as an archive names it.
        Fifo = "fifo",
        /// A member of a tar whose bytes are pieces of a larger file.
        Sparse = "sparse",
        /// A message in `tmp` of a Maildir, or one elsewhere in it whose name starts with a dot,
        /// which may be incomplete (maildir(5)).
        MaildirTmp = "maildir-tmp",
        /// A name in a stream of git objects for which git has no object.
        MissingObject = "missing-object",
        /// A message that a commit of a git repository deletes.
        Deleted = "deleted",
        /// A git repository whose files are not the messages of a mailing list.
        Repository = "git-repository",
        /// An encrypted member of a zip.
        Encrypted = "encrypted",
        /// A member of a zip compressed by a method that is not supported.
        UnknownCompression = "unknown-compression",
        /// The file disappeared before it was read.
        Vanished = "vanished",
        /// A gzip stream in a place where compressed data is not unpacked.
        Gzip = "gzip",
        /// A bzip2 stream, likewise.
        Bzip2 = "bzip2",
        /// An xz stream, likewise.
        Xz = "xz",
        /// A Zstandard frame, likewise.
        Zstd = "zstd",
        /// An LZ4 frame, likewise.
        Lz4 = "lz4",
        /// Output of compress(1), likewise.
        Compress = "compress",
        /// A zip archive, likewise.
        Zip = "zip",
        /// A tar archive, likewise.
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
        /// An SQLite database.
        Sqlite = "sqlite",
        /// A news batch packed by compress(1), whose packed bytes are not compressed data.
        Cunbatch = "cunbatch",
        /// A news batch packed by gzip, likewise.
        Gunbatch = "gunbatch",
        /// A news batch packed by bzip2, likewise.
        Bunbatch = "bunbatch",
        /// A news batch packed by another program.
        PackedBatch = "packed-batch",
        /// A message whose search panicked.
        Panic = "panic",
        /// A message outside the requested range of dates.
        Date = "date",
        /// A message of no list and no newsgroup that is requested.
        List = "list",
        /// A copy of an article that was read in another group.
        CrossPost = "cross-post",
    }
}

named_enum! {
    /// Filter of the options that holds a URL back.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum UrlFilter {
        /// No requested grammar accepts it.
        Accept = "accept",
        /// Its scheme is none of those that are requested.
        Schemes = "schemes",
        /// Its host is none of the requested hosts, and beneath no requested domain.
        Host = "host",
        /// Its host is an excluded domain or below one.
        Excluded = "exclude-domains",
        /// It is in no requested region.
        Region = "region",
        /// It is no link whose text names another host.
        Mismatch = "mismatch",
        /// It has no requested hazard.
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
    fn numbers_are_written_for_readers() {
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
    fn every_reason_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = SkipReason::ALL.map(SkipReason::name).into();
        assert_eq!(names.len(), SkipReason::ALL.len());
        for (place, reason) in SkipReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place, "{}", reason.name());
        }
    }
}
