//! Extracts the features of one line break.

#[cfg(test)]
mod tests;

use memchr::memmem;

use super::exclusion::is_impossible;
use super::line_break::{FollowingLine, LineBreak};
use super::line_width::{
    FILLED_COLUMNS, WIDEST_COLUMNS, columns, indentation, prose_columns, trim_end,
};
use super::soft_break::SoftBreak;
use super::token::{ContinuationToken, LONG_TOKEN};
use super::url_head::UrlHead;
use crate::repair::line::is_blank;

use super::{Continuation, Feature, Features};

/// Minimum number of columns of a line that no program breaks before a short word.
const FULL_COLUMNS: usize = 70;

/// Numbers of columns at which programs cut words: Outlook at 76; pine, terminals and programs of USENET at 79 or 80.
const CUT_COLUMNS: [usize; 3] = [76, 79, 80];

/// Numbers of columns of lines that end with a soft `=`. Quoted-printable lines have at most 76 characters (RFC 2045,
/// section 6.7), and encoders differ in what they count.
const SOFT_COLUMNS: std::ops::RangeInclusive<usize> = 70..=79;

/// U+00AD, which is visible only where a line was broken at it.
const SOFT_HYPHEN: &[u8] = "\u{AD}".as_bytes();

/// Number of bytes after the token that are searched for the partner of a bracket before the URL: a full stop and the
/// bracket.
const CLOSER_BYTES: usize = 2;

/// Evaluates the continuation of `url` by the token after `line_break`. `None` if it is impossible or has fewer than
/// `least_points`.
pub(super) fn evaluate(
    line_break: &LineBreak<'_>,
    url: &[u8],
    least_points: f32,
) -> Option<Continuation> {
    let token = ContinuationToken::new(line_break.token_and(0))?;
    let head = UrlHead::new(url)?;
    if is_impossible(line_break, &head, &token) {
        return None;
    }
    let dropped = leftover_bytes(line_break, url);
    let head = match dropped {
        0 => head,
        _ => UrlHead::new(&url[..url.len() - dropped])?,
    };
    if head.is_mailbox() && !head.address_continues(&token) {
        return None;
    }
    let mut features = Features::default();
    features.add([(Feature::Bias, true), (Feature::SoftLineEnd, dropped > 0)]);
    add_head(&mut features, &head, &token);
    add_line(&mut features, line_break, &head, &token);
    add_token(&mut features, line_break, &head, &token);
    add_layout(&mut features, line_break, &head);
    // Last, because the width of the surrounding prose is expensive to compute and can only lower the sum.
    if features.points() >= least_points {
        let was_cut = features.has(Feature::CutColumn) && is_rejoined_cut(line_break);
        let has_room = !was_cut && has_room_for(line_break, &token);
        features.add([(Feature::RoomForToken, has_room)]);
    }
    (features.points() >= least_points).then_some(Continuation {
        token: line_break.token,
        dropped,
        quoted: line_break.marks.quoted,
        whole_line: line_break.whole_line,
        features,
    })
}

/// Number of bytes (0 to 2) at the end of `url` that a program inserted to break the line: the soft `=` of quoted-printable,
/// the `\` by which programs and shells join lines, or a soft hyphen.
fn leftover_bytes(line_break: &LineBreak<'_>, url: &[u8]) -> usize {
    let is_soft = |line: &[u8]| line.ends_with(b"=") && SOFT_COLUMNS.contains(&columns(line));
    let holds = |line: &[u8], escape: &[u8]| memmem::find(line, escape).is_some();
    // The `=` may belong to a query, unless nearby lines show the same encoding.
    let encoded =
        |line: &[u8]| is_soft(trim_end(line)) || holds(line, b"=3D") || holds(line, b"=20");
    let soft = is_soft(line_break.upper_line())
        && (!url.contains(&b'?') || holds(url, b"=3D") || line_break.nearby().any(encoded));
    if url.ends_with(SOFT_HYPHEN) {
        SOFT_HYPHEN.len()
    } else {
        usize::from(url.ends_with(b"\\") || soft)
    }
}

/// Adds the features of the end of the URL, without the leftover byte.
fn add_head(features: &mut Features, head: &UrlHead<'_>, token: &ContinuationToken<'_>) {
    let host_continues = head.host_continues(token);
    let inside_query = head.ends_inside_query(token);
    features.add([
        (Feature::EndsWithHyphen, head.ends_with(b"-")),
        (Feature::EndsInsideQuery, inside_query),
        (Feature::CompletesCommit, head.commit_continues(token)),
        (Feature::EndsWithIdentifier, head.ends_with_identifier()),
        (Feature::EndsWithPunctuation, head.ends_with(b",;:!)'*]}")),
        (
            Feature::EndsInsideEscape,
            head.ends_inside_escape() && token.first().is_ascii_hexdigit(),
        ),
        (Feature::AwaitsCommit, head.awaits_commit(token)),
        (
            Feature::EndsWithFileExtension,
            head.ends_with_file()
                && !token.begins_query()
                && !inside_query
                && !token.completes_extension(head.url),
        ),
        (
            Feature::EndsWithHost,
            head.ends_with_host() && !token.follows_host(),
        ),
        (Feature::EndsInsideHost, host_continues),
        (Feature::EndsAfterScheme, host_continues && head.is_scheme()),
    ]);
}

/// Adds the features of the two lines: their width and other text.
fn add_line(
    features: &mut Features,
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) {
    let width = columns(line_break.upper_line());
    let was_cut = is_rejoined_cut(line_break);
    let soft_break = SoftBreak::at(line_break);
    let of_its_own = token.is_stop_word() || token.is_address() && !head.ends_with(b"-");
    let alone = line_break.whole_line && !of_its_own;
    features.add([
        (
            Feature::ShortLine,
            width < FULL_COLUMNS && head.ends_with_alnum() && !was_cut,
        ),
        (
            Feature::OverlongLine,
            width > WIDEST_COLUMNS && head.ends_with_alnum(),
        ),
        (
            Feature::CutColumn,
            (CUT_COLUMNS.contains(&width) || was_cut) && head.ends_with_alnum(),
        ),
        (
            Feature::BrokenInsideWord,
            soft_break == Some(SoftBreak::InsideWord),
        ),
        (
            Feature::BrokenAtBlank,
            soft_break == Some(SoftBreak::AtBlank),
        ),
        (
            Feature::FullLine,
            (FILLED_COLUMNS..=WIDEST_COLUMNS).contains(&width),
        ),
        (
            Feature::UrlStartsLine,
            line_break.is_continued() || is_bullet(line_break.before_url()),
        ),
        (Feature::AlreadyContinued, line_break.is_continued()),
        (Feature::TokenAlone, alone),
        (
            Feature::CapitalBeforeText,
            !line_break.whole_line
                && token.first().is_ascii_uppercase()
                && !head.ends_with(b"-")
                && !token.has_delimiter_inside(),
        ),
        (
            Feature::EndsParagraph,
            line_break.follow == FollowingLine::Blank,
        ),
    ]);
}

/// Adds the features of the token. Uses those of the URL and its line.
fn add_token(
    features: &mut Features,
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) {
    // A fragment that other text follows is more often a number sign before a word.
    let hash = token.first() == b'#' && !line_break.whole_line;
    let parameter = token.begins_parameter() || token.begins_port();
    let query = token.begins_query() && !hash || parameter || token.begins_address_host();
    let extension = token.has_extension(head.url);
    let label = token.is_labelled() && !features.has(Feature::EndsInsideHost);
    let joint = head.ends_with(b"@=");
    let host = token.begins_host() && !head.is_host_incomplete() && !joint;
    let punctuation = query || token.begins_path() || token.has_delimiter_inside();
    features.add([
        (Feature::TokenEndsWithExtension, extension),
        (Feature::TokenHasUrlPunctuation, punctuation),
        (
            Feature::TinyToken,
            line_break.whole_line
                && token.is_tiny()
                && FILLED_COLUMNS <= columns(line_break.upper_line()),
        ),
        (Feature::TokenBeginsQuery, query),
        (
            Feature::TokenBeginsExtension,
            query && token.first() == b'.',
        ),
        (Feature::TokenHasTwoDelimiters, token.delimiters() >= 2),
        (Feature::MixedToken, token.is_mixed()),
        (Feature::HyphenatedToken, token.is_hyphenated()),
        (
            Feature::WordBeforeText,
            line_break
                .rest()
                .first()
                .is_some_and(|byte| is_blank(*byte))
                && !line_break.whole_line
                && token.is_small_word()
                && !extension
                && !head.ends_with(b"-"),
        ),
        (Feature::LongToken, columns(token.all) >= LONG_TOKEN),
        (
            Feature::NumberToken,
            head.ends_with(b"/-") && token.is_identifier(),
        ),
        (
            Feature::PathAfterHost,
            head.ends_with_host() && token.first() == b'/' && token.begins_path()
                || head.is_host() && token.begins_port(),
        ),
        (
            Feature::CompoundToken,
            head.ends_with(b"/")
                && features.has(Feature::FullLine)
                && line_break.follow != FollowingLine::Alike
                && token.is_compound(extension),
        ),
        (Feature::TokenEndsWithSlash, token.bare.ends_with(b"/")),
        (
            Feature::CapitalizedToken,
            token.is_capitalized() && !head.ends_with(b"-") && !head.ends_inside_escape(),
        ),
        (Feature::FieldLabel, token.all.ends_with(b":") || label),
        (Feature::StopWord, token.is_stop_word()),
        (
            Feature::AddressToken,
            token.is_address() && !head.ends_with(b"-") && !head.is_mailbox(),
        ),
        (
            Feature::WordPair,
            token.is_word_pair() && head.ends_with_alnum(),
        ),
        (Feature::Code, token.is_code() || is_code_line(line_break)),
        (Feature::HostToken, host),
        (Feature::SiteList, host && features.has(Feature::ShortLine)),
    ]);
}

/// Adds the features of the layout: brackets and indentation.
fn add_layout(features: &mut Features, line_break: &LineBreak<'_>, head: &UrlHead<'_>) {
    let upper = columns(line_break.upper_indentation());
    let lower = columns(line_break.lower_indentation());
    let url = columns(line_break.before_url());
    let under_url = url > 0 && lower.abs_diff(url) <= 1;
    // Indentation behind other quote marks says nothing: a program that breaks a quoted line leaves the rest unquoted.
    let same = line_break.marks.same;
    let list = line_break.whole_line && line_break.follow == FollowingLine::Alike;
    features.add([
        (Feature::BlankBetween, line_break.marks.blank_between),
        (Feature::FoldedProperty, is_folded_property(line_break)),
        (Feature::ClosingQuote, is_quote_closed(line_break, head)),
        (
            Feature::ListOfNames,
            list && line_break.lower_columns() < FILLED_COLUMNS && !line_break.ends_open(),
        ),
        (Feature::ClosingPartner, is_closed(line_break, head)),
        (Feature::LessIndented, same && lower < upper),
        (
            Feature::MoreIndented,
            same && (lower > upper || lower == upper && under_url),
        ),
    ]);
}

/// Returns `true` if the quote before the URL is closed directly after the token.
fn is_quote_closed(line_break: &LineBreak<'_>, head: &UrlHead<'_>) -> bool {
    line_break.opener().is_some_and(|quote| {
        b"'\"".contains(&quote)
            && !head.url.contains(&quote)
            && (line_break.rest().first() == Some(&quote)
                || line_break.token_and(0).ends_with(&[quote]))
    })
}

/// Returns `true` if the line of the URL begins with the name of a property, in capitals, and a `:` or `;`, and the lower
/// line is indented by one blank more.
fn is_folded_property(line_break: &LineBreak<'_>) -> bool {
    let before = line_break.before_url();
    let before = &before[indentation(before)..];
    let name = before
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase() || **byte == b'-')
        .count();
    let deeper =
        columns(line_break.upper_indentation()) + 1 == columns(line_break.lower_indentation());
    2 <= name && matches!(before.get(name), Some(b':' | b';')) && deeper && line_break.marks.same
}

/// Returns `true` if the lower line ends like a line of code: with a `;` or a brace after other text.
fn is_code_line(line_break: &LineBreak<'_>) -> bool {
    let rest = trim_end(line_break.rest());
    rest.ends_with(b";") || rest.ends_with(b"{") || rest.starts_with(b" = ")
}

/// Returns `true` if the bracket or quote before the URL is closed in or right after the token, and not in the URL.
fn is_closed(line_break: &LineBreak<'_>, head: &UrlHead<'_>) -> bool {
    let close = match line_break.opener() {
        Some(b'(') => b')',
        Some(b'[') => b']',
        Some(b'{') => b'}',
        Some(quote @ (b'\'' | b'"')) => quote,
        _ => return false,
    };
    let open = line_break.opener().unwrap_or(close);
    let count = |text: &[u8], bracket: u8| memchr::memchr_iter(bracket, text).count();
    let token = line_break.token_and(CLOSER_BYTES);
    let own = if open == close { 0 } else { count(token, open) };
    !head.url.contains(&close) && own < count(token, close)
}

/// Returns `true` if the text before the URL on its line is only numbers, bullets, brackets and white space.
fn is_bullet(before: &[u8]) -> bool {
    let mut rest = &before[indentation(before)..];
    while let [sign, after @ ..] = rest {
        if !sign.is_ascii_digit() && !b"[](){}.:*-+<>\"'".contains(sign) {
            return false;
        }
        rest = &after[indentation(after)..];
    }
    true
}

/// Returns `true` if the upper line is the rest of a longer one, which ended at one of [`CUT_COLUMNS`].
fn is_rejoined_cut(line_break: &LineBreak<'_>) -> bool {
    line_break
        .rejoined_columns()
        .is_some_and(|columns| CUT_COLUMNS.contains(&columns))
}

/// Returns `true` if the token would have fitted on the line of the URL, given the width of the surrounding prose.
fn has_room_for(line_break: &LineBreak<'_>, token: &ContinuationToken<'_>) -> bool {
    columns(line_break.upper_line()) + " ".len() + columns(token.bare)
        <= prose_columns(line_break.nearby())
}
