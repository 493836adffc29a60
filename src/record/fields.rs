//! The table of the fields of a record: name, type, meaning.
//!
//! The JSON Schema, the schemas for loaders, the tables of the documentation and `--fields` are made from it.

use super::closed_sets::ClosedSet;
use FieldType::{Boolean, Integer, List, Number, Object, Text, Texts};
use FieldValues::{Any, Base64, Constant, Digest, Instant, Names, Region, Unit, Version};

/// A field of a line of JSON.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The name; within objects dotted: `source.path`. An object stands before its fields.
    pub name: &'static str,
    /// The type of its value.
    pub json_type: FieldType,
    /// Presence of null among the values.
    pub nullable: Nullable,
    /// The values that occur.
    pub values: FieldValues,
    /// The meaning, one sentence without its period.
    pub description: &'static str,
}

/// Type of a field's value in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// An object, whose fields follow in the table.
    Object,
    /// A list of objects, whose fields follow in the table.
    List,
}

/// Presence of null among the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nullable {
    /// Null where the field does not apply.
    Yes,
    /// Never null.
    No,
}

/// Values that occur in a field; in a list, those of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldValues {
    /// Any value of the type.
    Any,
    /// This text.
    Constant(&'static str),
    /// The version of the format.
    Version,
    /// One of these names.
    Names(ClosedSet),
    /// A region: a name, or a prefix and the name of a header field or an attribute.
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
    const fn new(name: &'static str, json_type: FieldType, description: &'static str) -> Field {
        Field {
            name,
            json_type,
            nullable: Nullable::No,
            values: Any,
            description,
        }
    }

    const fn or_null(self) -> Field {
        Field {
            nullable: Nullable::Yes,
            ..self
        }
    }

    const fn with(self, values: FieldValues) -> Field {
        Field { values, ..self }
    }

    /// The name of the object or list that holds the field; `None` for a field of the line itself.
    #[must_use]
    pub fn parent(&self) -> Option<&'static str> {
        self.name.rsplit_once('.').map(|(parent, _)| parent)
    }

    /// The name within the object that holds the field.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(_, key)| key)
    }
}

/// Returns the fields of `table` that the object or list `parent` holds; `None` stands for the line itself.
pub(super) fn fields_of<'t>(
    table: &'t [Field],
    parent: Option<&'t str>,
) -> impl Iterator<Item = &'t Field> {
    table.iter().filter(move |field| field.parent() == parent)
}

/// The fields of a URL's record, in the order in which they are written. Every record has all of them.
pub const RECORD_FIELDS: &[Field] = &[
    Field::new("schema", Integer, "Version of the format").with(Version),
    Field::new("type", Text, "Type of the line").with(Constant("url")),
    Field::new("id", Text, "Name of the URL in its message, the same on every run and machine, and in every copy of the message").with(Digest),
    Field::new("url", Text, "The URL as its author meant it, without fragment and wrapper, nothing decoded"),
    Field::new("fragment", Text, "Text after the `#`").or_null(),
    Field::new("scheme", Text, "Scheme in lower case"),
    Field::new("host", Text, "Host in lower case, non-ASCII names as A-labels, without a final dot; null without an authority (`//`)").or_null(),
    Field::new("domain", Text, "Registrable domain of the host by the public suffix list; null for addresses and single labels").or_null(),
    Field::new("port", Integer, "Port, or the default port of the scheme; null above 65535 or if there is none").or_null(),
    Field::new("path", Text, "Path from its first slash, perhaps empty; null without an authority").or_null(),
    Field::new("query", Text, "Text after the first `?`; null without an authority").or_null(),
    Field::new("key", Text, "Form for comparing (RFC 1738 sections 2.1 and 2.2): equivalent URLs have the same; null if the URL is truncated").or_null(),
    Field::new("href", Text, "Address that a browser would fetch, by the WHATWG URL standard, with the fragment").or_null(),
    Field::new("conforms", Texts, "Grammars that accept the URL").with(Names(ClosedSet::Grammars)),
    Field::new("error", Object, "Reason for which RFC 1738 refuses the URL; null if it accepts it").or_null(),
    Field::new("error.offset", Integer, "Offset in the URL, in bytes"),
    Field::new("error.part", Text, "Part of the URL").with(Names(ClosedSet::ErrorParts)),
    Field::new("error.kind", Text, "Kind of the error").with(Names(ClosedSet::ErrorKinds)),
    Field::new("error.message", Text, "The error in words"),
    Field::new("warnings", Texts, "Oddities in a URL that RFC 1738 accepts").with(Names(ClosedSet::Warnings)),
    Field::new("hazards", Texts, "Properties for which a reader should be careful").with(Names(ClosedSet::Hazards)),
    Field::new("form", Text, "Form of the URL by RFC 1738; null if it refuses the URL").with(Names(ClosedSet::Forms)).or_null(),
    Field::new("parts", List, "Parts of the URL as RFC 1738 reads it, else as the accepting grammar does; empty if the URL is truncated"),
    Field::new("parts.name", Text, "Name of the part; a list has one entry for each item"),
    Field::new("parts.value", Text, "Text of the part, as written"),
    Field::new("wrapper", Text, "Delimiters around the URL").with(Names(ClosedSet::Wrappers)),
    Field::new("raw", Text, "Text from the URL's first to its last character, before repair"),
    Field::new("raw_b64", Text, "Bytes of `raw`, if they are not UTF-8 or hold a NUL").with(Base64).or_null(),
    Field::new("repairs", Texts, "Damage that was undone").with(Names(ClosedSet::Repairs)),
    Field::new("alternates", List, "Other readings of the same place, all different"),
    Field::new("alternates.url", Text, "The URL without its fragment"),
    Field::new("alternates.fragment", Text, "Its fragment").or_null(),
    Field::new("alternates.why", Text, "Reason for the reading").with(Names(ClosedSet::AlternateReasons)),
    Field::new("alternates.confidence", Number, "Probability that this reading is right").with(Unit),
    Field::new("confidence", Number, "Probability that this reading is right").with(Unit),
    Field::new("truncated", Boolean, "True if the URL is longer than the limit and only its beginning stands here"),
    Field::new("full_length", Integer, "Length in bytes of a truncated URL").or_null(),
    Field::new("full_hash", Text, "Hash of a truncated URL").with(Digest).or_null(),
    Field::new("region", Text, "Place in the message: `body`, `signature`, `forwarded`, `footer`, a header field (`header:NAME`), the text of HTML (`html:text`), an attribute (`html:ELEMENT.ATTRIBUTE`)").with(Region),
    Field::new("quote_depth", Integer, "Number of quote marks before the line on which the URL begins"),
    Field::new("anchor", Text, "Text of the link").or_null(),
    Field::new("mismatch", Boolean, "True if the text of the link names another host; null if the URL is no attribute").or_null(),
    Field::new("unwrapped_from", Text, "Id of the record of the redirector's URL that held this one").with(Digest).or_null(),
    Field::new("unwrapped_by", Text, "Name of the redirector").with(Names(ClosedSet::Redirectors)).or_null(),
    Field::new("source", Object, "Place of the URL in the input"),
    Field::new("source.path", Text, "Path of the file, as given and walked"),
    Field::new("source.path_b64", Text, "Bytes of the path, if they are not UTF-8").with(Base64).or_null(),
    Field::new("source.mailbox", Text, "Mailbox: the path without suffixes of rotation and compression, or the folder of a Maildir, MH folder or newsgroup"),
    Field::new("source.member", Texts, "Names of the archive members, from the outermost inwards; null outside archives").or_null(),
    Field::new("source.member_b64", Texts, "Bytes of these names, if one is not UTF-8 or holds a NUL").with(Base64).or_null(),
    Field::new("source.kind", Text, "Kind of the source").with(Names(ClosedSet::SourceKinds)),
    Field::new("source.start", Integer, "Offset of the URL's first byte, in the decompressed file or member"),
    Field::new("source.end", Integer, "Offset after its last byte"),
    Field::new("source.line", Integer, "Line within the message, from 1"),
    Field::new("source.exact", Boolean, "True if `start` and `end` are exact to the byte"),
    Field::new("message", Object, "Message that holds the URL, the outermost one; for a text without a header, the text"),
    Field::new("message.start", Integer, "Offset of the message's first byte, its `From ` line included"),
    Field::new("message.end", Integer, "Offset after its last byte"),
    Field::new("message.id", Text, "Message-ID with its brackets").or_null(),
    Field::new("message.digest", Text, "Hash of the message, the same for every copy").with(Digest),
    Field::new("message.date", Text, "Date in UTC").with(Instant).or_null(),
    Field::new("message.date_raw", Text, "Date field as written, if it is no date or its zone is unknown").or_null(),
    Field::new("message.from", Text, "From field").or_null(),
    Field::new("message.subject", Text, "Subject field").or_null(),
    Field::new("message.newsgroups", Texts, "Newsgroups"),
    Field::new("message.list_id", Text, "List-Id field").or_null(),
    Field::new("message.references", Texts, "Message-IDs of the messages that it answers"),
    Field::new("part", Object, "MIME part that holds the URL; null in the message's header and in texts without parts").or_null(),
    Field::new("part.path", Text, "Numbers of the part and of those around it: `1.2`"),
    Field::new("part.type", Text, "Media type in lower case"),
    Field::new("part.charset", Text, "Charset that the part names").or_null(),
    Field::new("part.encoding", Text, "Transfer encoding in lower case"),
    Field::new("part.message_id", Text, "Message-ID of the message/rfc822 part that holds the part").or_null(),
    Field::new("context", Object, "Text around the URL, if `--context` asks for it").or_null(),
    Field::new("context.before", Text, "Text before the URL"),
    Field::new("context.after", Text, "Text after it"),
    Field::new("truncated_tail", Boolean, "True if the message ended within a line when `watch` took it"),
    Field::new("count", Integer, "Number of times that the URL occurs in the message, if `--unique message` asks for each once and it occurs more often").or_null(),
];

/// The fields of a rejected candidate.
pub const REJECT_FIELDS: &[Field] = &[
    Field::new("type", Text, "Type of the line").with(Constant("reject")),
    Field::new("text", Text, "Text of the candidate"),
    Field::new("reason", Object, "Reason for which it is no URL"),
    Field::new("reason.kind", Text, "Kind of the reason").with(Names(ClosedSet::RejectReasons)),
    Field::new(
        "reason.error",
        Object,
        "Error of RFC 1738's parser, if the kind is `grammar`",
    )
    .or_null(),
    Field::new(
        "reason.error.offset",
        Integer,
        "Offset in the candidate, in bytes",
    ),
    Field::new("reason.error.part", Text, "Part of the URL").with(Names(ClosedSet::ErrorParts)),
    Field::new("reason.error.kind", Text, "Kind of the error").with(Names(ClosedSet::ErrorKinds)),
    Field::new("reason.error.message", Text, "The error in words"),
    SOURCE,
    SOURCE_PATH,
    SOURCE_PATH_B64,
    SOURCE_MEMBER,
    SOURCE_MEMBER_B64,
    SOURCE_START,
    SOURCE_END,
];

/// The fields of an event.
pub const EVENT_FIELDS: &[Field] = &[
    Field::new("type", Text, "Type of the line").with(Constant("event")),
    Field::new("kind", Text, "Kind of the event").with(Names(ClosedSet::EventKinds)),
    SOURCE,
    SOURCE_PATH,
    SOURCE_PATH_B64,
    SOURCE_MEMBER,
    SOURCE_MEMBER_B64,
    SOURCE_START,
    SOURCE_END,
    Field::new("message", Text, "The event in words"),
];

/// The fields of a message that is gone.
pub const GONE_FIELDS: &[Field] = &[
    Field::new("type", Text, "Type of the line").with(Constant("gone")),
    Field::new(
        "mailbox",
        Text,
        "Mailbox that the message is gone from, as `source.mailbox` of its records",
    ),
    Field::new(
        "digests",
        Texts,
        "Digests of the message, as `message.digest` of its records",
    )
    .with(Digest),
];

// The `source` of rejects and events.
const SOURCE: Field = Field::new("source", Object, "Place in the input");
const SOURCE_PATH: Field = Field::new("source.path", Text, "Path of the file, as given and walked");
const SOURCE_PATH_B64: Field = Field::new(
    "source.path_b64",
    Text,
    "Bytes of the path, if they are not UTF-8",
)
.with(Base64)
.or_null();
const SOURCE_MEMBER: Field = Field::new(
    "source.member",
    Texts,
    "Names of the archive members, from the outermost inwards; null outside archives",
)
.or_null();
const SOURCE_MEMBER_B64: Field = Field::new(
    "source.member_b64",
    Texts,
    "Bytes of these names, if one is not UTF-8 or holds a NUL",
)
.with(Base64)
.or_null();
const SOURCE_START: Field = Field::new(
    "source.start",
    Integer,
    "Offset of the first byte; null for the whole source",
)
.or_null();
const SOURCE_END: Field = Field::new("source.end", Integer, "Offset after the last byte").or_null();

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_field_has_its_object_before_it() {
        for table in [RECORD_FIELDS, REJECT_FIELDS, EVENT_FIELDS, GONE_FIELDS] {
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
    fn descriptions_are_one_sentence_without_its_period() {
        for field in [RECORD_FIELDS, REJECT_FIELDS, EVENT_FIELDS, GONE_FIELDS].concat() {
            let text = field.description;
            assert!(
                !text.is_empty() && !text.ends_with('.') && !text.contains('|'),
                "{text}"
            );
        }
    }
}
