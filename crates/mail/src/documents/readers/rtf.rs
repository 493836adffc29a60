//! Rich Text Format (version 1.9.1): the visible text, and the targets of `HYPERLINK` fields.
//!
//! Groups are kept in a list, never on the call stack. HTML that Outlook embeds in RTF (MS-OXRTFEX)
//! is restored.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::{DocumentReading, PageBuilder, Unpacking, add_to_instruction, hyperlink_target};
use crate::lines::{hex_pair, is_listed, run_len};
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::{Limits, RTF_GROUPS};

/// Reads a document.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let mut reader = RtfReader {
        page: PageBuilder::new(limits.message_bytes),
        groups: vec![Group::OUTERMOST],
        excess_groups: 0,
        encoding: WINDOWS_1252,
        bytes: Vec::new(),
        text: String::new(),
        utf16: Vec::new(),
        unicode_left: 0,
        instruction: String::new(),
        template: String::new(),
        is_html: false,
    };
    for token in (RtfTokens { bytes, at: 0 }) {
        reader.token(&token);
    }
    reader.flush();
    let mut unpacking = Unpacking::new(limits);
    if reader.groups.len() > 1 {
        let message = "an RTF that ends inside a group: it is cut short";
        unpacking.problem(DiagnosticKind::Damage, message);
    }
    unpacking.page(reader.page)
}

/// State of one group.
#[derive(Clone, Copy)]
struct Group {
    destination: Destination,
    /// `true` if this group opened the current link.
    has_link: bool,
    /// `true` for text that only RTF viewers show and that is not part of the embedded HTML.
    is_rtf_only: bool,
    /// Number of fallback characters after `\u`, for old readers.
    fallback_characters: usize,
    /// `true` after `\*`: an unknown destination is skipped.
    is_optional: bool,
}

impl Group {
    const OUTERMOST: Group = Group {
        destination: Destination::Text,
        has_link: false,
        is_rtf_only: false,
        fallback_characters: 1,
        is_optional: false,
    };
}

/// Use of a group's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Destination {
    Text,
    /// Field instruction.
    Instruction,
    /// Piece of HTML.
    HtmlTag,
    /// Path of a template, which may be a URL.
    Template,
    Skipped,
}

/// Maximum number of characters skipped after `\u`. Programs write one or two.
const FALLBACK_CHARACTERS: usize = 8;

/// Destinations without visible text.
const SKIPPED: &str = "fonttbl colortbl stylesheet info pict filetbl listtable listoverridetable \
    revtbl rsidtbl generator themedata colorschememapping datastore latentstyles objdata xmlnstbl \
    fldtype bkmkstart";

/// Token of an RTF.
enum RtfToken<'b> {
    Open,
    Close,
    /// A control word without the backslash, and its parameter.
    Control(&'b [u8], Option<i32>),
    /// A control symbol: the character after a backslash.
    Symbol(u8),
    /// `\'hh`.
    Hex(u8),
    Text(&'b [u8]),
}

struct RtfReader {
    page: PageBuilder,
    groups: Vec<Group>,
    /// Number of open groups beyond [`RTF_GROUPS`].
    excess_groups: usize,
    /// The encoding of bytes above 127.
    encoding: &'static Encoding,
    /// Bytes not decoded yet: a character may have two.
    bytes: Vec<u8>,
    text: String,
    /// UTF-16 units from `\u` not decoded yet: a character may have two.
    utf16: Vec<u16>,
    /// Number of characters still to skip after `\u`.
    unicode_left: usize,
    instruction: String,
    /// Path of the template whose group is open.
    template: String,
    is_html: bool,
}

impl RtfReader {
    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::OUTERMOST);
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn token(&mut self, token: &RtfToken<'_>) {
        match *token {
            RtfToken::Text(text) => self.characters(text),
            RtfToken::Hex(byte) => self.characters(&[byte]),
            RtfToken::Open => self.open(),
            RtfToken::Close => self.close(),
            RtfToken::Control(b"u", Some(number)) => {
                self.decode_bytes();
                // Units above 32767 are written as negative numbers.
                let [low, high, ..] = number.to_le_bytes();
                self.utf16.push(u16::from_le_bytes([low, high]));
                self.unicode_left = self.group().fallback_characters;
            }
            RtfToken::Control(word, parameter) => self.control(word, parameter),
            RtfToken::Symbol(symbol) => match symbol {
                b'*' => self.group().is_optional = true,
                b'\\' | b'{' | b'}' => self.characters(&[symbol]),
                b'~' => self.characters(b" "),
                b'_' => self.characters(b"-"),
                b'\n' | b'\r' => self.break_line(),
                _ => {}
            },
        }
    }

    fn open(&mut self) {
        self.unicode_left = 0;
        let group = Group {
            has_link: false,
            is_optional: false,
            ..*self.group()
        };
        if self.groups.len() < RTF_GROUPS {
            self.groups.push(group);
        } else {
            self.excess_groups += 1;
        }
    }

    fn close(&mut self) {
        self.unicode_left = 0;
        if 0 < self.excess_groups {
            self.excess_groups -= 1;
            return;
        }
        self.flush();
        // Text after the last group is not part of the document, but must not hide other text.
        let Some(closed) = self.groups.pop() else {
            return;
        };
        let outer = *self.group();
        let is_shown = !(self.is_html && outer.is_rtf_only);
        if closed.destination == Destination::Instruction
            && outer.destination != Destination::Instruction
        {
            let instruction = std::mem::take(&mut self.instruction);
            if let Some(target) = hyperlink_target(&instruction).filter(|_| is_shown) {
                self.page.open_link(&target);
                self.group().has_link = true;
            }
        }
        if closed.destination == Destination::Template && outer.destination != Destination::Template
        {
            let template = std::mem::take(&mut self.template);
            self.page.linked_object(template.trim());
        }
        if closed.has_link {
            self.page.close_link();
        }
    }

    fn control(&mut self, word: &[u8], parameter: Option<i32>) {
        let is_optional = std::mem::take(&mut self.group().is_optional);
        match word {
            b"par" | b"line" | b"tab" | b"cell" | b"row" | b"sect" | b"page" | b"nestcell"
            | b"nestrow" => {
                self.break_line();
            }
            b"uc" => {
                let characters = parameter.and_then(|number| usize::try_from(number).ok());
                self.group().fallback_characters = characters.unwrap_or(1).min(FALLBACK_CHARACTERS);
            }
            b"ansicpg" => {
                self.flush();
                if let Some(encoding) = parameter.and_then(encoding_of_code_page) {
                    self.encoding = encoding;
                }
            }
            b"mac" => self.encoding = encoding_rs::MACINTOSH,
            b"fromhtml" => self.is_html = parameter != Some(0),
            b"htmlrtf" => {
                self.flush();
                self.group().is_rtf_only = parameter != Some(0);
            }
            b"emdash" => self.characters("\u{2014}".as_bytes()),
            b"endash" => self.characters("\u{2013}".as_bytes()),
            b"lquote" | b"rquote" => self.characters(b"'"),
            b"ldblquote" | b"rdblquote" => self.characters(b"\""),
            b"bullet" => self.characters(b"*"),
            b"fldinst" => self.enter(Destination::Instruction),
            b"htmltag" => self.enter(Destination::HtmlTag),
            b"template" => self.enter(Destination::Template),
            b"fldrslt" | b"shptxt" | b"shpinst" | b"sp" | b"sv" | b"pntext" | b"listtext" => {}
            _ if is_optional || is_listed(SKIPPED, word) => self.enter(Destination::Skipped),
            _ => {}
        }
    }

    /// Sets the destination of the rest of the group, unless the surrounding text is not visible.
    fn enter(&mut self, destination: Destination) {
        self.flush();
        let group = self.group();
        if group.destination != Destination::Skipped {
            group.destination = destination;
        }
    }

    fn break_line(&mut self) {
        self.flush();
        let group = *self.group();
        match group.destination {
            Destination::Text if !self.is_html => self.page.line_break(),
            Destination::Text | Destination::HtmlTag if !group.is_rtf_only => self.page.html(b"\n"),
            _ => {}
        }
    }

    /// Adds characters in the document's encoding.
    fn characters(&mut self, characters: &[u8]) {
        let skipped = characters.len().min(self.unicode_left);
        self.unicode_left -= skipped;
        let characters = &characters[skipped..];
        if characters.is_empty() || self.group().destination == Destination::Skipped {
            return;
        }
        self.decode_utf16();
        self.bytes.extend_from_slice(characters);
    }

    fn decode_bytes(&mut self) {
        if !self.bytes.is_empty() {
            let (text, _) = self.encoding.decode_without_bom_handling(&self.bytes);
            self.text.push_str(&text);
            self.bytes.clear();
        }
    }

    fn decode_utf16(&mut self) {
        let units = std::mem::take(&mut self.utf16);
        if !units.is_empty() {
            let units = char::decode_utf16(units);
            self.text
                .extend(units.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
    }

    /// Passes the decoded text to the group's destination.
    fn flush(&mut self) {
        self.decode_bytes();
        self.decode_utf16();
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return;
        }
        let group = *self.group();
        match group.destination {
            Destination::Text if self.is_html && group.is_rtf_only => {}
            Destination::Text => self.page.text(&text),
            Destination::HtmlTag => self.page.html(text.as_bytes()),
            Destination::Instruction => add_to_instruction(&mut self.instruction, &text),
            Destination::Template => add_to_instruction(&mut self.template, &text),
            Destination::Skipped => {}
        }
    }
}

/// Returns the encoding of a Windows code page.
pub(super) fn encoding_of_code_page(page: i32) -> Option<&'static Encoding> {
    let label = match page {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        1250..=1258 => format!("windows-{page}"),
        874 => "windows-874".to_owned(),
        866 => "ibm866".to_owned(),
        10000 => "macintosh".to_owned(),
        20127 => "us-ascii".to_owned(),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        28591..=28606 => format!("iso-8859-{}", page - 28590),
        50220..=50222 => "iso-2022-jp".to_owned(),
        51932 => "euc-jp".to_owned(),
        54936 => "gb18030".to_owned(),
        65001 => "utf-8".to_owned(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}

/// Iterator over the tokens of an RTF. Reads each byte once.
struct RtfTokens<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> RtfTokens<'b> {
    /// Reads a control word or symbol after a backslash.
    fn control(&mut self) -> Option<RtfToken<'b>> {
        let rest = &self.bytes[self.at..];
        let first = *rest.first()?;
        if first == b'\'' {
            let hex = hex_pair(&rest[1..]);
            self.at += if hex.is_some() { 3 } else { 1 };
            return Some(hex.map_or(RtfToken::Symbol(first), RtfToken::Hex));
        }
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            return Some(RtfToken::Symbol(first));
        }
        let letters = run_len(rest, |byte| byte.is_ascii_alphabetic());
        let (word, rest) = rest.split_at(letters);
        let sign = usize::from(rest.starts_with(b"-"));
        let digits = run_len(&rest[sign..], |byte| byte.is_ascii_digit());
        let number = if digits == 0 { 0 } else { sign + digits };
        let parameter = std::str::from_utf8(&rest[..number])
            .ok()
            .and_then(|number| number.parse().ok());
        // A space ends the word and is not part of the text.
        let space = usize::from(rest[number..].starts_with(b" "));
        self.at += letters + number + space;
        if word == b"bin" {
            let binary = parameter
                .and_then(|number: i32| usize::try_from(number).ok())
                .unwrap_or(0);
            self.at = self.at.saturating_add(binary).min(self.bytes.len());
        }
        Some(RtfToken::Control(word, parameter))
    }
}

impl<'b> Iterator for RtfTokens<'b> {
    type Item = RtfToken<'b>;

    fn next(&mut self) -> Option<RtfToken<'b>> {
        loop {
            let rest = &self.bytes[self.at..];
            let first = *rest.first()?;
            self.at += 1;
            return match first {
                b'{' => Some(RtfToken::Open),
                b'}' => Some(RtfToken::Close),
                b'\\' => self.control(),
                b'\r' | b'\n' | 0 => continue,
                _ => {
                    let len = run_len(rest, |byte| !b"{}\\\r\n\0".contains(&byte));
                    self.at += len - 1;
                    Some(RtfToken::Text(&rest[..len]))
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::DocumentContent;

    fn page(rtf: &str) -> String {
        let reading = read(rtf.as_bytes(), &Limits::default());
        match reading.content {
            DocumentContent::Page(page) => String::from_utf8(page).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_field_is_a_link_around_its_result() {
        let link = r#"{\*\fldinst {HYPERLINK "http://a.example/\\~b" \\o "t"}}"#;
        let result = r"{\fldrslt{\ul the page}}";
        let field = format!(r"{{\field{link}{result}}}");
        let rtf = format!(r"{{\rtf1\ansi{{\fonttbl{{\f0 Arial;}}}}a {field} c\par d}}");
        assert_eq!(
            page(&rtf),
            "a <a href=\"http://a.example/\\~b\">the page</a> c<br>\nd"
        );
    }

    #[test]
    fn characters_are_decoded() {
        assert_eq!(
            page(r"{\rtf1\ansi\ansicpg1251 \'e0\u8364?\u-10179?\u-8704?\{x\}}"),
            "а€\u{1F600}{x}"
        );
        assert_eq!(
            page("{\\rtf1\\uc0\\u8364 x\\uc1 {\\uc2\\u8364 abz}\\u8364 ay}"),
            "€x€z€y"
        );
        assert_eq!(
            page("{\\rtf1{\\*\\unknown hidden}{\\pict 00ff}{\\bin3 }}}shown\n more}"),
            "shown more"
        );
    }

    #[test]
    fn html_of_outlook_becomes_html() {
        let rtf = "{\\rtf1\\fromhtml1{\\*\\htmltag64 <a href=\"http://a.example/\">}\\htmlrtf \
            {\\field{\\*\\fldinst HYPERLINK \"x\"}\\htmlrtf0 text\\htmlrtf \
            }\\htmlrtf0{\\*\\htmltag72 </a>}}";
        assert!(
            page(rtf).contains("<a href=\"http://a.example/\">text</a>"),
            "{}",
            page(rtf)
        );
    }

    #[test]
    fn deep_groups_are_read_and_a_cut_is_reported() {
        let deep = format!("{{\\rtf1 {}x{}y", "{".repeat(100_000), "}".repeat(100_000));
        let reading = read(deep.as_bytes(), &Limits::default());
        assert_eq!(reading.content, DocumentContent::Page(b"xy".to_vec()));
        assert_eq!(reading.problems[0].kind, DiagnosticKind::Damage);
    }
}
