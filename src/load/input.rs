//! Inputs of a load: standard input, files, segments, and those of folders.

use std::collections::HashSet;
use std::fmt::Display;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use walkdir::WalkDir;

use super::LoadError;
use super::target::SegmentId;
use crate::read;
use crate::record::Sidecar;
use crate::walk::DeviceInode;

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

    /// The name for messages.
    pub(super) fn name(&self) -> String {
        match self {
            LoadInput::Stdin => "standard input".to_owned(),
            LoadInput::File(path) => path.display().to_string(),
            LoadInput::Segment(segment) => segment.path.display().to_string(),
        }
    }
}

/// The error of an input that cannot be read, or of a folder that cannot be listed.
pub(super) fn unreadable(name: impl Display, error: io::Error) -> LoadError {
    LoadError::io(format!("cannot read {name}: {error}")).caused_by(error)
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
    let mut files = Vec::new();
    let mut failed = Vec::new();
    let mut listed = HashSet::new();
    let mut folders = vec![argument.to_owned()];
    while let Some(folder) = folders.pop() {
        match entries_of(&folder, &mut listed) {
            Err(error) => failed.push(Err(unreadable(folder.display(), error))),
            Ok(entries) => entries.into_iter().for_each(|entry| match entry {
                InputEntry::Folder(path) => folders.push(path),
                InputEntry::Records(path) => files.push(path),
                InputEntry::Failed(error) => failed.push(Err(error)),
            }),
        }
    }
    files.sort();
    let inputs = files.into_iter().map(LoadInput::at);
    // Another load may have removed a segment, and its sidecar, since the folder was listed.
    let inputs = inputs.filter(|input| !matches!(input, LoadInput::File(path) if is_removed(path)));
    inputs.map(Ok).chain(failed).collect()
}

/// Names in the output folder of a daemon, which has no segments until it seals one.
const DAEMON_FILES: [&[u8]; 2] = [b".open", b".last"];

/// Returns `true` if a folder holds files, and none of them, at whatever depth, is one of records
/// or of a daemon's output.
pub(super) fn holds_only_other_files(folder: &Path) -> bool {
    let mut has_files = false;
    for entry in WalkDir::new(folder)
        .follow_links(true)
        .into_iter()
        .flatten()
    {
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
    fs::File::open(path)?
        .take(START_BYTES)
        .read_to_end(&mut start)?;
    Ok(start)
}

/// Returns `true` for the beginning of a text of which no line is JSON, as that of mail. Compressed
/// records are no text.
pub(super) fn holds_no_records(start: &[u8]) -> bool {
    let mut lines = start
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_start);
    !start.is_empty()
        && !read::is_container(start)
        && !lines.any(|line| line.starts_with(b"{"))
        && !start.trim_ascii().is_empty()
}

/// Returns `true` if there is no entry at a path, not even a link that leads nowhere.
fn is_removed(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// An entry of a folder that matters to a load.
enum InputEntry {
    Folder(PathBuf),
    Records(PathBuf),
    Failed(LoadError),
}

/// Lists a folder, unless it is among those that were `listed`.
fn entries_of(folder: &Path, listed: &mut HashSet<DeviceInode>) -> io::Result<Vec<InputEntry>> {
    if !listed.insert(DeviceInode::of(&fs::metadata(folder)?)) {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let (path, name) = (entry.path(), name.as_bytes());
        if name.starts_with(b".") {
            continue;
        }
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => entries.push(InputEntry::Folder(path)),
            _ if !is_records(name) => {}
            Ok(found) if found.is_file() => entries.push(InputEntry::Records(path)),
            Ok(_) => {
                let error = io::Error::other("is no regular file; name it itself to load it");
                entries.push(InputEntry::Failed(unreadable(path.display(), error)));
            }
            Err(_) if is_removed(&path) => {}
            Err(error) => entries.push(InputEntry::Failed(unreadable(path.display(), error))),
        }
    }
    Ok(entries)
}

/// Returns the segments of a folder whose paths satisfy `is_new`, in the order of their numbers.
/// Files without a sidecar are skipped: the sidecar is published first, so they are no segments.
pub(super) fn segments_in(
    folder: &Path,
    mut is_new: impl FnMut(&Path) -> bool,
) -> Result<Vec<SegmentFile>, LoadError> {
    let named = |error| unreadable(folder.display(), error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(named)? {
        let path = entry.map_err(named)?.path();
        if number(&path).is_some() && is_new(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths
        .iter()
        .filter_map(|path| SegmentFile::at(path))
        .collect())
}

/// Returns `true` if a folder's file of this name holds records.
pub(super) fn is_records(name: &[u8]) -> bool {
    ENDINGS
        .iter()
        .any(|ending| name.ends_with(ending.as_bytes()))
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
