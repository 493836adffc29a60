//! The WebAssembly module of the playground. Explains the text that a page passes to it.

use std::sync::LazyLock;

use urlspool::{CandidateOutcome, ExplainedCandidate, Extractor, Options, Rules};
use wasm_bindgen::prelude::wasm_bindgen;

static WIDE: LazyLock<Extractor> = LazyLock::new(Extractor::default);

static RFC1738: LazyLock<Extractor> = LazyLock::new(|| {
    let rules = Rules::Rfc1738;
    Extractor::new(Options {
        rules,
        ..Options::default()
    })
});

/// Maximum number of candidates returned to a page: each takes some kilobytes there, and more would
/// not be read.
const MAX_CANDIDATES: usize = 2_000;

/// Maximum number of messages returned to a page.
const MAX_MESSAGES: usize = 1_000;

/// Returns the explanation of a message, a mailbox or a text, as JSON: `{"accepted": 1, "rejected":
/// 0, "messages": 1, "explanation": {...}}`. The numbers count the whole input, but the explanation
/// stops after the first messages and candidates. `is_strict` selects the rules of RFC 1738 alone.
#[wasm_bindgen]
#[must_use]
pub fn explain(input: &[u8], is_strict: bool) -> String {
    let extractor = if is_strict { &RFC1738 } else { &WIDE };
    let mut explanation = extractor.explain(input);
    let candidates = || {
        let messages = explanation.messages.iter();
        messages.flat_map(|message| &message.candidates)
    };
    let is_accepted = |candidate: &&ExplainedCandidate| {
        matches!(candidate.outcome, CandidateOutcome::Accepted(_))
    };
    let accepted = candidates().filter(is_accepted).count();
    let rejected = candidates().count() - accepted;
    let messages = explanation.messages.len();
    explanation.messages.truncate(MAX_MESSAGES);
    let mut left = MAX_CANDIDATES;
    for message in &mut explanation.messages {
        message.candidates.truncate(left);
        left -= message.candidates.len();
    }
    let json = explanation.to_json();
    let numbers = format!(r#""accepted":{accepted},"rejected":{rejected},"messages":{messages}"#);
    format!(r#"{{{numbers},"explanation":{json}}}"#)
}

/// The version of the library.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
