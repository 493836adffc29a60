//! Comparison of the text of a link with its target.

use super::components::{components, scheme_of_absolute};
use crate::scan::{likely_host, plausible_host};

/// Returns `true` if the text of a link names another host than the one of its target `url`.
///
/// `shown` names a host if it is a URL, or one word that looks like a host; no other text does. A leading `www.` is
/// ignored, and a domain and its subdomains count as one host.
#[must_use]
pub fn mismatch(shown: &[u8], url: &[u8]) -> bool {
    let (Some(shown), Some(target)) = (shown_host(shown.trim_ascii()), components(url).host) else {
        return false;
    };
    let (shown, target) = (without_www(shown), without_www(target));
    !is_within(&shown, &target) && !is_within(&target, &shown)
}

/// Returns the host that a text names.
fn shown_host(shown: &[u8]) -> Option<&[u8]> {
    let word = shown
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    if scheme_of_absolute(word).is_some() {
        return components(word).host.filter(|host| host.contains(&b'.'));
    }
    let is_one_word = word.len() == shown.len();
    let host = word
        .split(|&byte| matches!(byte, b'/' | b'?' | b'#' | b':'))
        .next()
        .unwrap_or_default();
    let is_likely = likely_host(&[b"x.", host].concat()) && plausible_host(host);
    (is_one_word && !word.contains(&b'@') && is_likely).then_some(host)
}

/// Returns the host in lower case without a leading `www.`.
fn without_www(host: &[u8]) -> Vec<u8> {
    let host = host.to_ascii_lowercase();
    match host.strip_prefix(b"www.") {
        Some(rest) => rest.to_vec(),
        None => host,
    }
}

/// Returns `true` if `host` is `domain` or a subdomain of it.
fn is_within(host: &[u8], domain: &[u8]) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_shown_host_can_differ_from_the_target() {
        let differs = |shown: &str, url: &str| mismatch(shown.as_bytes(), url.as_bytes());
        assert!(differs("http://bank.example/", "http://thief.example/"));
        assert!(differs("www.bank.com", "https://thief.example/"));
        assert!(
            !differs("bank.com", "https://www.bank.com/x")
                && !differs("https://bank.com", "https://login.bank.com/")
        );
        assert!(
            !differs("click here", "http://thief.example/")
                && !differs("version 2.0", "http://thief.example/")
        );
    }
}
