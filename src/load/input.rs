//! Inputs of a load: standard input, files, segments, and those of folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::segment::{SegmentFile, number};

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoadInput {
    Stdin,
    File(PathBuf),
    Segment(SegmentFile),
}

/// The input that was not found, or a folder that cannot be listed.
#[derive(Debug)]
pub(super) struct InputError {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
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

/// Returns the inputs that an argument names: of a folder the files of records beneath it, in the order of their names.
pub(super) fn inputs_of(argument: &Path) -> Result<Vec<LoadInput>, InputError> {
    if argument == Path::new(STDIN) {
        return Ok(vec![LoadInput::Stdin]);
    }
    let named = |error| InputError {
        path: argument.to_owned(),
        error,
    };
    if !fs::metadata(argument).map_err(named)?.is_dir() {
        return Ok(vec![LoadInput::at(argument.to_owned())]);
    }
    let mut files = Vec::new();
    let mut folders = vec![argument.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(named)? {
            let entry = entry.map_err(named)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(named)?);
            match entry.file_name().to_str() {
                Some(name) if name.starts_with('.') => {}
                _ if kind.is_dir() => folders.push(path),
                Some(name) if kind.is_file() && is_records(name) => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files.into_iter().map(LoadInput::at).collect())
}

/// Returns the segments of a folder whose paths satisfy `is_new`, in the order of their numbers. Files without a sidecar are
/// skipped: the sidecar is published first, so they are no segments.
pub(super) fn segments_in(
    folder: &Path,
    mut is_new: impl FnMut(&Path) -> bool,
) -> Result<Vec<SegmentFile>, InputError> {
    let named = |error| InputError {
        path: folder.to_owned(),
        error,
    };
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

fn is_records(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}
