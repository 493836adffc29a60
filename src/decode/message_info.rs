//! The fields of a message's header that its records repeat, decoded.

use std::cell::Cell;

use super::archived_page::{self, PageFields};
use super::date::{Date, parse_date};
use super::document::document_header;
use super::field_names::KnownField;
use super::header::{HeaderField, HeaderFields, field_text};
use crate::limits::REPEATED_NAMES;
use crate::split::{HeaderForm, Message};

/// Header fields of a message that its records repeat. Texts are unfolded, with encoded words
/// decoded.
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
    /// The Message-IDs of the messages that it answers: References, or In-Reply-To if there is no
    /// References field.
    pub references: Vec<String>,
    /// The header fields that were asked for by name, in the order of the header; `None` if none
    /// were.
    pub named_fields: Option<Vec<NamedField>>,
    /// `true` if the source has more of one of these fields, or more names, than is kept.
    pub is_cut: bool,
}

/// A header field that was asked for by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedField {
    /// The name, as it was asked for.
    pub name: String,
    /// The value, unfolded, with encoded words decoded.
    pub value: String,
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
    /// `named_fields`.
    pub const NAMED: InfoFields = InfoFields(1 << 7);
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
    /// Reads the header whose fields are ranges of `raw`. At most `max_bytes` of each field are
    /// read.
    #[must_use]
    pub fn of(raw: &[u8], fields: &HeaderFields, max_bytes: usize) -> MessageInfo {
        MessageInfo::wanted(raw, fields, max_bytes, InfoFields::ALL)
    }

    /// Reads the header of a message in whatever form it is, for the `wanted` fields, and for those
    /// named `names` if [`InfoFields::NAMED`] is among them. `None` if there is no header.
    #[must_use]
    pub fn of_message(
        message: &Message<'_>,
        fields: &HeaderFields,
        max_bytes: usize,
        wanted: InfoFields,
        names: &[String],
    ) -> Option<MessageInfo> {
        let document;
        let (raw, fields) = match message.header {
            HeaderForm::Document(kind) => {
                document = document_header(message, kind)?;
                (document.0.as_slice(), &document.1)
            }
            _ => (message.raw, fields),
        };
        let info = match message.header {
            HeaderForm::Present | HeaderForm::Copied { .. } | HeaderForm::Document(_) => {
                MessageInfo::wanted(raw, fields, max_bytes, wanted)
            }
            HeaderForm::ANews => MessageInfo::of_a_news(raw, max_bytes),
            HeaderForm::Page => MessageInfo::of_page(raw, max_bytes)?,
            HeaderForm::Absent => return None,
        };
        Some(if names.is_empty() || !wanted.contains(InfoFields::NAMED) {
            info
        } else {
            info.with_named_fields(raw, fields, max_bytes, names)
        })
    }

    /// Reads what a page of a mail archive says of its message. `None` for any other page.
    fn of_page(html: &[u8], max_bytes: usize) -> Option<MessageInfo> {
        let PageFields {
            id,
            date,
            from,
            subject,
        } = archived_page::fields(html)?;
        let mut is_cut = false;
        let mut kept = |text: Option<String>| {
            let mut text = text?;
            is_cut |= max_bytes < text.len();
            text.truncate(text.floor_char_boundary(max_bytes));
            Some(text)
        };
        Some(MessageInfo {
            id: kept(id),
            date: kept(date).map(|raw| parse_date(&raw)),
            from: kept(from),
            subject: kept(subject),
            is_cut,
            ..MessageInfo::default()
        })
    }

    /// Returns `true` if the message is of a mailing list, named as in List-Id between the angle brackets or as a whole, or of a
    /// newsgroup. Case does not count.
    #[must_use]
    pub fn is_of_list(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let is_list = |list_id: &String| {
            let list_id = list_id.to_lowercase();
            list_id == name || list_id.contains(&format!("<{name}>"))
        };
        self.list_id.as_ref().is_some_and(is_list)
            || self
                .newsgroups
                .iter()
                .any(|group| group.to_lowercase() == name)
    }

    /// Reads the `wanted` fields as [`MessageInfo::of`] does; the others stay empty.
    fn wanted(
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
        let is_cut = Cell::new(false);
        let text = |of: InfoFields, field: Option<HeaderField>| {
            let value = field?.value.of(raw);
            wanted.contains(of).then(|| {
                is_cut.set(is_cut.get() || max_bytes < value.len());
                trimmed(&value[..value.len().min(max_bytes)])
            })
        };
        // Older names of the same fields: RFC 850 section 2.1, and mailers before RFC 822.
        let older = |of: InfoFields, name: &str| {
            let field = wanted.contains(of).then(|| fields.first_named(raw, name));
            text(of, field.flatten())
        };
        let repeated = |mut names: Vec<String>| {
            is_cut.set(is_cut.get() || REPEATED_NAMES < names.len());
            names.truncate(REPEATED_NAMES);
            names
        };
        let newsgroups = text(InfoFields::NEWSGROUPS, newsgroups).unwrap_or_default();
        let mut info = MessageInfo {
            id: text(InfoFields::ID, id).or_else(|| older(InfoFields::ID, "article-i.d.")),
            date: text(InfoFields::DATE, date)
                .or_else(|| older(InfoFields::DATE, "posted"))
                .map(|raw| parse_date(&raw)),
            from: text(InfoFields::FROM, from),
            subject: text(InfoFields::SUBJECT, subject),
            newsgroups: repeated(group_names(&newsgroups)),
            list_id: text(InfoFields::LIST_ID, list_id),
            references: text(InfoFields::REFERENCES, references.or(in_reply_to))
                .map_or(Vec::new(), |text| repeated(message_ids(&text))),
            named_fields: None,
            is_cut: false,
        };
        info.is_cut = is_cut.get();
        info
    }

    /// Reads the fields of these names too, of each at most `max_bytes`. A page and an article of A
    /// news have no field with a name, and give none.
    fn with_named_fields(
        self,
        raw: &[u8],
        fields: &HeaderFields,
        max_bytes: usize,
        names: &[String],
    ) -> MessageInfo {
        let mut is_cut = self.is_cut;
        let named = |field: &HeaderField| {
            let found = field.name.of(raw);
            let is_it = |name: &&String| name.as_bytes().eq_ignore_ascii_case(found);
            Some((names.iter().find(is_it)?, field.value.of(raw)))
        };
        let mut list = Vec::new();
        for (name, value) in fields.all.iter().filter_map(named) {
            if REPEATED_NAMES <= list.len() {
                is_cut = true;
                break;
            }
            is_cut |= max_bytes < value.len();
            list.push(NamedField {
                name: name.clone(),
                value: trimmed(&value[..value.len().min(max_bytes)]),
            });
        }
        MessageInfo {
            named_fields: Some(list),
            is_cut,
            ..self
        }
    }

    /// Reads the five header lines of an A news article (RFC 850 section 2): at most `max_bytes` of
    /// each.
    fn of_a_news(raw: &[u8], max_bytes: usize) -> MessageInfo {
        let mut is_cut = false;
        let lines: Vec<String> = raw
            .splitn(6, |&byte| byte == b'\n')
            .take(5)
            .map(|line| {
                is_cut |= max_bytes < line.len();
                let line = &line[..line.len().min(max_bytes)];
                String::from_utf8_lossy(line).trim().to_owned()
            })
            .collect();
        let mut lines = lines.into_iter();
        let id = lines
            .next()
            .map(|line| line.strip_prefix('A').unwrap_or_default().to_owned());
        let mut newsgroups = group_names(&lines.next().unwrap_or_default());
        is_cut |= REPEATED_NAMES < newsgroups.len();
        newsgroups.truncate(REPEATED_NAMES);
        MessageInfo {
            id,
            newsgroups,
            from: lines.next(),
            date: lines.next().map(|raw| parse_date(&raw)),
            subject: lines.next(),
            is_cut,
            ..MessageInfo::default()
        }
    }
}

/// The names in a Newsgroups field.
fn group_names(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The text of a field's value, without white space around it.
fn trimmed(value: &[u8]) -> String {
    let text = field_text(value);
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        return text.trim().to_owned();
    }
    text
}

/// The Message-IDs in a text, with their brackets.
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
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_of_a_news_are_cut() {
        let article = b"Aid\na.b,c.d\npath\ndate\ntitle\nbody";
        assert!(!MessageInfo::of_a_news(article, 7).is_cut);
        let info = MessageInfo::of_a_news(article, 5);
        assert_eq!(
            (info.newsgroups, info.is_cut),
            (vec!["a.b".into(), "c".into()], true)
        );
    }

    #[test]
    fn as_many_newsgroups_of_a_news_are_kept_as_of_others() {
        let article = |groups: usize| {
            let names = vec!["a.b"; groups].join(",");
            let text = format!("Aid\n{names}\npath\ndate\ntitle\nbody");
            let info = MessageInfo::of_a_news(text.as_bytes(), usize::MAX);
            (info.newsgroups.len(), info.is_cut)
        };
        assert_eq!(article(REPEATED_NAMES), (REPEATED_NAMES, false));
        assert_eq!(article(REPEATED_NAMES + 1), (REPEATED_NAMES, true));
    }

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
