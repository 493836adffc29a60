//! `telneturl` (RFC 1738 section 3.8).

use super::super::host::{Login, login};
use super::super::reject::{ProductionError, RejectPart, end};

/// `telneturl = "telnet://" login [ "/" ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelnetUrl<'a> {
    /// User, password, host, port.
    pub login: Login<'a>,
    /// Whether the slash stands at the end.
    pub final_slash: bool,
}

impl TelnetUrl<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.login.write(out);
        if self.final_slash {
            out.push(b'/');
        }
    }
}

/// `telneturl`. The `telnet://` has been read.
pub(super) fn telneturl(input: &[u8]) -> Result<TelnetUrl<'_>, ProductionError> {
    let (login, rest) = login(input)?;
    match rest.strip_prefix(b"/") {
        Some(rest) => end(
            TelnetUrl {
                login,
                final_slash: true,
            },
            RejectPart::Path,
            rest,
        ),
        None => end(
            TelnetUrl {
                login,
                final_slash: false,
            },
            RejectPart::Host,
            rest,
        ),
    }
}
