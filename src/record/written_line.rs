//! Recognition of lines that urlspool wrote.

/// Beginnings of the lines that urlspool writes: records, rejects, events, summaries, the messages that are gone, and the usual
/// columns.
const STARTS: &[&[u8]] = &[
    b"{\"schema\":",
    b"{\"type\":\"reject\",",
    b"{\"type\":\"event\",",
    b"{\"type\":\"gone\",",
    b"{\"files\":",
    b"url,host,message.date,",
    b"url\thost\tmessage.date\t",
];

/// Beginning of a record without its first fields. The digits of its identifier follow.
const ID_START: &[u8] = b"{\"id\":\"";

/// Number of hexadecimal digits of an identifier.
const ID_DIGITS: usize = 32;

/// Returns `true` if a file that begins with these bytes begins with a line that urlspool wrote.
#[must_use]
pub fn is_written_line(start: &[u8]) -> bool {
    STARTS.iter().any(|known| start.starts_with(known)) || begins_with_id(start)
}

fn begins_with_id(start: &[u8]) -> bool {
    let digits = start
        .strip_prefix(ID_START)
        .and_then(|rest| rest.get(..ID_DIGITS));
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Diagnostic, DiagnosticKind};
    use crate::origin::Source;
    use crate::record::{Summary, write_event};

    #[test]
    fn written_lines_are_recognized_and_mail_is_not() {
        let mut summary = Vec::new();
        Summary::default().write(&mut summary);
        let mut event = Vec::new();
        let diagnostic = Diagnostic::new(DiagnosticKind::Limit, "x");
        write_event(&diagnostic.of(&Source::at("a".into())), &mut event);
        assert!(is_written_line(&summary) && is_written_line(&event));
        assert!(is_written_line(
            b"{\"schema\":1,\"type\":\"url\",\"id\":\"0\"}\n"
        ));
        assert!(is_written_line(
            b"{\"id\":\"0123456789abcdef0123456789abcdef\",\"url\":\"x\"}\n"
        ));
        assert!(is_written_line(b"url,host,message.date,message.from\n"));
        assert!(!is_written_line(b"{\"id\":\"0123\"}") && !is_written_line(b""));
        assert!(!is_written_line(b"From a\nSubject: b\n") && !is_written_line(b"{\"url\":\"x\"}"));
    }
}
