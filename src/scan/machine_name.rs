//! Hosts that are named as machines, not cited: in trace fields that were copied into a text, and
//! in certificates.

use crate::limits::{TRACE_FIELD_BYTES, TRACE_FIELD_LINES};

/// Fields in which mail and news servers name themselves and each other (RFC 5321, 5536, 8601 and
/// 3464). In lower case.
const TRACE_FIELDS: [&[u8]; 15] = [
    b"received",
    b"x-received",
    b"original-received",
    b"received-spf",
    b"authentication-results",
    b"arc-authentication-results",
    b"x-authentication-warning",
    b"reporting-mta",
    b"remote-mta",
    b"received-from-mta",
    b"nntp-posting-host",
    b"x-nntp-posting-host",
    b"injection-info",
    b"x-trace",
    b"x-originating-host",
];

/// Returns `true` if the host without a scheme at `at` is a machine's name in a trace field or in a
/// certificate's subject.
///
/// Reads at most [`TRACE_FIELD_BYTES`] before it.
#[must_use]
pub(crate) fn names_machine(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(TRACE_FIELD_BYTES)..at];
    is_certificate_name(before) || is_in_trace_field(before)
}

/// Returns `true` after `CN=` (a common name, RFC 4514) and `DNS:` (an alternative name, as OpenSSL
/// prints it).
fn is_certificate_name(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let before = match before.strip_suffix(b"=") {
        Some(name) => name.trim_ascii_end(),
        None => match before.strip_suffix(b":") {
            Some(name) => return ends_with_word(name, b"DNS"),
            None => return false,
        },
    };
    ends_with_word(before, b"CN") || ends_with_word(before, b"commonName")
}

/// Returns `true` if `text` ends with `word`, in any case, and no letter precedes it.
fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    text.len().checked_sub(word.len()).is_some_and(|at| {
        text[at..].eq_ignore_ascii_case(word)
            && !text[..at].last().is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// Returns `true` if `before` ends in a trace field or in a folded line of one, perhaps quoted.
fn is_in_trace_field(before: &[u8]) -> bool {
    let mut end = before.len();
    for _ in 0..TRACE_FIELD_LINES {
        let line_feed = memchr::memrchr(b'\n', &before[..end]);
        let line = QuotedLine::of(&before[line_feed.map_or(0, |at| at + 1)..end]);
        if let Some(name) = line.field_name() {
            return TRACE_FIELDS
                .iter()
                .any(|trace| trace.eq_ignore_ascii_case(name));
        }
        match line_feed.filter(|_| line.is_folded) {
            Some(at) => end = at,
            None => return false,
        }
    }
    false
}

/// A line without its quote marks.
struct QuotedLine<'t> {
    /// `true` if it begins with white space, beyond the one blank after quote marks.
    is_folded: bool,
    content: &'t [u8],
}

impl QuotedLine<'_> {
    fn of(line: &[u8]) -> QuotedLine<'_> {
        let marks = line
            .iter()
            .take_while(|byte| matches!(byte, b'>' | b'|' | b' ' | b'\t'))
            .count();
        let quote = line[..marks]
            .iter()
            .rposition(|byte| matches!(byte, b'>' | b'|'))
            .map_or(0, |mark| mark + 1);
        let indent = &line[quote..marks];
        QuotedLine {
            is_folded: indent.contains(&b'\t') || indent.len() > usize::from(0 < quote),
            content: &line[marks..],
        }
    }

    /// The name of the header field at the start of the line.
    fn field_name(&self) -> Option<&[u8]> {
        let colon = memchr::memchr(b':', self.content)?;
        let name = &self.content[..colon];
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        (!name.is_empty() && name.iter().all(is_name)).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let at = text.find("www").unwrap();
        assert_eq!(names_machine(text.as_bytes(), at), expected, "{text:?}");
    }

    #[test]
    fn machines_pass_mail_on() {
        check("Received: from www.a.example (x [192.0.2.1])", true);
        check("> Received: from a.example\n>\tby www.a.example; x", true);
        check(
            ">> > received: from a.example\n>> >    by www.a.example",
            true,
        );
        check(
            "   Received: from a\n      (b)\n      by www.a.example",
            true,
        );
        check("Reporting-MTA: dns; www.a.example", true);
    }

    #[test]
    fn other_lines_cite_hosts() {
        check("Received: from a.example\nby www.a.example", false);
        check("> Received: from a.example\n> see www.a.example", false);
        check("Received: a\nSubject: www.a.example", false);
        check("Received: a\n  see: www.a.example", false);
        check("I received: www.a.example", false);
        check("  www.a.example", false);
        check("X-URL: www.a.example", false);
    }

    #[test]
    fn certificates_name_machines() {
        check("/O=A/CN=www.a.example/emailAddress=x", true);
        check("subject: CN = www.a.example", true);
        check("commonName= www.a.example", true);
        check("DNS:a.example, DNS:www.a.example", true);
        check("OU=www.a.example/CPS", false);
        check("VCN=www.a.example", false);
        check("see: www.a.example", false);
    }

    #[test]
    fn only_the_lines_before_count() {
        let far = format!(
            "Received: a\n{}  www.a.example",
            "  x\n".repeat(TRACE_FIELD_LINES)
        );
        check(&far, false);
    }
}
