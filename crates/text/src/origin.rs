//! The origin of bytes: the file or archive member, and its kind.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::byte_scan::suffix_len;

named_enum! {
    /// The kind of a source. It determines how the source is split into messages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SourceKind {
        /// Messages in sequence, each preceded by a `From ` line.
        Mbox = "mbox",
        /// One message, in the `new` or `cur` folder of a Maildir.
        Maildir = "maildir",
        /// One mail message in a file whose name is a number.
        Mh = "mh",
        /// One news article in a file whose name is a number.
        News = "news",
        /// News articles in sequence, each preceded by a line with its length.
        Rnews = "rnews",
        /// Messages in sequence, separated by lines of control characters.
        Mmdf = "mmdf",
        /// A mail folder of Emacs Rmail.
        Babyl = "babyl",
        /// One message in a file with any name.
        Message = "message",
        /// Text without a header.
        Text = "text",
    }
}

impl SourceKind {
    /// Returns the kind called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<SourceKind> {
        SourceKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A hint about a file's format, taken from its path.
///
/// The content decides the format. The hint decides the [`SourceKind`] of a file with a single
/// message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FormatHint {
    /// The path gives no hint.
    #[default]
    None,
    /// The file is in the `new` or `cur` folder of a Maildir.
    Maildir,
    /// The name of the file is a number.
    Numbered,
    /// The file is in a news spool of INN's timehash method, whose paths do not contain group
    /// names.
    Timehash,
    /// A Web server states that it is an HTML page.
    Page,
}

/// A byte range of a file, as a unit of work for another machine or thread. It contains the
/// messages that start in the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// The file.
    pub source: Source,
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The kind of the file, if known. Only an mbox is split into ranges. For any other file, the
    /// range at offset 0 represents the whole file.
    pub kind: Option<SourceKind>,
    /// Number of NUL bytes at the start of the file, as far as known. They are not read again.
    pub nuls: u64,
}

/// A source of bytes: a file, standard input, or a member of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The path of the file, as given and as extended by the walk; [`Source::STDIN`] for standard
    /// input.
    pub path: Arc<Path>,
    /// The names of the members, from the outermost archive inwards; `None` for the file itself.
    /// They are labels and never used as paths.
    member: Option<Arc<[Vec<u8>]>>,
    /// Statement of a Web server, if it comes from one.
    page: Option<Arc<WebPage>>,
}

/// Content type and URL of a page, as stated by a Web server or an archive of Web pages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebPage {
    /// The field Content-Type.
    pub content_type: String,
    /// The URL, which is the base of relative links.
    pub base: Vec<u8>,
}

impl WebPage {
    /// Returns `true` if it is an HTML page.
    #[must_use]
    pub fn is_html(&self) -> bool {
        let media_type = self
            .content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();
        let mut pages = ["text/html", "application/xhtml+xml"].iter();
        pages.any(|name| media_type.eq_ignore_ascii_case(name))
    }
}

impl Source {
    /// Returns the source of the file at `path`.
    #[must_use]
    pub fn at(path: PathBuf) -> Source {
        Source {
            path: path.into(),
            member: None,
            page: None,
        }
    }

    /// Returns the source of the member `name` in this archive.
    #[must_use]
    pub fn within(&self, name: &[u8]) -> Source {
        let names = self.member().iter().cloned().chain([name.to_owned()]);
        Source {
            path: Arc::clone(&self.path),
            member: Some(names.collect()),
            page: None,
        }
    }

    /// Returns this source with what a Web server states about it.
    #[must_use]
    pub fn with_page(self, page: WebPage) -> Source {
        Source {
            page: Some(Arc::new(page)),
            ..self
        }
    }

    /// Returns what a Web server states about it.
    #[must_use]
    pub fn page(&self) -> Option<&WebPage> {
        self.page.as_deref()
    }

    /// The names of the members, from the outermost archive inwards. Empty for a file.
    #[must_use]
    pub fn member(&self) -> &[Vec<u8>] {
        self.member.as_deref().unwrap_or_default()
    }

    /// The path that denotes standard input.
    pub const STDIN: &'static str = "-";

    /// Returns `true` if `path` is a file system path for standard input.
    #[must_use]
    pub fn is_stdin_path(path: &Path) -> bool {
        const PATHS: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
        PATHS.iter().any(|name| path == Path::new(name))
    }
}

/// Returns the mailbox of the file at `path`: the folder of a Maildir, an MH folder or a
/// newsgroup. Otherwise, returns the path without suffixes of rotation and compression. An epoch
/// of a public-inbox mailing list, `LIST/git/0.git`, belongs to the list.
#[must_use]
pub fn mailbox(path: &Path, kind: SourceKind) -> Cow<'_, Path> {
    let levels_up = match kind {
        SourceKind::Maildir => 2,
        SourceKind::Mh | SourceKind::News => 1,
        _ if is_epoch(path) => 2,
        _ => return unrotated(path),
    };
    Cow::Borrowed(match path.ancestors().nth(levels_up) {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder.unwrap_or(path),
    })
}

/// Returns `true` for the path of a repository in which public-inbox stores a part of a mailing
/// list, such as `git/0.git`.
fn is_epoch(path: &Path) -> bool {
    let number = path.as_os_str().as_encoded_bytes().strip_suffix(b".git");
    let Some(number) = number.filter(|rest| rest.last().is_some_and(u8::is_ascii_digit)) else {
        return false;
    };
    let end = number.iter().rposition(|byte| !byte.is_ascii_digit());
    end.is_some_and(|end| number[..=end].ends_with(b"/git/") || number[..=end] == *b"git/")
}

/// Returns the name of a Maildir message without its flags and without the fields that servers
/// insert before them.
pub fn maildir_base_name(path: &Path) -> &[u8] {
    let name = path.file_name().map_or(&b""[..], OsStr::as_encoded_bytes);
    let end = name
        .iter()
        .position(|&byte| matches!(byte, b':' | b';'))
        .unwrap_or(name.len());
    let name = &name[..end];
    let fields = [&b",S="[..], b",W=", b",U=", b",FMD5="];
    let end = fields
        .iter()
        .filter_map(|field| memchr::memmem::find(name, field))
        .min();
    &name[..end.unwrap_or(name.len())]
}

/// Returns a path without suffixes of rotation and compression: `.1`, `-20260101`, `.gz`.
#[must_use]
pub fn unrotated(path: &Path) -> Cow<'_, Path> {
    let name = path.file_name().unwrap_or_default();
    let mut base = name.as_encoded_bytes();
    while let Some(shorter) = without_suffix(base).filter(|shorter| !shorter.is_empty()) {
        base = shorter;
    }
    // Most files have no such suffix, and this runs for every message. The standard library would
    // normalize the path.
    let folder = path.as_os_str().as_encoded_bytes();
    let folder = folder.strip_suffix(name.as_encoded_bytes());
    let is_clean = folder.is_some_and(|it| !it.ends_with(b"//") && !it.ends_with(b"/./"));
    if is_clean && !base.is_empty() && base.len() == name.len() {
        return Cow::Borrowed(path);
    }
    Cow::Owned(path.with_file_name(name_prefix(name, base.len())))
}

/// Returns the first `len` bytes of a name. The bytes after them are ASCII.
#[cfg(unix)]
fn name_prefix(name: &OsStr, len: usize) -> &OsStr {
    use std::os::unix::ffi::OsStrExt;

    OsStr::from_bytes(&name.as_bytes()[..len])
}

/// Returns the first `len` bytes of a name. The bytes after them are ASCII. Returns the whole name
/// if it is not Unicode.
#[cfg(not(unix))]
fn name_prefix(name: &OsStr, len: usize) -> &OsStr {
    name.to_str().map_or(name, |name| OsStr::new(&name[..len]))
}

fn without_suffix(name: &[u8]) -> Option<&[u8]> {
    const COMPRESSED: [&[u8]; 6] = [b".gz", b".bz2", b".xz", b".zst", b".lz4", b".Z"];
    /// Maximum number of digits of a rotation counter. A date has eight digits, or ten or fourteen
    /// with a time.
    const COUNTER_DIGITS: usize = 3;
    if let Some(shorter) = COMPRESSED.iter().find_map(|end| name.strip_suffix(*end)) {
        return Some(shorter);
    }
    let digits = suffix_len(name, u8::is_ascii_digit);
    let (before, _) = name.split_at(name.len() - digits);
    match before.split_last() {
        Some((b'.', rest)) if (1..=COUNTER_DIGITS).contains(&digits) => Some(rest),
        Some((b'.' | b'-', rest)) if matches!(digits, 8 | 10 | 14) => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_file_belongs_to_the_same_mailbox() {
        let base = |name: &str| unrotated(Path::new(name)).display().to_string();
        let cases = "inbox inbox.1 inbox.2.gz inbox-20260101 inbox-20260101.zst inbox.1.1";
        for name in cases.split(' ') {
            assert_eq!(base(&format!("/m/{name}")), "/m/inbox", "{name}");
        }
        for name in [
            "/m/12",
            "/m/.1",
            "/m/rfc1738.txt",
            "/m/list-2",
            "/m/2024-01",
        ] {
            assert_eq!(base(name), name);
        }
        for name in ["b", "./b", "/b", "a//b", "a/./b", "a/b/", "..", "/"] {
            let path = Path::new(name);
            let cleaned = path.with_file_name(path.file_name().unwrap_or_default());
            assert_eq!(unrotated(path).as_os_str(), cleaned.as_os_str(), "{name}");
        }
    }

    #[test]
    fn a_maildir_base_name_excludes_flags_and_sizes() {
        for name in [
            "1.M2.h",
            "1.M2.h:2,S",
            "1.M2.h,S=12,W=13:2,RS",
            "1.M2.h,U=7:2,",
            "1.M2.h;2,S",
        ] {
            assert_eq!(
                maildir_base_name(&Path::new("/m/cur").join(name)),
                b"1.M2.h",
                "{name}"
            );
        }
    }

    #[test]
    fn a_folder_is_the_mailbox_of_its_messages() {
        let of = |path: &str, kind| mailbox(Path::new(path), kind).display().to_string();
        assert_eq!(of("m/cur/1.2:2,S", SourceKind::Maildir), "m");
        assert_eq!(of("m/12", SourceKind::Mh), "m");
        assert_eq!(of("comp/mail/1", SourceKind::News), "comp/mail");
        assert_eq!(of("list.mbox.1.gz", SourceKind::Mbox), "list.mbox");
        assert_eq!(of("-", SourceKind::Mbox), "-");
        assert_eq!(of("12", SourceKind::Mh), ".");
        assert_eq!(
            of("lists/meta/git/0.git", SourceKind::Message),
            "lists/meta"
        );
        assert_eq!(of("git/12.git", SourceKind::Message), ".");
        for other in [
            "meta/0.git",
            "git/x.git",
            "git/.git",
            "x/nogit/0.git",
            "a.git",
        ] {
            assert_eq!(of(other, SourceKind::Message), other);
        }
    }
}
