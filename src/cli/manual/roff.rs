//! Text in the macros of man(7).

/// Writer of one manual page.
pub(super) struct RoffPage {
    text: String,
}

impl RoffPage {
    /// The title line and the section NAME of a page in section 5 of the manual.
    pub(super) fn of_format(title: &str, purpose: &str) -> RoffPage {
        let version = env!("CARGO_PKG_VERSION");
        let mut page = RoffPage {
            text: format!(
                ".TH \"{}\" 5 \"\" \"urlspool {version}\" \"File formats\"\n",
                title.to_uppercase()
            ),
        };
        page.section("name");
        page.line(&format!("{title} - {purpose}"));
        page
    }

    /// An empty text, to follow sections that were written before.
    pub(super) fn continued() -> RoffPage {
        RoffPage {
            text: String::new(),
        }
    }

    /// The heading of a section.
    pub(super) fn section(&mut self, title: &str) {
        self.text += &format!(".SH \"{}\"\n", escaped(&title.to_uppercase()));
    }

    /// The heading of a section that is a name, which keeps its letters.
    pub(super) fn named_section(&mut self, title: &str) {
        self.text += &format!(".SH \"{}\"\n", escaped(title));
    }

    /// A paragraph.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.text += ".PP\n";
        self.line(text);
    }

    /// A term, in bold, with the values beside it, and its description.
    pub(super) fn term(&mut self, term: &str, values: &str, description: &str) {
        self.text += &format!(".TP\n\\fB{}\\fR {}\n", escaped(term), escaped(values));
        self.line(description);
    }

    /// Lines that are not filled.
    pub(super) fn verbatim(&mut self, lines: &str) {
        self.text += ".PP\n.nf\n.RS 4\n";
        self.line(lines);
        self.text += ".RE\n.fi\n";
    }

    /// The page.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, text: &str) {
        for line in text.lines() {
            // A `.` or `'` at the start of a line would be a request.
            let guard = if line.starts_with(['.', '\'']) {
                "\\&"
            } else {
                ""
            };
            self.text += &format!("{guard}{}\n", escaped(line));
        }
    }
}

/// Escapes what roff would obey. `-` becomes the minus that can be copied from the page.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('"', "\\(dq")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_the_text_are_escaped() {
        let mut page = RoffPage::continued();
        page.paragraph(".so x\n'a\\b-c");
        assert_eq!(page.finish(), ".PP\n\\&.so x\n\\&'a\\eb\\-c\n");
    }
}
