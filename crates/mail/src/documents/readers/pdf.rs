//! PDF (ISO 32000-1): link targets and notes.
//!
//! The file is read from start to end as a sequence of tokens (section 7.2), followed by the
//! unpacked object streams (section 7.5.7). The reader follows neither the cross-reference table
//! nor any reference. A broken table therefore hides no link, and objects that refer to each other
//! in a cycle are read once. Links of earlier revisions, which viewers no longer show, are found
//! too.
//!
//! The crate `lopdf` (0.47) is not used: it holds all objects in memory as a tree, and even without
//! its default features it brings 38 crates that are not needed otherwise. The text of pages is not
//! read, because its bytes are glyph numbers.

use std::collections::HashMap;

use flate2::read::ZlibDecoder;
use memchr::memmem;

use super::{DocumentContent, DocumentReading, PageBuilder, Unpacking};
use crate::lines::run_len;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::{Limits, PDF_STRING_BYTES};

/// Reads a document.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let mut reader = PdfReader {
        unpacking: Unpacking::new(limits),
        page: PageBuilder::new(limits.message_bytes),
        is_encrypted: false,
        has_target: false,
        strings: HashMap::new(),
        referred: Vec::new(),
    };
    for packed in reader.objects(bytes) {
        let unpacked = reader.unpack(packed);
        // Object streams are not nested (section 7.5.7).
        reader.objects(&unpacked);
    }
    for number in reader.referred {
        if let Some(target) = reader.strings.get(&number) {
            reader.page.link(target);
        }
    }
    let mut reading = reader.unpacking.page(reader.page);
    // The strings of an encrypted document are not text, unless it only claims to be encrypted.
    if reader.is_encrypted && !reader.has_target {
        reading.content = DocumentContent::Unread;
    }
    reading
}

/// State of reading one document.
struct PdfReader<'l> {
    unpacking: Unpacking<'l>,
    page: PageBuilder,
    is_encrypted: bool,
    /// `true` once a readable target was found.
    has_target: bool,
    /// Strings that are objects of their own, by object number.
    strings: HashMap<u32, String>,
    /// Numbers of the objects that hold targets.
    referred: Vec<u32>,
}

/// Dictionary key whose value is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    /// The target of a link (section 12.6.4.7).
    Uri,
    /// A file, which may be a URL (section 7.11.5).
    File,
    /// A script (section 12.6.4.16), or the text of a note (section 12.5.2). A note's rich text
    /// (`RC`) repeats it as XHTML, and is not read: the addresses of namespaces are no links.
    Text,
    Other,
}

impl Key {
    fn of(name: &[u8]) -> Key {
        match name {
            b"URI" => Key::Uri,
            b"F" | b"UF" => Key::File,
            b"JS" | b"Contents" => Key::Text,
            _ => Key::Other,
        }
    }
}

/// Facts about the dictionary before a stream.
#[derive(Clone, Copy, Default)]
struct StreamFacts {
    is_object_stream: bool,
    is_deflated: bool,
    /// `/Length`, if it is a number and not a reference.
    length: Option<usize>,
}

impl PdfReader<'_> {
    /// Reads objects. Returns the packed bytes of object streams.
    fn objects<'b>(&mut self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let mut object_streams = Vec::new();
        let mut tokens = PdfTokens { bytes, at: 0 };
        let mut key = Key::Other;
        let mut is_length = false;
        let mut facts = StreamFacts::default();
        // The last numbers, which may be part of a reference or an object header.
        let mut numbers: [Option<u32>; 2] = [None; 2];
        let mut object = None;
        while let Some(token) = tokens.next() {
            let last_numbers = std::mem::take(&mut numbers);
            match token {
                PdfToken::Name(name) => {
                    self.is_encrypted |= name == b"Encrypt";
                    facts.is_object_stream |= name == b"ObjStm";
                    facts.is_deflated |= matches!(name, b"FlateDecode" | b"Fl");
                    is_length = name == b"Length";
                    key = Key::of(name);
                    object = None;
                    continue;
                }
                PdfToken::Number(number) => {
                    if is_length && facts.length.is_none() {
                        facts.length = number.map(|number| number as usize);
                    }
                    is_length = false;
                    numbers = [last_numbers[1], number];
                    continue;
                }
                PdfToken::String(string) => self.string(key, object, &string),
                PdfToken::Word(b"R") => {
                    // `/Length 5 0 R` is not a length.
                    facts.length = facts.length.filter(|_| last_numbers[0].is_none());
                    if key == Key::Uri {
                        self.referred.extend(last_numbers[0]);
                    }
                }
                PdfToken::Word(b"obj") => {
                    facts = StreamFacts::default();
                    key = Key::Other;
                    object = last_numbers[0];
                    continue;
                }
                PdfToken::Word(b"endobj") => facts = StreamFacts::default(),
                // Uncompressed objects are read in place.
                PdfToken::Word(b"stream") if facts.is_object_stream && !facts.is_deflated => {}
                PdfToken::Word(b"stream") => {
                    let packed = tokens.stream(facts.length);
                    if facts.is_object_stream {
                        object_streams.push(packed);
                    }
                    facts = StreamFacts::default();
                }
                PdfToken::Word(_) | PdfToken::Mark => {}
            }
            key = Key::Other;
            object = None;
        }
        object_streams
    }

    /// Reads a string: the value of `key`, or the object with the number `object`.
    fn string(&mut self, key: Key, object: Option<u32>, string: &[u8]) {
        let text = text_string(string);
        match (key, object) {
            (Key::Uri, _) => {
                self.has_target |= text.is_ascii() && text.contains(':');
                self.page.link(text.trim());
            }
            (Key::File, _) if text.contains("://") => self.page.linked_object(text.trim()),
            // A signature's value has the same key as a note.
            (Key::Text, _) if !text.contains(|c: char| c.is_control() && !c.is_whitespace()) => {
                self.page.text(&text);
                self.page.line_break();
            }
            // Thousands of links may refer to the string, so it is trimmed once.
            (_, Some(number)) => drop(self.strings.insert(number, text.trim().to_owned())),
            _ => {}
        }
    }

    /// Unpacks an object stream up to its damage or the limit.
    fn unpack(&mut self, packed: &[u8]) -> Vec<u8> {
        let problems = self.unpacking.problems.len();
        let unpacked = self
            .unpacking
            .unpack("a PDF", ZlibDecoder::new(packed), |error| {
                let message = format!("packed objects of a PDF are damaged: {error}");
                Diagnostic::new(DiagnosticKind::Damage, message)
            });
        // Encrypted bytes cannot be unpacked.
        if self.is_encrypted {
            self.unpacking.problems.truncate(problems);
        }
        unpacked
    }
}

/// Decodes a text string (section 7.9.2.2): UTF-16 or UTF-8 by its mark, else Latin 1, of which
/// `PDFDocEncoding` is a variant.
fn text_string(string: &[u8]) -> String {
    match string {
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0xEF, 0xBB, 0xBF, ..] => {
            encoding_rs::UTF_8.decode(string).0.into_owned()
        }
        // Link targets are ASCII, but some programs write UTF-8.
        _ => std::str::from_utf8(string).map_or_else(
            |_| encoding_rs::mem::decode_latin1(string).into_owned(),
            str::to_owned,
        ),
    }
}

/// Token of a PDF (section 7.2).
enum PdfToken<'b> {
    /// A name without the slash.
    Name(&'b [u8]),
    /// A string, decoded.
    String(Vec<u8>),
    /// A number; `None` if it is not an unsigned integer.
    Number(Option<u32>),
    /// A keyword.
    Word(&'b [u8]),
    /// A bracket of an array or a dictionary, or an unread string.
    Mark,
}

/// Iterator over the tokens of a PDF. Reads each byte once, bytes of strings twice.
struct PdfTokens<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// White space (section 7.2.2).
fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn is_delimiter(byte: u8) -> bool {
    matches!(
        byte,
        b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%'
    )
}

impl<'b> PdfTokens<'b> {
    fn rest(&self) -> &'b [u8] {
        &self.bytes[self.at..]
    }

    /// Consumes and returns the regular characters at the position.
    fn word(&mut self) -> &'b [u8] {
        let rest = self.rest();
        let len = run_len(rest, |byte| !is_space(byte) && !is_delimiter(byte));
        self.at += len;
        &rest[..len]
    }

    /// Reads a string in parentheses, after the opening one (section 7.3.4.2). Returns `None` if it
    /// is too long or not closed.
    fn literal(&mut self) -> Option<Vec<u8>> {
        let mut string = Vec::new();
        let mut depth = 1_usize;
        let end = self.at.saturating_add(PDF_STRING_BYTES);
        let end = end.min(self.bytes.len());
        while self.at < end {
            let byte = self.bytes[self.at];
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\\' => {
                    self.escape(&mut string);
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                return Some(string);
            }
            string.push(byte);
        }
        None
    }

    /// Reads the escape after a backslash.
    fn escape(&mut self, string: &mut Vec<u8>) {
        let rest = self.rest();
        let octal = &rest[..rest.len().min(3)];
        let octal = &octal[..run_len(octal, |byte| matches!(byte, b'0'..=b'7'))];
        if !octal.is_empty() {
            let digits = octal.iter().map(|digit| u32::from(digit - b'0'));
            let code = digits.fold(0, |code, digit| code * 8 + digit);
            string.push(code as u8);
            self.at += octal.len();
            return;
        }
        self.at += match rest {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        match rest.first() {
            Some(b'n') => string.push(b'\n'),
            Some(b'r') => string.push(b'\r'),
            Some(b't') => string.push(b'\t'),
            Some(b'b' | b'f') => string.push(b' '),
            // A line end after a backslash is not part of the string.
            Some(b'\n' | b'\r') | None => {}
            Some(&other) => string.push(other),
        }
    }

    /// Reads a hexadecimal string after the opening bracket (section 7.3.4.3).
    fn hexadecimal(&mut self) -> Option<Vec<u8>> {
        let rest = self.rest();
        let rest = &rest[..rest.len().min(PDF_STRING_BYTES)];
        let len = run_len(rest, |byte| byte.is_ascii_hexdigit() || is_space(byte));
        self.at += len;
        if rest.get(len) != Some(&b'>') {
            return None;
        }
        self.at += 1;
        let mut digits = rest[..len]
            .iter()
            .filter_map(|&byte| char::from(byte).to_digit(16));
        let mut string = Vec::with_capacity(len / 2);
        while let Some(high) = digits.next() {
            string.push((high * 16 + digits.next().unwrap_or(0)) as u8);
        }
        Some(string)
    }

    /// Consumes and returns the bytes of a stream, after its keyword (section 7.3.8).
    fn stream(&mut self, length: Option<usize>) -> &'b [u8] {
        const END: &[u8] = b"endstream";
        /// Maximum distance of a stream from its keyword: a line end, and a few bytes that careless
        /// programs add.
        const GAP_BYTES: usize = 16;
        self.at += match self.rest() {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => 0,
        };
        let rest = self.rest();
        let stated = length.filter(|&length| {
            let after = rest.get(length..).unwrap_or_default();
            let after = &after[..after.len().min(GAP_BYTES + END.len())];
            after.trim_ascii_start().starts_with(END)
        });
        let len = stated
            .or_else(|| memmem::find(rest, END))
            .unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}

impl<'b> Iterator for PdfTokens<'b> {
    type Item = PdfToken<'b>;

    fn next(&mut self) -> Option<PdfToken<'b>> {
        loop {
            match self.rest() {
                [] => return None,
                [b'%', rest @ ..] => {
                    let line = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    self.at += 1 + line;
                }
                [byte, ..] if is_space(*byte) => self.at += 1,
                _ => break,
            }
        }
        let rest = self.rest();
        let string = match rest {
            [b'/', ..] => {
                self.at += 1;
                return Some(PdfToken::Name(self.word()));
            }
            [b'<', b'<', ..] | [b'>', b'>', ..] => {
                self.at += 2;
                return Some(PdfToken::Mark);
            }
            [b'(', ..] => {
                self.at += 1;
                self.literal()
            }
            [b'<', ..] => {
                self.at += 1;
                self.hexadecimal()
            }
            [byte, ..] if is_delimiter(*byte) => {
                self.at += 1;
                return Some(PdfToken::Mark);
            }
            _ => {
                let word = self.word();
                return Some(match word[0] {
                    b'0'..=b'9' | b'+' | b'-' | b'.' => {
                        let number = std::str::from_utf8(word).ok();
                        PdfToken::Number(number.and_then(|number| number.parse().ok()))
                    }
                    _ => PdfToken::Word(word),
                });
            }
        };
        Some(string.map_or(PdfToken::Mark, PdfToken::String))
    }
}
