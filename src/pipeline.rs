//! The stages joined: messages in, encoded records out, in order, with a balance sheet.
//!
//! The only room that knows every stage. [`extract`] is one message on one thread, without any I/O: the door for
//! library users, tests, fuzzers and benchmarks. [`run`] is a whole walk on many threads.

mod batch;
mod chunk;
mod cut;
mod dedup;
mod job;
mod order;
mod run;
mod scratch;
mod units;
mod worker;
mod writer;

pub use job::{Job, Output, Report, Unique};
pub use run::run;
