//! Search matches and citations of a URL, formatted as text, as a table, or as JSON with the field
//! names of the record.

use std::ops::Range;

use data_encoding::BASE64;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::stats::list_names;
use urlspool_mail::decode::AuthorKind;
use urlspool_record::record::{GrepLine, GrepStyle, TableSyntax, json_line, list_texts};
use urlspool_text::diagnostic::{printable, shortened};

/// Shown for a message without a date.
const NO_DATE: &str = "(no date) ";

/// A record as found in a database. Fields have the names and the order of the record's fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundRow {
    /// Id of the record.
    pub id: String,
    /// The URL without its fragment.
    pub url: String,
    /// The part after the `#`.
    pub fragment: Option<String>,
    /// Probability that the text is a URL and complete, from 0 to 1.
    pub confidence: f64,
    /// Part of the message in which the URL occurs.
    pub region: String,
    /// Text of the link in HTML.
    pub anchor: Option<String>,
    /// Reasons to be careful with the URL.
    pub hazards: Vec<String>,
    /// Place of the URL in its file.
    pub source: FoundSource,
    /// The outermost message that contains the URL.
    pub message: FoundMessage,
    /// The innermost message, whose author wrote the URL.
    pub author: FoundAuthor,
    /// The text around the URL, if it was scanned.
    pub context: Option<FoundContext>,
}

/// `source` of a record that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundSource {
    pub path: String,
    pub path_b64: Option<String>,
    /// List of names, as JSON.
    #[serde(serialize_with = "as_json")]
    pub member: Option<String>,
    /// List of names in base64, as JSON.
    #[serde(serialize_with = "as_json")]
    pub member_b64: Option<String>,
    pub start: i64,
    pub end: i64,
}

impl FoundSource {
    /// Returns the bytes of the path.
    pub(crate) fn path_bytes(&self) -> Vec<u8> {
        bytes_of(self.path_b64.as_deref(), &self.path)
    }
}

/// `message` of a record that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundMessage {
    pub id: Option<String>,
    pub date: Option<String>,
    pub from: Option<String>,
    pub subject: Option<String>,
}

/// `author` of a record that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct FoundAuthor {
    pub from: Option<String>,
    pub subject: Option<String>,
    pub date: Option<String>,
    pub message_id: Option<String>,
    pub by: String,
}

impl FoundAuthor {
    /// Returns `true` if only header lines in a text name the author. Anybody can write them.
    pub(crate) fn is_claimed(&self) -> bool {
        self.by == AuthorKind::Text.name()
    }
}

/// `context` of a record that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoundContext {
    /// The text before the URL.
    pub before: String,
    /// The text after the URL.
    pub after: String,
    /// Ranges of matched words in `before`.
    #[serde(skip)]
    pub before_marks: Vec<Range<usize>>,
    /// Ranges of matched words in `after`.
    #[serde(skip)]
    pub after_marks: Vec<Range<usize>>,
}

/// Piece of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassagePiece {
    /// Text on one line, without control characters.
    pub text: String,
    /// `true` for matched words.
    pub is_marked: bool,
}

impl FoundContext {
    /// Shortens both texts to the `max_chars` characters next to the URL. The context must have no
    /// marks.
    pub fn shorten(&mut self, max_chars: usize) {
        if let Some((start, cut)) = self.before.char_indices().rev().nth(max_chars) {
            self.before
                .replace_range(..start + cut.len_utf8(), "\u{2026}");
        }
        self.after = shortened(&self.after, max_chars).into_owned();
    }

    /// Returns the texts around the URL with the URL between them. A long URL is shortened.
    #[must_use]
    pub fn passage(&self, url: &str) -> Vec<PassagePiece> {
        let mut pieces = pieces(&self.before, &self.before_marks);
        pieces.push(PassagePiece {
            text: printable(&shortened(url, PASSAGE_URL_CHARS)),
            is_marked: false,
        });
        pieces.extend(self::pieces(&self.after, &self.after_marks));
        if let Some(first) = pieces.first_mut() {
            first.text = first.text.trim_start().to_owned();
        }
        if let Some(last) = pieces.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
        pieces
    }
}

/// Splits a text at the borders of marks and collapses each run of white space into one space.
fn pieces(text: &str, marks: &[Range<usize>]) -> Vec<PassagePiece> {
    let mut cuts = Vec::new();
    let mut end = 0;
    for mark in marks {
        cuts.extend([(end..mark.start, false), (mark.clone(), true)]);
        end = mark.end;
    }
    cuts.push((end..text.len(), false));
    cuts.retain(|(range, _)| !range.is_empty());
    let pieces = cuts.into_iter().map(|(range, is_marked)| PassagePiece {
        text: printable(&with_single_blanks(&text[range])),
        is_marked,
    });
    pieces.collect()
}

fn with_single_blanks(text: &str) -> String {
    let text = text.replace(char::is_whitespace, " ");
    let mut chars: Vec<char> = text.chars().collect();
    chars.dedup_by(|next, last| (*next, *last) == (' ', ' '));
    chars.into_iter().collect()
}

/// Escape sequences around matched words on a color terminal: bold red, as in `grep`.
const COLORED_MARK: [&str; 2] = ["\u{1b}[1;31m", "\u{1b}[0m"];

/// Marks around matched words in plain text, as in mail.
const PLAIN_MARK: [&str; 2] = ["*", "*"];

/// Maximum length of a URL in a passage, in characters. The whole URL is printed next to the
/// passage.
const PASSAGE_URL_CHARS: usize = 60;

impl FoundRow {
    /// Appends the line `path!member:start: url`.
    pub fn write_grep(&self, style: GrepStyle, out: &mut Vec<u8>) {
        let path = self.source.path_bytes();
        let url = self.whole_url();
        let line = GrepLine {
            path: &path,
            member: &self.member_bytes(),
            start: self.source.start.cast_unsigned(),
            url: url.as_bytes(),
            note: "",
        };
        line.write(style, out);
    }

    /// Appends the date, the sender and the subject of the innermost message on one line, then the
    /// line of [`FoundRow::write_grep`], then the passage if the record has its context.
    pub fn write_text(&self, style: GrepStyle, out: &mut Vec<u8>) {
        let date = self.date().unwrap_or(NO_DATE);
        let mut line = date.get(..NO_DATE.len()).unwrap_or(date).to_owned();
        let texts = [&self.author.from, &self.author.subject];
        for text in texts.into_iter().flatten() {
            line.push_str("  ");
            line.push_str(&printable(&text.replace('\t', " ")));
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
                let [start, end] = if is_marked { [start, end] } else { [""; 2] };
                out.extend_from_slice(format!("{start}{text}{end}").as_bytes());
            }
            out.push(b'\n');
        }
    }

    /// Returns the date of the innermost message, or else of the outermost one.
    pub(crate) fn date(&self) -> Option<&str> {
        self.author.date.as_deref().or(self.message.date.as_deref())
    }

    /// Returns the URL with its fragment.
    #[must_use]
    pub fn whole_url(&self) -> String {
        match &self.fragment {
            Some(fragment) => format!("{}#{fragment}", self.url),
            None => self.url.clone(),
        }
    }

    fn member_bytes(&self) -> Vec<Vec<u8>> {
        let encoded = self.source.member_b64.as_deref();
        let list = encoded.or(self.source.member.as_deref());
        let names = list_texts(list.unwrap_or_default()).into_iter();
        let names = names.map(|name| bytes_of(encoded.map(|_| &*name), &name));
        names.collect()
    }
}

/// A row in a list of matches, citations or links.
pub trait ListRow: Serialize + Sized {
    /// Column names of [`ListRow::write_row`], separated by commas.
    const COLUMNS: &'static str;

    /// Appends a table row.
    fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>);

    /// Appends a line of JSON. `urlspool show` reads the lines of matches and citations.
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&json_line(self));
    }
}

impl ListRow for FoundRow {
    const COLUMNS: &str = "message.date,message.from,message.subject,url,fragment,\
        source.path,source.start,message.id,author.date,author.from,author.by,hazards";

    fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>) {
        let (start, hazards) = (self.source.start.to_string(), self.hazards.join(" "));
        let cells = [
            self.message.date.as_deref(),
            self.message.from.as_deref(),
            self.message.subject.as_deref(),
            Some(&*self.url),
            self.fragment.as_deref(),
            Some(&*self.source.path),
            Some(&*start),
            self.message.id.as_deref(),
            self.author.date.as_deref(),
            self.author.from.as_deref(),
            Some(&*self.author.by),
            Some(&*hazards).filter(|names| !names.is_empty()),
        ];
        syntax.write_cells(cells, out);
    }
}

/// A record that cites a URL, with its place in the conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Citation {
    /// The record's fields as a search returns them.
    #[serde(flatten)]
    pub found: FoundRow,
    /// Number of quote marks before the URL. If not 0, the URL is quoted from an earlier message.
    pub quote_depth: i64,
    /// `List-Id` of the message.
    pub list_id: Option<String>,
    /// Newsgroups of the message.
    pub newsgroups: Vec<String>,
    /// First Message-ID in `References`; without one, the message's own Message-ID.
    pub thread: Option<String>,
    /// Row of `urls`.
    #[serde(skip)]
    pub(crate) row: i64,
    /// Key of the link; `None` if the URL is truncated.
    #[serde(skip)]
    pub(crate) key: Option<String>,
    /// Number of citations of the link.
    #[serde(skip)]
    pub(crate) citations: u64,
    #[serde(skip)]
    pub(crate) is_truncated: bool,
    #[serde(skip)]
    pub(crate) domain: Option<String>,
    /// Digest of the outermost message.
    #[serde(skip)]
    pub(crate) digest: String,
}

impl Citation {
    /// Returns the names of the mailing list and the newsgroups, without duplicates.
    #[must_use]
    pub fn lists(&self) -> Vec<String> {
        list_names(self.list_id.as_deref(), &self.newsgroups)
    }

    /// Appends the lines of [`FoundRow::write_text`], followed by the list, the thread, the quote
    /// depth and the link text, each if present.
    pub fn write_text(&self, style: GrepStyle, out: &mut Vec<u8>) {
        self.found.write_text(style, out);
        let quoted = (0 < self.quote_depth).then(|| self.quote_depth.to_string());
        let author = match &self.found.author {
            author if author.is_claimed() => {
                Some("by header lines in the text, which anybody can write")
            }
            author if author.by == AuthorKind::Outer.name() => None,
            author => Some(&*author.by),
        };
        let lists = Some(self.lists().join(", ")).filter(|text| !text.is_empty());
        for (name, text) in [
            ("author", author),
            ("list", lists.as_deref()),
            ("thread", self.thread.as_deref()),
            ("quoted", quoted.as_deref()),
            ("text", self.found.anchor.as_deref()),
        ] {
            if let Some(text) = text {
                let text = printable(&text.replace('\t', " "));
                out.extend_from_slice(format!("  {name:<8}{text}\n").as_bytes());
            }
        }
    }
}

impl ListRow for Citation {
    const COLUMNS: &str = "message.date,message.from,message.subject,list,thread,quote_depth,\
        url,anchor,passage,source.path,source.start,message.id,author.date,author.from,author.by";

    fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>) {
        let found = &self.found;
        let lists = self.lists().join(" ");
        let (depth, start) = (self.quote_depth.to_string(), found.source.start.to_string());
        let url = found.whole_url();
        let pieces = found.context.as_ref().map(|context| context.passage(&url));
        let pieces = pieces.map(|pieces| pieces.into_iter().map(|piece| piece.text));
        let passage = pieces.map(String::from_iter);
        syntax.write_cells(
            [
                found.message.date.as_deref(),
                found.message.from.as_deref(),
                found.message.subject.as_deref(),
                Some(&*lists).filter(|names| !names.is_empty()),
                self.thread.as_deref(),
                Some(&*depth),
                Some(&*url),
                found.anchor.as_deref(),
                passage.as_deref(),
                Some(&*found.source.path),
                Some(&*start),
                found.message.id.as_deref(),
                found.author.date.as_deref(),
                found.author.from.as_deref(),
                Some(&*found.author.by),
            ],
            out,
        );
    }
}

/// A link and the number of its citations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CitedLink {
    /// Key of the link.
    pub url: String,
    /// Number of citations.
    pub citations: u64,
}

impl ListRow for CitedLink {
    const COLUMNS: &str = "url,citations";

    fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>) {
        let citations = self.citations.to_string();
        syntax.write_cells([Some(&*self.url), Some(&*citations)], out);
    }
}

/// Returns the bytes of a text, from their base64 form if there is one.
fn bytes_of(encoded: Option<&str>, text: &str) -> Vec<u8> {
    let decoded = encoded.and_then(|encoded| BASE64.decode(encoded.as_bytes()).ok());
    decoded.unwrap_or_else(|| text.as_bytes().to_owned())
}

/// Serializes a list that is stored as JSON. Writes null if it is missing, or invalid because the
/// database was edited.
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
    use urlspool_record::record::read_source_range;

    fn row() -> FoundRow {
        FoundRow {
            id: "0".repeat(32),
            url: "http://a.example/".to_owned(),
            fragment: Some("f".to_owned()),
            confidence: 1.0,
            region: "body".to_owned(),
            anchor: None,
            hazards: Vec::new(),
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
            author: FoundAuthor::default(),
            context: None,
        }
    }

    #[test]
    fn a_context_is_cut_at_the_end_far_from_its_url() {
        for (before, after, expected) in [
            ("ab", "cd", ("ab", "cd")),
            (
                "a\u{e9}\u{e8}",
                "\u{e9}\u{e8}a",
                ("\u{2026}\u{e9}\u{e8}", "\u{e9}\u{e8}\u{2026}"),
            ),
            ("", "", ("", "")),
        ] {
            let mut context = FoundContext {
                before: before.to_owned(),
                after: after.to_owned(),
                ..FoundContext::default()
            };
            context.shorten(2);
            assert_eq!((&*context.before, &*context.after), expected);
        }
    }

    #[test]
    fn a_match_names_the_range_of_its_bytes() {
        let mut line = Vec::new();
        row().write_json(&mut line);
        let range = read_source_range(str::from_utf8(&line).unwrap()).unwrap();
        assert_eq!(range.path.as_os_str().as_encoded_bytes(), b"a\xFF");
        assert_eq!((range.start, range.end), (3, Some(9)));
        assert_eq!(range.member, [b"b".to_vec()]);
    }

    #[test]
    fn a_text_line_names_file_member_and_offset() {
        let mut line = Vec::new();
        row().write_grep(GrepStyle::Plain, &mut line);
        assert_eq!(line, b"a\xFF!b:3: http://a.example/#f\n");
    }
}
