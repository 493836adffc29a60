//! The division of a name before a colon: where a scheme begins in it.
//!
//! A writer forgets the blank before a URL (`Go tohttp://a.example`), and converters from HTML drop the line break before it
//! (`a.examplehttp://b.example`). The letters before the scheme then look like a part of its name.

use crate::grammar::is_scheme_char;

/// Schemes that no English word ends with, so that letters before them belong to the text. `news`, `file`, `data` and the
/// like end words and unknown names: `hnews`, `profile`, `metadata`.
const GLUED: [&[u8]; 8] = [
    b"https", b"http", b"ftp", b"gopher", b"telnet", b"nntp", b"wais", b"mailto",
];

/// Protocols of their own whose names end with one of [`GLUED`]. `shttp` (RFC 2660), `tftp` (RFC 3617), `sftp` and `xftp` are
/// registered at IANA; `uhttp` was an Internet-Draft, `gsiftp` is Globus's, and the others are programs with URLs of their own.
const PROTOCOLS: [&[u8]; 10] = [
    b"shttp", b"tftp", b"sftp", b"xftp", b"uhttp", b"gsiftp", b"lftp", b"ncftp", b"aftp", b"bbftp",
];

/// Returns the offset in `name` of the known scheme at its end that a letter precedes. `after` follows the colon.
pub(super) fn glued_scheme(name: &[u8], after: &[u8]) -> Option<usize> {
    let word = name.len() - trailing_letters(name);
    let is_protocol = |own: &[u8]| own.eq_ignore_ascii_case(&name[word..]);
    if PROTOCOLS.iter().any(|own| is_protocol(own)) {
        return None;
    }
    let scheme = GLUED.iter().find(|scheme| ends_with(name, scheme))?;
    let needs_slashes = *scheme != b"mailto";
    (!needs_slashes || after.starts_with(b"//")).then_some(name.len() - scheme.len())
}

/// Returns `true` if `name` is one word, `+` and the known scheme at `scheme`: the way in which a program writes that it uses
/// one protocol over another (`git+https`, `svn+http`). Words of form-encoded text have several `+`, or capitals.
pub(super) fn is_compound(name: &[u8], scheme: usize) -> bool {
    let Some((b'+', word)) = name[..scheme].split_last() else {
        return false;
    };
    word.len() >= 2
        && word[0].is_ascii_lowercase()
        && word
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn ends_with(name: &[u8], scheme: &[u8]) -> bool {
    name.len()
        .checked_sub(scheme.len())
        .is_some_and(|at| name[at..].eq_ignore_ascii_case(scheme))
}

fn trailing_letters(name: &[u8]) -> usize {
    debug_assert!(name.iter().all(|&byte| is_scheme_char(byte)));
    name.iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(name: &str) -> Option<&str> {
        glued_scheme(name.as_bytes(), b"//a.example").map(|at| &name[at..])
    }

    #[test]
    fn letters_before_a_scheme_belong_to_the_text() {
        assert_eq!(scheme("tohttp"), Some("http"));
        assert_eq!(scheme("a.examplehttpS"), Some("httpS"));
        assert_eq!(scheme("3DHTTP"), Some("HTTP"));
        assert_eq!(scheme("viaftp"), Some("ftp"));
        assert_eq!(scheme("httphttp"), Some("http"));
    }

    #[test]
    fn other_protocols_and_words_stay_whole() {
        for name in [
            "shttp", "TFTP", "x.sftp", "profile", "hnews", "turn", "lamp",
        ] {
            assert_eq!(scheme(name), None, "{name}");
        }
    }

    #[test]
    fn only_mailto_needs_no_slashes() {
        assert_eq!(glued_scheme(b"tomailto", b"a@b.example"), Some(2));
        assert_eq!(glued_scheme(b"tohttp", b"a.example"), None);
    }

    #[test]
    fn a_word_and_a_plus_make_a_compound() {
        for (name, compound) in [
            ("git+https", true),
            ("p4+http", true),
            ("+https", false),
            ("See+https", false),
            ("a+b+https", false),
            ("x-https", false),
        ] {
            let scheme = name.len() - name.rsplit(['+', '-']).next().unwrap().len();
            assert_eq!(is_compound(name.as_bytes(), scheme), compound, "{name}");
        }
    }
}
