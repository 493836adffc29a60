//! Generated input: mailboxes, damaged files, and bytes that resemble triggers.

use std::fs;

use proptest::prelude::*;

use crate::scene::{Rng, corpus, files};

/// Returns a mailbox of about `bytes` bytes, with lines of fixtures and unique URLs.
pub(super) fn mailbox(rng: &mut Rng, bytes: usize) -> Vec<u8> {
    let texts = files(&corpus().join("text"))
        .into_iter()
        .map(|path| fs::read(path).unwrap());
    let texts: Vec<_> = texts
        .map(|text| {
            text.split_inclusive(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        })
        .collect();
    let mut mailbox = Vec::new();
    for number in 0.. {
        if mailbox.len() >= bytes {
            break;
        }
        let text: &Vec<Vec<u8>> = rng.pick(&texts);
        let header = format!(
            "From a{number}\nMessage-ID: <{number}@box.example>\nSubject: lamps\n\n\
             http://u{number}.example/\n"
        );
        mailbox.extend(header.as_bytes());
        // Most messages are small, but one in two hundred is larger than a block.
        let lines = if rng.below(200) == 0 {
            40_000
        } else {
            rng.below(200)
        };
        for _ in 0..lines {
            mailbox.extend(if rng.below(30) == 0 {
                rng.pick(text).as_slice()
            } else {
                PROSE
            });
        }
        mailbox.push(b'\n');
    }
    mailbox
}

/// A line of usual length without URLs.
const PROSE: &[u8] =
    b"The lamp was lit, and the wick was cut; oil was cheap in those days, they say.\n";

/// Returns the bytes with some damage: bits flipped, and ranges removed, repeated or moved.
pub(super) fn mutated(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(8) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.below(bytes.len());
        let end = (at + 1 + rng.below(40)).min(bytes.len());
        match rng.below(5) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = *rng.pick(b"\0\n\r<>=-: #%\xFF"),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.extend_from_within(at..end),
            _ => {
                let piece: Vec<_> = bytes.drain(at..end).collect();
                let to = rng.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}

/// Byte strings that the stages search for.
const PIECES: &[&[u8]] = &[
    b"From a@b Mon\n",
    b"\n\nFrom b\nX: y\n\n",
    b">From ",
    b"Subject: ",
    b"Newsgroups: a.b\n",
    b"Date: Mon, 1 Jul 1996 25:61:61 +9999\n",
    b"Content-Type: multipart/mixed; boundary=b\n",
    b"Content-Type: text/html; charset=iso-2022-jp\n",
    b"Content-Type: message/rfc822\n",
    b"Content-Type: text/plain; format=flowed; delsp=yes\n",
    b"Content-Transfer-Encoding: quoted-printable\n",
    b"Content-Transfer-Encoding: base64\n",
    b"--b\n",
    b"--b--\n",
    b"=?utf-8?q?http=3A//q.example?=",
    b"=?utf-8?b?aHR0cDovL2IuZXhhbXBsZQ==?=",
    b"aHR0cDovL2IuZXhhbXBsZS8=",
    b"=\n",
    b"=3D",
    b"=E9",
    b"http://",
    b"http://h.example/",
    b"HTTP://[::1]:99999/%",
    b"ftp://u:p@h:/;type=",
    b"mailto:a@b.example",
    b"news:",
    b"www.w.example",
    b"<URL:",
    b"<",
    b">",
    b"URL:",
    b"> ",
    b">> ",
    b"| ",
    b"-\n",
    b"-- \n",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\x0C\nRFC 1738    Uniform Resource Locators    December 1994\n",
    b"Berners-Lee                                       [Page 1]\n",
    b" ",
    b"\t",
    b"#",
    b"%41",
    b"\xC3\xA9",
    b"\xE9",
    b"\xEF\xBC\x8C",
    b"\xE2\x80\x8B",
    b"\x1B$B",
    b"\x1B(B",
    b"\0",
    b"<a href=\"",
    b"<base href=http://base.example/>",
    b"&#x68;",
    b"words",
    b"a.b/c",
    b"(",
    b")",
    b".\r\n",
    b"..",
];

/// Generates these byte strings in any order, with random bytes between some of them.
pub(super) fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}
