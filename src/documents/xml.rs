//! Tokens of an XML text: start tags, end tags and character data.
//!
//! Nothing is checked, and no name is resolved: damaged XML is read as far as it can be. Linear: what is not closed is not searched
//! for again.

use std::borrow::Cow;

/// Token of an XML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum XmlToken<'x> {
    /// A start tag, or the tag of an empty element, which an end tag follows.
    Start {
        /// The name with its prefix.
        name: &'x str,
        /// The attributes, as written.
        attributes: Attributes<'x>,
    },
    /// An end tag, or the end of an empty element.
    End {
        /// The name with its prefix.
        name: &'x str,
    },
    /// Character data, with references decoded.
    Text(Cow<'x, str>),
}

/// Returns the name of an element or attribute without its prefix.
pub(super) fn local_name(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Decodes the bytes of an XML text: by its byte order mark, else as UTF-8. The formats of documents allow nothing else.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_rs::UTF_8.decode(bytes).0
}

/// Iterator over the tokens of an XML text.
pub(super) struct XmlTokens<'x> {
    text: &'x str,
    at: usize,
    /// The end of an empty element, which comes next.
    pending_end: Option<&'x str>,
    /// Ends of constructs of which there is none after `at`.
    missing: [bool; BRACKETS.len()],
}

/// Starts and ends of what is not markup of elements.
const BRACKETS: [(&str, &str); 4] = [
    ("<!--", "-->"),
    ("<![CDATA[", "]]>"),
    ("<?", "?>"),
    ("<!", ">"),
];
/// The place of character data among them.
const CDATA: usize = 1;

impl<'x> XmlTokens<'x> {
    pub(super) fn new(text: &'x str) -> XmlTokens<'x> {
        XmlTokens {
            text,
            at: 0,
            pending_end: None,
            missing: [false; BRACKETS.len()],
        }
    }

    /// Reads what begins with `<`. `None` for what gives no token.
    fn markup(&mut self) -> Option<XmlToken<'x>> {
        let rest = &self.text[self.at..];
        if let Some(index) = BRACKETS
            .iter()
            .position(|(start, _)| rest.starts_with(start))
        {
            let (start, end) = BRACKETS[index];
            let content = &rest[start.len()..];
            let found = if self.missing[index] {
                None
            } else {
                content.find(end)
            };
            self.missing[index] = found.is_none();
            // Without its end only the mark is skipped, so that it hides nothing.
            let content = &content[..found.unwrap_or(0)];
            self.at += start.len() + content.len() + found.map_or(0, |_| end.len());
            return (index == CDATA && !content.is_empty()).then(|| XmlToken::Text(content.into()));
        }
        let end = tag_end(rest);
        let tag = &rest[1..end];
        self.at += end + usize::from(rest[end..].starts_with('>'));
        if let Some(name) = tag.strip_prefix('/') {
            return Some(XmlToken::End { name: name.trim() });
        }
        let (tag, is_empty) = tag
            .strip_suffix('/')
            .map_or((tag, false), |tag| (tag, true));
        let name_end = tag
            .find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(tag.len());
        let (name, attributes) = tag.split_at(name_end);
        self.pending_end = is_empty.then_some(name);
        Some(XmlToken::Start {
            name,
            attributes: Attributes(attributes),
        })
    }
}

impl<'x> Iterator for XmlTokens<'x> {
    type Item = XmlToken<'x>;

    fn next(&mut self) -> Option<XmlToken<'x>> {
        if let Some(name) = self.pending_end.take() {
            return Some(XmlToken::End { name });
        }
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            if rest.starts_with('<') {
                if let Some(token) = self.markup() {
                    return Some(token);
                }
            } else {
                let end = rest.find('<').unwrap_or(rest.len());
                self.at += end;
                return Some(XmlToken::Text(unescaped(&rest[..end])));
            }
        }
        None
    }
}

/// The offset of the end of the tag that `text` begins with: of its `>`, or of the next `<`, which no tag contains.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match (byte, quote) {
            (b'<', _) => return at,
            (b'>', None) => return at,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// The attributes of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attributes<'x>(&'x str);

impl<'x> Attributes<'x> {
    /// Returns the first value of an attribute by its name without the prefix.
    pub(super) fn get(self, local: &str) -> Option<Cow<'x, str>> {
        self.into_iter()
            .find(|(name, _)| local_name(name) == local)
            .map(|(_, value)| value)
    }
}

impl<'x> IntoIterator for Attributes<'x> {
    type Item = (&'x str, Cow<'x, str>);
    type IntoIter = AttributeIter<'x>;

    fn into_iter(self) -> AttributeIter<'x> {
        AttributeIter(self.0)
    }
}

/// Iterator over names and values.
pub(super) struct AttributeIter<'x>(&'x str);

impl<'x> Iterator for AttributeIter<'x> {
    type Item = (&'x str, Cow<'x, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, rest) = self.0.split_once('=')?;
        let rest = rest.trim_start();
        let quote = rest
            .chars()
            .next()
            .filter(|quote| matches!(quote, '"' | '\''))?;
        let (value, rest) = rest[1..].split_once(quote).unwrap_or((&rest[1..], ""));
        self.0 = rest;
        Some((name.trim(), unescaped(value)))
    }
}

/// Decodes character references and the five entities of XML.
fn unescaped(text: &str) -> Cow<'_, str> {
    /// The longest reference is `&#x10FFFF;`.
    const REFERENCE_BYTES: usize = 10;
    if !text.contains('&') {
        return text.into();
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest.as_bytes()[..rest.len().min(REFERENCE_BYTES)]
            .iter()
            .position(|&byte| byte == b';')
            .and_then(|end| rest.get(1..end));
        match name.and_then(|name| Some((name, character(name)?))) {
            Some((name, character)) => {
                decoded.push(character);
                rest = &rest[name.len() + 2..];
            }
            None => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded.push_str(rest);
    decoded.into()
}

/// The character of a reference without `&` and `;`.
fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens as text: `<name a=b|c=d>`, `</name>`, `text`.
    fn shown(xml: &str) -> Vec<String> {
        XmlTokens::new(xml)
            .map(|token| match token {
                XmlToken::Start { name, attributes } => {
                    let attributes: Vec<String> = attributes
                        .into_iter()
                        .map(|(name, value)| format!("{name}={value}"))
                        .collect();
                    format!("<{name} {}>", attributes.join("|"))
                }
                XmlToken::End { name } => format!("</{name}>"),
                XmlToken::Text(text) => text.into_owned(),
            })
            .collect()
    }

    #[test]
    fn tokens_are_tags_and_text() {
        assert_eq!(
            shown(
                "<?xml version='1.0'?><!-- <no> --><w:p a=\"1>&amp;\" b = '2'/>x&#65;&lt;<![CDATA[<y&]]></q >"
            ),
            ["<w:p a=1>&|b=2>", "</w:p>", "xA<", "<y&", "</q>"]
        );
    }

    #[test]
    fn what_is_not_closed_hides_nothing() {
        assert_eq!(shown("<!-- a<b>c</b>"), [" a", "<b >", "c", "</b>"]);
        assert_eq!(shown("<a href=\"x<b>c"), ["<a href=x>", "<b >", "c"]);
        assert_eq!(
            shown("a & b &#xFFFFFFFF; &unknown;"),
            ["a & b &#xFFFFFFFF; &unknown;"]
        );
        assert_eq!(shown("<"), ["< >"]);
    }

    #[test]
    fn utf_16_is_read_by_its_mark() {
        let bytes: Vec<u8> = "\u{FEFF}<a>é</a>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(shown(&decoded(&bytes)), ["<a >", "é", "</a>"]);
    }
}
