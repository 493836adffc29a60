//! RFC 1738: the grammar of section 5, what sections 2 to 4 say its parts mean, and why a text is refused.
//!
//! Strict: bytes in, a borrowed [`Url`] or a [`Reject`] out; nothing is trimmed, folded or guessed.
//! What people really write is `parse`'s business. Imports nothing.
//!
//! Where the RFC leaves something open, we decided so:
//!
//! - Acceptance follows section 5. Where the prose is narrower the URL is accepted with a [`Warning`]; where
//!   the prose gives a meaning that the grammar does not, the prose decides the parts.
//! - A predefined scheme answers to its own rule only: `http:foo` is no URL, though `otherurl` derives it.
//! - Literals are case-sensitive (`;type=`); the scheme alone is not (section 2.1).
//! - `n*[...]` groups; the brackets do not make the repeated thing optional.
//! - The bare `/` in `gopherurl` is a misprint for `"/"`.
//!
//! Every production reads its input once from left to right, so the work is linear in the text's length.

mod chars;
mod escape;
mod forms;
mod host;
mod reject;
mod scheme;

pub use escape::{decode, escaped_byte, normalize};
pub use forms::{
    FileUrl, FtpCommand, FtpPath, FtpUrl, GopherPath, GopherUrl, HttpUrl, IpSchemepart, MailtoUrl,
    NewsUrl, NntpUrl, OtherUrl, ProsperoUrl, TelnetUrl, UrlForm, WaisPart, WaisUrl,
};
pub use host::{Host, HostKind, HostPort, Login};
pub use reject::{Reject, RejectKind, RejectPart};
pub use scheme::{BareRequirement, SCHEMES, Scheme, SchemeClass, SchemeRule, is_scheme_char};

use chars::CharSet;

/// A URL of RFC 1738, borrowed from the text it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// The scheme's name as written. Names are compared without regard to case (section 2.1).
    pub scheme: &'a [u8],
    /// The rest, read by the scheme's rule.
    pub form: UrlForm<'a>,
}

/// Something that the prose of RFC 1738 asks for and its grammar does not. Never a reason to refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// A port above 65535.
    PortRange,
    /// A group of a host number above 255.
    HostnumberRange,
    /// nntp without the article number that section 3.7 asks for.
    NntpNoArticle,
    /// mailto without an `@`.
    MailtoNoAt,
    /// A gopher type that is no graphic character.
    GopherTypeNotGraphic,
    /// A gopher search string with characters outside `search`.
    GopherSearchOutsideRule,
    /// A gopher selector that holds an encoded CR or LF.
    GopherSelectorCrlf,
}

impl Warning {
    /// The name that stands in a record's `warnings`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Warning::PortRange => "port-range",
            Warning::HostnumberRange => "hostnumber-range",
            Warning::NntpNoArticle => "nntp-no-article",
            Warning::MailtoNoAt => "mailto-no-at",
            Warning::GopherTypeNotGraphic => "gopher-type-not-graphic",
            Warning::GopherSearchOutsideRule => "gopher-search-outside-rule",
            Warning::GopherSelectorCrlf => "gopher-selector-crlf",
        }
    }
}

/// Reads all of `input` as `url` of RFC 1738 section 5.
///
/// A fragment is no part of a URL, and the prefix `URL:` is a scheme here: taking both off is the caller's task.
///
/// # Errors
///
/// The [`Reject`] of the place up to which the text begins some URL of its scheme. Where what stands there cannot
/// be finished, that is where it begins: a bad escape, a bad label, a host that lacks the `@` to be a user name,
/// a group that lacks one to be an article. No offset lies beyond the furthest such place.
pub fn url(input: &[u8]) -> Result<Url<'_>, Reject> {
    let read = || {
        let (name, rest) = scheme::scheme(input)?;
        let rule = Scheme::named(name).map_or(SchemeRule::Other, |row| row.rule);
        Ok(Url {
            scheme: name,
            form: forms::schemepart(rule, rest)?,
        })
    };
    read().map_err(|refusal: reject::ProductionError| refusal.within(input.len()))
}

/// Whether `text` can stand after `#`: `*xchar` (section 5 has no rule for it; the appendix writes one so).
#[must_use]
pub fn is_fragment(text: &[u8]) -> bool {
    escape::run(CharSet::XCHAR, text).1.is_empty()
}

impl<'a> Url<'a> {
    /// Its scheme's row in the table, if the scheme has one.
    #[must_use]
    pub fn known_scheme(&self) -> Option<&'static Scheme> {
        Scheme::named(self.scheme)
    }

    /// Host and port, in the forms that have them.
    #[must_use]
    pub fn hostport(&self) -> Option<HostPort<'a>> {
        match &self.form {
            UrlForm::Ftp(url) => Some(url.login.hostport),
            UrlForm::Telnet(url) => Some(url.login.hostport),
            UrlForm::Http(url) => Some(url.hostport),
            UrlForm::Gopher(url) => Some(url.hostport),
            UrlForm::Nntp(url) => Some(url.hostport),
            UrlForm::Wais(url) => Some(url.hostport),
            UrlForm::Prospero(url) => Some(url.hostport),
            UrlForm::Other(OtherUrl { ip: Some(ip), .. }) => Some(ip.login.hostport),
            UrlForm::File(FileUrl {
                host: Some(host), ..
            })
            | UrlForm::News(NewsUrl::Article { host, .. }) => Some(HostPort {
                host: *host,
                port: None,
            }),
            UrlForm::File(_) | UrlForm::News(_) | UrlForm::Mailto(_) | UrlForm::Other(_) => None,
        }
    }

    /// User name and password, in the forms that have them.
    #[must_use]
    pub fn login(&self) -> Option<Login<'a>> {
        match &self.form {
            UrlForm::Ftp(url) => Some(url.login),
            UrlForm::Telnet(url) => Some(url.login),
            UrlForm::Other(OtherUrl { ip: Some(ip), .. }) => Some(ip.login),
            _ => None,
        }
    }

    /// The port a client would use: the URL's own, else the scheme's; `None` where it is above 65535 or unknown.
    #[must_use]
    pub fn effective_port(&self) -> Option<u16> {
        match self.hostport()? {
            hostport @ HostPort { port: Some(_), .. } => hostport.port_number(),
            HostPort { port: None, .. } => self.known_scheme()?.port,
        }
    }

    /// Its warnings, in the order of [`Warning`]'s variants.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let Some(hostport) = self.hostport() {
            if hostport.port.is_some() && hostport.port_number().is_none() {
                warnings.push(Warning::PortRange);
            }
            if hostport.host.out_of_range() {
                warnings.push(Warning::HostnumberRange);
            }
        }
        match &self.form {
            UrlForm::Nntp(NntpUrl {
                article_number: None,
                ..
            }) => warnings.push(Warning::NntpNoArticle),
            UrlForm::Mailto(url) if !decode(url.addr).contains(&b'@') => {
                warnings.push(Warning::MailtoNoAt)
            }
            UrlForm::Gopher(url) => warnings.extend(gopher_warnings(url)),
            _ => {}
        }
        warnings
    }

    /// Prints it back: the bytes it was read from.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.scheme.to_vec();
        out.push(b':');
        self.form.write(&mut out);
        out
    }
}

/// Section 3.4: the type is one graphic character, the search obeys `search`, the selector holds no line end.
fn gopher_warnings(url: &GopherUrl<'_>) -> impl Iterator<Item = Warning> {
    let path = url.path;
    let odd_type = !url.effective_gtype().is_ascii_graphic();
    let odd_search = path
        .and_then(|path| path.search)
        .is_some_and(|search| !escape::run(CharSet::HSEGMENT, search).1.is_empty());
    let line_end = path.and_then(|path| path.selector).is_some_and(|selector| {
        decode(selector)
            .iter()
            .any(|&octet| matches!(octet, b'\r' | b'\n'))
    });
    [
        odd_type.then_some(Warning::GopherTypeNotGraphic),
        odd_search.then_some(Warning::GopherSearchOutsideRule),
        line_end.then_some(Warning::GopherSelectorCrlf),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form's name of what must be a URL, which must print back as it was.
    #[track_caller]
    fn form(text: &str) -> &'static str {
        let read = url(text.as_bytes()).unwrap_or_else(|reject| panic!("{text}: {reject}"));
        assert_eq!(String::from_utf8(read.to_bytes()).unwrap(), text);
        read.form.name()
    }

    #[track_caller]
    fn refused(text: &str) -> (RejectKind, RejectPart, usize) {
        let reject = url(text.as_bytes()).expect_err(text);
        (reject.kind, reject.part, reject.offset)
    }

    #[test]
    fn every_scheme_has_its_form() {
        assert_eq!(form("ftp://myname@host.dom/%2Fetc/motd;type=a"), "ftpurl");
        assert_eq!(
            form("file://vms.host.edu/disk$user/my/notes/note12345.txt"),
            "fileurl"
        );
        assert_eq!(form("HTTP://h:80/p;x?q"), "httpurl");
        assert_eq!(form("gopher://h/1sel%09find%09+"), "gopherurl");
        assert_eq!(form("mailto:user%25host@gw.dom"), "mailtourl");
        assert_eq!(form("news:*"), "news-all");
        assert_eq!(form("news:comp.infosystems"), "news-group");
        assert_eq!(form("news:id@h"), "news-article");
        assert_eq!(form("nntp://h/g/1"), "nntpurl");
        assert_eq!(form("telnet://u:p@h:23/"), "telneturl");
        assert_eq!(form("wais://h/d"), "waisdatabase");
        assert_eq!(form("wais://h/d?q"), "waisindex");
        assert_eq!(form("wais://h/d/t/p"), "waisdoc");
        assert_eq!(form("prospero://h/n;a=b;=c"), "prosperourl");
        assert_eq!(form("urn:x"), "otherurl");
        assert_eq!(form("tn3270://u@h:23/"), "otherurl-ip");
    }

    #[test]
    fn a_refusal_says_what_where_and_at_which_octet() {
        assert_eq!(
            refused("http://h:/x"),
            (RejectKind::Empty, RejectPart::Port, 9)
        );
        assert_eq!(
            refused("http://a-/"),
            (RejectKind::BadLabel, RejectPart::Host, 9)
        );
        assert_eq!(
            refused("http://h/~u"),
            (RejectKind::Unexpected, RejectPart::Path, 9)
        );
        assert_eq!(
            refused("ftp://h/a;type=x"),
            (RejectKind::Unexpected, RejectPart::Typecode, 15)
        );
        assert_eq!(
            refused("foo:%4g"),
            (RejectKind::BadEscape, RejectPart::Schemepart, 4)
        );
        assert_eq!(refused(""), (RejectKind::Empty, RejectPart::Scheme, 0));
    }

    #[test]
    fn a_predefined_scheme_is_not_rescued_by_otherurl() {
        assert_eq!(
            refused("http:foo"),
            (RejectKind::Missing, RejectPart::Slashes, 5)
        );
    }

    #[test]
    fn the_ftp_commands_are_those_of_section_3_2_2() {
        let UrlForm::Ftp(url) = url(b"ftp://myname@host.dom/%2Fetc/motd;type=a")
            .unwrap()
            .form
        else {
            panic!()
        };
        let said: Vec<_> = url
            .commands()
            .into_iter()
            .map(|c| (c.verb, String::from_utf8(c.argument).unwrap()))
            .collect();
        let want = [
            ("USER", "myname"),
            ("CWD", "/etc"),
            ("TYPE", "A"),
            ("RETR", "motd"),
        ];
        assert_eq!(
            said,
            want.map(|(verb, argument)| (verb, argument.to_owned()))
        );
    }

    #[test]
    fn a_gopher_request_is_the_selector_and_what_stands_after_the_tabs() {
        let UrlForm::Gopher(url) = url(b"gopher://h/7sel%09find%20me%09+").unwrap().form else {
            panic!()
        };
        assert_eq!(url.request(), b"sel\tfind me\t+");
        assert_eq!(url.effective_gtype(), b'7');
    }
}
