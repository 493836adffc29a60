//! Local indexes of captures: sorted CDXJ, and ZipNum, whose blocks are compressed and listed in an
//! index of their own. Both are searched by halves.
//!
//! An index of an archive may have billions of lines, so it is not read as a whole, but for one check
//! of the order of a small one. Disorder in a larger one is found where it is read.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

use super::capture::{ArchiveReply, Capture};
use super::surt::surt;
use crate::audit::AuditError;
use crate::limits::{
    AUDIT_CDXJ_BLOCK_BYTES, AUDIT_CDXJ_CHECKED_BYTES, AUDIT_CDXJ_KEY_BYTES, AUDIT_CDXJ_LINE_BYTES,
    AUDIT_CDXJ_PLACES,
};

/// Bytes that are read at once in a search.
const STEP_BYTES: usize = 4 << 10;

/// Bytes that are read at once where lines are read one after the other.
const READ_BYTES: usize = 256 << 10;

/// A sorted index of captures.
pub(in crate::audit) struct CdxjIndex {
    path: PathBuf,
    file: File,
    len: u64,
    is_zip_num: bool,
}

impl CdxjIndex {
    /// Opens an index, and checks that its beginning is one, and sorted.
    pub(super) fn open(path: &Path) -> Result<CdxjIndex, AuditError> {
        let unusable =
            |reason: &str| AuditError::unusable(format!("`--cdxj {}`: {reason}", path.display()));
        let unread = |error: io::Error| unusable(&error.to_string()).caused_by(error);
        // First: opening a pipe waits for a writer, perhaps forever.
        if !fs::metadata(path).map_err(unread)?.is_file() {
            return Err(unusable(
                "it is no file; name a sorted CDXJ, or the .idx file of ZipNum",
            ));
        }
        let file = File::open(path).map_err(unread)?;
        let metadata = file.metadata().map_err(unread)?;
        let mut index = CdxjIndex {
            path: path.to_owned(),
            file,
            len: metadata.len(),
            is_zip_num: false,
        };
        if let Some(line) = index.line_at(0).map_err(unread)? {
            index.is_zip_num = line.contains(&b'\t');
            let is_line = if index.is_zip_num {
                block(&line).is_some()
            } else {
                line.starts_with(b"!") || line.starts_with(b" CDX") || capture(&line).is_some()
            };
            if !is_line {
                return Err(unusable("it is neither CDXJ nor the index of ZipNum"));
            }
        }
        let checked = index.check_order().and_then(|()| index.check_places());
        checked.map_err(|error| unusable(&format!("it {error}")).caused_by(error))?;
        Ok(index)
    }

    /// Checks the order of the lines within the first [`AUDIT_CDXJ_CHECKED_BYTES`].
    fn check_order(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut lines = BufReader::with_capacity(READ_BYTES, &self.file);
        let (mut line, mut before) = (Vec::new(), Vec::new());
        let mut offset = 0;
        while offset < self.len.min(AUDIT_CDXJ_CHECKED_BYTES) {
            line.clear();
            let mut limited = (&mut lines).take(AUDIT_CDXJ_LINE_BYTES);
            let len = limited.read_until(b'\n', &mut line)? as u64;
            if line.pop_if(|byte| *byte == b'\n').is_none() && AUDIT_CDXJ_LINE_BYTES <= len {
                return Err(invalid("has a line that is too long"));
            }
            if line < before {
                return Err(disorder(offset));
            }
            offset += len;
            std::mem::swap(&mut line, &mut before);
            if len == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Checks the order of lines at [`AUDIT_CDXJ_PLACES`] places of a larger file: where sorted files
    /// were put together, two of them are in a wrong order.
    fn check_places(&mut self) -> io::Result<()> {
        if self.len <= AUDIT_CDXJ_CHECKED_BYTES {
            return Ok(());
        }
        self.compare_places(AUDIT_CDXJ_PLACES)
    }

    fn compare_places(&mut self, places: u64) -> io::Result<()> {
        let step = (self.len / (places + 1)).max(1);
        let mut before = Vec::new();
        for place in 1..=places {
            let offset = self.next_line(place * step)?;
            let Some(line) = self.line_at(offset)? else {
                break;
            };
            if line < before {
                return Err(disorder(offset));
            }
            before = line;
        }
        Ok(())
    }

    /// Returns the path as the user gave it.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the captures of a URL.
    pub(super) fn ask(&mut self, url: &str) -> ArchiveReply {
        let Some(key) = surt(url) else {
            return ArchiveReply::Captures(Vec::new());
        };
        match self.captures(format!("{key} ").as_bytes()) {
            Ok(captures) => ArchiveReply::Captures(captures),
            Err(error) => ArchiveReply::Failed(format!("{}: {error}", self.name())),
        }
    }

    /// Returns the captures whose lines begin with `start`.
    fn captures(&mut self, start: &[u8]) -> io::Result<Vec<Capture>> {
        let bounds = self.first_line_from(start)?;
        let mut found = Vec::new();
        if !self.is_zip_num {
            self.file.seek(SeekFrom::Start(bounds.first))?;
            add_captures(&mut BufReader::new(&self.file), start, &mut found)?;
            return Ok(found);
        }
        // The block before may end with the first lines.
        let mut offset = bounds.before.unwrap_or(bounds.first);
        let mut read_bytes = 0;
        while let Some(line) = self.line_at(offset)? {
            let is_after = bounds.first <= offset && !line.starts_with(start);
            if is_after {
                break;
            }
            let Some(block) = block(&line) else {
                return Err(invalid("has a line without the place of a block"));
            };
            if AUDIT_CDXJ_KEY_BYTES < read_bytes {
                return Err(invalid("has too many captures of this page"));
            }
            let bytes = self.block_bytes(&block)?;
            read_bytes += bytes.len() as u64;
            add_captures(&mut bytes.as_slice(), start, &mut found)?;
            offset += line.len() as u64 + 1;
        }
        Ok(found)
    }

    /// Reads and decompresses a block.
    fn block_bytes(&self, block: &Block<'_>) -> io::Result<Vec<u8>> {
        let name = Path::new(block.shard);
        if !matches!(
            name.components().collect::<Vec<_>>()[..],
            [Component::Normal(_)]
        ) {
            return Err(invalid("names a file of blocks that is not beside it"));
        }
        let path = self.path.with_file_name(name);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if !fs::metadata(&path).map_err(named)?.is_file() {
            return Err(named(invalid("it is no file")));
        }
        let mut file = File::open(&path).map_err(named)?;
        file.seek(SeekFrom::Start(block.offset)).map_err(named)?;
        let mut bytes = Vec::new();
        let decoder = MultiGzDecoder::new(file.take(block.len));
        let mut decoder = decoder.take(AUDIT_CDXJ_BLOCK_BYTES + 1);
        decoder.read_to_end(&mut bytes).map_err(named)?;
        if AUDIT_CDXJ_BLOCK_BYTES < bytes.len() as u64 {
            return Err(invalid("has a block that is too large"));
        }
        Ok(bytes)
    }

    /// Finds the first line that is not before `start`.
    fn first_line_from(&mut self, start: &[u8]) -> io::Result<Bounds> {
        // `first` begins a line, and all lines before it are smaller.
        let mut bounds = Bounds {
            before: None,
            first: 0,
        };
        let mut end = self.len;
        // The lines at `before` and at `end`: the others lie between, or the file is not sorted.
        let (mut smallest, mut largest) = (Vec::new(), None);
        while bounds.first < end {
            let middle = bounds.first + (end - bounds.first) / 2;
            let offset = if middle == bounds.first {
                middle
            } else {
                self.next_line(middle)?
            };
            if end <= offset {
                end = middle;
                continue;
            }
            let line = self.line_at(offset)?.unwrap_or_default();
            if line < smallest || largest.as_ref().is_some_and(|largest| *largest < line) {
                return Err(disorder(offset));
            }
            if line.as_slice() < start {
                bounds = Bounds {
                    before: Some(offset),
                    first: offset + line.len() as u64 + 1,
                };
                smallest = line;
            } else {
                end = offset;
                largest = Some(line);
            }
        }
        Ok(bounds)
    }

    /// Returns the offset of the first line that begins at `offset` or after it.
    fn next_line(&mut self, offset: u64) -> io::Result<u64> {
        let line = self.line_at(offset - 1)?.unwrap_or_default();
        Ok(offset + line.len() as u64)
    }

    /// Returns the bytes from `offset` to the end of the line; `None` at the end of the file.
    fn line_at(&mut self, offset: u64) -> io::Result<Option<Vec<u8>>> {
        if self.len <= offset {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(offset))?;
        let mut line = Vec::new();
        let file = (&self.file).take(AUDIT_CDXJ_LINE_BYTES);
        BufReader::with_capacity(STEP_BYTES, file).read_until(b'\n', &mut line)?;
        if line.pop_if(|byte| *byte == b'\n').is_none()
            && AUDIT_CDXJ_LINE_BYTES <= line.len() as u64
        {
            return Err(invalid("has a line that is too long"));
        }
        Ok(Some(line))
    }
}

/// The place of a key in an index.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Offset of the last line before it that is known; `None` without any.
    before: Option<u64>,
    /// Offset of the first line that is not before it.
    first: u64,
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// The error of a file that is not sorted. `offset` is that of a line in a wrong place, or beside one.
fn disorder(offset: u64) -> io::Error {
    invalid(&format!(
        "is not sorted by bytes near byte {offset}; sort it with `LC_ALL=C sort`"
    ))
}

/// Adds the captures of the lines that begin with `start`. Lines before them are passed over.
fn add_captures(
    lines: &mut impl BufRead,
    start: &[u8],
    found: &mut Vec<Capture>,
) -> io::Result<()> {
    let mut lines = lines.take(AUDIT_CDXJ_KEY_BYTES);
    let (mut line, mut before) = (Vec::new(), Vec::new());
    loop {
        std::mem::swap(&mut line, &mut before);
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            let is_cut = lines.limit() == 0;
            return if is_cut {
                Err(invalid("has too many captures of this page"))
            } else {
                Ok(())
            };
        }
        if line < before {
            return Err(invalid(
                "is not sorted by bytes where it has this page; sort it with `LC_ALL=C sort`",
            ));
        }
        if line.starts_with(start) {
            let capture = capture(&line);
            found.push(capture.ok_or_else(|| invalid("has a line that is not CDXJ"))?);
        } else if start < line.as_slice() {
            return Ok(());
        }
    }
}

/// The third field of a line of CDXJ.
#[derive(Deserialize)]
struct CdxjFields {
    url: String,
    /// A text, or a number.
    status: Option<Value>,
}

/// Parses a line: key, timestamp, and an object.
fn capture(line: &[u8]) -> Option<Capture> {
    let mut fields = line.splitn(3, |&byte| byte == b' ');
    let (_, timestamp, object) = (fields.next()?, fields.next()?, fields.next()?);
    let fields: CdxjFields = serde_json::from_slice(object).ok()?;
    let status = match fields.status {
        Some(Value::String(status)) => status.parse().ok(),
        Some(Value::Number(status)) => status.as_u64().and_then(|status| status.try_into().ok()),
        _ => None,
    };
    Some(Capture {
        timestamp: std::str::from_utf8(timestamp).ok()?.to_owned(),
        original: fields.url,
        status,
        address: None,
    })
}

/// The place of a block of ZipNum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block<'l> {
    shard: &'l str,
    offset: u64,
    len: u64,
}

/// Parses a line of the index of ZipNum: the first key of a block, its file, offset and length.
fn block(line: &[u8]) -> Option<Block<'_>> {
    let mut fields = std::str::from_utf8(line).ok()?.split('\t').skip(1);
    Some(Block {
        shard: fields.next()?,
        offset: fields.next()?.parse().ok()?,
        len: fields.next()?.trim_end().parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn line(key: &str, timestamp: u64) -> String {
        format!("{key} {timestamp} {{\"url\": \"http://h/\", \"status\": \"200\"}}\n")
    }

    /// Sorted lines of pages with up to four captures each.
    fn lines(pages: u64) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        for page in 0..pages {
            let key = format!("test,h{})/{}", page % 7, page * page % 1_009);
            for capture in 0..page % 5 {
                lines.push((
                    key.clone(),
                    line(&key, 19_970_101_000_000 + page * 100 + capture),
                ));
            }
        }
        lines.sort_by(|a, b| a.1.cmp(&b.1));
        lines.dedup();
        lines
    }

    /// Asks for all pages and as many that are not there.
    fn check(index: &mut CdxjIndex, lines: &[(String, String)]) {
        let mut pages: BTreeMap<&str, usize> = BTreeMap::new();
        for (key, _) in lines {
            *pages.entry(key).or_default() += 1;
        }
        for (key, count) in &pages {
            let found = index.captures(format!("{key} ").as_bytes()).unwrap();
            assert_eq!(found.len(), *count, "{key}");
            let none = index.captures(format!("{key}x ").as_bytes()).unwrap();
            assert_eq!(none, [], "{key}x");
        }
        for none in [" ", "aaa)/ ", "zzz)/ "] {
            assert_eq!(index.captures(none.as_bytes()).unwrap(), []);
        }
    }

    #[test]
    fn every_page_is_found_by_halves() {
        let folder = tempfile::tempdir().unwrap();
        for pages in [1, 2, 3, 50, 700] {
            let lines = lines(pages);
            let text: String = lines.iter().map(|(_, line)| line.as_str()).collect();
            let path = folder.path().join("a.cdxj");
            for text in [&text[..], text.trim_end(), &format!("!meta {{}}\n{text}")] {
                fs::write(&path, text).unwrap();
                check(&mut CdxjIndex::open(&path).unwrap(), &lines);
            }
        }
    }

    #[test]
    fn pages_are_found_in_blocks_of_zip_num() {
        let folder = tempfile::tempdir().unwrap();
        let lines = lines(700);
        for block_lines in [1, 2, 3, 40, 5_000] {
            let (mut index, mut blocks) = (String::new(), Vec::new());
            for block in lines.chunks(block_lines) {
                let mut packer = GzEncoder::new(Vec::new(), Compression::default());
                for (_, line) in block {
                    packer.write_all(line.as_bytes()).unwrap();
                }
                let bytes = packer.finish().unwrap();
                let start: Vec<_> = block[0].1.splitn(3, ' ').collect();
                index += &format!(
                    "{} {}\tc.gz\t{}\t{}\t1\n",
                    start[0],
                    start[1],
                    blocks.len(),
                    bytes.len()
                );
                blocks.extend(bytes);
            }
            let path = folder.path().join("c.idx");
            fs::write(&path, index).unwrap();
            fs::write(folder.path().join("c.gz"), blocks).unwrap();
            check(&mut CdxjIndex::open(&path).unwrap(), &lines);
        }
    }

    #[test]
    fn blocks_of_a_page_without_end_are_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.idx");
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        let captures = line("test,h)/", 19_970_101_000_000).repeat(20_000);
        packer.write_all(captures.as_bytes()).unwrap();
        let bytes = packer.finish().unwrap();
        let entry = format!("test,h)/ 1997\tc.gz\t0\t{}\t1\n", bytes.len());
        fs::write(folder.path().join("c.gz"), bytes).unwrap();
        let blocks = AUDIT_CDXJ_KEY_BYTES as usize / captures.len();
        fs::write(&path, entry.repeat(blocks + 9)).unwrap();
        let error = CdxjIndex::open(&path)
            .unwrap()
            .captures(b"test,h)/ ")
            .unwrap_err();
        assert!(error.to_string().contains("too many captures"), "{error}");
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (text, reason) in [
            ("From a Mon Jan 1\n", "neither CDXJ nor"),
            ("a)/ 1997 not json\n", "neither CDXJ nor"),
            ("a\tb\tc\td\n", "neither CDXJ nor"),
            (&(line("b)/", 1) + &line("a)/", 1)), "not sorted"),
        ] {
            fs::write(&path, text).unwrap();
            let error = CdxjIndex::open(&path).err().unwrap().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let error = CdxjIndex::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("it is no file"), "{error}");
        #[cfg(unix)]
        {
            let pipe = folder.path().join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.unwrap().success());
            let error = CdxjIndex::open(&pipe).err().unwrap().to_string();
            assert!(error.contains("it is no file"), "{error}");
        }
        fs::write(&path, "").unwrap();
        assert_eq!(CdxjIndex::open(&path).unwrap().captures(b"x ").unwrap(), []);
    }

    /// Two sorted halves, one after the other: each place where they meet is found, or the page is.
    #[test]
    fn disorder_is_found_where_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cdxj");
        let lines = lines(700);
        let text = |lines: &[(String, String)]| -> String {
            lines.iter().map(|(_, line)| line.as_str()).collect()
        };
        let (first, second) = lines.split_at(lines.len() / 2);
        fs::write(&path, text(second) + &text(first)).unwrap();
        let error = CdxjIndex::open(&path).err().unwrap().to_string();
        let place = format!("not sorted by bytes near byte {}", text(second).len());
        assert!(error.contains(&place), "{error}");
        // As if it were too large to be read for it.
        fs::write(&path, text(&lines)).unwrap();
        let mut index = CdxjIndex::open(&path).unwrap();
        index.compare_places(40).unwrap();
        fs::write(&path, text(second) + &text(first)).unwrap();
        let error = index.compare_places(40).unwrap_err().to_string();
        assert!(error.contains("not sorted by bytes near byte "), "{error}");
        // A search sees disorder among the lines that it reads.
        let late = line("test,a)/", 1);
        fs::write(&path, text(&lines[..710]) + &late + &text(&lines[711..])).unwrap();
        let is_told = |(key, _): &&(String, String)| {
            let found = index.captures(format!("{key} ").as_bytes());
            found.is_err_and(|error| error.to_string().contains("not sorted"))
        };
        assert!(0 < lines.iter().filter(is_told).count());
    }

    #[test]
    fn files_of_blocks_elsewhere_and_broken_ones_are_failures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.idx");
        fs::write(folder.path().join("c.gz"), "no gzip").unwrap();
        for shard in ["../c.gz", "/etc/passwd", "..", "", "missing.gz", "c.gz"] {
            fs::write(&path, format!("test,h)/ 1997\t{shard}\t0\t9\t1\n")).unwrap();
            let mut index = CdxjIndex::open(&path).unwrap();
            assert!(index.captures(b"test,h)/ ").is_err(), "{shard}");
        }
        let long = "x".repeat(AUDIT_CDXJ_LINE_BYTES as usize + 5);
        fs::write(&path, line("a)/", 1) + &long).unwrap();
        assert!(CdxjIndex::open(&path).is_err());
    }
}
