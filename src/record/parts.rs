//! The components of a URL as the record names them (RFC 1738's words; one set of names for each form).

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::grammar::{
    Form, FtpPath, GopherUrl, HostKind, HostPort, IpSchemepart, Login, NewsUrl, Url, WaisPart, decode,
};
use crate::parse::Split;

/// The components as written.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'p> {
    /// As RFC 1738 reads them.
    Rfc1738(&'p Url<'p>),
    /// Scheme, host, port, path, query, where only another grammar accepts.
    Generic(Split<'p>),
}

/// The components' octets with their escapes undone once, each octet one character from U+0000 to U+00FF.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'p>(pub &'p Url<'p>);

/// Text for JSON: what is not UTF-8 becomes U+FFFD.
pub(super) fn text(octets: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(octets)
}

fn maybe(octets: Option<&[u8]>) -> Option<Cow<'_, str>> {
    octets.map(text)
}

/// Octets as characters of the same numbers.
fn octets(text: &[u8]) -> String {
    decode(text).into_iter().map(char::from).collect()
}

fn kind(kind: HostKind) -> &'static str {
    match kind {
        HostKind::Name => "name",
        HostKind::Number => "number",
    }
}

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Parts::Generic(split) => generic(&mut map, split)?,
            Parts::Rfc1738(url) => form(&mut map, url)?,
        }
        map.end()
    }
}

fn generic<M: SerializeMap>(map: &mut M, split: &Split<'_>) -> Result<(), M::Error> {
    map.serialize_entry("scheme", &text(split.scheme))?;
    map.serialize_entry("userinfo", &maybe(split.userinfo))?;
    map.serialize_entry("host", &maybe(split.host))?;
    map.serialize_entry("port", &maybe(split.port))?;
    map.serialize_entry("path", &text(split.path))?;
    map.serialize_entry("query", &maybe(split.query))
}

fn site<M: SerializeMap>(map: &mut M, site: &HostPort<'_>) -> Result<(), M::Error> {
    map.serialize_entry("host", &text(site.host.text))?;
    map.serialize_entry("host_kind", kind(site.host.kind))?;
    map.serialize_entry("port", &maybe(site.port))
}

fn login<M: SerializeMap>(map: &mut M, login: &Login<'_>) -> Result<(), M::Error> {
    map.serialize_entry("user", &maybe(login.user))?;
    map.serialize_entry("password", &maybe(login.password))?;
    site(map, &login.site)
}

fn form<M: SerializeMap>(map: &mut M, url: &Url<'_>) -> Result<(), M::Error> {
    let port = url.effective_port();
    match &url.form {
        Form::Http(http) => {
            site(map, &http.site)?;
            map.serialize_entry("effective_port", &port)?;
            map.serialize_entry("path", &maybe(http.path))?;
            map.serialize_entry("segments", &http.segments().map(text).collect::<Vec<_>>())?;
            map.serialize_entry("search", &maybe(http.search))
        }
        Form::Ftp(ftp) => {
            login(map, &ftp.login)?;
            map.serialize_entry("effective_port", &port)?;
            map.serialize_entry("path", &maybe(ftp.path.map(|path| path.fpath)))?;
            map.serialize_entry("cwd", &ftp.path.iter().flat_map(FtpPath::cwd).map(text).collect::<Vec<_>>())?;
            map.serialize_entry("name", &maybe(ftp.path.map(|path| path.name())))?;
            map.serialize_entry("typecode", &ftp.path.and_then(|path| path.typecode).map(char::from))
        }
        Form::File(file) => {
            map.serialize_entry("host", &text(file.host.map_or(b"", |host| host.text)))?;
            map.serialize_entry("host_kind", file.host.map_or("empty", |host| kind(host.kind)))?;
            map.serialize_entry("local", &file.local())?;
            map.serialize_entry("path", &text(file.path))?;
            map.serialize_entry("segments", &file.segments().map(text).collect::<Vec<_>>())
        }
        Form::Gopher(gopher) => {
            site(map, &gopher.site)?;
            map.serialize_entry("effective_port", &port)?;
            map.serialize_entry("path", &maybe(gopher.path.map(|path| path.text)))?;
            gopher_path(map, gopher)
        }
        Form::Mailto(mailto) => map.serialize_entry("addr", &text(mailto.addr)),
        Form::News(NewsUrl::All) => map.serialize_entry("group", "*"),
        Form::News(NewsUrl::Group(group)) => map.serialize_entry("group", &text(group)),
        Form::News(NewsUrl::Article { unique, host }) => {
            map.serialize_entry("article", &text(&[unique, &b"@"[..], host.text].concat()))?;
            map.serialize_entry("unique", &text(unique))?;
            map.serialize_entry("host", &text(host.text))?;
            map.serialize_entry("host_kind", kind(host.kind))
        }
        Form::Nntp(nntp) => {
            site(map, &nntp.site)?;
            map.serialize_entry("effective_port", &port)?;
            map.serialize_entry("group", &text(nntp.group))?;
            map.serialize_entry("article_number", &maybe(nntp.article_number))
        }
        Form::Telnet(telnet) => {
            login(map, &telnet.login)?;
            map.serialize_entry("effective_port", &port)?;
            map.serialize_entry("final_slash", &telnet.final_slash)
        }
        Form::Wais(wais) => {
            site(map, &wais.site)?;
            map.serialize_entry("effective_port", &port)?;
            wais_part(map, wais.database, wais.part, |octets| text(octets))
        }
        Form::Prospero(prospero) => {
            site(map, &prospero.site)?;
            map.serialize_entry("effective_port", &port)?;
            map.serialize_entry("hsoname", &text(prospero.hsoname))?;
            let fields: Vec<_> = prospero.fields.iter().map(|(name, value)| [text(name), text(value)]).collect();
            map.serialize_entry("fields", &fields)
        }
        Form::Other(other) => {
            map.serialize_entry("schemepart", &text(other.schemepart))?;
            let Some(IpSchemepart { login: found, urlpath }) = &other.ip else { return Ok(()) };
            login(map, found)?;
            map.serialize_entry("urlpath", &maybe(*urlpath))
        }
    }
}

fn gopher_path<M: SerializeMap>(map: &mut M, gopher: &GopherUrl<'_>) -> Result<(), M::Error> {
    let path = gopher.path;
    map.serialize_entry("gtype", &maybe(path.and_then(|path| path.gtype)))?;
    map.serialize_entry("effective_gtype", &char::from(gopher.effective_gtype()))?;
    map.serialize_entry("selector", &maybe(path.and_then(|path| path.selector)))?;
    map.serialize_entry("search", &maybe(path.and_then(|path| path.search)))?;
    map.serialize_entry("gopher_plus", &maybe(path.and_then(|path| path.gopher_plus)))
}

fn wais_part<'p, M: SerializeMap, T: Serialize>(
    map: &mut M,
    database: &'p [u8],
    part: WaisPart<'p>,
    show: impl Fn(&'p [u8]) -> T,
) -> Result<(), M::Error> {
    let (search, wtype, wpath) = match part {
        WaisPart::Database => (None, None, None),
        WaisPart::Index { search } => (Some(search), None, None),
        WaisPart::Doc { wtype, wpath } => (None, Some(wtype), Some(wpath)),
    };
    map.serialize_entry("database", &show(database))?;
    map.serialize_entry("search", &search.map(&show))?;
    map.serialize_entry("wtype", &wtype.map(&show))?;
    map.serialize_entry("wpath", &wpath.map(&show))
}

impl Serialize for Decoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (url, all) = (self.0, |segments: &mut dyn Iterator<Item = &[u8]>| segments.map(octets).collect::<Vec<_>>());
        if let Some(login) = url.login() {
            map.serialize_entry("user", &login.user.map(octets))?;
            map.serialize_entry("password", &login.password.map(octets))?;
        }
        match &url.form {
            Form::Http(http) => {
                map.serialize_entry("segments", &all(&mut http.segments()))?;
                map.serialize_entry("search", &http.search.map(octets))?;
            }
            Form::Ftp(ftp) => {
                map.serialize_entry("cwd", &all(&mut ftp.path.iter().flat_map(FtpPath::cwd)))?;
                map.serialize_entry("name", &ftp.path.map(|path| octets(path.name())))?;
            }
            Form::File(file) => map.serialize_entry("segments", &all(&mut file.segments()))?,
            Form::Gopher(gopher) => {
                let path = gopher.path;
                map.serialize_entry("gtype", &path.and_then(|path| path.gtype).map(octets))?;
                map.serialize_entry("selector", &path.and_then(|path| path.selector).map(octets))?;
                map.serialize_entry("search", &path.and_then(|path| path.search).map(octets))?;
                map.serialize_entry("gopher_plus", &path.and_then(|path| path.gopher_plus).map(octets))?;
            }
            Form::Mailto(mailto) => map.serialize_entry("addr", &octets(mailto.addr))?,
            Form::News(NewsUrl::Article { unique, .. }) => map.serialize_entry("unique", &octets(unique))?,
            Form::Wais(wais) => wais_part(&mut map, wais.database, wais.part, octets)?,
            Form::Prospero(prospero) => {
                map.serialize_entry("hsoname", &octets(prospero.hsoname))?;
                let fields: Vec<_> =
                    prospero.fields.iter().map(|(name, value)| [octets(name), octets(value)]).collect();
                map.serialize_entry("fields", &fields)?;
            }
            Form::News(_) | Form::Nntp(_) | Form::Telnet(_) | Form::Other(_) => {}
        }
        map.end()
    }
}
