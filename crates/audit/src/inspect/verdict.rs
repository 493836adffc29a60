//! States of pages that answer, each with evidence: the page for a path that cannot exist, hosts of
//! parking services, and the end of redirects. Only computes.

use std::collections::HashSet;

use url::{Position, Url};

use super::page::{Page, loaded_from_service};
use crate::state::{CheckOutcome, LinkState, PageState, domain_of, link_state};

/// A state and its evidence, a sentence that a reader can verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) state: PageState,
    pub(super) evidence: String,
}

/// A page and the URL where it was found.
#[derive(Clone, Debug)]
pub(super) struct FoundPage {
    /// URL at the end of redirects.
    pub(super) url: Url,
    /// `true` if the page was reached by redirects.
    pub(super) is_moved: bool,
    /// `true` if the response has no body.
    pub(super) is_empty: bool,
    /// Empty if the response is not text.
    pub(super) page: Page,
}

/// A host's response for a path that cannot exist.
#[derive(Clone, Debug)]
pub(super) struct Control {
    /// URL of the path.
    pub(super) asked: Url,
    /// The page; `None` if no page was returned with a 2xx status.
    pub(super) found: Option<FoundPage>,
}

/// Minimum text length, in characters, for comparing a page with a script by its text. A script may
/// render most of what a reader sees of a shorter page.
const MIN_TEXT_CHARS: usize = 150;

/// Decides the state of the page of the link `asked`, which has a 2xx status.
pub(super) fn judge(asked: &Url, found: &FoundPage, control: &Control) -> Verdict {
    if let Some(evidence) = loaded_from_service(asked, &found.url, &found.page) {
        let state = PageState::Parked;
        return Verdict { state, evidence };
    }
    let place = format!("{}, a path that cannot exist", control.asked);
    let (state, evidence) = match same_page(asked, found, control) {
        Some(_) if found.page.has_password => (
            PageState::Undecided,
            format!("asks for a password, and so does the page of {place}"),
        ),
        Some(SamePage::Text) if may_be_rendered_by_script(&found.page) => (
            PageState::Undecided,
            format!("has the text of {place}, but a script may draw more"),
        ),
        Some(SamePage::Text) => (PageState::Soft404, format!("has the text of {place}")),
        Some(SamePage::Place) => (
            PageState::Soft404,
            format!("redirected to {}, and so is {place}", found.url),
        ),
        None => match moved(asked, &found.url) {
            Some(state) => (state, format!("redirected to {}", found.url)),
            None if found.is_empty => (PageState::NoSign, "empty body".to_owned()),
            None if control.found.is_none() => (PageState::NoSign, format!("{place}, has no page")),
            None => (PageState::NoSign, format!("unlike the page of {place}")),
        },
    };
    Verdict { state, evidence }
}

/// Returns the state of a page reached by redirects, if it is a front page or on another domain.
fn moved(asked: &Url, last: &Url) -> Option<PageState> {
    let (asked, last) = (asked.as_str(), last.as_str());
    let state = link_state(asked, CheckOutcome::Status(200), Some(last));
    (state == LinkState::Redirected).then(|| {
        if domain_of(asked) == domain_of(last) {
            PageState::FrontPage
        } else {
            PageState::OtherDomain
        }
    })
}

/// Match between a page and the page for a path that cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SamePage {
    /// Both redirect to the same place.
    Place,
    /// Both have the same text.
    Text,
}

/// Compares a page with the page for a path that cannot exist. The front page is never compared,
/// because a host may serve it for all paths.
fn same_page(asked: &Url, found: &FoundPage, control: &Control) -> Option<SamePage> {
    let other = control.found.as_ref()?;
    if is_front_page(asked) {
        return None;
    }
    if found.is_moved && other.is_moved && is_one_place(&found.url, &other.url) {
        // The link itself may be the target of redirects from missing pages.
        return (!is_one_place(asked, &found.url)).then_some(SamePage::Place);
    }
    let paths: HashSet<String> = [asked, &control.asked]
        .into_iter()
        .flat_map(|url| words(&url[Position::BeforePath..]))
        .collect();
    let text = compared_words(&found.page, &paths);
    (!text.is_empty() && text == compared_words(&other.page, &paths)).then_some(SamePage::Text)
}

/// Returns the words of a page, except words in `paths` and words with a digit. The latter may be
/// times, counters or request numbers that differ between responses.
fn compared_words(page: &Page, paths: &HashSet<String>) -> Vec<String> {
    words(&page.text)
        .filter(|word| !paths.contains(word) && !word.bytes().any(|byte| byte.is_ascii_digit()))
        .collect()
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn may_be_rendered_by_script(page: &Page) -> bool {
    let visible = page
        .text
        .chars()
        .filter(|character| !character.is_whitespace());
    page.has_script && visible.count() < MIN_TEXT_CHARS
}

/// Compares two URLs, ignoring the scheme, `www.` and a final slash.
fn is_one_place(one: &Url, other: &Url) -> bool {
    let [one, other] = [one, other].map(|url| {
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_prefix("www.").unwrap_or(host);
        let path = url.path().trim_end_matches('/');
        (host, url.port(), path, url.query())
    });
    one == other
}

/// File names, without extension, that servers send for the root of a host.
const FRONT_FILES: [&str; 4] = ["index", "default", "home", "welcome"];

/// Returns `true` for the root of a host, and for a file that servers send for it, such as
/// `/index.html` or `/default.asp`.
fn is_front_page(url: &Url) -> bool {
    let name = url.path().trim_start_matches('/');
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let is_file = FRONT_FILES
        .iter()
        .any(|known| stem.eq_ignore_ascii_case(known))
        && stem != name;
    url.query().unwrap_or_default().is_empty() && (name.is_empty() || is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "http://l.cern.ch/news/lamp.html";

    const MISSING: &str = "http://l.cern.ch/no-such-page.html";

    const ARTICLE: &str = "<title>The brass lantern</title><p>Each lantern of the lighthouse was \
        trimmed twice before midnight, and the keeper wrote down the hour, the wind and the names \
        of all vessels that passed the harbour during winter.";

    const SORRY: &str = "<title>Sorry</title>This page cannot be found.";

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn found(asked: &str, at: &str, html: &str) -> FoundPage {
        FoundPage {
            url: url(at),
            is_moved: at != asked,
            is_empty: html.is_empty(),
            page: Page::html(html.as_bytes(), None),
        }
    }

    /// Checks the state of a link whose page is `page`, on a host with the page `control` for a
    /// path that cannot exist. Each is an address and HTML.
    #[track_caller]
    fn check_link(
        link: &str,
        page: (&str, &str),
        control: Option<(&str, &str)>,
        expected: PageState,
    ) {
        let control = Control {
            asked: url(MISSING),
            found: control.map(|(at, html)| found(MISSING, at, html)),
        };
        let verdict = judge(&url(link), &found(link, page.0, page.1), &control);
        assert_eq!(verdict.state, expected, "{}", verdict.evidence);
    }

    #[track_caller]
    fn check(page: (&str, &str), control: Option<(&str, &str)>, expected: PageState) {
        check_link(LINK, page, control, expected);
    }

    #[test]
    fn a_distinct_page_has_no_sign() {
        check((LINK, ARTICLE), None, PageState::NoSign);
        check((LINK, ARTICLE), Some((MISSING, SORRY)), PageState::NoSign);
        check((LINK, SORRY), None, PageState::NoSign);
        // A response that is not text.
        check((LINK, ""), Some((MISSING, "")), PageState::NoSign);
    }

    #[test]
    fn the_text_of_a_missing_path_is_a_soft_404() {
        let page = "<title>Error</title>/news/lamp.html is not here. Request 7f3a, 10:31:02";
        let control =
            "<title>Error</title><b>/no-such-page.html</b> is not here! Request 99b, 10:31:07";
        check((LINK, page), Some((MISSING, control)), PageState::Soft404);
        let other = "<title>Error</title>/news/lamp.html is not here, but in the archive";
        check((LINK, other), Some((MISSING, control)), PageState::NoSign);
        let place = "http://l.cern.ch/elsewhere";
        check((place, SORRY), Some((MISSING, SORRY)), PageState::Soft404);
    }

    #[test]
    fn the_redirect_target_of_a_missing_path_is_a_soft_404() {
        let place = "https://www.l.cern.ch/sorry/";
        let (page, control) = ((place, ARTICLE), Some(("http://l.cern.ch/sorry", SORRY)));
        check(page, control, PageState::Soft404);
        check_link("http://l.cern.ch/sorry", page, control, PageState::NoSign);
        let front = "http://l.cern.ch/";
        check((front, ARTICLE), Some((front, ARTICLE)), PageState::Soft404);
        check(
            (front, ARTICLE),
            Some((MISSING, SORRY)),
            PageState::FrontPage,
        );
        let asked = "http://l.cern.ch/?p=lamp";
        let control = Some(("http://l.cern.ch/?p=no-such-page", SORRY));
        check((asked, ARTICLE), control, PageState::NoSign);
    }

    #[test]
    fn pages_with_scripts_or_passwords_are_undecided() {
        let shell = "<title>App</title><div id=root></div><script src=/app.js></script>";
        check((LINK, shell), Some((MISSING, shell)), PageState::Undecided);
        let long = format!("{ARTICLE}<script src=/app.js></script>");
        check((LINK, &long), Some((MISSING, &long)), PageState::Soft404);
        let (place, login) = ("http://l.cern.ch/login", "Log in <input type=password>");
        check((place, login), Some((place, login)), PageState::Undecided);
    }

    #[test]
    fn a_page_on_another_domain_is_other_domain() {
        let place = "http://l.w3.org/news/lamp.html";
        check((place, ARTICLE), None, PageState::OtherDomain);
        check(
            (place, ARTICLE),
            Some((MISSING, SORRY)),
            PageState::OtherDomain,
        );
        let within = "http://new.cern.ch/lamp";
        check((within, ARTICLE), None, PageState::NoSign);
        let other = "http://l.w3.org/";
        check((other, ARTICLE), Some((other, ARTICLE)), PageState::Soft404);
    }

    #[test]
    fn the_front_page_is_never_a_soft_404() {
        for link in ["http://l.cern.ch/", "http://l.cern.ch/Index.html"] {
            let control = Some((MISSING, ARTICLE));
            check_link(link, (link, ARTICLE), control, PageState::NoSign);
        }
        for link in ["http://l.cern.ch/?lamp", "http://l.cern.ch/index"] {
            let control = Some((MISSING, ARTICLE));
            check_link(link, (link, ARTICLE), control, PageState::Soft404);
        }
    }

    #[test]
    fn a_page_of_a_parking_service_is_parked() {
        let page = "<iframe src=https://a.bodis.com/></iframe>";
        check((LINK, page), Some((MISSING, page)), PageState::Parked);
    }
}
