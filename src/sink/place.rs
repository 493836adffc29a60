//! Places of outputs: standard output, a device or pipe, or a file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};
use rustix::stdio::stdout;

use super::{PipeSink, resolve};
use crate::origin::Source;
use crate::walk::DeviceInode;

/// Names of standard output among the devices.
const STDOUT_PATHS: &[&str] = &["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Names of standard error among the devices.
const STDERR_PATHS: &[&str] = &["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];

/// Folder of the process's own open files. They are written where they stand, whatever they are.
const OPEN_FILES: &[&str] = &["/dev/fd", "/proc/self/fd"];

/// Place of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPlace {
    /// Standard output, by the name `-` or by none.
    Stdout,
    /// A device or a pipe, which is written in place.
    Device(PathBuf),
    /// A regular file, which may not exist yet.
    File(PathBuf),
}

impl OutputPlace {
    /// Returns the place that the value of an option names.
    #[must_use]
    pub fn of(path: &Path) -> OutputPlace {
        let is_stdout = path.as_os_str() == Source::STDIN
            || STDOUT_PATHS.iter().any(|name| path == Path::new(name));
        if is_stdout {
            return OutputPlace::Stdout;
        }
        let is_open_file =
            is_stderr(path) || OPEN_FILES.iter().any(|folder| path.starts_with(folder));
        let is_device = |metadata: fs::Metadata| {
            let kind = metadata.file_type();
            kind.is_fifo() || kind.is_char_device() || kind.is_block_device() || kind.is_socket()
        };
        if is_open_file || path.metadata().is_ok_and(is_device) {
            OutputPlace::Device(path.to_owned())
        } else {
            OutputPlace::File(path.to_owned())
        }
    }
}

/// Opens a device or a pipe for writing. One of the process's own open files is written at its end;
/// standard error, which messages are written to as well, where they end.
///
/// # Errors
///
/// The error of the system.
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
    /// It does not; the path with links resolved.
    Missing(PathBuf),
}

impl FileIdentity {
    /// Returns the identity of the file at `path`.
    #[must_use]
    pub fn of(path: &Path) -> FileIdentity {
        match path.metadata() {
            Ok(metadata) => FileIdentity::Existing(DeviceInode::of(&metadata)),
            Err(_) => FileIdentity::Missing(resolve(path).unwrap_or_else(|_| path.to_owned())),
        }
    }

    /// Returns the identity of standard output; `None` if that is no regular file.
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

/// Returns the end of a message about an output that cannot be written: the way out, if one is known.
#[must_use]
pub fn way_out(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => {
            format!(
                "; name a file in it, such as {}",
                path.join("urls").display()
            )
        }
        io::ErrorKind::NotFound => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
                format!("; create the folder {} first", folder.display())
            }
            _ => String::new(),
        },
        io::ErrorKind::PermissionDenied => {
            "; name a file in a folder that you may write".to_owned()
        }
        io::ErrorKind::StorageFull => "; make room, and run it again".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_told_from_files() {
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
}
