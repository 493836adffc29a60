//! The components of a URL with the names of the record: RFC 1738's words, one set of names for each
//! form; and the line of `urlspool parse`, which shows them with the readings of all grammars.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::json_text::{append_json_line, text};
use super::other_lines::GrammarErrorJson;
use crate::grammar::{
    FtpPath, HostKind, HostPort, Login, NewsUrl, SchemeClass, Url, UrlForm, WaisPart, Warning,
    decode,
};
use crate::parse::{Grammar, Hazard, UrlComponents, Verdicts, hazards, key};
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
enum PartValue<'v, 'u> {
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
type PutPart<'f> = dyn FnMut(&'static str, PartValue<'_, '_>) + 'f;

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
    fn for_each(&self, put: &mut PutPart<'_>) {
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
fn for_each_of_form(url: &Url<'_>, put: &mut PutPart<'_>) {
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

/// The components as an object: absent ones are null.
struct PartsJson<'p>(Parts<'p>);

impl Serialize for PartsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = Vec::new();
        let as_written = |part: &[u8]| text(part).into();
        self.0
            .for_each(&mut |name, value| values.push((name, part_json(value, as_written))));
        serializer.collect_map(values)
    }
}

/// Components in which escapes may stand for other characters.
const DECODED: [&str; 16] = [
    "user",
    "password",
    "segments",
    "search",
    "cwd",
    "name",
    "gtype",
    "selector",
    "gopher_plus",
    "addr",
    "unique",
    "database",
    "wtype",
    "wpath",
    "hsoname",
    "fields",
];

/// The components in [`DECODED`] with their escapes decoded once, each byte as the character of the
/// same number.
struct DecodedJson<'p>(&'p Url<'p>);

impl Serialize for DecodedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = Vec::new();
        let decoded = |part: &[u8]| latin1(decode(part)).into();
        for_each_of_form(self.0, &mut |name, value| {
            if DECODED.contains(&name) {
                values.push((name, part_json(value, decoded)));
            }
        });
        serializer.collect_map(values)
    }
}

fn part_json(value: PartValue<'_, '_>, json: impl Fn(&[u8]) -> Value) -> Value {
    match value {
        Text(text) => text.map_or(Value::Null, json),
        Texts(texts) => texts.map(json).collect(),
        Assignments(pairs) => pairs
            .map(|pair| Value::from_iter(pair.map(&json)))
            .collect(),
        Name(name) => name.into(),
        Port(port) => port.into(),
        Flag(flag) => flag.into(),
        Char(byte) => byte.map(|byte| String::from(char::from(byte))).into(),
    }
}

/// Returns each byte as the character of the same number.
fn latin1(bytes: Vec<u8>) -> String {
    bytes.into_iter().map(char::from).collect()
}

/// Appends RFC 1738's reading of `input`, of which the first `url_len` bytes are the URL, as one line.
///
/// Returns `true` if RFC 1738 accepts it.
pub fn write_parsed(input: &[u8], url_len: usize, out: &mut Vec<u8>) -> bool {
    let verdicts = Verdicts::of(input, url_len);
    append_json_line(
        out,
        &ParsedJson {
            input,
            url_len,
            verdicts: &verdicts,
        },
    );
    verdicts.rfc1738.is_ok()
}

/// The line of one URL.
struct ParsedJson<'p> {
    input: &'p [u8],
    url_len: usize,
    verdicts: &'p Verdicts<'p>,
}

impl Serialize for ParsedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ParsedJson {
            input,
            url_len,
            verdicts,
        } = *self;
        let reading = verdicts.rfc1738.as_ref();
        // No other text has a scheme, a key or hazards.
        let is_accepted = verdicts.conforms().next().is_some();
        let scheme = is_accepted.then_some(verdicts.components.scheme);
        let generic = is_accepted.then_some(Parts::Generic(verdicts.components));
        // Without a fragment split off, a `#` and what follows it are part of nothing.
        let url = &input[..memchr::memchr(b'#', input).map_or(url_len, |hash| hash.min(url_len))];
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("input", &text(input))?;
        map.serialize_entry("ok", &reading.is_ok())?;
        map.serialize_entry(
            "scheme",
            &scheme.map(|scheme| text(scheme).to_ascii_lowercase()),
        )?;
        map.serialize_entry(
            "scheme_class",
            &scheme.map(|scheme| SchemeClass::of(scheme).name()),
        )?;
        map.serialize_entry("form", &reading.ok().map(|url| url.form.name()))?;
        if let Some(fragment) = input.get(url_len + 1..) {
            map.serialize_entry("fragment", &text(fragment))?;
        }
        let parts = reading.ok().map(Parts::Rfc1738).or(generic);
        map.serialize_entry("parts", &parts.map(PartsJson))?;
        map.serialize_entry("decoded", &reading.ok().map(DecodedJson))?;
        match reading.map(|url| &url.form) {
            Ok(UrlForm::Ftp(ftp)) => {
                let commands = ftp.commands().into_iter();
                let commands = commands.map(|command| (command.verb, latin1(command.argument)));
                map.serialize_entry("commands", &commands.collect::<Vec<_>>())?;
            }
            Ok(UrlForm::Gopher(gopher)) => {
                map.serialize_entry("request", &latin1(gopher.request()))?;
            }
            _ => {}
        }
        let warnings = reading
            .iter()
            .flat_map(|url| url.warnings())
            .map(Warning::name);
        map.serialize_entry("warnings", &warnings.collect::<Vec<_>>())?;
        map.serialize_entry("error", &reading.err().copied().map(GrammarErrorJson::from))?;
        let conforms = verdicts.conforms().map(Grammar::name);
        map.serialize_entry("conforms", &conforms.collect::<Vec<_>>())?;
        map.serialize_entry("href", &verdicts.href())?;
        let key = is_accepted.then(|| key(url));
        map.serialize_entry("key", &key.as_deref().map(text))?;
        let hazards = if is_accepted {
            hazards(url, verdicts)
        } else {
            Vec::new()
        };
        let hazards = hazards.into_iter().map(Hazard::name);
        map.serialize_entry("hazards", &hazards.collect::<Vec<_>>())?;
        map.end()
    }
}
