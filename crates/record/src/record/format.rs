//! Output formats of a scan (whole records, chosen fields, tables and lists of URLs) and the writer
//! of their lines.
//!
//! A format is resolved once per run ([`LineFormat`]), which avoids name lookups per record.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::defang::{Links, write_defanged, write_defanged_host};
use super::json::{Caches, JsonSink, text};
use super::owned::{Record, RecordBuilder};
use super::value::{MessageTail, RecordValues, Scalar, ValueSink};
use super::{Demand, FieldId, FoundRecord, JsonFields};
use urlspool_mail::decode::{Author, InfoFields};
use urlspool_text::diagnostic::{EscapeForm, printable, printable_lines};
use urlspool_text::parse::Verdicts;

/// Format of a run's lines: the data written for each record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFormat {
    /// All or some fields of the record, as JSON.
    Json(JsonFields),
    /// The URL and its fragment.
    Urls(Links),
    /// The URL that a browser would fetch. No line if there is no such URL.
    Hrefs(Links),
    /// Some fields of the record, as a line of a table.
    Table(Table),
    /// The source, the offset and the URL.
    Grep(GrepStyle, Links),
    /// As `Grep`, followed by the URL's hazards in brackets.
    Watch(GrepStyle, Links),
    /// No lines, but a [`Record`](super::Record) with the values of these fields.
    Values(Vec<FieldId>),
}

/// Returns the format of whole records.
impl Default for LineFormat {
    fn default() -> LineFormat {
        LineFormat::Json(JsonFields::default())
    }
}

impl LineFormat {
    /// Returns the line before the first record, if the format has one.
    #[must_use]
    pub fn header(&self) -> Option<Vec<u8>> {
        let LineFormat::Table(table) = self else {
            return None;
        };
        let names: Vec<&str> = table.columns.iter().map(|field| field.name()).collect();
        let separator = char::from(table.syntax.separator()).to_string();
        let is_written = table.header == HeaderRow::Written;
        is_written.then(|| (names.join(&separator) + "\n").into_bytes())
    }

    /// Returns the fields of records as values; `None` for lines.
    #[must_use]
    pub fn values(&self) -> Option<&[FieldId]> {
        match self {
            LineFormat::Values(fields) => Some(fields),
            _ => None,
        }
    }

    /// Writes numbers of occurrences at these offsets in lines. They are in order, and from
    /// [`RecordWriter::write`]. Linear in the length of the lines after the first offset.
    pub fn set_counts(&self, lines: &mut Vec<u8>, counts: impl Iterator<Item = (usize, u64)>) {
        let unknown_len = if self.has_line_per_record() {
            "null".len()
        } else {
            0
        };
        let mut counts = counts.peekable();
        let Some(&(first, _)) = counts.peek() else {
            return;
        };
        let (rest, mut copied) = (lines.split_off(first), 0);
        for (at, count) in counts {
            lines.extend_from_slice(&rest[copied..at - first]);
            lines.extend_from_slice(count.to_string().as_bytes());
            copied = at - first + unknown_len;
        }
        lines.extend_from_slice(&rest[copied..]);
    }

    /// Returns `true` if each record is exactly one line, without a line end inside it, or a value.
    #[must_use]
    pub fn has_line_per_record(&self) -> bool {
        matches!(self, LineFormat::Json(_) | LineFormat::Values(_))
    }

    /// Returns whether the lines need any of these fields.
    #[must_use]
    pub fn demand(&self, wanted: &[FieldId]) -> Demand {
        if self.fields().iter().any(|field| wanted.contains(field)) {
            Demand::Needed
        } else {
            Demand::Unneeded
        }
    }

    /// Returns the message header data that the lines need.
    #[must_use]
    pub fn info(&self) -> InfoFields {
        let wanted = self.fields().iter().map(|id| id.field().info);
        wanted.fold(InfoFields::NONE, InfoFields::with)
    }

    /// Returns the fields in the lines, except those that come for free with the URL.
    fn fields(&self) -> &[FieldId] {
        match self {
            LineFormat::Json(fields) => fields.chosen(),
            LineFormat::Table(table) => &table.columns,
            LineFormat::Values(fields) => fields,
            LineFormat::Urls(_)
            | LineFormat::Hrefs(_)
            | LineFormat::Grep(..)
            | LineFormat::Watch(..) => &[],
        }
    }
}

/// Returns the URL in the form in which it is written.
fn link(url: &[u8], links: Links) -> Cow<'_, [u8]> {
    match links {
        Links::Live => url.into(),
        Links::Defanged => {
            let mut defanged = Vec::new();
            write_defanged(&text(url), &mut defanged);
            defanged.into()
        }
    }
}

/// Escaping and colour of human-readable lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepStyle {
    /// For files and pipes: names and URLs are unchanged. A line feed in a name is written as `\n`.
    Plain,
    /// For terminals: control characters in names and URLs are escaped.
    Escaped,
    /// Escaped, with colours for the path, the offset and the URL.
    Colored,
}

/// Values of a line of [`LineFormat::Grep`].
#[derive(Clone, Copy, Debug)]
pub struct GrepLine<'l> {
    /// Path of the file.
    pub path: &'l [u8],
    /// Names of the archive members, outermost first.
    pub member: &'l [Vec<u8>],
    /// Offset of the URL.
    pub start: u64,
    /// The URL with its fragment.
    pub url: &'l [u8],
    /// Text after the URL.
    pub note: &'l str,
}

impl GrepLine<'_> {
    /// Appends the line. Colours follow `grep` and `ripgrep`: path magenta, offset green, URL bold.
    pub fn write(&self, style: GrepStyle, out: &mut Vec<u8>) {
        let [path, offset, url, end] = match style {
            GrepStyle::Colored => ["\u{1b}[35m", "\u{1b}[32m", "\u{1b}[1m", "\u{1b}[0m"],
            GrepStyle::Plain | GrepStyle::Escaped => [""; 4],
        };
        out.extend_from_slice(path.as_bytes());
        write_text(self.path, style, out);
        for name in self.member {
            out.push(b'!');
            write_text(name, style, out);
        }
        let start = self.start;
        out.extend_from_slice(format!("{end}:{offset}{start}{end}: {url}").as_bytes());
        match style {
            GrepStyle::Plain => out.extend_from_slice(text(self.url).as_bytes()),
            GrepStyle::Escaped | GrepStyle::Colored => write_text(self.url, style, out),
        }
        out.extend_from_slice(end.as_bytes());
        out.extend_from_slice(self.note.as_bytes());
        out.push(b'\n');
    }
}

/// Appends a name or URL. The plain style only escapes line feeds; the others escape it with
/// [`printable`].
fn write_text(bytes: &[u8], style: GrepStyle, out: &mut Vec<u8>) {
    match style {
        GrepStyle::Plain => {
            for &byte in bytes {
                match byte {
                    b'\n' => out.extend_from_slice(b"\\n"),
                    _ => out.push(byte),
                }
            }
        }
        GrepStyle::Escaped | GrepStyle::Colored => {
            out.extend_from_slice(printable(&text(bytes)).as_bytes());
        }
    }
}

/// Numbers of occurrences of the URLs of a message, each of which has one record at most.
#[derive(Debug, Default)]
pub struct Occurrences {
    /// Hash of each record's key, and the place of its number: an offset in lines, or the index of
    /// a value.
    places: Vec<(u128, usize)>,
    /// Number of each URL that occurs several times, by the hash of its key.
    repeated: HashMap<u128, u64>,
}

impl Occurrences {
    /// Adds a record.
    pub fn add(&mut self, key: u128, place: usize) {
        self.places.push((key, place));
    }

    /// Counts a duplicate.
    pub fn repeat(&mut self, key: u128) {
        *self.repeated.entry(key).or_insert(1) += 1;
    }

    /// Removes all records and numbers. Returns the places of URLs that occur several times, in
    /// order, with the number.
    pub fn take(&mut self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let Occurrences { places, repeated } = std::mem::take(self);
        let places = places.into_iter();
        places.filter_map(move |(key, place)| Some((place, *repeated.get(&key)?)))
    }
}

/// Columns of a table and their syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Fields in column order.
    pub columns: Vec<FieldId>,
    /// Syntax of the lines.
    pub syntax: TableSyntax,
    /// Treatment of the line before the rows.
    pub header: HeaderRow,
    /// Form of URLs in all cells except source paths.
    pub links: Links,
}

/// Treatment of the line of column names before the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderRow {
    /// The line is written.
    Written,
    /// The line is omitted.
    Omitted,
}

/// Syntax of a table's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableSyntax {
    /// Comma-separated values. A value that contains the delimiter, quotation marks or line ends is
    /// quoted. An empty text is written as `""`; a missing value is an empty cell.
    Csv {
        /// Protection against texts that look like formulas.
        guard: FormulaGuard,
        /// Byte between two cells: ASCII, but not a quotation mark, an apostrophe or a line end.
        delimiter: u8,
    },
    /// Tab-separated values. A tab is written as `\t`, a line feed as `\n`, a carriage return as
    /// `\r`, and a backslash as `\\`.
    Tsv,
}

impl TableSyntax {
    /// Returns the byte between two cells.
    #[must_use]
    pub fn separator(self) -> u8 {
        match self {
            TableSyntax::Csv { delimiter, .. } => delimiter,
            TableSyntax::Tsv => b'\t',
        }
    }

    /// Appends a row of texts. `None` is an empty cell.
    pub fn write_cells<'t>(
        self,
        cells: impl IntoIterator<Item = Option<&'t str>>,
        out: &mut Vec<u8>,
    ) {
        for (index, cell) in cells.into_iter().enumerate() {
            if 0 < index {
                out.push(self.separator());
            }
            if let Some(cell) = cell {
                self.write_cell(cell.as_bytes(), CellContent::Text, out);
            }
        }
        out.push(b'\n');
    }

    /// Appends a cell, quoted or escaped if necessary. In CSV, an empty text is `""`.
    fn write_cell(self, cell: &[u8], content: CellContent, out: &mut Vec<u8>) {
        let TableSyntax::Csv { guard, delimiter } = self else {
            return escape_tsv(cell, out);
        };
        let is_guarded = guard == FormulaGuard::On && content != CellContent::Own;
        let text = if is_guarded {
            printable_lines(cell, EscapeForm::Text)
        } else {
            cell.into()
        };
        let mut bytes = text.iter();
        let is_quoted = cell.is_empty() && content == CellContent::Text
            || bytes.any(|byte| *byte == delimiter || b"\"\r\n".contains(byte));
        let quote: &[u8] = if is_quoted { b"\"" } else { b"" };
        out.extend_from_slice(quote);
        if is_guarded && is_formula(cell) {
            out.push(b'\'');
        }
        for byte in &*text {
            if *byte == b'"' {
                out.push(b'"');
            }
            out.push(*byte);
        }
        out.extend_from_slice(quote);
    }
}

/// Protection against texts that a spreadsheet takes for formulas (starting with `=`, `+`, `-`,
/// `@`, a tab or a carriage return), and against characters that control a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulaGuard {
    /// Formulas are prefixed with an apostrophe. Control characters except line feeds and tabs are
    /// escaped.
    On,
    /// Texts are written unchanged.
    Off,
}

impl Table {
    /// Appends the line of a record. Returns the offset of the count, which is an empty cell, if it
    /// is a column.
    fn write(&self, values: &RecordValues<'_, '_>, out: &mut Vec<u8>) -> Option<usize> {
        let (mut count_at, mut cell) = (None, Vec::new());
        for (index, field) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(self.syntax.separator());
            }
            cell.clear();
            let mut sink = CellSink {
                out: &mut cell,
                content: CellContent::Own,
            };
            values.put(*field, &mut sink);
            let content = sink.content;
            if content == CellContent::Count {
                count_at = Some(out.len());
                continue;
            }
            if self.links == Links::Defanged {
                cell = defanged_cell(*field, &cell);
            }
            self.syntax.write_cell(&cell, content, out);
        }
        out.push(b'\n');
        count_at
    }
}

/// Returns a cell with defanged URLs. Paths of sources stay as they are.
fn defanged_cell(field: FieldId, cell: &[u8]) -> Vec<u8> {
    let (cell, mut out) = (text(cell), Vec::new());
    match field {
        FieldId::SourcePath | FieldId::SourceMailbox | FieldId::SourceMember => {
            out.extend_from_slice(cell.as_bytes());
        }
        FieldId::Host | FieldId::Domain | FieldId::Parts => write_defanged_host(&cell, &mut out),
        _ => write_defanged(&cell, &mut out),
    }
    out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellContent {
    /// Null, or a value that this crate generated.
    Own,
    /// Text from the input.
    Text,
    /// Texts from the input, separated by spaces.
    Texts,
    /// The number of occurrences, which is set later.
    Count,
}

/// A sink that appends values as text. Null is empty, and a list of objects is JSON.
struct CellSink<'o> {
    out: &'o mut Vec<u8>,
    content: CellContent,
}

impl CellSink<'_> {
    fn json(&mut self) -> JsonSink<'_> {
        JsonSink::new(self.out)
    }
}

impl ValueSink for CellSink<'_> {
    fn scalar(&mut self, value: Scalar<'_>) {
        match value {
            Scalar::Null => {}
            Scalar::Name(name) => self.out.extend_from_slice(name.as_bytes()),
            Scalar::Text(bytes) => {
                self.out.extend_from_slice(text(bytes).as_bytes());
                self.content = CellContent::Text;
            }
            Scalar::Digest(hash) => {
                let digits = format!("{hash:032x}");
                self.out.extend_from_slice(digits.as_bytes());
            }
            value => self.json().scalar(value),
        }
    }

    fn list<'t>(&mut self, items: impl Iterator<Item = Scalar<'t>>) {
        for (index, item) in items.enumerate() {
            if 0 < index {
                self.out.push(b' ');
            }
            self.scalar(item);
        }
        self.content = CellContent::Texts;
    }

    fn objects(&mut self, keys: &[&str], each: impl FnOnce(&mut dyn FnMut(&[Scalar<'_>]))) {
        self.json().objects(keys, each);
    }

    fn count(&mut self) {
        self.content = CellContent::Count;
    }
}

/// Returns `true` if a spreadsheet takes a cell for a formula, or drops the first character and
/// checks the next one.
///
/// In some languages, spreadsheets also accept the full-width forms of the signs (U+FF1D and
/// others).
#[must_use]
pub fn is_formula(cell: &[u8]) -> bool {
    let mut full_width = ["\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"].iter();
    cell.first().is_some_and(|byte| b"=+-@\t\r".contains(byte))
        || full_width.any(|sign| cell.starts_with(sign.as_bytes()))
}

fn escape_tsv(cell: &[u8], out: &mut Vec<u8>) {
    for byte in cell {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte => out.push(*byte),
        }
    }
}

/// Writes the lines of records in one format, or converts records to values. Shared fields are
/// encoded once: a message's until the next message starts, a URL's as long as they are cached.
#[derive(Debug)]
pub struct RecordWriter {
    format: LineFormat,
    tail: MessageTail,
    caches: Caches,
    /// Builder of values, for the format without lines.
    builder: RecordBuilder,
    /// Innermost message of the previous record.
    author: Option<Arc<Author>>,
}

impl RecordWriter {
    /// Creates a writer of lines in this format.
    #[must_use]
    pub fn new(format: &LineFormat) -> RecordWriter {
        RecordWriter {
            format: format.clone(),
            tail: MessageTail::Complete,
            caches: Caches::default(),
            builder: RecordBuilder::new(format.values().unwrap_or_default()),
            author: None,
        }
    }

    /// Starts the message that the next records belong to.
    pub fn begin(&mut self, tail: MessageTail) {
        self.forget_message();
        self.tail = tail;
    }

    fn forget_message(&mut self) {
        self.caches.begin_message();
        self.builder.begin_message();
    }

    /// Forgets the fields of the message if the record has a different innermost message.
    fn begin_author(&mut self, record: &FoundRecord<'_>) {
        if self.author.as_ref() != record.author {
            self.forget_message();
            self.author = record.author.cloned();
        }
    }

    /// Appends the line of `record`. Returns the offset in `out` of the number of occurrences,
    /// which is unknown until the end of the message. `None` if the format does not include it.
    ///
    /// Linear in the length of the line.
    pub fn write(&mut self, record: &FoundRecord<'_>, out: &mut Vec<u8>) -> Option<usize> {
        let sink = &mut JsonSink::new(out);
        self.begin_author(record);
        let values = RecordValues::new(record, self.tail);
        let full = record.found.full;
        match &self.format {
            LineFormat::Json(fields) => {
                fields.write(&values, &mut self.caches, sink);
                return sink.count_at();
            }
            LineFormat::Table(table) => return table.write(&values, sink.out()),
            LineFormat::Urls(links) => {
                sink.push(&link(text(full).as_bytes(), *links));
                sink.push(b"\n");
            }
            LineFormat::Hrefs(links) => {
                if let Some(href) = record.found.verdicts.and_then(Verdicts::href) {
                    sink.push(&link(href.as_bytes(), *links));
                    sink.push(b"\n");
                }
            }
            LineFormat::Grep(style, links) | LineFormat::Watch(style, links) => {
                let hazards: Vec<_> = match self.format {
                    LineFormat::Watch(..) => record.hazards().collect(),
                    _ => Vec::new(),
                };
                let note = match hazards.as_slice() {
                    [] => String::new(),
                    hazards => format!(" [{}]", hazards.join(", ")),
                };
                let source = record.origin.source;
                let line = GrepLine {
                    path: source.path.as_os_str().as_encoded_bytes(),
                    member: source.member(),
                    start: record.origin.start,
                    url: &link(full, *links),
                    note: &note,
                };
                line.write(*style, sink.out());
            }
            LineFormat::Values(_) => {}
        }
        None
    }

    /// Returns the record as a value, with the fields of [`LineFormat::Values`] except the number
    /// of occurrences. In any other format, all fields are null.
    #[must_use]
    pub fn record(&mut self, record: &FoundRecord<'_>) -> Record {
        self.begin_author(record);
        self.builder.record(&RecordValues::new(record, self.tail))
    }
}

/// Creates a writer of whole records as JSON.
impl Default for RecordWriter {
    fn default() -> RecordWriter {
        RecordWriter::new(&LineFormat::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a cell with this text.
    fn cell(text: &str, syntax: TableSyntax) -> String {
        let mut out = Vec::new();
        syntax.write_cell(text.as_bytes(), CellContent::Text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_is_quoted_if_necessary() {
        let syntax = |delimiter| TableSyntax::Csv {
            guard: FormulaGuard::Off,
            delimiter,
        };
        let csv = |text| cell(text, syntax(b','));
        for plain in ["a", "a b", "é;", "=1+2", "'"] {
            assert_eq!(csv(plain), plain);
        }
        assert_eq!(csv(""), "\"\"");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("a\"b"), "\"a\"\"b\"");
        assert_eq!(csv("a\r\nb"), "\"a\r\nb\"");
        let with_semicolons = |text| cell(text, syntax(b';'));
        assert_eq!(with_semicolons("a,b"), "a,b");
        assert_eq!(with_semicolons("a;b"), "\"a;b\"");
    }

    #[test]
    fn formulas_start_with_an_apostrophe() {
        let syntax = TableSyntax::Csv {
            guard: FormulaGuard::On,
            delimiter: b',',
        };
        let csv = |text| cell(text, syntax);
        for text in [
            "=1+2", "+1", "-1", "@SUM(A1)", "\tx", "＝1", "＋1", "－1", "＠A",
        ] {
            assert_eq!(csv(text), format!("'{text}"));
        }
        assert_eq!(csv("=\"a\",b"), "\"'=\"\"a\"\",b\"");
        assert_eq!(csv("\rx"), "'\\u{d}x");
        assert_eq!(csv("a=b"), "a=b");
        assert_eq!(
            csv("é\u{1b}[2J\n\t\u{202e}"),
            "\"é\\u{1b}[2J\n\t\\u{202e}\""
        );
    }

    #[test]
    fn tsv_cells_have_no_tab_or_line_end() {
        let tsv = |text| cell(text, TableSyntax::Tsv);
        assert_eq!(tsv("a\tb\nc\rd\\e"), r"a\tb\nc\rd\\e");
        assert_eq!(tsv("=1,\"2\""), "=1,\"2\"");
        assert_eq!(tsv(""), "");
    }
}
