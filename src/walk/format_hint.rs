//! Hints that the path of a file gives on its format.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::origin::FormatHint;

/// Returns the hint that the name and the folder of a file give.
pub(crate) fn path_hint(path: &Path) -> FormatHint {
    // Taking names out of paths is slow, and there are many files.
    let may_be_maildir = |folder: &&Path| {
        [b"cur", b"new"]
            .iter()
            .any(|end| folder.as_os_str().as_bytes().ends_with(*end))
    };
    let folder = path
        .parent()
        .filter(may_be_maildir)
        .and_then(Path::file_name);
    let is_numbered = path
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    match folder {
        Some(folder)
            if (folder == "cur" || folder == "new")
                && path.parent().and_then(Path::parent).is_some_and(is_maildir) =>
        {
            FormatHint::Maildir
        }
        _ if is_numbered => FormatHint::Numbered,
        _ if is_timehash(path) => FormatHint::Timehash,
        _ => FormatHint::None,
    }
}

/// Returns `true` if a folder is a Maildir.
pub(super) fn is_maildir(folder: &Path) -> bool {
    folder.join("cur").is_dir() && folder.join("new").is_dir()
}

/// Returns `true` if a folder is `tmp` of a Maildir: messages in it may be incomplete (maildir(5)).
pub(super) fn is_maildir_tmp(parent: &Path, name: &OsStr) -> bool {
    name == "tmp" && is_maildir(parent)
}

/// Returns `true` if a path ends as INN's timehash method names articles: `time-01/00/86/0000-6be1`, all in hexadecimal digits.
pub(super) fn is_timehash(path: &Path) -> bool {
    let mut names = path.iter().rev().map(OsStr::as_encoded_bytes);
    let mut next_matches = |pattern: &[u8]| {
        names.next().is_some_and(|name| {
            let same = |(&byte, &mark): (&u8, &u8)| {
                if mark == b'?' {
                    byte.is_ascii_hexdigit()
                } else {
                    byte == mark
                }
            };
            name.len() == pattern.len() && name.iter().zip(pattern).all(same)
        })
    };
    next_matches(b"????-????")
        && next_matches(b"??")
        && next_matches(b"??")
        && next_matches(b"time-??")
}
