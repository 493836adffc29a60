//! The documents against the sources: what a page says of files must be true.

mod commands;
mod exit_codes;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// All files beneath a folder, as paths from the root of the repository.
fn files_beneath(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    assert!(!files.is_empty(), "{folder} has no files");
    files
}

/// The files that have a row of their own in a table, between backticks in its first column.
fn files_with_a_row(page: &str) -> BTreeSet<&str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` | "))
        .map(|(file, _)| file)
        .filter(|file| file.ends_with(".rs"))
        .collect()
}

#[test]
fn the_architecture_has_one_row_for_each_source_file() {
    let page = read("ARCHITECTURE.md");
    let in_page = files_with_a_row(&page);
    let sources: Vec<_> = files_beneath("src")
        .iter()
        .map(|file| {
            file.strip_prefix("src")
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .filter(|file| !file.ends_with("tests.rs"))
        .collect();
    let in_src: BTreeSet<_> = sources.iter().map(String::as_str).collect();
    let missing: Vec<_> = in_src.difference(&in_page).collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md has no row for {missing:?}"
    );
    let unknown: Vec<_> = in_page.difference(&in_src).collect();
    assert!(
        unknown.is_empty(),
        "ARCHITECTURE.md has rows for files that do not exist: {unknown:?}"
    );
}

#[test]
fn the_readme_is_a_first_page() {
    let lines = read("README.md").lines().count();
    assert!(
        lines <= 200,
        "README.md has {lines} lines; details belong into docs/"
    );
}

/// Paths of this repository between backticks: relative, with a slash and an ending of a text or source file.
fn quoted_paths(page: &str) -> Vec<&str> {
    let ends = [
        ".rs", ".md", ".py", ".sh", ".toml", ".txt", ".eml", ".mbox", ".service",
    ];
    let quoted = page
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted
        .filter(|text| {
            !text.starts_with('/')
                && text.contains('/')
                && !text.contains(|c: char| " {*$~".contains(c))
        })
        .filter(|text| ends.iter().any(|end| text.ends_with(end)))
        .collect()
}

#[test]
fn files_named_in_documents_exist() {
    let pages = [
        ("ARCHITECTURE.md", "src"),
        ("CONTRIBUTING.md", ""),
        ("README.md", ""),
        ("SECURITY.md", ""),
        ("corpus/README.md", "corpus"),
        ("docs/appendix.md", ""),
        ("docs/audit.md", ""),
        ("docs/components.md", ""),
        ("docs/daemon.md", ""),
        ("docs/grammar.md", ""),
        ("docs/limits.md", ""),
        ("docs/loading.md", ""),
        ("docs/performance.md", ""),
        ("docs/python.md", ""),
        ("docs/recipes.md", ""),
        ("tests/tools/README.md", "tests/tools"),
    ];
    let mut found = 0;
    for (page, folder) in pages {
        for path in quoted_paths(&read(page)) {
            found += 1;
            let exists = root().join(folder).join(path).exists() || root().join(path).exists();
            assert!(exists, "{page} names {path}, which does not exist");
        }
    }
    assert!(found > 100, "only {found} paths were found");
}
