//! Answers those who ask how the daemon stands: `urlspool status`, Prometheus, a health check. Never the network.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time that a caller has to ask and to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time after which callers are let in again when one could not be.
const BREATH: Duration = Duration::from_millis(100);

/// The time without a sign of life after which the daemon is not healthy.
const SILENCE: Duration = Duration::from_mins(1);

/// Bytes of a request that are read.
const REQUEST_BYTES: usize = 4 << 10;

/// What is told to those who ask, kept up to date by the loop.
#[derive(Clone, Debug)]
pub(crate) struct StatusSnapshot(Arc<Mutex<Told>>);

#[derive(Debug)]
struct Told {
    status: Vec<u8>,
    metrics: String,
    running: bool,
    at: Instant,
}

impl StatusSnapshot {
    pub(crate) fn new() -> StatusSnapshot {
        let told = Told {
            status: Vec::new(),
            metrics: String::new(),
            running: true,
            at: Instant::now(),
        };
        StatusSnapshot(Arc::new(Mutex::new(told)))
    }

    /// Puts up how the daemon stands.
    pub(crate) fn put(&self, status: &crate::daemon::status::Status) {
        let told = Told {
            status: status.json(),
            metrics: status.metrics(),
            running: status.state == "running" && !status.is_stalled(),
            at: Instant::now(),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }

    /// The answer to an HTTP request.
    fn answer(&self, request: &[u8]) -> String {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let healthy = told.running && told.at.elapsed() < SILENCE;
        let (code, kind, body) = if request.starts_with(b"GET /metrics ") {
            ("200 OK", "text/plain; version=0.0.4", told.metrics.as_str())
        } else if request.starts_with(b"GET /healthz ") {
            if healthy {
                ("200 OK", "text/plain", "ok\n")
            } else {
                ("503 Service Unavailable", "text/plain", "not ok\n")
            }
        } else {
            ("404 Not Found", "text/plain", "/metrics or /healthz\n")
        };
        let length = body.len();
        format!(
            "HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    }

    /// Answers at the control socket: whoever connects is told the status.
    pub(crate) fn control(&self, path: &Path) -> io::Result<()> {
        let listener = bound(path)?;
        let board = self.clone();
        std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || {
                for stream in listener.incoming().flatten() {
                    let status = board
                        .0
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .status
                        .clone();
                    // Whoever went away needs no answer.
                    let _ = stream
                        .set_write_timeout(Some(PATIENCE))
                        .and_then(|()| (&stream).write_all(&status));
                }
            })?;
        Ok(())
    }

    /// Answers HTTP at `unix:PATH` or a loopback address.
    pub(crate) fn http(&self, listen: &str) -> io::Result<()> {
        match listen.strip_prefix("unix:") {
            Some(path) => {
                let listener = bound(Path::new(path))?;
                self.accept(move || listener.accept().map(|(stream, _)| stream))
            }
            None => {
                let listener = TcpListener::bind(listen)?;
                self.accept(move || listener.accept().map(|(stream, _)| stream))
            }
        }
    }

    /// Answers those whom `next` lets in, on a thread of its own.
    fn accept<S: Caller>(
        &self,
        next: impl Fn() -> io::Result<S> + Send + 'static,
    ) -> io::Result<()> {
        let board = self.clone();
        let answering = std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || {
                loop {
                    // One who went away before we came needs no answer; of descriptors there will be more.
                    match next() {
                        Ok(stream) => board.serve(stream),
                        Err(_) => std::thread::sleep(BREATH),
                    }
                }
            });
        answering.map(|_| ())
    }

    fn serve(&self, mut stream: impl Caller) {
        // Without patience set, the next caller waits for this one.
        let _ = stream.be_patient(PATIENCE);
        let mut request = Vec::new();
        let mut piece = [0; 512];
        while memchr::memmem::find(&request, b"\r\n\r\n").is_none() && request.len() < REQUEST_BYTES
        {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(bytes) => request.extend_from_slice(&piece[..bytes]),
            }
        }
        // Whoever went away needs no answer.
        let _ = stream.write_all(self.answer(&request).as_bytes());
    }
}

/// Somebody who asks, and is given so much time for it.
trait Caller: Read + Write {
    /// Sets the time to ask and to take the answer.
    fn be_patient(&self, time: Duration) -> io::Result<()>;
}

impl Caller for UnixStream {
    fn be_patient(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))
            .and_then(|()| self.set_write_timeout(Some(time)))
    }
}

impl Caller for TcpStream {
    fn be_patient(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))
            .and_then(|()| self.set_write_timeout(Some(time)))
    }
}

/// A socket at `path`, for the owner and the group. One that nobody listens at is taken over.
fn bound(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if UnixStream::connect(path).is_err() && fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
    Ok(listener)
}

/// What the daemon says at its control socket; nothing if none answers.
pub(crate) fn ask(path: &Path) -> io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
