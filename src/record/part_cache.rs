//! The part that was written last.

use super::object::{Object, field};
use crate::decode::MimePart;

/// The part that was written last, and the whole of `part` for it: parts are alike from one message to the next.
#[derive(Debug, Default)]
pub(super) struct PartWritten {
    path: String,
    media_type: String,
    charset: Option<String>,
    encoding: String,
    message_id: Option<String>,
    /// Nothing before the first.
    json: Vec<u8>,
}

impl PartWritten {
    /// What is written of a part.
    pub(super) fn of(&mut self, part: &MimePart) -> &[u8] {
        // Whatever `write` writes is compared here.
        let is_same = self.path == part.path
            && self.media_type == part.media_type
            && self.charset == part.charset
            && self.encoding == part.encoding
            && self.message_id == part.message_id
            && !self.json.is_empty();
        if !is_same {
            self.path.clone_from(&part.path);
            self.media_type.clone_from(&part.media_type);
            self.charset.clone_from(&part.charset);
            self.encoding.clone_from(&part.encoding);
            self.message_id.clone_from(&part.message_id);
            self.write();
        }
        &self.json
    }

    fn write(&mut self) {
        self.json.clear();
        let mut line = Object::open(&mut self.json);
        line.text(field!("path"), self.path.as_bytes());
        line.text(field!("type"), self.media_type.as_bytes());
        line.maybe(
            field!("charset"),
            self.charset.as_deref().map(str::as_bytes),
        );
        line.text(field!("encoding"), self.encoding.as_bytes());
        if let Some(id) = &self.message_id {
            line.text(field!("message_id"), id.as_bytes());
        }
        line.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts that differ in one thing each are told apart, and what comes again is the same.
    #[test]
    fn what_is_written_of_a_part_is_its_own() {
        let with = |change: fn(&mut MimePart)| {
            let mut part = MimePart::default();
            change(&mut part);
            part
        };
        let parts = [
            with(|_| {}),
            with(|part| part.path.push('b')),
            with(|part| part.media_type.push('b')),
            with(|part| part.charset = Some("b".to_owned())),
            with(|part| part.charset = Some(String::new())),
            with(|part| part.encoding.push('b')),
            with(|part| part.message_id = Some("b".to_owned())),
        ];
        let mut written = PartWritten::default();
        for one in &parts {
            for other in &parts {
                let alone = |part| PartWritten::default().of(part).to_vec();
                assert_eq!(written.of(one), alone(one));
                assert_eq!(written.of(other), alone(other));
                assert_eq!(alone(one) == alone(other), one == other);
            }
        }
    }
}
