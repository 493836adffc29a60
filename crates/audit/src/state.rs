//! The states of links and pages, and that of a link from the result of a check. The definitions are fixed, so that audits can
//! be compared.

use urlspool_text::parse::{Site, UrlComponents, components};

/// Declares an enum; each row is `Variant = "name": "words",`: the name that the tables and the CSV
/// files have, and words for people.
macro_rules! worded_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal: $words:literal,)+
        }
    ) => {
        urlspool_text::named_enum! {
            $(#[$attribute])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            $visibility enum $type {
                $($(#[$doc])* $variant = $name,)+
            }
        }

        impl $type {
            /// Returns the words for people.
            #[must_use]
            $visibility const fn words(self) -> &'static str {
                match self {
                    $($type::$variant => $words,)+
                }
            }

            /// Returns the value with this name.
            #[must_use]
            $visibility fn named(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}

pub(super) use worded_enum;

worded_enum! {
    /// The state of a link, in the order in which they are reported. The last one is that of links
    /// without a result.
    pub enum LinkState {
        /// A 2xx status, also after redirects within its domain.
        Alive = "alive": "alive",
        /// A 2xx status of another domain, or of the front page of its own where a page was asked for.
        Redirected = "redirected": "redirected",
        /// The server answers that the page is gone.
        DeadPage = "dead_page": "dead page",
        /// There is no such host, or it does not answer.
        DeadHost = "dead_host": "dead host",
        /// No check, or a result that proves neither life nor death.
        Unknown = "unknown": "unknown",
    }
}

impl LinkState {
    /// Returns the title of its column.
    pub(super) const fn title(self) -> &'static str {
        match self {
            LinkState::Alive => "Alive",
            LinkState::Redirected => "Redirected",
            LinkState::DeadPage => "Dead page",
            LinkState::DeadHost => "Dead host",
            LinkState::Unknown => "Unknown",
        }
    }

    /// Returns the words after the number of one link, and of several.
    #[must_use]
    pub const fn count_words(self) -> [&'static str; 2] {
        match self {
            LinkState::DeadPage => ["dead page", "dead pages"],
            // Several links may have one host.
            LinkState::DeadHost => ["on a dead host", "on dead hosts"],
            _ => [self.words(); 2],
        }
    }

    /// Returns `true` if the page or the host is gone.
    pub(super) fn is_dead(self) -> bool {
        matches!(self, LinkState::DeadPage | LinkState::DeadHost)
    }
}

worded_enum! {
    /// The state of a page that answers, beside that of its link, in the order in which they are
    /// reported.
    pub enum PageState {
        /// It has no sign of the other states.
        NoSign = "no_sign": "No sign",
        /// Redirects led to another registrable domain.
        OtherDomain = "other_domain": "Other domain",
        /// Redirects led from a page to the front page of its domain.
        FrontPage = "front_page": "Front page",
        /// Redirects led to a parking service, or it loads from one.
        Parked = "parked": "Parked",
        /// It is the page of its host for a path that cannot exist.
        Soft404 = "soft_404": "Soft 404",
        /// It cannot be judged: a script may draw it, or it asks for a password.
        Undecided = "undecided": "Undecided",
        /// It was not read: excluded by a robots.txt, private, or its server gave no page.
        NotRead = "not_read": "Not read",
    }
}

worded_enum! {
    /// The reason for which a check ended without an HTTP status, with the words after a number of
    /// URLs.
    pub(super) enum CheckFailure {
        /// There is no such host.
        Dns = "dns": "no such host",
        /// The host refuses connections, or cannot be reached.
        Connect = "connect": "refused or not reached",
        /// No answer in time, after retries.
        Timeout = "timeout": "no answer in time",
        /// No secure connection.
        Tls = "tls": "no secure connection",
        /// Reset, too many redirects, or any other reason.
        Other = "other": "failed in the name service, network or connection",
        /// The host is private, or the checker refused to check the link.
        Excluded = "excluded": "on a private host",
    }
}

impl CheckFailure {
    /// Returns `true` for a failure of the link, for which a server was asked; not one of its
    /// check.
    pub(super) fn is_of_link(self) -> bool {
        self != CheckFailure::Excluded
    }
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckOutcome {
    /// The last server answered with this HTTP code.
    Status(u16),
    /// No server answered.
    Failed(CheckFailure),
}

/// Returns the state of the link `url` after a check. `final_url` is where redirects led; `None`
/// without any.
pub(super) fn link_state(url: &str, outcome: CheckOutcome, final_url: Option<&str>) -> LinkState {
    match outcome {
        CheckOutcome::Status(200..=299) => answered_state(url, final_url.unwrap_or(url)),
        // Asks for a login, or for patience; or the page exists, and a law forbids to show it
        // (451).
        CheckOutcome::Status(401 | 403 | 407 | 408 | 425 | 429 | 451) => LinkState::Unknown,
        CheckOutcome::Status(400..=499) => LinkState::DeadPage,
        CheckOutcome::Status(_) => LinkState::Unknown,
        CheckOutcome::Failed(CheckFailure::Dns | CheckFailure::Connect | CheckFailure::Timeout) => {
            LinkState::DeadHost
        }
        CheckOutcome::Failed(_) => LinkState::Unknown,
    }
}

/// The state of a link whose redirects ended at a page of `final_url`.
fn answered_state(url: &str, final_url: &str) -> LinkState {
    let [asked, given] = [url, final_url].map(|url| components(without_fragment(url).as_bytes()));
    let is_moved = domain_or_host(&asked) != domain_or_host(&given);
    if is_moved || is_front_page(&given) && !is_front_page(&asked) {
        LinkState::Redirected
    } else {
        LinkState::Alive
    }
}

/// Returns the registrable domain of a URL, or its host without one.
pub(super) fn domain_of(url: &str) -> Option<String> {
    domain_or_host(&components(url.as_bytes()))
}

/// Returns the registrable domain, or the host of an address or a single label.
fn domain_or_host(url: &UrlComponents<'_>) -> Option<String> {
    let site = Site::of(url)?;
    Some(site.domain().unwrap_or(&site.host).to_owned())
}

/// Returns a URL without its fragment, which no server sees.
pub(super) fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

/// Returns `true` for the root of a host: no path, and no query.
fn is_front_page(url: &UrlComponents<'_>) -> bool {
    matches!(url.path, b"" | b"/") && url.query.unwrap_or_default().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, outcome: CheckOutcome, final_url: Option<&str>, expected: LinkState) {
        let state = link_state(url, outcome, final_url);
        assert_eq!(state, expected, "{url} {outcome:?} {final_url:?}");
    }

    #[test]
    fn a_status_gives_the_state() {
        for (codes, expected) in [
            (200..=299, LinkState::Alive),
            (402..=402, LinkState::DeadPage),
            (404..=406, LinkState::DeadPage),
            (409..=424, LinkState::DeadPage),
            (426..=428, LinkState::DeadPage),
            (430..=450, LinkState::DeadPage),
            (452..=499, LinkState::DeadPage),
            (100..=199, LinkState::Unknown),
            (300..=399, LinkState::Unknown),
            (500..=999, LinkState::Unknown),
        ] {
            for code in codes {
                check(
                    "http://h.test/a",
                    CheckOutcome::Status(code),
                    None,
                    expected,
                );
            }
        }
        for code in [401, 403, 407, 408, 425, 429, 451] {
            let outcome = CheckOutcome::Status(code);
            check("http://h.test/a", outcome, None, LinkState::Unknown);
        }
    }

    #[test]
    fn a_failure_gives_the_state() {
        for failure in CheckFailure::ALL {
            let expected = match failure.name() {
                "dns" | "connect" | "timeout" => LinkState::DeadHost,
                _ => LinkState::Unknown,
            };
            let outcome = CheckOutcome::Failed(failure);
            check("http://h.test/a", outcome, None, expected);
        }
    }

    #[test]
    fn redirects_within_the_domain_leave_a_link_alive() {
        let (alive, redirected) = (LinkState::Alive, LinkState::Redirected);
        for (url, final_url, expected) in [
            ("http://a.h.test/x", "https://www.h.test/y", alive),
            ("http://a.h.test/x", "http://a.i.test/x", redirected),
            ("http://a.co.uk/x", "http://b.co.uk/x", redirected),
            ("http://a.h.test/", "https://www.h.test/", alive),
            ("http://a.h.test", "https://www.h.test/index.html", alive),
            ("http://a.h.test/x", "http://a.h.test/", redirected),
            ("http://a.h.test/x", "http://b.h.test", redirected),
            ("http://a.h.test/x", "http://a.h.test/?", redirected),
            ("http://a.h.test/x", "http://a.h.test/#x", redirected),
            ("http://a.h.test/x", "http://a.h.test/?x", alive),
            ("http://a.h.test/?x", "http://a.h.test/", redirected),
            ("http://H.test:80/x", "http://h.TEST/x", alive),
            ("http://192.0.2.1/x", "http://192.0.2.2/x", redirected),
            ("http://192.0.2.1/x", "http://192.0.2.1/y", alive),
            ("http://single/x", "http://other/x", redirected),
        ] {
            check(url, CheckOutcome::Status(200), Some(final_url), expected);
        }
    }

    #[test]
    fn the_end_of_redirects_matters_only_if_it_answers() {
        let outcome = CheckOutcome::Status(404);
        let expected = LinkState::DeadPage;
        check("http://h.test/a", outcome, Some("http://i.test/"), expected);
    }

    #[test]
    fn names_are_read_back() {
        for state in LinkState::ALL {
            assert_eq!(LinkState::named(state.name()), Some(state));
        }
        for failure in CheckFailure::ALL {
            assert_eq!(CheckFailure::named(failure.name()), Some(failure));
        }
        assert_eq!(LinkState::named("dead"), None);
    }
}
