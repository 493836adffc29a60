//! The features of a line break after a bare URL: their weights, and which of them a line break
//! has.
//!
//! A feature is a fact about the URL, the next line, or the layout that makes a continuation more
//! or less likely. The weights are those of a logistic regression on labelled line breaks of nine
//! archives and of generated mail; `docs/joins.md` says how they were fitted, and compares stated
//! with observed confidence on archives that were held out.

use memchr::memmem;

use super::Continuation;
use super::exclusion::is_impossible;
use super::line_break::{FollowingLine, LineBreak, SoftBreak};
use super::line_layout::{
    FILLED_COLUMNS, WIDEST_COLUMNS, columns, indentation, prose_columns, trim_end,
};
use super::token::{ContinuationToken, LONG_TOKEN, bare};
use super::url_head::UrlHead;
use crate::repair::{is_blank, set_bits};

/// A feature of a line break after a bare URL: evidence that the next line continues the URL, or
/// that it does not.
///
/// *The URL* is the part read so far, and *its line* is the line that its last byte is on. *The
/// token* is the run of characters at the start of the next line that can belong to a URL, after
/// quote marks and comment leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Always present: most line breaks after a URL end it.
    Bias,
    /// The URL ends with a `=` of quoted-printable or a `\` that joins lines, left over from
    /// another encoding, or with a soft hyphen. Programs insert these only within a line.
    SoftLineEnd,
    /// The URL ends with a hyphen. Mailers prefer to break lines after one.
    EndsWithHyphen,
    /// The URL ends with sentence punctuation or a closing bracket: probably the end of a sentence.
    EndsWithPunctuation,
    /// The URL ends with `&` or `=`, or with `?` before a parameter: a query is incomplete without
    /// the token.
    EndsInsideQuery,
    /// The URL ends inside the identifier of a commit, which has 40 or 64 hexadecimal digits, inside an
    /// MD5 digest, which has 32, or inside a Message-ID of `git send-email`, and the token completes it.
    CompletesIdentifier,
    /// The URL ends with a whole identifier: of a commit, of a line of a source file, or the host
    /// of a Message-ID.
    EndsWithIdentifier,
    /// The line of the URL ends at a column at which programs cut words, whatever they are, and the
    /// URL ends with a letter or digit: 76, 79 or 80. A line that another program has broken again
    /// counts with its rest.
    CutColumn,
    /// The URL ends with the `=`, `?` or `&` of a query, and the token is the whole identifier of a
    /// commit, or a parameter with one: the page of a commit has no other form.
    AwaitsCommit,
    /// A program that leaves blanks at soft line ends (RFC 3676, `DelSp`) broke the lines around,
    /// and it broke the line of the URL inside a word.
    BrokenInsideWord,
    /// Like [`Feature::BrokenInsideWord`], but it broke the line of the URL at a blank: the blank
    /// ends the URL.
    BrokenAtBlank,
    /// The URL ends inside a `%` escape, and the token begins with a hexadecimal digit: the escape
    /// is incomplete without it.
    EndsInsideEscape,
    /// The path ends with the extension of a file, and the token does not begin a query: such URLs
    /// are usually complete.
    EndsWithFileExtension,
    /// The URL is a scheme and a complete host, and the token begins neither a path nor another
    /// label: people write URLs of hosts alone.
    EndsWithHost,
    /// The URL ends inside its host, after a dot, colon or hyphen or before all of it, and the
    /// token can continue the host: without it there is no URL.
    EndsInsideHost,
    /// Like [`Feature::EndsInsideHost`], and the URL has no part of the host yet.
    EndsAfterScheme,
    /// The line of the URL is shorter than mailers make full lines, and the URL ends with a letter
    /// or digit: there was room for the token.
    ShortLine,
    /// The line of the URL is longer than any program fills lines, and the URL ends with a letter
    /// or digit: this program does not break lines.
    OverlongLine,
    /// The line of the URL is about as long as programs make full lines.
    FullLine,
    /// The surrounding prose has lines long enough for the token to have fitted on the line of the
    /// URL: the line was not broken for lack of room.
    RoomForToken,
    /// The lower line is quoted, a line with quote marks alone stands before it, the first at a line
    /// break of the URL, and the token begins the lower line: some programs insert such lines, but
    /// most often they separate paragraphs.
    BlankBetween,
    /// The URL is the first text of its line, except for numbers, bullets and brackets: it was put
    /// on a line of its own because it is long.
    UrlStartsLine,
    /// The URL has already been continued by its line: a URL broken once is often broken again.
    AlreadyContinued,
    /// The token is the only text of its line, except for the quote that closes the one before the
    /// URL, and neither one of the most frequent English words nor an address.
    TokenAlone,
    /// More text follows the token on its line, the token begins with a capital letter, and the URL
    /// does not end with a hyphen: probably a new sentence.
    CapitalBeforeText,
    /// The line after the token is blank or does not exist: the rest of a URL often ends a
    /// paragraph.
    EndsParagraph,
    /// The token, without sentence punctuation, ends with the extension of a file, which the URL
    /// may have begun.
    TokenEndsWithExtension,
    /// The line of the URL is a property of a calendar or an address card, and the lower line
    /// begins with one blank more: so are long lines folded there (RFC 5545, section 3.1).
    FoldedProperty,
    /// The token has the punctuation of a URL inside or at its start. Words of prose have none.
    TokenHasUrlPunctuation,
    /// The token begins with the punctuation of a query or fragment, an escape, or the dot and
    /// extension of a file. No word of prose does.
    TokenBeginsQuery,
    /// Like [`Feature::TokenBeginsQuery`], and the token begins with the dot of an extension.
    TokenBeginsExtension,
    /// The token has at least two of the characters that separate the parts of a URL.
    TokenHasTwoDelimiters,
    /// The token has letters and digits, as few words of prose have.
    MixedToken,
    /// The token has two hyphens or more.
    HyphenatedToken,
    /// The token is a word of small letters, a blank and more text follow it, and the URL does not
    /// end with a hyphen.
    WordBeforeText,
    /// The token is longer than words of prose.
    LongToken,
    /// The token is the only text of its line, and is one or two letters or digits that make no
    /// word, after a full line.
    TinyToken,
    /// The URL ends with a slash or hyphen, and the token is a number of four digits or more, or a
    /// hexadecimal number with digits: an identifier.
    NumberToken,
    /// The URL is a scheme and a complete host, and the token is the path, or a port.
    PathAfterHost,
    /// The URL ends with a slash on a full line, where programs prefer to break, and the token has
    /// two marks of a URL: digits among letters, URL punctuation, hyphens, or a length that no word
    /// has; or it ends with the extension of a file.
    CompoundToken,
    /// The token ends with a slash, as the URLs of directories do.
    TokenEndsWithSlash,
    /// The token is a capitalized word, and the URL does not end with a hyphen: probably a name or
    /// a new sentence.
    CapitalizedToken,
    /// The token ends with a colon, or is a word, a colon and more text: the label of a field in a
    /// list or header.
    FieldLabel,
    /// The token is one of the most frequent English words: the sentence continues.
    StopWord,
    /// The token is a mail address or a telephone number, as in a signature.
    AddressToken,
    /// The token is two words with a slash between them, such as `and/or` or `client/server`, and
    /// the URL ends with a letter or digit.
    WordPair,
    /// The line of the token is code: a call of a function, an assignment, a declaration.
    Code,
    /// The token is alone on a short line, and so is the text of the line after it: a list of
    /// names, one on each line.
    ListOfNames,
    /// The token begins with the name of a host, and the URL already has its host.
    HostToken,
    /// Like [`Feature::HostToken`], and [`Feature::ShortLine`]: a list of sites, one on each line.
    SiteList,
    /// The token contains the partner of the bracket or quote before the URL, which was not closed
    /// inside the URL: the URL extends up to it.
    ClosingPartner,
    /// Like [`Feature::ClosingPartner`], and it is a quote or angle bracket that follows the token
    /// directly: these are closed where the URL ends.
    ClosingQuote,
    /// The line of the token is indented less than the line of the URL: a new paragraph or list
    /// item.
    LessIndented,
    /// The line of the token is indented more than the line of the URL, or up to the start of the
    /// URL: programs and people indent continuation lines.
    MoreIndented,
    /// The URL fills its line and ends with a capital letter, digit or hyphen, and the token
    /// consists of capital letters and digits and is alone: a name in capitals was cut.
    CapitalsContinue,
    /// The URL fills its line and ends with a digit, and the token consists of digits and hyphens
    /// and is alone: a number was cut.
    DigitsContinue,
    /// The URL and the token are alone on their lines, with a blank line before them and one after
    /// them, and the token is no name.
    OwnParagraph,
    /// The URL ends inside the extension of a file, and the token is its rest and alone.
    CompletesExtension,
    /// The URL ends with a slash, and the token is the name of a file with its extension, in no list
    /// of such names.
    FileAfterSlash,
}

/// Slope of the logarithm of the odds over the points. The sum of many weights, each of which was
/// fitted with caution, is too small.
const SLOPE: f32 = 1.5;

/// The logarithm of the odds at 0 points.
const OFFSET: f32 = -0.2;

/// The probability that a URL continues over a line break with `points`.
pub(super) fn confidence(points: f32) -> f32 {
    1.0 / (1.0 + (-SLOPE * points - OFFSET).exp())
}

/// A feature with its name and weight.
struct FeatureRow {
    feature: Feature,
    name: &'static str,
    points: f32,
}

/// Every feature, in the order of declaration.
const ROWS: [FeatureRow; 59] = [
    row(Feature::Bias, "base", -4.0),
    row(Feature::SoftLineEnd, "head-soft", 2.0),
    row(Feature::EndsWithHyphen, "head-hyphen", 4.0),
    row(Feature::EndsWithPunctuation, "head-punct", -2.0),
    row(Feature::EndsInsideQuery, "head-query", 1.25),
    row(Feature::CompletesIdentifier, "head-commit", 2.25),
    row(Feature::EndsWithIdentifier, "head-whole", -2.25),
    row(Feature::CutColumn, "cut-column", 2.0),
    row(Feature::AwaitsCommit, "awaits-commit", 2.25),
    row(Feature::BrokenInsideWord, "soft-blank", 3.0),
    row(Feature::BrokenAtBlank, "two-blanks", -1.0),
    row(Feature::EndsInsideEscape, "head-escape", 1.25),
    row(Feature::EndsWithFileExtension, "head-ext", -2.5),
    row(Feature::EndsWithHost, "head-barehost", -1.75),
    row(Feature::EndsInsideHost, "head-hostcut", 2.25),
    row(Feature::EndsAfterScheme, "head-scheme", 1.25),
    row(Feature::ShortLine, "short-alnum", -1.5),
    row(Feature::OverlongLine, "overlong", -1.75),
    row(Feature::FullLine, "filled", 1.75),
    row(Feature::RoomForToken, "fits", -1.25),
    row(Feature::BlankBetween, "blank-between", -2.0),
    row(Feature::UrlStartsLine, "url-first", 1.5),
    row(Feature::AlreadyContinued, "chain", 2.25),
    row(Feature::TokenAlone, "one", 2.0),
    row(Feature::CapitalBeforeText, "many-cap", -0.75),
    row(Feature::EndsParagraph, "ends-para", 0.75),
    row(Feature::TokenEndsWithExtension, "tok-ext", 2.75),
    row(Feature::FoldedProperty, "folded", 1.75),
    row(Feature::TokenHasUrlPunctuation, "tok-strong", 1.0),
    row(Feature::TokenBeginsQuery, "tok-query", 1.5),
    row(Feature::TokenBeginsExtension, "tok-dotext", 1.5),
    row(Feature::TokenHasTwoDelimiters, "tok-path", 0.75),
    row(Feature::MixedToken, "tok-mixed", 0.5),
    row(Feature::HyphenatedToken, "tok-hyphens", 1.0),
    row(Feature::WordBeforeText, "many-word", -2.75),
    row(Feature::LongToken, "tok-long", 1.0),
    row(Feature::TinyToken, "tok-tiny", 2.5),
    row(Feature::NumberToken, "tok-number", 1.75),
    row(Feature::PathAfterHost, "host-path", 1.0),
    row(Feature::CompoundToken, "tok-compound", 1.75),
    row(Feature::TokenEndsWithSlash, "tok-slash", 3.25),
    row(Feature::CapitalizedToken, "tok-cap", -3.5),
    row(Feature::FieldLabel, "tok-label", -2.75),
    row(Feature::StopWord, "tok-stop", -2.5),
    row(Feature::AddressToken, "tok-addr", -1.75),
    row(Feature::WordPair, "tok-pair", -1.0),
    row(Feature::Code, "code", -2.25),
    row(Feature::ListOfNames, "list", -6.25),
    row(Feature::HostToken, "tok-host", -1.75),
    row(Feature::SiteList, "tok-site", -1.0),
    row(Feature::ClosingPartner, "closer", 2.0),
    row(Feature::ClosingQuote, "closing-quote", 1.75),
    row(Feature::LessIndented, "outdent", -2.0),
    row(Feature::MoreIndented, "indent", 0.25),
    row(Feature::CapitalsContinue, "capitals", 2.0),
    row(Feature::DigitsContinue, "digits", 2.0),
    row(Feature::OwnParagraph, "own-para", 1.0),
    row(Feature::CompletesExtension, "ext-cut", 2.0),
    row(Feature::FileAfterSlash, "slash-file", 0.5),
];

const fn row(feature: Feature, name: &'static str, points: f32) -> FeatureRow {
    FeatureRow {
        feature,
        name,
        points,
    }
}

impl Feature {
    /// All features, in the order of declaration.
    pub const ALL: [Feature; ROWS.len()] = {
        let mut all = [Feature::Bias; ROWS.len()];
        let mut at = 0;
        while at < ROWS.len() {
            all[at] = ROWS[at].feature;
            at += 1;
        }
        all
    };

    /// The name used in explanations.
    #[must_use]
    pub fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    /// The weight in points, a multiple of a quarter. A positive weight favours a continuation.
    #[must_use]
    pub fn points(self) -> f32 {
        ROWS[self as usize].points
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features(u64);

impl Features {
    /// Returns `true` if the set contains `feature`.
    #[must_use]
    pub fn has(self, feature: Feature) -> bool {
        self.0 & 1 << feature as u64 != 0
    }

    /// The features in the set, in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        set_bits(self.0).map(|bit| Feature::ALL[bit])
    }

    /// The sum of the weights. Exact: they are multiples of a quarter.
    #[must_use]
    pub fn points(self) -> f32 {
        self.iter().map(Feature::points).sum()
    }

    /// The probability, from 0 to 1, that the URL continues over the line break.
    #[must_use]
    pub fn confidence(self) -> f32 {
        confidence(self.points())
    }

    /// Adds each feature that is marked as present.
    pub(super) fn add<const N: usize>(&mut self, findings: [(Feature, bool); N]) {
        for (feature, is_present) in findings {
            self.0 |= u64::from(is_present) << feature as u64;
        }
    }
}

/// Minimum number of columns of a line that no program breaks before a short word.
const FULL_COLUMNS: usize = 70;

/// Numbers of columns at which programs cut words: Outlook at 76; pine, terminals and programs of
/// USENET at 79 or 80.
const CUT_COLUMNS: [usize; 3] = [76, 79, 80];

/// Numbers of columns of lines that end with a soft `=`. Quoted-printable lines have at most 76
/// characters (RFC 2045, section 6.7), and encoders differ in what they count.
const SOFT_COLUMNS: std::ops::RangeInclusive<usize> = 70..=79;

/// U+00AD, which is visible only where a line was broken at it.
const SOFT_HYPHEN: &[u8] = "\u{AD}".as_bytes();

/// Number of bytes after the token that are searched for the partner of a bracket before the URL: a
/// full stop and the bracket.
const CLOSER_BYTES: usize = 4;

/// Evaluates the continuation of `url` by the token after `line_break`. `None` if it is impossible
/// or has fewer than `least_points`.
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
    // Last, because the width of the surrounding prose is expensive to compute and can only lower
    // the sum.
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

/// Number of bytes (0 to 2) at the end of `url` that a program inserted to break the line: the soft
/// `=` of quoted-printable, the `\` by which programs and shells join lines, or a soft hyphen.
fn leftover_bytes(line_break: &LineBreak<'_>, url: &[u8]) -> usize {
    // An encoded line has no second `=` before its end.
    let is_soft = |line: &[u8]| {
        line.ends_with(b"=") && !line.ends_with(b"==") && SOFT_COLUMNS.contains(&columns(line))
    };
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
        (
            Feature::CompletesIdentifier,
            head.commit_continues(token) || head.message_id_continues(token),
        ),
        (
            Feature::EndsWithIdentifier,
            head.ends_with_identifier() && !(head.has_query() && token.begins_next_parameter()),
        ),
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
    let address =
        token.is_address() && !head.ends_with(b"-") && !continues_number(line_break, head, token);
    let of_its_own = token.is_stop_word() || address;
    let whole_line = line_break.whole_line || is_last_of_quote(line_break, head);
    let alone = whole_line && !of_its_own;
    let url_starts_line = line_break.is_continued() || is_bullet(line_break.before_url());
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
        (Feature::UrlStartsLine, url_starts_line),
        (Feature::AlreadyContinued, line_break.is_continued()),
        (Feature::TokenAlone, alone),
        (
            Feature::CapitalBeforeText,
            !whole_line
                && token.first().is_ascii_uppercase()
                && !head.ends_with(b"-")
                && !token.has_delimiter_inside(),
        ),
        (
            Feature::EndsParagraph,
            line_break.follow() == FollowingLine::Blank,
        ),
        (
            Feature::OwnParagraph,
            alone
                && (!token.is_capitalized() || continues_capitals(line_break, head, token))
                && url_starts_line
                && !line_break.is_continued()
                && line_break.follow() == FollowingLine::Blank
                && line_break.begins_paragraph(),
        ),
    ]);
}

/// Returns `true` if the line of the URL is full or was cut, and the URL ends with one of `bytes`.
fn fills_line(line_break: &LineBreak<'_>) -> bool {
    (FILLED_COLUMNS..=WIDEST_COLUMNS).contains(&columns(line_break.upper_line()))
}

/// Returns `true` if a number in the URL was cut at the end of a full line, and the token is its
/// rest.
fn continues_number(
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) -> bool {
    line_break.whole_line
        && fills_line(line_break)
        && token.is_digits()
        && !head.ends_with_identifier()
        && head.url.last().is_some_and(u8::is_ascii_digit)
}

/// Returns `true` if a name in capitals was cut at the end of a full line, and the token is its
/// rest.
fn continues_capitals(
    line_break: &LineBreak<'_>,
    head: &UrlHead<'_>,
    token: &ContinuationToken<'_>,
) -> bool {
    let cut = |last: &u8| last.is_ascii_uppercase() || last.is_ascii_digit() || *last == b'-';
    line_break.whole_line
        && fills_line(line_break)
        && token.is_capitals()
        && !head.ends_with_identifier()
        && head.url.last().is_some_and(cut)
}

/// Adds the features of the token. Uses the features of the URL and its line.
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
    // Some servers have colons in their paths.
    let colons = head.path_has_colon() && token.all.contains(&b':') && line_break.whole_line;
    let label = token.is_labelled() && !features.has(Feature::EndsInsideHost) && !colons;
    let capitals = continues_capitals(line_break, head, token);
    let digits = continues_number(line_break, head, token);
    let joint = head.ends_with(b"@=") || head.ends_inside_escape();
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
                && line_break.follow() != FollowingLine::Alike
                && token.is_compound(extension),
        ),
        // Several slashes are an ornament.
        (
            Feature::TokenEndsWithSlash,
            token.bare.ends_with(b"/") && !token.bare.ends_with(b"//"),
        ),
        (
            Feature::CapitalizedToken,
            token.is_capitalized()
                && !capitals
                && !head.ends_with(b"-")
                && !head.ends_inside_escape(),
        ),
        (Feature::CapitalsContinue, capitals),
        (Feature::DigitsContinue, digits),
        (
            Feature::CompletesExtension,
            line_break.whole_line && token.completes_extension(head.url),
        ),
        (
            Feature::FileAfterSlash,
            head.ends_with(b"/")
                && token.has_extension(head.url)
                && line_break.follow() != FollowingLine::Alike,
        ),
        (Feature::FieldLabel, token.all.ends_with(b":") || label),
        (Feature::StopWord, token.is_stop_word()),
        (
            Feature::AddressToken,
            token.is_address() && !digits && !head.ends_with(b"-") && !head.is_mailbox(),
        ),
        (
            Feature::WordPair,
            token.is_word_pair() && head.ends_with_alnum(),
        ),
        (
            Feature::Code,
            token.is_code() && !colons || is_code_line(line_break),
        ),
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
    // Indentation behind other quote marks says nothing: a program that breaks a quoted line leaves
    // the rest unquoted.
    let same = line_break.marks.same;
    let list = line_break.whole_line && line_break.follow() == FollowingLine::Alike;
    features.add([
        (Feature::BlankBetween, line_break.is_first_blank()),
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
    let Some(closer) = closer(line_break.before_start()) else {
        return false;
    };
    let is_quote = !matches!(closer, b")" | b"]" | b"}");
    let token = bare(line_break.token_and(0));
    is_quote
        && memmem::find(head.url, closer).is_none()
        && (line_break.rest().starts_with(closer) || token.ends_with(closer))
}

/// Returns `true` if the quote before the URL is closed directly after the token, and only punctuation
/// follows it on its line.
fn is_last_of_quote(line_break: &LineBreak<'_>, head: &UrlHead<'_>) -> bool {
    let rest = trim_end(line_break.rest());
    let closer = closer(line_break.before_start());
    let after = closer.and_then(|closer| rest.strip_prefix(closer));
    after.is_some_and(|after| bare(after).is_empty()) && is_quote_closed(line_break, head)
}

/// Returns `true` if the line of the URL begins with the name of a property, in capitals, and a `:`
/// or `;`, and the lower line is indented by one blank more.
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

/// Returns `true` if the lower line ends like a line of code: with a `;` or a brace after other
/// text.
fn is_code_line(line_break: &LineBreak<'_>) -> bool {
    let rest = trim_end(line_break.rest());
    rest.ends_with(b";") || rest.ends_with(b"{") || rest.starts_with(b" = ")
}

/// Returns `true` if the bracket or quote before the URL is closed in or right after the token, and
/// not in the URL.
fn is_closed(line_break: &LineBreak<'_>, head: &UrlHead<'_>) -> bool {
    let before = line_break.before_start();
    let Some(close) = closer(before) else {
        return false;
    };
    let open = before.last().copied().unwrap_or_default();
    let count = |text: &[u8], bracket: &[u8]| memmem::find_iter(text, bracket).count();
    let token = line_break.token_and(CLOSER_BYTES);
    let has_pairs = matches!(close, b")" | b"]" | b"}");
    let own = if has_pairs { count(token, &[open]) } else { 0 };
    memmem::find(head.url, close).is_none() && own < count(token, close)
}

/// The partner of the bracket or quote at the end of `before`.
fn closer(before: &[u8]) -> Option<&'static [u8]> {
    const PAIRS: [(&str, &str); 13] = [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("'", "'"),
        ("\"", "\""),
        ("\u{27E8}", "\u{27E9}"),
        ("\u{2329}", "\u{232A}"),
        ("\u{3008}", "\u{3009}"),
        ("\u{300A}", "\u{300B}"),
        ("\u{300C}", "\u{300D}"),
        ("\u{2039}", "\u{203A}"),
        ("\u{201C}", "\u{201D}"),
        ("\u{AB}", "\u{BB}"),
    ];
    PAIRS
        .iter()
        .find(|(open, _)| before.ends_with(open.as_bytes()))
        .map(|(_, close)| close.as_bytes())
}

/// Returns `true` if the text before the URL on its line is only numbers, bullets, brackets and
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

/// Returns `true` if the upper line is the rest of a longer one, which ended at one of
/// [`CUT_COLUMNS`].
fn is_rejoined_cut(line_break: &LineBreak<'_>) -> bool {
    line_break
        .rejoined_columns()
        .is_some_and(|columns| CUT_COLUMNS.contains(&columns))
}

/// Returns `true` if the token would have fitted on the line of the URL, given the width of the
/// surrounding prose.
fn has_room_for(line_break: &LineBreak<'_>, token: &ContinuationToken<'_>) -> bool {
    columns(line_break.upper_line()) + " ".len() + columns(token.bare)
        <= prose_columns(line_break.nearby())
}
