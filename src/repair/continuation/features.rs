//! The features of a line break after a bare URL, and their weights.
//!
//! A feature is a fact about the URL, the next line, or the layout that makes a continuation more or less likely. The
//! weights are those of a logistic regression on labelled line breaks of nine archives and of generated mail; `docs/joins.md`
//! says how they were fitted, and compares stated with observed confidence on archives that were held out.

/// A feature of a line break after a bare URL: evidence that the next line continues the URL, or that it does not.
///
/// *The URL* is the part read so far, and *its line* is the line that its last byte is on. *The token* is the run of
/// characters at the start of the next line that can belong to a URL, after quote marks and comment leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Always present: most line breaks after a URL end it.
    Bias,
    /// The URL ends with a `=` of quoted-printable or a `\` that joins lines, left over from another encoding, or with a soft
    /// hyphen. Programs insert these only within a line.
    SoftLineEnd,
    /// The URL ends with a hyphen. Mailers prefer to break lines after one.
    EndsWithHyphen,
    /// The URL ends with sentence punctuation or a closing bracket: probably the end of a sentence.
    EndsWithPunctuation,
    /// The URL ends with `&` or `=`, or with `?` before a parameter: a query is incomplete without the token.
    EndsInsideQuery,
    /// The URL ends inside the identifier of a commit, which has 40 or 64 hexadecimal digits, and the token completes it.
    CompletesCommit,
    /// The URL ends with a whole identifier: that of a commit, a line number of a source file, or the host of a Message-ID.
    EndsWithIdentifier,
    /// The line of the URL ends at a column at which programs cut words, whatever they are, and the URL ends with a letter or
    /// digit: 76, 79 or 80. A line that another program has broken again counts with its rest.
    CutColumn,
    /// The URL ends with the `=`, `?` or `&` of a query, and the token is the whole identifier of a commit, or a parameter with
    /// one: the page of a commit has no other form.
    AwaitsCommit,
    /// A program that leaves blanks at soft line ends (RFC 3676, `DelSp`) broke the lines around, and it broke the line of the
    /// URL inside a word.
    BrokenInsideWord,
    /// Like [`Feature::BrokenInsideWord`], but it broke the line of the URL at a blank: the blank ends the URL.
    BrokenAtBlank,
    /// The URL ends inside a `%` escape, and the token begins with a hexadecimal digit: the escape is incomplete without it.
    EndsInsideEscape,
    /// The path ends with the extension of a file, and the token does not begin a query: such URLs are usually complete.
    EndsWithFileExtension,
    /// The URL is a scheme and a complete host, and the token begins neither a path nor another label: people write URLs of
    /// hosts alone.
    EndsWithHost,
    /// The URL ends inside its host, after a dot, colon or hyphen or before all of it, and the token can continue the host:
    /// without it there is no URL.
    EndsInsideHost,
    /// Like [`Feature::EndsInsideHost`], and the URL has no part of the host yet.
    EndsAfterScheme,
    /// The line of the URL is shorter than mailers make full lines, and the URL ends with a letter or digit: there was room
    /// for the token.
    ShortLine,
    /// The line of the URL is longer than any program fills lines, and the URL ends with a letter or digit: this program does
    /// not break lines.
    OverlongLine,
    /// The line of the URL is about as long as programs make full lines.
    FullLine,
    /// The surrounding prose has lines long enough for the token to have fitted on the line of the URL: the line was not broken
    /// for lack of room.
    RoomForToken,
    /// The lower line is quoted, a line with quote marks alone stands before it, and the token begins it: some programs insert
    /// such lines, but most often they separate paragraphs.
    BlankBetween,
    /// The URL is the first text of its line, except for numbers, bullets and brackets: it was put on a line of its own because
    /// it is long.
    UrlStartsLine,
    /// The URL has already been continued by its line: a URL broken once is often broken again.
    AlreadyContinued,
    /// The token is the only text of its line, and neither one of the most frequent English words nor an address.
    TokenAlone,
    /// More text follows the token on its line, the token begins with a capital letter, and the URL does not end with a hyphen:
    /// probably a new sentence.
    CapitalBeforeText,
    /// The line after the token is blank or does not exist: the rest of a URL often ends a paragraph.
    EndsParagraph,
    /// The token, without sentence punctuation, ends with the extension of a file, which the URL may have begun.
    TokenEndsWithExtension,
    /// The line of the URL is a property of a calendar or an address card, and the lower line begins with one blank more: so are
    /// long lines folded there (RFC 5545, section 3.1).
    FoldedProperty,
    /// The token has the punctuation of a URL inside or at its start. Words of prose have none.
    TokenHasUrlPunctuation,
    /// The token begins with the punctuation of a query or fragment, an escape, or the dot and extension of a file. No word of
    /// prose does.
    TokenBeginsQuery,
    /// Like [`Feature::TokenBeginsQuery`], and the token begins with the dot of an extension.
    TokenBeginsExtension,
    /// The token has at least two of the characters that separate the parts of a URL.
    TokenHasTwoDelimiters,
    /// The token has letters and digits, as few words of prose have.
    MixedToken,
    /// The token has two hyphens or more.
    HyphenatedToken,
    /// The token is a word of small letters, a blank and more text follow it, and the URL does not end with a hyphen.
    WordBeforeText,
    /// The token is longer than words of prose.
    LongToken,
    /// The token is the only text of its line, and is one or two letters or digits that make no word, after a full line.
    TinyToken,
    /// The URL ends with a slash or hyphen, and the token is a number of four digits or more, or a hexadecimal number with
    /// digits: an identifier.
    NumberToken,
    /// The URL is a scheme and a complete host, and the token is the path, or a port.
    PathAfterHost,
    /// The URL ends with a slash on a full line, where programs prefer to break, and the token has two marks of a URL: digits
    /// among letters, URL punctuation, hyphens, or a length that no word has; or it ends with the extension of a file.
    CompoundToken,
    /// The token ends with a slash, as the URLs of directories do.
    TokenEndsWithSlash,
    /// The token is a capitalized word, and the URL does not end with a hyphen: probably a name or a new sentence.
    CapitalizedToken,
    /// The token ends with a colon, or is a word, a colon and more text: the label of a field in a list or header.
    FieldLabel,
    /// The token is one of the most frequent English words: the sentence continues.
    StopWord,
    /// The token is a mail address or a telephone number, as in a signature.
    AddressToken,
    /// The token is two words with a slash between them, such as `and/or` or `client/server`, and the URL ends with a letter
    /// or digit.
    WordPair,
    /// The line of the token is code: a call of a function, an assignment, a declaration.
    Code,
    /// The token is alone on a short line, and so is the text of the line after it: a list of names, one on each line.
    ListOfNames,
    /// The token begins with the name of a host, and the URL already has its host.
    HostToken,
    /// Like [`Feature::HostToken`], and [`Feature::ShortLine`]: a list of sites, one on each line.
    SiteList,
    /// The token contains the partner of the bracket or quote before the URL, which was not closed inside the URL: the URL
    /// extends up to it.
    ClosingPartner,
    /// Like [`Feature::ClosingPartner`], and it is a quote that follows the token directly: quotes are closed where the URL ends.
    ClosingQuote,
    /// The line of the token is indented less than the line of the URL: a new paragraph or list item.
    LessIndented,
    /// The line of the token is indented more than the line of the URL, or up to the start of the URL: programs and people indent
    /// continuation lines.
    MoreIndented,
}

/// Slope of the logistic function from points to confidence: points are the logarithm of the odds.
const STEEPNESS: f32 = 1.0;

/// A feature with its name and weight.
struct FeatureRow {
    feature: Feature,
    name: &'static str,
    points: f32,
}

/// Every feature, in the order of declaration.
const ROWS: [FeatureRow; 54] = [
    row(Feature::Bias, "base", -4.0),
    row(Feature::SoftLineEnd, "head-soft", 2.0),
    row(Feature::EndsWithHyphen, "head-hyphen", 4.0),
    row(Feature::EndsWithPunctuation, "head-punct", -2.0),
    row(Feature::EndsInsideQuery, "head-query", 1.25),
    row(Feature::CompletesCommit, "head-commit", 2.25),
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
    row(Feature::AlreadyContinued, "chain", 2.5),
    row(Feature::TokenAlone, "one", 2.0),
    row(Feature::CapitalBeforeText, "many-cap", -0.75),
    row(Feature::EndsParagraph, "ends-para", 0.75),
    row(Feature::TokenEndsWithExtension, "tok-ext", 2.75),
    row(Feature::FoldedProperty, "folded", 1.75),
    row(Feature::TokenHasUrlPunctuation, "tok-strong", 1.25),
    row(Feature::TokenBeginsQuery, "tok-query", 1.5),
    row(Feature::TokenBeginsExtension, "tok-dotext", 1.5),
    row(Feature::TokenHasTwoDelimiters, "tok-path", 0.75),
    row(Feature::MixedToken, "tok-mixed", 0.5),
    row(Feature::HyphenatedToken, "tok-hyphens", 1.0),
    row(Feature::WordBeforeText, "many-word", -2.5),
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
    row(Feature::ListOfNames, "list", -6.0),
    row(Feature::HostToken, "tok-host", -1.75),
    row(Feature::SiteList, "tok-site", -1.0),
    row(Feature::ClosingPartner, "closer", 2.0),
    row(Feature::ClosingQuote, "closing-quote", 1.75),
    row(Feature::LessIndented, "outdent", -2.0),
    row(Feature::MoreIndented, "indent", 0.25),
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
        Feature::ALL
            .into_iter()
            .filter(move |&feature| self.has(feature))
    }

    /// The sum of the weights. Exact: they are multiples of a quarter.
    #[must_use]
    pub fn points(self) -> f32 {
        self.iter().map(Feature::points).sum()
    }

    /// The probability, from 0 to 1, that the URL continues over the line break.
    #[must_use]
    pub fn confidence(self) -> f32 {
        1.0 / (1.0 + (-STEEPNESS * self.points()).exp())
    }

    /// Adds each feature that is marked as present.
    pub(super) fn add<const N: usize>(&mut self, findings: [(Feature, bool); N]) {
        for (feature, is_present) in findings {
            self.0 |= u64::from(is_present) << feature as u64;
        }
    }
}
