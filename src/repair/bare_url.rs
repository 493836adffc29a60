//! A URL without a wrapper: the run of characters that contains it, and the lines over which a
//! mailer broke it.

use super::at_sign::append_hidden_host;
use super::continuation::continuations;
use super::notation::bracketed_identifier;
use super::quoted_printable::{Residue, ResidueText, holds_residue, push_over_soft_breaks};
use super::rewritten_link::push_to_end;
use super::url_run::{BareWord, LineBreakPolicy, url_run_end};
use super::{LogicalLine, Repair};
use crate::scan::Rules;
use crate::span::Span;

/// Unfolds `word` into `line`: its run of characters and, by the wide rules, the runs at the start
/// of the next lines that may continue it, each after a join with its confidence. Also by the wide
/// rules, residue of quoted-printable is decoded, and an address whose `@` was hidden gets it back;
/// then no other lines are joined. Last, other notations are undone.
pub fn unfold_bare_word(text: &[u8], word: &BareWord, line: &mut LogicalLine) {
    unfold(text, word, Residue::Decode, line);
    if line.is_decoded() {
        unfold(
            text,
            word,
            Residue::Keep,
            line.written.insert(Box::default()),
        );
    }
}

/// Unfolds a word. Residue of quoted-printable is decoded or kept.
fn unfold(text: &[u8], word: &BareWord, residue: Residue, line: &mut LogicalLine) {
    line.clear();
    if word.rules == Rules::Wide
        && let Some(identifier) = bracketed_identifier(text, word.from)
    {
        line.push(text, word.from, identifier.start - 1);
        line.push(text, identifier.start, identifier.end);
        line.repairs.add(Repair::Brackets);
        return;
    }
    unfold_word(text, word, residue, line);
    if word.rules == Rules::Wide {
        line.undo_notations();
    }
}

/// Unfolds a word that is no identifier in brackets, as it is written.
fn unfold_word(text: &[u8], word: &BareWord, residue: Residue, line: &mut LogicalLine) {
    let end = url_run_end(text, word.from, word.before, word.rules, word.max_bytes);
    let is_encoded = residue == Residue::Decode && holds_residue(text, word, end);
    let is_joined = is_encoded && push_over_soft_breaks(text, word, end, line);
    if !is_encoded {
        line.push(text, word.from, end);
    }
    if word.rules == Rules::Wide && append_hidden_host(text, end, line) {
        return;
    }
    let head = Span::new(word.from, end);
    if !is_joined
        && word.rules == Rules::Wide
        && word.breaks == LineBreakPolicy::Join
        && (is_encoded || !push_to_end(text, head, line))
    {
        append_continuations(text, head, residue, line);
    }
    if is_encoded {
        line.decode_escapes(ResidueText::Word);
    }
}

/// Appends the continuations of the bare URL `head`.
fn append_continuations(text: &[u8], head: Span, residue: Residue, line: &mut LogicalLine) {
    for next in continuations(text, head) {
        let hyphen = line.text().last() == Some(&b'-');
        let is_soft = 0 < next.dropped && line.text().last() == Some(&b'=');
        if !is_soft || residue == Residue::Decode {
            line.drop_last(next.dropped);
        }
        let repairs = [
            Some(Repair::BareContinuation),
            hyphen.then_some(Repair::Hyphen),
            next.quoted.then_some(Repair::QuotePrefix),
            (is_soft && residue == Residue::Decode).then_some(Repair::QuotedPrintable),
        ];
        line.join(
            repairs.into_iter().flatten().collect(),
            next.confidence(),
            next.features,
        );
        line.push(text, next.token.start, next.token.end);
    }
}
