//! Compares `grammar` with a simple twin, an interpreter of RFC 1738's BNF, on random input.

mod bnf;

pub(crate) use bnf::{Verdict, verdict};

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use bnf::{FORMS, derivation};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngAlgorithm, RngSeed, TestCaseResult, TestError, TestRunner};
use urlspool::grammar::{RejectKind, Url, escaped_byte};

/// Short URLs of all forms, with each delimiter and each optional part, for mutation.
const SEEDS: &str = "ftp://u:p@h:1/a/d;type=a ftp://@h/d file://h.d/a/b file:///a \
    HTTP://1.2.3.4:8/a/b?c gopher://h/1%09a%09b mailto:a%41@b news:* news:a.b-3 news:3a@h.d \
    nntp://h:1/a.b/1 \
    telnet://u@a-b/ wais://h/a wais://h/a?b wais://h/a/b/c prospero://h/a;b=c;d= x-y:a \
    z39.50://u:p@h:1/a?b";

/// Starts of random texts.
const STARTS: &str =
    "ftp:// file:// http:// gopher:// mailto: news: nntp:// telnet:// wais:// prospero://
    FTP:// nEWs: x-y:// 9p: http:/ file: : x";

/// Elements that the grammar distinguishes, and characters that it never allows.
const PIECES: &str = r#"a e Z 0 99999 a-b h.d 3x 1.2.3.4 5. u@ u:p@ :8 ;type=a ;TYPE=a %09 %4a %4
    %g0 : @ ; = & ? / // . .. - -- _ + $ ! * ' ( ) , % ~ { } | \ ^ [ ] ` < > # " é"#;

/// Generates one of the words of `list`.
fn word(list: &'static str) -> impl Strategy<Value = Vec<u8>> {
    select(
        list.split_whitespace()
            .map(|word| word.as_bytes().to_vec())
            .collect::<Vec<_>>(),
    )
}

/// Generates a piece, any byte, or a blank.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_map(|byte| vec![byte]);
    prop_oneof![16 => word(PIECES), 3 => byte, 1 => Just(b" ".to_vec())]
}

/// Generates a start and up to seven pieces.
fn assembled() -> impl Strategy<Value = Vec<u8>> {
    (word(STARTS), vec(piece(), 0..8)).prop_map(|(start, pieces)| [start, pieces.concat()].concat())
}

/// Generates a URL in which up to three ranges are replaced by up to two pieces each.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
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

/// Generates a text that may be a URL.
fn any_text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![assembled(), mutated()]
}

/// Generates a form's name and a text of its rule, perhaps with a capital in the scheme.
///
/// A scheme without a rule has at most four random characters, and meets no rule in practice.
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

/// Checks `property` on 4096 inputs, the same in every run.
///
/// # Panics
///
/// Panics with the smallest input that violates the property.
#[track_caller]
fn check_property<S: Strategy>(inputs: S, property: impl Fn(S::Value) -> TestCaseResult) {
    let config = ProptestConfig {
        cases: 4096,
        failure_persistence: None,
        // The default algorithm takes a quarter of these tests' time.
        rng_algorithm: RngAlgorithm::XorShift,
        rng_seed: RngSeed::Fixed(1738),
        ..ProptestConfig::default()
    };
    match TestRunner::new(config).run(&inputs, property) {
        Ok(()) => {}
        Err(TestError::Fail(reason, smallest)) => panic!("{reason}\nof {smallest:?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Returns the names of all forms.
fn names() -> impl Iterator<Item = &'static str> {
    FORMS.iter().flat_map(|(_, names)| *names).copied()
}

/// Formats `input` for a message. Only printable ASCII is not escaped.
pub(crate) fn shown(input: &[u8]) -> String {
    format!("`{}`", input.escape_ascii())
}

#[test]
fn the_grammar_and_its_twin_agree_on_the_form() {
    let seen = RefCell::new(BTreeMap::new());
    check_property(any_text(), |input| {
        let twin = verdict(&input);
        *seen.borrow_mut().entry(twin.form).or_insert(0) += 1;
        agrees(&input, &twin)
    });
    let seen = seen.into_inner();
    assert!(
        names().all(|name| seen.contains_key(&Some(name))),
        "no input has one of the forms: {seen:?}"
    );
    assert!(seen[&None] > 1000, "few inputs were rejected: {seen:?}");
}

#[test]
fn the_twins_agree_on_every_single_edit_of_a_url() {
    for input in SEEDS.split_whitespace().flat_map(edits) {
        let (input, twin) = (input.as_bytes(), verdict(input.as_bytes()));
        let result = agrees(input, &twin)
            .and_then(|()| rejects_there(input, &twin))
            .and_then(|()| prints_back(input));
        result.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Generates the prefixes of `seed`, and all insertions and replacements of one byte by a piece.
fn edits(seed: &'static str) -> impl Iterator<Item = String> {
    let prefixes = (0..seed.len()).map(move |end| seed[..end].to_owned());
    let places = (0..=seed.len()).flat_map(move |at| [(at, at), (at, seed.len().min(at + 1))]);
    let pieces = || {
        ["", " ", "\t", "\u{7F}"]
            .into_iter()
            .chain(PIECES.split_whitespace())
    };
    let spliced = places.flat_map(move |(start, end)| {
        pieces().map(move |piece| [&seed[..start], piece, &seed[end..]].concat())
    });
    prefixes.chain(spliced)
}

fn agrees(input: &[u8], twin: &Verdict) -> TestCaseResult {
    let form = Url::parse(input).ok().map(|url| url.form.name());
    prop_assert_eq!(form, twin.form, "{}", shown(input));
    Ok(())
}

/// Every `ip-schemepart` is also `*xchar`, so such a text may get either form.
#[test]
fn a_text_derived_from_a_rule_has_the_form_of_that_rule() {
    check_property(derived(), |(name, text)| {
        let form = Url::parse(&text).map(|url| url.form.name());
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
fn a_parsed_url_prints_back_and_parses_to_an_equal_value() {
    let parsed = Cell::new(0);
    check_property(
        prop_oneof![any_text(), derived().prop_map(|(_, text)| text)],
        |input| {
            parsed.set(parsed.get() + u32::from(Url::parse(&input).is_ok()));
            prints_back(&input)
        },
    );
    assert!(
        parsed.get() > 1000,
        "few inputs were parsed: {}",
        parsed.get()
    );
}

fn prints_back(input: &[u8]) -> TestCaseResult {
    if let Ok(read) = Url::parse(input) {
        let printed = read.to_string().into_bytes();
        prop_assert_eq!(shown(&printed), shown(input));
        prop_assert_eq!(Url::parse(&printed), Ok(read), "{}", shown(input));
    }
    Ok(())
}

#[test]
fn a_rejection_has_the_offset_where_the_text_stops_being_viable() {
    let (rejected, escapes) = (Cell::new(0), Cell::new(0));
    check_property(any_text(), |input| {
        let twin = verdict(&input);
        if let Err(reject) = Url::parse(&input) {
            rejected.set(rejected.get() + 1);
            escapes.set(escapes.get() + u32::from(reject.offset < twin.viable));
        }
        rejects_there(&input, &twin)
    });
    assert!(rejected.get() > 1000 && escapes.get() > 50);
}

/// Checks that a rejection's offset is `viable`, or the offset of the `%` of an unfinished escape
/// before it.
fn rejects_there(input: &[u8], twin: &Verdict) -> TestCaseResult {
    let Err(reject) = Url::parse(input) else {
        return Ok(());
    };
    let context = format!("{}: {reject:?}, {twin:?}", shown(input));
    prop_assert!(reject.offset <= twin.viable, "{context}");
    let passed = &input[reject.offset..twin.viable];
    let is_escape = reject.kind == RejectKind::BadEscape && matches!(passed, [b'%'] | [b'%', _]);
    prop_assert!(passed.is_empty() || is_escape, "{context}");
    let after = &input[reject.offset..];
    let bad_escape = after.first() == Some(&b'%') && escaped_byte(after).is_none();
    prop_assert!(
        reject.kind != RejectKind::BadEscape || bad_escape,
        "{context}"
    );
    Ok(())
}
