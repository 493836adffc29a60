//! Columns that hold record fields in `SQLite` and `PostgreSQL`, derived from the table of fields,
//! and the view `records`, which joins the columns back into records.

use std::sync::LazyLock;

use urlspool_mail::decode::AuthorKind;
use urlspool_record::record::{Field, FieldId, LoadedRecord, LoadedValue};
use urlspool_text::named_enum;

named_enum! {
    /// A table that has columns for fields. The columns of `links` and `segments` are in
    /// `tables.sql`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Table {
        Sources = "sources",
        Messages = "messages",
        Urls = "urls",
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Value of a field.
    Field(FieldId),
    /// Date of the message, if it is plausible.
    Cited,
}

/// Loaded fields without a column: constants, the key (stored as a link), the bytes of the mailbox
/// name (stored as a hash), and the position of the message, which differs between its copies.
const NO_COLUMN: &[FieldId] = &[
    FieldId::Schema,
    FieldId::Type,
    FieldId::Key,
    FieldId::SourceMailboxBase64,
    FieldId::MessageStart,
    FieldId::MessageEnd,
];

/// Fields that a search covers. `sqlite/connection.rs` names their columns.
#[cfg(any(feature = "elasticsearch", feature = "postgres"))]
pub(super) const SEARCHED_FIELDS: [FieldId; 6] = [
    FieldId::Url,
    FieldId::Anchor,
    FieldId::MessageSubject,
    FieldId::MessageFrom,
    FieldId::ContextBefore,
    FieldId::ContextAfter,
];

/// Returns the text of a field for a search. That of the URL includes its fragment.
pub(super) fn searched_text(record: &LoadedRecord, field: FieldId) -> std::borrow::Cow<'_, str> {
    let text = record.text(field).unwrap_or_default();
    match record.text(FieldId::Fragment) {
        Some(fragment) if field == FieldId::Url => format!("{text}#{fragment}").into(),
        _ => text.into(),
    }
}

/// Fields of the author. Null in `urls` if the author is the outermost message's, whose row has
/// them.
const OF_AUTHOR: [(FieldId, &str); 4] = [
    (FieldId::AuthorFrom, "messages.sender"),
    (FieldId::AuthorSubject, "messages.subject"),
    (FieldId::AuthorDate, "messages.date"),
    (FieldId::AuthorMessageId, "messages.message_id"),
];

/// Value of `author.by` for the outermost message.
const OUTER: &str = AuthorKind::Outer.name();

/// Returns the value of the column that a field fills.
pub(super) fn column_value(record: &LoadedRecord, field: FieldId) -> &LoadedValue {
    let is_outer = || record.text(FieldId::AuthorBy) == Some(OUTER);
    if OF_AUTHOR.iter().any(|(known, _)| *known == field) && is_outer() {
        return &LoadedValue::Null;
    }
    record.value(field)
}

/// Fields placed last in their table and in the view.
const LAST: &[FieldId] = &[
    FieldId::MessageFields,
    FieldId::ContextBefore,
    FieldId::ContextAfter,
];

/// Fields that have a column but are not in the view.
const NOT_IN_VIEW: &[FieldId] = &[
    FieldId::SourcePathBase64,
    FieldId::SourceMemberBase64,
    FieldId::SourceExact,
    FieldId::MessageDateRaw,
    FieldId::MessageReferences,
];

impl Table {
    /// Returns the table in which the view finds a field, or `None` for a field without a column.
    fn of(field: FieldId) -> Option<Table> {
        if !field.field().is_loaded || NO_COLUMN.contains(&field) {
            return None;
        }
        Some(match (field, field.field().parent()) {
            // Position of the URL.
            (FieldId::SourceStart | FieldId::SourceEnd, _) => Table::Urls,
            (FieldId::SourceLine | FieldId::SourceExact, _) => Table::Urls,
            // A file may be loaded for several mailboxes, one after another.
            (FieldId::SourceMailbox, _) | (_, Some("message")) => Table::Messages,
            (_, Some("source")) => Table::Sources,
            _ => Table::Urls,
        })
    }

    /// Returns the columns that hold fields: first the columns that identify a row, then the others
    /// in the order of the record. The record's id is omitted because columns that hold no field
    /// separate it from the others.
    pub(super) fn columns(self) -> &'static [Column] {
        static COLUMNS: LazyLock<[Vec<Column>; 3]> = LazyLock::new(|| Table::ALL.map(Table::made));
        &COLUMNS[self as usize]
    }

    fn made(self) -> Vec<Column> {
        let first: &[FieldId] = match self {
            Table::Sources => &[
                FieldId::SourcePath,
                FieldId::SourcePathBase64,
                FieldId::SourceMember,
                FieldId::SourceMemberBase64,
                FieldId::SourceMailbox,
            ],
            Table::Messages => &[FieldId::MessageDigest, FieldId::SourceMailbox],
            Table::Urls => &[],
        };
        let mut columns: Vec<_> = first.iter().copied().map(Column::Field).collect();
        for field in fields() {
            if Table::of(field) == Some(self) && !first.contains(&field) && field != FieldId::Id {
                columns.push(Column::Field(field));
            }
            if field == FieldId::Href && self == Table::Urls {
                columns.push(Column::Cited);
            }
        }
        columns
    }

    /// Returns the column definitions for `CREATE TABLE`, one per line.
    fn definitions(self, sql_type: fn(&Field) -> &'static str) -> String {
        let columns = self.columns().iter().map(|column| {
            let is_optional = column.id().is_optional();
            column.with_type(sql_type) + if is_optional { "" } else { " NOT NULL" }
        });
        columns.collect::<Vec<_>>().join(",\n  ")
    }
}

impl Column {
    /// Returns the column name, quoted if it is a keyword in SQL.
    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Cited => "cited",
            Column::Field(FieldId::Id) => "record_id",
            Column::Field(FieldId::SourceEnd) => "\"end\"",
            Column::Field(FieldId::MessageId) => "message_id",
            Column::Field(FieldId::MessageFrom) => "sender",
            Column::Field(FieldId::MessageReferences) => "reference_ids",
            Column::Field(FieldId::AuthorFrom) => "author_from",
            Column::Field(FieldId::AuthorSubject) => "author_subject",
            Column::Field(FieldId::AuthorDate) => "author_date",
            Column::Field(FieldId::AuthorMessageId) => "author_message_id",
            Column::Field(FieldId::AuthorBy) => "author_by",
            Column::Field(FieldId::ContextBefore) => "context_before",
            Column::Field(FieldId::ContextAfter) => "context_after",
            Column::Field(field) => field.field().key(),
        }
    }

    fn id(self) -> FieldId {
        match self {
            Column::Cited => FieldId::MessageDate,
            Column::Field(field) => field,
        }
    }

    /// Returns the name and the type.
    pub(super) fn with_type(self, sql_type: fn(&Field) -> &'static str) -> String {
        format!("{} {}", self.name(), sql_type(self.id().field()))
    }
}

/// The tables, with placeholders where databases differ.
const TABLES: &str = include_str!("tables.sql");

/// Returns the statements that create the tables, with each placeholder in `words` replaced by its
/// text for this database.
pub(super) fn created_tables(
    sql_type: fn(&Field) -> &'static str,
    words: &[(&str, &str)],
) -> String {
    let mut sql = TABLES.to_owned();
    for table in Table::ALL {
        let columns = table.definitions(sql_type);
        sql = sql.replace(&format!("{{{}}}", table.name()), &columns);
    }
    let replaced = words.iter();
    replaced.fold(sql, |sql, (word, text)| sql.replace(word, text))
}

/// Returns all fields in column order.
fn fields() -> Vec<FieldId> {
    let mut fields = FieldId::ALL.to_vec();
    fields.sort_by_key(|field| LAST.contains(field));
    fields
}

/// Column of `links` that [`clean_key`](super::tracking::clean_key) fills.
pub(super) const CLEAN_KEY: &str = "clean_key";

/// Returns column names as an SQL list, each prefixed with `prefix`.
#[cfg(feature = "postgres")]
pub(super) fn names(columns: &[Column], prefix: &str) -> String {
    let names = columns
        .iter()
        .map(|column| format!("{prefix}{}", column.name()));
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the statement that creates the view `records`. It has a row per record and names its
/// columns after the record's fields.
pub(super) fn records_view() -> String {
    let viewed_fields = fields()
        .into_iter()
        .filter(|field| !NOT_IN_VIEW.contains(field));
    let columns: Vec<_> = viewed_fields.flat_map(viewed).collect();
    format!(
        "
CREATE VIEW records AS
  SELECT {}
  FROM urls
    JOIN messages ON messages.id = urls.message
    JOIN sources ON sources.id = urls.source
    LEFT JOIN links ON links.id = urls.link;
",
        columns.join(",\n    ")
    )
}

/// Returns the view's column for a field, preceded by the column that holds no field if one belongs
/// before it.
fn viewed(field: FieldId) -> Vec<String> {
    let table = match (Table::of(field), field) {
        (Some(table), _) => table.name(),
        (None, FieldId::Key) => "links",
        (None, _) => return Vec::new(),
    };
    let (column, name) = (Column::Field(field).name(), field.name().replace('.', "_"));
    let of_message = OF_AUTHOR.iter().find(|(known, _)| *known == field);
    let shown = if let Some((_, outer)) = of_message {
        format!("CASE urls.author_by WHEN '{OUTER}' THEN {outer} ELSE urls.{column} END AS {name}")
    } else if column == name {
        format!("{table}.{column}")
    } else {
        format!("{table}.{column} AS {name}")
    };
    match field {
        FieldId::SourcePath => vec!["urls.cited".to_owned(), shown],
        FieldId::ContextBefore => vec![format!("links.{CLEAN_KEY}"), shown],
        _ => vec![shown],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are inserted by position, so an existing column must not move.
    #[test]
    fn columns_keep_their_positions() {
        for (table, expected) in [
            (
                Table::Sources,
                "path path_b64 member member_b64 mailbox kind",
            ),
            (
                Table::Messages,
                "digest mailbox message_id date date_raw sender subject newsgroups list_id \
                 reference_ids fields",
            ),
            (
                Table::Urls,
                "url fragment scheme host domain port href cited conforms warnings hazards form \
                 wrapper repairs confidence truncated region quote_depth anchor mismatch \
                 unwrapped_from unwrapped_by start \"end\" line exact author_from author_subject \
                 author_date author_message_id author_by count context_before context_after",
            ),
        ] {
            let columns = table.columns();
            let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
            assert_eq!(names.join(" "), expected);
        }
    }

    #[test]
    fn the_view_has_all_columns_except_the_omitted_ones() {
        let view = records_view();
        for table in Table::ALL {
            for column in table.columns() {
                let Column::Field(field) = column else {
                    continue;
                };
                let name = field.name().replace('.', "_");
                let is_there = [" ", "."].iter().any(|before| {
                    [",", "\n"]
                        .iter()
                        .any(|after| view.contains(&format!("{before}{name}{after}")))
                });
                assert_eq!(is_there, !NOT_IN_VIEW.contains(field), "{name}");
            }
        }
    }
}
