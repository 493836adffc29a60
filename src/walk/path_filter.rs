//! Selection of files: by the user's patterns, by the names of files in which mail programs keep their own data, and without the
//! files that the run itself writes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::file_id::FileId;

/// Patterns that the path of a file beneath its root must match, or must not match.
#[derive(Clone, Debug, Default)]
pub struct PathFilter {
    /// `None`: all files are included.
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    /// The files that the run itself writes, a few.
    own_outputs: Vec<FileId>,
}

/// Invalid pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadGlob {
    /// The pattern.
    pub glob: String,
    /// The error of the parser.
    pub message: String,
}

impl PathFilter {
    /// Creates a filter from glob patterns. A pattern without a slash is compared with file names alone.
    ///
    /// # Errors
    ///
    /// The first invalid pattern.
    pub fn new(include: &[String], exclude: &[String]) -> Result<PathFilter, BadGlob> {
        Ok(PathFilter {
            include: set(include)?,
            exclude: set(exclude)?,
            own_outputs: Vec::new(),
        })
    }

    /// Skips these files, which the run itself writes, by whatever name they are found.
    #[must_use]
    pub fn without_own_outputs(self, own_outputs: Vec<FileId>) -> PathFilter {
        PathFilter {
            own_outputs,
            ..self
        }
    }

    /// Returns `true` if the run itself writes the file.
    pub(super) fn is_own_output(&self, file: impl FnOnce() -> FileId) -> bool {
        !self.own_outputs.is_empty() && self.own_outputs.contains(&file())
    }

    /// Returns `true` if no file is excluded, so that paths need not be compared.
    pub(super) fn wants_all(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    /// Returns `true` if the file at `path`, relative to its root, is wanted.
    #[must_use]
    pub fn wants(&self, path: &Path) -> bool {
        self.include.as_ref().is_none_or(|set| set.is_match(path))
            && !self.exclude.as_ref().is_some_and(|set| set.is_match(path))
    }
}

fn set(globs: &[String]) -> Result<Option<GlobSet>, BadGlob> {
    let bad = |glob: &str, error: globset::Error| BadGlob {
        glob: glob.to_owned(),
        message: error.kind().to_string(),
    };
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        let anywhere = if glob.contains('/') {
            glob.clone()
        } else {
            format!("**/{glob}")
        };
        builder.add(Glob::new(&anywhere).map_err(|error| bad(glob, error))?);
    }
    let built = builder
        .build()
        .map_err(|error| bad(&globs.join(" "), error))?;
    Ok((!globs.is_empty()).then_some(built))
}

/// Names of files in which mail and news programs keep their own data: overviews, indexes, sequences.
const CONTROL_FILES: &[&str] = &[
    ".overview",
    ".mh_sequences",
    ".DS_Store",
    ".marks",
    ".agentview",
    "maildirfolder",
    "maildirsize",
    "subscriptions",
    "tradspool.map",
    "courierimapuiddb",
    "courierimapsubscribed",
    "courierimapacl",
    ":list",
    "uw-mh-sequences",
    // Other news and mail readers.
    ".nov",
    ".xmhcache",
    ".mew-summary",
    // Apple Mail.
    "table_of_contents",
    "content_index",
    "Envelope Index",
    "Envelope Index-shm",
    "Envelope Index-wal",
    "mbox.SKindex",
    // Thunderbird and its predecessors.
    "popstate.dat",
    "msgFilterRules.dat",
    "filterlog.html",
    "panacea.dat",
    "virtualFolders.dat",
    "folderTree.json",
    "feeditems.rdf",
    "prefs.js",
];

/// Endings of names of such files.
///
/// `.wdseml` and `.mozeml` are copies of messages that Thunderbird makes for the system's search (`INBOX.mozmsgs`).
const CONTROL_ENDS: &[&str] = &[
    ".msf", ".IDX", ".DAT", ".snm", ".mab", ".plist", ".wdseml", ".mozeml",
];

/// Beginnings of names of such files.
const CONTROL_STARTS: &[&str] = &[
    "dovecot.index",
    "dovecot.list",
    "dovecot.mailbox",
    "dovecot-acl",
    "dovecot-keywords",
    "dovecot-quota",
    "dovecot-uidlist",
    "dovecot-uidvalidity",
];

/// Returns `true` if a file of this name holds a program's own data and no mail.
pub(super) fn is_control_file(name: &OsStr) -> bool {
    let name = name.as_bytes();
    // Articles of a spool have numbers for names, and there are many.
    !name.iter().all(u8::is_ascii_digit)
        && (CONTROL_FILES
            .iter()
            .any(|control| name == control.as_bytes())
            || CONTROL_ENDS
                .iter()
                .any(|end| name.ends_with(end.as_bytes()))
            || CONTROL_STARTS
                .iter()
                .any(|start| name.starts_with(start.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let owned = |globs: &[&str]| {
            globs
                .iter()
                .map(|&glob| glob.to_owned())
                .collect::<Vec<_>>()
        };
        PathFilter::new(&owned(include), &owned(exclude))
            .unwrap()
            .wants(Path::new(path))
    }

    #[test]
    fn patterns_without_a_slash_are_compared_with_names() {
        assert!(wants(&[], &[], "a/b.mbox"));
        assert!(wants(&["*.mbox"], &[], "a/b.mbox") && !wants(&["*.mbox"], &[], "a/b.txt"));
        assert!(
            !wants(&["*.mbox"], &["a/*"], "a/b.mbox") && wants(&["*.mbox"], &["a/*"], "c/b.mbox")
        );
    }

    #[test]
    fn an_invalid_pattern_is_reported() {
        assert_eq!(
            PathFilter::new(&["[".to_owned()], &[]).unwrap_err().glob,
            "["
        );
    }

    #[test]
    fn control_files_are_recognized_by_name() {
        assert!(
            is_control_file(OsStr::new(".overview")) && is_control_file(OsStr::new("Inbox.msf"))
        );
        for name in [
            "Info.plist",
            "table_of_contents",
            "popstate.dat",
            "Trash.msf",
            "dovecot-acl-list",
            "1.wdseml",
        ] {
            assert!(is_control_file(OsStr::new(name)), "{name}");
        }
        assert!(!is_control_file(OsStr::new("1")) && !is_control_file(OsStr::new("inbox")));
    }
}
