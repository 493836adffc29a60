//! HTTP client of `check` and `inspect`. It connects to public hosts only, and requests one URL of
//! a host at a time, with a pause after each response.
//!
//! The guard (`guard.rs`) is its resolver and its connector: for each URL, including redirects, it
//! connects to the addresses that were checked. The client does not follow redirects; its callers
//! do.

use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;
use ureq::config::Config;
use ureq::http::{Response, Uri};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, RustlsConnector, Transport,
};
use ureq::{Agent, Body};
use url::{Position, Url};

use super::AuditError;
use super::guard::HostRules;
use super::state::CheckFailure;
use urlspool_files::config::NamedValue;
use urlspool_store::load::http_config;
use urlspool_text::limits::{AUDIT_CONNECT_SECONDS, AUDIT_POLL_MS};

/// Returns the `User-Agent` value. `contact` tells server owners where to write.
///
/// # Errors
///
/// The contact is neither a mail address nor a page.
pub(super) fn user_agent(contact: Option<&str>) -> Result<String, AuditError> {
    let purpose = match contact {
        None => "link-rot audit".to_owned(),
        Some(contact) if is_contact(contact) => format!("link-rot audit; {}", contact.trim()),
        Some(contact) => {
            return Err(AuditError::unusable(format!(
                "`--contact {contact:?}` is neither a mail address nor a page; write it like \
                 you@your.site or https://your.site/contact, in ASCII"
            )));
        }
    };
    Ok(format!(
        "urlspool/{} ({purpose})",
        env!("CARGO_PKG_VERSION")
    ))
}

/// Returns `true` if a text may be a mail address or a page and is valid in an HTTP header field.
fn is_contact(contact: &str) -> bool {
    contact.contains(['@', '.']) && contact.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Waits until a time. Returns `false` if it was stopped.
pub(super) fn wait_until(time: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = time.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(POLL));
    }
}

/// A client shared by several threads.
pub(super) struct Client {
    agent: Agent,
    /// Rules for connecting to hosts.
    pub(super) rules: Arc<HostRules>,
    /// Pause between a response and the next request to the same host.
    pause: Duration,
    /// Timeout of a request.
    request: Duration,
    /// Time of the next permitted request to each host, by name and port.
    next: Mutex<HashMap<String, Instant>>,
    /// Stop flag that ends all requests.
    pub(super) stop: Arc<AtomicBool>,
}

/// Result of a request.
pub(super) enum Hop<R> {
    /// Value that the caller's function read from a response.
    Answer(R),
    /// A redirect with this status to another http or https URL.
    Redirect(u16, Url),
    /// No server answered.
    Failed(CheckFailure),
}

impl Client {
    /// Creates a client that pauses for `pause` between a response and the next request to the same
    /// host, and allows `request` for each request. Setting `stop` ends all requests.
    pub(super) fn new(
        user_agent: &str,
        rules: HostRules,
        pause: Duration,
        request: Duration,
        stop: &Arc<AtomicBool>,
    ) -> Client {
        let rules = Arc::new(rules);
        let guard = Guard {
            rules: Arc::clone(&rules),
            stop: Arc::clone(stop),
        };
        let config = http_config("https:", None, None, user_agent, request);
        let connector = guard.clone().chain(RustlsConnector::default());
        Client {
            agent: Agent::with_parts(config.max_idle_connections(0).build(), connector, guard),
            rules,
            pause,
            request,
            next: Mutex::default(),
            stop: Arc::clone(stop),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn next(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the hosts that need no further pause.
    pub(super) fn forget(&self) {
        let now = Instant::now();
        self.next().retain(|_, time| now < *time);
    }

    /// Requests a URL once its host may be contacted. The request takes at most `left`; the time it
    /// took is subtracted from `left`. `read` extracts the result from a response. Returns `None`
    /// if it was stopped.
    pub(super) fn hop<R>(
        &self,
        url: &Url,
        left: &mut Duration,
        read: impl FnOnce(Response<Body>) -> Result<R, CheckFailure>,
    ) -> Option<Hop<R>> {
        if left.is_zero() {
            return Some(Hop::Failed(CheckFailure::Timeout));
        }
        if !self.wait(url) {
            return None;
        }
        let mut asked = url.clone();
        asked.set_fragment(None);
        let begun = Instant::now();
        let time = (*left).min(self.request);
        let request = self.agent.get(asked.as_str()).config();
        let hop = match request.timeout_global(Some(time)).build().call() {
            Err(error) => Hop::Failed(failure(&error)),
            Ok(response) => match redirect(&asked, &response) {
                Some(next) => Hop::Redirect(response.status().as_u16(), next),
                None => read(response).map_or_else(Hop::Failed, Hop::Answer),
            },
        };
        *left = left.saturating_sub(begun.elapsed());
        self.delay_next(url, self.pause);
        // Open requests failed because of the stop.
        (!self.is_stopped()).then_some(hop)
    }

    /// Delays the next request to the URL's host by `pause`.
    pub(super) fn delay_next(&self, url: &Url, pause: Duration) {
        self.next().insert(host(url), Instant::now() + pause);
    }

    /// Waits until the URL's host may be contacted, and reserves the host until it has answered.
    /// Returns `false` if the client was stopped.
    fn wait(&self, url: &Url) -> bool {
        let host = host(url);
        loop {
            let now = Instant::now();
            let time = {
                let mut next = self.next();
                let time = next.entry(host.clone()).or_insert(now);
                if *time <= now {
                    // Reserve the maximum time of a request; `delay_next` shortens it.
                    *time = now + self.request + self.pause;
                    return !self.is_stopped();
                }
                *time
            };
            if !wait_until(time.min(now + POLL), &self.stop) {
                return false;
            }
        }
    }
}

/// Interval for checking the stop flag.
const POLL: Duration = Duration::from_millis(AUDIT_POLL_MS);

/// Returns the URL to which a response redirects, without its fragment, if it is http or https.
fn redirect(url: &Url, response: &Response<Body>) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301..=303 | 307 | 308) {
        return None;
    }
    let place = response.headers().get("location")?;
    let mut next = url.join(&String::from_utf8_lossy(place.as_bytes())).ok()?;
    next.set_fragment(None);
    matches!(next.scheme(), "http" | "https").then_some(next)
}

/// Returns the host and port of a URL.
fn host(url: &Url) -> String {
    url[Position::BeforeHost..Position::AfterPort].to_owned()
}

/// Converts the error of a request.
fn failure(error: &ureq::Error) -> CheckFailure {
    match error {
        ureq::Error::Timeout(_) => CheckFailure::Timeout,
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => CheckFailure::Tls,
        ureq::Error::Io(error) => match error.get_ref() {
            Some(cause) if cause.is::<rustls::Error>() => CheckFailure::Tls,
            _ => CheckFailure::Other,
        },
        ureq::Error::Other(error) => match error.downcast_ref() {
            Some(NotReached(failure)) => *failure,
            None => CheckFailure::Other,
        },
        _ => CheckFailure::Other,
    }
}

/// Reason why the guard did not connect to a host, wrapped in an error of the HTTP client.
#[derive(Debug, Error)]
#[error("{}", .0.meaning())]
struct NotReached(CheckFailure);

fn not_reached(failure: CheckFailure) -> ureq::Error {
    ureq::Error::Other(Box::new(NotReached(failure)))
}

/// The guard as resolver and connector of the HTTP client.
#[derive(Clone)]
struct Guard {
    rules: Arc<HostRules>,
    stop: Arc<AtomicBool>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guard")
    }
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let url = Url::parse(&uri.to_string()).map_err(|_| not_reached(CheckFailure::Excluded))?;
        let rules = Arc::clone(&self.rules);
        // A DNS server that does not answer is not evidence.
        let found = in_time(*timeout.after, &self.stop, move || rules.addresses(&url))
            .unwrap_or(Err(CheckFailure::Other))
            .map_err(not_reached)?;
        let mut addresses = self.empty();
        for address in found.into_iter().take(MAX_ADDRESSES) {
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(not_reached(CheckFailure::Dns));
        }
        Ok(addresses)
    }
}

/// Maximum number of addresses tried per host; the capacity of the HTTP client's list.
const MAX_ADDRESSES: usize = 16;

impl Connector for Guard {
    type Out = Connection;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<Connection>, ureq::Error> {
        let (rules, addresses) = (Arc::clone(&self.rules), details.addrs.to_vec());
        let time = (*details.timeout.after).min(Duration::from_secs(AUDIT_CONNECT_SECONDS));
        let stream = in_time(time, &self.stop, move || rules.connect_to(&addresses, time))
            .unwrap_or(Err(CheckFailure::Timeout))
            .map_err(not_reached)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL))?;
        let config = details.config;
        Ok(Some(Connection {
            stream,
            buffers: LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size()),
            stop: Arc::clone(&self.stop),
        }))
    }
}

/// Runs a blocking call on a separate thread. Returns `None` when `time` has passed or `stop` is
/// set; the thread then ends after the call.
fn in_time<T: Send + 'static>(
    time: Duration,
    stop: &AtomicBool,
    call: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let run = move || {
        // The receiver is gone if the value comes too late.
        let _ = sender.send(call());
    };
    thread::Builder::new().spawn(run).ok()?;
    let begun = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let left = time.checked_sub(begun.elapsed())?;
        match receiver.recv_timeout(left.min(POLL)) {
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            received => return received.ok(),
        }
    }
    None
}

/// A connection that stops waiting when the client is stopped.
#[derive(Debug)]
struct Connection {
    /// Has a read timeout of [`POLL`].
    stream: TcpStream,
    buffers: LazyBuffers,
    stop: Arc<AtomicBool>,
}

impl Transport for Connection {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        let time = (*timeout.after).max(Duration::from_millis(1));
        self.stream.set_write_timeout(Some(time))?;
        match self.stream.write_all(&self.buffers.output()[..amount]) {
            Err(error) if is_wait(error.kind()) => Err(ureq::Error::Timeout(timeout.reason)),
            written => Ok(written?),
        }
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        let begun = Instant::now();
        while begun.elapsed() < *timeout.after && !self.stop.load(Ordering::Relaxed) {
            match self.stream.read(self.buffers.input_append_buf()) {
                Err(error) if is_wait(error.kind()) => {}
                read => {
                    let len = read?;
                    self.buffers.input_appended(len);
                    return Ok(0 < len);
                }
            }
        }
        Err(ureq::Error::Timeout(timeout.reason))
    }

    fn is_open(&mut self) -> bool {
        // A connection serves a single request.
        false
    }
}

/// Returns `true` for an error after which waiting may continue.
fn is_wait(kind: ErrorKind) -> bool {
    use ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(kind, WouldBlock | TimedOut | Interrupted)
}

/// Processes links grouped by host, with at most `at_once` hosts at a time and the links of a host
/// in sequence. Hosts with the most links come first because they take longest. `ask` processes the
/// links of a host. Returns all results, unordered.
pub(super) fn ask_hosts<'l, L: Sync, R: Send>(
    links: &'l [L],
    host_of: impl Fn(&L) -> String,
    at_once: usize,
    ask: impl Fn(&[&'l L]) -> Vec<R> + Sync,
) -> Vec<R> {
    let mut by_host: HashMap<String, Vec<&'l L>> = HashMap::new();
    for link in links {
        by_host.entry(host_of(link)).or_default().push(link);
    }
    let mut groups: Vec<_> = by_host.into_values().collect();
    groups.sort_by_key(|links| std::cmp::Reverse(links.len()));
    let workers = groups.len().min(at_once);
    let waiting = Mutex::new(VecDeque::from(groups));
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    };
    let work = || -> Vec<R> {
        std::iter::from_fn(next)
            .flat_map(|links| ask(&links))
            .collect()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(|worker| match worker.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::{IpAddr, SocketAddr, TcpListener};
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::guard::Resolve;

    /// Starts a server that sends one response per connection. Returns its port and the number of
    /// connections.
    fn serve(answer: &'static str) -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        (port, connections)
    }

    fn client(resolve: Resolve) -> Client {
        let rules = HostRules::new(&["127.0.0.1".to_owned()], resolve);
        let request = Duration::from_secs(5);
        Client::new("t", rules, Duration::ZERO, request, &Arc::default())
    }

    /// Requests a URL and reads the status of the response.
    fn hop(client: &Client, url: &str, mut left: Duration) -> Hop<u16> {
        let url = Url::parse(url).unwrap();
        let hop = client.hop(&url, &mut left, |response| Ok(response.status().as_u16()));
        hop.unwrap()
    }

    #[test]
    fn a_name_that_changes_to_a_private_address_is_refused() {
        let (port, connections) =
            serve("HTTP/1.1 302 X\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n");
        let asked_for = AtomicUsize::new(0);
        let client = client(Box::new(move |_, port| {
            let last = 1 + asked_for.fetch_add(1, Ordering::SeqCst) as u8;
            Ok(vec![SocketAddr::new(IpAddr::from([127, 0, 0, last]), port)])
        }));
        let url = format!("http://rebind.cern.ch:{port}/a");
        let Hop::Redirect(302, next) = hop(&client, &url, Duration::MAX) else {
            panic!("the first address is allowed")
        };
        let second = hop(&client, next.as_str(), Duration::MAX);
        assert!(matches!(second, Hop::Failed(CheckFailure::Excluded)));
        assert_eq!(connections.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn failures_are_classified() {
        let client = client(Box::new(|name, port| match name {
            "gone.cern.ch" => Err(io::Error::other("Name or service not known")),
            "empty.cern.ch" => Ok(Vec::new()),
            _ => Ok(vec![([127, 0, 0, 1], port).into()]),
        }));
        let (closing, _) = serve("");
        let (plain, _) = serve("HTTP/1.1 400 Bad Request\r\n\r\n");
        for (url, expected) in [
            // No server listens there.
            ("http://h.cern.ch:1/".to_owned(), CheckFailure::Connect),
            ("http://gone.cern.ch/".to_owned(), CheckFailure::Dns),
            ("http://empty.cern.ch/".to_owned(), CheckFailure::Dns),
            (format!("http://h.cern.ch:{closing}/"), CheckFailure::Other),
            (format!("https://h.cern.ch:{closing}/"), CheckFailure::Other),
            (format!("https://h.cern.ch:{plain}/"), CheckFailure::Tls),
            ("http://[::1]/".to_owned(), CheckFailure::Excluded),
        ] {
            match hop(&client, &url, Duration::MAX) {
                Hop::Failed(found) => assert_eq!(found, expected, "{url}"),
                _ => panic!("{url}"),
            }
        }
    }

    #[test]
    fn a_dns_timeout_is_not_evidence() {
        let client = client(Box::new(|_, _| {
            thread::sleep(Duration::from_secs(5));
            Ok(Vec::new())
        }));
        let begun = Instant::now();
        let hop = hop(&client, "http://h.cern.ch/", Duration::from_millis(300));
        assert!(matches!(hop, Hop::Failed(CheckFailure::Other)));
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
}
