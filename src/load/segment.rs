//! Segments of the daemon, recognized by their sidecars.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::target::SegmentId;
use crate::record::Sidecar;

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
    /// Returns the segment at `path`; `None` if the name has no number, there is no sidecar beside it, or one of
    /// them is no regular file.
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
