//! Chosen fields of a record as a line of a table: comma-separated (RFC 4180) or tab-separated values.

use super::field_id::FieldId;
use super::field_value::FieldValue;
use super::value_of::value_of;
use crate::record::Record;

/// The columns of a table, and the way in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<FieldId>,
    syntax: TableSyntax,
}

/// The syntax of a table's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableSyntax {
    /// Comma-separated values. Values with commas, quotation marks or line ends are quoted; an empty text is `""`, a missing
    /// value nothing.
    Csv(FormulaGuard),
    /// Tab-separated values. A tab is written `\t`, a line feed `\n`, a carriage return `\r`, a backslash `\\`.
    Tsv,
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
    pub fn new(columns: Vec<FieldId>, syntax: TableSyntax) -> Table {
        Table { columns, syntax }
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

    /// Returns the line of the columns' names.
    pub(super) fn header(&self) -> Vec<u8> {
        let names: Vec<&str> = self.columns.iter().map(|field| field.name()).collect();
        let separator = char::from(self.separator()).to_string();
        (names.join(&separator) + "\n").into_bytes()
    }

    /// Appends the line of a record. Returns the offset at which the count is to be inserted, if it is a column.
    pub(super) fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) -> Option<usize> {
        let mut count_at = None;
        for (index, field) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(self.separator());
            }
            let start = out.len();
            match value_of(*field, record) {
                FieldValue::Count => count_at = Some(start),
                value => {
                    value.write_plain(out);
                    self.finish_cell(&value, start, out);
                }
            }
        }
        out.push(b'\n');
        count_at
    }

    fn separator(&self) -> u8 {
        match self.syntax {
            TableSyntax::Csv(_) => b',',
            TableSyntax::Tsv => b'\t',
        }
    }

    /// Quotes or escapes the cell from `start` to the end of `out`, if it needs it.
    fn finish_cell(&self, value: &FieldValue<'_>, start: usize, out: &mut Vec<u8>) {
        let cell = &out[start..];
        match self.syntax {
            TableSyntax::Tsv => {
                if cell.iter().any(|byte| tsv_escape(*byte).is_some()) {
                    let cell = out.split_off(start);
                    escape_tsv(&cell, out);
                }
            }
            TableSyntax::Csv(guard) => {
                let is_text = matches!(value, FieldValue::Text(_) | FieldValue::OwnedText(_));
                let guard = if value.is_text() {
                    guard
                } else {
                    FormulaGuard::Off
                };
                if is_text && cell.is_empty() || csv_marks(cell, guard).is_some() {
                    let cell = out.split_off(start);
                    write_csv_text(&cell, guard, out);
                }
            }
        }
    }
}

/// Appends a text as a cell of comma-separated values. An empty text is `""`.
fn write_csv_text(text: &[u8], guard: FormulaGuard, out: &mut Vec<u8>) {
    if text.is_empty() {
        out.extend_from_slice(b"\"\"");
        return;
    }
    let Some(CsvMarks { quote, apostrophe }) = csv_marks(text, guard) else {
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
fn csv_marks(cell: &[u8], guard: FormulaGuard) -> Option<CsvMarks> {
    let is_guarded = guard == FormulaGuard::On && is_formula(cell);
    let is_quoted = cell.iter().any(|byte| b",\"\r\n".contains(byte));
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
        let table = Table::new(Vec::new(), syntax);
        let value = FieldValue::Text(text.as_bytes());
        let mut out = b"before,".to_vec();
        value.write_plain(&mut out);
        table.finish_cell(&value, 7, &mut out);
        String::from_utf8(out.split_off(7)).unwrap()
    }

    #[test]
    fn csv_is_quoted_where_it_must_be() {
        let csv = |text| cell(text, TableSyntax::Csv(FormulaGuard::Off));
        for plain in ["a", "a b", "é;", "=1+2", "'"] {
            assert_eq!(csv(plain), plain);
        }
        assert_eq!(csv(""), "\"\"");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("a\"b"), "\"a\"\"b\"");
        assert_eq!(csv("a\r\nb"), "\"a\r\nb\"");
    }

    #[test]
    fn formulas_begin_with_an_apostrophe() {
        let csv = |text| cell(text, TableSyntax::Csv(FormulaGuard::On));
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
