//! Verdicts on pages: by the page that its host gives for a path that cannot exist, by signs
//! of parking services, and by snapshots. Only computes.

use std::collections::HashSet;
use std::fmt;

use url::Url;

use super::notices::{not_found_title, says_not_found};
use super::page::{Fingerprint, Page, title_likeness, words};
use super::parking::{offer, service_of};
use crate::audit::page_state::PageState;

/// A state and the evidence for it, a sentence that a reader can check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) state: PageState,
    pub(super) evidence: String,
}

impl Verdict {
    pub(super) fn new(state: PageState, evidence: impl fmt::Display) -> Verdict {
        Verdict {
            state,
            evidence: evidence.to_string(),
        }
    }
}

/// A page with the URL that it was found at.
#[derive(Clone, Debug)]
pub(super) struct FoundPage {
    /// The URL at the end of redirects.
    pub(super) url: Url,
    /// `true` if redirects led to it.
    pub(super) is_moved: bool,
    pub(super) page: Page,
    pub(super) fingerprint: Fingerprint,
}

impl FoundPage {
    pub(super) fn new(url: Url, is_moved: bool, page: Page) -> FoundPage {
        FoundPage {
            fingerprint: Fingerprint::of(&page.text),
            url,
            is_moved,
            page,
        }
    }
}

/// The page that a host gave for a path that cannot exist.
#[derive(Clone, Debug)]
pub(super) struct Control {
    /// The path's URL.
    pub(super) asked: Url,
    pub(super) found: FoundPage,
}

/// Likeness from which on two pages of one host with the same title are one page: what differs is
/// the path that they repeat, or advertisements.
const LIKE_WITH_TITLE: f64 = 0.6;

/// Likeness from which on two pages of one host are one page, whatever their titles.
const LIKE: f64 = 0.9;

/// Number of words below which a page with a script is drawn by the script.
const DRAWN_WORDS: usize = 30;

/// Maximum number of words of a page that only says that it is not found.
const NOTICE_WORDS: usize = 400;

/// Share of the snapshot's text that a page must still have to be as cited.
const KEPT: f64 = 0.5;

/// Share of words of either text below which two texts have nothing in common.
const UNLIKE_WORDS: f64 = 0.12;

/// Share of words of either title below which two titles have nothing in common.
const UNLIKE_TITLE: f64 = 0.15;

/// Number of words below which a text is too short to say that two have nothing in common.
const COMPARED_WORDS: usize = 20;

/// Judges a page without a snapshot. `asked` is the link.
pub(super) fn judge(asked: &Url, found: &FoundPage, controls: &[Control]) -> Verdict {
    if let Some(sign) = service_of(asked, &found.url, &found.page) {
        return Verdict::new(PageState::Parked, sign);
    }
    let like = controls
        .iter()
        .find_map(|control| Some((control, likeness(asked, found, control)?)));
    if let Some((control, reason)) = &like
        && let Some(phrase) = offer(&found.url, &found.page)
    {
        return Verdict::new(
            PageState::Parked,
            format_args!(
                "says \"{phrase}\", and so does the page of {}, a path that cannot exist ({reason})",
                control.asked
            ),
        );
    }
    if let Some(gate) = gate(asked, found) {
        return Verdict::new(PageState::Undecided, gate);
    }
    if is_front_page(asked) {
        // The page of all other paths may be the front page, but that is no other page.
        return drawn(found).unwrap_or_else(not_compared);
    }
    if let Some(title) = not_found_title(&found.page.title)
        && found.fingerprint.words <= NOTICE_WORDS
    {
        return Verdict::new(
            PageState::Soft404,
            format_args!("its title says \"{title}\", with status 200"),
        );
    }
    let Some((control, reason)) = like else {
        return drawn(found).unwrap_or_else(not_compared);
    };
    if reason == Likeness::Text
        && let Some(drawn) = drawn(found)
        && !says_not_found(&found.page)
    {
        return drawn;
    }
    Verdict::new(
        PageState::Soft404,
        format_args!(
            "like the page of {}, a path that cannot exist: {reason}",
            control.asked
        ),
    )
}

fn not_compared() -> Verdict {
    Verdict::new(
        PageState::NotCompared,
        "unlike the page of a path that cannot exist, or the host says 404 for it",
    )
}

fn drawn(found: &FoundPage) -> Option<Verdict> {
    let words = found.fingerprint.words;
    (found.page.has_script && words < DRAWN_WORDS).then(|| {
        Verdict::new(
            PageState::Undecided,
            format_args!("drawn by a script: the page itself has {words} words"),
        )
    })
}

/// The way in which a page is like that of a path that cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// Redirects led both to one place.
    Place,
    /// They have one text.
    Text,
    /// They have one title, and both say that nothing was found.
    Notice,
    /// They have one title, and both offer the domain.
    Offer,
}

impl fmt::Display for Likeness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Likeness::Place => "redirects lead both to the same place",
            Likeness::Text => "they have the same text",
            Likeness::Notice => "they have the same title, and both say that nothing was found",
            Likeness::Offer => "they have the same title, and both offer the domain",
        })
    }
}

/// Compares a page with that of a path that cannot exist. Words of the two paths do not count, since
/// such pages repeat them.
fn likeness(asked: &Url, found: &FoundPage, control: &Control) -> Option<Likeness> {
    let other = &control.found;
    // A link may be the very place that paths without a page lead to.
    if found.is_moved && other.is_moved && is_one_place(&found.url, &other.url) {
        return (!is_one_place(asked, &found.url)).then_some(Likeness::Place);
    }
    let paths = [asked, &control.asked].map(|url| words(&url[url::Position::BeforePath..]));
    let paths: HashSet<String> = paths.into_iter().flatten().collect();
    let without_paths = |text: &str| -> Vec<String> {
        let mut words = words(text);
        words.retain(|word| !paths.contains(word));
        words
    };
    let [title, other_title] = [found, other].map(|found| without_paths(&found.page.title));
    let is_one_title = !title.is_empty() && title == other_title;
    let [text, other_text] = [found, other].map(|found| without_paths(&found.page.text));
    let text = Fingerprint::of_words(&text).likeness(&Fingerprint::of_words(&other_text));
    let is_empty = |found: &FoundPage| found.fingerprint.words == 0 && found.page.title.is_empty();
    if LIKE <= text
        || is_one_title && LIKE_WITH_TITLE <= text
        || is_empty(found) && is_empty(other) && found.page.resources == other.page.resources
    {
        return Some(Likeness::Text);
    }
    if is_one_title && says_not_found(&found.page) && says_not_found(&other.page) {
        return Some(Likeness::Notice);
    }
    let offers = |found: &FoundPage| offer(&found.url, &found.page).is_some();
    (is_one_title && offers(found) && offers(other)).then_some(Likeness::Offer)
}

/// Compares two URLs without scheme, `www.`, query and final slash.
fn is_one_place(one: &Url, other: &Url) -> bool {
    let place = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_prefix("www.").unwrap_or(host).to_owned();
        (host, url.path().trim_end_matches('/').to_owned())
    };
    place(one) == place(other)
}

fn is_front_page(url: &Url) -> bool {
    url.path() == "/" && url.query().unwrap_or_default().is_empty()
}

/// Returns the evidence that a page stands before the one that was asked for: a login, or a page
/// that is given the address to return to.
fn gate(asked: &Url, found: &FoundPage) -> Option<String> {
    if says_not_found(&found.page) {
        return None;
    }
    if found.page.has_password && found.is_moved {
        return Some(format!("asks for a login, at {}", found.url));
    }
    let path = asked.path();
    let mut pairs = found.url.query_pairs();
    let returns = |value: &str| 1 < path.len() && value.contains(path);
    (found.is_moved && !is_one_place(asked, &found.url) && pairs.any(|(_, value)| returns(&value)))
        .then(|| {
            format!(
                "a page that is given the address to return to, {}",
                found.url
            )
        })
}

/// A snapshot of the link in an archive.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Its time, 14 digits.
    pub(super) timestamp: String,
    /// Its address, without changes of the archive.
    pub(super) address: String,
    pub(super) found: FoundPage,
}

/// The first comparison, with the snapshot that is nearest to the first citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FirstComparison {
    /// It decides.
    Decided(Verdict),
    /// The page has nothing in common with the snapshot: later ones are needed.
    Unlike,
}

/// Compares a page with the snapshot that is nearest to its first citation.
pub(super) fn compare(found: &FoundPage, cited: &Snapshot) -> FirstComparison {
    let kept = found.fingerprint.kept_of(&cited.found.fingerprint);
    let percent = (kept * 100.0).round();
    let (date, address) = (day(&cited.timestamp), &cited.address);
    let decided = |state, evidence: String| FirstComparison::Decided(Verdict::new(state, evidence));
    if not_found_title(&cited.found.page.title).is_some() {
        return decided(
            PageState::Undecided,
            format!("the snapshot of {date} is itself a page that says 404: {address}"),
        );
    }
    if is_same(found, &cited.found) {
        return decided(
            PageState::AsCited,
            format!("has {percent} % of the text of the snapshot of {date}: {address}"),
        );
    }
    if is_unlike(found, &cited.found) {
        return FirstComparison::Unlike;
    }
    let short = cited.found.fingerprint.words.min(found.fingerprint.words);
    let state = if short < COMPARED_WORDS && found.page.title.is_empty() {
        PageState::Undecided
    } else {
        PageState::Changed
    };
    decided(
        state,
        format!("has {percent} % of the text of the snapshot of {date}: {address}"),
    )
}

/// Judges a page that has nothing in common with the snapshot of its citation. `later` are later
/// snapshots, in the order of their times.
///
/// A later one that has something in common with both shows that the page changed step by step.
pub(super) fn compare_later(found: &FoundPage, cited: &Snapshot, later: &[Snapshot]) -> Verdict {
    let (date, address) = (day(&cited.timestamp), &cited.address);
    let is_bridge = |snapshot: &&Snapshot| {
        !is_unlike(found, &snapshot.found) && !is_unlike(&snapshot.found, &cited.found)
    };
    if let Some(bridge) = later.iter().find(is_bridge) {
        return Verdict::new(
            PageState::Changed,
            format_args!(
                "nothing in common with the snapshot of {date} ({address}), but that of {} has \
                 something in common with both: {}",
                day(&bridge.timestamp),
                bridge.address
            ),
        );
    }
    let since = later
        .iter()
        .find(|snapshot| !is_unlike(found, &snapshot.found));
    let after = match since {
        Some(since) => format!(
            ", as it was on {} already: {}",
            day(&since.timestamp),
            since.address
        ),
        None if later.is_empty() => "; the archive holds no later one".to_owned(),
        None => {
            let dates: Vec<_> = later
                .iter()
                .map(|snapshot| day(&snapshot.timestamp))
                .collect();
            format!(", nor with later ones, of {}", dates.join(" and "))
        }
    };
    Verdict::new(
        PageState::TakenOver,
        format_args!(
            "neither title nor text has anything in common with the snapshot of {date} \
             ({address}){after}"
        ),
    )
}

fn is_same(found: &FoundPage, cited: &FoundPage) -> bool {
    let is_blank = |found: &FoundPage| found.fingerprint.words == 0;
    if is_blank(found) && is_blank(cited) {
        return found.page.title == cited.page.title && !found.page.title.is_empty();
    }
    KEPT <= found.fingerprint.kept_of(&cited.fingerprint)
}

/// Returns `true` if neither titles nor texts have anything in common. Texts of a few words never
/// do.
fn is_unlike(found: &FoundPage, cited: &FoundPage) -> bool {
    let is_long = |found: &FoundPage| COMPARED_WORDS <= found.fingerprint.words;
    let title = title_likeness(&found.page.title, &cited.page.title);
    is_long(found)
        && is_long(cited)
        && title.is_none_or(|likeness| likeness < UNLIKE_TITLE)
        && found.fingerprint.shared_words(&cited.fingerprint) < UNLIKE_WORDS
}

/// The day of a time of 14 digits.
fn day(timestamp: &str) -> String {
    match (timestamp.get(..4), timestamp.get(4..6), timestamp.get(6..8)) {
        (Some(year), Some(month), Some(day)) => format!("{year}-{month}-{day}"),
        _ => timestamp.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "http://l.cern.ch/news/lamp.html";

    const MISSING: &str = "http://l.cern.ch/no-such-page.html";

    const ARTICLE: &str = "<title>The brass lantern</title><p>Each lantern of the lighthouse was trimmed twice \
        before midnight, and the keeper wrote down the hour, the wind and the names of all vessels \
        that passed the harbour during winter.";

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn found(at: &str, asked: &str, html: &str) -> FoundPage {
        FoundPage::new(url(at), at != asked, Page::html(html.as_bytes(), None))
    }

    /// The verdict on a link whose page is `page`, on a host that has `control` for paths that
    /// cannot exist. Each is an address and HTML.
    fn judged(link: &str, page: (&str, &str), control: Option<(&str, &str)>) -> Verdict {
        let controls: Vec<_> = control
            .map(|(at, html)| Control {
                asked: url(MISSING),
                found: found(at, MISSING, html),
            })
            .into_iter()
            .collect();
        judge(&url(link), &found(page.0, link, page.1), &controls)
    }

    #[track_caller]
    fn check(page: (&str, &str), control: Option<(&str, &str)>, expected: PageState) {
        let verdict = judged(LINK, page, control);
        assert_eq!(verdict.state, expected, "{}", verdict.evidence);
    }

    #[test]
    fn a_page_of_its_own_is_no_soft_404() {
        check((LINK, ARTICLE), None, PageState::NotCompared);
        let apology = "<title>Sorry</title>This page cannot be found. Try the search.";
        check(
            (LINK, ARTICLE),
            Some((MISSING, apology)),
            PageState::NotCompared,
        );
        let title = "<title>404 and page not found in the register</title>Numbers of a register.";
        check((LINK, title), None, PageState::NotCompared);
        // Frames with menus: the titles are one, and the texts differ in a third.
        let menu =
            "<title>Lighthouse society</title>News Members Archive Contact Links Shop Search Map";
        let page =
            format!("{menu} The lantern was trimmed twice before the keeper wrote the hour down.");
        let other =
            format!("{menu} Try the search, or go to our front page and look around there.");
        check(
            (LINK, &page),
            Some((MISSING, &other)),
            PageState::NotCompared,
        );
    }

    #[test]
    fn the_page_of_paths_that_cannot_exist_is_a_soft_404() {
        let apology = |path: &str, more: &str| {
            format!("<title>Oops</title>The page {path} cannot be found. Popular pages: {more}")
        };
        let (one, other) = (
            apology("/news/lamp.html", "a brass lantern of the harbour"),
            apology(
                "/no-such-page.html",
                "narrow railways through the mountains",
            ),
        );
        check((LINK, &one), Some((MISSING, &other)), PageState::Soft404);
        check(
            (LINK, ARTICLE),
            Some((MISSING, ARTICLE)),
            PageState::Soft404,
        );
        let title = "<title>Page not found - Lighthouse society</title>Go to our front page.";
        check((LINK, title), None, PageState::Soft404);
    }

    #[test]
    fn redirects_to_one_place_are_a_soft_404_unless_the_link_is_that_place() {
        let index = "http://l.cern.ch/news/";
        check((index, ARTICLE), Some((index, ARTICLE)), PageState::Soft404);
        check(
            (index, ARTICLE),
            Some(("http://l.cern.ch/", ARTICLE)),
            PageState::Soft404,
        );
        let other = "<title>Other news</title>Another text.";
        check(
            (index, ARTICLE),
            Some(("http://l.cern.ch/", other)),
            PageState::NotCompared,
        );
        let link = "http://l.cern.ch/news";
        let verdict = judged(link, (index, ARTICLE), Some((index, ARTICLE)));
        assert_eq!(
            verdict.state,
            PageState::NotCompared,
            "{}",
            verdict.evidence
        );
    }

    #[test]
    fn logins_and_pages_that_scripts_draw_are_undecided() {
        let login = "<title>Sign in</title><input type=password>";
        let place = "http://l.cern.ch/login";
        check((place, login), Some((place, login)), PageState::Undecided);
        let consent = "http://consent.cern.ch/?next=%2Fnews%2Flamp.html";
        check(
            (consent, ARTICLE),
            Some((consent, ARTICLE)),
            PageState::Undecided,
        );
        let errors = "http://l.cern.ch/404?path=/news/lamp.html";
        let sorry = "<title>Sorry</title>This page cannot be found.";
        check((errors, sorry), Some((errors, sorry)), PageState::Soft404);
        let drawn = "<title>App</title><script src=/app.js></script><div id=root></div>";
        check((LINK, drawn), Some((MISSING, drawn)), PageState::Undecided);
        check((LINK, drawn), None, PageState::Undecided);
    }

    #[test]
    fn an_offer_on_all_paths_is_parking_and_one_on_a_page_is_none() {
        let offer =
            |word: &str| format!("<title>cern.ch</title>This domain is for sale. {word} lamps");
        check(
            (LINK, &offer("Cheap")),
            Some((MISSING, &offer("Best"))),
            PageState::Parked,
        );
        check((LINK, &offer("Cheap")), None, PageState::NotCompared);
        check(
            (LINK, &offer("Cheap")),
            Some((MISSING, ARTICLE)),
            PageState::NotCompared,
        );
        let front = "http://l.cern.ch/";
        let verdict = judged(front, (front, &offer("A")), Some((MISSING, &offer("B"))));
        assert_eq!(verdict.state, PageState::Parked);
        let verdict = judged(front, (front, ARTICLE), Some((MISSING, ARTICLE)));
        assert_eq!(
            verdict.state,
            PageState::NotCompared,
            "{}",
            verdict.evidence
        );
    }

    fn snapshot(timestamp: &str, html: &str) -> Snapshot {
        Snapshot {
            timestamp: timestamp.to_owned(),
            address: format!("https://a.test/{timestamp}id_/{LINK}"),
            found: found(LINK, LINK, html),
        }
    }

    const CASINO: &str = "<title>Best casino bonuses</title>Discover roulette, blackjack and poker with free \
        spins, instant payouts, trusted reviews, licensed operators, sports betting, mobile slots, \
        weekly jackpots, loyalty programmes and welcome packages.";

    #[test]
    fn a_page_is_compared_with_its_snapshot() {
        let cited = snapshot("19960702134500", ARTICLE);
        let state = |html: &str| match compare(&found(LINK, LINK, html), &cited) {
            FirstComparison::Decided(verdict) => Some(verdict.state),
            FirstComparison::Unlike => None,
        };
        assert_eq!(state(ARTICLE), Some(PageState::AsCited));
        let grown = format!("{ARTICLE} Home News Members. Copyright 2026, all rights reserved.");
        assert_eq!(state(&grown), Some(PageState::AsCited));
        let rewritten = "<title>The brass lantern</title>We cleaned the old one, and wrote much about it: \
            its owner, price, maker, weight, colour, and why nobody lights it in summer any more.";
        assert_eq!(state(rewritten), Some(PageState::Changed));
        assert_eq!(state(CASINO), None);
        assert_eq!(
            state("<title>Other</title>Few words."),
            Some(PageState::Changed)
        );
        let gone = snapshot("19960702134500", "<title>404 Not Found</title>Not here.");
        let FirstComparison::Decided(verdict) = compare(&found(LINK, LINK, ARTICLE), &gone) else {
            panic!("no verdict");
        };
        assert_eq!(verdict.state, PageState::Undecided);
    }

    #[test]
    fn later_snapshots_tell_a_new_owner_from_slow_changes() {
        let cited = snapshot("19960702134500", ARTICLE);
        let page = found(LINK, LINK, CASINO);
        let bridge = format!("{ARTICLE} {CASINO}");
        let (same, other, both) = (
            snapshot("20040102030405", ARTICLE),
            snapshot("20200102030405", CASINO),
            snapshot("20100102030405", &bridge),
        );
        for (later, expected, words) in [
            (vec![], PageState::TakenOver, "no later one"),
            (vec![same.clone()], PageState::TakenOver, "of 2004-01-02"),
            (
                vec![same.clone(), other.clone()],
                PageState::TakenOver,
                "as it was on 2020-01-02 already",
            ),
            (
                vec![same, both, other],
                PageState::Changed,
                "that of 2010-01-02",
            ),
        ] {
            let verdict = compare_later(&page, &cited, &later);
            assert_eq!(verdict.state, expected, "{}", verdict.evidence);
            assert!(verdict.evidence.contains(words), "{}", verdict.evidence);
            assert!(verdict.evidence.contains("1996-07-02"));
        }
    }
}
