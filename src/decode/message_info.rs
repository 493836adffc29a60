//! What a record tells of its message, read from the header and decoded.

use super::date::{Date, parse_date};
use super::field_names::KnownField;
use super::header::{HeaderField, HeaderFields, value};
use crate::limits::REPEATED_NAMES;

/// The facts of a message. DecodedText is as written, unfolded and with its encoded words undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageInfo {
    /// Message-ID, or a B news article's Article-I.D.
    pub id: Option<String>,
    /// Date, or Posted.
    pub date: Option<Date>,
    /// From.
    pub from: Option<String>,
    /// Subject.
    pub subject: Option<String>,
    /// Newsgroups, divided.
    pub newsgroups: Vec<String>,
    /// List-Id.
    pub list_id: Option<String>,
    /// The messages that it answers: References, or In-Reply-To where that is missing.
    pub references: Vec<String>,
}

/// A field's value in words, of its first `most` bytes.
fn read(raw: &[u8], field: HeaderField, most: usize) -> String {
    let octets = field.value.of(raw);
    let text = value(&octets[..octets.len().min(most)]);
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        return text.trim().to_owned();
    }
    text
}

/// The Message-IDs in a text, with their brackets.
fn ids(text: &str) -> Vec<String> {
    let octets = text.as_bytes();
    let mut from = 0;
    let bracketed = memchr::memchr_iter(b'>', octets).filter_map(|end| {
        let before = std::mem::replace(&mut from, end + 1);
        Some(before + memchr::memrchr(b'<', &octets[before..end])?..end + 1)
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

impl MessageInfo {
    /// The facts in a header whose fields are ranges of `raw`. At most `most` bytes of a field are read.
    #[must_use]
    pub fn of(raw: &[u8], fields: &HeaderFields, most: usize) -> MessageInfo {
        let [
            id,
            date_of,
            from,
            subject,
            newsgroups,
            list_id,
            references,
            in_reply_to,
        ] = fields.firsts([
            KnownField::MessageId,
            KnownField::Date,
            KnownField::From,
            KnownField::Subject,
            KnownField::Newsgroups,
            KnownField::ListId,
            KnownField::References,
            KnownField::InReplyTo,
        ]);
        let text = |field: Option<HeaderField>| field.map(|field| read(raw, field, most));
        // What B news and old mailers said instead.
        let other = |name: &str| text(fields.first(raw, name));
        let newsgroups = text(newsgroups).unwrap_or_default();
        MessageInfo {
            id: text(id).or_else(|| other("article-i.d.")),
            date: text(date_of)
                .or_else(|| other("posted"))
                .map(|raw| parse_date(&raw)),
            from: text(from),
            subject: text(subject),
            newsgroups: newsgroups
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .take(REPEATED_NAMES)
                .map(str::to_owned)
                .collect(),
            list_id: text(list_id),
            references: text(references.or(in_reply_to)).map_or(Vec::new(), |text| ids(&text)),
        }
    }

    /// The facts in the five lines of an A news article (RFC 850 section 2).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_in_the_innermost_brackets() {
        assert_eq!(ids("<a@b> <c@d>\t<e f@g><no> x <h@i"), ["<a@b>", "<c@d>"]);
        assert_eq!(
            ids("<a <b@c> d@e> <f@\u{a0}g> > <<h@i>>"),
            ["<b@c>", "<h@i>"]
        );
    }
}
