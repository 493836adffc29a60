//! Checks that statements about files in the documents are true.

mod commands;
mod exit_codes;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Returns all files below a folder, as paths from the root of the repository.
fn files_below(folder: &str) -> Vec<PathBuf> {
    let files = crate::scene::files(&root().join(folder));
    assert!(!files.is_empty(), "{folder} has no files");
    files
        .iter()
        .map(|path| path.strip_prefix(root()).unwrap().to_owned())
        .collect()
}

#[test]
fn each_source_file_says_what_it_is_for_in_its_first_line() {
    let sources = files_below("src").into_iter();
    let silent: Vec<_> = sources
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .filter(|path| {
            !fs::read_to_string(root().join(path))
                .unwrap()
                .starts_with("//! ")
        })
        .collect();
    assert!(
        silent.is_empty(),
        "no `//!` in the first line of {silent:?}"
    );
}

/// Windows cannot check out names with these characters. Tests create such files at run time.
#[test]
fn every_file_has_a_name_that_windows_allows() {
    let folders = "config corpus docs examples packaging python src tests".split(' ');
    let mut files = folders.flat_map(files_below);
    let refused = |path: &PathBuf| {
        let name = path.to_str().unwrap();
        name.contains(|c: char| c.is_control() || r#"<>:"\|?*"#.contains(c))
            || name.split('/').any(|part| part.ends_with(['.', ' ']))
    };
    assert_eq!(files.find(refused), None);
}

/// Returns the paths of this repository in backticks: relative, with a slash and the extension of a
/// text or source file.
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
        ("docs/watch.md", ""),
        ("docs/grammar.md", ""),
        ("docs/limits.md", ""),
        ("docs/load.md", ""),
        ("docs/evidence/joins.md", ""),
        ("docs/evidence/performance.md", ""),
        ("docs/python.md", ""),
        ("docs/recipes.md", ""),
        ("docs/extract.md", ""),
        ("tests/tools/README.md", "tests/tools"),
    ];
    let mut found = 0;
    for (page, folder) in pages {
        for path in quoted_paths(&read(page)) {
            found += 1;
            let exists = root().join(folder).join(path).exists() || root().join(path).exists();
            // ARCHITECTURE leaves out `crates` and `src`.
            let in_crate = path.split_once('/').is_some_and(|(name, rest)| {
                root()
                    .join("crates")
                    .join(name)
                    .join("src")
                    .join(rest)
                    .exists()
            });
            let exists = exists || page == "ARCHITECTURE.md" && in_crate;
            assert!(exists, "{page} names {path}, which does not exist");
        }
    }
    assert!(found > 100, "only {found} paths were found");
}
