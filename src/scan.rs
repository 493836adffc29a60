//! Finds the places in a text where a URL may start. A cheap trigger, then a careful look back.
//!
//! What follows a start, and whether it is a URL at all, is left to `repair` and `parse`.

mod host;
mod trigger;

pub(crate) use host::{cut, likely_host, plausible_host, site_parts};
pub use trigger::UrlStarts;

use crate::grammar::{BareRequirement, SCHEMES, Scheme};

/// By which rules URLs are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// What people really wrote (the default).
    #[default]
    Wide,
    /// RFC 1738 and its appendix, to the letter.
    Rfc1738,
}

/// How a URL is set off from the text around it.
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
    /// No scheme: `www.` or `ftp.`, and the scheme that is guessed for it.
    Schemeless(&'static str),
}

/// A place where a URL may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlStart {
    /// The first byte of the wrapper, or of the URL where there is none.
    pub at: usize,
    /// The first byte behind the wrapper's opening; where the URL begins, but for white space.
    pub content: usize,
    /// How it is set off.
    pub opening: Opening,
    /// Where the search goes on if this start leads nowhere.
    pub resume: usize,
}

/// What to look for. Made once for a run and shared.
#[derive(Debug)]
pub struct Scanner {
    rules: Rules,
    /// Whether `www.` and `ftp.` are found: by the wide rules, unless that was switched off.
    schemeless: bool,
    /// Schemes that the user added, in lower case, and what makes them plausible.
    extra: Vec<(Vec<u8>, BareRequirement)>,
    endings: Endings,
}

/// By which two letters the names end that a colon makes a start, whatever follows it. Nearly all colons stand behind
/// others.
#[derive(Debug, Default)]
struct Endings {
    /// For five bits of the last letter, which five bits the letter before it can have.
    before: [u32; 32],
}

impl Endings {
    fn add(&mut self, name: &[u8]) {
        match name {
            [.., before, last] => self.before[five_bits(*last)] |= 1 << five_bits(*before),
            [last] => self.before[five_bits(*last)] = u32::MAX,
            [] => {}
        }
    }

    /// Whether a known name may end where `text` does. What cannot stand in a name may look like what can.
    fn may_end(&self, text: &[u8]) -> bool {
        match text {
            [.., before, last] => self.before[five_bits(*last)] >> five_bits(*before) & 1 == 1,
            [last] => self.before[five_bits(*last)] == u32::MAX,
            [] => false,
        }
    }
}

/// What tells letters apart, in either case.
fn five_bits(byte: u8) -> usize {
    usize::from(byte & 0x1F)
}

/// Whether URLs without a scheme are looked for. The strict rules never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemelessPolicy {
    /// `www.x.org` and `ftp.x.org` are found (the default).
    #[default]
    Find,
    /// They are not.
    Skip,
}

impl Scanner {
    /// A scanner by `rules`; `extra` are names of further schemes that need no `//`, in any case.
    #[must_use]
    pub fn new(rules: Rules, schemeless: SchemelessPolicy, extra: &[String]) -> Scanner {
        let schemeless = rules == Rules::Wide && schemeless == SchemelessPolicy::Find;
        let mut endings = Endings::default();
        // By the wide rules these are none without slashes, not even in brackets.
        let never = |row: &&Scheme| {
            rules == Rules::Wide
                && matches!(
                    row.bare,
                    BareRequirement::Host | BareRequirement::Slashes | BareRequirement::Never
                )
        };
        let known = SCHEMES.iter().filter(|row| !never(row)).map(|row| row.name);
        known
            .chain(extra.iter().map(String::as_str))
            .chain(["url"])
            .for_each(|name| endings.add(name.as_bytes()));
        let extra = extra
            .iter()
            .map(|name| {
                (
                    name.to_ascii_lowercase().into_bytes(),
                    BareRequirement::Starts(""),
                )
            })
            .collect();
        Scanner {
            rules,
            schemeless,
            extra,
            endings,
        }
    }

    /// The rules it was made for.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// What makes a bare URL of this scheme plausible: the table's rule, the user's, or a host for all others.
    #[must_use]
    pub fn bare(&self, scheme: &[u8]) -> BareRequirement {
        if let Some((_, bare)) = self
            .extra
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(scheme))
        {
            return *bare;
        }
        Scheme::named(scheme).map_or(BareRequirement::Host, |row| row.bare)
    }

    /// Whether the scheme's name is one we know, from the table or the user.
    #[must_use]
    pub fn knows(&self, scheme: &[u8]) -> bool {
        Scheme::named(scheme).is_some()
            || self
                .extra
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(scheme))
    }

    /// The starts in `text`.
    #[must_use]
    pub fn starts<'t>(&'t self, text: &'t [u8]) -> UrlStarts<'t> {
        UrlStarts::new(self, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The starts of a text, each as `opening@offset`, with nothing taken in between.
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
            ["Bare@4", "Bare@17"]
        );
        assert_eq!(
            starts(Rules::Wide, "see:http://a -https://b x.ftp://c"),
            ["Bare@4", "Bare@14", "Bare@26"]
        );
        assert_eq!(
            starts(
                Rules::Wide,
                "foo:bar FOO:bar 10:30 Foo::Bar re: x C:\\x a:b"
            ),
            ["Bare@0", "Bare@8", "Bare@22"]
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

    /// What is told by two letters leaves out nothing that is a start by its name.
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
                let bare = wide.bare(name.as_bytes());
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

    #[test]
    fn behind_an_opening_that_was_given_up_the_prefix_is_found() {
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
