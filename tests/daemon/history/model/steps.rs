//! The effect of each action on the spool and on the model.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;

use urlspool::internals::daemon::{DaemonEvent, rebuild_state};

use super::{Model, Writer, Writing, YEAR, text};
use crate::daemon::history::action::Action;
use crate::daemon::message;
use crate::scene::when_unlocked;

impl Model {
    pub(super) fn act(&mut self, action: Action) {
        match action {
            Action::Deliver(k) if !self.busy() => {
                let entry = self.entry(k);
                self.append(entry.text.as_bytes());
                self.inbox.push(entry);
            }
            Action::Begin(k) if !self.busy() => {
                let entry = self.entry(k);
                let cut = 1 + (k as usize / 40) % (entry.text.len() - 1);
                File::create(self.root.join("inbox.lock")).unwrap();
                self.append(&entry.text.as_bytes()[..cut]);
                self.writing = Some(Writing {
                    entry,
                    written: cut,
                    writer: Writer::Alive,
                });
            }
            Action::Finish => self.finish(Writer::Alive),
            Action::Revive => self.finish(Writer::Dead),
            Action::RollBack => self.roll_back(),
            Action::Die => {
                if let Some(writing) = &mut self.writing {
                    writing.writer = Writer::Dead;
                    self.died = true;
                    let _ = fs::remove_file(self.root.join("inbox.lock"));
                }
            }
            Action::Rotate if !self.busy() && self.root.join("inbox").exists() => {
                self.rotate_names();
                self.kept_offset = 0;
                fs::rename(self.root.join("inbox"), self.root.join("inbox.1")).unwrap();
            }
            Action::CopyTruncate if !self.busy() && self.root.join("inbox").exists() => {
                self.rotate_names();
                fs::copy(self.root.join("inbox"), self.root.join("inbox.1")).unwrap();
                self.rewrite_in_place();
            }
            Action::CopyTruncateLive(k) if !self.busy() && self.root.join("inbox").exists() => {
                self.rotate_names();
                let inbox = self.root.join("inbox");
                fs::copy(&inbox, self.root.join("inbox.1")).unwrap();
                // Some messages were removed from its end before.
                let offset = inbox.metadata().unwrap().len() + k % 3 * 50_000;
                self.rewrite_in_place();
                self.kept_offset = offset;
            }
            Action::Truncate if !self.busy() => {
                self.inbox.clear();
                self.torn = false;
                self.rewrite_in_place();
            }
            Action::ExpungeInPlace(k) | Action::ExpungeByRename(k) | Action::Status(k)
                if !self.busy() && !self.torn && !self.inbox.is_empty() =>
            {
                self.edit(action, k as usize % self.inbox.len());
            }
            Action::Backup if !self.busy() && !self.torn => self.backup = self.inbox.clone(),
            Action::Restore if !self.busy() && !self.torn => {
                self.inbox = self.backup.clone();
                self.rewrite_in_place();
            }
            Action::MaildirNew | Action::MaildirRename(_) | Action::MaildirDelete(_) => {
                self.maildir(action);
            }
            Action::MhNew | Action::MhRenumber | Action::MhDelete(_) => self.mh(action),
            Action::Settle => self.settle(),
            Action::Work => {
                self.host.ms += 300;
                let now = self.host.time();
                self.daemon().handle(DaemonEvent::Overflow, now);
                self.work();
            }
            Action::ClockJump(k) if k % 2 == 0 => {
                self.clock += YEAR;
                self.host.ms += YEAR * 1_000;
            }
            Action::ClockJump(_) => self.clock -= YEAR,
            Action::Crash => self.daemon = None,
            Action::Restart => {
                if let Some(daemon) = self.daemon.take() {
                    daemon.close().unwrap();
                }
            }
            Action::Rebuild => self.rebuild(),
            Action::RemoveRotated if self.rotated.pop().is_some() => {
                let number = self.rotated.len() + 1;
                fs::remove_file(self.root.join(format!("inbox.{number}"))).unwrap();
            }
            Action::Unmount => self.mount(true),
            Action::Mount => self.mount(false),
            Action::Months => self.months(),
            _ => {}
        }
    }

    fn rebuild(&mut self) {
        self.daemon();
        self.daemon.take().unwrap().close().unwrap();
        when_unlocked(|| rebuild_state(&self.config, &mut self.host)).unwrap();
    }

    /// Lets more days pass than state is kept. The backup, which would then be older, is discarded.
    fn months(&mut self) {
        self.backup = Vec::new();
        for _ in 0..34 {
            self.host.ms += 86_400_000;
            let now = self.host.time();
            self.daemon().handle(DaemonEvent::Overflow, now);
            self.work();
        }
    }

    /// Completes the message that is being written, if its writer is in this state.
    fn finish(&mut self, writer: Writer) {
        if self.is_writing(writer)
            && let Some(Writing { entry, written, .. }) = self.writing.take()
        {
            self.append(&entry.text.as_bytes()[written..]);
            let _ = fs::remove_file(self.root.join("inbox.lock"));
            self.inbox.push(entry);
        }
    }

    pub(super) fn roll_back(&mut self) {
        if self.is_writing(Writer::Alive) {
            self.never
                .extend(self.writing.take().map(|writing| writing.entry.n));
            let whole = match text(&self.inbox).len() as u64 {
                0 => 0,
                bytes => self.kept_offset + bytes,
            };
            let path = self.root.join("inbox");
            OpenOptions::new()
                .write(true)
                .open(&path)
                .unwrap()
                .set_len(whole)
                .unwrap();
            self.append(b"");
            let _ = fs::remove_file(self.root.join("inbox.lock"));
        }
    }

    fn edit(&mut self, action: Action, at: usize) {
        match action {
            Action::Status(_) => {
                let entry = &mut self.inbox[at];
                if !entry.status {
                    entry.text = entry
                        .text
                        .replacen("\nSubject:", "\nStatus: RO\nSubject:", 1);
                    entry.status = true;
                }
                self.rewrite_in_place();
            }
            Action::ExpungeInPlace(_) => {
                self.inbox.remove(at);
                self.rewrite_in_place();
            }
            _ => {
                self.inbox.remove(at);
                self.rewrite_by_rename();
            }
        }
    }

    fn maildir(&mut self, action: Action) {
        let chosen = |k: u64, all: &BTreeMap<u64, PathBuf>| {
            all.keys().copied().nth(k as usize % all.len().max(1))
        };
        match action {
            Action::MaildirRename(k) => {
                if let Some(n) = chosen(k, &self.maildir) {
                    let flags = ["", "S", "RS", "FS"][k as usize / 64 % 4];
                    let base = if k % 5 == 0 {
                        format!("{n}.M1.host,U={n}")
                    } else {
                        format!("{n}.M1.host")
                    };
                    let to = self.root.join(format!("md/cur/{base}:2,{flags}"));
                    fs::rename(&self.maildir[&n], &to).unwrap();
                    self.maildir.insert(n, to);
                }
            }
            Action::MaildirDelete(k) => {
                if let Some(n) = chosen(k, &self.maildir) {
                    fs::remove_file(self.maildir.remove(&n).unwrap()).unwrap();
                }
            }
            _ => {
                let n = self.entry(0).n;
                let (tmp, new) = (
                    self.root.join("md/tmp/x"),
                    self.root.join(format!("md/new/{n}.M1.host")),
                );
                self.touch(
                    &tmp,
                    |how| how.truncate(true).open(&tmp).unwrap(),
                    message(n, 3).as_bytes(),
                );
                fs::rename(tmp, &new).unwrap();
                self.maildir.insert(n, new);
            }
        }
    }

    fn mh(&mut self, action: Action) {
        let path = |number: u64| self.root.join(format!("mh/{number}"));
        match action {
            Action::MhRenumber => {
                let all: Vec<(u64, u64)> = std::mem::take(&mut self.mh).into_iter().collect();
                for (to, (from, n)) in (1..).zip(all) {
                    fs::rename(path(from), path(to)).unwrap();
                    self.mh.insert(to, n);
                }
            }
            Action::MhDelete(k) => {
                if let Some(number) = self
                    .mh
                    .keys()
                    .copied()
                    .nth(k as usize % self.mh.len().max(1))
                {
                    fs::remove_file(path(number)).unwrap();
                    self.mh.remove(&number);
                }
            }
            _ => {
                let n = self.entry(0).n;
                let number = self.mh.keys().last().map_or(1, |last| last + 1);
                let path = self.root.join(format!("mh/{number}"));
                self.touch(
                    &path,
                    |how| how.truncate(true).open(&path).unwrap(),
                    message(n, 3).as_bytes(),
                );
                self.mh.insert(number, n);
            }
        }
    }
}
