//! The text of an HTML page. Only constants are written as they are; everything else is escaped.

use crate::diagnostic::{printable, shortened};
use crate::limits::REPORT_TEXT_CHARS;

/// An HTML text that is being written.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Appends markup, which is a constant of this program.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Appends text, for the content of an element or between the quotation marks of an attribute. Control characters and those that
    /// change the direction of writing are shown as escapes.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        for c in printable(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(c),
            }
        }
        self
    }

    /// Appends text of others, isolated from the direction of the text around it; of a long one only the beginning.
    pub(super) fn foreign(&mut self, text: &str) -> &mut Html {
        self.raw("<bdi>")
            .text(&shortened(text, REPORT_TEXT_CHARS))
            .raw("</bdi>")
    }

    /// Appends a whole number, with commas between thousands.
    pub(super) fn count(&mut self, count: u64) -> &mut Html {
        let digits = count.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if 0 < index && (digits.len() - index).is_multiple_of(3) {
                self.0.push(',');
            }
            self.0.push(digit);
        }
        self
    }

    /// Appends a whole number and the noun for it.
    pub(super) fn counted(
        &mut self,
        count: u64,
        one: &'static str,
        many: &'static str,
    ) -> &mut Html {
        let noun = if count == 1 { one } else { many };
        self.count(count).raw(" ").raw(noun)
    }

    /// Appends a day, which no line break divides.
    pub(super) fn day(&mut self, day: &str) -> &mut Html {
        self.raw("<span class=\"whole\">").text(day).raw("</span>")
    }

    /// Appends a whole number without commas, as attributes need it.
    pub(super) fn digits(&mut self, number: u64) -> &mut Html {
        self.0.push_str(&number.to_string());
        self
    }

    /// Appends a number with two decimal places, for coordinates.
    pub(super) fn coordinate(&mut self, number: f64) -> &mut Html {
        self.0.push_str(&format!("{number:.2}"));
        self
    }

    /// Appends a share as a percentage.
    pub(super) fn percent(&mut self, share: f64) -> &mut Html {
        self.0.push_str(&format!("{:.1}\u{a0}%", share * 100.0));
        self
    }

    /// Returns the page.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(write: impl FnOnce(&mut Html) -> &mut Html, expected: &str) {
        let mut html = Html::default();
        write(&mut html);
        assert_eq!(html.0, expected);
    }

    #[test]
    fn text_holds_no_markup_and_no_control() {
        check(
            |html| html.text("<b a=\"'\">&\u{1b}[0m\u{202e}\u{e9}\n"),
            "&lt;b a=&quot;&#39;&quot;&gt;&amp;\\u{1b}[0m\\u{202e}\u{e9}\\u{a}",
        );
        let long = "\u{e9}".repeat(REPORT_TEXT_CHARS + 1);
        let cut = "\u{e9}".repeat(REPORT_TEXT_CHARS);
        check(
            |html| html.foreign(&long),
            &format!("<bdi>{cut}\u{2026}</bdi>"),
        );
        check(|html| html.foreign(&cut), &format!("<bdi>{cut}</bdi>"));
    }

    #[test]
    fn numbers_are_written_for_readers() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            check(|html| html.count(count), expected);
        }
        check(|html| html.counted(1, "link", "links"), "1 link");
        check(|html| html.counted(1_000, "link", "links"), "1,000 links");
        check(|html| html.percent(0.4567), "45.7\u{a0}%");
        check(|html| html.coordinate(1.0 / 3.0), "0.33");
    }
}
