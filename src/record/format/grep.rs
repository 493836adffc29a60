//! Lines for people and for `urlspool show`: `path:start: url`, members as `path!member:start: url`.

use crate::diagnostic::printable;
use crate::record::FoundRecord;
use crate::record::json_text::text;

/// The use of escape sequences in lines for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepStyle {
    /// Names and URLs as they are, for files and pipes. A line feed in a name is written `\n`.
    Plain,
    /// For terminals: control characters of names and URLs are escaped.
    Escaped,
    /// Escaped, with a colour for the path, the offset and the URL.
    Colored,
}

/// The colours of a line.
struct Colors {
    path: &'static str,
    offset: &'static str,
    url: &'static str,
    end: &'static str,
}

/// Colours as `grep` and `ripgrep` have them: path magenta, offset green, URL bold.
const COLORS: Colors = Colors {
    path: "\u{1b}[35m",
    offset: "\u{1b}[32m",
    url: "\u{1b}[1m",
    end: "\u{1b}[0m",
};

const NO_COLORS: Colors = Colors {
    path: "",
    offset: "",
    url: "",
    end: "",
};

/// Appends the line of a record.
pub(super) fn write(record: &FoundRecord<'_>, style: GrepStyle, out: &mut Vec<u8>) {
    let source = record.origin.source;
    let line = GrepLine {
        path: source.path.as_os_str().as_encoded_bytes(),
        member: source.member(),
        start: record.origin.start,
        url: record.found.full,
    };
    line.write(style, out);
}

/// The values of a line.
pub(in crate::record) struct GrepLine<'l> {
    pub(in crate::record) path: &'l [u8],
    pub(in crate::record) member: &'l [Vec<u8>],
    pub(in crate::record) start: u64,
    /// The URL with its fragment.
    pub(in crate::record) url: &'l [u8],
}

impl GrepLine<'_> {
    pub(in crate::record) fn write(&self, style: GrepStyle, out: &mut Vec<u8>) {
        let Colors {
            path,
            offset,
            url,
            end,
        } = match style {
            GrepStyle::Colored => &COLORS,
            GrepStyle::Plain | GrepStyle::Escaped => &NO_COLORS,
        };
        out.extend_from_slice(path.as_bytes());
        shown(self.path, style, out);
        for name in self.member {
            out.push(b'!');
            shown(name, style, out);
        }
        let start = self.start;
        out.extend_from_slice(format!("{end}:{offset}{start}{end}: {url}").as_bytes());
        match style {
            GrepStyle::Plain => out.extend_from_slice(text(self.url).as_bytes()),
            GrepStyle::Escaped | GrepStyle::Colored => shown(self.url, style, out),
        }
        out.extend_from_slice(end.as_bytes());
        out.push(b'\n');
    }
}

/// Appends bytes of a name: as they are, unless they would end the line, or escaped as text.
fn shown(bytes: &[u8], style: GrepStyle, out: &mut Vec<u8>) {
    match style {
        GrepStyle::Plain if !bytes.contains(&b'\n') => out.extend_from_slice(bytes),
        GrepStyle::Plain => {
            for &byte in bytes {
                match byte {
                    b'\n' => out.extend_from_slice(b"\\n"),
                    _ => out.push(byte),
                }
            }
        }
        GrepStyle::Escaped | GrepStyle::Colored => {
            out.extend_from_slice(printable(&text(bytes)).as_bytes());
        }
    }
}
