//! Outlook messages (MS-OXMSG): properties in the streams of a compound file, converted to a MIME
//! message.
//!
//! The message has the header fields of its transport, or fields made from its properties. Its
//! bodies, its attachments and all messages attached to it follow, nested ones too, as parts on one
//! level. All parts are in base64, so a boundary cannot occur in them.
//!
//! The crate `cfb` reads the compound file. It refuses sector chains that form a cycle or share
//! sectors.

use std::collections::VecDeque;
use std::io::{self, Cursor};

use cfb::CompoundFile;
use data_encoding::BASE64_MIME;
use encoding_rs::{Encoding, WINDOWS_1252};

use super::mapi::{
    BINARY, INNER_BOUNDARY, OBJECT, OUTER_BOUNDARY, STRING8, UNICODE, decoded, media_type,
    multipart, one_line, property, push_line, rfc_5322_date, transported_lines, unpacked_rtf,
};
use super::rtf::{self, encoding_of_code_page};
use super::{DocumentContent, DocumentReading, Unpacking};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::grammar::encode;
use urlspool_text::limits::{Limits, OUTLOOK_STREAMS};

/// Reads a compound file.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let mut unpacking = Unpacking::new(limits);
    let file = match CompoundFile::open(Cursor::new(bytes)) {
        Ok(file) => file,
        Err(error) => {
            let message = format!("a damaged Outlook message or Office document: {error}");
            unpacking.problem(DiagnosticKind::Damage, message);
            return unpacking.reading(DocumentContent::Unread);
        }
    };
    // A compound file without message properties holds an Office document from before 2007, or an
    // encrypted modern one.
    if !file.is_stream("/__properties_version1.0") {
        return DocumentReading::default();
    }
    let mut reader = OutlookReader {
        file,
        unpacking,
        streams_left: OUTLOOK_STREAMS,
        attached: VecDeque::new(),
    };
    let message = reader.messages();
    reader.unpacking.reading(DocumentContent::Message(message))
}

/// State of reading one file.
struct OutlookReader<'b> {
    file: CompoundFile<Cursor<&'b [u8]>>,
    unpacking: Unpacking<'b>,
    /// Number of streams that may still be read.
    streams_left: usize,
    /// Storages of attached messages that were not read yet.
    attached: VecDeque<String>,
}

/// Storage of a message: its path with a trailing slash, and its fixed-size properties.
struct MessageStorage {
    path: String,
    fixed: Vec<u8>,
    /// Encoding of its byte strings.
    encoding: &'static Encoding,
}

impl MessageStorage {
    /// Returns the value of a fixed-size property.
    fn fixed(&self, id: u16) -> Option<u64> {
        self.fixed.chunks_exact(16).find_map(|entry| {
            let value: [u8; 8] = entry[8..].try_into().ok()?;
            (entry[2..4] == id.to_le_bytes()).then(|| u64::from_le_bytes(value))
        })
    }

    /// Returns the encoding of a property that holds a code page number.
    fn code_page(&self, id: u16) -> Option<&'static Encoding> {
        encoding_of_code_page(self.fixed(id)? as i32)
    }
}

impl OutlookReader<'_> {
    /// Returns the message with all messages attached to it.
    fn messages(&mut self) -> Vec<u8> {
        // Header length of a root storage (MS-OXMSG section 2.4.1).
        let outermost = self.storage("/", 32);
        let mut message = self.header(&outermost);
        push_line(&mut message, &multipart(OUTER_BOUNDARY));
        self.parts(&outermost, OUTER_BOUNDARY, &mut message);
        while let Some(path) = self.attached.pop_front() {
            if self.is_at_limit() {
                break;
            }
            let storage = self.storage(&path, 24);
            let part = format!("--{OUTER_BOUNDARY}\nContent-Type: message/rfc822\n");
            push_line(&mut message, &part);
            message.extend_from_slice(&self.header(&storage));
            push_line(&mut message, &multipart(INNER_BOUNDARY));
            self.parts(&storage, INNER_BOUNDARY, &mut message);
            push_line(&mut message, &format!("--{INNER_BOUNDARY}--"));
        }
        push_line(&mut message, &format!("--{OUTER_BOUNDARY}--"));
        message
    }

    /// Opens the storage of a message. `header_bytes` precede its fixed-size properties.
    fn storage(&mut self, path: &str, header_bytes: usize) -> MessageStorage {
        let properties = self
            .stream(&format!("{path}__properties_version1.0"))
            .unwrap_or_default();
        let mut storage = MessageStorage {
            path: path.to_owned(),
            fixed: properties.get(header_bytes..).unwrap_or_default().to_vec(),
            encoding: WINDOWS_1252,
        };
        let named = storage.code_page(property::MESSAGE_CODEPAGE);
        let named = named.or_else(|| storage.code_page(property::INTERNET_CODEPAGE));
        storage.encoding = named.unwrap_or(WINDOWS_1252);
        storage
    }

    /// Returns `true` if a limit is reached.
    fn is_at_limit(&self) -> bool {
        self.streams_left == 0 || self.unpacking.left == 0
    }

    /// Reads a stream up to its damage or a limit. Returns `None` if there is no such stream.
    fn stream(&mut self, path: &str) -> Option<Vec<u8>> {
        if !self.file.is_stream(path) {
            return None;
        }
        if self.is_at_limit() {
            let max = self.unpacking.limits.message_bytes;
            let message = format!(
                "an Outlook message of more than {max} bytes (message_bytes) or {OUTLOOK_STREAMS} \
                 streams: the rest is not read"
            );
            self.unpacking.problem(DiagnosticKind::Limit, message);
            return None;
        }
        self.streams_left -= 1;
        let damage = |error: &io::Error| format!("a damaged Outlook message: {error}");
        match self.file.open_stream(path) {
            Ok(stream) => Some(
                self.unpacking
                    .unpack("an Outlook message", stream, |error| {
                        Diagnostic::new(DiagnosticKind::Damage, damage(error))
                    }),
            ),
            Err(error) => {
                self.unpacking
                    .problem(DiagnosticKind::Damage, damage(&error));
                Some(Vec::new())
            }
        }
    }

    /// Reads a property of this type.
    fn property(&mut self, path: &str, id: u16, kind: u16) -> Option<Vec<u8>> {
        self.stream(&format!("{path}__substg1.0_{id:04X}{kind:04X}"))
    }

    /// Reads a text property.
    fn text(&mut self, path: &str, id: u16, encoding: &'static Encoding) -> Option<String> {
        let text = match self.property(path, id, UNICODE) {
            Some(bytes) => decoded(&bytes, encoding_rs::UTF_16LE),
            None => decoded(&self.property(path, id, STRING8)?, encoding),
        };
        let text = text.trim_end_matches('\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the header fields of a message, except the MIME fields.
    fn header(&mut self, storage: &MessageStorage) -> Vec<u8> {
        let mut header = Vec::new();
        let mut text = |id| self.text(&storage.path, id, storage.encoding);
        let transported = text(property::TRANSPORT_MESSAGE_HEADERS).unwrap_or_default();
        for line in transported_lines(&transported) {
            push_line(&mut header, line);
        }
        if !header.is_empty() {
            return header;
        }
        let name = text(property::SENDER_NAME);
        let address =
            text(property::SENDER_SMTP_ADDRESS).or_else(|| text(property::SENDER_EMAIL_ADDRESS));
        let sender = match (name, address) {
            (Some(name), Some(address)) if name != address && address.contains('@') => {
                Some(format!("{name} <{address}>"))
            }
            (name, address) => name.or(address),
        };
        let date = [
            property::CLIENT_SUBMIT_TIME,
            property::MESSAGE_DELIVERY_TIME,
        ]
        .into_iter()
        .find_map(|id| rfc_5322_date(storage.fixed(id)?));
        let fields = [
            ("From", sender),
            ("To", text(property::DISPLAY_TO)),
            ("Cc", text(property::DISPLAY_CC)),
            ("Subject", text(property::SUBJECT)),
            ("Message-ID", text(property::INTERNET_MESSAGE_ID)),
            ("Date", date),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                push_line(&mut header, &format!("{name}: {}", one_line(&value)));
            }
        }
        header
    }

    /// Appends the bodies and attachments of a message, each after a boundary. Queues attached
    /// messages.
    fn parts(&mut self, storage: &MessageStorage, boundary: &str, message: &mut Vec<u8>) {
        let path = &storage.path;
        let mut part = |content_type: &str, bytes: &[u8]| {
            let header = format!(
                "--{boundary}\nContent-Type: {content_type}\nContent-Transfer-Encoding: base64\n"
            );
            push_line(message, &header);
            message.extend_from_slice(BASE64_MIME.encode(bytes).as_bytes());
        };
        if let Some(body) = self.text(path, property::BODY, storage.encoding) {
            part("text/plain; charset=utf-8", body.as_bytes());
        }
        let html = self.property(path, property::HTML, BINARY);
        if let Some(html) = html {
            let charset = storage.code_page(property::INTERNET_CODEPAGE);
            let charset = charset.map_or(String::new(), |encoding| {
                format!("; charset={}", encoding.name())
            });
            part(&format!("text/html{charset}"), &html);
        } else if let Some(html) = self.text(path, property::HTML, storage.encoding) {
            part("text/html; charset=utf-8", html.as_bytes());
        } else if let Some(packed) = self.property(path, property::RTF_COMPRESSED, BINARY)
            && let Some(page) = self.page_of_rtf(&packed)
        {
            part("text/html; charset=utf-8", &page);
        }
        for name in self.attachments(path) {
            let path = format!("{path}{name}/");
            let mut text = |id| self.text(&path, id, storage.encoding);
            let name =
                text(property::ATTACH_LONG_FILENAME).or_else(|| text(property::ATTACH_FILENAME));
            let media_type = text(property::ATTACH_MIME_TAG).and_then(|tag| media_type(&tag));
            // An attachment that is stored elsewhere.
            if let Some(elsewhere) = text(property::ATTACH_LONG_PATHNAME) {
                part("text/plain; charset=utf-8", elsewhere.as_bytes());
            }
            if let Some(bytes) = self.property(&path, property::ATTACH_DATA, BINARY) {
                let media_type = media_type.as_deref().unwrap_or("application/octet-stream");
                let name = name.map_or(String::new(), |name| {
                    let is_plain =
                        |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
                    format!("; name*=utf-8''{}", encode(name.as_bytes(), is_plain))
                });
                part(&format!("{media_type}{name}"), &bytes);
            }
            let data = property::ATTACH_DATA;
            let inner = format!("{path}__substg1.0_{data:04X}{OBJECT:04X}/");
            let properties = format!("{inner}__properties_version1.0");
            if !self.file.is_stream(properties) {
                continue;
            }
            // The depth is bounded, because each stream look-up walks the path of the storage. An
            // attachment and the message in it are two storages.
            let max = self.unpacking.limits.mime_depth;
            if inner.matches('/').count() / 2 <= max {
                self.attached.push_back(inner);
                continue;
            }
            let message =
                format!("Outlook messages inside more than {max} others (mime_depth) are not read");
            self.unpacking.problem(DiagnosticKind::Limit, message);
        }
    }

    /// Returns the names of the storages of a message's attachments.
    fn attachments(&mut self, path: &str) -> Vec<String> {
        let Ok(entries) = self.file.read_storage(path) else {
            return Vec::new();
        };
        entries
            .filter(|entry| entry.is_storage() && entry.name().starts_with("__attach_version1.0_"))
            .map(|entry| entry.name().to_owned())
            .take(OUTLOOK_STREAMS)
            .collect()
    }

    /// Returns the page of a body in compressed RTF.
    fn page_of_rtf(&mut self, packed: &[u8]) -> Option<Vec<u8>> {
        let Some(rtf) = unpacked_rtf(packed, self.unpacking.left) else {
            let message = "the packed body of an Outlook message is damaged";
            self.unpacking.problem(DiagnosticKind::Damage, message);
            return None;
        };
        self.unpacking.left -= rtf.len().min(self.unpacking.left);
        let reading = rtf::read(&rtf, self.unpacking.limits);
        for problem in reading.problems {
            self.unpacking.problem(problem.kind, problem.message);
        }
        match reading.content {
            DocumentContent::Page(page) => Some(page),
            DocumentContent::Message(_) | DocumentContent::Unread => None,
        }
    }
}
