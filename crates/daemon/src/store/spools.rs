//! Spools as the state knows them.
//!
//! A mailbox is the scope in which a message is written once. The configuration of a spool decides
//! which mailboxes its files belong to, so a different `kind` or `dedupe` is refused. A spool is
//! recognized by its name in the configuration, or by the folder that the name resolves to. The
//! state keeps a spool under the path by which it was first known; all hashes of paths start with
//! that path.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::state_db::{Hash128, StateDb, path_key};
use crate::{DaemonError, ErrorKind, Result};
use urlspool_files::config::{Spool, resolved};
use urlspool_text::origin::SourceKind;

/// A configured spool as the state knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolIdentity {
    /// The path in the configuration; the paths of walked files start with it.
    configured: PathBuf,
    /// The path under which the state keeps the spool.
    pub path: PathBuf,
    /// Hash of that path.
    pub key: Hash128,
}

impl SpoolIdentity {
    /// A spool that the state keeps under `path`.
    pub fn kept(configured: &Path, path: &Path) -> SpoolIdentity {
        SpoolIdentity {
            configured: configured.to_owned(),
            path: path.to_owned(),
            key: path_key(path),
        }
    }

    /// Returns the path by which the state knows a file or folder of the spool.
    pub fn path_of<'p>(&self, walked: &'p Path) -> Cow<'p, Path> {
        if self.configured.as_os_str() == self.path.as_os_str() {
            return Cow::Borrowed(walked);
        }
        Cow::Owned(match walked.strip_prefix(&self.configured) {
            Ok(rest) if rest.as_os_str().is_empty() => self.path.clone(),
            Ok(rest) => self.path.join(rest),
            Err(_) => walked.to_owned(),
        })
    }
}

/// The spools that the state knows.
#[derive(Debug, Default)]
pub(super) struct KnownSpools {
    /// All of them, ordered by path.
    pub(super) rows: Vec<SpoolRow>,
    /// Those in the configuration, by their paths in it.
    pub(super) configured: HashMap<PathBuf, Arc<SpoolIdentity>>,
}

/// A row of the table `spool`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SpoolRow {
    /// The path under which the state keeps the spool.
    #[serde(with = "path_text")]
    pub(super) path: PathBuf,
    /// The latest path in the configuration, absolute.
    #[serde(with = "path_text")]
    pub(super) name: PathBuf,
    /// `name` with all links resolved.
    #[serde(with = "path_text")]
    pub(super) target: PathBuf,
    /// The name of the spool's kind; `auto` if each file has its own.
    pub(super) kind: String,
    pub(super) dedupe: String,
}

/// A path in a sidecar, encoded as hexadecimal bytes.
pub(super) mod path_text {
    use super::{HEXLOWER, OsStrExt, OsString, OsStringExt, Path, PathBuf};
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(in super::super) fn serialize<S: Serializer>(
        path: &Path,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(path.as_os_str().as_bytes()))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = HEXLOWER
            .decode(text.as_bytes())
            .map_err(de::Error::custom)?;
        Ok(OsString::from_vec(bytes).into())
    }
}

impl StateDb {
    /// Adopts the spools of a configuration, and commits. The batch must be empty. Messages of
    /// other spools are not reported as gone. Returns all spools.
    pub(super) fn adopt_spools(&self, spools: &[Spool]) -> Result<KnownSpools> {
        let known = self.spool_rows()?;
        check_scopes(spools, &known)?;
        let matched = matched_rows(spools, &known).into_iter();
        let rows: Vec<SpoolRow> = matched.map(|(row, _)| row).collect();
        for row in &rows {
            self.put_spool_row(row)?;
        }
        for known in &known {
            if rows.iter().all(|row| row.path != known.path) {
                self.remove_holders_of(&known.path)?;
            }
        }
        self.commit()?;
        let configured = spools.iter().zip(&rows).map(|(spool, row)| {
            let identity = SpoolIdentity::kept(&spool.path, &row.path);
            (spool.path.clone(), Arc::new(identity))
        });
        Ok(KnownSpools {
            rows: self.spool_rows()?,
            configured: configured.collect(),
        })
    }

    /// All rows of the table `spool`, ordered by path.
    pub(super) fn spool_rows(&self) -> Result<Vec<SpoolRow>> {
        let sql = "SELECT path, name, target, kind, dedupe FROM spool ORDER BY path";
        self.all(sql, [], |row| {
            Ok(SpoolRow {
                path: path_of(row, 0)?,
                name: path_of(row, 1)?,
                target: path_of(row, 2)?,
                kind: row.get(3)?,
                dedupe: row.get(4)?,
            })
        })
    }

    /// Inserts or replaces a row of the table `spool`, in the open transaction.
    pub(super) fn put_spool_row(&self, row: &SpoolRow) -> Result<()> {
        let [path, name, target] =
            [&row.path, &row.name, &row.target].map(|path| path.as_os_str().as_bytes());
        self.run(
            "INSERT OR REPLACE INTO spool VALUES(?1,?2,?3,?4,?5)",
            params![path, name, target, row.kind, row.dedupe],
        )
    }
}

pub(super) fn path_of(row: &Row<'_>, column: usize) -> rusqlite::Result<PathBuf> {
    let bytes: Vec<u8> = row.get(column)?;
    Ok(OsString::from_vec(bytes).into())
}

/// Returns the rows of configured spools, each with the known row of the same spool.
fn matched_rows<'k>(
    spools: &[Spool],
    known: &'k [SpoolRow],
) -> Vec<(SpoolRow, Option<&'k SpoolRow>)> {
    let rows = spools.iter().map(SpoolRow::of);
    let mut matched: Vec<_> = rows.map(|row| (row, None)).collect();
    let mut free: Vec<&SpoolRow> = known.iter().collect();
    let passes: [fn(&SpoolRow, &SpoolRow) -> bool; 3] = [
        |row, known| row.name == known.name && row.target == known.target,
        |row, known| row.target == known.target,
        |row, known| row.name == known.name,
    ];
    for is_same in passes {
        for (row, found) in &mut matched {
            let at = free.iter().position(|known| is_same(row, known));
            if let (None, Some(at)) = (&found, at) {
                let known = free.remove(at);
                row.path.clone_from(&known.path);
                *found = Some(known);
            }
        }
    }
    matched
}

/// Checks that no known spool has a different `kind` or `dedupe`: with different mailboxes, its
/// messages would be written again, or never be gone.
///
/// # Errors
///
/// [`ErrorKind::Refused`] with both remedies.
pub(super) fn check_scopes(spools: &[Spool], known: &[SpoolRow]) -> Result<()> {
    for (row, known) in matched_rows(spools, known) {
        let Some(known) = known else { continue };
        let keys = [
            ("kind", &known.kind, &row.kind),
            ("dedupe", &known.dedupe, &row.dedupe),
        ];
        if let Some((key, was, is)) = keys.into_iter().find(|(_, was, is)| was != is) {
            let message = format!(
                "spool {}: its mail was read with {key} = \"{was}\", but the configuration has \
                 \"{is}\"; keep \"{was}\", or set new folders in state.dir and output.dir, where \
                 its messages are written again with the same ids",
                row.name.display()
            );
            return Err(DaemonError::new(ErrorKind::Refused, message));
        }
    }
    Ok(())
}

impl SpoolRow {
    /// The row of a configured spool that is not known yet.
    fn of(spool: &Spool) -> SpoolRow {
        let absolute = std::path::absolute(&spool.path);
        let absolute = absolute.unwrap_or_else(|_| spool.path.clone());
        // Without a trailing slash.
        let target: PathBuf = resolved(&spool.path).components().collect();
        SpoolRow {
            path: target.clone(),
            name: absolute.components().collect(),
            target,
            kind: spool.kind.map_or("auto", SourceKind::name).to_owned(),
            dedupe: spool.dedupe.name().to_owned(),
        }
    }
}
