//! Dialects of mbox.

use memchr::memmem;

use super::AtEof;
use super::content_length::{content_length, header_end};
use super::mbox::{envelope, next_message};

/// The dialect of an mbox, for what it tells a reader. mboxo and mboxrd are read alike, and so are the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MboxDialect {
    /// `From ` lines of bodies are quoted, or there are none.
    Mboxo,
    /// Quoted ones are quoted once more.
    Mboxrd,
    /// Messages carry their length, and `From ` lines are quoted.
    Mboxcl,
    /// Messages carry their length, and `From ` lines are not quoted.
    Mboxcl2,
}

impl MboxDialect {
    /// Its usual name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MboxDialect::Mboxo => "mboxo",
            MboxDialect::Mboxrd => "mboxrd",
            MboxDialect::Mboxcl => "mboxcl",
            MboxDialect::Mboxcl2 => "mboxcl2",
        }
    }

    /// Whether Content-Length fields are looked at.
    pub(super) fn has_lengths(self) -> bool {
        matches!(self, MboxDialect::Mboxcl | MboxDialect::Mboxcl2)
    }
}

/// The dialect of an mbox that begins with `start`.
///
/// One message with a length that could be true is enough to look at all of them, for they are believed only where
/// they are; between the others the lines in bodies decide.
#[must_use]
pub fn mbox_dialect(start: &[u8]) -> MboxDialect {
    let mut lengths = false;
    let mut at = 0;
    while at < start.len() {
        let header = at + envelope(&start[at..]);
        let body = header_end(&start[header..]).map_or(start.len(), |end| header + end);
        lengths |= content_length(&start[header..body]).is_some();
        at = next_message(start, at, AtEof::All).unwrap_or(start.len());
    }
    let quoted = memmem::find(start, b"\n>From ").is_some();
    let twice = memmem::find(start, b"\n>>From ").is_some();
    match (lengths, quoted, twice) {
        (true, true, _) => MboxDialect::Mboxcl,
        (true, false, _) => MboxDialect::Mboxcl2,
        (false, _, true) => MboxDialect::Mboxrd,
        (false, _, false) => MboxDialect::Mboxo,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_length(body: &str, off_by: usize) -> String {
        format!(
            "From a\nA: b\ncontent-length:  {}\n\n{body}",
            body.len() + off_by
        )
    }

    #[test]
    fn dialects_are_told_by_the_files_start() {
        let plain = |body: &str| format!("From a\nA: b\n\n{body}\n");
        assert_eq!(mbox_dialect(plain("x").as_bytes()), MboxDialect::Mboxo);
        assert_eq!(
            mbox_dialect(plain(">From x").as_bytes()),
            MboxDialect::Mboxo
        );
        assert_eq!(
            mbox_dialect(plain("x\n>>From x").as_bytes()),
            MboxDialect::Mboxrd
        );
        assert_eq!(
            mbox_dialect(with_length("x\n>From y\n", 0).as_bytes()),
            MboxDialect::Mboxcl
        );
        assert_eq!(
            mbox_dialect(with_length("x\nFrom y\n", 0).as_bytes()),
            MboxDialect::Mboxcl2
        );
    }
}
