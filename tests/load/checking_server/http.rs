//! The parts of HTTP/1.1 that the checking server needs.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

/// A request, with its body as received.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&String> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value)
    }
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<u64>,
    body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(status: u16, body: &Value) -> Answer {
        Answer {
            status,
            retry_after: None,
            body: body.to_string().into_bytes(),
        }
    }

    pub(super) fn empty(status: u16) -> Answer {
        Answer {
            status,
            retry_after: None,
            body: Vec::new(),
        }
    }

    pub(super) fn error(status: u16, kind: &str, reason: &str) -> Answer {
        let error = json!({"error": {"type": kind, "reason": reason}, "status": status});
        Answer::json(status, &error)
    }
}

/// Reads a request. Returns `None` at the end of the connection.
pub(super) fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_ascii_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            None => break,
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
        }
    }
    let mut request = Request {
        method,
        path,
        headers,
        body: Vec::new(),
    };
    let length = request.header("content-length");
    let length = length.map_or(0, |length| length.parse().expect("a length is a number"));
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

/// Writes a response, or its first half.
pub(super) fn write_answer(
    stream: &mut impl Write,
    answer: &Answer,
    is_whole: bool,
) -> io::Result<()> {
    let mut bytes = format!(
        "HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        answer.status,
        answer.body.len()
    )
    .into_bytes();
    if let Some(seconds) = answer.retry_after {
        bytes.extend_from_slice(format!("Retry-After: {seconds}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&answer.body);
    let end = if is_whole {
        bytes.len()
    } else {
        bytes.len() / 2
    };
    stream.write_all(&bytes[..end])?;
    stream.flush()
}
