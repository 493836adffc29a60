//! What a header says of its body: its type, its parameters, its transfer encodings (RFC 2045).

use mailparse::ParsedContentType;

use super::boundary::MOST_BOUNDARIES;
use super::field_names::KnownField;
use super::flowed::Blank;
use super::header::{HeaderFields, value};
use super::transfer::Encoding;
use crate::limits::NAME_BYTES;

/// How a part's text is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    #[default]
    Plain,
    /// `format=flowed`, and what becomes of its blanks.
    Flowed(Blank),
    /// HTML.
    Html,
    /// Long lines folded as in a vCard or calendar (RFC 5545 section 3.1).
    Folded,
    /// Not text.
    Other,
}

/// How the text of a part is laid out, by its type in lower case; by the name of an attachment where the type says nothing.
fn form(media_type: &str, parameters: &Parameters<'_>) -> Form {
    let parameter = |name: &str| parameters(name).map(|value| value.trim().to_ascii_lowercase());
    match media_type {
        "text/html" | "application/xhtml+xml" => Form::Html,
        "text/calendar" | "text/vcard" | "text/x-vcard" | "text/directory" => Form::Folded,
        "text/plain" if parameter("format").as_deref() == Some("flowed") => {
            Form::Flowed(if parameter("delsp").as_deref() == Some("yes") {
                Blank::Deleted
            } else {
                Blank::Kept
            })
        }
        "application/xml" | "application/pgp" | "application/text" => Form::Plain,
        "application/octet-stream" => {
            parameter("name").map_or(Form::Other, |name| by_extension(&name))
        }
        other
            if ["text/", "message/", "multipart/"]
                .iter()
                .any(|start| other.starts_with(start)) =>
        {
            Form::Plain
        }
        _ => Form::Other,
    }
}

/// What an attachment's name says of it.
fn by_extension(name: &str) -> Form {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "htm" | "html" | "shtml" | "xhtml" => Form::Html,
        "txt" | "text" | "asc" | "log" | "patch" | "diff" | "eml" | "md" | "csv" | "url" => {
            Form::Plain
        }
        _ => Form::Other,
    }
}

/// The transfer encodings that the header names, in lower case, each once. A header with two is read both ways.
pub(super) fn encodings(raw: &[u8], fields: &HeaderFields) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for field in fields.each(KnownField::ContentTransferEncoding) {
        let encoding = value(field.value.of(raw)).trim().to_ascii_lowercase();
        if !all
            .iter()
            .any(|known| Encoding::named(known) == Encoding::named(&encoding))
        {
            all.push(encoding);
        }
    }
    all
}

/// What a content type says (RFC 2045 section 5.1).
#[derive(Debug, PartialEq)]
pub(super) struct Content {
    /// In lower case.
    pub(super) media_type: String,
    pub(super) charset: Option<String>,
    pub(super) form: Form,
}

/// The value of a content type's parameter, by its name in lower case.
type Parameters<'p> = dyn Fn(&str) -> Option<&'p str> + 'p;

impl Content {
    fn new(media_type: &str, parameters: &Parameters<'_>) -> Content {
        // Mailers of the early 1990s wrote `text`.
        let is_whole = media_type.contains('/');
        let media_type = if is_whole {
            media_type.to_ascii_lowercase()
        } else {
            "text/plain".to_owned()
        };
        let charset = parameters("charset").filter(|charset| !charset.is_empty());
        Content {
            form: form(&media_type, parameters),
            charset: charset.map(|charset| short(charset).to_owned()),
            media_type: shortened(media_type),
        }
    }

    fn of(parsed: &ParsedContentType) -> Content {
        Content::new(&parsed.mimetype, &|name| {
            parsed.params.get(name).map(String::as_str)
        })
    }

    /// A type and at most one parameter, of letters, digits and what stands between them. Nothing for any other.
    fn plain(text: &str) -> Option<Content> {
        let is_plain = |word: &str| {
            let belongs = |byte: u8| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'/' | b'+')
            };
            !word.is_empty() && word.bytes().all(belongs)
        };
        let (media_type, rest) = text.split_once(';').unwrap_or((text, ""));
        if !is_plain(media_type) {
            return None;
        }
        if rest.is_empty() {
            return Some(Content::new(media_type, &|_| None));
        }
        let (name, value) = rest.trim_ascii_start().split_once('=')?;
        let value = value
            .strip_prefix('"')
            .map_or(Some(value), |value| value.strip_suffix('"'))?;
        (is_plain(name) && is_plain(value)).then(|| {
            Content::new(media_type, &|other| {
                name.eq_ignore_ascii_case(other).then_some(value)
            })
        })
    }
}

/// The content type of an entity; RFC 2045's default where it has none, or none that can be read.
pub(super) fn content(raw: &[u8], fields: &HeaderFields, digest: bool) -> Content {
    let mut values = fields
        .each(KnownField::ContentType)
        .map(|field| field.value.of(raw));
    let first = values.next();
    // Nearly all are a type alone, or a type and one parameter. There is no fold in a word.
    let only = first
        .filter(|_| values.next().is_none())
        .and_then(|octets| std::str::from_utf8(octets).ok());
    if let Some(content) = only.and_then(Content::plain) {
        return content;
    }
    let all = fields
        .each(KnownField::ContentType)
        .take(MOST_BOUNDARIES)
        .map(|field| value(field.value.of(raw)));
    // Of several types the one that holds most is read: parts, then text.
    let rank = |content: &ParsedContentType| match content.mimetype.split('/').next() {
        Some("multipart") => 0,
        Some("text" | "message") => 1,
        _ => 2,
    };
    match all
        .map(|text| mailparse::parse_content_type(&text))
        .min_by_key(rank)
    {
        Some(parsed) => Content::of(&parsed),
        None => Content::new(
            if digest {
                "message/rfc822"
            } else {
                "text/plain"
            },
            &|_| None,
        ),
    }
}

/// As much of a name as records repeat.
pub(super) fn short(name: &str) -> &str {
    if name.len() <= NAME_BYTES {
        return name;
    }
    name.char_indices()
        .nth(NAME_BYTES)
        .map_or(name, |(end, _)| &name[..end])
}

/// The same of a name that is ours.
pub(super) fn shortened(mut name: String) -> String {
    name.truncate(short(&name).len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

        #[test]
        fn plain_content_types_are_read_as_the_library_does(
            text in "(text/plain|TEXT/html|text|a/b+c|application/octet-stream)?(;|; |;\t|;\n |;\r\n\t| ;)?(charset|Format|charset\\*|name|name\\*0|delsp)?(=| =|= )?(\"?[a-zA-Z0-9./_+ ;=-]{0,6}\"?|utf-8|Flowed|yes|a\\.txt|\"us-ascii\"|=\\?x\\?)(;| )?"
        ) {
            if let Some(content) = Content::plain(&text) {
                proptest::prop_assert_eq!(content, Content::of(&mailparse::parse_content_type(&value(text.as_bytes()))));
            }
        }
    }

    #[test]
    fn usual_content_types_are_plain() {
        for text in [
            "text/plain",
            "text/plain; charset=utf-8",
            "TEXT/PLAIN;charset=\"US-ASCII\"",
            "a/b;\tc=d",
        ] {
            assert!(Content::plain(text).is_some(), "{text}");
        }
        for text in [
            "",
            "text/plain; a",
            "a/b; c=\"",
            "a/b; c=d; e=f",
            "a/b; c*=d",
            "a/b ; c=d",
            "a/b; c=d (e)",
        ] {
            assert!(Content::plain(text).is_none(), "{text}");
        }
    }
}
