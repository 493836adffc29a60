//! Messages at which the process may have died: a note of those that are being parsed, which
//! outlives the process; and the trial of the suspects by another process, which may die instead.
//!
//! After an end that nobody asked for, the messages of the note are suspects. Each is parsed alone
//! by `urlspool scan`, in its place, before this process parses it. That process is ended by nobody
//! but the kernel or itself, so its death is evidence, and a daemon that is killed sets no message
//! aside. A message is set aside at its third death: one of the daemon, two of a trial.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::daemon::DaemonError;
use crate::daemon::store::{Hash128, Session};
use crate::limits::TRIAL_TIMEOUT_MS;
use crate::read::StartProgram;
use crate::split::Message;

/// Number of trials that a message must not survive to be set aside.
const TRIALS: u32 = 2;

/// Milliseconds between two looks at a trial.
const POLL_MS: u64 = 10;

/// The messages at which the process may have died, and the verdicts of their trials.
#[derive(Default)]
pub(crate) struct Suspects {
    trials: Option<Trials>,
    known: Mutex<KnownMessages>,
}

/// The means of a trial.
struct Trials {
    start: StartProgram,
    /// The configuration of the daemon, if it has a file.
    config: Option<PathBuf>,
}

#[derive(Default)]
struct KnownMessages {
    /// Not synced: it must outlive the process, not the machine. `None` if there is no room for it.
    note: Option<File>,
    /// The messages that each reader parses.
    parsed: HashMap<ThreadId, Vec<Hash128>>,
    suspects: HashMap<Hash128, Suspicion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suspicion {
    /// It was parsed when the process died, or set aside by an earlier run.
    Untried,
    /// It is not parsed.
    SetAside,
}

/// Verdict on messages that are about to be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrialVerdict {
    /// They can be parsed.
    Passed,
    /// The process that parsed them died.
    Died,
}

impl Suspects {
    /// Reads the note that the last process left in the folder of the state, and begins a new one.
    /// `set_aside` are messages that an earlier run set aside. Trials are started by `start`.
    pub(crate) fn open(
        state: &Path,
        set_aside: Vec<Hash128>,
        start: StartProgram,
        config: Option<PathBuf>,
    ) -> Suspects {
        let path = state.join("parsing");
        let noted = std::fs::read(&path).unwrap_or_default();
        let noted = noted
            .as_chunks()
            .0
            .iter()
            .copied()
            .map(Hash128::from_be_bytes);
        let suspects = noted.chain(set_aside).map(|key| (key, Suspicion::Untried));
        Suspects {
            trials: Some(Trials { start, config }),
            known: Mutex::new(KnownMessages {
                suspects: suspects.collect(),
                note: File::create(path).ok(),
                parsed: HashMap::new(),
            }),
        }
    }

    /// Returns `true` if a message was set aside.
    pub(super) fn is_set_aside(&self, key: Hash128) -> bool {
        self.known().suspects.get(&key) == Some(&Suspicion::SetAside)
    }

    /// Sets a message aside until the next start.
    pub(super) fn set_aside(&self, key: Hash128) {
        self.known().suspects.insert(key, Suspicion::SetAside);
    }

    /// Notes the messages that this thread is about to parse. Suspects among them have a trial
    /// first.
    pub(super) fn check(
        &self,
        messages: &[(Hash128, &Message<'_>)],
        session: &Session,
    ) -> Result<TrialVerdict, DaemonError> {
        let keys: Vec<Hash128> = messages.iter().map(|(key, _)| *key).collect();
        let is_suspect = {
            let mut known = self.known();
            known.note(&keys);
            keys.iter().any(|key| known.suspects.contains_key(key))
        };
        let Some(trials) = self.trials.as_ref().filter(|_| is_suspect) else {
            return Ok(TrialVerdict::Passed);
        };
        let repeats = if messages.len() == 1 { TRIALS } else { 1 };
        let has_died = (0..repeats).all(|_| {
            trials
                .try_messages(messages, session)
                .unwrap_or(TrialVerdict::Passed)
                == TrialVerdict::Died
        });
        if has_died {
            return Ok(TrialVerdict::Died);
        }
        let mut known = self.known();
        for key in &keys {
            known.suspects.remove(key);
        }
        session.update(|state| state.forget_set_aside(&keys))?;
        Ok(TrialVerdict::Passed)
    }

    /// Forgets what this thread parsed, before the next note: threads end at a reload.
    pub(super) fn forget_parsed(&self) {
        self.known().parsed.remove(&thread::current().id());
    }

    fn known(&self) -> MutexGuard<'_, KnownMessages> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownMessages {
    /// Writes which messages all readers parse.
    fn note(&mut self, keys: &[Hash128]) {
        let Some(note) = &self.note else {
            return;
        };
        self.parsed.insert(thread::current().id(), keys.to_vec());
        let bytes: Vec<u8> = self
            .parsed
            .values()
            .flatten()
            .flat_map(|key| key.to_be_bytes())
            .collect();
        // Without a note a restart may find the same message again.
        let _ = note
            .write_all_at(&bytes, 0)
            .and_then(|()| note.set_len(bytes.len() as u64));
    }
}

impl Trials {
    /// Lets another process parse messages, and returns how it ended.
    ///
    /// # Errors
    ///
    /// The process could not be started, which shows nothing.
    fn try_messages(
        &self,
        messages: &[(Hash128, &Message<'_>)],
        session: &Session,
    ) -> io::Result<TrialVerdict> {
        // The running program, also if its file was replaced.
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["scan", "--quiet", "--threads", "1", "--kind"])
            .arg(if messages.len() == 1 {
                "message"
            } else {
                "mbox"
            })
            .args(
                self.config
                    .iter()
                    .flat_map(|path| ["--config".as_ref(), path.as_os_str()]),
            )
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // An interrupt of the terminal is no death.
            .process_group(0);
        let mut child = (self.start)(command)?;
        if let Some(mut input) = child.stdin.take() {
            for (_, message) in messages {
                if 1 < messages.len() {
                    let _ = input.write_all(b"\n\nFrom - Thu Jan  1 00:00:00 1970\n");
                }
                // It may end before it has read everything.
                let _ = input.write_all(message.raw);
            }
        }
        for _ in 0..TRIAL_TIMEOUT_MS / POLL_MS {
            session.beat();
            if let Some(status) = child.try_wait()? {
                return Ok(match status.signal() {
                    None | Some(libc::SIGTERM | libc::SIGHUP | libc::SIGINT) => {
                        TrialVerdict::Passed
                    }
                    Some(_) => TrialVerdict::Died,
                });
            }
            thread::sleep(Duration::from_millis(POLL_MS));
        }
        child.kill()?;
        child.wait()?;
        Ok(TrialVerdict::Died)
    }
}
