//! Imports results of checks that were made elsewhere: the JSON of lychee, or the CSV of any checker.

mod csv_results;
mod line_error;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use url::Url;

use super::clock::shown;
use super::database::AuditDb;
use super::error::AuditError;
use super::lychee_answers::lychee_answers;
use super::results::{CheckResult, ResultStore, StoredLinks};
use super::state::without_fragment;
use crate::limits::AUDIT_IMPORT_BYTES;
use csv_results::CsvResults;

pub use line_error::ResultLineError;

/// Results to import.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportJob {
    /// The database with a plan.
    pub database: PathBuf,
    /// The file of results.
    pub results: PathBuf,
    /// Time of the check, for JSON, which does not hold it.
    pub checked_at: Option<CheckTime>,
    /// Name of the checker, for CSV; lychee's JSON is lychee's.
    pub checker: String,
}

impl ImportJob {
    /// Creates the import of a file of results.
    #[must_use]
    pub fn new(database: PathBuf, results: PathBuf) -> ImportJob {
        ImportJob {
            database,
            results,
            checked_at: None,
            checker: "imported".to_owned(),
        }
    }
}

/// A time of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTime(jiff::Timestamp);

impl CheckTime {
    /// Parses `2026-11-22`, `2026-11-22T10:00:00Z`, or a time with another offset. A time without an offset is in UTC.
    #[must_use]
    pub fn parse(text: &str) -> Option<CheckTime> {
        let text = text.trim();
        let with_offset = || text.parse::<jiff::Timestamp>().ok();
        let in_utc = || {
            let time = text.parse::<jiff::civil::DateTime>().ok()?;
            Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
        };
        with_offset().or_else(in_utc).map(CheckTime)
    }

    /// Returns the time as the tables have it.
    fn text(self) -> String {
        shown(self.0)
    }
}

/// Numbers of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportCounts {
    /// Results that were read.
    pub read: u64,
    /// Results of planned links that were not there before.
    pub added: u64,
    /// Results of URLs that are not planned.
    pub unmatched: u64,
    /// Lines of CSV that are no result.
    pub bad_lines: u64,
}

/// Receives the lines of CSV that are no result.
pub trait ImportReport {
    /// Reports a line. The others are imported.
    fn bad_line(&mut self, line: u64, error: &ResultLineError);
}

/// Imports results, in one transaction. Results that are there already are not added again.
///
/// # Errors
///
/// The file cannot be read, or is neither JSON of lychee nor CSV with the columns that are needed.
pub fn import(job: &ImportJob, report: &mut dyn ImportReport) -> Result<ImportCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let bytes = read(&job.results, AUDIT_IMPORT_BYTES)?;
    audit.run("BEGIN IMMEDIATE")?;
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    let counts = if is_json {
        import_json(&audit, job, &bytes)?
    } else {
        import_csv(&audit, job, &bytes, report)?
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
            AuditError::Unusable(format!("cannot read {}: {error}", path.display()))
        })?;
    if limit < bytes.len() as u64 {
        return Err(AuditError::Unusable(format!(
            "{} has more than {limit} bytes; import it in parts of at most so many",
            path.display()
        )));
    }
    Ok(bytes)
}

fn import_json(audit: &AuditDb, job: &ImportJob, bytes: &[u8]) -> Result<ImportCounts, AuditError> {
    let path = job.results.display();
    let Some(checked_at) = job.checked_at else {
        return Err(AuditError::Unusable(format!(
            "{path} holds no times; give the day of the check with `--checked-at`"
        )));
    };
    let answers = lychee_answers(bytes).map_err(|error| {
        AuditError::Unusable(format!("{path} is not the JSON of lychee: {error}"))
    })?;
    let checked_at = checked_at.text();
    let mut importer = Importer::new(audit, "lychee")?;
    for answer in answers {
        importer.put(&CheckResult {
            url: &answer.url,
            asked_url: &answer.asked_url,
            outcome: answer.outcome,
            final_url: answer.final_url.as_deref(),
            checked_at: &checked_at,
        })?;
    }
    Ok(importer.counts)
}

fn import_csv(
    audit: &AuditDb,
    job: &ImportJob,
    bytes: &[u8],
    report: &mut dyn ImportReport,
) -> Result<ImportCounts, AuditError> {
    let mut results = CsvResults::new(bytes)
        .map_err(|error| AuditError::Unusable(format!("{}: {error}", job.results.display())))?;
    let mut importer = Importer::new(audit, &job.checker)?;
    while let Some(line) = results.next_line() {
        match line.result {
            Err(error) => {
                importer.counts.bad_lines += 1;
                report.bad_line(line.number, &error);
            }
            Ok(row) => importer.put(&CheckResult {
                url: &row.url,
                asked_url: &row.url,
                outcome: row.outcome,
                final_url: row.final_url.as_deref(),
                checked_at: &row.checked_at.text(),
            })?,
        }
    }
    Ok(importer.counts)
}

/// Stores results, and counts them.
struct Importer<'d> {
    store: ResultStore<'d>,
    counts: ImportCounts,
}

impl<'d> Importer<'d> {
    fn new(audit: &'d AuditDb, checker: &str) -> Result<Importer<'d>, AuditError> {
        Ok(Importer {
            store: ResultStore::new(audit, checker)?,
            counts: ImportCounts::default(),
        })
    }

    fn put(&mut self, result: &CheckResult<'_>) -> Result<(), AuditError> {
        self.counts.read += 1;
        let url = planned_form(result.url);
        let StoredLinks { planned, added } = self.store.put(&CheckResult {
            url: &url,
            ..*result
        })?;
        self.counts.added += added;
        self.counts.unmatched += u64::from(planned == 0);
        Ok(())
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
    fn times_are_read_in_usual_forms() {
        for (text, expected) in [
            ("2026-11-22", Some("2026-11-22T00:00:00Z")),
            ("2026-11-22T10:00:00Z", Some("2026-11-22T10:00:00Z")),
            ("2026-11-22T10:00:00.75+02:00", Some("2026-11-22T08:00:00Z")),
            ("2026-11-22 10:00:00", Some("2026-11-22T10:00:00Z")),
            (" 2026-11-22T10:00 ", Some("2026-11-22T10:00:00Z")),
            ("yesterday", None),
            ("", None),
            ("2026-13-01", None),
        ] {
            let found = CheckTime::parse(text).map(CheckTime::text);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

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
