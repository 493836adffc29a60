//! The fixtures: their golden output, their copies with CRLF, and the URLs that a careful reader expects in them.
//!
//! `URLSPOOL_BLESS=1 cargo test --test tests golden` rewrites the golden output.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;

use crate::scene::{self, Folder, corpus, done, lines, names, url};

/// A known difference between the program and `EXPECTED.tsv`.
struct Gap {
    path: &'static str,
    difference: Difference,
    url: &'static str,
    #[expect(dead_code, reason = "documents the gap")]
    reason: &'static str,
}

/// Direction of a difference between the expected and the found URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// A URL is expected and not found.
    Missing,
    /// A URL is found and not expected.
    Surplus,
}

/// The known differences. The test fails when a difference disappears, so that its row is removed.
const GAPS: &[Gap] = &[
    Gap {
        path: "mail/flowed.eml",
        difference: Difference::Missing,
        url: "http://fw08.example/deep/",
        reason: "RFC 3676 section 4.5: a line of another quote depth ends the paragraph; the break is undone as a mailer's",
    },
    Gap {
        path: "mail/flowed.eml",
        difference: Difference::Surplus,
        url: "http://fw08.example/deep/less.html",
        reason: "as above",
    },
    Gap {
        path: "text/broken.txt",
        difference: Difference::Surplus,
        url: "http://o02.example/institute/photographs/candlelightsan",
        reason: "doubtful, and open in EXPECTED.tsv: the head, with the join as an alternate",
    },
    Gap {
        path: "text/ftp-locations.txt",
        difference: Difference::Missing,
        url: "ftp://ftp.g15.example/pub/lamps",
        reason: "a blank ends a bare URL, also one before the address of the host",
    },
    Gap {
        path: "text/ftp-locations.txt",
        difference: Difference::Surplus,
        url: "ftp://ftp.g15.example",
        reason: "as above",
    },
    Gap {
        path: "text/hosts.txt",
        difference: Difference::Missing,
        url: "http://www-lamps.f21.example/~jane",
        reason: "only numbers are read between www and the dot",
    },
    Gap {
        path: "mail/attributes.eml",
        difference: Difference::Missing,
        url: "http://at13.example/x",
        reason: "residue of quoted-printable is decoded in plain text only: a page would have to be decoded before it is tokenised",
    },
    Gap {
        path: "text/hidden-at.txt",
        difference: Difference::Missing,
        url: "ftp://jane@ha14.example/x",
        reason: "before the host of a location, `at` may be prose after a missing bracket; the blank is removed, with a confidence of 0.3",
    },
    Gap {
        path: "text/hidden-at.txt",
        difference: Difference::Surplus,
        url: "ftp://janeatha14.example/x",
        reason: "as above",
    },
    Gap {
        path: "text/markup.txt",
        difference: Difference::Missing,
        url: "http://ma23.example/dir/",
        reason: "after a slash, hiragana may begin a segment of the path",
    },
    Gap {
        path: "text/markup.txt",
        difference: Difference::Surplus,
        url: "http://ma23.example/dir/に移動",
        reason: "as above",
    },
    Gap {
        path: "text/markup.txt",
        difference: Difference::Missing,
        url: "http://ma24.example/x/",
        reason: "bold type is looked for in the line of the URL only",
    },
    Gap {
        path: "text/markup.txt",
        difference: Difference::Surplus,
        url: "http://ma24.example/x/*",
        reason: "as above",
    },
    Gap {
        path: "text/refused.txt",
        difference: Difference::Missing,
        url: "http://ra21.example",
        reason: "a colon before letters looks like a placeholder for a port",
    },
    Gap {
        path: "text/residue.txt",
        difference: Difference::Missing,
        url: "http://www.qr15.example/x",
        reason: "a host with an escape is rejected before residue is looked for",
    },
    Gap {
        path: "text/joins.txt",
        difference: Difference::Missing,
        url: "mailto:jane.lampwick@jd09.example.com",
        reason: "an address broken after its at sign is rejected before the next line is read",
    },
    Gap {
        path: "text/wrappers.txt",
        difference: Difference::Surplus,
        url: "URN:none",
        reason: "RFC 2141 wants urn:NID:NSS; the program takes any name of the table in angle brackets",
    },
];

/// Folders of which each file and each folder is one case.
const CASE_FOLDERS: &[&str] = &["mail", "text"];

/// A folder that is one case, because it is one spool.
const SPOOL: &str = "news";

/// A file in wire format, with CRLF.
const WIRE: &str = "news/comp/infosystems/www/3";

/// Files that have no copy with CRLF: the file in wire format, and one whose borders are where Content-Length fields lead.
const UNCHANGED: &[&str] = &[WIRE, "mail/netscape.mbox"];

/// The paths that are scanned, one scan for each.
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

/// The records of the cases, by path.
fn found() -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<_, Vec<Value>> = BTreeMap::new();
    for record in cases()
        .iter()
        .flat_map(|case| done(&["scan", case]).records())
    {
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
    for case in cases() {
        let path = corpus().join("golden").join(format!("{case}.golden.jsonl"));
        let got = done(&["scan", &case]).stdout;
        if bless {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &got).unwrap();
            continue;
        }
        let want = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        differences.extend(different(&case, &lines(&want), &lines(&got)));
        assert!(
            !differences.is_empty() || want == got,
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

/// Returns the values of a record that do not depend on line ends, `id` included: equal mail gives equal identifiers.
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
fn a_copy_with_crlf_gives_the_same_urls() {
    let folder = Folder::new();
    for file in scene::files(&corpus()) {
        let name = file.strip_prefix(corpus()).unwrap().to_str().unwrap();
        let text = fs::read(&file).unwrap();
        let copy = if UNCHANGED.contains(&name) {
            text
        } else {
            with_crlf(&text)
        };
        folder.write(name, copy);
    }
    for case in cases() {
        let plain = done(&["scan", &case]).records();
        let copy = scene::ended(
            scene::urlspool(["scan", &case]).current_dir(folder.root()),
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

/// A row of `EXPECTED.tsv`.
struct Expected {
    url: String,
    /// `true` if a careful reader may disagree.
    doubtful: bool,
}

fn expected() -> BTreeMap<String, Vec<Expected>> {
    let mut expected: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let table = fs::read_to_string(corpus().join("EXPECTED.tsv")).unwrap();
    for line in table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
    {
        let [path, url, note] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            panic!("not a row: {line}")
        };
        let row = Expected {
            url: url.to_owned(),
            doubtful: note.contains("doubt:"),
        };
        expected.entry(path.to_owned()).or_default().push(row);
    }
    assert!(
        expected.len() > 20,
        "EXPECTED.tsv is about {} files only",
        expected.len()
    );
    expected
}

/// Returns the missing and the surplus URLs, by the longest common subsequence. A doubtful row is never missing.
fn differences<'a>(want: &'a [Expected], got: &'a [String]) -> Vec<(Difference, &'a str)> {
    let mut common = vec![vec![0; got.len() + 1]; want.len() + 1];
    for i in (0..want.len()).rev() {
        for j in (0..got.len()).rev() {
            common[i][j] = if want[i].url == got[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < want.len() || j < got.len() {
        if i < want.len() && j < got.len() && want[i].url == got[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == got.len() || i < want.len() && common[i + 1][j] >= common[i][j + 1] {
            if !want[i].doubtful {
                found.push((Difference::Missing, want[i].url.as_str()));
            }
            i += 1;
        } else {
            found.push((Difference::Surplus, got[j].as_str()));
            j += 1;
        }
    }
    found
}

#[test]
fn expected_urls_are_found_except_for_the_known_gaps() {
    let (expected, found) = (expected(), found());
    let mut seen = Vec::new();
    for path in expected
        .keys()
        .chain(found.keys().filter(|path| !expected.contains_key(*path)))
    {
        // The target of a redirector has a record of its own, but no author wrote it.
        let written = found
            .get(path)
            .into_iter()
            .flatten()
            .filter(|record| record["unwrapped_from"].is_null());
        let got: Vec<_> = written.map(url).collect();
        let want = expected.get(path).map_or(&[][..], Vec::as_slice);
        seen.extend(
            differences(want, &got)
                .into_iter()
                .map(|(difference, url)| (path.clone(), difference, url.to_owned())),
        );
    }
    let known: Vec<_> = GAPS
        .iter()
        .map(|gap| (gap.path.to_owned(), gap.difference, gap.url.to_owned()))
        .collect();
    let new: Vec<_> = seen
        .iter()
        .filter(|difference| !known.contains(difference))
        .collect();
    assert!(new.is_empty(), "differs from EXPECTED.tsv: {new:#?}");
    let gone: Vec<_> = known.iter().filter(|gap| !seen.contains(gap)).collect();
    assert!(
        gone.is_empty(),
        "these gaps are closed, so remove their rows from GAPS: {gone:#?}"
    );
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
fn no_url_is_found_where_there_is_none() {
    let known = |url: &str| {
        GAPS.iter()
            .any(|gap| gap.difference == Difference::Surplus && gap.url == url)
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

#[test]
fn differences_are_missing_and_surplus_urls() {
    let row = |url: &str, doubtful| Expected {
        url: url.to_owned(),
        doubtful,
    };
    let want = [
        row("a", false),
        row("b", false),
        row("c", true),
        row("d", false),
    ];
    let got = |urls: &[&str]| urls.iter().map(|&url| url.to_owned()).collect::<Vec<_>>();
    assert!(differences(&want, &got(&["a", "b", "d"])).is_empty());
    assert_eq!(
        differences(&want, &got(&["a", "c", "x", "d"])),
        [(Difference::Missing, "b"), (Difference::Surplus, "x")]
    );
    assert_eq!(differences(&want, &got(&["b", "a", "c", "d"])).len(), 2);
}
