//! Places of outputs: standard output, a device or pipe, or a file. Refuses to replace files that
//! urlspool did not write.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};
use rustix::stdio::stdout;

use super::{PipeSink, resolve};
use urlspool_record::record::is_written_line;
use urlspool_sources::walk::DeviceInode;
use urlspool_text::origin::Source;

/// Names of standard output among the devices.
const STDOUT_PATHS: &[&str] = &["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Names of standard error among the devices.
const STDERR_PATHS: &[&str] = &["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];

/// Folders of the process's own open files. These are written in place, whatever their type.
const OPEN_FILES: &[&str] = &["/dev/fd", "/proc/self/fd"];

/// Place of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPlace {
    /// Standard output, named `-` or by default.
    Stdout,
    /// A device or a pipe, written in place.
    Device(PathBuf),
    /// A regular file, which may not exist yet.
    File(PathBuf),
}

impl OutputPlace {
    /// Returns the place named by the value of an option.
    #[must_use]
    pub fn of(path: &Path) -> OutputPlace {
        let is_stdout = path.as_os_str() == Source::STDIN
            || STDOUT_PATHS.iter().any(|name| path == Path::new(name));
        if is_stdout {
            return OutputPlace::Stdout;
        }
        let is_open_file =
            is_stderr(path) || OPEN_FILES.iter().any(|folder| path.starts_with(folder));
        if is_open_file || path.metadata().is_ok_and(|found| is_device(&found)) {
            OutputPlace::Device(path.to_owned())
        } else {
            OutputPlace::File(path.to_owned())
        }
    }
}

fn is_device(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device() || kind.is_socket()
}

/// Opens a device or a pipe for writing. One of the process's own open files is appended to.
/// Standard error, which also receives messages, is written at its current position.
///
/// # Errors
///
/// The system's error.
pub fn open_device(path: &Path) -> io::Result<PipeSink<File>> {
    if is_stderr(path) {
        let shared = io::stderr().as_fd().try_clone_to_owned()?;
        return Ok(PipeSink(File::from(shared)));
    }
    Ok(PipeSink(OpenOptions::new().append(true).open(path)?))
}

/// The identity of a file that may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileIdentity {
    /// The file exists.
    Existing(DeviceInode),
    /// The file does not exist; its path with links resolved.
    Missing(PathBuf),
}

impl FileIdentity {
    /// Returns the device and inode of an existing file.
    #[must_use]
    pub fn id(&self) -> Option<DeviceInode> {
        match self {
            FileIdentity::Existing(id) => Some(*id),
            FileIdentity::Missing(_) => None,
        }
    }

    /// Returns the identity of the file at `path`.
    #[must_use]
    pub fn of(path: &Path) -> FileIdentity {
        match path.metadata() {
            Ok(metadata) => FileIdentity::Existing(DeviceInode::of(&metadata)),
            Err(_) => FileIdentity::Missing(resolve(path).unwrap_or_else(|_| path.to_owned())),
        }
    }

    /// Returns the identity of standard output; `None` if it is not a regular file.
    #[must_use]
    pub fn of_stdout() -> Option<FileIdentity> {
        let stat = fstat(stdout()).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
        is_file.then(|| FileIdentity::Existing(DeviceInode::of_stat(&stat)))
    }
}

fn is_stderr(path: &Path) -> bool {
    STDERR_PATHS.iter().any(|name| path == Path::new(name))
}

/// Returns the end of a message about an unwritable output: the remedy, if one is known.
#[must_use]
pub fn way_out(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => {
            let file = path.join("urls");
            format!("; name a file in it, such as {}", file.display())
        }
        io::ErrorKind::NotFound => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
                format!("; create the folder {} first", folder.display())
            }
            _ => String::new(),
        },
        io::ErrorKind::PermissionDenied => "; name a file in a writable folder".to_owned(),
        io::ErrorKind::StorageFull => "; free some space, and run it again".to_owned(),
        _ => String::new(),
    }
}

/// A tag in the head of the HTML pages that urlspool writes, which identifies them.
pub const PAGE_MARK: &str = "<meta name=\"generator\" content=\"urlspool\">";

/// Treatment of an existing file that urlspool may not have written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// The file is kept, and the run ends before doing any work.
    #[default]
    Refused,
    /// The file is replaced (`--force`).
    Allowed,
}

/// Number of bytes to inspect at the start of a file. Longer than most lines; a longer line of
/// chosen fields is not recognized.
const START_BYTES: u64 = 64 << 10;

/// Number of bytes to inspect at the end of a Parquet file: the last fields of its metadata name
/// the program that wrote it.
const PARQUET_END_BYTES: u64 = 512;

/// The first and the last bytes of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// The end of the program name in a Parquet file, before the version.
const PARQUET_CREATOR: &[u8] = b"urlspool ";

/// Checks that an output replaces only files that urlspool wrote. Such a file is empty, or starts
/// with a record, an event, a summary, the header of a table, an HTML page with [`PAGE_MARK`], or
/// the columns `header`. A Parquet file names the program at its end.
///
/// # Errors
///
/// A sentence that names the file and the remedy.
pub fn check_replacement(output: &Path, header: Option<&str>) -> Result<(), String> {
    let OutputPlace::File(path) = OutputPlace::of(output) else {
        return Ok(());
    };
    let is_file = fs::metadata(&path).is_ok_and(|found| found.is_file());
    if !is_file || shows_urlspool(&path, header) {
        return Ok(());
    }
    Err(format!(
        "{} exists, and urlspool may not have written it; name another file, or add `--force`",
        path.display()
    ))
}

/// Returns `true` if a file is empty or is recognizably written by urlspool. `false` for an
/// unreadable file.
fn shows_urlspool(path: &Path, header: Option<&str>) -> bool {
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut start = Vec::new();
    let read = file.by_ref().take(START_BYTES).read_to_end(&mut start);
    if read.is_err() {
        return false;
    }
    start.is_empty()
        || is_written_line(&start)
        || header.is_some_and(|line| has_columns(&start, line))
        || memchr::memmem::find(&start, PAGE_MARK.as_bytes()).is_some_and(|_| is_page(&start))
        || start.starts_with(PARQUET_MAGIC) && ends_as_our_parquet(&mut file).unwrap_or(false)
}

fn has_columns(start: &[u8], line: &str) -> bool {
    let rest = start.strip_prefix(line.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b","))
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
    fn devices_and_files_are_distinguished() {
        let place = |path: &str| OutputPlace::of(Path::new(path));
        for path in ["-", "/dev/stdout", "/dev/fd/1"] {
            assert_eq!(place(path), OutputPlace::Stdout, "{path}");
        }
        for path in ["/dev/null", "/dev/stderr", "/dev/fd/63"] {
            assert_eq!(place(path), OutputPlace::Device(path.into()), "{path}");
        }
        for path in ["./-", "out.jsonl", "/dev/shm/out.jsonl"] {
            assert_eq!(place(path), OutputPlace::File(path.into()), "{path}");
        }
    }

    #[test]
    fn only_files_written_by_urlspool_are_replaced() {
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
