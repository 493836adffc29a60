//! Pages of mail archives: HTML pages, each made from one message by `MHonArc`, hypermail,
//! Pipermail, public-inbox or `HyperKitty`.
//!
//! Date, sender, subject and Message-ID are in comments (`MHonArc`, hypermail), in headings and
//! links (Pipermail, `HyperKitty`), in lines (public-inbox), or else in `meta` elements. The body
//! of the message is between two marks. The links around it are for navigation in the archive.
//!
//! Pony Mail's API and exports of Yahoo Groups have messages in JSON.

use super::form::{decode_references, strings};
use super::html::{ElementContent, Markup, markup};
use super::transfer::base64;
use super::{charset, html};
use crate::lines::run_len;
use urlspool_text::limits::ARCHIVED_PAGE_BYTES;
use urlspool_text::span::Span;

/// A program that makes archives, and its marks around the body of a message.
struct Archiver {
    body_start: &'static [u8],
    /// Start and end of the program's own text at the start of the body.
    own: Option<[&'static [u8]; 2]>,
    body_end: &'static [u8],
    fields: fn(&[u8]) -> PageFields,
}

/// End of the text in public-inbox pages.
const PRE_END: &[u8] = b"</pre>";

const ARCHIVERS: [Archiver; 5] = [
    Archiver {
        body_start: b"<!--X-Body-of-Message-->",
        own: None,
        body_end: b"<!--X-Body-of-Message-End-->",
        fields: mhonarc,
    },
    Archiver {
        body_start: b"<!-- body=\"start\" -->",
        // Newer versions write the sender and the date there.
        own: Some([b"<address class=\"headers\">", b"</address>"]),
        body_end: b"<!-- body=\"end\" -->",
        fields: hypermail,
    },
    Archiver {
        body_start: b"<!--beginarticle-->",
        own: None,
        body_end: b"<!--endarticle-->",
        fields: pipermail,
    },
    // lib/PublicInbox/View.pm. Every `<` of a message is written as a reference.
    Archiver {
        body_start: b"<pre\nid=b>",
        own: Some([b"", b"\n\n"]),
        body_end: PRE_END,
        fields: public_inbox,
    },
    // hyperkitty/templates/hyperkitty/messages/message.html, with its mistake.
    Archiver {
        body_start: b"<!-- /email-header: gravatar, author-info, date, peramlink",
        own: Some([b"", b"-->"]),
        body_end: b"<div class=\"email-info\">",
        fields: hyperkitty,
    },
];

/// Header fields of a page's message.
#[derive(Debug, Default)]
pub(super) struct PageFields {
    pub(super) id: Option<String>,
    pub(super) date: Option<String>,
    pub(super) from: Option<String>,
    pub(super) subject: Option<String>,
}

/// Returns the range of the message's body in a page, or the whole page if it does not come from an
/// archive. Linear.
pub(super) fn body(html: &[u8]) -> Span {
    archiver(html).map_or(Span::new(0, html.len()), |(_, body)| body)
}

/// Returns the header fields stated on an archive page or in JSON, or `None` for any other text.
pub(super) fn fields(html: &[u8]) -> Option<PageFields> {
    if let [b'{' | b'[', ..] = html {
        return json_fields(html);
    }
    let (archiver, body) = archiver(html)?;
    let declared = html::declared_charset(html);
    let after = &html[body.end..html.len().min(body.end + ARCHIVED_PAGE_BYTES)];
    let around = [&html[..body.start], after].concat();
    let around = charset::decode(&around, declared.as_deref()).map_or(around, |it| it.bytes);
    Some(with_meta((archiver.fields)(&around), &around))
}

/// Returns the program that made a page, and the range of the body.
fn archiver(html: &[u8]) -> Option<(&'static Archiver, Span)> {
    let find = memchr::memmem::find;
    let start = &html[..html.len().min(ARCHIVED_PAGE_BYTES)];
    ARCHIVERS.iter().find_map(|archiver| {
        let at = find(start, archiver.body_start)? + archiver.body_start.len();
        // A message may repeat the mark, but cannot contain elements of public-inbox.
        let end = match archiver.body_end {
            PRE_END => find(&html[at..], PRE_END),
            mark => memchr::memmem::rfind(&html[at..], mark),
        };
        let end = end.map_or(html.len(), |end| at + end);
        let head = &html[at..end.min(at + ARCHIVED_PAGE_BYTES)];
        let own = archiver.own.and_then(|[begins, ends]| {
            let from = find(head, begins)?;
            Some(from + find(&head[from..], ends)? + ends.len())
        });
        Some((archiver, Span::new(at + own.unwrap_or(0), end)))
    })
}

/// Reads `<!--X-Subject: ... -->`. `From` may be in ROT13, to hide it from robots.
fn mhonarc(head: &[u8]) -> PageFields {
    PageFields {
        id: between(head, "<!--X-Message-Id: ", "-->"),
        date: between(head, "<!--X-Date: ", "-->"),
        from: between(head, "<!--X-From: ", "-->")
            .or_else(|| between(head, "<!--X-From-R13: ", "-->").map(|text| rot13(&text))),
        subject: between(head, "<!--X-Subject: ", "-->"),
    }
}

/// Reads `<!-- subject="..." -->`.
fn hypermail(head: &[u8]) -> PageFields {
    const END: &str = "\" -->";
    let [name, email] = ["<!-- name=\"", "<!-- email=\""].map(|start| between(head, start, END));
    PageFields {
        id: between(head, "<!-- id=\"", END),
        date: between(head, "<!-- sent=\"", END).or_else(|| between(head, "<!-- received=\"", END)),
        from: sender(name, email),
        subject: between(head, "<!-- subject=\"", END),
    }
}

/// Reads the heading, the `<B>` and `<I>` after it, and the reply link.
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

/// Reads the first lines of public-inbox's text, with their links.
fn public_inbox(head: &[u8]) -> PageFields {
    let line = |name: &str| {
        let line = between(head, name, "\n")?;
        line.split('\t').next().map(str::to_owned)
    };
    PageFields {
        id: between(head, "\nMessage-ID: &lt;", "&gt;"),
        date: line("\nDate: "),
        from: line("id=b>From: "),
        subject: between(head, "\nid=t>", "</a>").or_else(|| line("\nSubject: ")),
    }
}

/// Reads the heading, the elements with names and times, and the reply link.
fn hyperkitty(head: &[u8]) -> PageFields {
    let name = between(head, "<span class=\"name\">", "</span>");
    let name = name.and_then(|name| trimmed(name.trim_end_matches("</a>").rsplit('>').next()?));
    PageFields {
        id: between(head, "In-Reply-To=", "\"").map(|id| percent_decoded(&id)),
        date: between(head, "s time: ", "\""),
        from: name,
        subject: between(head, "<h1>", "</h1>"),
    }
}

/// Reads `<meta name="Subject" content="...">` for fields that were not found elsewhere. The first
/// element of each name counts.
fn with_meta(mut fields: PageFields, head: &[u8]) -> PageFields {
    markup(head, ElementContent::Markup, &mut |token| {
        let Markup::Start(tag) = token else {
            return;
        };
        let name = tag.attribute("name").unwrap_or_default();
        let content = tag.attribute("content").and_then(trimmed);
        let (field, content) = match name.to_ascii_lowercase().as_str() {
            _ if tag.name != "meta" => return,
            "message-id" | "messageid" => (&mut fields.id, content),
            "date" => (&mut fields.date, content),
            "author" | "from" | "sender" => (&mut fields.from, content.map(sender_of_author)),
            "subject" => (&mut fields.subject, content),
            _ => return,
        };
        *field = field.take().or(content);
    });
    let id = fields.id.map(|id| {
        let is_bare = !id.starts_with('<');
        if is_bare { format!("<{id}>") } else { id }
    });
    PageFields { id, ..fields }
}

/// Returns the sender from an author `Name (address)`, as hypermail writes it.
fn sender_of_author(author: String) -> String {
    let inner = author.strip_suffix(')');
    match inner.and_then(|text| text.split_once(" (")) {
        Some((name, address)) if address.contains('@') => format!("{} <{address}>", name.trim()),
        _ => author,
    }
}

/// Returns a sender in the form of a From field.
fn sender(name: Option<String>, address: Option<String>) -> Option<String> {
    match (name, address) {
        (Some(name), Some(address)) if name != address => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address),
    }
}

/// Returns the text between the first `start` and the next `end`, with character references
/// decoded.
fn between(head: &[u8], start: &str, end: &str) -> Option<String> {
    let at = memchr::memmem::find(head, start.as_bytes())? + start.len();
    let len = memchr::memmem::find(&head[at..], end.as_bytes())?;
    text_of(&head[at..at + len])
}

/// Returns the trimmed text of a value, with character references decoded, or `None` if it is
/// empty.
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

/// Returns the fields of a message in JSON: Pony Mail's `body` and `message-id`, or the `rawEmail`
/// and `messageBody` of Yahoo Groups. Returns `None` without a message, or for several.
fn json_fields(json: &[u8]) -> Option<PageFields> {
    let text = |name| text_of(&strings(member(json, name)?).bytes);
    let id = |name| text_of(&base64(member(json, name)?).bytes);
    let seconds = text("epoch").or_else(|| text("postDate"));
    let time = seconds.and_then(|text| jiff::Timestamp::from_second(text.parse().ok()?).ok());
    let email = [b"\n", member(json, "rawEmail").unwrap_or_default()].concat();
    let email = strings(&email).bytes;
    let own = |name, field| text(name).or_else(|| between(&email, field, "\n"));
    let date = own("date", "\nDate:");
    let fields = PageFields {
        id: own("message-id", "\nMessage-ID:").or_else(|| id("messageIdInHeader")),
        date: time.map(|at| at.to_string()).or(date),
        from: own("from", "\nFrom:"),
        subject: own("subject", "\nSubject:"),
    };
    let has_body = ["body", "messageBody", "rawEmail"].map(|it| member(json, it)) != [None; 3];
    Some(fields).filter(|fields| has_body && fields.from.is_some())
}

/// Returns the string or number with this name in JSON, if it is the only one. Linear.
fn member<'j>(json: &'j [u8], name: &str) -> Option<&'j [u8]> {
    let name = format!("\"{name}\"");
    let at = memchr::memmem::find(json, name.as_bytes())?;
    let value = &json[at + name.len()..];
    let value = &value[run_len(value, |byte| b": \t\r\n".contains(&byte))..];
    let content = value.strip_prefix(b"\"").unwrap_or(value);
    let mut end = 0;
    while content.len() < value.len() && content.get(end)? != &b'"' {
        end += 1 + usize::from(content[end] == b'\\');
    }
    let digits = run_len(content, |byte| byte.is_ascii_digit());
    let is_only = memchr::memmem::rfind(json, name.as_bytes()) == Some(at);
    is_only.then(|| &content[..end.max(digits)])
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

    /// Returns the fields of a page whose body follows `head`.
    fn of(head: &[u8]) -> [Option<String>; 4] {
        let page = [head, b"<!--X-Body-of-Message-->"].concat();
        let found = fields(&page).expect("a page of an archive");
        [found.id, found.date, found.from, found.subject]
    }

    #[test]
    fn meta_elements_fill_in_missing_comments() {
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
    fn fields_before_damage_in_a_hostile_head_are_kept() {
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
        // One page that names its charset, and one that does not.
        let latin = b"<meta charset=iso-8859-1><!--X-Subject: \xE4 -->";
        assert_eq!(of(latin)[3].as_deref(), Some("\u{E4}"));
        assert_eq!(
            of("<!--X-Subject: \u{E4} -->".as_bytes())[3].as_deref(),
            Some("\u{E4}")
        );
    }

    #[test]
    fn marks_in_any_order_yield_a_range_of_the_page() {
        let (start, end) = (ARCHIVERS[2].body_start, ARCHIVERS[2].body_end);
        for (page, expected) in [
            ([b"a", start, b"b", end, b"c"].concat(), "b"),
            ([b"a", end, b"b", start, b"c"].concat(), "c"),
            (
                [b"a", start, b"b", start, b"c"].concat(),
                "b<!--beginarticle-->c",
            ),
            // The message repeats the mark, and the last one counts.
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

    /// Returns the fields and the body of a page.
    fn read(page: &str) -> ([String; 4], &str) {
        let body = body(page.as_bytes());
        let found = fields(page.as_bytes()).unwrap();
        let fields =
            [found.id, found.date, found.from, found.subject].map(Option::unwrap_or_default);
        (fields, &page[body.start..body.end])
    }

    #[test]
    fn pages_of_public_inbox_and_hyperkitty_are_messages() {
        let page = "<html><head><title>x</title></head><body><form>x</form><pre\nid=b>From: Ann \
            &lt;ann@a.example&gt;\nTo: b\nSubject: <a\nhref=\"#r\"\nid=t>Oil &amp; lamps</a>\n\
            Date: Mon, 5 Jan 2015 10:00:00 +0000\t<a\nhref=\"#r\">[thread overview]</a>\n\
            Message-ID: &lt;m1@a.example&gt; (<a\nhref=\"raw\">raw</a>)\n\nsee \
            <a\nhref=\"http://b\">b</a>\n</pre><hr><pre>Thread</pre><hr><pre\nid=R>Reply</pre>";
        let (fields, text) = read(page);
        let date = "Mon, 5 Jan 2015 10:00:00 +0000";
        assert_eq!(
            fields,
            ["<m1@a.example>", date, "Ann <ann@a.example>", "Oil & lamps"]
        );
        assert_eq!(text, "see <a\nhref=\"http://b\">b</a>\n");
        let page = "<!DOCTYPE HTML><html><body><h1>\n Lamps\n</h1><span class=\"name\">\n<a \
            href=\"/x\">Ann</a>\n</span><span title=\"Sender&#x27;s time: 2015-01-05 \
            10:00\">10:00</span> <!-- /email-header: gravatar, author-info, date, peramlink, \
            changed_subject -->\n<div class=\"email-body\">see http://b</div><div \
            class=\"email-info\"><a \
            href=\"mailto:l@a.example?In-Reply-To=&lt;m1%40a.example&gt;\">Reply</a></div>";
        let (fields, text) = read(page);
        assert_eq!(
            fields,
            ["<m1@a.example>", "2015-01-05 10:00", "Ann", "Lamps"]
        );
        assert_eq!(text, "\n<div class=\"email-body\">see http://b</div>");
    }

    #[test]
    fn json_without_exactly_one_message_has_no_fields() {
        let raw = r#"[{"postDate": 9,"rawEmail":"From: a\r\nMessage-ID: &lt;b&gt;\r\n"}]"#;
        let found = fields(raw.as_bytes()).unwrap();
        assert_eq!(
            (found.id.unwrap(), found.from.unwrap()),
            ("<b>".into(), "a".into())
        );
        assert_eq!(found.date.unwrap(), "1970-01-01T00:00:09Z");
        for json in [
            raw.repeat(2).as_str(),
            "{",
            r#"{"body":"","from":"a\"#,
            r#"{"from":"a"}"#,
        ] {
            assert!(fields(json.as_bytes()).is_none(), "{json}");
        }
    }

    #[test]
    fn other_pages_are_whole() {
        let page = b"<html><!--X-Subject: x -->\n<p>x</html>";
        assert_eq!(body(page), Span::new(0, page.len()));
        assert!(fields(page).is_none());
    }
}
