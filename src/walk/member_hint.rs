//! Hints that the name of an archive's member gives on its format.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::format_hint::is_timehash;
use super::path_filter;
use crate::diagnostic::SkipReason;
use crate::origin::FormatHint;

/// Returns the hint that the name of a member in an archive gives. The folders around it are not known, so that the form of the file
/// name identifies a Maildir as well (maildir(5): time, process and host).
///
/// # Errors
///
/// The reason to skip the member.
pub(crate) fn member_hint(name: &[u8]) -> Result<FormatHint, SkipReason> {
    let mut components = name.rsplit(|&byte| byte == b'/');
    let file = components.next().unwrap_or_default();
    let folder = components.next().unwrap_or_default();
    let is_unique = file.first().is_some_and(u8::is_ascii_digit)
        && file.split(|&byte| byte == b'.').count() > 2;
    if path_filter::is_control_file(OsStr::from_bytes(file)) {
        return Err(SkipReason::ControlFile);
    }
    match folder {
        b"tmp" if is_unique => Err(SkipReason::MaildirTmp),
        b"cur" | b"new" if is_unique => Ok(FormatHint::Maildir),
        _ if !file.is_empty() && file.iter().all(u8::is_ascii_digit) => Ok(FormatHint::Numbered),
        _ if is_timehash(Path::new(OsStr::from_bytes(name))) => Ok(FormatHint::Timehash),
        _ => Ok(FormatHint::None),
    }
}
