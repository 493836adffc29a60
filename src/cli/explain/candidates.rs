//! The candidates of a message, on the page of `urlspool explain`.

use std::fmt::Write;

use super::page::Page;
use super::wording::{in_words, instead, set_off, undone};
use crate::extract::{Extractor, Finding, extract};
use crate::origin::Source;
use crate::parse::Grammar;
use crate::record::{Record, RecordOrigin};
use crate::repair::Join;
use crate::split::Message;

impl Page {
    pub(super) fn candidates(&mut self, message: &Message<'_>, source: &Source) {
        self.line(0, "Its candidates, in the order in which they stand there:");
        let extractor = Extractor::new(self.options.clone());
        let mut count = 0;
        extract(message, source, &extractor, &mut |finding| match finding {
            Finding::Url(record) => {
                count += 1;
                self.taken(record);
            }
            Finding::Unwrapped(record) => {
                let by = record
                    .redirected_from
                    .map_or("a redirector", |from| from.redirector);
                self.line(
                    2,
                    &format!("inside it, behind {by}: {}", shown(record.found.full)),
                );
            }
            Finding::Reject(reason, text, place) => {
                count += 1;
                self.line(1, &format!("{}: refused: {}", at(&place), shown(text)));
                self.line(2, &in_words(reason));
            }
            Finding::Filtered
            | Finding::Folded(_)
            | Finding::Diagnostic(_)
            | Finding::Parts(..) => {}
        });
        if count == 0 {
            self.line(1, "none: nothing in it looks like the start of a URL");
        }
    }

    fn taken(&mut self, record: &Record<'_>) {
        let found = record.found;
        let quoted = if record.quote_depth > 0 {
            format!(", quoted {} deep", record.quote_depth)
        } else {
            String::new()
        };
        self.line(
            1,
            &format!(
                "{}, {}{quoted}: taken: {}",
                at(&record.origin),
                record.region,
                shown(found.full)
            ),
        );
        self.line(
            2,
            &format!(
                "set off by {}; confidence {:.2}",
                set_off(found.wrapper),
                found.confidence
            ),
        );
        for repair in found.repairs.iter() {
            self.line(2, &format!("{}: {}", repair.name(), undone(repair)));
        }
        self.verdicts(record);
        for join in record
            .joins
            .iter()
            .filter(|join| join.features.iter().next().is_some())
        {
            self.evidence(join);
        }
        for other in found.alternates {
            let why = instead(other.why);
            self.line(
                2,
                &format!(
                    "or, with confidence {:.2}, {why}: {}",
                    other.confidence,
                    shown(&other.full)
                ),
            );
        }
    }

    fn verdicts(&mut self, record: &Record<'_>) {
        let Some(verdicts) = record.found.verdicts else {
            return self.line(2, "longer than URLs are kept: no grammar was asked");
        };
        let accepts: Vec<&str> = verdicts.conforms().map(Grammar::name).collect();
        let who = if accepts.is_empty() {
            "no grammar".to_owned()
        } else {
            accepts.join(", ")
        };
        self.line(2, &format!("accepted by {who}"));
        if let Err(reject) = &verdicts.rfc1738 {
            self.line(2, &format!("refused by rfc1738: {reject}"));
        }
    }

    /// AlternateReason a bare URL goes on in the next line, or does not.
    fn evidence(&mut self, join: &Join) {
        let mut list = String::new();
        for evidence in join.features.iter() {
            let _ = write!(list, " {} {:+},", evidence.name(), evidence.points());
        }
        let sum = join.features.points();
        let list = list.trim_end_matches(',');
        self.line(
            2,
            &format!(
                "the next line, behind octet {}:{list}; {sum:+} points, confidence {:.2}",
                join.at, join.confidence
            ),
        );
    }
}

fn at(place: &RecordOrigin<'_>) -> String {
    let about = if place.exact { "" } else { "about " };
    format!(
        "{about}octets {} to {}, line {}",
        place.start, place.end, place.line
    )
}

/// Bytes as text, and not too many of them.
fn shown(octets: &[u8]) -> String {
    const MOST_CHARS: usize = 300;
    let text = String::from_utf8_lossy(octets);
    let kept: String = text.chars().take(MOST_CHARS).collect();
    if kept.len() < text.len() {
        format!("{kept} ... ({} octets)", octets.len())
    } else {
        kept
    }
}
