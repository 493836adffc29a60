//! Runs lychee on a batch of links.
//!
//! The links reach it as escaped `href`s of an HTML file in a folder of its own, so that it reads
//! them as they are, and no configuration file of another folder. Folders that checks left when
//! they were killed are removed by the next check.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};
use tempfile::TempDir;

use super::CheckJob;
use super::guard_proxy::GuardProxy;
use crate::audit::AuditError;
use crate::audit::lychee::{Answer, lychee_answers};
use crate::diagnostic::shortened;
use crate::limits::{
    AUDIT_ANSWER_BYTES, AUDIT_CHECKER_MESSAGE_BYTES, AUDIT_POLL_MS, MESSAGE_VALUE_CHARS,
};

/// Options of lychee that a user can replace: one request at a time to a host, and pauses in
/// between.
const DEFAULTS: [(&str, &str); 3] = [
    ("--host-concurrency", "1"),
    ("--host-request-interval", "500ms"),
    ("--max-concurrency", "128"),
];

/// Runs the checker, and kills it when standard input ends. The check holds the other end of it, which
/// the system closes also for a check that is killed.
const SUPERVISOR: &str = r#"
exec 3<&0
"$@" 3<&- </dev/null & checker=$!
{ read -r end <&3; kill -s KILL "$checker"; } >/dev/null 2>&1 & watch=$!
wait "$checker"
status=$?
kill -s KILL "$watch"
exit "$status"
"#;

/// Variables by which lychee finds a proxy.
const PROXY_VARIABLES: [&str; 6] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
];

/// The program that checks links.
#[derive(Debug)]
pub(super) struct Checker<'j> {
    job: &'j CheckJob,
    program: PathBuf,
    version: String,
}

/// The output of the checker for a batch.
#[derive(Debug)]
pub(super) struct CheckerOutput {
    pub(super) answers: Vec<Answer>,
    /// Its last message on standard error.
    pub(super) last_message: Option<String>,
}

impl<'j> Checker<'j> {
    /// Finds the program, and asks it for its version. Removes temporary files of checks that were
    /// killed.
    pub(super) fn find(job: &'j CheckJob) -> Result<Checker<'j>, AuditError> {
        remove_abandoned(&job.temporary);
        let program = program(&job.checker).map_err(|error| not_run(&job.checker, error))?;
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| not_run(&job.checker, error))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || version.is_empty() || version.contains('\n') {
            return Err(AuditError::no_answers(format!(
                "{} does not print its version as lychee does; name lychee with `--checker PATH`",
                job.checker.display()
            )));
        }
        Ok(Checker {
            job,
            program,
            version,
        })
    }

    /// Returns name and version of the program.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Runs the checker on a batch. Returns `None` if it was killed, because the check was stopped.
    pub(super) fn run(
        &self,
        batch: &[String],
        proxy: &GuardProxy,
        stop: &AtomicBool,
    ) -> Result<Option<CheckerOutput>, AuditError> {
        let folder = BatchFolder::create(&self.job.temporary)?;
        folder.write(&page(batch))?;
        let mut child = self
            .command(folder.path(), proxy)
            .spawn()
            .map_err(|error| not_run(&self.job.checker, error))?;
        let output = read_in_thread(child.stdout.take(), AUDIT_ANSWER_BYTES);
        let messages = read_in_thread(child.stderr.take(), AUDIT_CHECKER_MESSAGE_BYTES);
        let ended = wait(&mut child, stop).map_err(|error| not_run(&self.job.checker, error))?;
        let Some(status) = ended else {
            return Ok(None);
        };
        let (output, messages) = (collected(output), collected(messages));
        let messages = String::from_utf8_lossy(&messages);
        // A signal from the terminal reaches the checker too, perhaps first.
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match (status.code(), lychee_answers(&output)) {
            // 2: some links are dead.
            (Some(0 | 2), Ok(answers)) => Ok(Some(CheckerOutput {
                answers,
                last_message: lines(&messages).next_back().map(str::to_owned),
            })),
            (code, answers) => Err(self.failed(code, &messages, answers.err())),
        }
    }

    fn command(&self, folder: &Path, proxy: &GuardProxy) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", SUPERVISOR, "urlspool"]);
        command.arg(&self.program).current_dir(folder).args([
            "--format",
            "json",
            "-v",
            "--no-progress",
            "--cache=false",
        ]);
        let is_given = |name: &str| {
            let given = |argument: &String| argument.split('=').next() == Some(name);
            self.job.checker_args.iter().any(given)
        };
        for (name, value) in DEFAULTS {
            if !is_given(name) {
                command.args([name, value]);
            }
        }
        if self.job.private_hosts.is_empty() {
            command.arg("--exclude-all-private");
        }
        for name in PROXY_VARIABLES {
            command.env(name, proxy.url());
        }
        // With a token lychee would ask the API of GitHub, beside the link.
        for name in ["NO_PROXY", "no_proxy", "GITHUB_TOKEN"] {
            command.env_remove(name);
        }
        command
            .args(&self.job.checker_args)
            .arg(LINKS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The error of a checker that ended with this code. `unreadable` is the reason why its output
    /// is not lychee's.
    fn failed(
        &self,
        code: Option<i32>,
        messages: &str,
        unreadable: Option<serde_json::Error>,
    ) -> AuditError {
        let end = match code {
            // So the supervisor gives the number of a signal.
            Some(129..) | None => "was ended by a signal".to_owned(),
            Some(code) => format!("ended with exit code {code}"),
        };
        let not_json = || {
            let error = unreadable.as_ref()?;
            Some(format!("its output is not the JSON of lychee: {error}"))
        };
        let reason = lines(messages).next().map(str::to_owned).or_else(not_json);
        let reason = reason.unwrap_or_else(|| "it printed no message".to_owned());
        let error = AuditError::no_answers(format!(
            "{} {end}: {}",
            self.job.checker.display(),
            shortened(&reason, MESSAGE_VALUE_CHARS)
        ));
        match unreadable {
            Some(cause) => error.caused_by(cause),
            None => error,
        }
    }
}

/// The lines of the checker's messages that are not blank.
fn lines(messages: &str) -> impl DoubleEndedIterator<Item = &str> {
    let lines = messages.lines().map(str::trim);
    lines.filter(|line| !line.is_empty())
}

/// Returns the program to run from any folder. A name without a slash is looked for on PATH.
fn program(checker: &Path) -> io::Result<PathBuf> {
    if checker.components().count() == 1 && checker.file_name() == Some(checker.as_os_str()) {
        return Ok(checker.to_owned());
    }
    if checker.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    std::path::absolute(checker)
}

fn not_run(checker: &Path, error: io::Error) -> AuditError {
    let message = format!(
        "cannot run {}: {error}; install lychee (`cargo install lychee`), or name it with \
         `--checker PATH`",
        checker.display()
    );
    AuditError::no_answers(message).caused_by(error)
}

/// The links as an HTML page.
fn page(batch: &[String]) -> String {
    let mut page = String::from("<!DOCTYPE html><meta charset=utf-8><title>links</title>\n");
    for url in batch {
        let url = url
            .replace('&', "&amp;")
            .replace('"', "&quot;")
            .replace('<', "&lt;");
        let _ = writeln!(page, "<a href=\"{url}\">link</a>");
    }
    page
}

/// Waits for the end of the checker. Returns `None` if it was killed, because the check was
/// stopped.
fn wait(child: &mut Child, stop: &AtomicBool) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            // A signal from the terminal may have ended the supervisor alone.
            drop(child.stdin.take());
            return Ok(Some(status));
        }
        if stop.load(Ordering::Relaxed) {
            // This closes the input of the supervisor first.
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(AUDIT_POLL_MS));
    }
}

/// Reads a stream to its end, and keeps at most `limit` bytes.
fn read_in_thread(
    stream: Option<impl Read + Send + 'static>,
    limit: u64,
) -> Option<JoinHandle<Vec<u8>>> {
    let mut stream = stream?;
    Some(thread::spawn(move || {
        let mut kept = Vec::new();
        // What cannot be read is missing from the output, which is then no JSON.
        let _ = stream.by_ref().take(limit).read_to_end(&mut kept);
        let _ = io::copy(&mut stream, &mut io::sink());
        kept
    }))
}

fn collected(thread: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    thread
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default()
}

/// Name of the file with the links.
const LINKS: &str = "links.html";

/// Beginning of the names of the folders: the process and random characters follow.
const PREFIX: &str = "urlspool-audit-";

/// Number of the random characters at the end of the names.
const RANDOM_CHARS: usize = 6;

/// A temporary folder, which is removed with its files. It is locked while it is used.
struct BatchFolder {
    folder: TempDir,
    /// Holds the lock, which ends with the process.
    _lock: File,
}

impl BatchFolder {
    /// Creates a folder with a new name, which only this user can read.
    fn create(parent: &Path) -> Result<BatchFolder, AuditError> {
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let create = || {
            tempfile::Builder::new()
                .prefix(&prefix)
                .rand_bytes(RANDOM_CHARS)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent)
        };
        let locked = || loop {
            let folder = create()?;
            // Another check may take it for an abandoned one before it is locked.
            if let Some(lock) = locked(folder.path())? {
                return Ok(BatchFolder {
                    folder,
                    _lock: lock,
                });
            }
        };
        locked().map_err(|error| {
            let action = format!("create a folder in {}", parent.display());
            AuditError::output(&action, error)
        })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the file with the links.
    fn write(&self, page: &str) -> Result<(), AuditError> {
        let path = self.path().join(LINKS);
        let written = fs::write(&path, page);
        written.map_err(|error| AuditError::output(&format!("write {}", path.display()), error))
    }
}

/// Locks a folder. Returns `None` if another process has it, or has removed it.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let folder = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(None),
        // A file system without locks: then nobody else has it.
        Err(_) | Ok(()) => Ok(path.exists().then_some(folder)),
    }
}

/// Removes the folders in `parent` that checks of this user left when they were killed. What cannot
/// be removed stays.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = || {
            // Of a symbolic link this is the link itself.
            let metadata = entry.metadata();
            metadata.is_ok_and(|entry| entry.is_dir() && entry.uid() == geteuid().as_raw())
        };
        if process_of(&entry.file_name()).is_some_and(is_dead) && is_ours() {
            remove_unlocked(&entry.path());
        }
    }
}

/// Removes a folder that no process has locked. One of another process namespace, such as a
/// container, may run although no process has its number here.
fn remove_unlocked(path: &Path) {
    let Ok(folder) = File::open(path) else {
        return;
    };
    if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
        let _ = remove(path);
    }
}

/// Removes the file with the links, and the folder if nothing else is in it.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path.join(LINKS)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::remove_dir(path),
    }
}

/// The process that a folder is named after; `None` for names that are not ours.
fn process_of(name: &OsStr) -> Option<Pid> {
    let (process, random) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    if random.len() != RANDOM_CHARS || !random.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    Pid::from_raw(process.parse().ok()?)
}

fn is_dead(process: Pid) -> bool {
    test_kill_process(process) == Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn links_are_escaped_in_the_page() {
        let page = page(&["http://h.test/?a=1&amp=2&quot;\"<".to_owned()]);
        let line = page.lines().nth(1);
        let expected = "<a href=\"http://h.test/?a=1&amp;amp=2&amp;quot;&quot;&lt;\">link</a>";
        assert_eq!(line, Some(expected));
    }

    /// The number of a process that has ended.
    fn ended_process() -> u32 {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn a_folder_has_a_new_name_and_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let first = BatchFolder::create(parent.path()).unwrap();
        let second = BatchFolder::create(parent.path()).unwrap();
        assert_ne!(first.path(), second.path());
        let path = first.path().to_owned();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        first.write("x").unwrap();
        drop((first, second));
        assert!(!path.exists());
    }

    #[test]
    fn only_unlocked_folders_of_ended_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let (ended, living) = (ended_process(), std::process::id());
        let folder = |name: String| {
            let path = parent.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join(LINKS), "x").unwrap();
            path
        };
        let abandoned = folder(format!("{PREFIX}{ended}-aZ0000"));
        let locked = folder(format!("{PREFIX}{ended}-aZ0001"));
        let with_more = folder(format!("{PREFIX}{ended}-aZ0002"));
        let others = [
            folder(format!("{PREFIX}{living}-aZ0000")),
            folder(format!("{PREFIX}{ended}")),
            folder(format!("{PREFIX}{ended}-aZ.000")),
            folder(format!("other-{ended}-aZ0000")),
        ];
        fs::write(with_more.join("notes"), "mine").unwrap();
        let link = parent.join(format!("{PREFIX}{ended}-aZ0003"));
        std::os::unix::fs::symlink(&others[3], &link).unwrap();
        let lock = File::open(&locked).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        remove_abandoned(parent);
        assert!(!abandoned.exists());
        assert!(locked.join(LINKS).exists());
        assert!(with_more.join("notes").exists());
        assert!(link.symlink_metadata().is_ok());
        for other in &others {
            assert!(other.join(LINKS).exists(), "{}", other.display());
        }
        drop(lock);
        remove_abandoned(parent);
        assert!(!locked.exists());
    }
}
