//! Segment files. A segment is written in the hidden folder `.open` and never changes after it is
//! published.
//!
//! Consumers rely on the folder's listing: a name without a leading dot is a complete segment or
//! its sidecar. The state decides when data counts as written: it commits a length after
//! [`Segment::sync`].

use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{RenameFlags, renameat_with};
use twox_hash::XxHash3_64;
use walkdir::{DirEntry, WalkDir};

use urlspool_sources::walk::DeviceInode;

/// Name of the file with the highest segment number that may have been published. Consumers remove
/// segments; without this file, a state that was lost or restored from a backup would reuse their
/// numbers.
const LAST_NUMBER: &str = ".last";

/// Name of the copy of the state's secret key, needed if the whole state folder is lost.
const KEY: &str = ".key";

/// Output folder with its segments.
#[derive(Clone, Debug)]
pub(crate) struct SegmentDir {
    out: PathBuf,
    open: PathBuf,
}

impl SegmentDir {
    /// Creates the folder and its hidden folder if they do not exist.
    pub(crate) fn create(out: &Path) -> io::Result<SegmentDir> {
        let open = out.join(".open");
        fs::create_dir_all(&open)?;
        sync_dir(out)?;
        Ok(SegmentDir {
            out: out.to_owned(),
            open,
        })
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.out
    }

    /// The path of a segment that is being written.
    pub(crate) fn part(&self, seq: u64) -> PathBuf {
        self.open.join(format!("{seq:010}.part"))
    }

    /// The path of a hidden file, which is not published yet.
    pub(crate) fn hidden(&self, name: &str) -> PathBuf {
        self.open.join(name)
    }

    /// The path of a published file.
    pub(crate) fn published(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// The path of the copy of the state's secret key.
    pub(crate) fn key(&self) -> PathBuf {
        self.out.join(KEY)
    }

    /// Starts a segment, whose file must not exist yet.
    pub(crate) fn begin(&self, seq: u64) -> io::Result<Segment> {
        let mut options = OpenOptions::new();
        let options = options.append(true).create_new(true).mode(0o640);
        let file = options.open(self.part(seq))?;
        sync_dir(&self.open)?;
        Ok(Segment {
            file,
            len: 0,
            hash: XxHash3_64::new(),
        })
    }

    /// Returns `false` if the file of `segment`, which has this number, was removed or replaced
    /// since it was created. Other errors, such as an unreachable server, do not count.
    pub(crate) fn holds(&self, seq: u64, segment: &Segment) -> bool {
        let opened = segment.file.metadata().map(|found| DeviceInode::of(&found));
        match (opened, fs::metadata(self.part(seq))) {
            (Ok(opened), Ok(named)) => opened == DeviceInode::of(&named),
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), Ok(_)) => true,
        }
    }

    /// Returns `false` if the folder of unfinished files was removed.
    pub(crate) fn exists(&self) -> bool {
        !fs::metadata(&self.open).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Writes a hidden file and syncs it. Replaces a file left by a crash: no consumer has seen it.
    pub(crate) fn write_hidden(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(self.hidden(name))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Creates a hidden file without a name. It disappears when its descriptor is closed.
    pub(crate) fn unnamed(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.open)
    }

    /// Renames a hidden file to its published name. Never replaces a file. The caller syncs
    /// afterwards.
    ///
    /// # Errors
    ///
    /// The system's error; `EEXIST` if the name is taken.
    pub(crate) fn publish(&self, hidden: &Path, name: &str) -> io::Result<()> {
        Ok(rename_new(hidden, &self.published(name))?)
    }

    /// Moves an unknown hidden file to `.lost+found`, where it is neither published nor deleted.
    /// Returns its new path.
    pub(crate) fn set_aside(&self, name: &std::ffi::OsStr) -> io::Result<PathBuf> {
        let lost = self.out.join(".lost+found");
        fs::create_dir_all(&lost)?;
        for number in 0_u32.. {
            let mut numbered = name.to_owned();
            numbered.push(format!(".{number}"));
            let target = lost.join(numbered);
            match rename_new(&self.open.join(name), &target) {
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => return self.sync().map(|()| target),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Makes the names in both folders durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        sync_dir(&self.out)?;
        sync_dir(&self.open)
    }

    /// Returns the names in the hidden folder, sorted.
    pub(crate) fn hidden_names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        entries(&self.open)
            .map(|entry| Ok(entry?.file_name().to_owned()))
            .collect()
    }

    /// Records durably that the segment `seq` may have been published. A removed segment keeps its
    /// number.
    ///
    /// # Errors
    ///
    /// The system's error, or the error of [`SegmentDir::highest`].
    pub(crate) fn remember(&self, seq: u64) -> io::Result<()> {
        if seq <= self.remembered()? {
            return Ok(());
        }
        replace(
            &self.out.join(LAST_NUMBER),
            format!("{seq}\n").as_bytes(),
            SHARED,
        )
    }

    /// Returns the highest recorded number, or 0 if there is no record.
    fn remembered(&self) -> io::Result<u64> {
        let path = self.out.join(LAST_NUMBER);
        let (kind, reason) = match fs::read_to_string(&path) {
            Ok(text) => match text.trim().parse() {
                Ok(number) => return Ok(number),
                Err(_) => (
                    io::ErrorKind::InvalidData,
                    " has no number; write the number of the last segment into it".to_owned(),
                ),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => (error.kind(), format!(": {error}")),
        };
        Err(io::Error::new(kind, format!("{}{reason}", path.display())))
    }

    /// Returns the highest number of a segment or sidecar that was ever published, even if it was
    /// removed since. 0 if there was none.
    ///
    /// # Errors
    ///
    /// The system's error, or the file with the recorded number does not contain one.
    pub(crate) fn highest(&self) -> io::Result<u64> {
        let mut highest = self.remembered()?;
        for entry in entries(&self.out) {
            highest = highest.max(number(entry?.file_name()).unwrap_or(0));
        }
        Ok(highest)
    }
}

/// Renames a file to a name that must be free.
fn rename_new(from: &Path, to: &Path) -> rustix::io::Result<()> {
    let here = rustix::fs::CWD;
    renameat_with(here, from, here, to, RenameFlags::NOREPLACE)
}

/// Lists one of the crate's own folders, sorted by name.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    let listing = WalkDir::new(folder).min_depth(1).max_depth(1);
    listing.sort_by_file_name().into_iter()
}

/// Returns the number at the start of the name of a segment or sidecar.
pub(crate) fn number(name: &std::ffi::OsStr) -> Option<u64> {
    let (number, ending) = name.to_str()?.split_once('.')?;
    (number.len() >= 10 && matches!(ending, "jsonl" | "jsonl.zst" | "meta" | "part"))
        .then(|| number.parse().ok())?
}

/// A segment that is being written.
pub(crate) struct Segment {
    file: File,
    len: u64,
    hash: XxHash3_64,
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segment")
            .field("file", &self.file)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl Segment {
    /// Appends whole lines. After an error the caller drops the segment: its content on disk is
    /// undefined.
    pub(crate) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        self.len += lines.len() as u64;
        self.hash.write(lines);
        Ok(())
    }

    /// Returns the segment once all appended data is durable.
    ///
    /// Consumes the segment on failure: a second sync of the same descriptor would succeed although
    /// the data is lost.
    pub(crate) fn sync(self) -> io::Result<Segment> {
        self.file.sync_data()?;
        Ok(self)
    }

    /// Returns the number of bytes appended.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the 64-bit XXH3 hash of the appended data.
    pub(crate) fn hash(&self) -> u64 {
        self.hash.finish()
    }
}

/// Returns the hash of the first `len` bytes of a file, or `None` if it is shorter.
pub(crate) fn hash_of(path: &Path, len: u64) -> io::Result<Option<u64>> {
    const BUFFER_BYTES: u64 = 256 << 10;
    let mut file = File::open(path)?.take(len);
    let mut hash = XxHash3_64::new();
    let mut buffer = Vec::new();
    let mut read = 0;
    while 0 < { &mut file }.take(BUFFER_BYTES).read_to_end(&mut buffer)? {
        hash.write(&buffer);
        read += buffer.len() as u64;
        buffer.clear();
    }
    Ok((read == len).then(|| hash.finish()))
}

/// Truncates a file to `len` bytes, durably.
pub(crate) fn cut(path: &Path, len: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(len)?;
    file.sync_all()
}

/// Compresses a file with zstd into another and syncs it.
pub(crate) fn compress(from: &Path, to: &Path) -> io::Result<()> {
    /// zstd's default, fast enough for one thread next to the extraction.
    const LEVEL: i32 = 3;
    let mut out = zstd::Encoder::new(File::create(to)?, LEVEL)?;
    io::copy(&mut File::open(from)?, &mut out)?;
    out.finish()?.sync_all()
}

/// Replaces `path` by `next`, a file in the same folder, durably.
pub(crate) fn replace_with(next: &Path, path: &Path) -> io::Result<()> {
    File::open(next)?.sync_all()?;
    fs::rename(next, path)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Mode of a file that the umask may restrict.
pub(crate) const SHARED: u32 = 0o666;

/// Mode of a file that only its owner can read.
pub(crate) const PRIVATE: u32 = 0o600;

/// Replaces the content of a file durably: writes a new file next to it, syncs it, renames it, and
/// syncs the folder.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let next = path.with_extension("next");
    // Somebody else, or a crash, may have left one.
    let _ = fs::remove_file(&next);
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(mode);
    options.open(&next)?.write_all(bytes)?;
    replace_with(&next, path)
}

/// Removes a file if it exists.
pub(crate) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the names in a folder durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
