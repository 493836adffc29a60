//! Decodes the header fields that records repeat.

use super::archived_page;
use super::date::{Date, parse_date};
use super::field_names::KnownField;
use super::header::{HeaderField, HeaderFields, shown_text};
use super::mime_walk::document_header;
use super::region::HeaderLines;
use crate::split::{HeaderForm, Message};
use urlspool_text::limits::REPEATED_NAMES;
use urlspool_text::named_enum;

/// Header fields of a message that records repeat. Texts are unfolded, with encoded words decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageInfo {
    /// Message-ID, or Article-I.D. of a B news article.
    pub id: Option<String>,
    /// Date, or Posted.
    pub date: Option<Date>,
    /// From.
    pub from: Option<String>,
    /// Subject.
    pub subject: Option<String>,
    /// Names in Newsgroups.
    pub newsgroups: Vec<String>,
    /// List-Id.
    pub list_id: Option<String>,
    /// Message-IDs of the messages that this one answers: References, or In-Reply-To if there is no
    /// References field.
    pub references: Vec<String>,
    /// Header fields requested by name, in the order of the header; `None` if no names were
    /// requested.
    pub named_fields: Option<Vec<NamedField>>,
    /// `true` if the source has more text in one of these fields, or more names, than are kept.
    pub is_cut: bool,
}

named_enum! {
    /// Kind of the innermost message that holds a text.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AuthorKind {
        /// The outermost message.
        Outer = "outer",
        /// A message in a part or in an attachment, or the header of one (RFC 6522).
        #[default]
        Rfc822 = "rfc822",
        /// A message of a digest (RFC 1153, RFC 2046 section 5.1.5).
        Digest = "digest",
        /// The message that an abuse report is about (RFC 5965).
        Arf = "arf",
        /// An abuse report, outside the message that it is about. Its author did not send that.
        Reporter = "reporter",
        /// A message below header lines in a text, which anybody can write.
        Text = "text",
    }
}

/// Innermost message that holds a text, other than the outermost one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// Kind of the message.
    pub kind: AuthorKind,
    /// Its From, Subject, Date and Message-ID.
    pub info: MessageInfo,
}

impl Author {
    /// Reads a header whose fields are ranges of `raw`, at most `max_bytes` of each. `None` if all
    /// fields are missing.
    pub(super) fn of_header(
        kind: AuthorKind,
        raw: &[u8],
        fields: &HeaderFields,
        max_bytes: usize,
    ) -> Option<Author> {
        let info = MessageInfo::wanted(raw, fields, max_bytes, InfoFields::OF_AUTHOR);
        (info != MessageInfo::default()).then_some(Author { kind, info })
    }

    /// Reads header lines of a text, at most `max_bytes` of each.
    pub(super) fn of_lines(kind: AuthorKind, lines: &HeaderLines<'_>, max_bytes: usize) -> Author {
        let mut cut = Cut::at(max_bytes);
        let texts = [&lines.id, &lines.date, &lines.from, &lines.subject];
        let texts = texts.map(|value| Some(trimmed(cut.bytes(value.as_deref()?))));
        let info = MessageInfo::of_texts(texts, &cut);
        Author { kind, info }
    }
}

/// A header field that was asked for by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedField {
    /// Name as requested.
    pub name: String,
    /// Value, unfolded, with encoded words decoded.
    pub value: String,
}

/// Set of fields of [`MessageInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoFields(u16);

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
    /// The fields of the innermost message.
    pub const AUTHOR: InfoFields = InfoFields(1 << 8);
    /// All fields.
    pub const ALL: InfoFields = InfoFields(u16::MAX);
    /// Fields of an [`Author`].
    const OF_AUTHOR: InfoFields = InfoFields::ID
        .with(InfoFields::DATE)
        .with(InfoFields::FROM)
        .with(InfoFields::SUBJECT);

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
    /// Reads the `wanted` fields from the header of a message, in any header form. Also reads the
    /// fields `names` if [`InfoFields::NAMED`] is wanted. Returns `None` if there is no header.
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
            HeaderForm::Absent if !matches!(raw, [b'{' | b'[', ..]) => return None,
            HeaderForm::Page | HeaderForm::Absent => MessageInfo::of_page(raw, max_bytes)?,
        };
        Some(if names.is_empty() || !wanted.contains(InfoFields::NAMED) {
            info
        } else {
            info.with_named_fields(raw, fields, max_bytes, names)
        })
    }

    /// Reads the header fields stated by a mail archive. Returns `None` for any other text.
    fn of_page(html: &[u8], max_bytes: usize) -> Option<MessageInfo> {
        let fields = archived_page::fields(html)?;
        let mut cut = Cut::at(max_bytes);
        let texts = [fields.id, fields.date, fields.from, fields.subject];
        let texts = texts.map(|text| Some(cut.text(text?)));
        Some(MessageInfo::of_texts(texts, &cut))
    }

    /// Returns the information of a Message-ID, a date, a sender and a subject that were shortened
    /// by `cut`.
    fn of_texts([id, date, from, subject]: [Option<String>; 4], cut: &Cut) -> MessageInfo {
        MessageInfo {
            id,
            date: date.map(|date| parse_date(&date)),
            from,
            subject,
            is_cut: cut.is_cut,
            ..MessageInfo::default()
        }
    }

    /// Returns `true` if the message belongs to a newsgroup or mailing list. `name` is the
    /// newsgroup, the text in the angle brackets of List-Id, or the whole List-Id. Case does not
    /// matter.
    #[must_use]
    pub fn is_of_list(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let list_id = self.list_id.as_deref().unwrap_or_default().to_lowercase();
        let is_list = list_id == name || list_id.contains(&format!("<{name}>"));
        let mut groups = self.newsgroups.iter();
        self.list_id.is_some() && is_list || groups.any(|group| group.to_lowercase() == name)
    }

    /// Reads the `wanted` fields of a header whose fields are ranges of `raw`, at most `max_bytes`
    /// of each. The other fields stay empty.
    fn wanted(
        raw: &[u8],
        fields: &HeaderFields,
        max_bytes: usize,
        wanted: InfoFields,
    ) -> MessageInfo {
        if InfoFields::AUTHOR.contains(wanted) {
            return MessageInfo::default();
        }
        let mut first = [None; KnownField::ALL.len()];
        for field in fields.all.iter().rev() {
            if let Some(known) = field.roles.known {
                first[known as usize] = Some(*field);
            }
        }
        let first = |name| first[name as usize];
        let mut cut = Cut::at(max_bytes);
        let mut text = |of: InfoFields, field: Option<HeaderField>| {
            let value = field.filter(|_| wanted.contains(of))?.value.of(raw);
            Some(trimmed(cut.bytes(value)))
        };
        // Older names of the same fields: RFC 850 section 2.1, and mailers before RFC 822.
        let id = first(KnownField::MessageId).or_else(|| fields.first_named(raw, "article-i.d."));
        let date = first(KnownField::Date).or_else(|| fields.first_named(raw, "posted"));
        let references = first(KnownField::References);
        let references = references.or(first(KnownField::InReplyTo));
        let texts = [
            text(InfoFields::ID, id),
            text(InfoFields::DATE, date),
            text(InfoFields::FROM, first(KnownField::From)),
            text(InfoFields::SUBJECT, first(KnownField::Subject)),
        ];
        let list_id = text(InfoFields::LIST_ID, first(KnownField::ListId));
        let newsgroups = first(KnownField::Newsgroups);
        let newsgroups = text(InfoFields::NEWSGROUPS, newsgroups).unwrap_or_default();
        let references = text(InfoFields::REFERENCES, references).unwrap_or_default();
        MessageInfo {
            list_id,
            newsgroups: cut.names(group_names(&newsgroups)),
            references: cut.names(message_ids(&references)),
            ..MessageInfo::of_texts(texts, &cut)
        }
    }

    /// Also reads the fields with these names, at most `max_bytes` of each. A page and an A news
    /// article have no field names, so the result is empty for them.
    fn with_named_fields(
        self,
        raw: &[u8],
        fields: &HeaderFields,
        max_bytes: usize,
        names: &[String],
    ) -> MessageInfo {
        let mut cut = Cut::at(max_bytes);
        let mut found = fields.all.iter().filter_map(|field| {
            let found = field.name.of(raw);
            let mut names = names.iter();
            let name = names.find(|name| name.as_bytes().eq_ignore_ascii_case(found))?;
            Some((name, field.value.of(raw)))
        });
        let list = found.by_ref().take(REPEATED_NAMES);
        let list = list.map(|(name, value)| NamedField {
            name: name.clone(),
            value: trimmed(cut.bytes(value)),
        });
        MessageInfo {
            named_fields: Some(list.collect()),
            is_cut: self.is_cut | cut.is_cut | found.next().is_some(),
            ..self
        }
    }

    /// Reads the five header lines of an A news article (RFC 850 section 2), at most `max_bytes` of
    /// each.
    fn of_a_news(raw: &[u8], max_bytes: usize) -> MessageInfo {
        let mut cut = Cut::at(max_bytes);
        let mut lines = raw.splitn(6, |&byte| byte == b'\n');
        let mut line = || {
            let line = cut.bytes(lines.next()?);
            Some(String::from_utf8_lossy(line).trim().to_owned())
        };
        let id = line().map(|line| line.strip_prefix('A').unwrap_or_default().to_owned());
        let newsgroups = group_names(&line().unwrap_or_default());
        let (from, date, subject) = (line(), line(), line());
        MessageInfo {
            newsgroups: cut.names(newsgroups),
            ..MessageInfo::of_texts([id, date, from, subject], &cut)
        }
    }
}

/// Shortens values and lists of names to the length kept in records.
struct Cut {
    max_bytes: usize,
    /// `true` once a value or list was shortened.
    is_cut: bool,
}

impl Cut {
    fn at(max_bytes: usize) -> Cut {
        Cut {
            max_bytes,
            is_cut: false,
        }
    }

    fn bytes<'v>(&mut self, value: &'v [u8]) -> &'v [u8] {
        self.is_cut |= self.max_bytes < value.len();
        &value[..value.len().min(self.max_bytes)]
    }

    fn text(&mut self, mut text: String) -> String {
        self.is_cut |= self.max_bytes < text.len();
        text.truncate(text.floor_char_boundary(self.max_bytes));
        text
    }

    fn names(&mut self, mut names: Vec<String>) -> Vec<String> {
        self.is_cut |= REPEATED_NAMES < names.len();
        names.truncate(REPEATED_NAMES);
        names
    }
}

/// Returns the names in a Newsgroups field.
fn group_names(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim);
    let names = names.filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// Returns the text of a field's value, trimmed.
fn trimmed(value: &[u8]) -> String {
    let text = shown_text(value);
    match text.trim() {
        trimmed if trimmed.len() == text.len() => text,
        trimmed => trimmed.to_owned(),
    }
}

/// Returns the Message-IDs in a text, with their brackets.
///
/// Skips damaged IDs: those without `@` and those with white space.
fn message_ids(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut from = 0;
    let bracketed = memchr::memchr_iter(b'>', bytes).filter_map(|end| {
        let before = std::mem::replace(&mut from, end + 1);
        Some(before + memchr::memrchr(b'<', &bytes[before..end])?..end + 1)
    });
    let ids = bracketed.map(|range| &text[range]);
    let is_plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_graphic());
    let whole =
        ids.filter(|id| id.contains('@') && (is_plain(id) || !id.chars().any(char::is_whitespace)));
    whole.map(str::to_owned).collect()
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
    fn newsgroups_of_a_news_have_the_same_limit() {
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
