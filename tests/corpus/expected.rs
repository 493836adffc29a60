//! The expected URLs of the corpus, and its known gaps.

use std::collections::BTreeMap;
use std::fs;

use super::found;
use crate::scene::{corpus, url};

/// A known difference between the program and `EXPECTED.tsv`: path, direction and URL.
pub(super) type Gap = (String, Difference, String);

/// Direction of a difference between the expected and the found URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// A URL is expected and not found.
    Missing,
    /// A URL is found and not expected.
    Surplus,
}

/// Known differences by file. A line `?` is the reason for the URLs below it: `-` is a missing URL,
/// `+` a surplus one. The test fails when one disappears; its line is then removed.
const GAPS: &str = "
# text/cut-lines.txt
? a word in capitals below a full line looks like the rest of a name
- http://ca06.example/institute/catalogue/of/brass/lamps/and/the/wicks/content
+ http://ca06.example/institute/catalogue/of/brass/lamps/and/the/wicks/contentBRASS
# text/joins.txt
? a list of files below their folder: two labelled lines are too few for a row
- http://jb04.example/lamps/
+ http://jb04.example/lamps/wicks/flat.txt
? a line of quote marks ends a paragraph
- http://jc05.example/institute/archive/letters/of/the/year/1911/and/1912/index-of-lamps.html
+ http://jc05.example/institute/archive/letters/of/the/year/1911/and/1912/
# text/broken.txt
? doubtful, and open in EXPECTED.tsv: the head, with the join as an alternate
+ http://o01.example/institute/catalogue/lamps
# text/soft-blanks.txt
? more text follows the rest
- http://sa02.example/institute/1349/wick-draft/on/brass-lamps/MapCopperOil/letters
+ http://sa02.example/institute/1349/wick-draft/on/brass-lamps/
# text/wrapping.txt
? the rest moved out of its quotation
- http://wa03.example/questions/12064/why-does-the-flat-cotton-wick-of-my-lamp-burn-so-low-with\
    -whaleoil
+ http://wa03.example/questions/12064/why-does-the-flat-cotton-wick-of-my-lamp
? a commit below a folder completes the URL of its page
- https://wb09.example.org/scm/lamps/
+ https://wb09.example.org/scm/lamps/0123456789abcdef0123456789abcdef01234567
? more text follows the rest
- http://wc02.example/cgi-bin/find.cgi/Letters/Oilman/LetterSix
+ http://wc02.example/cgi-bin/find.cgi/
? a list of files below their folder, as above
- http://wc09.example/l/
+ http://wc09.example/l/wicks/flat-1911.txt
# mail/flowed.eml
? RFC 3676 section 4.5: a line of another quote depth ends the paragraph; the break is undone as a \
    mailer's
- http://fw08.example/deep/
+ http://fw08.example/deep/less.html
# text/ftp-locations.txt
? a blank ends a bare URL, also one before the address of the host
- ftp://ftp.g15.example/pub/lamps
+ ftp://ftp.g15.example
# text/hosts.txt
? only numbers are read between www and the dot
- http://www-lamps.f21.example/~jane
# mail/attributes.eml
? residue of quoted-printable is decoded in plain text only: a page would have to be decoded \
    before it is tokenised
- http://at13.example/x
# text/hidden-at.txt
? before the host of a location, `at` may be prose after a missing bracket; the blank is removed, \
    with a confidence of 0.3
- ftp://jane@ha14.example/x
+ ftp://janeatha14.example/x
# text/markup.txt
? after a slash, hiragana may begin a segment of the path
- http://ma23.example/dir/
+ http://ma23.example/dir/に移動
# text/refused.txt
? a colon before letters looks like a placeholder for a port
- http://ra21.example
# text/residue.txt
? a host with an escape is rejected before residue is looked for
- http://www.qr15.example/x
# text/joins.txt
? an address broken after its at sign is rejected before the next line is read
- mailto:jane.lampwick@jd09.example.com
# text/wrappers.txt
? RFC 2141 wants urn:NID:NSS; the program takes any name of the table in angle brackets
+ URN:none
";

/// Parses [`GAPS`].
pub(super) fn gaps() -> Vec<Gap> {
    let (mut path, mut gaps) = ("", Vec::new());
    for (sign, text) in GAPS.lines().filter_map(|line| line.split_once(' ')) {
        let difference = match sign {
            "#" => {
                path = text;
                continue;
            }
            "-" => Difference::Missing,
            "+" => Difference::Surplus,
            _ => continue,
        };
        gaps.push((path.to_owned(), difference, text.to_owned()));
    }
    gaps
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
    // Documents need a feature, and are tested elsewhere.
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

/// Returns the missing and the surplus URLs, computed from the longest common subsequence. A
/// doubtful row is never missing.
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
        // The target of a redirector has its own record, but the author did not write it as a URL.
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
    let known = gaps();
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
