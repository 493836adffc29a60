//! The components of a URL as the record names them (RFC 1738's words; one set of names for each form).

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::object::{Object, field};
use crate::grammar::{
    FtpPath, GopherUrl, HostKind, HostPort, IpSchemepart, Login, NewsUrl, Url, UrlForm, WaisPart,
    decode,
};
use crate::parse::UrlComponents;

/// The components as written.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'p> {
    /// As RFC 1738 reads them.
    Rfc1738(&'p Url<'p>),
    /// Scheme, host, port, path, query, where only another grammar accepts.
    Generic(UrlComponents<'p>),
}

/// The components' bytes with their escapes undone once, each byte one character from U+0000 to U+00FF.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'p>(pub &'p Url<'p>);

/// Text for JSON: what is not UTF-8 becomes U+FFFD.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Bytes as characters of the same numbers.
fn bytes(text: &[u8]) -> String {
    decode(text).into_iter().map(char::from).collect()
}

fn kind(kind: HostKind) -> &'static str {
    match kind {
        HostKind::Name => "name",
        HostKind::Number => "number",
    }
}

impl Parts<'_> {
    /// Writes them as the fields of an object.
    pub(super) fn write(&self, map: &mut Object<'_>) {
        match self {
            Parts::Generic(split) => generic(map, split),
            Parts::Rfc1738(url) => form(map, url),
        }
    }
}

fn generic(map: &mut Object<'_>, split: &UrlComponents<'_>) {
    map.text(field!("scheme"), split.scheme);
    map.maybe(field!("userinfo"), split.userinfo);
    map.maybe(field!("host"), split.host);
    map.maybe(field!("port"), split.port);
    map.text(field!("path"), split.path);
    map.maybe(field!("query"), split.query);
}

fn site(map: &mut Object<'_>, site: &HostPort<'_>) {
    map.text(field!("host"), site.host.text);
    map.name(field!("host_kind"), kind(site.host.kind));
    map.maybe(field!("port"), site.port);
}

fn login(map: &mut Object<'_>, login: &Login<'_>) {
    map.maybe(field!("user"), login.user);
    map.maybe(field!("password"), login.password);
    site(map, &login.hostport);
}

fn form(map: &mut Object<'_>, url: &Url<'_>) {
    let port = url.effective_port();
    match &url.form {
        UrlForm::Http(http) => {
            site(map, &http.hostport);
            map.maybe_number(field!("effective_port"), port);
            map.maybe(field!("path"), http.path);
            map.texts(field!("segments"), http.segments());
            map.maybe(field!("search"), http.search);
        }
        UrlForm::Ftp(ftp) => {
            login(map, &ftp.login);
            map.maybe_number(field!("effective_port"), port);
            map.maybe(field!("path"), ftp.path.map(|path| path.fpath));
            map.texts(field!("cwd"), ftp.path.iter().flat_map(FtpPath::cwd));
            map.maybe(field!("name"), ftp.path.map(|path| path.name()));
            map.value(
                field!("typecode"),
                &ftp.path.and_then(|path| path.typecode).map(char::from),
            );
        }
        UrlForm::File(file) => {
            map.text(field!("host"), file.host.map_or(b"", |host| host.text));
            map.name(
                field!("host_kind"),
                file.host.map_or("empty", |host| kind(host.kind)),
            );
            map.value(field!("local"), &file.is_local());
            map.text(field!("path"), file.path);
            map.texts(field!("segments"), file.segments());
        }
        UrlForm::Gopher(gopher) => {
            site(map, &gopher.hostport);
            map.maybe_number(field!("effective_port"), port);
            map.maybe(field!("path"), gopher.path.map(|path| path.text));
            gopher_path(map, gopher);
        }
        UrlForm::Mailto(mailto) => map.text(field!("addr"), mailto.addr),
        UrlForm::News(NewsUrl::All) => map.name(field!("group"), "*"),
        UrlForm::News(NewsUrl::Group(group)) => map.text(field!("group"), group),
        UrlForm::News(NewsUrl::Article { unique, host }) => {
            map.text(field!("article"), &[unique, &b"@"[..], host.text].concat());
            map.text(field!("unique"), unique);
            map.text(field!("host"), host.text);
            map.name(field!("host_kind"), kind(host.kind));
        }
        UrlForm::Nntp(nntp) => {
            site(map, &nntp.hostport);
            map.maybe_number(field!("effective_port"), port);
            map.text(field!("group"), nntp.group);
            map.maybe(field!("article_number"), nntp.article_number);
        }
        UrlForm::Telnet(telnet) => {
            login(map, &telnet.login);
            map.maybe_number(field!("effective_port"), port);
            map.value(field!("final_slash"), &telnet.final_slash);
        }
        UrlForm::Wais(wais) => {
            site(map, &wais.hostport);
            map.maybe_number(field!("effective_port"), port);
            map.text(field!("database"), wais.database);
            let (search, wtype, wpath) = wais_part(wais.part);
            map.maybe(field!("search"), search);
            map.maybe(field!("wtype"), wtype);
            map.maybe(field!("wpath"), wpath);
        }
        UrlForm::Prospero(prospero) => {
            site(map, &prospero.hostport);
            map.maybe_number(field!("effective_port"), port);
            map.text(field!("hsoname"), prospero.hsoname);
            let fields: Vec<_> = prospero
                .fields
                .iter()
                .map(|field| [text(field.name), text(field.value)])
                .collect();
            map.value(field!("fields"), &fields);
        }
        UrlForm::Other(other) => {
            map.text(field!("schemepart"), other.schemepart);
            let Some(IpSchemepart {
                login: found,
                urlpath,
            }) = &other.ip
            else {
                return;
            };
            login(map, found);
            map.maybe(field!("urlpath"), *urlpath);
        }
    }
}

fn gopher_path(map: &mut Object<'_>, gopher: &GopherUrl<'_>) {
    let path = gopher.path;
    map.maybe(field!("gtype"), path.and_then(|path| path.gtype));
    map.value(
        field!("effective_gtype"),
        &char::from(gopher.effective_gtype()),
    );
    map.maybe(field!("selector"), path.and_then(|path| path.selector));
    map.maybe(field!("search"), path.and_then(|path| path.search));
    map.maybe(
        field!("gopher_plus"),
        path.and_then(|path| path.gopher_plus),
    );
}

/// What a WAIS part says: search, type and path.
type Wais<'p> = (Option<&'p [u8]>, Option<&'p [u8]>, Option<&'p [u8]>);

fn wais_part(part: WaisPart<'_>) -> Wais<'_> {
    match part {
        WaisPart::Database => (None, None, None),
        WaisPart::Index { search } => (Some(search), None, None),
        WaisPart::Doc { wtype, wpath } => (None, Some(wtype), Some(wpath)),
    }
}

impl Serialize for Decoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (url, all) = (self.0, |segments: &mut dyn Iterator<Item = &[u8]>| {
            segments.map(bytes).collect::<Vec<_>>()
        });
        if let Some(login) = url.login() {
            map.serialize_entry("user", &login.user.map(bytes))?;
            map.serialize_entry("password", &login.password.map(bytes))?;
        }
        match &url.form {
            UrlForm::Http(http) => {
                map.serialize_entry("segments", &all(&mut http.segments()))?;
                map.serialize_entry("search", &http.search.map(bytes))?;
            }
            UrlForm::Ftp(ftp) => {
                map.serialize_entry("cwd", &all(&mut ftp.path.iter().flat_map(FtpPath::cwd)))?;
                map.serialize_entry("name", &ftp.path.map(|path| bytes(path.name())))?;
            }
            UrlForm::File(file) => map.serialize_entry("segments", &all(&mut file.segments()))?,
            UrlForm::Gopher(gopher) => {
                let path = gopher.path;
                map.serialize_entry("gtype", &path.and_then(|path| path.gtype).map(bytes))?;
                map.serialize_entry("selector", &path.and_then(|path| path.selector).map(bytes))?;
                map.serialize_entry("search", &path.and_then(|path| path.search).map(bytes))?;
                map.serialize_entry(
                    "gopher_plus",
                    &path.and_then(|path| path.gopher_plus).map(bytes),
                )?;
            }
            UrlForm::Mailto(mailto) => map.serialize_entry("addr", &bytes(mailto.addr))?,
            UrlForm::News(NewsUrl::Article { unique, .. }) => {
                map.serialize_entry("unique", &bytes(unique))?
            }
            UrlForm::Wais(wais) => {
                let (search, wtype, wpath) = wais_part(wais.part);
                map.serialize_entry("database", &bytes(wais.database))?;
                map.serialize_entry("search", &search.map(bytes))?;
                map.serialize_entry("wtype", &wtype.map(bytes))?;
                map.serialize_entry("wpath", &wpath.map(bytes))?;
            }
            UrlForm::Prospero(prospero) => {
                map.serialize_entry("hsoname", &bytes(prospero.hsoname))?;
                let fields: Vec<_> = prospero
                    .fields
                    .iter()
                    .map(|field| [bytes(field.name), bytes(field.value)])
                    .collect();
                map.serialize_entry("fields", &fields)?;
            }
            UrlForm::News(_) | UrlForm::Nntp(_) | UrlForm::Telnet(_) | UrlForm::Other(_) => {}
        }
        map.end()
    }
}
