//! The forms of `url`: one file for each predefined scheme, one production one function.

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
pub use prospero::ProsperoUrl;
pub use telnet::TelnetUrl;
pub use wais::{WaisPart, WaisUrl};

use super::reject::{Kind, Part, Refusal};
use super::scheme::Rule;

/// A URL's scheme-specific part, read by the rule of its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form<'a> {
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

impl Form<'_> {
    /// The name that stands in a record's `form`: a production of section 5, or our name for one of its alternatives.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Form::Ftp(_) => "ftpurl",
            Form::File(_) => "fileurl",
            Form::Http(_) => "httpurl",
            Form::Gopher(_) => "gopherurl",
            Form::Mailto(_) => "mailtourl",
            Form::News(NewsUrl::All) => "news-all",
            Form::News(NewsUrl::Group(_)) => "news-group",
            Form::News(NewsUrl::Article { .. }) => "news-article",
            Form::Nntp(_) => "nntpurl",
            Form::Telnet(_) => "telneturl",
            Form::Wais(WaisUrl {
                part: WaisPart::Database,
                ..
            }) => "waisdatabase",
            Form::Wais(WaisUrl {
                part: WaisPart::Index { .. },
                ..
            }) => "waisindex",
            Form::Wais(WaisUrl {
                part: WaisPart::Doc { .. },
                ..
            }) => "waisdoc",
            Form::Prospero(_) => "prosperourl",
            Form::Other(OtherUrl { ip: None, .. }) => "otherurl",
            Form::Other(OtherUrl { ip: Some(_), .. }) => "otherurl-ip",
        }
    }

    /// Appends the scheme-specific part as it was written.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Form::Ftp(url) => url.write(out),
            Form::File(url) => url.write(out),
            Form::Http(url) => url.write(out),
            Form::Gopher(url) => url.write(out),
            Form::Mailto(url) => out.extend(url.addr),
            Form::News(url) => url.write(out),
            Form::Nntp(url) => url.write(out),
            Form::Telnet(url) => url.write(out),
            Form::Wais(url) => url.write(out),
            Form::Prospero(url) => url.write(out),
            Form::Other(url) => out.extend(url.schemepart),
        }
    }
}

/// Reads all of `input`, which follows `scheme ":"`, by `rule`.
pub(super) fn schemepart(rule: Rule, input: &[u8]) -> Result<Form<'_>, Refusal> {
    Ok(match rule {
        Rule::Ftp => Form::Ftp(ftp::ftpurl(slashes(input)?)?),
        Rule::File => Form::File(file::fileurl(slashes(input)?)?),
        Rule::Http => Form::Http(http::httpurl(slashes(input)?)?),
        Rule::Gopher => Form::Gopher(gopher::gopherurl(slashes(input)?)?),
        Rule::Mailto => Form::Mailto(mailto::mailtourl(input)?),
        Rule::News => Form::News(news::newsurl(input)?),
        Rule::Nntp => Form::Nntp(nntp::nntpurl(slashes(input)?)?),
        Rule::Telnet => Form::Telnet(telnet::telneturl(slashes(input)?)?),
        Rule::Wais => Form::Wais(wais::waisurl(slashes(input)?)?),
        Rule::Prospero => Form::Prospero(prospero::prosperourl(slashes(input)?)?),
        Rule::Other => Form::Other(generic::otherurl(input)?),
    })
}

/// `"//"`
fn slashes(input: &[u8]) -> Result<&[u8], Refusal> {
    input.strip_prefix(b"//").ok_or_else(|| {
        Refusal::new(
            Kind::Missing,
            Part::Slashes,
            input.strip_prefix(b"/").unwrap_or(input),
        )
    })
}

/// The `"/"` that a form cannot do without, after its host.
fn slash(part: Part, input: &[u8]) -> Result<&[u8], Refusal> {
    input
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(part, input))
}

/// What is wrong with the first byte of `rest`, which follows a complete host or port.
fn after_host(part: Part, rest: &[u8]) -> Refusal {
    match rest.first() {
        None => Refusal::new(Kind::Missing, part, rest),
        Some(_) => Refusal::new(Kind::Unexpected, Part::Host, rest),
    }
}

/// The segments of a path: what stands between its slashes. An empty path is one empty segment.
fn segments(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
}

/// Appends `prefix` and the text, if there is one.
fn write_after(out: &mut Vec<u8>, prefix: &[u8], text: Option<&[u8]>) {
    if let Some(text) = text {
        out.extend(prefix);
        out.extend(text);
    }
}
