//! Chooses among the readings of a logical line.

use super::acceptance::{TextContext, accept};
use super::accepted::AcceptedUrl;
use super::candidate::{Candidate, ParseOutcome};
use super::ending;
use super::found::{Alternate, AlternateReason, FoundUrl, Wrapper};
use super::hyphen::dropped;
use super::reject::RejectReason;
use super::verdict::Verdicts;
use crate::repair::{Join, Repair, RepairSet};
use crate::scan::{Opening, Rules, Scanner};
use crate::span::Span;

/// The confidence at which joining a bare URL over a line end is right 19 times in 20 on labelled mail.
const JOIN_CONFIDENCE: f32 = 0.5;

/// Reads the URL of a laid-out start and gives it to `sink`, if there is one.
///
/// Reads the line at most 16 times, once for each choice of doubtful hyphens.
pub fn parse_candidate(
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
            reject: reader.wrapped(sink).err(),
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
        let repairs: RepairSet = line
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
        let mut choice = ReadingSet {
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
            .filter_map(|text| Some((text, self.accept(text, TextContext::Wrapped).ok()?)));
        let verdicts = match self.accept(&text, TextContext::Wrapped) {
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
                        reject: None,
                    };
                }
                Err(reason) => refused = reason,
            }
        }
        ParseOutcome {
            resume: self.laid.start.resume,
            reject: Some(refused),
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
    fn end(&self, joins: usize, reach: usize) -> ending::End {
        let (word, before, rules) = (
            &self.laid.line.text()[..reach],
            self.laid.before,
            self.scanner.rules(),
        );
        // The head alone was laid out to the end of its run, but a join may have taken an byte off it.
        if joins == 0 {
            ending::end_of_run(word, before, rules)
        } else {
            ending::end(word, before, rules)
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
        let verdicts = self.accept(&text, TextContext::Bare)?;
        let joined = &line.joins()[..joins];
        let mut choice = ReadingSet {
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
                if self.accept(&longer, TextContext::Bare).is_ok() {
                    choice.alternate(&longer, AlternateReason::TrimmedTail, 0.05);
                }
            }
        }
        self.give(&choice, Span::new(0, end.url), verdicts, sink);
        Ok(end.url)
    }

    /// The readings over more or fewer line ends than were chosen.
    fn other_joins(&self, chosen: usize, choice: &mut ReadingSet<'_>) {
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
            if self.accept(&text, TextContext::Bare).is_ok() {
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
        place: TextContext,
    ) -> Result<Option<Verdicts<'u>>, RejectReason> {
        let guessed = matches!(self.laid.start.opening, Opening::Schemeless(_));
        accept(
            full,
            if guessed { TextContext::Guessed } else { place },
            self.scanner,
            self.url_bytes,
        )
    }

    fn give<'u>(
        &self,
        choice: &ReadingSet<'u>,
        span: Span,
        verdicts: Option<Verdicts<'u>>,
        sink: &mut dyn FnMut(&FoundUrl<'_>),
    ) {
        let raw = self.laid.line.origin(span);
        let plain = AcceptedUrl {
            full: choice.full,
            wrapper: choice.wrapper,
            raw,
            url_bytes: self.url_bytes,
            verdicts,
        };
        plain.give(choice.repairs, &choice.alternates, choice.confidence, sink);
    }
}

/// The reading that is about to be given, and the others.
struct ReadingSet<'l> {
    wrapper: Wrapper,
    full: &'l [u8],
    repairs: RepairSet,
    alternates: Vec<Alternate>,
    confidence: f32,
}

impl ReadingSet<'_> {
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
    use proptest::prelude::*;

    use super::*;
    use crate::repair::{BareWord, LineBreakPolicy, LogicalLine, prefilter, word};
    use crate::scan::SchemelessPolicy;

    /// Looks at each bare start, and reads the words of those that are refused: they must be no URLs. How many they are.
    fn check(text: &[u8]) -> usize {
        let scanner = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &["foo".to_owned()]);
        let mut starts = scanner.starts(text);
        let (mut from, mut refused) = (0, 0);
        let mut line = LogicalLine::default();
        while let Some(start) = starts.next_from(from) {
            from = start.resume;
            let guessed = match start.opening {
                Opening::UrlBracket | Opening::Angle => continue,
                Opening::Schemeless(scheme) => Some(scheme),
                Opening::Bare | Opening::UrlPrefix => None,
            };
            let before = start.at.checked_sub(1).map(|at| text[at]);
            let found = BareWord {
                from: start.content,
                before,
                rules: Rules::Wide,
                breaks: LineBreakPolicy::Join,
                most: usize::MAX,
            };
            if let Err(reason) = prefilter(text, &found, guessed, &scanner) {
                word(text, &found, &mut line);
                let laid = Candidate {
                    start: &start,
                    before,
                    line: &line,
                    close: None,
                };
                let said = parse_candidate(&laid, &scanner, usize::MAX, &mut |_| {}).reject;
                assert!(
                    said.is_some(),
                    "{reason:?} {}",
                    text[start.at..].escape_ascii()
                );
                refused += 1;
            }
        }
        refused
    }

    #[test]
    fn what_cannot_be_is_refused_at_sight() {
        for text in [
            "http://a-/b",
            "http://!",
            "http:///b",
            "news:the",
            "mailto:x",
            "tel:x",
            "URL:file:x",
            "www.a-/",
            "URL:b",
        ] {
            assert_eq!(check(text.as_bytes()), 1, "{text}");
        }
    }

    #[test]
    fn what_the_host_is_not_decides_nothing() {
        assert_eq!(check(b"urn://http:www..http:"), 0);
        assert_eq!(check(b"urn://x:b.c'..a]>"), 0);
        assert_eq!(check(b"http://a..b"), 1);
        for blank in [
            "\x0B",
            "\x0C",
            "\u{a0}",
            "\u{85}",
            "\u{2003}",
            &" ".repeat(20),
        ] {
            assert_eq!(
                check(format!("urn://user@{blank}\nb.c/").as_bytes()),
                0,
                "{blank:?}"
            );
        }
        for text in [
            "urn://@\nftp.#",
            "http://&www.\nftp.@ftp.",
            "http://&www. \r\nftp.@ftp.",
            "http://@\\\nftp.",
        ] {
            assert_eq!(
                check(text.as_bytes()),
                0,
                "{text}: the host may stand on the next line"
            );
        }
    }

    #[test]
    fn a_comma_before_the_next_scheme_ends_the_word() {
        assert_eq!(check(b"news:a,http://b.example/"), 1);
        assert_eq!(check(b"news:a,b.c"), 0);
        assert_eq!(check(b"mailto:a,b+c://d@e/"), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn nothing_that_is_refused_would_pass(
            text in "((http|news|mailto|tel|file|urn|doi|x|foo|URL|data)(:|://)|www\\.|ftp\\.|[a-z]{1,3}|[-./,;|@#?:'()\\[\\]*!&_\\\\]|&gt;| |\\n|\x0C\\n|\u{a0}\\n){1,20}"
        ) {
            check(text.as_bytes());
        }
    }
}
