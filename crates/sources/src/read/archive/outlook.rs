//! Outlook folders (PST, OST), unpacked by the program `readpst` (Debian package pst-utils).
//!
//! `readpst` writes one file for each item into a private folder. The folder is removed at the end,
//! or when the run is interrupted; that of a killed process is removed at the next start. It is
//! locked while its process runs. The Outlook folder is the standard input of `readpst`, so no name
//! reaches it.
//!
//! The output of `readpst` differs from run to run: the numbers in its MIME boundaries are random,
//! and its calendars hold the time of the run. Both are replaced while a member is read, so that
//! places in a member are valid in every run.

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead, BufReader, Read, Take};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec;

use rustix::fs::{FlockOperation, flock, statvfs};
use rustix::process::{Pid, Signal, WaitOptions, geteuid, kill_process_group, waitpid};

use super::{ArchiveEntry, EntryContent};
use crate::read::process::ChildProcess;
use crate::read::{error, input};
use crate::walk::{self, PathFilter, SymlinkPolicy, WalkStep};
use urlspool_text::byte_scan::prefix_len;
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::{
    Limits, OUTLOOK_LINE_BYTES, OUTLOOK_LOG_BYTES, OUTLOOK_NUMBERS, STREAM_BYTES,
    UNPACK_ENTRIES_PER_ROUND, UNPACK_FREE_BYTES, UNPACK_ROUND_MS,
};

/// Returns `true` if a file that starts with `start` is an Outlook folder.
#[must_use]
pub fn is_outlook(start: &[u8]) -> bool {
    start.starts_with(b"!BDN")
}

/// Returns `true` if `readpst` is installed.
#[must_use]
pub fn has_readpst() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join("readpst").is_file())
}

/// The unpacked items of an Outlook folder.
pub(in crate::read) struct OutlookReader {
    folder: PrivateFolder,
    steps: vec::IntoIter<WalkStep>,
    /// Output of `readpst`.
    log: Vec<u8>,
    /// Maximum number of bytes of all items.
    bytes_left: u64,
    /// The reason why items are missing.
    failure: Option<io::Error>,
}

impl OutlookReader {
    /// Unpacks `file`, which has `bytes` bytes.
    pub(in crate::read) fn unpack(
        file: File,
        bytes: u64,
        limits: &Limits,
    ) -> io::Result<OutlookReader> {
        let folder = PrivateFolder::create()?;
        let mut log = Vec::new();
        let most = (limits.nested_ratio as u64).saturating_mul(bytes);
        let most = most.saturating_add(limits.attached_bytes as u64);
        let failure = run(file, most, &folder, limits, &mut log).err();
        folder.set_program(None);
        Ok(OutlookReader {
            steps: written(&folder.path).into_iter(),
            folder,
            log,
            bytes_left: most,
            failure,
        })
    }

    /// Returns the warning about items that `readpst` skipped.
    pub(super) fn warning(&self) -> Option<String> {
        let log = String::from_utf8_lossy(&self.log);
        // `"Inbox" - 11 items done, 6 items skipped.`
        let lines = log
            .lines()
            .filter_map(|line| line.strip_suffix(" items skipped."));
        let numbers = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u32>().ok());
        let skipped: u64 = numbers.map(u64::from).sum();
        let warning = format!("readpst skipped {skipped} items of kinds that it cannot read");
        (0 < skipped).then_some(warning)
    }

    /// Returns the next item, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let Some(step) = self.steps.next() else {
            return self.failure.take().map_or(Ok(None), Err);
        };
        let (source, content) = match step {
            WalkStep::File(file) => {
                // A file may still grow if `readpst` started a program that was not killed.
                let bytes = file.size.min(self.bytes_left);
                self.bytes_left -= bytes;
                let reader = input::open(&file).map(|opened| StableReader::new(opened.take(bytes)));
                let content = reader.map(|reader| EntryContent::plain(Box::new(reader)));
                (file.source, content.unwrap_or_else(EntryContent::Broken))
            }
            WalkStep::Failed(event) => {
                let error = io::Error::other(event.diagnostic.message);
                (event.source, EntryContent::Broken(error))
            }
            WalkStep::Skipped { source, reason } => (source, EntryContent::Skipped(reason)),
            WalkStep::Repository(source) => (source, EntryContent::Skipped(SkipReason::Repository)),
            // Only for other roots than a folder.
            WalkStep::Part { .. } | WalkStep::Stream(_) | WalkStep::Stdin => return Ok(None),
        };
        let path = source
            .path
            .strip_prefix(&self.folder.path)
            .unwrap_or(&source.path);
        // The first component is the name of the mailbox.
        let mut components = path.components();
        if 1 < path.components().count() {
            components.next();
        }
        let name = components.as_path().as_os_str().as_bytes().to_owned();
        Ok(Some(ArchiveEntry { name, content }))
    }
}

/// Returns everything below a folder. No symbolic link is followed.
fn written(folder: &Path) -> Vec<WalkStep> {
    let roots = [folder.to_owned()];
    walk::walk(&roots, &PathFilter::default(), SymlinkPolicy::Skip).collect()
}

/// Runs `readpst` until it ends, the folder is too large, or nothing changes for too long.
fn run(
    file: File,
    most: u64,
    folder: &PrivateFolder,
    limits: &Limits,
    log: &mut Vec<u8>,
) -> io::Result<()> {
    let mut command = Command::new("readpst");
    command
        .env_clear()
        .envs([("LC_ALL", "C.UTF-8"), ("TZ", "UTC")])
        .envs(env::var_os("PATH").map(|path| ("PATH", path)))
        // One file for each item, deleted items too, in one process.
        .args(["-M", "-D", "-j", "0", "-o"])
        .arg(&folder.path)
        .arg("/dev/stdin")
        .stdin(file)
        .process_group(0);
    let mut process = ChildProcess::spawn(command, "readpst".to_owned(), |mut it| it.spawn())?;
    folder.set_program(Some(process.pid()));
    let (mut before, mut idle_rounds, mut rounds_to_check) = ((0, 0), 0, 0);
    loop {
        let status = process.try_end()?;
        process.read_output(log, OUTLOOK_LOG_BYTES)?;
        if let Some(status) = status {
            return process.success(status, log);
        }
        if rounds_to_check == 0 {
            let steps = written(&folder.path);
            rounds_to_check = steps.len() / UNPACK_ENTRIES_PER_ROUND;
            let sizes = steps.iter().map(|step| match step {
                WalkStep::File(file) => file.size + STREAM_BYTES,
                _ => STREAM_BYTES,
            });
            let now = (sizes.sum::<u64>(), log.len());
            check(now.0, most, &folder.path)?;
            if std::mem::replace(&mut before, now) != now {
                idle_rounds = 0;
            }
        } else {
            rounds_to_check -= 1;
        }
        idle_rounds += usize::from(process.is_silent(UNPACK_ROUND_MS)?);
        if limits.git_silence_s * 1_000 < idle_rounds * UNPACK_ROUND_MS as usize {
            let silence = limits.git_silence_s;
            return Err(error::limit(format!(
                "readpst was silent for {silence} s and was killed; `git_silence_s` sets this limit"
            )));
        }
    }
}

/// Checks that at most `most` bytes were written, and that there is room for more.
fn check(written: u64, most: u64, folder: &Path) -> io::Result<()> {
    if most < written {
        return Err(error::limit(format!(
            "readpst wrote more than {most} bytes, `nested_ratio` times the size of the file and \
             `attached_bytes`, and was killed"
        )));
    }
    let free = statvfs(folder)?;
    if free.f_bavail.saturating_mul(free.f_frsize) < UNPACK_FREE_BYTES {
        let place = env::temp_dir();
        return Err(io::Error::other(format!(
            "readpst was killed because {} is full; TMPDIR names another place",
            place.display()
        )));
    }
    Ok(())
}

/// Texts of `readpst` before and after a random number: in boundaries, and in names of calendars.
const RANDOM: [(&[u8], &[u8]); 3] = [
    (b"boundary-LibPST-iamunique-", b"_-_-"),
    (b"; name=\"i", b".ics\""),
    (b"; filename=\"i", b".ics\""),
];

/// Reader of an item, with what differs from run to run replaced.
struct StableReader {
    input: BufReader<Take<File>>,
    /// The part of the line that was not returned yet.
    line: VecDeque<u8>,
    /// Random numbers, in the order of their first places.
    numbers: Vec<Vec<u8>>,
    is_calendar: bool,
}

impl StableReader {
    fn new(file: Take<File>) -> StableReader {
        StableReader {
            input: BufReader::with_capacity(OUTLOOK_LINE_BYTES, file),
            line: VecDeque::new(),
            numbers: Vec::new(),
            is_calendar: false,
        }
    }

    fn next_line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut input = (&mut self.input).take(OUTLOOK_LINE_BYTES as u64);
        input.read_until(b'\n', &mut line)?;
        self.is_calendar |= line.starts_with(b"PRODID:LibPST");
        if self.is_calendar && line.starts_with(b"DTSTAMP:") {
            return Ok(b"DTSTAMP:19700101T000000Z\n".to_vec());
        }
        for (before, after) in RANDOM {
            let Some(at) = memchr::memmem::find(&line, before) else {
                continue;
            };
            let start = at + before.len();
            let end = start + prefix_len(&line[start..], u8::is_ascii_digit);
            let number = line[start..end].to_owned();
            let known = self.numbers.iter().position(|known| *known == number);
            let index = known.unwrap_or(self.numbers.len());
            if line[end..].starts_with(after) && index < OUTLOOK_NUMBERS {
                line.splice(start..end, format!("{index:010}").into_bytes());
                self.numbers.extend(known.is_none().then_some(number));
            }
        }
        Ok(line)
    }
}

impl Read for StableReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() {
            self.line = self.next_line()?.into();
        }
        self.line.read(buffer)
    }
}

/// First letters of the names of private folders.
const PREFIX: &str = "urlspool-files-";

/// A folder that only its owner may enter, in the folder for temporary files.
struct PrivateFolder {
    path: PathBuf,
    /// The open folder, which holds the lock.
    _lock: File,
}

/// Private folders of this process, each with the program that writes into it.
type OpenFolders = BTreeMap<PathBuf, Option<Pid>>;

/// All private folders of this process. A thread that ends the process removes them.
static OPEN: Mutex<OpenFolders> = Mutex::new(OpenFolders::new());

fn open_folders() -> MutexGuard<'static, OpenFolders> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PrivateFolder {
    fn create() -> io::Result<PrivateFolder> {
        static CREATED: AtomicUsize = AtomicUsize::new(0);
        remove_abandoned_folders();
        let (process, number) = (std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(format!("{PREFIX}{process}-{number}"));
        let mut open = open_folders();
        // Another process may remove the folder before it is locked.
        let lock = locked_new(&path).or_else(|_| locked_new(&path));
        let lock = lock.map_err(|error| {
            let path = path.display();
            io::Error::other(format!(
                "cannot make {path}: {error}; TMPDIR names another place"
            ))
        })?;
        open.insert(path.clone(), None);
        Ok(PrivateFolder { path, _lock: lock })
    }

    /// Sets the program that writes into the folder, until it ends.
    fn set_program(&self, program: Option<Pid>) {
        open_folders().insert(self.path.clone(), program);
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What cannot be removed now is removed at the next start.
        let _ = fs::remove_dir_all(&self.path);
        open_folders().remove(&self.path);
    }
}

/// Ends the programs that write into private folders, and removes the folders. For the thread that
/// then ends this process: no folder is created any more.
pub fn leave_private_folders() {
    let mut open = open_folders();
    for (path, program) in std::mem::take(&mut *open) {
        if let Some(program) = program {
            let _ = kill_process_group(program, Signal::KILL);
            let _ = waitpid(Some(program), WaitOptions::empty());
        }
        let _ = fs::remove_dir_all(path);
    }
    std::mem::forget(open);
}

/// Removes the private folders of processes that were killed.
pub fn remove_abandoned_folders() {
    let entries = env::temp_dir().read_dir();
    for entry in entries.into_iter().flatten().flatten() {
        let is_folder = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        let is_ours = |found: fs::Metadata| found.is_dir() && found.uid() == geteuid().as_raw();
        if is_folder && entry.metadata().is_ok_and(is_ours) && locked(&entry.path()).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Creates a folder that only its owner may enter, and locks it.
fn locked_new(path: &Path) -> io::Result<File> {
    DirBuilder::new().mode(0o700).create(path)?;
    locked(path)
}

/// Locks a folder. Fails if its process runs.
fn locked(path: &Path) -> io::Result<File> {
    let folder = File::open(path)?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}
