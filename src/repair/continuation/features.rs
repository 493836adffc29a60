//! The features of a line break after a bare URL, and their weights.
//!
//! A feature is a fact about the URL, the next line, or the layout that makes a continuation more or less likely. The
//! weights were fitted, like those of a logistic regression, on 310 labelled windows and about 500 labelled line breaks of
//! real archives. Held out by host, 97 % of the joins were right.

/// A feature of a line break after a bare URL: evidence that the next line continues the URL, or that it does not.
///
/// *The URL* is the part read so far, and *its line* is the line that its last byte is on. *The token* is the run of
/// characters at the start of the next line that can belong to a URL, after quote marks and comment leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Always present: most line breaks after a URL end it.
    Bias,
    /// The URL ends with a `=` of quoted-printable or a `\` that joins lines, left over from another encoding. An encoder
    /// inserts these only within a line.
    SoftLineEnd,
    /// The URL ends with a hyphen. Mailers prefer to break lines after one.
    EndsWithHyphen,
    /// The URL ends with sentence punctuation or a closing bracket: probably the end of a sentence.
    EndsWithPunctuation,
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
    /// The URL is the first text of its line, except for numbers, bullets and brackets: it was put on a line of its own because
    /// it is long.
    UrlStartsLine,
    /// The URL has already been continued by its line: a URL broken once is often broken again.
    AlreadyContinued,
    /// The token is the only text of its line.
    TokenAlone,
    /// Like [`Feature::TokenAlone`], and the line of the URL is so full that not even a short word would have fitted.
    TokenAloneAfterFullLine,
    /// More text follows the token on its line, the token begins with a capital letter, and the URL does not end with a hyphen:
    /// probably a new sentence.
    CapitalBeforeText,
    /// The line after the token is blank or does not exist: the rest of a URL often ends a paragraph.
    EndsParagraph,
    /// The token, without sentence punctuation, ends with the extension of a file, which the URL may have begun.
    TokenEndsWithExtension,
    /// The token has the punctuation of a URL inside or at its start. Words of prose have none.
    TokenHasUrlPunctuation,
    /// The token begins with the punctuation of a query or fragment, an escape, or the dot and extension of a file. No word of
    /// prose does.
    TokenBeginsQuery,
    /// Like [`Feature::TokenBeginsQuery`], and the token begins with the dot of an extension.
    TokenBeginsExtension,
    /// The token has at least two of the characters that separate the parts of a URL.
    TokenHasTwoDelimiters,
    /// The token is longer than words of prose.
    LongToken,
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
    /// The token begins with the name of a host in a well-known top-level domain, and the URL already has its host.
    HostToken,
    /// Like [`Feature::HostToken`], and [`Feature::ShortLine`]: a list of sites, one on each line.
    SiteList,
    /// The token contains the partner of the bracket or quote before the URL, which was not closed inside the URL: the URL
    /// extends up to it.
    ClosingPartner,
    /// The line of the token is indented less than the line of the URL: a new paragraph or list item.
    LessIndented,
    /// The line of the token is indented more than the line of the URL, or up to the start of the URL: programs and people indent
    /// continuation lines.
    MoreIndented,
}

/// A feature with its name and weight.
struct FeatureRow {
    feature: Feature,
    name: &'static str,
    points: f32,
}

/// Every feature, in the order of declaration.
const ROWS: [FeatureRow; 35] = [
    row(Feature::Bias, "base", -3.5),
    row(Feature::SoftLineEnd, "head-soft", 2.0),
    row(Feature::EndsWithHyphen, "head-hyphen", 1.75),
    row(Feature::EndsWithPunctuation, "head-punct", -1.5),
    row(Feature::EndsInsideEscape, "head-escape", 1.5),
    row(Feature::EndsWithFileExtension, "head-ext", -2.0),
    row(Feature::EndsWithHost, "head-barehost", -1.0),
    row(Feature::EndsInsideHost, "head-hostcut", 1.5),
    row(Feature::EndsAfterScheme, "head-scheme", 2.5),
    row(Feature::ShortLine, "short-alnum", -1.25),
    row(Feature::OverlongLine, "overlong", -1.0),
    row(Feature::FullLine, "filled", 1.25),
    row(Feature::RoomForToken, "fits", -1.0),
    row(Feature::UrlStartsLine, "url-first", 0.75),
    row(Feature::AlreadyContinued, "chain", 0.75),
    row(Feature::TokenAlone, "one", 1.5),
    row(Feature::TokenAloneAfterFullLine, "one-filled", 0.5),
    row(Feature::CapitalBeforeText, "many-cap", -0.75),
    row(Feature::EndsParagraph, "ends-para", 0.5),
    row(Feature::TokenEndsWithExtension, "tok-ext", 2.25),
    row(Feature::TokenHasUrlPunctuation, "tok-strong", 1.25),
    row(Feature::TokenBeginsQuery, "tok-query", 1.0),
    row(Feature::TokenBeginsExtension, "tok-dotext", 1.0),
    row(Feature::TokenHasTwoDelimiters, "tok-path", 0.75),
    row(Feature::LongToken, "tok-long", 1.0),
    row(Feature::TokenEndsWithSlash, "tok-slash", 1.0),
    row(Feature::CapitalizedToken, "tok-cap", -1.25),
    row(Feature::FieldLabel, "tok-label", -1.5),
    row(Feature::StopWord, "tok-stop", -2.5),
    row(Feature::AddressToken, "tok-addr", -1.0),
    row(Feature::HostToken, "tok-host", -1.0),
    row(Feature::SiteList, "tok-site", -2.0),
    row(Feature::ClosingPartner, "closer", 1.5),
    row(Feature::LessIndented, "outdent", -1.0),
    row(Feature::MoreIndented, "indent", 0.5),
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

    /// Adds each feature that is marked as present.
    pub(super) fn add<const N: usize>(&mut self, findings: [(Feature, bool); N]) {
        for (feature, is_present) in findings {
            self.0 |= u64::from(is_present) << feature as u64;
        }
    }
}
