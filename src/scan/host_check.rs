//! Hosts as people write them: checks whether a text can be a host name or address.

/// The host and port of an authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostAndPort<'t> {
    /// The text before the colon of the port.
    pub(crate) host: &'t [u8],
    /// The text after that colon, if there is one.
    pub(crate) port: Option<&'t [u8]>,
}

impl HostAndPort<'_> {
    /// Divides the part of an authority after its `@`. Colons in brackets belong to the host.
    pub(crate) fn of(text: &[u8]) -> HostAndPort<'_> {
        let bracket = memchr::memrchr(b']', text).map_or(0, |bracket| bracket + 1);
        let CutText { before, after } = cut(&text[bracket..], b':');
        HostAndPort {
            host: &text[..bracket + before.len()],
            port: after,
        }
    }
}

/// A text divided at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutText<'t> {
    /// The text before the byte; all of it if the byte does not occur.
    pub(crate) before: &'t [u8],
    /// The text after the byte, if it occurs.
    pub(crate) after: Option<&'t [u8]>,
}

/// Divides `text` at the first byte `at`.
pub(crate) fn cut(text: &[u8], at: u8) -> CutText<'_> {
    let found = memchr::memchr(at, text);
    CutText {
        before: &text[..found.unwrap_or(text.len())],
        after: found.map(|found| &text[found + 1..]),
    }
}

/// Returns `true` if `host` can be a host: an IPv6 address in brackets, or labels separated by
/// dots.
///
/// Labels consist of letters, digits, `-`, `_` and non-ASCII characters. No label ends with a
/// hyphen: that would be the hyphen of a word broken at a line end. A dot may follow the last
/// label. `www` alone is not a host.
#[must_use]
pub(crate) fn plausible_host(host: &[u8]) -> bool {
    if let Some(address) = host
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"))
    {
        let address = std::str::from_utf8(address)
            .unwrap_or("")
            .split('%')
            .next()
            .unwrap_or("");
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let host = host.strip_suffix(b".").unwrap_or(host);
    host.len() <= 255 && !host.eq_ignore_ascii_case(b"www") && are_labels(host)
}

/// Returns the length of the host and port at the start of `site` that end before a character which
/// can be part of neither.
///
/// In running text that character ends the URL: `www.kde.org[1]`, `foo.com's`, `rpk.co.nz=20`. Two
/// or more hyphens at the end are a dash. `None` if nothing is to be cut off, if the host before it
/// is no domain or IPv4 address, or if the text is a template, in which something else stands for a
/// part of the host: `www.{name}.org`, `www.foo.*`, `a.org:PORT`.
pub(crate) fn host_before_refused(site: &[u8]) -> Option<usize> {
    let is_host_byte = |byte: &&u8| LABEL[usize::from(**byte)] || **byte == b'.';
    let run = site.iter().take_while(is_host_byte).count();
    let digits = match site[run..].split_first() {
        Some((b':', port)) => port.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let with_port = if digits > 0 { run + 1 + digits } else { run };
    let refused = &site[with_port..];
    let mut host = &site[..run];
    let dashes = host.iter().rev().take_while(|&&byte| byte == b'-').count();
    if digits == 0 && 2 <= dashes {
        host = &host[..run - dashes];
    } else if refused.is_empty() || is_template(host, refused) {
        return None;
    }
    let host = host.strip_suffix(b".").unwrap_or(host);
    let is_site = plausible_host(host) && (is_domain(host) || is_ipv4(host));
    is_site.then_some(if digits > 0 { with_port } else { host.len() })
}

/// Returns `true` if `refused`, which follows `host`, stands for a further part of the host or for
/// its port, or if the host is the beginning of another notation: `ftp.a.org:pub/x`,
/// `www.a.org!b.org` (a path of UUCP).
fn is_template(host: &[u8], refused: &[u8]) -> bool {
    if let [b':' | b'!', next, ..] = refused {
        return next.is_ascii_alphanumeric() || b"<{$%*~/".contains(next);
    }
    let is_variable = matches!(refused[0], b'{' | b'$' | b'%' | b'*' | b'<');
    let is_open = is_variable || matches!(refused[0], b'[' | b'(');
    let continues = || {
        refused
            .windows(2)
            .any(|pair| pair[0] == b'.' && pair[1].is_ascii_alphanumeric())
    };
    is_variable && matches!(host.last(), Some(b'.' | b'-')) || is_open && continues()
}

/// Returns `true` if a domain or an IPv4 address is at the start of `text`.
pub(crate) fn names_site(text: &[u8]) -> bool {
    let is_host_byte = |byte: &&u8| LABEL[usize::from(**byte)] || **byte == b'.';
    let run = text.iter().take(256).take_while(is_host_byte).count();
    let host = &text[..run];
    let host = host.strip_suffix(b".").unwrap_or(host);
    plausible_host(host) && (is_domain(host) || is_ipv4(host))
}

/// Returns `true` if the last of at least two labels can be a top-level domain.
fn is_domain(host: &[u8]) -> bool {
    host.contains(&b'.') && ends_in_top_level_domain(host)
}

/// Returns `true` for four numbers up to 255.
pub(crate) fn is_ipv4(host: &[u8]) -> bool {
    std::str::from_utf8(host).is_ok_and(|host| host.parse::<std::net::Ipv4Addr>().is_ok())
}

/// Returns `true` if every label of `host` is allowed. Reads it once, since the host of every URL
/// is checked; a test compares it with a check label by label.
fn are_labels(host: &[u8]) -> bool {
    // RFC 1034, section 3.1: a label has at most 63 bytes. Not all of them are underscores.
    let is_label =
        |len: usize, underscores: usize, last: u8| underscores < len && len <= 63 && last != b'-';
    let (mut len, mut underscores, mut last) = (0, 0, b'.');
    for &byte in host {
        if LABEL[byte as usize] {
            len += 1;
            underscores += usize::from(byte == b'_');
        } else if byte == b'.' && is_label(len, underscores, last) {
            (len, underscores) = (0, 0);
        } else {
            return false;
        }
        last = byte;
    }
    is_label(len, underscores, last)
}

/// The bytes that can be part of a label.
const LABEL: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < table.len() {
        let byte = at as u8;
        table[at] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte >= 0x80;
        at += 1;
    }
    table
};

/// Returns `true` if `host` is the beginning of a host and the dots of an author who cut it short
/// (`www.exam..`).
#[must_use]
pub(crate) fn is_cut_short(host: &[u8]) -> bool {
    let dots = host.iter().rev().take_while(|&&byte| byte == b'.').count();
    2 <= dots && plausible_host(&host[..host.len() - dots])
}

/// The country code top-level domains of 2026, and those that archives have and that no longer
/// exist (`an`, `cs`, `dd`, `tp`, `um`, `yu`, `zr`).
const COUNTRIES: &[u8] = b"\
    ac ad ae af ag ai al am an ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo \
    br bs bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cs cu cv cw cx cy cz dd de dj \
    dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq \
    gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki \
    km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp \
    mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl \
    pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st \
    su sv sx sy sz tc td tf tg th tj tk tl tm tn to tp tr tt tv tw tz ua ug uk um us uy uz va \
    vc ve vg vi vn vu wf ws ye yt yu za zm zr zw";

/// Returns `true` if a host without a scheme is probably one: it has at least three labels, and the
/// last is a country code or has at least three letters. `ftp.x` in a sentence is not a host, nor
/// is `ftp.cs.da`.
#[must_use]
pub(crate) fn likely_host(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let labels = memchr::memchr_iter(b'.', host).count() + 1;
    labels >= 3 && ends_in_top_level_domain(host)
}

/// Returns `true` if the last label of `host` is a country code or has at least three letters.
fn ends_in_top_level_domain(host: &[u8]) -> bool {
    let last = memchr::memrchr(b'.', host).map_or(host, |dot| &host[dot + 1..]);
    match last {
        [] | [_] => false,
        [_, _] => is_country(last),
        _ => {
            last.iter()
                .all(|&byte| byte.is_ascii_alphabetic() || byte >= 0x80)
                || last[..4.min(last.len())].eq_ignore_ascii_case(b"xn--")
        }
    }
}

/// Returns `true` for a country code, in any case.
pub(crate) fn is_country(label: &[u8]) -> bool {
    matches!(label, [first, second] if first.is_ascii_alphabetic()
        && second.is_ascii_alphabetic()
        && IS_COUNTRY[letter(*first)][letter(*second)])
}

/// The codes of [`COUNTRIES`], by their first and second letter.
const IS_COUNTRY: [[bool; 26]; 26] = {
    let mut table = [[false; 26]; 26];
    let mut at = 0;
    while at < COUNTRIES.len() {
        table[letter(COUNTRIES[at])][letter(COUNTRIES[at + 1])] = true;
        at += 3;
    }
    table
};

/// The number, from 0, of an ASCII letter.
const fn letter(byte: u8) -> usize {
    (byte.to_ascii_lowercase() - b'a') as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_a_scheme_ends_with_a_domain_that_exists() {
        for host in ["www.example.org", "ftp.x.dk", "www.b\u{fc}cher.example."] {
            assert!(likely_host(host.as_bytes()), "{host}");
        }
        for host in ["www.org", "ftp.cs.da", "www.a.b1c", "ftp.x.1"] {
            assert!(!likely_host(host.as_bytes()), "{host}");
        }
    }

    proptest::proptest! {
        #[test]
        fn one_pass_and_a_check_label_by_label_agree(pieces in proptest::collection::vec(
            proptest::sample::select(vec![".", "-", "_", "a", "Z9", "\u{e9}", " ", "@", "sixty-two-octets-of-a-label-that-is-as-long-as-one-may-be-ever"]),
            0..8,
        )) {
            let host = pieces.concat();
            let label = |label: &[u8]| {
                let allowed = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte >= 0x80;
                label.len() <= 63
                    && label.iter().all(allowed)
                    && label.iter().any(|&byte| byte != b'_')
                    && label.last() != Some(&b'-')
            };
            let all = host.as_bytes().split(|&byte| byte == b'.').all(label);
            proptest::prop_assert_eq!(are_labels(host.as_bytes()), all);
        }
    }

    /// The part of a site that is left before what can be neither host nor port, or the empty text.
    fn cut_site(site: &str) -> &str {
        &site[..host_before_refused(site.as_bytes()).unwrap_or(0)]
    }

    #[test]
    fn a_host_ends_before_what_cannot_be_part_of_it() {
        for (site, host) in [
            ("www.kde.example.org[1]", "www.kde.example.org"),
            ("foo.com's", "foo.com"),
            ("www.rpk.co.nz=20", "www.rpk.co.nz"),
            ("192.0.2.1:8080$1", "192.0.2.1:8080"),
            ("foo.com:", "foo.com"),
            ("foo.com.[2]", "foo.com"),
            ("foo.com-----", "foo.com"),
            ("foo.com--(see)", "foo.com"),
            ("foo.com%20and", "foo.com"),
        ] {
            assert_eq!(cut_site(site), host, "{site}");
        }
    }

    #[test]
    fn a_host_with_a_placeholder_is_not_cut() {
        for site in [
            "www.foo.com",
            "www.{name}.org",
            "www.[your-name].com",
            "www.foo.*",
            "foo-$name.org",
            "foo.com:PORT",
            "foo.com:$port",
            "ftp.foo.com:pub/x",
            "www.foo.com!bar",
            "node[1]",
            "foo.com-",
            "x.1's",
        ] {
            assert_eq!(cut_site(site), "", "{site}");
        }
    }

    #[test]
    fn dots_mark_what_was_cut_off() {
        for (host, cut_short) in [
            ("www.a..", true),
            ("g...", true),
            ("www.a.", false),
            ("...", false),
            ("a..b", false),
        ] {
            assert_eq!(is_cut_short(host.as_bytes()), cut_short, "{host}");
        }
    }

    #[test]
    fn labels_must_be_valid() {
        for host in ["", ".", "...", "a..b", "-", "www", "a b", "$h", "[1::2::3]"] {
            assert!(!plausible_host(host.as_bytes()), "{host}");
        }
        for host in [
            "a",
            "a.b.",
            "a_b",
            "1.2.3.4",
            "[::1]",
            "bücher.example",
            "-a.b",
        ] {
            assert!(plausible_host(host.as_bytes()), "{host}");
        }
    }
}
