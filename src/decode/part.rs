//! One MIME part: its description by its header, and its number in the message.

use super::content_type::{
    ContentType, DefaultType, TextForm, encoding_names, repeated_name, shortened,
};
use super::header::HeaderFields;
use super::transfer::TransferEncoding;

/// One MIME part, as its header describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MimePart {
    /// Its number: `1`, `2.1`. A message inside a part counts as one level.
    pub path: String,
    /// Its media type in lower case; `text/plain` if its header names none.
    pub media_type: String,
    /// Its charset as written, if its header names one.
    pub charset: Option<String>,
    /// Its transfer encoding in lower case; `7bit` if its header names none.
    pub encoding: String,
    /// The Message-ID of the innermost message inside a part that this part belongs to.
    pub message_id: Option<String>,
    pub(super) form: TextForm,
    /// Transfer encodings that its header names after the first one.
    pub(super) other_encodings: Vec<TransferEncoding>,
}

/// The number of a part or of a message: one component per level of nesting.
#[derive(Clone, Debug, Default)]
pub(super) struct PartNumber {
    components: Vec<usize>,
    /// `true` for a message, the message inside a part included; `false` for a part of a multipart.
    is_message: bool,
}

/// The message inside a part that other parts belong to.
#[derive(Clone, Debug, Default)]
pub(super) struct EnclosingMessage {
    /// Its Message-ID, shortened as in records.
    pub(super) message_id: Option<String>,
    /// Number of messages inside parts that it is nested in, itself included; 0 for the outermost message.
    pub(super) depth: usize,
}

impl MimePart {
    /// Describes the part whose header is `fields`, ranges of `raw`.
    pub(super) fn new(
        raw: &[u8],
        fields: &HeaderFields,
        number: &PartNumber,
        default_type: DefaultType,
        enclosing: &EnclosingMessage,
    ) -> MimePart {
        let content = ContentType::of_header(raw, fields, default_type);
        let mut encodings = encoding_names(raw, fields).into_iter();
        MimePart {
            path: number.body_path(),
            media_type: content.media_type,
            charset: content.charset,
            encoding: encodings.next().map_or("7bit".to_owned(), shortened),
            other_encodings: encodings
                .map(|name| TransferEncoding::named(&name))
                .collect(),
            message_id: enclosing.message_id.clone(),
            form: content.form,
        }
    }

    /// The part that bytes before, between or after the parts of the multipart `number` are attributed to.
    pub(super) fn between_parts(number: Option<&PartNumber>) -> MimePart {
        MimePart {
            path: number.map_or(String::new(), PartNumber::path),
            media_type: "text/plain".to_owned(),
            encoding: "7bit".to_owned(),
            ..MimePart::default()
        }
    }

    /// A source that is an HTML page. `charset` is the one that the page names.
    pub(super) fn page(charset: Option<String>) -> MimePart {
        MimePart {
            path: PartNumber::outermost().body_path(),
            media_type: "text/html".to_owned(),
            charset: charset.map(|charset| repeated_name(&charset).to_owned()),
            encoding: "8bit".to_owned(),
            form: TextForm::Html,
            ..MimePart::default()
        }
    }

    /// This part, read as plain text together with everything that follows it.
    ///
    /// Base64 is not kept: the encoding of one part does not apply to the parts that follow.
    pub(super) fn as_rest(&self) -> MimePart {
        let encoding = match self.transfer_encoding() {
            TransferEncoding::Base64 => "7bit".to_owned(),
            _ => self.encoding.clone(),
        };
        MimePart {
            media_type: "text/plain".to_owned(),
            form: TextForm::Plain,
            encoding,
            ..self.clone()
        }
    }

    /// The first transfer encoding that its header names.
    pub(super) fn transfer_encoding(&self) -> TransferEncoding {
        TransferEncoding::named(&self.encoding)
    }

    /// Returns `true` if its body consists of parts.
    pub(super) fn is_multipart(&self) -> bool {
        self.media_type.starts_with("multipart/")
    }

    /// Returns `true` if its body is a message.
    pub(super) fn is_message(&self) -> bool {
        matches!(
            self.media_type.as_str(),
            "message/rfc822" | "message/news" | "message/global"
        )
    }
}

impl PartNumber {
    /// The number of the outermost message.
    pub(super) fn outermost() -> PartNumber {
        PartNumber::default().message()
    }

    /// The number of the message inside this part.
    pub(super) fn message(mut self) -> PartNumber {
        self.is_message = true;
        self
    }

    /// The number of the `index`-th part of this multipart; the first one is 1.
    pub(super) fn part(&self, index: usize) -> PartNumber {
        let components = self.components.iter().copied().chain([index]).collect();
        PartNumber {
            components,
            is_message: false,
        }
    }

    /// The number in writing: `2.1`; empty for the outermost message.
    fn path(&self) -> String {
        let numbers: Vec<String> = self.components.iter().map(usize::to_string).collect();
        numbers.join(".")
    }

    /// The number of the body in writing. The body of a message without parts is its first part.
    fn body_path(&self) -> String {
        if self.is_message {
            self.part(1).path()
        } else {
            self.path()
        }
    }
}

impl EnclosingMessage {
    /// The message inside a part of this one, whose Message-ID is `message_id`.
    pub(super) fn inner(&self, message_id: Option<&str>) -> EnclosingMessage {
        EnclosingMessage {
            message_id: message_id.map(|id| repeated_name(id.trim()).to_owned()),
            depth: self.depth + 1,
        }
    }
}
