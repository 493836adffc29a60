//! Fixtures of the tests: the program as a shell runs it, temporary folders, the corpus, random
//! numbers, the output of a run, a host for the daemon.

mod collision;
mod host;
mod rng;
mod run_output;
mod scan;

pub(crate) use collision::colliding_messages;
pub(crate) use host::{TestHost, when_unlocked};
pub(crate) use rng::Rng;
pub(crate) use run_output::RunOutput;
pub(crate) use scan::scan;

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use serde_json::Value;

/// Returns the folder of the fixtures.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Returns the sorted names in a folder, without golden output and containers.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| !name.contains(".golden.") && name != "containers" && name != "golden");
    names.sort();
    names
}

/// Returns every regular file below a folder, sorted, without golden output.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in names(&folder).into_iter().map(|name| folder.join(name)) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Builds a command that runs the program without arguments. Tests start it two thousand times.
/// Without huge pages, which must be cleared, a start takes 7 ms, not 10.
pub(crate) fn program_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_urlspool"));
    command.env("MIMALLOC_ALLOW_THP", "0");
    command
}

/// Builds a command with these arguments, in the folder of the fixtures.
pub(crate) fn urlspool<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Command {
    let mut command = program_command();
    command
        .args(args)
        .current_dir(corpus())
        .env_remove("URLSPOOL_CONFIG");
    command
}

/// Copies the program to `copy`, for users who may not enter the build folder. The copy is written
/// by another process. If this process wrote it, a child started by another test could inherit the
/// open descriptor, and the system does not execute a file that is open for writing.
#[track_caller]
pub(crate) fn copy_program(copy: &Path) {
    let mut command = Command::new("cp");
    command.arg(env!("CARGO_BIN_EXE_urlspool")).arg(copy);
    assert!(command.status().expect("it starts").success());
}

/// Exit status and output of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Exit status, or `None` if a signal ended the command.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Runs a command with `input` on its standard input.
///
/// # Panics
///
/// Panics if the command hangs for more than a minute.
#[track_caller]
pub(crate) fn ended(command: &mut Command, input: &[u8]) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let (mut stdin, mut stdout, mut stderr) = (
        child.stdin.take().unwrap(),
        child.stdout.take().unwrap(),
        child.stderr.take().unwrap(),
    );
    let begun = Instant::now();
    let status = thread::scope(|scope| {
        // A program may close the pipe without reading all input.
        scope.spawn(move || drop(stdin.write_all(input)));
        let out = scope.spawn(move || all(&mut stdout));
        let err = scope.spawn(move || all(&mut stderr));
        loop {
            if let Some(status) = child.try_wait().expect("it can be waited for") {
                return Some((status, out.join().unwrap(), err.join().unwrap()));
            }
            if begun.elapsed() > Duration::from_mins(1) {
                child.kill().expect("it can be ended");
                return None;
            }
            thread::sleep(Duration::from_millis(1));
        }
    });
    let (status, stdout, stderr) = status.unwrap_or_else(|| panic!("{command:?} hangs"));
    Ended {
        status: status.code(),
        stdout,
        stderr: String::from_utf8(stderr).expect("words are UTF-8"),
    }
}

fn all(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("a pipe can be read");
    bytes
}

/// Runs `urlspool` with these arguments and empty standard input. It must end with status 0.
#[track_caller]
pub(crate) fn done(args: &[&str]) -> Ended {
    let ended = ended(&mut urlspool(args), b"");
    assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
    ended
}

impl Ended {
    /// Checks the exit status, and that standard error contains a text.
    #[track_caller]
    pub(crate) fn check(&self, status: i32, text: &str) {
        assert_eq!(self.status, Some(status), "{}", self.stderr);
        assert_contains(&self.stderr, text);
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("output is UTF-8")
    }

    /// Parses the lines of standard output.
    #[track_caller]
    pub(crate) fn records(&self) -> Vec<Value> {
        lines(&self.stdout)
    }

    /// Returns the URLs and fragments of the records.
    #[track_caller]
    pub(crate) fn urls(&self) -> Vec<String> {
        self.records().iter().map(url).collect()
    }
}

#[track_caller]
pub(crate) fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in: {text}");
}

/// Waits until a condition holds, for at most a minute.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_mins(1), "not yet: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Parses JSON lines. The last line must have a line end.
#[track_caller]
pub(crate) fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("lines are UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| {
            line.parse()
                .unwrap_or_else(|error| panic!("{error}: {line}"))
        })
        .collect()
}

/// Returns a record's URL and fragment as written in the text.
pub(crate) fn url(record: &Value) -> String {
    let url = record["url"]
        .as_str()
        .unwrap_or_else(|| panic!("no url: {record}"));
    record["fragment"]
        .as_str()
        .map_or(url.to_owned(), |fragment| format!("{url}#{fragment}"))
}

/// A temporary folder, removed when it is dropped. A failed test leaves it for inspection.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates a folder in the system's folder for temporary files.
    pub(crate) fn new() -> Folder {
        Folder::below(&env::temp_dir())
    }

    /// Creates a folder on an in-memory file system, if there is one, where syncing takes no time.
    pub(crate) fn in_memory() -> Folder {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Folder::below(memory)
        } else {
            Folder::new()
        }
    }

    /// Creates a folder in `parent`.
    pub(crate) fn below(parent: &Path) -> Folder {
        static CREATED: AtomicUsize = AtomicUsize::new(0);
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("urlspool-test-{}-{number}", process::id()));
        // An earlier process with this number may have failed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder can be created");
        Folder(path)
    }

    /// Creates a folder with one file.
    pub(crate) fn with(name: &str, bytes: impl AsRef<[u8]>) -> Folder {
        let folder = Folder::new();
        folder.write(name, bytes);
        folder
    }

    /// Returns a path in the folder. The name may contain slashes and bytes that are not UTF-8.
    pub(crate) fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.0.join(OsStr::from_bytes(name.as_ref()))
    }

    /// Writes a file, and creates the folders above it.
    pub(crate) fn write(&self, name: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).expect("a folder can be made");
        fs::write(&path, bytes).expect("a file can be written");
        path
    }

    /// Writes a file and returns its path as text, for arguments.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        self.write(name, bytes)
            .into_os_string()
            .into_string()
            .unwrap()
    }

    pub(crate) fn root(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !thread::panicking() {
            // A folder that cannot be removed stays among the temporary files.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Returns `signal`, or SIGTERM if this process ignores `signal`, because its children then ignore
/// it too. `nohup` ignores SIGHUP, and a script's background processes ignore SIGINT.
pub(crate) fn unless_ignored(signal: rustix::process::Signal) -> rustix::process::Signal {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    if ignored & (1 << (signal.as_raw() - 1)) == 0 {
        signal
    } else {
        rustix::process::Signal::TERM
    }
}
