//! Selection of files, and hints about formats.
//!
//! Files are selected by the user's patterns. Files in which mail programs keep internal data, and
//! files that the run itself writes, are excluded. The path of a file or the name of an archive
//! member hints at its format.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fast_glob::glob_match;

use super::rooted_path::DeviceInode;
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::PATTERN_BRACES;
use urlspool_text::origin::FormatHint;

/// Patterns that the path of a file, or of a folder that contains it, must or must not match.
#[derive(Clone, Debug, Default)]
pub struct PathFilter {
    /// `None` includes all files.
    include: Option<Patterns>,
    exclude: Option<Patterns>,
    /// The few files that the run itself writes.
    own_outputs: Vec<DeviceInode>,
}

/// Patterns, one of which a path must match.
#[derive(Clone, Debug)]
struct Patterns {
    /// Patterns for paths relative to the root.
    relative: Vec<String>,
    /// Patterns with a slash, for paths that include the root. One that starts with a slash may be
    /// an absolute path.
    whole: Vec<String>,
}

impl PathFilter {
    /// Creates a filter from glob patterns.
    ///
    /// A pattern without a slash is matched against the names of files and folders. A pattern with
    /// a slash is matched against paths relative to the root and against whole paths. `*` does not
    /// match a slash. A leading slash stands for the root of the scan or of the file system.
    ///
    /// # Errors
    ///
    /// The first invalid pattern, and the reason.
    pub fn new(include: &[String], exclude: &[String]) -> Result<PathFilter, String> {
        Ok(PathFilter {
            include: Patterns::new(include)?,
            exclude: Patterns::new(exclude)?,
            own_outputs: Vec::new(),
        })
    }

    /// Excludes these files, which the run itself writes, under any name.
    #[must_use]
    pub fn without_own_outputs(mut self, own_outputs: Vec<DeviceInode>) -> PathFilter {
        self.own_outputs.extend(own_outputs);
        self
    }

    /// Returns `true` if the run itself writes the file.
    pub(super) fn is_own_output(&self, file: impl FnOnce() -> DeviceInode) -> bool {
        !self.own_outputs.is_empty() && self.own_outputs.contains(&file())
    }

    /// Returns `true` if no file is excluded and paths need not be matched.
    pub(super) fn wants_all(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    /// Returns `true` if the file at `path`, which is `root` or in it, is selected.
    #[must_use]
    pub fn wants(&self, root: &Path, path: &Path) -> bool {
        let (include, exclude) = (self.include.as_ref(), self.exclude.as_ref());
        include.is_none_or(|patterns| patterns.match_above(root, path))
            && !exclude.is_some_and(|patterns| patterns.match_above(root, path))
    }

    /// Returns `true` if the folder at `path` in `root` is excluded with all its content.
    pub(super) fn excludes_folder(&self, root: &Path, path: &Path) -> bool {
        let exclude = self.exclude.as_ref();
        exclude.is_some_and(|patterns| patterns.match_path(root, path))
    }
}

impl Patterns {
    /// Returns `None` if there are no patterns.
    fn new(globs: &[String]) -> Result<Option<Patterns>, String> {
        let mut relative = Vec::new();
        let mut whole = Vec::new();
        for glob in globs {
            if let Some(flaw) = flaw(glob.as_bytes()) {
                return Err(format!("cannot use the pattern {glob:?}: {flaw}"));
            }
            let pattern = glob.trim_end_matches('/');
            let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
            if pattern.contains('/') {
                relative.push(escape_exclamation(
                    pattern.strip_prefix('/').unwrap_or(pattern),
                ));
                whole.push(escape_exclamation(pattern));
                whole.extend(real_pattern(pattern));
            } else {
                relative.push(format!("**/{pattern}"));
            }
        }
        let patterns = Patterns { relative, whole };
        Ok((!globs.is_empty()).then_some(patterns))
    }

    /// Returns `true` if a pattern matches `path` or a folder that contains it, up to `root`.
    fn match_above(&self, root: &Path, path: &Path) -> bool {
        path.ancestors()
            .take_while(|up| up.starts_with(root))
            .any(|up| self.match_path(root, up))
    }

    /// Returns `true` if a pattern matches `path`, which is `root` or in it.
    ///
    /// A file that is a root is matched by its name and its whole path.
    fn match_path(&self, root: &Path, path: &Path) -> bool {
        let relative = match path.strip_prefix(root) {
            Ok(relative) if !relative.as_os_str().is_empty() => relative,
            _ => Path::new(path.file_name().unwrap_or_default()),
        };
        let whole = path.strip_prefix("./").unwrap_or(path);
        let mut patterns = self.whole.iter();
        is_match(&self.relative, relative)
            || is_match(&self.whole, whole)
            || patterns.any(|pattern| pattern.starts_with('/'))
                && real_path(root, path).is_some_and(|real| is_match(&self.whole, &real))
    }
}

fn is_match(patterns: &[String], path: &Path) -> bool {
    let path = path.as_os_str().as_bytes();
    patterns.iter().any(|pattern| glob_match(pattern, path))
}

/// Returns the absolute path of an entry in a relative root, with links in the root resolved;
/// `None` for an absolute root.
fn real_path(root: &Path, path: &Path) -> Option<PathBuf> {
    let real_root = root.is_relative().then(|| root.canonicalize().ok())??;
    match path.strip_prefix(root) {
        Ok(beneath) if !beneath.as_os_str().is_empty() => Some(real_root.join(beneath)),
        _ => Some(real_root),
    }
}

/// Returns a pattern for the same file with links resolved, if the pattern is the absolute path of
/// an existing file.
fn real_pattern(pattern: &str) -> Option<String> {
    let real = pattern
        .starts_with('/')
        .then(|| Path::new(pattern).canonicalize().ok())??;
    let mut literal = String::new();
    for c in real.to_str()?.chars() {
        if "*?[]{}\\".contains(c) {
            literal.push('\\');
        }
        literal.push(c);
    }
    Some(literal)
}

/// Escapes a leading exclamation mark in a pattern.
fn escape_exclamation(pattern: &str) -> String {
    let mark = if pattern.starts_with('!') { "\\" } else { "" };
    format!("{mark}{pattern}")
}

/// Returns the reason why a pattern is invalid, or `None` if it is valid.
fn flaw(pattern: &[u8]) -> Option<&'static str> {
    let (mut at, mut depth) = (0, 0);
    while let Some(byte) = pattern.get(at) {
        at += 1;
        match byte {
            b'\\' if at == pattern.len() => return Some("it ends with a backslash"),
            b'\\' => at += 1,
            b'{' if depth == PATTERN_BRACES => return Some("its braces are nested too deeply"),
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some("a `}` has no `{` before it; write it as `[}]`"),
            b'}' => depth -= 1,
            b'[' => {
                let class = &pattern[at..];
                let negation = usize::from(matches!(class.first(), Some(b'!' | b'^')));
                // A leading bracket is a member of the class.
                let mut rest = class.iter().skip(negation + 1);
                let Some(len) = rest.position(|&byte| byte == b']') else {
                    return Some("a `[` has no `]` after it; write it as `[[]`");
                };
                let end = negation + 1 + len;
                let mut ranges = class[negation..end].windows(3);
                if ranges.any(|range| range[1] == b'-' && range[2] < range[0]) {
                    return Some("the first character of a range comes after the last one");
                }
                at += end + 1;
            }
            _ => {}
        }
    }
    (0 < depth).then_some("a `{` has no `}` after it; write it as `[{]`")
}

/// Names of files in which mail and news programs keep internal data: overviews, indexes,
/// sequences. They are separated by slashes. A `*` stands for any start or end.
const CONTROL_FILES: &[&str] = &[
    ".overview/.mh_sequences/.DS_Store/.marks/.agentview/maildirfolder/maildirsize/subscriptions",
    "tradspool.map/courierimapuiddb/courierimapsubscribed/courierimapacl/:list/uw-mh-sequences",
    "dovecot.index*/dovecot.list*/dovecot.mailbox*/dovecot-acl*/dovecot-keywords*/dovecot-quota*",
    "dovecot-uidlist*/dovecot-uidvalidity*",
    // Other news and mail readers.
    ".nov/.xmhcache/.mew-summary/*.IDX/*.DAT/*.snm",
    // Apple Mail.
    "table_of_contents/content_index/Envelope Index/Envelope Index-shm/Envelope Index-wal",
    "mbox.SKindex/*.plist",
    // Thunderbird and its predecessors. `.wdseml` and `.mozeml` are copies of messages for the
    // system's search (`INBOX.mozmsgs`).
    "popstate.dat/msgFilterRules.dat/filterlog.html/panacea.dat/virtualFolders.dat/*.msf/*.mab",
    "folderTree.json/feeditems.rdf/prefs.js/*.wdseml/*.mozeml",
];

/// Returns `true` if a file with this name contains internal data of a program instead of mail.
pub(super) fn is_control_file(name: &OsStr) -> bool {
    static NAMES: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
        let names = CONTROL_FILES.iter().flat_map(|names| names.split('/'));
        names.map(str::as_bytes).collect()
    });
    let name = name.as_bytes();
    // Articles in a spool are named by numbers, and there are many of them.
    !name.iter().all(u8::is_ascii_digit)
        && NAMES.iter().any(|known| match known {
            [b'*', end @ ..] => name.ends_with(end),
            [start @ .., b'*'] => name.starts_with(start),
            known => name == *known,
        })
}

/// Returns the format hint from the name and folder of a file.
pub fn path_hint(path: &Path) -> FormatHint {
    // Splitting paths into names is slow, and there are many files.
    let folder = path.parent().filter(|folder| {
        let path = folder.as_os_str().as_bytes();
        path.ends_with(b"cur") || path.ends_with(b"new")
    });
    let is_in_maildir = folder.is_some_and(|folder| {
        (folder.ends_with("cur") || folder.ends_with("new"))
            && folder.parent().is_some_and(is_maildir)
    });
    if is_in_maildir {
        return FormatHint::Maildir;
    }
    let name = path.file_name().map(OsStr::as_bytes);
    match name {
        Some(name) if name.iter().all(u8::is_ascii_digit) => FormatHint::Numbered,
        _ if is_timehash(path.as_os_str().as_bytes()) => FormatHint::Timehash,
        _ => FormatHint::None,
    }
}

/// Returns `true` if a folder is a Maildir.
fn is_maildir(folder: &Path) -> bool {
    folder.join("cur").is_dir() && folder.join("new").is_dir()
}

/// Returns `true` if a folder is the `tmp` of a Maildir, whose messages may be incomplete
/// (maildir(5)).
pub(super) fn is_maildir_tmp(parent: &Path, name: &OsStr) -> bool {
    name == "tmp" && is_maildir(parent)
}

/// Returns `true` if a file in `new` or `cur` of a Maildir is not a message. A program that is
/// still writing it, such as rsync, uses a name with a leading dot, which readers of Maildirs skip.
pub(super) fn is_hidden_in_maildir(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.starts_with(b".") && path_hint(path) == FormatHint::Maildir
}

/// Returns `true` if a path ends with a name as INN's timehash method makes it:
/// `time-01/00/86/0000-6be1`, in hexadecimal digits.
fn is_timehash(path: &[u8]) -> bool {
    static PATTERN: LazyLock<String> =
        LazyLock::new(|| "**/time-??/??/??/????-????".replace('?', "[0-9A-Fa-f]"));
    glob_match(&*PATTERN, path)
}

/// Returns the format hint from the name of an archive member. The sibling folders are unknown, so
/// the form of the file name (time, process and host; see maildir(5)) also identifies a Maildir.
///
/// # Errors
///
/// The reason to skip the member.
pub fn member_hint(name: &[u8]) -> Result<FormatHint, SkipReason> {
    let mut components = name.rsplit(|&byte| byte == b'/');
    let file = components.next().unwrap_or_default();
    let folder = components.next().unwrap_or_default();
    let shown = file.strip_prefix(b".").unwrap_or(file);
    let is_unique = shown.first().is_some_and(u8::is_ascii_digit)
        && shown.split(|&byte| byte == b'.').count() > 2;
    if is_control_file(OsStr::from_bytes(file)) {
        return Err(SkipReason::ControlFile);
    }
    match folder {
        b"tmp" if is_unique => Err(SkipReason::MaildirTmp),
        b"cur" | b"new" if is_unique && shown.len() < file.len() => Err(SkipReason::MaildirTmp),
        b"cur" | b"new" if is_unique => Ok(FormatHint::Maildir),
        _ if !file.is_empty() && file.iter().all(u8::is_ascii_digit) => Ok(FormatHint::Numbered),
        _ if is_timehash(name) => Ok(FormatHint::Timehash),
        _ => Ok(FormatHint::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> PathFilter {
        let owned = |globs: &[&str]| {
            globs
                .iter()
                .map(|&glob| glob.to_owned())
                .collect::<Vec<_>>()
        };
        PathFilter::new(&owned(include), &owned(exclude)).unwrap()
    }

    fn wants(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let root = Path::new("/mail");
        filter(include, exclude).wants(root, &root.join(path))
    }

    #[test]
    fn patterns_without_a_slash_are_matched_against_names() {
        assert!(wants(&[], &[], "a/b.mbox"));
        assert!(wants(&["*.mbox"], &[], "a/b.mbox") && !wants(&["*.mbox"], &[], "a/b.txt"));
        assert!(
            !wants(&["*.mbox"], &["a/*"], "a/b.mbox") && wants(&["*.mbox"], &["a/*"], "c/b.mbox")
        );
    }

    #[test]
    fn a_folder_pattern_matches_its_content() {
        for exclude in [
            "spam",
            "spam/",
            "*am",
            "/old/spam",
            "old/spam",
            "**/spam",
            "/mail/old/spam",
        ] {
            assert!(!wants(&[], &[exclude], "old/spam/1/2"), "{exclude}");
            assert!(wants(&[], &[exclude], "old/spammer"), "{exclude}");
        }
        assert!(wants(&["old"], &[], "old/spam/1") && !wants(&["old"], &[], "new/1"));
        let root = Path::new("/mail");
        assert!(filter(&[], &["spam"]).excludes_folder(root, Path::new("/mail/old/spam")));
        assert!(!filter(&[], &["mail"]).excludes_folder(root, Path::new("/mail/old")));
    }

    #[test]
    fn an_asterisk_does_not_match_a_slash() {
        assert!(wants(&["a/*.mbox"], &[], "a/b.mbox") && !wants(&["a/*.mbox"], &[], "a/b/c.mbox"));
        assert!(wants(&["a/**/*.mbox"], &[], "a/b/c.mbox"));
        assert!(!wants(&["/*.mbox"], &[], "a/b.mbox") && wants(&["/*.mbox"], &[], "b.mbox"));
    }

    #[test]
    fn a_file_that_is_a_root_is_matched_by_its_name() {
        let file = Path::new("in/a.mbox");
        assert!(filter(&["*.mbox"], &[]).wants(file, file));
        assert!(!filter(&[], &["in/a.mbox"]).wants(file, file));
    }

    /// `--exclude $PWD/old` had no effect on `scan .`.
    #[test]
    fn an_absolute_pattern_applies_to_a_relative_root() {
        let here = std::env::current_dir().unwrap();
        let exclude = format!("{}/src/walk", here.display());
        let filter = filter(&[], &[&exclude]);
        for root in ["src", ".", "./src", "src/../src", "src/walk"] {
            let folder = match root {
                "." => Path::new("./src/walk").to_owned(),
                "src/walk" => root.into(),
                _ => Path::new(root).join("walk"),
            };
            assert!(
                !filter.wants(Path::new(root), &folder.join("tree.rs")),
                "{root}"
            );
        }
        assert!(filter.wants(Path::new("src"), Path::new("src/walk.rs")));
        assert!(filter.wants(Path::new("src/read"), Path::new("src/read/walk")));
    }

    #[test]
    fn an_invalid_pattern_is_reported() {
        let deep = format!(
            "{}a{}",
            "{b,".repeat(PATTERN_BRACES + 1),
            "}".repeat(PATTERN_BRACES + 1)
        );
        for glob in ["[", "a[!]", "{a", "a}", "{a,{b}", "[z-a]", "a\\", &deep] {
            let error = PathFilter::new(&[glob.to_owned()], &[]).unwrap_err();
            assert!(error.starts_with(&format!("cannot use the pattern {glob:?}: ")));
        }
    }

    #[test]
    fn classes_and_alternatives_are_matched() {
        for (glob, yes, no) in [
            ("{*.mbox,*.eml}", "a/b.eml", "a/b.txt"),
            ("[]ab]*", "]x", "cx"),
            ("[!a-c]?", "dx", "ax"),
            ("{old,new/{a,b}}/*", "new/b/1", "new/c/1"),
            ("\\*", "*", "a"),
            ("[}]", "}", "{"),
            ("!a", "!a", "b"),
            ("/!a", "!a", "b"),
            ("a/{b/**,c}", "a/b/d/e", "a/d"),
        ] {
            assert!(wants(&[glob], &[], yes), "{glob} {yes}");
            assert!(!wants(&[glob], &[], no), "{glob} {no}");
        }
        let path = Path::new(OsStr::from_bytes(b"/mail/\xFF.mbox"));
        assert!(filter(&["*.mbox"], &[]).wants(Path::new("/mail"), path));
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

    #[test]
    fn maildir_members_with_a_leading_dot_are_skipped() {
        let of = |name: &str| member_hint(name.as_bytes());
        assert_eq!(of("md/new/5.M1.host"), Ok(FormatHint::Maildir));
        assert_eq!(of("md/new/.5.M1.host.Xa8"), Err(SkipReason::MaildirTmp));
        assert_eq!(of("md/new/.profile"), Ok(FormatHint::None));
    }
}
