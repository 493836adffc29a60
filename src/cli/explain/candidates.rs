//! The candidates of a message, on the page of `urlspool explain`.

use std::fmt::Write;

use super::page::{CandidateVerdict, Page};
use super::wording::{alternate_text, reject_text, repair_text, wrapper_text};
use crate::extract::{Extractor, Finding};
use crate::origin::Source;
use crate::parse::Grammar;
use crate::record::{FoundRecord, RecordOrigin};
use crate::repair::Join;
use crate::split::Message;

impl Page {
    /// Explains the candidates of a message.
    pub(super) fn candidates(&mut self, message: &Message<'_>, source: &Source) {
        self.line(0, "Its candidates, in their order:");
        let extractor = Extractor::new(self.options.clone());
        let mut count = 0;
        extractor.extract(message, source, &mut |finding| match finding {
            Finding::Url(record) => {
                count += 1;
                self.url(record);
            }
            Finding::Unwrapped(record) => {
                let by = record
                    .redirected_from
                    .map_or("a redirector", |from| from.redirector);
                let url = shortened(record.found.full);
                self.line(2, &format!("inside it, redirected by {by}: {url}"));
            }
            Finding::Reject {
                reason,
                text,
                origin: place,
            } => {
                count += 1;
                let text = shortened(text);
                self.candidate(&range(&place), CandidateVerdict::Rejected, &text);
                self.line(2, &reject_text(reason));
            }
            Finding::Filtered
            | Finding::Duplicate { .. }
            | Finding::Diagnostic(_)
            | Finding::Parts { .. } => {}
        });
        if count == 0 {
            self.line(1, "none: no text looks like the start of a URL");
        }
    }

    fn url(&mut self, record: &FoundRecord<'_>) {
        let found = record.found;
        let quoted = match record.quote_depth {
            0 => String::new(),
            depth => format!(", quoted {depth} deep"),
        };
        let (range, region, url) = (range(&record.origin), record.region, shortened(found.full));
        let place = format!("{range}, {region}{quoted}");
        self.candidate(&place, CandidateVerdict::Accepted, &url);
        let wrapper = wrapper_text(found.wrapper);
        let confidence = found.confidence;
        self.line(
            2,
            &format!("set off by {wrapper}; confidence {confidence:.2}"),
        );
        for repair in found.repairs.iter() {
            self.line(2, &format!("{}: {}", repair.name(), repair_text(repair)));
        }
        self.verdicts(record);
        for join in record.joins {
            self.join(join);
        }
        for other in found.alternates {
            let (why, url) = (alternate_text(other.why), shortened(&other.full));
            let confidence = other.confidence;
            self.line(2, &format!("or, {why}, confidence {confidence:.2}: {url}"));
        }
    }

    fn verdicts(&mut self, record: &FoundRecord<'_>) {
        let Some(verdicts) = record.found.verdicts else {
            let text = "longer than the limit on URLs: not checked by the grammars";
            return self.line(2, text);
        };
        let names: Vec<&str> = verdicts.conforms().map(Grammar::name).collect();
        let names = if names.is_empty() {
            "no grammar".to_owned()
        } else {
            names.join(", ")
        };
        self.line(2, &format!("accepted by {names}"));
        if let Err(reject) = &verdicts.rfc1738 {
            self.line(2, &format!("rejected by rfc1738: {reject}"));
        }
    }

    /// Explains why a bare URL goes on in the next line, or does not. Joins of other kinds have no features.
    fn join(&mut self, join: &Join) {
        let mut list = String::new();
        for feature in join.features.iter() {
            let _ = write!(list, " {} {:+},", feature.name(), feature.points());
        }
        if list.is_empty() {
            return;
        }
        let sum = join.features.points();
        let (at, confidence) = (join.at, join.confidence);
        let list = list.trim_end_matches(',');
        self.line(
            2,
            &format!(
                "the next line, after byte {at}:{list}; {sum:+} points, confidence {confidence:.2}"
            ),
        );
    }
}

/// The bytes and the line of a candidate.
fn range(place: &RecordOrigin<'_>) -> String {
    let about = if place.exact { "" } else { "about " };
    let (start, end, line) = (place.start, place.end, place.line);
    format!("{about}bytes {start} to {end}, line {line}")
}

/// Bytes as text, cut after 300 characters.
fn shortened(bytes: &[u8]) -> String {
    const MAX_CHARS: usize = 300;
    let text = String::from_utf8_lossy(bytes);
    let kept: String = text.chars().take(MAX_CHARS).collect();
    if kept.len() < text.len() {
        format!("{kept} ... ({} bytes)", bytes.len())
    } else {
        kept
    }
}
