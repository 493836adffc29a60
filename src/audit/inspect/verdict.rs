//! Verdicts on pages: by the page that its host gives for a path that cannot exist, by signs
//! of parking services, and by snapshots. Only computes.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use url::Url;

use super::notices::{
    ended_phrase, gone_phrase, not_found_title, placeholder, say_one_phrase, says_not_found, wall,
    wall_of_all, wall_title,
};
use super::page::{Fingerprint, Page, length, lines, spaced, title_likeness, words};
use super::parking::{advertised, is_named_after, offer, service_of};
use super::tongue::{names, tongue};
use crate::audit::page_state::PageState;
use crate::audit::state::domain_of;
use crate::page::html::ratio;

/// A state and the evidence for it, a sentence that a reader can check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) state: PageState,
    pub(super) evidence: String,
    /// `true` if a snapshot with the text of the page refutes it.
    pub(super) is_refutable: bool,
}

impl Verdict {
    pub(super) fn new(state: PageState, evidence: impl fmt::Display) -> Verdict {
        Verdict {
            state,
            evidence: evidence.to_string(),
            is_refutable: false,
        }
    }

    /// Returns the verdict with more evidence.
    pub(super) fn and(&self, more: &str) -> Verdict {
        Verdict {
            evidence: format!("{}; {more}", self.evidence),
            ..self.clone()
        }
    }

    pub(super) fn refutable(self) -> Verdict {
        Verdict {
            is_refutable: true,
            ..self
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
    pub(super) found: Arc<FoundPage>,
}

/// Likeness from which on two pages of one host with the same title are one page: what differs is
/// the path that they repeat, or advertisements.
const LIKE_WITH_TITLE: f64 = 0.6;

/// Likeness from which on two pages of one host are one page, whatever their titles.
const LIKE: f64 = 0.9;

/// Number of words below which a page with a script may be drawn by the script.
const DRAWN_WORDS: usize = 30;

/// Maximum number of words of a page with a script that is not compared with a snapshot: it says
/// that it is being drawn.
const SHELL_WORDS: usize = 10;

/// Likeness from which on two pages of one host with one notice are one page.
const LIKE_WITH_PHRASE: f64 = 0.4;

/// Likeness below which the words that two pages of one frame have of their own are two texts.
const LIKE_OWN: f64 = 0.3;

/// Number of own words from which on two pages of one frame are told apart by them.
const OWN_WORDS: usize = 5;

/// Share of the lines of the shorter of two pages from which on they have one frame.
const FRAME: f64 = 0.4;

/// Maximum number of words of its own of a page that only says that something is not there.
const NOTICE_WORDS: usize = 80;

/// Number of years between a citation and a snapshot in which a page hardly goes away: who cites it
/// has seen it.
const CITED_YEARS: u32 = 1;

/// Minimum number of words with which two pages begin that have one template.
const MIN_BEGINNING: usize = 2;

/// Number of lines of its own in which a notice says what it is about.
const NOTICE_LINES: usize = 3;

/// Maximum number of words of a line that is a sentence of a notice.
const SENTENCE_WORDS: usize = 25;

/// Maximum number of words of its own of a page that is one line, and a notice if that says so.
const LINE_WORDS: usize = 15;

/// Share of the words of a snapshot below which a notice stands in its place.
const REPLACED: f64 = 0.2;

/// Number of names that pages in two languages share, from which on they have an owner in common.
const SHARED_NAMES: usize = 3;

/// Share of the snapshot's text that a page must still have to be as cited.
const KEPT: f64 = 0.5;

/// Share of words of either text below which two texts have nothing in common.
const UNLIKE_WORDS: f64 = 0.12;

/// Share of words of either text below which two texts may have those of their language in common.
const LANGUAGE_WORDS: f64 = 0.3;

/// Share of the runs of words of the earlier text below which two texts have no sentence in common.
const UNLIKE_RUNS: f64 = 0.06;

/// Share of words of either title below which two titles have nothing in common.
const UNLIKE_TITLE: f64 = 0.25;

/// Number of words below which a text is too short to say that two have nothing in common.
const COMPARED_WORDS: usize = 20;

/// The pages of a host beside that of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct HostPages {
    /// Those of paths that cannot exist.
    pub(super) controls: Vec<Control>,
    /// The front page; `None` if the host gives none, or if the link is the front page.
    pub(super) front: Option<Arc<FoundPage>>,
}

impl HostPages {
    pub(super) fn front(&self) -> Option<&FoundPage> {
        self.front.as_deref()
    }
}

/// Judges a page without a snapshot. `asked` is the link.
pub(super) fn judge(asked: &Url, found: &FoundPage, host: &HostPages) -> Verdict {
    if let Some(sign) = service_of(asked, &found.url, &found.page) {
        return Verdict::new(PageState::Parked, sign);
    }
    let like = host
        .controls
        .iter()
        .find_map(|control| Some((control, likeness(asked, found, control, host.front())?)));
    let is_title_wall = wall_title(&found.page.title);
    if (like.is_some() || is_title_wall)
        && says_not_found(&found.page).is_none()
        && let Some(wall) = wall(&found.page)
    {
        return Verdict::new(PageState::Undecided, wall);
    }
    if let Some(sign) = placeholder(&found.page) {
        return Verdict::new(PageState::Soft404, sign);
    }
    if let Some(sign) = offer_of_all(asked, found, like.as_ref(), host)
        .or_else(|| named_after_domain(asked, found, host))
    {
        return Verdict::new(PageState::Parked, sign);
    }
    if like.is_some()
        && says_not_found(&found.page).is_none()
        && let Some(front) = host.front()
        && LIKE <= found.fingerprint.likeness(&front.fingerprint)
        && let Some(wall) = wall_of_all(&found.page)
    {
        return Verdict::new(PageState::Undecided, wall);
    }
    if let Some(gate) = gate(asked, found) {
        return match &like {
            Some((control, Likeness::Place)) if is_public(found, host.front()) => Verdict::new(
                PageState::Soft404,
                format_args!(
                    "{gate}; so does {}, a path that cannot exist, and the front page is open to all",
                    control.asked
                ),
            ),
            _ => Verdict::new(PageState::Undecided, gate),
        };
    }
    if is_front_page(asked) || is_front_file(asked) {
        // The page of all other paths may be the front page, but that is no other page.
        return drawn(found).unwrap_or_else(not_compared);
    }
    let Some((control, reason)) = like else {
        let sign = notice(found, host.front(), None);
        let notice = sign.map(|sign| Verdict::new(PageState::Soft404, sign).refutable());
        let shell = || drawn(found).filter(|_| found.fingerprint.words <= SHELL_WORDS);
        return notice.or_else(shell).unwrap_or_else(not_compared);
    };
    if reason == Likeness::Text
        && let Some(drawn) = drawn(found)
        && says_not_found(&found.page).is_none()
        && !(is_led_away(&found.page) && found.page.scripts == control.found.page.scripts)
    {
        return drawn;
    }
    let verdict = Verdict::new(
        PageState::Soft404,
        format_args!(
            "like the page of {}, a path that cannot exist: {reason}",
            control.asked
        ),
    );
    if reason == Likeness::Beginning {
        verdict.refutable()
    } else {
        verdict
    }
}

/// Returns `true` if a page has a few words that the front page of its host does not have.
pub(super) fn has_few_words(found: &FoundPage, front: Option<&FoundPage>) -> bool {
    length(&own_text(found, [front, None])) <= NOTICE_WORDS
}

/// Returns the evidence that all pages of a host offer its domain or say who holds it.
fn offer_of_all(
    asked: &Url,
    found: &FoundPage,
    like: Option<&(&Control, Likeness)>,
    host: &HostPages,
) -> Option<String> {
    let (control, reason) = like?;
    let phrase = offer(&found.url, &found.page)?;
    let is_front = host.front().is_none_or(|front| {
        offer(&front.url, &front.page).is_some() && is_one_frame(asked, found, front)
    });
    is_front.then(|| {
        format!(
            "says \"{phrase}\", and so does the page of {}, a path that cannot exist ({reason})",
            control.asked
        )
    })
}

/// Returns the evidence that all pages of a host have a few words under the name of its domain.
fn named_after_domain(asked: &Url, found: &FoundPage, host: &HostPages) -> Option<String> {
    let domain = domain_of(asked.as_str())?;
    let control = host.controls.first()?;
    let others = [Some(&*control.found), host.front()];
    let others: Vec<_> = others.into_iter().flatten().collect();
    if others.len() < 2 && !is_front_page(asked)
        || says_not_found(&found.page).is_some()
        || !is_named_after(&domain, &found.page)
        || !others
            .iter()
            .all(|other| is_named_after(&domain, &other.page))
    {
        return None;
    }
    let advertised = advertised(&found.page)
        .filter(|_| others.iter().all(|other| advertised(&other.page).is_some()));
    if let Some(phrase) = advertised {
        return Some(format!(
            "says \"{phrase}\" under the name of its domain, as {} does, a path that cannot exist",
            control.asked
        ));
    }
    let is_one = |other: &&FoundPage| is_one_frame(asked, found, other);
    others.iter().all(is_one).then(|| {
        format!(
            "has a few words under the name of its domain, as the front page does and {}, a path that \
             cannot exist",
            control.asked
        )
    })
}

/// Returns `true` if two pages share most of the lines of one of them: advertisements come with the
/// request.
fn is_one_frame(asked: &Url, one: &FoundPage, other: &FoundPage) -> bool {
    let path = spaced(asked.path());
    let set = |found: &FoundPage| -> HashSet<String> {
        let all = lines(&found.page.title).chain(lines(&found.page.text));
        all.map(|line| line.replace(&path, " ")).collect()
    };
    let (one, other) = (set(one), set(other));
    let both = one.intersection(&other).count() as u64;
    let short = one.len().min(other.len()) as u64;
    0 < both && FRAME <= ratio(both, short)
}

/// Returns `true` if the front page of a host is a page of its own, which asks for no login.
fn is_public(found: &FoundPage, front: Option<&FoundPage>) -> bool {
    front.is_some_and(|front| !front.page.has_password && !is_one_place(&front.url, &found.url))
}

/// Returns the evidence that a page is a notice in the place of what was asked for: what it does not
/// share with the front page and the snapshot of the link is a few words, and they say so.
fn notice(
    found: &FoundPage,
    front: Option<&FoundPage>,
    cited: Option<&FoundPage>,
) -> Option<String> {
    let own = own_text(found, [front, cited]);
    let words = length(&own);
    if NOTICE_WORDS < words {
        return None;
    }
    if let Some(title) = not_found_title(&found.page.title) {
        return Some(format!("its title says \"{title}\", with status 200"));
    }
    // Without a snapshot a sentence at the beginning must say so: a title may name a subject, and a
    // text tell of it.
    let title = spaced(&found.page.title);
    let is_said = |line: &&str| cited.is_some() || !title.contains(*line);
    let first = || own.lines().filter(is_said).take(NOTICE_LINES);
    let is_sentence = |line: &&str| length(line) <= SENTENCE_WORDS;
    let said = match cited {
        Some(_) => own.lines().find_map(gone_phrase),
        None => first().filter(is_sentence).find_map(gone_phrase),
    };
    // Beside a text that has gone, or on a page of a line, fewer words say so.
    let ended = || {
        let counts = cited.is_some() || words <= LINE_WORDS;
        counts.then(|| first().find_map(ended_phrase)).flatten()
    };
    let phrase = said.or_else(ended)?;
    Some(format!(
        "says \"{phrase}\" in the {words} words that no other page has, with status 200"
    ))
}

/// Returns the title and the lines of a page that none of the others has.
fn own_text(found: &FoundPage, others: [Option<&FoundPage>; 2]) -> String {
    let others: HashSet<String> = others
        .into_iter()
        .flatten()
        .flat_map(|other| lines(&other.page.title).chain(lines(&other.page.text)))
        .collect();
    let mut own: Vec<String> = lines(&found.page.title)
        .chain(lines(&found.page.text))
        .collect();
    own.retain(|line| !others.contains(line));
    own.join("\n")
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

/// Returns `true` if the script of a page leads browsers to another one, whatever was asked for.
fn is_led_away(page: &Page) -> bool {
    let leads = |name: &str| page.scripts.contains(name);
    page.text.trim().is_empty()
        && [
            "location.href=",
            "location.replace(",
            "location.assign(",
            "location=\"",
        ]
        .into_iter()
        .any(leads)
        && !["pathname", "location.search", "document.url", "+"]
            .into_iter()
            .any(leads)
}

/// The way in which a page is like that of a path that cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// Redirects led both to one place.
    Place,
    /// They have one text.
    Text,
    /// They have one title or one frame, and both say that nothing was found.
    Notice,
    /// They have one title, and both offer the domain.
    Offer,
    /// They have one title that is not that of the front page, and begin with the same words.
    Beginning,
}

impl fmt::Display for Likeness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Likeness::Place => "redirects lead both to the same place",
            Likeness::Text => "they have the same text",
            Likeness::Notice => "both say that nothing was found, in one frame",
            Likeness::Offer => "they have the same title, and both offer the domain",
            Likeness::Beginning => {
                "they have the same title and begin with the same words, which the front page has not"
            }
        })
    }
}

/// Compares a page with that of a path that cannot exist. Words of the two paths do not count, since
/// such pages repeat them.
fn likeness(
    asked: &Url,
    found: &FoundPage,
    control: &Control,
    front: Option<&FoundPage>,
) -> Option<Likeness> {
    let other = &control.found;
    // A link may be the very place that paths without a page lead to.
    if found.is_moved && other.is_moved && is_one_place(&found.url, &other.url) {
        return (!is_one_place(asked, &found.url)).then_some(Likeness::Place);
    }
    let paths = words_of_paths([asked, &control.asked]);
    let without_paths = |text: &str| words_without(text, &paths);
    let [title, other_title] = [found, other].map(|found| without_paths(&found.page.title));
    let is_one_title = !title.is_empty() && title == other_title;
    let [text, other_text] = [found, other].map(|found| without_paths(&found.page.text));
    let text = Fingerprint::of_words(&text).likeness(&Fingerprint::of_words(&other_text));
    let is_empty = |found: &FoundPage| found.fingerprint.words == 0 && found.page.title.is_empty();
    let is_one_frame_of_two = || {
        // A sentence of each in the large frame of their site.
        let [own, other_own] = [found, other].map(|found| own_text(found, [front, None]));
        let own = Fingerprint::of_words(&without_paths(&own));
        let other_own = Fingerprint::of_words(&without_paths(&other_own));
        !is_one_title
            && OWN_WORDS <= own.words.min(other_own.words)
            && own.likeness(&other_own) < LIKE_OWN
    };
    // A short page in a large frame is not the page that says there that nothing was found.
    let says_less = || {
        let other = format!(" {} {} ", other_title.join(" "), other_text.join(" "));
        gone_phrase(&other).is_some() && says_not_found(&found.page).is_none()
    };
    if (LIKE <= text && !is_one_frame_of_two() || is_one_title && LIKE_WITH_TITLE <= text)
        && !says_less()
        || is_empty(found) && is_empty(other) && found.page.resources == other.page.resources
    {
        return Some(Likeness::Text);
    }
    if (is_one_title || LIKE_WITH_PHRASE <= text) && say_one_phrase(&found.page, &other.page) {
        return Some(Likeness::Notice);
    }
    let offers = |found: &FoundPage| offer(&found.url, &found.page).is_some();
    if is_one_title && offers(found) && offers(other) {
        return Some(Likeness::Offer);
    }
    let is_of_front = front.is_none_or(|front| without_paths(&front.page.title) == title);
    (!is_of_front && shared_beginning(asked, found, control, front, None).is_some())
        .then_some(Likeness::Beginning)
}

/// Returns the words with which a page and that of a path that cannot exist begin, if they have one
/// title. What the front page and the snapshot of the link have does not count.
fn shared_beginning(
    asked: &Url,
    found: &FoundPage,
    control: &Control,
    front: Option<&FoundPage>,
    cited: Option<&FoundPage>,
) -> Option<String> {
    let paths = words_of_paths([asked, &control.asked]);
    let own = |page: &FoundPage| {
        let title = words_without(&page.page.title, &paths);
        let own = own_text(page, [front, cited]);
        let mut own = own.lines().map(|line| words_without(line, &paths));
        let first = own.find(|line| {
            let is_word = |word: &&String| word.chars().any(char::is_alphabetic);
            MIN_BEGINNING <= line.iter().filter(is_word).count() && *line != title
        });
        (title, first)
    };
    let ((title, first), other) = (own(found), own(&control.found));
    let first = first?;
    (!title.is_empty() && (title, Some(&first)) == (other.0, other.1.as_ref()))
        .then(|| first.join(" "))
}

/// Returns the words of the paths of URLs, which pages repeat.
fn words_of_paths(urls: [&Url; 2]) -> HashSet<String> {
    let paths = urls.map(|url| words(&url[url::Position::BeforePath..]));
    paths.into_iter().flatten().collect()
}

fn words_without(text: &str, others: &HashSet<String>) -> Vec<String> {
    let mut words = words(text);
    words.retain(|word| !others.contains(word));
    words
}

/// Compares two URLs without scheme, `www.`, query and final slash.
pub(super) fn is_one_place(one: &Url, other: &Url) -> bool {
    let place = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_prefix("www.").unwrap_or(host).to_owned();
        (host, url.path().trim_end_matches('/').to_owned())
    };
    place(one) == place(other)
}

/// Returns `true` for the root of a host.
pub(super) fn is_front_page(url: &Url) -> bool {
    url.path() == "/" && url.query().unwrap_or_default().is_empty()
}

/// Names, without their endings, of the files that servers send for the root of a host.
const FRONT_FILES: [&str; 4] = ["index", "default", "home", "welcome"];

/// Returns `true` for the file of a front page: `/index.html`, `/default.asp`.
fn is_front_file(url: &Url) -> bool {
    let name = url.path().trim_start_matches('/');
    name.split_once('.').is_some_and(|(stem, _)| {
        FRONT_FILES
            .iter()
            .any(|known| stem.eq_ignore_ascii_case(known))
    }) && !name.contains('/')
        && url.query().unwrap_or_default().is_empty()
}

/// Returns the evidence that a page stands before the one that was asked for: a login, or a page
/// that is given the address to return to.
fn gate(asked: &Url, found: &FoundPage) -> Option<String> {
    if says_not_found(&found.page).is_some() {
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

/// A verdict that waits for the comparison with a snapshot.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    pub(super) verdict: Verdict,
    /// The time of the first citation of the link (RFC 3339), if that is known.
    pub(super) first_cited: Option<String>,
}

impl Doubt {
    /// Returns `true` if a snapshot, which has the text of the page, shows what was cited.
    fn is_refuted_by(&self, cited: &Snapshot) -> bool {
        let year = |time: &str| time.get(..4).and_then(|year| year.parse::<u32>().ok());
        let cited_in = self.first_cited.as_deref().and_then(year);
        match (cited_in, year(&cited.timestamp)) {
            (Some(cited_in), Some(captured_in)) => captured_in.abs_diff(cited_in) <= CITED_YEARS,
            _ => true,
        }
    }
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
///
/// `asked` is the link, and `doubt` a verdict that the snapshot may refute.
pub(super) fn compare(
    asked: &Url,
    found: &FoundPage,
    cited: &Snapshot,
    host: &HostPages,
    doubt: Option<&Doubt>,
) -> FirstComparison {
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
    if let Some(sign) = replaced(asked, found, &cited.found, host) {
        return decided(
            PageState::Soft404,
            format!("{sign}; the snapshot of {date} has a text in their place: {address}"),
        );
    }
    if is_same(found, &cited.found) && doubt.is_none_or(|doubt| doubt.is_refuted_by(cited)) {
        return decided(
            PageState::AsCited,
            format!("has {percent} % of the text of the snapshot of {date}: {address}"),
        );
    }
    if let Some(Doubt { verdict, .. }) = doubt {
        let seen = if is_same(found, &cited.found) {
            "already so in the first snapshot, years after the citation, of"
        } else {
            "unlike the snapshot of"
        };
        let evidence = format!("{}; {seen} {date}: {address}", verdict.evidence);
        return decided(verdict.state, evidence);
    }
    if is_unlike(found, &cited.found) {
        return FirstComparison::Unlike;
    }
    let short = cited.found.fingerprint.words.min(found.fingerprint.words);
    if let Some(Verdict {
        state, evidence, ..
    }) = drawn(found)
    {
        return decided(state, evidence);
    }
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
pub(super) fn compare_later(
    found: &FoundPage,
    cited: &Snapshot,
    later: &[Snapshot],
    front: Option<&FoundPage>,
) -> Verdict {
    let (date, address) = (day(&cited.timestamp), &cited.address);
    if let Some(front) = front.filter(|front| is_related(front, &cited.found)) {
        return Verdict::new(
            PageState::Changed,
            format_args!(
                "nothing in common with the snapshot of {date} ({address}), but the front page {} has",
                front.url
            ),
        );
    }
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

/// Returns the evidence that a notice stands in the place of the text of a snapshot.
fn replaced(asked: &Url, found: &FoundPage, cited: &FoundPage, host: &HostPages) -> Option<String> {
    let front = host.front();
    let beginning = |control| {
        let words = shared_beginning(asked, found, control, front, Some(cited))?;
        Some(format!(
            "begins with \"{words}\" under the same title as the page of {}, a path that cannot exist",
            control.asked
        ))
    };
    let of_control = || {
        host.controls
            .iter()
            .filter(|_| front.is_some())
            .find_map(beginning)
    };
    let sign = notice(found, front, Some(cited)).or_else(of_control)?;
    let lost = Fingerprint::of(&own_text(cited, [front, None]));
    let own = Fingerprint::of(&own_text(found, [front, None]));
    let is_lost = lost.words == 0 || own.kept_of(&lost) < REPLACED;
    (is_lost && says_not_found(&cited.page).is_none()).then_some(sign)
}

/// Returns `true` if a front page has a text, and something in common with a snapshot.
fn is_related(front: &FoundPage, cited: &FoundPage) -> bool {
    COMPARED_WORDS <= front.fingerprint.words.min(cited.fingerprint.words)
        && !is_unlike(front, cited)
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
    let shared = found.fingerprint.shared_words(&cited.fingerprint);
    let kept = found.fingerprint.kept_of(&cited.fingerprint);
    is_long(found)
        && is_long(cited)
        && title.is_none_or(|likeness| likeness < UNLIKE_TITLE)
        && (shared < UNLIKE_WORDS || shared < LANGUAGE_WORDS && kept < UNLIKE_RUNS)
        && !is_translated(found, cited)
}

/// Returns `true` if two pages in two languages share names.
fn is_translated(found: &FoundPage, cited: &FoundPage) -> bool {
    let [one, other] = [found, cited].map(|found| tongue(&found.page.text));
    let shared = || {
        names(&found.page.text)
            .intersection(&names(&cited.page.text))
            .count()
    };
    one.is_some() && other.is_some() && one != other && SHARED_NAMES <= shared()
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
                found: Arc::new(found(at, MISSING, html)),
            })
            .into_iter()
            .collect();
        let host = HostPages {
            controls,
            front: None,
        };
        judge(&url(link), &found(page.0, link, page.1), &host)
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
    fn a_short_page_in_the_frame_of_the_page_that_says_not_found_is_no_soft_404() {
        let frame =
            "News Members Archive Contact Links Shop Search Map Events Boats Harbours Charts "
                .repeat(9);
        let page = format!("<title>Lamp | Handbook</title>{frame}<p>It is made of brass.");
        let missing = "<p>This topic does not exist yet. You may write it.";
        let control = format!("<title>No such page | Handbook</title>{frame}{missing}");
        check(
            (LINK, &page),
            Some((MISSING, &control)),
            PageState::NotCompared,
        );
        let other = format!("<title>Lamp | Handbook</title>{frame}{missing}");
        check(
            (LINK, &other),
            Some((MISSING, &control)),
            PageState::Soft404,
        );
    }

    #[test]
    fn the_title_of_a_page_of_a_line_may_name_a_subject() {
        let page =
            |title: &str, line: &str| format!("<title>{title}</title><h1>{title}</h1><p>{line}");
        let album = page("Trial and error", "Photographs of 1998");
        check((LINK, &album), None, PageState::NotCompared);
        let closed = page("Lamps", "Sorry, this shop is closed");
        check((LINK, &closed), None, PageState::Soft404);
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
        for front in [
            front,
            "http://l.cern.ch/index.html",
            "http://l.cern.ch/Default.ASP",
        ] {
            let verdict = judged(front, (front, ARTICLE), Some((MISSING, ARTICLE)));
            assert_eq!(
                verdict.state,
                PageState::NotCompared,
                "{}",
                verdict.evidence
            );
        }
        for other in [
            "http://l.cern.ch/indexes/a.html",
            "http://l.cern.ch/index.cgi?id=7",
        ] {
            let verdict = judged(other, (other, ARTICLE), Some((MISSING, ARTICLE)));
            assert_eq!(verdict.state, PageState::Soft404, "{other}");
        }
    }

    /// The verdict on a link of a host that has these pages for a path that cannot exist and for its
    /// front.
    #[track_caller]
    fn check_of_host(
        page: &str,
        control: Option<&str>,
        front: &str,
        expected: PageState,
    ) -> String {
        let control = control.map(|html| Control {
            asked: url(MISSING),
            found: Arc::new(found(MISSING, MISSING, html)),
        });
        let host = HostPages {
            controls: control.into_iter().collect(),
            front: Some(Arc::new(found(
                "http://l.cern.ch/",
                "http://l.cern.ch/",
                front,
            ))),
        };
        let verdict = judge(&url(LINK), &found(LINK, LINK, page), &host);
        assert_eq!(verdict.state, expected, "{}", verdict.evidence);
        verdict.evidence
    }

    const FRONT: &str = "<title>Lighthouse society</title><p>News<p>Members<p>Archive<p>Shop<p>Contact<p>\
        We keep the lamps of the harbour, and meet on the first Monday of each month.";

    #[test]
    fn a_host_that_says_who_holds_its_domain_on_all_paths_is_parked() {
        for (text, words) in [
            (
                "<title>Hi</title>Tento domain byl registered by Hoster Ltd.",
                "registered",
            ),
            (
                "<title>Info</title>Denna domän är till salu, ring oss.",
                "till salu",
            ),
            (
                "<title>cern.ch</title><h1>cern.ch</h1>Coming soon.",
                "name of its domain",
            ),
        ] {
            let evidence = check_of_host(text, Some(text), text, PageState::Parked);
            assert!(evidence.contains(words), "{evidence}");
        }
        // A hoster whose missing pages name what it sells has a front page of its own.
        let missing = "<title>Oops</title>Nothing here. Buy a domain, or register one.";
        check_of_host(missing, Some(missing), FRONT, PageState::Soft404);
        let ads = |lines: &str| {
            format!("<title>cern.ch</title><h1>cern.ch</h1><p>Sponsored listings{lines}")
        };
        let one = ads("<p>Lamp shops<p>Brass<p>Oil<p>Wicks<p>Harbours<p>Keepers");
        let other = ads("<p>Cars<p>Loans<p>Flights<p>Hotels<p>Shoes<p>Roofs");
        check_of_host(&one, Some(&other), &ads("<p>Tea<p>Milk"), PageState::Parked);
        let named = "<title>cern.ch: lamps</title>Each lantern was trimmed twice before midnight.";
        check_of_host(named, None, FRONT, PageState::NotCompared);
    }

    #[test]
    fn placeholders_are_soft_404s_and_walls_are_undecided() {
        let suspended = "<title>Account Suspended</title>Contact your hosting provider.";
        check_of_host(suspended, Some(suspended), suspended, PageState::Soft404);
        let nginx = "<title>Welcome to nginx!</title>Further configuration is required.";
        let front = "http://l.cern.ch/";
        assert_eq!(
            judged(front, (front, nginx), None).state,
            PageState::Soft404
        );
        let how = format!(
            "<title>How to set up a server</title>{}",
            "Then it said it works. ".repeat(60)
        );
        check_of_host(&how, None, FRONT, PageState::NotCompared);
        for wall in [
            "<title>Just a moment...</title>Enable JavaScript and cookies to continue",
            "<title>Lighthouse society</title>We are down for maintenance.",
            "<title>Making sure you're not a bot!</title>Calculating.",
        ] {
            check_of_host(wall, Some(wall), wall, PageState::Undecided);
        }
        let talk = "<title>Minutes</title><p>The lamp was down for maintenance on Monday.";
        check_of_host(talk, None, FRONT, PageState::NotCompared);
        let challenge = "<title>l.cern.ch</title><script>window._cf_chl_opt={}</script>Wait";
        check_of_host(challenge, Some(challenge), challenge, PageState::Undecided);
    }

    #[test]
    fn a_login_before_paths_that_cannot_exist_is_a_soft_404_if_the_front_page_is_open() {
        let login = "<title>Sign in</title><input type=password>";
        let place = "http://l.cern.ch/login?next=x";
        let control = Control {
            asked: url(MISSING),
            found: Arc::new(found(place, MISSING, login)),
        };
        let state = |front: FoundPage| {
            let host = HostPages {
                controls: vec![control.clone()],
                front: Some(Arc::new(front)),
            };
            judge(&url(LINK), &found(place, LINK, login), &host).state
        };
        let front = "http://l.cern.ch/";
        assert_eq!(state(found(front, front, FRONT)), PageState::Soft404);
        assert_eq!(state(found(place, front, login)), PageState::Undecided);
        assert_eq!(state(found(front, front, login)), PageState::Undecided);
    }

    #[test]
    fn a_notice_of_a_few_own_words_is_a_soft_404() {
        let page = |title: &str, text: &str| {
            let frame = FRONT.split_once("</title>").unwrap().1;
            format!("<title>{title}</title>{frame}<p>{text}")
        };
        for text in [
            "The topic you asked for does not exist.",
            "Dieser Beitrag wurde gelöscht.",
            "この記事は存在しません。",
        ] {
            check_of_host(&page("Information", text), None, FRONT, PageState::Soft404);
        }
        let long = "Pages that are not found have a status of their own. ".repeat(9);
        let guide = page("Error 404: page not found", &long);
        check_of_host(&guide, None, FRONT, PageState::NotCompared);
        // A sentence in the frame of a site that has an apology in it for other paths.
        let frame = "<p>Menu line of several words for everybody".repeat(40);
        let framed = |title: &str, text: &str| format!("<title>{title}</title>{frame}<p>{text}");
        check_of_host(
            &framed("Lamp", "The brass lantern weighs four pounds."),
            Some(&framed("Sorry", "There is no page at this address.")),
            &framed("Lighthouse society", "Welcome to all friends of lamps."),
            PageState::NotCompared,
        );
    }

    fn snapshot(timestamp: &str, html: &str) -> Snapshot {
        Snapshot {
            timestamp: timestamp.to_owned(),
            address: format!("https://a.test/{timestamp}id_/{LINK}"),
            found: found(LINK, LINK, html),
        }
    }

    /// The comparison of a page at the link with a snapshot, on a host of which nothing is known.
    fn compared(html: &str, cited: &Snapshot, doubt: Option<&Doubt>) -> FirstComparison {
        let found = found(LINK, LINK, html);
        compare(&url(LINK), &found, cited, &HostPages::default(), doubt)
    }

    const CASINO: &str = "<title>Best casino bonuses</title>Discover roulette, blackjack and poker with free \
        spins, instant payouts, trusted reviews, licensed operators, sports betting, mobile slots, \
        weekly jackpots, loyalty programmes and welcome packages.";

    #[test]
    fn a_page_is_compared_with_its_snapshot() {
        let cited = snapshot("19960702134500", ARTICLE);
        let state = |html: &str| match compared(html, &cited, None) {
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
        let FirstComparison::Decided(verdict) = compared(ARTICLE, &gone, None) else {
            panic!("no verdict");
        };
        assert_eq!(verdict.state, PageState::Undecided);
    }

    #[test]
    fn a_notice_in_the_place_of_a_snapshot_is_a_soft_404() {
        let cited = snapshot("19960702134500", ARTICLE);
        let state = |html: &str| match compared(html, &cited, None) {
            FirstComparison::Decided(verdict) => Some(verdict.state),
            FirstComparison::Unlike => None,
        };
        let withdrawn =
            "<title>The brass lantern</title><p>This entry was withdrawn by its author.";
        assert_eq!(state(withdrawn), Some(PageState::Soft404));
        let sold = format!("{ARTICLE}<p>This lamp is no longer available.");
        assert_eq!(state(&sold), Some(PageState::AsCited));
    }

    #[test]
    fn a_snapshot_of_the_citation_refutes_a_doubt_and_a_later_one_does_not() {
        let html = "<title>Lamp</title><p>This lamp is no longer available.";
        let cited = snapshot("19960702134500", html);
        let doubt = |first_cited: Option<&str>| Doubt {
            verdict: Verdict::new(PageState::Soft404, "a notice"),
            first_cited: first_cited.map(str::to_owned),
        };
        for (first_cited, expected) in [
            (Some("1996-03-01T10:00:00Z"), PageState::AsCited),
            (None, PageState::AsCited),
            (Some("1990-03-01T10:00:00Z"), PageState::Soft404),
        ] {
            let FirstComparison::Decided(verdict) =
                compared(html, &cited, Some(&doubt(first_cited)))
            else {
                panic!("no verdict");
            };
            assert_eq!(verdict.state, expected, "{}", verdict.evidence);
        }
        let text = snapshot("19960702134500", ARTICLE);
        let FirstComparison::Decided(verdict) = compared(html, &text, Some(&doubt(None))) else {
            panic!("no verdict");
        };
        assert_eq!(verdict.state, PageState::Soft404);
    }

    #[test]
    fn a_page_that_begins_as_the_control_does_is_a_soft_404() {
        let front =
            "<title>Lamp shop</title><p>Welcome to all who like lamps of brass and of glass.";
        let goods =
            |goods: &str| format!("<title>Lamp shop</title><p>Nihil inventum est hic:<p>{goods}");
        let host = |control: &str| HostPages {
            controls: vec![Control {
                asked: url(MISSING),
                found: Arc::new(found(MISSING, MISSING, control)),
            }],
            front: Some(Arc::new(found(
                "http://l.cern.ch/",
                "http://l.cern.ch/",
                front,
            ))),
        };
        let cited = snapshot("19960702134500", ARTICLE);
        let page = goods(
            "Brass lantern 7, glass chimney 12, cotton wick 3, oil can 9, mantle 2, spare burner 5, wall hook 1",
        );
        let page = found(LINK, LINK, &page);
        let state = |control: &str| {
            let host = host(control);
            assert_eq!(
                judge(&url(LINK), &page, &host).state,
                PageState::NotCompared
            );
            match compare(&url(LINK), &page, &cited, &host, None) {
                FirstComparison::Decided(verdict) => verdict.state,
                FirstComparison::Unlike => PageState::TakenOver,
            }
        };
        let other = "Table lamp 4, shade of silk 8, ship light 11, torch 6, candle 1, paper lantern 14, street lamp 99";
        assert_eq!(state(&goods(other)), PageState::Soft404);
        assert_eq!(
            state(&format!("<title>Lamp shop</title><p>Our lamps:<p>{other}")),
            PageState::TakenOver
        );
    }

    #[test]
    fn texts_without_a_sentence_in_common_are_unlike_although_they_share_words() {
        let cited = "<title>Brass lanterns</title><p>Every evening somebody should carry another lantern             through the village, before visitors arrive from across the mountains to see the old hill.";
        let owner = "<title>Winning poker</title><p>Somebody should always check another account before a             payment; players across Europe trust our bonus, whose evening rounds never end at all.";
        let [one, other] = [owner, cited].map(|html| found(LINK, LINK, html));
        assert!(UNLIKE_WORDS < one.fingerprint.shared_words(&other.fingerprint));
        assert!(is_unlike(&one, &other));
    }

    #[test]
    fn a_new_text_in_another_language_is_no_new_owner_if_names_remain() {
        let french = "<title>Accueil</title><p>Les bateaux et le phare sont dans le port, pour une fois, et les \
            gardiens du musée Brandholm avec Ellington Marquardt sont des nôtres.";
        let english = "<title>About</title><p>The keepers of the museum Brandholm and Ellington Marquardt wrote \
            this for you, and it is the end of that, with a page for each of them.";
        let other = english
            .replace("Brandholm", "Roofing")
            .replace("Ellington Marquardt", "Slates");
        for (html, expected) in [(english, false), (other.as_str(), true)] {
            let [one, other] = [html, french].map(|html| found(LINK, LINK, html));
            assert_eq!(is_unlike(&one, &other), expected, "{html}");
        }
    }

    #[test]
    fn an_owner_whose_front_page_remains_is_no_new_one() {
        let cited = snapshot("19960702134500", ARTICLE);
        let page = found(LINK, LINK, CASINO);
        let front = found("http://l.cern.ch/", "http://l.cern.ch/", ARTICLE);
        let state = |front: &FoundPage| compare_later(&page, &cited, &[], Some(front)).state;
        assert_eq!(state(&front), PageState::Changed);
        assert_eq!(state(&page), PageState::TakenOver);
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
            let verdict = compare_later(&page, &cited, &later, None);
            assert_eq!(verdict.state, expected, "{}", verdict.evidence);
            assert!(verdict.evidence.contains(words), "{}", verdict.evidence);
            assert!(verdict.evidence.contains("1996-07-02"));
        }
    }
}
