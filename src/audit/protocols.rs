//! Checks links of protocols that no link checker speaks: ftp and gopher by a question without a
//! transfer, wais, prospero and telnet by a look-up of their host's name.
//!
//! The rules of hosts are those of `guard.rs`. Results lie in a table of their own, and
//! count in no share.

mod ftp;
mod gopher;
mod stream;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::params;
use url::Url;

use super::AuditError;
use super::check::AuditProgress;
use super::client::{self, wait_until};
use super::database::{AuditDb, now, now_seconds};
use super::guard::HostRules;
use super::state::{CheckFailure, LinkState};
use crate::diagnostic::shortened_inside;
use crate::limits::{
    AUDIT_SILENT_HOSTS, INSPECT_BATCH_LINKS, INSPECT_HOSTS, INSPECT_PAUSE_MS, MESSAGE_VALUE_CHARS,
};

/// A protocol beside http and https.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OldProtocol {
    /// FTP (RFC 959): a login, and a question for the file or folder.
    Ftp,
    /// Gopher (RFC 1436): the selector, and the first block of the answer.
    Gopher,
    /// WAIS: the name of the host is looked up.
    Wais,
    /// Prospero: the name of the host is looked up.
    Prospero,
    /// Telnet: the name of the host is looked up.
    Telnet,
}

impl OldProtocol {
    /// All protocols.
    pub const ALL: [OldProtocol; 5] = [
        OldProtocol::Ftp,
        OldProtocol::Gopher,
        OldProtocol::Wais,
        OldProtocol::Prospero,
        OldProtocol::Telnet,
    ];

    /// Returns the scheme of its URLs.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        match self {
            OldProtocol::Ftp => "ftp",
            OldProtocol::Gopher => "gopher",
            OldProtocol::Wais => "wais",
            OldProtocol::Prospero => "prospero",
            OldProtocol::Telnet => "telnet",
        }
    }

    fn named(scheme: &str) -> Option<OldProtocol> {
        let mut all = OldProtocol::ALL.into_iter();
        all.find(|protocol| protocol.scheme() == scheme)
    }

    fn default_port(self) -> u16 {
        match self {
            OldProtocol::Ftp => 21,
            OldProtocol::Gopher => 70,
            OldProtocol::Wais => 210,
            OldProtocol::Prospero => 1_525,
            OldProtocol::Telnet => 23,
        }
    }
}

/// Links of old protocols to check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProtocolJob {
    /// The database with a plan.
    pub database: PathBuf,
    /// The protocols whose links are checked.
    pub protocols: Vec<OldProtocol>,
    /// A mail address: the password of anonymous logins.
    pub contact: String,
    /// Age from which a result is out of date.
    pub max_age: Duration,
    /// Hosts, or addresses, that are contacted although they are private, beside those of the plan.
    pub private_hosts: Vec<String>,
}

impl ProtocolJob {
    /// Creates the check of links of `protocols` that have no result of the last 30 days.
    #[must_use]
    pub fn new(database: PathBuf, protocols: Vec<OldProtocol>, contact: String) -> ProtocolJob {
        ProtocolJob {
            database,
            protocols,
            contact,
            max_age: Duration::from_hours(30 * 24),
            private_hosts: Vec::new(),
        }
    }
}

/// Numbers of a check of old protocols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtocolCounts {
    /// Links that are due at the start.
    pub due: u64,
    /// Links with a result.
    pub checked: u64,
    /// Results by state.
    pub states: BTreeMap<LinkState, u64>,
    /// `true` if it was interrupted.
    pub is_interrupted: bool,
}

/// Links whose only reason to be left out is their scheme, and that have no result since a time. One
/// of the future, since a clock was wrong, does not count.
const DUE: &str = "
SELECT links.key, links.url, links.scheme FROM audit_links AS links
  LEFT JOIN audit_protocols AS results ON results.key = links.key
WHERE links.excluded = 'scheme' AND links.scheme IN (SELECT value FROM json_each(?1))
  AND (results.key IS NULL OR unixepoch(results.checked_at) NOT BETWEEN ?2 + 1 AND unixepoch('now'))
ORDER BY links.key";

/// A link that is due.
#[derive(Clone, Debug)]
struct DueLink {
    key: String,
    url: String,
    protocol: OldProtocol,
}

/// The result for a link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    state: LinkState,
    /// The line of the server that decided.
    reply: Option<String>,
    failure: Option<CheckFailure>,
}

impl Outcome {
    fn replied(state: LinkState, reply: &str) -> Outcome {
        let is_text = |character: &char| !character.is_control();
        let reply: String = reply.chars().filter(is_text).collect();
        Outcome {
            state,
            reply: Some(shortened_inside(&reply, MESSAGE_VALUE_CHARS).into_owned()),
            failure: None,
        }
    }

    fn failed(failure: CheckFailure) -> Outcome {
        let state = match failure {
            CheckFailure::Dns | CheckFailure::Connect | CheckFailure::Timeout => {
                LinkState::DeadHost
            }
            _ => LinkState::Unknown,
        };
        Outcome {
            state,
            reply: None,
            failure: Some(failure),
        }
    }
}

/// Checks the links of old protocols that are due. Sets `stop` to end it after the questions that
/// are open.
///
/// # Errors
///
/// The database cannot be used, or no server of many hosts replied. Batches before stay.
pub fn check_protocols(
    job: &ProtocolJob,
    stop: &AtomicBool,
    progress: &mut dyn AuditProgress,
) -> Result<ProtocolCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let mut private_hosts = job.private_hosts.clone();
    let planned = audit.meta("allow_private")?.unwrap_or_default();
    let planned = planned.split(',').filter(|host| !host.is_empty());
    private_hosts.extend(planned.map(str::to_owned));
    let rules = HostRules::of_system(&private_hosts);
    let due = due_links(&audit, job)?;
    let mut counts = ProtocolCounts {
        due: due.len() as u64,
        ..ProtocolCounts::default()
    };
    for batch in due.chunks(INSPECT_BATCH_LINKS) {
        let results = ask_hosts(batch, &rules, &job.contact, stop);
        if stop.load(Ordering::Relaxed) {
            counts.is_interrupted = true;
            break;
        }
        refuse_silence(&results)?;
        store(&audit, &results)?;
        for (_, outcome) in &results {
            counts.checked += 1;
            *counts.states.entry(outcome.state).or_default() += 1;
        }
        progress.done(counts.checked, counts.due);
    }
    Ok(counts)
}

fn due_links(audit: &AuditDb, job: &ProtocolJob) -> Result<Vec<DueLink>, AuditError> {
    let names: Vec<_> = job
        .protocols
        .iter()
        .map(|protocol| protocol.scheme())
        .collect();
    let max_age = i64::try_from(job.max_age.as_secs()).unwrap_or(i64::MAX);
    let since = now_seconds().saturating_sub(max_age);
    let schemes = format!("[\"{}\"]", names.join("\",\""));
    let rows = audit.rows(DUE, params![schemes, since], |row| {
        let scheme: String = row.get(2)?;
        let protocol = OldProtocol::named(&scheme);
        Ok((row.get(0)?, row.get(1)?, protocol))
    })?;
    let links = rows.into_iter().filter_map(|(key, url, protocol)| {
        Some(DueLink {
            key,
            url,
            protocol: protocol?,
        })
    });
    Ok(links.collect())
}

/// Asks the hosts of links, several at a time, each for one link after the other.
fn ask_hosts<'l>(
    links: &'l [DueLink],
    rules: &HostRules,
    contact: &str,
    stop: &AtomicBool,
) -> Vec<(&'l DueLink, Outcome)> {
    let host = |link: &DueLink| {
        let target = Target::of(link);
        target
            .map(|target| target.place.to_string())
            .unwrap_or_default()
    };
    let ask = |links: &[&'l DueLink]| ask_host(links, rules, contact, stop);
    let mut results = client::ask_hosts(links, host, INSPECT_HOSTS, ask);
    results.sort_by(|one, next| one.0.key.cmp(&next.0.key));
    results
}

/// Asks a host for links. One that was not reached is asked once.
fn ask_host<'l>(
    links: &[&'l DueLink],
    rules: &HostRules,
    contact: &str,
    stop: &AtomicBool,
) -> Vec<(&'l DueLink, Outcome)> {
    let mut results: Vec<(&DueLink, Outcome)> = Vec::new();
    let mut failure = None;
    for link in links {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let outcome = match (failure, Target::of(link)) {
            (Some(failure), _) => Outcome::failed(failure),
            (None, None) => Outcome::failed(CheckFailure::Excluded),
            (None, Some(target)) => {
                let outcome = target.ask(rules, contact);
                failure = outcome
                    .failure
                    .filter(|_| outcome.state == LinkState::DeadHost);
                let pause = Duration::from_millis(INSPECT_PAUSE_MS);
                if failure.is_none() {
                    wait_until(Instant::now() + pause, stop);
                }
                outcome
            }
        };
        results.push((link, outcome));
    }
    results
}

/// A link as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    protocol: OldProtocol,
    /// Host and port, as a URL by which rules judge.
    place: Url,
    /// Path and query, with escapes decoded.
    path: Vec<u8>,
}

impl Target {
    /// Returns `None` for a link that is not asked for: without a host, with a user or a password,
    /// or with a line break, which would be a command of its own.
    fn of(link: &DueLink) -> Option<Target> {
        let url = Url::parse(&link.url).ok()?;
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let port = url.port().unwrap_or_else(|| link.protocol.default_port());
        let place = Url::parse(&format!("http://{}:{port}/", url.host_str()?)).ok()?;
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let path = crate::grammar::decode(path.as_bytes());
        let is_line = path.iter().all(|byte| !matches!(byte, 0 | b'\r' | b'\n'));
        is_line.then_some(Target {
            protocol: link.protocol,
            place,
            path,
        })
    }

    fn ask(&self, rules: &HostRules, contact: &str) -> Outcome {
        let asked = match self.protocol {
            OldProtocol::Wais | OldProtocol::Prospero | OldProtocol::Telnet => {
                rules.addresses(&self.place).map(|addresses| {
                    let count = addresses.len();
                    Outcome::replied(
                        LinkState::Unknown,
                        &format!("the name has addresses ({count}); not connected to"),
                    )
                })
            }
            OldProtocol::Ftp => rules
                .connect(&self.place)
                .and_then(|stream| ftp::ask(stream, &self.path, contact)),
            OldProtocol::Gopher => rules
                .connect(&self.place)
                .and_then(|stream| gopher::ask(stream, &self.path)),
        };
        asked.unwrap_or_else(Outcome::failed)
    }
}

/// Ends the check if no host of many replied or refused, and no name was found not to exist: this
/// machine has probably no network.
fn refuse_silence(results: &[(&DueLink, Outcome)]) -> Result<(), AuditError> {
    let is_sign = |outcome: &Outcome| {
        outcome.reply.is_some()
            || matches!(
                outcome.failure,
                Some(CheckFailure::Connect | CheckFailure::Dns | CheckFailure::Excluded)
            )
    };
    if results.len() < AUDIT_SILENT_HOSTS || results.iter().any(|(_, outcome)| is_sign(outcome)) {
        return Ok(());
    }
    Err(AuditError::no_answers(format!(
        "no server replied for {} links of old protocols: this machine has perhaps no network; \
         nothing of this batch is stored. If `audit check` finds that the network works, give fewer \
         `--schemes`",
        results.len()
    )))
}

fn store(audit: &AuditDb, results: &[(&DueLink, Outcome)]) -> Result<(), AuditError> {
    let checked_at = now();
    let insert = "INSERT OR REPLACE INTO audit_protocols VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    audit.run("BEGIN IMMEDIATE")?;
    for (link, outcome) in results {
        let values = params![
            link.key,
            link.url,
            link.protocol.scheme(),
            checked_at,
            outcome.state.name(),
            outcome.reply,
            outcome.failure.map(CheckFailure::name),
        ];
        let statement = audit.db.prepare_cached(insert);
        audit.named(statement.and_then(|mut statement| statement.execute(values)))?;
    }
    audit.run("COMMIT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(protocol: OldProtocol, url: &str) -> Option<Target> {
        Target::of(&DueLink {
            key: String::new(),
            url: url.to_owned(),
            protocol,
        })
    }

    #[test]
    fn ports_and_paths_are_those_of_the_protocol() {
        for (protocol, url, place, path) in [
            (
                OldProtocol::Ftp,
                "ftp://f.cern.ch/pub/a%20b",
                "http://f.cern.ch:21/",
                "/pub/a b",
            ),
            (
                OldProtocol::Ftp,
                "ftp://f.cern.ch:2121/",
                "http://f.cern.ch:2121/",
                "/",
            ),
            (
                OldProtocol::Gopher,
                "gopher://g.cern.ch/0/a?b",
                "http://g.cern.ch:70/",
                "/0/a?b",
            ),
            (
                OldProtocol::Telnet,
                "telnet://t.cern.ch",
                "http://t.cern.ch:23/",
                "",
            ),
        ] {
            let target = target(protocol, url).unwrap();
            assert_eq!(target.place.as_str(), place, "{url}");
            assert_eq!(String::from_utf8_lossy(&target.path), path, "{url}");
        }
    }

    #[test]
    fn users_and_line_breaks_are_not_sent() {
        for url in [
            "ftp://u:p@f.cern.ch/a",
            "ftp://u@f.cern.ch/a",
            "ftp://f.cern.ch/a%0d%0aDELE%20b",
            "ftp://f.cern.ch/a%00",
        ] {
            assert_eq!(target(OldProtocol::Ftp, url), None, "{url}");
        }
    }

    #[test]
    fn private_hosts_are_neither_contacted_nor_looked_up() {
        let rules = HostRules::of_system(&[]);
        for (protocol, url) in [
            (OldProtocol::Ftp, "ftp://127.0.0.1/a"),
            (OldProtocol::Gopher, "gopher://0x7f.1/0a"),
            (OldProtocol::Telnet, "telnet://localhost/"),
        ] {
            let outcome = target(protocol, url).unwrap().ask(&rules, "a@b.ch");
            assert_eq!(outcome.failure, Some(CheckFailure::Excluded), "{url}");
        }
    }
}
