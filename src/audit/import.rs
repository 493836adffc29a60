//! Imports results of checks that were made elsewhere: the JSON of lychee, or the CSV of any
//! checker.
//!
//! CSV has the columns `url,status,checked_at`, and perhaps `final_url,error`, in any order and
//! beside other columns, with names in any case; `,` or `;` separates them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use csv::{Reader, StringRecord};
use jiff::Timestamp;
use url::Url;

use super::AuditError;
use super::database::{AuditDb, CheckResult, CheckTime, ResultStore, StoredLinks};
use super::lychee::lychee_answers;
use super::state::{CheckFailure, CheckOutcome, without_fragment};
use crate::diagnostic::{shortened, shortened_inside};
use crate::limits::{AUDIT_IMPORT_BYTES, MESSAGE_VALUE_CHARS};

/// Bytes with which Windows programs begin a file in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Name of a checker that was not named.
const UNNAMED_CHECKER: &str = "imported";

/// Results to import.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportJob {
    /// The database with a plan.
    pub database: PathBuf,
    /// The file of results.
    pub results: PathBuf,
    /// Time of the check, for JSON, which does not hold it. CSV has times of its own.
    pub checked_at: Option<CheckTime>,
    /// Name of the checker, for CSV; `None` stores `imported`. JSON is lychee's.
    pub checker: Option<String>,
}

impl ImportJob {
    /// Creates the import of a file of results.
    #[must_use]
    pub fn new(database: PathBuf, results: PathBuf) -> ImportJob {
        ImportJob {
            database,
            results,
            checked_at: None,
            checker: None,
        }
    }
}

/// Numbers of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportCounts {
    /// Results that were read: all that follow but those that are refused.
    pub read: u64,
    /// Results of planned links that were stored.
    pub added: u64,
    /// Results that an earlier import had stored.
    pub known: u64,
    /// Results with the URL, time and state of an earlier one in the file, which was stored instead.
    pub repeated: u64,
    /// Results of URLs that are not planned.
    pub unmatched: u64,
    /// Results that are not imported for a reason of their own.
    pub refused: u64,
}

/// The place of a result in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPlace<'r> {
    /// The line in CSV, from 1.
    Line(u64),
    /// The URL in JSON.
    Url(&'r str),
}

/// Receives the results that are refused.
pub trait ImportReport {
    /// Reports a result and the reason. The others are imported.
    fn refused(&mut self, place: ResultPlace<'_>, reason: &str);
}

/// Imports results, in one transaction. Results that are there already are not added again.
///
/// # Errors
///
/// The file cannot be read, or is neither JSON of lychee nor CSV with the columns that are needed.
pub fn import(job: &ImportJob, report: &mut dyn ImportReport) -> Result<ImportCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let bytes = read(&job.results, AUDIT_IMPORT_BYTES)?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    audit.run("BEGIN IMMEDIATE")?;
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    let counts = if is_json {
        import_json(&audit, job, bytes, report)?
    } else {
        import_csv(&audit, job, bytes, report)?
    };
    audit.run("COMMIT")?;
    Ok(counts)
}

/// Reads a file of at most `limit` bytes. The size of a pipe or device is not known before.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>, AuditError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            let message = format!("cannot read {}: {error}", path.display());
            AuditError::unusable(message).caused_by(error)
        })?;
    if limit < bytes.len() as u64 {
        return Err(AuditError::unusable(format!(
            "{} has more than {limit} bytes; import it in parts of at most so many",
            path.display()
        )));
    }
    Ok(bytes)
}

fn import_json(
    audit: &AuditDb,
    job: &ImportJob,
    bytes: &[u8],
    report: &mut dyn ImportReport,
) -> Result<ImportCounts, AuditError> {
    let file = job.results.display();
    if job.checker.is_some() {
        return Err(AuditError::unusable(format!(
            "{file} is the JSON of lychee, which is its checker; import it without `--checker`"
        )));
    }
    let Some(checked_at) = job.checked_at else {
        return Err(AuditError::unusable(format!(
            "{file} is JSON, which holds no times; give the day of the check with `--checked-at`"
        )));
    };
    let checked_at = checked_at.text(Timestamp::now()).map_err(|reason| {
        AuditError::unusable(format!(
            "cannot import {file}: {reason}; give the time of the check with `--checked-at`"
        ))
    })?;
    let answers = lychee_answers(bytes).map_err(|error| {
        let message = format!(
            "{file} is not the JSON of lychee: {}; it is written by `lychee --format json -v`",
            shortened_inside(&error.to_string(), MESSAGE_VALUE_CHARS)
        );
        AuditError::unusable(message).caused_by(error)
    })?;
    let mut importer = Importer::new(audit, "lychee", report)?;
    for answer in answers {
        let result = CheckResult {
            url: &answer.url,
            asked_url: &answer.asked_url,
            outcome: answer.outcome,
            final_url: answer.final_url.as_deref(),
            checked_at: &checked_at,
        };
        importer.put(ResultPlace::Url(&answer.url), &result)?;
    }
    Ok(importer.counts)
}

fn import_csv(
    audit: &AuditDb,
    job: &ImportJob,
    bytes: &[u8],
    report: &mut dyn ImportReport,
) -> Result<ImportCounts, AuditError> {
    let file = job.results.display();
    let mut results = CsvResults::new(bytes, Timestamp::now())
        .map_err(|reason| AuditError::unusable(format!("{file}: {reason}")))?;
    if job.checked_at.is_some() {
        return Err(AuditError::unusable(format!(
            "{file} is CSV, whose column `checked_at` holds the times; import it without \
             `--checked-at`"
        )));
    }
    let checker = job.checker.as_deref().unwrap_or(UNNAMED_CHECKER);
    let mut importer = Importer::new(audit, checker, report)?;
    while let Some(line) = results.next_line() {
        let place = ResultPlace::Line(line.number);
        match line.result {
            Err(reason) => importer.refuse(place, &reason),
            Ok(row) => {
                let result = CheckResult {
                    url: &row.url,
                    asked_url: &row.url,
                    outcome: row.outcome,
                    final_url: row.final_url.as_deref(),
                    checked_at: &row.checked_at,
                };
                importer.put(place, &result)?;
            }
        }
    }
    Ok(importer.counts)
}

/// Returns the reason why a result cannot be that of a check.
fn fault(result: &CheckResult<'_>) -> Option<String> {
    if let CheckOutcome::Status(code) = result.outcome
        && !is_http_code(code)
    {
        return Some(not_http_code(&code.to_string()));
    }
    let is_page =
        |url: &str| Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let no_page = result.final_url.filter(|url| !is_page(url))?;
    Some(format!(
        "the final URL {} is not a URL of http or https",
        quoted(no_page)
    ))
}

fn not_http_code(status: &str) -> String {
    format!(
        "the status {} is not an HTTP code of 100 to 599, nor 999",
        quoted(status)
    )
}

/// Quotes a value of the file for a message.
fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text, MESSAGE_VALUE_CHARS))
}

/// Returns `true` for a code that a server sends: those of RFC 9110, section 15, and 999, with
/// which `LinkedIn` refuses programs. Other numbers are codes of a checker's own.
fn is_http_code(code: u16) -> bool {
    matches!(code, 100..=599 | 999)
}

/// Stores results, and counts them.
struct Importer<'d, 'r> {
    store: ResultStore<'d>,
    report: &'r mut dyn ImportReport,
    counts: ImportCounts,
}

impl<'d, 'r> Importer<'d, 'r> {
    fn new(
        audit: &'d AuditDb,
        checker: &str,
        report: &'r mut dyn ImportReport,
    ) -> Result<Importer<'d, 'r>, AuditError> {
        Ok(Importer {
            store: ResultStore::new(audit, checker)?,
            report,
            counts: ImportCounts::default(),
        })
    }

    /// Stores a result, or refuses it.
    fn put(&mut self, place: ResultPlace<'_>, result: &CheckResult<'_>) -> Result<(), AuditError> {
        if let Some(reason) = fault(result) {
            self.refuse(place, &reason);
            return Ok(());
        }
        self.counts.read += 1;
        let url = planned_form(result.url);
        let stored = self.store.put(&CheckResult {
            url: &url,
            ..*result
        })?;
        let count = match stored {
            StoredLinks { planned: 0, .. } => &mut self.counts.unmatched,
            StoredLinks {
                repeated: 0,
                added: 0,
                ..
            } => &mut self.counts.known,
            StoredLinks { added: 0, .. } => &mut self.counts.repeated,
            _ => &mut self.counts.added,
        };
        *count += 1;
        Ok(())
    }

    fn refuse(&mut self, place: ResultPlace<'_>, reason: &str) {
        self.counts.refused += 1;
        self.report.refused(place, reason);
    }
}

/// Returns a URL as the plan has it: WHATWG's serialization without the fragment.
fn planned_form(url: &str) -> String {
    match Url::parse(without_fragment(url)) {
        Ok(url) => url.into(),
        Err(_) => url.to_owned(),
    }
}

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
struct CsvResults<'b> {
    bytes: &'b [u8],
    reader: Reader<io::Chain<&'b [u8], &'static [u8]>>,
    columns: CsvColumns,
    /// A place, and the number of its line.
    counted: (usize, u64),
    now: Timestamp,
}

/// A line after the first one.
#[derive(Debug)]
struct CsvLine {
    /// Its number, from 1.
    number: u64,
    /// The result, or the reason for which it is refused.
    result: Result<CsvRow, String>,
}

/// The result in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CsvRow {
    url: String,
    outcome: CheckOutcome,
    /// Time in UTC, as the tables have it.
    checked_at: String,
    final_url: Option<String>,
}

impl<'b> CsvResults<'b> {
    /// Reads the names of the columns. Results may not be newer than `now`.
    ///
    /// # Errors
    ///
    /// A column is missing; or the first line is no CSV.
    fn new(bytes: &'b [u8], now: Timestamp) -> Result<CsvResults<'b>, String> {
        let first_line = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let count = |separator| memchr::memchr_iter(separator, first_line).count();
        // Spreadsheets write `;` where the comma belongs to numbers.
        let delimiter = if count(b',') < count(b';') {
            b';'
        } else {
            b','
        };
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(bytes.chain(END_LINE));
        let header = reader.headers().map_err(|error| match error.kind() {
            csv::ErrorKind::Utf8 { .. } => {
                "the first line is not UTF-8; save the file as UTF-8".to_owned()
            }
            _ => error.to_string(),
        })?;
        let is_named = |column: &str, name: &str| column.trim().eq_ignore_ascii_case(name);
        let place = |name: &str| header.iter().position(|column| is_named(column, name));
        let required = |name: &str| {
            place(name).ok_or_else(|| {
                let line = String::from_utf8_lossy(first_line);
                format!(
                    "the first line has no column `{name}`: {}; it must name the columns url, \
                     status and checked_at, which `,` or `;` separates",
                    quoted(line.trim_end())
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
    fn next_line(&mut self) -> Option<CsvLine> {
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
    let named = |name: &str| CheckFailure::named(name).filter(|failure| failure.is_of_link());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_without_an_end_are_refused() {
        let error = read(Path::new("/dev/zero"), 1_000).unwrap_err();
        let expected = "/dev/zero has more than 1000 bytes; import it in parts of at most so many";
        assert_eq!(error.to_string(), expected);
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), b"");
    }

    #[test]
    fn urls_are_compared_as_the_plan_has_them() {
        assert_eq!(planned_form("HTTP://H.test:80#x"), "http://h.test/");
        assert_eq!(planned_form("no url"), "no url");
    }

    fn now() -> Timestamp {
        "2026-11-23T09:00:00Z".parse().unwrap()
    }

    fn lines(text: &str) -> Vec<CsvLine> {
        let mut results = CsvResults::new(text.as_bytes(), now()).unwrap();
        std::iter::from_fn(|| results.next_line()).collect()
    }

    #[test]
    fn columns_are_found_by_name() {
        for text in [
            "note,checked_at,status,url\r\n\"a,\nb\",2026-11-22,404,http://h/\r\n",
            "Note;Checked_At;Status;URL\r\n\"a;\nb,\";2026-11-22;404;http://h/\r\n",
        ] {
            let [line] = &lines(text)[..] else { panic!() };
            let row = line.result.as_ref().unwrap();
            assert_eq!(
                (row.url.as_str(), row.outcome),
                ("http://h/", CheckOutcome::Status(404))
            );
            assert_eq!((line.number, row.final_url.as_deref()), (2, None));
        }
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
