//! The end of a bare URL: before sentence punctuation and brackets, before markup, and before a
//! character that its host or grammar refuses.
//!
//! A bare URL extends to white space or a quote (decided in `repair`). It ends earlier where the
//! surrounding text resumes. `verdict` decides whether the text up to that end is a URL.

use std::collections::BTreeSet;

use super::components::{is_special_scheme, scheme};
use super::verdict::mailbox_host;
use crate::byte_scan::{first_char, last_char, prefix_len, starts_with_caseless, suffix_len};
use crate::grammar::{BareRequirement, escaped_byte};
use crate::limits::LINE_LOOKBACK_BYTES;
use crate::repair::{
    BracketSurplus, after_slashes, after_userinfo, ends_with_page, is_sentence_mark,
    rewritten_link_len, url_run_end, without_punctuation, word_terminator_len,
};
use crate::scan::{
    HostAndPort, Rules, Scanner, host_before_refused, is_country, names_site, plausible_host,
};
use crate::span::Span;

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
    let whole = end_before_markup(run, prior);
    let end = whole - pod_escape_prefix_len(&run[..whole], &run[whole..], text.after);
    let end = end - rule_len(&run[..end]);
    let run = &run[..end - escaped_indentation_len(&run[..end])];
    let word = guessed_end(run, text);
    let url = trimmed(&run[..word], before, rules);
    let other = if word < run.len() {
        Some(trimmed(run, before, rules))
    } else if end + 1 == whole && text.word[..end].last().is_some_and(u8::is_ascii_uppercase) {
        // The letter may be the last one of a word in capitals.
        Some(whole)
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
    let end = match end_before_outer_syntax(&run[..end], text.prior) {
        // Inside quotation marks, no other syntax continues.
        cut if cut < end && end == text.word.len() && is_enclosed(text) => end,
        cut => cut,
    };
    let end = end_before_open_bracket(&run[..end]);
    let end = end - position_len(&run[..end]);
    if run[..end].is_ascii() {
        return end;
    }
    end_before_script(&run[..end], text)
}

/// Returns 1 if the `E` at the end of `run` starts a POD escape (`aE<gt>`), else 0. `cut` is the
/// text that was cut off after it, and `after` is the text after `cut`.
fn pod_escape_prefix_len(run: &[u8], cut: &[u8], after: &[u8]) -> usize {
    let mut names = [&b"<gt>"[..], b"<lt>", b"<verbar>"].into_iter();
    usize::from(run.ends_with(b"E") && cut.is_empty() && names.any(|name| after.starts_with(name)))
}

/// Returns the end of the URL in `run` before surrounding markup that follows without a space: the
/// bar of a wiki, table, Jira, Slack or shell (`url|title`, `url|sh`), a shell's `&&`, a Jira tag
/// (`url{code}`), an `AsciiDoc` link text (`url[text]`), or the next Texinfo argument
/// (`@uref{url,,text}`).
fn end_before_outer_syntax(run: &[u8], prior: &[u8]) -> usize {
    let end = end_before_label(run);
    let run = &run[..end];
    if memchr::memchr3(b'|', b'{', b',', run).is_none() && memchr::memchr(b'&', run).is_none() {
        return end;
    }
    let host = host_span(run).start;
    let query = memchr::memchr2(b'?', b'#', run).unwrap_or(run.len());
    // A bar ends a link or cell even after a query. A link of Jira has one bar.
    let is_cell = match prior {
        [.., b'|' | b'<'] | [.., b'[', b'['] => true,
        [.., b'['] => memchr::memchr_iter(b'|', run).nth(1).is_none(),
        _ => false,
    };
    let mut commands = [&b"@uref{"[..], b"@url{", b"@indicateurl{"].into_iter();
    let is_argument = commands.any(|command| prior.ends_with(command));
    let found = (host..end).find(|&at| {
        let rest = &run[at + 1..];
        match run[at] {
            b'|' if at < query => is_cell || is_label(rest),
            b'|' => is_cell || is_field(prior, rest) || is_piped(prior, rest),
            b'{' => is_jira_tag(&run[..at], rest, prior),
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
            && !is_index(url)
    });
    open.unwrap_or(run.len())
}

/// Returns `true` if `rest`, which follows a bar in a path, is a label: not a number, not a single
/// letter, and not a path as after the drive in `file:///C|/`.
fn is_label(rest: &[u8]) -> bool {
    let letters = prefix_len(rest, u8::is_ascii_alphanumeric);
    letters != 1 && !matches!(rest.first(), Some(b'/' | b'0'..=b'9'))
}

/// Returns `true` if the URL between `prior` and `rest`, which follows a bar, is a template
/// argument: `{{cite|url=http://a.example/?b|title=c}}`.
fn is_field(prior: &[u8], rest: &[u8]) -> bool {
    let name = prefix_len(rest, |&byte| byte.is_ascii_alphanumeric() || byte == b'-');
    prior.trim_ascii_end().ends_with(b"=") && 0 < name && rest.get(name) == Some(&b'=')
}

/// Returns `true` if `rest`, which follows a bar, names a program that reads the output of a
/// download command in the same line: `curl http://a.example/?b|sh`.
fn is_piped(prior: &[u8], rest: &[u8]) -> bool {
    rest.iter().all(u8::is_ascii_lowercase) && {
        let line = &prior[line_start_of(prior)..];
        let mut programs = [&b"curl "[..], b"wget "].into_iter();
        programs.any(|program| memchr::memmem::find(line, program).is_some())
    }
}

/// Returns `true` if `rest`, which follows a `{`, starts with the rest of a Jira tag. In a
/// template, a slash or an equals sign precedes the name (`/{code}`), unless another tag precedes
/// the URL.
fn is_jira_tag(url: &[u8], rest: &[u8], prior: &[u8]) -> bool {
    /// Maximum length of a tag in bytes: `color:` and a color.
    const TAG_BYTES: usize = 24;
    const NAMES: &str = "code color noformat panel quote * _ - + ^ ~ ?";
    let tag = &rest[..rest.len().min(TAG_BYTES)];
    let name = memchr::memchr2(b'}', b':', tag).map_or(tag, |len| &tag[..len]);
    NAMES.split(' ').any(|known| known.as_bytes() == name)
        && memchr::memchr(b'}', tag).is_some()
        && (prior.ends_with(b"}") || !matches!(url.last(), Some(b'/' | b'=')))
}

/// Returns the length of `url` before a part that belongs to it although another end is possible:
/// before a vertical bar, or before trailing non-ASCII letters.
fn doubtful_part(url: &[u8]) -> Option<usize> {
    let bar = memchr::memchr(b'|', url);
    let is_open = url.last().is_some_and(|last| !last.is_ascii());
    if bar.is_none() && !is_open {
        return None;
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
    // Searched at the first closing bracket outside ASCII, because most words have none.
    let mut opened = None;
    let mut end = word.len();
    while let Some(&last) = word[..end].last() {
        let is_trimmed = match last {
            // A character reference ends with its semicolon.
            b';' if word[..end].ends_with(b"&amp;") => false,
            // An opening bracket starts the text after the URL.
            b'|' | b'\\' | b'(' | b'[' | b'{' => true,
            b'*' | b'_' if before == Some(last) => true,
            // Two asterisks close bold type.
            b'*' => word[..end].ends_with(b"**") || word.get(end) == Some(&b'*'),
            0x80.. => {
                let outer = last_char(&word[..end]).filter(|&last| {
                    let is_unopened =
                        |open: char| !opened.get_or_insert_with(|| openers(word)).contains(&open);
                    is_invisible(last) || opener(last).is_some_and(is_unopened)
                });
                let len = outer.map_or(0, char::len_utf8);
                // The code below removes the last byte.
                end -= len.saturating_sub(1);
                0 < len
            }
            _ => is_sentence_mark(last) || surplus.ends(&word[..end]),
        };
        if !is_trimmed {
            break;
        }
        end -= 1;
    }
    end
}

/// Returns `true` for invisible characters, which pasting leaves after a URL.
fn is_invisible(last: char) -> bool {
    matches!(last,
        '\u{AD}' | '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// Returns the opening brackets and quotes of [`PARTNERS`] in `word`.
fn openers(word: &[u8]) -> BTreeSet<char> {
    let text = String::from_utf8_lossy(word);
    let openers = text
        .chars()
        .filter(|&first| !first.is_ascii() && partner(first).is_some());
    openers.collect()
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

/// Minimum number of identical signs in a row that form a rule inside a URL before a capitalized
/// word. A program that lost the line ends glued both to the URL.
const INNER_RULE_SIGNS: usize = 12;

/// Minimum number of identical signs in a row that always form a rule inside a URL. Page names
/// have fewer hyphens, and numbers in base64url fewer underscores.
const LONG_RULE_SIGNS: usize = 24;

/// Returns the end of the URL at the start of `run`, before a word that was glued to it because a
/// program lost a line end or a space. The word follows a mail gateway's link, the host
/// (`http://a.com/`, `http://a.comPlease`), a page name (`/b.htmlVote`, `/b.htmlhere`), a rule, or
/// the bracket that closes a remark (`(see http://a.example/b).There`).
fn end_before_glued_word(run: &[u8], prior: &[u8]) -> usize {
    if let Some(len) = rewritten_link_len(run) {
        return len;
    }
    let run = &run[..end_of_remark(run, prior)];
    let may_be_rule =
        |one: u8, other: u8| one == other && matches!(one, b'-' | b'_' | b'=' | b'~' | b'*');
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
    let page = page_before_letters(run, host.end).unwrap_or(run.len());
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

/// Minimum number of escaped spaces that indent a line.
const ESCAPED_INDENTATION: usize = 2;

/// Returns the length of an escaped line end and the escaped indentation after it at the end of
/// `word`: a program escaped the white space around the URL as well. Returns 0 if there is none,
/// and for a `mailto` URL, where they are lines of the message.
fn escaped_indentation_len(word: &[u8]) -> usize {
    let blanks = escapes_len(word, &[b"%20", b"%09"]);
    if blanks < ESCAPED_INDENTATION * 3 || starts_with_caseless(word, b"mailto:") {
        return 0;
    }
    let line_ends = escapes_len(
        &word[..word.len() - blanks],
        &[b"%0A", b"%0a", b"%0D", b"%0d", b"%20", b"%09"],
    );
    if 0 < line_ends { line_ends + blanks } else { 0 }
}

/// Returns the length in bytes of the run of `escapes` at the end of `word`.
fn escapes_len(word: &[u8], escapes: &[&[u8; 3]]) -> usize {
    3 * word
        .rchunks_exact(3)
        .take_while(|chunk: &&[u8]| escapes.iter().any(|escape| *chunk == escape.as_slice()))
        .count()
}

/// Minimum number of lowercase letters after a page extension that are a word of the text. They
/// were one in all 13 URLs of nine archives.
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

/// Returns the length of the file position (`:41:9`) at the end of `run`, with the punctuation
/// after it; 0 if there is none. Compilers and logs append such a position to a file name.
fn position_len(run: &[u8]) -> usize {
    let mut end = run.len() - suffix_len(run, |byte| b".,;:)".contains(byte));
    let whole = end;
    if !run[..end].last().is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    for _ in 0..2 {
        let digits = suffix_len(&run[..end], u8::is_ascii_digit);
        if 0 < digits && run[..end - digits].ends_with(b":") {
            end -= digits + 1;
        }
    }
    let is_file = |path: &[u8]| {
        let follows_host = matches!(path, [b'/', ..] | [b':', b'0'..=b'9', ..]);
        follows_host && path.contains(&b'/') && ends_with_file(path)
    };
    if end < whole && run.get(host_span(run).end..end).is_some_and(is_file) {
        run.len() - end
    } else {
        0
    }
}

/// Maximum number of characters of a file name extension.
const MAX_EXTENSION_CHARS: usize = 5;

/// Returns `true` if `text` ends with a file name: a name, a dot and an extension that contains a
/// letter.
fn ends_with_file(text: &[u8]) -> bool {
    let ending = suffix_len(text, u8::is_ascii_alphanumeric);
    let (before, ending) = text.split_at(text.len() - ending);
    (1..=MAX_EXTENSION_CHARS).contains(&ending.len())
        && ending.iter().any(u8::is_ascii_alphabetic)
        && matches!(before, [.., last, b'.'] if last.is_ascii_alphanumeric() || *last == b'_')
}

/// Returns `true` if `is_found` accepts a pair of adjacent bytes of `run`.
fn any_pair(run: &[u8], is_found: impl Fn(u8, u8) -> bool) -> bool {
    let next = run.get(1..).unwrap_or_default();
    // Without an early exit the compiler compares many pairs at once.
    run.iter()
        .zip(next)
        .fold(false, |any, (&one, &other)| any | is_found(one, other))
}

/// Returns the range of the host in `run`: after the slashes of a scheme and a user name, after the
/// `@` of a mail address, or at the start. Excludes the port.
fn host_span(run: &[u8]) -> Span {
    let start = match after_slashes(run) {
        Some(_) => after_userinfo(run),
        None => memchr::memchr(b'@', authority(run, 0).of(run)).map_or(0, |at| at + 1),
    };
    let site = authority(&run[start..], start).of(run);
    let len = memchr::memchr(b':', site).unwrap_or(site.len());
    Span::new(start, start + len)
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
        // Examples use `www.host.myDomain`.
        b"my" => false,
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
        let is_before_word =
            INNER_RULE_SIGNS <= signs.len() && signs[0] != b'_' && starts_capitalized(&path[end..]);
        if b"-_=~*".contains(&signs[0]) && (is_before_word || LONG_RULE_SIGNS <= signs.len()) {
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
    let end = end_before_italics(&run[..end], prior);
    let end = end - shown_path_len(&run[..end], prior);
    if run.is_ascii() {
        return end;
    }
    // The closing partner of the bracket before the URL ends it.
    let partner = last_char(prior).and_then(partner).and_then(|close| {
        memchr::memmem::find(&run[..end], close.encode_utf8(&mut [0; 4]).as_bytes())
    });
    partner.unwrap_or(end)
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

/// Returns the end of the URL before the trailing underscore or slash of `run` that closes italics
/// of several words: `_see http://a.example/b_`, `/get http://a.example/b.zip!/`. Sentence
/// punctuation may follow. A slash ends a folder's path, unless punctuation or a file extension
/// precedes it.
fn end_before_italics(run: &[u8], prior: &[u8]) -> usize {
    let end = run.len() - suffix_len(run, |byte| b".,;:!?)'".contains(byte));
    let Some((&mark @ (b'_' | b'/'), before)) = run[..end].split_last() else {
        return run.len();
    };
    let closes = mark == b'_' || ends_sentence_or_file(before);
    if closes && opens_italics(prior, mark) {
        end - 1
    } else {
        run.len()
    }
}

/// Returns `true` if `url` has a path that ends with sentence punctuation or with a dot and a file
/// extension.
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

/// Opening brackets and quotes outside ASCII, each with its closing partner (Unicode general
/// categories Ps and Pi, Pe and Pf), except those that end every word.
const PARTNERS: &str = "༺༻ ༼༽ ᚛᚜ ⁅⁆ ⁽⁾ ₍₎ ⌈⌉ ⌊⌋ ❨❩ ❪❫ ❬❭ ❮❯ ❰❱ ❲❳ ❴❵ ⟅⟆ ⟦⟧ ⟬⟭ ⟮⟯ ⦃⦄ ⦅⦆ ⦇⦈ ⦉⦊ ⦋⦌ ⦍⦎ \
    ⦏⦐ ⦑⦒ ⦓⦔ ⦕⦖ ⦗⦘ ⧘⧙ ⧚⧛ ⧼⧽ ⸂⸃ ⸄⸅ ⸉⸊ ⸌⸍ ⸜⸝ ⸠⸡ ⸢⸣ ⸤⸥ ⸦⸧ ⸨⸩ ⹕⹖ ⹗⹘ ⹙⹚ ⹛⹜ ︗︘ ︵︶ ︷︸ ︹︺ ︻︼ ︽︾ ︿﹀ ﹁﹂ ﹃﹄ \
    ﹇﹈ ﹙﹚ ﹛﹜ ﹝﹞ ［］ ｟｠";

/// Returns the opening partner of a non-ASCII closing bracket or quote.
fn opener(close: char) -> Option<char> {
    PARTNERS
        .split(' ')
        .find_map(|pair| pair.strip_suffix(close)?.chars().next())
}

/// Returns the closing partner of a non-ASCII opening bracket or quote.
fn partner(open: char) -> Option<char> {
    PARTNERS
        .split(' ')
        .find_map(|pair| pair.strip_prefix(open)?.chars().next())
}

fn end_before_ascii_markup(run: &[u8], prior: &[u8]) -> usize {
    let line = &prior[line_start_of(prior)..];
    let has_open_bracket = || memchr::memrchr2(b'[', b']', line).is_some_and(|at| line[at] == b'[');
    let is_in_tag = is_after_tag(prior);
    let (mut is_bold, mut is_literal, mut brackets) = (None, None, 0usize);
    for (at, &byte) in run.iter().enumerate() {
        let rest = &run[at + 1..];
        let ends = match byte {
            b'[' => {
                brackets += 1;
                is_closing_tag(rest) || is_note(&run[..at], rest)
            }
            b']' if rest.starts_with(&TERMINAL_LINK[1..]) => true,
            // `[text](destination)` and `[text][label]` (CommonMark, section 6.3), whose text is
            // the URL, and `[url=destination]text[/url]` (BBCode).
            b']' if brackets == 0 => {
                is_in_tag
                    || matches!(rest.first(), Some(b'(' | b'['))
                    || has_open_bracket() && rest.first().is_some_and(u8::is_ascii_alphabetic)
            }
            b']' => {
                brackets -= 1;
                false
            }
            b'\\' => {
                is_literal_escape(rest)
                    || is_font_escape(rest)
                    || is_rtf_control_word(rest)
                    || matches!(rest, [b'n' | b'r' | b't', ..])
                        && *is_literal.get_or_insert_with(|| opens_literal(line))
            }
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
/// in a row, one at the end (`\r\n`, `\n`), or the JSON escape of a character that ends a URL.
fn is_literal_escape(rest: &[u8]) -> bool {
    matches!(rest, [b'n' | b'r' | b't'] | [b'n' | b'r' | b't', b'\\', ..])
        // The line end of a calendar (RFC 5545, section 3.3.11).
        || matches!(rest, [b'n', b'+' | b'0'..=b'9' | b'A'..=b'Z', ..])
        || [&b"u003c"[..], b"u003e", b"u0022", b"x3c", b"x3e", b"x22"]
            .iter()
            .any(|code| starts_with_caseless(rest, code))
}

/// Returns `true` if a string literal is open at the end of `line`: it contains an odd number of
/// unescaped quotes.
fn opens_literal(line: &[u8]) -> bool {
    let quotes = memchr::memchr_iter(b'"', line)
        .filter(|&at| at == 0 || line[at - 1] != b'\\')
        .count();
    !quotes.is_multiple_of(2)
}

/// Returns `true` if `text` ends with a `BBCode` tag that only lacks its `]`: `[url=`.
fn is_after_tag(text: &[u8]) -> bool {
    let Some(tag) = text.strip_suffix(b"=") else {
        return false;
    };
    let name = suffix_len(&tag[tag.len().saturating_sub(8)..], u8::is_ascii_alphabetic);
    0 < name && tag[..tag.len() - name].last() == Some(&b'[')
}

/// Returns `true` if `rest`, which follows a `[`, starts with the rest of a closing `BBCode` tag:
/// `/url]`.
fn is_closing_tag(rest: &[u8]) -> bool {
    let Some(name) = rest.strip_prefix(b"/") else {
        return false;
    };
    let letters = prefix_len(&name[..name.len().min(8)], u8::is_ascii_alphabetic);
    0 < letters && name.get(letters) == Some(&b']')
}

/// Returns `true` if `rest`, which follows a `[` after `url`, belongs to a note on the URL. A note
/// is a number (`http://a.example/b[1]`), or a link that a mailer rewrote as its picture or
/// destination (`[Image.jpeg]`, `[http://a.example/b]`).
///
/// A query index (`?a[1]=`), a list of numbers (`0.[123]`) and a VMS folder (`disk:[a.b]`) are
/// parts of a URL.
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
    ends_run(after) && (is_number && !is_index(url) || ends_with_page(content))
}

/// Returns `true` if a number in brackets after `url` can be the index of a query field. The
/// field's value would follow.
fn is_index(url: &[u8]) -> bool {
    memchr::memchr(b'?', url).is_some_and(|query| {
        let field = url[query..]
            .rsplit(|&byte| matches!(byte, b'?' | b'&'))
            .next()
            .unwrap_or_default();
        !field.contains(&b'=') && !field.contains(&b'#')
    })
}

/// Returns `true` if `rest` contains only punctuation and further numbers in brackets.
fn ends_run(rest: &[u8]) -> bool {
    !rest.first().is_some_and(u8::is_ascii_digit)
        && rest
            .iter()
            .all(|byte| byte.is_ascii_digit() || b".,;:!?)'[]*_".contains(byte))
}

/// Returns `true` if `rest`, which follows a backslash, is an RTF control word that a converter
/// left at the end of the run: of a color, size, font or language, or the end of a paragraph.
fn is_rtf_control_word(rest: &[u8]) -> bool {
    const NUMBERED: [&[u8]; 5] = [b"cf", b"fs", b"lang", b"highlight", b"f"];
    const ALONE: [&[u8]; 4] = [b"par", b"pard", b"plain", b"ulnone"];
    let letters = prefix_len(rest, u8::is_ascii_lowercase);
    let (word, after) = rest.split_at(letters);
    let digits = prefix_len(after, u8::is_ascii_digit);
    let known = if digits == 0 { &ALONE[..] } else { &NUMBERED };
    known.contains(&word) && matches!(after.get(digits), None | Some(b'\\' | b'}'))
}

/// Returns `true` if `rest`, which follows a backslash, changes the font in roff (`\fR`). No URL
/// contains that.
fn is_font_escape(rest: &[u8]) -> bool {
    matches!(rest, [b'f', b'B' | b'I' | b'R' | b'P', next @ ..]
        if !next.first().is_some_and(u8::is_ascii_lowercase))
        || rest.starts_with(b"f[")
        || rest.starts_with(b"m[")
}

/// Returns `true` if the asterisk before `rest` can close bold type: another asterisk follows, or
/// no word, or only sentence punctuation.
fn closes_bold(rest: &[u8]) -> bool {
    rest.iter().all(|byte| b".,;:!?)'".contains(byte))
        || rest
            .first()
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"/.-_~%?&=#".contains(byte))
}

/// Number of lines before the URL's line in which bold type or italics may start.
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

/// Returns `true` if `mark` opened italics before the end of `prior`: its last occurrence does not
/// follow a word, and a word that is not a path follows it. Underscores and slashes occur in names
/// as well.
fn opens_italics(prior: &[u8], mark: u8) -> bool {
    let mut words = paragraph_before(prior).split(u8::is_ascii_whitespace).rev();
    // Trimming compares the mark directly before the URL, as in `_http://a.example/b_`.
    if words.next().unwrap_or_default().last() == Some(&mark) {
        return false;
    }
    words.find(|word| word.contains(&mark)).is_some_and(|word| {
        let word = match word.first() {
            Some(b'(' | b'"' | b'\'' | b'*' | b'>') => &word[1..],
            _ => word,
        };
        matches!(word, [first, second, rest @ ..]
            if *first == mark && second.is_ascii_alphabetic() && !rest.contains(&mark))
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
        && !continues_title(first, before, rest)
        && starts_text(first, before, rest, text);
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
/// `rest` starts with `first`.
fn continues_title(first: char, before: &[u8], rest: &[u8]) -> bool {
    /// Maximum number of letters of an abbreviation.
    const LETTERS: usize = 4;
    let capitals = suffix_len(before, u8::is_ascii_uppercase);
    let path = &before[..before.len() - capitals];
    let is_title = match capitals {
        1 => path.ends_with(b"/") && !path.ends_with(b"//"),
        2..=LETTERS => path.ends_with(b"/wiki/"),
        _ => false,
    };
    is_title && is_of_other_script(first) && !is_hiragana(first) && !is_particle(first, rest)
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
    let is_latin = matches!(
        u32::from(first),
        0xAA | 0xBA | 0xC0..=0x2FF | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF
            | 0xFB00..=0xFB06
    );
    first.is_alphanumeric() && !is_latin
}

/// Returns `true` for hiragana, and for katakana that cannot start a word.
fn is_hiragana(first: char) -> bool {
    matches!(first, '\u{3041}'..='\u{309F}' | 'ヲ' | 'ン' | 'ー')
}

/// Returns `true` if `rest`, which starts with the non-ASCII character `first`, starts the text
/// after the URL `before`: no URL continues there with a character of its kind.
fn starts_text(first: char, before: &[u8], rest: &[u8], text: WordInText<'_>) -> bool {
    /// Kana that cannot start a word: the particle `wo`, small kana, `n`, and the long vowel mark.
    const INNER_KANA: &str = "をんヲンーぁぃぅぇぉっゃゅょ";
    let site = &before[after_slashes(before).unwrap_or(0)..];
    if is_symbol(first) {
        return !site.is_empty();
    }
    let follows_word = before.last().is_some_and(u8::is_ascii_alphanumeric);
    let is_letter = is_of_other_script(first);
    if is_letter && follows_word && is_unescaped(before) {
        return true;
    }
    // Japanese has no spaces between words, so particles directly follow a URL.
    let is_kana = matches!(first, '\u{3041}'..='\u{30FF}');
    // Dashes of sentences are not allowed in a host.
    let is_dash = matches!(first, '\u{2012}'..='\u{2015}');
    let Some(path) = memchr::memchr3(b'/', b'?', b'#', site) else {
        // A top-level domain has one script.
        let is_site = names_site(host_span(before).of(before));
        return is_site && is_dash
            || (is_site && is_letter || is_kana && follows_word) && !is_host_label(rest);
    };
    // After a slash or another delimiter, kana may start a path segment.
    if is_kana
        && (follows_word
            || INNER_KANA.contains(first)
            || path + 1 == site.len() && is_hiragana(first))
    {
        return true;
    }
    if memchr::memchr3(b'?', b'#', b'%', &site[path..]).is_some() {
        return false;
    }
    // In a path, words in Arabic and Hebrew follow a slash or hyphen: 21 places in Arabic.
    follows_word && ('\u{590}'..='\u{6FF}').contains(&first)
        || memchr::memchr3(b'/', b'?', b'=', rest).is_none()
            && (ends_with_page(before) && (is_letter || is_dash)
                || may_precede_particle(before) && is_particle(first, rest)
                || is_letter && follows_word && continues_line(text))
}

/// Returns `true` if a dot and another label follow in the host that `rest` is part of. A dot
/// after `www.` belongs to another host.
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

/// Returns `true` if a particle may follow the URL `before`. After a hyphen or an underscore, or
/// as a title (after `/wiki/`), it is a word of the path.
fn may_precede_particle(before: &[u8]) -> bool {
    before
        .last()
        .is_some_and(|last| last.is_ascii_alphanumeric() || matches!(last, b'/' | b')'))
        && !before.ends_with(b"/wiki/")
}

/// Korean particles that follow nouns and names.
const PARTICLES: &str = "은 는 이 가 을 를 의 에 와 과 로 도 만 으로 에서 에는 에도 입니다";

/// Returns `true` if `rest`, which starts with `first`, is a Korean particle and punctuation.
fn is_particle(first: char, rest: &[u8]) -> bool {
    let punctuation = suffix_len(rest, |byte| b".,;:!?)'".contains(byte));
    let word = &rest[..rest.len() - punctuation];
    ('가'..='힣').contains(&first) && PARTICLES.split(' ').any(|known| known.as_bytes() == word)
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

/// Returns `true` if the word ends its line or an East Asian sentence, and letters of another
/// script precede it in the line. If a space or a delimiter follows the word, its letters belong to
/// the URL.
fn continues_line(text: WordInText<'_>) -> bool {
    let line = &text.prior[line_start_of(text.prior)..];
    let ends_line = match text.after.first() {
        None | Some(b'\r' | b'\n') => true,
        Some(after) => !after.is_ascii() && 0 < word_terminator_len(text.after, Rules::Wide),
    };
    ends_line
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
        (None, BareRequirement::News) => match memchr::memchr(b'@', rest) {
            Some(at) => {
                let end = end_of_site(word, Span::new(begin + at + 1, word.len()))?;
                return (end < word.len()).then_some(end);
            }
            None => end_of_group(word, begin),
        },
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

/// Returns the end of the newsgroup at `begin`, before a character that is not allowed in one. A
/// wildcard after a dot is part of the name.
fn end_of_group(word: &[u8], begin: usize) -> usize {
    let end = begin
        + prefix_len(&word[begin..], |byte| {
            byte.is_ascii_alphanumeric() || b".-+_".contains(byte)
        });
    let is_name = word[..end].last().is_some_and(u8::is_ascii_alphanumeric);
    if is_name { end } else { word.len() }
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
        let cases = "http://a.example/b‖. http://a.example/b‖?! http://a.example/b‖'";
        cases.split(' ').for_each(|case| check(&format!(" {case}")));
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
    fn closing_partners_outside_ascii_are_trimmed() {
        for pair in PARTNERS.split(' ') {
            let mut chars = pair.chars();
            let (open, close) = (chars.next().unwrap(), chars.next().unwrap());
            assert_eq!((partner(open), chars.next()), (Some(close), None));
            check(&format!(" http://a.example/b‖{close}{close}."));
            check(&format!(" http://a.example/{open}b{close}‖"));
            check_markup(&format!("{open}«http://a.example/b»{close}c"));
        }
    }

    #[test]
    fn a_word_glued_to_the_url_is_excluded() {
        let cases = "http://a.com‖Please mailto:joe@a.com.sg‖Surfer's www.a.net‖Your/b \
            http://a.example/b.html‖Vote http://a.example/b.htm‖Vote http://www.a.de‖Bitte \
            http://a.example/b.htmlx‖ http://a.example/b.htmlVOTE‖ \
            http://a.example/b.cgi?x.htmlFile=3‖ http://a.example/b.cgi?x=y.htmlFile‖ \
            http://a.example/b.cgi?x=y.htmlhere‖ http://a.example/b#c.htmlhere‖ \
            http://a.example/b.htmlhere/c‖ http://a.example/MyPage.comPlease‖ http://a.Company‖ \
            http://www.ACompany.com‖ http://a.example/b----c‖ http://www.netScape/b‖ \
            http://server.myDomain/b‖ http://www.server.myDomain/b‖ \
            http://Server.inHouse:8080/b‖";
        cases.split(' ').for_each(|case| check(&format!(" {case}")));
        check(&format!(" http://a.example/?c=2‖{}Visit", "-".repeat(12)));
        check(&format!(" http://a.example/?c=2‖{}more", "_".repeat(24)));
        check(&format!(" http://a.example/b{}c.html‖", "-".repeat(12)));
        check(&format!(
            " http://a.example/?b=ARo{0}AQ{0}8B&c=1‖",
            "_".repeat(12)
        ));
    }

    #[test]
    fn a_guessed_end_has_another_reading() {
        for (word, after, url) in [
            (
                "http://a.example/b.htmlsays",
                " ",
                "http://a.example/b.html",
            ),
            ("http://a.example/SALE", "<lt>", "http://a.example/SAL"),
        ] {
            let text = WordInText {
                word: word.as_bytes(),
                prior: b" ",
                after: after.as_bytes(),
            };
            let end = end(text, Rules::Wide);
            assert_eq!((end.url, end.other), (url.len(), Some(word.len())));
        }
    }

    #[test]
    fn a_word_glued_to_a_bracket_page_or_gateway_link_is_excluded() {
        let cases = "http://a.example/b.html‖here http://a.example/b.html‖(for \
            http://a.example/b[0]/‖{x http://a.example/?b={c‖ http://a.example/b_(c)[d]‖";
        cases.split(' ').for_each(|case| check(&format!(" {case}")));
        check_markup("(see «http://a.example/b#c»).There");
        check_markup("(see «http://a.example/b»)and");
        check_markup("see «http://a.example/b)and»");
        check(
            " https://a.safelinks.protection.outlook.com/?url=https%3A%2F%2Fb.example&sdata=c&reser\
             ved=0‖Thanks",
        );
        check(
            " https://urldefense.com/v3/__https://b.example/lamps/and/oil.html__;!!a!token-of-the-m\
             essage$‖Thanks",
        );
    }

    #[test]
    fn surrounding_markup_ends_the_url() {
        let cases = "[[«http://a.example/b»|c [[«http://a.example/?b=1»|c \
            [«http://a.example/?b=1»|c [«http://a.example/?b=1|2|3» \
            {{cite|url=«http://a.example/b»|title=c {{cite|url=«http://a.example/?b»|title=c \
            |«http://a.example/b»|12| «http://a.example/b|12» «http://a.example/b|c» \
            «http://a.example/?b=0:|c|d&e=f» «http://a.example/b»|+49 <«http://a.example/?b»|c \
            «http://a.example/?b|sh» «http://a.example/b»&&make «http://a.example/?b=c»&& \
            «http://a.example/?b&&c=d» {code}«http://a.example/b/»{code} \
            «http://a.example/b»{quote}c {color:red}«http://a.example/b»{color} \
            «http://a.example/b»{*} «http://a.example/{code}» «http://a.example/b{id}» \
            @uref{«http://a.example/b»,,c {«http://a.example/b,c» «http://a.example/b»[c-d]. \
            «http://a.example/b/»[] «http://a.example/?b=c»[d^] «http://a.example/b[c]» \
            «http://a.example/?b[c]» «http://a.example/b[c]/d» «http://a.example/#b=c[d,e]» \
            «http://a.example|@b.example/c» «http://a.example{code}@b.example/» \
            «http://a&&b:c@d.example/» «mailto:a&&b@c.example» «mailto:a@b.example»|bc@d.example \
            «file:///C|/b»";
        cases.split(' ').for_each(check_markup);
        check_markup("curl «http://a.example/?b»|sh");
        let pod = |after: &str| {
            let text = WordInText {
                word: b"http://a.example/bE",
                prior: b"E<lt>",
                after: after.as_bytes(),
            };
            end(text, Rules::Wide).url
        };
        assert_eq!((pod("<gt>"), pod("<br>")), (18, 19));
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
            ("\"", "http://a.example/b[cd]", "\"", true),
            ("\"", "http://a.example/b|cd", "\"", true),
            ("\"", "http://a.example/b|cd", " ", false),
        ] {
            let text = WordInText {
                word: word.as_bytes(),
                prior: prior.as_bytes(),
                after: after.as_bytes(),
            };
            let found = end(text, Rules::Wide);
            assert_eq!(found.url == word.len(), whole, "{prior}{word}{after}");
            assert!(found.other.is_some() || word.ends_with(']'));
        }
    }

    #[test]
    fn file_positions_and_terminal_links_are_excluded() {
        let cases = "http://a.example/b.js‖:41:9 http://a.example/b.js‖:41: \
            http://localhost:3000/b.js‖:41:9 news://news://nntp.a.example:119‖ \
            http://a.example/b:41‖ http://a.example:80‖";
        cases.split(' ').for_each(|case| check(&format!(" {case}")));
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
        assert_eq!(end("\u{8acb}\u{770b}", "\u{3002}"), short);
        assert_eq!(end("\u{8acb}\u{770b} ", " "), long);
        assert_eq!(end("\u{8acb}\n", "\n"), long);
        assert_eq!(end("see ", "\n"), long);
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
    fn unescaped_letters_after_an_escaped_url_are_excluded() {
        let cases = "http://a.example/%D9%86%D8%AA/x‖منشور \
            http://a.example/%d9%86?ref=internal‖منشور http://a.example/%E4%B8%AD/12‖是一个 \
            http://a.example/%E4%B8%AD是一个‖ http://a.example/%D9%86/منشور‖ \
            http://a.example/%D9%86-منشور‖ \
            http://a.example/%C3%A9té‖ http://a.example/a%20b?q=cمنشور‖";
        cases.split(' ').for_each(|case| check(&format!(" {case}")));
    }

    #[test]
    fn markup_around_the_url_is_trimmed() {
        check("*https://a.example/b‖**](https://a.example/b)");
        check("\"http://a.example/b‖.\\n");
    }

    #[test]
    fn a_list_item_ends_before_the_next_url() {
        let cases = "http://a.example/‖,http://b.example/ \
            http://web.example/2001/http://b.example/‖ http://a.example/?u=http://b.example‖ \
            http://a.example/‖&gt; http://a.example/?b=c&amp;‖ http://a.example/?b=c&amp‖ \
            http://a.example/b.html‖/http://b.example/ http://a.example/b/‖http://a.example/b/c \
            http://a.example/lamps-and-oil/‖https://b.example/ \
            http://a.example/b.cgi/http://b.example/‖ \
            http://a.example/nph-proxy/http://b.example/‖ \
            http://a.example/b/http://b.example/c.html‖ http://a.example/http://b.example/‖ \
            http://a.example/http://a.examples/‖ http://a.example/b.html/ftp://b.example/‖ \
            http://a.example/?u=http://b.example/c.html/http://d.example/‖ \
            http://a.example/b‖请看http://b.example/c http://a.example/b‖\u{2014}ftp://b.example/c \
            http://a.example/请看‖http://b.example/c http://a.example/?u=请看http://b.example/c‖ \
            http://a.example/b请看wais://b.example/c‖";
        cases.split(' ').for_each(|case| check(&format!(" {case}")));
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
        let cases = "http://www.a.exampleé/ http://www.a.example请看.example/ http://a例.example/ \
            http://localhost例/ http://a.example/b.html例/c.html http://a.example/b.htmlé \
            http://a.example/b\u{2013}c http://b.日本/路 http://日本/路.html";
        for whole in cases.split(' ') {
            check_markup(&format!("«{whole}»"));
        }
    }

    #[test]
    fn a_dash_after_a_host_and_text_after_an_ip_address_are_excluded() {
        let cases = "«http://www.a.example»\u{2014}the «http://www.a.example»\u{2013}b.example/ \
            «http://a.example/b.html»\u{2014}it «http://192.0.2.1»请看 «http://192.0.2.1/请看» \
            «http://www.a.example»或www.b.example吧 «http://www.a.example»またはwww.b.exampleを";
        cases.split(' ').for_each(check_markup);
    }

    #[test]
    fn a_korean_particle_ends_the_url() {
        let cases = "«http://a.example/b12»를 «http://a.example/b/»에서. «http://a.example/b12»는 \
            «http://a.example/c언어» «http://a.example/?q=c는» «http://a.example/b_(c)»를 \
            «http://a.example/b-에서» «http://a.example/b_를» «http://ko.a.example/wiki/이»";
        cases.split(' ').for_each(check_markup);
    }

    #[test]
    fn kana_ends_an_ascii_url() {
        let cases = "«http://a.example/b.html»です。 «http://a.example»をご覧 «http://a.example/»をご覧 \
            «http://a.example/b/»をご覧 «http://a.example/wiki/カタカナ» «http://a.example/wiki/ひらがな» \
            «http://wwwテスト.example/» «http://テスト.example/» «http://a.example/日本のb»";
        cases.split(' ').for_each(check_markup);
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
        check_refusal("news:comp.lang.c's", Some("news:comp.lang.c"));
        check_refusal("news:comp.lang.*", None);
    }
}
