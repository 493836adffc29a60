//! A record of type `gone`: a message that is gone from its mailbox for good, as the daemon reports it.

use std::borrow::Cow;

use serde::Serialize;

use super::json_text::text;
use super::line::append_json_line;

/// A record of type `gone`.
#[derive(Serialize)]
struct GoneJson<'r> {
    r#type: &'static str,
    mailbox: Cow<'r, str>,
    digests: Vec<String>,
}

/// Appends a message that is gone from `mailbox` as one line. `digests` are all digests under which its records were written.
pub fn write_gone(mailbox: &[u8], digests: &[u128], out: &mut Vec<u8>) {
    let hex = |digest: &u128| data_encoding::HEXLOWER.encode(&digest.to_be_bytes());
    let record = GoneJson {
        r#type: "gone",
        mailbox: text(mailbox),
        digests: digests.iter().map(hex).collect(),
    };
    append_json_line(out, &record);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordLine, is_written_line, read_record_line};

    #[test]
    fn a_gone_line_is_read_back() {
        let mut line = Vec::new();
        write_gone(b"/m/\"a\"\xFF", &[1, u128::MAX], &mut line);
        assert!(is_written_line(&line));
        let Ok(RecordLine::Gone(gone)) = read_record_line(&line) else {
            panic!("{line:?}")
        };
        assert_eq!(&*gone.mailbox, "/m/\"a\"\u{FFFD}");
        assert_eq!(
            gone.digests.iter().map(|text| &**text).collect::<Vec<_>>(),
            [&format!("{:032x}", 1)[..], &"f".repeat(32)]
        );
    }
}
