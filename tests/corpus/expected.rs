//! The expected URLs of the corpus, and its known gaps.

use std::collections::BTreeMap;
use std::fs;

use super::found;
use crate::scene::{corpus, url};

/// A known difference between the program and `EXPECTED.tsv`.
pub(super) struct Gap {
    path: &'static str,
    pub(super) difference: Difference,
    pub(super) url: &'static str,
    #[expect(dead_code, reason = "documents the gap")]
    reason: &'static str,
}

/// Direction of a difference between the expected and the found URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// A URL is expected and not found.
    Missing,
    /// A URL is found and not expected.
    Surplus,
}

/// The known differences. The test fails when a difference disappears, so that its row is removed.
pub(super) const GAPS: &[Gap] = &[
    Gap {
        path: "text/cut-lines.txt",
        difference: Difference::Missing,
        url: "http://ca06.example/institute/catalogue/of/brass/lamps/and/the/wicks/content",
        reason: "a word in capitals below a full line looks like the rest of a name",
    },
    Gap {
        path: "text/cut-lines.txt",
        difference: Difference::Surplus,
        url: "http://ca06.example/institute/catalogue/of/brass/lamps/and/the/wicks/contentBRASS",
        reason: "as above",
    },
    Gap {
        path: "text/cut-lines.txt",
        difference: Difference::Missing,
        url: "http://ce04.example/lamps-and-",
        reason: "line numbers: no labelled archive has them",
    },
    Gap {
        path: "text/cut-lines.txt",
        difference: Difference::Surplus,
        url: "http://ce04.example/lamps-and-000260",
        reason: "as above",
    },
    Gap {
        path: "text/cut-lines.txt",
        difference: Difference::Missing,
        url: "https://cg02.example/institute/catalogue/of/brass-lamps-and/the-wicks-and-the-oil/letters/",
        reason: "a word between hyphens on a short line is no mark enough",
    },
    Gap {
        path: "text/cut-lines.txt",
        difference: Difference::Surplus,
        url: "https://cg02.example/institute/catalogue/of/brass-lamps-and/",
        reason: "as above",
    },
    Gap {
        path: "text/joins.txt",
        difference: Difference::Missing,
        url: "http://jb04.example/lamps/",
        reason: "a list of files below their folder: two labelled lines are too few for a row",
    },
    Gap {
        path: "text/joins.txt",
        difference: Difference::Surplus,
        url: "http://jb04.example/lamps/wicks/flat.txt",
        reason: "as above",
    },
    Gap {
        path: "text/joins.txt",
        difference: Difference::Missing,
        url: "http://jc05.example/institute/archive/letters/of/the/year/1911/and/1912/index-of-lamps.html",
        reason: "a line of quote marks ends a paragraph",
    },
    Gap {
        path: "text/joins.txt",
        difference: Difference::Surplus,
        url: "http://jc05.example/institute/archive/letters/of/the/year/1911/and/1912/",
        reason: "as above",
    },
    Gap {
        path: "text/broken.txt",
        difference: Difference::Surplus,
        url: "http://o01.example/institute/catalogue/lamps",
        reason: "doubtful, and open in EXPECTED.tsv: the head, with the join as an alternate",
    },
    Gap {
        path: "text/soft-blanks.txt",
        difference: Difference::Missing,
        url: "http://sa02.example/institute/1349/wick-draft/on/brass-lamps/MapCopperOil/letters",
        reason: "more text follows the rest",
    },
    Gap {
        path: "text/soft-blanks.txt",
        difference: Difference::Surplus,
        url: "http://sa02.example/institute/1349/wick-draft/on/brass-lamps/",
        reason: "as above",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Missing,
        url: "http://wa03.example/questions/12064/why-does-the-flat-cotton-wick-of-my-lamp-burn-so-low-with-whaleoil",
        reason: "the rest moved out of its quotation",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Surplus,
        url: "http://wa03.example/questions/12064/why-does-the-flat-cotton-wick-of-my-lamp",
        reason: "as above",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Missing,
        url: "https://wb09.example.org/scm/lamps/",
        reason: "a commit below a folder completes the URL of its page",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Surplus,
        url: "https://wb09.example.org/scm/lamps/0123456789abcdef0123456789abcdef01234567",
        reason: "as above",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Missing,
        url: "http://wc02.example/cgi-bin/find.cgi/Letters/Oilman/LetterSix",
        reason: "more text follows the rest",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Surplus,
        url: "http://wc02.example/cgi-bin/find.cgi/",
        reason: "as above",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Missing,
        url: "http://wc09.example/l/",
        reason: "a list of files below their folder, as above",
    },
    Gap {
        path: "text/wrapping.txt",
        difference: Difference::Surplus,
        url: "http://wc09.example/l/wicks/flat-1911.txt",
        reason: "as above",
    },
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

/// A row of `EXPECTED.tsv`.
struct Expected {
    url: String,
    /// `true` if a careful reader may disagree.
    doubtful: bool,
}

fn expected() -> BTreeMap<String, Vec<Expected>> {
    let mut expected: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let table = fs::read_to_string(corpus().join("EXPECTED.tsv")).unwrap();
    // Documents need a feature, and have tests of their own.
    let is_row = |line: &&str| {
        !line.is_empty()
            && !["# ", "documents/"]
                .iter()
                .any(|other| line.starts_with(other))
    };
    for line in table.lines().filter(is_row) {
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
