//! Serves the status, on this machine only: at the control socket for `urlspool status`, and by
//! HTTP for Prometheus and health checks. Sockets in the file system are accessible to owner and
//! group, and removed when the daemon ends.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::start_thread;
use crate::status::Status;
use urlspool_files::listener::serve_clients;
use urlspool_sources::walk::DeviceInode;

/// Time limit for a client to send its request and receive the answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum age of the snapshot of a healthy daemon.
const MAX_AGE: Duration = Duration::from_mins(1);

/// Maximum number of bytes read of a request.
const REQUEST_BYTES: usize = 4 << 10;

/// The last status, shared by the supervisor, which updates it, and the threads that serve it.
#[derive(Clone)]
pub(super) struct StatusSnapshot(Arc<Mutex<DatedStatus>>);

struct DatedStatus {
    status: Status,
    updated: Instant,
}

impl DatedStatus {
    fn now(status: Status) -> DatedStatus {
        let updated = Instant::now();
        DatedStatus { status, updated }
    }
}

impl StatusSnapshot {
    pub(super) fn new(status: Status) -> StatusSnapshot {
        StatusSnapshot(Arc::new(Mutex::new(DatedStatus::now(status))))
    }

    pub(super) fn update(&self, status: Status) {
        *self.lock() = DatedStatus::now(status);
    }

    /// Serves the status as JSON at the control socket, on a separate thread.
    pub(super) fn serve_control(&self, path: &Path) -> io::Result<SocketFile> {
        // This process holds the lock of the state, so no other daemon serves the socket. One that
        // is being killed may still have it open.
        let _ = fs::remove_file(path);
        self.serve_unix("control", path, |snapshot, mut client| {
            let json = snapshot.lock().status.json();
            // The client may be gone already.
            let _ = client.write_all(&json);
        })
    }

    /// Serves HTTP at `unix:PATH` or a loopback address, on a separate thread. Returns the address
    /// for the log, and the name of the socket if it is in the file system.
    pub(super) fn serve_http(&self, listen: &str) -> io::Result<(String, Option<SocketFile>)> {
        if let Some(path) = listen.strip_prefix("unix:") {
            let path = Path::new(path);
            let file = self.serve_unix("metrics", path, StatusSnapshot::answer_http)?;
            return Ok((listen.to_owned(), Some(file)));
        }
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let accept = move || {
            let (client, _) = listener.accept()?;
            client.set_read_timeout(Some(CLIENT_TIMEOUT))?;
            client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
            Ok(client)
        };
        self.serve("metrics", accept, StatusSnapshot::answer_http)?;
        Ok((format!("http://{address}/metrics"), None))
    }

    /// Serves a socket in the file system.
    fn serve_unix(
        &self,
        name: &'static str,
        path: &Path,
        answer: fn(&StatusSnapshot, UnixStream),
    ) -> io::Result<SocketFile> {
        let (listener, file) = SocketFile::bind(path)?;
        let accept = move || {
            let (client, _) = listener.accept()?;
            client.set_read_timeout(Some(CLIENT_TIMEOUT))?;
            client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
            Ok(client)
        };
        self.serve(name, accept, answer)?;
        Ok(file)
    }

    /// Starts a thread that calls `answer` for each client.
    fn serve<C>(
        &self,
        name: &'static str,
        accept: impl Fn() -> io::Result<C> + Send + 'static,
        answer: impl Fn(&StatusSnapshot, C) + Send + 'static,
    ) -> io::Result<()> {
        let snapshot = self.clone();
        let refused = move |error: &io::Error| {
            tracing::warn!("cannot accept clients of the {name} socket, waiting: {error}");
        };
        let serve = move || serve_clients(accept, refused, |client| answer(&snapshot, client));
        start_thread(name, serve)
    }

    /// Answers one HTTP request.
    fn answer_http<C: Read + Write>(&self, mut client: C) {
        let request = read_request(&mut client);
        let answer = self.answer(&request);
        // The client may be gone already.
        let _ = client.write_all(answer.as_bytes());
    }

    fn lock(&self) -> MutexGuard<'_, DatedStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to an HTTP request.
    fn answer(&self, request: &[u8]) -> String {
        const UNHEALTHY: &str = "503 Service Unavailable";
        let DatedStatus { status, updated } = &*self.lock();
        if request.starts_with(b"GET /metrics ") {
            let metrics = status.metrics();
            return http_answer("200 OK", "text/plain; version=0.0.4", &metrics);
        }
        let issues = status.health_issues();
        let not_ok = format!("not ok\n{}\n", issues.join("\n"));
        let (status, body) = if !request.starts_with(b"GET /healthz ") {
            ("404 Not Found", "/metrics or /healthz\n")
        } else if MAX_AGE <= updated.elapsed() {
            let text = "not ok\nthe daemon no longer updates its status\n";
            (UNHEALTHY, text)
        } else if issues.is_empty() {
            ("200 OK", "ok\n")
        } else {
            (UNHEALTHY, &*not_ok)
        };
        http_answer(status, "text/plain", body)
    }
}

/// The control socket of the daemon with its state in this folder.
pub(super) fn control_socket(state_dir: &Path) -> PathBuf {
    state_dir.join("control.sock")
}

/// Asks the daemon with its state in this folder for its status, one line of JSON.
///
/// # Errors
///
/// No daemon answers.
pub fn ask(state_dir: &Path) -> io::Result<String> {
    let mut stream = UnixStream::connect(control_socket(state_dir))?;
    stream.set_read_timeout(Some(CLIENT_TIMEOUT))?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn http_answer(status: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: \
         {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Reads a request up to the end of its header: at most [`REQUEST_BYTES`] plus the rest of one
/// read.
fn read_request(client: &mut impl Read) -> Vec<u8> {
    let mut request = Vec::new();
    let mut buffer = [0; 512];
    let started = Instant::now();
    while memchr::memmem::find(&request, b"\r\n\r\n").is_none()
        && request.len() < REQUEST_BYTES
        && started.elapsed() < CLIENT_TIMEOUT
    {
        match client.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(bytes) => request.extend_from_slice(&buffer[..bytes]),
        }
    }
    request
}

/// The name of a bound socket. It is removed on drop, unless another socket has replaced it. While
/// the socket listens, no other socket has its inode number.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    id: DeviceInode,
}

impl SocketFile {
    /// Creates a socket for owner and group, as far as the umask allows. Replaces a socket without
    /// a listener.
    ///
    /// # Errors
    ///
    /// The system's error; `EADDRINUSE` if another process listens there.
    fn bind(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if UnixStream::connect(path).is_err() && fs::symlink_metadata(path).is_ok() {
            fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        let metadata = fs::symlink_metadata(path)?;
        let file = SocketFile {
            path: path.to_owned(),
            id: DeviceInode::of(&metadata),
        };
        // The group needs write permission to connect, but the umask of a daemon removes it from
        // the bound socket.
        let group = (metadata.mode() & 0o040) >> 1;
        fs::set_permissions(
            path,
            fs::Permissions::from_mode(metadata.mode() & 0o640 | group),
        )?;
        Ok((listener, file))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_own =
            fs::symlink_metadata(&self.path).is_ok_and(|found| DeviceInode::of(&found) == self.id);
        if is_own {
            // The socket has no listener now, so the next start replaces a name that cannot be
            // removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_removed_by_its_owner_only() {
        let path = std::env::temp_dir().join(format!("urlspool-socket-{}", std::process::id()));
        let (listener, file) = SocketFile::bind(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o117, 0);
        let taken = SocketFile::bind(&path).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        fs::remove_file(&path).unwrap();
        let (_next, next_file) = SocketFile::bind(&path).unwrap();
        drop(file);
        assert!(path.exists(), "the socket of the next daemon");
        drop(next_file);
        assert!(!path.exists());
        drop(listener);
    }
}
