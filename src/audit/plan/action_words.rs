//! Words by which a path or a query asks for an action: an audit must not press such a link.

/// Words that are a whole token of a path or query: a run of letters, or one that begins with a capital in a run of mixed case.
const ACTION_WORDS: [&str; 53] = [
    "accept",
    "activate",
    "activation",
    "approve",
    "auth",
    "authenticate",
    "authorize",
    "autologin",
    "cancel",
    "changepassword",
    "confirm",
    "confirmation",
    "confirmemail",
    "confirming",
    "decline",
    "del",
    "delete",
    "deny",
    "disable",
    "enable",
    "forgotpassword",
    "invitation",
    "invite",
    "login",
    "logoff",
    "logout",
    "magiclink",
    "moderate",
    "nonce",
    "passcode",
    "passwd",
    "password",
    "passwordreset",
    "purge",
    "redeem",
    "register",
    "reject",
    "remove",
    "removeme",
    "reset",
    "resetpassword",
    "revoke",
    "rsvp",
    "signin",
    "signoff",
    "signout",
    "submit",
    "subscribe",
    "token",
    "validate",
    "verification",
    "verify",
    "verifyemail",
];

/// Texts that ask for an action wherever they stand.
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

/// Words that begin a token.
const ACTION_PREFIXES: [&str; 1] = ["unsub"];

/// Returns `true` if `path_and_query`, with escapes decoded, asks for an action.
pub(super) fn asks_for_action(path_and_query: &[u8]) -> bool {
    let text = String::from_utf8_lossy(path_and_query);
    let lower = text.to_ascii_lowercase();
    let has_text = ACTION_TEXTS.iter().any(|word| lower.contains(word));
    let runs = || text.split(|c: char| !c.is_ascii_alphabetic());
    has_text || runs().any(is_action) || runs().any(|run| capitalized_tokens(run).any(is_action))
}

fn is_action(token: &str) -> bool {
    let token = token.to_ascii_lowercase();
    ACTION_WORDS.binary_search(&&*token).is_ok()
        || ACTION_PREFIXES
            .iter()
            .any(|prefix| token.starts_with(prefix))
}

/// The tokens of a run of letters: `confirmEmail` has two.
fn capitalized_tokens(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let is_end =
            |&at: &usize| bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
        let end = (1..bytes.len()).find(is_end).unwrap_or(bytes.len());
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted_for_the_search() {
        assert!(ACTION_WORDS.is_sorted());
    }

    #[test]
    fn actions_are_seen_in_every_spelling() {
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
    fn words_that_only_begin_alike_are_no_actions() {
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
