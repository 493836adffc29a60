//! Checks the links that are due, in batches, with a client that connects to public hosts only
//! (`client.rs`).
//!
//! If no host replies at all, this machine probably has no network. It is less likely that all
//! hosts are gone.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use url::Url;

use super::AuditError;
use super::client::{Client, Hop, ask_hosts, user_agent, wait_until};
use super::confirmation::ConfirmationRule;
use super::database::{AuditDb, CheckResult, META_PACE, ResultStore, now, now_seconds, time_text};
use super::due::{DueRules, due_urls};
use super::guard::{HostRules, NetworkSigns};
use super::state::{CheckFailure, CheckOutcome, LinkState};
use super::step::{AuditProgress, in_batches, keep_first};
use urlspool_files::config::NamedValue;
use urlspool_store::load::retry_after;
use urlspool_text::diagnostic::counted;
use urlspool_text::limits::{
    AUDIT_BATCH_LINKS, AUDIT_CHECK_AHEAD_HOURS, AUDIT_CHECK_HOSTS, AUDIT_CHECK_PAUSE_MS,
    AUDIT_CHECK_REDIRECTS, AUDIT_CLOCK_SECONDS, AUDIT_CONTROL_HOSTS, AUDIT_RETRY_PAUSE_SECONDS,
    AUDIT_RETRY_SECONDS, AUDIT_SILENT_HOSTS,
};

/// Name and version stored with results of this program.
const CHECKER: &str = concat!("urlspool ", env!("CARGO_PKG_VERSION"));

/// Options of a check.
#[derive(Clone, Debug)]
pub struct CheckJob {
    /// A database with a plan.
    pub database: PathBuf,
    /// Time limit for a link, including all redirects.
    pub timeout: Duration,
    /// Number of retries after a failure that may be temporary.
    pub retries: u32,
    /// Age at which a result is out of date and its link is due again.
    pub max_age: Duration,
    /// Number of failures that confirm a dead link. `None` keeps the number of the last check,
    /// initially 3. Unconfirmed dead links are due before their result is out of date.
    pub confirm: Option<u32>,
    /// Minimum time between these failures. `None` keeps the time of the last check, initially 3
    /// days.
    pub confirm_after: Option<Duration>,
    /// `true` to store results of batches in which no server replied, although this machine may
    /// have no network. Applies until a server replies.
    pub accepts_unreachable: bool,
    /// `true` to delete results with a time in the future, left by a wrong clock.
    pub forgets_future: bool,
    /// Maximum number of links to check; `None` checks all that are due.
    pub limit: Option<u64>,
}

/// Counts of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// URLs that were due at the start.
    pub due: u64,
    /// URLs with a result.
    pub checked: u64,
    /// Results by state.
    pub states: BTreeMap<LinkState, u64>,
    /// Planned URLs.
    pub planned: u64,
    /// Links that were loaded or removed after the plan was made, by words that follow "links".
    pub changes: BTreeMap<String, u64>,
    /// URLs for which a server replied; part of `checked`.
    pub replied: u64,
    /// URLs in batches in which servers were contacted but none replied, nor did any host that had
    /// replied before; part of `checked`.
    pub silent: u64,
    /// URLs of private hosts, or that redirect to one, which were not requested; part of `checked`.
    pub excluded: u64,
    /// Deleted results with a time in the future.
    pub forgotten: u64,
    /// `true` if the check was interrupted. The current batch then has no results.
    pub is_interrupted: bool,
}

/// Checks the links that are due. Setting `stop` ends the check without results for the current
/// batch.
///
/// # Errors
///
/// None of many hosts replied, or the database cannot be used. Earlier batches stay stored.
pub fn check(
    job: &CheckJob,
    stop: &Arc<AtomicBool>,
    progress: &dyn AuditProgress,
) -> Result<CheckCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let user_agent = user_agent(audit.meta("contact")?.as_deref())?;
    let pause = Duration::from_millis(AUDIT_CHECK_PAUSE_MS);
    let rules = HostRules::of_system(&audit.private_hosts()?);
    let forgotten = refuse_future_results(job, &audit)?;
    audit.set_meta("checker", CHECKER)?;
    let due_rules = DueRules {
        confirmation: chosen_rule(job, &audit)?,
        max_age: job.max_age,
    };
    let mut due = due_urls(&audit, due_rules)?;
    keep_first(&mut due, job.limit);
    let mut checking = Checking {
        counts: CheckCounts {
            due: due.len() as u64,
            planned: audit.planned_urls()?,
            changes: audit.changes()?,
            forgotten,
            ..CheckCounts::default()
        },
        audit: &audit,
        asker: Asker {
            client: Client::new(&user_agent, rules, pause, job.timeout, stop),
            job,
        },
        has_reply: false,
        begun: Instant::now(),
    };
    let is_done = in_batches(&due, AUDIT_BATCH_LINKS, progress, |batch| {
        let is_stored = checking.check_batch(batch)?;
        Ok(is_stored.then_some(checking.counts.checked))
    })?;
    checking.counts.is_interrupted = !is_done;
    Ok(checking.counts)
}

/// Selects results that are in the future by this machine's clock: own results later than ?1,
/// imported results later than ?2.
const IN_FUTURE: &str = "
FROM audit_checks WHERE iif(checker LIKE 'urlspool _%', ?1, ?2) < checked_at";

/// Refuses a database with results in the future, or deletes these results. Returns the number of
/// deleted results.
///
/// The clock was wrong when they were made, or is wrong now. Until their time has passed they would
/// be the latest results of their links, and intervals between failures could not be measured.
fn refuse_future_results(job: &CheckJob, audit: &AuditDb) -> Result<u64, AuditError> {
    let present = now_seconds();
    let limits = [AUDIT_CLOCK_SECONDS, AUDIT_CHECK_AHEAD_HOURS * 3_600];
    let [own, imported] = limits.map(|ahead| time_text(present.saturating_add(ahead)));
    let values = [own.as_str(), imported.as_str()];
    if job.forgets_future {
        let deleted = audit.db.execute(&format!("DELETE {IN_FUTURE}"), values);
        return audit.named(deleted).map(|count| count as u64);
    }
    let sql = format!("SELECT count(*), max(checked_at) {IN_FUTURE}");
    let found = audit.rows(&sql, values, |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?))
    })?;
    let Some((count, Some(newest))) = found.into_iter().next() else {
        return Ok(0);
    };
    Err(AuditError::unusable(format!(
        "{} has {} from the future, up to {newest}, but the clock of this machine says {}; set the \
         clock, or delete them with `--forget-future`",
        job.database.display(),
        counted(count.cast_unsigned(), "result", "results"),
        now()
    )))
}

/// Returns the rule for confirming dead links, and stores it for later checks.
fn chosen_rule(job: &CheckJob, audit: &AuditDb) -> Result<ConfirmationRule, AuditError> {
    let stored = audit.confirmation_rule()?;
    let rule = ConfirmationRule {
        failures: job.confirm.unwrap_or(stored.failures),
        apart: job.confirm_after.unwrap_or(stored.apart),
    };
    audit.set_meta("confirm", &rule.failures.to_string())?;
    audit.set_meta("confirm_after", &rule.apart.as_secs().to_string())?;
    Ok(rule)
}

struct Checking<'a> {
    audit: &'a AuditDb,
    asker: Asker<'a>,
    counts: CheckCounts,
    /// `true` once a server has replied.
    has_reply: bool,
    /// Start of the check.
    begun: Instant,
}

impl Checking<'_> {
    /// Checks a batch and stores its results. Returns `false` if it was stopped.
    fn check_batch(&mut self, batch: &[String]) -> Result<bool, AuditError> {
        let Some((mut results, mut signs)) = self.asker.ask(batch) else {
            return Ok(false);
        };
        let checked_at = now();
        let replies = BatchReplies::of(&results);
        // Queries DNS only if names of the batch were reported missing.
        signs.has_name_service |= replies.failures.contains_key(&CheckFailure::Dns)
            && self.asker.client.rules.finds_root_server();
        let mut control = BatchReplies::default();
        if replies.replied_urls == 0 && !signs.has_connection {
            let urls = control_links(self.audit, &replies.silent_hosts)?;
            let Some((found, found_signs)) = self.asker.ask(&urls) else {
                return Ok(false);
            };
            control = BatchReplies::of(&found);
            signs.has_name_service |= found_signs.has_name_service;
            // If hosts have replied in this run, the archive's hosts are not all gone.
            let is_accepted = self.asker.job.accepts_unreachable && !self.has_reply;
            if let Some(reason) = replies.doubt(&control, signs).filter(|_| !is_accepted) {
                return Err(AuditError::no_answers(reason));
            }
        }
        let has_reply = 0 < replies.replied_urls + control.replied_urls;
        if !signs.has_name_service && (has_reply || signs.has_connection) {
            // An address that answers proves no name service.
            let missing = CheckOutcome::Failed(CheckFailure::Dns);
            for result in results.iter_mut().filter(|found| found.outcome == missing) {
                result.outcome = CheckOutcome::Failed(CheckFailure::Other);
            }
        }
        self.has_reply |= has_reply;
        self.counts.add(&results, &replies);
        self.store(&results, &checked_at)?;
        if replies.are_silent(signs) && control.replied_urls == 0 {
            self.counts.silent += results.len() as u64;
        }
        Ok(true)
    }

    /// Stores the results of a batch and the rate, in one transaction.
    fn store(&self, results: &[CheckResult], checked_at: &str) -> Result<(), AuditError> {
        self.audit.run("BEGIN IMMEDIATE")?;
        let store = ResultStore::new(self.audit, CHECKER)?;
        for result in results {
            store.put(result, checked_at)?;
        }
        let (urls, seconds) = (self.counts.checked, self.begun.elapsed().as_secs());
        self.audit
            .set_meta(META_PACE, &format!("{urls} {seconds}"))?;
        self.audit.run("COMMIT")
    }
}

/// Requests links and follows their redirects.
struct Asker<'a> {
    client: Client,
    job: &'a CheckJob,
}

impl Asker<'_> {
    /// Requests URLs. Returns their results and the evidence for a working network, or `None` if it
    /// was stopped.
    fn ask(&self, urls: &[String]) -> Option<(Vec<CheckResult>, NetworkSigns)> {
        let results = ask_hosts(
            urls,
            |url| host_of(url),
            AUDIT_CHECK_HOSTS,
            |urls| self.ask_host(urls),
        );
        self.client.forget();
        let signs = self.client.rules.take_network_signs();
        (!self.client.is_stopped()).then_some((results, signs))
    }

    /// Requests the URLs of a host. Retries after temporary failures, with a pause that doubles
    /// each time. If it was stopped, returns the results so far.
    fn ask_host(&self, urls: &[&String]) -> Vec<CheckResult> {
        let mut results = Vec::new();
        let mut urls = urls.to_vec();
        let mut pause = Duration::from_secs(AUDIT_RETRY_SECONDS);
        for left in (0..=self.job.retries).rev() {
            let mut again = Vec::new();
            let mut wait = pause;
            for url in urls {
                let Some(answer) = self.follow(url) else {
                    return results;
                };
                let longest = Duration::from_secs(AUDIT_RETRY_PAUSE_SECONDS);
                if 0 < left && answer.may_be_temporary() && answer.pause <= longest {
                    wait = wait.max(answer.pause);
                    again.push(url);
                } else {
                    results.push(answer.result);
                }
            }
            if again.is_empty() || !wait_until(Instant::now() + wait, &self.client.stop) {
                return results;
            }
            urls = again;
            pause *= 2;
        }
        results
    }

    /// Requests a URL and follows redirects. Returns `None` if it was stopped.
    fn follow(&self, asked: &str) -> Option<Answer> {
        let mut answer = Answer {
            result: CheckResult {
                url: asked.to_owned(),
                asked_url: None,
                outcome: CheckOutcome::Failed(CheckFailure::Other),
                final_url: None,
            },
            pause: Duration::ZERO,
        };
        let Ok(mut url) = Url::parse(asked) else {
            return Some(answer);
        };
        let mut left = self.job.timeout;
        for redirects in 0..=AUDIT_CHECK_REDIRECTS {
            if 0 < redirects {
                answer.result.final_url = Some(url.to_string());
            }
            let hop = self.client.hop(&url, &mut left, |response| {
                Ok((response.status().as_u16(), retry_after(&response)))
            });
            match hop? {
                Hop::Failed(failure) => {
                    answer.result.outcome = CheckOutcome::Failed(failure);
                    break;
                }
                Hop::Answer((code, pause)) => {
                    answer.result.outcome = CheckOutcome::Status(code);
                    answer.pause = pause.unwrap_or_default();
                    break;
                }
                Hop::Redirect(code, next) => {
                    // If there are too many redirects, the status of the last redirect is kept.
                    answer.result.outcome = CheckOutcome::Status(code);
                    url = next;
                }
            }
        }
        Some(answer)
    }
}

/// Result for a URL.
struct Answer {
    result: CheckResult,
    /// Pause that the server asks for.
    pause: Duration,
}

impl Answer {
    /// Returns `true` for a failure that may be temporary. A missing name and a failed TLS
    /// handshake are permanent.
    fn may_be_temporary(&self) -> bool {
        matches!(
            self.result.outcome,
            CheckOutcome::Status(408 | 429 | 500..=599)
                | CheckOutcome::Failed(
                    CheckFailure::Connect | CheckFailure::Timeout | CheckFailure::Other
                )
        )
    }
}

impl CheckCounts {
    /// Counts the results and the replies of a batch.
    fn add(&mut self, results: &[CheckResult], replies: &BatchReplies) {
        self.replied += replies.replied_urls;
        for result in results {
            self.checked += 1;
            *self.states.entry(result.state()).or_default() += 1;
            let is_excluded = result.outcome == CheckOutcome::Failed(CheckFailure::Excluded);
            self.excluded += u64::from(is_excluded);
        }
    }
}

/// For each host, a planned URL with its latest reply.
const REPLIED: &str = "
SELECT url, host, max(checked_at) FROM audit_links JOIN audit_checks USING(key)
WHERE planned AND host IS NOT NULL AND (status IS NOT NULL OR error = 'tls')
GROUP BY host ORDER BY 3 DESC, host";

/// Returns one URL for each of the hosts with the latest replies, at most [`AUDIT_CONTROL_HOSTS`].
/// Skips the hosts in `asked`, which were just contacted.
fn control_links(audit: &AuditDb, asked: &HashSet<String>) -> Result<Vec<String>, AuditError> {
    let mut asked = asked.clone();
    let mut urls: Vec<String> = audit.rows(REPLIED, [], |row| row.get(0))?;
    urls.retain(|url| asked.insert(host_of(url)));
    urls.truncate(AUDIT_CONTROL_HOSTS);
    Ok(urls)
}

/// Replies and failures of a batch.
#[derive(Debug, Default)]
struct BatchReplies {
    /// URLs for which a server replied, with a status or with a failed TLS handshake.
    replied_urls: u64,
    failures: BTreeMap<CheckFailure, u64>,
    /// Hosts of the URLs without a reply.
    silent_hosts: HashSet<String>,
    /// Silent hosts with a failure other than a missing name.
    unproven_hosts: HashSet<String>,
}

impl BatchReplies {
    /// Counts the results of a batch.
    fn of(results: &[CheckResult]) -> BatchReplies {
        let mut counts = BatchReplies::default();
        for result in results {
            match result.outcome {
                CheckOutcome::Status(_) | CheckOutcome::Failed(CheckFailure::Tls) => {
                    counts.replied_urls += 1;
                }
                CheckOutcome::Failed(failure) => counts.add_failure(&result.url, failure),
            }
        }
        counts
    }

    fn add_failure(&mut self, url: &str, failure: CheckFailure) {
        *self.failures.entry(failure).or_default() += 1;
        let host = host_of(url);
        if failure != CheckFailure::Dns {
            self.unproven_hosts.insert(host.clone());
        }
        self.silent_hosts.insert(host);
    }

    /// Returns the number of hosts whose silence may be caused by this machine's network. If DNS
    /// works, missing names are certain.
    fn doubtful_hosts(&self, signs: NetworkSigns) -> usize {
        if signs.has_name_service {
            self.unproven_hosts.len()
        } else {
            self.silent_hosts.len()
        }
    }

    /// Returns `true` if servers were contacted, none replied, and there is no evidence that the
    /// network works.
    fn are_silent(&self, signs: NetworkSigns) -> bool {
        let mut failures = self.failures.keys();
        self.replied_urls == 0
            && !signs.has_connection
            && failures.any(|failure| match failure {
                CheckFailure::Dns => !signs.has_name_service,
                failure => failure.is_of_link(),
            })
    }

    /// Returns the reason for not storing the results of a batch without replies. This is so if
    /// enough hosts are silent, including the control hosts, to make a failure of this machine's
    /// network probable.
    fn doubt(&self, control: &BatchReplies, signs: NetworkSigns) -> Option<String> {
        let hosts = self.doubtful_hosts(signs) + control.doubtful_hosts(signs);
        let is_doubtful =
            control.replied_urls == 0 && !signs.has_connection && AUDIT_SILENT_HOSTS <= hosts;
        let control_hosts = control.silent_hosts.len() as u64;
        is_doubtful.then(|| self.silence(control_hosts))
    }

    /// Describes the silence of all servers and the ways out.
    fn silence(&self, control_hosts: u64) -> String {
        let failures = self.failures.iter();
        let failures = failures.map(|(failure, count)| format!("{count} {}", failure.meaning()));
        let failures: Vec<_> = failures.collect();
        let mut text = format!(
            "no server replied for {} of {} ({})",
            counted(self.failures.values().sum(), "URL", "URLs"),
            counted(self.silent_hosts.len() as u64, "host", "hosts"),
            failures.join(", ")
        );
        if control_hosts > 0 {
            let hosts = counted(control_hosts, "host", "hosts");
            text += &format!(", nor did any of {hosts} that replied in an earlier check");
        }
        text += "; these results are not stored";
        if self.failures.keys().any(|failure| failure.is_of_link()) {
            text += ". This machine probably has no network or needs a proxy: run the check again \
                     when the network works, or check elsewhere and use `urlspool audit import`";
        }
        if self.failures.contains_key(&CheckFailure::Excluded) {
            text += ". `urlspool audit plan DB --allow-private HOST` permits a private host";
        }
        text + ". `--accept-unreachable` stores such results anyway"
    }
}

/// Returns the host of a URL as it is requested, without a final dot. `http://0x7f.1/` and
/// `http://127.0.0.1/` have the same host.
fn host_of(url: &str) -> String {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    host.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DNS: CheckOutcome = CheckOutcome::Failed(CheckFailure::Dns);

    fn replies(hosts: usize, outcome: CheckOutcome) -> BatchReplies {
        let url = |number: usize| format!("http://h{}.test/{number}", number % hosts);
        let urls: Vec<_> = (0..2 * hosts).map(url).collect();
        let result = |url| CheckResult {
            url,
            asked_url: None,
            outcome,
            final_url: None,
        };
        let results: Vec<_> = urls.into_iter().map(result).collect();
        BatchReplies::of(&results)
    }

    fn is_doubtful(batch: &BatchReplies, control: &BatchReplies) -> bool {
        batch.doubt(control, NetworkSigns::default()).is_some()
    }

    #[test]
    fn evidence_for_a_working_network_ends_the_doubt() {
        let none = BatchReplies::default();
        let signs = |has_connection, has_name_service| NetworkSigns {
            has_connection,
            has_name_service,
        };
        let timeout = CheckOutcome::Failed(CheckFailure::Timeout);
        for (outcome, signs, is_doubtful) in [
            (DNS, signs(false, false), true),
            (DNS, signs(false, true), false),
            (DNS, signs(true, false), false),
            (timeout, signs(false, true), true),
            (timeout, signs(true, false), false),
        ] {
            let batch = replies(AUDIT_SILENT_HOSTS, outcome);
            let found = [batch.doubt(&none, signs).is_some(), batch.are_silent(signs)];
            assert_eq!(found, [is_doubtful; 2], "{outcome:?} {signs:?}");
        }
        let mut mixed = replies(AUDIT_SILENT_HOSTS, DNS);
        mixed.add_failure("http://h1.test/", CheckFailure::Timeout);
        assert!(mixed.doubt(&none, signs(false, true)).is_none());
        assert!(mixed.are_silent(signs(false, true)));
        // If hosts that replied before cannot be reached now, the network has failed.
        let silent = replies(AUDIT_SILENT_HOSTS, timeout);
        assert!(mixed.doubt(&silent, signs(false, true)).is_some());
    }

    #[test]
    fn silence_of_many_hosts_is_doubted() {
        let none = BatchReplies::default();
        for failure in CheckFailure::ALL {
            if failure == CheckFailure::Tls {
                continue;
            }
            let outcome = CheckOutcome::Failed(failure);
            let [few, enough] = [AUDIT_SILENT_HOSTS - 1, AUDIT_SILENT_HOSTS]
                .map(|hosts| is_doubtful(&replies(hosts, outcome), &none));
            assert_eq!((few, enough), (false, true), "{failure:?}");
        }
        for reply in [
            CheckOutcome::Status(503),
            CheckOutcome::Failed(CheckFailure::Tls),
        ] {
            assert_eq!(replies(1, reply).replied_urls, 2);
        }
    }

    #[test]
    fn only_contacted_servers_are_silent() {
        for (outcome, is_silent) in [
            (CheckOutcome::Status(503), false),
            (CheckOutcome::Failed(CheckFailure::Tls), false),
            (CheckOutcome::Failed(CheckFailure::Excluded), false),
            (CheckOutcome::Failed(CheckFailure::Timeout), true),
            (DNS, true),
        ] {
            let found = replies(1, outcome).are_silent(NetworkSigns::default());
            assert_eq!(found, is_silent, "{outcome:?}");
        }
    }

    #[test]
    fn all_notations_of_a_host_are_equal() {
        assert_eq!(host_of("http://0x7f.1/a"), host_of("http://127.0.0.1:80/b"));
        assert_eq!(host_of("http://H.test./"), host_of("http://h.test:8080/"));
    }

    #[test]
    fn control_links_decide_whether_the_network_failed() {
        let replied = replies(1, CheckOutcome::Status(404));
        let silent = replies(4, DNS);
        let many = replies(500, DNS);
        assert!(!is_doubtful(&many, &replied));
        assert!(is_doubtful(&many, &silent));
        assert!(!is_doubtful(&replies(AUDIT_SILENT_HOSTS - 5, DNS), &silent));
        assert!(is_doubtful(&replies(AUDIT_SILENT_HOSTS - 4, DNS), &silent));
    }

    #[test]
    fn the_way_out_depends_on_the_failures() {
        for (failures, is_named) in [
            (&[CheckFailure::Dns][..], [true, false]),
            (&[CheckFailure::Excluded], [false, true]),
            (
                &[CheckFailure::Timeout, CheckFailure::Excluded],
                [true, true],
            ),
        ] {
            let replies = BatchReplies {
                failures: failures.iter().map(|failure| (*failure, 12)).collect(),
                silent_hosts: (0..12).map(|host| host.to_string()).collect(),
                ..BatchReplies::default()
            };
            let text = replies.silence(3);
            let ways = ["no network", "--allow-private HOST"];
            assert_eq!(ways.map(|way| text.contains(way)), is_named, "{text}");
            for part in [
                "URLs of 12 hosts (12 no",
                "nor did any of 3 hosts that replied in an earlier check",
                "--accept-unreachable",
            ] {
                let is_private_alone =
                    part.contains("(12 no") && failures[0] == CheckFailure::Excluded;
                assert!(text.contains(part) || is_private_alone, "{part}: {text}");
            }
        }
    }
}
