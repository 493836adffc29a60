//! The length of files: at most 400 lines, tests included.

use std::fs;
use std::path::Path;

const MAX_LINES: usize = 400;

/// Files that are longer and wait to be divided. A file that is no longer too long must leave this list.
const LONGER: &[&str] = &["src/split/block_reader.rs", "tests/daemon/history.rs"];

#[test]
fn no_file_is_longer_than_400_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut longer = Vec::new();
    let mut count = 0;
    for folder in ["src", "tests", "benches", "examples"] {
        for path in crate::scene::files(&root.join(folder)) {
            if path.extension().is_some_and(|end| end == "rs") {
                count += 1;
                if fs::read_to_string(&path).unwrap().lines().count() > MAX_LINES {
                    longer.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
    }
    assert!(count > 100, "only {count} files were found");
    longer.sort();
    assert_eq!(longer, LONGER);
}
