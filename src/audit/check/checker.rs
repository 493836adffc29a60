//! Runs lychee on a batch of links.
//!
//! The links reach it as escaped `href`s of an HTML file in a folder of its own, so that it reads them as they are, and no
//! configuration file of another folder.

use std::fmt::Write;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::CheckJob;
use super::batch_folder::{BatchFolder, LINKS, remove_abandoned};
use super::guard_proxy::GuardProxy;
use crate::audit::error::{AuditError, CheckerError};
use crate::audit::lychee_answers::{Answer, lychee_answers};
use crate::limits::{AUDIT_ANSWER_BYTES, AUDIT_CHECKER_MESSAGE_BYTES, AUDIT_POLL_MS};

/// Options of lychee that a user can replace: one request at a time to a host, and pauses in between.
const DEFAULTS: [(&str, &str); 3] = [
    ("--host-concurrency", "1"),
    ("--host-request-interval", "500ms"),
    ("--max-concurrency", "128"),
];

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

/// The end of a batch.
#[derive(Debug)]
pub(super) enum BatchEnd {
    /// The checker ended.
    Answered {
        answers: Vec<Answer>,
        /// Its last message on standard error.
        last_message: Option<String>,
    },
    /// It was killed, because the check was stopped.
    Stopped,
}

impl<'j> Checker<'j> {
    /// Finds the program, and asks it for its version. Removes temporary files of checks that were killed.
    pub(super) fn find(job: &'j CheckJob) -> Result<Checker<'j>, AuditError> {
        remove_abandoned(&job.temporary);
        let program = program(&job.checker).map_err(|error| not_run(&job.checker, &error))?;
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| not_run(&job.checker, &error))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || version.is_empty() || version.contains('\n') {
            let checker = job.checker.clone();
            return Err(CheckerError::NoVersion { checker }.into());
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

    /// Checks a batch.
    pub(super) fn run(
        &self,
        batch: &[String],
        proxy: &GuardProxy,
        stop: &AtomicBool,
    ) -> Result<BatchEnd, AuditError> {
        let folder = BatchFolder::create(&self.job.temporary)?;
        folder.write(&page(batch))?;
        let mut child = self
            .command(folder.path(), proxy)
            .spawn()
            .map_err(|error| not_run(&self.job.checker, &error))?;
        let output = read_in_thread(child.stdout.take(), AUDIT_ANSWER_BYTES);
        let messages = read_in_thread(child.stderr.take(), AUDIT_CHECKER_MESSAGE_BYTES);
        let code = match wait(&mut child, stop) {
            Ok(CheckerEnd::Ended(code)) => code,
            Ok(CheckerEnd::Killed) => return Ok(BatchEnd::Stopped),
            Err(error) => return Err(not_run(&self.job.checker, &error)),
        };
        let (output, messages) = (collected(output), collected(messages));
        let messages = String::from_utf8_lossy(&messages);
        // A signal from the terminal reaches the checker too, perhaps first.
        if stop.load(Ordering::Relaxed) {
            return Ok(BatchEnd::Stopped);
        }
        match (code, lychee_answers(&output)) {
            // 2: some links are dead.
            (Some(0 | 2), Ok(answers)) => Ok(BatchEnd::Answered {
                answers,
                last_message: lines(&messages).next_back().map(str::to_owned),
            }),
            (_, answers) => Err(self.failed(code, &messages, answers.err())),
        }
    }

    fn command(&self, folder: &Path, proxy: &GuardProxy) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).args([
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
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The error of a checker that ended with this code. `unreadable` is the reason why its output is not lychee's.
    fn failed(
        &self,
        code: Option<i32>,
        messages: &str,
        unreadable: Option<serde_json::Error>,
    ) -> AuditError {
        let message = lines(messages).next().map(str::to_owned);
        let not_json =
            || unreadable.map(|error| format!("its output is not the JSON of lychee: {error}"));
        let error = CheckerError::Ended {
            checker: self.job.checker.clone(),
            code,
            reason: message.or_else(not_json),
        };
        error.into()
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

fn not_run(checker: &Path, error: &io::Error) -> AuditError {
    let error = CheckerError::NotRun {
        checker: checker.to_owned(),
        reason: error.to_string(),
    };
    error.into()
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

/// The end of the checker's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckerEnd {
    /// It ended with this code; `None` after a signal.
    Ended(Option<i32>),
    /// It was killed, because the check was stopped.
    Killed,
}

/// Waits for the end of the checker.
fn wait(child: &mut Child, stop: &AtomicBool) -> io::Result<CheckerEnd> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(CheckerEnd::Ended(status.code()));
        }
        if stop.load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok(CheckerEnd::Killed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_escaped_in_the_page() {
        let page = page(&["http://h.test/?a=1&amp=2&quot;\"<".to_owned()]);
        let line = page.lines().nth(1);
        let expected = "<a href=\"http://h.test/?a=1&amp;amp=2&amp;quot;&quot;&lt;\">link</a>";
        assert_eq!(line, Some(expected));
    }
}
