//! Markup after a URL that no character before it ends: Markdown, bold type, escapes of string literals, and Japanese.
//!
//! A bare URL runs on to white space or a quote. In these texts it ends earlier, where the language around it goes on.

use crate::limits::LINE_LOOKBACK_BYTES;

/// Returns the end of the URL at the start of `run`, a run of characters that can belong to it. `prior` is the text before
/// the URL.
///
/// Reads `run` a fixed number of times, and of `prior` at most the line, up to [`LINE_LOOKBACK_BYTES`].
pub(super) fn end_before_markup(run: &[u8], prior: &[u8]) -> usize {
    let end = if memchr::memchr3(b']', b'\\', b'*', run).is_some() {
        end_before_ascii_markup(run, prior)
    } else {
        run.len()
    };
    if run.is_ascii() {
        end
    } else {
        end_before_kana(&run[..end])
    }
}

fn end_before_ascii_markup(run: &[u8], prior: &[u8]) -> usize {
    let mut line = LineBefore::new(prior);
    let mut brackets = 0usize;
    for (at, &byte) in run.iter().enumerate() {
        let rest = &run[at + 1..];
        let ends = match byte {
            b'[' => {
                brackets += 1;
                false
            }
            // `[text](destination)` (CommonMark, section 6.3), in which the URL is the text.
            b']' if brackets == 0 => rest.first() == Some(&b'('),
            b']' => {
                brackets -= 1;
                false
            }
            b'\\' => is_literal_escape(rest) || is_line_escape(rest) && line.is_in_literal(),
            b'*' => closes_bold(rest) && line.is_bold(),
            _ => false,
        };
        if ends {
            return at;
        }
    }
    run.len()
}

/// Returns `true` if a backslash before `rest` begins an escape that no path has: several in a row or one at the end
/// (`\r\n`, `\n`), or the JSON escape of a character that ends a URL.
fn is_literal_escape(rest: &[u8]) -> bool {
    is_line_escape(rest) && matches!(rest.get(1), None | Some(b'\\'))
        || [&b"u003c"[..], b"u003e", b"u0022", b"x3c", b"x3e", b"x22"]
            .iter()
            .any(|code| {
                rest.get(..code.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(code))
            })
}

/// Returns `true` if `rest`, after a backslash, begins with the letter of a line feed, carriage return or tab.
fn is_line_escape(rest: &[u8]) -> bool {
    matches!(rest.first(), Some(b'n' | b'r' | b't'))
}

/// Returns `true` if the asterisk before `rest` can close bold type: another asterisk follows, or no word.
fn closes_bold(rest: &[u8]) -> bool {
    rest.first()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"/.-_~%?&=#".contains(byte))
}

/// The line before a URL, looked at on demand.
struct LineBefore<'t> {
    line: &'t [u8],
    is_bold: Option<bool>,
    is_in_literal: Option<bool>,
}

impl<'t> LineBefore<'t> {
    fn new(prior: &'t [u8]) -> LineBefore<'t> {
        let lowest = prior.len().saturating_sub(LINE_LOOKBACK_BYTES);
        let start =
            memchr::memrchr2(b'\n', b'\r', &prior[lowest..]).map_or(lowest, |end| lowest + end + 1);
        LineBefore {
            line: &prior[start..],
            is_bold: None,
            is_in_literal: None,
        }
    }

    /// Returns `true` if bold type was opened: the last asterisk follows no word, and a word follows it. Gmail writes bold
    /// type as `*word word*` in the text that it makes of HTML.
    fn is_bold(&mut self) -> bool {
        let line = self.line;
        *self.is_bold.get_or_insert_with(|| {
            memchr::memrchr(b'*', line).is_some_and(|at| {
                let opens = line[..at]
                    .last()
                    .is_none_or(|byte| byte.is_ascii_whitespace() || b"(\"'>[*_".contains(byte));
                opens && !line.get(at + 1).is_some_and(u8::is_ascii_whitespace)
            })
        })
    }

    /// Returns `true` if the URL is in a string literal: an odd number of quotes without backslashes precedes it.
    fn is_in_literal(&mut self) -> bool {
        let line = self.line;
        *self.is_in_literal.get_or_insert_with(|| {
            let quotes = memchr::memchr_iter(b'"', line)
                .filter(|&at| at == 0 || line[at - 1] != b'\\')
                .count();
            !quotes.is_multiple_of(2)
        })
    }
}

/// Returns the end of an ASCII URL before the first kana. Japanese has no blanks between words, so particles follow a URL
/// directly.
///
/// After a slash or another delimiter kana may begin a segment of the path, except those that begin no word.
fn end_before_kana(run: &[u8]) -> usize {
    let Some(at) = run.iter().position(|byte| !byte.is_ascii()) else {
        return run.len();
    };
    let Some(kana) = Kana::at(&run[at..]) else {
        return run.len();
    };
    let before = &run[..at];
    let authority = memchr::memmem::find(before, b"//").map_or(0, |slashes| slashes + 2);
    let path = memchr::memchr2(b'/', b'?', &before[authority..]);
    let ends = match before.last() {
        // In a host, a label goes on after the kana if a dot follows.
        Some(last) if last.is_ascii_alphanumeric() => path.is_some() || !is_host_label(&run[at..]),
        Some(_) => match path {
            None => false,
            Some(slash) if authority + slash + 1 == at => kana != Kana::Katakana,
            Some(_) => kana == Kana::Particle,
        },
        None => false,
    };
    if ends { at } else { run.len() }
}

/// Returns `true` if a dot and a further label follow in the host that `rest` is part of.
fn is_host_label(rest: &[u8]) -> bool {
    let host = rest
        .split(|byte| matches!(byte, b'/' | b'?' | b'#'))
        .next()
        .unwrap_or_default();
    host.windows(2)
        .any(|pair| pair[0] == b'.' && (pair[1].is_ascii_alphanumeric() || !pair[1].is_ascii()))
}

/// A kind of kana.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kana {
    /// Characters that begin no word: the particle `wo`, small ones, `n`, and the long vowel.
    Particle,
    Hiragana,
    Katakana,
}

impl Kana {
    /// The kind of the character at the start of `text`, if it is kana (U+3041 to U+30FF).
    fn at(text: &[u8]) -> Option<Kana> {
        let &[0xE3, second @ 0x81..=0x83, third @ 0x80..=0xBF, ..] = text else {
            return None;
        };
        let code = 0x3000 + u32::from(second - 0x80) * 64 + u32::from(third - 0x80);
        match code {
            0x3092 | 0x3093 | 0x30F2 | 0x30F3 | 0x30FC => Some(Kana::Particle),
            0x3041 | 0x3043 | 0x3045 | 0x3047 | 0x3049 | 0x3063 | 0x3083 | 0x3085 | 0x3087 => {
                Some(Kana::Particle)
            }
            0x3041..=0x309F => Some(Kana::Hiragana),
            0x30A0..=0x30FF => Some(Kana::Katakana),
            _ => None,
        }
    }
}

/// Returns the length of the invisible character at the end of `text`: a zero-width or bidirectional control, which
/// pasting leaves after a URL. Otherwise 0.
pub(super) fn invisible_tail_len(text: &[u8]) -> usize {
    match text {
        // U+200B to U+200F, U+202A to U+202E
        [.., 0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE] => 3,
        // U+2060 to U+2064, U+2066 to U+2069
        [.., 0xE2, 0x81, 0xA0..=0xA4 | 0xA6..=0xA9] => 3,
        // U+FEFF
        [.., 0xEF, 0xBB, 0xBF] => 3,
        // U+00AD and U+061C
        [.., 0xC2, 0xAD] | [.., 0xD8, 0x9C] => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the URL, which begins at `«`, ends at `»`.
    #[track_caller]
    fn check(marked: &str) {
        let (prior, rest) = marked.split_once('«').unwrap();
        let run = rest.replacen('»', "", 1);
        let end = end_before_markup(run.as_bytes(), prior.as_bytes());
        let mut shown = format!("{prior}«{run}");
        shown.insert(prior.len() + '«'.len_utf8() + end, '»');
        assert_eq!(shown, marked);
    }

    #[test]
    fn the_text_of_a_markdown_link_ends_before_its_destination() {
        check("[_«https://a.example/b_»](https://a.example/b)");
        check("[see «https://a.example/b»](x");
        check("«https://a.example/b[1](2)»");
    }

    #[test]
    fn an_escape_of_a_string_literal_ends_the_url() {
        check("\"see «http://a.example/b»\\n");
        check("«http://a.example/b»\\r\\n\\r\\nThen");
        check("{\"text\": \"«http://a.example/b»\\nmore");
        check("«http://a.example/b»\\u003e");
        check("«http://a.example/dir\\name»");
        check("\"a\" «http://a.example/dir\\name»");
    }

    #[test]
    fn an_asterisk_closes_bold_type_that_was_opened_in_the_line() {
        check("*Reading «http://a.example/b/»*");
        check("> *«http://a.example/»**next");
        check("* all of «http://a.example/b/*»");
        check("Reading «http://a.example/b/*»");
        check("*bold* and «http://a.example/b/*»");
        check("*Reading «http://a.example/*/b»*");
    }

    #[test]
    fn kana_ends_an_ascii_url() {
        check("«http://a.example/b.html»です。");
        check("«http://a.example»をご覧");
        check("«http://a.example/»をご覧");
        check("«http://a.example/b/»をご覧");
        check("«http://a.example/wiki/カタカナ»");
        check("«http://a.example/wiki/ひらがな»");
        check("«http://wwwテスト.example/»");
        check("«http://テスト.example/»");
        check("«http://a.example/日本のb»");
    }
}
