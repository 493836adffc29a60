//! The forms of `url`, one for each predefined scheme (RFC 1738 sections 3.2 to 3.11): one function
//! for each production.

use super::chars::CharSet;
use super::escape::{decode, escaped_byte, run};
use super::host::{Host, HostPort, Login, digits, host, hostport, login};
use super::reject::{Production, ProductionError, RejectKind, RejectPart, end, unexpected};
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

    /// The name used in a record's `form`: a production of section 5, or our name for one of its
    /// alternatives.
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
        SchemeRule::Ftp => UrlForm::Ftp(ftpurl(slashes(input)?)?),
        SchemeRule::File => UrlForm::File(fileurl(slashes(input)?)?),
        SchemeRule::Http => UrlForm::Http(httpurl(slashes(input)?)?),
        SchemeRule::Gopher => UrlForm::Gopher(gopherurl(slashes(input)?)?),
        SchemeRule::Mailto => UrlForm::Mailto(mailtourl(input)?),
        SchemeRule::News => UrlForm::News(newsurl(input)?),
        SchemeRule::Nntp => UrlForm::Nntp(nntpurl(slashes(input)?)?),
        SchemeRule::Telnet => UrlForm::Telnet(telneturl(slashes(input)?)?),
        SchemeRule::Wais => UrlForm::Wais(waisurl(slashes(input)?)?),
        SchemeRule::Prospero => UrlForm::Prospero(prosperourl(slashes(input)?)?),
        SchemeRule::Other => UrlForm::Other(otherurl(input)?),
    })
}

/// Parses the literal `"//"` and returns the remaining bytes.
fn slashes(input: &[u8]) -> Result<&[u8], ProductionError> {
    input.strip_prefix(b"//").ok_or_else(|| {
        RejectKind::Missing.at(
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
        None => RejectKind::Missing.at(part, rest),
        Some(_) => RejectKind::Unexpected.at(RejectPart::Host, rest),
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

/// `ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpUrl<'a> {
    /// The user name, password, host and port.
    pub login: Login<'a>,
    /// The path; `None` without the slash after the host. A slash alone gives an empty path.
    pub path: Option<FtpPath<'a>>,
}

/// `fpath [ ";type=" ftptype ]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtpPath<'a> {
    /// `fpath`
    pub fpath: &'a [u8],
    /// `ftptype`: one of the letters `AIDaid`, as written.
    pub typecode: Option<u8>,
}

/// A command of the FTP session that section 3.2.2 describes, with its decoded argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpCommand {
    /// `USER`, `PASS`, `CWD`, `TYPE`, `RETR` or `NLST`.
    pub verb: &'static str,
    /// The argument's bytes.
    pub argument: Vec<u8>,
}

impl<'a> FtpPath<'a> {
    /// All segments except the last: the directories to change into, in order.
    pub fn cwd(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut all = segments(self.fpath);
        all.next_back();
        all
    }

    /// The last segment: the name of a file or directory.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        segments(self.fpath).next_back().unwrap_or_default()
    }
}

impl FtpUrl<'_> {
    /// The FTP commands of section 3.2.2, in order.
    ///
    /// There is no `USER` if the URL has no user name: the client supplies "anonymous"
    /// (section 3.2.1).
    #[must_use]
    pub fn commands(&self) -> Vec<FtpCommand> {
        let mut commands = Vec::new();
        let mut push = |verb, argument: &[u8]| {
            commands.push(FtpCommand {
                verb,
                argument: decode(argument),
            })
        };
        if let Some(user) = self.login.user {
            push("USER", user);
        }
        if let Some(password) = self.login.password {
            push("PASS", password);
        }
        let Some(path) = self.path else {
            return commands;
        };
        for directory in path.cwd() {
            push("CWD", directory);
        }
        match path.typecode.map(|code| code.to_ascii_uppercase()) {
            Some(b'D') => push("NLST", path.name()),
            Some(code) => {
                push("TYPE", &[code]);
                push("RETR", path.name());
            }
            None => push("RETR", path.name()),
        }
        commands
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.login.write(out);
        if let Some(path) = self.path {
            out.push(b'/');
            out.extend(path.fpath);
            if let Some(code) = path.typecode {
                out.extend(b";type=");
                out.push(code);
            }
        }
    }
}

/// Parses `ftpurl`, after the `ftp://`.
fn ftpurl(input: &[u8]) -> Result<FtpUrl<'_>, ProductionError> {
    let (login, rest) = login(input)?;
    if rest.is_empty() {
        return Ok(FtpUrl { login, path: None });
    }
    let rest = rest
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(RejectPart::Path, rest))?;
    let (fpath, rest) = fpath(rest);
    if rest.first() != Some(&b';') {
        return end(
            FtpUrl {
                login,
                path: Some(FtpPath {
                    fpath,
                    typecode: None,
                }),
            },
            RejectPart::Path,
            rest,
        );
    }
    let (code, rest) = typecode(rest)?;
    end(
        FtpUrl {
            login,
            path: Some(FtpPath {
                fpath,
                typecode: Some(code),
            }),
        },
        RejectPart::Typecode,
        rest,
    )
}

/// Parses `fpath = fsegment *[ "/" fsegment ]`;
/// `fsegment = *[ uchar | "?" | ":" | "@" | "&" | "=" ]`.
fn fpath(input: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = run(CharSet::FSEGMENT, input).1;
    while let Some(next) = rest.strip_prefix(b"/") {
        rest = run(CharSet::FSEGMENT, next).1;
    }
    input.split_at(input.len() - rest.len())
}

/// Parses `";type=" ftptype`. The literal is lower-case: only schemes are case-insensitive
/// (section 2.1).
fn typecode(input: &[u8]) -> Production<'_, u8> {
    const LITERAL: &[u8] = b";type=";
    let matching = input
        .iter()
        .zip(LITERAL)
        .take_while(|(have, want)| have == want)
        .count();
    let rest = &input[matching..];
    if matching < LITERAL.len() {
        return Err(RejectKind::Missing.at(RejectPart::Typecode, rest));
    }
    match rest.split_first() {
        Some((&code @ (b'A' | b'I' | b'D' | b'a' | b'i' | b'd'), rest)) => Ok((code, rest)),
        Some(_) => Err(RejectKind::Unexpected.at(RejectPart::Typecode, rest)),
        None => Err(RejectKind::Empty.at(RejectPart::Typecode, rest)),
    }
}

/// `httpurl = "http://" hostport [ "/" hpath [ "?" search ]]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl<'a> {
    /// The host and port. A user name is not allowed (section 3.3).
    pub hostport: HostPort<'a>,
    /// `hpath`; `None` without the slash before it.
    pub path: Option<&'a [u8]>,
    /// `search`; present only with a path.
    pub search: Option<&'a [u8]>,
}

impl<'a> HttpUrl<'a> {
    /// The segments of the path; empty if there is no path.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        self.path.into_iter().flat_map(segments)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        write_after(out, b"/", self.path);
        write_after(out, b"?", self.search);
    }
}

/// Parses `httpurl`, after the `http://`.
fn httpurl(input: &[u8]) -> Result<HttpUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    if rest.is_empty() {
        return Ok(HttpUrl {
            hostport,
            path: None,
            search: None,
        });
    }
    let rest = rest
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(RejectPart::Path, rest))?;
    let (path, rest) = hpath(rest);
    let Some(rest) = rest.strip_prefix(b"?") else {
        return end(
            HttpUrl {
                hostport,
                path: Some(path),
                search: None,
            },
            RejectPart::Path,
            rest,
        );
    };
    let (search, rest) = search(rest);
    end(
        HttpUrl {
            hostport,
            path: Some(path),
            search: Some(search),
        },
        RejectPart::Search,
        rest,
    )
}

/// Parses `hpath = hsegment *[ "/" hsegment ]`;
/// `hsegment = *[ uchar | ";" | ":" | "@" | "&" | "=" ]`
fn hpath(input: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = run(CharSet::HSEGMENT, input).1;
    while let Some(next) = rest.strip_prefix(b"/") {
        rest = run(CharSet::HSEGMENT, next).1;
    }
    input.split_at(input.len() - rest.len())
}

/// Parses `search = *[ uchar | ";" | ":" | "@" | "&" | "=" ]`
fn search(input: &[u8]) -> (&[u8], &[u8]) {
    run(CharSet::HSEGMENT, input)
}

/// `gopherurl = "gopher://" hostport [ / [ gtype [ selector [ "%09" search [ "%09" gopher+_string ] ] ] ] ]`
///
/// The bare `/` is a misprint for `"/"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GopherUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// The text after the slash that follows the host; `None` without that slash.
    pub path: Option<GopherPath<'a>>,
}

/// The text after the slash, and its division into fields.
///
/// By section 5 a selector may contain `%09`, which makes the division ambiguous. Section 3.4 says
/// that a selector contains no tab, so the first two `%09` after the type separate the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GopherPath<'a> {
    /// The whole text, as written.
    pub text: &'a [u8],
    /// The type: the first `xchar`, which may be an escape.
    pub gtype: Option<&'a [u8]>,
    /// The selector; present, although perhaps empty, if there is a type.
    pub selector: Option<&'a [u8]>,
    /// The search string: the text between the first and the second `%09`.
    pub search: Option<&'a [u8]>,
    /// The gopher+ string: the text after the second `%09`.
    pub gopher_plus: Option<&'a [u8]>,
}

impl GopherUrl<'_> {
    /// The decoded type; `1`, as section 3.4.1 says, if the URL has none.
    #[must_use]
    pub fn effective_gtype(&self) -> u8 {
        self.path
            .and_then(|path| path.gtype)
            .map_or(b'1', |gtype| escaped_byte(gtype).unwrap_or(gtype[0]))
    }

    /// The line that a client sends (sections 3.4.1 to 3.4.9), without its line end: the decoded
    /// selector, then the search and gopher+ strings, each after a tab.
    #[must_use]
    pub fn request(&self) -> Vec<u8> {
        let Some(path) = self.path else {
            return Vec::new();
        };
        let mut line = decode(path.selector.unwrap_or_default());
        for field in [path.search, path.gopher_plus].into_iter().flatten() {
            line.push(b'\t');
            line.extend(decode(field));
        }
        line
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        write_after(out, b"/", self.path.map(|path| path.text));
    }
}

/// Parses `gopherurl`, after the `gopher://`.
fn gopherurl(input: &[u8]) -> Result<GopherUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    if rest.is_empty() {
        return Ok(GopherUrl {
            hostport,
            path: None,
        });
    }
    let rest = rest
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(RejectPart::Selector, rest))?;
    let (text, rest) = run(CharSet::XCHAR, rest);
    end(
        GopherUrl {
            hostport,
            path: Some(fields(text)),
        },
        RejectPart::Selector,
        rest,
    )
}

/// Divides a text that is `*xchar` into type, selector, search and gopher+ string.
fn fields(text: &[u8]) -> GopherPath<'_> {
    let (gtype, rest) = match text.first() {
        None => {
            return GopherPath {
                text,
                gtype: None,
                selector: None,
                search: None,
                gopher_plus: None,
            };
        }
        Some(b'%') => text.split_at(3),
        Some(_) => text.split_at(1),
    };
    let (selector, rest) = split_at_tab(rest);
    let (search, rest) = rest.map_or((None, None), |rest| {
        let (search, rest) = split_at_tab(rest);
        (Some(search), rest)
    });
    GopherPath {
        text,
        gtype: Some(gtype),
        selector: Some(selector),
        search,
        gopher_plus: rest,
    }
}

/// Splits `text` at the first `%09`: the text before it, and the text after it if there is one.
fn split_at_tab(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.windows(3).position(|window| window == b"%09") {
        Some(at) => (&text[..at], Some(&text[at + 3..])),
        None => (text, None),
    }
}

/// `mailtourl = "mailto:" encoded822addr`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailtoUrl<'a> {
    /// `encoded822addr = 1*xchar`. The syntax of RFC 822 is not checked.
    pub addr: &'a [u8],
}

/// Parses `mailtourl`, after the `mailto:`.
fn mailtourl(input: &[u8]) -> Result<MailtoUrl<'_>, ProductionError> {
    let (addr, rest) = run(CharSet::XCHAR, input);
    if addr.is_empty() && rest.is_empty() {
        return Err(RejectKind::Empty.at(RejectPart::Address, rest));
    }
    end(MailtoUrl { addr }, RejectPart::Address, rest)
}

/// `newsurl = "news:" grouppart`; `grouppart = "*" | group | article`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewsUrl<'a> {
    /// `*`: all groups.
    All,
    /// `group`
    Group(&'a [u8]),
    /// `article`: a Message-ID without its brackets.
    Article {
        /// The text before the `@`.
        unique: &'a [u8],
        /// The text after the `@`: a host without a port.
        host: Host<'a>,
    },
}

impl NewsUrl<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            NewsUrl::All => out.push(b'*'),
            NewsUrl::Group(group) => out.extend(*group),
            NewsUrl::Article { unique, host } => {
                out.extend(*unique);
                out.push(b'@');
                out.extend(host.text);
            }
        }
    }
}

/// Parses `grouppart`, after the `news:`.
///
/// No group contains an `@` and every article does, so the first `@` decides.
fn newsurl(input: &[u8]) -> Result<NewsUrl<'_>, ProductionError> {
    let (before, rest) = run(CharSet::ARTICLE, input);
    if let Some(rest) = rest.strip_prefix(b"@") {
        if before.is_empty() {
            return Err(RejectKind::Empty.at(RejectPart::Article, input));
        }
        let (host, rest) = host(rest)?;
        return end(
            NewsUrl::Article {
                unique: before,
                host,
            },
            RejectPart::Host,
            rest,
        );
    }
    if !rest.is_empty() {
        return Err(unexpected(RejectPart::Article, rest));
    }
    if input == b"*" {
        return Ok(NewsUrl::All);
    }
    match group(input) {
        Ok((group, [])) => Ok(NewsUrl::Group(group)),
        Err(empty) if input.is_empty() => Err(empty),
        // The text is a prefix of an article: its `@` is missing, at the end of the input.
        _ => Err(RejectKind::Missing.at(RejectPart::Article, b"")),
    }
}

/// Parses `group = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]`
fn group(input: &[u8]) -> Production<'_, &[u8]> {
    match input.first() {
        None => Err(RejectKind::Empty.at(RejectPart::Group, input)),
        Some(&first) if !CharSet::ALPHA.has(first) => {
            Err(RejectKind::Unexpected.at(RejectPart::Group, input))
        }
        Some(_) => {
            let len = input
                .iter()
                .take_while(|&&byte| CharSet::GROUP.has(byte))
                .count();
            Ok(input.split_at(len))
        }
    }
}

/// `nntpurl = "nntp://" hostport "/" group [ "/" digits ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NntpUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// The newsgroup.
    pub group: &'a [u8],
    /// The digits of the article's number on that server.
    pub article_number: Option<&'a [u8]>,
}

impl NntpUrl<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        out.push(b'/');
        out.extend(self.group);
        write_after(out, b"/", self.article_number);
    }
}

/// Parses `nntpurl`, after the `nntp://`.
fn nntpurl(input: &[u8]) -> Result<NntpUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (group, rest) = group(slash(RejectPart::Group, rest)?)?;
    let Some(rest) = rest.strip_prefix(b"/") else {
        return end(
            NntpUrl {
                hostport,
                group,
                article_number: None,
            },
            RejectPart::Group,
            rest,
        );
    };
    let (number, rest) = digits(rest);
    if number.is_empty() {
        return Err(RejectKind::Empty.at(RejectPart::Article, rest));
    }
    end(
        NntpUrl {
            hostport,
            group,
            article_number: Some(number),
        },
        RejectPart::Article,
        rest,
    )
}

/// `telneturl = "telnet://" login [ "/" ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelnetUrl<'a> {
    /// The user name, password, host and port.
    pub login: Login<'a>,
    /// `true` if the URL ends with the slash.
    pub final_slash: bool,
}

impl TelnetUrl<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.login.write(out);
        if self.final_slash {
            out.push(b'/');
        }
    }
}

/// Parses `telneturl`, after the `telnet://`.
fn telneturl(input: &[u8]) -> Result<TelnetUrl<'_>, ProductionError> {
    let (login, rest) = login(input)?;
    match rest.strip_prefix(b"/") {
        Some(rest) => end(
            TelnetUrl {
                login,
                final_slash: true,
            },
            RejectPart::Path,
            rest,
        ),
        None => end(
            TelnetUrl {
                login,
                final_slash: false,
            },
            RejectPart::Host,
            rest,
        ),
    }
}

/// `waisurl = waisdatabase | waisindex | waisdoc`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaisUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// `database = *uchar`
    pub database: &'a [u8],
    /// The part of the database that the URL designates.
    pub part: WaisPart<'a>,
}

/// The part of a wais URL after the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaisPart<'a> {
    /// `waisdatabase`: the database itself.
    Database,
    /// `waisindex`: a search.
    Index {
        /// `search`
        search: &'a [u8],
    },
    /// `waisdoc`: a document.
    Doc {
        /// `wtype = *uchar`
        wtype: &'a [u8],
        /// `wpath = *uchar`
        wpath: &'a [u8],
    },
}

impl WaisUrl<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        out.push(b'/');
        out.extend(self.database);
        match self.part {
            WaisPart::Database => {}
            WaisPart::Index { search } => write_after(out, b"?", Some(search)),
            WaisPart::Doc { wtype, wpath } => {
                write_after(out, b"/", Some(wtype));
                write_after(out, b"/", Some(wpath));
            }
        }
    }
}

/// Parses `waisurl`, after the `wais://`.
fn waisurl(input: &[u8]) -> Result<WaisUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (database, rest) = run(CharSet::UCHAR, slash(RejectPart::Database, rest)?);
    match rest.split_first() {
        Some((b'?', rest)) => {
            let (search, rest) = search(rest);
            end(
                WaisUrl {
                    hostport,
                    database,
                    part: WaisPart::Index { search },
                },
                RejectPart::Search,
                rest,
            )
        }
        Some((b'/', rest)) => {
            let (wtype, rest) = run(CharSet::UCHAR, rest);
            let Some(rest) = rest.strip_prefix(b"/") else {
                let missing = RejectKind::Missing.at(RejectPart::Wpath, rest);
                return Err(if rest.is_empty() {
                    missing
                } else {
                    unexpected(RejectPart::Wtype, rest)
                });
            };
            let (wpath, rest) = run(CharSet::UCHAR, rest);
            end(
                WaisUrl {
                    hostport,
                    database,
                    part: WaisPart::Doc { wtype, wpath },
                },
                RejectPart::Wpath,
                rest,
            )
        }
        _ => end(
            WaisUrl {
                hostport,
                database,
                part: WaisPart::Database,
            },
            RejectPart::Database,
            rest,
        ),
    }
}

/// `fileurl = "file://" [ host | "localhost" ] "/" fpath`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUrl<'a> {
    /// The host; `None` if the URL has none. Only this form allows that.
    pub host: Option<Host<'a>>,
    /// `fpath`, without the slash before it.
    pub path: &'a [u8],
}

impl<'a> FileUrl<'a> {
    /// Returns `true` if the file is on the local machine: no host, or `localhost` in any case.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.host
            .is_none_or(|host| host.text.eq_ignore_ascii_case(b"localhost"))
    }

    /// The segments of the path.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        segments(self.path)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        out.extend(self.host.map_or(&b""[..], |host| host.text));
        out.push(b'/');
        out.extend(self.path);
    }
}

/// Parses `fileurl`, after the `file://`. `localhost` is an ordinary host here.
fn fileurl(input: &[u8]) -> Result<FileUrl<'_>, ProductionError> {
    let (host, rest) = match input.first() {
        Some(b'/') => (None, input),
        _ => {
            let (host, rest) = host(input)?;
            (Some(host), rest)
        }
    };
    let (path, rest) = fpath(slash(RejectPart::Path, rest)?);
    end(FileUrl { host, path }, RejectPart::Path, rest)
}

/// `prosperourl = "prospero://" hostport "/" ppath *[ fieldspec ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProsperoUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// `ppath`: the host-specific object name.
    pub hsoname: &'a [u8],
    /// The fields, in order.
    pub fields: Vec<ProsperoField<'a>>,
}

/// `fieldspec = ";" fieldname "=" fieldvalue`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProsperoField<'a> {
    /// `fieldname`
    pub name: &'a [u8],
    /// `fieldvalue`
    pub value: &'a [u8],
}

impl ProsperoUrl<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        out.push(b'/');
        out.extend(self.hsoname);
        for field in &self.fields {
            write_after(out, b";", Some(field.name));
            write_after(out, b"=", Some(field.value));
        }
    }
}

/// Parses `prosperourl`, after the `prospero://`. `ppath` and `fpath` are the same production.
fn prosperourl(input: &[u8]) -> Result<ProsperoUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (hsoname, mut rest) = fpath(slash(RejectPart::Path, rest)?);
    let mut fields = Vec::new();
    while let Some(next) = rest.strip_prefix(b";") {
        let (field, after) = field(next)?;
        fields.push(field);
        rest = after;
    }
    let part = if fields.is_empty() {
        RejectPart::Path
    } else {
        RejectPart::Field
    };
    end(
        ProsperoUrl {
            hostport,
            hsoname,
            fields,
        },
        part,
        rest,
    )
}

/// Parses `fieldname "=" fieldvalue`, after the `;`.
fn field(input: &[u8]) -> Production<'_, ProsperoField<'_>> {
    let (name, rest) = run(CharSet::FIELD, input);
    let Some(rest) = rest.strip_prefix(b"=") else {
        let missing = RejectKind::Missing.at(RejectPart::Field, rest);
        return Err(if rest.is_empty() {
            missing
        } else {
            unexpected(RejectPart::Field, rest)
        });
    };
    let (value, rest) = run(CharSet::FIELD, rest);
    Ok((ProsperoField { name, value }, rest))
}

/// `otherurl = genericurl`; `schemepart = *xchar | ip-schemepart`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherUrl<'a> {
    /// The text after the colon.
    pub schemepart: &'a [u8],
    /// The parts of the text as an `ip-schemepart`, if it matches that production. Every such text
    /// is also `*xchar`.
    pub ip: Option<IpSchemepart<'a>>,
}

/// `ip-schemepart = "//" login [ "/" urlpath ]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpSchemepart<'a> {
    /// The user name, password, host and port.
    pub login: Login<'a>,
    /// `urlpath = *xchar`, without the slash before it; `None` if there is no slash.
    pub urlpath: Option<&'a [u8]>,
}

/// Parses `schemepart`, the text after the colon.
fn otherurl(input: &[u8]) -> Result<OtherUrl<'_>, ProductionError> {
    let (schemepart, rest) = run(CharSet::XCHAR, input);
    end(
        OtherUrl {
            schemepart,
            ip: ip_schemepart(schemepart),
        },
        RejectPart::Schemepart,
        rest,
    )
}

/// Parses `ip-schemepart`. All of `input` is `*xchar`.
fn ip_schemepart(input: &[u8]) -> Option<IpSchemepart<'_>> {
    let (login, rest) = login(input.strip_prefix(b"//")?).ok()?;
    let urlpath = match rest.split_first() {
        None => None,
        Some((b'/', urlpath)) => Some(urlpath),
        Some(_) => return None,
    };
    Some(IpSchemepart { login, urlpath })
}
