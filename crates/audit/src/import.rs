//! Imports results of checks made elsewhere, from lychee's JSON or any checker's CSV.
//!
//! CSV has the columns `url,status,checked_at` and optionally `final_url,error`, in any order and
//! case, possibly among other columns. The separator is `,` or `;`. The JSON is lychee's `--format
//! json -v`, versions 0.15 to 0.24.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use csv::{Reader, StringRecord};
use jiff::Timestamp;
use serde::Deserialize;
use url::Url;

use super::AuditError;
use super::database::{AuditDb, CheckResult, CheckTime, ResultStore, ResultUse};
use super::state::{CheckFailure, CheckOutcome, without_fragment};
use urlspool_files::config::NamedValue;
use urlspool_text::diagnostic::{shortened, shortened_inside};
use urlspool_text::limits::{AUDIT_IMPORT_BYTES, MESSAGE_VALUE_CHARS};

/// Bytes that Windows programs write at the start of a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Name stored for an unnamed checker.
const UNNAMED_CHECKER: &str = "imported";

/// Options of an import.
#[derive(Clone, Debug)]
pub struct ImportJob {
    /// A database with a plan.
    pub database: PathBuf,
    /// File of results.
    pub results: PathBuf,
    /// Time of the check for JSON, which does not contain it. CSV contains its times.
    pub checked_at: Option<CheckTime>,
    /// Name of the checker for CSV; `None` stores `imported`. For JSON the checker is lychee.
    pub checker: Option<String>,
}

/// Counts of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Results read. Includes all of the following except `refused`.
    pub read: u64,
    /// Results of planned links that were stored.
    pub added: u64,
    /// Results that an earlier import had stored.
    pub known: u64,
    /// Results with the same URL, time and state as an earlier result in the file.
    pub repeated: u64,
    /// Results of URLs that are not planned.
    pub unmatched: u64,
    /// Invalid results, which were not imported.
    pub refused: u64,
}

/// Imports results in one transaction. Results that are already stored are not added again.
/// `refused` receives the line or URL of each invalid result, and the reason.
///
/// # Errors
///
/// The file cannot be read, or is neither lychee's JSON nor CSV with the required columns.
pub fn import(
    job: &ImportJob,
    refused: &mut dyn FnMut(&str, &str),
) -> Result<ImportCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let bytes = read(&job.results, AUDIT_IMPORT_BYTES)?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    audit.run("BEGIN IMMEDIATE")?;
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    let counts = if is_json {
        import_json(&audit, job, bytes, refused)?
    } else {
        import_csv(&audit, job, bytes, refused)?
    };
    audit.run("COMMIT")?;
    Ok(counts)
}

/// Reads a file of at most `limit` bytes. The size of a pipe or device is not known in advance.
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
            "{} has more than {limit} bytes; split it into smaller files",
            path.display()
        )));
    }
    Ok(bytes)
}

fn import_json(
    audit: &AuditDb,
    job: &ImportJob,
    bytes: &[u8],
    refused: &mut dyn FnMut(&str, &str),
) -> Result<ImportCounts, AuditError> {
    let file = job.results.display();
    if job.checker.is_some() {
        return Err(AuditError::unusable(format!(
            "{file} is JSON of lychee, so the checker is known; remove `--checker`"
        )));
    }
    let Some(checked_at) = job.checked_at else {
        return Err(AuditError::unusable(format!(
            "{file} is JSON, which has no times; add the day of the check with `--checked-at`"
        )));
    };
    let checked_at = checked_at.text(Timestamp::now()).map_err(|reason| {
        AuditError::unusable(format!(
            "cannot import {file}: {reason}; set the time of the check with `--checked-at`"
        ))
    })?;
    let answers = lychee_answers(bytes).map_err(|error| {
        let message = format!(
            "{file} is not JSON of lychee: {}; create it with `lychee --format json -v`",
            shortened_inside(&error.to_string(), MESSAGE_VALUE_CHARS)
        );
        AuditError::unusable(message).caused_by(error)
    })?;
    let mut importer = Importer::new(audit, "lychee", refused)?;
    for answer in answers {
        let place = shortened(&answer.url, MESSAGE_VALUE_CHARS).into_owned();
        importer.put(&place, answer, &checked_at)?;
    }
    Ok(importer.counts)
}

fn import_csv(
    audit: &AuditDb,
    job: &ImportJob,
    bytes: &[u8],
    refused: &mut dyn FnMut(&str, &str),
) -> Result<ImportCounts, AuditError> {
    let file = job.results.display();
    let mut results = CsvResults::new(bytes, Timestamp::now())
        .map_err(|reason| AuditError::unusable(format!("{file}: {reason}")))?;
    if job.checked_at.is_some() {
        return Err(AuditError::unusable(format!(
            "{file} is CSV with times in its column `checked_at`; remove `--checked-at`"
        )));
    }
    let checker = job.checker.as_deref().unwrap_or(UNNAMED_CHECKER);
    let mut importer = Importer::new(audit, checker, refused)?;
    while let Some((number, result)) = results.next_line() {
        let place = format!("line {number}");
        match result {
            Err(reason) => importer.refuse(&place, &reason),
            Ok(row) => importer.put(&place, row.result, &row.checked_at)?,
        }
    }
    Ok(importer.counts)
}

/// Returns the reason why a result is invalid, if it is.
fn fault(result: &CheckResult) -> Option<String> {
    if let CheckOutcome::Status(code) = result.outcome
        && !is_http_code(code)
    {
        return Some(not_http_code(&code.to_string()));
    }
    let final_url = result.final_url.as_deref()?;
    match Url::parse(final_url) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => None,
        _ => Some(format!(
            "the final URL {} is not a URL of http or https",
            quoted(final_url)
        )),
    }
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

/// Returns `true` for a status that servers send: the statuses of RFC 9110, section 15, and 999,
/// with which `LinkedIn` refuses programs. Other numbers are internal codes of checkers.
fn is_http_code(code: u16) -> bool {
    matches!(code, 100..=599 | 999)
}

/// Stores results and counts them.
struct Importer<'d, 'r> {
    store: ResultStore<'d>,
    refused: &'r mut dyn FnMut(&str, &str),
    counts: ImportCounts,
}

impl<'d, 'r> Importer<'d, 'r> {
    fn new(
        audit: &'d AuditDb,
        checker: &str,
        refused: &'r mut dyn FnMut(&str, &str),
    ) -> Result<Importer<'d, 'r>, AuditError> {
        Ok(Importer {
            store: ResultStore::new(audit, checker)?,
            refused,
            counts: ImportCounts::default(),
        })
    }

    /// Stores a result, or refuses it if it is invalid.
    fn put(
        &mut self,
        place: &str,
        mut result: CheckResult,
        checked_at: &str,
    ) -> Result<(), AuditError> {
        if let Some(reason) = fault(&result) {
            self.refuse(place, &reason);
            return Ok(());
        }
        self.counts.read += 1;
        let url = planned_form(&result.url);
        let asked_url = std::mem::replace(&mut result.url, url);
        result.asked_url.get_or_insert(asked_url);
        let count = match self.store.put(&result, checked_at)? {
            ResultUse::Unmatched => &mut self.counts.unmatched,
            ResultUse::Known => &mut self.counts.known,
            ResultUse::Repeated => &mut self.counts.repeated,
            ResultUse::Added => &mut self.counts.added,
        };
        *count += 1;
        Ok(())
    }

    fn refuse(&mut self, place: &str, reason: &str) {
        self.counts.refused += 1;
        (self.refused)(place, reason);
    }
}

/// Returns a URL in the plan's form: the WHATWG serialization without the fragment.
fn planned_form(url: &str) -> String {
    match Url::parse(without_fragment(url)) {
        Ok(url) => url.into(),
        Err(_) => url.to_owned(),
    }
}

/// Marker line read after the file. If a record contains more than this field, a quote was never
/// closed.
const END: &str = "end";

/// Bytes read after the file.
const END_LINE: &[u8] = b"\nend\n";

/// Reason for refusing the rest of a file after an unclosed quote.
const OPEN_QUOTE: &str = "a quote is never closed, so the rest of the file cannot be read; \
                          close it and import the file again";

/// Reason for refusing a value with a line break.
const LINE_BREAK: &str = "a cell has a line break; perhaps a quote is not closed";

/// Columns of a file of results. The first three are required.
const COLUMNS: [&str; 5] = ["url", "status", "checked_at", "final_url", "error"];

/// Lines of a file of results.
struct CsvResults<'b> {
    bytes: &'b [u8],
    reader: Reader<io::Chain<&'b [u8], &'static [u8]>>,
    /// Indexes of [`COLUMNS`].
    places: [Option<usize>; COLUMNS.len()],
    /// An offset and its line number.
    counted: (usize, u64),
    now: Timestamp,
}

/// The result on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CsvRow {
    result: CheckResult,
    /// UTC time in the format of the tables.
    checked_at: String,
}

impl<'b> CsvResults<'b> {
    /// Reads the column names. Results must not be newer than `now`.
    ///
    /// # Errors
    ///
    /// A column is missing, or the first line is not CSV.
    fn new(bytes: &'b [u8], now: Timestamp) -> Result<CsvResults<'b>, String> {
        let first_line = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let [commas, semicolons] =
            [b',', b';'].map(|separator| memchr::memchr_iter(separator, first_line).count());
        // Spreadsheets use `;` in locales where the comma is the decimal separator.
        let delimiter = if commas < semicolons { b';' } else { b',' };
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
        let places = COLUMNS.map(|name| {
            let mut columns = header.iter();
            columns.position(|column| column.trim().eq_ignore_ascii_case(name))
        });
        if let Some(missing) = places[..3].iter().position(Option::is_none) {
            let line = String::from_utf8_lossy(first_line);
            return Err(format!(
                "the first line has no column `{}`: {}; it must name the columns url, status and \
                 checked_at, separated by `,` or `;`",
                COLUMNS[missing],
                quoted(line.trim_end())
            ));
        }
        Ok(CsvResults {
            bytes,
            reader,
            places,
            counted: (0, 1),
            now,
        })
    }

    /// Returns the number of the next line (starting at 1) and its result, or the reason for
    /// refusing it. Returns `None` at the end.
    fn next_line(&mut self) -> Option<(u64, Result<CsvRow, String>)> {
        let mut record = StringRecord::new();
        let read = self.reader.read_record(&mut record);
        let number = self.line_at(record.position().map_or(0, csv::Position::byte));
        let result = match read {
            Ok(false) => return None,
            Ok(true) if self.is_past_end() => match record.iter().collect::<Vec<_>>()[..] {
                [END] => return None,
                _ => Err(OPEN_QUOTE.to_owned()),
            },
            Ok(true) => self.row(&record),
            Err(error) => Err(match error.kind() {
                csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
                _ => error.to_string(),
            }),
        };
        Some((number, result))
    }

    /// Returns `true` if more was read than the file and one line terminator.
    fn is_past_end(&self) -> bool {
        self.bytes.len() as u64 + 1 < self.reader.position().byte()
    }

    /// Returns the line number of a record at `offset`, which must not precede the last one. The
    /// CSV crate's line number is too low after CRLF, where it counts from between CR and LF.
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

    fn row(&self, record: &StringRecord) -> Result<CsvRow, String> {
        let fields = self.places.map(|place| {
            let field = place.and_then(|place| record.get(place));
            field.unwrap_or_default().trim()
        });
        if fields.iter().any(|text| text.contains(['\n', '\r'])) {
            return Err(LINE_BREAK.to_owned());
        }
        let [url, status, checked_at, final_url, error] = fields;
        if url.is_empty() {
            return Err("the url is empty".to_owned());
        }
        let result = CheckResult {
            url: url.to_owned(),
            asked_url: None,
            outcome: outcome(status, error)?,
            final_url: Some(final_url.to_owned()).filter(|url| !url.is_empty()),
        };
        let time = CheckTime::parse(checked_at).ok_or_else(|| {
            format!(
                "the time {} is not like 2026-11-22, 2026-11-22T10:00:00Z or \
                 2026-11-22T10:00:00+01:00",
                quoted(checked_at)
            )
        })?;
        Ok(CsvRow {
            result,
            checked_at: time.text(self.now)?,
        })
    }
}

/// Returns the outcome for a status and an error. If there is a status, a server has answered and
/// the error is ignored.
fn outcome(status: &str, error: &str) -> Result<CheckOutcome, String> {
    if !status.is_empty() {
        // pandas writes integer columns with missing values this way.
        let code = status.strip_suffix(".0").unwrap_or(status);
        let is_number = code.bytes().all(|byte| byte.is_ascii_digit());
        return match code.parse() {
            Ok(code) if is_number && is_http_code(code) => Ok(CheckOutcome::Status(code)),
            _ => Err(not_http_code(status)),
        };
    }
    match CheckFailure::named(error) {
        Some(failure) if failure.is_of_link() => Ok(CheckOutcome::Failed(failure)),
        _ if error.is_empty() => Err("status and error are empty; one is needed".to_owned()),
        _ => Err(format!(
            "the error {} is not one of dns, connect, timeout, tls and other",
            quoted(error)
        )),
    }
}

/// lychee's output. Only these maps contain answers. Each map is keyed by the input that contains
/// the link.
#[derive(Debug, Deserialize)]
struct LycheeOutput {
    #[serde(rename = "success_map")]
    successes: AnswersByInput,
    #[serde(rename = "error_map", alias = "fail_map")]
    errors: AnswersByInput,
    #[serde(rename = "timeout_map", default)]
    timeouts: AnswersByInput,
    #[serde(rename = "excluded_map")]
    excluded: AnswersByInput,
}

type AnswersByInput = BTreeMap<String, Vec<LycheeAnswer>>;

#[derive(Debug, Deserialize)]
struct LycheeAnswer {
    url: String,
    status: LycheeStatus,
    redirects: Option<LycheeRedirects>,
    remap: Option<LycheeRemap>,
}

#[derive(Debug, Deserialize)]
struct LycheeStatus {
    #[serde(default)]
    text: String,
    code: Option<u16>,
}

#[derive(Debug, Deserialize)]
struct LycheeRedirects {
    redirects: Vec<LycheeUrl>,
}

#[derive(Debug, Deserialize)]
struct LycheeRemap {
    /// URL before remapping.
    original: LycheeUrl,
}

#[derive(Debug, Deserialize)]
struct LycheeUrl {
    url: String,
}

/// Parses lychee's output.
///
/// # Errors
///
/// The input is not lychee's output, or contains no successes, which lychee lists only with `-v`.
fn lychee_answers(json: &[u8]) -> Result<Vec<CheckResult>, serde_json::Error> {
    let output: LycheeOutput = serde_json::from_slice(json)?;
    let mut answers = Vec::new();
    for (map, failure) in [
        (output.successes, None),
        (output.errors, None),
        (output.timeouts, Some(CheckFailure::Timeout)),
        (output.excluded, Some(CheckFailure::Excluded)),
    ] {
        let bodies = map.into_values().flatten();
        answers.extend(bodies.map(|body| lychee_result(body, failure)));
    }
    Ok(answers)
}

/// Converts an answer. `of_map` is the failure implied by the map that contains it, if any.
fn lychee_result(body: LycheeAnswer, of_map: Option<CheckFailure>) -> CheckResult {
    let last = body.redirects.and_then(|mut list| list.redirects.pop());
    let last_url = last.as_ref().map_or(&body.url, |last| &last.url);
    let outcome = match (body.status.code, of_map) {
        (_, Some(CheckFailure::Excluded)) => CheckOutcome::Failed(CheckFailure::Excluded),
        (Some(code), _) => CheckOutcome::Status(code),
        (None, Some(failure)) => CheckOutcome::Failed(failure),
        (None, None) => CheckOutcome::Failed(lychee_failure(
            &body.status.text,
            last_url.starts_with("https:"),
        )),
    };
    let final_url = last.map(|last| last.url);
    let (url, asked_url) = match body.remap {
        Some(remap) => (remap.original.url, Some(body.url)),
        None => (body.url, None),
    };
    CheckResult {
        url,
        asked_url,
        outcome,
        final_url,
    }
}

/// Classifies a failure by lychee's message. A local DNS or network failure is not evidence against
/// the link.
fn lychee_failure(text: &str, is_https: bool) -> CheckFailure {
    for (words, failure) in LYCHEE_WORDS {
        // An untrusted certificate, or a response without TLS if the checker uses a proxy.
        let may_be = is_https || *words != MALFORMED;
        if may_be && words.iter().any(|words| text.contains(words)) {
            return *failure;
        }
    }
    // "Connection failed" also covers a server that closed the connection during the handshake.
    CheckFailure::Other
}

const MALFORMED: &[&str] = &["Invalid response data"];

/// Parts of lychee's error messages. The first matching row applies.
const LYCHEE_WORDS: &[(&[&str], CheckFailure)] = &[
    (
        &["DNS temporarily unavailable", "etwork unreachable"],
        CheckFailure::Other,
    ),
    (&["timed out", "Timeout"], CheckFailure::Timeout),
    (&["DNS", "dns error"], CheckFailure::Dns),
    (
        &["TLS", "SSL", "certificate", "corrupt message", "handshake"],
        CheckFailure::Tls,
    ),
    (MALFORMED, CheckFailure::Tls),
    (
        &["onnection refused", "No route to host", "HostUnreachable"],
        CheckFailure::Connect,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_above_the_size_limit_are_refused() {
        let error = read(Path::new("/dev/zero"), 1_000).unwrap_err();
        let expected = "/dev/zero has more than 1000 bytes; split it into smaller files";
        assert_eq!(error.to_string(), expected);
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), b"");
    }

    #[test]
    fn urls_are_compared_in_the_form_of_the_plan() {
        assert_eq!(planned_form("HTTP://H.test:80#x"), "http://h.test/");
        assert_eq!(planned_form("no url"), "no url");
    }

    fn now() -> Timestamp {
        "2026-11-23T09:00:00Z".parse().unwrap()
    }

    fn lines(text: &str) -> Vec<(u64, Result<CsvRow, String>)> {
        let mut results = CsvResults::new(text.as_bytes(), now()).unwrap();
        std::iter::from_fn(|| results.next_line()).collect()
    }

    #[test]
    fn columns_are_found_by_name() {
        for text in [
            "note,checked_at,status,url\r\n\"a,\nb\",2026-11-22,404,http://h/\r\n",
            "Note;Checked_At;Status;URL\r\n\"a;\nb,\";2026-11-22;404;http://h/\r\n",
        ] {
            let [(number, result)] = &lines(text)[..] else {
                panic!()
            };
            let expected = CheckResult {
                url: "http://h/".to_owned(),
                asked_url: None,
                outcome: CheckOutcome::Status(404),
                final_url: None,
            };
            assert_eq!(result.as_ref().unwrap().result, expected);
            assert_eq!(*number, 2);
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
    fn an_unclosed_quote_is_refused() {
        let header = "url,status,checked_at,final_url,note\n";
        let good = "http://h/1,200,2026-11-22,http://i/,\n";
        for end in ["", "\n", "\n\n", "\r\n", "\"", "\"\n\n"] {
            let is_closed = end.starts_with('"');
            for bad in ["http://h/2,200,2026-11-22,,\"5 inch", "\"http://h/2,200"] {
                let text = format!("{header}{good}{bad}\n{good}{good}{end}");
                let found: Vec<_> = lines(&text).into_iter().map(|line| line.1).collect();
                let is_open = found[1..] == [Err(OPEN_QUOTE.to_owned())];
                assert!(
                    found[0].is_ok() && is_open != is_closed,
                    "{text}: {found:?}"
                );
            }
            let found = lines(&format!("{header}{good}{}", end.replace('"', "")));
            assert!(found.len() == 1 && found[0].1.is_ok(), "{found:?}");
        }
        let closed_later =
            format!("{header}http://h/2,200,2026-11-22,\"http://i/\n{good}\"\n{good}");
        let found = lines(&closed_later);
        assert_eq!(found[0].1, Err(LINE_BREAK.to_owned()));
        assert!(found.len() == 2 && found[1].1.is_ok(), "{found:?}");
        assert_eq!(found[1].0, 5);
    }

    #[test]
    fn invalid_lines_are_refused_one_by_one() {
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
            .map(|(number, result)| (*number, result.is_ok()))
            .collect();
        let good = [2, 3, 10, 13, 14, 17, 19];
        let expected: Vec<_> = (2..=20)
            .map(|number| (number, good.contains(&number)))
            .collect();
        assert_eq!(found, expected);
        let second = lines(text).swap_remove(1).1.unwrap();
        assert_eq!(
            second.result.outcome,
            CheckOutcome::Failed(CheckFailure::Dns)
        );
    }

    #[track_caller]
    fn check_lychee(map: &str, body: &str, expected: (&str, CheckOutcome, Option<&str>)) {
        let maps = ["success_map", "error_map", "timeout_map", "excluded_map"];
        let maps = maps.map(|name| {
            let bodies = if name == map {
                format!("\"l.html\":[{body}]")
            } else {
                String::new()
            };
            format!("\"{name}\":{{{bodies}}}")
        });
        let json = format!("{{\"total\":1,{},\"duration\":1}}", maps.join(","));
        let answers = lychee_answers(json.as_bytes()).unwrap();
        let [answer] = &answers[..] else {
            panic!("{answers:?}")
        };
        let found = (
            answer.url.as_str(),
            answer.outcome,
            answer.final_url.as_deref(),
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn a_status_code_is_used_in_any_map() {
        for (map, code) in [
            ("success_map", 200),
            ("error_map", 404),
            ("timeout_map", 504),
        ] {
            let body = format!(r#"{{"url":"http://h/","status":{{"text":"x","code":{code}}}}}"#);
            check_lychee(map, &body, ("http://h/", CheckOutcome::Status(code), None));
        }
    }

    #[test]
    fn the_final_url_is_the_last_redirect() {
        let body = r#"{"url":"http://h/","status":{"text":"200 OK","code":200},
            "redirects":{"origin":"http://h/","redirects":[
             {"url":"http://i/","code":301},{"url":"http://j/","code":302}]}}"#;
        let expected = ("http://h/", CheckOutcome::Status(200), Some("http://j/"));
        check_lychee("success_map", body, expected);
    }

    #[test]
    fn a_mapped_link_keeps_its_original_url() {
        let body = r#"{"url":"http://127.0.0.1/h/","status":{"text":"200 OK","code":200},
            "remap":{"original":{"url":"http://h/"},"new":{"url":"http://127.0.0.1/h/"}}}"#;
        check_lychee(
            "success_map",
            body,
            ("http://h/", CheckOutcome::Status(200), None),
        );
    }

    #[test]
    fn error_messages_are_classified() {
        for (text, expected) in [
            (
                "Network error: DNS resolution failed. Check hostname",
                CheckFailure::Dns,
            ),
            (
                "Network error: DNS temporarily unavailable. Try again later",
                CheckFailure::Other,
            ),
            (
                "Network error: Connection refused - server may be down",
                CheckFailure::Connect,
            ),
            (
                "Network error: I/O error (HostUnreachable). Check network",
                CheckFailure::Connect,
            ),
            (
                "Network error: Connection failed. Check network",
                CheckFailure::Other,
            ),
            (
                "Network error: No route to host. Check network routing",
                CheckFailure::Connect,
            ),
            (
                "Network error: Network unreachable. Check internet",
                CheckFailure::Other,
            ),
            ("Network error: SSL certificate expired.", CheckFailure::Tls),
            (
                "Network error: received corrupt message of type X",
                CheckFailure::Tls,
            ),
            (
                "Network error: Connection reset by server.",
                CheckFailure::Other,
            ),
            ("Too many redirects", CheckFailure::Other),
        ] {
            let body = format!(r#"{{"url":"http://h/","status":{{"text":"{text}"}}}}"#);
            let outcome = CheckOutcome::Failed(expected);
            check_lychee("error_map", &body, ("http://h/", outcome, None));
        }
        let body = r#"{"url":"http://h/","status":{"text":"Timeout","details":"x"}}"#;
        let outcome = CheckOutcome::Failed(CheckFailure::Timeout);
        check_lychee("timeout_map", body, ("http://h/", outcome, None));
        let outcome = CheckOutcome::Failed(CheckFailure::Excluded);
        check_lychee("excluded_map", body, ("http://h/", outcome, None));
    }

    #[test]
    fn malformed_data_over_https_is_a_tls_failure() {
        let text = "Network error: Invalid response data. Server sent malformed response";
        for (url, expected) in [
            ("http://h/", CheckFailure::Other),
            ("https://h/", CheckFailure::Tls),
        ] {
            let body = format!(r#"{{"url":"{url}","status":{{"text":"{text}"}}}}"#);
            check_lychee(
                "error_map",
                &body,
                (url, CheckOutcome::Failed(expected), None),
            );
        }
    }

    #[test]
    fn other_json_is_refused() {
        for json in ["", "[]", "{}", "{\"success_map\":{}}"] {
            assert!(lychee_answers(json.as_bytes()).is_err(), "{json}");
        }
        for part in [
            r#""redirects":[]"#,
            r#""redirects":{"redirects":["http://i/"]}"#,
            r#""remap":{"original":"http://h/"}"#,
        ] {
            let json = format!(r#"{{"url":"http://h/","status":{{"code":200}},{part}}}"#);
            assert!(
                serde_json::from_str::<LycheeAnswer>(&json).is_err(),
                "{json}"
            );
        }
    }
}
