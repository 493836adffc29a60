//! Chooses among the readings of a logical line.

use twox_hash::XxHash3_128;

use super::accept::{Place, accept};
use super::trim;
use super::verdict::Verdicts;
use crate::grammar::Reject;
use crate::limits::DOUBTFUL_HYPHENS;
use crate::repair::{Join, LogicalLine, Repair, Repairs};
use crate::scan::{Opening, Rules, Scanner, Start};
use crate::span::Span;

/// The confidence at which joining a bare URL over a line end is right 19 times in 20 on labelled mail.
const JOIN_CONFIDENCE: f32 = 0.5;

/// How a record's URL was set off from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrapper {
    /// `<URL:...>`
    UrlBracket,
    /// `<...>`
    Angle,
    /// `URL:...`
    UrlPrefix,
    /// Nothing.
    Bare,
    /// An HTML attribute.
    Attr,
    /// Nothing, and no scheme either.
    Schemeless,
}

impl Wrapper {
    /// The name that stands in a record's `wrapper`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Wrapper::UrlBracket => "<URL:>",
            Wrapper::Angle => "<>",
            Wrapper::UrlPrefix => "URL:",
            Wrapper::Bare => "bare",
            Wrapper::Attr => "attr",
            Wrapper::Schemeless => "schemeless",
        }
    }

    /// All wrappers, for the schema and the balance sheet.
    pub const ALL: [Wrapper; 6] = [
        Wrapper::UrlBracket,
        Wrapper::Angle,
        Wrapper::UrlPrefix,
        Wrapper::Bare,
        Wrapper::Attr,
        Wrapper::Schemeless,
    ];
}

impl From<Opening> for Wrapper {
    fn from(opening: Opening) -> Wrapper {
        match opening {
            Opening::UrlBracket => Wrapper::UrlBracket,
            Opening::Angle => Wrapper::Angle,
            Opening::UrlPrefix => Wrapper::UrlPrefix,
            Opening::Bare => Wrapper::Bare,
            Opening::Schemeless(_) => Wrapper::Schemeless,
        }
    }
}

/// AlternateReason there is another reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlternateReason {
    /// Hyphens before line breaks are left out.
    HyphenDropped,
    /// Punctuation that came off the end is left on.
    TrimmedTail,
    /// The next line is joined.
    BareContinuation,
    /// The next line is not joined.
    HeadOnly,
}

impl AlternateReason {
    /// The name that stands in an alternate's `why`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            AlternateReason::HyphenDropped => "hyphen-dropped",
            AlternateReason::TrimmedTail => "trimmed-tail",
            AlternateReason::BareContinuation => "bare-continuation",
            AlternateReason::HeadOnly => "head-only",
        }
    }
}

/// Another reading of the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternate {
    /// The URL and, behind `url_len` bytes, its fragment with the `#`.
    pub full: Vec<u8>,
    /// Bytes of the URL without its fragment.
    pub url_len: usize,
    /// AlternateReason.
    pub why: AlternateReason,
    /// How likely this reading is, from 0 to 1.
    pub confidence: f32,
}

/// What a URL beyond the limit was before it was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// Its bytes, fragment included.
    pub full_length: usize,
    /// XXH3 (128 bits) of them.
    pub full_hash: u128,
}

/// A URL that was found.
#[derive(Debug)]
pub struct FoundUrl<'l> {
    /// How it was set off.
    pub wrapper: Wrapper,
    /// The URL and, behind `url_len` bytes, its fragment with the `#`.
    pub full: &'l [u8],
    /// Bytes of the URL without its fragment.
    pub url_len: usize,
    /// The bytes of the text from its first to its last character, before repair.
    pub raw: Span,
    /// What was undone.
    pub repairs: Repairs,
    /// Other readings, all different from this and from one another, the likeliest first.
    pub alternates: &'l [Alternate],
    /// How likely this reading is, from 0 to 1.
    pub confidence: f32,
    /// What the three grammars say; nothing where it was truncated.
    pub verdicts: Option<&'l Verdicts<'l>>,
    /// What it was before it was cut.
    pub truncated: Option<Truncated>,
}

impl<'l> FoundUrl<'l> {
    /// The URL without its fragment.
    #[must_use]
    pub fn url(&self) -> &'l [u8] {
        &self.full[..self.url_len]
    }

    /// The fragment without its `#`; empty if nothing follows that, absent without it.
    #[must_use]
    pub fn fragment(&self) -> Option<&'l [u8]> {
        self.full.get(self.url_len + 1..)
    }
}

/// AlternateReason a start led to no URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// RFC 1738 refuses it, and by the wide rules the others do as well.
    Grammar(Reject),
    /// Its scheme names a host, and what stands there cannot be one.
    Host,
    /// What follows the scheme is not what bare URLs of that scheme look like.
    Implausible,
    /// A wrapper with the beginnings of two URLs.
    TwoUrls,
    /// A wrapper that never closes.
    Unclosed,
    /// An attribute that is relative to a page nobody knows.
    Relative,
    /// An attribute with data or a program in it: no location.
    NoLocation,
    /// The same bytes gave the same URL in another reading of the message.
    Reread,
}

impl RejectReason {
    /// All reasons' names, for the schema.
    pub const NAMES: [&str; 8] = [
        "grammar",
        "host",
        "implausible",
        "two-urls",
        "unclosed",
        "relative",
        "no-location",
        "reread",
    ];

    /// The name that stands in a reject's `reason.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RejectReason::Grammar(_) => "grammar",
            RejectReason::Host => "host",
            RejectReason::Implausible => "implausible",
            RejectReason::TwoUrls => "two-urls",
            RejectReason::Unclosed => "unclosed",
            RejectReason::Relative => "relative",
            RejectReason::NoLocation => "no-location",
            RejectReason::Reread => "reread",
        }
    }
}

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOutcome {
    /// Where in the text the search goes on.
    pub resume: usize,
    /// `None` if a URL was found.
    pub refused: Option<RejectReason>,
}

/// A start, laid out.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'l> {
    /// The start.
    pub start: &'l Start,
    /// The byte before it.
    pub before: Option<u8>,
    /// Its logical line.
    pub line: &'l LogicalLine,
    /// The offset of the `>` that closes it; `None` for a word without a wrapper.
    pub close: Option<usize>,
}

/// Reads the URL of a laid-out start and gives it to `sink`, if there is one.
///
/// Reads the line at most 16 times, once for each choice of doubtful hyphens.
pub fn read(
    laid: &Candidate<'_>,
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) -> ParseOutcome {
    let reader = Reader {
        laid,
        scanner,
        url_bytes,
    };
    match laid.close {
        Some(close) => ParseOutcome {
            resume: close + 1,
            refused: reader.wrapped(sink).err(),
        },
        None => reader.bare(sink),
    }
}

struct Reader<'l> {
    laid: &'l Candidate<'l>,
    scanner: &'l Scanner,
    url_bytes: usize,
}

impl Reader<'_> {
    /// The content of a wrapper is a URL as a whole or not at all.
    fn wrapped(&self, sink: &mut dyn FnMut(&FoundUrl<'_>)) -> Result<(), RejectReason> {
        let line = self.laid.line;
        let repairs: Repairs = line
            .joins()
            .iter()
            .flat_map(|join| join.repairs.iter())
            .collect();
        let hyphens: Vec<usize> = line
            .joins()
            .iter()
            .filter(|join| join.repairs.has(Repair::Hyphen))
            .map(|join| join.at - 1)
            .collect();
        let text = self.with_scheme(line.text());
        let shift = text.len() - line.text().len();
        let mut choice = Choice {
            wrapper: self.laid.start.opening.into(),
            full: &text,
            repairs,
            alternates: Vec::new(),
            confidence: 1.0,
        };
        let whole = Span::new(0, line.text().len());
        let dropped = dropped(
            &text,
            &hyphens.iter().map(|at| at + shift).collect::<Vec<_>>(),
        );
        let mut readings = dropped
            .iter()
            .filter_map(|text| Some((text, self.accept(text, Place::Wrapped).ok()?)));
        let verdicts = match self.accept(&text, Place::Wrapped) {
            Ok(verdicts) => verdicts,
            Err(reason) => {
                let (text, verdicts) = readings.next().ok_or(reason)?;
                choice.full = text;
                choice.repairs.add(Repair::HyphenDropped);
                verdicts
            }
        };
        for (text, _) in readings {
            choice.alternate(text, AlternateReason::HyphenDropped, 0.05);
        }
        self.give(&choice, whole, verdicts, sink);
        Ok(())
    }

    fn bare(&self, sink: &mut dyn FnMut(&FoundUrl<'_>)) -> ParseOutcome {
        let line = self.laid.line;
        let head = line
            .joins()
            .first()
            .map_or(line.text().len(), |join| join.at);
        let certain = line
            .joins()
            .iter()
            .take_while(|join| join.confidence >= JOIN_CONFIDENCE)
            .count();
        // From the longest reading that is likelier than not to be meant, down to the head alone.
        let tries = (0..=certain).rev().map(|joins| self.reach(joins, head));
        let mut refused = RejectReason::Implausible;
        for (joins, reach) in (0..=certain).rev().zip(tries) {
            match self.word(joins, reach, sink) {
                Ok(end) => {
                    return ParseOutcome {
                        resume: line.origin(Span::new(0, end)).end,
                        refused: None,
                    };
                }
                Err(reason) => refused = reason,
            }
        }
        ParseOutcome {
            resume: self.laid.start.retry,
            refused: Some(refused),
        }
    }

    /// Bytes of the line up to its join number `joins`, or all of it.
    fn reach(&self, joins: usize, head: usize) -> usize {
        match joins {
            0 => head,
            _ => self
                .laid
                .line
                .joins()
                .get(joins)
                .map_or(self.laid.line.text().len(), |join: &Join| join.at),
        }
    }

    /// Where the URL in the first `reach` bytes ends, which lie over `joins` joins.
    fn end(&self, joins: usize, reach: usize) -> trim::End {
        let (word, before, rules) = (
            &self.laid.line.text()[..reach],
            self.laid.before,
            self.scanner.rules(),
        );
        // The head alone was laid out to the end of its run, but a join may have taken an byte off it.
        if joins == 0 {
            trim::end_of_run(word, before, rules)
        } else {
            trim::end(word, before, rules)
        }
    }

    /// The URL at the start of the first `reach` bytes, over `joins` joins. Gives its bytes in the line.
    fn word(
        &self,
        joins: usize,
        reach: usize,
        sink: &mut dyn FnMut(&FoundUrl<'_>),
    ) -> Result<usize, RejectReason> {
        let line = self.laid.line;
        let rules = self.scanner.rules();
        let end = self.end(joins, reach);
        let text = self.with_scheme(&line.text()[..end.url]);
        let verdicts = self.accept(&text, Place::Bare)?;
        let joined = &line.joins()[..joins];
        let mut choice = Choice {
            wrapper: self.laid.start.opening.into(),
            full: &text,
            repairs: joined.iter().flat_map(|join| join.repairs.iter()).collect(),
            alternates: Vec::new(),
            confidence: joined
                .iter()
                .map(|join| join.confidence)
                .fold(self.base_confidence(), f32::min),
        };
        if rules == Rules::Wide {
            self.other_joins(joins, &mut choice);
            if let Some(tail) = could_belong(&line.text()[end.url..end.word]) {
                let longer = self.with_scheme(&line.text()[..end.url + tail]);
                if self.accept(&longer, Place::Bare).is_ok() {
                    choice.alternate(&longer, AlternateReason::TrimmedTail, 0.05);
                }
            }
        }
        self.give(&choice, Span::new(0, end.url), verdicts, sink);
        Ok(end.url)
    }

    /// The readings over more or fewer line ends than were chosen.
    fn other_joins(&self, chosen: usize, choice: &mut Choice<'_>) {
        let line = self.laid.line;
        let head = line
            .joins()
            .first()
            .map_or(line.text().len(), |join| join.at);
        for joins in 0..=line.joins().len() {
            if joins == chosen {
                continue;
            }
            let reach = self.reach(joins, head);
            let end = self.end(joins, reach);
            let text = self.with_scheme(&line.text()[..end.url]);
            if self.accept(&text, Place::Bare).is_ok() {
                let (why, confidence) = if joins < chosen {
                    (AlternateReason::HeadOnly, 1.0 - choice.confidence)
                } else {
                    (
                        AlternateReason::BareContinuation,
                        line.joins()[joins - 1].confidence,
                    )
                };
                choice.alternate(&text, why, confidence);
            }
        }
    }

    fn base_confidence(&self) -> f32 {
        match self.laid.start.opening {
            Opening::Schemeless(_) => 0.9,
            _ => 1.0,
        }
    }

    /// The text with the scheme that is guessed for it, where it has none of its own.
    fn with_scheme<'t>(&self, text: &'t [u8]) -> std::borrow::Cow<'t, [u8]> {
        match self.laid.start.opening {
            Opening::Schemeless(scheme) => guessed(scheme, text).into(),
            Opening::UrlBracket if self.scanner.rules() == Rules::Wide => match text.get(..4) {
                Some(start) if start.eq_ignore_ascii_case(b"www.") => guessed("http", text).into(),
                Some(start) if start.eq_ignore_ascii_case(b"ftp.") => guessed("ftp", text).into(),
                _ => text.into(),
            },
            _ => text.into(),
        }
    }

    /// The verdicts on a text that is a URL by the rules in force.
    fn accept<'u>(
        &self,
        full: &'u [u8],
        place: Place,
    ) -> Result<Option<Verdicts<'u>>, RejectReason> {
        let guessed = matches!(self.laid.start.opening, Opening::Schemeless(_));
        accept(
            full,
            if guessed { Place::Guessed } else { place },
            self.scanner,
            self.url_bytes,
        )
    }

    fn give<'u>(
        &self,
        choice: &Choice<'u>,
        span: Span,
        verdicts: Option<Verdicts<'u>>,
        sink: &mut dyn FnMut(&FoundUrl<'_>),
    ) {
        let raw = self.laid.line.origin(span);
        let plain = Plain {
            full: choice.full,
            wrapper: choice.wrapper,
            raw,
            url_bytes: self.url_bytes,
            verdicts,
        };
        plain.give(choice.repairs, &choice.alternates, choice.confidence, sink);
    }
}

/// A URL on its way to the sink.
pub(super) struct Plain<'l> {
    /// With its fragment.
    pub(super) full: &'l [u8],
    pub(super) wrapper: Wrapper,
    pub(super) raw: Span,
    /// Bytes that are kept.
    pub(super) url_bytes: usize,
    /// What the grammars say of `full`; nothing where it is beyond the limit.
    pub(super) verdicts: Option<Verdicts<'l>>,
}

impl Plain<'_> {
    /// Cuts it at the limit and gives it.
    pub(super) fn give(
        &self,
        repairs: Repairs,
        alternates: &[Alternate],
        confidence: f32,
        sink: &mut dyn FnMut(&FoundUrl<'_>),
    ) {
        let url_len = memchr::memchr(b'#', self.full).unwrap_or(self.full.len());
        let kept = self.full.len().min(self.url_bytes);
        let truncated = (kept < self.full.len()).then(|| Truncated {
            full_length: self.full.len(),
            full_hash: XxHash3_128::oneshot(self.full),
        });
        sink(&FoundUrl {
            wrapper: self.wrapper,
            full: &self.full[..kept],
            url_len: url_len.min(kept),
            raw: self.raw,
            repairs,
            alternates,
            confidence,
            verdicts: self.verdicts.as_ref(),
            truncated,
        });
    }
}

/// The reading that is about to be given, and the others.
struct Choice<'l> {
    wrapper: Wrapper,
    full: &'l [u8],
    repairs: Repairs,
    alternates: Vec<Alternate>,
    confidence: f32,
}

impl Choice<'_> {
    /// Adds another reading, unless it is known already.
    fn alternate(&mut self, full: &[u8], why: AlternateReason, confidence: f32) {
        if full == self.full || self.alternates.iter().any(|known| known.full == full) {
            return;
        }
        let url_len = memchr::memchr(b'#', full).unwrap_or(full.len());
        self.alternates.push(Alternate {
            full: full.to_vec(),
            url_len,
            why,
            confidence,
        });
    }
}

/// `text` behind `scheme://`; ftp's `host:/path` loses its colon.
fn guessed(scheme: &str, text: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(scheme.len() + 3 + text.len());
    full.extend(scheme.as_bytes());
    full.extend(b"://");
    match memchr::memmem::find(text, b":/") {
        Some(colon) if scheme == "ftp" && !text[..colon].contains(&b'/') => {
            full.extend(&text[..colon]);
            full.extend(&text[colon + 1..]);
        }
        _ => full.extend(text),
    }
    full
}

/// The readings without some of the hyphens at `doubtful`: fewest dropped first, then leftmost
/// (`spec/appendix-rules.md` 5). With more than four in doubt, only the one without any of them.
fn dropped(text: &[u8], doubtful: &[usize]) -> Vec<Vec<u8>> {
    let without = |choice: usize| {
        let gone = |at: usize| {
            doubtful
                .iter()
                .position(|&hyphen| hyphen == at)
                .is_some_and(|bit| choice >> bit & 1 == 1)
        };
        text.iter()
            .enumerate()
            .filter(|(at, _)| !gone(*at))
            .map(|(_, &byte)| byte)
            .collect::<Vec<u8>>()
    };
    if doubtful.is_empty() {
        return Vec::new();
    }
    if doubtful.len() > DOUBTFUL_HYPHENS {
        return vec![
            text.iter()
                .enumerate()
                .filter(|(at, _)| !doubtful.contains(at))
                .map(|(_, &byte)| byte)
                .collect(),
        ];
    }
    let mut choices: Vec<usize> = (1..1 << doubtful.len()).collect();
    // Leftmost: of two choices of the same size, the one whose first difference is a hyphen dropped comes first.
    choices
        .sort_by_key(|&choice: &usize| (choice.count_ones(), choice.reverse_bits() ^ usize::MAX));
    let mut readings: Vec<Vec<u8>> = Vec::new();
    for reading in choices.into_iter().map(without) {
        if reading != text && !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    readings
}

/// Bytes of a trimmed tail that could be the URL's after all: a closing bracket, an exclamation mark.
///
/// Full stops, commas and the like practically never are.
fn could_belong(tail: &[u8]) -> Option<usize> {
    let len = tail
        .iter()
        .take_while(|byte| matches!(byte, b')' | b']' | b'}' | b'!'))
        .count();
    (len > 0).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphens_are_dropped_fewest_first_then_leftmost() {
        let text = |readings: Vec<Vec<u8>>| {
            readings
                .into_iter()
                .map(|r| String::from_utf8(r).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(text(dropped(b"a-b-c", &[1, 3])), ["ab-c", "a-bc", "abc"]);
        assert_eq!(text(dropped(b"a--b", &[2])), ["a-b"]);
        assert_eq!(text(dropped(b"a-b-c-d-e-f", &[1, 3, 5, 7, 9])), ["abcdef"]);
    }
}
