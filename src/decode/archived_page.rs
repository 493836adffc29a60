//! Pages of mail archives: HTML pages that `MHonArc`, hypermail or Pipermail made of one message each.
//!
//! Date, sender, subject and Message-ID are in comments (`MHonArc`, hypermail), or in headings and
//! links (Pipermail). The message's body is between two comments; what is around it leads to other
//! pages of the archive.

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
    Some((archiver.fields)(&html[..start]))
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
    let text = references_decoded(String::from_utf8_lossy(&head[at..at + len]).trim());
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

    #[test]
    fn other_pages_are_whole() {
        let page = b"<html><!--X-Subject: x -->\n<p>x</html>";
        assert_eq!(body(page), Span::new(0, page.len()));
        assert!(fields(page).is_none());
    }
}
