//! Generated mail and news for benchmarks: the same in every run.

use std::fmt::Write as _;

use crate::rng::Rng;

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Three different URLs per message, mostly on separate lines.
    Dense,
    /// Long messages, one in eight with a URL.
    Sparse,
    /// Quoted-printable text and HTML; one message in four has a base64 picture attached.
    Mime,
}

impl Kind {
    /// All kinds, each with its file name.
    pub(crate) const ALL: [(&str, Kind); 3] = [
        ("dense.mbox", Kind::Dense),
        ("sparse.mbox", Kind::Sparse),
        ("mime.mbox", Kind::Mime),
    ];
}

/// A message, and the number of URLs in it.
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) urls: usize,
}

/// The `number`-th message of a kind.
pub(crate) fn message(kind: Kind, number: usize, rng: &mut Rng) -> Message {
    let mut text = format!(
        "From: Ann Author <ann{number}@mail.example>\nTo: list@lists.example\nSubject: {} {} and \
         {}\n\
         Date: Thu, {} Dec 1994 09:30:00 +0000\nMessage-ID: <{number}.ann@mail.example>\n\
         Received: from mail.example (mail.example [192.0.2.7]) by lists.example; Thu, 1 Dec 1994 \
         09:30:01 +0000\n",
        rng.pick(WORDS),
        rng.pick(WORDS),
        rng.pick(WORDS),
        1 + number % 28
    );
    let urls = match kind {
        Kind::Dense => dense(&mut text, number, rng),
        Kind::Sparse => sparse(&mut text, number, rng),
        Kind::Mime => mime(&mut text, number, rng),
    };
    Message { text, urls }
}

/// An mbox, and the numbers of messages and URLs in it.
pub(crate) struct Mbox {
    pub(crate) bytes: Vec<u8>,
    pub(crate) messages: usize,
    pub(crate) urls: usize,
}

/// An mbox of at least `min_bytes`.
pub(crate) fn mbox(kind: Kind, min_bytes: usize) -> Mbox {
    let mut rng = Rng::seeded(1738);
    let mut mbox = Mbox {
        bytes: Vec::with_capacity(min_bytes + 64_000),
        messages: 0,
        urls: 0,
    };
    while mbox.bytes.len() < min_bytes {
        let message = message(kind, mbox.messages, &mut rng);
        mbox.bytes.extend(
            format!(
                "From ann@mail.example Thu Dec  1 09:30:00 1994\n{}\n",
                message.text
            )
            .bytes(),
        );
        mbox.messages += 1;
        mbox.urls += message.urls;
    }
    mbox
}

/// Appends a body with three URLs. Returns the number of URLs.
fn dense(text: &mut String, number: usize, rng: &mut Rng) -> usize {
    text.push('\n');
    for link in 0..3 {
        prose(text, 2, rng);
        let (host, path) = (rng.pick(WORDS), rng.below(1_000_000));
        let _ = match link {
            0 => writeln!(
                text,
                "See <URL:http://www.{host}{number}.example/{path}/index.html> for it."
            ),
            1 => writeln!(
                text,
                "   https://{host}.example.org/{number}/{path}?q={host}"
            ),
            _ => {
                writeln!(
                    text,
                    "It is under <URL:ftp://ftp.{host}.example/pub/{number}/\n    {path}.tar.Z>, \
                     they say."
                )
            }
        };
    }
    3
}

/// Appends a long body, with a URL in one of eight. Returns the number of URLs.
fn sparse(text: &mut String, number: usize, rng: &mut Rng) -> usize {
    text.push('\n');
    prose(text, 60, rng);
    let has_url = number.is_multiple_of(8);
    if has_url {
        let _ = writeln!(text, "\nftp://ftp.{}.example/pub/{number}", rng.pick(WORDS));
    }
    usize::from(has_url)
}

/// Appends a multipart body: text, HTML with a character reference, and perhaps a picture. Returns
/// the number of URLs.
fn mime(text: &mut String, number: usize, rng: &mut Rng) -> usize {
    let word = rng.pick(WORDS);
    text.push_str("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"=_b\"\n\n--=_b\n");
    text.push_str(
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n",
    );
    for _ in 0..12 {
        prose(text, 1, rng);
        text.push_str("caf=C3=A9 =3D coffee=\n, and so on\n");
    }
    let _ = writeln!(
        text,
        "http://www.{word}.example/{number}?a=3D1&b=3D2\n--=_b"
    );
    text.push_str("Content-Type: text/html; charset=iso-8859-1\n\n<html><body>\n");
    for _ in 0..12 {
        text.push_str("<p class=\"x\">");
        prose(text, 1, rng);
        text.push_str("</p>\n");
    }
    let _ = writeln!(
        text,
        "<a href=\"http://www.{word}.example/{number}?c=1&amp;d=2\">here</a></body></html>"
    );
    if number.is_multiple_of(4) {
        text.push_str("--=_b\nContent-Type: image/gif\nContent-Transfer-Encoding: base64\n\n");
        for _ in 0..400 {
            let line: String = (0..72).map(|_| *rng.pick(DIGITS) as char).collect();
            let _ = writeln!(text, "{line}");
        }
    }
    text.push_str("--=_b--\n");
    2
}

/// Appends lines without a URL.
pub(crate) fn prose(text: &mut String, lines: usize, rng: &mut Rng) {
    for _ in 0..lines {
        let start = text.len();
        while text.len() - start < 62 {
            let _ = write!(
                text,
                "{}{} ",
                rng.pick(WORDS),
                rng.pick(&["", "", "", ",", ".", ":"])
            );
        }
        text.pop();
        text.push('\n');
    }
}

const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const WORDS: &[&str] = &[
    "lamp", "wick", "oil", "glass", "harbour", "keeper", "storm", "signal", "tower", "stair",
    "window", "brass", "lens", "night", "ship", "rock", "tide", "fog", "bell", "rope", "letter",
    "winter", "boat", "light", "log", "watch", "north", "coast", "chart", "sand",
];
