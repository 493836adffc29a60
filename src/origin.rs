//! The origin of bytes: the file or archive member, and the kind of source that it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kind of a source, which decides how it is divided into messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// Messages in sequence, each after a `From ` line.
    Mbox,
    /// One message, in the `new` or `cur` folder of a Maildir.
    Maildir,
    /// One mail message in a file whose name is a number.
    Mh,
    /// One news article in a file whose name is a number.
    News,
    /// News articles in sequence, each after a line with its length.
    Rnews,
    /// Messages in sequence, between lines of control characters.
    Mmdf,
    /// A mail folder of Emacs' Rmail.
    Babyl,
    /// One message in a file of any name.
    Message,
    /// Text without a header.
    Text,
}

impl SourceKind {
    /// The name used in a record's `source.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SourceKind::Mbox => "mbox",
            SourceKind::Maildir => "maildir",
            SourceKind::Mh => "mh",
            SourceKind::News => "news",
            SourceKind::Rnews => "rnews",
            SourceKind::Mmdf => "mmdf",
            SourceKind::Babyl => "babyl",
            SourceKind::Message => "message",
            SourceKind::Text => "text",
        }
    }

    /// Returns the kind with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<SourceKind> {
        SourceKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// All kinds, in the order of declaration.
    pub const ALL: [SourceKind; 9] = [
        SourceKind::Mbox,
        SourceKind::Maildir,
        SourceKind::Mh,
        SourceKind::News,
        SourceKind::Rnews,
        SourceKind::Mmdf,
        SourceKind::Babyl,
        SourceKind::Message,
        SourceKind::Text,
    ];
}

/// A hint about a file's format, taken from its path.
///
/// The content decides the format. The hint decides the [`SourceKind`] of a file that holds a single message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FormatHint {
    /// The path gives no hint.
    #[default]
    None,
    /// The file is in the `new` or `cur` folder of a Maildir.
    Maildir,
    /// The name of the file is a number.
    Numbered,
    /// The file is in a news spool of INN's timehash method, whose paths do not name groups.
    Timehash,
}

/// A byte range of a file, as a unit of work for another machine or thread: the messages that begin in the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// The file.
    pub source: Source,
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The kind of the file, if known. Only an mbox is divided into ranges; of any other file, the range at offset 0
    /// stands for the whole file.
    pub kind: Option<SourceKind>,
}

/// A source of bytes: a file, standard input, or a member of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The path of the file, as given and extended by the walk; [`Source::STDIN`] for standard input.
    pub path: Arc<Path>,
    /// The names of the members, from the outermost archive inwards; `None` for the file itself. They are labels and
    /// never used as paths.
    member: Option<Arc<[Vec<u8>]>>,
}

impl Source {
    /// Returns the source for the file at `path`.
    #[must_use]
    pub fn at(path: PathBuf) -> Source {
        Source {
            path: path.into(),
            member: None,
        }
    }

    /// Returns the source for the member `name` of the archive that this source is.
    #[must_use]
    pub fn within(&self, name: &[u8]) -> Source {
        let names = self.member().iter().cloned().chain([name.to_owned()]);
        Source {
            path: Arc::clone(&self.path),
            member: Some(names.collect()),
        }
    }

    /// The names of the members, from the outermost archive inwards; empty for a file.
    #[must_use]
    pub fn member(&self) -> &[Vec<u8>] {
        self.member.as_deref().unwrap_or_default()
    }

    /// The path that stands for standard input.
    pub const STDIN: &'static str = "-";
}
