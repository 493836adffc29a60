//! Restricts an audit's connections to public addresses.
//!
//! The guard checks the host of a URL, resolves its name once, checks all addresses, and connects
//! to one of these addresses. Therefore neither a redirect, nor a name with a private address, nor
//! a change of the name's address can make it connect to a private host.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use url::{Host, Url};

use super::public_host::{is_among, is_public, is_public_address};
use super::state::CheckFailure;
use urlspool_text::limits::AUDIT_CONNECT_SECONDS;

/// Name of a DNS root server, whose addresses have not changed since 1997.
const ROOT_SERVER: &str = "k.root-servers.net";

/// Evidence that the network works. Private hosts that are allowed do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NetworkSigns {
    /// A public server accepted a connection.
    pub(super) has_connection: bool,
    /// DNS returned a public address.
    pub(super) has_name_service: bool,
}

/// Resolves a host name and port.
pub(super) type Resolve = Box<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// Rules for connecting to hosts.
pub(super) struct HostRules {
    /// Names and addresses that may be private.
    private_hosts: Vec<String>,
    resolve: Resolve,
    has_connection: AtomicBool,
    has_name_service: AtomicBool,
}

impl HostRules {
    /// Creates rules that allow public hosts and `private_hosts`, and resolve names with the
    /// system's resolver.
    pub(super) fn of_system(private_hosts: &[String]) -> HostRules {
        HostRules::new(
            private_hosts,
            Box::new(|name, port| Ok((name, port).to_socket_addrs()?.collect())),
        )
    }

    pub(super) fn new(private_hosts: &[String], resolve: Resolve) -> HostRules {
        HostRules {
            private_hosts: private_hosts.to_vec(),
            resolve,
            has_connection: AtomicBool::new(false),
            has_name_service: AtomicBool::new(false),
        }
    }

    /// Returns the evidence for a working network since the last call.
    pub(super) fn take_network_signs(&self) -> NetworkSigns {
        NetworkSigns {
            has_connection: self.has_connection.swap(false, Ordering::Relaxed),
            has_name_service: self.has_name_service.swap(false, Ordering::Relaxed),
        }
    }

    /// Resolves a name that exists as long as DNS does, which contacts only the DNS server. Returns
    /// `true` if it has public addresses.
    pub(super) fn finds_root_server(&self) -> bool {
        let found = (self.resolve)(ROOT_SERVER, DNS_PORT).unwrap_or_default();
        !found.is_empty() && found.iter().all(is_public_socket)
    }

    /// Connects to the host of a URL if it and all its addresses are public.
    pub(super) fn connect(&self, url: &Url) -> Result<TcpStream, CheckFailure> {
        let time = Duration::from_secs(AUDIT_CONNECT_SECONDS);
        self.connect_to(&self.addresses(url)?, time)
    }

    /// Connects to one of a host's addresses, which must have been checked. All attempts together
    /// take at most `time`.
    pub(super) fn connect_to(
        &self,
        addresses: &[SocketAddr],
        time: Duration,
    ) -> Result<TcpStream, CheckFailure> {
        let deadline = Instant::now() + time;
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
        // An address that refuses is stronger evidence than an address without a route.
        failures.sort_unstable();
        Err(failures.first().copied().unwrap_or(CheckFailure::Dns))
    }

    /// Returns the addresses of a host, if connecting to it is allowed.
    pub(super) fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, CheckFailure> {
        let port = url.port_or_known_default().ok_or(CheckFailure::Excluded)?;
        let host = url.host_str().unwrap_or_default();
        if !is_public(url) && !self.is_allowed(host) {
            return Err(CheckFailure::Excluded);
        }
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), port)],
            Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), port)],
            _ => {
                let found = (self.resolve)(host, port).map_err(|error| resolve_failure(&error))?;
                if found.iter().any(is_public_socket) {
                    self.has_name_service.store(true, Ordering::Relaxed);
                }
                found
            }
        };
        let mut judged = addresses.iter().map(SocketAddr::ip);
        if judged.all(|address| self.may_connect(host, address)) {
            Ok(addresses)
        } else {
            Err(CheckFailure::Excluded)
        }
    }

    /// Returns `true` if an address of `host` is public, or if the host or the address is allowed.
    fn may_connect(&self, host: &str, address: IpAddr) -> bool {
        let in_url: Host<&str> = match address {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        is_public_address(address) || self.is_allowed(host) || self.is_allowed(&in_url.to_string())
    }

    fn is_allowed(&self, host: &str) -> bool {
        is_among(host, &self.private_hosts)
    }
}

/// DNS port.
const DNS_PORT: u16 = 53;

fn is_public_socket(address: &SocketAddr) -> bool {
    is_public_address(address.ip())
}

/// Classifies a DNS failure: the name does not exist, or the server does not answer, which is not
/// evidence.
///
/// The standard library exposes these errors only as the C library's text.
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

/// Classifies a failed connection attempt. If this machine's network is down, the failure is not
/// evidence.
pub(super) fn connect_failure(error: &io::Error) -> CheckFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable => CheckFailure::Connect,
        _ => read_failure(error),
    }
}

/// Classifies a failure after connecting.
pub(super) fn read_failure(error: &io::Error) -> CheckFailure {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => CheckFailure::Timeout,
        _ => CheckFailure::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::public_host::host_in_url;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// Returns private addresses in notations that servers, pages and DNS may use.
    fn private_addresses() -> Vec<IpAddr> {
        let special = [
            "::1",
            "::ffff:127.0.0.1",
            "fe80::1",
            "fc00::7",
            "::",
            "64:ff9b::a00:1",
        ];
        let mut addresses = special.map(|text| text.parse().unwrap()).to_vec();
        let mut state = 1_u32;
        for [a, b] in [
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
                let [c, d, ..] = state.to_be_bytes();
                addresses.push(IpAddr::from([a, b, c, d]));
            }
        }
        addresses
    }

    #[test]
    fn a_name_that_resolves_to_a_private_address_is_refused() {
        for address in private_addresses() {
            // Next to a public address.
            let resolve: Resolve = Box::new(move |_, port| {
                let public = SocketAddr::new("192.0.1.1".parse().unwrap(), port);
                Ok(vec![public, SocketAddr::new(address, port)])
            });
            let rules = HostRules::new(&[], resolve);
            let found = rules.addresses(&url("http://h.cern.ch/"));
            assert_eq!(found, Err(CheckFailure::Excluded), "{address}");
        }
    }

    /// The checked address must be the one that is connected to, even if the name has another
    /// address by then.
    #[test]
    fn a_name_is_resolved_once() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let asked_for = AtomicUsize::new(0);
        let resolve: Resolve = Box::new(move |_, port| {
            let last = 1 + asked_for.fetch_add(1, Ordering::SeqCst) as u8;
            Ok(vec![SocketAddr::new(IpAddr::from([127, 0, 0, last]), port)])
        });
        let rules = HostRules::new(&["127.0.0.1".to_owned()], resolve);
        let url = url(&format!("http://rebind.cern.ch:{}/", address.port()));
        let connected = rules.connect(&url).unwrap();
        assert_eq!(connected.peer_addr().unwrap(), address);
        assert_eq!(rules.connect(&url).err(), Some(CheckFailure::Excluded));
    }

    #[test]
    fn an_allowed_address_is_read_in_every_notation() {
        let are_allowed = |address: &'static str, allowed: &str| {
            let resolve =
                move |_: &str, port| Ok(vec![SocketAddr::new(address.parse().unwrap(), port)]);
            let rules = HostRules::new(&[allowed.to_owned()], Box::new(resolve));
            [address, "h.cern.ch"].map(|host| {
                let in_url = host_in_url(host).unwrap();
                rules.addresses(&url(&format!("http://{in_url}/"))).is_ok()
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
            assert_eq!(are_allowed(address, allowed), [true, true], "{allowed}");
        }
        assert_eq!(are_allowed("::1", "::2"), [false, false]);
    }

    #[test]
    fn only_a_missing_name_is_a_dead_host() {
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
    fn a_network_failure_is_not_a_dead_host() {
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
    fn only_public_hosts_are_evidence_for_a_network() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let resolve: Resolve = Box::new(|name, port| {
            let address = match name {
                "h.cern.ch" => [192, 0, 78, 1],
                "k.root-servers.net" => [193, 0, 14, 129],
                "wiki" => [127, 0, 0, 1],
                "inside.cern.ch" => [10, 0, 0, 1],
                _ => return Err(io::Error::other("Name or service not known")),
            };
            Ok(vec![SocketAddr::new(IpAddr::from(address), port)])
        });
        let rules = HostRules::new(&["wiki".to_owned()], resolve);
        assert!(rules.connect(&url(&format!("http://wiki:{port}/"))).is_ok());
        for host in ["inside", "gone"] {
            assert!(
                rules
                    .addresses(&url(&format!("http://{host}.cern.ch/")))
                    .is_err()
            );
        }
        assert_eq!(rules.take_network_signs(), NetworkSigns::default());
        assert!(rules.addresses(&url("http://h.cern.ch/")).is_ok());
        let signs = rules.take_network_signs();
        assert!(signs.has_name_service && !signs.has_connection);
        assert_eq!(rules.take_network_signs(), NetworkSigns::default());
        assert!(rules.finds_root_server());
        // A gateway that answers every query.
        let inside: Resolve =
            Box::new(|_, port| Ok(vec![SocketAddr::new([10, 0, 0, 1].into(), port)]));
        assert!(!HostRules::new(&[], inside).finds_root_server());
    }
}
