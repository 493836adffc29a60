//! A small HTTP server on the loopback interface.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request received by the server.
#[derive(Clone, Debug)]
pub(crate) struct SeenRequest {
    /// The path and query.
    pub(crate) target: String,
    /// The header fields, in lower case.
    pub(crate) head: String,
    /// The body, if the request states its length.
    pub(crate) body: String,
}

/// A running server. It ends with the process.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
}

impl HttpServer {
    /// Starts a server. `answer` receives a request and its number, counted from 0, and returns the
    /// whole response. An empty response closes the connection.
    pub(crate) fn start(
        answer: impl Fn(&SeenRequest, usize) -> String + Send + Sync + 'static,
    ) -> HttpServer {
        HttpServer::at("127.0.0.1", answer)
    }

    /// Starts a server at another local address.
    pub(crate) fn at(
        address: &str,
        answer: impl Fn(&SeenRequest, usize) -> String + Send + Sync + 'static,
    ) -> HttpServer {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (all, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &all, &*answer));
            }
        });
        HttpServer { address, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<SeenRequest>>,
    answer: &dyn Fn(&SeenRequest, usize) -> String,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = reader.by_ref().lines();
    let Some(Ok(first)) = lines.next() else {
        return;
    };
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let fields: Vec<_> = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    let head = fields.join("\n").to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.trim().parse().unwrap());
    let mut body = String::new();
    let _ = reader.take(length).read_to_string(&mut body);
    let request = SeenRequest { target, head, body };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    let _ = stream.write_all(answer(&request, number).as_bytes());
}

/// Formats a response with a status line, header fields that end with CRLF, and a body.
pub(crate) fn answer(status: &str, fields: &str, body: &str) -> String {
    let len = body.len();
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {len}\r\nConnection: close\r\n\r\n{body}")
}
