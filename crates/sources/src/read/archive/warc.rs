//! WARC: archives of web pages (ISO 28500:2017), read record by record.
//!
//! The content of `response`, `resource` and `conversion` records are members. Of an HTTP response,
//! the member is the body without its transfer encoding; a body with the content encoding gzip is
//! compressed data, like any other member.
//!
//! After damage, reading resumes at the next line that starts a record. A record has the length
//! that its header states, or ends before the next record, so a wrong length hides no record.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use super::{ArchiveEntry, EntryContent, EntryData, INPUT_BYTES, number, truncated_member};
use crate::read::error::{self, error_diagnostic};
use urlspool_text::diagnostic::{DiagnosticKind, SkipReason};
use urlspool_text::limits::WARC_HEAD_BYTES;
use urlspool_text::origin::WebPage;

/// Start of a record. A version follows.
const MARK: &[u8] = b"WARC/";

/// Returns `true` if a source that starts with `start` is a WARC.
pub(super) fn is_warc(start: &[u8]) -> bool {
    let version = start.strip_prefix(MARK).unwrap_or_default();
    matches!(version, [b'0'..=b'9', b'.', b'0'..=b'9', ..])
}

/// Reader of a WARC, and of its current record. All clones share one position.
#[derive(Clone)]
pub(in crate::read) struct WarcReader(Rc<RefCell<WarcState>>);

struct WarcState {
    input: BufReader<Box<dyn Read>>,
    /// Number of bytes read.
    position: u64,
    /// Offset of the last record.
    start: u64,
    /// Number of bytes left in the record.
    left: u64,
    /// The part of the record's last line that was not returned yet.
    line: VecDeque<u8>,
    is_after_blank_line: bool,
    /// Number of bytes that the record lacks.
    missing: u64,
    /// First line of the next record, if it was already read.
    next: Vec<u8>,
    /// Kind of the error that the reader of a record returned.
    failure: Option<DiagnosticKind>,
}

impl WarcReader {
    pub(super) fn new(input: Box<dyn Read>) -> WarcReader {
        WarcReader(Rc::new(RefCell::new(WarcState {
            input: BufReader::with_capacity(INPUT_BYTES, input),
            position: 0,
            start: 0,
            left: 0,
            line: VecDeque::new(),
            is_after_blank_line: false,
            missing: 0,
            next: Vec::new(),
            failure: None,
        })))
    }

    /// Returns the offset of the last record.
    pub(super) fn record_start(&self) -> u64 {
        self.0.borrow().start
    }

    pub(super) fn member_failure(&self) -> Option<DiagnosticKind> {
        self.0.borrow().failure
    }

    /// Returns the next record, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let state = &mut *self.0.borrow_mut();
        if state.failure.is_some() {
            return Err(truncated_member());
        }
        while !state.record_line(WARC_HEAD_BYTES)?.is_empty() {}
        if 0 < state.missing {
            let missing = std::mem::take(&mut state.missing);
            let why = format!("the next record starts {missing} bytes before the end of this one");
            return Ok(Some(broken(why)));
        }
        let mut skipped = 0;
        let line = loop {
            let line = match std::mem::take(&mut state.next) {
                line if line.is_empty() => state.any_line(WARC_HEAD_BYTES)?,
                line => line,
            };
            if line.is_empty() || is_warc(&line) {
                break line;
            }
            if 0 < skipped || !line.trim_ascii().is_empty() {
                skipped += line.len();
            }
        };
        if 0 < skipped {
            state.next = line;
            let why = "bytes after this record belong to no record and were skipped";
            return Ok(Some(broken(format!("{skipped} {why}"))));
        }
        if line.is_empty() {
            return Ok(None);
        }
        state.start = state.position - line.len() as u64;
        let Some(head) = state.head(WarcState::any_line)? else {
            let why = format!("a record's header has no end within {WARC_HEAD_BYTES} bytes");
            return Ok(Some(broken(why)));
        };
        let Some(length) = number(field(&head, "Content-Length")) else {
            return Ok(Some(broken("a record has no length")));
        };
        (state.left, state.is_after_blank_line) = (length, true);
        self.content(state, &head).map(Some)
    }

    /// Returns the content of the record with this header.
    fn content(&self, state: &mut WarcState, head: &[Vec<u8>]) -> io::Result<ArchiveEntry> {
        // Examples of version 1.0 have angle brackets around the URI.
        let uri = field(head, "WARC-Target-URI");
        let inner = uri.strip_prefix(b"<").and_then(|it| it.strip_suffix(b">"));
        let name = inner.unwrap_or(uri).to_owned();
        let content = match &*field(head, "WARC-Type").to_ascii_lowercase() {
            b"continuation" => EntryContent::Skipped(SkipReason::Sparse),
            b"response" | b"resource" | b"conversion" if !name.starts_with(b"dns:") => {
                let mut content_type = field(head, "Content-Type").to_owned();
                let mut packed: Box<dyn Read> = Box::new(self.clone());
                if content_type
                    .to_ascii_lowercase()
                    .starts_with(b"application/http")
                {
                    let line = state.record_line(WARC_HEAD_BYTES)?;
                    let head = state.head(WarcState::record_line)?;
                    let Some(head) = head.filter(|_| line.starts_with(b"HTTP/")) else {
                        return Ok(broken("a response has no HTTP header"));
                    };
                    field(&head, "Content-Type").clone_into(&mut content_type);
                    if field(&head, "Transfer-Encoding").eq_ignore_ascii_case(b"chunked") {
                        let (record, chunk) = (self.clone(), Chunk::Start);
                        packed = Box::new(ChunkedReader { record, chunk });
                    }
                }
                EntryContent::Data(EntryData {
                    page: Some(WebPage {
                        content_type: String::from_utf8_lossy(&content_type).into_owned(),
                        base: name.clone(),
                    }),
                    ..EntryData::plain(packed)
                })
            }
            _ => EntryContent::Folder,
        };
        Ok(ArchiveEntry { name, content })
    }

    /// Notes an error, which is returned to the reader of the record.
    fn fail(&self, error: io::Error) -> io::Error {
        self.0.borrow_mut().failure = Some(error_diagnostic(&error, None).kind);
        error
    }
}

impl Read for WarcReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let filled = self.0.borrow_mut().fill(WARC_HEAD_BYTES);
        filled.map_err(|error| self.fail(error))?;
        self.0.borrow_mut().line.read(buffer)
    }
}

fn broken(why: impl Into<String>) -> ArchiveEntry {
    ArchiveEntry {
        name: Vec::new(),
        content: EntryContent::Broken(error::damage(why)),
    }
}

/// Returns the value of the first field with this name.
fn field<'h>(head: &'h [Vec<u8>], name: &str) -> &'h [u8] {
    let mut values = head.iter().filter_map(|line| {
        let (found, value) = line.split_at(memchr::memchr(b':', line)?);
        let is_named = found.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        is_named.then(|| value[1..].trim_ascii())
    });
    values.next().unwrap_or_default()
}

impl WarcState {
    /// Returns the next line, or its first `max` bytes. Empty at the end of the input.
    fn any_line(&mut self, max: usize) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut input = (&mut self.input).take(max as u64);
        input.read_until(b'\n', &mut line)?;
        self.position += line.len() as u64;
        Ok(line)
    }

    /// Returns the next line of the record, like [`WarcState::any_line`].
    fn record_line(&mut self, max: usize) -> io::Result<Vec<u8>> {
        self.fill(max)?;
        Ok(std::mem::take(&mut self.line).into())
    }

    /// Reads a line of the record if the last one was read.
    fn fill(&mut self, max: usize) -> io::Result<()> {
        if !self.line.is_empty() || self.left == 0 {
            return Ok(());
        }
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let mut line = self.any_line(max.min(left))?;
        if line.is_empty() {
            return Err(truncated_member());
        }
        // The end that the header states may be in the first line of the next record.
        let is_start = MARK.starts_with(&line[..line.len().min(MARK.len())]);
        if self.is_after_blank_line && is_start {
            if line.len() == left && !line.ends_with(b"\n") {
                line.extend(self.any_line(max)?);
            }
            if is_warc(&line) && line.ends_with(b"\r\n") {
                self.missing = self.left;
                self.left = 0;
                self.next = std::mem::take(&mut line);
            }
        }
        self.left = self.left.saturating_sub(line.len() as u64);
        self.is_after_blank_line = line == b"\r\n";
        self.line = line.into();
        Ok(())
    }

    /// Reads the lines of a header. Returns `None` if it has no end.
    fn head(
        &mut self,
        next_line: fn(&mut WarcState, usize) -> io::Result<Vec<u8>>,
    ) -> io::Result<Option<Vec<Vec<u8>>>> {
        let (mut head, mut left) = (Vec::new(), WARC_HEAD_BYTES);
        loop {
            let line = next_line(self, left)?;
            left -= line.len();
            if is_warc(&line) {
                self.next = line;
                return Ok(None);
            }
            if line.trim_ascii().is_empty() {
                return Ok((!line.is_empty()).then_some(head));
            }
            head.push(line);
        }
    }
}

/// Reader of a body in chunks (RFC 9112, section 7.1). A body whose first line is no length was
/// stored without its chunks.
struct ChunkedReader {
    record: WarcReader,
    chunk: Chunk,
}

#[derive(Clone, Copy)]
enum Chunk {
    /// Before the first chunk.
    Start,
    /// In a chunk with this many bytes left.
    Bytes(u64),
    /// In a body without chunks.
    Absent,
    /// After the last chunk.
    End,
}

impl ChunkedReader {
    /// Reads the line before a chunk.
    fn next_chunk(&mut self) -> io::Result<Chunk> {
        let state = &mut *self.record.0.borrow_mut();
        let mut line = state.record_line(WARC_HEAD_BYTES)?;
        let is_first = matches!(self.chunk, Chunk::Start);
        if !is_first && line.trim_ascii().is_empty() {
            line = state.record_line(WARC_HEAD_BYTES)?;
        }
        let digits = line.split(|&byte| byte == b';').next().unwrap_or_default();
        let digits = str::from_utf8(digits.trim_ascii()).unwrap_or_default();
        match u64::from_str_radix(digits, 16) {
            Ok(0) => Ok(Chunk::End),
            Ok(bytes) => Ok(Chunk::Bytes(bytes)),
            Err(_) if is_first => {
                state.line = line.into();
                Ok(Chunk::Absent)
            }
            Err(_) => Err(error::damage(
                "has a chunk without a length; the rest is not read",
            )),
        }
    }
}

impl Read for ChunkedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if matches!(self.chunk, Chunk::Start | Chunk::Bytes(0)) {
            let next = self.next_chunk();
            self.chunk = Chunk::End;
            self.chunk = next?;
        }
        let left = match self.chunk {
            Chunk::Bytes(left) => left,
            Chunk::Absent => u64::MAX,
            Chunk::Start | Chunk::End => 0,
        };
        let read = (&mut self.record).take(left).read(buffer)?;
        if let Chunk::Bytes(left) = &mut self.chunk {
            *left -= read as u64;
            if read == 0 && !buffer.is_empty() {
                self.chunk = Chunk::End;
                return Err(error::damage("ends within a chunk"));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Input, StreamStep, Streams};
    use urlspool_text::limits::Limits;
    use urlspool_text::origin::{FormatHint, Source};

    fn record(kind: &str, uri: &str, content_type: &str, block: &str) -> String {
        let length = block.len();
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nContent-Type: \
             {content_type}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
        )
    }

    fn response(uri: &str, head: &str, body: &str) -> String {
        let block = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
        record(
            "response",
            uri,
            "application/http; msgtype=response",
            &block,
        )
    }

    /// Returns each step in words.
    fn steps(warc: &[u8]) -> Vec<String> {
        let in_memory = steps_of(Input::memory(warc.to_vec()));
        let streamed = steps_of(Input::stream(io::Cursor::new(warc.to_vec())));
        assert_eq!(in_memory, streamed);
        in_memory
    }

    fn steps_of(input: Input) -> Vec<String> {
        let source = Source::at("f".into());
        let steps = Streams::new(input, source, FormatHint::None, &Limits::default());
        let names =
            |source: &Source| String::from_utf8_lossy(&source.member().join(&b' ')).into_owned();
        let words = steps.map(|step| match step {
            StreamStep::Stream {
                source,
                hint,
                mut stream,
            } => {
                let (mut text, page) = (Vec::new(), source.page().cloned());
                let end = stream.read_to_end(&mut text).err();
                let end = end.map_or(String::new(), |error| format!(" ({error})"));
                let charset = page.map_or(String::new(), |page| page.content_type);
                let charset = charset.rsplit('=').next().unwrap_or_default();
                let text = String::from_utf8_lossy(&text).into_owned();
                format!("{} {hint:?} {charset}: {text}{end}", names(&source))
            }
            StreamStep::Failed(event) => {
                format!("{}: {}", names(&event.source), event.diagnostic.message)
            }
            StreamStep::Skipped { reason, .. } => reason.name().to_owned(),
            StreamStep::ArchiveRead(_) => "read".to_owned(),
            StreamStep::ArchiveBroken { .. } => "broken".to_owned(),
            StreamStep::Warning(event) => event.diagnostic.message,
        });
        words.collect()
    }

    const HEAD: &str = "Content-Type: text/html; charset=KOI8-R";

    #[test]
    fn the_contents_of_responses_and_resources_are_members() {
        let chunked = format!("{HEAD}\r\nTransfer-Encoding: chunked");
        let warc = [
            record("warcinfo", "", "application/warc-fields", "a: b\r\n"),
            response("http://a/", HEAD, "<p>x"),
            record(
                "request",
                "http://a/",
                "application/http",
                "GET / HTTP/1.1\r\n\r\n",
            ),
            response(
                "<http://a/b>",
                &chunked,
                "3;x=y\r\nab\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
            ),
            response("http://a/c", &chunked, "not in chunks\n"),
            response("http://a/d", &chunked, "2\r\nab\r\nzz\r\ncd"),
            response("http://a/e", &chunked, "5\r\nab"),
            response("dns:a", "X: y", "").replace("application/http; msgtype=response", "text/dns"),
            record("conversion", "http://a/f", "text/plain", "text"),
            record("continuation", "http://a/f", "text/plain", "text"),
        ];
        assert_eq!(
            steps(warc.concat().as_bytes()),
            [
                "120 http://a/ Page KOI8-R: <p>x",
                "453 http://a/b Page KOI8-R: ab\n0123456789",
                "712 http://a/c Page KOI8-R: not in chunks\n",
                "951 http://a/d Page KOI8-R: ab (has a chunk without a length; the rest is not \
                 read)",
                "1189 http://a/e Page KOI8-R: ab (ends within a chunk)",
                "1548 http://a/f None text/plain: text",
                "sparse",
                "read",
            ]
        );
    }

    #[test]
    fn reading_resumes_at_the_next_record_after_damage() {
        let good = |path: &str| response(&format!("http://a/{path}"), HEAD, "<p>x");
        let (first, last) = (good("1"), good("2"));
        let page = |start: usize, path: &str| format!("{start} http://a/{path} Page KOI8-R: <p>x");
        let lying = |length: &str| {
            let at = first.find("Content-Length: ").unwrap() + 16;
            format!("{}{length}{}", &first[..at], &first[at + 2..])
        };
        let at_last = |before: &str| page(before.len(), "2");
        for (length, missing) in [("120", 52_u64), ("107374182400", 107_374_182_332)] {
            let before = lying(length);
            let why =
                format!("0: the next record starts {missing} bytes before the end of this one");
            let expected = [
                page(0, "1") + "\r\n\r\n",
                why,
                at_last(&before),
                "read".to_owned(),
            ];
            assert_eq!(steps((before + &last).as_bytes()), expected);
        }
        for length in 0..first.len() + 20 {
            let before = lying(&length.to_string());
            let found = steps((before.clone() + &last).as_bytes());
            assert!(found.contains(&at_last(&before)), "{length}: {found:?}");
        }
        for (before, why) in [
            (
                lying("61"),
                "0: 7 bytes after this record belong to no record and were skipped",
            ),
            (
                "WARC/1.0\r\nContent-Length: 56\r\n\r\n".to_owned(),
                "0: the next record starts 56 bytes before the end of this one",
            ),
            (lying("x"), "0: a record has no length"),
            (
                first.replacen("\r\n\r\n", "\r\n", 1),
                "0: a response has no HTTP header",
            ),
            (
                "WARC/1.0\r\n".to_owned(),
                "0: a record's header has no end within 262144 bytes",
            ),
            (
                first.replace("HTTP/1.1", "FTP/1.1"),
                "0: a response has no HTTP header",
            ),
            (
                format!("WARC/1.0\r\nA: {}\r\n", "b".repeat(WARC_HEAD_BYTES)),
                "0: a record's header has no end within 262144 bytes",
            ),
        ] {
            let found = steps((before.clone() + &last).as_bytes());
            assert!(found.iter().any(|step| step == why), "{found:?}");
            assert!(found.contains(&at_last(&before)), "{found:?}");
        }
    }

    #[test]
    fn a_warc_cut_at_any_byte_is_read_up_to_there() {
        let chunked = format!("{HEAD}\r\nTransfer-Encoding: chunked");
        let whole = response("http://a/1", HEAD, "<p>x")
            + &response("http://a/2", &chunked, "4\r\n<p>y\r\n0\r\n\r\n");
        let first = response("http://a/1", HEAD, "<p>x").len();
        for end in 8..whole.len() {
            let found = steps(&whole.as_bytes()[..end]);
            assert!(found.len() < 5, "{end}: {found:?}");
            assert_eq!(
                first - 4 <= end,
                found[0] == "0 http://a/1 Page KOI8-R: <p>x",
                "{end}"
            );
        }
        assert_eq!(steps(whole.as_bytes()).len(), 3);
    }

    #[test]
    fn thousands_of_tiny_records_are_read() {
        let tiny = "WARC/1.0\r\nWARC-Type:resource\r\nContent-Length:1\r\n\r\nx";
        let found = steps(tiny.repeat(50_000).as_bytes());
        assert_eq!(found.len(), 50_001);
        let empty = "WARC/1.0\r\nContent-Length:0\r\n\r\n".repeat(50_000);
        assert_eq!(steps(empty.as_bytes()), ["read"]);
    }
}
