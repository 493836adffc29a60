//! Tokens of notations that are neither URL nor prose: git, the C preprocessor, code, lists.

use super::{ContinuationToken, all};

/// The directives of the C preprocessor. A line that begins with `#` and one of them is code.
const DIRECTIVES: [&[u8]; 13] = [
    b"include", b"define", b"undef", b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif",
    b"error", b"warning", b"pragma", b"line",
];

/// The folders of names in a git repository. A name that begins with one of them is the name of a branch or tag.
const REFERENCES: [&[u8]; 4] = [b"tags/", b"refs/", b"heads/", b"remotes/"];

/// The pages that cgit, which shows git repositories on the web, has below the name of a repository.
const REPOSITORY_PAGES: [&[u8]; 16] = [
    b"about",
    b"atom",
    b"blame",
    b"blob",
    b"commit",
    b"diff",
    b"log",
    b"patch",
    b"plain",
    b"rawdiff",
    b"refs",
    b"snapshot",
    b"stats",
    b"summary",
    b"tag",
    b"tree",
];

/// Prefixes of rules, bullets, boxes and command-line options. None of these continues a URL.
const RULES: [&str; 13] = [
    "--", "-o", "-*", "-=", "-~", "==", "__", "...", "~~", "//", "++", "##", "/*",
];

/// Maximum number of digits of the number of an issue or of a footnote, such as `#12`.
const ISSUE_DIGITS: usize = 6;

/// Maximum number of digits before an item of a numbered list.
const ITEM_DIGITS: usize = 3;

impl ContinuationToken<'_> {
    /// Returns `true` if the token is a `#` and a directive of the C preprocessor.
    pub(in crate::repair::continuation) fn is_directive(&self) -> bool {
        self.all
            .strip_prefix(b"#")
            .is_some_and(|name| DIRECTIVES.contains(&name))
    }

    /// Returns `true` if the token is a `#` and a short number: that of an issue.
    pub(in crate::repair::continuation) fn is_issue(&self) -> bool {
        self.bare
            .strip_prefix(b"#")
            .is_some_and(|number| number.len() <= ISSUE_DIGITS && all(number, u8::is_ascii_digit))
    }

    /// Returns `true` if the token begins with the folder of branches or tags of a git repository.
    pub(in crate::repair::continuation) fn is_reference(&self) -> bool {
        REFERENCES.iter().any(|folder| self.all.starts_with(folder))
    }

    /// Returns `true` if the token is a page below a git repository, whose URL ends with a slash if `after_slash`.
    pub(in crate::repair::continuation) fn is_repository_page(&self, after_slash: bool) -> bool {
        let query = matches!(self.first(), b'?' | b';' | b'#' | b'&');
        let page = if after_slash {
            Some(self.all)
        } else {
            self.all.strip_prefix(b"/")
        };
        query
            || page.is_some_and(|page| {
                let name = page
                    .iter()
                    .take_while(|byte| byte.is_ascii_lowercase())
                    .count();
                let (name, rest) = page.split_at(name);
                let known =
                    REPOSITORY_PAGES.contains(&name) && matches!(rest, [] | [b'/' | b'?', ..]);
                known || !after_slash
            })
    }

    /// Returns `true` if the token is the number of a section, such as `5.2.2`.
    pub(in crate::repair::continuation) fn is_section_number(&self) -> bool {
        self.bare.contains(&b'.')
            && self.bare.split(|&byte| byte == b'.').all(|number| {
                !number.is_empty() && number.len() <= 2 && all(number, u8::is_ascii_digit)
            })
    }

    /// Returns `true` if the token is the call of a function or a qualified name: `run()`, `f(x,`, `a::b`, `a->b`.
    pub(in crate::repair::continuation) fn is_code(&self) -> bool {
        let call = self.all.windows(2).position(|pair| {
            (pair[0].is_ascii_alphanumeric() && pair[1] == b'(') || pair == b"::" || pair == b"->"
        });
        call.is_some_and(|at| !self.all[..at].contains(&b'/'))
    }

    /// Returns `true` if the token is a rule, bullet, box or option, or the number of a list item.
    pub(in crate::repair::continuation) fn is_rule(&self) -> bool {
        let item = match self.all {
            [number @ .., b'.' | b')'] => {
                (1..=ITEM_DIGITS).contains(&number.len()) && all(number, u8::is_ascii_digit)
            }
            _ => false,
        };
        item || RULES
            .iter()
            .any(|rule| self.all.starts_with(rule.as_bytes()))
    }
}
