//! Locations as users write them: a file, or a member of an archive.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use urlspool_record::record::parse_grep_line;
use urlspool_sources::read::{SparseRead, StreamStep, Streams};
use urlspool_sources::walk::is_repository;
use urlspool_text::limits::Limits;
use urlspool_text::origin::{FormatHint, Source};

/// A file, or a member of an archive: `FILE` or `FILE!MEMBER!MEMBER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileLocation {
    /// The file.
    pub(super) path: PathBuf,
    /// The names of the members, outermost archive first; empty for the file itself.
    pub(super) member: Vec<Vec<u8>>,
}

impl FileLocation {
    /// Parses a location. The file is the longest text before a `!` that names an existing file or
    /// git repository.
    pub(super) fn parse(text: impl AsRef<OsStr>) -> FileLocation {
        let text = text.as_ref().as_bytes();
        let path = |end: usize| Path::new(OsStr::from_bytes(&text[..end]));
        let ends = memchr::memchr_iter(b'!', text).chain([text.len()]);
        let is_file = |end: &usize| path(*end).is_file() || is_repository(path(*end));
        let end = ends.rev().find(is_file).unwrap_or(text.len());
        FileLocation {
            path: path(end).to_owned(),
            member: names(&text[end..]),
        }
    }
}

/// The first bytes of a database.
pub(super) const DATABASE_START: &[u8] = b"SQLite format 3\0";

/// Returns the first bytes of a regular file, which show its content. A pipe would block.
pub(super) fn start_of(path: &Path) -> Option<Vec<u8>> {
    const START_BYTES: u64 = 4 << 10;
    path.metadata().ok().filter(Metadata::is_file)?;
    let mut start = Vec::new();
    let file = File::open(path).ok()?;
    file.take(START_BYTES).read_to_end(&mut start).ok()?;
    Some(start)
}

/// Returns a place without the URL that `scan --format grep` and `search` print after it:
/// `PATH:START` from `PATH:START: URL`.
pub(super) fn without_url(text: &OsStr) -> Cow<'_, OsStr> {
    let line = [text.as_bytes(), b"\n"].concat();
    match parse_grep_line(&line) {
        Some(found) if !Path::new(text).exists() => {
            Cow::Owned(format!("{}:{}", found.names, found.start).into())
        }
        _ => Cow::Borrowed(text),
    }
}

/// Returns the names of members, each after a `!`.
fn names(text: &[u8]) -> Vec<Vec<u8>> {
    let names = text.split(|byte| *byte == b'!').skip(1);
    names.map(<[u8]>::to_owned).collect()
}

/// The decompressed bytes of a file or member, not read yet.
pub(super) struct MemberStream {
    pub(super) source: Source,
    pub(super) hint: FormatHint,
    pub(super) stream: Box<dyn SparseRead>,
}

/// Returns the end of a message about a missing member: an existing one.
fn example(found: Option<&Source>) -> String {
    let names = found.iter().flat_map(|source| source.member());
    let names = names.map(|name| format!("!{}", String::from_utf8_lossy(name)));
    let names: String = names.collect();
    match found {
        Some(_) => format!(", for example FILE{names}"),
        None => String::new(),
    }
}

/// Returns the streams in the git repository at `path` that belong to the same blob as the member
/// with these names.
pub(super) fn repository_streams(
    path: &Path,
    names: &[Vec<u8>],
    limits: &Limits,
) -> io::Result<Streams> {
    let source = Source::at(path.to_owned());
    match names.first() {
        Some(oid) => Streams::of_blob(oid, source, limits),
        None => Err(io::Error::other(
            "it is a git repository; name the blob of a message: REPOSITORY!OBJECT_ID",
        )),
    }
}

/// Opens the member with these names; without names, the source itself, decompressed. The error is
/// a message.
pub(super) fn open_member(streams: Streams, names: &[Vec<u8>]) -> Result<MemberStream, String> {
    // A name may contain a `!`.
    let joined = names.join(&b'!');
    let is_named = |source: &Source| source.member().join(&b'!') == joined;
    let mut other = None;
    for step in streams {
        match step {
            StreamStep::Stream {
                source,
                hint,
                stream,
            } if is_named(&source) => {
                return Ok(MemberStream {
                    source,
                    hint,
                    stream,
                });
            }
            StreamStep::Stream { source, .. } => other = other.or(Some(source)),
            StreamStep::Failed(event) if is_named(&event.source) => {
                return Err(event.diagnostic.message);
            }
            StreamStep::Skipped { source, reason } if is_named(&source) => {
                return Err(format!("skipped: {}", reason.name()));
            }
            _ => {}
        }
    }
    let reason = if names.is_empty() {
        "is an archive; name one of its members"
    } else {
        "has no such member"
    };
    Err(format!("{reason}{}", example(other.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_named_after_its_archive() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let check = |text: &str, path: &str, member: &[&str]| {
            let expected = FileLocation {
                path: path.into(),
                member: member.iter().map(|name| name.as_bytes().into()).collect(),
            };
            assert_eq!(FileLocation::parse(text), expected, "{text}");
        };
        check(here, here, &[]);
        check(&format!("{here}!a!b/c"), here, &["a", "b/c"]);
        check("not!there", "not!there", &[]);
    }
}
