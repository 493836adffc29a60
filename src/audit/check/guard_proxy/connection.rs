//! One connection of the link checker to the proxy.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use super::http_head::{
    ProxyRequest, answer_for_checker, is_interim, proxy_request, read_head, request_for_server,
};
use super::{NOT_REACHED, Shared};
use crate::limits::{AUDIT_CONNECTION_BYTES, AUDIT_IDLE_SECONDS};

/// Serves one request.
///
/// # Errors
///
/// The checker closed the connection, or does not speak HTTP.
pub(super) fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
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
