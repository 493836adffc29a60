//! Spools as the state knows them, and the scopes in which their messages were read before the
//! configuration changed.
//!
//! A mailbox is the scope in which a message is written once. The configuration of a spool decides
//! which mailboxes its files have. Another `kind` or `dedupe` is refused. When its path changes to a
//! folder within the old one, or to one around it, the mailboxes of the spool are retired, in one
//! transaction: nothing is read into them any more, but what they hold counts as written in the new
//! ones. A retired mailbox that is used again is a normal one again.
//!
//! The records of a message name the mailbox for which they were written, and stand as long as any
//! mailbox holds the message. So with tombstones a message also counts as written if its records
//! would name a mailbox that records of it name already.
//!
//! A spool is recognized by its name in the configuration or by the folder that this leads to,
//! however it is spelled. The state keeps it under the path by which it was known first, with which
//! all hashes of paths begin.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rusqlite::params;

use super::holders::{DigestBytes, GivenRow};
use super::state_db::{Hash128, MailboxId, message_key, path_key, stored_key};
use super::state_db::{StateDb, hash128, unsigned};
use crate::config::{NamedValue, Spool, resolved};
use crate::daemon::DaemonError;
use crate::limits::OLDER_SCOPES;
use crate::origin::SourceKind;

/// A configured spool as the state knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpoolIdentity {
    /// The path in the configuration, with which the paths of walked files begin.
    configured: PathBuf,
    /// The path under which the state keeps it.
    pub(crate) path: PathBuf,
    /// Hash of that path.
    pub(crate) key: Hash128,
    /// Keys of other spools whose files this one has taken over.
    earlier: Vec<Hash128>,
    /// Number of retired mailboxes that may hold messages of its files.
    retired: u64,
}

impl SpoolIdentity {
    /// A spool that is kept under its path in the configuration.
    pub(crate) fn named(configured: &Path) -> SpoolIdentity {
        SpoolIdentity {
            configured: configured.to_owned(),
            path: configured.to_owned(),
            key: path_key(configured),
            earlier: Vec::new(),
            retired: 0,
        }
    }

    /// Returns the path by which the state knows a file or folder of the spool.
    pub(crate) fn path_of<'p>(&self, walked: &'p Path) -> Cow<'p, Path> {
        if self.path.as_os_str() == self.configured.as_os_str() {
            return Cow::Borrowed(walked);
        }
        Cow::Owned(match walked.strip_prefix(&self.configured) {
            Ok(rest) if rest.as_os_str().is_empty() => self.path.clone(),
            Ok(rest) => self.path.join(rest),
            Err(_) => walked.to_owned(),
        })
    }

    /// The warning that not all retired mailboxes are searched; `None` if they are.
    pub(super) fn warning(&self) -> Option<String> {
        ((OLDER_SCOPES as u64) < self.retired).then(|| {
            format!(
                "{}: its configuration changed, and it has {} mailboxes from before; new messages \
                 are looked up in {OLDER_SCOPES} of them, so copies of messages from before may be \
                 written again",
                self.configured.display(),
                self.retired
            )
        })
    }

    /// Returns `true` if messages may have been read in other scopes before.
    pub(crate) fn has_older_scopes(&self) -> bool {
        0 < self.retired || !self.earlier.is_empty()
    }

    /// Keys of the spool and of those whose files it has taken over: mailboxes that hold the
    /// messages of whole spools.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Hash128> {
        std::iter::once(self.key).chain(self.earlier.iter().copied())
    }
}

/// A mailbox in which messages of a file may have been read before the configuration changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OlderScope {
    pub(crate) id: MailboxId,
    pub(crate) key: Hash128,
}

/// The scope into which a message is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewScope<'s> {
    pub(crate) id: MailboxId,
    pub(crate) key: Hash128,
    /// The mailbox, as records of the message name it.
    pub(crate) path: &'s [u8],
    pub(crate) older: &'s [OlderScope],
}

/// A row of the table `spool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpoolRow {
    /// The path under which it is kept. Its hash is the key of the row.
    pub(super) path: PathBuf,
    /// The last path in the configuration, absolute.
    pub(super) name: PathBuf,
    /// The path without links to which that led.
    pub(super) target: PathBuf,
    /// The name of its kind; `auto` if each file has its own.
    pub(super) kind: String,
    pub(super) dedupe: String,
    /// `true` if it is in the configuration.
    pub(super) is_active: bool,
}

impl SpoolRow {
    fn key(&self) -> Hash128 {
        path_key(&self.path)
    }

    /// Returns `true` if one of two spools contains the other.
    fn overlaps(&self, other: &SpoolRow) -> bool {
        let overlap = |one: &Path, other: &Path| one.starts_with(other) || other.starts_with(one);
        overlap(&self.target, &other.target) || overlap(&self.name, &other.name)
    }
}

impl StateDb {
    /// Adopts the spools of a configuration, and retires mailboxes whose scope has changed, in one
    /// transaction. None may be open. Returns the spools as the state knows them, in the same
    /// order.
    pub(crate) fn adopt_spools(&self, spools: &[Spool]) -> Result<Vec<SpoolIdentity>, DaemonError> {
        let known = self.spool_rows()?;
        check_scopes(spools, &known)?;
        let rows = self.configured_rows(spools, &known)?;
        let mut changed = known.clone();
        changed.iter_mut().for_each(|row| row.is_active = false);
        for row in &rows {
            changed.retain(|other| other.path != row.path);
            changed.push(row.clone());
        }
        changed.sort_by(|one, other| one.path.cmp(&other.path));
        if changed != known {
            self.begin()?;
            for row in &rows {
                self.adopt_spool(row, &rows, &known)?;
            }
            self.put_spool_rows(&changed)?;
            self.commit()?;
        }
        let pairs = spools.iter().zip(&rows);
        pairs
            .map(|(spool, row)| self.identity(spool, row))
            .collect()
    }

    /// All rows of the table `spool`, in the order of their paths.
    pub(super) fn spool_rows(&self) -> Result<Vec<SpoolRow>, DaemonError> {
        let sql = "SELECT path, name, target, kind, dedupe, active FROM spool";
        let mut rows = self.all(sql, [], |row| {
            let path = |index| -> rusqlite::Result<PathBuf> {
                let bytes: Vec<u8> = row.get(index)?;
                Ok(OsString::from_vec(bytes).into())
            };
            Ok(SpoolRow {
                path: path(0)?,
                name: path(1)?,
                target: path(2)?,
                kind: row.get(3)?,
                dedupe: row.get(4)?,
                is_active: row.get(5)?,
            })
        })?;
        rows.sort_by(|one: &SpoolRow, other| one.path.cmp(&other.path));
        Ok(rows)
    }

    /// Replaces the rows of the table `spool`, in the open transaction.
    pub(super) fn put_spool_rows(&self, rows: &[SpoolRow]) -> Result<(), DaemonError> {
        self.run("DELETE FROM spool", [])?;
        for row in rows {
            let bytes = |path: &Path| path.as_os_str().as_bytes().to_owned();
            self.run(
                "INSERT INTO spool VALUES(?1,?2,?3,?4,?5,?6)",
                params![
                    bytes(&row.path),
                    bytes(&row.name),
                    bytes(&row.target),
                    row.kind,
                    row.dedupe,
                    row.is_active
                ],
            )?;
        }
        Ok(())
    }

    /// Pairs of a spool and another one whose files it has taken over.
    pub(super) fn inheritances(&self) -> Result<Vec<(Hash128, Hash128)>, DaemonError> {
        let sql = "SELECT spool, earlier FROM inheritance ORDER BY spool, earlier";
        self.all(sql, [], |row| Ok((hash128(row, 0)?, hash128(row, 1)?)))
    }

    /// Records that a spool has taken over files of an earlier one.
    pub(super) fn put_inheritance(
        &self,
        spool: Hash128,
        earlier: Hash128,
    ) -> Result<(), DaemonError> {
        self.run(
            "INSERT OR IGNORE INTO inheritance VALUES(?1,?2)",
            params![spool.to_be_bytes(), earlier.to_be_bytes()],
        )
    }

    /// Returns the number of the mailbox of a whole spool for a file without messages. It stays
    /// retired, because nothing is read into it.
    pub(crate) fn mailbox_without_messages(
        &self,
        spool: Hash128,
        dev: u64,
    ) -> Result<MailboxId, DaemonError> {
        let sql = "SELECT 1 FROM mailbox WHERE key=?1 AND retired=1";
        let is_retired = self.is_any(sql, params![spool.to_be_bytes()])?;
        let mailbox = self.mailbox(spool, spool, dev)?;
        if is_retired {
            self.retire_mailbox(mailbox)?;
        }
        Ok(mailbox)
    }

    pub(super) fn retire_mailbox(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.run("UPDATE mailbox SET retired=1 WHERE id=?1", params![mailbox])?;
        self.mark_changed(mailbox)
    }

    /// The mailboxes in which messages of a file may have been read before the configuration of its
    /// spool changed. `candidates` are the keys of those to which its path belongs, whatever its
    /// format. They come first.
    pub(crate) fn older_scopes(
        &self,
        mailbox: Hash128,
        spool: &SpoolIdentity,
        candidates: &[Hash128],
    ) -> Result<Vec<OlderScope>, DaemonError> {
        if !spool.has_older_scopes() {
            return Ok(Vec::new());
        }
        let (mut near, mut others) = (Vec::new(), Vec::new());
        let sql = "SELECT id, key FROM mailbox WHERE spool=?1 AND retired=1";
        for spool in spool.keys() {
            self.each(sql, params![spool.to_be_bytes()], |row| {
                let scope = OlderScope {
                    id: row.get(0)?,
                    key: hash128(row, 1)?,
                };
                // A mailbox of a whole spool may hold messages of each of its files.
                if candidates.contains(&scope.key) || scope.key == spool {
                    near.push(scope);
                } else {
                    others.push(scope);
                }
                Ok(())
            })?;
        }
        // Of a spool that contains this one and is still read, the mailboxes of this file.
        let sql = "SELECT id, spool FROM mailbox WHERE key=?1 AND retired=0";
        for key in candidates {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, hash128(row, 1)?));
            let found: Option<(MailboxId, Hash128)> =
                self.find(sql, params![key.to_be_bytes()], read)?;
            if let Some((id, _)) = found.filter(|(_, of)| spool.earlier.contains(of)) {
                near.push(OlderScope { id, key: *key });
            }
        }
        // A message that was written for one file of a spool is not written for another, if the
        // spool is the scope.
        if mailbox == spool.key {
            others.truncate(OLDER_SCOPES.saturating_sub(near.len()));
            near.append(&mut others);
        }
        near.retain(|scope| scope.key != mailbox);
        Ok(near)
    }

    /// Takes over a message from the older scopes, and from mailboxes that hold it with records of
    /// the new one: what is known of it there is known in the new one. `record_digest` is the
    /// digest in its records, if holders are tracked. Returns `true` if it was read in one of them.
    pub(crate) fn take_over(
        &self,
        scope: NewScope<'_>,
        digest: u128,
        record_digest: Option<u128>,
    ) -> Result<bool, DaemonError> {
        let key = message_key(scope.key, digest);
        let mut is_found = false;
        if let Some(record_digest) = record_digest {
            let is_same = |mailbox: Hash128, row: &GivenRow| {
                let key = stored_key(message_key(mailbox, digest));
                row.keys().contains(&key)
            };
            is_found = self.take_over_given(scope, record_digest, Some(key), is_same)?;
        }
        for older in scope.older {
            if is_found {
                break;
            }
            is_found = self.is_seen(older.id, message_key(older.key, digest))?;
        }
        if is_found && self.mark_seen(scope.id, key)? {
            self.run(
                "INSERT INTO fresh_seen VALUES(?1,?2)",
                params![scope.id, key.to_be_bytes()],
            )?;
        }
        Ok(is_found)
    }

    /// Takes over the rows of digests under which a message was written before it had grown.
    pub(crate) fn take_over_earlier(
        &self,
        scope: NewScope<'_>,
        digests: &[u128],
    ) -> Result<(), DaemonError> {
        for digest in digests {
            self.take_over_given(scope, *digest, None, |_, _| true)?;
        }
        Ok(())
    }

    /// Takes over rows with a digest, as far as `is_same` accepts them: those of older scopes, and
    /// those with records that name the mailbox of the new one. Returns `true` if there is one.
    fn take_over_given(
        &self,
        scope: NewScope<'_>,
        digest: u128,
        key: Option<Hash128>,
        is_same: impl Fn(Hash128, &GivenRow) -> bool,
    ) -> Result<bool, DaemonError> {
        let digest: DigestBytes = digest.to_be_bytes();
        let sql = "SELECT mailbox.id, key, path.path FROM given JOIN mailbox ON mailbox.id=given.mailbox
             JOIN path ON path.id=given.path WHERE digest=?1 AND given.mailbox<>?2
             UNION ALL SELECT mailbox.id, key, path.path FROM other_path other JOIN mailbox ON mailbox.id=other.mailbox
             JOIN path ON path.id=other.path WHERE digest=?1 AND other.mailbox<>?2";
        let holding: Vec<(MailboxId, Hash128, Vec<u8>)> =
            self.all(sql, params![digest, scope.id], |row| {
                let key = hash128(row, 1)?;
                Ok((row.get(0)?, key, row.get(2)?))
            })?;
        if holding.is_empty() {
            return Ok(false);
        }
        let older: HashSet<MailboxId> = scope.older.iter().map(|older| older.id).collect();
        let path = plain_path(scope.path);
        let accepted = holding
            .into_iter()
            .filter(|(id, _, named)| older.contains(id) || plain_path(named) == path)
            .map(|(id, mailbox, _)| (id, mailbox));
        let mut is_found = false;
        for (id, mailbox) in accepted.collect::<BTreeSet<_>>() {
            let Some(row) = self.given_row(id, digest)? else {
                continue;
            };
            if !is_same(mailbox, &row) {
                continue;
            }
            is_found = true;
            let keys = key.map_or_else(Vec::new, |key| stored_key(key).to_vec());
            self.copy_given(scope.id, &row, keys)?;
            // The last digest lists all earlier ones.
            for earlier in row.earlier() {
                if let Some(row) = self.given_row(id, *earlier)? {
                    self.copy_given(scope.id, &row, Vec::new())?;
                }
            }
        }
        Ok(is_found)
    }

    /// Copies a row into another mailbox, with the mailboxes that its records name.
    fn copy_given(
        &self,
        mailbox: MailboxId,
        row: &GivenRow,
        keys: Vec<u8>,
    ) -> Result<(), DaemonError> {
        let paths = self.given_paths(row)?;
        self.put_given_row(GivenRow {
            mailbox,
            keys,
            files: 0,
            ..row.clone()
        })?;
        paths
            .into_iter()
            .try_for_each(|path| self.put_other_path(mailbox, row.digest, path))
    }

    /// The rows of the configured spools. One that is known keeps the path under which it is.
    fn configured_rows(
        &self,
        spools: &[Spool],
        known: &[SpoolRow],
    ) -> Result<Vec<SpoolRow>, DaemonError> {
        let matched = matched_rows(spools, known);
        let rows = spools.iter().zip(matched).map(|(spool, (mut row, known))| {
            row.path = match known {
                Some(known) => known.path.clone(),
                None => self.first_path(&row, &spool.path)?,
            };
            Ok(row)
        });
        rows.collect()
    }

    /// The path under which a spool without a row is kept: one under which it has mailboxes, which
    /// a program of an earlier version or a rebuild left, or else the one without links.
    fn first_path(&self, row: &SpoolRow, configured: &Path) -> Result<PathBuf, DaemonError> {
        for path in [configured, &row.name, &row.target] {
            if self.has_spool(path_key(path))? {
                return Ok(path.to_owned());
            }
        }
        Ok(row.target.clone())
    }

    /// Lets a spool inherit the mailboxes of others.
    fn adopt_spool(
        &self,
        row: &SpoolRow,
        configured: &[SpoolRow],
        known: &[SpoolRow],
    ) -> Result<(), DaemonError> {
        let before = known.iter().find(|known| known.path == row.path);
        if before.is_some_and(|before| before.is_active) {
            return Ok(());
        }
        let others = known.iter().filter(|other| other.path != row.path);
        for other in others.filter(|other| other.overlaps(row)) {
            let pairs = self.inheritances()?.into_iter();
            let earlier = pairs.filter(|(spool, _)| *spool == other.key());
            for earlier in earlier.map(|(_, earlier)| earlier).chain([other.key()]) {
                if earlier != row.key() {
                    self.put_inheritance(row.key(), earlier)?;
                }
            }
            if configured.iter().all(|row| row.path != other.path) {
                self.retire_mailboxes(other.key())?;
                self.adopt_holders(row, other)?;
            }
        }
        Ok(())
    }

    /// Makes the holders of a spool that is not read any more those of one that contains or is part
    /// of it, as far as all of their messages were written for mailboxes within. Files that are
    /// there unchanged would be adopted one by one, but those that are gone must be missing from
    /// some spool. A holder with a message that was written for a mailbox outside may be a file
    /// outside, into which the others were moved: nothing is gone from a file that no spool
    /// contains any more.
    fn adopt_holders(&self, row: &SpoolRow, other: &SpoolRow) -> Result<(), DaemonError> {
        let mut roots = vec![row.name.clone(), row.target.clone()];
        let names = [&other.name, &other.target, &other.path];
        roots.extend(match row.target.strip_prefix(&other.target) {
            Ok(rest) => names.map(|name| name.join(rest)),
            Err(_) => names.map(Clone::clone),
        });
        let is_within = |path: &[u8]| {
            let path = Path::new(OsStr::from_bytes(path));
            roots.iter().any(|root| path.starts_with(root))
        };
        let mut within = BTreeSet::new();
        self.each("SELECT id, path FROM path", [], |row| {
            if is_within(row.get_ref(1)?.as_bytes()?) {
                within.insert(row.get::<_, i64>(0)?);
            }
            Ok(())
        })?;
        if within.is_empty() {
            return Ok(());
        }
        let (mut holders, mut others) = (BTreeSet::new(), BTreeSet::new());
        let sql = "SELECT holder.key, given.path FROM holder JOIN held ON held.holder=holder.key
             JOIN given USING(digest, mailbox) WHERE spool=(SELECT id FROM path WHERE path=?1)";
        self.each(sql, params![other.path.as_os_str().as_bytes()], |row| {
            let holder = unsigned(row, 0)?;
            if within.contains(&row.get(1)?) {
                holders.insert(holder);
            } else {
                others.insert(holder);
            }
            Ok(())
        })?;
        holders
            .difference(&others)
            .try_for_each(|holder| self.adopt_holder(*holder, &row.path).map(|_| ()))
    }

    fn retire_mailboxes(&self, spool: Hash128) -> Result<(), DaemonError> {
        let sql = "SELECT id FROM mailbox WHERE spool=?1 AND retired=0";
        let mailboxes: Vec<MailboxId> =
            self.all(sql, params![spool.to_be_bytes()], |row| row.get(0))?;
        mailboxes
            .into_iter()
            .try_for_each(|mailbox| self.retire_mailbox(mailbox))
    }

    fn identity(&self, spool: &Spool, row: &SpoolRow) -> Result<SpoolIdentity, DaemonError> {
        let key = row.key();
        let pairs = self.inheritances()?.into_iter();
        let earlier: Vec<Hash128> = pairs
            .filter(|(spool, _)| *spool == key)
            .map(|(_, earlier)| earlier)
            .collect();
        let mut identity = SpoolIdentity {
            configured: spool.path.clone(),
            path: row.path.clone(),
            key,
            earlier,
            retired: 0,
        };
        let sql = "SELECT count(*) FROM mailbox WHERE spool=?1 AND retired=1";
        for spool in identity.keys().collect::<Vec<_>>() {
            let count = self.find(sql, params![spool.to_be_bytes()], |row| row.get(0))?;
            identity.retired += count.map_or(0, i64::cast_unsigned);
        }
        Ok(identity)
    }
}

/// The rows of configured spools, without the paths under which they are kept, each with the known
/// row of the same spool.
fn matched_rows<'k>(
    spools: &[Spool],
    known: &'k [SpoolRow],
) -> Vec<(SpoolRow, Option<&'k SpoolRow>)> {
    let rows = spools.iter().map(SpoolRow::of);
    let mut matched: Vec<_> = rows.map(|row| (row, None)).collect();
    let mut free: Vec<&SpoolRow> = known.iter().collect();
    // Those in use before those that are not.
    free.sort_by_key(|row| !row.is_active);
    let passes: [fn(&SpoolRow, &SpoolRow) -> bool; 3] = [
        |row, known| row.name == known.name && row.target == known.target,
        |row, known| row.target == known.target,
        |row, known| row.name == known.name,
    ];
    for is_same in passes {
        for (row, found) in &mut matched {
            let at = free.iter().position(|known| is_same(row, known));
            if let (None, Some(at)) = (&found, at) {
                *found = Some(free.remove(at));
            }
        }
    }
    matched
}

/// Checks that no known spool has another `kind` or `dedupe`: with other mailboxes its messages would
/// be written again, or never be gone.
///
/// # Errors
///
/// [`DaemonError::Refused`] with both ways out.
pub(super) fn check_scopes(spools: &[Spool], known: &[SpoolRow]) -> Result<(), DaemonError> {
    for (row, known) in matched_rows(spools, known) {
        let Some(known) = known else { continue };
        let keys = [
            ("kind", &known.kind, &row.kind),
            ("dedupe", &known.dedupe, &row.dedupe),
        ];
        if let Some((key, was, is)) = keys.into_iter().find(|(_, was, is)| was != is) {
            return Err(DaemonError::Refused {
                message: format!(
                    "spool {}: its mail was read with {key} = \"{was}\", and the configuration \
                     has \"{is}\"; keep \"{was}\", or name new folders in state.dir and \
                     output.dir, where its messages are written again, with the same ids",
                    row.name.display()
                ),
            });
        }
    }
    Ok(())
}

/// Returns a path without `.`, `..` and a slash at its end, however its spool was spelled when it
/// was recorded. No file system is asked, because one may not answer: spellings with links stay
/// different.
fn plain_path(path: &[u8]) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in Path::new(OsStr::from_bytes(path)).components() {
        let last = plain.components().next_back();
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(last, Some(Component::Normal(_))) => {
                plain.pop();
            }
            _ => plain.push(component),
        }
    }
    plain
}

impl SpoolRow {
    /// The row of a configured spool, without the path under which it is kept.
    fn of(spool: &Spool) -> SpoolRow {
        let absolute = std::path::absolute(&spool.path);
        let absolute = absolute.unwrap_or_else(|_| spool.path.clone());
        SpoolRow {
            path: PathBuf::new(),
            // Without a slash at the end.
            name: absolute.components().collect(),
            target: resolved(&spool.path).components().collect(),
            kind: spool.kind.map_or("auto", SourceKind::name).to_owned(),
            dedupe: spool.dedupe.name().to_owned(),
            is_active: true,
        }
    }
}
