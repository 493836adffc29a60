//! Finds the offsets in a text where a URL may start: a cheap trigger, then a check of the bytes
//! before it.
//!
//! `repair` and `parse` find where the URL continues and ends, and whether it is a URL at all.

mod host_check;
mod spelling;
mod trigger;

pub use host_check::{
    CutText, HostAndPort, cut, host_before_refused, is_country, is_cut_short, is_registered,
    is_site, likely_host, names_machine, names_page, names_site, plausible_host, public_suffix,
};
pub use spelling::{Spelling, defanged_mark, guessed_scheme, spelled_head};
pub use trigger::UrlStarts;

use crate::grammar::{BareRequirement, SCHEMES, Scheme};
use trigger::SchemeSuffixes;

/// The rules for finding URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// URLs as people write them (the default).
    #[default]
    Wide,
    /// RFC 1738 and its appendix, to the letter.
    Rfc1738,
}

/// The text that sets a URL off from its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opening {
    /// `<URL:`
    UrlBracket,
    /// `<` and a scheme.
    Angle,
    /// `URL:` without a bracket.
    UrlPrefix,
    /// A scheme alone.
    Bare,
    /// `www.` or `ftp.`, possibly with a number (`www2.`), without a scheme. The field is the
    /// guessed scheme.
    Schemeless(&'static str),
    /// A host and the slash of its path, without a scheme (`archive.org/details/x`). The field is
    /// the guessed scheme.
    HostPath(&'static str),
}

impl Opening {
    /// Returns the scheme that was guessed.
    #[must_use]
    pub fn guessed(self) -> Option<&'static str> {
        match self {
            Opening::Schemeless(scheme) | Opening::HostPath(scheme) => Some(scheme),
            _ => None,
        }
    }
}

/// An offset in a text where a URL may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlStart {
    /// The offset of the wrapper, or of the URL if there is no wrapper.
    pub at: usize,
    /// The offset after the opening of the wrapper. The URL starts here or after white space.
    pub content: usize,
    /// The kind of opening.
    pub opening: Opening,
    /// The offset at which to continue the search if no URL starts here.
    pub resume: usize,
}

impl UrlStart {
    /// Returns a start without a wrapper.
    fn new(at: usize, opening: Opening, resume: usize) -> UrlStart {
        UrlStart {
            at,
            content: at,
            opening,
            resume,
        }
    }

    /// Returns a start in the wrapper whose `<` is at `at`.
    fn in_wrapper(at: usize, content: usize, opening: Opening) -> UrlStart {
        UrlStart {
            at,
            content,
            opening,
            resume: at + 1,
        }
    }

    /// Returns `true` if the scheme has blanks between its letters or slashes: `h t t p : / /
    /// a.example`.
    #[must_use]
    pub fn is_spaced(&self) -> bool {
        matches!(self.opening, Opening::Schemeless(_)) && self.at < self.content
    }
}

/// Finds URL starts. One scanner serves all threads of a run.
#[derive(Debug)]
pub struct Scanner {
    rules: Rules,
    /// `true` if `www.` and `ftp.` are starts. Always `false` by the strict rules.
    schemeless: bool,
    /// `true` if hosts with a path are starts, known or not.
    paths: bool,
    /// The scheme names that the user added, in lower case.
    extra: Vec<Vec<u8>>,
    suffixes: SchemeSuffixes,
}

/// Policy for URLs without a scheme. The strict rules never find them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemelessPolicy {
    /// `www.x.org` and `ftp.x.org` are found, and hosts with a path if they occur with a scheme
    /// elsewhere (the default).
    #[default]
    Find,
    /// They are skipped.
    Skip,
    /// All hosts with a path are found as well (`x.org/y`).
    Paths,
}

impl Scanner {
    /// Returns a scanner for `rules`. `extra` names additional schemes that need no `//`, in any
    /// case.
    #[must_use]
    pub fn new(rules: Rules, schemeless: SchemelessPolicy, extra: &[String]) -> Scanner {
        // By the wide rules, a URL of these schemes needs `//`, even in brackets.
        let needs_slashes = |row: &Scheme| {
            rules == Rules::Wide
                && matches!(
                    row.bare,
                    BareRequirement::Host | BareRequirement::Slashes | BareRequirement::Never
                )
        };
        let known = SCHEMES.iter().filter(|row| !needs_slashes(row));
        let names = known
            .map(|row| row.name)
            .chain(extra.iter().map(String::as_str))
            .chain(["url"]);
        Scanner {
            rules,
            schemeless: rules == Rules::Wide && schemeless != SchemelessPolicy::Skip,
            paths: schemeless == SchemelessPolicy::Paths,
            suffixes: SchemeSuffixes::new(names),
            extra: extra
                .iter()
                .map(|name| name.to_ascii_lowercase().into_bytes())
                .collect(),
        }
    }

    /// The rules of this scanner.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The requirement for a bare URL of this scheme. A scheme added by the user needs at least one
    /// character after the colon, and an unknown scheme needs a host.
    #[must_use]
    pub fn bare_requirement(&self, scheme: &[u8]) -> BareRequirement {
        if self.is_extra(scheme) {
            return BareRequirement::Starts("");
        }
        Scheme::named(scheme).map_or(BareRequirement::Host, |row| row.bare)
    }

    /// Returns `true` if the scheme is in the table of schemes or was added by the user.
    #[must_use]
    pub fn knows(&self, scheme: &[u8]) -> bool {
        Scheme::named(scheme).is_some() || self.is_extra(scheme)
    }

    /// Returns `true` if a host with a path needs no evidence.
    #[must_use]
    pub fn finds_all_paths(&self) -> bool {
        self.paths
    }

    fn is_extra(&self, scheme: &[u8]) -> bool {
        self.extra
            .iter()
            .any(|name| name.eq_ignore_ascii_case(scheme))
    }

    /// Returns the URL starts in `text`.
    #[must_use]
    pub fn starts<'t>(&'t self, text: &'t [u8]) -> UrlStarts<'t> {
        UrlStarts::new(self, text, self.schemeless)
    }

    /// Returns the URL starts in the value of a header field, without hosts with a path.
    #[must_use]
    pub fn field_starts<'t>(&'t self, text: &'t [u8]) -> UrlStarts<'t> {
        UrlStarts::new(self, text, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The starts of a text, each as `opening@offset`, if no URL is found at any start.
    fn starts(rules: Rules, text: &str) -> Vec<String> {
        let scanner = Scanner::new(rules, SchemelessPolicy::Find, &["Foo".to_owned()]);
        let mut from = 0;
        let mut seen = Vec::new();
        let mut starts = scanner.starts(text.as_bytes());
        while let Some(start) = starts.next_from(from) {
            seen.push(format!("{:?}@{}", start.opening, start.at));
            from = start.resume;
        }
        seen
    }

    #[test]
    fn a_scheme_opens_a_bare_url() {
        assert_eq!(
            starts(Rules::Rfc1738, "see http://a/ or xhttp://b/"),
            ["Bare@4"]
        );
        assert_eq!(
            starts(Rules::Wide, "see http://a/ or xhttp://b/"),
            ["Bare@4", "Bare@18"]
        );
        assert_eq!(
            starts(
                Rules::Wide,
                "tohttp://a b.exampleftp://c sftp://d git+https://e hnews://f tomailto:g"
            ),
            [
                "Bare@2", "Bare@20", "Bare@28", "Bare@37", "Bare@51", "Bare@63"
            ]
        );
        assert_eq!(
            starts(Rules::Wide, "see:http://a -https://b x.ftp://c"),
            ["Bare@4", "Bare@14", "Bare@26"]
        );
        assert_eq!(
            starts(
                Rules::Wide,
                "foo:bar FOO:bar 10:30 Foo::Bar re: x C:\\x a:b C://x mailto:mailto:a@b.example"
            ),
            ["Bare@0", "Bare@8", "Bare@22", "Bare@59"]
        );
    }

    #[test]
    fn a_scheme_may_have_blanks_before_a_site() {
        for (text, start) in [
            ("h t t p s : / / a.example/", "Schemeless(\"https\")@0"),
            ("x http [ : ] // b.example", "Schemeless(\"http\")@2"),
            ("FTP : //c.example/", "Schemeless(\"ftp\")@0"),
        ] {
            assert_eq!(starts(Rules::Wide, text), [start]);
            assert!(starts(Rules::Rfc1738, text).is_empty());
        }
        let others = "h t t p : / / d;ah t t p : / / a.example;http : a.example;http : / a.example";
        assert!(
            others
                .split(';')
                .all(|text| starts(Rules::Wide, text).is_empty())
        );
    }

    #[test]
    fn wrappers_open_in_any_case() {
        assert_eq!(
            starts(Rules::Rfc1738, "<URL:x> <url:x> URL:y <http://z> <x:y>"),
            [
                "UrlBracket@0",
                "UrlPrefix@1",
                "UrlBracket@8",
                "UrlPrefix@9",
                "UrlPrefix@16",
                "Angle@22",
                "Bare@23"
            ]
        );
    }

    #[test]
    fn every_known_name_opens_in_a_wrapper() {
        let extra = ["q".to_owned(), "Foo9".to_owned()];
        let wide = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &extra);
        let strict = Scanner::new(Rules::Rfc1738, SchemelessPolicy::Find, &[]);
        for name in SCHEMES
            .iter()
            .map(|row| row.name)
            .chain(["url", "q", "foo9"])
        {
            for name in [name.to_owned(), name.to_ascii_uppercase()] {
                let opens = |scanner: &Scanner, text: &str| {
                    scanner.starts(text.as_bytes()).next_from(0).is_some()
                };
                assert!(opens(&wide, &format!("{name}://x")), "{name}");
                let bare = wide.bare_requirement(name.as_bytes());
                let without = name.eq_ignore_ascii_case("url")
                    || !matches!(
                        bare,
                        BareRequirement::Host | BareRequirement::Slashes | BareRequirement::Never
                    );
                for text in [
                    format!("{name}:x"),
                    format!("see {name}:x"),
                    format!("<{name}: x"),
                ] {
                    assert_eq!(opens(&wide, &text), without, "{text}");
                }
                let is_predefined = Scheme::named(name.as_bytes())
                    .is_some_and(|row| row.class == crate::grammar::SchemeClass::Predefined);
                assert_eq!(
                    opens(&strict, &format!("<{name}: x")),
                    is_predefined || name.eq_ignore_ascii_case("url"),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn only_the_wide_rules_guess_schemes() {
        let text = "www.a.org joe@www.b.org ftp.c.org";
        assert_eq!(starts(Rules::Rfc1738, text), [""; 0]);
        assert_eq!(
            starts(Rules::Wide, text),
            ["Schemeless(\"http\")@0", "Schemeless(\"ftp\")@24"]
        );
    }

    /// Checks that a host without a scheme is found at the `|` in the text, or nowhere if there is
    /// no `|`.
    #[track_caller]
    fn check_host(marked: &str) {
        let text = marked.replace('|', "");
        let expected: Vec<_> = marked.find('|').into_iter().collect();
        let found: Vec<_> = starts(Rules::Wide, &text)
            .iter()
            .map(|start| start.split_once('@').unwrap().1.parse::<usize>().unwrap())
            .collect();
        assert_eq!(found, expected, "{marked}");
    }

    #[test]
    fn hosts_without_a_scheme_start_after_dashes_dots_and_signs() {
        for marked in [
            "--|www.a.example",
            // A dot in brackets shows that the host was defanged.
            "see |evil[.]a[.]com/x",
            "at |192[.]168.0[.]1",
            "news--|www.a.example",
            "- -|ftp.a.example",
            "so...|www.a.example",
            " .|www.a.example",
            "+|www.a.example",
            "pub/x @|ftp.a.example",
            "|www2.a.example",
            "(|FTP15.a.example)",
            "see\u{a0}|www.a.example",
            "\u{ff1a}|www.a.example",
            "\u{3002}|www.a.example",
            "\u{8bf7}|www.a.example",
            "\u{3066}|www.a.example",
            "\u{c740}|www.a.example",
            "_|www.a.example_",
            "//|www.a.example",
            "see //|www.a.example/x",
            "\"//|www.a.example",
        ] {
            check_host(marked);
        }
    }

    #[test]
    fn words_paths_and_mailboxes_have_no_host_without_a_scheme() {
        for text in [
            "my-www.a.example",
            "comp.www.a.example",
            "xn--www.a.example",
            "*.www.a.example",
            "a/.www.a.example",
            "/www.a.example",
            "///www.a.example",
            "a//www.a.example",
            ":a//www.a.example",
            "a+www.a.example",
            "joe@www.a.example",
            "www2001.a.example",
            "awww2.a.example",
            "lamp_www.7.txt",
            "joe[at]www.b.example",
            "a[.]www.b.example",
            "joe@a[.]com",
            "a[.] b.com",
            "x/a[.]com",
            "\u{e9}www.a.example",
        ] {
            check_host(text);
        }
    }

    #[test]
    fn the_url_prefix_is_found_after_a_skipped_bracket() {
        let scanner = Scanner::new(Rules::Rfc1738, SchemelessPolicy::Find, &[]);
        let text = b"<URL:http://a";
        let mut starts = scanner.starts(text);
        assert_eq!(
            starts.next_from(0).map(|s| s.opening),
            Some(Opening::UrlBracket)
        );
        assert_eq!(
            starts.next_from(1),
            Some(UrlStart {
                at: 1,
                content: 5,
                opening: Opening::UrlPrefix,
                resume: 5
            })
        );
    }
}
