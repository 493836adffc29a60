//! Outlook messages (MS-OXMSG): properties in the streams of a compound file.
//!
//! The crate `cfb` reads the compound file. It refuses sector chains that form a cycle or share
//! sectors.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Cursor};

use cfb::CompoundFile;
use encoding_rs::{Encoding, WINDOWS_1252};

use super::mapi::{MimeWriter, OBJECT, Properties, property, report_depth};
use super::{DocumentContent, DocumentReading, Unpacking};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
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

/// Storage of a message or of an attachment in it.
struct Storage<'r, 'b> {
    reader: &'r mut OutlookReader<'b>,
    /// Path with a trailing slash.
    path: String,
    /// Properties of a fixed size.
    fixed: Vec<u8>,
    /// Encoding of byte strings.
    encoding: &'static Encoding,
}

impl<'b> Properties<'b> for Storage<'_, 'b> {
    fn value(&mut self, id: u16, kind: u16) -> Option<Cow<'b, [u8]>> {
        let path = format!("{}__substg1.0_{id:04X}{kind:04X}", self.path);
        self.reader.stream(&path).map(Cow::Owned)
    }

    fn fixed(&self, id: u16) -> Option<u64> {
        self.fixed.chunks_exact(16).find_map(|entry| {
            let value: [u8; 8] = entry[8..].try_into().ok()?;
            (entry[2..4] == id.to_le_bytes()).then(|| u64::from_le_bytes(value))
        })
    }

    fn encoding(&self) -> &'static Encoding {
        self.encoding
    }

    fn unpacking(&mut self) -> &mut Unpacking<'b> {
        &mut self.reader.unpacking
    }
}

impl OutlookReader<'_> {
    /// Returns the message with all messages attached to it.
    fn messages(&mut self) -> Vec<u8> {
        let mut mime = MimeWriter::default();
        // Header length of a root storage (MS-OXMSG section 2.4.1).
        self.message("/".to_owned(), 32, &mut mime);
        while let Some(path) = self.attached.pop_front() {
            if self.is_at_limit() {
                break;
            }
            self.message(path, 24, &mut mime);
        }
        mime.finish()
    }

    /// Reads the message in the storage at `path`, with its attachments. `header_bytes` precede its
    /// fixed-size properties. Queues attached messages.
    fn message(&mut self, path: String, header_bytes: usize, mime: &mut MimeWriter) {
        let properties = self.stream(&format!("{path}__properties_version1.0"));
        let properties = properties.unwrap_or_default();
        let mut storage = Storage {
            reader: self,
            path,
            fixed: properties.get(header_bytes..).unwrap_or_default().to_vec(),
            encoding: WINDOWS_1252,
        };
        let named = storage.code_page(property::MESSAGE_CODEPAGE);
        let named = named.or_else(|| storage.code_page(property::INTERNET_CODEPAGE));
        storage.encoding = named.unwrap_or(WINDOWS_1252);
        mime.message(&mut storage);
        let Storage { path, encoding, .. } = storage;
        for name in self.attachments(&path) {
            let path = format!("{path}{name}/");
            mime.attachment(&mut Storage {
                reader: self,
                path: path.clone(),
                fixed: Vec::new(),
                encoding,
            });
            let data = property::ATTACH_DATA;
            let inner = format!("{path}__substg1.0_{data:04X}{OBJECT:04X}/");
            let properties = format!("{inner}__properties_version1.0");
            if !self.file.is_stream(properties) {
                continue;
            }
            // The depth is bounded, because each stream look-up walks the path of the storage. An
            // attachment and the message in it are two storages.
            if inner.matches('/').count() / 2 <= self.unpacking.limits.mime_depth {
                self.attached.push_back(inner);
            } else {
                report_depth(&mut self.unpacking);
            }
        }
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
        let damage = |error: &io::Error| {
            let message = format!("a damaged Outlook message: {error}");
            Diagnostic::new(DiagnosticKind::Damage, message)
        };
        let unpacking = &mut self.unpacking;
        Some(match self.file.open_stream(path) {
            Ok(stream) => unpacking.unpack("an Outlook message", stream, damage),
            Err(error) => {
                unpacking.add(damage(&error));
                Vec::new()
            }
        })
    }

    /// Returns the names of the storages of a message's attachments.
    fn attachments(&mut self, path: &str) -> Vec<String> {
        let entries = self.file.read_storage(path).into_iter().flatten();
        entries
            .filter(|entry| entry.is_storage() && entry.name().starts_with("__attach_version1.0_"))
            .map(|entry| entry.name().to_owned())
            .take(OUTLOOK_STREAMS)
            .collect()
    }
}
