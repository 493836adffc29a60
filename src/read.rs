//! Opens sources, which are regular files and standard input, and unpacks compressions and
//! archives.
//!
//! The walk may have opened small files already (`walk/preopened.rs`). Files are read, never
//! mapped: a mapping of a file that shrinks kills the process.

#[cfg(feature = "archives")]
mod archive;
#[cfg(feature = "archives")]
mod compression;
#[cfg(feature = "files")]
mod error;
#[cfg(feature = "files")]
mod input;
mod packed_news_batch;
#[cfg(feature = "archives")]
mod repository;
#[cfg(all(feature = "files", not(feature = "archives")))]
mod single_stream;
#[cfg(feature = "files")]
mod sparse_read;
#[cfg(feature = "files")]
mod stream_step;
#[cfg(feature = "archives")]
mod streams;
mod unpack_balance;

#[cfg(feature = "documents")]
pub use archive::{ZipMember, ZipMembers, is_office_document};
#[cfg(feature = "files")]
pub use error::{error_diagnostic, panicked};
#[cfg(feature = "files")]
pub use input::open;
#[cfg(feature = "daemon")]
pub(crate) use input::open_examined;
#[cfg(feature = "load")]
pub(crate) use input::peek_stdin;
#[cfg(feature = "cli")]
pub(crate) use input::start_of_stdin;
#[cfg(feature = "files")]
pub use input::{Input, ReadAt, SeekableInput};
#[cfg(feature = "files")]
pub(crate) use input::{open_stream, read_small};
pub use packed_news_batch::{PackedNewsBatch, packed_news_batch};
#[cfg(feature = "archives")]
pub use repository::{GitHost, Repository, RepositoryContent, Selection, StartProgram};
#[cfg(all(feature = "files", not(feature = "archives")))]
pub use single_stream::{SingleStream as Streams, is_container};
#[cfg(feature = "files")]
pub use sparse_read::UnreadRange;
#[cfg(feature = "files")]
pub use sparse_read::{SparseRead, hole_len};
#[cfg(feature = "files")]
pub use stream_step::StreamStep;
#[cfg(feature = "archives")]
pub use streams::{Streams, is_container};
pub use unpack_balance::UnpackBalance;
