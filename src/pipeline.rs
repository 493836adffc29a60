//! The stages joined for files and folders: inputs in, encoded records out, in order, with a summary.
//!
//! [`run`] reads everything that a [`Job`] names, on many threads. [`MessageSource`] gives the messages of one input; it
//! serves `scan`, the daemon and `explain`. The work on one message is in [`extract`](mod@crate::extract).

mod batch;
mod messages;
mod order;
mod run;
mod scan;
mod units;
mod worker;
mod writer;

pub use messages::{
    InputFailure, InputStep, MessageBlock, MessageSource, StreamEnd, StreamExtent, StreamStorage,
    UnreadMessages,
};
#[cfg(feature = "cli")]
pub(crate) use run::reserve_descriptors;
pub use run::{Job, Report, run, run_input};
pub use scan::{Finished, Records, Scan, scan};
