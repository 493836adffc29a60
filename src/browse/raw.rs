//! The raw bytes of a citation with the text around it, of a file that lies unpacked on the disk.

use std::ffi::OsString;
use std::io::{self, Read, Seek, SeekFrom};
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
    pub(super) bytes: Vec<u8>,
    pub(super) after: Vec<u8>,
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
    let (start, end) = (source.start.cast_unsigned(), source.end.cast_unsigned());
    let first = start.saturating_sub(BROWSE_AROUND_BYTES);
    let length = end.saturating_sub(start).min(BROWSE_RAW_BYTES);
    file.seek(SeekFrom::Start(first))?;
    let mut read = |length: u64| {
        let mut bytes = Vec::new();
        (&mut file).take(length).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(bytes)
    };
    let (before, bytes, after) = (
        read(start - first)?,
        read(length)?,
        read(BROWSE_AROUND_BYTES)?,
    );
    if (bytes.len() as u64) < length {
        let message = "it ends before the link: it is not the file that was scanned";
        return Err(NoPassage::Failed(io::Error::other(message)));
    }
    Ok(RawPassage {
        before: from_line(before, first == 0),
        bytes,
        after: to_line(after),
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
}
