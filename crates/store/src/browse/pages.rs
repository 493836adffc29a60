//! HTML pages. Links only point to pages of this server; a URL from the archive is shown as text.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hyper::StatusCode;
use maud::{Markup, PreEscaped, html};
use rusqlite::Row;

use super::raw::{NoPassage, RawPassage};
use super::request::{
    Filter, FilterField, LIST_FIELDS, LinkOrder, NoSearch, PageSearch, has_words,
};
use super::selection::Selection;
use crate::load::{Citation, FoundContext};
use crate::page::STYLE as PAGE_STYLE;
use crate::page::html::{Text, card, coordinate, day, foreign, ratio};
use crate::stats::sender_address;
use urlspool_files::config::NamedValue;
use urlspool_record::record::{MISMATCH, hazard_names};
use urlspool_text::diagnostic::{counted, grouped, shortened};
use urlspool_text::limits::{
    BROWSE_EXACT_ROWS, BROWSE_TOP_LINK_CHARS, BROWSE_WORDS, SEARCH_PHRASE_WORDS, SEARCH_WORD_BYTES,
};

/// CSS rules in addition to the style of reports.
const STYLE: &str = include_str!("style.css");

/// Height of the timeline in pixels.
const TIMELINE: f64 = 96.0;

/// Maximum length of a condition in a title, in characters.
const TITLE_CHARS: usize = 80;

/// Maximum number of years in a timeline: 1970 to the middle of this century.
const YEARS: u64 = 100;

/// Returns the style sheet.
pub(super) fn style() -> String {
    [PAGE_STYLE, STYLE].concat()
}

/// The list that a request asks for.
pub(super) struct Asked {
    pub(super) filter: Filter,
    pub(super) search: PageSearch,
    /// The citations.
    pub(super) list: Arc<Selection>,
    /// Order of the links of the list.
    pub(super) order: LinkOrder,
    /// Page number, starting at 1.
    pub(super) page: usize,
}

/// A page with a list of citations.
pub(super) struct SearchPage<'p> {
    pub(super) database: &'p Path,
    pub(super) asked: &'p Asked,
    pub(super) rows: Vec<Citation>,
    pub(super) subject: Subject,
    pub(super) position: Position,
}

/// Position of a page in a list.
pub(super) struct Position {
    /// Page number, starting at 1.
    page: usize,
    pages: usize,
    /// Number of rows per page.
    page_rows: usize,
    total: usize,
}

impl Position {
    /// Returns the position of a page, or of the last page if there are fewer.
    pub(super) fn new(page: usize, page_rows: usize, total: usize) -> Position {
        let pages = total.div_ceil(page_rows).max(1);
        Position {
            page: page.min(pages),
            pages,
            page_rows,
            total,
        }
    }

    /// Returns the range of rows on the page.
    pub(super) fn rows(&self) -> Range<usize> {
        let first = (self.page - 1) * self.page_rows;
        first..self.total.min(first + self.page_rows)
    }
}

/// Subject of a page.
pub(super) enum Subject {
    Search,
    /// A domain, a list or a sender.
    Name(FilterField, String),
    Link(Box<LinkFacts>),
}

/// Details of a link, for its page.
#[derive(Default)]
pub(super) struct LinkFacts {
    pub(super) key: String,
    pub(super) citations: u64,
    pub(super) messages: u64,
    pub(super) first: Option<String>,
    pub(super) last: Option<String>,
    pub(super) domain: Option<String>,
    pub(super) host: Option<String>,
    /// Links that differ only in tracking parameters, with their numbers of citations.
    pub(super) others: Vec<(String, u64)>,
    /// Latest result of an audit.
    pub(super) check: Option<Markup>,
    /// Result of looking up the link in an archive.
    pub(super) snapshot: Option<Markup>,
}

impl FilterField {
    /// Returns the path of the page for a name: its own page, or the search.
    pub(super) fn path(self) -> &'static str {
        match self {
            FilterField::Key => "link",
            FilterField::Domain => "domain",
            FilterField::List => "list",
            FilterField::Sender => "sender",
            _ => "./",
        }
    }
}

/// Lists of the most frequent names, with their titles.
const TOPS: [(FilterField, &str); 7] = [
    (FilterField::Domain, "Domains"),
    (FilterField::Key, "Most cited links"),
    (FilterField::Host, "Hosts"),
    (FilterField::Scheme, "Schemes"),
    (FilterField::List, "Lists and newsgroups"),
    (FilterField::Sender, "Senders"),
    (FilterField::Hazard, "Hazards"),
];

/// Renders a name in such a list.
fn shown(field: FilterField, name: &str) -> Markup {
    match field {
        FilterField::Key => foreign(&shortened(name, BROWSE_TOP_LINK_CHARS)),
        FilterField::Hazard => hazard(name),
        _ => foreign(name),
    }
}

/// Renders the name of a hazard with its meaning.
fn hazard(name: &str) -> Markup {
    let meaning = match name {
        "odd-port" => ": a port of another service",
        "encoded-control" => ": an encoded control character",
        "password" => ": a password in the URL",
        "numeric-host" => ": an address in place of a name",
        "userinfo-like-host" => ": a user name that looks like a host",
        "zero-width" => ": a character without width",
        "mixed-script" => ": a host in more than one script",
        "latin-lookalike" => ": a name in Cyrillic or Greek letters that look Latin",
        MISMATCH => ": the text of the link names another host",
        _ => "",
    };
    html! { (foreign(name)) (meaning) }
}

/// Renders a page. `root` is the relative path to the first page: empty, or one or more `../`.
fn document(root: &str, title: &str, filter: &Filter, main: &Markup) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" { "\n"
            head { "\n"
                meta charset="utf-8"; "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                meta name="color-scheme" content="light dark"; "\n"
                title { (Text(title)) } "\n"
                link rel="stylesheet" href={ (root) "style.css" }; "\n"
            } "\n"
            body.browse { "\n"
                a.skip href="#results" { "Skip to the citations" } "\n"
                header { "\n"
                    p.home { a href={ (root) "./" } accesskey="h" { "All links" } } "\n"
                    (form(root, filter))
                } "\n"
                main { "\n" (main) } "\n"
                footer { p {
                    "Made by urlspool " (env!("CARGO_PKG_VERSION")) ". URLs of the archive are "
                    "text: none of them can be clicked, and this page loads nothing from "
                    "elsewhere. Keys: Alt+Shift (Firefox) or Alt (others) with S for the search, "
                    "N and P for the next and the previous page, H for all links."
                } } "\n"
            } "\n"
        } "\n"
    };
    page.into_string()
}

fn form(root: &str, filter: &Filter) -> Markup {
    let input = |field: FilterField, hint: &str| {
        html! {
            label { (field.meaning()) " "
                input name=(field.name()) value=(filter.value(field)) placeholder=(hint); } "\n"
        }
    };
    let has_more = filter
        .conditions()
        .any(|(field, _)| field != FilterField::Words && !HIDDEN.contains(&field));
    html! {
        form.search role="search" action={ (root) "./" } method="get" { "\n"
            div.words {
                label.hidden for="q" { "Words" }
                input #q type="search" name="q" value=(filter.value(FilterField::Words))
                    accesskey="s" placeholder="Words in and around links, in subjects and \
                    senders: lamp goph* \"two words\" -without";
                button { "Search" }
            } "\n"
            details open[has_more || filter.is_oldest_first || filter.shows_list_fields] { "\n"
                summary { "Filters" } "\n"
                div.fields { "\n"
                    (input(FilterField::Domain, "cern.ch"))
                    (input(FilterField::Host, "info.cern.ch"))
                    (input(FilterField::Scheme, "gopher"))
                    (input(FilterField::Sender, "a name or an address"))
                    (input(FilterField::List, "comp.infosystems.www"))
                    (input(FilterField::Region, "body or header:Subject"))
                    label { (FilterField::Hazard.meaning()) " "
                        select name=(FilterField::Hazard.name()) {
                            option value="" { "any or none" }
                            @for name in hazard_names() {
                                @let is_chosen = name == filter.value(FilterField::Hazard);
                                option value=(name) selected[is_chosen] { (hazard(name)) }
                            }
                        }
                    } "\n"
                    @if filter.has_audit {
                        label { (FilterField::State.meaning()) " "
                            select name=(FilterField::State.name()) {
                                option value="" { "any" }
                                @for state in STATES {
                                    @let is_chosen = state == filter.value(FilterField::State);
                                    option value=(state) selected[is_chosen] { (state) }
                                }
                            }
                        } "\n"
                    }
                    (input(FilterField::Since, "1994 or 1994-07"))
                    (input(FilterField::Until, "1996 or 1996-07-02"))
                    label { "Order "
                        select name="sort" {
                            option value="newest" { "newest citations first" }
                            option value="oldest" selected[filter.is_oldest_first] {
                                "oldest citations first"
                            }
                        }
                    } "\n"
                    label { input type="checkbox" name=(LIST_FIELDS) value="1"
                        checked[filter.shows_list_fields];
                        " Links that occur only in header fields of mailing lists" } "\n"
                    @for (field, value) in filter.conditions() {
                        @if HIDDEN.contains(&field) {
                            input type="hidden" name=(field.name()) value=(value);
                        }
                    }
                } "\n"
            } "\n"
        } "\n"
    }
}

/// States of links in an audit, in the words of its view `audit_states`.
const STATES: [&str; 9] = [
    "alive",
    "redirected",
    "dead page, not confirmed",
    "dead page, confirmed",
    "dead host, not confirmed",
    "dead host, confirmed",
    "unknown",
    "not checked yet",
    "not in the plan",
];

/// Conditions that are set by following a link. They have no input field because nobody types them.
const HIDDEN: [FilterField; 2] = [FilterField::Key, FilterField::Thread];

/// Renders the page for conditions that cannot be searched.
pub(super) fn not_searched(filter: &Filter, reason: NoSearch) -> String {
    let (subject, text) = match reason {
        NoSearch::Field(field) => (field.meaning(), not_understood(field, filter.value(field))),
        NoSearch::ReversedDates => ("reversed dates", reversed_dates(filter)),
    };
    let main = html! { h1 { "Nothing was searched" } p { (text) } };
    let title = format!("Nothing was searched: {subject}");
    document("", &title, filter, &main)
}

fn reversed_dates(filter: &Filter) -> Markup {
    let since = filter.value(FilterField::Since);
    let until = filter.value(FilterField::Until);
    let exchanged = filter.with(FilterField::Since, until);
    let exchanged = exchanged.with(FilterField::Until, since).to_query(1);
    html! {
        "The dates are reversed: " (FilterField::Since.meaning()) " " (foreign(since)) " is after "
        (FilterField::Until.meaning()) " " (foreign(until)) ". "
        a href={ "./" (exchanged) } { "Swap them" } "."
    }
}

fn not_understood(field: FilterField, value: &str) -> Markup {
    html! {
        @if field == FilterField::Words && !has_words(value) {
            (foreign(value)) " has neither a letter nor a digit. Search for words."
        } @else if field == FilterField::Words {
            "A phrase has at most " (SEARCH_PHRASE_WORDS) " words, and a word "
            (SEARCH_WORD_BYTES) " bytes. Search for less."
        } @else if field == FilterField::Region {
            (field.meaning()) ": " (foreign(value)) " is unknown. Write a name as in records, such "
            "as body, header or header:Subject."
        } @else if field == FilterField::Hazard {
            (field.meaning()) ": " (foreign(value)) " is unknown. Choose one of those that "
            em { "Filters" } " lists."
        } @else {
            (field.meaning()) ": " (foreign(value)) " is not a date. Write a year (1996), a "
            "month (1996-07) or a day (1996-07-02)."
        }
    }
}

/// Renders the page for a refused request, with the reason and a link back. The link is relative
/// because the first page may be below a token and below a proxy's path. The page's size grows with
/// the number of slashes in `path`, which the server limits.
pub(super) fn refused(refusal: StatusCode, path: &str, filter: &Filter) -> String {
    let (title, reason) = match refusal {
        StatusCode::NOT_FOUND if path == "bytes" => (
            "No such citation",
            "This citation is not in the database: a load has removed it, or the address is wrong.",
        ),
        StatusCode::NOT_FOUND => ("No such page", "There is no page with this address."),
        StatusCode::METHOD_NOT_ALLOWED => (
            "Only reading",
            "These pages are only read: a browser asks for them with GET.",
        ),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => (
            "The request is too long",
            "The search is too long for these pages. Search for less.",
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "The search took too long",
            "The database did not answer in time. Narrow the search, such as by a year.",
        ),
        StatusCode::INTERNAL_SERVER_ERROR => (
            "The page cannot be made",
            "The database may be damaged, or it was moved: start urlspool browse again and read \
             its message. Otherwise please report the address of this page.",
        ),
        _ => (
            "The address is wrong",
            "The address of this page is incomplete or invalid.",
        ),
    };
    let root = "../".repeat(path.matches('/').count());
    let main = html! {
        h1 { (title) } "\n"
        p #results tabindex="-1" { (reason) } "\n"
        p {
            a href={ (root) "./" } { "All links" }
            @if filter.conditions().next().is_some() { " \u{b7} "
                a href={ (root) "./" (filter.to_query(1)) } { "Citations with these conditions" }
            }
        } "\n"
    };
    document(&root, title, filter, &main)
}

/// Renders the page for a link without citations.
pub(super) fn not_cited(filter: &Filter) -> String {
    let url = filter.value(FilterField::Key);
    let others = Filter::default().with(FilterField::Words, url);
    let main = html! {
        h1 { "No citation of this link" }
        p { code.url { (foreign(url)) } " is cited nowhere in this database, in these letters. "
            a href={ "./" (others.to_query(1)) } { "Search for links like it" } ", without "
            "parameters of visitors and campaigns." }
    };
    document("", "No citation of this link", filter, &main)
}

/// Renders a page with a list of citations.
pub(super) fn search_page(page: &SearchPage<'_>) -> String {
    let title = title(page);
    let main = html! {
        h1 { (foreign(&title)) } "\n"
        @if let Subject::Link(facts) = &page.subject { (link_facts(facts)) }
        @if matches!(page.subject, Subject::Name(..)) { (name_facts(page)) }
        (chips(&page.asked.filter, "./"))
        (word_notes(page))
        (sample_note(&page.asked.list))
        (timeline(page))
        div.columns { "\n"
            (results(page))
            (tops(page))
        } "\n"
    };
    document(
        "",
        &numbered(title, &page.position),
        &page.asked.filter,
        &main,
    )
}

/// Returns the title with the page number, except on the first page.
fn numbered(title: String, position: &Position) -> String {
    match position.page {
        1 => title,
        page => format!("{title}, page {page}"),
    }
}

/// Renders a page with a list of links, given by their keys and numbers of citations. `is_sample`
/// is `true` if the links come from a sample of the citations.
pub(super) fn links_page(
    asked: &Asked,
    is_sample: bool,
    rows: &[(String, u64)],
    position: &Position,
) -> String {
    let conditions = conditions_title(&asked.filter);
    let title = match &*conditions {
        "" => "List of links".to_owned(),
        conditions => format!("Links, {conditions}"),
    };
    let to = |order, number| format!("links{}", asked.filter.to_links_query(order, number));
    let main = html! {
        h1 { (foreign(&title)) } "\n"
        (chips(&asked.filter, "links"))
        @if is_sample { (sample_note(&asked.list)) }
        section #results aria-label="Links" tabindex="-1" { "\n"
            h2 { (counted(position.total as u64, "link", "links")) } "\n"
            @let all = asked.filter.with_list_fields().to_links_query(asked.order, 1);
            (hidden_note(&asked.list, &format!("links{all}")))
            p.exports { "By "
                @for (order, name) in
                    [(LinkOrder::Citations, "citations"), (LinkOrder::Address, "address")] {
                    @if order == asked.order { strong aria-current="true" { (name) } }
                    @else { a href=(to(order, 1)) { (name) } }
                    " "
                }
                "\u{b7} " a href={ "./" (asked.filter.to_query(1)) } { "Their citations" }
                @if !rows.is_empty() {
                    @let query = asked.filter.to_links_query(asked.order, 1);
                    " \u{b7} All pages: " (files("links", &query))
                }
            } "\n"
            ol.links start=(position.rows().start + 1) { "\n"
                @for (key, count) in rows { li {
                    (thing(FilterField::Key, key, &Filter::default())) " "
                    span.n { (counted(*count, "citation", "citations")) }
                } "\n" }
            } "\n"
            (pager(position, rows.len(), |number| to(asked.order, number)))
        } "\n"
    };
    document("", &numbered(title, position), &asked.filter, &main)
}

fn title(page: &SearchPage<'_>) -> String {
    match &page.subject {
        Subject::Link(facts) => facts.key.clone(),
        Subject::Name(field, name) => {
            let others = conditions_title(&page.asked.filter.with(*field, ""));
            let joint = if others.is_empty() { "" } else { ", " };
            format!("{}: {name}{joint}{others}", field.meaning())
        }
        Subject::Search if page.asked.filter.conditions().next().is_none() => {
            let name = page.database.file_name().unwrap_or_default();
            format!("Links in {}", name.to_string_lossy())
        }
        Subject::Search => conditions_title(&page.asked.filter),
    }
}

/// Returns the conditions of a filter on one line.
fn conditions_title(filter: &Filter) -> String {
    let conditions = filter.conditions().map(|(field, value)| {
        let value = shortened(value, TITLE_CHARS);
        format!("{}: {value}", field.meaning())
    });
    conditions.collect::<Vec<_>>().join(", ")
}

/// Renders a link to the page of a name, keeping the other conditions of the filter.
fn thing(field: FilterField, name: &str, filter: &Filter) -> Markup {
    let query = filter.with(field, name).to_query(1);
    html! { a href={ (field.path()) (query) } { (foreign(name)) } }
}

/// Renders links to the files with all pages of a list.
fn files(name: &str, query: &str) -> Markup {
    html! {
        a href={ (name) ".csv" (query) } { "CSV" } " "
        a href={ (name) ".jsonl" (query) } { "JSON lines" }
    }
}

/// Renders the conditions, each with a link to the same page without it.
fn chips(filter: &Filter, path: &str) -> Markup {
    html! {
        @if filter.conditions().next().is_some() {
            ul.chips aria-label="Conditions" { "\n"
                @for (field, value) in filter.conditions() { li {
                    (field.meaning()) ": " (foreign(value)) " "
                    a href={ (path) (filter.with(field, "").to_query(1)) }
                        aria-label={ "Remove the condition " (field.meaning()) } { "remove" }
                } "\n" }
            } "\n"
        }
    }
}

fn word_notes(page: &SearchPage<'_>) -> Markup {
    html! {
        @if 0 < page.asked.search.words_left_out { p.note role="status" {
            "Only the first " (BROWSE_WORDS) " words and phrases were searched: "
            (counted(page.asked.search.words_left_out as u64, "other was", "others were"))
            " left out. Search for less."
        } "\n" }
        @if let Some(key) = &page.asked.search.query.clean_key { p.note role="status" {
            "The URL was searched without its parameters of visitors and campaigns, as "
            code { (foreign(key)) } ". Links that have such parameters match too."
        } "\n" }
    }
}

fn sample_note(list: &Selection) -> Markup {
    html! {
        @if let Some(examined) = list.sampled { p.note role="status" {
            "More than " (grouped(BROWSE_EXACT_ROWS)) " citations match, so this page is a sample: "
            (counted(examined, "row", "rows")) " from all parts of the database were examined, and "
            (counted(list.ids.len() as u64, "citation", "citations"))
            " of them are listed and counted here. Narrow the search to see all."
        } "\n" }
    }
}

fn timeline(page: &SearchPage<'_>) -> Markup {
    let years = &page.asked.list.years;
    let numbers = years.keys().filter_map(|year| year.parse::<u64>().ok());
    let (Some(first), Some(last)) = (numbers.clone().min(), numbers.max()) else {
        return html! {};
    };
    if first == last {
        return html! {};
    }
    let first = first.max(last.saturating_sub(YEARS - 1));
    let most = years.values().copied().max().unwrap_or(1);
    let count = |year: u64| years.get(&format!("{year:04}")).copied().unwrap_or(0);
    let width = 100.0 / ratio(last - first + 1, 1);
    let is_sparse = last - first < 12;
    html! {
        figure.timeline { "\n"
            figcaption { "Citations by year"
                @if 0 < page.asked.list.undated {
                    @let undated = counted(page.asked.list.undated, "has", "have");
                    span.soft { " (" (undated) " no usable date)" }
                }
            } "\n"
            svg role="group" aria-label="Citations by year" height=(coordinate(TIMELINE + 18.0)) {
                "\n" @for year in first..=last {
                    @let least = if count(year) > 0 { 2.0 } else { 0.0 };
                    @let height = (ratio(count(year), most) * TIMELINE).max(least);
                    @let x = width * ratio(year - first, 1);
                    @let text = year.to_string();
                    @if 0 < count(year) {
                        a href=(year_link(page, &text))
                            aria-label={ (text) ": " (grouped(count(year))) } {
                            title { (text) ": " (grouped(count(year))) }
                            rect.target x={ (coordinate(x)) "%" } y="0"
                                width={ (coordinate(width)) "%" } height=(coordinate(TIMELINE)) {}
                            rect.urls x={ (coordinate(x + width * 0.08)) "%" }
                                y=(coordinate(TIMELINE - height))
                                width={ (coordinate(width * 0.84)) "%" }
                                height=(coordinate(height)) {}
                        }
                    }
                    @if is_sparse || year % 5 == 0 {
                        text.tick text-anchor="middle" x={ (coordinate(x + width / 2.0)) "%" }
                            y=(coordinate(TIMELINE + 14.0)) { (text) }
                    }
                    "\n"
                }
            } "\n"
        } "\n"
    }
}

fn year_link(page: &SearchPage<'_>, year: &str) -> String {
    let filter = page.asked.filter.with(FilterField::Since, year);
    format!("./{}", filter.with(FilterField::Until, year).to_query(1))
}

fn tops(page: &SearchPage<'_>) -> Markup {
    html! {
        aside #tops.tops aria-label="The most frequent names, to filter by" { "\n"
            @for (field, title) in TOPS {
                @let names = &page.asked.list.tops[field as usize];
                @if !names.is_empty() { section { "\n"
                    h2 { (title) } "\n"
                    ol { "\n" @for (name, count) in names { li {
                        @let query = page.asked.filter.with(field, name).to_query(1);
                        a href={ "./" (query) } { (shown(field, name)) } " "
                        span.n { (grouped(*count)) }
                    } "\n" } } "\n"
                } "\n" }
            }
            @if !page.asked.list.links.is_empty() { p {
                @let query = page.asked.filter.to_query(1);
                a href={ "links" (query) } { "List of links, by citations or by address" }
            } "\n" }
        } "\n"
    }
}

fn link_facts(facts: &LinkFacts) -> Markup {
    let everywhere = Filter::default();
    html! {
        dl.cards { "\n"
            (card("Citations", &html! { (grouped(facts.citations)) }, &html! {}))
            (card("Messages", &html! { (grouped(facts.messages)) }, &html! {}))
            (card("First cited", &date(facts.first.as_deref()), &html! {}))
            (card("Last cited", &date(facts.last.as_deref()), &html! {}))
        } "\n"
        dl.facts { "\n"
            // Not shortened, so that it can be copied.
            dt { "URL" } dd { code.url { bdi { (Text(&facts.key)) } } } "\n"
            @if let Some(domain) = &facts.domain {
                dt { "Domain" } dd { (thing(FilterField::Domain, domain, &everywhere)) } "\n"
            }
            @if let Some(host) = &facts.host {
                dt { "Host" } dd { (thing(FilterField::Host, host, &everywhere)) } "\n"
            }
            @for (other, count) in &facts.others {
                @let link = thing(FilterField::Key, other, &everywhere);
                dt { "Also shared as" } dd { (link) " " span.soft { (grouped(*count)) } } "\n"
            }
            @if let Some(check) = &facts.check { dt { "State" } dd { (check) } "\n" }
            @if let Some(snapshot) = &facts.snapshot { dt { "Snapshot" } dd { (snapshot) } "\n" }
        } "\n"
    }
}

/// Renders the result of a check. The columns of `row` are its state, time, HTTP status, error and
/// final URL.
pub(super) fn check(row: &Row<'_>) -> rusqlite::Result<Markup> {
    let (state, checked_at): (String, String) = (row.get(0)?, row.get(1)?);
    let (status, error): (Option<i64>, Option<String>) = (row.get(2)?, row.get(3)?);
    let final_url: Option<String> = row.get(4)?;
    Ok(html! {
        (Text(&state)) ", checked " (day(&checked_at))
        @if let Some(status) = status { ", HTTP " (status) }
        @if let Some(error) = error { ", " (foreign(&error)) }
        @if let Some(url) = final_url { ", led to " code.url { (foreign(&url)) } }
    })
}

/// Renders the result of an archive lookup. The columns of `row` are the server, the time and HTTP
/// status of the capture, the outcome, and the URL of the capture.
pub(super) fn snapshot(row: &Row<'_>) -> rusqlite::Result<Markup> {
    let (server, outcome): (String, String) = (row.get(0)?, row.get(3)?);
    let (timestamp, status): (Option<String>, Option<i64>) = (row.get(1)?, row.get(2)?);
    let original: Option<String> = row.get(4)?;
    Ok(html! {
        (Text(&outcome))
        @if let Some(time) = timestamp { ", capture " (Text(&time)) }
        @if let Some(status) = status { ", HTTP " (status) }
        @if let Some(url) = original { " of " code.url { (foreign(&url)) } }
        ", asked at " (foreign(&server))
    })
}

/// Renders the day of a date, or a note that it is missing.
fn date(date: Option<&str>) -> Markup {
    match date {
        Some(date) => day(date),
        None => html! { span.none { "no usable date" } },
    }
}

fn name_facts(page: &SearchPage<'_>) -> Markup {
    let list = &page.asked.list;
    let years = (list.years.keys().next(), list.years.keys().next_back());
    html! {
        dl.cards { "\n"
            (card("Citations", &html! { (about(list)) (grouped(list.total)) }, &html! {}))
            @if let (Some(first), Some(last)) = years {
                (card("Years", &html! { (Text(first)) " \u{2013} " (Text(last)) }, &html! {}))
            }
        } "\n"
    }
}

/// Returns the word that precedes an estimate.
fn about(list: &Selection) -> &'static str {
    match list.sampled {
        Some(_) if list.total != list.ids.len() as u64 => "about ",
        _ => "",
    }
}

/// Renders the number of hidden citations, with a link to the page that shows all.
fn hidden_note(list: &Selection, all: &str) -> Markup {
    html! { @if 0 < list.hidden { p.note role="status" {
    (about(list)) (counted(list.hidden, "citation is", "citations are"))
    " hidden, because the link occurs only in header fields of mailing lists (List-*, "
    "Archived-At). " a href=(all) { "Show all" } "." } "\n" } }
}

fn results(page: &SearchPage<'_>) -> Markup {
    let list = &page.asked.list;
    let query = page.asked.filter.to_query(1);
    html! {
        section #results aria-label="Citations" tabindex="-1" { "\n"
            h2 { (about(list)) (counted(list.total, "citation", "citations")) } "\n"
            @let all = page.asked.filter.with_list_fields().to_query(1);
            (hidden_note(list, &format!("{}{all}", page.subject_path())))
            @if page.rows.is_empty() { p {
                "Nothing matches. All conditions must hold, and a word is found as a whole, or by "
                "its first letters with a star: " code { "goph*" } ". The database has no "
                "messages without links, and only the words around links, if they were scanned."
                @if page.asked.filter.value(FilterField::Words).contains("://") {
                    " The part after the " code { "?" } " of a URL may belong to one visitor: "
                    "leave it out."
                }
                @if !page.asked.filter.value(FilterField::Domain).is_empty() {
                    " A domain is the name that was registered, such as cern.ch; write the name of "
                    "one machine in it, such as info.cern.ch, into " em { "Host" } "."
                }
                @if !page.asked.filter.value(FilterField::List).is_empty() {
                    " A list is found by its complete name, as in the citations."
                }
            } } @else {
                p.exports {
                    @if let Some(examined) = list.sampled {
                        "All pages of this sample, from " (counted(examined, "row", "rows")) ": "
                    } @else { "As shown, all pages: " }
                    (files("citations", &query))
                    @if !list.links.is_empty() {
                        " \u{b7} " a href={ "links" (query) } { "List of links" } }
                    " " a.narrow href="#tops" { "Narrow by a name" } } "\n"
                ol.cited start=(page.position.rows().start + 1) { "\n"
                    @for row in &page.rows { (result(row, &page.asked.filter)) }
                } "\n"
                (pager(&page.position, page.rows.len(), |number| {
                    format!("{}{}", page.subject_path(), page.asked.filter.to_query(number))
                }))
            }
        } "\n"
    }
}

/// Renders a citation. Each name in it links to the filter with one more condition.
fn result(row: &Citation, filter: &Filter) -> Markup {
    let found = &row.found;
    let (url, message) = (found.whole_url(), &found.message);
    html! {
        li { "\n"
            p.url { code { (foreign(&url)) } } "\n"
            p.mail {
                (date(found.author.date.as_deref().or(found.message.date.as_deref())))
                @if let Some(from) = &found.author.from { " " (sender(from, filter)) }
                @if let Some(text) = &found.author.subject { " " q.subject { (foreign(text)) } }
                @if found.author.is_claimed() { " (by header lines in the text)" }
            } "\n"
            @if let Some(text) = &found.anchor { p.passage { "Link text: " (foreign(text)) } "\n" }
            @if let Some(context) = &found.context { p.passage { (passage(context, &url)) } "\n" }
            p.soft {
                @for list in row.lists() {
                    (thing(FilterField::List, &list, filter)) " \u{b7} " }
                @if let Some(domain) = &row.domain {
                    (thing(FilterField::Domain, domain, filter)) " \u{b7} " }
                @if let Some(key) = &row.key {
                    a href={ "link" (Filter::default().with(FilterField::Key, key).to_query(1)) } {
                        (counted(row.citations, "citation", "citations")) " of this link"
                    }
                }
                @if let Some(thread) = &row.thread {
                    " \u{b7} " a href=(thread_link(thread)) { "its thread" }
                }
                @if 0 < row.quote_depth {
                    @let depth = row.quote_depth.cast_unsigned();
                    " \u{b7} quoted " (counted(depth, "level", "levels")) " deep"
                }
                @if row.is_truncated { " \u{b7} cut short" }
                @for name in &row.found.hazards {
                    @let query = filter.with(FilterField::Hazard, name).to_query(1);
                    " \u{b7} " a.warning href={ "./" (query) } { (hazard(name)) }
                }
            } "\n"
            details {
                summary { "Location" }
                p { a href={ "bytes?row=" (row.row) } {
                    "The text around it, as it is in the file" } } "\n"
                p { "In a terminal: " code { (foreign(&show_command(row))) } } "\n"
                @if let Some(thread) = &row.thread { p {
                    "Thread: " a href=(thread_link(thread)) { (foreign(thread)) }
                } }
                @if let Some(id) = &message.id { p { "Message-ID: " (foreign(id)) } }
            } "\n"
        } "\n"
    }
}

/// Returns the URL of all citations in a thread, in the order of the conversation.
fn thread_link(thread: &str) -> String {
    let mut filter = Filter::default().with(FilterField::Thread, thread);
    filter.is_oldest_first = true;
    format!("./{}", filter.to_query(1))
}

/// Renders the page with the raw bytes of a citation, marked, and the text around them.
pub(super) fn bytes_page(row: &Citation, passage: &Result<RawPassage, NoPassage>) -> String {
    let source = &row.found.source;
    let main = html! {
        h1 { "As it is in the file" } "\n"
        section #results tabindex="-1" { "\n"
            p.soft { (foreign(&place(row))) } "\n"
            @match passage {
                Ok(RawPassage { before, bytes, after, left_before, left_out, left_after }) => {
                    @if 0 < *left_before { p.soft {
                        "\u{2026} " (counted(*left_before, "byte", "bytes"))
                        " of the file before this text" } "\n" }
                    pre.raw { (raw_text(before)) mark { (raw_text(bytes)) } (raw_text(after)) } "\n"
                    @if 0 < *left_after { p.soft {
                        "\u{2026} " (counted(*left_after, "byte", "bytes"))
                        " of the file after this text" } "\n" }
                    @if 0 < *left_out { p.note role="status" { "The link is cut: its last "
                        (counted(*left_out, "byte", "bytes"))
                        " are not shown. The command below prints all." } "\n" }
                    p.soft { "Bytes " (grouped(source.start.cast_unsigned())) " to "
                        (grouped(source.end.cast_unsigned()))
                        ". Bytes that are not UTF-8 are shown as \u{fffd}." } "\n"
                }
                Err(NoPassage::Packed) => p.note {
                    "The file is compressed, an archive or a repository, so that the text is not "
                    "shown here. The command below prints it."
                }
                Err(NoPassage::Outside) => p.note {
                    "The file is not in the folder of which these pages show files. Who starts "
                    "urlspool browse with --files FOLDER."
                }
                Err(NoPassage::Different) => p.note {
                    "The bytes of the file there are not shown, because they do not decode to this "
                    "link: it is not the file that was scanned, it was scanned with other options, "
                    "or the link is too far from its start."
                }
                Err(NoPassage::Failed(error)) => p.note {
                    "The file cannot be read: " (Text(&error.to_string())) ". It is looked for at "
                    "the place where it was scanned, from the folder in which this program was "
                    "started."
                }
            }
            p { "In a terminal: " code { (foreign(&show_command(row))) } } "\n"
            ol.cited { "\n" (result(row, &Filter::default())) } "\n"
        } "\n"
    };
    let url = shortened(&row.found.url, TITLE_CHARS);
    let title = format!("As it is in the file: {url}");
    document("", &title, &Filter::default(), &main)
}

/// Renders bytes as text, line by line.
fn raw_text(bytes: &[u8]) -> Markup {
    let text = String::from_utf8_lossy(bytes);
    html! {
        @for (number, line) in text.split('\n').enumerate() {
            @if 0 < number { "\n" }
            (Text(line.strip_suffix('\r').unwrap_or(line)))
        }
    }
}

/// Renders the text around a link with the words of the search marked.
fn passage(context: &FoundContext, url: &str) -> Markup {
    html! {
        bdi {
            @for piece in context.passage(url) {
                @if piece.is_marked { mark { (Text(&piece.text)) } } @else { (Text(&piece.text)) }
            }
        }
    }
}

/// Renders a link to the page of a sender's address. Shows the text of the field and keeps the
/// other conditions of the filter.
fn sender(from: &str, filter: &Filter) -> Markup {
    let filter = filter.with(FilterField::Sender, &sender_address(from));
    html! { a href={ "sender" (filter.to_query(1)) } { (foreign(from)) } }
}

/// Returns the command that prints the raw bytes of a citation.
fn show_command(citation: &Citation) -> String {
    format!("urlspool show '{}'", place(citation).replace('\'', "'\\''"))
}

/// Returns the file, the members and the byte range of a citation.
fn place(citation: &Citation) -> String {
    let source = &citation.found.source;
    let mut place = source.path.clone();
    let members = source.member.as_deref().unwrap_or_default();
    for member in urlspool_record::record::list_texts(members) {
        place.push('!');
        place.push_str(&member);
    }
    format!("{place}:{}-{}", source.start, source.end)
}

/// Renders links to the other pages of a list. `shown` is the number of rows on this page, which is
/// smaller if a load has removed some.
fn pager(at: &Position, shown: usize, link: impl Fn(usize) -> String) -> Markup {
    let before = at.rows().start;
    html! {
        nav.pager aria-label="Pages" { "\n"
            @if 1 < at.page {
                a href=(link(1)) { "First" } " "
                a rel="prev" accesskey="p" href=(link(at.page - 1)) { "Previous" } " "
            }
            span { (grouped(before as u64 + 1)) " \u{2013} "
                (grouped((before + shown) as u64)) " of " (grouped(at.total as u64)) }
            @if at.page < at.pages {
                " " a rel="next" accesskey="n" href=(link(at.page + 1)) { "Next" }
                " " a href=(link(at.pages)) { "Last" }
            }
        } "\n"
    }
}

impl SearchPage<'_> {
    /// Returns the path of the page.
    fn subject_path(&self) -> &'static str {
        match &self.subject {
            Subject::Search => "./",
            Subject::Name(field, _) => field.path(),
            Subject::Link(_) => "link",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hazard_has_a_meaning() {
        for name in hazard_names() {
            assert_ne!(hazard(name).0, foreign(name).0, "{name}");
        }
    }
}
