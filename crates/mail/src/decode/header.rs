//! Header fields (RFC 5322 section 2.2) as ranges of bytes, their texts, and the prefilter that
//! skips fields without URLs. Encoded words (RFC 2047) are decoded with a map back to the raw
//! bytes.
//!
//! `field_names` assigns roles to field names.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mailparse::{ParsedContentType, parse_content_type};
use memchr::memmem::Finder;

use super::field_names::{FieldRoles, KnownField, field_roles};
use super::seven_bit::ESC;
use super::transfer::{base64, quoted_printable};
use super::{MappedBytes, charset};
use crate::lines::{end_run_len, is_blank, is_line_end, run_len};
use crate::split::{HeaderForm, Message};
use urlspool_text::byte_scan::{ByteOffsets, field_name_len, is_inert_value};
use urlspool_text::limits::{ENCODED_WORDS, HEADER_FIELDS};
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};
use urlspool_text::span::{ByteMap, Span};

/// A field, as ranges of the bytes it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderField {
    /// Name, without blanks before the colon.
    pub name: Span,
    /// Value as folded, without surrounding white space.
    pub value: Span,
    /// Roles of the name.
    pub roles: FieldRoles,
}

/// Fields of a header section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderFields {
    /// Fields in order.
    pub all: Vec<HeaderField>,
    /// Start of the body: after the blank line, or at the first line that is not a field.
    pub body: usize,
    /// `true` if the header exceeds the limits. `body` is then the end of the last field that
    /// starts within them.
    pub is_truncated: bool,
}

impl HeaderFields {
    /// Reads the header at the start of `text`, at most `max_bytes`.
    ///
    /// A line that is neither a field nor a continuation ends the header, except `From ` and `>From
    /// ` lines before the first field. If there is no field, the body starts at 0.
    #[must_use]
    pub fn of(text: &[u8], max_bytes: usize) -> HeaderFields {
        // Mail of 2025 has 40 fields and more.
        const USUAL_FIELDS: usize = 48;
        let mut fields = HeaderFields {
            all: Vec::with_capacity(USUAL_FIELDS),
            ..HeaderFields::default()
        };
        let limit = text.len().min(max_bytes);
        let mut line_feeds = ByteOffsets::new(text, b'\n');
        let mut next_line = || line_feeds.next().map_or(text.len(), |at| at + 1);
        let mut at = 0;
        while at < limit && fields.all.len() < HEADER_FIELDS {
            let line = &text[at..];
            if let Some((name, colon)) = field_name(line) {
                let (name, start) = (Span::new(at, at + name), at + colon + 1);
                at = next_line();
                while at < limit && matches!(text[at], b' ' | b'\t') {
                    at = next_line();
                }
                fields.all.push(header_field(text, name, start, at));
            } else if let [b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..] = line {
                fields.body = next_line();
                return fields;
            } else if fields.all.is_empty()
                && (line.starts_with(b">From ") || line.starts_with(b"From "))
            {
                at = next_line();
            } else {
                break;
            }
        }
        fields.body = if fields.all.is_empty() { 0 } else { at };
        fields.is_truncated = (limit <= at || HEADER_FIELDS <= fields.all.len()) && at < text.len();
        fields
    }

    /// Returns the fields of a message in any format, or no fields if the header has no field
    /// names.
    #[must_use]
    pub fn in_message(message: &Message<'_>, max_bytes: usize) -> HeaderFields {
        panic_at_mark(PlantedFault::PanicInHeader, message.raw);
        match message.header {
            HeaderForm::Present => HeaderFields::of_message(message.raw, max_bytes),
            HeaderForm::Copied { body } => HeaderFields {
                body,
                ..HeaderFields::of(message.raw, max_bytes)
            },
            HeaderForm::Absent | HeaderForm::Page | HeaderForm::Document(_) | HeaderForm::ANews => {
                HeaderFields::default()
            }
        }
    }

    /// Reads the header of a message, like [`HeaderFields::of`]. Skips a byte order mark and blank
    /// lines before the first field.
    #[must_use]
    pub fn of_message(raw: &[u8], max_bytes: usize) -> HeaderFields {
        let text = raw.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(raw);
        let before = raw.len() - text.len() + run_len(text, is_line_end);
        let fields = HeaderFields::of(&raw[before..], max_bytes);
        match before {
            0 => fields,
            _ if fields.all.is_empty() => HeaderFields::of(raw, max_bytes),
            _ => fields.shifted(before),
        }
    }

    /// Returns the fields with all offsets increased by `by`, for fields read from a slice of a
    /// text that starts at `by`.
    #[must_use]
    pub fn shifted(&self, by: usize) -> HeaderFields {
        let shift = |span: Span| Span::new(span.start + by, span.end + by);
        let all = self.all.iter().map(|field| HeaderField {
            name: shift(field.name),
            value: shift(field.value),
            ..*field
        });
        HeaderFields {
            all: all.collect(),
            body: self.body + by,
            is_truncated: self.is_truncated,
        }
    }

    /// Returns all fields of a known name, in order.
    pub fn each(&self, name: KnownField) -> impl Iterator<Item = &HeaderField> {
        self.all
            .iter()
            .filter(move |field| field.roles.known == Some(name))
    }

    /// Returns the content types of the header, as parsed by `mailparse`, each with its field.
    pub(super) fn content_types(
        &self,
        text: &[u8],
    ) -> impl Iterator<Item = (&HeaderField, ParsedContentType)> {
        let types = self.each(KnownField::ContentType);
        types.map(|field| {
            let value = field.value.of(text);
            let content = simple_content_type(value);
            let content = content.unwrap_or_else(|| parse_content_type(&field_text(value)));
            (field, content)
        })
    }

    /// Returns the first field of a known name.
    #[must_use]
    pub fn first_known(&self, name: KnownField) -> Option<HeaderField> {
        self.each(name).next().copied()
    }

    /// Returns the first field with a name. Case does not matter. `text` is the text that the
    /// fields were read from.
    #[must_use]
    pub fn first_named(&self, text: &[u8], name: &str) -> Option<HeaderField> {
        let mut all = self.all.iter().copied();
        all.find(|field| field.name.of(text).eq_ignore_ascii_case(name.as_bytes()))
    }
}

/// Parses a content type made of words of letters, digits and `+,-./=_`, perhaps in quotes. Returns
/// `None` for any other text.
///
/// Nearly all are simple. The result equals `mailparse`'s at a lower cost, except that the charset
/// is only in `params`.
fn simple_content_type(value: &[u8]) -> Option<ParsedContentType> {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+'..=b'/' | b'=' | b'_');
    let is_simple = |word: &str| !word.is_empty() && word.bytes().all(is_part);
    let text = std::str::from_utf8(value).ok()?;
    let mut words = text.split(';').map(str::trim_ascii);
    let mimetype = words.next().filter(|word| is_simple(word))?;
    let mut params = BTreeMap::new();
    for word in words.filter(|word| !word.is_empty()) {
        let (name, value) = word.split_once('=')?;
        let quoted = value.strip_prefix('"');
        let value = quoted.map_or(Some(value), |value| value.strip_suffix('"'))?;
        if !(is_simple(name) && is_simple(value)) {
            return None;
        }
        params.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    Some(ParsedContentType {
        charset: String::new(),
        mimetype: mimetype.to_ascii_lowercase(),
        params,
    })
}

/// Returns the length of the field name at the start of `line`, and the offset of the colon, which
/// blanks may precede. Returns `None` if the line does not start with a field.
fn field_name(line: &[u8]) -> Option<(usize, usize)> {
    let len = field_name_len(line);
    let colon = len + run_len(&line[len..], is_blank);
    // `http://...` at the start of a line is text, although it has the syntax of a field.
    (len > 0 && line.get(colon) == Some(&b':') && !line[colon + 1..].starts_with(b"//"))
        .then_some((len, colon))
}

/// Returns the field whose value is in `start..end`, without the surrounding white space. `end` is
/// the end of the last line.
fn header_field(text: &[u8], name: Span, start: usize, end: usize) -> HeaderField {
    let words = text[start..end].trim_ascii_start();
    let start = match words {
        [] => start + run_len(&text[start..end], is_blank),
        _ => end - words.len(),
    };
    HeaderField {
        name,
        value: Span::new(start, start + words.trim_ascii_end().len()),
        roles: field_roles(&text[name.start..], name.len()),
    }
}

/// Returns `true` if a value may hold an encoded word (RFC 2047 section 2): if it contains `=?`.
/// Searches for the question mark, which is the rarer byte.
fn has_encoded_word(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'?', raw).any(|at| at > 0 && raw[at - 1] == b'=')
}

/// Returns the text of a field's value: unfolded, with encoded words (RFC 2047) and 8-bit bytes
/// decoded.
#[must_use]
pub(super) fn field_text(raw: &[u8]) -> String {
    if has_encoded_word(raw) {
        text_of_words(raw)
    } else {
        text_without_words(raw)
    }
}

/// Returns the text of a field for people. Other than [`field_text`], decodes encoded words next to
/// other characters too, as mail clients do, although RFC 2047 section 5 forbids them, and words
/// in an unknown charset. Undecodable words stay unchanged.
pub(super) fn shown_text(raw: &[u8]) -> String {
    if !has_encoded_word(raw) {
        return text_without_words(raw);
    }
    let text = text_of_words(raw);
    match next_word(text.as_bytes(), 0) {
        None => text,
        Some(_) => unfolded(&String::from_utf8_lossy(&decode_words(raw))),
    }
}

fn text_of_words(raw: &[u8]) -> String {
    match mailparse::parse_header(&[b"X: ", raw, b"\n"].concat()) {
        Ok((header, _)) => header.get_value(),
        Err(_) => String::from_utf8_lossy(raw).into_owned(),
    }
}

fn text_without_words(raw: &[u8]) -> String {
    let decoded = decoded_text(raw);
    let text = decoded.as_ref().map_or(raw, |text| &text.bytes);
    let text = std::str::from_utf8(text).map_err(|_| String::from_utf8_lossy(text));
    text.map_or_else(|text| unfolded(&text), unfolded)
}

/// Puts a value on one line: a line end and the blanks after it become one blank (RFC 5322 section
/// 2.2.3).
fn unfolded(raw: &str) -> String {
    if memchr::memchr2(b'\n', b'\r', raw.as_bytes()).is_none() {
        return raw.to_owned();
    }
    let mut text = String::with_capacity(raw.len());
    for (index, line) in raw.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if 0 < index {
            text.push(' ');
        }
        text.push_str(if index == 0 {
            line
        } else {
            line.trim_ascii_start()
        });
    }
    text
}

/// Returns `true` if the decoded value of a field may contain a URL. Prefilter without false
/// negatives.
pub(super) fn may_hold_url(value: &[u8]) -> bool {
    if is_inert_value(value) {
        return false;
    }
    if has_encoded_word(value) {
        // Making the map takes more time than decoding the text.
        return begins_url(&decode_words(value));
    }
    !is_plain(value) || begins_url(value)
}

/// Decodes the value of a field. Returns `None` if it does not change.
pub(super) fn decoded_value(value: &[u8]) -> Option<MappedBytes> {
    if has_encoded_word(value) {
        return Some(decode_words_with_map(value));
    }
    decoded_text(value)
}

/// Decodes a value without encoded words. Returns `None` if it does not change.
fn decoded_text(value: &[u8]) -> Option<MappedBytes> {
    if is_plain(value) {
        return None;
    }
    charset::decode(value, None)
}

/// Returns `true` for ASCII without escape sequences.
fn is_plain(value: &[u8]) -> bool {
    value.is_ascii() && memchr::memchr(ESC, value).is_none()
}

/// Returns `true` if a UTF-8 value may contain the start of a URL: a colon, or `www.` or `ftp.`,
/// perhaps with a number. A colon before white space counts only if there is a `<`.
fn begins_url(value: &[u8]) -> bool {
    let mut marks = memchr::memchr2_iter(b':', b'.', value).peekable();
    if marks.peek().is_none() {
        return false;
    }
    let has_bracket = memchr::memchr(b'<', value).is_some();
    marks.any(|at| match value[at] {
        b':' => {
            let next = value.get(at + 1);
            has_bracket || next.is_some_and(|next| !next.is_ascii_whitespace())
        }
        _ => {
            let end = at - end_run_len(&value[..at], |byte| byte.is_ascii_digit());
            let before = &value[end.saturating_sub(3)..end];
            before.eq_ignore_ascii_case(b"www") || before.eq_ignore_ascii_case(b"ftp")
        }
    })
}

/// Finds the start of an encoded word.
static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"=?"));

/// Decodes the encoded words of a field's value. Keeps line breaks.
///
/// White space between two encoded words is not part of the text (section 6.2). A word in an
/// unknown charset is read in the detected one. A word whose text decodes to nothing stays
/// unchanged.
pub(super) fn decode_words(raw: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len());
    append(raw, &mut text, None);
    text
}

/// Decodes like `decode_words`, with a map to the raw bytes.
#[must_use]
pub fn decode_words_with_map(raw: &[u8]) -> MappedBytes {
    let mut text = Vec::with_capacity(raw.len());
    let mut map = ByteMap::new();
    append(raw, &mut text, Some(&mut map));
    map.push_same(text.len(), raw.len());
    MappedBytes { bytes: text, map }
}

/// Appends the decoded text, and the origin of each byte to `map`.
fn append(raw: &[u8], text: &mut Vec<u8>, mut map: Option<&mut ByteMap>) {
    let mut at = 0;
    let mut after_word = false;
    for _ in 0..ENCODED_WORDS {
        let Some(word) = next_word(raw, at) else {
            break;
        };
        let between = Span::new(at, word.span.start);
        if !(after_word && between.of(raw).iter().all(u8::is_ascii_whitespace)) {
            append_plain(raw, between, text, map.as_deref_mut());
        }
        after_word = word.append(raw, text, map.as_deref_mut());
        at = word.span.end;
    }
    append_plain(raw, Span::new(at, raw.len()), text, map);
}

/// Appends bytes outside encoded words, read as UTF-8 or else windows-1252.
fn append_plain(raw: &[u8], range: Span, text: &mut Vec<u8>, map: Option<&mut ByteMap>) {
    let converted = charset::decode(range.of(raw), None);
    match (map, &converted) {
        (None, _) => {}
        (Some(map), None) => map.push_same(text.len(), range.start),
        (Some(map), Some(_)) => map.push_whole(text.len(), range),
    }
    text.extend_from_slice(converted.as_ref().map_or(range.of(raw), |it| &it.bytes));
}

/// `=?charset?encoding?text?=`
struct EncodedWord<'w> {
    /// Range of the word in the value, with delimiters.
    span: Span,
    charset: &'w [u8],
    /// Base64 or the Q encoding (section 4).
    decode: fn(&[u8]) -> MappedBytes,
    /// Range of `text` in the value.
    text: Span,
}

/// Returns the first encoded word at or after `from`.
fn next_word(raw: &[u8], from: usize) -> Option<EncodedWord<'_>> {
    BEGIN
        .find_iter(&raw[from..])
        .find_map(|at| word_at(raw, from + at))
}

/// Returns the encoded word whose `=?` is at `start`.
fn word_at(raw: &[u8], start: usize) -> Option<EncodedWord<'_>> {
    /// Maximum length of a charset name with a language (RFC 2231 section 5).
    const LONGEST_CHARSET: usize = 80;
    let inner = &raw[start + 2..];
    let charset = memchr::memchr(b'?', &inner[..inner.len().min(LONGEST_CHARSET)])?;
    let decode = match inner.get(charset + 1)? {
        b'b' | b'B' => base64,
        b'q' | b'Q' => q_encoding,
        _ => return None,
    };
    let text = inner.get(charset + 2..)?.strip_prefix(b"?")?;
    let len = memchr::memchr(b'?', text).filter(|&end| text.get(end + 1) == Some(&b'='))?;
    let text = raw.len() - text.len();
    Some(EncodedWord {
        span: Span::new(start, text + len + 2),
        charset: &inner[..charset],
        decode,
        text: Span::new(text, text + len),
    })
}

impl EncodedWord<'_> {
    /// Appends the decoded text and its map. Appends the word itself and returns `false` if its
    /// text decodes to nothing.
    fn append(&self, raw: &[u8], text: &mut Vec<u8>, map: Option<&mut ByteMap>) -> bool {
        let encoded = self.text.of(raw);
        let decoded = (self.decode)(encoded);
        if decoded.bytes.is_empty() && !encoded.is_empty() {
            append_plain(raw, self.span, text, map);
            return false;
        }
        // A language may follow the charset name (RFC 2231 section 5).
        let charset = self.charset.split(|&byte| byte == b'*').next();
        let charset = std::str::from_utf8(charset.unwrap_or_default()).ok();
        let converted = charset::decode(&decoded.bytes, charset);
        if let Some(map) = map {
            if converted.is_some() {
                map.push_whole(text.len(), self.span);
            } else {
                let start = self.text.start;
                for at in 0..decoded.bytes.len() {
                    let raw = decoded.map.raw(Span::new(at, at + 1));
                    let raw = Span::new(start + raw.start, start + raw.end);
                    map.push_whole(text.len() + at, raw);
                }
            }
        }
        text.extend_from_slice(&converted.unwrap_or(decoded).bytes);
        true
    }
}

/// Decodes the Q encoding (section 4.2): quoted-printable in which `_` is a blank.
fn q_encoding(encoded: &[u8]) -> MappedBytes {
    let spaced = encoded
        .iter()
        .map(|&byte| if byte == b'_' { b' ' } else { byte });
    quoted_printable(&spaced.collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> (Vec<String>, &str) {
        let fields = HeaderFields::of(text.as_bytes(), usize::MAX);
        let show = |f: &HeaderField| {
            String::from_utf8_lossy(
                &[
                    f.name.of(text.as_bytes()),
                    b"=",
                    f.value.of(text.as_bytes()),
                ]
                .concat(),
            )
            .into_owned()
        };
        (fields.all.iter().map(show).collect(), &text[fields.body..])
    }

    proptest::proptest! {
        #[test]
        fn simple_content_types_agree_with_mailparse(
            value in "(text/plain|TEXT/html|a/b+c|a\\*)?((;|; |;\r\n\t| \
                ;|;;)(charset|Format|name\\*0?|name)?(=| =|= )?(\"?[a-zA-Z0-9./_+ \
                ;=-]{0,6}\"?|utf-8|\"us-ascii\"|=\\?x\\?)){0,3}"
        ) {
            if let Some(content) = simple_content_type(value.as_bytes()) {
                let parsed = parse_content_type(&field_text(value.as_bytes()));
                proptest::prop_assert_eq!(content.mimetype, parsed.mimetype);
                proptest::prop_assert_eq!(content.params, parsed.params);
            }
        }
    }

    #[test]
    fn usual_content_types_are_simple() {
        for (value, params) in [
            ("text/plain", 0),
            ("TEXT/PLAIN;charset=\"US-ASCII\"", 1),
            ("multipart/mixed;\n\tboundary=\"--=_a\"; type=b;", 2),
        ] {
            let content = simple_content_type(value.as_bytes());
            assert_eq!(
                content.map(|content| content.params.len()),
                Some(params),
                "{value}"
            );
        }
    }

    #[test]
    fn folds_belong_to_the_value() {
        assert_eq!(
            shown("A: b\r\n c\r\nD :e\r\n\r\nbody"),
            (vec!["A=b\r\n c".to_owned(), "D=e".to_owned()], "body")
        );
        assert_eq!(shown("A:\n b\n\nbody"), (vec!["A=b".to_owned()], "body"));
    }

    #[test]
    fn a_line_that_is_not_a_field_starts_the_body() {
        assert_eq!(shown("no header\nA: b"), (vec![], "no header\nA: b"));
        assert_eq!(
            shown("A: b\nno field\n"),
            (vec!["A=b".to_owned()], "no field\n")
        );
        assert_eq!(shown(">From x\nA: b\n\nc"), (vec!["A=b".to_owned()], "c"));
    }

    #[test]
    fn encoded_words_are_decoded() {
        assert_eq!(
            shown_text(b"Re:=?utf-8?Q?caf=C3=A9?=s\r\n x"),
            "Re:caf\u{e9}s x"
        );
        assert_eq!(field_text(b"=?iso-8859-1?Q?caf=E9?=\r\n x"), "caf\u{e9} x");
        assert_eq!(shown_text(b"=?x-unknown?Q?caf=E9?= foo"), "caf\u{e9} foo");
    }

    #[test]
    fn values_without_a_possible_url_are_skipped() {
        for value in [
            "",
            "a b",
            "Re: a",
            "a@b.example",
            "Re: a.b",
            "a:",
            "v. 1.0",
            "ww w . x",
            "<a@b>",
            "comp.mail",
        ] {
            assert!(!may_hold_url(value.as_bytes()), "{value}");
        }
        for value in [
            "http://a",
            "a:b",
            "<URL: x>",
            "www.a",
            "see FTP.a",
            "www2.a",
            "Ftp15.a",
            "10:30",
        ] {
            assert!(may_hold_url(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn an_inert_value_contains_no_url() {
        let is_searched =
            |value: &[u8]| has_encoded_word(value) || !value.is_ascii() || may_hold_url(value);
        for len in 0..70 {
            for mark in [
                "://x", "www.", "P.", "w2.", ": <", "<:", ":", "<", "?", "=?x?=", "\u{e9}", ". .",
                ":\n x",
            ] {
                for at in 0..=len {
                    let value =
                        [&b"x".repeat(at), mark.as_bytes(), &b" ".repeat(len - at)].concat();
                    assert!(
                        !is_inert_value(&value) || !is_searched(&value),
                        "{}",
                        value.escape_ascii()
                    );
                }
            }
            assert!(is_inert_value(&b"a: b.de ".repeat(len)));
        }
    }

    fn words(raw: &str) -> String {
        String::from_utf8(decode_words(raw.as_bytes())).unwrap()
    }

    #[test]
    fn the_examples_of_section_8_are_decoded() {
        assert_eq!(
            words("=?US-ASCII?Q?Keith_Moore?= <moore@cs.utk.edu>"),
            "Keith Moore <moore@cs.utk.edu>"
        );
        assert_eq!(
            words("=?ISO-8859-1?Q?Andr=E9?= Pirard"),
            "Andr\u{e9} Pirard"
        );
        assert_eq!(
            words(
                "=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=\n \
                 =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?="
            ),
            "If you can read this you understand the example."
        );
        assert_eq!(words("(=?ISO-8859-1?Q?a?= b)"), "(a b)");
        assert_eq!(words("(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)"), "(ab)");
        assert_eq!(words("(=?ISO-8859-1?Q?a_b?=)"), "(a b)");
        assert_eq!(words("(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)"), "(a b)");
        assert_eq!(words("=?US-ASCII*EN?Q?Keith_Moore?="), "Keith Moore");
    }

    #[test]
    fn text_that_is_not_an_encoded_word_stays() {
        for raw in ["=?a?z?b?=", "a =? b", "=?u?q?o", "=?u?B?!?= =?u?B?Y?="] {
            assert_eq!(words(raw), raw);
            assert_eq!(shown_text(raw.as_bytes()), raw);
        }
    }

    #[test]
    fn each_byte_is_mapped_to_its_place_in_the_word() {
        let raw = b"see =?utf-8?Q?http=3A//a.example/?= and =?utf-8?B?aHR0cDovL2I=?=";
        let MappedBytes { bytes: text, map } = decode_words_with_map(raw);
        let span = |part: &str| {
            let at = String::from_utf8_lossy(&text).find(part).unwrap();
            map.raw(Span::new(at, at + part.len())).of(raw)
        };
        assert_eq!(span("http://a.example/"), b"http=3A//a.example/");
        assert_eq!(span("http://b"), b"aHR0cDovL2I");
    }
}
