//! Separators of mboxes: whether a `From ` line begins a message, by the lines around it.

use memchr::memmem;

use crate::limits::SEPARATOR_BYTES;

/// Returns `true` if a message begins at `at`, the start of a line.
pub(in crate::split) fn begins_message(bytes: &[u8], at: usize) -> bool {
    separator(bytes, at)
        && (is_after_blank_line(bytes, at)
            || names_its_sender_twice(bytes, at)
            || is_netscape_separator(bytes, at))
}

/// Returns `true` if the lines at `at` are Netscape's or Mozilla's: `From - Tue Apr  2 15:52:00 1996` and a field.
///
/// Some versions write no date (`From - `). Prose can have that line too, so that the field after it must be one with which
/// their messages begin.
fn is_netscape_separator(bytes: &[u8], at: usize) -> bool {
    let window = &bytes[at..bytes.len().min(at + SEPARATOR_BYTES)];
    let (line, next) = window.split_at(memchr::memchr(b'\n', window).unwrap_or(window.len()));
    let Some(date) = line.strip_prefix(b"From -") else {
        return false;
    };
    let next = next.get(1..).unwrap_or_default();
    match date.trim_ascii() {
        b"" => is_usual(next) || begins_netscape_header(next),
        date => is_ctime(date) && is_field(next),
    }
}

/// Returns `true` if a text begins as a date of C's `ctime` does, with the day of the week and the month, and has a time.
fn is_ctime(text: &[u8]) -> bool {
    const DAYS: &[u8] = b"SunMonTueWedThuFriSat";
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let is_one_of = |names: &[u8], word: Option<&[u8]>| {
        word.is_some_and(|word| names.chunks(3).any(|name| name == word))
    };
    let mut words = text.split(|&byte| byte == b' ');
    is_one_of(DAYS, words.next()) && is_one_of(MONTHS, words.next()) && has_time(text)
}

/// Returns `true` if a line is a field that Netscape and Mozilla put before those of a message.
fn begins_netscape_header(line: &[u8]) -> bool {
    const NAMES: [&[u8]; 5] = [
        b"x-mozilla-",
        b"x-uidl:",
        b"x-account-key:",
        b"x-identity-key:",
        b"fcc:",
    ];
    let begins = |name: &&[u8]| {
        line.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    NAMES.iter().any(begins)
}

/// Returns `true` if a line is a field that most messages have.
pub(super) fn is_usual(line: &[u8]) -> bool {
    const USUAL: [&[u8]; 12] = [
        b"from:",
        b"date:",
        b"message-id:",
        b"subject:",
        b"received:",
        b"return-path:",
        b"to:",
        b"newsgroups:",
        b"path:",
        b"x-received:",
        b"mime-version:",
        b"status:",
    ];
    let Some(first) = line.first().map(u8::to_ascii_lowercase) else {
        return false;
    };
    let begins =
        |name: &&[u8]| line.len() >= name.len() && line[..name.len()].eq_ignore_ascii_case(name);
    USUAL.iter().filter(|name| name[0] == first).any(begins)
}

/// Returns `true` if the lines at `at` are Pipermail's: `From user at host  Fri Apr  2 15:52:00 2004`, and `From: user at host`.
///
/// An address without a host gives `From user at   Fri ...`: Pipermail writes ` at ` for the sign `@`.
fn names_its_sender_twice(bytes: &[u8], at: usize) -> bool {
    let mut lines = bytes[at..bytes.len().min(at + SEPARATOR_BYTES)].split(|&byte| byte == b'\n');
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return false;
    };
    let Some(end) = memmem::find(first, b"  ").filter(|&end| end > b"From ".len()) else {
        return false;
    };
    let sender = &first[b"From ".len()..end];
    has_time(&first[end..])
        && (memmem::find(sender, b" at ").is_some() || sender.ends_with(b" at"))
        && second
            .strip_prefix(b"From: ")
            .is_some_and(|value| value.starts_with(sender))
}

/// Returns `true` if the line before `at` is blank. LF and CRLF may be mixed.
fn is_after_blank_line(bytes: &[u8], at: usize) -> bool {
    let Some(before) = bytes[..at].strip_suffix(b"\n") else {
        return at == 0;
    };
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    before.is_empty() || before.ends_with(b"\n")
}

/// Returns `true` if a `From ` line is at `at`, with a header field or a quoted `From ` line after it.
pub(in crate::split) fn separator(bytes: &[u8], at: usize) -> bool {
    let window = &bytes[at..bytes.len().min(at + SEPARATOR_BYTES)];
    if !window.starts_with(b"From ") {
        return false;
    }
    let Some(end) = memchr::memchr(b'\n', window) else {
        return false;
    };
    let next = &window[end + 1..];
    let line = &next[..memchr::memchr(b'\n', next).unwrap_or(next.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.starts_with(b">From ") || (is_field(line) && !looks_like_url(line))
}

/// Returns `true` if a line begins with a field name and a colon (RFC 5322 section 2.2), and then a blank or the line end follows, or
/// the name is one that only a field has.
///
/// Without the blank, `http://x`, `10:30` and `std::string` would be fields too.
pub(in crate::split) fn is_field(line: &[u8]) -> bool {
    const MAX_NAME_BYTES: usize = 76;
    let name = line
        .iter()
        .take(MAX_NAME_BYTES)
        .take_while(|&&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        .count();
    let blanks = line[name..]
        .iter()
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count();
    if name == 0 || !line[0].is_ascii_alphabetic() || line.get(name + blanks) != Some(&b':') {
        return false;
    }
    matches!(
        line.get(name + blanks + 1),
        None | Some(b' ' | b'\t' | b'\r')
    ) || (blanks == 0 && line[..name].contains(&b'-'))
        || is_old_name(&line[..name])
}

/// Returns `true` for the names after which old programs write the value without a blank.
fn is_old_name(name: &[u8]) -> bool {
    [
        &b"from"[..],
        b"to",
        b"date",
        b"subject",
        b"path",
        b"received",
        b"newsgroups",
        b"sender",
        b"status",
    ]
    .iter()
    .any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns `true` for `svn+ssh://...` and the like: `//` after the first colon.
fn looks_like_url(line: &[u8]) -> bool {
    memchr::memchr(b':', line).is_some_and(|colon| line[colon + 1..].starts_with(b"//"))
}

/// Returns `true` if a line contains a time: `12:34`.
pub(super) fn has_time(line: &[u8]) -> bool {
    let digits = |from: usize| {
        line.get(from..from + 2)
            .is_some_and(|two| two.iter().all(u8::is_ascii_digit))
    };
    memchr::memchr_iter(b':', line)
        .any(|colon| colon >= 2 && digits(colon - 2) && digits(colon + 1))
}
