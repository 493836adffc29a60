//! `grammar` beside its dull twin: an interpreter of RFC 1738's BNF. Random input compares the two.

mod bnf;

pub(crate) use bnf::{Verdict, verdict};

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use bnf::{FORMS, derivation};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngSeed, TestCaseResult, TestError, TestRunner};
use urlspool::grammar::{RejectKind, RejectPart, escaped_byte, url};

/// Short URLs of all forms, to be spoilt: each delimiter and each optional part is in one of them.
const SEEDS: &str = "ftp://u:p@h:1/a/d;type=a ftp://@h/d file://h.d/a/b file:///a HTTP://1.2.3.4:8/a/b?c
    gopher://h/1%09a%09b mailto:a%41@b news:* news:a.b-3 news:3a@h.d nntp://h:1/a.b/1 telnet://u@a-b/
    wais://h/a wais://h/a?b wais://h/a/b/c prospero://h/a;b=c;d= x-y:a z39.50://u:p@h:1/a?b";

/// What a text may begin with.
const STARTS: &str =
    "ftp:// file:// http:// gopher:// mailto: news: nntp:// telnet:// wais:// prospero://
    FTP:// nEWs: x-y:// 9p: http:/ file: : x";

/// What the grammar distinguishes, and what it never allows.
const PIECES: &str = r#"a e Z 0 99999 a-b h.d 3x 1.2.3.4 5. u@ u:p@ :8 ;type=a ;TYPE=a %09 %4a %4 %g0
    : @ ; = & ? / // . .. - -- _ + $ ! * ' ( ) , % ~ { } | \ ^ [ ] ` < > # " é"#;

/// One of the words of `list`.
fn word(list: &'static str) -> impl Strategy<Value = Vec<u8>> {
    select(
        list.split_whitespace()
            .map(|word| word.as_bytes().to_vec())
            .collect::<Vec<_>>(),
    )
}

/// A piece, or any byte, or a blank.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![16 => word(PIECES), 3 => any::<u8>().prop_map(|byte| vec![byte]), 1 => Just(b" ".to_vec())]
}

/// A start and some pieces.
fn assembled() -> impl Strategy<Value = Vec<u8>> {
    (word(STARTS), vec(piece(), 0..8)).prop_map(|(start, pieces)| [start, pieces.concat()].concat())
}

/// A URL in which up to three stretches are replaced by up to two pieces each.
fn spoilt() -> impl Strategy<Value = Vec<u8>> {
    let cut = prop_oneof![4 => 0..4usize, 1 => Just(usize::MAX)];
    let splice = (any::<Index>(), cut, vec(piece(), 0..3));
    let sound = prop_oneof![4 => word(SEEDS), 1 => derived().prop_map(|(_, text)| text)];
    (sound, vec(splice, 0..4)).prop_map(|(sound, splices)| {
        splices
            .into_iter()
            .fold(sound, |mut text, (place, cut, pieces)| {
                let start = place.index(text.len() + 1);
                let end = start.saturating_add(cut).min(text.len());
                text.splice(start..end, pieces.concat());
                text
            })
    })
}

fn anything() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![assembled(), spoilt()]
}

/// A form's name, and a text that its rule derives; the scheme's first letter may be a capital.
///
/// Schemes without a rule get at most four random characters, which as good as never name one that has a rule.
fn derived() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let name = select(names().collect::<Vec<_>>());
    (name, vec(any::<u8>(), 0..400), any::<bool>()).prop_map(|(name, choices, capital)| {
        let mut text = derivation(name, &choices);
        if capital {
            text[0].make_ascii_uppercase();
        }
        (name, text)
    })
}

/// The same 4096 inputs in every run. Panics with the smallest input that breaks the law.
#[track_caller]
fn holds<S: Strategy>(inputs: S, law: impl Fn(S::Value) -> TestCaseResult) {
    let config = ProptestConfig {
        cases: 4096,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1738),
        ..ProptestConfig::default()
    };
    match TestRunner::new(config).run(&inputs, law) {
        Ok(()) => {}
        Err(TestError::Fail(reason, smallest)) => panic!("{reason}\nof {smallest:?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// The forms' names.
fn names() -> impl Iterator<Item = &'static str> {
    FORMS.iter().flat_map(|(_, names)| *names).copied()
}

/// `input` for a message, with escapes for what is not printable ASCII.
pub(crate) fn shown(input: &[u8]) -> String {
    format!("`{}`", input.escape_ascii())
}

#[test]
fn the_grammar_and_its_dull_twin_agree() {
    let seen = RefCell::new(BTreeMap::new());
    holds(anything(), |input| {
        let twin = verdict(&input);
        *seen.borrow_mut().entry(twin.form).or_insert(0) += 1;
        agrees(&input, &twin)
    });
    let seen = seen.into_inner();
    assert!(
        names().all(|name| seen.contains_key(&Some(name))),
        "a form was never met: {seen:?}"
    );
    assert!(seen[&None] > 1000, "little was refused: {seen:?}");
}

#[test]
fn no_single_edit_of_a_url_parts_the_twins() {
    for input in SEEDS.split_whitespace().flat_map(edits) {
        let (input, twin) = (input.as_bytes(), verdict(input.as_bytes()));
        let laws = agrees(input, &twin)
            .and_then(|()| goes_wrong_there(input, &twin))
            .and_then(|()| prints_back(input));
        laws.unwrap_or_else(|fault| panic!("{fault}"));
    }
}

/// The seed's beginnings, and the seed with nothing or a piece before each byte or in its place.
fn edits(seed: &'static str) -> impl Iterator<Item = String> {
    let beginnings = (0..seed.len()).map(move |end| seed[..end].to_owned());
    let places = (0..=seed.len()).flat_map(move |at| [(at, at), (at, seed.len().min(at + 1))]);
    let pieces = || {
        ["", " ", "\t", "\u{7F}"]
            .into_iter()
            .chain(PIECES.split_whitespace())
    };
    let spliced = places.flat_map(move |(start, end)| {
        pieces().map(move |piece| [&seed[..start], piece, &seed[end..]].concat())
    });
    beginnings.chain(spliced)
}

fn agrees(input: &[u8], twin: &Verdict) -> TestCaseResult {
    let form = url(input).ok().map(|url| url.form.name());
    prop_assert_eq!(form, twin.form, "{}", shown(input));
    Ok(())
}

/// Where the BNF derives `ip-schemepart`, it derives the same text as `*xchar` too.
#[test]
fn what_the_bnf_derives_is_a_url_of_that_form() {
    holds(derived(), |(name, text)| {
        let form = url(&text).map(|url| url.form.name());
        prop_assert!(
            form == Ok(name) || (name, form) == ("otherurl", Ok("otherurl-ip")),
            "{} {form:?}",
            shown(&text)
        );
        prop_assert_eq!(
            verdict(&text),
            Verdict {
                form: form.ok(),
                viable: text.len()
            },
            "{}",
            shown(&text)
        );
        Ok(())
    });
}

#[test]
fn every_beginning_of_a_url_is_viable_to_the_twin() {
    holds((derived(), any::<Index>()), |((_, text), end)| {
        let beginning = &text[..end.index(text.len())];
        prop_assert_eq!(
            verdict(beginning).viable,
            beginning.len(),
            "{} of {}",
            shown(beginning),
            shown(&text)
        );
        Ok(())
    });
}

#[test]
fn what_parses_prints_back_and_parses_to_the_same_value() {
    let parsed = Cell::new(0);
    holds(
        prop_oneof![anything(), derived().prop_map(|(_, text)| text)],
        |input| {
            parsed.set(parsed.get() + u32::from(url(&input).is_ok()));
            prints_back(&input)
        },
    );
    assert!(parsed.get() > 1000, "little was parsed: {}", parsed.get());
}

fn prints_back(input: &[u8]) -> TestCaseResult {
    if let Ok(read) = url(input) {
        let printed = read.to_bytes();
        prop_assert_eq!(shown(&printed), shown(input));
        prop_assert_eq!(url(&printed), Ok(read), "{}", shown(input));
    }
    Ok(())
}

#[test]
fn a_refusal_stands_where_the_text_goes_wrong() {
    let early = Cell::new(0);
    holds(anything(), |input| {
        let twin = verdict(&input);
        early.set(
            early.get() + u32::from(url(&input).is_err_and(|reject| reject.offset < twin.viable)),
        );
        goes_wrong_there(&input, &twin)
    });
    assert!(
        early.get() > 100,
        "few refusals stood before the last viable byte: {}",
        early.get()
    );
}

/// A refusal's offset is `viable`, or the start of the one thing up to there that cannot be finished.
fn goes_wrong_there(input: &[u8], twin: &Verdict) -> TestCaseResult {
    let Err(reject) = url(input) else {
        return Ok(());
    };
    let facts = format!("{}: {reject:?}, {twin:?}", shown(input));
    prop_assert!(reject.offset <= twin.viable, "{facts}");
    let (before, after) = input.split_at(reject.offset);
    let passed = &after[..twin.viable - reject.offset];
    let one_thing = match (reject.kind, reject.part) {
        _ if passed.is_empty() => true,
        (RejectKind::BadEscape, _) => passed.len() < 3,
        // A bad label; or a login that lacks its `@`, of which the host was read.
        (_, RejectPart::Host | RejectPart::Port) => {
            !passed.iter().any(|octet| matches!(octet, b'/' | b'@'))
        }
        // No group's name begins so; an article's does.
        (_, RejectPart::Group) => before.eq_ignore_ascii_case(b"news:"),
        _ => false,
    };
    prop_assert!(one_thing, "{facts}");
    let bad_escape = after.first() == Some(&b'%') && escaped_byte(after).is_none();
    prop_assert!(
        reject.kind != RejectKind::BadEscape || bad_escape,
        "{facts}"
    );
    Ok(())
}
