//! The end of a bare URL: before sentence punctuation and brackets, before markup, and before a
//! character that its host or grammar refuses.
//!
//! A bare URL extends to white space or a quote (decided in `repair`). It ends earlier where the
//! surrounding text resumes. `acceptance` decides whether the text up to that end is a URL.

use super::acceptance::mailbox_host;
use super::components::{is_special_scheme, scheme};
use crate::byte_scan::{first_char, prefix_len, starts_with_caseless, suffix_len};
use crate::grammar::{BareRequirement, escaped_byte};
use crate::limits::LINE_LOOKBACK_BYTES;
use crate::repair::{
    BracketSurplus, after_slashes, ends_with_page, is_frequent_word, is_sentence_mark,
    rewritten_link_len, url_run_end, without_punctuation,
};
use crate::scan::{
    HostAndPort, Rules, Scanner, host_before_refused, is_country, names_site, plausible_host,
};
use crate::span::Span;
use unicode_script::{Script, UnicodeScript};

/// End of the URL in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UrlEnd {
    /// Length of the URL in bytes.
    pub(super) url: usize,
    /// Length in bytes of the word before trailing punctuation was trimmed.
    pub(super) word: usize,
    /// Length in bytes of the URL in another reading, if the end was guessed.
    pub(super) other: Option<usize>,
}

/// A word and the text around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordInText<'t> {
    /// The word. The URL is a prefix of it.
    pub(super) word: &'t [u8],
    /// The text before the word.
    pub(super) prior: &'t [u8],
    /// The text after the word; empty at the end of a line.
    pub(super) after: &'t [u8],
}

/// Returns the end of the URL at the start of the word.
///
/// Reads the word a fixed number of times.
pub(super) fn end(text: WordInText<'_>, rules: Rules) -> UrlEnd {
    let WordInText { word, prior, .. } = text;
    let whole = url_run_end(word, 0, prior.last().copied(), rules, usize::MAX);
    let run = if whole < word.len() {
        WordInText {
            word: &word[..whole],
            after: &word[whole..],
            ..text
        }
    } else {
        text
    };
    end_of_run(run, rules)
}

/// Like [`end`], for a word that is a single run of characters, such as a word without joins.
pub(super) fn end_of_run(text: WordInText<'_>, rules: Rules) -> UrlEnd {
    let WordInText {
        word: run, prior, ..
    } = text;
    let before = prior.last().copied();
    if rules == Rules::Rfc1738 {
        return UrlEnd {
            url: trimmed(run, before, rules),
            word: run.len(),
            other: None,
        };
    }
    let end = end_before_markup(run, prior);
    let run = &run[..end - rule_len(&run[..end])];
    let word = guessed_end(run, text);
    let url = trimmed(&run[..word], before, rules);
    let other = if word < run.len() {
        Some(trimmed(run, before, rules))
    } else {
        doubtful_part(&run[..url])
    };
    UrlEnd {
        url,
        word,
        other: other.filter(|&other| other != url),
    }
}

/// Returns the end of the URL in `run`, before text that probably is not part of a URL or was
/// glued to it. `text` is the word that `run` is the certain part of.
fn guessed_end(run: &[u8], text: WordInText<'_>) -> usize {
    let end = end_before_glued_word(run, text.prior);
    let end = end_before_outer_syntax(&run[..end], text.prior);
    let end = end_before_open_bracket(&run[..end]);
    if run[..end].is_ascii() {
        return end;
    }
    end_before_script(&run[..end], text)
}

/// Returns the end of the URL in `run` before surrounding markup that follows without a space: the
/// bar of a wiki, table, Jira or Slack (`url|title`), a shell's `&&`, a Jira tag
/// (`url{code}`), an `AsciiDoc` link text (`url[text]`), or the next Texinfo argument
/// (`@uref{url,,text}`).
fn end_before_outer_syntax(run: &[u8], prior: &[u8]) -> usize {
    let end = end_before_label(run);
    let run = &run[..end];
    if memchr::memchr3(b'|', b'{', b',', run).is_none() && memchr::memchr(b'&', run).is_none() {
        return end;
    }
    let host = after_slashes(run).unwrap_or(0);
    let query = memchr::memchr2(b'?', b'#', run).unwrap_or(run.len());
    // A bar ends a link or cell even after a query.
    let is_cell = matches!(prior, [.., b'|' | b'<' | b'[']);
    let mut commands = [&b"@uref{"[..], b"@url{", b"@indicateurl{"].into_iter();
    let is_argument = commands.any(|command| prior.ends_with(command));
    let found = (host..end).find(|&at| {
        let rest = &run[at + 1..];
        match run[at] {
            b'|' => is_cell || at < query && is_label(rest),
            b'{' => is_jira_tag(rest),
            b'&' => rest.starts_with(b"&") && (at < query || rest.len() == 1),
            b',' => is_argument,
            _ => false,
        }
    });
    found.unwrap_or(end)
}

/// Returns the offset in `run` of the bracket that opens an `AsciiDoc` link text at its end, after
/// a path or a field value: `/b[text].`. A fragment may end with a list (`#egg=a[b,c]`).
fn end_before_label(run: &[u8]) -> usize {
    let close = run.len() - suffix_len(run, |byte| b".,;:!?)".contains(byte));
    let Some(inside) = run[..close].strip_suffix(b"]") else {
        return run.len();
    };
    let open = memchr::memrchr(b'[', inside).filter(|&open| {
        let (url, content) = (&inside[..open], &inside[open + 1..]);
        let letters = content.iter().filter(|byte| byte.is_ascii_alphabetic());
        let is_text = content.is_empty() || 1 < content.len() && 0 < letters.count();
        url.last().is_some_and(|&last| starts_remark(last))
            && is_text
            && !content.contains(&b']')
            && memchr::memchr(b'#', url).is_none()
            && memchr::memchr2(b'/', b'?', &url[after_slashes(url).unwrap_or(open)..]).is_some()
    });
    open.unwrap_or(run.len())
}

/// Returns `true` if `rest`, which follows a bar in a path, is a label: not a number, not a single
/// letter, and not a path as after the drive in `file:///C|/`.
fn is_label(rest: &[u8]) -> bool {
    let letters = prefix_len(rest, u8::is_ascii_alphanumeric);
    letters != 1 && !matches!(rest.first(), Some(b'/' | b'0'..=b'9'))
}

/// Returns `true` if `rest`, which follows a `{`, starts with the rest of a Jira tag.
fn is_jira_tag(rest: &[u8]) -> bool {
    /// Maximum length of a tag in bytes: `color:` and a color.
    const TAG_BYTES: usize = 24;
    const NAMES: &str = "code color noformat panel quote * _ - + ^ ~ ?";
    let tag = &rest[..rest.len().min(TAG_BYTES)];
    let name = memchr::memchr2(b'}', b':', tag).map_or(tag, |len| &tag[..len]);
    NAMES.split(' ').any(|known| known.as_bytes() == name) && memchr::memchr(b'}', tag).is_some()
}

/// Returns the length of `url` before a part that belongs to it although another end is possible:
/// before a vertical bar, before trailing non-ASCII letters, or before letters after a page
/// extension.
fn doubtful_part(url: &[u8]) -> Option<usize> {
    let bar = memchr::memchr(b'|', url);
    let is_open = url.last().is_some_and(|last| !last.is_ascii());
    if bar.is_none() && !is_open {
        // Most URLs have no page extension.
        return any_pair(url, |one, other| one == b'.' && other == b'h')
            .then(|| page_before_letters(url, host_span(url).end))
            .flatten();
    }
    let from = after_slashes(url)?;
    bar.or_else(|| is_open.then(|| prefix_len(url, u8::is_ascii)))
        .filter(|&end| from < end)
}

/// Returns the length of `word` without trailing sentence punctuation and without closing brackets
/// that it does not open. The wide rules also trim signs of emphasis and opening brackets.
pub(super) fn trimmed(word: &[u8], before: Option<u8>, rules: Rules) -> usize {
    if rules == Rules::Rfc1738 {
        return without_punctuation(word).len();
    }
    let mut surplus = BracketSurplus::default();
    let mut end = word.len();
    while let Some(&last) = word[..end].last() {
        let is_trimmed = match last {
            // An opening bracket starts the text after the URL.
            b'|' | b'\\' | b'(' | b'[' | b'{' => true,
            b'*' | b'_' if before == Some(last) => true,
            // Two asterisks close bold type.
            b'*' => word[..end].ends_with(b"**") || word.get(end) == Some(&b'*'),
            _ => is_sentence_mark(last) || surplus.ends(&word[..end]),
        };
        if !is_trimmed {
            break;
        }
        end -= 1;
    }
    end
}

/// Minimum number of identical signs in a row that form a rule. Base64 ends with two, and a dash
/// has two or three hyphens.
const RULE_SIGNS: usize = 4;

/// Returns the length of the rule at the end of `word`: underscores, hyphens or equals signs that
/// a signature or a mailer put below the URL. Returns 0 if there is no rule.
fn rule_len(word: &[u8]) -> usize {
    let Some(&sign @ (b'_' | b'-' | b'=')) = word.last() else {
        return 0;
    };
    let signs = suffix_len(word, |&byte| byte == sign);
    if RULE_SIGNS <= signs { signs } else { 0 }
}

/// Minimum number of identical signs in a row that form a rule inside a URL. A program that lost the
/// line ends glued the rule to the URL. Page names have fewer hyphens.
const INNER_RULE_SIGNS: usize = 12;

/// Returns the end of the URL at the start of `run`, before a word that was glued to it because a
/// program lost a line end or a space. The word follows a mail gateway's link, the host
/// (`http://a.com/`, `http://a.comPlease`), a page name (`/b.htmlVote`, `/b.htmlhere`), a rule, or
/// the bracket that closes a remark (`(see http://a.example/b).There`).
fn end_before_glued_word(run: &[u8], prior: &[u8]) -> usize {
    if let Some(len) = rewritten_link_len(run) {
        return len;
    }
    let run = &run[..end_of_remark(run, prior)];
    let may_be_rule = |one: u8, other: u8| one == other && matches!(one, b'-' | b'=' | b'~' | b'*');
    // Most URLs have no capital letter after a lowercase one, no page extension, and none of these
    // signs twice in a row.
    let may_be_glued = any_pair(run, |one, other| {
        one.is_ascii_lowercase() && other.is_ascii_uppercase()
            || one == b'.' && other == b'h'
            || may_be_rule(one, other)
    });
    if !may_be_glued {
        return run.len();
    }
    let host = host_span(run);
    let page = end_of_page(run, host.end);
    let is_mail = run[..host.start].ends_with(b"@");
    if let Some(len) = glued_host_len(host.of(run), is_mail) {
        return host.start + len;
    }
    let rule = any_pair(run, may_be_rule)
        .then(|| inner_rule(&run[host.end..]))
        .flatten()
        .map(|at| host.end + at);
    page.min(rule.unwrap_or(run.len()))
}

/// Minimum number of lowercase letters after a page extension that may be a word of the text.
const GLUED_LETTERS: usize = 3;

/// Returns the end of the page extension (`.htm`, `.html`) in the last path segment of `run`, if a
/// capitalized word follows it, or lowercase letters up to the end of `run`. The path starts at
/// `path`.
fn page_before_letters(run: &[u8], path: usize) -> Option<usize> {
    let end = memchr::memchr2(b'?', b'#', &run[path..]).map_or(run.len(), |len| path + len);
    let segment = memchr::memrchr(b'/', &run[path..end]).map_or(path, |at| path + at);
    memchr::memchr_iter(b'.', &run[segment..end])
        .map(|at| segment + at)
        .filter(|&at| run[at..].starts_with(b".htm"))
        .map(|at| at + b".htm".len())
        .map(|at| at + usize::from(run[at..].starts_with(b"l")))
        .find(|&at| {
            let rest = &run[at..];
            let is_word = GLUED_LETTERS <= rest.len() && rest.iter().all(u8::is_ascii_lowercase);
            is_word || starts_capitalized(rest)
        })
}

/// Returns the end of the URL in `run` after a page extension that a capitalized or frequent word
/// is glued to.
fn end_of_page(run: &[u8], path: usize) -> usize {
    page_before_letters(run, path)
        .filter(|&at| starts_capitalized(&run[at..]) || is_frequent_word(&run[at..]))
        .unwrap_or(run.len())
}

/// Returns the end of the URL in `run` before a closing bracket that was opened before the URL, if
/// another sentence follows the bracket without a space.
fn end_of_remark(run: &[u8], prior: &[u8]) -> usize {
    let mut depth = 0usize;
    for at in memchr::memchr2_iter(b'(', b')', run) {
        if run[at] == b'(' {
            depth += 1;
        } else if 0 < depth {
            depth -= 1;
        } else {
            let rest = &run[at + 1..];
            let stops = prefix_len(rest, |byte| b".,;:!?".contains(byte));
            let line = &prior[line_start_of(prior)..];
            let is_remark =
                || memchr::memrchr2(b'(', b')', line).is_some_and(|at| line[at] == b'(');
            let ends = 0 < stops && starts_capitalized(&rest[stops..])
                || rest.first().is_some_and(u8::is_ascii_alphabetic) && is_remark();
            return if ends { at } else { run.len() };
        }
    }
    run.len()
}

/// Returns `true` if `is_found` accepts a pair of adjacent bytes of `run`.
fn any_pair(run: &[u8], is_found: impl Fn(u8, u8) -> bool) -> bool {
    let next = run.get(1..).unwrap_or_default();
    // Without an early exit the compiler compares many pairs at once.
    run.iter()
        .zip(next)
        .fold(false, |any, (&one, &other)| any | is_found(one, other))
}

/// Returns the range of the host in `run`: after the slashes of a scheme, after the `@` of a mail
/// address, or at the start. Excludes the port.
fn host_span(run: &[u8]) -> Span {
    let begin = after_slashes(run)
        .or_else(|| memchr::memchr(b'@', run).map(|at| at + 1))
        .unwrap_or(0);
    let rest = &run[begin..];
    let rest = &rest[..memchr::memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len())];
    let len = memchr::memchr(b':', rest).unwrap_or(rest.len());
    Span::new(begin, begin + len)
}

/// Returns the length of `host` up to its lowercase top-level domain, if a capitalized word is
/// glued to that domain. Networks without a top-level domain have names like `www.netScape` and
/// `server.myDomain`. So a top-level domain must follow a name other than `www`, and a country's
/// must follow two names.
fn glued_host_len(host: &[u8], is_mail: bool) -> Option<usize> {
    let dot = memchr::memrchr(b'.', host)?;
    let (names, label) = (&host[..dot], &host[dot + 1..]);
    let small = prefix_len(label, u8::is_ascii_lowercase);
    let is_glued = match &label[..small] {
        b"com" | b"net" | b"org" | b"edu" | b"gov" => {
            !names.is_empty() && !names.eq_ignore_ascii_case(b"www")
        }
        country => is_country(country) && (is_mail || names.contains(&b'.')),
    };
    (is_glued && starts_capitalized(&label[small..])).then_some(dot + 1 + small)
}

/// Returns `true` if `text` starts with a capital letter and a lowercase one.
fn starts_capitalized(text: &[u8]) -> bool {
    matches!(text, [first, second, ..] if first.is_ascii_uppercase() && second.is_ascii_lowercase())
}

/// Returns the start of the first rule in `path`.
fn inner_rule(path: &[u8]) -> Option<usize> {
    let mut at = 0;
    for signs in path.chunk_by(|one, other| one == other) {
        let end = at + signs.len();
        // In base64url, underscores occur among letters of both cases.
        if b"-=~*".contains(&signs[0]) && INNER_RULE_SIGNS <= signs.len() {
            return Some(at);
        }
        at = end;
    }
    None
}

/// Returns `true` if an open bracket after `before` starts a remark, and not a value or a list.
fn starts_remark(before: u8) -> bool {
    before.is_ascii_alphanumeric() || before == b'/'
}

/// Returns the offset of the first bracket in `run` that opens after a part of the URL and does
/// not close. It starts a remark on the URL (`a.html(for`). In a URL template, the bracket closes.
fn end_before_open_bracket(run: &[u8]) -> usize {
    if memchr::memchr3(b'(', b'[', b'{', run).is_none() {
        return run.len();
    }
    let from = after_slashes(run).map_or(1, |from| from + 1).min(run.len());
    let (mut closed, mut end) = ([0_usize; 3], run.len());
    for (at, &byte) in run.iter().enumerate().skip(from).rev() {
        if let Some(kind) = b")]}".iter().position(|&close| close == byte) {
            closed[kind] += 1;
        } else if let Some(kind) = b"([{".iter().position(|&open| open == byte) {
            match closed[kind].checked_sub(1) {
                Some(rest) => closed[kind] = rest,
                None if starts_remark(run[at - 1]) => end = at,
                None => {}
            }
        }
    }
    end
}

/// Returns the end of the URL at the start of `run`, a run of characters that can belong to it.
/// `prior` is the text before the URL.
///
/// Reads `run` a fixed number of times. Reads at most the last line of `prior`, up to
/// [`LINE_LOOKBACK_BYTES`].
fn end_before_markup(run: &[u8], prior: &[u8]) -> usize {
    let end = if memchr::memchr3(b']', b'\\', b'*', run).is_some() {
        end_before_ascii_markup(run, prior)
    } else {
        run.len()
    };
    end - shown_path_len(&run[..end], prior)
}

/// Start of a terminal link (OSC 8), without its control character.
const TERMINAL_LINK: &[u8] = b"]8;;";

/// Returns the length of the path at the end of `run` that a terminal displays for a link, if the
/// control characters between the link and its text were lost; 0 otherwise.
fn shown_path_len(run: &[u8], prior: &[u8]) -> usize {
    if !prior.ends_with(TERMINAL_LINK) {
        return 0;
    }
    let paths = &run[host_span(run).end..];
    let (one, other) = paths.split_at(paths.len() / 2);
    if one == other { one.len() } else { 0 }
}

fn end_before_ascii_markup(run: &[u8], prior: &[u8]) -> usize {
    let line = &prior[line_start_of(prior)..];
    let has_open_bracket = || memchr::memrchr2(b'[', b']', line).is_some_and(|at| line[at] == b'[');
    let (mut is_bold, mut brackets) = (None, 0usize);
    for (at, &byte) in run.iter().enumerate() {
        let rest = &run[at + 1..];
        let ends = match byte {
            b'[' => {
                brackets += 1;
                is_note(&run[..at], rest)
            }
            b']' if rest.starts_with(&TERMINAL_LINK[1..]) => true,
            // `[text](destination)` and `[text][label]` (CommonMark, section 6.3), whose text is
            // the URL.
            b']' if brackets == 0 => {
                matches!(rest.first(), Some(b'(' | b'['))
                    || has_open_bracket() && rest.first().is_some_and(u8::is_ascii_alphabetic)
            }
            b']' => {
                brackets -= 1;
                false
            }
            b'\\' => is_literal_escape(rest),
            b'*' => closes_bold(rest) && *is_bold.get_or_insert_with(|| opens_bold(prior)),
            _ => false,
        };
        if ends {
            return at;
        }
    }
    run.len()
}

/// Returns `true` if a backslash before `rest` starts an escape that no path has: several escapes
/// in a row, or one at the end (`\r\n`, `\n`).
fn is_literal_escape(rest: &[u8]) -> bool {
    matches!(rest, [b'n' | b'r' | b't'] | [b'n' | b'r' | b't', b'\\', ..])
        // The line end of a calendar (RFC 5545, section 3.3.11).
        || matches!(rest, [b'n', next, ..] if *next == b'+' || next.is_ascii_digit() || next.is_ascii_uppercase())
}

/// Returns `true` if `rest`, which follows a `[` after `url`, belongs to a note on the URL. A note
/// is a number (`http://a.example/b[1]`), or a link that a mailer rewrote as its picture or
/// destination (`[Image.jpeg]`, `[http://a.example/b]`).
///
/// A list of numbers (`0.[123]`) and a VMS folder (`disk:[a.b]`) are parts of a URL.
fn is_note(url: &[u8], rest: &[u8]) -> bool {
    let authority = after_slashes(url).unwrap_or(0);
    if url.len() <= authority
        || !url
            .last()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'='))
    {
        return false;
    }
    if [&b"http://"[..], b"https://", b"mailto:", b"cid:", b"www."]
        .iter()
        .any(|name| starts_with_caseless(rest, name))
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
    (is_number || ends_with_page(content)) && ends_run(after)
}

/// Returns `true` if `rest` contains only punctuation and further numbers in brackets.
fn ends_run(rest: &[u8]) -> bool {
    rest.iter()
        .all(|byte| byte.is_ascii_digit() || b".,;:!?)'[]*_".contains(byte))
        && !rest.first().is_some_and(u8::is_ascii_digit)
}

/// Returns `true` if the asterisk before `rest` can close bold type: another asterisk follows, or
/// no word, or only sentence punctuation.
fn closes_bold(rest: &[u8]) -> bool {
    rest.iter().all(|byte| b".,;:!?)'".contains(byte))
        || rest
            .first()
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"/.-_~%?&=#".contains(byte))
}

/// Number of lines before the URL's line in which bold type may start.
const TYPE_LINES: usize = 2;

/// Returns the start of the last line of `prior`, looking back at most [`LINE_LOOKBACK_BYTES`].
fn line_start_of(prior: &[u8]) -> usize {
    let lowest = prior.len().saturating_sub(LINE_LOOKBACK_BYTES);
    memchr::memrchr2(b'\n', b'\r', &prior[lowest..]).map_or(lowest, |end| lowest + end + 1)
}

/// Returns the last line of `prior` and up to [`TYPE_LINES`] lines of its paragraph before it.
fn paragraph_before(prior: &[u8]) -> &[u8] {
    let lowest = prior.len().saturating_sub(LINE_LOOKBACK_BYTES);
    let mut start = line_start_of(prior);
    for _ in 0..TYPE_LINES {
        let ([above @ .., b'\r', b'\n'] | [above @ .., b'\n' | b'\r']) = &prior[lowest..start]
        else {
            break;
        };
        let from = memchr::memrchr2(b'\n', b'\r', above).map_or(0, |at| at + 1);
        if above[from..]
            .iter()
            .all(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'|'))
        {
            break;
        }
        start = lowest + from;
    }
    &prior[start..]
}

/// Returns `true` if bold type is open at the end of `prior`: the last asterisk does not follow a
/// word, and a word follows it. Gmail writes it as `*word word*` when it converts HTML to text, and
/// then wraps the lines.
fn opens_bold(prior: &[u8]) -> bool {
    let text = paragraph_before(prior);
    memchr::memrchr(b'*', text).is_some_and(|at| {
        let opens = text[..at]
            .last()
            .is_none_or(|byte| byte.is_ascii_whitespace() || b"(\"'>[*_".contains(byte));
        opens && !text.get(at + 1).is_some_and(u8::is_ascii_whitespace)
    })
}

/// Returns the end of the URL at the start of `run`, the certain part of the word `text`. The URL
/// ends before its first non-ASCII character if that is a symbol, or a letter of another script at
/// which no URL continues.
fn end_before_script(run: &[u8], text: WordInText<'_>) -> usize {
    let (before, rest) = run.split_at(prefix_len(run, u8::is_ascii));
    let Some(first) = first_char(rest) else {
        return run.len();
    };
    let is_whole = run.len() == text.word.len() && is_enclosed(text);
    let ends = !is_whole
        && !continues_title(first, before)
        && (is_symbol(first)
            || is_of_other_script(first) && starts_text(first, before, rest, text));
    if ends { before.len() } else { run.len() }
}

/// Returns `true` if quotes or brackets enclose the word, so no text is glued to it.
fn is_enclosed(text: WordInText<'_>) -> bool {
    const PAIRS: &str = "\"\" 「」 『』 （） 【】 《》 〈〉 “” «»";
    PAIRS.split(' ').any(|pair| {
        let (open, close) = pair.split_at(pair.len() / 2);
        text.prior.ends_with(open.as_bytes()) && text.after.starts_with(close.as_bytes())
    })
}

/// Returns `true` if `first` continues a page title that starts with one capital letter, or with a
/// few after `/wiki/`: some Japanese, Russian and Hebrew words do. No word continues in hiragana.
fn continues_title(first: char, before: &[u8]) -> bool {
    /// Maximum number of letters of an abbreviation.
    const LETTERS: usize = 4;
    let capitals = suffix_len(before, u8::is_ascii_uppercase);
    let path = &before[..before.len() - capitals];
    let is_title = match capitals {
        1 => path.ends_with(b"/") && !path.ends_with(b"//"),
        2..=LETTERS => path.ends_with(b"/wiki/"),
        _ => false,
    };
    is_title && is_of_other_script(first) && first.script() != Script::Hiragana
}

/// Returns `true` for bullets, rights signs, arrows, box drawing, shapes and dingbats other than
/// brackets.
fn is_symbol(first: char) -> bool {
    matches!(u32::from(first),
        0xA7 | 0xA9 | 0xAE | 0xB6 | 0x2022 | 0x2023 | 0x2122 | 0x2190..=0x21FF | 0x2500..=0x2767
            | 0x2794..=0x27BF | 0x2B00..=0x2BFF)
}

/// Returns `true` for letters and numbers that are neither Latin nor ASCII.
fn is_of_other_script(first: char) -> bool {
    first.is_alphanumeric() && !first.is_ascii() && first.script() != Script::Latin
}

/// Returns `true` if `rest`, which starts with the letter `first` of another script, directly
/// follows an ASCII letter or digit of the URL `before` and starts the text after the URL.
fn starts_text(first: char, before: &[u8], rest: &[u8], text: WordInText<'_>) -> bool {
    let site = &before[after_slashes(before).unwrap_or(0)..];
    let is_in_path =
        memchr::memchr(b'/', site).is_some() && memchr::memchr3(b'?', b'#', b'%', site).is_none();
    before.last().is_some_and(u8::is_ascii_alphanumeric)
        && (is_unescaped(before)
            // A top-level domain has one script.
            || memchr::memchr3(b'/', b'?', b'#', site).is_none()
                && names_site(site)
                && !rest.windows(2).any(|pair| pair[0] == b'.' && !pair[1].is_ascii_punctuation())
            // In a path, words of these scripts follow a slash or hyphen: 21 places in Arabic.
            || is_in_path
                && (ends_with_page(site)
                    || matches!(
                        first.script(),
                        Script::Arabic | Script::Hebrew | Script::Hiragana | Script::Katakana
                    )
                    || continues_line(text)))
}

/// Returns `true` if an escaped non-ASCII byte is in the URL `before`, but not at its end. The
/// program that wrote the URL escapes letters of other scripts, so an unescaped one belongs to the
/// text after the URL. Directly after such an escape, the letter may be one whose escape was
/// decoded.
fn is_unescaped(before: &[u8]) -> bool {
    let is_escape = |percent| escaped_byte(&before[percent..]).is_some_and(|byte| !byte.is_ascii());
    !before.len().checked_sub(3).is_some_and(is_escape)
        && memchr::memchr_iter(b'%', before).any(is_escape)
}

/// Returns `true` if the word ends its line, and letters of another script precede it there.
fn continues_line(text: WordInText<'_>) -> bool {
    let line = &text.prior[line_start_of(text.prior)..];
    matches!(text.after.first(), None | Some(b'\r' | b'\n'))
        && !line.is_ascii()
        && String::from_utf8_lossy(line)
            .chars()
            .any(is_of_other_script)
}

/// Returns the end of the URL at the start of `word`, before the first character that cannot
/// belong to it. `None` if there is no such character, or if the text before it cannot be a URL.
///
/// A person who writes `https://www.kde.org[1]` or `http://foo.com's` means the URL before that
/// character. `word` is a URL with its scheme, in running text. Linear in the length of `word`.
pub(super) fn end_before_refused(word: &[u8], scanner: &Scanner) -> Option<usize> {
    let scheme = scheme(word);
    let begin = scheme.len() + 1;
    let requirement = scanner.bare_requirement(scheme);
    let rest = word.get(begin..)?;
    let authority = rest
        .strip_prefix(b"//")
        .map(|after| authority(after, begin + 2));
    let path = authority.map_or(begin, |authority| authority.end);
    let end = if is_special_scheme(scheme) {
        word.len()
    } else {
        first_refused(word, path)
    };
    let site_end = match (authority, requirement) {
        (Some(_), BareRequirement::Slashes) => end,
        (Some(authority), _) => end_of_site(word, authority)?,
        (None, BareRequirement::Mailbox(_)) => {
            let host = mailbox_host(&rest[..end - begin])?;
            end_of_site(word, Span::new(begin + host.start, begin + host.end))?
        }
        // Only its characters show that such a word is a URL.
        (None, _) => return None,
    };
    let end = end.min(site_end);
    (end < word.len()).then_some(end)
}

/// Returns the range of the authority at the start of `after`, which is at offset `from` in the
/// word.
fn authority(after: &[u8], from: usize) -> Span {
    let len = after
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'))
        .unwrap_or(after.len());
    Span::new(from, from + len)
}

/// Returns the offset of the first character that the host and port at `span` cannot contain, or
/// the end of the word. `None` if there is no plausible host.
fn end_of_site(word: &[u8], span: Span) -> Option<usize> {
    let authority = span.of(word);
    let start = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let site = &authority[start..];
    let HostAndPort { host, port } = HostAndPort::of(site);
    let is_port = port.is_none_or(|port| port.iter().all(u8::is_ascii_digit));
    if plausible_host(host) && is_port {
        return Some(word.len());
    }
    host_before_refused(site).map(|len| span.start + start + len)
}

/// Returns the offset of the first character at or after `from` that RFC 3986 does not allow in a
/// path, query or fragment.
fn first_refused(word: &[u8], from: usize) -> usize {
    let mut has_fragment = false;
    (from..word.len())
        .find(|&at| match word[at] {
            b'%' => escaped_byte(&word[at..]).is_none(),
            b'#' => std::mem::replace(&mut has_fragment, true),
            byte => !(byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte)),
        })
        .unwrap_or(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{Rules, SchemelessPolicy};

    /// Asserts that the URL ends at `‖`. The first character is the one before the URL.
    #[track_caller]
    fn check(marked: &str) {
        let (before, marked) = marked.split_at(1);
        let word = marked.replacen('‖', "", 1);
        let text = WordInText {
            word: word.as_bytes(),
            prior: before.as_bytes(),
            after: b" ",
        };
        let end = end(text, Rules::Wide);
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
    fn a_word_glued_to_the_url_is_excluded() {
        check(" http://a.com‖Please");
        check(" mailto:joe@a.com.sg‖Surfer's");
        check(" www.a.net‖Your/b");
        check(" http://a.example/b.html‖Vote");
        check(" http://a.example/b.htm‖Vote");
        check(&format!(" http://a.example/?c=2‖{}Visit", "-".repeat(12)));
        check(" http://www.a.de‖Bitte");
        check(" http://a.example/b.htmlx‖");
        check(" http://a.example/b.htmlVOTE‖");
        check(" http://a.example/b.cgi?x.htmlFile=3‖");
        check(" http://a.example/b.cgi?x=y.htmlFile‖");
        check(" http://a.example/b.cgi?x=y.htmlhere‖");
        check(" http://a.example/b#c.htmlhere‖");
        check(" http://a.example/b.htmlhere/c‖");
        check(" http://a.example/MyPage.comPlease‖");
        check(" http://a.Company‖");
        check(" http://www.ACompany.com‖");
        check(" http://a.example/b----c‖");
        check(&format!(" http://a.example/b{}c.html‖", "-".repeat(11)));
        check(&format!(
            " http://a.example/?b=ARo{0}AQ{0}8B&c=1‖",
            "_".repeat(12)
        ));
        check(" http://www.netScape/b‖");
        check(" http://server.myDomain/b‖");
        check(" http://Server.inHouse:8080/b‖");
    }

    #[test]
    fn letters_after_a_page_extension_belong_to_the_url_unless_a_frequent_word() {
        let url = "http://a.example/function.htmlentities";
        let text = WordInText {
            word: url.as_bytes(),
            prior: b" ",
            after: b" ",
        };
        let end = end(text, Rules::Wide);
        assert_eq!(end.url, url.len());
        assert_eq!(end.other, Some("http://a.example/function.html".len()));
    }

    #[test]
    fn a_word_glued_to_a_bracket_page_or_gateway_link_is_excluded() {
        check_markup("(see «http://a.example/b#c»).There");
        check_markup("(see «http://a.example/b»)and");
        check_markup("see «http://a.example/b)and»");
        check(" http://a.example/b.html‖here");
        check(" http://a.example/b.html‖(for");
        check(" http://a.example/b[0]/‖{x");
        check(" http://a.example/?b={c‖");
        check(" http://a.example/b_(c)[d]‖");
        check(
            " https://a.safelinks.protection.outlook.com/?url=https%3A%2F%2Fb.example&sdata=c&reserved=0‖Thanks",
        );
        check(
            " https://urldefense.com/v3/__https://b.example/lamps/and/oil.html__;!!a!token-of-the-message$‖Thanks",
        );
    }

    #[test]
    fn surrounding_markup_ends_the_url() {
        let cases = "[[«http://a.example/b»|c [[«http://a.example/?b=1»|c [«http://a.example/?b=1»|c \
            {{cite|url=«http://a.example/b»|title=c \
            |«http://a.example/b»|12| «http://a.example/b|12» «http://a.example/b|c» \
            «http://a.example/?b=0:|c|d&e=f» «http://a.example/b»|+49 <«http://a.example/?b»|c \
            «http://a.example/?b|sh» «http://a.example/b»&&make «http://a.example/?b=c»&& \
            «http://a.example/?b&&c=d» {code}«http://a.example/b/»{code} «http://a.example/b»{quote}c \
            {color:red}«http://a.example/b»{color} «http://a.example/b»{*} \
            «http://a.example/b{id}» @uref{«http://a.example/b»,,c {«http://a.example/b,c» \
            «http://a.example/b»[c-d]. «http://a.example/b/»[] «http://a.example/?b=c»[d^] «http://a.example/b[c]» \
            «http://a.example/?b[c]» «http://a.example/b[c]/d» «http://a.example/#b=c[d,e]» \
            «mailto:a@b.example»|bc@d.example «file:///C|/b»";
        cases.split(' ').for_each(check_markup);
    }

    #[test]
    fn letters_of_another_script_continue_a_title_or_a_quoted_url() {
        let (tee, glued) = (
            "http://a.example/wiki/T\u{30B7}\u{30E3}",
            "http://a.example/bc\u{30B7}\u{30E3}",
        );
        for (prior, word, after, whole) in [
            ("see ", tee, " x", true),
            ("\u{300C}", glued, "\u{300D}", true),
            ("\"", glued, "\"", true),
            ("\"", glued, " ", false),
            ("see ", glued, " ", false),
            ("", "http://a.example/wiki/DVD\u{30B7}", " ", true),
            ("", "http://a.example/b/DVD\u{30B7}", " ", false),
            ("", "http://a.example/C\u{5DC}\u{5D1}", " ", true),
            ("", "http://a.example/C\u{3092}", " ", false),
        ] {
            let text = WordInText {
                word: word.as_bytes(),
                prior: prior.as_bytes(),
                after: after.as_bytes(),
            };
            let found = end(text, Rules::Wide);
            assert_eq!(found.url == word.len(), whole, "{prior}{word}{after}");
            assert!(found.other.is_some());
        }
    }

    #[test]
    fn the_text_of_terminal_links_is_excluded() {
        check_markup("]8;;«file://a/lib/b.conf»/lib/b.conf]8;;:13");
        check_markup("]8;;«file://a/lib/b.conf»]8;;");
        check_markup("DESCRIPTION:«http://a.example/b»\\n+1 2");
    }

    #[test]
    fn symbols_and_letters_of_the_surrounding_script_end_a_url() {
        check_markup("«http://a.example/b»\u{2502}");
        check_markup("«http://a.example/b»\u{a9}2026");
        check_markup("«http://a.example/b»\u{2192}c");
        check_markup("«http://a.example/\u{203e}b»");
        let end = |prior: &str, after: &str| {
            let word = "http://a.example/plan\u{8a08}\u{753b}";
            let text = WordInText {
                word: word.as_bytes(),
                prior: prior.as_bytes(),
                after: after.as_bytes(),
            };
            &word[..super::end(text, Rules::Wide).url]
        };
        let (short, long) = (
            "http://a.example/plan",
            "http://a.example/plan\u{8a08}\u{753b}",
        );
        assert_eq!(end("\u{8acb}\u{770b}", "\n"), short);
        assert_eq!(end("\u{8acb}\u{770b} ", " "), long);
        assert_eq!(end("\u{8acb}\n", "\n"), long);
        assert_eq!(end("see ", "\n"), long);
    }

    #[test]
    fn unescaped_letters_after_an_escaped_url_are_excluded() {
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
    fn a_list_item_ends_before_the_next_url() {
        check(" http://a.example/‖,http://b.example/");
        check(" http://web.example/2001/http://b.example/‖");
        check(" http://a.example/?u=http://b.example‖");
        check(" http://a.example/‖&gt;");
        check(" http://a.example/?b=c&amp‖");
        check(" http://a.example/http://b.example/‖");
    }

    /// Asserts that the URL starts at `«` and ends at `»`.
    #[track_caller]
    fn check_markup(marked: &str) {
        let (prior, rest) = marked.split_once('«').unwrap();
        let run = rest.replacen('»', "", 1);
        let text = WordInText {
            word: run.as_bytes(),
            prior: prior.as_bytes(),
            after: b" ",
        };
        let end = end_before_markup(text.word, text.prior);
        let end = guessed_end(&text.word[..end], text);
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
        let cases = "http://a.example/\u{645}\u{646}/x http://a.example/2017-\u{645}\u{646} \
            http://a.example/x_\u{645}\u{646} http://a.example/%D9%86\u{645}\u{646} \
            http://a.example/?q=x\u{645}\u{646} http://a.example/x#y\u{645}\u{646} \
            http://a.example/x\u{43c}\u{438} http://ab\u{645}\u{646}.example/";
        for whole in cases.split(' ') {
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
            check_markup(&format!("«http://192.0.2.1»{glued}"));
            check_markup(&format!("«http://www.a.example/b/c.html»{glued}"));
            check_markup(&format!("«http://www.a.example/b.PDF»{glued}."));
            let paths = " b/ b- ?q= ?q=b.html b.html/ #b.html b%20";
            for whole in paths.split(' ') {
                check_markup(&format!("«http://www.a.example/{whole}{glued}»"));
            }
        }
        let cases = "http://www.a.exampleé/ http://www.a.example请看.example/ http://a例.example/ \
            http://localhost例/ http://a.example/b.htmlé http://a.example/b\u{2013}c \
            http://b.日本/路 http://日本/路.html http://192.0.2.1/请看";
        for whole in cases.split(' ') {
            check_markup(&format!("«{whole}»"));
        }
    }

    #[test]
    fn kana_ends_an_ascii_url() {
        check_markup("«http://a.example/b.html»です。");
        check_markup("«http://a.example»をご覧");
        check_markup("«http://a.example/b»をご覧");
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
    fn a_url_ends_before_a_character_its_host_refuses() {
        check_refusal("https://www.kde.org[1]", Some("https://www.kde.org"));
        check_refusal("http://foo.com's/x", Some("http://foo.com"));
        check_refusal("ftp://joe@foo.com=20", Some("ftp://joe@foo.com"));
        check_refusal("mailto:a@foo.com[1]", Some("mailto:a@foo.com"));
        check_refusal("http://foo.com/b|c", None);
        check_refusal("http://$HOST/x", None);
    }

    #[test]
    fn a_url_ends_before_a_character_its_grammar_refuses() {
        check_refusal(
            "mailto:a@foo.com?subject=[foo]",
            Some("mailto:a@foo.com?subject="),
        );
        check_refusal("git://foo.com/b{c,d}", Some("git://foo.com/b"));
        check_refusal("git://foo.com/100%", Some("git://foo.com/100"));
        check_refusal("news:comp.lang.*", None);
    }
}
