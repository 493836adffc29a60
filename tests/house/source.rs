//! Rust source as far as the rules need it: files, code without comments and literals, words, paths.

use std::fs;
use std::path::{Path, PathBuf};

/// A file of `src`.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Its name without the ending.
    pub(super) name: String,
    /// The module of `lib.rs` that it belongs to.
    pub(super) module: String,
    /// The names that lead to it: `["scan", "trigger"]` for `scan/trigger.rs`.
    pub(super) modules: Vec<String>,
    /// The number of those names: 1 for `scan.rs`, 2 for `scan/trigger.rs`.
    pub(super) depth: usize,
    /// `true` if it holds the tests of another file.
    pub(super) is_test: bool,
}

/// All sources beneath a folder but `lib.rs`.
pub(super) fn all(src: &Path) -> Vec<Source> {
    let rust = crate::scene::files(src)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"));
    rust.filter(|path| path != &src.join("lib.rs"))
        .map(|path| read(src, path))
        .collect()
}

fn read(src: &Path, path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).unwrap();
    let below = path.strip_prefix(src).unwrap().with_extension("");
    let names: Vec<_> = below
        .iter()
        .map(|name| name.to_str().unwrap().to_owned())
        .collect();
    let name = names[names.len() - 1].clone();
    Source {
        text,
        module: names[0].clone(),
        depth: names.len(),
        is_test: name == "tests" || name.starts_with("test_"),
        name,
        modules: names,
        path,
    }
}

impl Source {
    /// A file that is only in memory.
    pub(super) fn for_test(modules: &[&str], text: &str) -> Source {
        let modules: Vec<_> = modules.iter().map(|&name| name.to_owned()).collect();
        Source {
            path: modules.iter().collect(),
            text: text.to_owned(),
            name: modules[modules.len() - 1].clone(),
            module: modules[0].clone(),
            depth: modules.len(),
            modules,
            is_test: false,
        }
    }
}

/// The text without comments, and with nothing in its string and character literals.
pub(super) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => string(rest),
            'r' if !code.ends_with(is_word) || code.ends_with('b') => raw_string(rest),
            '\'' => character(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the string literal that begins here.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The length of the raw string literal that begins here; 0 if none does.
fn raw_string(text: &str) -> usize {
    let marks = text[1..].bytes().take_while(|&byte| byte == b'#').count();
    if !text[1 + marks..].starts_with('"') {
        return 0;
    }
    let close = format!("\"{}", "#".repeat(marks));
    let content = marks + 2;
    text[content..]
        .find(&close)
        .map_or(text.len(), |end| content + end + close.len())
}

/// The length of the character literal that begins here; 0 if it is a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(text.len(), |end| end + 4),
        Some(_) => chars
            .next()
            .filter(|(_, c)| *c == '\'')
            .map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

/// The code without the items that are for tests alone.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        rest = &rest[item(rest)..];
    }
    kept + rest
}

/// The length of the item that begins here: up to its `;`, or the brace that closes its first one.
fn item(code: &str) -> usize {
    let mut open = 0;
    for (at, c) in code.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 && matches!(c, ';' | '}') {
            return at + 1;
        }
    }
    code.len()
}

/// Identifiers, `::`, and every other sign by itself.
pub(super) fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(c) = rest.chars().next() {
        let len = match rest.find(|c| !is_word(c)).unwrap_or(rest.len()) {
            0 if rest.starts_with("::") => 2,
            0 => c.len_utf8(),
            len => len,
        };
        words.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    words
}

/// Every path in the code, groups written out: `a::{b, c::d}` is `a::b` and `a::c::d`.
pub(super) fn paths(code: &str) -> Vec<String> {
    let words = words(code);
    let mut found = Vec::new();
    // The path before each open brace; empty if the brace opens no group.
    let mut open: Vec<String> = Vec::new();
    let mut path = String::new();
    let mut at = 0;
    while let Some(&word) = words.get(at) {
        let next = words.get(at + 1).copied().unwrap_or_default();
        match word {
            "::" | "use" => {}
            "as" => at += 1,
            "{" => open.push(std::mem::take(&mut path)),
            "}" => drop(open.pop()),
            _ if word.starts_with(is_word) => {
                if path.is_empty() {
                    path.extend(open.last().map(String::as_str));
                }
                path.push_str(word);
                let goes_on = words
                    .get(at + 2)
                    .is_some_and(|after| after.starts_with(is_word) || *after == "{");
                if next == "::" && goes_on {
                    path.push_str("::");
                } else {
                    found.push(std::mem::take(&mut path));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[test]
fn only_code_is_code() {
    let text = "a /* b */ \"c\\\"d\" 'e' '\\'' r#\"f\"g\"# br\"h\" &'i j // k\nl";
    assert_eq!(words(&code(text)), ["a", "b", "&", "'", "i", "j", "l"]);
}

#[test]
fn groups_are_written_out() {
    assert_eq!(
        paths("use a::{b, c::{d, e as f}, g::*}; h::<i>(j::k) { l }"),
        ["a::b", "a::c::d", "a::c::e", "a::g", "h", "i", "j::k", "l"]
    );
}
