//! Simple twins of the decoders: byte by byte, each decoded byte with its raw range. Written from
//! the RFCs and the documented tolerance, without regard to speed.

use std::ops::Range;

/// Decoded bytes, each with the raw bytes that it came from.
pub type Decoded = Vec<(u8, Range<usize>)>;

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

/// Quoted-printable: blanks before line ends are removed; an `=` that starts no escape is kept.
pub fn quoted_printable(raw: &[u8]) -> Decoded {
    let mut decoded = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        if raw[at] == b'=' {
            if let (Some(high), Some(low)) = (raw.get(at + 1), raw.get(at + 2))
                && let (Some(high), Some(low)) = (hex(*high), hex(*low))
            {
                decoded.push((high * 16 + low, at..at + 3));
                at += 3;
                continue;
            }
            let mut end = at + 1;
            while end < raw.len() && matches!(raw[end], b' ' | b'\t') {
                end += 1;
            }
            let line_end = match raw.get(end..).unwrap_or_default() {
                [b'\r', b'\n', ..] => Some(2),
                [b'\n' | b'\r', ..] => Some(1),
                [] => Some(0),
                _ => None,
            };
            if let Some(len) = line_end {
                at = end + len;
                continue;
            }
        }
        if matches!(raw[at], b' ' | b'\t') {
            let mut end = at;
            while end < raw.len() && matches!(raw[end], b' ' | b'\t') {
                end += 1;
            }
            let rest = &raw[end..];
            if rest.starts_with(b"\n") || rest.starts_with(b"\r\n") {
                at = end;
                continue;
            }
        }
        decoded.push((raw[at], at..at + 1));
        at += 1;
    }
    decoded
}

/// Base64: other bytes are skipped; `=` ends a group; `-` and `_` are digits without `+` and `/`.
pub fn base64(raw: &[u8]) -> Decoded {
    let is_standard = raw.iter().any(|byte| matches!(byte, b'+' | b'/'));
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits: Vec<(bool, usize)> = Vec::new();
    let mut decoded = Vec::new();
    for (at, &byte) in raw.iter().enumerate() {
        let byte = match byte {
            b'-' if !is_standard => b'+',
            b'_' if !is_standard => b'/',
            byte => byte,
        };
        if byte == b'=' {
            bits.clear();
            continue;
        }
        let Some(value) = alphabet.iter().position(|&digit| digit == byte) else {
            continue;
        };
        bits.extend((0..6).rev().map(|bit| (value >> bit & 1 == 1, at)));
        if bits.len() >= 8 {
            let octet: Vec<_> = bits.drain(..8).collect();
            let value = octet
                .iter()
                .fold(0, |value, bit| value << 1 | u8::from(bit.0));
            decoded.push((value, octet[0].1..octet[7].1 + 1));
        }
    }
    decoded
}

/// Lines of calendars and vCards (RFC 5545 section 3.1): a line end and one blank are removed.
pub fn unfold(raw: &[u8]) -> Decoded {
    let mut decoded = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        let end = match &raw[at..] {
            [b'\r', b'\n', b' ' | b'\t', ..] => 3,
            [b'\n', b' ' | b'\t', ..] => 2,
            _ => 0,
        };
        if end == 0 {
            decoded.push((raw[at], at..at + 1));
        }
        at += end.max(1);
    }
    decoded
}

/// Dot-stuffing (RFC 3977 section 3.1.1): one of two dots at the start of a line is removed.
pub fn unstuff(raw: &[u8]) -> Decoded {
    let is_stuffing = |at: usize| raw[at..].starts_with(b"..") && (at == 0 || raw[at - 1] == b'\n');
    (0..raw.len())
        .filter(|&at| !is_stuffing(at))
        .map(|at| (raw[at], at..at + 1))
        .collect()
}
