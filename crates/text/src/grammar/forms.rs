//! The forms of `url`, one for each predefined scheme (RFC 1738 sections 3.2 to 3.11). Each
//! production has one function.

use super::escape::{CharSet, decode, escaped_byte, run};
use super::host::{Host, HostPort, Login, digits, host, hostport, login};
use super::reject::{Production, ProductionError, RejectKind, RejectPart, end, unexpected};
use super::scheme::SchemeRule;
use crate::byte_scan::prefix_len;

/// The scheme-specific part of a URL, parsed by the rule of its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlForm<'a> {
    /// `ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]`
    Ftp {
        /// The user name, password, host and port.
        login: Login<'a>,
        /// The path; `None` without a slash after the host. A lone slash means an empty path.
        path: Option<FtpPath<'a>>,
    },
    /// `fileurl = "file://" [ host | "localhost" ] "/" fpath`
    File {
        /// The host; `None` if the URL has no host, which only this form allows.
        host: Option<Host<'a>>,
        /// `fpath`, without the slash before it.
        path: &'a [u8],
    },
    /// `httpurl = "http://" hostport [ "/" hpath [ "?" search ]]`
    Http {
        /// The host and port. A user name is not allowed (section 3.3).
        hostport: HostPort<'a>,
        /// `hpath`; `None` without the slash before it.
        path: Option<&'a [u8]>,
        /// `search`; present only with a path.
        search: Option<&'a [u8]>,
    },
    /// `gopherurl = "gopher://" hostport [ / [ gtype [ selector [ "%09" search [ "%09"
    /// gopher+_string ] ] ] ] ]`
    ///
    /// The bare `/` is a misprint for `"/"`.
    Gopher {
        /// The host and port.
        hostport: HostPort<'a>,
        /// The text after the slash that follows the host; `None` without the slash.
        path: Option<GopherPath<'a>>,
    },
    /// `mailtourl = "mailto:" encoded822addr`
    Mailto {
        /// `encoded822addr = 1*xchar`. The syntax of RFC 822 is not checked.
        addr: &'a [u8],
    },
    /// `newsurl = "news:" "*"`: all groups.
    NewsAll,
    /// `newsurl = "news:" group`
    NewsGroup(&'a [u8]),
    /// `newsurl = "news:" article`: a Message-ID without its brackets.
    NewsArticle {
        /// The text before the `@`.
        unique: &'a [u8],
        /// The text after the `@`: a host without a port.
        host: Host<'a>,
    },
    /// `nntpurl = "nntp://" hostport "/" group [ "/" digits ]`
    Nntp {
        /// The host and port.
        hostport: HostPort<'a>,
        /// The newsgroup.
        group: &'a [u8],
        /// The digits of the article's number on the server.
        article_number: Option<&'a [u8]>,
    },
    /// `telneturl = "telnet://" login [ "/" ]`
    Telnet {
        /// The user name, password, host and port.
        login: Login<'a>,
        /// `true` if the URL ends with a slash.
        final_slash: bool,
    },
    /// `waisurl = waisdatabase | waisindex | waisdoc`
    Wais {
        /// The host and port.
        hostport: HostPort<'a>,
        /// `database = *uchar`
        database: &'a [u8],
        /// The part of the database that the URL designates.
        part: WaisPart<'a>,
    },
    /// `prosperourl = "prospero://" hostport "/" ppath *[ fieldspec ]`
    Prospero {
        /// The host and port.
        hostport: HostPort<'a>,
        /// `ppath`: the host-specific object name.
        hsoname: &'a [u8],
        /// Name and value of each `fieldspec = ";" fieldname "=" fieldvalue`, in order.
        fields: Vec<[&'a [u8]; 2]>,
    },
    /// `otherurl = genericurl`; `schemepart = *xchar | ip-schemepart`
    Other {
        /// The text after the colon.
        schemepart: &'a [u8],
        /// The text parsed as an `ip-schemepart`, if it matches that production. Every such text
        /// also matches `*xchar`.
        ip: Option<IpSchemepart<'a>>,
    },
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
            UrlForm::Ftp { .. } => "ftpurl",
            UrlForm::File { .. } => "fileurl",
            UrlForm::Http { .. } => "httpurl",
            UrlForm::Gopher { .. } => "gopherurl",
            UrlForm::Mailto { .. } => "mailtourl",
            UrlForm::NewsAll => "news-all",
            UrlForm::NewsGroup(_) => "news-group",
            UrlForm::NewsArticle { .. } => "news-article",
            UrlForm::Nntp { .. } => "nntpurl",
            UrlForm::Telnet { .. } => "telneturl",
            UrlForm::Wais { part, .. } => match part {
                WaisPart::Database => "waisdatabase",
                WaisPart::Index { .. } => "waisindex",
                WaisPart::Doc { .. } => "waisdoc",
            },
            UrlForm::Prospero { .. } => "prosperourl",
            UrlForm::Other { ip: None, .. } => "otherurl",
            UrlForm::Other { ip: Some(_), .. } => "otherurl-ip",
        }
    }
}

/// Parses all of `input`, the text after `scheme ":"`, by `rule`.
pub(super) fn schemepart(rule: SchemeRule, input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    match rule {
        SchemeRule::Ftp => ftpurl(slashes(input)?),
        SchemeRule::File => fileurl(slashes(input)?),
        SchemeRule::Http => httpurl(slashes(input)?),
        SchemeRule::Gopher => gopherurl(slashes(input)?),
        SchemeRule::Mailto => mailtourl(input),
        SchemeRule::News => newsurl(input),
        SchemeRule::Nntp => nntpurl(slashes(input)?),
        SchemeRule::Telnet => telneturl(slashes(input)?),
        SchemeRule::Wais => waisurl(slashes(input)?),
        SchemeRule::Prospero => prosperourl(slashes(input)?),
        SchemeRule::Other => otherurl(input),
    }
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

/// Parses the `"/"` that a form requires after its host. Returns the remaining bytes.
fn slash(part: RejectPart, input: &[u8]) -> Result<&[u8], ProductionError> {
    input
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(part, input))
}

/// Returns the error for the first byte of `rest`, which follows a complete host or port.
fn after_host(part: RejectPart, rest: &[u8]) -> ProductionError {
    match rest.first() {
        None => RejectKind::Missing.at(part, rest),
        Some(_) => RejectKind::Unexpected.at(RejectPart::Host, rest),
    }
}

/// The segments of a path, separated by slashes. An empty path is one empty segment.
#[must_use]
pub fn segments(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
}

/// `fpath [ ";type=" ftptype ]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtpPath<'a> {
    /// `fpath`
    pub fpath: &'a [u8],
    /// `ftptype`: one of the letters `AIDaid`, as written.
    pub typecode: Option<u8>,
}

/// A command of the FTP session described in section 3.2.2, with its decoded argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpCommand {
    /// `USER`, `PASS`, `CWD`, `TYPE`, `RETR` or `NLST`.
    pub verb: &'static str,
    /// The argument's bytes.
    pub argument: Vec<u8>,
}

impl<'a> FtpPath<'a> {
    /// All segments but the last: the directories to change into, in order.
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

impl UrlForm<'_> {
    /// The FTP commands of section 3.2.2, in order. Empty for other forms.
    ///
    /// Without a user name there is no `USER`: the client supplies "anonymous" (section 3.2.1).
    #[must_use]
    pub fn commands(&self) -> Vec<FtpCommand> {
        let mut commands = Vec::new();
        let UrlForm::Ftp { login, path } = self else {
            return commands;
        };
        let mut push = |verb, argument: &[u8]| {
            commands.push(FtpCommand {
                verb,
                argument: decode(argument),
            })
        };
        if let Some(user) = login.user {
            push("USER", user);
        }
        if let Some(password) = login.password {
            push("PASS", password);
        }
        let Some(path) = path else {
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
}

/// Parses `ftpurl`, after the `ftp://`.
fn ftpurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (login, rest) = login(input)?;
    if rest.is_empty() {
        return Ok(UrlForm::Ftp { login, path: None });
    }
    let (fpath, rest) = fpath(slash(RejectPart::Path, rest)?);
    let (typecode, part, rest) = match rest.first() {
        Some(b';') => {
            let (code, rest) = typecode(rest)?;
            (Some(code), RejectPart::Typecode, rest)
        }
        _ => (None, RejectPart::Path, rest),
    };
    let path = Some(FtpPath { fpath, typecode });
    end(UrlForm::Ftp { login, path }, part, rest)
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

/// Parses `";type=" ftptype`. The literal is in lower case: only schemes are case-insensitive
/// (section 2.1).
fn typecode(input: &[u8]) -> Production<'_, u8> {
    let mut rest = input;
    for want in b";type=" {
        match rest.split_first() {
            Some((have, after)) if have == want => rest = after,
            _ => return Err(RejectKind::Missing.at(RejectPart::Typecode, rest)),
        }
    }
    match rest.split_first() {
        Some((&code @ (b'A' | b'I' | b'D' | b'a' | b'i' | b'd'), rest)) => Ok((code, rest)),
        Some(_) => Err(RejectKind::Unexpected.at(RejectPart::Typecode, rest)),
        None => Err(RejectKind::Empty.at(RejectPart::Typecode, rest)),
    }
}

/// Parses `httpurl`, after the `http://`.
fn httpurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    if rest.is_empty() {
        return Ok(UrlForm::Http {
            hostport,
            path: None,
            search: None,
        });
    }
    let (path, rest) = hpath(slash(RejectPart::Path, rest)?);
    let (search, part, rest) = match rest.strip_prefix(b"?") {
        Some(rest) => {
            let (search, rest) = search(rest);
            (Some(search), RejectPart::Search, rest)
        }
        None => (None, RejectPart::Path, rest),
    };
    let url = UrlForm::Http {
        hostport,
        path: Some(path),
        search,
    };
    end(url, part, rest)
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

/// The text after the slash, split into fields.
///
/// By section 5 a selector may contain `%09`, which makes the split ambiguous. Section 3.4 says
/// that a selector contains no tab, so the first two `%09` after the type separate the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GopherPath<'a> {
    /// The whole text, as written.
    pub text: &'a [u8],
    /// The type: the first `xchar`, which may be an escape.
    pub gtype: Option<&'a [u8]>,
    /// The selector. Present if there is a type, but may be empty.
    pub selector: Option<&'a [u8]>,
    /// The search string: the text between the first and the second `%09`.
    pub search: Option<&'a [u8]>,
    /// The gopher+ string: the text after the second `%09`.
    pub gopher_plus: Option<&'a [u8]>,
}

impl GopherPath<'_> {
    /// The decoded type. If the path has no type, `1` (section 3.4.1).
    #[must_use]
    pub fn effective_gtype(&self) -> u8 {
        self.gtype
            .map_or(b'1', |gtype| escaped_byte(gtype).unwrap_or(gtype[0]))
    }

    /// The line that a client sends (sections 3.4.1 to 3.4.9), without its line end: the decoded
    /// selector, followed by the search and gopher+ strings, each after a tab.
    #[must_use]
    pub fn request(&self) -> Vec<u8> {
        let mut line = decode(self.selector.unwrap_or_default());
        for field in [self.search, self.gopher_plus].into_iter().flatten() {
            line.push(b'\t');
            line.extend(decode(field));
        }
        line
    }
}

/// Parses `gopherurl`, after the `gopher://`.
fn gopherurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    if rest.is_empty() {
        return Ok(UrlForm::Gopher {
            hostport,
            path: None,
        });
    }
    let (text, rest) = run(CharSet::XCHAR, slash(RejectPart::Selector, rest)?);
    let path = Some(fields(text));
    end(
        UrlForm::Gopher { hostport, path },
        RejectPart::Selector,
        rest,
    )
}

/// Splits a text that is `*xchar` into type, selector, search and gopher+ string.
fn fields(text: &[u8]) -> GopherPath<'_> {
    let (gtype, rest) = match text.first() {
        None => {
            return GopherPath::default();
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

/// Splits `text` at the first `%09`. The second part is `None` if there is no `%09`.
fn split_at_tab(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.windows(3).position(|window| window == b"%09") {
        Some(at) => (&text[..at], Some(&text[at + 3..])),
        None => (text, None),
    }
}

/// Parses `mailtourl`, after the `mailto:`.
fn mailtourl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (addr, rest) = run(CharSet::XCHAR, input);
    if addr.is_empty() && rest.is_empty() {
        return Err(RejectKind::Empty.at(RejectPart::Address, rest));
    }
    end(UrlForm::Mailto { addr }, RejectPart::Address, rest)
}

/// Parses `grouppart`, after the `news:`.
///
/// No group contains an `@` and every article does, so the first `@` decides.
fn newsurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (before, rest) = run(CharSet::ARTICLE, input);
    if let Some(rest) = rest.strip_prefix(b"@") {
        if before.is_empty() {
            return Err(RejectKind::Empty.at(RejectPart::Article, input));
        }
        let (host, rest) = host(rest)?;
        let unique = before;
        return end(
            UrlForm::NewsArticle { unique, host },
            RejectPart::Host,
            rest,
        );
    }
    if !rest.is_empty() {
        return Err(unexpected(RejectPart::Article, rest));
    }
    if input == b"*" {
        return Ok(UrlForm::NewsAll);
    }
    match group(input) {
        Ok((group, [])) => Ok(UrlForm::NewsGroup(group)),
        Err(empty) if input.is_empty() => Err(empty),
        // The text is a prefix of an article. It ends where the `@` is missing.
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
            let len = prefix_len(input, |&byte| CharSet::GROUP.has(byte));
            Ok(input.split_at(len))
        }
    }
}

/// Parses `nntpurl`, after the `nntp://`.
fn nntpurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (group, rest) = group(slash(RejectPart::Group, rest)?)?;
    let (article_number, part, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => match digits(rest) {
            ([], rest) => return Err(RejectKind::Empty.at(RejectPart::Article, rest)),
            (number, rest) => (Some(number), RejectPart::Article, rest),
        },
        None => (None, RejectPart::Group, rest),
    };
    let url = UrlForm::Nntp {
        hostport,
        group,
        article_number,
    };
    end(url, part, rest)
}

/// Parses `telneturl`, after the `telnet://`.
fn telneturl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (login, rest) = login(input)?;
    let (final_slash, part, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => (true, RejectPart::Path, rest),
        None => (false, RejectPart::Host, rest),
    };
    end(UrlForm::Telnet { login, final_slash }, part, rest)
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

/// Parses `waisurl`, after the `wais://`.
fn waisurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (database, rest) = run(CharSet::UCHAR, slash(RejectPart::Database, rest)?);
    let (part, reject, rest) = match rest.split_first() {
        Some((b'?', rest)) => {
            let (search, rest) = search(rest);
            (WaisPart::Index { search }, RejectPart::Search, rest)
        }
        Some((b'/', rest)) => {
            let (wtype, rest) = run(CharSet::UCHAR, rest);
            let rest = match rest {
                [] => return Err(RejectKind::Missing.at(RejectPart::Wpath, rest)),
                [b'/', rest @ ..] => rest,
                _ => return Err(unexpected(RejectPart::Wtype, rest)),
            };
            let (wpath, rest) = run(CharSet::UCHAR, rest);
            (WaisPart::Doc { wtype, wpath }, RejectPart::Wpath, rest)
        }
        _ => (WaisPart::Database, RejectPart::Database, rest),
    };
    let url = UrlForm::Wais {
        hostport,
        database,
        part,
    };
    end(url, reject, rest)
}

/// Parses `fileurl`, after the `file://`. `localhost` is an ordinary host here.
fn fileurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (host, rest) = match input.first() {
        Some(b'/') => (None, input),
        _ => {
            let (host, rest) = host(input)?;
            (Some(host), rest)
        }
    };
    let (path, rest) = fpath(slash(RejectPart::Path, rest)?);
    end(UrlForm::File { host, path }, RejectPart::Path, rest)
}

/// Parses `prosperourl`, after the `prospero://`. `ppath` and `fpath` are the same production.
fn prosperourl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
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
        UrlForm::Prospero {
            hostport,
            hsoname,
            fields,
        },
        part,
        rest,
    )
}

/// Parses `fieldname "=" fieldvalue`, after the `;`.
fn field(input: &[u8]) -> Production<'_, [&[u8]; 2]> {
    let (name, rest) = run(CharSet::FIELD, input);
    let rest = match rest {
        [] => return Err(RejectKind::Missing.at(RejectPart::Field, rest)),
        [b'=', rest @ ..] => rest,
        _ => return Err(unexpected(RejectPart::Field, rest)),
    };
    let (value, rest) = run(CharSet::FIELD, rest);
    Ok(([name, value], rest))
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
fn otherurl(input: &[u8]) -> Result<UrlForm<'_>, ProductionError> {
    let (schemepart, rest) = run(CharSet::XCHAR, input);
    let ip = ip_schemepart(schemepart);
    end(
        UrlForm::Other { schemepart, ip },
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
