//! Hints that the path of a file, or the name of an archive's member, gives on its format.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::path_filter;
use crate::diagnostic::SkipReason;
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
fn is_maildir(folder: &Path) -> bool {
    folder.join("cur").is_dir() && folder.join("new").is_dir()
}

/// Returns `true` if a folder is `tmp` of a Maildir: messages in it may be incomplete (maildir(5)).
pub(super) fn is_maildir_tmp(parent: &Path, name: &OsStr) -> bool {
    name == "tmp" && is_maildir(parent)
}

/// Returns `true` if a file in `new` or `cur` of a Maildir is no message: a program that still writes
/// it (rsync) gives it a name that starts with a dot, and readers of Maildirs skip such names.
pub(super) fn is_hidden_in_maildir(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.starts_with(b".") && path_hint(path) == FormatHint::Maildir
}

/// Returns `true` if a path ends as INN's timehash method names articles:
/// `time-01/00/86/0000-6be1`, all in hexadecimal digits.
fn is_timehash(path: &Path) -> bool {
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

/// Returns the hint that the name of a member in an archive gives. The folders around it are not
/// known, so that the form of the file name identifies a Maildir as well (maildir(5): time, process
/// and host).
///
/// # Errors
///
/// The reason to skip the member.
pub(crate) fn member_hint(name: &[u8]) -> Result<FormatHint, SkipReason> {
    let mut components = name.rsplit(|&byte| byte == b'/');
    let file = components.next().unwrap_or_default();
    let folder = components.next().unwrap_or_default();
    let shown = file.strip_prefix(b".").unwrap_or(file);
    let is_unique = shown.first().is_some_and(u8::is_ascii_digit)
        && shown.split(|&byte| byte == b'.').count() > 2;
    if path_filter::is_control_file(OsStr::from_bytes(file)) {
        return Err(SkipReason::ControlFile);
    }
    match folder {
        b"tmp" if is_unique => Err(SkipReason::MaildirTmp),
        b"cur" | b"new" if is_unique && shown.len() < file.len() => Err(SkipReason::MaildirTmp),
        b"cur" | b"new" if is_unique => Ok(FormatHint::Maildir),
        _ if !file.is_empty() && file.iter().all(u8::is_ascii_digit) => Ok(FormatHint::Numbered),
        _ if is_timehash(Path::new(OsStr::from_bytes(name))) => Ok(FormatHint::Timehash),
        _ => Ok(FormatHint::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_a_maildir_with_a_dot_is_skipped() {
        let of = |name: &str| member_hint(name.as_bytes());
        assert_eq!(of("md/new/5.M1.host"), Ok(FormatHint::Maildir));
        assert_eq!(of("md/new/.5.M1.host.Xa8"), Err(SkipReason::MaildirTmp));
        assert_eq!(of("md/new/.profile"), Ok(FormatHint::None));
    }
}
