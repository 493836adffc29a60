//! The URLs of a text or message as owned values.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::{Extractor, Finding};
use crate::record::FoundRecord;
use urlspool_mail::split::Message;
use urlspool_text::origin::Source;
use urlspool_text::parse::{Alternate, Site, Verdicts, Wrapper, components};
use urlspool_text::repair::{Join, RepairSet};

/// Finds the URLs in a text, with the wide rules and the default limits.
///
/// Wrappers are removed, and URLs broken across lines are joined. Linear in the text's length.
///
/// # Examples
///
/// ```
/// let text = "see <URL:http://a.example/x\n  y> now, or www.b.example.";
/// let urls = urlspool_record::extract::urls(text);
/// let found: Vec<String> = urls.iter().map(|url| url.to_string()).collect();
/// assert_eq!(found, ["http://a.example/xy", "http://www.b.example"]);
/// ```
#[must_use]
pub fn urls(text: &str) -> Vec<ExtractedUrl> {
    DEFAULT.urls(&Message::text(text.as_bytes()))
}

/// Finds the URLs of a message, in its header fields and in every text part, with the default
/// options. Linear in its length.
///
/// # Examples
///
/// ```
/// let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
/// let urls = urlspool_record::extract::message_urls(mail);
/// let url = &urls[0];
/// assert_eq!(url.as_str(), "ftp://ds.internic.net/rfc");
/// assert_eq!(url.host().as_deref(), Some("ds.internic.net"));
/// assert_eq!(&mail[url.range()], b"ftp://ds.in\n   ternic.net/rfc");
/// assert!(url.verdicts().rfc1738.is_ok());
/// ```
#[must_use]
pub fn message_urls(message: &[u8]) -> Vec<ExtractedUrl> {
    DEFAULT.urls(&Message::parse(message))
}

static DEFAULT: LazyLock<Extractor> = LazyLock::new(Extractor::default);

impl Extractor {
    /// Finds the URLs of a message, in message order.
    ///
    /// Linear in the message's length. Holds all URLs in memory; for messages with millions of
    /// URLs, use [`Extractor::extract`].
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

/// A URL found in a text or message.
///
/// `Display` prints the URL without its fragment, which is kept separately, as in records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExtractedUrl {
    /// The URL without its fragment, as text.
    text: String,
    /// Bytes of the URL, including `#` and the fragment.
    full: Vec<u8>,
    url_len: usize,
    range: Range<usize>,
    /// `true` if the range is exact to the byte, and not rounded out to an encoded unit.
    pub is_exact: bool,
    /// Wrapper around the URL.
    pub wrapper: Wrapper,
    /// Repairs made to the URL.
    pub repairs: RepairSet,
    /// Joins of the URL's logical line, each with its reasons and confidence. Doubtful joins and
    /// joins after the URL's end are included.
    pub joins: Vec<Join>,
    /// Other readings of the same place, most likely first.
    pub alternates: Vec<Alternate>,
    /// Probability (0 to 1) that this reading is right.
    pub confidence: f32,
    /// Region of the message: `header:NAME`, `body`, `signature`, `html:a.href` and so on.
    pub region: String,
    /// Quote depth of the line on which the URL starts.
    pub quote_depth: usize,
}

impl ExtractedUrl {
    /// Copies the URL from a record. Offsets are relative to `start`, the source offset of the
    /// message.
    fn new(record: &FoundRecord<'_>, start: u64) -> ExtractedUrl {
        let found = record.found;
        let [from, to] = [record.origin.start, record.origin.end]
            .map(|at| usize::try_from(at - start).unwrap_or(usize::MAX));
        ExtractedUrl {
            text: String::from_utf8_lossy(found.url()).into_owned(),
            full: found.full.to_owned(),
            url_len: found.url_len,
            range: from..to,
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

    /// Returns the URL without its fragment, as text. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the bytes of the URL without its fragment.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.full[..self.url_len]
    }

    /// Returns the fragment without its `#`. `None` if there is no `#`; empty if the URL ends with
    /// it.
    #[must_use]
    pub fn fragment(&self) -> Option<Cow<'_, str>> {
        Some(String::from_utf8_lossy(self.full.get(self.url_len + 1..)?))
    }

    /// Returns the scheme in lower case.
    #[must_use]
    pub fn scheme(&self) -> String {
        String::from_utf8_lossy(components(self.as_bytes()).scheme).to_ascii_lowercase()
    }

    /// Returns the host in lower case; a non-ASCII name is converted to A-labels. `None` if the URL
    /// has no authority.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let site = Site::of(&components(self.as_bytes()))?;
        Some(site.host.into_owned())
    }

    /// Returns the byte range of the URL in the text or raw message, including line breaks inside
    /// it. The range refers to the input's bytes even for quoted-printable, base64 and HTML
    /// entities.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the verdicts of RFC 1738, RFC 3986 and WHATWG. Computed on each call, linear in the
    /// URL's length.
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
