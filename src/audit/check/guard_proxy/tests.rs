//! The proxy with servers on the loopback interface, and a name service that the test invents.

use std::io::{ErrorKind, Read, Write};
use std::net::IpAddr;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::audit::guard::{connect_failure, resolve_failure};
use crate::audit::public_host::host_in_url;

/// A server that counts its connections, and answers each request.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn start(answer: &'static str) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Server {
            address,
            connections,
        }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// The answer of the proxy to a request.
fn asked(proxy: &GuardProxy, request: &str) -> String {
    let mut stream = TcpStream::connect(proxy.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn get(proxy: &GuardProxy, url: &str) -> String {
    asked(proxy, &format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n"))
}

fn failure(proxy: &GuardProxy, url: &str) -> Option<CheckFailure> {
    proxy
        .shared
        .failures()
        .get(&host_and_port(url).unwrap())
        .copied()
}

/// Private addresses in notations that servers, pages and name services may use.
fn private_addresses() -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = [
        "::1",
        "::ffff:127.0.0.1",
        "fe80::1",
        "fc00::7",
        "::",
        "64:ff9b::a00:1",
    ]
    .map(|address| address.parse().unwrap())
    .to_vec();
    let mut state = 1_u32;
    for network in [
        [127, 0],
        [10, 0],
        [192, 168],
        [169, 254],
        [172, 16],
        [100, 64],
        [0, 0],
    ] {
        for _ in 0..20 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [a, b] = network;
            addresses.push(IpAddr::from([
                a,
                b,
                (state >> 24) as u8,
                (state >> 16) as u8,
            ]));
        }
    }
    addresses.push("127.0.0.1".parse().unwrap());
    addresses
}

#[test]
fn a_private_address_is_refused_in_every_notation() {
    let server = Server::start("HTTP/1.1 200 OK\r\n\r\n");
    let proxy = GuardProxy::with_resolver(&[], system_resolver()).unwrap();
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "0x7f000001",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "0",
        "[::]",
        "%31%32%37.1",
    ] {
        let url = format!("http://{host}:{port}/");
        assert!(get(&proxy, &url).starts_with("HTTP/1.1 599"), "{host}");
        assert_eq!(
            failure(&proxy, &url),
            Some(CheckFailure::Excluded),
            "{host}"
        );
        let tunnel = asked(&proxy, &format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n"));
        assert!(!tunnel.starts_with("HTTP/1.1 200"), "{host}: {tunnel}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_name_that_resolves_to_a_private_address_is_refused() {
    let server = Server::start("HTTP/1.1 200 OK\r\n\r\n");
    let port = server.address.port();
    let addresses = private_addresses();
    let resolved = addresses.clone();
    // `n7.cern.ch` has the seventh address, beside a public one.
    let resolve: Resolve = Box::new(move |name, port| {
        let number = name.trim_start_matches('n').split('.').next().unwrap();
        let public = SocketAddr::new("192.0.1.1".parse().unwrap(), port);
        Ok(vec![
            public,
            SocketAddr::new(resolved[number.parse::<usize>().unwrap()], port),
        ])
    });
    let proxy = GuardProxy::with_resolver(&[], resolve).unwrap();
    for (number, address) in addresses.iter().enumerate() {
        let url = format!("http://n{number}.cern.ch:{port}/");
        assert!(get(&proxy, &url).starts_with("HTTP/1.1 599"), "{address}");
        assert_eq!(failure(&proxy, &url), Some(CheckFailure::Excluded), "{url}");
    }
    assert_eq!(server.connections(), 0);
}

/// The address that was judged is the one that is connected to, though the name has another one by
/// then.
#[test]
fn a_name_is_resolved_once() {
    let server = Server::start("");
    let asked_for = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked_for);
    let resolve: Resolve = Box::new(move |_, port| {
        let is_first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        let address = if is_first {
            [127, 0, 0, 1]
        } else {
            [127, 0, 0, 2]
        };
        Ok(vec![SocketAddr::new(IpAddr::from(address), port)])
    });
    let rules = HostRules::new(&["127.0.0.1".to_owned()], resolve);
    let port = server.address.port();
    let url = Url::parse(&format!("http://rebind.cern.ch:{port}/")).unwrap();
    let connected = rules.connect(&url).unwrap();
    assert_eq!(connected.peer_addr().unwrap(), server.address);
    assert_eq!(asked_for.load(Ordering::SeqCst), 1);
    assert_eq!(rules.connect(&url).err(), Some(CheckFailure::Excluded));
}

#[test]
fn an_allowed_host_or_address_is_reached() {
    let server = Server::start("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nhello");
    let port = server.address.port();
    let resolve = || -> Resolve { Box::new(|_, port| Ok(vec![([127, 0, 0, 1], port).into()])) };
    for (allowed, host) in [
        ("wiki", "wiki"),
        ("127.0.0.1", "www.cern.ch"),
        ("127.0.0.1", "127.1"),
    ] {
        let proxy = GuardProxy::with_resolver(&[allowed.to_owned()], resolve()).unwrap();
        let answer = get(&proxy, &format!("http://{host}:{port}/a"));
        assert_eq!(
            answer, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
            "{host}"
        );
        let other = get(&proxy, &format!("http://intranet:{port}/a"));
        assert!(other.starts_with("HTTP/1.1 599"), "{other}");
    }
    assert_eq!(server.connections(), 3);
}

#[test]
fn reasons_of_failures_are_known() {
    let resolve: Resolve = Box::new(|name, port| match name {
        "gone.cern.ch" => Err(io::Error::other("Name or service not known")),
        _ => Ok(vec![([127, 0, 0, 1], port).into()]),
    });
    let proxy = GuardProxy::with_resolver(&["127.0.0.1".to_owned()], resolve).unwrap();
    // Bound and closed again: nobody listens there.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let closing = Server::start("");
    let refused = format!("http://www.cern.ch:{port}/");
    let gone = "http://gone.cern.ch/".to_owned();
    let silent = format!("http://www.cern.ch:{}/", closing.address.port());
    for url in [&refused, &gone, &silent] {
        assert!(get(&proxy, url).starts_with("HTTP/1.1 599"), "{url}");
    }
    for (url, expected) in [
        (refused, CheckFailure::Connect),
        (gone, CheckFailure::Dns),
        (silent, CheckFailure::Other),
    ] {
        let answer = Answer {
            url: url.clone(),
            asked_url: url,
            outcome: CheckOutcome::Status(NOT_REACHED),
            final_url: None,
        };
        assert_eq!(
            proxy.explained(answer).outcome,
            CheckOutcome::Failed(expected)
        );
    }
}

#[test]
fn a_host_that_was_reached_is_not_dead() {
    let proxy = GuardProxy::with_resolver(&[], system_resolver()).unwrap();
    for failure in [CheckFailure::Connect, CheckFailure::Dns] {
        // A server that closes a connection in the handshake of TLS seems to refuse it.
        let answer = Answer {
            url: "https://www.cern.ch/".to_owned(),
            asked_url: "https://www.cern.ch/".to_owned(),
            outcome: CheckOutcome::Failed(failure),
            final_url: None,
        };
        assert_eq!(
            proxy.explained(answer).outcome,
            CheckOutcome::Failed(CheckFailure::Other)
        );
    }
}

#[test]
fn what_a_server_answered_stays() {
    let proxy = GuardProxy::with_resolver(&[], system_resolver()).unwrap();
    get(&proxy, "http://127.0.0.1/");
    for outcome in [
        CheckOutcome::Status(404),
        CheckOutcome::Failed(CheckFailure::Timeout),
    ] {
        let answer = Answer {
            url: "http://www.cern.ch/".to_owned(),
            asked_url: "http://www.cern.ch/".to_owned(),
            outcome,
            final_url: Some("http://127.0.0.1/".to_owned()),
        };
        assert_eq!(proxy.explained(answer.clone()), answer);
        let refused = Answer {
            outcome: CheckOutcome::Failed(CheckFailure::Other),
            ..answer
        };
        let expected = CheckOutcome::Failed(CheckFailure::Excluded);
        assert_eq!(
            proxy.explained(refused).outcome,
            expected,
            "the end of a redirect"
        );
    }
}

#[test]
fn an_allowed_address_is_read_in_every_notation() {
    let host_at = |address: &'static str, allowed: &str| {
        let resolve =
            move |_: &str, port| Ok(vec![SocketAddr::new(address.parse().unwrap(), port)]);
        let rules = HostRules::new(&[allowed.to_owned()], Box::new(resolve));
        let url = |host: &str| Url::parse(&format!("http://{host}/")).unwrap();
        [address, "h.cern.ch"].map(|host| {
            let in_url = host_in_url(host).unwrap();
            rules.addresses(&url(&in_url)).is_ok()
        })
    };
    for (address, allowed) in [
        ("::1", "::1"),
        ("::1", "[::1]"),
        ("fd00::1", "FD00:0::1"),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("10.0.0.1", "::ffff:10.0.0.1"),
        ("127.0.0.1", "127.1"),
    ] {
        assert_eq!(host_at(address, allowed), [true, true], "{allowed}");
    }
    assert_eq!(host_at("::1", "::2"), [false, false]);
}

#[test]
fn only_a_name_that_does_not_exist_is_a_dead_host() {
    let error =
        |text: &str| io::Error::other(format!("failed to lookup address information: {text}"));
    for (text, expected) in [
        ("Name or service not known", CheckFailure::Dns),
        ("No address associated with hostname", CheckFailure::Dns),
        ("Name does not resolve", CheckFailure::Dns),
        ("Temporary failure in name resolution", CheckFailure::Other),
        ("Try again", CheckFailure::Other),
    ] {
        assert_eq!(resolve_failure(&error(text)), expected, "{text}");
    }
}

#[test]
fn a_network_that_is_down_is_no_dead_host() {
    for (kind, expected) in [
        (ErrorKind::ConnectionRefused, CheckFailure::Connect),
        (ErrorKind::HostUnreachable, CheckFailure::Connect),
        (ErrorKind::TimedOut, CheckFailure::Timeout),
        (ErrorKind::NetworkUnreachable, CheckFailure::Other),
        (ErrorKind::NetworkDown, CheckFailure::Other),
    ] {
        assert_eq!(connect_failure(&kind.into()), expected, "{kind}");
    }
}

#[test]
fn only_public_hosts_are_signs_of_a_network() {
    let server = Server::start("HTTP/1.1 200 OK\r\n\r\n");
    let port = server.address.port();
    let address = |name: &str| match name {
        "h.cern.ch" => Ok(vec!["192.0.78.1:1".parse().unwrap()]),
        "k.root-servers.net" => Ok(vec!["193.0.14.129:53".parse().unwrap()]),
        "wiki" | "inside.cern.ch" => Ok(vec!["127.0.0.1:1".parse().unwrap()]),
        _ => Err(io::Error::other("Name or service not known")),
    };
    let resolve: Resolve = Box::new(move |name, port| {
        let found: io::Result<Vec<SocketAddr>> = address(name);
        found.map(|found| {
            let ports = found.into_iter();
            ports.map(|of| SocketAddr::new(of.ip(), port)).collect()
        })
    });
    let proxy = GuardProxy::with_resolver(&["wiki".to_owned()], resolve).unwrap();
    assert!(get(&proxy, &format!("http://wiki:{port}/")).contains("200 OK"));
    get(&proxy, "http://inside.cern.ch/");
    get(&proxy, "http://gone.cern.ch/");
    assert_eq!(server.connections(), 1);
    assert_eq!(proxy.network_signs(), NetworkSigns::default());
    let url = Url::parse("http://h.cern.ch/").unwrap();
    assert!(proxy.shared.rules.addresses(&url).is_ok());
    assert!(proxy.network_signs().has_name_service);
    assert!(!proxy.network_signs().has_connection);
    assert!(proxy.finds_root_server());
    let none: Resolve = Box::new(|_, _| Err(io::Error::other("Temporary failure")));
    let proxy = GuardProxy::with_resolver(&[], none).unwrap();
    assert!(!proxy.finds_root_server());
    let inside: Resolve = Box::new(|_, port| Ok(vec![SocketAddr::new([10, 0, 0, 1].into(), port)]));
    let proxy = GuardProxy::with_resolver(&[], inside).unwrap();
    assert!(!proxy.finds_root_server(), "a gateway that answers for all");
}

#[test]
fn a_head_ends_at_the_empty_line() {
    for text in ["GET / x\r\na: b\r\n\r\nrest", "GET / x\na: b\n\nrest"] {
        let read = read_head(&mut text.as_bytes(), Vec::new()).unwrap();
        assert_eq!(read.rest, b"rest");
        let later = read_head(&mut &text.as_bytes()[5..], text.as_bytes()[..5].to_vec());
        assert_eq!(later.unwrap(), read);
    }
    let cut = read_head(&mut &b"GET / x\r\na"[..], Vec::new()).unwrap();
    assert_eq!(
        (cut.head.as_slice(), cut.rest.len()),
        (&b"GET / x\r\na"[..], 0)
    );
}

#[test]
fn requests_to_a_proxy_are_parsed() {
    let shown = |head: &str| match proxy_request(head.as_bytes()) {
        Some(ProxyRequest::Connect(url)) => format!("connect {url}"),
        Some(ProxyRequest::Forward(url)) => format!("forward {url}"),
        None => "none".to_owned(),
    };
    for (line, expected) in [
        ("CONNECT h.test:443 HTTP/1.1\r\n", "connect https://h.test/"),
        ("CONNECT [::1]:80 HTTP/1.1\r\n", "connect https://[::1]:80/"),
        (
            "GET http://H.test:8080/a?b HTTP/1.1\r\n",
            "forward http://h.test:8080/a?b",
        ),
        (
            "GET http://0x7f.1/ HTTP/1.1\r\n",
            "forward http://127.0.0.1/",
        ),
        ("GET /a HTTP/1.1\r\n", "none"),
        ("GET ftp://h.test/ HTTP/1.1\r\n", "none"),
        ("GET file:///etc/passwd HTTP/1.1\r\n", "none"),
        ("", "none"),
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}

#[test]
fn a_request_is_for_the_server_and_its_only_one() {
    let head = b"GET http://h.test?x=%7E HTTP/1.1\r\nHost: h.test\r\nProxy-Connection: keep-alive\r\nconnection: a,\r\n b\r\nAccept: *\r\n\r\n";
    let expected =
        b"GET /?x=%7E HTTP/1.1\r\nHost: h.test\r\nAccept: *\r\nConnection: close\r\n\r\n";
    assert_eq!(request_for_server(head), expected);
    assert_eq!(origin_form(b"http://h.test/a/../b?c"), b"/a/../b?c");
    assert_eq!(origin_form(b"http://h.test"), b"/");
}

#[test]
fn an_answer_closes_the_connection() {
    let head = b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n";
    let expected = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_eq!(answer_for_checker(head), expected);
    assert!(is_interim(b"HTTP/1.1 103 Early Hints\r\n\r\n"));
    assert!(!is_interim(b"HTTP/1.1 101 Switching\r\n\r\n"));
    assert!(!is_interim(b"HTTP/1.1 200 OK\r\n\r\n"));
}
