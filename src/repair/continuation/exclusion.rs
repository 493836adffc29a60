//! Line breaks that cannot belong to a URL, whatever their features.

use memchr::memmem;

use super::line_break::{BROKEN_COLUMNS, FollowingLine, LineBreak};
use super::line_layout::{
    FILLED_COLUMNS, WIDEST_COLUMNS, columns, holds_url, indentation, trim_end,
};
use super::token::ContinuationToken;
use super::url_head::UrlHead;
use crate::repair::quote_marks::UNICODE_BAR;
use crate::repair::{ends_with_page, is_blank};

/// Number of bytes after the token in which blanks are ignored, so that a scheme or host whose
/// delimiter stands between blanks is seen: ` [dot]`.
const SPACED_BYTES: usize = 6;

/// Returns `true` if the token cannot belong to the URL, whatever the other features.
pub(super) fn is_impossible(
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) -> bool {
    let url = head.url;
    let ends_with = |bytes: &[u8]| head.ends_with(bytes);
    // Conditions are evaluated in the order of the expression below.
    // A URL inside the URL may be broken before its slashes.
    let inner_slashes = || token.all.starts_with(b"//") && ends_with(b"-=:");
    let path_list = || token.first() == b'/' && line_break.follow() == FollowingLine::Slash;
    // `name="value"`: the next attribute of the element that has the URL as an attribute.
    let attribute = |value: &[u8]| matches!(value, [] | [b'\'', ..]) && !ends_with(b"?&");
    // `; name=value`: a parameter of the header field that contains the URL.
    let parameter = || ends_with(b";") && !url.contains(&b'?');
    // `, name=http://...`: the next of several URLs.
    let section = || {
        !line_break.whole_line
            && token.is_section_number()
            && url.last().is_some_and(u8::is_ascii_alphanumeric)
    };
    // One site under the other: on short lines, or before a third one.
    let is_short = || columns(line_break.upper_line()) < FILLED_COLUMNS;
    let is_before_site = || line_break.whole_line && line_break.follow() == FollowingLine::Site;
    let begins_site =
        || head.ends_with_alnum() && token.begins_host() && !head.is_host_incomplete();
    let listed = || ends_with(b",;") && holds_url(token.all);
    let word_as_host = || head.is_scheme() && !token.names_host();
    // A URL that begins in ASCII continues in ASCII.
    let foreign = || !token.all.is_ascii() && url.is_ascii();
    // `http://` alone continues with the host, whatever it is called.
    let another = || token.begins_url() && !(head.is_scheme() && token.begins_host_label());
    // Only a host that was cut at its punctuation goes on with a dot in brackets.
    let defanged = |token: &ContinuationToken<'_>| match token.defanged_delimiter() {
        Some(b'.') => !head.is_cut_in_host(),
        delimiter => delimiter.is_some(),
    };
    // `http ://a.example`, `a [.] example`
    let spaced = || {
        let mut begin = line_break.token_and(SPACED_BYTES).to_vec();
        begin.retain(|&byte| !is_blank(byte));
        ContinuationToken::new(&begin).is_some_and(|token| token.begins_url() || defanged(&token))
    };
    another()
        || defanged(token)
        || !line_break.whole_line && spaced()
        || word_as_host()
        || token.begins_location()
        // A heading is no name of a page.
        || line_break.is_heading_of_site() && !ends_with_page(token.all)
        || is_separator(line_break, head, token)
        || is_reference(head, token)
        || is_other_notation(line_break, head, token)
        || listed()
        || begins_site() && (is_short() || is_before_site())
        || section()
        || token.is_punctuation() && !is_lone_end(line_break, head, token)
        || token.is_heading()
        || token.is_property()
        || is_after_rule(url)
        || is_line_number(line_break, token)
        || is_serial_number(line_break, token)
        || token.is_rule() && !inner_slashes()
        || path_list()
        || token.assigned_value().is_some_and(|value| attribute(value) || parameter())
        || foreign()
}

/// Returns `true` if the token is the last character of the URL, alone on its line after a full line
/// or a continued one: the slash after a path, or the `=` after the name of a field.
///
/// Between two sites a slash separates them, and before a line that begins with a slash it is the
/// first of a list.
fn is_lone_end(
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) -> bool {
    let is_open = || {
        let width = columns(line_break.upper_line());
        line_break.is_continued() || (FILLED_COLUMNS..=WIDEST_COLUMNS).contains(&width)
    };
    let is_listed = || {
        matches!(
            line_break.follow(),
            FollowingLine::Site | FollowingLine::Slash
        )
    };
    let is_missing = match token.bare {
        b"/" => head.ends_with_alnum() && !head.has_query() && !head.ends_with_file(),
        b"=" => head.ends_with_field_name(),
        _ => false,
    };
    is_missing && line_break.whole_line && is_open() && !is_listed()
}

/// Returns `true` if the token begins with a `;`, `:` or `@` that cannot continue the URL.
fn is_separator(
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) -> bool {
    match token.first() {
        b';' => !(token.begins_parameter() && head.has_query()),
        b':' => !(token.begins_port() && head.is_host() && !head.has_port()),
        // The rest of a Message-ID, or a name in a path; not a decorator, a hunk of a diff or a
        // person who is addressed.
        b'@' => {
            let address = token.begins_address_host() && head.ends_with_alnum();
            let name = token.begins_name_in_path() && head.ends_with(b"/");
            !(address || name) || !line_break.whole_line && !head.ends_with(b"/")
        }
        _ => false,
    }
}

/// Returns `true` if the URL is a git repository and the token a branch or tag of it. Nothing but a
/// page of a web interface continues such a URL.
fn is_reference(head: &UrlHead<'_>, token: &ContinuationToken<'_>) -> bool {
    let slash = head.ends_with(b"/");
    let repository =
        head.ends_with_repository() && (token.is_reference() || !token.is_repository_page(slash));
    repository || token.is_reference() && head.ends_with_alnum()
}

/// Minimum number of hyphens or underscores of a rule that was glued to the end of a URL.
const RULE_CHARS: usize = 4;

/// Returns `true` if the URL ends with a rule of hyphens or underscores.
fn is_after_rule(url: &[u8]) -> bool {
    let is_rule =
        |sign: u8| RULE_CHARS <= url.iter().rev().take_while(|&&byte| byte == sign).count();
    is_rule(b'-') || is_rule(b'_')
}

/// Returns `true` if the lines are numbered, and the token is the number of its line: as many
/// digits as the number before the URL, and a greater number.
fn is_line_number(line_break: &LineBreak<'_>, token: &ContinuationToken<'_>) -> bool {
    let before = line_break.before_url();
    let before = &before[indentation(before)..];
    let digits = before
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (number, after) = before.split_at(digits);
    2 <= digits
        && after.first().is_none_or(|&byte| is_blank(byte))
        && token.all.len() == digits
        && token.all.iter().all(u8::is_ascii_digit)
        && number < token.all
}

/// Returns `true` if the token is a serial number below a URL alone on a line that is too short to
/// have been broken. Programs that send mail in bulk end each copy with one
/// (`5275MPdA5-850BRBf9054xgTa4`).
fn is_serial_number(line_break: &LineBreak<'_>, token: &ContinuationToken<'_>) -> bool {
    !line_break.is_continued()
        && token.is_serial_number()
        && trim_end(line_break.before_url()).is_empty()
        && columns(line_break.upper_line()) < BROKEN_COLUMNS
}

/// Returns `true` if the line of the token is written in another notation: a line of a diffstat
/// (`name | 12 +-`) or of a table, a directive of the C preprocessor, a request of roff, a line of
/// a patch with another sign, the prompt of a shell, a variable that is set, or a comment or command
/// that begins with a number sign and a word.
fn is_other_notation(
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) -> bool {
    let rest = line_break.rest();
    let rest = &rest[indentation(rest)..];
    let cells = |line: &[u8]| {
        memchr::memchr_iter(b'|', line).count() + memmem::find_iter(line, UNICODE_BAR).count()
    };
    let diffstat = rest.strip_prefix(b"|").is_some_and(|count| {
        let count = &count[indentation(count)..];
        count.first().is_some_and(u8::is_ascii_digit) || count.starts_with(b"Bin ")
    });
    // One bar alone is a pipe of a shell.
    let table = (rest.starts_with(b"|") || rest.starts_with(UNICODE_BAR))
        && 2 <= cells(rest) + cells(line_break.before_url());
    // Parameters are joined by `&` and follow a `?`.
    let variable = token.is_variable() && !head.has_query();
    let roff = token.is_roff() && line_break.lower_indentation().is_empty();
    // A query may go on with the `+` that stands for a blank.
    let plus = token.first() == b'+' && !head.has_query();
    let minus = matches!(token.all, [b'-', b'\'' | b'"', ..]);
    let command = token.first() == b'#'
        && !line_break.whole_line
        && line_break
            .rest()
            .first()
            .is_some_and(|byte| is_blank(*byte));
    diffstat
        || table
        || variable
        || roff
        || plus
        || minus
        || command
        || token.is_prompt()
        || token.is_directive()
        || line_break.changes_in_diff()
}
