//! Why a text is no URL: kind, part, offset. The sentence is made in `Display` and nowhere else.

use std::fmt;

use super::escape::escaped_byte;

/// What was wrong. A closed set: a new value is a new version of the record format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectKind {
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
pub enum RejectPart {
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
    pub kind: RejectKind,
    /// Which part was being read.
    pub part: RejectPart,
    /// How many bytes stand before the fault. At most the length of the text.
    pub offset: usize,
}

impl RejectKind {
    /// The name that stands in a record's `error.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RejectKind::Empty => "empty",
            RejectKind::Unexpected => "unexpected",
            RejectKind::BadEscape => "bad-escape",
            RejectKind::Missing => "missing",
            RejectKind::BadLabel => "bad-label",
        }
    }

    /// All kinds, for the schema.
    pub const ALL: [RejectKind; 5] = [
        RejectKind::Empty,
        RejectKind::Unexpected,
        RejectKind::BadEscape,
        RejectKind::Missing,
        RejectKind::BadLabel,
    ];
}

impl RejectPart {
    /// The name that stands in a record's `error.part`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RejectPart::Scheme => "scheme",
            RejectPart::Slashes => "slashes",
            RejectPart::Login => "login",
            RejectPart::Host => "host",
            RejectPart::Port => "port",
            RejectPart::Path => "path",
            RejectPart::Typecode => "typecode",
            RejectPart::Search => "search",
            RejectPart::Selector => "selector",
            RejectPart::Address => "address",
            RejectPart::Group => "group",
            RejectPart::Article => "article",
            RejectPart::Database => "database",
            RejectPart::Wtype => "wtype",
            RejectPart::Wpath => "wpath",
            RejectPart::Field => "field",
            RejectPart::Schemepart => "schemepart",
        }
    }

    /// All parts, for the schema.
    pub const ALL: [RejectPart; 17] = [
        RejectPart::Scheme,
        RejectPart::Slashes,
        RejectPart::Login,
        RejectPart::Host,
        RejectPart::Port,
        RejectPart::Path,
        RejectPart::Typecode,
        RejectPart::Search,
        RejectPart::Selector,
        RejectPart::Address,
        RejectPart::Group,
        RejectPart::Article,
        RejectPart::Database,
        RejectPart::Wtype,
        RejectPart::Wpath,
        RejectPart::Field,
        RejectPart::Schemepart,
    ];
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, at) = (self.part.name(), self.offset);
        match self.kind {
            RejectKind::Empty => write!(f, "the {part} is empty at byte {at}"),
            RejectKind::Unexpected => write!(f, "byte {at} cannot stand in or after the {part}"),
            RejectKind::BadEscape => write!(
                f,
                "the % at byte {at} is not followed by two hexadecimal digits"
            ),
            RejectKind::Missing => write!(
                f,
                "the {part} is missing, or lacks its delimiter, at byte {at}"
            ),
            RejectKind::BadLabel => {
                write!(f, "the host's label cannot begin or end so at byte {at}")
            }
        }
    }
}

impl std::error::Error for Reject {}

/// A rejection inside a production, which knows what is left and not what came before.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductionError {
    kind: RejectKind,
    part: RejectPart,
    left: usize,
}

impl ProductionError {
    /// A refusal at the first byte of `rest`.
    pub(super) fn new(kind: RejectKind, part: RejectPart, rest: &[u8]) -> ProductionError {
        ProductionError {
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
pub(super) type Production<'a, T> = Result<(T, &'a [u8]), ProductionError>;

/// Nothing may be left after a form's last production.
pub(super) fn end<T>(value: T, part: RejectPart, rest: &[u8]) -> Result<T, ProductionError> {
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(stray(part, rest))
    }
}

/// What is wrong with the first byte of `rest`, which `part` could not take. `rest` is not empty.
///
/// A whole escape is `Unexpected`: it stands where none can (`telnet://h%41`).
pub(super) fn stray(part: RejectPart, rest: &[u8]) -> ProductionError {
    let half_escape = rest.first() == Some(&b'%') && escaped_byte(rest).is_none();
    let kind = if half_escape {
        RejectKind::BadEscape
    } else {
        RejectKind::Unexpected
    };
    ProductionError::new(kind, part, rest)
}
