//! Hazards: the warnings of RFC 1738 section 6, and the signs that abuse desks look for. They
//! never cause a URL to be rejected.
//!
//! Also mismatches: links whose text names another host than their target. The texts of most links
//! are words, and file names look like hosts, so only a text that certainly names a host is
//! compared. A link that a mail gateway rewrote is compared as it was before rewriting.

use super::components::{
    Site, components, has_known_suffix, host_name, is_default_port, scheme, scheme_of_absolute,
};
use super::found::FoundUrl;
use super::redirector::{LinkRewriter, QUERY_TARGET, redirect_targets};
use super::verdict::Verdicts;
use crate::byte_scan::{is_one_of, prefix_len, suffix_len};
use crate::grammar::decode;
use crate::repair::Repair;
use crate::scan::{cut, plausible_host};
use unicode_script::{Script, UnicodeScript};

named_enum! {
    /// A property of a URL that calls for caution. It never causes the URL to be rejected.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Hazard {
        /// A port below 1024 that is not the scheme's own (section 6: it can make a client speak
        /// another protocol).
        OddPort = "odd-port",
        /// An encoded control character (section 6).
        EncodedControl = "encoded-control",
        /// A password (section 6).
        Password = "password",
        /// An IP address in any notation, where a name would identify the owner.
        NumericHost = "numeric-host",
        /// A user name that looks like a host: `http://bank.example@other.example/`.
        UserinfoLikeHost = "userinfo-like-host",
        /// A zero-width character, literal or encoded.
        ZeroWidth = "zero-width",
        /// A host label with letters of more than one script.
        MixedScript = "mixed-script",
        /// A host label whose letters are all Cyrillic or Greek and look like Latin ones.
        LatinLookalike = "latin-lookalike",
    }
}

/// Returns the hazards of a found URL, including hazards of characters that were removed from it.
#[must_use]
pub fn found_hazards(found: &FoundUrl<'_>) -> Vec<Hazard> {
    let of_url = found
        .verdicts
        .map_or(Vec::new(), |verdicts| hazards(found.url(), verdicts));
    if !found.repairs.has(Repair::Invisible) {
        return of_url;
    }
    let is_found = |hazard: &Hazard| of_url.contains(hazard) || *hazard == Hazard::ZeroWidth;
    Hazard::ALL.into_iter().filter(is_found).collect()
}

/// Returns the hazards of `url`, a URL without its fragment, in the order of [`Hazard::ALL`].
/// `verdicts` are the verdicts on `url`.
#[must_use]
pub fn hazards(url: &[u8], verdicts: &Verdicts<'_>) -> Vec<Hazard> {
    let components = &verdicts.components;
    let is_encoded = memchr::memchr(b'%', url).is_some();
    Hazard::ALL
        .into_iter()
        .filter(|hazard| match hazard {
            Hazard::OddPort => components
                .port
                .is_some_and(|port| is_odd_port(components.scheme, port)),
            Hazard::EncodedControl => is_encoded && decode(url).iter().any(u8::is_ascii_control),
            Hazard::Password => components
                .userinfo
                .is_some_and(|userinfo| userinfo.contains(&b':')),
            Hazard::NumericHost => has_numeric_host(verdicts),
            Hazard::UserinfoLikeHost => components.userinfo.is_some_and(is_userinfo_like_host),
            Hazard::ZeroWidth => (is_encoded || !url.is_ascii()) && has_zero_width(&decode(url)),
            Hazard::MixedScript => components.host.is_some_and(has_mixed_script),
            Hazard::LatinLookalike => components.host.is_some_and(has_latin_lookalike),
        })
        .collect()
}

/// Returns `true` if the decoded user name starts like a host: `bank.example%20@other.example`.
fn is_userinfo_like_host(userinfo: &[u8]) -> bool {
    let user = decode(userinfo);
    let is_of_host =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | 0x80..);
    is_like_host(&user[..prefix_len(&user, is_of_host)])
}

fn is_odd_port(scheme: &[u8], port: &[u8]) -> bool {
    let number = std::str::from_utf8(port)
        .ok()
        .and_then(|port| port.parse::<u16>().ok());
    number.is_some_and(|number| number < 1024) && !is_default_port(scheme, port)
}

fn has_numeric_host(verdicts: &Verdicts<'_>) -> bool {
    let host = verdicts.components.host.unwrap_or_default();
    verdicts
        .whatwg
        .as_ref()
        .is_some_and(|whatwg| whatwg.is_address)
        || host.first() == Some(&b'[')
        || (!host.is_empty()
            && host
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.'))
}

/// Returns `true` for a name with a dot and a last label of at least two letters.
fn is_like_host(user: &[u8]) -> bool {
    let mut labels = user.rsplit(|&byte| byte == b'.');
    let last = labels.next().unwrap_or_default();
    last.len() >= 2
        && last.iter().all(u8::is_ascii_alphabetic)
        && labels.next().is_some_and(|label| {
            !label.is_empty()
                && label
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        })
}

fn has_zero_width(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).chars().any(|c: char| {
        matches!(
            c,
            '\u{AD}'
                | '\u{200B}'..='\u{200F}'
                | '\u{202A}'..='\u{202E}'
                | '\u{2060}'..='\u{2064}'
                | '\u{FEFF}'
        )
    })
}

/// Returns `true` if one label mixes letters of several scripts, except for the mixtures of
/// Japanese and Korean.
fn has_mixed_script(host: &[u8]) -> bool {
    any_international_label(host, |label| {
        let mut scripts = label
            .chars()
            .map(|c| c.script())
            .filter(|script| !is_neutral(*script));
        let first = scripts.next();
        scripts.any(|script| Some(script) != first)
    })
}

/// Cyrillic and Greek letters that look like a Latin letter (Unicode Technical Standard 39,
/// `confusables.txt`), in lower case as in hosts.
const LATIN_LOOKALIKES: &str = "асԁеһіјӏорԛгѕԝхуѵүαγινορσυϲϳ";

/// Returns `true` if a label has at least one letter, and all its letters look Latin but are not.
fn has_latin_lookalike(host: &[u8]) -> bool {
    any_international_label(host, |label| {
        let mut letters = label.chars().filter(|c| c.is_alphabetic()).peekable();
        letters.peek().is_some() && letters.all(|letter| LATIN_LOOKALIKES.contains(letter))
    })
}

/// Returns `true` if `has` accepts a label of the host. Labels of an ASCII host without A-labels
/// are not tested, because none of them can have the property.
fn any_international_label(host: &[u8], has: impl Fn(&str) -> bool) -> bool {
    let is_a_label = |window: &[u8]| window.eq_ignore_ascii_case(b"xn--");
    if host.is_ascii() && !(host.contains(&b'-') && host.windows(4).any(is_a_label)) {
        return false;
    }
    let (text, _) = idna::domain_to_unicode(&String::from_utf8_lossy(host));
    text.split('.').any(has)
}

fn is_neutral(script: Script) -> bool {
    matches!(
        script,
        Script::Common
            | Script::Inherited
            | Script::Unknown
            | Script::Han
            | Script::Hiragana
            | Script::Katakana
            | Script::Hangul
    )
}

/// Returns `true` if a link's text names a different host than its target `url`.
///
/// `shown` names a host if it starts with a URL, has exactly one, or is one word that can only be a
/// host. Next to other words, only URLs of http, https and ftp count, and none whose host is cut
/// off by an ellipsis. A leading `www.` is ignored, and a domain and its subdomains count as one
/// host. `url` may be a redirector's: then its target counts as well; of a URL with another in its
/// query the inner one counts alone, and if that cannot be read, nothing differs.
#[must_use]
pub fn mismatch(shown: &[u8], url: &[u8]) -> bool {
    // The gateway may have rewritten the text as well.
    let Some(shown) = shown_url(shown.trim_ascii()).and_then(|url| hosts_in_chain(&url)) else {
        return false;
    };
    let Some(targets) = hosts_in_chain(url) else {
        return false;
    };
    !targets.is_empty()
        && !shown.is_empty()
        && !shown.iter().any(|shown| {
            targets
                .iter()
                .any(|target| is_within(shown, target) || is_within(target, shown))
        })
}

/// Maximum number of nested redirectors to follow.
const MAX_REDIRECTORS: usize = 8;

/// Returns the host of a URL and the hosts of the targets in it. The host before a target in a
/// query is left out. Empty for a URL without a host. `None` if the innermost URL is a redirector's
/// and does not hold its target.
fn hosts_in_chain(url: &[u8]) -> Option<Vec<String>> {
    let mut hosts = Vec::from_iter(host_of(url));
    let mut last = url.to_vec();
    for _ in 0..MAX_REDIRECTORS {
        let Some(target) = redirect_targets(&last).into_iter().next() else {
            break;
        };
        if target.redirector == QUERY_TARGET {
            hosts.clear();
        }
        hosts.extend(host_of(&target.url));
        last = target.url;
    }
    match LinkRewriter::of(&last) {
        None => Some(hosts),
        Some(LinkRewriter { target_host: None }) => None,
        Some(LinkRewriter {
            target_host: Some(host),
        }) => {
            hosts.extend(host_of(&[b"http://", &host[..]].concat()));
            Some(hosts)
        }
    }
}

/// Returns the normalized host of a URL, without a leading `www.`. Letters that IDNA 2003 mapped to
/// others are mapped, because a link may have either spelling.
fn host_of(url: &[u8]) -> Option<String> {
    let site = Site::of(&components(cut(url, b'#').before))?;
    let host = idna::domain_to_unicode(&site.host).0;
    let host = host.replace('ß', "ss").replace('ς', "σ");
    (!host.is_empty()).then(|| without_www(&host))
}

/// Returns the URL that a link's text starts with, or the only one in it. A host alone becomes a
/// URL.
fn shown_url(shown: &[u8]) -> Option<Vec<u8>> {
    let mut words = shown.split(u8::is_ascii_whitespace).map(without_marks);
    let mut urls = words.clone().filter(|word| is_absolute(word));
    let first = words.next()?;
    let word = match (urls.next(), urls.next()) {
        (Some(only), None) => only,
        _ => first,
    };
    let is_one_word = !shown.iter().any(u8::is_ascii_whitespace);
    if is_absolute(word) && (is_one_word || is_one_of(scheme(word), &["http", "https", "ftp"])) {
        let host = components(word).host?;
        // A URL that is cut off inside its host does not name a host. It may be cut off if more
        // words follow; an ellipsis shows that it is.
        let is_whole = is_one_word || !word.ends_with(host);
        let is_named = is_whole && is_domain(host) || is_public(host);
        return (is_named && (is_whole || !is_before_ellipsis(word, shown))).then(|| word.to_vec());
    }
    let len = prefix_len(word, |byte| !b"/?#:".contains(byte));
    let (host, rest) = word.split_at(len);
    let is_named =
        is_one_word && !word.contains(&b'@') && is_public(host) && !is_ambiguous(host, rest);
    is_named.then(|| [b"http://", word].concat())
}

/// Returns `true` if dots follow the word in `shown`, perhaps in brackets.
fn is_before_ellipsis(word: &[u8], shown: &[u8]) -> bool {
    let mut words = shown
        .split(u8::is_ascii_whitespace)
        .filter(|next| !next.is_empty())
        .skip_while(|next| without_marks(next) != word);
    let next = words.nth(1).unwrap_or_default();
    let dots = &next[prefix_len(next, |byte| b"<([{".contains(byte))..];
    dots.starts_with(b"..") || dots.starts_with("\u{2026}".as_bytes())
}

fn is_absolute(word: &[u8]) -> bool {
    memchr::memmem::find(word, b"://").is_some() && scheme_of_absolute(word).is_some()
}

/// Returns a word without the brackets, quotes and punctuation around it.
fn without_marks(word: &[u8]) -> &[u8] {
    let is_opening = |byte: &u8| b"<([{\"'".contains(byte);
    let is_closing = |byte: &u8| b">)]}\"'.,;:!?".contains(byte);
    // Dots show that the rest of the word is not displayed.
    if word.ends_with(b"..") {
        return word;
    }
    let word = &word[prefix_len(word, is_opening)..];
    &word[..word.len() - suffix_len(word, is_closing)]
}

/// Returns `true` for an IPv4 address, and for a domain under a public suffix or the reserved
/// `example` (RFC 2606).
fn is_public(host: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(host) else {
        return false;
    };
    plausible_host(host)
        && without_www(&text.to_ascii_lowercase()).contains('.')
        && (text.parse::<std::net::Ipv4Addr>().is_ok()
            || host_name(text)
                .is_some_and(|host: String| has_known_suffix(&host) || host.ends_with(".example")))
}

/// Returns `true` for two or more labels of ASCII characters, or of letters and digits of any
/// script: an ellipsis shows that the rest is not displayed.
fn is_domain(host: &[u8]) -> bool {
    let is_of_label = |c: char| c.is_ascii() || c.is_alphanumeric();
    plausible_host(host)
        && host.contains(&b'.')
        && std::str::from_utf8(host).is_ok_and(|text| text.chars().all(is_of_label))
}

/// Returns `true` for a word that looks like a host but may be a file (`README.md`), a member of
/// an object (`System.IO`) or a version (`1.2.3.4`).
fn is_ambiguous(host: &[u8], rest: &[u8]) -> bool {
    let text = String::from_utf8_lossy(host).to_ascii_lowercase();
    if text.starts_with("www.") {
        return false;
    }
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let second = text.rsplit('.').nth(1).unwrap_or_default();
    // Under a country's domain, such a second label is part of the public suffix.
    let is_below_suffix = matches!(second, "co" | "com" | "net" | "org" | "edu" | "gov" | "ac");
    let is_file = rest.is_empty() && !is_below_suffix && is_one_of(last, &FILE_EXTENSIONS);
    is_file
        || host.contains(&b'_')
        || !last
            .iter()
            .any(|byte| byte.is_ascii_lowercase() || !byte.is_ascii())
}

/// File extensions that are also top-level domains.
const FILE_EXTENSIONS: [&str; 41] = [
    "am", "app", "as", "bz", "cab", "cc", "cl", "do", "gs", "id", "in", "inc", "la", "md", "mk",
    "ml", "mm", "mo", "mov", "ms", "name", "nr", "ph", "pl", "pm", "ps", "pub", "py", "rs", "sc",
    "sh", "so", "st", "sv", "tf", "top", "tr", "ts", "vi", "ws", "zip",
];

/// Returns a host without a leading `www.`.
fn without_www(host: &str) -> String {
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

/// Returns `true` if `host` is `domain` or a subdomain of it.
fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(url: &str) -> Vec<&'static str> {
        let verdicts = Verdicts::of(url.as_bytes(), url.len());
        hazards(url.as_bytes(), &verdicts)
            .into_iter()
            .map(Hazard::name)
            .collect()
    }

    #[test]
    fn each_hazard_is_found() {
        assert_eq!(
            names("gopher://h:25/0a%0d%0ab"),
            ["odd-port", "encoded-control"]
        );
        assert_eq!(names("ftp://u:p@h/"), ["password"]);
        assert_eq!(names("http://0x7f.1/"), ["numeric-host"]);
        assert_eq!(names("http://2130706433/"), ["numeric-host"]);
        for after in ["", "%20", "%40x", "%2f", ";x"] {
            let url = format!("http://www.bank.example{after}@other.example/");
            assert_eq!(names(&url), ["userinfo-like-host"]);
        }
        assert_eq!(names("http://h/a%E2%80%8Bb"), ["zero-width"]);
        assert_eq!(names("http://p\u{0430}ypal.example/"), ["mixed-script"]);
        let lookalike = ["latin-lookalike"];
        assert_eq!(names("http://аррӏе.example/"), lookalike);
        assert_eq!(names("http://xn--80ak6aa92e.example/"), lookalike);
        assert_eq!(names("http://москва.example/"), [""; 0]);
        assert_eq!(names("http://www.example/аррӏе"), [""; 0]);
        assert_eq!(names("http://xn--pypal-4ve.example/"), ["mixed-script"]);
        assert_eq!(names("http://example.org:8080/a?b"), [""; 0]);
        assert_eq!(names("https://b\u{fc}cher.example:443/"), [""; 0]);
    }

    #[track_caller]
    fn check(shown: &str, url: &str, differs: bool) {
        assert_eq!(
            mismatch(shown.as_bytes(), url.as_bytes()),
            differs,
            "{shown} {url}"
        );
    }

    #[test]
    fn only_a_host_in_the_link_text_can_mismatch_the_target() {
        let thief = "http://thief.example/";
        for shown in [
            "http://bank.com/",
            "http://bank.com/x and more",
            "www.bank.com",
            "bank.com",
            "Bank.com/login",
            "<https://bank.com>.",
            "bank.co.in",
            "bank.example",
            "https://bank.corp/",
            "http://192.0.2.1/",
            "b\u{fc}cher.de",
            "http://b\u{fc}cher.test/",
            "Visit https://bank.corp/login now",
            "Bank: <https://bank.com>",
            "see https://bank.com/ ...",
            "chrome://bank.com/x",
        ] {
            check(shown, thief, true);
        }
        for shown in [
            "click here",
            "version 2.0",
            "b200_impl.cpp",
            "host/lib/usrp/b200/b200_impl.cpp",
            "README.md",
            "foo.spec.in",
            "System.IO",
            "ASP.NET",
            "os.name",
            "joe@bank.com",
            "bank.com and more",
            "www.very-long-name-of-a-ba...",
            "https://www.very-long-name-of-a-ba...",
            "https://www.ban\u{2026}",
            "https://www.ba nk.com/",
            "https://localhost/",
            "see http://bank.com/ and http://bank.org/",
            "see https://www.ban ...",
            "see https://www.bank.co ...",
            "https://www.bank.co [\u{2026}]",
            "Error at chrome://browser.content/x",
            "",
        ] {
            check(shown, thief, false);
        }
        check("bank.com", "https://www.bank.com/x", false);
        check("https://bank.com", "https://login.bank.com/", false);
        check("b\u{fc}cher.de", "http://xn--bcher-kva.de/", false);
        check("bank.com", "mailto:joe@thief.example", false);
        let street = "http://stra\u{df}e.test/";
        check(street, "http://strasse.test/", false);
        check(street, "http://xn--strae-oqa.test/", false);
    }

    #[test]
    fn a_rewritten_link_is_compared_with_its_target() {
        let defended = "https://urldefense.com/v3/__https://a.example.org/x__;!!org!token$";
        check("https://a.example.org/x", defended, false);
        check("https://b.example.org/x", defended, true);
        check(defended, defended, false);
        let escaped = "https%3A%2F%2Fa.example.org%2Fx";
        check(
            "a.example.org",
            &format!("https://deref-web.de/mail/client/x/dereferrer/?redirectUrl={escaped}"),
            false,
        );
        let mimecast = "https://url.uk.m.mimecastprotect.com/s/Ab1?domain=a.example.org";
        check("a.example.org", mimecast, false);
        check("www.bank.com", mimecast, true);
        // This link does not name its target.
        check(
            "www.bank.com",
            "https://protect-us.mimecast.com/s/Ab1",
            false,
        );
        check(
            "www.bank.com",
            "https://nam1.safelinks.protection.outlook.com/?url=",
            false,
        );
    }
}
