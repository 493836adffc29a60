//! Inputs of a load: standard input, files, segments, and those of folders.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hasher;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use twox_hash::XxHash3_64;
use walkdir::{DirEntry, WalkDir};

use super::LoadError;
use super::target::SegmentId;
use urlspool_record::record::Sidecar;
use urlspool_sources::read::{self, Input, StreamStep, Streams};
use urlspool_sources::walk::DeviceInode;
use urlspool_text::limits::Limits;
use urlspool_text::origin::{FormatHint, Source};

/// Bytes that are read at once.
pub(super) const BUFFER_BYTES: usize = 256 << 10;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoadInput {
    Stdin,
    File(PathBuf),
    Segment(SegmentFile),
}

/// Endings of files of records, in folders.
const ENDINGS: &[&str] = &[
    ".jsonl",
    ".jsonl.zst",
    ".jsonl.gz",
    ".jsonl.xz",
    ".jsonl.bz2",
];

/// The name of standard input in arguments.
const STDIN: &str = "-";

impl LoadInput {
    /// The input at `path`, which is no folder.
    fn at(path: PathBuf) -> LoadInput {
        match SegmentFile::at(&path) {
            Some(segment) => LoadInput::Segment(segment),
            None => LoadInput::File(path),
        }
    }

    /// Opens the input, unpacked if it is compressed.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read>> {
        let path = match self {
            LoadInput::Stdin => {
                let stdin = Input::stream(io::stdin().lock());
                return unpacked(stdin, Path::new("standard input"));
            }
            LoadInput::File(path) | LoadInput::Segment(SegmentFile { path, .. }) => path,
        };
        let file = fs::File::open(path)?;
        if file.metadata()?.is_file() {
            unpacked(Input::file(file), path)
        } else {
            unpacked(Input::stream(file), path)
        }
    }

    /// The name for messages.
    pub(super) fn name(&self) -> String {
        match self {
            LoadInput::Stdin => "standard input".to_owned(),
            LoadInput::File(path) | LoadInput::Segment(SegmentFile { path, .. }) => {
                path.display().to_string()
            }
        }
    }
}

/// The error of an input that cannot be read, or of a folder that cannot be listed.
pub(super) fn unreadable(name: impl Display, error: io::Error) -> LoadError {
    error.downcast().unwrap_or_else(|error| {
        LoadError::io(format!("cannot read {name}: {error}")).caused_by(error)
    })
}

/// Returns the inputs that an argument names: of a folder the files of records beneath it, in the
/// order of their names. Links are followed; a folder that several links lead to is listed once.
pub(super) fn inputs_of(argument: &Path) -> Vec<Result<LoadInput, LoadError>> {
    if argument == Path::new(STDIN) {
        return vec![Ok(LoadInput::Stdin)];
    }
    if !argument.is_dir() {
        let found = fs::metadata(argument).map(|_| LoadInput::at(argument.to_owned()));
        return vec![found.map_err(|error| unreadable(argument.display(), error))];
    }
    let (mut files, mut failed, mut listed) = (Vec::new(), Vec::new(), HashSet::new());
    // One that cannot be looked at is listed, which reports the error.
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
                let error = io::Error::other("is no regular file; name it itself to load it");
                failed.push(Err(unreadable(entry.path().display(), error)));
            }
            Err(error) => failed.extend(failure(argument, error).map(Err)),
        }
    }
    files.sort();
    let inputs = files.into_iter().map(LoadInput::at);
    // Another load may have removed a segment, and its sidecar, since the folder was listed.
    let inputs = inputs.filter(|input| !matches!(input, LoadInput::File(path) if is_removed(path)));
    inputs.map(Ok).chain(failed).collect()
}

/// Returns the files that are read of a path.
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

/// Returns `true` if a folder holds segments of a daemon.
#[must_use]
pub fn has_segments(folder: &Path) -> bool {
    segments_in(folder, |_| true).is_ok_and(|segments| !segments.is_empty())
}

/// Returns `true` if the name of a file is one of records in folders.
#[must_use]
pub fn is_named_as_records(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| is_records(name.as_bytes()))
}

/// Returns the error of an entry that cannot be listed or looked at. Hidden entries, those that are
/// gone and dead links of other names do not matter. A circle of links leads to a folder that is
/// listed.
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

/// Names in the output folder of a daemon, which has no segments until it seals one.
const DAEMON_FILES: [&[u8]; 2] = [b".open", b".last"];

/// Returns `true` if a folder holds files, and none of them, at whatever depth, is one of records
/// or of a daemon's output.
pub(super) fn holds_only_other_files(folder: &Path) -> bool {
    let mut has_files = false;
    let entries = WalkDir::new(folder).follow_links(true).into_iter();
    for entry in entries.flatten() {
        let name = entry.file_name().as_bytes();
        // A segment that is being removed leaves its sidecar.
        let is_output = DAEMON_FILES.contains(&name) || name.ends_with(b".meta");
        if is_records(name) || is_output {
            return false;
        }
        has_files |= entry.file_type().is_file();
    }
    has_files
}

/// Bytes of a file's beginning that show whether it holds records.
const START_BYTES: u64 = 64 << 10;

/// Returns the first bytes of a file, by which it shows what it holds.
pub(super) fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut file = fs::File::open(path)?.take(START_BYTES);
    file.read_to_end(&mut start).map(|_| start)
}

/// Returns `true` for the beginning of a text of which no line is JSON, as that of mail. Compressed
/// records are no text.
pub(super) fn holds_no_records(start: &[u8]) -> bool {
    let lines = start.split(|&byte| byte == b'\n');
    let mut lines = lines.map(<[u8]>::trim_ascii_start);
    !start.is_empty()
        && !read::is_container(start)
        && !lines.any(|line| line.starts_with(b"{"))
        && !start.trim_ascii().is_empty()
}

/// Returns `true` if there is no entry at a path, not even a link that leads nowhere.
fn is_removed(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Returns the segments of a folder whose paths satisfy `is_new`, in the order of their numbers.
/// Files without a sidecar are skipped: the sidecar is published first, so they are no segments.
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

/// Returns `true` if a folder's file of this name holds records.
pub(super) fn is_records(name: &[u8]) -> bool {
    let mut endings = ENDINGS.iter();
    endings.any(|ending| name.ends_with(ending.as_bytes()))
}

/// Digits in the name of a segment, at least.
const NUMBER_DIGITS: usize = 10;

/// A segment that has its sidecar beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentFile {
    pub(super) path: PathBuf,
    pub(super) meta: PathBuf,
    pub(super) id: SegmentId,
    /// Length in bytes of its lines, before compression.
    pub(super) len: u64,
}

impl SegmentFile {
    /// Returns the segment at `path`; `None` if the name has no number, there is no sidecar beside
    /// it, or one of them is no regular file.
    pub(super) fn at(path: &Path) -> Option<SegmentFile> {
        let number = number(path)?;
        let meta = path.with_file_name(format!("{number}.meta"));
        // A pipe would be waited for without end.
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

    /// Reads the segment in `file`, and compares it with its sidecar. The clause `omitted` says
    /// what is not done with another one.
    pub(super) fn check(&self, file: &fs::File, omitted: &str) -> Result<(), LoadError> {
        let lines = file.try_clone().and_then(|file| self.lines(file, omitted));
        let read = lines.and_then(|mut lines| io::copy(&mut lines, &mut io::sink()));
        read.map(drop)
            .map_err(|error| unreadable(self.path.display(), error))
    }

    /// Returns the lines of the segment in `file`. If they are not those that its sidecar describes,
    /// they end with an error, which [`unreadable`] returns.
    pub(super) fn lines(&self, file: fs::File, omitted: &str) -> io::Result<Box<dyn Read>> {
        let (path, meta) = (self.path.display(), self.meta.display());
        Ok(Box::new(SegmentLines {
            lines: unpacked(Input::file(file), &self.path)?,
            len: 0,
            hash: XxHash3_64::new(),
            stated: (self.len, self.id.hash.clone()),
            mismatch: format!("{path} is not what its sidecar {meta} describes; {omitted}"),
        }))
    }

    /// Removes the segment, then its sidecar. One that is gone already is no error.
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

/// Lines of a segment, unpacked, whose length and hash are compared with its sidecar at their end.
struct SegmentLines {
    lines: Box<dyn Read>,
    len: u64,
    hash: XxHash3_64,
    /// Length and hash in the sidecar.
    stated: (u64, String),
    /// Message if they differ.
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

/// Returns the bytes of an input that may be compressed. An archive is none.
pub(super) fn unpacked(input: Input, path: &Path) -> io::Result<Box<dyn Read>> {
    // The records of one message repeat its header: they are compressed better than any mail.
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

/// The digits of the name of a segment.
pub(super) fn number(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let number = name
        .strip_suffix(".jsonl")
        .or_else(|| name.strip_suffix(".jsonl.zst"))?;
    let is_number =
        NUMBER_DIGITS <= number.len() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_that_its_sidecar_does_not_describe_ends_with_an_error() {
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
        assert_eq!(error.kind(), crate::load::LoadErrorKind::Inconsistent);
        fs::remove_file(&segment.path).unwrap();
        assert!(segment.open().unwrap().is_none());
    }

    #[test]
    fn names_of_segments_are_numbers() {
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
}
