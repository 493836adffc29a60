//! The visible text of an HTML text, and the URLs in its attributes and styles.
//!
//! `html5gum` tokenises the text; no document tree is built.

mod character_reference;
mod elements;
mod reader;
mod tokens;
mod url_values;

use elements::URL_ATTRIBUTES;
use reader::HtmlReader;
use tokens::ElementContent;

use crate::span::{ByteMap, Span};

/// A URL in an attribute or in `url(...)` of a style sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HtmlLink {
    /// The URL as written, with character references decoded.
    pub value: Vec<u8>,
    /// Its range in the HTML text.
    pub span: Span,
    /// `true` if `span` is exact: no neighbouring character shares its first or last bytes.
    pub exact: bool,
    /// The name of the element, in lower case; `?` if it is longer than
    /// [`ELEMENT_BYTES`](crate::limits::ELEMENT_BYTES).
    pub element: String,
    /// The name of the attribute, in lower case; `url` for `url(...)` in a style sheet.
    pub attribute: &'static str,
    /// The offset of the element in the visible text.
    pub at: usize,
    /// The range of the visible text between `<a>` and `</a>`, for links in an `<a>`.
    pub anchor: Option<Span>,
}

/// The result of parsing an HTML text.
#[derive(Debug, Default)]
pub(super) struct ParsedHtml {
    /// The visible text: with line breaks where the layout has them, without scripts, styles and comments.
    pub(super) text: Vec<u8>,
    /// From offsets in `text` to those in the HTML text.
    pub(super) map: ByteMap,
    /// The URLs in attributes and styles, ordered by [`HtmlLink::at`].
    pub(super) links: Vec<HtmlLink>,
    /// The first `<base href>`.
    pub(super) base: Option<Vec<u8>>,
    /// The first element, comment or tag that is not closed. What it hides from browsers was read nevertheless.
    pub(super) unclosed: Option<Unclosed>,
}

/// Returns the values of [`HtmlLink::attribute`], each once: attributes that hold a URL, `content` of a refreshing `meta`,
/// `srcset`, and `url` of a style sheet.
pub fn link_attributes() -> impl Iterator<Item = &'static str> {
    URL_ATTRIBUTES
        .into_iter()
        .chain(["content", "srcset", "url"])
}

/// Returns the charset that an HTML text names in a `meta` at its start (WHATWG HTML, section 13.2.3.2).
#[must_use]
pub(super) fn declared_charset(html: &[u8]) -> Option<String> {
    /// Bytes that browsers search, too.
    const SEARCHED_BYTES: usize = 1_024;
    let start = html[..html.len().min(SEARCHED_BYTES)].to_ascii_lowercase();
    let mut tags = memchr::memmem::find_iter(&start, b"<meta").map(|at| &start[at..]);
    tags.find_map(|tag| {
        let tag = &tag[..memchr::memchr(b'>', tag)?];
        let value = &tag[memchr::memmem::find(tag, b"charset")? + b"charset".len()..];
        let value = value
            .trim_ascii_start()
            .strip_prefix(b"=")?
            .trim_ascii_start();
        let is_end = |byte: &u8| {
            matches!(
                byte,
                b'"' | b'\'' | b';' | b' ' | b'\t' | b'\n' | b'\r' | b'/'
            )
        };
        let mut words = value.split(is_end).filter(|word| !word.is_empty());
        words
            .next()
            .map(|name| String::from_utf8_lossy(name).into_owned())
    })
}

/// Parses an HTML text. Linear; malformed HTML is read as browsers read it, but nothing is hidden by an element or a comment
/// that is not closed.
#[must_use]
pub(super) fn parse(html: &[u8]) -> ParsedHtml {
    let mut reader = HtmlReader::new(html);
    let all = Span::new(0, html.len());
    if let Some(unclosed) = reader.read(all, ElementContent::AsBrowsers) {
        reader.page.unclosed = Some(unclosed);
        reader.read_again(unclosed.rest);
    }
    // Conditional comments hold HTML for Outlook: `<!--[if mso]> ... <![endif]-->`.
    let conditional = std::mem::take(&mut reader.conditional);
    for comment in conditional {
        reader.comment_links(&comment);
    }
    let mut page = reader.page;
    page.map.push_same(page.text.len(), html.len());
    page.links.sort_by_key(|link| link.at);
    page
}

/// Something that is not closed up to the end of an HTML text. Browsers show nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    /// The kind of it, with its article.
    pub(super) what: &'static str,
    /// Offset of the bytes after its start.
    pub(super) rest: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each link as `element.attribute@bytes=value`, and the visible text.
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
    fn text_is_joined_over_inline_elements_only() {
        let (_, text) =
            shown("<p>http://a<b>.example</b>/x<br>y&nbsp;&lt;z&gt;<script>no</script><td>1<td>2");
        assert_eq!(
            text.replace('\u{a0}', " "),
            "http://a.example/x\ny <z>\n1\n2"
        );
    }

    #[test]
    fn the_map_leads_back_over_tags_and_character_references() {
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
    fn nothing_is_hidden_by_what_is_not_closed() {
        let (comment, script, tag) = (
            Some("a comment"),
            Some("a script or a style sheet"),
            Some("a tag"),
        );
        unclosed(
            "x<!-- y <a href=http://a.example/>z</a>",
            comment,
            &["a.href=http://a.example/ [z]"],
            "x\n y \nz",
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
            "x\nz",
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
            "<noscript><a href='http://a.example/'>x</a><script>no</script></noscript><iframe><b></iframe>",
        );
        assert_eq!(
            (links, text),
            (
                vec!["a.href=http://a.example/ [x]".to_owned()],
                "x\n<b>".to_owned()
            )
        );
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
