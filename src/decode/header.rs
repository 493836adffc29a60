//! HeaderForm fields (RFC 5322 section 2.2), as bytes.

use super::field_names::{FieldRoles, KNOWN, KnownField, roles};
use crate::span::Span;
use crate::split::{HeaderForm, Message};

/// One field, as ranges of the bytes it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderField {
    /// The name, without blanks before the colon.
    pub name: Span,
    /// The value, with its folds, without the blanks around it and the last line end.
    pub value: Span,
    /// What its name makes of it.
    pub roles: FieldRoles,
}

/// The fields of a header block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderFields {
    /// The fields, in order.
    pub all: Vec<HeaderField>,
    /// Where the body begins: behind the blank line, or at the first line that is no field.
    pub body: usize,
    /// Whether the block goes on beyond the bytes that are read as one; `body` is where they end.
    pub cut: bool,
}

impl HeaderFields {
    /// Reads the header block at the start of `text`, up to `most` bytes of it.
    ///
    /// A line that is neither a field nor a continuation ends the block, except quoted `From ` lines before the first
    /// field. Without any field the body begins at once.
    #[must_use]
    pub fn of(text: &[u8], most: usize) -> HeaderFields {
        // Mail of today has forty fields and more.
        const USUAL_FIELDS: usize = 48;
        let mut fields = HeaderFields {
            all: Vec::with_capacity(USUAL_FIELDS),
            ..HeaderFields::default()
        };
        let most = text.len().min(most);
        let mut at = 0;
        while at < most {
            let line = &text[at..];
            match (name(line), line) {
                (Some((name, colon)), _) => {
                    let end = field_end(text, at + colon + 1, most);
                    fields
                        .all
                        .push(field(text, Span::new(at, at + name), at + colon + 1, end));
                    at = end;
                }
                (None, [b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..]) => {
                    fields.body = line_end(text, at);
                    return fields;
                }
                (None, _)
                    if fields.all.is_empty()
                        && (line.starts_with(b">From ") || line.starts_with(b"From ")) =>
                {
                    at = line_end(text, at);
                }
                (None, _) => break,
            }
        }
        fields.body = if fields.all.is_empty() { 0 } else { at };
        fields.cut = at >= most && at < text.len();
        fields
    }

    /// The fields of a message in any format.
    #[must_use]
    pub fn in_message(message: &Message<'_>, most: usize) -> HeaderFields {
        match message.header {
            HeaderForm::Present => HeaderFields::of_message(message.raw, most),
            HeaderForm::Copied { body } => HeaderFields {
                body,
                ..HeaderFields::of(message.raw, most)
            },
            HeaderForm::Absent | HeaderForm::ANews => HeaderFields::default(),
        }
    }

    /// The same for a message: a byte order mark and blank lines before its first field are passed over.
    #[must_use]
    pub fn of_message(raw: &[u8], most: usize) -> HeaderFields {
        let text = raw.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(raw);
        let blank = text
            .iter()
            .take_while(|&&byte| matches!(byte, b'\n' | b'\r'))
            .count();
        let before = raw.len() - text.len() + blank;
        let fields = HeaderFields::of(&raw[before..], most);
        match before {
            0 => fields,
            _ if fields.all.is_empty() => HeaderFields::of(raw, most),
            _ => fields.shifted(before),
        }
    }

    /// The fields, with offsets into bytes of which theirs began at `by`.
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
            cut: self.cut,
        }
    }

    /// The first field of each of these names.
    #[must_use]
    pub fn firsts<const N: usize>(&self, names: [KnownField; N]) -> [Option<HeaderField>; N] {
        let mut found = [None; KNOWN.len()];
        for field in self.all.iter().rev() {
            if let Some(known) = field.roles.known {
                found[known as usize] = Some(*field);
            }
        }
        names.map(|known| found[known as usize])
    }

    /// All fields of that name.
    pub fn each(&self, name: KnownField) -> impl Iterator<Item = &HeaderField> {
        self.all
            .iter()
            .filter(move |field| field.roles.known == Some(name))
    }

    /// The first field of that name.
    #[must_use]
    pub fn first_known(&self, name: KnownField) -> Option<HeaderField> {
        self.each(name).next().copied()
    }

    /// The first field of that name, in any case.
    #[must_use]
    pub fn first(&self, text: &[u8], name: &str) -> Option<HeaderField> {
        self.all
            .iter()
            .copied()
            .find(|field| field.name.of(text).eq_ignore_ascii_case(name.as_bytes()))
    }
}

/// How many bytes at the start of a line can stand in a name: printable ASCII but the colon (RFC 5322 section 2.2).
///
/// Eight at a time: of a word's bytes each sets its highest bit in one of three sums if it cannot. What is carried over
/// touches only those behind, and the first is all that is asked for.
fn name_octets(line: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHEST: u64 = ONES << 7;
    let (words, rest) = line.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let below = word.wrapping_sub(ONES * u64::from(b'!')) & !word;
        let above = word.wrapping_add(ONES * u64::from(0x7F - b'~')) | word;
        let colon = word ^ (ONES * u64::from(b':'));
        let colon = colon.wrapping_sub(ONES) & !colon;
        let others = (below | above | colon) & HIGHEST;
        if others != 0 {
            return at * 8 + others.trailing_zeros() as usize / 8;
        }
    }
    let is_other = |&byte: &u8| !matches!(byte, b'!'..=b'~') || byte == b':';
    rest.iter()
        .position(is_other)
        .map_or(line.len(), |at| words.len() * 8 + at)
}

/// Bytes of the name of the field that `line` begins with, and the offset of its colon.
fn name(line: &[u8]) -> Option<(usize, usize)> {
    let name = name_octets(line);
    let blanks = line[name..]
        .iter()
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count();
    // `http://...` at a line's start is text, however much it looks like a field.
    let colon = name + blanks;
    (name > 0 && line.get(colon) == Some(&b':') && !line[colon + 1..].starts_with(b"//"))
        .then_some((name, colon))
}

/// Where the line ends that `at` is in: behind its line feed, or with the text.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)
}

/// Where the field ends that `at` is in: behind the first line end that no continuation line follows. One that begins at
/// `most` or later is not looked for.
fn field_end(text: &[u8], at: usize, most: usize) -> usize {
    let mut end = line_end(text, at);
    while end < most && matches!(text[end], b' ' | b'\t') {
        end = line_end(text, end + continued(&text[end..most]));
    }
    end
}

/// Bytes at the start of `text` in which no field ends. There may be more of them.
fn continued(text: &[u8]) -> usize {
    const PAIRS: usize = 32;
    // A chunk without a way out in its middle is looked at in a few steps of the machine.
    let ends = |octets: &[u8; PAIRS], behind: &[u8; PAIRS]| {
        octets
            .iter()
            .zip(behind)
            .fold(false, |any, (&octet, &next)| {
                let ends = octet == b'\n' && next != b' ' && next != b'\t';
                any | ends
            })
    };
    let pairs = text
        .as_chunks()
        .0
        .iter()
        .zip(text.get(1..).unwrap_or_default().as_chunks().0);
    pairs
        .take_while(|(octets, behind)| !ends(octets, behind))
        .count()
        * PAIRS
}

/// A field whose value begins at `start` and whose last line ends at `end`. A value that begins on a continuation line
/// begins with its first word.
fn field(text: &[u8], name: Span, start: usize, end: usize) -> HeaderField {
    let line = &text[start..end];
    let blanks = line
        .iter()
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count();
    let start = match line.get(blanks) {
        Some(first) if !first.is_ascii_whitespace() => start + blanks,
        _ => value_start(text, start + blanks, end),
    };
    let end = start + text[start..end].trim_ascii_end().len();
    HeaderField {
        name,
        value: Span::new(start, end),
        roles: roles(&text[name.start..], name.len()),
    }
}

/// Where the value begins of a field that ends at `end`, of which white space is at `start`.
fn value_start(text: &[u8], start: usize, end: usize) -> usize {
    let first_end = line_end(&text[..end], start);
    let words = text[start..end].trim_ascii_start();
    let first_is_blank = end - words.len() >= first_end;
    if first_is_blank && !words.is_empty() {
        end - words.len()
    } else {
        start
    }
}

/// Whether a value may hold an encoded word (RFC 2047 section 2). Question marks are rare, and `=?` rarer.
pub(super) fn has_encoded_word(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'?', raw).any(|at| at > 0 && raw[at - 1] == b'=')
}

/// The value of a field in words: unfolded, RFC 2047's encoded words and raw 8-bit text decoded.
#[must_use]
pub fn value(raw: &[u8]) -> String {
    // Nearly all values are plain words on one line.
    if let Some(text) = std::str::from_utf8(raw)
        .ok()
        .filter(|text| text.is_ascii() && !has_encoded_word(raw))
    {
        return unfolded(text);
    }
    let mut line = b"X: ".to_vec();
    line.extend(raw);
    line.push(b'\n');
    match mailparse::parse_header(&line) {
        Ok((header, _)) => header.get_value(),
        Err(_) => String::from_utf8_lossy(raw).into_owned(),
    }
}

/// An ASCII value on one line: a line end and the blanks behind it are one blank (RFC 5322 section 2.2.3).
fn unfolded(raw: &str) -> String {
    if memchr::memchr2(b'\n', b'\r', raw.as_bytes()).is_none() {
        return raw.to_owned();
    }
    let mut text = String::with_capacity(raw.len());
    for (number, line) in raw.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if number > 0 {
            text.push(' ');
        }
        text.push_str(if number > 0 {
            line.trim_ascii_start()
        } else {
            line
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a name are told as one by one, whatever stands around them.
    #[test]
    fn names_end_where_an_octet_does_not_belong() {
        for octet in 0..=255 {
            for len in 0..20 {
                for at in 0..=len {
                    let mut line = vec![b'~'; len];
                    line.insert(at, octet);
                    line.extend(b"\x01\xFF:");
                    let belongs = (b'!'..=b'~').contains(&octet) && octet != b':';
                    assert_eq!(
                        name_octets(&line),
                        if belongs { len + 1 } else { at },
                        "{octet} {len} {at}"
                    );
                    assert_eq!(
                        name_octets(&line[..=len]),
                        if belongs { len + 1 } else { at }
                    );
                }
            }
        }
    }

    /// The end of a field and the start of its value, line by line.
    fn line_by_line(text: &[u8], at: usize, most: usize) -> (usize, usize) {
        let first_end = line_end(text, at);
        let mut end = first_end;
        while end < most && matches!(text[end], b' ' | b'\t') {
            end = line_end(text, end);
        }
        let start = at
            + text[at..first_end]
                .iter()
                .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
                .count();
        let value = text[start..end].trim_ascii_end();
        let first_is_blank = text[start..first_end].trim_ascii_start().is_empty();
        (
            end,
            if first_is_blank {
                start + value.len() - value.trim_ascii_start().len()
            } else {
                start
            },
        )
    }

    proptest::proptest! {
        #[test]
        fn fields_end_where_no_line_continues_them(
            pieces in proptest::collection::vec(proptest::sample::select(vec!["\n", "\r\n", "\n ", "\t", " ", "\x0C", "\r", "a", "twenty-five octets, a word"]), 0..30),
            at in 0..40usize,
            most in 0..400usize,
        ) {
            let text = pieces.concat();
            let (at, most) = (at.min(text.len()), most.min(text.len()));
            let (end, start) = line_by_line(text.as_bytes(), at, most);
            proptest::prop_assert_eq!(field_end(text.as_bytes(), at, most), end);
            let value = field(text.as_bytes(), Span::new(at, at), at, end).value;
            let len = text.as_bytes()[start..end].trim_ascii_end().len();
            proptest::prop_assert_eq!(value, Span::new(start, start + len));
        }
    }

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

    #[test]
    fn folds_belong_to_the_value() {
        assert_eq!(
            shown("A: b\r\n c\r\nD :e\r\n\r\nbody"),
            (vec!["A=b\r\n c".to_owned(), "D=e".to_owned()], "body")
        );
        assert_eq!(shown("A:\n b\n\nbody"), (vec!["A=b".to_owned()], "body"));
    }

    #[test]
    fn what_is_no_field_begins_the_body() {
        assert_eq!(shown("no header\nA: b"), (vec![], "no header\nA: b"));
        assert_eq!(
            shown("A: b\nno field\n"),
            (vec!["A=b".to_owned()], "no field\n")
        );
        assert_eq!(shown(">From x\nA: b\n\nc"), (vec!["A=b".to_owned()], "c"));
    }

    #[test]
    fn encoded_words_are_decoded() {
        assert_eq!(value(b"=?iso-8859-1?Q?caf=E9?=\r\n x"), "caf\u{e9} x");
    }
}
