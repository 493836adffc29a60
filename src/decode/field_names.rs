//! The names of header fields that play a role for us, told by three letters before they are compared.

use std::sync::LazyLock;

/// What a field's name makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldRoles {
    /// It is a trace or threading field, which is not searched.
    pub is_trace: bool,
    /// It changes after a message was written, and is no part of what makes the message itself.
    pub is_changing: bool,
    /// Which of the fields it is that tell of the message or its body.
    pub known: Option<KnownField>,
}

impl FieldRoles {
    /// These and others.
    fn and(self, others: FieldRoles) -> FieldRoles {
        FieldRoles {
            is_trace: self.is_trace | others.is_trace,
            is_changing: self.is_changing | others.is_changing,
            known: self.known.or(others.known),
        }
    }
}

/// A field that tells of a message or its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownField {
    /// Message-ID
    MessageId,
    /// Date
    Date,
    /// From
    From,
    /// Subject
    Subject,
    /// Newsgroups
    Newsgroups,
    /// List-Id
    ListId,
    /// References
    References,
    /// In-Reply-To
    InReplyTo,
    /// Content-Type
    ContentType,
    /// Content-Transfer-Encoding
    ContentTransferEncoding,
}

/// The names of the known fields, in lower case and in the order of [`KnownField`].
pub(super) const KNOWN: [(KnownField, &str); 10] = [
    (KnownField::MessageId, "message-id"),
    (KnownField::Date, "date"),
    (KnownField::From, "from"),
    (KnownField::Subject, "subject"),
    (KnownField::Newsgroups, "newsgroups"),
    (KnownField::ListId, "list-id"),
    (KnownField::References, "references"),
    (KnownField::InReplyTo, "in-reply-to"),
    (KnownField::ContentType, "content-type"),
    (
        KnownField::ContentTransferEncoding,
        "content-transfer-encoding",
    ),
];

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

/// HeaderFields that servers and readers add, change and drop after a message was written. In lower case; a name that
/// ends in `*` stands for all that begin so.
const CHANGING: &[&str] = &[
    "status",
    "x-status",
    "x-uid",
    "x-imap*",
    "x-keywords",
    "x-mozilla-*",
    "lines",
    "content-length",
    "path",
    "xref",
];

/// The roles of the field whose name is the first `len` bytes of `text`, in any case.
pub(super) fn roles(text: &[u8], len: usize) -> FieldRoles {
    static NAMES: LazyLock<Names> = LazyLock::new(Names::new);
    NAMES.roles(text, len)
}

/// The names that play a role.
struct Names {
    /// Those that begin alike stand together, and few others with them.
    by_start: [Vec<Name>; BUCKETS],
}

struct Name {
    start: &'static [u8],
    /// Its letters, eight by eight.
    words: [Word; WORDS],
    is_whole: bool,
    roles: FieldRoles,
}

/// Eights of letters that a name has at most.
const WORDS: usize = 4;

/// Up to eight letters in lower case, and a mask of as many bytes.
#[derive(Clone, Copy)]
struct Word {
    letters: u64,
    mask: u64,
}

impl Word {
    fn of(name: &[u8]) -> Word {
        let mask = if name.len() < 8 {
            (1 << (8 * name.len())) - 1
        } else {
            u64::MAX
        };
        Word {
            letters: letters(name),
            mask,
        }
    }

    /// All of a name.
    fn all(name: &[u8]) -> [Word; WORDS] {
        assert!(name.len() <= 8 * WORDS, "a name of the tables");
        std::array::from_fn(|word| Word::of(name.get(8 * word..).unwrap_or_default()))
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

/// The bit by which small letters differ from large ones, in each byte. It is set in what else stands in names that play
/// a role, and what differs from that in this bit alone cannot stand in a name.
const LOWER: u64 = u64::MAX / 255 * 0x20;

/// So many that few names of the tables share one with names that begin otherwise.
const BUCKETS: usize = 256;

impl Names {
    fn new() -> Names {
        let mut by_start = [const { Vec::new() }; BUCKETS];
        let trace = TRACE.iter().map(|name| {
            (
                *name,
                FieldRoles {
                    is_trace: true,
                    ..FieldRoles::default()
                },
            )
        });
        let changing = CHANGING.iter().map(|name| {
            (
                *name,
                FieldRoles {
                    is_changing: true,
                    ..FieldRoles::default()
                },
            )
        });
        let known = KNOWN.iter().map(|(known, name)| {
            (
                *name,
                FieldRoles {
                    known: Some(*known),
                    ..FieldRoles::default()
                },
            )
        });
        for (name, roles) in trace.chain(changing).chain(known) {
            let start = name.trim_end_matches('*').as_bytes();
            let names: &mut Vec<Name> = &mut by_start[bucket(letters(start))];
            let is_whole = start.len() == name.len();
            assert!(
                start.strip_prefix(b"x-").unwrap_or(start).len() >= 3,
                "letters to look it up by"
            );
            match names
                .iter_mut()
                .find(|other| other.start == start && other.is_whole == is_whole)
            {
                Some(same) => same.roles = same.roles.and(roles),
                None => names.push(Name {
                    start,
                    words: Word::all(start),
                    is_whole,
                    roles,
                }),
            }
        }
        Names { by_start }
    }

    fn roles(&self, text: &[u8], len: usize) -> FieldRoles {
        let mut roles = FieldRoles::default();
        let first = letters(text);
        for known in &self.by_start[bucket(first)] {
            let start = known.start.len();
            // What stands behind the name is read as well, but a name as long as that is asked for.
            if known.words[0].begins(first)
                && (len == start || !known.is_whole && len > start)
                && (8..start)
                    .step_by(8)
                    .all(|at| known.words[at / 8].begins(letters(&text[at..])))
            {
                roles = roles.and(known.roles);
            }
        }
        roles
    }
}

/// Where a name is looked for that begins with these letters: by the first three, or by those behind `x-`. All names of
/// the tables have as many.
fn bucket(first: u64) -> usize {
    const X: u64 = u64::from_le_bytes(*b"x-\0\0\0\0\0\0");
    const SPREAD: u32 = 0x9E37_79B1;
    let start = if first & 0xFFFF == X {
        first >> 16
    } else {
        first
    };
    ((start as u32) << 8).wrapping_mul(SPREAD) as usize >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles_of(name: &[u8]) -> FieldRoles {
        roles(name, name.len())
    }

    #[test]
    fn trace_fields_are_told_by_name() {
        for name in [
            "RECEIVED",
            "ARC-Seal",
            "X-Spam-Level",
            "x-spam-",
            "Path",
            "X-UIDL",
        ] {
            assert!(roles_of(name.as_bytes()).is_trace, "{name}");
        }
        for name in [
            "",
            "x",
            "x-",
            "List-Archive",
            "Subject",
            "X-URL",
            "Receive",
            "X-Spam",
            "ARC",
            "0eceived",
        ] {
            assert!(!roles_of(name.as_bytes()).is_trace, "{name}");
        }
    }

    /// Names that differ from known ones in an byte, and those that do not but in case.
    #[test]
    fn a_name_is_known_by_all_its_octets() {
        for known in TRACE
            .iter()
            .chain(CHANGING)
            .map(|name| name.trim_end_matches('*').as_bytes())
        {
            let is_known = |name: &[u8]| {
                let alone = FieldRoles {
                    known: None,
                    ..roles_of(name)
                };
                let with_more = roles(&[name, b"-x: y"].concat(), name.len());
                assert_eq!(with_more, roles_of(name), "{}", name.escape_ascii());
                alone != FieldRoles::default()
            };
            assert!(is_known(known) && is_known(&known.to_ascii_uppercase()));
            for at in 0..known.len() {
                for byte in (b'!'..=b'~').filter(|byte| *byte != b':') {
                    let mut name = known.to_vec();
                    name[at] = byte;
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
    fn known_fields_are_told_by_name() {
        for (number, (known, name)) in KNOWN.iter().enumerate() {
            assert_eq!(*known as usize, number);
            for name in [name.to_string(), name.to_ascii_uppercase()] {
                assert_eq!(roles_of(name.as_bytes()).known, Some(*known));
            }
            assert_eq!(roles_of(&name.as_bytes()[1..]).known, None, "{name}");
            assert_eq!(
                roles_of(&name.as_bytes()[..name.len() - 1]).known,
                None,
                "{name}"
            );
        }
    }

    #[test]
    fn changing_fields_are_told_by_name() {
        for name in [
            "Status",
            "x-imap",
            "X-IMAPbase",
            "X-Mozilla-Keys",
            "LINES",
            "path",
        ] {
            assert!(roles_of(name.as_bytes()).is_changing, "{name}");
        }
        for name in ["Received", "X-UIDL", "X-Ima", "X-Mozilla", "Paths"] {
            assert!(!roles_of(name.as_bytes()).is_changing, "{name}");
        }
    }
}
