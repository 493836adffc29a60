//! The forms of `url`: one file for each predefined scheme, one function for each production.

mod file;
mod ftp;
mod generic;
mod gopher;
mod http;
mod mailto;
mod news;
mod nntp;
mod prospero;
mod telnet;
mod wais;

pub use file::FileUrl;
pub use ftp::{FtpCommand, FtpPath, FtpUrl};
pub use generic::{IpSchemepart, OtherUrl};
pub use gopher::{GopherPath, GopherUrl};
pub use http::HttpUrl;
pub use mailto::MailtoUrl;
pub use news::NewsUrl;
pub use nntp::NntpUrl;
pub use prospero::{ProsperoField, ProsperoUrl};
pub use telnet::TelnetUrl;
pub use wais::{WaisPart, WaisUrl};

use super::reject::{ProductionError, RejectKind, RejectPart};
use super::scheme::SchemeRule;

/// The scheme-specific part of a URL, parsed by the rule of its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlForm<'a> {
    /// `ftpurl`
    Ftp(FtpUrl<'a>),
    /// `fileurl`
    File(FileUrl<'a>),
    /// `httpurl`
    Http(HttpUrl<'a>),
    /// `gopherurl`
    Gopher(GopherUrl<'a>),
    /// `mailtourl`
    Mailto(MailtoUrl<'a>),
    /// `newsurl`
    News(NewsUrl<'a>),
    /// `nntpurl`
    Nntp(NntpUrl<'a>),
    /// `telneturl`
    Telnet(TelnetUrl<'a>),
    /// `waisurl`
    Wais(WaisUrl<'a>),
    /// `prosperourl`
    Prospero(ProsperoUrl<'a>),
    /// `otherurl`
    Other(OtherUrl<'a>),
}

impl UrlForm<'_> {
    /// All names that [`UrlForm::name`] returns.
    pub const NAMES: [&'static str; 16] = [
        "ftpurl",
        "fileurl",
        "httpurl",
        "gopherurl",
        "mailtourl",
        "news-all",
        "news-group",
        "news-article",
        "nntpurl",
        "telneturl",
        "waisdatabase",
        "waisindex",
        "waisdoc",
        "prosperourl",
        "otherurl",
        "otherurl-ip",
    ];

    /// The name used in a record's `form`: a production of section 5, or our name for one of its alternatives.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            UrlForm::Ftp(_) => "ftpurl",
            UrlForm::File(_) => "fileurl",
            UrlForm::Http(_) => "httpurl",
            UrlForm::Gopher(_) => "gopherurl",
            UrlForm::Mailto(_) => "mailtourl",
            UrlForm::News(NewsUrl::All) => "news-all",
            UrlForm::News(NewsUrl::Group(_)) => "news-group",
            UrlForm::News(NewsUrl::Article { .. }) => "news-article",
            UrlForm::Nntp(_) => "nntpurl",
            UrlForm::Telnet(_) => "telneturl",
            UrlForm::Wais(WaisUrl {
                part: WaisPart::Database,
                ..
            }) => "waisdatabase",
            UrlForm::Wais(WaisUrl {
                part: WaisPart::Index { .. },
                ..
            }) => "waisindex",
            UrlForm::Wais(WaisUrl {
                part: WaisPart::Doc { .. },
                ..
            }) => "waisdoc",
            UrlForm::Prospero(_) => "prosperourl",
            UrlForm::Other(OtherUrl { ip: None, .. }) => "otherurl",
            UrlForm::Other(OtherUrl { ip: Some(_), .. }) => "otherurl-ip",
        }
    }

    /// Appends the scheme-specific part as written.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            UrlForm::Ftp(url) => url.write(out),
            UrlForm::File(url) => url.write(out),
            UrlForm::Http(url) => url.write(out),
            UrlForm::Gopher(url) => url.write(out),
            UrlForm::Mailto(url) => out.extend(url.addr),
            UrlForm::News(url) => url.write(out),
            UrlForm::Nntp(url) => url.write(out),
            UrlForm::Telnet(url) => url.write(out),
            UrlForm::Wais(url) => url.write(out),
            UrlForm::Prospero(url) => url.write(out),
            UrlForm::Other(url) => out.extend(url.schemepart),
        }
    }
}

/// Parses all of `input`, the text after `scheme ":"`, by `rule`.
pub(super) fn schemepart(rule: SchemeRule, input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    Ok(match rule {
        SchemeRule::Ftp => UrlForm::Ftp(ftp::ftpurl(slashes(input)?)?),
        SchemeRule::File => UrlForm::File(file::fileurl(slashes(input)?)?),
        SchemeRule::Http => UrlForm::Http(http::httpurl(slashes(input)?)?),
        SchemeRule::Gopher => UrlForm::Gopher(gopher::gopherurl(slashes(input)?)?),
        SchemeRule::Mailto => UrlForm::Mailto(mailto::mailtourl(input)?),
        SchemeRule::News => UrlForm::News(news::newsurl(input)?),
        SchemeRule::Nntp => UrlForm::Nntp(nntp::nntpurl(slashes(input)?)?),
        SchemeRule::Telnet => UrlForm::Telnet(telnet::telneturl(slashes(input)?)?),
        SchemeRule::Wais => UrlForm::Wais(wais::waisurl(slashes(input)?)?),
        SchemeRule::Prospero => UrlForm::Prospero(prospero::prosperourl(slashes(input)?)?),
        SchemeRule::Other => UrlForm::Other(generic::otherurl(input)?),
    })
}

/// Parses the literal `"//"` and returns the remaining bytes.
fn slashes(input: &[u8]) -> Result<&[u8], ProductionError> {
    input.strip_prefix(b"//").ok_or_else(|| {
        ProductionError::new(
            RejectKind::Missing,
            RejectPart::Slashes,
            input.strip_prefix(b"/").unwrap_or(input),
        )
    })
}

/// Parses the `"/"` that a form requires after its host, and returns the remaining bytes.
fn slash(part: RejectPart, input: &[u8]) -> Result<&[u8], ProductionError> {
    input
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(part, input))
}

/// The error for the first byte of `rest`, which follows a complete host or port.
fn after_host(part: RejectPart, rest: &[u8]) -> ProductionError {
    match rest.first() {
        None => ProductionError::new(RejectKind::Missing, part, rest),
        Some(_) => ProductionError::new(RejectKind::Unexpected, RejectPart::Host, rest),
    }
}

/// The segments of a path, separated by slashes. An empty path is one empty segment.
fn segments(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
}

/// Appends `prefix` and `text`, if there is a text.
fn write_after(out: &mut Vec<u8>, prefix: &[u8], text: Option<&[u8]>) {
    if let Some(text) = text {
        out.extend(prefix);
        out.extend(text);
    }
}
