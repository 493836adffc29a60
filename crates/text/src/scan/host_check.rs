//! Hosts as people write them: checks whether a text can be a host name or address. Also recognizes
//! machine names in certificates and in trace fields copied into a text, which are not citations.

use std::net::Ipv4Addr;

use psl::{List, Psl};

use crate::byte_scan::{ends_with_caseless, prefix_len, starts_with_caseless, suffix_len};
use crate::limits::{TRACE_FIELD_BYTES, TRACE_FIELD_LINES};

/// The host and port of an authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAndPort<'t> {
    /// The text before the colon of the port.
    pub host: &'t [u8],
    /// The text after that colon; `None` without a colon.
    pub port: Option<&'t [u8]>,
}

impl HostAndPort<'_> {
    /// Splits the part of an authority after the `@`. Colons in brackets belong to the host.
    #[must_use]
    pub fn of(text: &[u8]) -> HostAndPort<'_> {
        let bracket = memchr::memrchr(b']', text).map_or(0, |bracket| bracket + 1);
        let CutText { before, after } = cut(&text[bracket..], b':');
        HostAndPort {
            host: &text[..bracket + before.len()],
            port: after,
        }
    }
}

/// A text split at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutText<'t> {
    /// The text before the byte, or the whole text if the byte does not occur.
    pub before: &'t [u8],
    /// The text after the byte, if it occurs.
    pub after: Option<&'t [u8]>,
}

/// Splits `text` at the first byte `at`.
#[must_use]
pub fn cut(text: &[u8], at: u8) -> CutText<'_> {
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
/// hyphen, because such a hyphen comes from a word broken at a line end. A dot may follow the last
/// label. `www` alone is not a host.
#[must_use]
pub fn plausible_host(host: &[u8]) -> bool {
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

/// Returns the length of the host and port at the start of `site` if a character follows that
/// neither may contain.
///
/// In running text, that character ends the URL: `www.kde.org[1]`, `foo.com's`, `rpk.co.nz=20`. Two
/// or more hyphens at the end are a dash. Returns `None` if there is no such character, if the host
/// before it is not a domain or IPv4 address, or if the text is a template with a placeholder for a
/// part of the host: `www.{name}.org`, `www.foo.*`, `a.org:PORT`.
#[must_use]
pub fn host_before_refused(site: &[u8]) -> Option<usize> {
    let run = prefix_len(site, |byte| LABEL[usize::from(*byte)] || *byte == b'.');
    let port = site[run..].strip_prefix(b":");
    let digits = port.map_or(0, |port| prefix_len(port, u8::is_ascii_digit));
    let with_port = if digits > 0 { run + 1 + digits } else { run };
    let refused = &site[with_port..];
    let mut host = &site[..run];
    let dashes = suffix_len(host, |&byte| byte == b'-');
    if digits == 0 && 2 <= dashes {
        host = &host[..run - dashes];
    } else if refused.is_empty() || is_template(host, refused) {
        return None;
    }
    let host = host.strip_suffix(b".").unwrap_or(host);
    is_site(host).then_some(if digits > 0 { with_port } else { host.len() })
}

/// Returns `true` if `refused`, which follows `host`, is a placeholder for more of the host or for
/// a port. Also returns `true` if `host` starts another notation: `ftp.a.org:pub/x`,
/// `www.a.org!b.org` (a UUCP path).
fn is_template(host: &[u8], refused: &[u8]) -> bool {
    if let [b':' | b'!', next, ..] = refused {
        return next.is_ascii_alphanumeric() || b"<{$%*~/".contains(next);
    }
    let is_variable = matches!(refused[0], b'{' | b'$' | b'%' | b'*' | b'<');
    let is_open = is_variable || matches!(refused[0], b'[' | b'(');
    is_variable && matches!(host.last(), Some(b'.' | b'-'))
        || is_open && {
            refused
                .windows(2)
                .any(|pair| pair[0] == b'.' && pair[1].is_ascii_alphanumeric())
        }
}

/// Returns `true` if `text` starts with a domain or an IPv4 address.
#[must_use]
pub fn names_site(text: &[u8]) -> bool {
    let run = prefix_len(&text[..text.len().min(256)], |byte| {
        LABEL[usize::from(*byte)] || *byte == b'.'
    });
    let host = &text[..run];
    is_site(host.strip_suffix(b".").unwrap_or(host))
}

/// Returns `true` for a domain or an IPv4 address.
#[must_use]
pub fn is_site(host: &[u8]) -> bool {
    let is_ipv4 = || str::from_utf8(host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok());
    plausible_host(host) && (is_domain(host) || is_ipv4())
}

/// Returns `true` if `host` has at least two labels and the last one can be a top-level domain.
fn is_domain(host: &[u8]) -> bool {
    host.contains(&b'.') && ends_in_top_level_domain(host)
}

/// Returns `true` if every label of `host` is allowed. Makes one pass, because the host of every
/// URL is checked; a test compares it with a check label by label.
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
const LABEL: [bool; 256] =
    byte_table!(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0x80..));

/// Returns `true` if `host` is the start of a host that the author shortened with dots
/// (`www.exam..`).
#[must_use]
pub fn is_cut_short(host: &[u8]) -> bool {
    let dots = suffix_len(host, |&byte| byte == b'.');
    2 <= dots && plausible_host(&host[..host.len() - dots])
}

/// Returns `true` if a host without a scheme is probably a host: it has at least three labels, and
/// the last is a country code or has at least three letters. In a sentence, `ftp.x` is not a host,
/// and neither is `ftp.cs.da`.
#[must_use]
pub fn likely_host(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let labels = memchr::memchr_iter(b'.', host).count() + 1;
    labels >= 3 && ends_in_top_level_domain(host)
}

/// Generic top-level domains that need no evidence. Newer ones are words: `local-fs.target/start`,
/// `bufferedio.works/sec`.
const GENERIC_DOMAINS: &str = "com org net edu gov mil int info dev app";

/// Country codes that also end the names of files and drafts (`libiptc.la/so`, `80211.ax/D3`).
const FILE_ENDINGS: &str = "ac am ax cc cl in la md mk ml mm nf pl pm ps py ro rs sh so tf";

/// Names after owner and repository in the URL of a page. Other names are directories of packages.
const REPOSITORY_PAGES: &str = "pull issues commit commits tree blob wiki releases compare raw -";

/// Registries of container images. The names of others start with `registry`.
const REGISTRIES: &str = "docker.io gcr.io ghcr.io k8s.gcr.io quay.io";

/// Returns `true` if the host and path at `at` are probably the URL of a page in running text.
///
/// Others are packages (`github.com/a/b/c`; a version often follows), images (`gcr.io/a`), settings
/// and versions (`a.org/b=c`, `a.org/b:v1`), templates (`a.org/$b`), files, two hosts
/// (`a.org/b.org`), and pieces of broken URLs.
#[must_use]
pub fn names_page(text: &[u8], at: usize) -> bool {
    let window = &text[at..(at + PAGE_BYTES).min(text.len())];
    let mut words = window.split(|byte| b" \t\r\n<>|".contains(byte));
    let word = words.next().unwrap_or_default();
    let next = words.find(|word| !word.is_empty()).unwrap_or_default();
    let path = cut(word, b'?').before;
    let mut segments = path.split(|byte| b"/@".contains(byte));
    let host = segments.next().unwrap_or_default();
    let is_other_host = segments.next().is_some_and(|name| {
        let mark = suffix_len(name, u8::is_ascii_punctuation);
        is_registered(&name[..name.len() - mark])
    });
    let third = segments.nth(1);
    let is_package = matches!(host, b"github.com" | b"gitlab.com")
        && third.is_some_and(|name| !name.is_empty() && !is_in_list(name, REPOSITORY_PAGES));
    let is_image = host.starts_with(b"registry") || is_in_list(host, REGISTRIES);
    let is_broken = word.ends_with(b"-") || is_no_prose(next);
    follows_prose(&text[at.saturating_sub(PAGE_BYTES)..at])
        && !(is_other_host || is_package || is_image || is_broken)
        && prefix_len(path, |byte| !b":=$*{}".contains(byte)) == path.len()
}

/// Number of bytes before and after the start of a host that [`names_page`] looks at.
const PAGE_BYTES: usize = 512;

/// Returns `true` if the last word of `before` is a word, a short number or a mark of a list item,
/// or if an empty line follows it. Quote marks and open brackets after the word are skipped. Names
/// of files, options, URLs and the marks of other programs (`[.]`) are no words.
fn follows_prose(before: &[u8]) -> bool {
    let gap = suffix_len(before, |byte| b" \t\r\n(<>|".contains(byte));
    let (before, gap) = before.split_at(before.len() - gap);
    let word = &before[before.len() - suffix_len(before, |byte| !byte.is_ascii_whitespace())..];
    let is_number = word.len() <= MARK_BYTES && word.iter().any(u8::is_ascii_alphanumeric);
    let is_word = word.iter().any(u8::is_ascii_alphabetic) && !word.iter().any(u8::is_ascii_digit);
    let plain = prefix_len(word, |byte| !b"/_-@=#%&+*|\\$`~^{}".contains(byte));
    2 <= memchr::memchr_iter(b'\n', gap).count()
        || matches!(word, b"" | b"-" | b"*" | b"+" | b":")
        || (is_number || is_word) && plain == word.len()
}

/// Returns `true` for versions, file names and other words with signs inside. They follow packages
/// and the first lines of broken URLs.
fn is_no_prose(word: &[u8]) -> bool {
    let begins = matches!(word, [b'/' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z', ..]);
    let has_sign = word.iter().any(|byte| b"/_-%.".contains(byte));
    begins && has_sign && !matches!(word, [.., b':' | b'.'])
}

/// Maximum length of the number of a list item or a note, with its brackets: `[12]`, `v2:`.
const MARK_BYTES: usize = 4;

/// Returns `true` if `word` is one of the words in `list`, which are separated by blanks.
fn is_in_list(word: &[u8], list: &str) -> bool {
    list.split(' ').any(|listed| listed.as_bytes() == word)
}

/// Returns `true` if `host` is ASCII in lower case and its last label is a top-level domain. File
/// name extensions need three labels.
#[must_use]
pub fn is_registered(host: &[u8]) -> bool {
    let is_lower = host.is_ascii() && !host.iter().any(u8::is_ascii_uppercase);
    let mut labels = host.rsplit(|&byte| byte == b'.');
    let last = labels.next().unwrap_or_default();
    (is_country(last) || is_in_list(last, GENERIC_DOMAINS))
        && is_lower
        && (2 <= labels.count() || !is_in_list(last, FILE_ENDINGS))
}

/// Returns `true` if the text may end with a host: its last [`TOP_BYTES`] bytes have a dot and end
/// with a letter.
#[must_use]
pub(super) fn may_end_with_host(text: &[u8]) -> bool {
    let Some(start) = text.last_chunk::<TOP_BYTES>() else {
        return memchr::memchr(b'.', text).is_some();
    };
    let dots = u64::from_le_bytes(*start) ^ (u64::MAX / 255 * u64::from(b'.'));
    let zeros = dots.wrapping_sub(u64::MAX / 255) & !dots & (u64::MAX / 255 * 0x80);
    zeros != 0 && text.last().is_some_and(u8::is_ascii_alphabetic)
}

/// Number of bytes at the end of a host that are searched for its last dot. Longer top-level
/// domains are rare.
const TOP_BYTES: usize = 8;

/// Returns the length of the host at the end of `text`. It has at least two labels, the last with
/// at least two letters.
pub(super) fn host_len_before(text: &[u8]) -> Option<usize> {
    let text = &text[text.len().saturating_sub(256)..];
    let len = suffix_len(text, |byte| LABEL[usize::from(*byte)] || *byte == b'.');
    let host = &text[text.len() - len..];
    let is_host = host.first().is_some_and(u8::is_ascii_alphanumeric)
        && plausible_host(host)
        && is_domain(host);
    is_host.then_some(len)
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
                || starts_with_caseless(last, b"xn--")
        }
    }
}

/// Country codes without a rule in the public suffix list: former countries that archives contain,
/// and `za`, for which the list has only rules for names below it.
const UNLISTED_COUNTRIES: [&[u8; 2]; 8] = [b"an", b"cs", b"dd", b"tp", b"um", b"yu", b"za", b"zr"];

/// Returns `true` for a country code, in any case.
#[must_use]
pub fn is_country(label: &[u8]) -> bool {
    let &[first, second] = label else {
        return false;
    };
    let label = [first, second].map(|letter| letter.to_ascii_lowercase());
    // For some countries, the list has only a rule for the names below.
    let mut labels = [&label[..], b"x"].into_iter();
    label.iter().all(u8::is_ascii_lowercase)
        && (UNLISTED_COUNTRIES.contains(&&label)
            || public_suffix(&mut labels).is_some_and(|suffix| suffix.typ.is_some()))
}

/// Returns the length of a host's public suffix and the section of the list with the rule for it;
/// `None` if the last label is empty. `labels` yields the labels from last to first.
///
/// `psl` has a function for each label of the list, generic over the iterator of labels. A trait
/// object avoids a copy of all these functions per iterator type and saves a tenth of this crate's
/// compile time.
pub fn public_suffix(labels: &mut dyn Iterator<Item = &[u8]>) -> Option<psl::Info> {
    Some(List.find(labels)).filter(|suffix| 0 < suffix.len)
}

/// Fields in which mail and news servers name themselves and each other (RFC 5321, 5536, 8601 and
/// 3464), in lower case.
const TRACE_FIELDS: &str = "\
    received x-received original-received received-spf authentication-results \
    arc-authentication-results x-authentication-warning reporting-mta remote-mta \
    received-from-mta nntp-posting-host x-nntp-posting-host injection-info x-trace \
    x-originating-host";

/// Returns `true` if the host without a scheme at `at` is the name of a machine in a trace field or
/// in a certificate's subject.
///
/// Reads at most [`TRACE_FIELD_BYTES`] before it.
#[must_use]
pub fn names_machine(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(TRACE_FIELD_BYTES)..at];
    is_certificate_name(before) || is_in_trace_field(before)
}

/// Returns `true` after `CN=` (a common name, RFC 4514) or `DNS:` (an alternative name as printed
/// by OpenSSL).
fn is_certificate_name(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    if let Some(name) = before.strip_suffix(b"=") {
        let name = name.trim_ascii_end();
        return ends_with_word(name, b"CN") || ends_with_word(name, b"commonName");
    }
    ends_with_word(before, b"DNS:")
}

/// Returns `true` if `text` ends with `word`, in any case, and no letter precedes `word`.
fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    ends_with_caseless(text, word)
        && !text[..text.len() - word.len()]
            .last()
            .is_some_and(u8::is_ascii_alphanumeric)
}

/// Returns `true` if `before` ends in a trace field or in its folded lines, even if quoted.
fn is_in_trace_field(before: &[u8]) -> bool {
    let mut end = before.len();
    for _ in 0..TRACE_FIELD_LINES {
        let line_feed = memchr::memrchr(b'\n', &before[..end]);
        let line = QuotedLine::of(&before[line_feed.map_or(0, |at| at + 1)..end]);
        if let Some(name) = line.field_name() {
            return is_in_list(&name.to_ascii_lowercase(), TRACE_FIELDS);
        }
        match line_feed.filter(|_| line.is_folded) {
            Some(at) => end = at,
            None => return false,
        }
    }
    false
}

/// A line without its quote marks.
struct QuotedLine<'t> {
    /// `true` if the line starts with white space, beyond one blank after quote marks.
    is_folded: bool,
    content: &'t [u8],
}

impl QuotedLine<'_> {
    fn of(line: &[u8]) -> QuotedLine<'_> {
        let marks = prefix_len(line, |byte| matches!(byte, b'>' | b'|' | b' ' | b'\t'));
        let quote = line[..marks]
            .iter()
            .rposition(|byte| matches!(byte, b'>' | b'|'))
            .map_or(0, |mark| mark + 1);
        let indent = &line[quote..marks];
        QuotedLine {
            is_folded: indent.contains(&b'\t') || indent.len() > usize::from(0 < quote),
            content: &line[marks..],
        }
    }

    /// The name of the header field at the start of the line.
    fn field_name(&self) -> Option<&[u8]> {
        let colon = memchr::memchr(b':', self.content)?;
        let name = &self.content[..colon];
        (!name.is_empty()
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-'))
        .then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_named_in_prose() {
        let pages = "at:\n> > a.org/b.|x86_64\n\n(a.org/b)|[12] a.org/b v12|- a.org/b\nTo-do: c";
        let others = "as a.org/b-\nc|get a.org/b v1.2.3|get -u a.org/b|a  [.] a.org/b.c|\
            git://\n> a.org/b|the a.org/b=c|the a.org/b:v1|for a.org/b.net|or a.org/b.net.|\
            at a.org/b\n> c-1.pdf";
        for text in pages.split('|').chain(others.split('|')) {
            let found = names_page(text.as_bytes(), text.find("a.org").unwrap());
            assert_eq!(found, pages.contains(text), "{text:?}");
        }
    }

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
            proptest::sample::select(vec![
                ".", "-", "_", "a", "Z9", "\u{e9}", " ", "@",
                "sixty-two-octets-of-a-label-that-is-as-long-as-one-may-be-ever",
            ]),
            0..8,
        )) {
            let host = pieces.concat();
            let label = |label: &[u8]| {
                let allowed = |byte: &u8| {
                    byte.is_ascii_alphanumeric() || b"-_".contains(byte) || !byte.is_ascii()
                };
                label.len() <= 63
                    && label.iter().all(allowed)
                    && label.iter().any(|&byte| byte != b'_')
                    && label.last() != Some(&b'-')
            };
            let all = host.as_bytes().split(|&byte| byte == b'.').all(label);
            proptest::prop_assert_eq!(are_labels(host.as_bytes()), all);
        }
    }

    /// The part of a site before a character that neither host nor port may contain; otherwise
    /// empty.
    fn cut_site(site: &str) -> &str {
        &site[..host_before_refused(site.as_bytes()).unwrap_or(0)]
    }

    #[test]
    fn a_host_ends_before_a_character_it_cannot_contain() {
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
        let cases = "www.foo.com www.{name}.org www.[your-name].com www.foo.* foo-$name.org \
            foo.com:PORT foo.com:$port ftp.foo.com:pub/x www.foo.com!bar node[1] foo.com- x.1's";
        for site in cases.split(' ') {
            assert_eq!(cut_site(site), "", "{site}");
        }
    }

    #[test]
    fn current_and_former_countries_are_known() {
        for label in ["de", "UK", "ck", "er", "su", "yu", "za", "io"] {
            assert!(is_country(label.as_bytes()), "{label}");
        }
        for label in ["aa", "da", "1a", "a", "com", "zz"] {
            assert!(!is_country(label.as_bytes()), "{label}");
        }
    }

    #[test]
    fn dots_mark_a_shortened_host() {
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
        let cases = "a a.b. a_b 1.2.3.4 [::1] bücher.example -a.b";
        for host in cases.split(' ') {
            assert!(plausible_host(host.as_bytes()), "{host}");
        }
    }

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let at = text.find("www").unwrap();
        assert_eq!(names_machine(text.as_bytes(), at), expected, "{text:?}");
    }

    #[test]
    fn trace_fields_name_machines() {
        check("Received: from www.a.example (x [192.0.2.1])", true);
        check("> Received: from a.example\n>\tby www.a.example; x", true);
        check(
            ">> > received: from a.example\n>> >    by www.a.example",
            true,
        );
        check(
            "   Received: from a\n      (b)\n      by www.a.example",
            true,
        );
        check("Reporting-MTA: dns; www.a.example", true);
    }

    #[test]
    fn other_lines_cite_hosts() {
        check("Received: from a.example\nby www.a.example", false);
        check("> Received: from a.example\n> see www.a.example", false);
        check("Received: a\nSubject: www.a.example", false);
        check("Received: a\n  see: www.a.example", false);
        check("I received: www.a.example", false);
        check("  www.a.example", false);
        check("X-URL: www.a.example", false);
    }

    #[test]
    fn certificates_name_machines() {
        check("/O=A/CN=www.a.example/emailAddress=x", true);
        check("subject: CN = www.a.example", true);
        check("commonName= www.a.example", true);
        check("DNS:a.example, DNS:www.a.example", true);
        check("OU=www.a.example/CPS", false);
        check("VCN=www.a.example", false);
        check("see: www.a.example", false);
    }

    #[test]
    fn only_the_lines_before_count() {
        let far = format!(
            "Received: a\n{}  www.a.example",
            "  x\n".repeat(TRACE_FIELD_LINES)
        );
        check(&far, false);
    }
}
