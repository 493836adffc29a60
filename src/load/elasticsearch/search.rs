//! A search in an index. Pages of matches follow each other by the values of the last match.

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{HttpClient, HttpRequest};
use super::index_words::{WORDS, indexed_beginning, indexed_word};
use super::no_words;
use crate::limits::{SEARCH_FETCHED_ROWS, SEARCH_INDEXED_WORD_BYTES};
use crate::load::LoadError;
use crate::load::phrases::{Marker, Phrase, Phrases};
use crate::load::search::{
    Condition, FacetRow, Match, MatchUse, SearchOrder, SearchQuery, context, mark,
};
use crate::load::words::Words;
use crate::record::{FoundMessage, FoundRow, FoundSource};

/// Searches an index, and gives each match to `found` until that returns `false`.
pub(super) fn each_match<E: From<LoadError>>(
    client: &HttpClient<'_>,
    index: &str,
    query: &SearchQuery,
    matches: MatchUse,
    mut found: impl FnMut(&Match) -> Result<bool, E>,
) -> Result<(), E> {
    let phrases = query.phrases().map_err(no_words)?;
    phrases.check()?;
    let mut recheck = Recheck::new(&phrases)?;
    let mut body = request(query, &phrases);
    let mut marker = Marker::new(phrases.wanted).map_err(no_words)?;
    let path = format!("/{index}/_search?allow_partial_search_results=false");
    let mut left = match matches {
        MatchUse::Print => query.limit.unwrap_or(u64::MAX),
        MatchUse::Count => u64::MAX,
    };
    while 0 < left {
        let reply = client.send(&HttpRequest::post(path.clone(), &body))?;
        let page: SearchReply = reply.succeeded()?.json()?;
        let Some(last) = page.hits.hits.last() else {
            break;
        };
        body["search_after"] = last.sort.clone();
        for hit in page.hits.hits {
            let mut matched = hit.source.into_match();
            if !recheck.holds(&matched.row)? {
                continue;
            }
            mark(&mut matched.row, &mut marker).map_err(no_words)?;
            if left == 0 || !found(&matched)? {
                return Ok(());
            }
            left -= 1;
        }
    }
    Ok(())
}

/// The members of documents that are read.
const MEMBERS: [&str; 11] = [
    "id",
    "url",
    "fragment",
    "confidence",
    "region",
    "anchor",
    "source",
    "message",
    "context",
    "scheme",
    "host",
];

/// Returns the body of a request for the first page.
fn request(query: &SearchQuery, phrases: &Phrases) -> Value {
    let wanted = phrases.wanted.iter().map(phrase_query);
    let conditions = query.conditions().into_iter().map(condition_query);
    let filter: Vec<Value> = wanted.chain(conditions).collect();
    // The others are left out here: what cannot be asked for exactly would leave out too much.
    let exact = phrases.excluded.iter().filter(|phrase| is_exact(phrase));
    let excluded: Vec<Value> = exact.map(phrase_query).collect();
    let order = match query.order {
        SearchOrder::Newest => "desc",
        SearchOrder::Oldest => "asc",
    };
    let mut members: Vec<_> = MEMBERS.to_vec();
    members.push("domain");
    json!({
        "size": SEARCH_FETCHED_ROWS,
        "track_total_hits": false,
        "_source": members,
        "query": {"bool": {"filter": filter, "must_not": excluded}},
        "sort": [
            {"cited": {"order": order, "missing": "_last", "unmapped_type": "keyword"}},
            {"source.path": {"order": "asc", "missing": "_last"}},
            {"sort_key": {"order": "asc", "missing": "_last", "unmapped_type": "keyword"}},
        ],
    })
}

/// Returns `true` if [`phrase_query`] finds the phrase alone. No query of a server finds the
/// beginnings of words after other words, however many words begin so.
fn is_exact(phrase: &Phrase) -> bool {
    let is_short = |word: &String| word.len() <= SEARCH_INDEXED_WORD_BYTES;
    !phrase.is_beginning || phrase.words.len() == 1 && phrase.words.iter().all(is_short)
}

/// Returns a query that finds a phrase, and more if it is not exact.
fn phrase_query(phrase: &Phrase) -> Value {
    let words: Vec<_> = phrase.words.iter().map(|word| indexed_word(word)).collect();
    if !phrase.is_beginning {
        return match &*words {
            [word] => json!({"term": {WORDS: {"value": word}}}),
            words => json!({"match_phrase": {WORDS: {"query": words.join(" ")}}}),
        };
    }
    let (Some(last), Some((_, before))) = (phrase.words.last(), words.split_last()) else {
        return json!({"match_all": {}});
    };
    let mut all: Vec<_> = before
        .iter()
        .map(|word| json!({"term": {WORDS: {"value": word}}}))
        .collect();
    all.push(json!({"prefix": {WORDS: {"value": indexed_beginning(last)}}}));
    json!({"bool": {"filter": all}})
}

fn condition_query(condition: Condition) -> Value {
    // A link has no URL that is truncated.
    let of_link = |names: Value| json!({"bool": {"filter": [{"term": {"truncated": false}}], "should": names, "minimum_should_match": 1}});
    match condition {
        Condition::Host(host) => {
            of_link(json!([{"term": {"host": host}}, {"term": {"domain": host}}]))
        }
        Condition::Domain(domain) => of_link(json!([{"term": {"domain": domain}}])),
        Condition::Scheme(scheme) => json!({"term": {"scheme": scheme}}),
        Condition::Key(key) => json!({"term": {"key": key}}),
        Condition::Sender(sender) => contains("message.from.keyword", &sender),
        Condition::List(list) => json!({"bool": {"should": [
            {"term": {"message.list_id": {"value": list, "case_insensitive": true}}},
            contains("message.list_id", &format!("<{list}>")),
            {"term": {"message.newsgroups": {"value": list, "case_insensitive": true}}},
        ], "minimum_should_match": 1}}),
        Condition::Hazard(name) => json!({"term": {"hazards": name}}),
        Condition::Since(time) => json!({"range": {"cited": {"gte": time}}}),
        Condition::Until(time) => json!({"range": {"cited": {"lt": time}}}),
    }
}

/// Returns a query for values that hold a text; ASCII letters match in both cases.
fn contains(member: &str, text: &str) -> Value {
    let mut pattern = "*".to_owned();
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('*');
    json!({"wildcard": {member: {"value": pattern, "case_insensitive": true}}})
}

/// The phrases that a server cannot find exactly, to be found in the texts of matches.
struct Recheck {
    wanted: Vec<Phrase>,
    excluded: Vec<Phrase>,
    words: Words,
}

impl Recheck {
    fn new(phrases: &Phrases) -> Result<Recheck, LoadError> {
        let inexact = |phrases: &[Phrase]| {
            let inexact = phrases.iter().filter(|phrase| !is_exact(phrase));
            inexact.cloned().collect()
        };
        Ok(Recheck {
            wanted: inexact(&phrases.wanted),
            excluded: inexact(&phrases.excluded),
            words: Words::new().map_err(no_words)?,
        })
    }

    fn holds(&mut self, row: &FoundRow) -> Result<bool, LoadError> {
        if self.wanted.is_empty() && self.excluded.is_empty() {
            return Ok(true);
        }
        let context = row.context.as_ref();
        let texts = [
            Some(&row.url),
            row.anchor.as_ref(),
            row.message.subject.as_ref(),
            row.message.from.as_ref(),
            context.map(|context| &context.before),
            context.map(|context| &context.after),
        ];
        let mut found = Vec::new();
        for text in texts.into_iter().flatten() {
            let mut words = Vec::new();
            self.words
                .each(text, |word, _| words.push(word.to_owned()))
                .map_err(no_words)?;
            found.push(words);
        }
        let occurs = |phrase: &Phrase| {
            found.iter().any(|words| {
                let mut runs = words.windows(phrase.words.len());
                runs.any(|run| phrase.matches(run.iter().map(|word| &**word)))
            })
        };
        Ok(self.wanted.iter().all(occurs) && !self.excluded.iter().any(occurs))
    }
}

#[derive(Deserialize)]
struct SearchReply {
    hits: Hits,
}

#[derive(Deserialize)]
struct Hits {
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(rename = "_source")]
    source: Document,
    /// The values by which it is sorted.
    sort: Value,
}

/// The members of a record that are read. The names are those of its fields.
#[derive(Deserialize)]
struct Document {
    id: String,
    url: String,
    fragment: Option<String>,
    confidence: f64,
    region: String,
    anchor: Option<String>,
    scheme: String,
    host: Option<String>,
    domain: Option<String>,
    source: DocumentSource,
    message: DocumentMessage,
    context: Option<DocumentContext>,
}

#[derive(Deserialize)]
struct DocumentSource {
    path: String,
    path_b64: Option<String>,
    member: Option<Vec<String>>,
    member_b64: Option<Vec<String>>,
    start: i64,
    end: i64,
}

#[derive(Deserialize)]
struct DocumentMessage {
    id: Option<String>,
    date: Option<String>,
    from: Option<String>,
    subject: Option<String>,
    list_id: Option<String>,
    newsgroups: Vec<String>,
}

#[derive(Deserialize)]
struct DocumentContext {
    before: String,
    after: String,
}

impl Document {
    fn into_match(self) -> Match {
        let Document {
            source, message, ..
        } = self;
        let facets = FacetRow {
            date: message.date.clone(),
            list_id: message.list_id,
            newsgroups: message.newsgroups,
            scheme: self.scheme,
            host: self.host,
            domain: self.domain,
        };
        let list = |names: Option<Vec<String>>| names.map(|names| json!(names).to_string());
        let (before, after) = self
            .context
            .map(|context| (context.before, context.after))
            .unzip();
        let row = FoundRow {
            id: self.id,
            url: self.url,
            fragment: self.fragment,
            confidence: self.confidence,
            region: self.region,
            anchor: self.anchor,
            source: FoundSource {
                path: source.path,
                path_b64: source.path_b64,
                member: list(source.member),
                member_b64: list(source.member_b64),
                start: source.start,
                end: source.end,
            },
            message: FoundMessage {
                id: message.id,
                date: message.date,
                from: message.from,
                subject: message.subject,
            },
            context: context(before, after),
        };
        Match { row, facets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_phrases_are_left_out_by_the_server() {
        let words = ["a b", "ab*", "-x", "-x y*"].map(str::to_owned).to_vec();
        let query = SearchQuery {
            words,
            sender: Some("a*b\\".to_owned()),
            hazard: Some("odd-port".to_owned()),
            ..SearchQuery::default()
        };
        let phrases = query.phrases().unwrap();
        let body = request(&query, &phrases);
        assert_eq!(
            body["query"]["bool"],
            json!({
                "filter": [
                    {"match_phrase": {"words": {"query": "a b"}}},
                    {"bool": {"filter": [{"prefix": {"words": {"value": "ab"}}}]}},
                    {"wildcard": {"message.from.keyword": {"value": "*a\\*b\\\\*", "case_insensitive": true}}},
                    {"term": {"hazards": "odd-port"}},
                ],
                "must_not": [{"term": {"words": {"value": "x"}}}],
            })
        );
        assert_eq!(Recheck::new(&phrases).unwrap().excluded.len(), 1);
    }
}
