//! Extensions of files that URLs end with.

/// Extensions of files that URLs in archives end with. `Z` is always upper-case.
pub(super) const EXTENSIONS: [&str; 71] = [
    "html", "htm", "shtml", "xhtml", "txt", "text", "gif", "jpg", "jpeg", "png", "svg", "pdf",
    "ps", "eps", "dvi", "rtf", "doc", "ppt", "xls", "gz", "tgz", "zip", "tar", "bz2", "xz", "Z",
    "hqx", "sit", "lha", "lzh", "exe", "deb", "rpm", "jar", "iso", "msi", "asp", "aspx", "jsp",
    "cfm", "cgi", "php", "php3", "pl", "py", "js", "css", "xml", "xsd", "dtl", "rdf", "yaml",
    "yml", "md", "rst", "tex", "c", "h", "cpp", "lisp", "rb", "java", "diff", "patch", "git",
    "mp3", "mov", "faq", "jhtml", "rpy", "story",
];

/// Number of letters of the longest extension.
const EXTENSION_LETTERS: usize = 5;

/// Returns `true` if `text` ends with a dot and an extension, in any case.
pub(in crate::repair::continuation) fn has_extension(text: &[u8]) -> bool {
    last_name(text).is_some_and(|name| {
        EXTENSIONS
            .iter()
            .any(|row| row.as_bytes().eq_ignore_ascii_case(name))
    })
}

/// Returns `true` if `end` completes an extension that begins at the end of `url`: `.ht` and `ml`, `.h` and `tm`.
pub(super) fn completes_extension(url: &[u8], end: &[u8]) -> bool {
    let letters = end
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let Some(begun) = last_name(url) else {
        return false;
    };
    let completes = |row: &&str| {
        let row = row.as_bytes();
        row.len() == begun.len() + end.len()
            && row[..begun.len()].eq_ignore_ascii_case(begun)
            && row[begun.len()..].eq_ignore_ascii_case(end)
    };
    letters && EXTENSIONS.iter().any(completes)
}

/// The text after the last dot of `text`, if it is not longer than an extension.
fn last_name(text: &[u8]) -> Option<&[u8]> {
    let tail = &text[text.len().saturating_sub(EXTENSION_LETTERS + 1)..];
    tail.iter()
        .rposition(|&byte| byte == b'.')
        .map(|dot| &tail[dot + 1..])
}
