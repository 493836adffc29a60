//! Imports results of checks that were made elsewhere: the JSON of lychee, or the CSV of any
//! checker.

mod csv_file;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use url::Url;

use super::database::{AuditDb, CheckResult, ResultStore, StoredLinks};
use super::error::AuditError;
use super::lychee::lychee_answers;
use super::state::{CheckOutcome, without_fragment};
use super::times::CheckTime;
use crate::diagnostic::{shortened, shortened_inside};
use crate::limits::{AUDIT_IMPORT_BYTES, MESSAGE_VALUE_CHARS};
use csv_file::CsvResults;

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
    /// Results with the URL and time of an earlier one in the file, which was stored instead.
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
}
