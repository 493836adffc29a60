//! Sources of bytes: files in folders, plain or compressed, archives, and git repositories.

pub mod packed_news_batch;
#[cfg(feature = "files")]
pub mod read;
#[cfg(feature = "files")]
pub mod walk;
