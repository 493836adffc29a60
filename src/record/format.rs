//! The formats of a scan's output: whole records, chosen fields, tables, and lists of URLs; and the
//! writer of lines.
//!
//! A format is resolved once for a run ([`LineFormat`]), so that no name is looked up for a record.

use std::borrow::Cow;

use super::defang::{Links, write_defanged, write_defanged_host};
use super::json::{Caches, JsonSink};
use super::json_text::text;
use super::owned::{Record, RecordBuilder};
use super::parts::Parts;
use super::value::{MessageTail, RecordValues, ValueSink};
use super::{Demand, FieldId, FoundRecord, JsonFields};
use crate::decode::{InfoFields, NamedField};
use crate::diagnostic::{EscapeForm, printable, printable_lines};
use crate::parse::Alternate;

/// The format of the lines of a run: what is written of each record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFormat {
    /// All or some fields of the record, as JSON.
    Json(JsonFields),
    /// The URL and its fragment.
    Urls(Links),
    /// The URL that a browser would fetch; no line if there is none.
    Hrefs(Links),
    /// Some fields of the record, as a line of a table.
    Table(Table),
    /// The source, the offset and the URL.
    Grep(GrepStyle, Links),
    /// No lines: values of these fields, which [`Record`](super::Record) holds.
    Values(Vec<FieldId>),
}

/// Whole records.
impl Default for LineFormat {
    fn default() -> LineFormat {
        LineFormat::Json(JsonFields::default())
    }
}

impl LineFormat {
    /// Returns the line before the first record, if the format has one.
    #[must_use]
    pub fn header(&self) -> Option<Vec<u8>> {
        match self {
            LineFormat::Table(table) => table.header(),
            _ => None,
        }
    }

    /// Returns the fields of lines of JSON; `None` for other lines.
    pub(super) fn json(&self) -> Option<&JsonFields> {
        match self {
            LineFormat::Json(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the fields of records as values; `None` for lines.
    pub(crate) fn values(&self) -> Option<&[FieldId]> {
        match self {
            LineFormat::Values(fields) => Some(fields),
            _ => None,
        }
    }

    /// Appends the line of a record in a format other than JSON. Returns the offset at which the
    /// number of occurrences is to be inserted, if it is a column.
    pub(super) fn write_text(
        &self,
        values: &RecordValues<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let record = values.record();
        match self {
            LineFormat::Json(_) | LineFormat::Values(_) => {}
            LineFormat::Table(table) => return table.write(values, out),
            LineFormat::Urls(links) => write_url(record, *links, out),
            LineFormat::Hrefs(links) => write_href(record, *links, out),
            LineFormat::Grep(style, links) => write_grep(record, *style, *links, out),
        }
        None
    }

    /// Appends what stands for the number of occurrences of a URL, if that is more than one.
    pub fn write_count(&self, count: Option<u64>, out: &mut Vec<u8>) {
        match count {
            Some(count) => out.extend_from_slice(count.to_string().as_bytes()),
            None if self.has_line_per_record() => out.extend_from_slice(b"null"),
            None => {}
        }
    }

    /// Returns `true` if each record gives one line, and its text has no line end of its own, or is a value.
    #[must_use]
    pub fn has_line_per_record(&self) -> bool {
        matches!(self, LineFormat::Json(_) | LineFormat::Values(_))
    }

    /// Returns the use of identifiers in the lines.
    #[must_use]
    pub fn ids(&self) -> Demand {
        let is_id = |field: &FieldId| {
            matches!(
                field,
                FieldId::Id | FieldId::MessageDigest | FieldId::UnwrappedFrom
            )
        };
        self.demand(is_id)
    }

    /// Returns the use of line numbers in the lines.
    #[must_use]
    pub fn line_numbers(&self) -> Demand {
        self.demand(|field| *field == FieldId::SourceLine)
    }

    /// Returns the use of regions in the lines.
    #[must_use]
    pub fn regions(&self) -> Demand {
        self.demand(|field| *field == FieldId::Region)
    }

    fn demand(&self, is_wanted: impl Fn(&FieldId) -> bool) -> Demand {
        if self.fields().iter().any(is_wanted) {
            Demand::Needed
        } else {
            Demand::Unneeded
        }
    }

    /// Returns the header data of the message that is in the lines.
    #[must_use]
    pub fn info(&self) -> InfoFields {
        let wanted = self.fields().iter().map(|id| id.field().info);
        wanted.fold(InfoFields::NONE, InfoFields::with)
    }

    /// The fields that the lines are made of, as far as they cost more than the URL itself.
    fn fields(&self) -> &[FieldId] {
        match self {
            LineFormat::Json(fields) => fields.chosen(),
            LineFormat::Table(table) => table.columns(),
            LineFormat::Values(fields) => fields,
            LineFormat::Urls(_) | LineFormat::Hrefs(_) | LineFormat::Grep(..) => &[],
        }
    }
}

fn write_url(record: &FoundRecord<'_>, links: Links, out: &mut Vec<u8>) {
    write_link(&text(record.found.full), links, out);
    out.push(b'\n');
}

fn write_href(record: &FoundRecord<'_>, links: Links, out: &mut Vec<u8>) {
    if let Some(href) = record.found.verdicts.and_then(|verdicts| verdicts.href()) {
        write_link(href, links, out);
        out.push(b'\n');
    }
}

fn write_link(url: &str, links: Links, out: &mut Vec<u8>) {
    match links {
        Links::Live => out.extend_from_slice(url.as_bytes()),
        Links::Defanged => write_defanged(url, out),
    }
}

/// The use of escape sequences in lines for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepStyle {
    /// Names and URLs as they are, for files and pipes. A line feed in a name is written `\n`.
    Plain,
    /// For terminals: control characters of names and URLs are escaped.
    Escaped,
    /// Escaped, with a colour for the path, the offset and the URL.
    Colored,
}

/// The colours of a line.
struct Colors {
    path: &'static str,
    offset: &'static str,
    url: &'static str,
    end: &'static str,
}

/// Colours as `grep` and `ripgrep` have them: path magenta, offset green, URL bold.
const COLORS: Colors = Colors {
    path: "\u{1b}[35m",
    offset: "\u{1b}[32m",
    url: "\u{1b}[1m",
    end: "\u{1b}[0m",
};

const NO_COLORS: Colors = Colors {
    path: "",
    offset: "",
    url: "",
    end: "",
};

/// Appends the line of a record.
fn write_grep(record: &FoundRecord<'_>, style: GrepStyle, links: Links, out: &mut Vec<u8>) {
    let source = record.origin.source;
    let mut url = Vec::new();
    if links == Links::Defanged {
        write_defanged(&text(record.found.full), &mut url);
    }
    let line = GrepLine {
        path: source.path.as_os_str().as_encoded_bytes(),
        member: source.member(),
        start: record.origin.start,
        url: match links {
            Links::Live => record.found.full,
            Links::Defanged => &url,
        },
    };
    line.write(style, out);
}

/// The values of a line.
pub(in crate::record) struct GrepLine<'l> {
    pub(in crate::record) path: &'l [u8],
    pub(in crate::record) member: &'l [Vec<u8>],
    pub(in crate::record) start: u64,
    /// The URL with its fragment.
    pub(in crate::record) url: &'l [u8],
}

impl GrepLine<'_> {
    pub(in crate::record) fn write(&self, style: GrepStyle, out: &mut Vec<u8>) {
        let Colors {
            path,
            offset,
            url,
            end,
        } = match style {
            GrepStyle::Colored => &COLORS,
            GrepStyle::Plain | GrepStyle::Escaped => &NO_COLORS,
        };
        out.extend_from_slice(path.as_bytes());
        shown(self.path, style, out);
        for name in self.member {
            out.push(b'!');
            shown(name, style, out);
        }
        let start = self.start;
        out.extend_from_slice(format!("{end}:{offset}{start}{end}: {url}").as_bytes());
        match style {
            GrepStyle::Plain => out.extend_from_slice(text(self.url).as_bytes()),
            GrepStyle::Escaped | GrepStyle::Colored => shown(self.url, style, out),
        }
        out.extend_from_slice(end.as_bytes());
        out.push(b'\n');
    }
}

/// Appends bytes of a name: as they are, unless they would end the line, or escaped as text.
fn shown(bytes: &[u8], style: GrepStyle, out: &mut Vec<u8>) {
    match style {
        GrepStyle::Plain if !bytes.contains(&b'\n') => out.extend_from_slice(bytes),
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

/// The columns of a table, and the way in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<FieldId>,
    syntax: TableSyntax,
    header: HeaderRow,
    links: Links,
}

/// The line of the columns' names before the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderRow {
    /// It is written.
    Written,
    /// It is left out.
    Omitted,
}

/// The syntax of a table's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableSyntax {
    /// Comma-separated values. Values with the delimiter, quotation marks or line ends are quoted; an empty text is `""`, a
    /// missing value nothing.
    Csv {
        /// The protection of texts that look like formulas.
        guard: FormulaGuard,
        /// The byte between two cells: one of ASCII, and none of a quotation mark, an apostrophe and a line end.
        delimiter: u8,
    },
    /// Tab-separated values. A tab is written `\t`, a line feed `\n`, a carriage return `\r`, a backslash `\\`.
    Tsv,
}

impl TableSyntax {
    /// The byte between two cells.
    #[must_use]
    pub fn separator(self) -> u8 {
        match self {
            TableSyntax::Csv { delimiter, .. } => delimiter,
            TableSyntax::Tsv => b'\t',
        }
    }

    /// Appends a row of texts. `None` is an empty cell.
    #[cfg(feature = "load")]
    pub(crate) fn write_cells<'t>(
        self,
        cells: impl IntoIterator<Item = Option<&'t str>>,
        out: &mut Vec<u8>,
    ) {
        for (index, cell) in cells.into_iter().enumerate() {
            if 0 < index {
                out.push(self.separator());
            }
            if let Some(cell) = cell {
                self.write_text(cell.as_bytes(), out);
            }
        }
        out.push(b'\n');
    }

    /// Appends a text as a cell.
    #[cfg(feature = "load")]
    fn write_text(self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            TableSyntax::Csv { guard, delimiter } => write_csv_text(text, guard, delimiter, out),
            TableSyntax::Tsv => escape_tsv(text, out),
        }
    }
}

/// The protection against texts that a spreadsheet takes for formulas (those that begin with `=`, `+`, `-`, `@`, a tab or a
/// carriage return), and against characters that a terminal obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulaGuard {
    /// An apostrophe is written before them, and such characters are escaped, but for line feeds and tabs.
    On,
    /// They are written as they are.
    Off,
}

impl Table {
    /// A table of these columns.
    #[must_use]
    pub fn new(columns: Vec<FieldId>, syntax: TableSyntax, header: HeaderRow) -> Table {
        Table {
            columns,
            syntax,
            header,
            links: Links::Live,
        }
    }

    /// Returns the table with the URLs in all cells written so, but for the paths of sources.
    #[must_use]
    pub fn with_links(self, links: Links) -> Table {
        Table { links, ..self }
    }

    /// The fields, in the order of the columns.
    #[must_use]
    pub fn columns(&self) -> &[FieldId] {
        &self.columns
    }

    /// The way in which the lines are written.
    #[must_use]
    pub fn syntax(&self) -> TableSyntax {
        self.syntax
    }

    /// Returns `Written` if the rows follow a line of the columns' names.
    #[must_use]
    pub fn header_row(&self) -> HeaderRow {
        self.header
    }

    /// Returns the line of the columns' names, unless it is left out.
    fn header(&self) -> Option<Vec<u8>> {
        if self.header == HeaderRow::Omitted {
            return None;
        }
        let names: Vec<&str> = self.columns.iter().map(|field| field.name()).collect();
        let separator = char::from(self.syntax.separator()).to_string();
        Some((names.join(&separator) + "\n").into_bytes())
    }

    /// Appends the line of a record. Returns the offset at which the count is to be inserted, if it
    /// is a column.
    fn write(&self, values: &RecordValues<'_, '_>, out: &mut Vec<u8>) -> Option<usize> {
        let mut count_at = None;
        for (index, field) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(self.syntax.separator());
            }
            let start = out.len();
            let mut cell = CellSink::new(out);
            values.put(*field, &mut cell);
            match cell.content {
                CellContent::Count => count_at = Some(start),
                content => {
                    if self.links == Links::Defanged {
                        defang_cell(*field, start, out);
                    }
                    self.finish_cell(content, start, out);
                }
            }
        }
        out.push(b'\n');
        count_at
    }

    /// Quotes or escapes the cell from `start` to the end of `out`, if it needs it.
    fn finish_cell(&self, content: CellContent, start: usize, out: &mut Vec<u8>) {
        let cell = &out[start..];
        match self.syntax {
            TableSyntax::Tsv => {
                if cell.iter().any(|byte| tsv_escape(*byte).is_some()) {
                    let cell = out.split_off(start);
                    escape_tsv(&cell, out);
                }
            }
            TableSyntax::Csv { guard, delimiter } => {
                let guard = match content {
                    CellContent::Text | CellContent::Texts => guard,
                    CellContent::Own | CellContent::Count => FormulaGuard::Off,
                };
                let is_text = content == CellContent::Text;
                if is_text && cell.is_empty() || csv_cell(cell, guard, delimiter).is_some() {
                    let cell = out.split_off(start);
                    write_csv_text(&cell, guard, delimiter, out);
                }
            }
        }
    }
}

/// Defangs the URLs in the cell from `start` to the end of `out`. Paths of sources stay as they are.
fn defang_cell(field: FieldId, start: usize, out: &mut Vec<u8>) {
    let cell = out.split_off(start);
    let cell = text(&cell);
    match field {
        FieldId::SourcePath | FieldId::SourceMailbox | FieldId::SourceMember => {
            out.extend_from_slice(cell.as_bytes());
        }
        FieldId::Host | FieldId::Domain | FieldId::Parts => write_defanged_host(&cell, out),
        _ => write_defanged(&cell, out),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellContent {
    /// Nothing, or a value that this crate made.
    Own,
    /// A text of somebody else.
    Text,
    /// Texts of somebody else, with blanks between them.
    Texts,
    /// The number of occurrences, which is not written.
    Count,
}

/// A sink that appends values as texts: nothing for null, lists of objects as JSON.
struct CellSink<'o> {
    out: &'o mut Vec<u8>,
    content: CellContent,
}

impl<'o> CellSink<'o> {
    fn new(out: &'o mut Vec<u8>) -> CellSink<'o> {
        CellSink {
            out,
            content: CellContent::Own,
        }
    }

    fn json(&mut self) -> JsonSink<'_> {
        JsonSink::new(self.out)
    }

    fn list<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        for (index, item) in texts.enumerate() {
            if 0 < index {
                self.out.push(b' ');
            }
            self.out.extend_from_slice(text(item).as_bytes());
        }
        self.content = CellContent::Texts;
    }
}

impl ValueSink for CellSink<'_> {
    fn null(&mut self) {}

    fn boolean(&mut self, value: bool) {
        self.json().boolean(value);
    }

    fn integer(&mut self, value: u64) {
        self.json().integer(value);
    }

    fn number(&mut self, value: f64) {
        self.json().number(value);
    }

    fn name(&mut self, name: &'static str) {
        self.out.extend_from_slice(name.as_bytes());
    }

    fn text(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(text(bytes).as_bytes());
        self.content = CellContent::Text;
    }

    fn digest(&mut self, hash: u128) {
        self.out
            .extend_from_slice(format!("{hash:032x}").as_bytes());
    }

    fn names(&mut self, names: impl Iterator<Item = &'static str>) {
        self.list(names.map(str::as_bytes));
    }

    fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        self.list(texts);
    }

    fn parts(&mut self, parts: Option<Parts<'_>>) {
        self.json().parts(parts);
    }

    fn named_fields(&mut self, fields: &[NamedField]) {
        self.json().named_fields(fields);
    }

    fn alternates(&mut self, alternates: &[Alternate]) {
        self.json().alternates(alternates);
    }

    fn count(&mut self) {
        self.content = CellContent::Count;
    }
}

/// Appends a text as a cell of comma-separated values. An empty text is `""`.
fn write_csv_text(text: &[u8], guard: FormulaGuard, delimiter: u8, out: &mut Vec<u8>) {
    if text.is_empty() {
        out.extend_from_slice(b"\"\"");
        return;
    }
    let Some(cell) = csv_cell(text, guard, delimiter) else {
        out.extend_from_slice(text);
        return;
    };
    out.extend_from_slice(cell.quote);
    out.extend_from_slice(cell.apostrophe);
    double_quotes(&cell.text, out);
    out.extend_from_slice(cell.quote);
}

/// A cell whose text is escaped, and the characters that are added to it; each may be none.
struct CsvCell<'t> {
    text: Cow<'t, [u8]>,
    quote: &'static [u8],
    apostrophe: &'static [u8],
}

/// Returns `None` for a cell that is written as it is.
fn csv_cell(cell: &[u8], guard: FormulaGuard, delimiter: u8) -> Option<CsvCell<'_>> {
    let is_guarded = guard == FormulaGuard::On && is_formula(cell);
    let text = match guard {
        FormulaGuard::On => printable_lines(cell, EscapeForm::Text),
        FormulaGuard::Off => Cow::Borrowed(cell),
    };
    let is_quoted = text
        .iter()
        .any(|byte| *byte == delimiter || b"\"\r\n".contains(byte));
    let is_changed = is_guarded || is_quoted || matches!(text, Cow::Owned(_));
    is_changed.then_some(CsvCell {
        text,
        quote: if is_quoted { b"\"" } else { b"" },
        apostrophe: if is_guarded { b"'" } else { b"" },
    })
}

/// Returns `true` if a spreadsheet takes a cell for a formula, or drops its first character and looks at the next.
///
/// In some languages spreadsheets also take the full-width forms of the signs (U+FF1D and others).
pub(crate) fn is_formula(cell: &[u8]) -> bool {
    let is_full_width = || {
        let signs = ["\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"];
        signs.iter().any(|sign| cell.starts_with(sign.as_bytes()))
    };
    cell.first().is_some_and(|byte| b"=+-@\t\r".contains(byte)) || is_full_width()
}

fn double_quotes(cell: &[u8], out: &mut Vec<u8>) {
    for &byte in cell {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
}

fn escape_tsv(cell: &[u8], out: &mut Vec<u8>) {
    for &byte in cell {
        match tsv_escape(byte) {
            Some(letter) => out.extend_from_slice(&[b'\\', letter]),
            None => out.push(byte),
        }
    }
}

/// The letter after the backslash for a byte that is escaped.
fn tsv_escape(byte: u8) -> Option<u8> {
    match byte {
        b'\t' => Some(b't'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\\' => Some(b'\\'),
        _ => None,
    }
}

/// Writes the lines of records in one format, or makes values of them. Fields that records share
/// are encoded once: those of a message until the next begins, those of a URL as long as they are
/// cached.
#[derive(Debug)]
pub struct RecordWriter {
    format: LineFormat,
    tail: MessageTail,
    caches: Caches,
    /// The maker of values, if there are no lines.
    builder: RecordBuilder,
}

impl RecordWriter {
    /// A writer of lines in this format.
    #[must_use]
    pub fn new(format: &LineFormat) -> RecordWriter {
        RecordWriter {
            format: format.clone(),
            tail: MessageTail::Complete,
            caches: Caches::default(),
            builder: RecordBuilder::new(format.values().unwrap_or_default()),
        }
    }

    /// Begins a message, which the next records belong to.
    pub fn begin(&mut self, tail: MessageTail) {
        self.caches.begin_message();
        self.builder.begin_message();
        self.tail = tail;
    }

    /// Appends the line of `record`, of which no repetition was left out.
    ///
    /// Linear in the length of the line.
    pub fn write(&mut self, record: &FoundRecord<'_>, out: &mut Vec<u8>) {
        let values = RecordValues::new(record, self.tail);
        match self.format.json() {
            Some(fields) => {
                fields.write(&values, &mut self.caches, &mut JsonSink::new(out));
            }
            None => _ = self.format.write_text(&values, out),
        }
    }

    /// Appends the line of `record` without the number of its occurrences, which is known when the
    /// message ends. Returns the offset in `out` at which [`LineFormat::write_count`] must insert
    /// it; `None` if the format does not write it.
    ///
    /// Linear in the length of the line.
    #[must_use]
    pub fn write_open(&mut self, record: &FoundRecord<'_>, out: &mut Vec<u8>) -> Option<usize> {
        let values = RecordValues::new(record, self.tail);
        match self.format.json() {
            Some(fields) => {
                let mut sink = JsonSink::open(out);
                fields.write(&values, &mut self.caches, &mut sink);
                sink.count_at()
            }
            None => self.format.write_text(&values, out),
        }
    }

    /// Returns the record as a value, with the fields of [`LineFormat::Values`]; without a number of
    /// occurrences. In another format all fields are null.
    #[must_use]
    pub fn record(&mut self, record: &FoundRecord<'_>) -> Record {
        self.builder.record(&RecordValues::new(record, self.tail))
    }
}

/// A writer of whole records as JSON.
impl Default for RecordWriter {
    fn default() -> RecordWriter {
        RecordWriter::new(&LineFormat::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell with this text.
    fn cell(text: &str, syntax: TableSyntax) -> String {
        let table = Table::new(Vec::new(), syntax, HeaderRow::Written);
        let mut out = b"before,".to_vec();
        let mut cell = CellSink::new(&mut out);
        cell.text(text.as_bytes());
        let content = cell.content;
        table.finish_cell(content, 7, &mut out);
        String::from_utf8(out.split_off(7)).unwrap()
    }

    #[test]
    fn csv_is_quoted_where_it_must_be() {
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
    fn formulas_begin_with_an_apostrophe() {
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
    fn tsv_has_no_tab_and_no_line_end_in_a_cell() {
        let tsv = |text| cell(text, TableSyntax::Tsv);
        assert_eq!(tsv("a\tb\nc\rd\\e"), r"a\tb\nc\rd\\e");
        assert_eq!(tsv("=1,\"2\""), "=1,\"2\"");
        assert_eq!(tsv(""), "");
    }
}
