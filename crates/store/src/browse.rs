//! `urlspool browse`: a web interface to a loaded database.
//!
//! The pages need no script and no external resource, and none of their links opens a URL from the
//! archive. A task per connection speaks HTTP; a few threads with one database handle each produce
//! the pages. Requests are limited in size, time and work, and a slow client does not occupy a
//! thread. `request.rs` parses requests, `selection.rs` queries the database, `raw.rs` reads the
//! scanned files, `answer.rs` selects the page for a request, and `pages.rs` renders it.

mod answer;
mod pages;
mod raw;
mod request;
mod selection;

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::load::{LoadError, open_to_read};
use answer::{Answer, Answerer, Body, RowsPiece, fixed_answer};
use request::{Filter, Request};
use urlspool_files::listener::serve_clients;
use urlspool_files::sink::random_bytes;
use urlspool_text::limits::{
    BROWSE_ANSWER_SECONDS, BROWSE_CONNECTIONS, BROWSE_HEADER_FIELDS, BROWSE_PATH_SLASHES,
    BROWSE_QUERY_SECONDS, BROWSE_REQUEST_BYTES, BROWSE_REQUEST_SECONDS, BROWSE_THREADS,
};

/// A server for one database.
#[derive(Debug)]
pub struct Browser {
    listener: TcpListener,
    address: SocketAddr,
    database: PathBuf,
    files: Option<PathBuf>,
    token: Option<String>,
}

impl Browser {
    /// Opens the database at `path` and listens on an address. If other machines can reach the
    /// address, all paths start with a random token, and files are shown only if they are in
    /// `files`, which defaults to the database's folder.
    ///
    /// # Errors
    ///
    /// The database cannot be read, or listening on the address failed.
    pub fn open(
        path: &Path,
        files: Option<&Path>,
        listen: SocketAddr,
    ) -> Result<Browser, LoadError> {
        let unavailable = |error| unavailable(listen, error);
        // Check the database before listening.
        drop(open_to_read(path)?);
        let token = if listen.ip().is_loopback() {
            None
        } else {
            let bits = random_bytes::<16>().map_err(unavailable)?;
            Some(data_encoding::HEXLOWER.encode(&bits))
        };
        let folder = path.parent().map(|folder| Path::new(".").join(folder));
        let files = files.map(PathBuf::from);
        let files = files.or(folder.filter(|_| token.is_some()));
        let bound = TcpListener::bind(listen).and_then(|bound| Ok((bound.local_addr()?, bound)));
        let (address, listener) = bound.map_err(unavailable)?;
        Ok(Browser {
            listener,
            address,
            database: path.to_owned(),
            files,
            token,
        })
    }

    /// Returns the URL of the first page for a browser on this machine.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_at(match self.address.ip() {
            // Browsers cannot open an address that stands for all addresses.
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        })
    }

    /// Returns `true` if the server listens on all addresses of this machine.
    #[must_use]
    pub fn is_on_all_addresses(&self) -> bool {
        self.address.ip().is_unspecified()
    }

    /// Returns the URL of the first page for a browser on another machine. Returns `None` unless
    /// the server listens on all addresses and this machine has an address in a network.
    #[must_use]
    pub fn url_elsewhere(&self) -> Option<String> {
        let ip = network_address(self.address.ip());
        let ip = ip.filter(|_| self.is_on_all_addresses())?;
        Some(self.url_at(ip))
    }

    fn url_at(&self, ip: IpAddr) -> String {
        let address = SocketAddr::new(ip, self.address.port());
        match &self.token {
            Some(token) => format!("http://{address}/{token}/"),
            None => format!("http://{address}/"),
        }
    }

    /// Serves pages until the process ends. `failed` receives errors of accepting connections.
    ///
    /// # Errors
    ///
    /// A thread cannot be started, or the database cannot be opened again.
    pub fn serve(self, failed: impl Fn(&io::Error)) -> Result<Infallible, LoadError> {
        let lists = Arc::default();
        let mut answerers = Vec::new();
        for _ in 0..BROWSE_THREADS {
            answerers.push(Answerer {
                db: open_to_read(&self.database)?,
                path: self.database.clone(),
                files: self.files.clone(),
                lists: Arc::clone(&lists),
            });
        }
        let site = Arc::new(Site {
            answerers: Mutex::new(answerers),
            free: Arc::new(Semaphore::new(BROWSE_THREADS)),
            address: self.address,
            token: self.token,
        });
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(BROWSE_THREADS)
            .thread_name("browse")
            .enable_all()
            .build()
            .map_err(|error| unavailable(self.address, error))?;
        let mut clients = Vec::new();
        let accept = || self.listener.accept();
        serve_clients(accept, failed, |(client, _)| {
            if has_room(&mut clients) {
                clients.push(Client::start(client, &site, &runtime));
            } else {
                // Ignore a client that has disconnected.
                let _ = (&client).write(BUSY);
            }
        })
    }
}

fn unavailable(listen: SocketAddr, error: io::Error) -> LoadError {
    let message = format!(
        "cannot listen on {listen}: {error}; name another port with --listen 127.0.0.1:PORT"
    );
    LoadError::unreachable(message).caused_by(error)
}

/// Time between attempts to interrupt slow queries. An attempt has no effect if it comes between
/// two queries.
const INTERRUPT_PAUSE: Duration = Duration::from_millis(200);

/// Header fields of each response. Pages have no script, load only their style sheet, submit forms
/// only to this server, and cannot be framed.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
            frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// Response to a request whose path does not start with the token.
const NO_TOKEN: &str = "There is no such page. The address of these pages has a token that changes \
                        at each start: open the complete address that urlspool printed.\n";

/// Response to a request whose path has too many slashes for relative links back.
const TOO_DEEP: &str = "There is no page with this address, which has too many slashes. Go back to \
                        the previous page.\n";

/// Response to a connection above the limit.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\
Content-Length: 0\r\nRetry-After: 1\r\n\r\n";

/// State of the server, shared by all connections.
struct Site {
    /// Database handles that are not in use.
    answerers: Mutex<Vec<Answerer>>,
    /// One permit per handle in `answerers`.
    free: Arc<Semaphore>,
    address: SocketAddr,
    token: Option<String>,
}

/// A connection.
struct Client {
    task: JoinHandle<()>,
    /// `true` while a complete request is being answered; otherwise the connection waits for its
    /// client.
    is_at_work: Arc<AtomicBool>,
}

/// Response body: complete, or in pieces as the client reads them.
type AnswerBody = Either<Full<Bytes>, Channel<Bytes, io::Error>>;

/// Makes room for another connection by closing the one that has waited longest for its client.
/// Returns `false` if all connections are being answered.
fn has_room(clients: &mut Vec<Client>) -> bool {
    clients.retain(|client| !client.task.is_finished());
    if clients.len() < BROWSE_CONNECTIONS {
        return true;
    }
    let waits = |client: &Client| !client.is_at_work.load(Ordering::Relaxed);
    let longest = clients.iter().position(waits);
    longest.is_some_and(|at| {
        clients.remove(at).task.abort();
        true
    })
}

impl Client {
    fn start(client: TcpStream, site: &Arc<Site>, runtime: &Runtime) -> Client {
        let is_at_work = Arc::<AtomicBool>::default();
        let (site, flag) = (Arc::clone(site), Arc::clone(&is_at_work));
        let task = runtime.spawn(async move {
            // Ignore a client that has disconnected.
            let _ = serve_client(client, &site, &flag).await;
        });
        Client { task, is_at_work }
    }
}

/// Answers one request within the time limit.
async fn serve_client(client: TcpStream, site: &Arc<Site>, is_busy: &AtomicBool) -> io::Result<()> {
    client.set_nonblocking(true)?;
    client.set_nodelay(true)?;
    let client = TokioIo::new(tokio::net::TcpStream::from_std(client)?);
    let service = service_fn(|request| async {
        is_busy.store(true, Ordering::Relaxed);
        let response = site.respond(request).await;
        is_busy.store(false, Ordering::Relaxed);
        Ok::<_, Infallible>(response)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(BROWSE_REQUEST_SECONDS))
        .max_buf_size(BROWSE_REQUEST_BYTES)
        .max_headers(BROWSE_HEADER_FIELDS)
        .keep_alive(false)
        .title_case_headers(true)
        .serve_connection(client, service);
    let seconds = BROWSE_REQUEST_SECONDS + BROWSE_ANSWER_SECONDS;
    let served = timeout(Duration::from_secs(seconds), connection).await?;
    served.map_err(io::Error::other)
}

impl Site {
    async fn respond(self: &Arc<Self>, request: hyper::Request<Incoming>) -> Response<AnswerBody> {
        let answer = match Request::read(&request) {
            Err(refusal) => refusal_page(refusal, "", ""),
            Ok(request) => self.answer(&request).await,
        };
        let mut response = Response::new(self.body(answer.body));
        *response.status_mut() = answer.status;
        let headers = response.headers_mut();
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
        let file = answer
            .file_name
            .map(|name| format!("attachment; filename=\"{name}\""));
        if let Some(Ok(file)) = file.map(HeaderValue::try_from) {
            headers.insert(CONTENT_DISPOSITION, file);
        }
        response
    }

    async fn answer(self: &Arc<Self>, request: &Request) -> Answer {
        let path = match &self.token {
            None if !is_own_host(&request.host, self.address) => {
                let reason = format!(
                    "These pages are served under the name localhost or their address only. Open \
                     http://{}/\n",
                    self.address
                );
                return plain(StatusCode::FORBIDDEN, reason);
            }
            None => &*request.path,
            Some(token) => match path_after_token(&request.path, token) {
                Some(path) => path,
                None => return plain(StatusCode::NOT_FOUND, NO_TOKEN.to_owned()),
            },
        };
        if BROWSE_PATH_SLASHES < path.matches('/').count() {
            return plain(StatusCode::NOT_FOUND, TOO_DEEP.to_owned());
        }
        if let Some(answer) = fixed_answer(path) {
            return answer;
        }
        let (asked, query) = (path.to_owned(), request.query.clone());
        let answer = self.on_thread(move |answerer| answerer.answer(&asked, &query));
        let answer = answer.await;
        answer.unwrap_or_else(|refusal| refusal_page(refusal, path, &request.query))
    }

    /// Runs `work` on a thread with a database handle as soon as one is free. Interrupts slow
    /// queries. A panic ends only this work.
    async fn on_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Answerer) -> Result<T, StatusCode> + Send + 'static,
    ) -> Result<T, StatusCode> {
        let permit = Arc::clone(&self.free).acquire_owned().await;
        let answerer = self.answerers().pop();
        let (Ok(permit), Some(answerer)) = (permit, answerer) else {
            return Err(StatusCode::INTERNAL_SERVER_ERROR);
        };
        let interrupt = answerer.db.get_interrupt_handle();
        let site = Arc::clone(self);
        let mut work = spawn_blocking(move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&answerer)));
            site.answerers().push(answerer);
            drop(permit);
            result.unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR))
        });
        // Continues even if the client disconnects.
        let watched = tokio::spawn(async move {
            let mut patience = Duration::from_secs(BROWSE_QUERY_SECONDS);
            loop {
                if let Ok(result) = timeout(patience, &mut work).await {
                    return result.unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR));
                }
                interrupt.interrupt();
                patience = INTERRUPT_PAUSE;
            }
        });
        watched
            .await
            .unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR))
    }

    fn answerers(&self) -> MutexGuard<'_, Vec<Answerer>> {
        self.answerers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a response body. Each further piece of rows is read after the client has received
    /// the previous piece.
    fn body(self: &Arc<Self>, body: Body) -> AnswerBody {
        let (rows, mut piece) = match body {
            Body::Text(text) => return Either::Left(Full::from(text)),
            Body::Rows(_, RowsPiece { lines, next: None }) => {
                return Either::Left(Full::from(lines));
            }
            Body::Rows(rows, piece) => (rows, piece),
        };
        let (mut sender, body) = Channel::new(1);
        let site = Arc::clone(self);
        tokio::spawn(async move {
            while sender.send_data(piece.lines.into()).await.is_ok() {
                let Some(from) = piece.next else { return };
                let rows = Arc::clone(&rows);
                let next = site.on_thread(move |answerer| answerer.rows_piece(&rows, from));
                match next.await {
                    Ok(next) => piece = next,
                    Err(refusal) => return sender.abort(io::Error::other(refusal.to_string())),
                }
            }
        });
        Either::Right(body)
    }
}

/// Returns this machine's network address of the family of `any`: the source address that a
/// datagram to an outside host would have. No datagram is sent.
fn network_address(any: IpAddr) -> Option<IpAddr> {
    // Documentation addresses (RFC 5737, RFC 3849), which use the default route.
    let elsewhere: IpAddr = match any {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((elsewhere, 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_unspecified() && !ip.is_loopback()).then_some(ip)
}

/// Returns the path after the token. The comparison takes the same time for all tokens of one
/// length.
fn path_after_token<'p>(path: &'p str, token: &str) -> Option<&'p str> {
    let (first, rest) = path.split_once('/')?;
    let pairs = first.bytes().zip(token.bytes());
    let differences = pairs.fold(0, |all, (one, other)| all | (one ^ other));
    (first.len() == token.len() && differences == 0).then_some(rest)
}

/// Returns `true` if `Host` is a name or address of this machine. Another name may be someone
/// else's that was made to resolve to this machine.
fn is_own_host(host: &str, address: SocketAddr) -> bool {
    let Ok(host) = host.parse::<Authority>() else {
        return false;
    };
    let name = host.host();
    let is_own_name = name.eq_ignore_ascii_case("localhost")
        || name
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip == address.ip());
    is_own_name && host.port_u16().unwrap_or(80) == address.port()
}

/// Returns the page for a refused request, keeping the request's conditions.
fn refusal_page(refusal: StatusCode, path: &str, query: &str) -> Answer {
    let filter = Filter::of_query(query).map_or_else(|_| Filter::default(), |(filter, _)| filter);
    Answer::page(refusal, pages::refused(refusal, path, &filter))
}

/// Returns a plain text response for a client that may not see pages.
fn plain(status: StatusCode, text: String) -> Answer {
    Answer {
        content_type: "text/plain; charset=utf-8",
        ..Answer::page(status, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_accepted() {
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
            // A machine without a network has no address.
            if let Some(ip) = network_address(any) {
                assert!(!ip.is_unspecified() && !ip.is_loopback(), "{ip}");
                assert_eq!(ip.is_ipv4(), any.is_ipv4());
            }
        }
    }

    #[test]
    fn a_path_must_start_with_the_whole_token() {
        assert_eq!(path_after_token("abc/link", "abc"), Some("link"));
        for path in ["abd/link", "ab/link", "abcd/link", "abc", "", "/link"] {
            assert_eq!(path_after_token(path, "abc"), None, "{path}");
        }
    }
}
