//! Inputs of a load: standard input, files, segments and folders; and their lines. A separate
//! thread decompresses, counts and parses them, with a length limit, while rows are written.
//! Records of a scan in the same process arrive the same way, without being written as lines.
//!
//! Parsing takes a third of the time of a load into `SQLite` and does not depend on the target.
//! Lines arrive in input order, in batches over a bounded channel: a thread that is faster than the
//! load waits, which bounds memory.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use std::{fs, thread};

use memchr::memchr;
use twox_hash::XxHash3_64;
use walkdir::{DirEntry, WalkDir};

use super::LoadError;
use super::removal::ScannedFiles;
use super::target::{LineTexts, SegmentId};
use urlspool_record::record::{
    LineError, LoadedRecord, Record, RecordLine, Sidecar, json_line, read_record_line,
};
use urlspool_sources::read::{self, Input, StreamStep, Streams};
use urlspool_sources::walk::DeviceInode;
use urlspool_text::limits::{
    LOAD_BATCH_SECONDS, LOAD_LINE_BYTES, LOAD_PARSED_BATCHES, LOAD_PARSED_BYTES, Limits,
};
use urlspool_text::origin::{FormatHint, Source};

/// Size of the read buffer, in bytes.
const BUFFER_BYTES: usize = 256 << 10;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoadInput {
    Stdin,
    File(PathBuf),
    Segment(SegmentFile),
}

/// Extensions by which record files are recognized in folders.
const ENDINGS: &[&str] = &[
    ".jsonl",
    ".jsonl.zst",
    ".jsonl.gz",
    ".jsonl.xz",
    ".jsonl.bz2",
];

impl LoadInput {
    /// Returns the input for `path`, which is not a folder.
    fn at(path: PathBuf) -> LoadInput {
        match SegmentFile::at(&path) {
            Some(segment) => LoadInput::Segment(segment),
            None => LoadInput::File(path),
        }
    }

    /// Opens the input and decompresses it if necessary.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read>> {
        let path = match self {
            LoadInput::Stdin => {
                let stdin = Input::stream(io::stdin().lock());
                return unpacked(stdin, Path::new("standard input"));
            }
            LoadInput::File(path) | LoadInput::Segment(SegmentFile { path, .. }) => path,
        };
        let file = fs::File::open(path)?;
        let is_file = file.metadata()?.is_file();
        let input_of = if is_file { Input::file } else { Input::stream };
        unpacked(input_of(file), path)
    }

    /// Returns the name shown in messages.
    pub(super) fn name(&self) -> String {
        match self {
            LoadInput::Stdin => "standard input".to_owned(),
            LoadInput::File(path) | LoadInput::Segment(SegmentFile { path, .. }) => {
                path.display().to_string()
            }
        }
    }
}

/// Creates the error for an input that cannot be read or a folder that cannot be listed.
pub(super) fn unreadable(name: impl Display, error: io::Error) -> LoadError {
    error.downcast().unwrap_or_else(|error| {
        LoadError::io(format!("cannot read {name}: {error}")).caused_by(error)
    })
}

/// Returns the inputs that an argument names. A folder stands for the record files in it, at any
/// depth, in the order of their names. Links are followed, but a folder reached by several links is
/// listed once.
pub(super) fn inputs_of(argument: &Path) -> Vec<Result<LoadInput, LoadError>> {
    if argument == Path::new(Source::STDIN) {
        return vec![Ok(LoadInput::Stdin)];
    }
    if !argument.is_dir() {
        let found = fs::metadata(argument).map(|_| LoadInput::at(argument.to_owned()));
        return vec![found.map_err(|error| unreadable(argument.display(), error))];
    }
    let (mut files, mut failed, mut listed) = (Vec::new(), Vec::new(), HashSet::new());
    // A folder whose metadata cannot be read is listed, which reports the error.
    let mut is_new = |folder: &DirEntry| {
        let found = folder.metadata();
        found.map_or(true, |found| listed.insert(DeviceInode::of(&found)))
    };
    let entries = WalkDir::new(argument).follow_links(true).into_iter();
    for entry in entries.filter_entry(|entry| {
        let is_hidden = 0 < entry.depth() && entry.file_name().as_bytes().starts_with(b".");
        !is_hidden && (!entry.file_type().is_dir() || is_new(entry))
    }) {
        match entry {
            Ok(entry) if !is_records(entry.file_name().as_bytes()) => {}
            Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) => {
                let error = io::Error::other("is not a regular file; name it directly to load it");
                failed.push(Err(unreadable(entry.path().display(), error)));
            }
            Err(error) => failed.extend(failure(argument, error).map(Err)),
        }
    }
    files.sort();
    let inputs = files.into_iter().map(LoadInput::at);
    // Another load may have removed a segment and its sidecar since the folder was listed.
    let inputs = inputs.filter(|input| !matches!(input, LoadInput::File(path) if is_removed(path)));
    inputs.map(Ok).chain(failed).collect()
}

/// Returns the files that a load of `path` reads.
#[must_use]
pub fn files_of_records(path: &Path) -> Vec<PathBuf> {
    let inputs = inputs_of(path).into_iter().flatten();
    let files = inputs.flat_map(|input| match input {
        LoadInput::Stdin => Vec::new(),
        LoadInput::File(path) => vec![path],
        LoadInput::Segment(segment) => vec![segment.path, segment.meta],
    });
    files.collect()
}

/// Returns `true` if a folder contains segments of a daemon.
#[must_use]
pub fn has_segments(folder: &Path) -> bool {
    segments_in(folder, |_| true).is_ok_and(|segments| !segments.is_empty())
}

/// Returns `true` if the file has an extension of record files.
#[must_use]
pub fn is_named_as_records(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| is_records(name.as_bytes()))
}

/// Returns the error for an entry that cannot be listed or examined. Hidden entries, removed
/// entries and dead links with other extensions are ignored. A link loop is ignored because its
/// folder is already listed.
fn failure(argument: &Path, error: walkdir::Error) -> Option<LoadError> {
    let is_entry = error.path().is_some() && 0 < error.depth();
    let path = error.path().unwrap_or(argument).to_owned();
    let error = error.into_io_error()?;
    let name = path.file_name().unwrap_or_default().as_bytes();
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let is_dead = is_missing && (!is_records(name) || is_removed(&path));
    let is_left_out = is_entry && (name.starts_with(b".") || is_dead);
    (!is_left_out).then(|| unreadable(path.display(), error))
}

/// Files in a daemon's output folder, which has no segments until the daemon seals one.
const DAEMON_FILES: [&[u8]; 2] = [b".open", b".last"];

/// Returns `true` if a folder contains files, but at no depth a record file or a daemon's output.
pub(super) fn holds_only_other_files(folder: &Path) -> bool {
    let mut has_files = false;
    let entries = WalkDir::new(folder).follow_links(true).into_iter();
    for entry in entries.flatten() {
        let name = entry.file_name().as_bytes();
        // A segment that is being removed leaves its sidecar for a moment.
        let is_output = DAEMON_FILES.contains(&name) || name.ends_with(b".meta");
        if is_records(name) || is_output {
            return false;
        }
        has_files |= entry.file_type().is_file();
    }
    has_files
}

/// Number of leading bytes examined to decide whether a file contains records.
const START_BYTES: u64 = 64 << 10;

/// Returns the first bytes of a file, for recognizing its content.
pub(super) fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut file = fs::File::open(path)?.take(START_BYTES);
    file.read_to_end(&mut start).map(|_| start)
}

/// Returns `true` if this is the start of a text, such as mail, in which no line is JSON.
/// Compressed records are not text.
pub(super) fn holds_no_records(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n');
    !read::is_container(start)
        && !lines.any(|line| line.trim_ascii_start().starts_with(b"{"))
        && !start.trim_ascii().is_empty()
}

/// Returns `true` if nothing exists at `path`, not even a dead link.
fn is_removed(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Returns the segments in a folder whose paths satisfy `is_new`, ordered by number. Files without
/// a sidecar are skipped: a sidecar is published before its segment, so they are not segments.
pub(super) fn segments_in(
    folder: &Path,
    mut is_new: impl FnMut(&Path) -> bool,
) -> Result<Vec<SegmentFile>, LoadError> {
    let paths = fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect::<io::Result<Vec<_>>>()
    });
    let mut paths = paths.map_err(|error| unreadable(folder.display(), error))?;
    paths.retain(|path| number(path).is_some() && is_new(path));
    paths.sort();
    let segments = paths.iter().filter_map(|path| SegmentFile::at(path));
    Ok(segments.collect())
}

/// Returns `true` if a file with this name in a folder contains records.
pub(super) fn is_records(name: &[u8]) -> bool {
    let mut endings = ENDINGS.iter();
    endings.any(|ending| name.ends_with(ending.as_bytes()))
}

/// Minimum number of digits in a segment's name.
const NUMBER_DIGITS: usize = 10;

/// A segment and its sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentFile {
    pub(super) path: PathBuf,
    pub(super) meta: PathBuf,
    pub(super) id: SegmentId,
    /// Length of its lines in bytes, before compression.
    pub(super) len: u64,
}

impl SegmentFile {
    /// Returns the segment at `path`, or `None` if the name is not a number, the sidecar is
    /// missing, or one of the two is not a regular file.
    pub(super) fn at(path: &Path) -> Option<SegmentFile> {
        let number = number(path)?;
        let meta = path.with_file_name(format!("{number}.meta"));
        // Reading a pipe would block forever.
        if !(path.is_file() && meta.is_file()) {
            return None;
        }
        let sidecar = Sidecar::read(&fs::read(&meta).ok()?)?;
        (number.parse() == Ok(sidecar.seq)).then(|| SegmentFile {
            path: path.to_owned(),
            meta,
            id: SegmentId {
                instance: sidecar.instance,
                epoch: sidecar.epoch,
                seq: sidecar.seq,
                hash: sidecar.xxh3_64,
            },
            len: sidecar.len,
        })
    }

    /// Opens the segment. Returns `None` if it is missing.
    pub(super) fn open(&self) -> Result<Option<fs::File>, LoadError> {
        match fs::File::open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(self.path.display(), error)),
        }
    }

    /// Reads the segment in `file` and compares it with its sidecar. The clause `omitted` tells the
    /// user what is skipped if they differ.
    pub(super) fn check(&self, file: &fs::File, omitted: &str) -> Result<(), LoadError> {
        let lines = file.try_clone().and_then(|file| self.lines(file, omitted));
        let read = lines.and_then(|mut lines| io::copy(&mut lines, &mut io::sink()));
        read.map(drop)
            .map_err(|error| unreadable(self.path.display(), error))
    }

    /// Returns the lines of the segment in `file`. If they do not match the sidecar, reading ends
    /// with an error, which [`unreadable`] returns.
    pub(super) fn lines(&self, file: fs::File, omitted: &str) -> io::Result<Box<dyn Read>> {
        let (path, meta) = (self.path.display(), self.meta.display());
        Ok(Box::new(SegmentLines {
            lines: unpacked(Input::file(file), &self.path)?,
            len: 0,
            hash: XxHash3_64::new(),
            stated: (self.len, self.id.hash.clone()),
            mismatch: format!("{path} does not match its sidecar {meta}; {omitted}"),
        }))
    }

    /// Removes the segment, then its sidecar. A missing file is not an error.
    pub(super) fn delete(&self) -> io::Result<()> {
        for path in [&self.path, &self.meta] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Decompressed lines of a segment. At the end, their length and hash are compared with the
/// sidecar.
struct SegmentLines {
    lines: Box<dyn Read>,
    len: u64,
    hash: XxHash3_64,
    /// Length and hash in the sidecar.
    stated: (u64, String),
    /// Message for a mismatch.
    mismatch: String,
}

impl Read for SegmentLines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.lines.read(buffer)?;
        self.len += read as u64;
        self.hash.write(&buffer[..read]);
        let is_end = read == 0 && !buffer.is_empty();
        if is_end && (self.len, format!("{:016x}", self.hash.finish())) != self.stated {
            return Err(io::Error::other(LoadError::inconsistent(&*self.mismatch)));
        }
        Ok(read)
    }
}

/// Returns the bytes of an input, decompressed if necessary. An archive is an error.
pub(super) fn unpacked(input: Input, path: &Path) -> io::Result<Box<dyn Read>> {
    // Records of one message repeat its header, so they compress better than any mail.
    let limits = Limits {
        unpack_ratio: usize::MAX,
        ..Limits::default()
    };
    let source = Source::at(path.to_owned());
    let mut steps = Streams::new(input, source, FormatHint::None, &limits);
    match steps.next() {
        Some(StreamStep::Stream { source, stream, .. }) if source.member().is_empty() => {
            Ok(Box::new(stream))
        }
        _ => Err(io::Error::other("is an archive; unpack it first")),
    }
}

/// Returns the digits in a segment's name.
pub(super) fn number(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let number = name
        .strip_suffix(".jsonl")
        .or_else(|| name.strip_suffix(".jsonl.zst"))?;
    let is_number =
        NUMBER_DIGITS <= number.len() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(number)
}

/// A line that is not blank.
#[derive(Debug)]
pub(super) struct ParsedLine {
    /// Line number, starting at 1.
    pub(super) number: u64,
    pub(super) content: Result<RecordLine, LineError>,
    /// The line without its terminator; empty unless requested.
    pub(super) json: Vec<u8>,
}

/// Message from the thread that produces lines.
#[derive(Debug)]
pub(super) enum LineStep<E> {
    Lines(Vec<ParsedLine>),
    End(E),
}

/// Passes all lines to `take` in batches, and `None` if no line arrived within
/// [`LOAD_BATCH_SECONDS`]. If `take` fails, the rest is not read. Returns the end message, or
/// `None` if the thread failed and lines are missing.
pub(super) fn each_step<E, F>(
    steps: &Receiver<LineStep<E>>,
    mut take: impl FnMut(Option<&[ParsedLine]>) -> Result<(), F>,
) -> Result<Option<E>, F> {
    loop {
        match steps.recv_timeout(Duration::from_secs(LOAD_BATCH_SECONDS)) {
            Ok(LineStep::Lines(lines)) => take(Some(&lines))?,
            Ok(LineStep::End(end)) => return Ok(Some(end)),
            Err(RecvTimeoutError::Timeout) => take(None)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Sends the records of a scan to a load in the same process.
#[derive(Debug)]
pub struct RecordFeed {
    steps: SyncSender<LineStep<ScannedFiles>>,
    texts: LineTexts,
    /// Number of records sent so far.
    number: u64,
}

/// Creates a feed, which keeps the text of each line if the target needs it.
pub(super) fn record_feed(texts: LineTexts) -> (RecordFeed, Receiver<LineStep<ScannedFiles>>) {
    let (steps, received) = sync_channel(LOAD_PARSED_BATCHES);
    let number = 0;
    let feed = RecordFeed {
        steps,
        texts,
        number,
    };
    (feed, received)
}

impl RecordFeed {
    /// Sends records. They must have at least the fields that are loaded. Returns `false` if the
    /// load has failed and the scan can stop.
    pub fn put(&mut self, records: &[Record]) -> bool {
        let rows = records.iter().map(|record| self.row(record)).collect();
        self.steps.send(LineStep::Lines(rows)).is_ok()
    }

    fn row(&mut self, record: &Record) -> ParsedLine {
        self.number += 1;
        ParsedLine {
            number: self.number,
            content: Ok(RecordLine::Url(Box::new(LoadedRecord::from(record)))),
            json: match self.texts {
                LineTexts::Keep => json_line(record).trim_ascii_end().to_vec(),
                LineTexts::Drop => Vec::new(),
            },
        }
    }

    /// Ends the feed after a complete scan. Without this call, no further rows are committed.
    pub fn end(self, files: ScannedFiles) {
        // If the load has failed, the receiver is gone.
        let _ = self.steps.send(LineStep::End(files));
    }
}

/// Reads an input on a thread and passes its lines to `take`, as [`each_step`] does; the writer of
/// a pipe may be slow. Returns the error if the input could not be read to the end.
pub(super) fn each_batch<E>(
    open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send,
    texts: LineTexts,
    take: impl FnMut(Option<&[ParsedLine]>) -> Result<(), E>,
) -> Result<io::Result<()>, E> {
    thread::scope(|scope| {
        // The receiver is dropped before the scope joins the thread. The thread's next send then
        // fails and it ends.
        let (sender, steps) = sync_channel(LOAD_PARSED_BATCHES);
        scope.spawn(move || {
            let end = open().and_then(|input| InputLines::of(input).send_all(texts, &sender));
            let _ = sender.send(LineStep::End(end));
        });
        let end = each_step(&steps, take)?;
        Ok(end.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into())))
    })
}

/// The lines of one input.
struct InputLines {
    reader: BufReader<Box<dyn Read>>,
    /// Number of bytes read.
    len: u64,
    /// Number of the last line, starting at 1.
    number: u64,
    /// The last line, without its terminator.
    line: Vec<u8>,
}

impl InputLines {
    fn of(reader: Box<dyn Read>) -> InputLines {
        InputLines {
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
            len: 0,
            number: 0,
            line: Vec::new(),
        }
    }

    /// Sends all lines, or stops when the load has failed.
    fn send_all<E>(&mut self, texts: LineTexts, to: &SyncSender<LineStep<E>>) -> io::Result<()> {
        let (mut batch, mut begin) = (Vec::new(), 0);
        loop {
            let content = match self.next() {
                Ok(Some(content)) => content,
                // Lines read before an error are loaded.
                end => {
                    let _ = to.send(LineStep::Lines(batch));
                    return end.map(drop);
                }
            };
            let json = match texts {
                LineTexts::Keep if content.is_ok() => self.line.clone(),
                _ => Vec::new(),
            };
            let number = self.number;
            batch.push(ParsedLine {
                number,
                content,
                json,
            });
            // Reading the next line may block for a long time.
            let is_drained = self.reader.buffer().is_empty();
            if is_drained || begin + LOAD_PARSED_BYTES <= self.len {
                begin = self.len;
                let lines = LineStep::Lines(std::mem::take(&mut batch));
                if to.send(lines).is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Reads and parses the next line that is not blank; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Result<RecordLine, LineError>>> {
        loop {
            let read = self.read_line()?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.last() == Some(&b'\n') {
                self.line.pop();
            } else if read == LOAD_LINE_BYTES {
                while 0 < self.read_line()? && self.line.last() != Some(&b'\n') {}
                let reason = format!("it is longer than {LOAD_LINE_BYTES} bytes");
                return Ok(Some(Err(LineError::NoRecord(reason))));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(read_record_line(&self.line)));
            }
        }
    }

    /// Reads a line with its terminator, or its first [`LOAD_LINE_BYTES`] bytes. Returns the number
    /// of bytes.
    fn read_line(&mut self) -> io::Result<usize> {
        self.line.clear();
        let mut read = 0;
        while read < LOAD_LINE_BYTES && self.line.last() != Some(&b'\n') {
            let bytes = match self.reader.fill_buf() {
                Ok([]) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            let bytes = &bytes[..bytes.len().min(LOAD_LINE_BYTES - read)];
            let taken = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
            self.line.extend_from_slice(&bytes[..taken]);
            self.reader.consume(taken);
            read += taken;
        }
        self.len += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_files::scan::scan;

    #[test]
    fn a_segment_that_differs_from_its_sidecar_ends_with_an_error() {
        let name = format!("urlspool-{}-changes.jsonl", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, "{}\n").unwrap();
        let segment = SegmentFile {
            meta: path.with_extension("meta"),
            path,
            id: SegmentId {
                instance: String::new(),
                epoch: 0,
                seq: 1,
                hash: format!("{:016x}", XxHash3_64::oneshot(b"{}\n")),
            },
            len: 3,
        };
        let file = segment.open().unwrap().unwrap();
        segment.check(&file, "").unwrap();
        fs::write(&segment.path, "[]\n").unwrap();
        let mut lines = segment.lines(file, "nothing was loaded").unwrap();
        let error = unreadable("", lines.read_to_end(&mut Vec::new()).unwrap_err());
        assert_eq!(error.kind, crate::load::LoadErrorKind::Inconsistent);
        fs::remove_file(&segment.path).unwrap();
        assert!(segment.open().unwrap().is_none());
    }

    #[test]
    fn names_of_segments_consist_of_digits() {
        assert_eq!(number(Path::new("a/0000000012.jsonl")), Some("0000000012"));
        assert_eq!(
            number(Path::new("0000000012.jsonl.zst")),
            Some("0000000012")
        );
        for other in [
            "urls.jsonl",
            "12.jsonl",
            "0000000012.meta",
            "000000001x.jsonl",
        ] {
            assert_eq!(number(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_record_and_its_line_have_the_same_values() {
        let folders = [
            "../../corpus/mail",
            "../../corpus/news",
            "../../corpus/containers",
        ];
        let mut compared = 0;
        for record in scan(folders).run().unwrap() {
            let RecordLine::Url(read) = read_record_line(&json_line(&record)).unwrap() else {
                panic!("a record is a URL");
            };
            assert_eq!(LoadedRecord::from(&record), *read);
            compared += 1;
        }
        assert!(500 < compared, "{compared} records");
    }
}
