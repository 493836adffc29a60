//! Which values of header fields may hold a URL.

/// Whether a value is ASCII in which no encoded word and no URL begins. Not all such values are told, but most, and in
/// few steps of the machine: sixteen pairs of neighbours at once.
pub(super) fn is_calm(value: &[u8]) -> bool {
    const PAIRS: usize = 16;
    let (mut bracket, mut colon) = (false, false);
    let mut are_calm = |octets: &[u8; PAIRS], behind: &[u8; PAIRS]| {
        let mut stirred = false;
        for (&octet, &next) in octets.iter().zip(behind) {
            let small = octet | 0x20;
            bracket |= octet == b'<';
            colon |= octet == b':';
            stirred |= octet >= 0x80
                || octet == b'?'
                || octet == b':' && next != b' ' && next != b'\n'
                || next == b'.' && (small == b'w' || small == b'p');
        }
        !stirred
    };
    let are_all = match (value.last_chunk(), value.split_last()) {
        (Some(behind), Some((last, before))) if before.len() >= PAIRS => {
            let pairs = before.as_chunks().0.iter().zip(value[1..].as_chunks().0);
            pairs
                .into_iter()
                .all(|(octets, behind)| are_calm(octets, behind))
                && before
                    .last_chunk()
                    .is_some_and(|octets| are_calm(octets, behind))
                && !matches!(last, b'?' | b':' | b'<' | 0x80..)
        }
        _ => {
            let mut padded = [b' '; PAIRS + 1];
            padded[..value.len()].copy_from_slice(value);
            let [octets @ .., _] = &padded;
            let [_, behind @ ..] = &padded;
            are_calm(octets, behind)
        }
    };
    are_all && !(bracket && colon)
}

/// Whether a URL may begin in the value of a field: behind a colon that a blank follows in brackets alone, or with `www.` or
/// `ftp.`. Nearly all values are told by that.
pub(super) fn may_hold_url(value: &[u8]) -> bool {
    let mut marks = memchr::memchr2_iter(b':', b'.', value).peekable();
    if marks.peek().is_none() {
        return false;
    }
    let is_bracketed = memchr::memchr(b'<', value).is_some();
    marks.any(|at| match value[at] {
        b':' => {
            is_bracketed
                || value
                    .get(at + 1)
                    .is_some_and(|next| !next.is_ascii_whitespace())
        }
        _ => {
            at >= 3
                && [b"www", b"ftp"]
                    .iter()
                    .any(|word| value[at - 3..at].eq_ignore_ascii_case(*word))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::header::has_encoded_word;
    use super::*;

    #[test]
    fn values_without_what_begins_a_url_are_passed_over() {
        for value in [
            "",
            "a b",
            "Re: a",
            "a@b.example",
            "Re: a.b",
            "a:",
            "v. 1.0",
            "ww w . x",
            "<a@b>",
            "comp.mail",
        ] {
            assert!(!may_hold_url(value.as_bytes()), "{value}");
        }
        for value in ["http://a", "a:b", "<URL: x>", "www.a", "see FTP.a", "10:30"] {
            assert!(may_hold_url(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn values_that_are_calm_begin_nothing() {
        let known =
            |value: &[u8]| value.is_ascii() && !has_encoded_word(value) && !may_hold_url(value);
        for around in 0..70 {
            for stirs in [
                "://x", "www.", "P.", ": <", "<:", ":", "<", "?", "=?x?=", "\u{e9}", ". .", ":\n x",
            ] {
                for at in 0..=around {
                    let value = [
                        &b"x".repeat(at),
                        stirs.as_bytes(),
                        &b" ".repeat(around - at),
                    ]
                    .concat();
                    assert!(
                        !is_calm(&value) || known(&value),
                        "{}",
                        value.escape_ascii()
                    );
                    assert!(is_calm(&b"a: b.de ".repeat(around)));
                }
            }
        }
    }
}
