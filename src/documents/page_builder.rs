//! The page that a document becomes: text, line breaks and links in HTML.

/// Builder of a page. What exceeds the limit is dropped.
pub(super) struct PageBuilder {
    html: Vec<u8>,
    max_bytes: usize,
    is_full: bool,
    is_link_open: bool,
}

impl PageBuilder {
    /// Creates an empty page of at most `max_bytes` bytes.
    pub(super) fn new(max_bytes: usize) -> PageBuilder {
        PageBuilder {
            html: Vec::new(),
            max_bytes,
            is_full: false,
            is_link_open: false,
        }
    }

    /// Returns `true` if something was dropped.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Appends visible text.
    pub(super) fn text(&mut self, text: &str) {
        self.escaped(text);
    }

    /// Appends HTML as it is.
    pub(super) fn html(&mut self, html: &[u8]) {
        self.push(html);
    }

    /// Ends the line, unless it is empty.
    pub(super) fn line_break(&mut self) {
        const BREAK: &[u8] = b"<br>\n";
        if !self.html.is_empty() && !self.html.ends_with(BREAK) {
            self.push(BREAK);
        }
    }

    /// Begins a link. Ends the one that is open.
    pub(super) fn open_link(&mut self, target: &str) {
        self.close_link();
        self.attribute("a", "href", target);
        self.is_link_open = true;
    }

    /// Ends the open link, if there is one.
    pub(super) fn close_link(&mut self) {
        if std::mem::take(&mut self.is_link_open) {
            self.push(b"</a>");
        }
    }

    /// Appends a link without text.
    pub(super) fn link(&mut self, target: &str) {
        self.open_link(target);
        self.close_link();
    }

    /// Appends the source of an image.
    pub(super) fn image(&mut self, target: &str) {
        self.attribute("img", "src", target);
    }

    /// Appends the target of something that is neither a link for readers nor an image.
    pub(super) fn linked_object(&mut self, target: &str) {
        self.attribute("link", "href", target);
    }

    /// Returns the page.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.close_link();
        self.html
    }

    fn attribute(&mut self, element: &str, name: &str, value: &str) {
        let room = self.max_bytes.saturating_sub(self.html.len());
        if room < value.len() {
            self.is_full = true;
            return;
        }
        self.html
            .extend_from_slice(format!("<{element} {name}=\"").as_bytes());
        self.escaped(value);
        self.html.extend_from_slice(b"\">");
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.html.len() < self.max_bytes {
            self.html.extend_from_slice(bytes);
        } else {
            self.is_full = true;
        }
    }

    fn escaped(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['<', '>', '&', '"', '\0']) {
            self.push(&rest.as_bytes()[..at]);
            self.push(match rest.as_bytes()[at] {
                b'<' => b"&lt;",
                b'>' => b"&gt;",
                b'&' => b"&amp;",
                b'"' => b"&quot;",
                _ => b" ",
            });
            rest = &rest[at + 1..];
        }
        self.push(rest.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_targets_are_escaped_and_lines_end_once() {
        let mut page = PageBuilder::new(1_000);
        page.line_break();
        page.text("a<b");
        page.line_break();
        page.line_break();
        page.open_link("http://a.example/?x=\"&y");
        page.text("c");
        page.link("http://b.example/");
        assert!(!page.is_full());
        let html = String::from_utf8(page.finish()).unwrap();
        assert_eq!(
            html,
            "a&lt;b<br>\n<a href=\"http://a.example/?x=&quot;&amp;y\">c</a><a href=\"http://b.example/\"></a>"
        );
    }

    #[test]
    fn a_full_page_drops_whole_targets() {
        let mut page = PageBuilder::new(40);
        page.text("some text that is not cut");
        page.link("http://a.example/too-long-for-the-rest");
        assert!(page.is_full());
        assert_eq!(page.finish(), b"some text that is not cut</a>");
    }
}
