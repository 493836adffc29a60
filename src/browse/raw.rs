//! The raw bytes of a citation with the text around it, of a file that lies unpacked on the disk.

use std::ffi::OsString;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use data_encoding::BASE64;

use crate::limits::{BROWSE_AROUND_BYTES, BROWSE_RAW_BYTES, MAGIC_BYTES};
use crate::read;
use crate::record::FoundSource;
use crate::walk::WalkedFile;

/// A passage of a file: the bytes of a record, and those around it up to line ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawPassage {
    pub(super) before: Vec<u8>,
    /// The bytes of the record, or their beginning.
    pub(super) bytes: Vec<u8>,
    pub(super) after: Vec<u8>,
    /// The number of bytes of the file before `before`.
    pub(super) left_before: u64,
    /// The number of bytes of the record after `bytes`.
    pub(super) left_out: u64,
    /// The number of bytes of the file after `after`.
    pub(super) left_after: u64,
}

/// The reason for which a passage cannot be shown.
#[derive(Debug)]
pub(super) enum NoPassage {
    /// It is in a compressed file, an archive or a repository, which takes time to unpack.
    Packed,
    /// The file cannot be read, or ends before the passage.
    Failed(io::Error),
}

impl From<io::Error> for NoPassage {
    fn from(error: io::Error) -> NoPassage {
        NoPassage::Failed(error)
    }
}

/// Reads the passage of a record. The file is found by the path as it was scanned.
pub(super) fn passage(source: &FoundSource) -> Result<RawPassage, NoPassage> {
    if source.member.is_some() || source.member_b64.is_some() {
        return Err(NoPassage::Packed);
    }
    let exact = source.path_b64.as_deref();
    let exact = exact.and_then(|path| BASE64.decode(path.as_bytes()).ok());
    let path: PathBuf =
        exact.map_or_else(|| (&source.path).into(), |p| OsString::from_vec(p).into());
    let mut file = read::open(&WalkedFile::named(path))?;
    let mut magic = Vec::new();
    (&mut file)
        .take(MAGIC_BYTES as u64)
        .read_to_end(&mut magic)?;
    if read::is_container(&magic) {
        return Err(NoPassage::Packed);
    }
    let range = source.start.cast_unsigned()..source.end.cast_unsigned();
    Ok(passage_in(&mut file, range)?)
}

fn passage_in(file: &mut (impl Read + Seek), range: Range<u64>) -> io::Result<RawPassage> {
    let Range { start, end } = range;
    let first = start.saturating_sub(BROWSE_AROUND_BYTES);
    let length = end.saturating_sub(start).min(BROWSE_RAW_BYTES);
    let mut read = |from: u64, length: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.take(length).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(bytes)
    };
    let (before, bytes, mut after) = (
        read(first, start.saturating_sub(first))?,
        read(start, length)?,
        read(end, BROWSE_AROUND_BYTES)?,
    );
    let file_bytes = file.seek(SeekFrom::End(0))?;
    if (bytes.len() as u64) < length {
        let message = "it ends before the link: it is not the file that was scanned";
        return Err(io::Error::other(message));
    }
    let before = from_line(before, first == 0);
    if end + (after.len() as u64) < file_bytes {
        after = to_line(after);
    }
    Ok(RawPassage {
        left_before: start - before.len() as u64,
        left_out: end.saturating_sub(start) - length,
        left_after: file_bytes.saturating_sub(end + after.len() as u64),
        before,
        bytes,
        after,
    })
}

/// Removes the beginning of bytes that is a part of a line, unless there is only one line.
fn from_line(bytes: Vec<u8>, is_start: bool) -> Vec<u8> {
    match memchr::memchr(b'\n', &bytes) {
        Some(at) if !is_start => bytes[at + 1..].to_vec(),
        _ => bytes,
    }
}

/// Removes the end of bytes that is a part of a line, unless there is only one line.
fn to_line(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(at) = memchr::memrchr(b'\n', &bytes) {
        bytes.truncate(at);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_ends_at_lines() {
        let bytes = |text: &str| text.as_bytes().to_vec();
        assert_eq!(from_line(bytes("alf\nwhole\nsee "), false), b"whole\nsee ");
        assert_eq!(from_line(bytes("first\nsee "), true), b"first\nsee ");
        assert_eq!(from_line(bytes("one line "), false), b"one line ");
        assert_eq!(to_line(bytes(" here\nnext\nhal")), b" here\nnext");
        assert_eq!(to_line(bytes(" one line")), b" one line");
    }

    #[test]
    fn bytes_that_are_not_shown_are_counted() {
        let lines = "line\n".repeat(1_000);
        let url = "u".repeat(300 << 10);
        let mut file = io::Cursor::new(format!("{lines}see {url} here\n{lines}"));
        let start = lines.len() as u64 + 4;
        let mut passage = |range| passage_in(&mut file, range).unwrap();
        let long = passage(start..start + url.len() as u64);
        assert_eq!(long.bytes.len() as u64, BROWSE_RAW_BYTES);
        assert_eq!(long.left_out, (300 << 10) - BROWSE_RAW_BYTES);
        assert!(long.after.starts_with(b" here\n") && long.before.ends_with(b"\nsee "));
        let shown = [&long.before, &long.bytes, &long.after].map(|part| part.len() as u64);
        let left = long.left_before + long.left_out + long.left_after;
        let file_bytes = 2 * lines.len() as u64 + 10 + url.len() as u64;
        assert_eq!(shown.iter().sum::<u64>() + left, file_bytes);
        let first = passage(0..4);
        assert_eq!((first.left_before, first.left_out), (0, 0));
        let last = passage(file_bytes - 5..file_bytes - 1);
        assert_eq!((last.left_after, &*last.after), (0, &b"\n"[..]));
    }
}
