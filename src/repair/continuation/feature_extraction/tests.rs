//! Tests of single features on small texts.

use crate::repair::continuation::tests::{FULL, check, features};

/// The names of the features of the first continuation of `url` in `text`.
fn features_at(text: &str, url: &str) -> Vec<&'static str> {
    let at = text.find(url).unwrap();
    let head = crate::span::Span::new(at, at + url.len());
    crate::repair::continuation::line_break_evidence(text.as_bytes(), head)[0]
        .features
        .iter()
        .map(crate::repair::continuation::features::Feature::name)
        .collect()
}

#[test]
fn a_line_that_was_cut_twice_is_as_long_as_it_was_before() {
    let head = "http://a.example/minutes/of/the/working/group/on/long/names/whi";
    // 76 columns, then 72 with the quote mark.
    check(&format!(
        "> «{head}ch-nobo»¶> «dy-rea»¶> «d/from-2004-to-2007»¶"
    ));
    check(&format!(
        "> «{head}ch-nobo»¶«dy-rea»¶> «d/from-2004-to-2007»¶"
    ));
    // A word could begin a sentence.
    check(&format!(
        "> «{head}ch-nobo»¶> «dy-rea»¶> ‹thanks› are due to him"
    ));
    // One column less.
    let names = features(&format!("{head}ch-no\nbody-rea\nd/from-2004"));
    assert!(!names.contains(&"cut-column"));
}

#[test]
fn a_query_awaits_the_identifier_of_a_commit() {
    let head = "https://git.a.example/minutes/commit/";
    let commit = "0123456789abcdef0123456789abcdef01234567";
    check(&format!("«{head}?id=»¶«{commit}» is wrong"));
    check(&format!("«{head}?»¶«id={commit}» is wrong"));
    check(&format!(
        "«{head}?h=next&»¶«id={commit}{}» is wrong",
        &commit[16..]
    ));
    let awaits = |rest: &str| features(&format!("{head}{rest}")).contains(&"awaits-commit");
    assert!(awaits(&format!("?id=\n{commit}.")));
    assert!(!awaits(&format!("?id=\n{commit}a")));
    assert!(!awaits(&format!("?\n{commit}")));
    assert!(!awaits(&format!("id=\n{commit}")));
}

#[test]
fn a_full_line_that_ends_with_a_slash_is_continued_by_a_compound_word() {
    for token in [
        "ticket/2085",
        "Notes/Working/Group",
        "minutes-of-the-2nd",
        "minutes.html,",
    ] {
        let end = token.trim_end_matches(',');
        let rest = &token[end.len()..];
        check(&format!("the group, see «{FULL}»¶«{end}{rest}» and so on"));
    }
    let compound = |text: &str| features(text).contains(&"tok-compound");
    assert!(!compound(&format!("{FULL}\nclient/server is")));
    assert!(!compound(&format!("{FULL}\nwell-known is")));
    assert!(!compound(&format!("{FULL}\na/1.txt\na/2.txt")));
    assert!(!compound("http://a.example/minutes/\nticket/2085 is"));
}

#[test]
fn blanks_at_line_ends_show_where_a_program_broke_them() {
    let lines = "All the minutes of the working group, or what is left of  ¶them, are in the archive, which nobody has read before  ¶";
    let plain = lines.replace("  ¶", "¶");
    let url = "http://www.a.example/archives/of/the/working/";
    check(&format!("{lines}us: «{url}» ¶«group/2004» and so on."));
    check(&format!("{lines}us: «{url}»  ¶group/2004 and so on."));
    check(&format!("{plain}us: «{url}» ¶‹group/2004› and so on."));
    // Most lines were broken at blanks by a program that adds none.
    let flowed = lines.replace("  ¶", " ¶");
    check(&format!(
        "{flowed}{lines}{flowed}us: «{url}» ¶‹group/2004› and so on."
    ));
}

#[test]
fn a_line_of_quote_marks_ends_a_paragraph_of_soft_blanks() {
    let lines = "> All the minutes of the working group, or what is left of  \n> them, are in the archive, which nobody has read before  \n";
    let url = "http://www.a.example/archives/of/the/working/";
    let names =
        |between: &str| features_at(&format!("{lines}> {url} \n{between}> group/2004\n"), url);
    assert!(names("").contains(&"soft-blank"));
    assert!(!names(">\n").contains(&"soft-blank"));
}

#[test]
fn a_soft_hyphen_is_removed() {
    let text = "http://a.example/archives/of/min\u{AD}\nutes/index.html";
    assert!(features(text).contains(&"head-soft"));
    let head = crate::span::Span::new(0, text.find('\n').unwrap());
    assert_eq!(
        crate::repair::continuation::continuations(text.as_bytes(), head)[0].dropped,
        2
    );
}

#[test]
fn a_host_is_continued_by_its_domain_or_port() {
    check(
        "the aims and members of the working group are at «http://www.group.ac.»¶«uk/aims/2004» now",
    );
    check("the aims of the working group are at «http://www.group.com.»¶‹it/he› are");
    check("\"«http://localhost»¶«:8080/minutes/»\" is");
    check("\"«http://localhost:80»¶:8080/minutes/\" is");
}

#[test]
fn an_extension_is_completed_after_one_that_is_shorter() {
    check(&format!("«{FULL}minutes.h»¶«tm.» The"));
    check(&format!("«{FULL}minutes.htm»¶«l»¶"));
    check(&format!("«{FULL}minutes.h»¶the list"));
}
