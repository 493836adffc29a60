//! `telneturl` (RFC 1738 section 3.8).

use super::super::host::{Login, login};
use super::super::reject::{ProductionError, RejectPart, end};

/// `telneturl = "telnet://" login [ "/" ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelnetUrl<'a> {
    /// The user name, password, host and port.
    pub login: Login<'a>,
    /// `true` if the URL ends with the slash.
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

/// Parses `telneturl`, after the `telnet://`.
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
