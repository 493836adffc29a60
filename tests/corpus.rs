//! The fixtures: golden output, copies with CRLF, and the URLs that a careful reader expects.
//!
//! `URLSPOOL_BLESS=1 cargo test --test tests golden` rewrites the golden output.

mod expected;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

use serde_json::Value;

use self::expected::{Difference, gaps};
use crate::scene::{self, Ended, Folder, corpus, done, lines, names, url};

/// Folders in which each file and each folder is one case.
const CASE_FOLDERS: &[&str] = &["mail", "pages", "text"];

/// Folder that is one case, because it is one spool.
const SPOOL: &str = "news";

/// A file in wire format, with CRLF.
const WIRE: &str = "news/comp/infosystems/www/3";

/// Files without a CRLF copy: one in wire format, and one with borders by Content-Length.
const UNCHANGED: &[&str] = &[WIRE, "mail/netscape.mbox"];

/// Folder of binary files, tested by `read_documents`.
const DOCUMENTS: &str = "documents/";

/// Returns the paths to scan, one scan each.
fn cases() -> Vec<String> {
    let in_folders = CASE_FOLDERS.iter().flat_map(|folder| {
        let names = names(&corpus().join(folder));
        assert!(!names.is_empty(), "no cases in {folder}");
        names
            .into_iter()
            .map(move |name| format!("{folder}/{name}"))
    });
    in_folders.chain([SPOOL.to_owned()]).collect()
}

/// Returns the output of each case's scan, in order. All tests share it.
fn scanned() -> &'static [(String, Ended)] {
    static SCANNED: LazyLock<Vec<(String, Ended)>> = LazyLock::new(|| {
        let scan = |case: String| {
            let ended = done(&["scan", &case]);
            (case, ended)
        };
        cases().into_iter().map(scan).collect()
    });
    &SCANNED
}

/// Returns the records of the cases, by path.
fn found() -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<_, Vec<Value>> = BTreeMap::new();
    for record in scanned().iter().flat_map(|(_, ended)| ended.records()) {
        found
            .entry(record["source"]["path"].as_str().unwrap().to_owned())
            .or_default()
            .push(record);
    }
    found
}

#[test]
fn golden() {
    let bless = env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1");
    let mut differences = Vec::new();
    for (case, ended) in scanned() {
        let path = corpus().join("golden").join(format!("{case}.golden.jsonl"));
        let got = &ended.stdout;
        if bless {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, got).unwrap();
            continue;
        }
        let want = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        differences.extend(different(case, &lines(&want), &lines(got)));
        assert!(
            !differences.is_empty() || want == *got,
            "{case}: the values are the same, the bytes are not"
        );
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns the differences between the records of a case, field by field.
fn different(case: &str, want: &[Value], got: &[Value]) -> Vec<String> {
    let mut differences = Vec::new();
    if want.len() != got.len() {
        differences.push(format!(
            "{case}: {} records, want {}",
            got.len(),
            want.len()
        ));
    }
    for (want, got) in want.iter().zip(got) {
        let keys = want
            .as_object()
            .into_iter()
            .chain(got.as_object())
            .flat_map(serde_json::Map::keys);
        for key in keys.collect::<std::collections::BTreeSet<_>>() {
            if want.get(key) != got.get(key) {
                let show =
                    |value: &Value| value.get(key).map_or("absent".to_owned(), Value::to_string);
                differences.push(format!(
                    "{case}: {}: {key} is {}, want {}",
                    url(want),
                    show(got),
                    show(want)
                ));
            }
        }
    }
    differences
}

/// A golden file without a case would never be compared again.
#[test]
fn every_golden_file_has_its_case() {
    let cases = cases();
    for folder in CASE_FOLDERS.iter().copied().chain([""]) {
        for entry in fs::read_dir(corpus().join("golden").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if let Some(case) = name.strip_suffix(".golden.jsonl") {
                let case = Path::new(folder)
                    .join(case)
                    .into_os_string()
                    .into_string()
                    .unwrap();
                assert!(cases.contains(&case), "{case} is not a case any more");
            }
        }
    }
}

/// Returns the values of a record that do not depend on line ends. They include `id`, because equal
/// mail has equal identifiers.
fn values_without_line_ends(record: &Value) -> [String; 6] {
    ["id", "url", "fragment", "wrapper", "region"]
        .map(|key| record[key].to_string())
        .into_iter()
        .chain([record["message"]["id"].to_string()])
        .collect::<Vec<_>>()
        .try_into()
        .unwrap()
}

#[test]
fn a_copy_with_crlf_has_the_same_urls() {
    let folder = Folder::new();
    for file in scene::files(&corpus()) {
        let name = file.strip_prefix(corpus()).unwrap().to_str().unwrap();
        let text = fs::read(&file).unwrap();
        let copy = if UNCHANGED.contains(&name) || name.starts_with(DOCUMENTS) {
            text
        } else {
            with_crlf(&text)
        };
        folder.write(name, copy);
    }
    for (case, ended) in scanned() {
        let plain = ended.records();
        let copy = scene::ended(
            scene::urlspool(["scan", case]).current_dir(folder.root()),
            b"",
        )
        .records();
        let (plain, copy): (Vec<_>, Vec<_>) = (
            plain.iter().map(values_without_line_ends).collect(),
            copy.iter().map(values_without_line_ends).collect(),
        );
        assert_eq!(plain, copy, "{case}");
    }
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    assert!(!text.contains(&b'\r'), "the file has CR already");
    text.split_inclusive(|&byte| byte == b'\n')
        .flat_map(|line| match line.strip_suffix(b"\n") {
            Some(line) => [line, b"\r\n"].concat(),
            None => line.to_vec(),
        })
        .collect()
}

#[test]
fn the_target_of_a_redirector_names_its_record() {
    let found = found();
    let records: Vec<_> = found.values().flatten().collect();
    let children: Vec<_> = records
        .iter()
        .filter(|record| !record["unwrapped_from"].is_null())
        .collect();
    assert!(!children.is_empty());
    for child in children {
        let is_parent = |record: &&&Value| record["id"] == child["unwrapped_from"];
        let parent = records
            .iter()
            .find(is_parent)
            .unwrap_or_else(|| panic!("no parent: {child}"));
        assert_eq!(parent["source"], child["source"], "{child}");
        assert_ne!(url(parent), url(child));
    }
}

/// Hosts with `-never` mark places without a URL.
#[test]
fn no_url_is_found_in_places_without_urls() {
    let gaps = gaps();
    let known = |url: &str| {
        gaps.iter()
            .any(|(_, difference, known)| *difference == Difference::Surplus && known == url)
    };
    let found = found();
    let wrong: Vec<_> = found
        .values()
        .flatten()
        .map(url)
        .filter(|url| url.contains("-never") && !known(url))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The confidences of a URL and of the alternate readings of its place are parts of one
/// probability. They are rounded to three digits.
#[test]
fn the_readings_of_a_place_add_up_to_at_most_1() {
    let folder = Folder::new();
    // Each word ends a full line and may continue on the next.
    let heads = ["a-b-", "a/b/", "a.b.", "a_b", "A1", "a%2", "x=1&y"];
    let tails = [
        "c/d.html",
        "c",
        "C2",
        "-d",
        "c d",
        "http://e.example/",
        ".html and",
    ];
    let mut text = String::new();
    for (n, head) in heads.iter().enumerate() {
        for (m, tail) in tails.iter().enumerate() {
            let filled = "p/".repeat(20);
            let indent = ["", "  ", "> "][(n + m) % 3];
            for url in [
                format!("http://h{n}{m}.example/{filled}"),
                format!("www.h{n}{m}.example/{filled}"),
            ] {
                text += &format!(
                    "{indent}{url}{head}\n{indent}{tail}-\n{indent}{tail}\n\n\
                     The prose around it fills its line to the end of it, as here.\n\n"
                );
            }
        }
    }
    let generated = folder.file("generated", text);
    let mut paths: Vec<_> = ["mail", "news", "text"]
        .iter()
        .map(|name| corpus().join(name).display().to_string())
        .collect();
    paths.push(generated);
    let paths = paths.iter().map(String::as_str);
    let scan = done(&["scan"].into_iter().chain(paths).collect::<Vec<_>>());
    let mut doubtful = 0;
    for record in scan.records() {
        let of = |reading: &Value| reading["confidence"].as_f64().unwrap();
        let alternates = record["alternates"].as_array().unwrap();
        let sum = of(&record) + alternates.iter().map(of).sum::<f64>();
        let rounding = 0.0005 + alternates.iter().map(|_| 0.0005).sum::<f64>();
        assert!(
            0.0 < of(&record) && sum <= 1.0 + rounding,
            "{sum}: {record}"
        );
        doubtful += usize::from(!alternates.is_empty());
    }
    assert!(50 < doubtful, "{doubtful}");
}
