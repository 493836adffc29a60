//! Office Open XML (ECMA-376) and ODF (ISO/IEC 26300): zips of XML.
//!
//! Read are the text of the parts that readers see, and the external targets of relationships (`*.rels`) and of `xlink:href`. A
//! target in the text is a link around its words; all others follow after the text. Namespaces are no links.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::rc::Rc;

use super::field::{add_to_instruction, hyperlink_target};
use super::page_builder::PageBuilder;
use super::xml::{Attributes, XmlToken, XmlTokens, decoded, local_name};
use super::{DocumentContent, DocumentReading, Problems};
use crate::diagnostic::DiagnosticKind;
use crate::limits::Limits;
use crate::read::{SeekableInput, ZipMember, ZipMembers, error_diagnostic};

/// Reads a document.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let mut reader = OfficeReader {
        limits,
        unpacked_left: limits.message_bytes,
        problems: Problems::default(),
        page: PageBuilder::new(limits.message_bytes),
        links: BTreeMap::new(),
        media_type: None,
    };
    let zip = SeekableInput::memory(bytes.to_vec());
    // Relationships are often after the parts that refer to them.
    reader.each_member(
        ZipMembers::new(&zip, limits),
        is_relationships,
        &mut |reader, name, xml| {
            let part = part_of_relationships(name);
            let links = reader.links.entry(part).or_default();
            links.add(xml);
        },
    );
    reader.each_member(
        ZipMembers::new(&zip, limits),
        is_content,
        &mut |reader, name, xml| {
            let links = reader.links.remove(name).unwrap_or_default();
            let mut pass = PartPass::new(&mut reader.page, links);
            if is_open_document(name) {
                pass.open_document(xml);
            } else {
                pass.office_open_xml(xml);
            }
            pass.end();
        },
    );
    for links in std::mem::take(&mut reader.links).into_values() {
        PartPass::new(&mut reader.page, links).end();
    }
    if reader.page.is_full() {
        reader.problems.add_full_page(limits);
    }
    DocumentReading {
        content: DocumentContent::Page(reader.page.finish()),
        media_type: reader.media_type.or_else(|| open_document_type(bytes)),
        unpacked_bytes: limits.message_bytes - reader.unpacked_left,
        problems: reader.problems.0,
    }
}

/// The media type of an ODF document, which is its first member, not packed (ISO/IEC 26300 part 2, section 3.3).
fn open_document_type(bytes: &[u8]) -> Option<String> {
    /// Bytes of the header of the first member and of its name.
    const START: usize = 30 + b"mimetype".len();
    /// The longest is `application/vnd.oasis.opendocument.presentation-template`.
    const TYPE_BYTES: usize = 64;
    let start = bytes.get(START..)?;
    let start = &start[..start.len().min(TYPE_BYTES)];
    let is_of_type = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'.' | b'-');
    let len = start.iter().take_while(|byte| is_of_type(byte)).count();
    let media_type = std::str::from_utf8(&start[..len]).ok()?;
    // The signature of the next member follows.
    let media_type = media_type.strip_suffix("PK").unwrap_or(media_type);
    media_type
        .starts_with("application/")
        .then(|| media_type.to_owned())
}

/// The media type of a document that has a part of this name.
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

/// State of reading one document.
struct OfficeReader<'l> {
    limits: &'l Limits,
    /// Number of bytes that may still be unpacked.
    unpacked_left: usize,
    problems: Problems,
    page: PageBuilder,
    /// External relationships by the name of the part that has them.
    links: BTreeMap<String, PartLinks>,
    media_type: Option<String>,
}

impl OfficeReader<'_> {
    /// Unpacks the members that `is_wanted` by their names, and passes each to `read`.
    fn each_member(
        &mut self,
        members: ZipMembers,
        is_wanted: fn(&str) -> bool,
        read: &mut dyn FnMut(&mut Self, &str, &str),
    ) {
        for member in members {
            let ZipMember { name, stream } = match member {
                Ok(member) => member,
                Err(diagnostic) => {
                    self.problems.add(
                        diagnostic.kind,
                        format!("a document: {}", diagnostic.message),
                    );
                    continue;
                }
            };
            let name = String::from_utf8_lossy(&name).replace('\\', "/");
            let name = name.trim_start_matches('/');
            if self.media_type.is_none() {
                self.media_type = office_open_xml_type(name);
            }
            if !is_wanted(name) {
                continue;
            }
            let Some(stream) = stream else {
                let message = format!(
                    "the part {name} of a document is encrypted or packed by an unknown method: it is not read"
                );
                self.problems.add(DiagnosticKind::Limit, message);
                continue;
            };
            let xml = self.unpack(name, stream);
            read(self, name, &decoded(&xml));
        }
    }

    /// Unpacks a member, up to its damage or a limit.
    fn unpack(&mut self, name: &str, mut stream: Box<dyn Read>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let result = (&mut stream)
            .take(self.unpacked_left as u64)
            .read_to_end(&mut bytes);
        self.unpacked_left -= bytes.len();
        if let Err(error) = result {
            let diagnostic = error_diagnostic(&error, None);
            let message = format!("the part {name} of a document: {}", diagnostic.message);
            self.problems.add(diagnostic.kind, message);
        } else if self.unpacked_left == 0 && !matches!(stream.read(&mut [0]), Ok(0)) {
            // The next byte may also be refused, as part of a bomb.
            let max = self.limits.message_bytes;
            let message = format!(
                "a document that unpacks to more than {max} bytes (message_bytes): the rest is not read"
            );
            self.problems.add(DiagnosticKind::Limit, message);
        }
        bytes
    }
}

fn is_relationships(name: &str) -> bool {
    name.ends_with(".rels") && (name.contains("_rels/"))
}

/// The name of the part that the relationships `word/_rels/document.xml.rels` belong to: `word/document.xml`.
fn part_of_relationships(name: &str) -> String {
    name.strip_suffix(".rels")
        .unwrap_or(name)
        .replacen("_rels/", "", 1)
}

/// Returns `true` for the parts whose text readers see.
fn is_content(name: &str) -> bool {
    /// Parts of Office Open XML that describe the look of others.
    const LOOKS: [&str; 13] = [
        "/theme/",
        "/slideLayouts/",
        "/slideMasters/",
        "/notesMasters/",
        "/handoutMasters/",
        "/printerSettings/",
        "/media/",
        "/styles",
        "/fontTable",
        "/numbering",
        "/settings",
        "/webSettings",
        "/tableStyles",
    ];
    let is_office_open_xml = ["word/", "xl/", "ppt/"]
        .iter()
        .any(|folder| name.starts_with(folder))
        && name.ends_with(".xml")
        && !LOOKS.iter().any(|look| name.contains(look));
    is_office_open_xml || is_open_document(name)
}

/// Returns `true` for the parts of ODF that hold text: the document, its headers and footers, and objects in it.
fn is_open_document(name: &str) -> bool {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    let is_office_open_xml = ["word/", "xl/", "ppt/"]
        .iter()
        .any(|folder| name.starts_with(folder));
    !is_office_open_xml && matches!(file, "content.xml" | "styles.xml")
}

/// The external relationships of one part.
#[derive(Default)]
struct PartLinks {
    by_id: HashMap<String, ExternalTarget>,
    /// The ids in the order of the file.
    ids: Vec<String>,
}

struct ExternalTarget {
    /// Shared with the links to it, of which there may be many.
    target: Rc<str>,
    use_: TargetUse,
    is_shown: bool,
}

/// Use of the target of a relationship.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetUse {
    Hyperlink,
    Image,
    /// A template, an embedded object, a frame, another workbook.
    Other,
}

impl PartLinks {
    /// Adds the external relationships of an XML text (ECMA-376 part 2, section 9.3).
    fn add(&mut self, xml: &str) {
        for token in XmlTokens::new(xml) {
            let XmlToken::Start { name, attributes } = token else {
                continue;
            };
            let is_external = || {
                attributes
                    .get("TargetMode")
                    .is_some_and(|mode| mode.eq_ignore_ascii_case("External"))
            };
            if local_name(name) != "Relationship" || !is_external() {
                continue;
            }
            let (Some(id), Some(target)) = (attributes.get("Id"), attributes.get("Target")) else {
                continue;
            };
            let kind = attributes.get("Type").unwrap_or_default();
            let use_ = match kind.rsplit_once('/').map_or("", |(_, kind)| kind) {
                "hyperlink" => TargetUse::Hyperlink,
                "image" => TargetUse::Image,
                _ => TargetUse::Other,
            };
            let external = ExternalTarget {
                target: target.into(),
                use_,
                is_shown: false,
            };
            if let Entry::Vacant(entry) = self.by_id.entry(id.into_owned()) {
                self.ids.push(entry.key().clone());
                entry.insert(external);
            }
        }
    }
}

/// Pass over one part.
struct PartPass<'p> {
    page: &'p mut PageBuilder,
    links: PartLinks,
    /// The name of the element whose end ends the open link.
    link_element: Option<&'static str>,
    /// The instruction of the field that is being read (ECMA-376 part 1, section 17.16).
    instruction: String,
    /// Number of the open elements whose text is visible.
    visible: usize,
}

/// Elements of Office Open XML whose character data readers see: runs of text, deleted text, formulas and values of cells.
const TEXT_ELEMENTS: [&str; 4] = ["t", "delText", "f", "v"];

/// Elements of ODF that do not end a line.
const INLINE_ELEMENTS: [&str; 14] = [
    "a",
    "span",
    "s",
    "bookmark",
    "bookmark-start",
    "bookmark-end",
    "reference-mark",
    "reference-mark-start",
    "reference-mark-end",
    "soft-page-break",
    "change",
    "change-start",
    "change-end",
    "ruby-base",
];

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

    fn office_open_xml(&mut self, xml: &str) {
        let mut is_instruction = false;
        for token in XmlTokens::new(xml) {
            match token {
                XmlToken::Start { name, attributes } => {
                    let name = local_name(name);
                    self.visible += usize::from(TEXT_ELEMENTS.contains(&name));
                    is_instruction |= name == "instrText";
                    self.start_of_element(name, attributes);
                }
                XmlToken::End { name } => {
                    let name = local_name(name);
                    if TEXT_ELEMENTS.contains(&name) {
                        self.visible = self.visible.saturating_sub(1);
                    }
                    is_instruction &= name != "instrText";
                    self.end_of_element(name);
                }
                XmlToken::Text(text) if is_instruction => {
                    add_to_instruction(&mut self.instruction, &text);
                }
                XmlToken::Text(text) if 0 < self.visible => self.page.text(&text),
                XmlToken::Text(_) => {}
            }
        }
    }

    fn start_of_element(&mut self, name: &str, attributes: Attributes<'_>) {
        match name {
            "hyperlink" => {
                if let Some(target) = attributes.get("id").and_then(|id| self.shown_target(&id)) {
                    self.page.open_link(&target);
                    self.link_element = Some("hyperlink");
                }
            }
            "fldSimple" => {
                let instruction = attributes.get("instr").unwrap_or_default();
                if let Some(target) = hyperlink_target(&instruction) {
                    self.page.open_link(&target);
                    self.link_element = Some("fldSimple");
                }
            }
            "fldChar" => match attributes.get("fldCharType").as_deref() {
                Some("begin") => self.instruction.clear(),
                Some("separate") => {
                    if let Some(target) = hyperlink_target(&std::mem::take(&mut self.instruction)) {
                        self.page.open_link(&target);
                        self.link_element = Some("field");
                    }
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
            "hyperlink" | "fldSimple" => self.close_link(name),
            // A paragraph, a string of a workbook, a cell and its parts, a comment.
            "p" | "si" | "c" | "f" | "v" | "comment" | "text" => self.page.line_break(),
            _ => {}
        }
    }

    /// Ends the open link if `element` began it.
    fn close_link(&mut self, element: &str) {
        if self.link_element == Some(element) {
            self.link_element = None;
            self.page.close_link();
        }
    }

    /// Returns the external target of a link in the text.
    fn shown_target(&mut self, id: &str) -> Option<Rc<str>> {
        let external = self.links.by_id.get_mut(id)?;
        external.is_shown = true;
        Some(Rc::clone(&external.target))
    }

    fn open_document(&mut self, xml: &str) {
        let mut in_link = false;
        for token in XmlTokens::new(xml) {
            match token {
                XmlToken::Start { name, attributes } => {
                    let name = local_name(name);
                    if !INLINE_ELEMENTS.contains(&name) {
                        self.page.line_break();
                    }
                    if name == "s" {
                        self.page.text(" ");
                    }
                    let target = attributes
                        .into_iter()
                        .find(|(attribute, _)| *attribute == "xlink:href")
                        .map(|(_, target)| target)
                        .filter(|target| is_absolute(target));
                    match target {
                        Some(target) if name == "a" => {
                            self.page.open_link(&target);
                            in_link = true;
                        }
                        Some(target) if name == "image" => self.page.image(&target),
                        Some(target) => self.page.linked_object(&target),
                        None => {}
                    }
                }
                XmlToken::End { name } => {
                    let name = local_name(name);
                    if name == "a" && std::mem::take(&mut in_link) {
                        self.page.close_link();
                    }
                    if !INLINE_ELEMENTS.contains(&name) {
                        self.page.line_break();
                    }
                }
                XmlToken::Text(text) => self.page.text(&text),
            }
        }
    }

    /// Appends the targets that are in no text.
    fn end(self) {
        self.page.close_link();
        self.page.line_break();
        for id in &self.links.ids {
            match self.links.by_id.get(id) {
                Some(external) if !external.is_shown => match external.use_ {
                    TargetUse::Hyperlink => self.page.link(&external.target),
                    TargetUse::Image => self.page.image(&external.target),
                    TargetUse::Other => self.page.linked_object(&external.target),
                },
                _ => {}
            }
        }
    }
}

/// Returns `true` for a target outside the document: with a scheme.
fn is_absolute(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}
