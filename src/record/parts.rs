//! The components of a URL with the names of the record: RFC 1738's words, one set of names for each
//! form.

use crate::grammar::{FtpPath, HostKind, HostPort, Login, NewsUrl, Url, UrlForm, WaisPart};
use crate::parse::UrlComponents;
use PartValue::{Assignments, Char, Flag, Name, Port, Text, Texts};

/// The components, as written.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'p> {
    /// As RFC 1738 reads them.
    Rfc1738(&'p Url<'p>),
    /// Scheme, host, port, path and query, if only another grammar accepts the URL.
    Generic(UrlComponents<'p>),
}

/// The value of a component.
pub(super) enum PartValue<'v, 'u> {
    /// A text of the URL; `None` if the URL lacks it.
    Text(Option<&'v [u8]>),
    /// Texts of the URL.
    Texts(&'v mut dyn Iterator<Item = &'u [u8]>),
    /// Pairs of a name and a value.
    Assignments(&'v mut dyn Iterator<Item = [&'u [u8]; 2]>),
    /// A name that is not part of the URL's text.
    Name(&'static str),
    Port(Option<u16>),
    Flag(bool),
    /// The character with the number of a byte.
    Char(Option<u8>),
}

/// Receiver of names and values.
pub(super) type PutPart<'f> = dyn FnMut(&'static str, PartValue<'_, '_>) + 'f;

impl Parts<'_> {
    /// Passes the components to `put` as texts, one for each item of a list, without those that are
    /// absent.
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

    /// Passes the components to `put`, in the order of the record.
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

/// Passes the components of a URL to `put`, as its form by RFC 1738 names them.
pub(super) fn for_each_of_form(url: &Url<'_>, put: &mut PutPart<'_>) {
    let port = url.effective_port();
    match &url.form {
        UrlForm::Http(http) => {
            put_site(&http.hostport, put);
            put("effective_port", Port(port));
            put("path", Text(http.path));
            put("segments", Texts(&mut http.segments()));
            put("search", Text(http.search));
        }
        UrlForm::Ftp(ftp) => {
            put_login(&ftp.login, put);
            put("effective_port", Port(port));
            put("path", Text(ftp.path.map(|path| path.fpath)));
            put("cwd", Texts(&mut ftp.path.iter().flat_map(FtpPath::cwd)));
            put("name", Text(ftp.path.map(|path| path.name())));
            put("typecode", Char(ftp.path.and_then(|path| path.typecode)));
        }
        UrlForm::File(file) => {
            put("host", Text(Some(file.host.map_or(b"", |host| host.text))));
            put(
                "host_kind",
                Name(file.host.map_or("empty", |host| kind_name(host.kind))),
            );
            put("local", Flag(file.is_local()));
            put("path", Text(Some(file.path)));
            put("segments", Texts(&mut file.segments()));
        }
        UrlForm::Gopher(gopher) => {
            let path = gopher.path;
            put_site(&gopher.hostport, put);
            put("effective_port", Port(port));
            put("path", Text(path.map(|path| path.text)));
            put("gtype", Text(path.and_then(|path| path.gtype)));
            put("effective_gtype", Char(Some(gopher.effective_gtype())));
            put("selector", Text(path.and_then(|path| path.selector)));
            put("search", Text(path.and_then(|path| path.search)));
            put("gopher_plus", Text(path.and_then(|path| path.gopher_plus)));
        }
        UrlForm::Mailto(mailto) => put("addr", Text(Some(mailto.addr))),
        UrlForm::News(NewsUrl::All) => put("group", Name("*")),
        UrlForm::News(NewsUrl::Group(group)) => put("group", Text(Some(group))),
        UrlForm::News(NewsUrl::Article { unique, host }) => {
            put(
                "article",
                Text(Some(&[unique, &b"@"[..], host.text].concat())),
            );
            put("unique", Text(Some(unique)));
            put("host", Text(Some(host.text)));
            put("host_kind", Name(kind_name(host.kind)));
        }
        UrlForm::Nntp(nntp) => {
            put_site(&nntp.hostport, put);
            put("effective_port", Port(port));
            put("group", Text(Some(nntp.group)));
            put("article_number", Text(nntp.article_number));
        }
        UrlForm::Telnet(telnet) => {
            put_login(&telnet.login, put);
            put("effective_port", Port(port));
            put("final_slash", Flag(telnet.final_slash));
        }
        UrlForm::Wais(wais) => {
            let (search, wtype, wpath) = match wais.part {
                WaisPart::Database => (None, None, None),
                WaisPart::Index { search } => (Some(search), None, None),
                WaisPart::Doc { wtype, wpath } => (None, Some(wtype), Some(wpath)),
            };
            put_site(&wais.hostport, put);
            put("effective_port", Port(port));
            put("database", Text(Some(wais.database)));
            put("search", Text(search));
            put("wtype", Text(wtype));
            put("wpath", Text(wpath));
        }
        UrlForm::Prospero(prospero) => {
            let fields = prospero.fields.iter();
            put_site(&prospero.hostport, put);
            put("effective_port", Port(port));
            put("hsoname", Text(Some(prospero.hsoname)));
            put(
                "fields",
                Assignments(&mut fields.map(|field| [field.name, field.value])),
            );
        }
        UrlForm::Other(other) => {
            put("schemepart", Text(Some(other.schemepart)));
            if let Some(ip) = &other.ip {
                put_login(&ip.login, put);
                put("urlpath", Text(ip.urlpath));
            }
        }
    }
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
