//! The parts of a page by which it is judged: its text, and what it loads.

use html5gum::emitters::callback::CallbackEvent;

use crate::decode::{ElementContent, page_in_utf8, tokenize};
use crate::limits::{INSPECT_RESOURCES, INSPECT_TEXT_BYTES};

/// A page as a reader sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// The title and the visible text.
    pub(super) text: String,
    /// Addresses of scripts and frames, as they are written.
    pub(super) loads: Vec<String>,
    /// `true` if it loads or holds a script.
    pub(super) has_script: bool,
    /// `true` if it asks for a password.
    pub(super) has_password: bool,
}

impl Page {
    /// Reads HTML. `charset` is the one that the server names.
    pub(super) fn html(body: &[u8], charset: Option<&str>) -> Page {
        let html = page_in_utf8(body, charset);
        let mut reader = PageReader::default();
        tokenize(&html, ElementContent::AsBrowsers, &mut |event, _| {
            reader.event(&event);
        });
        let mut page = reader.page;
        page.text = cut(&String::from_utf8_lossy(&reader.text));
        page
    }

    /// Reads plain text.
    pub(super) fn plain(body: &[u8], charset: Option<&str>) -> Page {
        Page {
            text: cut(&String::from_utf8_lossy(&page_in_utf8(body, charset))),
            ..Page::default()
        }
    }
}

/// Returns the beginning of a text that is kept.
fn cut(text: &str) -> String {
    let mut end = text.len().min(INSPECT_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Elements whose content no reader sees as text of the page.
const HIDDEN: [&[u8]; 4] = [b"script", b"style", b"noscript", b"template"];

/// Elements that do not separate words.
const INLINE: [&[u8]; 14] = [
    b"a", b"abbr", b"b", b"big", b"code", b"em", b"font", b"i", b"small", b"span", b"strong",
    b"sub", b"tt", b"u",
];

/// Builds a [`Page`] from tokens.
#[derive(Default)]
struct PageReader {
    page: Page,
    text: Vec<u8>,
    element: Vec<u8>,
    attribute: Vec<u8>,
    /// The open element of [`HIDDEN`].
    hidden: Option<&'static [u8]>,
}

impl PageReader {
    fn event(&mut self, event: &CallbackEvent<'_>) {
        match *event {
            CallbackEvent::OpenStartTag { name } => {
                name.clone_into(&mut self.element);
                self.separate(name);
            }
            CallbackEvent::AttributeName { name } => name.clone_into(&mut self.attribute),
            CallbackEvent::AttributeValue { value } => self.value(value),
            CallbackEvent::CloseStartTag { self_closing } => self.opened(self_closing),
            CallbackEvent::EndTag { name } => {
                self.hidden = self.hidden.filter(|hidden| *hidden != name);
                self.separate(name);
            }
            CallbackEvent::String { value } => {
                if self.hidden.is_none() {
                    self.text.extend_from_slice(value);
                }
            }
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn separate(&mut self, name: &[u8]) {
        if !INLINE.contains(&name) && self.text.last().is_some_and(|last| *last != b'\n') {
            self.text.push(b'\n');
        }
    }

    fn opened(&mut self, is_closed: bool) {
        let name = self.element.as_slice();
        self.page.has_script |= name == b"script";
        if self.hidden.is_none() && !is_closed {
            self.hidden = HIDDEN.into_iter().find(|hidden| *hidden == name);
        }
    }

    fn value(&mut self, value: &[u8]) {
        match (self.element.as_slice(), self.attribute.as_slice()) {
            (b"script" | b"iframe" | b"frame", b"src")
                if self.page.loads.len() < INSPECT_RESOURCES =>
            {
                let address = String::from_utf8_lossy(value).into_owned();
                self.page.loads.push(address);
            }
            (b"input", b"type") if value.eq_ignore_ascii_case(b"password") => {
                self.page.has_password = true;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_is_seen() {
        let html = "<!DOCTYPE html><head><title>A lamp</title>\
            <script src=//s.test/X.js></script><style>.hidden{}</style></head>\
            <body><p>Wick<b>s</b> &amp; oil<p>No<noscript>Turn it on</noscript>\
            <script>var x = 1</script><iframe src=f.html></iframe><img src=i.gif>\
            <input type=PASSWORD><template>later</template></body>";
        let page = Page::html(html.as_bytes(), None);
        let words: Vec<_> = page.text.split_whitespace().collect();
        assert_eq!(words, ["A", "lamp", "Wicks", "&", "oil", "No"]);
        assert_eq!(page.loads, ["//s.test/X.js", "f.html"]);
        assert!(page.has_password && page.has_script);
    }

    #[test]
    fn charsets_and_limits_hold() {
        let page = Page::html(b"<title>Caf\xe9</title>", Some("iso-8859-1"));
        assert_eq!(page.text.trim(), "Caf\u{e9}");
        let page = Page::plain("\u{e9} ".repeat(99_999).as_bytes(), Some("utf-8"));
        assert!(page.text.len() <= INSPECT_TEXT_BYTES);
        let scripts = "<script src=x></script>".repeat(INSPECT_RESOURCES + 1);
        let page = Page::html(scripts.as_bytes(), None);
        assert_eq!(page.loads.len(), INSPECT_RESOURCES);
    }
}
