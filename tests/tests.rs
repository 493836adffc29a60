//! The single test binary, with one module per subject.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

#[cfg(feature = "arrow")]
mod arrow;
mod audit;
mod cli;
mod containers;
mod corpus;
mod daemon;
mod documents;
mod formats;
mod git_repository;
mod git_stream;
mod grammar;
mod hostile;
mod hostile_output;
mod house;
mod limits;
mod load;
mod packed_messages;
#[cfg(feature = "planted-faults")]
mod panics;
#[cfg(feature = "parquet")]
mod parquet;
mod peers;
mod pipeline;
mod read_documents;
mod regression;
mod scene;
mod tree;
mod twin;
