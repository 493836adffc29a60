//! The features of a line break, and their weights.

/// One piece of evidence that the next line continues a URL, or that it does not.
///
/// The URL is what was read of it so far; its line is the one that its last bytes stand in. The token is the run of
/// characters at the start of the next line that can belong to a URL, behind quote marks and comment leads; bare,
/// it is that without sentence punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Always: most line ends are the end of what they end with.
    Base,
    /// The URL ends with a `=` or `\` that is left over from another encoding.
    HeadSoft,
    /// It ends with a hyphen.
    HeadHyphen,
    /// It ends with sentence punctuation or a closing bracket.
    HeadPunct,
    /// It ends within a `%` escape, and the token begins with a hexadecimal digit.
    HeadEscape,
    /// Its path ends with the extension of a file, and the token begins no query.
    HeadExt,
    /// It is a scheme and a whole host, and the token begins neither a path nor one more label.
    HeadBarehost,
    /// It ends within its host, behind a dot, colon or hyphen or before all of it, and the token could go on there.
    HeadHostcut,
    /// The same, and nothing of the host is there.
    HeadScheme,
    /// Its line is shorter than mailers fill lines, and it ends with a letter or digit.
    ShortAlnum,
    /// Its line is longer than people's programs fill lines, and it ends with a letter or digit.
    Overlong,
    /// Its line is about as long as programs fill lines.
    Filled,
    /// The prose around has lines so long that the token would have fitted in the URL's line.
    Fits,
    /// The URL is the first thing in its line, but for numbers, bullets and brackets.
    UrlFirst,
    /// The URL has already been continued by its line.
    Chain,
    /// The token is all of its line.
    One,
    /// The same, and the URL's line is so full that no word would have fitted in it.
    OneFilled,
    /// The token is not all of its line, begins with a capital letter, and the URL does not end with a hyphen.
    ManyCap,
    /// The line behind the token's is blank, or there is none.
    EndsPara,
    /// The bare token ends with the extension of a file, perhaps begun by the URL.
    TokExt,
    /// It has a URL's punctuation inside, or begins with it.
    TokStrong,
    /// It begins with a query's or fragment's punctuation, an escape, or the dot and extension of a file.
    TokQuery,
    /// The last of these.
    TokDotext,
    /// It holds two or more of a URL's marks of punctuation.
    TokPath,
    /// It is longer than words are.
    TokLong,
    /// It ends with a slash.
    TokSlash,
    /// It is a capitalised word, and the URL does not end with a hyphen.
    TokCap,
    /// It ends with a colon, or is a word, a colon and something else: the label of a field.
    TokLabel,
    /// It is one of the most frequent English words.
    TokStop,
    /// It is a mail address or a telephone number.
    TokAddr,
    /// It begins with the name of a host in a well-known top-level domain, and the URL has its host.
    TokHost,
    /// The same, and the URL's line is short: a list of sites.
    TokSite,
    /// It holds the partner of the bracket or quote that stands before the URL and was not closed in it.
    Closer,
    /// Its line is indented less than the URL's.
    Outdent,
    /// Its line is indented more than the URL's, or up to where the URL begins.
    Indent,
}

/// Every piece of evidence, its name and its points.
const ROWS: [(Feature, &str, f32); 35] = [
    (Feature::Base, "base", -3.5),
    (Feature::HeadSoft, "head-soft", 2.0),
    (Feature::HeadHyphen, "head-hyphen", 1.75),
    (Feature::HeadPunct, "head-punct", -1.5),
    (Feature::HeadEscape, "head-escape", 1.5),
    (Feature::HeadExt, "head-ext", -2.0),
    (Feature::HeadBarehost, "head-barehost", -1.0),
    (Feature::HeadHostcut, "head-hostcut", 1.5),
    (Feature::HeadScheme, "head-scheme", 2.5),
    (Feature::ShortAlnum, "short-alnum", -1.25),
    (Feature::Overlong, "overlong", -1.0),
    (Feature::Filled, "filled", 1.25),
    (Feature::Fits, "fits", -1.0),
    (Feature::UrlFirst, "url-first", 0.75),
    (Feature::Chain, "chain", 0.75),
    (Feature::One, "one", 1.5),
    (Feature::OneFilled, "one-filled", 0.5),
    (Feature::ManyCap, "many-cap", -0.75),
    (Feature::EndsPara, "ends-para", 0.5),
    (Feature::TokExt, "tok-ext", 2.25),
    (Feature::TokStrong, "tok-strong", 1.25),
    (Feature::TokQuery, "tok-query", 1.0),
    (Feature::TokDotext, "tok-dotext", 1.0),
    (Feature::TokPath, "tok-path", 0.75),
    (Feature::TokLong, "tok-long", 1.0),
    (Feature::TokSlash, "tok-slash", 1.0),
    (Feature::TokCap, "tok-cap", -1.25),
    (Feature::TokLabel, "tok-label", -1.5),
    (Feature::TokStop, "tok-stop", -2.5),
    (Feature::TokAddr, "tok-addr", -1.0),
    (Feature::TokHost, "tok-host", -1.0),
    (Feature::TokSite, "tok-site", -2.0),
    (Feature::Closer, "closer", 1.5),
    (Feature::Outdent, "outdent", -1.0),
    (Feature::Indent, "indent", 0.5),
];

impl Feature {
    /// All evidence, in the order of the declaration.
    pub const ALL: [Feature; ROWS.len()] = {
        let mut all = [Feature::Base; ROWS.len()];
        let mut at = 0;
        while at < ROWS.len() {
            all[at] = ROWS[at].0;
            at += 1;
        }
        all
    };

    /// The name that explanations use.
    #[must_use]
    pub fn name(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// What it weighs, a multiple of a quarter. Positive speaks for a continuation.
    #[must_use]
    pub fn points(self) -> f32 {
        ROWS[self as usize].2
    }
}

/// A set of evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features(u64);

impl Features {
    /// Whether it holds `evidence`.
    #[must_use]
    pub fn has(self, evidence: Feature) -> bool {
        self.0 & 1 << evidence as u64 != 0
    }

    /// Its members, in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL
            .into_iter()
            .filter(move |&evidence| self.has(evidence))
    }

    /// The sum of its members' points. Exact: they are multiples of a quarter.
    #[must_use]
    pub fn points(self) -> f32 {
        self.iter().map(Feature::points).sum()
    }

    /// Adds what has been found of `findings`.
    pub(super) fn add<const N: usize>(&mut self, findings: [(Feature, bool); N]) {
        for (evidence, found) in findings {
            self.0 |= u64::from(found) << evidence as u64;
        }
    }
}
