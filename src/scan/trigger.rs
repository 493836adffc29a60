//! The two triggers: a colon with a look back at the scheme, and a dot with a look back at `www` or `ftp`.

use memchr::{memchr_iter, memchr2_iter};

use super::{Opening, Rules, Scanner, Start};
use crate::grammar::{Bare, Class, Rule, Scheme, is_scheme_char};
use crate::limits::SCHEME_CHARS;

/// The first start at `from` or behind it. One search finds the colons of schemes and the dots of hosts without one.
pub(super) fn start(scanner: &Scanner, text: &[u8], from: usize) -> Option<Start> {
    if !scanner.schemeless {
        return memchr_iter(b':', &text[from..]).find_map(|at| look_back(scanner, text, from, from + at));
    }
    memchr2_iter(b':', b'.', &text[from..]).map(|at| from + at).find_map(|at| match text[at] {
        b':' => look_back(scanner, text, from, at),
        _ => schemeless(text, from, at),
    })
}

/// What the colon at `colon` opens, if its opening lies at `floor` or behind it.
fn look_back(scanner: &Scanner, text: &[u8], floor: usize, colon: usize) -> Option<Start> {
    let last = *text[floor..colon].last()?;
    if !is_scheme_char(last) {
        return None;
    }
    let after = &text[colon + 1..];
    let next = after.first().copied().unwrap_or(b' ');
    let lowest = floor.max(colon.saturating_sub(SCHEME_CHARS));
    let run = text[lowest..colon].iter().rev().take_while(|&&byte| is_scheme_char(byte)).count();
    let begin = colon - run;
    let name = &text[begin..colon];
    // Most colons stand before a blank: header fields, ends of phrases. Only a wrapper may go on so.
    let bracket = begin.checked_sub(1).filter(|&at| at >= floor && text[at] == b'<');
    if next.is_ascii_whitespace() && bracket.is_none() {
        return None;
    }
    let whole = begin.checked_sub(1).is_none_or(|at| !is_scheme_char(text[at]));

    if name.eq_ignore_ascii_case(b"url") && (whole || bracket.is_some()) {
        let opening = if bracket.is_some() { Opening::UrlBracket } else { Opening::UrlPrefix };
        let (at, retry) = bracket.map_or((begin, colon + 1), |bracket| (bracket, bracket + 1));
        return Some(Start { at, content: colon + 1, opening, retry });
    }
    let at = match scanner.rules {
        Rules::Rfc1738 => strict(name, after, bracket.is_some(), whole)?,
        Rules::Wide => wide(scanner, name, after)?,
    };
    match bracket.filter(|_| at == 0) {
        Some(bracket) => Some(Start { at: bracket, content: begin, opening: Opening::Angle, retry: bracket + 1 }),
        None => Some(Start { at: begin + at, content: begin + at, opening: Opening::Bare, retry: colon + 1 }),
    }
}

/// Where in `name` a scheme begins by the strict rules: always at its first octet.
///
/// In brackets the ten predefined schemes; bare the eight with `//`, `mailto:` and `news:`, not behind a
/// character that could belong to the scheme (`spec/appendix-rules.md` 12).
fn strict(name: &[u8], after: &[u8], bracket: bool, whole: bool) -> Option<usize> {
    let row = Scheme::named(name).filter(|row| row.class == Class::Predefined)?;
    let slashes = !matches!(row.rule, Rule::Mailto | Rule::News);
    (bracket || (whole && (!slashes || after.starts_with(b"//")))).then_some(0)
}

/// Where in `name` a scheme begins by the wide rules.
///
/// Before `//` any name will do; the longest known one at the end of `name` behind a `+`, `-`, `.` or digit
/// is preferred to an unknown longer one. Without `//` the scheme must be known and need none.
fn wide(scanner: &Scanner, name: &[u8], after: &[u8]) -> Option<usize> {
    let begins = |at: usize| name[at].is_ascii_alphabetic() && (at == 0 || !name[at - 1].is_ascii_alphabetic());
    let known = (0..name.len()).find(|&at| begins(at) && scanner.knows(&name[at..]));
    if after.starts_with(b"//") {
        return known.or_else(|| (0..name.len()).find(|&at| begins(at)));
    }
    known.filter(|&at| !matches!(scanner.bare(&name[at..]), Bare::Host | Bare::Slashes | Bare::Never))
}

/// The `www.` or `ftp.` that the dot at `dot` ends, if it begins a word at `floor` or behind it and a label follows.
fn schemeless(text: &[u8], floor: usize, dot: usize) -> Option<Start> {
    let at = dot.checked_sub(3).filter(|&at| at >= floor)?;
    let scheme = match [text[at] | 0x20, text[at + 1] | 0x20, text[at + 2] | 0x20] {
        [b'w', b'w', b'w'] => "http",
        [b'f', b't', b'p'] => "ftp",
        _ => return None,
    };
    let before = at.checked_sub(1).map(|before| text[before]);
    let follows = text.get(dot + 1).is_some_and(|&next| next.is_ascii_alphanumeric() || next >= 0x80);
    (before.is_none_or(may_stand_before) && follows).then_some(Start {
        at,
        content: at,
        opening: Opening::Schemeless(scheme),
        retry: dot + 1,
    })
}

/// Whether a host without a scheme can begin behind this octet: not inside a word, a path or a mailbox.
fn may_stand_before(byte: u8) -> bool {
    !(byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(byte, b'@' | b'.' | b'/' | b'-' | b'+' | b'%' | b'&' | b'?' | b'\\' | b'$'))
}
