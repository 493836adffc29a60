//! The components of a URL with the names of the record: RFC 1738's words, one set of names for each form.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::object::Object;
use super::part_output::{PartList, PartOutput, part};
use crate::grammar::{
    FtpPath, GopherUrl, HostKind, HostPort, IpSchemepart, Login, NewsUrl, Url, UrlForm, WaisPart,
    decode,
};
use crate::parse::UrlComponents;

/// The components, as written.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'p> {
    /// As RFC 1738 reads them.
    Rfc1738(&'p Url<'p>),
    /// Scheme, host, port, path and query, if only another grammar accepts the URL.
    Generic(UrlComponents<'p>),
}

/// The components with their escapes decoded once, each byte as one character from U+0000 to U+00FF.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'p>(pub &'p Url<'p>);

/// Decodes escapes, and returns each byte as the character of the same number.
fn decoded(text: &[u8]) -> String {
    decode(text).into_iter().map(char::from).collect()
}

fn host_kind(kind: HostKind) -> &'static str {
    match kind {
        HostKind::Name => "name",
        HostKind::Number => "number",
    }
}

impl Parts<'_> {
    /// Writes the components as the fields of an object.
    pub(super) fn write(&self, object: &mut Object<'_>) {
        self.write_to(&mut PartOutput::Object(object));
    }

    /// Writes the components as the entries of a list.
    pub(super) fn write_entries(&self, list: &mut PartList<'_>) {
        self.write_to(&mut PartOutput::List(list));
    }

    /// Hands over the entries of the list: names and values.
    pub(super) fn for_each(&self, put: &mut dyn FnMut(&'static str, &[u8])) {
        self.write_entries(&mut PartList::Values(put));
    }

    fn write_to(&self, map: &mut PartOutput<'_, '_>) {
        match self {
            Parts::Generic(split) => generic(map, split),
            Parts::Rfc1738(url) => form(map, url),
        }
    }
}

fn generic(map: &mut PartOutput<'_, '_>, split: &UrlComponents<'_>) {
    map.text(part!("scheme"), split.scheme);
    map.optional_text(part!("userinfo"), split.userinfo);
    map.optional_text(part!("host"), split.host);
    map.optional_text(part!("port"), split.port);
    map.text(part!("path"), split.path);
    map.optional_text(part!("query"), split.query);
}

fn site(map: &mut PartOutput<'_, '_>, site: &HostPort<'_>) {
    map.text(part!("host"), site.host.text);
    map.name(part!("host_kind"), host_kind(site.host.kind));
    map.optional_text(part!("port"), site.port);
}

fn login(map: &mut PartOutput<'_, '_>, login: &Login<'_>) {
    map.optional_text(part!("user"), login.user);
    map.optional_text(part!("password"), login.password);
    site(map, &login.hostport);
}

fn form(map: &mut PartOutput<'_, '_>, url: &Url<'_>) {
    let port = url.effective_port();
    match &url.form {
        UrlForm::Http(http) => {
            site(map, &http.hostport);
            map.optional_port(part!("effective_port"), port);
            map.optional_text(part!("path"), http.path);
            map.texts(part!("segments"), http.segments());
            map.optional_text(part!("search"), http.search);
        }
        UrlForm::Ftp(ftp) => {
            login(map, &ftp.login);
            map.optional_port(part!("effective_port"), port);
            map.optional_text(part!("path"), ftp.path.map(|path| path.fpath));
            map.texts(part!("cwd"), ftp.path.iter().flat_map(FtpPath::cwd));
            map.optional_text(part!("name"), ftp.path.map(|path| path.name()));
            map.optional_char(part!("typecode"), ftp.path.and_then(|path| path.typecode));
        }
        UrlForm::File(file) => {
            map.text(part!("host"), file.host.map_or(b"", |host| host.text));
            map.name(
                part!("host_kind"),
                file.host.map_or("empty", |host| host_kind(host.kind)),
            );
            map.flag(part!("local"), file.is_local());
            map.text(part!("path"), file.path);
            map.texts(part!("segments"), file.segments());
        }
        UrlForm::Gopher(gopher) => {
            site(map, &gopher.hostport);
            map.optional_port(part!("effective_port"), port);
            map.optional_text(part!("path"), gopher.path.map(|path| path.text));
            gopher_path(map, gopher);
        }
        UrlForm::Mailto(mailto) => map.text(part!("addr"), mailto.addr),
        UrlForm::News(NewsUrl::All) => map.name(part!("group"), "*"),
        UrlForm::News(NewsUrl::Group(group)) => map.text(part!("group"), group),
        UrlForm::News(NewsUrl::Article { unique, host }) => {
            map.text(part!("article"), &[unique, &b"@"[..], host.text].concat());
            map.text(part!("unique"), unique);
            map.text(part!("host"), host.text);
            map.name(part!("host_kind"), host_kind(host.kind));
        }
        UrlForm::Nntp(nntp) => {
            site(map, &nntp.hostport);
            map.optional_port(part!("effective_port"), port);
            map.text(part!("group"), nntp.group);
            map.optional_text(part!("article_number"), nntp.article_number);
        }
        UrlForm::Telnet(telnet) => {
            login(map, &telnet.login);
            map.optional_port(part!("effective_port"), port);
            map.flag(part!("final_slash"), telnet.final_slash);
        }
        UrlForm::Wais(wais) => {
            site(map, &wais.hostport);
            map.optional_port(part!("effective_port"), port);
            map.text(part!("database"), wais.database);
            let part = WaisComponents::from(wais.part);
            map.optional_text(part!("search"), part.search);
            map.optional_text(part!("wtype"), part.wtype);
            map.optional_text(part!("wpath"), part.wpath);
        }
        UrlForm::Prospero(prospero) => {
            site(map, &prospero.hostport);
            map.optional_port(part!("effective_port"), port);
            map.text(part!("hsoname"), prospero.hsoname);
            let fields = prospero.fields.iter();
            map.assignments(
                part!("fields"),
                fields.map(|field| [field.name, field.value]),
            );
        }
        UrlForm::Other(other) => {
            map.text(part!("schemepart"), other.schemepart);
            let Some(IpSchemepart {
                login: found,
                urlpath,
            }) = &other.ip
            else {
                return;
            };
            login(map, found);
            map.optional_text(part!("urlpath"), *urlpath);
        }
    }
}

fn gopher_path(map: &mut PartOutput<'_, '_>, gopher: &GopherUrl<'_>) {
    let path = gopher.path;
    map.optional_text(part!("gtype"), path.and_then(|path| path.gtype));
    map.optional_char(part!("effective_gtype"), Some(gopher.effective_gtype()));
    map.optional_text(part!("selector"), path.and_then(|path| path.selector));
    map.optional_text(part!("search"), path.and_then(|path| path.search));
    map.optional_text(part!("gopher_plus"), path.and_then(|path| path.gopher_plus));
}

/// The components of a WAIS part.
#[derive(Default)]
struct WaisComponents<'p> {
    search: Option<&'p [u8]>,
    wtype: Option<&'p [u8]>,
    wpath: Option<&'p [u8]>,
}

impl<'p> From<WaisPart<'p>> for WaisComponents<'p> {
    fn from(part: WaisPart<'p>) -> WaisComponents<'p> {
        match part {
            WaisPart::Database => WaisComponents::default(),
            WaisPart::Index { search } => WaisComponents {
                search: Some(search),
                ..WaisComponents::default()
            },
            WaisPart::Doc { wtype, wpath } => WaisComponents {
                search: None,
                wtype: Some(wtype),
                wpath: Some(wpath),
            },
        }
    }
}

impl Serialize for Decoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (url, all) = (self.0, |segments: &mut dyn Iterator<Item = &[u8]>| {
            segments.map(decoded).collect::<Vec<_>>()
        });
        if let Some(login) = url.login() {
            map.serialize_entry("user", &login.user.map(decoded))?;
            map.serialize_entry("password", &login.password.map(decoded))?;
        }
        match &url.form {
            UrlForm::Http(http) => {
                map.serialize_entry("segments", &all(&mut http.segments()))?;
                map.serialize_entry("search", &http.search.map(decoded))?;
            }
            UrlForm::Ftp(ftp) => {
                map.serialize_entry("cwd", &all(&mut ftp.path.iter().flat_map(FtpPath::cwd)))?;
                map.serialize_entry("name", &ftp.path.map(|path| decoded(path.name())))?;
            }
            UrlForm::File(file) => map.serialize_entry("segments", &all(&mut file.segments()))?,
            UrlForm::Gopher(gopher) => {
                let path = gopher.path;
                map.serialize_entry("gtype", &path.and_then(|path| path.gtype).map(decoded))?;
                map.serialize_entry(
                    "selector",
                    &path.and_then(|path| path.selector).map(decoded),
                )?;
                map.serialize_entry("search", &path.and_then(|path| path.search).map(decoded))?;
                map.serialize_entry(
                    "gopher_plus",
                    &path.and_then(|path| path.gopher_plus).map(decoded),
                )?;
            }
            UrlForm::Mailto(mailto) => map.serialize_entry("addr", &decoded(mailto.addr))?,
            UrlForm::News(NewsUrl::Article { unique, .. }) => {
                map.serialize_entry("unique", &decoded(unique))?
            }
            UrlForm::Wais(wais) => {
                let part = WaisComponents::from(wais.part);
                map.serialize_entry("database", &decoded(wais.database))?;
                map.serialize_entry("search", &part.search.map(decoded))?;
                map.serialize_entry("wtype", &part.wtype.map(decoded))?;
                map.serialize_entry("wpath", &part.wpath.map(decoded))?;
            }
            UrlForm::Prospero(prospero) => {
                map.serialize_entry("hsoname", &decoded(prospero.hsoname))?;
                let fields: Vec<_> = prospero
                    .fields
                    .iter()
                    .map(|field| [decoded(field.name), decoded(field.value)])
                    .collect();
                map.serialize_entry("fields", &fields)?;
            }
            UrlForm::News(_) | UrlForm::Nntp(_) | UrlForm::Telnet(_) | UrlForm::Other(_) => {}
        }
        map.end()
    }
}
