//! `host`, `hostport` and `login` (RFC 1738 sections 3.1 and 5).

use super::escape::{CharSet, run};
use super::reject::{Production, RejectKind, RejectPart, starts_bad_escape, unexpected};
use crate::byte_scan::prefix_len;

/// The alternative of `host` that a host matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostKind {
    /// `hostname`.
    Name,
    /// `hostnumber`: four groups of digits.
    Number,
}

/// A host as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Host<'a> {
    /// The text: only letters, digits, hyphens and dots.
    pub text: &'a [u8],
    /// The alternative that the text matches.
    pub kind: HostKind,
}

/// `hostport = host [ ":" port ]`, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostPort<'a> {
    /// The host.
    pub host: Host<'a>,
    /// The digits of the port: one or more, without an upper limit.
    pub port: Option<&'a [u8]>,
}

/// `login = [ user [ ":" password ] "@" ] hostport`, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Login<'a> {
    /// The user name; empty if the `@` is at the start (section 3.1).
    pub user: Option<&'a [u8]>,
    /// The password. Present only with a user name.
    pub password: Option<&'a [u8]>,
    /// The host and port.
    pub hostport: HostPort<'a>,
}

impl Host<'_> {
    /// Returns `true` if a group of a `hostnumber` is above 255.
    #[must_use]
    pub fn out_of_range(&self) -> bool {
        self.kind == HostKind::Number
            && self
                .text
                .split(|&b| b == b'.')
                .any(|group| number(group) > Some(255))
    }
}

impl HostPort<'_> {
    /// The port as a number; `None` if there is no port or it is above 65535.
    #[must_use]
    pub fn port_number(&self) -> Option<u16> {
        number(self.port?).and_then(|port| u16::try_from(port).ok())
    }
}

/// The value of decimal digits, at most `u32::MAX`; `None` if there are no digits.
fn number(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .map(|digit| u32::from(digit - b'0'))
        .reduce(|value, digit| value.saturating_mul(10).saturating_add(digit))
}

/// Parses `login = [ user [ ":" password ] "@" ] hostport`, up to a slash or the end of `input`.
///
/// # Errors
///
/// Without an `@`, the text may be the start of a user name, or a host and port. Returns the error
/// of the reading that gets further.
pub(super) fn login(input: &[u8]) -> Production<'_, Login<'_>> {
    let (user, rest) = run(CharSet::USER, input);
    let (password, rest) = match rest.strip_prefix(b":") {
        Some(rest) => {
            let (password, rest) = run(CharSet::USER, rest);
            (Some(password), rest)
        }
        None => (None, rest),
    };
    let Some(rest) = rest.strip_prefix(b"@") else {
        return login_without_user(input, rest);
    };
    let (hostport, rest) = hostport(rest)?;
    let login = Login {
        user: Some(user),
        password,
        hostport,
    };
    Ok((login, rest))
}

/// Parses a login without an `@`. `unread` is the rest of `input`, after the longest text that can
/// start a user name and password.
fn login_without_user<'a>(input: &'a [u8], unread: &'a [u8]) -> Production<'a, Login<'a>> {
    let host = hostport(input);
    let remaining = match &host {
        Ok((_, [] | [b'/', ..])) => None,
        Ok((_, rest)) => Some(rest.len()),
        Err(error) => Some(error.remaining()),
    };
    // A bad escape is not part of a host, so the other reading gets at least as far as its `%`.
    match remaining {
        Some(remaining) if unread.len() < remaining || starts_bad_escape(unread) => {
            Err(if unread.is_empty() {
                RejectKind::Missing.at(RejectPart::Login, unread)
            } else {
                unexpected(RejectPart::Login, unread)
            })
        }
        _ => host.map(|(hostport, rest)| {
            let login = Login {
                user: None,
                password: None,
                hostport,
            };
            (login, rest)
        }),
    }
}

/// Parses `hostport = host [ ":" port ]`.
pub(super) fn hostport(input: &[u8]) -> Production<'_, HostPort<'_>> {
    let (host, rest) = host(input)?;
    match rest.strip_prefix(b":") {
        None => Ok((HostPort { host, port: None }, rest)),
        Some(rest) => {
            let (digits, rest) = port(rest)?;
            let port = Some(digits);
            Ok((HostPort { host, port }, rest))
        }
    }
}

/// Parses `port = digits`, after the `:`.
///
/// The grammar allows any number of digits. A port above 65535 causes a warning.
///
/// # Errors
///
/// `Empty` if there is no digit: section 3.1 drops the colon together with the port.
fn port(input: &[u8]) -> Production<'_, &[u8]> {
    let (digits, rest) = digits(input);
    if digits.is_empty() {
        return Err(RejectKind::Empty.at(RejectPart::Port, rest));
    }
    Ok((digits, rest))
}

/// Splits `input` after its leading digits: `*digit`.
pub(super) fn digits(input: &[u8]) -> (&[u8], &[u8]) {
    let len = prefix_len(input, |&byte| CharSet::DIGIT.has(byte));
    input.split_at(len)
}

/// Parses `host = hostname | hostnumber`.
///
/// Both are labels separated by dots. The last label decides: in a `hostname` it starts with a
/// letter.
pub(super) fn host(input: &[u8]) -> Production<'_, Host<'_>> {
    let mut rest = input;
    let mut labels = 0;
    let mut all_digits = true;
    loop {
        let (label, after) = domainlabel(rest)?;
        labels += 1;
        all_digits &= label.iter().all(|&byte| CharSet::DIGIT.has(byte));
        if let Some(next) = after.strip_prefix(b".") {
            rest = next;
            continue;
        }
        let text = &input[..input.len() - after.len()];
        let kind = if CharSet::ALPHA.has(label[0]) {
            HostKind::Name
        } else if all_digits && labels == 4 {
            HostKind::Number
        } else {
            // Another label could follow here.
            return Err(RejectKind::BadLabel.at(RejectPart::Host, after));
        };
        return Ok((Host { text, kind }, after));
    }
}

/// Parses `domainlabel = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit`.
fn domainlabel(input: &[u8]) -> Production<'_, &[u8]> {
    let len = prefix_len(input, |&byte| CharSet::LABEL.has(byte));
    let (label, rest) = input.split_at(len);
    match label {
        [] => Err(RejectKind::Empty.at(RejectPart::Host, input)),
        [b'-', ..] => Err(RejectKind::BadLabel.at(RejectPart::Host, input)),
        [.., b'-'] => Err(RejectKind::BadLabel.at(RejectPart::Host, rest)),
        _ => Ok((label, rest)),
    }
}
