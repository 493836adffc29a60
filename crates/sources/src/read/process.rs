//! Processes of `git` and `readpst`. Their memory and their time of silence are limited, and they
//! end with their handles. Git ignores the configuration of the user, the system and the repository
//! as far as it would act on it.
//!
//! Their pipes never block this process. The commands of git are in `repository`, the one of
//! `readpst` in `outlook`.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use urlspool_text::diagnostic::{printable, shortened};
#[cfg(target_os = "linux")]
use urlspool_text::limits::GIT_MEMORY_BYTES;
use urlspool_text::limits::{GIT_MESSAGE_BYTES, GIT_PIPE_BYTES, Limits};

/// Settings before every command. They override the configuration of the repository.
const SETTINGS: &[&str] = &[
    // Programs that git might start.
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=",
    // The repository was named explicitly. It may belong to another user, as a mirror does.
    "safe.directory=*",
    // Limits the address space, not the amount of data.
    "core.packedGitWindowSize=16m",
    "core.packedGitLimit=256m",
];

/// The complete environment, except for the search path of programs.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    // A partial clone must not fetch. If git does not know the first variable, the second one
    // forbids all transports.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Starts programs: this process itself, or a process that has permission to.
pub type StartProgram = Arc<dyn Fn(Command) -> io::Result<Child> + Send + Sync>;

/// Function that starts `git` processes, and their limits.
#[derive(Clone)]
pub struct GitHost {
    start: StartProgram,
    /// Called about once a second while waiting for git.
    beat: Arc<dyn Fn() + Send + Sync>,
    /// Maximum size of a blob.
    pub(super) blob_bytes: u64,
    /// Maximum time of silence, in seconds.
    silence_s: u64,
}

impl GitHost {
    /// Creates a host that starts git directly.
    #[must_use]
    pub fn new(limits: &Limits) -> GitHost {
        GitHost {
            start: Arc::new(|mut command| command.spawn()),
            beat: Arc::new(|| {}),
            blob_bytes: limits.git_blob_bytes as u64,
            silence_s: limits.git_silence_s as u64,
        }
    }

    /// Starts git with `start`.
    #[must_use]
    pub fn started_by(self, start: StartProgram) -> GitHost {
        GitHost { start, ..self }
    }

    /// Calls `beat` about once a second while waiting for git.
    #[must_use]
    pub fn with_beat(self, beat: Arc<dyn Fn() + Send + Sync>) -> GitHost {
        GitHost { beat, ..self }
    }

    /// Waits until one of these pipes is ready.
    ///
    /// # Errors
    ///
    /// None of them is ready within the maximum time of silence.
    pub(super) fn poll(&self, polled: &mut [PollFd<'_>]) -> io::Result<()> {
        for _ in 0..self.silence_s {
            (self.beat)();
            if poll_for(polled, 1_000)? > 0 {
                return Ok(());
            }
        }
        Err(io::Error::other(format!(
            "git was silent for {} s and was killed; `git_silence_s` sets this limit",
            self.silence_s
        )))
    }
}

impl fmt::Debug for GitHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitHost").finish_non_exhaustive()
    }
}

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub(super) struct ChildProcess {
    child: Child,
    /// Name of the program and its command, for messages.
    name: String,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Start of its output on standard error.
    messages: Vec<u8>,
    /// Bytes still to be written to its input.
    unwritten: Vec<u8>,
    /// `true` once `unwritten` will not grow further.
    input_ends: bool,
    has_ended: bool,
}

impl ChildProcess {
    /// Starts `git` on the repository at `path`. `stdin` is its input; a pipe is filled by
    /// [`ChildProcess::send`].
    pub(super) fn start(
        host: &GitHost,
        path: &Path,
        arguments: &[&str],
        stdin: Stdio,
    ) -> io::Result<ChildProcess> {
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(path);
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(ENVIRONMENT.iter().copied())
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .arg("--no-pager")
            .arg(git_dir)
            .args(arguments)
            .stdin(stdin)
            // An interrupt from the terminal ends this process, which then ends git.
            .process_group(0);
        let name = format!("git {}", arguments.first().copied().unwrap_or_default());
        ChildProcess::spawn(command, name, |command| {
            (host.start)(command).map_err(|error| not_started(&error))
        })
    }

    /// Starts a program with `start`. Its output and its messages are read without waiting.
    pub(super) fn spawn(
        mut command: Command,
        name: String,
        start: impl FnOnce(Command) -> io::Result<Child>,
    ) -> io::Result<ChildProcess> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = start(command)?;
        let process = ChildProcess {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            name,
            messages: Vec::new(),
            unwritten: Vec::new(),
            input_ends: false,
            has_ended: false,
        };
        process.limit_memory()?;
        let pipes = [
            process.stdin.as_ref().map(AsFd::as_fd),
            process.stdout.as_ref().map(AsFd::as_fd),
            process.stderr.as_ref().map(AsFd::as_fd),
        ];
        for pipe in pipes.into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(process)
    }

    /// Runs a command until it ends or has printed more than `max` bytes. Returns its output, or
    /// `None` if it found nothing and printed no error.
    pub(super) fn run(
        host: &GitHost,
        path: &Path,
        arguments: &[&str],
        max: usize,
    ) -> io::Result<Option<Vec<u8>>> {
        let mut process = ChildProcess::start(host, path, arguments, Stdio::null())?;
        let mut output = Vec::new();
        let mut buffer = [0; 4 << 10];
        loop {
            process.read_messages();
            match process.read(&mut buffer)? {
                Some(0) => break,
                Some(read) => output.extend_from_slice(&buffer[..read]),
                None => {
                    let mut polled = Vec::new();
                    process.add_pipes(true, &mut polled);
                    host.poll(&mut polled)?;
                }
            }
            if max < output.len() {
                return Ok(Some(output));
            }
        }
        let status = process.end(host)?;
        // With `--quiet`, it prints nothing if the object does not exist.
        match status.code() {
            Some(1) if process.messages.is_empty() => Ok(None),
            _ => process.success(status, b"").map(|()| Some(output)),
        }
    }

    /// Takes its output, to be the input of another process.
    pub(super) fn take_stdout(&mut self) -> io::Result<Stdio> {
        let stdout = self.stdout.take().expect("the output is taken once");
        rustix::io::ioctl_fionbio(&stdout, false)?;
        Ok(stdout.into())
    }

    /// Queues bytes for its input. [`ChildProcess::write`] writes them.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.unwritten.extend_from_slice(bytes);
    }

    /// Returns `true` if the queue for its input has room.
    pub(super) fn has_room(&self) -> bool {
        self.unwritten.len() < GIT_PIPE_BYTES
    }

    /// Ends its input after the queued bytes.
    pub(super) fn end_input(&mut self) {
        self.input_ends = true;
    }

    /// Writes queued input as far as the process accepts it. Returns `true` on progress.
    pub(super) fn write(&mut self) -> io::Result<bool> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(false);
        };
        let mut has_written = false;
        while !self.unwritten.is_empty() {
            match stdin.write(&self.unwritten) {
                Ok(written) => {
                    self.unwritten.drain(..written);
                    has_written = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(has_written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The process has ended; its status will tell why.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.unwritten.clear();
                    self.input_ends = true;
                }
                Err(error) => return Err(error),
            }
        }
        if self.input_ends {
            self.stdin = None;
            return Ok(true);
        }
        Ok(has_written)
    }

    /// Reads available output, or returns `None` if there is none yet. Returns 0 bytes after the
    /// end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(stdout) = &mut self.stdout else {
            return Ok(Some(0));
        };
        let read = read_pipe(stdout, buffer)?;
        if read == Some(0) {
            self.stdout = None;
        }
        Ok(read)
    }

    /// Returns `true` after the end of its output.
    pub(super) fn is_read(&self) -> bool {
        self.stdout.is_none()
    }

    /// Reads standard error, so that the process never blocks on it.
    pub(super) fn read_messages(&mut self) {
        let mut buffer = [0; 1 << 10];
        while let Some(stderr) = &mut self.stderr {
            match read_pipe(stderr, &mut buffer) {
                Ok(None) => return,
                Ok(Some(0)) | Err(_) => self.stderr = None,
                Ok(Some(read)) => {
                    let room = GIT_MESSAGE_BYTES.saturating_sub(self.messages.len());
                    self.messages.extend_from_slice(&buffer[..read.min(room)]);
                }
            }
        }
    }

    /// Adds the pipes to poll. The output is included only if it can be consumed now.
    pub(super) fn add_pipes<'p>(&'p self, reads_output: bool, polled: &mut Vec<PollFd<'p>>) {
        let stdout = self.stdout.as_ref().filter(|_| reads_output);
        polled.extend(stdout.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let stderr = self.stderr.as_ref();
        polled.extend(stderr.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let stdin = self.stdin.as_ref().filter(|_| !self.unwritten.is_empty());
        polled.extend(stdin.map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
    }

    /// Waits for the process to end. Its output must have ended before.
    fn end(&mut self, host: &GitHost) -> io::Result<ExitStatus> {
        self.stdin = None;
        self.wait_for_exit(host)?;
        let status = self.child.wait()?;
        self.has_ended = true;
        self.read_messages();
        Ok(status)
    }

    /// Waits for the process to end and fails if it did not succeed.
    pub(super) fn finish(&mut self, host: &GitHost) -> io::Result<()> {
        let status = self.end(host)?;
        self.success(status, b"")
    }

    #[cfg(target_os = "linux")]
    fn wait_for_exit(&mut self, host: &GitHost) -> io::Result<()> {
        use rustix::process::{PidfdFlags, pidfd_open};

        // Without pidfds, before Linux 5.3, waiting for the end has no time limit.
        match pidfd_open(self.pid(), PidfdFlags::empty()) {
            Ok(pidfd) => {
                let mut polled = [PollFd::new(&pidfd, PollFlags::IN)];
                host.poll(&mut polled)
            }
            Err(_) => Ok(()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn wait_for_exit(&mut self, _: &GitHost) -> io::Result<()> {
        Ok(())
    }

    /// Limits the memory of git. In a hostile repository, a small object can expand to any size.
    #[cfg(target_os = "linux")]
    fn limit_memory(&self) -> io::Result<()> {
        use rustix::process::{Resource, Rlimit, prlimit};

        let limit = Rlimit {
            current: Some(GIT_MEMORY_BYTES),
            maximum: Some(GIT_MEMORY_BYTES),
        };
        match prlimit(Some(self.pid()), Resource::Data, limit) {
            // The process has already ended, or has a lower limit that cannot be raised.
            Ok(_) | Err(rustix::io::Errno::SRCH | rustix::io::Errno::PERM) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn limit_memory(&self) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Reads available output to the end of `log`, of which it keeps at most `max` bytes, and
    /// standard error.
    pub(super) fn read_output(&mut self, log: &mut Vec<u8>, max: usize) -> io::Result<()> {
        let mut buffer = [0; 4 << 10];
        self.read_messages();
        while let Some(read @ 1..) = self.read(&mut buffer)? {
            log.extend_from_slice(&buffer[..read.min(max - log.len())]);
        }
        Ok(())
    }

    /// Waits for output or messages, at most `max_ms` milliseconds. Returns `true` if none came.
    pub(super) fn is_silent(&self, max_ms: u32) -> io::Result<bool> {
        let mut polled = Vec::new();
        self.add_pipes(true, &mut polled);
        Ok(poll_for(&mut polled, max_ms.into())? == 0)
    }

    /// Returns the status of the process if it has ended.
    pub(super) fn try_end(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        self.has_ended |= status.is_some();
        Ok(status)
    }

    /// Returns the error of a process with this status, unless it succeeded. The reason is the last
    /// line of `output`, or else of its messages.
    pub(super) fn success(&self, status: ExitStatus, output: &[u8]) -> io::Result<()> {
        if status.success() {
            return Ok(());
        }
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with status {code}"),
            (None, Some(signal)) => format!("was killed by signal {signal}"),
            (None, None) => "did not exit normally".to_owned(),
        };
        let text = [&self.messages, output].concat();
        let text = String::from_utf8_lossy(&text);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let reason = lines.next_back().map_or_else(String::new, |line| {
            format!(": {}", shortened(&printable(line), 200))
        });
        Err(io::Error::other(format!("{} {end}{reason}", self.name)))
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        if !self.has_ended {
            // The process leads a separate group. If it has already ended, this only waits for it.
            let _ = kill_process_group(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Waits until some of these pipes are ready, at most `max_ms` milliseconds. Returns their number.
pub(super) fn poll_for(polled: &mut [PollFd<'_>], max_ms: i64) -> rustix::io::Result<usize> {
    let timeout = Timespec {
        tv_sec: max_ms / 1_000,
        tv_nsec: max_ms % 1_000 * 1_000_000,
    };
    rustix::io::retry_on_intr(|| poll(polled, Some(&timeout)))
}

/// Reads a pipe without waiting; `None` if nothing is available.
fn read_pipe(pipe: &mut impl Read, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        match pipe.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read.map(Some),
        }
    }
}

fn not_started(error: &io::Error) -> io::Error {
    // Avoid the kind `NotFound`, which stands for a file that has vanished.
    io::Error::other(if error.kind() == io::ErrorKind::NotFound {
        "it is a git repository, but the program `git` is missing; install git".to_owned()
    } else {
        format!("it is a git repository, but git cannot be started: {error}")
    })
}
