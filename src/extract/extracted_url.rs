//! URLs as owned values: the face of the library for texts and messages in memory.
//!
//! Everything here is made of [`Finding::Url`]. The targets inside redirectors, rejects and
//! diagnostics are left to [`Extractor::extract`], which reports them as well.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::{Extractor, Finding, Options};
use crate::origin::Source;
use crate::parse::{Alternate, Site, Verdicts, Wrapper, components};
use crate::record::FoundRecord;
use crate::repair::{Join, RepairSet};
use crate::split::Message;

/// Finds the URLs in a text, by the wide rules and with the default limits.
///
/// Wrapped URLs are unwrapped, and URLs that were broken over lines are joined. Linear in the
/// text's length.
///
/// # Examples
///
/// ```
/// let text = "see <URL:http://a.example/x\n  y> now, or www.b.example.";
/// let found: Vec<String> = urlspool::urls(text).iter().map(|url| url.to_string()).collect();
/// assert_eq!(found, ["http://a.example/xy", "http://www.b.example"]);
/// ```
#[must_use]
pub fn urls(text: &str) -> Vec<ExtractedUrl> {
    DEFAULT.urls(&Message::text(text.as_bytes()))
}

static DEFAULT: LazyLock<Extractor> = LazyLock::new(Extractor::default);

impl Default for Extractor {
    /// Creates an extractor with the default options.
    fn default() -> Extractor {
        Extractor::new(Options::default())
    }
}

impl Extractor {
    /// Finds the URLs of a message, in the order in which they stand in it.
    ///
    /// Linear in the message's length. Holds all URLs at once: for messages with millions use
    /// [`Extractor::extract`].
    #[must_use]
    pub fn urls(&self, message: &Message<'_>) -> Vec<ExtractedUrl> {
        let source = Source::at(PathBuf::new());
        let mut urls = Vec::new();
        self.extract(message, &source, &mut |finding| {
            if let Finding::Url(record) = finding {
                urls.push(ExtractedUrl::new(record, message.start));
            }
        });
        urls
    }
}

impl Message<'_> {
    /// Finds the URLs of this message, in its header fields and in every text part, with the
    /// default options.
    ///
    /// # Examples
    ///
    /// ```
    /// use urlspool::Message;
    ///
    /// let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
    /// let urls = Message::parse(mail).urls();
    /// let url = &urls[0];
    /// assert_eq!(url.as_str(), "ftp://ds.internic.net/rfc");
    /// assert_eq!(url.host().as_deref(), Some("ds.internic.net"));
    /// assert_eq!(&mail[url.range()], b"ftp://ds.in\n   ternic.net/rfc");
    /// assert!(url.verdicts().rfc1738.is_ok());
    /// ```
    #[must_use]
    pub fn urls(&self) -> Vec<ExtractedUrl> {
        DEFAULT.urls(self)
    }
}

/// A URL that was found in a text or message.
///
/// It displays as the URL without its fragment, which stands apart, as in records.
#[derive(Clone, Debug)]
pub struct ExtractedUrl {
    /// The URL as text.
    text: String,
    /// The bytes of the URL, and of its fragment with the `#`.
    full: Vec<u8>,
    url_len: usize,
    range: Range<usize>,
    is_exact: bool,
    wrapper: Wrapper,
    repairs: RepairSet,
    joins: Vec<Join>,
    alternates: Vec<Alternate>,
    confidence: f32,
    region: String,
    quote_depth: usize,
}

impl ExtractedUrl {
    /// Copies what a record says of a URL. Offsets are counted from `start`, the message's first
    /// byte in its source.
    fn new(record: &FoundRecord<'_>, start: u64) -> ExtractedUrl {
        let found = record.found;
        let offset = |at: u64| usize::try_from(at - start).unwrap_or(usize::MAX);
        ExtractedUrl {
            text: String::from_utf8_lossy(found.url()).into_owned(),
            full: found.full.to_owned(),
            url_len: found.url_len,
            range: offset(record.origin.start)..offset(record.origin.end),
            is_exact: record.origin.exact,
            wrapper: found.wrapper,
            repairs: found.repairs,
            joins: record.joins.to_owned(),
            alternates: found.alternates.to_owned(),
            confidence: found.confidence,
            region: record.region.to_owned(),
            quote_depth: record.quote_depth,
        }
    }

    /// The URL without its fragment, as text. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The bytes of the URL without its fragment.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.full[..self.url_len]
    }

    /// The fragment without its `#`. `None` if there is no `#`; empty if nothing follows it.
    #[must_use]
    pub fn fragment(&self) -> Option<Cow<'_, str>> {
        let fragment = self.full.get(self.url_len + 1..)?;
        Some(String::from_utf8_lossy(fragment))
    }

    /// The scheme in lower case.
    #[must_use]
    pub fn scheme(&self) -> String {
        String::from_utf8_lossy(components(self.as_bytes()).scheme).to_ascii_lowercase()
    }

    /// The host in lower case, a name that is not ASCII as A-labels. `None` if the URL has no
    /// authority.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let site = Site::of(&components(self.as_bytes()))?;
        Some(site.host.into_owned())
    }

    /// The byte range in the text or raw message from the URL's first to its last character, line
    /// breaks included, also through quoted-printable, base64 and HTML entities.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The offset of its first byte in the text or raw message.
    #[must_use]
    pub fn start(&self) -> usize {
        self.range.start
    }

    /// The offset after its last byte.
    #[must_use]
    pub fn end(&self) -> usize {
        self.range.end
    }

    /// Returns `true` if the range is exact to the byte, and not to the encoded unit around it.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The wrapper around the URL.
    #[must_use]
    pub fn wrapper(&self) -> Wrapper {
        self.wrapper
    }

    /// The repairs that made the URL whole.
    #[must_use]
    pub fn repairs(&self) -> RepairSet {
        self.repairs
    }

    /// The joins of the logical line that the URL was read from, each with its reasons and
    /// confidence. Doubtful joins and joins after the URL's end are among them.
    #[must_use]
    pub fn joins(&self) -> &[Join] {
        &self.joins
    }

    /// Other readings of the same place, the likeliest first.
    #[must_use]
    pub fn alternates(&self) -> &[Alternate] {
        &self.alternates
    }

    /// The probability that this reading is right, from 0 to 1.
    #[must_use]
    pub fn confidence(&self) -> f32 {
        self.confidence
    }

    /// The place in the message: `header:NAME`, `body`, `signature`, `html:a.href` and so on.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.region
    }

    /// The quote depth of the line on which the URL begins.
    #[must_use]
    pub fn quote_depth(&self) -> usize {
        self.quote_depth
    }

    /// The verdicts of RFC 1738, RFC 3986 and WHATWG. Computed at each call, linear in the URL's
    /// length.
    #[must_use]
    pub fn verdicts(&self) -> Verdicts<'_> {
        Verdicts::of(&self.full, self.url_len)
    }
}

impl fmt::Display for ExtractedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
