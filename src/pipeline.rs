//! The stages joined: messages in, encoded records out, in order, with a balance sheet.
//!
//! The only room that knows every stage. [`extract`] is one message on one thread, without any I/O: the door for
//! library users, tests, fuzzers and benchmarks. [`run`] is a whole walk on many threads.

mod configured;
mod cut;
mod extract;
mod pool;
mod unique;
mod work;

pub use extract::{Extractor, Finding, Options, extract};
pub use pool::{Job, Report, Unique, run};
pub use work::Output;

use std::collections::HashMap;

use crate::diagnostic::{DiagnosticKind, Event};
use crate::record::Summary;
use crate::walk::WalkedFile;

/// What a piece of work gave, encoded and ready to be written.
#[derive(Debug, Default)]
pub struct Batch {
    /// The records of all pieces, one a line.
    pub records: Vec<u8>,
    /// The pieces, in the order of the input.
    pub pieces: Vec<Chunk>,
}

/// A record of a piece, as folding over a run sees it.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// The hash of its key.
    pub key: u128,
    /// Where its line ends.
    pub end: usize,
    /// Whether it was taken out of another, and is counted apart.
    pub unwrapped: bool,
}

/// The yield of one message, or of many that need not be told apart.
#[derive(Debug, Default)]
pub struct Chunk {
    /// For a news article: what tells copies of it from other articles.
    pub article: Option<u128>,
    /// Whether it holds more of the same message as the piece before it.
    pub goes_on: bool,
    /// How many bytes of the batch's records are its own, behind those of the pieces before it. Known once it is full.
    pub record_bytes: usize,
    /// For folding: the hash of each record's key, and where its line ends among its piece's.
    pub keys: Vec<Keyed>,
    /// For folding: how often a URL stood in the message, where that is more than once.
    pub repeated: HashMap<u128, u64>,
    /// The refused candidates, one a line, if they are wanted.
    pub rejects: Vec<u8>,
    /// What was wrong.
    pub events: Vec<Event>,
    /// What was counted.
    pub balance: Summary,
    /// What a stretch of the file that is being read failed with: the file is not read to its end then.
    pub broken: Option<DiagnosticKind>,
    /// A file that is to be read now, in blocks: what it yields may be more than a piece should hold.
    pub deferred: Option<WalkedFile>,
}
