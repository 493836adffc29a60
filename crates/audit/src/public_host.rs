//! Hosts on the public Internet: the names and addresses that an audit may contact.
//!
//! A host is parsed by the WHATWG rules, by which `0x7f.1` is 127.0.0.1. An address that embeds
//! another address (mapped, 6to4, NAT64) is public if the embedded address is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Top-level labels and domains that are reserved or local: RFC 2606, RFC 6761, RFC 6762, RFC 7686,
/// RFC 8375, RFC 9476 and ICANN's resolution about `internal`. Local networks use `intranet` and
/// the others (ICANN, name collisions).
const RESERVED_NAMES: [&str; 22] = [
    "example",
    "example.com",
    "example.net",
    "example.org",
    "test",
    "invalid",
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "mail",
    "alt",
    "onion",
    "i2p",
    "home.arpa",
    "in-addr.arpa",
    "ip6.arpa",
];

/// IPv4 networks that are not public (IANA's special-purpose address registry, multicast), as
/// address and prefix length.
const NOT_PUBLIC_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// IPv6 networks in `2000::/3` that are not public: protocol assignments and documentation.
const NOT_PUBLIC_V6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Parses the name or address of a host and returns it as written in URLs: in lower case, an IPv6
/// address in brackets, a name without the final dot. An IPv4-mapped IPv6 address becomes an IPv4
/// address. Returns `None` for other text, such as a URL, a host with a port, a pattern or a list.
#[must_use]
pub fn host_in_url(text: &str) -> Option<String> {
    let bracketed = text.parse::<Ipv6Addr>().map(|_| format!("[{text}]"));
    let host = Host::parse(bracketed.as_deref().unwrap_or(text)).ok()?;
    match &host {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name.split('.').all(is_label).then(|| name.to_owned())
        }
        Host::Ipv4(address) => Some(address.to_string()),
        Host::Ipv6(address) => Some(match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => host.to_string(),
        }),
    }
}

fn is_label(text: &str) -> bool {
    let mut bytes = text.bytes();
    let are_usual = bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    are_usual && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// Returns `true` if `hosts` contains the host of a URL, in any notation.
pub(super) fn is_among(host: &str, hosts: &[String]) -> bool {
    let host = comparable(host);
    hosts.iter().any(|listed| comparable(listed) == host)
}

fn comparable(host: &str) -> String {
    host_in_url(host).unwrap_or_else(|| host.to_ascii_lowercase())
}

/// Returns `true` if the host of a URL is a public name or address. A public name may still resolve
/// to an address that is not public.
pub(super) fn is_public(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => is_public_name(name),
        Some(Host::Ipv4(address)) => is_public_address(address.into()),
        Some(Host::Ipv6(address)) => is_public_address(address.into()),
        None => false,
    }
}

/// Returns `true` for a name whose domain may exist in the public DNS. `name` is in lower case.
fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.contains('.')
        && !RESERVED_NAMES.iter().any(|domain| {
            let rest = name.strip_suffix(domain);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

/// Returns `true` for an address on the public Internet.
pub(super) fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !NOT_PUBLIC_V4
        .iter()
        .any(|(network, prefix)| (address.to_bits() ^ network.to_bits()) >> (32 - prefix) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    address.segments()[0] >> 13 == 1
        && !NOT_PUBLIC_V6
            .iter()
            .any(|(network, prefix)| (address.to_bits() ^ network.to_bits()) >> (128 - prefix) == 0)
}

/// Returns the IPv4 address embedded in an IPv6 address: mapped and compatible (RFC 4291), NAT64
/// (RFC 6052), 6to4 (RFC 3056).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => (high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low),
        [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: bool) {
        assert_eq!(is_public(&Url::parse(url).unwrap()), expected, "{url}");
    }

    #[test]
    fn a_host_is_a_single_name_or_address() {
        for (text, expected) in [
            ("wiki", Some("wiki")),
            ("Wiki.Corp.", Some("wiki.corp")),
            ("my_host-1.lan", Some("my_host-1.lan")),
            ("b\u{fc}cher.lan", Some("xn--bcher-kva.lan")),
            ("127.1", Some("127.0.0.1")),
            ("::1", Some("[::1]")),
            ("[FD00::1]", Some("[fd00::1]")),
            ("::ffff:10.0.0.1", Some("10.0.0.1")),
            ("", None),
            (" ", None),
            (".", None),
            ("..", None),
            ("a..b", None),
            ("-", None),
            ("a,b", None),
            ("a,b c", None),
            (" wiki", None),
            ("wiki:8080", None),
            ("http://wiki/", None),
            ("wiki/a", None),
            ("*.corp", None),
            ("10.0.0.0/8", None),
            ("u@wiki", None),
        ] {
            assert_eq!(host_in_url(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn names_outside_the_public_name_service_are_not_public() {
        for host in [
            "localhost",
            "wiki",
            "WIKI.",
            "a.localhost",
            "printer.local",
            "db.internal",
            "router.home.arpa",
            "a.b.onion",
            "www.example.com",
            "example.net",
            "EXAMPLE.ORG.",
            "a.example",
            "a.test",
            "a.invalid",
            "%6c%6f%63alhost",
        ] {
            check(&format!("http://{host}/"), false);
        }
        for host in [
            "info.cern.ch",
            "notexample.com",
            "example.org.uk",
            "local.cern.ch",
            "xn--bcher-kva.de",
        ] {
            check(&format!("http://{host}/"), true);
        }
    }

    #[test]
    fn addresses_are_read_in_every_notation() {
        for host in [
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "0177.0.0.1",
            "2130706433",
            "0x7f000001",
            "017700000001",
            "%31%32%37.0.0.1",
            "127\u{3002}0\u{3002}0\u{3002}1",
            "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
            "10.255.255.255",
            "169.254.169.254",
            "192.168.0.1",
            "0.0.0.0",
            "0",
            "255.255.255.255",
            "224.0.0.1",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::10.0.0.1]",
            "[2002:7f00:1::]",
            "[2001:db8::1]",
            "[2001::1]",
            "[fe80::1]",
            "[fc00::1]",
            "[fd12:3456::1]",
            "[ff02::1]",
            "[100::1]",
        ] {
            check(&format!("http://{host}/"), false);
        }
        for host in [
            "1.1.1.1",
            "0x01010101",
            "172.15.255.255",
            "172.32.0.0",
            "100.128.0.1",
            "223.255.255.255",
            "[2606:4700::1111]",
            "[::ffff:1.1.1.1]",
            "[2002:101:101::]",
        ] {
            check(&format!("http://{host}/"), true);
        }
    }

    /// Compares with the predicates of std: an address that they classify as private, loopback or
    /// otherwise special must not be public.
    #[test]
    fn no_special_address_is_public() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut special = 0;
        for _ in 0..200_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let bits = (state >> 32) as u32;
            let address = Ipv4Addr::from_bits(bits);
            let is_special = address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_broadcast()
                || address.is_documentation()
                || address.is_unspecified();
            special += u32::from(is_special);
            let mapped = IpAddr::V6(address.to_ipv6_mapped());
            let written = format!("http://{bits}/");
            assert!(
                !is_special || !is_public_address(address.into()),
                "{address}"
            );
            assert_eq!(is_public_address(address.into()), is_public_address(mapped));
            assert_eq!(
                is_public_address(address.into()),
                is_public(&Url::parse(&written).unwrap()),
                "{written}"
            );
        }
        assert!(special > 10_000, "{special}");
    }
}
