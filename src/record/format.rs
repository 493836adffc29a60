//! The formats of a scan's output: whole records, chosen fields, tables, and lists of URLs.
//!
//! A format is resolved once for a run ([`LineFormat`]), so that no name is looked up for a record.

mod field_id;
mod field_value;
mod grep;
mod json_fields;
mod table;
mod value_of;

pub use field_id::{FieldId, SLIM_FIELDS, TABLE_FIELDS};
#[cfg(feature = "load")]
pub(super) use grep::GrepLine;
pub use grep::GrepStyle;
pub use json_fields::JsonFields;
#[cfg(feature = "audit")]
pub(crate) use table::is_formula;
pub use table::{FormulaGuard, Table, TableSyntax};

use super::json_text::text;
use super::{Demand, Record, RecordWriter, close_line};
use crate::decode::InfoFields;

/// The format of the lines of a run: what is written of each record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFormat {
    /// The whole record, as JSON.
    #[default]
    Record,
    /// Some fields of the record, as JSON.
    Fields(JsonFields),
    /// The URL and its fragment.
    Urls,
    /// The URL that a browser would fetch; no line if there is none.
    Hrefs,
    /// Some fields of the record, as a line of a table.
    Table(Table),
    /// The source, the offset and the URL.
    Grep(GrepStyle),
}

impl LineFormat {
    /// Returns the line before the first record, if the format has one.
    #[must_use]
    pub fn header(&self) -> Option<Vec<u8>> {
        match self {
            LineFormat::Table(table) => Some(table.header()),
            _ => None,
        }
    }

    /// Appends the line of `record`, of which no repetition was left out.
    ///
    /// Linear in the length of the line.
    pub fn write(&self, record: &Record<'_>, writer: &mut RecordWriter, out: &mut Vec<u8>) {
        match self {
            LineFormat::Record => writer.write(record, out),
            _ => {
                if let Some(at) = self.write_open(record, writer, out) {
                    let rest = out.split_off(at);
                    self.write_count(None, out);
                    out.extend_from_slice(&rest);
                }
            }
        }
    }

    /// Appends the line of `record` without the number of its occurrences, which is known when the message ends. Returns the
    /// offset in `out` at which [`LineFormat::write_count`] must insert it; `None` if the format does not write it.
    ///
    /// Linear in the length of the line.
    #[must_use]
    pub fn write_open(
        &self,
        record: &Record<'_>,
        writer: &mut RecordWriter,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        match self {
            LineFormat::Record => {
                writer.write_open(record, out);
                return Some(out.len());
            }
            LineFormat::Fields(fields) => return fields.write(record, out),
            LineFormat::Table(table) => return table.write(record, out),
            LineFormat::Urls => write_url(record, out),
            LineFormat::Hrefs => write_href(record, out),
            LineFormat::Grep(style) => grep::write(record, *style, out),
        }
        None
    }

    /// Appends what stands for the number of occurrences of a URL, if that is more than one.
    pub fn write_count(&self, count: Option<u64>, out: &mut Vec<u8>) {
        match (self, count) {
            (LineFormat::Record, count) => close_line(count, out),
            (_, Some(count)) => out.extend_from_slice(count.to_string().as_bytes()),
            (LineFormat::Fields(_), None) => out.extend_from_slice(b"null"),
            (_, None) => {}
        }
    }

    /// Returns `true` if each record gives one line, and its text has no line end of its own.
    #[must_use]
    pub fn has_line_per_record(&self) -> bool {
        matches!(self, LineFormat::Record | LineFormat::Fields(_))
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
            FieldId::MessageDate | FieldId::MessageDateRaw => InfoFields::DATE,
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
            LineFormat::Record => FieldId::ALL,
            LineFormat::Fields(fields) => fields.chosen(),
            LineFormat::Table(table) => table.columns(),
            LineFormat::Urls | LineFormat::Hrefs | LineFormat::Grep(_) => &[],
        }
    }
}

fn write_url(record: &Record<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(text(record.found.full).as_bytes());
    out.push(b'\n');
}

fn write_href(record: &Record<'_>, out: &mut Vec<u8>) {
    if let Some(href) = record.found.verdicts.and_then(|verdicts| verdicts.href()) {
        out.extend_from_slice(href.as_bytes());
        out.push(b'\n');
    }
}
