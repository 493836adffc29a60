//! Field tables: the single definition of each field's name, type, values, meaning and uses.
//!
//! The JSON lines, the columns of tables and Arrow, the JSON Schema, the schemas for loaders, the
//! tables in the documentation and `--fields` are generated from them. `value.rs` computes the
//! value of each field.

use FieldType::{Boolean, Integer, List, Number, Object, Text, Texts};
use FieldValues::{Any, Base64, Constant, Digest, Instant, Names, Region, Unit, Version};

use urlspool_mail::decode::{
    AuthorKind, BodyRegion, EXTERNAL_BODY_REGION, InfoFields, link_attributes,
};
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::grammar::{RejectKind, RejectPart, UrlForm, Warning};
use urlspool_text::origin::SourceKind;
use urlspool_text::parse::{
    AlternateReason, Grammar, Hazard, RejectReasonKind, Wrapper, redirector_names,
};
use urlspool_text::repair::Repair;

/// A field of a JSON line.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of the field by itself"
)]
pub struct Field {
    /// Name, dotted inside objects: `source.path`. An object precedes its fields in the table.
    pub name: &'static str,
    /// Type of the value.
    pub json_type: FieldType,
    /// `true` if the value is null where the field does not apply.
    pub is_nullable: bool,
    /// Possible values.
    pub values: FieldValues,
    /// Meaning, as one sentence without the period.
    pub description: &'static str,
    /// Inputs that the value depends on.
    pub(super) scope: FieldScope,
    /// Message header data that the value is computed from.
    pub(super) info: InfoFields,
    /// `true` for fields of slim records.
    pub(super) is_slim: bool,
    /// Position, from 1, among the default columns of a table.
    pub(super) table_column: Option<u8>,
    /// `true` for fields with a separate column in the PostgreSQL table, whose rows hold whole
    /// records.
    pub(super) is_indexed: bool,
    /// `true` for prose, which Elasticsearch also searches by word.
    pub(super) is_prose: bool,
    /// `true` for fields that loaders read.
    pub is_loaded: bool,
    /// Offset of the last dot in the name, or 0.
    dot: usize,
}

/// Inputs that a field's value depends on. They determine how long its encoding stays valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldScope {
    Record,
    /// The URL, and whether its link text names a different host.
    Url,
    /// The message, and the innermost message in it.
    Message,
}

/// Type of a field's value in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A string.
    Text,
    /// A number without a fraction, from 0 to 2^63 - 1.
    Integer,
    /// A number with a fraction.
    Number,
    /// True or false.
    Boolean,
    /// A list of strings.
    Texts,
    /// An object. Its fields follow in the table.
    Object,
    /// A list of objects. Their fields follow in the table.
    List,
}

/// Possible values of a field, or of the items of a list.
#[derive(Clone, Copy, Debug)]
pub enum FieldValues {
    /// Any value of the type.
    Any,
    /// This text.
    Constant(&'static str),
    /// The version of the format.
    Version,
    /// One of the names that the function returns.
    Names(fn() -> Vec<&'static str>),
    /// A region: a name, or a prefix and the name of a header field or attribute.
    Region,
    /// 32 hexadecimal digits.
    Digest,
    /// A date and time in UTC (RFC 3339).
    Instant,
    /// Base64 (RFC 4648 section 4).
    Base64,
    /// A number from 0 to 1.
    Unit,
}

impl Field {
    const fn new(name: &'static str, json_type: FieldType) -> Field {
        let mut dot = name.len() - 1;
        while 0 < dot && name.as_bytes()[dot] != b'.' {
            dot -= 1;
        }
        Field {
            dot,
            name,
            json_type,
            is_nullable: false,
            values: Any,
            description: "",
            scope: FieldScope::Record,
            info: InfoFields::NONE,
            is_slim: false,
            table_column: None,
            is_indexed: false,
            is_prose: false,
            is_loaded: true,
        }
    }

    const fn meaning(mut self, description: &'static str) -> Field {
        self.description = description;
        self
    }

    const fn or_null(mut self) -> Field {
        self.is_nullable = true;
        self
    }

    const fn with(self, values: FieldValues) -> Field {
        Field { values, ..self }
    }

    const fn of_url(mut self) -> Field {
        self.scope = FieldScope::Url;
        self
    }

    const fn of_message(mut self) -> Field {
        self.scope = FieldScope::Message;
        self
    }

    /// Marks a field that is computed from the message's header.
    const fn of_header(self, info: InfoFields) -> Field {
        Field {
            info,
            ..self.of_message()
        }
    }

    /// Marks a field of the innermost message.
    const fn of_author(self, info: InfoFields) -> Field {
        self.of_header(info.with(InfoFields::AUTHOR))
    }

    const fn slim(mut self) -> Field {
        self.is_slim = true;
        self
    }

    const fn column(mut self, place: u8) -> Field {
        self.table_column = Some(place);
        self
    }

    const fn indexed(mut self) -> Field {
        self.is_indexed = true;
        self
    }

    const fn prose(mut self) -> Field {
        self.is_prose = true;
        self
    }

    const fn not_loaded(mut self) -> Field {
        self.is_loaded = false;
        self
    }

    /// Returns the record field of this row. `None` for objects and for fields of list items.
    #[must_use]
    pub fn id(&self) -> Option<FieldId> {
        let mut ids = FieldId::ALL.iter().copied();
        ids.find(|id| id.name() == self.name)
    }

    /// Returns the object's first field, which is null if and only if the object is. `None` for an
    /// object that is never null.
    #[must_use]
    pub fn null_mark(&self) -> Option<FieldId> {
        let mut members = FieldId::named(self.name);
        members.next().filter(|_| self.is_nullable)
    }

    /// Returns the name of the object or list that contains the field. `None` for a field of the
    /// line itself.
    #[must_use]
    pub fn parent(&self) -> Option<&'static str> {
        (0 < self.dot).then(|| &self.name[..self.dot])
    }

    /// Returns the name within the object that contains the field.
    #[must_use]
    pub fn key(&self) -> &'static str {
        &self.name[self.dot + usize::from(0 < self.dot)..]
    }
}

/// Returns the fields of `table` in the object or list `parent`, or in the line itself if `None`.
pub(super) fn fields_of<'t>(
    table: &'t [Field],
    parent: Option<&'t str>,
) -> impl Iterator<Item = &'t Field> {
    table.iter().filter(move |field| field.parent() == parent)
}

/// Generates the table of a record's fields, and the enumeration of the fields without subfields.
///
/// A row is `Variant => Field, "meaning";`. Objects and fields of list items have no variant.
macro_rules! record_fields {
    ($($($variant:ident)? => $field:expr, $meaning:literal;)+) => {
        /// Fields of a URL's record, in written order. Every record has all fields.
        pub const RECORD_FIELDS: &[Field] = &[$($field.meaning($meaning),)+];

        /// A record field without subfields. `docs/record.md` describes its values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are those of the fields")]
        pub enum FieldId {
            $($($variant,)?)+
        }

        impl FieldId {
            /// All fields, in record order.
            pub const ALL: &[FieldId] = &[$($(FieldId::$variant,)?)+];

            /// Returns the row of the table.
            #[must_use]
            pub const fn field(self) -> &'static Field {
                match self {
                    $($(FieldId::$variant => const { &$field.meaning($meaning) },)?)+
                }
            }
        }
    };
}

record_fields! {
    Schema => Field::new("schema", Integer).with(Version), "Version of the format";
    Type => Field::new("type", Text).with(Constant("url")), "Type of the line";
    Id => Field::new("id", Text).with(Digest).slim().indexed(),
        "Identifier of the URL in its message, equal on every run and machine and in every copy of \
         the message";
    Url => Field::new("url", Text).of_url().slim().column(1).indexed(),
        "The URL as its author meant it, without fragment and wrapper, undecoded";
    Fragment => Field::new("fragment", Text).or_null().of_url().slim().indexed(),
        "Text after the `#`";
    Scheme => Field::new("scheme", Text).of_url().indexed(), "Scheme in lower case";
    Host => Field::new("host", Text).or_null().of_url().column(3).indexed(),
        "Host in lower case, non-ASCII names as A-labels, without a final dot; null without an \
         authority (`//`)";
    Domain => Field::new("domain", Text).or_null().of_url().column(2).indexed(),
        "Registrable domain of the host by the public suffix list; null for addresses and single \
         labels";
    Port => Field::new("port", Integer).or_null().of_url().indexed(),
        "Port, or the default port of the scheme; null if unknown or above 65535";
    Path => Field::new("path", Text).or_null().of_url().indexed().not_loaded(),
        "Path from the first slash, perhaps empty; null without an authority";
    Query => Field::new("query", Text).or_null().of_url().indexed().not_loaded(),
        "Text after the first `?`; null without an authority";
    Key => Field::new("key", Text).or_null().of_url().indexed(),
        "Form for comparing (RFC 1738 sections 2.1 and 2.2): equivalent URLs have the same \
         key; null if the URL is truncated";
    Href => Field::new("href", Text).or_null().of_url(),
        "Address that a browser would fetch, by the WHATWG URL standard, with the fragment";
    Conforms => Field::new("conforms", Texts).with(Names(|| Grammar::NAMES.to_vec())).of_url(),
        "Grammars that accept the URL";
    => Field::new("error", Object).or_null().of_url().not_loaded(),
        "Reason why RFC 1738 rejects the URL; null if it accepts it";
    ErrorOffset => Field::new("error.offset", Integer).of_url().not_loaded(),
        "Offset in the URL, in bytes";
    ErrorPart => Field::new("error.part", Text)
        .with(Names(|| RejectPart::NAMES.to_vec())).of_url().not_loaded(),
        "Part of the URL";
    ErrorKind => Field::new("error.kind", Text)
        .with(Names(|| RejectKind::NAMES.to_vec())).of_url().not_loaded(),
        "Kind of the error";
    ErrorMessage => Field::new("error.message", Text).of_url().not_loaded(), "The error in words";
    Warnings => Field::new("warnings", Texts).with(Names(|| Warning::NAMES.to_vec())).of_url(),
        "Oddities in a URL that RFC 1738 accepts";
    Hazards => Field::new("hazards", Texts).with(Names(hazard_names)).of_url(),
        "Warning signs for readers";
    Form => Field::new("form", Text).with(Names(|| UrlForm::NAMES.to_vec())).or_null().of_url(),
        "Form of the URL by RFC 1738; null if it rejects the URL";
    Parts => Field::new("parts", List).of_url().not_loaded(),
        "Parts of the URL as RFC 1738 reads it, else as the accepting grammar does; empty if the \
         URL is truncated";
    => Field::new("parts.name", Text).of_url().not_loaded(),
        "Name of the part; a list has one entry for each item";
    => Field::new("parts.value", Text).of_url().not_loaded(), "Text of the part, as written";
    Wrapper => Field::new("wrapper", Text).with(Names(|| Wrapper::NAMES.to_vec())).indexed(),
        "Delimiters around the URL";
    Raw => Field::new("raw", Text).not_loaded(),
        "Text from the URL's first to its last character, before repair";
    RawBase64 => Field::new("raw_b64", Text).with(Base64).or_null().not_loaded(),
        "Bytes of `raw`, if they are not UTF-8 or hold a NUL";
    Repairs => Field::new("repairs", Texts).with(Names(|| Repair::NAMES.to_vec())),
        "Damage that was undone";
    Alternates => Field::new("alternates", List).not_loaded(),
        "Other readings of the same place, all different";
    => Field::new("alternates.url", Text).not_loaded(), "The URL without its fragment";
    => Field::new("alternates.fragment", Text).or_null().not_loaded(), "Its fragment";
    => Field::new("alternates.why", Text)
        .with(Names(|| AlternateReason::NAMES.to_vec())).not_loaded(), "Reason for the reading";
    => Field::new("alternates.confidence", Number).with(Unit).not_loaded(),
        "Probability that this reading is right";
    Confidence => Field::new("confidence", Number).with(Unit).slim().indexed(),
        "Probability that this reading is right";
    Truncated => Field::new("truncated", Boolean),
        "True if the URL is longer than the limit and was cut";
    FullLength => Field::new("full_length", Integer).or_null().not_loaded(),
        "Length in bytes of a truncated URL";
    FullHash => Field::new("full_hash", Text).with(Digest).or_null().not_loaded(),
        "Hash of a truncated URL";
    Region => Field::new("region", Text).with(Region).indexed(),
        "Place in the message: `body`, `signature`, `forwarded`, `footer`, a header field \
         (`header:NAME`), the text of HTML (`html:text`), an attribute (`html:ELEMENT.ATTRIBUTE`), \
         a string of a script (`html:script`), other data of an element (`html:data`), the \
         parameters of `message/external-body` (`external-body`)";
    QuoteDepth => Field::new("quote_depth", Integer),
        "Number of quote marks before the line where the URL starts; bars of a table do not count";
    Anchor => Field::new("anchor", Text).or_null().prose(), "Text of the link";
    Mismatch => Field::new("mismatch", Boolean).or_null().indexed(),
        "True if the text of the link is a URL or host of another registrable domain than its \
         innermost target; null if the URL is not an attribute";
    UnwrappedFrom => Field::new("unwrapped_from", Text).with(Digest).or_null(),
        "Id of the record of the URL that contained this one: a redirector's, or one with a whole \
         URL in its query";
    UnwrappedBy => Field::new("unwrapped_by", Text).with(Names(redirectors)).or_null(),
        "Name of the redirector; `query` for a whole URL in the query of another";
    => Field::new("source", Object), "Place of the URL in the input";
    SourcePath => Field::new("source.path", Text).of_message().slim().column(9).indexed(),
        "Path of the file, as given and walked";
    SourcePathBase64 => Field::new("source.path_b64", Text).with(Base64).or_null().of_message(),
        "Bytes of the path, if they are not UTF-8";
    SourceMailbox => Field::new("source.mailbox", Text).of_message().indexed(),
        "Mailbox: the path without suffixes of rotation and compression, or the folder of a \
         Maildir, MH folder or newsgroup";
    SourceMailboxBase64 => Field::new("source.mailbox_b64", Text)
        .with(Base64).or_null().of_message().indexed(),
        "Bytes of the mailbox, if they are not UTF-8";
    SourceMember => Field::new("source.member", Texts).or_null().of_message().slim(),
        "Names of the archive members, from the outermost inwards; null outside archives";
    SourceMemberBase64 => Field::new("source.member_b64", Texts)
        .with(Base64).or_null().of_message(),
        "Bytes of these names, if one is not UTF-8 or holds a NUL";
    SourceKind => Field::new("source.kind", Text)
        .with(Names(|| SourceKind::NAMES.to_vec())).of_message(), "Kind of the source";
    SourceStart => Field::new("source.start", Integer).slim().column(10).indexed(),
        "Offset of the URL's first byte, in the decompressed file or member";
    SourceEnd => Field::new("source.end", Integer).slim().indexed(), "Offset after its last byte";
    SourceLine => Field::new("source.line", Integer), "Line within the message, from 1";
    SourceExact => Field::new("source.exact", Boolean),
        "True if `start` and `end` are exact to the byte";
    => Field::new("message", Object),
        "Message that holds the URL, the outermost one; for a text without a header, the text";
    MessageStart => Field::new("message.start", Integer).of_message(),
        "Offset of the message's first byte, its `From ` line included";
    MessageEnd => Field::new("message.end", Integer).of_message(), "Offset after its last byte";
    MessageId => Field::new("message.id", Text).or_null()
        .of_header(InfoFields::ID).slim().column(8).indexed(), "Message-ID with its brackets";
    MessageDigest => Field::new("message.digest", Text).with(Digest).of_message().indexed(),
        "Hash of the message, the same for every copy";
    MessageDate => Field::new("message.date", Text)
        .with(Instant).or_null().of_header(InfoFields::DATE).slim().column(5).indexed(),
        "Date in UTC";
    MessageYear => Field::new("message.year", Integer)
        .or_null().of_header(InfoFields::DATE).column(4).indexed().not_loaded(),
        "Year of the date in UTC; null without a date, and if it is before 1970-01-02 or after \
         2099";
    MessageDateRaw => Field::new("message.date_raw", Text).or_null().of_header(InfoFields::DATE),
        "Date field as written, if it is not a date or its zone is unknown";
    MessageFrom => Field::new("message.from", Text)
        .or_null().of_header(InfoFields::FROM).slim().column(6).indexed().prose(),
        "From field";
    MessageSubject => Field::new("message.subject", Text)
        .or_null().of_header(InfoFields::SUBJECT).slim().column(7).indexed().prose(),
        "Subject field";
    MessageNewsgroups => Field::new("message.newsgroups", Texts).of_header(InfoFields::NEWSGROUPS),
        "Newsgroups";
    MessageListId => Field::new("message.list_id", Text)
        .or_null().of_header(InfoFields::LIST_ID).indexed(), "List-Id field";
    MessageReferences => Field::new("message.references", Texts).of_header(InfoFields::REFERENCES),
        "Message-IDs of the messages that it answers";
    MessageFields => Field::new("message.fields", List).or_null().of_header(InfoFields::NAMED),
        "Header fields that `header_fields` asks for, in the order of the header; null without the \
         option, and for a text without a header";
    => Field::new("message.fields.name", Text).of_message().not_loaded(),
        "Name of the field, as the option has it";
    => Field::new("message.fields.value", Text).of_message().not_loaded(), "Value of the field";
    => Field::new("author", Object),
        "Innermost message that holds the URL, which tells who wrote it";
    AuthorFrom => Field::new("author.from", Text)
        .or_null().of_author(InfoFields::FROM).indexed().prose(), "Its From field";
    AuthorSubject => Field::new("author.subject", Text)
        .or_null().of_author(InfoFields::SUBJECT).prose(), "Its Subject field";
    AuthorDate => Field::new("author.date", Text)
        .with(Instant).or_null().of_author(InfoFields::DATE).indexed(), "Its date in UTC";
    AuthorMessageId => Field::new("author.message_id", Text).or_null()
        .of_author(InfoFields::ID).indexed(), "Its Message-ID with its brackets";
    AuthorBy => Field::new("author.by", Text)
        .with(Names(|| AuthorKind::NAMES.to_vec())).of_author(InfoFields::NONE).indexed(),
        "Kind of that message: `outer` for the one in `message`; `text` for header lines in a \
         text, which anybody can write";
    => Field::new("part", Object).or_null().not_loaded(),
        "MIME part that holds the URL; null in the message's header and in texts without parts";
    PartPath => Field::new("part.path", Text).not_loaded(),
        "Numbers of the part and of those around it: `1.2`";
    PartType => Field::new("part.type", Text).not_loaded(), "Media type in lower case";
    PartCharset => Field::new("part.charset", Text).or_null().not_loaded(),
        "Charset that the part names";
    PartEncoding => Field::new("part.encoding", Text).not_loaded(),
        "Transfer encoding in lower case; for a part in an encoded attachment, the attachment's";
    PartMessageId => Field::new("part.message_id", Text).or_null().not_loaded(),
        "Message-ID of the message/rfc822 part that holds the part";
    PartMember => Field::new("part.member", Texts).or_null().not_loaded(),
        "Names of the members of an attached archive, from the outermost inwards; null outside \
         such";
    => Field::new("context", Object).or_null(), "Text around the URL, if `--context` asks for it";
    ContextBefore => Field::new("context.before", Text).prose(), "Text before the URL";
    ContextAfter => Field::new("context.after", Text).prose(), "Text after it";
    TruncatedTail => Field::new("truncated_tail", Boolean).of_message().not_loaded(),
        "True if the message ended within a line when `watch` took it";
    Count => Field::new("count", Integer).or_null(),
        "Number of times that the URL occurs in the message, if `--unique message` asks for each \
         once and it occurs more often";
}

impl FieldId {
    /// Returns the name, dotted inside an object: `source.path`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.field().name
    }

    /// Returns `true` if the field, or the object that contains it, may be null.
    #[must_use]
    pub fn is_optional(self) -> bool {
        let (name, parent) = (self.name(), self.field().parent());
        RECORD_FIELDS
            .iter()
            .any(|field| field.is_nullable && (field.name == name || Some(field.name) == parent))
    }

    /// Returns the field called `name`, or all fields of the object called `name`.
    pub fn named(name: &str) -> impl Iterator<Item = FieldId> {
        FieldId::ALL.iter().copied().filter(move |field| {
            let rest = field.name().strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Returns the fields of a slim record, in record order: the URL, its position and the message.
    #[must_use]
    pub fn slim() -> Vec<FieldId> {
        let all = FieldId::ALL.iter().copied();
        all.filter(|id| id.field().is_slim).collect()
    }

    /// Returns the fields that loaders read, in record order.
    #[must_use]
    pub fn loaded() -> Vec<FieldId> {
        let all = FieldId::ALL.iter().copied();
        all.filter(|id| id.field().is_loaded).collect()
    }

    /// Returns the default columns of a table.
    #[must_use]
    pub fn table_columns() -> Vec<FieldId> {
        let mut columns = FieldId::ALL.to_vec();
        columns.retain(|id| id.field().table_column.is_some());
        columns.sort_unstable_by_key(|id| id.field().table_column);
        columns
    }
}

/// Generates a field table. A row is `Field, "meaning";`.
macro_rules! fields {
    ($($field:expr, $meaning:literal;)+) => {
        &[$($field.meaning($meaning),)+]
    };
}

/// Fields of a rejected candidate. [`SOURCE_FIELDS`] follow.
pub(super) const REJECT_FIELDS: &[Field] = fields! {
    Field::new("type", Text).with(Constant("reject")), "Type of the line";
    Field::new("text", Text), "Text of the candidate";
    Field::new("reason", Object), "Reason why it is not a URL";
    Field::new("reason.kind", Text).with(Names(|| RejectReasonKind::NAMES.to_vec())),
        "Kind of the reason";
    Field::new("reason.error", Object).or_null(),
        "Error of RFC 1738's parser, if the kind is `grammar`";
    Field::new("reason.error.offset", Integer), "Offset in the candidate, in bytes";
    Field::new("reason.error.part", Text).with(Names(|| RejectPart::NAMES.to_vec())),
        "Part of the URL";
    Field::new("reason.error.kind", Text).with(Names(|| RejectKind::NAMES.to_vec())),
        "Kind of the error";
    Field::new("reason.error.message", Text), "The error in words";
};

/// Fields of an event. [`SOURCE_FIELDS`] follow.
pub(super) const EVENT_FIELDS: &[Field] = fields! {
    Field::new("type", Text).with(Constant("event")), "Type of the line";
    Field::new("kind", Text).with(Names(|| DiagnosticKind::NAMES.to_vec())), "Kind of the event";
    Field::new("message", Text), "The event in words";
};

/// The object `source` of rejects and events, and its fields.
pub(super) const SOURCE_FIELDS: &[Field] = fields! {
    Field::new("source", Object), "Place in the input";
    Field::new("source.path", Text), "Path of the file, as given and walked";
    Field::new("source.path_b64", Text).with(Base64).or_null(),
        "Bytes of the path, if they are not UTF-8";
    Field::new("source.member", Texts).or_null(),
        "Names of the archive members, from the outermost inwards; null outside archives";
    Field::new("source.member_b64", Texts).with(Base64).or_null(),
        "Bytes of these names, if one is not UTF-8 or holds a NUL";
    Field::new("source.start", Integer).or_null(),
        "Offset of the first byte; null for the whole source";
    Field::new("source.end", Integer).or_null(), "Offset after the last byte";
};

/// Fields of a removed message.
pub(super) const GONE_FIELDS: &[Field] = fields! {
    Field::new("type", Text).with(Constant("gone")), "Type of the line";
    Field::new("mailbox", Text),
        "Mailbox that the message is gone from, as `source.mailbox` of its records";
    Field::new("mailbox_b64", Text).with(Base64).or_null(),
        "Bytes of the mailbox, if they are not UTF-8";
    Field::new("digests", Texts).with(Digest),
        "Digests of the message, as `message.digest` of its records";
};

/// Name, in `hazards`, of a link whose text names a different host.
pub const MISMATCH: &str = "mismatch";

/// Returns the names of all hazards, including [`MISMATCH`].
#[must_use]
pub fn hazard_names() -> Vec<&'static str> {
    [&Hazard::NAMES[..], &[MISMATCH]].concat()
}

/// Returns the name of each redirector once, in the order of the first row that has it.
fn redirectors() -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in redirector_names() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the regular expression for a record's `region`, valid for validators in any language.
pub(super) fn region_pattern() -> String {
    let regions = BodyRegion::ALL.map(BodyRegion::name).join("|");
    let attributes: Vec<_> = link_attributes().collect();
    format!(
        "^({regions}|{EXTERNAL_BODY_REGION}|header:.+|html:(text|script|data)|html:.+\\.({}))$",
        attributes.join("|")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_field_follows_its_object() {
        for table in [
            RECORD_FIELDS,
            REJECT_FIELDS,
            EVENT_FIELDS,
            SOURCE_FIELDS,
            GONE_FIELDS,
        ] {
            let mut seen = BTreeSet::new();
            for field in table {
                assert!(seen.insert(field.name), "{} twice", field.name);
                let Some(parent) = field.parent() else {
                    continue;
                };
                let holder = table.iter().find(|other| other.name == parent).unwrap();
                assert!(matches!(holder.json_type, Object | List) && seen.contains(parent));
            }
        }
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

    #[test]
    fn the_enumeration_has_every_field_without_subfields() {
        let is_item = |field: &Field| {
            let parent = field.parent().unwrap_or_default();
            RECORD_FIELDS
                .iter()
                .any(|other| other.name == parent && other.json_type == List)
        };
        let leaves = RECORD_FIELDS
            .iter()
            .filter(|field| field.json_type != Object);
        let leaves = leaves
            .filter(|field| !is_item(field))
            .map(|field| field.name);
        assert_eq!(
            FieldId::ALL
                .iter()
                .map(|field| field.name())
                .collect::<Vec<_>>(),
            leaves.collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_first_field_of_an_object_is_null_only_with_it() {
        let objects = RECORD_FIELDS
            .iter()
            .filter(|field| field.json_type == Object);
        let marks: Vec<_> = objects.filter_map(Field::null_mark).collect();
        assert!(marks.contains(&FieldId::PartPath));
        for mark in marks {
            assert!(!mark.field().is_nullable, "{}", mark.name());
        }
    }

    #[test]
    fn a_table_starts_with_the_url() {
        let names: Vec<_> = FieldId::table_columns()
            .iter()
            .map(|field| field.name())
            .collect();
        let columns = RECORD_FIELDS
            .iter()
            .filter_map(|field| field.table_column)
            .count();
        assert_eq!((names[0], names.len()), ("url", columns));
    }

    #[test]
    fn descriptions_are_one_sentence_without_a_period() {
        for field in [
            RECORD_FIELDS,
            REJECT_FIELDS,
            EVENT_FIELDS,
            SOURCE_FIELDS,
            GONE_FIELDS,
        ]
        .concat()
        {
            let text = field.description;
            assert!(
                !text.is_empty() && !text.ends_with('.') && !text.contains('|'),
                "{text}"
            );
        }
    }

    /// `[^]` matches any character only in ECMAScript. Elsewhere the set starts with `]`.
    #[test]
    fn the_region_pattern_has_no_empty_set() {
        let pattern = region_pattern();
        assert!(
            !pattern.contains("[^]") && !pattern.contains("[]"),
            "{pattern}"
        );
        assert!(pattern.contains("|header:.+|"), "{pattern}");
    }

    #[test]
    fn names_in_a_set_are_distinct() {
        for field in [RECORD_FIELDS, REJECT_FIELDS, EVENT_FIELDS].concat() {
            let Names(names) = field.values else { continue };
            let names = names();
            let distinct: BTreeSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{names:?}");
            assert!(!names.is_empty());
        }
    }
}
