//! Extracts the visible text of HTML, and the URLs in attributes and styles.
//!
//! `html5gum` tokenises the text (`tokens.rs`); no document tree is built.

mod tokens;

use std::sync::LazyLock;

use html5gum::emitters::callback::CallbackEvent;
pub use tokens::{ElementContent, Markup, Tag, markup};
use tokens::{TokenSource, tokenize};

use super::MappedBytes;
use super::form::TextForm;
use crate::lines::{begins_with, run_len};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::{ELEMENT_BYTES, LINKS_BYTES};
use urlspool_text::span::{ByteMap, Span};

/// A URL in an attribute or in `url(...)` of a style sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlLink {
    /// URL as written, with character references decoded.
    pub value: Vec<u8>,
    /// Range in the HTML text.
    pub span: Span,
    /// `true` if `span` is exact: no neighbouring character shares the first or last bytes of the
    /// range.
    pub exact: bool,
    /// Name of the element in lower case; `?` if it is longer than
    /// [`ELEMENT_BYTES`](urlspool_text::limits::ELEMENT_BYTES).
    pub element: String,
    /// Name of the attribute in lower case; `url` for `url(...)` in a style sheet; empty for the
    /// elements `script` and `data`, which represent strings in scripts and other data.
    pub attribute: &'static str,
    /// Offset of the element in the visible text.
    pub at: usize,
    /// Range of the visible text between `<a>` and `</a>`, for links in an `<a>`.
    pub anchor: Option<Span>,
}

/// Result of parsing an HTML text.
#[derive(Debug, Default)]
pub(super) struct ParsedHtml {
    /// Visible text: with line breaks from the layout, and without scripts, styles and comments.
    pub(super) text: Vec<u8>,
    /// Map from offsets in `text` to offsets in the HTML text.
    pub(super) map: ByteMap,
    /// URLs in attributes and styles, ordered by [`HtmlLink::at`], then by position, without those
    /// passed on earlier.
    pub(super) links: Vec<HtmlLink>,
    /// The first `<base href>`.
    pub(super) base: Option<Vec<u8>>,
    /// First element, comment or tag that is not closed. Its content is read, although browsers
    /// hide it.
    pub(super) unclosed: Option<Unclosed>,
}

impl ParsedHtml {
    /// Takes the visible text if it is the source of a page. Mailman stores removed HTML parts of
    /// messages in this form, with non-breaking blanks.
    pub(super) fn shown_page(&mut self) -> Option<MappedBytes> {
        const BLANK: &[u8] = "\u{A0}".as_bytes();
        if !self.text.trim_ascii_start().starts_with(b"<")
            || TextForm::of_content(&self.text) != Some(TextForm::Html)
        {
            return None;
        }
        let mut bytes = std::mem::take(&mut self.text);
        let blanks: Vec<usize> = memchr::memmem::find_iter(&bytes, BLANK).collect();
        for at in blanks {
            bytes[at..at + BLANK.len()].fill(b' ');
        }
        let map = std::mem::take(&mut self.map);
        self.links.iter_mut().for_each(|link| {
            link.at = 0;
            link.anchor = None;
        });
        Some(MappedBytes { bytes, map })
    }
}

/// Returns the values of [`HtmlLink::attribute`] without duplicates: attributes that hold a URL,
/// `content` of a refreshing `meta`, `srcset`, and `url` of a style sheet.
pub fn link_attributes() -> impl Iterator<Item = &'static str> {
    URL_ATTRIBUTES
        .iter()
        .copied()
        .chain(["content", "srcset", "url"])
}

/// Returns the charset named in a `meta` at the start of an HTML text (WHATWG HTML, section
/// 13.2.3.2).
#[must_use]
pub(super) fn declared_charset(html: &[u8]) -> Option<String> {
    /// Number of bytes that browsers search, too.
    const SEARCHED_BYTES: usize = 1_024;
    let start = html[..html.len().min(SEARCHED_BYTES)].to_ascii_lowercase();
    let mut tags = memchr::memmem::find_iter(&start, b"<meta").map(|at| &start[at..]);
    tags.find_map(|tag| {
        let tag = &tag[..memchr::memchr(b'>', tag)?];
        let value = &tag[memchr::memmem::find(tag, b"charset")? + b"charset".len()..];
        let value = value.trim_ascii_start().strip_prefix(b"=")?;
        let mut words = value
            .split(|byte| b"\"'; \t\n\r/".contains(byte))
            .filter(|word| !word.is_empty());
        words
            .next()
            .map(|name| String::from_utf8_lossy(name).into_owned())
    })
}

/// Parses an HTML text. Linear. Malformed HTML is read as browsers read it, except that an unclosed
/// element or comment hides no text.
///
/// Passes the content read so far to `on_full` each time the links take [`LINKS_BYTES`], and then
/// drops these links.
#[must_use]
pub(super) fn parse(html: &[u8], on_full: &mut dyn FnMut(&mut ParsedHtml)) -> ParsedHtml {
    let mut reader = HtmlReader::new(html, on_full);
    let all = Span::new(0, html.len());
    if let Some(unclosed) = reader.read(all, ElementContent::AsBrowsers) {
        reader.page.unclosed = Some(unclosed);
        // The strings of a script are read again as text.
        let links = &mut reader.page.links;
        links.retain(|link| link.span.start < unclosed.rest);
        reader.read_again(unclosed.rest);
    }
    // Conditional comments hold HTML for Outlook: `<!--[if mso]> ... <![endif]-->`.
    let conditional = std::mem::take(&mut reader.conditional);
    for comment in conditional {
        reader.comment_links(&comment);
    }
    let mut page = reader.page;
    page.map.push_same(page.text.len(), html.len());
    sort_links(&mut page.links);
    page
}

fn sort_links(links: &mut [HtmlLink]) {
    links.sort_by_key(|link| (link.at, link.span.start));
}

/// An element, comment or tag that is not closed by the end of an HTML text. Browsers hide its
/// content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    /// Kind of the construct, with its article.
    pub(super) what: &'static str,
    /// Offset of the bytes after its start.
    pub(super) rest: usize,
}

impl Unclosed {
    /// Returns the diagnostic about the construct. `rest` must be an offset in a message that
    /// starts at the source offset `start`.
    pub(super) fn diagnostic(&self, start: u64) -> Diagnostic {
        let Unclosed { what, rest } = self;
        let message = format!("{what} is never closed, so the rest of the page is read as markup");
        Diagnostic::at(DiagnosticKind::Ambiguous, start + *rest as u64, message)
    }
}

/// Builds a [`ParsedHtml`] from tokens.
struct HtmlReader<'h, 's> {
    html: &'h [u8],
    page: ParsedHtml,
    on_full: &'s mut dyn FnMut(&mut ParsedHtml),
    /// Memory in bytes taken by the links of `page`.
    link_bytes: usize,
    /// Name of the latest start tag.
    element: Vec<u8>,
    /// Name of the latest attribute.
    attribute: Vec<u8>,
    /// Open element with invisible text: `script` or `style`.
    hidden: Option<HiddenElement>,
    /// Offset of the content of an unclosed comment at the end of the text.
    open_comment: Option<usize>,
    anchor: Option<OpenAnchor>,
    /// Edge of a link between the visible text so far and the following text.
    edge: Option<LinkEdge>,
    /// `true` if the last byte of the visible text is the line break of an element.
    ends_with_break: bool,
    /// `true` after `http-equiv=refresh` in the latest start tag.
    is_refresh: bool,
    /// The URL in the attribute `content` of a `<meta>`.
    meta_content: Option<HtmlLink>,
    conditional: Vec<ConditionalComment>,
}

impl<'h, 's> HtmlReader<'h, 's> {
    fn new(html: &'h [u8], on_full: &'s mut dyn FnMut(&mut ParsedHtml)) -> HtmlReader<'h, 's> {
        HtmlReader {
            html,
            page: ParsedHtml::default(),
            on_full,
            link_bytes: 0,
            element: Vec::new(),
            attribute: Vec::new(),
            hidden: None,
            open_comment: None,
            anchor: None,
            edge: None,
            ends_with_break: false,
            is_refresh: false,
            meta_content: None,
            conditional: Vec::new(),
        }
    }

    /// Reads a range of the HTML text. Returns the construct that is not closed at the end of the
    /// range.
    fn read(&mut self, range: Span, content: ElementContent) -> Option<Unclosed> {
        let html = self.html;
        let (text, base) = (range.of(html), range.start);
        let reached = tokenize(text, base, content, &mut |event, source| {
            self.event(&event, source);
            if content == ElementContent::Markup {
                self.hidden = None;
            }
        });
        let (what, rest) = if let Some(rest) = self.open_comment.take() {
            ("a comment", rest)
        } else if let Some(element) = self.hidden.take() {
            ("a script or a style sheet", element.content)
        } else if html[reached..range.end].trim_ascii().is_empty() {
            return None;
        } else {
            ("a tag", reached)
        };
        Some(Unclosed { what, rest })
    }

    /// Reads the bytes after `from`, which an unclosed construct hides, as browsers of the 1990s
    /// did. No comment is closed in these bytes, so each further comment start is removed.
    fn read_again(&mut self, from: usize) {
        const COMMENT: &[u8] = b"<!--";
        let ends = memchr::memmem::find_iter(&self.html[from..], COMMENT).map(|at| from + at);
        let mut start = from;
        for end in ends.chain([self.html.len()]) {
            let piece = Span::new(start, end);
            self.line_break();
            if let Some(Unclosed { rest, .. }) = self.read(piece, ElementContent::Markup) {
                // The start of another unclosed tag is text.
                self.page.map.push_same(self.page.text.len(), rest);
                self.page.text.extend_from_slice(&self.html[rest..end]);
            }
            start = end + COMMENT.len();
        }
    }

    fn event(&mut self, event: &CallbackEvent<'_>, source: TokenSource<'_>) {
        let span = source.span;
        match *event {
            CallbackEvent::OpenStartTag { name } => self.start_tag(name),
            CallbackEvent::AttributeName { name } => name.clone_into(&mut self.attribute),
            CallbackEvent::AttributeValue { value } => self.value(value, source),
            CallbackEvent::CloseStartTag { .. } => self.end_of_start_tag(span.end),
            CallbackEvent::EndTag { name } => self.end_tag(name),
            CallbackEvent::String { value } => self.text(value, source),
            CallbackEvent::Comment { value } => self.comment(value, span),
            // An unclosed declaration hides the following text, as a comment does.
            CallbackEvent::Doctype { .. } => self.comment(b"", span),
            CallbackEvent::Error(_) => {}
        }
    }

    fn comment(&mut self, value: &[u8], span: Span) {
        let comment = span.of(self.html);
        if !is_closed(comment) {
            let mark = if comment.starts_with(b"<!--") { 4 } else { 2 };
            self.open_comment = Some((span.start + mark).min(span.end));
        } else if value.trim_ascii_start().starts_with(b"[if") {
            let at = self.page.text.len();
            self.conditional.push(ConditionalComment { span, at });
        }
    }

    fn start_tag(&mut self, name: &[u8]) {
        name.clone_into(&mut self.element);
        self.is_refresh = false;
        self.meta_content = None;
        self.break_line(name);
        if name == b"a" {
            self.close_anchor();
            self.anchor = Some(OpenAnchor {
                first_link: self.page.links.len(),
                start: self.page.text.len(),
                is_in_url: ends_in_url(&self.page.text),
            });
        }
    }

    /// Handles the end of a start tag that is followed by `content`.
    fn end_of_start_tag(&mut self, content: usize) {
        // `<http://a.example/b>` is a tag to browsers, which hide the URL.
        if self.element.ends_with(b":")
            && let Some(tag) = memchr::memrchr(b'<', &self.html[..content])
            && is_absolute(&self.html[tag + 1..content])
        {
            self.page.map.push_same(self.page.text.len(), tag);
            self.page.text.extend_from_slice(&self.html[tag..content]);
        }
        let mut hidden = [&b"script"[..], b"style"].into_iter();
        if let Some(name) = hidden.find(|name| *name == self.element) {
            self.hidden = Some(HiddenElement { name, content });
        }
        if self.element == b"a"
            && let Some(anchor) = &self.anchor
            && anchor.first_link < self.page.links.len()
            && !anchor.is_in_url
        {
            // The end of the previous link takes precedence.
            self.edge.get_or_insert(LinkEdge::Start);
        }
        let target = self.meta_content.take().filter(|_| self.is_refresh);
        target.into_iter().for_each(|link| self.add_link(link));
    }

    fn end_tag(&mut self, name: &[u8]) {
        self.hidden = self.hidden.filter(|hidden| hidden.name != name);
        if name == b"a" {
            self.close_anchor();
        }
        self.break_line(name);
    }

    /// Closes the open `<a>`, and sets the anchor of its links.
    fn close_anchor(&mut self) {
        if let Some(open) = self.anchor.take() {
            if open.first_link < self.page.links.len() && !open.is_in_url {
                self.edge = Some(LinkEdge::End);
            }
            self.set_anchor(&open);
        }
    }

    /// Sets the anchor of an `<a>`'s links to the text so far.
    fn set_anchor(&mut self, open: &OpenAnchor) {
        let anchor = Span::new(open.start, self.page.text.len());
        for link in &mut self.page.links[open.first_link..] {
            if link.element == "a" {
                link.anchor = Some(anchor);
            }
        }
    }

    /// Passes on the links so far if they take much memory.
    fn pass_on_links(&mut self) {
        if self.link_bytes < LINKS_BYTES {
            return;
        }
        self.link_bytes = 0;
        if let Some(open) = self.anchor.take() {
            self.set_anchor(&open);
            self.anchor = Some(OpenAnchor {
                first_link: 0,
                ..open
            });
        }
        sort_links(&mut self.page.links);
        (self.on_full)(&mut self.page);
        self.page.links.clear();
    }

    /// Adds a line break before or after the element `name` if the layout has one there.
    fn break_line(&mut self, name: &[u8]) {
        if LINE_ELEMENTS.binary_search(&name).is_ok() {
            self.line_break();
        }
    }

    /// Ends the line of the visible text.
    fn line_break(&mut self) {
        if self.page.text.last().is_some_and(|&last| last != b'\n') {
            self.page.text.push(b'\n');
            self.ends_with_break = true;
        }
    }

    fn text(&mut self, value: &[u8], source: TokenSource<'_>) {
        match self.hidden.map(|hidden| hidden.name) {
            Some(b"style") => self.links(value, source, css_urls(value), "url"),
            Some(_) => self.links(value, source, script_urls(value), ""),
            None => {
                // A line feed of the source after `<br>` is no blank line.
                let ends_with_break = std::mem::take(&mut self.ends_with_break);
                if ends_with_break && value.starts_with(b"\n") {
                    self.page.text.pop_if(|last| *last == b'\n');
                }
                let edge = self.edge.take();
                if edge.is_some_and(|edge| edge.joins_words(&self.page.text, value)) {
                    self.page.text.push(b' ');
                }
                let page = &mut self.page;
                source.align(value, page.text.len(), &mut page.map);
                self.page.text.extend_from_slice(value);
            }
        }
    }

    fn value(&mut self, value: &[u8], source: TokenSource<'_>) {
        let attribute = std::mem::take(&mut self.attribute);
        let whole = [Span::new(0, value.len())];
        match (self.element.as_slice(), attribute.as_slice()) {
            (b"base", b"href") => {
                self.page.base.get_or_insert_with(|| value.to_vec());
                self.links(value, source, whole, "href");
            }
            (b"meta", b"http-equiv") => self.is_refresh |= value.eq_ignore_ascii_case(b"refresh"),
            (b"meta", b"content") => {
                let mut links = self.found(value, source, refresh_url(value), "content");
                self.meta_content = links.next();
            }
            (_, b"style") => self.links(value, source, css_urls(value), "url"),
            (_, b"srcset" | b"imagesrcset") => {
                self.links(value, source, srcset_urls(value), "srcset");
            }
            (_, b"ping") => self.links(value, source, words(value), "ping"),
            (element, name) => {
                if let Some(known) = url_attribute(name) {
                    self.links(value, source, whole, known);
                } else if (name.starts_with(b"data-") || (element, name) == (b"input", b"value"))
                    && is_absolute(value)
                {
                    let element = std::mem::replace(&mut self.element, b"data".to_vec());
                    let urls = srcset_urls(value).filter(|url| is_absolute(url.of(value)));
                    let mut urls: Vec<Span> = urls.collect();
                    if urls.len() < 2 {
                        urls = whole.to_vec();
                    }
                    self.links(value, source, urls, "");
                    self.element = element;
                }
            }
        }
        self.attribute = attribute;
    }

    /// Adds the URLs at the ranges `urls` of a value.
    fn links(
        &mut self,
        value: &[u8],
        source: TokenSource<'_>,
        urls: impl IntoIterator<Item = Span>,
        attribute: &'static str,
    ) {
        for link in self.found(value, source, urls, attribute) {
            self.add_link(link);
        }
    }

    /// Returns the links to the URLs at the ranges `urls` of a value.
    fn found<'v, U: IntoIterator<Item = Span>>(
        &self,
        value: &'v [u8],
        source: TokenSource<'_>,
        urls: U,
        attribute: &'static str,
    ) -> impl Iterator<Item = HtmlLink> + use<'v, U> {
        let urls = urls.into_iter().map(|url| trimmed(value, url));
        let mut urls = urls.filter(|url| !url.is_empty()).peekable();
        let found = urls.peek().is_some().then(|| {
            let mut map = ByteMap::new();
            source.align(value, 0, &mut map);
            map.push_same(value.len(), source.span.end);
            let element = if self.element.len() > ELEMENT_BYTES {
                "?".to_owned()
            } else {
                String::from_utf8_lossy(&self.element).into_owned()
            };
            let at = self.page.text.len();
            urls.map(move |url| HtmlLink {
                value: url.of(value).to_vec(),
                span: map.raw(url),
                exact: map.exact(url),
                element: element.clone(),
                attribute,
                at,
                anchor: None,
            })
        });
        found.into_iter().flatten()
    }

    fn add_link(&mut self, link: HtmlLink) {
        self.pass_on_links();
        self.link_bytes += link.value.len() + link.element.len() + size_of::<HtmlLink>();
        self.page.links.push(link);
    }

    /// Adds the links in a conditional comment. Skips its text: other readers see the same text
    /// outside the comment.
    fn comment_links(&mut self, comment: &ConditionalComment) {
        let ConditionalComment { span, at } = *comment;
        let Some(condition) = memchr::memmem::find(span.of(self.html), b"]>") else {
            return;
        };
        let start = span.start + condition + 2;
        let mut reader = HtmlReader::new(self.html, self.on_full);
        reader.read(Span::new(start, span.end), ElementContent::AsBrowsers);
        self.link_bytes += reader.link_bytes;
        let links = reader.page.links.into_iter();
        self.page.links.extend(links.map(|link| HtmlLink {
            at,
            anchor: None,
            ..link
        }));
        self.pass_on_links();
    }
}

/// An open `script` or `style`.
#[derive(Clone, Copy)]
struct HiddenElement {
    name: &'static [u8],
    /// Offset of its content.
    content: usize,
}

/// Returns `true` if a comment is closed: `<!-- -->`, or `<! >`, `<? >` and `</ >`, which browsers
/// read as comments.
fn is_closed(comment: &[u8]) -> bool {
    if comment.starts_with(b"<!--") {
        comment.ends_with(b"-->") || comment.ends_with(b"--!>")
    } else {
        comment.ends_with(b">")
    }
}

/// An `<a>` that is not closed yet.
struct OpenAnchor {
    /// Index of the first link.
    first_link: usize,
    /// Offset of the link text in the visible text.
    start: usize,
    /// `true` if the link text continues a URL that starts before the link:
    /// `git://<a>a.example</a>/b`.
    is_in_url: bool,
}

/// Edge of a link. It is not a line break, but ends a URL on either side. Browsers show it only by
/// colour.
#[derive(Clone, Copy)]
enum LinkEdge {
    Start,
    End,
}

impl LinkEdge {
    /// Returns `true` if the texts before and after the edge would be read as one word, in which
    /// the start or end of the link's URL is lost.
    fn joins_words(self, before: &[u8], after: &[u8]) -> bool {
        let (Some(&last), Some(&next)) = (before.last(), after.first()) else {
            return false;
        };
        let is_apart = last.is_ascii_whitespace() || next.is_ascii_whitespace();
        !is_apart
            && match self {
                // Any of these may start a scheme.
                LinkEdge::Start => {
                    last.is_ascii_alphanumeric() || b"+-._".contains(&last) || !last.is_ascii()
                }
                LinkEdge::End => !b"<>".contains(&next),
            }
    }
}

/// Returns `true` if a text ends with the start of a URL up to its host, or up to the user name
/// before the host.
fn ends_in_url(text: &[u8]) -> bool {
    let near = &text[text.len().saturating_sub(USER_BYTES)..];
    let word = near
        .iter()
        .rposition(|byte| byte.is_ascii_whitespace() || b"<>\"".contains(byte));
    let word = &near[word.map_or(0, |before| before + 1)..];
    word.ends_with(b"://") || word.ends_with(b"@") && memchr::memmem::find(word, b"://").is_some()
}

/// Maximum length of a scheme and a user name before a link that shows their host.
const USER_BYTES: usize = 128;

struct ConditionalComment {
    span: Span,
    /// Offset in the visible text.
    at: usize,
}

/// Returns the URLs in the `url(...)` of a style sheet, without quotes.
fn css_urls(css: &[u8]) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut opens = memchr::memchr_iter(b'(', &css[at..]).map(|open| at + open);
        let open = opens.find(|&open| {
            let start = open.saturating_sub(3).max(at);
            css[start..open].eq_ignore_ascii_case(b"url")
        })? + 1;
        let close = memchr::memchr(b')', &css[open..]).map_or(css.len(), |close| open + close);
        at = close;
        let inner = trimmed(css, Span::new(open, close));
        Some(match inner.of(css) {
            [b'"', .., b'"'] | [b'\'', .., b'\''] => Span::new(inner.start + 1, inner.end - 1),
            _ => inner,
        })
    })
}

/// Returns the URLs that are whole strings of a script.
fn script_urls(script: &[u8]) -> impl Iterator<Item = Span> {
    let quotes = memchr::memchr2_iter(b'"', b'\'', script);
    let mut end = 0;
    quotes.filter_map(move |quote| {
        let start = quote + 1;
        if start < end || !is_absolute(&script[start..]) {
            return None;
        }
        let len = memchr::memchr3(script[quote], b'\n', b' ', &script[start..])?;
        end = start + len + 1;
        (script[start + len] == script[quote]).then(|| Span::new(start, start + len))
    })
}

/// Returns `true` if a text starts like an absolute Web URL.
fn is_absolute(text: &[u8]) -> bool {
    [&b"http://"[..], b"https://", b"ftp://"]
        .iter()
        .any(|start| begins_with(text, start))
}

/// Returns the URL of `<meta http-equiv=refresh content="5; url=...">`.
fn refresh_url(content: &[u8]) -> Option<Span> {
    let at = content
        .windows(4)
        .position(|window| window.eq_ignore_ascii_case(b"url="))?
        + 4;
    let start = at + blanks(&content[at..]);
    let (start, end) = match &content[start..] {
        [quote @ (b'"' | b'\''), inner @ ..] => (start + 1, memchr::memchr(*quote, inner)),
        _ => (start, None),
    };
    let end = end.map_or(content.len(), |len| start + len);
    Some(Span::new(start, end))
}

/// Returns the URLs of a `srcset`. Each is followed by white space and a descriptor, or by a comma.
fn srcset_urls(value: &[u8]) -> impl Iterator<Item = Span> {
    let without_comma = words(value).map(|word| {
        let comma = usize::from(value[word.end - 1] == b',');
        Span::new(word.start, word.end - comma)
    });
    without_comma.filter(|word| !is_descriptor(word.of(value)))
}

/// Returns the words of a value, separated by white space.
fn words(value: &[u8]) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += blanks(&value[at..]);
        let len = run_len(&value[at..], |byte| !byte.is_ascii_whitespace());
        let word = Span::new(at, at + len);
        at += len;
        (len > 0).then_some(word)
    })
}

/// Returns the range `url` of a value without surrounding white space.
fn trimmed(value: &[u8], url: Span) -> Span {
    let text = url.of(value);
    let start = url.start + blanks(text);
    Span::new(start, start + text.trim_ascii().len())
}

/// Returns `true` for a descriptor of a `srcset`: `2x`, `100w`.
fn is_descriptor(word: &[u8]) -> bool {
    let digits = run_len(word, |byte| byte.is_ascii_digit() || byte == b'.');
    digits > 0 && matches!(word[digits..], [b'x' | b'w' | b'h'] | [])
}

/// Returns the number of white-space bytes at the start of a text.
fn blanks(text: &[u8]) -> usize {
    run_len(text, |byte| byte.is_ascii_whitespace())
}

/// Attributes whose value is one URL.
static URL_ATTRIBUTES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let names = "action archive background cite classid codebase data dynsrc formaction href icon \
        longdesc lowsrc manifest ping poster profile src xlink:href data-src data-href \
        original-src";
    names.split(' ').collect()
});

/// Returns the name of an attribute whose value is one URL. `None` for other attributes.
fn url_attribute(name: &[u8]) -> Option<&'static str> {
    let mut all = URL_ATTRIBUTES.iter();
    all.find(|known| known.as_bytes() == name).copied()
}

/// Elements that have a line break before and after them, which separates the texts of neighbours.
/// In alphabetical order.
static LINE_ELEMENTS: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
    let names = "address article aside blockquote body br button caption center dd div dl dt \
        fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr html img li main nav ol option p \
        pre section select table td th title tr ul";
    names.split(' ').map(str::as_bytes).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(html: &[u8]) -> ParsedHtml {
        super::parse(html, &mut |_| {})
    }

    /// Shows each link as `element.attribute@bytes=value`, and the visible text.
    fn shown(html: &str) -> (Vec<String>, String) {
        let page = parse(html.as_bytes());
        let link = |l: &HtmlLink| {
            let anchor = l.anchor.map_or(String::new(), |a| {
                format!(" [{}]", String::from_utf8_lossy(a.of(&page.text)).trim())
            });
            format!(
                "{}.{}={}{anchor}",
                l.element,
                l.attribute,
                String::from_utf8_lossy(&l.value)
            )
        };
        (
            page.links.iter().map(link).collect(),
            String::from_utf8(page.text.clone()).unwrap(),
        )
    }

    #[test]
    fn urls_are_found_in_attributes_and_styles() {
        let (links, _) = shown(
            "<A HREF='http://a.example/?b=1&amp;c=2'>shown</A><img src=http://b.example/x.gif>\
             <td background=\"http://c.example/\" style='color:red; \
             background:url(\"http://d.example/\")'><meta http-equiv=Refresh content='0; \
             URL=http://e.example/'><img srcset='http://f.example/1 1x, http://f.example/2 \
             2x'><style>p{background:URL( http://g.example/ \
             )}</style><script>f(\"http://h.example/\", 'http://no and no', \"x \
             http://no.example/\")</script><input type=hidden value=http://i.example/><p \
             data-u=\"https://j.example/ 1x, https://l.example/ 2x\" data-v=k>",
        );
        assert_eq!(
            links,
            [
                "a.href=http://a.example/?b=1&c=2 [shown]",
                "img.src=http://b.example/x.gif",
                "td.background=http://c.example/",
                "td.url=http://d.example/",
                "meta.content=http://e.example/",
                "img.srcset=http://f.example/1",
                "img.srcset=http://f.example/2",
                "style.url=http://g.example/",
                "script.=http://h.example/",
                "data.=http://i.example/",
                "data.=https://j.example/",
                "data.=https://l.example/",
            ]
        );
    }

    #[test]
    fn page_source_shown_as_text_is_a_page() {
        let html = "<tt>&lt;p&gt;&lt;a&nbsp;href=&quot;http://a.example/&quot;&gt;b&lt;/a&gt;&lt;/p\
            &gt;</tt>";
        let mut page = parse(html.as_bytes());
        let MappedBytes { bytes, map } = page.shown_page().unwrap();
        let inner = parse(&bytes);
        assert_eq!(inner.links[0].value, b"http://a.example/");
        assert_eq!(
            map.raw(inner.links[0].span).of(html.as_bytes()),
            b"http://a.example/"
        );
        assert!(
            parse(b"<tt>&lt;p&gt; is an element</tt>")
                .shown_page()
                .is_none()
        );
    }

    #[test]
    fn a_url_in_angle_brackets_is_text() {
        let (_, text) = shown("see <http://a.example/b?c=d> or <a:b> and <FTP://b.example>x");
        assert_eq!(
            text,
            "see <http://a.example/b?c=d> or  and <FTP://b.example>x"
        );
    }

    #[test]
    fn elements_are_in_alphabetical_order() {
        assert!(LINE_ELEMENTS.is_sorted());
    }

    #[test]
    fn text_is_joined_over_inline_elements_only() {
        let (_, text) =
            shown("<p>http://a<b>.example</b>/x<br>y&nbsp;&lt;z&gt;<script>no</script><td>1<td>2");
        assert_eq!(
            text.replace('\u{a0}', " "),
            "http://a.example/x\ny <z>\n1\n2"
        );
    }

    #[test]
    fn a_link_ends_words_but_not_lines() {
        for (html, visible) in [
            ("a <a href=u>b</a> c", "a b c"),
            ("a<a href=u>b</a>c", "a b c"),
            ("a<a name=u>b</a>c", "abc"),
            ("a@<a href=u>b.example</a>", "a@b.example"),
            (
                "(<a href=u>http://b.example/</a>).",
                "(http://b.example/ ).",
            ),
            (
                "&lt;<a href=u>http://b.example/</a>&gt;",
                "<http://b.example/>",
            ),
            (
                "<a href=u>http://b.example/</a><a href=u>http://c.example/</a>d",
                "http://b.example/ http://c.example/ d",
            ),
            (
                "<a href=u>http://b.example/</a><p>c",
                "http://b.example/\nc",
            ),
            (
                "git+ssh://joe@<a href=u>b.example</a>:22/c",
                "git+ssh://joe@b.example:22/c",
            ),
        ] {
            assert_eq!(shown(html).1, visible, "{html}");
        }
    }

    #[test]
    fn offsets_map_across_tags_and_character_references() {
        let html = b"<p>see http://a<b>.example</b>/?x&amp;y=1 now";
        let page = parse(html);
        let at = page.text.windows(4).position(|w| w == b"http").unwrap();
        let span = Span::new(at, at + "http://a.example/?x&y=1".len());
        assert_eq!(
            page.map.raw(span).of(html),
            b"http://a<b>.example</b>/?x&amp;y=1"
        );
        assert!(page.map.exact(span));
    }

    /// Checks the unclosed construct, the links and the visible text of a page.
    #[track_caller]
    fn unclosed(html: &str, what: Option<&str>, links: &[&str], text: &str) {
        assert_eq!(
            parse(html.as_bytes()).unclosed.map(|it| it.what),
            what,
            "{html}"
        );
        let (found, visible) = shown(html);
        assert_eq!(
            (found, visible.trim_end()),
            (links.iter().map(|link| (*link).to_owned()).collect(), text),
            "{html}"
        );
    }

    #[test]
    fn unclosed_markup_hides_no_text() {
        let (comment, script, tag) = (
            Some("a comment"),
            Some("a script or a style sheet"),
            Some("a tag"),
        );
        unclosed(
            "x<!-- y <a href=http://a.example/>z</a>",
            comment,
            &["a.href=http://a.example/ [z]"],
            "x\n y z",
        );
        unclosed("<!--<!--x<!--y--", comment, &[], "x\ny--");
        unclosed(
            "x<!doctype http://a.example/",
            comment,
            &[],
            "x\ndoctype http://a.example/",
        );
        unclosed(
            "x<? http://a.example/",
            comment,
            &[],
            "x\n http://a.example/",
        );
        unclosed(
            "<script>f('</scrip>')<p>x<a href='http://a.example/'>",
            script,
            &["a.href=http://a.example/"],
            "f('')\nx",
        );
        unclosed("<style>p{}<script>x", script, &[], "p{}x");
        unclosed(
            "<!-- --!>x<a href=\"http://a.example/>y</a><p>http://b.example/</p>",
            tag,
            &[],
            "x\n=\"http://a.example/>y\n\nhttp://b.example/"
                .replace("\n\n", "\n")
                .as_str(),
        );
        unclosed(
            "x<a b='c' d=\"http://a.example/",
            tag,
            &[],
            "x\n=\"http://a.example/",
        );
        unclosed(
            "x<a href=\"http://a.example/?a=1&amp;b='y\">z",
            tag.filter(|_| false),
            &["a.href=http://a.example/?a=1&b='y"],
            "x z",
        );
        for closed in [
            "x<!-->",
            "x<!--->",
            "x<!-- -->",
            "x<!-- --!>",
            "x<p>\r\n",
            "x</p >\n ",
            "x<? y>",
        ] {
            unclosed(closed, None, &[], "x");
        }
    }

    #[test]
    fn a_page_may_name_its_charset() {
        for (html, charset) in [
            ("<meta charset=utf-8>", Some("utf-8")),
            (
                "<html><META http-equiv=Content-Type content=\"text/html; charset=Shift_JIS\">",
                Some("shift_jis"),
            ),
            ("<meta name=x><meta charset = 'EUC-KR' />", Some("euc-kr")),
            ("<meta content=\"text/html; charset=\">", None),
            ("<meta name=charset>", None),
            ("charset=x", None),
            ("<meta charset=", None),
        ] {
            assert_eq!(
                declared_charset(html.as_bytes()).as_deref(),
                charset,
                "{html}"
            );
        }
        assert_eq!(
            declared_charset(format!("{}<meta charset=x>", " ".repeat(1_024)).as_bytes()),
            None
        );
    }

    #[test]
    fn the_content_of_noscript_is_markup() {
        let (links, text) = shown(
            "<noscript><a \
             href='http://a.example/'>x</a><script>no</script></noscript><iframe><b></iframe>",
        );
        assert_eq!(links, ["a.href=http://a.example/ [x]"]);
        assert_eq!(text, "x<b>");
    }

    #[test]
    fn links_in_conditional_comments_are_links() {
        let (links, text) = shown(
            "<!--[if mso]><a href='http://a.example/'>x</a><![endif]--><!-- <a \
             href='http://no.example/'> -->y",
        );
        assert_eq!(links, ["a.href=http://a.example/"]);
        assert_eq!(text, "y");
    }
}
