//! Lines of comma-separated values, which no spreadsheet takes for formulas.

use super::output_file::OutputFile;
use crate::audit::error::AuditError;
use crate::audit::statistics::Share;
use crate::record::{FormulaGuard, write_csv_text};

/// A cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum CsvCell<'t> {
    /// A text; nothing if there is none.
    Text(Option<&'t str>),
    /// A whole number; nothing if there is none.
    Count(Option<u64>),
    /// A number with six decimal places; nothing if there is none.
    Number(Option<f64>),
}

/// A cell of a text.
pub(super) fn csv_text(text: &str) -> CsvCell<'_> {
    CsvCell::Text(Some(text))
}

/// A cell of a number.
pub(super) fn csv_count(count: u64) -> CsvCell<'static> {
    CsvCell::Count(Some(count))
}

/// The cells of a share and the ends of its interval.
pub(super) fn csv_share(share: Option<Share>) -> [CsvCell<'static>; 3] {
    [
        share.map(|share| share.share),
        share.map(|share| share.interval.low),
        share.map(|share| share.interval.high),
    ]
    .map(CsvCell::Number)
}

/// Appends a line to a file.
pub(super) fn put_row(file: &mut OutputFile, cells: &[CsvCell<'_>]) -> Result<(), AuditError> {
    let mut line = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        if 0 < index {
            line.push(b',');
        }
        match cell {
            CsvCell::Text(Some(text)) => {
                write_csv_text(text.as_bytes(), FormulaGuard::On, &mut line);
            }
            CsvCell::Count(Some(count)) => line.extend_from_slice(count.to_string().as_bytes()),
            CsvCell::Number(Some(number)) => {
                line.extend_from_slice(format!("{number:.6}").as_bytes());
            }
            CsvCell::Text(None) | CsvCell::Count(None) | CsvCell::Number(None) => {}
        }
    }
    line.push(b'\n');
    file.put(&line)
}
