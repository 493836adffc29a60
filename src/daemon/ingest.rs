//! One file: whether it is known, whether it is complete, and its new messages.

mod blocks;
mod container;
mod file_ingest;
mod identity;
mod mbox;
mod message_ingest;
mod outcome;
mod parser_pool;

pub(crate) use file_ingest::Looker;
pub(crate) use identity::{FileVersion, can_share, place};
pub(crate) use outcome::{Look, Rest};
pub(crate) use parser_pool::Parsers;
