//! Names of header fields with a role, looked up by their first three letters.

use std::sync::LazyLock;

use urlspool_text::byte_scan::{CaselessPrefix, first_letters, first_lowercase};

/// Roles of a header field, which depend on its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldRoles {
    /// `true` for a trace or threading field, which is not searched for URLs.
    pub is_trace: bool,
    /// `true` for a field that programs add or change in a stored message. It is not part of the
    /// message's identity.
    pub is_changing: bool,
    /// Known field that describes the message or its body.
    pub known: Option<KnownField>,
}

impl FieldRoles {
    /// Combines two sets of roles.
    fn and(self, others: FieldRoles) -> FieldRoles {
        FieldRoles {
            is_trace: self.is_trace | others.is_trace,
            is_changing: self.is_changing | others.is_changing,
            known: self.known.or(others.known),
        }
    }
}

urlspool_text::named_enum! {
    /// Known header field that describes the message or its body, with its name in lower case.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum KnownField {
        /// Message-ID
        MessageId = "message-id",
        /// Date
        Date = "date",
        /// From
        From = "from",
        /// Subject
        Subject = "subject",
        /// Newsgroups
        Newsgroups = "newsgroups",
        /// List-Id
        ListId = "list-id",
        /// References
        References = "references",
        /// In-Reply-To
        InReplyTo = "in-reply-to",
        /// Content-Type
        ContentType = "content-type",
        /// Content-Transfer-Encoding
        ContentTransferEncoding = "content-transfer-encoding",
    }
}

/// Trace and threading fields, separated by blanks. They hold addresses of hosts and messages, but
/// no URLs written by a person. The names are in lower case; a name that ends in `*` is a prefix.
const TRACE: &[&str] = &[
    // Delivery, and the envelope.
    "received x-received original-received path return-path delivered-to x-delivered-to \
        x-original-to x-envelope-* x-originating-ip",
    // Identity and threads.
    "message-id in-reply-to references supersedes x-message-id resent-message-id \
        thread-index date resent-date x-sender",
    // Form of the body.
    "mime-version content-type content-id content-transfer-encoding content-length lines",
    // Signatures, spam filters and virus filters.
    "dkim-* domainkey-* arc-* autocrypt authentication-results received-spf x-sieve \
        x-spam-* x-spamd-* x-rspamd-* x-virus-* x-amavis-* x-mimedefang-* x-ironport-* \
        x-proofpoint-* x-tmdn-*",
    // Large providers.
    "x-google-* x-gm-* x-ms-* x-microsoft-* x-forefront-* x-exchange-* x-hdr-*",
    // State in a mailbox.
    "status x-status x-keywords x-uid x-uidl x-imap* x-mozilla-status* x-mozilla-keys \
        x-mozilla-draft-info x-gnus-article-number x-gnus-mail-source x-gnus-newsgroup",
    // News servers.
    "xref x-trace nntp-posting-* cancel-lock injection-info injection-date",
    // Mailing lists, and pictures of the author.
    "x-mailman-* x-beenthere x-topics x-patchwork-* face x-face",
];

/// Fields that programs add to a stored message, change and remove, each row with these programs
/// and the source. The names are in lower case and separated by blanks; a name that ends in `*` is
/// a prefix.
///
/// Fields written once at delivery are not listed: `Received`, `Return-Path`, `Delivered-To`,
/// `X-Original-To`, and filter results (`X-Spam-*`). They do not change while the message is
/// stored, and distinguish two deliveries of one message.
const CHANGING: &[&str] = &[
    // c-client (UW-IMAP, Pine), Dovecot, mutt, mailx: flags (Dovecot's documentation, "mbox mailbox
    // format").
    "status x-status",
    // c-client, Dovecot, offlineimap, Thunderbird: keywords (same source).
    "x-keywords",
    // c-client, Dovecot, mailutils, KMail: number in the mailbox (same source).
    "x-uid",
    // c-client, Dovecot, mailutils: X-IMAP and X-IMAPbase, mailbox numbers in the first message
    // (same source).
    "x-imap*",
    // qpopper, Netscape, Thunderbird, Dovecot with `pop3_reuse_xuidl`: name of the message for POP3
    // (Thunderbird's nsMsgLocalFolderHdrs.h; Dovecot as above).
    "x-uidl",
    // System V mail, mutt, Dovecot, Thunderbird: length of the body in an mbox (mutt's mbox.c;
    // Dovecot as above).
    "content-length",
    // mutt: length of the body in lines (copy.c). News servers: same (RFC 1036 section 2.2.12).
    "lines",
    // mutt, neomutt: labels (the manual, `edit-label`).
    "x-label",
    // nmh with `-annotate`: repl, forw and dist (anno(1), repl(1), forw(1), dist(1)).
    "replied forwarded resent",
    // Netscape, Thunderbird: flags, tags, and the state of attachments (nsMsgLocalFolderHdrs.h).
    "x-mozilla-*",
    // Thunderbird: account that the message was fetched from (nsPop3Sink.cpp).
    "x-account-key",
    // Evolution: X-Evolution, flags and number; X-Evolution-Source, account (camel-mbox-summary.c,
    // camel-mime-message.c).
    "x-evolution*",
    // KMail: states of encryption and receipts, and length (kmfolder*.cpp).
    "x-kmail-* x-length",
    // Gnus: article numbers, groups, origin of a message, and its `From ` line (nnfolder.el,
    // nnmail.el, nnml.el).
    "x-gnus-* x-from-line gnus-warning",
    // VM for Emacs: flags, labels, and state of the folder (vm-vars.el).
    "x-vm-*",
    // Rmail since Emacs 23: flags and labels (rmail.el).
    "x-rmail-*",
    // isync's mbsync: name used to find a copy on the server (sync.c), different for each copy.
    "x-tuid",
    // offlineimap: same use (folder/IMAP.py).
    "x-offlineimap",
    // Google Takeout: labels and thread at the time of the export (its page on mail).
    "x-gmail-labels x-gm-thrid",
    // News servers: servers passed (RFC 1036 section 2.1.6), numbers on this server (2.2.13).
    "path xref",
    // B News: the last link, and the time of arrival at this server (RFC 850 sections 2.1 and 2.2).
    "relay-version date-received",
];

/// Returns the roles of the field whose name is the first `len` bytes of `text`. Case does not
/// matter.
pub(super) fn field_roles(text: &[u8], len: usize) -> FieldRoles {
    static NAMES: LazyLock<[Vec<FieldNameEntry>; BUCKETS]> = LazyLock::new(field_name_table);
    let first = first_lowercase(text);
    NAMES[bucket(first_letters(text))]
        .iter()
        .filter(|entry| {
            let is_long_enough =
                len == entry.name.len() || entry.is_prefix && len > entry.name.len();
            is_long_enough && entry.caseless.begins(&first)
        })
        .fold(FieldRoles::default(), |roles, entry| roles.and(entry.roles))
}

struct FieldNameEntry {
    /// Name in lower case, or prefix.
    name: &'static [u8],
    caseless: CaselessPrefix,
    is_prefix: bool,
    roles: FieldRoles,
}

/// Number of buckets. With this many, few listed names share a bucket with names that start
/// differently.
const BUCKETS: usize = 256;

/// Returns the names and prefixes with a role, by their first three letters.
fn field_name_table() -> [Vec<FieldNameEntry>; BUCKETS] {
    let mut table = [const { Vec::new() }; BUCKETS];
    let (mut trace, mut changing) = (FieldRoles::default(), FieldRoles::default());
    (trace.is_trace, changing.is_changing) = (true, true);
    for (lists, roles) in [(TRACE, trace), (CHANGING, changing)] {
        for name in lists.iter().flat_map(|names| names.split(' ')) {
            add_role(&mut table, name, roles);
        }
    }
    for field in KnownField::ALL {
        let mut roles = FieldRoles::default();
        roles.known = Some(field);
        add_role(&mut table, field.name(), roles);
    }
    table
}

/// Adds roles to a name, or to a prefix marked with `*`.
fn add_role(table: &mut [Vec<FieldNameEntry>; BUCKETS], marked: &'static str, roles: FieldRoles) {
    let name = marked.trim_end_matches('*').as_bytes();
    let is_prefix = name.len() < marked.len();
    assert!(
        name.strip_prefix(b"x-").unwrap_or(name).len() >= 3,
        "the bucket depends on three letters"
    );
    let entries = &mut table[bucket(first_letters(name))];
    match entries
        .iter_mut()
        .find(|entry| entry.name == name && entry.is_prefix == is_prefix)
    {
        Some(entry) => entry.roles = entry.roles.and(roles),
        None => entries.push(FieldNameEntry {
            name,
            caseless: CaselessPrefix::new(name),
            is_prefix,
            roles,
        }),
    }
}

/// Returns the bucket of a name: a hash of the first three letters, or of the three letters after
/// `x-`. Every name in the table is long enough.
fn bucket(first_letters: u64) -> usize {
    const X: u64 = u64::from_le_bytes(*b"x-\0\0\0\0\0\0");
    /// 2^32 divided by the golden ratio (Fibonacci hashing).
    const MULTIPLIER: u32 = 0x9E37_79B1;
    let letters = if first_letters & 0xFFFF == X {
        first_letters >> 16
    } else {
        first_letters
    };
    ((letters as u32) << 8).wrapping_mul(MULTIPLIER) as usize >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles_of(name: &[u8]) -> FieldRoles {
        field_roles(name, name.len())
    }

    #[test]
    fn trace_fields_are_known_by_name() {
        for name in "RECEIVED ARC-Seal X-Spam-Level x-spam- X-Spamd-Result X-Rspamd-Server \
            Path X-UIDL X-Gnus-Newsgroup"
            .split(' ')
        {
            assert!(roles_of(name.as_bytes()).is_trace, "{name}");
        }
        for name in " x x- List-Archive Subject X-URL X-Gnus-GitHub Receive X-Spam ARC \
            0eceived"
            .split(' ')
        {
            assert!(!roles_of(name.as_bytes()).is_trace, "{name}");
        }
    }

    /// Tests names that differ from known names in one byte, and names that differ only in case.
    #[test]
    fn every_byte_of_a_name_counts() {
        let names = || {
            TRACE
                .iter()
                .chain(CHANGING)
                .flat_map(|names| names.split(' '))
        };
        for known in names().map(|name| name.trim_end_matches('*').as_bytes()) {
            let is_known = |name: &[u8]| {
                let alone = FieldRoles {
                    known: None,
                    ..roles_of(name)
                };
                let with_more = field_roles(&[name, b"-x: y"].concat(), name.len());
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
                    let expected = names().any(same);
                    assert_eq!(is_known(&name), expected, "{}", name.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn known_fields_are_known_by_name() {
        for known in KnownField::ALL {
            let name = known.name().as_bytes();
            for name in [name, &name.to_ascii_uppercase()] {
                assert_eq!(roles_of(name).known, Some(known));
            }
            for part in [&name[1..], &name[..name.len() - 1]] {
                assert_eq!(roles_of(part).known, None, "{known:?}");
            }
        }
    }

    #[test]
    fn changing_fields_are_known_by_name() {
        for name in "Status x-imap X-IMAPbase X-Mozilla-Keys LINES path X-UIDL replied \
            X-Evolution X-Evolution-Source X-KMail-MDN-Sent X-VM-v5-Data"
            .split(' ')
        {
            assert!(roles_of(name.as_bytes()).is_changing, "{name}");
        }
        for name in "Received Delivered-To Return-Path X-UIDS X-Ima X-Mozilla Paths \
            Resent-To X-KMail"
            .split(' ')
        {
            assert!(!roles_of(name.as_bytes()).is_changing, "{name}");
        }
    }
}
