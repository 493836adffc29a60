//! The syntax of an output's lines: what a terminal must not obey, and how many records a file holds.

use std::io::{self, BufRead, BufReader, Read};

use super::super::terminal::TerminalEscapes;
use crate::diagnostic::EscapeForm;
use crate::record::{GrepStyle, HeaderRow, LineFormat, TableSyntax};

/// Syntax of the lines of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineSyntax {
    /// One JSON object per line.
    Json,
    /// One text per line.
    Text,
    /// One text per line, in which control characters are escaped and colours are set.
    Colored,
    /// A line of names, unless it is left out, then rows, in which quoted texts may hold line feeds.
    Csv(HeaderRow),
    /// A line of names, unless it is left out, then one row per line.
    Tsv(HeaderRow),
}

impl LineSyntax {
    /// The syntax of the records in this format.
    pub(super) fn of(format: &LineFormat) -> LineSyntax {
        match format {
            LineFormat::Table(table) => match table.syntax() {
                TableSyntax::Csv { .. } => LineSyntax::Csv(table.header_row()),
                TableSyntax::Tsv => LineSyntax::Tsv(table.header_row()),
            },
            LineFormat::Grep(GrepStyle::Colored) => LineSyntax::Colored,
            LineFormat::Grep(_) | LineFormat::Urls | LineFormat::Hrefs => LineSyntax::Text,
            _ => LineSyntax::Json,
        }
    }

    /// The escapes for lines that are written to a terminal, or not.
    pub(super) fn escapes(self, is_terminal: bool) -> TerminalEscapes {
        match self {
            LineSyntax::Colored => TerminalEscapes::Off,
            LineSyntax::Json => TerminalEscapes::of(is_terminal, EscapeForm::Json),
            LineSyntax::Text | LineSyntax::Csv(_) | LineSyntax::Tsv(_) => {
                TerminalEscapes::of(is_terminal, EscapeForm::Text)
            }
        }
    }

    /// The number of records in a file of whole lines.
    pub(super) fn count_records(self, file: impl Read) -> io::Result<u64> {
        let lines = count_line_feeds(file, matches!(self, LineSyntax::Csv(_)))?;
        let has_names = matches!(
            self,
            LineSyntax::Csv(HeaderRow::Written) | LineSyntax::Tsv(HeaderRow::Written)
        );
        Ok(lines.saturating_sub(u64::from(has_names)))
    }
}

/// Counts line feeds; outside quotation marks only, if there are any.
fn count_line_feeds(file: impl Read, has_quotes: bool) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut count, mut is_quoted) = (0, false);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(count);
        }
        for at in memchr::memchr2_iter(b'\n', b'"', bytes) {
            if bytes[at] == b'"' {
                // Two of them in a quoted text stand for one, and end and begin it again.
                is_quoted ^= has_quotes;
            } else {
                count += u64::from(!is_quoted);
            }
        }
        let len = bytes.len();
        reader.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_counted_without_the_names_and_with_their_line_feeds() {
        let count = |syntax: LineSyntax, text: &str| syntax.count_records(text.as_bytes()).unwrap();
        assert_eq!(count(LineSyntax::Json, "{\"a\":\"\\\"\"}\n{}\n"), 2);
        assert_eq!(count(LineSyntax::Text, "http://a/\"\nhttp://b/\n"), 2);
        assert_eq!(
            count(
                LineSyntax::Tsv(HeaderRow::Written),
                "url\thost\na\t\"\nb\tc\n"
            ),
            2
        );
        let rows = "url,host\n\"a\n\"\"b\n\",c\n\"\",d\n";
        let csv = LineSyntax::Csv(HeaderRow::Written);
        assert_eq!(count(csv, rows), 2);
        assert_eq!(count(csv, "url,host\n"), 0);
        assert_eq!(count(csv, ""), 0);
        assert_eq!(count(LineSyntax::Csv(HeaderRow::Omitted), rows), 3);
    }
}
