//! Chooses among the readings of a logical line.
//!
//! The readings differ in dropped hyphens, in joined line ends, and in the punctuation that
//! belongs to the URL.

use std::borrow::Cow;

use memchr::memmem;

use super::components::{components, scheme, with_guessed_scheme};
use super::ending::{self, UrlEnd, WordInText, end_before_refused};
use super::found::{AcceptedUrl, AlternateReason, Alternates, Candidate, FoundUrl, ParseOutcome};
use super::shortened::{ShortenedComponent, bracketed_mark_len, shortened_component};
use super::verdict::{RejectReason, TextContext, Verdicts, accept};
use crate::byte_scan::prefix_len;
use crate::limits::AMBIGUOUS_HYPHENS;
use crate::repair::{
    AT_SIGN_CONFIDENCE, CORRECTED_CONFIDENCE, DEFANGED_CONFIDENCE, JOIN_CONFIDENCE, LogicalLine,
    REWRITTEN_LINK_CONFIDENCE, Repair, RepairSet, UNESCAPED_CONFIDENCE,
};
use crate::scan::{Opening, Rules, Scanner, defanged_mark, guessed_scheme, is_cut_short};
use crate::span::Span;

#[cfg(test)]
mod tests;

/// Confidence in a reading that is possible, but almost never the intended one.
const UNLIKELY: f32 = 0.02;

/// Confidence in the first line's URL below which it is not even an alternate.
const UNLIKELY_FIRST: f32 = 0.05;

/// Confidence in a bare URL that ends before a character its host or grammar refuses.
const BEFORE_REFUSED_CONFIDENCE: f32 = 0.9;

/// Confidence in a URL whose end is guessed: before an open bracket, letters of another script or
/// a glued word. Also the confidence in a URL with a vertical bar, or with such letters at its
/// end.
const GUESSED_END_CONFIDENCE: f32 = 0.9;

/// Confidence in a URL that ends before a tag or an index in brackets. In nine archives the only
/// such place was a path (`/[resource_name]`); trackers and `AsciiDoc` write links like that.
const BRACKETED_END_CONFIDENCE: f32 = 0.6;

/// Confidence in a URL in which residue of quoted-printable was decoded. The undecoded reading has
/// the rest.
const DECODED_CONFIDENCE: f32 = 0.95;

/// Text that another program may have inserted, and the text it replaced: the equals sign of
/// quoted-printable, and the mark that Google Groups puts at a soft break.
const DOUBTFUL: [(&[u8], &[u8]); 2] = [(b"=3D", b"="), (b"**", b"")];

/// Share of the confidence in a URL with such text that goes to the reading without it. On five
/// mailing lists with 741,534 URLs, all three `=3D` were residue, and three of five `**` elsewhere
/// were marks.
const DECODED_PART: f32 = 0.5;

/// Confidence in a URL whose scheme was guessed. Of 40 hosts that start with `www.` or `ftp.`, 39
/// were right. Of 391 hosts with a path on 40 mailing lists, all were right.
const SCHEMELESS_CONFIDENCE: f32 = 0.97;

/// Confidence in a URL whose author shortened its path.
const SHORTENED_CONFIDENCE: f32 = 0.7;

/// Share of the confidence in a URL with an overline that goes to the reading with a tilde. No
/// server uses overlines in paths.
const TILDE_CONFIDENCE: f32 = 0.9;

/// Parses the URL of a candidate and passes it to `sink`, if the candidate has one.
///
/// Reads the line at most 16 times, once for each combination of doubtful hyphens.
pub fn parse_candidate(
    candidate: &Candidate<'_>,
    scanner: &Scanner,
    url_bytes: usize,
    sink: &mut dyn FnMut(&FoundUrl<'_>),
) -> ParseOutcome {
    let parser = CandidateParser {
        candidate,
        scanner,
        url_bytes,
    };
    match candidate.close {
        Some(close) => ParseOutcome {
            resume: close + 1,
            reject: parser.wrapped(sink).err(),
        },
        None => parser.bare(sink),
    }
}

struct CandidateParser<'l> {
    candidate: &'l Candidate<'l>,
    scanner: &'l Scanner,
    url_bytes: usize,
}

/// A text that was accepted as a URL, and its verdicts.
struct Reading<'t> {
    full: &'t [u8],
    verdicts: Option<Verdicts<'t>>,
}

impl CandidateParser<'_> {
    /// Parses the content of a wrapper. It is a URL as a whole or not at all.
    fn wrapped(&self, sink: &mut dyn FnMut(&FoundUrl<'_>)) -> Result<(), RejectReason> {
        let line = self.candidate.line;
        let text = self.with_scheme(line.text());
        let dropped = without_hyphens(&text, &self.doubtful_hyphens(text.len()));
        let mut readings = dropped
            .iter()
            .filter_map(|text| self.reading(text, TextContext::Wrapped).ok());
        let mut repairs = self.repairs(line.joins().len(), usize::MAX);
        let reading = match self.reading(&text, TextContext::Wrapped) {
            Ok(reading) => reading,
            Err(reason) => {
                repairs.add(Repair::HyphenDropped);
                readings
                    .next()
                    .ok_or_else(|| self.shortened_or(&text, reason))?
            }
        };
        let confidence = self.confidence_of(self.shortened(reading.full, b"", b"")?);
        let mut alternates = Alternates::of(reading.full);
        let mut confidence = line
            .joins()
            .iter()
            .map(|join| join.confidence)
            .fold(confidence, f32::min);
        for other in readings {
            alternates.add(other.full, AlternateReason::HyphenDropped, UNLIKELY);
        }
        self.add_tildes(
            reading.full,
            TextContext::Wrapped,
            confidence,
            &mut alternates,
        );
        self.add_undecoded(repairs, &mut alternates);
        let wrapped = TextContext::Wrapped;
        self.add_decoded(reading.full, repairs, wrapped, confidence, &mut alternates);
        confidence = confidence.min(1.0 - alternates.confidence());
        let all = Span::new(0, line.text().len());
        self.accepted(reading, all, repairs, &alternates, confidence)
            .emit(sink);
        Ok(())
    }

    /// Returns the offsets of the hyphens before line breaks. The text has `text_len` bytes and
    /// ends with the logical line.
    fn doubtful_hyphens(&self, text_len: usize) -> Vec<usize> {
        let line = self.candidate.line;
        let scheme_len = text_len - line.text().len();
        line.joins()
            .iter()
            .filter(|join| join.repairs.has(Repair::Hyphen))
            .map(|join| scheme_len + join.at - 1)
            .collect()
    }

    /// Parses a word without a wrapper. Chooses the joined reading whose share is at least
    /// [`JOIN_CONFIDENCE`]; otherwise the text before the first join; if that is not a URL, the
    /// shortest joined reading. If the first line is too unlikely even for an alternate, the
    /// likeliest joined reading is chosen. A guessed scheme is equally doubtful in all readings
    /// and is ignored here.
    fn bare(&self, sink: &mut dyn FnMut(&FoundUrl<'_>)) -> ParseOutcome {
        let line = self.candidate.line;
        let parts = self.parts();
        let likely = prefix_len(line.joins(), |join| JOIN_CONFIDENCE <= join.confidence);
        let part = |joins: usize| parts.get(joins).copied().flatten();
        let (reach, least) = match part(0) {
            Some(first) if first < UNLIKELY_FIRST => {
                let largest = (1..parts.len()).filter_map(part).fold(0.0, f32::max);
                (parts.len() - 1, largest)
            }
            _ => (likely, JOIN_CONFIDENCE),
        };
        let is_chosen = |&joins: &usize| part(joins).is_some_and(|part| least <= part);
        let own = (1..=reach).find(is_chosen);
        let mut last = RejectReason::Implausible;
        for joins in own.into_iter().chain(0..=likely) {
            if let Some(written) = self.written_over(joins) {
                return self.on(written, |parser| parser.bare(sink));
            }
            match self.word(joins, &parts, sink) {
                Ok(url_len) => {
                    return ParseOutcome {
                        resume: line.text_range(Span::new(0, url_len)).end,
                        reject: None,
                    };
                }
                Err(reason) => last = reason,
            }
        }
        // A URL that its author shortened is not shortened further.
        let shorter = if last == RejectReason::Shortened {
            None
        } else {
            self.before_refused(sink)
        };
        match shorter {
            Some(url_len) => ParseOutcome {
                resume: line.text_range(Span::new(0, url_len)).end,
                reject: None,
            },
            None => ParseOutcome {
                resume: self.candidate.start.resume,
                reject: Some(last),
            },
        }
    }

    /// Parses the URL on the first line, before the first character that its host or grammar
    /// refuses. Returns its length in the line. The whole word is an alternate if browsers accept
    /// it.
    fn before_refused(&self, sink: &mut dyn FnMut(&FoundUrl<'_>)) -> Option<usize> {
        let (rules, prior) = (self.scanner.rules(), self.candidate.prior);
        if rules == Rules::Rfc1738 {
            return None;
        }
        let line = self.candidate.line.text();
        let whole = self.with_scheme(&line[..self.end(0).url]);
        let guessed = self.candidate.start.opening.guessed();
        let guessed = guessed.map_or(0, |scheme| scheme.len() + 3);
        let cut = end_before_refused(&whole, self.scanner)?.checked_sub(guessed)?;
        let end = ending::trimmed(&line[..cut], prior.last().copied(), rules);
        let text = self.with_scheme(&line[..end]);
        let reading = self.reading(&text, TextContext::Bare).ok()?;
        let shortened = self.shortened(&text, &line[end..], b"").ok()?;
        let confidence = BEFORE_REFUSED_CONFIDENCE.min(self.confidence_of(shortened));
        let mut alternates = Alternates::of(&text);
        if guessed == 0 && self.reading(&whole, TextContext::Attribute).is_ok() {
            alternates.add(&whole, AlternateReason::TrimmedTail, 1.0 - confidence);
        }
        let span = Span::new(0, end);
        self.accepted(reading, span, self.repairs(0, end), &alternates, confidence)
            .emit(sink);
        Some(end)
    }

    /// Parses the URL at the start of the line that extends over `joins` joins. Returns its length
    /// in the line.
    fn word(
        &self,
        joins: usize,
        parts: &[Option<f32>],
        sink: &mut dyn FnMut(&FoundUrl<'_>),
    ) -> Result<usize, RejectReason> {
        let line = self.candidate.line;
        let end = self.end(joins);
        let text = self.with_scheme(&line.text()[..end.url]);
        let reading = self
            .reading(&text, TextContext::Bare)
            .map_err(|reason| self.shortened_or(&text, reason))?;
        let is_last = joins == line.joins().len();
        let after = if is_last { self.candidate.after } else { b"" };
        let shortened = self.shortened(&text, &line.text()[end.url..end.word], after)?;
        if is_labelled_number(&text, after) {
            return Err(RejectReason::Implausible);
        }
        let repairs = self.repairs(joins, end.url);
        let mut confidence = self.confidence_of(shortened);
        if repairs.has(Repair::QuotedPrintable) {
            confidence = confidence.min(DECODED_CONFIDENCE);
        }
        let mut alternates = Alternates::of(&text);
        if self.scanner.rules() == Rules::Wide {
            confidence = self.add_other_joins(joins, parts, confidence, &mut alternates);
            self.add_longer_tail(end, &mut alternates);
            confidence = confidence.min(self.add_other_end(end, confidence, &mut alternates));
            self.add_tildes(&text, TextContext::Bare, confidence, &mut alternates);
            self.add_undecoded(repairs, &mut alternates);
            self.add_decoded(
                &text,
                repairs,
                TextContext::Bare,
                confidence,
                &mut alternates,
            );
            confidence = confidence.min(1.0 - alternates.confidence());
        }
        let span = Span::new(0, end.url);
        self.accepted(reading, span, repairs, &alternates, confidence)
            .emit(sink);
        Ok(end.url)
    }

    /// Returns the share of each reading over no join, one join and so on: the probability that
    /// the URL extends over these joins and not over the next. A reading that is not a URL has no
    /// share. Empty without joins, or if the sum of all shares is too small for an `f32`.
    fn parts(&self) -> Vec<Option<f32>> {
        let joins = self.candidate.line.joins();
        if joins.is_empty() {
            return Vec::new();
        }
        let (mut parts, mut reach) = (Vec::new(), 1.0);
        for number in 0..=joins.len() {
            let next = joins.get(number).map_or(0.0, |join| join.confidence);
            let is_url = self.reading(&self.over(number), TextContext::Bare).is_ok();
            parts.push(is_url.then_some(reach * (1.0 - next)));
            reach *= next;
        }
        let total: f32 = parts.iter().flatten().sum();
        if total <= 0.0 {
            return Vec::new();
        }
        parts.iter_mut().flatten().for_each(|part| *part /= total);
        parts
    }

    /// Returns the text of the URL that extends over `joins` joins, with its scheme.
    fn over(&self, joins: usize) -> Cow<'_, [u8]> {
        if let Some(written) = self.written_over(joins) {
            return self.on(written, |parser| parser.over(joins).into_owned().into());
        }
        self.with_scheme(&self.candidate.line.text()[..self.end(joins).url])
    }

    /// Adds the readings over more or fewer joins than the chosen one. All of them share
    /// `confidence` by their `parts`. Returns the confidence in the chosen reading.
    fn add_other_joins(
        &self,
        chosen: usize,
        parts: &[Option<f32>],
        confidence: f32,
        alternates: &mut Alternates<'_>,
    ) -> f32 {
        let Some(own) = parts.get(chosen).copied().flatten() else {
            return confidence;
        };
        for (joins, part) in parts.iter().enumerate() {
            let why = if joins < chosen {
                AlternateReason::HeadOnly
            } else {
                AlternateReason::BareContinuation
            };
            if let Some(part) = part.filter(|_| joins != chosen) {
                alternates.add(&self.over(joins), why, confidence * part);
            }
        }
        confidence * own + alternates.of_chosen
    }

    /// Returns the line as written, if a `=` was removed from it only after the first `joins`
    /// joins. If the URL does not extend over that line end, the `=` is its last character.
    fn written_over(&self, joins: usize) -> Option<&LogicalLine> {
        let line = self.candidate.line.written();
        let is_undone = |line: &LogicalLine| {
            line.repairs() != self.candidate.line.repairs()
                || self.repairs(joins, usize::MAX).has(Repair::QuotedPrintable)
        };
        line.filter(|line| !is_undone(line))
    }

    /// Calls `read` with the parser of another line of the candidate.
    fn on<R>(&self, line: &LogicalLine, read: impl FnOnce(&CandidateParser<'_>) -> R) -> R {
        let candidate = Candidate {
            line,
            ..*self.candidate
        };
        read(&CandidateParser {
            candidate: &candidate,
            ..*self
        })
    }

    /// Adds the reading of the line as written, without the decoding that `repairs` lists.
    fn add_undecoded(&self, repairs: RepairSet, alternates: &mut Alternates<'_>) {
        let line = self.candidate.line.written();
        let undone = [
            Repair::QuotedPrintable,
            Repair::Escape,
            Repair::Reference,
            Repair::Invisible,
        ];
        let is_undone = undone.into_iter().any(|repair| repairs.has(repair));
        if let Some(line) = line.filter(|_| is_undone) {
            let mut add = |found: &FoundUrl<'_>| {
                let confidence = 1.0 - DECODED_CONFIDENCE;
                alternates.add(found.full, AlternateReason::Undecoded, confidence);
            };
            self.on(line, |parser| {
                parse_candidate(parser.candidate, self.scanner, self.url_bytes, &mut add)
            });
        }
    }

    /// Adds the reading without text that another program may have inserted, if no other repair
    /// proved that it did.
    fn add_decoded(
        &self,
        full: &[u8],
        repairs: RepairSet,
        context: TextContext,
        confidence: f32,
        alternates: &mut Alternates<'_>,
    ) {
        let is_undone = repairs.has(Repair::QuotedPrintable) || repairs.has(Repair::Escape);
        // Most URLs contain neither sign.
        let may_have = memchr::memchr2(b'=', b'*', full).is_some();
        if self.scanner.rules() == Rules::Rfc1738 || is_undone || !may_have {
            return;
        }
        for (written, meant) in DOUBTFUL {
            let decoded = with_replacements(full, written, meant);
            if let Some(decoded) = decoded.filter(|text| self.reading(text, context).is_ok()) {
                let part = DECODED_PART * confidence;
                alternates.add(&decoded, AlternateReason::Decoded, part);
                return;
            }
        }
    }

    /// Adds the reading that keeps the trimmed characters which could belong to the URL.
    fn add_longer_tail(&self, end: UrlEnd, alternates: &mut Alternates<'_>) {
        let line = self.candidate.line.text();
        // Full stops, commas and similar marks practically never belong to the URL.
        let tail = prefix_len(&line[end.url..end.word], |byte| b")]}!".contains(byte));
        if tail == 0 {
            return;
        }
        let longer = self.with_scheme(&line[..end.url + tail]);
        if self.reading(&longer, TextContext::Bare).is_ok() {
            alternates.add(&longer, AlternateReason::TrimmedTail, UNLIKELY);
        }
    }

    /// Adds the reading with the other end, or up to the first byte that a URL cannot have, if the
    /// chosen end is guessed. Returns the maximum confidence in the chosen reading.
    fn add_other_end(&self, end: UrlEnd, confidence: f32, alternates: &mut Alternates<'_>) -> f32 {
        let Some(other) = end.other else {
            return 1.0;
        };
        let line = self.candidate.line.text();
        let own = match line.get(end.word) {
            Some(b'[' | b'{') => BRACKETED_END_CONFIDENCE,
            _ => GUESSED_END_CONFIDENCE,
        };
        let mut other = self.with_scheme(&line[..other]);
        if self.reading(&other, TextContext::Bare).is_err()
            && let Some(refused) = end_before_refused(&other, self.scanner)
            && end.url < refused
        {
            let written = ending::trimmed(&other[..refused], None, self.scanner.rules());
            other.to_mut().truncate(written);
        }
        if self.reading(&other, TextContext::Bare).is_ok() {
            alternates.add(&other, AlternateReason::OtherEnd, (1.0 - own) * confidence);
        }
        own
    }

    /// Adds the reading with tildes instead of overlines.
    fn add_tildes(
        &self,
        full: &[u8],
        context: TextContext,
        confidence: f32,
        alternates: &mut Alternates<'_>,
    ) {
        if full.is_ascii() || self.scanner.rules() == Rules::Rfc1738 {
            return;
        }
        if let Some(full) = with_tildes(full)
            && self.reading(&full, context).is_ok()
        {
            alternates.add(&full, AlternateReason::Tilde, TILDE_CONFIDENCE * confidence);
        }
    }

    /// Returns the end of the URL that extends over `joins` joins.
    fn end(&self, joins: usize) -> UrlEnd {
        let line = self.candidate.line;
        let reach = line
            .joins()
            .get(joins)
            .map_or(line.text().len(), |join| join.at);
        let is_last = reach == line.text().len();
        let text = WordInText {
            word: &line.text()[..reach],
            prior: self.candidate.prior,
            after: if is_last { self.candidate.after } else { b"" },
        };
        let rules = self.scanner.rules();
        // Without joins, the line ends with its run of characters. But a join may have removed a
        // byte from it, or a decoded escape may end it.
        let mut end = if joins == 0 && line.repairs() == RepairSet::default() {
            ending::end_of_run(text, rules)
        } else {
            ending::end(text, rules)
        };
        if rules == Rules::Wide {
            end.url -= bracketed_mark_len(&text.word[..end.url]);
        }
        end
    }

    /// Returns the component of the URL `full` that its author shortened, judged by the bytes
    /// trimmed from its end and those after it.
    fn shortened(
        &self,
        full: &[u8],
        tail: &[u8],
        after: &[u8],
    ) -> Result<Option<ShortenedComponent>, RejectReason> {
        if self.scanner.rules() == Rules::Rfc1738 {
            return Ok(None);
        }
        // In `http://a [.] b.example`, the text before the space is half of a host: 12 places.
        let mark = after.strip_prefix(b" ").and_then(defanged_mark);
        let is_half = after.starts_with(b" dot ") || mark.is_some_and(|mark| mark.byte == b'.');
        if is_half && components(full).path.is_empty() {
            return Err(RejectReason::Shortened);
        }
        match shortened_component(full, tail, after) {
            Some(ShortenedComponent::Host) => Err(RejectReason::Shortened),
            component => Ok(component),
        }
    }

    /// Returns `Shortened` if a host that was cut short explains the rejection of `text`,
    /// otherwise `reason`.
    fn shortened_or(&self, text: &[u8], reason: RejectReason) -> RejectReason {
        let is_host_cut = components(text).host.is_some_and(is_cut_short);
        if self.scanner.rules() == Rules::Wide && is_host_cut {
            RejectReason::Shortened
        } else {
            reason
        }
    }

    /// Returns the repairs of the line and of those of the first `joins` joins that are inside the
    /// URL, the first `len` bytes of the line.
    fn repairs(&self, joins: usize, len: usize) -> RepairSet {
        let line = self.candidate.line;
        line.joins()[..joins]
            .iter()
            .filter(|join| 0 < join.at && join.at < len)
            .flat_map(|join| join.repairs.iter())
            .chain(line.repairs().iter())
            .collect()
    }

    /// Returns the confidence in a URL whose component `shortened` was cut short, before joins
    /// reduce it.
    fn confidence_of(&self, shortened: Option<ShortenedComponent>) -> f32 {
        let of_start = match (shortened, self.candidate.start.opening) {
            (Some(_), _) => SHORTENED_CONFIDENCE,
            (_, Opening::Schemeless(_) | Opening::HostPath(_)) => SCHEMELESS_CONFIDENCE,
            _ => 1.0,
        };
        let of_repair = |repair| match repair {
            Repair::AtSign => AT_SIGN_CONFIDENCE,
            Repair::QuotedPrintable | Repair::Reference | Repair::Invisible => DECODED_CONFIDENCE,
            // Outside the joins, this repair occurs only in a gateway's link that is put together
            // from lines.
            Repair::BareContinuation => REWRITTEN_LINK_CONFIDENCE,
            Repair::SchemeCorrected => CORRECTED_CONFIDENCE,
            Repair::Defang => DEFANGED_CONFIDENCE,
            Repair::Roff | Repair::Escape => UNESCAPED_CONFIDENCE,
            _ => 1.0,
        };
        self.candidate
            .line
            .repairs()
            .iter()
            .map(of_repair)
            .fold(of_start, f32::min)
    }

    /// Returns the text with the scheme that is guessed for it, or unchanged if it has a scheme.
    fn with_scheme<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let guessed = match self.candidate.start.opening {
            Opening::UrlBracket if self.scanner.rules() == Rules::Wide => guessed_scheme(text),
            opening => opening.guessed(),
        };
        guessed.map_or(text.into(), |scheme| {
            with_guessed_scheme(scheme, text).into()
        })
    }

    /// Reads a text. Fails if it is not a URL by the rules in force.
    fn reading<'t>(
        &self,
        full: &'t [u8],
        context: TextContext,
    ) -> Result<Reading<'t>, RejectReason> {
        let context = match self.candidate.start.opening {
            Opening::Schemeless(_) if !self.candidate.start.is_spaced() => TextContext::Guessed,
            _ => context,
        };
        let verdicts = accept(full, context, self.scanner, self.url_bytes)?;
        Ok(Reading { full, verdicts })
    }

    /// Returns the chosen reading. `span` is its range in the logical line.
    fn accepted<'a>(
        &self,
        reading: Reading<'a>,
        span: Span,
        repairs: RepairSet,
        alternates: &'a Alternates<'_>,
        confidence: f32,
    ) -> AcceptedUrl<'a> {
        AcceptedUrl {
            full: reading.full,
            wrapper: self.candidate.start.opening.into(),
            raw: self.candidate.line.text_range(span),
            url_bytes: self.url_bytes,
            verdicts: reading.verdicts,
            repairs,
            alternates: &alternates.list,
            confidence,
        }
    }
}

/// Returns `url` with a tilde for each overline (U+203E), or `None` if it has none. The overline
/// is a character, or its UTF-8 read as windows-1252 (`â€¾`).
///
/// In the Japanese character sets JIS X 0201 and `Shift_JIS`, the tilde's byte is an overline.
fn with_tildes(url: &[u8]) -> Option<Vec<u8>> {
    let url = std::str::from_utf8(url).ok()?;
    let restored = url
        .replace("\u{e2}\u{20ac}\u{be}", "~")
        .replace('\u{203e}', "~");
    (restored.len() < url.len()).then(|| restored.into_bytes())
}

/// Returns `text` with each `written` replaced by `meant`. `None` if there is no `written`, or if
/// the first one has another meaning.
fn with_replacements(text: &[u8], written: &[u8], meant: &[u8]) -> Option<Vec<u8>> {
    let first = memmem::find(text, written)?;
    let after = &text[first + written.len()..];
    // It is a field with the value `3D`, part of a longer run of signs, or the mark before a
    // redirector's target.
    if matches!(after, [] | [b'&' | b'*', ..]) || after.starts_with(b"http") {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for at in memmem::find_iter(text, written) {
        out.extend_from_slice(&text[from..at]);
        out.extend_from_slice(meant);
        from = at + written.len();
    }
    out.extend_from_slice(&text[from..]);
    Some(out)
}

/// Returns `true` if `url` is a label and the start of a telephone number that is written with
/// spaces: `Tel:+351 21 302`.
fn is_labelled_number(url: &[u8], after: &[u8]) -> bool {
    scheme(url).eq_ignore_ascii_case(b"tel")
        && matches!(after, [b' ', next, ..] if next.is_ascii_digit() || *next == b'(')
}

/// Returns the readings of `text` with some of the hyphens at the offsets `doubtful` dropped:
/// fewest first, then leftmost.
///
/// With more than [`AMBIGUOUS_HYPHENS`] of them, the only reading drops all. No reading occurs
/// twice or equals `text`.
pub(super) fn without_hyphens(text: &[u8], doubtful: &[usize]) -> Vec<Vec<u8>> {
    if doubtful.is_empty() {
        return Vec::new();
    }
    if AMBIGUOUS_HYPHENS < doubtful.len() {
        return vec![without(text, |at| doubtful.contains(&at))];
    }
    let mut readings: Vec<Vec<u8>> = Vec::new();
    for choice in choices(doubtful.len()) {
        let reading = without(text, |at| {
            doubtful
                .iter()
                .position(|&hyphen| hyphen == at)
                .is_some_and(|bit| choice >> bit & 1 == 1)
        });
        if reading != text && !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    readings
}

/// Returns all nonempty sets of hyphens, the smallest first. Bit n is hyphen n.
fn choices(hyphens: usize) -> Vec<usize> {
    let mut choices: Vec<usize> = (1..1 << hyphens).collect();
    // Of two sets of one size, the one that has the leftmost hyphen in which they differ comes
    // first.
    choices.sort_by_key(|&set: &usize| (set.count_ones(), set.reverse_bits() ^ usize::MAX));
    choices
}

/// Returns `text` without the bytes at the offsets that `is_dropped` accepts.
fn without(text: &[u8], is_dropped: impl Fn(usize) -> bool) -> Vec<u8> {
    text.iter()
        .enumerate()
        .filter(|(at, _)| !is_dropped(*at))
        .map(|(_, &byte)| byte)
        .collect()
}
