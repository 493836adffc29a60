//! Collects the evidence at one line break.

use memchr::memmem;

use super::line_break::{Follow, LineBreak};
use super::line_width::{WIDEST_COLUMNS, columns, indentation, prose_columns, trim_end};
use super::token::Token;
use super::url_head::Head;
use super::{Continuation, Feature, Features, POSSIBLE};

/// Columns from which a line may have been broken because it was full: mailers fill up to 65, 72 or 80 columns, and
/// hyphens and slashes before the break make lines shorter.
const FILLED_COLUMNS: usize = 64;

/// Columns from which a line is so full that no program would have broken it before a short word.
const FULL_COLUMNS: usize = 70;

/// Columns of lines with a `=` at their end that is no part of them. Quoted-printable lines have 76 (RFC 2045,
/// section 6.7), and encoders differ in what they count.
const SOFT_COLUMNS: std::ops::RangeInclusive<usize> = 70..=79;

/// Characters from which a token is longer than words are.
const LONG_TOKEN: usize = 20;

/// Bytes behind the token in which the partner of a bracket before the URL is still looked for: a stop, and it.
const CLOSER_BYTES: usize = 2;

/// Weighs the continuation of `url` by the token of `seam`. None if it is impossible, or as good as that.
pub(super) fn weigh(seam: &LineBreak<'_>, url: &[u8]) -> Option<Continuation> {
    let token = Token::new(seam.token_and(0))?;
    if is_refused(seam, url, &token) {
        return None;
    }
    let dropped = leftover(seam, url);
    let head = Head::new(&url[..url.len() - dropped])?;
    let mut features = Features::default();
    features.add([(Feature::Base, true), (Feature::HeadSoft, dropped > 0)]);
    add_head(&mut features, &head, &token);
    add_line(&mut features, seam, &head, &token);
    add_token(&mut features, &head, &token);
    add_layout(&mut features, seam, &head);
    // The width of the prose around is dear, and can only take away.
    if features.points() >= POSSIBLE {
        features.add([(Feature::Fits, fits(seam, &token))]);
    }
    (features.points() >= POSSIBLE).then_some(Continuation {
        token: seam.token,
        dropped,
        quoted: seam.quoted,
        whole_line: seam.whole_line,
        features,
    })
}

/// Whether the token cannot belong to the URL, whatever else speaks for it.
fn is_refused(seam: &LineBreak<'_>, url: &[u8], token: &Token<'_>) -> bool {
    let ends_with = |bytes: &[u8]| url.last().is_some_and(|last| bytes.contains(last));
    // The URL within a URL may be broken before its slashes.
    let slashes = token.all.starts_with(b"//") && ends_with(b"-=:");
    let paths = token.first() == b'/' && seam.follow == Follow::Slash;
    let assigned = token.assigned();
    // `name="value"`: an attribute of the element that the URL is an attribute of.
    let attribute =
        assigned.is_some_and(|value| matches!(value, [] | [b'\'', ..])) && !ends_with(b"?&");
    // `; name=value`: a parameter of the header field that the URL stands in.
    let parameter = assigned.is_some() && ends_with(b";") && !url.contains(&b'?');
    // Who began a URL in ASCII goes on in ASCII.
    let foreign = !token.all.is_ascii() && url.is_ascii();
    token.begins_url()
        || token.is_sign()
        || token.is_rule() && !slashes
        || paths
        || attribute
        || parameter
        || foreign
}

/// Bytes at the end of `url` that are left over from another encoding: a `=` of quoted-printable, or the `\` before
/// a line end by which programs and shells join lines.
fn leftover(seam: &LineBreak<'_>, url: &[u8]) -> usize {
    let is_soft = |line: &[u8]| line.ends_with(b"=") && SOFT_COLUMNS.contains(&columns(line));
    let holds = |line: &[u8], escape: &[u8]| memmem::find(line, escape).is_some();
    // A query's `=` may well be its own, unless lines around show the same encoding.
    let encoded =
        |line: &[u8]| is_soft(trim_end(line)) || holds(line, b"=3D") || holds(line, b"=20");
    let soft = is_soft(seam.upper_line()) && (!url.contains(&b'?') || seam.nearby().any(encoded));
    usize::from(url.ends_with(b"\\") || soft)
}

/// How the URL, without what is left over, ends.
fn add_head(features: &mut Features, head: &Head<'_>, token: &Token<'_>) {
    let host_goes_on = head.host_goes_on(token);
    features.add([
        (Feature::HeadHyphen, head.ends_with(b"-")),
        (Feature::HeadPunct, head.ends_with(b",;:!)'*]}")),
        (
            Feature::HeadEscape,
            head.ends_within_escape() && token.first().is_ascii_hexdigit(),
        ),
        (
            Feature::HeadExt,
            head.ends_with_file() && !token.begins_query(),
        ),
        (
            Feature::HeadBarehost,
            head.ends_with_host() && !token.follows_host(),
        ),
        (Feature::HeadHostcut, host_goes_on),
        (Feature::HeadScheme, host_goes_on && head.is_scheme()),
    ]);
}

/// How long the URL's line is, and what else the two lines hold.
fn add_line(features: &mut Features, seam: &LineBreak<'_>, head: &Head<'_>, token: &Token<'_>) {
    let width = columns(seam.upper_line());
    let alone = seam.whole_line;
    features.add([
        (
            Feature::ShortAlnum,
            width < FULL_COLUMNS && head.ends_with_alnum(),
        ),
        (
            Feature::Overlong,
            width > WIDEST_COLUMNS && head.ends_with_alnum(),
        ),
        (
            Feature::Filled,
            (FILLED_COLUMNS..=WIDEST_COLUMNS).contains(&width),
        ),
        (
            Feature::UrlFirst,
            seam.chained() || is_bullet(seam.before_url()),
        ),
        (Feature::Chain, seam.chained()),
        (Feature::One, alone),
        (
            Feature::OneFilled,
            alone && (FULL_COLUMNS..=WIDEST_COLUMNS).contains(&width),
        ),
        (
            Feature::ManyCap,
            !alone && token.first().is_ascii_uppercase() && !head.ends_with(b"-"),
        ),
        (Feature::EndsPara, seam.follow == Follow::Blank),
    ]);
}

/// What the token looks like. Uses what has been found of the URL and its line.
fn add_token(features: &mut Features, head: &Head<'_>, token: &Token<'_>) {
    let query = token.begins_query();
    let extension = token.has_extension(head.url);
    let label = token.is_labelled() && !features.has(Feature::HeadHostcut);
    let host = token.begins_host() && !head.host_is_cut() && !extension;
    features.add([
        (Feature::TokExt, extension),
        (
            Feature::TokStrong,
            query || token.begins_path() || token.has_joint_inside(),
        ),
        (Feature::TokQuery, query),
        (Feature::TokDotext, query && token.first() == b'.'),
        (Feature::TokPath, token.joints() >= 2),
        (Feature::TokLong, columns(token.all) >= LONG_TOKEN),
        (Feature::TokSlash, token.bare.ends_with(b"/")),
        (
            Feature::TokCap,
            token.is_capitalised() && !head.ends_with(b"-"),
        ),
        (Feature::TokLabel, token.all.ends_with(b":") || label),
        (Feature::TokStop, token.is_stop_word()),
        (Feature::TokAddr, token.is_address()),
        (Feature::TokHost, host),
        (Feature::TokSite, host && features.has(Feature::ShortAlnum)),
    ]);
}

/// What stands around the URL and the token.
fn add_layout(features: &mut Features, seam: &LineBreak<'_>, head: &Head<'_>) {
    let [upper, lower] = seam.indentations().map(columns);
    let url = columns(seam.before_url());
    let under_url = url > 0 && lower.abs_diff(url) <= 1;
    features.add([
        (Feature::Closer, is_closed(seam, head)),
        (Feature::Outdent, lower < upper),
        (
            Feature::Indent,
            lower > upper || lower == upper && under_url,
        ),
    ]);
}

/// Whether the bracket or quote that stands before the URL is closed behind it, but not in what was read of it.
fn is_closed(seam: &LineBreak<'_>, head: &Head<'_>) -> bool {
    let close = match seam.opener() {
        Some(b'(') => b')',
        Some(b'[') => b']',
        Some(b'{') => b'}',
        Some(quote @ (b'\'' | b'"')) => quote,
        _ => return false,
    };
    !head.url.contains(&close) && seam.token_and(CLOSER_BYTES).contains(&close)
}

/// Whether a line holds nothing before the URL but numbers, bullets, brackets and white space.
fn is_bullet(before: &[u8]) -> bool {
    let mut rest = &before[indentation(before)..];
    while let [sign, behind @ ..] = rest {
        if !sign.is_ascii_digit() && !b"[](){}.:*-+<>\"'".contains(sign) {
            return false;
        }
        rest = &behind[indentation(behind)..];
    }
    true
}

/// Whether the token would have fitted in the URL's line, which then was not broken for want of room.
fn fits(seam: &LineBreak<'_>, token: &Token<'_>) -> bool {
    columns(seam.upper_line()) + " ".len() + columns(token.bare) <= prose_columns(seam.nearby())
}
