//! The length of files: at most 400 lines, tests included.

use std::fs;
use std::path::Path;

const MAX_LINES: usize = 400;

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
    assert!(
        longer.is_empty(),
        "longer than {MAX_LINES} lines: {longer:?}"
    );
}
