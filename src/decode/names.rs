//! The names of header fields that play a role for us, told by a letter before they are compared.

use std::sync::LazyLock;

/// What a field's name makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// It is a trace or threading field, which is not searched.
    pub is_trace: bool,
    /// It changes after a message was written, and is no part of what makes the message itself.
    pub is_changing: bool,
}

/// The trace and threading fields, which hold addresses of machines and messages but no URLs that anyone wrote.
/// In lower case; a name that ends in `*` stands for all that begin so.
const TRACE: &[&str] = &[
    "received",
    "return-path",
    "message-id",
    "in-reply-to",
    "references",
    "dkim-*",
    "domainkey-*",
    "arc-*",
    "authentication-results",
    "received-spf",
    "x-spam-*",
    "x-google-*",
    "x-gm-*",
    "x-received",
    "x-ms-*",
    "x-microsoft-*",
    "x-forefront-*",
    "x-exchange-*",
    "x-originating-ip",
    "x-virus-*",
    "x-amavis-*",
    "x-mimedefang-*",
    "delivered-to",
    "x-delivered-to",
    "x-original-to",
    "x-envelope-*",
    "x-sieve",
    "x-uid",
    "x-uidl",
    "x-imap*",
    "x-keywords",
    "x-status",
    "status",
    "x-mozilla-status*",
    "x-mozilla-keys",
    "x-mozilla-draft-info",
    "path",
    "xref",
    "x-trace",
    "nntp-posting-*",
    "lines",
    "content-length",
    "content-type",
    "content-transfer-encoding",
    "content-id",
    "mime-version",
    "date",
    "resent-message-id",
    "resent-date",
    "x-message-id",
    "x-mailman-*",
    "x-beenthere",
    "x-topics",
    "x-patchwork-*",
    "cancel-lock",
    "injection-info",
    "injection-date",
    "x-ironport-*",
    "x-proofpoint-*",
    "x-tmdn-*",
    "autocrypt",
    "face",
    "x-face",
    "thread-index",
    "original-received",
    "x-hdr-*",
    "x-gnus-*",
    "x-sender",
    "supersedes",
];

/// Fields that servers and readers add, change and drop after a message was written. In lower case; a name that
/// ends in `*` stands for all that begin so.
const CHANGING: &[&str] =
    &["status", "x-status", "x-uid", "x-imap*", "x-keywords", "x-mozilla-*", "lines", "content-length", "path", "xref"];

/// The roles of the field whose name is the first `len` octets of `text`, in any case.
pub(super) fn roles(text: &[u8], len: usize) -> Roles {
    static NAMES: LazyLock<Names> = LazyLock::new(Names::new);
    NAMES.roles(text, len)
}

/// The names that play a role.
struct Names {
    /// Those that begin with each letter, and behind them those that go on so behind `x-`.
    by_letter: [Vec<Name>; 2 * LETTERS],
}

struct Name {
    start: &'static [u8],
    /// Its first letters.
    word: Word,
    is_whole: bool,
    roles: Roles,
}

/// Up to eight letters in lower case, and a mask of as many octets.
#[derive(Clone, Copy)]
struct Word {
    letters: u64,
    mask: u64,
}

impl Word {
    fn of(name: &[u8]) -> Word {
        let mask = if name.len() < 8 { (1 << (8 * name.len())) - 1 } else { u64::MAX };
        Word { letters: letters(name), mask }
    }

    /// Whether `letters` begin with these.
    fn begins(self, letters: u64) -> bool {
        (letters ^ self.letters) & self.mask == 0
    }
}

/// The first eight letters of a text in lower case, or all that it has.
fn letters(text: &[u8]) -> u64 {
    let first = text.first_chunk::<8>().copied().unwrap_or_else(|| {
        let mut first = [0; 8];
        first[..text.len()].copy_from_slice(text);
        first
    });
    u64::from_le_bytes(first) | LOWER
}

/// The bit by which small letters differ from large ones, in each octet. It is set in what else stands in names that play
/// a role, and what differs from that in this bit alone cannot stand in a name.
const LOWER: u64 = u64::MAX / 255 * 0x20;

/// What five bits of a letter can be, in either case.
const LETTERS: usize = 32;

impl Names {
    fn new() -> Names {
        let mut by_letter = [const { Vec::new() }; 2 * LETTERS];
        let trace = Roles { is_trace: true, is_changing: false };
        let changing = Roles { is_trace: false, is_changing: true };
        for (names, roles) in [(TRACE, trace), (CHANGING, changing)] {
            for name in names {
                let start = name.trim_end_matches('*');
                let is_whole = start.len() == name.len();
                let (start, word) = (start.as_bytes(), Word::of(start.as_bytes()));
                by_letter[bucket(start)].push(Name { start, word, is_whole, roles });
            }
        }
        Names { by_letter }
    }

    fn roles(&self, text: &[u8], len: usize) -> Roles {
        let mut roles = Roles::default();
        let letters = letters(text);
        for known in &self.by_letter[bucket(&text[..len])] {
            let start = known.start.len();
            // What stands behind the name is read as well, but a name as long as that is asked for.
            if known.word.begins(letters)
                && (len == start || !known.is_whole && len > start)
                && text[start.min(8)..start].eq_ignore_ascii_case(&known.start[start.min(8)..])
            {
                roles.is_trace |= known.roles.is_trace;
                roles.is_changing |= known.roles.is_changing;
            }
        }
        roles
    }
}

/// Where a name is looked for: by its first letter, or by the one behind `x-`. Names that begin alike go together.
fn bucket(name: &[u8]) -> usize {
    let letter = |at: usize| name.get(at).map_or(0, |byte| usize::from(byte & 0x1F));
    match name {
        [b'x' | b'X', b'-', ..] => LETTERS + letter(2),
        _ => letter(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles_of(name: &[u8]) -> Roles {
        roles(name, name.len())
    }

    #[test]
    fn trace_fields_are_told_by_name() {
        for name in ["RECEIVED", "ARC-Seal", "X-Spam-Level", "x-spam-", "Path", "X-UIDL"] {
            assert!(roles_of(name.as_bytes()).is_trace, "{name}");
        }
        for name in ["", "x", "x-", "List-Archive", "Subject", "X-URL", "Receive", "X-Spam", "ARC", "0eceived"] {
            assert!(!roles_of(name.as_bytes()).is_trace, "{name}");
        }
    }

    /// Names that differ from known ones in an octet, and those that do not but in case.
    #[test]
    fn a_name_is_known_by_all_its_octets() {
        for known in TRACE.iter().chain(CHANGING).map(|name| name.trim_end_matches('*').as_bytes()) {
            let is_known = |name: &[u8]| {
                let alone = roles_of(name);
                assert_eq!(roles(&[name, b"-x: y"].concat(), name.len()), alone, "{}", name.escape_ascii());
                alone != Roles::default()
            };
            assert!(is_known(known) && is_known(&known.to_ascii_uppercase()));
            for at in 0..known.len() {
                for octet in (b'!'..=b'~').filter(|octet| *octet != b':') {
                    let mut name = known.to_vec();
                    name[at] = octet;
                    let same = |other: &str| {
                        let start = other.trim_end_matches('*');
                        let start = start.as_bytes();
                        name.len() >= start.len()
                            && name[..start.len()].eq_ignore_ascii_case(start)
                            && (name.len() == start.len() || other.ends_with('*'))
                    };
                    let expected = TRACE.iter().chain(CHANGING).any(|other| same(other));
                    assert_eq!(is_known(&name), expected, "{}", name.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn changing_fields_are_told_by_name() {
        for name in ["Status", "x-imap", "X-IMAPbase", "X-Mozilla-Keys", "LINES", "path"] {
            assert!(roles_of(name.as_bytes()).is_changing, "{name}");
        }
        for name in ["Received", "X-UIDL", "X-Ima", "X-Mozilla", "Paths"] {
            assert!(!roles_of(name.as_bytes()).is_changing, "{name}");
        }
    }
}
