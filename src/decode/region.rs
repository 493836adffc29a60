//! Regions of a body: new text, signature, forwarded message, and the footer of a mailing list.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::header_block::begins_block;
use crate::word_search::WordSearcher;

/// The value of a record's `region` for a body that stands elsewhere.
pub const EXTERNAL_BODY_REGION: &str = "external-body";

named_enum! {
    /// Kind of a region of a body.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BodyRegion {
        /// Written for this message.
        Body = "body",
        /// Below the line `-- `.
        Signature = "signature",
        /// Below a line that announces a forwarded message, or one that was answered in full, and
        /// below the first of the header lines that Outlook puts before such a message.
        Forwarded = "forwarded",
        /// Below a mailing list's rule, at the end of the text.
        Footer = "footer",
    }
}

/// Maximum length of a list's footer. A rule further from the end is part of the text.
const FOOTER_BYTES: usize = 1_500;

/// Underscores of Mailman's rule.
const RULE: &[u8] = b"____________________________________";

/// Starts of lines that announce another message. [`BEGIN_FORWARDED`] is one more, without hyphens.
const FORWARDS: [&[u8]; 4] = [
    b"-----Original Message-----",
    b"---------- Forwarded message",
    b"----- Forwarded message",
    b"-------- Original Message --------",
];
const BEGIN_FORWARDED: &[u8] = b"Begin forwarded message:";

/// Finds the line ends before lines that [`begun_by`] may know, by their first two bytes.
static LINES: LazyLock<WordSearcher> = LazyLock::new(|| {
    WordSearcher::new(&[
        &b"\n--"[..],
        b"\nBe",
        b"\n*F",
        b"\n*V",
        b"\n*D",
        b"\n**",
        b"\nFr",
        b"\nVo",
        b"\nVa",
        b"\nDe",
        b"\nDa",
        b"\n\xE5\x8F",
    ])
});

/// Finds Mailman's rule.
static RULES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(RULE));

/// The region that begins with the line at the start of `text`.
fn begun_by(text: &[u8]) -> Option<BodyRegion> {
    let is_forward = match text {
        [b'-', b'-', b' ', b'\n', ..] | [b'-', b'-', b' ', b'\r', b'\n', ..] => {
            return Some(BodyRegion::Signature);
        }
        [b'-', b'-', ..] => FORWARDS.iter().any(|words| text.starts_with(words)),
        [b'B', ..] => text.starts_with(BEGIN_FORWARDED),
        _ => begins_block(text),
    };
    is_forward.then_some(BodyRegion::Forwarded)
}

/// The regions of a text: offset and kind of each, in order. The first begins at 0, each ends where
/// the next begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions(Vec<(usize, BodyRegion)>);

impl Regions {
    /// Divides a text. Linear.
    #[must_use]
    pub fn of(text: &[u8]) -> Regions {
        let mut found = vec![(0, BodyRegion::Body)];
        let next_line = |after: &usize| LINES.find(text, *after).map(|end| end + 1);
        let starts = std::iter::successors(Some(0), next_line);
        let at_line = |&at: &usize| at == 0 || text[at - 1] == b'\n';
        let tail = text.len().saturating_sub(FOOTER_BYTES);
        for (at, region) in starts.filter_map(|at| Some((at, begun_by(&text[at..])?))) {
            // A region that goes on needs no entry, but for those that the footer may divide.
            if tail <= at || found.last().is_none_or(|&(_, last)| last != region) {
                found.push((at, region));
            }
        }
        let rule = RULES
            .find_iter(&text[tail..])
            .map(|at| tail + at)
            .find(at_line);
        found.extend(rule.map(|at| (at, BodyRegion::Footer)));
        found.sort_unstable_by_key(|(at, _)| *at);
        Regions(found)
    }

    /// The kind of the region that holds the byte at `at`. Logarithmic in the number of regions.
    #[must_use]
    pub fn at(&self, at: usize) -> BodyRegion {
        let index = self.0.partition_point(|&(begin, _)| begin <= at);
        index
            .checked_sub(1)
            .map_or(BodyRegion::Body, |index| self.0[index].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_region_ends_where_the_next_begins() {
        let rule = String::from_utf8_lossy(RULE);
        let text =
            format!("body\n-- no line\n-- \nname\n-----Original Message-----\nold\n{rule}\nlist\n");
        let regions = Regions::of(text.as_bytes());
        let at = |word: &str| regions.at(text.find(word).unwrap());
        assert_eq!(at("no line"), BodyRegion::Body);
        assert_eq!(at("name"), BodyRegion::Signature);
        assert_eq!(at("old"), BodyRegion::Forwarded);
        assert_eq!(at("list"), BodyRegion::Footer);
    }

    #[test]
    fn a_region_that_goes_on_takes_no_memory() {
        let text = format!(
            "{}{}\n-- \nlist\n",
            "-- \n".repeat(10_000),
            String::from_utf8_lossy(RULE)
        );
        let regions = Regions::of(text.as_bytes());
        assert!(regions.0.len() < FOOTER_BYTES);
        assert_eq!(regions.at(39_999), BodyRegion::Signature);
        assert_eq!(regions.at(40_000), BodyRegion::Footer);
        assert_eq!(regions.at(text.len() - 1), BodyRegion::Signature);
    }

    #[test]
    fn a_message_follows_the_header_lines_of_outlook() {
        let text = b"new\n\nVon: Joe\nGesendet: Montag\nAn: Jane\nBetreff: x\n\nold";
        let regions = Regions::of(text);
        assert_eq!(regions.at(4), BodyRegion::Body);
        assert_eq!(regions.at(5), BodyRegion::Forwarded);
        assert_eq!(regions.at(text.len() - 1), BodyRegion::Forwarded);
    }

    #[test]
    fn a_rule_far_from_the_end_is_part_of_the_text() {
        let text = format!(
            "a\n{}\n{}",
            String::from_utf8_lossy(RULE),
            "x\n".repeat(1_000)
        );
        assert_eq!(
            Regions::of(text.as_bytes()).at(text.len() - 1),
            BodyRegion::Body
        );
    }
}
