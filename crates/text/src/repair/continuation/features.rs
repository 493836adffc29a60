//! The features of a line break after a bare URL: a table with one weighted feature per row.
//!
//! A feature is a fact about the URL, the next line, or the layout that makes a continuation more
//! or less likely, or impossible. A logistic regression on labelled line breaks determined the
//! weights. `docs/evidence/joins.md` describes the fit and compares stated with observed confidence
//! on held-out archives.

use std::cell::{Cell, OnceCell};

use memchr::memmem;

use super::line_break::{FollowingLine, LineBreak, is_soft_break};
use super::line_layout::{
    FILLED_COLUMNS, WIDEST_COLUMNS, columns, holds_prose, indentation, trim_end,
};
use super::token::ContinuationToken;
use super::url_head::UrlHead;
use super::{Continuation, LIKELY_POINTS};
use crate::byte_scan::prefix_len;
use crate::repair::elsewhere::{Elsewhere, JoinedReading};
use crate::repair::quote_marks::UNICODE_BAR;
use crate::repair::{is_blank, set_bits, without_punctuation};

/// A feature of a line break after a bare URL: evidence for or against a continuation on the next
/// line.
#[derive(Debug)]
pub struct Feature {
    /// The name used in explanations.
    pub name: &'static str,
    /// The weight in points, a multiple of a quarter. A positive weight favours a continuation;
    /// minus infinity excludes it.
    pub points: f32,
    is_present: fn(&Evidence<'_, '_>) -> bool,
}

/// The probability that a URL continues over a line break with `points`, the logarithm of the odds.
pub(super) fn confidence(points: f32) -> f32 {
    1.0 / (1.0 + (-points).exp())
}

/// Every feature.
///
/// *The URL* is the part read so far, without bytes that a program inserted at its end to break the
/// line. *Its line* is the line with its final byte. *The token* is the run of characters at the
/// start of the next line that can belong to a URL, after quote marks and comment leads.
pub(super) static FEATURES: [Feature; ROWS] = [
    // A frequent word or a closing. A repeatedly cut line leaves short rests that look like words.
    never("word", |at| {
        at.token.is_stop_word() && !at.line_break.upper.follows_cut && !at.head.ends_with_hyphen()
    }),
    // A blank line, or one with only quote marks, ends a paragraph, unless a program inserted such
    // lines everywhere or the URL cannot be whole.
    never("blank", |at| {
        let line_break = at.line_break;
        line_break.blank_between && !line_break.is_open() && !line_break.has_inserted_blanks()
    }),
    // A URL that starts in ASCII continues in ASCII, except after a soft hyphen, which is not
    // ASCII.
    never("foreign", |at| {
        !at.token.all.is_ascii() && at.head.url.is_ascii() && at.dropped != SOFT_HYPHEN.len()
    }),
    // A `mailto:` URL whose address the token does not complete.
    never("address-complete", |at| {
        at.head.is_mailbox && !at.head.address_continues(&at.token)
    }),
    // A line number of a source file, not followed by digits, a range or a column.
    never("line-number", |at| {
        at.head.ends_with_line_number() && !matches!(at.token.first(), b'0'..=b'9' | b'-' | b'C')
    }),
    never("punctuation", |at| {
        // A rule was glued to the end of the URL.
        let ends_with_rule = at.head.url.ends_with(b"----") || at.head.url.ends_with(b"____");
        ends_with_rule
            || at.token.is_punctuation() && !is_lone_end(at)
            || at.token.is_rule()
                && !is_incomplete(at)
                && !(at.token.all.starts_with(b"//") && at.head.ends_with(b"-=:"))
    }),
    // The token starts another URL. `http://` alone continues with any host.
    never("other-url", |at| {
        at.token.starts_url() && !(at.head.is_scheme() && at.token.starts_host_label())
    }),
    // A scheme alone does not accept a word as its host.
    never("word-as-host", |at| {
        at.head.is_scheme() && !at.token.names_host()
    }),
    // A branch or tag after the URL of a git repository: `git request-pull` writes `URL NAME`.
    never("git-name", is_reference),
    // Other notations: a line of a diffstat or table, a calendar property, a C preprocessor
    // directive, a roff request, the next attribute of an element, a relative path.
    never("notation", is_notation),
    // The token is a defanged host or address, or the next text is a scheme or host with blanks
    // around its delimiter: `http ://a.example`, `a [.] example`, but not after a scheme alone.
    never("defanged", |at| {
        let is_spaced = || !at.line_break.whole_line && starts_spaced(at);
        is_defanged(at, &at.token) || !at.head.is_scheme() && is_spaced()
    }),
    // One site below the other, on short lines or before a third site.
    never("site-list", |at| {
        is_second_host(at)
            && !at.line_break.upper.is_continued
            && at.head.ends_with_alnum()
            && (at.width < FILLED_COLUMNS || at.line_break.follow() == FollowingLine::Site)
    }),
    // Always present: most line breaks after a URL end it.
    row("base", -1.25, |_| true),
    // The URL ended with a `=` of quoted-printable or a `\` that joins lines, left over from
    // another encoding, or with a soft hyphen. Or a program that leaves blanks at soft line ends
    // (RFC 3676, `DelSp`) broke the line inside a word.
    row("soft", 2.5, |at| {
        0 < at.dropped || is_soft_break(at.line_break)
    }),
    // The URL ends with a hyphen. Mailers prefer to break lines after hyphens.
    row("hyphen", 3.75, |at| at.head.ends_with_hyphen()),
    // The URL is not whole without the token: it ends inside its host, query, escape, extension,
    // digest or Message-ID, and the token can complete it.
    row("incomplete", 2.0, is_incomplete),
    // A whole identifier (a commit, a line of a source file, or the host of a Message-ID), a whole
    // file extension, or a host alone. The token does not start a possible continuation.
    row("whole-id", -2.0, is_whole_id),
    row("whole-file", -3.5, is_whole_file),
    row("whole-host", -1.5, |at| {
        at.head.ends_with_host() && !at.token.follows_host()
    }),
    // Sentence punctuation or a closing bracket, probably the end of a sentence.
    row("head-punct", -1.75, |at| at.head.ends_with(b",;:!)'*]}")),
    // The URL's line ends at a column at which programs cut words of any kind. If another program
    // broke the line again, its rest counts too.
    row("cut-column", 1.25, |at| {
        (CUT_COLUMNS.contains(&at.width) || is_rejoined_cut(at)) && at.head.ends_with_alnum()
    }),
    row("short-line", -1.75, has_short_line),
    row("full-line", 2.5, has_full_line),
    // Longer than any program fills lines: this program does not break lines.
    row("overlong", -0.25, |at| {
        WIDEST_COLUMNS < at.width && at.head.ends_with_alnum()
    }),
    // The URL is the first text of its line, except for numbers, bullets and brackets. It was put
    // on a separate line because it is long.
    row("url-first", 1.0, url_starts_line),
    // A URL broken once is often broken again.
    row("chain", 2.25, |at| {
        at.line_break.upper.is_continued && !is_whole_id(at) && !is_whole_file(at)
    }),
    // An earlier line was cut inside the URL, and the upper line is the rest of it. The author's
    // line continues.
    row("rest-of-cut", 0.5, |at| {
        at.line_break.upper.follows_cut && !is_whole_id(at) && !is_whole_file(at)
    }),
    row("one", 0.75, is_alone),
    // The line after the token is blank or does not exist. The rest of a URL often ends a
    // paragraph.
    row("ends-para", 0.75, |at| {
        at.line_break.follow() == FollowingLine::Blank
    }),
    // A blank line, the URL, the token alone on its line, and a blank line.
    row("own-para", 2.0, is_own_paragraph),
    // The number of marks by which the token looks like a piece of a URL. Only the strongest row
    // counts.
    row("marks-1", -0.5, |at| at.marks() == 1),
    row("marks-3", 1.75, |at| 3 <= at.marks()),
    // One or two letters or digits that are not a word, alone after a full line; or a capital
    // letter, if more text follows on the next line.
    row("tiny", 2.0, is_tiny),
    // The rest of a number or of a name in capitals, or a number after a slash or hyphen.
    row("number", 2.0, continues_number),
    // A capitalized word: probably a name or a new sentence.
    row("capitalized", -2.25, is_name),
    // A colon at the end, or a word, a colon and more text: a field label in a list or header.
    row("label", -3.75, |at| {
        at.token.all.ends_with(b":") || at.token.is_labelled() && !is_incomplete(at)
    }),
    // A word without marks, followed by more text.
    row("more-text", -4.75, |at| {
        at.marks() == 0 && !at.ends_line && !at.head.ends_with_hyphen() && !is_incomplete(at)
    }),
    // Several short words that end with a sign follow the token on its line, as in Geek code.
    row("odd-words", -1.0, |at| {
        ODD_WORDS <= odd_words(at.line_break.rest())
    }),
    // A mail address or a telephone number, as in a signature.
    row("address", -3.0, |at| is_address(at) && !at.head.is_mailbox),
    // The token starts with a host name, and the URL already has a host.
    row("second-host", -2.25, is_second_host),
    // The next line is other text: a function call or assignment, an option, the commit after a
    // program's URL in brackets, a date, a quote mark made of letters, or the end of a server's
    // reply in a bounce message.
    row("other-text", -2.5, is_other_text),
    // The token contains the partner of the bracket or quote before the URL, and the URL does not.
    // The URL extends to this partner.
    row("closer", 3.0, |at| {
        is_closed(at) && !is_commit_of_program(at)
    }),
    // The joined URL was found whole elsewhere in the message or archive. The search runs only if
    // it may decide.
    row(SEEN_WHOLE, SEEN_WHOLE_POINTS, |at| {
        LIKELY_POINTS <= at.points.get() + SEEN_WHOLE_POINTS && is_whole(at)
    }),
    // In several messages that do not quote each other, the same token follows the same URL, and
    // the joined URL was found whole in none. Decides one labelled line break, a line of Geek code
    // below a home page.
    row("pair-repeats", -3.75, recurs),
    // The surrounding prose has lines long enough to fit the token on the URL's line. The line was
    // therefore not broken for lack of room. This row is last because it is expensive to evaluate.
    row("fits", -1.25, |at| {
        let needed = at.width + " ".len() + columns(at.token.bare);
        !at.line_break.upper.follows_cut && holds_prose(at.line_break.nearby(), needed)
    }),
];

/// Number of features.
const ROWS: usize = 45;

/// A feature with a fitted weight.
const fn row(
    name: &'static str,
    points: f32,
    is_present: fn(&Evidence<'_, '_>) -> bool,
) -> Feature {
    Feature {
        name,
        points,
        is_present,
    }
}

/// A feature that excludes a continuation.
const fn never(name: &'static str, is_present: fn(&Evidence<'_, '_>) -> bool) -> Feature {
    row(name, f32::NEG_INFINITY, is_present)
}

/// The name of the feature of a joined URL that was found whole. If it is present, no other feature
/// excludes the continuation.
const SEEN_WHOLE: &str = "seen-whole";

/// The weight was chosen and not fitted: nearly all joins with this feature are right, and the
/// likeliest weight therefore has no bound. In the labelled places of three archives, the evidence
/// of each message joins 527 of 557 broken URLs, and 530 of 537 joins are right. The evidence of
/// the archive joins 543, and 546 of 553 joins are right. Weights from 7 to 9 decide the same
/// places.
const SEEN_WHOLE_POINTS: f32 = 9.0;

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features(u128);

impl Features {
    /// The features in the set, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = &'static Feature> {
        set_bits(self.0).map(|bit| &FEATURES[bit])
    }

    /// Returns `true` if the joined URL was found whole.
    pub(super) fn has_whole(self) -> bool {
        self.iter().any(|feature| feature.name == SEEN_WHOLE)
    }

    /// The sum of the weights. It is exact because they are multiples of a quarter.
    #[must_use]
    pub fn points(self) -> f32 {
        self.iter().map(|feature| feature.points).sum()
    }

    /// The probability, from 0 to 1, that the URL continues over the line break.
    #[must_use]
    pub fn confidence(self) -> f32 {
        confidence(self.points())
    }
}

#[cfg(test)]
impl FromIterator<&'static Feature> for Features {
    fn from_iter<I: IntoIterator<Item = &'static Feature>>(all: I) -> Features {
        let number = |feature: &Feature| FEATURES.iter().position(|row| row.name == feature.name);
        Features(all.into_iter().filter_map(number).map(|at| 1 << at).sum())
    }
}

/// Minimum number of columns of a line that no program breaks before a short word.
const FULL_COLUMNS: usize = 70;

/// Columns at which programs cut words: Outlook at 76; pine, terminals and programs of USENET at 79
/// or 80.
const CUT_COLUMNS: [usize; 3] = [76, 79, 80];

/// Widths in columns of lines that end with a soft `=`. Quoted-printable lines have at most 76
/// characters (RFC 2045, section 6.7), but encoders count differently.
const SOFT_COLUMNS: std::ops::RangeInclusive<usize> = 70..=79;

/// U+00AD, which is visible only where a line was broken at it.
const SOFT_HYPHEN: &[u8] = "\u{AD}".as_bytes();

/// Number of bytes after the token to search for the partner of a bracket before the URL: a full
/// stop and the bracket.
const CLOSER_BYTES: usize = 4;

/// Number of bytes after the token in which blanks are ignored to find a scheme or host with blanks
/// around its delimiter: ` [dot]`.
const SPACED_BYTES: usize = 6;

/// Maximum difference between the numbers of two lines. Programs number lines in steps of one or
/// ten.
const NUMBER_STEP: u32 = 10;

/// Minimum number of odd words after the token on its line.
const ODD_WORDS: usize = 2;

/// Maximum number of bytes of an odd word.
const ODD_BYTES: usize = 7;

/// Maximum number of lines to join with a URL to see whether it occurs whole.
const WHOLE_LINES: usize = 4;

/// Evaluates the continuation of `url` by the token after `line_break`. Returns `None` below
/// `least_points`.
pub(super) fn evaluate(
    line_break: &LineBreak<'_>,
    url: &[u8],
    elsewhere: Option<&dyn Elsewhere>,
    least_points: f32,
) -> Option<Continuation> {
    let evidence = Evidence::of(line_break, url, elsewhere)?;
    let mut features = Features::default();
    let mut points = 0.0;
    for (number, feature) in FEATURES.iter().enumerate() {
        let excludes = feature.points == f32::NEG_INFINITY;
        if (feature.is_present)(&evidence) && !(excludes && is_whole(&evidence)) {
            features.0 |= 1 << number;
            points += feature.points;
            evidence.points.set(points);
        }
        // Features that exclude a continuation come first. The last feature is the most expensive
        // one and can only lower the sum.
        let is_decided = points == f32::NEG_INFINITY || ROWS - 2 <= number;
        if is_decided && points < least_points {
            return None;
        }
    }
    Some(Continuation {
        token: line_break.token,
        dropped: evidence.dropped,
        lost_hyphen: evidence.head.lost_hyphen(&evidence.token),
        quoted: line_break.quoted,
        whole_line: line_break.whole_line,
        features,
    })
}

/// A line break and the facts that the features test.
struct Evidence<'u, 't> {
    line_break: &'u LineBreak<'t>,
    /// The URL, without the inserted bytes at the end.
    head: UrlHead<'u>,
    token: ContinuationToken<'t>,
    /// Number of bytes that a program inserted at the end of the URL to break the line.
    dropped: usize,
    /// Number of columns of the URL's line.
    width: usize,
    /// `true` if the token ends its line. Blanks may follow, or the quote that closes the one
    /// before the URL and then punctuation or the end of a tag.
    ends_line: bool,
    /// Number of URL marks in the token.
    marks: OnceCell<usize>,
    /// `true` if the URL cannot be whole without the token, and the token can complete it.
    is_incomplete: OnceCell<bool>,
    elsewhere: Option<&'u dyn Elsewhere>,
    is_whole: OnceCell<bool>,
    /// The sum of the weights so far.
    points: Cell<f32>,
}

impl<'u, 't> Evidence<'u, 't> {
    /// Returns `None` if no token that may continue `url` follows, or if `url` has no `//`.
    fn of(
        line_break: &'u LineBreak<'t>,
        url: &'u [u8],
        elsewhere: Option<&'u dyn Elsewhere>,
    ) -> Option<Evidence<'u, 't>> {
        let dropped = leftover_bytes(line_break, url);
        let head = UrlHead::new(&url[..url.len() - dropped])?;
        let token = ContinuationToken::new(line_break.token_and(0))?;
        Some(Evidence {
            line_break,
            head,
            token,
            dropped,
            marks: OnceCell::new(),
            is_incomplete: OnceCell::new(),
            width: columns(line_break.upper_line()),
            ends_line: line_break.whole_line || is_last_of_quote(line_break, url),
            elsewhere,
            is_whole: OnceCell::new(),
            points: Cell::new(0.0),
        })
    }

    /// Number of URL marks in the token. A token that can only continue a URL counts twice.
    fn marks(&self) -> usize {
        *self
            .marks
            .get_or_init(|| self.token.marks(self.head.url) + 2 * usize::from(starts_query(self)))
    }
}

/// Returns `true` if the joined URL was found whole.
fn is_whole(at: &Evidence<'_, '_>) -> bool {
    *at.is_whole.get_or_init(|| {
        at.elsewhere
            .is_some_and(|elsewhere| occurs_whole(at, elsewhere))
    })
}

/// Returns `true` if the URL was found whole elsewhere when joined with the token, or with the
/// token and words of further lines.
fn occurs_whole(at: &Evidence<'_, '_>, elsewhere: &dyn Elsewhere) -> bool {
    let is_other = at.token.starts_url() && !at.head.is_scheme();
    if is_other || !elsewhere.may_be_whole(at.head.url, at.token.all) {
        return false;
    }
    let joined_at = at.head.url.len();
    let mut url = [at.head.url, at.token.all].concat();
    let mut line_break = at.line_break.clone();
    for _ in 0..WHOLE_LINES {
        if elsewhere.is_whole(JoinedReading {
            url: &url,
            joined_at,
        }) {
            return true;
        }
        let Some(next) = line_break.next().filter(|_| line_break.whole_line) else {
            return false;
        };
        url.truncate(url.len() - leftover_bytes(&next, &url));
        url.extend_from_slice(next.token_and(0));
        line_break = next;
    }
    false
}

/// Returns `true` if the join recurs and its URL was not found whole.
fn recurs(at: &Evidence<'_, '_>) -> bool {
    at.elsewhere
        .is_some_and(|elsewhere| elsewhere.recurs(at.head.url, at.token.all) && !is_whole(at))
}

/// Returns `true` if the URL's line is about as long as the full lines that programs make.
fn has_full_line(at: &Evidence<'_, '_>) -> bool {
    (FILLED_COLUMNS..=WIDEST_COLUMNS).contains(&at.width)
}

/// Returns `true` if the URL's line is shorter than the full lines that mailers make and the URL
/// ends with a letter or digit: the token would have had room. This excludes the rest of a cut
/// line, which is only as long as the excess of that line.
fn has_short_line(at: &Evidence<'_, '_>) -> bool {
    let is_rest =
        at.line_break.upper.follows_cut && at.line_break.whole_line || is_rejoined_cut(at);
    at.width < FULL_COLUMNS && at.head.ends_with_alnum() && !is_rest
}

/// Returns `true` if the upper line is the rest of a longer line that ended at one of
/// [`CUT_COLUMNS`].
fn is_rejoined_cut(at: &Evidence<'_, '_>) -> bool {
    let rejoined = at.line_break.rejoined_columns();
    rejoined.is_some_and(|columns| CUT_COLUMNS.contains(&columns))
}

/// Returns `true` if the token is the only text of its line and is not a name, a frequent word or
/// an address. The quote that closes the one before the URL may follow.
fn is_alone(at: &Evidence<'_, '_>) -> bool {
    at.ends_line && !is_name(at) && !at.token.is_stop_word() && !is_address(at)
}

/// Returns `true` if the token is a capitalized word and not the rest of one.
fn is_name(at: &Evidence<'_, '_>) -> bool {
    at.token.is_capitalized()
        && !continues_number(at)
        && !is_tiny(at)
        && !at.head.ends_with_hyphen()
        && !at.head.ends_inside_escape()
}

/// Returns `true` if the token is the rest of a full line: one or two letters or digits alone on a
/// line.
fn is_tiny(at: &Evidence<'_, '_>) -> bool {
    at.line_break.whole_line
        && FILLED_COLUMNS <= at.width
        && (at.token.is_tiny()
            || at.token.is_capital() && at.line_break.follow() == FollowingLine::Text)
}

/// Returns `true` if the URL is the first text of its line, except for numbers, bullets and
/// brackets.
fn url_starts_line(at: &Evidence<'_, '_>) -> bool {
    at.line_break.upper.is_continued || is_bullet(at.line_break.before_url())
}

/// Returns `true` if the URL cannot be whole without the token, and the token can complete it.
fn is_incomplete(at: &Evidence<'_, '_>) -> bool {
    *at.is_incomplete.get_or_init(|| {
        at.head.is_open_before(&at.token)
            || (at.line_break.whole_line || at.token.bare.len() < at.token.all.len())
                && at.token.completes_extension(at.head.url)
    })
}

/// Returns `true` if the token is a mail address or a telephone number and not the rest of a name
/// or number in the URL.
fn is_address(at: &Evidence<'_, '_>) -> bool {
    at.token.is_address() && !at.head.ends_with(b"-") && !continues_number(at) && !is_incomplete(at)
}

/// Returns `true` if the token starts with a host name and the URL already has a host.
fn is_second_host(at: &Evidence<'_, '_>) -> bool {
    at.token.starts_host() && !is_incomplete(at) && !at.head.ends_with(b"@=")
}

/// Returns `true` if the URL ends with a whole identifier that the token does not continue. A
/// slash, more digits of a line number, the rest of a Message-ID's host, or a parameter would
/// continue it.
fn is_whole_id(at: &Evidence<'_, '_>) -> bool {
    let is_rest = at.head.ends_with(b".")
        || at.token.first() == b'/'
        || at.token.is_digits()
        || at.token.starts_host_rest_or_path()
        || at.head.has_query() && at.token.starts_next_parameter();
    at.head.ends_with_identifier() && !is_rest
}

/// Returns `true` if the URL ends with a file extension that the token does not continue.
fn is_whole_file(at: &Evidence<'_, '_>) -> bool {
    at.head.ends_with_file() && !starts_query(at) && !is_incomplete(at)
}

/// Returns `true` if the URL and the token are alone in their paragraph.
fn is_own_paragraph(at: &Evidence<'_, '_>) -> bool {
    is_alone(at)
        && url_starts_line(at)
        && !at.line_break.upper.is_continued
        && at.line_break.follow() == FollowingLine::Blank
        && at.line_break.starts_paragraph()
}

/// Returns `true` if a number or a name in capitals in the URL was cut at the end of a full line
/// and continues in the token. Also returns `true` if the token is a number after a slash or
/// hyphen.
fn continues_number(at: &Evidence<'_, '_>) -> bool {
    let is_cut = at.line_break.whole_line && has_full_line(at) && !at.head.ends_with_identifier();
    let last = at.head.url.last().copied().unwrap_or_default();
    at.head.ends_with(b"/-") && at.token.is_identifier()
        || is_cut && at.token.is_digits() && last.is_ascii_digit()
        || is_cut
            && at.token.is_capitals()
            && (last.is_ascii_uppercase() || last.is_ascii_digit() || last == b'-')
}

/// Returns `true` if the token starts another notation or its line is part of one.
fn is_notation(at: &Evidence<'_, '_>) -> bool {
    let is_attribute = at.token.assigned_value().is_some_and(|value| {
        matches!(value, [] | [b'\'', ..]) && !at.head.ends_with(b"?&")
            || at.head.ends_with(b";") && !at.head.has_query()
    });
    let is_sign = match at.token.all {
        [b'+', ..] => !at.head.has_query() && !at.token.all.starts_with(b"+/"),
        [b'-', b'\'' | b'"' | b'[' | b'(', ..] => true,
        [b'#', ..] => at.line_break.is_before_blank(),
        // A relative path.
        [b'.', b'/', ..] | [b'.', b'.', b'/', ..] => true,
        _ => false,
    };
    is_attribute
        || is_sign
        || is_separator(at)
        || is_table(at)
        || is_next_number(at)
        || at.token.is_prompt()
        || at.token.is_property()
        || at.token.is_heading()
        || at.token.is_directive()
        || at.token.is_variable() && !at.head.has_query()
        || at.token.is_roff() && at.line_break.lower_indentation().is_empty()
}

/// Returns `true` if the token is the commit after a repository URL in brackets, as in the version
/// output of programs: `(https://a.example/b 0123456789abcdef)`.
fn is_commit_of_program(at: &Evidence<'_, '_>) -> bool {
    at.head.ends_with_ascii_alnum()
        && !at.head.has_query()
        && at.token.bare.len() < at.token.all.len()
        && at.token.is_commit()
}

/// Returns `true` if the token starts text that is neither prose nor a URL.
fn is_other_text(at: &Evidence<'_, '_>) -> bool {
    let rest = at.line_break.rest();
    let is_quote_mark = rest.starts_with(b">") && at.token.all.iter().all(u8::is_ascii_alphabetic);
    let line = trim_end(rest);
    is_commit_of_program(at)
        || is_quote_mark
        || at.token.is_option() && at.head.ends_with_ascii_alnum()
        || !at.line_break.whole_line && (at.token.is_date() || at.token.all.starts_with(b"HTTP/"))
        || at.token.is_code()
        || line.ends_with(b";")
        || line.ends_with(b"{")
        || line.starts_with(b" = ")
        || line.starts_with(b" (in reply to")
}

/// Number of short words ending with a sign in `rest`, the text after the token: `d++`, `-p+`,
/// `s:-`.
fn odd_words(rest: &[u8]) -> usize {
    rest.split(|&byte| is_blank(byte))
        .filter(|word| {
            (2..=ODD_BYTES).contains(&word.len())
                && word.iter().any(u8::is_ascii_alphanumeric)
                && b"+-*@$!^=".contains(&word[word.len() - 1])
        })
        .count()
}

/// Returns `true` if the token starts with text that can only continue a URL.
fn starts_query(at: &Evidence<'_, '_>) -> bool {
    // With text after it, a `#` is more often a number sign before a word than a fragment.
    let is_hash = at.token.first() == b'#' && !at.line_break.whole_line;
    at.token.starts_query() && !is_hash
        || at.token.starts_parameter()
        || at.token.starts_port()
        || at.token.starts_address_host()
}

/// Returns `true` if the token is defanged and does not continue the URL. A dot in brackets
/// continues only a host that was cut at its punctuation.
fn is_defanged(at: &Evidence<'_, '_>, token: &ContinuationToken<'_>) -> bool {
    match token.defanged_delimiter() {
        Some(b'.') => !at.head.is_cut_in_host(),
        delimiter => delimiter.is_some(),
    }
}

/// Returns `true` if the token starts another URL or a defanged one with blanks in it.
fn starts_spaced(at: &Evidence<'_, '_>) -> bool {
    let mut begin = at.line_break.token_and(SPACED_BYTES).to_vec();
    begin.retain(|&byte| !is_blank(byte));
    ContinuationToken::new(&begin)
        .is_some_and(|token| token.starts_url() || is_defanged(at, &token))
}

/// Returns `true` if the token is the final character of the URL, alone on its line after a full
/// line or a continued one: the slash after a path, or the `=` after a field name.
///
/// A slash between two sites is a separator, and a slash before another line with a leading slash
/// starts a list.
fn is_lone_end(at: &Evidence<'_, '_>) -> bool {
    let is_missing = match at.token.bare {
        b"/" => at.head.ends_with_alnum() && !at.head.has_query() && !at.head.ends_with_file(),
        b"=" => at.head.ends_with_field_name(),
        _ => false,
    };
    let follow = at.line_break.follow();
    is_missing
        && at.line_break.whole_line
        && (at.line_break.upper.is_continued || has_full_line(at))
        && !matches!(follow, FollowingLine::Site | FollowingLine::Slash)
}

/// Returns `true` if the token starts with a `;`, `:` or `@` that cannot continue the URL.
fn is_separator(at: &Evidence<'_, '_>) -> bool {
    let (head, token) = (&at.head, &at.token);
    match token.first() {
        b';' => !(token.starts_parameter() && head.has_query()),
        b':' => !(token.starts_port() && head.is_host() && !head.has_port()),
        // The rest of a Message-ID or a name in a path, but not a decorator, a hunk of a diff or an
        // addressed person.
        b'@' => {
            let address = token.starts_address_host() && head.ends_with_alnum();
            let name = token.starts_name_in_path() && head.ends_with(b"/");
            !(address || name) || !at.line_break.whole_line && !head.ends_with(b"/")
        }
        _ => false,
    }
}

/// Returns `true` if the URL is a git repository and the token is a branch or tag. Only a page of a
/// web interface continues such a URL.
fn is_reference(at: &Evidence<'_, '_>) -> bool {
    let slash = at.head.ends_with(b"/");
    let is_name = at.token.is_reference();
    at.head.ends_with_repository() && (is_name || !at.token.is_repository_page(slash))
        || is_name && at.head.ends_with_alnum()
}

/// Returns `true` if a number precedes the URL on its line and the token is the next number: a
/// program numbered the lines, or a list has consecutive years.
fn is_next_number(at: &Evidence<'_, '_>) -> bool {
    let number = |text: &[u8]| {
        let digits = &text[..prefix_len(text, u8::is_ascii_digit)];
        str::from_utf8(digits).ok()?.parse::<u32>().ok()
    };
    let before = at.line_break.before_start();
    let own = number(&before[indentation(before)..]);
    let step = number(at.token.bare)
        .zip(own)
        .and_then(|(next, own)| next.checked_sub(own));
    step.is_some_and(|step| (1..=NUMBER_STEP).contains(&step))
}

/// Returns `true` if the token's line belongs to a diffstat or a table.
fn is_table(at: &Evidence<'_, '_>) -> bool {
    let rest = at.line_break.rest();
    let rest = &rest[indentation(rest)..];
    let cells = |line: &[u8]| {
        memchr::memchr_iter(b'|', line).count() + memmem::find_iter(line, UNICODE_BAR).count()
    };
    let is_diffstat = rest.strip_prefix(b"|").is_some_and(|count| {
        let count = &count[indentation(count)..];
        count.first().is_some_and(u8::is_ascii_digit) || count.starts_with(b"Bin ")
    });
    // A single bar is a shell pipe.
    is_diffstat
        || (rest.starts_with(b"|") || rest.starts_with(UNICODE_BAR))
            && 2 <= cells(rest) + cells(at.line_break.before_url())
}

/// Returns `true` if the bracket or quote before the URL is closed in or right after the token, and
/// not in the URL.
fn is_closed(at: &Evidence<'_, '_>) -> bool {
    let before = at.line_break.before_start();
    let Some(close) = closer(before) else {
        return false;
    };
    let count = |text: &[u8], bracket: &[u8]| memmem::find_iter(text, bracket).count();
    let token = at.line_break.token_and(CLOSER_BYTES);
    let own = match close {
        b")" | b"]" | b"}" => count(token, &before[before.len() - 1..]),
        _ => 0,
    };
    memmem::find(at.head.url, close).is_none() && own < count(token, close)
}

/// Number of bytes (0 to 2) at the end of `url` that a program inserted to break the line: the soft
/// `=` of quoted-printable, the `\` with which programs and shells join lines, or a soft hyphen.
fn leftover_bytes(line_break: &LineBreak<'_>, url: &[u8]) -> usize {
    // An encoded line has no second `=` before its end.
    let is_soft = |line: &[u8]| {
        line.ends_with(b"=") && !line.ends_with(b"==") && SOFT_COLUMNS.contains(&columns(line))
    };
    let holds = |line: &[u8], escape: &[u8]| memmem::find(line, escape).is_some();
    // The `=` may belong to a query or to a name in the path (`/sr=2-1/ref=`), unless nearby lines
    // show the same encoding.
    let names_fields = memchr::memchr2(b'?', b'=', url).is_some_and(|at| at + 1 < url.len());
    let soft = is_soft(line_break.upper_line())
        && (!names_fields
            || holds(url, b"=3D")
            || line_break.nearby().any(|line: &[u8]| {
                is_soft(trim_end(line)) || holds(line, b"=3D") || holds(line, b"=20")
            }));
    if url.ends_with(SOFT_HYPHEN) {
        SOFT_HYPHEN.len()
    } else {
        usize::from(url.ends_with(b"\\") || soft)
    }
}

/// Returns `true` if the quote before the URL is closed directly after the token and only
/// punctuation follows on the line. If the quote holds an attribute's value, the end of the tag may
/// follow.
fn is_last_of_quote(line_break: &LineBreak<'_>, url: &[u8]) -> bool {
    let before = line_break.before_start();
    let quote = closer(before).filter(|closer| !b")]}".contains(&closer[0]));
    let Some(closer) = quote else {
        return false;
    };
    let after = trim_end(line_break.rest()).strip_prefix(closer);
    after.is_some_and(|after| {
        let is_end = without_punctuation(after).is_empty()
            || before.ends_with(b"=\"") && after.starts_with(b">");
        is_end && memmem::find(url, closer).is_none()
    })
}

/// The partner of the bracket or quote at the end of `before`.
fn closer(before: &[u8]) -> Option<&'static [u8]> {
    const PAIRS: &str = "() [] {} '' \"\" \u{27E8}\u{27E9} \u{2329}\u{232A} \u{3008}\u{3009} \
        \u{300A}\u{300B} \u{300C}\u{300D} \u{2039}\u{203A} \u{201C}\u{201D} \u{AB}\u{BB}";
    // A blank or nothing precedes most URLs.
    if before.last().is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    let pairs = PAIRS.split(' ').map(|pair| pair.split_at(pair.len() / 2));
    let mut closers = pairs.filter(|(open, _)| before.ends_with(open.as_bytes()));
    closers.next().map(|(_, close)| close.as_bytes())
}

/// Returns `true` if the text before the URL on its line consists of numbers, bullets, brackets and
/// white space.
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
