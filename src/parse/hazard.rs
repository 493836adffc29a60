//! Hazards: the warnings of RFC 1738 section 6, and the signs that abuse desks look for. No URL is
//! rejected for them. Links that show another host than their target has are told in `mismatch.rs`.

use unicode_script::{Script, UnicodeScript};

use super::components::is_default_port;
use super::verdict::Verdicts;
use crate::grammar::decode;

named_enum! {
    /// Property of a URL for which its reader should be careful. No URL is rejected for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Hazard {
        /// A port below 1024 that is not the scheme's own (section 6: a client is made to speak another
        /// protocol).
        OddPort = "odd-port",
        /// An encoded control character (section 6).
        EncodedControl = "encoded-control",
        /// A password (section 6).
        Password = "password",
        /// An address in any notation, where a name would identify the owner.
        NumericHost = "numeric-host",
        /// A user name that looks like a host: `http://bank.example@other.example/`.
        UserinfoLikeHost = "userinfo-like-host",
        /// A character without width, literal or encoded.
        ZeroWidth = "zero-width",
        /// A label of the host with letters of more than one script.
        MixedScript = "mixed-script",
    }
}

/// Returns the hazards of `url`, a URL without its fragment, in the order of [`Hazard::ALL`].
/// `verdicts` are those on it.
#[must_use]
pub fn hazards(url: &[u8], verdicts: &Verdicts<'_>) -> Vec<Hazard> {
    let components = &verdicts.components;
    let is_encoded = memchr::memchr(b'%', url).is_some();
    let holds = |hazard: &Hazard| match hazard {
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
    };
    Hazard::ALL.into_iter().filter(holds).collect()
}

/// Returns `true` if the user name, decoded, looks like a host.
fn is_userinfo_like_host(userinfo: &[u8]) -> bool {
    let user = userinfo
        .split(|&byte| byte == b':')
        .next()
        .unwrap_or_default();
    is_like_host(&decode(user))
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

/// Returns `true` for a name with a dot and a last label of two letters or more.
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
    let is_invisible = |c: char| {
        matches!(
            c,
            '\u{AD}'
                | '\u{200B}'..='\u{200F}'
                | '\u{202A}'..='\u{202E}'
                | '\u{2060}'..='\u{2064}'
                | '\u{FEFF}'
        )
    };
    String::from_utf8_lossy(text).chars().any(is_invisible)
}

/// Returns `true` for letters of different scripts in one label, except those that Japanese and
/// Korean mix.
fn has_mixed_script(host: &[u8]) -> bool {
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
    fn each_hazard_is_found() {
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
