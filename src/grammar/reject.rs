//! Why a text is no URL: kind, part, offset. The sentence is made in `Display` and nowhere else.

use std::fmt;

use super::escape::octet;

/// What was wrong. A closed set: a new value is a new version of the record format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Nothing stood where the grammar needs at least one character.
    Empty,
    /// A character stood there that the part cannot hold.
    Unexpected,
    /// `%` without two hexadecimal digits after it.
    BadEscape,
    /// A literal of the grammar (`:`, `//`, `;type=`, ...) was missing.
    Missing,
    /// A host label that the grammar does not allow (hyphen at an end, digit first in the last label).
    BadLabel,
}

/// Where it was wrong: the part of the URL that was being read. A closed set as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The scheme and its colon.
    Scheme,
    /// The two slashes after the scheme.
    Slashes,
    /// User name and password.
    Login,
    /// The host.
    Host,
    /// The port.
    Port,
    /// The path (`fpath`, `hpath`, `urlpath`).
    Path,
    /// ftp's `;type=`.
    Typecode,
    /// What follows `?` in http and wais.
    Search,
    /// gopher's type, selector, search and gopher+ string.
    Selector,
    /// mailto's address.
    Address,
    /// A newsgroup's name.
    Group,
    /// A news article's identifier, or nntp's article number.
    Article,
    /// wais' database.
    Database,
    /// wais' type.
    Wtype,
    /// wais' path.
    Wpath,
    /// prospero's fields.
    Field,
    /// All after the colon of a scheme without a rule of its own.
    Schemepart,
}

/// The reason a text is not a URL by RFC 1738.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reject {
    /// What was wrong.
    pub kind: Kind,
    /// Which part was being read.
    pub part: Part,
    /// How many bytes stand before the fault. At most the length of the text.
    pub offset: usize,
}

impl Kind {
    /// The name that stands in a record's `error.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Empty => "empty",
            Kind::Unexpected => "unexpected",
            Kind::BadEscape => "bad-escape",
            Kind::Missing => "missing",
            Kind::BadLabel => "bad-label",
        }
    }

    /// All kinds, for the schema.
    pub const ALL: [Kind; 5] = [
        Kind::Empty,
        Kind::Unexpected,
        Kind::BadEscape,
        Kind::Missing,
        Kind::BadLabel,
    ];
}

impl Part {
    /// The name that stands in a record's `error.part`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Scheme => "scheme",
            Part::Slashes => "slashes",
            Part::Login => "login",
            Part::Host => "host",
            Part::Port => "port",
            Part::Path => "path",
            Part::Typecode => "typecode",
            Part::Search => "search",
            Part::Selector => "selector",
            Part::Address => "address",
            Part::Group => "group",
            Part::Article => "article",
            Part::Database => "database",
            Part::Wtype => "wtype",
            Part::Wpath => "wpath",
            Part::Field => "field",
            Part::Schemepart => "schemepart",
        }
    }

    /// All parts, for the schema.
    pub const ALL: [Part; 17] = [
        Part::Scheme,
        Part::Slashes,
        Part::Login,
        Part::Host,
        Part::Port,
        Part::Path,
        Part::Typecode,
        Part::Search,
        Part::Selector,
        Part::Address,
        Part::Group,
        Part::Article,
        Part::Database,
        Part::Wtype,
        Part::Wpath,
        Part::Field,
        Part::Schemepart,
    ];
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, at) = (self.part.name(), self.offset);
        match self.kind {
            Kind::Empty => write!(f, "the {part} is empty at byte {at}"),
            Kind::Unexpected => write!(f, "byte {at} cannot stand in or after the {part}"),
            Kind::BadEscape => write!(
                f,
                "the % at byte {at} is not followed by two hexadecimal digits"
            ),
            Kind::Missing => write!(
                f,
                "the {part} is missing, or lacks its delimiter, at byte {at}"
            ),
            Kind::BadLabel => write!(f, "the host's label cannot begin or end so at byte {at}"),
        }
    }
}

impl std::error::Error for Reject {}

/// A rejection inside a production, which knows what is left and not what came before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    kind: Kind,
    part: Part,
    left: usize,
}

impl Refusal {
    /// A refusal at the first byte of `rest`.
    pub(super) fn new(kind: Kind, part: Part, rest: &[u8]) -> Refusal {
        Refusal {
            kind,
            part,
            left: rest.len(),
        }
    }

    /// The rejection of the whole text, which had `total` bytes.
    pub(super) fn within(self, total: usize) -> Reject {
        Reject {
            kind: self.kind,
            part: self.part,
            offset: total - self.left,
        }
    }
}

/// What a production gives: its value and the bytes after it.
pub(super) type Read<'a, T> = Result<(T, &'a [u8]), Refusal>;

/// Nothing may be left after a form's last production.
pub(super) fn end<T>(value: T, part: Part, rest: &[u8]) -> Result<T, Refusal> {
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(stray(part, rest))
    }
}

/// What is wrong with the first byte of `rest`, which `part` could not take. `rest` is not empty.
///
/// A whole escape is `Unexpected`: it stands where none can (`telnet://h%41`).
pub(super) fn stray(part: Part, rest: &[u8]) -> Refusal {
    let half_escape = rest.first() == Some(&b'%') && octet(rest).is_none();
    let kind = if half_escape {
        Kind::BadEscape
    } else {
        Kind::Unexpected
    };
    Refusal::new(kind, part, rest)
}
