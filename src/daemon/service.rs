//! The daemon as a process: supervisor and reader threads, signals, status, log, sandbox.
//!
//! [`run`] (`process.rs`) drives the supervisor, which starts a [`reader_thread`] for each group of spools. Each thread runs a
//! `reader_loop`, the host of its reader. The status of all is published by `status_server` and as `metrics`.

mod clock;
mod config_changes;
mod log;
mod metrics;
mod process;
mod reader_loop;
mod reader_thread;
mod run_options;
mod sandbox;
mod spool_groups;
mod status_server;
mod supervisor;
mod unix_socket;

pub use process::{ask, run};
pub use run_options::{RunEnd, RunMode, StateSource};
