//! A record read back from its line of JSON.

use serde::Deserialize;

/// A record as a value of its own. The fields are those of the wire format (`urlspool schema`) that most programs use;
/// [`serde_json`] reads the others from the line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OwnedRecord {
    /// 32 hex digits that name the URL in its message, the same on every run and machine.
    pub id: String,
    /// The URL without its fragment, as its author meant it.
    pub url: String,
    /// The fragment without its `#`.
    pub fragment: Option<String>,
    /// The scheme in lower case.
    pub scheme: String,
    /// The host in lower case, non-ASCII names as A-labels; `None` without an authority.
    pub host: Option<String>,
    /// The registrable domain by the public suffix list.
    pub domain: Option<String>,
    /// The port, or the scheme's default port.
    pub port: Option<u16>,
    /// The path from its first slash; `None` without an authority.
    pub path: Option<String>,
    /// The text after the first `?`; `None` without an authority.
    pub query: Option<String>,
    /// The form for comparing (RFC 1738 sections 2.1 and 2.2); `None` if the URL is truncated.
    pub key: Option<String>,
    /// The address that a browser would fetch.
    pub href: Option<String>,
    /// The names of the grammars that accept the URL.
    pub conforms: Vec<String>,
    /// The names of the hazards.
    pub hazards: Vec<String>,
    /// The parts of the URL: RFC 1738's where it accepts the URL, else those of the accepting grammar.
    pub parts: Vec<OwnedPart>,
    /// The wrapper around the URL.
    pub wrapper: String,
    /// The text from the URL's first to its last character, before repair.
    pub raw: String,
    /// The names of the repairs that were made.
    pub repairs: Vec<String>,
    /// The probability that this reading is right, from 0 to 1.
    pub confidence: f32,
    /// The place in the message: `header:NAME`, `body`, `html:a.href` and so on.
    pub region: String,
    /// The text of the link.
    pub anchor: Option<String>,
    /// `true` if the text of the link names another host; `None` if the URL is no attribute.
    pub mismatch: Option<bool>,
    /// The bytes that hold the URL.
    pub source: OwnedSource,
    /// The message that holds the URL.
    pub message: OwnedMessage,
}

/// A part of a URL, with its name by RFC 1738.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OwnedPart {
    /// The name. A list has one part of this name for each item.
    pub name: String,
    /// The text, as written.
    pub value: String,
}

/// The bytes that hold a URL, in a file or in a member of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OwnedSource {
    /// The path as it was given and walked. Bytes that are not UTF-8 are U+FFFD here; `path_b64` has them.
    pub path: String,
    /// The path's bytes in base64, if they are not UTF-8.
    pub path_b64: Option<String>,
    /// The mailbox: the path without suffixes of rotation and compression, or the folder of a Maildir or newsgroup.
    pub mailbox: String,
    /// The names of the members, from the outermost archive inwards. `None` if the file is no archive.
    pub member: Option<Vec<String>>,
    /// The kind of source: `mbox`, `maildir`, `news` and so on.
    pub kind: String,
    /// The offset of the first byte, in the decompressed file or member.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The line within the message, from 1.
    pub line: u64,
    /// `true` if `start` and `end` are exact to the byte.
    pub exact: bool,
}

/// The message that holds a URL. Fields are `None` if the message lacks them, or has no header.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OwnedMessage {
    /// The offset of the message's first byte, its `From ` line included.
    pub start: u64,
    /// The offset after its last byte.
    pub end: u64,
    /// The Message-ID with its brackets.
    pub id: Option<String>,
    /// 32 hex digits that are the same for every copy of the message.
    pub digest: String,
    /// The date in UTC (RFC 3339).
    pub date: Option<String>,
    /// The From field.
    pub from: Option<String>,
    /// The Subject field.
    pub subject: Option<String>,
    /// The newsgroups.
    pub newsgroups: Vec<String>,
    /// The List-Id field.
    pub list_id: Option<String>,
    /// The Message-IDs of the messages that it answers.
    pub references: Vec<String>,
}

impl OwnedRecord {
    /// Reads a record from its line of JSON.
    ///
    /// # Errors
    ///
    /// The reader's error if the line is no JSON, or not a record of a URL.
    pub fn from_json(line: &[u8]) -> Result<OwnedRecord, serde_json::Error> {
        serde_json::from_slice(line)
    }
}
