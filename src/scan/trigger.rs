//! The two triggers: a colon with a look back at the scheme, and a dot with a look back at `www` or `ftp`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input, packed};
use memchr::memchr;

use super::{Opening, Rules, Scanner, UrlStart};
use crate::grammar::{BareRequirement, Scheme, SchemeClass, SchemeRule, is_scheme_char};
use crate::limits::SCHEME_CHARS;

/// The starts of a text, found while they are asked for.
///
/// Two searches go ahead of the caller, each no further than to its next trigger, so that every byte is searched once
/// by each. A trigger costs a look back over at most [`SCHEME_CHARS`] bytes.
#[derive(Debug)]
pub struct UrlStarts<'t> {
    scanner: &'t Scanner,
    text: &'t [u8],
    /// The first colon that was not looked at, or the text's length.
    colon: usize,
    /// The first dot behind `www` or `ftp` that was not looked at, or the text's length.
    dot: usize,
}

/// Finds `www.` and `ftp.` in any case.
static HOSTS: LazyLock<Finder> = LazyLock::new(|| {
    // All ways to write them, so that many bytes can be looked at at once.
    let cases = |word: &str| -> Vec<Vec<u8>> {
        let upper = |bits: usize, at: usize, byte: u8| {
            if bits >> at & 1 == 1 {
                byte.to_ascii_uppercase()
            } else {
                byte
            }
        };
        (0..8)
            .map(|bits| {
                word.bytes()
                    .enumerate()
                    .map(|(at, byte)| upper(bits, at, byte))
                    .collect()
            })
            .collect()
    };
    let words = [cases("www."), cases("ftp.")].concat();
    match packed::Searcher::new(&words) {
        Some(searcher) => Finder::Packed(searcher),
        None => Finder::Automaton(AhoCorasick::new(&words).expect("sixteen short words")),
    }
});

/// A search for some short words.
enum Finder {
    /// Where the machine has instructions for it.
    Packed(packed::Searcher),
    /// Elsewhere.
    Automaton(AhoCorasick),
}

impl Finder {
    /// Where the first word ends that begins at `from` or behind it.
    fn end(&self, text: &[u8], from: usize) -> Option<usize> {
        match self {
            Finder::Packed(searcher) => searcher.find_in(text, (from..text.len()).into()),
            Finder::Automaton(automaton) => automaton.find(Input::new(text).range(from..)),
        }
        .map(|found| found.end())
    }
}

impl<'t> UrlStarts<'t> {
    pub(super) fn new(scanner: &'t Scanner, text: &'t [u8]) -> UrlStarts<'t> {
        let mut starts = UrlStarts {
            scanner,
            text,
            colon: 0,
            dot: 0,
        };
        starts.colon = starts.next_colon(0);
        starts.dot = starts.next_dot(0);
        starts
    }

    /// The first start whose wrapper and URL lie at `from` or behind it. `from` must not be smaller than before.
    pub fn next_from(&mut self, from: usize) -> Option<UrlStart> {
        if self.colon < from {
            self.colon = self.next_colon(from);
        }
        if self.dot < from {
            self.dot = self.next_dot(from);
        }
        while self.colon.min(self.dot) < self.text.len() {
            // A trigger that opens something stays: behind a bracket that was given up its colon is looked at again.
            if self.colon < self.dot {
                let start = look_back(self.scanner, self.text, from, self.colon);
                if start.is_some() {
                    return start;
                }
                self.colon = self.next_colon(self.colon + 1);
            } else {
                let start = schemeless(self.text, from, self.dot);
                if start.is_some() {
                    return start;
                }
                self.dot = self.next_dot(self.dot + 1);
            }
        }
        None
    }

    fn next_colon(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        memchr(b':', rest).map_or(self.text.len(), |at| from + at)
    }

    fn next_dot(&self, from: usize) -> usize {
        if !self.scanner.schemeless {
            return self.text.len();
        }
        // The dot may stand at `from`, and the word before it.
        let begin = from.saturating_sub(3).min(self.text.len());
        HOSTS
            .end(self.text, begin)
            .map_or(self.text.len(), |end| end - 1)
    }
}

/// What the colon at `colon` opens, if its opening lies at `floor` or behind it.
fn look_back(scanner: &Scanner, text: &[u8], floor: usize, colon: usize) -> Option<UrlStart> {
    let last = *text[floor..colon].last()?;
    if !is_scheme_char(last) {
        return None;
    }
    let after = &text[colon + 1..];
    if !after.starts_with(b"//") && !scanner.endings.may_end(&text[floor..colon]) {
        return None;
    }
    let next = after.first().copied().unwrap_or(b' ');
    let lowest = floor.max(colon.saturating_sub(SCHEME_CHARS));
    let run = text[lowest..colon]
        .iter()
        .rev()
        .take_while(|&&byte| is_scheme_char(byte))
        .count();
    let begin = colon - run;
    let name = &text[begin..colon];
    // Most colons stand before a blank: header fields, ends of phrases. Only a wrapper may go on so.
    let bracket = begin
        .checked_sub(1)
        .filter(|&at| at >= floor && text[at] == b'<');
    if next.is_ascii_whitespace() && bracket.is_none() {
        return None;
    }
    let whole = begin
        .checked_sub(1)
        .is_none_or(|at| !is_scheme_char(text[at]));

    if name.eq_ignore_ascii_case(b"url") && (whole || bracket.is_some()) {
        let opening = if bracket.is_some() {
            Opening::UrlBracket
        } else {
            Opening::UrlPrefix
        };
        let (at, resume) = bracket.map_or((begin, colon + 1), |bracket| (bracket, bracket + 1));
        return Some(UrlStart {
            at,
            content: colon + 1,
            opening,
            resume,
        });
    }
    let at = match scanner.rules {
        Rules::Rfc1738 => strict(name, after, bracket.is_some(), whole)?,
        Rules::Wide => wide(scanner, name, after)?,
    };
    match bracket.filter(|_| at == 0) {
        Some(bracket) => Some(UrlStart {
            at: bracket,
            content: begin,
            opening: Opening::Angle,
            resume: bracket + 1,
        }),
        None => Some(UrlStart {
            at: begin + at,
            content: begin + at,
            opening: Opening::Bare,
            resume: colon + 1,
        }),
    }
}

/// Where in `name` a scheme begins by the strict rules: always at its first byte.
///
/// In brackets the ten predefined schemes; bare the eight with `//`, `mailto:` and `news:`, not behind a
/// character that could belong to the scheme (`spec/appendix-rules.md` 12).
fn strict(name: &[u8], after: &[u8], bracket: bool, whole: bool) -> Option<usize> {
    let row = Scheme::named(name).filter(|row| row.class == SchemeClass::Predefined)?;
    let slashes = !matches!(row.rule, SchemeRule::Mailto | SchemeRule::News);
    (bracket || (whole && (!slashes || after.starts_with(b"//")))).then_some(0)
}

/// Where in `name` a scheme begins by the wide rules.
///
/// Before `//` any name will do; the longest known one at the end of `name` behind a `+`, `-`, `.` or digit
/// is preferred to an unknown longer one. Without `//` the scheme must be known and need none.
fn wide(scanner: &Scanner, name: &[u8], after: &[u8]) -> Option<usize> {
    let begins = |at: usize| {
        name[at].is_ascii_alphabetic() && (at == 0 || !name[at - 1].is_ascii_alphabetic())
    };
    let known = (0..name.len()).find(|&at| begins(at) && scanner.knows(&name[at..]));
    if after.starts_with(b"//") {
        return known.or_else(|| (0..name.len()).find(|&at| begins(at)));
    }
    known.filter(|&at| {
        !matches!(
            scanner.bare(&name[at..]),
            BareRequirement::Host | BareRequirement::Slashes | BareRequirement::Never
        )
    })
}

/// The `www.` or `ftp.` that the dot at `dot` ends, if it begins a word at `floor` or behind it and a label follows.
fn schemeless(text: &[u8], floor: usize, dot: usize) -> Option<UrlStart> {
    let at = dot.checked_sub(3).filter(|&at| at >= floor)?;
    let scheme = match [text[at] | 0x20, text[at + 1] | 0x20, text[at + 2] | 0x20] {
        [b'w', b'w', b'w'] => "http",
        [b'f', b't', b'p'] => "ftp",
        _ => return None,
    };
    let before = at.checked_sub(1).map(|before| text[before]);
    let follows = text
        .get(dot + 1)
        .is_some_and(|&next| next.is_ascii_alphanumeric() || next >= 0x80);
    (before.is_none_or(may_stand_before) && follows).then_some(UrlStart {
        at,
        content: at,
        opening: Opening::Schemeless(scheme),
        resume: dot + 1,
    })
}

/// Whether a host without a scheme can begin behind this byte: not inside a word, a path or a mailbox.
fn may_stand_before(byte: u8) -> bool {
    !(byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(
            byte,
            b'@' | b'.' | b'/' | b'-' | b'+' | b'%' | b'&' | b'?' | b'\\' | b'$'
        ))
}
