//! The proxy through which the link checker reaches the network: it connects to public addresses
//! only.
//!
//! The checker resolves no name itself. For each connection, also after a redirect, the proxy
//! judges the host, resolves it, judges all its addresses, and connects to one of those that it
//! judged. So neither a redirect, a name with a private address, nor an answer of the name service
//! that changes leads to a private host.
//!
//! The proxy speaks HTTP/1.1: `CONNECT`, and requests with an absolute URL, one for each
//! connection.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use url::Url;

use crate::audit::AuditError;
use crate::audit::guard::{HostRules, NetworkSigns, Resolve, system_resolver};
use crate::audit::lychee::Answer;
use crate::audit::state::{CheckFailure, CheckOutcome};
use crate::limits::{AUDIT_CONNECTION_BYTES, AUDIT_HEAD_BYTES, AUDIT_IDLE_SECONDS};

/// HTTP code with which the proxy answers for a host that it did not reach. No server is known to
/// use it.
const NOT_REACHED: u16 = 599;

/// A running proxy. It ends when it is dropped; open connections end with their peers.
pub(in crate::audit) struct GuardProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// The state that all connections share.
struct Shared {
    rules: HostRules,
    /// The reasons for which hosts were not reached, by host and port. A later success removes it.
    failures: Mutex<HashMap<String, CheckFailure>>,
    /// The open connections of clients, by their number.
    open: Mutex<HashMap<u64, TcpStream>>,
    /// Number of connections so far.
    connections: AtomicU64,
    is_stopped: AtomicBool,
}

impl GuardProxy {
    /// Starts a proxy on the loopback interface. It also connects to `private_hosts`: names, or
    /// addresses.
    pub(in crate::audit) fn start(private_hosts: &[String]) -> Result<GuardProxy, AuditError> {
        GuardProxy::with_resolver(private_hosts, system_resolver())
            .map_err(|error| AuditError::output("start a proxy for the link checker", error))
    }

    fn with_resolver(private_hosts: &[String], resolve: Resolve) -> io::Result<GuardProxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            rules: HostRules::new(private_hosts, resolve),
            failures: Mutex::default(),
            open: Mutex::default(),
            connections: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::Builder::new()
            .name("audit-proxy".to_owned())
            .spawn(move || accept(&listener, &accepting))?;
        Ok(GuardProxy { address, shared })
    }

    /// Returns the URL of the proxy, as the environment of the checker has it.
    pub(in crate::audit) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Closes all connections of clients, and takes no others: their requests fail at once.
    pub(in crate::audit) fn close(&self) {
        self.shared.is_stopped.store(true, Ordering::SeqCst);
        for client in self.shared.open().values() {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// Returns the signs that were seen that this machine has a network.
    pub(super) fn network_signs(&self) -> NetworkSigns {
        self.shared.rules.network_signs()
    }

    /// Looks up a name that exists as long as the name service does, which contacts that service
    /// alone. Returns `true` if it has public addresses.
    pub(super) fn finds_root_server(&self) -> bool {
        self.shared.rules.finds_root_server()
    }

    /// Returns the reason for which the host of a URL was not reached; `None` if it was.
    pub(in crate::audit) fn failure(&self, url: &Url) -> Option<CheckFailure> {
        let host = host_and_port(url.as_str())?;
        self.shared.failures().get(&host).copied()
    }

    /// Replaces what the checker says of a host that was not reached by the reason that the proxy
    /// knows.
    pub(super) fn explained(&self, mut answer: Answer) -> Answer {
        let last_url = answer.final_url.as_deref().unwrap_or(&answer.asked_url);
        let may_be_ours = match answer.outcome {
            CheckOutcome::Status(code) => code == NOT_REACHED,
            CheckOutcome::Failed(CheckFailure::Excluded | CheckFailure::Timeout) => false,
            CheckOutcome::Failed(_) => true,
        };
        if !may_be_ours {
            return answer;
        }
        let failure =
            host_and_port(last_url).and_then(|host| self.shared.failures().get(&host).copied());
        match (failure, answer.outcome) {
            (Some(failure), _) => answer.outcome = CheckOutcome::Failed(failure),
            // The host was reached, and closed the connection before an answer.
            (
                None,
                CheckOutcome::Status(_)
                | CheckOutcome::Failed(CheckFailure::Dns | CheckFailure::Connect),
            ) => {
                answer.outcome = CheckOutcome::Failed(CheckFailure::Other);
            }
            (None, CheckOutcome::Failed(_)) => {}
        }
        answer
    }
}

impl Drop for GuardProxy {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn failures(&self) -> MutexGuard<'_, HashMap<String, CheckFailure>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, TcpStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects to a host, and remembers why it failed.
    fn connect(&self, url: &Url) -> Result<TcpStream, CheckFailure> {
        let connected = self.rules.connect(url);
        if let Some(host) = host_and_port(url.as_str()) {
            match &connected {
                Ok(_) => self.failures().remove(&host),
                Err(failure) => self.failures().insert(host, *failure),
            };
        }
        connected
    }
}

/// Host and port of a URL, as failures are known by.
fn host_and_port(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    Some(format!(
        "{}:{}",
        url.host_str()?,
        url.port_or_known_default()?
    ))
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let (shared, accepted) = (Arc::clone(shared), shared);
        let number = shared.connections.fetch_add(1, Ordering::Relaxed);
        let Ok(open) = stream.try_clone() else {
            continue;
        };
        shared.open().insert(number, open);
        let serve = move || {
            // A connection that breaks is one that the checker or the server closed.
            let _ = serve(stream, &shared);
            shared.open().remove(&number);
        };
        // Without a thread the connection is closed, which the checker reports.
        if thread::Builder::new().spawn(serve).is_err() {
            accepted.open().remove(&number);
        }
    }
}

/// Serves one request.
///
/// # Errors
///
/// The checker closed the connection, or does not speak HTTP.
fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    set_timeouts(&client)?;
    let request = read_head(&mut client, Vec::new())?;
    let (url, is_tunnel) = match proxy_request(&request.head) {
        Some(ProxyRequest::Connect(url)) => (url, true),
        Some(ProxyRequest::Forward(url)) => (url, false),
        None => return client.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    };
    let Ok(mut server) = shared.connect(&url) else {
        return write_not_reached(&mut client);
    };
    set_timeouts(&server)?;
    if is_tunnel {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        server.write_all(&request.rest)?;
        return relay(&client, &server);
    }
    server.write_all(&request_for_server(&request.head))?;
    server.write_all(&request.rest)?;
    let upload = relay_in_thread(&client, &server)?;
    let answered = forward_answer(&mut client, &mut server);
    let _ = server.shutdown(Shutdown::Both);
    let _ = client.shutdown(Shutdown::Both);
    let _ = upload.join();
    answered
}

fn set_timeouts(stream: &TcpStream) -> io::Result<()> {
    let idle = Some(Duration::from_secs(AUDIT_IDLE_SECONDS));
    stream.set_read_timeout(idle)?;
    stream.set_write_timeout(idle)?;
    stream.set_nodelay(true)
}

/// Answers that the host was not reached. The reason is in [`Shared::failures`].
fn write_not_reached(client: &mut TcpStream) -> io::Result<()> {
    let answer = format!(
        "HTTP/1.1 {NOT_REACHED} Not Reached\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    client.write_all(answer.as_bytes())
}

/// Passes on the answer of a server.
fn forward_answer(client: &mut TcpStream, server: &mut TcpStream) -> io::Result<()> {
    let mut rest = Vec::new();
    loop {
        let answer = match read_head(server, rest) {
            Ok(answer) if !answer.head.is_empty() => answer,
            // Closed or reset before an answer; what waits too long is ended by the checker itself.
            _ => return write_not_reached(client),
        };
        rest = answer.rest;
        if is_interim(&answer.head) {
            client.write_all(&answer.head)?;
        } else if answer.head.starts_with(b"HTTP/1") {
            client.write_all(&answer_for_checker(&answer.head))?;
            break;
        } else {
            // Servers before HTTP/1.0 send a page alone, which the checker refuses.
            client.write_all(&answer.head)?;
            break;
        }
    }
    client.write_all(&rest)?;
    copy(server, client)
}

/// Passes bytes on in both directions, until either side closes.
fn relay(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    let upload = relay_in_thread(client, server)?;
    let copied = copy(&mut &*server, &mut &*client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = upload.join();
    copied
}

/// Passes bytes of the checker on to the server, in a thread.
fn relay_in_thread(client: &TcpStream, server: &TcpStream) -> io::Result<thread::JoinHandle<()>> {
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::Builder::new().spawn(move || {
        // The checker closes when it waits no longer: that ends the other direction too.
        let _ = copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    })
}

/// Copies at most [`AUDIT_CONNECTION_BYTES`].
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    io::copy(&mut from.take(AUDIT_CONNECTION_BYTES), to).map(drop)
}

/// Header fields that hold for one connection only (RFC 9110 section 7.6.1), or are for the proxy.
const CONNECTION_FIELDS: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "upgrade",
];

/// The head of a message, and the bytes after it that were read with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ReadHead {
    /// The head with its empty line; all bytes if there is no such line up to the end or the limit.
    head: Vec<u8>,
    rest: Vec<u8>,
}

/// The request line of a proxy's request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProxyRequest {
    /// `CONNECT host:port`, with the host as a URL.
    Connect(Url),
    /// A request with an absolute URL.
    Forward(Url),
}

/// Reads a head. `already` are bytes that were read before.
fn read_head(stream: &mut impl Read, already: Vec<u8>) -> io::Result<ReadHead> {
    let mut bytes = already;
    let mut buffer = [0; 8192];
    loop {
        if let Some(end) = end_of_head(&bytes) {
            let rest = bytes.split_off(end);
            return Ok(ReadHead { head: bytes, rest });
        }
        let len = match stream.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if len == 0 || AUDIT_HEAD_BYTES < bytes.len() {
            return Ok(ReadHead {
                head: bytes,
                rest: Vec::new(),
            });
        }
        bytes.extend_from_slice(&buffer[..len]);
    }
}

/// Returns the offset after the empty line.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let crlf = memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4);
    let lf = memchr::memmem::find(bytes, b"\n\n").map(|at| at + 2);
    [crlf, lf].into_iter().flatten().min()
}

/// Parses the first line of a request to a proxy; `None` for other text.
fn proxy_request(head: &[u8]) -> Option<ProxyRequest> {
    let line = std::str::from_utf8(head.split(|&byte| byte == b'\n').next()?).ok()?;
    let mut words = line.split_ascii_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    if method == "CONNECT" {
        // The scheme's port is filled in where the URL has the default one.
        let url = Url::parse(&format!("https://{target}/")).ok()?;
        return Some(ProxyRequest::Connect(url));
    }
    let url = Url::parse(target).ok()?;
    (url.scheme() == "http").then_some(ProxyRequest::Forward(url))
}

/// Returns the head of a request for the server: the path instead of the URL, and one request for
/// the connection.
fn request_for_server(head: &[u8]) -> Vec<u8> {
    let (line, fields) = head.split_at(line_len(head));
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let mut out = method.unwrap_or_default().to_vec();
    out.push(b' ');
    out.extend_from_slice(&origin_form(target.unwrap_or_default()));
    out.push(b' ');
    out.extend_from_slice(version.unwrap_or_default());
    append_fields(&mut out, fields);
    out
}

/// Path and query of an absolute URL, as they are written.
fn origin_form(target: &[u8]) -> Vec<u8> {
    let after_scheme = memchr::memmem::find(target, b"://").map_or(target, |at| &target[at + 3..]);
    match after_scheme.iter().position(|byte| b"/?".contains(byte)) {
        Some(at) if after_scheme[at] == b'/' => after_scheme[at..].to_vec(),
        Some(at) => [b"/", &after_scheme[at..]].concat(),
        None => b"/".to_vec(),
    }
}

/// Returns the head of an answer for the checker, which opens another connection for its next
/// request.
fn answer_for_checker(head: &[u8]) -> Vec<u8> {
    let (line, fields) = head.split_at(line_len(head));
    let mut out = line.to_vec();
    append_fields(&mut out, fields);
    out
}

/// Returns `true` for the head of an interim answer, which another one follows (RFC 9110 section
/// 15.2).
fn is_interim(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/1") && head.get(8..10) == Some(b" 1") && !head[9..].starts_with(b"101")
}

/// Length of the first line with its end.
fn line_len(head: &[u8]) -> usize {
    memchr::memchr(b'\n', head).map_or(head.len(), |at| at + 1)
}

/// Appends the header fields except [`CONNECTION_FIELDS`], a field that closes the connection, and
/// the empty line.
fn append_fields(out: &mut Vec<u8>, fields: &[u8]) {
    let mut is_dropped = false;
    for line in fields.split_inclusive(|&byte| byte == b'\n') {
        if matches!(line, b"\r\n" | b"\n") {
            break;
        }
        // A folded line belongs to the field before.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
            is_dropped = CONNECTION_FIELDS
                .iter()
                .any(|field| field.as_bytes().eq_ignore_ascii_case(name));
        }
        if !is_dropped {
            out.extend_from_slice(line);
        }
    }
    out.extend_from_slice(b"Connection: close\r\n\r\n");
}

#[cfg(test)]
mod tests;
