//! Roots in, files out, in a fixed order. Opens nothing and follows no symbolic link unless asked.

mod filter;

pub use filter::{BadGlob, Filter};

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::origin::{Hint, Item, Source};
use crate::problem::{Event, Kind, Problem};

/// A regular file that is to be read.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it is.
    pub source: Source,
    /// Its octets, when it was walked upon.
    pub size: u64,
    /// What its place tells.
    pub hint: Hint,
}

/// What the walk came upon.
#[derive(Clone, Debug)]
pub enum Step {
    /// A file to be read.
    File(File),
    /// A part of a file: what begins in it is to be read.
    Part(File, Item),
    /// Standard input.
    Stdin,
    /// Something that is left, and why in a word.
    Skipped(Source, &'static str),
    /// Something that could not be looked at.
    Failed(Event),
}

/// Whether symbolic links inside the roots are followed. A root itself always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// They are left (the default).
    #[default]
    Left,
    /// Those that lead to something beneath their root are followed, none twice on one path.
    Followed,
}

/// Walks over the roots, one after the other.
///
/// Below a root, names are compared octet by octet, component by component. Holds the names of the folders on the
/// path to the current file.
pub fn walk<'w>(roots: &'w [PathBuf], filter: &'w Filter, links: Links) -> impl Iterator<Item = Step> + 'w {
    let mut seen = HashSet::new();
    roots.iter().flat_map(move |root| below(root, filter, links)).map(move |step| match step {
        Walked::Step(step) => step,
        Walked::Linked(file, identity) if seen.insert(identity) => Step::File(file),
        Walked::Linked(file, _) => Step::Skipped(file.source, "hard-link"),
    })
}

/// The steps that items ask for, in their order. An item that is all of its file is the file.
pub fn items(items: &[Item]) -> impl Iterator<Item = Step> + '_ {
    items.iter().map(|item| {
        let path = &item.source.path;
        match path.metadata() {
            Err(error) => Step::Failed(Problem::new(Kind::Unreadable, error.to_string()).of(&item.source)),
            Ok(metadata) if !metadata.is_file() => Step::Skipped(item.source.clone(), "not-regular"),
            Ok(metadata) => {
                let file = File { source: item.source.clone(), size: metadata.len(), hint: hint(path) };
                if item.start == 0 && file.size <= item.end { Step::File(file) } else { Step::Part(file, item.clone()) }
            }
        }
    })
}

/// The file at `path`, if a walk of `root` that follows no links would come upon it. `path` lies beneath `root`.
#[must_use]
pub fn beneath(root: &Path, path: &Path) -> Option<File> {
    let metadata = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    let inside = path.ancestors().take_while(|up| *up != root);
    let in_tmp = inside.skip(1).any(|up| up.file_name() == Some("tmp".as_ref()) && is_maildir(up.parent()));
    let kept_back = path != root && path.file_name().is_none_or(filter::is_control_file);
    let file = || File { source: Source::at(path.to_owned()), size: metadata.len(), hint: hint(path) };
    (!in_tmp && !kept_back).then(file)
}

/// A step, or a file of a news spool that has several names: it is read under the first.
enum Walked {
    Step(Step),
    Linked(File, (u64, u64)),
}

fn below<'w>(root: &'w Path, filter: &'w Filter, links: Links) -> Box<dyn Iterator<Item = Walked> + 'w> {
    if root.as_os_str() == Source::STDIN {
        return Box::new(std::iter::once(Walked::Step(Step::Stdin)));
    }
    let real_root = (links == Links::Followed).then(|| root.canonicalize().ok()).flatten();
    let tree = WalkDir::new(root)
        .follow_links(links == Links::Followed)
        .follow_root_links(true)
        .sort_by(|a, b| a.file_name().as_encoded_bytes().cmp(b.file_name().as_encoded_bytes()));
    let entries = tree.into_iter().filter_entry(|entry| !is_maildir_tmp(entry));
    Box::new(entries.filter_map(move |entry| match entry {
        Ok(entry) if entry.file_type().is_dir() => None,
        Ok(entry) => Some(step(&entry, root, filter, real_root.as_deref())),
        Err(error) => Some(Walked::Step(Step::Failed(failed(root, &error)))),
    }))
}

fn step(entry: &DirEntry, root: &Path, filter: &Filter, real_root: Option<&Path>) -> Walked {
    let source = Source::at(entry.path().to_owned());
    let skip = |why| Walked::Step(Step::Skipped(Source::at(entry.path().to_owned()), why));
    let named = entry.depth() == 0;
    if entry.path_is_symlink() && !named {
        let beneath =
            real_root.is_some_and(|root| entry.path().canonicalize().is_ok_and(|path| path.starts_with(root)));
        if !beneath {
            return skip("symlink");
        }
    }
    if !entry.file_type().is_file() {
        return skip(if entry.file_type().is_symlink() { "symlink" } else { "not-regular" });
    }
    if !named && filter::is_control_file(entry.file_name()) {
        return skip("control-file");
    }
    let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
    if !filter.wants(if named { entry.path() } else { relative }) {
        return skip("filtered");
    }
    let metadata = match entry.metadata() {
        Ok(metadata) => metadata,
        Err(error) => return Walked::Step(Step::Failed(failed(entry.path(), &error))),
    };
    let hint = hint(entry.path());
    let file = File { source, size: metadata.len(), hint };
    if hint == Hint::Numbered && metadata.nlink() > 1 {
        return Walked::Linked(file, (metadata.dev(), metadata.ino()));
    }
    Walked::Step(Step::File(file))
}

/// What a file's name and folder tell of it.
fn hint(path: &Path) -> Hint {
    let folder = path.parent().and_then(Path::file_name);
    let is_numbered = path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    match folder {
        Some(folder) if (folder == "cur" || folder == "new") && is_maildir(path.parent().and_then(Path::parent)) => {
            Hint::Maildir
        }
        _ if is_numbered => Hint::Numbered,
        _ if is_timehash(path) => Hint::Timehash,
        _ => Hint::None,
    }
}

/// What a member's name in an archive tells of it, or why it is left, in a word. Of the folders around it nothing is
/// known, so that a Maildir shows by the shape of its files' names as well (maildir(5): moment, process and host).
pub(crate) fn hint_of_member(name: &[u8]) -> Result<Hint, &'static str> {
    let mut components = name.rsplit(|&byte| byte == b'/');
    let file = components.next().unwrap_or_default();
    let folder = components.next().unwrap_or_default();
    let is_unique = file.first().is_some_and(u8::is_ascii_digit) && file.split(|&byte| byte == b'.').count() > 2;
    if filter::is_control_file(OsStr::from_bytes(file)) {
        return Err("control-file");
    }
    match folder {
        b"tmp" if is_unique => Err("maildir-tmp"),
        b"cur" | b"new" if is_unique => Ok(Hint::Maildir),
        _ if !file.is_empty() && file.iter().all(u8::is_ascii_digit) => Ok(Hint::Numbered),
        _ if is_timehash(Path::new(OsStr::from_bytes(name))) => Ok(Hint::Timehash),
        _ => Ok(Hint::None),
    }
}

/// Whether a path ends as INN's timehash method names articles: `time-01/00/86/0000-6be1`, all in hexadecimal digits.
fn is_timehash(path: &Path) -> bool {
    let mut names = path.iter().rev().map(OsStr::as_encoded_bytes);
    let mut is = |pattern: &[u8]| {
        names.next().is_some_and(|name| {
            let same =
                |(&octet, &mark): (&u8, &u8)| if mark == b'?' { octet.is_ascii_hexdigit() } else { octet == mark };
            name.len() == pattern.len() && name.iter().zip(pattern).all(same)
        })
    };
    is(b"????-????") && is(b"??") && is(b"??") && is(b"time-??")
}

/// Messages in `tmp` are not complete (maildir(5)).
fn is_maildir_tmp(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.file_name() == "tmp" && entry.file_type().is_dir() && is_maildir(entry.path().parent())
}

fn is_maildir(folder: Option<&Path>) -> bool {
    folder.is_some_and(|folder| folder.join("cur").is_dir() && folder.join("new").is_dir())
}

fn failed(path: &Path, error: &walkdir::Error) -> Event {
    let path = error.path().unwrap_or(path).to_owned();
    let missing = error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let message = match (error.io_error(), error.loop_ancestor()) {
        (_, Some(ancestor)) => format!("a link that leads back to {}", ancestor.display()),
        (Some(error), None) => error.to_string(),
        (None, None) => error.to_string(),
    };
    // A path that was named must be there; one that was walked upon may go away.
    let kind = if missing && error.depth() > 0 { Kind::Vanished } else { Kind::Unreadable };
    Problem::new(kind, message).of(&Source::at(path))
}
