//! Regions of a body: what is the writer's own, what is a signature, what a list or a program put around it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// What a stretch of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRegion {
    /// Written for this message.
    Body,
    /// Below the line `-- `.
    Signature,
    /// Below a line that says that a message was forwarded or answered in full.
    Forwarded,
    /// Below a mailing list's rule, at the end.
    Footer,
}

impl BodyRegion {
    /// The name that stands in a record's `region`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BodyRegion::Body => "body",
            BodyRegion::Signature => "signature",
            BodyRegion::Forwarded => "forwarded",
            BodyRegion::Footer => "footer",
        }
    }
}

/// Bytes of a list's footer. A rule further from the end divides the text itself.
const FOOTER_BYTES: usize = 1_500;

/// Underscores of Mailman's rule.
const RULE: &[u8] = b"____________________________________";

/// LineLayout that say that what follows is another message. All but the last begin with hyphens.
const FORWARDS: [&[u8]; 4] = [
    b"-----Original Message-----",
    b"---------- Forwarded message",
    b"----- Forwarded message",
    b"-------- Original Message --------",
];
const BEGIN_FORWARDED: &[u8] = b"Begin forwarded message:";

/// Finds the line ends before lines that begin with two hyphens.
static DASHED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n--"));

/// Finds the line that says so without hyphens.
static FORWARDED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(BEGIN_FORWARDED));

/// Finds Mailman's rule.
static RULES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(RULE));

/// What a line that begins with two hyphens begins.
fn begun_by(line: &[u8]) -> Option<BodyRegion> {
    match line {
        [b'-', b'-', b' ', b'\n', ..] | [b'-', b'-', b' ', b'\r', b'\n', ..] => {
            Some(BodyRegion::Signature)
        }
        _ => FORWARDS
            .iter()
            .any(|words| line.starts_with(words))
            .then_some(BodyRegion::Forwarded),
    }
}

/// Where the regions of a text begin, in order; the first begins at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions(Vec<(usize, BodyRegion)>);

impl Regions {
    /// Divides a text. Linear.
    #[must_use]
    pub fn of(text: &[u8]) -> Regions {
        let mut found = vec![(0, BodyRegion::Body)];
        let at_line = |&at: &usize| at == 0 || text[at - 1] == b'\n';
        let dashed = DASHED.find_iter(text).map(|at| at + 1);
        let first = text.starts_with(b"--").then_some(0);
        found.extend(
            first
                .into_iter()
                .chain(dashed)
                .filter_map(|at| Some((at, begun_by(&text[at..])?))),
        );
        let begun = FORWARDED.find_iter(text).filter(at_line);
        found.extend(begun.map(|at| (at, BodyRegion::Forwarded)));
        let tail = text.len().saturating_sub(FOOTER_BYTES);
        let rule = RULES
            .find_iter(&text[tail..])
            .map(|at| tail + at)
            .find(at_line);
        found.extend(rule.map(|at| (at, BodyRegion::Footer)));
        found.sort_unstable_by_key(|(at, _)| *at);
        Regions(found)
    }

    /// What the byte at `at` belongs to.
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
    fn each_stretch_goes_up_to_the_next() {
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
    fn a_rule_far_from_the_end_divides_the_text_itself() {
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
