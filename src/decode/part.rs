//! What is known of a part of a message.

use super::content_type::Form;
use super::transfer::Encoding;

/// What is known of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MimePart {
    /// Its place among the parts: `1`, `2.1`. A message inside a part counts as one level.
    pub path: String,
    /// Its media type in lower case, `text/plain` where it says none.
    pub media_type: String,
    /// Its charset as written, if it says one.
    pub charset: Option<String>,
    /// Its transfer encoding in lower case, `7bit` where it says none.
    pub encoding: String,
    /// The Message-ID of the message inside a part that it belongs to.
    pub message_id: Option<String>,
    pub(super) form: Form,
    /// Further encodings that its header names.
    pub(super) others: Vec<Encoding>,
}
