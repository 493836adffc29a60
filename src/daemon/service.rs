//! The daemon as a process: readers on their threads, signals, status, log, sandbox.

mod log;
mod reader_threads;
mod sandbox;
mod status_server;
mod supervisor;

pub(crate) use reader_threads::shared;
pub use supervisor::{RunMode, ask, run};
