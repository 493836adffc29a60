//! `host`, `hostport` and `login` (RFC 1738 sections 3.1 and 5).

use super::chars::CharSet;
use super::escape::run;
use super::reject::{Production, ProductionError, RejectKind, RejectPart};

/// Which of the two forms of `host` it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostKind {
    /// `hostname`.
    Name,
    /// `hostnumber`: four groups of digits.
    Number,
}

/// A host, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Host<'a> {
    /// The host's text: letters, digits, hyphens and dots only.
    pub text: &'a [u8],
    /// Name or number.
    pub kind: HostKind,
}

/// `hostport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostPort<'a> {
    /// The host.
    pub host: Host<'a>,
    /// The port's digits, at least one; any number of them.
    pub port: Option<&'a [u8]>,
}

/// `login`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Login<'a> {
    /// The user name; `Some(b"")` when an `@` stands with nothing before it (section 3.1).
    pub user: Option<&'a [u8]>,
    /// The password; only where there is a user name.
    pub password: Option<&'a [u8]>,
    /// The host and port.
    pub hostport: HostPort<'a>,
}

impl Host<'_> {
    /// Whether a group of a `hostnumber` is above 255.
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
    /// The port as a number; `None` where there is none or it is above 65535.
    #[must_use]
    pub fn port_number(&self) -> Option<u16> {
        number(self.port?).and_then(|port| u16::try_from(port).ok())
    }
}

/// The value of decimal digits, `u32::MAX` where it is larger; `None` for no digits.
fn number(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0u32, |value, digit| {
            Some(
                value
                    .saturating_mul(10)
                    .saturating_add(u32::from(digit - b'0')),
            )
        })
        .filter(|_| !digits.is_empty())
}

/// `login = [ user [ ":" password ] "@" ] hostport`
pub(super) fn login(input: &[u8]) -> Production<'_, Login<'_>> {
    let (user, rest) = run(CharSet::USER, input);
    let (user, password, rest) = match rest.first() {
        Some(b'@') => (Some(user), None, &rest[1..]),
        Some(b':') => match password_at(&rest[1..]) {
            Some((password, rest)) => (Some(user), Some(password), rest),
            None => (None, None, input),
        },
        _ => (None, None, input),
    };
    let (hostport, rest) = hostport(rest)?;
    Ok((
        Login {
            user,
            password,
            hostport,
        },
        rest,
    ))
}

/// `password "@"`, or nothing: without its `@` the colon belonged to a port.
fn password_at(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (password, rest) = run(CharSet::USER, input);
    Some((password, rest.strip_prefix(b"@")?))
}

/// `hostport = host [ ":" port ]`
pub(super) fn hostport(input: &[u8]) -> Production<'_, HostPort<'_>> {
    let (host, rest) = host(input)?;
    match rest.strip_prefix(b":") {
        None => Ok((HostPort { host, port: None }, rest)),
        Some(rest) => {
            let (digits, rest) = port(rest)?;
            Ok((
                HostPort {
                    host,
                    port: Some(digits),
                },
                rest,
            ))
        }
    }
}

/// `port = digits`. The `:` has been read.
///
/// By the grammar any number of digits is a port; one above 65535 becomes a warning.
///
/// # Errors
///
/// `Empty` when no digit follows: section 3.1 drops the colon together with the port.
fn port(input: &[u8]) -> Production<'_, &[u8]> {
    let (digits, rest) = digits(input);
    if digits.is_empty() {
        return Err(ProductionError::new(
            RejectKind::Empty,
            RejectPart::Port,
            rest,
        ));
    }
    Ok((digits, rest))
}

/// `*digit`
pub(super) fn digits(input: &[u8]) -> (&[u8], &[u8]) {
    let len = input
        .iter()
        .take_while(|&&byte| CharSet::DIGIT.has(byte))
        .count();
    input.split_at(len)
}

/// `host = hostname | hostnumber`
///
/// Both are labels between dots; the last label tells which it is.
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
        return if CharSet::ALPHA.has(label[0]) {
            Ok((
                Host {
                    text,
                    kind: HostKind::Name,
                },
                after,
            ))
        } else if all_digits && labels == 4 {
            Ok((
                Host {
                    text,
                    kind: HostKind::Number,
                },
                after,
            ))
        } else {
            Err(ProductionError::new(
                RejectKind::BadLabel,
                RejectPart::Host,
                rest,
            ))
        };
    }
}

/// `domainlabel = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit`
fn domainlabel(input: &[u8]) -> Production<'_, &[u8]> {
    let len = input
        .iter()
        .take_while(|&&byte| CharSet::LABEL.has(byte))
        .count();
    let (label, rest) = input.split_at(len);
    match label {
        [] => Err(ProductionError::new(
            RejectKind::Empty,
            RejectPart::Host,
            input,
        )),
        [b'-', ..] => Err(ProductionError::new(
            RejectKind::BadLabel,
            RejectPart::Host,
            input,
        )),
        [.., b'-'] => Err(ProductionError::new(
            RejectKind::BadLabel,
            RejectPart::Host,
            rest,
        )),
        _ => Ok((label, rest)),
    }
}

impl HostPort<'_> {
    /// Appends it as it was written.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.host.text);
        if let Some(port) = self.port {
            out.push(b':');
            out.extend(port);
        }
    }
}

impl Login<'_> {
    /// Appends it as it was written.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if let Some(user) = self.user {
            out.extend(user);
            if let Some(password) = self.password {
                out.push(b':');
                out.extend(password);
            }
            out.push(b'@');
        }
        self.hostport.write(out);
    }
}
