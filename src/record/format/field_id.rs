//! The fields that a format can choose: all of the record but its objects, which are chosen field by field.

/// Makes the enumeration of fields and their names. The order is that of the record.
macro_rules! field_ids {
    ($($variant:ident = $name:literal,)+) => {
        /// A field of the record that holds no other fields, as a format chooses it.
        ///
        /// The values in a record are described in [`RECORD_FIELDS`](crate::record::RECORD_FIELDS).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are those of the fields")]
        #[non_exhaustive]
        pub enum FieldId {
            $($variant,)+
        }

        impl FieldId {
            /// All fields, in the order of the record.
            pub const ALL: &[FieldId] = &[$(FieldId::$variant,)+];

            /// The name, dotted within an object: `source.path`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(FieldId::$variant => $name,)+
                }
            }
        }
    };
}

field_ids! {
    Schema = "schema",
    Type = "type",
    Id = "id",
    Url = "url",
    Fragment = "fragment",
    Scheme = "scheme",
    Host = "host",
    Domain = "domain",
    Port = "port",
    Path = "path",
    Query = "query",
    Key = "key",
    Href = "href",
    Conforms = "conforms",
    ErrorOffset = "error.offset",
    ErrorPart = "error.part",
    ErrorKind = "error.kind",
    ErrorMessage = "error.message",
    Warnings = "warnings",
    Hazards = "hazards",
    Form = "form",
    Parts = "parts",
    Wrapper = "wrapper",
    Raw = "raw",
    RawBase64 = "raw_b64",
    Repairs = "repairs",
    Alternates = "alternates",
    Confidence = "confidence",
    Truncated = "truncated",
    FullLength = "full_length",
    FullHash = "full_hash",
    Region = "region",
    QuoteDepth = "quote_depth",
    Anchor = "anchor",
    Mismatch = "mismatch",
    UnwrappedFrom = "unwrapped_from",
    UnwrappedBy = "unwrapped_by",
    SourcePath = "source.path",
    SourcePathBase64 = "source.path_b64",
    SourceMailbox = "source.mailbox",
    SourceMember = "source.member",
    SourceMemberBase64 = "source.member_b64",
    SourceKind = "source.kind",
    SourceStart = "source.start",
    SourceEnd = "source.end",
    SourceLine = "source.line",
    SourceExact = "source.exact",
    MessageStart = "message.start",
    MessageEnd = "message.end",
    MessageId = "message.id",
    MessageDigest = "message.digest",
    MessageDate = "message.date",
    MessageDateRaw = "message.date_raw",
    MessageFrom = "message.from",
    MessageSubject = "message.subject",
    MessageNewsgroups = "message.newsgroups",
    MessageListId = "message.list_id",
    MessageReferences = "message.references",
    PartPath = "part.path",
    PartType = "part.type",
    PartCharset = "part.charset",
    PartEncoding = "part.encoding",
    PartMessageId = "part.message_id",
    ContextBefore = "context.before",
    ContextAfter = "context.after",
    TruncatedTail = "truncated_tail",
    Count = "count",
}

/// The columns of a table for which no fields are chosen.
pub const TABLE_FIELDS: &[FieldId] = &[
    FieldId::Url,
    FieldId::Host,
    FieldId::MessageDate,
    FieldId::MessageFrom,
    FieldId::MessageSubject,
    FieldId::MessageId,
    FieldId::SourcePath,
    FieldId::SourceStart,
];

/// The fields of a slim record: the URL, its place, and the message.
pub const SLIM_FIELDS: &[FieldId] = &[
    FieldId::Id,
    FieldId::Url,
    FieldId::Fragment,
    FieldId::Confidence,
    FieldId::SourcePath,
    FieldId::SourceMember,
    FieldId::SourceStart,
    FieldId::SourceEnd,
    FieldId::MessageId,
    FieldId::MessageDate,
    FieldId::MessageFrom,
    FieldId::MessageSubject,
];

impl FieldId {
    /// Returns the fields that `name` names: the field of that name, or all fields of the object of that name.
    pub fn named(name: &str) -> impl Iterator<Item = FieldId> {
        let is_named = move |field: &FieldId| {
            let rest = field.name().strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        FieldId::ALL.iter().copied().filter(is_named)
    }

    /// The name of the object that holds the field; `None` for a field of the record itself.
    #[must_use]
    pub fn parent(self) -> Option<&'static str> {
        self.name().split_once('.').map(|(parent, _)| parent)
    }

    /// The name within the object that holds the field.
    #[must_use]
    pub fn key(self) -> &'static str {
        let name = self.name();
        name.split_once('.').map_or(name, |(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{FieldType, RECORD_FIELDS};

    #[test]
    fn the_fields_are_those_of_the_record() {
        let is_list = |name: &str| {
            let field = RECORD_FIELDS.iter().find(|field| field.name == name);
            field.is_some_and(|field| field.json_type == FieldType::List)
        };
        let names = RECORD_FIELDS
            .iter()
            .filter(|field| field.json_type != FieldType::Object)
            .filter(|field| !field.parent().is_some_and(is_list))
            .map(|field| field.name);
        let chosen = FieldId::ALL.iter().map(|field| field.name());
        assert_eq!(chosen.collect::<Vec<_>>(), names.collect::<Vec<_>>());
    }

    #[test]
    fn an_object_names_all_its_fields() {
        let names = |name| FieldId::named(name).map(FieldId::name).collect::<Vec<_>>();
        assert_eq!(names("url"), ["url"]);
        assert_eq!(names("part.path"), ["part.path"]);
        assert_eq!(names("context"), ["context.before", "context.after"]);
        assert_eq!(names("parts"), ["parts"]);
        assert!(names("part.").is_empty() && names("").is_empty());
    }
}
