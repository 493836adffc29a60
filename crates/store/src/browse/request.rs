//! The head of a request, and the filter in its query.

use std::num::NonZero;

use hyper::header::HOST;
use hyper::{Method, StatusCode};
use url::form_urlencoded;

use crate::load::{SearchOrder, SearchQuery, clean_key, key_of, split_words};
use urlspool_files::config::{hazard_name, named_values, region_name};
use urlspool_files::options::{DatePeriod, date_period};
use urlspool_text::limits::{BROWSE_FILTER_BYTES, BROWSE_WORDS};

/// A request for a page.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    /// Path after the first slash.
    pub(super) path: String,
    /// Query after the question mark; empty if there is none.
    pub(super) query: String,
    /// Value of `Host`.
    pub(super) host: String,
}

impl Request {
    /// Parses a request. Ignores its body.
    pub(super) fn read<B>(request: &hyper::Request<B>) -> Result<Request, StatusCode> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        let mut hosts = request.headers().get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(StatusCode::BAD_REQUEST);
        };
        let uri = request.uri();
        let path = uri.path().strip_prefix('/');
        let path = path.filter(|_| uri.authority().is_none());
        Ok(Request {
            path: path.ok_or(StatusCode::BAD_REQUEST)?.to_owned(),
            query: uri.query().unwrap_or_default().to_owned(),
            host: String::from_utf8_lossy(host.as_bytes()).into_owned(),
        })
    }
}

/// Returns `true` if a text contains a letter or a digit. Other characters cannot be searched for.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Conditions of a page, as set by its form and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// Values of [`FilterField::ALL`]; an empty value is no condition.
    values: [String; FilterField::ALL.len()],
    /// Sorts the earliest citations first.
    pub(super) is_oldest_first: bool,
    /// Shows links that occur only in header fields of mailing lists.
    pub(super) shows_list_fields: bool,
    /// `true` if the database has an audit. Not part of a query.
    pub(super) has_audit: bool,
}

/// Parameter that shows links which occur only in header fields of mailing lists.
pub(super) const LIST_FIELDS: &str = "list-fields";

named_values! {
    /// A condition of a page, with its name in queries and the label of its input field. An option
    /// of `urlspool search` with the same name means the same.
    pub(super) enum FilterField {
        Words = "q": "Words",
        Domain = "domain": "Domain",
        Host = "host": "Host",
        Scheme = "scheme": "Scheme",
        Sender = "sender": "Sender",
        List = "list": "List or newsgroup",
        /// A thread, by its name ([`Citation::thread`](crate::load::Citation)).
        Thread = "thread": "Thread",
        Region = "region": "Region",
        Hazard = "hazard": "Hazard",
        /// The state of the link in an audit, in words.
        State = "state": "State in the audit",
        Since = "since": "From",
        Until = "until": "To",
        Key = "key": "Link",
    }
}

/// Reason why no search is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoSearch {
    /// The value of a condition is invalid.
    Field(FilterField),
    /// The start date is after the end date.
    ReversedDates,
}

/// Order of a list of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LinkOrder {
    /// Most citations first.
    #[default]
    Citations,
    /// By key.
    Address,
}

impl LinkOrder {
    /// Parses the order from the query parameter `by`.
    pub(super) fn of_query(query: &str) -> LinkOrder {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        if pairs.any(|(name, value)| name == "by" && value == "address") {
            LinkOrder::Address
        } else {
            LinkOrder::Citations
        }
    }
}

impl Filter {
    /// Parses the filter and the page number (starting at 1) from a query. Ignores other
    /// parameters.
    pub(super) fn of_query(query: &str) -> Result<(Filter, usize), StatusCode> {
        let mut filter = Filter::default();
        let mut page = 1;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if BROWSE_FILTER_BYTES < value.len() {
                return Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
            }
            if let Some(field) = FilterField::ALL.into_iter().find(|f| f.name() == name) {
                filter.set(field, value.trim());
            } else if name == "sort" {
                filter.is_oldest_first = value == "oldest";
            } else if name == LIST_FIELDS {
                filter.shows_list_fields = value == "1";
            } else if name == "page" {
                let number: Result<NonZero<usize>, _> = value.parse();
                page = number.map_err(|_| StatusCode::BAD_REQUEST)?.get();
            }
        }
        Ok((filter, page))
    }

    pub(super) fn value(&self, field: FilterField) -> &str {
        &self.values[field as usize]
    }

    pub(super) fn set(&mut self, field: FilterField, value: &str) {
        value.clone_into(&mut self.values[field as usize]);
    }

    /// Returns the filter with one value replaced. A sender is a whole address.
    pub(super) fn with(&self, field: FilterField, value: &str) -> Filter {
        let mut filter = self.clone();
        let address = format!("<{value}>");
        let is_address = field == FilterField::Sender && !value.is_empty();
        filter.set(field, if is_address { &address } else { value });
        filter
    }

    /// Returns the conditions that are set.
    pub(super) fn conditions(&self) -> impl Iterator<Item = (FilterField, &str)> {
        let all = FilterField::ALL.into_iter();
        all.map(|field| (field, self.value(field)))
            .filter(|(_, value)| !value.is_empty())
    }

    /// Returns the query that parses to this filter, after `?`, for an attribute.
    pub(super) fn to_query(&self, page: usize) -> String {
        let mut query = form_urlencoded::Serializer::for_suffix(String::from("?"), 1);
        for (field, value) in self.conditions() {
            query.append_pair(field.name(), value);
        }
        if self.is_oldest_first {
            query.append_pair("sort", "oldest");
        }
        if self.shows_list_fields {
            query.append_pair(LIST_FIELDS, "1");
        }
        if 1 < page {
            query.append_pair("page", &page.to_string());
        }
        query.finish()
    }

    /// Returns the filter without hidden links.
    pub(super) fn with_list_fields(&self) -> Filter {
        Filter {
            shows_list_fields: true,
            ..self.clone()
        }
    }

    /// Returns the query of a list of links, like [`Filter::to_query`].
    pub(super) fn to_links_query(&self, order: LinkOrder, page: usize) -> String {
        let query = self.to_query(page);
        match order {
            LinkOrder::Citations => query,
            LinkOrder::Address if query == "?" => query + "by=address",
            LinkOrder::Address => query + "&by=address",
        }
    }

    /// Returns the search for the conditions, or the reason why no search is made.
    pub(super) fn search(&self) -> Result<PageSearch, NoSearch> {
        let PageSearch {
            query,
            words_left_out,
        } = words(self.value(FilterField::Words));
        let host = |field| self.text(field).map(|text| host_in(&text).to_owned());
        let schemes = self.text(FilterField::Scheme).into_iter();
        let schemes = schemes.map(|text| text.trim_end_matches([':', '/']).to_owned());
        let mut search = SearchQuery {
            domain: host(FilterField::Domain),
            host: host(FilterField::Host),
            schemes: schemes.collect(),
            sender: self.text(FilterField::Sender),
            list: self.text(FilterField::List),
            hazard: self.text(FilterField::Hazard),
            region: self.text(FilterField::Region),
            shows_list_fields: self.shows_list_fields,
            url: self.text(FilterField::Key),
            thread: self.text(FilterField::Thread),
            state: self.text(FilterField::State),
            ..query
        };
        let typed = self.value(FilterField::Words);
        if !search.is_searchable() || !typed.is_empty() && !has_words(typed) {
            return Err(NoSearch::Field(FilterField::Words));
        }
        let (region, hazard) = (search.region.as_deref(), search.hazard.as_deref());
        if region.is_some_and(|name| region_name(name).is_err()) {
            return Err(NoSearch::Field(FilterField::Region));
        }
        if hazard.is_some_and(|name| hazard_name(name).is_err()) {
            return Err(NoSearch::Field(FilterField::Hazard));
        }
        search.since = self.period(FilterField::Since)?.map(|period| period.start);
        search.until = self.period(FilterField::Until)?.map(|period| period.end);
        if let (Some(since), Some(until)) = (search.since, search.until)
            && until <= since
        {
            return Err(NoSearch::ReversedDates);
        }
        if self.is_oldest_first {
            search.order = SearchOrder::Oldest;
        }
        Ok(PageSearch {
            query: search,
            words_left_out,
        })
    }

    /// Returns the value of a condition if it is set.
    fn text(&self, field: FilterField) -> Option<String> {
        Some(self.value(field).to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the period of a date if it is set.
    fn period(&self, field: FilterField) -> Result<Option<DatePeriod>, NoSearch> {
        let period = self.text(field).map(|text| date_period(&text));
        period.transpose().map_err(|_| NoSearch::Field(field))
    }
}

/// The search for a page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PageSearch {
    pub(super) query: SearchQuery,
    /// Number of words and phrases that were dropped after the first [`BROWSE_WORDS`].
    pub(super) words_left_out: usize,
}

impl PageSearch {
    /// Returns the registrable domain if it is the only condition.
    pub(super) fn domain_alone(&self) -> Option<String> {
        let alone = SearchQuery {
            domain: self.query.domain.clone(),
            order: self.query.order,
            shows_list_fields: self.query.shows_list_fields,
            ..SearchQuery::default()
        };
        let domain = self.query.domain.as_ref()?;
        (self.query == alone).then(|| domain.to_ascii_lowercase())
    }
}

/// Extracts the host if a URL was pasted instead of a host.
fn host_in(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.split(['/', ':', '?', '#']).next().unwrap_or_default()
}

/// Returns the search for words and quoted phrases. Typographic quotation marks and dashes count as
/// the ASCII characters. A URL with tracking parameters is returned as a clean key.
fn words(text: &str) -> PageSearch {
    let text = text.replace(['\u{201c}', '\u{201d}', '\u{201e}'], "\"");
    let text = text.replace(['\u{2010}', '\u{2013}', '\u{2212}'], "-");
    let all = split_words(&text);
    let mut search = PageSearch {
        words_left_out: all.len().saturating_sub(BROWSE_WORDS),
        ..PageSearch::default()
    };
    for word in all.into_iter().take(BROWSE_WORDS) {
        match clean_key_of_pasted(word).filter(|_| search.query.clean_key.is_none()) {
            Some(key) => search.query.clean_key = Some(key),
            None => search.query.words.push(word.to_owned()),
        }
    }
    search
}

/// Returns the clean key of a URL that has tracking parameters.
fn clean_key_of_pasted(word: &str) -> Option<String> {
    let url = word.trim_matches(['<', '>']);
    if !url.contains("://") {
        return None;
    }
    let key = key_of(url);
    let clean = clean_key(&key);
    (clean != key).then(|| clean.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_text::limits::SEARCH_PHRASE_WORDS;

    #[test]
    fn a_request_has_one_host_and_a_path() {
        let read = |method: &str, target: &str, hosts: &[&str]| {
            let mut request = hyper::Request::builder().method(method).uri(target);
            for host in hosts {
                request = request.header("host", *host);
            }
            Request::read(&request.body(()).unwrap())
        };
        let request = read("GET", "/link?key=a%26b", &["localhost:8080"]).unwrap();
        assert_eq!((&*request.path, &*request.query), ("link", "key=a%26b"));
        for (method, target, hosts, refusal) in [
            ("POST", "/", &["a"][..], StatusCode::METHOD_NOT_ALLOWED),
            ("GET", "/", &[], StatusCode::BAD_REQUEST),
            ("GET", "/", &["a", "b"], StatusCode::BAD_REQUEST),
            ("GET", "http://a/", &["a"], StatusCode::BAD_REQUEST),
            ("GET", "*", &["a"], StatusCode::BAD_REQUEST),
        ] {
            assert_eq!(
                read(method, target, hosts),
                Err(refusal),
                "{method} {target}"
            );
        }
    }

    #[test]
    fn a_filter_round_trips_through_its_query() {
        let query = "?q=a+%22b+c%22&domain=m.example&since=1996-02&sort=oldest&page=3";
        let (filter, page) = Filter::of_query(&query[1..]).unwrap();
        assert_eq!(filter.to_query(page), query);
        let search = filter.search().unwrap().query;
        assert_eq!(search.words, ["a", "\"b c\""]);
        assert_eq!(search.since, Some(823_132_800));
        assert_eq!(Filter::of_query("page=0"), Err(StatusCode::BAD_REQUEST));
        let long = format!("q=\"{}", "a+".repeat(SEARCH_PHRASE_WORDS + 1));
        let (long, _) = Filter::of_query(&long).unwrap();
        assert_eq!(long.search(), Err(NoSearch::Field(FilterField::Words)));
        for date in ["1996-13", "96", "7/1996", "July+1996"] {
            let (wrong, _) = Filter::of_query(&format!("until={date}")).unwrap();
            let expected = NoSearch::Field(FilterField::Until);
            assert_eq!(wrong.search().unwrap_err(), expected, "{date}");
        }
    }

    #[test]
    fn the_start_date_is_not_after_the_end_date() {
        for (since, until, is_reversed) in [
            ("1997", "1996", true),
            ("1996-07-02", "1996-07-01", true),
            ("1996-07", "1996", false),
            ("1996-07-01", "1996-07-01", false),
        ] {
            let filter = Filter::default().with(FilterField::Since, since);
            let search = filter.with(FilterField::Until, until).search();
            assert_eq!(
                search == Err(NoSearch::ReversedDates),
                is_reversed,
                "{since}"
            );
        }
    }

    #[test]
    fn a_list_of_links_has_an_order() {
        let filter = Filter::default().with(FilterField::Domain, "m.example");
        for (filter, query) in [
            (filter, "?domain=m.example&page=2&by=address"),
            (Filter::default(), "?page=2&by=address"),
        ] {
            assert_eq!(filter.to_links_query(LinkOrder::Address, 2), query);
            assert_eq!(LinkOrder::of_query(&query[1..]), LinkOrder::Address);
            assert_eq!(Filter::of_query(&query[1..]), Ok((filter, 2)));
        }
        let by = Filter::default().to_links_query(LinkOrder::Address, 1);
        assert_eq!(by, "?by=address");
        assert_eq!(LinkOrder::of_query("domain=by"), LinkOrder::Citations);
    }

    #[test]
    fn typographic_quotes_and_dashes_are_understood() {
        let query = "q=%E2%80%9Cb+c%E2%80%9D+%E2%80%93d";
        let search = Filter::of_query(query).unwrap().0.search().unwrap().query;
        assert_eq!(search.words, ["\"b c\"", "-d"]);
    }

    #[test]
    fn pasted_urls_and_ports_are_reduced_to_the_part_a_field_needs() {
        let query = "domain=http://m.example/&host=www.m.example:80&scheme=ftp://";
        let search = Filter::of_query(query).unwrap().0.search().unwrap().query;
        assert_eq!(search.domain.as_deref(), Some("m.example"));
        assert_eq!(search.host.as_deref(), Some("www.m.example"));
        assert_eq!(search.schemes, ["ftp"]);
    }
    #[test]
    fn a_pasted_url_is_searched_without_parameters_of_campaigns() {
        let search = |words: &str| {
            let mut filter = Filter::default();
            filter.set(FilterField::Words, words);
            filter.search().unwrap()
        };
        let pasted = search("lamp <HTTP://M.example:80/x?utm_source=a&id=1#top>");
        assert_eq!(
            pasted.query.clean_key.as_deref(),
            Some("http://m.example/x?id=1")
        );
        assert_eq!(pasted.query.words, ["lamp"]);
        for words in ["http://m.example/x?id=1", "x?utm_source=a"] {
            let other = search(words);
            assert_eq!(
                (other.query.clean_key, other.query.words),
                (None, vec![words.to_owned()])
            );
        }
    }

    #[test]
    fn words_above_the_limit_are_counted() {
        let mut filter = Filter::default();
        for (count, left_out) in [(BROWSE_WORDS, 0), (BROWSE_WORDS + 3, 3)] {
            filter.set(FilterField::Words, &"a ".repeat(count));
            let search = filter.search().unwrap();
            assert_eq!(
                (search.query.words.len(), search.words_left_out),
                (BROWSE_WORDS, left_out)
            );
        }
    }

    #[test]
    fn a_domain_is_the_only_condition_if_no_other_is_set() {
        let alone = |query: &str| {
            let (filter, _) = Filter::of_query(query).unwrap();
            filter.search().unwrap().domain_alone()
        };
        let domain = Some("m.example".to_owned());
        assert_eq!(alone("domain=M.example&sort=oldest&page=2"), domain);
        let url = "q=http://m.example/?utm_source=x";
        for other in ["q=lamp", "thread=%3C1%3E", "since=1996", url, "key=http:x"] {
            assert_eq!(alone(&format!("domain=m.example&{other}")), None, "{other}");
        }
        assert_eq!(alone("host=m.example"), None);
    }

    #[test]
    fn hazards_have_the_names_used_in_records() {
        let mut filter = Filter::default();
        filter.set(FilterField::Hazard, "mismatch");
        assert_eq!(
            filter.search().unwrap().query.hazard.as_deref(),
            Some("mismatch")
        );
        filter.set(FilterField::Hazard, "odd\",\"x");
        assert_eq!(filter.search(), Err(NoSearch::Field(FilterField::Hazard)));
    }
}
