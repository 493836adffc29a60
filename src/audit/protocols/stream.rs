//! A connection with bounds in bytes and time, of which lines are read.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::audit::state::CheckFailure;
use crate::limits::{PROTOCOL_REPLY_BYTES, PROTOCOL_SECONDS};

/// A connection that ends when its bytes or its time are used up.
pub(super) struct BoundStream {
    stream: TcpStream,
    deadline: Instant,
    /// Bytes that were read and not used.
    rest: Vec<u8>,
    left: usize,
}

impl BoundStream {
    pub(super) fn new(stream: TcpStream) -> BoundStream {
        BoundStream {
            stream,
            deadline: Instant::now() + Duration::from_secs(PROTOCOL_SECONDS),
            rest: Vec::new(),
            left: PROTOCOL_REPLY_BYTES,
        }
    }

    /// Writes a line, and CRLF.
    pub(super) fn write_line(&mut self, line: &[u8]) -> Result<(), CheckFailure> {
        self.set_timeout()?;
        self.stream
            .write_all(&[line, b"\r\n"].concat())
            .map_err(|error| failure(&error))
    }

    /// Reads a line without its end; the bytes before the end of the connection, if it ends.
    /// Returns `None` after the last one.
    pub(super) fn read_line(&mut self) -> Result<Option<Vec<u8>>, CheckFailure> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let rest = self.rest.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.rest, rest);
                line.truncate(line.trim_ascii_end().len());
                return Ok(Some(line));
            }
            if self.read_more()? == 0 {
                let line = std::mem::take(&mut self.rest);
                return Ok((!line.is_empty()).then_some(line));
            }
        }
    }

    fn read_more(&mut self) -> Result<usize, CheckFailure> {
        let mut buffer = [0; 4_096];
        let len = buffer.len().min(self.left);
        if len == 0 {
            return Ok(0);
        }
        self.set_timeout()?;
        let read = loop {
            match self.stream.read(&mut buffer[..len]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(|error| failure(&error))?,
            }
        };
        self.left -= read;
        self.rest.extend_from_slice(&buffer[..read]);
        Ok(read)
    }

    fn set_timeout(&self) -> Result<(), CheckFailure> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CheckFailure::Timeout);
        }
        let both = self
            .stream
            .set_read_timeout(Some(left))
            .and_then(|()| self.stream.set_write_timeout(Some(left)));
        both.map_err(|error| failure(&error))
    }
}

fn failure(error: &io::Error) -> CheckFailure {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => CheckFailure::Timeout,
        _ => CheckFailure::Other,
    }
}
