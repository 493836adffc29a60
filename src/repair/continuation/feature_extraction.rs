//! Extracts the features of one line break.

use memchr::memmem;

use super::line_break::{FollowingLine, LineBreak};
use super::line_width::{WIDEST_COLUMNS, columns, indentation, prose_columns, trim_end};
use super::token::ContinuationToken;
use super::url_head::UrlHead;
use super::{Continuation, Feature, Features, POSSIBLE};

/// Minimum number of columns of a full line. Mailers fill lines up to 65, 72 or 80 columns; a break after a hyphen or slash
/// makes a line shorter.
const FILLED_COLUMNS: usize = 64;

/// Minimum number of columns of a line that no program breaks before a short word.
const FULL_COLUMNS: usize = 70;

/// Numbers of columns of lines that end with a soft `=`. Quoted-printable lines have at most 76 characters (RFC 2045,
/// section 6.7), and encoders differ in what they count.
const SOFT_COLUMNS: std::ops::RangeInclusive<usize> = 70..=79;

/// Minimum number of columns of a token that is longer than words of prose.
const LONG_TOKEN: usize = 20;

/// Number of bytes after the token that are searched for the partner of a bracket before the URL: a full stop and the
/// bracket.
const CLOSER_BYTES: usize = 2;

/// Evaluates the continuation of `url` by the token after `line_break`. `None` if it is impossible or very unlikely.
pub(super) fn evaluate(line_break: &LineBreak<'_>, url: &[u8]) -> Option<Continuation> {
    let token = ContinuationToken::new(line_break.token_and(0))?;
    if is_impossible(line_break, url, &token) {
        return None;
    }
    let dropped = leftover_bytes(line_break, url);
    let head = UrlHead::new(&url[..url.len() - dropped])?;
    let mut features = Features::default();
    features.add([(Feature::Bias, true), (Feature::SoftLineEnd, dropped > 0)]);
    add_head(&mut features, &head, &token);
    add_line(&mut features, line_break, &head, &token);
    add_token(&mut features, &head, &token);
    add_layout(&mut features, line_break, &head);
    // Last, because the width of the surrounding prose is expensive to compute and can only lower the sum.
    if features.points() >= POSSIBLE {
        features.add([(Feature::RoomForToken, has_room_for(line_break, &token))]);
    }
    (features.points() >= POSSIBLE).then_some(Continuation {
        token: line_break.token,
        dropped,
        quoted: line_break.quoted,
        whole_line: line_break.whole_line,
        features,
    })
}

/// Returns `true` if the token cannot belong to the URL, whatever the other features.
fn is_impossible(line_break: &LineBreak<'_>, url: &[u8], token: &ContinuationToken<'_>) -> bool {
    let ends_with = |bytes: &[u8]| url.last().is_some_and(|last| bytes.contains(last));
    // A URL inside the URL may be broken before its slashes.
    let inner_slashes = token.all.starts_with(b"//") && ends_with(b"-=:");
    let path_list = token.first() == b'/' && line_break.follow == FollowingLine::Slash;
    let assigned = token.assigned_value();
    // `name="value"`: the next attribute of the element that has the URL as an attribute.
    let attribute =
        assigned.is_some_and(|value| matches!(value, [] | [b'\'', ..])) && !ends_with(b"?&");
    // `; name=value`: a parameter of the header field that contains the URL.
    let parameter = assigned.is_some() && ends_with(b";") && !url.contains(&b'?');
    // A URL that begins in ASCII continues in ASCII.
    let foreign = !token.all.is_ascii() && url.is_ascii();
    token.begins_url()
        || token.is_punctuation()
        || token.is_rule() && !inner_slashes
        || path_list
        || attribute
        || parameter
        || foreign
}

/// Number of bytes (0 or 1) at the end of `url` that are left over from another encoding: the soft `=` of quoted-printable,
/// or the `\` by which programs and shells join lines.
fn leftover_bytes(line_break: &LineBreak<'_>, url: &[u8]) -> usize {
    let is_soft = |line: &[u8]| line.ends_with(b"=") && SOFT_COLUMNS.contains(&columns(line));
    let holds = |line: &[u8], escape: &[u8]| memmem::find(line, escape).is_some();
    // The `=` may belong to a query, unless nearby lines show the same encoding.
    let encoded =
        |line: &[u8]| is_soft(trim_end(line)) || holds(line, b"=3D") || holds(line, b"=20");
    let soft = is_soft(line_break.upper_line())
        && (!url.contains(&b'?') || line_break.nearby().any(encoded));
    usize::from(url.ends_with(b"\\") || soft)
}

/// Adds the features of the end of the URL, without the leftover byte.
fn add_head(features: &mut Features, head: &UrlHead<'_>, token: &ContinuationToken<'_>) {
    let host_continues = head.host_continues(token);
    features.add([
        (Feature::EndsWithHyphen, head.ends_with(b"-")),
        (Feature::EndsWithPunctuation, head.ends_with(b",;:!)'*]}")),
        (
            Feature::EndsInsideEscape,
            head.ends_inside_escape() && token.first().is_ascii_hexdigit(),
        ),
        (
            Feature::EndsWithFileExtension,
            head.ends_with_file() && !token.begins_query(),
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
    let alone = line_break.whole_line;
    features.add([
        (
            Feature::ShortLine,
            width < FULL_COLUMNS && head.ends_with_alnum(),
        ),
        (
            Feature::OverlongLine,
            width > WIDEST_COLUMNS && head.ends_with_alnum(),
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
            Feature::TokenAloneAfterFullLine,
            alone && (FULL_COLUMNS..=WIDEST_COLUMNS).contains(&width),
        ),
        (
            Feature::CapitalBeforeText,
            !alone && token.first().is_ascii_uppercase() && !head.ends_with(b"-"),
        ),
        (
            Feature::EndsParagraph,
            line_break.follow == FollowingLine::Blank,
        ),
    ]);
}

/// Adds the features of the token. Uses those of the URL and its line.
fn add_token(features: &mut Features, head: &UrlHead<'_>, token: &ContinuationToken<'_>) {
    let query = token.begins_query();
    let extension = token.has_extension(head.url);
    let label = token.is_labelled() && !features.has(Feature::EndsInsideHost);
    let host = token.begins_host() && !head.is_host_incomplete() && !extension;
    features.add([
        (Feature::TokenEndsWithExtension, extension),
        (
            Feature::TokenHasUrlPunctuation,
            query || token.begins_path() || token.has_delimiter_inside(),
        ),
        (Feature::TokenBeginsQuery, query),
        (
            Feature::TokenBeginsExtension,
            query && token.first() == b'.',
        ),
        (Feature::TokenHasTwoDelimiters, token.delimiters() >= 2),
        (Feature::LongToken, columns(token.all) >= LONG_TOKEN),
        (Feature::TokenEndsWithSlash, token.bare.ends_with(b"/")),
        (
            Feature::CapitalizedToken,
            token.is_capitalized() && !head.ends_with(b"-"),
        ),
        (Feature::FieldLabel, token.all.ends_with(b":") || label),
        (Feature::StopWord, token.is_stop_word()),
        (Feature::AddressToken, token.is_address()),
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
    features.add([
        (Feature::ClosingPartner, is_closed(line_break, head)),
        (Feature::LessIndented, lower < upper),
        (
            Feature::MoreIndented,
            lower > upper || lower == upper && under_url,
        ),
    ]);
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
    !head.url.contains(&close) && line_break.token_and(CLOSER_BYTES).contains(&close)
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

/// Returns `true` if the token would have fitted on the line of the URL, given the width of the surrounding prose.
fn has_room_for(line_break: &LineBreak<'_>, token: &ContinuationToken<'_>) -> bool {
    columns(line_break.upper_line()) + " ".len() + columns(token.bare)
        <= prose_columns(line_break.nearby())
}
