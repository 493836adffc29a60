//! From the tokens of `html5gum` to the visible text and the links.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, ForwardingEmitter, Span as HtmlSpan, State, Tokenizer};

use super::character_reference;
use super::elements::{LINE_BREAKING, URL_ATTRIBUTES};
use super::url_values::{css_urls, refresh_url, srcset_urls, trimmed, words};
use super::{HtmlLink, ParsedHtml};
use crate::limits::ELEMENT_BYTES;
use crate::span::{ByteMap, Span};

/// Builds a [`ParsedHtml`] from tokens.
pub(super) struct HtmlReader<'h> {
    html: &'h [u8],
    pub(super) page: ParsedHtml,
    /// Name of the last start tag.
    element: Vec<u8>,
    /// Name of the last attribute.
    attribute: Vec<u8>,
    /// The open element whose text is invisible: `script` or `style`.
    hidden: Option<&'static [u8]>,
    anchor: Option<OpenAnchor>,
    meta: MetaAttributes,
    pub(super) conditional: Vec<ConditionalComment>,
}

impl<'h> HtmlReader<'h> {
    pub(super) fn new(html: &'h [u8]) -> HtmlReader<'h> {
        HtmlReader {
            html,
            page: ParsedHtml::default(),
            element: Vec::new(),
            attribute: Vec::new(),
            hidden: None,
            anchor: None,
            meta: MetaAttributes::default(),
            conditional: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, event: &CallbackEvent<'_>, span: Span) {
        match *event {
            CallbackEvent::OpenStartTag { name } => self.start_tag(name),
            CallbackEvent::AttributeName { name } => {
                self.attribute.clear();
                self.attribute.extend_from_slice(name);
            }
            CallbackEvent::AttributeValue { value } => self.value(value, span),
            CallbackEvent::CloseStartTag { .. } => self.end_of_start_tag(),
            CallbackEvent::EndTag { name } => self.end_tag(name),
            CallbackEvent::String { value } => self.text(value, span),
            CallbackEvent::Comment { value } => {
                if value.trim_ascii_start().starts_with(b"[if") {
                    self.conditional.push(ConditionalComment {
                        span,
                        at: self.page.text.len(),
                    });
                }
            }
            CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
    }

    fn start_tag(&mut self, name: &[u8]) {
        self.element.clear();
        self.element.extend_from_slice(name);
        self.meta = MetaAttributes::default();
        self.break_line(name);
        if name == b"a" {
            self.close_anchor();
            self.anchor = Some(OpenAnchor {
                first_link: self.page.links.len(),
                start: self.page.text.len(),
            });
        }
    }

    fn end_of_start_tag(&mut self) {
        self.hidden = match self.element.as_slice() {
            b"script" => Some(b"script"),
            b"style" => Some(b"style"),
            _ => self.hidden,
        };
        if let MetaAttributes {
            is_refresh: true,
            content: Some(AttributeText { value, span }),
        } = std::mem::take(&mut self.meta)
            && let Some(url) = refresh_url(&value)
        {
            self.links(&value, span, [url], "content");
        }
    }

    fn end_tag(&mut self, name: &[u8]) {
        if self.hidden == Some(name) {
            self.hidden = None;
        }
        if name == b"a" {
            self.close_anchor();
        }
        self.break_line(name);
    }

    /// Ends the open `<a>`, and sets the anchor of its links.
    fn close_anchor(&mut self) {
        if let Some(OpenAnchor { first_link, start }) = self.anchor.take() {
            let anchor = Span::new(start, self.page.text.len());
            self.page.links[first_link..]
                .iter_mut()
                .filter(|link| link.element == "a")
                .for_each(|link| link.anchor = Some(anchor));
        }
    }

    /// Adds a line break before or after the element `name`, if the layout has one there.
    fn break_line(&mut self, name: &[u8]) {
        let breaks = std::str::from_utf8(name).is_ok_and(|name| LINE_BREAKING.contains(&name));
        if breaks && self.page.text.last().is_some_and(|&last| last != b'\n') {
            self.page.text.push(b'\n');
        }
    }

    fn text(&mut self, value: &[u8], span: Span) {
        match self.hidden {
            Some(b"style") => self.style(value, span),
            Some(_) => {}
            None => {
                character_reference::align(
                    span.of(self.html),
                    span.start,
                    value,
                    self.page.text.len(),
                    &mut self.page.map,
                );
                self.page.text.extend_from_slice(value);
            }
        }
    }

    fn value(&mut self, value: &[u8], span: Span) {
        let attribute = std::mem::take(&mut self.attribute);
        let name = std::str::from_utf8(&attribute).unwrap_or("");
        let whole = [Span::new(0, value.len())];
        match (self.element.as_slice(), name) {
            (b"base", "href") => {
                self.page.base.get_or_insert_with(|| value.to_vec());
                self.links(value, span, whole, "href");
            }
            (b"meta", "http-equiv") => {
                self.meta.is_refresh |= value.eq_ignore_ascii_case(b"refresh")
            }
            (b"meta", "content") => {
                self.meta.content = Some(AttributeText {
                    value: value.to_vec(),
                    span,
                });
            }
            (_, "style") => self.style(value, span),
            (_, "srcset" | "imagesrcset") => self.links(value, span, srcset_urls(value), "srcset"),
            (_, "ping") => self.links(value, span, words(value), "ping"),
            (_, name) => {
                if let Some(known) = URL_ATTRIBUTES.iter().find(|known| **known == name) {
                    self.links(value, span, whole, known);
                }
            }
        }
        self.attribute = attribute;
    }

    /// Adds the URLs of a style sheet.
    fn style(&mut self, css: &[u8], span: Span) {
        self.links(css, span, css_urls(css), "url");
    }

    /// Adds the URLs at the ranges `urls` of a value whose range in the HTML text is `span`.
    fn links(
        &mut self,
        value: &[u8],
        span: Span,
        urls: impl IntoIterator<Item = Span>,
        attribute: &'static str,
    ) {
        let mut urls = urls
            .into_iter()
            .map(|url| trimmed(value, url))
            .filter(|url| !url.is_empty())
            .peekable();
        if urls.peek().is_none() {
            return;
        }
        let mut map = ByteMap::new();
        character_reference::align(span.of(self.html), span.start, value, 0, &mut map);
        map.push_same(value.len(), span.end);
        let element = if self.element.len() > ELEMENT_BYTES {
            "?".into()
        } else {
            String::from_utf8_lossy(&self.element)
        };
        for url in urls {
            self.page.links.push(HtmlLink {
                value: url.of(value).to_vec(),
                span: map.raw(url),
                exact: map.exact(url),
                element: element.clone().into_owned(),
                attribute,
                at: self.page.text.len(),
                anchor: None,
            });
        }
    }

    /// Adds the links in a conditional comment. Its text is skipped: other readers see the same text outside the comment.
    pub(super) fn comment_links(&mut self, comment: &ConditionalComment) {
        let ConditionalComment { span, at } = *comment;
        let Some(condition) = memchr::memmem::find(span.of(self.html), b"]>") else {
            return;
        };
        let start = span.start + condition + 2;
        let html = &self.html[..span.end];
        let mut reader = HtmlReader::new(html);
        tokenize(&html[start..], &mut |event, span| {
            reader.event(&event, Span::new(span.start + start, span.end + start));
        });
        self.page
            .links
            .extend(reader.page.links.into_iter().map(|link| HtmlLink {
                at,
                anchor: None,
                ..link
            }));
    }
}

/// The attributes of a `<meta>` so far.
#[derive(Default)]
struct MetaAttributes {
    /// `true` after `http-equiv=refresh`.
    is_refresh: bool,
    content: Option<AttributeText>,
}

/// The value of an attribute.
struct AttributeText {
    value: Vec<u8>,
    /// Its range in the HTML text.
    span: Span,
}

/// An `<a>` that is not closed yet.
struct OpenAnchor {
    /// Index of its first link.
    first_link: usize,
    /// Offset of its text in the visible text.
    start: usize,
}

/// A conditional comment.
pub(super) struct ConditionalComment {
    /// Its range in the HTML text.
    span: Span,
    /// Its offset in the visible text.
    at: usize,
}

/// Passes the tokens of an HTML text to `sink`, each with its range.
pub(super) fn tokenize(html: &[u8], sink: &mut dyn FnMut(CallbackEvent<'_>, Span)) {
    let callback =
        |event: CallbackEvent<'_>, span: HtmlSpan<usize>| -> Option<std::convert::Infallible> {
            let end = span.end.min(html.len());
            sink(event, Span::new(span.start.min(end), end));
            None
        };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    let mut tokenizer = Tokenizer::new_with_emitter(html, WithoutErrors(emitter));
    tokenizer.set_state(State::Data);
    // The error type of reading from memory has no values.
    let Ok(()) = tokenizer.finish();
}

/// An emitter without parse errors, which saves the time to detect them.
struct WithoutErrors<E>(E);

impl<E: Emitter> ForwardingEmitter for WithoutErrors<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = Self::Token> {
        &mut self.0
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }
}
