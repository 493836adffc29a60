//! What has come since the last segment was sealed, as a sidecar tells it; and the way back.

use std::collections::BTreeMap;

use rusqlite::params;

use super::{FileId, GrowingMessage, Hash128, MailboxId, MboxCursor, StateDb};
use crate::daemon::error::DaemonError;
use crate::record::sidecar;

impl StateDb {
    /// What was learnt of mailboxes since the last segment was sealed.
    pub(crate) fn fresh(&self) -> Result<Vec<sidecar::SidecarMailbox>, DaemonError> {
        let mut all = BTreeMap::new();
        self.fresh_keys(&mut all)?;
        self.fresh_files(&mut all)?;
        self.fresh_cursors(&mut all)?;
        self.fresh_mailboxes(&mut all)?;
        for (id, mailbox) in &mut all {
            let found = self.db.find(
                "SELECT key, spool, dev, many FROM mailbox WHERE id=?1",
                params![id],
                |row| {
                    Ok((
                        hex(row.get(0)?),
                        hex(row.get(1)?),
                        row.get::<_, i64>(2)?.cast_unsigned(),
                        row.get(3)?,
                    ))
                },
            )?;
            let found = found.ok_or_else(|| self.db.inconsistent("it lacks a mailbox"))?;
            (mailbox.mailbox, mailbox.spool, mailbox.dev, mailbox.many) = found;
        }
        Ok(all.into_values().collect())
    }

    fn fresh_keys(
        &self,
        all: &mut BTreeMap<MailboxId, sidecar::SidecarMailbox>,
    ) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, key FROM fresh ORDER BY rowid";
        self.db.each(sql, [], |row| {
            all.entry(row.get(0)?)
                .or_default()
                .keys
                .push(hex(row.get(1)?));
            Ok(())
        })
    }

    fn fresh_files(
        &self,
        all: &mut BTreeMap<MailboxId, sidecar::SidecarMailbox>,
    ) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, key, message FROM fresh_known JOIN known USING(key)";
        self.db.each(sql, [], |row| {
            let message = row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned);
            all.entry(row.get(0)?)
                .or_default()
                .files
                .push(sidecar::SidecarFile {
                    key: row.get::<_, i64>(1)?.cast_unsigned(),
                    message,
                });
            Ok(())
        })
    }

    fn fresh_cursors(
        &self,
        all: &mut BTreeMap<MailboxId, sidecar::SidecarMailbox>,
    ) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, dev, ino, btime, first, last, guard, head, size, mtime
             FROM fresh_file JOIN file USING(dev, ino, btime)";
        self.db.each(sql, [], |row| {
            let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
            all.entry(row.get(0)?)
                .or_default()
                .cursors
                .push(sidecar::SidecarCursor {
                    file: sidecar::SidecarFileId {
                        dev: number(1)?,
                        ino: number(2)?,
                        btime: row.get(3)?,
                    },
                    first: number(4)?,
                    last: number(5)?,
                    guard: number(6)?,
                    head: number(7)?,
                    size: number(8)?,
                    mtime: row.get(9)?,
                });
            Ok(())
        })
    }

    fn fresh_mailboxes(
        &self,
        all: &mut BTreeMap<MailboxId, sidecar::SidecarMailbox>,
    ) -> Result<(), DaemonError> {
        let mailboxes: Vec<MailboxId> =
            self.db
                .all("SELECT mailbox FROM fresh_mailbox", [], |row| row.get(0))?;
        for mailbox in mailboxes {
            let tails =
                self.growing_messages(mailbox)?
                    .into_iter()
                    .map(|tail| sidecar::SidecarTail {
                        len: tail.len,
                        hash: hex(tail.hash.to_be_bytes()),
                        ids: tail.ids.iter().map(|id| hex(id.to_be_bytes())).collect(),
                    });
            all.entry(mailbox).or_default().tails = Some(tails.collect());
        }
        Ok(())
    }

    /// Learns of a mailbox what a sidecar tells. Sidecars are to be learnt in their order. Gives the number of messages.
    pub(crate) fn learn(&self, told: &sidecar::SidecarMailbox) -> Result<usize, DaemonError> {
        let mailbox = self.mailbox(number(&told.mailbox)?, number(&told.spool)?, told.dev)?;
        match told.many {
            0 => {}
            1 => self.mark_multi_message(mailbox)?,
            _ => self.mark_mixed_archive(mailbox)?,
        }
        for key in &told.keys {
            self.mark_seen(mailbox, number(key)?)?;
        }
        for file in &told.files {
            self.mark_file_read(file.key, mailbox, file.message)?;
        }
        for at in &told.cursors {
            let sidecar::SidecarCursor {
                file: sidecar::SidecarFileId { dev, ino, btime },
                first,
                last,
                guard,
                head,
                size,
                mtime,
            } = *at;
            let cursor = MboxCursor {
                first,
                last,
                guard,
                head,
                size,
                mtime,
            };
            self.put_cursor(FileId { dev, ino, btime }, mailbox, &cursor)?;
        }
        if let Some(tails) = &told.tails {
            self.forget_growing(mailbox)?;
            for tail in tails {
                let ids = tail
                    .ids
                    .iter()
                    .map(|id| number(id))
                    .collect::<Result<_, _>>()?;
                self.put_growing(
                    mailbox,
                    &GrowingMessage {
                        len: tail.len,
                        hash: number(&tail.hash)?,
                        ids,
                    },
                )?;
            }
        }
        Ok(told.keys.len())
    }

    /// In a new state: what was learnt from sidecars stands in them already.
    pub(crate) fn nothing_is_fresh(&self) -> Result<(), DaemonError> {
        self.db
            .batch("DELETE FROM fresh_known; DELETE FROM fresh_file; DELETE FROM fresh_mailbox")
    }
}

fn hex(bytes: [u8; 16]) -> String {
    data_encoding::HEXLOWER.encode(&bytes)
}

fn number(text: &str) -> Result<Hash128, DaemonError> {
    Hash128::from_str_radix(text, 16).map_err(|_| {
        DaemonError::Inconsistent(format!("a sidecar names {text:?}, which is no hash"))
    })
}
