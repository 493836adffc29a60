//! Refusal to replace files that urlspool did not write.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::OutputPlace;
use crate::record::is_written_line;

/// A tag in the head of the HTML pages that urlspool writes, by which they are recognized.
pub const PAGE_MARK: &str = "<meta name=\"generator\" content=\"urlspool\">";

/// Treatment of an existing file that does not show that urlspool wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// It stays, and the run ends before it does anything.
    #[default]
    Refused,
    /// It is replaced (`--force`).
    Allowed,
}

/// Bytes of a file's beginning that are looked at. Longer than most lines; a longer one of chosen
/// fields is not recognized.
const START_BYTES: u64 = 64 << 10;

/// Bytes of a Parquet file's end that are looked at: the last fields of its metadata name the
/// program that wrote it.
const PARQUET_END_BYTES: u64 = 512;

/// The first and the last bytes of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// The end of the name that a Parquet file has for the program that wrote it, before the version.
const PARQUET_CREATOR: &[u8] = b"urlspool ";

/// Checks that an output replaces only what urlspool wrote: an empty file, or one that begins with
/// a record, an event, a summary, the header of a table, an HTML page with [`PAGE_MARK`], or the
/// columns `header`. A Parquet file names its program at its end.
///
/// # Errors
///
/// A sentence that names the file and the way out.
pub fn check_replacement(output: &Path, header: Option<&str>) -> Result<(), String> {
    let OutputPlace::File(path) = OutputPlace::of(output) else {
        return Ok(());
    };
    let is_file = fs::metadata(&path).is_ok_and(|found| found.is_file());
    if !is_file || shows_urlspool(&path, header) {
        return Ok(());
    }
    Err(format!(
        "{} would be replaced, and its beginning does not show that urlspool wrote it; name \
         another file, or add `--force`",
        path.display()
    ))
}

/// Returns `true` if a file is empty or shows that urlspool wrote it. One that cannot be read shows
/// nothing.
fn shows_urlspool(path: &Path, header: Option<&str>) -> bool {
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut start = Vec::new();
    if file
        .by_ref()
        .take(START_BYTES)
        .read_to_end(&mut start)
        .is_err()
    {
        return false;
    }
    let has_columns = |line: &str| {
        let rest = start.strip_prefix(line.as_bytes());
        rest.is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b","))
    };
    start.is_empty()
        || is_written_line(&start)
        || header.is_some_and(has_columns)
        || memchr::memmem::find(&start, PAGE_MARK.as_bytes()).is_some_and(|_| is_page(&start))
        || start.starts_with(PARQUET_MAGIC) && ends_as_our_parquet(&mut file).unwrap_or(false)
}

fn is_page(start: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"<!DOCTYPE html>";
    start
        .get(..BEGINNING.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(BEGINNING))
}

fn ends_as_our_parquet(file: &mut File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(PARQUET_END_BYTES)))?;
    let mut end = Vec::new();
    file.take(PARQUET_END_BYTES).read_to_end(&mut end)?;
    Ok(end.ends_with(PARQUET_MAGIC) && memchr::memmem::find(&end, PARQUET_CREATOR).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_show_urlspool_are_replaced() {
        let folder = std::env::temp_dir().join(format!("urlspool-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        let check = |content: &[u8], header| {
            fs::write(&path, content).unwrap();
            check_replacement(&path, header).is_ok()
        };
        let page = format!("<!DOCTYPE html>\n<html><head>{PAGE_MARK}</head>");
        let own: [(&[u8], Option<&str>); 7] = [
            (b"", None),
            (
                b"{\"type\":\"event\",\"kind\":\"skip\",\"source\":{\"path\":\"a\"}}\n",
                None,
            ),
            (b"url,source.path\n", None),
            (b"url\tsource.path\n", None),
            (b"year,dead\n1996,1\n", Some("year,dead")),
            (page.as_bytes(), None),
            (b"PAR1 ... urlspool 0.1.0 ... PAR1", None),
        ];
        for (content, header) in own {
            assert!(check(content, header), "{}", content.escape_ascii());
        }
        let foreign: [(&[u8], Option<&str>); 7] = [
            (b"From a@b Mon Jan  1 00:00:00 1996\n", None),
            (b"\n", None),
            (b"http://a.example/\n", None),
            (b"year,deaders\n", Some("year,dead")),
            (b"PAR1 ... other 0.1.0 ... PAR1", None),
            (PAGE_MARK.as_bytes(), None),
            (b"a.mbox:12: http://a.example/\n", None),
        ];
        for (content, header) in foreign {
            assert!(!check(content, header), "{}", content.escape_ascii());
        }
        fs::remove_file(&path).unwrap();
        assert!(check_replacement(&path, None).is_ok());
        assert!(
            check_replacement(&folder, None).is_ok(),
            "a folder is reported otherwise"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
