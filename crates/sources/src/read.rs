//! Opens sources (regular files and standard input), and unpacks compressed data and archives.
//!
//! The walk may have opened small files already (`walk/rooted_path.rs`). Files are read, never
//! mapped: if a mapped file shrinks, the process is killed.

mod archive;
mod compression;
mod error;
mod input;
mod process;
mod repository;
mod streams;

pub use archive::{
    ZipMember, ZipMembers, has_readpst, is_office_document, is_outlook, leave_private_folders,
    remove_abandoned_folders,
};
pub use error::{error_diagnostic, panicked};
pub use input::{
    Input, ReadAt, SeekableInput, SparseRead, UnreadRange, hole_len, open, open_examined,
    open_stream, peek_stdin, read_small, start_of_stdin,
};
pub use process::{GitHost, StartProgram};
pub use repository::{Repository, RepositoryContent, Selection};
pub use streams::{StreamStep, Streams, is_container};
