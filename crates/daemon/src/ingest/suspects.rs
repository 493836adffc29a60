//! Messages at which the process may have died. A note of the messages being parsed outlives the
//! process. Another process, which may die instead, then tries these suspects.
//!
//! After an unexpected end, the messages in the note are suspects. `urlspool scan` parses each of
//! them alone before this process does. Only the kernel or the trial process itself can end it, so
//! its death is evidence. A daemon that is killed therefore sets no message aside. A message is set
//! aside at its third death: one of the daemon, two of a trial.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::Result;
use crate::store::{Hash128, Session};
use urlspool_mail::split::Message;
use urlspool_sources::read::StartProgram;
use urlspool_text::limits::TRIAL_TIMEOUT_MS;

/// Number of failed trials after which a message is set aside.
const TRIALS: u32 = 2;

/// Milliseconds between two checks of a trial.
const POLL_MS: u64 = 10;

/// The messages at which the process may have died, and the results of their trials.
#[derive(Default)]
pub struct Suspects {
    /// Starts the trials; `None` if messages are not tried.
    start: Option<StartProgram>,
    /// The configuration file of the daemon, if it has one.
    config: Option<PathBuf>,
    known: Mutex<KnownMessages>,
}

#[derive(Default)]
struct KnownMessages {
    /// Not synced: it must outlive the process, not the machine. `None` if there is no space for
    /// it.
    note: Option<File>,
    /// Number of bytes in the note.
    noted_bytes: usize,
    /// The messages that each reader is parsing.
    parsed: HashMap<ThreadId, Vec<Hash128>>,
    /// The messages that were being parsed when the process died, or that an earlier run set aside.
    suspects: HashSet<Hash128>,
    /// The messages that are not parsed.
    set_aside: HashSet<Hash128>,
}

impl Suspects {
    /// Reads the note that the last process left in the state folder, and starts a new one.
    /// `set_aside` are the messages that an earlier run set aside. `start` starts the trials.
    pub fn open(
        state: &Path,
        set_aside: Vec<Hash128>,
        start: StartProgram,
        config: Option<PathBuf>,
    ) -> Suspects {
        let path = state.join("parsing");
        let noted = std::fs::read(&path).unwrap_or_default();
        let noted = noted.as_chunks().0.iter().copied();
        let noted = noted.map(Hash128::from_be_bytes);
        Suspects {
            start: Some(start),
            config,
            known: Mutex::new(KnownMessages {
                suspects: noted.chain(set_aside).collect(),
                note: File::create(path).ok(),
                ..KnownMessages::default()
            }),
        }
    }

    /// Returns `true` if a message was set aside.
    pub(super) fn is_set_aside(&self, key: Hash128) -> bool {
        self.known().set_aside.contains(&key)
    }

    /// Sets a message aside until the next start.
    pub(super) fn set_aside(&self, key: Hash128) {
        self.known().set_aside.insert(key);
    }

    /// Notes the messages that this thread is about to parse. Suspects among them are tried first.
    /// Returns `false` if the trial process died.
    pub(super) fn may_parse(
        &self,
        messages: &[(Hash128, &Message<'_>)],
        session: &Session,
    ) -> Result<bool> {
        let keys: Vec<Hash128> = messages.iter().map(|(key, _)| *key).collect();
        let is_suspect = {
            let mut known = self.known();
            known.note(&keys);
            keys.iter().any(|key| known.suspects.contains(key))
        };
        let Some(start) = self.start.as_ref().filter(|_| is_suspect) else {
            return Ok(true);
        };
        let repeats = if messages.len() == 1 { TRIALS } else { 1 };
        if (0..repeats).all(|_| !self.survives(start, messages, session).unwrap_or(true)) {
            return Ok(false);
        }
        // Released before the writer is locked.
        self.known().suspects.retain(|key| !keys.contains(key));
        session.lock()?.db()?.forget_set_aside(&keys)?;
        Ok(true)
    }

    /// Forgets the messages that this thread parsed, before the next note: threads end at a reload.
    pub(super) fn forget_parsed(&self) {
        self.known().parsed.remove(&thread::current().id());
    }

    /// Makes another process parse messages. Returns `true` if it survives.
    ///
    /// # Errors
    ///
    /// The process could not be started, so the result is unknown.
    fn survives(
        &self,
        start: &StartProgram,
        messages: &[(Hash128, &Message<'_>)],
        session: &Session,
    ) -> io::Result<bool> {
        let is_one = messages.len() == 1;
        // The running program, even if its file was replaced.
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["scan", "--quiet", "--threads", "1", "--kind"])
            .arg(if is_one { "message" } else { "mbox" })
            .args(
                self.config
                    .iter()
                    .flat_map(|path| ["--config".as_ref(), path.as_os_str()]),
            )
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // An interrupt from the terminal does not count as a death.
            .process_group(0);
        let mut child = start(command)?;
        if let Some(mut input) = child.stdin.take() {
            for (_, message) in messages {
                if !is_one {
                    let _ = input.write_all(b"\n\nFrom - Thu Jan  1 00:00:00 1970\n");
                }
                // The process may end before it has read all input.
                let _ = input.write_all(message.raw);
            }
        }
        for _ in 0..TRIAL_TIMEOUT_MS / POLL_MS {
            session.heartbeat.beat();
            if let Some(status) = child.try_wait()? {
                return Ok(matches!(
                    status.signal(),
                    None | Some(libc::SIGTERM | libc::SIGHUP | libc::SIGINT)
                ));
            }
            thread::sleep(Duration::from_millis(POLL_MS));
        }
        child.kill()?;
        child.wait()?;
        Ok(false)
    }

    fn known(&self) -> MutexGuard<'_, KnownMessages> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownMessages {
    /// Notes the messages that all readers are parsing.
    fn note(&mut self, keys: &[Hash128]) {
        let Some(note) = &self.note else {
            return;
        };
        self.parsed.insert(thread::current().id(), keys.to_vec());
        let parsed = self.parsed.values().flatten();
        let bytes: Vec<u8> = parsed.flat_map(|key| key.to_be_bytes()).collect();
        let earlier = std::mem::replace(&mut self.noted_bytes, bytes.len());
        // Without a note, a restart may meet the same message again.
        let written = note.write_all_at(&bytes, 0);
        if bytes.len() < earlier {
            let _ = written.and_then(|()| note.set_len(bytes.len() as u64));
        }
    }
}
