//! Pages of mail archives: HTML pages that `MHonArc`, hypermail or Pipermail made of one message each.
//!
//! Date, sender, subject and Message-ID are in comments (`MHonArc`, hypermail), or in headings and
//! links (Pipermail), else in `meta` elements. The message's body is between two comments; what is
//! around it leads to other pages of the archive.

use super::{charset, html};
use crate::limits::ARCHIVED_PAGE_BYTES;
use crate::span::Span;

/// A program that makes archives, and the comments around the body of a message in its pages.
struct Archiver {
    body_start: &'static [u8],
    body_end: &'static [u8],
    fields: fn(&[u8]) -> PageFields,
}

const ARCHIVERS: [Archiver; 3] = [
    Archiver {
        body_start: b"<!--X-Body-of-Message-->",
        body_end: b"<!--X-Body-of-Message-End-->",
        fields: mhonarc,
    },
    Archiver {
        body_start: b"<!-- body=\"start\" -->",
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
    Span::new(start, end.map_or(html.len(), |end| start + end))
}

/// Returns what a page of an archive says of its message; `None` for any other page.
pub(super) fn fields(html: &[u8]) -> Option<PageFields> {
    let (archiver, start) = archiver(html)?;
    let declared = html::declared_charset(html);
    let head = charset::decode(&html[..start], declared.as_deref()).bytes;
    let found = (archiver.fields)(&head);
    let in_meta = meta(&head);
    Some(PageFields {
        id: found.id.or(in_meta.id),
        date: found.date.or(in_meta.date),
        from: found.from.or(in_meta.from),
        subject: found.subject.or(in_meta.subject),
    })
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
    let comment = |name: &str| between(head, format!("<!--X-{name}: ").as_bytes(), b"-->");
    let rotated = || comment("From-R13").map(|text| rot13(&text));
    PageFields {
        id: comment("Message-Id").map(|id| in_brackets(&id)),
        date: comment("Date"),
        from: comment("From").or_else(rotated),
        subject: comment("Subject"),
    }
}

/// Reads `<!-- subject="..." -->`.
fn hypermail(head: &[u8]) -> PageFields {
    let comment = |name: &str| between(head, format!("<!-- {name}=\"").as_bytes(), b"\" -->");
    PageFields {
        id: comment("id").map(|id| in_brackets(&id)),
        date: comment("sent").or_else(|| comment("received")),
        from: sender(comment("name"), comment("email")),
        subject: comment("subject"),
    }
}

/// Reads the heading, `<B>` and `<I>` after it, and the link for a reply.
fn pipermail(head: &[u8]) -> PageFields {
    let reply = between(head, b"In-Reply-To=", b"\"").map(|id| percent_decoded(&id));
    let address = between(head, b"TITLE=\"", b"</A>")
        .and_then(|text| Some(text.rsplit_once('>')?.1.trim().to_owned()));
    PageFields {
        id: reply.filter(|id| id.starts_with('<')),
        date: between(head, b"<I>", b"</I>"),
        from: sender(between(head, b"<B>", b"</B>"), address),
        subject: between(head, b"<H1>", b"</H1>"),
    }
}

/// Reads `<meta name="Subject" content="...">`; the first of each name. Linear: a tag without an end
/// is the last one.
fn meta(head: &[u8]) -> PageFields {
    let mut fields = PageFields::default();
    let mut rest = head;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        let is_meta = rest
            .get(..4)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"));
        if !is_meta || !rest.get(4).is_some_and(u8::is_ascii_whitespace) {
            continue;
        }
        rest = &rest[4..];
        let (mut name, mut content) = (Vec::new(), None);
        while let Some((attribute, value)) = attribute(&mut rest) {
            match attribute.to_ascii_lowercase().as_slice() {
                b"name" => name = value.to_ascii_lowercase(),
                b"content" => content = text_of(value),
                _ => {}
            }
        }
        let field = match name.as_slice() {
            b"message-id" | b"messageid" => {
                content = content.map(|id| in_brackets(&id));
                &mut fields.id
            }
            b"date" => &mut fields.date,
            b"author" | b"from" | b"sender" => {
                content = content.map(sender_of_author);
                &mut fields.from
            }
            b"subject" => &mut fields.subject,
            _ => continue,
        };
        *field = field.take().or(content);
    }
    fields
}

/// Takes the next attribute of a tag off the start of `rest`; `None` at the end of the tag, which
/// it passes.
fn attribute<'h>(rest: &mut &'h [u8]) -> Option<(&'h [u8], &'h [u8])> {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    let start = rest.iter().position(|byte| !is_space(byte))?;
    *rest = &rest[start..];
    if let Some(after) = rest.strip_prefix(b">") {
        *rest = after;
        return None;
    }
    // HTML takes a `=` at the start for a part of the name.
    let ends_name = |byte: &u8| is_space(byte) || matches!(byte, b'=' | b'>');
    let name = take(
        rest,
        rest.iter().skip(1).position(ends_name).map(|len| len + 1),
    );
    let after = rest.trim_ascii_start();
    let Some(value) = after.strip_prefix(b"=") else {
        return Some((name, b""));
    };
    *rest = value.trim_ascii_start();
    let value = match rest.first() {
        Some(&quote @ (b'"' | b'\'')) => {
            *rest = &rest[1..];
            let value = take(rest, memchr::memchr(quote, rest));
            *rest = rest.get(1..).unwrap_or_default();
            value
        }
        _ => {
            let ends_value = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
            take(rest, rest.iter().position(ends_value))
        }
    };
    Some((name, value))
}

/// Takes `len` bytes off the start of `rest`; all if there is no length.
fn take<'h>(rest: &mut &'h [u8], len: Option<usize>) -> &'h [u8] {
    let (taken, after) = rest.split_at(len.unwrap_or(rest.len()));
    *rest = after;
    taken
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
fn between(head: &[u8], start: &[u8], end: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(head, start)? + start.len();
    let len = memchr::memmem::find(&head[at..], end)?;
    text_of(&head[at..at + len])
}

/// The text of a value without white space around it, with character references decoded; `None` if
/// it is empty.
fn text_of(value: &[u8]) -> Option<String> {
    let text = references_decoded(String::from_utf8_lossy(value).trim());
    Some(text).filter(|text| !text.is_empty())
}

/// Decodes the character references that archivers write. Linear.
fn references_decoded(text: &str) -> String {
    /// Maximum length of the name of a reference: `#` and eight characters.
    const NAME_BYTES: usize = 9;
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, reference) = rest.split_at(at);
        decoded.push_str(before);
        let mut name = reference.bytes().skip(1).take(NAME_BYTES + 1);
        let found = name.position(|byte| byte == b';').and_then(|len| {
            let character = character(&reference[1..=len])?;
            Some((character, &reference[len + 2..]))
        });
        match found {
            Some((character, after)) => {
                decoded.push(character);
                rest = after;
            }
            None => {
                decoded.push('&');
                rest = &reference[1..];
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => {
            let digits = name.strip_prefix('#').filter(|digits| digits.len() <= 8)?;
            char::from_u32(match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => digits.parse().ok()?,
            })
        }
    }
}

fn rot13(text: &str) -> String {
    let rotate = |letter: char, first: u8| ((letter as u8 - first + 13) % 26 + first) as char;
    text.chars()
        .map(|letter| match letter {
            'a'..='z' => rotate(letter, b'a'),
            'A'..='Z' => rotate(letter, b'A'),
            _ => letter,
        })
        .collect()
}

fn percent_decoded(text: &str) -> String {
    String::from_utf8_lossy(&crate::grammar::decode(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        assert_eq!(
            references_decoded("a &lt;b&#64;c&gt; &amp; d &x &#45;"),
            "a <b@c> & d &x -"
        );
        assert_eq!(references_decoded("&#99999999999;&;"), "&#99999999999;&;");
        assert_eq!(references_decoded("&#00000041;&#x0000041;"), ")A");
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
        let head = b"<!--X-Subject: in a comment --><META NAME=subject content=x>\n\
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
