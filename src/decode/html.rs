//! HTML, tokenised by `html5gum` and never built into a tree: the visible text, and the URLs in attributes.

mod entity;
mod values;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, ForwardingEmitter, Span as HtmlSpan, State, Tokenizer};

use values::{candidates, find_url, refreshed, trimmed, unquoted, words};

use crate::limits::ELEMENT_BYTES;
use crate::span::{ByteMap, Span};

/// The value of an attribute that holds a URL, or what a style sheet names with `url(...)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlLink {
    /// Its value, entities undone, as written otherwise.
    pub value: Vec<u8>,
    /// The bytes of the HTML text that the value was written with.
    pub span: Span,
    /// Whether `span` is to the byte.
    pub exact: bool,
    /// The element, in lower case.
    pub element: String,
    /// The attribute, in lower case; `url` for a style sheet's.
    pub attribute: &'static str,
    /// The offset in the visible text at which the element stands.
    pub at: usize,
    /// The range of the visible text between `<a>` and `</a>`.
    pub anchor: Option<Span>,
}

/// What an HTML text shows and names.
#[derive(Debug, Default)]
pub(super) struct ParsedHtml {
    /// The visible text: line breaks where the layout has them, nothing of scripts, styles and comments.
    pub(super) text: Vec<u8>,
    /// From its offsets to those of the HTML text.
    pub(super) map: ByteMap,
    /// The URLs in attributes, in order. A link's `at` does not decrease.
    pub(super) links: Vec<HtmlLink>,
    /// The first `<base href>`.
    pub(super) base: Option<Vec<u8>>,
}

/// Attributes whose value is one URL.
const URL_ATTRIBUTES: [&str; 22] = [
    "action",
    "archive",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "dynsrc",
    "formaction",
    "href",
    "icon",
    "longdesc",
    "lowsrc",
    "manifest",
    "ping",
    "poster",
    "profile",
    "src",
    "xlink:href",
    "data-src",
    "data-href",
    "original-src",
];

/// Elements that begin on a line of their own, or end one. The text of neighbours does not run together.
const BREAKING: [&str; 43] = [
    "a",
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "img",
    "li",
    "main",
    "nav",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "select",
    "table",
    "td",
    "th",
    "title",
    "tr",
    "ul",
];

/// Reads an HTML text. Linear; what is not well-formed is read as browsers read it.
#[must_use]
pub(super) fn page(html: &[u8]) -> ParsedHtml {
    let mut reader = Reader::of(html);
    tokenize(html, &mut |event, span| reader.event(&event, span));
    // What Outlook alone reads stands in comments: `<!--[if mso]> ... <![endif]-->`.
    let conditional = std::mem::take(&mut reader.conditional);
    for (comment, at) in conditional {
        reader.within(comment, at);
    }
    let mut page = reader.page;
    page.map.push_same(page.text.len(), html.len());
    page.links.sort_by_key(|link| link.at);
    page
}

fn tokenize(html: &[u8], sink: &mut dyn FnMut(CallbackEvent<'_>, Span)) {
    let callback =
        |event: CallbackEvent<'_>, span: HtmlSpan<usize>| -> Option<std::convert::Infallible> {
            let end = span.end.min(html.len());
            sink(event, Span::new(span.start.min(end), end));
            None
        };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    let mut tokenizer = Tokenizer::new_with_emitter(html, Quiet(emitter));
    tokenizer.set_state(State::Data);
    // Reading from memory cannot fail.
    let Ok(()) = tokenizer.finish();
}

/// Gives what is in a page and not what is wrong with it, so that nobody looks for that.
struct Quiet<E>(E);

impl<E: Emitter> ForwardingEmitter for Quiet<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = Self::Token> {
        &mut self.0
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }
}

/// A `<meta>` whose attributes have not all been read.
#[derive(Default)]
struct Meta {
    refresh: bool,
    content: Option<(Vec<u8>, Span)>,
}

struct Reader<'h> {
    html: &'h [u8],
    page: ParsedHtml,
    element: Vec<u8>,
    attribute: Vec<u8>,
    /// The element whose text is not shown: `script`, `style`.
    hidden: Option<&'static [u8]>,
    /// The links of the `<a>` that is open, and where its text begins.
    open: Option<(usize, usize)>,
    meta: Meta,
    /// Conditional comments, and where in the visible text they stand.
    conditional: Vec<(Span, usize)>,
}

impl<'h> Reader<'h> {
    fn of(html: &'h [u8]) -> Reader<'h> {
        Reader {
            html,
            page: ParsedHtml::default(),
            element: Vec::new(),
            attribute: Vec::new(),
            hidden: None,
            open: None,
            meta: Meta::default(),
            conditional: Vec::new(),
        }
    }

    fn event(&mut self, event: &CallbackEvent<'_>, span: Span) {
        match *event {
            CallbackEvent::OpenStartTag { name } => self.start(name),
            CallbackEvent::AttributeName { name } => {
                self.attribute.clear();
                self.attribute.extend_from_slice(name);
            }
            CallbackEvent::AttributeValue { value } => self.value(value, span),
            CallbackEvent::CloseStartTag { .. } => self.end_of_start(),
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.text(value, span),
            CallbackEvent::Comment { value } => {
                if value.trim_ascii_start().starts_with(b"[if") {
                    self.conditional.push((span, self.page.text.len()));
                }
            }
            CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
    }

    fn start(&mut self, name: &[u8]) {
        self.element.clear();
        self.element.extend_from_slice(name);
        self.meta = Meta::default();
        self.break_line(name);
        if name == b"a" {
            self.close_anchor();
            self.open = Some((self.page.links.len(), self.page.text.len()));
        }
    }

    fn end_of_start(&mut self) {
        self.hidden = match self.element.as_slice() {
            b"script" => Some(b"script"),
            b"style" => Some(b"style"),
            _ => self.hidden,
        };
        if let Meta {
            refresh: true,
            content: Some((content, span)),
        } = std::mem::take(&mut self.meta)
            && let Some(url) = refreshed(&content)
        {
            self.links(&content, span, [url], "content");
        }
    }

    fn end(&mut self, name: &[u8]) {
        if self.hidden == Some(name) {
            self.hidden = None;
        }
        if name == b"a" {
            self.close_anchor();
        }
        self.break_line(name);
    }

    /// Tells the links of an `<a>` what is shown for them.
    fn close_anchor(&mut self) {
        if let Some((first, begin)) = self.open.take() {
            let anchor = Span::new(begin, self.page.text.len());
            self.page.links[first..]
                .iter_mut()
                .filter(|link| link.element == "a")
                .for_each(|link| link.anchor = Some(anchor));
        }
    }

    fn break_line(&mut self, name: &[u8]) {
        let breaks = std::str::from_utf8(name).is_ok_and(|name| BREAKING.contains(&name));
        if breaks && self.page.text.last().is_some_and(|&last| last != b'\n') {
            self.page.text.push(b'\n');
        }
    }

    fn text(&mut self, value: &[u8], span: Span) {
        match self.hidden {
            Some(b"style") => self.style(value, span),
            Some(_) => {}
            None => {
                entity::align(
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
            (b"meta", "http-equiv") => self.meta.refresh |= value.eq_ignore_ascii_case(b"refresh"),
            (b"meta", "content") => self.meta.content = Some((value.to_vec(), span)),
            (_, "style") => self.style(value, span),
            (_, "srcset" | "imagesrcset") => self.links(value, span, candidates(value), "srcset"),
            (_, "ping") => self.links(value, span, words(value), "ping"),
            (_, name) => {
                if let Some(known) = URL_ATTRIBUTES.iter().find(|known| **known == name) {
                    self.links(value, span, whole, known);
                }
            }
        }
        self.attribute = attribute;
    }

    /// What a style sheet names with `url(...)`.
    fn style(&mut self, css: &[u8], span: Span) {
        let mut at = 0;
        let urls = std::iter::from_fn(|| {
            let open = at + find_url(&css[at..])?;
            let close = memchr::memchr(b')', &css[open..]).map_or(css.len(), |close| open + close);
            at = close;
            Some(unquoted(css, Span::new(open, close)))
        });
        self.links(css, span, urls, "url");
    }

    /// Notes the URLs that stand at `urls` in a value that was written with the bytes `span`.
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
        entity::align(span.of(self.html), span.start, value, 0, &mut map);
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

    /// The links within a conditional comment. Its text is not taken: the same stands outside, for the others.
    fn within(&mut self, comment: Span, at: usize) {
        let inner = comment.of(self.html);
        let Some(open) = memchr::memmem::find(inner, b"]>") else {
            return;
        };
        let begin = comment.start + open + 2;
        let html = &self.html[..comment.end];
        let mut reader = Reader::of(html);
        tokenize(&html[begin..], &mut |event, span| {
            reader.event(&event, Span::new(span.start + begin, span.end + begin));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Each link as `element.attribute@bytes=value`, and the visible text.
    fn shown(html: &str) -> (Vec<String>, String) {
        let page = page(html.as_bytes());
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
    fn links_are_found_where_html_has_them() {
        let (links, _) = shown(
            "<A HREF='http://a.example/?b=1&amp;c=2'>shown</A><img src=http://b.example/x.gif>\
             <td background=\"http://c.example/\" style='color:red; background:url(\"http://d.example/\")'>\
             <meta http-equiv=Refresh content='0; URL=http://e.example/'>\
             <img srcset='http://f.example/1 1x, http://f.example/2 2x'><style>p{background:URL( http://g.example/ )}</style>",
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
            ]
        );
    }

    #[test]
    fn text_runs_over_inline_elements_and_breaks_at_others() {
        let (_, text) =
            shown("<p>http://a<b>.example</b>/x<br>y&nbsp;&lt;z&gt;<script>no</script><td>1<td>2");
        assert_eq!(
            text.replace('\u{a0}', " "),
            "http://a.example/x\ny <z>\n1\n2"
        );
    }

    #[test]
    fn the_map_leads_back_over_tags_and_entities() {
        let html = b"<p>see http://a<b>.example</b>/?x&amp;y=1 now";
        let page = page(html);
        let at = page.text.windows(4).position(|w| w == b"http").unwrap();
        let span = Span::new(at, at + "http://a.example/?x&y=1".len());
        assert_eq!(
            page.map.raw(span).of(html),
            b"http://a<b>.example</b>/?x&amp;y=1"
        );
        assert!(page.map.exact(span));
    }

    #[test]
    fn links_in_conditional_comments_are_links() {
        let (links, text) = shown(
            "<!--[if mso]><a href='http://a.example/'>x</a><![endif]--><!-- <a href='http://no.example/'> -->y",
        );
        assert_eq!(
            (links, text),
            (vec!["a.href=http://a.example/".to_owned()], "y".to_owned())
        );
    }
}
