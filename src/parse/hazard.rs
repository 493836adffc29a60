//! What RFC 1738 section 6 warns of, and what abuse desks look for.

use unicode_script::{Script, UnicodeScript};

use super::components::UrlComponents;
use super::key::is_default;
use super::verdict::Verdicts;
use crate::grammar::decode;

/// Something about a URL that should make its reader careful. Nothing is refused for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hazard {
    /// A port below 1024 that is not the scheme's own (section 6: a client made to talk to another protocol).
    OddPort,
    /// An encoded control character (section 6).
    EncodedControl,
    /// A password (section 6).
    Password,
    /// An address, in whatever notation, where a name would tell who it is.
    NumericHost,
    /// A user name that looks like a host: `http://bank.example@other.example/`.
    UserinfoLikeHost,
    /// A character that takes no room, as it is or encoded.
    ZeroWidth,
    /// A label of the host in letters of more than one script.
    MixedScript,
}

impl Hazard {
    /// The name that stands in a record's `hazards`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Hazard::OddPort => "odd-port",
            Hazard::EncodedControl => "encoded-control",
            Hazard::Password => "password",
            Hazard::NumericHost => "numeric-host",
            Hazard::UserinfoLikeHost => "userinfo-like-host",
            Hazard::ZeroWidth => "zero-width",
            Hazard::MixedScript => "mixed-script",
        }
    }
}

/// The hazards of `url`, which has no fragment and on which `verdicts` are, in the order of [`Hazard`]'s variants.
#[must_use]
pub fn hazards(url: &[u8], verdicts: &Verdicts<'_>) -> Vec<Hazard> {
    let parts = &verdicts.components;
    let mut found = Vec::new();
    let mut note = |hazard, holds: bool| {
        if holds {
            found.push(hazard);
        }
    };
    note(
        Hazard::OddPort,
        parts.port.is_some_and(|port| odd_port(parts.scheme, port)),
    );
    let is_encoded = memchr::memchr(b'%', url).is_some();
    if is_encoded {
        note(
            Hazard::EncodedControl,
            decode(url)
                .iter()
                .any(|&octet| octet < 0x20 || octet == 0x7F),
        );
    }
    if let Some(userinfo) = parts.userinfo {
        note(Hazard::Password, userinfo.contains(&b':'));
    }
    note(Hazard::NumericHost, numeric_host(parts, verdicts));
    if let Some(userinfo) = parts.userinfo {
        let user = userinfo
            .split(|&byte| byte == b':')
            .next()
            .unwrap_or_default();
        note(Hazard::UserinfoLikeHost, like_host(&decode(user)));
    }
    note(
        Hazard::ZeroWidth,
        (is_encoded || !url.is_ascii()) && zero_width(&decode(url)),
    );
    note(Hazard::MixedScript, parts.host.is_some_and(mixed_script));
    found
}

fn odd_port(scheme: &[u8], port: &[u8]) -> bool {
    let number = std::str::from_utf8(port)
        .ok()
        .and_then(|port| port.parse::<u16>().ok());
    number.is_some_and(|number| number < 1024) && !is_default(scheme, port)
}

fn numeric_host(parts: &UrlComponents<'_>, verdicts: &Verdicts<'_>) -> bool {
    let host = parts.host.unwrap_or_default();
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

/// A name with a dot and a last label of two letters or more.
fn like_host(user: &[u8]) -> bool {
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

fn zero_width(octets: &[u8]) -> bool {
    String::from_utf8_lossy(octets)
        .chars()
        .any(|c| matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}'))
}

/// Letters of different scripts in one label, those that Japanese and Korean mix aside.
fn mixed_script(host: &[u8]) -> bool {
    let encoded = host.contains(&b'-')
        && host
            .windows(4)
            .any(|window| window.eq_ignore_ascii_case(b"xn--"));
    if host.is_ascii() && !encoded {
        return false;
    }
    let (text, _) = idna::domain_to_unicode(&String::from_utf8_lossy(host));
    text.split('.').any(|label| {
        let mut scripts = label
            .chars()
            .map(|c| c.script())
            .filter(|script| !is_neutral(*script));
        let first = scripts.next();
        scripts.any(|script| Some(script) != first)
    })
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
    fn each_hazard_is_seen() {
        assert_eq!(
            names("gopher://h:25/0a%0d%0ab"),
            ["odd-port", "encoded-control"]
        );
        assert_eq!(names("ftp://u:p@h/"), ["password"]);
        assert_eq!(names("http://0x7f.1/"), ["numeric-host"]);
        assert_eq!(names("http://2130706433/"), ["numeric-host"]);
        assert_eq!(
            names("http://www.bank.example@other.example/"),
            ["userinfo-like-host"]
        );
        assert_eq!(names("http://h/a%E2%80%8Bb"), ["zero-width"]);
        assert_eq!(names("http://p\u{0430}ypal.example/"), ["mixed-script"]);
        assert_eq!(names("http://xn--pypal-4ve.example/"), ["mixed-script"]);
        assert_eq!(names("http://example.org:8080/a?b"), [""; 0]);
        assert_eq!(names("https://b\u{fc}cher.example:443/"), [""; 0]);
    }
}
