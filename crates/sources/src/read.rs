//! Opens sources, which are regular files and standard input, and unpacks compressions and
//! archives.
//!
//! The walk may have opened small files already (`walk/rooted_path.rs`). Files are read, never
//! mapped: a mapping of a file that shrinks kills the process.

mod archive;
mod compression;
mod error;
mod input;
mod repository;
mod sparse_read;
mod streams;

pub use archive::{ZipMember, ZipMembers, is_office_document};
pub use error::{error_diagnostic, panicked};
pub use input::{
    Input, ReadAt, SeekableInput, open, open_examined, open_stream, peek_stdin, read_small,
    start_of_stdin,
};
pub use repository::{GitHost, Repository, RepositoryContent, Selection, StartProgram};
pub use sparse_read::{SparseRead, UnreadRange, hole_len};
pub use streams::{StreamStep, Streams, is_container};
