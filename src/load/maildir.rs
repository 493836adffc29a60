//! Messages of Maildirs whose files were renamed: a mail program moves a file from `new` to `cur`
//! when the message is seen, and writes flags at the end of its name.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::hash::hash_pieces;
use crate::origin::{FormatHint, maildir_base_name};
use crate::walk::path_hint;

/// The messages of the Maildirs in which rows name files that are missing. Each Maildir is listed
/// once.
#[derive(Debug, Default)]
pub(super) struct RenamedMessages {
    /// Hashes of the names of messages that have rows of a file that exists.
    stored: HashSet<u128>,
    /// The names of the messages in Maildirs that were listed; `None` for one that cannot be
    /// listed.
    listed: HashMap<PathBuf, Option<HashSet<u128>>>,
}

impl RenamedMessages {
    /// Adds a file that exists and has rows.
    pub(super) fn add_stored(&mut self, path: &Path) {
        if let Some(maildir) = maildir_of(path) {
            self.stored.insert(name_hash(maildir, path));
        }
    }

    /// Returns `true` if the message of a missing file may be in its Maildir under another name of
    /// which there are no rows. All files that exist were added before.
    pub(super) fn hold(&mut self, path: &Path) -> bool {
        let Some(maildir) = maildir_of(path) else {
            return false;
        };
        let name = name_hash(maildir, path);
        if self.stored.contains(&name) {
            return false;
        }
        let listed = self.listed.entry(maildir.to_owned());
        let names = listed.or_insert_with(|| names_in(maildir).ok());
        names.as_ref().is_none_or(|names| names.contains(&name))
    }
}

/// Returns the Maildir that holds a file; `None` if the file is in none.
fn maildir_of(path: &Path) -> Option<&Path> {
    (path_hint(path) == FormatHint::Maildir).then(|| path.ancestors().nth(2))?
}

/// Returns the hash of a message's name without its flags.
fn name_hash(maildir: &Path, path: &Path) -> u128 {
    let folder = maildir.as_os_str().as_bytes();
    hash_pieces(&[folder, b"/", maildir_base_name(path)])
}

/// Returns the names of the messages in a Maildir.
fn names_in(maildir: &Path) -> io::Result<HashSet<u128>> {
    let mut names = HashSet::new();
    for folder in ["new", "cur"] {
        for entry in fs::read_dir(maildir.join(folder))? {
            names.insert(name_hash(maildir, &entry?.path()));
        }
    }
    Ok(names)
}
