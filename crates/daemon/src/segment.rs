//! Segment files: a segment is written in the hidden folder `.open`, and never changes after it is
//! published.
//!
//! Consumers rely on the listing of the folder: a name without a leading dot is a complete segment
//! or its sidecar. The state decides when data counts as written: it commits a length after
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

/// Name of the file with the highest number of a segment that may have been published. Consumers
/// remove segments; without it, a state that was lost or restored from a backup would use their
/// numbers again.
const LAST_NUMBER: &str = ".last";

/// Name of the copy of the state's secret key, for a state folder that is lost as a whole.
const KEY: &str = ".key";

/// Output folder with its segments.
#[derive(Clone, Debug)]
pub struct SegmentDir {
    out: PathBuf,
    open: PathBuf,
}

impl SegmentDir {
    /// Creates the folder and its hidden folder, if they do not exist.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn create(out: &Path) -> io::Result<SegmentDir> {
        let open = out.join(".open");
        fs::create_dir_all(&open)?;
        sync_dir(out)?;
        Ok(SegmentDir {
            out: out.to_owned(),
            open,
        })
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.out
    }

    /// Returns the path of a segment that is being written.
    #[must_use]
    pub fn part(&self, seq: u64) -> PathBuf {
        self.open.join(format!("{seq:010}.part"))
    }

    /// Returns the path of a hidden file, which is not published yet.
    #[must_use]
    pub fn hidden(&self, name: &str) -> PathBuf {
        self.open.join(name)
    }

    /// Returns the path of a published file.
    #[must_use]
    pub fn published(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// Returns the path of the copy of the state's secret key.
    #[must_use]
    pub fn key(&self) -> PathBuf {
        self.out.join(KEY)
    }

    /// Begins a segment, whose file must not exist yet.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn begin(&self, seq: u64) -> io::Result<Segment> {
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
    /// since it was begun. An error that says neither, of a server that is away, counts for
    /// nothing.
    #[must_use]
    pub fn holds(&self, seq: u64, segment: &Segment) -> bool {
        let opened = segment.file.metadata().map(|found| DeviceInode::of(&found));
        match (opened, fs::metadata(self.part(seq))) {
            (Ok(opened), Ok(named)) => opened == DeviceInode::of(&named),
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), Ok(_)) => true,
        }
    }

    /// Returns `false` if the folder of unfinished files was removed.
    #[must_use]
    pub fn exists(&self) -> bool {
        !fs::metadata(&self.open).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Writes a hidden file and syncs it. Replaces a file that a crash left there: no consumer has
    /// seen it.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn write_hidden(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_synced(&self.hidden(name), bytes)
    }

    /// Creates a hidden file without a name: it ends with its descriptor.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn unnamed(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.open)
    }

    /// Renames a hidden file to its published name. Never replaces a file. The caller syncs
    /// afterwards.
    ///
    /// # Errors
    ///
    /// The error of the system; `EEXIST` if the name is taken.
    pub fn publish(&self, hidden: &Path, name: &str) -> io::Result<()> {
        Ok(rename_new(hidden, &self.published(name))?)
    }

    /// Moves an unknown hidden file to `.lost+found`: it is neither published nor deleted. Returns
    /// its new path.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn set_aside(&self, name: &std::ffi::OsStr) -> io::Result<PathBuf> {
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
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn sync(&self) -> io::Result<()> {
        sync_dir(&self.out)?;
        sync_dir(&self.open)
    }

    /// Returns the names in the hidden folder, in order.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn hidden_names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        entries(&self.open)
            .map(|entry| Ok(entry?.file_name().to_owned()))
            .collect()
    }

    /// Records durably that the segment `seq` may have been published. A segment that is removed
    /// keeps its number.
    ///
    /// # Errors
    ///
    /// The error of the system, or [`SegmentDir::highest`]'s.
    pub fn remember(&self, seq: u64) -> io::Result<()> {
        if seq <= self.remembered()? {
            return Ok(());
        }
        replace(&self.out.join(LAST_NUMBER), format!("{seq}\n").as_bytes())
    }

    /// Returns the highest number that was recorded; 0 if none was.
    fn remembered(&self) -> io::Result<u64> {
        let path = self.out.join(LAST_NUMBER);
        let (kind, reason) = match fs::read_to_string(&path) {
            Ok(text) => match text.trim().parse() {
                Ok(number) => return Ok(number),
                Err(_) => (
                    io::ErrorKind::InvalidData,
                    " holds no number; write the number of the last segment into it".to_owned(),
                ),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => (error.kind(), format!(": {error}")),
        };
        Err(io::Error::new(kind, format!("{}{reason}", path.display())))
    }

    /// Returns the highest number of a segment or sidecar that was published, even if it was
    /// removed since; 0 if there is none.
    ///
    /// # Errors
    ///
    /// The error of the system, or the file with the recorded number holds none.
    pub fn highest(&self) -> io::Result<u64> {
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

/// Lists a folder of the crate's own, in the order of names.
fn entries(folder: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    let listing = WalkDir::new(folder).min_depth(1).max_depth(1);
    listing.sort_by_file_name().into_iter()
}

/// Returns the number at the start of the name of a segment or sidecar.
#[must_use]
pub fn number(name: &std::ffi::OsStr) -> Option<u64> {
    let (number, ending) = name.to_str()?.split_once('.')?;
    (number.len() >= 10 && matches!(ending, "jsonl" | "jsonl.zst" | "meta" | "part"))
        .then(|| number.parse().ok())?
}

/// Segment that is being written.
pub struct Segment {
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
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        self.len += lines.len() as u64;
        self.hash.write(lines);
        Ok(())
    }

    /// Returns the segment once all appended data is durable.
    ///
    /// Consumes the segment if it fails: a second sync of the same descriptor would succeed
    /// although the data is lost.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn sync(self) -> io::Result<Segment> {
        self.file.sync_data()?;
        Ok(self)
    }

    /// Returns the number of bytes appended.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns `true` if nothing was appended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the XXH3 hash (64 bits) of the data appended.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash.finish()
    }
}

/// Returns the hash of the first `len` bytes of a file, or `None` if it has fewer.
///
/// # Errors
///
/// The error of the system.
pub fn hash_of(path: &Path, len: u64) -> io::Result<Option<u64>> {
    const BUFFER_BYTES: usize = 256 << 10;
    let mut file = File::open(path)?.take(len);
    let mut hash = XxHash3_64::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut read = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((read == len).then(|| hash.finish())),
            Ok(bytes) => {
                hash.write(&buffer[..bytes]);
                read += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Truncates a file to `len` bytes, durably.
///
/// # Errors
///
/// The error of the system.
pub fn cut(path: &Path, len: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(len)?;
    file.sync_all()
}

/// Compresses a file with zstd into another and syncs it.
///
/// # Errors
///
/// The error of the system.
pub fn compress(from: &Path, to: &Path) -> io::Result<()> {
    /// The default of zstd: fast enough for one thread beside the extraction.
    const LEVEL: i32 = 3;
    let mut out = zstd::Encoder::new(File::create(to)?, LEVEL)?;
    io::copy(&mut File::open(from)?, &mut out)?;
    out.finish()?.sync_all()
}

/// Replaces `path` by `next`, which was written beside it, durably.
///
/// # Errors
///
/// The error of the system.
pub fn take_place(next: &Path, path: &Path) -> io::Result<()> {
    File::open(next)?.sync_all()?;
    fs::rename(next, path)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Replaces the content of a file durably: writes a new file beside it, syncs it, renames it, and
/// syncs the folder.
///
/// # Errors
///
/// The error of the system.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = path.with_extension("next");
    write_synced(&next, bytes)?;
    take_place(&next, path)
}

/// Replaces the content of a file as [`replace`] does. Only its owner can read it.
///
/// # Errors
///
/// The error of the system.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = path.with_extension("next");
    // One that somebody else made, or that a crash left.
    let _ = fs::remove_file(&next);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&next)?;
    file.write_all(bytes)?;
    take_place(&next, path)
}

/// Removes a file, if it is there.
pub(crate) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the names in a folder durable.
///
/// # Errors
///
/// The error of the system.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
