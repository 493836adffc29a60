//! Sources of bytes: files below a root, plain, compressed, in archives, in git repositories.

pub mod packed_news_batch;
#[cfg(feature = "files")]
pub mod read;
#[cfg(feature = "files")]
pub mod walk;
