//! Checks of what the types of the fields do not say: values that urlspool does not write, and that databases refuse.

use serde_json::Value;

use super::diagnosis::invalid;
use super::{GoneLine, JsonList, UrlLine};
use crate::record::line_error::{ExpectedValue, LineError};

impl JsonList {
    /// Checks that it is a list, whose texts are texts. Only escapes can give a NUL, or half a pair of surrogates.
    fn check(&self, field: &'static str) -> Result<(), LineError> {
        let json = self.json();
        let has_nul = |value: &Value| value.as_str().is_some_and(|text| text.contains('\0'));
        let is_list = json.starts_with('[');
        let is_clean = !json.contains("\\u")
            || serde_json::from_str::<Vec<Value>>(json)
                .is_ok_and(|values| !values.iter().any(has_nul));
        require(is_list && is_clean, field, ExpectedValue::Texts)
    }
}

impl GoneLine {
    /// Checks that the messages are named, by texts without a NUL.
    pub(super) fn check(&self) -> Result<(), LineError> {
        let is_clean = !self.mailbox.contains('\0');
        require(is_clean, "mailbox", ExpectedValue::TextWithoutNul)?;
        let is_right = |digest: &String| is_digest(digest) && !digest.contains('\0');
        let are_right = !self.digests.is_empty() && self.digests.iter().all(is_right);
        require(are_right, "digests", ExpectedValue::Digests)
    }
}

impl UrlLine {
    /// Checks numbers, names and lists.
    pub(super) fn check(&self) -> Result<(), LineError> {
        let (source, message) = (&self.source, &self.message);
        for (field, text) in [("id", &self.id), ("url", &self.url)] {
            require(!text.is_empty(), field, ExpectedValue::NonEmptyText)?;
        }
        let has_digest = is_digest(&message.digest);
        require(has_digest, "message.digest", ExpectedValue::Digest)?;
        for (field, number) in [
            ("quote_depth", self.quote_depth),
            ("count", self.count.unwrap_or_default()),
            ("source.start", source.start),
            ("source.end", source.end),
            ("source.line", source.line),
            ("message.start", message.start),
            ("message.end", message.end),
        ] {
            require(0 <= number, field, ExpectedValue::Count)?;
        }
        let is_probability = (0.0..=1.0).contains(&self.confidence);
        require(is_probability, "confidence", ExpectedValue::Probability)?;
        for (field, list) in [
            ("conforms", Some(&self.conforms)),
            ("warnings", Some(&self.warnings)),
            ("hazards", Some(&self.hazards)),
            ("repairs", Some(&self.repairs)),
            ("message.newsgroups", Some(&message.newsgroups)),
            ("message.references", Some(&message.references)),
            ("source.member", source.member.as_ref()),
            ("source.member_b64", source.member_b64.as_ref()),
        ] {
            list.map_or(Ok(()), |list| list.check(field))?;
        }
        Ok(())
    }

    /// Checks that no text has a NUL.
    pub(super) fn check_texts(&self) -> Result<(), LineError> {
        for (field, text) in self.texts() {
            let is_clean = text.is_none_or(|text| !text.contains('\0'));
            require(is_clean, field, ExpectedValue::TextWithoutNul)?;
        }
        Ok(())
    }

    /// The fields that are texts, with their names.
    fn texts(&self) -> [(&'static str, Option<&str>); 25] {
        let (source, message) = (&self.source, &self.message);
        [
            ("id", Some(&*self.id)),
            ("url", Some(&*self.url)),
            ("scheme", Some(&*self.scheme)),
            ("wrapper", Some(&*self.wrapper)),
            ("region", Some(&*self.region)),
            ("source.path", Some(&*source.path)),
            ("source.mailbox", Some(&*source.mailbox)),
            ("source.kind", Some(&*source.kind)),
            ("message.digest", Some(&*message.digest)),
            ("fragment", self.fragment.as_deref()),
            ("host", self.host.as_deref()),
            ("domain", self.domain.as_deref()),
            ("key", self.key.as_deref()),
            ("href", self.href.as_deref()),
            ("form", self.form.as_deref()),
            ("anchor", self.anchor.as_deref()),
            ("unwrapped_from", self.unwrapped_from.as_deref()),
            ("unwrapped_by", self.unwrapped_by.as_deref()),
            ("source.path_b64", source.path_b64.as_deref()),
            ("message.id", message.id.as_deref()),
            ("message.date", message.date.as_deref()),
            ("message.date_raw", message.date_raw.as_deref()),
            ("message.from", message.from.as_deref()),
            ("message.subject", message.subject.as_deref()),
            ("message.list_id", message.list_id.as_deref()),
        ]
    }
}

fn is_digest(text: &str) -> bool {
    (1..=ExpectedValue::DIGEST_BYTES).contains(&text.len())
}

fn require(is_right: bool, field: &'static str, expected: ExpectedValue) -> Result<(), LineError> {
    if is_right {
        Ok(())
    } else {
        Err(invalid(field, expected))
    }
}
