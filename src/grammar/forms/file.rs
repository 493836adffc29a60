//! `fileurl` (RFC 1738 section 3.10).

use super::super::host::{Host, host};
use super::super::reject::{ProductionError, RejectPart, end};
use super::ftp::fpath;
use super::{segments, slash};

/// `fileurl = "file://" [ host | "localhost" ] "/" fpath`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUrl<'a> {
    /// The host; `None` if the URL has none. Only this form allows that.
    pub host: Option<Host<'a>>,
    /// `fpath`, without the slash before it.
    pub path: &'a [u8],
}

impl<'a> FileUrl<'a> {
    /// Returns `true` if the file is on the local machine: no host, or `localhost` in any case.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.host
            .is_none_or(|host| host.text.eq_ignore_ascii_case(b"localhost"))
    }

    /// The segments of the path.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        segments(self.path)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        out.extend(self.host.map_or(&b""[..], |host| host.text));
        out.push(b'/');
        out.extend(self.path);
    }
}

/// Parses `fileurl`, after the `file://`. `localhost` is an ordinary host here.
pub(super) fn fileurl(input: &[u8]) -> Result<FileUrl<'_>, ProductionError> {
    let (host, rest) = match input.first() {
        Some(b'/') => (None, input),
        _ => {
            let (host, rest) = host(input)?;
            (Some(host), rest)
        }
    };
    let (path, rest) = fpath(slash(RejectPart::Path, rest)?);
    end(FileUrl { host, path }, RejectPart::Path, rest)
}
