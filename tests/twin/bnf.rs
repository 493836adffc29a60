//! RFC 1738's BNF as text, and an interpreter of its notation that follows every path.
//!
//! Slow and simple. Uses no code of `urlspool`.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::SplitWhitespace;
use std::sync::LazyLock;

/// The rules of section 5, one per line, with a blank between any two tokens.
///
/// Ambiguities of section 5 are resolved as in [`urlspool::grammar`]: after `*`, brackets only
/// group; literals are case-sensitive; the bare slash of `gopherurl` is a literal. `"a".."z"`
/// abbreviates the list of single characters. The rule `url` is missing: a predefined scheme is
/// parsed only by its own rule, so [`forms`] chooses. The last lines name alternatives that have no
/// name in section 5.
const BNF: &str = r#"
    genericurl      = scheme ":" schemepart
    otherurl        = genericurl
    scheme          = 1*[ lowalpha | digit | "+" | "-" | "." ]
    schemepart      = *xchar | ip-schemepart

    ip-schemepart   = "//" login [ "/" urlpath ]
    login           = [ user [ ":" password ] "@" ] hostport
    hostport        = host [ ":" port ]
    host            = hostname | hostnumber
    hostname        = *[ domainlabel "." ] toplabel
    domainlabel     = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit
    toplabel        = alpha | alpha *[ alphadigit | "-" ] alphadigit
    alphadigit      = alpha | digit
    hostnumber      = digits "." digits "." digits "." digits
    port            = digits
    user            = *[ uchar | ";" | "?" | "&" | "=" ]
    password        = *[ uchar | ";" | "?" | "&" | "=" ]
    urlpath         = *xchar

    ftpurl          = "ftp://" login [ "/" fpath [ ";type=" ftptype ] ]
    fpath           = fsegment *[ "/" fsegment ]
    fsegment        = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
    ftptype         = "A" | "I" | "D" | "a" | "i" | "d"

    fileurl         = "file://" [ host | "localhost" ] "/" fpath

    httpurl         = "http://" hostport [ "/" hpath [ "?" search ] ]
    hpath           = hsegment *[ "/" hsegment ]
    hsegment        = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
    search          = *[ uchar | ";" | ":" | "@" | "&" | "=" ]

    gopherurl       = "gopher://" hostport [ "/" [ gtype [ selector [ gopher-search ] ] ] ]
    gtype           = xchar
    selector        = *xchar
    gopher+_string  = *xchar

    mailtourl       = "mailto:" encoded822addr
    encoded822addr  = 1*xchar

    newsurl         = "news:" grouppart
    grouppart       = "*" | group | article
    group           = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]
    article         = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ] "@" host

    nntpurl         = "nntp://" hostport "/" group [ "/" digits ]

    telneturl       = "telnet://" login [ "/" ]

    waisurl         = waisdatabase | waisindex | waisdoc
    waisdatabase    = "wais://" hostport "/" database
    waisindex       = "wais://" hostport "/" database "?" search
    waisdoc         = "wais://" hostport "/" database "/" wtype "/" wpath
    database        = *uchar
    wtype           = *uchar
    wpath           = *uchar

    prosperourl     = "prospero://" hostport "/" ppath *[ fieldspec ]
    ppath           = psegment *[ "/" psegment ]
    psegment        = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
    fieldspec       = ";" fieldname "=" fieldvalue
    fieldname       = *[ uchar | "?" | ":" | "@" | "&" ]
    fieldvalue      = *[ uchar | "?" | ":" | "@" | "&" ]

    lowalpha        = "a".."z"
    hialpha         = "A".."Z"
    alpha           = lowalpha | hialpha
    digit           = "0".."9"
    safe            = "$" | "-" | "_" | "." | "+"
    extra           = "!" | "*" | "'" | "(" | ")" | ","
    reserved        = ";" | "/" | "?" | ":" | "@" | "&" | "="
    hex             = digit | "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
    escape          = "%" hex hex
    unreserved      = alpha | digit | safe | extra
    uchar           = unreserved | escape
    xchar           = unreserved | reserved | escape
    digits          = 1*digit

    gopher-search   = "%09" search [ "%09" gopher+_string ]
    news-all        = "news:" "*"
    news-group      = "news:" group
    news-article    = "news:" article
    otherurl-ip     = scheme ":" ip-schemepart
"#;

/// The forms of each predefined scheme, then of all others. Each is a rule of [`BNF`].
///
/// The first matching form counts: `otherurl` derives every text of `otherurl-ip`.
pub(super) const FORMS: [(&str, &[&str]); 11] = [
    ("ftp", &["ftpurl"]),
    ("file", &["fileurl"]),
    ("http", &["httpurl"]),
    ("gopher", &["gopherurl"]),
    ("mailto", &["mailtourl"]),
    ("news", &["news-all", "news-group", "news-article"]),
    ("nntp", &["nntpurl"]),
    ("telnet", &["telneturl"]),
    ("wais", &["waisdatabase", "waisindex", "waisdoc"]),
    ("prospero", &["prosperourl"]),
    // The empty name matches any scheme.
    ("", &["otherurl-ip", "otherurl"]),
];

/// Result of matching a text against the BNF.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Name of the form, or `None` if the text is not a URL.
    pub(crate) form: Option<&'static str>,
    /// Length of the longest prefix of the text that is also a prefix of a URL with this scheme.
    pub(crate) viable: usize,
}

/// Matches all of `input` as a URL. The name of the scheme is first converted to lower case.
pub(crate) fn verdict(input: &[u8]) -> Verdict {
    let colon = input
        .iter()
        .position(|&byte| byte == b':')
        .unwrap_or(input.len());
    let mut text = input.to_vec();
    text[..colon].make_ascii_lowercase();
    let mut matcher = Matcher {
        input: &text,
        reached: 0,
    };
    let mut matching = Vec::new();
    for &form in forms(&text[..colon]) {
        let mut ends = Vec::new();
        matcher.read(&RULES[form], 0, &mut ends);
        if ends.contains(&text.len()) {
            matching.push(form);
        }
    }
    Verdict {
        form: matching.first().copied(),
        viable: matcher.reached,
    }
}

/// Derives a text from the rule `name`. Each decision consumes one byte of `choices`. Once they are
/// used up, the derivation ends soon.
pub(super) fn derivation(name: &'static str, choices: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    derive(&Term::Rule(name), &mut choices.iter().copied(), &mut text);
    text
}

fn forms(scheme: &[u8]) -> &'static [&'static str] {
    let matches = |name: &str| name.is_empty() || name.as_bytes() == scheme;
    FORMS.iter().find(|(name, _)| matches(name)).unwrap().1
}

/// The right-hand side of a rule, or a part of it.
enum Term {
    Text(&'static str),
    Range(u8, u8),
    Rule(&'static str),
    Sequence(Vec<Term>),
    Choice(Vec<Term>),
    Optional(Box<Term>),
    Repeat { least: usize, item: Box<Term> },
}

static RULES: LazyLock<BTreeMap<&str, Term>> = LazyLock::new(|| {
    let lines = BNF.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| line.split_once('=').unwrap())
        .map(|(name, right)| (name.trim(), term(right)))
        .collect()
});

type Tokens = Peekable<SplitWhitespace<'static>>;

fn term(text: &'static str) -> Term {
    let mut tokens = text.split_whitespace().peekable();
    let whole = choice(&mut tokens);
    assert_eq!(tokens.next(), None, "{text}");
    whole
}

fn choice(tokens: &mut Tokens) -> Term {
    let mut alternatives = vec![sequence(tokens)];
    while tokens.next_if_eq(&"|").is_some() {
        alternatives.push(sequence(tokens));
    }
    one_or(Term::Choice, alternatives)
}

fn sequence(tokens: &mut Tokens) -> Term {
    let mut items = Vec::new();
    while let Some(token) = tokens.next_if(|token| !matches!(*token, "|" | "]")) {
        items.push(item(token, tokens));
    }
    one_or(Term::Sequence, items)
}

/// Combines `terms` with `many`. A single term is returned unchanged.
fn one_or(many: fn(Vec<Term>) -> Term, mut terms: Vec<Term>) -> Term {
    if terms.len() == 1 {
        terms.remove(0)
    } else {
        many(terms)
    }
}

fn item(token: &'static str, tokens: &mut Tokens) -> Term {
    if let Some(quoted) = token
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        return match quoted.split_once("\"..\"") {
            Some((low, high)) => Term::Range(low.as_bytes()[0], high.as_bytes()[0]),
            None => Term::Text(quoted),
        };
    }
    match token.split_once('*') {
        Some((least, what)) => {
            let item = if what == "[" {
                bracketed(tokens)
            } else {
                Term::Rule(what)
            };
            Term::Repeat {
                least: least.parse().unwrap_or(0),
                item: Box::new(item),
            }
        }
        None if token == "[" => Term::Optional(Box::new(bracketed(tokens))),
        None => Term::Rule(token),
    }
}

fn bracketed(tokens: &mut Tokens) -> Term {
    let inside = choice(tokens);
    assert_eq!(tokens.next(), Some("]"));
    inside
}

/// Matches terms against the input, following every path.
struct Matcher<'a> {
    input: &'a [u8],
    /// Number of bytes matched by the longest path, including part of a literal.
    ///
    /// A path continues only after a match, so the input up to here can be completed.
    reached: usize,
}

impl Matcher<'_> {
    /// Adds to `ends` all offsets where `term` can end if it starts at `at`, without duplicates.
    fn read(&mut self, term: &Term, at: usize, ends: &mut Vec<usize>) {
        match term {
            Term::Text(text) => {
                let same = self.input[at..]
                    .iter()
                    .zip(text.as_bytes())
                    .take_while(|(have, want)| have == want)
                    .count();
                self.compared(at + same, same == text.len(), ends);
            }
            Term::Range(low, high) => {
                let fits = self
                    .input
                    .get(at)
                    .is_some_and(|byte| low <= byte && byte <= high);
                self.compared(at + usize::from(fits), fits, ends);
            }
            Term::Rule(name) => self.read(&RULES[name], at, ends),
            Term::Sequence(items) => {
                let found = items
                    .iter()
                    .fold(vec![at], |starts, item| self.read_from_all(item, &starts));
                add(ends, &found);
            }
            Term::Choice(alternatives) => alternatives
                .iter()
                .for_each(|term| self.read(term, at, ends)),
            Term::Optional(inside) => {
                add(ends, &[at]);
                self.read(inside, at, ends);
            }
            Term::Repeat { least, item } => {
                let first =
                    (0..*least).fold(vec![at], |starts, _| self.read_from_all(item, &starts));
                add(ends, &self.closure(item, first));
            }
        }
    }

    /// Records that a literal or range was compared with the input up to `place`.
    fn compared(&mut self, place: usize, fits: bool, ends: &mut Vec<usize>) {
        self.reached = self.reached.max(place);
        if fits {
            add(ends, &[place]);
        }
    }

    fn read_from_all(&mut self, term: &Term, starts: &[usize]) -> Vec<usize> {
        let mut ends = Vec::new();
        for &start in starts {
            self.read(term, start, &mut ends);
        }
        ends
    }

    /// Returns `ends`, and all offsets reachable from there by any number of `item`s.
    fn closure(&mut self, item: &Term, mut ends: Vec<usize>) -> Vec<usize> {
        let mut fresh = ends.clone();
        while !fresh.is_empty() {
            fresh = self.read_from_all(item, &fresh);
            fresh.retain(|end| !ends.contains(end));
            ends.extend(&fresh);
        }
        ends
    }
}

/// Adds the offsets in `found` that `ends` lacks. A short list is faster to search than a tree.
fn add(ends: &mut Vec<usize>, found: &[usize]) {
    for end in found {
        if !ends.contains(end) {
            ends.push(*end);
        }
    }
}

fn derive(term: &Term, choices: &mut impl Iterator<Item = u8>, text: &mut Vec<u8>) {
    let mut choose = |count: usize| usize::from(choices.next().unwrap_or(0)) % count;
    match term {
        Term::Text(literal) => text.extend(literal.bytes()),
        Term::Range(low, high) => text.push(low + choose(usize::from(high - low) + 1) as u8),
        Term::Rule(name) => derive(&RULES[name], choices, text),
        Term::Sequence(items) => items.iter().for_each(|item| derive(item, choices, text)),
        Term::Choice(alternatives) => {
            let chosen = choose(alternatives.len());
            derive(&alternatives[chosen], choices, text);
        }
        Term::Optional(inside) => {
            if choose(2) == 1 {
                derive(inside, choices, text);
            }
        }
        Term::Repeat { least, item } => {
            for _ in 0..least + choose(4) {
                derive(item, choices, text);
            }
        }
    }
}
