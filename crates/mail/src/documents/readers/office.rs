//! Office Open XML (ECMA-376) and ODF (ISO/IEC 26300): zips of XML.
//!
//! The reader takes the text of the visible parts, and the external targets of relationships
//! (`*.rels`) and of `xlink:href`. A target used in the text becomes a link around its words; all
//! other targets follow the text. Namespaces are not links.
//!
//! XML is not validated, and names are not resolved: damaged XML is read as far as possible, by the
//! tokeniser of HTML. All names are compared in lower case.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::{DocumentReading, PageBuilder, Unpacking, add_to_instruction, hyperlink_target};
use crate::decode::{ElementContent, Markup, Tag, markup};
use crate::lines::{is_listed, run_len};
use urlspool_sources::read::{SeekableInput, ZipMember, ZipMembers, error_diagnostic};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::grammar::is_scheme_char;
use urlspool_text::limits::Limits;

/// Reads a document.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let mut unpacking = Unpacking::new(limits);
    let mut page = PageBuilder::new(limits.message_bytes);
    // External relationships, keyed by the name of their part.
    let mut links: BTreeMap<String, PartLinks> = BTreeMap::new();
    let mut media_type = None;
    let zip = SeekableInput::memory(bytes.to_vec());
    // Relationships often follow the parts that refer to them.
    for is_wanted in [is_relationships, is_content] {
        for member in ZipMembers::new(&zip, limits) {
            let ZipMember { name, stream } = match member {
                Ok(member) => member,
                Err(Diagnostic { kind, message, .. }) => {
                    unpacking.problem(kind, format!("a document: {message}"));
                    continue;
                }
            };
            let name = String::from_utf8_lossy(&name).replace('\\', "/");
            let name = name.trim_start_matches('/');
            media_type = media_type.or_else(|| office_open_xml_type(name));
            if !is_wanted(name) {
                continue;
            }
            let Some(stream) = stream else {
                let message = format!(
                    "the part {name} of a document is encrypted or packed by an unknown method: it \
                     is not read"
                );
                unpacking.problem(DiagnosticKind::Limit, message);
                continue;
            };
            let xml = unpacking.unpack("a document", stream, |error| {
                let Diagnostic { kind, message, .. } = error_diagnostic(error, None);
                Diagnostic::new(kind, format!("the part {name} of a document: {message}"))
            });
            let xml = decoded(&xml);
            if is_relationships(name) {
                let part = part_of_relationships(name);
                links.entry(part).or_default().add(&xml);
                continue;
            }
            let mut pass = PartPass::new(&mut page, links.remove(name).unwrap_or_default());
            if is_open_document(name) {
                pass.open_document(xml.as_bytes());
            } else {
                pass.office_open_xml(xml.as_bytes());
            }
            pass.end();
        }
    }
    for links in links.into_values() {
        PartPass::new(&mut page, links).end();
    }
    DocumentReading {
        media_type: media_type.or_else(|| open_document_type(bytes)),
        ..unpacking.page(page)
    }
}

/// Returns the media type of an ODF document: the content of its first member, which is stored
/// unpacked (ISO/IEC 26300 part 2, section 3.3).
fn open_document_type(bytes: &[u8]) -> Option<String> {
    /// Length of the first member's header and name.
    const START: usize = 30 + b"mimetype".len();
    /// The longest type is `application/vnd.oasis.opendocument.presentation-template`.
    const TYPE_BYTES: usize = 64;
    let start = bytes.get(START..)?;
    let start = &start[..start.len().min(TYPE_BYTES)];
    let len = run_len(start, |byte| {
        byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'.' | b'-')
    });
    let media_type = std::str::from_utf8(&start[..len]).ok()?;
    // The signature of the next member follows.
    let media_type = media_type.strip_suffix("PK").unwrap_or(media_type);
    media_type
        .starts_with("application/")
        .then(|| media_type.to_owned())
}

/// Returns the media type of a document that has a part of this name.
fn office_open_xml_type(part: &str) -> Option<String> {
    let kind = match part.split_once('/')?.0 {
        "word" => "wordprocessingml.document",
        "xl" => "spreadsheetml.sheet",
        "ppt" => "presentationml.presentation",
        _ => return None,
    };
    Some(format!(
        "application/vnd.openxmlformats-officedocument.{kind}"
    ))
}

fn is_relationships(name: &str) -> bool {
    name.ends_with(".rels") && (name.contains("_rels/"))
}

/// Returns the name of the part to which relationships belong: `word/document.xml` for
/// `word/_rels/document.xml.rels`.
fn part_of_relationships(name: &str) -> String {
    name.strip_suffix(".rels")
        .unwrap_or(name)
        .replacen("_rels/", "", 1)
}

/// Returns `true` for parts with visible text.
fn is_content(name: &str) -> bool {
    /// Parts of Office Open XML that describe the appearance of other parts.
    const LOOKS: &str = "/theme/ /slideLayouts/ /slideMasters/ /notesMasters/ /handoutMasters/ \
        /printerSettings/ /media/ /styles /fontTable /numbering /settings /webSettings \
        /tableStyles";
    let is_shown = name.ends_with(".xml") && !LOOKS.split(' ').any(|look| name.contains(look));
    is_office_open_xml(name) && is_shown || is_open_document(name)
}

/// Returns `true` for ODF parts with text: the document, its headers and footers, and embedded
/// objects.
fn is_open_document(name: &str) -> bool {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    !is_office_open_xml(name) && matches!(file, "content.xml" | "styles.xml")
}

fn is_office_open_xml(name: &str) -> bool {
    office_open_xml_type(name).is_some()
}

/// External relationships of one part.
#[derive(Default)]
struct PartLinks {
    /// Indexes into `targets` by relationship id.
    by_id: HashMap<String, usize>,
    /// Targets in the order of the file.
    targets: Vec<ExternalTarget>,
}

struct ExternalTarget {
    /// Target, shared with the links to it, which can be many.
    target: Rc<str>,
    /// Appends the target to the page if the text does not use it.
    append: fn(&mut PageBuilder, &str),
    is_shown: bool,
}

impl PartLinks {
    /// Adds the external relationships in an XML text (ECMA-376 part 2, section 9.3).
    fn add(&mut self, xml: &str) {
        markup(xml.as_bytes(), ElementContent::Xml, &mut |token| {
            let Markup::Start(tag) = token else {
                return;
            };
            let mode = tag.attribute("targetmode").unwrap_or_default();
            if local_name(&tag.name) != "relationship" || !mode.eq_ignore_ascii_case("external") {
                return;
            }
            let (Some(id), Some(target)) = (tag.attribute("id"), tag.attribute("target")) else {
                return;
            };
            let kind = tag.attribute("type").unwrap_or_default();
            let external = ExternalTarget {
                target: target.into(),
                append: match kind.rsplit_once('/').map_or("", |(_, kind)| kind) {
                    "hyperlink" => PageBuilder::link,
                    "image" => PageBuilder::image,
                    // A template, an embedded object, a frame, another workbook.
                    _ => PageBuilder::linked_object,
                },
                is_shown: false,
            };
            if let Entry::Vacant(entry) = self.by_id.entry(id.to_owned()) {
                entry.insert(self.targets.len());
                self.targets.push(external);
            }
        });
    }
}

/// Pass over one part.
struct PartPass<'p> {
    page: &'p mut PageBuilder,
    links: PartLinks,
    /// Name of the element whose end closes the open link.
    link_element: Option<&'static str>,
    /// Instruction of the current field (ECMA-376 part 1, section 17.16).
    instruction: String,
    /// Number of open elements with visible text.
    visible: usize,
}

/// Elements of Office Open XML with visible character data: runs of text, deleted text, formulas
/// and cell values.
const TEXT_ELEMENTS: [&str; 4] = ["t", "deltext", "f", "v"];

/// Elements of ODF that do not end a line.
const INLINE_ELEMENTS: &str = "a span s bookmark bookmark-start bookmark-end reference-mark \
    reference-mark-start reference-mark-end soft-page-break change change-start change-end \
    ruby-base";

impl<'p> PartPass<'p> {
    fn new(page: &'p mut PageBuilder, links: PartLinks) -> PartPass<'p> {
        PartPass {
            page,
            links,
            link_element: None,
            instruction: String::new(),
            visible: 0,
        }
    }

    fn office_open_xml(&mut self, xml: &[u8]) {
        let mut is_instruction = false;
        markup(xml, ElementContent::Xml, &mut |token| match token {
            Markup::Start(tag) => {
                let name = local_name(&tag.name);
                self.visible += usize::from(TEXT_ELEMENTS.contains(&name));
                is_instruction |= name == "instrtext";
                self.start_of_element(name, tag);
            }
            Markup::End(name) => {
                let name = local_name(name);
                if TEXT_ELEMENTS.contains(&name) {
                    self.visible = self.visible.saturating_sub(1);
                }
                is_instruction &= name != "instrtext";
                self.end_of_element(name);
            }
            Markup::Text(text) if is_instruction => {
                add_to_instruction(&mut self.instruction, text);
            }
            Markup::Text(text) if 0 < self.visible => self.page.text(text),
            Markup::Text(_) => {}
        });
    }

    fn start_of_element(&mut self, name: &str, tag: &Tag) {
        match name {
            "hyperlink" => {
                let target = tag.attribute("id").and_then(|id| self.shown_target(id));
                self.open_link(target, "hyperlink");
            }
            "fldsimple" => {
                let instruction = tag.attribute("instr").unwrap_or_default();
                self.open_link(hyperlink_target(instruction), "fldsimple");
            }
            "fldchar" => match tag.attribute("fldchartype") {
                Some("begin") => self.instruction.clear(),
                Some("separate") => {
                    let instruction = std::mem::take(&mut self.instruction);
                    self.open_link(hyperlink_target(&instruction), "field");
                }
                Some("end") => {
                    if let Some(target) = hyperlink_target(&std::mem::take(&mut self.instruction)) {
                        self.page.link(&target);
                    }
                    self.close_link("field");
                }
                _ => {}
            },
            "tab" | "br" | "cr" => self.page.line_break(),
            _ => {}
        }
    }

    fn end_of_element(&mut self, name: &str) {
        match name {
            "hyperlink" | "fldsimple" => self.close_link(name),
            // A paragraph, a workbook string, a cell and its parts, a comment.
            "p" | "si" | "c" | "f" | "v" | "comment" | "text" => self.page.line_break(),
            _ => {}
        }
    }

    /// Opens a link, if there is a target. The end of `element` closes it.
    fn open_link(&mut self, target: Option<impl AsRef<str>>, element: &'static str) {
        if let Some(target) = target {
            self.page.open_link(target.as_ref());
            self.link_element = Some(element);
        }
    }

    /// Closes the open link if `element` opened it.
    fn close_link(&mut self, element: &str) {
        if self.link_element == Some(element) {
            self.link_element = None;
            self.page.close_link();
        }
    }

    /// Returns the external target of a link in the text.
    fn shown_target(&mut self, id: &str) -> Option<Rc<str>> {
        let external = &mut self.links.targets[*self.links.by_id.get(id)?];
        external.is_shown = true;
        Some(Rc::clone(&external.target))
    }

    fn open_document(&mut self, xml: &[u8]) {
        let mut in_link = false;
        markup(xml, ElementContent::Xml, &mut |token| match token {
            Markup::Start(tag) => {
                let name = local_name(&tag.name);
                if !is_listed(INLINE_ELEMENTS, name.as_bytes()) {
                    self.page.line_break();
                }
                if name == "s" {
                    self.page.text(" ");
                }
                match tag.attribute("href").filter(|target| is_absolute(target)) {
                    Some(target) if name == "a" => {
                        self.page.open_link(target);
                        in_link = true;
                    }
                    Some(target) if name == "image" => self.page.image(target),
                    Some(target) => self.page.linked_object(target),
                    None => {}
                }
            }
            Markup::End(name) => {
                let name = local_name(name);
                if name == "a" && std::mem::take(&mut in_link) {
                    self.page.close_link();
                }
                if !is_listed(INLINE_ELEMENTS, name.as_bytes()) {
                    self.page.line_break();
                }
            }
            Markup::Text(text) => self.page.text(text),
        });
    }

    /// Appends the targets that the text does not use.
    fn end(self) {
        self.page.close_link();
        self.page.line_break();
        for external in self.links.targets {
            if !external.is_shown {
                (external.append)(self.page, &external.target);
            }
        }
    }
}

/// Returns `true` for a target outside the document: one with a scheme.
fn is_absolute(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_scheme_char)
    })
}

/// Returns the name of an element without its prefix.
fn local_name(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Decodes the bytes of an XML text, by its byte order mark or else as UTF-8. The document formats
/// allow no other encodings.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_rs::UTF_8.decode(bytes).0
}

#[cfg(test)]
mod xml_tests {
    use super::*;

    /// Shows the tokens of an XML text: `<name a=b|c=d>`, `</name>`, `text`.
    fn shown(xml: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        markup(xml.as_bytes(), ElementContent::Xml, &mut |token| {
            tokens.push(match token {
                Markup::Start(Tag { name, attributes }) => {
                    let attributes = attributes.iter();
                    let attributes = attributes.map(|(name, value)| format!("{name}={value}"));
                    format!("<{name} {}>", attributes.collect::<Vec<_>>().join("|"))
                }
                Markup::End(name) => format!("</{name}>"),
                Markup::Text(text) => text.to_owned(),
            });
        });
        tokens
    }

    #[test]
    fn tokens_are_tags_and_text() {
        assert_eq!(
            shown(
                "<?xml version='1.0'?><!-- <no> --><w:P a=\"1>&amp;\" b = \
                 '2'/>x&#65;&lt;<![CDATA[<y&]]></q >"
            ),
            ["<w:p a=1>&|b=2>", "</w:p>", "xA<<y&", "</q>"]
        );
    }

    #[test]
    fn damage_hides_no_text_before_it() {
        assert_eq!(shown("<b>c</b><!-- a<b>"), ["<b >", "c", "</b>"]);
        assert_eq!(shown("<b>c<a href=\"x<b>c"), ["<b >", "c"]);
        assert_eq!(
            shown("a & b &#xFFFFFFFF; &unknown;"),
            ["a & b \u{fffd} &unknown;"]
        );
        assert_eq!(shown("<title>a<b>"), ["<title >", "a", "<b >"]);
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
