//! Pages of mail archives: HTML pages that `MHonArc`, hypermail or Pipermail made of one message each.
//!
//! Date, sender, subject and Message-ID are in comments (`MHonArc`, hypermail), or in headings and
//! links (Pipermail), else in `meta` elements. The message's body is between two comments; what is
//! around it leads to other pages of the archive.

use html5gum::emitters::callback::CallbackEvent;

use super::html::{ElementContent, tokenize};
use super::{charset, html};
use crate::references::decode_references;
use urlspool_text::limits::ARCHIVED_PAGE_BYTES;
use urlspool_text::span::Span;

/// A program that makes archives, and the comments around the body of a message in its pages.
struct Archiver {
    body_start: &'static [u8],
    body_end: &'static [u8],
    fields: fn(&[u8]) -> PageFields,
}

const HYPERMAIL_START: &[u8] = b"<!-- body=\"start\" -->";

/// The end of the links that hypermail puts into a body.
const ADDRESS_END: &[u8] = b"</address>";

const ARCHIVERS: [Archiver; 3] = [
    Archiver {
        body_start: b"<!--X-Body-of-Message-->",
        body_end: b"<!--X-Body-of-Message-End-->",
        fields: mhonarc,
    },
    Archiver {
        body_start: HYPERMAIL_START,
        body_end: b"<!-- body=\"end\" -->",
        fields: hypermail,
    },
    Archiver {
        body_start: b"<!--beginarticle-->",
        body_end: b"<!--endarticle-->",
        fields: pipermail,
    },
];

/// Header fields of the message on a page.
#[derive(Debug, Default)]
pub(super) struct PageFields {
    pub(super) id: Option<String>,
    pub(super) date: Option<String>,
    pub(super) from: Option<String>,
    pub(super) subject: Option<String>,
}

/// Returns the range of the message's body in a page; the whole page if it is none of an archive.
/// Linear.
pub(super) fn body(html: &[u8]) -> Span {
    let all = Span::new(0, html.len());
    let Some((archiver, start)) = archiver(html) else {
        return all;
    };
    let end = memchr::memmem::rfind(&html[start..], archiver.body_end);
    let end = end.map_or(html.len(), |end| start + end);
    // Newer versions of hypermail have their own links at the start of the body.
    let head = &html[start..end.min(start + ARCHIVED_PAGE_BYTES)];
    let own = memchr::memmem::find(head, b"<address class=\"headers\">")
        .and_then(|from| Some(from + memchr::memmem::find(&head[from..], ADDRESS_END)?))
        .filter(|_| archiver.body_start == HYPERMAIL_START);
    Span::new(start + own.map_or(0, |len| len + ADDRESS_END.len()), end)
}

/// Returns what a page of an archive says of its message; `None` for any other page.
pub(super) fn fields(html: &[u8]) -> Option<PageFields> {
    let (archiver, start) = archiver(html)?;
    let declared = html::declared_charset(html);
    let head = charset::decode(&html[..start], declared.as_deref()).bytes;
    Some(with_meta((archiver.fields)(&head), &head))
}

/// The program that made a page, and the offset of the body.
fn archiver(html: &[u8]) -> Option<(&'static Archiver, usize)> {
    let start = &html[..html.len().min(ARCHIVED_PAGE_BYTES)];
    ARCHIVERS.iter().find_map(|archiver| {
        let at = memchr::memmem::find(start, archiver.body_start)?;
        Some((archiver, at + archiver.body_start.len()))
    })
}

/// Reads `<!--X-Subject: ... -->`; `From` may be in ROT13, so that robots do not read it.
fn mhonarc(head: &[u8]) -> PageFields {
    PageFields {
        id: between(head, "<!--X-Message-Id: ", "-->").map(|id| in_brackets(&id)),
        date: between(head, "<!--X-Date: ", "-->"),
        from: between(head, "<!--X-From: ", "-->")
            .or_else(|| between(head, "<!--X-From-R13: ", "-->").map(|text| rot13(&text))),
        subject: between(head, "<!--X-Subject: ", "-->"),
    }
}

/// Reads `<!-- subject="..." -->`.
fn hypermail(head: &[u8]) -> PageFields {
    const END: &str = "\" -->";
    PageFields {
        id: between(head, "<!-- id=\"", END).map(|id| in_brackets(&id)),
        date: between(head, "<!-- sent=\"", END).or_else(|| between(head, "<!-- received=\"", END)),
        from: sender(
            between(head, "<!-- name=\"", END),
            between(head, "<!-- email=\"", END),
        ),
        subject: between(head, "<!-- subject=\"", END),
    }
}

/// Reads the heading, `<B>` and `<I>` after it, and the link for a reply.
fn pipermail(head: &[u8]) -> PageFields {
    let reply = between(head, "In-Reply-To=", "\"").map(|id| percent_decoded(&id));
    let address = between(head, "TITLE=\"", "</A>")
        .and_then(|text| Some(text.rsplit_once('>')?.1.trim().to_owned()));
    PageFields {
        id: reply.filter(|id| id.starts_with('<')),
        date: between(head, "<I>", "</I>"),
        from: sender(between(head, "<B>", "</B>"), address),
        subject: between(head, "<H1>", "</H1>"),
    }
}

/// Reads `<meta name="Subject" content="...">`, the first of each name, for fields that were not found elsewhere.
fn with_meta(mut fields: PageFields, head: &[u8]) -> PageFields {
    let (mut is_meta, mut attribute) = (false, Vec::new());
    let (mut name, mut content) = (Vec::new(), None);
    tokenize(head, ElementContent::Markup, &mut |event, _| match event {
        CallbackEvent::OpenStartTag { name: tag } => {
            is_meta = tag == b"meta";
            name.clear();
            content = None;
        }
        CallbackEvent::AttributeName { name } => attribute = name.to_vec(),
        CallbackEvent::AttributeValue { value } => match attribute.as_slice() {
            b"name" => name = value.to_ascii_lowercase(),
            b"content" => content = trimmed(&String::from_utf8_lossy(value)),
            _ => {}
        },
        CallbackEvent::CloseStartTag { .. } => {
            let content = content.take();
            let (field, content) = match std::mem::take(&mut name).as_slice() {
                _ if !is_meta => return,
                b"message-id" | b"messageid" => {
                    (&mut fields.id, content.map(|id| in_brackets(&id)))
                }
                b"date" => (&mut fields.date, content),
                b"author" | b"from" | b"sender" => {
                    (&mut fields.from, content.map(sender_of_author))
                }
                b"subject" => (&mut fields.subject, content),
                _ => return,
            };
            *field = field.take().or(content);
        }
        _ => {}
    });
    fields
}

/// The sender that an author `Name (address)` is, as hypermail writes it.
fn sender_of_author(author: String) -> String {
    let split = author
        .strip_suffix(')')
        .and_then(|text| text.split_once(" ("));
    match split {
        Some((name, address)) if address.contains('@') => format!("{} <{address}>", name.trim()),
        _ => author,
    }
}

/// A sender as in a From field.
fn sender(name: Option<String>, address: Option<String>) -> Option<String> {
    match (name, address) {
        (Some(name), Some(address)) if name != address => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address),
    }
}

fn in_brackets(id: &str) -> String {
    if id.starts_with('<') {
        id.to_owned()
    } else {
        format!("<{id}>")
    }
}

/// The text after the first `start` and before the next `end`, with character references decoded.
fn between(head: &[u8], start: &str, end: &str) -> Option<String> {
    let at = memchr::memmem::find(head, start.as_bytes())? + start.len();
    let len = memchr::memmem::find(&head[at..], end.as_bytes())?;
    text_of(&head[at..at + len])
}

/// The text of a value without white space around it, with character references decoded; `None` if
/// it is empty.
fn text_of(value: &[u8]) -> Option<String> {
    trimmed(&decode_references(&String::from_utf8_lossy(value)))
}

fn trimmed(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn rot13(text: &str) -> String {
    let rotated = text.chars().map(|letter| match letter {
        'a'..='m' | 'A'..='M' => (letter as u8 + 13) as char,
        'n'..='z' | 'N'..='Z' => (letter as u8 - 13) as char,
        _ => letter,
    });
    rotated.collect()
}

fn percent_decoded(text: &str) -> String {
    String::from_utf8_lossy(&urlspool_text::grammar::decode(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        assert_eq!(
            decode_references("a &lt;b&#64;c&gt; &amp; d &x &#45;"),
            "a <b@c> & d &x -"
        );
        assert_eq!(decode_references("&#99999999999;&;"), "&#99999999999;&;");
        assert_eq!(decode_references("&#00000041;&#x0000041;"), ")A");
        assert_eq!(rot13("Wnpx @"), "Jack @");
    }

    /// The fields of a page whose body begins after `head`.
    fn of(head: &[u8]) -> [Option<String>; 4] {
        let page = [head, b"<!--X-Body-of-Message-->"].concat();
        let PageFields {
            id,
            date,
            from,
            subject,
        } = fields(&page).expect("a page of an archive");
        [id, date, from, subject]
    }

    #[test]
    fn meta_elements_say_what_comments_do_not() {
        let head =
            b"<title>not closed<!--X-Subject: in a comment --><META NAME=subject content=x>\n\
            </a name=date content=never>\
            <meta name=\"Author\" content=\"Ann &lt;&amp; Co&gt; (ann@a.example)\" />\n\
            <meta content='1996-03-04' name='Date'/><meta name = Message-ID content = a@b >\n\
            <meta name=Date content=later><metadata name=Date content=never>";
        assert_eq!(
            of(head).map(Option::unwrap),
            [
                "<a@b>",
                "1996-03-04",
                "Ann <& Co> <ann@a.example>",
                "in a comment"
            ]
        );
        let sender = |author: &str| sender_of_author(author.to_owned());
        assert_eq!(sender("Ann (of a list)"), "Ann (of a list)");
        assert_eq!(sender("ann@a.example"), "ann@a.example");
    }

    #[test]
    fn hostile_heads_give_what_precedes_the_damage() {
        let subject = b"<meta name=subject content=kept>".as_slice();
        for end in [
            b"<meta name=date content=\"not closed".as_slice(),
            b"<meta",
            b"<meta ",
            b"<meta =",
            b"<meta ==>",
            b"<meta name",
            b"<meta name=date content>",
            b"<meta name=date content=''>",
            b"<!--X-Date: not closed",
            b"<meta name=\xFF\x00date content=x>",
            b"<><<</>",
        ] {
            let found = of(&[subject, end].concat());
            assert_eq!(found[3].as_deref(), Some("kept"));
        }
        // A charset that is named, and one that is not.
        let latin = b"<meta charset=iso-8859-1><!--X-Subject: \xE4 -->";
        assert_eq!(of(latin)[3].as_deref(), Some("\u{E4}"));
        assert_eq!(
            of("<!--X-Subject: \u{E4} -->".as_bytes())[3].as_deref(),
            Some("\u{E4}")
        );
    }

    #[test]
    fn marks_in_any_order_give_a_range_of_the_page() {
        let (start, end) = (ARCHIVERS[2].body_start, ARCHIVERS[2].body_end);
        for (page, expected) in [
            ([b"a", start, b"b", end, b"c"].concat(), "b"),
            ([b"a", end, b"b", start, b"c"].concat(), "c"),
            (
                [b"a", start, b"b", start, b"c"].concat(),
                "b<!--beginarticle-->c",
            ),
            // The message repeats the mark: the last one counts.
            (
                [start, b"a", end, b"b", end].concat(),
                "a<!--endarticle-->b",
            ),
            ([start, end].concat(), ""),
            ([b"a", end].concat(), "a<!--endarticle-->"),
        ] {
            let found = body(&page).of(&page);
            assert_eq!(String::from_utf8_lossy(found), expected);
        }
        let late = [vec![b' '; ARCHIVED_PAGE_BYTES], start.to_vec()].concat();
        assert_eq!(body(&late), Span::new(0, late.len()));
    }

    #[test]
    fn other_pages_are_whole() {
        let page = b"<html><!--X-Subject: x -->\n<p>x</html>";
        assert_eq!(body(page), Span::new(0, page.len()));
        assert!(fields(page).is_none());
    }
}
