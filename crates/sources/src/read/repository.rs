//! Git repositories of mailing lists as written by public-inbox, read by separate `git` processes.
//!
//! In layout version 2, each commit contains one message as the blob `m`, and a commit that deletes
//! a message contains it as the blob `d`. In version 1, a message is a file named by the hash of
//! its Message-ID, `ab/cdef...`, and a commit adds or deletes one file. A git repository with
//! neither layout is not read.
//!
//! `rev-list` (in version 1 with `diff-tree`) lists the blobs, `cat-file --batch-check` prints
//! their sizes, and `cat-file --batch` prints their bytes. A single thread passes the names from
//! one process to the next whenever it would otherwise wait for bytes.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;

use super::error;
use super::process::{ChildProcess, GitHost};
use crate::walk;
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::{GIT_CHANGES, GIT_LINE_BYTES, GIT_PIPE_BYTES, GIT_ROOT_BYTES};

/// Content of a git repository.
#[derive(Debug)]
pub enum RepositoryContent {
    /// The messages of a mailing list.
    Mail(Repository),
    /// Other content, which is not read.
    Skipped(SkipReason),
}

/// A git repository with the messages of a mailing list.
#[derive(Clone, Debug)]
pub struct Repository {
    path: PathBuf,
    layout: Layout,
    /// Object id of the last commit.
    tip: String,
    host: GitHost,
}

/// Layout of the messages in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Each commit adds or deletes a file.
    V1,
    /// Each commit contains a message as `m`, or a deleted message as `d`.
    V2,
}

/// Branches to read; the first one with a commit is used. Public-inbox writes the second one,
/// regardless of the user's default branch.
const BRANCHES: [&str; 2] = ["HEAD^{commit}", "refs/heads/master^{commit}"];

impl Repository {
    /// Opens the repository in the folder `path`.
    ///
    /// # Errors
    ///
    /// Git cannot be run, or cannot read the repository.
    pub fn open(path: &Path, host: &GitHost) -> io::Result<RepositoryContent> {
        let Some(tip) = tip(path, host)? else {
            return Ok(RepositoryContent::Skipped(SkipReason::Empty));
        };
        let layout = match ChildProcess::run(host, path, &["ls-tree", &tip], GIT_ROOT_BYTES)? {
            Some(root) if GIT_ROOT_BYTES < root.len() => None,
            Some(root) => layout(&root),
            None => Some(Layout::V1),
        };
        Ok(match layout {
            Some(layout) => RepositoryContent::Mail(Repository {
                path: path.to_owned(),
                layout,
                tip,
                host: host.clone(),
            }),
            None => RepositoryContent::Skipped(SkipReason::Repository),
        })
    }

    /// Returns the object id of the last commit.
    #[must_use]
    pub fn tip(&self) -> &str {
        &self.tip
    }

    /// Returns the repository as it was when `tip` was its last commit.
    #[must_use]
    pub fn at(self, tip: String) -> Repository {
        Repository { tip, ..self }
    }

    /// Returns `true` if a commit is the last one or one of its ancestors.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub fn contains(&self, commit: &str) -> io::Result<bool> {
        let arguments = ["merge-base", "--is-ancestor", commit, &self.tip];
        match ChildProcess::run(&self.host, &self.path, &arguments, GIT_LINE_BYTES) {
            Ok(answer) => Ok(answer.is_some()),
            // Git does not know the commit.
            Err(error) if error.to_string().contains("ended with status 128") => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Starts reading messages, in commit order.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub(super) fn messages(&self, selection: &Selection) -> io::Result<RepositoryObjects> {
        let deleted = match selection {
            Selection::Live => self.deletions()?,
            Selection::All | Selection::Since(_) => BlobCounts::new(),
        };
        let excluded = match selection {
            Selection::Since(commit) => format!("^{commit}"),
            Selection::All | Selection::Live => String::new(),
        };
        let mut revisions = vec!["rev-list", "--reverse", &*self.tip];
        revisions.extend((!excluded.is_empty()).then_some(&*excluded));
        let source = self.names(&revisions)?;
        let objects = RepositoryObjects::start(&self.path, Some(source), &self.host)?;
        Ok(RepositoryObjects { deleted, ..objects })
    }

    /// Starts the processes that list the objects of these revisions.
    fn names(&self, revisions: &[&str]) -> io::Result<NameSource> {
        let (host, path) = (&self.host, &self.path);
        let mut commits = ChildProcess::start(host, path, revisions, Stdio::null())?;
        let (names, before) = match self.layout {
            Layout::V2 => (commits, None),
            Layout::V1 => {
                let changes = "diff-tree --stdin --root -r --raw --no-renames --no-abbrev";
                let changes: Vec<&str> = changes.split(' ').collect();
                let stdin = commits.take_stdout()?;
                let names = ChildProcess::start(host, path, &changes, stdin)?;
                (names, Some(commits))
            }
        };
        Ok(NameSource {
            names,
            before,
            layout: self.layout,
            lines: LineBuffer::default(),
            changes_left: GIT_CHANGES,
        })
    }

    /// Counts how often commits delete each blob.
    fn deletions(&self) -> io::Result<BlobCounts> {
        let revisions = ["rev-list", "--reverse", &self.tip, "--", "d"];
        let of_layout = match self.layout {
            Layout::V1 => &revisions[..3],
            Layout::V2 => &revisions,
        };
        let source = self.names(of_layout)?;
        let mut objects = RepositoryObjects::start(&self.path, Some(source), &self.host)?;
        objects.lists_deletions = true;
        while objects.next_expected()?.is_some() {}
        objects.contents.end_input();
        objects.contents.write()?;
        objects.finish()?;
        Ok(objects.deleted)
    }
}

/// Selection of the messages of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All messages that commits add.
    All,
    /// Messages added by commits that are not ancestors of this commit.
    Since(String),
    /// Messages that no later commit deletes.
    Live,
}

/// Counts by the object ids of blobs.
type BlobCounts = HashMap<Vec<u8>, u64>;

/// Starts reading one blob of the repository in the folder `path`.
///
/// # Errors
///
/// Git cannot be run.
pub(super) fn one_object(path: &Path, oid: &[u8], host: &GitHost) -> io::Result<RepositoryObjects> {
    let mut objects = RepositoryObjects::start(path, None, host)?;
    if is_oid(oid) {
        objects.check.send(&[oid, b"\n"].concat());
        objects.unanswered = 1;
    }
    Ok(objects)
}

/// Returns the object id of the last commit of the repository in the folder `path`, if there is
/// one.
fn tip(path: &Path, host: &GitHost) -> io::Result<Option<String>> {
    for branch in BRANCHES {
        let arguments = ["rev-parse", "--verify", "--quiet", branch];
        let Some(line) = ChildProcess::run(host, path, &arguments, GIT_LINE_BYTES)? else {
            continue;
        };
        let oid = line.strip_suffix(b"\n").filter(|oid| is_oid(oid));
        let oid = oid.and_then(|oid| str::from_utf8(oid).ok());
        let oid = oid.ok_or_else(|| unexpected("rev-parse", &line))?;
        return Ok(Some(oid.to_owned()));
    }
    Ok(None)
}

/// Returns the layout of a repository whose last commit has this tree, as printed by `ls-tree`. In
/// version 1, no message may be left.
fn layout(root: &[u8]) -> Option<Layout> {
    let mut entries = root
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty());
    let mut all = entries.clone();
    if all.all(|line| is_entry(line, b" tree ", walk::is_fan_out)) {
        return Some(Layout::V1);
    }
    let is_v2 = entries
        .all(|line| line.starts_with(b"100") && is_entry(line, b" blob ", walk::is_message_name));
    is_v2.then_some(Layout::V2)
}

/// Returns `true` for a line `MODE TYPE OID<tab>NAME` with this type and a matching name.
fn is_entry(line: &[u8], kind: &[u8], is_name: fn(&[u8]) -> bool) -> bool {
    memchr::memchr(b'\t', line).is_some_and(|tab| {
        memchr::memmem::find(&line[..tab], kind).is_some() && is_name(&line[tab + 1..])
    })
}

/// Returns `true` for the path of a message in version 1. Messages with the same Message-ID are in
/// a folder of that name.
fn is_message_path(path: &[u8]) -> bool {
    let mut names = path.splitn(3, |&byte| byte == b'/');
    names.next().is_some_and(walk::is_fan_out)
        && names
            .next()
            .is_some_and(|name| name.len() == 38 && is_hex(name))
}

/// Returns `true` for a SHA-1 or SHA-256 in hex.
pub(super) fn is_oid(word: &[u8]) -> bool {
    matches!(word.len(), 40 | 64) && is_hex(word)
}

fn is_hex(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn unexpected(command: &str, answer: &[u8]) -> io::Error {
    let answer = String::from_utf8_lossy(&answer[..answer.len().min(80)]).into_owned();
    error::damage(format!("git {command} sent an invalid answer: {answer:?}"))
}

fn too_many_changes() -> io::Error {
    error::limit(format!(
        "a repository whose commits have more than {GIT_CHANGES} changes: the rest is not read"
    ))
}

/// Objects of a repository that are being read.
#[derive(Debug)]
pub(super) struct RepositoryObjects {
    /// `None` if there are no names to list.
    source: Option<NameSource>,
    /// Number of later deletions of each blob. As many messages with the same bytes are skipped.
    deleted: BlobCounts,
    /// `true` to count deletions in `deleted` instead of reading messages.
    lists_deletions: bool,
    /// Answers a name with its object id, type and size.
    check: ChildProcess,
    answers: LineBuffer,
    /// Answers an object id with the object.
    contents: ChildProcess,
    /// The next items. Their objects were requested in this order.
    expected: VecDeque<Expected>,
    /// Number of names that `check` has not answered yet.
    unanswered: u64,
    host: GitHost,
}

/// The process that prints the names of objects.
#[derive(Debug)]
struct NameSource {
    names: ChildProcess,
    /// The process that prints its input.
    before: Option<ChildProcess>,
    layout: Layout,
    lines: LineBuffer,
    /// Number of lines that it may still print.
    changes_left: u64,
}

/// The next item in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// A message. Its object follows.
    Message,
    /// A message deleted by a commit. Its object follows.
    Deleted,
    /// A name without a message. If it is a deleted message, its object follows.
    PerhapsDeleted(Vec<u8>),
    /// A blob that is larger than the limit.
    TooLarge { oid: Vec<u8>, bytes: u64 },
    /// A name for which there is no blob.
    Unresolved(Vec<u8>),
}

/// The word after the object id of a deleted message.
const DELETED: &[u8] = b"d";

impl RepositoryObjects {
    fn start(
        path: &Path,
        source: Option<NameSource>,
        host: &GitHost,
    ) -> io::Result<RepositoryObjects> {
        let format = "--batch-check=%(objectname) %(objecttype) %(objectsize) %(rest)";
        let cat_file = |option| {
            let arguments = ["cat-file", option, "--buffer"];
            ChildProcess::start(host, path, &arguments, Stdio::piped())
        };
        Ok(RepositoryObjects {
            source,
            deleted: BlobCounts::new(),
            lists_deletions: false,
            check: cat_file(format)?,
            answers: LineBuffer::default(),
            contents: cat_file("--batch")?,
            expected: VecDeque::new(),
            unanswered: 0,
            host: host.clone(),
        })
    }

    /// Returns the next item, or `None` at the end.
    pub(super) fn next_expected(&mut self) -> io::Result<Option<Expected>> {
        loop {
            if let Some(expected) = self.expected.pop_front() {
                return Ok(Some(expected));
            }
            if self.check.is_read() && self.answers.is_empty() {
                return Ok(None);
            }
            if !self.advance()? {
                self.wait(false)?;
            }
        }
    }

    /// Checks, after everything was read, that no process failed.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let host = &self.host;
        self.check.finish(host)?;
        self.contents.finish(host)?;
        let mut is_answered = self.unanswered == 0;
        if let Some(NameSource { names, before, .. }) = &mut self.source {
            is_answered &= names.is_read();
            if is_answered {
                if let Some(before) = before {
                    before.finish(host)?;
                }
                names.finish(host)?;
            }
        }
        if is_answered {
            Ok(())
        } else {
            Err(error::damage("git ended before the last answer"))
        }
    }

    /// Passes names from one process to the next without waiting. Returns `true` on progress.
    fn advance(&mut self) -> io::Result<bool> {
        let mut has_moved = self.read_names()?;
        has_moved |= self.check.write()?;
        has_moved |= self.read_answers()?;
        has_moved |= self.contents.write()?;
        self.check.read_messages();
        self.contents.read_messages();
        Ok(has_moved)
    }

    fn read_names(&mut self) -> io::Result<bool> {
        let Some(source) = &mut self.source else {
            self.check.end_input();
            return Ok(false);
        };
        source.names.read_messages();
        if let Some(before) = &mut source.before {
            before.read_messages();
        }
        if !self.check.has_room() {
            return Ok(false);
        }
        let read = source.lines.read(&mut source.names)?;
        while let Some(line) = source.lines.next_line()? {
            let left = source.changes_left.checked_sub(1);
            source.changes_left = left.ok_or_else(too_many_changes)?;
            let query = query(line, source.layout, self.lists_deletions);
            let query = query.ok_or_else(|| unexpected("rev-list", line))?;
            self.unanswered += memchr::memchr_iter(b'\n', &query).count() as u64;
            self.check.send(&query);
        }
        if source.names.is_read() {
            self.check.end_input();
        }
        Ok(read)
    }

    fn read_answers(&mut self) -> io::Result<bool> {
        if !self.has_room() {
            return Ok(false);
        }
        let read = self.answers.read(&mut self.check)?;
        while let Some(line) = self.answers.next_line()? {
            let expected = Expected::of(line, self.host.blob_bytes)
                .ok_or_else(|| unexpected("cat-file", line))?;
            self.unanswered = self.unanswered.saturating_sub(1);
            let oid = line.split(|&byte| byte == b' ').next().unwrap_or_default();
            if self.lists_deletions {
                if expected == Expected::Deleted {
                    *self.deleted.entry(oid.to_owned()).or_default() += 1;
                }
                continue;
            }
            if expected == Expected::Message
                && let Some(count @ 1..) = self.deleted.get_mut(oid)
            {
                *count -= 1;
                continue;
            }
            match &expected {
                Expected::Message | Expected::Deleted => {
                    self.contents.send(&[oid, b"\n"].concat());
                }
                Expected::PerhapsDeleted(name) => {
                    let commit = &name[..name.len() - 1];
                    self.contents.send(&[commit, DELETED, b"\n"].concat());
                }
                Expected::TooLarge { .. } | Expected::Unresolved(_) => {}
            }
            self.expected.push_back(expected);
        }
        if self.check.is_read() {
            self.contents.end_input();
        }
        Ok(read)
    }

    /// Returns `true` if answers may be read. Limits the objects that they request.
    fn has_room(&self) -> bool {
        self.contents.has_room() && self.expected.len() < GIT_PIPE_BYTES / 16
    }

    /// Waits until progress is possible, or, if `reads_objects`, until an object can be read.
    fn wait(&self, reads_objects: bool) -> io::Result<()> {
        let mut polled = Vec::new();
        self.check.add_pipes(self.has_room(), &mut polled);
        self.contents.add_pipes(reads_objects, &mut polled);
        if let Some(NameSource { names, before, .. }) = &self.source {
            names.add_pipes(self.check.has_room(), &mut polled);
            if let Some(before) = before {
                before.add_pipes(true, &mut polled);
            }
        }
        self.host.poll(&mut polled)
    }

    /// Reads the objects as one stream.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(read) = self.contents.read(buffer)? {
                return Ok(read);
            }
            if !self.advance()? {
                self.wait(true)?;
            }
        }
    }
}

/// Returns the query about the objects on a line of the name source, or `None` if git cannot have
/// printed the line. `lists_deletions` asks only for objects that a commit deletes.
fn query(line: &[u8], layout: Layout, lists_deletions: bool) -> Option<Vec<u8>> {
    if is_oid(line) {
        return Some(match layout {
            // The commit whose changes follow.
            Layout::V1 => Vec::new(),
            Layout::V2 if lists_deletions => [line, b":d ", DELETED, b"\n"].concat(),
            Layout::V2 => [line, b":m\n"].concat(),
        });
    }
    // `:OLD_MODE NEW_MODE OLD_OID NEW_OID STATUS<tab>PATH`.
    let words: Vec<&[u8]> = line
        .strip_prefix(b":")
        .filter(|_| layout == Layout::V1)?
        .splitn(5, |&byte| byte == b' ')
        .collect();
    let &[_, _, old, new, [status, b'\t', path @ ..]] = &words[..] else {
        return None;
    };
    let is_message = is_message_path(path);
    let mut query = Vec::new();
    if is_message && matches!(status, b'D' | b'M') && is_oid(old) {
        query.extend_from_slice(&[old, b" ", DELETED, b"\n"].concat());
    }
    if is_message && !lists_deletions && matches!(status, b'A' | b'M') && is_oid(new) {
        query.extend_from_slice(&[new, b"\n"].concat());
    }
    Some(query)
}

impl Expected {
    /// Parses an answer of `cat-file --batch-check`. Returns `None` for an invalid line.
    fn of(line: &[u8], max_bytes: u64) -> Option<Expected> {
        let words: Vec<&[u8]> = line.splitn(4, |&byte| byte == b' ').collect();
        let name = *words.first()?;
        let of_commit = name.strip_suffix(b":m").or(name.strip_suffix(b":d"));
        if !is_oid(of_commit.unwrap_or(name)) || words.len() < 2 {
            return None;
        }
        let &[oid, b"blob", digits, rest] = &words[..] else {
            return Some(if name.ends_with(b":m") {
                Expected::PerhapsDeleted(name.to_owned())
            } else {
                Expected::Unresolved(name.to_owned())
            });
        };
        let bytes = str::from_utf8(digits).ok()?.parse().ok()?;
        Some(if max_bytes < bytes {
            let oid = oid.to_owned();
            Expected::TooLarge { oid, bytes }
        } else if rest == DELETED {
            Expected::Deleted
        } else {
            Expected::Message
        })
    }
}

/// Buffered lines of a process.
#[derive(Debug, Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    /// Offset of the first line that was not taken yet.
    next: usize,
}

impl LineBuffer {
    /// Reads the available output of the process without waiting. Returns `true` if there was new
    /// output, or the output has ended.
    fn read(&mut self, process: &mut ChildProcess) -> io::Result<bool> {
        if process.is_read() {
            return Ok(false);
        }
        self.bytes.drain(..self.next);
        self.next = 0;
        let before = self.bytes.len();
        self.bytes.resize(before + GIT_PIPE_BYTES, 0);
        let read = process.read(&mut self.bytes[before..])?;
        self.bytes.truncate(before + read.unwrap_or(0));
        Ok(read.is_some())
    }

    /// Takes the next complete line, without its terminator.
    fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let rest = &self.bytes[self.next..];
        match memchr::memchr(b'\n', rest) {
            Some(end) => {
                self.next += end + 1;
                Ok(Some(&rest[..end]))
            }
            None if GIT_LINE_BYTES < rest.len() => Err(unexpected("", rest)),
            None => Ok(None),
        }
    }

    /// Returns `true` if no complete line is left.
    fn is_empty(&self) -> bool {
        memchr::memchr(b'\n', &self.bytes[self.next..]).is_none()
    }
}

/// The objects of a repository, shared between their reader and the code that requests the next
/// item.
#[derive(Clone, Debug)]
pub(super) struct SharedObjects(pub(super) Rc<RefCell<RepositoryObjects>>);

impl Read for SharedObjects {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::sync::Arc;

    use super::*;
    use urlspool_text::limits::Limits;

    const OID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn the_layout_is_derived_from_the_root() {
        let tree = |name: &str| format!("040000 tree {OID}\t{name}\n");
        let blob = |name: &str| format!("100644 blob {OID}\t{name}\n");
        for (root, expected) in [
            (blob("m"), Some(Layout::V2)),
            (blob("d"), Some(Layout::V2)),
            (tree("0a"), Some(Layout::V1)),
            (tree("00") + &tree("ff"), Some(Layout::V1)),
            (String::new(), Some(Layout::V1)),
            (tree("0a") + &blob("README"), None),
            (blob("README") + &blob("m"), None),
            (tree("m"), None),
            (blob("0a"), None),
            (tree("src"), None),
            (format!("120000 blob {OID}\tm\n"), None),
        ] {
            assert_eq!(layout(root.as_bytes()), expected, "{root}");
        }
    }

    #[test]
    fn changes_in_version_1_are_parsed() {
        let old = "f".repeat(40);
        let path = format!("0a/{}", &OID[..38]);
        let check = |status: &str, path: &str, deletes: bool, adds: bool| {
            let line = format!(":000000 100644 {old} {OID} {status}\t{path}");
            let deleted = format!("{old} d\n").repeat(usize::from(deletes));
            let all = deleted.clone() + &format!("{OID}\n").repeat(usize::from(adds));
            for (lists_deletions, expected) in [(true, deleted), (false, all)] {
                let query = query(line.as_bytes(), Layout::V1, lists_deletions);
                assert_eq!(query, Some(expected.into_bytes()), "{line}");
            }
        };
        check("A", &path, false, true);
        check("M", &path, true, true);
        check("D", &path, true, false);
        check("A", &format!("{path}/b"), false, true);
        check("A", &path[1..], false, false);
        check("A", "README", false, false);
        check("T", &path, false, false);
        let of_commit = |layout, lists_deletions| query(OID.as_bytes(), layout, lists_deletions);
        assert_eq!(of_commit(Layout::V1, false), Some(Vec::new()));
        let added = format!("{OID}:m\n").into_bytes();
        assert_eq!(of_commit(Layout::V2, false), Some(added));
        let deleted = format!("{OID}:d d\n").into_bytes();
        assert_eq!(of_commit(Layout::V2, true), Some(deleted));
        for other in [&b"fatal"[..], b":1 2 3", b""] {
            assert_eq!(query(other, Layout::V1, false), None);
            assert_eq!(query(other, Layout::V2, false), None);
        }
    }

    /// A hostile repository can list more commits than anyone can read. In this test, git lists
    /// commits forever and knows none of the objects.
    #[test]
    fn the_number_of_changes_is_limited() {
        let host = GitHost::new(&Limits::default()).started_by(Arc::new(|command| {
            let is_query = command.get_args().any(|argument| argument == "cat-file");
            let script = if is_query {
                "sed 's/$/ missing/'".to_owned()
            } else {
                format!("yes {OID}")
            };
            Command::new("sh")
                .args(["-c", &script])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .process_group(0)
                .spawn()
        }));
        let repository = Repository {
            path: PathBuf::new(),
            layout: Layout::V2,
            tip: OID.to_owned(),
            host: host.clone(),
        };
        let mut source = repository.names(&[]).unwrap();
        source.changes_left = 1_000;
        let mut objects = RepositoryObjects::start(Path::new(""), Some(source), &host).unwrap();
        let error = loop {
            match objects.next_expected() {
                Ok(expected) => assert!(expected.is_some()),
                Err(error) => break error,
            }
        };
        assert!(
            error.to_string().contains("the rest is not read"),
            "{error}"
        );
    }

    #[test]
    fn answers_of_batch_check_are_parsed() {
        let check = |line: &str, expected: Option<Expected>| {
            assert_eq!(Expected::of(line.as_bytes(), 100), expected, "{line}");
        };
        let name = format!("{OID}:m");
        let oid = OID.as_bytes().to_vec();
        check(&format!("{OID} blob 100 "), Some(Expected::Message));
        check(&format!("{OID} blob 100 d"), Some(Expected::Deleted));
        let too_large = Expected::TooLarge {
            oid: oid.clone(),
            bytes: 101,
        };
        check(&format!("{OID} blob 101 "), Some(too_large));
        let perhaps = Expected::PerhapsDeleted(name.clone().into_bytes());
        check(&format!("{name} missing"), Some(perhaps));
        let unresolved = || Some(Expected::Unresolved(oid.clone()));
        check(&format!("{OID} missing"), unresolved());
        check(&format!("{OID} tree 3 "), unresolved());
        for other in ["", OID, "fatal: no", &format!("{OID} blob x ")] {
            check(other, None);
        }
    }
}
