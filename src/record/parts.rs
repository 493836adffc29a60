//! The components of a URL with the names of the record: RFC 1738's words, one set of names for each form.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::json::{quoted, string, text};
use crate::byte_scan::is_plain_json;
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

/// The name of a part, as it is written in either shape. Made by [`part!`].
#[derive(Clone, Copy)]
pub(super) struct PartName {
    pub(super) key: Key,
    pub(super) name: &'static str,
    /// The beginning of the entry of a list, up to the value.
    pub(super) entry: &'static str,
}

/// The name of a part, concatenated at compile time.
macro_rules! part {
    ($name:literal) => {
        $crate::record::parts::PartName {
            key: $crate::record::parts::field!($name),
            name: $name,
            entry: concat!("{\"name\":\"", $name, "\",\"value\":"),
        }
    };
}
pub(super) use part;

/// Receiver of the parts of a URL.
pub(super) enum PartOutput<'p, 'o> {
    /// Fields of an object: numbers and lists keep their type, absent parts are null.
    Object(&'p mut Object<'o>),
    /// Entries of a list: values are texts, a list gives one entry for each item, absent parts are left out.
    List(&'p mut PartList<'o>),
}

impl PartOutput<'_, '_> {
    /// Writes a part.
    pub(super) fn text(&mut self, name: PartName, bytes: &[u8]) {
        match self {
            PartOutput::Object(object) => object.text(name.key, bytes),
            PartOutput::List(list) => list.entry(name, bytes),
        }
    }

    /// Writes a part, if there is one.
    pub(super) fn optional_text(&mut self, name: PartName, bytes: Option<&[u8]>) {
        match (self, bytes) {
            (PartOutput::Object(object), bytes) => object.optional_text(name.key, bytes),
            (PartOutput::List(list), Some(bytes)) => list.entry(name, bytes),
            (PartOutput::List(_), None) => {}
        }
    }

    /// Writes a list of parts.
    pub(super) fn texts<'t>(&mut self, name: PartName, texts: impl IntoIterator<Item = &'t [u8]>) {
        match self {
            PartOutput::Object(object) => object.texts(name.key, texts),
            PartOutput::List(list) => texts.into_iter().for_each(|text| list.entry(name, text)),
        }
    }

    /// Writes a name that is not part of the URL's text.
    pub(super) fn name(&mut self, name: PartName, value: &'static str) {
        match self {
            PartOutput::Object(object) => object.name(name.key, value),
            PartOutput::List(list) => list.entry_of_name(name, value),
        }
    }

    /// Writes a port, if there is one.
    pub(super) fn optional_port(&mut self, name: PartName, port: Option<u16>) {
        match (self, port) {
            (PartOutput::Object(object), port) => object.optional_number(name.key, port),
            (PartOutput::List(list), Some(port)) => {
                list.entry_of_name(name, itoa(port, &mut [0; 5]));
            }
            (PartOutput::List(_), None) => {}
        }
    }

    /// Writes `true` or `false`.
    pub(super) fn flag(&mut self, name: PartName, flag: bool) {
        match self {
            PartOutput::Object(object) => object.value(name.key, &flag),
            PartOutput::List(list) => list.entry_of_name(name, if flag { "true" } else { "false" }),
        }
    }

    /// Writes one byte as a character, if there is one.
    pub(super) fn optional_char(&mut self, name: PartName, byte: Option<u8>) {
        let text = byte.map(char::from);
        match (self, text) {
            (PartOutput::Object(object), text) => object.value(name.key, &text),
            (PartOutput::List(list), Some(text)) => {
                list.entry_of_other_text(name, text.encode_utf8(&mut [0; 4]));
            }
            (PartOutput::List(_), None) => {}
        }
    }

    /// Writes a list of names and values; in a list as `name=value`.
    pub(super) fn assignments<'t>(
        &mut self,
        name: PartName,
        assignments: impl IntoIterator<Item = [&'t [u8]; 2]>,
    ) {
        match self {
            PartOutput::Object(object) => {
                let pairs: Vec<_> = assignments.into_iter().map(|pair| pair.map(text)).collect();
                object.value(name.key, &pairs);
            }
            PartOutput::List(list) => assignments
                .into_iter()
                .for_each(|pair| list.entry(name, &pair.join(&b'='))),
        }
    }
}

/// Receiver of names and values.
pub(super) enum PartList<'o> {
    /// A list of `{"name","value"}` that is being written.
    Json {
        out: &'o mut Vec<u8>,
        /// `true` if no part of the URL needs escapes.
        is_plain: bool,
        is_empty: bool,
    },
    /// A function.
    Values(&'o mut dyn FnMut(&'static str, &[u8])),
}

impl PartList<'_> {
    /// A list of JSON at the end of `out`. With `is_plain` no part of the URL needs escapes.
    pub(super) fn json(out: &mut Vec<u8>, is_plain: bool) -> PartList<'_> {
        PartList::Json {
            out,
            is_plain,
            is_empty: true,
        }
    }

    /// Appends an entry whose value is a part of the URL.
    pub(super) fn entry(&mut self, name: PartName, part: &[u8]) {
        let is_plain = matches!(self, PartList::Json { is_plain: true, .. });
        self.append(name, part, |out| string(part, is_plain, out));
    }

    /// Appends an entry whose value is not taken from the URL.
    pub(super) fn entry_of_other_text(&mut self, name: PartName, value: &str) {
        let value = value.as_bytes();
        self.append(name, value, |out| string(value, false, out));
    }

    /// Appends an entry whose value needs no escapes.
    pub(super) fn entry_of_name(&mut self, name: PartName, value: &str) {
        let value = value.as_bytes();
        self.append(name, value, |out| quoted(value, out));
    }

    /// Appends an entry; `write` appends its value as JSON.
    #[inline]
    fn append(&mut self, name: PartName, value: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        match self {
            PartList::Json { out, is_empty, .. } => {
                if !std::mem::take(is_empty) {
                    out.push(b',');
                }
                out.extend_from_slice(name.entry.as_bytes());
                write(out);
                out.push(b'}');
            }
            PartList::Values(put) => put(name.name, value),
        }
    }
}

/// Returns the decimal digits of a port, without an allocation.
fn itoa(mut port: u16, digits: &mut [u8; 5]) -> &str {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (port % 10) as u8;
        port /= 10;
        if port == 0 {
            break;
        }
    }
    std::str::from_utf8(&digits[at..]).expect("digits are ASCII")
}

/// A field's name as it is written: after a comma, in quotation marks, before a colon. Made by [`field!`].
#[derive(Clone, Copy)]
pub(super) struct Key {
    written: &'static str,
    /// The name with null, the most frequent value.
    with_null: &'static str,
    /// The name with an empty list.
    with_empty_list: &'static str,
}

impl Key {
    /// Makes a key of the three texts that [`field!`] gives.
    pub(super) const fn new(
        written: &'static str,
        with_null: &'static str,
        with_empty_list: &'static str,
    ) -> Key {
        Key {
            written,
            with_null,
            with_empty_list,
        }
    }
}

/// The key of a field, concatenated at compile time.
macro_rules! field {
    ($name:literal) => {
        $crate::record::parts::Key::new(
            concat!(",\"", $name, "\":"),
            concat!(",\"", $name, "\":null"),
            concat!(",\"", $name, "\":[]"),
        )
    };
}
pub(super) use field;

/// An object that is being written. Each value is appended at once; the object keeps none of them.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
    /// `true` if no text needs escapes, because all are parts of one that needs none.
    is_plain: bool,
}

impl<'o> Object<'o> {
    /// Begins an object.
    pub(super) fn open(out: &'o mut Vec<u8>) -> Object<'o> {
        out.push(b'{');
        Object {
            out,
            is_empty: true,
            is_plain: false,
        }
    }

    /// Ends the object.
    pub(super) fn close(self) {
        self.out.push(b'}');
    }

    /// Writes a text. Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn text(&mut self, key: Key, bytes: &[u8]) {
        self.key(key);
        string(bytes, self.is_plain, self.out);
    }

    /// Writes a text, or null.
    pub(super) fn optional_text(&mut self, key: Key, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.text(key, bytes),
            None => self.null(key),
        }
    }

    /// Writes a text with its ASCII letters in lower case.
    pub(super) fn lowercase_text(&mut self, key: Key, bytes: &[u8]) {
        self.key(key);
        let start = self.out.len();
        string(bytes, self.is_plain, self.out);
        self.out[start..].make_ascii_lowercase();
    }

    /// Writes a name, which needs no escapes.
    pub(super) fn name(&mut self, key: Key, name: &'static str) {
        self.name_of(key, name);
    }

    /// Writes a name, or null.
    pub(super) fn optional_name(&mut self, key: Key, name: Option<&'static str>) {
        match name {
            Some(name) => self.name(key, name),
            None => self.null(key),
        }
    }

    /// Writes a list of names.
    pub(super) fn names(&mut self, key: Key, names: impl IntoIterator<Item = &'static str>) {
        self.list(key, names, |out, name| quoted(name.as_bytes(), out));
    }

    /// Writes a list of texts.
    pub(super) fn texts<'t>(&mut self, key: Key, texts: impl IntoIterator<Item = &'t [u8]>) {
        let is_plain = self.is_plain;
        self.list(key, texts, |out, text| string(text, is_plain, out));
    }

    fn list<T>(
        &mut self,
        key: Key,
        items: impl IntoIterator<Item = T>,
        append: impl Fn(&mut Vec<u8>, T),
    ) {
        let mut items = items.into_iter();
        let Some(first) = items.next() else {
            return self.whole(key.with_empty_list);
        };
        self.key(key);
        self.out.push(b'[');
        append(self.out, first);
        for item in items {
            self.out.push(b',');
            append(self.out, item);
        }
        self.out.push(b']');
    }

    /// Writes an integer.
    pub(super) fn number(&mut self, key: Key, number: impl Into<u64>) {
        self.value(key, &number.into());
    }

    /// Writes an integer, or null.
    pub(super) fn optional_number(&mut self, key: Key, number: Option<impl Into<u64>>) {
        match number {
            Some(number) => self.number(key, number),
            None => self.null(key),
        }
    }

    /// Writes null.
    pub(super) fn null(&mut self, key: Key) {
        self.whole(key.with_null);
    }

    /// Writes any value, with `serde_json`.
    pub(super) fn value(&mut self, key: Key, value: &impl Serialize) {
        self.key(key);
        serde_json::to_writer(&mut *self.out, value)
            .expect("types of this crate serialize, and a Vec takes all bytes");
    }

    /// Writes an object.
    pub(super) fn object(&mut self, key: Key, fill: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        let mut inner = Object {
            is_plain: self.is_plain,
            ..Object::open(self.out)
        };
        fill(&mut inner);
        inner.close();
    }

    /// Writes fields whose texts are all parts of `whole`, which is checked once for bytes that need escapes.
    pub(super) fn cut_from(&mut self, whole: &[u8], fill: impl FnOnce(&mut Object<'_>)) {
        self.is_plain = is_plain_json(whole);
        fill(self);
        self.is_plain = false;
    }

    fn name_of(&mut self, key: Key, name: &str) {
        self.key(key);
        quoted(name.as_bytes(), self.out);
    }

    #[inline]
    fn key(&mut self, key: Key) {
        self.whole(key.written);
    }

    /// Appends a key, perhaps with its value; without the comma if it is the first.
    #[inline]
    fn whole(&mut self, written: &'static str) {
        let from = usize::from(std::mem::take(&mut self.is_empty));
        self.out.extend_from_slice(&written.as_bytes()[from..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_one_another() {
        let mut out = Vec::new();
        let mut line = Object::open(&mut out);
        line.number(field!("a"), 7u32);
        line.lowercase_text(field!("b"), b"HTTP\xC3\x89\"");
        line.names(field!("c"), ["x", "y"]);
        line.object(field!("d"), |inner| inner.null(field!("e")));
        line.texts(field!("l"), [&b"\""[..], "é".as_bytes()]);
        line.texts(field!("m"), []);
        line.optional_text(field!("h"), None);
        for whole in [&b"xy"[..], b"x\"y"] {
            line.cut_from(whole, |line| {
                line.object(field!("o"), |inner| inner.texts(field!("p"), [&whole[1..]]))
            });
        }
        line.text(field!("q"), b"\"");
        line.close();
        let want = concat!(
            r#"{"a":7,"b":"httpÉ\"","c":["x","y"],"d":{"e":null},"l":["\"","é"],"m":[],"h":null,"#,
            r#""o":{"p":["y"]},"o":{"p":["\"y"]},"q":"\""}"#
        );
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
