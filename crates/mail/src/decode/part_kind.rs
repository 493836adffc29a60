//! Kinds of parts: selects the reader of a part's body by media type, name and content.
//!
//! A specific media type decides. Mailers without a better type use opaque ones such as
//! `application/octet-stream`. The name then decides, or the content if the name is no help. The
//! content can always overrule: binary bytes are not text.

use std::collections::BTreeMap;

use super::binary::uudecode;
use super::form::TextForm;
use super::transfer::{DelSp, TransferEncoding, base64, quoted_printable};
use crate::documents::DocumentKind;
use crate::lines::is_listed;
use crate::split::{Format, detect_format};
use urlspool_text::limits::SNIFF_BYTES;
use urlspool_text::origin::FormatHint;

/// Reader of a part's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PartReader {
    /// One text.
    Text(TextForm),
    /// A message, with a header and parts of its own.
    Message,
    /// Messages in sequence, in this format.
    Mailbox(Format),
    /// An archive or compressed file. Each member has a separate reader.
    Archive,
    /// A document: a page of text and links, or a message.
    Document(DocumentKind),
    /// None: the part is skipped and counted.
    #[default]
    Unread,
}

/// Kind of part: media types, file extensions, and the reader.
struct PartKind {
    reader: PartReader,
    /// Media types in lower case, separated by blanks.
    media_types: &'static str,
    /// Extensions without the dot, in lower case, separated by blanks.
    extensions: &'static str,
}

/// Kinds that are read, and kinds that must not be mistaken for one of those by name or first
/// bytes. Types that start with `text/` or `message/` are texts without a row.
const KINDS: &[PartKind] = &[
    PartKind {
        reader: PartReader::Text(TextForm::Html),
        media_types: "text/html application/xhtml+xml application/vnd.wap.xhtml+xml \
            application/x-html+xml image/svg+xml text/watch-html text/x-amp-html",
        // macOS's `.webloc` is an XML property list: the element `string` holds the URL.
        extensions: "htm html shtml xhtml xht svg webloc",
    },
    PartKind {
        reader: PartReader::Text(TextForm::Calendar),
        media_types: "text/calendar text/vcard text/x-vcard text/x-vcalendar text/directory \
            application/ics",
        extensions: "ics ical ifb vcs vcf vcard",
    },
    PartKind {
        reader: PartReader::Text(TextForm::Xml),
        media_types: "application/xml text/sgml text/xml",
        extensions: "atom opml rdf rss sgml xml",
    },
    PartKind {
        reader: PartReader::Text(TextForm::Json),
        media_types: "application/json",
        extensions: "json jsonl ndjson",
    },
    PartKind {
        reader: PartReader::Text(TextForm::Cells),
        media_types: "application/csv text/csv text/tab-separated-values",
        extensions: "csv tsv",
    },
    PartKind {
        reader: PartReader::Text(TextForm::Plain),
        media_types: "application/internet-shortcut application/pgp application/text \
            application/x-internet-shortcut application/x-mswinurl application/x-patch \
            application/x-troff application/x-troff-man application/x-troff-me \
            application/x-troff-ms application/yaml",
        extensions: "txt text asc log patch diff md markdown url man",
    },
    PartKind {
        reader: PartReader::Mailbox(Format::Mbox),
        media_types: "application/mbox",
        extensions: "mbox",
    },
    PartKind {
        reader: PartReader::Message,
        media_types: MESSAGES,
        extensions: "eml mht mhtml",
    },
    PartKind {
        reader: PartReader::Archive,
        media_types: "application/gzip application/x-bzip application/x-bzip2 \
            application/x-compress application/x-compressed application/x-compressed-tar \
            application/x-gtar application/x-gtar-compressed application/x-gzip \
            application/x-lz4 application/x-tar application/x-xz application/x-zip \
            application/x-zip-compressed application/x-zstd application/zip application/zstd",
        extensions: "zip tar gz tgz bz2 tbz tbz2 xz txz zst tzst lz4 z",
    },
    // Signatures and keys are text, but contain no words by the author. Their names end in `.asc`.
    PartKind {
        reader: PartReader::Unread,
        media_types: "application/pgp-encrypted application/pgp-keys application/pgp-signature \
            application/pkcs7-signature application/x-pkcs7-signature",
        extensions: "p7s sig gpg pgp key",
    },
    PartKind {
        reader: PartReader::Document(DocumentKind::Signed),
        media_types: "application/pkcs7-mime application/x-pkcs7-mime",
        extensions: "p7m",
    },
    PartKind {
        reader: PartReader::Document(DocumentKind::Tnef),
        media_types: "application/ms-tnef application/vnd.ms-tnef",
        extensions: "tnef",
    },
    PartKind {
        reader: PartReader::Document(DocumentKind::Office),
        media_types: "application/vnd.ms-excel.sheet.macroenabled.12 \
            application/vnd.ms-powerpoint.presentation.macroenabled.12 \
            application/vnd.ms-word.document.macroenabled.12 \
            application/vnd.oasis.opendocument.graphics \
            application/vnd.oasis.opendocument.presentation \
            application/vnd.oasis.opendocument.spreadsheet \
            application/vnd.oasis.opendocument.text \
            application/vnd.openxmlformats-officedocument.presentationml.presentation \
            application/vnd.openxmlformats-officedocument.presentationml.slideshow \
            application/vnd.openxmlformats-officedocument.spreadsheetml.sheet \
            application/vnd.openxmlformats-officedocument.wordprocessingml.document \
            application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        extensions: "docx docm dotx xlsx xlsm pptx ppsx odt ods odp odg",
    },
    PartKind {
        reader: PartReader::Document(DocumentKind::Pdf),
        media_types: "application/pdf application/x-pdf",
        extensions: "pdf",
    },
    PartKind {
        reader: PartReader::Document(DocumentKind::Rtf),
        media_types: "application/rtf application/x-rtf text/rtf",
        extensions: "rtf",
    },
    // Most are from Office before 2007 and not read; some are RTF or HTML.
    PartKind {
        reader: PartReader::Document(DocumentKind::Compound),
        media_types: "application/msword application/vnd.ms-excel application/vnd.ms-outlook \
            application/vnd.ms-powerpoint",
        extensions: "msg doc xls ppt",
    },
    // Books and programs that are zip archives without mail.
    PartKind {
        reader: PartReader::Unread,
        media_types: "",
        extensions: "epub jar war apk xpi kmz whl",
    },
];

/// Media types of messages: RFC 2046 section 5.2.1, the form for news, and RFC 6532 section 3.7.
pub(super) const MESSAGES: &str = "message/rfc822 message/news message/global";

/// Opaque subtypes of `application/`, and the name of MHTML, which is a message. Types with an
/// unknown top-level type count as opaque too (RFC 2046 section 4.5.1 treats unknown types as
/// `application/octet-stream`).
const OPAQUE: &str = "octet-stream octetstream octet x-octet-stream x-octetstream binary x-binary \
    unknown x-unknown download x-download force-download x-force-download default \
    x-mimearchive";

/// Registered top-level media types (RFC 6838 section 4.2).
const REGISTERED: &str = "application audio example font image message model multipart text video";

/// Returns the form of a text by its media type in lower case and its parameters, or
/// [`TextForm::Other`] for a non-text type. The parameters of RFC 3676 and the name count for plain
/// text.
pub(super) fn text_form(media_type: &str, parameters: &BTreeMap<String, String>) -> TextForm {
    if media_type == "text/plain" {
        let is = |name, word| {
            let value = parameters.get(name);
            value.is_some_and(|value: &String| value.trim().eq_ignore_ascii_case(word))
        };
        return match (is("format", "flowed"), is("delsp", "yes")) {
            (true, true) => TextForm::Flowed(DelSp::Yes),
            (true, false) => TextForm::Flowed(DelSp::No),
            (false, _) => parameters
                .get("name")
                .map_or(TextForm::Plain, |name| form_of_name(name)),
        };
    }
    if media_type.starts_with("multipart/") {
        return TextForm::Plain;
    }
    let is_text = is_text(media_type);
    match kind_of_type(media_type) {
        Some(PartReader::Text(form)) => form,
        Some(PartReader::Message) => TextForm::Plain,
        // RTF is text without the document reader, as before.
        Some(PartReader::Document(_)) if is_text && !cfg!(feature = "files") => TextForm::Plain,
        None if is_text && media_type.ends_with("+xml") => TextForm::Xml,
        None if is_text && media_type.ends_with("+json") => TextForm::Json,
        None if is_text => TextForm::Plain,
        _ => TextForm::Other,
    }
}

/// Returns the form of a text file with this name, perhaps a compressed one; plain unless the name
/// is specific.
#[must_use]
pub fn form_of_name(name: &str) -> TextForm {
    let is_packed = kind_of_name(name) == Some(PartReader::Archive);
    let inner = name.rsplit_once('.').filter(|_| is_packed);
    let name = inner.map_or(name, |(inner, _)| inner);
    match kind_of_name(name) {
        Some(PartReader::Text(form)) => form,
        _ => TextForm::Plain,
    }
}

/// Returns `true` for top-level types that are always read as text, and for XML and JSON types (RFC
/// 7303, RFC 6839).
fn is_text(media_type: &str) -> bool {
    let is_structured = media_type.ends_with("+xml") || media_type.ends_with("+json");
    media_type.starts_with("text/")
        || media_type.starts_with("message/")
        || is_structured && media_type.starts_with("application/")
}

fn kind_of_type(media_type: &str) -> Option<PartReader> {
    let mut kinds = KINDS.iter();
    let kind = kinds.find(|kind| is_listed(kind.media_types, media_type.as_bytes()))?;
    Some(kind.reader)
}

/// Returns the reader for a name, which may be a path. Returns `None` if the extension is in no
/// row.
pub(super) fn kind_of_name(name: &str) -> Option<PartReader> {
    let (_, extension) = name.rsplit_once('.')?;
    let mut kinds = KINDS.iter();
    let kind = kinds.find(|kind| is_listed(kind.extensions, extension.trim().as_bytes()))?;
    Some(kind.reader)
}

/// Returns the reader of a part with a non-text media type, in lower case. `raw` is the encoded
/// body.
pub(super) fn reader(
    media_type: &str,
    name: Option<&str>,
    raw: &[u8],
    encoding: TransferEncoding,
) -> PartReader {
    let by_type = kind_of_type(media_type);
    let (first_word, subtype) = media_type.split_once('/').unwrap_or((media_type, ""));
    let is_opaque = first_word == "application" && is_listed(OPAQUE, subtype.as_bytes())
        || !is_listed(REGISTERED, first_word.as_bytes());
    let may_have_name = is_opaque || first_word == "application";
    let by_name = name.filter(|_| may_have_name).and_then(kind_of_name);
    match by_type.or(by_name) {
        None if !is_opaque => PartReader::Unread,
        Some(PartReader::Unread) => PartReader::Unread,
        named => by_content(named, &decoded_start(raw, encoding)),
    }
}

/// Returns the reader of bytes that start with `start`. The name suggests the reader `named`.
pub(super) fn by_content(named: Option<PartReader>, start: &[u8]) -> PartReader {
    #[cfg(feature = "files")]
    if let Some(reader) = container_reader(start) {
        return reader;
    }
    let found = match detect_format(start, None, FormatHint::None) {
        Err(_) => return PartReader::Unread,
        Ok(Format::Html) => PartReader::Text(TextForm::Html),
        Ok(Format::Text) => PartReader::Text(TextForm::Plain),
        Ok(Format::Single(_)) => PartReader::Message,
        Ok(Format::Document(kind)) => PartReader::Document(kind),
        Ok(format) => PartReader::Mailbox(format),
    };
    match (named, found) {
        (_, PartReader::Document(_)) => found,
        (Some(PartReader::Text(TextForm::Plain)), PartReader::Text(TextForm::Html)) => found,
        // The name of a text is more specific about its form. A text such as a patch can look like
        // a message at the start.
        (Some(PartReader::Text(form)), _) => PartReader::Text(form),
        (Some(PartReader::Message), PartReader::Text(_)) => PartReader::Message,
        // Word uses the names of its own documents for pages and texts.
        (
            Some(PartReader::Document(DocumentKind::Rtf | DocumentKind::Compound)),
            PartReader::Text(_),
        ) if cfg!(feature = "files") => found,
        (Some(PartReader::Document(_)), _) => PartReader::Unread,
        _ => found,
    }
}

/// Returns the reader of a container that starts with `start`, or no reader for a zip that is a
/// document or a program. Those formats prescribe the name of the first member.
#[cfg(feature = "files")]
fn container_reader(start: &[u8]) -> Option<PartReader> {
    /// Length of the header before a member's name.
    const HEADER_BYTES: usize = 30;
    const NAMES: &str =
        "[Content_Types].xml _rels/ docProps/ mimetype META-INF/ AndroidManifest.xml";
    let magic = &start[..start.len().min(urlspool_text::limits::MAGIC_BYTES)];
    let name = start.get(HEADER_BYTES..).unwrap_or_default();
    let mut names = NAMES.split(' ').map(str::as_bytes);
    let is_document =
        start.starts_with(b"PK\x03\x04") && names.any(|first| name.starts_with(first));
    urlspool_sources::read::is_container(magic).then_some(if is_document {
        PartReader::Unread
    } else {
        PartReader::Archive
    })
}

/// Decodes enough of the start of a body to recognise its format.
pub(super) fn decoded_start(raw: &[u8], encoding: TransferEncoding) -> Vec<u8> {
    // Base64 with line ends takes 1.37 bytes per byte, and quoted-printable up to three.
    let raw = &raw[..raw.len().min(SNIFF_BYTES)];
    match encoding {
        TransferEncoding::Identity => raw.to_vec(),
        TransferEncoding::QuotedPrintable => quoted_printable(raw).bytes,
        TransferEncoding::Base64 => base64(raw).bytes,
        TransferEncoding::Uuencode => uudecode(raw).bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(media_type: &str, name: Option<&str>, raw: &[u8]) -> PartReader {
        reader(media_type, name, raw, TransferEncoding::Identity)
    }

    const OCTETS: &str = "application/octet-stream";
    const PLAIN: PartReader = PartReader::Text(TextForm::Plain);
    const PDF: PartReader = if cfg!(feature = "files") {
        PartReader::Document(DocumentKind::Pdf)
    } else {
        PartReader::Unread
    };
    const HTML: PartReader = PartReader::Text(TextForm::Html);

    #[test]
    fn each_type_and_extension_is_in_one_row() {
        for names in [
            |kind: &PartKind| kind.media_types,
            |kind: &PartKind| kind.extensions,
        ] {
            let all: Vec<_> = KINDS
                .iter()
                .flat_map(|kind| names(kind).split_whitespace())
                .collect();
            let distinct: std::collections::BTreeSet<_> = all.iter().collect();
            assert_eq!(all.len(), distinct.len());
        }
    }

    #[test]
    fn the_name_of_an_opaque_part_decides() {
        for (name, expected) in [
            ("a.txt", PLAIN),
            ("A.HTML", HTML),
            ("a.ics", PartReader::Text(TextForm::Calendar)),
            ("dir/a.b.eml", PartReader::Message),
            ("a.docx", PartReader::Unread),
            ("a.pdf", PartReader::Unread),
            ("a.asc.sig", PartReader::Unread),
        ] {
            assert_eq!(of(OCTETS, Some(name), b"some text\n"), expected, "{name}");
        }
        assert_eq!(of("application/x-foo", Some("a.md"), b"some text\n"), PLAIN);
        assert_eq!(of("x-foo/bar", Some("a.md"), b"some text\n"), PLAIN);
        assert_eq!(
            of("image/png", Some("a.html"), b"<html>"),
            PartReader::Unread
        );
        assert_eq!(
            of(
                "application/pgp-signature",
                Some("signature.asc"),
                b"-----BEGIN\n"
            ),
            PartReader::Unread
        );
    }

    #[test]
    fn the_content_of_an_opaque_part_decides_without_a_name() {
        let message = b"From: a@b.example\nSubject: c\n\nd\n";
        let mbox = b"From a@b Mon Jan  1 00:00:00 1996\nFrom: a\n\nd\n";
        for (content, expected) in [
            (&b"some text\n"[..], PLAIN),
            (b"<!DOCTYPE html>\n<p>x", HTML),
            (message, PartReader::Message),
            (mbox, PartReader::Mailbox(Format::Mbox)),
            (b"\x00\x01\x02\x03\x04", PartReader::Unread),
            (b"%PDF-1.4\ntext", PDF),
            (b"", PartReader::Unread),
        ] {
            assert_eq!(of(OCTETS, None, content), expected);
            assert_eq!(of("application/x-foo", None, content), PartReader::Unread);
        }
        assert_eq!(
            of(OCTETS, Some("a.txt"), b"\x00\x01\x02\x03"),
            PartReader::Unread
        );
        assert_eq!(of(OCTETS, Some("a.txt"), message), PLAIN);
        assert_eq!(
            of(OCTETS, Some("a.mbox"), mbox),
            PartReader::Mailbox(Format::Mbox)
        );
    }

    #[test]
    fn texts_have_forms_by_their_types() {
        let of = |media_type| text_form(media_type, &BTreeMap::new());
        assert_eq!(form_of_name("a.csv.gz"), TextForm::Cells);
        assert_eq!(of("image/svg+xml"), TextForm::Html);
        assert_eq!(of("application/rss+xml"), TextForm::Xml);
        assert_eq!(of("application/x-troff-man"), TextForm::Plain);
        assert_eq!(of("image/png"), TextForm::Other);
        let flowed = [("format", "Flowed"), ("delsp", "yes")];
        let flowed = flowed.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            text_form("text/plain", &BTreeMap::from(flowed)),
            TextForm::Flowed(DelSp::Yes)
        );
    }
}
