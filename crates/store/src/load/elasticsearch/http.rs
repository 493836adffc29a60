//! Requests to a server, its responses, and retries. A request is repeated after a pause if the
//! server is busy or the connection broke.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use rustls::CertificateError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{Method, Request, Response};
use ureq::{Agent, AsSendBody, Body};

use super::login::{authorization, client_certificate};
use crate::load::http_agent::{certificates, http_config, retry_after};
use crate::load::target_name::{IndexServer, Secret};
use crate::load::{LoadError, LoadErrorKind, LoadEvent, LoadJob, RetryEnd, SharedReport};
use urlspool_text::grammar::encode;
use urlspool_text::limits::{
    LOAD_ATTEMPTS, LOAD_BACKOFF_MS, LOAD_BACKOFF_SECONDS, LOAD_BUSY_SECONDS, LOAD_REPLY_BYTES,
    LOAD_REPLY_SECONDS, LOAD_RETRY_AFTER_SECONDS, LOAD_STOP_POLL_MS,
};

/// HTTP client for one server.
pub(super) struct HttpClient<'r> {
    agent: Agent,
    server: String,
    /// `true` if the system's authorities are trusted instead of a file's.
    trusts_machine: bool,
    authorization: Option<Secret>,
    /// Timeout for the response to a cheap request.
    limit: Duration,
    /// `true` after the first response from the server.
    has_answered: Cell<bool>,
    /// Set when the load should stop, which turns a retry into an error.
    stop: Arc<AtomicBool>,
    pub(super) report: SharedReport<'r>,
}

#[derive(Debug, Default)]
pub(super) struct HttpRequest {
    method: Method,
    /// Path and query, from the slash after the server.
    path: String,
    /// Header fields that describe the body.
    fields: &'static [(&'static str, &'static str)],
    body: Vec<u8>,
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// JSON lines, compressed with gzip.
const LINES: &[(&str, &str)] = &[
    ("content-type", "application/x-ndjson"),
    ("content-encoding", "gzip"),
];

impl HttpRequest {
    /// Creates a request for a resource.
    pub(super) fn get(path: String) -> HttpRequest {
        HttpRequest {
            path,
            ..HttpRequest::default()
        }
    }

    /// Creates a request with JSON.
    pub(super) fn new(method: Method, path: String, body: &Value) -> HttpRequest {
        HttpRequest {
            method,
            fields: JSON,
            body: body.to_string().into_bytes(),
            ..HttpRequest::get(path)
        }
    }

    /// Creates a request that processes compressed lines.
    pub(super) fn post_lines(path: String, body: Vec<u8>) -> HttpRequest {
        HttpRequest {
            method: Method::POST,
            fields: LINES,
            body,
            ..HttpRequest::get(path)
        }
    }
}

/// Advice for a full disk, printed between the server's message and the setting of the block.
const DISK_FULL: &str = "; a disk of the server is nearly full: free some space, and the server \
                         lifts the block; or, if it was set by hand, set";

/// Error types of blocks. `OpenSearch` uses the second for new indexes.
const BLOCK_KINDS: [&str; 2] = ["cluster_block_exception", "index_create_block_exception"];

/// Blocks that a server sets while a disk is full and removes when there is space again. At the
/// flood-stage watermark it blocks writes; at the high watermark `OpenSearch` blocks new indexes.
/// Each entry has the block's number, since its text varies between versions, and its setting.
const DISK_BLOCKS: [(&str, &str); 2] = [
    ("/12/", "index.blocks.read_only_allow_delete of the index"),
    ("/10/", "cluster.blocks.create_index of the cluster"),
];

/// A response that is neither a refusal nor a request to retry.
#[derive(Debug)]
pub(super) struct HttpReply {
    pub(super) status: u16,
    body: Vec<u8>,
}

#[derive(Deserialize)]
struct ErrorReply {
    error: ServerError,
}

/// Error in a server's response to a request, or to a part of one.
#[derive(Debug, Deserialize)]
pub(super) struct ServerError {
    /// The server's name for this type of error.
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    reason: String,
}

impl ServerError {
    /// Creates the error of a response that contains none.
    pub(super) fn of_status(status: u16) -> ServerError {
        ServerError::of_reason(format!("it answers with HTTP status {status}"))
    }

    pub(super) fn of_reason(reason: impl Into<String>) -> ServerError {
        let (kind, reason) = (String::new(), reason.into());
        ServerError { kind, reason }
    }

    /// Returns the setting of a block set because of a full disk; `None` for other errors.
    pub(super) fn disk_block(&self) -> Option<&'static str> {
        let (_, setting) = DISK_BLOCKS
            .into_iter()
            .find(|(number, _)| self.reason.contains(number))?;
        BLOCK_KINDS.contains(&&*self.kind).then_some(setting)
    }

    /// Creates the error of a load whose request got this response.
    pub(super) fn refusal(&self) -> LoadError {
        LoadError::io(format!("the server refuses: {self}"))
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.kind, &*self.reason) {
            ("", "") => out.write_str("no reason given"),
            (text, "") | ("", text) => out.write_str(text),
            (kind, reason) => write!(out, "{kind}: {reason}"),
        }
    }
}

impl HttpReply {
    /// Parses the body as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, LoadError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            LoadError::io(format!(
                "the server sent an unknown answer: {error}; is it Elasticsearch or OpenSearch?"
            ))
            .caused_by(error)
        })
    }

    /// Returns the error in the body, or one made from the status.
    pub(super) fn error(&self) -> ServerError {
        let read = serde_json::from_slice::<ErrorReply>(&self.body);
        read.map_or_else(|_| ServerError::of_status(self.status), |reply| reply.error)
    }

    /// Returns the response if the request succeeded.
    pub(super) fn succeeded(self) -> Result<HttpReply, LoadError> {
        match self.status {
            200..300 => Ok(self),
            _ => Err(self.error().refusal()),
        }
    }
}

impl<'r> HttpClient<'r> {
    /// Creates a client for the server of a target.
    pub(super) fn new(
        server: &IndexServer,
        job: &LoadJob,
        report: SharedReport<'r>,
    ) -> Result<HttpClient<'r>, LoadError> {
        let authorities = server.root_file.as_deref().map(certificates).transpose()?;
        let certificate = server.client.as_ref().map(client_certificate).transpose()?;
        let limit = Duration::from_secs(server.connect_seconds.into());
        let config = http_config(
            &server.url,
            authorities.as_deref(),
            certificate,
            concat!("urlspool/", env!("CARGO_PKG_VERSION")),
            limit,
        );
        Ok(HttpClient {
            agent: config.build().new_agent(),
            server: server.url.clone(),
            trusts_machine: authorities.is_none(),
            authorization: authorization(server, &job.credentials)?,
            limit,
            has_answered: Cell::new(false),
            stop: Arc::clone(&job.stop),
            report,
        })
    }

    /// Creates the timer for retries of a request.
    pub(super) fn backoff(&self) -> Backoff<'_, 'r> {
        Backoff {
            client: self,
            failed: 0,
            begun: None,
        }
    }

    /// Returns `true` if the load should stop.
    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends a request, and repeats it until the server accepts or refuses it.
    ///
    /// # Errors
    ///
    /// The error of a refused request, or of the last attempt.
    pub(super) fn send(&self, request: &HttpRequest) -> Result<HttpReply, LoadError> {
        let mut backoff = self.backoff();
        loop {
            match self.exchange(request)? {
                Attempt::Done(reply) => return Ok(reply),
                Attempt::Again(error, asked) => backoff.wait(error, asked)?,
            }
        }
    }

    /// Creates the error for a server that is too busy for a request, or for a part of one.
    pub(super) fn busy(&self, error: &ServerError) -> LoadError {
        let way_out = error
            .disk_block()
            .map(|setting| format!("{DISK_FULL} {setting} to null"))
            .unwrap_or_default();
        // The reason of a block ends with a semicolon.
        let reason = error.to_string();
        let reason = reason.trim_end_matches(';');
        LoadError::new(
            LoadErrorKind::Busy,
            format!("{}: {reason}{way_out}", self.server),
        )
    }

    /// Sends a request once.
    fn exchange(&self, request: &HttpRequest) -> Result<Attempt, LoadError> {
        let response = match self.run(request) {
            Ok(response) => response,
            Err(error) => return self.failed(error),
        };
        let retry_after = retry_after(&response);
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let body = body.with_config().limit(LOAD_REPLY_BYTES).read_to_vec();
        let reply = match body {
            Ok(body) => HttpReply { status, body },
            Err(error) => return self.failed(error),
        };
        self.has_answered.set(true);
        let server = &self.server;
        match status {
            403 if reply.error().disk_block().is_some() => {
                Ok(Attempt::Again(self.busy(&reply.error()), retry_after))
            }
            401 | 403 => Err(LoadError::unusable(format!(
                "{server}: {}; set a key with write access in URLSPOOL_ELASTICSEARCH_API_KEY, or \
                 the password of USER@ in URLSPOOL_ELASTICSEARCH_PASSWORD",
                reply.error()
            ))),
            300..=399 => Err(LoadError::unusable(format!(
                "{server} redirects to another address; use that address"
            ))),
            429 | 500.. => Ok(Attempt::Again(self.busy(&reply.error()), retry_after)),
            _ => Ok(Attempt::Done(reply)),
        }
    }

    fn run(&self, request: &HttpRequest) -> Result<Response<Body>, ureq::Error> {
        let mut parts = Request::builder()
            .method(request.method.clone())
            .uri(format!("{}{}", self.server, request.path));
        if let Some(authorization) = &self.authorization {
            parts = parts.header("authorization", authorization.text());
        }
        for (name, value) in request.fields {
            parts = parts.header(*name, *value);
        }
        // Storing is cheap, but a query may remove many documents, and there may be many lines.
        let limit = match request.method {
            Method::POST => self.limit.max(Duration::from_secs(LOAD_REPLY_SECONDS)),
            _ => self.limit,
        };
        match request.method {
            Method::GET => self.run_within(limit, parts.body(())?),
            _ => self.run_within(limit, parts.body(&request.body)?),
        }
    }

    fn run_within(
        &self,
        limit: Duration,
        request: Request<impl AsSendBody>,
    ) -> Result<Response<Body>, ureq::Error> {
        let request = self
            .agent
            .configure_request(request)
            .timeout_connect(Some(self.limit))
            .timeout_global(Some(limit))
            .build();
        self.agent.run(request)
    }

    /// Classifies an error. If the server is not trusted now, retrying does not help.
    fn failed(&self, error: ureq::Error) -> Result<Attempt, LoadError> {
        let server = &self.server;
        let reason = match &error {
            // A TLS error that ended the connection.
            ureq::Error::Io(error) => error
                .get_ref()
                .and_then(|error| error.downcast_ref())
                .map(|error| self.tls_reason(error)),
            ureq::Error::Rustls(_)
            | ureq::Error::Tls(_)
            | ureq::Error::Pem(_)
            | ureq::Error::Http(_)
            | ureq::Error::BadUri(_) => Some(error.to_string()),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(LoadError::unusable(format!("{server}: {reason}")).caused_by(error));
        }
        let message = match &error {
            ureq::Error::Timeout(_) => format!(
                "{server}: the server did not answer in time; append ?connect_timeout=SECONDS to \
                 the index, at most {LOAD_REPLY_SECONDS}"
            ),
            _ => format!("{server}: {error}"),
        };
        let error = LoadError::new(LoadErrorKind::Unreachable, message).caused_by(error);
        Ok(Attempt::Again(error, None))
    }

    /// Returns the reason of a TLS error, with advice if the target can be changed to avoid it.
    fn tls_reason(&self, error: &rustls::Error) -> String {
        let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        if !self.trusts_machine || *error != unknown {
            return error.to_string();
        }
        format!(
            "{error}; this machine does not trust the authority of the server's certificate: \
             append ?sslrootcert=FILE to the index"
        )
    }
}

/// Encodes a name as one path component.
pub(super) fn path_part(name: &str) -> String {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    encode(name.as_bytes(), is_kept)
}

/// Result of one attempt.
#[derive(Debug)]
enum Attempt {
    Done(HttpReply),
    /// The server may accept the request later. Contains the error to return after the last
    /// attempt, and the pause that the server asked for.
    Again(LoadError, Option<Duration>),
}

/// Pauses between attempts. Each is twice as long as the previous one, up to a limit.
pub(super) struct Backoff<'c, 'r> {
    client: &'c HttpClient<'r>,
    failed: u32,
    /// Time of the first failure since the last progress.
    begun: Option<Instant>,
}

impl Backoff<'_, '_> {
    /// Waits after `error` before the next attempt. `asked` is the pause that the server asked for.
    ///
    /// # Errors
    ///
    /// `error`, if there were enough attempts or the load should stop.
    pub(super) fn wait(
        &mut self,
        error: LoadError,
        asked: Option<Duration>,
    ) -> Result<(), LoadError> {
        self.failed += 1;
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let pause = pause(self.failed, asked);
        let client = self.client;
        let end = retry_end(
            self.failed,
            begun.elapsed() + pause,
            client.has_answered.get(),
        );
        let Some(end) = end.filter(|_| !client.is_stopping()) else {
            return Err(error);
        };
        client.report.borrow_mut()(LoadEvent::Retried {
            error: &error,
            failed: self.failed,
            pause,
            end,
        });
        let waited = Instant::now();
        while let Some(left) = pause.checked_sub(waited.elapsed()) {
            if client.is_stopping() {
                return Err(error);
            }
            thread::sleep(left.min(Duration::from_millis(LOAD_STOP_POLL_MS)));
        }
        Ok(())
    }

    /// Resets the pauses because the server accepted a part.
    pub(super) fn reset(&mut self) {
        self.failed = 0;
        self.begun = None;
    }
}

/// Returns the pause after `failed` attempts (at least 1). It is not shorter than the server asked
/// for, up to a limit.
fn pause(failed: u32, retry_after: Option<Duration>) -> Duration {
    let doubled = Duration::from_millis(LOAD_BACKOFF_MS << (failed - 1).min(16));
    let asked = retry_after.unwrap_or_default();
    doubled
        .min(Duration::from_secs(LOAD_BACKOFF_SECONDS))
        .max(asked.min(Duration::from_secs(LOAD_RETRY_AFTER_SECONDS)))
}

/// Returns when to stop retrying after `failed` attempts, if the next one starts `elapsed` after
/// the first. Returns `None` if no attempt is left.
fn retry_end(failed: u32, elapsed: Duration, has_answered: bool) -> Option<RetryEnd> {
    if !has_answered {
        return (failed < LOAD_ATTEMPTS).then_some(RetryEnd::Attempts(LOAD_ATTEMPTS));
    }
    let left = Duration::from_secs(LOAD_BUSY_SECONDS).checked_sub(elapsed)?;
    Some(RetryEnd::Within(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_omit_empty_parts() {
        let stated = |kind: &str, reason: &str| {
            let (kind, reason) = (kind.to_owned(), reason.to_owned());
            ServerError { kind, reason }.to_string()
        };
        assert_eq!(stated("kind", "reason"), "kind: reason");
        assert_eq!(stated("kind", ""), "kind");
        assert_eq!(stated("", "reason"), "reason");
        assert_eq!(stated("", ""), "no reason given");
    }

    #[test]
    fn a_name_is_encoded_as_one_path_component() {
        assert_eq!(path_part("urls-1996"), "urls-1996");
        assert_eq!(path_part("a/é"), "a%2F%C3%A9");
    }

    #[test]
    fn pauses_double_and_respect_the_server_up_to_a_limit() {
        let ms = |failed, asked| pause(failed, asked).as_millis();
        assert_eq!(ms(1, None), 100);
        assert_eq!(ms(3, None), 400);
        assert_eq!(ms(1, Some(Duration::from_secs(2))), 2_000);
        assert_eq!(ms(1, Some(Duration::from_hours(1))), 30_000);
        assert_eq!(ms(8, None), 10_000);
        assert_eq!(ms(u32::MAX, None), 10_000);
    }

    #[test]
    fn a_server_that_has_answered_is_retried_for_minutes() {
        let seconds = Duration::from_secs;
        let is_last =
            |failed, elapsed, has_answered| retry_end(failed, elapsed, has_answered).is_none();
        assert!(!is_last(5, seconds(1_000), false));
        assert!(is_last(6, seconds(1), false));
        assert!(!is_last(1_000, seconds(299), true));
        assert!(is_last(1_000, seconds(301), true));
    }

    #[test]
    fn a_full_disk_is_distinguished_from_other_blocks() {
        let disk_block = |kind: &str, reason: &str| {
            let (kind, reason) = (kind.to_owned(), reason.to_owned());
            ServerError { kind, reason }.disk_block()
        };
        let (writes, indexes) = (
            "index.blocks.read_only_allow_delete of the index",
            "cluster.blocks.create_index of the cluster",
        );
        for (setting, kind, reason) in [
            (
                writes,
                "cluster_block_exception",
                "index [urls] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage \
                 watermark, index has read-only-allow-delete block];",
            ),
            (
                writes,
                "cluster_block_exception",
                "blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];",
            ),
            (
                indexes,
                "index_create_block_exception",
                "blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];",
            ),
        ] {
            assert_eq!(disk_block(kind, reason), Some(setting));
            assert_eq!(disk_block("security_exception", reason), None);
        }
        let reason = "index [urls] blocked by: [FORBIDDEN/8/index write (api)];";
        assert_eq!(disk_block("cluster_block_exception", reason), None);
    }
}
