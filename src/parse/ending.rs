//! The end of a bare URL: before punctuation and brackets of the sentence, before markup of the
//! text, and before a character that its host or grammar refuses.
//!
//! A bare URL runs on to white space or a quote (`repair` decides that); it ends earlier where the
//! language around it continues. Whether the text up to that end is a URL is decided in
//! `acceptance`.

use super::acceptance::mailbox_host;
use super::components::scheme;
use crate::grammar::{BareRequirement, escaped_byte};
use crate::limits::LINE_LOOKBACK_BYTES;
use crate::repair::{after_slashes, ends_with_page, url_run_end};
use crate::scan::{
    HostAndPort, Rules, Scanner, host_before_refused, is_country, is_ipv4, plausible_host,
};
use crate::span::Span;

/// The end of a word's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UrlEnd {
    /// Length in bytes of the URL.
    pub(super) url: usize,
    /// Length in bytes of the word before punctuation was trimmed off its end.
    pub(super) word: usize,
}

/// Returns the end of the URL at the start of `word`; `prior` is the text before the word.
///
/// Reads the word a fixed number of times.
pub(super) fn end(word: &[u8], prior: &[u8], rules: Rules) -> UrlEnd {
    let whole = url_run_end(word, 0, prior.last().copied(), rules, usize::MAX);
    end_in_run(&word[..whole], prior, rules)
}

/// Does the same as [`end`] for a word that ends with its run of characters, as one without joins
/// does.
pub(super) fn end_of_run(word: &[u8], prior: &[u8], rules: Rules) -> UrlEnd {
    debug_assert_eq!(
        url_run_end(word, 0, prior.last().copied(), rules, usize::MAX),
        word.len(),
        "{}",
        word.escape_ascii()
    );
    end_in_run(word, prior, rules)
}

/// Returns the end of the URL at the start of a run of characters.
fn end_in_run(run: &[u8], prior: &[u8], rules: Rules) -> UrlEnd {
    let word = match rules {
        Rules::Wide => {
            let end = end_before_markup(run, prior);
            let end = end - rule_len(&run[..end]);
            let end = end - escaped_indentation_len(&run[..end]);
            end_before_glued_word(&run[..end])
        }
        Rules::Rfc1738 => run.len(),
    };
    UrlEnd {
        url: trimmed(&run[..word], prior.last().copied(), rules),
        word,
    }
}

/// Returns the length of `word` without the sentence punctuation at its end and without closing
/// brackets that were not opened in it. RFC 1738 leaves this to the reader (appendix).
pub(super) fn trimmed(word: &[u8], before: Option<u8>, rules: Rules) -> usize {
    // Counted at the first bracket: most words end with none.
    let mut counted = None;
    let mut end = word.len();
    while let Some(&last) = word[..end].last() {
        let is_trimmed = match last {
            // A character reference ends with its semicolon.
            b';' if rules == Rules::Wide && word[..end].ends_with(b"&amp;") => false,
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' => true,
            b')' | b']' | b'}' => counted
                .get_or_insert_with(|| BracketSurplus::of(&word[..end]))
                .take(last),
            // An opening bracket begins what follows the URL.
            b'|' | b'\\' | b'(' | b'[' | b'{' => rules == Rules::Wide,
            b'*' | b'_' => {
                rules == Rules::Wide && (before == Some(last) || last == b'*' && is_pair(word, end))
            }
            0x80.. if rules == Rules::Wide => {
                let invisible = invisible_tail_len(&word[..end]);
                let closer = || closing_tail_len(&word[..end]);
                let len = if invisible > 0 { invisible } else { closer() };
                // The last byte is taken off below.
                end -= len.saturating_sub(1);
                len > 0
            }
            _ => false,
        };
        if !is_trimmed {
            break;
        }
        end -= 1;
    }
    end
}

/// Minimum number of equal signs in a row that are a rule: base64 ends with two, a dash has two or
/// three hyphens.
const RULE_SIGNS: usize = 4;

/// Returns the length of the rule of underscores, hyphens or equals signs at the end of `word`, which
/// a signature or a mailer has put under it. Otherwise 0.
fn rule_len(word: &[u8]) -> usize {
    let Some(&sign @ (b'_' | b'-' | b'=')) = word.last() else {
        return 0;
    };
    let signs = word.iter().rev().take_while(|&&byte| byte == sign).count();
    if RULE_SIGNS <= signs { signs } else { 0 }
}

/// Minimum number of equal signs in a row that are a rule inside a URL if a capitalized word follows:
/// a program that lost the line ends has glued both to it.
const INNER_RULE_SIGNS: usize = 12;

/// Minimum number of equal signs in a row that are a rule inside a URL, whatever follows. Names of
/// pages have fewer hyphens, and numbers in base64url fewer underscores.
const LONG_RULE_SIGNS: usize = 24;

/// Returns the end of the URL at the start of `run` before a word that was glued to it where a program
/// lost a line end: after the host (`http://a.com/`, `http://a.comPlease`), after the name of a page
/// (`/b.htmlVote`), or after a rule.
fn end_before_glued_word(run: &[u8]) -> usize {
    let may_be_rule =
        |one: u8, other: u8| one == other && matches!(one, b'-' | b'_' | b'=' | b'~' | b'*');
    // Most URLs have neither a capital letter after a small one nor one of these signs twice.
    let may_be_glued = any_pair(run, |one, other| {
        one.is_ascii_lowercase() && other.is_ascii_uppercase() || may_be_rule(one, other)
    });
    if !may_be_glued {
        return run.len();
    }
    let host = host_span(run);
    let is_mail = run[..host.start].ends_with(b"@");
    if let Some(len) = glued_host_len(host.of(run), is_mail) {
        return host.start + len;
    }
    let end = run.len();
    let page = memchr::memchr_iter(b'.', &run[host.end..])
        .map(|at| host.end + at)
        .filter(|&at| run[at..].starts_with(b".htm"))
        .map(|at| at + 4)
        .map(|at| at + usize::from(run[at..].starts_with(b"l")))
        .find(|&at| begins_capitalized(&run[at..]) && !begins_field(&run[at..]));
    let rule = any_pair(run, may_be_rule)
        .then(|| inner_rule(&run[host.end..]))
        .flatten()
        .map(|at| host.end + at);
    page.unwrap_or(end).min(rule.unwrap_or(end))
}

/// Returns `true` if `is_found` returns `true` for two adjacent bytes of `run`.
fn any_pair(run: &[u8], is_found: impl Fn(u8, u8) -> bool) -> bool {
    let next = run.get(1..).unwrap_or_default();
    // Without an early exit the compiler compares many pairs at once.
    run.iter()
        .zip(next)
        .fold(false, |any, (&one, &other)| any | is_found(one, other))
}

/// The range of the host in `run`, perhaps with its port: after the slashes of a scheme, after the `@` of
/// a mail address, or at the start.
fn host_span(run: &[u8]) -> Span {
    let begin = after_slashes(run)
        .or_else(|| memchr::memchr(b'@', run).map(|at| at + 1))
        .unwrap_or(0);
    let rest = &run[begin..];
    let rest = &rest[..memchr::memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len())];
    let len = memchr::memchr(b':', rest).unwrap_or(rest.len());
    Span::new(begin, begin + len)
}

/// Returns the length of `host` up to its top-level domain in small letters, if a capitalized word is
/// glued to that. Names of networks without a top-level domain are written `www.netScape` and
/// `server.myDomain`: before the top-level domain stands a name besides `www`, and before that of a
/// country two.
fn glued_host_len(host: &[u8], is_mail: bool) -> Option<usize> {
    let dot = memchr::memrchr(b'.', host)?;
    let (names, label) = (&host[..dot], &host[dot + 1..]);
    let small = label
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    let is_glued = match &label[..small] {
        b"com" | b"net" | b"org" | b"edu" | b"gov" => {
            !names.is_empty() && !names.eq_ignore_ascii_case(b"www")
        }
        // Examples have `www.host.myDomain`.
        b"my" => false,
        country => is_country(country) && (is_mail || names.contains(&b'.')),
    };
    (is_glued && begins_capitalized(&label[small..])).then_some(dot + 1 + small)
}

/// Returns `true` if `text` begins with a capital letter and a small one.
fn begins_capitalized(text: &[u8]) -> bool {
    matches!(text, [first, second, ..] if first.is_ascii_uppercase() && second.is_ascii_lowercase())
}

/// Returns `true` if `text` begins with a name and an equals sign: a field of a query, as in
/// `a.cgi?x.htmlFile=3`.
fn begins_field(text: &[u8]) -> bool {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let name = text.iter().take_while(is_name).count();
    text.get(name) == Some(&b'=')
}

/// Returns the start of the first rule in `path`.
fn inner_rule(path: &[u8]) -> Option<usize> {
    let mut at = 0;
    for signs in path.chunk_by(|one, other| one == other) {
        let end = at + signs.len();
        // In base64url, underscores are among letters of both cases.
        let is_before_word =
            INNER_RULE_SIGNS <= signs.len() && signs[0] != b'_' && begins_capitalized(&path[end..]);
        if b"-_=~*".contains(&signs[0]) && (is_before_word || LONG_RULE_SIGNS <= signs.len()) {
            return Some(at);
        }
        at = end;
    }
    None
}

/// Minimum number of escaped blanks that indent a line.
const ESCAPED_INDENTATION: usize = 2;

/// Returns the length of an escaped line end and the escaped indentation after it at the end of `word`:
/// a program has escaped the white space around the URL with it. Otherwise 0, as in a `mailto` URL:
/// they are lines of the message.
fn escaped_indentation_len(word: &[u8]) -> usize {
    const MAILTO: &[u8] = b"mailto:";
    let scheme = word.get(..MAILTO.len());
    if scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(MAILTO)) {
        return 0;
    }
    let blanks = escapes_len(word, &[b"%20", b"%09"]);
    let line_ends = escapes_len(
        &word[..word.len() - blanks],
        &[b"%0A", b"%0a", b"%0D", b"%0d", b"%20", b"%09"],
    );
    let is_indented = ESCAPED_INDENTATION * 3 <= blanks && 0 < line_ends;
    if is_indented { line_ends + blanks } else { 0 }
}

/// Returns the length in bytes of the escapes at the end of `word` that are among `escapes`.
fn escapes_len(word: &[u8], escapes: &[&[u8; 3]]) -> usize {
    let among = |chunk: &&[u8]| escapes.iter().any(|escape| *chunk == escape.as_slice());
    3 * word.rchunks_exact(3).take_while(among).count()
}

/// Returns `true` if the asterisk before `end` is one of two that close bold type.
fn is_pair(word: &[u8], end: usize) -> bool {
    word[..end].ends_with(b"**") || word.get(end) == Some(&b'*')
}

/// Surplus of closing over opening brackets, for each kind.
struct BracketSurplus {
    round: i32,
    square: i32,
    curly: i32,
}

impl BracketSurplus {
    fn of(word: &[u8]) -> BracketSurplus {
        let mut counts = BracketSurplus {
            round: 0,
            square: 0,
            curly: 0,
        };
        for &byte in word {
            match byte {
                b'(' => counts.round -= 1,
                b')' => counts.round += 1,
                b'[' => counts.square -= 1,
                b']' => counts.square += 1,
                b'{' => counts.curly -= 1,
                b'}' => counts.curly += 1,
                _ => {}
            }
        }
        counts
    }

    /// Removes a closing bracket, if there is a surplus of its kind. Returns `true` if it did.
    fn take(&mut self, closer: u8) -> bool {
        let surplus = match closer {
            b')' => &mut self.round,
            b']' => &mut self.square,
            _ => &mut self.curly,
        };
        let is_surplus = *surplus > 0;
        *surplus -= i32::from(is_surplus);
        is_surplus
    }
}

/// Returns the end of the URL at the start of `run`, a run of characters that can belong to it.
/// `prior` is the text before the URL.
///
/// Reads `run` a fixed number of times, and of `prior` at most the line, up to
/// [`LINE_LOOKBACK_BYTES`].
fn end_before_markup(run: &[u8], prior: &[u8]) -> usize {
    let end = if memchr::memchr3(b']', b'\\', b'*', run).is_some() {
        end_before_ascii_markup(run, prior)
    } else {
        run.len()
    };
    let end = end_before_italics(&run[..end], prior);
    if run.is_ascii() {
        end
    } else {
        let end = end_before_partner(&run[..end], prior);
        let end = end_before_kana(&run[..end]);
        let end = end_before_unescaped(&run[..end]);
        let end = end_before_right_to_left(&run[..end]);
        end_before_other_script(&run[..end])
    }
}

/// Returns the end of the URL before the underscore or slash at the end of `run` that closes italics
/// of several words: `_see http://a.example/b_`, `/get http://a.example/b.zip!/`. Sentence punctuation
/// may follow it. A slash is that of a folder, unless punctuation or the ending of a file precedes it.
fn end_before_italics(run: &[u8], prior: &[u8]) -> usize {
    let sentence = |byte: &&u8| b".,;:!?)'".contains(byte);
    let end = run.len() - run.iter().rev().take_while(sentence).count();
    let Some((&mark @ (b'_' | b'/'), before)) = run[..end].split_last() else {
        return run.len();
    };
    let closes = mark == b'_' || ends_sentence_or_file(before);
    if closes && LineBefore::new(prior).opens_italics(mark) {
        end - 1
    } else {
        run.len()
    }
}

/// Returns `true` if `url` has a path that ends with punctuation of a sentence or with a dot and the
/// ending of a file's name.
fn ends_sentence_or_file(url: &[u8]) -> bool {
    let authority = after_slashes(url).unwrap_or(0);
    let Some(slash) = memchr::memrchr(b'/', &url[authority..]) else {
        return false;
    };
    let name = &url[authority + slash + 1..];
    let ending = memchr::memrchr(b'.', name).map_or(&b""[..], |dot| &name[dot + 1..]);
    matches!(url.last(), Some(b'!' | b'?' | b'.' | b',' | b')'))
        || matches!(ending.len(), 2..=4)
            && ending.iter().all(u8::is_ascii_alphanumeric)
            && ending.iter().any(u8::is_ascii_alphabetic)
}

/// Returns the end of the URL before the partner of the bracket or quote that precedes it: one of
/// Unicode's that also occur in URLs.
fn end_before_partner(run: &[u8], prior: &[u8]) -> usize {
    let open = prior.len() - prior.len().min(4);
    let pair = prior[open..]
        .utf8_chunks()
        .last()
        .filter(|chunk| chunk.invalid().is_empty())
        .and_then(|chunk| chunk.valid().chars().next_back())
        .and_then(partner);
    let mut close = [0; 4];
    pair.and_then(|close_char| {
        memchr::memmem::find(run, close_char.encode_utf8(&mut close).as_bytes())
    })
    .unwrap_or(run.len())
}

/// Returns the closing bracket or quote of an opening one outside ASCII that does not end every word
/// (Unicode's general categories Ps and Pi, and the next character of Pe and Pf).
fn partner(open: char) -> Option<char> {
    let code = u32::from(open);
    let next =
        match code {
            0x0F3A | 0x0F3C | 0x169B | 0x2045 | 0x207D | 0x208D | 0x2308 | 0x230A => 1,
            0x2768..=0x2774 | 0x27E6..=0x27EE | 0xFE36..=0xFE44 if code.is_multiple_of(2) => 1,
            0x2983..=0x2997 | 0xFE35..=0xFE43 | 0x2E55..=0x2E5B if !code.is_multiple_of(2) => 1,
            0x27C5 | 0x29D8 | 0x29DA | 0x29FC | 0x2E02 | 0x2E04 | 0x2E09 | 0x2E0C | 0x2E1C
            | 0x2E20 => 1,
            0x2E22 | 0x2E24 | 0x2E26 | 0x2E28 | 0xFE17 | 0xFE47 | 0xFE59 | 0xFE5B | 0xFE5D
            | 0xFF5F => 1,
            // Full-width square brackets have the backslash between them.
            0xFF3B => 2,
            _ => return None,
        };
    char::from_u32(code + next)
}

/// Returns the length of the closing bracket or quote at the end of `word`, if it is one outside ASCII
/// whose partner is not in the word before it. Otherwise 0.
fn closing_tail_len(word: &[u8]) -> usize {
    let from = word.len() - word.len().min(4);
    let last = word[from..]
        .utf8_chunks()
        .last()
        .filter(|chunk| chunk.invalid().is_empty())
        .and_then(|chunk| chunk.valid().chars().next_back());
    let Some(last) = last else { return 0 };
    let opens = |back: u32| {
        let open = char::from_u32(u32::from(last) - back)?;
        (partner(open) == Some(last)).then_some(open)
    };
    let Some(open) = opens(1).or_else(|| opens(2)) else {
        return 0;
    };
    let is_open = memchr::memmem::find(word, open.encode_utf8(&mut [0; 4]).as_bytes()).is_some();
    if is_open { 0 } else { last.len_utf8() }
}

fn end_before_ascii_markup(run: &[u8], prior: &[u8]) -> usize {
    let mut line = LineBefore::new(prior);
    let mut brackets = 0usize;
    let is_in_tag = is_after_tag(prior);
    for (at, &byte) in run.iter().enumerate() {
        let rest = &run[at + 1..];
        let ends = match byte {
            b'[' => {
                brackets += 1;
                is_closing_tag(rest) || is_note(&run[..at], rest)
            }
            // `[text](destination)` and `[text][label]` (CommonMark, section 6.3), in which the URL
            // is the text, and `[url=destination]text[/url]` (BBCode).
            b']' if brackets == 0 => {
                is_in_tag
                    || matches!(rest.first(), Some(b'(' | b'['))
                    || line.has_open_bracket() && rest.first().is_some_and(u8::is_ascii_alphabetic)
            }
            b']' => {
                brackets -= 1;
                false
            }
            b'\\' => {
                is_literal_escape(rest)
                    || is_font_escape(rest)
                    || is_rtf_control_word(rest)
                    || is_line_escape(rest) && line.is_in_literal()
            }
            b'*' => closes_bold(rest) && line.is_bold(),
            _ => false,
        };
        if ends {
            return at;
        }
    }
    run.len()
}

/// Returns `true` if a backslash before `rest` begins an escape that no path has: several in a row
/// or one at the end (`\r\n`, `\n`), or the JSON escape of a character that ends a URL.
fn is_literal_escape(rest: &[u8]) -> bool {
    is_line_escape(rest) && matches!(rest.get(1), None | Some(b'\\'))
        || [&b"u003c"[..], b"u003e", b"u0022", b"x3c", b"x3e", b"x22"]
            .iter()
            .any(|code| {
                rest.get(..code.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(code))
            })
}

/// Returns `true` if `text` ends with a tag of `BBCode` that is open up to its `]`: `[url=`.
fn is_after_tag(text: &[u8]) -> bool {
    let Some(tag) = text.strip_suffix(b"=") else {
        return false;
    };
    let name = tag
        .iter()
        .rev()
        .take(8)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    0 < name && tag[..tag.len() - name].last() == Some(&b'[')
}

/// Returns `true` if `rest`, after a `[`, is the rest of a tag that closes (BBCode): `/url]`.
fn is_closing_tag(rest: &[u8]) -> bool {
    let Some(name) = rest.strip_prefix(b"/") else {
        return false;
    };
    let letters = name
        .iter()
        .take(8)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    0 < letters && name.get(letters) == Some(&b']')
}

/// Returns `true` if `rest`, which follows a `[` after `url`, belongs to a note on the URL: its number
/// (`http://a.example/b[1]`), or what a mailer made of a link: its picture or its destination
/// (`[Image.jpeg]`, `[http://a.example/b]`).
///
/// An index of a query (`?a[1]=`), a list of numbers (`0.[123]`) and a folder of VMS (`disk:[a.b]`)
/// are parts of a URL.
fn is_note(url: &[u8], rest: &[u8]) -> bool {
    let is_word_end = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'=');
    let authority = after_slashes(url).unwrap_or(0);
    if url.len() <= authority || !url.last().is_some_and(is_word_end) {
        return false;
    }
    let begins = |name: &[u8]| {
        rest.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    if [&b"http://"[..], b"https://", b"mailto:", b"cid:", b"www."]
        .iter()
        .any(|name| begins(name))
    {
        return true;
    }
    let Some(len) = memchr::memchr(b']', rest) else {
        return false;
    };
    // A host ends before a bracket unless it is a template (see [`end_before_refused`]).
    if memchr::memchr3(b'/', b'?', b'#', &url[authority..]).is_none() {
        return false;
    }
    let (content, after) = (&rest[..len], &rest[len + 1..]);
    let is_number = matches!(content.len(), 1..=3) && content.iter().all(u8::is_ascii_digit);
    (is_number && !is_index(url) || is_picture(content)) && ends_run(after)
}

/// Returns `true` if a number in brackets after `url` can be the index of a field of its query, whose
/// value would follow.
fn is_index(url: &[u8]) -> bool {
    memchr::memchr(b'?', url).is_some_and(|query| {
        let field = url[query..]
            .rsplit(|&byte| matches!(byte, b'?' | b'&'))
            .next()
            .unwrap_or_default();
        !field.contains(&b'=') && !field.contains(&b'#')
    })
}

/// Returns `true` for the name of a picture.
fn is_picture(name: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 8] = [
        b"jpeg", b"jpg", b"png", b"gif", b"bmp", b"svg", b"tif", b"webp",
    ];
    let ending = memchr::memrchr(b'.', name).map_or(&b""[..], |dot| &name[dot + 1..]);
    ENDINGS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(ending))
}

/// Returns `true` if only punctuation and further numbers in brackets are in `rest`.
fn ends_run(rest: &[u8]) -> bool {
    rest.iter()
        .all(|byte| byte.is_ascii_digit() || b".,;:!?)'[]*_".contains(byte))
        && !rest.first().is_some_and(u8::is_ascii_digit)
}

/// Returns `true` if `rest`, after a backslash, is a control word of RTF that a converter has left at
/// the end of the run: of a colour, size, font or language, or the end of a paragraph.
fn is_rtf_control_word(rest: &[u8]) -> bool {
    const NUMBERED: [&[u8]; 5] = [b"cf", b"fs", b"lang", b"highlight", b"f"];
    const ALONE: [&[u8]; 4] = [b"par", b"pard", b"plain", b"ulnone"];
    let letters = rest
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    let (word, after) = rest.split_at(letters);
    let digits = after
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let known = if digits == 0 { &ALONE[..] } else { &NUMBERED };
    known.contains(&word) && matches!(after.get(digits), None | Some(b'\\' | b'}'))
}

/// Returns `true` if `rest`, after a backslash, changes the font in roff (`\fR`): nothing of a URL.
fn is_font_escape(rest: &[u8]) -> bool {
    matches!(rest, [b'f', b'B' | b'I' | b'R' | b'P', next @ ..] if !next.first().is_some_and(u8::is_ascii_lowercase))
        || rest.starts_with(b"f[")
        || rest.starts_with(b"m[")
}

/// Returns `true` if `rest`, after a backslash, begins with the letter of a line feed, carriage
/// return or tab.
fn is_line_escape(rest: &[u8]) -> bool {
    matches!(rest.first(), Some(b'n' | b'r' | b't'))
}

/// Returns `true` if the asterisk before `rest` can close bold type: another asterisk follows, or
/// no word, or only punctuation of the sentence.
fn closes_bold(rest: &[u8]) -> bool {
    rest.iter().all(|byte| b".,;:!?)'".contains(byte))
        || rest
            .first()
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"/.-_~%?&=#".contains(byte))
}

/// Number of lines before that of a URL in which bold type or italics may begin.
const TYPE_LINES: usize = 2;

/// The line before a URL, looked at on demand.
struct LineBefore<'t> {
    line: &'t [u8],
    /// The line and up to [`TYPE_LINES`] lines of its paragraph before it.
    lines: &'t [u8],
    is_bold: Option<bool>,
    is_in_literal: Option<bool>,
}

/// Returns the start of the first line in `prior` that belongs to the paragraph of the line at `line`
/// and is at most [`TYPE_LINES`] lines before it, and at `lowest` or later.
fn paragraph_start(prior: &[u8], lowest: usize, line: usize) -> usize {
    let mut start = line;
    for _ in 0..TYPE_LINES {
        let ([above @ .., b'\r', b'\n'] | [above @ .., b'\n' | b'\r']) = &prior[lowest..start]
        else {
            break;
        };
        let from = memchr::memrchr2(b'\n', b'\r', above).map_or(0, |at| at + 1);
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'|');
        if above[from..].iter().all(is_blank) {
            break;
        }
        start = lowest + from;
    }
    start
}

/// Returns `true` if bold type was opened: the last asterisk follows no word, and a word follows it.
fn opens_bold(text: &[u8]) -> bool {
    memchr::memrchr(b'*', text).is_some_and(|at| {
        let opens = text[..at]
            .last()
            .is_none_or(|byte| byte.is_ascii_whitespace() || b"(\"'>[*_".contains(byte));
        opens && !text.get(at + 1).is_some_and(u8::is_ascii_whitespace)
    })
}

impl<'t> LineBefore<'t> {
    fn new(prior: &'t [u8]) -> LineBefore<'t> {
        let lowest = prior.len().saturating_sub(LINE_LOOKBACK_BYTES);
        let start =
            memchr::memrchr2(b'\n', b'\r', &prior[lowest..]).map_or(lowest, |end| lowest + end + 1);
        LineBefore {
            line: &prior[start..],
            lines: &prior[paragraph_start(prior, lowest, start)..],
            is_bold: None,
            is_in_literal: None,
        }
    }

    /// Returns `true` if the last square bracket in the line is an opening one.
    fn has_open_bracket(&self) -> bool {
        memchr::memrchr2(b'[', b']', self.line).is_some_and(|at| self.line[at] == b'[')
    }

    /// Returns `true` if bold type was opened. Gmail writes it as `*word word*` in the text that it
    /// makes of HTML, and breaks the lines of that.
    fn is_bold(&mut self) -> bool {
        let lines = self.lines;
        *self.is_bold.get_or_insert_with(|| opens_bold(lines))
    }

    /// Returns `true` if italics were opened by `mark`: its last occurrence follows no word, and a word
    /// follows it that is no path. Both an underscore and a slash stand in names, too.
    fn opens_italics(&self, mark: u8) -> bool {
        let mut words = self.lines.split(u8::is_ascii_whitespace).rev();
        // What stands directly before the URL, as in `_http://a.example/b_`, is compared when the end
        // is trimmed.
        let adjacent = words.next().unwrap_or_default();
        if adjacent.last() == Some(&mark) {
            return false;
        }
        words
            .map(<[u8]>::trim_ascii_start)
            .find(|word| word.contains(&mark))
            .is_some_and(|word| {
                let word = match word.first() {
                    Some(b'(' | b'"' | b'\'' | b'*' | b'>') => &word[1..],
                    _ => word,
                };
                matches!(word, [first, second, rest @ ..]
                    if *first == mark && second.is_ascii_alphabetic() && !rest.contains(&mark))
            })
    }

    /// Returns `true` if the URL is in a string literal: an odd number of quotes without
    /// backslashes precedes it.
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

/// Returns the end of an ASCII URL before the first kana. Japanese has no blanks between words, so
/// particles follow a URL directly.
///
/// After a slash or another delimiter kana may begin a segment of the path, except those that begin
/// no word.
fn end_before_kana(run: &[u8]) -> usize {
    let Some(at) = run.iter().position(|byte| !byte.is_ascii()) else {
        return run.len();
    };
    let Some(kana) = Kana::at(&run[at..]) else {
        return run.len();
    };
    let before = &run[..at];
    let authority = after_slashes(before).unwrap_or(0);
    let path = memchr::memchr2(b'/', b'?', &before[authority..]);
    let ends = match before.last() {
        // In a host, a label continues after the kana if a dot follows.
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

/// Returns `true` if a dot and a further label follow in the host that `rest` is part of. After a
/// `www.` they belong to another host.
fn is_host_label(rest: &[u8]) -> bool {
    let host = rest
        .split(|byte| matches!(byte, b'/' | b'?' | b'#'))
        .next()
        .unwrap_or_default();
    if memchr::memmem::find(host, b"www.").is_some() {
        return false;
    }
    host.windows(2)
        .any(|pair| pair[0] == b'.' && (pair[1].is_ascii_alphanumeric() || !pair[1].is_ascii()))
}

/// Returns the end of a URL before a letter of another script that directly follows an ASCII letter or
/// digit, if an escape of a byte outside ASCII stands before it: the program that wrote the URL escapes
/// such letters, so this one belongs to the text after it. Directly after such an escape the letter may
/// be one whose escape was undone.
fn end_before_unescaped(run: &[u8]) -> usize {
    let Some(at) = run.iter().position(|byte| !byte.is_ascii()) else {
        return run.len();
    };
    let (before, rest) = run.split_at(at);
    let is_escape = |percent| escaped_byte(&before[percent..]).is_some_and(|byte| !byte.is_ascii());
    let is_other = rest
        .utf8_chunks()
        .next()
        .and_then(|chunk| chunk.valid().chars().next())
        .is_some_and(is_of_other_script);
    let is_word = before.last().is_some_and(u8::is_ascii_alphanumeric)
        && !before.len().checked_sub(3).is_some_and(is_escape);
    if is_other && is_word && memchr::memchr_iter(b'%', before).any(is_escape) {
        at
    } else {
        run.len()
    }
}

/// Returns the end of an ASCII URL before the Arabic or Hebrew letter that follows a letter or digit of
/// its path directly: text that was pasted after the URL without a blank.
///
/// In a path the words of such names follow a slash or hyphen. An escape begins such a name, too, and
/// the value of a query may have letters of several scripts.
fn end_before_right_to_left(run: &[u8]) -> usize {
    let Some(at) = run.iter().position(|byte| !byte.is_ascii()) else {
        return run.len();
    };
    let before = &run[..at];
    // U+0590 to U+06FF
    let is_right_to_left = matches!(run[at..], [0xD6, 0x90..=0xBF, ..] | [0xD7..=0xDB, ..]);
    let is_word = before.last().is_some_and(u8::is_ascii_alphanumeric);
    let has_escape = memchr::memchr3(b'%', b'?', b'#', before).is_some();
    let authority = after_slashes(before).unwrap_or(0);
    let has_path = memchr::memchr(b'/', &before[authority..]).is_some();
    if is_right_to_left && is_word && !has_escape && has_path {
        at
    } else {
        run.len()
    }
}

/// Returns the end of an ASCII URL before a letter or digit of another script, where no URL goes on in
/// it: after a top-level domain, which has one script, or an IPv4 address, after the extension of a
/// page, and before a particle of Korean, which has no blank before it. A number in a circle or above
/// the line there is that of a note. A dash ends a domain or page in the same way.
fn end_before_other_script(run: &[u8]) -> usize {
    let Some(at) = run.iter().position(|byte| !byte.is_ascii()) else {
        return run.len();
    };
    let (before, rest) = run.split_at(at);
    let Some(first) = rest
        .utf8_chunks()
        .next()
        .and_then(|chunk| chunk.valid().chars().next())
        .filter(|&first| is_of_other_script(first) || is_dash(first))
    else {
        return run.len();
    };
    let authority = after_slashes(before).unwrap_or(0);
    let site = &before[authority..];
    let ends = match memchr::memchr3(b'/', b'?', b'#', site) {
        None => {
            let is_site = ends_with_top_level(site) || is_ipv4(site);
            is_site && (is_dash(first) || !is_host_label(rest))
        }
        Some(path) => {
            let has_query = memchr::memchr3(b'?', b'#', b'%', &site[path..]).is_some();
            let is_name = !has_query && memchr::memchr3(b'/', b'?', b'=', rest).is_none();
            let is_particle = || may_precede_particle(before) && is_particle(first, rest);
            is_name && (ends_with_page(before) || is_particle())
        }
    };
    if ends { at } else { run.len() }
}

/// Returns `true` for letters and numbers that are neither Latin nor ASCII.
fn is_of_other_script(first: char) -> bool {
    let is_latin = matches!(
        u32::from(first),
        0xAA | 0xBA | 0xC0..=0x2FF | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF
            | 0xFB00..=0xFB06
    );
    first.is_alphanumeric() && !is_latin
}

/// Returns `true` for the dashes of sentences, which no host has: U+2012 to U+2015.
fn is_dash(first: char) -> bool {
    matches!(first, '\u{2012}'..='\u{2015}')
}

/// Returns `true` if a particle may follow the URL `before`. After a hyphen or an underscore, and in the
/// place of a title (`/wiki/`), it is a word of the path.
fn may_precede_particle(before: &[u8]) -> bool {
    let is_end = |last: &u8| last.is_ascii_alphanumeric() || matches!(last, b'/' | b')');
    before.last().is_some_and(is_end) && !before.ends_with(b"/wiki/")
}

/// Returns `true` if `site` ends with a dot and a top-level domain of letters.
fn ends_with_top_level(site: &[u8]) -> bool {
    let letters = site
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let before = &site[..site.len() - letters];
    2 <= letters && matches!(before, [.., last, b'.'] if last.is_ascii_alphanumeric())
}

/// Particles of Korean that follow nouns and names.
const PARTICLES: [&str; 18] = [
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "와",
    "과",
    "로",
    "도",
    "만",
    "으로",
    "에서",
    "에는",
    "에도",
    "입니다",
];

/// Returns `true` if `rest`, which begins with `first`, is a particle of Korean and punctuation.
fn is_particle(first: char, rest: &[u8]) -> bool {
    let punctuation = rest
        .iter()
        .rev()
        .take_while(|byte| b".,;:!?)'".contains(byte))
        .count();
    let word = &rest[..rest.len() - punctuation];
    ('가'..='힣').contains(&first) && PARTICLES.iter().any(|known| known.as_bytes() == word)
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

/// Returns the length of the invisible character at the end of `text`: a zero-width or
/// bidirectional control, which pasting leaves after a URL. Otherwise 0.
fn invisible_tail_len(text: &[u8]) -> usize {
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

/// Returns the end of the URL at the start of `word` before the first character that cannot belong
/// to it. `None` if there is no such character after something that can be a URL.
///
/// A person who writes `https://www.kde.org[1]` or `http://foo.com's` means the URL before that
/// character. `word` is a URL with its scheme, in running text. Linear in its length.
pub(super) fn end_before_refused(word: &[u8], scanner: &Scanner) -> Option<usize> {
    let scheme = scheme(word);
    let begin = scheme.len() + 1;
    let requirement = scanner.bare_requirement(scheme);
    let rest = word.get(begin..)?;
    let authority = rest
        .strip_prefix(b"//")
        .map(|after| authority(after, begin + 2));
    let path = authority.map_or(begin, |authority| authority.end);
    let end = if is_special(scheme) {
        word.len()
    } else {
        first_refused(word, path)
    };
    let host_end = match (authority, requirement) {
        (Some(_), BareRequirement::Slashes) => SiteEnd::Plausible,
        (Some(authority), _) => end_of_site(word, authority)?,
        (None, BareRequirement::Mailbox(_)) => {
            let host = mailbox_host(&rest[..end - begin])?;
            end_of_site(word, Span::new(begin + host.start, begin + host.end))?
        }
        (None, BareRequirement::News) if rest.contains(&b'@') => {
            let at = memchr::memchr(b'@', rest).unwrap_or(0);
            match end_of_site(word, Span::new(begin + at + 1, word.len()))? {
                SiteEnd::Plausible => return None,
                before @ SiteEnd::Before(_) => before,
            }
        }
        (None, BareRequirement::News) => {
            end_of_group(word, begin).map_or(SiteEnd::Plausible, SiteEnd::Before)
        }
        // Nothing but its characters shows that such a word is a URL.
        (None, _) => return None,
    };
    let end = match host_end {
        SiteEnd::Plausible => end,
        SiteEnd::Before(at) => at,
    };
    (end < word.len()).then_some(end)
}

/// The range of the authority at the start of `after`, which is at `from` in the word.
fn authority(after: &[u8], from: usize) -> Span {
    let len = after
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'))
        .unwrap_or(after.len());
    Span::new(from, from + len)
}

/// Returns `true` for the schemes whose paths may hold any character, because browsers accept them
/// (WHATWG URL, section 3.1).
fn is_special(scheme: &[u8]) -> bool {
    [&b"http"[..], b"https", b"ftp", b"ws", b"wss"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(scheme))
}

/// The end of a host and port, or of a newsgroup.
enum SiteEnd {
    /// They are plausible as a whole.
    Plausible,
    /// The offset of a refused character after a plausible start.
    Before(usize),
}

/// Returns the end of the host and port at `span`. `None` if there is no plausible host.
fn end_of_site(word: &[u8], span: Span) -> Option<SiteEnd> {
    let authority = span.of(word);
    let start = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let site = &authority[start..];
    let HostAndPort { host, port } = HostAndPort::of(site);
    let is_port = port.is_none_or(|port| port.iter().all(u8::is_ascii_digit));
    if plausible_host(host) && is_port {
        return Some(SiteEnd::Plausible);
    }
    host_before_refused(site).map(|len| SiteEnd::Before(span.start + start + len))
}

/// Returns the end of the newsgroup at `begin`, if a character follows that no newsgroup has. A
/// wildcard after a dot stands for a part of the name.
fn end_of_group(word: &[u8], begin: usize) -> Option<usize> {
    let is_group_byte =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'.' | b'-' | b'+' | b'_');
    let end = begin + word[begin..].iter().take_while(is_group_byte).count();
    let is_name = word[..end].last().is_some_and(u8::is_ascii_alphanumeric);
    (is_name && !word[begin..].contains(&b'@')).then_some(end)
}

/// Returns the offset of the first character at `from` or later that RFC 3986 allows in no path,
/// query or fragment.
fn first_refused(word: &[u8], from: usize) -> usize {
    let mut has_fragment = false;
    let refused = |&at: &usize| match word[at] {
        b'%' => escaped_byte(&word[at..]).is_none(),
        b'#' => std::mem::replace(&mut has_fragment, true),
        byte => !(byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte)),
    };
    (from..word.len()).find(refused).unwrap_or(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{Rules, SchemelessPolicy};

    /// Checks that the URL ends at `‖`; the first character is the one before the URL.
    #[track_caller]
    fn check(marked: &str) {
        let (before, marked) = marked.split_at(1);
        let word = marked.replacen('‖', "", 1);
        let end = end(word.as_bytes(), before.as_bytes(), Rules::Wide);
        let mut shown = word.clone();
        shown.insert(end.url, '‖');
        assert_eq!(shown, marked);
    }

    #[test]
    fn sentence_punctuation_does_not_belong_to_the_url() {
        check(" http://a.example/b‖.");
        check(" http://a.example/b‖?!");
        check(" http://a.example/b‖'");
    }

    #[test]
    fn other_characters_may_end_a_url() {
        for last in ["-", "_", "/", "=", "&", "+", "#", "~", "*"] {
            check(&format!(" http://a.example/b{last}‖"));
        }
    }

    #[test]
    fn closing_brackets_belong_to_their_opening_ones() {
        check(" http://a.example/b_(c)‖");
        check("(http://a.example/b_(c)‖).");
        check("(http://a.example/b‖),(see");
        check("[http://a.example/b‖](http://b.example)");
        check(" http://a.example/b‖)");
        check("'http://a.example/b‖'s");
        check(" http://a.example/b‖(");
        check("(http://a.example/b_(c)‖[).");
    }

    #[test]
    fn emphasis_is_trimmed_in_pairs() {
        check("*http://a.example/b‖*");
        check("_http://a.example/b‖_");
        check(" http://a.example/b_‖");
        check(" http://a.example/b‖**");
    }

    #[test]
    fn invisible_characters_at_the_end_are_trimmed() {
        check(" http://a.example/b‖\u{200b}");
        check(" http://a.example/b‖\u{202c}\u{200e}.");
        check(" http://a.example/b‖.\u{feff}");
        check(" http://a.example/b\u{200b}c‖");
    }

    #[test]
    fn a_word_that_was_glued_to_the_url_is_left_out() {
        check(" http://a.com‖Please");
        check(" mailto:joe@a.com.sg‖Surfer's");
        check(" www.a.net‖Your/b");
        check(" http://a.example/b.html‖Vote");
        check(" http://a.example/b.htm‖Vote");
        check(&format!(" http://a.example/?c=2‖{}Visit", "-".repeat(12)));
        check(&format!(" http://a.example/?c=2‖{}more", "_".repeat(24)));
        check(" http://www.a.de‖Bitte");
        check(" http://a.example/b.htmlx‖");
        check(" http://a.example/b.htmlVOTE‖");
        check(" http://a.example/b.cgi?x.htmlFile=3‖");
        check(" http://a.example/MyPage.comPlease‖");
        check(" http://a.Company‖");
        check(" http://www.ACompany.com‖");
        check(" http://a.example/b----c‖");
        check(&format!(" http://a.example/b{}c.html‖", "-".repeat(12)));
        check(&format!(
            " http://a.example/?b=ARo{0}AQ{0}8B&c=1‖",
            "_".repeat(12)
        ));
        check(" http://www.netScape/b‖");
        check(" http://server.myDomain/b‖");
        check(" http://www.server.myDomain/b‖");
        check(" http://Server.inHouse:8080/b‖");
    }

    #[test]
    fn a_control_word_of_rtf_ends_the_url() {
        check_markup(" «http://a.example/b»\\cf0");
        check_markup(" «http://a.example/b»\\par}");
        check_markup(" «http://a.example/b»\\cf0\\fs20");
        check_markup(" «http://a.example/b\\partners»");
    }

    #[test]
    fn an_escaped_line_end_and_indentation_are_trimmed() {
        check(" http://a.example/b‖%0A%20%20%20");
        check(" http://a.example/b‖%20%0D%0A%09%09>");
        check(" http://a.example/b%20%20‖");
        check(" mailto:joe@a.example?body=b%0D%0A%0D%0A‖");
        check(" mailto:joe@a.example?body=Dear%20Joe,%0D%0A%20%20‖");
        check(" http://a.example/?q=b%0A%20‖");
    }

    #[test]
    fn letters_that_are_not_escaped_follow_an_escaped_url() {
        check(" http://a.example/%D9%86%D8%AA/x‖منشور");
        check(" http://a.example/%d9%86?ref=internal‖منشور");
        check(" http://a.example/%E4%B8%AD/12‖是一个");
        check(" http://a.example/%E4%B8%AD是一个‖");
        check(" http://a.example/%D9%86/منشور‖");
        check(" http://a.example/%D9%86-منشور‖");
        check(" http://a.example/a%20b?q=cمنشور‖");
        check(" http://a.example/%C3%A9té‖");
    }

    #[test]
    fn markup_around_the_url_is_trimmed() {
        check("*https://a.example/b‖**](https://a.example/b)");
        check("\"http://a.example/b‖.\\n");
    }

    #[test]
    fn an_item_of_a_list_ends_where_the_next_url_begins() {
        check(" http://a.example/‖,http://b.example/");
        check(" http://web.example/2001/http://b.example/‖");
        check(" http://a.example/?u=http://b.example‖");
        check(" http://a.example/‖&gt;");
        check(" http://a.example/?b=c&amp;‖");
        check(" http://a.example/?b=c&amp‖");
        check(" http://a.example/b.html‖/http://b.example/");
        check(" http://a.example/b/‖http://a.example/b/c");
        check(" http://a.example/lamps-and-oil/‖https://b.example/");
        check(" http://a.example/b.cgi/http://b.example/‖");
        check(" http://a.example/nph-proxy/http://b.example/‖");
        check(" http://a.example/b/http://b.example/c.html‖");
        check(" http://a.example/http://b.example/‖");
        check(" http://a.example/http://a.examples/‖");
        check(" http://a.example/b.html/ftp://b.example/‖");
        check(" http://a.example/?u=http://b.example/c.html/http://d.example/‖");
        check(" http://a.example/b‖请看http://b.example/c");
        check(" http://a.example/b‖\u{2014}ftp://b.example/c");
        check(" http://a.example/请看‖http://b.example/c");
        check(" http://a.example/?u=请看http://b.example/c‖");
        check(" http://a.example/b请看wais://b.example/c‖");
    }

    /// Checks that the URL, which begins at `«`, ends at `»`.
    #[track_caller]
    fn check_markup(marked: &str) {
        let (prior, rest) = marked.split_once('«').unwrap();
        let run = rest.replacen('»', "", 1);
        let end = end_before_markup(run.as_bytes(), prior.as_bytes());
        let mut shown = format!("{prior}«{run}");
        shown.insert(prior.len() + '«'.len_utf8() + end, '»');
        assert_eq!(shown, marked);
    }

    #[test]
    fn the_text_of_a_markdown_link_ends_before_its_destination() {
        check_markup("[_«https://a.example/b_»](https://a.example/b)");
        check_markup("[see «https://a.example/b»](x");
        check_markup("[IMG: «http://a.example/b-s.jpg»][2]");
        check_markup("[IMG: «http://a.example/b-s.jpg»]Joe is");
        check_markup("[1] «http://a.example/b]c»");
        check_markup("«https://a.example/b[1](2)»");
    }

    #[test]
    fn an_escape_of_a_string_literal_ends_the_url() {
        check_markup("\"see «http://a.example/b»\\n");
        check_markup("«http://a.example/b»\\r\\n\\r\\nThen");
        check_markup("{\"text\": \"«http://a.example/b»\\nmore");
        check_markup("«http://a.example/b»\\u003e");
        check_markup("«http://a.example/dir\\name»");
        check_markup("\"a\" «http://a.example/dir\\name»");
    }

    #[test]
    fn an_asterisk_closes_bold_type_that_was_opened_in_the_line() {
        check_markup("*Reading «http://a.example/b/»*");
        check_markup("> *«http://a.example/»**next");
        check_markup("* all of «http://a.example/b/*»");
        check_markup("Reading «http://a.example/b/*»");
        check_markup("*bold* and «http://a.example/b/*»");
        check_markup("*Reading «http://a.example/*/b»*");
    }

    #[test]
    fn arabic_after_a_word_of_the_path_ends_the_url() {
        check_markup("«http://a.example/Xy12»\u{627}\u{644}/b");
        check_markup("«http://a.example/2017/x.html»\u{645}\u{646}");
        for whole in [
            "http://a.example/\u{645}\u{646}/x",
            "http://a.example/2017-\u{645}\u{646}",
            "http://a.example/x_\u{645}\u{646}",
            "http://a.example/%D9%86\u{645}\u{646}",
            "http://a.example/?q=x\u{645}\u{646}",
            "http://a.example/x#y\u{645}\u{646}",
            "http://a.example/x\u{43c}\u{438}",
            "http://ab\u{645}\u{646}.example/",
        ] {
            check_markup(&format!("«{whole}»"));
        }
    }

    #[test]
    fn hebrew_after_a_word_of_the_path_ends_the_url() {
        check_markup("«http://a.example/x12»\u{5e9}\u{5dc}");
        check_markup("«http://a.example/\u{5e9}\u{5dc}»");
        check_markup("«http://a.example/x-\u{5e9}\u{5dc}»");
    }

    #[test]
    fn another_script_after_a_domain_or_page_ends_the_url() {
        for glued in ["请看", "ниже", "에서", "ที่นี่", "१२", "①", "¹", "٣"]
        {
            check_markup(&format!("«http://www.a.example»{glued}"));
            check_markup(&format!("«http://www.a.example/b/c.html»{glued}"));
            check_markup(&format!("«http://www.a.example/b.PDF»{glued}."));
            for whole in [
                "",
                "b/",
                "b-",
                "?q=",
                "?q=b.html",
                "b.html/",
                "#b.html",
                "node.js",
                "b%20",
            ] {
                let is_query = whole.contains(['?', '#', '%']);
                let is_word = whole == "node.js";
                if is_query || glued != "에서" && !(is_word && glued == "٣") {
                    check_markup(&format!("«http://www.a.example/{whole}{glued}»"));
                }
            }
        }
        for whole in [
            "http://www.a.exampleé/",
            "http://www.a.example请看.example/",
            "http://a例.example/",
            "http://localhost例/",
            "http://a.example/b.html例/c.html",
            "http://a.example/b.htmlé",
            "http://a.example/b\u{2013}c",
            "http://b.日本/路",
            "http://日本/路.html",
        ] {
            check_markup(&format!("«{whole}»"));
        }
    }

    #[test]
    fn a_dash_or_an_address_is_no_host_of_another_script() {
        check_markup("«http://www.a.example»\u{2014}the");
        check_markup("«http://www.a.example»\u{2013}b.example/");
        check_markup("«http://a.example/b.html»\u{2014}it");
        check_markup("«http://192.0.2.1»请看");
        check_markup("«http://192.0.2.1/请看»");
        check_markup("«http://www.a.example»或www.b.example吧");
        check_markup("«http://www.a.example»またはwww.b.exampleを");
    }

    #[test]
    fn a_korean_particle_ends_the_url() {
        check_markup("«http://a.example/b12»를");
        check_markup("«http://a.example/b/»에서.");
        check_markup("«http://a.example/b12»는");
        check_markup("«http://a.example/c언어»");
        check_markup("«http://a.example/?q=c는»");
        check_markup("«http://a.example/b_(c)»를");
        check_markup("«http://a.example/b-에서»");
        check_markup("«http://a.example/b_를»");
        check_markup("«http://ko.a.example/wiki/이»");
    }

    #[test]
    fn kana_ends_an_ascii_url() {
        check_markup("«http://a.example/b.html»です。");
        check_markup("«http://a.example»をご覧");
        check_markup("«http://a.example/»をご覧");
        check_markup("«http://a.example/b/»をご覧");
        check_markup("«http://a.example/wiki/カタカナ»");
        check_markup("«http://a.example/wiki/ひらがな»");
        check_markup("«http://wwwテスト.example/»");
        check_markup("«http://テスト.example/»");
        check_markup("«http://a.example/日本のb»");
    }

    #[track_caller]
    fn check_refusal(word: &str, want: Option<&str>) {
        let scanner = Scanner::new(Rules::Wide, SchemelessPolicy::Find, &[]);
        let end = end_before_refused(word.as_bytes(), &scanner);
        assert_eq!(end.map(|end| &word[..end]), want, "{word}");
    }

    #[test]
    fn a_url_ends_before_what_its_host_refuses() {
        check_refusal("https://www.kde.org[1]", Some("https://www.kde.org"));
        check_refusal("http://foo.com's/x", Some("http://foo.com"));
        check_refusal("ftp://joe@foo.com=20", Some("ftp://joe@foo.com"));
        check_refusal("mailto:a@foo.com[1]", Some("mailto:a@foo.com"));
        check_refusal("http://foo.com/b|c", None);
        check_refusal("http://$HOST/x", None);
    }

    #[test]
    fn a_url_ends_before_what_its_grammar_refuses() {
        check_refusal(
            "mailto:a@foo.com?subject=[foo]",
            Some("mailto:a@foo.com?subject="),
        );
        check_refusal("git://foo.com/b{c,d}", Some("git://foo.com/b"));
        check_refusal("git://foo.com/100%", Some("git://foo.com/100"));
        check_refusal("news:comp.lang.c's", Some("news:comp.lang.c"));
        check_refusal("news:comp.lang.*", None);
    }
}
