//! The words in which `urlspool explain` says what each stage made of a message.

mod words;

pub(crate) use words::{alternate_text, format_text, reject_text, repair_text, wrapper_text};
