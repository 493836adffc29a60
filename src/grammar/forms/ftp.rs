//! `ftpurl` (RFC 1738 section 3.2).

use super::super::chars::CharSet;
use super::super::escape::{decode, run};
use super::super::host::{Login, login};
use super::super::reject::{Production, ProductionError, RejectKind, RejectPart, end};
use super::{after_host, segments};

/// `ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpUrl<'a> {
    /// The user name, password, host and port.
    pub login: Login<'a>,
    /// The path; `None` without the slash after the host. A slash alone gives an empty path.
    pub path: Option<FtpPath<'a>>,
}

/// `fpath [ ";type=" ftptype ]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtpPath<'a> {
    /// `fpath`
    pub fpath: &'a [u8],
    /// `ftptype`: one of the letters `AIDaid`, as written.
    pub typecode: Option<u8>,
}

/// A command of the FTP session that section 3.2.2 describes, with its decoded argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpCommand {
    /// `USER`, `PASS`, `CWD`, `TYPE`, `RETR` or `NLST`.
    pub verb: &'static str,
    /// The argument's bytes.
    pub argument: Vec<u8>,
}

impl<'a> FtpPath<'a> {
    /// All segments except the last: the directories to change into, in order.
    pub fn cwd(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut all = segments(self.fpath);
        all.next_back();
        all
    }

    /// The last segment: the name of a file or directory.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        segments(self.fpath).next_back().unwrap_or_default()
    }
}

impl FtpUrl<'_> {
    /// The FTP commands of section 3.2.2, in order.
    ///
    /// There is no `USER` if the URL has no user name: the client supplies "anonymous" (section 3.2.1).
    #[must_use]
    pub fn commands(&self) -> Vec<FtpCommand> {
        let mut commands = Vec::new();
        let mut push = |verb, argument: &[u8]| {
            commands.push(FtpCommand {
                verb,
                argument: decode(argument),
            })
        };
        if let Some(user) = self.login.user {
            push("USER", user);
        }
        if let Some(password) = self.login.password {
            push("PASS", password);
        }
        let Some(path) = self.path else {
            return commands;
        };
        for directory in path.cwd() {
            push("CWD", directory);
        }
        match path.typecode.map(|code| code.to_ascii_uppercase()) {
            Some(b'D') => push("NLST", path.name()),
            Some(code) => {
                push("TYPE", &[code]);
                push("RETR", path.name());
            }
            None => push("RETR", path.name()),
        }
        commands
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.login.write(out);
        if let Some(path) = self.path {
            out.push(b'/');
            out.extend(path.fpath);
            if let Some(code) = path.typecode {
                out.extend(b";type=");
                out.push(code);
            }
        }
    }
}

/// Parses `ftpurl`, after the `ftp://`.
pub(super) fn ftpurl(input: &[u8]) -> Result<FtpUrl<'_>, ProductionError> {
    let (login, rest) = login(input)?;
    if rest.is_empty() {
        return Ok(FtpUrl { login, path: None });
    }
    let rest = rest
        .strip_prefix(b"/")
        .ok_or_else(|| after_host(RejectPart::Path, rest))?;
    let (fpath, rest) = fpath(rest);
    if rest.first() != Some(&b';') {
        return end(
            FtpUrl {
                login,
                path: Some(FtpPath {
                    fpath,
                    typecode: None,
                }),
            },
            RejectPart::Path,
            rest,
        );
    }
    let (code, rest) = typecode(rest)?;
    end(
        FtpUrl {
            login,
            path: Some(FtpPath {
                fpath,
                typecode: Some(code),
            }),
        },
        RejectPart::Typecode,
        rest,
    )
}

/// Parses `fpath = fsegment *[ "/" fsegment ]`; `fsegment = *[ uchar | "?" | ":" | "@" | "&" | "=" ]`.
pub(super) fn fpath(input: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = run(CharSet::FSEGMENT, input).1;
    while let Some(next) = rest.strip_prefix(b"/") {
        rest = run(CharSet::FSEGMENT, next).1;
    }
    input.split_at(input.len() - rest.len())
}

/// Parses `";type=" ftptype`. The literal is lower-case: only schemes are case-insensitive (section 2.1).
fn typecode(input: &[u8]) -> Production<'_, u8> {
    const LITERAL: &[u8] = b";type=";
    let matching = input
        .iter()
        .zip(LITERAL)
        .take_while(|(have, want)| have == want)
        .count();
    let rest = &input[matching..];
    if matching < LITERAL.len() {
        return Err(ProductionError::new(
            RejectKind::Missing,
            RejectPart::Typecode,
            rest,
        ));
    }
    match rest.split_first() {
        Some((&code @ (b'A' | b'I' | b'D' | b'a' | b'i' | b'd'), rest)) => Ok((code, rest)),
        Some(_) => Err(ProductionError::new(
            RejectKind::Unexpected,
            RejectPart::Typecode,
            rest,
        )),
        None => Err(ProductionError::new(
            RejectKind::Empty,
            RejectPart::Typecode,
            rest,
        )),
    }
}
