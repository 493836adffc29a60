//! Where bytes came from: the file, its kind, and the message.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a source is divided into messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// Messages one after the other, each behind a `From ` line.
    Mbox,
    /// A message in the `new` or `cur` folder of a Maildir.
    Maildir,
    /// A numbered file with a mail message.
    Mh,
    /// A numbered file with a news article.
    News,
    /// News articles one after the other, each behind a line with its length.
    Rnews,
    /// Messages one after the other, between lines of control characters.
    Mmdf,
    /// The messages of a folder of Emacs' Rmail.
    Babyl,
    /// One message in a file.
    Message,
    /// Text without a header.
    Text,
}

impl SourceKind {
    /// The name that stands in a record's `source.kind`.
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

    /// The kind of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<SourceKind> {
        SourceKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// All kinds.
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

/// What the place of a file tells of it. Content decides; the place names the kind of a single message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FormatHint {
    /// Nothing.
    #[default]
    None,
    /// It lies in `new` or `cur` of a Maildir.
    Maildir,
    /// Its name is a number.
    Numbered,
    /// It lies in a news spool of INN's timehash method, which knows no groups.
    Timehash,
}

/// A piece of work that another machine or thread can do: the messages of a file that begin in a range of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// The file.
    pub source: Source,
    /// The first byte.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// How the file is divided, if that is known. Only mboxes are taken in parts; of other files, the part at the
    /// start is the whole.
    pub kind: Option<SourceKind>,
}

/// A source of bytes: a file, standard input, or a member of an archive in one of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Its path as it was given and walked; `-` for standard input.
    pub path: Arc<Path>,
    /// The names of the members, from the outermost archive inwards; nothing for the file itself. They are labels.
    member: Option<Arc<[Vec<u8>]>>,
}

impl Source {
    /// The source at `path`.
    #[must_use]
    pub fn at(path: PathBuf) -> Source {
        Source {
            path: path.into(),
            member: None,
        }
    }

    /// The member of that name of the archive that this source is.
    #[must_use]
    pub fn within(&self, name: &[u8]) -> Source {
        let names = self.member().iter().cloned().chain([name.to_owned()]);
        Source {
            path: Arc::clone(&self.path),
            member: Some(names.collect()),
        }
    }

    /// The names of the members, from the outermost archive inwards; none for a file.
    #[must_use]
    pub fn member(&self) -> &[Vec<u8>] {
        self.member.as_deref().unwrap_or_default()
    }

    /// The name that stands for standard input.
    pub const STDIN: &'static str = "-";
}
