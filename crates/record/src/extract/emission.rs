//! Emits URLs: applies filters, drops duplicates, builds the record and follows redirector targets.

use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::vec;

use twox_hash::XxHash3_64;

use super::message_pass::{ExtractLimit, MessagePass};
use super::{Extractor, Finding, Unique};
use crate::record::{Demand, FoundRecord, RedirectSource, UrlContext, context_border, record_id};
use urlspool_mail::decode::{Author, DecodedText, EXTERNAL_BODY_REGION, MimePart, OffsetMap};
use urlspool_text::diagnostic::UrlFilter;
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::{CONTEXT_BYTES, COUNTED_URLS, NESTED_TARGETS, QUERY_TARGETS};
use urlspool_text::parse::{
    FoundUrl, QUERY_TARGET, RedirectTarget, RejectReason, key, mismatch, parse_nested,
    parse_replacement, redirect_targets, redirect_targets_of, without_recipient,
};
use urlspool_text::repair::Join;
use urlspool_text::scan::Rules;
use urlspool_text::span::Span;

/// Location of a URL: the text that holds it, and its position there.
pub(super) struct Location<'t> {
    /// The text that [`FoundUrl::raw`] is a range of.
    pub(super) bytes: &'t [u8],
    pub(super) offset_map: &'t OffsetMap,
    pub(super) region: &'t str,
    pub(super) quote_depth: usize,
    pub(super) part: Option<&'t MimePart>,
    /// The innermost message that holds the URL; `None` in the outermost one.
    pub(super) author: Option<&'t Arc<Author>>,
    /// Link text on an HTML page.
    pub(super) anchor: Option<&'t [u8]>,
    /// `true` if the URL's range in `bytes` is exact to the byte.
    pub(super) exact: bool,
    /// Joins in the URL's logical line.
    pub(super) joins: &'t [Join],
    /// `true` if the same raw bytes can be read in other ways (broken MIME).
    pub(super) has_other_readings: bool,
}

impl<'t> Location<'t> {
    /// Location in a text that is a single URL, built from content-type parameters.
    pub(super) fn of(text: &'t DecodedText<'_>) -> Location<'t> {
        Location {
            bytes: &text.bytes,
            offset_map: &text.offset_map,
            region: EXTERNAL_BODY_REGION,
            quote_depth: 0,
            part: text.part,
            author: text.author,
            anchor: None,
            exact: false,
            joins: &[],
            has_other_readings: text.has_other_readings,
        }
    }

    /// Returns up to `max_bytes` bytes of the link text.
    fn shown_text(&self, max_bytes: usize) -> Option<&'t [u8]> {
        self.anchor
            .map(|anchor| &anchor[..anchor.len().min(max_bytes)])
    }

    /// Returns `true` if the link text names a different host than the URL, or `None` if there is
    /// no link text.
    fn mismatch(&self, found: &FoundUrl<'_>, max_bytes: usize) -> Option<bool> {
        let shown = self.shown_text(max_bytes)?;
        Some(mismatch(shown, found.url()))
    }
}

impl MessagePass<'_, '_> {
    /// Emits a URL and the URLs inside it, each unless a filter excludes it or it is a duplicate.
    pub(super) fn report(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) {
        if location.has_other_readings && !self.is_new(location, found) {
            self.reject(
                RejectReason::Reread,
                found.full,
                location.offset_map,
                found.raw,
            );
            return;
        }
        let id = self.emit_wanted(location, found, None);
        self.emit_targets(location, found, id);
    }

    /// Returns `true` if no other reading of these bytes produced this URL. Only the first
    /// [`COUNTED_URLS`] readings are remembered.
    pub(super) fn is_new(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) -> bool {
        let raw = location.offset_map.raw(found.raw).span;
        let [start, len] = [raw.start, raw.len()].map(usize::to_le_bytes);
        let hash = hash_pieces(&[&start, &len, found.full]);
        if self.reported_readings.len() < COUNTED_URLS {
            self.reported_readings.insert(hash)
        } else {
            !self.reported_readings.contains(&hash)
        }
    }

    /// Emits the record of a URL, or the reason why it has none. Returns the record's id, which the
    /// records of the URLs inside it refer to even if this one has no record; 0 if neither it nor a
    /// URL inside it has a record.
    fn emit_wanted(
        &mut self,
        location: &Location<'_>,
        found: &FoundUrl<'_>,
        parent: Option<RedirectSource>,
    ) -> u128 {
        let is_unwrapped = parent.is_some();
        let is_unique = self.extractor.options.unique == Unique::Message;
        if let Some(filter) = self.filter_of(location, found) {
            (self.sink)(Finding::Filtered {
                filter,
                is_unwrapped,
            });
        } else if let Some(key) = is_unique.then(|| key_hash(found))
            && !self.reported_keys.insert(key)
        {
            (self.sink)(Finding::Duplicate { key, is_unwrapped });
        } else {
            return self.emit(location, found, parent);
        }
        self.count_steps(written_bytes(found), location.offset_map, found.raw);
        if is_unwrapped || !self.targets_in(found).is_empty() {
            return self.next_id(location, found);
        }
        // Without its id, which takes the message's digest. Other records stay the same as if this
        // one was written.
        if self.extractor.options.ids == Demand::Needed {
            self.next_occurrence(location, found);
        }
        0
    }

    /// Emits the record of a URL and returns the record's id.
    fn emit(
        &mut self,
        location: &Location<'_>,
        found: &FoundUrl<'_>,
        parent: Option<RedirectSource>,
    ) -> u128 {
        let options = &self.extractor.options;
        let (context_bytes, limits) = (options.context_bytes.min(CONTEXT_BYTES), &options.limits);
        self.urls += u64::from(parent.is_none());
        let id = self.next_id(location, found);
        let digest = match options.ids {
            Demand::Needed => self.digests().message,
            Demand::Unneeded => 0,
        };
        self.count_steps(written_bytes(found), location.offset_map, found.raw);
        let mut origin = self.origin(location.offset_map, found.raw);
        origin.exact &= location.exact;
        self.read_info();
        if found.truncated.is_some() {
            self.note(ExtractLimit::Url, origin.start);
        }
        let anchor_bytes = location.anchor.map_or(0, <[u8]>::len);
        let is_cut = location.author.is_some_and(|author| author.info.is_cut);
        if limits.field_bytes < anchor_bytes || is_cut {
            self.note(ExtractLimit::Field, origin.start);
        }
        let anchor = location.shown_text(limits.field_bytes);
        let mismatch = location.mismatch(found, limits.field_bytes);
        let record = FoundRecord {
            found,
            id,
            digest,
            raw: found.raw.of(location.bytes),
            region: location.region,
            quote_depth: location.quote_depth,
            origin,
            message: self.info.as_ref(),
            author: location.author,
            part: location.part,
            context: (context_bytes > 0).then(|| context(location.bytes, found.raw, context_bytes)),
            anchor: anchor.filter(|anchor| !anchor.is_empty()),
            mismatch,
            redirected_from: parent,
            joins: location.joins,
        };
        let strips = options.strip_recipient;
        match strips.then(|| without_recipient(found.full)).flatten() {
            None => (self.sink)(finding(&record)),
            Some(text) => parse_replacement(found, &text, limits.url_bytes, &mut |stripped| {
                let stripped = FoundRecord {
                    found: stripped,
                    raw: stripped.full,
                    context: None,
                    ..record
                };
                (self.sink)(finding(&stripped));
            }),
        }
        id
    }

    /// Returns the first filter that excludes a URL.
    fn filter_of(&self, location: &Location<'_>, found: &FoundUrl<'_>) -> Option<UrlFilter> {
        let options = &self.extractor.options;
        options.filter_of(found, location.region, || {
            location.mismatch(found, options.limits.field_bytes) == Some(true)
        })
    }

    /// Returns the number of earlier records of this URL in its part, and counts one more.
    fn next_occurrence(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) -> u32 {
        let path = location.part.map_or("", |part| part.path.as_str());
        let is_full = COUNTED_URLS <= self.occurrences.len();
        let seed = XxHash3_64::oneshot(path.as_bytes());
        let key = XxHash3_64::oneshot_with_seed(seed, found.full);
        let before = match self.occurrences.entry(key) {
            Entry::Vacant(_) if is_full => &mut self.uncounted,
            entry => entry.or_default(),
        };
        let number = *before;
        *before = before.saturating_add(1);
        number
    }

    /// Returns the identifier of the next record of this URL in its part, or 0 if it is not needed.
    fn next_id(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) -> u128 {
        if self.extractor.options.ids == Demand::Unneeded {
            return 0;
        }
        let digest = self.digests().fragment;
        let path = location.part.map_or("", |part| part.path.as_str());
        let before = self.next_occurrence(location, found);
        record_id(digest, path, found.full, before)
    }

    /// Returns the URLs directly inside a URL. Empty if the options or limits prevent a search.
    fn targets_in(&self, found: &FoundUrl<'_>) -> Vec<RedirectTarget> {
        let is_searched = found.truncated.is_none()
            && self.extractor.options.rules != Rules::Rfc1738
            && self.may_take_steps();
        match found.verdicts {
            _ if !is_searched => Vec::new(),
            Some(verdicts) => redirect_targets_of(found.full, &verdicts.components),
            None => redirect_targets(found.full),
        }
    }

    /// Emits the URLs inside a URL. Each is a child of the URL around it.
    fn emit_targets(&mut self, location: &Location<'_>, found: &FoundUrl<'_>, id: u128) {
        let Extractor {
            scanner, options, ..
        } = self.extractor;
        let (max_bytes, max_depth) = (options.limits.url_bytes, options.limits.unwrap_depth);
        let targets = self.targets_in(found);
        // A depth of 0 turns the search off, so this is not a limit to report.
        if targets.is_empty() || max_depth == 0 {
            return;
        }
        let mut open = vec![OpenUrl::new(id, 1.0, targets)];
        let mut emitted = 0;
        while let Some(around) = open.last_mut() {
            let Some(RedirectTarget { url, redirector }) = around.targets.next() else {
                open.pop();
                continue;
            };
            if NESTED_TARGETS <= emitted || QUERY_TARGETS <= around.emitted {
                self.note_in(ExtractLimit::Targets, location.offset_map, found.raw);
                open.pop();
                continue;
            }
            around.emitted += 1;
            emitted += 1;
            let outer = RedirectSource {
                record_id: around.id,
                redirector,
            };
            let mut confidence = around.confidence;
            if redirector == QUERY_TARGET {
                confidence *= QUERY_CONFIDENCE;
            }
            let mut child = None;
            parse_nested(found, &url, confidence, scanner, max_bytes, &mut |inside| {
                child = Some(self.emit_wanted(location, inside, Some(outer)));
            });
            let inner = child.map(|id| (id, redirect_targets(&url)));
            match inner.filter(|(_, targets)| !targets.is_empty()) {
                None => {}
                Some(_) if max_depth <= open.len() => {
                    self.note_in(ExtractLimit::Unwrap, location.offset_map, found.raw);
                }
                Some((id, targets)) => open.push(OpenUrl::new(id, confidence, targets)),
            }
        }
    }
}

/// A URL whose inner URLs are being emitted.
struct OpenUrl {
    /// Identifier of its record.
    id: u128,
    /// Confidence in its reading, relative to the outermost URL.
    confidence: f32,
    targets: vec::IntoIter<RedirectTarget>,
    /// Number of targets emitted so far.
    emitted: usize,
}

impl OpenUrl {
    fn new(id: u128, confidence: f32, targets: Vec<RedirectTarget>) -> OpenUrl {
        OpenUrl {
            id,
            confidence,
            targets: targets.into_iter(),
            emitted: 0,
        }
    }
}

/// Confidence in a URL inside another URL's query. Its last parameters may belong to the outer URL.
const QUERY_CONFIDENCE: f32 = 0.95;

/// Returns the total length of the URLs in a record.
fn written_bytes(found: &FoundUrl<'_>) -> usize {
    let alternates = found
        .alternates
        .iter()
        .map(|alternate| alternate.full.len());
    found.full.len() + alternates.sum::<usize>()
}

/// Returns the finding for a record: a URL of the message, or one unwrapped from another URL.
fn finding<'r>(record: &'r FoundRecord<'r>) -> Finding<'r> {
    if record.redirected_from.is_some() {
        Finding::Unwrapped(record)
    } else {
        Finding::Url(record)
    }
}

/// Hashes a URL's key and fragment. Equivalent URLs with the same fragment have the same hash. For
/// a truncated URL, the hash covers all of its bytes.
#[must_use]
pub fn key_hash(found: &FoundUrl<'_>) -> u128 {
    let mut text = key(found.url());
    if let Some(fragment) = found.fragment() {
        text.push(b'#');
        text.extend_from_slice(fragment);
    }
    if let Some(truncated) = found.truncated {
        text.extend_from_slice(&truncated.full_hash.to_le_bytes());
    }
    hash_pieces(&[&text])
}

/// Returns up to `max_bytes` bytes before and after `span`, cut between words. A word next to the
/// URL that is longer than this is cut between characters: scripts without blanks have such words.
fn context(text: &[u8], span: Span, max_bytes: usize) -> UrlContext<'_> {
    let (text_before, text_after) = (&text[..span.start], &text[span.end..]);
    let lowest = span.start.saturating_sub(max_bytes);
    let from = (lowest..span.start).find(|&at| context_border(text, at) == at);
    let from = from.unwrap_or(span.start);
    let to = text.len().min(span.end.saturating_add(max_bytes));
    let to = context_border(text, to).max(span.end);
    let (before, after) = (&text[from..span.start], &text[span.end..to]);
    let first_blank = before.iter().position(u8::is_ascii_whitespace);
    let last_blank = after.iter().rposition(u8::is_ascii_whitespace);
    UrlContext {
        before: match first_blank.map(|blank| &before[blank + 1..]) {
            Some(whole)
                if is_within_word(text, from)
                    && is_kept(whole, text_before.iter().rev(), max_bytes) =>
            {
                whole
            }
            _ => before,
        },
        after: match last_blank.map(|blank| &after[..blank]) {
            Some(whole)
                if is_within_word(text, to) && is_kept(whole, text_after.iter(), max_bytes) =>
            {
                whole
            }
            _ => after,
        },
    }
}

/// Returns `true` if an offset is inside a word.
fn is_within_word(text: &[u8], at: usize) -> bool {
    let around = at.checked_sub(1).and_then(|from| text.get(from..=at));
    around.is_some_and(|around| !around.iter().any(u8::is_ascii_whitespace))
}

/// Returns `true` if a context keeps only whole words. This needs a whole word in it, or a word
/// next to the URL, at the start of `bytes`, that is no longer than the context.
fn is_kept<'t>(whole: &[u8], bytes: impl Iterator<Item = &'t u8>, max_bytes: usize) -> bool {
    let mut word = bytes
        .skip_while(|byte| !is_letter(**byte))
        .take_while(|byte| !byte.is_ascii_whitespace());
    whole.iter().any(|byte| is_letter(*byte)) || word.nth(max_bytes).is_none()
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_at_most_as_long_as_asked() {
        let text = "\u{E9}\u{4E2D}\u{1F600} http://a.example/ \u{1F600}\u{4E2D}\u{E9}";
        let start = text.find("http").unwrap();
        let span = Span::new(start, start + "http://a.example/".len());
        for max_bytes in 0..12 {
            let found = context(text.as_bytes(), span, max_bytes);
            for side in [found.before, found.after] {
                assert!(side.len() <= max_bytes, "{max_bytes}");
                assert!(std::str::from_utf8(side).is_ok(), "{max_bytes}");
            }
        }
    }
}
