//! Results of checks as CSV: `url,status,checked_at`, and perhaps `final_url,error`, in any order
//! and beside other columns.

use std::io::{self, Read};

use csv::{Reader, StringRecord};
use jiff::Timestamp;

use super::{is_http_code, not_http_code, quoted};
use crate::audit::state::{CheckFailure, CheckOutcome};
use crate::audit::times::CheckTime;

/// Text of the only field of a line that is read after the file. A record that takes it in has a
/// quote that is never closed.
const END: &str = "end";

/// The bytes that are read after the file.
const END_LINE: &[u8] = b"\nend\n";

/// The reason for which the rest of a file is refused after a quote that is closed nowhere.
const OPEN_QUOTE: &str = "a quote is never closed, so the rest of the file cannot be read; \
                          close it and import the file again";

/// The reason for which a text that is read is refused.
const LINE_BREAK: &str = "a text that is read has a line break; perhaps a quote is not closed";

/// Columns of a file of results, by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CsvColumns {
    url: usize,
    status: usize,
    checked_at: usize,
    final_url: Option<usize>,
    error: Option<usize>,
}

/// The lines of a file of results.
pub(super) struct CsvResults<'b> {
    bytes: &'b [u8],
    reader: Reader<io::Chain<&'b [u8], &'static [u8]>>,
    columns: CsvColumns,
    /// A place, and the number of its line.
    counted: (usize, u64),
    now: Timestamp,
}

/// A line after the first one.
#[derive(Debug)]
pub(super) struct CsvLine {
    /// Its number, from 1.
    pub(super) number: u64,
    /// The result, or the reason for which it is refused.
    pub(super) result: Result<CsvRow, String>,
}

/// The result in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CsvRow {
    pub(super) url: String,
    pub(super) outcome: CheckOutcome,
    /// Time in UTC, as the tables have it.
    pub(super) checked_at: String,
    pub(super) final_url: Option<String>,
}

impl<'b> CsvResults<'b> {
    /// Reads the names of the columns. Results may not be newer than `now`.
    ///
    /// # Errors
    ///
    /// A column is missing; or the first line is no CSV.
    pub(super) fn new(bytes: &'b [u8], now: Timestamp) -> Result<CsvResults<'b>, String> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_reader(bytes.chain(END_LINE));
        let header = reader.headers().map_err(|error| match error.kind() {
            csv::ErrorKind::Utf8 { .. } => {
                "the first line is not UTF-8; save the file as UTF-8".to_owned()
            }
            _ => error.to_string(),
        })?;
        let place = |name: &str| header.iter().position(|column| column.trim() == name);
        let required = |name: &str| {
            place(name).ok_or_else(|| {
                format!(
                    "the first line has no column `{name}`; it must name the columns url, status \
                     and checked_at"
                )
            })
        };
        let columns = CsvColumns {
            url: required("url")?,
            status: required("status")?,
            checked_at: required("checked_at")?,
            final_url: place("final_url"),
            error: place("error"),
        };
        Ok(CsvResults {
            bytes,
            reader,
            columns,
            counted: (0, 1),
            now,
        })
    }

    /// Returns the next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> Option<CsvLine> {
        let mut record = StringRecord::new();
        let read = self.reader.read_record(&mut record);
        let number = self.line_at(record.position().map_or(0, csv::Position::byte));
        let result = match read {
            Ok(false) => return None,
            Ok(true) if self.is_past_end() => match record.iter().collect::<Vec<_>>()[..] {
                [END] => return None,
                _ => Err(OPEN_QUOTE.to_owned()),
            },
            Ok(true) => self.columns.row(&record, self.now),
            Err(error) => Err(match error.kind() {
                csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
                _ => error.to_string(),
            }),
        };
        Some(CsvLine { number, result })
    }
}

impl CsvResults<'_> {
    /// Returns `true` if more was read than the file and a line end after it.
    fn is_past_end(&self) -> bool {
        self.bytes.len() as u64 + 1 < self.reader.position().byte()
    }

    /// The number of the line of a record that begins at `offset`, which comes after the last one.
    /// The crate's own number is too low after CRLF: it stands between CR and LF then.
    fn line_at(&mut self, offset: u64) -> u64 {
        let (from, line) = self.counted;
        let mut offset = usize::try_from(offset).unwrap_or(usize::MAX).max(from);
        while matches!(self.bytes.get(offset), Some(b'\r' | b'\n')) {
            offset += 1;
        }
        let passed = self.bytes.get(from..offset).unwrap_or_default();
        self.counted = (
            offset,
            line + memchr::memchr_iter(b'\n', passed).count() as u64,
        );
        self.counted.1
    }
}

impl CsvColumns {
    fn row(self, record: &StringRecord, now: Timestamp) -> Result<CsvRow, String> {
        let text = |place: usize| record.get(place).unwrap_or_default().trim();
        let optional = |place: Option<usize>| place.map(text).filter(|text| !text.is_empty());
        let read = [Some(self.url), Some(self.status), Some(self.checked_at)];
        let mut read = read.into_iter().chain([self.final_url, self.error]);
        if read.any(|place| optional(place).is_some_and(|text| text.contains(['\n', '\r']))) {
            return Err(LINE_BREAK.to_owned());
        }
        let url = text(self.url);
        if url.is_empty() {
            return Err("the url is empty".to_owned());
        }
        let checked_at = text(self.checked_at);
        Ok(CsvRow {
            url: url.to_owned(),
            outcome: outcome(text(self.status), optional(self.error))?,
            checked_at: CheckTime::parse(checked_at)
                .ok_or_else(|| {
                    format!(
                        "the time {} is not like 2026-11-22, 2026-11-22T10:00:00Z or \
                         2026-11-22T10:00:00+01:00",
                        quoted(checked_at)
                    )
                })?
                .text(now)?,
            final_url: optional(self.final_url).map(str::to_owned),
        })
    }
}

/// The outcome that a status and an error stand for. With a status the error is not read: a server
/// has answered.
fn outcome(status: &str, error: Option<&str>) -> Result<CheckOutcome, String> {
    if !status.is_empty() {
        // pandas writes a column of whole numbers so, if some are missing.
        let code = status.strip_suffix(".0").unwrap_or(status);
        let is_number = code.bytes().all(|byte| byte.is_ascii_digit());
        return match code.parse() {
            Ok(code) if is_number && is_http_code(code) => Ok(CheckOutcome::Status(code)),
            _ => Err(not_http_code(status)),
        };
    }
    let named = |name: &str| CheckFailure::named(name).filter(|failure| is_importable(*failure));
    match error {
        None => Err("status and error are empty; one is needed".to_owned()),
        Some(name) => named(name).map(CheckOutcome::Failed).ok_or_else(|| {
            format!(
                "the error {} is not one of dns, connect, timeout, tls and other",
                quoted(name)
            )
        }),
    }
}

/// Returns `true` for failures of a link, not of its check.
fn is_importable(failure: CheckFailure) -> bool {
    !matches!(failure, CheckFailure::Excluded | CheckFailure::Unanswered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-23T09:00:00Z".parse().unwrap()
    }

    fn lines(text: &str) -> Vec<CsvLine> {
        let mut results = CsvResults::new(text.as_bytes(), now()).unwrap();
        std::iter::from_fn(|| results.next_line()).collect()
    }

    #[test]
    fn columns_are_found_by_name() {
        let text = "note,checked_at,status,url\r\n\"a,\nb\",2026-11-22,404,http://h/\r\n";
        let [line] = &lines(text)[..] else { panic!() };
        let row = line.result.as_ref().unwrap();
        assert_eq!(
            (row.url.as_str(), row.outcome),
            ("http://h/", CheckOutcome::Status(404))
        );
        assert_eq!((line.number, row.final_url.as_deref()), (2, None));
    }

    #[test]
    fn a_missing_column_is_named() {
        for (header, name) in [
            ("url,status\n", "checked_at"),
            ("", "url"),
            ("url\tstatus", "url"),
        ] {
            let error = CsvResults::new(header.as_bytes(), now()).err().unwrap();
            assert!(error.contains(&format!("no column `{name}`")), "{error}");
        }
    }

    #[test]
    fn a_quote_that_is_not_closed_is_no_result() {
        let header = "url,status,checked_at,final_url,note\n";
        let good = "http://h/1,200,2026-11-22,http://i/,\n";
        for end in ["", "\n", "\n\n", "\r\n", "\"", "\"\n\n"] {
            let is_closed = end.starts_with('"');
            for bad in ["http://h/2,200,2026-11-22,,\"5 inch", "\"http://h/2,200"] {
                let text = format!("{header}{good}{bad}\n{good}{good}{end}");
                let found: Vec<_> = lines(&text).into_iter().map(|line| line.result).collect();
                let is_open = found[1..] == [Err(OPEN_QUOTE.to_owned())];
                assert!(
                    found[0].is_ok() && is_open != is_closed,
                    "{text}: {found:?}"
                );
            }
            let found = lines(&format!("{header}{good}{}", end.replace('"', "")));
            assert!(found.len() == 1 && found[0].result.is_ok(), "{found:?}");
        }
        let closed_later =
            format!("{header}http://h/2,200,2026-11-22,\"http://i/\n{good}\"\n{good}");
        let found = lines(&closed_later);
        assert_eq!(found[0].result, Err(LINE_BREAK.to_owned()));
        assert!(found.len() == 2 && found[1].result.is_ok(), "{found:?}");
        assert_eq!(found[1].number, 5);
    }

    #[test]
    fn bad_lines_are_told_apart() {
        let text = "url,status,checked_at,final_url,error\n\
            http://h/1,200,2026-11-22,http://i/,\n\
            http://h/2,,2026-11-22,,dns\n\
            http://h/3,,2026-11-22,,\n\
            http://h/4,,2026-11-22,,excluded\n\
            http://h/5,20,2026-11-22,,\n\
            http://h/6,200,soon,,\n\
            ,200,2026-11-22,,\n\
            http://h/8\n\
            http://h/9,410,2026-11-22\n\
            http://h/10,99,2026-11-22\n\
            http://h/11,600,2026-11-22\n\
            http://h/12,599,2026-11-22\n\
            http://h/13,999,2026-11-22\n\
            http://h/14,200,2031-11-22\n\
            http://h/15,200,1970-01-01\n\
            http://h/16,404.0,2026-11-22\n\
            http://h/17,404.5,2026-11-22\n\
            http://h/18,410,2026-11-22,,reset by peer\n\
            http://h/19,+200,2026-11-22\n";
        let found: Vec<_> = lines(text)
            .iter()
            .map(|line| (line.number, line.result.is_ok()))
            .collect();
        let good = [2, 3, 10, 13, 14, 17, 19];
        let expected: Vec<_> = (2..=20)
            .map(|number| (number, good.contains(&number)))
            .collect();
        assert_eq!(found, expected);
        let second = lines(text).swap_remove(1).result.unwrap();
        assert_eq!(second.outcome, CheckOutcome::Failed(CheckFailure::Dns));
    }
}
