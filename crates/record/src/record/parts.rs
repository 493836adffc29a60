//! URL components under the names used in records. These are RFC 1738's terms, one set per form.

use PartValue::{Assignments, Char, Flag, Name, Port, Text, Texts};
use urlspool_text::grammar::{
    FtpPath, GopherPath, HostKind, HostPort, Login, Url, UrlForm, WaisPart, segments,
};
use urlspool_text::parse::UrlComponents;

/// Components of a URL, as written.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'p> {
    /// Components according to RFC 1738.
    Rfc1738(&'p Url<'p>),
    /// Scheme, host, port, path and query, if only another grammar accepts the URL.
    Generic(UrlComponents<'p>),
}

/// Value of a component.
pub(super) enum PartValue<'v, 'u> {
    /// A text in the URL; `None` if it is absent.
    Text(Option<&'v [u8]>),
    /// Texts in the URL.
    Texts(&'v mut dyn Iterator<Item = &'u [u8]>),
    /// Pairs of a name and a value.
    Assignments(&'v mut dyn Iterator<Item = [&'u [u8]; 2]>),
    /// A name that is not part of the URL's text.
    Name(&'static str),
    Port(Option<u16>),
    Flag(bool),
    /// The character with the code of this byte.
    Char(Option<u8>),
}

/// Callback that receives names and values.
pub(super) type PutPart<'f> = dyn FnMut(&'static str, PartValue<'_, '_>) + 'f;

impl Parts<'_> {
    /// Passes the components to `put` as texts, one per list item. Absent components are omitted.
    pub(super) fn for_each_text(&self, put: &mut dyn FnMut(&'static str, &[u8])) {
        self.for_each(&mut |name, value| match value {
            Text(text) => text.into_iter().for_each(|text| put(name, text)),
            Texts(texts) => texts.for_each(|text| put(name, text)),
            Assignments(pairs) => pairs.for_each(|pair| put(name, &pair.join(&b'='))),
            Name(text) => put(name, text.as_bytes()),
            Port(port) => port
                .into_iter()
                .for_each(|port| put(name, port.to_string().as_bytes())),
            Flag(flag) => put(name, if flag { b"true" } else { b"false" }),
            Char(byte) => byte
                .into_iter()
                .for_each(|byte| put(name, String::from(char::from(byte)).as_bytes())),
        });
    }

    /// Passes the components to `put`, in record order.
    pub(super) fn for_each(&self, put: &mut PutPart<'_>) {
        match self {
            Parts::Rfc1738(url) => for_each_of_form(url, put),
            Parts::Generic(components) => {
                put("scheme", Text(Some(components.scheme)));
                put("userinfo", Text(components.userinfo));
                put("host", Text(components.host));
                put("port", Text(components.port));
                put("path", Text(Some(components.path)));
                put("query", Text(components.query));
            }
        }
    }
}

/// Passes the components of a URL to `put`, named as in its RFC 1738 form.
pub(super) fn for_each_of_form(url: &Url<'_>, put: &mut PutPart<'_>) {
    let port = url.effective_port();
    match &url.form {
        UrlForm::Http {
            hostport,
            path,
            search,
        } => {
            put_site(hostport, put);
            put("effective_port", Port(port));
            put("path", Text(*path));
            put(
                "segments",
                Texts(&mut path.iter().flat_map(|path| segments(path))),
            );
            put("search", Text(*search));
        }
        UrlForm::Ftp { login, path } => {
            put_login(login, put);
            put("effective_port", Port(port));
            put("path", Text(path.map(|path| path.fpath)));
            put("cwd", Texts(&mut path.iter().flat_map(FtpPath::cwd)));
            put("name", Text(path.map(|path| path.name())));
            put("typecode", Char(path.and_then(|path| path.typecode)));
        }
        UrlForm::File { host, path } => {
            let name = host.map_or(&b""[..], |host| host.text);
            put("host", Text(Some(name)));
            put(
                "host_kind",
                Name(host.map_or("empty", |host| kind_name(host.kind))),
            );
            let is_local = host.is_none() || name.eq_ignore_ascii_case(b"localhost");
            put("local", Flag(is_local));
            put("path", Text(Some(path)));
            put("segments", Texts(&mut segments(path)));
        }
        UrlForm::Gopher { hostport, path } => {
            put_site(hostport, put);
            put("effective_port", Port(port));
            put("path", Text(path.map(|path| path.text)));
            put_gopher_fields(&path.unwrap_or_default(), put);
        }
        UrlForm::Mailto { addr } => put("addr", Text(Some(addr))),
        UrlForm::NewsAll => put("group", Name("*")),
        UrlForm::NewsGroup(group) => put("group", Text(Some(group))),
        UrlForm::NewsArticle { unique, host } => {
            put(
                "article",
                Text(Some(&[unique, &b"@"[..], host.text].concat())),
            );
            put("unique", Text(Some(unique)));
            put("host", Text(Some(host.text)));
            put("host_kind", Name(kind_name(host.kind)));
        }
        UrlForm::Nntp {
            hostport,
            group,
            article_number,
        } => {
            put_site(hostport, put);
            put("effective_port", Port(port));
            put("group", Text(Some(group)));
            put("article_number", Text(*article_number));
        }
        UrlForm::Telnet { login, final_slash } => {
            put_login(login, put);
            put("effective_port", Port(port));
            put("final_slash", Flag(*final_slash));
        }
        UrlForm::Wais {
            hostport,
            database,
            part,
        } => {
            put_site(hostport, put);
            put("effective_port", Port(port));
            put("database", Text(Some(database)));
            put_wais_part(*part, put);
        }
        UrlForm::Prospero {
            hostport,
            hsoname,
            fields,
        } => {
            put_site(hostport, put);
            put("effective_port", Port(port));
            put("hsoname", Text(Some(hsoname)));
            put("fields", Assignments(&mut fields.iter().copied()));
        }
        UrlForm::Other { schemepart, ip } => {
            put("schemepart", Text(Some(schemepart)));
            if let Some(ip) = ip {
                put_login(&ip.login, put);
                put("urlpath", Text(ip.urlpath));
            }
        }
    }
}

fn put_gopher_fields(fields: &GopherPath<'_>, put: &mut PutPart<'_>) {
    put("gtype", Text(fields.gtype));
    put("effective_gtype", Char(Some(fields.effective_gtype())));
    put("selector", Text(fields.selector));
    put("search", Text(fields.search));
    put("gopher_plus", Text(fields.gopher_plus));
}

fn put_wais_part(part: WaisPart<'_>, put: &mut PutPart<'_>) {
    let (search, wtype, wpath) = match part {
        WaisPart::Database => (None, None, None),
        WaisPart::Index { search } => (Some(search), None, None),
        WaisPart::Doc { wtype, wpath } => (None, Some(wtype), Some(wpath)),
    };
    put("search", Text(search));
    put("wtype", Text(wtype));
    put("wpath", Text(wpath));
}

fn put_site(site: &HostPort<'_>, put: &mut PutPart<'_>) {
    put("host", Text(Some(site.host.text)));
    put("host_kind", Name(kind_name(site.host.kind)));
    put("port", Text(site.port));
}

fn put_login(login: &Login<'_>, put: &mut PutPart<'_>) {
    put("user", Text(login.user));
    put("password", Text(login.password));
    put_site(&login.hostport, put);
}

fn kind_name(kind: HostKind) -> &'static str {
    match kind {
        HostKind::Name => "name",
        HostKind::Number => "number",
    }
}
