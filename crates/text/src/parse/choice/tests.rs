//! Tests of the prefilter of `repair` against the parser: no word that the prefilter rejects may
//! be a URL.

use proptest::prelude::*;

use super::*;
use crate::repair::{BareWord, LineBreakPolicy, LogicalLine, prefilter, unfold_bare_word};
use crate::scan::SchemelessPolicy;

/// Parses the word of each bare start that the prefilter rejects, and asserts that it is not a
/// URL. Returns the number of these starts.
fn check(text: &[u8]) -> usize {
    let scanner = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &["foo".to_owned()]);
    let mut starts = scanner.starts(text);
    let (mut from, mut rejected) = (0, 0);
    let mut line = LogicalLine::default();
    while let Some(start) = starts.next_from(from) {
        from = start.resume;
        let guessed = match start.opening {
            Opening::UrlBracket | Opening::Angle | Opening::HostPath(_) => continue,
            opening => opening.guessed(),
        };
        let before = start.at.checked_sub(1).map(|at| text[at]);
        let bare_word = BareWord {
            from: start.content,
            before,
            rules: Rules::Wide,
            breaks: LineBreakPolicy::Join,
            max_bytes: usize::MAX,
        };
        if let Err(reason) = prefilter(text, &bare_word, guessed, &scanner) {
            unfold_bare_word(text, &bare_word, None, &mut line);
            let candidate = Candidate {
                start: &start,
                prior: &text[..start.at],
                line: &line,
                after: b"",
                close: None,
            };
            let reject = parse_candidate(&candidate, &scanner, usize::MAX, &mut |_| {}).reject;
            assert!(
                reject.is_some(),
                "{reason:?} {}",
                text[start.at..].escape_ascii()
            );
            rejected += 1;
        }
    }
    rejected
}

#[test]
fn impossible_words_are_rejected() {
    let cases = "http://a-/b http://a'b/ http://! http:///b news:the mailto:x tel:x URL:file:x \
        www.a-/ URL:b";
    for text in cases.split(' ') {
        assert_eq!(check(text.as_bytes()), 1, "{text}");
    }
}

#[test]
fn text_outside_the_host_decides_nothing() {
    assert_eq!(check(b"urn://http:www..http:"), 0);
    assert_eq!(check(b"urn://x:b.c'..a]>"), 0);
    assert_eq!(check(b"ftp.a.example(192.0.2.1):x/"), 0);
    assert_eq!(check(b"http://a..b"), 1);
    for white_space in [
        "\x0B",
        "\x0C",
        "\u{a0}",
        "\u{85}",
        "\u{2003}",
        &" ".repeat(20),
    ] {
        assert_eq!(
            check(format!("urn://user@{white_space}\nb.c/").as_bytes()),
            0,
            "{white_space:?}"
        );
    }
    for text in [
        "urn://@\nftp.#",
        "http://&www.\nftp.@ftp.",
        "http://&www. \r\nftp.@ftp.",
        "http://@\\\nftp.",
    ] {
        assert_eq!(
            check(text.as_bytes()),
            0,
            "{text}: the host may be on the next line"
        );
    }
}

#[test]
fn a_comma_before_the_next_scheme_ends_the_word() {
    assert_eq!(check(b"news:a,http://b.example/"), 1);
    assert_eq!(check(b"news:a,b.c"), 0);
    assert_eq!(check(b"http://a[http://"), 0);
    assert_eq!(check(b"mailto:a,b+c://d@e/"), 1);
}

#[test]
fn the_path_of_an_ftp_location_may_contain_an_at_sign() {
    for text in [
        "ftp.www.http:www.@#",
        "ftp.a.example:x@y#z",
        "ftp.a.example(192.0.2.1):x@#",
        "ftp.a.example:x@&gt;",
    ] {
        assert_eq!(check(text.as_bytes()), 0, "{text}");
    }
}

#[test]
fn the_other_end_is_before_what_is_refused() {
    let text = b"git+ssh://a.example/b&&c|sh";
    let scanner = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &[]);
    let start = scanner.starts(text).next_from(0).unwrap();
    let bare_word = BareWord {
        from: start.content,
        before: None,
        rules: Rules::Wide,
        breaks: LineBreakPolicy::Join,
        max_bytes: usize::MAX,
    };
    let mut line = LogicalLine::default();
    unfold_bare_word(text, &bare_word, None, &mut line);
    let candidate = Candidate {
        start: &start,
        prior: b"",
        line: &line,
        after: b"",
        close: None,
    };
    let mut found = Vec::new();
    parse_candidate(&candidate, &scanner, usize::MAX, &mut |url| {
        found.extend(url.alternates.iter().map(|other| other.full.clone()));
    });
    assert_eq!(found, [b"git+ssh://a.example/b&&c"]);
}

proptest! {
    #[test]
    fn no_rejected_word_is_a_url(
        text in "((http|news|mailto|tel|file|urn|doi|x|foo|URL|data)(:|://)|www\\.|ftp\\.|[a-z]{1,3\
            }|[-./,;|@#?:'()\\[\\]*!&_\\\\]|&gt;| |\\n|\x0C\\n|\u{a0}\\n){1,20}"
    ) {
        check(text.as_bytes());
    }
}

#[test]
fn hyphens_are_dropped_fewest_first_then_leftmost() {
    let text = |readings: Vec<Vec<u8>>| {
        readings
            .into_iter()
            .map(|reading| String::from_utf8(reading).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        text(without_hyphens(b"a-b-c", &[1, 3])),
        ["ab-c", "a-bc", "abc"]
    );
    assert_eq!(text(without_hyphens(b"a--b", &[2])), ["a-b"]);
    assert_eq!(
        text(without_hyphens(b"a-b-c-d-e-f", &[1, 3, 5, 7, 9])),
        ["abcdef"]
    );
}
