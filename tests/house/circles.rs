//! Circles among files: which file uses which, and the groups of files that use each other.
//!
//! A file may use its entry files (`a.rs` for `a/b.rs`), which hold the types that several files need, and an entry file
//! uses the files of its folder. A name that an entry file re-exports counts as a use of the file that it comes from.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, code, paths, without_tests};

/// The names that lead to a file: `["scan", "trigger"]` for `scan/trigger.rs`.
pub(super) type ModulePath = Vec<String>;

/// Returns each group of two or more files that use each other, directly or through others.
pub(super) fn circles(sources: &[Source]) -> Vec<Vec<String>> {
    let files: BTreeMap<ModulePath, Vec<String>> = sources
        .iter()
        .filter(|source| !source.is_test)
        .map(|source| {
            (
                source.modules.clone(),
                paths(&without_tests(&code(&source.text))),
            )
        })
        .collect();
    let uses: BTreeMap<_, _> = files
        .iter()
        .map(|(file, paths)| (file, used_files(file, paths, &files)))
        .collect();
    let reached: BTreeMap<_, _> = uses
        .keys()
        .map(|file| (*file, reach(file, &uses)))
        .collect();
    let mut found = BTreeSet::new();
    for (file, others) in &reached {
        let circle: Vec<_> = others
            .iter()
            .filter(|other| reached[other].contains(*file))
            .map(|other| other.join("/"))
            .collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// The files that a file uses, its entry files and its own folder left out.
fn used_files(
    file: &ModulePath,
    used: &[String],
    files: &BTreeMap<ModulePath, Vec<String>>,
) -> BTreeSet<ModulePath> {
    used.iter()
        .filter_map(|path| absolute(path, file, files))
        .filter_map(|path| origin(&path, files))
        .filter(|used| !file.starts_with(used) && !used.starts_with(file))
        .collect()
}

/// A path from the crate's root on. `None` if it leads to another crate.
fn absolute(
    path: &str,
    file: &ModulePath,
    files: &BTreeMap<ModulePath, Vec<String>>,
) -> Option<ModulePath> {
    let mut names = path.split("::").map(str::to_owned).peekable();
    let mut modules = match names.peek()?.as_str() {
        "crate" => {
            names.next();
            Vec::new()
        }
        "self" => {
            names.next();
            file.clone()
        }
        "super" => file.clone(),
        child => {
            let mut inner = file.clone();
            inner.push(child.to_owned());
            return files
                .contains_key(&inner)
                .then(|| file.iter().cloned().chain(names).collect());
        }
    };
    while names.next_if(|name| name == "super").is_some() {
        modules.pop()?;
    }
    modules.extend(names);
    Some(modules)
}

/// The file that defines what a path names: the deepest file on it, or the one that this file re-exports the name from.
fn origin(path: &[String], files: &BTreeMap<ModulePath, Vec<String>>) -> Option<ModulePath> {
    let mut path = path.to_vec();
    // A re-export leads one folder down, and folders are not deeper than this.
    for _ in 0..8 {
        let len = (1..=path.len())
            .rev()
            .find(|&len| files.contains_key(&path[..len]))?;
        let (file, rest) = path.split_at(len);
        let Some(name) = rest.first() else {
            return Some(file.to_vec());
        };
        let exported = files[file].iter().find_map(|used| {
            let mut names: Vec<_> = used.split("::").map(str::to_owned).collect();
            if names[0] == "self" {
                names.remove(0);
            }
            let child: Vec<_> = file
                .iter()
                .cloned()
                .chain([names.first()?.clone()])
                .collect();
            let is_export = names.len() > 1 && names.last() == Some(name);
            (is_export && files.contains_key(&child))
                .then(|| file.iter().cloned().chain(names).collect::<Vec<_>>())
        });
        match exported {
            Some(deeper) => path = deeper,
            None => return Some(file.to_vec()),
        }
    }
    None
}

/// All files that can be reached from one by uses.
fn reach(
    file: &ModulePath,
    uses: &BTreeMap<&ModulePath, BTreeSet<ModulePath>>,
) -> BTreeSet<ModulePath> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<_> = uses[file].iter().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next.clone()) {
            open.extend(uses[next].iter());
        }
    }
    reached
}

#[test]
fn circles_are_found_directly_and_through_re_exports() {
    let source = |modules: &[&str], text: &str| Source::for_test(modules, text);
    let entry = source(
        &["a"],
        "mod b; mod c; pub use b::B; pub use c::C; struct Both;",
    );
    let circle = |b: &str, c: &str| {
        circles(&[
            source(&["a"], &entry.text),
            source(&["a", "b"], b),
            source(&["a", "c"], c),
        ])
    };
    let both = [["a/b".to_owned(), "a/c".to_owned()].to_vec()];
    assert_eq!(circle("use super::c::C;", "use super::b::B;"), both);
    assert_eq!(circle("use super::C;", "use crate::a::B;"), both);
    assert!(circle("use super::Both;", "use super::{Both, b::B};").is_empty());
    let in_tests = "#[cfg(test)] mod tests { use super::super::c::C; }";
    assert!(circle(in_tests, "use super::B;").is_empty());
}
