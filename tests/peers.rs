//! Test cases of other projects, restated in `corpus/url/peers.tsv`: the URLs that the program
//! finds, and deliberate differences.
//!
//! `URLSPOOL_BLESS=1 cargo test --test tests peers` rewrites the column `found`.

use std::collections::BTreeMap;
use std::{env, fs};

use urlspool::{ExtractedUrl, urls};

use crate::scene::corpus;

/// A row of the table.
#[derive(Clone, Debug)]
struct PeerCase {
    project: String,
    context: String,
    input: String,
    /// The URLs that the project's tests want, separated by blanks, or [`NONE`].
    wanted: String,
    /// The URLs that the program finds.
    found: String,
    verdict: String,
    reason: String,
}

/// Marks an empty list of URLs.
const NONE: &str = "-";

impl PeerCase {
    fn parse(line: &str) -> PeerCase {
        let fields: Vec<_> = line.split('\t').map(str::to_owned).collect();
        let [project, context, input, wanted, found, verdict, reason] =
            <[String; 7]>::try_from(fields).unwrap_or_else(|_| panic!("not seven fields: {line}"));
        PeerCase {
            project,
            context,
            input,
            wanted,
            found,
            verdict,
            reason,
        }
    }

    /// Returns the URLs that the program finds in the input.
    fn read(&self) -> String {
        let input = unescaped(&self.input);
        let page = |body: String| format!("Content-Type: text/html; charset=utf-8\n\n{body}\n");
        let found: Vec<String> = match self.context.as_str() {
            "text" => urls(&input).iter().map(with_fragment).collect(),
            "href" => attributes(&page(format!("<a href=\"{}\">lamp</a>", escaped(&input)))),
            "base" => {
                let (base, relative) = input.split_once(' ').expect("a base and a reference");
                attributes(&page(format!(
                    "<base href=\"{base}\"><a href=\"{}\">lamp</a>",
                    escaped(relative)
                )))
            }
            other => panic!("unknown context {other}"),
        };
        if found.is_empty() {
            NONE.to_owned()
        } else {
            found.join(" ")
        }
    }

    /// Returns the reason why the row is wrong, if any.
    fn error(&self) -> Option<String> {
        let found = self.read();
        let agrees = found == self.wanted;
        let is_right = found == self.found
            && match self.verdict.as_str() {
                "agree" => agrees && self.reason.is_empty(),
                "policy" => !agrees && !self.reason.is_empty(),
                _ => false,
            };
        (!is_right).then(|| format!("{self:?} finds {found}"))
    }
}

/// Formats a URL with its fragment, as in the table.
fn with_fragment(url: &ExtractedUrl) -> String {
    match url.fragment() {
        Some(fragment) => format!("{url}#{fragment}"),
        None => url.to_string(),
    }
}

/// Returns the URLs of links in a message. The base of a page is not a link.
fn attributes(message: &str) -> Vec<String> {
    urlspool::message_urls(message.as_bytes())
        .into_iter()
        .filter(|url| url.region == "html:a.href")
        .map(|url| with_fragment(&url))
        .collect()
}

fn escaped(value: &str) -> String {
    value.replace('&', "&amp;").replace('"', "&quot;")
}

/// Decodes `\xNN`, `\t`, `\n`, `\r` and `\\`.
fn unescaped(field: &str) -> String {
    let mut text = String::new();
    let mut rest = field.chars();
    while let Some(char) = rest.next() {
        let decoded = match char {
            '\\' => match rest.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('\\') => '\\',
                Some('x') => {
                    let digits: String = rest.by_ref().take(2).collect();
                    char::from(u8::from_str_radix(&digits, 16).expect("two hex digits"))
                }
                other => panic!("unknown escape {other:?} in {field}"),
            },
            other => other,
        };
        text.push(decoded);
    }
    text
}

fn table() -> String {
    fs::read_to_string(corpus().join("url/peers.tsv")).unwrap()
}

fn is_row(line: &&str) -> bool {
    !line.is_empty() && !line.starts_with("# ")
}

#[test]
fn each_case_is_found_as_the_table_says() {
    if env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1") {
        return bless();
    }
    let errors: Vec<_> = table()
        .lines()
        .filter(is_row)
        .filter_map(|line| PeerCase::parse(line).error())
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// Rewrites the found URLs. Verdicts are written by hand, except that equal URLs agree.
fn bless() {
    let line = |line: &str| {
        if !is_row(&line) {
            return line.to_owned();
        }
        let mut case = PeerCase::parse(line);
        case.found = case.read();
        if case.found == case.wanted {
            "agree".clone_into(&mut case.verdict);
            case.reason.clear();
        } else if case.verdict == "agree" {
            "fault".clone_into(&mut case.verdict);
        }
        [
            case.project,
            case.context,
            case.input,
            case.wanted,
            case.found,
            case.verdict,
            case.reason,
        ]
        .join("\t")
    };
    let lines: Vec<_> = table().lines().map(line).collect();
    fs::write(corpus().join("url/peers.tsv"), lines.join("\n") + "\n").unwrap();
}

#[test]
fn each_project_has_its_cases() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in table().lines().filter(is_row) {
        *counts.entry(PeerCase::parse(line).project).or_default() += 1;
    }
    for project in ["linkify", "URI::Find", "rspamd", "SpamAssassin", "KDE"] {
        assert!(
            counts.get(project).is_some_and(|count| 20 <= *count),
            "{counts:?}"
        );
    }
}
