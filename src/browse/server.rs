//! HTTP on a socket: a few threads, each with a handle of the database, that answer one request for
//! each connection. Requests are limited in size, time and work.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::InterruptHandle;

use super::BrowseError;
use super::answer::{Answer, Answerer, Body, ListCache};
use super::pages;
use super::request::{
    BAD_REQUEST, Filter, NOT_FOUND, Refusal, Request, TIMEOUT, TOO_LONG, parse_request,
};
use crate::limits::{
    BROWSE_PATH_SLASHES, BROWSE_QUERY_SECONDS, BROWSE_REQUEST_BYTES, BROWSE_REQUEST_SECONDS,
    BROWSE_THREADS, BROWSE_WRITE_SECONDS,
};
use crate::load::open_to_read;

/// The pause after a connection that could not be accepted, and between two looks for queries that
/// last too long.
const PAUSE: Duration = Duration::from_millis(200);

/// The headers of each answer. Pages have no script, load nothing but their style sheet, send forms
/// only here, and are shown in no frame.
const HEADERS: &str = "Content-Security-Policy: default-src 'none'; style-src 'self'; form-action \
'self'; base-uri 'none'; frame-ancestors 'none'\r\n\
X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n\
Cache-Control: no-store\r\nConnection: close\r\n";

/// The answer to a request that is not beneath the token.
const NO_TOKEN: &str = "There is no such page. The address of these pages has a token, which is \
another one after each start: open the whole address that urlspool printed.\n";

/// The answer to a request whose path has too many slashes for links that lead back.
const TOO_DEEP: &str = "There is no page with this address, which has too many slashes. Go back \
to the page before.\n";

/// A socket that listens, with what is served there.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    database: PathBuf,
    files: Option<PathBuf>,
    token: Option<String>,
}

/// The query that a thread runs: its end, and the way to interrupt it.
struct Running {
    deadline: Mutex<Option<Instant>>,
    handle: InterruptHandle,
}

impl Server {
    pub(super) fn bind(
        database: PathBuf,
        files: Option<PathBuf>,
        listen: SocketAddr,
        token: Option<String>,
    ) -> io::Result<Server> {
        Ok(Server {
            listener: TcpListener::bind(listen)?,
            database,
            files,
            token,
        })
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until the process ends.
    pub(super) fn serve(self) -> Result<(), BrowseError> {
        let lists = Arc::new(ListCache::default());
        let mut running = Vec::new();
        let mut workers = Vec::new();
        for _ in 0..BROWSE_THREADS {
            let db = open_to_read(&self.database)?;
            let query = Arc::new(Running {
                deadline: Mutex::new(None),
                handle: db.get_interrupt_handle(),
            });
            running.push(Arc::clone(&query));
            let worker = Worker {
                listener: self.listener.try_clone().map_err(BrowseError::Listen)?,
                answerer: Answerer::new(
                    db,
                    self.database.clone(),
                    self.files.clone(),
                    Arc::clone(&lists),
                ),
                address: self.address().map_err(BrowseError::Listen)?,
                token: self.token.clone(),
                query,
            };
            let started = thread::Builder::new()
                .name("browse".to_owned())
                .spawn(move || worker.run());
            workers.push(started.map_err(BrowseError::Listen)?);
        }
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(PAUSE);
            for query in &running {
                query.interrupt_if_late();
            }
        }
        Ok(())
    }
}

impl Running {
    fn set_deadline(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    fn interrupt_if_late(&self) {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.handle.interrupt();
        }
    }
}

struct Worker {
    listener: TcpListener,
    answerer: Answerer,
    address: SocketAddr,
    token: Option<String>,
    query: Arc<Running>,
}

impl Worker {
    fn run(self) {
        loop {
            match self.listener.accept() {
                // A client that went away needs no answer.
                Ok((client, _)) => drop(self.serve_client(client)),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    fn serve_client(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_write_timeout(Some(Duration::from_secs(BROWSE_WRITE_SECONDS)))?;
        client.set_nodelay(true)?;
        let (answer, is_head) = match read_request(&mut client)? {
            Err(refusal) => (refusal_page(refusal, "", ""), false),
            Ok(request) => (self.answer(&request), request.is_head),
        };
        self.write_answer(&mut client, answer, is_head)
    }

    fn answer(&self, request: &Request) -> Answer {
        let path = match &self.token {
            None if !is_own_host(&request.host, self.address) => {
                let reason = format!(
                    "These pages are served under the name localhost or their address only. Open \
                     http://{}/\n",
                    self.address
                );
                return plain("403 Forbidden", reason);
            }
            None => &*request.path,
            Some(token) => match beneath(&request.path, token) {
                Some(path) => path,
                None => return plain("404 Not Found", NO_TOKEN.to_owned()),
            },
        };
        if BROWSE_PATH_SLASHES < path.matches('/').count() {
            return plain(NOT_FOUND.status, TOO_DEEP.to_owned());
        }
        self.start_query();
        let answer = self.answerer.answer(path, &request.query);
        self.query.set_deadline(None);
        answer.unwrap_or_else(|refusal| refusal_page(refusal, path, &request.query))
    }

    fn start_query(&self) {
        let deadline = Instant::now() + Duration::from_secs(BROWSE_QUERY_SECONDS);
        self.query.set_deadline(Some(deadline));
    }

    fn write_answer(
        &self,
        client: &mut TcpStream,
        answer: Answer,
        is_head: bool,
    ) -> io::Result<()> {
        let file = answer.file_name.map_or_else(String::new, |name| {
            format!("Content-Disposition: attachment; filename=\"{name}\"\r\n")
        });
        let start = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\n{file}{HEADERS}",
            answer.status, answer.content_type
        );
        match answer.body {
            Body::Text(text) => {
                let length = format!("{start}Content-Length: {}\r\n\r\n", text.len());
                client.write_all(length.as_bytes())?;
                if !is_head {
                    client.write_all(text.as_bytes())?;
                }
                Ok(())
            }
            Body::Rows(rows) => {
                client.write_all(format!("{start}\r\n").as_bytes())?;
                if is_head {
                    return Ok(());
                }
                self.answerer.write_rows(&rows, |lines| {
                    // Time in which rows are read, not that in which they are sent.
                    self.query.set_deadline(None);
                    client.write_all(lines)?;
                    self.start_query();
                    Ok(())
                })?;
                self.query.set_deadline(None);
                Ok(())
            }
        }
    }
}

/// Returns the address of this machine in its network, of the family of `any`: the one that a
/// datagram to elsewhere would have. None is sent.
pub(super) fn network_address(any: IpAddr) -> Option<IpAddr> {
    // Addresses of documentation (RFC 5737, RFC 3849), which have the default route.
    let elsewhere: IpAddr = match any {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((elsewhere, 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_unspecified() && !ip.is_loopback()).then_some(ip)
}

/// Returns the path beneath the token. The comparison takes the same time for all tokens of one
/// length.
fn beneath<'p>(path: &'p str, token: &str) -> Option<&'p str> {
    let (first, rest) = path.split_once('/')?;
    let pairs = first.bytes().zip(token.bytes());
    let differences = pairs.fold(0, |all, (one, other)| all | (one ^ other));
    (first.len() == token.len() && differences == 0).then_some(rest)
}

/// Returns `true` if a browser that sends this `Host` was led here by a name of this machine: not
/// by one that somebody else lets point here.
fn is_own_host(host: &str, address: SocketAddr) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    let is_own_name = name.eq_ignore_ascii_case("localhost")
        || name
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip == address.ip());
    is_own_name && port == Some(address.port())
}

/// Reads the head of a request.
fn read_request(client: &mut TcpStream) -> io::Result<Result<Request, Refusal>> {
    let deadline = Instant::now() + Duration::from_secs(BROWSE_REQUEST_SECONDS);
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Err(TIMEOUT));
        }
        client.set_read_timeout(Some(left))?;
        let bytes = match client.read(&mut buffer) {
            Ok(0) => return Ok(Err(BAD_REQUEST)),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Err(TIMEOUT)),
            Err(error) => return Err(error),
        };
        let seen = head.len().saturating_sub(3);
        head.extend_from_slice(&buffer[..bytes]);
        if BROWSE_REQUEST_BYTES < head.len() {
            return Ok(Err(TOO_LONG));
        }
        // A head is parsed once, when it is whole.
        if memchr::memmem::find(&head[seen..], b"\r\n\r\n").is_some() {
            return Ok(parse_request(&head).and_then(|request| request.ok_or(BAD_REQUEST)));
        }
    }
}

/// Returns the page of a refusal, with the conditions of the request.
fn refusal_page(refusal: Refusal, path: &str, query: &str) -> Answer {
    let filter = Filter::of_query(query).map_or_else(|_| Filter::default(), |(filter, _)| filter);
    Answer::page(refusal.status, pages::refused(refusal, path, &filter))
}

/// Returns an answer for a client that may see no page.
fn plain(status: &'static str, text: String) -> Answer {
    Answer {
        content_type: "text/plain; charset=utf-8",
        ..Answer::page(status, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_lead_here() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8080));
        for host in ["localhost:8080", "LocalHost:8080", "127.0.0.1:8080"] {
            assert!(is_own_host(host, address), "{host}");
        }
        for host in [
            "evil.example:8080",
            "localhost",
            "127.0.0.1:80",
            "localhost.evil.example:8080",
            "127.0.0.2:8080",
            "",
        ] {
            assert!(!is_own_host(host, address), "{host}");
        }
        assert!(is_own_host("[::1]:8080", "[::1]:8080".parse().unwrap()));
    }

    #[test]
    fn the_address_in_the_network_can_be_opened() {
        for any in [IpAddr::from([0; 4]), IpAddr::from([0; 16])] {
            // A machine without a network has none.
            if let Some(ip) = network_address(any) {
                assert!(!ip.is_unspecified() && !ip.is_loopback(), "{ip}");
                assert_eq!(ip.is_ipv4(), any.is_ipv4());
            }
        }
    }

    #[test]
    fn a_page_is_beneath_the_whole_token() {
        assert_eq!(beneath("abc/link", "abc"), Some("link"));
        for path in ["abd/link", "ab/link", "abcd/link", "abc", "", "/link"] {
            assert_eq!(beneath(path, "abc"), None, "{path}");
        }
    }
}
