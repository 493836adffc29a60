//! Dialects of mbox, which differ in `From ` lines of bodies and in Content-Length fields.

use memchr::memmem;

use super::AtEof;
use super::content_length::{content_length, header_end};
use super::mbox::{envelope, next_message};

named_enum! {
    /// Dialect of an mbox. Mboxo and mboxrd are read in the same way, and so are mboxcl and mboxcl2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MboxDialect {
        /// `From ` lines of bodies are quoted with `>`, or there are none.
        Mboxo = "mboxo",
        /// Quoted `From ` lines are quoted once more.
        Mboxrd = "mboxrd",
        /// Messages have a Content-Length field, and `From ` lines are quoted.
        Mboxcl = "mboxcl",
        /// Messages have a Content-Length field, and `From ` lines are not quoted.
        Mboxcl2 = "mboxcl2",
    }
}

impl MboxDialect {
    /// Returns `true` if Content-Length fields are used.
    pub(super) fn has_lengths(self) -> bool {
        matches!(self, MboxDialect::Mboxcl | MboxDialect::Mboxcl2)
    }
}

/// Detects the dialect of an mbox that begins with `start`.
///
/// One Content-Length field is enough for a dialect that has them, because a wrong one is ignored when messages are divided. Between
/// the two dialects of each pair the `From ` lines in bodies decide.
#[must_use]
pub fn mbox_dialect(start: &[u8]) -> MboxDialect {
    let mut lengths = false;
    let mut at = 0;
    while at < start.len() {
        let header = at + envelope(&start[at..]);
        let body = header_end(&start[header..]).map_or(start.len(), |end| header + end);
        lengths |= content_length(&start[header..body]).is_some();
        at = next_message(start, at, AtEof::Yes).unwrap_or(start.len());
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
    fn dialects_are_detected_by_the_start_of_the_file() {
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
