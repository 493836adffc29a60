//! Reasons for excluding a link from checks, and words in a path or query that request an action.
//! An audit must not trigger such actions.

use url::Url;

use crate::public_host::{is_among, is_public};
use urlspool_files::config::named_values;
use urlspool_text::grammar::decode;

/// Minimum confidence of a link to check. A lower confidence means that the link is a guess or was
/// truncated.
pub(super) const MIN_CONFIDENCE: f64 = 0.8;

named_values! {
    /// Reason for excluding a link from checks, with a short explanation for a summary. The first
    /// reason that applies is used.
    pub enum Exclusion {
        /// The scheme is neither http nor https.
        Scheme = "scheme": "link checkers do not speak its protocol",
        /// WHATWG rejects it, so no client can request it.
        NoHref = "no-href": "no browser would fetch it",
        /// It is cited only in header fields, most of which are for leaving a list.
        HeaderOnly = "header-only": "cited only in header fields, such as List-Unsubscribe",
        /// It has a user or a password.
        Credentials = "credentials": "its URL holds a user name or a password",
        /// Its path or query requests an action.
        Action = "action": "its path or query asks for an action, such as unsubscribe",
        /// Its author cut it short.
        Shortened = "shortened": "its author cut it short",
        /// Its confidence is below 0.8.
        Confidence = "confidence": "read with a confidence below 0.8",
        /// Its host is private, reserved, or not public for another reason.
        PrivateHost = "private-host": "its host is private, reserved or not public",
    }
}

impl Exclusion {
    /// Reasons that a user can disable. The others do not protect anybody, or are disabled by host.
    pub const LIFTABLE: [Exclusion; 5] = [
        Exclusion::HeaderOnly,
        Exclusion::Credentials,
        Exclusion::Action,
        Exclusion::Shortened,
        Exclusion::Confidence,
    ];
}

/// Properties of a link that decide its exclusion.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkFacts<'l> {
    /// The scheme, in lower case.
    pub(super) scheme: &'l str,
    /// The href without its fragment, if there is one.
    pub(super) href: Option<&'l str>,
    /// `true` if a citation is outside header fields.
    pub(super) is_in_a_body: bool,
    /// `true` if a citation in a body, or in a header field if there is none in a body, has at
    /// least the confidence [`MIN_CONFIDENCE`].
    pub(super) is_confident: bool,
    /// `true` if the first citation ends before the dots with which its author cut it short.
    pub(super) is_cut: bool,
}

/// Exclusions that a user disabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lifted<'l> {
    pub(super) reasons: &'l [Exclusion],
    /// Hosts that may be private.
    pub(super) hosts: &'l [String],
}

/// Returns the reason for excluding a link, or `None` if it is to be checked.
pub(super) fn exclusion(link: &LinkFacts<'_>, lifted: &Lifted<'_>) -> Option<Exclusion> {
    if !matches!(link.scheme, "http" | "https") {
        return Some(Exclusion::Scheme);
    }
    let Some(url) = link.href.and_then(|href| Url::parse(href).ok()) else {
        return Some(Exclusion::NoHref);
    };
    let place = path_and_query(&url);
    let mut reasons = Exclusion::ALL.into_iter();
    reasons.find(|reason| {
        !lifted.reasons.contains(reason)
            && match reason {
                Exclusion::Scheme => !matches!(url.scheme(), "http" | "https"),
                Exclusion::NoHref => !url.has_host(),
                Exclusion::HeaderOnly => !link.is_in_a_body,
                Exclusion::Credentials => !url.username().is_empty() || url.password().is_some(),
                Exclusion::Action => asks_for_action(&place),
                Exclusion::Shortened => link.is_cut || is_shortened(&place),
                Exclusion::Confidence => !link.is_confident && !link.is_cut,
                Exclusion::PrivateHost => {
                    !is_public(&url) && !is_among(url.host_str().unwrap_or_default(), lifted.hosts)
                }
            }
    })
}

/// Returns the path and query, percent-decoded.
fn path_and_query(url: &Url) -> Vec<u8> {
    let mut text = decode(url.path().as_bytes());
    if let Some(query) = url.query() {
        text.push(b'?');
        text.extend_from_slice(&decode(query.as_bytes()));
    }
    text
}

/// Returns `true` for a text that contains an ellipsis, or ends like a truncated line.
fn is_shortened(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.ends_with("..") || text.contains("...") || text.contains('\u{2026}')
}

/// Words that count only as a whole token of a path or query. A token is a run of letters, or a
/// part of a mixed-case run that starts with a capital.
#[rustfmt::skip]
const ACTION_WORDS: [&str; 53] = [
    "accept", "activate", "activation", "approve", "auth", "authenticate", "authorize", "autologin",
    "cancel", "changepassword", "confirm", "confirmation", "confirmemail", "confirming", "decline",
    "del", "delete", "deny", "disable", "enable", "forgotpassword", "invitation", "invite", "login",
    "logoff", "logout", "magiclink", "moderate", "nonce", "passcode", "passwd", "password",
    "passwordreset", "purge", "redeem", "register", "reject", "remove", "removeme", "reset",
    "resetpassword", "revoke", "rsvp", "signin", "signoff", "signout", "submit", "subscribe",
    "token", "validate", "verification", "verify", "verifyemail",
];

/// Texts that request an action even inside a word.
const ACTION_TEXTS: [&str; 8] = [
    "unsubscribe",
    "unsubscription",
    "opt-out",
    "opt_out",
    "optout",
    "one-click",
    "oneclick",
    "access_token",
];

/// Returns `true` if the percent-decoded `path_and_query` requests an action.
fn asks_for_action(path_and_query: &[u8]) -> bool {
    let text = String::from_utf8_lossy(path_and_query);
    let lower = text.to_ascii_lowercase();
    ACTION_TEXTS.iter().any(|word| lower.contains(word))
        || text
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|run| is_action(run) || capitalized_tokens(run).any(is_action))
}

fn is_action(token: &str) -> bool {
    let token = token.to_ascii_lowercase();
    token.starts_with("unsub") || ACTION_WORDS.binary_search(&&*token).is_ok()
}

/// Returns the tokens of a run of letters: `confirmEmail` has two.
fn capitalized_tokens(run: &str) -> impl Iterator<Item = &str> {
    let tokens = run
        .as_bytes()
        .chunk_by(|byte, next| !(byte.is_ascii_lowercase() && next.is_ascii_uppercase()));
    // A run is ASCII.
    tokens.filter_map(|token| std::str::from_utf8(token).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(href: &str) -> LinkFacts<'_> {
        LinkFacts {
            scheme: href.split(':').next().unwrap(),
            href: Some(href),
            is_in_a_body: true,
            is_confident: true,
            is_cut: false,
        }
    }

    #[track_caller]
    fn check(link: &LinkFacts<'_>, expected: Option<Exclusion>) {
        assert_eq!(exclusion(link, &Lifted::default()), expected, "{link:?}");
    }

    #[test]
    fn each_reason_is_found() {
        for (href, expected) in [
            ("http://info.cern.ch/", None),
            ("https://info.cern.ch/a..b", None),
            ("gopher://info.cern.ch/", Some(Exclusion::Scheme)),
            ("http://u@info.cern.ch/", Some(Exclusion::Credentials)),
            ("http://:p@info.cern.ch/", Some(Exclusion::Credentials)),
            ("http://info.cern.ch/confirm?x", Some(Exclusion::Action)),
            ("http://info.cern.ch/%63onfirm", Some(Exclusion::Action)),
            ("http://info.cern.ch/a/...", Some(Exclusion::Shortened)),
            ("http://info.cern.ch/?a..", Some(Exclusion::Shortened)),
            ("http://info.cern.ch/a%E2%80%A6", Some(Exclusion::Shortened)),
            ("http://10.0.0.1/", Some(Exclusion::PrivateHost)),
            ("http://wiki/", Some(Exclusion::PrivateHost)),
        ] {
            check(&facts(href), expected);
        }
        let link = facts("http://info.cern.ch/");
        check(&LinkFacts { href: None, ..link }, Some(Exclusion::NoHref));
        let header = LinkFacts {
            is_in_a_body: false,
            ..link
        };
        check(&header, Some(Exclusion::HeaderOnly));
        let doubtful = LinkFacts {
            is_confident: false,
            ..link
        };
        check(&doubtful, Some(Exclusion::Confidence));
        let cut = LinkFacts {
            is_cut: true,
            ..doubtful
        };
        check(&cut, Some(Exclusion::Shortened));
        let lifted = Lifted {
            reasons: &[Exclusion::Shortened],
            ..Lifted::default()
        };
        assert_eq!(exclusion(&cut, &lifted), None);
    }

    #[test]
    fn reasons_and_hosts_can_be_disabled() {
        let hosts = ["wiki".to_owned()];
        let lifted = Lifted {
            reasons: &[Exclusion::Action],
            hosts: &hosts,
        };
        assert_eq!(exclusion(&facts("http://wiki/confirm"), &lifted), None);
        let other = exclusion(&facts("http://wiki2/confirm"), &lifted);
        assert_eq!(other, Some(Exclusion::PrivateHost));
    }

    #[test]
    fn the_words_are_sorted_for_the_search() {
        assert!(ACTION_WORDS.is_sorted());
    }

    #[test]
    fn actions_are_recognized_in_every_spelling() {
        for text in [
            "/unsubscribe",
            "/l?cmd=UNSUBSCRIBE&u=1",
            "/listUnsubscribe.do",
            "/unsub/12",
            "/optout.php",
            "/mailman/confirm/list/1234",
            "/confirmEmail",
            "/account/verify?x=1",
            "/?action=reset",
            "/passwordReset",
            "/a?token=abc",
            "/a?x_token=abc",
            "/group/RESET",
            "/user/delete/3",
        ] {
            assert!(asks_for_action(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn words_that_share_only_a_prefix_are_not_actions() {
        for text in [
            "/",
            "/rfc/rfc1738.txt",
            "/news/court-confirms-ruling",
            "/tokenizer.html",
            "/resettlement",
            "/additional",
            "/authors/",
            "/postings/1996",
        ] {
            assert!(!asks_for_action(text.as_bytes()), "{text}");
        }
    }
}
