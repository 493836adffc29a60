//! Queries archives for the captures nearest to the first citations. Archives are CDX servers, as
//! offered by the Wayback Machine and pywb.
//!
//! Archives are queried in order until one has a capture. Each answer is stored as soon as it
//! arrives, so an interruption loses nothing.

mod cdx;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rusqlite::params;
use twox_hash::XxHash3_64;

use super::AuditError;
use super::database::{AuditDb, now};
use super::state::LinkState;
use super::step::{AuditProgress, NoReply, Pace, Patience, in_batches, keep_first};
use cdx::{Capture, CdxClient, nearest};
use urlspool_store::load::clean_key;
use urlspool_text::limits::AUDIT_FAILED_ANSWERS;

/// Options for querying archives.
#[derive(Clone, Debug)]
pub struct ArchiveJob {
    /// A database with a plan.
    pub database: PathBuf,
    /// URLs of the CDX servers, without the query, in the order in which they are queried.
    pub servers: Vec<String>,
    /// Maximum number of queries per minute to each server.
    pub rate: u32,
    /// Maximum number of links to query; `None` queries all that are due.
    pub limit: Option<u64>,
}

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveCounts {
    /// URLs that were due at the start.
    pub due: u64,
    /// Planned URLs.
    pub planned: u64,
    /// URLs with a capture.
    pub captured: u64,
    /// URLs with a capture only under their clean form, without tracking parameters; part of
    /// `captured`.
    pub clean: u64,
    /// URLs without a capture.
    pub none: u64,
    /// URLs without a capture for which an archive did not answer. They are due again.
    pub failed: u64,
    /// Reason of the last failure; `None` if there was no failure.
    pub last_failure: Option<String>,
    /// Reason of the server's last refusal, if it refused at the end.
    pub last_refusal: Option<String>,
    /// `true` if the run was interrupted.
    pub is_interrupted: bool,
}

impl ArchiveCounts {
    /// Returns the number of URLs queried.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.captured + self.none + self.failed
    }
}

/// A URL to query.
struct DueUrl {
    url: String,
    /// Time of the first citation, 14 digits.
    cited: Option<String>,
    is_dead: bool,
    /// Indexes of the archives that were not queried yet.
    archives: Vec<usize>,
}

/// URLs that have no known capture and for which this archive has not answered yet.
const DUE: &str = "
SELECT url, min(first_cited),
  max(ifnull((SELECT state IN ({dead}) FROM audit_checks
    WHERE audit_checks.key = audit_links.key ORDER BY checked_at DESC, id DESC LIMIT 1), 0))
FROM audit_links
WHERE planned
  AND NOT EXISTS (SELECT 1 FROM audit_captures
    WHERE audit_captures.key = audit_links.key AND outcome = 'captured')
  AND NOT EXISTS (SELECT 1 FROM audit_asked
    WHERE audit_asked.key = audit_links.key AND outcome = 'none' AND server = ?1)
GROUP BY url";

const STORE_ANSWER: &str = "
INSERT INTO audit_asked(key, server, asked_at, outcome, form)
SELECT key, ?2, ?3, ?4, ?5 FROM audit_links WHERE url=?1 AND planned
ON CONFLICT(key, server) DO UPDATE SET asked_at=excluded.asked_at, outcome=excluded.outcome,
  form=excluded.form";

/// If no archive has a capture, the outcome is `failed` if any archive (?8) failed to answer.
const STORE_CAPTURE: &str = "
INSERT INTO audit_captures
SELECT key, ?2, ?3, ?4, ?5, ?6, iif(?7 = 'none' AND EXISTS (SELECT 1 FROM audit_asked
    WHERE audit_asked.key = audit_links.key AND outcome = 'failed'
      AND server IN (SELECT value FROM json_each(?8))), 'failed', ?7)
FROM audit_links WHERE url=?1 AND planned
ON CONFLICT(key) DO UPDATE SET server=excluded.server, asked_at=excluded.asked_at,
  timestamp=excluded.timestamp, original=excluded.original, status=excluded.status,
  outcome=excluded.outcome
WHERE outcome <> 'captured'";

/// Queries archives for the links that are due, dead links first. Setting `stop` ends it.
///
/// # Errors
///
/// An archive cannot be used or refuses repeatedly, or the database cannot be written. Earlier
/// answers stay stored.
pub fn archive(
    job: &ArchiveJob,
    stop: &AtomicBool,
    progress: &dyn AuditProgress,
) -> Result<ArchiveCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let contact = audit.contact()?;
    let archives = job.servers.iter().map(|server| {
        Ok(AskedArchive {
            client: CdxClient::new(server, &contact)?,
            pace: Pace::of_rate(job.rate),
            patience: Patience::new(progress),
            failed_in_a_row: 0,
        })
    });
    let archives = archives.collect::<Result<Vec<_>, AuditError>>()?;
    let names: Vec<_> = job.servers.iter().map(String::as_str).collect();
    audit.set_meta("cdx", &names.join(" "))?;
    let names = serde_json::Value::from(names).to_string();
    let due = due_urls(&audit, &archives, job.limit)?;
    let mut asking = Asking {
        audit: &audit,
        archives,
        names,
        counts: ArchiveCounts {
            due: due.len() as u64,
            planned: audit.planned_urls()?,
            ..ArchiveCounts::default()
        },
    };
    progress.expected(asking.counts.due, asking.expected(&due));
    let is_done = in_batches(&due, 1, progress, |url| {
        let is_asked = asking.ask_for(&url[0], stop)?;
        Ok(is_asked.then(|| asking.counts.asked()))
    })?;
    let mut archives = asking.archives.into_iter();
    Ok(ArchiveCounts {
        is_interrupted: !is_done,
        last_refusal: archives.find_map(|asked| asked.patience.last_refusal),
        ..asking.counts
    })
}

fn due_urls(
    audit: &AuditDb,
    archives: &[AskedArchive<'_>],
    limit: Option<u64>,
) -> Result<Vec<DueUrl>, AuditError> {
    let dead = LinkState::ALL.into_iter().filter(|state| state.is_dead());
    let dead: Vec<_> = dead.map(|state| format!("'{}'", state.name())).collect();
    let sql = DUE.replace("{dead}", &dead.join(", "));
    let mut by_url: HashMap<String, DueUrl> = HashMap::new();
    for (place, archive) in archives.iter().enumerate() {
        let due = audit.rows(&sql, [&archive.client.name], |row| {
            let cited: Option<String> = row.get(1)?;
            Ok(DueUrl {
                url: row.get(0)?,
                cited: cited.map(|date| date.chars().filter(char::is_ascii_digit).collect()),
                is_dead: row.get(2)?,
                archives: Vec::new(),
            })
        })?;
        for url in due {
            by_url
                .entry(url.url.clone())
                .or_insert(url)
                .archives
                .push(place);
        }
    }
    let mut due: Vec<_> = by_url.into_values().collect();
    // Spread the URLs of a host: an archive that refuses that host would seem to refuse everything.
    due.sort_by_cached_key(|url| {
        let hash = XxHash3_64::oneshot(url.url.as_bytes());
        (!url.is_dead, hash, url.url.clone())
    });
    keep_first(&mut due, limit);
    Ok(due)
}

/// Returns a URL without its tracking parameters, if it has any.
fn clean_form(url: &str) -> Option<String> {
    let clean = clean_key(url);
    (clean != url).then(|| clean.into_owned())
}

/// An archive's answer for a URL: a capture or `None`, or the reason why it did not answer.
type UrlAnswer = Result<Option<FoundCapture>, String>;

struct FoundCapture {
    capture: Capture,
    /// `true` if it was found under the URL without its tracking parameters.
    is_of_clean_form: bool,
}

/// An archive that is queried.
struct AskedArchive<'p> {
    client: CdxClient,
    pace: Pace,
    patience: Patience<'p>,
    /// Number of failed answers since the last valid one.
    failed_in_a_row: u32,
}

impl AskedArchive<'_> {
    /// Queries a URL, and then its clean form if there is no capture of the URL. Returns `None` if
    /// it was stopped.
    fn ask(
        &mut self,
        due: &DueUrl,
        clean: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<Option<UrlAnswer>, NoReply> {
        let cited = due.cited.as_deref();
        for url in [Some(due.url.as_str()), clean].into_iter().flatten() {
            let client = &self.client;
            let reply = self
                .patience
                .ask(&mut self.pace, stop, || client.ask(url, cited));
            let captures = match reply? {
                None => return Ok(None),
                Some(Err(reason)) => return Ok(Some(Err(reason))),
                Some(Ok(captures)) => captures,
            };
            self.failed_in_a_row = 0;
            if let Some(capture) = nearest(&captures, cited) {
                return Ok(Some(Ok(Some(FoundCapture {
                    capture: capture.clone(),
                    is_of_clean_form: url != due.url,
                }))));
            }
        }
        Ok(Some(Ok(None)))
    }
}

struct Asking<'a> {
    audit: &'a AuditDb,
    archives: Vec<AskedArchive<'a>>,
    /// Names of the archives, as a JSON array.
    names: String,
    counts: ArchiveCounts,
}

impl Asking<'_> {
    /// Returns the minimum time of the queries, assuming that only the last archive has captures.
    fn expected(&self, due: &[DueUrl]) -> Duration {
        let archives = self.archives.iter().enumerate();
        let times = archives.map(|(place, archive)| {
            let asked = due.iter().filter(|url| url.archives.contains(&place));
            archive.pace.expected(asked.count() as u64)
        });
        times.max().unwrap_or_default()
    }

    /// Queries one archive after another until one has a capture, and stores their answers. Returns
    /// `false` if it was stopped.
    fn ask_for(&mut self, due: &DueUrl, stop: &AtomicBool) -> Result<bool, AuditError> {
        let clean = clean_form(&due.url);
        let mut is_failed = false;
        for &place in &due.archives {
            let answer = self.archives[place].ask(due, clean.as_deref(), stop);
            let answer = answer.map_err(|no_reply| match no_reply {
                NoReply::Refused(refusal) => self.ended(place, &refusal.reason),
                NoReply::Error(error) => error,
            });
            let Some(answer) = answer? else {
                return Ok(false);
            };
            self.store(due, &self.archives[place].client.name, &answer)?;
            match answer {
                Ok(Some(found)) => {
                    self.counts.captured += 1;
                    self.counts.clean += u64::from(found.is_of_clean_form);
                    return Ok(true);
                }
                Ok(None) => {}
                Err(reason) => {
                    is_failed = true;
                    self.failed(place, &reason)?;
                    self.counts.last_failure = Some(reason);
                }
            }
        }
        if is_failed {
            self.counts.failed += 1;
        } else {
            self.counts.none += 1;
        }
        Ok(true)
    }

    fn store(&self, due: &DueUrl, server: &str, answer: &UrlAnswer) -> Result<(), AuditError> {
        let (asked_at, found) = (now(), answer.as_ref().ok().and_then(Option::as_ref));
        let outcome = match answer {
            Ok(Some(_)) => "captured",
            Ok(None) => "none",
            Err(_) => "failed",
        };
        let form = found.map(|found| {
            if found.is_of_clean_form {
                "clean"
            } else {
                "url"
            }
        });
        let capture = found.map(|found| &found.capture);
        self.audit.write(|db| {
            let answer = params![due.url, server, asked_at, outcome, form];
            db.prepare_cached(STORE_ANSWER)?.execute(answer)?;
            db.prepare_cached(STORE_CAPTURE)?.execute(params![
                due.url,
                server,
                asked_at,
                capture.map(|capture| &capture.timestamp),
                capture.map(|capture| &capture.original),
                capture.and_then(|capture| capture.status),
                outcome,
                self.names,
            ])?;
            Ok(())
        })
    }

    /// Counts a failed answer. Ends the run after too many: the address may not be an archive's.
    fn failed(&mut self, place: usize, reason: &str) -> Result<(), AuditError> {
        let archive = &mut self.archives[place];
        archive.failed_in_a_row += 1;
        if archive.failed_in_a_row < AUDIT_FAILED_ANSWERS {
            return Ok(());
        }
        Err(self.ended(
            place,
            &format!(
                "{AUDIT_FAILED_ANSWERS} answers in a row did not come from a CDX server (last \
                 reason: {reason}); check the address in `--cdx`"
            ),
        ))
    }

    /// Returns the error that ends the run. Earlier answers stay stored.
    fn ended(&self, place: usize, reason: &str) -> AuditError {
        let server = &self.archives[place].client.name;
        let (asked, due) = (self.counts.asked(), self.counts.due);
        AuditError::no_answers(format!(
            "{server}: {reason}. The answers for {asked} of {due} URLs are stored"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_differing_clean_form_is_returned() {
        for (url, clean) in [
            (
                "http://h.test/a?utm_source=x&id=1",
                Some("http://h.test/a?id=1"),
            ),
            ("http://h.test/a?fbclid=x", Some("http://h.test/a")),
            ("http://h.test/a?id=1", None),
            ("http://h.test/utm_source=x", None),
        ] {
            assert_eq!(clean_form(url).as_deref(), clean, "{url}");
        }
    }
}
