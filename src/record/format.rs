//! The formats of a scan's output: whole records, chosen fields, tables, and lists of URLs.
//!
//! A format is resolved once for a run ([`LineFormat`]), so that no name is looked up for a record.
//! `writer.rs` writes the lines.

mod table;

#[cfg(feature = "audit")]
pub(crate) use table::is_formula;
pub use table::{FormulaGuard, HeaderRow, Table, TableSyntax};

use super::json_text::text;
use super::value::RecordValues;
use super::{Demand, FieldId, FoundRecord, JsonFields};
use crate::decode::InfoFields;
use crate::diagnostic::printable;

/// The format of the lines of a run: what is written of each record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFormat {
    /// All or some fields of the record, as JSON.
    Json(JsonFields),
    /// The URL and its fragment.
    Urls,
    /// The URL that a browser would fetch; no line if there is none.
    Hrefs,
    /// Some fields of the record, as a line of a table.
    Table(Table),
    /// The source, the offset and the URL.
    Grep(GrepStyle),
    /// No lines: values of these fields, which [`Record`](super::Record) holds.
    Values(Vec<FieldId>),
}

/// Whole records.
impl Default for LineFormat {
    fn default() -> LineFormat {
        LineFormat::Json(JsonFields::default())
    }
}

impl LineFormat {
    /// Returns the line before the first record, if the format has one.
    #[must_use]
    pub fn header(&self) -> Option<Vec<u8>> {
        match self {
            LineFormat::Table(table) => table.header(),
            _ => None,
        }
    }

    /// Returns the fields of lines of JSON; `None` for other lines.
    pub(super) fn json(&self) -> Option<&JsonFields> {
        match self {
            LineFormat::Json(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the fields of records as values; `None` for lines.
    pub(crate) fn values(&self) -> Option<&[FieldId]> {
        match self {
            LineFormat::Values(fields) => Some(fields),
            _ => None,
        }
    }

    /// Appends the line of a record in a format other than JSON. Returns the offset at which the
    /// number of occurrences is to be inserted, if it is a column.
    pub(super) fn write_text(
        &self,
        values: &RecordValues<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let record = values.record();
        match self {
            LineFormat::Json(_) | LineFormat::Values(_) => {}
            LineFormat::Table(table) => return table.write(values, out),
            LineFormat::Urls => write_url(record, out),
            LineFormat::Hrefs => write_href(record, out),
            LineFormat::Grep(style) => write_grep(record, *style, out),
        }
        None
    }

    /// Appends what stands for the number of occurrences of a URL, if that is more than one.
    pub fn write_count(&self, count: Option<u64>, out: &mut Vec<u8>) {
        match count {
            Some(count) => out.extend_from_slice(count.to_string().as_bytes()),
            None if self.has_line_per_record() => out.extend_from_slice(b"null"),
            None => {}
        }
    }

    /// Returns `true` if each record gives one line, and its text has no line end of its own, or is a value.
    #[must_use]
    pub fn has_line_per_record(&self) -> bool {
        matches!(self, LineFormat::Json(_) | LineFormat::Values(_))
    }

    /// Returns the use of identifiers in the lines.
    #[must_use]
    pub fn ids(&self) -> Demand {
        let is_id = |field: &FieldId| {
            matches!(
                field,
                FieldId::Id | FieldId::MessageDigest | FieldId::UnwrappedFrom
            )
        };
        self.demand(is_id)
    }

    /// Returns the use of line numbers in the lines.
    #[must_use]
    pub fn line_numbers(&self) -> Demand {
        self.demand(|field| *field == FieldId::SourceLine)
    }

    /// Returns the use of regions in the lines.
    #[must_use]
    pub fn regions(&self) -> Demand {
        self.demand(|field| *field == FieldId::Region)
    }

    fn demand(&self, is_wanted: impl Fn(&FieldId) -> bool) -> Demand {
        if self.fields().iter().any(is_wanted) {
            Demand::Needed
        } else {
            Demand::Unneeded
        }
    }

    /// Returns the header data of the message that is in the lines.
    #[must_use]
    pub fn info(&self) -> InfoFields {
        let wanted = self.fields().iter().map(|field| match field {
            FieldId::MessageId => InfoFields::ID,
            FieldId::MessageDate | FieldId::MessageYear | FieldId::MessageDateRaw => {
                InfoFields::DATE
            }
            FieldId::MessageFrom => InfoFields::FROM,
            FieldId::MessageSubject => InfoFields::SUBJECT,
            FieldId::MessageNewsgroups => InfoFields::NEWSGROUPS,
            FieldId::MessageListId => InfoFields::LIST_ID,
            FieldId::MessageReferences => InfoFields::REFERENCES,
            _ => InfoFields::NONE,
        });
        wanted.fold(InfoFields::NONE, InfoFields::with)
    }

    /// The fields that the lines are made of, as far as they cost more than the URL itself.
    fn fields(&self) -> &[FieldId] {
        match self {
            LineFormat::Json(fields) => fields.chosen(),
            LineFormat::Table(table) => table.columns(),
            LineFormat::Values(fields) => fields,
            LineFormat::Urls | LineFormat::Hrefs | LineFormat::Grep(_) => &[],
        }
    }
}

fn write_url(record: &FoundRecord<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(text(record.found.full).as_bytes());
    out.push(b'\n');
}

fn write_href(record: &FoundRecord<'_>, out: &mut Vec<u8>) {
    if let Some(href) = record.found.verdicts.and_then(|verdicts| verdicts.href()) {
        out.extend_from_slice(href.as_bytes());
        out.push(b'\n');
    }
}

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
fn write_grep(record: &FoundRecord<'_>, style: GrepStyle, out: &mut Vec<u8>) {
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
