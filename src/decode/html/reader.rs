//! From the tokens of `html5gum` to the visible text and the links.

use html5gum::emitters::callback::CallbackEvent;

use super::character_reference;
use super::elements::{breaks_lines, url_attribute};
use super::tokens::{ElementContent, tokenize};
use super::url_values::{css_urls, refresh_url, srcset_urls, trimmed, words};
use super::{HtmlLink, ParsedHtml, Unclosed};
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
    hidden: Option<HiddenElement>,
    /// Offset of the content of the comment that the text ends in.
    open_comment: Option<usize>,
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
            open_comment: None,
            anchor: None,
            meta: MetaAttributes::default(),
            conditional: Vec::new(),
        }
    }

    /// Reads a range of the HTML text. Returns what is not closed at its end.
    pub(super) fn read(&mut self, range: Span, content: ElementContent) -> Option<Unclosed> {
        let html = self.html;
        let reached = tokenize(range.of(html), content, &mut |event, span| {
            let span = Span::new(range.start + span.start, range.start + span.end);
            self.event(&event, span);
            if content == ElementContent::Markup {
                self.hidden = None;
            }
        });
        let reached = range.start + reached;
        let unclosed = |what, rest| Some(Unclosed { what, rest });
        if let Some(rest) = self.open_comment.take() {
            unclosed("a comment", rest)
        } else if let Some(element) = self.hidden.take() {
            unclosed("a script or a style sheet", element.content)
        } else if html[reached..range.end].trim_ascii().is_empty() {
            None
        } else {
            unclosed("a tag", reached)
        }
    }

    /// Reads what something hides that is not closed, as browsers of the 1990s did. The text has no end of it, so that each further
    /// start of a comment is none.
    pub(super) fn read_again(&mut self, from: usize) {
        const COMMENT: &[u8] = b"<!--";
        let ends = memchr::memmem::find_iter(&self.html[from..], COMMENT).map(|at| from + at);
        let mut start = from;
        for end in ends.chain([self.html.len()]) {
            let piece = Span::new(start, end);
            self.line_break();
            if let Some(Unclosed { rest, .. }) = self.read(piece, ElementContent::Markup) {
                // The start of a tag that is not closed either is text.
                self.page.map.push_same(self.page.text.len(), rest);
                self.page.text.extend_from_slice(&self.html[rest..end]);
            }
            start = end + COMMENT.len();
        }
    }

    fn event(&mut self, event: &CallbackEvent<'_>, span: Span) {
        match *event {
            CallbackEvent::OpenStartTag { name } => self.start_tag(name),
            CallbackEvent::AttributeName { name } => {
                self.attribute.clear();
                self.attribute.extend_from_slice(name);
            }
            CallbackEvent::AttributeValue { value } => self.value(value, span),
            CallbackEvent::CloseStartTag { .. } => self.end_of_start_tag(span.end),
            CallbackEvent::EndTag { name } => self.end_tag(name),
            CallbackEvent::String { value } => self.text(value, span),
            CallbackEvent::Comment { value } => self.comment(value, span),
            // A declaration that is not closed hides what follows, as a comment does.
            CallbackEvent::Doctype { .. } => self.comment(b"", span),
            CallbackEvent::Error(_) => {}
        }
    }

    fn comment(&mut self, value: &[u8], span: Span) {
        if !is_closed(span.of(self.html)) {
            let mark = if span.of(self.html).starts_with(b"<!--") {
                4
            } else {
                2
            };
            self.open_comment = Some((span.start + mark).min(span.end));
        } else if value.trim_ascii_start().starts_with(b"[if") {
            self.conditional.push(ConditionalComment {
                span,
                at: self.page.text.len(),
            });
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

    /// Ends a start tag, which `content` follows.
    fn end_of_start_tag(&mut self, content: usize) {
        let hidden = |name| Some(HiddenElement { name, content });
        self.hidden = match self.element.as_slice() {
            b"script" => hidden(b"script"),
            b"style" => hidden(b"style"),
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
        self.hidden = self.hidden.filter(|hidden| hidden.name != name);
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
        if breaks_lines(name) {
            self.line_break();
        }
    }

    /// Ends the line of the visible text.
    fn line_break(&mut self) {
        if self.page.text.last().is_some_and(|&last| last != b'\n') {
            self.page.text.push(b'\n');
        }
    }

    fn text(&mut self, value: &[u8], span: Span) {
        match self.hidden.map(|hidden| hidden.name) {
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
        let whole = [Span::new(0, value.len())];
        match (self.element.as_slice(), attribute.as_slice()) {
            (b"base", b"href") => {
                self.page.base.get_or_insert_with(|| value.to_vec());
                self.links(value, span, whole, "href");
            }
            (b"meta", b"http-equiv") => {
                self.meta.is_refresh |= value.eq_ignore_ascii_case(b"refresh")
            }
            (b"meta", b"content") => {
                self.meta.content = Some(AttributeText {
                    value: value.to_vec(),
                    span,
                });
            }
            (_, b"style") => self.style(value, span),
            (_, b"srcset" | b"imagesrcset") => {
                self.links(value, span, srcset_urls(value), "srcset");
            }
            (_, b"ping") => self.links(value, span, words(value), "ping"),
            (_, name) => {
                if let Some(known) = url_attribute(name) {
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
        tokenize(
            &html[start..],
            ElementContent::AsBrowsers,
            &mut |event, span| {
                reader.event(&event, Span::new(span.start + start, span.end + start));
            },
        );
        self.page
            .links
            .extend(reader.page.links.into_iter().map(|link| HtmlLink {
                at,
                anchor: None,
                ..link
            }));
    }
}

/// An open `script` or `style`.
#[derive(Clone, Copy)]
struct HiddenElement {
    name: &'static [u8],
    /// Offset of its content.
    content: usize,
}

/// Returns `true` if a comment is closed: `<!-- -->`, or `<! >`, `<? >` and `</ >`, which browsers take for comments.
fn is_closed(comment: &[u8]) -> bool {
    if comment.starts_with(b"<!--") {
        comment.ends_with(b"-->") || comment.ends_with(b"--!>")
    } else {
        comment.ends_with(b">")
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
