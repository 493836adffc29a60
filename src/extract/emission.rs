//! From a URL to its record.

use twox_hash::{XxHash3_64, XxHash3_128};

use super::message_pass::State;
use super::{Extractor, Finding, Options};
use crate::decode::{MimePart, OffsetMap};
use crate::parse::{
    FoundUrl, RedirectTarget, RejectReason, key, mismatch, parse_nested, parse_replacement,
    redirect_target, redirect_target_of, without_recipient,
};
use crate::record::{Record, RedirectSource, UrlContext, context_border, record_id};
use crate::repair::Join;
use crate::scan::Rules;
use crate::span::Span;

/// Where a URL was found, and in which text.
pub(super) struct Spot<'t> {
    /// The text that the URL's `raw` is a range of.
    pub(super) bytes: &'t [u8],
    pub(super) offset_map: &'t OffsetMap,
    pub(super) region: &'t str,
    pub(super) quote_depth: usize,
    pub(super) part: Option<&'t MimePart>,
    /// What a page shows for it.
    pub(super) anchor: Option<&'t [u8]>,
    /// Whether the URL's range in `bytes` is to the byte.
    pub(super) exact: bool,
    /// What was joined to read it.
    pub(super) joins: &'t [Join],
    /// Whether its bytes have other readings.
    pub(super) has_other_readings: bool,
}

impl State<'_, '_> {
    /// Holds a URL back or gives it.
    pub(super) fn found(&mut self, spot: &Spot<'_>, found: &FoundUrl<'_>) {
        let options = &self.extractor.options;
        if spot.has_other_readings && !self.is_new(spot, found) {
            let place = self.origin(spot.offset_map, found.raw);
            (self.sink)(Finding::Reject(RejectReason::Reread, found.full, place));
            return;
        }
        if !options.wants(found) {
            (self.sink)(Finding::Filtered);
            return;
        }
        if options.once_a_message {
            let key = key_hash(found.url());
            if !self.once.insert(key) {
                (self.sink)(Finding::Folded(key));
                return;
            }
        }
        self.urls += 1;
        let id = self.give(spot, found, None);
        self.unwrapped(spot, found, id);
    }

    /// Whether no other reading of these bytes gave this URL.
    pub(super) fn is_new(&mut self, spot: &Spot<'_>, found: &FoundUrl<'_>) -> bool {
        let raw = spot.offset_map.raw(found.raw).span;
        self.given.insert(XxHash3_128::oneshot_with_seed(
            (raw.start as u64) << 24 ^ raw.len() as u64,
            found.full,
        ))
    }

    /// Gives a URL and what is known of it, and its id.
    pub(super) fn give(
        &mut self,
        spot: &Spot<'_>,
        found: &FoundUrl<'_>,
        parent: Option<RedirectSource>,
    ) -> u128 {
        let Options {
            context_bytes,
            strip_recipient,
            limits,
            ..
        } = &self.extractor.options;
        let digest = self.digest();
        let path = spot.part.map_or("", |part| part.path.as_str());
        let before = self
            .seen
            .entry(XxHash3_64::oneshot_with_seed(
                XxHash3_64::oneshot(path.as_bytes()),
                found.full,
            ))
            .or_default();
        let id = record_id(digest, path, found.full, u64::from(*before));
        *before = before.saturating_add(1);
        let mut place = self.origin(spot.offset_map, found.raw);
        place.exact &= spot.exact;
        if self.info.is_none() {
            self.info = self.info();
        }
        let anchor = spot
            .anchor
            .map(|anchor| &anchor[..anchor.len().min(limits.field_bytes)]);
        let record = Record {
            found,
            id,
            raw: found.raw.of(spot.bytes),
            region: spot.region,
            quote_depth: spot.quote_depth,
            origin: place,
            message: self.info.as_ref(),
            part: spot.part,
            context: (*context_bytes > 0).then(|| around(spot.bytes, found.raw, *context_bytes)),
            anchor: anchor.filter(|anchor| !anchor.is_empty()),
            mismatch: anchor.map(|anchor| mismatch(anchor, found.url())),
            redirected_from: parent,
            joins: spot.joins,
        };
        match strip_recipient
            .then(|| without_recipient(found.full))
            .flatten()
        {
            None => (self.sink)(sorted(&record)),
            Some(text) => parse_replacement(found, &text, limits.url_bytes, &mut |stripped| {
                let stripped = Record {
                    found: stripped,
                    raw: stripped.full,
                    context: None,
                    ..record
                };
                (self.sink)(sorted(&stripped));
            }),
        }
        id
    }

    /// The URLs inside a redirector's, each as a child of the one around it.
    pub(super) fn unwrapped(&mut self, spot: &Spot<'_>, found: &FoundUrl<'_>, id: u128) {
        let Extractor { scanner, options } = self.extractor;
        if found.truncated.is_some() || options.rules == Rules::Rfc1738 {
            return;
        }
        let mut parent = id;
        let mut target = match found.verdicts {
            Some(verdicts) => redirect_target_of(found.full, &verdicts.components),
            None => redirect_target(found.full),
        };
        for _ in 0..options.limits.unwrap_depth {
            let Some(RedirectTarget { url, redirector }) = target else {
                return;
            };
            let mut child = None;
            parse_nested(
                found,
                &url,
                scanner,
                options.limits.url_bytes,
                &mut |inside| {
                    if options.wants(inside) {
                        child = Some(self.give(
                            spot,
                            inside,
                            Some(RedirectSource {
                                record_id: parent,
                                redirector,
                            }),
                        ));
                    }
                },
            );
            let Some(id) = child else { return };
            (parent, target) = (id, redirect_target(&url));
        }
    }
}

/// A record as what it is: found, or taken out of another.
fn sorted<'r>(record: &'r Record<'r>) -> Finding<'r> {
    if record.redirected_from.is_some() {
        Finding::Unwrapped(record)
    } else {
        Finding::Url(record)
    }
}

/// What URLs that mean the same have in common.
pub(crate) fn key_hash(url: &[u8]) -> u128 {
    XxHash3_128::oneshot(&key(url))
}

/// Up to `most` bytes before and after `span`, cut between characters.
fn around(text: &[u8], span: Span, most: usize) -> UrlContext<'_> {
    let from = context_border(text, span.start.saturating_sub(most));
    let to = context_border(text, text.len().min(span.end + most));
    UrlContext {
        before: &text[from..span.start],
        after: &text[span.end..to.max(span.end)],
    }
}
