//! States of links and pages, and the state of a link for the result of a check. The definitions
//! are fixed, which keeps audits comparable.

use urlspool_files::config::{NamedValue, named_values};
use urlspool_text::parse::{Site, UrlComponents, components};

named_values! {
    /// State of a link, in the order of reports. Links without a result have the last one.
    pub enum LinkState {
        /// A 2xx status, possibly after redirects within the domain.
        Alive = "alive": "alive",
        /// A 2xx status from another domain, or from the domain's front page when another page was
        /// requested.
        Redirected = "redirected": "redirected",
        /// The server answers that the page is gone.
        DeadPage = "dead_page": "dead page",
        /// The host does not exist or does not answer.
        DeadHost = "dead_host": "dead host",
        /// No check, or a result that proves neither that the link works nor that it is dead.
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

    /// Returns the words after a count, in singular and plural.
    #[must_use]
    pub fn count_words(self) -> [&'static str; 2] {
        match self {
            LinkState::DeadPage => ["dead page", "dead pages"],
            // Several links may have one host.
            LinkState::DeadHost => ["on a dead host", "on dead hosts"],
            _ => [self.meaning(); 2],
        }
    }

    /// Returns `true` if the page or the host is gone.
    pub(super) fn is_dead(self) -> bool {
        matches!(self, LinkState::DeadPage | LinkState::DeadHost)
    }
}

named_values! {
    /// State of a page that answers, in addition to the state of its link, in the order of reports.
    pub enum PageState {
        /// No evidence for another state.
        NoSign = "no_sign": "No sign",
        /// Redirects ended at another registrable domain.
        OtherDomain = "other_domain": "Other domain",
        /// Redirects ended at the front page of the domain instead of a page.
        FrontPage = "front_page": "Front page",
        /// Redirects ended at a parking service, or the page loads content from one.
        Parked = "parked": "Parked",
        /// The host serves the same page for a path that cannot exist.
        Soft404 = "soft_404": "Soft 404",
        /// Cannot be decided: a script may render the page, or it asks for a password.
        Undecided = "undecided": "Undecided",
        /// Not read: excluded by robots.txt, private, or the server returned no page.
        NotRead = "not_read": "Not read",
    }
}

named_values! {
    /// Reason why a check ended without an HTTP status, with the words after a count of URLs.
    pub(super) enum CheckFailure {
        /// The host does not exist.
        Dns = "dns": "no such host",
        /// The host refuses connections or cannot be reached.
        Connect = "connect": "refused or not reached",
        /// No answer in time, after retries.
        Timeout = "timeout": "no answer in time",
        /// No secure connection.
        Tls = "tls": "no secure connection",
        /// Connection reset, too many redirects, or any other reason.
        Other = "other": "failed in the name service, network or connection",
        /// The host is private, or the checker refused to check the link.
        Excluded = "excluded": "on a private host",
    }
}

impl CheckFailure {
    /// Returns `true` if a server was contacted, which makes this a failure of the link instead of
    /// the check.
    pub(super) fn is_of_link(self) -> bool {
        self != CheckFailure::Excluded
    }
}

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckOutcome {
    /// The last server answered with this HTTP status.
    Status(u16),
    /// No server answered.
    Failed(CheckFailure),
}

/// Returns the state of the link `url` after a check. `final_url` is the last URL of redirects, or
/// `None` without redirects.
pub(super) fn link_state(url: &str, outcome: CheckOutcome, final_url: Option<&str>) -> LinkState {
    match outcome {
        CheckOutcome::Status(200..=299) => answered_state(url, final_url.unwrap_or(url)),
        // The server asks for a login or for a later request, or the page exists but cannot be
        // shown for legal reasons (451).
        CheckOutcome::Status(401 | 403 | 407 | 408 | 425 | 429 | 451) => LinkState::Unknown,
        CheckOutcome::Status(400..=499) => LinkState::DeadPage,
        CheckOutcome::Status(_) => LinkState::Unknown,
        CheckOutcome::Failed(CheckFailure::Dns | CheckFailure::Connect | CheckFailure::Timeout) => {
            LinkState::DeadHost
        }
        CheckOutcome::Failed(_) => LinkState::Unknown,
    }
}

/// Returns the state of a link that was answered with a page of `final_url`.
fn answered_state(url: &str, final_url: &str) -> LinkState {
    let [asked, given] = [url, final_url].map(|url| components(without_fragment(url).as_bytes()));
    let is_moved = domain_or_host(&asked) != domain_or_host(&given);
    if is_moved || is_front_page(&given) && !is_front_page(&asked) {
        LinkState::Redirected
    } else {
        LinkState::Alive
    }
}

/// Returns the registrable domain of a URL, or its host if it has none.
pub(super) fn domain_of(url: &str) -> Option<String> {
    domain_or_host(&components(url.as_bytes()))
}

/// Returns the registrable domain, or the host if it is an address or a single label.
fn domain_or_host(url: &UrlComponents<'_>) -> Option<String> {
    let site = Site::of(url)?;
    Some(site.domain().unwrap_or(&site.host).to_owned())
}

/// Returns a URL without its fragment, which is never sent to a server.
pub(super) fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

/// Returns `true` for the root of a host, without a path and a query.
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
    fn statuses_map_to_states() {
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
    fn failures_map_to_states() {
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
    fn a_link_redirected_within_its_domain_is_alive() {
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
    fn redirects_matter_only_if_the_last_url_answers() {
        let outcome = CheckOutcome::Status(404);
        let expected = LinkState::DeadPage;
        check("http://h.test/a", outcome, Some("http://i.test/"), expected);
    }

    #[test]
    fn names_round_trip() {
        for state in LinkState::ALL {
            assert_eq!(LinkState::named(state.name()), Some(state));
        }
        for failure in CheckFailure::ALL {
            assert_eq!(CheckFailure::named(failure.name()), Some(failure));
        }
        assert_eq!(LinkState::named("dead"), None);
    }
}
