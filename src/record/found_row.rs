//! Matches of a search as lines: for people, or as JSON with the names of the record's fields.

use std::ops::Range;

use data_encoding::BASE64;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::format::{GrepLine, GrepStyle, TableSyntax};
use super::json_text::append_json_line;
use crate::diagnostic::{printable, shortened};

/// Stands for the date of a message without one.
const NO_DATE: &str = "(no date) ";

/// A record as a search finds it in a database. The fields are those of the record, in its order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(
    missing_docs,
    reason = "the table of the fields is their documentation"
)]
pub struct FoundRow {
    pub id: String,
    pub url: String,
    pub fragment: Option<String>,
    pub confidence: f64,
    pub region: String,
    pub anchor: Option<String>,
    pub source: FoundSource,
    pub message: FoundMessage,
    pub context: Option<FoundContext>,
}

/// The `source` of a record that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(
    missing_docs,
    reason = "the table of the fields is their documentation"
)]
pub struct FoundSource {
    pub path: String,
    pub path_b64: Option<String>,
    /// The list of names, as JSON.
    #[serde(serialize_with = "as_json")]
    pub member: Option<String>,
    /// The list of names in base64, as JSON.
    #[serde(serialize_with = "as_json")]
    pub member_b64: Option<String>,
    pub start: i64,
    pub end: i64,
}

/// The `message` of a record that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(
    missing_docs,
    reason = "the table of the fields is their documentation"
)]
pub struct FoundMessage {
    pub id: Option<String>,
    pub date: Option<String>,
    pub from: Option<String>,
    pub subject: Option<String>,
}

/// The `context` of a record that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(
    missing_docs,
    reason = "the table of the fields is their documentation"
)]
#[non_exhaustive]
pub struct FoundContext {
    pub before: String,
    pub after: String,
    /// The ranges of words in `before` that were searched for.
    #[serde(skip)]
    pub before_marks: Vec<Range<usize>>,
    /// The ranges of words in `after`.
    #[serde(skip)]
    pub after_marks: Vec<Range<usize>>,
}

/// A piece of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassagePiece {
    /// Its text, on one line, without control characters.
    pub text: String,
    /// `true` for words that were searched for.
    pub is_marked: bool,
}

impl FoundContext {
    /// Creates a context without marks.
    pub(crate) fn new(before: String, after: String) -> FoundContext {
        FoundContext {
            before,
            after,
            before_marks: Vec::new(),
            after_marks: Vec::new(),
        }
    }

    /// Leaves of both texts at most `max_chars` characters next to the URL. There must be no marks.
    #[cfg(feature = "browse")]
    pub(crate) fn shorten(&mut self, max_chars: usize) {
        if let Some((start, _)) = self.before.char_indices().rev().nth(max_chars) {
            let start = start
                + self.before[start..]
                    .chars()
                    .next()
                    .map_or(0, char::len_utf8);
            self.before.replace_range(..start, "\u{2026}");
        }
        self.after = shortened(&self.after, max_chars).into_owned();
    }

    /// Returns the texts around a URL with the URL between them, which is shortened if it is long.
    #[must_use]
    pub fn passage(&self, url: &str) -> Vec<PassagePiece> {
        let url = PassagePiece {
            text: printable(&shortened(url, PASSAGE_URL_CHARS)),
            is_marked: false,
        };
        let mut pieces = pieces(&self.before, &self.before_marks);
        pieces.push(url);
        pieces.extend(self::pieces(&self.after, &self.after_marks));
        if let Some(first) = pieces.first_mut() {
            first.text = first.text.trim_start().to_owned();
        }
        if let Some(last) = pieces.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
        pieces
    }

    /// Returns the passage as one text, without marks.
    #[must_use]
    pub fn passage_text(&self, url: &str) -> String {
        let pieces = self.passage(url).into_iter();
        pieces.map(|piece| piece.text).collect()
    }
}

/// Divides a text at the borders of marks. All white space in it becomes single blanks.
fn pieces(text: &str, marks: &[Range<usize>]) -> Vec<PassagePiece> {
    let mut pieces = Vec::new();
    let mut add = |text: &str, is_marked| {
        if !text.is_empty() {
            let text = printable(&with_single_blanks(text));
            pieces.push(PassagePiece { text, is_marked });
        }
    };
    let mut end = 0;
    for mark in marks {
        add(&text[end..mark.start], false);
        add(&text[mark.clone()], true);
        end = mark.end;
    }
    add(&text[end..], false);
    pieces
}

fn with_single_blanks(text: &str) -> String {
    let mut single = String::with_capacity(text.len());
    let mut was_blank = false;
    for c in text.chars() {
        let is_blank = c.is_whitespace();
        if !is_blank {
            single.push(c);
        } else if !was_blank {
            single.push(' ');
        }
        was_blank = is_blank;
    }
    single
}

/// Marks of words on a terminal with colours: bold red, as `grep` has them.
const COLORED_MARK: [&str; 2] = ["\u{1b}[1;31m", "\u{1b}[0m"];

/// Marks of words in plain text, as mail has them.
const PLAIN_MARK: [&str; 2] = ["*", "*"];

/// Maximum length of a URL in a passage, in characters: the whole URL stands beside it.
const PASSAGE_URL_CHARS: usize = 60;

impl FoundRow {
    /// Appends the line `path!member:start: url`.
    pub fn write_grep(&self, style: GrepStyle, out: &mut Vec<u8>) {
        let path = bytes_of(self.source.path_b64.as_deref(), &self.source.path);
        let url = self.whole_url();
        let line = GrepLine {
            path: &path,
            member: &self.member_bytes(),
            start: self.source.start.cast_unsigned(),
            url: url.as_bytes(),
        };
        line.write(style, out);
    }

    /// Appends two lines: the date, the sender and the subject; and the one of
    /// [`FoundRow::write_grep`]. Below them stands the passage, if the record has its context.
    pub fn write_text(&self, style: GrepStyle, out: &mut Vec<u8>) {
        let day = |date: &String| date.get(..10).unwrap_or(date).to_owned();
        let day = self
            .message
            .date
            .as_ref()
            .map_or_else(|| NO_DATE.to_owned(), day);
        let mut line = day;
        for text in [&self.message.from, &self.message.subject]
            .into_iter()
            .flatten()
        {
            line.push_str("  ");
            line.push_str(&printable(text));
        }
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
        self.write_grep(style, out);
        if let Some(context) = &self.context {
            let [start, end] = match style {
                GrepStyle::Colored => COLORED_MARK,
                GrepStyle::Plain | GrepStyle::Escaped => PLAIN_MARK,
            };
            out.extend_from_slice(b"  ");
            for PassagePiece { text, is_marked } in context.passage(&self.whole_url()) {
                let text = if is_marked {
                    format!("{start}{text}{end}")
                } else {
                    text
                };
                out.extend_from_slice(text.as_bytes());
            }
            out.push(b'\n');
        }
    }

    /// Appends the URL with its fragment.
    pub fn write_url(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.whole_url().as_bytes());
        out.push(b'\n');
    }

    /// The names of the columns of [`FoundRow::write_row`].
    pub const COLUMNS: [&'static str; 8] = [
        "message.date",
        "message.from",
        "message.subject",
        "url",
        "fragment",
        "source.path",
        "source.start",
        "message.id",
    ];

    /// Appends a row of a table.
    pub fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>) {
        let start = self.source.start.to_string();
        let cells = [
            self.message.date.as_deref(),
            self.message.from.as_deref(),
            self.message.subject.as_deref(),
            Some(&*self.url),
            self.fragment.as_deref(),
            Some(&*self.source.path),
            Some(&*start),
            self.message.id.as_deref(),
        ];
        syntax.write_cells(cells, out);
    }

    pub(super) fn whole_url(&self) -> String {
        match &self.fragment {
            Some(fragment) => format!("{}#{fragment}", self.url),
            None => self.url.clone(),
        }
    }

    /// Appends a line of JSON, which `urlspool show` reads.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        append_json_line(out, self);
    }

    fn member_bytes(&self) -> Vec<Vec<u8>> {
        let names = |list: &Option<String>| -> Vec<String> {
            let list = list
                .as_deref()
                .and_then(|list| serde_json::from_str(list).ok());
            list.unwrap_or_default()
        };
        match &self.source.member_b64 {
            Some(_) => names(&self.source.member_b64)
                .iter()
                .map(|name| bytes_of(Some(name), ""))
                .collect(),
            None => names(&self.source.member)
                .into_iter()
                .map(String::into_bytes)
                .collect(),
        }
    }
}

/// The bytes of a text: those in base64, if there are any.
fn bytes_of(encoded: Option<&str>, text: &str) -> Vec<u8> {
    let decoded = encoded.and_then(|encoded| BASE64.decode(encoded.as_bytes()).ok());
    decoded.unwrap_or_else(|| text.as_bytes().to_owned())
}

/// Writes a list that is JSON already; null if there is none, or somebody changed the database.
#[expect(clippy::ref_option, reason = "serde passes a field by reference")]
fn as_json<S: Serializer>(list: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let list: Option<&RawValue> = list
        .as_deref()
        .and_then(|list| serde_json::from_str(list).ok());
    list.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::read_source_range;

    fn row() -> FoundRow {
        FoundRow {
            id: "0".repeat(32),
            url: "http://a.example/".to_owned(),
            fragment: Some("f".to_owned()),
            confidence: 1.0,
            region: "body".to_owned(),
            anchor: None,
            source: FoundSource {
                path: "a?".to_owned(),
                path_b64: Some("Yf8=".to_owned()),
                member: Some("[\"b\"]".to_owned()),
                member_b64: None,
                start: 3,
                end: 9,
            },
            message: FoundMessage {
                id: None,
                date: None,
                from: None,
                subject: None,
            },
            context: None,
        }
    }

    #[cfg(feature = "browse")]
    #[test]
    fn a_context_is_shortened_away_from_its_url() {
        for (before, after, expected) in [
            ("ab", "cd", ("ab", "cd")),
            (
                "a\u{e9}\u{e8}",
                "\u{e9}\u{e8}a",
                ("\u{2026}\u{e9}\u{e8}", "\u{e9}\u{e8}\u{2026}"),
            ),
            ("", "", ("", "")),
        ] {
            let mut context = FoundContext::new(before.to_owned(), after.to_owned());
            context.shorten(2);
            assert_eq!((&*context.before, &*context.after), expected);
        }
    }

    #[test]
    fn a_match_leads_back_to_its_bytes() {
        let mut line = Vec::new();
        row().write_json(&mut line);
        let range = read_source_range(str::from_utf8(&line).unwrap()).unwrap();
        assert_eq!(range.path.as_os_str().as_encoded_bytes(), b"a\xFF");
        assert_eq!((range.start, range.end), (3, 9));
        assert_eq!(range.member, [b"b".to_vec()]);
    }

    #[test]
    fn a_line_for_people_names_file_member_and_offset() {
        let mut line = Vec::new();
        row().write_grep(GrepStyle::Plain, &mut line);
        assert_eq!(line, b"a\xFF!b:3: http://a.example/#f\n");
    }
}
