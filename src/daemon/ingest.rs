//! One file: whether it is known, whether it is complete, and its new messages.

mod file_ingest;
mod identity;
mod mbox;
mod message_ingest;
mod parser_pool;

pub(crate) use file_ingest::{Look, Looker, Rest};
pub(crate) use identity::{FileVersion, can_share, place};
pub(crate) use parser_pool::Parsers;
