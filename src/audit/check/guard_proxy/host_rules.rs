//! The hosts that the proxy connects to.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use url::{Host, Url};

use crate::audit::public_host::{is_among, is_public, is_public_address};
use crate::audit::state::CheckFailure;
use crate::limits::AUDIT_CONNECT_SECONDS;

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
}

impl HostRules {
    pub(super) fn new(private_hosts: &[String], resolve: Resolve) -> HostRules {
        HostRules {
            private_hosts: private_hosts.to_vec(),
            resolve,
        }
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
                Ok(stream) => return Ok(stream),
                Err(error) => failures.push(connect_failure(&error)),
            }
        }
        // An address that refuses says more than one that this machine has no way to.
        failures.sort_unstable();
        Err(failures.first().copied().unwrap_or(CheckFailure::Dns))
    }

    /// Returns the addresses of a host that is to be connected to.
    fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, CheckFailure> {
        let port = url.port_or_known_default().ok_or(CheckFailure::Excluded)?;
        let host = url.host_str().unwrap_or_default();
        let is_allowed = |host: &str| is_among(host, &self.private_hosts);
        if !is_public(url) && !is_allowed(host) {
            return Err(CheckFailure::Excluded);
        }
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), port)],
            Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), port)],
            _ => (self.resolve)(host, port).map_err(|error| resolve_failure(&error))?,
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

/// The failure of a name service: a name that does not exist, or a service that does not answer, which proves nothing.
///
/// The standard library has no other form of these errors than the words of the C library.
fn resolve_failure(error: &io::Error) -> CheckFailure {
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
fn connect_failure(error: &io::Error) -> CheckFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable => CheckFailure::Connect,
        ErrorKind::TimedOut | ErrorKind::WouldBlock => CheckFailure::Timeout,
        _ => CheckFailure::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::public_host::host_in_url;

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
}
