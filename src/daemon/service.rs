//! The daemon as a process: supervisor and reader threads, signals, status, log, sandbox.
//!
//! [`run`] (`process.rs`) drives the supervisor, which starts a [`reader_thread`] for each group of
//! spools. Each thread runs a loop that is the host of its reader. The status of all is published
//! by `status_server`.

mod git_starter;
mod process;
mod process_host;
mod reader_thread;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(not(target_os = "linux"))]
#[path = "service/no_sandbox.rs"]
mod sandbox;
mod status_server;
mod supervisor;
pub use process::{ask, run};
pub use reader_thread::{RunEnd, RunMode, StateSource};
