//! The URLs of one text.

use std::cell::LazyCell;

use super::emission::Spot;
use super::message_pass::State;
use super::{Extractor, Finding, Options};
use crate::decode::{DecodedText, HtmlLink, LineLayout, Region, Regions};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::grammar::escaped_byte;
use crate::limits::{PREFILTER_BYTES, REJECTED_WORDS_BYTES, REJECTED_WORDS_RATIO};
use crate::parse::{
    AttributeValue, Candidate, ParseOutcome, RejectReason, parse_attribute, parse_candidate,
};
use crate::repair::{
    BareWord, LineBreakPolicy, WrappedText, prefilter, quote_depth, word, wrapped,
};
use crate::scan::{Opening, UrlStart};
use crate::span::Span;

impl State<'_, '_> {
    /// Goes through a text, and on a page through the links between, in the order in which they lie there.
    pub(super) fn text(&mut self, text: &DecodedText<'_>) {
        let Extractor { scanner, .. } = self.extractor;
        let mut regions = None;
        let mut links = text
            .page
            .as_ref()
            .map_or(&[][..], |page| page.links.as_slice())
            .iter()
            .peekable();
        // Most texts have no start, and are not asked for these.
        let binary = LazyCell::new(|| text.binary());
        let mut passed = 0;
        let mut from = 0;
        self.ill_at = 0;
        let mut starts = scanner.starts(&text.bytes);
        while let Some(start) = starts.next_from(from) {
            passed += binary[passed..]
                .iter()
                .take_while(|block| block.end <= start.at)
                .count();
            if let Some(block) = binary.get(passed).filter(|block| block.start <= start.at) {
                from = block.end;
                continue;
            }
            while let Some(link) = links.next_if(|link| link.at <= start.at) {
                self.link(text, link);
            }
            let outcome = self.start(text, &start, &mut regions);
            if let Some(reason) = outcome.reject {
                let span = Span::new(start.at, outcome.resume.max(start.resume));
                let place = self.origin(&text.offset_map, span);
                (self.sink)(Finding::Reject(reason, span.of(&text.bytes), place));
            }
            from = outcome.resume.max(start.at + 1);
        }
        links.for_each(|link| self.link(text, link));
    }

    /// Lays a start out, reads it, and gives what it holds.
    pub(super) fn start(
        &mut self,
        text: &DecodedText<'_>,
        start: &UrlStart,
        regions: &mut Option<Regions>,
    ) -> ParseOutcome {
        let Extractor {
            scanner,
            options: Options { limits, .. },
        } = self.extractor;
        let before = start.at.checked_sub(1).map(|at| text.bytes[at]);
        let mut line = std::mem::take(&mut self.line);
        let close = match start.opening {
            Opening::UrlBracket | Opening::Angle => {
                match wrapped(
                    &text.bytes,
                    start,
                    scanner.rules(),
                    limits.wrapper_bytes,
                    &mut line,
                ) {
                    WrappedText::Closed(close) => Some(close),
                    WrappedText::SeveralUrls(close) => {
                        self.line = line;
                        return ParseOutcome {
                            resume: close + 1,
                            reject: Some(RejectReason::TwoUrls),
                        };
                    }
                    WrappedText::Unclosed => {
                        self.line = line;
                        return ParseOutcome {
                            resume: start.resume,
                            reject: Some(RejectReason::Unclosed),
                        };
                    }
                }
            }
            Opening::UrlPrefix | Opening::Bare | Opening::Schemeless(_) => {
                let breaks = if text.lines == LineLayout::Written {
                    LineBreakPolicy::Join
                } else {
                    LineBreakPolicy::Keep
                };
                let most = if self.may_refuse() {
                    usize::MAX
                } else {
                    PREFILTER_BYTES
                };
                let found = BareWord {
                    from: start.content,
                    before,
                    rules: scanner.rules(),
                    breaks,
                    most,
                };
                if let Err(reason) = self.prefiltered(&text.bytes, start, &found) {
                    self.line = line;
                    return ParseOutcome {
                        resume: start.resume,
                        reject: Some(reason),
                    };
                }
                word(&text.bytes, &found, &mut line);
                None
            }
        };
        let laid = Candidate {
            start,
            before,
            line: &line,
            close,
        };
        let outcome = parse_candidate(&laid, scanner, limits.url_bytes, &mut |found| {
            let name;
            let region = match text.region {
                Region::Header(field) => {
                    name = format!("header:{}", String::from_utf8_lossy(field));
                    name.as_str()
                }
                Region::Body if text.page.is_some() => "html:text",
                Region::Body => {
                    let regions = regions.get_or_insert_with(|| Regions::of(&text.bytes));
                    regions.at(found.raw.start).name()
                }
            };
            let cited = text.region == Region::Body && text.lines == LineLayout::Written;
            let quote_depth = if cited {
                quote_depth(&text.bytes, found.raw.start)
            } else {
                0
            };
            let part = text.part;
            self.found(
                &Spot {
                    bytes: &text.bytes,
                    offset_map: &text.offset_map,
                    region,
                    quote_depth,
                    part,
                    anchor: None,
                    exact: true,
                    joins: line.joins(),
                    has_other_readings: text.has_other_readings,
                },
                found,
            );
        });
        if let Some(RejectReason::Grammar(_)) = outcome.reject
            && close.is_none()
        {
            self.ill_at = start.content + ill_at(line.text());
        }
        if outcome.reject.is_some() && close.is_none() {
            self.refused(text, start, line.text().len());
        }
        self.line = line;
        outcome
    }

    /// Whether words are read to their ends. Each may be refused and read again from a start inside it, so that without
    /// a bound a message of `n` bytes could cost `n * n`.
    pub(super) fn may_refuse(&self) -> bool {
        self.refused_bytes <= REJECTED_WORDS_BYTES + REJECTED_WORDS_RATIO * self.message.raw.len()
    }

    /// Notes that a word of so many bytes was read and refused.
    pub(super) fn refused(&mut self, text: &DecodedText<'_>, start: &UrlStart, octets: usize) {
        if octets > PREFILTER_BYTES && self.may_refuse() {
            self.refused_bytes += octets;
            if !self.may_refuse() {
                let at = self
                    .origin(&text.offset_map, Span::new(start.at, start.content))
                    .start;
                let most = format!(
                    "long words full of URLs that are none: words are read up to {PREFILTER_BYTES} octets from here"
                );
                (self.sink)(Finding::Diagnostic(Diagnostic::at(
                    DiagnosticKind::Limit,
                    at,
                    most,
                )));
            }
        }
    }

    /// Whether a bare start is worth reading its word.
    pub(super) fn prefiltered(
        &self,
        text: &[u8],
        start: &UrlStart,
        word: &BareWord,
    ) -> Result<(), RejectReason> {
        let guessed = match start.opening {
            Opening::Schemeless(scheme) => Some(scheme),
            _ => None,
        };
        prefilter(text, word, guessed, &self.extractor.scanner)?;
        // What no grammar takes in this word was met before, and browsers' schemes alone can do with it.
        let begin = &text[word.from..];
        let special = [&b"http:"[..], b"https:", b"ftp:", b"file:", b"ws:", b"wss:"];
        let browsers = guessed.is_some()
            || special.iter().any(|name| {
                begin.len() >= name.len() && begin[..name.len()].eq_ignore_ascii_case(name)
            });
        if word.from < self.ill_at && !browsers {
            Err(RejectReason::Implausible)
        } else {
            Ok(())
        }
    }

    /// Reads the URL of an attribute, and gives it.
    pub(super) fn link(&mut self, text: &DecodedText<'_>, link: &HtmlLink) {
        let Some(page) = &text.page else { return };
        let Extractor {
            scanner,
            options: Options { limits, .. },
        } = self.extractor;
        let region = format!("html:{}.{}", link.element, link.attribute);
        let anchor = link
            .anchor
            .map(|anchor| anchor.of(&text.bytes).trim_ascii());
        let spot = Spot {
            bytes: &page.source,
            offset_map: &page.offset_map,
            region: &region,
            quote_depth: 0,
            part: text.part,
            anchor,
            exact: link.exact,
            joins: &[],
            has_other_readings: text.has_other_readings,
        };
        let base = page
            .base
            .as_deref()
            .filter(|base| base.len() <= limits.url_bytes);
        let value = AttributeValue {
            text: &link.value,
            span: link.span,
            base,
        };
        if let Err(reason) = parse_attribute(&value, scanner, limits.url_bytes, &mut |found| {
            self.found(&spot, found)
        }) {
            let place = self.origin(&page.offset_map, link.span);
            (self.sink)(Finding::Reject(reason, &link.value, place));
        }
    }
}

/// Where the first octet of a word stands that no URI of RFC 3986 holds, or the first `%` that begins no escape.
fn ill_at(word: &[u8]) -> usize {
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let ill =
        |&at: &usize| !allowed(word[at]) || word[at] == b'%' && escaped_byte(&word[at..]).is_none();
    (0..word.len()).find(ill).unwrap_or(0)
}
