//! Streams of `git cat-file --batch`: a sequence of objects of a git repository (git-cat-file(1),
//! "BATCH OUTPUT").
//!
//! Each object is `OID TYPE SIZE LF CONTENT LF`, where OID is a SHA-1 or SHA-256 in hex. A name
//! that git cannot resolve yields a line `NAME missing` or `NAME ambiguous`. Mirrors made by
//! public-inbox have one commit per message, with the message as blob `m`. Commits that delete a
//! message have no `m` and yield such a line.
//!
//! A blob is a member named by its object id. Commits, trees and tags are skipped by their size,
//! like folders. A git repository is also read as such an archive, in which each message is a
//! member.

use std::io;

use super::{ArchiveEntry, ArchiveFeed, EntryContent, MemberExtent, number, truncated_member};
use crate::read::error;
use crate::read::repository::{Expected, SharedObjects, is_oid};
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::GIT_LINE_BYTES;

/// Returns `true` if a source that starts with `start` is such a stream: the header of an object,
/// possibly after lines about missing objects.
pub(super) fn is_git_stream(start: &[u8]) -> bool {
    start
        .split_inclusive(|&byte| byte == b'\n')
        .map(GitLine::of)
        .find(|line| !matches!(line, GitLine::Unresolved { .. }))
        .is_some_and(|line| matches!(line, GitLine::Object { .. }))
}

/// The line before the content of an object, or in place of an object.
#[derive(Debug, PartialEq, Eq)]
enum GitLine<'l> {
    /// Header of an object.
    Object {
        oid: &'l [u8],
        is_blob: bool,
        bytes: u64,
    },
    /// Name of an object that git did not find.
    Unresolved { name: &'l [u8] },
    /// Any other bytes.
    Damaged,
}

impl GitLine<'_> {
    /// Parses a line, including its terminator.
    fn of(line: &[u8]) -> GitLine<'_> {
        let Some(line) = line.strip_suffix(b"\n") else {
            return GitLine::Damaged;
        };
        let words: Vec<&[u8]> = line.splitn(4, |&byte| byte == b' ').collect();
        match words[..] {
            [oid, kind, size] if is_oid(oid) => match (kind, decimal(size)) {
                (b"blob" | b"commit" | b"tree" | b"tag", Some(bytes)) => GitLine::Object {
                    oid,
                    is_blob: kind == b"blob",
                    bytes,
                },
                _ => GitLine::Damaged,
            },
            [name, b"missing" | b"ambiguous"] => GitLine::Unresolved { name },
            _ => GitLine::Damaged,
        }
    }
}

/// Parses a decimal number of at most 19 digits.
fn decimal(digits: &[u8]) -> Option<u64> {
    let is_number = (1..=19).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    number(digits).filter(|_| is_number)
}

/// Reader of such a stream.
pub(in crate::read) struct GitReader {
    pub(super) feed: ArchiveFeed,
    /// Object id of the last object. A newline follows its content.
    last: Option<Vec<u8>>,
    /// Header after damage. The damage is reported first.
    next: Option<Vec<u8>>,
}

impl GitReader {
    pub(super) fn new(feed: ArchiveFeed) -> GitReader {
        GitReader {
            feed,
            last: None,
            next: None,
        }
    }

    /// Returns the next object, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        self.feed.finish_member()?;
        let next = match self.next.take() {
            None => self.next_line()?,
            next => next,
        };
        let Some(line) = next else {
            return Ok(None);
        };
        match GitLine::of(&line) {
            GitLine::Object {
                oid,
                is_blob,
                bytes,
            } => Ok(Some(self.object(oid, is_blob, bytes))),
            GitLine::Unresolved { name } => {
                // No content follows, so there is no newline after it.
                self.last = None;
                Ok(Some(skipped(name.to_owned(), SkipReason::MissingObject)))
            }
            GitLine::Damaged => self.damage(line.len() as u64).map(Some),
        }
    }

    /// Reads the line after the last object, or returns `None` at the end of the stream.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let first = self.feed.read_line(GIT_LINE_BYTES)?;
        match self.last {
            // The newline after the content.
            Some(_) if first == b"\n" => {}
            Some(_) if first.is_empty() => return Err(truncated_member()),
            _ => return Ok((!first.is_empty()).then_some(first)),
        }
        let line = self.feed.read_line(GIT_LINE_BYTES)?;
        Ok((!line.is_empty()).then_some(line))
    }

    fn object(&mut self, oid: &[u8], is_blob: bool, bytes: u64) -> ArchiveEntry {
        self.last = Some(oid.to_owned());
        let packed = self.feed.begin_member(MemberExtent::Bytes(bytes));
        ArchiveEntry {
            name: oid.to_owned(),
            content: if is_blob {
                EntryContent::plain(packed)
            } else {
                EntryContent::Folder
            },
        }
    }

    /// Skips to the next header of an object. `skipped` is the number of invalid bytes read so far.
    fn damage(&mut self, mut skipped: u64) -> io::Result<ArchiveEntry> {
        loop {
            let line = self.feed.read_line(GIT_LINE_BYTES)?;
            if line.is_empty() || matches!(GitLine::of(&line), GitLine::Object { .. }) {
                self.next = (!line.is_empty()).then_some(line);
                break;
            }
            skipped += line.len() as u64;
        }
        let why = format!("{skipped} bytes after this object belong to no object and were skipped");
        Ok(ArchiveEntry {
            name: self.last.take().unwrap_or_default(),
            content: EntryContent::Broken(error::damage(why)),
        })
    }
}

fn skipped(name: Vec<u8>, reason: SkipReason) -> ArchiveEntry {
    ArchiveEntry {
        name,
        content: EntryContent::Skipped(reason),
    }
}

/// Reader of the messages of a repository.
pub(in crate::read) struct RepositoryReader {
    pub(super) objects: SharedObjects,
    /// Reads the objects as a stream.
    pub(super) stream: GitReader,
}

impl RepositoryReader {
    /// Returns the next message, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let Some(expected) = self.objects.0.borrow_mut().next_expected()? else {
            // Any output of git after the last object is damage.
            return match self.stream.next_entry()? {
                Some(entry) => Ok(Some(entry)),
                None => self.objects.0.borrow_mut().finish().map(|()| None),
            };
        };
        match expected {
            Expected::Unresolved(name) => {
                return Ok(Some(skipped(name, SkipReason::MissingObject)));
            }
            Expected::TooLarge { oid, bytes } => {
                let text = format!(
                    "a blob of {bytes} bytes is not read; `git_blob_bytes` sets this limit"
                );
                let content = EntryContent::Broken(error::limit(text));
                return Ok(Some(ArchiveEntry { name: oid, content }));
            }
            Expected::Message | Expected::Deleted | Expected::PerhapsDeleted(_) => {}
        }
        let Some(entry) = self.stream.next_entry()? else {
            self.objects.0.borrow_mut().finish()?;
            return Err(error::damage("git ended before the last message"));
        };
        Ok(Some(match (expected, &entry.content) {
            (Expected::Deleted | Expected::PerhapsDeleted(_), EntryContent::Data(_)) => {
                skipped(entry.name, SkipReason::Deleted)
            }
            // Use the name of the message: the deleted message is not there either.
            (Expected::PerhapsDeleted(name), EntryContent::Skipped(reason)) => {
                skipped(name, *reason)
            }
            _ => entry,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_text::limits::Limits;
    use urlspool_text::unpack_balance::UnpackBalance;

    const SHA1: &str = "0123456789abcdef0123456789abcdef01234567";
    const SHA256: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn object(oid: &str, kind: &str, content: &str) -> String {
        format!("{oid} {kind} {}\n{content}\n", content.len())
    }

    /// Returns each entry as its name and content, and the error that ended the stream.
    fn entries(stream: &str) -> Vec<String> {
        let input = io::Cursor::new(stream.as_bytes().to_vec());
        let balance = UnpackBalance::of_message(0, 0, &Limits::default());
        let mut reader = GitReader::new(ArchiveFeed::new(Box::new(input), &balance));
        let mut seen = Vec::new();
        loop {
            match reader.next_entry() {
                Ok(None) => return seen,
                Err(error) => {
                    seen.push(error.to_string());
                    return seen;
                }
                Ok(Some(entry)) => {
                    let name = String::from_utf8(entry.name).unwrap();
                    seen.push(match entry.content {
                        EntryContent::Data(mut data) => {
                            let mut text = String::new();
                            let end = io::Read::read_to_string(&mut data.packed, &mut text);
                            format!(
                                "{} {text}{}",
                                name.len(),
                                end.err().map_or(String::new(), |e| e.to_string())
                            )
                        }
                        EntryContent::Skipped(reason) => {
                            format!("{} {}", name.len(), reason.name())
                        }
                        EntryContent::Broken(error) => format!("{} {error}", name.len()),
                        EntryContent::Folder => format!("{} folder", name.len()),
                    });
                }
            }
        }
    }

    #[test]
    fn blobs_are_members_and_other_objects_are_folders() {
        let stream = [
            object(SHA1, "commit", "tree x\n\nblob"),
            format!("{SHA1}:m missing\n"),
            object(SHA256, "blob", "From: a\n\nx\n"),
            object(SHA1, "blob", ""),
            object(SHA1, "tree", "\0\n"),
            object(SHA1, "tag", "y"),
            // The latest commit deletes a message.
            format!("{SHA1}:m missing\n"),
        ]
        .concat();
        assert!(is_git_stream(stream.as_bytes()));
        assert_eq!(
            entries(&stream),
            [
                "40 folder",
                "42 missing-object",
                "64 From: a\n\nx\n",
                "40 ",
                "40 folder",
                "40 folder",
                "42 missing-object"
            ]
        );
    }

    #[test]
    fn a_stream_is_recognized_by_its_first_object() {
        let missing = "HEAD~5:m missing\n";
        assert!(is_git_stream(
            format!("{missing}{}", object(SHA1, "blob", "x")).as_bytes()
        ));
        for other in [
            missing.to_owned(),
            format!("{SHA1} blob x\n"),
            format!("{SHA1} blob 5"),
            format!("{SHA1} blob 5 m\n"),
            format!("{SHA1} note 5\n"),
            format!("{} blob 5\n", &SHA1[1..]),
            format!("{} blob 5\n", SHA1.to_uppercase()),
            format!("the word is missing\n{}", object(SHA1, "blob", "x")),
            String::new(),
        ] {
            assert!(!is_git_stream(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn reading_resumes_at_the_next_header_after_damage() {
        let good = object(SHA1, "blob", "good");
        let wrong_size = format!("{SHA1} blob 2\nfour\n");
        assert_eq!(
            entries(&format!("{wrong_size}{good}")),
            [
                "40 fo",
                "40 3 bytes after this object belong to no object and were skipped",
                "40 good"
            ]
        );
        let bad_header = format!("{SHA1} blob 2x\nfour\n{}\n", "y".repeat(3 * GIT_LINE_BYTES));
        let lost = bad_header.len();
        assert_eq!(
            entries(&format!("{good}{bad_header}{good}")),
            [
                "40 good".to_owned(),
                format!("40 {lost} bytes after this object belong to no object and were skipped"),
                "40 good".to_owned()
            ]
        );
    }

    #[test]
    fn a_stream_that_ends_early_fails() {
        let good = object(SHA1, "blob", "good");
        assert_eq!(
            entries(&good[..good.len() - 1]),
            ["40 good", "ends within a member"]
        );
        assert_eq!(
            entries(&good[..good.len() - 3])[0],
            "40 goends within a member"
        );
        assert_eq!(entries(&format!("{good}{SHA1} bl")).len(), 2);
    }
}
