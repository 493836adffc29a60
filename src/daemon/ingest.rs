//! Ingest of one file: whether it is known, whether it is complete, and its new messages.

mod blocks;
mod container;
mod context;
mod file_ingest;
mod identity;
mod mbox;
mod message_ingest;
mod message_output;
mod outcome;
mod parser_pool;

pub(crate) use context::IngestContext;
pub(crate) use identity::{FileVersion, can_share, path_key};
pub(crate) use outcome::{FileOutcome, SettleState};
pub(crate) use parser_pool::ParserPool;
