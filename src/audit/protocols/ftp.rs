//! FTP (RFC 959): anonymous login, and a question for a file (`SIZE`, `MDTM`, RFC 3659) or a folder
//! (`CWD`). Nothing is transferred, so no second connection is made.
//!
//! Own lines: the maintained client crates parse listings with regular expressions and times, which
//! are ten crates for four commands.

use std::net::TcpStream;

use super::Outcome;
use super::stream::BoundStream;
use crate::audit::state::{CheckFailure, LinkState};

/// A reply: its code and its last line.
struct Reply {
    code: u16,
    text: String,
}

impl Reply {
    fn is_done(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// `true` if the server does not know the command.
    fn is_unknown_command(&self) -> bool {
        matches!(self.code, 500..=504)
    }
}

/// Asks for a path. `contact` is the password.
pub(super) fn ask(stream: TcpStream, path: &[u8], contact: &str) -> Result<Outcome, CheckFailure> {
    let mut server = BoundStream::new(stream);
    let mut welcome = reply(&mut server)?;
    while (100..200).contains(&welcome.code) {
        welcome = reply(&mut server)?;
    }
    if !welcome.is_done() {
        return Ok(Outcome::replied(LinkState::Unknown, &welcome.text));
    }
    let mut login = command(&mut server, b"USER anonymous")?;
    if login.code == 331 {
        login = command(&mut server, format!("PASS {contact}").as_bytes())?;
    }
    if !login.is_done() {
        return Ok(Outcome::replied(LinkState::Unknown, &login.text));
    }
    let outcome = found(&mut server, path, &login)?;
    // The answer does not matter.
    let _ = server.write_line(b"QUIT");
    Ok(outcome)
}

fn found(server: &mut BoundStream, path: &[u8], login: &Reply) -> Result<Outcome, CheckFailure> {
    let path = path_of(path);
    if path.is_empty() {
        return Ok(Outcome::replied(LinkState::Alive, &login.text));
    }
    // Without it some servers refuse `SIZE`.
    command(server, b"TYPE I")?;
    let size = command(server, &[b"SIZE ", path].concat())?;
    if size.is_done() {
        return Ok(Outcome::replied(LinkState::Alive, &size.text));
    }
    let folder = command(server, &[b"CWD ", path].concat())?;
    if folder.is_done() {
        return Ok(Outcome::replied(LinkState::Alive, &folder.text));
    }
    let mut file = size;
    if file.is_unknown_command() {
        file = command(server, &[b"MDTM ", path].concat())?;
        if file.is_done() {
            return Ok(Outcome::replied(LinkState::Alive, &file.text));
        }
    }
    // 550: no such file, no access, or no plain file; the folder is none either.
    let is_gone = file.code == 550 && folder.code == 550;
    let state = if is_gone {
        LinkState::DeadPage
    } else {
        LinkState::Unknown
    };
    Ok(Outcome::replied(state, &file.text))
}

/// Returns the path after the first `/`, from which the login starts (RFC 1738, section 3.2.2),
/// without `;type=`.
fn path_of(path: &[u8]) -> &[u8] {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let end = memchr::memmem::rfind(path, b";type=");
    &path[..end.unwrap_or(path.len())]
}

fn command(server: &mut BoundStream, line: &[u8]) -> Result<Reply, CheckFailure> {
    server.write_line(line)?;
    reply(server)
}

/// Reads a reply, which may have several lines: the first one begins with `NNN-`, the last one with
/// `NNN ` (RFC 959, section 4.2).
fn reply(server: &mut BoundStream) -> Result<Reply, CheckFailure> {
    let mut first = None;
    while let Some(line) = server.read_line()? {
        let text = String::from_utf8_lossy(&line).into_owned();
        let code: Option<u16> = text.get(..3).and_then(|code| code.parse().ok());
        let is_open = text.as_bytes().get(3) == Some(&b'-');
        match (first, code) {
            (None, None) => return Err(CheckFailure::Other),
            (None, Some(code)) if is_open => first = Some(code),
            (None, Some(code)) => return Ok(Reply { code, text }),
            (Some(first), Some(code)) if first == code && !is_open => {
                return Ok(Reply { code, text });
            }
            (Some(_), _) => {}
        }
    }
    Err(CheckFailure::Other)
}
