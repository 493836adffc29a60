//! The visible text of an HTML text, and the URLs in its attributes and styles.
//!
//! `html5gum` tokenises the text; no document tree is built.

mod character_reference;
mod elements;
mod reader;
mod url_values;

use elements::URL_ATTRIBUTES;
use reader::{HtmlReader, tokenize};

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
}

/// Returns the values of [`HtmlLink::attribute`], each once: attributes that hold a URL, `content` of a refreshing `meta`,
/// `srcset`, and `url` of a style sheet.
pub fn link_attributes() -> impl Iterator<Item = &'static str> {
    URL_ATTRIBUTES
        .into_iter()
        .chain(["content", "srcset", "url"])
}

/// Parses an HTML text. Linear; malformed HTML is read as browsers read it.
#[must_use]
pub(super) fn parse(html: &[u8]) -> ParsedHtml {
    let mut reader = HtmlReader::new(html);
    tokenize(html, &mut |event, span| reader.event(&event, span));
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
