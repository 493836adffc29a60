//! The guard of an audit's connections: it connects to public addresses only.
//!
//! It judges the host of a URL, looks up its name once, judges all its addresses, and connects to one
//! of those that it judged. So neither a redirect, a name with a private address, nor an answer of the
//! name service that changes leads to a private host.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use url::{Host, Url};

use super::public_host::{is_among, is_public, is_public_address};
use super::state::CheckFailure;
use crate::limits::AUDIT_CONNECT_SECONDS;

/// Name of a server of the root of the name service, which has the same addresses since 1997.
const ROOT_SERVER: &str = "k.root-servers.net";

/// Signs of a network that works. Hosts that were allowed although they are private are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NetworkSigns {
    /// A public server accepted a connection.
    pub(super) has_connection: bool,
    /// The name service has found public addresses.
    pub(super) has_name_service: bool,
}

/// Resolves a name and a port.
pub(super) type Resolve = Box<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// Returns the resolver of the system.
pub(super) fn system_resolver() -> Resolve {
    Box::new(|name, port| Ok((name, port).to_socket_addrs()?.collect()))
}

/// Rules by which hosts are connected to.
pub(super) struct HostRules {
    /// Names, and addresses, that may be private.
    private_hosts: Vec<String>,
    resolve: Resolve,
    has_connection: AtomicBool,
    has_name_service: AtomicBool,
}

impl HostRules {
    /// Creates rules that permit `private_hosts` beside public hosts, and resolve names as this
    /// machine does.
    pub(super) fn of_system(private_hosts: &[String]) -> HostRules {
        HostRules::new(private_hosts, system_resolver())
    }

    pub(super) fn new(private_hosts: &[String], resolve: Resolve) -> HostRules {
        HostRules {
            private_hosts: private_hosts.to_vec(),
            resolve,
            has_connection: AtomicBool::new(false),
            has_name_service: AtomicBool::new(false),
        }
    }

    /// Returns the signs that were seen that this machine has a network.
    pub(super) fn network_signs(&self) -> NetworkSigns {
        NetworkSigns {
            has_connection: self.has_connection.load(Ordering::Relaxed),
            has_name_service: self.has_name_service.load(Ordering::Relaxed),
        }
    }

    /// Looks up a name that exists as long as the name service does, which contacts that service
    /// alone. Returns `true` if it has public addresses.
    pub(super) fn finds_root_server(&self) -> bool {
        self.finds_name(ROOT_SERVER)
    }

    /// Resolves a name. Returns `true` if it has addresses, and all are public.
    fn finds_name(&self, name: &str) -> bool {
        let found = (self.resolve)(name, DNS_PORT).unwrap_or_default();
        !found.is_empty() && found.iter().all(is_public_socket)
    }

    /// Connects to the host of a URL, if it is public and all its addresses are.
    pub(super) fn connect(&self, url: &Url) -> Result<TcpStream, CheckFailure> {
        let addresses = self.addresses(url)?;
        let deadline = Instant::now() + Duration::from_secs(AUDIT_CONNECT_SECONDS);
        let mut failures = Vec::new();
        for (at, address) in addresses.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / (addresses.len() - at) as u32;
            match TcpStream::connect_timeout(address, share.max(Duration::from_millis(1))) {
                Ok(stream) => {
                    if is_public_socket(address) {
                        self.has_connection.store(true, Ordering::Relaxed);
                    }
                    return Ok(stream);
                }
                Err(error) => failures.push(connect_failure(&error)),
            }
        }
        // An address that refuses says more than one that this machine has no way to.
        failures.sort_unstable();
        Err(failures.first().copied().unwrap_or(CheckFailure::Dns))
    }

    /// Asks the name service for the addresses of a host.
    fn resolved(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, CheckFailure> {
        let found = (self.resolve)(host, port).map_err(|error| resolve_failure(&error))?;
        if found.iter().any(is_public_socket) {
            self.has_name_service.store(true, Ordering::Relaxed);
        }
        Ok(found)
    }

    /// Returns the addresses of a host that is to be connected to.
    pub(super) fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, CheckFailure> {
        let port = url.port_or_known_default().ok_or(CheckFailure::Excluded)?;
        let host = url.host_str().unwrap_or_default();
        let is_allowed = |host: &str| is_among(host, &self.private_hosts);
        if !is_public(url) && !is_allowed(host) {
            return Err(CheckFailure::Excluded);
        }
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), port)],
            Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), port)],
            _ => self.resolved(host, port)?,
        };
        let is_named = |address: IpAddr| {
            let in_url: Host<&str> = match address {
                IpAddr::V4(address) => Host::Ipv4(address),
                IpAddr::V6(address) => Host::Ipv6(address),
            };
            is_allowed(&in_url.to_string())
        };
        let may_connect =
            |address: IpAddr| is_public_address(address) || is_allowed(host) || is_named(address);
        if addresses.iter().all(|address| may_connect(address.ip())) {
            Ok(addresses)
        } else {
            Err(CheckFailure::Excluded)
        }
    }
}

/// The port of the name service.
const DNS_PORT: u16 = 53;

fn is_public_socket(address: &SocketAddr) -> bool {
    is_public_address(address.ip())
}

/// The failure of a name service: a name that does not exist, or a service that does not answer,
/// which proves nothing.
///
/// The standard library has no other form of these errors than the words of the C library.
pub(super) fn resolve_failure(error: &io::Error) -> CheckFailure {
    let text = error.to_string();
    let is_temporary = [
        "Temporary failure",
        "Try again",
        "System error",
        "Out of memory",
    ]
    .iter()
    .any(|words| text.contains(words));
    if is_temporary {
        CheckFailure::Other
    } else {
        CheckFailure::Dns
    }
}

/// The failure of a connection. Without a network of its own this machine proves nothing.
pub(super) fn connect_failure(error: &io::Error) -> CheckFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable => CheckFailure::Connect,
        ErrorKind::TimedOut | ErrorKind::WouldBlock => CheckFailure::Timeout,
        _ => CheckFailure::Other,
    }
}
