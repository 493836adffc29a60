//! Tokens of an HTML text, by `html5gum`.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{
    Emitter, ForwardingEmitter, Readable, Reader, Span as HtmlSpan, State, StringReader, Tokenizer,
};

use crate::span::Span;

/// Meaning of the text in elements whose content browsers do not parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementContent {
    /// As in browsers: the content of `script`, `style`, `title` and the like has no tags.
    AsBrowsers,
    /// All content is markup: one of those elements is not closed.
    Markup,
}

/// Passes the tokens of an HTML text to `sink`, each with its range. Returns the offset after the last one: bytes after it
/// are the start of a tag that is not closed.
pub(super) fn tokenize(
    html: &[u8],
    content: ElementContent,
    sink: &mut dyn FnMut(CallbackEvent<'_>, Span),
) -> usize {
    let inserted = Rc::new(RefCell::new(InsertedBlanks::default()));
    // Nearly all texts have none, and each token asks.
    let has_blanks = Rc::new(Cell::new(false));
    let is_fallback = Rc::new(Cell::new(false));
    let mut reached = 0;
    let callback = |event: CallbackEvent<'_>, positions: HtmlSpan<usize>| -> Option<Infallible> {
        let end = positions.end.min(html.len());
        let mut span = Span::new(positions.start.min(end), end);
        if has_blanks.get() {
            span = inserted.borrow().original(positions, html.len());
        }
        if let CallbackEvent::OpenStartTag { name } = event {
            is_fallback.set(name == b"noscript" || name == b"noembed");
        }
        reached = span.end;
        sink(event, span);
        None
    };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(content == ElementContent::AsBrowsers);
    let emitter = MailEmitter {
        inner: emitter,
        is_fallback: Rc::clone(&is_fallback),
    };
    let reader = ShallowReader {
        html,
        inner: html.to_reader(),
        waiting: None,
        assignments: 0,
        inserted: Rc::clone(&inserted),
        has_blanks: Rc::clone(&has_blanks),
    };
    let mut tokenizer = Tokenizer::new_with_emitter(reader, emitter);
    tokenizer.set_state(State::Data);
    // The error type of reading from memory has no values.
    let Ok(()) = tokenizer.finish();
    reached
}

/// An emitter for readers of mail. It has no parse errors, which saves the time to detect them.
///
/// The content of `noscript` and `noembed` is markup: mail readers run no scripts, and show it (WHATWG HTML, section 4.12.2).
struct MailEmitter<E> {
    inner: E,
    /// `true` if the current start tag is one of these two.
    is_fallback: Rc<Cell<bool>>,
}

impl<E: Emitter> ForwardingEmitter for MailEmitter<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = Self::Token> {
        &mut self.inner
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let state = self.inner.emit_current_tag();
        state.filter(|_| !self.is_fallback.take())
    }
}

/// A reader that bounds the stack of the tokeniser, whose functions for `name="value"` call each other from attribute to attribute
/// of a tag, and return only at certain characters. One is a blank between a name and its `=`, where it has no meaning: the reader
/// inserts one now and then.
struct ShallowReader<'h> {
    html: &'h [u8],
    inner: StringReader<'h>,
    /// The `=` after a blank that was inserted.
    waiting: Option<u8>,
    /// Number of `=` after attribute names of the current tag, since the last blank that was inserted.
    assignments: usize,
    inserted: Rc<RefCell<InsertedBlanks>>,
    /// `true` once a blank was inserted.
    has_blanks: Rc<Cell<bool>>,
}

/// Number of attributes after which a blank is inserted. Few tags have more.
const MAX_ASSIGNMENTS: usize = 16;

/// Positions of the blanks that were inserted into an HTML text, each counting those before it.
#[derive(Default)]
struct InsertedBlanks(Vec<usize>);

impl InsertedBlanks {
    /// Adds a blank before the byte at the offset `at`.
    fn push(&mut self, at: usize) {
        self.0.push(at + self.0.len());
    }

    /// Returns the range in the HTML text, which has `len` bytes, of a range that counts the blanks. Rarely needed, and not to be inlined
    /// where each token passes.
    #[cold]
    #[inline(never)]
    fn original(&self, span: HtmlSpan<usize>, len: usize) -> Span {
        let offset = |position: usize| {
            let before = self.0.partition_point(|&at| at < position);
            (position - before).min(len)
        };
        Span::new(offset(span.start), offset(span.end))
    }
}

#[expect(
    clippy::inline_always,
    reason = "without it the needles are no constants, and reading takes twice as many instructions"
)]
impl Reader for ShallowReader<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        match self.waiting {
            None => self.inner.read_byte(),
            Some(_) => Ok(self.waiting.take()),
        }
    }

    /// Reads up to one of the bytes of `needle`. Those that end the name of an attribute are the only ones with `=` and without
    /// `&`; those that end a text have `<` and no `=`.
    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let is_text = needle.contains(&b'<') && !needle.contains(&b'=');
        if is_text {
            self.assignments = 0;
        }
        let read = self.inner.read_until(needle, buffer)?;
        if needle.contains(&b'=')
            && !needle.contains(&b'&')
            && let Some(equals @ b"=") = read
        {
            self.assignments += 1;
            if self.assignments == MAX_ASSIGNMENTS {
                self.assignments = 0;
                self.waiting = Some(b'=');
                let at = equals.as_ptr().addr() - self.html.as_ptr().addr();
                self.inserted.borrow_mut().push(at);
                self.has_blanks.set(true);
                return Ok(Some(b" "));
            }
        }
        Ok(read)
    }

    #[inline(always)]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        self.inner.try_read_string(text, case_sensitive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_do_not_count_inserted_blanks() {
        for attribute in ["a=\"b\" ", "a='b'", "a = b ", "a=b\n", "a==\"b\" "] {
            let html = format!("<p {}>x</p><!--y-->", attribute.repeat(3 * MAX_ASSIGNMENTS));
            let mut texts = Vec::new();
            tokenize(
                html.as_bytes(),
                ElementContent::AsBrowsers,
                &mut |event, span| {
                    let shown = String::from_utf8_lossy(span.of(html.as_bytes())).into_owned();
                    match event {
                        CallbackEvent::AttributeValue { value } => {
                            assert!(shown.contains('b') && value.contains(&b'b'), "{shown}");
                        }
                        CallbackEvent::OpenStartTag { .. } => assert!(shown.starts_with("<p")),
                        CallbackEvent::AttributeName { .. } => assert_eq!(shown, "a"),
                        _ => texts.push(shown),
                    }
                },
            );
            assert_eq!(texts, [">", "x", "</p>", "<!--y-->"], "{attribute}");
        }
    }
}
