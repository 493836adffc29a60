//! Segment files: what is being written is hidden in `.open`, what is published never changes again.
//!
//! The folder's listing is the truth for consumers: a name without a dot in front is a whole segment or its sidecar.
//! When data counts as written is decided by the state, which commits a length after [`Segment::sync`].

use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{RenameFlags, renameat_with};
use twox_hash::XxHash3_64;

/// The folder of the segments.
#[derive(Clone, Debug)]
pub struct SegmentDir {
    out: PathBuf,
    open: PathBuf,
}

impl SegmentDir {
    /// Makes the folder and its hidden ones, if they are not there.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(out: &Path) -> io::Result<SegmentDir> {
        let open = out.join(".open");
        fs::create_dir_all(&open)?;
        sync_dir(out)?;
        Ok(SegmentDir {
            out: out.to_owned(),
            open,
        })
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.out
    }

    /// The file of a segment that is being written.
    #[must_use]
    pub fn part(&self, seq: u64) -> PathBuf {
        self.open.join(format!("{seq:010}.part"))
    }

    /// A file that waits to be published.
    #[must_use]
    pub fn hidden(&self, name: &str) -> PathBuf {
        self.open.join(name)
    }

    /// A published file.
    #[must_use]
    pub fn published(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// Begins a segment whose file must not be there yet.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn begin(&self, seq: u64) -> io::Result<Segment> {
        let path = self.part(seq);
        let options = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o640)
            .clone();
        let file = options.open(&path)?;
        sync_dir(&self.open)?;
        Ok(Segment {
            file,
            len: 0,
            hash: XxHash3_64::new(),
        })
    }

    /// Writes a hidden file whole and syncs it. One that is left from a crash is replaced: nobody has seen it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write_hidden(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_synced(&self.hidden(name), bytes)
    }

    /// Gives a hidden file its public name. Never replaces anything. The caller syncs afterwards.
    ///
    /// # Errors
    ///
    /// What the system says; that the name is taken, for one.
    pub fn publish(&self, hidden: &Path, name: &str) -> io::Result<()> {
        let here = rustix::fs::CWD;
        Ok(renameat_with(
            here,
            hidden,
            here,
            self.published(name),
            RenameFlags::NOREPLACE,
        )?)
    }

    /// Puts a hidden file aside that nobody knows: it is neither published nor deleted.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn set_aside(&self, name: &std::ffi::OsStr) -> io::Result<PathBuf> {
        let lost = self.out.join(".lost+found");
        fs::create_dir_all(&lost)?;
        let free = (0_u32..).map(|number| {
            let mut numbered = name.to_owned();
            numbered.push(format!(".{number}"));
            lost.join(numbered)
        });
        let here = rustix::fs::CWD;
        for target in free {
            match renameat_with(
                here,
                self.open.join(name),
                here,
                &target,
                RenameFlags::NOREPLACE,
            ) {
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => return self.sync().map(|()| target),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Makes the names in both folders survive a power cut.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn sync(&self) -> io::Result<()> {
        sync_dir(&self.out)?;
        sync_dir(&self.open)
    }

    /// The names in the hidden folder.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn hidden_names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        fs::read_dir(&self.open)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect()
    }

    /// The highest number of a segment or sidecar that is published here; 0 for none.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn highest(&self) -> io::Result<u64> {
        let mut highest = 0;
        for entry in fs::read_dir(&self.out)? {
            highest = highest.max(number(&entry?.file_name()).unwrap_or(0));
        }
        Ok(highest)
    }
}

/// The number that a segment's or sidecar's name begins with.
#[must_use]
pub fn number(name: &std::ffi::OsStr) -> Option<u64> {
    let (number, ending) = name.to_str()?.split_once('.')?;
    (number.len() >= 10 && matches!(ending, "jsonl" | "jsonl.zst" | "meta" | "part"))
        .then(|| number.parse().ok())?
}

/// A segment that is being written.
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
    /// Appends whole lines. On an error the segment is to be dropped: what it holds on disk is anybody's guess.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        self.len += lines.len() as u64;
        self.hash.write(lines);
        Ok(())
    }

    /// Returns the segment once everything appended would survive a power cut.
    ///
    /// Takes the segment, so that after a failure there is none: a second sync of the same descriptor succeeds while
    /// the data is gone.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn sync(self) -> io::Result<Segment> {
        self.file.sync_data()?;
        Ok(self)
    }

    /// Bytes appended.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was appended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// XXH3 (64 bits) of what was appended.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash.finish()
    }
}

/// The hash of a file's first `len` bytes, or nothing if it has fewer.
///
/// # Errors
///
/// What the system says.
pub fn hash_of(path: &Path, len: u64) -> io::Result<Option<u64>> {
    const PIECE_BYTES: usize = 256 << 10;
    let mut file = File::open(path)?.take(len);
    let mut hash = XxHash3_64::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut read = 0;
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((read == len).then(|| hash.finish())),
            Ok(bytes) => {
                hash.write(&piece[..bytes]);
                read += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Cuts a file to `len` bytes, so that it stays cut after a power cut.
///
/// # Errors
///
/// What the system says.
pub fn cut(path: &Path, len: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(len)?;
    file.sync_all()
}

/// Compresses a file with zstd into another and syncs it.
///
/// # Errors
///
/// What the system says.
pub fn compress(from: &Path, to: &Path) -> io::Result<()> {
    /// zstd's own default: fast enough for one thread beside the extraction.
    const LEVEL: i32 = 3;
    let mut out = zstd::Encoder::new(File::create(to)?, LEVEL)?;
    io::copy(&mut File::open(from)?, &mut out)?;
    out.finish()?.sync_all()
}

/// Gives a file that was written beside another its name, so that it has it after a power cut.
///
/// # Errors
///
/// What the system says.
pub fn take_place(next: &Path, path: &Path) -> io::Result<()> {
    File::open(next)?.sync_all()?;
    fs::rename(next, path)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Replaces a file: written beside, synced, renamed, its folder synced.
///
/// # Errors
///
/// What the system says.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = path.with_extension("next");
    write_synced(&next, bytes)?;
    fs::rename(&next, path)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a folder's names survive a power cut.
///
/// # Errors
///
/// What the system says.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
