//! Cache of the part that was written last.

use super::object::{Object, field};
use crate::decode::MimePart;

/// The `part` of the last record, and the fields that it was made of: parts are alike from one message to the next.
#[derive(Debug, Default)]
pub(super) struct PartCache {
    path: String,
    media_type: String,
    charset: Option<String>,
    encoding: String,
    message_id: Option<String>,
    /// Empty before the first record.
    json: Vec<u8>,
}

impl PartCache {
    /// Returns the JSON of a part.
    pub(super) fn json(&mut self, part: &MimePart) -> &[u8] {
        // Every field that `write` writes is compared here.
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
        line.optional_text(
            field!("charset"),
            self.charset.as_deref().map(str::as_bytes),
        );
        line.text(field!("encoding"), self.encoding.as_bytes());
        line.optional_text(
            field!("message_id"),
            self.message_id.as_deref().map(str::as_bytes),
        );
        line.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_differ_in_one_field_have_their_own_json() {
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
        let mut cache = PartCache::default();
        for one in &parts {
            for other in &parts {
                let alone = |part| PartCache::default().json(part).to_vec();
                assert_eq!(cache.json(one), alone(one));
                assert_eq!(cache.json(other), alone(other));
                assert_eq!(alone(one) == alone(other), one == other);
            }
        }
    }
}
