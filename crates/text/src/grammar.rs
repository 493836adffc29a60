//! A strict parser for the URL grammar of RFC 1738.
//!
//! [`Url::parse`] takes text or bytes. It returns a [`Url`] that borrows from them, or a
//! [`Reject`] with the kind of error, the part of the URL and the offset. It does not trim, unfold
//! or guess: the modules above this one handle URLs as people write them in running text.
//!
//! ```
//! use urlspool_text::grammar::{RejectKind, RejectPart, Url, UrlForm};
//!
//! let url = Url::parse("ftp://ftp.example/pub/rfc1738.txt;type=a").unwrap();
//! assert_eq!(url.scheme, b"ftp");
//! assert_eq!(url.effective_port(), Some(21));
//! let UrlForm::Ftp { login, path } = &url.form else { panic!("not an ftp URL") };
//! assert_eq!(login.hostport.host.text, b"ftp.example");
//! assert_eq!(path.unwrap().typecode, Some(b'a'));
//!
//! let reject = Url::parse("http://a.example/~user").unwrap_err();
//! assert_eq!((reject.kind, reject.part), (RejectKind::Unexpected, RejectPart::Path));
//! assert_eq!(reject.offset, 17);
//! assert_eq!(reject.to_string(), "byte 17 cannot stand in or after the path");
//! ```
//!
//! The grammar is the one in section 5; sections 2 to 4 define the meaning of its parts. Where the
//! RFC leaves a question open, this module decides:
//!
//! - Acceptance follows section 5. If the prose is narrower, the URL is accepted with a
//!   [`Warning`]. If only the prose assigns a meaning, it decides how the URL is split into parts.
//! - A predefined scheme is parsed by its own rule only: `http:foo` is rejected, although
//!   `otherurl` derives it.
//! - Literals such as `;type=` are case-sensitive. Only the scheme is not (section 2.1).
//! - `n*[...]` is a group: the brackets do not make the repeated element optional.
//! - The bare `/` in `gopherurl` is a misprint for `"/"`.
//!
//! Every production reads its input once from left to right, so the time is linear in the length
//! of the text.

mod escape;
mod forms;
mod host;
mod reject;
mod scheme;

pub use escape::{decode, encode, escaped_byte, normalize};
pub use forms::{FtpCommand, FtpPath, GopherPath, IpSchemepart, UrlForm, WaisPart, segments};
pub use host::{Host, HostKind, HostPort, Login};
pub use reject::{Reject, RejectKind, RejectPart};
pub use scheme::{BareRequirement, SCHEMES, Scheme, SchemeClass, SchemeRule, is_scheme_char};

use std::fmt;

use escape::CharSet;
use reject::ProductionError;

/// A URL of RFC 1738. Borrows from the text that it was parsed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// The whole text.
    pub text: &'a [u8],
    /// The scheme's name as written. Compare it case-insensitively (section 2.1).
    pub scheme: &'a [u8],
    /// The scheme-specific part, parsed by the scheme's rule.
    pub form: UrlForm<'a>,
}

named_enum! {
    /// A requirement of RFC 1738's prose that the URL violates. The grammar does not express it.
    ///
    /// A warning is never a reason to reject a URL.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Warning {
        /// The port is above 65535.
        PortRange = "port-range",
        /// A group of a host number is above 255.
        HostnumberRange = "hostnumber-range",
        /// An nntp URL lacks the article number that section 3.7 requires.
        NntpNoArticle = "nntp-no-article",
        /// A mailto address has no `@`.
        MailtoNoAt = "mailto-no-at",
        /// The gopher type is not a graphic character.
        GopherTypeNotGraphic = "gopher-type-not-graphic",
        /// The gopher search string contains characters outside the production `search`.
        GopherSearchOutsideRule = "gopher-search-outside-rule",
        /// The gopher selector contains an encoded CR or LF.
        GopherSelectorCrlf = "gopher-selector-crlf",
    }
}

/// Returns `true` if `text` can be a fragment, the text after `#`: `*xchar`.
///
/// Section 5 has no rule for fragments. The example in the appendix matches this one.
#[must_use]
pub fn is_fragment(text: &[u8]) -> bool {
    escape::run(CharSet::XCHAR, text).1.is_empty()
}

impl<'a> Url<'a> {
    /// Parses all of `input`, text or bytes, as `url` (RFC 1738 section 5).
    ///
    /// A fragment is not part of a URL, and the prefix `URL:` is parsed as a scheme. The caller
    /// removes both first.
    ///
    /// # Errors
    ///
    /// Returns a [`Reject`]. Its offset is the length of the longest prefix of `input` that can be
    /// completed to a URL of its scheme: the leftmost byte at which no URL can continue. If that
    /// prefix ends in an unfinished escape, the offset is the position of its `%`.
    ///
    /// # Examples
    ///
    /// ```
    /// use urlspool_text::grammar::Url;
    ///
    /// let url = Url::parse("news:comp.infosystems.www").unwrap();
    /// assert_eq!(url.form.name(), "news-group");
    /// assert_eq!(url.to_string(), "news:comp.infosystems.www");
    /// ```
    pub fn parse<T: AsRef<[u8]> + ?Sized>(input: &'a T) -> Result<Url<'a>, Reject> {
        let text = input.as_ref();
        read(text).map_err(|error| error.within(text.len()))
    }

    /// The scheme's row in [`SCHEMES`], if it has one.
    #[must_use]
    pub fn known_scheme(&self) -> Option<&'static Scheme> {
        Scheme::named(self.scheme)
    }

    /// The host and port, if the form has them.
    #[must_use]
    pub fn hostport(&self) -> Option<HostPort<'a>> {
        match self.form {
            UrlForm::Ftp { login, .. }
            | UrlForm::Telnet { login, .. }
            | UrlForm::Other {
                ip: Some(IpSchemepart { login, .. }),
                ..
            } => Some(login.hostport),
            UrlForm::Http { hostport, .. }
            | UrlForm::Gopher { hostport, .. }
            | UrlForm::Nntp { hostport, .. }
            | UrlForm::Wais { hostport, .. }
            | UrlForm::Prospero { hostport, .. } => Some(hostport),
            UrlForm::File {
                host: Some(host), ..
            }
            | UrlForm::NewsArticle { host, .. } => Some(HostPort { host, port: None }),
            _ => None,
        }
    }

    /// The port that a client connects to: the port in the URL, or else the scheme's default.
    ///
    /// `None` if the URL has no host, if its port is above 65535, or if the scheme has no known
    /// default.
    #[must_use]
    pub fn effective_port(&self) -> Option<u16> {
        match self.hostport()? {
            hostport @ HostPort { port: Some(_), .. } => hostport.port_number(),
            HostPort { port: None, .. } => self.known_scheme()?.port,
        }
    }

    /// The warnings for this URL, in the order of [`Warning`]'s variants.
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
            UrlForm::Nntp {
                article_number: None,
                ..
            } => warnings.push(Warning::NntpNoArticle),
            UrlForm::Mailto { addr } if !decode(addr).contains(&b'@') => {
                warnings.push(Warning::MailtoNoAt)
            }
            UrlForm::Gopher { path, .. } => {
                warnings.extend(gopher_warnings(&path.unwrap_or_default()));
            }
            _ => {}
        }
        warnings
    }
}

impl fmt::Display for Url<'_> {
    /// Writes the text that was parsed. It is ASCII.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.text))
    }
}

/// Parses `url`, all of `text`.
fn read(text: &[u8]) -> Result<Url<'_>, ProductionError> {
    let (scheme, rest) = scheme::scheme(text)?;
    let rule = Scheme::named(scheme).map_or(SchemeRule::Other, |row| row.rule);
    let form = forms::schemepart(rule, rest)?;
    Ok(Url { text, scheme, form })
}

/// Returns the warnings of section 3.4: the type must be one graphic character, the search string
/// must match `search`, and the selector must not contain a line end.
fn gopher_warnings(path: &GopherPath<'_>) -> impl Iterator<Item = Warning> + use<> {
    let bad_type = !path.effective_gtype().is_ascii_graphic();
    let bad_search = path
        .search
        .is_some_and(|search| !escape::run(CharSet::HSEGMENT, search).1.is_empty());
    let line_end = path.selector.is_some_and(|selector| {
        decode(selector)
            .iter()
            .any(|&byte| matches!(byte, b'\r' | b'\n'))
    });
    [
        bad_type.then_some(Warning::GopherTypeNotGraphic),
        bad_search.then_some(Warning::GopherSearchOutsideRule),
        line_end.then_some(Warning::GopherSelectorCrlf),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the name of the form of `text`, which must be a URL and print back unchanged.
    #[track_caller]
    fn form(text: &str) -> &'static str {
        let read = Url::parse(text).unwrap_or_else(|reject| panic!("{text}: {reject}"));
        assert_eq!(read.to_string(), text);
        read.form.name()
    }

    /// Returns the kind, part and offset of the rejection of `text`.
    #[track_caller]
    fn rejected(text: &str) -> (RejectKind, RejectPart, usize) {
        let reject = Url::parse(text).expect_err(text);
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
    fn a_reject_has_kind_part_and_offset() {
        assert_eq!(
            rejected("http://h:/x"),
            (RejectKind::Empty, RejectPart::Port, 9)
        );
        assert_eq!(
            rejected("http://a-/"),
            (RejectKind::BadLabel, RejectPart::Host, 9)
        );
        assert_eq!(
            rejected("http://h/~u"),
            (RejectKind::Unexpected, RejectPart::Path, 9)
        );
        assert_eq!(
            rejected("ftp://h/a;type=x"),
            (RejectKind::Unexpected, RejectPart::Typecode, 15)
        );
        assert_eq!(
            rejected("foo:%4g"),
            (RejectKind::BadEscape, RejectPart::Schemepart, 4)
        );
        assert_eq!(rejected(""), (RejectKind::Empty, RejectPart::Scheme, 0));
    }

    #[test]
    fn the_offset_is_the_leftmost_byte_at_which_no_url_can_continue() {
        let login = RejectPart::Login;
        for (text, kind, part, offset) in [
            // `u_` can only start a user name, and that has a bad escape.
            ("ftp://u_%zz@h/", RejectKind::BadEscape, login, 8),
            ("ftp://-:p%4@h/", RejectKind::BadEscape, login, 9),
            ("telnet://h%4x/", RejectKind::BadEscape, login, 10),
            ("ftp://u_v/x", RejectKind::Unexpected, login, 9),
            ("ftp://u:p", RejectKind::Missing, login, 9),
            // A user name is not allowed here.
            ("http://h_%zz/", RejectKind::Unexpected, RejectPart::Host, 8),
            ("ftp://1.2.3/", RejectKind::BadLabel, RejectPart::Host, 11),
            ("news:0*", RejectKind::Missing, RejectPart::Article, 7),
        ] {
            assert_eq!(rejected(text), (kind, part, offset), "{text}");
        }
    }

    #[test]
    fn a_predefined_scheme_is_not_parsed_as_otherurl() {
        assert_eq!(
            rejected("http:foo"),
            (RejectKind::Missing, RejectPart::Slashes, 5)
        );
    }

    #[test]
    fn the_ftp_commands_are_those_of_section_3_2_2() {
        let url = Url::parse(b"ftp://myname@host.dom/%2Fetc/motd;type=a").unwrap();
        let commands: Vec<_> = url
            .form
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
            commands,
            want.map(|(verb, argument)| (verb, argument.to_owned()))
        );
    }

    #[test]
    fn a_gopher_request_is_the_selector_and_the_fields_after_the_tabs() {
        let url = Url::parse(b"gopher://h/7sel%09find%20me%09+").unwrap();
        let UrlForm::Gopher {
            path: Some(path), ..
        } = url.form
        else {
            panic!()
        };
        assert_eq!(path.request(), b"sel\tfind me\t+");
        assert_eq!(path.effective_gtype(), b'7');
    }
}
