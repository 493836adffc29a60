//! HTML pages, recognised by their start: in web archives, and beside the mail of list archives.

/// Elements that only a page has at its start: its frame, and what stands in its head. Browsers also take text elements
/// such as `<a>` and `<p>` for the start of a page (WHATWG MIME Sniffing, section 7.1); plain text quotes those.
const FIRST_ELEMENTS: [&[u8]; 9] = [
    b"html", b"head", b"body", b"title", b"meta", b"base", b"link", b"style", b"script",
];

/// Returns `true` if a text begins as an HTML page: with a document type or a first element, after white space, an XML
/// declaration and comments.
pub(super) fn is_page(text: &[u8]) -> bool {
    let mut rest = text.trim_ascii_start();
    loop {
        let end: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', b'x', b'm', b'l', b' ', ..] => b"?>",
            _ => return begins_page(rest),
        };
        let Some(at) = memchr::memmem::find(rest, end) else {
            return false;
        };
        rest = rest[at + end.len()..].trim_ascii_start();
    }
}

fn begins_page(text: &[u8]) -> bool {
    let Some(name) = text.strip_prefix(b"<") else {
        return false;
    };
    let begins = |word: &[u8]| {
        name.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
            && matches!(
                name.get(word.len()),
                Some(b' ' | b'>' | b'\t' | b'\n' | b'\r')
            )
    };
    begins(b"!doctype html") || FIRST_ELEMENTS.into_iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_begin_with_a_document_type_or_an_element() {
        for text in [
            "<!DOCTYPE html>",
            "<!doctype HTML PUBLIC \"-//W3C//DTD HTML 3.2//EN\">",
            "\r\n  <HTML>\n",
            "<html lang=de>",
            "<!-- MHonArc v2.4.4 -->\n<!--X-Subject: a - b -->\n<!DOCTYPE HTML\n PUBLIC>",
            "<?xml version=\"1.0\"?>\n<html xmlns=\"x\">",
            "<title>x",
            "<body bgcolor=white>",
        ] {
            assert!(is_page(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "see <html>",
            "<URL:http://a/>",
            "<http://a/>",
            "<a@b.example>",
            "<!-- not closed <html>",
            "<?xml version=\"1.0\"?><rss>",
            "<htmlx>",
            "<a href=\"http://a/\">http://b/</a>",
            "<!doctype rfc SYSTEM>",
            "<",
            "<p",
        ] {
            assert!(!is_page(text.as_bytes()), "{text}");
        }
    }
}
