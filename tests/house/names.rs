//! Names of types: each stands for one type of the crate.

use std::collections::BTreeMap;

use super::source::{Source, code, without_tests, words};

/// Returns each name that two or more types have, with their files.
pub(super) fn shared_names(sources: &[Source]) -> Vec<(String, Vec<String>)> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        for name in type_names(&without_tests(&code(&source.text))) {
            files
                .entry(name)
                .or_default()
                .push(source.modules.join("/"));
        }
    }
    files
        .into_iter()
        .filter(|(_, files)| files.len() > 1)
        .collect()
}

/// The types and traits that the code defines. An associated type, in braces, is none.
fn type_names(code: &str) -> Vec<String> {
    let words = words(code);
    let mut depth = 0_usize;
    let mut names = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_definition = match *word {
            "{" => {
                depth += 1;
                false
            }
            "}" => {
                depth = depth.saturating_sub(1);
                false
            }
            "struct" | "enum" | "trait" | "union" => true,
            "type" => depth == 0,
            _ => false,
        };
        let name = words
            .get(at + 1)
            .filter(|name| is_definition && name.starts_with(|c: char| c.is_ascii_uppercase()));
        names.extend(name.map(|name| (*name).to_owned()));
    }
    names
}

#[test]
fn a_name_of_two_types_is_found() {
    let source = |name: &str, text: &str| Source::for_test(&[name], text);
    let shared = |a: &str, b: &str| shared_names(&[source("a", a), source("b", b)]);
    let both = [("Batch".to_owned(), vec!["a".to_owned(), "b".to_owned()])];
    for (a, b) in [
        ("struct Batch;", "pub(super) enum Batch {}"),
        ("pub trait Batch {}", "type Batch = u8;"),
        ("fn f() { struct Batch; }", "struct Batch<T>(T);"),
    ] {
        assert_eq!(shared(a, b), both, "{a} {b}");
    }
    for (a, b) in [
        ("struct Batch;", "use a::Batch; impl Batch {}"),
        ("struct Batch;", "impl T for U { type Batch = u8; }"),
        ("struct Batch;", "#[cfg(test)] mod tests { struct Batch; }"),
        ("struct Batch;", "// struct Batch"),
    ] {
        assert!(shared(a, b).is_empty(), "{a} {b}");
    }
}
