//! Chosen fields of a record as a line of a table: comma-separated (RFC 4180) or tab-separated values.

use crate::parse::Alternate;
use crate::record::FieldId;
use crate::record::json_text::text;
use crate::record::json_value::JsonSink;
use crate::record::parts::Parts;
use crate::record::value::{RecordValues, ValueSink};

/// The columns of a table, and the way in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<FieldId>,
    syntax: TableSyntax,
    header: HeaderRow,
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

    /// Appends a text as a cell.
    pub(in crate::record) fn write_text(self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            TableSyntax::Csv { guard, delimiter } => write_csv_text(text, guard, delimiter, out),
            TableSyntax::Tsv => escape_tsv(text, out),
        }
    }
}

/// The protection against texts that a spreadsheet takes for formulas: those that begin with `=`, `+`, `-`, `@`, a tab or a
/// carriage return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulaGuard {
    /// An apostrophe is written before them.
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
        }
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
    pub(super) fn header(&self) -> Option<Vec<u8>> {
        if self.header == HeaderRow::Omitted {
            return None;
        }
        let names: Vec<&str> = self.columns.iter().map(|field| field.name()).collect();
        let separator = char::from(self.syntax.separator()).to_string();
        Some((names.join(&separator) + "\n").into_bytes())
    }

    /// Appends the line of a record. Returns the offset at which the count is to be inserted, if it
    /// is a column.
    pub(super) fn write(&self, values: &RecordValues<'_, '_>, out: &mut Vec<u8>) -> Option<usize> {
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
                content => self.finish_cell(content, start, out),
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
                if is_text && cell.is_empty() || csv_marks(cell, guard, delimiter).is_some() {
                    let cell = out.split_off(start);
                    write_csv_text(&cell, guard, delimiter, out);
                }
            }
        }
    }
}

/// The content of a cell.
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

    fn parts(&mut self, parts: Option<Parts<'_>>, url: &[u8]) {
        self.json().parts(parts, url);
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
    let Some(CsvMarks { quote, apostrophe }) = csv_marks(text, guard, delimiter) else {
        out.extend_from_slice(text);
        return;
    };
    out.extend_from_slice(quote);
    out.extend_from_slice(apostrophe);
    double_quotes(text, out);
    out.extend_from_slice(quote);
}

/// The characters that are added to a cell; each may be none.
struct CsvMarks {
    quote: &'static [u8],
    apostrophe: &'static [u8],
}

/// Returns `None` for a cell that is written as it is.
fn csv_marks(cell: &[u8], guard: FormulaGuard, delimiter: u8) -> Option<CsvMarks> {
    let is_guarded = guard == FormulaGuard::On && is_formula(cell);
    let is_quoted = cell
        .iter()
        .any(|byte| *byte == delimiter || b"\"\r\n".contains(byte));
    (is_guarded || is_quoted).then_some(CsvMarks {
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
        assert_eq!(csv("\rx"), "\"'\rx\"");
        assert_eq!(csv("a=b"), "a=b");
    }

    #[test]
    fn tsv_has_no_tab_and_no_line_end_in_a_cell() {
        let tsv = |text| cell(text, TableSyntax::Tsv);
        assert_eq!(tsv("a\tb\nc\rd\\e"), r"a\tb\nc\rd\\e");
        assert_eq!(tsv("=1,\"2\""), "=1,\"2\"");
        assert_eq!(tsv(""), "");
    }
}
