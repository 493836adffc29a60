//! The fields of a message's header that its records repeat, decoded.

use super::date::{Date, parse_date};
use super::field_names::KnownField;
use super::header::{HeaderField, HeaderFields, field_text};
use crate::limits::REPEATED_NAMES;

/// Header fields of a message that its records repeat. Texts are unfolded, with encoded words decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageInfo {
    /// Message-ID, or a B news article's Article-I.D.
    pub id: Option<String>,
    /// Date, or Posted.
    pub date: Option<Date>,
    /// From.
    pub from: Option<String>,
    /// Subject.
    pub subject: Option<String>,
    /// The names in Newsgroups.
    pub newsgroups: Vec<String>,
    /// List-Id.
    pub list_id: Option<String>,
    /// The Message-IDs of the messages that it answers: References, or In-Reply-To if there is no References field.
    pub references: Vec<String>,
}

/// A set of fields of [`MessageInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoFields(u8);

impl InfoFields {
    /// No field.
    pub const NONE: InfoFields = InfoFields(0);
    /// `id`.
    pub const ID: InfoFields = InfoFields(1);
    /// `date`.
    pub const DATE: InfoFields = InfoFields(1 << 1);
    /// `from`.
    pub const FROM: InfoFields = InfoFields(1 << 2);
    /// `subject`.
    pub const SUBJECT: InfoFields = InfoFields(1 << 3);
    /// `newsgroups`.
    pub const NEWSGROUPS: InfoFields = InfoFields(1 << 4);
    /// `list_id`.
    pub const LIST_ID: InfoFields = InfoFields(1 << 5);
    /// `references`.
    pub const REFERENCES: InfoFields = InfoFields(1 << 6);
    /// All fields.
    pub const ALL: InfoFields = InfoFields(u8::MAX);

    /// Returns the set with the fields of both.
    #[must_use]
    pub const fn with(self, other: InfoFields) -> InfoFields {
        InfoFields(self.0 | other.0)
    }

    /// Returns `true` if all fields of `other` are in the set.
    #[must_use]
    pub const fn contains(self, other: InfoFields) -> bool {
        self.0 & other.0 == other.0
    }
}

impl Default for InfoFields {
    fn default() -> InfoFields {
        InfoFields::ALL
    }
}

impl MessageInfo {
    /// Reads the header whose fields are ranges of `raw`. At most `max_bytes` of each field are read.
    #[must_use]
    pub fn of(raw: &[u8], fields: &HeaderFields, max_bytes: usize) -> MessageInfo {
        MessageInfo::wanted(raw, fields, max_bytes, InfoFields::ALL)
    }

    /// Does the same as [`MessageInfo::of`] for the `wanted` fields; the others stay empty.
    #[must_use]
    pub fn wanted(
        raw: &[u8],
        fields: &HeaderFields,
        max_bytes: usize,
        wanted: InfoFields,
    ) -> MessageInfo {
        let [
            id,
            date,
            from,
            subject,
            newsgroups,
            list_id,
            references,
            in_reply_to,
        ] = fields.first_of_each([
            KnownField::MessageId,
            KnownField::Date,
            KnownField::From,
            KnownField::Subject,
            KnownField::Newsgroups,
            KnownField::ListId,
            KnownField::References,
            KnownField::InReplyTo,
        ]);
        let text = |of: InfoFields, field: Option<HeaderField>| {
            let field = field.filter(|_| wanted.contains(of));
            field.map(|field| trimmed(raw, field, max_bytes))
        };
        // Older names of the same fields: RFC 850 section 2.1, and mailers before RFC 822.
        let older = |of: InfoFields, name: &str| {
            let field = wanted.contains(of).then(|| fields.first_named(raw, name));
            text(of, field.flatten())
        };
        let newsgroups = text(InfoFields::NEWSGROUPS, newsgroups).unwrap_or_default();
        MessageInfo {
            id: text(InfoFields::ID, id).or_else(|| older(InfoFields::ID, "article-i.d.")),
            date: text(InfoFields::DATE, date)
                .or_else(|| older(InfoFields::DATE, "posted"))
                .map(|raw| parse_date(&raw)),
            from: text(InfoFields::FROM, from),
            subject: text(InfoFields::SUBJECT, subject),
            newsgroups: newsgroups
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .take(REPEATED_NAMES)
                .map(str::to_owned)
                .collect(),
            list_id: text(InfoFields::LIST_ID, list_id),
            references: text(InfoFields::REFERENCES, references.or(in_reply_to))
                .map_or(Vec::new(), |text| message_ids(&text)),
        }
    }

    /// Reads the five header lines of an A news article (RFC 850 section 2).
    #[must_use]
    pub fn of_a_news(raw: &[u8]) -> MessageInfo {
        let mut lines = raw
            .splitn(6, |&byte| byte == b'\n')
            .map(|line| String::from_utf8_lossy(line).trim().to_owned());
        let id = lines
            .next()
            .map(|line| line.strip_prefix('A').unwrap_or_default().to_owned());
        let newsgroups = lines.next().unwrap_or_default();
        MessageInfo {
            id,
            newsgroups: newsgroups
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            from: lines.next(),
            date: lines.next().map(|raw| parse_date(&raw)),
            subject: lines.next(),
            ..MessageInfo::default()
        }
    }
}

/// The text of the first `max_bytes` of a field's value, without white space around it.
fn trimmed(raw: &[u8], field: HeaderField, max_bytes: usize) -> String {
    let value = field.value.of(raw);
    let text = field_text(&value[..value.len().min(max_bytes)]);
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        return text.trim().to_owned();
    }
    text
}

/// The Message-IDs in a text, with their brackets: at most [`REPEATED_NAMES`].
///
/// Damaged ones are skipped: those without `@` and those with white space.
fn message_ids(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut from = 0;
    let bracketed = memchr::memchr_iter(b'>', bytes).filter_map(|end| {
        let before = std::mem::replace(&mut from, end + 1);
        Some(before + memchr::memrchr(b'<', &bytes[before..end])?..end + 1)
    });
    let is_blank = |byte: u8| matches!(byte, b'\t'..=b'\r' | b' ');
    let has_blank = |id: &str| {
        if id.is_ascii() {
            id.bytes().any(is_blank)
        } else {
            id.contains(char::is_whitespace)
        }
    };
    let is_id = |id: &&str| memchr::memchr(b'@', id.as_bytes()).is_some() && !has_blank(id);
    bracketed
        .map(|range| &text[range])
        .filter(is_id)
        .map(str::to_owned)
        .take(REPEATED_NAMES)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ids_are_in_the_innermost_brackets() {
        assert_eq!(
            message_ids("<a@b> <c@d>\t<e f@g><no> x <h@i"),
            ["<a@b>", "<c@d>"]
        );
        assert_eq!(
            message_ids("<a <b@c> d@e> <f@\u{a0}g> > <<h@i>>"),
            ["<b@c>", "<h@i>"]
        );
    }
}
