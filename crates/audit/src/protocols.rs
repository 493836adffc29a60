//! Checks ftp and gopher links without transferring files. Results are stored in a separate table
//! and are not part of the shares in reports. `guard.rs` decides which hosts may be contacted.
//!
//! FTP (RFC 959): logs in anonymously and asks for a file (`SIZE`, `MDTM`, RFC 3659) or a folder
//! (`CWD`). No data is transferred, so no second connection is needed. The four commands are
//! implemented here because the maintained client crates also parse listings with regular
//! expressions and times, which would add ten crates.
//!
//! Gopher (RFC 1436): sends the selector and reads the first line of the response.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::params;
use url::Url;

use super::AuditError;
use super::check::{CheckCounts, CheckJob};
use super::client::{ask_hosts, wait_until};
use super::database::{AuditDb, now, seconds_before_now};
use super::guard::{HostRules, read_failure};
use super::state::{CheckFailure, CheckOutcome, LinkState, link_state};
use super::step::{AuditProgress, in_batches};
use urlspool_text::diagnostic::shortened_inside;
use urlspool_text::limits::{
    AUDIT_SILENT_HOSTS, INSPECT_BATCH_LINKS, INSPECT_HOSTS, INSPECT_PAUSE_MS, MESSAGE_VALUE_CHARS,
    PROTOCOL_REPLY_BYTES, PROTOCOL_SECONDS,
};
use urlspool_text::named_enum;

named_enum! {
    /// A protocol other than http and https, named by its URL scheme.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OldProtocol {
        /// FTP: a login, and a request for the file or folder.
        Ftp = "ftp",
        /// Gopher: the selector, and the first line of the response.
        Gopher = "gopher",
    }
}

impl OldProtocol {
    /// Returns the protocol of a scheme.
    #[must_use]
    pub fn of_scheme(scheme: &str) -> Option<OldProtocol> {
        let mut all = OldProtocol::ALL.into_iter();
        all.find(|protocol| protocol.name() == scheme)
    }

    fn default_port(self) -> u16 {
        match self {
            OldProtocol::Ftp => 21,
            OldProtocol::Gopher => 70,
        }
    }
}

/// Links that are excluded from the plan only by their scheme and have no recent result. A result
/// in the future, left by a wrong clock, does not count.
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
    /// `None` for a link that cannot be requested.
    target: Option<Target>,
}

/// Result for a link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    state: LinkState,
    /// The server's line that decided the result.
    reply: Option<String>,
    failure: Option<CheckFailure>,
}

impl Outcome {
    fn replied(state: LinkState, reply: &str) -> Outcome {
        let reply = reply.replace(char::is_control, " ");
        Outcome {
            state,
            reply: Some(shortened_inside(reply.trim_end(), MESSAGE_VALUE_CHARS).into_owned()),
            failure: None,
        }
    }

    fn failed(failure: CheckFailure) -> Outcome {
        Outcome {
            state: link_state("", CheckOutcome::Failed(failure), None),
            reply: None,
            failure: Some(failure),
        }
    }

    /// Returns `true` if a server replied or refused, or DNS reported that the name does not exist.
    fn is_sign_of_network(&self) -> bool {
        use CheckFailure::{Connect, Dns, Excluded};
        self.reply.is_some() || matches!(self.failure, Some(Connect | Dns | Excluded))
    }
}

/// Checks the links of old protocols that are due. Setting `stop` ends it after the open requests.
/// The contact of the plan is the password of anonymous logins.
///
/// # Errors
///
/// The database cannot be used, or none of many hosts replied. Earlier batches stay stored.
pub fn check_protocols(
    job: &CheckJob,
    protocols: &[OldProtocol],
    stop: &AtomicBool,
    progress: &dyn AuditProgress,
) -> Result<CheckCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let rules = HostRules::of_system(&audit.private_hosts()?);
    let contact = if protocols.contains(&OldProtocol::Ftp) {
        audit.contact()?
    } else {
        String::new()
    };
    let schemes: Vec<_> = protocols.iter().map(|protocol| protocol.name()).collect();
    let values = params![
        serde_json::Value::from(schemes).to_string(),
        seconds_before_now(job.max_age)
    ];
    let due = audit.rows(DUE, values, |row| {
        let (url, scheme): (String, String) = (row.get(1)?, row.get(2)?);
        let protocol = OldProtocol::of_scheme(&scheme).unwrap_or(OldProtocol::Ftp);
        Ok(DueLink {
            key: row.get(0)?,
            target: Target::of(protocol, &url),
            url,
            protocol,
        })
    })?;
    let mut counts = CheckCounts {
        due: due.len() as u64,
        ..CheckCounts::default()
    };
    let is_done = in_batches(&due, INSPECT_BATCH_LINKS, progress, |batch| {
        let mut results = ask_hosts(batch, host_of, INSPECT_HOSTS, |links| {
            ask_host(links, &rules, &contact, stop)
        });
        results.sort_by(|one, next| one.0.key.cmp(&next.0.key));
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        refuse_silence(&results)?;
        store(&audit, &results)?;
        for (_, outcome) in &results {
            counts.checked += 1;
            *counts.states.entry(outcome.state).or_default() += 1;
        }
        Ok(Some(counts.checked))
    })?;
    counts.is_interrupted = !is_done;
    Ok(counts)
}

fn host_of(link: &DueLink) -> String {
    let place = link.target.as_ref().map(|target| target.place.as_str());
    place.unwrap_or_default().to_owned()
}

/// Requests the links of a host. After a failure to reach the host, the other links get the same
/// result without a request.
fn ask_host<'l>(
    links: &[&'l DueLink],
    rules: &HostRules,
    contact: &str,
    stop: &AtomicBool,
) -> Vec<(&'l DueLink, Outcome)> {
    let mut results: Vec<(&DueLink, Outcome)> = Vec::new();
    let mut dead = None;
    for link in links {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let outcome = match (dead, &link.target) {
            (Some(failure), _) => Outcome::failed(failure),
            (None, None) => Outcome::failed(CheckFailure::Excluded),
            (None, Some(target)) => target.ask(rules, contact),
        };
        if outcome.state == LinkState::DeadHost {
            dead = outcome.failure;
        } else if outcome.failure != Some(CheckFailure::Excluded) {
            wait_until(
                Instant::now() + Duration::from_millis(INSPECT_PAUSE_MS),
                stop,
            );
        }
        results.push((link, outcome));
    }
    results
}

/// A link, parsed for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    protocol: OldProtocol,
    /// Host and port as a URL, for the host rules.
    place: Url,
    /// Path and query, percent-decoded.
    path: Vec<u8>,
}

impl Target {
    /// Returns `None` for a link that is not requested: it has no host, it has a user or a
    /// password, or it contains a line break, which would start another command.
    fn of(protocol: OldProtocol, url: &str) -> Option<Target> {
        let url = Url::parse(url).ok()?;
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let port = url.port().unwrap_or_else(|| protocol.default_port());
        let place = Url::parse(&format!("http://{}:{port}/", url.host_str()?)).ok()?;
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let path = urlspool_text::grammar::decode(path.as_bytes());
        let is_line = path.iter().all(|byte| !matches!(byte, 0 | b'\r' | b'\n'));
        is_line.then_some(Target {
            protocol,
            place,
            path,
        })
    }

    fn ask(&self, rules: &HostRules, contact: &str) -> Outcome {
        let asked = rules.connect(&self.place).and_then(|stream| {
            let mut server = Server::new(stream);
            match self.protocol {
                OldProtocol::Ftp => server.ask_ftp(&self.path, contact),
                OldProtocol::Gopher => server.ask_gopher(&self.path),
            }
        });
        asked.unwrap_or_else(Outcome::failed)
    }
}

/// Fails if none of many hosts replied or refused, and DNS reported no missing name: this machine
/// probably has no network.
fn refuse_silence(results: &[(&DueLink, Outcome)]) -> Result<(), AuditError> {
    let mut outcomes = results.iter().map(|(_, outcome)| outcome);
    if results.len() < AUDIT_SILENT_HOSTS || outcomes.any(Outcome::is_sign_of_network) {
        return Ok(());
    }
    Err(AuditError::no_answers(format!(
        "no server replied for {} links of old protocols: this machine may have no network; this \
         batch is not stored. If the network works, use fewer `--schemes`",
        results.len()
    )))
}

fn store(audit: &AuditDb, results: &[(&DueLink, Outcome)]) -> Result<(), AuditError> {
    let checked_at = now();
    audit.write(|db| {
        let mut insert = db.prepare_cached(
            "INSERT OR REPLACE INTO audit_protocols VALUES(?1,?2,?3,?4,?5,?6,?7)",
        )?;
        for (link, outcome) in results {
            insert.execute(params![
                link.key,
                link.url,
                link.protocol.name(),
                checked_at,
                outcome.state.name(),
                outcome.reply,
                outcome.failure.map(CheckFailure::name),
            ])?;
        }
        Ok(())
    })
}

/// A server that is asked about one link, with limits on bytes and time.
struct Server(BufReader<io::Take<TimedStream>>);

impl Server {
    fn new(stream: TcpStream) -> Server {
        let deadline = Instant::now() + Duration::from_secs(PROTOCOL_SECONDS);
        let stream = TimedStream { stream, deadline };
        Server(BufReader::new(stream.take(PROTOCOL_REPLY_BYTES as u64)))
    }

    /// Requests a path from an ftp server. `contact` is the password.
    fn ask_ftp(&mut self, path: &[u8], contact: &str) -> Result<Outcome, CheckFailure> {
        let mut welcome = self.reply()?;
        while (100..200).contains(&welcome.code) {
            welcome = self.reply()?;
        }
        if !welcome.is_done() {
            return Ok(welcome.shows(LinkState::Unknown));
        }
        let mut login = self.command(b"USER anonymous")?;
        if login.code == 331 {
            login = self.command(format!("PASS {contact}").as_bytes())?;
        }
        if !login.is_done() {
            return Ok(login.shows(LinkState::Unknown));
        }
        let outcome = self.find(path, &login)?;
        // The reply is ignored.
        let _ = self.write_line(b"QUIT");
        Ok(outcome)
    }

    fn find(&mut self, path: &[u8], login: &Reply) -> Result<Outcome, CheckFailure> {
        let path = path_of(path);
        if path.is_empty() {
            return Ok(login.shows(LinkState::Alive));
        }
        // Without it, some servers refuse `SIZE`.
        self.command(b"TYPE I")?;
        let mut file = self.command(&[b"SIZE ", path].concat())?;
        if file.is_done() {
            return Ok(file.shows(LinkState::Alive));
        }
        let folder = self.command(&[b"CWD ", path].concat())?;
        if folder.is_done() {
            return Ok(folder.shows(LinkState::Alive));
        }
        // The server does not support the command.
        if matches!(file.code, 500..=504) {
            file = self.command(&[b"MDTM ", path].concat())?;
        }
        Ok(file.shows(match (file.code, folder.code) {
            (200..=299, _) => LinkState::Alive,
            // No such file, no access, or not a plain file; and there is no such folder.
            (550, 550) => LinkState::DeadPage,
            _ => LinkState::Unknown,
        }))
    }

    fn command(&mut self, line: &[u8]) -> Result<Reply, CheckFailure> {
        self.write_line(line)?;
        self.reply()
    }

    /// Reads a reply of one or more lines. The first of several lines starts with `NNN-`, the last
    /// with `NNN ` (RFC 959, section 4.2).
    fn reply(&mut self) -> Result<Reply, CheckFailure> {
        let mut first = None;
        while let Some(line) = self.read_line()? {
            let text = String::from_utf8_lossy(&line).into_owned();
            let code: Option<u16> = text.get(..3).and_then(|code| code.parse().ok());
            let is_open = text.as_bytes().get(3) == Some(&b'-');
            match (first, code) {
                (None, None) => return Err(CheckFailure::Other),
                (None, Some(code)) if is_open => first = Some(code),
                (None, Some(code)) => return Ok(Reply { code, text }),
                (Some(first), Some(code)) if first == code && !is_open => {
                    return Ok(Reply { code, text });
                }
                (Some(_), _) => {}
            }
        }
        Err(CheckFailure::Other)
    }

    /// Requests the path of a URL from a gopher server.
    fn ask_gopher(&mut self, path: &[u8]) -> Result<Outcome, CheckFailure> {
        self.write_line(selector(path))?;
        let Some(line) = self.read_line()? else {
            return Ok(Outcome::replied(
                LinkState::Unknown,
                "closed without an answer",
            ));
        };
        let state = if is_error(&line) {
            LinkState::DeadPage
        } else {
            LinkState::Alive
        };
        Ok(Outcome::replied(state, &String::from_utf8_lossy(&line)))
    }

    /// Writes a line, followed by CRLF.
    fn write_line(&mut self, line: &[u8]) -> Result<(), CheckFailure> {
        let stream = self.0.get_mut().get_mut();
        let written = stream.set_timeouts().and_then(|()| {
            let line = [line, b"\r\n"].concat();
            stream.stream.write_all(&line)
        });
        written.map_err(|error| read_failure(&error))
    }

    /// Reads a line without its terminator, or the last bytes before the end of the connection.
    /// Returns `None` at the end.
    fn read_line(&mut self) -> Result<Option<Vec<u8>>, CheckFailure> {
        let mut line = Vec::new();
        let read = self.0.read_until(b'\n', &mut line);
        let len = read.map_err(|error| read_failure(&error))?;
        line.truncate(line.trim_ascii_end().len());
        Ok((0 < len).then_some(line))
    }
}

/// A connection with a deadline.
struct TimedStream {
    stream: TcpStream,
    deadline: Instant,
}

impl TimedStream {
    fn set_timeouts(&self) -> io::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.set_write_timeout(Some(left))
    }
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.set_timeouts()?;
        self.stream.read(buffer)
    }
}

/// Reply of an ftp server: its code and its last line.
struct Reply {
    code: u16,
    text: String,
}

impl Reply {
    fn is_done(&self) -> bool {
        (200..300).contains(&self.code)
    }

    fn shows(&self, state: LinkState) -> Outcome {
        Outcome::replied(state, &self.text)
    }
}

/// Returns the path after the first `/`, relative to the login folder (RFC 1738, section 3.2.2),
/// without `;type=`.
fn path_of(path: &[u8]) -> &[u8] {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let end = memchr::memmem::rfind(path, b";type=");
    &path[..end.unwrap_or(path.len())]
}

/// Returns the selector in the path of a URL, which follows the item type (RFC 4266).
fn selector(path: &[u8]) -> &[u8] {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    path.get(1..).unwrap_or_default()
}

/// Returns `true` for a menu line whose item is an error: type 3, then name, selector, host and
/// port.
fn is_error(line: &[u8]) -> bool {
    line.starts_with(b"3") && 2 < memchr::memchr_iter(b'\t', line).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the fields of gopher's lines ran together.
    #[test]
    fn control_characters_in_a_reply_are_blanks() {
        let outcome = Outcome::replied(LinkState::DeadPage, "3not found\tx\t70\r\n");
        assert_eq!(outcome.reply.as_deref(), Some("3not found x 70"));
    }

    #[test]
    fn ports_and_paths_depend_on_the_protocol() {
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
        ] {
            let target = Target::of(protocol, url).unwrap();
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
            assert_eq!(Target::of(OldProtocol::Ftp, url), None, "{url}");
        }
    }

    #[test]
    fn private_hosts_are_neither_contacted_nor_looked_up() {
        let rules = HostRules::of_system(&[]);
        for (protocol, url) in [
            (OldProtocol::Ftp, "ftp://127.0.0.1/a"),
            (OldProtocol::Gopher, "gopher://0x7f.1/0a"),
        ] {
            let outcome = Target::of(protocol, url).unwrap().ask(&rules, "a@b.ch");
            assert_eq!(outcome.failure, Some(CheckFailure::Excluded), "{url}");
        }
    }

    #[test]
    fn the_selector_excludes_the_item_type() {
        for (path, expected) in [
            ("/0/a/b", "/a/b"),
            ("/1", ""),
            ("", ""),
            ("/", ""),
            ("/7/s\tlamp", "/s\tlamp"),
        ] {
            assert_eq!(selector(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }

    #[test]
    fn an_error_is_an_item_of_type_3() {
        assert!(is_error(b"3'/a' does not exist\t\terror.host\t1"));
        assert!(!is_error(b"3 lamps, and a lantern"));
        assert!(!is_error(b"0About\t/about\tg.cern.ch\t70"));
    }
}
